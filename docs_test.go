package coordinator_test

// The documents are part of the program: whatever can be tried in them is tried here. Every snippet is one that works,
// every link leads somewhere, every sentence of the check is explained, and what is generated is fresh:
//
//	go test -run 'TestDocs|TestPages|TestRunnerTime' -update .

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/yuin/goldmark"
	markdown "github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	reader "github.com/yuin/goldmark/text"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

var update = flag.Bool("update", false, "rewrite what is generated in docs")

// generated holds a file against what it must be, or writes it with -update.
func generated(t *testing.T, file string, made []byte) {
	t.Helper()
	stands, err := os.ReadFile(file)
	if *update && !bytes.Equal(stands, made) {
		stands, err = made, os.WriteFile(file, made, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stands, made) {
		t.Errorf("%s is stale: go test -run '^%s$' -update .", file, t.Name())
	}
}

// between replaces what stands in page between the two comments of that name.
func between(t *testing.T, page []byte, name, with string) []byte {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	head, rest, opened := strings.Cut(string(page), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("there is no %s…%s", strings.TrimSpace(begin), end)
	}
	return []byte(head + begin + with + end + tail)
}

// A document is a Markdown file of ours.
type document struct {
	file    string
	src     []byte
	root    markdown.Node
	anchors []string
}

func documents(t *testing.T) (all []document) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, read(filepath.ToSlash(file), src))
		}
	}
	return all
}

func read(file string, src []byte) document {
	d := document{file: file, src: src}
	d.root = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(reader.NewReader(src))
	d.walk(func(n markdown.Node) {
		if h, ok := n.(*markdown.Heading); ok {
			d.anchors = append(d.anchors, anchor(d.text(h)))
		}
	})
	return d
}

func (d document) walk(visit func(markdown.Node)) {
	_ = markdown.Walk(d.root, func(n markdown.Node, entering bool) (markdown.WalkStatus, error) { // visit returns no error
		if entering {
			visit(n)
		}
		return markdown.WalkContinue, nil
	})
}

// text is what a reader sees of n.
func (d document) text(n markdown.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *markdown.Text:
			b.Write(c.Segment.Value(d.src))
		case *markdown.String:
			b.Write(c.Value)
		default:
			b.WriteString(d.text(c))
		}
	}
	return b.String()
}

// anchor is how GitHub names the place of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', 'a' <= r && r <= 'z', '0' <= r && r <= '9', r > 0x7f:
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// A snippet is a block of code, or a command within a sentence.
type snippet struct {
	file     string
	line     int
	language string
	body     string
	fenced   bool
}

func (s snippet) String() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

func (d document) snippets() (all []snippet) {
	at := func(offset int) int { return 1 + bytes.Count(d.src[:offset], []byte("\n")) }
	d.walk(func(n markdown.Node) {
		switch n := n.(type) {
		case *markdown.FencedCodeBlock:
			s := snippet{file: d.file, language: string(n.Language(d.src)), body: string(n.Lines().Value(d.src)), fenced: true}
			if n.Lines().Len() > 0 {
				s.line = at(n.Lines().At(0).Start)
			}
			all = append(all, s)
		case *markdown.CodeBlock:
			all = append(all, snippet{file: d.file, line: at(n.Lines().At(0).Start), body: string(n.Lines().Value(d.src))})
		case *markdown.CodeSpan:
			if c, ok := n.FirstChild().(*markdown.Text); ok {
				all = append(all, snippet{file: d.file, line: at(c.Segment.Start), body: d.text(n)})
			}
		}
	})
	return all
}

