package main

// The job on a merge queue's commit: it stays until the group is decided, for nothing else tells the queue.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// evaluateGroup evaluates a merge queue's group, and in the meantime others that are due.
func (cmd runCmd) evaluateGroup(
	ctx context.Context, c *command, api *client.Client, forge *github.Forge, ref quorum.GroupRef,
) []runResult {
	lines := c.newProgressLines()
	r := &loop.Reconciler{
		Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), DryRun: cmd.DryRun, Fault: lines.faultPrinter(ref.Named()),
	}
	looked := make(chan struct{})
	first := sync.OnceFunc(func() { close(looked) })
	var others sync.WaitGroup
	if !cmd.DryRun {
		others.Go(func() {
			<-looked
			c.lookAtOthers(ctx, api, forge, ref.Owner, ref.Repo, nil)
		})
	}
	look, err := r.StayWithGroup(ctx, github.QueuesOf(forge), ref, cmd.Poll, func(l loop.GroupLook) {
		lines.printGroup(l)
		first()
	})
	first()
	others.Wait()
	if err != nil || look.Group.Gone {
		return []runResult{{pr: ref.Named(), err: err}}
	}
	at := loop.Look{Policy: look.Policy, Decision: look.Decision, Check: look.Check, At: look.At}
	return []runResult{{pr: look.Decision.PR, look: at}}
}

// printGroup prints a line for each change of what is decided about a merge group.
func (l *progressLines) printGroup(look loop.GroupLook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.describeCheck(look.Group.Head, look.Check)
	if look.IsOver() {
		line = fmt.Sprintf("%.7s nothing is decided: the merge queue has let go of this commit, or there is no policy", look.Group.Head)
	}
	l.printChange(look.Group.Named(), line)
}

// maxGroups is how many merge groups a job or a sweep looks at besides what it was started for.
const maxGroups = 10

// A groupLooker looks at merge groups besides what a job was started for. It fails nothing: each failure is a line.
type groupLooker struct {
	w      io.Writer
	queues github.MergeQueues
	loop.Reconciler
}

func newGroupLooker(c *command, forge *github.Forge) groupLooker {
	r := loop.Reconciler{Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL"))}
	return groupLooker{c.Stdout, github.QueuesOf(forge), r}
}

// lookWith looks at the groups of the default branch that hold a pull request, or at all where its number is 0: what was
// decided about it may be another than when their own jobs ended.
func (l groupLooker) lookWith(ctx context.Context, pr quorum.PR) {
	groups, err := l.queues.Groups(ctx, pr.Owner, pr.Repo, "")
	first := slices.IndexFunc(groups, func(g quorum.GroupRef) bool { return pr.Number == 0 || g.Named() == pr })
	switch {
	case err != nil:
		l.printFailure(ctx, "the merge queue was not looked at", err)
	case first >= 0: // those behind it hold it, too
		l.reconcileAll(ctx, groups[first:])
	}
}

func (l groupLooker) reconcileAll(ctx context.Context, groups []quorum.GroupRef) {
	for _, g := range groups[:min(len(groups), maxGroups)] {
		look, err := l.ReconcileGroup(ctx, l.queues, g)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.printFailure(ctx, fmt.Sprintf("the merge group %.7s was not looked at", g.Head), err)
		case !look.IsOver():
			fmt.Fprintf(l.w, "%s merge group %.7s: %s\n", clockTime(), g.Head, oneLine(look.Check.Title))
		}
	}
}

func (l groupLooker) printFailure(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		fmt.Fprintf(l.w, "%s %s: %s\n", clockTime(), what, oneLine(err.Error()))
	}
}
