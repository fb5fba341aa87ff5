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
	votes   string // of everybody, a letter each: approve, object, unavailable, pending; a capital one has no seat
	effects string
	passed  time.Time
}

func prose(w world) opinion {
	now := int(w.Now.Sub(midnight) / time.Second)
	today := sceneAt(w, now)
	o := opinion{Verdict: today.verdict, Reason: today.reason, PassedAt: today.passed}
	if today.votes != "" {
		c := countAt(w, today.votes)
		o.Counts = [4]int{c.approve, c.object, c.unavailable, c.pending}
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
	case w.need() == 0 && !w.asksNobody():
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
		} else if w.asksNobody() {
			s.reason = ReasonNoReview
		}
		return s
	}
	return passSinceAt(withoutUntaken(w, now), now)
}

// withoutUntaken is w without the retries that nobody will make.
func withoutUntaken(w world, now int) world {
	open, planned := w, []int{}
	for i, b := range w.Ballots {
		if b.Planned && b.Vote == Pending && hasVote(b, 'p') {
			b.Deadline = sec(99999)
			open, planned = open.with(i, b), append(planned, i)
		}
	}
	s, without := passSinceAt(open, now), w
	for _, i := range planned {
		if b := w.Ballots[i]; !willBeTaken(open, s, now, b) {
			b.Vote, b.Planned, b.Next = Unavailable, false, nil
			without = without.with(i, b)
		}
	}
	return without
}

