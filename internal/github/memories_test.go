package github

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// Repositories with the same policy share what was read of it; another path's or a broken one is not shared.
func TestPoliciesAreReadOnce(t *testing.T) {
	var all parsedPolicies
	src := []byte("version: 1\nquorum: 1\nreviewers:\n  - preset: copilot\n")
	read := func(path string, src []byte) quorum.Policy {
		p, err := all.parse(path, src, untrusted.Digest{byte(len(src))}, quorum.OrganisationFile{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b, c := read("a.yml", src), read("a.yml", slices.Clone(src)), read("b.yml", src)
	if &a.Reviewers[0] != &b.Reviewers[0] || &a.Reviewers[0] == &c.Reviewers[0] {
		t.Error("a policy was read twice, or another one was taken for it")
	}
	if d := read("a.yml", append(src, "check: Mine\n"...)); d.Check != "Mine" {
		t.Errorf("another policy's check is %q", d.Check)
	}
	for range 2 {
		p, err := all.parse("c.yml", []byte("check: Mine\nquorum: none\n"), untrusted.Digest{1}, quorum.OrganisationFile{}, nil)
		if err == nil || p.Check != "Mine" {
			t.Errorf("a broken policy came to %q, %v", p.Check, err)
		}
	}
	for n := range 3 * maxRepos {
		read(strconv.Itoa(n), src)
	}
	if len(all.byKey) > maxRepos {
		t.Errorf("%d policies are kept", len(all.byKey))
	}
}

// What is kept of a check's words tells the same texts apart as the words themselves.
func TestWordsStandForTexts(t *testing.T) {
	const block = "```json\n{"
	seen := regexp.MustCompile(`"seen":\{"at":"[^"]*"(?:,"threads":"[01]*")?\},`)
	at := func(when string) string { return `"seen":{"at":"` + when + `"},` }
	all := []string{
		"", " ", "A", "A ", "A\r\nB", "A\nB", "B\nA", block, block + at("1"), block + at("2"), at("1") + block,
		at("1") + at("2") + block, at("2") + at("1") + block,
		at("1") + at("1") + block, at("1") + block + at("1"), block + at("1") + at("1"),
		block + `"seen":{"at":"1","threads":"01"},`, block + `"seen":{"at":"1","threads":"x"},`,
		"0 " + at("1"), "8 " + at("1") + block,
		// without it, their edges are others
		at("1") + "foo", at("1") + "  foo", at("1") + "\n\nfoo", "foo" + at("1"), "foo  " + at("1"),
		"a\r" + at("1") + "\nb", "a\n" + at("1") + "b",
	}
	plain := func(s string) string { // as it was defined before there were sums
		s = untrusted.Normalize(s)
		if at := seen.FindStringIndex(s); at != nil {
			return s[:at[0]] + s[at[1]:]
		}
		return s
	}
	for _, a := range all {
		o := ownCheck{CheckRun: quorum.CheckRun{Status: "completed", Conclusion: "success", Title: "T", Summary: "S", Text: a}}.asWritten()
		for _, b := range all {
			c := report.Check{Status: "completed", Conclusion: "success", Title: "T", Summary: "S\r\n", Text: b}
			if got, want := o.readsAs(c, true), untrusted.Normalize(a) == untrusted.Normalize(b); got != want {
				t.Errorf("%q reads as %q, stamp and all, is %v", a, b, got)
			}
			if got, want := o.readsAs(c, false), plain(a) == plain(b); got != want {
				t.Errorf("%q reads as %q is %v", a, b, got)
			}
			for _, other := range []report.Check{
				{Title: "T "},
				{Title: "T", Summary: "s"},
				{Title: "T", Summary: "S", Conclusion: "failure"},
				{Title: "T", Summary: "S", Conclusion: "success", Status: "queued"},
			} {
				if other.Text = b; o.readsAs(other, false) {
					t.Errorf("%q reads as %+v", a, other)
				}
			}
		}
	}
}
