package main

// The command line. A command is a struct in a file of its own, and one line here or, if the action has no use for it,
// in cli_full.go; its Run method may take the context and the command.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

type cli struct {
	Verbose bool `short:"v" help:"Log what is read, decided and written."`

	Run      runCmd      `cmd:"" help:"Evaluate a pull request and post the check."`
	Sweep    sweepCmd    `cmd:"" help:"Evaluate all open pull requests that need a look."`
	Explain  explainCmd  `cmd:"" help:"Say why the check is what it is."`
	Classify classifyCmd `cmd:"" help:"Say how a reviewer's text is read."`
	Verdict  verdictCmd  `cmd:"" help:"Make and check the structured verdict of a reviewer's own run."`
	Config   configCmd   `cmd:"" help:"Check a policy file, write a first one, or print its JSON Schema."`

	fullProgramCommands `embed:""`

	Version versionCmd `cmd:"" help:"Print the version."`
}

const description = `One trustworthy check on a pull request that several AI reviewers (and people) review.

Write a policy, check it, and let a job post the check:

  coordinator config check .github/review-coordinator.yml

Exit codes: 0 evaluated and posted, whatever the verdict; 1 could not; 2 usage or local configuration;
3 --fail-on named the verdict; 130 interrupted.`

// parseArgs returns the command that the arguments name, or an exit code if there is nothing to run.
func (c *command) parseArgs(ctx context.Context, args []string) (run func() error, code int) {
	var grammar cli
	told := false // --help has been printed; kong goes on after it
	parser, err := kong.New(&grammar,
		kong.Name("coordinator"),
		kong.Description(description),
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
	parsed, err := parser.Parse(args)
	switch {
	case told:
		return nil, code
	case err != nil:
		return nil, c.reportError(ctx, explainParseError(err))
	}
	c.Verbose = grammar.Verbose
	return func() error { return parsed.Run() }, 0
}

var (
	// bareDuration matches the parser's error for a duration without a unit.
	bareDuration = regexp.MustCompile(`expected duration but got "?([0-9]{1,9})"?`)
	// negativeValue matches its error for a negative number, which it takes for a flag.
	negativeValue = regexp.MustCompile(`^(--[a-z-]+): expected [a-z]+ value but got "(-[0-9][^"]{0,20})" \(short flag\)`)
)

// explainParseError turns an error of the parser into a usage error whose hint names the command's help.
func explainParseError(err error) error {
	help := "coordinator --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := strings.Fields(parse.Context.Command()); len(command) > 0 && !strings.HasPrefix(command[0], "<") {
			help = fmt.Sprintf("coordinator %s --help", command[0])
		}
	}
	hint := help + " shows how it is used"
	if number := bareDuration.FindStringSubmatch(err.Error()); number != nil {
		hint = fmt.Sprintf("write it with a unit: %[1]ss or %[1]sm", number[1])
	}
	if value := negativeValue.FindStringSubmatch(err.Error()); value != nil {
		err = fmt.Errorf("%s %s is below zero", value[1], value[2])
	}
	return &exitError{code: exitUsage, err: err, hint: hint}
}
