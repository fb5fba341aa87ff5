package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Here stands
// what the loop is; fixloop.go says when it goes on and when it ends, followed.go which findings are new.

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// NoFixLabel is the label that keeps fixes from being started. Whoever may label may set it: it only stops a machine.
const NoFixLabel = "no-fix"

// FixRepeat is how long GitHub may take to list a fix run of which no answer told before it is started once more.
const FixRepeat = 2 * time.Minute

// FixPatience is how long a fix may take to push. What it pushes later begins a new cycle all the same.
const FixPatience = time.Hour

// maxFixTries is how often a fix is started at most: the second time because the answer to the first was lost.
const maxFixTries = 2

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