func TestDocs(t *testing.T) {
	t.Parallel()
	h := newHandbook(t)
	t.Run("snippets", func(t *testing.T) {
		kinds := map[string]int{}
		for _, d := range documents(t) {
			for _, s := range d.snippets() {
				kinds[s.language]++
				for _, wrong := range s.wrongs(h) {
					t.Errorf("%s: %s", s, wrong)
				}
			}
		}
		if kinds["yaml"] < 5 || kinds["sh"] < 5 {
			t.Errorf("only %v were found", kinds)
		}
	})
	t.Run("the laws bite", h.bites)
	t.Run("answers", h.answers)
	t.Run("commands", h.table)
	t.Run("verdicts", h.verdicts)
	t.Run("story", h.story)
	t.Run("scenarios", h.scenarios)
	t.Run("shown policies", h.shownPolicies)
	t.Run("shown answers", h.shownAnswers)
	t.Run("manifest", h.manifest)
	t.Run("flags of serve", h.flagsOfServe)
}

// wrongs are the reasons for which a reader would not succeed with s.
func (s snippet) wrongs(h handbook) []string {
	switch {
	case s.language == "yaml":
		return s.yaml()
	case s.language == "sh":
		return s.shell(h)
	case s.language == "console":
		var typed strings.Builder
		for line := range strings.Lines(s.body) {
			if command, found := strings.CutPrefix(line, "$ "); found {
				typed.WriteString(command)
			}
		}
		s.body = typed.String()
		return s.shell(h)
	case !s.fenced:
		// Commands are recognised by their first word; the rest is no snippet.
		var lines []string
		for line := range strings.Lines(s.body) {
			if first, _, _ := strings.Cut(strings.TrimSpace(line), " "); first == "coordinator" && !strings.Contains(line, "…") {
				lines = append(lines, line)
			}
		}
		s.body = strings.Join(lines, "")
		return s.shell(h)
	case slices.Contains([]string{"", "text", "json", "markdown", "go"}, s.language):
		return nil
	}
	return []string{fmt.Sprintf("nobody tries what is written in %q", s.language)}
}

// What a fragment of a workflow may hold; what a fragment of a policy may, the policy's own reader knows.
var workflowKeys = []string{"name", "on", "permissions", "concurrency", "jobs", "steps", "uses", "with", "env", "runs-on", "timeout-minutes", "if", "id", "run"}

func (s snippet) yaml() (found []string) {
	var keys yaml.MapSlice
	var list []yaml.MapSlice
	if err := yaml.Unmarshal([]byte(s.body), &keys); err != nil {
		if err := yaml.Unmarshal([]byte(s.body), &list); err != nil || len(list) == 0 {
			return []string{fmt.Sprintf("it is no YAML: %v", err)}
		}
		keys = list[0]
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(keys, func(k yaml.MapItem) bool { return slices.Contains(names, fmt.Sprint(k.Key)) })
	}
	switch {
	case has("jobs"):
		w := workflow{file: "examples/" + s.String(), text: s.body}
		if err := yaml.Unmarshal([]byte(s.body), &w); err != nil {
			return []string{err.Error()}
		}
		return w.breaches()
	case list != nil && has("uses", "run"):
		return stepsWrong(s.body)
	case list != nil:
		return policyWrong("reviewers:\n" + s.body)
	case has("reviewers"):
		return policyWrong(s.body)
	case has("groups"): // alerts of Prometheus: TestDocsMetrics knows their names
		return nil
	case has("on", "permissions", "concurrency", "steps", "uses", "with"):
		for _, k := range keys {
			if !slices.Contains(workflowKeys, fmt.Sprint(k.Key)) {
				found = append(found, fmt.Sprintf("%v is no key of a workflow", k.Key))
			}
		}
		return found
	}
	return policyWrong(s.body + "\nreviewers:\n  - preset: copilot\n")
}

