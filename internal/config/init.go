package config

// A first policy file, made from what a repository shows of its reviewers. Nothing is invented: what was not seen
// stands in a comment with the words "fill in", and does nothing.

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// A Survey is what a repository shows of its reviewers.
type Survey struct {
	Repo      string // owner/name
	Branch    string // the default branch
	Pulls     []int  // that were looked at, newest first
	Private   bool
	Workflows []workflow.File // of the default branch
	Runs      []SurveyedRun
	Texts     []SurveyedText
	Inline    []SurveyedInline
	Checks    []SurveyedCheck
}

// A SurveyedRun is a run on a head of a pull request that was looked at.
type SurveyedRun struct {
	Pull int
	quorum.Run
}

// A SurveyedText is a review or a comment on one of the pull requests.
type SurveyedText struct {
	Pull int
	quorum.Text
}

// A SurveyedInline is a comment on a line of a diff.
type SurveyedInline struct {
	Pull   int
	Author quorum.Account
}

// A SurveyedCheck is a check run of an App on one of the heads.
type SurveyedCheck struct {
	Pull      int
	Name, App string
}

// SchemaAddress is where editors find the schema of policies.
const SchemaAddress = "https://raw.githubusercontent.com/review-coordinator/coordinator/main/docs/policy.schema.json"

// A Draft is a first policy, and what it was made of. JSON shows all but the policy and the workflows.
type Draft struct {
	Policy []byte   `json:"-"`
	Found  []Found  `json:"reviewers"` // those that vote first, then those in comments
	Listen []string `json:"-"`         // names of the reviewers' workflows
	Notes  []string `json:"notes"`     // what else a person should know, in words of ours
	Fill   []Fill   `json:"fill_in"`
}

// NewDraft returns a draft without anything.
func NewDraft() Draft { return Draft{Found: []Found{}, Notes: []string{}, Fill: []Fill{}} }

// A Found is a reviewer of a draft.
type Found struct {
	Name     string   `json:"name"`
	Preset   string   `json:"preset,omitempty"`
	Votes    bool     `json:"votes"`             // else it stands in a comment
	Evidence []string `json:"evidence"`          // in words of ours
	ToFill   string   `json:"fill_in,omitempty"` // of one that does not vote
}

// A Fill is a line of a file that a person must fill in.
type Fill struct {
	Line int    `json:"line"` // 1-based
	What string `json:"what"`
}

// reviewActions are the actions that reviewers' workflows use, with the preset that reads their texts. An action
// without a preset is a reviewer of the general kind.
var reviewActions = []reviewAction{
	{"anthropics/claude-code-action", "claude-action"},
	{"openai/codex-action", "codex-action"},
	{"google-github-actions/run-gemini-cli", "gemini-cli"},
	{"google-gemini/gemini-cli-action", "gemini-cli"},
	{"qodo-ai/pr-agent", ""},
	{"codium-ai/pr-agent", ""},
	{"coderabbitai/ai-pr-reviewer", ""},
	{"anc95/chatgpt-codereview", ""},
	{"actions/ai-inference", ""},
	{"sst/opencode/github", ""},
	{"github/gh-aw/actions/setup", ""},
}

// modelCallPattern finds the names of secrets and hosts by which a script calls a model.
var modelCallPattern = lazy.Regexp(
	`(?i)\b(?:ANTHROPIC_API_KEY|OPENAI[._](?:API_)?KEY|GEMINI_API_KEY|GOOGLE_API_KEY` +
		`|MISTRAL_API_KEY|OPENROUTER_API_KEY|CLAUDE_CODE_OAUTH_TOKEN|COPILOT_GITHUB_TOKEN` +
		`|api\.anthropic\.com|api\.openai\.com` +
		`|generativelanguage\.googleapis\.com|openrouter\.ai)\b`,
)

type reviewAction struct{ uses, preset string }

