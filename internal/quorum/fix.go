package quorum

// The loop of fixes: a blocked pull request may have a workflow started that mends what reviewers object to. Here stands
// what the loop is; fixloop.go says when it goes on and when it ends, followed.go which findings are new.

import (
	"encoding/json"
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

// A FixPolicy names the workflow that mends a blocked pull request.
type FixPolicy struct {
	Workflow    string // path of its file; "": there is none
	MaxRestarts int    // runs of it for one pull request
}

// A FixOrder is a fix run that is to be started on the default branch.
type FixOrder struct {
	Workflow string
	Branch   string // the default branch
	Number   int    // of the pull request
	Head     string
	Base     string // name of the branch
	Findings []OpenFinding
}

// RunName is how the workflow must name the run.
func (o FixOrder) RunName() string { return FixRunName(o.Number, o.Head) }

// FixRunName is the name of the fix run for a head of a pull request, by which it is known.
func FixRunName(number int, head string) string { return fixNamePrefix(number) + head }

// A FixRun is a fix run as the record of our check remembers it: its intent stands there before it is started.
type FixRun struct {
	Head    string    `json:"head"`
	Base    string    `json:"base"`
	Diff    string    `json:"diff,omitempty"` // [DiffPrint].Lines of that head
	At      time.Time `json:"at"`             // when it was last about to be started
	Tries   int       `json:"tries"`
	Run     int64     `json:"run,omitempty"`  // its id, once that is known
	Sent    bool      `json:"sent,omitempty"` // GitHub took it, and told no id
	Open    int       `json:"open"`           // the most findings that were open on that head
	Refused Reason    `json:"refused,omitempty"`
	Detail  string    `json:"detail,omitempty"` // GitHub's words; hostile
}

// isAnswered reports whether it is known what became of the start.
func (r *FixRun) isAnswered() bool { return r.Run != 0 || r.Sent || r.Refused != "" }

// A FixSwitch is the last word of a person about fixes for a pull request.
type FixSwitch struct {
	Off bool      `json:"off,omitempty"`
	By  string    `json:"by,omitempty"`
	At  time.Time `json:"at,omitzero"`
}

// A FixSight is what GitHub shows that a fix rests on. It is read only where the policy has fixes and a reviewer objects.
type FixSight struct {
	PushRead bool
	Push     Push      // by which the head came to its branch; zero: GitHub does not tell
	Listed   bool      // the runs of the fix workflow were listed
	Runs     []FixSeen // those of this pull request, newest first; where they were not listed the one of this head
}

// FixSeen is a fix run as GitHub shows it.
type FixSeen struct {
	ID      int64
	Head    string // that its name names
	Created time.Time
	Updated time.Time // the end, once it has ended
	Ended   bool
	URL     string
}

// FixWants is what a decision about a fix lacks of a [FixSight].
type FixWants struct {
	Push bool
	List bool
	Run  int64 // id of the run to be read
}

// FixFacts are what the loop depends on beside the ballots.
type FixFacts struct {
	Made   int       // fix runs of this pull request so far
	Here   *FixRun   // for this diff; nil: none
	Seen   *FixSeen  // Here, as GitHub shows it; nil: it does not
	Listed bool      // all were listed
	Not    Reason    // why none is started for this head; "": one may be
	Detail string    // of Not; hostile
	ByFix  bool      // a fix run pushed the head
	Before int       // findings that were open before that; 0: not known
	Known  []Tracked // findings that were open on earlier heads
	Branch string    // the default branch
}

// A FixResult is what became of the start of a fix run.
type FixResult struct {
	Order  FixOrder
	State  ResultState
	Run    int64  // its id; 0: GitHub did not tell
	Reason Reason // ResultRefused
	Detail string // GitHub's words; hostile
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
	doc := fixDocument{Total: len(o.Findings), More: more}
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
