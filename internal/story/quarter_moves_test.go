package story_test

// What may happen to a pull request of the quarter: how its reviewers answer, and what people do. Every answer and every
// move has a name, under which it is counted.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A deck is drawn from in turns, so that everything in it happens, however few draw.
type deck struct{ names []string }

func newDeck(seed uint64, offset int, names []string) deck {
	names = slices.Clone(names)
	r := rand.New(rand.NewPCG(seed, 77))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	offset %= len(names)
	return deck{slices.Concat(names[offset:], names[:offset])}
}

// draw takes the first that can be had, and puts it at the end.
func (d *deck) draw(isFit func(name string) bool) string {
	i := slices.IndexFunc(d.names, isFit)
	if i < 0 {
		return ""
	}
	name := d.names[i]
	d.names = append(slices.Delete(d.names, i, i+1), name)
	return name
}

// unusualAnswers are those of runs that are neither a plain yes nor a plain no.
var unusualAnswers = []string{
	"silent", "green and empty", "503, then well", "503 twice", "a limit with a reset", "a limit without a reset", "malformed",
	"hangs", "no key", "is cancelled", "no, and works on", "yes, then fails", "no, edited into a yes", "no, deleted", "yes, deleted",
	"yes, edited by somebody", "held", "without a runner", "fails for no reason", "yes of another head", "skipped", "no, replaced by a yes",
}

// isFor reports whether a voice can answer so.
func isFor(answer string, kind voiceKind) bool {
	switch answer {
	case "malformed", "no, and works on", "yes, then fails", "no, deleted", "yes, deleted":
		return kind == voiceText || kind == voiceArtifact
	case "no, edited into a yes", "yes, edited by somebody", "yes of another head":
		return kind == voiceText
	case "no, replaced by a yes":
		return kind == voiceArtifact
	default:
		return true
	}
}

func newTeamPull(w *teamWeek, number int, author string) *teamPull {
	return &teamPull{
		number: number, author: author, base: defaultBase, team: w, dice: rand.New(rand.NewPCG(w.seed, uint64(number))),
		lines: map[string]int{}, carried: map[int]bool{}, mustJudge: map[int]bool{}, deletedRuns: map[int]bool{},
		fixes: map[string]int{}, asks: map[string]int{}, reruns: map[string]int{},
		byHand: map[string]int{}, path: "cart.go", branch: fmt.Sprintf("feature-%d", number),
		hands: map[string][]string{}, opened: w.clock, baseSince: w.clock, clock: w.clock,
	}
}

// openPull opens the next pull request, and lets things happen to it.
func (w *teamWeek) openPull(number int) {
	d := rand.New(rand.NewPCG(w.seed, uint64(number)))
	p := newTeamPull(w, number, []string{"alice", "alice", "erin", "bob"}[d.IntN(4)])
	p.dice = d
	files := []sandbox.ChangedFile{}
	kind := "a branch"
	switch n := d.IntN(24); {
	case w.isAttack():
		p.author, p.fork, kind, p.forced = "mallory", "mallory", "a fork", map[int]string{0: "503 twice"}
	case w.isWatched() && w.isOut(): // whether its outage counts is beyond doubt
	case n == 0:
		p.author, p.fork, kind = "mallory", "mallory", "a fork"
	case n == 1:
		p.author, kind = "dependabot[bot]", "a robot"
	case n == 2:
		p.path, kind = "docs/cart.md", "docs alone"
	case n == 3:
		p.path, kind = "migrations/7.sql", "a migration"
	case n == 4:
		p.path, kind = guardedFile, "a reviewer's workflow is changed"
	case n == 5:
		p.path, p.tooMany, kind = "docs/cart.md", true, "three thousand and one files"
	case n == 6:
		p.path, kind = "cart.go", "code renamed into docs"
		files = append(files, sandbox.ChangedFile{Path: "docs/cart.go", Previous: "cart.go", Status: "renamed"})
	case n == 7:
		p.draft, kind = true, "a draft"
	}
	if len(files) == 0 {
		files = append(files, sandbox.ChangedFile{Path: p.path})
	}
	spec := sandbox.PullSpec{
		Number: number, Head: p.newHead(), Branch: p.branch, Author: p.author, Draft: p.draft, Fork: p.fork, Files: files,
	}
	if p.tooMany {
		spec.ChangedCount = 3001
	}
	w.g.OpenPull(spec)
	p.head = sandbox.SHA(spec.Head)
	p.heads = []string{p.head}
	p.lines[p.head] = p.names
	w.pulls = append(w.pulls, p)
	w.counts["opened: "+kind]++
	w.happened(p, "opened as "+p.head[:7]+": "+kind)
	if w.isCalm(p) || w.makeNeedy(p) {
		return
	}
	w.makeStubborn(p)
	w.startReviewers(p)
	for range [...]int{0, 0, 0, 1, 2, 2, 3, 4, 5, 6}[d.IntN(10)] {
		w.after(time.Duration(10+d.IntN(25*60))*time.Second, func() { w.move(p) })
	}
	if p.draft {
		w.after(time.Duration(5+d.IntN(30))*time.Minute, func() { w.turnReady(p) })
	}
}

