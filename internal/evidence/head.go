package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// headView is a head as GitHub shows it, under its policy, with the moments of its cycle.
type headView struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
	cycle    cycle
	record   recordView
	texts    []quorum.Text  // comments, then reviews
	stays    []stay         // the times that the pull request had this head before
	isLeft   bool           // the pull request has another head now
	timeline []quorum.Event // with the changes of the base, of which a view of then shows none

	objectedElsewhere map[string]bool // reviewers that objected last against another base
}

func newHeadView(p *quorum.Policy, s *quorum.Snapshot) *headView {
	s = withoutMoves(withoutImpostors(p, withoutAccepts(p, s)))
	texts := slices.Concat(s.Comments, s.Reviews)
	return &headView{
		policy: p, snapshot: s, cycle: cycleOf(s), texts: texts, stays: earlierHeadStays(s), timeline: s.Timeline,
		record: recordView{record: &s.Record, base: s.PR.BaseRef, diff: s.PR.Diff.Lines},
	}
}

// mayHaveHadOtherHead reports whether the pull request had another head before, or may have had one of which no run,
// check or force-push tells: then the branch's activity list does.
func (h *headView) mayHaveHadOtherHead() bool {
	return h.cycle.hadOtherHead || h.snapshot.PR.Commits > 1 && len(h.snapshot.Pushes) == 0
}

// isMovedReview reports whether a review of the head is older than the head is on this branch: GitHub moves a review's
// commit_id at some force-pushes and merges of the base. One that the record saw on this head was here before. What
// tells the push itself is exact; a commit's first check suite may come later, and before it somebody may have spoken.
// Where nothing shows when the head was pushed, one from before its arrival may be of any age.
func (h *headView) isMovedReview(t *quorum.Text) bool {
	since := cmp.Or(h.cycle.pushed, h.snapshot.Pushed, h.cycle.arrival)
	isInDoubt := t.At.Equal(h.cycle.pushed) && t.State != "CHANGES_REQUESTED" // of the same second a no counts
	return h.mayHaveHadOtherHead() && !h.record.knowsText(t.TextRef) && (t.At.Before(since) || isInDoubt)
}

// shownText is a text as GitHub shows it, void or not; nil if it shows it no more.
func (h *headView) shownText(ref quorum.TextRef) *quorum.Text {
	return firstOf(h.texts, func(t *quorum.Text) bool { return t.TextRef == ref })
}

// earlierAttempt is an attempt of a run that was asked for; nil if it was not read.
func (h *headView) earlierAttempt(n quorum.AttemptName) *quorum.Run {
	return firstOf(h.snapshot.Attempts, func(r *quorum.Run) bool { return r.ID == n.Run && r.Attempt == n.Number })
}

// isJudgedInPart reports whether the ballots decide nothing now, so that nothing is asked for that only they need.
func isJudgedInPart(p *quorum.Policy, s *quorum.Snapshot) bool {
	return s.PR.Closed || s.File.State != quorum.FileValid || p.Mode == quorum.Off || isJudgedLater(p, s)
}

// isJudgedLater reports whether the pull request is a draft that waits: the ballots decide once it is ready.
func isJudgedLater(p *quorum.Policy, s *quorum.Snapshot) bool {
	return !s.PR.Closed && s.File.State == quorum.FileValid && p.Mode != quorum.Off && s.PR.Draft && p.DraftsWait
}

// isHead reports whether the commit that a text names is this head; "" is not.
func (h *headView) isHead(named string) bool {
	return named != "" && strings.HasPrefix(h.snapshot.PR.Head, named) && !h.mayBeOtherHead(named)
}

// isOtherCommit reports whether what a text names is another commit than this head, and surely so; "" is not.
func (h *headView) isOtherCommit(named string) bool {
	return named != "" && !h.isHead(named) && !h.isVague(named) && !h.isMergeOfHead(named)
}

// isVague reports whether it cannot be told which commit a text names: several, one that is not there, or an id that is
// also another head's. That binds nothing and approves nothing; an objection that is bound otherwise stays one.
func (h *headView) isVague(named string) bool {
	c, asked := h.snapshot.Resolved[named]
	return strings.Contains(named, " and ") || asked && c.SHA == "" ||
		strings.HasPrefix(h.snapshot.PR.Head, named) && h.mayBeOtherHead(named)
}

// mayBeOtherHead reports whether a short id is also another head's: ids that begin alike are cheap to make.
func (h *headView) mayBeOtherHead(named string) bool {
	s := h.snapshot
	if len(named) < len(s.PR.Head) && s.PR.Commits > ListedCommits && len(s.Commits) < s.PR.Commits {
		return true // not all heads before are known
	}
	heads, _ := HeadsBefore(*s)
	for _, c := range s.Commits {
		heads = append(heads, c.SHA)
	}
	isOther := func(sha string) bool { return sha != s.PR.Head && strings.HasPrefix(sha, named) }
	return slices.ContainsFunc(heads, isOther)
}

// isMergeOfHead reports whether a commit is a merge of the head with its base: naming it binds nothing, and does no harm.
func (h *headView) isMergeOfHead(named string) bool {
	isTestMerge, c := strings.HasPrefix(h.snapshot.PR.Merge, named), h.snapshot.Resolved[named]
	return isTestMerge || len(c.Parents) > 1 && slices.Contains(c.Parents, h.snapshot.PR.Head)
}

// shortSHA is how many digits of a commit a text names at least.
const shortSHA = 7

// maxLeftHeads is how many earlier heads are read for a reviewer's words, checks and statuses: those that were likely the last.
const maxLeftHeads = 10

// lastHeads are the earlier heads that were likely the last.
func lastHeads(s *quorum.Snapshot) []string {
	heads, _ := HeadsBefore(*s)
	return heads[:min(len(heads), maxLeftHeads)]
}

// isAlike reports whether a commit is an earlier head with the same diff: nothing has changed since.
func (h *headView) isAlike(commit string) bool {
	return slices.ContainsFunc(alikeHeads(h.snapshot), func(alike quorum.HeadDiff) bool { return commit == alike.Head })
}

// alikeHeads are earlier heads with the same diff.
func alikeHeads(s *quorum.Snapshot) []quorum.HeadDiff {
	isOther := func(h quorum.HeadDiff) bool { return h.Diff == "" || h.Diff != s.PR.Diff.Lines || h.Head == s.PR.Head }
	all := without(s.Record.Heads, isOther)
	return all[:min(len(all), maxLeftHeads)]
}

// HeadsBefore are the heads before this one, the likeliest first, and when the last was left, if a force-push tells.
func HeadsBefore(s quorum.Snapshot) (heads []string, left time.Time) {
	known := map[string]bool{"": true, s.PR.Head: true}
	add := func(head string) {
		if !known[head] {
			known[head] = true
			heads = append(heads, head)
		}
	}
	pushes := without(s.Timeline, func(e quorum.Event) bool { return e.Kind != quorum.ForcePushed })
	for _, e := range slices.Backward(pushes) {
		if e.To == s.PR.Head || e.From == s.PR.Head {
			left = e.At.UTC()
			add(e.From)
			add(e.To) // it was left by force, and came back since
			break
		}
	}
	for _, head := range slices.Backward(s.Earlier) {
		add(head)
	}
	others := slices.Clone(s.Others)
	slices.SortStableFunc(others, func(a, b quorum.Run) int { return b.Created.Compare(a.Created) })
	for _, run := range others {
		add(run.Head)
	}
	for _, e := range slices.Backward(pushes) {
		add(e.From)
		add(e.To)
	}
	return heads, left
}
