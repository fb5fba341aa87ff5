package evidence

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// reviewerView is what one reviewer left on a head.
type reviewerView struct {
	*quorum.Reviewer
	head      *headView
	texts     *textReader
	artifacts artifactView
	threads   threadView
	past      pastView
	runs      workflowRuns
	commands  *commandView
	attempts  attemptList
	judged    []judgedAttempt // these attempts, and before them those for other pull requests with this head that object
	turn      time.Time       // from when on it is waited for, where that is not the head's start
}

// attemptView is a reviewer's view narrowed to one of its attempts.
type attemptView struct {
	*reviewerView
	attempt reviewAttempt
}

// judgedAttempt is an attempt with what it came to by itself.
type judgedAttempt struct {
	attemptView
	got statement
}

func newReviewerView(h *headView, texts *textReader, commands *commandView, r *quorum.Reviewer) *reviewerView {
	runs := h.runsOf(r)
	return &reviewerView{
		Reviewer: r, head: h, texts: texts, runs: runs, commands: commands,
		artifacts: artifactView{Reviewer: r, head: h},
		threads:   threadView{Reviewer: r, head: h, texts: texts},
		past:      pastView{Reviewer: r, head: h},
		attempts:  attemptsOfRuns(h, r, runs.counted),
	}
}

// hasHeading reports whether t opens with the reviewer's heading, or needs none.
func (v *reviewerView) hasHeading(t *quorum.Text) bool { return v.texts.hasHeading(v.Reviewer, t) }

// namedCommit is the commit that t names; "" if it names none.
func (v *reviewerView) namedCommit(t *quorum.Text) string { return v.texts.namedCommit(v.Reviewer, t) }

// isByConclusion reports whether the conclusion of r's run is its verdict.
func isByConclusion(r *quorum.Reviewer) bool {
	return r.Verdict.Kind == quorum.Conclusion && r.Check == "" && r.Status == ""
}

// isShared reports whether others write as the reviewer's author, too: all workflows write as one account.
func (v *reviewerView) isShared() bool { return v.Author == quorum.ActionsBot }

// readAgain is what a text says as it stands, wherever it may count.
func (v *reviewerView) readAgain(t *quorum.Text) statement {
	s := statement{text: t, ref: t.TextRef, reviewState: t.State}
	v.readAs(&s)
	return s
}

// readAs reads the text of a statement, as a review in its state with the threads that it opened.
func (v *reviewerView) readAs(s *statement) {
	if s.isReview() {
		s.threads = v.head.openedThreads(v.Reviewer, s.ref.ID)
	}
	objecting, minor := v.threads.countObjecting(s.threads)
	s.Reading = v.texts.readText(v.Reviewer, s.text, s.reviewState, objecting, minor)
}
