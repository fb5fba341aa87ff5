package review

// These tests hold what no text may achieve, whatever stands in it.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// allReviewers returns a reviewer of every format and every preset.
func allReviewers() (all []quorum.Reviewer) {
	for k := quorum.Auto; k <= quorum.Words; k++ {
		r := reviewerWith(k)
		r.Verdict.Approve, r.Verdict.Object = []string{"pass"}, []string{"fail"}
		all = append(all, r)
	}
	for _, name := range Presets() {
		r, _ := Preset(name)
		all = append(all, r)
	}
	return all
}

// checkInvariants fails the test if a text breaks what is true of every text.
func checkInvariants(t *testing.T, r quorum.Reviewer, body string) {
	t.Helper()
	for _, kind := range []Kind{Comment, Review, Check, Status, Log} {
		got := Read(r, Material{Kind: kind, Body: body, State: "COMMENTED", Conclusion: "failure"})
		switch {
		case got.Outcome == 0 || got.Reason == "":
			t.Fatalf("%s, %v: no outcome or reason: %+v", r.Name, kind, got)
		case kind == Log && (got.Outcome == quorum.Approved || got.Outcome == quorum.Findings):
			t.Fatalf("%s: a log votes: %+v", r.Name, got)
		case kind == Check && got.Outcome == quorum.Approved:
			t.Fatalf("%s: a failed check approves: %+v", r.Name, got)
		case utf8.RuneCountInString(got.Detail) > 120 || strings.ContainsAny(got.Detail, "\n\r\x00\x1b"):
			t.Fatalf("%s: detail %q", r.Name, got.Detail)
		case got.Reset < 0 || got.Reset > maxWait:
			t.Fatalf("%s: reset %v", r.Name, got.Reset)
		case got.Outcome == quorum.Approved && got.Reason == quorum.ReasonFindings, got.Below && got.Outcome != quorum.Approved:
			t.Fatalf("%s: %+v", r.Name, got)
		}
		if got.Outcome == quorum.Approved {
			for _, f := range got.Findings {
				if !f.Below {
					t.Fatalf("%s: approved beside %+v", r.Name, f)
				}
			}
		}
	}
	unwrapped := strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	for what, wrapped := range map[string]string{
		"quoted":    "> " + strings.ReplaceAll(unwrapped, "\n", "\n> "),
		"fenced":    strings.Repeat("`", longestRun(unwrapped, '`')+3) + "\n" + unwrapped + "\n" + strings.Repeat("`", longestRun(unwrapped, '`')+3),
		"unclosed":  strings.Repeat("~", longestRun(unwrapped, '~')+3) + "\n" + unwrapped,
		"commented": "<!--\n" + strings.ReplaceAll(unwrapped, "--", "- -") + "\n-->",
		"left open": "<!--\n" + strings.ReplaceAll(unwrapped, "--", "- -"),
		"denied":    body + "\n\n" + no + "\n",
	} {
		if r.Verdict.Kind == quorum.JSON || what == "denied" && (r.Verdict.Kind == quorum.FindingList || r.Verdict.Kind == quorum.Words) {
			continue // a fenced object is where JSON belongs
		}
		if what == "denied" && hidesWhatFollows(unwrapped) {
			continue
		}
		if got := Read(r, Material{Kind: Comment, Body: wrapped}); got.Outcome == quorum.Approved {
			t.Fatalf("%s: approves %s: %q", r.Name, what, wrapped)
		}
	}
	ReadLines(body).NamedCommit(r)
	ReadLines(body).HasHeading("## Review")
	Read(r, Material{Kind: Comment, Body: body})
}

// hidesWhatFollows reports whether a line after body would stand within body's fence or comment, so that it is not read.
func hidesWhatFollows(body string) bool {
	p := ReadLines(body + "\n\nend")
	return p.lines[len(p.lines)-1].visibility == hidden
}

func longestRun(s string, c byte) (n int) {
	for i := 0; i < len(s); i++ {
		n = max(n, leadingCount(s[i:], c))
	}
	return n
}

