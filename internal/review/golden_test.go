package review

// These tests read the golden texts of the vendors: vendors/NAME.txtar beside vendors/NAME.json. They are data too, so that
// a vendor or a form of one is added without a line of code. Each file of an archive is one text; its name says how the text
// is to be read:
//
//	OUTCOME KIND [STATE] [comments=N] [conclusion=C] [reset=48m] [reason=R] [commit=SHA] SLUG
//
// as in "approved review COMMENTED comments=0 overview-2026-10". A form that no text shows is a form that nobody has tried.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A goldenText is one text of a vendor's archive, and what its name promises.
type goldenText struct {
	name     string
	material Material
	outcome  string
	reason   string        // "": any
	commit   string        // "": any
	reset    time.Duration // 0: any
}

// parseGoldenText parses a file of an archive.
func parseGoldenText(f txtar.File) (g goldenText, err error) {
	g.name = f.Name
	words := strings.Fields(f.Name)
	if len(words) < 3 {
		return g, errors.New("is named by an outcome, a kind and a slug at least")
	}
	g.outcome, g.material.Body = words[0], strings.TrimSuffix(string(f.Data), "\n")
	if g.material.Kind, err = ParseKind(words[1]); err != nil {
		return g, err
	}
	rest := words[2 : len(words)-1]
	if g.material.Kind == Review || g.material.Kind == Status {
		if len(rest) == 0 || strings.Contains(rest[0], "=") {
			return g, errors.New("needs a state")
		}
		g.material.State, rest = rest[0], rest[1:]
	}
	for _, word := range rest {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "comments":
			g.material.Threads, err = strconv.Atoi(value)
		case "conclusion":
			g.material.Conclusion = value
		case "reset":
			g.reset, err = time.ParseDuration(value)
		case "reason":
			g.reason = value
		case "commit":
			g.commit = value
		default:
			err = fmt.Errorf("has an unknown word %q", word)
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// goldenTexts returns the texts of a preset's archive.
func goldenTexts(t *testing.T, preset string) (all []goldenText) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("vendors", preset+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range archive.Files {
		g, err := parseGoldenText(f)
		if err != nil {
			t.Fatalf("%s: %q %v", preset, f.Name, err)
		}
		slug := f.Name[strings.LastIndexByte(f.Name, ' ')+1:]
		if names[slug] {
			t.Errorf("%s: two texts are called %s", preset, slug)
		}
		names[slug] = true
		all = append(all, g)
	}
	return all
}

// forEachPreset runs a test for each preset, with its reviewer and its golden texts.
func forEachPreset(t *testing.T, test func(t *testing.T, p *preset, texts []goldenText)) {
	t.Helper()
	for _, name := range Presets() {
		t.Run(name, func(t *testing.T) { test(t, presetOf(name), goldenTexts(t, name)) })
	}
}

func TestGoldenTextsReadAsTheirNamesSay(t *testing.T) {
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		for _, g := range texts {
			got := Read(p.reviewer, g.material)
			if got.Outcome.String() != g.outcome || g.reason != "" && string(got.Reason) != g.reason {
				t.Errorf("%q\nis %v (%v, %q) by %q, line %d", g.name, got.Outcome, got.Reason, got.Detail, got.Rule, got.Line)
			}
			if g.reset > 0 && got.Reset != g.reset {
				t.Errorf("%q waits %v", g.name, got.Reset)
			}
			if commit := ReadLines(g.material.Body).NamedCommit(p.reviewer); g.commit != "" && commit != g.commit {
				t.Errorf("%q names the commit %q", g.name, commit)
			}
			for _, f := range got.Findings {
				if strings.HasPrefix(f.Path, "/") || strings.Contains(f.Path, ":") || strings.Contains(f.Path, "..") {
					t.Errorf("%q has a finding in %q, which is no path of the repository", g.name, f.Path)
				}
			}
		}
	})
}

// Every form of a vendor's file decides a text, so that none is there by guess.
func TestEachShapeDecidesAGoldenText(t *testing.T) {
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		for _, what := range formsWithoutText(p, texts) {
			t.Errorf("vendors/%s.txtar has no text that is decided by %s", p.Preset, what)
		}
	})
}

