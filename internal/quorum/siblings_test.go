package quorum_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Whose verdict a shared check shows, by who shares it.
func TestShared(t *testing.T) {
	pull := func(number int, base string) quorum.PullRequest {
		return quorum.PullRequest{PR: quorum.PR{Number: number}, BaseRef: base, Author: quorum.Account{Login: "alice"}}
	}
	by := func(p quorum.PullRequest, login string) quorum.PullRequest { p.Author.Login = login; return p }
	fork := func(p quorum.PullRequest) quorum.PullRequest { p.Fork = true; return p }
	draft := func(p quorum.PullRequest) quorum.PullRequest { p.Draft = true; return p }
	type pulls = []quorum.PullRequest
	type verdicts = map[int]quorum.Verdict
	const blocked, passed, unverified, waiting = quorum.Blocked, quorum.Passed, quorum.Unverified, quorum.Waiting
	for name, c := range map[string]struct {
		all      pulls
		verdicts verdicts
		lead     int
	}{
		"the worst of two bases":      {pulls{pull(7, "main"), pull(8, "release")}, verdicts{7: passed, 8: blocked}, 8},
		"unverified is worse":         {pulls{pull(7, "main"), pull(8, "release")}, verdicts{7: unverified, 8: waiting}, 7},
		"the worst of one base":       {pulls{pull(8, "main"), pull(7, "main")}, verdicts{7: passed, 8: blocked}, 8},
		"a fork holds up nobody":      {pulls{fork(pull(7, "release")), pull(8, "main")}, verdicts{7: blocked, 8: passed}, 8},
		"nor does an older one speak": {pulls{fork(pull(7, "main")), pull(8, "main")}, verdicts{7: blocked, 8: passed}, 8},
		"a draft does not speak":      {pulls{draft(pull(7, "main")), pull(8, "release")}, verdicts{7: waiting, 8: passed}, 8},
		"drafts speak where all are":  {pulls{draft(pull(7, "main")), draft(fork(pull(8, "main")))}, verdicts{7: waiting, 8: waiting}, 7},
		"nor one that is ready":       {pulls{draft(pull(7, "main")), fork(pull(8, "main"))}, verdicts{7: waiting, 8: passed}, 7},
		"the worst of one's forks":    {pulls{fork(pull(7, "main")), fork(pull(8, "main"))}, verdicts{7: passed, 8: blocked}, 8},
		"another one's fork":          {pulls{by(fork(pull(8, "main")), "mallory"), fork(pull(7, "main"))}, verdicts{7: passed, 8: blocked}, 7},
	} {
		var judged []quorum.Sibling
		for _, p := range quorum.SpeakersOf(c.all) {
			judged = append(judged, quorum.Sibling{
				PR: p, Check: "Review quorum", Gated: true, Decision: quorum.Decision{PR: p.PR, Verdict: c.verdicts[p.Number]},
			})
		}
		got := quorum.Shared(judged, c.all, nil)
		if len(got) != 1 || got[0].Lead != c.lead || len(got[0].Pulls) != len(c.all) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// However many pull requests have had a head, their check remembers few of them, the newest.
func TestSiblingsAreBounded(t *testing.T) {
	var held []quorum.Record
	for n := range 100 {
		held = append(held, quorum.Record{
			Version: 1, Seq: n + 1, Head: "a1", Base: "main", Pull: 100 + n,
			Objections: []quorum.Objection{{TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: int64(n)}, Reviewer: "kim", Base: "main"}},
		})
	}
	for name, isOpen := range map[string]bool{"open": true, "gone": false} {
		got := quorum.Record{Version: 1, Head: "a1", Pull: 7}.WithSiblings(nil, held, func(int) bool { return isOpen }).Siblings
		if n := len(got); n == 0 || n > 15 || got[n-1].Pull != 199 {
			t.Errorf("%s: %d are remembered, or not the newest", name, n)
		}
	}
}

// A check names few of many that strangers open: its text has an end.
func TestSharedIsBounded(t *testing.T) {
	mine := quorum.PullRequest{PR: quorum.PR{Number: 500}, BaseRef: "main"}
	all := []quorum.PullRequest{mine}
	for n := range 400 {
		all = append(all, quorum.PullRequest{PR: quorum.PR{Number: n + 1}, BaseRef: "main", Fork: true})
	}
	got := quorum.Shared([]quorum.Sibling{{PR: mine, Check: "Review quorum", Gated: true}}, all, nil)
	if len(got) != 1 || len(got[0].Pulls) != 21 || got[0].More != 380 || !got[0].Pulls[20].Speaks {
		t.Errorf("the check names %d and leaves out %d", len(got[0].Pulls), got[0].More)
	}
}

// A pull request without a record takes over what another one of its head left about the commit, but has inherited
// nothing itself: it reads what was objected to it on the head before.
func TestWhatASiblingInheritedIsNotInherited(t *testing.T) {
	at := time.Unix(1000, 0)
	other := quorum.Record{
		Seq: 3, Pull: 7, Head: "a1", Before: "b2", BeforeAt: at, Pass: &quorum.Pass{},
		Runs:       []quorum.SeenRun{{ID: 1, Attempt: 1}},
		Objections: []quorum.Objection{{Reviewer: "sage", TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: 1}}},
	}
	rec := quorum.RecordOf(&quorum.PullRequest{PR: quorum.PR{Number: 8}}, quorum.HeldRecords("Review quorum", other))
	if rec.Before != "" || !rec.BeforeAt.IsZero() || rec.Pass != nil {
		t.Errorf("it has inherited %q, left at %s, and passed %v", rec.Before, rec.BeforeAt, rec.Pass)
	}
	if len(rec.Runs) != 1 || len(rec.Objections) != 1 || rec.Objections[0].Of != 7 {
		t.Errorf("of the commit it knows %+v", rec)
	}
	its := quorum.PullRequest{PR: quorum.PR{Number: 7}}
	if own := quorum.RecordOf(&its, quorum.HeldRecords("Review quorum", other)); own.Before != "b2" || !own.BeforeAt.Equal(at) {
		t.Errorf("the one whose record it is has inherited %q", own.Before)
	}
}

