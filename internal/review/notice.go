package review

// This file recognises notices, which a reviewer posts instead of a review: an outage, a limit, a refusal, "working on it".
//
// A notice is recognised by the shape of a whole line, never by words anywhere: a genuine review of a rate limiter has
// the same words. A notice that is not recognised keeps the gate shut, and so does a line wrongly taken for one.

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// httpError matches a line that is an error with its HTTP code: "## ⚠️ Gemini API Error (HTTP 503)".
var httpError = rx(`^(?:[\w.'-]+ ){0,6}[\w.'-]+ ?\(http(?: status)?(?: code)?:? (\d{3})\)[.:]?(?: .{0,200})?$|^(?:[\w.'-]+ ){0,4}(?:error|failed|failure):? (?:http |status |status code )?(\d{3})[.:]?(?: .{0,200})?$`, "(http", "error", "failed", "failure")

// workingLines say that the review is under way.
var workingLines = []pattern{
	rx(`^(?:i'm|i am) (?:currently |now )?(?:working on|reviewing|looking at) (?:it|this|your|the)\b.*$`, "working on", "reviewing", "looking at"),
	rx(`^(?:hi @?[\w.\[\]-]+,? )?i've received your request\b.*$`, "i've received your request"),
	rx(`^preparing (?:the )?review(?:\.\.\.|…)?$`, "preparing "),
	rx(`^(?:code )?review (?:is )?(?:in progress|queued|started|pending|running)\b.*$`, "in progress", "queued", "started", "pending", "running"),
	rx(`^[\w .]{1,40} is (?:working|reviewing)\b.{0,40}(?:…|\.\.\.)$`, "is working", "is reviewing"),
}

// A notice stands in the first or the last lines of a text.
const (
	noticeHead = 40
	noticeTail = 10
)

// findNotice returns the reading of the first notice in a text.
func findNotice(r quorum.Reviewer, p Page) (Reading, bool) {
	pre, _ := presetOf(r.Preset)
	for _, c := range p.comments {
		c = strings.Join(strings.Fields(lowerASCII(c[:min(len(c), 400)])), " ")
		if got, ok := pre.notices.readLine(inComment, c); ok {
			got.Detail = shortQuote(c)
			return got.withWaitOf(p), true
		}
	}
	lines := noticeLines(p, pre.noticesQuoted)
	for i, l := range lines {
		if i == noticeHead && len(lines)-noticeTail > noticeHead {
			break
		}
		if got, ok := readNoticeLine(pre, l); ok {
			return got.withWaitOf(p), true
		}
	}
	for i := max(noticeHead, len(lines)-noticeTail); i < len(lines); i++ {
		if got, ok := readNoticeLine(pre, lines[i]); ok {
			return got.withWaitOf(p), true
		}
	}
	for _, l := range lines[min(noticeHead, len(lines)):] {
		if strings.Contains(l.text, "HTTP") || strings.Contains(l.text, "http") {
			if got, ok := readHTTPError(l); ok {
				return got.withWaitOf(p), true
			}
		}
	}
	return Reading{}, false
}

// noticeLines returns the lines of p that may hold a notice.
func noticeLines(p Page, quotes bool) (lines []pageLine) {
	for _, l := range p.lines {
		if (l.visibility == inView || l.visibility == doubtful || quotes && l.visibility == quoted) && strings.TrimSpace(l.text) != "" && len(l.text) <= maxMatchedLine {
			lines = append(lines, l)
		}
	}
	return lines
}

func readNoticeLine(pre preset, l pageLine) (Reading, bool) {
	words := plainWords(strings.TrimSpace(l.text))
	if words == "" {
		return Reading{}, false
	}
	got, ok := pre.notices.readLine(inLine, words)
	if !ok && l.visibility != quoted {
		if got, ok = readHTTPError(l); ok {
			return got, true
		}
		got, ok = generalNotices.readLine(inLine, words)
	}
	if ok {
		got.Detail = shortQuote(l.text)
	}
	return got, ok
}

// readHTTPError reads a headline with an HTTP code.
func readHTTPError(l pageLine) (Reading, bool) {
	if !hasHTTPCode(l.text) {
		return Reading{}, false
	}
	m := httpError.findGroups(plainWords(strings.TrimSpace(l.text)))
	if m == nil {
		return Reading{}, false
	}
	outcome, reason, ok := outcomeOfCode(m[1] + m[2])
	return Reading{Outcome: outcome, Reason: reason, Detail: shortQuote(l.text)}, ok
}

