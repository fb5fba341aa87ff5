package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The text holds what tools read and what reviewers wrote, in that order, within GitHub's 65,535 bytes. Nothing of the
// block is ever cut; of the findings, first their length is, and only then their number, and the text says so.

const (
	maxText         = 65_535
	maxAnswers      = 16 << 10
	maxExcerptRunes = 600 // characters
	maxExcerptsEach = 2   // of an answer without a verdict: the two attempts of one reviewer
)

// renderText returns the check's text for d and the record that is written with it.
func renderText(d quorum.Decision, rec quorum.Record) string {
	var b strings.Builder
	b.WriteString(jsonBlock(d, rec))
	if a := renderAnswers(d); len(a) < maxText-b.Len() {
		b.WriteString(a)
	}
	b.WriteString(renderFindings(d, maxText-b.Len()))
	return b.String()
}

// renderAnswers shows what reviewers wrote instead of a verdict.
func renderAnswers(d quorum.Decision) string {
	var b strings.Builder
	for _, x := range d.Ballots {
		if !answeredWithoutVerdict(x) {
			continue
		}
		var one strings.Builder
		fmt.Fprintf(&one, "\n\n**%s**: %s.", quoteName(x.Reviewer), Sentence(malformedReason(x.Reason)))
		for i, a := range x.Answers[max(0, len(x.Answers)-maxExcerptsEach):] {
			fmt.Fprintf(
				&one,
				"\n\nAnswer %d:\n\n%s",
				i+1+max(0, len(x.Answers)-maxExcerptsEach),
				Fence(clipRunes(strings.TrimSpace(makeVisible(cutBytes(a, maxOneLine))), maxExcerptRunes)),
			)
		}
		if advice := Advice(malformedReason(x.Reason)); advice != "" {
			one.WriteString("\n\n" + advice)
		}
		if b.Len()+one.Len() > maxAnswers {
			b.WriteString("\n\n_The answers of further reviewers are not shown here, for want of room._")
			break
		}
		b.WriteString(one.String())
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n### Answers without a verdict" + b.String()
}

// answeredWithoutVerdict reports whether b is a reviewer that answered without a verdict and has given none since.
func answeredWithoutVerdict(b quorum.Ballot) bool {
	return len(b.Answers) > 0 && (b.Vote == quorum.Unavailable || b.Vote == quorum.Pending)
}

// malformedReason returns why the answers that are shown hold no verdict, also where the reviewer's last attempt ended
// in another way.
func malformedReason(r quorum.Reason) quorum.Reason {
	switch r {
	case quorum.ReasonContradicts, quorum.ReasonTemplate, quorum.ReasonConditional, quorum.ReasonPartial, quorum.ReasonDrift:
		return r
	default:
		return quorum.ReasonMalformed
	}
}

// mergedFinding is what reviewers say of one place.
type mergedFinding struct {
	words []saidWords
	count int // findings that it stands for
}

// saidWords are the same words about the same line, with everybody who said them.
type saidWords struct {
	finding   quorum.Finding
	reviewers []string // Markdown
}

// mergeFindings brings together what several reviewers say of the same place, and what is the same: file, line and
// text.
func mergeFindings(ballots []quorum.Ballot) (all []mergedFinding, came int) {
	type key struct {
		path string
		line int
		body string
	}
	type position struct{ group, words int }
	at := map[key]position{}
	groups := placeIndex{}
	for _, b := range ballots {
		by := quoteName(b.Reviewer)
		if !b.Voter() {
			by += " (would not count)"
		}
		for _, f := range b.Findings {
			came++
			k := key{f.Path, f.Line, normalizeText(f.Body)}
			same, seen := at[k]
			if !seen {
				g, near := groups.groupNear(f, b.Reviewer)
				if !near {
					g = len(all)
					all = append(all, mergedFinding{})
				}
				same = position{g, len(all[g].words)}
				at[k] = same
				all[g].words = append(all[g].words, saidWords{finding: f})
			}
			groups.add(f, b.Reviewer, same.group)
			m := &all[same.group]
			m.count++
			w := &m.words[same.words]
			w.finding.Below = w.finding.Below && f.Below
			if !slices.Contains(w.reviewers, by) {
				w.reviewers = append(w.reviewers, by)
			}
		}
	}
	return all, came
}

// reviewers are all who say something of the place, each once.
func (e mergedFinding) reviewers() (names []string) {
	for _, w := range e.words {
		for _, by := range w.reviewers {
			if !slices.Contains(names, by) {
				names = append(names, by)
			}
		}
	}
	return names
}

// nearLines is how far apart two lines may be of which two reviewers mean the same.
const nearLines = 3

// A placeIndex tells which group of findings is about a place. A group is about the line of its first finding, and near
// it each reviewer says one thing: two findings of one reviewer's are two.
type placeIndex map[indexedPlace]*indexedGroup

type indexedPlace struct {
	path string
	line int
}

type indexedGroup struct {
	number    int
	reviewers []string
}

// groupNear finds the group that is about the same place as a finding of a reviewer's that has not spoken in it.
func (x placeIndex) groupNear(f quorum.Finding, reviewer string) (group int, found bool) {
	if f.Path == "" || f.Line < 1 {
		return 0, false
	}
	for away := 0; away <= nearLines; away++ {
		for _, line := range [...]int{f.Line - away, f.Line + away} {
			if g := x[indexedPlace{f.Path, line}]; g != nil && !slices.Contains(g.reviewers, reviewer) {
				return g.number, true
			}
		}
	}
	return 0, false
}

// add notes that a reviewer's finding stands in a group.
func (x placeIndex) add(f quorum.Finding, reviewer string, group int) {
	if f.Path == "" || f.Line < 1 {
		return
	}
	for line := f.Line - nearLines; line <= f.Line+nearLines; line++ {
		if g := x[indexedPlace{f.Path, line}]; g != nil && g.number == group {
			if !slices.Contains(g.reviewers, reviewer) {
				g.reviewers = append(g.reviewers, reviewer)
			}
			return
		}
	}
	if k := (indexedPlace{f.Path, f.Line}); x[k] == nil {
		x[k] = &indexedGroup{number: group, reviewers: []string{reviewer}}
	}
}

func normalizeText(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// renderFindings quotes all findings in at most room bytes: each as long as possible, so that as many are shown as came
// in.
func renderFindings(d quorum.Decision, room int) string {
	all, came := mergeFindings(d.Ballots)
	if came == 0 || room < 600 {
		return ""
	}
	room -= 300 // the heading and the notes
	var b strings.Builder
	shown, shortened := 0, 0
	for _, most := range []int{maxText, 8000, 4000, 2000, 1000, 500, 250, 120} {
		b.Reset()
		shown, shortened = 0, 0
		complete := true
		for _, e := range all {
			t, short := e.renderMarkdown(d.PR, most)
			if b.Len()+len(t) > room {
				complete = false
				break
			}
			b.WriteString(t)
			shown += e.count
			if short {
				shortened++
			}
		}
		if complete {
			break
		}
	}
	head := fmt.Sprintf("\n\n### Findings\n\n%s came in, %d %s shown", countNoun(came, "finding"), shown, isOrAre(shown))
	if shown == came && len(all) < came {
		head += fmt.Sprintf(", as %d: what is said of the same place stands together", len(all))
	}
	head += "."
	if shortened > 0 {
		head += fmt.Sprintf(" %d of them %s cut, for want of room.", shortened, isOrAre(shortened))
	}
	if shown < came {
		head += fmt.Sprintf(" The last %d %s not shown, for want of room.", came-shown, isOrAre(came-shown))
	}
	return head + b.String()
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// joinQuotedNames joins names that are Markdown already, and thus cannot be cut.
func joinQuotedNames(by []string) string {
	const most = 10
	if len(by) <= most {
		return strings.Join(by, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(by[:most], ", "), len(by)-most)
}

// renderMarkdown quotes e with at most most bytes of each text, and reports whether one was cut.
func (e mergedFinding) renderMarkdown(pr quorum.PR, most int) (text string, short bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n**%s**", joinQuotedNames(e.reviewers()))
	first := e.words[0].finding
	if first.Path != "" {
		where := clipRunes(oneLine(first.Path), 300)
		if first.Line > 0 {
			where += fmt.Sprintf(":%d", first.Line)
		}
		b.WriteString(" · " + Quote(where))
	}
	for _, w := range e.words {
		if len(e.words) > 1 {
			b.WriteString("\n\n" + joinQuotedNames(w.reviewers))
			if w.finding.Line != first.Line {
				fmt.Fprintf(&b, " · line %d", w.finding.Line)
			}
		}
		short = w.writeMarkdown(&b, pr, most) || short
	}
	return b.String(), short
}

// writeMarkdown quotes words with at most most bytes, and reports whether they were cut.
func (w saidWords) writeMarkdown(b *strings.Builder, pr quorum.PR, most int) (short bool) {
	if w.finding.Severity != 0 {
		b.WriteString(" · " + w.finding.Severity.String())
	}
	if w.finding.Below {
		b.WriteString(" · below min_severity")
	}
	if l := repositoryLink(pr, "comment", w.finding.URL); l != "" {
		b.WriteString(" · " + l)
	}
	body := strings.TrimSpace(makeVisible(w.finding.Body))
	if body == "" {
		body = "(no text)"
	}
	whole := len(body)
	body = cutBytes(body, most)
	b.WriteString("\n\n" + Fence(body))
	if len(body) < whole {
		fmt.Fprintf(b, "\n\n_Cut: %d of %d bytes are shown._", len(body), whole)
	}
	return len(body) < whole
}
