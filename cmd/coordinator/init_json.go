//go:build !action

package main

// What init prints: as JSON, or by the texts of init_texts.txt.

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/report"
)

// An initJSON is what coordinator init found in a repository and did for it.
type initJSON struct {
	Repository  string         `json:"repository"`
	Branch      string         `json:"default_branch,omitempty"`
	Did         string         `json:"did"`              // wrote, proposed, or nothing
	Folder      string         `json:"folder,omitempty"` // below which the files were written
	PullRequest *proposedJSON  `json:"pull_request,omitempty"`
	Files       []initFileJSON `json:"files"`
	Listen      []string       `json:"listens_to,omitempty"` // names of workflows
	config.Draft
	Against      *againstJSON `json:"against,omitempty"` // what the policy would have decided
	Next         []initStep   `json:"next,omitempty"`
	IsUnreleased bool         `json:"-"` // the action's version is not known
	Docs         string       `json:"-"` // address of this version's docs
}

//go:embed init_texts.txt
var initTextsSource string

// initTexts say to a person what JSON says to a program. What the repository's texts and names gave is quoted in a pull
// request, and one line in a terminal.
var initTexts = template.Must(template.New("").Funcs(template.FuncMap{
	"oneLine": oneLine, "quote": report.Quote, "join": strings.Join, "after": func(i int) int { return i + 1 }, "count": countNoun,
}).Parse(initTextsSource + againstSource))

// text returns one of the texts.
func (r initJSON) text(name string) string {
	var b strings.Builder
	if err := initTexts.ExecuteTemplate(&b, name, r); err != nil {
		panic("init: a text is broken: " + err.Error()) // unreachable unless the template is wrong
	}
	return b.String()
}

// print prints the result as JSON, if that is asked for, else in words.
func (r initJSON) print(c *command, words string) error {
	if c.JSON != nil {
		return c.writeJSON(r)
	}
	_, err := fmt.Fprint(c.Stdout, words)
	return err
}

type proposedJSON struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

type initFileJSON struct {
	Path    string `json:"path"`
	Does    string `json:"does"`
	Content string `json:"content,omitempty"` // with --dry-run
}

// An initStep is what a person does next.
type initStep struct {
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
}

// result describes a set-up and what was done with it.
func (s setup) result(did string) initJSON {
	out := s.initJSON
	out.Did, out.Files = did, []initFileJSON{}
	for _, f := range s.files {
		out.Files = append(out.Files, initFileJSON{Path: f.path, Does: f.does})
	}
	return out
}
