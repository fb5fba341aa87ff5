package github

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// oneLine keeps what can be printed of text: no control characters, no line breaks, at most limit runes.
func oneLine(text string, limit int) string {
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

// fullName takes owner/name apart, if both can be part of a path.
func fullName(text string) (owner, repo string, ok bool) {
	owner, repo, ok = strings.Cut(text, "/")
	if !ok || !isWord(owner) || !isWord(repo) || strings.Trim(owner, ".") == "" || strings.Trim(repo, ".") == "" {
		return "", "", false
	}
	return owner, repo, true
}

// isWord says whether text is of what owners, repositories and nothing else consist of: both become part of a path.
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

// normal is a text as it comes back from GitHub.
func normal(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// sum stands for a body: two texts with the same one say the same.
type sum [sha256.Size]byte

func sumOf(body string) sum { return sha256.Sum256([]byte(normal(body))) }

// shortSum is the beginning of sumOf, as text: an event's words are kept by it.
func shortSum(body string) string {
	s := sumOf(body)
	return hex.EncodeToString(s[:8])
}
