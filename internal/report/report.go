// Package report words a decision: the check's title, summary, text, annotations, and the record in it.
//
// It is pure. One promise holds for everything in it: what a reviewer, a pull request or a log wrote is quoted so that
// it does nothing. No mention is triggered, no HTML, link or image of a stranger's is rendered as ours.
package report

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Check is how our check run must read.
type Check struct {
	Name        string
	Head        string // SHA
	ExternalID  string // names the pull request
	Status      string // in_progress or completed
	Conclusion  string // "" while in_progress
	Title       string // one sentence
	Summary     string // Markdown, at most 65,535 bytes
	Text        string // Markdown, at most 65,535 bytes
	DetailsURL  string // where "Details" leads; "": GitHub's own choice. A check is not written because of it
	Page        Page   // what Summary shows
	Annotations []Annotation
	Described   string // the same for a commit status: at most 140 characters
	OnlyOpen    bool   // completes a check of ours that is open, and writes nothing where there is none
	OrGreen     string // with OnlyOpen: the name under which a green one is completed, too
	Leave       bool   // nothing is written at all
	Retire      []Retired
	Others      []string  // names of checks of ours on the head that other open pull requests may have
	OthersKnown bool      // no others have one there
	Wake        time.Time // when to look again; a look from then on must not rest on old answers
	Restamp     bool      // a completed check that reads so is written all the same if it is of an earlier look
	Threads     bool      // resolving a thread may change the decision: threads must be read at every look
}

// Retired is another check of ours that must not stay open, nor green.
type Retired struct {
	Name  string
	Head  string
	Title string // e.g. "superseded by 3f2c1d9"
}

// An Annotation is a finding with a place in the diff.
type Annotation struct {
	Path    string
	Line    int    // ≥ 1
	Level   string // notice, warning or failure
	Title   string // at most 255 characters
	Message string // at most 64 KB
}

// ExternalID names a pull request in the external_id of its check.
func ExternalID(pr quorum.PR) string { return "review-coordinator " + pr.String() }
