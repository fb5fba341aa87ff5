package quorum

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Decide applies p to the ballots as of now. The ballots are those of evidence.Judge for p's reviewers, in their order.
//
// Facts come before the clock: a ballot that GitHub's facts have settled is never touched by a deadline. The rules are
// tried in the order of their numbers; each is a method below.
func Decide(p Policy, ballots []Ballot, f Facts, now time.Time) Decision {
	now = laterOf(now, lastTurn(ballots, now.Add(ReplicaLag)))
	seats := slices.DeleteFunc(votersWith(ballots), func(b *Ballot) bool { return b.InsteadOf != "" }) // whoever has them
	d := Decision{
		PR: f.PR, Head: f.Head, Base: f.Base, Start: f.Start, Against: f.Against, Trunk: f.Trunk, Reason: ReasonTally,
		Lane: p.Lane, Need: p.NeedOf(p.countPlaces(seats)), NeedPeople: p.People.Least(),
		MissingPeople: p.People.missingBeside(f.StandIns, f),
		AgainstVote:   len(f.Against) > 0 && p.HearsPeople(),
		Effects:       Effects{Head: f.Head, Base: f.Base},
	}
	asEnded := func(why Reason) Decision { // nothing is decided
		d.Verdict, d.Reason = Ended, why
		return d
	}
	switch {
	case f.File.State == FileMissing:
		return asEnded(ReasonNoPolicy)
	case f.Closed:
		return asEnded(ReasonClosed)
	case f.File.State != FileValid || d.Need < 1 && !p.NeedsNoReview(): // an empty quorum is no quorum
		d.Verdict, d.Reason = Unverified, ReasonBroken
		return d
	case p.Mode == Off:
		return asEnded(ReasonOff)
	case len(f.Siblings) > 0: // too many to be judged together: none of them passes
		d.Verdict, d.Reason, d.Base, d.Start = Unverified, ReasonSiblings, "", time.Time{} // the same for each of them
		d.Siblings = slices.Sorted(slices.Values(append(slices.Clone(f.Siblings), f.PR.Number)))
		return d
	case f.Draft && p.DraftsWait:
		d.Verdict, d.Reason, d.Ballots = Waiting, ReasonDraft, slices.Clone(ballots)
		fillSeats(d.Ballots, ballots, time.Time{}) // no turn begins
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
		d.scheduleEffects(p, now)
	}
	d.scheduleFix(p, f, now)
	d.scheduleCommanded(ballots, f, now)
	d.schedulePeople(p, f, now)
	if d.Verdict == Passed && f.Below.Why != "" {
		d.Verdict, d.Reason, d.Layer, d.Pass = Waiting, f.Below.Why, f.Below.Number, nil
	}
	return d
}

// applyRules applies rules 1 (its lanes without a review) to 6 to the ballots as of now. No rule was applied to d before.
func (d *Decision) applyRules(p Policy, ballots []Ballot, f Facts, now time.Time) {
	d.tallyBallots(p, ballots, now)
	objections := d.Objections
	if d.AgainstVote {
		objections += len(f.Against)
	}
	switch {
	case objections > 0: // rules 2 and 6: whether a second answer is waited for. A lane without a review waits for one
		need := max(d.Need, 1)
		isSettled := d.Approvals+objections >= need || d.Approvals+d.Pending < need
		d.Verdict = Waiting
		if d.Pending == 0 || p.EarlyStart && isSettled {
			d.Verdict = Blocked
		}
	case !p.NeedsNoReview():
		d.applyApprovals(p, ballots, f, now)
	case d.hasDoubt():
		d.Verdict = Waiting
	default:
		d.passWithPeople(p, ballots, f, f.Start, nil) // rule 1
	}
}

// applyApprovals applies rules 3 to 6, where nobody objects.
func (d *Decision) applyApprovals(p Policy, ballots []Ballot, f Facts, now time.Time) {
	switch enough := d.isQuorum(p, (*Ballot).isApproval); {
	case enough && d.hasDoubt():
		d.Verdict = Waiting // a pass must not come between a doubt and its end
	case enough && d.Pending == 0:
		d.passWithPeople(p, ballots, f, earlierOf(d.lastSettledAt(p), d.graceEnds(p)), nil) // rule 3, or rule 5 if nobody looked then
	case enough:
		end := d.graceEnds(p) // rule 5
		if now.Before(end) {
			d.Verdict, d.GraceEnd = Waiting, end
		} else {
			d.passWithPeople(p, ballots, f, end, nil)
		}
	case d.isQuorum(p, func(b *Ballot) bool { return b.isApproval() || b.Vote == Pending }):
		d.Verdict = Waiting // rule 6
	default:
		d.makeUnverified(p, ballots, f) // rule 4
	}
}

