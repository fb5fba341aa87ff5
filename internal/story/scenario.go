package story

// A scenario file: a policy, what happens on GitHub, and what the coordinator made of it. People write them to see what a
// policy would do on a bad day, so the language is small and strict, and a mistake is shown with its line and a caret.

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

// Begin is when every story begins.
var Begin = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// A Scenario is a story to be told: who reviews, and what happens when.
type Scenario struct {
	File   string
	Title  string // its first line
	Policy string // the policy file on the default branch; "" if there is none
	Above  int    // lines of the file above the policy
	Story  string // what came of it when the file was last written; "" if it does not say
	Told   bool   // the file has a story

	src       string
	opens     bool   // a pull request
	mends     bool   // the policy changes in it
	storyAt   int    // offset of what follows the story's heading
	person    string // the login of a personal token
	faulty    bool   // GitHub fails in it
	setup     []step // what is so from the beginning
	timeline  []step
	reactions []reaction
	reviewers map[string]quorum.Reviewer // of every policy in it, by name
	checkName string                     // of the first policy
	names     []string                   // of its commits
}

// step is something that happens.
type step struct {
	at   time.Duration
	line int
	text string // as it stands in the file
	do   func(*world) error
}

// reaction is what happens after a run was run again, or after a reviewer was asked.
type reaction struct {
	to    string // label of the run, or name of the reviewer
	asked bool
	nth   int // the attempt that begins, or which request it is; 0: each
	steps []step
}

// A Problem is a mistake in a scenario file.
type Problem struct {
	File    string
	Line    int // 1-based
	Column  int // 1-based, in characters
	Width   int
	Message string
	Hint    string
	Source  string // the line
}

