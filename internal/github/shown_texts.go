package github

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A shownText is a review or a comment as GitHub shows it, with as much of its words as may count.
type shownText struct {
	quorum.Text
	updated time.Time        // when it changed last; zero of a review, of which REST does not tell it
	changed time.Time        // when it changed last, as the query tells
	sum     untrusted.Digest // of all its words
	told    string           // all its words, where it is our comment that tells the verdict
}

// keptWords say which words are kept.
type keptWords struct {
	reviewerSet
	ours quorum.Account // zero: not known yet
}

// mayBeReviewers reports whether an account's inline comments may count.
func (k keptWords) mayBeReviewers(a quorum.Account) bool {
	return k.reviewerSet == nil || k.includes(a)
}

// mayBeOurs reports whether an account may be the one as which we write.
func (k keptWords) mayBeOurs(a quorum.Account) bool { return k.ours.Login == "" || a.Same(k.ours) }

// maxTold is how many bytes a comment of ours that tells the verdict may have.
const maxTold = 32 << 10

// isToldVerdict reports whether a comment may be ours that tells the verdict.
func isToldVerdict(body string) bool {
	return len(body) <= maxTold && strings.HasPrefix(body, quorum.VerdictMarker)
}

// newShownText keeps of t's words those that kept says, and the command of a member.
func newShownText(t quorum.Text, updated time.Time, kept keptWords) shownText {
	shown := shownText{Text: t, sum: untrusted.DigestOf(t.Body)}
	shown.Body = kept.keptBody(t.Author, t.Body)
	if t.Kind == quorum.TextReview {
		return shown
	}
	shown.updated = updated
	if isToldVerdict(t.Body) && kept.mayBeOurs(t.Author) {
		shown.told = t.Body
	}
	if t.Member {
		if command := quorum.CommandLine(t.Body); command != "" && quorum.CommandLine(shown.Body) != command {
			shown.Body = command
		}
	}
	return shown
}

// isAs reports whether a text is shown alike: as it was after the same change.
func (t shownText) isAs(o shownText) bool {
	return t.sum == o.sum && t.State == o.State && t.updated.Equal(o.updated)
}

// settled is how long after a change it is certain that an answer shows it.
const settled = time.Minute

// isSettled reports whether t, as it was shown at a time, has the words of now, which is shown without any: any later
// change would have another time, however late the answer was.
func (t shownText) isSettled(now shownText, at time.Time) bool {
	return t.ID != 0 && t.changed.Equal(now.changed) && t.Member == now.Member && t.changed.Add(settled).Before(at)
}

// byUnknown returns t as REST shows it, which does not tell who edited it last.
func (t shownText) byUnknown() shownText {
	t.Edited, t.Editor = laterOf(t.At, t.Edited), quorum.Account{}
	return t
}

// shownTexts are the texts of a pull request.
type shownTexts map[quorum.TextRef]shownText

func (all shownTexts) noteText(t shownText) { all[t.TextRef] = t }

// differingFrom are the texts that are not shown alike.
func (all shownTexts) differingFrom(others shownTexts) (refs []quorum.TextRef) {
	for ref, t := range all {
		if o, found := others[ref]; !found || !t.isAs(o) {
			refs = append(refs, ref)
		}
	}
	for ref := range others {
		if _, found := all[ref]; !found {
			refs = append(refs, ref)
		}
	}
	return refs
}

// inOrder are the texts of a kind, the oldest first.
func (all shownTexts) inOrder(kind quorum.TextKind) (texts []quorum.Text) {
	for ref, t := range all {
		if ref.Kind == kind {
			texts = append(texts, t.Text)
		}
	}
	slices.SortFunc(texts, func(a, b quorum.Text) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return texts
}

// toldBy are the comments among all by which an account tells the verdict.
func (all shownTexts) toldBy(ours quorum.Account) (told []quorum.ToldComment) {
	for ref, t := range all {
		if t.told != "" && t.Author.Same(ours) {
			told = append(told, quorum.ToldComment{ID: ref.ID, Body: t.told})
		}
	}
	slices.SortFunc(told, func(a, b quorum.ToldComment) int { return cmp.Compare(a.ID, b.ID) })
	return told
}
