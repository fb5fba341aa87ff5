package review

// This file loads the files of the vendors: each reviewer that the coordinator knows is one file of data in vendors/, with
// its golden texts beside it. The code that reads them is the same for all.

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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
	Author string        `json:"author"`
	ID     int64         `json:"id"`
	App    string        `json:"app"`    // slug of the App that owns its check run
	Check  string        `json:"check"`  // name of its check run
	Status string        `json:"status"` // context of its commit status
	Signal quorum.Signal `json:"signal"` // beside its texts
	Family string        `json:"family"` // the maker of the model that it uses, where it is known to be one
	Agents []string      `json:"agents"` // as whom its maker's agents write code besides, without "[bot]"

	// How it is used.
	Workflow     bool           `json:"workflow"` // it is a workflow, whose path only the user knows
	Scanner      bool           `json:"scanner"`  // it applies rules: no files instruct it, and its yes is no review
	Verdict      string         `json:"verdict"`
	FailureMeans string         `json:"failure_means"` // of verdict: conclusion: findings, or unavailable
	OnlyNew      bool           `json:"only_new"`      // it reports only what is new
	Retired      bool           `json:"retired"`
	Ask          quorum.Request `json:"ask"`
	Obeys        []string       `json:"obeys"`        // words at which it approves, resolves or dismisses
	Instructions []string       `json:"instructions"` // patterns of the files that instruct it

	// How its texts are read.
	Marks        []string         `json:"marks"`        // each of its reviews that is a comment holds one of them
	Quotes       bool             `json:"quotes"`       // its notices and its commit stand in quotes
	OpensQuoted  bool             `json:"opens_quoted"` // its verdict stands in the quote that opens its text
	ListsPlaces  bool             `json:"lists_places"` // its clean texts list places, too
	CountsInline bool             `json:"counts_inline"`
	CodeRows     bool             `json:"code_rows"`      // its counts stand in <code>
	FreeWords    bool             `json:"free_words"`     // it has no form to keep to, and says that all is well as anybody does
	ReplyMarker  string           `json:"reply_marker"`   // in an HTML comment of its answers in a conversation
	History      string           `json:"history_marker"` // an HTML comment behind which older reviews stand
	Commits      []*regexp.Regexp `json:"commits"`        // expressions that name the commit; group 1 is the id
	Wordless     []shape          `json:"wordless"`       // all of them in a review without inline comments say that all is well
	Introduces   []shape          `json:"introduces"`     // lines that only introduce its comments on the diff
	Badges       []vendorBadge    `json:"badges"`         // how its comments on the diff say how grave they are
	Shapes       quorum.Shapes    `json:"shapes"`
}

// A preset is a vendor's file, ready to be used.
type preset struct {
	vendorFile
	reviewer quorum.Reviewer
	shapes   compiledShapes
}

// noPreset is the preset of a reviewer that the coordinator does not know.
var noPreset = &preset{}

// FormatWords are the verdict formats that a policy and a vendor's file name by one word, in the order of their kinds.
var FormatWords = [...]string{"auto", "ready-to-merge", "review-state", "findings", "json", "conclusion"}

// FormatOf returns the format of a word; 0 if there is none.
func FormatOf(word string) quorum.FormatKind {
	return quorum.FormatKind(slices.Index(FormatWords[:], word) + 1)
}

// FailureMeanings are what a failed conclusion means, by the words of failure_means.
var FailureMeanings = map[string]quorum.FailureMeans{"findings": quorum.MeansFindings, "unavailable": quorum.MeansUnavailable}

// presets are the reviewers of vendors/, by name. A file that is wrong stops the program: a test reads them all.
var presets = sync.OnceValue(func() map[string]*preset {
	entries, err := vendorFiles.ReadDir("vendors")
	all := make(map[string]*preset, len(entries))
	for _, e := range entries {
		data, errRead := vendorFiles.ReadFile("vendors/" + e.Name())
		p, errParse := parsePreset(e.Name(), data)
		all[strings.TrimSuffix(e.Name(), ".json")], err = p, cmp.Or(err, errRead, errParse)
	}
	if err != nil {
		panic(err)
	}
	return all
})

// parsePreset parses a vendor's file. Its error names the file and what is wrong in it.
func parsePreset(file string, data []byte) (*preset, error) {
	var f vendorFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&f)
	shapes, errShapes := compileShapes(file, f.Shapes)
	format, failure := FormatOf(f.Verdict), FailureMeanings[cmp.Or(f.FailureMeans, "unavailable")]
	if err = cmp.Or(err, errShapes); err == nil && (f.Preset+".json" != file || format == 0 || failure == 0) {
		err = fmt.Errorf("preset is %q, verdict %q, failure_means %q: one of them is unknown", f.Preset, f.Verdict, f.FailureMeans)
	}
	if err != nil {
		return nil, fmt.Errorf("vendors/%s: %w", file, err)
	}
	p := &preset{vendorFile: f, shapes: shapes, reviewer: quorum.Reviewer{
		Name: f.Preset, Preset: f.Preset, Author: f.Author, AuthorID: f.ID, Check: f.Check, App: f.App, Status: f.Status,
		Signal: f.Signal, Verdict: quorum.Format{Kind: format}, FailureMeans: failure, OnlyNew: f.OnlyNew, Retired: f.Retired,
		Request: f.Ask, Obeys: f.Obeys, Guard: f.Instructions, Family: f.Family, Agents: f.Agents,
	}}
	if !f.Retired && !f.Scanner {
		p.reviewer.Guard = slices.Concat(linkedInstructions, f.Instructions)
	}
	if f.Workflow {
		p.reviewer.Events = quorum.DefaultEvents()
	}
	return p, nil
}

func presetOf(name string) *preset {
	if name == "" { // without one no vendor's file is parsed
		return noPreset
	}
	return cmp.Or(presets()[name], noPreset)
}

// Presets returns the names of all presets, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets())) }

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

// PresetsOf returns the reviewers of presets of one family.
func PresetsOf(family string) (all []quorum.Reviewer) {
	for _, name := range Presets() {
		if p := presetOf(name); family != "" && p.Family == family {
			all = append(all, p.reviewer)
		}
	}
	return all
}

// PresetNote returns one line about a preset: its verdict format and what it posts.
func PresetNote(name string) string { return presetOf(name).Note }

// NeedsWorkflow reports whether a preset is a workflow, whose path the policy must name.
func NeedsWorkflow(name string) bool { return presetOf(name).Workflow }

// IsScanner reports whether a preset applies rules and has a gate: what it lets pass nobody has reviewed.
func IsScanner(name string) bool { return presetOf(name).Scanner }

// hasMarks reports whether a text holds one of the words that each review of the preset holds.
func (f *vendorFile) hasMarks(body string) bool {
	body = lowerASCII(body)
	return len(f.Marks) == 0 || slices.ContainsFunc(f.Marks, func(m string) bool { return strings.Contains(body, m) })
}
