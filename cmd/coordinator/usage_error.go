//go:build !action

package main

// How mistakes in a command line are worded: what is wrong, and what to type instead.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A commandShape is as much of a command as explains a mistake in its use.
type commandShape struct {
	name      string   // with the names of the commands that it stands below; "": the program
	below     []string // names of the commands below it
	runsAlone bool     // it has commands below it, and runs without them too
	arguments int      // how many it takes
	detail    string   // its help, with examples
}

// usageHint is the hint where nothing better is known.
func (s commandShape) usageHint() string {
	return strings.Join(strings.Fields("coordinator "+s.name+" --help"), " ") + " shows how it is used"
}

// newMistake returns a usage error; an empty hint is the usage.
func (s commandShape) newMistake(text, hint string) error {
	return usageError(errors.New(text), cmp.Or(hint, s.usageHint()))
}

// flagsElsewhere are flags that a person may well type at a command that has another for it.
var flagsElsewhere = []struct{ flag, commands, hint string }{
	{
		"--policy", "run sweep",
		"--config PATH names a policy on the default branch; what a file on this machine would say: coordinator explain PR --policy FILE",
	},
	{"--policy", "config verdict", "name the file itself: coordinator config check FILE"},
	{"--config", "classify explain simulate", "--policy FILE names a policy file on this machine"},
	{"--config", "config verdict", "name the file itself: coordinator config check FILE"},
	{"--repo", "classify simulate verdict demo serve", "this command reads no repository on GitHub"},
	{"--port", "serve", "--listen HOST:PORT says where webhooks come in, --admin-listen where the dashboard is"},
	{"--pr", "explain", "name the pull request itself: coordinator explain OWNER/NAME#N"},
	{"--pr", "init", "--pull-request opens a pull request with the files"},
	{"--write", "init", "it writes into your clone, or below --dir; the policy alone: coordinator init --policy-only"},
	{"--policy", "init", "it writes a policy; whether one is right: coordinator config check FILE"},
	{"--db", "serve", "--database sqlite://PATH names the daemon's database"},
	{"--pr", "sweep", "it looks at all that are open; one pull request: coordinator run OWNER/NAME#N"},
	{"--token", "run sweep explain config serve", "a token is read from GITHUB_TOKEN, where no list of processes shows it"},
}

// explainUnknownFlag explains a flag that a command does not have. near is a question after one that it has, or "".
func (s commandShape) explainUnknownFlag(flag, near string) error {
	command, _, _ := strings.Cut(s.name, " ")
	for _, e := range flagsElsewhere {
		if e.flag == flag && slices.Contains(strings.Fields(e.commands), command) {
			return s.newMistake(s.name+" has no flag "+flag, e.hint)
		}
	}
	return s.newMistake("unknown flag "+flag+near, "")
}

// explainArgument explains an argument that a command does not take.
func (s commandShape) explainArgument(arg, near string) error {
	clipped := clipArgument(arg)
	if len(s.below) == 0 {
		hint := ""
		if slices.Contains([]string{"sweep", "init"}, s.name) && strings.Contains(arg, "/") {
			hint = "--repo names the repository: coordinator " + s.name + " --repo " + clipped
		}
		if s.arguments > 0 {
			return s.newMistake(fmt.Sprintf("%q is one argument too many: %s takes %d", clipped, s.name, s.arguments), hint)
		}
		return s.newMistake(fmt.Sprintf("%s takes no argument, and %q is one", s.name, clipped), hint)
	}
	hint := ""
	switch {
	case near != "":
	case s.runsAlone:
		hint = "coordinator " + s.name + " alone takes no argument; below it there is " + strings.Join(s.below, ", ")
	case s.name == "config" && arg == "init":
		hint = "coordinator init writes a policy, and the workflows"
	case s.name == "" && arg == "setup":
		hint = "coordinator init sets up a repository, coordinator serve setup makes a GitHub App"
	case pullShape().MatchString(arg) || strings.Contains(arg, "/pull/"):
		hint = "to ask about a pull request: coordinator explain " + clipped
	}
	return s.newMistake(fmt.Sprintf("there is no command %q", strings.TrimSpace(s.name+" "+clipped))+near, hint)
}

// explainMissing explains what a command misses: an argument, or a command below it.
func (s commandShape) explainMissing(what string) error {
	switch {
	case len(s.below) == 0:
		hint := ""
		for line := range strings.Lines(s.detail) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "coordinator "+s.name) {
				hint = "for example: " + line
				break
			}
		}
		return s.newMistake(s.name+": "+what+" is missing", hint)
	case s.name == "":
		return s.newMistake("no command is given", "")
	}
	return s.newMistake(s.name+" needs a word more: "+what, "")
}

// flagAsValue explains a value that begins as a flag does, and is not written behind a flag's =; nil if it may be one.
func flagAsValue(name, text string) error {
	rest, isFlag := strings.CutPrefix(text, "-")
	switch {
	case !isFlag || rest == "":
		return nil
	case rest[0] >= '0' && rest[0] <= '9':
		return &valueError{name + " " + clipArgument(text) + " is below zero", ""}
	}
	return &valueError{
		name + " has no value: " + clipArgument(text) + " is the next flag",
		"a value that begins with - is written " + name + "=VALUE",
	}
}
