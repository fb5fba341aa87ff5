package review

// This file recognises notices, which a reviewer posts instead of a review: an outage, a limit, a refusal, "working on it".
//
// A notice is recognised by the shape of a whole line, never by words anywhere: a genuine review of a rate limiter has
// the same words. A notice that is not recognised keeps the gate shut, and so does a line wrongly taken for one.

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// httpError matches a line that is an error with its HTTP code: "## ⚠️ Gemini API Error (HTTP 503)".
var httpError = rx(
	`^(?:[\w.'-]+ ){0,6}[\w.'-]+ ?\(http(?: status)?(?: code)?:? (\d{3})\)[.:]?(?: .{0,200})?$`+
		`|^(?:[\w.'-]+ ){0,4}(?:error|failed|failure):? (?:http |status |status code )?(\d{3})[.:]?(?: .{0,200})?$`,
	"(http",
	"error",
	"failed",
	"failure",
)

// workingLines say that the review is under way.
var workingLines = []pattern{
	rx(
		`^(?:i'm|i am) (?:currently |now )?(?:working on|reviewing|looking at) (?:it|this|your|the)\b.*$`,
		"working on",
		"reviewing",
		"looking at",
	),
	rx(`^(?:hi @?[\w.\[\]-]+,? )?i've received your request\b.*$`, "i've received your request"),
	rx(`^preparing (?:the )?review(?:\.\.\.|…)?$`, "preparing "),
	rx(
		`^(?:code )?review (?:is )?(?:in progress|queued|started|pending|running)\b.*$`,
		"in progress",
		"queued",
		"started",
		"pending",
		"running",
	),
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