// outcomeOfCode returns the outcome of a run that failed with that HTTP code; ok is false if the code is no failure.
func outcomeOfCode(code string) (quorum.Outcome, quorum.Reason, bool) {
	n, _ := strconv.Atoi(code)
	switch n {
	case 401, 403:
		return quorum.Failed, quorum.ReasonCredentials, true
	case 402:
		return quorum.Failed, quorum.ReasonBilling, true
	case 400, 404, 405, 410, 413, 414, 415, 422:
		return quorum.Failed, quorum.ReasonInvalid, true
	case 408, 409, 499, 529:
		return quorum.Overloaded, quorum.ReasonOverloaded, true
	case 429:
		return quorum.Limited, quorum.ReasonRateLimit, true
	}
	if n >= 500 && n <= 599 {
		return quorum.Overloaded, quorum.ReasonOverloaded, true
	}
	return 0, "", false
}

// saysWorking reports whether a text says that its review is still under way, with a quote.
func saysWorking(r quorum.Reviewer, p Page) (detail string, yes bool) {
	pre, _ := presetOf(r.Preset)
	lines := noticeLines(p, pre.noticesQuoted)
	for _, l := range lines[:min(len(lines), 12)] {
		words := plainWords(strings.TrimSpace(l.text))
		for _, s := range pre.working {
			if s.matches(words) {
				return shortQuote(l.text), true
			}
		}
		for _, s := range workingLines {
			if s.matches(words) {
				return shortQuote(l.text), true
			}
		}
	}
	return "", false
}

// The forms in which limits state a wait.
var (
	waitDuration      = regexp.MustCompile(`\b(?:wait|retry in|try again in|retry after|retry-after|reset after|resets? in|available in|another review in|retrydelay)["': ]{0,4}(?:for |another |about |approximately |up to )?((?:\d+(?:\.\d+)?[ ]?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|milliseconds?|ms)\b,?(?: and)? ?|\d+(?:\.\d+)?(?:h|m|s|ms)){1,4})`)
	waitUnit          = regexp.MustCompile(`(\d+(?:\.\d+)?) ?(days?|d|hours?|hrs?|h|minutes?|mins?|ms|milliseconds?|m|seconds?|secs?|s)`)
	retryAfterSeconds = regexp.MustCompile(`\bretry-after["']?: ?["']?(\d{1,6})\b`)
	waitUntil         = regexp.MustCompile(`\b(?:resets?|available|retry|try again)(?: again)?(?: (?:at|on|after))? ?:? (\d{4}-\d\d-\d\d[ t]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?: ?(?:z|utc|[+-]\d\d:\d\d))?)`)
	limitReachedUnix  = regexp.MustCompile(`\blimit reached\|(\d{10})\b`)
)

// withWaitOf returns got with the end of the limit, if the text states it.
func (got Reading) withWaitOf(p Page) Reading {
	if got.Outcome != quorum.Limited {
		return got
	}
	for _, l := range p.lines {
		if l.visibility == hidden || len(l.text) > 4*maxMatchedLine {
			continue
		}
		if got = got.withWaitInLine(stripMarks(l.text)); got.Reset > 0 || !got.Until.IsZero() {
			return got
		}
	}
	return got
}

// withWaitInLine returns got with the wait that one line in lower case states, if any.
func (got Reading) withWaitInLine(words string) Reading {
	if !strings.ContainsAny(words, "0123456789") {
		return got
	}
	if m := waitDuration.FindStringSubmatch(words); m != nil {
		got.Reset = parseWait(m[1])
		return got
	}
	if m := retryAfterSeconds.FindStringSubmatch(words); m != nil {
		n, _ := strconv.Atoi(m[1])
		got.Reset = time.Duration(n) * time.Second
		return got
	}
	if m := limitReachedUnix.FindStringSubmatch(words); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		got.Until = time.Unix(n, 0).UTC()
		return got
	}
	if m := waitUntil.FindStringSubmatch(words); m != nil {
		got.Until = parseMoment(m[1])
	}
	return got
}

// maxWait is the longest wait that is believed: the text is a stranger's.
const maxWait = 60 * 24 * time.Hour

func parseWait(s string) (d time.Duration) {
	for _, m := range waitUnit.FindAllStringSubmatch(s, 6) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n > 1e7 {
			return maxWait
		}
		unit := time.Second
		switch {
		case strings.HasPrefix(m[2], "d"):
			unit = 24 * time.Hour
		case strings.HasPrefix(m[2], "h"):
			unit = time.Hour
		case m[2] == "ms", strings.HasPrefix(m[2], "milli"):
			unit = time.Millisecond
		case strings.HasPrefix(m[2], "m"):
			unit = time.Minute
		}
		d += time.Duration(n * float64(unit))
		if d > maxWait {
			return maxWait
		}
	}
	return d
}

func parseMoment(s string) time.Time {
	s = strings.ToUpper(strings.Replace(s, " ", "T", 1))
	s = strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), "UTC", "Z")
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
