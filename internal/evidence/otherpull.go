package evidence

// An approval that stands on the commit alone, as a run's conclusion, a check or a status, does not say for which pull
// request it was given. Several may have had the commit, against bases of which one is easy.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isOtherBranchRun reports whether a run was made for the pull request of another branch, or of another repository's
// branch. A "dynamic" run of a pull request may be shown with a ref of that one instead of its branch.
func (h *headView) isOtherBranchRun(run *quorum.Run) bool {
	pr := &h.snapshot.PR
	if strings.HasPrefix(run.Event, "pull_request") {
		return !strings.EqualFold(run.Repo, pr.HeadRepo) || run.Branch != "" && run.Branch != pr.HeadRef
	}
	ours := fmt.Sprintf("refs/pull/%d/", pr.Number)
	return run.Event == "dynamic" && strings.HasPrefix(run.Branch, "refs/pull/") && !strings.HasPrefix(run.Branch, ours)
}

// otherPullOfCommit finds a pull request that what stands on the commit alone and began at that time may be about: one
// of the same branch, or of another branch or a fork that has the same head against another base.
func (h *headView) otherPullOfCommit(began time.Time) (name string, found bool) {
	others, isWhole := h.otherPullsAt(began)
	for i := range h.snapshot.SameHead {
		if o := &h.snapshot.SameHead[i]; o.BaseRef != h.snapshot.PR.BaseRef && (began.IsZero() || !began.Before(o.Created)) {
			others = append(others, o)
		}
	}
	return firstName(others, isWhole)
}

// firstName names the first pull request that something may be about, and its author; "" where the list is not whole.
func firstName(others []*quorum.PullRequest, listIsWhole bool) (name string, found bool) {
	if len(others) == 0 {
		return "", !listIsWhole
	}
	return strings.TrimSuffix(fmt.Sprintf("#%d by %s", others[0].Number, others[0].Author.Login), " by "), true
}

// otherPullsAt are the pull requests of the same branch that were opened by then and may have had this head. When one
// was closed ends nothing: a label starts runs of a closed pull request too, and GitHub may be late.
func (h *headView) otherPullsAt(at time.Time) (others []*quorum.PullRequest, listIsWhole bool) {
	pr := &h.snapshot.PR
	for i := range h.snapshot.SameBranch {
		o := &h.snapshot.SameBranch[i]
		switch {
		case o.Number == pr.Number:
			listIsWhole = true
		case o.HeadRef != pr.HeadRef || !strings.EqualFold(o.HeadRepo, pr.HeadRepo) || !at.IsZero() && at.Before(o.Created):
		case o.Head == pr.Head || o.ClosedAt.IsZero() || !earliest(h.snapshot.Arrived, at).After(o.ClosedAt):
			others = append(others, o)
		}
	}
	return others, listIsWhole
}

// workflowsToCompare are the files that [headView.otherPullOfRun] compares for a run.
func (h *headView) workflowsToCompare(run *quorum.Run) (files []quorum.BranchFile) {
	others, _ := h.otherPullsAt(run.Created)
	here := quorum.BranchFile{Path: run.Path, Branch: h.snapshot.PR.BaseRef}
	for _, o := range others {
		there := quorum.BranchFile{Path: run.Path, Branch: o.BaseRef}
		if there != here && isRunOfPull(run) && len(files) < maxBlobs && !slices.Contains(files, there) {
			files = append(files, here, there)
		}
	}
	return files
}

// maxBlobs bounds the workflow files compared for a run: anybody may open pull requests of a branch. Others let no yes count.
const maxBlobs = 20

// isRunOfPull reports whether a run is about a pull request, and not, as one of a push, about a commit.
func isRunOfPull(run *quorum.Run) bool {
	return strings.HasPrefix(run.Event, "pull_request") || run.Event == "dynamic"
}

// otherPullOfRun finds a pull request of the same branch that a run may be about; of one whose repository is gone
// nobody knows. A run for another pull request whose base has the same workflow writes its texts there.
func (h *headView) otherPullOfRun(run *quorum.Run, isText bool) (name string, found bool) {
	if !isRunOfPull(run) {
		return "", false
	}
	others, isWhole := h.otherPullsAt(run.Created) // a rerun does not move it
	isElsewhere := func(o *quorum.PullRequest) bool {
		base := h.snapshot.PR.BaseRef
		here, isRead := h.snapshot.Blobs[quorum.BranchFile{Path: run.Path, Branch: base}]
		there, isOtherRead := h.snapshot.Blobs[quorum.BranchFile{Path: run.Path, Branch: o.BaseRef}]
		return isText && (o.BaseRef == base || isRead && isOtherRead && here == there)
	}
	return firstName(slices.DeleteFunc(others, isElsewhere), isWhole && run.Repo != "")
}

// otherPullOfCheck is [headView.otherPullOfCommit] for a check run.
func (h *headView) otherPullOfCheck(c *quorum.CheckRun) (name string, found bool) {
	if run := h.runOfCheck(c); c.Job && run != nil {
		return h.otherPullOfRun(run, false)
	}
	return h.otherPullOfCommit(cmp.Or(c.Started, c.Completed))
}

// runOfCheck is the listed run in whose suite a check is, be it a job or what a workflow wrote there; nil if there is none.
func (h *headView) runOfCheck(c *quorum.CheckRun) *quorum.Run {
	return firstOf(h.snapshot.Runs, func(run *quorum.Run) bool { return run.Suite == c.Suite })
}
