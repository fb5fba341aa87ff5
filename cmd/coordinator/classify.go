//go:build !action

package main

// coordinator classify: how one text is read. It serves the author of a reviewer's prompt, and anybody who asks why an
// answer did not count.

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/review"
)

type classifyCmd struct {
	File       string `arg:"" optional:"" name:"file" default:"-" help:"The text. Default: -, standard input."`
	Preset     string `placeholder:"NAME"   help:"Read it as this reviewer's, e.g. copilot."`
	Policy     string `placeholder:"FILE"   help:"Read it as a reviewer's of this policy file: by its heading, verdict and shapes, too."`
	Reviewer   string `placeholder:"NAME"   help:"With --policy: which reviewer. Needed if the file has several."`
	Verdict    string `placeholder:"FORMAT" help:"Where its verdict stands: auto, ready-to-merge, review-state, findings, json or conclusion. Default: auto, or the preset's."`
	Kind       string `placeholder:"KIND"   help:"What it is on GitHub: comment, review, check, status or log. Default: comment."`
	State      string `placeholder:"STATE"  help:"Of a review (APPROVED, CHANGES_REQUESTED, COMMENTED), a status (success, failure) or a check run (in_progress, completed)."`
	Comments   int    `placeholder:"N"      help:"How many inline comments the review has."`
	Conclusion string `placeholder:"C"      help:"Of the check run, or of the run whose log it is."`
	JSON       bool   `                     help:"Print JSON."                                                                                                                 name:"json"`
}

// anyReviewer is the name of a reviewer that no flag names.
const anyReviewer = "reviewer"

// A classification is the outcome as --json prints it.
type classification struct {
	Outcome  quorum.Outcome   `json:"outcome"`
	Reason   quorum.Reason    `json:"reason"`
	Detail   string           `json:"detail"`
	Rule     string           `json:"rule,omitempty"`   // what decided: a field, or the shape and the file in which it stands
	Line     int              `json:"line,omitempty"`   // where it stands in the text
	Commit   string           `json:"commit,omitempty"` // the one that the text names
	Reset    string           `json:"reset,omitempty"`  // a duration, or a moment
	Below    bool             `json:"below,omitempty"`
	Settled  bool             `json:"if_settled,omitempty"` // it approves only if none of its reviewer's threads is open
	Findings []quorum.Finding `json:"findings"`
	Row      *quorum.Shapes   `json:"row,omitempty"`         // to add to a policy, for a text that nobody understood
	Verdict  string           `json:"verdict_row,omitempty"` // or the line for a policy, for a text with one lone field
	RowLine  int              `json:"row_line,omitempty"`

	// For the text alone.
	Sentence, Advice, Hint string `json:"-"`
	IsVote                 bool   `json:"-"`
	Who                    string `json:"-"` // the reviewer in words
	List, Shape            string `json:"-"` // of the row
}

//go:embed classify_text.txt
var classifyTextSource string

// classifyText says in words how a text was read.
var classifyText = template.Must(template.New("classify").Funcs(template.FuncMap{
	"oneLine": oneLine, "json": quoteJSON, "findings": func(all []quorum.Finding) string {
		var b strings.Builder
		writeFindings(&b, all)
		return b.String()
	},
}).Parse(classifyTextSource))

// Run classifies a text.
func (cmd classifyCmd) Run(ctx context.Context, c *command) error {
	reviewer, err := cmd.chooseReviewer(c)
	if err != nil {
		return err
	}
	kind, err := review.ParseKind(cmp.Or(cmd.Kind, "comment"))
	if err != nil {
		return usageError(err, "")
	}
	state, err := cmd.parseState(kind)
	if err != nil {
		return err
	}
	if cmd.Comments < 0 {
		return usageError(fmt.Errorf("--comments %d is negative", cmd.Comments), "")
	}
	body, err := c.readInput(ctx, cmd.File, review.MaxText+1) // one byte more than allowed, so that a longer text is noticed
	if err != nil {
		return err
	}
	if len(body) > review.MaxText {
		return usageError(fmt.Errorf("the text is longer than 1 MiB"), "of a log, the end matters: tail -c 1M")
	}
	m := review.Material{Kind: kind, Body: string(body), State: state, Threads: cmd.Comments, Conclusion: cmd.Conclusion}
	if cmd.JSON {
		return c.writeJSON(readAsCheck(reviewer, m))
	}
	got := readAsCheck(reviewer, m)
	got.Hint = cmd.otherKindHint(reviewer, got.Outcome)
	return classifyText.Execute(c.Stdout, got)
}

