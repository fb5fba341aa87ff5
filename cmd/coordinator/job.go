package main

// What a job is told beside the check: outputs for its next steps, the job summary, and a notice for each pull request
// that needs a person.

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A runResult is what a run came to for one pull request.
type runResult struct {
	pr       quorum.PR
	look     loop.Look
	checkID  int64 // id of the check run; 0 without one
	checkURL string
	err      error
}

// reportResults tells the job about all results. Outputs are written only if everything was evaluated: a verdict beside an error
// would be half of the truth.
func (c *command) reportResults(results []runResult) error {
	failed := slices.ContainsFunc(results, func(r runResult) bool { return r.err != nil })
	results = slices.DeleteFunc(slices.Clone(results), func(r runResult) bool { return r.look.Check.Name == "" && r.look.Decision.Verdict == 0 })
	slices.SortStableFunc(results, compareByRank)
	if len(results) == 0 {
		return nil
	}
	c.logTables(results)
	c.printNotices(results)
	if err := c.writeSummary(results); err != nil {
		return err
	}
	if failed {
		return nil
	}
	return c.writeOutputs(results[0])
}

// compareByRank sorts the worst first: what holds a merge back, by how certain that is.
func compareByRank(a, b runResult) int {
	return cmp.Compare(verdictRank(a.look.Decision.Verdict), verdictRank(b.look.Decision.Verdict))
}

func verdictRank(v quorum.Verdict) int {
	switch v {
	case quorum.Blocked:
		return 1
	case quorum.Unverified:
		return 2
	case quorum.Waiting:
		return 3
	case quorum.Passed:
		return 4
	case quorum.Ended:
		return 5
	}
	return 0 // unreachable unless nothing was decided
}

// An stepOutput of a step.
type stepOutput struct{ name, value string }

// maxDecisionBytes keeps the decision far below what GitHub takes of one job's outputs.
const maxDecisionBytes = 96 << 10

func stepOutputs(r runResult) ([]stepOutput, error) {
	d := r.look.Decision
	verdict := d.Verdict.String()
	if d.Verdict == quorum.Ended {
		verdict = "" // none of the four
	}
	decision, err := decisionJSON(r)
	if err != nil {
		return nil, err
	}
	return []stepOutput{
		{"verdict", verdict},
		{"conclusion", r.look.Check.Conclusion},
		{"approvals", strconv.Itoa(d.Approvals)},
		{"need", strconv.Itoa(d.Need)},
		{"unavailable", strings.Join(unavailableReviewers(d), ",")},
		{"reruns", strconv.Itoa(countReruns(r.look.Snapshot.Record))},
		{"check-run-id", idText(r.checkID)},
		{"check-url", r.checkURL},
		{"next-check-at", timeText(d.Wake)},
		{"decision", decision},
	}, nil
}

func unavailableReviewers(d quorum.Decision) (names []string) {
	for _, b := range d.Ballots {
		if b.Vote == quorum.Unavailable && !b.Shadow && !b.Retired {
			names = append(names, b.Reviewer)
		}
	}
	return names
}

// countReruns counts those that were made on this head and that GitHub did not refuse.
func countReruns(rec quorum.Record) (n int) {
	for _, in := range rec.Intents {
		refused := slices.ContainsFunc(rec.Refusals, func(no quorum.Refusal) bool {
			return no.Kind == in.Kind && no.Run == in.Run && no.Attempt == in.Attempt && no.Reviewer == in.Reviewer
		})
		if in.Kind == quorum.Rerun && !refused {
			n++
		}
	}
	return n
}

func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// decisionJSON is the decision as tools read it. Where it is too long, what strangers wrote goes first; the counts stay.
func decisionJSON(r runResult) (string, error) {
	type named struct {
		PullRequest string `json:"pull_request"`
		quorum.Decision
		Cut bool `json:"cut,omitempty"` // findings and answers were left out
	}
	d := named{PullRequest: r.pr.String(), Decision: r.look.Decision}
	text, err := json.MarshalIndent(d, "", " ")
	if err == nil && len(text) > maxDecisionBytes {
		d.Ballots, d.Cut = slices.Clone(d.Ballots), true
		for i := range d.Ballots {
			d.Ballots[i].Findings, d.Ballots[i].Answers = nil, nil
		}
		text, err = json.MarshalIndent(d, "", " ")
	}
	if err != nil {
		return "", fmt.Errorf("write outputs: %w", err)
	}
	return string(text), nil
}

// encodeOutputs writes outputs as the runner reads them: each between two lines that hold a delimiter. A value that holds it could
// end early and go on as another output, so the delimiter is drawn, and drawn again until no value holds it.
func encodeOutputs(all []stepOutput, draw func() string) ([]byte, error) {
	const tries = 8
	for range tries {
		delimiter := "ghadelimiter_" + draw()
		if slices.ContainsFunc(all, func(o stepOutput) bool {
			return strings.Contains(o.value, delimiter) || strings.Contains(o.name, delimiter)
		}) {
			continue
		}
		var b strings.Builder
		for _, o := range all {
			fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.name, delimiter, o.value, delimiter)
		}
		return []byte(b.String()), nil
	}
	return nil, errors.New("write outputs: every delimiter stands in a value")
}

// cleanText is a value that the runner reads as it is written: UTF-8 without NUL.
func cleanText(value string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\x00", "\uFFFD")
}

