package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A textView binds texts to an attempt.
type textView struct{ *attemptView }

// textsFor are those of the reviewer's account for the attempt, comments first; those of our own are none.
func (v *attemptView) textsFor() (out []statement) {
	for i := range v.head.texts {
		if c, found := (textView{v}).newStatement(&v.head.texts[i]); found {
			out = append(out, c)
		}
	}
	return out
}

// textStatements are the statements in the attempt's texts, oldest first, or, where an artifact is the verdict, in artifacts.
func (v *attemptView) textStatements() []statement {
	if v.Verdict.Kind == quorum.Artifact {
		return v.artifactStatements()
	}
	out := slices.DeleteFunc(v.textsFor(), isOther)
	slices.SortStableFunc(out, func(a, b statement) int { return a.at.Compare(b.at) })
	return out
}

// newStatement decides whether t counts for the attempt; found is false if t is not the reviewer's.
func (v textView) newStatement(t *quorum.Text) (c statement, found bool) {
	if v.Author == "" || !v.IsAuthor(t.Author) || v.head.isOurs(t) {
		return c, false
	}
	c = statement{text: t, ref: t.TextRef, at: t.At, url: t.URL, body: t.Body, reviewState: t.State}
	switch {
	case !v.hasHeading(t):
		c.rejected = withoutHeading
	case c.isReview() && t.Commit != v.head.snapshot.PR.Head:
		c.rejected = reviewOfOther
	case c.isReview() && v.head.isMovedReview(t) && !v.isMovedNo(t):
		c.rejected = reviewMoved
	case c.isReview() && t.State == "PENDING":
		c.rejected = reviewUnsubmitted
	}
	if c.rejected != "" {
		return c, c.rejected != withoutHeading || !v.isShared()
	}
	if !t.Edited.IsZero() {
		c.at = t.Edited
		if t.Editor.Login != "" && !v.IsAuthor(t.Editor) {
			c.reject(editedByOther, t.Editor.Login)
		}
	}
	if why := v.bindText(&c); why != "" {
		c.rejected = why
		return c, true
	}
	v.readStatement(&c)
	return c, true
}

// isMovedNo reports whether a review objects wherever GitHub moved it: moving may void a yes, never a no. Of one from
// an earlier stay on this head, [objectionsOfEarlierStays] says whether it was answered there.
func (v textView) isMovedNo(t *quorum.Text) bool {
	said := *t
	_, said.State = v.head.dismissalOf(t)
	return v.readAgain(&said).Outcome == quorum.Findings && !isWithin(v.head.stays, t.At, true) && !v.hasTakenBack(t)
}

// hasTakenBack reports whether the reviewer approved the head of then after a no that GitHub moved, surely not about this one.
func (v textView) hasTakenBack(no *quorum.Text) bool {
	return len(v.head.stays) == 0 && slices.ContainsFunc(v.head.snapshot.Reviews, func(t quorum.Text) bool {
		isIts := !v.isShared() && v.IsAuthor(t.Author) && v.hasHeading(&t) && t.State == "APPROVED" && t.At.After(no.At)
		return isIts && (t.Commit != v.head.snapshot.PR.Head || v.head.isMovedReview(&t))
	})
}

// bindText dates a statement from when it first stood, before its author edited it, and says why it is not bound.
func (v textView) bindText(c *statement) (why rejection) {
	why = v.whyUnbound(c.text, c.at)
	if why != "" && c.rejected != "" { // what it was before the edit explains what became of an approval
		return v.whyUnbound(c.text, c.text.At)
	}
	stood := v.head.record.firstApproval(v.Name, c.ref)
	isEdited := !stood.IsZero() && c.rejected == "" && stood.Before(c.at) && !stood.Before(v.attempt.began)
	if isEdited && (why == "" || v.whyUnbound(c.text, stood) == "") {
		c.at, why = stood, ""
	}
	return why
}

// readStatement fills in what the text says. A dismissed review is void; an objection only if who dismissed it may end it.
func (v textView) readStatement(c *statement) {
	by, was := v.head.dismissalOf(c.text)
	c.reviewState = was
	v.readAs(c)
	if c.text.State == "DISMISSED" && (c.Outcome != quorum.Findings || v.head.hadNoHand(by)) { // nobody else ends an objection
		c.reject(reviewDismissed, by.Login)
	}
	switch {
	case c.Outcome == quorum.Unrelated && c.isReview() && strings.TrimSpace(c.text.Body) == "":
		c.rejected = onlyReplies
	case c.Outcome == quorum.Unrelated:
		c.rejected = noReview
	case c.Outcome == quorum.Approved:
		v.doubtApproval(c)
	case c.rejected == "" && c.Outcome == quorum.Findings && v.haveEnded(c) && v.mayBeOfOldBase(c):
		c.rejected = ofOldBase
	}
	switch isEdited := !c.text.Edited.IsZero(); {
	case v.attempt.wasBefore(c):
		c.rejected = askedAgainSince
	case isEdited && c.Outcome == quorum.Findings:
		c.at = c.text.Edited // bindText dates approvals; what was edited into a no was said then
	case isEdited && c.text.Editor.Login == "": // doubt, which voids no objection
		c.reject(editedByOther, "")
	}
}

