package github

// What reviewers' newest answers came to, as our checks on a repository's pull requests tell: each holds its whole
// decision. So nobody's texts are read for it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// recentPulls asks for our checks on the pull requests that changed last, open or not. It costs one point.
const recentPulls = `query($owner: String!, $name: String!, $check: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(first: 20, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
        number headRefOid baseRefName isCrossRepository author { login }
        commits(last: 1) { nodes { commit {
          oid
          checkSuites(first: 2, filterBy: {checkName: $check}) { nodes {
            databaseId app { slug databaseId }
            checkRuns(first: 5, filterBy: {checkName: $check}) { nodes {
              name externalId status conclusion startedAt completedAt text
            } }
          } }
        } } }
      }
    }
  }
}`

// RecentAnswers returns what reviewers' newest answers came to on the pull requests of a repository that changed last.
// A personal token is shown no check runs, and hears none.
func (f *Forge) RecentAnswers(ctx context.Context, owner, repo string) (heard []quorum.HeardAnswer, err error) {
	if f.client.Personal() {
		return nil, nil
	}
	in, _, err := f.inquire(ctx, owner, repo)
	var answer struct {
		Repository *struct {
			Pulls graphConnection[graphOpen] `json:"pullRequests"`
		} `json:"repository"`
	}
	if err == nil {
		vars := map[string]any{"owner": owner, "name": repo, "check": cmp.Or(in.policy.Check, quorum.DefaultCheck)}
		err = f.client.GraphQL(ctx, recentPulls, vars, &answer)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the last answers in %s/%s: %w", owner, repo, err)
	case answer.Repository == nil:
		return nil, fmt.Errorf("read the last answers in %s/%s: %w", owner, repo, errors.New("the repository is not there"))
	}
	for _, p := range answer.Repository.Pulls.Nodes {
		heard = append(heard, in.answersOn(p, in.ownCheckOf(p, p.tip()))...)
	}
	return quorum.NewestAnswers(heard), nil
}

// answersOn returns the answers that our check on p's head rests on.
func (in inquiry) answersOn(p graphOpen, s ownCheckState) []quorum.HeardAnswer {
	pull := quorum.PullRequest{
		PR:     quorum.PR{Owner: in.owner, Repo: in.repo, Number: p.Number},
		Author: quorum.Account{Login: p.Author.Login},
		Fork:   p.Fork,
	}
	if s.shows != 0 && s.shows != p.Number { // they are of another pull request that shares the check
		return nil
	}
	return quorum.AnswersIn(in.policy, pull, s.Ballots())
}