func (c *command) writeOutputs(worst runResult) error {
	path := c.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	all, err := stepOutputs(worst)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].value = cleanText(all[i].value)
	}
	encoded, err := encodeOutputs(all, rand.Text)
	if err != nil {
		return err
	}
	return appendToFile(path, encoded, "write outputs")
}

// appendToFile adds text to a file of the runner's, on a line of its own.
func appendToFile(path string, text []byte, what string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if end > 0 {
		if _, err := f.ReadAt(last, end-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		text = append([]byte{'\n'}, text...)
	}
	_, err = f.Write(text)
	return err
}

// maxSummaryBytes is what GitHub takes of one step's summary; more, and it shows none of it.
const maxSummaryBytes = 1 << 20

// writeSummary shows each check's own summary, table and all.
func (c *command) writeSummary(results []runResult) error {
	path := c.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	var used int64
	if info, err := os.Stat(path); err == nil {
		used = info.Size()
	}
	var b strings.Builder
	for i, r := range results {
		section := fmt.Sprintf("## %s\n\n%s\n\n", summaryHeading(r), cleanText(r.look.Check.Summary))
		rest := fmt.Sprintf("There is no room for %s more.\n", countNoun(len(results)-i, "pull request"))
		if used+int64(b.Len()+len(section)+len(rest)) >= maxSummaryBytes {
			b.WriteString(rest)
			break
		}
		b.WriteString(section)
	}
	if used+int64(b.Len()) >= maxSummaryBytes {
		return nil // another one has filled it: its summary stays
	}
	return appendToFile(path, []byte(b.String()), "write job summary")
}

// summaryHeading names a pull request, with a link to its check.
func summaryHeading(r runResult) string {
	name := report.Quote(r.pr.String())
	if strings.HasPrefix(r.checkURL, "https://") && !strings.ContainsAny(r.checkURL, " ()<>\"'`[]\\\n\r") {
		return fmt.Sprintf("%s · [check](%s)", name, r.checkURL)
	}
	return name
}

// logTables prints each check's table, folded where there are several.
func (c *command) logTables(results []runResult) {
	if c.jobOutput == nil {
		return
	}
	for _, r := range results {
		if len(r.look.Decision.Ballots) == 0 {
			continue
		}
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.Group(oneLine(r.pr.String() + ": " + r.look.Check.Title)) })
		fmt.Fprint(c.Stdout, report.Plain(r.look.Policy, r.look.Decision, r.look.At))
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.EndGroup() })
	}
}

// maxNotices is how many GitHub shows of one step.
const maxNotices = 10

// printNotices tells what needs a person, the worst first.
func (c *command) printNotices(results []runResult) {
	if c.jobOutput == nil {
		return
	}
	var told int
	for _, r := range results {
		why, needed := neededAction(r.look)
		if !needed || told == maxNotices {
			continue
		}
		told++
		title := oneLine(r.look.Check.Name + ": " + r.pr.String())
		c.jobOutput.sendCommand(func(a *githubactions.Action) {
			a = a.WithFieldsMap(map[string]string{"title": title})
			switch r.look.Decision.Verdict {
			case quorum.Blocked, quorum.Unverified:
				a.Warningf("%s", oneLine(why))
			default:
				a.Noticef("%s", oneLine(why))
			}
		})
	}
}

// neededAction says what a person must do about a pull request, if anything.
func neededAction(l loop.Look) (why string, needed bool) {
	d := l.Decision
	switch d.Verdict {
	case quorum.Blocked, quorum.Unverified:
		why, needed = l.Check.Title+".", true
	case quorum.Ended:
		return "There is no policy file on the default branch: no check is written. coordinator config init writes one.", d.Reason == quorum.ReasonNoPolicy
	case quorum.Waiting, quorum.Passed:
	}
	advice := []string{report.Advice(d.Reason)}
	for _, b := range d.Ballots {
		switch {
		case b.Shadow:
		case b.Vote == quorum.Object, b.Vote == quorum.Unavailable && needed, b.Vote == quorum.Pending && b.Reason == quorum.ReasonApproval:
			if a := report.Advice(b.Reason); a != "" {
				advice = append(advice, b.Reviewer+": "+a)
			}
			needed = needed || b.Reason == quorum.ReasonApproval
		}
	}
	for _, a := range advice {
		if a != "" {
			why = strings.TrimSpace(why + " " + a)
		}
	}
	return why, needed
}

// failOnError is the error of a run whose verdict --fail-on names.
func failOnError(words string, results []runResult) error {
	for _, r := range slices.SortedStableFunc(slices.Values(results), compareByRank) {
		if v := r.look.Decision.Verdict.String(); slices.Contains(splitVerdicts(words), v) {
			return &exitError{code: exitFailOn, err: fmt.Errorf("%s is %s: %s", r.pr, v, oneLine(r.look.Check.Title)), hint: "--fail-on asks for this exit code"}
		}
	}
	return nil
}

func splitVerdicts(words string) (all []string) {
	for word := range strings.SplitSeq(words, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// validateFailOn refuses what --fail-on does not know.
func validateFailOn(words string) error {
	for _, word := range splitVerdicts(words) {
		if word != quorum.Blocked.String() && word != quorum.Unverified.String() {
			return usageError(fmt.Errorf("--fail-on %q is no verdict to fail on", word), "write blocked, unverified or blocked,unverified")
		}
	}
	return nil
}