// formsWithoutText names what stands in a vendor's file and decides none of its texts.
func formsWithoutText(p *preset, texts []goldenText) (untested []string) {
	decided := map[string]map[string]bool{} // by rule: the outcomes
	var named, marked []string
	for _, g := range texts {
		got := Read(p.reviewer, g.material)
		if decided[got.Rule] == nil {
			decided[got.Rule] = map[string]bool{}
		}
		decided[got.Rule][got.Outcome.String()] = true
		if g.commit != "" {
			named = append(named, strings.Split(lowerASCII(emphasisMarks.Replace(g.material.Body)), "\n")...)
		}
		if g.material.Kind == Comment && got.Outcome != quorum.Unrelated {
			marked = append(marked, g.material.Body)
		}
	}
	need := func(rule string, outcomes ...string) {
		if len(outcomes) == 0 && decided[rule] == nil {
			untested = append(untested, rule)
		}
		for _, outcome := range outcomes {
			if !decided[rule][outcome] {
				untested = append(untested, rule+" ("+outcome+")")
			}
		}
	}
	lists := [shapeLists][]string{
		p.Shapes.Approves, p.Shapes.IfSettled, p.Shapes.Counts, p.Shapes.Objects, p.Shapes.Vetoes, p.Shapes.Partial, p.Shapes.Working,
		p.Shapes.Other,
	}
	outcomes := [shapeLists][]string{
		{"approved"}, {"approved"}, {"approved", "findings"}, {"findings"}, {"findings"}, {"partial"}, {"running"}, {"unrelated"},
	}
	for list, sources := range lists {
		for _, source := range sources {
			need(p.shapes.origin+" "+shapeListNames[list]+": "+source, outcomes[list]...)
		}
	}
	for _, n := range p.Shapes.Notices {
		rule := p.shapes.origin + " notices: " + n.Line
		if n.Marker != "" {
			rule = p.shapes.origin + " notices: <!-- " + n.Marker + " -->"
		}
		need(rule, n.Outcome.String())
	}
	if len(p.Wordless) > 0 {
		need(p.shapes.origin+" wordless", "approved")
	}
	if p.ReplyMarker != "" {
		need(p.shapes.origin+" reply_marker", "unrelated")
	}
	for _, expr := range p.Commits {
		if !slices.ContainsFunc(named, expr.MatchString) {
			untested = append(untested, "commits: "+expr.String())
		}
	}
	for _, mark := range p.Marks {
		if !slices.ContainsFunc(marked, func(body string) bool { return (&vendorFile{Marks: []string{mark}}).hasMarks(body) }) {
			untested = append(untested, "the mark "+mark)
		}
	}
	return untested
}

// The test of the test: of a made-up vendor's forms those without a text are named, each.
func TestAFormWithoutATextIsFound(t *testing.T) {
	p, err := parsePreset("made-up.json", []byte(`{
		"preset": "made-up", "verdict": "auto", "marks": ["made up review"], "wordless": ["made up overview"],
		"shapes": {
			"approves": ["all is well here", "nothing to add"], "counts": ["{count} remarks"], "objects": ["{some} grave remarks"],
			"notices": [{"line": "gone fishing", "outcome": "declined", "reason": "declined"},
				{"marker": "made-up-limit", "outcome": "limited", "reason": "quota"}]
		}}`))
	if err != nil {
		t.Fatal(err)
	}
	p.reviewer.Preset, p.reviewer.Shapes, p.shapes.origin = "", p.Shapes, "policy"
	texts := []goldenText{
		{material: Material{Kind: Comment, Body: "All is well here."}},
		{material: Material{Kind: Comment, Body: "0 remarks"}},
		{material: Material{Kind: Comment, Body: "Gone fishing"}},
	}
	want := []string{
		"policy approves: nothing to add (approved)", "policy counts: {count} remarks (findings)", "policy objects: {some} grave remarks (findings)",
		"policy notices: <!-- made-up-limit --> (limited)", "policy wordless (approved)", "the mark made up review",
	}
	if got := formsWithoutText(p, texts); !slices.Equal(got, want) {
		t.Errorf("named are %q, want %q", got, want)
	}
}

// A vendor is known by what it says when all is well, when not, when it cannot, and while it works; and by where and when
// somebody looked.
func TestEachVendorIsWhole(t *testing.T) {
	archives, err := filepath.Glob("vendors/*.txtar")
	if err != nil || len(archives) != len(Presets()) {
		t.Errorf("%d archives for %d presets (%v)", len(archives), len(Presets()), err)
	}
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		if day, err := time.Parse(time.DateOnly, p.Checked); err != nil || day.Year() < 2026 {
			t.Errorf("checked is %q, want the day on which its forms were last compared with what it posts", p.Checked)
		}
		if p.Source == "" {
			t.Error("has no source: where its forms are described")
		}
		has := map[string]bool{}
		for _, g := range texts {
			has[g.outcome] = true
		}
		if p.Retired {
			if len(has) != 1 || !has["declined"] {
				t.Error("is retired: it can only decline")
			}
			return
		}
		objects := len(p.Shapes.Objects)+len(p.Shapes.Counts) > 0 || p.reviewer.Verdict.Kind == quorum.JSON
		for outcome, needed := range map[string]bool{
			"approved": true, "findings": objects, "partial": len(p.Shapes.Partial) > 0, "running": len(p.Shapes.Working) > 0,
		} {
			if needed && !has[outcome] {
				t.Errorf("has no text that is %s", outcome)
			}
		}
		notices := []string{"limited", "overloaded", "declined", "failed", "empty", "unknown"}
		if len(p.Shapes.Notices) > 0 && !slices.ContainsFunc(notices, func(o string) bool { return has[o] }) {
			t.Error("has no text that is a notice")
		}
	})
}

