package evidence_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func concernedPolicy() quorum.Policy {
	return quorum.Policy{Check: "Review quorum", Mode: quorum.Enforce, Need: 2, Reviewers: []quorum.Reviewer{
		{
			Name: "openai", Workflow: ".github/workflows/openai.yml", Author: "github-actions[bot]", Heading: "## OpenAI",
			Verdict: quorum.Format{Kind: quorum.Auto},
		},
		{Name: "copilot", Author: "copilot-pull-request-reviewer[bot]", Request: quorum.Request{Login: "copilot-pull-request-reviewer[bot]"}},
		{Name: "bugbot", Check: "Cursor Bugbot", App: "cursor", Author: "cursor[bot]"},
		{Name: "sonar", Status: "sonarqube", Author: "sonarbot"},
	}}
}

// A label is news where the policy chooses by labels.
func TestLabelsConcern(t *testing.T) {
	byLane, byReviewer := concernedPolicy(), concernedPolicy()
	byLane.Lanes = []quorum.Lane{{Name: "careful", If: quorum.Condition{Labels: []string{"careful"}}}}
	byReviewer.Reviewers[0].When.Labels = []string{"careful"}
	for name, p := range map[string]quorum.Policy{"a lane": byLane, "a reviewer": byReviewer} {
		for _, action := range []string{"labeled", "unlabeled"} {
			if !evidence.Concerned(p, quorum.Touch{Event: "pull_request", Action: action}) {
				t.Errorf("%s chooses by labels, and %s concerns nobody", name, action)
			}
		}
	}
}

