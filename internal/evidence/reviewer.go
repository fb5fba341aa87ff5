package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// reviewerView is what one reviewer left on a head.
type reviewerView struct {
	*quorum.Reviewer
	head     *headView
	texts    *textReader
	threads  threadView
	past     pastView
	runs     workflowRuns
	commands *commandView
	attempts attemptList
	judged   []judgedAttempt // these; before them those for other pull requests with this head that object
	turn     time.Time       // from when on it is waited for, where that is not the head's start
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

// guardedPath finds the changed path that instructs the reviewer; "" where the list of changed files is incomplete.
func (v *attemptView) guardedPath() (path string, guarded bool) {
	event := ""
	if run := v.attempt.run; run != nil {
		event = run.Event
	} else if len(v.Events) == 1 {
		event = v.Events[0]
	}
	patterns := slices.Clone(v.Guard)
	if v.isShared() || v.Workflow != "" && !strings.HasPrefix(v.Workflow, "dynamic/") {
		patterns = append(patterns, without(v.head.policy.Guard, func(pattern string) bool {
			return event == "pull_request_target" && pattern == ".github/workflows/**" // it used the default branch's
		})...)
	}
	if len(patterns) == 0 {
		return "", false
	}
	list, err := pathfilter.CompileWithFolders(patterns)
	if v.head.snapshot.PR.FilesMissing || err != nil { // the error is unreachable: config has compiled them all
		return "", true
	}
	changed := change.Paths(&v.head.snapshot.PR)
	if i := slices.IndexFunc(changed, list.Match); i >= 0 {
		return changed[i], true
	}
	return "", false
}

// A textReader splits each text into lines once, and reads it once for each reviewer, however many runs it may belong to.
type textReader struct {
	pull, keptLines int // the pull request's number, 0 if not known; the lines of all pages, kept or too many
	pages           map[quorum.TextRef]review.LinedText
	read            map[readingKey]any
}

func newTextReader(pull int) *textReader {
	return &textReader{pull: pull, pages: map[quorum.TextRef]review.LinedText{}, read: map[readingKey]any{}}
}

// readingKey names what is read of a text or thread as a reviewer's, of a review with its state and threads.
type readingKey struct {
	what, reviewer string
	ref            quorum.TextRef
	state          string
	threads, minor int
}

// readOnce is the value of a key; where there is none yet it is made.
func readOnce[V any](c *textReader, k readingKey, create func() V) V {
	if got, found := c.read[k].(V); found {
		return got
	}
	made := create()
	c.read[k] = made
	return made
}

// readerOf is the reader of r's texts.
func (c *textReader) readerOf(r *quorum.Reviewer) *review.Reader {
	k := readingKey{what: "reader", reviewer: r.Name}
	return readOnce(c, k, func() *review.Reader { return review.NewReader(*r) })
}

// severityOf is how grave r's comment is that opened a thread; 0 if it does not say.
func (c *textReader) severityOf(r *quorum.Reviewer, t *quorum.Thread) quorum.Severity {
	k := readingKey{what: "severity", reviewer: r.Name, ref: quorum.TextRef{Kind: quorum.TextThread, ID: t.ID}}
	return readOnce(c, k, func() quorum.Severity { return review.SeverityOf(*r, t.Body) })
}

// maxKeptLines bounds what is kept of texts: strangers write as many as they like, of empty lines if they like.
const maxKeptLines = 16 << 10

// pageOf is t in lines.
func (c *textReader) pageOf(t *quorum.Text) review.LinedText {
	p, found := c.pages[t.TextRef]
	if !found {
		p = review.ReadLines(t.Body)
		if c.keptLines += p.Size(); c.keptLines <= maxKeptLines {
			c.pages[t.TextRef] = p
		}
	}
	return p
}

// hasHeading reports whether t opens with r's heading, or needs none.
func (c *textReader) hasHeading(r *quorum.Reviewer, t *quorum.Text) bool {
	k := readingKey{what: "heading", reviewer: r.Name, ref: t.TextRef}
	return r.Heading == "" || readOnce(c, k, func() bool { return c.pageOf(t).HasHeading(r.Heading) })
}

// namedCommit is the commit that t names; "" if it names none.
func (c *textReader) namedCommit(r *quorum.Reviewer, t *quorum.Text) string {
	k := readingKey{what: "commit", reviewer: r.Name, ref: t.TextRef}
	return readOnce(c, k, func() string { return c.pageOf(t).NamedCommit(*r) })
}

// readText reads what t says, as a review in that state with so many threads that object, and so many that do not.
func (c *textReader) readText(r *quorum.Reviewer, t *quorum.Text, state string, threads, minor int) review.Reading {
	return readOnce(c, readingKey{"text", r.Name, t.TextRef, state, threads, minor}, func() review.Reading {
		page, kind := c.pageOf(t), review.Comment
		if t.Kind == quorum.TextReview {
			kind = review.Review
		}
		m := review.Material{Kind: kind, Body: t.Body, LinedText: &page, State: state, Threads: threads, Minor: minor, Pull: c.pull}
		return c.readerOf(r).Read(m)
	})
}
