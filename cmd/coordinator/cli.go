package main

// The command line. A command is a struct in a file of its own, and one line here or, if the action has no use for it,
// in cli_full.go; its Run method may take the context and the command.

import (
	"context"
	"slices"

	"github.com/alecthomas/kong"
)

type cli struct {
	Verbose   bool             `short:"v"                                                               help:"Log what is read, decided and written: --log-level debug."`
	LogLevel  string           `placeholder:"debug|info|warn|error" help:"What is logged, to standard error. Default: info of serve, nothing of the others."`
	LogFormat string           `placeholder:"text|json"             help:"How it is logged. Default: text."`
	ToldAll   kong.VersionFlag `name:"version" help:"Print the version."`

	Run     runCmd     `cmd:"" group:"everyday" help:"Evaluate a pull request and post the check."`
	Sweep   sweepCmd   `cmd:"" group:"everyday" help:"Evaluate all open pull requests that need a look."`
	Explain explainCmd `cmd:"" group:"everyday" help:"Say why the check is what it is."`
	Verdict verdictCmd `cmd:"" group:"everyday" help:"Make and check the structured verdict of a reviewer's own run."`
	Config  configCmd  `cmd:"" group:"setUp" help:"Check a policy file, write a first one, or print its JSON Schema."`

	fullProgramCommands `embed:""`

	Help    helpCmd    `cmd:"" group:"setUp" help:"Show how a command is used."`
	Version versionCmd `cmd:"" group:"setUp" help:"Print the version."`
}

const description = `One trustworthy check on a pull request that several AI reviewers (and people) review.

Write a policy, check it, and let a job post the check:

` + setUpExample + `
  coordinator config check                          is it right, and what does it mean?` + doctorExample + `
  coordinator run octo/shop#7 --dry-run             what would the check say?
  coordinator explain octo/shop#7                   why does it say so?` + demoExample + `

A pull request is written as 7 (in a clone), octo/shop#7, or its address. --policy names a policy file on this machine,
--config a path on the default branch.

Exit codes: 0 evaluated and posted, whatever the verdict; 1 could not; 2 usage or local configuration;
3 --fail-on named the verdict; 130 interrupted; 143 terminated.`

// parseArgs returns the command that the arguments name, or an exit code if there is nothing to run.
func (c *command) parseArgs(ctx context.Context, args []string) (run func() error, code int) {
	var grammar cli
	told := false // --help has been printed; kong goes on after it
	parser, err := kong.New(&grammar,
		kong.Name("coordinator"),
		kong.Description(description),
		kong.Vars{"version": versionLine()},
		commandGroups(),
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(int) { told = true }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		panic("coordinator: the command line is broken: " + err.Error()) // unreachable unless a struct tag is wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
		parser.Stdout, code = c.Stderr, 2
	}
	parsed, err := parser.Parse(helpArguments(args))
	switch {
	case told:
		return nil, code
	case err != nil:
		if slices.Contains(args, "--json") {
			c.keepStdoutForJSON()
		}
		return nil, c.reportError(ctx, explainParseError(err))
	}
	c.Verbose = grammar.Verbose
	if err := c.chooseLog(grammar.LogLevel, grammar.LogFormat); err != nil {
		return nil, c.reportError(ctx, err)
	}
	c.wantJSON(parsed)
	return func() error { return parsed.Run() }, 0
}
