package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

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
	return slices.ContainsFunc(heads, func(sha string) bool { return sha != s.PR.Head && strings.HasPrefix(sha, named) })
}

// isMergeOfHead reports whether a commit is a merge of the head with its base: naming it binds nothing, but does no
// harm.
func (h *headView) isMergeOfHead(named string) bool {
	if h.snapshot.PR.Merge != "" && strings.HasPrefix(h.snapshot.PR.Merge, named) {
		return true
	}
	c, found := h.snapshot.Resolved[named]
	return found && len(c.Parents) > 1 && slices.Contains(c.Parents, h.snapshot.PR.Head)
}

// shortSHA is how many digits of a commit a text names at least.
const shortSHA = 7

// maxLeftHeads is how many earlier heads are read for a reviewer's words, checks and statuses: those that were likely the last.
const maxLeftHeads = 10

// isAlike reports whether a commit is an earlier head with the same diff: nothing has changed since.
func (h *headView) isAlike(commit string) bool {
	return slices.ContainsFunc(alikeHeads(h.snapshot), func(alike quorum.HeadDiff) bool { return commit == alike.Head })
}

// alikeHeads are earlier heads with the same diff.
func alikeHeads(s *quorum.Snapshot) (all []quorum.HeadDiff) {
	for _, h := range s.Record.Heads {
		if h.Diff == s.PR.Diff.Lines && h.Diff != "" && h.Head != s.PR.Head {
			all = append(all, h)
		}
	}
	return all[:min(len(all), maxLeftHeads)]
}
