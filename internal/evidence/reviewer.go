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
	runs     workflowRuns
	attempts []reviewAttempt
	judged   []attemptView // these; before them those for other pull requests with this head that object
	turn     time.Time     // from when on it is waited for, where that is not the head's start

	onLeftHeads func() quorum.Judged // [verdictOnLeftHeads], read once; nil in a view of another time or head
}

// attemptView is a reviewer's view narrowed to one of its attempts.
type attemptView struct {
	*reviewerView
	attempt reviewAttempt
	own     statement // what it came to by itself, of those in [reviewerView].judged alone
}

func (v *reviewerView) hasHeading(t *quorum.Text) bool { return v.texts.hasHeading(v.Reviewer, t) }

func (v *reviewerView) namedCommit(t *quorum.Text) string { return v.texts.namedCommit(v.Reviewer, t) }

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
	objecting, minor := v.countObjecting(s.threads)
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
	pull, lines int // the pull request's number, 0 if not known; the lines of all texts that were split
	pages       map[quorum.TextRef]*review.LinedText
	read        map[readingKey]any
}

func newTextReader(pull int) *textReader {
	return &textReader{pull: pull, pages: map[quorum.TextRef]*review.LinedText{}, read: map[readingKey]any{}}
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

func (c *textReader) readerOf(r *quorum.Reviewer) *review.Reader {
	return readOnce(c, readingKey{what: "reader", reviewer: r.Name}, func() *review.Reader { return review.NewReader(*r) })
}

// severityOf is how grave r's comment is that opened a thread; 0 if it does not say.
func (c *textReader) severityOf(r *quorum.Reviewer, t *quorum.Thread) quorum.Severity {
	k := readingKey{what: "severity", reviewer: r.Name, ref: quorum.TextRef{Kind: quorum.TextThread, ID: t.ID}}
	return readOnce(c, k, func() quorum.Severity { return review.SeverityOf(*r, t.Body) })
}

// pageOf is t in lines. The first 16,384 are kept: strangers write as many as they like.
func (c *textReader) pageOf(t *quorum.Text) *review.LinedText {
	if page := c.pages[t.TextRef]; page != nil {
		return page
	}
	page := review.ReadLines(t.Body)
	if c.lines += 1 + strings.Count(t.Body, "\n"); c.lines <= 16<<10 {
		c.pages[t.TextRef] = &page
	}
	return &page
}

// hasHeading reports whether t opens with r's heading, or needs none.
func (c *textReader) hasHeading(r *quorum.Reviewer, t *quorum.Text) bool {
	k := readingKey{what: "heading", reviewer: r.Name, ref: t.TextRef}
	return r.Heading == "" || readOnce(c, k, func() bool { return c.pageOf(t).HasHeading(r.Heading) })
}

func (c *textReader) namedCommit(r *quorum.Reviewer, t *quorum.Text) string {
	k := readingKey{what: "commit", reviewer: r.Name, ref: t.TextRef}
	return readOnce(c, k, func() string { return c.pageOf(t).NamedCommit(*r) })
}

// readText reads what t says, as a review in that state with so many threads that object, and so many that do not.
func (c *textReader) readText(r *quorum.Reviewer, t *quorum.Text, state string, threads, minor int) review.Reading {
	return readOnce(c, readingKey{"text", r.Name, t.TextRef, state, threads, minor}, func() review.Reading {
		m := review.Material{Kind: review.Comment, Body: t.Body, LinedText: c.pageOf(t), State: state, Pull: c.pull}
		if m.Threads, m.Minor = threads, minor; t.Kind == quorum.TextReview {
			m.Kind = review.Review
		}
		return c.readerOf(r).Read(m)
	})
}
