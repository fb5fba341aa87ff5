package review

// This file reads the sentences that a vendor's file, or the policy, lists.

import (
	"slices"
	"strings"
)

type presetRuling struct {
	ruling
	inline bool // the findings that it counts are its inline comments
	count  int  // how many it counts; 0 if that is not known
	noOpen bool // it approves only if none of the reviewer's threads is open
	veto   bool // it objects by a veto, which no approval contradicts
}

// ruleSentences returns the ruling of the vendor's sentences; silent if none is listed.
func (d *document) ruleSentences() (s presetRuling) {
	for i, l := range d.lines {
		if d.statements[i] == "" {
			continue
		}
		switch got := d.ruleSentence(i, l); {
		case got.vote == silent, s.veto:
		case s.vote == silent, got.veto:
			s = got
		case s.vote != got.vote:
			s.ruling = ruling{vote: yesAndNo, detail: shortQuote(s.detail + " / " + got.detail), rule: got.rule, line: i}
		default:
			s.noOpen, s.inline = s.noOpen || got.noOpen, s.inline && got.inline
			s.count = max(s.count, got.count)
			if got.vote == approves {
				s.line = i
			}
		}
	}
	return s
}

// sentenceVotes are the votes of a vendor's lists, in the order in which they are looked for in a line.
var sentenceVotes = [...]struct {
	list int
	vote vote
}{
	{listVetoes, objects},
	{listCounts, objects},
	{listCounts, approves},
	{listObjects, objects},
	{listIfSettled, approves},
	{listApproves, approves},
}

func (d *document) ruleSentence(i int, l pageLine) presetRuling {
	for _, v := range sentenceVotes {
		veto := v.list == listVetoes
		if !veto && l.visibility == quoted || v.vote == approves && !d.mayApprove(l) {
			continue
		}
		ofZero := v.list == listCounts && v.vote == approves
		s, count, ok := d.shapeAt(v.list, i, func(count string) bool { return isZero(count) == ofZero })
		if !ok {
			continue
		}
		got := presetRuling{
			ruling: ruling{vote: v.vote, detail: shortQuote(l.text), rule: s.rule, line: i},
			veto:   veto, noOpen: v.list == listIfSettled,
		}
		if v.vote == objects && !veto {
			got.inline, got.count = d.preset.CountsInline && count != "", countOf(count)
		}
		return got
	}
	return presetRuling{}
}

// isWordless reports whether a review without inline comments is one by which its vendor says that it has nothing to say:
// it holds all of the lines that the vendor's file lists for that, in plain view, and no heading besides.
func (d *document) isWordless() (line int, ok bool) {
	if len(d.preset.Wordless) == 0 || !d.readsPreset() {
		return 0, false
	}
	seen := make([]bool, len(d.preset.Wordless))
	for i, l := range d.lines {
		at := slices.IndexFunc(d.preset.Wordless, func(s shape) bool {
			_, ok := s.match(d.statements[i])
			return ok && (!s.heading || l.level > 0)
		})
		switch {
		case at >= 0 && l.visibility == inView && !l.folded:
			seen[at], line = true, i
		case l.level > 0 && l.visibility != hidden: // a section that speaks for itself: "Needs a closer look"
			return 0, false
		}
	}
	return line, !slices.Contains(seen, false)
}

// readsPreset reports whether the vendor's shapes are looked for: not where the policy names another format.
func (d *document) readsPreset() bool { return len(d.shapes) > 0 && d.shapes[0] == &d.preset.shapes }

// knowsCleanWords reports whether it is known how the vendor says that all is well. A count of zero in other words is then
// of a part, or stands beside a verdict that nobody knows yet. What a workflow writes its prompt decides.
func (d *document) knowsCleanWords() bool {
	lists := d.preset.shapes.lists
	knows := len(lists[listApproves])+len(lists[listCounts])+len(d.preset.Wordless) > 0
	return knows && d.readsPreset() && !d.preset.Workflow && !d.preset.FreeWords
}

// onlyIntroduces reports whether a review says nothing but what introduces its comments on the diff: headings, sentences that
// its vendor's file lists, and small print.
func (d *document) onlyIntroduces() bool {
	for i, l := range d.lines {
		if l.visibility == hidden || l.level > 0 || l.folded || strings.TrimSpace(l.text) == "" || isFooter(l.text) {
			continue
		}
		words := d.statements[i]
		isKnown := isOneOf(d.preset.Introduces, words) || isOneOf(d.preset.Wordless, words)
		if l.visibility == quoted || !isKnown {
			return false
		}
	}
	return true
}

// isReply reports whether a text is an answer in a conversation, which may repeat anything on request and is no review.
func (d *document) isReply() bool {
	return d.preset.ReplyMarker != "" &&
		slices.ContainsFunc(d.comments, func(c string) bool { return strings.Contains(lowerASCII(c), d.preset.ReplyMarker) })
}