// foundReviewer is a reviewer of the survey.
type foundReviewer struct {
	name, preset, workflow, author, heading string
	seen                                    []string // the evidence for it, in words of ours
	toFill                                  string   // the part that a person must fill in; "": the entry stands as it is
	lacksHeading                            bool     // toFill is about its heading
	note                                    string   // further advice
	when                                    []string // any_path: its workflow starts for these
}

// What stands before and after the mode of a first policy.
const (
	policyHead = `# yaml-language-server: $schema=%s
# The policy of the review coordinator: which reviewers vote on a pull request, and how many approvals are enough.
# Made by coordinator init from what %s showed; read it before you trust it.
# Looked at: %s and %s.
# It counts once it is on the default branch. Check it: coordinator config check FILE
version: 1

# How many approvals are needed: majority (more than half of the voters), all, or a number.
quorum: majority

`
	stopgapMode = `# Nobody reviews yet, so that nothing is held back: take this line out once your reviewers stand below.
mode: report
`
	trialMode = `# To try it without holding anything back: the check is neutral and says (report only).
# mode: report
`
	policyWaits = `
# Defaults that you may want to change: a reached quorum waits so long for the rest, and each attempt may take so long.
# grace: 3m
# timeout: 10m

`
	stopgapReviewer = `  # FILL IN: a reviewer in place of this one, which nobody is.
  - name: fill-in
    author: %s
`
	noReviewers = `  # Nothing was recognised. An App that reviews:
  # - preset: copilot          # one of %s
  # A workflow that reviews; its texts must open with a heading of their own:
  # - name: my-reviewer
  #   workflow: .github/workflows/FILL-IN.yml
  #   heading: "## FILL IN"
`
)

// Init writes a commented policy for the reviewers that s shows, and says which lines a person must fill in. Without
// a single reviewer that is sure, it names one that nobody is, and holds nothing back: the check then appears, and
// says what is missing.
func Init(s Survey) (d Draft) {
	d = NewDraft()
	sure, unsure, notes := s.findReviewers()
	listen, more := s.namesToListenTo(slices.Concat(sure, unsure))
	d.Listen, d.Notes = listen, append(append(d.Notes, notes...), more...)
	stopgap := len(sure) == 0
	var w policyWriter
	w.writeText(policyHead, SchemaAddress, s.Repo, countNoun(len(s.Workflows), "workflow"), countNoun(len(s.Pulls), "pull request"))
	if stopgap {
		w.writeText(stopgapMode)
	} else {
		w.writeText(trialMode)
	}
	w.writeText(policyWaits)
	for _, note := range d.Notes {
		w.writeText("# %s\n", note)
	}
	if len(d.Notes) > 0 {
		w.writeText("\n")
	}
	w.writeText("reviewers:\n")
	if len(sure) == 0 {
		d.Fill = append(d.Fill, Fill{w.countLines(), "no reviewer was recognised for sure: without one there is no vote"})
	}
	if stopgap {
		w.writeText(stopgapReviewer, yamlScalar(fillInAuthor))
	}
	for _, f := range sure {
		w.writeEntry(f, "  ")
	}
	for _, f := range unsure {
		w.writeText("\n")
		at := w.writeEntry(f, "  # ")
		d.Fill = append(d.Fill, Fill{at, f.toFill})
	}
	for _, f := range slices.Concat(sure, unsure) {
		d.Found = append(d.Found, Found{cmp.Or(f.name, f.preset), f.preset, f.toFill == "", f.seen, f.toFill})
	}
	if len(sure)+len(unsure) == 0 {
		w.writeText(noReviewers, strings.Join(review.Presets(), ", "))
	}
	d.Policy = w.Bytes()
	return d
}

// addEvidence notes evidence for the reviewer.
func (f *foundReviewer) addEvidence(format string, a ...any) {
	f.seen = append(f.seen, fmt.Sprintf(format, a...))
}

type policyWriter struct{ bytes.Buffer }

func (w *policyWriter) writeText(format string, a ...any) { fmt.Fprintf(w, format, a...) }

func (w *policyWriter) countLines() int { return bytes.Count(w.Bytes(), []byte("\n")) }

