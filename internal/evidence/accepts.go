package evidence

// What a person accepted over stands no more: the accept of a head, found for each objection that it ends.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// acceptOf finds the accept that ends an objection of a reviewer that was said at a moment: one against this head and base
// that our check had named by then, or one that was said before that.
func (v *commandView) acceptOf(reviewer string, at time.Time, isNamed func(o *quorum.Objection) bool) (c quorum.Command, found bool) {
	for _, c := range v.all {
		if c.Verb != quorum.CommandAccept || c.Refused != "" || c.Base != v.head.snapshot.PR.BaseRef || v.head.cycle.isBeforeBase(c.At) ||
			at.After(c.Until) || !slices.Contains(c.Reviewers, reviewer) || change.HadHand(v.head.snapshot, quorum.Account{Login: c.By}) {
			continue // it may have been heard below another pull request of the head, where that person had no hand
		}
		for i := range v.head.snapshot.Record.Objections {
			o := &v.head.snapshot.Record.Objections[i]
			isOfAccept := o.Reviewer == reviewer && v.head.record.concerns(o) && wasNamedBy(o, c.At)
			if isOfAccept && (isNamed(o) || !at.After(o.At)) { // the record has no room for all of many: the check named those before it
				return c, true
			}
		}
	}
	return c, false
}

// acceptOfResult finds the accept that ends an objection as a result shows it. One by open threads is ended if none of
// them is younger than the accepted ones.
func (v *attemptView) acceptOfResult(r *attemptResult) (c quorum.Command, found bool) {
	if len(v.commands.all) == 0 {
		return c, false
	}
	if r.reason != quorum.ReasonOpenThreads {
		return v.commands.acceptOf(v.Name, r.at, func(o *quorum.Objection) bool { return o.TextRef == r.ref })
	}
	at := r.at
	for _, f := range r.findings {
		for i := range v.head.snapshot.Threads {
			if t := &v.head.snapshot.Threads[i]; t.ID == f.Thread {
				at = latest(at, t.At)
			}
		}
	}
	return v.commands.acceptOf(v.Name, at, func(o *quorum.Objection) bool { return o.Kind == quorum.TextThread })
}

// overriddenResult is an objection that a person's accept has ended.
func overriddenResult(objection attemptResult, c quorum.Command) attemptResult {
	objection.reason, objection.detail, objection.isDoubt = quorum.ReasonOverridden, c.By, false
	objection.newestResult, objection.hasThreads = nil, false
	return objection
}

// answersAnew reports whether a result is the reviewer's own approval after an objection.
func answersAnew(got, objection *attemptResult) bool {
	return got.outcome == quorum.Approved && got.reason != quorum.ReasonResolved && got.at.After(objection.at)
}

// isAccepted reports whether somebody who may accepted over an objection, on the record's head and base.
func isAccepted(rec *quorum.Record, o *quorum.Objection) bool {
	return slices.ContainsFunc(rec.Commands, func(c quorum.Command) bool {
		return c.Verb == quorum.CommandAccept && c.Refused == "" && c.Base == rec.Base && rec.Concerns(o, rec.Base, rec.Diff) &&
			slices.Contains(c.Reviewers, o.Reviewer) && !o.At.After(c.Until) && wasNamedBy(o, c.At)
	})
}
