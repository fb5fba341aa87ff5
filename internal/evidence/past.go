package evidence

// What a reviewer said before the newest look: on this head, on the head that it judged last, and on this diff.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A pastView is what one reviewer said before, as the record and GitHub know it.
type pastView struct {
	*quorum.Reviewer
	head        *headView
	onLeftHeads func() (quorum.Judged, bool) // [verdictOnLeftHeads], read once; nil in a view of another time or head
}

// hasObjectedBefore reports whether the reviewer has objected to this head: then it votes on it, whatever its lane is now.
func (v pastView) hasObjectedBefore() bool {
	s, j := v.head.snapshot, v.judged()
	return j != nil && j.Noes > 0 && j.Head == s.PR.Head ||
		slices.ContainsFunc(s.Record.Objections, func(o quorum.Objection) bool {
			return o.Reviewer == v.Name && v.head.record.concerns(&o)
		})
}

// judgedBy is the verdict that a reviewer gave last, as a record knows it; nil if it knows none.
func judgedBy(all []quorum.Judged, reviewer string) *quorum.Judged {
	return firstOf(all, func(j *quorum.Judged) bool { return j.Reviewer == reviewer })
}

func (v pastView) judged() *quorum.Judged { return judgedBy(v.head.snapshot.Record.Judged, v.Name) }

// judgedElsewhere is the verdict that the reviewer gave last before it judged this head: what GitHub shows of heads that
// were left, where no look has seen it, or else what the record knows; nil if it gave none.
func (v pastView) judgedElsewhere() *quorum.Judged {
	j := v.judged()
	if v.onLeftHeads == nil || j != nil && j.Head == v.head.snapshot.PR.Head {
		return j
	}
	left, isLeft := v.onLeftHeads()
	isNews := j == nil || left.Head != j.Head || left.Said.After(j.Said)
	isEdit := j != nil && j.No && !left.No && left.Head == j.Head && v.Author == quorum.ActionsBot // by any workflow
	if isLeft && isNews && !isEdit {
		return &left
	}
	return j
}

// isRequiredAgain reports whether the reviewer objected to the last head that it judged, and this one has another diff, or to
// this head against another base. Its answer is needed then in every lane but one that asks for no review.
func (v pastView) isRequiredAgain() bool {
	if !v.MayVote() || v.Excused == quorum.ReasonWhen || v.head.policy.NeedsNoReview() {
		return false
	}
	j := v.judgedElsewhere()
	if j == nil || v.head.objectedElsewhere[v.Name] {
		return v.head.objectedElsewhere[v.Name]
	}
	diff, isHere := v.head.snapshot.PR.Diff.Lines, j.Head == v.head.snapshot.PR.Head
	isOther := !isHere
	if j.Diff != "" && diff != "" {
		isOther = j.Diff != diff
	}
	return j.No && isOther || j.Again && isHere
}

// withPast adds to a ballot what the reviewer said before: on this diff, and on the head that it judged last.
func (v pastView) withPast(b quorum.Ballot) quorum.Ballot {
	if v.isRequiredAgain() {
		b.Again, b.Required = true, true
	}
	b.Asked, b.Flipped = v.countAnswers(&b)
	if b.Then != nil {
		then := v.withPast(*b.Then)
		then.Required = b.Required
		b.Then = &then
	}
	return b
}

// countAnswers counts the verdicts on this diff, b among them, if there are others; flipped: it objected to it before.
func (v pastView) countAnswers(b *quorum.Ballot) (asked int, flipped bool) {
	j := v.judged()
	if j == nil || !isVerdictHere(b) || j.Diff == "" || j.Diff != v.head.snapshot.PR.Diff.Lines {
		return 0, false
	}
	if asked = j.Times; isNewVerdict(j, b) {
		asked++
	}
	if asked < 2 {
		return 0, false
	}
	return asked, b.Vote == quorum.Approve && b.Reason != quorum.ReasonResolved && j.Noes > 0
}

// isVerdictHere reports whether a ballot is a verdict that was given on this head.
func isVerdictHere(b *quorum.Ballot) bool {
	return b.Carried == "" && b.Evidence.ID != 0 && (b.Vote == quorum.Approve || b.Vote == quorum.Object)
}

func isNewVerdict(j *quorum.Judged, b *quorum.Ballot) bool {
	return b.Since.UTC().Truncate(time.Second).After(j.Said)
}

// rememberJudged remembers what each reviewer said last, and counts what it said on this diff. An objection that stands here from
// elsewhere counts as said last where the record holds another verdict.
func rememberJudged(all []quorum.Judged, s *quorum.Snapshot, ballots []quorum.Ballot) []quorum.Judged {
	head, diff := s.PR.Head, s.PR.Diff.Lines
	for i := range ballots {
		b := &ballots[i]
		isNo := b.Vote == quorum.Object
		was := judgedBy(all, b.Reviewer)
		if !isVerdictHere(b) && (was == nil || !isNo) {
			continue
		}
		said := b.Since.UTC().Truncate(time.Second)
		now := quorum.Judged{Reviewer: b.Reviewer, Head: head, No: isNo, Diff: diff, Times: 1, Said: said, Again: b.Again}
		if isNo {
			now.Noes = 1
		}
		switch {
		case was == nil:
			all = append(all, now)
		case isNewVerdict(was, b):
			if was.Diff == diff && diff != "" {
				now.Times, now.Noes = was.Times+1, was.Noes+now.Noes
			}
			*was = now
		case was.Head == head && (was.Said.Equal(said) || b.Reason == quorum.ReasonResolved): // threads changed
			was.No, was.Noes = isNo, max(was.Noes, now.Noes)
		case isNo: // it stands here, whatever was said since of another head or base
			if was.Diff != diff {
				was.Times, was.Noes = now.Times, now.Noes
			}
			was.No, was.Head, was.Diff, was.Again = true, head, diff, b.Again
		}
	}
	return all
}