// doubtApproval makes an approval void that may be about something else, answers a command, or objected in its attempt.
func (v textView) doubtApproval(c *statement) {
	run, named := v.attempt.run, v.namedCommit(c.text)
	pull, isOfOther := "", false
	if run != nil && v.head.snapshot.SameBranch != nil {
		pull, isOfOther = v.head.otherPullOfRun(run, true)
	}
	by, isCommanded := v.head.commandBefore(v.Reviewer, c)
	isHere := func(o *quorum.Objection) bool { return o.Carried == "" || v.head.record.concerns(o) }
	objected := func(o quorum.Objection) bool { return o.Reviewer == v.Name && o.TextRef == c.ref && isHere(&o) }
	switch {
	case named != "" && v.head.isVague(named):
		c.rejected = vagueCommit
	case v.Workflow == "" && !c.isReview() && !v.head.isHead(named) && v.head.mayHaveHadOtherHead():
		c.rejected = unnamedCommit
	case c.rejected != "":
	case isOfOther:
		c.reject(ofOtherPull, pull)
	case isCommanded:
		c.reject(answersCommand, by)
	case v.mayBeOfOldBase(c):
		c.rejected = ofOldBase
	case run != nil && v.isShared() && slices.ContainsFunc(v.head.snapshot.Record.Objections, objected):
		c.reject(editedIntoYes, c.text.Editor.Login)
	}
}

// wasBefore reports whether a reviewer without a run was asked again since a statement that holds no verdict.
func (a *reviewAttempt) wasBefore(s *statement) bool {
	return a.wasAskedAgain() && !s.isVerdict() && s.rejected == "" && s.at.Before(a.began)
}

// wasAskedAgain reports whether a reviewer without a run was asked for a further review.
func (a *reviewAttempt) wasAskedAgain() bool { return a.run == nil && (a.number > 1 || a.byPerson) }

// whyUnbound says why a text neither names the head nor was written during the attempt; "" if it is bound to both.
func (v textView) whyUnbound(t *quorum.Text, at time.Time) rejection {
	if v.head.cycle.isBeforeBase(at) {
		return beforeBase
	}
	named := v.namedCommit(t)
	about := v.head.isHead(named) || t.Kind == quorum.TextReview // by its commit_id
	if v.head.isOtherCommit(named) && !v.isNoticeOfHead(t, at) {
		return namesOtherCommit.with(named)
	}
	switch {
	case v.Workflow != "":
		return v.whyOutsideRun(t, about, at)
	case about:
		return ""
	case v.isShared():
		return anyWorkflows
	case at.Before(v.head.cycle.arrival):
		return beforeHead
	}
	return ""
}

// isNoticeOfHead reports whether a text says since the start that its reviewer works, or why there is no review, and
// names no other commit where it says so: what it names elsewhere is of an older review that stands there still.
func (v textView) isNoticeOfHead(t *quorum.Text, at time.Time) bool {
	if at.Before(v.head.cycle.start) {
		return false
	}
	got := v.texts.readText(v.Reviewer, t, t.State, 0, 0)
	isNotice := got.Outcome == quorum.Running || saysWhy(got.Outcome)
	return isNotice && !v.head.isOtherCommit(v.texts.pageOf(t).CommitNamedAt(*v.Reviewer, got.Line))
}

// whyOutsideRun is [textView.whyUnbound] for a workflow's reviewer.
func (v textView) whyOutsideRun(t *quorum.Text, about bool, at time.Time) rejection {
	isNamedByOther := about && isAnyUnderWay(v.runs.oldBase, at) // a run for the base of before names this head, too
	isOwn := func(a reviewAttempt) bool { return v.mayHaveLeft(&a, at) }
	// That t approved as it stands the record holds: a run of another head may begin anew later.
	isKnown := !latest(t.At, t.Edited).After(v.head.record.firstApproval(v.Name, t.TextRef))
	switch {
	case v.attempt.isOfTwin && slices.ContainsFunc(v.attempts, isOwn):
		return outsideAttempt
	case v.attempt.run == nil && about && !v.isShared() && !isNamedByOther:
		return ""
	case v.attempt.run == nil:
		return noRunKnown.with(v.Workflow)
	case about && !v.isShared() && !at.Before(v.attempt.began) && !isNamedByOther:
		return ""
	case !v.mayHaveLeft(&v.attempt, at):
		return outsideAttempt
	case (isNamedByOther || !about && isAnyUnderWay(v.runs.others, at)) && !isKnown:
		if s := v.readAgain(t); v.head.now != nil && s.Outcome == quorum.Findings {
			return ""
		}
		return duringOtherRun
	}
	return ""
}

