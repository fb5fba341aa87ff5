package evidence

// An approval that stands on the commit alone, as a run's conclusion, a check or a status, does not say for which pull request
// it was given. Several may have had the commit, against bases of which one is easy.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// elsewhere reports whether a run was made for the pull request of another branch, or of another repository's branch. A
// "dynamic" run of a pull request may be shown with a ref of that one instead of its branch.
func (j judge) elsewhere(run quorum.Run) bool {
	switch {
	case strings.HasPrefix(run.Event, "pull_request"):
		return !strings.EqualFold(run.Repo, j.s.PR.HeadRepo) || run.Branch != "" && run.Branch != j.s.PR.HeadRef
	case run.Event == "dynamic":
		return strings.HasPrefix(run.Branch, "refs/pull/") && !strings.HasPrefix(run.Branch, fmt.Sprintf("refs/pull/%d/", j.s.PR.Number))
	}
	return false
}

// another finds a pull request of the same branch that something which came at that time may be about: it was opened by then,
// and had this head, or may have had it. When it was closed ends nothing: a label starts runs of a closed pull request too, and
// GitHub may be late. It returns a name for people, "" where only the list is not whole.
func (j judge) another(at time.Time) (name string, yes bool) {
	whole := false
	for _, o := range j.s.SameBranch {
		switch {
		case o.Number == j.s.PR.Number:
			whole = true
		case o.HeadRef != j.s.PR.HeadRef || !strings.EqualFold(o.HeadRepo, j.s.PR.HeadRepo) || !at.IsZero() && at.Before(o.Created):
		case o.Head == j.s.PR.Head || o.ClosedAt.IsZero() || !earliest(j.s.Arrived, at).After(o.ClosedAt):
			return fmt.Sprintf("#%d", o.Number), true
		}
	}
	return "", !whole
}

// runOfAnother is [judge.another] for a run. A run of a push, or that somebody dispatched, is about the commit. Of which
// repository one was that is gone, nobody can tell.
func (j judge) runOfAnother(run quorum.Run) (name string, yes bool) {
	if !strings.HasPrefix(run.Event, "pull_request") && run.Event != "dynamic" {
		return "", false
	}
	name, yes = j.another(run.Created) // a rerun does not move it
	return name, yes || run.Repo == ""
}

// checkOfAnother is [judge.another] for a check run.
func (j judge) checkOfAnother(c quorum.CheckRun) (name string, yes bool) {
	if run, listed := j.runOf(c); c.Job && listed {
		return j.runOfAnother(run)
	}
	return j.another(latest(c.Started, c.Completed))
}

// runOf is the run in whose suite a check is: the run of a job. What a workflow writes lands in some suite of its commit.
func (j judge) runOf(c quorum.CheckRun) (run quorum.Run, listed bool) {
	i := slices.IndexFunc(j.s.Runs, func(run quorum.Run) bool { return run.Suite == c.Suite })
	if i < 0 {
		return quorum.Run{}, false
	}
	return j.s.Runs[i], true
}

// approvedBare reports whether anything that stands on the commit alone would approve for r.
func (j judge) approvedBare(r quorum.Reviewer) bool {
	return slices.ContainsFunc(slices.Concat(j.checkWords(r), j.statusWords(r)), func(w word) bool { return w.Outcome == quorum.Approved }) ||
		byRun(r) && slices.ContainsFunc(j.runs(r), func(run quorum.Run) bool { return run.Completed() && run.Conclusion == "success" })
}

// byRun reports whether the conclusion of r's run is its verdict.
func byRun(r quorum.Reviewer) bool {
	return r.Verdict.Kind == quorum.Conclusion && r.Check == "" && r.Status == ""
}

// unless makes an approval void that may be about another pull request.
func (w word) unless(other string, yes bool) word {
	if yes && w.Outcome == quorum.Approved {
		w.void, w.why, w.by = true, quorum.ReasonOtherPull, other
	}
	return w
}

// declined is what a void approval comes to if nothing else is there.
func (w word) declined() answer {
	return answer{outcome: quorum.Declined, reason: w.why, detail: w.by, at: w.at, ref: w.ref, url: w.url}
}