// willBeTaken says whether a retry that is due then is made: not once it is blocked, nor when no answer can help any
// more, nor if it will have passed by then, or lack only people. What was late by then is shown as late all the same.
func willBeTaken(w world, s scene, now int, b Ballot) bool {
	due := b.Next[0].Due
	votes := votesAt(w, now)
	switch s.verdict { //nolint:exhaustive // while it waits, below
	case Blocked:
		return false
	case Unverified:
		if s.reason == ReasonPeople {
			since := firstMomentOf(w, now, Unverified).passed
			return due.Before(since) && !b.Deadline.After(since)
		}
		return couldStill(w, votes)
	case Passed:
		return due.Before(s.passed)
	}
	for then := now; !sec(then).After(due); then++ {
		if past := ruleAt(w, votes, then); past.verdict == Passed || past.reason == ReasonPeople {
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
	if past := firstMomentOf(w, now, Passed); past.votes != "" {
		return past
	}
	s.passed = w.Facts.Start // a pass of before the start, which a draft has moved
	return s
}

// firstMomentOf is the first moment of the day at which it had passed, or (Unverified) lacked only people.
func firstMomentOf(w world, now int, is Verdict) scene {
	// The moment of the pass: the first one of the day at which somebody who knew only what had happened would have
	// said it.
	for then := range now + 1 {
		votes := []byte(lettersAt(w, then))
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
		past := ruleAt(w, seatsAt(w, string(votes), then), then)
		if past.verdict == is && (is == Passed || past.reason == ReasonPeople) && !w.Facts.Start.After(sec(then)) {
			past.votes, past.passed = votesAt(w, then), sec(then)
			return past
		}
	}
	return scene{}
}

// votesAt is what everybody's vote is at a second; what is shown of a draft is as GitHub has it (second -1).
func votesAt(w world, now int) string {
	return seatsAt(w, lettersAt(w, now), now)
}

// seatsAt makes capital letters of those who have no seat at a second: of a reviewer and its reserve one has it.
func seatsAt(w world, letters string, now int) string {
	out := []byte(letters)
	for i, b := range w.Ballots {
		if b.InsteadOf == "" {
			continue
		}
		if b.Vote == Pending && !seemsToObject(b) && !hasVote(b, 'P') && !hasSeat(w, i, now) {
			out[i] = 'U' // the clock does nothing to it
			continue
		}
		without := i
		for j, of := range w.Ballots {
			if hasSeat(w, i, now) && of.Reviewer == b.InsteadOf {
				without = j
			}
		}
		if w.Ballots[without].Planned && without != i {
			out[without] = 'u' // its retry is not made
		}
		out[without] -= 'a' - 'A'
	}
	return string(out)
}

// hasSeat says whether a reserve has the seat of another one at a second: that one will not vote, or would not before
// and has said nothing since.
func hasSeat(w world, i, now int) bool {
	b := w.Ballots[i]
	for _, of := range w.Ballots {
		if of.Reviewer != b.InsteadOf || of.InsteadOf != "" {
			continue
		}
		if b.Vote == Pending && b.Then != nil && !b.Deadline.After(sec(now)) {
			b.Excused = b.Then.Excused // as a voter, if it then is one
		}
		if b.Excused != "" || b.Shadow || b.Retired || of.Excused != "" || of.Shadow || of.Retired || of.Again {
			return false
		}
		had := !b.Turn.IsZero() && !b.Turn.After(sec(now))
		isLate := of.Vote == Pending && !of.Deadline.After(sec(now))
		switch {
		case of.Vote == Unavailable:
			return had || !of.Since.After(sec(now))
		case of.Vote == Approve: // as of before it came
			return had && of.At.After(sec(now))
		case isLate && of.Then != nil:
			return false
		}
		return of.Vote == Pending && (had || isLate)
	}
	return false
}

// lettersAt is what everybody says, whoever has a seat.
func lettersAt(w world, now int) string {
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

// hasVote says whether a reviewer's word counts: who has none here has one as soon as it objects, and so has a reserve
// without a seat, which also answers where it must judge again.
func hasVote(b Ballot, letter byte) bool {
	switch {
	case b.Shadow || b.Retired:
		return false
	case letter == 'o' || letter == 'O':
		return true
	case letter < 'a':
		return b.Excused == "" && b.InsteadOf != "" && b.Again
	}
	return b.Excused == ""
}

// small is a letter whoever has the seat.
func small(letter byte) byte { return strings.ToLower(string(letter))[0] }

// isRequired says whether a reviewer must approve, for itself or in the seat that it fills.
func isRequired(w world, b Ballot, letter byte) bool {
	isSeat := slices.ContainsFunc(w.Ballots, func(of Ballot) bool {
		return letter >= 'a' && of.Reviewer == b.InsteadOf && of.InsteadOf == "" && of.Required
	})
	return b.Required || isSeat
}

// castAt is when an approval came, in the seat that it fills: the first second at which both were so.
func castAt(w world, i int, b Ballot) time.Time {
	if b.InsteadOf == "" {
		return b.At
	}
	for now := range 2 * lastMoment {
		if hasSeat(w, i, now) && !b.At.After(sec(now)) {
			return sec(now)
		}
	}
	return b.At
}

// count is what a moment's votes amount to.
type count struct {
	approve, object, unavailable, pending int

	voters int
	must   string // the votes of the required
	doubt  bool
}

// countAt sorts the families by the best that one of each says; objections are each its own.
func countAt(w world, votes string) (c count) {
	best := make(map[string]byte)
	for i, b := range w.Ballots {
		letter := votes[i]
		if !b.Shadow && !b.Retired && small(letter) == 'p' && seemsToObject(b) {
			c.doubt = true
		}
		if !hasVote(b, letter) {
			continue
		}
		if isRequired(w, b, letter) {
			c.must += string(small(letter))
		}
		if letter == 'O' {
			c.object++
		}
		if letter < 'a' && b.InsteadOf != "" {
			continue // it only answers for itself
		}
		family := b.Family
		if family == "" || w.Policy.Families != DistinctFamily {
			family = fmt.Sprint("place ", i)
		}
		if letter == 'o' {
			c.object++
		}
		if was, known := best[family]; !known || strings.IndexByte("apuo", letter) < strings.IndexByte("apuo", was) {
			best[family] = letter
		}
	}
	c.voters = len(best)
	for _, letter := range best {
		switch letter {
		case 'a':
			c.approve++
		case 'u':
			c.unavailable++
		case 'p':
			c.pending++
		}
	}
	return c
}

// ruleAt applies rules 1 to 6, stand_in and people, each as its sentence says it.
func ruleAt(w world, votes string, now int) scene {
	c := countAt(w, votes)
	a, o, p, need := c.approve, c.object, c.pending, w.need()
	everyRequiredApproves := strings.Trim(c.must, "a") == ""
	s := scene{votes: votes, reason: ReasonTally}
	short := func() scene {
		s.verdict = Unverified
		if a >= need {
			s.reason = ReasonRequired
		} else if c.voters < need {
			s.reason = ReasonTooFew
		}
		if couldStill(w, votes) {
			s.effects = dueAt(w, votes, now)
		}
		return s
	}
	var people []string // who have approved by now
	hasVouch, isAlone := false, false
	for _, person := range w.Facts.StandIns {
		switch {
		case person.At.After(sec(now)):
		case person.Vouch: // no approval: it fills no place of the policy's people, unless nobody else could
			isAlone = w.Facts.OnlyWriter != ""
			hasVouch = !slices.ContainsFunc(w.Ballots, func(b Ballot) bool { // whom the change, or somebody, keeps from it is no outage
				b = b.asOf(sec(now))
				isKept := b.Reason == ReasonGuarded || b.Reason == ReasonFamily || b.Reason == ReasonCancelled
				return b.Excused == "" && !b.Shadow && !b.Retired && b.Vote == Unavailable && isKept
			})
		default:
			people = append(people, person.Login)
		}
	}
	pass := func(why Reason) scene {
		s.verdict, s.reason = Passed, why
		isMet := areMet(w.Policy.People, people...) || isAlone
		if why == ReasonStandIn { // who fills that place fills no other
			isMet = isMetBeside(w.Policy.People, people) || hasVouch && areMet(w.Policy.People, people...)
		}
		if !isMet {
			s.verdict, s.reason = Unverified, ReasonPeople
		}
		return s
	}
	if w.peopleObject() {
		o += len(w.Facts.Against)
	}
	if w.asksNobody() { // 1
		if o == 0 && !c.doubt {
			return pass(ReasonNoReview)
		}
		if o == 0 {
			s.verdict, s.effects = Waiting, dueAt(w, votes, now)
			return s
		}
		need = 1
	}
	if o > 0 && (p == 0 || w.Policy.EarlyStart && (a+o >= need || a+p < need)) { // 2
		s.verdict = Blocked
		return s
	}
	if o == 0 && p == 0 && !strings.Contains(c.must, "p") { // 3
		if a >= need && everyRequiredApproves && !c.doubt {
			return pass(ReasonTally)
		}
		if a < need || !everyRequiredApproves {
			isNamed := func(login string) bool { return isAnyNamed(w.Policy.People, login) } // she is kept for what names her
			isFree := hasVouch || isMetBeside(w.Policy.People, people) || slices.ContainsFunc(people, func(p string) bool { return !isNamed(p) })
			if isFree && len(w.Facts.Against) == 0 && !c.doubt {
				return pass(ReasonStandIn)
			}
			return short()
		}
	}
	if o == 0 && (a+p < need || strings.Contains(c.must, "u")) { // 4
		return short()
	}
	if o == 0 && a >= need && everyRequiredApproves && !c.doubt && graceIsOver(w, votes, now) { // 5
		return pass(ReasonTally)
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
		var come []int
		missing := w.Facts.Start.After(sec(then))
		for i, b := range w.Ballots {
			if !hasVote(b, votes[i]) {
				continue
			}
			isNeeded := isRequired(w, b, votes[i])
			if of := b.InsteadOf; b.Vote == Pending && b.Then != nil {
				b = *b.Then
				b.InsteadOf = of
			}
			cast := castAt(w, i, b)
			if votes[i] < 'a' { // without a seat it answers for itself
				cast = b.At
			}
			hasCome := small(votes[i]) == 'a' && !cast.After(sec(then))
			if hasCome && votes[i] == 'a' {
				come = append(come, i)
			} else if isNeeded && !hasCome {
				missing = true
			}
		}
		if !missing && w.families(come) >= w.need() {
			return true
		}
	}
	return false
}

// couldStill tries every way in which those who may still answer could: does one of them pass?
func couldStill(w world, votes string) bool {
	var may []int
	for i, b := range w.Ballots {
		isOpen := b.Open || votes[i] >= 'a' && !b.Again && slices.ContainsFunc(w.Ballots, func(of Ballot) bool { return of.Reviewer == b.InsteadOf && of.Open })
		if small(votes[i]) == 'p' || small(votes[i]) == 'u' && isOpen {
			may = append(may, i)
		}
	}
	for choice := range 1 << len(may) {
		var approving []int
		missing := false
		for i, b := range w.Ballots {
			if !hasVote(b, votes[i]) {
				continue
			}
			at := slices.Index(may, i)
			approves := small(votes[i]) == 'a' || at >= 0 && choice>>at&1 == 1
			if approves && votes[i] >= 'a' {
				approving = append(approving, i)
			} else if isRequired(w, b, votes[i]) && !approves {
				missing = true
			}
		}
		if !missing && w.families(approving) >= w.need() {
			return true
		}
	}
	return false
}

// isMetBeside reports whether one of some people can stand in and the others' approvals are all that is asked of
// people.
func isMetBeside(asked People, people []string) bool {
	return slices.ContainsFunc(people, func(by string) bool {
		return areMet(asked, slices.DeleteFunc(slices.Clone(people), func(o string) bool { return o == by })...)
	})
}

// dueAt is everything that is due for the voters that are pending; what a person asked for is done at once.
func dueAt(w world, votes string, now int) string {
	var out []string
	for i, b := range w.Ballots {
		for j, a := range b.Next {
			if small(votes[i]) == 'p' && hasVote(b, votes[i]) && a.Command == 0 && !a.Due.After(sec(now)) {
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
	votes := votesAt(w, int(pass.At.Sub(midnight)/time.Second))
	c := countAt(w, votes)
	for i, b := range w.Ballots {
		if !b.Shadow && !b.Retired && seemsToObject(b) {
			return false // a doubt, of whomever
		}
		if !hasVote(b, votes[i]) {
			continue
		}
		voters = append(voters, b.Reviewer)
		if small(votes[i]) == 'a' {
			approves[Basis{b.Reviewer, b.Run, b.Attempt}] = true
		}
	}
	if c.object > 0 {
		return false // an objection
	}
	for _, b := range pass.Basis {
		if !approves[b] {
			return false // withdrawn, or a new attempt
		}
	}
	if len(w.Facts.Against) > 0 && len(pass.By) > 0 {
		return false // a request for changes by a person; it weighs against what a person vouched for
	}
	if w.peopleObject() {
		return false // and where people are asked, or nobody else
	}
	if strings.Join(voters, " ") != strings.Join(pass.Voters, " ") || pass.Need != w.need() || pass.Policy != w.Facts.File.SHA {
		return false // who votes, the quorum, or the policy changed
	}
	if pass.Base != w.Facts.Base {
		return false // a new base
	}
	isAlone := func(person StandIn) bool { return person.Vouch && strings.EqualFold(person.Login, w.Facts.OnlyWriter) }
	if !areMet(w.Policy.People, logins(pass.People)...) && !slices.ContainsFunc(pass.People, isAlone) {
		return false // more people are asked, and there are any
	}
	free := make(map[int64]bool)
	for _, person := range w.Facts.StandIns {
		free[person.Review] = !person.At.After(pass.At) // what came after it did not make it
	}
	for _, person := range append(slices.Clone(pass.By), pass.People...) {
		if !free[person.Review] {
			return false // the person withdrew, came later, or fills two places
		}
		free[person.Review] = false
	}
	if len(pass.By) > 0 || w.asksNobody() {
		return true
	}
	return c.approve >= w.need() && strings.Trim(c.must, "a") == "" // else it was never earned
}
