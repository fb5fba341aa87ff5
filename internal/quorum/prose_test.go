package quorum

// A second implementation of the rules, as dumb as possible: it looks at every second by itself, knows no formula for a
// wake or for the moment of a pass, and finds both by living through the whole day.

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

type opinion struct {
	Verdict  Verdict
	Reason   Reason
	Wake     time.Time
	PassedAt time.Time
	Counts   [4]int // approve, object, unavailable, pending
}

// scene is what one moment looks like.
type scene struct {
	verdict Verdict
	reason  Reason
	votes   string // of everybody, a letter each: approve, object, unavailable, pending
	effects string
	passed  time.Time
}

func prose(w world) opinion {
	now := int(w.Now.Sub(midnight) / time.Second)
	today := sceneAt(w, now)
	o := opinion{Verdict: today.verdict, Reason: today.reason, PassedAt: today.passed}
	for i, letter := range today.votes {
		if b := w.Ballots[i]; !b.Shadow && !b.Retired {
			o.Counts[strings.IndexRune("aoup", letter)]++
		}
	}
	if today.verdict == Passed {
		return o // it has no wake
	}
	for s := now + 1; s <= 2*lastMoment; s++ {
		if sceneAt(w, s) != today {
			o.Wake = sec(s)
			break
		}
	}
	return o
}

func sceneAt(w world, now int) scene {
	f := w.Facts
	switch {
	case f.File.State == FileMissing:
		return scene{verdict: Ended, reason: ReasonNoPolicy}
	case f.Closed:
		return scene{verdict: Ended, reason: ReasonClosed}
	case f.File.State != FileValid:
		return scene{verdict: Unverified, reason: ReasonBroken}
	case w.Policy.Mode == Off:
		return scene{verdict: Ended, reason: ReasonOff}
	case len(f.Siblings) != 0:
		return scene{verdict: Unverified, reason: ReasonSiblings}
	case f.Draft && w.Policy.DraftsWait:
		return scene{verdict: Waiting, reason: ReasonDraft, votes: votesAt(w, -1)}
	}
	if f.Pass != nil && nothingSpeaksAgainst(w, f.Pass) {
		at := int(f.Pass.At.Sub(midnight) / time.Second)
		s := scene{verdict: Passed, reason: ReasonTally, votes: votesAt(withoutUntaken(w, at), at), passed: f.Pass.At}
		if len(f.Pass.By) > 0 {
			s.reason = ReasonStandIn
		}
		return s
	}
	return passSinceAt(withoutUntaken(w, now), now)
}

// withoutUntaken is w without the retries that nobody will make.
func withoutUntaken(w world, now int) world {
	open, planned := w, []int{}
	for i, b := range w.Ballots {
		if b.Planned && b.Vote == Pending && !b.Shadow && !b.Retired {
			b.Deadline = sec(99999)
			open, planned = open.with(i, b), append(planned, i)
		}
	}
	s, without := passSinceAt(open, now), w
	for _, i := range planned {
		if b := w.Ballots[i]; !willBeTaken(open, s, now, b.Next[0].Due) {
			b.Vote, b.Planned, b.Next = Unavailable, false, nil
			without = without.with(i, b)
		}
	}
	return without
}

// willBeTaken says whether a retry that is due then is made: not once it is blocked, nor when no answer can help any
// more, nor if it will have passed by then.
func willBeTaken(w world, s scene, now int, due time.Time) bool {
	votes := votesAt(w, now)
	switch s.verdict { //nolint:exhaustive // while it waits, below
	case Blocked:
		return false
	case Unverified:
		return couldStill(w, votes, now)
	case Passed:
		return due.Before(s.passed)
	}
	for then := now; !sec(then).After(due); then++ {
		if ruleAt(w, votes, then).verdict == Passed {
			return false
		}
	}
	return true
}

// passSinceAt is what the rules say, and since when it is a pass.
func passSinceAt(w world, now int) scene {
	s := ruleAt(w, votesAt(w, now), now)
	if s.verdict != Passed {
		return s
	}
	// The moment of the pass: the first one of the day at which somebody who knew only what had happened would have
	// said it.
	for then := range now + 1 {
		votes := []byte(votesAt(w, then))
		for i, b := range w.Ballots {
			cast := b.Since
			switch {
			case b.Vote == Approve:
				cast = b.At
			case b.Vote == Pending && b.Then != nil:
				cast = b.Then.At
			case b.Vote == Pending:
				continue
			}
			if cast.After(sec(then)) {
				votes[i] = 'p'
			}
		}
		if past := ruleAt(w, string(votes), then); past.verdict == Passed && !w.Facts.Start.After(sec(then)) {
			past.votes, past.passed = votesAt(w, then), sec(then)
			return past
		}
	}
	return s
}

// votesAt is what everybody's vote is at a second; what is shown of a draft is as GitHub has it (second -1).
func votesAt(w world, now int) string {
	var out strings.Builder
	for _, b := range w.Ballots {
		vote := b.Vote
		if vote == Pending && now >= 0 && !b.Deadline.After(sec(now)) {
			vote = Unavailable
			if b.Then != nil {
				vote = b.Then.Vote
			}
		}
		out.WriteByte(map[Vote]byte{Approve: 'a', Object: 'o', Unavailable: 'u', Pending: 'p'}[vote])
	}
	return out.String()
}

