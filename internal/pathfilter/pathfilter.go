// Package pathfilter reads and matches GitHub's filter patterns, as GitHub's documentation of `paths` and `branches`
// describes them. It promises to match what GitHub matches, in time in proportion to the path, whatever the pattern:
// the usual glob libraries read some of them differently (`**.go` matches in every folder here, `?` makes the character
// before it optional).
package pathfilter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Pattern is a compiled filter pattern. Matching takes time in proportion to the path, whatever the pattern.
type Pattern struct {
	negated bool
	pieces  []piece
	within  string // a part of each path that it matches: most paths lack it, and are not gone through
}

// A piece of a pattern stands for a character of a path, or for several in a row.
type piece struct {
	set      string // the characters for which it stands
	others   bool   // it stands for all characters but those
	optional bool   // for none, too
	repeats  bool   // for several of them, too
	folders  bool   // the last of them is a slash
}

// maxPattern bounds a pattern: matching takes time in proportion to its length, too.
const maxPattern = 256

func Compile(pattern string) (Pattern, error) {
	body, negated := strings.CutPrefix(pattern, "!")
	p := Pattern{negated: negated}
	switch {
	case body == "":
		return p, errors.New("it is empty")
	case len(pattern) > maxPattern:
		return p, fmt.Errorf("it is longer than %d bytes", maxPattern)
	case !utf8.ValidString(body):
		return p, errors.New("it cannot be compiled: it is no UTF-8")
	}
	for at := 0; at < len(body); {
		size, err := p.addPiece(body[at:], at == 0 || body[at-1] == '/')
		if err != nil {
			return p, err
		}
		at += size
	}
	isPlain := !strings.ContainsAny(body, "?+[\\\uFFFD") // a byte that is no UTF-8 is read as the last one
	for part := range strings.SplitSeq(body, "*") {
		if part = strings.TrimPrefix(part, "/"); isPlain && len(part) > len(p.within) {
			p.within = part
		}
	}
	return p, nil
}

// addPiece reads the next piece of a pattern, or the ? or + that is about the last one; opens: a path component begins here.
func (p *Pattern) addPiece(rest string, opens bool) (size int, err error) {
	var next piece
	switch rest[0] {
	case '?', '+':
		if len(p.pieces) == 0 {
			return 0, fmt.Errorf("nothing stands before %q that it could refer to", rest[0])
		}
		last := &p.pieces[len(p.pieces)-1]
		last.optional, last.repeats = last.optional || rest[0] == '?', last.repeats || rest[0] == '+'
		return 1, nil
	case '*':
		size = len(rest) - len(strings.TrimLeft(rest, "*"))
		next = piece{others: true, optional: true, repeats: true}
		switch {
		case size == 1:
			next.set = "/"
		case opens && strings.HasPrefix(rest[size:], "/"): // it stands for no folder at all, too
			next.folders = true
			size++
		}
	case '[':
		next.set, size, err = parseCharacterSet(rest)
	case '\\':
		if len(rest) == 1 {
			return 0, errors.New(`it ends with a lone \`)
		}
		_, width := utf8.DecodeRuneInString(rest[1:])
		next.set, size = rest[1:1+width], 1+width
	default:
		_, size = utf8.DecodeRuneInString(rest)
		next.set = rest[:size]
	}
	p.pieces = append(p.pieces, next)
	return size, err
}

// matchesPath goes through a path once, with all pieces at which it may stand.
func (p Pattern) matchesPath(path string) bool {
	if !strings.Contains(path, p.within) {
		return false
	}
	var sets [2][maxPattern + 1]bool
	at, next := sets[0][:len(p.pieces)+1], sets[1][:len(p.pieces)+1]
	enterPiece(p.pieces, at, 0)
	for _, char := range path {
		clear(next)
		for i, piece := range p.pieces {
			if !at[i] || strings.ContainsRune(piece.set, char) == piece.others {
				continue
			}
			next[i] = next[i] || piece.repeats
			if !piece.folders || char == '/' {
				enterPiece(p.pieces, next, i+1)
			}
		}
		if !slices.Contains(next, true) {
			return false
		}
		at, next = next, at
	}
	return at[len(p.pieces)]
}

// enterPiece adds a piece to those at which a path may stand, and what comes behind it as far as that may be left out.
func enterPiece(pieces []piece, at []bool, i int) {
	at[i] = true
	for ; i < len(pieces) && pieces[i].optional; i++ {
		at[i+1] = true
	}
}

// Patterns is a list of filter patterns in the order of the file.
type Patterns []Pattern

func CompileAll(patterns []string) (Patterns, error) {
	list := make(Patterns, 0, len(patterns))
	for _, pattern := range patterns {
		p, err := Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("read pattern %q: %w", pattern, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// CompileWithFolders reads a list of filter patterns, and matches the folders on their way, too: `.github/x/**` matches
// a file or a link called `.github` or `.github/x`. What stands in a folder's place decides what is found below it.
func CompileWithFolders(patterns []string) (Patterns, error) {
	var all []string
	for _, pattern := range patterns {
		all = append(all, pattern)
		for i, char := range pattern {
			folder := pattern[:i]
			if i == 0 || char != '/' || pattern[0] == '!' || strings.HasSuffix(folder, "*") { // any file matches a star alone
				continue
			}
			if _, err := Compile(folder); err == nil {
				all = append(all, folder)
			}
		}
	}
	return CompileAll(all)
}

// Match reports whether path matches as GitHub reads a list: the last pattern that matches wins, one with ! excludes.
func (ps Patterns) Match(path string) bool {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].matchesPath(path) {
			return !ps[i].negated
		}
	}
	return false
}

// parseCharacterSet reads "[…]": characters and the ranges a-z, A-Z and 0-9.
func parseCharacterSet(rest string) (set string, size int, err error) {
	end := strings.IndexByte(rest, ']')
	switch {
	case end < 0:
		return "", 0, errors.New("a [ is never closed")
	case end == 1:
		return "", 0, errors.New("[] holds nothing")
	}
	chars := rest[1:end]
	for i := 0; i < len(chars); i++ {
		from, to := chars[i], chars[i]
		switch {
		case i+2 < len(chars) && chars[i+1] == '-':
			if to = chars[i+2]; !isRange(from, to) {
				return "", 0, fmt.Errorf("%q is no range within a-z, A-Z or 0-9", chars[i:i+3])
			}
			i += 2
		case !isRange(from, to) && !strings.ContainsRune("-_.", rune(from)):
			return "", 0, fmt.Errorf("[%s] may only hold letters, digits and ranges of them", chars)
		}
		for ; from <= to; from++ {
			set += string(rune(from))
		}
	}
	return set, end + 1, nil
}

func isRange(from, to byte) bool {
	return from <= to && ('a' <= from && to <= 'z' || 'A' <= from && to <= 'Z' || '0' <= from && to <= '9')
}

// IsName reports whether a pattern matches one name and no other: it has no wildcard, no set and no !.
func IsName(pattern string) bool { return pattern != "" && !strings.ContainsAny(pattern, `*?+[]\!`) }
