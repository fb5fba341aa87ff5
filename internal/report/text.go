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

// mergedFinding is one finding with everybody who reported it.
type mergedFinding struct {
	finding   quorum.Finding
	reviewers []string // Markdown
	count     int      // findings that it stands for
}

// mergeFindings brings the same finding (file, line and text) of several reviewers together.
func mergeFindings(ballots []quorum.Ballot) (all []mergedFinding, came int) {
	type key struct {
		path string
		line int
		body string
	}
	at := map[key]int{}
	for _, b := range ballots {
		by := quoteName(b.Reviewer)
		if !b.Voter() {
			by += " (would not count)"
		}
		for _, f := range b.Findings {
			came++
			k := key{f.Path, f.Line, normalizeText(f.Body)}
			i, seen := at[k]
			if !seen {
				i = len(all)
				at[k] = i
				all = append(all, mergedFinding{finding: f})
			}
			all[i].count++
			all[i].finding.Below = all[i].finding.Below && f.Below
			if !slices.Contains(all[i].reviewers, by) {
				all[i].reviewers = append(all[i].reviewers, by)
			}
		}
	}
	return all, came
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
		head += fmt.Sprintf(", as %d: the same file, line and text stand here once", len(all))
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

// renderMarkdown quotes e with at most most bytes of its text, and reports whether it was cut.
func (e mergedFinding) renderMarkdown(pr quorum.PR, most int) (text string, short bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n**%s**", joinQuotedNames(e.reviewers))
	if e.finding.Path != "" {
		where := clipRunes(oneLine(e.finding.Path), 300)
		if e.finding.Line > 0 {
			where += fmt.Sprintf(":%d", e.finding.Line)
		}
		b.WriteString(" · " + Quote(where))
	}
	if e.finding.Severity != 0 {
		b.WriteString(" · " + e.finding.Severity.String())
	}
	if e.finding.Below {
		b.WriteString(" · below min_severity")
	}
	if l := repositoryLink(pr, "comment", e.finding.URL); l != "" {
		b.WriteString(" · " + l)
	}
	body := strings.TrimSpace(makeVisible(e.finding.Body))
	if body == "" {
		body = "(no text)"
	}
	whole := len(body)
	body = cutBytes(body, most)
	b.WriteString("\n\n" + Fence(body))
	if len(body) < whole {
		fmt.Fprintf(&b, "\n\n_Cut: %d of %d bytes are shown._", len(body), whole)
	}
	return b.String(), len(body) < whole
}
