//go:build action

package main

// The action's program writes into a job's log, which is no terminal: it is spared the weight of a library for colours.

// A textStyle leaves text as it is.
type textStyle struct{}

// Render returns the text.
func (textStyle) Render(text ...string) string { return text[0] }

func caretStyle() textStyle { return textStyle{} }

func hintStyle() textStyle { return textStyle{} }