func policyWrong(policy string) []string {
	_, err := config.Parse("policy", []byte(policy))
	if strings.Contains(policy, "\nenforce:") {
		_, err = config.ParseOrganisation("policy", []byte(policy))
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

func stepsWrong(text string) (found []string) {
	var steps []step
	if err := yaml.Unmarshal([]byte(text), &steps); err != nil {
		return []string{err.Error()}
	}
	for i, s := range steps {
		found = append(found, stepBreaches(i, s)...)
		if _, pinned := pins[s.Uses]; s.Uses != "" && !pinned && s.Uses != ourselves && s.Uses != verdictStep {
			found = append(found, s.Uses+" is not pinned to a commit")
		}
	}
	return found
}

// others are the programs that a reader of a document has.
var others = []string{
	"go", "make", "git", "gh", "export", "cd", "bash", "sh", "sha256sum", "shasum", "act", "curl", "tar", "cmp", "cat", "chmod", "docker",
	".", "chown", "install", "journalctl", "jq", "kubectl", "openssl", "printf", "promtool", "rm", "set", "sqlite3", "ssh", "systemctl", "tr", "umask",
}

func (s snippet) shell(h handbook) (found []string) {
	for line := range strings.Lines(strings.ReplaceAll(s.body, "\\\n", " ")) {
		for _, words := range commands(line) {
			switch {
			case len(words) == 0:
			case words[0] == "coordinator":
				found = append(found, h.wrong(words[1:])...)
			case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/coordinator":
				found = append(found, h.wrong(words[3:])...)
			case words[0] == "make" && len(words) > 1:
				if makefile, err := os.ReadFile("Makefile"); err != nil || !bytes.Contains(makefile, []byte("\n"+words[1]+":")) {
					found = append(found, "there is no make "+words[1])
				}
			case words[0] == "sh" || words[0] == "bash":
				if _, err := os.Stat(words[min(1, len(words)-1)]); err != nil {
					found = append(found, err.Error())
				}
			case !slices.Contains(others, words[0]):
				found = append(found, fmt.Sprintf("nobody knows the command %q", words[0]))
			}
		}
	}
	return found
}

// commands are the commands of a line, each as its words: enough of a shell for what stands in documents.
func commands(line string) (all [][]string) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		inWord = false
		word.Reset()
	}
	next := func() {
		end()
		for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) { // an environment
			words = words[1:]
		}
		all, words = append(all, words), nil
	}
	for _, r := range strings.TrimSpace(line) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == '#' && !inWord:
			next()
			return all
		case r == '|' || r == '&' || r == ';':
			next()
		case r == ' ' || r == '\t':
			end()
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	next()
	return all
}

// A handbook is the program, and what it says of its commands.
type handbook struct {
	t       *testing.T
	program string
	names   []string            // of all commands, in the program's order: "config check"
	about   map[string]string   // a sentence for each
	flags   map[string][]string // with their dashes
	parents map[string]bool     // commands that only have others below them
}

var (
	listedCommand = regexp.MustCompile(`^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)  +(\S.*)$`)
	commandGroup  = regexp.MustCompile(`(?m)^(?:[A-Z][a-z]+ c|C)ommands(?: [a-z ]+)?:$`)
	listedFlag    = regexp.MustCompile(`(?m)^\s+(?:-[a-z], )?(--[a-z][a-z-]*)(?:=|\s)`)
)

func newHandbook(t *testing.T) handbook {
	t.Helper()
	h := handbook{
		t:       t,
		program: filepath.Join(t.TempDir(), "coordinator"),
		about:   map[string]string{},
		flags:   map[string][]string{},
		parents: map[string]bool{},
	}
	if runtime.GOOS == "windows" {
		h.program += ".exe"
	}
	if said, err := exec.Command("go", "build", "-o", h.program, "./cmd/coordinator").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, said)
	}
	h.read("")
	if len(h.names) < 8 {
		t.Fatalf("--help lists only %q", h.names)
	}
	return h
}

// flagsOfAll are the flags that every command has.
var flagsOfAll = []string{"--help", "-h", "--verbose", "-v", "--version", "--log-level", "--log-format"}