// newHead names a commit that nobody has named.
func (p *teamPull) newHead() string {
	p.names++
	return fmt.Sprintf("p%dh%d", p.number, p.names)
}

func (w *teamWeek) turnReady(p *teamPull) {
	if !p.draft || p.closed || w.g.MarkReady(p.number, p.author) != nil {
		return
	}
	p.draft, p.clock = false, w.clock
	w.count(p, "marks it as ready")
	w.startReviewers(p)
}

// count counts a move and has it looked at.
func (w *teamWeek) count(p *teamPull, move string) {
	w.counts[move]++
	w.happened(p, move)
}

// startReviewers lets the reviewers begin with the head, as an event of the pull request makes them.
func (w *teamWeek) startReviewers(p *teamPull) {
	usual := p.dice.IntN(3) == 0 // nothing unusual is said of it
	for place := range voices {
		answer := "yes"
		unusual := !usual && p.dice.IntN(3) == 0
		switch {
		case p.dice.IntN(16) == 0:
			answer = "no"
		case unusual && voices[place].hasRuns():
			answer = w.answers.draw(func(name string) bool { return isFor(name, voices[place].kind) })
		case p.fork != "" && voices[place].hasRuns() && p.dice.IntN(2) == 0:
			answer = []string{"no key", "held"}[p.dice.IntN(2)]
		}
		if forced := p.forced[place]; forced != "" {
			answer, unusual = forced, false
		}
		if w.isOut() && place == 0 && !p.calm {
			answer = duringOutage
			w.counts["an outage of openai, over pull requests"]++
		}
		head := p.head
		delay := time.Duration(1+p.dice.IntN(40)) * time.Second
		switch {
		case voices[place].hasRuns():
			w.after(delay, func() { w.startRun(p, place, head, answer) })
		case voices[place].kind == voiceApp:
			if unusual && p.dice.IntN(2) == 0 {
				w.counts["sage: silent until it is asked"]++
				continue
			}
			w.after(delay+time.Duration(p.dice.IntN(120))*time.Second, func() { w.letAppAnswerAs(p, head, answer) })
		default:
			w.after(delay+time.Duration(p.dice.IntN(120))*time.Second, func() { w.setStatus(p, place, head, answer == "no") })
		}
	}
	p.forced = nil
}

func (w *teamWeek) isOut() bool {
	return slices.ContainsFunc(w.outages, func(o [2]time.Time) bool { return w.clock.After(o[0]) && w.clock.Before(o[1]) })
}

// startRun starts a run of a reviewer's workflow on the head.
func (w *teamWeek) startRun(p *teamPull, place int, head, answer string) {
	v := &voices[place]
	if p.closed || p.head != head {
		return
	}
	w.counts["answer: "+answer]++
	if answer == "silent" {
		p.note("%s starts nothing", v.name)
		return
	}
	spec := sandbox.RunSpec{Workflow: v.workflow(), Name: v.name, PR: p.number}
	switch answer {
	case "held":
		spec.Conclusion = "action_required"
	case "skipped":
		spec.Conclusion = "skipped"
	case "without a runner":
		spec.Status = "queued"
	}
	id, err := w.g.StartRun(spec)
	if err != nil {
		w.fail(p, "start %s: %v", v.name, err)
		return
	}
	a := &attempt{pull: p, voice: place, run: id, number: 1, head: head, created: w.clock, begun: w.clock, answer: answer}
	p.attempts, w.byRun[id] = append(p.attempts, a), a
	if spec.Conclusion != "" {
		a.ended, a.conclusion = w.clock, spec.Conclusion
	}
	p.note("%s starts (%s)", v.name, answer)
	w.lookSometimes(p)
	w.letAnswer(a, answer)
}

