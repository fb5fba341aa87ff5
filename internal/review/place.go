package review

// This file reads places: the file and the line that a finding is about, relative to the repository.

import (
	"strconv"
	"strings"
)

var (
	// placeInText matches path:line, which stands by itself or in marks.
	placeInText = lazyRegexp("(?:^|[ \t`(\\[*\"'<|])([\\w@+~./\\\\\\x{80}-\\x{10ffff}-]*\\w):(\\d+)\\b")
	// placeInBlob matches a link to a line of code on GitHub from the name of the commit on: "/blob/SHA/path#L13-L17".
	placeInBlob = lazyRegexp("/blob/[^/ \t<>()\\[\\]\"'`|]*/([^ \t<>()\\[\\]\"'`|#]+)#L(\\d+)")
	// checkout matches a path in a repository that is checked out, or linked to, and the letter that a diff sets before one.
	checkout = lazyRegexp(
		`(?s)^(?:https://github\.com/.*?/blob/[^/]*/([^#]+).*|(?:/github/workspace/|/workspace/|\./|a/|b/)([^/].*))$`,
	)
	// runnerFolder matches the folder below which a runner of GitHub's checks a repository out, in REPOSITORY/REPOSITORY. The
	// runner may be one's own.
	runnerFolder = lazyRegexp(`^(?:/(?:home|Users)/runner/work|/__w|/.*/_work|/_work|D:/a)/([^/]+)/([^/]+)/(.+)$`)
)

// lineNumber returns the number of a line; 0 if it is none.
func lineNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n >= 1<<30 {
		return 0
	}
	return n
}

// permalink reads a line that is nothing but a link to a line of code on GitHub: ".../blob/SHA/path#L13-L17".
func permalink(text string) (path string, line int) {
	if !strings.HasPrefix(text, "https://") || len(text) > maxMatchedLine || strings.ContainsAny(text, " \t<>()") {
		return "", 0
	}
	return findPlace(text)
}

// findPlace returns the first path:line in text, or else the first link to a line of code, relative to the repository. A path
// has a dot or a slash.
func findPlace(text string) (path string, line int) {
	text = text[:min(len(text), maxMatchedLine)]
	for _, at := range placeInText().FindAllStringSubmatchIndex(text, -1) {
		path, after := text[at[2]:at[3]], text[at[1]:]
		isVersion := len(after) > 1 && after[0] == '.' && isAlnum(after[1])
		isPath := strings.ContainsAny(path, `./\`) && !strings.HasPrefix(path, "//") && strings.Trim(path, "0123456789./") != ""
		if n := lineNumber(text[at[4]:at[5]]); n > 0 && isPath && !isVersion {
			return repositoryPath(path), n
		}
	}
	for _, m := range placeInBlob().FindAllStringSubmatch(text, -1) {
		if n := lineNumber(m[2]); n > 0 {
			return m[1], n
		}
	}
	return "", 0
}

// repositoryPath returns a path relative to the repository: without the folder of its checkout, the address of the
// repository, or the letter that a diff sets before it. What it does not know it leaves as it is.
func repositoryPath(path string) string {
	if rest, ok := cutRunnerFolder(path); ok {
		return rest
	}
	if m := checkout().FindStringSubmatch(path); m != nil {
		return m[1] + m[2]
	}
	return path
}

func cutRunnerFolder(path string) (rest string, ok bool) {
	slashed := path
	if strings.HasPrefix(path, `D:\a\`) { // Windows
		slashed = strings.ReplaceAll(path, `\`, "/")
	}
	m := runnerFolder().FindStringSubmatch(slashed)
	if m == nil || m[1] != m[2] {
		return path, false
	}
	return m[3], true
}
