package main

// coordinator verdict: the structured verdict of a reviewer that runs in a workflow. The action's step verdict runs
// "make"; "check" and "schema" are for who writes such a reviewer.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/review"
)

type verdictCmd struct {
	Make   verdictMakeCmd   `cmd:"" help:"Make a verdict file from what a model answered."`
	Check  verdictCheckCmd  `cmd:"" help:"Check a verdict file and say how it is read."`
	Schema verdictSchemaCmd `cmd:"" help:"Print the JSON Schema to give to the model."`
}

type verdictMakeCmd struct {
	From        string `help:"The model's answer; - reads standard input (the default)." placeholder:"FILE" default:"-"`
	Format      string `help:"What may stand around its JSON: plain (nothing, the default), codex (a fence), claude (a fence, or what claude --output-format json prints)." placeholder:"FORM" default:"plain" enum:"plain,codex,claude"`
	Head        string `help:"The commit that was reviewed. Default: the head of the job's pull request." placeholder:"SHA"`
	Base        string `help:"The branch that it was compared with. Default: the base of the job's pull request." placeholder:"BRANCH"`
	RunID       int64  `help:"The workflow run. Default: the job's own." placeholder:"ID" name:"run"`
	Attempt     int    `help:"Its attempt. Default: the job's own." placeholder:"N"`
	Changed     string `help:"The changed files, as git diff --name-status -z prints them: says which were not read." placeholder:"FILE"`
	MinSeverity string `help:"The least severity that asks for changes: any (the default), low, medium, high or critical, as min_severity in the policy." placeholder:"LEVEL" default:"any" enum:"any,low,medium,high,critical"`
	JSON        bool   `help:"Print what was written as JSON." name:"json"`
	Out         string `help:"Where to write it; - is standard output. Default: review-verdict.json." placeholder:"FILE" default:"review-verdict.json"`
}

// Run makes the file.
func (cmd verdictMakeCmd) Run(ctx context.Context, c *command) error {
	if cmd.JSON && cmd.Out == "-" {
		return usageError(errors.New("--json and --out - both want standard output"), "leave out --json: the verdict is JSON itself")
	}
	if err := cmd.addJobDefaults(c); err != nil {
		return err
	}
	changed, err := c.readChanged(ctx, cmd.Changed)
	if err != nil {
		return err
	}
	text, err := c.readInput(ctx, cmd.From, review.MaxVerdictFile+1) // a byte more than allowed: a longer one is noticed
	if err != nil {
		return err
	}
	answer, err := review.ParseModelAnswer(string(text), answerForm(cmd.Format), c.Getenv("GITHUB_WORKSPACE"))
	if wrong := (*review.AnswerError)(nil); errors.As(err, &wrong) {
		return hintedError(err, wrong.Hint)
	} else if err != nil {
		return err
	}
	file := review.MakeVerdict(answer, severityFlag(cmd.MinSeverity))
	file.Head, file.Base, file.Run, file.Attempt = cmd.Head, cmd.Base, cmd.RunID, cmd.Attempt
	encoded, err := file.Marshal()
	if err != nil {
		return fmt.Errorf("make the verdict: %w", err)
	}
	if cmd.Out == "-" {
		fmt.Fprintln(c.Stderr, describeMade(file, changed))
		_, err := c.Stdout.Write(encoded)
		return err
	}
	if err := os.WriteFile(cmd.Out, encoded, 0o644); err != nil { //nolint:gosec // an artifact is read by everybody who sees the run
		return usageError(fmt.Errorf("write the verdict: %w", err), "--out names the file")
	}
	if cmd.JSON {
		err = c.writeJSON(madeVerdictAsJSON(cmd.Out, file, changed))
	} else {
		_, err = fmt.Fprintf(c.Stdout, "%s: %s\n", oneLine(cmd.Out), describeMade(file, changed))
	}
	return errors.Join(err, c.writeOutputs([]stepOutput{
		{"verdict", file.Verdict}, {"findings", strconv.Itoa(len(file.Findings))}, {"file", cmd.Out},
	}))
}

// A madeVerdictJSON is what verdict make --json prints.
type madeVerdictJSON struct {
	File          string         `json:"file"`
	Verdict       string         `json:"verdict"`
	Findings      int            `json:"findings"`
	BySeverity    map[string]int `json:"by_severity"` // of the findings that have one
	FilesReviewed []string       `json:"files_reviewed"`
	FilesUnread   []string       `json:"files_unread,omitempty"` // as far as the changed files are known
	Head          string         `json:"head"`
	Base          string         `json:"base"`
	Run           int64          `json:"run"`
	Attempt       int            `json:"attempt"`
}

