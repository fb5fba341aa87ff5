package main

// A job's second work: whatever started it, it looks at the other pull requests of its repository that are due. GitHub
// starts no job for a deadline, drops events and schedules, and holds some runs, so that the next job of any pull
// request must do.

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxOthers is how many other pull requests a job looks at.
const maxOthers = 20

// lookAtOthers evaluates the open pull requests of a repository that are due, own aside: their checks are written and
// reviewers run again, but nobody is asked, for another job may be about to. It fails nothing: each failure is a line.
func (c *command) lookAtOthers(
	ctx context.Context, api *client.Client, forge *github.Forge, owner, repo string, own []quorum.PR,
) {
	halfSpent := func() string { return budgetSpent(api.Budget(), 50, time.Now()) }
	if api.Personal() || halfSpent() != "" {
		return
	}
	open, err := forge.OpenOfFew(ctx, owner, repo)
	if err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(c.Stdout, "%s the other pull requests were not looked at: %s\n", clockTime(), oneLine(err.Error()))
		}
		return
	}
	var prs []quorum.PR
	for _, d := range open.Due {
		if d.Why != github.Undecided && !slices.Contains(own, d.PR) {
			prs = append(prs, d.PR)
		}
	}
	if len(prs) == 0 {
		return
	}
	s, _, _ := c.newSweep(ctx, open, forge, func(done loop.Swept) {
		fmt.Fprintf(c.Stdout, "%s %s was due, too: %s\n", clockTime(), done.PR, describeSwept(done))
	})
	s.Reconciler.Quiet = true
	s.Limit = min(s.Limit, maxOthers)
	s.Spent = halfSpent
	s.Run(ctx, prs)
}

func clockTime() string { return time.Now().UTC().Format("15:04:05") }
