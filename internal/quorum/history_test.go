package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heardOf tells answers of sage, oldest first: a word for each, the pull request's number and how it was understood.
// "7?" was not understood, "7!" was; a name before it is a stranger's.
func heardOf(words ...string) (heard []HeardAnswer) {
	for i, w := range words {
		a := HeardAnswer{TextRef: TextRef{Kind: TextComment, ID: int64(i + 1)}, Reviewer: "sage", At: time.Unix(int64(1000+i), 0)}
		var how rune
		if _, err := fmt.Sscanf(w, "%d%c", &a.Pull, &how); err != nil {
			if _, err := fmt.Sscanf(w, "mallory:%d%c", &a.Pull, &how); err != nil {
				panic(err)
			}
			a.Stranger = "mallory"
		}
		a.Unread = how == '?'
		heard = append(heard, a)
	}
	return heard
}

func TestDriftOf(t *testing.T) {
	for _, test := range []struct {
		name    string
		heard   []HeardAnswer
		aside   int
		want    Drift
		drifted bool
		notable bool
	}{
		{"nothing was heard", nil, 0, Drift{}, false, false},
		{"two pull requests", heardOf("1?", "2?"), 0, Drift{Answers: 2, Unread: 2, InRow: 2}, false, false},
		{"three pull requests", heardOf("1?", "2?", "3?"), 0, Drift{Answers: 3, Unread: 3, InRow: 3}, true, true},
		{"two answers each", heardOf("1?", "1?", "2?", "2?"), 0, Drift{Answers: 4, Unread: 4, InRow: 2}, false, true},
		{"an answer that is understood ends it", heardOf("1?", "2?", "3?", "4!"), 0, Drift{Answers: 4, Unread: 3}, false, true},
		{"and it begins anew", heardOf("1?", "2?", "3?", "4!", "5?"), 0, Drift{Answers: 5, Unread: 4, InRow: 1}, false, true},
		{"a few among many", heardOf("1!", "2?", "3!", "4?", "5!", "6?", "7!", "8!"), 0, Drift{Answers: 8, Unread: 3}, false, false},
		{"the pull request itself aside", heardOf("1?", "2?", "3?"), 3, Drift{Answers: 2, Unread: 2, InRow: 2}, false, false},
		{
			"one stranger's count once", heardOf("mallory:1?", "mallory:2?", "mallory:3?", "4?"), 0,
			Drift{Answers: 4, Unread: 4, InRow: 2},
			false, true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Reviewer = "sage"
			heard := append(heardOf("90?", "91?", "92?"), test.heard...)
			for i := range 3 { // another reviewer's are another matter
				heard[i].Reviewer = "openai"
			}
			got := DriftOf("sage", heard, test.aside)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Drifted() != test.drifted || got.Notable() != test.notable {
				t.Errorf("drifted %v, notable %v", got.Drifted(), got.Notable())
			}
		})
	}
}

// Only the newest answers are measured, whatever their order in the list, and a text that was read anew counts as it
// reads now.
func TestNewestAnswers(t *testing.T) {
	var words []string
	for n := range 30 {
		words = append(words, fmt.Sprintf("%d?", n+1))
	}
	heard := heardOf(words...)
	for i, j := 0, len(heard)-1; i < j; i, j = i+1, j-1 {
		heard[i], heard[j] = heard[j], heard[i]
	}
	if got := DriftOf("sage", heard, 0); got.Answers != MaxHeard || got.InRow != MaxHeard {
		t.Errorf("%+v", got)
	}
	anew := heard[0] // the newest
	anew.Unread = false
	if got := DriftOf("sage", append(heard, anew), 0); got.InRow != 0 || got.Answers != MaxHeard || got.Unread != MaxHeard-1 {
		t.Errorf("read anew: %+v", got)
	}
}

func TestAnswersIn(t *testing.T) {
	p := Policy{Reviewers: []Reviewer{{Name: "sage"}, {Name: "copilot", Preset: "copilot"}}}
	comment := TextRef{Kind: TextComment, ID: 5}
	said := func(reviewer string, o Outcome, why Reason, ref TextRef) Ballot {
		return Ballot{Reviewer: reviewer, Outcome: o, Reason: why, Evidence: ref, Since: time.Unix(1000, 0)}
	}
	for _, test := range []struct {
		ballot Ballot
		want   string
	}{
		{said("sage", Approved, ReasonApproved, comment), "understood"},
		{said("sage", Findings, ReasonFindings, comment), "understood"},
		{said("sage", Partial, ReasonPartial, comment), "understood"},
		{said("sage", Malformed, ReasonMalformed, comment), "unread"},
		{said("sage", Malformed, ReasonDrift, comment), "unread"},
		{said("sage", Malformed, ReasonContradicts, comment), "understood"},
		{said("sage", Malformed, ReasonTemplate, comment), "understood"},
		{said("sage", Malformed, ReasonConditional, comment), "understood"},
		{said("sage", Malformed, ReasonNotReceived, comment), "no answer"},
		{said("sage", Limited, ReasonRateLimit, comment), "no answer"},
		{said("sage", Silent, ReasonSilent, TextRef{}), "no answer"},
		{said("sage", Approved, ReasonApproved, TextRef{Kind: TextRun, ID: 5}), "no answer"},
	} {
		got := "no answer"
		for _, a := range AnswersIn(p, PullRequest{PR: PR{Number: 7}}, []Ballot{test.ballot}) {
			if got = "understood"; a.Unread {
				got = "unread"
			}
		}
		if got != test.want {
			t.Errorf("%v, %s: %s, want %s", test.ballot.Outcome, test.ballot.Reason, got, test.want)
		}
	}
	fork := PullRequest{PR: PR{Number: 7}, Author: Account{Login: "mallory"}, Fork: true}
	want := []HeardAnswer{{
		TextRef: comment, Reviewer: "copilot", Preset: "copilot", Pull: 7, Stranger: "mallory", At: time.Unix(1000, 0), Unread: true,
	}}
	if diff := cmp.Diff(want, AnswersIn(p, fork, []Ballot{said("copilot", Malformed, ReasonMalformed, comment)})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
