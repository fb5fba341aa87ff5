package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Each start
// is earned by an objection that stands, each diff has one, and a loop that gets nowhere stops and asks for a person.
//
// Findings are followed over the heads of a pull request, to see whether it gets anywhere. A finding is the same one if it
// is the same thread, or in the same file at the same place or in the same words: a fix moves lines, and a reviewer words
// a thing anew each time.

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

const (
	NoFixLabel  = "no-fix"        // no fix is started for what has it; whoever may label may set it: it only stops a machine
	FixRepeat   = 2 * time.Minute // for GitHub to list a fix run of which no answer told, before it is started once more
	FixPatience = time.Hour       // for a fix to push; what it pushes later begins a new cycle all the same
	maxFixTries = 2               // starts of a fix: the second time because the answer to the first was lost
)

// fixRunName matches how the workflow must name the fix run for a pull request's head against a base.
var fixRunName = lazy.Regexp(`^fix #([1-9][0-9]{0,8}) ([0-9a-f]{7,64}) ([^ ]+)$`)

// ParseFixRunName reads the name of a fix run; the number is 0 if it is none.
func ParseFixRunName(name string) (number int, head, base string) {
	m := fixRunName().FindStringSubmatch(name)
	if m == nil {
		return 0, "", ""
	}
	number, _ = strconv.Atoi(m[1]) // unreachable: it is one
	return number, m[2], m[3]
}

// FindingsJSON returns the findings as JSON of at most room bytes, once it is a string within JSON. Words are shortened
// first, then the last findings left out; more is the address at which all of it stands.
func (o FixOrder) FindingsJSON(more string, room int) (text string) {
	var doc struct {
		Findings []OpenFinding `json:"findings"`
		Total    int           `json:"total"`
		More     string        `json:"more,omitempty"` // address of the check that tells all
	}
	doc.Total, doc.More = CountOpen(o.Findings), more
	fits := func() bool {
		text = encodeJSON(doc)
		return len(encodeJSON(text)) <= room
	}
	for _, words := range []int{4000, 1000, 300, 80, 0} { // bytes of one reviewer's about a finding
		if doc.Findings = withShortWords(o.Findings, words); fits() {
			return text
		}
	}
	for !fits() && len(doc.Findings) > 0 {
		doc.Findings = doc.Findings[:len(doc.Findings)*3/4]
	}
	return text
}

func encodeJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil { // unreachable: strings and numbers
		return "{}"
	}
	return string(raw)
}

// withShortWords returns findings with at most n bytes of each reviewer's words, without what cannot be seen.
func withShortWords(all []OpenFinding, n int) []OpenFinding {
	out := append([]OpenFinding{}, all...)
	for i := range out {
		f := &out[i]
		f.Path, f.Said = shortText(f.Path, 300), slices.Clone(f.Said)
		for j := range f.Said {
			f.Said[j].Body = shortText(f.Said[j].Body, n)
		}
	}
	return out
}

