package evidence

// A yes belongs to the diff that its reviewer looked at. Of a text nothing shows when that began: one that comes after the base
// changed may be about the change against the base of before.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// mayBeOfOldBase reports whether an approval may have been begun against the base of before: it is its reviewer's first answer
// since the base changed, and the diff with it, and the reviewer was at work then, or may have been. Where a workflow has no run
// since, a run of before may have left it.
func (v textView) mayBeOfOldBase(c *statement) bool {
	changed := diffChangedByBase(v.head)
	isKnown := slices.ContainsFunc(v.head.record.approvalsOf(v.Name), func(st quorum.Stood) bool {
		return st.TextRef == c.ref && st.Base == v.head.record.base && st.At.After(changed)
	})
	if v.Workflow != "" {
		return v.attempt.run == nil && len(v.runs.oldBase) > 0
	}
	isAnew := func(in *quorum.Intent) bool { return in.Free && in.At.Before(c.at) } // asked for since
	wasHere := !changed.IsZero() && firstArrival(v.head.snapshot).Before(changed)
	return wasHere && !isKnown && !v.hasAnswered(changed, c.at, c.ref) && !v.wasIdleAt(changed) &&
		!slices.ContainsFunc(v.head.record.requestsTo(v.Name), isAnew)
}

// diffChangedByBase is when the base changed last, and with it the diff, or what reviewers may take their instructions from: a
// branch of the author's own holds what the author likes. It is zero if that never was.
func diffChangedByBase(h *headView) time.Time {
	for _, e := range slices.Backward(h.timeline) {
		files := filesAgainst(h, e.To)
		isSame := files != "" && files == filesAgainst(h, e.From) && e.From == h.snapshot.PR.DefaultBranch
		if e.Kind == quorum.BaseChanged && !isSame {
			return e.At
		}
	}
	return time.Time{}
}

// filesAgainst is [quorum.DiffPrint].Files of the head against a base; "" if that is not known.
func filesAgainst(h *headView, base string) string {
	if base == h.snapshot.PR.BaseRef && !h.isLeft {
		return h.snapshot.PR.Diff.Files
	}
	isIt := func(d *quorum.HeadDiff) bool { return d.Head == h.snapshot.PR.Head && d.Base == base }
	return cmp.Or(firstOf(h.snapshot.Record.Heads, isIt), &quorum.HeadDiff{}).Files
}

// hasAnswered reports whether the reviewer gave an answer about this head after one moment and before another.
func (v textView) hasAnswered(after, before time.Time, but quorum.TextRef) bool {
	return slices.ContainsFunc(v.head.texts, func(t quorum.Text) bool {
		at := latest(t.At, t.Edited)
		return at.After(after) && at.Before(before) && t.TextRef != but && v.isAnswerHere(&t)
	})
}

// isAnswerHere reports whether a text is an answer of the reviewer about this head.
func (v textView) isAnswerHere(t *quorum.Text) bool {
	named := v.namedCommit(t)
	isOther := t.Kind == quorum.TextReview && t.Commit != v.head.snapshot.PR.Head || named != "" && !v.head.isHead(named)
	isIts := v.IsAuthor(t.Author) && !v.head.isOurs(t) && v.hasHeading(t)
	if isOther || !isIts || latest(t.At, t.Edited).Before(v.head.cycle.arrival) {
		return false
	}
	got := v.readAgain(t)
	return got.isVerdict() || saysWhy(got.Outcome) || got.Outcome == quorum.Malformed || got.Outcome == quorum.Partial
}

// wasIdleAt reports whether the reviewer had answered before a moment, and no push, request or word had asked it since.
func (v textView) wasIdleAt(at time.Time) bool {
	asked := v.head.cycle.arrival
	note := func(t time.Time) {
		if !t.After(at) {
			asked = latest(asked, t)
		}
	}
	for _, in := range v.head.record.record.Intents {
		isOfChange := in.Base == v.head.record.base && in.At.After(at.Add(-intentClockSlack))
		if in.Kind == quorum.Ask && in.Reviewer == v.Name && !isOfChange {
			note(earliest(in.At, at))
		}
	}
	for _, e := range v.head.timeline {
		isRequest := isReviewRequest(&e, v.Reviewer) && !e.Actor.Same(v.head.snapshot.Ours)
		isStart := e.Kind == quorum.Reopened || e.Kind == quorum.ReadyForReview || e.Kind == quorum.BaseChanged && e.At.Before(at)
		if isStart || isRequest {
			note(e.At)
		}
	}
	for _, t := range v.head.texts {
		if !t.At.After(at) && v.mayAsk(&t) {
			note(earliest(latest(t.At, t.Edited), at))
		}
	}
	return v.hasAnswered(asked, at, quorum.TextRef{})
}

// mayAsk reports whether a text may have asked the reviewer for a review, as it stands or before a person edited it.
func (v textView) mayAsk(t *quorum.Text) bool {
	body := strings.ToLower(t.Body)
	isToIt := slices.ContainsFunc(v.Addresses(), func(name string) bool { return strings.Contains(body, name) })
	return !v.IsAuthor(t.Author) && !t.Author.Same(v.head.snapshot.Ours) &&
		(isToIt || isRequest(t, v.Reviewer) || !t.Edited.IsZero() && !t.Author.Bot)
}
