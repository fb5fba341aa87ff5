package evidence

// An accept ends what it was said over. A vouch lets somebody stand in for reviewers of a change of their own.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// acceptOf finds the accept that ends what a reviewer objected at a moment: our check had named that, or what came later.
func (v *commandView) acceptOf(reviewer string, at time.Time, is func(*quorum.Objection) bool) (quorum.Command, bool) {
	for _, c := range v.all {
		isOfAccept := func(o *quorum.Objection) bool { // those before it were named, too
			isOne := o.Reviewer == reviewer && v.head.record.concerns(o) && wasNamedBy(o, c.At)
			return isOne && (is(o) || !at.After(o.At))
		}
		if v.isInForce(&c, quorum.CommandAccept) && !at.After(c.Until) && slices.Contains(c.Reviewers, reviewer) &&
			firstOf(v.head.snapshot.Record.Objections, isOfAccept) != nil {
			return c, true
		}
	}
	return quorum.Command{}, false
}

// isInForce reports whether a command of that kind was heard on this head and base, since the base changed.
func (v *commandView) isInForce(c *quorum.Command, verb quorum.CommandVerb) bool {
	return c.Verb == verb && c.Refused == "" && c.Base == v.head.snapshot.PR.BaseRef && !v.head.cycle.isBeforeBase(c.At)
}

// vouchers are those who vouch for a change of their own, in the order in which they did.
func (v *commandView) vouchers() (all []quorum.StandIn) {
	for _, c := range v.all {
		p, isHeard := v.head.policy, v.isInForce(&c, quorum.CommandVouch)
		if isHeard && p.OwnChange && p.StandIn != 0 && c.May >= p.StandIn {
			all = append(all, quorum.StandIn{Login: c.By, Review: c.ID, At: c.At, Vouch: true})
		}
	}
	return all
}

// accepted is an objection as a person's accept has ended it, if one has; one by open threads only if none is younger than the
// accepted.
func (v *attemptView) accepted(objection statement) (ended statement, isAccepted bool) {
	at, isByThreads := objection.at, objection.Reason == quorum.ReasonOpenThreads
	for _, f := range objection.Findings {
		if t := v.threads.threadOf(f.Thread); isByThreads && t != nil {
			at = latest(at, t.At)
		}
	}
	c, isAccepted := v.commands.acceptOf(v.Name, at, func(o *quorum.Objection) bool {
		return o.TextRef == objection.ref && !isByThreads || o.Kind == quorum.TextThread && isByThreads
	})
	if isAccepted {
		objection.Reason, objection.Detail, objection.Doubt = quorum.ReasonOverridden, c.By, false
		objection.newest, objection.hasThreads = nil, false
		objection.ended = quorum.Ending{By: c.By, How: quorum.ReasonOverridden}
	}
	return objection, isAccepted
}

// endedEarlier is a person's act that ended what the reviewer objected to this diff: an accept elsewhere, or a dismissal.
func (v *attemptView) endedEarlier() quorum.Ending {
	s := v.head.snapshot
	for _, t := range slices.Backward(s.Reviews) {
		by, was := v.head.dismissalOf(t.ID)
		if !v.head.isDismissed(&t) || !v.threads.isOfDiff(&t) || !v.IsAuthor(t.Author) {
			continue
		}
		if t.State = was; v.readAgain(&t).Outcome == quorum.Findings {
			return quorum.Ending{By: by.Login, How: quorum.ReasonDismissed}
		}
	}
	for _, o := range s.Record.Objections {
		if o.Reviewer == v.Name && o.Accepted != "" && v.head.record.concerns(&o) {
			return quorum.Ending{By: o.Accepted, How: quorum.ReasonOverridden}
		}
	}
	return quorum.Ending{}
}

// markAccepted notes that somebody who may accepted over an objection, on the record's head and base.
func markAccepted(rec *quorum.Record, o *quorum.Objection) {
	c := firstOf(rec.Commands, func(c *quorum.Command) bool {
		return c.Verb == quorum.CommandAccept && c.Refused == "" && c.Base == rec.Base && rec.Concerns(o, rec.Base, rec.Diff) &&
			slices.Contains(c.Reviewers, o.Reviewer) && !o.At.After(c.Until) && wasNamedBy(o, c.At)
	})
	if c != nil && !o.Answered {
		o.Answered, o.Accepted, o.Own = true, c.By, c.Own
	}
}
