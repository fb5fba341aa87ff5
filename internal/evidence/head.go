package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// headView is a head as GitHub shows it, under its policy, with the moments of its cycle.
type headView struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
	cycle    cycle
	record   recordView
	texts    []quorum.Text // comments, then reviews
}

func newHeadView(p *quorum.Policy, s *quorum.Snapshot) *headView {
	texts := slices.Concat(s.Comments, s.Reviews)
	return &headView{policy: p, snapshot: s, cycle: cycleOf(s), record: recordViewOf(s), texts: texts}
}

// isSameAccount compares accounts by id where both are known, else by login.
func isSameAccount(a, b quorum.Account) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Login != "" && strings.EqualFold(a.Login, b.Login) && a.Bot == b.Bot
}
