package quorum

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var groupCame = time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)

// queuedGroup is a group of main's queue that is whole.
func queuedGroup() MergeGroup {
	head := "00000000000000000000000000000000000000a1"
	return MergeGroup{
		GroupRef: GroupRef{Owner: "acme", Repo: "shop", Head: head, Branch: "gh-readonly-queue/main/pr-8-" + head},
		Whole:    true, Since: groupCame,
	}
}

func queued(number int, v Verdict, r Reason, wake time.Duration) Sibling {
	s := Sibling{PR: PullRequest{PR: PR{Owner: "acme", Repo: "shop", Number: number}, BaseRef: "main"}, Title: v.String()}
	s.Decision = Decision{PR: s.PR.PR, Verdict: v, Reason: r, Head: "its own", Pass: &Pass{}, Effects: Effects{Head: "its own"}}
	if wake > 0 {
		s.Decision.Wake = groupCame.Add(wake)
	}
	return s
}

func TestTheWorstOfAGroupCounts(t *testing.T) {
	pass, wait := queued(7, Passed, ReasonTally, 0), queued(8, Waiting, ReasonTally, 4*time.Minute)
	long := queued(8, Waiting, ReasonTally, 20*time.Minute)
	for _, test := range []struct {
		title   string
		pulls   []Sibling
		partial bool
		at      time.Duration
		verdict Verdict
		reason  Reason
		lead    int
		wake    time.Duration // 0: none
	}{
		{"one that passes", []Sibling{pass}, false, 0, Passed, ReasonTally, 7, 0},
		{"two that pass", []Sibling{pass, queued(8, Passed, ReasonNoReview, 0)}, false, time.Hour, Passed, ReasonTally, 7, 0},
		{"an objection", []Sibling{pass, queued(8, Blocked, ReasonTally, 0)}, false, 0, Blocked, ReasonTally, 8, 0},
		{"an objection beside one that waits", []Sibling{wait, queued(9, Blocked, ReasonTally, 0)}, false, 0, Blocked, ReasonTally, 9, 4 * time.Minute},
		{"one unverified", []Sibling{queued(6, Unverified, ReasonRequired, 0), pass}, false, 0, Unverified, ReasonRequired, 6, 0},
		{
			"of two unverified the first",
			[]Sibling{queued(9, Unverified, ReasonPeople, 0), queued(6, Unverified, ReasonRequired, 0)},
			false, 0, Unverified, ReasonPeople, 9, 0,
		},
		{"one that waits", []Sibling{pass, wait}, false, 0, Waiting, ReasonTally, 8, 4 * time.Minute},
		{"one that waits for nothing", []Sibling{queued(8, Waiting, ReasonTally, 0)}, false, time.Minute, Waiting, ReasonTally, 8, 10 * time.Minute},
		{"just before ten minutes", []Sibling{pass, long}, false, 10*time.Minute - 1, Waiting, ReasonTally, 8, 10 * time.Minute},
		{"after ten minutes", []Sibling{pass, long}, false, 10 * time.Minute, Blocked, ReasonGroupLate, 8, 20 * time.Minute},
		{"which are in it is not known", []Sibling{pass}, true, 0, Waiting, ReasonGroupUnknown, 7, 30 * time.Second},
		{"and stays unknown", []Sibling{pass}, true, 10 * time.Minute, Blocked, ReasonGroupUnknown, 7, 0},
		{"an objection in one of which not all is known", []Sibling{queued(7, Blocked, ReasonTally, 0)}, true, 0, Blocked, ReasonTally, 7, 0},
		{"one that was closed without a merge", []Sibling{pass, queued(8, Ended, ReasonClosed, 0)}, false, 0, Unverified, ReasonClosed, 8, 0},
		{"no policy", []Sibling{queued(7, Ended, ReasonNoPolicy, 0), queued(8, Ended, ReasonNoPolicy, 0)}, false, 0, Ended, ReasonNoPolicy, 7, 0},
		{"a policy that goes meanwhile", []Sibling{pass, queued(8, Ended, ReasonNoPolicy, 0)}, false, 0, Waiting, ReasonGroupUnknown, 7, 30 * time.Second},
		{"all were merged", nil, false, 0, Ended, ReasonClosed, 8, 0},
	} {
		t.Run(test.title, func(t *testing.T) {
			g := queuedGroup()
			g.Whole = !test.partial
			d := DecideGroup(g, test.pulls, groupCame.Add(test.at))
			wake := time.Time{}
			if test.wake != 0 {
				wake = groupCame.Add(test.wake)
			}
			if d.Verdict != test.verdict || d.Reason != test.reason || d.PR.Number != test.lead || !d.Wake.Equal(wake) {
				t.Errorf("%s because %q of #%d, looked at again at %s", d.Verdict, d.Reason, d.PR.Number, d.Wake)
			}
			if d.Head != g.Head || d.Base != "main" || !d.Effects.Empty() || d.Effects.Head != "" || d.Pass != nil {
				t.Errorf("of the pull request's own is left: %+v", d)
			}
			if len(d.Shared) != len(test.pulls) || d.Group.Late != (test.verdict == Blocked && test.at >= 10*time.Minute) {
				t.Errorf("names %+v; late: %t", d.Shared, d.Group.Late)
			}
		})
	}
}

