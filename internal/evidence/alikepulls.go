package evidence

// What was objected to the same change on another pull request: closing one and opening another sheds no objection.

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxClosedTime is how long what was objected on a pull request counts elsewhere after that was closed.
const maxClosedTime = 14 * 24 * time.Hour

// MayBeAlike reports whether what was objected on o may count for pr: o is by the same author or from the same branch, and open
// or closed unmerged not long ago. It may have been onto the same base before. One with the same head shares pr's check.
func MayBeAlike(pr, o *quorum.PullRequest, now time.Time) bool {
	isSameBranch := o.HeadRef == pr.HeadRef && o.HeadRepo != "" && strings.EqualFold(o.HeadRepo, pr.HeadRepo)
	isOver := o.Merged || o.Closed && now.Sub(o.ClosedAt) > maxClosedTime
	return o.Number != pr.Number && o.Head != pr.Head && !isOver && (isSameBranch || o.Author.Same(pr.Author))
}

// IsCompared reports whether the head's own record knows which other pull requests onto its base have the same diff.
func IsCompared(s *quorum.Snapshot) bool {
	rec := &s.Record
	return rec.Head == s.PR.Head && rec.Base == s.PR.BaseRef && rec.Trunk == s.PR.Stack.Trunk && rec.Compared
}

// IsKnownAlike reports whether the record knows if another pull request, with its head and base, has the same diff.
func IsKnownAlike(s *quorum.Snapshot, o *quorum.PullRequest) bool {
	return slices.Contains(s.Record.Alike, o.Number) || slices.Contains(s.Record.Unlike, unlikeName(o.Head, o.BaseRef))
}

// unlikeName names a head and its base in few letters, which nobody can find another head for.
func unlikeName(head, base string) string {
	sum := sha256.Sum256([]byte(head + " " + base))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// maxUnlike is how many heads of other pull requests a record knows to have another diff.
const maxUnlike = 50

// takeOverAlike takes over what was objected on other pull requests with this diff, and how it stands there now.
func (in *inheritance) takeOverAlike() {
	s := in.snapshot
	isOtherDiff := func(d quorum.HeadDiff) bool {
		return d.Base != s.PR.BaseRef && d.Base != s.PR.Target() || d.Diff != s.PR.Diff.Lines
	}
	for i := range s.Alike {
		other := &s.Alike[i]
		heads := slices.DeleteFunc(append(ownDiffs(other), other.Heads...), isOtherDiff)
		if name := unlikeName(other.Head, other.Base); len(heads) == 0 {
			if other.Diff != "" && other.Diff != s.PR.Diff.Lines && len(in.rec.Unlike) < maxUnlike {
				in.rec.Unlike = withOnce(in.rec.Unlike, name)
			}
			continue
		}
		in.rec.Alike = withOnce(in.rec.Alike, other.Pull)
		for _, o := range other.Objections {
			head := cmp.Or(o.Carried, other.Head)
			isToThis := slices.ContainsFunc(heads, func(d quorum.HeadDiff) bool { return d.Head == head })
			if o.Of != 0 || o.Pull == s.PR.Number || !isToThis {
				continue
			}
			markAccepted(other, &o)
			o.Pull, o.Carried, o.Answered, o.Ended = cmp.Or(o.Pull, other.Pull), head, o.Answered || o.Ended, false
			in.addHeads([]quorum.HeadDiff{{Head: o.Carried, Base: o.Base, Diff: s.PR.Diff.Lines}})
			in.takeOverObjection(other, o)
		}
	}
}
