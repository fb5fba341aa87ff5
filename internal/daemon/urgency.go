package daemon

// What the events that a key was poked for say of its look: whether it is needed, and how much of GitHub's hour it may use.

import (
	"context"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// urgencyOf returns the urgency of a look at a key.
func urgencyOf(
	ctx context.Context, d *Daemon, w store.Work, p workkey.Key, touches []quorum.Touch, forge TenantForge,
) client.Urgency {
	switch {
	case w.Backlog:
		return client.Backlog
	case mayEndGreen(w, p, d.tenants, touches):
		return client.Urgent
	case forge.Ready(d.PerTenant, client.Live).After(d.Now()) && isOnGreenHead(ctx, d.Store, w, p, touches):
		return client.Urgent
	}
	return client.Live
}

// mayEndGreen reports whether work may take a green check away: an event came for a pull request that is green, or of which
// nothing is known, or for a commit, which may be such a one's; or it is on a merge group, whose queue waits. What strangers
// say, but for a person's review where those are heard, what approves as far as its words tell, and a new head, on which nothing
// is green, take nothing away; what no event asks for waits for nobody.
func mayEndGreen(w store.Work, p workkey.Key, known *tenantBook, touches []quorum.Touch) bool {
	if w.Kind != workkey.KindPull {
		return w.Kind == workkey.KindHead || w.Kind == workkey.KindGroup
	}
	mayBeGreen := len(w.Sight) == 0 || readSight(w.Sight).Conclusion == "success"
	if !mayBeGreen {
		return false
	}
	mayObject := func(t quorum.Touch) bool { return t.Event != "" && t.Approver == "" && !isNewHead(t) }
	if slices.Contains(w.Touches, store.Any) || slices.ContainsFunc(known.reviewersTouches(p, touches), mayObject) {
		return true
	}
	is := known.policyOf(p)
	hearsPeople := is.policy != nil && (is.policy.HearsPeople() || len(is.policy.Lanes) > 0) // a lane may, or another's policy
	isReview := func(t quorum.Touch) bool { return t.Event == "pull_request_review" }
	return hearsPeople && slices.ContainsFunc(touches, isReview)
}

// isOnGreenHead reports whether another pull request of the repository is green on a head that this one got, or on its own where an
// event came for it: what is objected to one may end the other.
func isOnGreenHead(ctx context.Context, table store.Store, w store.Work, p workkey.Key, touches []quorum.Touch) bool {
	const most = 1000 // rows: of more it is not known
	heads := map[string]bool{}
	for _, t := range touches {
		switch {
		case isNewHead(t):
			heads[t.Head] = true
		case t.Event != "":
			heads[readSight(w.Sight).Head] = true
		}
	}
	delete(heads, "")
	if w.Kind != workkey.KindPull || len(heads) == 0 {
		return false
	}
	repo := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	rows, err := table.List(ctx, store.Query{Tenant: &p.Tenant, Kind: workkey.KindPull, Group: repo, Limit: most})
	return err != nil || len(rows) == most || slices.ContainsFunc(rows, func(r store.Row) bool {
		s := readSight(r.Sight)
		return heads[s.Head] && s.Conclusion == "success"
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
func spareLook(d *Daemon, w store.Work, p workkey.Key, touches []quorum.Touch) (workResult, bool) {
	if isPullOrHead := w.Kind == workkey.KindPull || w.Kind == workkey.KindHead; !isPullOrHead {
		return workResult{}, false
	}
	if len(touches) == 0 || w.Attempts > 0 || w.IsAwake(d.Now()) {
		return workResult{}, false
	}
	known := d.tenants.policyOf(p)
	if known.policy == nil || known.state == quorum.FileMissing && len(w.Sight) > 0 { // it was there, and may be, though not found
		return workResult{}, false
	}
	s := readSight(w.Sight)
	wake, isPutOff := w.Wake, false
	for _, t := range touches {
		if known.state == quorum.FileMissing || !evidence.Concerned(*known.policy, t) {
			continue
		}
		until := showsUntil(known.policy, &s, t, touches)
		if !until.After(d.Now()) {
			return workResult{}, false
		}
		if isPutOff = true; wake.IsZero() || until.Before(wake) {
			wake = until
		}
	}
	if isPutOff {
		return workResult{label: resultSpared, outcome: store.Completion{Keep: true, Wake: wake}}, true
	}
	r := workResult{label: resultSpared, outcome: store.Completion{Wake: w.Wake}}
	if w.Kind == workkey.KindHead || w.Sight == nil || s.Verdict == quorum.Ended.String() { // it needs no row
		r.outcome = store.Completion{Gone: true}
	}
	return r, true
}

// showsUntil returns until when an event may wait for another look, for it decides nothing: a check waits, and runs of its
// head go on, whose end is told; zero if it may decide.
func showsUntil(p *quorum.Policy, s *dashboard.Sight, t quorum.Touch, beside []quorum.Touch) time.Time {
	switch {
	case s.Verdict != quorum.Waiting.String():
	case evidence.TellsProgress(t) && t.Head == s.Head:
		return s.At.Add(progressPause)
	case t.Approver != "" && isUnderWay(p, s, t.Approver, beside):
		return time.Unix(t.At, 0).Add(approvalPause)
	}
	return time.Time{}
}

// isUnderWay reports whether a reviewer's run goes on, as the last look or events since have shown.
func isUnderWay(p *quorum.Policy, s *dashboard.Sight, reviewer string, since []quorum.Touch) bool {
	for _, line := range s.Lanes {
		if n := len(line.Attempts); line.Name == reviewer && n > 0 && line.Attempts[n-1].Run != 0 && line.Attempts[n-1].End.IsZero() {
			return true
		}
	}
	return slices.ContainsFunc(since, func(t quorum.Touch) bool {
		return evidence.TellsProgress(t) && t.Head == s.Head && evidence.RunsAs(p, reviewer, t)
	})
}
