package evidence

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A statement is a text, check or status of a reviewer that is bound to this head and attempt, with what it says.
type statement struct {
	review.Reading
	ref         quorum.TextRef
	at          time.Time // since when it says this
	begun       time.Time // of a check run: when it began; zero if nothing shows it
	isReview    bool
	reviewState string // of a review, in GitHub's words
	url         string
	body        string
	threads     []quorum.Thread // that it opened
	void        bool            // it counts for nothing
	voidReason  quorum.Reason   // void: ReasonEdited, ReasonDismissed, ReasonUnnamed, ReasonMoved, ReasonOldBase, …
	voidDetail  string          // void: who edited or dismissed it or commanded it, or which pull request it may be about
}

// isVerdict reports whether the statement counts, and approves or objects.
func (s *statement) isVerdict() bool {
	return !s.void && (s.Outcome == quorum.Approved || s.Outcome == quorum.Findings)
}

func (s *statement) setVoid(why quorum.Reason, detail string) {
	s.void, s.voidReason, s.voidDetail = true, why, detail
}

// voidIfOtherPull makes an approval void that may be about another pull request.
func (s *statement) voidIfOtherPull(name string, found bool) {
	if found && s.Outcome == quorum.Approved {
		s.setVoid(quorum.ReasonOtherPull, name)
	}
}

// saysWhy reports whether an outcome explains why there is no verdict.
func saysWhy(o quorum.Outcome) bool {
	switch o {
	case quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded:
		return true
	}
	return false
}