var seeds = []string{
	"", yes, no, "**Ready to merge?** [Yes | No | With fixes]", "Ready to merge? Yes, if it builds", "### Verdict: APPROVE",
	"```\n" + yes + "\n```", "> " + yes, "<!-- " + yes, "No issues found",
	"| Kind | Count |\n|--|--|\n| 🔴 Critical | 0 |", "| Kind | Count |\n|--|--|\n| 🔴 Critical | N |",
	"#### Critical\n- `a.go:3` leaks", "- [P1] races", `{"verdict": "APPROVE", "findings": []}`,
	"```json\n" + `{"verdict": "REVISE"}` + "\n```", `{"verdict":"APPROVE","verdict":"REVISE"}`,
	"Copilot reviewed 1 out of 1 changed files in this pull request and generated no new comments.",
	"**Actionable comments posted: 0**", "Codex Review: Didn't find any major issues.",
	"## Greptile Summary\n\nConfidence Score: 5/5", "Bugbot reviewed your changes and found no new issues!",
	"Rate limit exceeded. Please wait 5 minutes.", "## API Error (HTTP 503)", "pass", "fail",
	"2026-01-01T00:00:00.000Z Error: HTTP 429 retry in 5s", "Done (0 tool uses)", "\x1b[31mError: read ECONNRESET\x1b[0m",
	"Reviewed commit: 1a2b3c4", "Preparing review...",
}

func fuzzReviewers(f *testing.F, rs ...quorum.Reviewer) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, r := range rs {
			checkInvariants(t, r, body)
		}
	})
}

func FuzzReadAuto(f *testing.F)         { fuzzReviewers(f, autoReviewer()) }
func FuzzReadReadyToMerge(f *testing.F) { fuzzReviewers(f, reviewerWith(quorum.ReadyToMerge)) }
func FuzzReadReviewState(f *testing.F)  { fuzzReviewers(f, reviewerWith(quorum.ReviewState)) }
func FuzzReadFindings(f *testing.F)     { fuzzReviewers(f, reviewerWith(quorum.FindingList)) }
func FuzzReadConclusion(f *testing.F)   { fuzzReviewers(f, reviewerWith(quorum.Conclusion)) }
func FuzzReadWords(f *testing.F)        { fuzzReviewers(f, allReviewers()[quorum.Words-1]) }
func FuzzReadPresets(f *testing.F)      { fuzzReviewers(f, allReviewers()[quorum.Words:]...) }

func FuzzJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := reviewerWith(quorum.JSON)
		checkInvariants(t, r, body)
		if got := Read(r, Material{Kind: Comment, Body: body}); got.Outcome == quorum.Approved && !strings.Contains(lowerASCII(body), "rrect") &&
			!strings.Contains(lowerASCII(body), "pprove") &&
			!strings.Contains(lowerASCII(body), "yes") &&
			!strings.Contains(body, `\u`) {
			t.Fatalf("approves without a word for it: %q", body)
		}
	})
}

func FuzzLog(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, conclusion := range []string{"success", "failure", ""} {
			switch got := Read(autoReviewer(), Material{Kind: Log, Body: body, Conclusion: conclusion}); got.Outcome {
			case quorum.Empty, quorum.Overloaded, quorum.Limited, quorum.Failed, quorum.Declined, quorum.Hung, quorum.Unknown:
			default:
				t.Fatalf("a log is %v: %q", got.Outcome, body)
			}
		}
	})
}