// writeEntry writes one reviewer and returns the line of what is missing in it.
func (w *policyWriter) writeEntry(f foundReviewer, indent string) (missing int) {
	comment := strings.TrimRight(strings.TrimSuffix(indent, "# "), " ") + "  # "
	for _, line := range append(slices.Clone(f.seen), f.note) {
		if line != "" {
			w.writeText("%s%s\n", comment, line)
		}
	}
	if f.toFill != "" {
		w.writeText("%sFILL IN: %s, then take the \"# \" from the lines below.\n", comment, f.toFill)
		missing = w.countLines()
	}
	dash := "- "
	key := func(name, value string) {
		if value != "" {
			w.writeText("%s%s%s: %s\n", indent, dash, name, yamlScalar(value))
			dash = "  "
		}
	}
	key("name", f.name)
	key("preset", f.preset)
	key("workflow", f.workflow)
	key("author", f.author)
	if f.lacksHeading {
		w.writeText("%s%sheading: \"## FILL IN\"\n", indent, dash)
		missing = w.countLines()
	}
	key("heading", f.heading)
	if len(f.when) > 0 {
		quoted := make([]string, 0, len(f.when))
		for _, pattern := range f.when {
			quoted = append(quoted, strconv.Quote(pattern))
		}
		w.writeText("%s%swhen: {any_path: [%s]}\n", indent, dash, strings.Join(quoted, ", "))
	}
	return missing
}

var plainScalar = lazy.Regexp(`^(?:\.github/|[A-Za-z])[A-Za-z0-9./_-]*(?: [A-Za-z0-9][A-Za-z0-9./_-]*)*$`)

// yamlScalar writes a text as YAML: plain where that is safe, else quoted so that no character of it does anything.
func yamlScalar(text string) string {
	if plainScalar().MatchString(text) &&
		!slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD")) // what Go escapes, YAML reads as Go does
}

func countNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// findReviewers returns the reviewers of which enough was seen, those of which something is missing, and what else
// should be said.
func (s Survey) findReviewers() (sure, unsure []foundReviewer, notes []string) {
	sure, notes = s.findApps()
	r := newSurveyReader(s)
	for _, w := range s.Workflows {
		f, is := r.examineWorkflow(r.files[w.Path])
		switch {
		case !is:
		case f.toFill == "":
			sure = append(sure, f)
		default:
			unsure = append(unsure, f)
		}
	}
	isAction := func(f foundReviewer) bool { return f.preset == "claude-action" }
	if slices.ContainsFunc(slices.Concat(sure, unsure), isAction) { // both post as claude[bot]
		sure = slices.DeleteFunc(sure, func(f foundReviewer) bool { return f.preset == "claude-review" })
	}
	sure, unsure = makeDistinct(sure, append(unsure, s.findUnknownBots()...))
	return sure, unsure, notes
}

// findApps returns the reviewers that post under an account of their own.
func (s Survey) findApps() (all []foundReviewer, notes []string) {
	for _, name := range review.Presets() {
		r, _ := review.Preset(name)
		if review.NeedsWorkflow(name) || r.Author == "" || r.Author == quorum.ActionsBot {
			continue
		}
		var pulls []int // of each text and check run
		for _, t := range s.Texts {
			if t.Author.Is(r.Author) {
				pulls = append(pulls, t.Pull)
			}
		}
		texts := len(pulls)
		for _, c := range s.Checks {
			if r.Check != "" && c.Name == r.Check && c.App == r.App {
				pulls = append(pulls, c.Pull)
			}
		}
		switch {
		case len(pulls) == 0:
		case r.Retired:
			notes = append(notes, fmt.Sprintf("%s posted here, but its service has ended: it is no reviewer any more.", r.Author))
		case review.IsScanner(name):
			notes = append(notes, fmt.Sprintf(
				"%s scans by rules and reviews nothing: require its own check, or add preset %s if its gate shall vote.", r.Author, name,
			))
		default:
			f := foundReviewer{preset: name, note: "It reads " + review.PresetNote(name) + "."}
			left := withoutNone(countNoun(texts, "text"), countNoun(len(pulls)-texts, "check run"))
			f.addEvidence("%s: %s on %s.", r.Author, strings.Join(left, " and "), pullList(pulls))
			all = append(all, f)
		}
	}
	return all, notes
}