func (p Problem) Error() string {
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

// mostProblems are shown of one file.
const mostProblems = 10

// parser reads one file.
type parser struct {
	*Scenario
	lines    []string
	at       int // index of the line that is read
	problems []Problem
	labels   map[string]bool // of runs that are started
	commits  map[string]bool
	used     []use
	broken   bool // a policy: nobody knows whom it would have named
}

// use is a label that must have been introduced somewhere.
type use struct {
	label  string
	line   int
	tok    token
	starts bool // as a reviewer with a workflow of its own
}

const sections = "-- policy --, -- github --, -- timeline --, -- on rerun of LABEL --, -- on ask of REVIEWER -- and -- story --"

// Parse reads a scenario; file is only used in messages. Its error is a [Problem], or several that are joined.
func Parse(file string, src []byte) (*Scenario, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	p := &parser{
		Scenario: &Scenario{File: file, src: text, reviewers: map[string]quorum.Reviewer{}},
		lines:    strings.Split(text, "\n"), labels: map[string]bool{}, commits: map[string]bool{},
	}
	p.file()
	p.check()
	p.names = slices.Sorted(maps.Keys(p.commits))
	if len(p.problems) == 0 {
		return p.Scenario, nil
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var errs []error
	for _, problem := range p.problems[:min(len(p.problems), mostProblems)] {
		errs = append(errs, problem)
	}
	return nil, errors.Join(errs...)
}

func (p *parser) fail(line, column, width int, message, hint string) {
	source := ""
	if line >= 1 && line <= len(p.lines) {
		source = p.lines[line-1]
	}
	p.problems = append(p.problems, Problem{File: p.File, Line: line, Column: column, Width: width, Message: message, Hint: hint, Source: source})
}

// file reads the sections. What stands before the first one says what the story is about.
func (p *parser) file() {
	for p.at < len(p.lines) && section(p.lines[p.at]) == "" {
		if p.Title == "" {
			p.Title = strings.TrimSpace(p.lines[p.at])
		}
		p.at++
	}
	seen := map[string]bool{}
	for p.at < len(p.lines) {
		name, head := section(p.lines[p.at]), p.at+1
		p.at++
		if seen[name] {
			p.fail(head, 1, len(p.lines[head-1]), fmt.Sprintf("a second section %q", name), "")
		}
		seen[name] = true
		p.section(name, head)
	}
	if !seen["timeline"] {
		p.fail(1, 1, 1, "the scenario has no timeline", "its sections are "+sections)
	}
}

// section is the name in a line like -- name --; "" if it is none.
func section(line string) string {
	inner, found := strings.CutPrefix(line, "-- ")
	if inner, closed := strings.CutSuffix(strings.TrimRight(inner, " "), " --"); found && closed {
		return strings.TrimSpace(inner)
	}
	return ""
}

func (p *parser) section(name string, head int) {
	words := strings.Fields(name)
	switch {
	case name == "policy":
		p.Above = head
		p.Policy = strings.Join(p.rest(), "\n")
		p.learn(p.Policy)
	case name == "github":
		p.setup = p.steps(false)
	case name == "timeline":
		p.timeline = p.steps(true)
	case name == "story":
		for _, line := range p.lines[:p.at] {
			p.storyAt += len(line) + 1
		}
		p.storyAt = min(p.storyAt, len(p.src))
		p.Told, p.Story = true, strings.TrimRight(strings.Join(p.rest(), "\n"), "\n")+"\n"
	case len(words) >= 4 && words[0] == "on" && (words[1] == "rerun" || words[1] == "ask"):
		p.reaction(words, head)
	default:
		p.fail(head, 4, len(name), fmt.Sprintf("%q is not a section", name), "the sections are "+sections)
		p.rest()
	}
}

// reaction reads "on rerun of openai", "on ask of copilot", "on rerun 3 of openai".
func (p *parser) reaction(words []string, head int) {
	r := reaction{asked: words[1] == "ask", to: words[len(words)-1]}
	middle := words[2 : len(words)-1]
	if len(middle) == 2 {
		if _, err := fmt.Sscanf(middle[0], "%d", &r.nth); err != nil || r.nth < 1 {
			p.fail(head, 4, len(strings.Join(words, " ")), fmt.Sprintf("%q is not the number of an attempt", middle[0]), "-- on rerun 3 of openai -- is what happens in its third attempt")
		}
		middle = middle[1:]
	}
	if len(middle) != 1 || middle[0] != "of" {
		p.fail(head, 4, len(strings.Join(words, " ")), "a reaction names one run or reviewer", "write -- on rerun of openai -- or -- on ask of copilot --")
	}
	p.used = append(p.used, use{label: r.to, line: head, tok: token{text: r.to, col: strings.LastIndex(p.lines[head-1], r.to) + 1}})
	r.steps = p.steps(true)
	p.reactions = append(p.reactions, r)
}

// rest are the lines of a section whose text is taken as it is.
func (p *parser) rest() []string {
	from := p.at
	for p.at < len(p.lines) && section(p.lines[p.at]) == "" {
		p.at++
	}
	return p.lines[from:p.at]
}

// learn makes the reviewers of a policy known by their names. A broken one has none: a story may be about that.
func (p *parser) learn(policy string) {
	parsed, err := config.Parse("policy", []byte(policy))
	p.checkName = cmp.Or(p.checkName, parsed.Check) // a broken policy has one too
	if err != nil {
		p.broken = true
		return
	}
	for _, r := range parsed.Reviewers {
		p.reviewers[r.Name] = r
	}
}

// steps reads the lines of a timeline.
func (p *parser) steps(timed bool) (all []step) {
	last := time.Duration(0)
	for p.at < len(p.lines) && section(p.lines[p.at]) == "" {
		line := p.lines[p.at]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") { // a comment: no sentence begins with a number
			p.at++
			continue
		}
		s, ok := p.step(line, timed, last)
		if ok {
			last = s.at
			all = append(all, s)
		}
	}
	return all
}

// step reads one line with the text below it.
func (p *parser) step(line string, timed bool, last time.Duration) (step, bool) {
	l := &sentence{p: p, line: p.at + 1, toks: tokens(line)}
	p.at++
	for p.at < len(p.lines) {
		text := strings.TrimLeft(p.lines[p.at], " \t")
		if bar, found := strings.CutPrefix(text, "|"); found {
			l.body = append(l.body, strings.TrimPrefix(bar, " "))
		} else if quote, found := strings.CutPrefix(text, ">"); found && strings.HasPrefix(p.lines[p.at], " ") {
			l.inline = append(l.inline, inline{text: strings.TrimSpace(quote), line: p.at + 1})
		} else {
			break
		}
		p.at++
	}
	s := step{line: l.line, text: strings.TrimSpace(line)}
	if timed {
		at, ok := l.time(last)
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

// check finds labels that nothing introduced.
func (p *parser) check() {
	for _, u := range p.used {
		if r := p.reviewers[u.label]; u.starts && r.Workflow == "" && !p.broken {
			hint := "AUTHOR comments, AUTHOR reviews and APP sets check need no run; starts workflow PATH names its workflow"
			if r.Name == "" {
				hint = meant(u.label, slices.Collect(maps.Keys(p.reviewers)))
			}
			p.fail(u.line, u.tok.col, u.tok.width(), fmt.Sprintf("the policy has no reviewer %q with a workflow", u.label), hint)
			continue
		}
		if p.labels[u.label] || p.reviewers[u.label].Name != "" {
			continue
		}
		p.fail(u.line, u.tok.col, u.tok.width(), fmt.Sprintf("no run or reviewer is called %q", u.label), meant(u.label, p.known()))
	}
}

// known are the names of runs and reviewers.
func (p *parser) known() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(p.labels)), maps.Keys(p.reviewers))
}

// Rewritten is the file with another story.
func (s *Scenario) Rewritten(story string) []byte {
	if s.Told {
		return []byte(s.src[:s.storyAt] + story)
	}
	return []byte(strings.TrimRight(s.src, "\n") + "\n\n-- story --\n" + story)
}

// Empty says why nothing can come of the story; "" if something can.
func (s *Scenario) Empty() string {
	switch {
	case !s.opens:
		return "no pull request is opened in it"
	case s.Policy == "" && !s.mends:
		return "there is no policy in it"
	}
	return ""
}

// WithPolicy is the same story under another policy.
func (s *Scenario) WithPolicy(policy string) (*Scenario, error) {
	lines := strings.Split(s.src, "\n")
	out := make([]string, 0, len(lines))
	skip := false
	for _, line := range lines {
		if name := section(line); name != "" {
			skip = name == "policy" || name == "story"
		}
		if skip { // whatever is wrong below keeps the line that it has in the file
			line = ""
		}
		out = append(out, line)
	}
	return Parse(s.File, []byte(strings.Join(out, "\n")+"\n-- policy --\n"+policy))
}

// meant suggests a word that is known.
func meant(word string, known []string) string {
	slices.Sort(known)
	known = slices.Compact(known)
	best, distance := "", max(len(word)/2, 1)+1
	for _, k := range known {
		if d := edits(strings.ToLower(word), strings.ToLower(k)); d < distance {
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

// edits is how many letters must be changed to make b of a.
func edits(a, b string) int {
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