// read reads the help of a command, and of those below it.
func (h *handbook) read(name string) {
	h.t.Helper()
	help := h.help(name)
	list, several := "", false
	if at := commandGroup.FindStringIndex(help); at != nil {
		list, several = help[at[0]:], true
	}
	_, flags, _ := strings.Cut(help, "\nFlags:\n") // an example may begin a line with a flag, too
	for _, m := range listedFlag.FindAllStringSubmatch(flags, -1) {
		if !slices.Contains(flagsOfAll, m[1]) {
			h.flags[name] = append(h.flags[name], m[1])
		}
	}
	switch {
	case !several:
		h.names = append(h.names, name)
		return
	case name != "":
		h.parents[name] = true
		if len(h.flags[name]) > 0 { // it does something alone, too
			h.names = append(h.names, name)
		}
	}
	for line := range strings.Lines(list) {
		if m := listedCommand.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			h.about[m[1]] = m[2]
			h.read(m[1])
		}
	}
}

// help is as wide as it may be, so that no sentence is broken.
func (h *handbook) help(name string) string {
	h.t.Helper()
	cmd := exec.Command(h.program, append(strings.Fields(name), "--help")...)
	cmd.Env = append(os.Environ(), "COLUMNS=200")
	said, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("coordinator %s --help: %v: %s", name, err, said)
	}
	return string(said)
}

// wrong says what the program would not understand of these arguments.
func (h handbook) wrong(args []string) (found []string) {
	name := ""
	for len(args) > 0 && (args[0] == "-v" || args[0] == "--verbose") {
		args = args[1:]
	}
	for n := min(2, len(args)); n > 0; n-- {
		if candidate := strings.Join(args[:n], " "); slices.Contains(h.names, candidate) || h.parents[candidate] {
			name, args = candidate, args[n:]
			break
		}
	}
	if name == "" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return []string{fmt.Sprintf("there is no command coordinator %s", args[0])}
	}
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(flag, "-") && flag != "-" && !slices.Contains(h.flags[name], flag) && !slices.Contains(flagsOfAll, flag) {
			found = append(found, fmt.Sprintf("coordinator %s has no flag %s", name, flag))
		}
	}
	return found
}

// bites: each of these snippets is refused.
func (h handbook) bites(t *testing.T) {
	for _, c := range []struct{ language, body, says string }{
		{"sh", "coordinator rum --pr 7", "no command coordinator rum"},
		{"sh", "export A=b; go run ./cmd/coordinator run --prr 7", "no flag --prr"},
		{"sh", "coordinator config check --pr 7", "no flag --pr"},
		{"sh", "make everything", "no make everything"},
		{"sh", "sh scripts/none.sh", "none.sh"},
		{"sh", "pip install x", "nobody knows the command"},
		{"console", "$ coordinator sweep --all\nsome words", "no flag --all"},
		{"", "coordinator demo --twice", "no flag --twice"},
		{"yaml", "grace: soon\n", "grace"},
		{"yaml", "reviewers:\n  - preset: nobody\n", "nobody"},
		{"yaml", "on: {push: {}}\njobs: {}\n", "no name"},
		{"yaml", "- uses: actions/checkout@v4\n", "not pinned"},
		{"yaml", "- name: say\n  run: echo ${{ github.head_ref }}\n", "pass it through env"},
		{"yaml", "permission: {}\n", "permission"},
		{"yaml", "concurrency: {group: x}\nsecret: y\n", "no key of a workflow"},
		{"toml", "a = 1", "nobody tries"},
	} {
		s := snippet{language: c.language, body: c.body, fenced: c.language != ""}
		if found := strings.Join(s.wrongs(h), "; "); !strings.Contains(found, c.says) {
			t.Errorf("%s: found %q, not %q", c.body, found, c.says)
		}
	}
}

