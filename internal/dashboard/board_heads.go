package dashboard

// The last heads of a pull request as its page shows them, the newest first.

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// A boardHead is a head and what was decided on it.
type boardHead struct {
	Commit  string
	URL     string // of the commit on GitHub; "" if that cannot be trusted
	Into    string // its base, where that is not today's
	Decided []boardDecision
}

// A boardDecision is a verdict, and since when it stood.
type boardDecision struct {
	Mark boardMark
	Says string
	At   boardMoment
}

// commitShape is of a commit's name, which becomes a part of an address.
var commitShape = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// showHeads words a sight's history; nil if it tells no more than the sight does.
func showHeads(s Sight, now time.Time) (shown []boardHead) {
	if len(s.Heads) == 0 || len(s.Heads) == 1 && len(s.Heads[0].Decided) < 2 {
		return nil
	}
	repo, _, _ := strings.Cut(s.URL, "/pull/")
	for _, h := range slices.Backward(s.Heads[max(len(s.Heads)-mostPastHeads, 0):]) {
		head := boardHead{Commit: boardClip(h.Head, 12)}
		if commitShape.MatchString(h.Head) {
			head.URL = safeURL(repo+"/commit/"+h.Head, s.URL)
		}
		if h.Base != cutText(s.Base, mostPastBase) {
			head.Into = boardClip(h.Base, mostPastBase)
		}
		for _, d := range slices.Backward(h.Decided[max(len(h.Decided)-mostPastDecisions, 0):]) {
			mark, _ := verdictMark(Sight{Verdict: d.Verdict})
			says := boardClip(d.Says, mostPastSays)
			head.Decided = append(head.Decided, boardDecision{mark, says, momentAt(d.At, now)})
		}
		shown = append(shown, head)
	}
	return shown
}
