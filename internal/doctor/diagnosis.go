package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Grade says how bad a thing is.
type Grade uint8

// From worst to best.
const (
	Broken  Grade = 1 + iota // the check cannot be trusted, or cannot arrive
	ToDo                     // the last step of a set-up, once nothing is broken
	Warning                  // it will be regretted
	Unknown                  // it could not be read
	Fine                     //
)

// String is the grade's word.
func (g Grade) String() string {
	words := map[Grade]string{Broken: "broken", ToDo: "to do", Warning: "warning", Unknown: "unknown", Fine: "fine"}
	return cmp.Or(words[g], "no grade")
}

// MarshalText writes the grade's word.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// A Diagnosis is one thing about a set-up.
type Diagnosis struct {
	Code   string   `json:"code"` // which thing it is: for tools, and for the page that explains it
	Grade  Grade    `json:"grade"`
	Says   string   `json:"says"`
	Remedy string   `json:"remedy,omitempty"`
	Fix    []string `json:"fix,omitempty"` // commands for a shell that do what the remedy says
}

// Examine says what is wrong with a set-up, the worst first, and what is fine.
func Examine(s Setup) []Diagnosis {
	e := &examination{Setup: s}
	e.examineUnread()
	if e.examinePolicy() {
		e.posts = postersOf(s.Workflows)
		for _, area := range []struct {
			code, fine string
			examine    func()
		}{
			{"fine-required", "the check is required, and from whom it must come is said", rulesExam{e}.examineRequired},
			{"fine-posting", "something posts the check, and hears of what happens", postingExam{e}.examinePosting},
			{"fine-actions", "nobody else is invited to write as github-actions[bot]", e.examineActions},
			{"fine-reviewers", "each reviewer can answer, and the quorum can be reached", reviewersExam{e}.examineReviewers},
		} {
			before := len(e.all)
			area.examine()
			if len(e.all) == before && !e.unsure[area.code] {
				e.add(Diagnosis{Code: area.code, Grade: Fine, Says: area.fine})
			}
		}
	}
	slices.SortStableFunc(e.all, func(a, b Diagnosis) int { return int(a.Grade) - int(b.Grade) })
	return e.all
}

// CanBeTrusted reports whether nothing is broken.
func CanBeTrusted(all []Diagnosis) bool {
	return !slices.ContainsFunc(all, func(d Diagnosis) bool { return d.Grade == Broken })
}

// An examination is a set-up with what was found so far.
type examination struct {
	Setup
	posts  []poster
	all    []Diagnosis
	unsure map[string]bool // areas of which a part was not read
}

// longest is more than any sentence of ours with the names in it.
const longest = 600

// add adds what was found. Paths of files stand in it as they are: what they hide, or do to a terminal, is taken out here.
func (e *examination) add(d Diagnosis) {
	d.Says, d.Remedy = plainText(d.Says, longest), plainText(d.Remedy, longest)
	e.all = append(e.all, d)
}

// report adds what is wrong, with its remedy.
func (e *examination) report(grade Grade, code, says, remedy string, fix ...string) {
	e.add(Diagnosis{Code: code, Grade: grade, Says: says, Remedy: remedy, Fix: fix})
}

// isUnread reports whether GitHub did not tell a part.
func (e *examination) isUnread(part Part) bool {
	return slices.ContainsFunc(e.Unread, func(u Unread) bool { return u.Part == part })
}

// areaOf is the area that a part belongs to.
func areaOf(part Part) string {
	switch part {
	case RulesPart, ProtectionPart, RulesetsPart:
		return "fine-required"
	case QueuePart:
		return "fine-posting"
	case ActionsPart, DefaultTokenPart:
		return "fine-actions"
	case WorkflowsPart:
		return "fine-posting"
	case PullsPart, AnswersPart, WritersPart:
		return "fine-reviewers"
	}
	return ""
}

// examineUnread says what could not be read.
func (e *examination) examineUnread() {
	e.unsure = map[string]bool{}
	for _, u := range e.Unread {
		e.unsure[areaOf(u.Part)] = true
		if u.Part == WorkflowsPart {
			e.unsure["fine-reviewers"] = true
		}
		remedy := ""
		if u.Needs != "" {
			remedy = "give the token the permission " + u.Needs + ", or ask somebody who has it to run this"
		}
		e.report(Unknown, "not-read", u.What+" could not be read", remedy)
	}
}

// examinePolicy reports whether there is a policy to speak of.
func (e *examination) examinePolicy() bool {
	switch e.File.State {
	case quorum.FileMissing:
		e.report(Broken, "no-policy", fmt.Sprintf("there is no policy on %s: no check is written", quoteName(e.Branch)),
			"write one: coordinator init", e.initCommand())
		return false
	case quorum.FileBroken:
		first, _, _ := strings.Cut(e.File.Problem, "\n")
		if e.File.Org.Broken {
			e.report(Broken, "broken-organisation-policy", "the organisation's policy in "+quoteName(e.File.Org.Repo)+" cannot be used: "+
				plainText(first, 300), "mend it, or let the App or the token read it: docs/organisation.md")
			return false
		}
		e.report(Broken, "broken-policy", "the policy has a mistake: "+plainText(first, 200),
			"coordinator config check "+quoteShell(e.File.Path)+" shows where, and what to write")
		return false
	case quorum.FileValid:
	}
	if e.Policy.Mode == quorum.Off {
		e.report(Broken, "mode-off", "the policy says mode: off: no check is written", "take the line out")
		return false
	}
	return true
}

// quoteName quotes a name of somebody's, which is data: on one line, short, and nothing that a terminal obeys.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(plainText(name, 80), `"`, "'") + `"`
}

// plainText is a text on one line, without what hides, turns or moves text, and short.
func plainText(text string, most int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case !unicode.IsPrint(r):
			return '�'
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	clean = strings.Join(strings.Fields(clean), " ")
	if runes := []rune(clean); len(runes) > most {
		clean = string(runes[:most]) + "…"
	}
	return clean
}

// listNames joins quoted names; of many the first are enough.
func listNames(names []string) string {
	const most = 8
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, quoteName(name))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// countNoun returns a number with its noun.
func countNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
