package review

// This file reads when a limit ends, as texts and logs state it.

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A limitForm is one form in which limits state their end: what read takes from its groups, in a line written at a moment
// that may be unknown.
type limitForm struct {
	pattern pattern
	read    func(m []string, at time.Time) (wait time.Duration, until time.Time)
	example string
}

// limitForms are tried in this order. An hour without a date counts only in a log, whose lines have one.
var limitForms = []limitForm{
	{
		rx(`\b(?:wait|retry|retry[-_ ]?(?:after|delay)|try again|available|another review|resets?(?:[-_]\w+)?)` +
			`(?: again)?(?: in| after| for)?["':= ]{0,4}(?:another |about |up to )?` +
			`((?:\d+(?:\.\d+)? ?(?:d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?|s)?|s(?:ec(?:ond)?s?)?)[, ]*(?:and )?){1,4})\b`),
		func(m []string, _ time.Time) (time.Duration, time.Time) { return parseWait(m[1]), time.Time{} },
		`Rate limit exceeded. Please wait 43120 seconds before retrying.`,
	},
	{
		rx(`\bretry[-_]?after["']?[:=] ?["']?(\d{1,7})\b`),
		func(m []string, _ time.Time) (time.Duration, time.Time) { return parseWait(m[1] + "s"), time.Time{} },
		`HTTP 429, Retry-After: 120`,
	},
	{
		rx(`\b(?:limit reached\||resets?[-_ ]?(?:at)?["']?[:= ]{1,3}["']?)(\d{10})\b`),
		func(m []string, _ time.Time) (_ time.Duration, until time.Time) {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			return 0, time.Unix(n, 0).UTC()
		},
		`HTTP 429, x-ratelimit-reset: 1790000000`,
	},
	{
		rx(`\b(?:resets?|reset_?(?:at|time)|available|retry|try again)["']?(?: again)?(?: (?:at|on|after))? ?[:=]? ?["']?` +
			`(\d{4}-\d\d-\d\d[ t]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?: ?(?:z|utc|[+-]\d\d:\d\d))?)`),
		func(m []string, _ time.Time) (time.Duration, time.Time) { return 0, parseMoment(m[1]) },
		`You've hit your limit, it resets at 2026-09-12 20:00 UTC`,
	},
	{
		rx(`\bretry-after["']?: ?["']?\w{3}, (\d\d \w{3} \d{4} \d\d:\d\d:\d\d) gmt\b`),
		func(m []string, _ time.Time) (_ time.Duration, until time.Time) {
			until, _ = time.Parse("02 Jan 2006 15:04:05", m[1])
			return 0, until
		},
		`HTTP 429, Retry-After: Sat, 12 Sep 2026 20:00:00 GMT`,
	},
	{
		rx(`\bresets?(?: at)?(?: ([a-z]{3} \d{1,2}),?)?(?: at)? (\d{1,2})(:\d\d)? ?([ap]m)? \(?utc\b`),
		func(m []string, at time.Time) (time.Duration, time.Time) { return 0, nextClock(m, at) },
		`2026-09-12T10:00:00Z You've hit your limit · resets 8pm (UTC)`,
	},
}

// statesEnd reports whether got says when its limit ends.
func (got Reading) statesEnd() bool { return got.Reset > 0 || !got.Until.IsZero() }

// withWaitOf returns got with the end of the limit, if the text states it.
func (got Reading) withWaitOf(p LinedText) Reading {
	if got.Outcome != quorum.Limited {
		return got
	}
	for _, l := range p.lines {
		if l.visibility == hidden || len(l.text) > 4*maxMatchedLine {
			continue
		}
		if got = got.withWaitInLine(stripMarks(l.text), time.Time{}); got.statesEnd() {
			return got
		}
	}
	return got
}

// withWaitInLine returns got with the wait that a line in lower case states, if any; at is when it was written, if known.
func (got Reading) withWaitInLine(words string, at time.Time) Reading {
	if !strings.ContainsAny(words, "0123456789") {
		return got
	}
	for _, form := range limitForms {
		if m := form.pattern.findGroups(words); m != nil {
			got.Reset, got.Until = form.read(m, at)
			break
		}
	}
	return got
}

// maxWait is the longest wait that is believed: the text is a stranger's.
const maxWait = 60 * 24 * time.Hour

var (
	waitUnit = lazyRegexp(`(\d+(?:\.\d+)?) ?(ms|[dhms])`)
	units    = map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
)

func parseWait(s string) (d time.Duration) {
	for _, m := range waitUnit().FindAllStringSubmatch(s, 6) {
		n, _ := strconv.ParseFloat(m[1], 64)
		if n *= float64(units[m[2]]); n > float64(maxWait-d) {
			return maxWait
		}
		d += time.Duration(n)
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

// nextClock returns the first moment after at that a clock or a day of the year names; zero if at is unknown.
func nextClock(m []string, at time.Time) time.Time {
	layout, said := "15:04", m[2]+cmp.Or(m[3], ":00")
	if m[4] != "" {
		layout, said = "3:04PM", said+strings.ToUpper(m[4])
	} else if m[3] == "" {
		return time.Time{}
	}
	clock, err := time.Parse(layout, said)
	if err != nil || at.IsZero() {
		return time.Time{}
	}
	day, years, days := at, 0, 1
	if m[1] != "" {
		if day, err = time.Parse("2006 Jan 2", strconv.Itoa(at.Year())+" "+m[1]); err != nil {
			return time.Time{}
		}
		years, days = 1, 0
	}
	t := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	if t.Before(at) {
		t = t.AddDate(years, 0, days)
	}
	return t
}
