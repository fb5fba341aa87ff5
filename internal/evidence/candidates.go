package evidence

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A candidate is a text by a reviewer's account, with what it says for an attempt or the reason for which it does not
// count. What counts and what is explained are both read from the candidates.
type candidate struct {
	statement
	text        *quorum.Text
	rejected    rejection
	isStatement bool // it is not rejected, or it is a void statement: that explains what became of an approval
}

// reject rejects a candidate that is no statement of the attempt.
func (c *candidate) reject(why rejection) {
	c.rejected, c.isStatement, c.void = why, false, false
}

// rejectVoid rejects a candidate that stays a void statement.
func (c *candidate) rejectVoid(why rejection, reason quorum.Reason, detail string) {
	c.rejected = why
	c.setVoid(reason, detail)
}

// A textView is what one reviewer's texts say as those of one of its attempts.
type textView struct {
	*reviewerView
	attempt *reviewAttempt
}

// candidates are the texts by the reviewer's account for attempt a, comments first, each oldest first. Texts of our
// own, and those that another workflow wrote as the same account, are none.
func (v *reviewerView) candidates(a *reviewAttempt) (out []candidate) {
	texts := textView{v, a}
	for i := range v.head.texts {
		if c, found := texts.newCandidate(&v.head.texts[i]); found {
			out = append(out, c)
		}
	}
	return out
}

// textStatements are the statements among the candidates for a, oldest first; of a reviewer whose verdict is an
// artifact those in its artifacts.
func (v *reviewerView) textStatements(a *reviewAttempt) (out []statement) {
	if v.Verdict.Kind == quorum.Artifact {
		return v.artifacts.artifactStatements(a)
	}
	texts := textView{v, a}
	for i := range v.head.texts {
		if c, found := texts.newCandidate(&v.head.texts[i]); found && c.isStatement {
			out = append(out, c.statement)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at.Before(out[j].at) })
	return out
}

// newCandidate decides whether t counts for the attempt: an edit by anybody but the reviewer makes it void. found is
// false if t is not the reviewer's.
func (v textView) newCandidate(t *quorum.Text) (c candidate, found bool) {
	if v.Author == "" || !v.IsAuthor(t.Author) || v.head.isOurs(t) {
		return candidate{}, false
	}
	c = candidate{text: t, isStatement: true}
	c.ref, c.at, c.url, c.body, c.reviewState = t.TextRef, t.At, t.URL, t.Body, t.State
	c.isReview = t.Kind == quorum.TextReview
	switch {
	case !v.hasHeading(t):
		c.reject(withoutHeading)
		return c, !v.isShared()
	case c.isReview && t.Commit != v.head.snapshot.PR.Head:
		c.reject(reviewOfOther)
		return c, true
	case c.isReview && v.head.isMovedReview(t) && !v.isMovedNo(t):
		c.rejectVoid(reviewMoved, quorum.ReasonMoved, "")
		return c, true
	case c.isReview && t.State == "PENDING":
		c.reject(reviewUnsubmitted)
		return c, true
	}
	if !t.Edited.IsZero() {
		c.at = t.Edited
		if !v.IsAuthor(t.Editor) {
			c.rejectVoid(editedByOther, quorum.ReasonEdited, t.Editor.Login)
		}
	}
	if why := v.bind(&c); why != "" {
		c.reject(cmp.Or(c.rejected, why)) // an edit by somebody else is reason enough, wherever the text belongs
		return c, true
	}
	if c.isReview {
		c.threads = v.head.openedThreads(v.Reviewer, t.ID)
	}
	v.readCandidate(&c)
	if c.Outcome == quorum.Findings && !t.Edited.IsZero() {
		c.at = t.Edited // bind dates an approval from when it first stood; what was edited into an objection was said then
	}
	return c, true
}

// isMovedNo reports whether a review objects wherever GitHub moved it: moving may void a yes, never a no. Of one from an
// earlier stay on this head, [objectionsOfEarlierStays] says whether it was answered there.
func (v textView) isMovedNo(t *quorum.Text) bool {
	said := *t
	if t.State == "DISMISSED" {
		_, said.State = v.head.dismissalOf(t.ID)
	}
	s := v.readAgain(&said)
	return s.Outcome == quorum.Findings && !isWithin(v.head.stays, t.At, true) && !v.hasTakenBack(t)
}

// hasTakenBack reports whether the reviewer approved after a no that GitHub moved: on the head of then. Where this head was here
// before, the no may be about it.
func (v textView) hasTakenBack(no *quorum.Text) bool {
	return len(v.head.stays) == 0 && slices.ContainsFunc(v.head.snapshot.Reviews, func(t quorum.Text) bool {
		isEarlier := t.Commit != v.head.snapshot.PR.Head || v.head.isMovedReview(&t)
		return !v.isShared() && v.IsAuthor(t.Author) && v.hasHeading(&t) && t.State == "APPROVED" && t.At.After(no.At) && isEarlier
	})
}