// withoutNone leaves out what there is none of.
func withoutNone(counted ...string) []string {
	return slices.DeleteFunc(counted, func(text string) bool { return strings.HasPrefix(text, "0 ") })
}

// pullList names pull requests, the newest first.
func pullList(pulls []int) string {
	pulls = slices.Compact(slices.SortedFunc(slices.Values(pulls), func(a, b int) int { return b - a }))
	const most = 5
	var words []string
	for _, n := range pulls[:min(len(pulls), most)] {
		words = append(words, fmt.Sprintf("#%d", n))
	}
	list := strings.Join(words, ", ")
	if len(pulls) > most {
		list += fmt.Sprintf(" and %d more", len(pulls)-most)
	}
	return list
}

// A candidate is a workflow, with what it calls, that may be a reviewer's.
type candidate struct {
	workflow.File
	uses, preset string // the action by which it reviews, and what reads its texts; "": none that is known
	token        string // that the action is given, if it has an account of its own
	isJobToken   bool
	isElsewhere  bool   // its review is a workflow of another repository, by its name alone
	calls        bool   // it calls a model
	lower        string // its source, in lower case
}

// A surveyReader reads a survey, with each workflow by its path.
type surveyReader struct {
	Survey
	files map[string]candidate
}

// reviewJobPattern finds workflows of other repositories that say that they review: no preview, and no review of dependencies.
var reviewJobPattern = lazy.Regexp(`(?i)/(?:(?:ai|code|pr|claude|codex|gemini|llm)[-_])*(?:code[-_]|pr[-_])?review[^/]*\.ya?ml@`)

func newSurveyReader(s Survey) surveyReader {
	r := surveyReader{s, map[string]candidate{}}
	for _, w := range s.Workflows {
		c := candidate{File: w.WithCalled(s.Workflows)}
		for _, step := range c.Steps() {
			i := slices.IndexFunc(reviewActions, func(a reviewAction) bool { return a.uses == step.Action() })
			if i >= 0 && c.uses == "" {
				c.uses, c.preset = reviewActions[i].uses, reviewActions[i].preset
				c.token, c.isJobToken = step.OwnToken()
			}
		}
		for _, job := range c.Jobs {
			if c.uses == "" && !strings.HasPrefix(job.Uses, "./") && reviewJobPattern().MatchString(job.Uses) {
				c.uses, c.isElsewhere = cleanText(job.Uses, 120), true
			}
		}
		c.calls = c.uses != "" || modelCallPattern().MatchString(c.Source)
		c.lower = strings.ToLower(c.Source)
		r.files[w.Path] = c
	}
	return r
}

// examineWorkflow says whether a workflow is a reviewer's, by what its file uses or by what its runs left.
func (s surveyReader) examineWorkflow(w candidate) (f foundReviewer, is bool) {
	if !workflowPattern().MatchString(w.Path) || cleanText(w.Path, 200) != w.Path ||
		strings.Contains(w.Source, "review-coordinator/coordinator") {
		return f, false
	}
	f = foundReviewer{name: nameOfWorkflow(w.Path), workflow: w.Path, preset: w.preset}
	switch {
	case w.uses != "":
		f.addEvidence("%s uses %s.", w.Path, w.uses)
	case w.calls:
		f.addEvidence("%s calls a model.", w.Path)
	}
	r, known := review.Preset(f.preset)
	left := s.attributeTexts(w, r.Author)
	left.isOwn, left.author = known && r.Author != quorum.ActionsBot, r.Author
	if !w.calls && !left.hasVerdict() {
		return f, false
	}
	triggers := w.PullTriggers()
	if len(triggers) > 0 {
		flaw := f.addStart(w, triggers, s.Survey)
		f.addTexts(w, left)
		f.toFill = cmp.Or(f.toFill, flaw)
		return f, true
	}
	_, isAsked := w.Trigger("issue_comment")
	if w.Caller(s.Workflows) != "" || (!isAsked || w.uses == "") && !left.hasVerdict() {
		return f, false // its caller stands for it, or it does something else
	}
	f.addEvidence("It is not started by pull_request or pull_request_target, so that no run of it can be found by a pull request's head.")
	f.toFill = "start it by pull_request, or name only the author of its texts"
	return f, true
}

