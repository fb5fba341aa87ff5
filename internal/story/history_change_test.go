package story_test

// What the author and others do to the change itself, in the model: pushes that leave the diff as it was and pushes that
// do not, ways back, other bases, labels. And what is true of votes then.

import (
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	codeFile  = "cart.go"
	docsFile  = "docs/intro.md"
	rulesFile = "docs/rules/review.md" // guarded
	maxHeads  = 4                      // of a history
)

// A change is what a head changes.
type change struct {
	lines int // equal where the same lines are added and removed
	tree  int // of such heads, equal where modes and blobs are the same, too
	path  string
}

func (c change) files() []quorum.File { return []quorum.File{{Path: c.path}} }

// printAgainst is the diff's, against a base: partBase has a part of the change, the others hold the same.
func (c change) printAgainst(base string) quorum.DiffPrint {
	part := ""
	if base == partBase {
		part = " in part"
	}
	tree := fmt.Sprintf("tree%d.%d%s", c.lines, c.tree, part)
	return quorum.DiffPrint{Lines: fmt.Sprintf("lines%d%s", c.lines, part), Tree: tree, Files: tree}
}

// A headTruth is a head that the pull request has or had, with what GitHub and our check hold of it while it has another
// one.
type headTruth struct {
	change
	sha              string
	arrived          time.Time
	commits          []quorum.Commit
	runs             []quorum.Run
	checks           []quorum.CheckRun
	statuses         []quorum.Status
	record           quorum.Record
	said, superseded []reviewerTruth
	carried          []bool // by reviewer, when it was left
	work             []workTruth
}

// A judgedTruth is the verdict that a reviewer gave last, on whatever head.
type judgedTruth struct {
	no      bool
	head    string
	lines   string    // of the diff that it was about
	again   string    // the head on which it was given because one before it was a no
	arrived time.Time // when that head did
}

// changeState is what is true of a pull request's change.
type changeState struct {
	change
	heads    []headTruth
	at       int // which of them it has
	before   int // which it had before; -1: none
	changes  int // different lines and trees so far
	labels   []string
	hands    []string // logins of who had a hand in the change
	carry    quorum.Carry
	carried  []bool // by reviewer: it approved an earlier head, which changes the same, and nothing came since
	kept     []bool // by reviewer: its approval is carried, and this head has never heard of it
	judged   []judgedTruth
	asked    []quorum.Action // requests that we made on this head and base
	commands int

	noOverride bool    // the policy lets nobody accept any more
	replied    []int64 // commands that we answered
}

func newChangeState(first change, p *quorum.Policy) changeState {
	return changeState{
		change: first, before: -1, hands: []string{author.Login}, carry: p.Carry,
		carried: make([]bool, len(p.Reviewers)), kept: make([]bool, len(p.Reviewers)), judged: make([]judgedTruth, len(p.Reviewers)),
	}
}

func (c *changeState) clone() changeState {
	d := *c
	d.heads, d.labels, d.hands = slices.Clone(c.heads), slices.Clone(c.labels), slices.Clone(c.hands)
	d.carried, d.kept = slices.Clone(c.carried), slices.Clone(c.kept)
	d.judged, d.asked = slices.Clone(c.judged), slices.Clone(c.asked)
	return d
}

// otherChange is a change of lines that no head has had.
func (c *changeState) otherChange(path string) change {
	return change{lines: c.changes + 1, path: path}
}

// push gives the pull request a new head. Where it changes the same lines, it was a rebase: its commits are made anew.
func (st *modelState) push(by quorum.Account, to change) bool {
	if len(st.heads) == maxHeads {
		return false
	}
	commit := quorum.Commit{SHA: headSHA(len(st.heads)), People: []quorum.Account{by}}
	commits := []quorum.Commit{commit}
	if isRebase := to.lines == st.lines; !isRebase {
		commits = append(slices.Clone(st.s.Commits), commit)
	}
	st.heads = append(st.heads, headTruth{
		change: to, sha: commit.SHA, arrived: st.now, commits: commits,
		said: make([]reviewerTruth, len(st.said)), superseded: make([]reviewerTruth, len(st.said)),
		work: make([]workTruth, len(st.said)),
	})
	st.moveTo(len(st.heads)-1, by)
	return true
}

// forceBack gives the pull request its first head again.
func (st *modelState) forceBack(by quorum.Account) bool {
	if st.at == 0 {
		return false
	}
	st.moveTo(0, by)
	return true
}

