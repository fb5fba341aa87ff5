package config

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

var update = flag.Bool("update", false, "rewrite the golden files and what is generated into docs")

const file = ".github/review-coordinator.yml"

// TestMistakes: each file of testdata/bad is wrong in one way, or in several; the text beside it is all that is said.
func TestMistakes(t *testing.T) {
	each(t, "testdata/bad", func(t *testing.T, src []byte) string {
		policy, err := Parse(file, src)
		var all *Error
		if !errors.As(err, &all) || len(all.Problems) == 0 {
			t.Fatalf("Parse = %v, want an *Error with problems", err)
		}
		for i, p := range all.Problems {
			if p.Path != file || p.Line < 1 || p.Column < 1 || p.Message == "" || p.Hint == "" {
				t.Errorf("a problem without place, message or hint: %#v", p)
			}
			if i > 0 && p.Line < all.Problems[i-1].Line {
				t.Errorf("line %d is told after line %d", p.Line, all.Problems[i-1].Line)
			}
			if snippet := strings.Split(p.Snippet, "\n"); p.Snippet != "" && (len(snippet) != 2 || !strings.Contains(snippet[1], "^")) {
				t.Errorf("the snippet is not a line with a caret:\n%s", p.Snippet)
			}
		}
		if check := policy.Check; check == "" || !reflect.DeepEqual(policy, quorum.Policy{Check: check}) {
			t.Errorf("the policy of a broken file = %+v, want only Check", policy)
		}
		if MergeWarnings(file, src, nil) != nil {
			t.Error("a broken file has warnings")
		}
		return err.Error() + "\n"
	})
}

// The tag of check names the constant by which the program looks for its check.
func TestDefaultCheck(t *testing.T) {
	if got := Default().Check; got != quorum.DefaultCheck {
		t.Errorf("the default of check is %q, want %q", got, quorum.DefaultCheck)
	}
}

// Each word of an enumeration has its value, and each value a word: one that is forgotten would mean the zero value.
func TestEveryWordHasItsValue(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		field string
		words []string
	}{
		{reflect.TypeFor[PolicyKeys](), "Mode", slices.Collect(maps.Keys(modes))},
		{reflect.TypeFor[PolicyKeys](), "StandIn", append(slices.Collect(maps.Keys(permissions)), "none")},
		{reflect.TypeFor[PolicyKeys](), "Threads", slices.Collect(maps.Keys(threadEnders))},
		{reflect.TypeFor[PolicyKeys](), "Families", slices.Collect(maps.Keys(familyRules))},
		{reflect.TypeFor[PolicyKeys](), "Carry", slices.Collect(maps.Keys(carries))},
		{reflect.TypeFor[PolicyKeys](), "Comment", slices.Collect(maps.Keys(commentWhens))},
		{reflect.TypeFor[ReviewerKeys](), "FailureMeans", slices.Collect(maps.Keys(review.FailureMeanings))},
		{reflect.TypeFor[ConclusionKeys](), "Neutral", slices.Collect(maps.Keys(meanings))},
		{reflect.TypeFor[ConclusionKeys](), "Failure", slices.Collect(maps.Keys(meanings))},
		{reflect.TypeFor[ReviewerKeys](), "MinSeverity", slices.Collect(maps.Keys(severities))},
	} {
		field, found := c.of.FieldByName(c.field)
		if !found || !sameWords(c.words, allowedWords(field.Tag)) {
			t.Errorf("%s has values for %q, and its tag %q", c.field, c.words, allowedWords(field.Tag))
		}
	}
}