func madeVerdictAsJSON(path string, f review.VerdictFile, changed []quorum.File) madeVerdictJSON {
	made := madeVerdictJSON{
		File: path, Verdict: f.Verdict, Findings: len(f.Findings), BySeverity: map[string]int{}, FilesReviewed: f.FilesReviewed,
		FilesUnread: review.Unread(f.FilesReviewed, changed), Head: f.Head, Base: f.Base, Run: f.Run, Attempt: f.Attempt,
	}
	for _, finding := range f.Findings {
		if severity := finding.Severity.String(); severity != "" {
			made.BySeverity[severity]++
		}
	}
	return made
}

// addJobDefaults takes from the job what no flag says.
func (cmd *verdictMakeCmd) addJobDefaults(c *command) error {
	event, err := readReviewedEvent(c.Getenv("GITHUB_EVENT_PATH"))
	if err != nil && (cmd.Head == "" || cmd.Base == "") {
		return err
	}
	cmd.Head = cmp.Or(cmd.Head, event.PullRequest.Head.SHA, event.Inputs.Head)
	cmd.Base = cmp.Or(cmd.Base, event.PullRequest.Base.Ref, event.Inputs.Base)
	if cmd.RunID == 0 {
		cmd.RunID, _ = strconv.ParseInt(c.Getenv("GITHUB_RUN_ID"), 10, 64)
	}
	if cmd.Attempt == 0 {
		cmd.Attempt, _ = strconv.Atoi(c.Getenv("GITHUB_RUN_ATTEMPT"))
	}
	return cmd.validate()
}

// validate names the flag that is missing or wrong.
func (cmd *verdictMakeCmd) validate() error {
	switch {
	case cmd.Head == "":
		return usageError(errors.New("there is no --head, and no event of a pull request that names it"), "--head SHA, the whole id")
	case !review.IsCommitID(cmd.Head):
		return usageError(fmt.Errorf("--head %q is no commit's id", cmd.Head), "write all 40 digits, in small letters, as git rev-parse prints them")
	case cmd.Base == "":
		return usageError(errors.New("there is no --base, and no event of a pull request that names it"), "--base BRANCH, the branch to merge into")
	case !review.IsBranchName(cmd.Base):
		return usageError(fmt.Errorf("--base %q is no name of a branch", cmd.Base), "write it as GitHub shows it: main")
	case cmd.RunID <= 0:
		return usageError(errors.New("there is no --run"), "in a job it is GITHUB_RUN_ID; elsewhere --run 1 does for a try")
	case cmd.Attempt <= 0:
		return usageError(errors.New("there is no --attempt"), "in a job it is GITHUB_RUN_ATTEMPT; elsewhere --attempt 1 does for a try")
	}
	return nil
}

// A reviewedEvent is as much of a job's event as says what is reviewed.
type reviewedEvent struct {
	PullRequest struct {
		Head struct{ SHA string } `json:"head"`
		Base struct{ Ref string } `json:"base"`
	} `json:"pull_request"`
	Inputs struct { // of a workflow_dispatch
		Head string `json:"head"`
		Base string `json:"base"`
	} `json:"inputs"`
}

// readReviewedEvent reads the job's event; without one nothing is known.
func readReviewedEvent(path string) (event reviewedEvent, err error) {
	if path == "" {
		return event, nil
	}
	payload, err := readFileUpTo(path, webhook.MaxPayload)
	if err == nil {
		err = json.Unmarshal(payload, &event)
	}
	if err != nil {
		return reviewedEvent{}, usageError(
			fmt.Errorf("read the event: %w", err),
			"GITHUB_EVENT_PATH names the file; --head and --base do without it",
		)
	}
	return event, nil
}

func answerForm(name string) review.AnswerForm {
	forms := map[string]review.AnswerForm{"codex": review.CodexAnswer, "claude": review.ClaudeAnswer}
	return cmp.Or(forms[name], review.PlainAnswer)
}

// severityFlag returns the severity that a flag names; any is none.
func severityFlag(name string) (s quorum.Severity) {
	if name == "any" || s.UnmarshalText([]byte(name)) != nil {
		return quorum.SeverityAny
	}
	return s
}

