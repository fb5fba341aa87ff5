//go:build !action

package main

// Man pages, from the same words as the help: a page for the program and one for each command.

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: the program." complete:"commands"`
	Dir     string   `help:"Write all pages into this folder, as coordinator-COMMAND.1." placeholder:"DIR"`
}

// Help is shown by coordinator man --help.
func (manCmd) Help() string {
	return `Examples:

  coordinator man | man -l -
  coordinator man config check | man -l -
  coordinator man --dir ~/.local/share/man/man1`
}

// Run prints a page, or writes all of them.
func (cmd manCmd) Run(c *command, parsed *kong.Context) error {
	root := parsed.Model.Node
	adoptDefaults(root)
	if cmd.Dir != "" {
		if len(cmd.Command) > 0 {
			return usageError(fmt.Errorf("--dir writes all pages, and %q names one", strings.Join(cmd.Command, " ")), "keep one of them")
		}
		return cmd.writePages(c, root)
	}
	at := root
	for _, word := range cmd.Command {
		next := childOf(at, word)
		if next == nil {
			return usageError(fmt.Errorf("there is no command %q", strings.Join(cmd.Command, " ")), "coordinator help lists the commands")
		}
		at = next
	}
	_, err := io.WriteString(c.Stdout, manPage(at))
	return err
}

func childOf(at *kong.Node, word string) *kong.Node {
	for _, n := range at.Children {
		if n.Name == word && !n.Hidden {
			return n
		}
	}
	return nil
}

// writePages writes the page of at and of all commands below it.
func (cmd manCmd) writePages(c *command, at *kong.Node) error {
	file := filepath.Join(cmd.Dir, pageName(at)+".1")
	if err := os.WriteFile(file, []byte(manPage(at)), 0o644); err != nil { //nolint:gosec // a manual is no secret
		return usageError(fmt.Errorf("write the manual: %w", err), "--dir names a folder that is there and writable")
	}
	fmt.Fprintln(c.Stdout, file)
	for _, n := range at.Children {
		if !n.Hidden && n.Type == kong.CommandNode {
			if err := cmd.writePages(c, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(at *kong.Node) string {
	return strings.Join(append([]string{"coordinator"}, commandPath(at)...), "-")
}

// manPage returns the page of a command in roff.
func manPage(at *kong.Node) string {
	var b strings.Builder
	name, about := pageName(at), at.Help
	if at.Parent == nil {
		about, _, _ = strings.Cut(at.Help, "\n")
	}
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"Review coordinator\"\n", strings.ToUpper(name), "coordinator "+buildVersion())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escapeRoff(name), escapeRoff(strings.TrimSuffix(about, ".")))
	summary := "coordinator " + strings.TrimSpace(at.Summary())
	if at.Parent == nil {
		summary = "coordinator <command> [flags]"
	} else if at.DefaultCmd != nil {
		summary = strings.Replace(summary, " <command> ", " [<command>] ", 1)
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escapeRoff(summary))
	b.WriteString(".SH DESCRIPTION\n")
	detail := at.Detail
	if at.Parent == nil {
		detail = at.Help
	}
	b.WriteString(roffText(detail))
	if len(at.Positional) > 0 {
		b.WriteString(".SH ARGUMENTS\n")
		for _, p := range at.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", escapeRoff(p.Name), escapeRoff(p.Help))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, group := range at.AllFlags(true) {
		for _, f := range group {
			word := "--" + f.Name
			if f.Short != 0 {
				word = "-" + string(f.Short) + ", " + word
			}
			if !f.IsBool() {
				word += "=" + f.FormatPlaceHolder()
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escapeRoff(word), escapeRoff(f.Help))
		}
	}
	if below := commandsBelow(at); len(below) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, n := range at.Children {
			if !n.Hidden && n.Type == kong.CommandNode {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", escapeRoff(pageName(n)), escapeRoff(n.Help))
			}
		}
	}
	if at.Parent != nil {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", escapeRoff(pageName(at.Parent)))
	}
	return b.String()
}

// roffText sets a help text: paragraphs as they are, and what is indented as it stands.
func roffText(text string) string {
	var b strings.Builder
	verbatim := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case line == "" && !verbatim:
			b.WriteString(".PP\n")
			continue
		case indented && !verbatim:
			b.WriteString(".nf\n")
			verbatim = true
		case !indented && line != "" && verbatim:
			b.WriteString(".fi\n")
			verbatim = false
		}
		b.WriteString(escapeRoff(line) + "\n")
	}
	if verbatim {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roffEscapes are characters that roff would read, or set, as others.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// escapeRoff keeps a line of text from being read as roff's own.
func escapeRoff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	var b strings.Builder
	for _, r := range line {
		if r > 0x7e {
			fmt.Fprintf(&b, `\[u%04X]`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
