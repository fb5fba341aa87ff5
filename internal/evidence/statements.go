package evidence

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A statement is a text, check, status or artifact of a reviewer, with what it says for a head and attempt or the
// reason for which it does not count. What counts and what is explained are both read from the statements.
type statement struct {
	review.Reading
	ref         quorum.TextRef
	at          time.Time // since when it says this
	begun       time.Time // of a check run: when it began; zero if nothing shows it
	reviewState string    // of a review, in GitHub's words
	url         string
	body        string
	threads     []quorum.Thread // that it opened
	text        *quorum.Text    // a comment or review
	rejected    rejection       // why it counts for nothing; "" if it counts
	voidDetail  string          // void: who edited, dismissed or commanded it, or which pull request it may be about
}

func (s *statement) isReview() bool { return s.ref.Kind == quorum.TextReview }

// isVerdict reports whether the statement counts, and approves or objects.
func (s *statement) isVerdict() bool {
	return s.rejected == "" && (s.Outcome == quorum.Approved || s.Outcome == quorum.Findings)
}

// voidReasons are the reasons by which a ballot explains what became of an approval that is rejected so.
var voidReasons = map[rejection]quorum.Reason{
	reviewMoved:     quorum.ReasonMoved,
	editedByOther:   quorum.ReasonEdited,
	editedIntoYes:   quorum.ReasonEdited,
	reviewDismissed: quorum.ReasonDismissed,
	vagueCommit:     quorum.ReasonUnnamed,
	unnamedCommit:   quorum.ReasonUnnamed,
	ofOldBase:       quorum.ReasonOldBase,
	answersCommand:  quorum.ReasonCommand,
	ofOtherPull:     quorum.ReasonOtherPull,
}

// isVoid reports whether it counts for nothing, and explains what became of an approval.
func (s *statement) isVoid() bool { return voidReasons[s.rejected] != "" }

func (s *statement) reject(why rejection, detail string) { s.rejected, s.voidDetail = why, detail }

// isOther reports whether it is none of this head and attempt.
func isOther(s statement) bool { return s.rejected != "" && !s.isVoid() }

// voidIfOtherPull makes an approval void that may be about another pull request.
func (s *statement) voidIfOtherPull(name string, found bool) {
	if found && s.Outcome == quorum.Approved {
		s.reject(ofOtherPull, name)
	}
}

// isText reports whether a piece of evidence is a person's or a reviewer's words below the pull request.
func isText(ref quorum.TextRef) bool {
	return ref.Kind == quorum.TextComment || ref.Kind == quorum.TextReview || ref.Kind == quorum.TextThread
}

// saysWhy reports whether an outcome explains why there is no verdict.
func saysWhy(o quorum.Outcome) bool {
	return slices.Contains([]quorum.Outcome{quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded}, o)
}