// answers: a reviewer's answer that is shown is read as the comment before it says.
func (h handbook) answers(t *testing.T) {
	example := regexp.MustCompile("(?s)<!-- read as ([a-z]+) -->\n```markdown\n(.*?)```\n")
	const file = "docs/reviewers.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := example.FindAllStringSubmatch(string(page), -1)
	if len(all) < 3 || len(all) != strings.Count(string(page), "```markdown\n") {
		t.Errorf("%s has %d answers with what is read from them", file, len(all))
	}
	for _, m := range all {
		cmd := exec.Command(h.program, "classify")
		cmd.Stdin = strings.NewReader(m[2])
		said, err := cmd.Output()
		if outcome, _, _ := strings.Cut(string(said), " "); err != nil || strings.TrimSpace(outcome) != m[1] {
			t.Errorf("%s: %q is read as %s (%v)", file, m[2], said, err)
		}
	}
}

// verdicts: a model's answer that is shown makes the verdict that the comment before it says.
func (h handbook) verdicts(t *testing.T) {
	example := regexp.MustCompile("(?s)<!-- makes ([a-z_]+) -->\n```json\n(.*?)```\n")
	const file = "docs/reviewers.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := example.FindAllStringSubmatch(string(page), -1)
	if len(all) < 3 || len(all) != strings.Count(string(page), "```json\n") {
		t.Errorf("%s has %d answers with what is made of them", file, len(all))
	}
	for _, m := range all {
		id := strings.Repeat("1", 40)
		cmd := exec.Command(h.program, "verdict", "make", "--head", id, "--base", id, "--run", "1", "--attempt", "1", "--out", "-")
		cmd.Stdin = strings.NewReader(m[2])
		said, err := cmd.Output()
		if made := strings.Contains(string(said), `"verdict": "`+m[1]+`"`); made != (err == nil) || err != nil && m[1] != "nothing" {
			t.Errorf("%s: %q makes %s (%v)", file, m[2], said, err)
		}
	}
}

// story: what docs/scenarios.md says of its example is what the program tells of it.
func (h handbook) story(t *testing.T) {
	const file = "docs/scenarios.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n```\n")
	scenario, _, found := strings.Cut(rest, "\n```\n")
	if !found || !strings.Contains(scenario, "-- timeline --") {
		t.Fatalf("%s begins with no scenario", file)
	}
	cmd := exec.Command(h.program, "simulate", "-")
	cmd.Stdin = strings.NewReader(scenario + "\n")
	told, err := cmd.Output()
	if err != nil || !bytes.Contains(told, []byte("rerun")) {
		t.Fatalf("%s: the scenario is played to %q: %v", file, told, err)
	}
	generated(t, file, between(t, page, "story", "```text\n"+string(told)+"```\n"))
}

// table: docs/commands.md lists every command with its flags.
func (h handbook) table(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| command | does | flags |\n|---|---|---|\n")
	for _, name := range h.names {
		flags := "–"
		if len(h.flags[name]) > 0 {
			flags = "`" + strings.Join(h.flags[name], "` `") + "`"
		}
		fmt.Fprintf(&rows, "| `coordinator %s` | %s | %s |\n", name, strings.ReplaceAll(h.about[name], "|", `\|`), flags)
	}
	const file = "docs/commands.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	generated(t, file, between(t, page, "commands", rows.String()))
	program := programText(t)
	for _, name := range regexp.MustCompile(`\b(?:GITHUB|INPUT)_[A-Z_]+\b`).FindAllString(string(page), -1) {
		if !strings.Contains(program, name) {
			t.Errorf("%s: the program reads no %s", file, name)
		}
	}
}

// TestDocsLinks: a link within the repository leads to a file, and to a heading in it.
func TestDocsLinks(t *testing.T) {
	all := documents(t)
	anchors := map[string][]string{}
	for _, d := range all {
		anchors[d.file] = d.anchors
	}
	for _, d := range all {
		d.walk(func(n markdown.Node) {
			target := ""
			switch n := n.(type) {
			case *markdown.Link:
				target = string(n.Destination)
			case *markdown.Image:
				target = string(n.Destination)
			}
			if target == "" || strings.HasPrefix(target, "https://") {
				return
			}
			name, place, _ := strings.Cut(target, "#")
			file := d.file
			if name != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(d.file), name))
			}
			if _, err := os.Stat(file); err != nil || strings.HasPrefix(file, "..") {
				t.Errorf("%s: %s leads nowhere", d.file, target)
			} else if place != "" && !slices.Contains(anchors[file], place) {
				t.Errorf("%s: %s has no heading %q", d.file, file, place)
			}
		})
	}
}