// shortText returns at most n bytes of a text, without characters that turn or hide text.
func shortText(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// NeedsPerson reports whether the loop of fixes has ended without a pass: then only a person goes on.
func (d *Decision) NeedsPerson() bool { return d.Loop != nil && d.Loop.State == LoopOver }

// scheduleFix says how the loop of fixes stands, and orders the fix that is due.
func (d *Decision) scheduleFix(p Policy, f Facts, now time.Time) {
	if p.Fix.Workflow == "" || f.Fix == nil {
		return
	}
	l := Loop{State: LoopIdle, Made: f.Fix.Made, Max: p.Fix.MaxRestarts}
	if d.Verdict != Blocked || d.Objections == 0 {
		if l.Made > 0 {
			d.Loop = &l
		}
		return
	}
	l.Open = followFindings(d.Ballots, f.Fix.Known, f.Fix.ByFix)
	if f.Fix.ByFix {
		l.Before = f.Fix.Before
	}
	end := f.Start.Add(p.Deadline) // an attempt that objected and never ends holds up nothing for ever
	maySayMore := func(b *Ballot) bool { return b.UnderWay || b.Reason == ReasonLookingAgain }
	switch {
	case f.Fix.Here != nil:
		d.followFix(&l, p, f, now)
	case f.Fix.Not != "":
		l.State, l.Reason, l.Detail = LoopNone, f.Fix.Not, f.Fix.Detail
	case now.Before(end) && slices.ContainsFunc(votersWith(d.Ballots, Object), maySayMore):
		l.State, l.Until = LoopWaiting, end
		d.wakeBy(end)
	case !f.Fix.Listed:
		l.State = LoopWaiting // unreachable unless a look did not read what it needs
	case l.Before > 0 && CountOpen(l.Open) >= l.Before:
		l.State, l.Reason = LoopOver, ReasonFixNoFewer
	case l.Made >= l.Max:
		l.State, l.Reason = LoopOver, ReasonFixMax
	default:
		d.orderFix(&l, p, f)
	}
	d.Loop = &l
}

func (d *Decision) orderFix(l *Loop, p Policy, f Facts) {
	l.State = LoopDue
	d.Effects.Fix = &FixOrder{
		Workflow: p.Fix.Workflow, Branch: f.Fix.Branch, Head: f.Head, Base: f.Base, Findings: l.Open,
	}
}

// followFix says what became of the fix for this diff.
func (d *Decision) followFix(l *Loop, p Policy, f Facts, now time.Time) {
	run, seen := f.Fix.Here, f.Fix.Seen
	l.State, l.At, l.Run, l.Until = LoopRunning, run.At, run.Run, run.At.Add(FixPatience)
	over := func(at time.Time, why Reason) {
		if now.Before(at) {
			d.wakeBy(at)
			return
		}
		l.State, l.Reason, l.Until = LoopOver, why, time.Time{}
	}
	repeat, without := run.At.Add(FixRepeat), ReasonFixNoPush
	if run.Head != f.Head && f.Fix.ByFix {
		without = ReasonFixSameDiff
	}
	switch {
	case run.Refused != "":
		l.State, l.Reason, l.Detail, l.Until = LoopOver, run.Refused, run.Detail, time.Time{}
	case seen != nil:
		l.Run, l.URL = seen.ID, seen.URL
		if seen.Ended { // the new head may show a moment later
			l.Until = seen.Updated.Add(ReplicaLag)
		}
		over(l.Until, without)
	case run.Run != 0, run.Sent, !f.Fix.Listed: // it is known what became of the start, or was not asked
		over(l.Until, without)
	case now.Before(repeat), run.Tries >= maxFixTries, f.Fix.Not != "",
		run.Head != f.Head: // it was for an earlier head with this diff, and is started no more
		over(repeat, ReasonFixLost)
	default:
		d.orderFix(l, p, f)
	}
}

// FixDue is since when a fix could have been started: since the last objection was said.
func (d *Decision) FixDue() time.Time {
	at := d.Start
	for _, b := range votersWith(d.Ballots, Object) {
		at = laterOf(at, b.Since)
	}
	return at
}

const (
	maxTracked = 30 // open findings of a head that are remembered
	nearLines  = 3  // how many lines apart two findings of one place may be
)

// followFindings returns what the voters among ballots object to, by place, each with how it came to be open.
func followFindings(ballots []Ballot, known []Tracked, byFix bool) (all []OpenFinding) {
	for _, b := range votersWith(ballots, Object) {
		for _, f := range b.Findings {
			if !f.Below {
				all = withFinding(all, b.Reviewer, f)
			}
		}
		if b.CountFindings() == 0 { // it objects, and names nothing
			all = append(all, OpenFinding{Said: []FixWords{{Reviewer: b.Reviewer, Body: b.Detail, URL: b.URL}}})
		}
	}
	state := FindingNew
	if byFix {
		state = FindingByFix
	}
	for i := range all {
		if all[i].State = state; slices.ContainsFunc(known, all[i].isTracked) {
			all[i].State = FindingAgain
		}
	}
	return all
}

// withFinding returns all with one more finding, joined to the one of its place.
func withFinding(all []OpenFinding, reviewer string, f Finding) []OpenFinding {
	words := FixWords{Reviewer: reviewer, Severity: f.Severity.String(), Body: f.Body, URL: f.URL}
	isHere := func(o OpenFinding) bool { return f.Path != "" && o.Path == f.Path && areNear(o.Line, f.Line) }
	at := slices.IndexFunc(all, isHere)
	if at < 0 {
		at, all = len(all), append(all, OpenFinding{Path: f.Path, Line: f.Line})
	}
	all[at].Said = append(all[at].Said, words)
	all[at].more += f.More
	if f.Thread != 0 {
		all[at].threads = append(all[at].threads, f.Thread)
	}
	return all
}

// areNear reports whether two lines are of one place; 0 is no line.
func areNear(a, b int) bool { return a > 0 && b > 0 && a-b <= nearLines && b-a <= nearLines }

// isTracked reports whether f is the finding that a record remembers.
func (f *OpenFinding) isTracked(t Tracked) bool {
	hasWords := func(w FixWords) bool { return digestWords(w.Body) == t.Words }
	isOfThread := t.Thread != 0 && slices.Contains(f.threads, t.Thread)
	return isOfThread || t.File == digestText(f.Path) && (areNear(t.Line, f.Line) || slices.ContainsFunc(f.Said, hasWords))
}

// TrackFindings returns findings as a record remembers them, the first ones of many.
func TrackFindings(all []OpenFinding) (tracked []Tracked) {
	for _, f := range all[:min(len(all), maxTracked)] {
		t := Tracked{File: digestText(f.Path), Line: f.Line, Words: digestWords(f.Said[0].Body)}
		if len(f.threads) > 0 {
			t.Thread = f.threads[0]
		}
		tracked = append(tracked, t)
	}
	return tracked
}

// digestText is a short digest of a text; "" of none.
func digestText(text string) string {
	if text == "" {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return fmt.Sprintf("%08x", h.Sum32())
}

// digestWords is a short digest of a text's letters: another line number or other marks make no other finding of it.
func digestWords(text string) string {
	text = text[:min(len(text), 400)] // as much as tells it from others
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return digestText(strings.Join(words, " "))
}