// A golden text approves by its words: with one of them changed, left out or denied it approves no more.
func TestAChangedWordApprovesNothing(t *testing.T) {
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		mutants := 0
		for _, g := range texts {
			got := Read(p.reviewer, g.material)
			anybodys := strings.HasPrefix(got.Rule, "state:") || got.Rule == "nothing found" || p.reviewer.Verdict.Kind == quorum.Conclusion
			if got.Outcome != quorum.Approved || anybodys {
				continue
			}
			lines := strings.Split(g.material.Body, "\n")
			for _, at := range approvingLines(p, got, lines) {
				states := Read(p.reviewer, Material{Kind: g.material.Kind, State: g.material.State}).Outcome == quorum.Approved
				for _, mutant := range mutantsOf(lines[at], p.shapeOfRule(got.Rule)) {
					changed := slices.Clone(lines)
					changed[at] = mutant
					m := g.material
					m.Body = strings.Join(changed, "\n")
					mutants++
					if after := Read(p.reviewer, m); after.Outcome == quorum.Approved && !states {
						t.Errorf("%q\nstill approves by %q with the line %q", g.name, after.Rule, mutant)
					}
				}
			}
		}
		if mutants == 0 && !p.Retired && p.reviewer.Verdict.Kind != quorum.Conclusion {
			t.Error("no approving word was changed")
		}
		t.Logf("%d changed texts", mutants)
	})
}

// A vendor's veto takes each of its approvals away, in a quote and in a fold as in plain view.
func TestAVetoHoldsInQuotesAndFolds(t *testing.T) {
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		var clean []goldenText
		vetoes := map[string]bool{}
		for _, g := range texts {
			got := Read(p.reviewer, g.material)
			if p.History != "" { // behind it nothing is read
				g.material.Body, _, _ = strings.Cut(g.material.Body, "<!-- "+p.History)
			}
			if got.Outcome == quorum.Approved && g.material.Body != "" {
				clean = append(clean, g)
			}
			if strings.HasPrefix(got.Rule, p.shapes.origin+" vetoes: ") {
				line := strings.Split(g.material.Body, "\n")[got.Line-1]
				vetoes[strings.TrimLeft(line, "> ")] = true
			}
		}
		for veto := range vetoes {
			for _, g := range clean {
				for where, added := range map[string]string{
					"in plain view": veto, "in a quote": "> " + veto, "in a quoted fold": "> <details>\n> " + veto + "\n> </details>",
					"in a fold": "<details>\n<summary>More</summary>\n\n" + veto + "\n\n</details>",
				} {
					bodies := []string{added + "\n\n" + g.material.Body, g.material.Body + "\n\n" + added}
					if p.History != "" && strings.Contains(lowerASCII(g.material.Body), p.History) { // behind it stand older reviews
						bodies = bodies[:1]
					}
					for _, body := range bodies {
						m := g.material
						m.Body = body
						if got := Read(p.reviewer, m); got.Outcome == quorum.Approved || got.Outcome == quorum.Partial {
							t.Errorf("%q with %q %s is %v by %q", g.name, veto, where, got.Outcome, got.Rule)
						}
					}
				}
			}
		}
	})
}

// approvingLines returns the indices of the lines that a reading approves by.
func approvingLines(p *preset, got Reading, lines []string) (at []int) {
	switch {
	case got.Line == 0: // an object of JSON: the line with its verdict
		_, value, _ := strings.Cut(got.Detail, ": ")
		return []int{slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, value) })}
	case !strings.HasSuffix(got.Rule, " wordless"):
		return []int{got.Line - 1}
	}
	for i, line := range lines {
		if slices.ContainsFunc(p.Wordless, func(s shape) bool { _, ok := s.match(statementOf(line)); return ok }) {
			at = append(at, i)
		}
	}
	return at
}

// shapeOfRule returns the shape that a rule names, "" where it names none.
func (p *preset) shapeOfRule(rule string) string {
	rule, ok := strings.CutPrefix(rule, p.shapes.origin+" ")
	if !ok {
		return ""
	}
	_, source, _ := strings.Cut(rule, ": ")
	return source
}

