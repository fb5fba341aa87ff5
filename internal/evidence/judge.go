package evidence

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Judge makes a ballot for each of p's reviewers, in their order, from a snapshot of GitHub. It knows no clock: a
// pending ballot says how it changes with time.
func Judge(p quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
	ballots := make([]quorum.Ballot, 0, len(p.Reviewers))
	turns := turnView{views: reviewerViews(&p, &s), made: map[string]*quorum.Ballot{}}
	for _, v := range turns.views {
		ballots = append(ballots, *turns.ballotOf(v.Name))
	}
	for i, b := range ballots {
		ballots[i].Next = deferSharedCancels(b, ballots)
	}
	return ballots
}

// Facts returns the input of [quorum.Decide] that is not a ballot.
func Facts(p quorum.Policy, s quorum.Snapshot) quorum.Facts {
	h := newHeadView(&p, &s)
	if len(saidCommands(h)) > 0 { // whom a rerun concerns, the ballots tell
		h = reviewerViews(&p, &s)[0].head
	}
	f := quorum.Facts{
		PR: s.PR.PR, Head: s.PR.Head, Base: s.PR.BaseRef, File: s.File, Draft: s.PR.Draft, Closed: s.PR.Closed, Start: h.cycle.start,
		Teams: s.Teams, OnlyWriter: s.OnlyWriter, Trunk: s.PR.Stack.Trunk, Below: s.Below,
		Fix: fixFacts(h), Invited: h.invitations(), Leave: cancelsOfLeftReruns(h),
	}
	for login, may := range s.Permissions {
		if may != 0 && !strings.EqualFold(login, s.OnlyWriter) {
			f.OnlyWriter = "" // somebody else is seen who may write
		}
	}
	if !strings.EqualFold(s.OnlyWriter, s.PR.Owner) { // of an organisation's repository GitHub may list fewer
		f.OnlyWriter = ""
	}
	f.StandIns, f.Unheard, f.Against = h.standIns()
	f.StandIns = append(f.StandIns, h.vouchers()...)
	slices.SortStableFunc(f.StandIns, func(a, b quorum.StandIn) int { return a.At.Compare(b.At) })
	for _, c := range h.commands { // a press of the button has no comment, and REST knows no reaction to a review
		if !c.Replied && c.ID > 0 {
			f.Replies = append(f.Replies, quorum.Reply{Command: c.ID, Refused: c.Refused != ""})
		}
	}
	if pass := s.Record.Pass; pass != nil && s.Record.Head == s.PR.Head && !h.cycle.isBeforeBase(pass.At) {
		f.Pass = pass
	}
	return f
}

// deferSharedCancels returns b's next actions. A run that several undecided reviewers share is cancelled only when the
// last of them would cancel it, and not if one of them would not.
func deferSharedCancels(b quorum.Ballot, ballots []quorum.Ballot) []quorum.Action {
	isCancel := func(a *quorum.Action) bool { return a.Kind == quorum.Cancel }
	next := slices.Clone(b.Next)
	own := firstOf(next, isCancel) // beside which nothing else is due
	for _, o := range ballots {
		if own == nil || o.Run != b.Run || o.Vote != quorum.Pending || o.Then != nil {
			continue
		}
		theirs := firstOf(o.Next, isCancel)
		if theirs == nil {
			return nil
		}
		own.Due = latest(own.Due, theirs.Due)
	}
	return next
}

func reviewerViews(p *quorum.Policy, s *quorum.Snapshot) []*reviewerView {
	texts := newTextReader(s.PR.Number)
	h := newHeadView(p, s)
	h.record.unlooked = objectionsOfAlikeHeads(h, texts)
	views := viewsOf(h, texts)
	for _, v := range views {
		v.onLeftHeads = sync.OnceValue(func() quorum.Judged { return verdictOnLeftHeads(v.head, v.Reviewer, texts) })
	}
	return views
}

// viewsOf are the views of a snapshot, which may show another time or head. What was said on other heads is nothing to them.
func viewsOf(h *headView, texts *textReader) []*reviewerView {
	p := h.policy
	here, elsewhere := objectionsOfEarlierStays(h, texts)
	unlooked := slices.Concat(h.record.unlooked, here)
	h.record.unlooked, h.objectedElsewhere = without(unlooked, h.record.isRecorded), elsewhere
	views := make([]*reviewerView, len(p.Reviewers))
	for i := range p.Reviewers {
		r, runs := &p.Reviewers[i], h.runsOf(&p.Reviewers[i])
		views[i] = &reviewerView{
			Reviewer: r, head: h, texts: texts, runs: runs, attempts: attemptsOfRuns(h, r, runs.counted),
		}
		views[i].judgeAttempts()
	}
	for _, said := range saidCommands(h) { // what comes of one hangs on those before it
		if c, isHeard := hearCommand(h, &said, views); isHeard {
			keepCommand(h, c)
		}
	}
	return views
}

// A turnView makes the ballots of a head's reviewers, each after those on which its turn depends: a reserve after the
// reviewer whose seat it may fill, and who waits after those it names.
type turnView struct {
	views []*reviewerView
	made  map[string]*quorum.Ballot // nil: it is being made
}

// ballotOf is the ballot of a reviewer with that name; nil if there is none, or if it waits for itself.
func (t turnView) ballotOf(name string) *quorum.Ballot {
	b, isMade := t.made[name]
	i := slices.IndexFunc(t.views, func(v *reviewerView) bool { return v.Name == name })
	if isMade || i < 0 {
		return b
	}
	t.made[name] = nil
	t.made[name] = t.makeBallot(t.views[i])
	return t.made[name]
}

