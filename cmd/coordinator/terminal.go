package main

// How the program looks on a terminal. Every colour comes from here. The colours are readable on a dark and on a light
// background.

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"github.com/review-coordinator/coordinator/internal/report"
)

// wantsColor reports whether what is written to w is to have colours: on a terminal, or where they are asked for; never
// against NO_COLOR.
func wantsColor(w io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if asked := getenv("CLICOLOR_FORCE"); asked != "" && asked != "0" {
		return true
	}
	switch getenv("FORCE_COLOR") {
	case "":
		return isTerminal(w) && getenv("TERM") != "dumb"
	case "0", "false":
		return false
	}
	return true
}

// isTerminal reports whether a stream is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// A textStyle is how text looks on a terminal: what stands in the sequence that sets it.
type textStyle string

const (
	plainStyle   textStyle = ""
	headingStyle textStyle = "1"    // of a heading, or a name that one looks for
	hintStyle    textStyle = "2"    // of what helps, which stands behind what is wrong
	goodStyle    textStyle = "1;32" // of what is as it should be
	warningStyle textStyle = "1;33" // of what a person should look at
	caretStyle   textStyle = "1;31" // of where a mistake is
	busyStyle    textStyle = "1;94" // of what is under way: the darker blue is hard to read on black
)

// paintIf returns text in a style, if colours are wanted.
func paintIf(color bool, style textStyle, text string) string {
	if !color || style == plainStyle {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[m"
}

// verdictStyle is of a vote, a verdict, a check's state or what a text said, by its word.
func verdictStyle(word string) textStyle {
	switch word {
	case "approve", "approved", "Passed", "success":
		return goodStyle
	case "object", "findings", "Blocked", "failure":
		return caretStyle
	case "unavailable", "Unverified", "action_required":
		return warningStyle
	case "pending", "Waiting", "queued", "in_progress":
		return busyStyle
	}
	return headingStyle
}

// pageStyles are the colours of a check's page.
func (c *command) pageStyles() report.Styles {
	if !c.Color {
		return report.Styles{}
	}
	return report.Styles{
		Strong: func(s string) string { return paintIf(true, headingStyle, s) },
		Faint:  func(s string) string { return paintIf(true, hintStyle, s) },
		Vote:   func(word, s string) string { return paintIf(true, verdictStyle(word), s) },
	}
}
