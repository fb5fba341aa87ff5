package main

// How the house is written: phrases that make a reader stop, in comments and docs; and how much of it one event enters.

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrases are the constructions that are counted, each as whole words in any case.
var phrases = map[string]string{
	"what is": "what is", "who": "who", "whoever, whatever": "whoever|whatever", "nobody": "nobody", "of it": "of it",
	"beside": "beside", "so many": "so many", "is told, says": "(?:is|are) (?:told|tells?|says?)",
}

// countPhrases counts phrases in the docs and in all comments, those of tests included.
func (c *census) countPhrases() {
	texts := maps.Clone(c.docs)
	for _, p := range c.packages {
		for _, file := range p.files {
			texts[path.Join(p.path, file.name)] = file.comments()
		}
	}
	for _, phrase := range slices.Sorted(maps.Keys(phrases)) {
		m, uses := c.addLine(usesOfPhrase, phrase), regexp.MustCompile(`(?i)\b(?:`+phrases[phrase]+`)\b`)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			n := len(uses.FindAllString(texts[name], -1))
			m.among += len(strings.Fields(texts[name]))
			m.addCount(n, fmt.Sprintf("%4d %s", n, name))
		}
	}
}

// comments is the text of a file's comments.
func (f sourceFile) comments() string {
	var all strings.Builder
	for _, t := range f.tokens(scanner.ScanComments) {
		if t.kind == token.COMMENT {
			all.WriteString(t.text + "\n")
		}
	}
	return all.String()
}

// countFunctionsOfWebhook counts the product's functions with a line that the coverage profile says was run.
func (c *census) countFunctionsOfWebhook() {
	if c.covered == nil {
		return
	}
	m := c.addLine(functionsOfWebhook, "")
	for _, p := range c.packages {
		if isAtOrBelow(p.path, outsideProduct) {
			continue
		}
		n := 0
		for _, file := range p.files {
			if file.syntax == nil || file.test {
				continue
			}
			for _, decl := range file.syntax.Decls {
				first, last := p.fset.Position(decl.Pos()).Line, p.fset.Position(decl.End()).Line
				wasRun := func(line int) bool { return first <= line && line <= last }
				if _, isFunc := decl.(*ast.FuncDecl); isFunc && slices.ContainsFunc(c.covered[path.Join(p.path, file.name)], wasRun) {
					n++
				}
			}
		}
		m.addCount(n, fmt.Sprintf("%4d %s", n, p.path))
	}
}

// A block is one line of a coverage profile: a file, where the block begins, and whether it was run.
var block = regexp.MustCompile(`^([^:]+):(\d+)\.\d+,\d+\.\d+ \d+ (\d+)$`)

// readProfile returns the first lines of the blocks that were run, by file within the module.
func readProfile(name, module string) (map[string][]int, error) {
	profile, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	covered := map[string][]int{}
	for line := range strings.Lines(string(profile)) {
		at := block.FindStringSubmatch(strings.TrimSpace(line))
		if at == nil || at[3] == "0" {
			continue
		}
		first, err := strconv.Atoi(at[2])
		if err != nil {
			return nil, err
		}
		if file, isOurs := strings.CutPrefix(at[1], module+"/"); isOurs {
			covered[file] = append(covered[file], first)
		}
	}
	if len(covered) == 0 {
		return nil, fmt.Errorf("%s is no coverage profile in which anything of %s was run", name, module)
	}
	return covered, nil
}
