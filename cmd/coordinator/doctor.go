//go:build !action

package main

// coordinator doctor: whether the check of a repository can be trusted, and whether it can arrive. It only reads.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/review-coordinator/coordinator/internal/doctor"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

type doctorCmd struct {
	Repository string `arg:"" optional:"" name:"repository" help:"The repository, OWNER/NAME or its address. Default: GITHUB_REPOSITORY, else the clone's origin."`
	Repo       string `help:"The same, as of the other commands." placeholder:"OWNER/NAME"`
	Fix        bool   `help:"Print the commands that mend what a command can, as a script to read. It runs none of them."`
	JSON       bool   `name:"json" help:"Print what was found as JSON."`
}

// A doctorJSON is what doctor --json prints.
type doctorJSON struct {
	Repository string             `json:"repository"`
	Check      string             `json:"check,omitempty"`
	Trusted    bool               `json:"trusted"` // nothing is broken
	Found      []doctor.Diagnosis `json:"found"`
}

// Run reads the set-up and says what is wrong with it.
func (cmd doctorCmd) Run(ctx context.Context, c *command) error {
	switch {
	case cmd.Repository != "" && cmd.Repo != "":
		return usageError(errors.New("the repository is named twice"), "leave out --repo")
	case cmd.Fix && cmd.JSON:
		return usageError(errors.New("--fix and --json print different things"), "--json holds the commands, too, as fix")
	}
	owner, name, err := c.resolveRepo(cmp.Or(cmd.Repository, cmd.Repo), "doctor")
	if err != nil {
		return err
	}
	api, in, err := c.connectGitHub(ctx, owner, name, readAccess)
	if err != nil {
		return err
	}
	s, err := github.ReadSetup(ctx, github.NewForge(api, in.Slug, "", c.newLogger()), owner, name, readingPrinter(c.Stderr, owner, name))
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	s.App = identityOf(api, in)
	if host := hostOfPages(c.Getenv("GITHUB_API_URL")); host != "github.com" {
		s.Host = host
	}
	all := doctor.Examine(s)
	switch {
	case cmd.JSON:
		err = c.writeJSON(doctorJSON{Repository: owner + "/" + name, Check: s.Policy.Check, Trusted: doctor.CanBeTrusted(all), Found: all})
	case cmd.Fix:
		_, err = io.WriteString(c.Stdout, describeFixes(owner+"/"+name, all))
	default:
		_, err = io.WriteString(c.Stdout, describeDiagnoses(c.Color, owner+"/"+name, all))
	}
	if err != nil || doctor.CanBeTrusted(all) {
		return err
	}
	hint := "coordinator doctor " + owner + "/" + name + " --fix prints commands for what a command can mend"
	if cmd.Fix {
		hint = ""
	}
	return hintedError(fmt.Errorf("the check of %s/%s cannot be trusted yet: %s", owner, name, countGrades(all)), hint)
}

// readingPrinter returns what tells a person which part of a repository is being read: that takes a minute.
func readingPrinter(w io.Writer, owner, name string) func(step string) {
	return func(step string) { fmt.Fprintf(w, "reading %s of %s/%s\n", step, owner, name) }
}

// identityOf is the App as which GitHub was asked, with what it lacks; nothing of a token.
func identityOf(api *client.Client, in client.Installation) doctor.AppIdentity {
	if api.AppID() == 0 {
		return doctor.AppIdentity{}
	}
	lacking := func(grants ...client.Grant) (names []string) {
		for _, lacks := range in.Lacks(grants...) {
			names = append(names, lacks.String())
		}
		return names
	}
	must, should := writeAccess.neededGrants()
	return doctor.AppIdentity{
		ID: api.AppID(), Slug: in.Slug, Lacks: lacking(must...), Misses: lacking(should...),
		Deaf: lacking(client.Grant{Name: mergeQueuesPermission, Level: "read"}),
	}
}

var gradeStyles = map[doctor.Grade]textStyle{
	doctor.Broken: caretStyle, doctor.Warning: warningStyle, doctor.ToDo: warningStyle, doctor.Fine: goodStyle,
	doctor.Unknown: hintStyle,
}

// describeDiagnoses says a line of each thing, and what to do below it.
func describeDiagnoses(color bool, repo string, all []doctor.Diagnosis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", paintIf(color, headingStyle, repo))
	for _, d := range all {
		fmt.Fprintf(&b, "%s %s\n", paintIf(color, gradeStyles[d.Grade], fmt.Sprintf("%-8s", d.Grade)), oneLine(d.Says))
		if d.Remedy != "" {
			fmt.Fprintf(&b, "         %s\n", paintIf(color, hintStyle, oneLine(d.Remedy)))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", countGrades(all))
	return b.String()
}

// describeFixes returns the commands as a script, which a person reads before anybody runs it.
func describeFixes(repo string, all []doctor.Diagnosis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# What coordinator doctor would mend in %s. Read it, and keep what you agree with.\nset -e\n", repo)
	for _, d := range all {
		if d.Grade == doctor.Fine || d.Grade == doctor.Unknown {
			continue
		}
		fmt.Fprintf(&b, "\n# %s: %s\n# %s\n", d.Grade, oneLine(d.Says), oneLine(d.Remedy))
		for _, command := range d.Fix {
			fmt.Fprintln(&b, command)
		}
		if len(d.Fix) == 0 {
			fmt.Fprintln(&b, "# No command does this.")
		}
	}
	return b.String()
}

// countGrades says how many things are how bad.
func countGrades(all []doctor.Diagnosis) string {
	count := map[doctor.Grade]int{}
	for _, d := range all {
		count[d.Grade]++
	}
	var parts []string
	for grade := range doctor.Fine {
		if n := count[grade]; grade == doctor.Warning && n > 0 {
			parts = append(parts, countNoun(n, "warning"))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(grade.String(), "unknown", "not known")))
		}
	}
	if len(parts) == 0 {
		return "all is fine"
	}
	return strings.Join(parts, ", ")
}