// makeUnverified makes the decision Unverified, or Passed if nobody is waited for and somebody stands in.
func (d *Decision) makeUnverified(p Policy, ballots []Ballot, f Facts) {
	d.Verdict = Unverified
	switch {
	case d.Approvals >= d.Need:
		d.Reason = ReasonRequired
	case p.countPlaces(votersWith(d.Ballots)) < d.Need:
		d.Reason = ReasonTooFew
	}
	isPending := func(b *Ballot) bool { return b.Vote == Pending }
	if len(f.Against) > 0 || d.awaitsVoter(p, isPending) || d.hasDoubt() { // of one that has no vote until it objects
		return
	}
	isVain := func(s StandIn) bool { return s.Vouch && !d.MayVouch() }
	by, found := p.People.spareApproval(slices.DeleteFunc(slices.Clone(f.StandIns), isVain), f)
	if found {
		d.passWithPeople(p, ballots, f, laterOf(d.lastSettledAt(p), by.At), []StandIn{by})
	}
}

// passWithPeople makes the decision Passed as of at, or of the last approval that is asked of people; Unverified while one is missing.
func (d *Decision) passWithPeople(p Policy, ballots []Ballot, f Facts, at time.Time, by []StandIn) {
	isUsed := func(s StandIn) bool { return slices.Contains(by, s) || s.Vouch && len(by) > 0 } // one identity fills one place
	people := slices.DeleteFunc(slices.Clone(f.StandIns), isUsed)
	people = p.People.filledBy(people, f)
	d.MissingPeople = p.People.missingBeside(people, f)
	if len(d.MissingPeople) > 0 {
		isRead := func(name string) bool { return !f.Teams[strings.ToLower(name)].Unread }
		d.UnreadTeams = slices.DeleteFunc(d.MissingPeople.Teams(), isRead)
		d.Verdict, d.Reason, d.Enough, d.StandIns, d.People = Unverified, ReasonPeople, at, by, people
		return
	}
	for _, s := range people {
		at = laterOf(at, s.At)
	}
	d.tallyBallots(p, ballots, at) // as of the moment from which it would have passed, whenever the look is
	pass := &Pass{
		At: at, Policy: f.File.Blobs(), Base: f.Base, Need: d.Need, By: by, People: people, Lane: strings.Join(p.Lane.Names(), ", "),
	}
	pass.Voters, pass.Basis = d.listBasis()
	d.showPass(pass)
}

// IsOfChange reports whether the change, or somebody who cancelled it, keeps a reviewer from approving: that is no outage.
func (r Reason) IsOfChange() bool {
	return slices.Contains([]Reason{ReasonGuarded, ReasonOtherGuards, ReasonFamily, ReasonSelf, ReasonCancelled}, r)
}

// MayVouch reports whether a vouch could stand in: for nobody whom the change keeps from approving, and nobody who was cancelled.
func (d *Decision) MayVouch() bool {
	return !slices.ContainsFunc(d.Ballots, func(b Ballot) bool {
		isOfSeat := b.Voter() || b.MayVote() && b.Excused == ReasonReserve
		return isOfSeat && b.Vote == Unavailable && (b.Reason.IsOfChange() || b.Reason == ReasonNotAsked)
	})
}

