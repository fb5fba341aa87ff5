package review

// This file reads how a run failed from the end of a job's log, or from an annotation.
//
// A log holds strangers' text, because many reviewers print the diff. So it may decide whether a rerun is worthwhile, and
// never a verdict. A message begins its line, or stands behind words that say that something failed; a line that begins
// as those of a diff, of code or of Markdown do holds none.

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The parts of a line: mayExplain matches one that may hold a message; saysFailure what tells a wrapper of a message from
// a sentence; wrapperEnd where a wrapper may end (at a quote it is a call: Error("); keyedValue a value of JSON that may be
// a message; objectStart where JSON begins; foreignText the beginning of what no program says of itself.
var (
	mayExplain = lazyRegexp(
		`error|exce|exhausted|denied|overloaded|unavailable|unauth|disconn|not_?found|insufficient_|invalid_|err_` +
			`|(?:^|\D)[45]\d\d(?:\D|$)`,
	)
	saysFailure = lazyRegexp(
		`error|exception|fail|fatal|panic|aborted|warn|critical|unable|caused by|^(?:codex|claude|gemini|copilot|curl|e)\b`,
	)
	wrapperEnd = lazyRegexp(`: |:: ?|\] ?|\(["']?|\) | [-–—·|] |\b[45]\d\d |^(?:error|fatal|warning|critical) +`)
	keyedValue = lazyRegexp(
		`(?:^ *|["'])(?:type|code|message|status|reason|error|subtype|stop_reason|result)["']? ?: ?` +
			`(?:"((?:[^"\\]|\\.)*)|'((?:[^'\\]|\\.)*)|(\d+) *(?:[,}\]]|$))`,
	)
	objectStart = lazyRegexp(`\{ ?["']|^[ {\[]*["'][\w-]+["'] ?:`)
	foreignText = lazyRegexp("^(?:[-+>]|\\s*(?:\\*\\*|`|\\| |//|#+ ))")
)

const (
	maxLogLine  = 2000            // bytes of a line that are read
	maxWrappers = 12              // around a message: a genuine one has few
	maxRateWait = 5 * time.Minute // of a rate limit: a longer one is a quota's
)

// readLog reads the end of a log. A cause that a rerun cannot mend beats one that may pass.
func readLog(m Material) Reading {
	body := m.Body
	if len(body) > MaxLog {
		body = body[len(body)-MaxLog:]
		body = body[1+strings.IndexByte(body, '\n'):]
	}
	body = ansiCodes().ReplaceAllString(body, "")
	var best, wait Reading // wait: one that stands in a line of its own
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimPrefix(line[:min(len(line), maxLogLine)], "\ufeff")
		stamp, rest, _ := strings.Cut(line, " ") // GitHub puts the time before every line
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err == nil {
			line = rest
		}
		low := strings.ReplaceAll(lowerASCII(line), "’", "'")
		if len(low) < 5 || foreignText().MatchString(low) {
			continue
		}
		hint := Reading{}.withWaitInLine(low, at)
		if hint.statesEnd() {
			wait = hint
		}
		if got := readLogLine(line, low, hint); got.Outcome != 0 && logRank(got) >= logRank(best) {
			best = got
		}
	}
	if best.Outcome == quorum.Limited && !best.statesEnd() {
		best.Reset, best.Until = wait.Reset, wait.Until
	}
	if best.Outcome != 0 {
		return best
	}
	return outcomeOfConclusion(m.Conclusion)
}

// outcomeOfConclusion returns the outcome of a run whose log explains nothing. No conclusion is a verdict.
func outcomeOfConclusion(conclusion string) Reading {
	switch conclusion {
	case "success":
		return Reading{Outcome: quorum.Empty, Reason: quorum.ReasonEmpty}
	case "neutral", "skipped":
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonSkipped}
	case "timed_out":
		return Reading{Outcome: quorum.Hung, Reason: quorum.ReasonHung}
	}
	return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
}

// Outranks reports whether got tells better how a run failed: what a rerun cannot mend beats what may pass.
func (got Reading) Outranks(other Reading) bool { return logRank(got) > logRank(other) }

// logRank orders the readings of a log's lines: the highest decides, of equal ones the last. The higher, the less a rerun helps.
func logRank(r Reading) int {
	order := []quorum.Outcome{quorum.Empty, quorum.Overloaded, quorum.Hung, quorum.Limited, quorum.Declined, quorum.Failed}
	rank := 2 + 2*slices.Index(order, r.Outcome)
	if r.Outcome == quorum.Failed && r.Reason != quorum.ReasonInvalid || // an API calls an empty account an invalid request, too
		r.Reason == quorum.ReasonQuota && !r.statesEnd() {
		rank++
	}
	return rank
}

// readLogLine reads one line of a log; its outcome is 0 if it explains no failure. wait is what the line states of one.
func readLogLine(line, low string, wait Reading) (best Reading) {
	rows := append(logMessages.candidateRows(low), generalNotices.candidateRows(low)...)
	if len(rows) == 0 && !mayExplain().MatchString(low) {
		return best
	}
	for _, part := range messagesIn(low, 3) {
		for _, got := range []Reading{readType(part), rows.readMessage(part), readHTTPCode(part, headlineCode, logCode)} {
			if logRank(got) > logRank(best) {
				best = got
			}
		}
	}
	best.Detail = shortQuote(line)
	if best.Outcome == quorum.Limited {
		best.Reset, best.Until = wait.Reset, wait.Until
		best.Reason = refineLimit(best, low)
	}
	return best
}

// refineLimit tells a rate from a quota: Gemini says "quota exceeded" of a minute and of a day.
func refineLimit(got Reading, low string) quorum.Reason {
	holds := func(s string) bool { return strings.Contains(low, s) }
	switch {
	case holds("per day"), holds("perday"), holds("byday"), holds("limit: 0"):
		return quorum.ReasonQuota
	case holds("per minute"), holds("perminute"), holds("current quota") && got.Reset > 0 && got.Reset <= maxRateWait:
		return quorum.ReasonRateLimit
	}
	return got.Reason
}

// messagesIn returns the rest of a line from each place at which a message may begin: its start, the values of JSON in
// it, and the ends of the wrappers in the first sentence of each, which say that something failed. A value may be JSON
// itself: deep is how often.
func messagesIn(low string, deep int) (parts []string) {
	text := low
	if at := objectStart().FindStringIndex(low); at != nil {
		text = low[:at[0]]
	}
	if text != "" && !foreignText().MatchString(text) {
		text = trimLineMarks(text)
		parts = append(parts, text)
		first, _, _ := strings.Cut(text, ". ")
		if failure := saysFailure().FindStringIndex(first); failure != nil {
			for _, end := range wrapperEnd().FindAllStringIndex(first, maxWrappers) {
				if end[1] > failure[0] && !strings.ContainsAny(text[end[0]:end[1]], `"'`) {
					parts = append(parts, trimLineMarks(text[end[1]:]))
				}
			}
		}
	}
	for _, m := range keyedValue().FindAllStringSubmatch(low, 2*maxWrappers) {
		switch value := m[1] + m[2]; {
		case m[3] != "":
			parts = append(parts, "code "+m[3])
		case deep > 0:
			parts = append(parts, messagesIn(jsonEscapes.Replace(value), deep-1)...)
		}
	}
	return parts
}

var jsonEscapes = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ")

// trimLineMarks cuts off what stands around a message: quotes, brackets, bullets and symbols.
func trimLineMarks(s string) string {
	s = strings.TrimRight(s, " \\\"')]}")
	return strings.TrimLeftFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("<./$", r)
	})
}
