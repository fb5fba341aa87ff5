//go:build !action

package main

// What a policy would have said of a repository's last pull requests, for config check --against and init. It only
// reads.

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A supposed policy is asked about the pull requests of a repository that changed last.
type supposed struct {
	owner, name, path string // path: of the policy
	last              int    // how many, at most 100
	src               []byte
	policy            quorum.Policy // what src says
}

// An againstJSON is what the check would say of each, and what became of them.
type againstJSON struct {
	Repository   string          `json:"repository"`
	PullRequests []supposedCheck `json:"pull_requests"`     // that which changed last first
	Verdicts     map[string]int  `json:"verdicts"`          // how many have each; of an unread one it is "none"
	Merged       int             `json:"merged"`            // how many were merged
	Stopped      int             `json:"stopped"`           // how many of those are blocked or unverified
	Answers      []quorum.Drift  `json:"answers,omitempty"` // of each reviewer that answered
	Skipped      string          `json:"skipped,omitempty"` // why not all were asked about
	Docs         string          `json:"-"`                 // address of this version's docs
}

type supposedCheck struct {
	State string `json:"state"` // open, merged, closed or unread
	pullJSON
}

// againstSource is the template "against", which says in words what an againstJSON says.
//
//go:embed against.txt
var againstSource string

// ask looks at the pull requests side by side, and leaves a fifth of the hour's requests to others.
func (s supposed) ask(ctx context.Context, c *command, api *client.Client, slug string) (*againstJSON, error) {
	pulls, err := github.LastPulls(ctx, api, s.owner, s.name, s.last)
	if err != nil {
		return nil, err
	}
	out := &againstJSON{Repository: s.owner + "/" + s.name, Verdicts: map[string]int{}, Docs: docsOf(buildVersion())}
	forge := github.NewForge(api, slug, "", c.newLogger())
	forge.Suppose(s.path, s.src)
	told, looked, failed := readingPrinter(c.Stderr, s.owner, s.name), map[quorum.PR]loop.Swept{}, error(nil)
	sweep := loop.Sweep{
		Reconciler: loop.Reconciler{Forge: forge, DryRun: true, Quiet: true},
		Concurrent: 4, Batch: len(pulls), Retries: 2, Base: time.Second, Max: 4 * time.Second, Threshold: 4,
		Spent: func() string { return budgetSpent(api.Budget(), 20, time.Now()) },
		Done: func(done loop.Swept) {
			told(fmt.Sprintf("#%d (%d of %d)", done.PR.Number, done.N, len(pulls)))
			looked[done.PR], failed = done, done.Err
		},
	}
	tally := sweep.Run(ctx, pulls)
	if failed != nil && tally.Evaluated == 0 {
		return nil, failed
	}
	out.Skipped = tally.Why
	var answers []quorum.HeardAnswer
	for _, pr := range pulls {
		if done, isLooked := looked[pr]; isLooked {
			out.add(done)
			answers = append(answers, quorum.AnswersIn(s.policy, done.Look.Snapshot.PR, done.Look.Decision.Ballots)...)
		}
	}
	out.Answers = quorum.DriftsOf(s.policy, answers)
	return out, ctx.Err()
}

// add takes what came of the look at a pull request.
func (a *againstJSON) add(done loop.Swept) {
	pr, p := done.Look.Snapshot.PR, supposedCheck{"open", pullAsJSON(done.PR, done.Look, done.Err)}
	switch {
	case done.Err != nil:
		p.State = "unread"
	case pr.Merged:
		p.State = "merged"
		a.Merged++
		if p.Verdict == quorum.Blocked.String() || p.Verdict == quorum.Unverified.String() {
			a.Stopped++
		}
	case !pr.ClosedAt.IsZero():
		p.State = "closed"
	}
	p.Verdict = cmp.Or(p.Verdict, "none")
	a.Verdicts[p.Verdict]++
	a.PullRequests = append(a.PullRequests, p)
}