// readAsCheck reads a text as the check does.
func readAsCheck(r quorum.Reviewer, m review.Material) classification {
	reader := review.NewReader(r)
	read := reader.Read(m)
	got := classification{
		Outcome: read.Outcome, Reason: read.Reason, Detail: read.Detail, Rule: read.Rule, Line: read.Line, Reset: resetsAt(read),
		Below: read.Below, Settled: read.Outcome == quorum.Approved && (read.NoOpen || r.OnlyNew),
		Findings: append([]quorum.Finding{}, read.Findings...), Sentence: report.Sentence(read.Reason), Advice: report.Advice(read.Reason),
		IsVote: read.Outcome == quorum.Approved || read.Outcome == quorum.Findings, Who: oneLine(r.Name),
	}
	if got.Outcome == quorum.Unrelated { // its reason is a failure's, which says nothing about a text that is no review
		got.Sentence, got.Advice = "it is neither a review nor a failure", ""
	}
	if r.Name == "" || r.Name == anyReviewer {
		got.Who = "the reviewer"
	}
	if m.Kind == review.Comment || m.Kind == review.Review {
		got.Commit = review.ReadLines(m.Body).NamedCommit(r)
	}
	isTold := r.Verdict.Kind == quorum.JSON || r.Verdict.Kind == quorum.Words // a word is missing there, and no row
	if got.Outcome != quorum.Malformed || isTold || got.Reason == quorum.ReasonUncovered {
		return got
	}
	if f, line, found := reader.SuggestField(m.Body); found && (r.Preset == "" || review.NeedsWorkflow(r.Preset)) {
		got.Verdict, got.RowLine = review.VerdictRow(f), line
	} else if row, found := reader.Suggest(m.Body); found && got.Reason == quorum.ReasonMalformed && review.ReadsShapes(r.Verdict.Kind) {
		got.List, got.Shape, got.Row, got.RowLine = row.List, row.Shape, &row.Shapes, row.Line
	}
	return got
}

// chooseReviewer returns the reviewer whose text it is: that of a policy file, or the one that the flags describe.
func (cmd classifyCmd) chooseReviewer(c *command) (quorum.Reviewer, error) {
	switch {
	case cmd.Policy == "" && cmd.Reviewer != "":
		return quorum.Reviewer{}, usageError(errors.New("--reviewer is given without --policy"), "name the policy file in which it stands")
	case cmd.Policy == "":
		return cmd.reviewerFromFlags()
	case cmd.Preset+cmd.Verdict != "":
		return quorum.Reviewer{}, usageError(errors.New("--policy says how the text is read, and so does another flag"),
			"leave out --preset and --verdict, or --policy")
	}
	src, err := readPolicyFile(cmd.Policy)
	if err != nil {
		return quorum.Reviewer{}, err
	}
	policy, err := config.Parse(cmd.Policy, src)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		fmt.Fprintln(c.Stderr, colorProblems(c.ErrColor, wrong.Error()))
		return quorum.Reviewer{}, usageError(
			fmt.Errorf("%s has %s", cmd.Policy, countNoun(len(wrong.Problems), "mistake")),
			"they stand above; a text is read once the file is mended",
		)
	}
	if err != nil {
		return quorum.Reviewer{}, err
	}
	names := make([]string, 0, len(policy.Reviewers))
	for _, r := range policy.Reviewers {
		if strings.EqualFold(r.Name, cmd.Reviewer) || cmd.Reviewer == "" && len(policy.Reviewers) == 1 {
			return r, nil
		}
		names = append(names, r.Name)
	}
	hint := "reviewers of the file: " + oneLine(strings.Join(names, ", "))
	if cmd.Reviewer == "" {
		return quorum.Reviewer{}, usageError(fmt.Errorf("%s has several reviewers", cmd.Policy), "add --reviewer; "+hint)
	}
	return quorum.Reviewer{}, usageError(fmt.Errorf("%s has no reviewer %q", cmd.Policy, cmd.Reviewer), hint)
}

