package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Here stands
// what the loop is; fixloop.go says when it goes on and when it ends, followed.go which findings are new.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// NoFixLabel is the label that keeps fixes from being started for a pull request. Whoever may label may set it: it only
// stops a machine.
const NoFixLabel = "no-fix"

// FixRepeat is how long GitHub may take to list a fix run of which no answer told before it is started once more.
const FixRepeat = 2 * time.Minute

// FixPatience is how long a fix may take to push. What it pushes later begins a new cycle all the same.
const FixPatience = time.Hour

// maxFixTries is how often a fix is started at most: the second time because the answer to the first was lost.
const maxFixTries = 2

// FixRunName is how the workflow must name the fix run for a head against a base, by which it is known.
func FixRunName(number int, head, base string) string {
	return fmt.Sprintf("fix #%d %s %s", number, head, base)
}

// ParseFixRunName reads the name of a fix run; the number is 0 if it is none.
func ParseFixRunName(name string) (number int, head, base string) {
	digits, subject, _ := strings.Cut(strings.TrimPrefix(name, "fix #"), " ")
	head, base, _ = strings.Cut(subject, " ")
	number, err := strconv.Atoi(digits)
	isHead := len(head) >= 7 && len(head) <= 64 && strings.Trim(head, "0123456789abcdef") == ""
	isPlain := isHead && base != "" && !strings.Contains(base, " ")
	if err != nil || number < 1 || !isPlain || name != FixRunName(number, head, base) {
		return 0, "", ""
	}
	return number, head, base
}

// maxFixWords are the bytes of one reviewer's words about a finding that are sent to a fix, if there is room.
const maxFixWords = 4000

// FindingsJSON returns the findings as JSON of at most room bytes, once it is a string within JSON. Words are shortened
// first, then the last findings left out; more is the address at which all of it stands.
func (o FixOrder) FindingsJSON(more string, room int) string {
	var doc struct {
		Findings []OpenFinding `json:"findings"`
		Total    int           `json:"total"`
		More     string        `json:"more,omitempty"` // address of the check that tells all
	}
	doc.Total, doc.More = CountOpen(o.Findings), more
	text := ""
	for _, words := range []int{maxFixWords, 1000, 300, 80, 0} {
		doc.Findings = withShortWords(o.Findings, words)
		if text = encodeJSON(doc); len(encodeJSON(text)) <= room {
			return text
		}
	}
	for len(doc.Findings) > 0 && len(encodeJSON(text)) > room {
		doc.Findings = doc.Findings[:len(doc.Findings)*3/4]
		text = encodeJSON(doc)
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
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