// attributedTexts are the texts that are a workflow's, by their headings, or may be; and those of an account of its own.
type attributedTexts struct {
	sure, doubtful []headingTexts
	byOwn          []int  // the pull requests of each
	author         string // that account
	isOwn          bool   // there is one, unless the workflow's action is given GITHUB_TOKEN
}

func (a attributedTexts) hasVerdict() bool {
	return slices.ContainsFunc(a.sure, func(l headingTexts) bool { return l.hasVerdict })
}

// bestHeadings are the texts with a verdict, else all.
func (a attributedTexts) bestHeadings() []headingTexts {
	if !a.hasVerdict() {
		return a.sure
	}
	return slices.DeleteFunc(slices.Clone(a.sure), func(l headingTexts) bool { return !l.hasVerdict })
}

// addTexts says by what a workflow's texts are known, or what is missing for that.
func (f *foundReviewer) addTexts(w candidate, left attributedTexts) {
	best := left.bestHeadings()
	switch {
	case left.isOwn && w.token != "" && !w.isJobToken:
		f.author, f.toFill = fillInAuthor, "its action is given an App's token: write as author who writes then"
	case left.isOwn && w.token == "" && len(left.byOwn) > 0:
		f.addEvidence("%s wrote while it ran, on %s.", left.author, pullList(left.byOwn))
	case len(best) == 1 && (left.hasVerdict() || !w.isElsewhere):
		f.heading = best[0].heading
		f.addEvidence("Its runs left %s under this heading, on %s.", countNoun(len(best[0].pulls), "text"), pullList(best[0].pulls))
		if !left.hasVerdict() && f.preset != "codex-action" {
			f.note = "None of them has a verdict that can be read: " +
				proposeVerdict(best[0].newest, `let its prompt end with "Ready to merge? Yes | No | With fixes".`)
		}
	case len(best) > 1:
		f.toFill, f.lacksHeading = "its runs left texts with different headings: write the one of its reviews", true
	case len(left.doubtful) > 0:
		one := left.doubtful[0]
		f.heading, f.toFill = one.heading, "see that this is the heading of its reviews"
		f.addEvidence("%s on %s under this heading, and other workflows ran at the same time.",
			countNoun(len(one.pulls), "text"), pullList(one.pulls))
	case left.isOwn && w.token == "":
		f.toFill = "no text of it was seen: see that it reviews pull requests"
	default:
		f.lacksHeading = true
		f.toFill = "no text of it was seen that opens with a heading of its own: write the heading that its texts open with"
	}
	if left.isOwn && (w.isJobToken || f.heading != "") { // its texts come from the account that all workflows share
		f.author = quorum.ActionsBot
	}
}

