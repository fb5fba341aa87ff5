package evidence_test

import (
	"slices"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// An attempt that we started is cancelled once its head was left, and nobody else's is.
func TestCancelsOfLeftReruns(t *testing.T) {
	second := openai()
	second.Name = "second"
	for name, test := range map[string]struct {
		change func(x *scene, run *quorum.Run)
		want   int
	}{
		"our rerun":              {func(*scene, *quorum.Run) {}, 1},
		"it waits for a runner":  {func(_ *scene, run *quorum.Run) { run.Status = "queued" }, 1},
		"it waits for a person":  {func(_ *scene, run *quorum.Run) { run.Status = "waiting" }, 0},
		"it has ended":           {func(_ *scene, run *quorum.Run) { run.Status, run.Conclusion = "completed", "failure" }, 0},
		"a person was faster":    {func(_ *scene, run *quorum.Run) { run.Starter = who("carol") }, 0},
		"a person ran it again":  {func(_ *scene, run *quorum.Run) { run.Attempt = 3 }, 0},
		"at a person's command":  {func(x *scene, _ *quorum.Run) { x.s.Before.Intents[0].Command = 9 }, 0},
		"we have not started it": {func(x *scene, _ *quorum.Run) { x.s.Before.Intents = nil }, 0},
		"we meant to cancel it":  {func(x *scene, _ *quorum.Run) { x.s.Record.Intents = []quorum.Intent{cancelled(1, 2, 210)} }, 1},
		"the next look after it": {func(x *scene, _ *quorum.Run) {
			x.s.Before, x.s.Record.Intents = quorum.Record{}, []quorum.Intent{cancelled(1, 2, 210)}
		}, 1},
		"the look at a head between cancelled it in vain": {func(x *scene, _ *quorum.Run) {
			x.s.Before.Intents = []quorum.Intent{cancelled(1, 2, 210)}
		}, 1},
		"no reviewer is run by it": {func(x *scene, run *quorum.Run) { run.Path = ".github/workflows/deploy.yml" }, 0},
		"we tried three times": {func(x *scene, _ *quorum.Run) {
			in := cancelled(1, 2, 210)
			in.Tries = 3
			x.s.Record.Intents = []quorum.Intent{in}
		}, 0},
		"GitHub refused it": {func(x *scene, _ *quorum.Run) {
			x.s.Record.Intents = []quorum.Intent{cancelled(1, 2, 210)}
			x.s.Record.Refusals = []quorum.Refusal{{Kind: quorum.Cancel, Reviewer: "openai", Run: 1, Attempt: 2}}
		}, 0},
		"another one shares it":   {func(x *scene, _ *quorum.Run) { x.p.Reviewers = append(x.p.Reviewers, second) }, 0},
		"a cancel of another run": {func(x *scene, _ *quorum.Run) { x.s.Record.Intents = []quorum.Intent{cancelled(2, 2, 210)} }, 1},
	} {
		x := onHead(openai()).run(1, 10, -1, attempt(2, 160)).intent(reran(1, 1, 150))
		left := x.s.Runs
		x = x.pushed(aDiff)
		x.s.Others = left
		left[0].Starter = who(bot)
		test.change(x, &left[0])
		got := x.facts().Leave
		if len(got) != test.want {
			t.Errorf("%s: it cancels %+v, want %d", name, got, test.want)
		}
		again := slices.ContainsFunc(slices.Concat(x.s.Record.Intents, x.s.Before.Intents), func(in quorum.Intent) bool {
			return in.Kind == quorum.Cancel && in.Run == 1
		})
		if len(got) > 0 && got[0].Due.IsZero() == again {
			t.Errorf("%s: it is due %s", name, got[0].Due)
		}
		if len(got) > 0 && (got[0].Run != 1 || got[0].Attempt != 2 || got[0].Left != head || got[0].Reviewer != "openai") {
			t.Errorf("%s: it cancels %+v", name, got[0])
		}
	}
}

// dismissedBy is the scene with one of two reviews of sage's on the first head, which was dismissed at that second,
// before or after a push of lines. No look has seen the reviews.
func dismissedBy(login string, sec int, id int64, lines string, states ...string) *scene {
	x := onHead(sage()).ofDiff(aDiff)
	x.looks(5)
	for i, state := range states {
		x.review(int64(i+1), 10*(i+1), "sage[bot]", state, "")
	}
	x.event(sec, quorum.Event{Kind: quorum.ReviewDismissed, Review: id, Actor: who(login), From: states[id-1]})
	x.s.Reviews[id-1].State = "DISMISSED"
	if sec == leftTheBase {
		x.leavesAndReturns(30, 50)
	}
	return x.pushed(lines)
}

// leftTheBase is a second of a dismissal before the push, where the base had been left for a while, too.
const leftTheBase = 160

// Who may end what was objected to a head that was left is who had no hand in the change as it is now: nothing tells
// who pushed a head of before.
func TestADismissalOnALeftHead(t *testing.T) {
	const yes, no = "APPROVED", "CHANGES_REQUESTED"
	for _, sec := range []int{150, leftTheBase, 250} {
		for name, c := range map[string]struct {
			scene    *scene
			required bool
			vote     quorum.Vote
		}{
			"a no after a yes":                   {dismissedBy("carol", sec, 2, anotherDiff, yes, no), false, quorum.Pending},
			"by who wrote the change":            {dismissedBy("alice", sec, 2, anotherDiff, yes, no), true, quorum.Pending},
			"by a bot":                           {dismissedBy("dependabot[bot]", sec, 2, anotherDiff, yes, no), true, quorum.Pending},
			"a yes after a no":                   {dismissedBy("carol", sec, 2, anotherDiff, no, yes), true, quorum.Pending},
			"the newer of two, the diff stays":   {dismissedBy("carol", sec, 2, aDiff, no, no), false, quorum.Object},
			"the older of two, the diff stays":   {dismissedBy("carol", sec, 1, aDiff, no, no), false, quorum.Object},
			"the only one, the diff stays":       {dismissedBy("carol", sec, 1, aDiff, no), false, quorum.Pending},
			"the same by who wrote the change":   {dismissedBy("alice", sec, 1, aDiff, no), false, quorum.Object},
			"a yes after a no, the diff stays":   {dismissedBy("carol", sec, 2, aDiff, no, yes), false, quorum.Object},
			"a no after a yes, the diff stays":   {dismissedBy("carol", sec, 2, aDiff, yes, no), false, quorum.Pending},
			"the newer of two, the diff changes": {dismissedBy("carol", sec, 2, anotherDiff, no, no), true, quorum.Pending},
		} {
			for _, look := range []int{260, 300} {
				if b := c.scene.looks(look); b.Required != c.required || b.Vote != c.vote {
					t.Errorf("%s, dismissed at %d: it is %s, %s, required %t", name, sec, b.Vote, b.Reason, b.Required)
				}
			}
		}
	}
}

// Of several reviews that looks have seen, more than the record holds, the one that is left objects after a push.
func TestTheLastOfManyReviewsObjectsAfterAPush(t *testing.T) {
	wantObjection(t, true, map[string]*scene{
		"the others are ended after the push":  reviewed(12).pushed(aDiff).dismissed(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12),
		"the others are ended before the push": reviewed(12).dismissed(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12).pushed(aDiff),
	})
}

// What was objected during one stay on a base, and answered there during another, stands no more when the pull request
// comes back once more, though no look saw either.
func TestALaterStayOnTheBaseAnswersAnEarlierOne(t *testing.T) {
	moved := func(x *scene, at int, from, to string) {
		x.event(at, quorum.Event{Kind: quorum.BaseChanged, From: from, To: to, Actor: who("alice")})
	}
	for name, test := range map[string]struct {
		answered int
		want     quorum.Vote
	}{
		"on this base":        {250, quorum.Pending},
		"on the other one":    {350, quorum.Object},
		"in the second of it": {300, quorum.Object},
	} {
		x := onHead(sage()).review(1, 50, "sage[bot]", "CHANGES_REQUESTED", "It leaks.").review(2, test.answered, "sage[bot]", "APPROVED", "")
		moved(x, 100, "main", "next")
		moved(x, 200, "next", "main")
		moved(x, 300, "main", "next")
		moved(x, 400, "next", "main")
		if b := x.ballot(); b.Vote != test.want {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}