// unheardOf are the approvals by people that do not count: those of others than the policy asks for among them.
func (d *Decision) unheardOf(p Policy, f Facts) []StandIn {
	unheard := slices.Clone(f.Unheard)
	counting := slices.Concat(d.StandIns, d.People, p.People.filledBy(f.StandIns, f))
	for _, person := range f.StandIns {
		mayCount := person.Vouch && d.Reason != ReasonPeople // for reviewers
		if len(d.MissingPeople) > 0 && !mayCount && !slices.Contains(counting, person) {
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
	open, left := slices.Clone(ballots), slices.Clone(ballots)
	for i := range open {
		if isPlanned(open[i]) {
			open[i].Deadline = time.Time{}
		}
	}
	then := *d
	then.applyRules(p, open, f, now)
	for i, b := range left {
		switch {
		case !isPlanned(b):
		case then.leavesOut(p, &b):
			left[i] = b.asUnavailable()
		case then.Verdict == Waiting && b.Deadline.After(then.GraceEnd):
			until = then.GraceEnd
		}
	}
	return left, until
}

// asUnavailable is a pending ballot for which nothing is waited for any more, nor done.
func (b Ballot) asUnavailable() Ballot {
	b.Vote, b.Deadline, b.Next, b.Circuit = Unavailable, time.Time{}, nil, Hold{}
	b.Planned, b.Retrying, b.Watch = false, false, false
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

// passStands applies rule 0: a pass stands until something new speaks against it. The ballots are shown as they were then.
func (d *Decision) passStands(p Policy, ballots []Ballot, f Facts) bool {
	was := f.Pass
	if was == nil || was.Base != f.Base || was.Policy != f.File.Blobs() || was.Need != d.Need {
		return false
	}
	if len(was.By) > 0 && len(f.Against) > 0 || d.AgainstVote { // else a person has no say against the reviewers' quorum
		return false
	}
	if len(p.People.missingBeside(was.People, f)) > 0 || !was.peopleStillApprove(f) {
		return false
	}
	taken, _ := d.withoutUntakenSteps(p, ballots, f, was.At)
	d.tallyBallots(p, taken, was.At)
	earned := d.isQuorum(p, (*Ballot).isApproval) || len(was.By) > 0 || d.Need == 0
	voters, basis := d.listBasis()
	isGone := func(b Basis) bool { return !slices.Contains(basis, b) }
	isSame := slices.Equal(voters, was.Voters) && !slices.ContainsFunc(was.Basis, isGone)
	if !earned || !isSame || d.Objections > 0 || d.hasDoubt() {
		return false
	}
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

// listBasis names the reviewers whose votes are counted, and the approvals that a pass rests on.
func (d *Decision) listBasis() (voters []string, basis []Basis) {
	voters = []string{} // it is written so, even where nobody votes
	for _, b := range votersWith(d.Ballots) {
		voters = append(voters, b.Reviewer)
		if b.isApproval() {
			basis = append(basis, Basis{Reviewer: b.Reviewer, Run: b.Run, Attempt: b.Attempt})
		}
	}
	return voters, basis
}

// tallyBallots sets the ballots as of now and counts them.
func (d *Decision) tallyBallots(p Policy, ballots []Ballot, now time.Time) {
	d.Ballots = make([]Ballot, len(ballots))
	for i, b := range ballots {
		d.Ballots[i] = b.asOf(now)
	}
	fillSeats(d.Ballots, ballots, now)
	d.countVotes(p)
}

// countVotes counts the ballots. A family that is counted approves with its first approval; objections are never merged.
func (d *Decision) countVotes(p Policy) {
	d.Approvals = p.countPlaces(votersWith(d.Ballots, Approve))
	d.Pending = p.countPlaces(votersWith(d.Ballots, Approve, Pending)) - d.Approvals
	d.Unavailable = p.countPlaces(votersWith(d.Ballots, Approve, Pending, Unavailable)) - d.Approvals - d.Pending
	d.Objections = len(votersWith(d.Ballots, Object))
}

// votersWith are the ballots of the tally with one of some votes; with no vote named all of them.
func votersWith(ballots []Ballot, votes ...Vote) (voters []*Ballot) {
	for i := range ballots {
		if b := &ballots[i]; b.Voter() && (len(votes) == 0 || slices.Contains(votes, b.Vote)) {
			voters = append(voters, b)
		}
	}
	return voters
}

// countPlaces counts the approvals that some voters could be. Of the two of a seat, the one without it is not counted.
func (p *Policy) countPlaces(voters []*Ballot) int {
	voters = slices.DeleteFunc(slices.Clone(voters), func(b *Ballot) bool { return b.Excused == ReasonReserve })
	return countPlaces(p.Families, voters, func(b *Ballot) string { return b.Family })
}

// isQuorum reports whether enough voters have a ballot that counts, and all that are required.
func (d *Decision) isQuorum(p Policy, counts func(b *Ballot) bool) bool {
	voters := votersWith(d.Ballots)
	isLost := func(b *Ballot) bool { return b.Required && !counts(b) }
	hasNone := func(b *Ballot) bool { return !counts(b) }
	return !slices.ContainsFunc(voters, isLost) && p.countPlaces(slices.DeleteFunc(voters, hasNone)) >= d.Need
}

func (b *Ballot) isApproval() bool { return b.Vote == Approve }

// asOf applies the clock to a pending ballot.
func (b Ballot) asOf(now time.Time) Ballot {
	if b.Vote != Pending || b.Deadline.IsZero() || now.Before(b.Deadline) {
		return b
	}
	if b.Then != nil {
		then := *b.Then
		then.InsteadOf, then.Turn = b.InsteadOf, b.Turn
		return then
	}
	late := b.asUnavailable()
	late.Reason, late.Since = b.Late, b.Deadline
	return late
}

// awaitsVoter reports whether a voter whose ballot is open is waited for: of a family that has approved only who is required.
func (d *Decision) awaitsVoter(p Policy, isOpen func(b *Ballot) bool) bool {
	var open, approving []*Ballot
	for _, b := range votersWith(d.Ballots) {
		switch {
		case isOpen(b) && b.Required:
			return true
		case isOpen(b):
			open = append(open, b)
		case b.isApproval():
			approving = append(approving, b)
		}
	}
	return p.countPlaces(append(open, approving...)) > p.countPlaces(approving)
}

// lastSettledAt returns when nobody was waited for any more.
func (d *Decision) lastSettledAt(p Policy) time.Time {
	return d.firstMoment(func(at time.Time) bool {
		return !d.awaitsVoter(p, func(b *Ballot) bool { return b.Vote == Pending || b.settledAt().After(at) })
	})
}

// graceEnds is when a quorum that stands stops waiting for the rest: a grace after the last approval that it needs.
func (d *Decision) graceEnds(p Policy) time.Time {
	return d.firstMoment(func(at time.Time) bool {
		return d.isQuorum(p, func(b *Ballot) bool { return b.isApproval() && !b.At.After(at) })
	}).Add(p.Grace)
}

// firstMoment is when something first held: when a voter's ballot became what it is; the start, too, if it never did.
func (d *Decision) firstMoment(holds func(at time.Time) bool) time.Time {
	moments := []time.Time{d.Start}
	for _, b := range votersWith(d.Ballots) {
		moments = append(moments, laterOf(b.settledAt(), d.Start))
	}
	slices.SortFunc(moments, time.Time.Compare)
	return moments[max(slices.IndexFunc(moments, holds), 0)]
}

func (b *Ballot) settledAt() time.Time {
	if b.isApproval() {
		return b.At
	}
	return b.Since
}

// scheduleEffects finds the wake and the effects that are due.
func (d *Decision) scheduleEffects(p Policy, now time.Time) {
	d.wakeBy(d.GraceEnd)
	acts := d.Verdict == Waiting || d.Verdict == Unverified && d.mayChange(p)
	for _, b := range d.Ballots {
		if b.Vote == Pending {
			d.wakeBy(b.Deadline)
		}
	}
	for _, b := range votersWith(d.Ballots, Object, Pending) {
		// Whose own objection stands is run again whatever the verdict: a yes of its is what may end that.
		if b.Vote == Pending && !acts {
			continue
		}
		for _, a := range b.Next {
			if a.Command == 0 { // else whatever the verdict
				d.scheduleAction(a, now)
			}
		}
	}
}

// scheduleAction adds an effect once it is due. A run that reviewers share is run again once: by a person's command, if there is one.
func (d *Decision) scheduleAction(a Action, now time.Time) {
	if now.Before(a.Due) {
		d.wakeBy(a.Due)
		return
	}
	e := &d.Effects
	effects := map[ActionKind]*[]Action{Rerun: &e.Reruns, Cancel: &e.Cancels, Ask: &e.Requests}[a.Kind]
	isSame := func(o Action) bool { return a.Kind != Ask && o.Run == a.Run && o.Attempt == a.Attempt }
	switch i := slices.IndexFunc(*effects, isSame); {
	case i < 0:
		*effects = append(*effects, a)
	case (*effects)[i].Command == 0 && a.Command != 0:
		(*effects)[i] = a
	}
}

// scheduleCommanded adds what people have asked for, and cancels what the head before left under way, whatever the verdict.
func (d *Decision) scheduleCommanded(ballots []Ballot, f Facts, now time.Time) {
	for _, b := range ballots {
		for _, a := range b.Next {
			if a.Command != 0 {
				d.scheduleAction(a, now)
			}
		}
	}
	for _, a := range f.Leave {
		d.scheduleAction(a, now)
	}
	d.Effects.Replies = f.Replies
}

// mayChange reports whether answers that may still come could end an Unverified.
func (d *Decision) mayChange(p Policy) bool {
	return d.Reason != ReasonPeople && d.isQuorum(p, func(b *Ballot) bool { return b.Vote != Unavailable || b.Open })
}

// schedulePeople finds whose review is asked for, or when.
func (d *Decision) schedulePeople(p Policy, f Facts, now time.Time) {
	in := &f.Invited
	if in.Off || p.Mode != Enforce || len(p.Escalate.To) == 0 || d.Verdict != Unverified && !d.NeedsPerson() {
		return
	}
	if names := in.withoutTrace(p.Escalate.To, cmp.Or(in.Asked, &AskedPeople{}).To); len(names) > 0 {
		at := f.Start
		if !d.NeedsPerson() {
			at = d.unverifiedSince(p, f).Add(p.Escalate.After)
		}
		d.askPeople(names, at, now)
	}
	if again := in.unshown(); len(again) > 0 {
		d.askPeople(again, in.Asked.At.Add(ReplicaLag), now)
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
	return d.firstMoment(func(at time.Time) bool {
		return !d.isQuorum(p, func(b *Ballot) bool { return b.Vote != Unavailable || b.Since.After(at) })
	})
}
