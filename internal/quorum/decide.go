package quorum

import (
	"slices"
	"strings"
	"time"
)

// Decide applies p to the ballots as of now. The ballots are those of evidence.Judge for p's reviewers, in their order.
//
// Facts come before the clock: a ballot that GitHub's facts have settled is never touched by a deadline. The rules are
// tried in the order of their numbers; each is a method below.
func Decide(p Policy, ballots []Ballot, f Facts, now time.Time) Decision {
	d := Decision{
		PR: f.PR, Head: f.Head, Base: f.Base, Need: p.NeedOf(countVoters(p, ballots)), Start: f.Start, Against: f.Against,
		Trunk: f.Trunk, Reason: ReasonTally, Lane: p.Lane, NeedPeople: p.People.Least(),
		MissingPeople: p.People.missingBeside(f.StandIns, f.Teams),
		AgainstVote:   len(f.Against) > 0 && p.HearsPeople(),
	}
	switch {
	case f.File.State == FileMissing:
		return d.asEnded(ReasonNoPolicy)
	case f.Closed:
		return d.asEnded(ReasonClosed)
	case f.File.State != FileValid || d.Need < 1 && !p.NeedsNoReview(): // an empty quorum is no quorum
		d.Verdict, d.Reason = Unverified, ReasonBroken
		return d
	case p.Mode == Off:
		return d.asEnded(ReasonOff)
	case len(f.Siblings) > 0: // too many to be judged together: none of them passes
		d.Verdict, d.Reason, d.Base, d.Start = Unverified, ReasonSiblings, "", time.Time{} // the same for each of them
		d.Siblings = slices.Sorted(slices.Values(append(slices.Clone(f.Siblings), f.PR.Number)))
		return d
	case f.Draft && p.DraftsWait:
		d.Verdict, d.Reason, d.Ballots = Waiting, ReasonDraft, slices.Clone(ballots)
		d.countVotes(p)
		d.scheduleCommanded(ballots, f, now)
		return d
	}
	if !d.passStands(p, ballots, f) {
		taken, until := d.withoutUntakenSteps(p, ballots, f, now)
		d.applyRules(p, taken, f, now)
		if d.Reason == ReasonPeople {
			d.wakeBy(until)
		}
	}
	if d.Verdict == Unverified || len(d.MissingPeople) > 0 {
		d.Unheard = d.unheardOf(p, f)
	}
	if d.Verdict != Passed {
		d.scheduleEffects(p, f, now)
	}
	d.scheduleFix(p, f, now)
	d.scheduleCommanded(ballots, f, now)
	d.schedulePeople(p, f, now)
	d.waitForLayers(f.Below)
	return d
}

// waitsFor says why a layer with that below it is not green, and for the check of which one it waits; "" if it may be.
func (b Below) waitsFor() (why Reason, number int) {
	for _, l := range b.Layers {
		if !l.Green {
			return ReasonLayer, l.Number
		}
	}
	return b.Lost, 0
}

// waitForLayers makes a pass wait for the layers below.
func (d *Decision) waitForLayers(below Below) {
	if why, number := below.waitsFor(); why != "" && d.Verdict == Passed {
		d.Verdict, d.Reason, d.Layer, d.Pass = Waiting, why, number, nil
	}
}

// applyRules applies rules 1 (its lanes without a review) to 6 to the ballots as of now.
func (d *Decision) applyRules(p Policy, ballots []Ballot, f Facts, now time.Time) {
	d.Verdict, d.Reason, d.Pass, d.StandIns, d.People, d.GraceEnd, d.Enough = 0, ReasonTally, nil, nil, nil, time.Time{}, time.Time{}
	d.MissingPeople = p.People.missingBeside(f.StandIns, f.Teams)
	d.tallyBallots(p, ballots, now)
	objections := d.Objections
	if d.AgainstVote {
		objections += len(f.Against)
	}
	switch {
	case objections > 0:
		d.applyObjections(p, objections)
	case !p.NeedsNoReview():
		d.applyApprovals(p, ballots, f, now)
	case d.hasDoubt():
		d.Verdict = Waiting
	default:
		d.passWithPeople(p, ballots, f, f.Start, nil) // rule 1
	}
}

// applyObjections applies rules 2 and 6: whether a second answer is waited for. A lane without a review waits for one
// answer, and that is there.
func (d *Decision) applyObjections(p Policy, objections int) {
	need := max(d.Need, 1)
	isSettled := d.Approvals+objections >= need || d.Approvals+d.Pending < need
	d.Verdict = Waiting
	if d.Pending == 0 || p.EarlyStart && isSettled {
		d.Verdict = Blocked
	}
}

