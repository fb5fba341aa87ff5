package evidence

import (
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A textReader splits each text into lines once, and reads it once for each reviewer, however many runs it may belong to.
type textReader struct {
	pages     map[quorum.TextRef]review.LinedText
	keptLines int // of the pages kept, and of those that were too many
	read      map[readingKey]any
}

func newTextReader() *textReader {
	return &textReader{pages: map[quorum.TextRef]review.LinedText{}, read: map[readingKey]any{}}
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
		m := review.Material{Kind: kind, Body: t.Body, LinedText: &page, State: state, Threads: threads, Minor: minor}
		return c.readerOf(r).Read(m)
	})
}
