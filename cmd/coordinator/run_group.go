package main

// The job on a merge queue's commit: it stays until the group is decided, for nothing else tells the queue.

import (
	"context"
	"fmt"
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
	lines := &progressLines{w: c.Stdout, color: c.Color}
	r := &loop.Reconciler{Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), DryRun: cmd.DryRun, Fault: lines.faultPrinter(ref.Named())}
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
	named := look.Group.Named()
	state := look.Check.Conclusion
	if state == "" {
		state = look.Check.Status
	}
	line := fmt.Sprintf("%.7s %s: %s", look.Group.Head, paintIf(l.color, verdictStyle(state), state), oneLine(look.Check.Title))
	if look.IsOver() {
		line = fmt.Sprintf("%.7s nothing is decided: the merge queue has let go of this commit, or there is no policy", look.Group.Head)
	}
	if l.lastLine == nil {
		l.lastLine = map[quorum.PR]string{}
	}
	if l.lastLine[named] != line {
		l.lastLine[named] = line
		l.printLine(named, line)
	}
}
