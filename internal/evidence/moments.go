package evidence

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

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

// ListedCommits is how many of a pull request's commits, the newest ones, are looked at for traces of an earlier head: whoever
// makes a snapshot lists so many. Of those before, and of a personal token's statuses, which bring no check suite, nothing is
// known: there the head counts as not the first.
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
	sort.SliceStable(moves, func(i, j int) bool { return moves[i].At.Before(moves[j].At) })
	return without(staysBefore(moves, from), func(was stay) bool { return was.of != s.PR.Head })
}

// firstArrival is when the pull request had its head first.
func firstArrival(s *quorum.Snapshot) time.Time {
	if stays := earlierHeadStays(s); len(stays) > 0 {
		return stays[0].from
	}
	return cycleOf(s).arrival
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func earliest(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
