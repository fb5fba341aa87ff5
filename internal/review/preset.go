package review

// This file reads the sentences that a vendor's file, or the policy, lists.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A preset is a vendor's file, ready to be used.
type preset struct {
	vendorFile
	reviewer quorum.Reviewer
	shapes   compiledShapes
	wordless []shape
	commits  []func() *regexp.Regexp
}

// noPreset is the preset of a reviewer that the coordinator does not know.
var noPreset = &preset{}

func presetOf(name string) *preset {
	if load := presets[name]; load != nil {
		return load()
	}
	return noPreset
}

// Preset returns the reviewer that name stands for, with everything that a policy may override.
func Preset(name string) (r quorum.Reviewer, known bool) {
	p := presetOf(name)
	if p == noPreset {
		return r, false
	}
	r = p.reviewer
	r.Events, r.Obeys, r.Guard = slices.Clone(r.Events), slices.Clone(r.Obeys), slices.Clone(r.Guard)
	return r, true
}

// PresetNote returns one line about a preset: its verdict format and what it posts.
func PresetNote(name string) string { return presetOf(name).Note }

// NeedsWorkflow reports whether a preset is a workflow, whose path the policy must name.
func NeedsWorkflow(name string) bool { return presetOf(name).Workflow }

// A document is a text as a reviewer's: its lines, and the shapes that are looked for in them.
type document struct {
	Page
	reviewer   quorum.Reviewer
	preset     *preset
	shapes     []*compiledShapes
	statements []string // of each line; "" where it is hidden, blank or too long
	end        int      // the line behind which only older reviews stand
}

func newDocument(r quorum.Reviewer, p Page) *document {
	d := &document{Page: p, reviewer: r, preset: presetOf(r.Preset), statements: make([]string, len(p.lines)), end: len(p.lines)}
	if d.preset != noPreset && r.Verdict.Kind == d.preset.reviewer.Verdict.Kind {
		d.shapes = append(d.shapes, &d.preset.shapes)
	}
	if !r.Shapes.IsZero() {
		if own, err := compileShapes(r.Shapes); err == nil { // a policy with a broken shape does not load
			own.origin = "policy"
			d.shapes = append(d.shapes, &own)
		}
	}
	for i, l := range p.lines {
		if l.visibility == hidden || l.text == "" || len(l.text) > maxMatchedLine {
			continue
		}
		item, _ := listItem(strings.TrimSpace(l.text))
		d.statements[i] = statementOf(item)
	}
	if mark := d.preset.History; mark != "" {
		for i, c := range p.comments {
			if strings.Contains(lowerASCII(c[:min(len(c), 400)]), mark) {
				d.end = p.commentLines[i]
				break
			}
		}
	}
	d.Page.lines = p.lines[:d.end]
	return d
}

// presetRuling is the ruling of a preset's own sentences.
type presetRuling struct {
	ruling
	inline bool // the findings that it counts are its inline comments
	noOpen bool // it approves only if none of the reviewer's threads is open
	lists  bool // its clean texts list places, too
	veto   bool // it objects by a veto, which no approval contradicts
}

// ruleSentences returns the ruling of the vendor's sentences; silent if none is listed.
func (d *document) ruleSentences() (s presetRuling) {
	s.lists = d.preset.ListsPlaces
	for i, l := range d.lines {
		if d.statements[i] == "" {
			continue
		}
		got := d.ruleSentence(i, l)
		switch {
		case got.vote == silent:
		case s.vote == silent, got.veto && !s.veto:
			got.lists = s.lists
			s = got
		case s.veto:
		case s.vote != got.vote:
			s.ruling = ruling{vote: yesAndNo, detail: shortQuote(s.detail + " / " + got.detail), rule: got.rule, line: i}
		default:
			s.noOpen, s.inline = s.noOpen || got.noOpen, s.inline && got.inline
			if got.vote == approves {
				s.line = i
			}
		}
	}
	return s
}

