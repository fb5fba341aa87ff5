package review

// This file reads how a run failed from the end of a job's log, or from an annotation.
//
// A log holds strangers' text, because many reviewers print the diff. So it may decide whether a rerun is worthwhile, and
// never a verdict. A message must begin its line, after the marks that runners and loggers put before a message; a line
// of a diff begins with something else.

import (
	"regexp"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// a logShape is the beginning of a message that says how a run failed. A key is sought first: it is cheap.
type logShape struct {
	key     string
	line    *regexp.Regexp
	outcome quorum.Outcome
	reason  quorum.Reason
}

// Of the shapes that fit one line the first counts: the more particular comes first.
var logShapes = []logShape{
	// The reviewer would not.
	{"fork", regexp.MustCompile(`^(?:this )?(?:pr|pull request) is from a fork\b`), quorum.Declined, quorum.ReasonNoSecrets},
	{"fork", regexp.MustCompile(`^(?:cannot|can't|will not) review (?:prs from )?forks?\b`), quorum.Declined, quorum.ReasonNoSecrets},
	{"key", regexp.MustCompile(`^(?:[\w.-]+ )?(?:review )?skipp(?:ed|ing)(?: review)?: no (?:api )?key\b`), quorum.Declined, quorum.ReasonNoSecrets},
	{"workflow validation", regexp.MustCompile(`^(?:action skipped|skipping action|exiting) due to workflow validation\b`), quorum.Declined, quorum.ReasonDeclined},
	{"no trigger found", regexp.MustCompile(`^no trigger found, skipping\b`), quorum.Declined, quorum.ReasonDeclined},

	// Money.
	{"credit balance", regexp.MustCompile(`^(?:your )?credit balance is too low\b`), quorum.Failed, quorum.ReasonBilling},
	{"account payments", regexp.MustCompile(`^the job was not started because recent account payments have failed\b`), quorum.Failed, quorum.ReasonBilling},
	{"insufficient_", regexp.MustCompile(`^(?:(?:type|code|reason)["']?: ?["']?)?insufficient_(?:quota|g1_credits_balance|funds|credits)\b`), quorum.Failed, quorum.ReasonBilling},
	{"spend", regexp.MustCompile(`^your (?:project|organization|workspace|account) has reached its (?:configured )?(?:enforced )?spend(?:ing)? limit\b`), quorum.Failed, quorum.ReasonBilling},
	{"billing details", regexp.MustCompile(`^quota exceeded\. check your plan and billing details\b`), quorum.Failed, quorum.ReasonBilling},

	// Its own budget.
	{"budget", regexp.MustCompile(`^(?:[\w$]+\.)*budget_?(?:exhausted|exceeded)(?:error|exception)?\b`), quorum.Failed, quorum.ReasonBudget},
	{"budget", regexp.MustCompile(`^(?:the )?(?:[\w-]+ ){0,3}budget (?:is |was |has been )?(?:exhausted|exceeded|used up)\b`), quorum.Failed, quorum.ReasonBudget},
	{"turns", regexp.MustCompile(`^(?:reached )?max(?:imum)?(?: number of)? turns\b(?:.{0,20}\b(?:reached|exceeded))?`), quorum.Failed, quorum.ReasonBudget},
	{"error_max_turns", regexp.MustCompile(`^(?:subtype["']?: ?["']?)?error_max_turns\b`), quorum.Failed, quorum.ReasonBudget},

	// Credentials.
	{"api key", regexp.MustCompile(`^(?:invalid|incorrect|missing) api key\b`), quorum.Failed, quorum.ReasonCredentials},
	{"api key", regexp.MustCompile(`^api key (?:not valid|not found|is invalid|expired|missing)\b`), quorum.Failed, quorum.ReasonCredentials},
	{"authentication", regexp.MustCompile(`^(?:type["']?: ?["']?)?(?:authentication_error|authentication failed)\b`), quorum.Failed, quorum.ReasonCredentials},
	{"permission_error", regexp.MustCompile(`^(?:type["']?: ?["']?)?permission_error\b`), quorum.Failed, quorum.ReasonCredentials},
	{"invalid_api_key", regexp.MustCompile(`^(?:code["']?: ?["']?)?invalid_api_key\b`), quorum.Failed, quorum.ReasonCredentials},
	{"bad credentials", regexp.MustCompile(`^bad credentials\b`), quorum.Failed, quorum.ReasonCredentials},
	{"oidc token", regexp.MustCompile(`^could not fetch an oidc token\b`), quorum.Failed, quorum.ReasonCredentials},
	{"token exchange failed", regexp.MustCompile(`^app token exchange failed: 40[13]\b`), quorum.Failed, quorum.ReasonCredentials},
	{"resource not accessible", regexp.MustCompile(`^resource not accessible by (?:integration|personal access token)\b`), quorum.Failed, quorum.ReasonCredentials},

	// What it was given.
	{"write permissions", regexp.MustCompile(`^actor does not have write permissions\b`), quorum.Failed, quorum.ReasonInvalid},
	{"non-human actor", regexp.MustCompile(`^workflow initiated by non-human actor\b`), quorum.Failed, quorum.ReasonInvalid},
	{"prompt is too long", regexp.MustCompile(`^prompt is too long\b`), quorum.Failed, quorum.ReasonInvalid},
	{"context_length_exceeded", regexp.MustCompile(`^(?:code["']?: ?["']?)?context_length_exceeded\b`), quorum.Failed, quorum.ReasonInvalid},
	{"context length", regexp.MustCompile(`^this model's maximum context length\b`), quorum.Failed, quorum.ReasonInvalid},
	{"invalid_request_error", regexp.MustCompile(`^(?:type["']?: ?["']?)?invalid_request_error\b`), quorum.Failed, quorum.ReasonInvalid},
	{"resolve action", regexp.MustCompile(`^unable to resolve action\b`), quorum.Failed, quorum.ReasonInvalid},
	{"invalid workflow file", regexp.MustCompile(`^invalid workflow file\b`), quorum.Failed, quorum.ReasonInvalid},
	{"workspace is deactivated", regexp.MustCompile(`^this workspace is deactivated\b`), quorum.Failed, quorum.ReasonInvalid},
	{"refus", regexp.MustCompile(`^(?:the )?model refused\b|^(?:stop_reason["']?: ?["']?)refusal\b`), quorum.Failed, quorum.ReasonModelRefusal},

	// Limits that no retry within the hour helps.
	{"quota", regexp.MustCompile(`^(?:(?:reason|status|code)["']?: ?["']?)?quota_exhausted\b`), quorum.Limited, quorum.ReasonQuota},
	{"model_capacity_exhausted", regexp.MustCompile(`^(?:reason["']?: ?["']?)?model_capacity_exhausted\b`), quorum.Limited, quorum.ReasonQuota},
	{"exhausted your", regexp.MustCompile(`^you have exhausted your (?:daily quota|capacity)\b`), quorum.Limited, quorum.ReasonQuota},
	{"limit", regexp.MustCompile(`^you(?:'ve| have) (?:hit|reached) your (?:usage |session |weekly |\d+-hour )?limit\b`), quorum.Limited, quorum.ReasonQuota},
	{"usage limit reached", regexp.MustCompile(`^(?:[\w-]+ ){0,3}usage limit reached\b`), quorum.Limited, quorum.ReasonQuota},
	{"monthly quota", regexp.MustCompile(`^you have exceeded your monthly quota\b`), quorum.Limited, quorum.ReasonQuota},
	{"per day", regexp.MustCompile(`^quota exceeded for\b.{0,300}\bper ?day\b`), quorum.Limited, quorum.ReasonQuota},
	{"current quota", regexp.MustCompile(`^you exceeded your current quota\b`), quorum.Limited, quorum.ReasonQuota},

	// Limits that pass.
	{"temporarily limiting", regexp.MustCompile(`^(?:the )?server is temporarily limiting requests\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"quota exceeded", regexp.MustCompile(`^quota exceeded\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"rate limit", regexp.MustCompile(`^(?:[\w.-]+ ){0,3}rate limit (?:exceeded|reached|hit)\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"rate limit", regexp.MustCompile(`^this request would exceed your (?:account|organization)(?:'s)? rate limit\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"rate_limit", regexp.MustCompile(`^(?:(?:type|reason|code)["']?: ?["']?)?rate_limit_(?:error|exceeded)\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"ratelimitexceeded", regexp.MustCompile(`^(?:reason["']?: ?["']?)?ratelimitexceeded\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"resource_exhausted", regexp.MustCompile(`^(?:status["']?: ?["']?)?resource_exhausted\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"toomanyrequests", regexp.MustCompile(`^(?:response from daemon: )?toomanyrequests\b`), quorum.Limited, quorum.ReasonRateLimit},
	{"last status: 429", regexp.MustCompile(`^exceeded retry limit, last status: 429\b`), quorum.Limited, quorum.ReasonRateLimit},

	// The runner.
	{"maximum execution time", regexp.MustCompile(`^the job (?:running on .{1,200} )?has exceeded the maximum execution time\b`), quorum.Hung, quorum.ReasonHung},
	{"has timed out after", regexp.MustCompile(`^the action .{1,200} has timed out after\b`), quorum.Hung, quorum.ReasonHung},
	{"lost communication", regexp.MustCompile(`^the (?:hosted|self-hosted) runner\b.{0,200}\blost communication with the server\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"shutdown signal", regexp.MustCompile(`^the runner has received a shutdown signal\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"operating system is shutting", regexp.MustCompile(`^operating system is shutting down\b`), quorum.Overloaded, quorum.ReasonOverloaded},

	// Outages.
	{"overloaded", regexp.MustCompile(`^(?:(?:type|code)["']?: ?["']?)?overloaded(?:_error)?\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"overloaded", regexp.MustCompile(`^the (?:model|server|engine) is (?:currently )?overloaded\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"unavailable", regexp.MustCompile(`^(?:(?:status|code)["']?: ?["']?)?unavailable\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"unavailable", regexp.MustCompile(`^(?:the )?(?:service|server|model|api)(?: is)? (?:temporarily |currently )?unavailable\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"high demand", regexp.MustCompile(`^we(?: are|'re) currently experiencing high demand\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"no capacity", regexp.MustCompile(`^no capacity available for model\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"internal server error", regexp.MustCompile(`^internal server error\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"bad gateway", regexp.MustCompile(`^bad gateway\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"gateway time", regexp.MustCompile(`^gateway time-?out\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"stream disconnected", regexp.MustCompile(`^stream disconnected before completion\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"action", regexp.MustCompile(`^failed to (?:resolve action download info|download action)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"rpc failed", regexp.MustCompile(`^rpc failed; (?:http 5\d\d|curl)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"requested url returned error", regexp.MustCompile(`^the requested url returned error: 5\d\d\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"unable to fetch some archives", regexp.MustCompile(`^unable to fetch some archives\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"docker daemon", regexp.MustCompile(`^cannot connect to the docker daemon\b`), quorum.Overloaded, quorum.ReasonOverloaded},

	// The network.
	{"econn", regexp.MustCompile(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?(?:econnreset|econnrefused|econnaborted)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"etimedout", regexp.MustCompile(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?etimedout\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"enotfound", regexp.MustCompile(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?enotfound\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"eai_again", regexp.MustCompile(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?eai_again\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"epipe", regexp.MustCompile(`^(?:[\w.()-]+:? ){0,3}epipe\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"und_err_", regexp.MustCompile(`^(?:code["']?: ?["']?)?und_err_(?:\w+_timeout|socket)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"err_stream_premature_close", regexp.MustCompile(`^(?:code["']?: ?["']?)?err_stream_premature_close\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"fetch failed", regexp.MustCompile(`^fetch failed\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"bad record mac", regexp.MustCompile(`^(?:[\w.:-]+ ){0,4}bad record mac\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"socket", regexp.MustCompile(`^(?:the )?socket (?:connection was closed|hang ?up)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"connection", regexp.MustCompile(`^(?:[^ ]{1,80} ){0,6}connection (?:reset by peer|refused|timed out|was reset|closed unexpectedly)\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"timeout", regexp.MustCompile(`^(?:[^ ]{1,80} ){0,6}(?:i/o|read|connect|connection|request|tls handshake) timeout\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"timed out", regexp.MustCompile(`^(?:the )?(?:[\w-]+ ){0,2}(?:request|operation|connection|api call|call)? ?timed out\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"deadline exceeded", regexp.MustCompile(`^(?:[^ ]{1,80} ){0,4}(?:context )?deadline exceeded\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"curl: (", regexp.MustCompile(`^curl: \((?:5|6|7|18|28|35|52|55|56|92)\)`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"no such host", regexp.MustCompile(`^(?:[^ ]{1,80} ){0,8}no such host\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"name resolution", regexp.MustCompile(`^(?:[^ ]{1,80} ){0,6}temporary failure in name resolution\b`), quorum.Overloaded, quorum.ReasonOverloaded},
	{"could not resolve host", regexp.MustCompile(`^could not resolve host\b`), quorum.Overloaded, quorum.ReasonOverloaded},

	// Green and hollow.
	{"0 tool uses", regexp.MustCompile(`^(?:done )?\(?0 tool uses\b`), quorum.Empty, quorum.ReasonEmpty},
	{"0 files reviewed", regexp.MustCompile(`^0 files reviewed\b`), quorum.Empty, quorum.ReasonEmpty},
	{"reviewed 0 files", regexp.MustCompile(`^reviewed 0 files\b`), quorum.Empty, quorum.ReasonEmpty},
}

// A message that names an HTTP code.
var (
	codeMessage     = regexp.MustCompile(`^(?:(?:http(?:/[\d.]+)?|(?:http )?status(?: code)?|error code|code|response|server returned|got|received|api error|unexpected status|request failed with status(?: code)?)["']?(?: status)?[ :=]{1,3}["'(]?([45]\d\d)\b|([45]\d\d)[ :,-]{1,3}(?:service|too many|internal|bad|gateway|unauthorized|forbidden|payment|request|server|unprocessable|not found|overloaded|{|\{)|(?:[\w.':-]+ ){0,6}[\w.'-]+ ?\(http (?:status )?([45]\d\d)\))`)
	exceptionPrefix = regexp.MustCompile(`^[\w.$/-]{1,80}(?:error|exception|failure)(?:: | \[[^\]]{0,40}\]: )`)
	levelPrefix     = regexp.MustCompile(`^(?:error|err|fatal|failed|failure|warning|warn|critical|panic|uncaught|caused by|exception|reason|remote|e|npm err!|npm error|api error|detail|details|cause|message|msg|error message|(?:http )?[45]\d\d|http [45]\d\d|codex|claude|gemini|unable to access '[^']{1,200}'|curl: \(22\))(?:"?: ?| - |\] ?| +)`)
	ansiCodes       = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[()][0-9A-Z]|[@-Z\\\\^_])")
)

// jsonMessageStart matches the places in a line of JSON at which a message begins.
var jsonMessageStart = regexp.MustCompile(`"(?:type|code|message|status|reason|error|subtype|stop_reason)" ?: ?(?:"|\d)`)

// maxLogLine is the number of bytes of a line that are read.
const maxLogLine = 2000

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
		body = ansiCodes.ReplaceAllString(body, "")
	}
	var best Reading
	var wait Reading // a wait that stands in a line of its own
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		got, ok := readLogLine(line)
		if hint := wait.statedWait(line); hint.Reset > 0 || !hint.Until.IsZero() {
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

func (got Reading) statedWait(line string) Reading {
	if len(line) < 6 || len(line) > maxLogLine {
		return Reading{}
	}
	low := lowerASCII(line)
	for _, key := range [...]string{"retry", "reset", "wait ", "try again"} {
		if strings.Contains(low, key) {
			return Reading{}.withWaitInLine(low)
		}
	}
	return Reading{}
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
	var keys [8]int
	hits := keys[:0]
	for i := range logShapes {
		if strings.Contains(low, logShapes[i].key) {
			if hits = append(hits, i); len(hits) == cap(keys) {
				break
			}
		}
	}
	coded := hasHTTPCode(low) && (strings.Contains(low, "http") || strings.Contains(low, "status") || strings.Contains(low, "code") || strings.Contains(low, "error") || low[0] == '4' || low[0] == '5')
	if len(hits) == 0 && !coded {
		return Reading{}, false
	}
	var best Reading
	for _, part := range messageStarts(low) {
		got, ok := matchMessage(part, hits, coded)
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
func matchMessage(part string, hits []int, coded bool) (Reading, bool) {
	for _, i := range hits {
		if s := logShapes[i]; s.line.MatchString(part) {
			return Reading{Outcome: s.outcome, Reason: s.reason}, true
		}
	}
	if !coded {
		return Reading{}, false
	}
	if m := codeMessage.FindStringSubmatch(part); m != nil {
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
			if m := exceptionPrefix.FindString(low); m != "" {
				next = low[len(m):]
			} else if m := levelPrefix.FindString(low); m != "" {
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
		for _, at := range jsonMessageStart.FindAllStringIndex(whole, 24) {
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

// hasHTTPCode reports whether s holds three digits that may be an HTTP code. It is a cheap first test.
func hasHTTPCode(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] >= '1' && s[i] <= '5' && s[i+1] >= '0' && s[i+1] <= '9' && s[i+2] >= '0' && s[i+2] <= '9' {
			return true
		}
	}
	return false
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