// addStart notes for which pull requests a workflow starts, and returns what must be mended for a vote.
func (f *foundReviewer) addStart(w candidate, starts []workflow.Trigger, s Survey) (flaw string) {
	need := workflow.Need{Base: s.Branch, ByPaths: true}
	startsForAll := false
	for _, t := range starts {
		need.Events = append(need.Events, t.Event)
		startsForAll = startsForAll || len(t.Paths)+len(t.PathsIgnore) == 0
	}
	if is, found := w.Flaw(need, s.Workflows); found {
		f.addEvidence("%s.", cleanText(is.Says, 200))
		flaw = is.Remedy
	}
	if f.when = starts[0].Paths; len(starts[0].PathsIgnore) > 0 {
		f.when = []string{"**"}
		for _, pattern := range starts[0].PathsIgnore {
			f.when = append(f.when, "!"+pattern)
		}
	}
	_, err := pathfilter.CompileAll(f.when)
	isLong := func(pattern string) bool { return len(pattern) > 200 || cleanText(pattern, 200) != pattern }
	if startsForAll || len(starts) > 1 || err != nil || len(f.when) > 100 || slices.ContainsFunc(f.when, isLong) {
		if f.when = nil; !startsForAll {
			f.addEvidence("It starts for some paths only: say which, with when:.")
		}
	}
	hasCondition := func(part string) bool {
		return slices.ContainsFunc(w.Jobs, func(j workflow.JobPlan) bool { return strings.Contains(j.If, part) })
	}
	if hasCondition(".draft") {
		f.addEvidence("Its if: leaves drafts out.")
	}
	if hasCondition("[bot]") {
		f.addEvidence("Its if: leaves robots' pull requests out: a lane with authors: may ask others for them.")
	}
	return flaw
}

// headingTexts are the texts that the runs of a workflow left under one heading.
type headingTexts struct {
	heading    string
	pulls      []int // of each text
	hasVerdict bool  // one of them has a verdict
	newest     SurveyedText
}

// attributeTexts returns the texts of a workflow: those that only a run of it can have written, and those that a run
// of another may have written, too. Of the account that all workflows share they count by their headings; own is an
// account that only such a workflow has, whose texts need none.
func (s surveyReader) attributeTexts(w candidate, own string) (left attributedTexts) {
	for _, t := range s.Texts {
		isOwn, heading := own != quorum.ActionsBot && t.Author.Is(own), openingHeading(t.Body)
		if !isOwn && (heading == "" || !t.Author.Is(quorum.ActionsBot)) {
			continue
		}
		could := s.writersOf(t)
		if isOwn { // by a token of its own, whatever the job's may
			could = slices.DeleteFunc(could, func(path string) bool { return s.files[path].preset != w.preset })
		} else {
			could = s.likelyWriters(could, heading)
		}
		switch {
		case !slices.Contains(could, w.Path):
		case isOwn && len(could) == 1:
			left.byOwn = append(left.byOwn, t.Pull)
		case !isOwn && len(could) == 1:
			left.sure = addText(left.sure, heading, t)
		case !isOwn && w.calls && hasVerdict(t):
			left.doubtful = addText(left.doubtful, heading, t)
		}
	}
	return left
}

// addText counts a text under its heading.
func addText(all []headingTexts, heading string, t SurveyedText) []headingTexts {
	i := slices.IndexFunc(all, func(l headingTexts) bool { return headingText(l.heading) == headingText(heading) })
	if i < 0 {
		i, all = len(all), append(all, headingTexts{heading: heading})
	}
	all[i].pulls = append(all[i].pulls, t.Pull)
	all[i].hasVerdict = all[i].hasVerdict || hasVerdict(t)
	if t.At.After(all[i].newest.At) {
		all[i].newest = t
	}
	return all
}

// proposeVerdict returns the line of a policy that would read a text, which a person must complete, or what else helps.
func proposeVerdict(t SurveyedText, otherwise string) string {
	if f, _, found := review.NewReader(quorum.Reviewer{}).SuggestField(t.Body); found {
		return "if its field says so, add " + review.VerdictRow(f)
	}
	return otherwise
}

// hasVerdict reports whether a text has a verdict.
func hasVerdict(t SurveyedText) bool {
	return slices.Contains([]quorum.Outcome{quorum.Approved, quorum.Findings}, readText(t))
}