// lookSometimes has a pull request looked at for an event that is worth little: not each run that starts is.
func (w *teamWeek) lookSometimes(p *teamPull) {
	if p.dice.IntN(4) == 0 {
		p.lookBy(w.clock.Add(time.Duration(1+p.dice.IntN(10)) * time.Second))
	}
}

// hearRerun lets a run that is run again answer, and checks that we ran it again but once.
func (w *teamWeek) hearRerun(run int64, number int) {
	before := w.byRun[run]
	if before == nil {
		return
	}
	p, v := before.pull, &voices[before.voice]
	w.noteCancel(before)
	key := v.name + " " + before.head
	if w.inHand {
		p.byHand[key]++
	} else {
		w.checkRerun(p, before, key)
	}
	a := &attempt{pull: p, voice: before.voice, run: run, number: number, head: before.head, created: before.created, begun: w.clock, foreign: before.foreign}
	p.attempts, w.byRun[run] = append(p.attempts, a), a
	answer := "yes"
	switch n := p.dice.IntN(10); {
	case w.isOut() && before.voice == 0 && !p.calm:
		if answer = duringOutage; n < 3 && w.isWatched() {
			answer = "hangs"
		}
	case before.answer == "503, then well":
	case p.calm && before.answer == "hangs":
		answer = "hangs"
	case before.answer == "503 twice", n == 0:
		answer = "503 twice"
	case n == 1:
		answer = "no"
	case n == 2:
		answer = "green and empty"
	case n == 3 && isFor("malformed", v.kind):
		answer = "malformed"
	}
	w.counts["answer of a second attempt: "+answer]++
	a.answer = answer
	w.after(6*time.Second, func() { w.letAnswer(a, answer) })
}

// checkRerun checks that we spend the one rerun once, on what has ended without a verdict.
func (w *teamWeek) checkRerun(p *teamPull, before *attempt, key string) {
	name := voices[before.voice].name
	p.note("we run %s again", name)
	w.counts["→ reruns"]++
	w.checkPassage(p, before, p.reruns[key]+1 < 0)
	p.reruns[key]++
	switch yes, no := p.saidIn(before); {
	case p.reruns[key] < 0: // a person has commanded it
	case p.reruns[key] == 2 && p.returned && slices.ContainsFunc(p.attempts, func(a *attempt) bool { // cancelled when the head was left
		return a.voice == before.voice && a.head == before.head && a.number > 1 && a.conclusion == "cancelled"
	}): // which gave its rerun back
	case p.reruns[key] > 1:
		w.fail(p, "%s is run again a second time on one head", name)
	case p.byHand[key] > 0 && before.number > 1 && !p.deletedRuns[before.voice]:
		w.fail(p, "%s is run again although somebody had done so", name)
	case yes && !no && !w.isAmbiguous(before):
		w.fail(p, "%s is run again although it has approved", name)
	}
}

// isAmbiguous reports whether another run of the reviewer was under way beside an attempt.
func (w *teamWeek) isAmbiguous(a *attempt) bool {
	return slices.ContainsFunc(a.pull.attempts, func(o *attempt) bool {
		isOver := !o.ended.IsZero() && !o.ended.Add(time.Minute).After(a.begun)
		isLater := !a.ended.IsZero() && !o.begun.Before(a.ended.Add(time.Minute))
		return o.voice == a.voice && o.run != a.run && !isOver && !isLater
	})
}

