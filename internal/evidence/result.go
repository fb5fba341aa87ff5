package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// attemptView is a reviewer's view narrowed to one of its attempts.
type attemptView struct {
	*reviewerView
	attempt reviewAttempt
}

// isCancelledByUs reports whether the record holds our cancel of this attempt.
func (v *attemptView) isCancelledByUs() bool {
	return v.head.record.hasIntent(quorum.Cancel, v.attempt.run.ID, v.attempt.number)
}

// An attemptResult is the outcome of an attempt, before the policy is applied to it.
type attemptResult struct {
	outcome      quorum.Outcome
	reason       quorum.Reason
	detail       string
	at           time.Time // when the outcome was reached
	begun        time.Time // when the attempt or check began that an approval is from, as far as time tells
	isHeldUp     bool      // of an approval by a check: another check of that name is under way
	ref          quorum.TextRef
	url          string
	findings     []quorum.Finding
	hasThreads   bool           // resolving threads would end the objection
	isOlder      bool           // of an objection that stands: it was said before the newest attempt
	newestResult *attemptResult // of an objection that stands: what the newest attempt has come to since
	saidRun      int64          // of an objection that stands: the run and attempt in which it was said; 0: as recorded
	saidAttempt  int
	carried      string        // of an objection that stands: the other head on which it was said
	pull         int           // of an objection that stands: the other pull request on which it was said; 0: this one
	ended        quorum.Ending // how a person ended what was objected; no approval came since
	isDoubt      bool          // it is only read liberally as an objection: it objects once the attempt has ended
	excerpt      string        // of an answer without a verdict
	limitReset   time.Time     // of a limit
	void         time.Time     // of an answer that does not count, and may have been begun against the base of before
}

// isVerdict reports whether the result approves or objects.
func (r *attemptResult) isVerdict() bool {
	return r.outcome == quorum.Approved || r.outcome == quorum.Findings
}

// resultOf is a statement's own result.
func resultOf(s *statement) attemptResult {
	return attemptResult{outcome: s.Outcome, reason: s.Reason, detail: s.Detail, at: s.at, ref: s.ref, url: s.url}
}

// declinedResult is the result of a void approval, where nothing else was said.
func declinedResult(s *statement) attemptResult {
	return attemptResult{outcome: quorum.Declined, reason: voidReasons[s.rejected], detail: s.voidDetail, at: s.at, ref: s.ref, url: s.url}
}

// objectionResult is the result of a statement that objects.
func (v *reviewerView) objectionResult(s *statement) attemptResult {
	got := resultOf(s)
	got.outcome, got.reason, got.findings = quorum.Findings, quorum.ReasonFindings, slices.Clip(s.Findings)
	got.isDoubt = s.Doubt
	got.findings = v.threads.withFindings(got.findings, s.threads)
	got.hasThreads = s.endsByThreads()
	return got
}

// withKnownPaths returns findings with their paths as the pull request has them: readers know neither of a folder "a", as
// of a diff's name, nor that a name begins with its repository's.
func (h *headView) withKnownPaths(findings []quorum.Finding) []quorum.Finding {
	known := make(map[string]bool, len(h.snapshot.PR.Files))
	for _, f := range h.snapshot.PR.Files {
		known[f.Path] = true
	}
	var all []quorum.Finding
	for _, f := range findings {
		names := []string{f.Path, "a/" + f.Path, "b/" + f.Path, strings.TrimPrefix(f.Path, h.snapshot.PR.Repo+"/")}
		if i := slices.IndexFunc(names, func(path string) bool { return known[path] }); i >= 0 && f.Thread == 0 {
			f.Path = names[i]
		}
		all = append(all, f)
	}
	return all
}

func runRef(run *quorum.Run) quorum.TextRef { return quorum.TextRef{Kind: quorum.TextRun, ID: run.ID} }

// resetOf is when a limit ends, by a text written at that time; zero if the text does not say.
func resetOf(r *review.Reading, at time.Time) time.Time {
	if r.Reset > 0 {
		return at.Add(r.Reset)
	}
	return r.Until
}

// excerptOf is the beginning of a text, at most 600 characters.
func excerptOf(s string) string {
	characters := []rune(strings.TrimSpace(s))
	if len(characters) > 600 {
		characters = append(characters[:600], '…')
	}
	return string(characters)
}
