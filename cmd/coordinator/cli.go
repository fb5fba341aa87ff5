package main

// The command line. A command is a struct in a file of its own, and one line here or, if the action has no use for it,
// in cli_full.go; its Run method may take the context and the command. The tags are kong's, which parses the full program
// (cli_full.go). The action's is parsed by package flag (cli_action.go): with kong it weighs 2.3 MB more.

import (
	_ "embed"
	"slices"
	"strings"
)

type cli struct {
	Verbose   bool        `short:"v"                                                               help:"Log what is read, decided and written: --log-level debug."`
	LogLevel  string      `placeholder:"debug|info|warn|error" help:"What is logged, to standard error. Default: info of serve, nothing of the others."`
	LogFormat string      `placeholder:"text|json"             help:"How it is logged. Default: text."`
	ToldAll   versionFlag `name:"version" help:"Print the version."`

	Run     runCmd     `cmd:"" group:"everyday" help:"Evaluate a pull request and post the check."`
	Sweep   sweepCmd   `cmd:"" group:"everyday" help:"Evaluate all open pull requests that need a look."`
	Explain explainCmd `cmd:"" group:"everyday" help:"Say why the check is what it is."`
	Verdict verdictCmd `cmd:"" group:"everyday" help:"Make and check the structured verdict of a reviewer's own run."`

	FullProgramCommands `embed:""`

	Help    helpCmd    `cmd:"" group:"setUp" help:"Show how a command is used."`
	Version versionCmd `cmd:"" group:"setUp" help:"Print the version."`
}

//go:embed help.txt
var helpTexts string

// detailOf returns the text of help.txt that the help of a command shows; "" if it has none.
func detailOf(command string) string {
	_, text, _ := strings.Cut(helpTexts, "=== "+command+"\n")
	text, _, _ = strings.Cut(text, "\n\n=== ")
	return strings.TrimSpace(text)
}

// describeProgram returns what the help of the program begins with, and the first steps of this build.
func describeProgram(steps string) string {
	return strings.Replace(detailOf("coordinator"), "{FIRST STEPS}", detailOf(steps), 1)
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: all of them."`
}

// Run is not reached: help COMMAND is read as COMMAND --help.
func (helpCmd) Run() error { return nil }

// helpArguments reads help COMMAND as COMMAND --help.
func helpArguments(args []string) []string {
	asksAboutHelp := func(arg string) bool { return arg == "--help" || arg == "-h" }
	if len(args) == 0 || args[0] != "help" || slices.ContainsFunc(args, asksAboutHelp) {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}

// applyFlags applies the flags that every command has.
func (grammar *cli) applyFlags(c *command, wantsJSON bool) error {
	c.Verbose = grammar.Verbose
	if err := c.chooseLog(grammar.LogLevel, grammar.LogFormat); err != nil {
		return err
	}
	if wantsJSON {
		c.keepStdoutForJSON()
	}
	return nil
}
