package review

// This file defines what one field, list or sentence of a text says, and makes a reading of it.

import "github.com/review-coordinator/coordinator/internal/quorum"

// vote is the meaning of one field, list or sentence.
type vote uint8

const (
	silent           vote = iota // says nothing
	approves                     // a clear yes
	objects                      // a clear no
	unfilledTemplate             // a template's value that was not filled in
	conditionalYes               // a yes that does not stand alone
	yesAndNo                     // a yes and a no, which contradict each other
	unclear                      // none of these
)

// ruling is the vote of all fields of a text together, with a quote.
type ruling struct {
	vote   vote
	detail string
	rule   string // the field or shape that decided, and where it is listed
	line   int    // the index of its line; of an approval the last one
}

// toReading returns the reading of a ruling by itself.
func (r ruling) toReading() Reading {
	got := Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: r.detail, Rule: r.rule, Line: r.line + 1}
	switch r.vote {
	case approves:
		got.Outcome, got.Reason = quorum.Approved, quorum.ReasonApproved
	case objects:
		got.Outcome, got.Reason = quorum.Findings, quorum.ReasonFindings
	case unfilledTemplate:
		got.Reason = quorum.ReasonTemplate
	case conditionalYes:
		got.Reason = quorum.ReasonConditional
	case yesAndNo:
		got.Reason = quorum.ReasonContradicts
	case silent:
		got.Line = 0
	case unclear:
	}
	return got
}
