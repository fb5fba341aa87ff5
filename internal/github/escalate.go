package github

// How people are asked for a review: one request each, so that one whom GitHub refuses keeps no other from being asked.

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// askPeople asks for the review of people and teams, unless p shows that it is asked for already, and returns those of
// whom GitHub refused it. It ends at a limit, or with ctx; what a fault left open, the next look sees.
func (a application) askPeople(ctx context.Context, names []string, p *restPull) (refused []quorum.RefusedPerson, err error) {
	known := append(p.requested(a.pr.Owner), p.User.account().Login)
	for _, name := range names {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			continue
		}
		no, err := a.askPerson(ctx, name)
		if err != nil {
			return refused, err
		}
		if no.Reason != "" {
			refused = append(refused, no)
		}
	}
	return refused, nil
}

// askPerson asks for one review. A refusal without a reason is none.
func (a application) askPerson(ctx context.Context, name string) (no quorum.RefusedPerson, err error) {
	key := "reviewers"
	if quorum.IsTeam(name) {
		owner, team, _ := strings.Cut(name, "/")
		if !strings.EqualFold(owner, a.pr.Owner) { // by its name alone another team would be asked
			return quorum.RefusedPerson{Name: name, Reason: quorum.ReasonNoCollaborator, Detail: "the team is of another organisation"}, nil
		}
		key, name = "team_reviewers", team
		defer func() { no.Name = owner + "/" + team }()
	}
	path := repoPath(a.pr, "pulls", strconv.Itoa(a.pr.Number), "requested_reviewers")
	_, err = a.f.client.Send(ctx, http.MethodPost, path, map[string][]string{key: {name}}, nil)
	result, fault := resultOf(err)
	switch {
	case fault != nil || result.State != quorum.ResultRefused:
		return quorum.RefusedPerson{}, fault
	case client.IsUnprocessable(err):
		result.Reason = quorum.ReasonNoCollaborator
	case result.Reason == quorum.ReasonPermission && result.Detail == "":
		result.Detail = "pull_requests=write"
	}
	return quorum.RefusedPerson{Name: name, Reason: result.Reason, Detail: result.Detail}, nil
}
