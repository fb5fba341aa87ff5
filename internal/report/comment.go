package report

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The comment that tells the verdict where people talk. It is short, it is edited in place, and it says nothing that the
// check does not say: whoever wants to know more follows its link.

// A Comment is how the comment that tells the verdict must read.
type Comment struct {
	Make   bool   // it is written where there is none; else only one that stands is kept true
	Check  string // the name of the check to which it leads
	Others string // where it leads without one
	text   string
}

// maxCommentSteps is how many steps the comment names: those that help first.
const maxCommentSteps = 3

// CommentOf returns the comment that a decision calls for, whose check is c; false where nothing is told: nothing is
// decided here.
func CommentOf(p quorum.Policy, d quorum.Decision, c Check) (Comment, bool) {
	if d.Verdict == quorum.Ended || p.Comment == 0 {
		return Comment{}, false
	}
	told := Comment{Check: c.Name, Others: c.DetailsURL}
	if p.Comment == quorum.CommentNever { // it was another policy that had it written
		told.text = "**" + quoteName(c.Name) + "** is not told here any more: see the check."
		return told, true
	}
	isProblem := d.Verdict == quorum.Blocked || d.Verdict == quorum.Unverified
	told.Make = isProblem
	var b strings.Builder
	b.WriteString("**" + quoteName(c.Name) + ": " + c.Page.Verdict + ".** " + c.Page.Lead.Markdown())
	if p.Mode == quorum.ReportOnly {
		b.WriteString(" It only reports, and holds back nothing.")
	}
	b.WriteString("\n")
	steps := c.Page.Steps[:min(len(c.Page.Steps), maxCommentSteps)]
	if !isProblem { // they come and go with each attempt
		steps = nil
	}
	for _, s := range steps {
		s.What = inTheCheck(s.What)
		b.WriteString("\n- " + s.markdown())
	}
	told.text = b.String()
	return told, true
}

// inTheCheck is a step as it reads where the findings are not below it.
func inTheCheck(what Phrase) Phrase {
	what = slices.Clone(what)
	for i := range what {
		if what[i].From == FromUs {
			what[i].Text = strings.Replace(what[i].Text, " below, and push", " in the check, and push", 1)
		}
	}
	return what
}

// Body is the comment as it is written; url is the check's page.
func (c Comment) Body(url string) string {
	link := "[The whole check](" + url + ")"
	if url == "" {
		link = "More stands in the check."
	}
	return quorum.VerdictMarker + "\n" + strings.TrimRight(c.text, "\n") + "\n\n" + link + "\n"
}
