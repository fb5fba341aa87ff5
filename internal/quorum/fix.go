package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Here stands
// what the loop is; fixloop.go says when it goes on and when it ends, followed.go which findings are new.

import (
	"encoding/json"
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

// RunName is how the workflow must name the run.
func (o FixOrder) RunName() string { return FixRunName(o.Number, o.Head, o.Base) }

// FixRunName is the name of the fix run for a head of a pull request against a base, by which it is known.
func FixRunName(number int, head, base string) string {
	return fixNamePrefix(number) + head + " " + base
}

// maxFixWords are the bytes of one reviewer's words about a finding that are sent to a fix, if there is room.
const maxFixWords = 4000

// fixDocument is what a fix is told of the findings.
type fixDocument struct {
	Findings []OpenFinding `json:"findings"`
	Total    int           `json:"total"`
	More     string        `json:"more,omitempty"` // address of the check that tells all
}

// FindingsJSON returns the findings as JSON of at most room bytes, once it is a string within JSON. Words are shortened
// first, then the last findings left out; more is the address at which all of it stands.
func (o FixOrder) FindingsJSON(more string, room int) string {
	doc := fixDocument{Total: CountOpen(o.Findings), More: more}
	text := ""
	for _, words := range []int{maxFixWords, 1000, 300, 80, 0} {
		doc.Findings = withShortWords(o.Findings, words)
		if text = encodeFix(doc); quotedLen(text) <= room {
			return text
		}
	}
	for len(doc.Findings) > 0 && quotedLen(text) > room {
		doc.Findings = doc.Findings[:len(doc.Findings)*3/4]
		text = encodeFix(doc)
	}
	return text
}

func encodeFix(doc fixDocument) string {
	raw, err := json.Marshal(doc)
	if err != nil { // unreachable: strings and numbers
		return "{}"
	}
	return string(raw)
}

// quotedLen is how many bytes text takes as a string within JSON.
func quotedLen(text string) int {
	raw, err := json.Marshal(text)
	if err != nil { // unreachable: it is a string
		return len(text)
	}
	return len(raw)
}

// withShortWords returns findings with at most n bytes of each reviewer's words, without what cannot be seen.
func withShortWords(all []OpenFinding, n int) []OpenFinding {
	out := make([]OpenFinding, 0, len(all))
	for _, f := range all {
		said := make([]FixWords, 0, len(f.Said))
		for _, w := range f.Said {
			w.Body = shortText(w.Body, n)
			said = append(said, w)
		}
		f.Said, f.Path = said, shortText(f.Path, 300)
		out = append(out, f)
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

// fixNamePrefix is how the names of a pull request's fix runs begin.
func fixNamePrefix(number int) string { return "fix #" + strconv.Itoa(number) + " " }

// SubjectOfFixRun is the head and the base that the name of a fix run of that pull request names; "" if it is none of its.
func SubjectOfFixRun(name string, number int) (head, base string) {
	rest, found := strings.CutPrefix(name, fixNamePrefix(number))
	head, base, _ = strings.Cut(rest, " ")
	isHead := len(head) >= 7 && len(head) <= 64 && strings.Trim(head, "0123456789abcdef") == ""
	if !found || !isHead || base == "" || strings.Contains(base, " ") {
		return "", ""
	}
	return head, base
}

// PullOfFixRun is the number of the pull request that the name of a fix run names; 0 if it is none.
func PullOfFixRun(name string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "fix #"), " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return 0
	}
	if head, _ := SubjectOfFixRun(name, n); head == "" {
		return 0
	}
	return n
}
