// Package pathfilter reads and matches GitHub's filter patterns, as GitHub's documentation of `paths` and `branches`
// describes them. It promises to match what GitHub matches, in time in proportion to the path, whatever the pattern:
// the usual glob libraries read some of them differently (`**.go` matches in every folder here, `?` makes the character
// before it optional).
package pathfilter

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Pattern is a compiled filter pattern. Matching takes time in proportion to the path, whatever the pattern.
type Pattern struct {
	negated      bool
	re           *regexp.Regexp // nil: the pattern is a name or a folder/**, or **/ and one of them: most are, and need no compiling
	folderPrefix string         // of folder/**: the folder with its slash
	inAnyFolder  bool           // it begins with **/
	pathOrName   string
}

// maxPattern bounds a pattern: matching takes time in proportion to its length, too.
const maxPattern = 256

// Compile reads a filter pattern.
func Compile(pattern string) (Pattern, error) {
	body, negated := strings.CutPrefix(pattern, "!")
	switch {
	case body == "":
		return Pattern{}, errors.New("it is empty")
	case len(pattern) > maxPattern:
		return Pattern{}, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	if p, ok := parseLiteral(body); ok {
		p.negated = negated
		return p, nil
	}
	expr, err := patternToRegexp(body)
	if err != nil {
		return Pattern{}, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return Pattern{}, fmt.Errorf("it cannot be compiled: %w", err)
	}
	return Pattern{negated: negated, re: re}, nil
}

// parseLiteral reads a pattern that needs no regular expression.
func parseLiteral(body string) (Pattern, bool) {
	var p Pattern
	name, within := strings.CutPrefix(body, "**/")
	folder, below := strings.CutSuffix(name, "/**")
	p.inAnyFolder = within
	if below {
		p.folderPrefix, name = folder+"/", folder
	} else {
		p.pathOrName = name
	}
	return p, !strings.ContainsAny(name, `*?+[\`+"\ufffd") && utf8.ValidString(name) // an expression takes any invalid byte for a �
}

func (p Pattern) matchesPath(path string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(path)
	case p.folderPrefix != "":
		return strings.HasPrefix(path, p.folderPrefix) || p.inAnyFolder && strings.Contains(path, "/"+p.folderPrefix)
	}
	folder, found := strings.CutSuffix(path, p.pathOrName)
	return found && (folder == "" || p.inAnyFolder && strings.HasSuffix(folder, "/"))
}

// Patterns is a list of filter patterns in the order of the file.
type Patterns []Pattern

// CompileAll reads a list of filter patterns.
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
		if !strings.HasPrefix(pattern, "!") {
			all = append(all, foldersOf(pattern)...)
		}
	}
	return CompileAll(all)
}

// foldersOf returns the patterns of the folders that a pattern names on its way: none for a star alone, which any file
// matches.
func foldersOf(pattern string) (folders []string) {
	for i := range len(pattern) {
		if folder := pattern[:i]; pattern[i] == '/' && i > 0 && !strings.HasSuffix(folder, "*") {
			if _, err := Compile(folder); err == nil {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

// Match reports whether path matches as GitHub reads a list: the last pattern that matches wins, and one that begins
// with "!" excludes.
func (ps Patterns) Match(path string) bool {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].matchesPath(path) {
			return !ps[i].negated
		}
	}
	return false
}

// patternToRegexp writes a pattern as a regular expression. Each piece is a group of its own, so that ? and + take all
// of it.
func patternToRegexp(pattern string) (string, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	piece := "" // the piece that a ? or + would refer to; "": none
	rest := pattern
	for rest != "" {
		var err error
		size := 1
		switch rest[0] {
		case '*':
			out.WriteString(piece)
			piece, size = parseStars(rest, len(rest) == len(pattern) || pattern[len(pattern)-len(rest)-1] == '/')
		case '?', '+':
			if piece == "" {
				return "", fmt.Errorf("nothing stands before %q that it could refer to", rest[0])
			}
			piece = "(?:" + piece + rest[:1] + ")"
		case '[':
			out.WriteString(piece)
			piece, size, err = parseCharacterSet(rest)
		case '\\':
			if len(rest) == 1 {
				return "", errors.New(`it ends with a lone \`)
			}
			out.WriteString(piece)
			_, width := utf8.DecodeRuneInString(rest[1:])
			piece, size = "(?:"+regexp.QuoteMeta(rest[1:1+width])+")", 1+width
		default:
			out.WriteString(piece)
			_, size = utf8.DecodeRuneInString(rest)
			piece = "(?:" + regexp.QuoteMeta(rest[:size]) + ")"
		}
		if err != nil {
			return "", err
		}
		rest = rest[size:]
	}
	out.WriteString(piece)
	out.WriteString(`\z`)
	return out.String(), nil
}

// parseStars reads "*", "**" and, at the beginning of a path component, "**/", which also stands for no folder at all.
func parseStars(rest string, opens bool) (piece string, size int) {
	for size < len(rest) && rest[size] == '*' {
		size++
	}
	switch {
	case size == 1:
		return `(?:[^/]*)`, 1
	case opens && strings.HasPrefix(rest[size:], "/"):
		return `(?:(?:.*/)?)`, size + 1
	default:
		return `(?:.*)`, size
	}
}

// parseCharacterSet reads "[…]": characters and the ranges a-z, A-Z and 0-9.
func parseCharacterSet(rest string) (piece string, size int, err error) {
	end := strings.IndexByte(rest, ']')
	switch {
	case end < 0:
		return "", 0, errors.New("a [ is never closed")
	case end == 1:
		return "", 0, errors.New("[] holds nothing")
	}
	var b strings.Builder
	chars := rest[1:end]
	for i := 0; i < len(chars); i++ {
		if i+2 < len(chars) && chars[i+1] == '-' {
			if !isRange(chars[i], chars[i+2]) {
				return "", 0, fmt.Errorf("%q is no range within a-z, A-Z or 0-9", chars[i:i+3])
			}
			b.WriteString(chars[i : i+3])
			i += 2
			continue
		}
		if !isAlphanumeric(chars[i]) && !strings.ContainsRune("-_.", rune(chars[i])) {
			return "", 0, fmt.Errorf("[%s] may only hold letters, digits and ranges of them", chars)
		}
		b.WriteString(regexp.QuoteMeta(chars[i : i+1]))
		if chars[i] == '-' {
			// QuoteMeta leaves it alone, and between two characters it would be a range.
			s := strings.TrimSuffix(b.String(), "-")
			b.Reset()
			b.WriteString(s + `\-`)
		}
	}
	return "[" + b.String() + "]", end + 1, nil
}

func isRange(from, to byte) bool {
	for _, class := range []string{"az", "AZ", "09"} {
		if class[0] <= from && from <= to && to <= class[1] {
			return true
		}
	}
	return false
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// IsName reports whether a pattern matches one name and no other: it has no wildcard, no set and no !.
func IsName(pattern string) bool { return pattern != "" && !strings.ContainsAny(pattern, `*?+[]\!`) }