// moveTo gives the pull request one of its heads.
func (st *modelState) moveTo(at int, by quorum.Account) {
	old, isSame := &st.heads[st.at], false
	old.runs, old.checks, old.statuses, old.record = st.s.Runs, st.s.Checks, st.s.Statuses, st.s.Record
	old.said, old.superseded, old.work, old.carried = st.said, st.superseded, st.work, slices.Clone(st.carried)
	to := st.heads[at]
	isSame = to.change == st.change && st.carry == quorum.CarrySameDiff
	isNew := to.record.Head == ""
	for place := range st.carried {
		st.kept[place] = isSame && isNew && st.shown.Ballots[place].Vote == quorum.Approve
		wasCarried := to.carried != nil && to.carried[place] // its record keeps what it has from a head of the same files
		st.carried[place] = isSame && (st.carried[place] || st.hasApproved(place)) || wasCarried
	}
	if isForced := at < st.at || to.lines == st.lines || len(to.commits) <= len(st.s.Commits); isForced {
		st.s.Timeline = append(st.s.Timeline, quorum.Event{Kind: quorum.ForcePushed, At: st.now, Actor: by, From: old.sha, To: to.sha})
	}
	st.s.Pushes = slices.Insert(slices.Clone(st.s.Pushes), 0, quorum.Push{Before: old.sha, After: to.sha, Actor: by, At: st.now})
	st.before, st.at, st.change, st.changes = st.at, at, to.change, max(st.changes, to.lines)
	st.asked = nil
	if !slices.Contains(st.hands, by.Login) {
		st.hands = append(slices.Clip(st.hands), by.Login)
	}
	st.s.PR.Head, st.s.PR.Files, st.s.PR.Diff = to.sha, to.files(), to.printAgainst(st.s.PR.BaseRef)
	st.s.Commits, st.s.PR.Commits, st.s.Arrived = to.commits, len(to.commits), to.arrived
	st.s.Runs, st.s.Checks, st.s.Statuses, st.s.Record = slices.Clone(to.runs), slices.Clone(to.checks), slices.Clone(to.statuses), to.record
	st.said, st.superseded, st.work = slices.Clone(to.said), slices.Clone(to.superseded), slices.Clone(to.work)
	clear(st.older)
	st.asks()
	st.s.Earlier, st.s.Others = nil, nil
	var ancestors []string
	for i := range st.heads {
		h := &st.heads[i]
		isAncestor := slices.ContainsFunc(to.commits, func(c quorum.Commit) bool { return c.SHA == h.sha })
		switch {
		case i == at:
			continue
		case isAncestor:
			ancestors = append(ancestors, h.sha)
		default:
			st.s.Earlier = append(st.s.Earlier, h.sha)
		}
		for _, run := range h.runs {
			st.s.Others = append(st.s.Others, asListed(run))
		}
	}
	st.s.Earlier = append(st.s.Earlier, ancestors...)
}

// retarget gives the pull request another base: nothing that was said of any head is of this base.
func (st *modelState) retarget(base string) bool {
	from := st.s.PR.BaseRef
	if from == base {
		return false
	}
	was := st.s.PR.Diff
	st.s.PR.BaseRef, st.s.PR.Diff, st.s.Gated = base, st.printAgainst(base), base == mainBase
	st.s.Timeline = append(st.s.Timeline, quorum.Event{Kind: quorum.BaseChanged, At: st.now, Actor: author, From: from, To: base})
	isSame := was.Files == st.s.PR.Diff.Files && guardsOf(from) == guardsOf(base) && !st.basePushed[from].After(st.heads[st.at].arrived)
	if st.guarded && isSame {
		st.moves = append(slices.Clip(st.moves), st.now)
		return true
	}
	for place := range st.work {
		isOther := was.Files != st.s.PR.Diff.Files || from != mainBase
		st.work[place].old = st.work[place].old || st.work[place].busy && isOther
	}
	st.asks()
	clear(st.said)
	clear(st.superseded)
	clear(st.older)
	clear(st.carried)
	clear(st.kept)
	for i := range st.heads {
		h := &st.heads[i]
		h.said, h.superseded, h.carried = make([]reviewerTruth, len(st.said)), make([]reviewerTruth, len(st.said)), nil
		if i != st.at {
			h.work = slices.Clone(h.work)
			for place := range h.work {
				isOther := h.printAgainst(from).Files != h.printAgainst(base).Files || from != mainBase
				h.work[place].old = h.work[place].old || isOther
			}
		}
	}
	st.asked = nil
	return true
}

// guardsOf is what a base holds of guarded files.
func guardsOf(base string) string {
	if base == guardBase {
		return "others"
	}
	return "guards"
}

// setLabel sets or removes a label.
func (st *modelState) setLabel(label string) {
	if i := slices.Index(st.labels, label); i >= 0 {
		st.labels = slices.Delete(slices.Clone(st.labels), i, i+1)
	} else {
		st.labels = append(slices.Clip(st.labels), label)
	}
	st.s.PR.Labels = st.labels
}

