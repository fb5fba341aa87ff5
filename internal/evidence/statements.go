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
	begun       time.Time // when the check or the attempt began that says it; zero if nothing shows that
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
	void       time.Time     // when an answer was said that does not count

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

// asDeclined is a void approval, where nothing else was said.
func (s *statement) asDeclined() statement {
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

// isSignal reports whether it is a check or a status, which its App may change in place.
func isSignal(ref quorum.TextRef) bool {
	return ref.Kind == quorum.TextCheck || ref.Kind == quorum.TextStatus
}

// saysWhy reports whether an outcome explains why there is no verdict.
func saysWhy(o quorum.Outcome) bool {
	return slices.Contains([]quorum.Outcome{quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded}, o)
}

// withKnownPaths returns findings with their paths as the pull request has them: readers know neither of a folder "a",
// as of a diff's name, nor that a name begins with its repository's.
func (h *headView) withKnownPaths(findings []quorum.Finding) []quorum.Finding {
	known := make(map[string]bool, len(h.snapshot.PR.Files))
	for _, f := range h.snapshot.PR.Files {
		known[f.Path] = true
	}
	findings = slices.Clone(findings)
	for k := range findings {
		f := &findings[k]
		names := []string{f.Path, "a/" + f.Path, "b/" + f.Path, strings.TrimPrefix(f.Path, h.snapshot.PR.Repo+"/")}
		if i := slices.IndexFunc(names, func(path string) bool { return known[path] }); i >= 0 && f.Thread == 0 {
			f.Path = names[i]
		}
	}
	return findings
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

// openedThreads are the threads that a review of r's opened; of review 0 all that r opened on this head.
func (h *headView) openedThreads(r *quorum.Reviewer, review int64) []quorum.Thread {
	return without(h.snapshot.Threads, func(t quorum.Thread) bool {
		return !r.IsAuthor(t.Author) || t.Review != review && (review != 0 || t.Commit != h.snapshot.PR.Head)
	})
}

// threadOf is the thread of that id; nil if GitHub shows it no more.
func (h *headView) threadOf(id int64) *quorum.Thread {
	return firstOf(h.snapshot.Threads, func(t *quorum.Thread) bool { return t.ID == id })
}

// hasEnded reports whether a thread of r's has ended: somebody who may has resolved it, or a later head has made it
// outdated for a reviewer that reports only what is new. On the head that it objects to a bot resolves nothing, not
// even its own: nothing has changed there.
func (h *headView) hasEnded(r *quorum.Reviewer, t *quorum.Thread) bool {
	isOfHead := t.Commit == h.snapshot.PR.Head || h.isAlike(t.Commit)
	switch {
	case t.Outdated && !isOfHead && r.OnlyNew:
		return true
	case !t.Resolved:
		return false
	case t.ResolvedBy.Bot:
		return !isOfHead
	}
	return h.policy.Threads == quorum.ByAnyone || h.hadNoHand(t.ResolvedBy)
}

// openFindings are the threads of the reviewer's that object and have not ended, of whichever head.
func (v *reviewerView) openFindings() []quorum.Finding {
	return v.withFindings(nil, without(v.head.snapshot.Threads, func(t quorum.Thread) bool {
		return !v.IsAuthor(t.Author) || v.head.hasEnded(v.Reviewer, &t) || v.isMinor(&t)
	}))
}

// severityOf is how grave the reviewer says its thread is; 0 if it does not say, or if somebody else edited that.
func (v *reviewerView) severityOf(t *quorum.Thread) quorum.Severity {
	if t.Edited && !v.IsAuthor(t.Editor) {
		return 0
	}
	return v.texts.severityOf(v.Reviewer, t)
}

// isMinor reports whether a thread lies below the reviewer's min_severity: it is shown and does not object.
func (v *reviewerView) isMinor(t *quorum.Thread) bool {
	severity := v.severityOf(t)
	return severity > 0 && severity < v.MinSeverity // of [quorum.SeverityAny] none is
}

// countObjecting counts the threads that object, and those that do not.
func (v *reviewerView) countObjecting(threads []quorum.Thread) (objecting, minor int) {
	objecting = len(without(threads, func(t quorum.Thread) bool { return v.isMinor(&t) }))
	return objecting, len(threads) - objecting
}

func (v *reviewerView) withFindings(findings []quorum.Finding, threads []quorum.Thread) []quorum.Finding {
	for _, t := range threads {
		findings = append(slices.Clip(findings), quorum.Finding{
			Path: t.Path, Line: t.Line, Body: t.Body, Thread: t.ID, URL: t.URL, Severity: v.severityOf(&t), Below: v.isMinor(&t),
		})
	}
	return findings
}

// dismissalOf is who dismissed a review, if anybody did, and the state that it had before.
func (h *headView) dismissalOf(t *quorum.Text) (by quorum.Account, was string) {
	for _, e := range slices.Backward(h.snapshot.Timeline) { // of a review that was not dismissed none is looked at
		if t.State != "DISMISSED" || e.Kind != quorum.ReviewDismissed || e.Review != t.ID {
			continue
		}
		if e.From != "" && e.From != "DISMISSED" {
			return e.Actor, e.From
		}
		by = e.Actor
	}
	return by, t.State
}

// isDismissed reports whether a person who had no hand in the change dismissed a review: that ends what it objected.
func (h *headView) isDismissed(t *quorum.Text) bool {
	by, _ := h.dismissalOf(t)
	return t.State == "DISMISSED" && h.hadNoHand(by)
}

// endsByThreads reports whether s objects by inline comments alone: resolving them is what may end it.
func (s *statement) endsByThreads() bool {
	return len(s.threads) > 0 && s.Inline && s.reviewState != "CHANGES_REQUESTED"
}

// haveEnded reports whether an objection by inline comments has ended: every thread of it that objects has, and
// none was deleted or edited by somebody else. An objection in words or by CHANGES_REQUESTED does not end that way.
func (v *reviewerView) haveEnded(s *statement) bool {
	isOne := func(o quorum.Objection) bool { return o.TextRef == s.ref && len(s.threads) < o.Threads }
	if !s.endsByThreads() || slices.ContainsFunc(v.head.snapshot.Record.Objections, isOne) {
		return false
	}
	objecting, _ := v.countObjecting(s.threads)
	return !slices.ContainsFunc(s.threads, func(t quorum.Thread) bool {
		isOpen := !v.head.hasEnded(v.Reviewer, &t) || t.Edited && !v.IsAuthor(t.Editor)
		return isOpen && !(objecting > 0 && v.isMinor(&t))
	})
}
