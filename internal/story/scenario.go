package story

// A scenario file: a policy, what happens on GitHub, and what the coordinator made of it. People write them to see what
// a policy would do on a bad day, so the language is small and strict, and a mistake is shown with its line and a
// caret.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Begin is the moment at which every story begins.
var Begin = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// A Scenario is a story to be told: its reviewers, and what happens at which time.
type Scenario struct {
	File             string
	Title            string // its first line
	Policy           string // the policy file on the default branch; "" if there is none
	LinesAbovePolicy int    // lines of the file above the policy
	RecordedStory    string // the story section; "" if there is none
	HasStory         bool   // the file has a story section

	src           string
	opensPull     bool           // a pull request is opened in it
	changesPolicy bool           // the policy changes in it
	storyOffset   int            // offset of what follows the story's heading
	tokenOwner    string         // the login of a personal token
	appSlug       string         // of the App whose token it is; "": GITHUB_TOKEN's
	hasFaults     bool           // GitHub fails in it
	setup         []scenarioStep // steps before the story begins
	timeline      []scenarioStep
	reactions     []reaction
	reviewers     map[string]quorum.Reviewer // of every policy in it, by name
	checkName     string                     // of the first policy
	commitNames   []string                   // of its commits
}

// scenarioStep is one thing that happens: a line of a timeline.
type scenarioStep struct {
	at   time.Duration
	line int
	text string // as it stands in the file
	do   func(*world) error
}

// reaction is a list of steps that follow the rerun of a run, or a request to a reviewer.
type reaction struct {
	label      string // label of the run, or name of the reviewer
	onAsk      bool
	onDispatch bool // label is the workflow that was started
	occurrence int  // the attempt that begins, or which request it is; 0: each
	steps      []scenarioStep
}

// A ParseError is a mistake in a scenario file.
type ParseError struct {
	File    string
	Line    int // 1-based
	Column  int // 1-based, in characters
	Width   int
	Message string
	Hint    string
	Source  string // the line
}

func (p ParseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	if p.Source != "" {
		at := []rune(p.Source)[:min(p.Column-1, len([]rune(p.Source)))]
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, string(at))
		fmt.Fprintf(&b, "\n%5d | %s\n      | %s%s", p.Line, p.Source, pad, strings.Repeat("^", max(p.Width, 1)))
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", p.Hint)
	}
	return b.String()
}

// maxProblems is how many mistakes of one file are shown.
const maxProblems = 10

// scenarioParser reads one scenario file.
type scenarioParser struct {
	*Scenario
	lines        []string
	lineIndex    int // index of the line that is read
	problems     []ParseError
	runLabels    map[string]bool // of runs that are started
	knownCommits map[string]bool
	labelUses    []labelUse
	policyBroken bool // a policy cannot be read, so its reviewers are unknown
}

// labelUse is the use of a label that must be introduced somewhere in the file.
type labelUse struct {
	label     string
	line      int
	word      token
	startsRun bool // it starts a run: the label must be a reviewer with a workflow
}

const sectionList = "-- policy --, -- github --, -- timeline --, -- on rerun of LABEL --, -- on ask of REVIEWER --, " +
	"-- on dispatch of WORKFLOW -- and -- story --"

