package main

// How the program tells about itself: its help, of each command too, and its version.

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"
)

// commandGroups are the groups of commands, by the keys of the grammar.
func commandGroups() kong.Option {
	return kong.ExplicitGroups([]kong.Group{
		{Key: "everyday", Title: "Everyday commands:"},
		{Key: "setUp", Title: "Commands to set up:"},
		{Key: "operators", Title: "Commands for operators:"},
	})
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: all of them."`
}

// Help is shown by coordinator help --help.
func (helpCmd) Help() string {
	return `The same as COMMAND --help.

Examples:

  coordinator help
  coordinator help config check`
}

// Run is not reached: parseArgs reads help COMMAND as COMMAND --help, because the parser alone knows how to print it.
func (helpCmd) Run(parsed *kong.Context) error { return parsed.PrintUsage(false) }

// helpArguments reads help COMMAND as COMMAND --help.
func helpArguments(args []string) []string {
	if len(args) == 0 || args[0] != "help" || len(args) > 1 && strings.HasPrefix(args[1], "-") {
		return args
	}
	return append(append([]string{}, args[1:]...), "--help")
}

// versionLine is one line for a bug report: the version, Go's version and the platform.
func versionLine() string {
	return fmt.Sprintf("coordinator %s %s %s/%s", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
