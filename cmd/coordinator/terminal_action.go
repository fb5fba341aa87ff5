//go:build action

package main

// The action's program writes into a job's log, which is no terminal: it is spared the weight of a library for colours.

import "github.com/review-coordinator/coordinator/internal/report"

// A textStyle leaves text as it is.
type textStyle struct{}

// Render returns the text.
func (textStyle) Render(text ...string) string { return text[0] }

func headingStyle() textStyle { return textStyle{} }

func warningStyle() textStyle { return textStyle{} }

func caretStyle() textStyle { return textStyle{} }

func hintStyle() textStyle { return textStyle{} }

func verdictStyle(string) textStyle { return textStyle{} }

// pageStyles leave a check's page as it is.
func (*command) pageStyles() report.Styles { return report.Styles{} }
