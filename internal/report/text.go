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
	maxText      = 65_535
	maxAnswers   = 16 << 10
	maxExcerpt   = 600 // characters
	excerptsEach = 2   // of an answer without a verdict: the two attempts of one reviewer
)

// text is the check's text for d and the record that is written with it.
func text(d quorum.Decision, rec quorum.Record) string {
	var b strings.Builder
	b.WriteString(jsonBlock(d, rec))
	if a := answers(d); len(a) < maxText-b.Len() {
		b.WriteString(a)
	}
	b.WriteString(findings(d, maxText-b.Len()))
	return b.String()
}

// answers shows what reviewers wrote instead of a verdict.
func answers(d quorum.Decision) string {
	var b strings.Builder
	for _, x := range d.Ballots {
		if !answered(x) {
			continue
		}
		var one strings.Builder
		fmt.Fprintf(&one, "\n\n**%s**: %s.", name(x.Reviewer), Sentence(malformed(x.Reason)))
		for i, a := range x.Answers[max(0, len(x.Answers)-excerptsEach):] {
			fmt.Fprintf(&one, "\n\nAnswer %d:\n\n%s", i+1+max(0, len(x.Answers)-excerptsEach), Fence(clip(strings.TrimSpace(visible(cut(a, maxOneLine))), maxExcerpt)))
		}
		if advice := Advice(malformed(x.Reason)); advice != "" {
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

// answered reports whether b is a reviewer that answered without a verdict and has given none since.
func answered(b quorum.Ballot) bool {
	return len(b.Answers) > 0 && (b.Vote == quorum.Unavailable || b.Vote == quorum.Pending)
}

// malformed is why the answers that are shown were none, where the reviewer's last attempt came to something else.
func malformed(r quorum.Reason) quorum.Reason {
	switch r {
	case quorum.ReasonContradicts, quorum.ReasonTemplate, quorum.ReasonConditional:
		return r
	default:
		return quorum.ReasonMalformed
	}
}

// entry is one finding with everybody who reported it.
type entry struct {
	f     quorum.Finding
	by    []string // Markdown
	count int      // findings that it stands for
}

// merge brings the same finding (file, line and text) of several reviewers together.
func merge(ballots []quorum.Ballot) (all []entry, came int) {
	type key struct {
		path string
		line int
		body string
	}
	at := map[key]int{}
	for _, b := range ballots {
		by := name(b.Reviewer)
		if !voter(b) {
			by += " (not counted)"
		}
		for _, f := range b.Findings {
			came++
			k := key{f.Path, f.Line, sameText(f.Body)}
			i, seen := at[k]
			if !seen {
				i = len(all)
				at[k] = i
				all = append(all, entry{f: f})
			}
			all[i].count++
			all[i].f.Below = all[i].f.Below && f.Below
			if !slices.Contains(all[i].by, by) {
				all[i].by = append(all[i].by, by)
			}
		}
	}
	return all, came
}

func sameText(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// findings quotes all findings in at most room bytes: each as long as possible, so that as many are shown as came in.
func findings(d quorum.Decision, room int) string {
	all, came := merge(d.Ballots)
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
			t, short := e.markdown(d.PR, most)
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
	head := fmt.Sprintf("\n\n### Findings\n\n%s came in, %d %s shown", counted(came, "finding"), shown, be(shown))
	if shown == came && len(all) < came {
		head += fmt.Sprintf(", as %d: the same file, line and text stand here once", len(all))
	}
	head += "."
	if shortened > 0 {
		head += fmt.Sprintf(" %d of them %s cut, for want of room.", shortened, be(shortened))
	}
	if shown < came {
		head += fmt.Sprintf(" The last %d %s not shown, for want of room.", came-shown, be(came-shown))
	}
	return head + b.String()
}

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// authors joins names that are Markdown already, and thus cannot be cut.
func authors(by []string) string {
	const most = 10
	if len(by) <= most {
		return strings.Join(by, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(by[:most], ", "), len(by)-most)
}

// markdown quotes e with at most most bytes of its text, and reports whether it was cut.
func (e entry) markdown(pr quorum.PR, most int) (text string, short bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n**%s**", authors(e.by))
	if e.f.Path != "" {
		where := clip(oneLine(e.f.Path), 300)
		if e.f.Line > 0 {
			where += fmt.Sprintf(":%d", e.f.Line)
		}
		b.WriteString(" · " + Quote(where))
	}
	if e.f.Severity != 0 {
		b.WriteString(" · " + e.f.Severity.String())
	}
	if e.f.Below {
		b.WriteString(" · below min_severity")
	}
	if l := link(pr, "comment", e.f.URL); l != "" {
		b.WriteString(" · " + l)
	}
	body := strings.TrimSpace(visible(e.f.Body))
	if body == "" {
		body = "(no text)"
	}
	whole := len(body)
	body = cut(body, most)
	b.WriteString("\n\n" + Fence(body))
	if len(body) < whole {
		fmt.Fprintf(&b, "\n\n_Cut: %d of %d bytes are shown._", len(body), whole)
	}
	return b.String(), len(body) < whole
}
