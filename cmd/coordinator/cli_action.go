//go:build action

package main

// The action's program: the commands that the action's steps start, read by package flag.

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// FullProgramCommands are none of the action's.
type FullProgramCommands struct{}

type versionFlag = bool

// parseArgs returns the command that the arguments name, or an exit code if there is nothing to run.
func (c *command) parseArgs(ctx context.Context, args []string) (run func() error, code int) {
	line := typedLine{flags: flag.NewFlagSet("coordinator", flag.ContinueOnError)}
	line.flags.SetOutput(io.Discard)
	err := line.parse(helpArguments(args))
	switch {
	case errors.Is(err, flag.ErrHelp):
		line.writeHelp(c.Stdout)
		return nil, 0
	case len(args) == 0:
		line.writeHelp(c.Stderr)
		return nil, exitUsage
	case err != nil:
		if slices.Contains(args, "--json") {
			c.keepStdoutForJSON()
		}
		err = usageError(err, strings.TrimSpace("coordinator "+line.name)+" --help shows how it is used")
	default:
		json := reflect.ValueOf(line.command).Elem().FieldByName("JSON")
		err = line.grammar.applyFlags(c, json.IsValid() && json.Bool())
	}
	if err != nil {
		return nil, c.reportError(ctx, err)
	}
	return func() error {
		if simple, is := line.command.(interface{ Run(*command) error }); is {
			return simple.Run(c)
		}
		return line.command.(interface {
			Run(context.Context, *command) error
		}).Run(ctx, c)
	}, 0
}

// A typedLine is a command line as it is read.
type typedLine struct {
	grammar  cli
	name     string // of the command
	command  any    // its struct, with the values of flags and argument
	argument reflect.Value
	flags    *flag.FlagSet
}

// parse reads the command, its flags and its argument. Flags may stand before and behind each word.
func (l *typedLine) parse(args []string) error {
	commands := map[string]any{
		"run": &l.grammar.Run, "sweep": &l.grammar.Sweep, "explain": &l.grammar.Explain, "version": &l.grammar.Version,
		"verdict make": &l.grammar.Verdict.Make, "verdict check": &l.grammar.Verdict.Check, "verdict schema": &l.grammar.Verdict.Schema,
	}
	addFlags(l.flags, &l.grammar)
	err := l.flags.Parse(args)
	for words := l.flags.Args(); err == nil && len(words) > 0; words = l.flags.Args() {
		name := strings.TrimSpace(l.name + " " + words[0])
		switch {
		case l.command != nil && (!l.argument.IsValid() || !l.argument.IsZero()):
			return fmt.Errorf("%q is one argument too many", clipArgument(words[0]))
		case l.command != nil:
			err = setValue("the argument", words[0], l.argument)
		case commands[name] != nil:
			l.name, l.command = name, commands[name]
			l.argument = addFlags(l.flags, l.command)
		case name == "verdict":
			l.name = name
		default:
			return fmt.Errorf("the action's program has no command %q: the full program is coordinator_%s_… of the release",
				clipArgument(name), buildVersion())
		}
		if err == nil {
			err = l.flags.Parse(words[1:])
		}
	}
	switch {
	case err != nil:
		return err
	case l.grammar.ToldAll:
		l.command = &l.grammar.Version
	case l.command == nil:
		return errors.New("no command is given")
	case l.argument.IsValid() && l.argument.Kind() == reflect.String && l.argument.IsZero():
		return errors.New(l.name + ": its argument is missing")
	}
	return nil
}

// addFlags adds the flags of a command, which the tags of its struct describe, and returns the field of its argument, a
// string, or a pointer where it may be left out; the zero Value if it takes none.
func addFlags(flags *flag.FlagSet, command any) (argument reflect.Value) {
	of := reflect.ValueOf(command).Elem()
	for _, field := range reflect.VisibleFields(of.Type()) {
		into, enum := of.FieldByIndex(field.Index), field.Tag.Get("enum")
		if _, isCommand := field.Tag.Lookup("cmd"); isCommand || field.Anonymous {
			continue
		}
		if _, isArgument := field.Tag.Lookup("arg"); isArgument {
			argument = into
			continue
		}
		name := cmp.Or(field.Tag.Get("name"), wordOf(field.Name))
		set := func(text string) error {
			if enum != "" && !slices.Contains(strings.Split(enum, ","), text) {
				return fmt.Errorf("--%s must be one of %s", name, enum)
			}
			return setValue("--"+name, text, into)
		}
		add := flags.Func
		if into.Kind() == reflect.Bool {
			add = flags.BoolFunc
		}
		add(name, field.Tag.Get("help"), set)
		if short := field.Tag.Get("short"); short != "" {
			add(short, field.Tag.Get("help"), set)
		}
		if preset := field.Tag.Get("default"); preset != "" {
			if err := set(preset); err != nil {
				panic("coordinator: the command line is broken: " + err.Error()) // unreachable unless a struct tag is wrong
			}
		}
	}
	return argument
}

// wordOf returns a field's name as it is typed: with dashes.
func wordOf(name string) string {
	var word strings.Builder
	for i, r := range name {
		if i > 0 && 'A' <= r && r <= 'Z' {
			word.WriteByte('-')
		}
		word.WriteRune(r)
	}
	return strings.ToLower(word.String())
}

// writeHelp writes how the command is used.
func (l *typedLine) writeHelp(w io.Writer) {
	text := detailOf(l.name)
	if text == "" {
		text = describeProgram("first steps of the action")
	}
	fmt.Fprintf(w, "%s\n\nFlags:\n", text)
	l.flags.VisitAll(func(f *flag.Flag) { fmt.Fprintf(w, "  --%s\n        %s\n", f.Name, f.Usage) })
}
