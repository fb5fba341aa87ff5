package evidence

import (
	"fmt"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A textReader reads texts and keeps what it has read: each text is split into lines once, whichever reviewer is asked
// about, and read once for each reviewer, however many runs it may belong to.
type textReader struct {
	pages     map[quorum.TextRef]review.LinedText
	keptLines int // of the pages kept, and of those that were too many
	facts     map[textKey]*textFacts
	readers   map[string]*review.Reader // by the reviewer's name

	severities map[threadKey]quorum.Severity
}

func newTextReader() *textReader {
	return &textReader{
		pages: map[quorum.TextRef]review.LinedText{}, facts: map[textKey]*textFacts{}, readers: map[string]*review.Reader{},
		severities: map[threadKey]quorum.Severity{},
	}
}

// readerOf is the reader of r's texts.
func (c *textReader) readerOf(r *quorum.Reviewer) *review.Reader {
	reader := c.readers[r.Name]
	if reader == nil {
		reader = review.NewReader(*r)
		c.readers[r.Name] = reader
	}
	return reader
}

// threadKey is a thread as a reviewer's.
type threadKey struct {
	reviewer string
	thread   int64
}

// severityOf is how grave r's comment is that opened a thread; 0 if it does not say.
func (c *textReader) severityOf(r *quorum.Reviewer, t *quorum.Thread) quorum.Severity {
	k := threadKey{r.Name, t.ID}
	got, found := c.severities[k]
	if !found {
		got = review.SeverityOf(*r, t.Body)
		c.severities[k] = got
	}
	return got
}

// textKey is a text as a reviewer's.
type textKey struct {
	reviewer string
	ref      quorum.TextRef
}

// textFacts is what was read of a text so far.
type textFacts struct {
	hasHeading  *bool
	commitRead  bool
	namedCommit string
	readings    map[string]review.Reading // by the review's state and its numbers of threads
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

func (c *textReader) factsOf(r *quorum.Reviewer, t *quorum.Text) *textFacts {
	k := textKey{r.Name, t.TextRef}
	f := c.facts[k]
	if f == nil {
		f = &textFacts{readings: map[string]review.Reading{}}
		c.facts[k] = f
	}
	return f
}

// hasHeading reports whether t opens with r's heading.
func (c *textReader) hasHeading(r *quorum.Reviewer, t *quorum.Text) bool {
	f := c.factsOf(r, t)
	if f.hasHeading == nil {
		yes := c.pageOf(t).HasHeading(r.Heading)
		f.hasHeading = &yes
	}
	return *f.hasHeading
}

// namedCommit is the commit that t names; "" if it names none.
func (c *textReader) namedCommit(r *quorum.Reviewer, t *quorum.Text) string {
	f := c.factsOf(r, t)
	if !f.commitRead {
		f.namedCommit, f.commitRead = c.pageOf(t).NamedCommit(*r), true
	}
	return f.namedCommit
}

// commitNamedAt is the commit that t names beside a line of it; "" if it names none there.
func (c *textReader) commitNamedAt(r *quorum.Reviewer, t *quorum.Text, line int) string {
	return c.pageOf(t).CommitNamedAt(*r, line)
}

// readText reads what t says, as a review in that state with so many threads that object, and so many that do not.
func (c *textReader) readText(r *quorum.Reviewer, t *quorum.Text, state string, threads, minor int) review.Reading {
	f := c.factsOf(r, t)
	key := fmt.Sprint(state, " ", threads, " ", minor)
	got, found := f.readings[key]
	if !found {
		page := c.pageOf(t)
		m := review.Material{Kind: kindOf(t), Body: t.Body, LinedText: &page, State: state, Threads: threads, Minor: minor}
		got = c.readerOf(r).Read(m)
		f.readings[key] = got
	}
	return got
}

func kindOf(t *quorum.Text) review.Kind {
	if t.Kind == quorum.TextReview {
		return review.Review
	}
	return review.Comment
}
