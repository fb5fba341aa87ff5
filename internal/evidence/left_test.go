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
