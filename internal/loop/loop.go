// Package loop makes a decision true: it observes a pull request, judges, decides, words the check, and has it written.
//
// [Reconciler.Reconcile] is the only seam between the pure core and the world. It is idempotent and level-triggered:
// calling it twice, late, or for no reason changes nothing but latency. Everything else that runs the coordinator is a
// shell around it.
package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A Forge is the code host, as far as the loop needs one.
type Forge interface {
	// Observe reads everything that a decision about pr depends on, or fails. A broken policy is part of the Snapshot,
	// not an error.
	Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error)
	// ObserveSibling is Observe for a pull request that has the head of one that was observed.
	ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error)
	// Apply carries out the effects that still hold: each is read again first and void if GitHub has moved on.
	Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error)
	// Publish makes the check read as c. It writes nothing if it does.
	Publish(ctx context.Context, pr quorum.PR, c report.Check) error
	// WithdrawUnread takes the green of a pull request away that Observe could not read for so long, or in a way, that
	// an objection may stand where nobody sees it. inSweep says that no other look follows soon.
	WithdrawUnread(ctx context.Context, pr quorum.PR, inSweep bool) error
	// Tell makes our comment on pr read as c, which told are as they were observed. It returns why GitHub takes none.
	Tell(ctx context.Context, pr quorum.PR, c report.Comment, told []quorum.ToldComment) (quorum.Untold, error)
}

// A Reconciler reconciles pull requests of one forge. One pull request must not be reconciled twice at the same time.
type Reconciler struct {
	Forge   Forge
	Now     func() time.Time                           // the local clock; nil: time.Now
	Sleep   func(context.Context, time.Duration) error // how [Reconciler.Stay] waits by that clock; nil: a timer
	Restamp bool                                       // a completed check that reads right is marked as looked at, for the next sweep
	DryRun  bool                                       // nothing is written and nothing carried out
	Places  report.Places                              // addresses to which the check leads
	Quiet   bool                                       // nobody is asked: of what is due only cancels and reruns are carried out
	Spacing time.Duration                              // see [quorum.Snapshot]
	Told    bool                                       // an event during a look brings another look anyway: a pass is not looked at twice
	// Hear keeps the answers of reviewers that a look found, and returns the newest ones that are known in the
	// repository, the look's own among them; nil: none are known.
	Hear func(ctx context.Context, pr quorum.PR, found []quorum.HeardAnswer) []quorum.HeardAnswer
	// Note keeps what a look found of reviewers' services, and returns all that is known of them in the repository; nil: only
	// what stands in the pull request's own record is known.
	Note SignKeeper

	Seen  func(Look)                      // called with the outcome of each look; may be nil
	Fault func(err error, next time.Time) // Stay: a look failed and will be tried again then; may be nil
}

// A Look is the result of one look at a pull request.
type Look struct {
	Policy   quorum.Policy
	Snapshot quorum.Snapshot
	Decision quorum.Decision
	Check    report.Check
	At       time.Time // by GitHub's clock

	places  report.Places        // as the Reconciler's
	quiet   bool                 // as the Reconciler's
	fixless bool                 // it starts no fix
	hadPass bool                 // its record tells of a pass
	crowd   []int                // the other pull requests of the head, where they are too many to be judged
	shared  *quorum.Decision     // what the check shows, where other pull requests have it too
	ballots []quorum.Ballot      // by what was said here
	twins   []quorum.Twin        // other pull requests of the head and base that speak beside it
	answers []quorum.HeardAnswer // that reviewers gave here
	signs   []quorum.Sign        // of reviewers' services
}

// lookAgainDelay is the delay of the look after one that found GitHub moving: an effect was void, or could not be
// carried out.
const lookAgainDelay = 2 * time.Second

// Reconcile observes pr, judges, decides, and makes the decision true. It returns when to look again;
// with an error that is the moment a limit ends, or zero: then the caller backs off.
func (r *Reconciler) Reconcile(ctx context.Context, pr quorum.PR) (wake time.Time, err error) {
	wake, passed, err := r.reconcileOnce(ctx, pr)
	var moved interface{ LookAgain() bool }
	if passed && !r.Told && (err == nil || errors.As(err, &moved) && moved.LookAgain()) {
		// A pass has no wake. If another process saw something else and wrote it in the meantime, this pass has
		// overwritten it, or stands beside it, and would stay: so it is looked at once more.
		wake, _, err = r.reconcileOnce(ctx, pr)
	}
	if until, isLimited := retryAt(err); isLimited {
		return until, err
	}
	return wake, err
}