// ruleAt applies rules 2 to 6 and stand_in, each as its sentence says it.
func ruleAt(w world, votes string, now int) scene {
	electorate, must := "", ""
	for i, b := range w.Ballots {
		if b.Shadow || b.Retired {
			continue
		}
		electorate += votes[i : i+1]
		if b.Required {
			must += votes[i : i+1]
		}
	}
	a, o, p := strings.Count(electorate, "a"), strings.Count(electorate, "o"), strings.Count(electorate, "p")
	need, everyRequiredApproves := w.Policy.Need, strings.Trim(must, "a") == ""
	s := scene{votes: votes, reason: ReasonTally}
	short := func() scene {
		s.verdict = Unverified
		if a >= need {
			s.reason = ReasonRequired
		}
		if couldStill(w, votes, now) {
			s.effects = dueAt(w, votes, now)
		}
		return s
	}
	if o > 0 && (p == 0 || w.Policy.EarlyStart && (a+o >= need || a+p < need)) { // 2
		s.verdict = Blocked
		return s
	}
	if p == 0 { // 3
		if a >= need && everyRequiredApproves {
			s.verdict = Passed
			return s
		}
		for _, person := range w.Facts.StandIns {
			if len(w.Facts.Against) == 0 && !person.At.After(sec(now)) {
				s.verdict, s.reason = Passed, ReasonStandIn
				return s
			}
		}
		return short()
	}
	if o == 0 && (a+p < need || strings.Contains(must, "u")) { // 4
		return short()
	}
	doubt := false
	for i, b := range w.Ballots {
		doubt = doubt || votes[i] == 'p' && !b.Shadow && !b.Retired && seemsToObject(b)
	}
	if o == 0 && a >= need && everyRequiredApproves && !doubt && graceIsOver(w, votes, now) { // 5
		s.verdict = Passed
		return s
	}
	s.verdict, s.effects = Waiting, dueAt(w, votes, now) // 6
	return s
}

// seemsToObject says whether a reviewer at work would object if it said no more.
func seemsToObject(b Ballot) bool { return b.Vote == Pending && b.Then != nil && b.Then.Vote == Object }

// graceIsOver looks for a moment at least a grace ago by which the start, need approvals and every required one had
// come.
func graceIsOver(w world, votes string, now int) bool {
	for then := 0; !sec(then).Add(w.Policy.Grace).After(sec(now)); then++ {
		come, missing := 0, w.Facts.Start.After(sec(then))
		for i, b := range w.Ballots {
			if b.Shadow || b.Retired {
				continue
			}
			if b.Vote == Pending && b.Then != nil {
				b = *b.Then
			}
			if votes[i] == 'a' && !b.At.After(sec(then)) {
				come++
			} else if b.Required {
				missing = true
			}
		}
		if come >= w.Policy.Need && !missing {
			return true
		}
	}
	return false
}

// couldStill tries every way in which those who may still answer could: does one of them pass?
func couldStill(w world, votes string, now int) bool {
	var may []int
	for i, b := range w.Ballots {
		if votes[i] == 'p' || votes[i] == 'u' && b.Open {
			may = append(may, i)
		}
	}
	for choice := range 1 << len(may) {
		approvals, missing := 0, false
		for i, b := range w.Ballots {
			if b.Shadow || b.Retired {
				continue
			}
			at := slices.Index(may, i)
			if votes[i] == 'a' || at >= 0 && choice>>at&1 == 1 {
				approvals++
			} else if b.Required {
				missing = true
			}
		}
		if approvals >= w.Policy.Need && !missing {
			return true
		}
	}
	return false
}

// dueAt is everything that is due for the voters that are pending.
func dueAt(w world, votes string, now int) string {
	var out []string
	for i, b := range w.Ballots {
		for j, a := range b.Next {
			if votes[i] == 'p' && !b.Shadow && !b.Retired && !a.Due.After(sec(now)) {
				out = append(out, fmt.Sprint(b.Reviewer, j))
			}
		}
	}
	return strings.Join(out, " ")
}

// nothingSpeaksAgainst is rule 0, a sentence a line.
func nothingSpeaksAgainst(w world, pass *Pass) bool {
	var voters []string
	approves := make(map[Basis]bool)
	approvals, requiredMissing := 0, false
	votes := votesAt(w, int(pass.At.Sub(midnight)/time.Second))
	for i, b := range w.Ballots {
		if b.Shadow || b.Retired {
			continue
		}
		voters = append(voters, b.Reviewer)
		if seemsToObject(b) {
			return false // a doubt
		}
		switch votes[i] {
		case 'o':
			return false // an objection
		case 'a':
			approvals++
			approves[Basis{b.Reviewer, b.Run, b.Attempt}] = true
		default:
			requiredMissing = requiredMissing || b.Required
		}
	}
	for _, b := range pass.Basis {
		if !approves[b] {
			return false // withdrawn, or a new attempt
		}
	}
	if len(w.Facts.Against) > 0 && len(pass.By) > 0 {
		return false // a request for changes by a person; it weighs against what a person vouched for, and in no other rule
	}
	if strings.Join(voters, " ") != strings.Join(pass.Voters, " ") || pass.Need != w.Policy.Need || pass.Policy != w.Facts.File.SHA {
		return false // who votes, the quorum, or the policy changed
	}
	if pass.Base != w.Facts.Base {
		return false // a new base
	}
	reviews := make(map[int64]bool)
	for _, person := range w.Facts.StandIns {
		reviews[person.Review] = true
	}
	for _, person := range pass.By {
		if !reviews[person.Review] {
			return false // the person withdrew
		}
	}
	return len(pass.By) > 0 || approvals >= w.Policy.Need && !requiredMissing // else it was never earned
}