// bind dates a candidate from when it first stood, and returns why it is not bound to the attempt; "" if it is.
func (v textView) bind(c *candidate) (why rejection) {
	why = v.whyUnbound(c.text, c.at)
	if why != "" && c.void { // what it was before the edit explains what became of an approval
		return v.whyUnbound(c.text, c.text.At)
	}
	stood, found := v.head.record.firstApproval(v.Name, c.ref)
	if !found || c.void || !stood.Before(c.at) || stood.Before(v.attempt.began) {
		return why
	}
	if why == "" || v.whyUnbound(c.text, stood) == "" {
		c.at, why = stood, "" // its author edited it later
	}
	return why
}

// readCandidate fills in what the text says. A review that was dismissed is void, unless it objects and who dismissed
// it may not end that.
func (v textView) readCandidate(c *candidate) {
	dismissed, by := c.text.State == "DISMISSED", quorum.Account{}
	if dismissed {
		by, c.reviewState = v.head.dismissalOf(c.text.ID)
	}
	objecting, minor := v.threads.countObjecting(c.threads)
	c.Reading = v.texts.readText(v.Reviewer, c.text, c.reviewState, objecting, minor)
	if dismissed {
		if c.Outcome != quorum.Findings || v.head.hadNoHand(by) { // nobody else ends an objection
			c.rejectVoid(reviewDismissed, quorum.ReasonDismissed, by.Login)
		}
	}
	switch {
	case c.Outcome == quorum.Unrelated && c.isReview && strings.TrimSpace(c.text.Body) == "":
		c.reject(cmp.Or(c.rejected, onlyReplies))
	case c.Outcome == quorum.Unrelated:
		c.reject(cmp.Or(c.rejected, noReview))
	case c.Outcome == quorum.Approved:
		v.doubtApproval(c)
	case c.rejected == "" && c.Outcome == quorum.Findings && v.threads.haveEnded(&c.statement) && v.mayBeOfOldBase(c):
		c.rejectVoid(ofOldBase, quorum.ReasonOldBase, "")
	}
	if c.isStatement && v.attempt.wasBefore(&c.statement) {
		c.reject(askedAgainSince)
	}
}

// doubtApproval makes an approval void that may be about another commit or pull request, that answers a command, or
// that objected in the same attempt.
func (v textView) doubtApproval(c *candidate) {
	run, unnamed := v.attempt.run, v.whyUnnamed(c)
	var pull string
	var isOfOther bool
	if run != nil && v.head.snapshot.SameBranch != nil {
		pull, isOfOther = v.head.otherPullOfRun(run, true)
	}
	by, isCommanded := v.head.commandBefore(v.Reviewer, &c.statement)
	switch {
	case unnamed != "":
		c.rejectVoid(unnamed, quorum.ReasonUnnamed, c.voidDetail)
	case c.rejected != "":
	case isOfOther:
		c.rejectVoid(ofOtherPull, quorum.ReasonOtherPull, pull)
	case isCommanded:
		c.rejectVoid(answersCommand, quorum.ReasonCommand, by)
	case v.mayBeOfOldBase(c):
		c.rejectVoid(ofOldBase, quorum.ReasonOldBase, "")
	case run != nil && v.isShared() && v.head.record.hasObjected(v.Name, c.ref):
		c.rejectVoid(editedIntoYes, quorum.ReasonEdited, c.text.Editor.Login)
	}
}

// whyUnnamed says why an approval may be about another commit than the head; "" if it cannot.
func (v textView) whyUnnamed(c *candidate) rejection {
	named := v.namedCommit(c.text)
	switch {
	case named != "" && v.head.isVague(named):
		return vagueCommit
	case v.Workflow == "" && !c.isReview && !v.head.isHead(named) && v.head.mayHaveHadOtherHead():
		return unnamedCommit
	}
	return ""
}

// wasBefore reports whether a statement of a reviewer without a run belongs to the attempt before: it holds no verdict,
// and the reviewer was asked again since.
func (a *reviewAttempt) wasBefore(s *statement) bool {
	return a.wasAskedAgain() && !s.isVerdict() && !s.void && s.at.Before(a.began)
}

// wasAskedAgain reports whether a reviewer without a run was asked for a further review.
func (a *reviewAttempt) wasAskedAgain() bool { return a.run == nil && (a.number > 1 || a.byPerson) }