// Ten thousand texts that want to pass: a denial, and a yes that is not in plain view or not meant.
func TestNoMutatedTextApproves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(s []string) string { return s[rnd.IntN(len(s))] }
	bait := []string{
		yes,
		"Ready to merge: Yes",
		"### Verdict: APPROVE",
		"**Status:** Approved",
		"No issues found",
		"| Critical | Count |\n|--|--|\n| 🔴 Critical | 0 |",
		"Critical: 0",
	}
	hide := []func(string) string{
		func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
		func(s string) string { return "```\n" + s + "\n```" },
		func(s string) string { return "~~~~md\n```\n" + s + "\n```\n~~~~" },
		func(s string) string { return "<!-- " + s + " -->" },
		func(s string) string { return "text <!--\n" + s + "\n-->" },
		func(s string) string { return "<pre>\n" + s + "\n</pre>" },
		func(s string) string { return "x\n\n    " + strings.ReplaceAll(s, "\n", "\n    ") },
		func(s string) string { return "- ```\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n  ```" },
		func(s string) string { return "1. > " + strings.ReplaceAll(s, "\n", "\n   > ") },
		func(s string) string {
			return strings.NewReplacer(
				"Yes",
				"Y\u200bes",
				"APPROVE",
				"\u0410PPROVE",
				"Approved",
				"Appr\u043eved",
				"No issues",
				"N\u043e issues",
				": 0",
				": \u06f0",
				"| 0",
				"| \u06f0",
			).Replace(
				s,
			)
		},
		func(s string) string { return "> quote\n" + strings.TrimPrefix(s, "### ") }, // a heading would end the quote
	}
	prose := []string{
		"",
		"Good work.",
		"## Summary\n\nAdds a cache.",
		"- tidy\n- tested",
		"```go\nx()\n```",
		"---",
		"I like it, nothing blocking.",
		"<details><summary>more</summary>\n\ntext\n\n</details>",
	}
	rs := allReviewers()
	for i := range 10000 {
		var parts []string
		for range 1 + rnd.IntN(4) {
			parts = append(parts, pick(prose), hide[rnd.IntN(len(hide))](pick(bait)))
		}
		parts = append(parts, pick(prose))
		body := strings.Join(parts, "\n\n")
		if rnd.IntN(4) == 0 {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		r := rs[i%len(rs)]
		got := Read(r, Material{Kind: Comment, Body: body})
		if got.Outcome == quorum.Approved {
			t.Fatalf("%s: text %d approves (%q):\n%s", r.Name, i, got.Detail, body)
		}
	}
}

// And ten thousand that deny in plain view, beside whatever approves.
func TestADenialIsNeverDrownedOut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	denials := []string{
		no,
		"**Ready to merge? With fixes**",
		"### Verdict: REVISE",
		"**Status:** Issues Found",
		"#### Critical\n\n- `a.go:3` leaks",
		"1. **Critical** `a.go:3`: leaks",
		"Ready to merge? Yes, if it builds",
		"**Ready to merge?** [Yes | No | With fixes]",
		"## ⚠️ API Error (HTTP 503)",
	}
	for i := range 10000 {
		var parts []string
		for range 1 + rnd.IntN(5) {
			parts = append(
				parts,
				[]string{
					yes, "### Verdict: APPROVE", "No issues found", "Great!", "<details>\n\ntext\n\n</details>", "```\nx\n```",
					"> a\n> b", "<!-- c -->", "- item",
				}[rnd.IntN(9)],
			)
		}
		at := rnd.IntN(len(parts) + 1)
		parts = append(parts[:at], append([]string{denials[rnd.IntN(len(denials))]}, parts[at:]...)...)
		body := strings.Join(parts, "\n\n")
		if got := Read(autoReviewer(), Material{Kind: Review, State: "COMMENTED", Body: body}); got.Outcome == quorum.Approved {
			t.Fatalf("text %d approves (%q):\n%s", i, got.Detail, body)
		}
	}
}

func TestEverySeedHolds(t *testing.T) {
	for _, r := range allReviewers() {
		for _, s := range seeds {
			checkInvariants(t, r, s)
			for _, other := range seeds {
				if got := Read(r, Material{Kind: Log, Body: s + "\n" + other}); got.Outcome == quorum.Approved {
					t.Fatalf("a log approves: %q %q", s, other)
				}
			}
		}
	}
}