// letAnswer lets an attempt go as its name tells.
func (w *teamWeek) letAnswer(a *attempt, answer string) {
	d := a.pull.dice
	say := time.Duration(20+d.IntN(100)) * time.Second
	end := say + time.Duration(1+d.IntN(20))*time.Second
	ends := func(after time.Duration, conclusion, log string) {
		w.after(after, func() { w.endAttempt(a, conclusion, log) })
	}
	says := func(after time.Duration, yes, no bool) { w.after(after, func() { w.sayAs(a, yes, no) }) }
	switch answer {
	case "yes":
		says(say, true, false)
		ends(end, "success", "")
	case "no":
		says(say, false, true)
		ends(end, map[bool]string{true: "failure", false: "success"}[voices[a.voice].kind == voiceConclusion], "")
	case "green and empty":
		ends(end, map[bool]string{true: "neutral", false: "success"}[voices[a.voice].kind == voiceConclusion], "")
	case "503, then well", "503 twice", duringOutage:
		ends(end, "failure", outageInLog)
	case "a limit with a reset":
		ends(end, "failure", limitInLog)
	case "a limit without a reset":
		ends(end, "failure", quotaInLog)
	case "malformed":
		says(say, false, false)
		ends(end, "success", "")
	case "hangs":
		if d.IntN(3) == 0 {
			says(teamTimeout+2*time.Minute, true, false)
			ends(teamTimeout+3*time.Minute, "success", "")
			return
		}
		ends(3*time.Hour, "failure", "")
	case "no key":
		ends(end, "failure", missingInLog)
	case "is cancelled":
		ends(end, "cancelled", "")
		w.after(end, func() { a.pull.murky = true })
	case "no, and works on":
		says(say, false, true)
		ends(say+time.Duration(3+d.IntN(6))*time.Minute, "success", "")
	case "yes, then fails":
		says(say, true, false)
		ends(end+time.Minute, "failure", brokenInLog)
	case "fails for no reason":
		ends(end, "failure", brokenInLog)
	case "yes of another head":
		w.after(say, func() { w.sayOfAnother(a) })
		ends(end, "success", "")
	case "without a runner":
		if d.IntN(2) == 0 {
			w.after(time.Minute, func() {
				if w.g.StartJobs(a.run) == nil {
					a.begun = w.clock
					w.letAnswer(a, "yes")
				}
			})
			return
		}
		ends(4*time.Hour, "cancelled", "")
	default:
		w.letTextChange(a, answer, say, end)
	}
}

// letTextChange lets an attempt answer with a text that somebody changes afterwards.
func (w *teamWeek) letTextChange(a *attempt, answer string, say, end time.Duration) {
	p := a.pull
	isNo := strings.HasPrefix(answer, "no")
	w.after(say, func() { w.sayAs(a, !isNo, isNo) })
	works := end
	isWithin := answer == "no, edited into a yes" || answer == "no, replaced by a yes"
	if isWithin {
		works += 2 * time.Minute
	}
	w.after(works, func() { w.endAttempt(a, "success", "") })
	after := works + time.Duration(30+p.dice.IntN(400))*time.Second
	if isWithin {
		after = say + time.Duration(15+p.dice.IntN(80))*time.Second
	}
	w.after(after, func() {
		s := p.lastOf(a)
		if s == nil {
			return
		}
		switch answer {
		case "no, edited into a yes":
			if w.g.EditComment(s.id, "github-actions[bot]", w.words(a, wordsOfYes, true)) == nil {
				s.gone, p.murky = true, true
				p.said = append(p.said, &saidThing{voice: a.voice, head: a.head, at: w.clock, yes: true, attempt: a})
				p.dropUnseen(s)
				s.no = slices.ContainsFunc(p.objections, func(o *objection) bool { return o.said == s })
				w.happened(p, voices[a.voice].name+"'s no is edited into a yes")
			}
		case "no, replaced by a yes":
			content := fmt.Sprintf(artifactVerdict, a.head, p.base, a.run, a.number, "approve", "", p.path)
			if _, err := sandbox.UploadArtifact(w.g, a.run, sandbox.ArtifactUpload{Name: "review-verdict", Content: content, Overwrite: true}); err == nil {
				s.gone, p.murky = true, true
				p.said = append(p.said, &saidThing{voice: a.voice, head: a.head, at: w.clock, yes: true, attempt: a})
				p.dropUnseen(s)
				w.happened(p, voices[a.voice].name+"'s no is replaced by a yes")
			}
		case "no, deleted", "yes, deleted":
			p.murky = true
			if w.removeWords(s, a) == nil {
				// What was read stands from the record; beside an objection that stands a yes is not kept.
				s.gone = voices[a.voice].kind != voiceArtifact || p.draft || !p.lookedAt.After(s.at) || p.hasUnanswered(a.voice)
				p.dropUnseen(s)
				w.happened(p, voices[a.voice].name+"'s words are deleted")
			}
		case "yes, edited by somebody":
			if w.g.EditComment(s.id, "mallory", w.words(a, wordsOfYes, true)) == nil {
				s.gone, p.murky = true, true
				w.happened(p, "mallory edits the words of "+voices[a.voice].name)
			}
		}
	})
}