func (t turnView) makeBallot(v *reviewerView) *quorum.Ballot {
	turn := t.turnOf(v)
	opened, wait := t.stageOf(v)
	if v.turn = latest(turn, opened); v.isRequiredAgain() {
		v.turn = opened // it answers for itself
	}
	b := v.withCommanded(v.withPast(v.makeBallot()))
	b.InsteadOf, b.Turn = v.InsteadOf, turn
	b.UnderWay = b.Vote == quorum.Object && v.newestAttempt().attempt.isUnderWay()
	hasVoted := b.Vote == quorum.Approve || isOrBecomes(&b, quorum.Object) || b.Ended.By != ""
	isKept := b.Retired || b.Vote == quorum.Unavailable && b.Reason.IsOfChange()
	if wait == nil || hasVoted || b.Excused != "" || isKept {
		return &b
	}
	wait.Required, wait.Again, wait.InsteadOf, wait.Turn = b.Required, b.Again, b.InsteadOf, b.Turn
	wait.Since, wait.Open = latest(wait.Since, b.Since), true // it is asked when those approve after all
	wait.Next = without(b.Next, func(a quorum.Action) bool { return a.Command == 0 })
	return wait
}

// turnOf is from when on a reserve has the seat of another one, unless that one votes before. It is zero of who is no
// reserve, and where nothing ends the other's wait.
func (t turnView) turnOf(v *reviewerView) time.Time {
	of, turn := t.ballotOf(v.InsteadOf), v.head.record.turnOf(v.Name)
	switch {
	case of == nil: // it is no reserve
	case !turn.IsZero():
		return turn
	case of.Vote == quorum.Unavailable:
		return latest(of.Since, v.head.cycle.start)
	case of.Vote == quorum.Pending && (of.Then == nil || of.Then.Vote == quorum.Unavailable):
		return of.Deadline
	}
	return time.Time{}
}

// stageOf is when those had approved for whom a reviewer waits; else wait is its ballot until then. Who has no vote
// here, and a shadow that was skipped, is not waited for.
func (t turnView) stageOf(v *reviewerView) (opened time.Time, wait *quorum.Ballot) {
	var awaited []string
	b := v.newestAttempt().newBallot()
	lost := asUnavailable(b, quorum.Declined, quorum.ReasonNotAsked, "")
	b.Outcome, b.Reason = quorum.Silent, quorum.ReasonStage
	waits := asPending(b, time.Time{}, quorum.ReasonNotAsked)
	for _, name := range v.After {
		switch b := cmp.Or(t.seatOf(name), &quorum.Ballot{Vote: quorum.Unavailable}); { // config refuses names of nobody
		case b.Vote == quorum.Pending && b.Then != nil && b.Then.Vote == quorum.Approve: // by the clock, at the latest
			opened = latest(opened, latest(b.Deadline, b.Then.At))
		case b.Vote == quorum.Pending:
			awaited = append(awaited, name)
			waits.Deadline = earliest(b.Deadline, cmp.Or(waits.Deadline, b.Deadline))
		case b.Vote == quorum.Approve:
			opened = latest(opened, b.At)
		case b.Excused != "" && b.Vote != quorum.Object, b.Shadow && b.Reason == quorum.ReasonSkipped, b.Retired:
		case lost.Detail == "" || b.Since.Before(lost.Since):
			lost.Detail, lost.Since = name+" "+lostWord(b), b.Since
		}
	}
	switch {
	case lost.Detail != "":
		return opened, &lost
	case len(awaited) > 0:
		waits.Detail = strings.Join(awaited, ", ")
		return opened, &waits
	}
	return opened, nil
}

func lostWord(b *quorum.Ballot) string {
	switch {
	case b.Vote == quorum.Object:
		return "objected"
	case b.Outcome == quorum.Silent:
		return "did not answer"
	}
	return "failed"
}

// seatOf is the ballot that has the seat of a reviewer, or will have it when that one's wait ends.
func (t turnView) seatOf(name string) *quorum.Ballot {
	b := t.ballotOf(name)
	i := slices.IndexFunc(t.views, func(v *reviewerView) bool { return v.InsteadOf == name })
	if b == nil || i < 0 || b.Excused != "" || b.Again || b.Vote == quorum.Approve || b.Vote == quorum.Object {
		return b
	}
	reserve, hadTurn := t.ballotOf(t.views[i].Name), !t.views[i].head.record.turnOf(t.views[i].Name).IsZero()
	then := *b
	switch {
	case reserve == nil || reserve.Excused != "" || reserve.Turn.IsZero():
		return b
	case b.Vote == quorum.Unavailable || hadTurn:
		seated := *reserve
		seated.At = latest(seated.At, seated.Turn) // what it approved before fills the seat then
		return &seated
	case reserve.Vote == quorum.Approve:
		then.Then = reserve
	case reserve.Vote == quorum.Pending:
		then.Deadline = reserve.Deadline
	}
	return &then
}

// rememberTurns adds when a reserve first got the seat of another reviewer.
func rememberTurns(all []quorum.FirstTime, base string, ballots []quorum.Ballot, now time.Time) []quorum.FirstTime {
	for _, b := range ballots {
		if b.Excused == "" && !b.Turn.IsZero() && !b.Turn.After(now) { // one that is recorded stays as it is
			all = withOnce(all, quorum.FirstTime{Reviewer: b.Reviewer, Base: base, At: b.Turn.UTC()})
		}
	}
	return all
}