// ruleSentence returns the ruling of line i.
func (d *document) ruleSentence(i int, l pageLine) (got presetRuling) {
	words := d.statements[i]
	rule := func(v vote, list int, source string) ruling {
		return ruling{vote: v, detail: shortQuote(l.text), rule: d.ruleName(list, source), line: i}
	}
	if source, count, ok := d.matchLine(listVetoes, i); ok && !isZero(count) {
		return presetRuling{ruling: rule(objects, listVetoes, source), veto: true}
	}
	if l.visibility == quoted {
		return got
	}
	if source, count, ok := d.matchLine(listCounts, i); ok && !isZero(count) {
		return presetRuling{ruling: rule(objects, listCounts, source), inline: d.preset.CountsInline}
	} else if ok && l.visibility == inView && !isDeceptive(l.text) && !strings.ContainsAny(l.text, crosses) {
		return presetRuling{ruling: rule(approves, listCounts, source)}
	}
	if source, count, ok := d.matchLine(listObjects, i); ok && !isZero(count) {
		return presetRuling{ruling: rule(objects, listObjects, source), inline: d.preset.CountsInline && count != ""}
	}
	if l.visibility != inView || isDeceptive(l.text) || words == "" || strings.ContainsAny(l.text, crosses) {
		return got
	}
	if source, _, ok := d.matchLine(listIfSettled, i); ok {
		return presetRuling{ruling: rule(approves, listIfSettled, source), noOpen: true}
	}
	if source, _, ok := d.matchLine(listApproves, i); ok {
		return presetRuling{ruling: rule(approves, listApproves, source)}
	}
	return got
}

// matchLine finds the first shape of a list that line i has.
func (d *document) matchLine(list, i int) (source, count string, ok bool) {
	for _, set := range d.shapes {
		if source, count, ok = set.matchStatement(list, d.statements[i], d.lines[i].level > 0); ok {
			return source, count, true
		}
	}
	return "", "", false
}

// ruleName names the shape that decided, and the file in which it stands.
func (d *document) ruleName(list int, source string) string {
	for _, set := range d.shapes {
		if slices.ContainsFunc(set.lists[list], func(s shape) bool { return s.source == source }) {
			return set.origin + " " + shapeListNames[list] + ": " + source
		}
	}
	return ""
}

// isZero reports whether a count that was read is none; one that was not read is not.
func isZero(count string) bool {
	if count == "no" || count == "zero" {
		return true
	}
	n, err := strconv.Atoi(strings.ReplaceAll(count, ",", ""))
	return err == nil && n == 0
}

// isWordless reports whether a review without inline comments is one by which its vendor says that it has nothing to say:
// it holds all of the lines that the vendor's file lists for that.
func (d *document) isWordless() (line int, ok bool) {
	if len(d.preset.Wordless) == 0 || len(d.shapes) == 0 {
		return 0, false
	}
	for _, want := range d.preset.wordless {
		at := slices.IndexFunc(d.statements[:d.end], func(s string) bool { _, ok := want.match(s); return ok })
		if at < 0 || d.lines[at].visibility != inView {
			return 0, false
		}
		line = max(line, at)
	}
	return line, true
}

// isReply reports whether a text is an answer in a conversation, which may repeat anything on request and is no review.
func (d *document) isReply() bool {
	return d.preset.ReplyMarker != "" &&
		slices.ContainsFunc(d.comments, func(c string) bool { return strings.Contains(lowerASCII(c), d.preset.ReplyMarker) })
}

// isOther reports whether a text is one of the vendor's that are no reviews.
func (d *document) isOther() bool {
	seen := 0
	for i := range d.lines {
		if d.statements[i] == "" {
			continue
		}
		if _, _, ok := d.matchLine(listOther, i); ok {
			return true
		}
		if seen++; seen == 12 {
			break
		}
	}
	return false
}
