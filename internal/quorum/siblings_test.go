package quorum_test

import (
	"testing"

	. "github.com/review-coordinator/coordinator/internal/quorum"
)

// Whose verdict a shared check shows, by who shares it.
func TestShared(t *testing.T) {
	type pulls []PullRequest
	type verdicts map[int]Verdict
	ours := func(number int, base string) PullRequest { return PullRequest{PR: PR{Number: number}, BaseRef: base} }
	fork := func(p PullRequest) PullRequest { p.Fork = true; return p }
	draft := func(p PullRequest) PullRequest { p.Draft = true; return p }
	for name, c := range map[string]struct {
		all      pulls
		verdicts verdicts
		lead     int
	}{
		"the worst of two bases":       {pulls{ours(7, "main"), ours(8, "release")}, verdicts{7: Passed, 8: Blocked}, 8},
		"unverified is worse":          {pulls{ours(7, "main"), ours(8, "release")}, verdicts{7: Unverified, 8: Waiting}, 7},
		"the oldest of one base":       {pulls{ours(8, "main"), ours(7, "main")}, verdicts{7: Passed, 8: Blocked}, 7},
		"a fork holds up nobody":       {pulls{fork(ours(7, "release")), ours(8, "main")}, verdicts{7: Blocked, 8: Passed}, 8},
		"nor does an older one speak":  {pulls{fork(ours(7, "main")), ours(8, "main")}, verdicts{7: Blocked, 8: Passed}, 8},
		"a draft does not speak":       {pulls{draft(ours(7, "main")), ours(8, "release")}, verdicts{7: Waiting, 8: Passed}, 8},
		"drafts speak where all are":   {pulls{draft(ours(7, "main")), fork(draft(ours(8, "main")))}, verdicts{7: Waiting, 8: Waiting}, 7},
		"a fork that is ready, before": {pulls{draft(ours(7, "main")), fork(ours(8, "main"))}, verdicts{7: Waiting, 8: Passed}, 8},
	} {
		var judged []Sibling
		for _, p := range SpeakersOf(c.all) {
			d := Decision{PR: p.PR, Verdict: c.verdicts[p.Number]}
			judged = append(judged, Sibling{PR: p, Check: "Review quorum", Gated: true, Decision: d})
		}
		got := Shared(judged, c.all)
		if len(got) != 1 || got[0].Lead != c.lead || len(got[0].Pulls) != len(c.all) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
