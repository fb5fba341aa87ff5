package quorum

// How a person's word in a comment is told from any other comment.

import "strings"

const (
	CommandWord    = "/review-coordinator" // the first word of a comment that is a command
	RerunButton    = "rerun-reviewers"     // the identifier of the check's button
	maxCommandLine = 1 << 10               // bytes of a command that are read
)

// CommandLine is the first line of a comment that is a command, after blanks and in any capitals; "" of any other.
func CommandLine(body string) string {
	body = strings.TrimLeft(body, " \t\r\n")
	word := body[:min(len(body), len(CommandWord))]
	rest := body[len(word):]
	if !strings.EqualFold(word, CommandWord) || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n") {
		return ""
	}
	line, _, _ := strings.Cut(body[:min(len(body), maxCommandLine)], "\n")
	return strings.TrimRight(strings.ToValidUTF8(line, ""), " \t\r") // it may be cut within a character
}
