package report

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Addresses: which of them may be linked, and how one is put together of names that strangers chose.

// isRepositoryPage reports whether url is a page of pr's repository: only those are GitHub's own words.
func isRepositoryPage(pr quorum.PR, url string) bool {
	rest, found := strings.CutPrefix(url, "https://")
	if !found {
		rest, found = strings.CutPrefix(url, "http://") // a server of one's own, a sandbox
	}
	host, path, slash := strings.Cut(rest, "/")
	prefix := pr.Owner + "/" + pr.Repo + "/"
	switch {
	case !found || !slash || host == "" || pr.Owner == "" || len(url) > 500:
		return false
	case len(path) < len(prefix) || !strings.EqualFold(path[:len(prefix)], prefix) || strings.Contains(path, ".."):
		return false
	case strings.IndexFunc(host, func(r rune) bool { return !isPlainRune(r, ".-:") }) >= 0:
		return false
	}
	return strings.IndexFunc(path, func(r rune) bool { return !isPlainRune(r, "._-/?#=&%+") }) < 0
}

func isPlainRune(r rune, more string) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(more, r)
}

// pathOf joins names as a path of an address: what is not plain in them is escaped.
func pathOf(names ...string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteByte('/')
		}
		for _, c := range []byte(n) {
			if c < 0x80 && isPlainRune(rune(c), "._-/") {
				b.WriteByte(c)
			} else {
				b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			}
		}
	}
	return b.String()
}
