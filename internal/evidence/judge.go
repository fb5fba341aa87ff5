package evidence

import (
	"slices"
	"sync"

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
	commands := &commandView{head: h, all: h.snapshot.Record.Commands}
	if len(commands.saidCommands()) > 0 { // whom a rerun concerns, the ballots tell
		commands = reviewerViews(&p, &s)[0].commands
	}
	f := quorum.Facts{
		PR: s.PR.PR, Head: s.PR.Head, Base: s.PR.BaseRef, File: s.File, Draft: s.PR.Draft, Closed: s.PR.Closed, Start: h.cycle.start,
	}
	f.StandIns, f.Unheard, f.Against = h.standIns()
	f.StandIns, f.Teams = append(f.StandIns, commands.vouchers()...), s.Teams
	slices.SortStableFunc(f.StandIns, byTime)
	f.Replies, f.Leave = commands.replies(), cancelsOfLeftReruns(h)
	f.Fix = fixFacts(h, commands)
	f.Invited = h.invitations()
	f.Trunk, f.Below = s.PR.Stack.Trunk, s.Below
	if pass := s.Record.Pass; pass != nil && s.Record.Head == s.PR.Head && !h.cycle.isBeforeBase(pass.At) {
		f.Pass = pass
	}
	return f
}

// deferSharedCancels returns b's next actions. A run that several undecided reviewers share is cancelled only when the
// last of them would cancel it, and not if one of them would not.
func deferSharedCancels(b quorum.Ballot, ballots []quorum.Ballot) []quorum.Action {
	isCancel := func(a quorum.Action) bool { return a.Kind == quorum.Cancel }
	next := slices.Clone(b.Next)
	for _, o := range ballots {
		if b.Run == 0 || o.Reviewer == b.Reviewer || o.Run != b.Run || o.Vote != quorum.Pending || o.Then != nil {
			continue
		}
		at := slices.IndexFunc(o.Next, isCancel)
		if at < 0 {
			next = slices.DeleteFunc(next, isCancel)
			continue
		}
		for i, a := range next {
			if isCancel(a) {
				next[i].Due = latest(a.Due, o.Next[at].Due)
			}
		}
	}
	return next
}

// reviewerViews returns a view for each of p's reviewers, in the policy's order.
func reviewerViews(p *quorum.Policy, s *quorum.Snapshot) []*reviewerView {
	texts := newTextReader()
	views := viewsOf(newHeadView(p, s), texts)
	for _, v := range views {
		v.past.onLeftHeads = sync.OnceValues(func() (quorum.Judged, bool) { return verdictOnLeftHeads(v.head, v.Reviewer, texts) })
	}
	return views
}

// viewsOf are the views of a snapshot that may show another time or head, by texts that were read. What was said on other
// heads is nothing to them.
func viewsOf(h *headView, texts *textReader) []*reviewerView {
	p, s := h.policy, h.snapshot
	commands := &commandView{head: h, all: slices.Clip(s.Record.Commands)}
	here, elsewhere := objectionsOfOtherBases(h, texts)
	h.record.unlooked, h.objectedElsewhere = append(objectionsOfEarlierStays(h, texts), here...), elsewhere
	views := make([]*reviewerView, len(p.Reviewers))
	for i := range p.Reviewers {
		views[i] = newReviewerView(h, texts, commands, &p.Reviewers[i])
		views[i].judgeAttempts()
	}
	for _, said := range commands.saidCommands() { // what comes of one hangs on those before it
		if c, isHeard := commands.hearCommand(&said, views); isHeard {
			commands.keep(c)
		}
	}
	return views
}
