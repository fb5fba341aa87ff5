package config

// What is told about a file: its mistakes and warnings, each with its place.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MaxSize is the size of the largest policy file that is read, in bytes.
const MaxSize = 64 << 10

// An Error holds all mistakes of a policy file, in the order of the lines.
type Error struct {
	Problems []Diagnostic
}

// maxShownProblems bounds what an error prints: a file may be one big mistake, and a pull request may have written it.
const maxShownProblems = 20

func (e *Error) Error() string {
	var told []string
	for _, p := range e.Problems[:min(len(e.Problems), maxShownProblems)] {
		told = append(told, p.String())
	}
	if more := len(e.Problems) - maxShownProblems; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(told, "\n")
}

// A Diagnostic is one mistake, or one warning, with its place.
type Diagnostic struct {
	Path    string `json:"-"`
	Line    int    `json:"line"`   // 1-based
	Column  int    `json:"column"` // 1-based, in characters
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // how to write it instead
	Snippet string `json:"-"`              // the line, and below it a caret
}

func (p Diagnostic) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Message)
	if p.Snippet != "" {
		s += "\n" + p.Snippet
	}
	if p.Hint != "" {
		s += "\n  hint: " + p.Hint
	}
	return s
}

func sortByPosition(problems []Diagnostic) []Diagnostic {
	slices.SortStableFunc(problems, func(a, b Diagnostic) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return problems
}
