package evidence_test

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestWhichPullRequestsMayBeAlike(t *testing.T) {
	now := time.Date(2026, time.March, 20, 12, 0, 0, 0, time.UTC)
	pull := func() quorum.PullRequest {
		return quorum.PullRequest{
			PR: quorum.PR{Number: 7}, Head: "a1", BaseRef: "main", HeadRef: "feature", HeadRepo: "acme/shop",
			Author: quorum.Account{Login: "alice", ID: 1},
		}
	}
	for name, c := range map[string]struct {
		change func(pr, o *quorum.PullRequest)
		want   bool
	}{
		"open":                             {func(_, _ *quorum.PullRequest) {}, true},
		"closed 14 days ago":               {func(_, o *quorum.PullRequest) { o.Closed, o.ClosedAt = true, now.Add(-14*24*time.Hour) }, true},
		"closed before that":               {func(_, o *quorum.PullRequest) { o.Closed, o.ClosedAt = true, now.Add(-14*24*time.Hour-1) }, false},
		"merged":                           {func(_, o *quorum.PullRequest) { o.Closed, o.Merged, o.ClosedAt = true, true, now }, false},
		"itself":                           {func(_, o *quorum.PullRequest) { o.Number = 7 }, false},
		"the same head":                    {func(_, o *quorum.PullRequest) { o.Head = "a1" }, false},
		"another base by now":              {func(_, o *quorum.PullRequest) { o.BaseRef = "dev" }, true},
		"another repository":               {func(_, o *quorum.PullRequest) { o.HeadRepo, o.HeadRef = "alice/shop", "other" }, true},
		"another author, same branch":      {func(_, o *quorum.PullRequest) { o.Author.ID, o.HeadRepo = 2, "Acme/Shop" }, true},
		"another author, another branch":   {func(_, o *quorum.PullRequest) { o.Author.ID, o.HeadRef = 2, "other" }, false},
		"another author, branch of a fork": {func(_, o *quorum.PullRequest) { o.Author.ID, o.HeadRepo = 2, "bob/shop" }, false},
		"neither author nor fork are known": {func(pr, o *quorum.PullRequest) {
			pr.Author, o.Author, pr.HeadRepo, o.HeadRepo = quorum.Account{}, quorum.Account{}, "", ""
		}, false},
	} {
		pr, o := pull(), pull()
		o.Number, o.Head = 6, "b1"
		c.change(&pr, &o)
		if got := evidence.MayBeAlike(&pr, &o, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What was objected to a layer of a stack counts onto the trunk, though the layer's base has changed since, and that
// changed nothing.
func TestALayerLeavesItsStack(t *testing.T) {
	layer := quorum.Snapshot{
		PR:    quorum.PullRequest{PR: quorum.PR{Number: 6}, Head: older, BaseRef: "elsewhere", Diff: quorum.DiffPrint{Lines: aDiff, Files: "f"}},
		Began: at(200), Arrived: at(0), Guards: "g", BasePushed: at(-10), LayerPushed: at(-10),
		Timeline: []quorum.Event{{Kind: quorum.BaseChanged, From: "feature-5", To: "elsewhere", At: at(100)}},
		Record: quorum.Record{
			Seq: 1, Head: older, Base: "feature-5", Trunk: "main", Pull: 6, Diff: aDiff, Files: "f", Guards: "g",
			Objections: []quorum.Objection{{Reviewer: "sage", Base: "feature-5", TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: 1}}},
			Turns:      []quorum.FirstTime{{Reviewer: "spare", Base: "feature-5", At: at(50)}},
		},
	}
	left := evidence.Inherit(quorum.Policy{}, layer)
	if turns := left.Turns; len(turns) != 1 || turns[0].Base != "elsewhere" {
		t.Errorf("a reserve's seat is forgotten with the base's old name: %+v", turns)
	}
	left.Trunk = ""
	anew := quorum.Snapshot{
		PR:    quorum.PullRequest{PR: quorum.PR{Number: 7}, Head: head, BaseRef: "main", Diff: quorum.DiffPrint{Lines: aDiff}},
		Alike: []quorum.Record{left},
	}
	got := evidence.Inherit(quorum.Policy{}, anew)
	if len(left.Moved) != 1 || len(got.Objections) != 1 || !got.Concerns(&got.Objections[0], "main", aDiff) {
		t.Errorf("the layer's record is %+v, and of it came %+v", left, got)
	}
}

// Of what was objected on another pull request what was objected to this diff counts, against whichever base it was
// said.
func TestWhatCountsOfAnotherPullRequest(t *testing.T) {
	objected := func(id int64, base, diff string) quorum.Objection {
		ref := quorum.TextRef{Kind: quorum.TextReview, ID: id}
		return quorum.Objection{Reviewer: "sage", Base: base, Diff: diff, TextRef: ref, At: at(int(id))}
	}
	got := evidence.Inherit(quorum.Policy{}, quorum.Snapshot{
		PR: quorum.PullRequest{PR: quorum.PR{Number: 7}, Head: head, BaseRef: "main", Diff: quorum.DiffPrint{Lines: aDiff}},
		Alike: []quorum.Record{{
			Seq: 1, Head: older, Base: "main", Pull: 6, Diff: aDiff,
			Objections: []quorum.Objection{objected(1, "main", ""), objected(2, "next", anotherDiff), objected(3, "next", aDiff)},
		}},
	})
	if all := got.Objections; len(all) != 2 || all[0].ID != 1 || all[1].ID != 3 || all[0].Pull != 6 || all[1].Carried != older {
		t.Errorf("the record holds %+v", all)
	}
	for _, o := range got.Objections {
		if !got.Concerns(&o, "main", aDiff) || got.Concerns(&o, "main", anotherDiff) {
			t.Errorf("it is to another diff: %+v", o)
		}
	}
}