// applyApprovals applies rules 3 to 6, where nobody objects.
func (d *Decision) applyApprovals(p Policy, ballots []Ballot, f Facts, now time.Time) {
	required := d.worstRequiredVote()
	switch enough := d.Approvals >= d.Need && required == Approve; {
	case enough && d.hasDoubt():
		d.Verdict = Waiting // a pass must not come between a doubt and its end
	case enough && d.Pending == 0:
		d.passWithPeople(p, ballots, f, earlierOf(d.lastSettledAt(p), d.graceEnds(p, f)), nil) // rule 3, or rule 5 if nobody looked then
	case enough:
		end := d.graceEnds(p, f) // rule 5
		if now.Before(end) {
			d.Verdict, d.GraceEnd = Waiting, end
		} else {
			d.passWithPeople(p, ballots, f, end, nil)
		}
	case d.Pending == 0 && !d.isRequiredPending():
		d.makeUnverified(p, required)
		isVain := func(s StandIn) bool { return s.Vouch && !d.MayVouch() }
		by, found := p.People.spareApproval(slices.DeleteFunc(slices.Clone(f.StandIns), isVain), f.Teams)
		if found && len(f.Against) == 0 && !d.hasDoubt() { // of one that has no vote until it objects
			d.passWithPeople(p, ballots, f, laterOf(d.lastSettledAt(p), by.At), []StandIn{by})
		}
	case d.Approvals+d.Pending < d.Need || required == Unavailable:
		d.makeUnverified(p, required) // rule 4
	default:
		d.Verdict = Waiting // rule 6
	}
}

// passWithPeople makes the decision Passed as of at, or of the last approval that the policy asks of people; Unverified
// while one of these is missing. An approval that stands in for the reviewers' is none of them.
func (d *Decision) passWithPeople(p Policy, ballots []Ballot, f Facts, at time.Time, by []StandIn) {
	people := slices.DeleteFunc(slices.Clone(f.StandIns), func(s StandIn) bool { return slices.Contains(by, s) })
	people = p.People.filledBy(people, f.Teams)
	d.MissingPeople = p.People.missingBeside(people, f.Teams)
	if len(d.MissingPeople) > 0 {
		d.UnreadTeams = d.MissingPeople.unreadTeams(f.Teams)
		d.Verdict, d.Reason, d.Enough, d.StandIns, d.People = Unverified, ReasonPeople, at, by, people
		return
	}
	for _, s := range people {
		at = laterOf(at, s.At)
	}
	d.makePassed(p, ballots, f, &Pass{At: at, By: by, People: people})
}

// MayVouch reports whether a vouch could stand in for the reviewers that cannot answer: not for one that the change itself keeps from
// approving, nor for one that somebody has cancelled.
func (d *Decision) MayVouch() bool {
	return !slices.ContainsFunc(d.Ballots, func(b Ballot) bool {
		return b.Voter() && b.Vote == Unavailable &&
			slices.Contains([]Reason{ReasonGuarded, ReasonOtherGuards, ReasonFamily, ReasonSelf, ReasonCancelled}, b.Reason)
	})
}

// unheardOf are the approvals by people that do not count: those of others than the policy asks for among them.
func (d *Decision) unheardOf(p Policy, f Facts) []StandIn {
	unheard := slices.Clone(f.Unheard)
	counting := slices.Concat(d.StandIns, d.People, p.People.filledBy(f.StandIns, f.Teams))
	for _, person := range f.StandIns {
		if len(d.MissingPeople) > 0 && !person.Vouch && !slices.Contains(counting, person) {
			person.Why = ReasonOthersAsked
			unheard = append(unheard, person)
		}
	}
	return unheard
}

// hasDoubt reports whether a pending reviewer has said what seems to be an objection.
func (d *Decision) hasDoubt() bool {
	return slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.MayVote() && b.isDoubt() })
}

// isDoubt reports whether b will object if nothing more is said.
func (b *Ballot) isDoubt() bool { return b.Vote == Pending && b.Then != nil && b.Then.Vote == Object }

