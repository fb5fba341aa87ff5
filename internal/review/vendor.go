package review

// This file loads the files of the vendors: each reviewer that the coordinator knows is one file of data in vendors/, with
// its golden texts beside it. The code that reads them is the same for all.

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

//go:embed vendors/*.json
var vendorFiles embed.FS

// A vendorFile is a file in vendors/ as it is written.
type vendorFile struct {
	Preset  string `json:"preset"`
	Note    string `json:"note"`    // its verdict format and what it posts, for the policy reference
	Checked string `json:"checked"` // the day on which its forms were last compared with what it posts
	Source  string `json:"source"`  // where its forms and its instruction files are described

	// Who it is. An id holds where a name changes: GitHub's number of the account.
	Author string       `json:"author"`
	ID     int64        `json:"id,omitempty"`
	App    string       `json:"app,omitempty"`    // slug of the App that owns its check run
	Check  string       `json:"check,omitempty"`  // name of its check run
	Status string       `json:"status,omitempty"` // context of its commit status
	Signal vendorSignal `json:"signal,omitzero"`  // beside its texts
	Family string       `json:"family,omitempty"` // the maker of the model that it uses, where it is known to be one
	Agents []string     `json:"agents,omitempty"` // as whom its maker's agents write code besides, without "[bot]"

	// How it is used.
	Workflow bool `json:"workflow,omitempty"` // it is a workflow, whose path only the user knows
	// It applies rules and has a gate: no files instruct it, and its yes is no review.
	Scanner      bool          `json:"scanner,omitempty"`
	Verdict      string        `json:"verdict"`
	FailureMeans string        `json:"failure_means,omitempty"` // of verdict: conclusion: findings, or unavailable
	OnlyNew      bool          `json:"only_new,omitempty"`      // it reports only what is new
	Retired      bool          `json:"retired,omitempty"`
	Ask          vendorRequest `json:"ask,omitzero"`
	Obeys        []string      `json:"obeys,omitempty"`        // words at which it approves, resolves or dismisses
	Instructions []string      `json:"instructions,omitempty"` // patterns of the files that instruct it
	Marks        []string      `json:"marks,omitempty"`        // each of its reviews that is a comment holds one of them
	Quotes       bool          `json:"quotes,omitempty"`       // its notices and its commit stand in quotes
	OpensQuoted  bool          `json:"opens_quoted,omitempty"` // its verdict stands in the quote that opens its text
	ListsPlaces  bool          `json:"lists_places,omitempty"` // its clean texts list places, too
	CountsInline bool          `json:"counts_inline,omitempty"`
	CodeRows     bool          `json:"code_rows,omitempty"` // its counts stand in <code>
	// Its model has no form to keep to: it may say that all is well as anybody does.
	FreeWords   bool     `json:"free_words,omitempty"`
	ReplyMarker string   `json:"reply_marker,omitempty"`   // in an HTML comment of its answers in a conversation
	History     string   `json:"history_marker,omitempty"` // an HTML comment behind which older reviews stand
	Commits     []string `json:"commits,omitempty"`        // expressions that name the commit; group 1 is the id
	// Lines which, all in a review without inline comments, say that all is well.
	Wordless   []string      `json:"wordless,omitempty"`
	Introduces []string      `json:"introduces,omitempty"` // lines that only introduce its comments on the diff
	Badges     []vendorBadge `json:"badges,omitempty"`     // how its comments on the diff say how grave they are
	Shapes     quorum.Shapes `json:"shapes"`
}

// vendorRequest is how a vendor is asked for a review.
type vendorRequest struct {
	Comment string `json:"comment,omitempty"`
	Login   string `json:"login,omitempty"`
}

// vendorSignal is where a vendor that speaks in texts also says that it works, or why it does not review.
type vendorSignal struct {
	Check  string `json:"check,omitempty"`
	App    string `json:"app,omitempty"`
	Status string `json:"status,omitempty"`
}

// FormatWords are the verdict formats that a policy and a vendor's file name by one word, in the order of their kinds.
var FormatWords = [...]string{"auto", "ready-to-merge", "review-state", "findings", "json", "conclusion"}

// FormatOf returns the format of a word; 0 if there is none.
func FormatOf(word string) quorum.FormatKind {
	return quorum.FormatKind(slices.Index(FormatWords[:], word) + 1)
}

// FailureMeanings are what a failed conclusion means, by the words of failure_means.
var FailureMeanings = map[string]quorum.FailureMeans{"findings": quorum.MeansFindings, "unavailable": quorum.MeansUnavailable}

// presets are the reviewers of vendors/, by name, each parsed when it is first used.
var presets = listPresets()

