package main

// What is counted, and how. Code is what stands outside of _test.go files; tests count where a figure says so.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A measurement is one line of the table.
type measurement struct {
	kind    kind
	of      string // a package, a type or a phrase; "" for the whole house
	counted int
	among   int         // what counted is a share of; 0: it is no share
	limit   *upperLimit // nil: the figure is only printed
	places  []string    // what was counted, for -v
}

// addCount adds n that were found at a place.
func (m *measurement) addCount(n int, place string) {
	if n > 0 {
		m.counted, m.places = m.counted+n, append(m.places, place)
	}
}

// figure is what was counted, or its share, rounded to a tenth: what reads as the limit is within it. A share is in
// percent, that of a phrase in uses for each 10,000 words.
func (m *measurement) figure() float64 {
	if m.among == 0 {
		return float64(m.counted)
	}
	tenths := 1000
	if m.kind == usesOfPhrase {
		tenths = 100_000
	}
	return math.Round(float64(tenths*m.counted)/float64(m.among)) / 10
}

func (m *measurement) fallsBehind() bool { return m.limit != nil && m.figure() > m.limit.most }

// A census goes through the packages and the docs and fills the table.
type census struct {
	checkout
	limits limitTable
	table  []*measurement
}

// measureHouse returns all figures of a checkout, in the order of the table.
func measureHouse(house checkout, limits limitTable) []*measurement {
	c := &census{checkout: house, limits: limits}
	c.countLines()
	c.countRooms()
	c.countWideLines(false, wideCode, widestCode, 140)
	c.countWideLines(true, wideTests, widestTests, 160)
	c.findCircles()
	c.countMembers(methodsOfType, checkedPackage.methodsOf)
	c.countMembers(fieldsOfStruct, checkedPackage.fieldsOf)
	c.countOneWordNames()
	c.countSharedTypes()
	c.countNamesHeldByTests()
	c.countPhrases()
	c.countFunctionsOfWebhook()
	return c.table
}

// addLine puts an empty line into the table.
func (c *census) addLine(kind kind, of string) *measurement {
	c.table = append(c.table, &measurement{kind: kind, of: of, limit: c.limits.limitOf(kind, of)})
	return c.table[len(c.table)-1]
}

// countLines counts all lines, also empty ones and comments.
func (c *census) countLines() {
	code, tests, biggest := c.addLine(linesOfCode, ""), c.addLine(linesOfTests, ""), c.addLine(biggestPackage, "")
	for _, p := range c.packages {
		lines := make(map[bool]int)
		for _, file := range p.files {
			lines[file.test] += len(file.lines)
		}
		code.addCount(lines[false], fmt.Sprintf("%6d %s", lines[false], p.path))
		tests.addCount(lines[true], fmt.Sprintf("%6d %s", lines[true], p.path))
		if lines[false] > biggest.counted {
			biggest.of, biggest.counted = p.path, lines[false]
		}
	}
}

// countRooms counts the lines of code of each room that a limit names. A package is of the first room that it lies in.
func (c *census) countRooms() {
	rooms := map[*upperLimit]*measurement{}
	for i := range c.limits {
		if room := &c.limits[i]; room.kind == linesOfRoom {
			name := cmp.Or(strings.Join(room.of, ", "), "none")
			if len(room.of) > 3 {
				name = room.of[0] + " …"
			}
			rooms[room] = c.addLine(linesOfRoom, name)
			rooms[room].limit = room
		}
	}
	for _, p := range c.packages {
		m := rooms[c.limits.limitOf(linesOfRoom, p.path)]
		if m == nil {
			continue
		}
		for _, file := range p.files {
			if !file.test {
				m.addCount(len(file.lines), "")
			}
		}
	}
}

// countWideLines counts lines of tests or of code: the share of those over 120 columns, and those past the outer bound
// that hold no long text.
func (c *census) countWideLines(tests bool, share, number kind, outerBound int) {
	wide, widest := c.addLine(share, ""), c.addLine(number, "")
	for _, p := range c.packages {
		for _, file := range p.files {
			if file.test != tests {
				continue
			}
			where := path.Join(p.path, file.name)
			wide.among += len(file.lines)
			over120 := len(file.linesOver(120))
			wide.addCount(over120, fmt.Sprintf("%4d %s", over120, where))
			texts := file.linesOfTexts()
			for _, line := range file.linesOver(outerBound) {
				if texts[line] {
					continue
				}
				widest.addCount(1, fmt.Sprintf("%s:%d", where, line))
			}
		}
	}
}

