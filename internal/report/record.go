package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The record travels in the text of our own check, as the first thing in it, so that no cut can reach it. It is JSON on
// one line in a fenced block: a JSON string holds no line break, so nothing that a stranger wrote can close the fence.

const (
	recordVersion = 1
	maxRecord     = 16 << 10
	maxBlock      = 32 << 10 // beyond it, findings are left out of the decision in the block: they follow as text
	hardMaxRecord = 48 << 10 // a record that cannot be made smaller than this forgets even runs: without a check nothing ends
	maxAnnotated  = 1000
	fenceOpening  = "```json"
	fenceClosing  = "```"
)

// blockContent is the first fenced block of a check's text: the part that tools read.
type blockContent struct {
	Record   quorum.Record   `json:"record"`
	Decision quorum.Decision `json:"decision"`
	Omitted  []string        `json:"omitted,omitempty"` // parts that the decision lacks, for want of room
}

// ParsedCheck is read from the text of a check of ours: it tells whether the pull request must be looked at again.
type ParsedCheck struct {
	Record   quorum.Record
	Decision struct {
		Verdict quorum.Verdict  `json:"verdict"`
		Reason  quorum.Reason   `json:"reason"`
		Trunk   string          `json:"trunk"`
		Wake    time.Time       `json:"wake"`
		Ballots json.RawMessage `json:"ballots"`
	}
}

// Ballots are those of the decision; none if this version cannot read them: whoever wants them can do without.
func (s ParsedCheck) Ballots() (ballots []quorum.Ballot) {
	if json.Unmarshal(s.Decision.Ballots, &ballots) != nil {
		return nil
	}
	return ballots
}

// ParseRecord reads the record in the text of a check of ours; false if there is none or it is not readable.
func ParseRecord(text string) (quorum.Record, bool) {
	rec, _, ok := parseBlock(text)
	return rec, ok
}

// ParseCheck reads the record and what was decided with it; false if either is not readable.
func ParseCheck(text string) (s ParsedCheck, ok bool) {
	rec, decision, ok := parseBlock(text)
	s.Record = rec
	return s, ok && json.Unmarshal(decision, &s.Decision) == nil
}

// parseBlock finds the block in a check's text.
func parseBlock(text string) (quorum.Record, json.RawMessage, bool) {
	fence := ""
	var body []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case fence == "" && strings.HasPrefix(line, fenceClosing):
			fence, body = line, nil
		case fence == "":
		case closesFence(line, fence):
			if fence == fenceOpening {
				if rec, decision, ok := decodeBlock(strings.Join(body, "\n")); ok {
					return rec, decision, true
				}
			}
			fence = ""
		case fence == fenceOpening:
			body = append(body, line)
		}
	}
	return quorum.Record{}, nil, false
}

// closesFence reports whether line closes the block that fence opened.
func closesFence(line, fence string) bool {
	ticks := len(fence) - len(strings.TrimLeft(fence, "`"))
	return len(line) >= ticks && strings.Trim(line, "`") == ""
}

func decodeBlock(text string) (quorum.Record, json.RawMessage, bool) {
	var b struct {
		Record   *quorum.Record  `json:"record"`
		Decision json.RawMessage `json:"decision"`
	}
	if json.Unmarshal([]byte(text), &b) != nil || b.Record == nil || b.Decision == nil || b.Record.Version != recordVersion {
		return quorum.Record{}, nil, false
	}
	return *b.Record, b.Decision, true
}

// encodeLine writes v as JSON on one line, with every character that could turn or hide text escaped.
func encodeLine[T blockContent | quorum.Record](v T) string {
	raw, err := json.Marshal(v)
	if err != nil { // unreachable unless a time lies beyond the year 9999
		return "{}"
	}
	return string(EscapeHidden(raw))
}

// EscapeHidden escapes in JSON every character beyond ASCII, and DEL, that could turn or hide text or that a terminal
// obeys. They stand nowhere but in its strings.
func EscapeHidden(text []byte) []byte {
	if bytes.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func isHidden(r rune) bool {
	return r >= 0x7F && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r))
}

