package quorum

// Findings are followed over the heads of a pull request, so that a loop of fixes ends when it gets nowhere. A
// finding is the same one if it is the same thread, or in the same file at the same place or in the same words: a
// fix moves lines, and a reviewer words a thing anew each time.

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

const (
	maxTracked = 30 // open findings of a head that are remembered
	nearLines  = 3  // how many lines apart two findings of one place may be
)

// followFindings returns what the voters among ballots object to, by place, each with how it came to be open.
func followFindings(ballots []Ballot, known []Tracked, byFix bool) (all []OpenFinding) {
	for _, b := range votersWith(ballots, Object) {
		for _, f := range b.Findings {
			if !f.Below {
				all = withFinding(all, b.Reviewer, f)
			}
		}
		if b.CountFindings() == 0 { // it objects, and names nothing
			all = append(all, OpenFinding{Said: []FixWords{{Reviewer: b.Reviewer, Body: b.Detail, URL: b.URL}}})
		}
	}
	for i := range all {
		f := &all[i]
		switch {
		case slices.ContainsFunc(known, f.isTracked):
			f.State = FindingAgain
		case byFix:
			f.State = FindingByFix
		default:
			f.State = FindingNew
		}
	}
	return all
}

// withFinding returns all with one more finding, joined to the one of its place.
func withFinding(all []OpenFinding, reviewer string, f Finding) []OpenFinding {
	words := FixWords{Reviewer: reviewer, Body: f.Body, URL: f.URL}
	if f.Severity != SeverityAny {
		words.Severity = f.Severity.String()
	}
	isHere := func(o OpenFinding) bool { return f.Path != "" && o.Path == f.Path && areNear(o.Line, f.Line) }
	at := slices.IndexFunc(all, isHere)
	if at < 0 {
		at, all = len(all), append(all, OpenFinding{Path: f.Path, Line: f.Line})
	}
	all[at].Said = append(all[at].Said, words)
	all[at].more += f.More
	if f.Thread != 0 {
		all[at].threads = append(all[at].threads, f.Thread)
	}
	return all
}

// areNear reports whether two lines are of one place; 0 is no line.
func areNear(a, b int) bool { return a > 0 && b > 0 && a-b <= nearLines && b-a <= nearLines }

// isTracked reports whether f is the finding that a record remembers.
func (f *OpenFinding) isTracked(t Tracked) bool {
	hasWords := func(w FixWords) bool { return digestWords(w.Body) == t.Words }
	isOfThread := t.Thread != 0 && slices.Contains(f.threads, t.Thread)
	return isOfThread || t.File == digestText(f.Path) && (areNear(t.Line, f.Line) || slices.ContainsFunc(f.Said, hasWords))
}

// TrackFindings returns findings as a record remembers them, the first ones of many.
func TrackFindings(all []OpenFinding) (tracked []Tracked) {
	for _, f := range all[:min(len(all), maxTracked)] {
		t := Tracked{File: digestText(f.Path), Line: f.Line, Words: digestWords(f.Said[0].Body)}
		if len(f.threads) > 0 {
			t.Thread = f.threads[0]
		}
		tracked = append(tracked, t)
	}
	return tracked
}

// digestText is a short digest of a text; "" of none.
func digestText(text string) string {
	if text == "" {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return fmt.Sprintf("%08x", h.Sum32())
}

// digestWords is a short digest of a text's letters: another line number or other marks make no other finding of it.
func digestWords(text string) string {
	text = text[:min(len(text), 400)] // as much as tells it from others
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return digestText(strings.Join(words, " "))
}
