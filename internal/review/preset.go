package review

// This file defines presets, and reads the sentences that they list.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A preset is a reviewer that the coordinator knows. It is data: the code that reads it is the same for all.
type preset struct {
	reviewer      quorum.Reviewer
	note          string       // its verdict format and what it posts, for the policy reference
	workflow      bool         // it is a workflow, whose path only the user knows
	marks         []string     // in small letters: each of its reviews holds one of them
	noticesQuoted bool         // its notices, and the lines that name its commit, stand in block quotes
	notices       messageTable // its lines and HTML comments that say why there is no review
	working       []pattern    // its lines that say that it is still working
	otherTexts    []pattern    // texts of it that are no review
	replyMark     string       // an HTML comment in its answers in a conversation, which are no reviews
	clean         []pattern    // lines that approve
	counts        []pattern    // lines that count: none approves, more object. Group 1 is the number, or "no"
	countsInline  bool         // the findings that it counts are its inline comments
	hiddenCounts  []pattern    // lines that count findings without a thread: more than none objects
	scored        bool         // "Confidence Score: n/5"
	listsPlaces   bool         // its clean texts list places, too: suppressed comments, or a walk through the files
	commit        pattern      // its own way to name the commit, in small letters
}

func presetOf(name string) (preset, bool) {
	for _, p := range presets {
		if name != "" && p.reviewer.Preset == name {
			return p, true
		}
	}
	return preset{}, false
}

// Preset returns the reviewer that name stands for, with everything that a policy may override.
func Preset(name string) (quorum.Reviewer, bool) {
	p, ok := presetOf(name)
	r := p.reviewer
	r.Events, r.Guard = slices.Clone(r.Events), slices.Clone(r.Guard)
	return r, ok
}

// Presets returns the names of all presets, sorted.
func Presets() []string {
	names := make([]string, 0, len(presets))
	for _, p := range presets {
		names = append(names, p.reviewer.Preset)
	}
	slices.Sort(names)
	return names
}

// PresetNote returns one line about a preset: its verdict format and what it posts.
func PresetNote(name string) string {
	p, _ := presetOf(name)
	return p.note
}

// NeedsWorkflow reports whether a preset is a workflow, whose path the policy must name.
func NeedsWorkflow(name string) bool {
	p, _ := presetOf(name)
	return p.workflow
}

// presetRuling is the ruling of a preset's own sentences.
type presetRuling struct {
	ruling
	inline bool
	noOpen bool
	lists  bool
}

// A preset's own sentences stand in the first or the last lines of a text.
const (
	sentencesHead = 150
	sentencesTail = 50
)

// ruleSentences returns the ruling of the preset's sentences in p; silent if the policy chose another format.
func (pre preset) ruleSentences(r quorum.Reviewer, p Page) (s presetRuling) {
	if pre.reviewer.Preset == "" || r.Verdict.Kind != pre.reviewer.Verdict.Kind ||
		len(pre.clean)+len(pre.counts)+len(pre.hiddenCounts) == 0 && !pre.scored {
		return s
	}
	s.lists = pre.listsPlaces
	for i, l := range p.lines {
		if l.visibility != inView && l.visibility != doubtful || l.text == "" || len(l.text) > maxMatchedLine {
			continue
		}
		if i > sentencesHead && i < len(p.lines)-sentencesTail {
			continue
		}
		got := pre.readSentence(l)
		switch {
		case got.vote == silent, got.vote == approves && l.visibility != inView:
		case s.vote == silent:
			got.lists = pre.listsPlaces
			s = got
		case s.vote != got.vote:
			s = presetRuling{ruling: ruling{vote: yesAndNo, detail: shortQuote(s.detail + " / " + got.detail)}}
		default:
			s.noOpen, s.inline = s.noOpen || got.noOpen, s.inline && got.inline
		}
	}
	return s
}

// readSentence returns the ruling of one line.
func (pre preset) readSentence(l pageLine) presetRuling {
	words := plainWords(strings.TrimSpace(l.text))
	if words == "" {
		return presetRuling{}
	}
	if pre.scored {
		if m := scoreLine.findGroups(words); m != nil {
			return rulingOfScore(m[1], shortQuote(l.text))
		}
	}
	for _, c := range pre.counts {
		if m := c.findGroups(words); m != nil {
			detail := shortQuote(l.text)
			n, err := strconv.Atoi(m[1])
			switch {
			case m[1] == "no" || err == nil && n == 0:
				return presetRuling{ruling: ruling{vote: approves, detail: detail}}
			case err == nil:
				return presetRuling{ruling: ruling{vote: objects, detail: detail}, inline: pre.countsInline}
			}
			return presetRuling{ruling: ruling{vote: unclear, detail: detail}}
		}
	}
	for _, c := range pre.hiddenCounts {
		if m := c.findGroups(words); m != nil && strings.Trim(m[1], "0") != "" {
			return presetRuling{ruling: ruling{vote: objects, detail: shortQuote(l.text)}}
		}
	}
	for _, c := range pre.clean {
		if c.matches(words) && !conditionWords.MatchString(words) && !isDeceptive(l.text) {
			return presetRuling{ruling: ruling{vote: approves, detail: shortQuote(l.text)}}
		}
	}
	return presetRuling{}
}

var scoreLine = rx(`^confidence score: ?(\d{1,2}) ?/ ?5\.?$`, "confidence score")

// rulingOfScore returns the ruling of Greptile's score: five approves, four too if none of its threads is open, less objects.
func rulingOfScore(n, detail string) presetRuling {
	switch n {
	case "5":
		return presetRuling{ruling: ruling{vote: approves, detail: detail}}
	case "4":
		return presetRuling{ruling: ruling{vote: approves, detail: detail}, noOpen: true}
	case "0", "1", "2", "3":
		return presetRuling{ruling: ruling{vote: objects, detail: detail}}
	}
	return presetRuling{ruling: ruling{vote: unclear, detail: detail}}
}

// isReply reports whether a text is an answer in a conversation, which may repeat anything on request and is no review.
func (pre preset) isReply(p Page) bool {
	return pre.replyMark != "" &&
		slices.ContainsFunc(p.comments, func(c string) bool { return strings.Contains(lowerASCII(c), pre.replyMark) })
}

// isOther reports whether a text is one of the preset's that are no reviews.
func (pre preset) isOther(p Page) bool {
	if len(pre.otherTexts) == 0 {
		return false
	}
	lines := noticeLines(p, false)
	for _, l := range lines[:min(len(lines), 12)] {
		words := plainWords(strings.TrimSpace(l.text))
		for _, o := range pre.otherTexts {
			if o.matches(words) {
				return true
			}
		}
	}
	return false
}

// hasMarks reports whether a text holds one of the words that each review of the preset holds.
func (pre preset) hasMarks(body string) bool {
	if len(pre.marks) == 0 {
		return true
	}
	body = lowerASCII(body)
	return slices.ContainsFunc(pre.marks, func(m string) bool { return strings.Contains(body, m) })
}