func (w *teamWeek) removeWords(s *saidThing, a *attempt) error {
	if voices[a.voice].kind == voiceArtifact {
		return sandbox.DeleteArtifacts(w.g, a.run)
	}
	return w.g.DeleteComment(s.id)
}

// lastOf is what an attempt said last and what still stands.
func (p *teamPull) lastOf(a *attempt) *saidThing {
	for _, s := range slices.Backward(p.said) {
		if s.attempt == a && !s.gone && s.id != 0 {
			return s
		}
	}
	return nil
}

// dropUnseen forgets an objection that no look has seen and that nobody can see any more.
func (p *teamPull) dropUnseen(s *saidThing) {
	p.objections = slices.DeleteFunc(p.objections, func(o *objection) bool { return o.said == s && !o.seen })
	if !slices.ContainsFunc(p.objections, func(o *objection) bool { return o.said == s }) {
		s.no = false
	}
}

// words are a text of a reviewer's, which names its commit or not.
func (w *teamWeek) words(a *attempt, of []string, named bool) string {
	commit := ""
	if named {
		commit = "\n\nReviewed commit: " + a.head + "\n"
	}
	heading := voices[a.voice].heading
	if heading == "" {
		heading = "## Review"
	}
	return fmt.Sprintf(of[a.pull.dice.IntN(len(of))], heading, commit)
}

// isAtWork reports whether an attempt can still say something.
func (w *teamWeek) isAtWork(a *attempt) bool {
	state, err := w.g.StateOfRun(a.run)
	return err == nil && state.Attempt == a.number && state.Status == "in_progress"
}

// sayAs lets an attempt say its verdict, or neither.
func (w *teamWeek) sayAs(a *attempt, yes, no bool) {
	p, v := a.pull, &voices[a.voice]
	if !w.isAtWork(a) || p.closed {
		return
	}
	yes = yes && !(v.kind == voiceArtifact && p.tooMany) // nobody can tell whether it read every file
	s := &saidThing{voice: a.voice, head: a.head, at: w.clock, yes: yes, no: no, attempt: a}
	named := p.dice.IntN(2) == 0
	switch v.kind {
	case voiceText:
		of := wordsOfNeither
		if yes {
			of = wordsOfYes
		} else if no {
			of = wordsOfNo
		}
		s.id, _ = w.g.Comment(p.number, v.author, w.words(a, of, named))
	case voiceArtifact:
		verdict, findings := "approve", ""
		if no {
			verdict, findings = "request_changes", artifactFinding
		}
		content := fmt.Sprintf(artifactVerdict, a.head, p.base, a.run, a.number, verdict, findings, p.path)
		if !yes && !no {
			content = w.words(a, wordsOfNeither, false)
		}
		s.id, _ = sandbox.UploadArtifact(w.g, a.run, sandbox.ArtifactUpload{Name: "review-verdict", Content: content, Overwrite: true})
	default:
		return // its conclusion tells
	}
	w.noteHealth(a, false)
	p.said = append(p.said, s)
	word := map[bool]string{true: "yes", false: map[bool]string{true: "no", false: "neither"}[no]}[yes]
	w.happened(p, v.name+" says "+word)
	if no {
		w.object(s, named)
	}
}

// sayOfAnother lets an attempt say a yes that names another commit.
func (w *teamWeek) sayOfAnother(a *attempt) {
	if !w.isAtWork(a) {
		return
	}
	other := *a
	other.head = sandbox.SHA("another of " + a.head)
	_, _ = w.g.Comment(a.pull.number, voices[a.voice].author, w.words(&other, wordsOfYes, true))
	w.happened(a.pull, voices[a.voice].name+" says yes to another head")
}

// object notes a no that must stand, if there can be no doubt whom it belongs to.
func (w *teamWeek) object(s *saidThing, named bool) {
	p, a := s.attempt.pull, s.attempt
	isAnswered := slices.ContainsFunc(p.attempts, func(o *attempt) bool { // by a newer attempt, before it was said
		yes, no := p.saidIn(o)
		return o.voice == a.voice && o.head == a.head && o.begun.After(a.begun) && yes && !no
	})
	if isAnswered || a.head != p.head || a.foreign || a.created.Before(p.baseSince) || voices[s.voice].kind == voiceText && !named && w.isAmbiguous(a) {
		return
	}
	p.objections = append(p.objections, &objection{said: s, lines: p.lines[p.head], base: p.base, attempt: a})
}