// A commit that GitHub does not show yet has no age, and is looked at again soon.
func TestAGroupWithoutAnAgeIsLookedAtAgain(t *testing.T) {
	g := queuedGroup()
	g.Since = time.Time{}
	d := DecideGroup(g, []Sibling{queued(7, Waiting, ReasonTally, time.Hour)}, groupCame)
	if d.Verdict != Waiting || !d.Wake.Equal(groupCame.Add(30*time.Second)) {
		t.Errorf("%s until %s", d.Verdict, d.Wake)
	}
}

// A group's commit is green only if each of its pull requests is, whatever there is of them and whenever it is looked
// at; it is never undecided after ten minutes; and between two looks the clock changes nothing.
func TestAGroupPassesOnlyIfEachDoes(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		g := queuedGroup()
		g.Whole = rapid.Bool().Draw(t, "whole")
		var pulls []Sibling
		for i := range rapid.IntRange(0, 4).Draw(t, "pulls") {
			v := Verdict(rapid.IntRange(0, int(Ended)).Draw(t, "verdict"))
			r := rapid.SampledFrom([]Reason{ReasonTally, ReasonClosed, ReasonOff, ReasonNoPolicy, ReasonDraft}).Draw(t, "reason")
			pulls = append(pulls, queued(i+1, v, r, time.Duration(rapid.IntRange(0, 1200).Draw(t, "wake"))*time.Second))
		}
		pulls = append(pulls, Sibling{PR: PullRequest{PR: PR{Number: 99}}, Decision: w.decide()})
		at := groupCame.Add(time.Duration(rapid.IntRange(0, 1200).Draw(t, "at")) * time.Second)
		d := DecideGroup(g, pulls, at)
		isGreen := func(s Sibling) bool { return s.Decision.Verdict == Passed }
		if d.Verdict == Passed && (!g.Whole || slices.ContainsFunc(pulls, func(s Sibling) bool { return !isGreen(s) })) {
			t.Fatalf("passed with %+v", d.Shared)
		}
		if d.Verdict != Passed && g.Whole && !slices.ContainsFunc(pulls, func(s Sibling) bool { return !isGreen(s) }) {
			t.Fatalf("%s although all pass", d.Verdict)
		}
		if d.Verdict == Waiting && (!at.Before(groupCame.Add(GroupPatience)) || d.Wake.IsZero()) {
			t.Fatalf("undecided at %s until %s", at, d.Wake)
		}
		if d.Wake.After(at) {
			later := DecideGroup(g, pulls, d.Wake.Add(-1))
			if diff := diffDecisions(d, later); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// A branch is a merge queue's by its whole name.
func TestGroupBranchesAreRead(t *testing.T) {
	const sha = "929f8209d40f77f4abc622a499c93a83babdbe64"
	for branch, want := range map[string][3]any{
		"gh-readonly-queue/main/pr-104-" + sha:                  {"main", 104, sha},
		"gh-readonly-queue/release/2.0/pr-1-" + sha:             {"release/2.0", 1, sha},
		"gh-readonly-queue/a/pr-2-" + sha + "/pr-3-" + sha:      {"a/pr-2-" + sha, 3, sha},
		"gh-readonly-queue/ü/pr-7-" + sha + sha[:24]:            {"ü", 7, sha + sha[:24]},
		"gh-readonly-queue/pr-7-" + sha:                         {"", 0, ""},
		"gh-readonly-queue//pr-7-" + sha:                        {"", 0, ""},
		"gh-readonly-queue/main/pr-07x-" + sha:                  {"", 0, ""},
		"gh-readonly-queue/main/pr--7-" + sha:                   {"", 0, ""},
		"gh-readonly-queue/main/pr-7-" + sha[:39]:               {"", 0, ""},
		"gh-readonly-queue/main/pr-7-" + sha[:39] + "G":         {"", 0, ""},
		"gh-readonly-queue/main/pr-99999999999999999999-" + sha: {"", 0, ""},
		"gh-readonly-queue/ma\nin/pr-7-" + sha:                  {"", 0, ""},
		"main":                                                  {"", 0, ""}, "": {"", 0, ""},
	} {
		g := GroupRef{Owner: "acme", Repo: "shop", Head: sha, Branch: branch}
		if got := [3]any{g.Base(), g.Named().Number, g.Parent()}; got != want || g.IsValid() != (want[0] != "") {
			t.Errorf("%q is read as %v", branch, got)
		}
	}
}
