package quorum_test

import (
	"testing"

	. "github.com/review-coordinator/coordinator/internal/quorum"
)

// Whose verdict a shared check shows, by who shares it.
func TestShared(t *testing.T) {
	pull := func(number int, base string, fork, draft bool) PullRequest {
		return PullRequest{PR: PR{Number: number}, BaseRef: base, Fork: fork, Draft: draft}
	}
	for name, c := range map[string]struct {
		all      []PullRequest
		verdicts map[int]Verdict
		lead     int
	}{
		"the worst of two bases":       {[]PullRequest{pull(7, "main", false, false), pull(8, "release", false, false)}, map[int]Verdict{7: Passed, 8: Blocked}, 8},
		"unverified is worse":          {[]PullRequest{pull(7, "main", false, false), pull(8, "release", false, false)}, map[int]Verdict{7: Unverified, 8: Waiting}, 7},
		"the oldest of one base":       {[]PullRequest{pull(8, "main", false, false), pull(7, "main", false, false)}, map[int]Verdict{7: Passed, 8: Blocked}, 7},
		"a fork holds up nobody":       {[]PullRequest{pull(7, "release", true, false), pull(8, "main", false, false)}, map[int]Verdict{7: Blocked, 8: Passed}, 8},
		"nor does an older one speak":  {[]PullRequest{pull(7, "main", true, false), pull(8, "main", false, false)}, map[int]Verdict{7: Blocked, 8: Passed}, 8},
		"a draft does not speak":       {[]PullRequest{pull(7, "main", false, true), pull(8, "release", false, false)}, map[int]Verdict{7: Waiting, 8: Passed}, 8},
		"drafts speak where all are":   {[]PullRequest{pull(7, "main", false, true), pull(8, "main", true, true)}, map[int]Verdict{7: Waiting, 8: Waiting}, 7},
		"a fork that is ready, before": {[]PullRequest{pull(7, "main", false, true), pull(8, "main", true, false)}, map[int]Verdict{7: Waiting, 8: Passed}, 8},
	} {
		var judged []Sibling
		for _, p := range SpeakersOf(c.all) {
			judged = append(judged, Sibling{PR: p, Check: "Review quorum", Gated: true, Decision: Decision{PR: p.PR, Verdict: c.verdicts[p.Number]}})
		}
		got := Shared(judged, c.all)
		if len(got) != 1 || got[0].Lead != c.lead || len(got[0].Pulls) != len(c.all) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