// withoutUntakenSteps returns the ballots without the retries that will not be made, so that nothing waits for them:
// all of them if the check is Blocked, or Unverified whatever they answer; else those that are due only after it has
// passed. The verdict that says so is found with every planned retry still pending, whatever its deadline. Where only people
// are missing by then, retries that would end after the grace are not made once it has ended: until is that end, if one waits.
func (d *Decision) withoutUntakenSteps(p Policy, ballots []Ballot, f Facts, now time.Time) (left []Ballot, until time.Time) {
	isPlanned := func(b Ballot) bool { return b.Vote == Pending && b.Planned && b.Voter() }
	if !slices.ContainsFunc(ballots, isPlanned) {
		return ballots, until
	}
	open := slices.Clone(ballots)
	left = slices.Clone(ballots)
	for i := range open {
		if isPlanned(open[i]) {
			open[i].Deadline = time.Time{}
		}
	}
	then := *d
	then.Ballots = nil
	then.applyRules(p, open, f, now)
	for i, b := range left {
		switch {
		case !isPlanned(b):
		case then.leavesOut(p, &b):
			left[i] = b.withoutStep()
		case then.Verdict == Waiting && b.Deadline.After(then.GraceEnd):
			until = then.GraceEnd
		}
	}
	return left, until
}

// withoutStep is a ballot whose planned retry is not made.
func (b Ballot) withoutStep() Ballot {
	b.Vote, b.Deadline, b.Late = Unavailable, time.Time{}, ""
	b.Next, b.Planned, b.Retrying, b.Watch = nil, false, false, false
	b.Circuit = Hold{}
	return b
}

// leavesOut reports whether b's retry is not made under this decision.
func (d *Decision) leavesOut(p Policy, b *Ballot) bool {
	switch due := b.Next[0].Due; {
	case d.Verdict == Passed:
		return !due.Before(d.Pass.At)
	case d.Verdict == Waiting:
		return !d.GraceEnd.IsZero() && !due.Before(d.GraceEnd)
	case d.Reason == ReasonPeople: // none is made any more; what was late by then stays late
		return !due.Before(d.Enough) || b.Deadline.After(d.Enough)
	}
	return d.Verdict == Blocked || d.Verdict == Unverified && !d.mayChange(p)
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
	if was == nil || was.Base != f.Base || was.Policy != f.File.Blobs() || was.Need != d.Need {
		return false
	}
	if len(was.By) > 0 && len(f.Against) > 0 || d.AgainstVote { // else a person has no say against the reviewers' quorum
		return false
	}
	if len(p.People.missingBeside(was.People, f.Teams)) > 0 || !was.peopleStillApprove(f) {
		return false
	}
	d.tallyBallots(p, ballots, was.At)
	earned := d.Approvals >= d.Need && d.worstRequiredVote() == Approve || len(was.By) > 0 || d.Need == 0
	if !earned || d.Objections > 0 || d.hasDoubt() || !slices.Equal(d.voterNames(), was.Voters) {
		return false
	}
	for _, basis := range was.Basis {
		if !slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.Vote == Approve && b.passBasis() == basis }) {
			return false
		}
	}
	taken, _ := d.withoutUntakenSteps(p, ballots, f, was.At)
	d.tallyBallots(p, taken, was.At)
	d.showPass(was)
	return true
}

// peopleStillApprove reports whether each approval by a person that p rests on stands, was there then, and fills one place.
func (p *Pass) peopleStillApprove(f Facts) bool {
	all := slices.Concat(p.By, p.People)
	for i, person := range all {
		isSame := func(s StandIn) bool { return s.Review == person.Review }
		wasThere := func(s StandIn) bool { return isSame(s) && !s.At.After(p.At) }
		if !slices.ContainsFunc(f.StandIns, wasThere) || slices.ContainsFunc(all[:i], isSame) {
			return false
		}
	}
	return true
}