// Every page is found from the README: nobody looks into a folder.
func TestDocsAreFound(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents(t) {
		if dir := filepath.Dir(d.file); dir == "docs" && !bytes.Contains(readme, []byte("("+d.file+")")) {
			t.Errorf("the README does not link %s", d.file)
		}
	}
}

// What a Reason comes to, in the order of docs/verdicts.md.
var outcomes = []struct {
	name    string
	reasons []quorum.Reason
}{
	{"approves", []quorum.Reason{quorum.ReasonApproved, quorum.ReasonAccepted, quorum.ReasonResolved, quorum.ReasonCarried}},
	{"objects", []quorum.Reason{quorum.ReasonFindings, quorum.ReasonOpenThreads, quorum.ReasonStands, quorum.ReasonLookingAgain}},
	{"waits", []quorum.Reason{
		quorum.ReasonSilent, quorum.ReasonRunning, quorum.ReasonDoubt, quorum.ReasonApproval, quorum.ReasonUnnamed, quorum.ReasonMoved,
		quorum.ReasonOldBase, quorum.ReasonCommand, quorum.ReasonCancelled,
		quorum.ReasonDismissed, quorum.ReasonDeleted, quorum.ReasonEdited, quorum.ReasonNotReceived,
	}},
	{"again", []quorum.Reason{
		quorum.ReasonEmpty, quorum.ReasonAmbiguous, quorum.ReasonMalformed, quorum.ReasonContradicts,
		quorum.ReasonTemplate, quorum.ReasonConditional, quorum.ReasonUncovered, quorum.ReasonPartial,
		quorum.ReasonOverloaded, quorum.ReasonHung, quorum.ReasonUnknown, quorum.ReasonFailedTwice, quorum.ReasonRateLimit, quorum.ReasonQuota,
	}},
	{"unavailable", []quorum.Reason{
		quorum.ReasonNoAnswer, quorum.ReasonLate, quorum.ReasonCredentials, quorum.ReasonBilling, quorum.ReasonBudget, quorum.ReasonInvalid,
		quorum.ReasonModelRefusal, quorum.ReasonSkipped, quorum.ReasonDeclined, quorum.ReasonTooLarge, quorum.ReasonNoSecrets, quorum.ReasonGuarded,
		quorum.ReasonSelf, quorum.ReasonFamily, quorum.ReasonOtherGuards, quorum.ReasonOtherPull,
		quorum.ReasonForbidden, quorum.ReasonRetired, quorum.ReasonRefused, quorum.ReasonPermission,
		quorum.ReasonTooOld, quorum.ReasonAttempts, quorum.ReasonIgnored, quorum.ReasonDrift,
		quorum.ReasonOverridden, quorum.ReasonOtherLane, quorum.ReasonWhen, quorum.ReasonReserve, quorum.ReasonStage, quorum.ReasonNotAsked,
	}},
	{"refused", []quorum.Reason{
		quorum.ReasonMayNot, quorum.ReasonHadHand, quorum.ReasonHandsUnknown,
		quorum.ReasonOthersAsked, quorum.ReasonNoVouch, quorum.ReasonNotOwn, quorum.ReasonIsReviewer,
		quorum.ReasonWordEdited, quorum.ReasonInReview, quorum.ReasonUnclear,
		quorum.ReasonNoOverride, quorum.ReasonOtherHead, quorum.ReasonNothingNamed,
		quorum.ReasonNoReviewer, quorum.ReasonUnderWay, quorum.ReasonNobodyToRerun, quorum.ReasonNoFixes,
		quorum.ReasonNoChange, quorum.ReasonUsedUp,
		quorum.ReasonNoCollaborator, quorum.ReasonLocked,
	}},
	{"fixes", []quorum.Reason{
		quorum.ReasonFixMax, quorum.ReasonFixNoFewer, quorum.ReasonFixNoPush, quorum.ReasonFixSameDiff, quorum.ReasonFixLost, quorum.ReasonFixForbidden,
		quorum.ReasonFixMissing, quorum.ReasonFixTrigger, quorum.ReasonFixInputs, quorum.ReasonFixDisabled, quorum.ReasonFixRefused,
		quorum.ReasonFixFork, quorum.ReasonFixStranger, quorum.ReasonFixLabel, quorum.ReasonFixOff,
		quorum.ReasonFixReport, quorum.ReasonFixNoRecord,
	}},
	{"whole", []quorum.Reason{
		quorum.ReasonTally, quorum.ReasonRequired, quorum.ReasonStandIn, quorum.ReasonDraft, quorum.ReasonBroken, quorum.ReasonSiblings,
		quorum.ReasonPeople, quorum.ReasonTooFew, quorum.ReasonNoReview,
		quorum.ReasonLayer, quorum.ReasonLayersLost, quorum.ReasonLayersMany, quorum.ReasonGroupLate, quorum.ReasonGroupUnknown,
		quorum.ReasonLaneBase, quorum.ReasonLaneGuard, quorum.ReasonLanePolicy, quorum.ReasonLaneLinks,
		quorum.ReasonClosed, quorum.ReasonOff, quorum.ReasonNoPolicy,
	}},
}