// reconcileOnce makes one look, publishes its check and carries out its effects. It reports whether the look made the
// check pass. Where several open pull requests have the head it does so for all that are judged together.
func (r *Reconciler) reconcileOnce(ctx context.Context, pr quorum.PR) (wake time.Time, passed bool, err error) {
	look, err := r.observe(ctx, pr)
	if err != nil {
		return time.Time{}, false, r.withdrawUnread(ctx, pr, err)
	}
	f, err := r.observeSiblings(ctx, look)
	if err != nil {
		return time.Time{}, false, err
	}
	r.takeProbes(ctx, f)
	effects := f.effects()
	f.render()
	isAnswerAlone := true // replies change nothing that was decided
	for _, e := range effects {
		e.Replies = nil
		isAnswerAlone = isAnswerAlone && e.Empty()
	}
	if err := r.publish(ctx, f); err != nil {
		return time.Time{}, f.hasPassed(false), err
	}
	wake = f.wake()
	passed = !r.DryRun && f.hasPassed(true) && !look.Snapshot.NoRecord
	if len(effects) == 0 || r.DryRun {
		return wake, passed, r.tellVerdict(ctx, f)
	}
	if ctx.Err() != nil {
		return time.Time{}, false, context.Cause(ctx)
	}
	settled, refused, err := r.apply(ctx, f, effects)
	if refused {
		f.render()
		if err := r.publish(ctx, f); err != nil {
			return time.Time{}, false, err
		}
		wake = f.wake()
	}
	if soon := look.At.Add(lookAgainDelay); err == nil && (!settled || look.Snapshot.NoRecord) && (wake.IsZero() || soon.Before(wake)) {
		wake = soon
	}
	if err == nil {
		err = r.tellVerdict(ctx, f)
	}
	return wake, passed && isAnswerAlone, err
}

// apply carries out effects, in the order of the pull requests. It reports whether all are done, and whether any was
// refused, which the records then know.
func (r *Reconciler) apply(ctx context.Context, f *headLooks, effects []quorum.Effects) (settled, refused bool, err error) {
	settled = true
	known := map[quorum.Action]quorum.Result{} // what became of those that pull requests share
	for _, e := range effects {
		mine := f.lookAt(e.PR)
		receipt := quorum.Receipt{Done: takeShared(&e, known)}
		if !e.Empty() {
			writing, done := outliveContext(ctx)
			var carried quorum.Receipt
			carried, err = r.Forge.Apply(writing, f.begin().Snapshot.PR.PR, e)
			done()
			receipt.Done, receipt.Replied, receipt.Fix = append(receipt.Done, carried.Done...), carried.Replied, carried.Fix
			receipt.People = carried.People
			settled = settled && !carried.Void
		}
		for _, done := range receipt.Done {
			settled = settled && done.State == quorum.ResultDone
			known[sharedAction(done.Action)] = done
		}
		settled = settled && (receipt.Fix == nil || receipt.Fix.State == quorum.ResultDone)
		if rec := evidence.Refuse(mine.Snapshot.Record, receipt); rec.Seq != mine.Snapshot.Record.Seq {
			mine.Snapshot.Record, refused = rec, true
			mine.judgeAndDecide()
			settled = !mine.withoutFix() && settled // it would stand in the record as started, and the next look starts it
		}
		if err != nil {
			break
		}
	}
	return settled, refused, err
}

// withdrawUnread has the green of a pull request taken away, if it has been lost to sight, and returns why it could not
// be read.
func (r *Reconciler) withdrawUnread(ctx context.Context, pr quorum.PR, why error) error {
	if r.DryRun || ctx.Err() != nil {
		return why
	}
	if err := r.Forge.WithdrawUnread(ctx, pr, r.Restamp); err != nil {
		return fmt.Errorf("%w; and its green could not be taken away: %s", why, err.Error())
	}
	return why
}

// Look observes pr and says what its check should read, without writing anything.
func (r *Reconciler) Look(ctx context.Context, pr quorum.PR) (Look, error) {
	look, err := r.observe(ctx, pr)
	if err != nil {
		return look, err
	}
	f, err := r.observeSiblings(ctx, look)
	if err != nil {
		return Look{}, err
	}
	f.render()
	return *f.begin(), nil
}

// observe looks at pr.
func (r *Reconciler) observe(ctx context.Context, pr quorum.PR) (Look, error) {
	return r.observeWith(ctx, pr, r.Forge.Observe)
}

// An observer is one of the ways in which a [Forge] observes.
type observer func(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error)