// describeVerdict says in one line what a verdict file says. It quotes nobody.
func describeVerdict(f review.VerdictFile) string {
	return fmt.Sprintf(
		"%s, %s, %s read, head %.7s, base %s, run %d, attempt %d",
		f.Verdict, countNoun(len(f.Findings), "finding"), countNoun(len(f.FilesReviewed), "file"),
		f.Head, oneLine(f.Base), f.Run, f.Attempt,
	)
}

// describeMade describes a verdict file, and says of an approval of these changed files what was not read.
func describeMade(f review.VerdictFile, changed []quorum.File) string {
	got := f.Reading(quorum.Critical, changed, true)
	if got.Outcome != quorum.Partial || len(changed) == 0 {
		return describeVerdict(f)
	}
	return describeVerdict(f) + "; partial, " + oneLine(got.Detail)
}

// readChanged reads a list of changed files as git prints it: of each its status and its names, each before a NUL.
func (c *command) readChanged(ctx context.Context, name string) (changed []quorum.File, err error) {
	if name == "" {
		return nil, nil
	}
	text, err := c.readInput(ctx, name, webhook.MaxPayload)
	if err != nil {
		return nil, err
	}
	for fields := strings.Split(string(text), "\x00"); len(fields) > 1; {
		n := 2
		f := quorum.File{Path: fields[1], Deleted: fields[0] == "D", NoText: true} // only GitHub says that it is text
		if strings.HasPrefix(fields[0], "R") && len(fields) > 3 {
			n, f.Path, f.Previous = 3, fields[2], fields[1]
		}
		changed, fields = append(changed, f), fields[n:]
	}
	if len(changed) == 0 {
		err := fmt.Errorf("%s holds no changed file", name)
		return nil, usageError(err, "git diff --name-status -z BASE...HEAD writes it")
	}
	return changed, nil
}

type verdictCheckCmd struct {
	File        string `arg:"" help:"The verdict file; - reads standard input."`
	MinSeverity string `help:"Read it as under a policy with this min_severity: any (the default), low, medium, high or critical." placeholder:"LEVEL" default:"any" enum:"any,low,medium,high,critical"`
	Changed     string `help:"The changed files, as git diff --name-status -z prints them. Default: those that the file names." placeholder:"FILE"`
	JSON        bool   `help:"Print JSON." name:"json"`
}

// A verdictJSON is what verdict check --json prints.
type verdictJSON struct {
	File     string           `json:"file"`
	Head     string           `json:"head"`
	Base     string           `json:"base"`
	Run      int64            `json:"run"`
	Attempt  int              `json:"attempt"`
	Outcome  quorum.Outcome   `json:"outcome"`
	Reason   quorum.Reason    `json:"reason"`
	Detail   string           `json:"detail"`
	Findings []quorum.Finding `json:"findings"`
}

// Run checks the file.
func (cmd verdictCheckCmd) Run(ctx context.Context, c *command) error {
	changed, err := c.readChanged(ctx, cmd.Changed)
	if err != nil {
		return err
	}
	text, err := c.readInput(ctx, cmd.File, review.MaxVerdictFile+1)
	if err != nil {
		return err
	}
	file, err := review.ParseVerdictFile(text)
	if err != nil {
		name := cmd.File
		if name == "-" {
			name = "<stdin>"
		}
		return usageError(fmt.Errorf("%s is no verdict: %w", name, err), "coordinator verdict make writes one")
	}
	if cmd.Changed == "" {
		for _, name := range file.FilesReviewed {
			changed = append(changed, quorum.File{Path: name})
		}
	}
	got := file.Reading(severityFlag(cmd.MinSeverity), changed, true)
	if cmd.JSON {
		return c.writeJSON(verdictJSON{
			File: cmd.File, Head: file.Head, Base: file.Base, Run: file.Run, Attempt: file.Attempt,
			Outcome: got.Outcome, Reason: got.Reason, Detail: got.Detail, Findings: append([]quorum.Finding{}, got.Findings...),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", oneLine(cmd.File), describeVerdict(file))
	fmt.Fprintf(&b, "%s (%s): %s\n", got.Outcome, got.Reason, report.Sentence(got.Reason))
	fmt.Fprintf(&b, "  read: %s\n", oneLine(got.Detail))
	writeFindings(&b, got.Findings)
	_, err = io.WriteString(c.Stdout, b.String())
	return err
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

type verdictSchemaCmd struct{}

// Run prints the schema.
func (verdictSchemaCmd) Run(c *command) error {
	_, err := io.WriteString(c.Stdout, review.AnswerSchema())
	return err
}
