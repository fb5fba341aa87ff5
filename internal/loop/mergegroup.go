package loop

// A merge queue's commit holds several pull requests, and a required check must stand on it, too. Each pull request of
// the group is looked at as by its own look, but nothing is written for it: that one does.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A GroupForge is what a code host with merge queues does besides a [Forge].
type GroupForge interface {
	// ReadGroup reads which pull requests are in a group.
	ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error)
	// PublishGroup makes the check on the group's commit read as c. It writes nothing if it does.
	PublishGroup(ctx context.Context, ref quorum.GroupRef, c report.Check) error
}

// A GroupLook is the result of one look at a merge queue's group.
type GroupLook struct {
	Group    quorum.MergeGroup
	Policy   quorum.Policy // of the pull request that decides
	Decision quorum.Decision
	Check    report.Check
	At       time.Time     // by GitHub's clock
	Skew     time.Duration // by which that is ahead of ours
}

// IsOver reports whether nothing more can come of the group.
func (l GroupLook) IsOver() bool { return l.Group.Gone || l.Decision.Verdict == quorum.Ended }

// ReconcileGroup observes a merge queue's group, decides about it, and makes its check say so. The effects that are due
// on its pull requests are their own looks'. It returns the look with when to look again: the Decision's Wake.
func (r *Reconciler) ReconcileGroup(ctx context.Context, queue GroupForge, ref quorum.GroupRef) (GroupLook, error) {
	l, err := r.LookAtGroup(ctx, queue, ref)
	if err != nil || l.Group.Gone || l.Check.Leave || r.DryRun {
		return l, err
	}
	if ctx.Err() != nil {
		return l, context.Cause(ctx)
	}
	writing, done := outliveContext(ctx)
	defer done()
	return l, queue.PublishGroup(writing, ref, l.Check)
}

// LookAtGroup is [Reconciler.ReconcileGroup] without a write.
func (r *Reconciler) LookAtGroup(ctx context.Context, queue GroupForge, ref quorum.GroupRef) (l GroupLook, err error) {
	if l.Group, err = queue.ReadGroup(ctx, ref); err != nil || l.Group.Gone {
		return l, err
	}
	l.At = r.now()
	var pulls []quorum.Sibling
	looks := map[int]*Look{}
	for _, pr := range l.Group.Pulls {
		f, err := r.lookAtMember(ctx, pr)
		if err != nil {
			return l, err
		}
		begin := f.begin()
		if begin.Snapshot.PR.Merged { // it is part of the base by now
			continue
		}
		if begin.Snapshot.PR.Head == ref.Head { // its own check stands there
			l.Group.Gone = true
			return l, nil
		}
		l.At, l.Skew = begin.At, begin.Snapshot.Skew
		looks[pr.Number] = begin
		pulls = append(pulls, quorum.Sibling{
			PR: begin.Snapshot.PR, Check: begin.checkName(), Gated: begin.Snapshot.Gated,
			Decision: begin.decisionShown(), Title: report.TitleOf(begin.Policy, begin.decisionShown()),
		})
	}
	l.Decision = quorum.DecideGroup(l.Group, pulls, l.At)
	name := ""
	if lead := looks[l.Decision.PR.Number]; lead != nil {
		l.Policy, name = lead.Policy, lead.checkName()
	}
	l.Check = report.RenderGroup(l.Policy, name, l.Decision, r.Places)
	return l, nil
}

// lookAtMember looks at a pull request of a group, with those that share its check. Nothing is remembered of it, for its
// own look may be under way.
func (r *Reconciler) lookAtMember(ctx context.Context, pr quorum.PR) (*headLooks, error) {
	look, err := r.observeWith(ctx, pr, r.Forge.ObserveSibling)
	if err != nil {
		return nil, fmt.Errorf("look at a merge group: %w", err)
	}
	if look.Snapshot.PR.Closed = !look.Snapshot.PR.ClosedAt.IsZero(); look.Snapshot.PR.Closed { // as its own look takes it
		look.judgeAndDecide()
	}
	f, err := r.observeSiblings(ctx, look)
	if err != nil {
		return nil, fmt.Errorf("look at a merge group: %w", err)
	}
	f.render()
	return f, nil
}

// StayWithGroup reconciles a group until it is decided: nothing wakes a job for it, and it takes ten minutes at most. A
// group that passes is looked at twice: what was said meanwhile must not be missed. told is called with each look; it may
// be nil.
func (r *Reconciler) StayWithGroup(
	ctx context.Context, queue GroupForge, ref quorum.GroupRef, poll time.Duration, told func(GroupLook),
) (last GroupLook, err error) {
	var faults faultRow
	isPassed := false
	for {
		look, err := r.ReconcileGroup(ctx, queue, ref)
		next := r.now().Add(poll)
		switch {
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case err == nil:
			faults = faultRow{}
			if last = look; told != nil {
				told(look)
			}
			wasPassed := isPassed
			isPassed = look.Decision.Verdict == quorum.Passed
			switch {
			case look.IsOver(), r.DryRun, look.Decision.Verdict != quorum.Waiting && (!isPassed || wasPassed):
				return last, nil
			case isPassed:
				next = r.now()
			}
			if wake := look.Decision.Wake; !wake.IsZero() && wake.Add(-look.Skew).Before(next) {
				next = wake.Add(-look.Skew)
			}
		case !isTemporary(err):
			return last, err
		default:
			limitEnd, _ := retryAt(err)
			if next = faults.retryAfter(r.now(), limitEnd); next.IsZero() {
				return last, err
			}
			if r.Fault != nil {
				r.Fault(err, next)
			}
		}
		if err := r.sleep(ctx, max(next.Sub(r.now()), minPause)); err != nil {
			return last, err
		}
	}
}