func listPresets() map[string]func() *preset {
	entries, err := vendorFiles.ReadDir("vendors")
	if err != nil {
		panic(err) // unreachable: the folder is compiled in
	}
	all := make(map[string]func() *preset, len(entries))
	for _, e := range entries {
		all[strings.TrimSuffix(e.Name(), ".json")] = sync.OnceValue(func() *preset { return mustLoadPreset(e.Name()) })
	}
	return all
}

// mustLoadPreset returns the preset of a file in vendors/. A file that is wrong stops the program: a test reads them all.
func mustLoadPreset(file string) *preset {
	data, err := vendorFiles.ReadFile("vendors/" + file)
	if err != nil {
		panic(err)
	}
	p, err := parsePreset(file, data)
	if err != nil {
		panic(err)
	}
	return p
}

// parsePreset parses a vendor's file. Its error names the file and what is wrong in it.
func parsePreset(file string, data []byte) (*preset, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var f vendorFile
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("vendors/%s: %w", file, err)
	}
	format, failure := FormatOf(f.Verdict), FailureMeanings[cmp.Or(f.FailureMeans, "unavailable")]
	switch {
	case f.Preset+".json" != file:
		return nil, fmt.Errorf("vendors/%s: preset is %q", file, f.Preset)
	case format == 0:
		return nil, fmt.Errorf("vendors/%s: verdict: unknown format %q", file, f.Verdict)
	case failure == 0:
		return nil, fmt.Errorf("vendors/%s: failure_means: unknown word %q", file, f.FailureMeans)
	}
	shapes, err := compileShapes(file, f.Shapes)
	if err != nil {
		return nil, fmt.Errorf("vendors/%s: %w", file, err)
	}
	p := &preset{vendorFile: f, shapes: shapes, reviewer: quorum.Reviewer{
		Name: f.Preset, Preset: f.Preset, Author: f.Author, AuthorID: f.ID, Check: f.Check, App: f.App, Status: f.Status,
		Signal:  quorum.Signal(f.Signal),
		Verdict: quorum.Format{Kind: format}, FailureMeans: failure, OnlyNew: f.OnlyNew, Retired: f.Retired,
		Request: quorum.Request{Comment: f.Ask.Comment, Login: f.Ask.Login},
		Obeys:   f.Obeys, Guard: f.Instructions, Family: f.Family, Agents: f.Agents,
	}}
	var bad [3]error
	p.wordless, bad[0] = parseShapes(f.Wordless)
	p.introduces, bad[1] = parseShapes(f.Introduces)
	p.badges, bad[2] = compileBadges(f.Badges)
	if err := errors.Join(bad[:]...); err != nil {
		return nil, fmt.Errorf("vendors/%s: wordless, introduces, badges: %w", file, err)
	}
	for _, c := range f.Commits {
		p.commits = append(p.commits, lazyRegexp(c))
	}
	if !f.Retired && !f.Scanner {
		p.reviewer.Guard = guardWithLinks(f.Instructions...)
	}
	if f.Workflow {
		p.reviewer.Events = quorum.DefaultEvents()
	}
	return p, nil
}

// compiledShapes are shapes ready to be compared with lines.
type compiledShapes struct {
	origin  string // the preset's file, or "the policy"
	lists   [shapeLists][]shape
	notices []compiledNotice
}

type compiledNotice struct {
	line shape
	rule string // where it stands, and what is looked for
	quorum.NoticeShape
}

// The lists of shapes, as [quorum.Shapes] names them.
const (
	listApproves = iota
	listIfSettled
	listCounts
	listObjects
	listVetoes
	listPartial
	listWorking
	listOther
	shapeLists
)

var shapeListNames = [shapeLists]string{
	"approves", "if_settled", "counts", "objects", "vetoes", "partial", "working", "other",
}

// policyOrigin is where the shapes of a policy come from, as a rule names it.
const policyOrigin = "policy"

// ReadsShapes reports whether shapes are looked for in texts of that format: its verdict stands in sentences.
func ReadsShapes(kind quorum.FormatKind) bool {
	return kind == quorum.Auto || kind == quorum.FindingList || kind == quorum.ReviewState
}

// CheckShapes reports the first mistake in shapes that a policy brings: the list, the shape, and what is wrong with it.
func CheckShapes(s quorum.Shapes) error {
	_, err := compileShapes(policyOrigin, s)
	return err
}

