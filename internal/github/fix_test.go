package github_test

// The start of a fix: what is sent, and what becomes of it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const fixFile = `run-name: "fix #${{ inputs.pr }} ${{ inputs.head }} ${{ inputs.base }}"
on:
  workflow_dispatch:
    inputs:
      pr: {required: true}
      head: {required: true}
      base: {required: true}
      findings: {required: true}
jobs: {}
`

const onDispatch = "POST /repos/*/*/actions/workflows/*/dispatches"

func (w *world) fixOrder(findings int) quorum.Effects {
	w.t.Helper()
	w.g.SetFile(".github/workflows/fix.yml", "", fixFile)
	o := quorum.FixOrder{Workflow: ".github/workflows/fix.yml", Branch: "main", Head: sandbox.SHA("a1"), Base: "main"}
	for i := range findings {
		o.Findings = append(o.Findings, quorum.OpenFinding{
			Path: "cart.go", Line: 10 * i, State: quorum.FindingNew,
			Said: []quorum.FixWords{{Reviewer: "gemini", Body: strings.Repeat("\"äß\u202e\n", 2000)}},
		})
	}
	return quorum.Effects{Head: o.Head, Base: o.Base, Fix: &o}
}

// However much was found, the dispatch is within GitHub's limit, is JSON, and says how much there is.
func TestApplyStartsAFix(t *testing.T) {
	for _, n := range []int{1, 40, 3000} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			receipt, err := w.forge.Apply(t.Context(), w.pr, w.fixOrder(n))
			w.must(err)
			sent := w.g.Wrote().Dispatched
			if len(sent) != 1 || receipt.Fix.State != quorum.ResultDone || receipt.Fix.Run != sent[0].Run {
				t.Fatalf("%d findings: %+v, sent %d", n, receipt.Fix, len(sent))
			}
			if want := "fix #7 " + sandbox.SHA("a1") + " main"; sent[0].Name != want {
				t.Errorf("the run is called %q, want %q", sent[0].Name, want)
			}
			var got struct {
				Findings []struct{ Path string }
				Total    int
			}
			w.must(json.Unmarshal([]byte(sent[0].Inputs["findings"]), &got))
			if got.Total != n || len(got.Findings) == 0 || n == 1 && len(got.Findings) != 1 {
				t.Errorf("%d of %d findings, want %d", len(got.Findings), got.Total, n)
			}
			if strings.ContainsRune(sent[0].Inputs["findings"], '\u202e') {
				t.Error("what turns text around is sent along")
			}
		})
	}
}

// A run of that name is the fix, whoever started it: an answer that was lost buys no second one.
func TestApplyFindsAFix(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.fixOrder(1)
		first, err := w.forge.Apply(t.Context(), w.pr, e)
		w.must(err)
		second, err := w.forge.Apply(t.Context(), w.pr, e)
		w.must(err)
		if len(w.g.Wrote().Dispatched) != 1 || second.Fix.State != quorum.ResultDone || second.Fix.Run != first.Fix.Run {
			t.Errorf("%+v after %+v: %d were started", second.Fix, first.Fix, len(w.g.Wrote().Dispatched))
		}
		e.Base, e.Fix.Base = "release", "release"
		w.must(w.g.Retarget(7, "release", "root"))
		if other, err := w.forge.Apply(t.Context(), w.pr, e); err != nil || len(w.g.Wrote().Dispatched) != 2 || other.Fix.Run == first.Fix.Run {
			t.Errorf("against another base: %+v, %v: %d were started", other.Fix, err, len(w.g.Wrote().Dispatched))
		}
	})
}

// A run of another branch runs what somebody wrote there, whatever it is called: it is no fix.
func TestApplyFixPassesOverAnotherBranch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.fixOrder(1)
		_, err := w.forge.Apply(t.Context(), w.pr, e)
		w.must(err)
		w.g.AddFault(sandbox.Fault{Kind: sandbox.FaultAnswer, Match: onDispatch, Status: 422, Body: `{"message":"No ref found for: trunk"}`})
		e.Fix.Branch = "trunk" // which the default branch is called by now
		done, err := w.forge.Apply(t.Context(), w.pr, e)
		if w.must(err); done.Fix.State != quorum.ResultRefused {
			t.Errorf("the run of main counts: %v, run %d", done.Fix.State, done.Fix.Run)
		}
	})
}

// A fix is pushed to the branch, which may be another's: whoever may read may open a pull request of it.
func TestFixNeedsAnOpenerWhoMayWrite(t *testing.T) {
	const policy = oneSage + "fix: {workflow: .github/workflows/fix.yml}\n"
	for name, test := range map[string]struct {
		pull sandbox.PullSpec
		may  string
		want quorum.Reason
	}{
		"a stranger":            {sandbox.PullSpec{Number: 7, Author: "mallory", PushedBy: "alice"}, "read", quorum.ReasonFixStranger},
		"a colleague":           {sandbox.PullSpec{Number: 7, Author: "mallory", PushedBy: "alice"}, "write", ""},
		"an App":                {sandbox.PullSpec{Number: 7, Author: "agent[bot]", PushedBy: "alice"}, "", ""},
		"whoever has pushed it": {sandbox.PullSpec{Number: 7, Author: "mallory"}, "", ""},
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, under(policy), func(s *setup) { s.pull = test.pull })
			w.g.SetFile(".github/workflows/fix.yml", "", fixFile)
			if test.may != "" {
				w.g.SetPermission("mallory", test.may)
			}
			w.comment("sage[bot]", plainNo)
			p, s := w.observe()
			f := evidence.Facts(p, s)
			if f.Fix == nil || f.Fix.Not != test.want {
				t.Errorf("%s: %+v, want %q", name, f.Fix, test.want)
			}
		})
	}
}

func TestApplyFixIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		says   string
		want   quorum.Reason
		detail string
	}{
		"no permission": {403, "Resource not accessible by integration", quorum.ReasonFixForbidden, "actions=write"},
		"not there":     {404, "Not Found", quorum.ReasonFixMissing, ""},
		"no trigger":    {422, "Workflow does not have 'workflow_dispatch' trigger", quorum.ReasonFixTrigger, ""},
		"other inputs":  {422, "Unexpected inputs provided: [\\\"base\\\"]", quorum.ReasonFixInputs, `Unexpected inputs provided: ["base"]`},
		"an input more": {422, "Required input 'model' not provided", quorum.ReasonFixInputs, "Required input 'model' not provided"},
		"disabled":      {422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow", quorum.ReasonFixDisabled, ""},
		"whatever else": {422, "No ref found for: main", quorum.ReasonFixRefused, "No ref found for: main"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				e := w.fixOrder(1)
				w.g.AddFault(sandbox.Fault{
					Kind: sandbox.FaultAnswer, Match: onDispatch, Status: test.status,
					Body: fmt.Sprintf(`{"message":"%s"}`, test.says),
				})
				receipt, err := w.forge.Apply(t.Context(), w.pr, e)
				w.must(err)
				if got := receipt.Fix; got.State != quorum.ResultRefused || got.Reason != test.want || got.Detail != test.detail {
					t.Errorf("%d %q: %+v", test.status, test.says, got)
				}
			})
		})
	}
}

// A limit and a fault are no refusals: after a limit it was not started, after a fault nobody knows.
func TestApplyFixMeetsALimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.fixOrder(1)
		w.g.AddFault(sandbox.Fault{
			Kind: sandbox.FaultAnswer, Match: onDispatch, Status: 403,
			Header: []string{"Retry-After: 3600"}, Body: `{"message":"You have exceeded a secondary rate limit."}`,
		})
		receipt, err := w.forge.Apply(t.Context(), w.pr, e)
		var limit *client.LimitError
		if !errors.As(err, &limit) || receipt.Fix == nil || receipt.Fix.State != quorum.ResultVoid {
			t.Errorf("a limit: %+v, %v", receipt.Fix, err)
		}
	})
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.fixOrder(1)
		w.g.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Match: onDispatch})
		receipt, err := w.forge.Apply(t.Context(), w.pr, e)
		if err != nil || receipt.Fix.State != quorum.ResultFailed || len(w.g.Wrote().Dispatched) != 1 {
			t.Errorf("a lost answer: %+v, %v, %d started", receipt.Fix, err, len(w.g.Wrote().Dispatched))
		}
	})
}

// On another head than was decided about nothing is started.
func TestApplyFixIsVoid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.fixOrder(1)
		w.must(w.g.Push(7, "b2", sandbox.PushSpec{By: "alice"}))
		receipt, err := w.forge.Apply(t.Context(), w.pr, e)
		if err != nil || receipt.Fix.State != quorum.ResultVoid || len(w.g.Wrote().Dispatched) != 0 {
			t.Errorf("%+v, %v, %d started", receipt.Fix, err, len(w.g.Wrote().Dispatched))
		}
	})
}
