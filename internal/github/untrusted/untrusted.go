// Package untrusted makes words of strangers fit for use: to be shown on one line, to become part of a path of GitHub's
// API, and to be compared with what GitHub gives back of them. It promises that a text which it lets through can do no
// harm there.
package untrusted

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// OneLine keeps what can be printed of text: no control characters, no line breaks, at most limit runes.
func OneLine(text string, limit int) string {
	if len(text) > 16*limit {
		text = text[:16*limit] // before any work; a rune cut here is replaced below
	}
	fields := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
	runes := []rune(strings.Join(fields, " "))
	if len(runes) > limit {
		runes = append(runes[:limit-1], '…')
	}
	return string(runes)
}

// SplitFullName takes owner/name apart, if both can be part of a path.
func SplitFullName(text string) (owner, repo string, ok bool) {
	owner, repo, ok = strings.Cut(text, "/")
	if !ok || !isWord(owner) || !isWord(repo) || strings.Trim(owner, ".") == "" || strings.Trim(repo, ".") == "" {
		return "", "", false
	}
	return owner, repo, true
}

// isWord reports whether text consists of the characters that names of owners and repositories have.
func isWord(text string) bool {
	for _, r := range []byte(text) {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		default:
			return false
		}
	}
	return text != "" && len(text) <= 100
}

// Normalize is a text as it comes back from GitHub.
func Normalize(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// A Digest stands for a body: two texts with the same one say the same.
type Digest [sha256.Size]byte

// DigestOf is the digest of a body as GitHub gives it back.
func DigestOf(body string) Digest { return sha256.Sum256([]byte(Normalize(body))) }

// ShortDigest is the beginning of a body's digest, as text: what an event said is kept by it.
func ShortDigest(body string) string {
	s := DigestOf(body)
	return hex.EncodeToString(s[:8])
}
