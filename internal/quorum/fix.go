package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Each start
// is earned by an objection that stands, each diff has one, and a loop that gets nowhere stops and asks for a person.

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	NoFixLabel  = "no-fix"        // no fix is started for what has it; whoever may label may set it: it only stops a machine
	FixRepeat   = 2 * time.Minute // for GitHub to list a fix run of which no answer told, before it is started once more
	FixPatience = time.Hour       // for a fix to push; what it pushes later begins a new cycle all the same
	maxFixTries = 2               // starts of a fix: the second time because the answer to the first was lost
)

// fixRunName matches how the workflow must name the fix run for a pull request's head against a base.
var fixRunName = regexp.MustCompile(`^fix #([1-9][0-9]{0,8}) ([0-9a-f]{7,64}) ([^ ]+)$`)

// ParseFixRunName reads the name of a fix run; the number is 0 if it is none.
func ParseFixRunName(name string) (number int, head, base string) {
	m := fixRunName.FindStringSubmatch(name)
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
		Workflow: p.Fix.Workflow, Branch: f.Fix.Branch, Number: f.PR.Number, Head: f.Head, Base: f.Base, Findings: l.Open,
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
