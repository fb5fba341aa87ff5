package loop_test

// Fixes of a blocked pull request, as a look carries them out.

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A fix that was not started, because GitHub had moved on, stands in no record: it costs none of those that may be
// started, and the next look starts it.
func TestAVoidFixIsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.p.Fix = quorum.FixPolicy{Workflow: ".github/workflows/fix.yml", MaxRestarts: 3}
		h.s.Fix = quorum.FixSight{PushRead: true, Listed: true}
		h.fix = quorum.FixResult{State: quorum.ResultVoid}
		h.starts()
		pass(time.Minute)
		h.says(no)
		pass(time.Second)
		h.ends("success")
		wake := h.reconcile(t)
		want(t, "the look", h.told(), "observe, publish completedfailure, fix, publish completedfailure")
		if rec := h.s.Record; len(rec.Fixes) != 0 || rec.FixesMade != 0 {
			t.Errorf("%d made, the record knows %+v", rec.FixesMade, rec.Fixes)
		}
		if soon := time.Until(wake); soon > 3*time.Second {
			t.Errorf("the next look is in %s", soon)
		}
		h.fix = quorum.FixResult{State: quorum.ResultDone, Run: 5}
		pass(time.Until(wake))
		h.reconcile(t)
		want(t, "the next look", h.told(), "observe, publish completedfailure, fix, publish completedfailure")
		if rec := h.s.Record; len(rec.Fixes) != 1 || rec.FixesMade != 1 || rec.Fixes[0].Run != 5 || rec.Fixes[0].Tries != 1 {
			t.Errorf("%d made, the record knows %+v", rec.FixesMade, rec.Fixes)
		}
		pass(time.Minute)
		h.reconcile(t)
		want(t, "a later look", h.told(), "observe, publish completedfailure")
	})
}