// However much was said below one pull request, an accept below another one of the head ends what it objects to.
func TestAnAcceptIsTakenOverBesideManyWords(t *testing.T) {
	own := quorum.HeldRecord{Record: quorum.Record{Seq: 1, Pull: 7, Base: "main", Commands: make([]quorum.Command, 40)}}
	other := quorum.HeldRecord{Record: quorum.Record{Seq: 1, Pull: 8, Base: "main", Commands: []quorum.Command{
		{ID: 9, Verb: quorum.CommandAccept, By: "bob", Base: "main"},
	}}}
	rec := quorum.RecordOf(&quorum.PullRequest{PR: quorum.PR{Number: 7}, BaseRef: "main"}, []quorum.HeldRecord{own, other})
	if n := len(rec.Commands); n != 41 || rec.Commands[n-1].ID != 9 {
		t.Errorf("%d words are known, the last is %+v", n, rec.Commands[n-1])
	}
}

// What was said below another pull request of the head counts by its base or its diff. A fork's counts in none of this
// repository, and a stranger's in another fork's only on its base: no one may be held up from a branch that nobody watches.
func TestWhatIsObjectedBelowAnotherPullRequestCounts(t *testing.T) {
	forkOf := func(login string) quorum.PullRequest {
		return quorum.PullRequest{Fork: login != "", Author: quorum.Account{Login: login}}
	}
	for _, c := range []struct {
		name, base, diff, of, by string
		counts                   bool
	}{
		{name: "same base", base: "main", counts: true},
		{name: "other base, same diff", base: "stable", diff: "d1", counts: true},
		{name: "other base and diff", base: "stable", diff: "d2"},
		{name: "other base, diff not known", base: "stable"},
		{name: "a fork's", base: "main", diff: "d1", by: "mallory"},
		{name: "this repository's in a fork's", base: "stable", diff: "d1", of: "bob", counts: true},
		{name: "the same author's fork", base: "stable", diff: "d1", of: "bob", by: "bob", counts: true},
		{name: "another one's fork, same base", base: "main", of: "bob", by: "mallory", counts: true},
		{name: "another one's fork, other base", base: "stable", diff: "d1", of: "bob", by: "mallory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, there := forkOf(c.of), forkOf(c.by)
			here.Number, here.BaseRef = 7, "main"
			said := quorum.Objection{Reviewer: "sage", Base: c.base, TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: 1}}
			rec := quorum.RecordOf(&here, quorum.HeldRecords("Review quorum", quorum.Record{
				Seq: 1, Pull: 8, Head: "a1", Base: c.base, Diff: c.diff, Stranger: there.Stranger(), Objections: []quorum.Objection{said},
			}))
			counts := slices.ContainsFunc(rec.Objections, func(o quorum.Objection) bool {
				return rec.Concerns(&o, "main", "d1") && o.Of == 8 && o.Pull == 8
			})
			if counts != c.counts {
				t.Errorf("it counts: %v, of %+v", counts, rec.Objections)
			}
		})
	}
}

// What an earlier program wrote under a key that has gone is no reason to read nothing of its record.
func TestAnEarlierRecordIsRead(t *testing.T) {
	var rec quorum.Record
	err := json.Unmarshal([]byte(`{"v":1,"seq":3,"head":"a1","compared":true,"alike":[7],"unlike":["x"]}`), &rec)
	if err != nil || rec.Seq != 3 || rec.Compared.Done {
		t.Errorf("%+v, %v", rec, err)
	}
}
