package main

// The help of a command that does something alone and has others below it: coordinator serve.

import (
	"bytes"
	"strings"

	"github.com/alecthomas/kong"
)

// printHelp prints the help of the command that was asked about. One that runs a default command shows that one's flags
// and words as its own.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil || node.DefaultCmd == nil {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	node.Flags = append(node.Flags, node.DefaultCmd.Flags...)
	node.Detail = node.DefaultCmd.Detail
	var text bytes.Buffer
	stdout := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(o, ctx)
	ctx.Stdout = stdout
	if err != nil {
		return err
	}
	_, err = stdout.Write([]byte(strings.Replace(text.String(), " <command> [flags]", " [<command>] [flags]", 1)))
	return err
}

// allFlagsOf returns the flags that may be typed after a command, by the command that has them: its default's too.
func allFlagsOf(at *kong.Node, visible bool) [][]*kong.Flag {
	if at.DefaultCmd != nil {
		at = at.DefaultCmd
	}
	return at.AllFlags(visible)
}