func compileShapes(origin string, s quorum.Shapes) (c compiledShapes, err error) {
	c.origin = origin
	for list, sources := range [shapeLists][]string{
		s.Approves, s.IfSettled, s.Counts, s.Objects, s.Vetoes, s.Partial, s.Working, s.Other,
	} {
		c.lists[list], err = parseShapes(sources, func(s shape) error { return s.checkFor(list) })
		if err != nil {
			return c, fmt.Errorf("%s: %w", shapeListNames[list], err)
		}
		for k := range c.lists[list] {
			c.lists[list][k].rule = origin + " " + shapeListNames[list] + ": " + sources[k]
		}
	}
	for _, n := range s.Notices {
		one, err := compileNotice(origin, n)
		if err != nil {
			return c, fmt.Errorf("notices: %.60q %w", cmp.Or(n.Line, n.Marker), err)
		}
		c.notices = append(c.notices, one)
	}
	return c, nil
}

// compileNotice compiles a notice. Its error completes the sentence that begins with its line or marker.
func compileNotice(origin string, n quorum.NoticeShape) (one compiledNotice, err error) {
	one = compiledNotice{rule: origin + " notices: " + cmp.Or(n.Line, "<!-- "+n.Marker+" -->"), NoticeShape: n}
	reasons := noticeReasons[n.Outcome]
	switch {
	case (n.Line == "") == (n.Marker == ""):
		return one, errors.New("needs a line or a marker, and not both")
	case lowerASCII(n.Marker) != n.Marker:
		return one, errShapeCase
	case reasons == nil:
		return one, fmt.Errorf("is %v: a notice is empty, overloaded, limited, failed, declined or unknown", n.Outcome)
	case !slices.Contains(reasons, n.Reason):
		return one, fmt.Errorf("is %v for the reason %q, and not for one of %q", n.Outcome, n.Reason, reasons)
	case n.Line != "":
		one.line, err = parseShape(n.Line)
	}
	return one, err
}

// noticeReasons are the reasons that a notice of an outcome may give; no notice has another outcome.
var noticeReasons = map[quorum.Outcome][]quorum.Reason{
	quorum.Empty:      {quorum.ReasonEmpty},
	quorum.Overloaded: {quorum.ReasonOverloaded},
	quorum.Limited:    {quorum.ReasonRateLimit, quorum.ReasonQuota},
	quorum.Failed: {
		quorum.ReasonCredentials, quorum.ReasonBilling, quorum.ReasonBudget, quorum.ReasonInvalid, quorum.ReasonModelRefusal,
	},
	quorum.Declined: {quorum.ReasonDeclined, quorum.ReasonTooLarge, quorum.ReasonSkipped, quorum.ReasonNoSecrets},
	quorum.Unknown:  {quorum.ReasonUnknown},
}

// checkFor reports what makes a shape useless or dangerous in a list.
func (s shape) checkFor(list int) error {
	holds := func(hole string) bool { return strings.Contains(s.source, hole) }
	approving := list == listApproves || list == listIfSettled
	switch {
	case approving && (holds("{any}") || holds("{word}")):
		return errors.New("holds {any} or {word}: what approves is known to its last word")
	case approving && (holds("{count}") || countsFindings(s.source)):
		return errors.New("leaves open how many findings there are: write 0 or no, or the line with {count} under counts")
	case approving && holds("{n}"):
		return errors.New("holds {n}, which may be 0, and who saw nothing approves nothing: write {some}")
	case list == listCounts && (holds("{any}") || !holds("{count}")):
		return errors.New("needs {count}, and may not hold {any}: a count of zero approves")
	}
	return nil
}

// counted matches, in a shape, a number beside a word for findings: "{n} issues", "issues found: {n}", "issues ({n})".
var counted = lazyRegexp(countedHole + `[ ()|]*(?:[^ ()|,.;:{]+[ ()|]+){0,2}` + findingNoun +
	`|(?:^|[ ()|:,.;}])` + findingNoun + `[^ ()|:,.;}]*(?:[ ()|:]+[^ ()|:,.;}]+){0,2}` +
	`[ ()|:=-]*(?:[:=-] *` + countedHole + `|\( *` + countedHole + `\))`)

const (
	countedHole = `\{(?:n|some)\}`
	findingNoun = `(?:issue|finding|problem|bug|error|comment|suggestion|concern|warning|nit|vulnerab|violation|block` +
		`|defect|smell|hotspot|alert|risk|fail|flaw|remark|critical|major|minor|high|medium|low|p[0-3]|unresolved|open` +
		`|new|actionable|potential|security)`
)

// countsFindings reports whether a line of a shape says what its number says.
func countsFindings(source string) bool { return counted().MatchString(source) }

// Presets returns the names of all presets, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// hasMarks reports whether a text holds one of the words that each review of the preset holds.
func (f *vendorFile) hasMarks(body string) bool {
	if len(f.Marks) == 0 {
		return true
	}
	body = lowerASCII(body)
	return slices.ContainsFunc(f.Marks, func(m string) bool { return strings.Contains(body, m) })
}
