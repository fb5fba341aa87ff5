package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// groupDecision is what was decided about a group of pull requests, each with a verdict and the title of its check.
func groupDecision(v quorum.Verdict, pulls ...quorum.SharedPull) quorum.Decision {
	return quorum.Decision{
		PR: quorum.PR{Owner: "acme", Repo: "shop", Number: 7}, Head: strings.Repeat("a", 40), Base: "main", Verdict: v,
		Reason: quorum.ReasonTally, Shared: pulls,
		Group: &quorum.GroupState{Branch: "gh-readonly-queue/main/pr-7-x", Since: time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)},
	}
}

func TestRenderGroup(t *testing.T) {
	seven := quorum.SharedPull{Number: 7, Verdict: quorum.Passed, Title: "2 of 2 approvals"}
	eight := quorum.SharedPull{Number: 8, Verdict: quorum.Blocked, Title: "Changes requested by gemini"}
	many := []quorum.SharedPull{eight}
	for n := range 6 {
		many = append(many, quorum.SharedPull{Number: 20 + n, Verdict: quorum.Passed, Title: "2 of 2 approvals"})
	}
	late, unknown := groupDecision(quorum.Blocked, seven), groupDecision(quorum.Waiting, seven)
	manyWorst := groupDecision(quorum.Blocked, many...)
	late.Reason, late.Group.Late = quorum.ReasonGroupLate, true
	unknown.Reason = quorum.ReasonGroupUnknown
	manyWorst.PR.Number = 8
	for _, test := range []struct {
		d                         quorum.Decision
		mode                      quorum.Mode
		status, conclusion, title string
		says                      []string
	}{
		{
			groupDecision(quorum.Passed, seven), quorum.Enforce, "completed", "success", "#7: 2 of 2 approvals",
			[]string{"the only pull request", "turns this check red"},
		},
		{groupDecision(quorum.Passed, seven), quorum.ReportOnly, "completed", "neutral", "#7: 2 of 2 approvals (report only)", nil},
		{
			groupDecision(quorum.Blocked, seven, eight), quorum.Enforce, "completed", "failure",
			"#7: 2 of 2 approvals; #8: Changes requested by gemini",
			[]string{
				"does not pass: the worst of it counts", "read the check of [`#8`](https://github.com/acme/shop/pull/8)",
				"`#7`](https://github.com/acme/shop/pull/7) passed",
			},
		},
		{groupDecision(quorum.Unverified, seven), quorum.Enforce, "completed", "action_required", "#7: 2 of 2 approvals", nil},
		{
			groupDecision(quorum.Waiting, seven), quorum.Enforce, "in_progress", "", "#7: 2 of 2 approvals",
			[]string{"What is not decided by 14:10 UTC fails here"},
		},
		{
			late, quorum.Enforce, "completed", "failure", "Undecided for ten minutes: #7: 2 of 2 approvals",
			[]string{"A merge group that is not decided after ten minutes fails"},
		},
		{unknown, quorum.Enforce, "in_progress", "", "Waiting: which pull requests the merge group holds is not known yet", nil},
		{manyWorst, quorum.Enforce, "completed", "failure", "6 of 7 pull requests pass; #8: Changes requested by gemini", []string{"`#25`"}},
	} {
		c := report.RenderGroup(quorum.Policy{Mode: test.mode}, "Review quorum", test.d, report.Places{Web: "https://github.com"})
		isNamed := c.ExternalID == "review-coordinator acme/shop@main" && !c.Leave
		if c.Status != test.status || c.Conclusion != test.conclusion || c.Title != test.title || !isNamed {
			t.Errorf("%s %s %q, want %s %s %q", c.Status, c.Conclusion, c.Title, test.status, test.conclusion, test.title)
		}
		for _, says := range test.says {
			if !strings.Contains(c.Summary, says) {
				t.Errorf("%q does not say %q:\n%s", c.Title, says, c.Summary)
			}
		}
		if _, isRecord := report.ParseRecord(c.Text); isRecord {
			t.Error("it has a record, which a pull request of that commit would take for its own")
		}
	}
	if c := report.RenderGroup(quorum.Policy{}, "", groupDecision(quorum.Ended), report.Places{}); !c.Leave {
		t.Errorf("what has ended is written: %+v", c)
	}
}

// Nothing that a stranger chose does anything in a group's check: titles hold reviewers' names, branches are theirs.
func TestRenderGroupIsHarmless(t *testing.T) {
	evil := "@acme/all <img src=x> [a](https://evil.example) | `x` ##[error] ::error:: #1 \u202e"
	d := groupDecision(quorum.Blocked, quorum.SharedPull{Number: 7, Verdict: quorum.Blocked, Title: evil})
	d.Base, d.Group.Branch = evil, evil
	c := report.RenderGroup(quorum.Policy{Mode: quorum.Enforce}, "Review quorum", d, report.Places{Web: "https://github.com"})
	outside := c.Summary
	for strings.Contains(outside, "`") { // what is not shown as code
		before, rest, _ := strings.Cut(outside, "``")
		if before == outside {
			before, rest, _ = strings.Cut(outside, "`")
			_, rest, _ = strings.Cut(rest, "`")
		} else {
			_, rest, _ = strings.Cut(rest, "``")
		}
		outside = before + rest
	}
	for _, bad := range []string{"@acme", "<img", "evil.example", "\u202e"} {
		if strings.Contains(outside, bad) {
			t.Errorf("%q is rendered in\n%s", bad, c.Summary)
		}
	}
	if strings.Contains(c.Title+c.Described, "\u202e") || len(c.Title) > 400 || len([]rune(c.Described)) > 140 {
		t.Errorf("title %q", c.Title)
	}
}