// makePassed makes the decision Passed as of pass.At, the moment from which it would have passed: so it does not depend
// on the moment of the look.
func (d *Decision) makePassed(p Policy, ballots []Ballot, f Facts, pass *Pass) {
	d.tallyBallots(p, ballots, pass.At)
	pass.Policy, pass.Base, pass.Need, pass.Voters = f.File.Blobs(), f.Base, d.Need, d.voterNames()
	pass.Lane = strings.Join(p.Lane.Names(), ", ")
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
	d.Verdict, d.Reason, d.Pass, d.StandIns, d.People, d.MissingPeople = Passed, ReasonTally, pass, pass.By, pass.People, nil
	switch {
	case len(pass.By) > 0:
		d.Reason = ReasonStandIn
	case d.Need == 0:
		d.Reason = ReasonNoReview
	}
	for i, b := range d.Ballots {
		if b.Vote == Pending {
			d.Ballots[i].Reason, d.Ballots[i].Deadline, d.Ballots[i].Circuit = ReasonNotReceived, time.Time{}, Hold{}
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
func (d *Decision) tallyBallots(p Policy, ballots []Ballot, now time.Time) {
	if len(d.Ballots) != len(ballots) { // else it is tallied once more, as of another moment
		d.Ballots = make([]Ballot, len(ballots))
	}
	for i, b := range ballots {
		d.Ballots[i] = b.asOf(now)
	}
	d.countVotes(p)
}

// countVoters says how many may approve: reviewers, or families where those are counted.
func countVoters(p Policy, ballots []Ballot) int {
	return countDistinct(p, ballots, func(*Ballot) bool { return true })
}

// countDistinct says how many voters, or families of them where those are counted, have a ballot that counts.
func countDistinct(p Policy, ballots []Ballot, counts func(b *Ballot) bool) (n int) {
	for i := range ballots {
		if b := &ballots[i]; b.Voter() && counts(b) && !hasRelative(p, ballots[:i], b, counts) {
			n++
		}
	}
	return n
}

// hasRelative reports whether one of the family of b has a ballot that counts.
func hasRelative(p Policy, ballots []Ballot, b *Ballot, counts func(b *Ballot) bool) bool {
	for i := range ballots {
		if o := &ballots[i]; p.areOneFamily(b, o) && o.Voter() && counts(o) {
			return true
		}
	}
	return false
}

// areOneFamily reports whether the approvals of two ballots count once. Who has no family is one of its own.
func (p *Policy) areOneFamily(a, b *Ballot) bool {
	return p.Families == DistinctFamily && a.Family != "" && a.Family == b.Family
}

// countVotes counts the ballots. Where families are counted one approves with its first approval, and is pending only
// while none of it approves; objections are never merged.
func (d *Decision) countVotes(p Policy) {
	approves := func(b *Ballot) bool { return b.Vote == Approve }
	mayApprove := func(b *Ballot) bool { return b.Vote == Approve || b.Vote == Pending }
	objectsNot := func(b *Ballot) bool { return b.Vote == Approve || b.Vote == Pending || b.Vote == Unavailable }
	d.Approvals = countDistinct(p, d.Ballots, approves)
	d.Pending = countDistinct(p, d.Ballots, mayApprove) - d.Approvals
	d.Unavailable = countDistinct(p, d.Ballots, objectsNot) - d.Approvals - d.Pending
	d.Objections = 0
	for i := range d.Ballots {
		if b := &d.Ballots[i]; b.Voter() && b.Vote == Object {
			d.Objections++
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
	b.Circuit = Hold{}
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

// isRequiredPending reports whether a required reviewer is pending: of a family that has approved it is waited for too.
func (d *Decision) isRequiredPending() bool {
	return slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.Required && b.Voter() && b.Vote == Pending })
}

func (d *Decision) makeUnverified(p Policy, required Vote) {
	d.Verdict = Unverified
	switch {
	case d.Approvals >= d.Need && required != Approve:
		d.Reason = ReasonRequired
	case countVoters(p, d.Ballots) < d.Need:
		d.Reason = ReasonTooFew
	}
}

// lastSettledAt returns when the last counted ballot became what it is; at least the start. Where families are counted,
// what one says after another of its family approved settles nothing, unless it is required.
func (d *Decision) lastSettledAt(p Policy) time.Time {
	at := d.Start
	for i := range d.Ballots {
		b := &d.Ballots[i]
		settled := b.settledAt()
		approvedBefore := func(o *Ballot) bool { return o.Vote == Approve && (b.Vote == Pending || o.At.Before(settled)) }
		if b.Voter() && (b.Required || !hasRelative(p, d.Ballots, b, approvedBefore)) {
			at = laterOf(at, settled)
		}
	}
	return at
}

// settledAt is when b became what it is.
func (b *Ballot) settledAt() time.Time {
	if b.Vote == Approve {
		return b.At
	}
	return b.Since
}

// graceEnds is when a quorum that stands stops waiting for the rest: the need-th approval and the last required one
// have been cast, and then the grace is over.
func (d *Decision) graceEnds(p Policy, f Facts) time.Time {
	at := f.Start
	cast := make([]*Ballot, 0, len(d.Ballots))
	for i := range d.Ballots {
		if b := &d.Ballots[i]; b.Voter() && b.Vote == Approve {
			cast = append(cast, b)
			if b.Required {
				at = laterOf(at, b.At)
			}
		}
	}
	slices.SortFunc(cast, func(a, b *Ballot) int { return a.At.Compare(b.At) })
	families := 0
	for i, b := range cast {
		if slices.ContainsFunc(cast[:i], func(o *Ballot) bool { return p.areOneFamily(b, o) }) {
			continue
		}
		if families++; families == d.Need {
			at = laterOf(at, b.At)
		}
	}
	return at.Add(p.Grace)
}

// scheduleEffects finds the wake and the effects that are due.
func (d *Decision) scheduleEffects(p Policy, f Facts, now time.Time) {
	d.wakeBy(d.GraceEnd)
	acts := d.Verdict == Waiting || d.Verdict == Unverified && d.mayChange(p)
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
			if a.Command != 0 {
				continue // whatever the verdict
			}
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

// scheduleCommanded adds what people have asked for, and cancels what the head before left under way, whatever the verdict.
func (d *Decision) scheduleCommanded(ballots []Ballot, f Facts, now time.Time) {
	for _, b := range ballots {
		for _, a := range b.Next {
			switch {
			case a.Command == 0:
			case now.Before(a.Due): // GitHub shows no trace of it yet
				d.wakeBy(a.Due)
			case a.Kind == Rerun:
				isSame := func(o Action) bool { return o.Run == a.Run && o.Attempt == a.Attempt }
				if i := slices.IndexFunc(d.Effects.Reruns, isSame); i < 0 {
					d.Effects.Reruns = append(d.Effects.Reruns, a)
				} else if d.Effects.Reruns[i].Command == 0 {
					d.Effects.Reruns[i] = a // else the person's would be carried out once more
				}
			case a.Kind == Ask:
				d.Effects.Requests = append(d.Effects.Requests, a)
			}
		}
	}
	for _, a := range f.Leave {
		if now.Before(a.Due) { // GitHub may not show yet what came of the last try
			d.wakeBy(a.Due)
			continue
		}
		d.Effects.Cancels = append(d.Effects.Cancels, a)
	}
	d.Effects.Replies = f.Replies
	if !d.Effects.Empty() {
		d.Effects.Head, d.Effects.Base = f.Head, f.Base
	}
}

// mayChange reports whether answers that may still come could end an Unverified.
func (d *Decision) mayChange(p Policy) bool {
	if d.Reason == ReasonPeople {
		return false // only a person's can
	}
	may := countDistinct(p, d.Ballots, func(b *Ballot) bool {
		return b.Vote == Approve || b.Vote == Pending || b.Vote == Unavailable && b.Open
	})
	isLost := func(b Ballot) bool { return b.Required && b.Voter() && b.Vote == Unavailable && !b.Open }
	return may >= d.Need && !slices.ContainsFunc(d.Ballots, isLost)
}

// schedulePeople finds whose review is asked for, or when.
func (d *Decision) schedulePeople(p Policy, f Facts, now time.Time) {
	in := &f.Invited
	d.AskedPeople = in.Asked
	if in.Off || p.Mode != Enforce || len(p.Escalate.To) == 0 || d.Verdict != Unverified && !d.NeedsPerson() {
		return
	}
	if names := in.unasked(p.Escalate.To); len(names) > 0 {
		at := f.Start
		if !d.NeedsPerson() {
			at = d.unverifiedSince(p, f).Add(p.Escalate.After)
		}
		d.askPeople(names, at, now)
	}
	if again := in.unshown(); len(again) > 0 {
		d.askPeople(again, in.Asked.At.Add(ReplicaLag), now)
	}
	if len(d.Effects.People) > 0 {
		d.Effects.Head, d.Effects.Base = f.Head, f.Base
	}
}

// askPeople has people asked for a review at a moment.
func (d *Decision) askPeople(names []string, at, now time.Time) {
	if now.Before(at) {
		d.wakeBy(at)
		if d.PeopleAt.IsZero() {
			d.PeopleAt, d.NextPeople = at, names
		}
		return
	}
	d.Effects.People = append(d.Effects.People, names...)
}

// unverifiedSince is since when so many reviewers give no vote, or such a one, that the check cannot pass.
func (d *Decision) unverifiedSince(p Policy, f Facts) time.Time {
	if d.Reason == ReasonPeople {
		return laterOf(d.Enough, f.Start)
	}
	var ends []time.Time
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == Unavailable {
			ends = append(ends, laterOf(b.Since, f.Start))
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	for _, at := range ends {
		isLeft := func(b *Ballot) bool { return b.Vote != Unavailable || laterOf(b.Since, f.Start).After(at) }
		isLost := func(b Ballot) bool { return b.Required && b.Voter() && !isLeft(&b) }
		if countDistinct(p, d.Ballots, isLeft) < d.Need || slices.ContainsFunc(d.Ballots, isLost) {
			return at
		}
	}
	return f.Start
}