// observeWith looks at pr, and a second time where a run seems to have left nothing: GitHub's lists are read side by
// side, and a text that was posted between two of them would look as if it were missing. What the look shows of
// reviewers is told, and what others showed is learned.
func (r *Reconciler) observeWith(ctx context.Context, pr quorum.PR, observe observer) (look Look, err error) {
	for range 2 {
		look = Look{quiet: r.Quiet, places: r.Places}
		look.Policy, look.Snapshot, err = observe(ctx, pr)
		if err != nil {
			return Look{}, err
		}
		look.Snapshot.Spacing = r.Spacing
		look.Policy = change.PolicyFor(look.Policy, look.Snapshot)
		look.At, look.hadPass = r.now().Add(look.Snapshot.Skew), look.Snapshot.Record.Pass != nil
		look.judgeAndDecide()
		if !look.hasNewEmptyAttempt() {
			break
		}
	}
	r.hear(ctx, &look)
	r.noteSigns(ctx, &look)
	return look, nil
}

func (l *Look) judgeAndDecide() {
	l.judge()
	l.decide()
}

func (l *Look) judge() {
	l.ballots = evidence.Judge(l.Policy, l.Snapshot)
	l.answers, l.signs = quorum.AnswersIn(l.Policy, l.Snapshot.PR, l.ballots), quorum.SignsIn(l.Snapshot.PR, l.ballots)
}

func (l *Look) decide() {
	facts := evidence.Facts(l.Policy, l.Snapshot)
	facts.Siblings = l.crowd
	l.Decision = quorum.Decide(l.Policy, quorum.WithTwins(l.ballots, l.twins), facts, l.At)
	if l.fixless {
		l.Decision.Effects.Fix = nil
	}
	if !l.quiet {
		return
	}
	l.leaveFix()
	for _, ask := range l.Decision.Effects.Requests { // they stay due, for a look that may ask
		if l.Decision.Wake.IsZero() || ask.Due.Before(l.Decision.Wake) {
			l.Decision.Wake = ask.Due
		}
	}
	l.Decision.Effects.Requests = nil
	if len(l.Decision.Effects.People) > 0 {
		l.Decision.Wake, l.Decision.Effects.People = l.At, nil
	}
	isDueAsk := func(a quorum.Action) bool { return a.Kind == quorum.Ask && !l.At.Before(a.Due) }
	for i, b := range l.Decision.Ballots { // the check announces what is done, and this is not
		l.Decision.Ballots[i].Next = slices.DeleteFunc(slices.Clone(b.Next), isDueAsk)
	}
}

// remember makes the record of the decision. Effects that are due are announced as under way: their intents stand in the
// record, and the ballots are judged with it, before anything is carried out.
func (l *Look) remember() {
	if l.Decision.Reason != quorum.ReasonSiblings { // siblings share one check and must word it alike
		l.Snapshot.Record = evidence.Remember(l.Policy, l.Snapshot, l.Decision, l.At)
	}
	if !l.Decision.Effects.Empty() && !l.Snapshot.NoRecord {
		l.judgeAndDecide()
	}
}

// hasNewEmptyAttempt reports whether an attempt has ended and left nothing, and the record does not know it yet: that of
// a ballot, or one that is to be run again beside an objection that stands.
func (l *Look) hasNewEmptyAttempt() bool {
	for _, b := range l.Decision.Ballots {
		if b.Outcome == quorum.Empty && b.Run != 0 && !l.Snapshot.Record.KnowsEnd(b.Run, b.Attempt) {
			return true
		}
		for _, a := range b.Next {
			if b.Vote == quorum.Object && a.Kind == quorum.Rerun && a.Command == 0 && !l.Snapshot.Record.KnowsEnd(a.Run, a.Attempt) {
				return true
			}
		}
	}
	return false
}

func (r *Reconciler) publish(ctx context.Context, f *headLooks) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !r.DryRun {
		writing, done := outliveContext(ctx)
		defer done()
		for _, c := range f.checks {
			c.Restamp = r.Restamp
			if err := r.Forge.Publish(writing, f.begin().Snapshot.PR.PR, c); err != nil {
				return err
			}
		}
	}
	if r.Seen != nil {
		r.Seen(*f.begin())
	}
	return nil
}

// writeGrace is how long a write that is under way may take once its context has ended.
const writeGrace = 1500 * time.Millisecond

// outliveContext returns a context that outlives ctx by writeGrace: a write that is under way is finished.
func outliveContext(ctx context.Context) (context.Context, func()) {
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(writeGrace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel(context.Cause(ctx))
		case <-writing.Done():
		}
	})
	return writing, func() {
		stop()
		cancel(nil)
	}
}
