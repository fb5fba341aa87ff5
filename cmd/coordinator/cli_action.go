//go:build action

package main

// The command line of the action's program: the grammar of cli.go, with the flags and mistakes of the full program. Unlike
// kong, package flag also reads -json as --json. Of the grammar only the typed command is looked at.

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
	"unicode"

	"github.com/review-coordinator/coordinator/internal/config"
)

// FullProgramCommands are none of the action's.
type FullProgramCommands struct{}

type versionFlag = bool

// absentCommands are commands of the full program, which a mistake says how to get.
var absentCommands = []string{"classify", "init", "config", "doctor", "simulate", "demo", "serve"}

// parseArgs returns the command that the arguments name, or an exit code if there is nothing to run.
func (c *command) parseArgs(ctx context.Context, args []string) (run func() error, code int) {
	var grammar cli
	p := &parsing{about: describeProgram("first steps of the action"), flags: flag.NewFlagSet("", flag.ContinueOnError)}
	p.flags.SetOutput(io.Discard)
	p.addSwitch("help", &p.help)
	p.addSwitch("h", &p.help)
	p.enterCommand(reflect.ValueOf(&grammar).Elem())
	if len(args) == 0 {
		p.writeHelp(c.Stderr)
		return nil, exitUsage
	}
	err := p.parseWords(helpArguments(args))
	switch {
	case err != nil:
	case p.help:
		p.writeHelp(c.Stdout)
		return nil, 0
	case grammar.ToldAll:
		fmt.Fprintln(c.Stdout, versionLine())
		return nil, 0
	default:
		err = p.checkComplete()
	}
	if err != nil {
		if slices.Contains(args, "--json") {
			c.keepStdoutForJSON()
		}
		return nil, c.reportError(ctx, err)
	}
	json := p.command.FieldByName("JSON")
	if err := grammar.applyFlags(c, json.IsValid() && json.Bool()); err != nil {
		return nil, c.reportError(ctx, err)
	}
	switch cmd := p.command.Addr().Interface().(type) {
	case interface{ Run(*command) error }:
		return func() error { return cmd.Run(c) }, 0
	case interface {
		Run(ctx context.Context, c *command) error
	}:
		return func() error { return cmd.Run(ctx, c) }, 0
	}
	panic("coordinator: the command line is broken: " + p.name) // unreachable unless a Run method is wrong
}

// A parsing is a command line that is read from left to right.
type parsing struct {
	commandShape               // of the command that was typed so far
	command      reflect.Value // its struct
	about, group string
	flags        *flag.FlagSet // its own and those of every command
	fields       []grammarField
	typed        []string
	wrong        error // in the value of a flag
	help         bool
}

// A grammarField is a field of a command's struct: a flag, an argument, or a command below it.
type grammarField struct {
	reflect.StructField
	value reflect.Value
}

func (f grammarField) hasTag(tag string) bool {
	_, found := f.Tag.Lookup(tag)
	return found
}

func (f grammarField) isFlag() bool { return !f.hasTag("cmd") && !f.hasTag("arg") }

// typedName returns the word that is typed for the field: that of its tag, else its Go name with dashes.
func (f grammarField) typedName() string {
	var word strings.Builder
	for i, r := range f.Name {
		if unicode.IsUpper(r) && i > 0 {
			word.WriteByte('-')
		}
		word.WriteRune(unicode.ToLower(r))
	}
	return cmp.Or(f.Tag.Get("name"), word.String())
}

// shownName returns the field as messages and the help write it.
func (f grammarField) shownName() string {
	if f.isFlag() {
		return "--" + f.typedName()
	}
	return "<" + f.typedName() + ">"
}

// enterCommand goes on with a command. The flags of those above it stay.
func (p *parsing) enterCommand(command reflect.Value) {
	p.command, p.below, p.arguments, p.detail = command, nil, 0, detailOf(p.name)
	p.fields = slices.DeleteFunc(p.fields, func(f grammarField) bool { return !f.isFlag() })
	for _, field := range reflect.VisibleFields(command.Type()) {
		f := grammarField{field, command.FieldByIndex(field.Index)}
		switch {
		case f.Anonymous || !f.IsExported():
			continue
		case f.hasTag("cmd"):
			p.below = append(p.below, f.typedName())
		case f.hasTag("arg"):
			p.arguments++
		default:
			p.addFlag(f)
		}
		p.fields = append(p.fields, f)
	}
}

func (p *parsing) addFlag(f grammarField) {
	name := f.shownName()
	if preset, found := f.Tag.Lookup("default"); found {
		if err := setValue(name, preset, f.value); err != nil {
			panic("coordinator: the command line is broken: " + err.Error()) // unreachable unless a struct tag is wrong
		}
	}
	set := func(text string) error {
		if !slices.Contains(p.typed, name+"="+text) {
			p.wrong = flagAsValue(name, text)
		}
		if p.wrong == nil {
			p.wrong = setValue(name, text, f.value)
		}
		return p.wrong
	}
	if on, isSwitch := f.value.Addr().Interface().(*bool); isSwitch {
		p.flags.BoolFunc(f.typedName(), "", set)
		if short := f.Tag.Get("short"); short != "" {
			p.addSwitch(short, on)
		}
		return
	}
	p.flags.Func(f.typedName(), "", set)
}

func (p *parsing) addSwitch(name string, on *bool) { p.flags.BoolVar(on, name, false, "") }

