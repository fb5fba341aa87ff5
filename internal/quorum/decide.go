package quorum

import (
	"slices"
	"time"
)

// Decide applies p to the ballots as of now. The ballots are those of evidence.Judge for p's reviewers, in their order.
//
// Facts come before the clock: a ballot that GitHub's facts have settled is never touched by a deadline. The rules are
// tried in the order of their numbers; each is a method below.
func Decide(p Policy, ballots []Ballot, f Facts, now time.Time) Decision {
	d := Decision{PR: f.PR, Head: f.Head, Base: f.Base, Need: p.Need, Start: f.Start, Against: f.Against, Reason: ReasonTally}
	switch {
	case f.File.State == FileMissing:
		return d.asEnded(ReasonNoPolicy)
	case f.Closed:
		return d.asEnded(ReasonClosed)
	case f.File.State != FileValid || p.Need < 1: // an empty quorum is no quorum
		d.Verdict, d.Reason = Unverified, ReasonBroken
		return d
	case p.Mode == Off:
		return d.asEnded(ReasonOff)
	case len(f.Siblings) > 0: // until siblings are judged together, none of them passes
		d.Verdict, d.Reason, d.Base, d.Start = Unverified, ReasonSiblings, "", time.Time{} // the same for each of them
		d.Siblings = slices.Sorted(slices.Values(append(slices.Clone(f.Siblings), f.PR.Number)))
		return d
	case f.Draft && p.DraftsWait:
		d.Verdict, d.Reason, d.Ballots = Waiting, ReasonDraft, slices.Clone(ballots)
		d.countVotes()
		return d
	}
	if d.passStands(p, ballots, f) {
		return d
	}
	d.applyRules(p, d.withoutUntakenSteps(p, ballots, f, now), f, now)
	if d.Verdict != Passed {
		d.scheduleEffects(f, now)
	}
	return d
}

// applyRules applies rules 2 to 6 to the ballots as of now.
func (d *Decision) applyRules(p Policy, ballots []Ballot, f Facts, now time.Time) {
	d.Verdict, d.Reason, d.Pass, d.StandIns, d.GraceEnd = 0, ReasonTally, nil, nil, time.Time{}
	d.tallyBallots(ballots, now)
	required := d.worstRequiredVote()
	switch enough := d.Approvals >= p.Need && required == Approve; {
	case d.Objections > 0 && (d.Pending == 0 || p.EarlyStart && (d.Approvals+d.Objections >= p.Need || d.Approvals+d.Pending < p.Need)):
		d.Verdict = Blocked // rule 2
	case d.Objections > 0:
		d.Verdict = Waiting // rule 6: for a second answer
	case d.Pending == 0 && enough:
		d.makePassed(ballots, f, earlierOf(d.lastSettledAt(), d.graceEnds(p, f)), nil) // rule 3, or rule 5 if nobody looked then
	case d.Pending == 0:
		d.makeUnverified(required)
		if len(f.StandIns) > 0 && len(f.Against) == 0 {
			by := f.StandIns[:1]
			d.makePassed(ballots, f, laterOf(d.lastSettledAt(), by[0].At), by)
		}
	case d.Approvals+d.Pending < p.Need || required == Unavailable:
		d.makeUnverified(required) // rule 4
	case enough && d.hasDoubt():
		d.Verdict = Waiting // a pass must not come between a doubt and its end
	case enough:
		end := d.graceEnds(p, f) // rule 5
		if now.Before(end) {
			d.Verdict, d.GraceEnd = Waiting, end
		} else {
			d.makePassed(ballots, f, end, nil)
		}
	default:
		d.Verdict = Waiting // rule 6
	}
}

// hasDoubt reports whether a pending reviewer has said what seems to be an objection.
func (d *Decision) hasDoubt() bool {
	return slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.Voter() && b.isDoubt() })
}

// isDoubt reports whether b will object if nothing more is said.
func (b *Ballot) isDoubt() bool { return b.Vote == Pending && b.Then != nil && b.Then.Vote == Object }

// withoutUntakenSteps returns the ballots without the retries that will not be made, so that nothing waits for them:
// all of them if the check is Blocked, or Unverified whatever they answer; else those that are due only after it has
// passed. The verdict that says so is found with every planned retry still pending, whatever its deadline.
func (d *Decision) withoutUntakenSteps(p Policy, ballots []Ballot, f Facts, now time.Time) []Ballot {
	isPlanned := func(b Ballot) bool { return b.Vote == Pending && b.Planned && b.Voter() }
	if !slices.ContainsFunc(ballots, isPlanned) {
		return ballots
	}
	open, left := slices.Clone(ballots), slices.Clone(ballots)
	for i := range open {
		if isPlanned(open[i]) {
			open[i].Deadline = time.Time{}
		}
	}
	then := *d
	then.Ballots = nil
	then.applyRules(p, open, f, now)
	for i, b := range left {
		if isPlanned(b) && then.leavesOut(b.Next[0].Due) {
			left[i] = b.withoutStep()
		}
	}
	return left
}

