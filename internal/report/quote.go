package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Texts of strangers are shown by this file and nowhere else: as a code span, as a fenced block, or as plain text for a
// title. GitHub resolves mentions, references, commit ids, bare addresses and formulas in prose only, never in code.

// longestTicks is the longest run of backticks that is quoted as it is. GitHub's parser knows no code span that opens
// with more than 80 of them: behind such a run the text would be prose again.
const longestTicks = 16

const maxOneLine = 16 << 10 // bytes

// Quote makes one line of hostile text inert for prose and for the cell of a table: a code span that nothing in it
// closes. A pipe is escaped, because a table is cut into cells before its code spans are found; in prose the backslash
// then shows, which is the price of one function that is safe in both.
func Quote(s string) string {
	s = oneLine(s)
	if s == "" {
		return "(empty)"
	}
	// A backslash before a pipe would make two readings of `\\|` possible; a space between them leaves one.
	s = strings.ReplaceAll(s, `\|`, `\ |`)
	s = strings.ReplaceAll(s, "|", `\|`)
	return codeSpan(s)
}

// codeSpan returns one line, which is not empty, as a code span that nothing in it closes.
func codeSpan(s string) string {
	s = breakCommands(shortenTicks(s))
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " " // one space on each side is not shown
	}
	return ticks + s + ticks
}

// quoteLines shows hostile text of several lines: each as a code span in a block quote, because a fenced block is cut at
// the edge of a telephone. Where the place of its words matters, or a line is very long, it is fenced. As [Fence] it must
// stand between blank lines.
func quoteLines(s string) string {
	s = strings.Trim(makeVisible(s), "\n")
	lines := strings.Split(s, "\n")
	if slices.ContainsFunc(lines, needsFence) {
		return Fence(s)
	}
	var b strings.Builder
	for i, line := range lines {
		line = oneLine(line)
		switch {
		case i == 0:
			b.WriteByte('>')
		case line != "" && oneLine(lines[i-1]) != "":
			b.WriteString("\\\n>") // the line breaks here
		default:
			b.WriteString("\n>")
		}
		if line != "" {
			b.WriteString(" " + codeSpan(line))
		}
	}
	return b.String()
}

// needsFence reports whether a line is code, or part of a table.
func needsFence(line string) bool {
	return len(line) > maxOneLine || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "```") ||
		strings.HasPrefix(line, "~~~") || strings.HasPrefix(line, "|")
}

// Fence shows hostile text of several lines in a fenced block that nothing in it closes. It begins and ends without a
// line break and must stand between blank lines.
func Fence(s string) string {
	s = breakCommands(shortenTicks(strings.Trim(makeVisible(s), "\n")))
	ticks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return ticks + "\n" + s + "\n" + ticks
}

// commands matches how the commands of bots begin: "@bot …", "/review", "bugbot run".
var commands = lazy.Regexp("(?i)(?:^|[^a-z0-9.@])@[a-z]" +
	"|(?:^|[\\s\"'(`:>])/[a-z][^\\s\"'`)]*" +
	"|\\b(?:augment|bugbot|gitar) [a-z]")

// breakCommands breaks the commands of other bots by a sign without width. Some obey them in code, too, and in the comments
// of bots: a notice that says how its writer is asked would ask it. Our own commands stay whole: people copy them.
func breakCommands(s string) string {
	return commands().ReplaceAllStringFunc(s, func(found string) string {
		at := len(found) - 2 // the @, or the blank of two words
		if slash := strings.IndexByte(found, '/'); slash >= 0 && found[slash+1] != '@' {
			path := strings.ContainsAny(strings.TrimRight(found[slash+1:], ".,:;!?"), "./")
			if at = slash; path || strings.HasPrefix(found[at:], quorum.CommandWord) {
				return found
			}
		}
		return found[:at+1] + "\u2060" + found[at+1:]
	})
}

// plainLine makes hostile text fit for a title, an annotation's title or a line of a terminal: one line of at most n
// runes without controls. A runner obeys `##[command]` anywhere in a line of a log and `::command` at its beginning.
func plainLine(s string, n int) string {
	s = strings.ReplaceAll(oneLine(s), "##[", "## [")
	if strings.HasPrefix(s, "::") {
		s = ": " + s[1:]
	}
	return clipRunes(s, n)
}

// makeVisible returns s as valid UTF-8 with the line break as its only control character but the tab. Controls are
// replaced by their pictures and characters that turn or hide text by their numbers; characters that merely have no
// width are dropped.
func makeVisible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return (r < ' ' && r != '\n' && r != '\t') || r > '~' }) < 0 {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r': // a line break of its own in Markdown
			b.WriteByte('\n')
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7F:
			b.WriteRune('␡')
		case r == 0x200B || r == 0x200C || r == 0x200D || r == 0x2060 || r == 0xFEFF:
		case r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is makeVisible on one line, with single spaces. Text beyond maxOneLine is not even looked at.
func oneLine(s string) string {
	return strings.Join(strings.Fields(makeVisible(cutBytes(s, maxOneLine))), " ")
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) (longest int) {
	n := 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

var ticksTooLong = lazy.Regexp(fmt.Sprintf("(`{%d})`+", longestTicks))

// shortenTicks cuts the runs of backticks that are too long to be quoted.
func shortenTicks(s string) string { return ticksTooLong().ReplaceAllString(s, "$1…") }

// clipRunes cuts s after n runes and says so with an ellipsis, which is one of them.
func clipRunes(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	at := 0
	for i := range s {
		if at == n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		at++
	}
	return s
}

// cutBytes cuts valid UTF-8 after at most n bytes, between two runes.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// quoteName writes the name of a reviewer, a branch or an account: as it is if nothing in it could be Markdown, a
// mention, a reference or an address, else quoted.
func quoteName(s string) string {
	if isHarmlessName(s) {
		return s
	}
	return Quote(clipRunes(s, 100))
}

var nameSeparators = strings.NewReplacer(".", " ", "-", " ", "_", " ")

// isHarmlessName reports whether s is words of letters and digits, joined by single dots, dashes, underscores or
// spaces, and nothing that GitHub links: no address ("www"), no commit id, no issue ("GH-12").
func isHarmlessName(s string) bool {
	if s == "" || len(s) > 60 {
		return false
	}
	for _, word := range strings.Split(nameSeparators.Replace(s), " ") {
		hex := len(word) >= 7
		for _, r := range word {
			if r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return false
			}
			hex = hex && strings.ContainsRune("0123456789abcdefABCDEF", r)
		}
		if word == "" || hex {
			return false
		}
	}
	low := strings.ToLower(s)
	return !strings.Contains(low, "www") && !strings.Contains(low, "gh-")
}

// joinNames joins names as a sentence does.
func joinNames(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// countNoun returns "1 finding" or "2 findings".
func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countVerb returns "1 thread is" or "2 threads are".
func countVerb(n int, what string) string { return countNoun(n, what) + " " + isOrAre(n) }

func isOrAre(n int) string { return pluralWord(n, "is", "are") }

// pluralWord returns the word for one, or the one for many.
func pluralWord(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
