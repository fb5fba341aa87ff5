package client

import (
	"net/url"
	"strings"
)

// RepoPath is the path of something in a repository, each part escaped.
func RepoPath(owner, repo string, parts ...string) string {
	var b strings.Builder
	b.WriteString("repos/" + url.PathEscape(owner) + "/" + url.PathEscape(repo))
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// EscapeSlashed is the path of a file or branch, whose slashes stay.
func EscapeSlashed(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
