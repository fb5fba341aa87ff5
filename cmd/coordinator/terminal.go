//go:build !action

package main

// How the program looks on a terminal. Every colour comes from here. The colours are readable on a dark and on a light
// background.

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/review-coordinator/coordinator/internal/report"
)

// A textStyle is how text looks on a terminal.
type textStyle = lipgloss.Style

var (
	green  = lipgloss.Color("2")
	red    = lipgloss.Color("1")
	yellow = lipgloss.Color("3")
	blue   = lipgloss.Color("12") // the darker one is hard to read on black
	cyan   = lipgloss.Color("6")
	grey   = lipgloss.Color("8")
)

// headingStyle is of a heading, or a name that one looks for.
func headingStyle() textStyle { return lipgloss.NewStyle().Bold(true) }

// goodStyle is of what is as it should be.
func goodStyle() textStyle { return lipgloss.NewStyle().Bold(true).Foreground(green) }

// warningStyle is of what a person should look at.
func warningStyle() textStyle { return lipgloss.NewStyle().Bold(true).Foreground(yellow) }

// caretStyle marks where a mistake is.
func caretStyle() textStyle { return lipgloss.NewStyle().Bold(true).Foreground(red) }

// hintStyle is of what helps, which stands behind what is wrong.
func hintStyle() textStyle { return lipgloss.NewStyle().Faint(true) }

// verdictStyle is of a vote, a verdict, a check's state or what a text said, by its word.
func verdictStyle(word string) textStyle {
	switch word {
	case "approve", "approved", "Passed", "success":
		return goodStyle()
	case "object", "findings", "Blocked", "failure":
		return caretStyle()
	case "unavailable", "Unverified", "action_required":
		return warningStyle()
	case "pending", "Waiting", "queued", "in_progress":
		return lipgloss.NewStyle().Bold(true).Foreground(blue)
	}
	return headingStyle()
}

// pageStyles are the colours of a check's page.
func (c *command) pageStyles() report.Styles {
	if !c.Color {
		return report.Styles{}
	}
	return report.Styles{
		Strong: func(s string) string { return headingStyle().Render(s) },
		Faint:  func(s string) string { return hintStyle().Render(s) },
		Vote:   func(word, s string) string { return verdictStyle(word).Render(s) },
	}
}

// colorProblems colours the carets, the hints and the warnings of problems, if colours are wanted.
func colorProblems(color bool, problems string) string {
	lines := strings.Split(problems, "\n")
	for i, line := range lines {
		switch rest, isWarning := strings.CutPrefix(line, "warning: "); {
		case isWarning:
			lines[i] = paintIf(color, warningStyle(), "warning:") + " " + rest
		case strings.HasPrefix(line, "      | "):
			lines[i] = line[:8] + paintIf(color, caretStyle(), line[8:])
		case strings.HasPrefix(line, "  hint: "):
			lines[i] = paintIf(color, hintStyle(), line)
		}
	}
	return strings.Join(lines, "\n")
}
