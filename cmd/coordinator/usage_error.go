package main

// What the parser says of a wrong command line, in the words of a person who typed it: what is wrong, where, and what
// to type instead.

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A parseRewording replaces an error of the parser's by one that tells. Both texts may hold what the pattern caught.
type parseRewording struct {
	pattern       *regexp.Regexp
	message, hint string // an empty hint: how the command is used
}

// parseRewordings are tried in their order. They are compiled when there is an error, not at each start.
func parseRewordings() []parseRewording {
	return []parseRewording{
		{
			regexp.MustCompile(`^(--[a-z-]+): expected [a-z]+ value but got "(-[0-9][^"]{0,20})" \(short flag\)`),
			"$1 $2 is below zero", "",
		},
		{regexp.MustCompile(`^(--[a-z-]+): expected [a-z]+ value but got "EOL"`), "$1 has no value", ""},
		{
			regexp.MustCompile(`^(--[a-z-]+): expected [a-z]+ value but got "(-[^"]{0,40})" \(.*$`),
			"$1 has no value: $2 is the next flag", "a value that begins with - is written $1=VALUE",
		},
		{
			regexp.MustCompile(`^(--[a-z-]+): expected duration but got "?([0-9]{1,9})"?(?::.*)?$`),
			"$1 $2 has no unit", "write it with a unit: ${2}s or ${2}m",
		},
		{
			regexp.MustCompile(`^(--[a-z-]+): expected duration but got "?([^":]{0,40})"?.*$`),
			`$1 "$2" is no duration`, "write it as 90s, 15m or 2h",
		},
		{
			regexp.MustCompile(`^(--[a-z-]+): expected a valid [0-9]+ bit int but got "([0-9]{10,40})"$`),
			"$1 $2 is too large", "",
		},
		{
			regexp.MustCompile(`^(--[a-z-]+): expected an? (?:valid [0-9]+ bit )?int but got "([^"]{0,40})".*$`),
			`$1 "$2" is no number`, "",
		},
		{
			regexp.MustCompile(`^(--[a-z-]+): bool value must be .* but got "([^"]{0,40})"$`),
			`$1 "$2" is neither true nor false`, "$1 alone says yes; leave it out for no",
		},
		{regexp.MustCompile(`^(unknown flag -[^-]).*$`), "$1", ""}, // the parser offers every short flag that there is
	}
}

// flagsElsewhere are flags that a person may well type at a command that has another for it.
var flagsElsewhere = []struct{ flag, commands, hint string }{
	{
		"--policy", "run sweep",
		"--config PATH names a policy on the default branch; what a file on this machine would say: coordinator explain PR --policy FILE",
	},
	{"--policy", "config verdict", "name the file itself: coordinator config check FILE"},
	{"--config", "classify simulate", "--policy FILE names a policy file on this machine"},
	{"--config", "config verdict", "name the file itself: coordinator config check FILE"},
	{"--repo", "classify simulate verdict demo serve", "this command reads no repository on GitHub"},
	{"--port", "serve", "--listen HOST:PORT says where webhooks come in, --admin-listen where the dashboard is"},
	{"--pr", "explain", "name the pull request itself: coordinator explain OWNER/NAME#N"},
	{"--pr", "init", "--pull-request opens a pull request with the files"},
	{"--write", "init", "it writes three files into your clone, or below --dir; the policy alone: coordinator config init --write FILE"},
	{"--policy", "init", "it writes a policy; whether one is right: coordinator config check FILE"},
	{"--db", "serve", "--database sqlite://PATH names the daemon's database"},
	{"--pr", "sweep", "it looks at all that are open; one pull request: coordinator run OWNER/NAME#N"},
	{"--token", "run sweep explain config serve", "a token is read from GITHUB_TOKEN, where no list of processes shows it"},
}

