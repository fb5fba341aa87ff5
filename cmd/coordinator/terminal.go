//go:build !action

package main

// How the program looks on a terminal. Every colour comes from here, and none where c.Color is unset. The colours are
// readable on a dark and on a light background.

import "charm.land/lipgloss/v2"

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