// What an organisation lets nobody loosen is told of every word: one that no order names could not be tightened.
func TestStrictTagsNameEveryWord(t *testing.T) {
	for field := range reflect.TypeFor[PolicyKeys]().Fields() {
		order := field.Tag.Get("strict")
		isDuration := field.Type == reflect.TypeFor[Duration]()
		if order == "" || order == "longer" && isDuration {
			continue
		}
		if words := strings.Split(order, ","); isDuration || !sameWords(words, allowedWords(field.Tag)) {
			t.Errorf("strict of %s names %q, its words are %q", field.Name, words, allowedWords(field.Tag))
		}
	}
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestWarnings: what is allowed and yet said.
func TestWarnings(t *testing.T) {
	each(t, "testdata/warn", func(t *testing.T, src []byte) string {
		if _, err := Parse(file, src); err != nil {
			t.Fatalf("Parse: %v", err)
		}
		var b strings.Builder
		for _, w := range MergeWarnings(file, src, nil) {
			b.WriteString(w.String() + "\n")
		}
		return b.String()
	})
}

func each(t *testing.T, dir string, tell func(*testing.T, []byte) string) {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yml"), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, golden := tell(t, src), strings.TrimSuffix(path, ".yml")+".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestGoodFiles(t *testing.T) {
	paths, _ := filepath.Glob("testdata/good/*.yml")
	if len(paths) == 0 {
		t.Fatal("no files")
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(file, src)
		if err != nil {
			t.Errorf("%s:\n%v", path, err)
			continue
		}
		if p.Need < 1 || p.Need > p.Voters() || p.Check == "" || p.Mode == 0 || p.Deadline <= 0 || p.Threads == 0 {
			t.Errorf("%s: the policy is not resolved: %+v", path, p)
		}
		for _, q := range p.Reviewers {
			if q.Name == "" || q.Timeout <= 0 || q.Verdict.Kind == 0 || q.FailureMeans == 0 {
				t.Errorf("%s: a reviewer is not resolved: %+v", path, q)
			}
		}
	}
	if _, err := Parse(file, []byte(examplePolicy)); err != nil {
		t.Errorf("the example of the reference:\n%v", err)
	}
	for _, example := range []string{shapesExample, verdictExample} {
		if _, err := Parse(file, []byte("reviewers:\n"+example)); err != nil {
			t.Errorf("an example:\n%v", err)
		}
	}
}

func TestDefaults(t *testing.T) {
	got, err := Parse(file, []byte(`
reviewers:
  - name: alpha
    workflow: .github/workflows/alpha.yml
    heading: "## Alpha"
  - {name: sec, check: Security, app: secbot}
  - {name: trial, author: "trial[bot]", shadow: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	reviewer := func(q quorum.Reviewer) quorum.Reviewer {
		q.Timeout, q.FailureMeans, q.Verdict = 10*time.Minute, quorum.MeansUnavailable, quorum.Format{Kind: quorum.Auto}
		return q
	}
	want := quorum.Policy{
		Check: "Review quorum", Mode: quorum.Enforce, Need: 2, Rules: []quorum.NeedRule{{Share: quorum.Majority}},
		Grace: 3 * time.Minute, Timeout: 10 * time.Minute, Deadline: 45 * time.Minute, EarlyStart: true, DraftsWait: true,
		StandIn: quorum.Write, Threads: quorum.ByOthers,
		Families: quorum.AnyFamily, Carry: quorum.CarryNone, Comment: quorum.CommentNever,
		Guard:   []string{".github/workflows/**", ".github/actions/**"},
		Retry:   quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute},
		Breaker: quorum.Breaker{Threshold: 5, Reset: 10 * time.Minute},
		Reviewers: []quorum.Reviewer{
			reviewer(quorum.Reviewer{
				Name: "alpha", Workflow: ".github/workflows/alpha.yml", Heading: "## Alpha",
				Author: "github-actions[bot]", Events: []string{"pull_request", "pull_request_target", "dynamic"},
			}),
			reviewer(quorum.Reviewer{Name: "sec", Check: "Security", App: "secbot", Author: "secbot[bot]"}),
			reviewer(quorum.Reviewer{Name: "trial", Author: "trial[bot]", Shadow: true}),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEveryKeyReachesThePolicy(t *testing.T) {
	src, err := os.ReadFile("testdata/good/every-source.yml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	top := p
	top.Reviewers = nil
	want := quorum.Policy{
		Check: "Reviews", Mode: quorum.ReportOnly, Need: 5, Rules: []quorum.NeedRule{{Share: quorum.All}},
		Timeout: 90 * time.Minute, Deadline: 2 * time.Hour, Threads: quorum.ByAnyone,
		Families: quorum.AnyFamily, Carry: quorum.CarryNone,
		Escalate: quorum.Escalation{To: []string{"octo/reviewers", "dave"}, After: 20 * time.Minute}, Comment: quorum.CommentOnProblem,
		Guard: []string{"docs/**", "!docs/README.md"}, Retry: quorum.Retry{Backoff: 1500 * time.Millisecond},
	}
	if diff := cmp.Diff(want, top); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	alpha := quorum.Reviewer{
		Name: "alpha", Workflow: ".github/workflows/alpha.yaml", Heading: "## Alpha", Author: "octo-app[bot]",
		Events: []string{"pull_request_target"}, MinSeverity: quorum.High, Timeout: 90 * time.Second, OwnTimeout: true, Required: true,
		Verdict: quorum.Format{
			Kind: quorum.Words, Field: "Ship it?", Approve: []string{"yes"}, Object: []string{"STOP", "wait"},
			None: []string{"n/a"}, Covered: true,
		},
		FailureMeans: quorum.MeansUnavailable,
	}
	if diff := cmp.Diff(alpha, p.Reviewers[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := p.Reviewers[4].Request, (quorum.Request{Comment: "@sage review\nplease\n", AtStart: true}); got != want {
		t.Errorf("request = %+v, want %+v", got, want)
	}
	if r := p.Reviewers[5]; !r.Retired || r.Voter() {
		t.Errorf("a retired preset votes: %+v", r)
	}
	pilot := p.Reviewers[6]
	if pilot.Name != "pilot" || pilot.Preset != "copilot" || !pilot.Shadow || pilot.Author == "" || pilot.Request.Login == "" ||
		pilot.Request.AtStart || pilot.MinSeverity != quorum.Low || pilot.Timeout != 4*time.Minute {
		t.Errorf("the keys of an entry do not lie over its preset's: %+v", pilot)
	}
}

func TestNeed(t *testing.T) {
	for _, test := range []struct {
		quorum string
		voters int
		want   int
	}{
		{"majority", 1, 1},
		{"majority", 2, 2},
		{"majority", 3, 2},
		{"majority", 4, 3},
		{"majority", 5, 3},
		{"all", 4, 4},
		{"1", 4, 1},
		{"4", 4, 4},
	} {
		src := "quorum: " + test.quorum + "\nreviewers:\n  - {name: trial, author: trial, shadow: true}\n"
		for i := range test.voters {
			src += "  - {name: r" + string(rune('a'+i)) + ", author: r" + string(rune('a'+i)) + "}\n"
		}
		p, err := Parse(file, []byte(src))
		if err != nil || p.Need != test.want || p.Voters() != test.voters {
			t.Errorf("quorum: %s of %d: need %d of %d (%v), want %d", test.quorum, test.voters, p.Need, p.Voters(), err, test.want)
		}
	}
}

// TestCheckName: a broken policy is shown under the name that is required, if the file still tells it.
func TestCheckName(t *testing.T) {
	for src, want := range map[string]string{
		"":                                    "Review quorum",
		"check: My gate\ngrace: soon\n":       "My gate",
		"check: My gate # why\nguard: [\n":    "My gate",
		"guard: [\ncheck: 'My gate'\n":        "My gate",
		"check: [\n":                          "Review quorum",
		"check: 7\n":                          "Review quorum",
		"check: \" padded\"\nreviewers: []\n": "Review quorum",
		"check: &a My gate\n":                 "Review quorum",
		"check: My gate\n" + strings.Repeat("#", MaxSize): "My gate",
	} {
		p, err := Parse(file, []byte(src))
		if err == nil || p.Check != want {
			t.Errorf("%.40q: Check = %q (%v), want %q", src, p.Check, err, want)
		}
	}
}

// TestHostileFiles: a pull request may propose a policy. Whatever it holds ends soon, and says why.
func TestHostileFiles(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'k'; c++ {
		bomb.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n")
	}
	var stairs strings.Builder
	for i := range 340 {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, src := range map[string]string{
		"too large":     strings.Repeat("x", MaxSize+1),
		"bomb":          bomb.String(),
		"stairs":        stairs.String(),
		"open brackets": strings.Repeat("[", 60000),
		"open braces":   strings.Repeat("{a: ", 15000),
		"dashes":        strings.Repeat("- ", 30000),
		"questions":     strings.Repeat("? ", 30000),
		"many keys":     strings.Repeat("a: b\n", 13000),
		"many alike":    "reviewers:\n" + strings.Repeat("- {name: a, author: a, heading: '#a'}\n", 1400),
		"many empty":    strings.Repeat("grace:\n", 6000),
		"many wrong":    "guard: [" + strings.Repeat("'[',", 5000) + "]",
		"many entries":  "reviewers:\n" + strings.Repeat("- {}\n", 5000),
		"documents":     strings.Repeat("---\n", 16000),
		"quotes":        strings.Repeat("'", 60000),
		"long key":      strings.Repeat("k", 60000) + ": 1",
		"nul":           "check: a\x00b",
		"long word":     "mode: " + strings.Repeat("enforce", 9000),
		"wide words":    "reviewers: [{name: a, author: a, verdict: {approve: ['" + strings.Repeat("(a|", 5) + "'], object: [b]}}]",
	} {
		began := time.Now()
		_, err := Parse(file, []byte(src))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if len(err.Error()) > 16<<10 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

// TestErrorsAreSafeToShow: no control character of a file reaches a terminal or a check.
func TestErrorsAreSafeToShow(t *testing.T) {
	for _, src := range []string{
		"mode: \"\\e[31m\\u202e\"\nreviewers: []\n",
		"\"\\e[2J\": 1\nreviewers: []\n",
		"check: \x1b[31mred\nmode: x\n",
		"reviewers:\n  - {name: \"a\\u2028b\"}\n",
	} {
		_, err := Parse(file, []byte(src))
		if err == nil {
			t.Errorf("%q: no error", src)
			continue
		}
		if strings.ContainsFunc(strings.ReplaceAll(err.Error(), "\n", ""), isUnprintable) {
			t.Errorf("%q: the error holds a control character: %q", src, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"quorum", "grace", "ready-to-merge", "required"}
	for word, want := range map[string]string{
		"qorum": "quorum", "Quorum": "quorum", "qurom": "quorum", "ready_to_merge": "ready-to-merge", "requierd": "required",
		"graec": "grace", "when": "", "x": "", "": "",
	} {
		if got := NearestWord(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDurationString(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 90 * time.Second: "1m30s", 3 * time.Minute: "3m", 10 * time.Minute: "10m",
		time.Hour: "1h", 90 * time.Minute: "1h30m", 500 * time.Millisecond: "500ms", 10 * time.Hour: "10h",
	} {
		if got := Duration(d).String(); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
		if back, err := time.ParseDuration(Duration(d).String()); err != nil || back != d {
			t.Errorf("%v comes back as %v (%v)", d, back, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"bad", "good", "warn"} {
		paths, _ := filepath.Glob("testdata/" + dir + "/*.yml")
		for _, path := range paths {
			if src, err := os.ReadFile(path); err == nil {
				f.Add(src)
			}
		}
	}
	position := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(file) + `:[1-9][0-9]*:[1-9][0-9]*: .`)
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse(file, src)
		MergeWarnings(file, src, nil)
		switch {
		case err != nil && !position.MatchString(err.Error()):
			t.Errorf("an error without a place: %v", err)
		case err != nil && (p.Check == "" || p.Need != 0 || len(p.Reviewers) > 0):
			t.Errorf("a broken file gave a policy: %+v", p)
		case err == nil && (p.Need < 1 || p.Need > p.Voters() || p.Check == "" || p.Deadline <= 0 || p.Mode == 0):
			t.Errorf("a policy that is not resolved: %+v", p)
		}
		for _, q := range p.Reviewers {
			if q.Required && !q.Voter() || q.Name == "" || q.Timeout <= 0 || q.Verdict.Kind == 0 {
				t.Errorf("a reviewer that is not resolved: %+v", q)
			}
		}
	})
}

// TestWords: each word of the file is the core's value of that name.
func TestWords(t *testing.T) {
	const reviewer = "reviewers:\n  - {name: a, status: s, author: a, KEY}\n"
	parse := func(top, entry string) quorum.Policy {
		t.Helper()
		p, err := Parse(file, []byte(top+"\n"+strings.Replace(reviewer, ", KEY", entry, 1)))
		if err != nil {
			t.Errorf("%s %s: %v", top, entry, err)
			return quorum.Policy{Reviewers: make([]quorum.Reviewer, 1)}
		}
		return p
	}
	for word, want := range map[string]quorum.Mode{"enforce": quorum.Enforce, "report": quorum.ReportOnly, "off": quorum.Off} {
		if got := parse("mode: "+word, "").Mode; got != want {
			t.Errorf("mode: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.Permission{"none": 0, "write": quorum.Write, "maintain": quorum.Maintain, "admin": quorum.Admin} {
		if got := parse("stand_in: "+word, "").StandIn; got != want {
			t.Errorf("stand_in: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.ThreadsBy{"others": quorum.ByOthers, "anyone": quorum.ByAnyone} {
		if got := parse("threads: "+word, "").Threads; got != want {
			t.Errorf("threads: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.Permission{"none": 0, "maintain": quorum.Maintain, "admin": quorum.Admin} {
		if got := parse("override: "+word, "").Override; got != want {
			t.Errorf("override: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.Families{"any": quorum.AnyFamily, "distinct": quorum.DistinctFamily} {
		if got := parse("families: "+word, "").Families; got != want {
			t.Errorf("families: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.Carry{"none": quorum.CarryNone, "same_diff": quorum.CarrySameDiff} {
		if got := parse("carry: "+word, "").Carry; got != want {
			t.Errorf("carry: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]bool{"wait": true, "review": false} {
		if got := parse("drafts: "+word, "").DraftsWait; got != want {
			t.Errorf("drafts: %s waits: %t", word, got)
		}
	}
	for word, want := range map[string]quorum.Severity{
		"any": quorum.SeverityAny, "low": quorum.Low, "medium": quorum.Medium, "high": quorum.High, "critical": quorum.Critical,
	} {
		if got := parse("", ", min_severity: "+word).Reviewers[0].MinSeverity; got != want {
			t.Errorf("min_severity: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]quorum.FailureMeans{"findings": quorum.MeansFindings, "unavailable": quorum.MeansUnavailable} {
		if got := parse("", ", verdict: conclusion, failure_means: "+word).Reviewers[0].FailureMeans; got != want {
			t.Errorf("failure_means: %s is %d, want %d", word, got, want)
		}
	}
	for word, want := range meanings {
		got := parse("", ", verdict: {conclusion: {success: approve, neutral: "+word+", failure: "+word+"}}").Reviewers[0]
		if got.Verdict.Kind != quorum.Conclusion || got.Verdict.Neutral != want || got.FailureMeans != want {
			t.Errorf("neutral and failure: %s are %d and %d, want %d", word, got.Verdict.Neutral, got.FailureMeans, want)
		}
	}
	kinds := map[string]quorum.FormatKind{
		"auto": quorum.Auto, "ready-to-merge": quorum.ReadyToMerge, "review-state": quorum.ReviewState, "findings": quorum.FindingList,
		"json": quorum.JSON, "conclusion": quorum.Conclusion,
	}
	for _, word := range review.FormatWords {
		got := parse("", ", verdict: "+word).Reviewers[0].Verdict
		if kinds[word] == 0 || !reflect.DeepEqual(got, quorum.Format{Kind: kinds[word]}) {
			t.Errorf("verdict: %s is %+v, want %d", word, got, kinds[word])
		}
	}
}

// A preset's account is known by its number, too; who names another account says nothing of its number.
func TestPresetsKnowTheirAccounts(t *testing.T) {
	p, err := Parse(file, []byte("reviewers:\n  - preset: coderabbit\n  - {preset: copilot, author: \"own-copilot[bot]\"}\n  - {name: sage, author: \"sage[bot]\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := []bool{p.Reviewers[0].AuthorID != 0, p.Reviewers[1].AuthorID != 0, p.Reviewers[2].AuthorID != 0}; !got[0] || got[1] || got[2] {
		t.Errorf("who has a number: %v", got)
	}
}
