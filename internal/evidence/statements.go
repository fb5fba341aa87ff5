package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A statement is a text, check or status of a reviewer that is bound to this head and attempt, with what it says.
type statement struct {
	review.Reading
	ref         quorum.TextRef
	at          time.Time // since when it says this
	isReview    bool
	reviewState string // of a review, in GitHub's words
	url         string
	body        string
	threads     []quorum.Thread // that it opened
	void        bool            // it counts for nothing
	voidReason  quorum.Reason   // void: ReasonEdited, ReasonDismissed, ReasonUnnamed, ReasonOtherPull
	voidDetail  string          // void: who edited or dismissed it, or which pull request it may be about
}

// isVerdict reports whether the statement counts, and approves or objects.
func (s *statement) isVerdict() bool {
	return !s.void && (s.Outcome == quorum.Approved || s.Outcome == quorum.Findings)
}

func (s *statement) setVoid(why quorum.Reason, by string) {
	s.void, s.voidReason, s.voidDetail = true, why, by
}

// voidIfOtherPull makes an approval void that may be about another pull request.
func (s *statement) voidIfOtherPull(name string, found bool) {
	if found && s.Outcome == quorum.Approved {
		s.setVoid(quorum.ReasonOtherPull, name)
	}
}

// textStatements are the reviewer's texts that are bound to a, oldest first.
func (v *reviewerView) textStatements(a *reviewAttempt) (out []statement) {
	if v.Author == "" {
		return nil
	}
	for i := range v.head.texts {
		if s, bound := v.textStatement(a, &v.head.texts[i]); bound {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b statement) int { return a.at.Compare(b.at) })
	return out
}

// textStatement reads t as a statement of attempt a; bound is false if it is none.
func (v *reviewerView) textStatement(a *reviewAttempt, t *quorum.Text) (s statement, bound bool) {
	if !t.Author.Is(v.Author) || v.head.isOurs(t) || !v.hasHeading(t) {
		return statement{}, false
	}
	if t.Kind == quorum.TextReview && (t.Commit != v.head.snapshot.PR.Head || t.State == "PENDING") {
		return statement{}, false
	}
	s = statement{ref: t.TextRef, at: t.At, url: t.URL, body: t.Body, reviewState: t.State}
	s.isReview = t.Kind == quorum.TextReview
	if !t.Edited.IsZero() {
		s.at = t.Edited
		if !t.Editor.Is(v.Author) {
			s.setVoid(quorum.ReasonEdited, t.Editor.Login)
		}
	}
	if !v.bindStatement(a, t, &s) {
		return statement{}, false
	}
	if s.isReview {
		s.threads = v.head.openedThreads(v.Reviewer, t.ID)
		if t.State == "COMMENTED" && strings.TrimSpace(t.Body) == "" && len(s.threads) == 0 {
			return statement{}, false // it holds nothing but answers in threads
		}
	}
	v.readStatement(t, &s)
	return s, s.Outcome != quorum.Unrelated
}

// bindStatement reports whether s is bound to a, and dates it from when it first stood.
func (v *reviewerView) bindStatement(a *reviewAttempt, t *quorum.Text, s *statement) bool {
	bound := v.isBound(a, t, s.at) || s.void && v.isBound(a, t, t.At) // a void one still explains what became of an approval
	stood, found := v.head.record.firstApproval(v.Name, t.TextRef)
	if found && !s.void && stood.Before(s.at) && !stood.Before(a.began) && (bound || v.isBound(a, t, stood)) {
		s.at, bound = stood, true // its author edited it later
	}
	return bound
}

// readStatement fills s with what t says. A dismissed review is void, and so is an approval that may be about another
// commit.
func (v *reviewerView) readStatement(t *quorum.Text, s *statement) {
	by := ""
	if t.State == "DISMISSED" {
		by, s.reviewState = v.head.dismissalOf(t.ID)
	}
	s.Reading = v.texts.readText(v.Reviewer, t, s.reviewState, len(s.threads))
	if t.State == "DISMISSED" {
		byAuthor := strings.EqualFold(by, v.head.snapshot.PR.Author.Login)
		if stands := s.Outcome == quorum.Findings && (by == "" || byAuthor); !stands {
			s.setVoid(quorum.ReasonDismissed, by)
		}
	}
	if s.Outcome != quorum.Approved {
		return
	}
	mayBeOtherHead := v.Workflow == "" && v.head.cycle.hadOtherHead && !s.isReview && !v.namesHead(t)
	if named := v.namedCommit(t); mayBeOtherHead || named != "" && v.head.isVague(named) {
		s.void, s.voidReason = true, quorum.ReasonUnnamed
	}
}

// hasEndedByThreads reports whether an objection by inline comments has ended: every thread of it is resolved or
// outdated. An objection in words or by CHANGES_REQUESTED does not end that way.
func (v *reviewerView) hasEndedByThreads(s *statement) bool {
	if len(s.threads) == 0 || !s.Inline || s.reviewState == "CHANGES_REQUESTED" {
		return false
	}
	if v.head.record.hadMoreThreads(s.ref, len(s.threads)) {
		return false
	}
	for i := range s.threads {
		t := &s.threads[i]
		if !v.head.hasEnded(t) || t.Edited && !t.Editor.Is(v.Author) {
			return false
		}
	}
	return true
}