// TestDocsVerdicts: every sentence that the check can say of a reviewer, and what to do about it, stands in
// docs/verdicts.md.
func TestDocsVerdicts(t *testing.T) {
	const file = "docs/verdicts.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var listed []quorum.Reason
	for _, group := range outcomes {
		var rows strings.Builder
		rows.WriteString("| the check says | what to do |\n|---|---|\n")
		for _, r := range group.reasons {
			do := report.Advice(r)
			if do == "" {
				do = "–"
			}
			fmt.Fprintf(&rows, "| %s | %s |\n", report.Sentence(r), do)
		}
		page = between(t, page, group.name, rows.String())
		listed = append(listed, group.reasons...)
	}
	generated(t, file, page)
	known := reasons(t)
	for _, r := range known {
		if !slices.Contains(listed, r) {
			t.Errorf("%s does not explain the reason %q", file, r)
		}
	}
	if len(known) != len(listed) {
		t.Errorf("%d reasons are explained, there are %d", len(listed), len(known))
	}
	for v := quorum.Waiting; v <= quorum.Ended; v++ { // the check's footer leads to each
		if !regexp.MustCompile(`(?mi)^### ` + v.String() + `$`).Match(page) {
			t.Errorf("%s has no heading for %s", file, v)
		}
	}
}

// reasons are the constants of quorum.Reason.
func reasons(t *testing.T) (all []quorum.Reason) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "internal/quorum/ballot.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Reason" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, quorum.Reason(value))
		}
		return true
	})
	if len(all) < 40 {
		t.Fatalf("only %d reasons were found", len(all))
	}
	return all
}

// TestDocsRejections: why an answer does not count is explained in the words in which coordinator explain says it.
func TestDocsRejections(t *testing.T) {
	const file, source = "docs/troubleshooting.md", "internal/evidence/rejections.go"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(syntax, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			words, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found++
			if row := "| `" + strings.ReplaceAll(words, "%s", "…") + "` |"; !bytes.Contains(page, []byte(row)) {
				t.Errorf("%s has no row for %q", file, words)
			}
		}
		return true
	})
	if found < 20 {
		t.Errorf("only %d reasons were found", found)
	}
}

