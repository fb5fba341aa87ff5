package evidence

// The attempts of a reviewer on this head: those of all its runs speak, whichever run has the higher number.

import (
	"cmp"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isCancelledByUs reports whether the record holds our cancel of this attempt.
func (v *attemptView) isCancelledByUs() bool {
	return v.head.record.hasIntent(quorum.Cancel, v.attempt.run.ID, v.attempt.number)
}

// judgeAttempts judges each attempt of the reviewer's runs on this head by itself. Those for other pull requests with this
// head, of which none approves this diff, come first.
func (v *reviewerView) judgeAttempts() {
	for _, a := range attemptsOfRuns(v.head, v.Reviewer, v.runs.ofTwins) {
		a.isOfTwin = true
		view := attemptView{v, a}
		if got := view.ownResult(); got.Outcome == quorum.Findings {
			v.judged = append(v.judged, judgedAttempt{view, got})
		}
	}
	for _, a := range v.attempts {
		view := attemptView{v, a}
		v.judged = append(v.judged, judgedAttempt{view, view.ownResult()})
	}
}

// newestAttempt is the attempt by which the reviewer is judged first, beside which all others speak.
func (v *reviewerView) newestAttempt() reviewAttempt {
	if v.Workflow == "" {
		return v.requestedAttempt()
	}
	start := v.head.cycle.start
	a := reviewAttempt{number: 1, began: start, firstJobBegan: start}
	if speaking := speakingAttempt(v.judged, rankUnderWay); speaking != nil {
		a = speaking.attempt
		a.byPerson = a.number > 1 && !v.head.record.hasOwnIntent(quorum.Rerun, a.run.ID, a.number-1)
	}
	a.spentAttempts = v.head.spentAttempts(v.Reviewer)
	return a
}

// speakingAttempt is, among the newest attempts of runs that did no more than most, the last of those that did most. One
// that waits for a person's approval replaces no approval, nor does one that we cancelled.
func speakingAttempt(all []judgedAttempt, most attemptRank) (best *judgedAttempt) {
	var idle *judgedAttempt
	newestAt := func(a *judgedAttempt) time.Time { return cmp.Or(a.attempt.ended, a.attempt.firstJobBegan) }
	isNewer := func(a, than *judgedAttempt) bool { return than == nil || !newestAt(a).Before(newestAt(than)) }
	for i := range all {
		a := &all[i]
		switch rank := a.attemptRank(); {
		case a.attempt.isPast, a.attempt.isOfTwin, rank > most:
		case !a.got.isVerdict() && (a.attempt.run.Status == "waiting" || a.isOurCancel()):
			idle = a
		case best == nil || rank > best.attemptRank() || rank == best.attemptRank() && isNewer(a, best):
			best = a
		}
	}
	if idle != nil && isNewer(idle, best) && (best == nil || best.attemptRank() < rankUnderWay && best.got.Outcome != quorum.Approved) {
		return idle
	}
	return best
}

// isOurCancel reports whether it ended by our cancel.
func (a *judgedAttempt) isOurCancel() bool {
	return a.attempt.run.Conclusion == "cancelled" && a.isCancelledByUs()
}

// attemptRank is how much an attempt did, as far as others may replace it.
type attemptRank int

const (
	rankNothing  attemptRank = iota // it was skipped, or cancelled before it spoke
	rankEmpty                       // it ran a job and left nothing, or what may be another pull request's
	rankSpoke                       // it left a verdict, or failed
	rankUnderWay                    // it has not ended
)

func (a *judgedAttempt) attemptRank() attemptRank {
	switch run := a.attempt.run; {
	case !run.Completed():
		return rankUnderWay
	case a.got.isVerdict() || a.isOurCancel():
		return rankSpoke
	case run.Conclusion == "skipped" || run.Conclusion == "cancelled" || len(run.Jobs) == 0:
		return rankNothing
	case a.got.Outcome == quorum.Empty, isByConclusion(a.Reviewer) && a.got.Reason == quorum.ReasonOtherPull:
		return rankEmpty
	}
	return rankSpoke
}

// requestedAttempt is the newest attempt of a reviewer without a run: the first begins at the start, the next when it
// was asked again. A person's request restarts the clock and spends no attempt.
func (v *reviewerView) requestedAttempt() reviewAttempt {
	a, free := reviewAttempt{number: 1, began: v.head.cycle.start}, 0
	for _, in := range v.head.record.requestsTo(v.Name) {
		a.number = max(a.number, in.Attempt) // a request at the start is for attempt 1
		a.request, a.began = in, latest(a.began, in.At)
		if a.isCommanded = in.Command != 0; a.isCommanded || in.Free {
			free++
		}
	}
	a.byPerson = a.isCommanded
	if at := v.personRequest(); at.After(a.began) && !at.Before(v.turn) {
		a.began, a.byPerson, a.isCommanded = at, true, false
	}
	a.spentAttempts, a.firstJobBegan = max(a.number-1-free, 0), a.began
	return a
}
