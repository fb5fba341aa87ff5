//go:build !action

package main

// coordinator simulate: plays a scenario against a GitHub in memory, in virtual time, and prints what the check said.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/story"
)

type simulateCmd struct {
	Files  []string `arg:"" name:"file" help:"Scenario files; - reads standard input."`
	Policy string   `                   help:"Play them with this policy file instead of their own."               placeholder:"FILE"`
	Update bool     `                   help:"Rewrite the story in each file."`
	JSON   bool     `       name:"json" help:"Print the story as JSON: what was written, and how each vote ended."`
	Check  bool     `                   help:"Print the check as it reads in the end, too."`
}

// Run plays the files.
func (cmd simulateCmd) Run(ctx context.Context, c *command) error {
	var other []string
	for _, file := range cmd.Files {
		same, err := cmd.playFile(ctx, c, file)
		if err != nil {
			return err
		}
		if !same {
			other = append(other, file)
		}
	}
	if len(other) > 0 {
		return hintedError(
			fmt.Errorf("another story came of %s", strings.Join(other, ", ")),
			"coordinator simulate --update FILE writes the new one",
		)
	}
	return nil
}

func (cmd simulateCmd) playFile(ctx context.Context, c *command, file string) (same bool, err error) {
	s, err := cmd.readScenario(ctx, c, file)
	if err != nil {
		return false, err
	}
	if len(cmd.Files) > 1 && !cmd.JSON {
		fmt.Fprintf(c.Stdout, "%s: %s\n", paintIf(c.Color, headingStyle, file), s.Title)
	}
	audience, looks := story.Audience{}, map[int]loop.Look{}
	audience.Looked = func(l loop.Look) { looks[l.Snapshot.PR.Number] = l }
	if c.Verbose {
		audience.Happened = func(_ time.Duration, what string) { fmt.Fprintf(c.Stdout, "%12s%s\n", "", what) }
		audience.Wrote = func(e story.Entry) { fmt.Fprintln(c.Stdout, e) }
	}
	story, err := s.PlayStepped(ctx, audience)
	if err != nil {
		return false, usageError(err, "a scenario may only do what could happen on GitHub")
	}
	switch {
	case cmd.JSON:
		err = c.writeJSON(story)
	case !c.Verbose:
		_, err = io.WriteString(c.Stdout, story.String())
	}
	if cmd.Check {
		for _, end := range story.Ends {
			l := looks[end.Number]
			fmt.Fprint(c.Stdout, "\n"+l.Check.Page.Terminal(c.pageStyles(), l.Decision.Start))
		}
	}
	if len(cmd.Files) > 1 && !cmd.JSON {
		fmt.Fprintln(c.Stdout)
	}
	if err != nil {
		return false, err
	}
	return cmd.compareStory(c, file, s, story.String())
}

// compareStory compares a story with the one in the file, or writes it there with --update.
func (cmd simulateCmd) compareStory(c *command, file string, s *story.Scenario, story string) (same bool, err error) {
	switch {
	case cmd.Update && file != "-":
		if err := os.WriteFile(file, s.Rewritten(story), 0o600); err != nil { // the file exists and keeps its permissions
			return false, fmt.Errorf("write story: %w", err)
		}
		fmt.Fprintf(c.Stderr, "written: %s\n", file)
		return true, nil
	case !s.HasStory || cmd.Policy != "":
		return true, nil
	case s.RecordedStory == story:
		fmt.Fprintf(c.Stderr, "as told: %s\n", file)
		return true, nil
	}
	fmt.Fprintf(c.Stderr, "%s tells another story (- as it is told there, + as it came):\n%s", file, diffLines(s.RecordedStory, story))
	return false, nil
}

// readScenario reads and parses a scenario, with the policy of --policy if there is one.
func (cmd simulateCmd) readScenario(ctx context.Context, c *command, file string) (*story.Scenario, error) {
	src, err := c.readInput(ctx, file, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	s, err := story.Parse(file, src)
	if err == nil && cmd.Policy != "" {
		var policy []byte
		if policy, err = readPolicyFile(cmd.Policy); err != nil {
			return nil, err
		}
		if s, err = s.WithPolicy(string(policy)); err == nil {
			s.Title += " (with " + cmd.Policy + ")"
		}
	}
	if err != nil {
		fmt.Fprintln(c.Stdout, colorProblems(c.Color, err.Error()))
		return nil, usageError(fmt.Errorf("%s cannot be played", file), "coordinator simulate --help shows the language")
	}
	if why := s.EmptyReason(); why != "" {
		fmt.Fprintf(c.Stderr, "warning: %s: %s\n", file, why)
	}
	var wrong *config.Error
	path, above := file, s.LinesAbovePolicy
	if cmd.Policy != "" {
		path, above = cmd.Policy, 0
	}
	if _, err := config.Parse(path, []byte(strings.Repeat("\n", above)+s.Policy)); s.Policy != "" && errors.As(err, &wrong) {
		fmt.Fprintln(c.Stderr, colorProblems(c.ErrColor, "warning: the story's policy is broken\n"+wrong.Error()))
	}
	return s, nil
}

// diffLines shows the difference of two texts line by line.
func diffLines(before, after string) string {
	_, hunks, _ := strings.Cut(string(diff.Diff("told", []byte(before), "came", []byte(after))), "+++ came\n")
	var out strings.Builder
	for line := range strings.Lines(hunks) {
		if !strings.HasPrefix(line, "@@") {
			line = line[:1] + " " + line[1:]
		}
		out.WriteString(line)
	}
	return out.String()
}