// costlyTexts returns texts of 64 KiB that try to cost much.
func costlyTexts() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, 64<<10/len(s)) }
	return map[string]string{
		"review": fill(
			"## Finding\n\n1. **High** `pkg/file.go:12`: the lock is `held` too long.\n   - Fix: release it.\n\nSome prose: about it.\n\n",
		),
		"nested fences":    fill("```\n````\n~~~\n"),
		"growing fences":   growingRuns('`'),
		"growing ticks":    strings.ReplaceAll(growingRuns('`'), "\n", " x "),
		"quotes":           fill(">"),
		"quote lines":      fill("> x\n"),
		"ticks":            fill("`"),
		"tick pairs":       fill("`a` "),
		"bars":             fill("|"),
		"bar lines":        fill("|1|2|\n"),
		"comments":         fill("<!--"),
		"comment ends":     fill("<!-- x -->"),
		"tags":             fill("<a "),
		"tag lines":        fill("<pre>\n"),
		"one line":         fill("word "),
		"verdict, long":    "**Ready to merge?** Yes " + fill("and so on "),
		"verdicts":         fill("Ready to merge? Yes\n"),
		"verdicts, no end": fill("Verdict: approve\nand\n"),
		"places":           fill("- a.go:1 b.go:2\n"),
		"severities":       fill("- critical: 1, high: 2\n"),
		"errors":           fill("Error: HTTP 5xx failed\n"),
		"error words":      fill("error error: rate limit quota http "),
		"limits":           fill("retry in 5 fork key budget limit quota\n"),
		"digits":           fill("1"),
		"brackets":         fill("["),
		"braces":           fill(`{"a":`),
		"newlines":         fill("\n"),
		"hashes":           fill("# "),
		"stars":            fill("*"),
		"zero width":       fill("\u200b"),
		"invalid":          fill("\xff"),
		"escapes":          fill("\x1b["),
		"commits":          fill("for commit 1a2b3c "),
		"links":            fill("[a](b) "),
		"open links":       fill("]("),
		"open link lines":  fill("[a](\n"),
		"link ends":        fill("[[[]("),
		"nested folds":     fill("<details><summary>x</summary>\n"),
		"yes, then prose":  "**Ready to merge?** Yes\n\n" + fill("The lock is held for a short time, which is fine.\n\n"),
		"yes, then items":  "**Ready to merge?** Yes\n\n" + fill("- `a.go` is split in two, and nothing else.\n"),
		"yes, then commas": "**Ready to merge?** Yes\n\n" + fill("the, lock, is, held, "),
		"long table":       "| Severity | Count |\n|--|--|\n" + fill("| Low | 0 |\n"),
		"hey":              fill("hey i've reviewed your changes and found "),
		"headings":         fill("# a\n"),
		"underlines":       fill("a\n-\n"),
	}
}

func growingRuns(c byte) string {
	var b strings.Builder
	for n := 3; b.Len() < 64<<10; n++ {
		b.WriteString(strings.Repeat(string(c), n))
		b.WriteByte('\n')
	}
	return b.String()
}

// Four times the text takes four times as long, not sixteen times: nothing is quadratic. How long it takes is the
// benchmark's to tell.
func TestCostGrowsLikeTheText(t *testing.T) {
	for name, body := range costlyTexts() {
		for _, r := range []quorum.Reviewer{autoReviewer(), reviewerWith(quorum.JSON), presetReviewer(t, "coderabbit")} {
			for _, kind := range []Kind{Comment, Log} {
				took := func(body string) time.Duration {
					start := time.Now()
					Read(r, Material{Kind: kind, Body: body})
					ReadLines(body).NamedCommit(r)
					return time.Since(start)
				}
				least := 100.0 // of several tries: other processes want the processor, too
				for try := 0; try < 12 && least > 10; try++ {
					quarter := max(took(body[:len(body)/4]), time.Millisecond)
					least = min(least, float64(took(body))/float64(quarter))
				}
				if least > 10 {
					t.Errorf("%s, %s, %v: four times the text takes %.0f times as long", name, r.Name, kind, least)
				}
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	coderabbit, _ := Preset("coderabbit")
	for name, body := range costlyTexts() {
		for what, r := range map[string]quorum.Reviewer{"auto": autoReviewer(), "coderabbit": coderabbit} {
			b.Run(fmt.Sprintf("%s/%s", strings.ReplaceAll(name, " ", "-"), what), func(b *testing.B) {
				for b.Loop() {
					Read(r, Material{Kind: Comment, Body: body})
				}
			})
		}
		b.Run(strings.ReplaceAll(name, " ", "-")+"/log", func(b *testing.B) {
			for b.Loop() {
				Read(autoReviewer(), Material{Kind: Log, Body: body})
			}
		})
	}
}
