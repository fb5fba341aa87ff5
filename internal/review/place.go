package review

// This file reads places: the file and the line that a finding is about, relative to the repository.

import (
	"strconv"
	"strings"
)

// A place is a line of a file.
type place struct {
	path string
	line int
}

// permalink reads a line that is nothing but a link to a line of code on GitHub: ".../blob/SHA/path#L13-L17".
func permalink(text string) (p place, ok bool) {
	if !strings.HasPrefix(text, "https://") || len(text) > maxMatchedLine || strings.ContainsAny(text, " \t<>()") {
		return p, false
	}
	_, rest, _ := strings.Cut(text, "/blob/")
	return placeInBlob(rest)
}

// placeInBlob reads what stands behind "/blob/" in a link to a line of code: "SHA/path#L13-L17".
func placeInBlob(rest string) (p place, ok bool) {
	commit, rest, found := strings.Cut(rest, "/")
	path, anchor, anchored := strings.Cut(rest, "#L")
	if !found || !anchored || path == "" || strings.ContainsAny(commit+path, " \t<>()[]\"'`|") {
		return p, false
	}
	n := 0
	for n < len(anchor) && anchor[n] >= '0' && anchor[n] <= '9' {
		n++
	}
	line, err := strconv.Atoi(anchor[:n])
	return place{path, line}, err == nil && line > 0 && line < 1<<30
}

// findPlace returns the first path:line in text, or else the first link to a line of code, relative to the repository. A path
// has a dot or a slash, and stands by itself or in marks.
func findPlace(text string) (path string, line int) {
	text = text[:min(len(text), maxMatchedLine)]
	for i := 1; i+1 < len(text); i++ {
		if text[i] != ':' || text[i+1] < '0' || text[i+1] > '9' {
			continue
		}
		from := i
		for from > 0 && isPathByte(text[from-1]) {
			from--
		}
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		path := text[from:i]
		switch {
		case end < len(text) && (isAlnum(text[end]) || text[end] == '.' && end+1 < len(text) && isAlnum(text[end+1])),
			from > 0 && strings.IndexByte(" \t`([*\"'<|", text[from-1]) < 0,
			!strings.ContainsAny(path, "./\\"),
			strings.HasPrefix(path, "//"), strings.Trim(path, "0123456789./") == "",
			!isAlnum(path[len(path)-1]) && path[len(path)-1] != '_':
			i = end - 1
			continue
		}
		if n, err := strconv.Atoi(text[i+1 : end]); err == nil && n > 0 && n < 1<<30 {
			return repositoryPath(path), n
		}
		i = end - 1
	}
	for rest, found := text, true; found; {
		if _, rest, found = strings.Cut(rest, "/blob/"); found {
			if p, ok := placeInBlob(rest); ok {
				return p.path, p.line
			}
		}
	}
	return "", 0
}

func isPathByte(c byte) bool {
	return isAlnum(c) || strings.IndexByte("_@+~.-/\\", c) >= 0 || c >= 0x80
}

// checkouts are the folders into which a repository is checked out.
var checkouts = [...]string{"/github/workspace/", "/workspace/", "./", "a/", "b/"}

// runnerFolder matches the folder below which a runner of GitHub's checks a repository out, in REPOSITORY/REPOSITORY. The runner
// may be one's own.
var runnerFolder = lazyRegexp(`^(?:/(?:home|Users)/runner/work|/__w|/.*/_work|/_work|D:/a)/([^/]+)/([^/]+)/(.+)$`)

// repositoryPath returns a path relative to the repository: without the folder of its checkout, the address of the
// repository, or the letter that a diff sets before it. What it does not know it leaves as it is.
func repositoryPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "https://github.com/"); ok {
		if _, blob, ok := strings.Cut(rest, "/blob/"); ok {
			if _, rest, ok := strings.Cut(blob, "/"); ok && rest != "" {
				rest, _, _ = strings.Cut(rest, "#")
				return rest
			}
		}
		return path
	}
	if rest, ok := cutRunnerFolder(path); ok {
		return rest
	}
	for _, before := range checkouts {
		if rest, ok := strings.CutPrefix(path, before); ok && rest != "" && rest[0] != '/' {
			return rest
		}
	}
	return path
}

// cutRunnerFolder cuts the folder off a path into which a runner checked the repository out.
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
