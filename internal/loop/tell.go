package loop

import (
	"context"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// tellVerdict makes the pull request's comment say what its check says, where the policy wants one. It comes last, for
// nothing hangs on it. What GitHub refuses is remembered, and not tried again on this head.
func (r *Reconciler) tellVerdict(ctx context.Context, f *headLooks) error {
	l := f.begin()
	if r.DryRun || r.Quiet || l.Snapshot.Record.Untold != nil {
		return nil
	}
	c, isTold := report.CommentOf(l.Policy, l.decisionShown(), l.Check)
	if !isTold || !c.Make && len(l.Snapshot.Told) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	writing, done := outliveContext(ctx)
	untold, err := r.Forge.Tell(writing, l.Snapshot.PR.PR, c, l.Snapshot.Told)
	done()
	if err != nil || untold == (quorum.Untold{}) || l.Snapshot.NoRecord {
		return err
	}
	l.Snapshot.Record.Untold = &untold
	l.Snapshot.Record.Seq++
	f.render()
	return r.publish(ctx, f)
}
