//go:build !action

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/review-coordinator/coordinator/internal/story"
)

// The commands that only the full program has. The action starts a program for every event and needs none of them: it
// is built with -tags action, which leaves out the daemon and the fake GitHub with all that they import.

// FullProgramCommands are the commands that the action has no use for.
type FullProgramCommands struct {
	Classify classifyCmd `cmd:"" group:"everyday" help:"Say how a reviewer's text is read."`
	Config   configCmd   `cmd:"" group:"setUp" help:"Check a policy file, write a first one, or print its JSON Schema."`
	Init     initCmd     `cmd:"" group:"setUp" help:"Set up a repository: write its policy and its workflows."`
	Doctor   doctorCmd   `cmd:"" group:"setUp" help:"Say whether a repository's check can be trusted, and can arrive."`
	Simulate simulateCmd `cmd:"" group:"setUp" help:"Play scenario files and print what the check would have said."`
	Demo     demoCmd     `cmd:"" group:"setUp" help:"Watch a check grow: a story told live, without an account."`

	Serve serveCommands `cmd:"" group:"operators" help:"Run as a GitHub App: webhooks in, checks out."`
}

// A serveCommands is coordinator serve and what belongs to it. Alone it is the daemon, with all the daemon's flags.
type serveCommands struct {
	Daemon serveCmd `cmd:"" default:"withargs" hidden:""`
	Setup  setupCmd `cmd:""                              help:"Make the GitHub App in your browser, and write its key and settings."`
}

// commandGroups are the headings of the list of commands, by the keys of the grammar.
var commandGroups = []struct{ key, title string }{
	{"everyday", "Everyday commands:"},
	{"setUp", "Commands to set up:"},
	{"operators", "Commands for operators:"},
}

type versionFlag = kong.VersionFlag

// parseArgs returns the command that the arguments name, or an exit code if there is nothing to run.
func (c *command) parseArgs(ctx context.Context, args []string) (run func() error, code int) {
	var grammar cli
	var groups []kong.Group
	for _, g := range commandGroups {
		groups = append(groups, kong.Group{Key: g.key, Title: g.title})
	}
	told := false // --help has been printed; kong goes on after it
	parser, err := kong.New(&grammar,
		kong.Name("coordinator"),
		kong.Description(describeProgram("first steps")),
		kong.Vars{"version": versionLine()},
		kong.ExplicitGroups(groups),
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(int) { told = true }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
		kong.KindMapper(reflect.String, valueMapper{}), kong.KindMapper(reflect.Int, valueMapper{}),
		kong.KindMapper(reflect.Int64, valueMapper{}), kong.TypeMapper(reflect.TypeFor[time.Duration](), valueMapper{}),
	)
	if err != nil {
		panic("coordinator: the command line is broken: " + err.Error()) // unreachable unless a struct tag is wrong
	}
	addDetails(parser.Model.Node)
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
	wantsJSON := slices.ContainsFunc(parsed.Flags(), func(f *kong.Flag) bool { return f.Name == "json" && f.Target.Bool() })
	if err := grammar.applyFlags(c, wantsJSON); err != nil {
		return nil, c.reportError(ctx, err)
	}
	return func() error { return parsed.Run() }, 0
}

// addDetails adds the texts of help.txt to the commands below a node.
func addDetails(node *kong.Node) {
	for _, n := range node.Children {
		command := n.Path()
		if node.DefaultCmd == n {
			command = node.Path()
		}
		n.Detail = strings.NewReplacer(
			"{SENTENCES}", strings.Join(story.SentenceForms(), "\n  "), "{MANIFEST}", describeManifest(),
		).Replace(detailOf(command))
		addDetails(n)
	}
}

// A valueMapper reads the values of flags and arguments as the action's program does, with its errors.
type valueMapper struct{}

// Decode reads one value.
func (valueMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	name, token := ctx.Value.ShortSummary(), ctx.Scan.Peek()
	if token.IsEOL() {
		return &valueError{name + " has no value", ""}
	}
	if ctx.Value.Flag != nil && token.Type != kong.FlagValueToken && token.Type != kong.ShortFlagTailToken {
		if err := flagAsValue(name, token.String()); err != nil {
			return err
		}
	}
	return setValue(name, ctx.Scan.Pop().String(), target)
}

// explainParseError turns an error of the parser into a usage error whose hint tells what to type instead.
func explainParseError(err error) error {
	var at *kong.Node
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		for _, step := range parse.Context.Path { // the last one, where the parser stopped
			if step.Command != nil {
				at = step.Command
			}
		}
	}
	shape := shapeOf(at)
	var value *valueError
	if errors.As(err, &value) {
		return shape.newMistake(value.text, value.hint)
	}
	if name, said, is := strings.Cut(err.Error(), ": bool value must be "); is {
		_, text, _ := strings.Cut(said, "but got ")
		return shape.newMistake(name+" "+text+" is neither true nor false", name+" alone says yes; leave it out for no")
	}
	text, near, _ := strings.Cut(err.Error(), ", did you mean ")
	if near != "" {
		near = ", did you mean " + near
	}
	if flag, is := strings.CutPrefix(text, "unknown flag "); is {
		if !strings.HasPrefix(flag, "--") { // the parser offers every short flag that there is
			near = ""
		}
		return shape.explainUnknownFlag(flag, near)
	}
	if arg, is := strings.CutPrefix(text, "unexpected argument "); is {
		return shape.explainArgument(arg, near)
	}
	if what, is := strings.CutPrefix(text, "expected "); is {
		return shape.explainMissing(strings.ReplaceAll(what, `"`, ""))
	}
	return shape.newMistake(err.Error(), "")
}

// shapeOf describes a command of the parser; nil is the program. A default command goes by its parent's name.
func shapeOf(at *kong.Node) (s commandShape) {
	isDefault := func(n *kong.Node) bool { return n.Parent != nil && n.Parent.DefaultCmd == n }
	if at == nil {
		s.below = []string{"run"} // the names of all are not needed
		return s
	}
	if isDefault(at) {
		at = at.Parent
	}
	for n := at; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		s.name = strings.TrimSpace(n.Name + " " + s.name)
	}
	for _, n := range at.Children {
		if !n.Hidden {
			s.below = append(s.below, n.Name)
		}
	}
	s.runsAlone, s.arguments, s.detail = at.DefaultCmd != nil, len(at.Positional), at.Detail
	return s
}

// printHelp prints the help of the command that was asked about. One that runs a default command, as coordinator serve
// does, shows that one's flags and words as its own.
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
	_, err = fmt.Fprint(stdout, strings.Replace(text.String(), " <command> [flags]", " [<command>] [flags]", 1))
	return err
}
