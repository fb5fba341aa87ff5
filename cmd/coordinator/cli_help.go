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
	adoptDefault(node)
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

// adoptDefault gives the flags and words of a command's default to the command: who types it alone means both.
func adoptDefault(node *kong.Node) {
	if node.DefaultCmd != nil {
		node.Flags = append(node.Flags, node.DefaultCmd.Flags...)
		node.Detail = node.DefaultCmd.Detail
	}
}
