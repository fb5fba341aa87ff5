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
	texts    []quorum.Text    // comments, then reviews
	stays    []stay           // the times that the pull request had this head before
	now      *quorum.Snapshot // the pull request, where it has another head now; else nil
	timeline []quorum.Event   // with the changes of the base, of which a view of then shows none
	commands []quorum.Command // what people have told us: those of the record, then those that are heard now

	objectedElsewhere map[string]bool // reviewers that objected last against another base
}

func newHeadView(p *quorum.Policy, s *quorum.Snapshot) *headView {
	s = withoutImpostors(p, withoutAccepts(p, s))
	s.Timeline = without(s.Timeline, func(e quorum.Event) bool { // a change of the base that changed nothing
		isIt := func(m quorum.BaseMove) bool { return m.At.Equal(e.At) }
		return e.Kind == quorum.BaseChanged && slices.ContainsFunc(s.Record.Moved, isIt)
	})
	texts := slices.Concat(s.Comments, s.Reviews)
	return &headView{
		policy: p, snapshot: s, cycle: cycleOf(s), texts: texts, stays: earlierHeadStays(s), timeline: s.Timeline,
		commands: slices.Clip(s.Record.Commands),
		record:   recordView{record: &s.Record, base: s.PR.BaseRef, diff: s.PR.Diff.Lines},
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

// isOtherCommit reports whether what a text names is another commit than this head, and surely so; "" is not. Naming a
// merge of the head with its base binds nothing, and does no harm.
func (h *headView) isOtherCommit(named string) bool {
	isTestMerge, c := strings.HasPrefix(h.snapshot.PR.Merge, named), h.snapshot.Resolved[named]
	isMergeOfHead := isTestMerge || len(c.Parents) > 1 && slices.Contains(c.Parents, h.snapshot.PR.Head)
	return named != "" && !h.isHead(named) && !h.isVague(named) && !isMergeOfHead
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

// shortSHA is how many digits of a commit a text names at least.
const shortSHA = 7

// maxLeftHeads is how many earlier heads are read for a reviewer's words, checks and statuses: those that were likely the last.
const maxLeftHeads = 10

func lastHeads(s *quorum.Snapshot) []string {
	heads, _ := HeadsBefore(*s)
	return heads[:min(len(heads), maxLeftHeads)]
}

// isAlike reports whether a commit is an earlier head with the same diff: nothing has changed since.
func (h *headView) isAlike(commit string) bool {
	return slices.ContainsFunc(alikeHeads(h.snapshot), func(alike quorum.HeadDiff) bool { return commit == alike.Head })
}

func alikeHeads(s *quorum.Snapshot) []quorum.HeadDiff {
	return without(s.Record.Heads, func(h quorum.HeadDiff) bool { return h.Diff != s.PR.Diff.Lines || h.Head == s.PR.Head })
}

// HeadsBefore are the heads before this one, the likeliest first, and when the last was left, if a force-push tells.
func HeadsBefore(s quorum.Snapshot) (heads []string, left time.Time) {
	pushes := without(s.Timeline, func(e quorum.Event) bool { return e.Kind != quorum.ForcePushed })
	slices.Reverse(pushes)
	isOfHead := func(e *quorum.Event) bool { return e.To == s.PR.Head || e.From == s.PR.Head }
	if last := firstOf(pushes, isOfHead); last != nil {
		heads, left = append(heads, last.From, last.To), last.At.UTC() // last.To: it was left by force and came back
	}
	for _, head := range slices.Backward(s.Earlier) {
		heads = append(heads, head)
	}
	others := slices.Clone(s.Others)
	slices.SortStableFunc(others, func(a, b quorum.Run) int { return b.Created.Compare(a.Created) })
	for _, run := range others {
		heads = append(heads, run.Head)
	}
	for _, e := range pushes {
		heads = append(heads, e.From, e.To)
	}
	known := map[string]bool{"": true, s.PR.Head: true}
	return slices.DeleteFunc(heads, func(head string) bool {
		isKnown := known[head]
		known[head] = true
		return isKnown
	}), left
}

// A cycle is what happens on one head against one base. Its moments come from GitHub's own times alone: our own check's
// started_at would show one too, but anyone may write it.
type cycle struct {
	arrival      time.Time // the head's: unnamed texts from before it are void
	baseChanged  time.Time // everything from before it is void; zero if the base never changed
	start        time.Time // clocks count from here
	ready        time.Time // when it was ready for review, or open, anew
	pushed       time.Time // when the head was last pushed to this branch; zero if nothing shows it
	hadOtherHead bool      // the pull request had another head before
	isForced     bool      // a force-push brought the head
	closed       []stay    // when the pull request was closed, and opened again
}

// ListedCommits is how many of a pull request's commits, the newest ones, are looked at for traces of an earlier head:
// whoever makes a snapshot lists so many. Of those before, and of a personal token's statuses, which bring no check
// suite, nothing is known: there the head counts as not the first.
const ListedCommits = 14

func cycleOf(s *quorum.Snapshot) cycle {
	c := cycle{
		arrival:      latest(s.PR.Created, s.Arrived),
		hadOtherHead: len(s.Earlier)+len(s.Others) > 0 || s.PR.Commits > ListedCommits || s.NoRecord && s.PR.Commits > 1,
	}
	var closed time.Time
	for _, e := range s.Timeline {
		switch e.Kind {
		case quorum.ForcePushed:
			c.hadOtherHead = true
			if e.To == s.PR.Head {
				c.arrival, c.pushed, c.isForced = latest(c.arrival, e.At), latest(c.pushed, e.At), true
			} else if e.From == s.PR.Head { // it has come back since, by what the timeline does not show
				c.pushed = time.Time{}
			}
		case quorum.BaseChanged:
			c.baseChanged = latest(c.baseChanged, e.At)
		case quorum.ReadyForReview:
			c.ready = latest(c.ready, e.At)
		case quorum.Reopened:
			c.ready, c.closed = latest(c.ready, e.At), append(c.closed, stay{from: closed, to: e.At})
		case quorum.Closed:
			closed = e.At
		case quorum.ConvertedDraft, quorum.ReviewRequested, quorum.ReviewDismissed:
		}
	}
	for _, p := range s.Pushes {
		isUpdate := !p.At.Before(s.PR.Created) && strings.Trim(p.Before, "0") != "" // not the creation of the branch
		c.hadOtherHead = c.hadOtherHead || isUpdate
		if isUpdate && p.After == s.PR.Head {
			c.pushed = latest(c.pushed, p.At)
		}
	}
	c.start = latest(c.ready, c.arrival, c.baseChanged)
	return c
}

// isBeforeBase reports whether t is from before the base changed. GitHub's times are whole seconds, and who changes the
// base also chooses the second: what is of that very second counts as before.
func (c cycle) isBeforeBase(t time.Time) bool {
	return !c.baseChanged.IsZero() && !t.After(c.baseChanged)
}

// A stay is a time that the pull request spent on a base, with a head, or closed, before it left that.
type stay struct {
	of       string
	from, to time.Time
}

// staysBefore are the stays that moves ended, the oldest first, of which the first began at from.
func staysBefore(moves []quorum.Event, from time.Time) (stays []stay) {
	for _, m := range moves {
		stays, from = append(stays, stay{m.From, from, m.At}), m.At
	}
	return stays
}

// isWithin reports whether a moment is in one of the stays. Whether the very second of a change counts, isClosed says.
func isWithin(stays []stay, at time.Time, isClosed bool) bool {
	return slices.ContainsFunc(stays, func(was stay) bool {
		isEnd := at.Equal(was.from) || at.Equal(was.to)
		return !at.Before(was.from) && !at.After(was.to) && (isClosed || !isEnd)
	})
}

func withoutBaseChanges(timeline []quorum.Event) []quorum.Event {
	return without(timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
}

// baseStays are the times that the pull request spent on bases before the present stay; none if its base never changed.
func baseStays(s *quorum.Snapshot) []stay {
	moves := without(s.Timeline, func(e quorum.Event) bool { return e.Kind != quorum.BaseChanged })
	return staysBefore(moves, s.PR.Created)
}

// earlierBaseStays are the times that the pull request spent on this base before; none if it never came back to it.
func earlierBaseStays(s *quorum.Snapshot) []stay {
	return without(baseStays(s), func(was stay) bool { return was.of != s.PR.BaseRef })
}

// earlierHeadStays are the times that the pull request had this head before, by force-pushes and the list of pushes.
func earlierHeadStays(s *quorum.Snapshot) []stay {
	from := s.PR.Created
	if len(s.Pushes) == 0 { // it may have come later, by what no force-push tells
		from = latest(from, s.Pushed)
	}
	moves := without(s.Timeline, func(e quorum.Event) bool { return e.Kind != quorum.ForcePushed })
	for _, p := range slices.Backward(s.Pushes) { // the oldest first
		moves = append(moves, quorum.Event{From: p.Before, To: p.After, At: p.At})
	}
	moves = slices.DeleteFunc(moves, func(m quorum.Event) bool { // the branch was deleted, or restored
		return strings.Trim(m.From, "0") == "" || strings.Trim(m.To, "0") == ""
	})
	slices.SortStableFunc(moves, func(a, b quorum.Event) int { return a.At.Compare(b.At) })
	return without(staysBefore(moves, from), func(was stay) bool { return was.of != s.PR.Head })
}

func firstArrival(s *quorum.Snapshot) time.Time {
	if stays := earlierHeadStays(s); len(stays) > 0 {
		return stays[0].from
	}
	return cycleOf(s).arrival
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func earliest(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
