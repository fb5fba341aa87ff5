package dashboard

// The last heads of a pull request, as its sight keeps them. A row has one sight, so the history is small whatever
// people push and reviewers write: few heads, few decisions of each, and so many bytes in all.

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	mostPastHeads     = 8
	mostPastDecisions = 4       // of a head: the newest ones
	mostPastBytes     = 8 << 10 // of the history's JSON, in which a stranger's byte may take six
	mostPastSays      = 120     // bytes of a check's title
	mostPastBase      = 100     // bytes of a branch's name
)

// A PastHead is a head of a pull request against a base, and what was decided on it.
type PastHead struct {
	Head    string         `json:"head"` // SHA
	Base    string         `json:"base"` // branch; hostile, and cut where it is long
	Decided []PastDecision `json:"decided"`
}

// A PastDecision is a verdict that a look brought where the look before it had brought another one.
type PastDecision struct {
	At      time.Time `json:"at"` // when that look began, by GitHub's clock
	Verdict string    `json:"verdict"`
	Says    string    `json:"check_title"` // the last one while the verdict stood; hostile, and cut where it is long
}

// Remember makes the history of s that of the sight before it, and what s brings. Beyond its bounds a head on which
// nothing was decided goes first, so that a crowd of pushes hides no verdict, and else the oldest.
func (s *Sight) Remember(was Sight) {
	heads := slices.Clone(was.Heads)
	now := PastHead{
		Head: cutText(s.Head, 64), Base: cutText(s.Base, mostPastBase),
		Decided: []PastDecision{{At: s.At, Verdict: s.Verdict, Says: cutText(s.Says, mostPastSays)}},
	}
	if last := len(heads) - 1; last >= 0 && heads[last].Head == now.Head && heads[last].Base == now.Base {
		heads[last].Decided = addDecision(heads[last].Decided, now.Decided[0])
	} else {
		heads = append(heads, now)
	}
	for len(heads) > 1 && (len(heads) > mostPastHeads || jsonSize(heads) > mostPastBytes) {
		i := slices.IndexFunc(heads[:len(heads)-1], PastHead.isUndecided)
		heads = slices.Delete(heads, max(i, 0), max(i, 0)+1)
	}
	s.Heads = heads
}

// addDecision adds a decision to those of the same head. The verdict that stood goes on standing since it came.
func addDecision(all []PastDecision, d PastDecision) []PastDecision {
	all = slices.Clone(all)
	if last := len(all) - 1; last >= 0 && all[last].Verdict == d.Verdict {
		all[last].Says = d.Says
		return all
	}
	all = append(all, d)
	return all[max(len(all)-mostPastDecisions, 0):]
}

// isUndecided reports whether a head was only ever waited for.
func (h PastHead) isUndecided() bool {
	return !slices.ContainsFunc(h.Decided, func(d PastDecision) bool { return d.Verdict != quorum.Waiting.String() })
}

func jsonSize(heads []PastHead) int {
	text, err := json.Marshal(heads)
	if err != nil { // unreachable unless a clock shows a year of five digits
		return mostPastBytes + 1
	}
	return len(text)
}

// cutText cuts a text to n bytes, at a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
