// Package review reads what a reviewer wrote: the text of a comment or a review, a check's output, a status, a log.
//
// It promises never to find an approval that is not there. An approval is a clear verdict at a clear place of a text;
// what stands in a fence, a quote or a comment, what is half a sentence, a template, a condition, a contradiction or a
// trick with invisible letters is none. Everything it reads was written by strangers: it only ever quotes them, in
// time linear in the length of the text.
//
// The package is pure. It knows nothing of heads, runs and other texts: package evidence puts those together.
package review

// This file defines a text (Material) and the result of reading it (Reading).

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Kind says where on GitHub a text stands. It limits what the text can prove: a log shows at most how a run failed.
type Kind uint8

const (
	Comment Kind = 1 + iota // an issue comment
	Review                  // a review's body
	Check                   // a check run's output
	Status                  // a commit status' description
	Log                     // a job's log, or its annotations
)

var kindNames = [...]string{"", "comment", "review", "check", "status", "log"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("%%!%d", uint8(k))
}

// ParseKind is the inverse of [Kind.String].
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(kindNames[1:], name); i >= 0 {
		return Kind(i + 1), nil
	}
	return 0, fmt.Errorf("unknown kind %q: comment, review, check, status or log", name)
}

// Material is one text with the facts that GitHub gives about it.
type Material struct {
	Kind       Kind
	Body       string     // hostile
	LinedText  *LinedText // Body in lines, where the caller has it already; else nil
	State      string     // of a review (APPROVED, COMMENTED, …), of a status (success, pending, …), or the status of a check run
	Threads    int        // a review's inline comments that open a thread, and object
	Minor      int        // and those below the reviewer's min_severity
	Conclusion string     // of a check run or, for Log, of the run
	Pull       int        // the number of the pull request that it is about; 0: not known
	Head       string     // the commit of which an approval is asked; "": any that it names
}

// Reading is the result of reading one text. Its Outcome is never zero.
type Reading struct {
	Outcome  quorum.Outcome
	Reason   quorum.Reason
	Detail   string // hostile: a quote of what was recognised, one line of at most 120 runes
	Findings []quorum.Finding
	Reset    time.Duration // Limited: the wait that it states, 0 if none
	Until    time.Time     // Limited: or the moment that it states, zero if none
	Below    bool          // Approved, although it lists findings that do not object; they are in Findings with Below set
	Inline   bool          // Findings only because of its inline comments: it objects no longer than its threads do
	Rule     string        // the field, or the shape and its vendor's file, that decided; "" if none did by itself
	Line     int           // the line in which it stands, counted from 1; 0 if none
	Doubt    bool          // Findings, but only by lists of findings: no field, state or conclusion says so
	NoOpen   bool          // Approved only if none of the reviewer's threads is open, as with OnlyNew

	inline    int  // with Inline: how many comments a sentence of its vendor counts; 0 if none does
	ownWords  bool // Approved by a sentence of its vendor, not by words that anybody writes
	final     bool // by what the policy names: only that nothing was read stands against it
	taken     bool // it would have approved, and something takes that away
	minorOnly bool // Findings, but only minor ones without a file and line: an error message's list of advice looks the same
}

// IsByShape reports whether words of the policy's, or of the preset's vendor, decided.
func (got Reading) IsByShape(preset string) bool {
	return strings.HasPrefix(got.Rule, policyOrigin+" ") || strings.HasPrefix(got.Rule, preset+".json ")
}

// markBelow says of all findings whether they lie below what objects, whatever their severity.
func markBelow(findings []quorum.Finding, isBelow bool) {
	for i := range findings {
		findings[i].Below = isBelow
	}
}

// maxFreeText is the longest text that approves by words that anybody writes. Objections are read in the whole of it.
const maxFreeText = 32 << 10

// MaxText is the longest comment, review, check or status that is read: GitHub keeps 64 KiB. A longer text has no verdict.
const MaxText = 1 << 20

// MaxLog is how much of a log is read, counted from its end.
const MaxLog = 1 << 20
