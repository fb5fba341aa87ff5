package main

// coordinator classify: how one text is read. It serves the author of a reviewer's prompt, and anybody who asks why an
// answer did not count.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/review"
)

type classifyCmd struct {
	Preset     string `placeholder:"NAME"   help:"Read it as this reviewer's, e.g. copilot."`
	Verdict    string `placeholder:"FORMAT" help:"Where its verdict stands: auto, ready-to-merge, review-state, findings, json or conclusion. Default: auto, or the preset's."`
	Approve    string `placeholder:"RE"     help:"Instead of --verdict: a line that matches approves, as the policy's verdict: {approve: RE, object: RE}."`
	Object     string `placeholder:"RE"     help:"With --approve: a line that matches objects."`
	Kind       string `placeholder:"KIND"   help:"What it is on GitHub: comment, review, check, status or log. Default: comment."`
	State      string `placeholder:"STATE"  help:"Of a review (APPROVED, CHANGES_REQUESTED, COMMENTED) or a status (success, failure)."`
	Comments   int    `placeholder:"N"      help:"How many inline comments the review has."`
	Conclusion string `placeholder:"C"      help:"Of the check run, or of the run whose log it is."`
	JSON       bool   `                     help:"Print JSON."                                                                                                                 name:"json"`
}

// verdictFormats are the verdict formats that --verdict names by one word.
var verdictFormats = []struct {
	word string
	kind quorum.FormatKind
}{
	{"auto", quorum.Auto},
	{"ready-to-merge", quorum.ReadyToMerge},
	{"review-state", quorum.ReviewState},
	{"findings", quorum.FindingList},
	{"json", quorum.JSON},
	{"conclusion", quorum.Conclusion},
}

// Help is shown by coordinator classify --help.
func (classifyCmd) Help() string {
	return `Reads a reviewer's text from standard input and prints its outcome, the reason, and what was recognised. A text is an
approval only if it has one clear verdict in plain view.

Examples:

  gh pr view 12 --json comments --jq '.comments[-1].body' | coordinator classify
  coordinator classify --preset copilot --kind review --state COMMENTED --comments 0 <review.md
  gh run view 4711 --log-failed | coordinator classify --kind log --json`
}

// A classification is the outcome as --json prints it.
type classification struct {
	Outcome  quorum.Outcome   `json:"outcome"`
	Reason   quorum.Reason    `json:"reason"`
	Detail   string           `json:"detail"`
	Reset    string           `json:"reset,omitempty"` // a duration, or a moment
	Below    bool             `json:"below,omitempty"`
	Findings []quorum.Finding `json:"findings"`
}

// Run classifies standard input.
func (cmd classifyCmd) Run(ctx context.Context, c *command) error {
	reviewer, err := cmd.reviewerFromFlags()
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
	body, err := c.readStdin(ctx, review.MaxText+1) // one byte more than allowed, so that a longer text is noticed
	if err != nil {
		return err
	}
	if len(body) > review.MaxText {
		return usageError(fmt.Errorf("the text on standard input is longer than 1 MiB"), "of a log, the end matters: tail -c 1M")
	}
	got := review.Read(
		reviewer,
		review.Material{Kind: kind, Body: string(body), State: state, Threads: cmd.Comments, Conclusion: cmd.Conclusion},
	)
	if cmd.JSON {
		return cmd.writeJSON(c.Stdout, got)
	}
	return cmd.writeText(c.Stdout, reviewer, got)
}

