package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The words of a check that several open pull requests of one head share: whichever of them is looked at, it reads the
// same.

// TitleOf returns what the check of a decision would say as its title, alone.
func TitleOf(p quorum.Policy, d quorum.Decision) string {
	return clipRunes(titleSentence(p, d), maxTitle)
}

// sharedTitle names each pull request that speaks in a check, in at most n characters; "" where one speaks alone.
func sharedTitle(d quorum.Decision, n int) string {
	var parts []string
	for _, s := range d.Shared {
		if s.Speaks {
			parts = append(parts, fmt.Sprintf("#%d → %s: %s", s.Number, plainLine(s.Base, 60), s.Title))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return joinFitting(parts, n)
}

// joinFitting joins parts of a title to at most n bytes: what short ones leave of their share is the long ones'.
func joinFitting(parts []string, n int) string {
	const separator = "; "
	left := n - len(separator)*(len(parts)-1) // in bytes: an arrow may count as several characters
	order := slices.Clone(parts)
	slices.SortStableFunc(order, func(a, b string) int { return len(a) - len(b) })
	room := 0 // of the longest: what short ones leave is theirs
	for i, part := range order {
		room = left / (len(order) - i)
		left -= min(room, len(part))
	}
	for i, part := range parts {
		if len(part) > room {
			parts[i] = strings.TrimRight(cutBytes(part, max(room-len("…"), 0)), " ") + "…"
		}
	}
	return strings.Join(parts, separator)
}

// sharedSaid says for which pull requests a check speaks, and for which it does not.
func sharedSaid(d quorum.Decision) (t Phrase) {
	var speaking []Phrase
	for _, s := range d.Shared {
		if s.Speaks {
			speaking = append(speaking, againstPhrase(s))
		}
	}
	if len(speaking) > 1 {
		t = fillPhrase(
			" A check belongs to a commit, and this is the head of %s: the worst of what was decided counts. What follows is about %s.",
			joinPhrases(speaking), numberPhrase(d.PR.Number),
		)
	}
	for _, s := range d.Shared {
		switch {
		case s.Speaks:
		case s.Fork:
			t = slices.Concat(t, fillPhrase(
				" This check does not speak for %s, a fork's with the same head commit: do not merge that one because of it.",
				againstPhrase(s),
			))
		default:
			t = slices.Concat(t, fillPhrase(
				" This check does not speak for %s, which is a draft and has the same head commit.", againstPhrase(s),
			))
		}
	}
	if d.MoreShared > 0 {
		t = slices.Concat(t, wordsPhrase(
			" With the same head commit %s open and not named here: merge none of those because of this check.",
			countVerb(d.MoreShared, "more pull request"),
		))
	}
	return t
}

func numberPhrase(n int) Phrase { return Phrase{{Text: fmt.Sprintf("#%d", n), From: FromWriting}} }

func againstPhrase(s quorum.SharedPull) Phrase {
	return fillPhrase("%s against %s", numberPhrase(s.Number), namePhrase(s.Base))
}

// fitShared makes the record of a check small enough to be written, with those of the other pull requests in it. Each
// may have an equal part of the room, and what some do not need the others have.
func fitShared(rec quorum.Record) quorum.Record {
	if len(rec.Siblings) == 0 {
		return fitRecord(rec, maxRecord, hardMaxRecord)
	}
	others := slices.Clone(rec.Siblings)
	rec.Siblings = nil
	all := append([]quorum.Record{rec}, others...)
	order := make([]int, len(all))
	sizes := make([]int, len(all))
	for i := range all {
		order[i], sizes[i] = i, len(encodeLine(all[i]))+1
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	left, hardLeft := maxRecord-64, hardMaxRecord-64
	for i, at := range order {
		n := len(order) - i
		all[at] = fitRecord(all[at], left/n, hardLeft/n)
		size := len(encodeLine(all[at])) + 1
		left, hardLeft = max(left-size, 0), max(hardLeft-size, 0)
	}
	rec = all[0]
	rec.Siblings = all[1:]
	return rec
}
