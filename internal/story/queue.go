package story

// Merge queues in a story: the sentences that fill and empty one, and looks at its groups.

import (
	"context"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// parseQueued parses a sentence about a pull request's group, whose commit is built.
func parseQueued(do func(g *sandbox.GitHub, number int, commit, by string) error) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		n := 0
		if l.peek().text != "as" {
			n = l.parsePullNumber()
		}
		if !l.accept("as") {
			l.fail(l.peek(), "the group's commit is missing", "write: as m1")
			return nil
		}
		commit, who := l.parseCommit(false), l.subject.text
		return func(w *world) error { return do(w.g, w.pullNumber(n), commit, who) }
	}
}

func rebuildGroup(g *sandbox.GitHub, number int, commit, _ string) error {
	return sandbox.BuildGroup(g, number, commit)
}

func dequeuePull(g *sandbox.GitHub, number int, _ string) error { return sandbox.Dequeue(g, number) }

func mergeGroup(g *sandbox.GitHub, number int, _ string) error { return sandbox.MergeQueued(g, number) }

// A lookTarget is what a player looks at: a pull request, or a merge group while the queue has it.
type lookTarget struct {
	key       string
	reconcile func(context.Context, *loop.Reconciler) (wake time.Time, err error)
	stay      func(ctx context.Context, r *loop.Reconciler, looked func()) (wake time.Time, err error)
}

// lookTargets are the pull requests, and after them the groups of the merge queue: what is decided about those rests on
// these.
func (w *world) lookTargets() (all []lookTarget) {
	for _, n := range w.pullNumbers {
		pr := w.pullRef(n)
		all = append(all, lookTarget{
			key:       pr.String(),
			reconcile: func(ctx context.Context, r *loop.Reconciler) (time.Time, error) { return r.Reconcile(ctx, pr) },
			stay: func(ctx context.Context, r *loop.Reconciler, looked func()) (time.Time, error) {
				last, err := r.Stay(ctx, pr, loop.Stay{Wait: true, Poll: jobPollInterval, Looked: looked})
				return last.Decision.Wake, err
			},
		})
	}
	owner, name := w.g.Repository()
	for _, g := range sandbox.Groups(w.g) {
		ref := quorum.GroupRef{Owner: owner, Repo: name, Head: g.Head, Branch: g.Branch}
		all = append(all, lookTarget{
			key: ref.String(),
			reconcile: func(ctx context.Context, r *loop.Reconciler) (time.Time, error) {
				look, err := r.ReconcileGroup(ctx, queuesOf(r), ref)
				return look.Decision.Wake, err
			},
			stay: func(ctx context.Context, r *loop.Reconciler, looked func()) (time.Time, error) {
				look, err := r.StayWithGroup(ctx, queuesOf(r), ref, jobPollInterval, func(loop.GroupLook) { looked() })
				return look.Decision.Wake, err
			},
		})
	}
	return all
}

// queuesOf are the merge queues as a reconciler's own forge sees them.
func queuesOf(r *loop.Reconciler) github.MergeQueues {
	return github.QueuesOf(r.Forge.(toldForge).Forge)
}