// Parse reads a scenario; file is only used in messages. Its error is a [ParseError], or several that are joined.
func Parse(file string, src []byte) (*Scenario, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	p := &scenarioParser{
		Scenario: &Scenario{File: file, src: text, reviewers: map[string]quorum.Reviewer{}},
		lines:    strings.Split(text, "\n"), runLabels: map[string]bool{}, knownCommits: map[string]bool{},
	}
	p.parseFile()
	p.checkLabels()
	p.commitNames = slices.Sorted(maps.Keys(p.knownCommits))
	if len(p.problems) == 0 {
		return p.Scenario, nil
	}
	slices.SortStableFunc(p.problems, func(a, b ParseError) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var errs []error
	for _, problem := range p.problems[:min(len(p.problems), maxProblems)] {
		errs = append(errs, problem)
	}
	return nil, errors.Join(errs...)
}

func (p *scenarioParser) addProblem(line, column, width int, message, hint string) {
	source := ""
	if line >= 1 && line <= len(p.lines) {
		source = p.lines[line-1]
	}
	p.problems = append(
		p.problems,
		ParseError{File: p.File, Line: line, Column: column, Width: width, Message: message, Hint: hint, Source: source},
	)
}

// parseFile reads the sections. The text before the first one says what the story is about.
func (p *scenarioParser) parseFile() {
	for p.lineIndex < len(p.lines) && sectionName(p.lines[p.lineIndex]) == "" {
		if p.Title == "" {
			p.Title = strings.TrimSpace(p.lines[p.lineIndex])
		}
		p.lineIndex++
	}
	seen := map[string]bool{}
	for p.lineIndex < len(p.lines) {
		name, head := sectionName(p.lines[p.lineIndex]), p.lineIndex+1
		p.lineIndex++
		if seen[name] {
			p.addProblem(head, 1, len(p.lines[head-1]), fmt.Sprintf("a second section %q", name), "")
		}
		seen[name] = true
		p.parseSection(name, head)
	}
	if !seen["timeline"] {
		p.addProblem(1, 1, 1, "the scenario has no timeline", "its sections are "+sectionList)
	}
}

// sectionName returns the name in a line like -- name --; "" if the line is none.
func sectionName(line string) string {
	inner, found := strings.CutPrefix(line, "-- ")
	if inner, closed := strings.CutSuffix(strings.TrimRight(inner, " "), " --"); found && closed {
		return strings.TrimSpace(inner)
	}
	return ""
}

func (p *scenarioParser) parseSection(name string, head int) {
	words := strings.Fields(name)
	switch {
	case name == "policy":
		p.LinesAbovePolicy = head
		p.Policy = strings.Join(p.takeSectionLines(), "\n")
		p.learnReviewers(p.Policy)
	case name == "github":
		p.setup = p.parseSteps(false)
	case name == "timeline":
		p.timeline = p.parseSteps(true)
	case name == "story":
		for _, line := range p.lines[:p.lineIndex] {
			p.storyOffset += len(line) + 1
		}
		p.storyOffset = min(p.storyOffset, len(p.src))
		p.HasStory, p.RecordedStory = true, strings.TrimRight(strings.Join(p.takeSectionLines(), "\n"), "\n")+"\n"
	case len(words) >= 4 && words[0] == "on" && slices.Contains([]string{"rerun", "ask", "dispatch"}, words[1]):
		p.parseReaction(words, head)
	default:
		p.addProblem(head, 4, len(name), fmt.Sprintf("%q is not a section", name), "the sections are "+sectionList)
		p.takeSectionLines()
	}
}

// parseReaction reads "on rerun of openai", "on ask of copilot", "on rerun 3 of openai".
func (p *scenarioParser) parseReaction(words []string, head int) {
	r := reaction{onAsk: words[1] == "ask", onDispatch: words[1] == "dispatch", label: words[len(words)-1]}
	middle := words[2 : len(words)-1]
	if len(middle) == 2 {
		if _, err := fmt.Sscanf(middle[0], "%d", &r.occurrence); err != nil || r.occurrence < 1 {
			p.addProblem(
				head,
				4,
				len(strings.Join(words, " ")),
				fmt.Sprintf("%q is not the number of an attempt", middle[0]),
				"-- on rerun 3 of openai -- is what happens in its third attempt",
			)
		}
		middle = middle[1:]
	}
	if len(middle) != 1 || middle[0] != "of" {
		p.addProblem(
			head,
			4,
			len(strings.Join(words, " ")),
			"a reaction names one run or reviewer",
			"write -- on rerun of openai -- or -- on ask of copilot --",
		)
	}
	p.labelUses = append(
		p.labelUses,
		labelUse{label: r.label, line: head, word: token{text: r.label, col: strings.LastIndex(p.lines[head-1], r.label) + 1}},
	)
	r.steps = p.parseSteps(true)
	p.reactions = append(p.reactions, r)
}

// takeSectionLines returns the lines of a section whose text is taken as it is.
func (p *scenarioParser) takeSectionLines() []string {
	from := p.lineIndex
	for p.lineIndex < len(p.lines) && sectionName(p.lines[p.lineIndex]) == "" {
		p.lineIndex++
	}
	return p.lines[from:p.lineIndex]
}

// learnReviewers adds the reviewers of a policy by their names. A broken policy adds none, and is no mistake: a
// story may be about that.
func (p *scenarioParser) learnReviewers(policy string) {
	parsed, err := config.Parse("policy", []byte(policy))
	p.checkName = cmp.Or(p.checkName, parsed.Check) // a broken policy has one too
	if err != nil {
		p.policyBroken = true
		return
	}
	for _, r := range parsed.Reviewers {
		p.reviewers[r.Name] = r
	}
	if parsed.Fix.Workflow != "" {
		p.runLabels[workflowLabel(parsed.Fix.Workflow)] = true
	}
}

// parseSteps reads the lines of a timeline.
func (p *scenarioParser) parseSteps(timed bool) (all []scenarioStep) {
	last := time.Duration(0)
	for p.lineIndex < len(p.lines) && sectionName(p.lines[p.lineIndex]) == "" {
		line := p.lines[p.lineIndex]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") { // a comment: no sentence begins with a number
			p.lineIndex++
			continue
		}
		s, ok := p.parseStep(line, timed, last)
		if ok {
			last = s.at
			all = append(all, s)
		}
	}
	return all
}

