//go:build !action

package main

// What a policy would have said of a repository's last pull requests, for config check --against and init. It only
// reads.

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A supposed policy is asked about the pull requests of a repository that changed last.
type supposed struct {
	owner, name, path string // path: of the policy
	src               []byte
	last              int // how many pull requests, at most 100
}

// An againstJSON is what the check would say of each, and what became of them.
type againstJSON struct {
	Repository   string          `json:"repository"`
	PullRequests []supposedCheck `json:"pull_requests"`     // that which changed last first
	Verdicts     map[string]int  `json:"verdicts"`          // how many have each, or are unread
	Merged       int             `json:"merged"`            // how many were merged
	Stopped      int             `json:"stopped"`           // how many of those have not passed
	Answers      []quorum.Drift  `json:"answers,omitempty"` // of each reviewer that answered
	Skipped      string          `json:"skipped,omitempty"` // why not all were asked about
	Docs         string          `json:"-"`                 // address of this version's docs
}

type supposedCheck struct {
	State string `json:"state"` // open, merged or closed
	pullJSON
}

// againstSource is the template "against", which says in words what an againstJSON says.
//
//go:embed against.txt
var againstSource string

// askAll looks at the pull requests four at a time. It leaves a fifth of the hour's requests to others.
func (s supposed) askAll(ctx context.Context, c *command, api *client.Client, slug string) (*againstJSON, error) {
	pulls, err := github.LastPulls(ctx, api, s.owner, s.name, s.last)
	if err != nil {
		return nil, err
	}
	prs := make([]quorum.PR, len(pulls))
	for i := range pulls {
		prs[i] = pulls[i].PR
	}
	forge := github.NewForge(api, slug, "", c.newLogger())
	forge.Suppose(s.path, s.src)
	told, looked, failed := readingPrinter(c.Stderr, s.owner, s.name), map[quorum.PR]loop.Swept{}, error(nil)
	sweep := loop.Sweep{
		Reconciler: loop.Reconciler{Forge: forge, DryRun: true, Quiet: true},
		Concurrent: 4, Batch: len(pulls), Retries: 2, Base: time.Second, Max: 4 * time.Second, Threshold: 4,
		Spent: func() string { return budgetSpent(api.Budget(), 20, time.Now()) },
		Done: func(done loop.Swept) {
			told(fmt.Sprintf("#%d (%d of %d)", done.PR.Number, done.N, len(pulls)))
			looked[done.PR], failed = done, cmp.Or(failed, done.Err)
		},
	}
	tally := sweep.Run(ctx, prs)
	if failed != nil && tally.Evaluated == 0 {
		return nil, failed
	}
	out := &againstJSON{Repository: s.owner + "/" + s.name, Verdicts: map[string]int{}, Skipped: tally.Why, Docs: docsOf(buildVersion())}
	out.PullRequests = []supposedCheck{}
	var answers []quorum.HeardAnswer
	for _, p := range pulls {
		if done, isLooked := looked[p.PR]; isLooked {
			out.addCheck(p, done)
			answers = append(answers, quorum.AnswersIn(done.Look.Policy, p, done.Look.Decision.Ballots)...)
		}
	}
	for _, a := range answers {
		if !slices.ContainsFunc(out.Answers, func(d quorum.Drift) bool { return d.Reviewer == a.Reviewer }) {
			out.Answers = append(out.Answers, quorum.DriftOf(a.Reviewer, answers, 0))
		}
	}
	return out, ctx.Err()
}

// addCheck takes what came of the look at a pull request.
func (a *againstJSON) addCheck(p quorum.PullRequest, done loop.Swept) {
	check := supposedCheck{"open", pullAsJSON(done.PR, done.Look, done.Err)}
	switch {
	case p.Merged:
		check.State = "merged"
		a.Merged++
	case p.Closed:
		check.State = "closed"
	}
	if done.Err != nil {
		check.Verdict = "unread"
	} else if p.Merged && done.Look.Decision.Verdict != quorum.Passed {
		a.Stopped++
	}
	a.Verdicts[cmp.Or(check.Verdict, "undecided")]++
	a.PullRequests = append(a.PullRequests, check)
}

// unreadError returns an error if not all pull requests could be asked about.
func (a *againstJSON) unreadError() error {
	if a == nil || a.Verdicts["unread"] == 0 && a.Skipped == "" {
		return nil
	}
	return fmt.Errorf("only %s could be read", countNoun(len(a.PullRequests)-a.Verdicts["unread"], "pull request"))
}