// reviewerFromFlags builds the reviewer that the flags describe.
func (cmd classifyCmd) reviewerFromFlags() (r quorum.Reviewer, err error) {
	r = quorum.Reviewer{Name: anyReviewer, Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
	if cmd.Preset != "" {
		known := false
		if r, known = review.Preset(cmd.Preset); !known {
			return r, usageError(fmt.Errorf("unknown preset %q", cmd.Preset), "presets: "+strings.Join(review.Presets(), ", "))
		}
	}
	if cmd.Verdict == "" {
		return r, nil
	}
	if r.Verdict = (quorum.Format{Kind: review.FormatOf(cmd.Verdict)}); r.Verdict.Kind == 0 {
		words := strings.Join(review.FormatWords[:], ", ")
		return r, usageError(fmt.Errorf("unknown verdict format %q", cmd.Verdict), "formats: "+words)
	}
	return r, nil
}

// knownStates are the states of a kind of text, as GitHub writes them; comments and logs have none.
var knownStates = map[review.Kind][]string{
	review.Review: {"APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"},
	review.Status: {"success", "failure", "error", "pending"},
	review.Check:  {"queued", "in_progress", "completed"},
}

// parseState returns --state as GitHub writes it.
func (cmd classifyCmd) parseState(kind review.Kind) (string, error) {
	known := knownStates[kind]
	i := slices.IndexFunc(known, func(state string) bool { return strings.EqualFold(state, cmd.State) })
	switch {
	case cmd.State == "":
		return "", nil
	case known == nil:
		return "", usageError(fmt.Errorf("--state is given, and a %s has none", kind), "add --kind review, or --kind status")
	case i < 0:
		return "", usageError(fmt.Errorf("%q is no state of a %s", cmd.State, kind), "states: "+strings.Join(known, ", "))
	}
	return known[i], nil
}

// quoteJSON returns v as JSON on one line, which is YAML, too.
func quoteJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("classify: a shape is no JSON: " + err.Error()) // unreachable: it is text
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// otherKindHint suggests another --kind where the text may have been read as the wrong one, and returns "" otherwise.
func (cmd classifyCmd) otherKindHint(r quorum.Reviewer, outcome quorum.Outcome) string {
	decided := outcome == quorum.Approved || outcome == quorum.Findings
	switch {
	case cmd.Kind != "" || r.Preset == "":
		return ""
	case r.Check != "":
		return fmt.Sprintf("it was read as a comment; %s writes a check run: --kind check", r.Name)
	case r.Verdict.Kind == quorum.ReviewState:
		return fmt.Sprintf("it was read as a comment; %s writes reviews: --kind review --state COMMENTED --comments N", r.Name)
	case !decided && !review.NeedsWorkflow(r.Preset):
		return "it was read as a comment; if it is a review's text, add --kind review --state COMMENTED --comments N"
	}
	return ""
}

// resetsAt says when a rate limit ends, if the text tells it.
func resetsAt(got review.Reading) string {
	switch {
	case got.Reset > 0:
		return "in " + got.Reset.String()
	case !got.Until.IsZero():
		return "at " + got.Until.Format("2006-01-02 15:04 MST")
	}
	return ""
}
