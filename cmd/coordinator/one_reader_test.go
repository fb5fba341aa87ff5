//go:build !action

package main

// There is one reader: classify, explain and the check say the same of the same text, whoever's it is.

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/review/reviewtest"
)

func TestOneReader(t *testing.T) {
	compared := map[string]int{}
	for _, preset := range review.Presets() {
		for _, g := range reviewtest.GoldenTexts(t, "../../internal/review", preset) {
			r, _ := review.Preset(preset)
			r.Timeout = 10 * time.Minute
			if review.NeedsWorkflow(preset) {
				r.Workflow = ".github/workflows/review.yml"
			}
			compareReaders(t, r, g.Name, g.Material, compared)
		}
	}
	for _, way := range []string{"check", "explain", "approved", "findings", "malformed", "limited", "running", "unrelated"} {
		if compared[way] < 10 {
			t.Errorf("only %d texts were compared by what is %s", compared[way], way)
		}
	}
}

// Texts that are told apart by more than their words: a heading, a mark, the sentences of a policy.
func TestOneReaderOfPolicies(t *testing.T) {
	sage := quorum.Reviewer{
		Name: "sage", Author: "sage[bot]", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
	}
	headed, taught := sage, sage
	headed.Heading = "## Sage"
	taught.Shapes = quorum.Shapes{Approves: []string{"sage has nothing to add"}, Objects: []string{"sage frowns"}, Other: []string{"# sage's walkthrough"}}
	coderabbit, _ := review.Preset("coderabbit")
	coderabbit.Timeout, coderabbit.Shapes = 10*time.Minute, taught.Shapes
	greptile, _ := review.Preset("greptile")
	greptile.Timeout = 10 * time.Minute
	compared := map[string]int{}
	for name, c := range map[string]struct {
		r    quorum.Reviewer
		m    review.Material
		want string
	}{
		"a heading":               {headed, review.Material{Kind: review.Comment, Body: "## Sage\n\n**Ready to merge?** Yes"}, "approved"},
		"another heading":         {headed, review.Material{Kind: review.Comment, Body: "## Basil\n\n**Ready to merge?** Yes"}, "unrelated"},
		"a sentence":              {taught, review.Material{Kind: review.Comment, Body: "Sage has nothing to add."}, "approved"},
		"the same, unknown":       {sage, review.Material{Kind: review.Comment, Body: "Sage has nothing to add."}, "malformed"},
		"a frown":                 {taught, review.Material{Kind: review.Comment, Body: "Sage frowns."}, "findings"},
		"another text":            {taught, review.Material{Kind: review.Comment, Body: "# Sage's walkthrough\n\nA cart."}, "unrelated"},
		"a chat without marks":    {greptile, review.Material{Kind: review.Comment, Body: "You asked: Confidence Score: 5/5"}, "unrelated"},
		"a signal":                {coderabbit, review.Material{Kind: review.Check, Body: "Sage has nothing to add", Conclusion: "success"}, "approved"},
		"a signal in other words": {coderabbit, review.Material{Kind: review.Check, Body: "Sage is content", Conclusion: "success"}, "malformed"},
		"answers in threads":      {sage, review.Material{Kind: review.Review, State: "COMMENTED"}, "unrelated"},
		"comments on the diff":    {sage, review.Material{Kind: review.Review, State: "COMMENTED", Threads: 2}, "findings"},
	} {
		if got := compareReaders(t, c.r, name, c.m, compared); got.Outcome.String() != c.want {
			t.Errorf("%s is %v, want %s", name, got.Outcome, c.want)
		}
	}
}

// classifiedJSON is what classify --json prints, as far as the check and explain say it, too.
type classifiedJSON struct {
	Outcome quorum.Outcome `json:"outcome"`
	Reason  quorum.Reason  `json:"reason"`
	Rule    string         `json:"rule"`
	Commit  string         `json:"commit"`
	Settled bool           `json:"if_settled"`
}

// compareReaders has a text read by classify, by explain and by the check, and returns what classify says.
func compareReaders(t *testing.T, r quorum.Reviewer, name string, m review.Material, compared map[string]int) classifiedJSON {
	t.Helper()
	var got classifiedJSON
	printed, err := json.Marshal(readAsCheck(r, m))
	if err = cmp.Or(err, json.Unmarshal(printed, &got)); err != nil {
		t.Fatal(err)
	}
	compared[got.Outcome.String()]++
	policy, snapshot, bound := snapshotOfText(r, m, got.Commit)
	for i := range snapshot.Runs {
		if run := &snapshot.Runs[i]; got.Outcome == quorum.Running { // of a run that has ended nothing is under way
			run.Status, run.Conclusion, run.Jobs[0].Conclusion = "in_progress", "", ""
			run.Jobs[0].Completed = time.Time{}
		}
	}
	if !bound {
		return got
	}
	want := [2]string{got.Outcome.String(), string(got.Reason)}
	switch {
	case got.Outcome == quorum.Unrelated && r.Workflow != "":
		want = [2]string{quorum.Empty.String(), string(quorum.ReasonEmpty)} // its run is all that is seen of it
	case got.Outcome == quorum.Unrelated, isUnheardSignal(r, m, got):
		want = [2]string{quorum.Silent.String(), string(quorum.ReasonSilent)}
	case got.Settled && m.Threads > 0:
		want = [2]string{quorum.Findings.String(), string(quorum.ReasonOpenThreads)}
	case got.Outcome == quorum.Findings:
		want[1] = string(quorum.ReasonFindings)
	}
	ballot := evidence.Judge(policy, snapshot)[0]
	if ballot.Then != nil {
		ballot = *ballot.Then
	}
	if has := [2]string{ballot.Outcome.String(), string(ballot.Reason)}; has != want {
		t.Errorf("%s: %q: classify says %v, and the check %v", cmp.Or(r.Preset, r.Name), name, want, has)
	}
	compared["check"]++
	if r.Retired || m.Kind == review.Check || m.Kind == review.Status {
		return got
	}
	texts := evidence.Consider(policy, snapshot)
	if len(texts) != 1 {
		t.Fatalf("%s: %q: explain considers %d texts", cmp.Or(r.Preset, r.Name), name, len(texts))
	}
	has := [2]string{texts[0].Outcome.String(), string(texts[0].Reason)}
	if got.Outcome == quorum.Unrelated {
		if texts[0].Rejected == "" {
			t.Errorf("%s: %q: classify says that it is unrelated, and explain %v", cmp.Or(r.Preset, r.Name), name, has)
		}
	} else if texts[0].Rejected != "" || has != want {
		t.Errorf("%s: %q: classify says %v, and explain %v, %s", cmp.Or(r.Preset, r.Name), name, want, has, texts[0].Rejected)
	}
	compared["explain"]++
	return got
}