// withoutStep is a ballot whose planned retry is not made.
func (b Ballot) withoutStep() Ballot {
	b.Vote, b.Deadline, b.Late = Unavailable, time.Time{}, ""
	b.Next, b.Planned, b.Retrying, b.Watch = nil, false, false, false
	return b
}

// leavesOut reports whether a retry that is due at that moment is not made under this decision.
func (d *Decision) leavesOut(due time.Time) bool {
	switch {
	case d.Verdict == Passed:
		return !due.Before(d.Pass.At)
	case d.Verdict == Waiting:
		return !d.GraceEnd.IsZero() && !due.Before(d.GraceEnd)
	}
	return d.Verdict == Blocked || d.Verdict == Unverified && !d.mayChange()
}

// asEnded returns d as Ended: nothing is decided.
func (d Decision) asEnded(why Reason) Decision {
	d.Verdict, d.Reason = Ended, why
	return d
}

// passStands applies rule 0: a pass stands until something new speaks against it. The ballots are shown as they were at
// that moment: the clock does not touch them any more. A pass that names too few approvals was never earned.
func (d *Decision) passStands(p Policy, ballots []Ballot, f Facts) bool {
	was := f.Pass
	if was == nil || was.Base != f.Base || was.Policy != f.File.SHA || was.Need != d.Need {
		return false
	}
	if len(was.By) > 0 && len(f.Against) > 0 { // against the reviewers' own quorum a person has no say in the rules below either
		return false
	}
	d.tallyBallots(ballots, was.At)
	earned := d.Approvals >= d.Need && d.worstRequiredVote() == Approve || len(was.By) > 0
	if !earned || d.Objections > 0 || d.hasDoubt() || !slices.Equal(d.voterNames(), was.Voters) {
		return false
	}
	for _, basis := range was.Basis {
		if !slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.Vote == Approve && b.passBasis() == basis }) {
			return false
		}
	}
	for _, by := range was.By {
		if !slices.ContainsFunc(f.StandIns, func(s StandIn) bool { return s.Review == by.Review }) {
			return false
		}
	}
	d.tallyBallots(d.withoutUntakenSteps(p, ballots, f, was.At), was.At)
	d.showPass(was)
	return true
}

// makePassed makes the decision Passed as of at, the moment from which it would have passed: so it does not depend on
// the moment of the look.
func (d *Decision) makePassed(ballots []Ballot, f Facts, at time.Time, by []StandIn) {
	d.tallyBallots(ballots, at)
	pass := &Pass{At: at, Policy: f.File.SHA, Base: f.Base, Need: d.Need, Voters: d.voterNames(), By: by}
	pass.Basis = slices.Grow(pass.Basis, d.Approvals)
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == Approve {
			pass.Basis = append(pass.Basis, b.passBasis())
		}
	}
	d.showPass(pass)
}

// showPass sets the decision to a pass: ballots that were pending when it came are shown as not received.
func (d *Decision) showPass(pass *Pass) {
	d.Verdict, d.Reason, d.Pass, d.StandIns = Passed, ReasonTally, pass, pass.By
	if len(pass.By) > 0 {
		d.Reason = ReasonStandIn
	}
	for i, b := range d.Ballots {
		if b.Vote == Pending {
			d.Ballots[i].Reason, d.Ballots[i].Deadline = ReasonNotReceived, time.Time{}
		}
	}
}

// voterNames are the reviewers whose votes are counted.
func (d *Decision) voterNames() []string {
	names := make([]string, 0, len(d.Ballots))
	for _, b := range d.Ballots {
		if b.Voter() {
			names = append(names, b.Reviewer)
		}
	}
	return names
}

// passBasis names b as an approval that a pass rests on.
func (b Ballot) passBasis() Basis { return Basis{Reviewer: b.Reviewer, Run: b.Run, Attempt: b.Attempt} }

// tallyBallots sets the ballots as of now and counts them.
func (d *Decision) tallyBallots(ballots []Ballot, now time.Time) {
	if len(d.Ballots) != len(ballots) { // else it is tallied once more, as of another moment
		d.Ballots = make([]Ballot, len(ballots))
	}
	for i, b := range ballots {
		d.Ballots[i] = b.asOf(now)
	}
	d.countVotes()
}

