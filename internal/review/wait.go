package review

// This file reads when a limit ends, as texts and logs state it.

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A limitForm is one form in which limits state their end. What its groups hold [endOfLimit] reads.
type limitForm struct {
	pattern pattern
	example string
}

// limitForms are tried in this order. An hour without a date counts only in a log, whose lines have one.
var limitForms = []limitForm{
	{
		patternOf(`\b(?:wait|retry|retry[-_ ]?(?:after|delay)|try again|available|another review|resets?(?:[-_]\w+)?)` +
			`(?: again)?(?: in| after| for)?["':= ]{0,4}(?:another |about |up to )?` +
			`((?:\d+(?:\.\d+)? ?(?:d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?|s)?|s(?:ec(?:ond)?s?)?)[, ]*(?:and )?){1,4})\b`),
		`Rate limit exceeded. Please wait 43120 seconds before retrying.`,
	},
	{
		patternOf(`\bretry[-_]?after["']?[:=] ?["']?(\d{1,7})\b` +
			`|\b(?:limit reached\||resets?[-_ ]?(?:at)?["']?[:= ]{1,3}["']?)(\d{10})\b`),
		`HTTP 429, Retry-After: 120`,
	},
	{
		patternOf(`\b(?:resets?|reset_?(?:at|time)|available|retry|try again)["']?(?: again)?(?: (?:at|on|after))? ?[:=]? ?["']?` +
			`(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?)(?: ?(z|utc|[+-]\d\d:\d\d))?`),
		`You've hit your limit, it resets at 2026-09-12 20:00 UTC`,
	},
	{
		patternOf(`\bretry-after["']?: ?["']?\w{3}, (\d\d \w{3} \d{4} \d\d:\d\d:\d\d) gmt\b`),
		`HTTP 429, Retry-After: Sat, 12 Sep 2026 20:00:00 GMT`,
	},
	{
		patternOf(`\bresets?(?: at)?(?: ([a-z]{3} \d{1,2}),?)?(?: at)? (?:(\d{1,2}:\d\d) ?([ap]m)?|(\d{1,2}) ?([ap]m)) \(?utc\b`),
		`2026-09-12T10:00:00Z You've hit your limit · resets 8pm (UTC)`,
	},
}

// statesEnd reports whether got says when its limit ends.
func (got Reading) statesEnd() bool { return got.Reset > 0 || !got.Until.IsZero() }

// withWait returns n with the end of the limit: the part of the text that holds the notice states it before any other.
func (n foundNotice) withWait(p LinedText) foundNotice {
	if n.Outcome != quorum.Limited {
		return n
	}
	i := n.Line - 1
	_, end := partOfLine(p.lines, i)
	for _, l := range slices.Concat(p.lines[i:max(end, i)], p.lines) {
		if !n.statesEnd() && l.visibility != hidden && len(l.text) <= 4*maxMatchedLine {
			n.Reading = n.withWaitInLine(stripMarks(l.text), time.Time{})
		}
	}
	return n
}

// withWaitInLine returns got with the wait that a line in lower case states, if any; at is when it was written, if known.
func (got Reading) withWaitInLine(words string, at time.Time) Reading {
	if !strings.ContainsAny(words, "0123456789") {
		return got
	}
	for _, form := range limitForms {
		if m := form.pattern.findGroups(words); m != nil {
			said := strings.Join(strings.Fields(strings.Join(m[1:], " ")), " ") // its groups
			got.Reset, got.Until = endOfLimit(strings.ToUpper(said), at)
			break
		}
	}
	return got
}

const maxWait = 60 * 24 * time.Hour // a longer one is not believed: the text is a stranger's

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

// moments are the forms of the moment at which a limit ends. Without a year it is of the day of the log's line, or its year.
var moments = [...]string{
	"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04 Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"02 Jan 2006 15:04:05", "3:04 PM", "3 PM", "15:04", "Jan 2 3:04 PM", "Jan 2 3 PM", "Jan 2 15:04",
}

// endOfLimit reads the wait or the moment that a limit states in a line of that time; zero if it states none. A clock without
// a day, or a day without a year, is the next one, and unknown if the time is.
func endOfLimit(said string, at time.Time) (wait time.Duration, until time.Time) {
	if n, err := strconv.ParseInt(said, 10, 64); err == nil && len(said) == 10 {
		return 0, time.Unix(n, 0).UTC()
	} else if err == nil {
		return parseWait(said + "s"), time.Time{}
	}
	for _, layout := range moments {
		t, err := time.Parse(layout, strings.ReplaceAll(said, "UTC", "Z"))
		if err != nil {
			continue
		}
		years, days := 1, 0
		switch {
		case t.Year() > 0:
			return 0, t.UTC()
		case at.IsZero():
			return 0, time.Time{}
		case strings.HasPrefix(layout, "Jan"):
			t = t.AddDate(at.Year(), 0, 0)
		default:
			t = t.AddDate(at.Year(), int(at.Month())-1, at.Day()-1)
			years, days = 0, 1
		}
		if t.Before(at) {
			t = t.AddDate(years, 0, days)
		}
		return 0, t
	}
	return parseWait(strings.ToLower(said)), time.Time{}
}