// fitRecord makes rec small enough to be written: of limit bytes if that can be, of hardLimit in any case. What a
// decision rests on goes last: answered objections go and excerpts shrink, then the keys of annotations go, then the
// findings that are followed, then the oldest texts and approvals. Open circuits, which only delay, go before those keys.
// Runs, fixes, refusals, who was asked, what people said, intents, the identity of objections and the pass stay, unless
// GitHub would not take the check with them: what can make it red, of other diffs and of this one, goes after all else
// then, but for the pass, which is earned anew.
func fitRecord(rec quorum.Record, limit, hardLimit int) quorum.Record {
	if rec.Version == 0 {
		rec.Version = recordVersion
	}
	size := func() int { return len(encodeLine(rec)) }
	if size() <= limit {
		return rec
	}
	whole := rec
	for _, n := range []int{600, 300, 120, 40, 0} {
		rec = withExcerptsOf(whole, n)
		if size() <= limit {
			return rec
		}
	}
	// drop forgets as few as possible of n entries; keep says which part stays when k of them go.
	drop := func(n, most int, keep func(k int)) bool {
		k := sort.Search(n, func(k int) bool { keep(k); return size() <= most })
		keep(k)
		return size() <= most
	}
	if dropSpare(&rec, func(n int, keep func(k int)) bool { return drop(n, limit, keep) }) {
		return rec
	}
	for i := range rec.Objections {
		rec.Objections[i].URL = ""
	}
	answers := rec.Answers
	if drop(len(answers), limit, func(k int) { rec.Answers = answers[k:] }) || size() <= hardLimit {
		return rec
	}
	runs, intents, objections, refusals := rec.Runs, rec.Intents, rec.Objections, rec.Refusals
	commands := rec.Commands
	switch {
	case drop(len(runs), hardLimit, func(k int) { rec.Runs = runs[k:] }):
	case drop(len(refusals), hardLimit, func(k int) { rec.Refusals = refusals[k:] }):
	case drop(len(commands), hardLimit, func(k int) { rec.Commands = commands[k:] }):
	case drop(len(intents), hardLimit, func(k int) { rec.Intents = intents[k:] }):
	case drop(len(objections), hardLimit, func(k int) { rec.Objections = objections[k:] }):
	default:
		rec.Pass = nil // it is then earned anew
	}
	return rec
}

// dropSpare has parts of a record dropped that no decision needs, until it is short enough, and reports whether it is.
func dropSpare(rec *quorum.Record, drop func(n int, keep func(k int)) bool) bool {
	annotated, texts, stood, circuits := rec.Annotated, rec.Texts, rec.Stood, rec.Circuits
	open, before := rec.Open, rec.OpenBefore
	return drop(len(circuits), func(k int) { rec.Circuits = circuits[:len(circuits)-k] }) || // without one it is asked sooner
		// the newest keys go first: see [recordAnnotations]
		drop(len(annotated), func(k int) { rec.Annotated = annotated[:len(annotated)-k] }) ||
		drop(len(before), func(k int) { rec.OpenBefore = before[:len(before)-k] }) ||
		drop(len(open), func(k int) { rec.Open = open[:len(open)-k] }) ||
		drop(len(texts), func(k int) { rec.Texts = texts[k:] }) ||
		drop(len(stood), func(k int) { rec.Stood = stood[k:] })
}