// isUnheardSignal reports whether a check or status that only accompanies its reviewer's texts leaves the word to them.
func isUnheardSignal(r quorum.Reviewer, m review.Material, said classifiedJSON) bool {
	if m.Kind == review.Check && r.Check != "" || m.Kind == review.Status && r.Status != "" || m.Kind != review.Check && m.Kind != review.Status {
		return false
	}
	switch said.Outcome {
	case quorum.Running, quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded:
		return false
	case quorum.Approved, quorum.Findings:
		return !strings.HasPrefix(said.Rule, r.Preset+".json ") && !strings.HasPrefix(said.Rule, "policy ")
	}
	return true
}

// snapshotOfText is a pull request on which the text is all that the reviewer left, bound to its head. bound is false
// if no pull request can have it so.
func snapshotOfText(r quorum.Reviewer, m review.Material, named string) (p quorum.Policy, s quorum.Snapshot, bound bool) {
	if named != "" && (len(named) > 40 || !review.IsHex(named)) {
		return p, s, false // it names several
	}
	head := named + strings.Repeat("b", 40-len(named))
	at := func(sec int) time.Time { return time.Date(2026, 1, 5, 9, 0, sec, 0, time.UTC) }
	alice := quorum.Account{Login: "alice"}
	pr := quorum.PullRequest{
		PR:   quorum.PR{Owner: "acme", Repo: "shop", Number: 7},
		Head: head, HeadRef: "feature", HeadRepo: "acme/shop", BaseRef: "main", DefaultBranch: "main",
		Author: alice, Created: at(-60), Commits: 1, Files: []quorum.File{{Path: "cart.go"}},
	}
	s = quorum.Snapshot{
		PR: pr, Commits: []quorum.Commit{{SHA: head, People: []quorum.Account{alice}}}, Pushes: []quorum.Push{{After: head, Actor: alice, At: at(-1)}},
		SameBranch: []quorum.PullRequest{pr}, File: quorum.PolicyFile{State: quorum.FileValid, SHA: "p1"}, Gated: true, Arrived: at(0),
		Ours: quorum.Account{Login: "coordinator[bot]", Bot: true}, Record: quorum.Record{Version: 1, Head: head, Base: "main"},
	}
	author := quorum.Account{Login: r.Author, Bot: strings.HasSuffix(r.Author, "[bot]")}
	switch text := (quorum.Text{TextRef: quorum.TextRef{ID: 1}, Author: author, Body: m.Body, At: at(50)}); m.Kind {
	case review.Comment:
		text.Kind = quorum.TextComment
		s.Comments = []quorum.Text{text}
	case review.Review:
		text.Kind, text.Commit, text.State, text.Threads = quorum.TextReview, head, m.State, m.Threads
		s.Reviews = []quorum.Text{text}
		for i := range m.Threads {
			s.Threads = append(s.Threads, quorum.Thread{
				ID: int64(10 + i), Review: 1, Author: author, Body: "This empties the cart twice.", Path: "cart.go", Line: 3 + i, Commit: head, At: at(50),
			})
		}
	case review.Check:
		name, app := cmp.Or(r.Check, r.Signal.Check), cmp.Or(r.App, r.Signal.App)
		title, summary, _ := strings.Cut(m.Body, "\n\n")
		s.Checks = []quorum.CheckRun{{
			ID: 1, Name: name, App: app, Status: cmp.Or(m.State, "completed"), Conclusion: m.Conclusion, Title: title, Summary: summary,
			Started: at(40), Completed: at(50),
		}}
		bound = name != ""
	case review.Status:
		context := cmp.Or(r.Status, r.Signal.Status)
		s.Statuses = []quorum.Status{{ID: 1, Context: context, State: m.State, Description: m.Body, Creator: author, At: at(50)}}
		bound = context != ""
	case review.Log:
	}
	if r.Workflow != "" {
		run := quorum.Run{
			ID: 1, Number: 1, Path: r.Workflow, Event: "pull_request", Head: head, Branch: "feature", Repo: "acme/shop", Suite: 2, Attempt: 1,
			Status: "completed", Conclusion: "success", Created: at(10), Started: at(10), Updated: at(100), Actor: alice,
			Jobs: []quorum.Job{{ID: 3, Conclusion: "success", Started: at(10), Completed: at(100), Read: true}},
		}
		s.Runs = []quorum.Run{run}
	}
	p = quorum.Policy{
		Check: "Review quorum", Mode: quorum.Enforce, Need: 1, Deadline: 45 * time.Minute, Threads: quorum.ByOthers,
		Retry: quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute}, Reviewers: []quorum.Reviewer{r},
	}
	return p, s, bound || m.Kind == review.Comment || m.Kind == review.Review
}