// readText reads a text as coordinator classify does, as nobody's in particular.
func readText(t SurveyedText) quorum.Outcome {
	kind := review.Comment
	if t.Kind == quorum.TextReview {
		kind = review.Review
	}
	anybody := quorum.Reviewer{Name: "reviewer", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
	return review.Read(anybody, review.Material{Kind: kind, Body: t.Body, State: t.State, Threads: t.Threads}).Outcome
}

// writersOf returns the workflows of which a run was under way, or had just ended, when t was written.
func (s surveyReader) writersOf(t SurveyedText) (could []string) {
	const late = 60 // seconds after the end of a run
	for _, r := range s.Runs {
		if r.Pull == t.Pull && !t.At.Before(r.Started) && (!r.Completed() || t.At.Sub(r.Updated).Seconds() <= late) &&
			!slices.Contains(could, r.Path) {
			could = append(could, r.Path)
		}
	}
	return could
}

// likelyWriters returns those of them that can have written a text under a heading as the account of all workflows:
// without those that cannot comment, and nobody comments after them; a file that holds the heading settles a doubt.
func (s surveyReader) likelyWriters(could []string, heading string) []string {
	for _, w := range s.Workflows {
		if _, follows := w.Trigger("workflow_run"); follows && !strings.Contains(w.Source, "review-coordinator/coordinator") {
			return could
		}
	}
	could = slices.DeleteFunc(could, func(path string) bool {
		c, known := s.files[path]
		return known && !c.MayComment()
	})
	holds := slices.DeleteFunc(slices.Clone(could), func(path string) bool {
		return !strings.Contains(s.files[path].lower, headingText(heading))
	})
	if len(holds) > 0 {
		return holds
	}
	return could
}

var headingPattern = lazy.Regexp(`^(#{1,6})[ \t]+(\S.*)$`)

// openingHeading returns the heading that a text opens with; "" if it opens otherwise, or with one that a policy could
// not hold.
func openingHeading(body string) string {
	for {
		body = strings.TrimSpace(body)
		rest, isComment := strings.CutPrefix(body, "<!--")
		if !isComment {
			break
		}
		_, after, ended := strings.Cut(rest, "-->")
		if !ended {
			return ""
		}
		body = after
	}
	line, _, _ := strings.Cut(body, "\n")
	m := headingPattern().FindStringSubmatch(strings.TrimRight(line, " \t\r#"))
	if m == nil || len(m[0]) > 120 || cleanText(m[0], 120) != m[0] || headingText(m[0]) == "" {
		return ""
	}
	return m[0]
}

var notInNamePattern = lazy.Regexp(`[^a-z0-9]+`)

// nameOfWorkflow makes a reviewer's name of its workflow's file: at most 36 characters, for a number may follow.
func nameOfWorkflow(workflow string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(workflow), ".yml"), ".yaml")
	name = strings.Trim(notInNamePattern().ReplaceAllString(strings.ToLower(name), "-"), "-")
	return cmp.Or(name[:min(len(name), 36)], "reviewer")
}

// makeDistinct gives every reviewer a name of its own, and takes back what would let a text be two reviewers'.
func makeDistinct(sure, unsure []foundReviewer) (keep, rest []foundReviewer) {
	for _, f := range sure {
		alike := slices.ContainsFunc(keep, func(o foundReviewer) bool { return beginAlike(f.heading, o.heading) })
		same := slices.ContainsFunc(keep, func(o foundReviewer) bool {
			return f.preset != "" && f.preset == o.preset && f.heading == "" && o.heading == ""
		})
		switch {
		case alike:
			f.heading, f.toFill, f.lacksHeading = "", "its heading begins like another reviewer's: give it one of its own", true
			unsure = append(unsure, f)
		case same:
			f.toFill, f.lacksHeading = "another workflow posts under the same account: give both a heading", true
			unsure = append(unsure, f)
		default:
			keep = append(keep, f)
		}
	}
	names := map[string]bool{}
	for _, all := range [][]foundReviewer{keep, unsure} {
		for i, f := range all {
			name := cmp.Or(f.name, f.preset)
			for n := 2; names[name]; n++ {
				name = fmt.Sprintf("%s-%d", strings.TrimSuffix(name, fmt.Sprintf("-%d", n-1)), n)
				all[i].name = name
			}
			names[name] = true
		}
	}
	return keep, unsure
}
