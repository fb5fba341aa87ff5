package evidence

import (
	"cmp"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// intentClockSlack is how far our clock, by which an intent is dated, may be ahead of GitHub's: a smaller skew is not
// corrected, and GitHub's times are whole seconds.
const intentClockSlack = 3 * time.Second

// maxTries is how often an effect is tried of which GitHub shows no trace.
const maxTries = 3

// A planner applies the policy to an attempt's result: what the vote is, until when it may change, and what to do.
type planner struct {
	*attemptView
	result statement
	end    time.Time // of this attempt
	limit  time.Time // of the whole wait
}

func newPlanner(v *attemptView, got statement) *planner {
	a, start := &v.attempt, v.head.cycle.start
	if a.byPerson {
		start = a.began
	}
	limit := latest(start, v.turn).Add(v.head.policy.Deadline)
	end := latest(a.firstJobBegan, v.turn).Add(v.Timeout)
	return &planner{attemptView: v, result: got, end: earliest(end, limit), limit: limit}
}

func (p *planner) completeBallot(b quorum.Ballot) quorum.Ballot {
	a, got := &p.attempt, &p.result
	b.Vote, b.Outcome, b.Reason, b.Detail, b.Evidence = quorum.Unavailable, got.Outcome, got.Reason, got.Detail, got.ref
	b.Findings = p.head.withKnownPaths(got.Findings)
	b.Attempt, b.Reset, b.Ended = a.number, got.resetAt(), got.ended
	b.URL, b.Since = cmp.Or(got.url, b.URL), cmp.Or(got.at, b.Since)
	// GitHub starts no workflow for a Copilot review, nor for a check on a commit on which Actions run.
	b.Watch = p.Workflow == "" && (p.Request.Login != "" || p.Check != "")
	if got.Reason == quorum.ReasonOverridden {
		return b
	}
	switch got.Outcome {
	case quorum.Approved, quorum.Findings:
		return p.castVote(b)
	case quorum.Silent:
		return p.waitForAnswer(b)
	case quorum.Running:
		return p.waitForAttempt(b)
	case quorum.AwaitingApproval:
		return asPending(b, p.limit, quorum.ReasonApproval)
	case quorum.Withdrawn:
		return asPending(b, p.end, got.Reason)
	case quorum.Cancelled:
		if !p.isCancelledByUs() {
			return asPending(b, earliest(a.ended.Add(p.head.policy.Retry.FastFail), p.limit), quorum.ReasonCancelled)
		}
		b.Outcome, b.Reason = quorum.Hung, quorum.ReasonHung
	case quorum.Failed, quorum.Declined:
		return b
	}
	return p.planRetry(b)
}

// waitForAnswer is the ballot of a reviewer that has not answered, or not with what counts: it is asked, where that can help.
func (p *planner) waitForAnswer(b quorum.Ballot) quorum.Ballot {
	a, got := &p.attempt, &p.result
	b = asPending(b, p.end, quorum.ReasonNoAnswer)
	isOfOldBase := got.Reason == quorum.ReasonOldBase
	isMoved := got.Reason == quorum.ReasonMoved || isOfOldBase
	if isMoved {
		b.Late = got.Reason
	}
	switch {
	case a.request == nil && !a.byPerson && (p.asksFirst() || isMoved && p.canAsk()):
		b.Next = []quorum.Action{p.askAction(1, latest(p.head.cycle.start, p.turn))}
	case a.request != nil && isOfOldBase && a.request.At.Before(got.void) && p.canAsk():
		b.Next = []quorum.Action{p.askAction(a.number+1, got.void)}
		b.Next[0].Free = true
	}
	return p.repeatRequest(b)
}

// asPending is b, Pending until a deadline, with the reason for which it is Unavailable then. A later answer still counts.
func asPending(b quorum.Ballot, deadline time.Time, late quorum.Reason) quorum.Ballot {
	b.Vote, b.Deadline, b.Late, b.Open = quorum.Pending, deadline, late, true
	return b
}

// castVote is the ballot of a verdict, which counts once its attempt has ended or is at its deadline.
func (p *planner) castVote(b quorum.Ballot) quorum.Ballot {
	a, got, pending := &p.attempt, &p.result, b
	b.Vote, b.At, b.Retried, b.Threads = quorum.Approve, latest(got.at, p.head.cycle.start), a.number > 1, got.hasThreads
	if b.Begun = got.begun; a.run == nil { // At may be when the head came back
		b.Begun = cmp.Or(got.begun, got.at)
	}
	if got.Outcome == quorum.Findings {
		b.Vote, b.SaidRun, b.SaidAttempt = quorum.Object, got.run, got.attempt
		b.Watch = p.isRerunUnderWay()
	}
	if got.Outcome == quorum.Approved && got.isHeldUp || a.isUnderWay() && (got.Outcome == quorum.Approved || got.Doubt) {
		b.At = latest(got.at, p.end)
		pending.Vote, pending.Outcome, pending.Reason = quorum.Pending, quorum.Running, quorum.ReasonRunning
		if got.Doubt {
			pending.Reason = quorum.ReasonDoubt
		}
		pending.Deadline, pending.Then, pending.Findings = p.end, &b, nil
		pending.Since, pending.Retrying, pending.Watch = a.firstJobBegan, a.number > 1, b.Watch || a.number > 1
		return pending
	}
	switch {
	case a.run == nil, got.Reason == quorum.ReasonCarried, got.Outcome == quorum.Findings && got.newest == nil:
		return b
	case got.Outcome == quorum.Findings: // a newer attempt that hangs or ended without a verdict is run again, as any other
		newer := *p
		newer.result = *got.newest
		if newer.result.Outcome != quorum.Running || newer.end.Before(newer.limit) { // else after it nothing is
			b.Next = newer.completeBallot(quorum.Ballot{}).Next
		}
		return b
	}
	b.At = latest(b.At, a.ended)
	if at := p.head.record.firstApproval(p.Name, got.ref); !at.IsZero() && !at.Before(a.began) {
		b.At = earliest(b.At, at)
	}
	return b
}

// waitForAttempt is the ballot of an attempt under way. At its deadline it is cancelled and run again, if a retry is
// left; the last one is left to run.
func (p *planner) waitForAttempt(b quorum.Ballot) quorum.Ballot {
	a := &p.attempt
	b = asPending(b, p.end, quorum.ReasonLate)
	b.Retrying = a.number > 1
	b.Watch = b.Watch || p.isRerunUnderWay()
	if a.run == nil {
		return p.repeatRequest(b)
	}
	if !p.canRetry() {
		b.Spent, b.Failed = a.number > 1, a.number // counts this attempt, as it will read at the deadline
		return b
	}
	if no, refused := p.head.record.refusalOf(quorum.Cancel, p.Name, a.run.ID, a.number); refused { // so it is left to run
		b.Late, b.Detail = no.Reason, no.Detail
		return b
	}
	b.Deadline = p.limit
	b.Next = []quorum.Action{{Kind: quorum.Cancel, Reviewer: p.Name, Due: p.end, Run: a.run.ID, Attempt: a.number}}
	if in, found := p.head.record.newestIntent(quorum.Cancel, a.run.ID, a.number); found {
		b.Outcome, b.Reason, b.Retrying, b.Watch = quorum.Hung, quorum.ReasonHung, true, true
		b.Next[0].Due = in.At.Add(quorum.ReplicaLag)
		if in.Tries >= maxTries {
			b.Next = nil
		}
	}
	return b
}

// isRerunUnderWay reports whether an attempt that we have started again has not ended, or does not show yet.
func (p *planner) isRerunUnderWay() bool {
	a := &p.attempt
	if _, _, again, found := p.announcedRerun(); found {
		return again
	}
	return a.isUnderWay() && a.number > 1 && p.head.record.hasIntent(quorum.Rerun, a.run.ID, a.number-1)
}

func (p *planner) canRetry() bool {
	return !p.Shadow && p.attempt.spentAttempts < p.head.policy.Retry.Max
}

// planRetry is the ballot of an attempt that ended without a verdict: it is repeated once, if that can help.
func (p *planner) planRetry(b quorum.Ballot) quorum.Ballot {
	a, got := &p.attempt, &p.result
	b.Failed, b.Open = a.number, a.run == nil
	if got.Outcome == quorum.Malformed || got.Outcome == quorum.Partial {
		for _, old := range p.head.record.record.Answers {
			if old.Reviewer == p.Name && old.Attempt < a.number {
				b.Answers = append(b.Answers, old.Excerpt)
			}
		}
		b.Answers = append(b.Answers, excerptOf(got.body))
	}
	if b.Outcome == quorum.Limited && (got.resetAt().IsZero() || !got.resetAt().Before(p.limit)) {
		return b
	}
	if no, refused := p.retryRefusal(); refused {
		b = asUnavailable(b, quorum.Refused, no.Reason, no.Detail)
		b.Spent, b.Open = true, false
		return b
	}
	if in, due, again, found := p.announcedRerun(); found {
		b = asPending(b, earliest(in.At.Add(p.Timeout), latest(p.limit, in.At)), b.Reason)
		b.Retrying, b.Watch, b.Spent, b.Open = true, true, true, false
		if again {
			b.Next = []quorum.Action{p.againAction(due)}
		}
		return b
	}
	due, possible := p.retryDue(b.Outcome), a.run != nil || p.canAsk()
	if !possible || !p.canRetry() || !due.Before(p.limit) {
		b.Spent = possible && !p.Shadow
		return b
	}
	// An answer that was not understood is asked for again, unless the reviewer's last ones on other pull requests were
	// not understood either. What it said on this pull request shows nothing for itself.
	isUnread, s := got.Outcome == quorum.Malformed && got.Reason == quorum.ReasonMalformed, p.head.snapshot
	if isUnread && quorum.DriftOf(p.Name, s.Heard, s.PR.Number).Drifted() {
		b.Reason, b.Spent = quorum.ReasonDrift, true
		return b
	}
	b = asPending(b, p.limit, b.Reason)
	b.Retrying, b.Watch, b.Planned = true, true, true
	b.Next = []quorum.Action{p.againAction(due)}
	return p.delayByCircuit(b)
}

// retryDue is when an attempt of that outcome is run or asked for again. The pause before that is ±20 % by the run's
// id, so that a decision stays a function of its inputs.
func (p *planner) retryDue(outcome quorum.Outcome) time.Time {
	a, seed, isFast := &p.attempt, uint64(0), false
	if a.run != nil {
		seed, isFast = uint64(a.run.ID), a.ended.Sub(a.firstJobBegan) < p.head.policy.Retry.FastFail
	}
	ended := latest(p.result.at, a.ended)
	switch {
	case outcome == quorum.Limited:
		return p.result.resetAt()
	case outcome == quorum.Hung && (a.run == nil || a.run.Conclusion != "timed_out"), outcome == quorum.Empty && isFast:
		return ended
	}
	spread := float64(seed*0x9E3779B97F4A7C15>>54) / 1024 // 0 … 1
	return ended.Add(time.Duration(float64(p.head.policy.Retry.Backoff) * (0.8 + 0.4*spread)))
}

// repeatRequest asks again if GitHub shows no trace of our request.
func (p *planner) repeatRequest(b quorum.Ballot) quorum.Ballot {
	a := &p.attempt
	if a.request == nil {
		b.Watch = b.Watch || len(b.Next) > 0
		return b
	}
	b.Watch, b.Retrying = true, a.number > 1
	if no, refused := p.retryRefusal(); refused {
		if !a.byPerson || a.isCommanded { // else a person has asked since, and is waited for
			b = asUnavailable(b, quorum.Refused, no.Reason, no.Detail)
			b.Deadline = time.Time{}
		}
		b.Next = nil
		return b
	}
	isShown := slices.ContainsFunc(p.shownRequests(), func(e quorum.Event) bool {
		isOurs := e.Kind == quorum.ReviewRequested || p.Request.Login == "" && e.Actor.Same(p.head.snapshot.Ours)
		return isOurs && !e.At.Before(a.request.At.Add(-intentClockSlack))
	})
	if !isShown && a.request.Tries < maxTries {
		b.Next = []quorum.Action{p.askAction(a.number, a.request.At.Add(quorum.ReplicaLag))}
	}
	return b
}

// canAsk reports whether the reviewer can be asked. Without a record it is not: a comment might be repeated for ever.
// Where retention took the record, it was asked long ago.
func (p *planner) canAsk() bool {
	c := &p.head.cycle
	isOver := p.head.snapshot.Expired && !c.start.After(c.arrival)
	return !p.Shadow && p.Request.Set() && !p.head.snapshot.NoRecord && !isOver
}

// asksFirst reports whether the reviewer is asked for its first attempt, too. After a change of the base it is: that
// voids earlier answers, and GitHub announces it to no reviewer.
func (p *planner) asksFirst() bool {
	isReservesTurn := p.InsteadOf != "" && (!p.turn.IsZero() || p.isRequiredAgain())
	return p.canAsk() && (p.Request.AtStart || !p.head.cycle.baseChanged.IsZero() || isReservesTurn)
}

func (p *planner) askAction(attempt int, due time.Time) quorum.Action {
	return quorum.Action{
		Kind: quorum.Ask, Reviewer: p.Name, Due: due, Attempt: attempt,
		Request: p.Request, Timeout: p.Timeout,
	}
}

// againAction runs the reviewer again, or asks it again, if it has no run.
func (p *planner) againAction(due time.Time) quorum.Action {
	run := p.attempt.run
	if run == nil {
		return p.askAction(p.attempt.number+1, due)
	}
	failed := func(job quorum.Job) bool { return job.Conclusion == "failure" || job.Conclusion == "timed_out" }
	return quorum.Action{
		Kind: quorum.Rerun, Reviewer: p.Name, Due: due, Run: run.ID, Attempt: p.attempt.number,
		FailedOnly: slices.ContainsFunc(run.Jobs, failed), Timeout: p.Timeout,
	}
}

// announcedRerun is our recorded rerun of this attempt, whose next attempt GitHub does not show yet, and whether it is
// tried again, and when. The pauses grow; that a permission is missing GitHub says twice, a minute apart.
func (p *planner) announcedRerun() (in quorum.Intent, due time.Time, again, found bool) {
	if p.attempt.run != nil {
		in, found = p.head.record.newestIntent(quorum.Rerun, p.attempt.run.ID, p.attempt.number)
	}
	pause := time.Duration(in.Tries*in.Tries) * quorum.ReplicaLag
	no, isFinal := p.retryRefusal()
	if no.Reason == quorum.ReasonPermission {
		pause = max(pause, time.Minute)
	}
	return in, in.At.Add(pause), found && !isFinal && in.Tries < maxTries, found
}

// retryRefusal is GitHub's refusal to run or ask again, and whether that is its last word.
func (p *planner) retryRefusal() (no quorum.Refusal, isFinal bool) {
	if p.attempt.run == nil {
		return p.head.record.refusalOf(quorum.Ask, p.Name, 0, p.attempt.number)
	}
	return p.head.record.refusalOf(quorum.Rerun, p.Name, p.attempt.run.ID, p.attempt.number)
}

// delayByCircuit delays the planned retry of a ballot, and its deadline, while the reviewer's circuit is open, as it
// stands or by the record, unless the service has answered since.
func (p *planner) delayByCircuit(b quorum.Ballot) quorum.Ballot {
	s, next, failed := p.head.snapshot, &b.Next[0], latest(p.result.at, p.attempt.ended)
	c := quorum.CircuitOf(p.Name, s.Circuits)
	passage := c.PassageOf(s.PR.Number, failed)
	for _, held := range s.Record.Circuits {
		isIts := held.Reviewer == p.Name && failed.Before(held.At) && c.Answered.Before(held.Since)
		if isIts && passage.Hold.IsZero() && c.Probe != s.PR.Number {
			held.Reviewer = ""
			passage = quorum.Passage{At: held.At, Hold: held}
		}
	}
	if next.Round = passage.Round; !next.Due.Before(passage.At) {
		return b // it is let through when it is due
	}
	next.Due, b.Circuit = passage.At, passage.Hold
	b.Deadline = earliest(next.Due.Add(p.Timeout), p.limit)
	return b
}

// holdsOf are the open circuits that delay ballots.
func holdsOf(ballots []quorum.Ballot) (all []quorum.Hold) {
	for _, b := range ballots {
		if hold := b.Circuit; !hold.IsZero() {
			hold.Reviewer, hold.Since, hold.Until, hold.At = b.Reviewer, hold.Since.UTC(), hold.Until.UTC(), hold.At.UTC()
			all = append(all, hold)
		}
	}
	return all
}