// mutantsOf returns a line with each of its literal words changed, left out and denied, one at a time. What fills a hole
// may change, and what a shape does not need may be left out.
func mutantsOf(line, source string) (mutants []string) {
	quote := line[:len(line)-len(strings.TrimLeft(line, "> "))] // of a vendor whose verdict stands in one
	line = line[len(quote):]
	statement := statementOf(strings.TrimSpace(line))
	filled, optional := filledParts(source, statement)
	for _, at := range regexp.MustCompile(`[\pL\pN]+(?:['’_-][\pL\pN]+)*`).FindAllStringIndex(line, -1) {
		before, word, after := line[:at[0]], line[at[0]:at[1]], line[at[1]:]
		if statementOf(before+"zebra"+after) == statement { // in the address of a link
			continue
		}
		mutants = append(mutants, before+"not "+word+after)
		plain := strings.ToLower(word)
		if slices.Contains(filled, plain) {
			continue
		}
		for _, other := range []string{"perhaps", "some", "not", "7"} {
			mutants = append(mutants, before+other+after)
		}
		if !slices.Contains(optional, plain) {
			mutants = append(mutants, before+after)
		}
	}
	for i := range mutants {
		mutants[i] = quote + mutants[i]
	}
	return mutants
}

// filledParts returns the words of a statement that fill holes of a shape, and those that stand in a choice with nothing.
// A hole {count} counts as literal: what it holds decides.
func filledParts(source, statement string) (filled, optional []string) {
	if source == "" {
		return nil, nil
	}
	expr := regexp.QuoteMeta(trimStatement(strings.TrimPrefix(source, "# ")))
	expr = strings.NewReplacer(`\(`, "(", `\)`, ")", `\|`, "|").Replace(expr)
	expr = regexp.MustCompile(`\([^(|)]*\)`).ReplaceAllStringFunc(expr, func(s string) string { return `\(` + s[1:len(s)-1] + `\)` })
	expr = strings.ReplaceAll(expr, `\{count\}`, `[\w,]+`)
	expr = regexp.MustCompile(`\\{(?:n|some|login|sha|word|duration)\\}`).ReplaceAllString(expr, `(?P<hole>.+?)`)
	re, err := regexp.Compile("^" + expr + "$")
	if err != nil {
		return nil, nil
	}
	words := func(s string) []string {
		return regexp.MustCompile(`[\pL\pN]+(?:['’_-][\pL\pN]+)*`).FindAllString(s, -1)
	}
	for i, part := range re.FindStringSubmatch(statement) {
		switch {
		case i == 0:
		case re.SubexpNames()[i] == "hole":
			filled = append(filled, words(part)...)
		default:
			optional = append(optional, words(part)...)
		}
	}
	return filled, optional
}

// The texts are no part of the program: it needs the forms only.
func TestGoldenTextsAreNotCompiledIn(t *testing.T) {
	entries, err := vendorFiles.ReadDir("vendors")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			t.Errorf("%s is compiled in", e.Name())
		}
	}
	if _, err := os.Stat("vendors"); err != nil {
		t.Fatal(err)
	}
}

// A refusal that is known in one kind of text is known in every kind.
func TestANoticeIsKnownInEveryKindOfText(t *testing.T) {
	kinds := []Material{
		{Kind: Comment}, {Kind: Review, State: "COMMENTED"}, {Kind: Check}, {Kind: Status, State: "success"}, {Kind: Status, State: "error"},
	}
	for _, conclusion := range []string{"success", "neutral", "failure", "skipped", "cancelled", "timed_out"} {
		kinds = append(kinds, Material{Kind: Check, Conclusion: conclusion})
	}
	inEveryKind := func(t *testing.T, r quorum.Reviewer, m Material) {
		want := Read(r, m)
		for _, other := range kinds {
			other.Body = m.Body
			if got := Read(r, other); got.Outcome != want.Outcome || got.Reason != want.Reason || got.Rule != want.Rule {
				t.Errorf("%q\nas a %v (%s%s) is %v (%v) by %q, want %v (%v) by %q", m.Body, other.Kind, other.State, other.Conclusion,
					got.Outcome, got.Reason, got.Rule, want.Outcome, want.Reason, want.Rule)
			}
		}
	}
	forEachPreset(t, func(t *testing.T, p *preset, texts []goldenText) {
		for _, g := range texts {
			if strings.HasPrefix(Read(p.reviewer, g.material).Rule, p.shapes.origin+" notices: ") {
				inEveryKind(t, p.reviewer, g.material)
			}
		}
	})
	for _, n := range generalNotices {
		inEveryKind(t, autoReviewer(), Material{Kind: Comment, Body: n.example})
	}
}
