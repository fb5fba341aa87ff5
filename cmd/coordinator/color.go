package main

// Whether what is printed has colours, and what has them in every build. How each looks stands in terminal.go.

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// paintIf renders text in a style, if colours are wanted.
func paintIf(color bool, style textStyle, text string) string {
	if !color {
		return text
	}
	return style.Render(text)
}
