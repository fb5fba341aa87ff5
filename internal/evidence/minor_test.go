package evidence_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// preset is a preset with a min_severity.
func preset(t *testing.T, name string, least quorum.Severity) quorum.Reviewer {
	t.Helper()
	r, known := review.Preset(name)
	if !known {
		t.Fatalf("no preset %q", name)
	}
	r.MinSeverity = least
	return r
}

func saying(body string) func(*quorum.Thread) { return func(t *quorum.Thread) { t.Body = body } }

func TestMinSeverityOfThreads(t *testing.T) {
	const (
		major = "_⚠️ Potential issue_ | _🟠 Major_\n\n**Close the file.**"
		minor = "_⚠️ Potential issue_ | _🟡 Minor_\n\n**Rename it.**"
		plain = "Rename it."
	)
	posted := map[int]string{1: "**Actionable comments posted: 1**", 2: "**Actionable comments posted: 2**"}
	rabbit := preset(t, "coderabbit", quorum.High)
	lax := preset(t, "coderabbit", quorum.SeverityAny)
	says := func(r quorum.Reviewer, n int) *scene { return onHead(r).review(1, 5, r.Author, "COMMENTED", posted[n]) }
	accepted := wanted{quorum.Approve, quorum.Approved, quorum.ReasonAccepted, ""}
	open := wanted{quorum.Object, quorum.Findings, quorum.ReasonOpenThreads, ""}
	byOther := func(th *quorum.Thread) { th.Edited, th.Editor = true, who("mallory") }
	earlier := func(th *quorum.Thread) { th.Review, th.Commit = 99, older }
	const clean = "**Actionable comments posted: 0**"
	codex := preset(t, "codex", quorum.Medium)
	const suggestions = "### 💡 Codex Review\n\nHere are some automated review suggestions for this pull request."
	bugbot := preset(t, "bugbot", quorum.High)
	found := func(conclusion string) func(*scene) {
		return func(x *scene) {
			x.s.Checks = append(x.s.Checks, quorum.CheckRun{
				ID: 9, Name: bugbot.Check, App: bugbot.App, Status: "completed", Conclusion: conclusion, Started: at(1), Completed: at(6),
				Summary: "Bugbot completed review and found 1 potential issue",
			})
		}
	}
	judge(t, []row{
		{"any: a minor one objects", says(lax, 1).thread(11, saying(minor)), objects},
		{"a minor one does not", says(rabbit, 1).thread(11, saying(minor)), accepted},
		{"a major one does", says(rabbit, 1).thread(11, saying(major)), objects},
		{"one of both does", says(rabbit, 2).thread(11, saying(minor)).thread(12, saying(major)), objects},
		{"one that does not say how grave it is does", says(rabbit, 1).thread(11, saying(plain)), objects},
		{"one that is not shown does", says(rabbit, 2).thread(11, saying(minor)), objects},
		{"one that somebody else edited does", says(rabbit, 1).thread(11, saying(minor), byOther), objects},
		{
			"who resolves the major one has done enough",
			says(rabbit, 2).thread(11, saying(minor)).thread(12, saying(major), resolved("bob")),
			wanted{quorum.Approve, quorum.Approved, quorum.ReasonResolved, ""},
		},
		{
			"who resolves the minor one has not",
			says(rabbit, 2).thread(11, saying(minor), resolved("bob")).thread(12, saying(major)),
			objects,
		},
		{
			"a request for changes is one",
			onHead(rabbit).review(1, 5, rabbit.Author, "CHANGES_REQUESTED", posted[1]).thread(11, saying(minor)),
			objects,
		},
		{"words object beside it", onHead(rabbit).review(1, 5, rabbit.Author, "COMMENTED", posted[1]+"\n\n**Ready to merge?** No").
			thread(11, saying(minor)), objects},
		{"clean, and an earlier minor one is open", onHead(rabbit).review(1, 5, rabbit.Author, "COMMENTED", clean).thread(3, saying(minor), earlier), approves},
		{"clean, and an earlier major one is open", onHead(rabbit).review(1, 5, rabbit.Author, "COMMENTED", clean).thread(3, saying(major), earlier), open},
		{
			"a recorded thread that is minor under the policy in force",
			onHead(rabbit).review(1, 5, rabbit.Author, "COMMENTED", clean).thread(3, saying(minor), earlier).
				objected(quorum.Objection{TextRef: ref(quorum.TextThread, 3), Reviewer: "coderabbit", Attempt: 1, At: at(4)}),
			approves,
		},
		{"an introduction alone", onHead(codex).review(1, 5, codex.Author, "COMMENTED", suggestions).thread(11, saying("P3: rename it")), accepted},
		{"an empty body", onHead(codex).review(1, 5, codex.Author, "COMMENTED", "").thread(11, saying("P3: rename it")), accepted},
		{
			"words that nobody knows",
			onHead(codex).review(1, 5, codex.Author, "COMMENTED", "The whole design is broken.").
				thread(11, saying("P3: rename it")).with(func(x *scene) { x.p.Reviewers[0].Shadow = true }),
			wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonMalformed, ""},
		},
		{
			"a check that counts it",
			onHead(bugbot).review(1, 5, bugbot.Author, "COMMENTED", "Cursor Bugbot has reviewed your changes and found 1 potential issue.").
				thread(11, saying("### A name\n\n**Low Severity**\n\nRename it.")).with(found("neutral")),
			accepted,
		},
		{
			"a check that counts a grave one",
			onHead(bugbot).review(1, 5, bugbot.Author, "COMMENTED", "Cursor Bugbot has reviewed your changes and found 1 potential issue.").
				thread(11, saying("### A file\n\n**High Severity**\n\nClose it.")).with(found("neutral")),
			objects,
		},
	})
	b := says(rabbit, 2).thread(11, saying(minor)).thread(12, saying(major)).ballot()
	if len(b.Findings) != 2 || !b.Findings[0].Below || b.Findings[0].Severity != quorum.Low || b.Findings[1].Below || b.Findings[1].Severity != quorum.High {
		t.Errorf("the findings are %+v", b.Findings)
	}
	b = says(rabbit, 1).thread(11, saying(minor)).ballot()
	if len(b.Findings) != 1 || !b.Findings[0].Below || b.Findings[0].Path != "cart.go" || b.Findings[0].Line != 3 {
		t.Errorf("beside the approval stands %+v", b.Findings)
	}
}

func TestPathsOfFindings(t *testing.T) {
	const runner = "/home/" + "runner/work/" // in two parts: no file of this repository names a folder of one machine's
	for said, want := range map[string]string{
		"cart.go":                   "cart.go",
		"a/cart.go":                 "cart.go",
		"b/sum.go":                  "b/sum.go", // there is such a folder
		"/workspace/shop/cart.go":   "cart.go",
		runner + "shop/shop/io.go":  "io.go",
		runner + "shop/shop/b/x.go": "b/x.go",
		"shop/io.go":                "shop/io.go", // not a file of the pull request
	} {
		x := onHead(sage()).review(1, 5, "sage[bot]", "COMMENTED", "**Verdict:** Needs changes\n\n- **High** "+said+":3 leaks")
		x.s.PR.Files = []quorum.File{{Path: "cart.go"}, {Path: "b/sum.go"}}
		if b := x.ballot(); len(b.Findings) != 1 || b.Findings[0].Path != want {
			t.Errorf("%q: %+v, want %q", said, b.Findings, want)
		}
	}
}
