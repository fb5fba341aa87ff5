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
		{"yes(| very well| quite fine)", "Yes", true, ""},
		{"all is well", ":white_check_mark: **All is well** :tada: 🎉", true, ""},
		{"all is well", "All is well! :x:", false, ""},
		{"all is well", ":no_entry: All is well", false, ""},
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
		s, err := parseShape(c.shape, listOther)
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
	line := strings.Repeat("a", maxMatchedLine)
	for name, source := range map[string]string{
		"choices that are alike":  strings.Repeat("(a|aa|aaa)", 140) + "b",
		"choices within choices":  strings.Repeat("((a|aa)(a|aa)|(aa|a))", 60) + "b",
		"holes within choices":    "a{any}(a|{any}(a|aa){any}(aaa|a)|aa{any}b)" + strings.Repeat("(a|aa)", 100) + "b",
		"choices in choices":      "aaa" + strings.Repeat("(a|", 300) + "b" + strings.Repeat(")", 300),
		"holes":                   "aaa" + strings.Repeat("{any}a", 240) + "b",
		"holes of much":           "aaa" + strings.Repeat("{duration}", 140) + "b",
		"holes that come to none": "a{any}aa{any}aaa{any}aaaa{any}b",
	} {
		s, err := parseShape(source, listOther)
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
		"ok":                                "fewer than 3 letters",
		"no issues found in {some} files":   "",
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

// The shapes of a policy are read as a vendor's: they add to its preset's, and take nothing away.
func TestShapesOfAPolicy(t *testing.T) {
	shapes := quorum.Shapes{
		Approves:  []string{"sage has nothing to add", "# all {some} files look right"},
		IfSettled: []string{"sage has nothing new to add"},
		Counts:    []string{"sage left {count} remark(s|)"},
		Objects:   []string{"sage asks for a change{any}"},
		Vetoes:    []string{"{count} remarks could not be placed"},
		Partial:   []string{"sage read {some} of {n} files"},
		Working:   []string{"sage reads on"},
		Other:     []string{"# a walkthrough by sage"},
		Notices: []quorum.NoticeShape{
			{Line: "sage is out of credit{any}", Outcome: quorum.Failed, Reason: quorum.ReasonBilling},
			{Marker: "sage:limit", Outcome: quorum.Limited, Reason: quorum.ReasonRateLimit},
		},
	}
	for _, c := range []struct {
		body string
		want quorum.Outcome
		rule string
	}{
		{"**Sage has nothing to add.**", quorum.Approved, "policy approves: sage has nothing to add"},
		{"## All 12 files look right ✅", quorum.Approved, "policy approves: # all {some} files look right"},
		{"## All 0 files look right ✅", quorum.Empty, ""},
		{"All 12 files look right", quorum.Malformed, ""},
		{"Sage has nothing new to add", quorum.Approved, "policy if_settled: sage has nothing new to add"},
		{"Sage left no remarks", quorum.Approved, "policy counts: sage left {count} remark(s|)"},
		{"Sage left 2 remarks", quorum.Findings, "policy counts: sage left {count} remark(s|)"},
		{"Sage asks for a change in cart.go", quorum.Findings, "policy objects: sage asks for a change{any}"},
		{"Sage has nothing to add\n\n> 2 remarks could not be placed", quorum.Findings, "policy vetoes: {count} remarks could not be placed"},
		{"Sage read 3 of 5 files\n\nSage has nothing to add", quorum.Partial, "policy partial: sage read {some} of {n} files"},
		{"Sage reads on", quorum.Running, "policy working: sage reads on"},
		{"# A walkthrough by Sage\n\nThe cart is new.", quorum.Unrelated, ""},
		{"Sage is out of credit for today", quorum.Failed, "policy notices: sage is out of credit{any}"},
		{"<!-- sage:limit -->\n\nNot now", quorum.Limited, "policy notices: <!-- sage:limit -->"},
		{"> Sage has nothing to add", quorum.Malformed, ""},
		{"```\nSage has nothing to add\n```", quorum.Malformed, ""},
		{"<!-- Sage has nothing to add -->", quorum.Empty, ""},
		{"Sage has nothing to add, but the cart", quorum.Malformed, ""},
		{"Sage has nothing to add\n\nDo not merge.", quorum.Approved, ""}, // what the policy names is final
		{"Sage has nothing to add\n\n- 🔴 **Critical** `cart.go:3`: it leaks", quorum.Approved, ""},
		{"Sage has nothing to add\n\nSage asks for a change", quorum.Findings, ""},
		{"Sage has nothing to add\n\nSage reads on", quorum.Running, ""},
	} {
		for _, k := range []quorum.FormatKind{quorum.Auto, quorum.FindingList, quorum.ReviewState} {
			r := reviewerWith(k)
			r.Shapes = shapes
			m := Material{Kind: Review, State: "COMMENTED", Body: c.body}
			if got := Read(r, m); got.Outcome != c.want || c.rule != "" && got.Rule != c.rule {
				t.Errorf("format %d: %q is %v by %q, want %v by %q", k, c.body, got.Outcome, got.Rule, c.want, c.rule)
			}
		}
	}
	copilot, _ := Preset("copilot")
	copilot.Shapes = quorum.Shapes{Approves: []string{"# copilot is content", "# changes recommended"}}
	for body, want := range map[string]quorum.Outcome{
		"## Copilot is content":                                                     quorum.Approved,
		"## Changes recommended":                                                    quorum.Findings,
		"## Copilot is content\n\nPreviously missed (2)":                            quorum.Findings,
		"## Copilot is content\n\n2 open findings":                                  quorum.Findings,
		"## Copilot was unable to review this pull request because it is too large": quorum.Declined,
	} {
		if got := Read(copilot, Material{Kind: Review, State: "COMMENTED", Body: body}); got.Outcome != want {
			t.Errorf("beside the preset: %q is %v by %q, want %v", body, got.Outcome, got.Rule, want)
		}
	}
	greptile, _ := Preset("greptile")
	greptile.Shapes = quorum.Shapes{Approves: []string{"greptile is content"}}
	if got := Read(greptile, Material{Kind: Comment, Body: "You asked: Greptile is content?\n\nGreptile is content"}); got.Outcome == quorum.Approved {
		t.Errorf("an answer without the marks of a review is %v", got.Outcome)
	}
}