// reviewerFromFlags builds the reviewer that the flags describe.
func (cmd classifyCmd) reviewerFromFlags() (r quorum.Reviewer, err error) {
	r = quorum.Reviewer{Name: "reviewer", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
	if cmd.Preset != "" {
		known := false
		if r, known = review.Preset(cmd.Preset); !known {
			return r, usageError(fmt.Errorf("unknown preset %q", cmd.Preset), "presets: "+strings.Join(review.Presets(), ", "))
		}
	}
	switch {
	case cmd.Verdict != "" && (cmd.Approve != "" || cmd.Object != ""):
		return r, usageError(errors.New("--verdict and --approve are both given"), "keep one of them: they say where the verdict stands")
	case cmd.Approve == "" && cmd.Object != "":
		return r, usageError(errors.New("--object is given without --approve"), "without a pattern that approves nothing can")
	case cmd.Approve != "":
		for _, pattern := range []string{cmd.Approve, cmd.Object} {
			if _, err := regexp.Compile(pattern); err != nil {
				return r, usageError(
					fmt.Errorf("%q is no pattern: %w", pattern, err),
					"patterns are regular expressions as Go and RE2 write them",
				)
			}
		}
		r.Verdict = quorum.Format{Kind: quorum.Pattern, Approve: cmd.Approve, Object: cmd.Object}
		return r, nil
	case cmd.Verdict == "":
		return r, nil
	}
	for _, f := range verdictFormats {
		if f.word == cmd.Verdict {
			r.Verdict = quorum.Format{Kind: f.kind}
			return r, nil
		}
	}
	return r, usageError(fmt.Errorf("unknown verdict format %q", cmd.Verdict), "formats: "+verdictWords())
}

// reviewStates and statusStates are the states as GitHub writes them.
var (
	reviewStates = []string{"APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"}
	statusStates = []string{"success", "failure", "error", "pending"}
)

// parseState returns --state as GitHub writes it; only reviews and statuses have one.
func (cmd classifyCmd) parseState(kind review.Kind) (string, error) {
	known, as := []string(nil), ""
	switch kind {
	case review.Review:
		known, as = reviewStates, strings.ToUpper(cmd.State)
	case review.Status:
		known, as = statusStates, strings.ToLower(cmd.State)
	case review.Comment, review.Check, review.Log:
	}
	switch {
	case cmd.State == "":
		return "", nil
	case known == nil:
		return "", usageError(fmt.Errorf("--state is given, and a %s has none", kind), "add --kind review, or --kind status")
	case !slices.Contains(known, as):
		return "", usageError(fmt.Errorf("%q is no state of a %s", cmd.State, kind), "states: "+strings.Join(known, ", "))
	}
	return as, nil
}

func verdictWords() string {
	words := make([]string, 0, len(verdictFormats))
	for _, f := range verdictFormats {
		words = append(words, f.word)
	}
	return strings.Join(words, ", ")
}

func (cmd classifyCmd) writeJSON(w io.Writer, got review.Reading) error {
	out := classification{
		Outcome:  got.Outcome,
		Reason:   got.Reason,
		Detail:   got.Detail,
		Reset:    resetsAt(got),
		Below:    got.Below,
		Findings: got.Findings,
	}
	if out.Findings == nil {
		out.Findings = []quorum.Finding{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

func (cmd classifyCmd) writeText(w io.Writer, r quorum.Reviewer, got review.Reading) error {
	var b strings.Builder
	sentence, advice := report.Sentence(got.Reason), report.Advice(got.Reason)
	if got.Outcome == quorum.Unrelated { // its reason is a failure's, which says nothing about a text that is no review
		sentence, advice = "it is neither a review nor a failure", ""
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", got.Outcome, got.Reason, sentence)
	if got.Detail != "" {
		fmt.Fprintf(&b, "  read: %s\n", oneLine(got.Detail))
	}
	if at := resetsAt(got); at != "" {
		fmt.Fprintf(&b, "  resets: %s\n", at)
	}
	writeFindings(&b, got.Findings)
	if advice != "" {
		fmt.Fprintf(&b, "  advice: %s\n", advice)
	}
	if hint := cmd.otherKindHint(r, got); hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", hint)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// writeFindings writes a line for each finding.
func writeFindings(b *strings.Builder, findings []quorum.Finding) {
	for _, f := range findings {
		place := ""
		if f.Path != "" {
			place = fmt.Sprintf("%s:%d ", f.Path, f.Line)
		}
		shown := ""
		if f.Below {
			shown = " (does not object)"
		}
		fmt.Fprintf(b, "  finding: %s%s%s\n", oneLine(place), oneLine(f.Body), shown)
	}
}

// otherKindHint suggests another --kind where the text may have been read as the wrong one, and returns "" otherwise.
func (cmd classifyCmd) otherKindHint(r quorum.Reviewer, got review.Reading) string {
	decided := got.Outcome == quorum.Approved || got.Outcome == quorum.Findings
	switch {
	case cmd.Kind != "" || cmd.Preset == "":
		return ""
	case r.Check != "":
		return fmt.Sprintf("it was read as a comment; %s writes a check run: --kind check", r.Name)
	case r.Verdict.Kind == quorum.ReviewState:
		return fmt.Sprintf("it was read as a comment; %s writes reviews: --kind review --state COMMENTED --comments N", r.Name)
	case !decided && !review.NeedsWorkflow(cmd.Preset):
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
