package daemon

// What the events that a key was poked for say of its look: whether it is needed, and how much of GitHub's hour it may use.

import (
	"context"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// lookUrgency returns the urgency of a look at a key.
func (t task) lookUrgency(ctx context.Context) client.Urgency {
	switch {
	case t.Backlog:
		return client.Backlog
	case t.mayEndGreen():
		return client.Urgent
	case t.forge.Ready(t.d.PerTenant, client.Live).After(t.d.Now()) && t.isOnGreenHead(ctx):
		return client.Urgent
	}
	return client.Live
}

// mayEndGreen reports whether work may take a green check away: an event came for a pull request that is green, or of which
// nothing is known, or for a commit, which may be such a one's; or it is on a merge group, whose queue waits. What strangers
// say, but for a person's review where those are heard, what approves as far as its words tell, and a new head, on which nothing
// is green, take nothing away; what no event asks for waits for nobody.
func (t task) mayEndGreen() bool {
	if t.Kind != workkey.KindPull {
		return t.Kind == workkey.KindHead || t.Kind == workkey.KindGroup
	}
	mayBeGreen := len(t.Sight) == 0 || t.was.Conclusion == "success"
	if !mayBeGreen {
		return false
	}
	mayObject := func(t quorum.Touch) bool { return t.Event != "" && t.Approver == "" && !isNewHead(t) }
	if slices.Contains(t.Touches, store.Any) || slices.ContainsFunc(t.known.reviewersTouches(t.touches), mayObject) {
		return true
	}
	is := t.known.policy
	hearsPeople := is != nil && (is.HearsPeople() || len(is.Lanes) > 0) // a lane may, or another's policy
	isReview := func(t quorum.Touch) bool { return t.Event == "pull_request_review" }
	return hearsPeople && slices.ContainsFunc(t.touches, isReview)
}

// isOnGreenHead reports whether another pull request of the repository is green on a head that this one got, or on its own where an
// event came for it: what is objected to one may end the other.
func (t task) isOnGreenHead(ctx context.Context) bool {
	const most = 1000 // rows: of more it is not known
	var heads, holds []string
	for _, touch := range t.touches {
		switch {
		case isNewHead(touch):
			heads = append(heads, touch.Head)
		case touch.Event != "":
			heads = append(heads, t.was.Head)
		}
	}
	for _, head := range heads {
		holds = append(holds, `"head":"`+head+`"`)
	}
	if t.Kind != workkey.KindPull || len(heads) == 0 {
		return false
	}
	rows, err := t.rowsBeside(ctx, store.Query{Kind: workkey.KindPull, Limit: most, Holds: holds})
	return err != nil || len(rows) == most || slices.ContainsFunc(rows, func(r keyedRow) bool {
		s := readSight(r.Sight)
		return s.Conclusion == "success" && slices.Contains(heads, s.Head)
	})
}

// isNewHead reports whether a pull request came with a head, or got one.
func isNewHead(t quorum.Touch) bool {
	return t.Event == "pull_request" && slices.Contains([]string{"opened", "reopened", "synchronize"}, t.Action)
}

// What only shows waits for the next look, but no longer than this.
const (
	progressPause = 2 * time.Minute  // after the last look: that a run has begun
	approvalPause = 30 * time.Second // after its words: an approval whose run goes on
)

// spareLook ends work without a request if no touch concerns a reviewer. Where all that concerns one only shows, a check
// that waits does so until its next look. What was touched is kept for that look.
func (t task) spareLook() (workResult, bool) {
	if !hasShare(t.Work) || len(t.touches) == 0 || t.Attempts > 0 || t.IsAwake(t.d.Now()) {
		return workResult{}, false
	}
	isMissing := t.known.state == quorum.FileMissing
	if t.known.policy == nil || isMissing && len(t.Sight) > 0 { // it was there, and may be, though not found
		return workResult{}, false
	}
	wake, isPutOff := t.Wake, false
	for _, touch := range t.touches {
		if isMissing || !evidence.Concerned(*t.known.policy, touch) {
			continue
		}
		until := t.showsUntil(touch)
		if !until.After(t.d.Now()) {
			return workResult{}, false
		}
		wake, isPutOff = earlierDue(wake, until), true
	}
	if isPutOff {
		return workResult{label: resultSpared, outcome: store.Completion{Keep: true, Wake: wake}}, true
	}
	r := workResult{label: resultSpared, outcome: store.Completion{Wake: t.Wake}}
	if t.Kind == workkey.KindHead || t.Sight == nil || t.was.Verdict == quorum.Ended.String() { // it needs no row
		r.outcome = store.Completion{Gone: true}
	}
	return r, true
}

// showsUntil returns until when an event may wait for another look, for it decides nothing: a check waits, and runs of its
// head go on, whose end is told; zero if it may decide.
func (t task) showsUntil(touch quorum.Touch) time.Time {
	switch {
	case t.was.Verdict != quorum.Waiting.String():
	case evidence.TellsProgress(touch) && touch.Head == t.was.Head:
		return t.was.At.Add(progressPause)
	case touch.Approver != "" && t.isUnderWay(touch.Approver):
		return time.Unix(touch.At, 0).Add(approvalPause)
	}
	return time.Time{}
}

// isUnderWay reports whether a reviewer's run goes on, as the last look or events since have shown.
func (t task) isUnderWay(reviewer string) bool {
	for _, line := range t.was.Lanes {
		if n := len(line.Attempts); line.Name == reviewer && n > 0 && line.Attempts[n-1].Run != 0 && line.Attempts[n-1].End.IsZero() {
			return true
		}
	}
	return slices.ContainsFunc(t.touches, func(touch quorum.Touch) bool {
		return evidence.TellsProgress(touch) && touch.Head == t.was.Head && evidence.RunsAs(t.known.policy, reviewer, touch)
	})
}