// parseStep reads one line with the text below it.
func (p *scenarioParser) parseStep(line string, timed bool, last time.Duration) (scenarioStep, bool) {
	l := &sentenceParser{parser: p, line: p.lineIndex + 1, tokens: splitTokens(line)}
	p.lineIndex++
	for p.lineIndex < len(p.lines) {
		text := strings.TrimLeft(p.lines[p.lineIndex], " \t")
		if bar, found := strings.CutPrefix(text, "|"); found {
			l.body = append(l.body, strings.TrimPrefix(bar, " "))
		} else if quote, found := strings.CutPrefix(text, ">"); found && strings.HasPrefix(p.lines[p.lineIndex], " ") {
			l.inlineComments = append(l.inlineComments, inlineComment{text: strings.TrimSpace(quote), line: p.lineIndex + 1})
		} else {
			break
		}
		p.lineIndex++
	}
	s := scenarioStep{line: l.line, text: strings.TrimSpace(line)}
	if timed {
		at, ok := l.parseTime(last)
		if !ok {
			return s, false
		}
		s.at = at
	}
	s.do = l.parse()
	s.text = strings.Join(strings.Fields(line), " ")
	if timed {
		_, s.text, _ = strings.Cut(s.text, " ")
	}
	return s, s.do != nil
}

// checkLabels reports labels that are used, and introduced nowhere.
func (p *scenarioParser) checkLabels() {
	for _, u := range p.labelUses {
		if r := p.reviewers[u.label]; u.startsRun && r.Workflow == "" && !p.policyBroken {
			hint := "AUTHOR comments, AUTHOR reviews and APP sets check need no run; starts workflow PATH names its workflow"
			if r.Name == "" {
				hint = suggestWord(u.label, slices.Collect(maps.Keys(p.reviewers)))
			}
			p.addProblem(u.line, u.word.col, u.word.width(), fmt.Sprintf("the policy has no reviewer %q with a workflow", u.label), hint)
			continue
		}
		if p.runLabels[u.label] || p.reviewers[u.label].Name != "" {
			continue
		}
		p.addProblem(
			u.line,
			u.word.col,
			u.word.width(),
			fmt.Sprintf("no run or reviewer is called %q", u.label),
			suggestWord(u.label, p.knownLabels()),
		)
	}
}

// knownLabels returns the names of runs and reviewers.
func (p *scenarioParser) knownLabels() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(p.runLabels)), maps.Keys(p.reviewers))
}

// Rewritten returns the file with another story.
func (s *Scenario) Rewritten(story string) []byte {
	if s.HasStory {
		return []byte(s.src[:s.storyOffset] + story)
	}
	return []byte(strings.TrimRight(s.src, "\n") + "\n\n-- story --\n" + story)
}

// EmptyReason returns the reason why nothing can come of the story; "" if something can.
func (s *Scenario) EmptyReason() string {
	switch {
	case !s.opensPull:
		return "no pull request is opened in it"
	case s.Policy == "" && !s.changesPolicy:
		return "there is no policy in it"
	}
	return ""
}

// WithPolicy returns the same story under another policy.
func (s *Scenario) WithPolicy(policy string) (*Scenario, error) {
	lines := strings.Split(s.src, "\n")
	out := make([]string, 0, len(lines))
	skip := false
	for _, line := range lines {
		if name := sectionName(line); name != "" {
			skip = name == "policy" || name == "story"
		}
		if skip { // mistakes below keep their line numbers
			line = ""
		}
		out = append(out, line)
	}
	return Parse(s.File, []byte(strings.Join(out, "\n")+"\n-- policy --\n"+policy))
}

// suggestWord returns a hint that names the known word most like this one, or else all of them.
func suggestWord(word string, known []string) string {
	slices.Sort(known)
	known = slices.Compact(known)
	best, distance := "", max(len(word)/2, 1)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("did you mean %q?", best)
	case len(known) == 0:
		return ""
	}
	return "known: " + strings.Join(known, ", ")
}

// editDistance returns how many letters must be changed to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
