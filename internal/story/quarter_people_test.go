package story_test

// What people do to a pull request of the quarter, those who wish it well and those who do not.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A teamMove is one thing that somebody does. It reports whether it could be done.
type teamMove func(w *teamWeek, p *teamPull) bool

// teamMoves are all of them, by name. Those of hostile people have the number of the attack in ATTACKS, or of the threat.
var teamMoves = map[string]teamMove{
	// what a team does
	"pushes another change":           func(w *teamWeek, p *teamPull) bool { return w.push(p, pushing{}) },
	"pushes twice within seconds (P)": pushTwice,
	"force-pushes the same diff":      func(w *teamWeek, p *teamPull) bool { return w.push(p, pushing{force: true, same: true}) },
	"pushes back to an old head":      pushBack,
	"bob pushes to it":                func(w *teamWeek, p *teamPull) bool { return w.push(p, pushing{by: "bob"}) },
	"makes it a draft, then ready":    makeDraft,
	"closes and reopens (A)":          closeAndReopen,
	"label: careful":                  func(w *teamWeek, p *teamPull) bool { return w.label(p, "careful", true) },
	"label: careful is removed":       func(w *teamWeek, p *teamPull) bool { return w.label(p, "careful", false) },
	"label: quick (hostile)":          func(w *teamWeek, p *teamPull) bool { return w.label(p, "quick", true) },
	"a new policy on main":            changePolicy,
	"a person stands in":              func(w *teamWeek, p *teamPull) bool { return w.review(p, "dave", "APPROVED") },
	"a person requests changes":       func(w *teamWeek, p *teamPull) bool { return w.review(p, "dave", "CHANGES_REQUESTED") },
	"threads resolved by bob":         func(w *teamWeek, p *teamPull) bool { return w.onThread(p, func() bool { return w.resolve(p, "bob") }) },
	"dismissed by bob":                func(w *teamWeek, p *teamPull) bool { return w.onRefusal(p, func() bool { return w.dismiss(p, "bob") }) },
	"a person reruns":                 func(w *teamWeek, p *teamPull) bool { return w.rerunByHand(p, func(*attempt) bool { return true }) },
	"a run of the reviewer again":     startAnother,
	"sage is asked by its author (A)": askApp,
	"bob commands a rerun":            commandRerun,
	"bob accepts":                     func(w *teamWeek, p *teamPull) bool { return w.accept(p, "bob") },
	"dave's accept is too weak":       func(w *teamWeek, p *teamPull) bool { return w.accept(p, "dave") },
	"a filtered list lags":            hideRun,

	// what hostile people do
	"an objector is run again (A)": func(w *teamWeek, p *teamPull) bool {
		return w.rerunByHand(p, func(a *attempt) bool { return a.hasObjected() })
	},
	"an approver is run again, and dies (T46)": rerunToDeath,
	"an objector's new run waits (A)":          startWaiting,
	"a status goes back to pending (A)":        statusPending,
	"a status by another creator":              statusByAnother,
	"a check of the reviewer's name":           checkOfName,
	"a check of our name":                      checkOfOurs,
	"threads resolved by the author": func(w *teamWeek, p *teamPull) bool {
		return w.onThread(p, func() bool { return w.resolve(p, p.author) })
	},
	"threads resolved by the bot itself (D)": func(w *teamWeek, p *teamPull) bool {
		return w.onThread(p, func() bool { return w.resolve(p, "sage[bot]") })
	},
	"who pushed resolves or dismisses (E)": pusherEnds,
	"dismissed by the author": func(w *teamWeek, p *teamPull) bool {
		return w.onRefusal(p, func() bool { return w.dismiss(p, p.author) })
	},
	"dismissed by github-actions (F)": func(w *teamWeek, p *teamPull) bool {
		return w.onRefusal(p, func() bool { return w.dismiss(p, "github-actions[bot]") })
	},
	"a run of another base's copy (G)": runOfAnother,
	"a failed run is deleted (H)": func(w *teamWeek, p *teamPull) bool {
		return w.deleteRun(p, func(a *attempt) bool { return a.conclusion == "failure" })
	},
	"an objecting run and its text are deleted (H)": deleteObjection,
	"a run is deleted":                               func(w *teamWeek, p *teamPull) bool { return w.deleteRun(p, func(*attempt) bool { return true }) },
	"the author stands in (I)":                       func(w *teamWeek, p *teamPull) bool { return w.review(p, p.author, "APPROVED") },
	"who pushed another's commit stands in (I)":      pusherStandsIn,
	"a co-author stands in":                          coAuthorStandsIn,
	"a passer-by approves":                           func(w *teamWeek, p *teamPull) bool { return w.review(p, "mallory", "APPROVED") },
	"a bot approves":                                 func(w *teamWeek, p *teamPull) bool { return w.review(p, "tidy[bot]", "APPROVED") },
	"thirty-one passers-by request changes (Q)":      crowdAgainst,
	"to another base and back (J)":                   outAndBack,
	"to another base and back at once (J, T36)":      outAndBackAtOnce,
	"to another base for good (T36)":                 outForGood,
	"a fork opens the same head (T48)":               forkSameHead,
	"a stranger under a reviewer's heading":          strangersHeading,
	"a stranger with our marker":                     strangersMarker,
	"sixty-four long comments by a stranger":         longComments,
	"another branch's workflow says yes (T38)":       anotherBranchSays,
	"an old approval is moved by a force-push (T63)": moveApproval,
	"a late word about the old head (T41)":           lateWord,
	"a text that names a merge (T39)":                nameMerge,
	"the author accepts":                             func(w *teamWeek, p *teamPull) bool { return w.accept(p, p.author) },
	"a passer-by accepts":                            func(w *teamWeek, p *teamPull) bool { return w.accept(p, "mallory") },
	"a person commands and edits":                    editedCommand,
}

