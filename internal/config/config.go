package config

// The entry: bytes in, a resolved policy or every mistake out.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// MaxSize is the size of the largest policy file that is read, in bytes.
const MaxSize = 64 << 10

// Paths are where a policy file is looked for in a repository, in this order.
func Paths() []string {
	return []string{".github/review-coordinator.yml", ".github/review-coordinator.yaml"}
}

// An Error holds all mistakes of a policy file, in the order of the lines.
type Error struct {
	Problems []Diagnostic
}

// maxShownProblems bounds what an error prints: a file may be one big mistake, and a pull request may have written it.
const maxShownProblems = 20

func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == maxShownProblems {
			fmt.Fprintf(&b, "\nand %d more", len(e.Problems)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// A Diagnostic is one mistake, or one warning, with its place.
type Diagnostic struct {
	Path    string
	Line    int // 1-based
	Column  int // 1-based, in characters
	Message string
	Hint    string // how to write it instead
	Snippet string // the line, and below it a caret
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

// Parse reads a policy file; path is only used in messages. With an error, which is an [*Error], the policy is zero but
// for Check: the name of the check that has to show the error, as far as it can be made out.
func Parse(path string, src []byte) (quorum.Policy, error) {
	policy, r := readPolicy(path, src)
	if len(r.problems) > 0 {
		return quorum.Policy{Check: policy.Check}, &Error{Problems: sortByPosition(r.problems)}
	}
	return policy, nil
}

// Warnings returns what is allowed in a policy file and yet likely to be regretted. A file with mistakes has none.
func Warnings(path string, src []byte) []Diagnostic {
	_, r := readPolicy(path, src)
	if len(r.problems) > 0 {
		return nil
	}
	return sortByPosition(r.warnings)
}

func readPolicy(path string, src []byte) (quorum.Policy, *policyFileReader) {
	r := newPolicyFileReader(path, src)
	file := Default()
	root, ok := r.parseFile()
	if !ok {
		return quorum.Policy{Check: findCheckName(src, file.Check)}, r
	}
	r.decodeFile(root, &file)
	policy := policyResolver{r}.resolvePolicy(file)
	if r.brokenKeys["check"] {
		policy.Check = Default().Check
	}
	return policy, r
}

// findCheckName finds the name of the check in a file that is no YAML: the error must not appear under a name that no
// rule requires.
func findCheckName(src []byte, fallback string) string {
	for line := range strings.Lines(string(src[:min(len(src), MaxSize)])) {
		if !strings.HasPrefix(line, "check:") || len(line) > 500 {
			continue
		}
		r := newPolicyFileReader("", []byte(line))
		file := PolicyKeys{Check: fallback}
		if root, ok := r.parseFile(); ok {
			r.decodeFile(root, &file)
			if !r.brokenKeys["check"] {
				return file.Check
			}
		}
	}
	return fallback
}

func sortByPosition(problems []Diagnostic) []Diagnostic {
	slices.SortStableFunc(problems, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return problems
}