func TestConcerned(t *testing.T) {
	for _, test := range []struct {
		touch quorum.Touch
		want  bool
	}{
		{quorum.Touch{}, true},
		{quorum.Touch{Event: "something new"}, true},
		{quorum.Touch{Event: "push"}, true},
		{quorum.Touch{Event: "pull_request", Action: "synchronize"}, true},
		{quorum.Touch{Event: "pull_request", Action: "labeled"}, false},
		{quorum.Touch{Event: "pull_request", Action: "unlabeled"}, false},
		{quorum.Touch{Event: "pull_request_review_thread", Action: "resolved"}, true},

		{quorum.Touch{Event: "workflow_run"}, true},
		{quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/openai.yml"}, true},
		{quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/openai.yml@refs/heads/main"}, true},
		{quorum.Touch{Event: "workflow_run", Workflow: "acme/shop/.github/workflows/openai.yml@main"}, true},
		{quorum.Touch{Event: "workflow_run", Action: "requested", Workflow: ".github/workflows/tests.yml"}, false},
		{quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/myopenai.yml"}, false},

		{quorum.Touch{Event: "check_run"}, true},
		{quorum.Touch{Event: "check_run", App: "cursor", Name: "Cursor Bugbot"}, true},
		{quorum.Touch{Event: "check_run", App: "Cursor", Name: "Cursor Bugbot"}, true},
		{quorum.Touch{Event: "check_run", App: "cursor", Name: "another"}, false},
		{quorum.Touch{Event: "check_run", App: "github-actions", Name: "review"}, false},
		{quorum.Touch{Event: "check_run", App: "github-actions", Name: "Cursor Bugbot"}, false},
		{quorum.Touch{Event: "check_run", App: "mallory", Name: "Review quorum"}, true},
		{quorum.Touch{Event: "check_run", App: "mallory", Name: "x", Action: "rerequested"}, true},
		{quorum.Touch{Event: "check_suite", App: "cursor"}, true},
		{quorum.Touch{Event: "check_suite", App: "github-actions"}, false},
		{quorum.Touch{Event: "check_suite"}, true},

		{quorum.Touch{Event: "status"}, true},
		{quorum.Touch{Event: "status", Name: "SonarQube", Author: "sonarbot"}, true},
		{quorum.Touch{Event: "status", Name: "sonarqube"}, true},
		{quorum.Touch{Event: "status", Name: "sonarqube", Author: "mallory"}, false},
		{quorum.Touch{Event: "status", Name: "ci/build", Author: "sonarbot"}, false},

		{quorum.Touch{Event: "issue_comment"}, true},
		{quorum.Touch{Event: "issue_comment", Author: "GitHub-Actions[bot]"}, true},
		{quorum.Touch{Event: "issue_comment", Author: "alice"}, false},
		{quorum.Touch{Event: "issue_comment", Author: "dependabot[bot]"}, false},
		{quorum.Touch{Event: "pull_request_review_comment", Author: "cursor[bot]"}, true},
		{quorum.Touch{Event: "pull_request_review_comment", Author: "Copilot"}, true},
		{quorum.Touch{Event: "pull_request_review_comment", Author: "alice"}, false},
		{quorum.Touch{Event: "pull_request_review", Author: "alice"}, true},
		{quorum.Touch{Event: "pull_request_review"}, true},
		{quorum.Touch{Event: "pull_request_review", Author: "alice", Remark: true}, false},
		{quorum.Touch{Event: "pull_request_review", Author: "alice", Remark: true, Command: true}, true},
		{quorum.Touch{Event: "pull_request_review", Remark: true}, true},
		{quorum.Touch{Event: "pull_request_review", Author: "cursor[bot]", Remark: true}, true},
		{quorum.Touch{Event: "pull_request_review", Author: "cursor[bot]"}, true},
		{quorum.Touch{Event: "pull_request_review", Author: "dependabot[bot]"}, false},
	} {
		if got := evidence.Concerned(concernedPolicy(), test.touch); got != test.want {
			t.Errorf("%+v: %v, want %v", test.touch, got, test.want)
		}
	}
}

// A new comment whose words approve, and that its run's end makes count, needs no look of its own. In doubt it does.
func TestApproverIn(t *testing.T) {
	const yes, no = "## OpenAI\n\nRead.\n\n**Ready to merge?** Yes", "## OpenAI\n\n**Ready to merge?** No"
	comment := quorum.Touch{Event: "issue_comment", Action: "created", Author: "github-actions[bot]", Text: 12}
	changed := func(change func(*quorum.Touch)) quorum.Touch {
		t := comment
		change(&t)
		return t
	}
	twice := concernedPolicy()
	twice.Reviewers = append(twice.Reviewers, twice.Reviewers[0])
	twice.Reviewers[4].Name = "openai-again"
	withoutRun := concernedPolicy()
	withoutRun.Reviewers[0].Workflow = ""
	for name, test := range map[string]struct {
		policy quorum.Policy
		touch  quorum.Touch
		said   string
		want   string
	}{
		"a yes":                              {concernedPolicy(), comment, yes, "openai"},
		"a no":                               {concernedPolicy(), comment, no, ""},
		"a yes that is taken back":           {concernedPolicy(), comment, yes + "\n\n1. **Critical** `cart.go:42`: the total is not rounded.", ""},
		"words that say neither":             {concernedPolicy(), comment, "## OpenAI\n\nRead.", ""},
		"another heading":                    {concernedPolicy(), comment, strings.Replace(yes, "OpenAI", "Gemini", 1), ""},
		"another author":                     {concernedPolicy(), changed(func(t *quorum.Touch) { t.Author = "alice" }), yes, ""},
		"an edit":                            {concernedPolicy(), changed(func(t *quorum.Touch) { t.Action = "edited" }), yes, ""},
		"a member's command":                 {concernedPolicy(), changed(func(t *quorum.Touch) { t.Command = true }), yes, ""},
		"a review":                           {concernedPolicy(), changed(func(t *quorum.Touch) { t.Event = "pull_request_review" }), yes, ""},
		"nothing":                            {concernedPolicy(), comment, "", ""},
		"a reviewer without a run":           {withoutRun, comment, yes, ""},
		"one of two reviewers that it fits":  {twice, comment, yes, ""},
		"a policy without reviewers of such": {quorum.Policy{}, comment, yes, ""},
	} {
		if got := evidence.ApproverIn(&test.policy, test.touch, test.said); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestTellsProgress(t *testing.T) {
	p := concernedPolicy()
	for action, want := range map[string]bool{"requested": true, "in_progress": true, "completed": false, "": false} {
		touch := quorum.Touch{Event: "workflow_run", Action: action, Workflow: ".github/workflows/openai.yml"}
		if got := evidence.TellsProgress(touch); got != want {
			t.Errorf("a run that is %s: %v", action, got)
		}
		if !evidence.RunsAs(&p, "openai", touch) || evidence.RunsAs(&p, "copilot", touch) {
			t.Errorf("it is another reviewer's run: %+v", touch)
		}
	}
	if evidence.TellsProgress(quorum.Touch{Event: "check_run", Action: "in_progress"}) {
		t.Error("a check may have ended already")
	}
}

// What depends on more than who a reviewer is.
func TestConcernedByPeople(t *testing.T) {
	p := concernedPolicy()
	comment := quorum.Touch{Event: "issue_comment", Author: "alice"}
	other := quorum.Touch{Event: "workflow_run", Action: "requested", Workflow: ".github/workflows/tests.yml"}
	p.Reviewers[1].Request = quorum.Request{Comment: "@coderabbitai review"}
	if !evidence.Concerned(p, comment) {
		t.Error("a person may ask by comment")
	}
	p.StandIn = quorum.Write
	if evidence.Concerned(p, other) {
		t.Error("who caused it is read when a person stands in")
	}
	none := quorum.Policy{}
	if evidence.Concerned(none, other) || evidence.Concerned(none, comment) || !evidence.Concerned(none, quorum.Touch{Event: "pull_request"}) {
		t.Error("without reviewers only the pull request itself concerns")
	}
}

// Whatever the policy: what a reviewer leaves always concerns, in whichever event it comes.
func TestWhatAReviewerLeavesConcerns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z][A-Za-z0-9-]{0,8}`)
		login := rapid.Custom(func(t *rapid.T) string {
			return word.Draw(t, "login") + rapid.SampledFrom([]string{"", "[bot]"}).Draw(t, "kind")
		})
		reviewer := rapid.Custom(func(t *rapid.T) quorum.Reviewer {
			r := quorum.Reviewer{Name: word.Draw(t, "name"), Shadow: rapid.Bool().Draw(t, "shadow"), Author: login.Draw(t, "author")}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				r.Workflow = ".github/workflows/" + word.Draw(t, "file") + ".yml"
			case 1:
				r.Workflow = "dynamic/" + word.Draw(t, "file") + "/" + word.Draw(t, "file")
			case 2:
				r.Check, r.App = word.Draw(t, "check")+" review", word.Draw(t, "app")
			case 3:
				r.Status = word.Draw(t, "context") + "/x"
			}
			return r
		})
		p := quorum.Policy{
			Check:     "Review quorum",
			Mode:      quorum.Mode(rapid.IntRange(1, 3).Draw(t, "mode")),
			Reviewers: rapid.SliceOfN(reviewer, 1, 5).Draw(t, "reviewers"),
		}
		r := rapid.SampledFrom(p.Reviewers).Draw(t, "whose")
		action := rapid.SampledFrom([]string{"", "created", "edited", "deleted", "completed", "in_progress"}).Draw(t, "action")
		cased := func(s string) string {
			if rapid.Bool().Draw(t, "case") {
				return strings.ToUpper(strings.TrimSuffix(s, "[bot]")) + s[len(strings.TrimSuffix(s, "[bot]")):]
			}
			return s
		}
		var touches []quorum.Touch
		for _, event := range []string{"issue_comment", "pull_request_review", "pull_request_review_comment"} {
			touches = append(touches, quorum.Touch{Event: event, Author: cased(r.Author)})
		}
		if r.Workflow != "" {
			path := rapid.SampledFrom(
				[]string{"", "acme/shop/"},
			).Draw(
				t,
				"before",
			) + r.Workflow + rapid.SampledFrom(
				[]string{"", "@main", "@refs/heads/a@b"},
			).Draw(
				t,
				"behind",
			)
			touches = append(touches, quorum.Touch{Event: "workflow_run", Workflow: path, Run: 1})
		}
		if r.Check != "" {
			touches = append(touches, quorum.Touch{Event: "check_run", App: cased(r.App), Name: r.Check}, quorum.Touch{Event: "check_suite", App: cased(r.App)})
		}
		if r.Status != "" {
			touches = append(touches, quorum.Touch{Event: "status", Name: cased(r.Status), Author: cased(r.Author)})
		}
		for _, touch := range touches {
			touch.Action = action
			if !evidence.Concerned(p, touch) {
				t.Fatalf("%+v does not concern %+v", touch, r)
			}
		}
	})
}
