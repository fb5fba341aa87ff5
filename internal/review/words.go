package review

// This file makes a line of Markdown comparable: without its marks, in small letters, with plain apostrophes.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMatchedLine is the longest line that is compared with patterns; a longer one is prose.
const maxMatchedLine = 600

// plainWords returns text in small letters, without the marks of headings, emphasis and code, without tags, and without
// emoji at its ends. Letters beyond ASCII stay as they are, so that no look-alike becomes a letter.
func plainWords(text string) string { return trimSymbols(stripMarks(headingText(text))) }

// stripMarks is plainWords, but keeps a heading's marks and the emoji at the ends.
func stripMarks(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '*', c == '`', c == '_' && (i == 0 || i+1 == len(text) || !isAlnum(text[i-1]) || !isAlnum(text[i+1])),
			c == '\\' && i+1 < len(text) && text[i+1] > ' ' && text[i+1] < 0x7f && !isAlnum(text[i+1]):
			i++
			continue
		case c == '<' && i+1 < len(text) && (isAlnum(text[i+1]) || text[i+1] == '/'):
			if end := strings.IndexAny(text[i+1:], "<>"); end >= 0 && text[i+1+end] == '>' && !strings.Contains(text[i+1:i+1+end], "|") {
				i += end + 2
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		switch {
		case r == '’' || r == '‘':
			r = '\''
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "&nbsp;", " ")
}

func trimSymbols(s string) string { return strings.TrimFunc(s, isSymbol) }

func isSymbol(r rune) bool {
	return r == ' ' || r == 0xfe0f || r == 0x200d || r >= 0x80 && (unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r))
}

// lowerWords returns a text in small letters, without Markdown and addresses; emoji at its ends stay.
func lowerWords(text string) string {
	return strings.ToLower(stripMarks(headingText(cutLinks(strings.TrimSpace(text)))))
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// isDeceptive reports whether s holds an invisible character, or a word that mixes Latin letters with look-alikes.
func isDeceptive(s string) bool {
	latin, alike := false, false
	for _, r := range s {
		switch {
		case r < 0x80:
			if isAlnum(byte(r)) {
				latin = true
			} else {
				latin, alike = false, false
			}
		case isInvisible(r), r == utf8.RuneError:
			return true
		case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r), r >= 0xff01 && r <= 0xff5e, r >= 0x1d400 && r <= 0x1d7ff:
			alike = true
		case unicode.IsLetter(r), unicode.IsMark(r) && r != 0xfe0f:
		default:
			latin, alike = false, false
		}
		if latin && alike {
			return true
		}
	}
	return false
}

func dropInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, s)
}

// cutWord cuts word off the front of s, if s begins with word and no further letter of it follows.
func cutWord(s, word string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, word)
	r, _ := utf8.DecodeRuneInString(rest)
	isMore := unicode.IsLetter(r) || r >= '0' && r <= '9' || unicode.IsMark(r) && r != 0xfe0f || isInvisible(r)
	if !ok || isMore {
		return s, false
	}
	return rest, true
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isInvisible reports whether r shows nothing and can therefore hide or split a word. The variation selector after an
// emoji (U+FE0F) and the joiner within one (U+200D) are harmless.
func isInvisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == 0xfe0f, r == 0x200d:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// crosses are the marks that deny what they stand beside.
const crosses = "❌⛔🚫🛑✗✘👎🔴⚠✖"

const emptyBoxes = "☐□▢◻◽▫⬜◯○"
