package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A statement is what a reviewer says for a head and attempt: in a text, check, status, artifact or conclusion, or the
// reason for which that does not count. What an attempt came to, what stands from before, and what is explained are
// statements, too: the policy is applied to one of them.
type statement struct {
	review.Reading
	ref         quorum.TextRef
	at          time.Time // since when it says this
	begun       time.Time // when the check or the attempt began that says it, as far as time tells; zero if nothing does
	reviewState string    // of a review, in GitHub's words
	url         string
	body        string
	threads     []quorum.Thread // that it opened
	text        *quorum.Text    // a comment or review
	rejected    rejection       // why it counts for nothing; "" if it counts
	voidDetail  string          // void: who edited, dismissed or commanded it, or which pull request it may be about

	// Of what an attempt came to.
	hasThreads bool          // resolving threads would end the objection
	isHeldUp   bool          // of an approval by a check: another check of that name is under way
	ended      quorum.Ending // how a person ended what was objected; no approval came since
	void       time.Time     // of an answer that does not count, and may have been begun against the base of before

	// Of an objection that stands.
	isOlder bool       // it was said before the newest attempt
	newest  *statement // what the newest attempt has come to since
	run     int64      // in which it was said, and the attempt; 0: as recorded
	attempt int
	carried string // the other head on which it was said
	pull    int    // the other pull request on which it was said; 0: this one
}

// statementOf is a statement that no text, check, status or artifact makes.
func statementOf(o quorum.Outcome, why quorum.Reason, at time.Time) statement {
	return statement{Reading: review.Reading{Outcome: o, Reason: why}, at: at}
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

// declined is a void approval, where nothing else was said.
func (s *statement) declined() statement {
	got := statementOf(quorum.Declined, voidReasons[s.rejected], s.at)
	got.Detail, got.ref, got.url = s.voidDetail, s.ref, s.url
	return got
}

// resetAt is when a limit ends; zero if it does not say.
func (s *statement) resetAt() time.Time {
	if s.Reset > 0 {
		return s.at.Add(s.Reset)
	}
	return s.Until
}

// isText reports whether a piece of evidence is a person's or a reviewer's words below the pull request.
func isText(ref quorum.TextRef) bool {
	return ref.Kind == quorum.TextComment || ref.Kind == quorum.TextReview || ref.Kind == quorum.TextThread
}

// saysWhy reports whether an outcome explains why there is no verdict.
func saysWhy(o quorum.Outcome) bool {
	return slices.Contains([]quorum.Outcome{quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded}, o)
}

// withKnownPaths returns findings with their paths as the pull request has them: readers know neither of a folder "a", as
// of a diff's name, nor that a name begins with its repository's.
func (h *headView) withKnownPaths(findings []quorum.Finding) []quorum.Finding {
	known := make(map[string]bool, len(h.snapshot.PR.Files))
	for _, f := range h.snapshot.PR.Files {
		known[f.Path] = true
	}
	var all []quorum.Finding
	for _, f := range findings {
		names := []string{f.Path, "a/" + f.Path, "b/" + f.Path, strings.TrimPrefix(f.Path, h.snapshot.PR.Repo+"/")}
		if i := slices.IndexFunc(names, func(path string) bool { return known[path] }); i >= 0 && f.Thread == 0 {
			f.Path = names[i]
		}
		all = append(all, f)
	}
	return all
}

func runRef(run *quorum.Run) quorum.TextRef { return quorum.TextRef{Kind: quorum.TextRun, ID: run.ID} }

// excerptOf is the beginning of a text, at most 600 characters.
func excerptOf(s string) string {
	characters := []rune(strings.TrimSpace(s))
	if len(characters) > 600 {
		characters = append(characters[:600], '…')
	}
	return string(characters)
}