// mayBeOfOldBase reports whether an approval may have been begun against the base of before, as nothing shows of a text: it
// is its reviewer's first answer since the base changed, and the diff with it, and the reviewer was at work then, or may
// have been. Where a workflow has no run since, a run of before may have left it.
func (v textView) mayBeOfOldBase(c *statement) bool {
	changed := diffChangedByBase(v.head)
	isKnown := slices.ContainsFunc(v.head.record.approvalsOf(v.Name), func(st quorum.Stood) bool {
		return st.TextRef == c.ref && st.Base == v.head.record.base && st.At.After(changed)
	})
	if v.Workflow != "" {
		return v.attempt.run == nil && len(v.runs.oldBase) > 0
	}
	isAnew := func(in *quorum.Intent) bool { return in.Free && in.At.Before(c.at) } // asked for since
	wasHere := !changed.IsZero() && firstArrival(v.head.snapshot).Before(changed)
	return wasHere && !isKnown && !v.hasAnswered(changed, c.at, c.ref) && !v.wasIdleAt(changed) &&
		!slices.ContainsFunc(v.head.record.requestsTo(v.Name), isAnew)
}

// diffChangedByBase is when the base changed last, and with it the diff, or what reviewers may take their instructions
// from: a branch of the author's own holds what the author likes. It is zero if that never was.
func diffChangedByBase(h *headView) time.Time {
	for _, e := range slices.Backward(h.timeline) {
		files := filesAgainst(h, e.To)
		isSame := files != "" && files == filesAgainst(h, e.From) && e.From == h.snapshot.PR.DefaultBranch
		if e.Kind == quorum.BaseChanged && !isSame {
			return e.At
		}
	}
	return time.Time{}
}

// filesAgainst is [quorum.DiffPrint].Files of the head against a base; "" if that is not known.
func filesAgainst(h *headView, base string) string {
	if base == h.snapshot.PR.BaseRef && h.now == nil {
		return h.snapshot.PR.Diff.Files
	}
	isIt := func(d *quorum.HeadDiff) bool { return d.Head == h.snapshot.PR.Head && d.Base == base }
	return cmp.Or(firstOf(h.snapshot.Record.Heads, isIt), &quorum.HeadDiff{}).Files
}

func (v textView) hasAnswered(after, before time.Time, but quorum.TextRef) bool {
	return slices.ContainsFunc(v.head.texts, func(t quorum.Text) bool {
		at := latest(t.At, t.Edited)
		isThen := at.After(after) && at.Before(before) && !at.Before(v.head.cycle.arrival)
		if !isThen || t.TextRef == but || !v.IsAuthor(t.Author) || v.head.isOurs(&t) || !v.hasHeading(&t) {
			return false
		}
		named, got := v.namedCommit(&t), v.readAgain(&t)
		isOther := t.Kind == quorum.TextReview && t.Commit != v.head.snapshot.PR.Head || named != "" && !v.head.isHead(named)
		isAnswer := got.isVerdict() || saysWhy(got.Outcome)
		return !isOther && (isAnswer || got.Outcome == quorum.Malformed || got.Outcome == quorum.Partial)
	})
}

// wasIdleAt reports whether the reviewer had answered before a moment, and no push, request or word had asked it since.
func (v textView) wasIdleAt(at time.Time) bool {
	asked := v.head.cycle.arrival
	for _, in := range v.head.record.record.Intents {
		isOfChange := in.Base == v.head.record.base && in.At.After(at.Add(-intentClockSlack))
		if in.Kind == quorum.Ask && in.Reviewer == v.Name && !isOfChange {
			asked = latest(asked, earliest(in.At, at))
		}
	}
	for _, e := range v.head.timeline {
		isRequest := isReviewRequest(&e, v.Reviewer) && !e.Actor.Same(v.head.snapshot.Ours)
		isStart := e.Kind == quorum.Reopened || e.Kind == quorum.ReadyForReview || e.Kind == quorum.BaseChanged && e.At.Before(at)
		if (isStart || isRequest) && !e.At.After(at) {
			asked = latest(asked, e.At)
		}
	}
	for _, t := range v.head.texts {
		if !t.At.After(at) && v.mayAsk(&t) {
			asked = latest(asked, earliest(latest(t.At, t.Edited), at))
		}
	}
	return v.hasAnswered(asked, at, quorum.TextRef{})
}

// mayAsk reports whether a text may have asked the reviewer for a review, as it stands or before a person edited it.
func (v textView) mayAsk(t *quorum.Text) bool {
	body := strings.ToLower(t.Body)
	isToIt := slices.ContainsFunc(v.Addresses(), func(name string) bool { return strings.Contains(body, name) })
	return !v.IsAuthor(t.Author) && !t.Author.Same(v.head.snapshot.Ours) &&
		(isToIt || isRequest(t, v.Reviewer) || !t.Edited.IsZero() && !t.Author.Bot)
}