func (d *Decision) countVotes() {
	d.Approvals, d.Objections, d.Unavailable, d.Pending = 0, 0, 0, 0
	for _, b := range d.Ballots {
		if !b.Voter() {
			continue
		}
		switch b.Vote {
		case Approve:
			d.Approvals++
		case Object:
			d.Objections++
		case Unavailable:
			d.Unavailable++
		case Pending:
			d.Pending++
		}
	}
}

// asOf applies the clock to a pending ballot.
func (b Ballot) asOf(now time.Time) Ballot {
	if b.Vote != Pending || b.Deadline.IsZero() || now.Before(b.Deadline) {
		return b
	}
	if b.Then != nil {
		return *b.Then
	}
	b.Vote, b.Reason, b.Since = Unavailable, b.Late, b.Deadline
	b.Deadline, b.Next, b.Planned, b.Retrying, b.Watch = time.Time{}, nil, false, false, false
	return b
}

// worstRequiredVote is the worst vote of the required reviewers; Approve if there is none.
func (d *Decision) worstRequiredVote() Vote {
	worst := Approve
	for _, b := range d.Ballots {
		if !b.Required || !b.Voter() {
			continue
		}
		switch b.Vote {
		case Approve:
		case Pending, Object:
			worst = b.Vote
		default:
			return Unavailable
		}
	}
	return worst
}

func (d *Decision) makeUnverified(required Vote) {
	d.Verdict = Unverified
	if d.Approvals >= d.Need && required != Approve {
		d.Reason = ReasonRequired
	}
}

// lastSettledAt returns when the last counted ballot became what it is; at least the start.
func (d *Decision) lastSettledAt() (at time.Time) {
	for _, b := range d.Ballots {
		switch {
		case !b.Voter():
		case b.Vote == Approve:
			at = laterOf(at, b.At)
		default:
			at = laterOf(at, b.Since)
		}
	}
	return laterOf(at, d.Start)
}

// graceEnds is when a quorum that stands stops waiting for the rest: the need-th approval and the last required one
// have been cast, and then the grace is over.
func (d *Decision) graceEnds(p Policy, f Facts) time.Time {
	at := f.Start
	cast := make([]time.Time, 0, len(d.Ballots))
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == Approve {
			cast = append(cast, b.At)
			if b.Required {
				at = laterOf(at, b.At)
			}
		}
	}
	slices.SortFunc(cast, time.Time.Compare)
	return laterOf(at, cast[p.Need-1]).Add(p.Grace)
}

// scheduleEffects finds the wake and the effects that are due.
func (d *Decision) scheduleEffects(f Facts, now time.Time) {
	d.wakeBy(d.GraceEnd)
	acts := d.Verdict == Waiting || d.Verdict == Unverified && d.mayChange()
	d.Effects.Head, d.Effects.Base = f.Head, f.Base
	for _, b := range d.Ballots {
		if b.Vote == Pending {
			d.wakeBy(b.Deadline)
		}
		// Whose own objection stands is run again whatever the verdict: a yes of its is what may end that.
		mayAct := b.Vote == Object || b.Vote == Pending && acts
		if !b.Voter() || !mayAct {
			continue
		}
		for _, a := range b.Next {
			if now.Before(a.Due) {
				d.wakeBy(a.Due)
				continue
			}
			sameRun := func(o Action) bool { return o.Run == a.Run && o.Attempt == a.Attempt }
			switch a.Kind {
			case Rerun:
				if !slices.ContainsFunc(d.Effects.Reruns, sameRun) { // reviewers may share a run
					d.Effects.Reruns = append(d.Effects.Reruns, a)
				}
			case Cancel:
				if !slices.ContainsFunc(d.Effects.Cancels, sameRun) {
					d.Effects.Cancels = append(d.Effects.Cancels, a)
				}
			case Ask:
				d.Effects.Requests = append(d.Effects.Requests, a)
			}
		}
	}
}

// mayChange reports whether answers that may still come could end an Unverified.
func (d *Decision) mayChange() bool {
	may := d.Approvals + d.Pending
	for _, b := range d.Ballots {
		switch {
		case !b.Voter() || b.Vote != Unavailable:
		case b.Open:
			may++
		case b.Required:
			return false
		}
	}
	return may >= d.Need
}

// wakeBy sets d.Wake to t if t is earlier.
func (d *Decision) wakeBy(t time.Time) {
	if !t.IsZero() && (d.Wake.IsZero() || t.Before(d.Wake)) {
		d.Wake = t
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