// snapshot is what a look at a moment finds: the record of the head before, too, where this head's has not inherited
// from it.
func (st *modelState) snapshot(at time.Time) quorum.Snapshot {
	s := st.s
	s.Began = at
	for i := range st.heads {
		if h := &st.heads[i]; i != st.at {
			s.Left = append(s.Left, quorum.LeftHead{SHA: h.sha, Checks: h.checks, Statuses: h.statuses})
		}
	}
	st.showJobsOfLeftHeads(&s)
	if st.guarded {
		pushed := s.PR.BaseRef
		if s.Record.Head == s.PR.Head {
			pushed = s.Record.Base
		}
		s.Guards, s.BasePushed, s.LayerPushed = guardsOf(s.PR.BaseRef), opened, opened
		if at := st.basePushed[pushed]; at.After(opened) {
			s.BasePushed = at
		}
		if at := st.basePushed[s.PR.BaseRef]; at.After(opened) {
			s.LayerPushed = at
		}
	}
	st.showFixes(&s)
	heads, left := evidence.HeadsBefore(s)
	if evidence.HasInherited(s, left) {
		return s
	}
	for _, sha := range heads {
		i := slices.IndexFunc(st.heads, func(h headTruth) bool { return h.sha == sha })
		if st.heads[i].record.Head != "" {
			s.Before, s.BeforeHead = st.heads[i].record, sha
			return s
		}
	}
	return s
}

// showJobsOfLeftHeads adds the jobs of runs of heads that were left, where their checks are asked for.
func (st *modelState) showJobsOfLeftHeads(s *quorum.Snapshot) {
	left, checks, _ := evidence.LeftHeads(quorum.Policy{Reviewers: st.reviewers}, *s)
	if !checks {
		return
	}
	s.Others = slices.Clone(s.Others)
	for i := range s.Others {
		run := &s.Others[i]
		for _, h := range st.heads {
			at := slices.IndexFunc(h.runs, func(of quorum.Run) bool { return of.ID == run.ID })
			if at >= 0 && slices.Contains(left, h.sha) {
				run.Jobs, run.FailedJobs = h.runs[at].Jobs, h.runs[at].FailedJobs
			}
		}
	}
}

// noteVerdicts notes what each reviewer judged last, as a look sees it.
func (st *modelState) noteVerdicts() {
	for place := range st.judged {
		again := ""
		if st.mustJudge(place) {
			again = st.s.PR.Head
		}
		j := &st.judged[place]
		isHere := func(o *objectionTruth) bool { return o.reviewer == place && o.head == st.s.PR.Head }
		isNew := func(o *objectionTruth) bool { return isHere(o) && (j.head != o.head || j.lines != o.lines) }
		switch {
		case slices.ContainsFunc(st.standing(), isNew):
			*j = st.judgedHere(true, again)
		case slices.ContainsFunc(st.standing(), isHere):
			j.no = true // it was judged before: a thread that is opened again is about the diff of then
		case st.hasApproved(place):
			st.judged[place] = st.judgedHere(false, again)
		case slices.ContainsFunc(st.objections, func(o objectionTruth) bool { return o.reviewer == place && o.ended }):
			st.judged[place].no = false // a person's word was enough
		}
	}
}

// judgedHere is a verdict on this head against its base.
func (st *modelState) judgedHere(isNo bool, again string) judgedTruth {
	return judgedTruth{no: isNo, head: st.s.PR.Head, lines: st.s.PR.Diff.Lines, again: again, arrived: st.heads[st.at].arrived}
}

// mustJudge reports whether a reviewer objected to the last diff that it judged before this one, on another head or against
// another base.
func (st *modelState) mustJudge(place int) bool {
	j := &st.judged[place]
	return j.no && j.lines != st.s.PR.Diff.Lines || j.again == st.s.PR.Head
}

// approves reports whether it is true of a reviewer that it approves this head, or one that changes the same.
func (st *modelState) approves(place int) bool {
	return st.hasApproved(place) || st.carried[place] && !st.hasStanding(place)
}

// hasObjectedToThis reports whether a reviewer has objected to this head, or to what it changes, answered or not.
func (st *modelState) hasObjectedToThis(place int) bool {
	return slices.ContainsFunc(st.objections, func(o objectionTruth) bool {
		return o.reviewer == place && o.seen && (o.head == st.s.PR.Head || st.isOfThis(&o))
	})
}

// changeMoves are what the author does to the change.
func changeMoves(add addMove) {
	add("alice rebases", func(st *modelState) bool { return st.push(author, st.change) })
	add("alice pushes another mode", func(st *modelState) bool {
		to := st.change
		to.tree++
		return st.push(author, to)
	})
	add("alice pushes", func(st *modelState) bool { return st.push(author, st.otherChange(codeFile)) })
	add("alice pushes the first change", func(st *modelState) bool {
		return st.lines != st.heads[0].lines && st.push(author, st.heads[0].change)
	})
	add("alice forces back to the first head", func(st *modelState) bool { return st.forceBack(author) })
}