// parseWords reads flags, commands and arguments in whatever order they are typed.
func (p *parsing) parseWords(args []string) error {
	p.typed = args
	for len(args) > 0 {
		if err := p.flags.Parse(args); err != nil {
			typed, isUnread := strings.CutPrefix(err.Error(), "bad flag syntax: ") // it is left, every other is taken
			if !isUnread {
				typed = args[len(args)-p.flags.NArg()-1]
			}
			typed, _, _ = strings.Cut(typed, "=")
			return p.explainFlag(typed, isUnread)
		}
		words := p.flags.Args()
		onlyWords := len(words) < len(args) && args[len(args)-len(words)-1] == "--"
		for i, word := range words {
			if i > 0 && !onlyWords { // flags may follow
				break
			}
			if err := p.takeWord(word); err != nil {
				return err
			}
			args = words[i+1:]
		}
		if len(words) == 0 {
			break
		}
	}
	return nil
}

// explainFlag explains a flag that could not be read, or a word that only begins like one.
func (p *parsing) explainFlag(typed string, isNone bool) error {
	var value *valueError
	switch {
	case isNone:
		return p.explainUnknownFlag(typed, "")
	case errors.As(p.wrong, &value):
		return p.newMistake(value.text, value.hint)
	case p.flags.Lookup(strings.TrimLeft(typed, "-")) != nil:
		return p.newMistake(typed+" has no value", "")
	}
	var known []string
	if strings.HasPrefix(typed, "--") {
		p.flags.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	}
	return p.explainUnknownFlag(typed, didYouMean(typed, known))
}

// takeWord reads a word: a command below this one, or an argument.
func (p *parsing) takeWord(word string) error {
	for _, f := range p.fields {
		switch {
		case f.hasTag("cmd") && f.typedName() == word:
			p.name, p.about = strings.TrimSpace(p.name+" "+word), f.Tag.Get("help")
			p.group = cmp.Or(f.Tag.Get("group"), p.group)
			p.enterCommand(f.value)
			return nil
		case f.hasTag("arg") && f.value.Kind() == reflect.Slice:
			f.value.Set(reflect.Append(f.value, reflect.ValueOf(word)))
			return nil
		case f.hasTag("arg") && f.value.IsZero():
			return setValue(f.shownName(), word, f.value)
		}
	}
	if p.name == "" && slices.Contains(absentCommands, word) {
		return usageError(errors.New("this build is the action's: it has no "+word),
			"download coordinator_"+buildVersion()+"_… from the release, or build it without -tags action")
	}
	return p.explainArgument(word, didYouMean(word, p.below))
}

func didYouMean(word string, known []string) string {
	if near := config.NearestWord(word, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// checkComplete reports what is missing, and values that are none of a flag's.
func (p *parsing) checkComplete() error {
	switch len(p.below) {
	case 0:
	case 1:
		return p.explainMissing(p.below[0])
	default:
		return p.explainMissing("one of " + strings.Join(p.below, ", "))
	}
	for _, f := range p.fields {
		if f.hasTag("arg") && !f.hasTag("optional") && f.value.IsZero() {
			return p.explainMissing(f.shownName())
		}
		words := strings.Split(f.Tag.Get("enum"), ",")
		if f.hasTag("enum") && !slices.Contains(words, f.value.String()) {
			text := fmt.Sprintf(`%s must be one of "%s" but got %q`, f.shownName(), strings.Join(words, `","`), f.value)
			return p.newMistake(text, "")
		}
	}
	return nil
}

// writeHelp writes how the command is used.
func (p *parsing) writeHelp(w io.Writer) {
	usage := strings.TrimSpace("coordinator " + p.name)
	var arguments, flags, commands strings.Builder
	for _, f := range p.fields {
		list, line := &flags, "      "+f.shownName()
		switch {
		case f.hasTag("hidden") || f.hasTag("cmd"):
			continue
		case f.hasTag("optional"):
			usage += " [" + f.shownName() + "]"
			list, line = &arguments, "  ["+f.shownName()+"]"
		case f.hasTag("arg"):
			usage += " " + f.shownName()
			list, line = &arguments, "  "+f.shownName()
		case f.hasTag("short"):
			line = "  -" + f.Tag.Get("short") + ", " + f.shownName()
		}
		if value := cmp.Or(f.Tag.Get("placeholder"), f.Tag.Get("default")); value != "" {
			line += "=" + value
		}
		fmt.Fprintf(list, "%s\n        %s\n", line, f.Tag.Get("help"))
	}
	for _, g := range commandGroups {
		title := "\n" + g.title + "\n"
		for _, f := range p.fields {
			if f.hasTag("cmd") && cmp.Or(f.Tag.Get("group"), p.group) == g.key {
				fmt.Fprintf(&commands, "%s  %-10s %s\n", title, f.typedName(), f.Tag.Get("help"))
				title = ""
			}
		}
	}
	if commands.Len() > 0 {
		usage += " <command>"
		fmt.Fprintf(&commands, "\nRun %q for more information on a command.\n", usage+" --help")
	}
	fmt.Fprintf(w, "Usage: %s [flags]\n\n%s\n", usage, p.about)
	if p.detail != "" {
		fmt.Fprintf(w, "\n%s\n", p.detail)
	}
	if arguments.Len() > 0 {
		fmt.Fprintf(w, "\nArguments:\n%s", &arguments)
	}
	fmt.Fprintf(w, "\nFlags:\n  -h, --help\n        Show context-sensitive help.\n%s%s", &flags, &commands)
}