// linesOver are the numbers of the file's lines of more columns than that. A tab is four columns wide.
func (f sourceFile) linesOver(columns int) (numbers []int) {
	for i, line := range f.lines {
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > columns {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// longText is from how many characters on a string literal is not broken for the width of its line: a search finds it
// whole.
const longText = 60

// linesOfTexts are the numbers of the lines that hold a long string literal, or a part of one.
func (f sourceFile) linesOfTexts() map[int]bool {
	lines := map[int]bool{}
	for _, t := range f.tokens(0) {
		if t.kind == token.STRING && utf8.RuneCountInString(t.text) >= longText {
			for line := t.line; line <= t.line+strings.Count(t.text, "\n"); line++ {
				lines[line] = true
			}
		}
	}
	return lines
}

// A fileToken is one token of a file's source.
type fileToken struct {
	line int // where it begins
	kind token.Token
	text string
}

// tokens are the tokens of the file in their order.
func (f sourceFile) tokens(mode scanner.Mode) (all []fileToken) {
	files, source := token.NewFileSet(), []byte(strings.Join(f.lines, "\n"))
	var s scanner.Scanner
	s.Init(files.AddFile(f.name, -1, len(source)), source, nil, mode)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return all
		}
		all = append(all, fileToken{files.Position(at).Line, kind, text})
	}
}

// A leaning holds, for each file, the files that it leans on and which of their package-level names, methods and fields
// it uses. A method that is called through an interface stands where the interface does.
type leaning map[string]map[string][]string

// findCircles finds in each package the largest set of files that all lean on each other, if only through one another.
func (c *census) findCircles() {
	for _, p := range c.packages {
		leans := make(leaning)
		for _, file := range p.files {
			leans[file.name] = make(map[string][]string)
		}
		for _, use := range p.nameUses() {
			if !use.in.test && !use.declaredIn.test && use.in != use.declaredIn {
				names := leans[use.in.name][use.declaredIn.name]
				leans[use.in.name][use.declaredIn.name] = append(names, use.name.Name())
			}
		}
		circle := leans.largestCircle()
		if len(circle) < 2 {
			continue
		}
		m := c.addLine(largestCircle, p.path)
		for _, file := range circle {
			var uses []string
			for _, other := range circle {
				if names := leans[file][other]; len(names) > 0 {
					slices.Sort(names)
					uses = append(uses, other+" ("+strings.Join(slices.Compact(names), " ")+")")
				}
			}
			m.addCount(1, file+" leans on "+strings.Join(uses, ", "))
		}
	}
}

// largestCircle returns the largest set of files of which each reaches every other.
func (l leaning) largestCircle() (largest []string) {
	reached := make(map[string]map[string]bool, len(l))
	for file := range l {
		reached[file] = make(map[string]bool)
		l.markReached(file, reached[file])
	}
	files := slices.Sorted(maps.Keys(l))
	for _, file := range files {
		isOutside := func(other string) bool { return !reached[file][other] || !reached[other][file] }
		if circle := slices.DeleteFunc(slices.Clone(files), isOutside); len(circle) > len(largest) {
			largest = circle
		}
	}
	return largest
}

// markReached marks the files that file leans on, and those that these lean on.
func (l leaning) markReached(file string, reached map[string]bool) {
	for next := range l[file] {
		if !reached[next] {
			reached[next] = true
			l.markReached(next, reached)
		}
	}
}

// countMembers counts each type's methods or fields: of the product's the ten largest, of others those past the general
// limit.
func (c *census) countMembers(kind kind, membersOf func(checkedPackage, *types.TypeName) []string) {
	before, general := len(c.table), c.limits.limitOf(kind, "")
	var others []*measurement
	for _, p := range c.packages {
		for _, typ := range p.declaredTypes() {
			m := c.addLine(kind, p.path+"."+typ.Name())
			for _, member := range membersOf(p, typ) {
				m.addCount(1, member)
			}
			if isAtOrBelow(p.path, outsideProduct) || m.counted == 0 {
				c.table = c.table[:len(c.table)-1]
				if general != nil && m.figure() > general.most {
					others = append(others, m)
				}
			}
		}
	}
	product := c.table[before:]
	slices.SortStableFunc(product, func(a, b *measurement) int { return cmp.Compare(b.counted, a.counted) })
	c.table = append(c.table[:before+min(10, len(product))], others...)
}

// declaredTypes are the package-level types of p's code, by name.
func (p checkedPackage) declaredTypes() (all []*types.TypeName) {
	for _, name := range p.types.Scope().Names() {
		typ, isType := p.types.Scope().Lookup(name).(*types.TypeName)
		if isType && !p.fileAt(typ.Pos()).test {
			all = append(all, typ)
		}
	}
	return all
}

// methodsOf are the methods that p's code declares on a type.
func (p checkedPackage) methodsOf(typ *types.TypeName) (methods []string) {
	named, isNamed := typ.Type().(*types.Named)
	if !isNamed || typ.IsAlias() {
		return nil
	}
	for method := range named.Methods() {
		if file := p.fileAt(method.Pos()); !file.test {
			methods = append(methods, file.name+": "+method.Name())
		}
	}
	slices.Sort(methods)
	return methods
}

// fieldsOf are the fields of a struct that p's code declares; an embedded struct is one.
func (p checkedPackage) fieldsOf(typ *types.TypeName) (fields []string) {
	if s, isStruct := typ.Type().Underlying().(*types.Struct); isStruct {
		for field := range s.Fields() {
			fields = append(fields, field.Name())
		}
	}
	return fields
}

// oneWord is a name that is all lower case.
var oneWord = regexp.MustCompile(`^[a-z0-9]+$`)

// countOneWordNames counts how many unexported functions and methods have a name of one word.
func (c *census) countOneWordNames() {
	total := c.addLine(oneWordNames, "")
	for _, p := range c.packages {
		own := &measurement{}
		for _, name := range p.unexportedFunctions() {
			own.among++
			if oneWord.MatchString(name) {
				own.addCount(1, name)
			}
		}
		total.among += own.among
		share := fmt.Sprintf("%s, %d of %d, %.1f %%: ", p.path, own.counted, own.among, own.figure())
		total.addCount(own.counted, share+strings.Join(own.places, " "))
	}
}

// unexportedFunctions are the names of the unexported functions and methods of p's code. main's name was not chosen.
func (p checkedPackage) unexportedFunctions() (names []string) {
	for _, file := range p.files {
		if file.test || file.syntax == nil {
			continue
		}
		for _, decl := range file.syntax.Decls {
			if fun, isFunc := decl.(*ast.FuncDecl); isFunc && !fun.Name.IsExported() && fun.Name.Name != "main" {
				names = append(names, fun.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// countSharedTypes counts the names that package-level types have in two or more packages, libraries and commands
// alike. Types of tests, within functions, and in files of other builds do not count.
func (c *census) countSharedTypes() {
	packagesOf := make(map[string][]string)
	for _, p := range c.packages {
		for _, typ := range p.declaredTypes() {
			packagesOf[typ.Name()] = append(packagesOf[typ.Name()], p.path)
		}
	}
	m := c.addLine(sharedTypes, "")
	for _, name := range slices.Sorted(maps.Keys(packagesOf)) {
		if in := packagesOf[name]; len(in) > 1 {
			m.addCount(1, name+": "+strings.Join(in, ", "))
		}
	}
}

// countNamesHeldByTests counts the unexported package-level names, methods and fields of code that the tests within its
// package use, each once. Packages that a limit names together are counted together.
func (c *census) countNamesHeldByTests() {
	together := make(map[*upperLimit]*measurement)
	for _, p := range c.packages {
		held := p.namesHeldByTests()
		if len(held) == 0 {
			continue
		}
		m := together[c.limits.limitOf(heldByTests, p.path)]
		if m == nil {
			m = c.addLine(heldByTests, p.path)
		}
		if m.limit != nil && len(m.limit.of) > 0 {
			m.of, together[m.limit] = strings.Join(m.limit.of, ", "), m
		}
		for _, name := range held {
			m.addCount(1, name)
		}
	}
}

// namesHeldByTests are the unexported names of p's code that its tests use, each with the file that declares it.
func (p checkedPackage) namesHeldByTests() (held []string) {
	seen := make(map[types.Object]bool)
	for _, use := range p.nameUses() {
		if use.in.test && !use.declaredIn.test && !use.name.Exported() && !seen[use.name] {
			seen[use.name] = true
			held = append(held, path.Join(p.path, use.declaredIn.name)+": "+use.name.Name())
		}
	}
	slices.Sort(held)
	return held
}