// TestDocsMetrics: each figure of the daemon is explained, and no other is named.
func TestDocsMetrics(t *testing.T) {
	const file, source = "docs/daemon.md", "internal/daemon/metrics.go"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`\b(?:counter|histogram|gauge)\(\s*"([a-z_]+)"`).FindAllSubmatch(text, -1) {
		known = append(known, "coordinator_"+string(m[1]))
	}
	if len(known) < 35 {
		t.Fatalf("%s names only %q", source, known)
	}
	for _, name := range known {
		if !bytes.Contains(page, []byte("\n| `"+name+"` | ")) {
			t.Errorf("%s does not explain %s", file, name)
		}
	}
	for _, name := range regexp.MustCompile(`\bcoordinator_[a-z_]+[a-z]\b`).FindAllString(string(page), -1) {
		if !slices.Contains(known, name) && name != "coordinator_VERSION_linux_amd64" {
			t.Errorf("%s: there is no figure %s", file, name)
		}
	}
	for _, m := range regexp.MustCompile(`\{(result|status|outcome|verdict)="([^"]+)"\}`).FindAllStringSubmatch(string(page), -1) {
		if !bytes.Contains(text, []byte(`"`+m[2]+`"`)) {
			t.Errorf("%s: no %s is %q", file, m[1], m[2])
		}
	}
	for _, a := range readAlerts(t) {
		if !joinable(a.Expr) {
			t.Errorf("%s: an alert that joins series of different labels never fires: %s", alertsFile, a.Expr)
		}
	}
	for _, expr := range []string{`a{x="1"} > 0 and b{x="2"} == 0`, `sum(a) > 0 and b == 0`, `a or sum(b)`, `sum(a) unless b`, `sum(a) or sum(b) and c`} {
		if joinable(expr) {
			t.Errorf("an alert may join what has no labels in common: %s", expr)
		}
	}
}

var (
	joins      = regexp.MustCompile(` (?:and|or|unless) `)
	aggregated = regexp.MustCompile(`^(?:sum|max|min)\(`)
	matched    = regexp.MustCompile(`^(?:on|ignoring)\(`)
)

// joinable reports whether both sides of each and, or and unless can meet: Prometheus joins series whose labels are
// equal.
func joinable(expr string) bool {
	sides := joins.Split(expr, -1)
	for i := range sides[1:] {
		if !matched.MatchString(sides[i+1]) && !(aggregated.MatchString(sides[i]) && aggregated.MatchString(sides[i+1])) {
			return false
		}
	}
	return true
}

// manifest: docs/daemon.md names what the App may do, and what it is told.
func (h handbook) manifest(t *testing.T) {
	const file = "docs/daemon.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := exec.Command(h.program, "serve", "setup", "--webhook", "https://quorum.example.com/webhook", "--print-manifest").Output()
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Events      []string          `json:"default_events"`
		Permissions map[string]string `json:"default_permissions"`
	}
	if err := json.Unmarshal(made, &m); err != nil {
		t.Fatal(err)
	}
	for name, level := range m.Permissions {
		if !bytes.Contains(page, []byte("\n| `"+name+"` | "+level+" | ")) {
			t.Errorf("%s does not say what for %s: %s is", file, name, level)
		}
	}
	for _, event := range m.Events {
		if !bytes.Contains(page, []byte("`"+event+"`")) {
			t.Errorf("%s does not name the event %s", file, event)
		}
	}
	if len(m.Permissions) == 0 || len(m.Events) == 0 {
		t.Errorf("the manifest asks for nothing: %s", made)
	}
}

// flagsOfServe: docs/daemon.md has a row for each flag of serve, with its default.
func (h handbook) flagsOfServe(t *testing.T) {
	const file = "docs/daemon.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range h.flags["serve"] {
		if !bytes.Contains(page, []byte("\n| `"+flag+"` | ")) {
			t.Errorf("%s does not explain %s", file, flag)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\| `+"`(--[a-z-]+)`"+` \| (?:`+"`([^`]*)`"+`)? \|`).FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(h.flags["serve"], m[1]) || m[2] != "" && !strings.Contains(h.help("serve"), m[2]) {
			t.Errorf("%s: serve has no flag %s with the default %q", file, m[1], m[2])
		}
	}
}
