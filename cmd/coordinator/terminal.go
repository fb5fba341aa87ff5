//go:build !action

package main

// How the program looks on a terminal. Every colour comes from here, and none where c.Color is unset. The colours are
// readable on a dark and on a light background.

import (
	"charm.land/lipgloss/v2"

	"github.com/review-coordinator/coordinator/internal/report"
)

// A textStyle is how text looks on a terminal.
type textStyle = lipgloss.Style

var (
	green  = lipgloss.Color("2")
	red    = lipgloss.Color("1")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
	grey   = lipgloss.Color("8")
)

// caretStyle marks where a mistake is.
func caretStyle() textStyle { return lipgloss.NewStyle().Bold(true).Foreground(red) }

// hintStyle marks what helps.
func hintStyle() textStyle { return lipgloss.NewStyle().Foreground(cyan) }

// pageStyles are the colours of a check's page.
func (c *command) pageStyles() report.Styles {
	if !c.Color {
		return report.Styles{}
	}
	strong, faint := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Foreground(grey)
	return report.Styles{
		Strong: func(s string) string { return strong.Render(s) },
		Faint:  func(s string) string { return faint.Render(s) },
		Vote: func(vote, s string) string {
			switch vote {
			case "approve", "Passed":
				return strong.Foreground(green).Render(s)
			case "object", "Blocked":
				return strong.Foreground(red).Render(s)
			case "unavailable", "Unverified":
				return strong.Foreground(yellow).Render(s)
			default:
				return strong.Render(s)
			}
		},
	}
}