// endAttempt ends an attempt, unless somebody else has.
func (w *teamWeek) endAttempt(a *attempt, conclusion, log string) {
	p, v := a.pull, &voices[a.voice]
	ended, err := w.g.FinishRun(a.run, sandbox.Finish{Conclusion: conclusion, Log: log, Attempt: a.number})
	if err != nil || !ended {
		return
	}
	a.ended, a.conclusion = w.clock, conclusion
	w.noteHealth(a, log == outageInLog)
	if v.kind == voiceConclusion {
		s := &saidThing{voice: a.voice, head: a.head, at: w.clock, attempt: a, yes: conclusion == "success", no: conclusion == "failure"}
		if s.no && log != "" {
			s.no, p.murky = false, true // what it says of itself is no finding, and may be taken for one
		}
		if s.yes || s.no {
			p.said = append(p.said, s)
		}
		if s.no {
			w.object(s, true)
		}
	}
	if yes, no := p.saidIn(a); yes && !no && a.head == p.head {
		p.answer(a.voice, a)
	}
	w.happened(p, fmt.Sprintf("%s ends as %s", v.name, conclusion))
}

// letAppAnswer lets the App review a head.
func (w *teamWeek) letAppAnswer(p *teamPull, head string) {
	answers := []string{"sage: requests changes", "sage: opens a thread", "sage: neither"}
	if n := p.dice.IntN(14); n < len(answers) {
		w.sayAsApp(p, head, answers[n])
	} else {
		w.sayAsApp(p, head, "sage: approves")
	}
}

// letAppAnswerAs is letAppAnswer where the answer may be known before.
func (w *teamWeek) letAppAnswerAs(p *teamPull, head, answer string) {
	switch {
	case answer == "silent":
	case answer == "no":
		w.sayAsApp(p, head, "sage: requests changes")
	case p.calm:
		w.sayAsApp(p, head, "sage: approves")
	default:
		w.letAppAnswer(p, head)
	}
}

// sayAsApp lets the App review a head in one of its ways.
func (w *teamWeek) sayAsApp(p *teamPull, head, answer string) {
	if p.closed || p.draft || p.head != head {
		return
	}
	place := appPlace()
	spec := sandbox.ReviewSpec{By: voices[place].author, Commit: head}
	s := &saidThing{voice: place, head: head, at: w.clock}
	switch answer {
	case "sage: requests changes":
		spec.State, s.no = "CHANGES_REQUESTED", true
	case "sage: opens a thread":
		s.no = true
		spec.Comments = []sandbox.LineComment{{Path: p.path, Line: 6, Body: "The total is not rounded here."}}
	case "sage: neither":
		spec.Body = fmt.Sprintf(wordsOfNeither[p.dice.IntN(len(wordsOfNeither))], "## Review", "")
	default:
		spec.State, s.yes = "APPROVED", true
	}
	id, err := w.g.Review(p.number, spec)
	if err != nil {
		w.fail(p, "%s: %v", answer, err)
		return
	}
	s.id = id
	w.counts[answer]++
	delete(p.carried, place)
	p.said = append(p.said, s)
	if s.no {
		p.objections = append(p.objections, &objection{said: s, lines: p.lines[p.head], base: p.base})
	}
	if s.yes {
		p.answer(place, nil)
	}
	w.happened(p, answer)
}

// setStatus sets the status of a head.
func (w *teamWeek) setStatus(p *teamPull, place int, head string, fails bool) {
	if p.closed || p.head != head {
		return
	}
	state := map[bool]string{true: "failure", false: "success"}[fails]
	if _, err := w.g.SetStatus(sandbox.CommitStatus{Head: head, Context: "sonarqube", State: state, By: voices[place].author}); err != nil {
		w.fail(p, "set status: %v", err)
		return
	}
	s := &saidThing{voice: place, head: head, at: w.clock, yes: !fails, no: fails}
	delete(p.carried, place)
	p.said = append(p.said, s)
	if fails {
		p.objections = append(p.objections, &objection{said: s, lines: p.lines[p.head], base: p.base})
	} else {
		p.answer(place, nil)
	}
	w.counts["sonar: "+state]++
	w.happened(p, "sonar: "+state)
}
