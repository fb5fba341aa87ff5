package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// AddTeam adds a team of the owner's with access to the repository.
func (g *GitHub) AddTeam(slug string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.teams == nil {
		g.teams = map[string]bool{}
	}
	g.teams[slug] = true
}

// Lock locks the conversation of a pull request: nobody comments on it who may not write, and no App.
func (g *GitHub) Lock(number int, by string) error { return g.setLocked(number, by, true) }

// Unlock ends a [GitHub.Lock].
func (g *GitHub) Unlock(number int, by string) error { return g.setLocked(number, by, false) }

func (g *GitHub) setLocked(number int, by string, locked bool) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		p.locked, p.updated = locked, now
		g.emitPullEvent(p, map[bool]string{true: "locked", false: "unlocked"}[locked], by, nil)
		return nil
	})
}

// refuseRequest is GitHub's answer where a review is asked for of somebody without access.
func (g *GitHub) refuseRequest() routeAnswer {
	return answerError(422, fmt.Sprintf("Reviews may only be requested from collaborators. "+
		"One or more of the users or teams you specified is not a collaborator of the %s/%s repository.", g.owner, g.repo))
}

// requestTeam asks for a review by a team.
func (g *GitHub) requestTeam(p *pullRequest, team string) {
	if !slices.Contains(p.teamRequests, team) {
		p.teamRequests = append(p.teamRequests, team)
	}
	g.written.RequestedReviews = append(g.written.RequestedReviews, g.owner+"/"+team)
}

func (g *GitHub) requestedTeamsJSON(p *pullRequest) []any {
	out := []any{}
	for _, team := range p.teamRequests {
		api := "https://api.github.com/organizations/1/team/1"
		out = append(out, object{
			"id": 1, "node_id": nodeID("T", 1), "name": team, "slug": team, "description": nil, "privacy": "closed",
			"notification_setting": "notifications_enabled", "permission": "push", "parent": nil, "url": api, "type": "organization",
			"html_url": "https://github.com/orgs/" + g.owner + "/teams/" + team, "members_url": api + "/members{/member}",
			"repositories_url": api + "/repos",
		})
	}
	return out
}
