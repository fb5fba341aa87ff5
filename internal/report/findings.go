package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What reviewers object to is brought together here: two who say something of the same place mean the same.

// mergeFindings brings together what several reviewers say of the same place, and what is the same: file, line and
// text. What holds the pull request back comes first, and of that the gravest.
func mergeFindings(s quorum.Snapshot, x Places, ballots []quorum.Ballot) (all []PageFinding, came int) {
	type key struct {
		path string
		line int
		body string
	}
	type position struct{ group, words int }
	at := map[key]position{}
	groups := placeIndex{}
	for _, b := range ballots {
		by := namePhrase(b.Reviewer)
		if !b.Voter() {
			by = append(by, Span{Text: " (would not count)"})
		}
		for _, f := range b.Findings {
			came++
			k := key{f.Path, f.Line, normalizeText(f.Body)}
			same, seen := at[k]
			if !seen {
				g, near := groups.groupNear(f, b.Reviewer)
				if !near {
					g = len(all)
					all = append(all, PageFinding{Path: f.Path, Line: f.Line})
				}
				same = position{g, len(all[g].Said)}
				at[k] = same
				all[g].Said = append(all[g].Said, PageWords{Line: f.Line, Severity: f.Severity, Below: f.Below, Body: f.Body})
			}
			groups.add(f, b.Reviewer, same.group)
			m := &all[same.group]
			m.Count++
			w := &m.Said[same.words]
			w.Below = w.Below && f.Below
			w.Objects = w.Objects || b.Voter() && b.Vote == quorum.Object && !f.Below
			if w.URL == "" && isRepositoryPage(s.PR.PR, f.URL) {
				w.URL = f.URL
			}
			if !slices.ContainsFunc(w.By, func(p Phrase) bool { return slices.Equal(p, by) }) {
				w.By = append(w.By, by)
			}
		}
	}
	for i := range all {
		all[i].URL = cmp.Or(all[i].Said[0].URL, lineURL(s, x, all[i].Path, all[i].Line))
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].gravity() > all[j].gravity() })
	return all, came
}

// Objects reports whether f holds the pull request back.
func (f PageFinding) Objects() bool {
	return slices.ContainsFunc(f.Said, func(w PageWords) bool { return w.Objects })
}

// By are all who say something of the place, each once.
func (f PageFinding) By() (names []Phrase) {
	for _, w := range f.Said {
		for _, by := range w.By {
			if !slices.ContainsFunc(names, func(p Phrase) bool { return slices.Equal(p, by) }) {
				names = append(names, by)
			}
		}
	}
	return names
}

// Place is where f is: its file and line; "" where it names none.
func (f PageFinding) Place() string {
	where := clipRunes(oneLine(f.Path), 300)
	if where != "" && f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
	}
	return where
}

// gravity orders findings. A severity that is not known objects like any other, and stands between low and high.
func (f PageFinding) gravity() (most int) {
	for _, w := range f.Said {
		grave := 1 + int(cmp.Or(w.Severity, quorum.Medium))
		if w.Objects {
			grave += 100
		}
		most = max(most, grave)
	}
	return most
}

// lineURL returns the address of a line at the head; "" if that cannot be told.
func lineURL(s quorum.Snapshot, x Places, path string, line int) string {
	if x.Web == "" || path == "" || len(path) > 400 || oneLine(path) != path || s.PR.Head == "" {
		return ""
	}
	url := x.Web + "/" + pathOf(s.PR.Owner, s.PR.Repo, "blob", s.PR.Head, path)
	if line > 0 && line <= maxLine {
		url += fmt.Sprintf("#L%d", line)
	}
	if !isRepositoryPage(s.PR.PR, url) {
		return ""
	}
	return url
}

// maxLine is the greatest line that GitHub takes.
const maxLine = 1 << 30

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
