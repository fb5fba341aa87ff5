package review

import (
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape, line string
		want        bool
		count       string
	}{
		{"all is well", "**All is well.**", true, ""},
		{"all is well", "All is well here", false, ""},
		{"all is (well|fine|)", "All is fine", true, ""},
		{"{count} issues left", "No issues left!", true, "no"},
		{"{count} issues left", "12 issues left", true, "12"},
		{"{some} files read", "0 files read", false, ""},
		{"read up to {sha}", "Read up to `1a2b3c4d`", true, ""},
		{"ended {any} early", "ended much too early", true, ""},
		{"it ended {any}(early|late)", "it ended as it did before: late", true, ""},
		{"it says {any}(now|{any}then)", "it says no, and it says so, now", true, ""}, // one way has a hole, the other has none
		{"it says {any}(no {any}more|not {any}less)", "it says not, no, not any less", true, ""},
		{"it took {duration}", "It took 1m 44s", true, ""},
	} {
		s, err := parseShape(c.shape)
		if err != nil {
			t.Errorf("%q %v", c.shape, err)
			continue
		}
		if count, got := s.match(statementOf(c.line)); got != c.want || count != c.count {
			t.Errorf("%q on %q: %v %q", c.shape, c.line, got, count)
		}
	}
}

// A shape of a policy is a stranger's: it must cost no more than its length, when it is read and when it is compared.
func TestHostileShapesAreCheap(t *testing.T) {
	nested := strings.Repeat("(a|", 300) + "abc" + strings.Repeat(")", 300)
	if err := CheckShapes(quorum.Shapes{Objects: []string{nested}}); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("brackets in brackets: %v", err)
	}
	line := strings.Repeat("a", maxMatchedLine)
	for name, source := range map[string]string{
		"choices that are alike":  strings.Repeat("(a|aa|aaa)", 140) + "b",
		"choices within choices":  strings.Repeat("((a|aa)(a|aa)|(aa|a))", 60) + "b",
		"holes within choices":    "a{any}(a|{any}(a|aa){any}(aaa|a)|aa{any}b)" + strings.Repeat("(a|aa)", 100) + "b",
		"holes that come to none": "a{any}aa{any}aaa{any}aaaa{any}b",
	} {
		s, err := parseShape(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		began := time.Now()
		if _, ok := s.match(line); ok {
			t.Errorf("%s: matches", name)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// What approves is known to its last word, whoever lists it.
func TestCheckShapesRefusesLooseApprovals(t *testing.T) {
	for source, want := range map[string]string{
		"all is {any}":                      "last word",
		"this is {word}":                    "last word",
		"{n} issues found":                  "under counts",
		"{some} (new |open |)problems left": "under counts",
		"findings: {n}":                     "under counts",
		"issues found ({n})":                "under counts",
		"{count} files read":                "under counts",
		"x{nobody} is here":                 "unknown hole",
		"No capitals":                       "capital letter",
		"(a":                                "other half",
		"ok":                                "no word",
		"no issues found in {n} files":      "",
		"{some} files read, no comments":    "",
		"hello {login}, all is well":        "",
		"reviewed {sha}, all is well":       "",
	} {
		for _, s := range []quorum.Shapes{{Approves: []string{source}}, {IfSettled: []string{source}}} {
			err := CheckShapes(s)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, want %q", source, err, want)
			}
		}
	}
	if err := CheckShapes(quorum.Shapes{Counts: []string{"{n} issues left"}}); err == nil {
		t.Error("a shape of counts without {count} is accepted")
	}
}
