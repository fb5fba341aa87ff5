package review

// This file reads when a limit ends, as texts and logs state it.

import (
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The forms in which limits state a wait.
var (
	waitDuration = lazyRegexp(
		`\b(?:wait|retry in|try again in|retry after|retry-after|reset after|resets? in` +
			`|available in|another review in|retrydelay)["': ]{0,4}` +
			`(?:for |another |about |approximately |up to )?` +
			`((?:\d+(?:\.\d+)?[ ]?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|milliseconds?|ms)\b,?(?: and)? ?` +
			`|\d+(?:\.\d+)?(?:h|m|s|ms)){1,4})`,
	)
	waitUnit          = lazyRegexp(`(\d+(?:\.\d+)?) ?(days?|d|hours?|hrs?|h|minutes?|mins?|ms|milliseconds?|m|seconds?|secs?|s)`)
	retryAfterSeconds = lazyRegexp(`\bretry-after["']?: ?["']?(\d{1,6})\b`)
	waitUntil         = lazyRegexp(
		`\b(?:resets?|available|retry|try again)(?: again)?(?: (?:at|on|after))? ?:? ` +
			`(\d{4}-\d\d-\d\d[ t]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?: ?(?:z|utc|[+-]\d\d:\d\d))?)`,
	)
	limitReachedUnix = lazyRegexp(`\blimit reached\|(\d{10})\b`)
)

// statedWait returns the wait that a line states, if it holds a word of one.
func statedWait(line string) Reading {
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

// withWaitOf returns got with the end of the limit, if the text states it.
func (got Reading) withWaitOf(p LinedText) Reading {
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
	if m := waitDuration().FindStringSubmatch(words); m != nil {
		got.Reset = parseWait(m[1])
		return got
	}
	if m := retryAfterSeconds().FindStringSubmatch(words); m != nil {
		n, _ := strconv.Atoi(m[1])
		got.Reset = time.Duration(n) * time.Second
		return got
	}
	if m := limitReachedUnix().FindStringSubmatch(words); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		got.Until = time.Unix(n, 0).UTC()
		return got
	}
	if m := waitUntil().FindStringSubmatch(words); m != nil {
		got.Until = parseMoment(m[1])
	}
	return got
}

// maxWait is the longest wait that is believed: the text is a stranger's.
const maxWait = 60 * 24 * time.Hour

func parseWait(s string) (d time.Duration) {
	for _, m := range waitUnit().FindAllStringSubmatch(s, 6) {
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