// explainParseError turns an error of the parser into a usage error whose hint tells what to type instead.
func explainParseError(err error) error {
	var at *kong.Node
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if at = parse.Context.Selected(); at == nil {
			at = lastCommand(parse.Context)
		}
	}
	name := ""
	if at != nil && at.Hidden && at.Parent != nil && at.Parent.DefaultCmd == at {
		at = at.Parent // nobody typed the name of the default
	}
	if at != nil {
		name = strings.Join(commandPath(at), " ")
	}
	usage := strings.Join(strings.Fields("coordinator "+name+" --help"), " ") + " shows how it is used"
	text, hint := err.Error(), ""
	for _, r := range parseRewordings() {
		if m := r.pattern.FindStringSubmatchIndex(text); m != nil {
			hint = string(r.pattern.ExpandString(nil, r.hint, text, m))
			text = string(r.pattern.ExpandString(nil, r.message, text, m))
			break
		}
	}
	if unknown, found := strings.CutPrefix(text, "unknown flag "); found {
		flag, _, _ := strings.Cut(unknown, ",")
		command, _, _ := strings.Cut(name, " ")
		for _, e := range flagsElsewhere {
			if e.flag == flag && strings.Contains(" "+e.commands+" ", " "+command+" ") && command != "" {
				text, hint = name+" has no flag "+flag, e.hint
				break
			}
		}
	}
	if rest, found := strings.CutPrefix(text, "unexpected argument "); found {
		text, hint = explainArgument(at, name, rest)
	}
	if rest, found := strings.CutPrefix(text, "expected "); found {
		text, hint = explainMissing(at, name, rest)
	}
	if hint == "" {
		hint = usage
	}
	return &exitError{code: exitUsage, err: errors.New(text), hint: hint}
}

// lastCommand returns the command at which the parser stopped; nil before the first.
func lastCommand(parsed *kong.Context) *kong.Node {
	for i := len(parsed.Path) - 1; i >= 0; i-- {
		if node := parsed.Path[i].Command; node != nil {
			return node
		}
	}
	return nil
}

// commandPath returns the words that name a command. A default command has none of its own: nobody types it.
func commandPath(at *kong.Node) (words []string) {
	for ; at != nil && at.Type == kong.CommandNode; at = at.Parent {
		if !isDefaultCommand(at) {
			words = append([]string{at.Name}, words...)
		}
	}
	return words
}

// isDefaultCommand reports whether the command is what its parent does alone, as serve does.
func isDefaultCommand(at *kong.Node) bool { return at.Parent != nil && at.Parent.DefaultCmd == at }

// explainArgument explains an argument that the command at, whose name is given, does not take.
func explainArgument(at *kong.Node, name, rest string) (text, hint string) {
	arg, near, _ := strings.Cut(rest, ", did you mean ")
	if at != nil && len(at.Children) == 0 {
		if slices.Contains([]string{"sweep", "init", "config init"}, name) && strings.Contains(arg, "/") {
			hint = "--repo names the repository: coordinator " + name + " --repo " + clipArgument(arg)
		}
		if name == "classify" {
			hint = "it reads standard input: coordinator classify <FILE"
		}
		if n := len(at.Positional); n > 0 {
			return fmt.Sprintf("%q is one argument too many: %s takes %d", clipArgument(arg), name, n), hint
		}
		return fmt.Sprintf("%s takes no argument, and %q is one", name, clipArgument(arg)), hint
	}
	text = fmt.Sprintf("there is no command %q", strings.TrimSpace(name+" "+clipArgument(arg)))
	switch {
	case near != "":
		text += ", did you mean " + near
	case at != nil && at.DefaultCmd != nil:
		hint = "coordinator " + name + " alone takes no argument; below it there is " + strings.Join(visibleChildren(at), ", ")
	case text == `there is no command "setup"`:
		hint = "coordinator init sets up a repository, coordinator serve setup makes a GitHub App"
	case pullNumber().MatchString(arg) || pullNamed().MatchString(arg) || strings.Contains(arg, "/pull/"):
		hint = "to ask about a pull request: coordinator explain " + clipArgument(arg)
	}
	return text, hint
}

// visibleChildren returns the names of the commands below one.
func visibleChildren(at *kong.Node) (names []string) {
	for _, n := range at.Children {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	return names
}

// explainMissing explains what the command at, whose name is given, misses.
func explainMissing(at *kong.Node, name, rest string) (text, hint string) {
	if at != nil && len(at.Children) == 0 {
		for line := range strings.Lines(at.Detail) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "coordinator "+name) {
				hint = "for example: " + line
				break
			}
		}
		return fmt.Sprintf("%s: %s is missing", name, strings.Trim(rest, `"`)), hint
	}
	if name == "" {
		return "no command is given", ""
	}
	return fmt.Sprintf("%s needs a word more: %s", name, strings.ReplaceAll(rest, `"`, "")), ""
}
