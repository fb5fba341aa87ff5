//go:build !action

package main

// Completion in a shell. A script asks the program itself, with the words that stand before the cursor, so that a script
// which was installed once knows the commands, flags and values of whatever version is there.

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/review-coordinator/coordinator/internal/review"
)

var (
	//go:embed completion.bash
	bashCompletion string
	//go:embed completion.zsh
	zshCompletion string
	//go:embed completion.fish
	fishCompletion string
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help is shown by coordinator completion --help.
func (completionCmd) Help() string {
	return `Prints a script for your shell. It asks the program for what may follow, so it need not be printed again for a new version.

Examples:

  source <(coordinator completion bash)                             in ~/.bashrc
  coordinator completion zsh >"${fpath[1]}/_coordinator"
  coordinator completion fish >~/.config/fish/completions/coordinator.fish`
}

// Run prints the script.
func (cmd completionCmd) Run(c *command) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[cmd.Shell]
	_, err := io.WriteString(c.Stdout, script)
	return err
}

type completeCmd struct {
	Words []string `arg:"" optional:""`
}

// Run prints a line for each word that may stand at the end: the word, a tab, and what it is. The line ":file" says that
// a file may stand there, which a shell completes best.
func (cmd completeCmd) Run(c *command, parsed *kong.Context) error {
	words := cmd.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	adoptDefaults(parsed.Model.Node)
	candidates, files := completionsOf(parsed.Model, words)
	var b strings.Builder
	if files {
		b.WriteString(":file\n")
	}
	for _, w := range candidates {
		fmt.Fprintf(&b, "%s\t%s\n", w.word, w.help)
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

// A completion is a word that may stand at the cursor, and what it is.
type completion struct{ word, help string }

// completionsOf returns the words that may stand for the last of words, and whether a file may.
func completionsOf(app *kong.Application, words []string) (all []completion, files bool) {
	if len(words) == 0 {
		words = []string{""}
	}
	words, apart := joinAssignments(words)
	at, open, given := walkWords(app.Node, words[:len(words)-1])
	last := words[len(words)-1]
	switch name, value, assigned := strings.Cut(last, "="); {
	case open != nil:
		all, files = valuesOf(app, open.Value, open.PlaceHolder, nil)
	case assigned && strings.HasPrefix(last, "-"):
		flag := flagOf(at, name)
		if flag == nil {
			return nil, false
		}
		all, files = valuesOf(app, flag.Value, flag.PlaceHolder, nil)
		if last = value; !apart { // the shell replaces the whole word
			last = name + "=" + value
			for i := range all {
				all[i].word = name + "=" + all[i].word
			}
		}
	case strings.HasPrefix(last, "-"):
		all = flagsAt(at)
	default:
		all = commandsBelow(at)
		if n := len(at.Positional); n > 0 && (len(given) < n || at.Positional[n-1].IsCumulative()) {
			more, file := valuesOf(app, at.Positional[min(len(given), n-1)], "", given)
			all, files = append(all, more...), file
		}
	}
	return slices.DeleteFunc(all, func(c completion) bool { return !strings.HasPrefix(c.word, last) }), files
}

// joinAssignments joins --flag, = and value, which bash takes apart.
func joinAssignments(words []string) (joined []string, apart bool) {
	for i, word := range words {
		n := len(joined)
		switch {
		case word == "=" && n > 0 && strings.HasPrefix(joined[n-1], "--"):
			joined[n-1] += "="
			apart = i == len(words)-1
		case n > 0 && i > 0 && words[i-1] == "=" && strings.HasSuffix(joined[n-1], "="):
			joined[n-1] += word
			apart = i == len(words)-1
		default:
			joined = append(joined, word)
		}
	}
	return joined, apart
}

// walkWords follows the words to a command. open is a flag that waits for its value, given are the arguments.
func walkWords(at *kong.Node, words []string) (_ *kong.Node, open *kong.Flag, given []string) {
	for _, word := range words {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-") && word != "-":
			if flag := flagOf(at, word); flag != nil && !flag.IsBool() && !strings.Contains(word, "=") {
				open = flag
			}
		default:
			i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
			if i < 0 {
				given = append(given, word)
				continue
			}
			at = at.Children[i]
		}
	}
	return at, open, given
}

// flagOf returns the flag that a word names at a command; nil without one.
func flagOf(at *kong.Node, word string) *kong.Flag {
	for _, group := range at.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func flagsAt(at *kong.Node) (all []completion) {
	for _, group := range at.AllFlags(true) {
		for _, f := range group {
			all = append(all, completion{"--" + f.Name, firstSentence(f.Help)})
		}
	}
	return all
}

func commandsBelow(at *kong.Node) (all []completion) {
	for _, n := range at.Children {
		if n.Type == kong.CommandNode && !n.Hidden {
			all = append(all, completion{n.Name, firstSentence(n.Help)})
		}
	}
	return all
}

// valuesOf returns the values that a flag, or an argument after those given, takes, and whether it takes a file.
func valuesOf(app *kong.Application, v *kong.Value, placeHolder string, given []string) (all []completion, files bool) {
	words := []string(nil)
	switch list := v.Tag.Get("complete"); {
	case list == "commands":
		at, _, _ := walkWords(app.Node, given)
		return commandsBelow(at), false
	case list == "presets":
		words = review.Presets()
	case list != "":
		words = strings.Split(list, ",")
	case v.Enum != "":
		words = v.EnumSlice()
	default:
		return nil, slices.Contains([]string{"FILE", "DIR", "FOLDER"}, placeHolder) || v.Name == "file" && v.Flag == nil
	}
	for _, w := range words {
		all = append(all, completion{word: w})
	}
	return all, false
}

// firstSentence returns the beginning of a help that fits beside a word.
func firstSentence(help string) string {
	if i := strings.IndexAny(help, ".;:"); i > 0 {
		return help[:i]
	}
	return help
}

// adoptDefaults does so for all commands, once they are parsed.
func adoptDefaults(node *kong.Node) {
	adoptDefault(node)
	for _, below := range node.Children {
		adoptDefaults(below)
	}
}