// moveNames are in an order that hangs on nothing.
func moveNames() (all []string) {
	for name := range teamMoves {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// move makes the next move that can be made now.
func (w *teamWeek) move(p *teamPull) {
	if p.closed {
		return
	}
	p.murky = true
	name := w.moves.draw(func(name string) bool {
		p.note("move: %s", name)
		if teamMoves[name](w, p) {
			return true
		}
		p.history = p.history[:len(p.history)-1]
		return false
	})
	if name != "" {
		w.count(p, name)
	}
}

func (a *attempt) hasObjected() bool {
	return slices.ContainsFunc(a.pull.objections, func(o *objection) bool { return o.attempt == a && !o.answered })
}

// A pushing is how a new head comes.
type pushing struct {
	by, to      string
	force, same bool
	moves       []string
	commit      sandbox.CommitSpec
}

// push pushes a head.
func (w *teamWeek) push(p *teamPull, how pushing) bool {
	if how.by == "" {
		how.by = p.author
	}
	name := how.to
	if name == "" {
		name = p.newHead()
	}
	before := p.head
	spec := sandbox.PushSpec{By: how.by, Force: how.force, Same: how.same, Moves: how.moves, Commit: how.commit}
	if w.g.Push(p.number, name, spec) != nil {
		return false
	}
	hands := append([]string{how.by, how.commit.Author}, how.commit.CoAuthors...)
	if !how.force { // the commits before stay in it
		hands = append(hands, p.hands[before]...)
	}
	p.hands[sandbox.SHA(name)] = append(p.hands[sandbox.SHA(name)], hands...)
	w.noteHead(p, before, sandbox.SHA(name), how.same)
	p.note("%s pushes %s (force %t, same diff %t)", how.by, p.head[:7], how.force, how.same)
	if p.dice.IntN(2) == 0 { // the workflows have a concurrency group
		for _, a := range p.attempts {
			if a.head == before && a.ended.IsZero() {
				w.endAttempt(a, "cancelled", "")
			}
		}
	}
	w.startReviewers(p)
	return true
}

// noteHead notes what a new head keeps.
func (w *teamWeek) noteHead(p *teamPull, before, head string, same bool) {
	carried := map[int]bool{}
	for place := range voices {
		if w.rules.carries && same && p.mayApproveAsLeft(place, w.clock) {
			carried[place] = true
		}
	}
	if _, known := p.lines[head]; !known {
		p.lines[head] = p.names
		if same {
			p.lines[head] = p.lines[before]
		}
	}
	if p.lines[head] != p.lines[before] {
		for _, o := range p.standing() {
			p.mustJudge[o.said.voice] = true
		}
	}
	for _, o := range p.objections {
		if o.lines == p.lines[head] && !o.answered && !o.ended { // back at what it objected to, the objection itself speaks
			delete(p.mustJudge, o.said.voice)
		}
	}
	p.head, p.carried, p.clock = head, carried, w.clock
	if !slices.Contains(p.heads, head) {
		p.heads = append(p.heads, head)
	}
}

func pushTwice(w *teamWeek, p *teamPull) bool {
	if !w.push(p, pushing{}) {
		return false
	}
	w.after(3*time.Second, func() {
		if !p.closed {
			w.push(p, pushing{})
		}
	})
	return true
}

func pushBack(w *teamWeek, p *teamPull) bool {
	if len(p.heads) < 2 {
		w.after(3*time.Minute, func() {
			if !p.closed && len(p.heads) > 1 {
				pushBack(w, p)
			}
		})
		return w.push(p, pushing{})
	}
	for _, head := range p.heads {
		if head != p.head {
			p.returned = true
			return w.push(p, pushing{to: head, force: true})
		}
	}
	return false
}

func makeDraft(w *teamWeek, p *teamPull) bool {
	if p.draft || w.g.ConvertToDraft(p.number, p.author) != nil {
		return false
	}
	p.draft = true
	w.after(time.Duration(30+p.dice.IntN(300))*time.Second, func() { w.turnReady(p) })
	return true
}

func closeAndReopen(w *teamWeek, p *teamPull) bool {
	if w.g.Close(p.number, p.author) != nil {
		return false
	}
	p.closed = true
	w.after(time.Duration(5+p.dice.IntN(90))*time.Second, func() {
		if p.merged || w.g.Reopen(p.number, p.author) != nil {
			return
		}
		p.closed, p.clock = false, w.clock
		w.happened(p, "reopens")
		w.startReviewers(p)
	})
	return true
}

func (w *teamWeek) label(p *teamPull, label string, on bool) bool {
	if slices.Contains(p.labels, label) == on {
		if on {
			return false
		}
		w.after(3*time.Minute, func() {
			if !p.closed && w.label(p, label, false) {
				w.happened(p, "and the label is gone")
			}
		})
		on = true
	}
	if on {
		p.labels = append(p.labels, label)
		return w.g.AddLabel(p.number, label, "trudy") == nil
	}
	p.labels = slices.DeleteFunc(p.labels, func(l string) bool { return l == label })
	return w.g.RemoveLabel(p.number, label, "trudy") == nil
}

// changePolicy asks for one approval more, or for one fewer again.
func changePolicy(w *teamWeek, p *teamPull) bool {
	first := teamPolicies[w.number%len(teamPolicies)].need
	if w.rules.need == first {
		w.rules.need++
	} else {
		w.rules.need = first
	}
	w.g.SetFile(policyFile, "", w.rules.yaml(fmt.Sprint("changed at ", w.clock)))
	for _, o := range w.pulls {
		if !o.closed {
			o.lookBy(w.clock)
			w.lookAtGroupsOf(o, 0)
			o.murky = true
		}
	}
	return true
}

func (w *teamWeek) review(p *teamPull, by, state string) bool {
	id, err := w.g.Review(p.number, sandbox.ReviewSpec{By: by, State: state})
	if err != nil {
		return false
	}
	p.people = append(p.people, &personReview{by: by, state: state, head: p.head, id: id, at: w.clock})
	return true
}

// appPlace is the place of the App.
func appPlace() int {
	return slices.IndexFunc(voices, func(v voice) bool { return v.kind == voiceApp })
}

// appObjections are those of the App that stand on GitHub.
func (p *teamPull) appObjections() (all []*objection) {
	for _, o := range p.objections {
		if o.said.voice == appPlace() && !o.said.gone && !o.ended {
			all = append(all, o)
		}
	}
	return all
}

func (w *teamWeek) resolve(p *teamPull, by string) bool {
	all := p.appObjections()
	if len(all) == 0 || w.g.ResolveThreads(p.number, "sage[bot]", by) != nil {
		return false
	}
	for _, o := range all {
		if p.isHuman(by) {
			o.ended, o.said.lapsed = true, true
		}
	}
	if p.isHuman(by) {
		delete(p.mustJudge, appPlace())
	}
	return true
}

// isHuman reports whether a person may end an objection: one who had no hand in the change and may write.
func (p *teamPull) isHuman(by string) bool {
	return !strings.HasSuffix(by, "[bot]") && !p.hadHand(by) && by != "mallory"
}

func (w *teamWeek) dismiss(p *teamPull, by string) bool {
	for _, o := range p.appObjections() {
		if o.said.id == 0 || w.g.DismissReview(o.said.id, by) != nil {
			continue
		}
		o.said.gone = true
		if p.isHuman(by) {
			o.ended = true
			delete(p.mustJudge, appPlace())
		}
		return true
	}
	return false
}

// newestEnded is the newest attempt on the head that has ended and that fits.
func (p *teamPull) newestEnded(isFit func(*attempt) bool) *attempt {
	for _, a := range slices.Backward(p.attempts) {
		if p.team.byRun[a.run] == a && a.head == p.head && !a.ended.IsZero() && !a.foreign && isFit(a) {
			return a
		}
	}
	return nil
}

func (w *teamWeek) rerunByHand(p *teamPull, isFit func(*attempt) bool) bool {
	a := p.newestEnded(isFit)
	if a == nil {
		return false
	}
	w.inHand = true
	defer func() { w.inHand = false }()
	if w.g.RerunByPerson(a.run, "alice") != nil {
		return false
	}
	p.note("alice reruns %s", voices[a.voice].name)
	p.clock = w.clock
	return true
}

func rerunToDeath(w *teamWeek, p *teamPull) bool {
	approves := func(a *attempt) bool {
		yes, no := p.saidIn(a)
		return yes && !no
	}
	if !w.rerunByHand(p, approves) {
		return false
	}
	a := p.attempts[len(p.attempts)-1]
	w.after(4*time.Second, func() { w.endAttempt(a, "failure", brokenInLog) })
	return true
}

func startAnother(w *teamWeek, p *teamPull) bool {
	place := p.dice.IntN(4)
	w.startRun(p, place, p.head, "yes")
	return true
}

func startWaiting(w *teamWeek, p *teamPull) bool {
	a := p.newestEnded(func(a *attempt) bool { return a.hasObjected() })
	if a == nil {
		return false
	}
	w.startRun(p, a.voice, p.head, "without a runner")
	return true
}

func askApp(w *teamWeek, p *teamPull) bool {
	if _, err := w.g.Comment(p.number, p.author, "@sage review"); err != nil {
		return false
	}
	p.clock = w.clock
	head := p.head
	w.after(time.Minute, func() { w.letAppAnswer(p, head) })
	return true
}

func commandRerun(w *teamWeek, p *teamPull) bool {
	if p.hadHand("bob") {
		return false
	}
	_, err := w.g.Comment(p.number, "bob", "/review-coordinator rerun")
	for place := range voices { // what a person commands is no rerun of ours
		p.reruns[voices[place].name+" "+p.head] = -9
		p.byHand[voices[place].name+" "+p.head] = -9
	}
	p.asks[p.head+" "+p.base] = -9
	p.clock = w.clock
	return err == nil
}

func (w *teamWeek) accept(p *teamPull, by string) bool {
	all := p.standing()
	if len(all) == 0 || w.stateOf(p.head, nameOf(p.base)) != "failure" {
		return false
	}
	if _, err := w.g.Comment(p.number, by, "/review-coordinator accept "+p.head[:10]+" it is known"); err != nil {
		return false
	}
	if w.rules.override && by == "bob" && !p.hadHand(by) {
		for _, o := range all {
			o.ended = true
			delete(p.mustJudge, o.said.voice)
		}
	}
	return true
}

func editedCommand(w *teamWeek, p *teamPull) bool {
	if len(p.standing()) == 0 {
		return false
	}
	id, err := w.g.Comment(p.number, "bob", "Let us see.")
	return err == nil && w.g.EditComment(id, "bob", "/review-coordinator accept "+p.head[:10]+" it is known") == nil
}

func hideRun(w *teamWeek, p *teamPull) bool {
	a := p.newestEnded(func(*attempt) bool { return true })
	if a == nil || w.g.HideRun(a.run, true) != nil {
		return false
	}
	w.after(time.Duration(1+p.dice.IntN(5))*time.Minute, func() {
		_ = w.g.HideRun(a.run, false) // it may be deleted by now
		w.happened(p, "the list shows all again")
	})
	return true
}

// statusPlace is the place of the reviewer by status.
func statusPlace() int {
	return slices.IndexFunc(voices, func(v voice) bool { return v.kind == voiceStatus })
}

func statusPending(w *teamWeek, p *teamPull) bool {
	_, err := w.g.SetStatus(sandbox.CommitStatus{Head: p.head, Context: "sonarqube", State: "pending", By: voices[statusPlace()].author})
	for _, s := range p.said {
		if s.voice == statusPlace() && s.head == p.head {
			s.gone = true
		}
	}
	head := p.head
	w.after(time.Duration(1+p.dice.IntN(12))*time.Minute, func() { w.setStatus(p, statusPlace(), head, p.dice.IntN(3) == 0) })
	return err == nil
}

func statusByAnother(w *teamWeek, p *teamPull) bool {
	_, err := w.g.SetStatus(sandbox.CommitStatus{Head: p.head, Context: "sonarqube", State: "success", By: "mallory"})
	return err == nil
}

func checkOfName(w *teamWeek, p *teamPull) bool {
	_, err := w.g.SetCheck(sandbox.CheckSpec{Name: "sonarqube", App: sandbox.App{Slug: "evil"}, Head: p.head, Conclusion: "success"})
	return err == nil
}

func checkOfOurs(w *teamWeek, p *teamPull) bool {
	_, err := w.g.SetCheck(sandbox.CheckSpec{Name: checkName, App: sandbox.App{Slug: "evil"}, Head: p.head, Conclusion: "success", Title: "6 of 6 approvals"})
	return err == nil
}

// pusherEnds lets who pushed to it end an objection.
func pusherEnds(w *teamWeek, p *teamPull) bool {
	if p.fork != "" || p.author == "bob" || p.draft || !w.push(p, pushing{by: "bob"}) {
		return false
	}
	w.after(3*time.Minute, func() {
		if !p.closed {
			w.onThread(p, func() bool { return w.resolve(p, "bob") })
			w.onRefusal(p, func() bool { return w.dismiss(p, "bob") })
		}
	})
	return true
}

// onThread does something about a thread of the App's, which opens one first if it has none.
func (w *teamWeek) onThread(p *teamPull, do func() bool) bool {
	return w.onObjection(p, "sage: opens a thread", do)
}

// onRefusal is onThread for a review that requests changes.
func (w *teamWeek) onRefusal(p *teamPull, do func() bool) bool {
	return w.onObjection(p, "sage: requests changes", do)
}

func (w *teamWeek) onObjection(p *teamPull, answer string, do func() bool) bool {
	if p.draft {
		return false
	}
	if do() {
		return true
	}
	w.sayAsApp(p, p.head, answer)
	w.after(time.Duration(1+p.dice.IntN(4))*time.Minute, func() {
		if !p.closed && do() {
			w.happened(p, "somebody ends what sage said, or tries to")
		}
	})
	return true
}

// runOfAnother opens another pull request of the same branch and head onto a base whose copy of the workflow says yes to
// anything.
func runOfAnother(w *teamWeek, p *teamPull) bool {
	if p.fork != "" || p.base == "evil" { // against which it would be a run like any other
		return false
	}
	number := 100_000 + p.number*10 + p.names
	if w.pull(number) != nil || p.dice == nil {
		return false
	}
	w.g.OpenPull(sandbox.PullSpec{
		Number: number, Head: p.head, Branch: p.branch, Base: "evil", Author: p.author, Files: []sandbox.ChangedFile{{Path: p.path}},
	})
	if err := w.g.Close(number, p.author); err != nil {
		return false
	}
	id, err := w.g.StartRun(sandbox.RunSpec{Workflow: voices[0].workflow(), Name: voices[0].name, PR: number})
	if err != nil {
		return false
	}
	a := &attempt{pull: p, voice: 0, run: id, number: 1, head: p.head, created: w.clock, begun: w.clock, foreign: true}
	p.attempts, w.byRun[id] = append(p.attempts, a), a
	w.after(20*time.Second, func() {
		if w.isAtWork(a) {
			_, _ = w.g.Comment(p.number, voices[0].author, w.words(a, wordsOfYes, p.dice.IntN(2) == 0))
			w.happened(p, "another base's copy of openai says yes here")
		}
	})
	w.after(40*time.Second, func() { w.endAttempt(a, "success", "") })
	return true
}

func (w *teamWeek) deleteRun(p *teamPull, isFit func(*attempt) bool) bool {
	a := p.newestEnded(isFit)
	if a == nil || w.g.DeleteRun(a.run) != nil {
		return false
	}
	p.note("the run of %s is deleted", voices[a.voice].name)
	p.deletedRuns[a.voice] = true
	if w.stateOf(p.head, nameOf(p.base)) == "" {
		// GITHUB_TOKEN's check stands in the oldest suite of Actions, and has gone with it: what only the record knew
		// nobody knows any more.
		w.counts["→ our check is deleted with a run"]++
		p.note("and our check with it")
		for _, o := range p.objections {
			o.seen = false
		}
		p.noRecord = true
		delete(p.reruns, voices[a.voice].name+" "+p.head) // of its rerun, too
	}
	for _, o := range p.attempts {
		if o.run == a.run && voices[a.voice].kind != voiceText { // with the run goes what it said
			for _, s := range p.said {
				if s.attempt == o {
					p.dropUnseen(s)
				}
			}
		}
	}
	return true
}

func deleteObjection(w *teamWeek, p *teamPull) bool {
	a := p.newestEnded(func(a *attempt) bool { return a.hasObjected() })
	if a == nil || !w.deleteRun(p, func(o *attempt) bool { return o == a }) {
		return false
	}
	p.note("with what it said")
	if s := p.lastOf(a); s != nil && voices[a.voice].kind == voiceText && w.g.DeleteComment(s.id) == nil {
		s.gone = true
		p.dropUnseen(s)
	}
	return true
}

func pusherStandsIn(w *teamWeek, p *teamPull) bool {
	if p.fork != "" || !w.push(p, pushing{by: "dave", commit: sandbox.CommitSpec{Author: "alice"}}) {
		return false
	}
	w.after(5*time.Minute, func() {
		if !p.closed && w.review(p, "dave", "APPROVED") {
			w.happened(p, "dave, who pushed it, approves")
		}
	})
	return true
}

func coAuthorStandsIn(w *teamWeek, p *teamPull) bool {
	if !w.push(p, pushing{commit: sandbox.CommitSpec{Author: p.author, CoAuthors: []string{"dave"}}}) {
		return false
	}
	w.after(5*time.Minute, func() {
		if !p.closed && w.review(p, "dave", "APPROVED") {
			w.happened(p, "dave, a co-author, approves")
		}
	})
	return true
}

func crowdAgainst(w *teamWeek, p *teamPull) bool {
	for i := range 31 {
		if !w.review(p, fmt.Sprintf("passer-%d", i), "CHANGES_REQUESTED") {
			return false
		}
	}
	return true
}

// retarget changes the base.
func (w *teamWeek) retarget(p *teamPull, base string) bool {
	if p.base == base || w.g.Retarget(p.number, base, p.author) != nil {
		return false
	}
	p.base, p.baseSince, p.clock = base, w.clock, w.clock
	p.carried = map[int]bool{}
	p.note("it is against %s", base)
	return true
}

func outAndBack(w *teamWeek, p *teamPull) bool {
	if !w.retarget(p, "stable") {
		return false
	}
	w.after(time.Duration(1+p.dice.IntN(10))*time.Minute, func() {
		if !p.closed && w.retarget(p, defaultBase) {
			w.happened(p, "and back")
			w.askAgain(p)
		}
	})
	return true
}

// askAgain closes and reopens, which starts the reviewers again.
func (w *teamWeek) askAgain(p *teamPull) {
	w.after(time.Duration(1+p.dice.IntN(4))*time.Minute, func() {
		if !p.closed {
			closeAndReopen(w, p)
		}
	})
}

func outAndBackAtOnce(w *teamWeek, p *teamPull) bool {
	if !w.retarget(p, "evil") {
		return false
	}
	w.after(time.Second, func() {
		if !p.closed && w.retarget(p, defaultBase) {
			w.happened(p, "and back")
		}
	})
	return true
}

// outForGood collects a green where it is easy to have, and carries it home.
func outForGood(w *teamWeek, p *teamPull) bool {
	if !w.retarget(p, "evil") {
		return false
	}
	w.askAgain(p)
	w.after(25*time.Minute, func() {
		if !p.closed && w.retarget(p, defaultBase) {
			w.happened(p, "and home")
		}
	})
	return true
}

func forkSameHead(w *teamWeek, p *teamPull) bool {
	number := 200_000 + p.number
	if w.pull(number) != nil {
		return false
	}
	spec := sandbox.PullSpec{
		Number: number, Head: p.head, Branch: "mine", Base: defaultBase, Author: "mallory", Fork: "mallory", Files: []sandbox.ChangedFile{{Path: p.path}},
	}
	if p.tooMany {
		spec.ChangedCount = 3001
	}
	w.g.OpenPull(spec)
	twin := newTeamPull(w, number, "mallory")
	twin.fork, twin.path, twin.tooMany, twin.head, twin.heads, twin.twin, twin.murky = "mallory", p.path, p.tooMany, p.head, []string{p.head}, p, true
	twin.lines[p.head] = p.lines[p.head]
	w.pulls = append(w.pulls, twin)
	w.happened(twin, "opened beside")
	w.after(time.Duration(1+p.dice.IntN(20))*time.Minute, func() {
		if w.g.Close(number, "mallory") == nil {
			twin.closed = true
			w.happened(twin, "the fork's pull request is closed")
			w.happened(p, "the fork's pull request is closed")
		}
	})
	return true
}

func strangersHeading(w *teamWeek, p *teamPull) bool {
	v := &voices[p.dice.IntN(2)]
	_, err := w.g.Comment(p.number, "mallory", fmt.Sprintf(wordsOfYes[0], v.heading, "\n\nReviewed commit: "+p.head))
	return err == nil
}

func strangersMarker(w *teamWeek, p *teamPull) bool {
	checks := w.g.OwnCheckRuns(p.head)
	if len(checks) == 0 {
		return false
	}
	_, err := w.g.Comment(p.number, "mallory", checks[0].Text) // our record, with all its marks
	return err == nil
}

// longComments are as long as GitHub takes them, and as many as make a page of an answer too large for it.
func longComments(w *teamWeek, p *teamPull) bool {
	body := fmt.Sprintf(wordsOfYes[0], voices[0].heading, strings.Repeat("\n\nThe total is not rounded where it is shown.", 1400))
	for range 64 {
		if _, err := w.g.Comment(p.number, "mallory", body); err != nil {
			return false
		}
	}
	return true
}

// anotherBranchSays lets a workflow of another branch comment as a reviewer, while none of its is under way.
func anotherBranchSays(w *teamWeek, p *teamPull) bool {
	place := p.dice.IntN(2)
	isNear := func(a *attempt) bool {
		return a.voice == place && (a.ended.IsZero() || w.clock.Sub(a.ended) < 2*time.Minute)
	}
	if slices.ContainsFunc(p.attempts, isNear) {
		return false
	}
	_, err := w.g.Comment(p.number, "github-actions[bot]", fmt.Sprintf(wordsOfYes[0], voices[place].heading, "\n\nReviewed commit: "+p.head))
	return err == nil
}

func moveApproval(w *teamWeek, p *teamPull) bool {
	hasApproved := slices.ContainsFunc(p.said, func(s *saidThing) bool {
		return s.voice == appPlace() && s.yes && s.head == p.head && !s.gone
	})
	p.moved = p.moved || hasApproved
	return hasApproved && w.push(p, pushing{force: true, moves: []string{"sage[bot]"}})
}

func lateWord(w *teamWeek, p *teamPull) bool {
	if !w.push(p, pushing{}) {
		return false
	}
	w.after(15*time.Second, func() { // it does not say which commit it has read
		if _, err := w.g.Comment(p.number, "sage[bot]", fmt.Sprintf(wordsOfYes[0], "## Review", "")); err == nil {
			w.happened(p, "sage says yes, and not to what")
		}
	})
	return true
}

func nameMerge(w *teamWeek, p *teamPull) bool {
	body := fmt.Sprintf(wordsOfYes[0], "## Review", "\n\nReviewed commit: "+sandbox.MergeSHA(p.head))
	_, err := w.g.Comment(p.number, "mallory", body)
	return err == nil
}
