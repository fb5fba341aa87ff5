package review

// This file reads how a run failed from the end of a job's log, or from an annotation.
//
// A log holds strangers' text, because many reviewers print the diff. So it may decide whether a rerun is worthwhile, and
// never a verdict. A message must begin its line, after the marks that runners and loggers put before a message; a line
// of a diff begins with something else.

import (
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The parts of a line: codeMessage is a message by its HTTP code alone, which is tried where no row of logMessages matches;
// exceptionPrefix and levelPrefix are what programs write before a message.
var (
	codeMessage = lazyRegexp(
		`^(?:(?:http(?:/[\d.]+)?|(?:http )?status(?: code)?|error code|code` +
			`|response|server returned|got|received|api error|unexpected status` +
			`|request failed with status(?: code)?|(?:client|server) error)["']?(?: status)?[ :=]{1,3}["'(]?([45]\d\d)\b` +
			`|([45]\d\d)[ :,-]{1,3}(?:service|too many|internal|bad|gateway|unauthorized|forbidden|client` +
			`|payment|request|server|unprocessable|not found|overloaded|{|\{)` +
			`|(?:[\w.':-]+ ){0,6}[\w.'-]+ ?\(http (?:status )?([45]\d\d)\))`,
	)
	exceptionPrefix = lazyRegexp(`^[\w.$/-]{1,80}(?:error|exception|failure)(?:: | \[[^\]]{0,40}\]: )`)
	levelPrefix     = lazyRegexp(
		`^(?:error|err|fatal|failed|failure|warning|warn|critical|panic|uncaught|caused by|exception` +
			`|reason|remote|e|npm err!|npm error|api error|detail|details|cause` +
			`|message|msg|error message|(?:http )?[45]\d\d|http [45]\d\d` +
			`|codex|claude|gemini|unable to access '[^']{1,200}'|curl: \(22\))` +
			`(?:"?: ?| - |\] ?| +)`,
	)
)

// jsonMessageStart matches the places in a line of JSON at which a message begins.
var jsonMessageStart = lazyRegexp(`"(?:type|code|message|status|reason|error|subtype|stop_reason)" ?: ?(?:"|\d)`)

// maxLogLine is the number of bytes of a line that are read, and maxLogRows the number of rows that are tried on it: a
// genuine message holds the words of few.
const (
	maxLogLine = 2000
	maxLogRows = 8
)

// readLog reads the end of a log. A cause that a rerun cannot mend beats one that may pass.
func readLog(m Material) Reading {
	body := m.Body
	if len(body) > MaxLog {
		body = body[len(body)-MaxLog:]
		if i := strings.IndexByte(body, '\n'); i >= 0 {
			body = body[i+1:]
		}
	}
	if strings.IndexByte(body, 0x1b) >= 0 {
		body = ansiCodes().ReplaceAllString(body, "")
	}
	var best Reading
	var wait Reading // a wait that stands in a line of its own
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		got, ok := readLogLine(line)
		if hint := statedWait(line); hint.Reset > 0 || !hint.Until.IsZero() {
			wait = hint
		}
		if ok && logRank(got) >= logRank(best) {
			best = got
		}
	}
	if best.Outcome == quorum.Limited && best.Reset == 0 && best.Until.IsZero() {
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

// logRank orders the readings of a log's lines: the highest decides, of equal ones the last.
func logRank(r Reading) int {
	switch r.Outcome {
	case quorum.Failed:
		if r.Reason == quorum.ReasonInvalid { // an API calls an empty account an invalid request, too
			return 7
		}
		return 8
	case quorum.Declined:
		return 6
	case quorum.Limited:
		if r.Reason == quorum.ReasonQuota && r.Reset == 0 {
			return 5
		}
		return 4
	case quorum.Hung:
		return 3
	case quorum.Overloaded:
		return 2
	case quorum.Empty:
		return 1
	}
	return 0
}

// readLogLine reads one line of a log; ok is false if it explains no failure.
func readLogLine(line string) (Reading, bool) {
	if len(line) > maxLogLine {
		line = line[:maxLogLine]
	}
	line = cutTimestamp(strings.TrimPrefix(line, "\ufeff"))
	if len(line) < 5 || line[0] == '+' || line[0] == '-' || line[0] == '>' {
		return Reading{}, false
	}
	low := strings.ReplaceAll(lowerASCII(line), "’", "'")
	rows := logMessages.candidateRows(inLog, low, maxLogRows)
	coded := hasHTTPCode(low) &&
		(strings.Contains(low, "http") || strings.Contains(low, "status") || strings.Contains(low, "code") ||
			strings.Contains(low, "error") || low[0] == '4' || low[0] == '5')
	if len(rows) == 0 && !coded {
		return Reading{}, false
	}
	var best Reading
	for _, part := range messageStarts(low) {
		got, ok := matchMessage(part, rows, coded)
		if ok && logRank(got) > logRank(best) {
			best = got
		}
	}
	if best.Outcome == 0 {
		return best, false
	}
	best.Detail = shortQuote(line)
	return best.refineLimit(low), true
}

// refineLimit tells a rate from a quota where one sentence serves for both: Gemini says "quota exceeded" of a minute and
// of a day.
func (got Reading) refineLimit(low string) Reading {
	if got.Outcome != quorum.Limited && got.Reason != quorum.ReasonBilling {
		return got
	}
	if got.Outcome == quorum.Limited {
		got = got.withWaitInLine(low)
	}
	day := strings.Contains(low, "per day") || strings.Contains(low, "perday") || strings.Contains(low, "limit: 0")
	minute := strings.Contains(low, "per minute") || strings.Contains(low, "perminute")
	switch {
	case got.Outcome != quorum.Limited:
	case day:
		got.Reason = quorum.ReasonQuota
	case minute, got.Reset > 0 && got.Reset <= maxRateWait && strings.Contains(low, "current quota"):
		got.Reason = quorum.ReasonRateLimit
	}
	return got
}

// maxRateWait is the longest wait of a rate limit; a longer one is a quota's.
const maxRateWait = 5 * time.Minute

// matchMessage reads a message that stands without the marks of loggers before it.
func matchMessage(part string, rows messageTable, coded bool) (Reading, bool) {
	if got, ok := rows.readMessage(part); ok || !coded {
		return got, ok
	}
	if m := codeMessage().FindStringSubmatch(part); m != nil {
		outcome, reason, ok := outcomeOfCode(m[1] + m[2] + m[3])
		return Reading{Outcome: outcome, Reason: reason}, ok
	}
	return Reading{}, false
}

// messageStarts returns the rest of a line from each place at which a message may begin.
func messageStarts(low string) (parts []string) {
	for range 8 {
		low = trimLineMarks(low)
		if low == "" {
			break
		}
		parts = append(parts, low)
		next := low
		switch {
		case strings.HasPrefix(low, "##["):
			_, next, _ = strings.Cut(low, "]")
		case strings.HasPrefix(low, "::"):
			_, next, _ = strings.Cut(low[2:], "::")
		default:
			if m := exceptionPrefix().FindString(low); m != "" {
				next = low[len(m):]
			} else if m := levelPrefix().FindString(low); m != "" {
				next = low[len(m):]
			}
		}
		if len(next) == len(low) {
			break
		}
		low = next
	}
	if len(parts) == 0 {
		return nil
	}
	last := parts[len(parts)-1]
	if whole := parts[0]; strings.Contains(whole, `":`) {
		for _, at := range jsonMessageStart().FindAllStringIndex(whole, 24) {
			key := whole[at[0]+1:]
			parts = append(parts, key)
			if _, text, ok := strings.Cut(key, ":"); ok {
				parts = append(parts, trimLineMarks(text))
			}
		}
	}
	if _, text, ok := strings.Cut(last, " · "); ok {
		parts = append(parts, trimLineMarks(text))
	}
	return parts
}

func trimLineMarks(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool {
		switch r {
		case ' ', '\t', '"', '\'', '{', '[', '(', '*', '•', '●', '⏺', '⎿', '✖', '✗', '×', '│', '|', '└', '├', '─':
			return r != '['
		}
		return isSymbol(r)
	})
}

// cutTimestamp cuts off the time that GitHub puts before every line.
func cutTimestamp(line string) string {
	if len(line) > 21 && line[4] == '-' && line[7] == '-' && line[10] == 'T' && line[13] == ':' {
		if i := strings.IndexByte(line[:min(len(line), 40)], 'Z'); i > 0 && (i+1 == len(line) || line[i+1] == ' ') {
			return strings.TrimPrefix(line[i+1:], " ")
		}
	}
	return line
}