// withExcerptsOf returns rec without answered objections, and with at most n bytes of each text of a stranger's. Its
// lists are its own.
func withExcerptsOf(rec quorum.Record, n int) quorum.Record {
	rec.Objections = slices.DeleteFunc(slices.Clone(rec.Objections), func(o quorum.Objection) bool { return o.Answered })
	for i := range rec.Objections {
		rec.Objections[i].Excerpt = cutBytes(rec.Objections[i].Excerpt, n)
	}
	rec.Answers, rec.Refusals = slices.Clone(rec.Answers), slices.Clone(rec.Refusals)
	rec.Commands = slices.Clone(rec.Commands)
	for i := range rec.Answers {
		rec.Answers[i].Excerpt = cutBytes(rec.Answers[i].Excerpt, n)
	}
	for i := range rec.Refusals {
		rec.Refusals[i].Detail = cutBytes(rec.Refusals[i].Detail, n)
	}
	for i := range rec.Commands {
		rec.Commands[i].Reason = cutBytes(rec.Commands[i].Reason, n)
	}
	rec.Fixes = slices.Clone(rec.Fixes)
	for i := range rec.Fixes {
		rec.Fixes[i].Detail = cutBytes(rec.Fixes[i].Detail, n)
	}
	if rec.People != nil {
		people := *rec.People
		people.Refused = slices.Clone(people.Refused)
		for i := range people.Refused {
			people.Refused[i].Detail = cutBytes(people.Refused[i].Detail, n)
		}
		rec.People = &people
	}
	if rec.Untold != nil {
		rec.Untold = &quorum.Untold{Reason: rec.Untold.Reason, Detail: cutBytes(rec.Untold.Detail, n)}
	}
	return rec
}

// jsonBlock returns the fenced block that opens a check's text. Where there is no room, long parts of the decision are
// left out step by step; the record never is.
func jsonBlock(d quorum.Decision, rec quorum.Record) string {
	b := blockContent{Record: rec, Decision: d}
	shorten := []struct {
		what string
		do   func(*quorum.Ballot)
	}{
		{"the findings' texts", func(x *quorum.Ballot) {
			x.Findings = slices.Clone(x.Findings)
			for i := range x.Findings {
				x.Findings[i].Body = ""
			}
		}},
		{"findings", func(x *quorum.Ballot) { x.Findings = nil }},
		{"answers, details and links", func(x *quorum.Ballot) { x.Answers, x.Detail, x.URL = nil, "", "" }},
	}
	text := ""
	try := func() bool {
		if hostileBytes(b.Decision) > maxBlock { // JSON only makes it longer, and it may be huge
			return false
		}
		text = encodeLine(b)
		return len(text) <= maxBlock
	}
	fits := try()
	for _, s := range shorten {
		if fits {
			break
		}
		b.Decision.Ballots = slices.Clone(b.Decision.Ballots)
		for i := range b.Decision.Ballots {
			s.do(&b.Decision.Ballots[i])
		}
		b.Omitted = append(b.Omitted, s.what)
		fits = try()
	}
	if text == "" || len(text) > max(maxBlock, len(encodeLine(rec))+maxBlock/4) {
		b.Decision.Ballots, b.Decision.StandIns, b.Decision.People, b.Decision.Siblings = nil, nil, nil, nil // Shared is bounded by us
		b.Decision.Lane = quorum.LaneChoice{Name: clipRunes(oneLine(b.Decision.Lane.Name), maxLaneWords)}
		b.Omitted = append(b.Omitted, "ballots", "stand_ins", "people", "siblings", "lane")
		text = encodeLine(b)
	}
	return fenceOpening + "\n" + text + "\n" + fenceClosing
}

// hostileBytes returns the length of all texts of strangers in d.
func hostileBytes(d quorum.Decision) (n int) {
	n = len(d.Lane.Name) + len(d.Lane.Why)
	for _, added := range d.Lane.Added {
		n += len(added.Name) + len(added.Why)
	}
	for _, not := range d.Lane.Not {
		n += len(not.Name) + len(not.Detail)
	}
	for _, b := range d.Ballots {
		n += len(b.Reviewer) + len(b.Detail) + len(b.URL)
		for _, f := range b.Findings {
			n += len(f.Path) + len(f.Body) + len(f.URL)
		}
		for _, a := range b.Answers {
			n += len(a)
		}
	}
	return n
}
