package main

// The results of a job besides the check: outputs for its next steps, the job summary, and a notice for each pull
// request that needs a person.

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
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

// A runResult is the outcome of a run for one pull request.
type runResult struct {
	pr       quorum.PR
	look     loop.Look
	checkID  int64 // id of the check run; 0 without one
	checkURL string
	err      error
}

// reportResults writes all results to the job. Outputs are written only if every pull request was evaluated: a verdict
// next to an error would be half of the truth.
func (c *command) reportResults(results []runResult) error {
	failed := slices.ContainsFunc(results, func(r runResult) bool { return r.err != nil })
	results = slices.DeleteFunc(
		slices.Clone(results),
		func(r runResult) bool { return r.look.Check.Name == "" && r.look.Decision.Verdict == 0 },
	)
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
	outputs, err := stepOutputs(results[0])
	if err != nil {
		return err
	}
	return c.writeOutputs(outputs)
}

// verdictRanks are the verdicts that a run can end with, the worst first.
var verdictRanks = []quorum.Verdict{quorum.Blocked, quorum.Unverified, quorum.Waiting, quorum.Passed, quorum.Ended}

// compareByRank sorts the worst first: verdicts that block a merge, the most certain one at the head.
func compareByRank(a, b runResult) int {
	return cmp.Compare(slices.Index(verdictRanks, a.look.Decision.Verdict), slices.Index(verdictRanks, b.look.Decision.Verdict))
}

// A stepOutput is one output of the job's step.
type stepOutput struct{ name, value string }

// maxDecisionBytes keeps the decision far below GitHub's limit for the outputs of a job.
const maxDecisionBytes = 96 << 10

func stepOutputs(r runResult) ([]stepOutput, error) {
	d := r.look.Decision
	verdict := d.Verdict.String()
	if d.Verdict == quorum.Ended {
		verdict = "" // the output has four words, and this is none of them
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
		{"lane", strings.Join(d.Lane.Names(), ",")},
		{"need-people", strconv.Itoa(d.NeedPeople)},
		{"people", strings.Join(approvingPeople(d), ",")},
		{"decision", decision},
	}, nil
}

func unavailableReviewers(d quorum.Decision) (names []string) {
	for _, b := range d.Ballots {
		if b.Vote == quorum.Unavailable && b.Voter() {
			names = append(names, b.Reviewer)
		}
	}
	return names
}

// approvingPeople are the people whose approvals the policy asks for, as far as there are any.
func approvingPeople(d quorum.Decision) (logins []string) {
	for _, person := range d.People {
		if !person.Vouch {
			logins = append(logins, person.Login)
		}
	}
	return logins
}

// countReruns counts the reruns on this head that GitHub did not refuse.
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

// decisionJSON encodes the decision for tools. If it is too long, the texts of reviewers are left out; the counts stay.
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

// encodeOutputs encodes outputs as the runner reads them: each between two lines with a delimiter. A value that
// contained the delimiter could end early and forge another output: it is random, and drawn after the values.
func encodeOutputs(all []stepOutput) []byte {
	var b bytes.Buffer
	delimiter := "ghadelimiter_" + rand.Text()
	for _, o := range all {
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.name, delimiter, cleanText(o.value), delimiter)
	}
	return b.Bytes()
}

// cleanText makes a text valid UTF-8 without NUL, which the runner reads as it is written.
func cleanText(value string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\x00", "\uFFFD")
}

// writeOutputs writes the outputs of the job's step, if this is one.
func (c *command) writeOutputs(all []stepOutput) error {
	path := c.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	return appendToFile(path, encodeOutputs(all), "write outputs")
}

// appendToFile appends text to a file of the runner, on a line of its own: an earlier step may have left its last line
// open. The runner passes over empty lines.
func appendToFile(path string, text []byte, what string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		text = append([]byte{'\n'}, text...)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// maxSummaryBytes is GitHub's limit for a step's summary. It shows nothing of a longer one.
const maxSummaryBytes = 1 << 20

// writeSummary writes the summaries of all checks to the job's page.
func (c *command) writeSummary(results []runResult) error {
	path := c.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	var used int64
	if info, err := os.Stat(path); err == nil {
		used = info.Size() + 1 // the line break before ours
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
		return nil // an earlier command has filled it: what it wrote stays
	}
	return appendToFile(path, []byte(b.String()), "write job summary")
}

// summaryHeading returns the name of a pull request with a link to its check.
func summaryHeading(r runResult) string {
	name := report.Quote(r.pr.String())
	if strings.HasPrefix(r.checkURL, "https://") && !strings.ContainsAny(r.checkURL, " ()<>\"'`[]\\\n\r") {
		return fmt.Sprintf("%s · [check](%s)", name, r.checkURL)
	}
	return name
}

// logTables prints each check's table in a fold of the job's log.
func (c *command) logTables(results []runResult) {
	if c.jobOutput == nil {
		return
	}
	for _, r := range results {
		if len(r.look.Decision.Ballots) == 0 {
			continue
		}
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.Group(oneLine(r.pr.String() + ": " + r.look.Check.Title)) })
		fmt.Fprint(c.Stdout, r.look.Check.Page.Terminal(report.Styles{}, r.look.Decision.Start))
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.EndGroup() })
	}
}

// maxNotices is how many notices of one step GitHub shows.
const maxNotices = 10

// printNotices prints a notice for each pull request that needs a person, the worst first.
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

// neededAction returns what a person must do about a pull request, and whether anything is needed.
func neededAction(l loop.Look) (why string, needed bool) {
	d := l.Decision
	switch d.Verdict {
	case quorum.Blocked, quorum.Unverified:
		why, needed = l.Check.Title+".", true
	case quorum.Ended:
		why = "The default branch has no " + l.Snapshot.File.Path + ". coordinator init writes a policy."
		return why, d.Reason == quorum.ReasonNoPolicy
	case quorum.Passed:
		return "", false
	case quorum.Waiting:
		needed = slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool {
			return !b.Shadow && b.Vote == quorum.Pending && b.Reason == quorum.ReasonApproval
		})
	}
	for i, step := range l.Check.Page.Steps {
		if i == maxNoticeSteps {
			break
		}
		why = strings.TrimSpace(why + " " + step.Who.Plain() + ": " + step.What.Plain())
	}
	return why, needed
}

// maxNoticeSteps is how many steps a notice tells: the check has all.
const maxNoticeSteps = 3

// failOnError returns an error if --fail-on names the verdict of a result.
func failOnError(words string, results []runResult) error {
	for _, r := range slices.SortedStableFunc(slices.Values(results), compareByRank) {
		if v := r.look.Decision.Verdict.String(); slices.Contains(splitVerdicts(words), v) {
			return &exitError{
				code: exitFailOn,
				err:  fmt.Errorf("%s is %s: %s", r.pr, v, oneLine(r.look.Check.Title)),
				hint: "--fail-on asks for this exit code",
			}
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

// validateFailOn refuses words that are no verdict to fail on.
func validateFailOn(words string) error {
	for _, word := range splitVerdicts(words) {
		if word != quorum.Blocked.String() && word != quorum.Unverified.String() {
			return usageError(fmt.Errorf("--fail-on %q is no verdict to fail on", word), "write blocked, unverified or blocked,unverified")
		}
	}
	return nil
}
