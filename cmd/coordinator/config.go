//go:build !action

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

type configCmd struct {
	Check  configCheckCmd  `cmd:"" help:"Check a policy file and say what it means."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of policy files, for your editor."`
}

type configCheckCmd struct {
	File string `arg:"" optional:"" help:"The policy file; - reads standard input. Default: .github/review-coordinator.yml or .yaml."`
	JSON bool   `help:"Print JSON." name:"json"`

	Organization string `xor:"org" help:"A copy of the organisation's policy: says what holds of both." placeholder:"FILE"`
	Against      string `xor:"org" help:"Say what it would have decided in a repository." placeholder:"OWNER/NAME"`
	Last         int    `help:"How many pull requests --against asks about: 1 to 100." default:"20" placeholder:"N"`
}

// Run checks the file.
func (cmd configCheckCmd) Run(ctx context.Context, c *command) error {
	org, err := readOrganisation(cmd.Organization)
	if err != nil {
		return err
	}
	path, src, err := cmd.readPolicy(ctx, c)
	if err != nil {
		return err
	}
	policy, err := config.Merge(path, src, org)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		if cmd.JSON {
			err = c.writeJSON(policyJSON{File: path, Problems: wrong.Problems, Warnings: []config.Diagnostic{}})
		} else {
			_, err = fmt.Fprintln(c.Stdout, colorProblems(c.Color, wrong.Error()))
		}
		if err != nil {
			return err
		}
		return usageError(fmt.Errorf("%s has %s", path, countNoun(len(wrong.Problems), "mistake")),
			"the check asks for action until the policy is mended")
	}
	if err != nil {
		return err
	}
	warnings := append(config.MergeWarnings(path, src, org), treeWarnings(path, src)...)
	checked := policyAsJSON(path, policy, warnings)
	if cmd.Against != "" {
		if checked.Against, err = cmd.askAgainst(ctx, c, supposed{path: path, src: src}); err != nil {
			return err
		}
	}
	if cmd.JSON {
		return errors.Join(c.writeJSON(checked), checked.Against.unreadError())
	}
	for _, w := range warnings {
		fmt.Fprintln(c.Stdout, colorProblems(c.Color, "warning: "+w.String()))
	}
	checked.IsValid = paintIf(c.Color, goodStyle, "is valid")
	return errors.Join(policyText.Execute(c.Stdout, checked), checked.Against.unreadError())
}

// askAgainst says what the policy would have decided in the repository that --against names.
func (cmd configCheckCmd) askAgainst(ctx context.Context, c *command, s supposed) (*againstJSON, error) {
	if s.last = cmd.Last; s.last < 1 || s.last > 100 {
		return nil, usageError(fmt.Errorf("--last %d is out of range", s.last), "a number from 1 to 100")
	}
	var err error
	if s.owner, s.name, err = c.splitRepo(cmd.Against); err != nil {
		return nil, err
	}
	api, in, err := c.connectGitHub(ctx, s.owner, s.name, readAccess)
	if err != nil {
		return nil, err
	}
	out, err := s.askAll(ctx, c, api, in.Slug)
	return out, readAccess.explainRefusal(err)
}

// treeWarnings warns of what no guard covers in the repository in whose folder the policy stands, or else in this one.
func treeWarnings(path string, src []byte) []config.Diagnostic {
	folder := "."
	if dir := filepath.Dir(path); filepath.Base(dir) == ".github" {
		folder = filepath.Dir(dir)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	if info, err := root.Stat(".github"); err != nil || !info.IsDir() {
		return nil
	}
	return config.TreeWarnings(path, src, root.FS())
}

// readPolicy reads the policy file. path is its name in messages.
func (cmd configCheckCmd) readPolicy(ctx context.Context, c *command) (path string, src []byte, err error) {
	const most = config.MaxSize + 1 // one byte more than allowed, so that a longer file is noticed
	if cmd.File != "" {
		if path = cmd.File; path == "-" {
			path = "<stdin>"
		}
		src, err = c.readInput(ctx, cmd.File, most)
		return path, src, err
	}
	for _, path := range config.Paths() {
		if src, err = readFileUpTo(path, most); err == nil {
			return path, src, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, usageError(err, fileHint(err))
		}
	}
	return "", nil, usageError(fmt.Errorf("there is no %s", strings.Join(config.Paths(), " or ")),
		"stand in the root of the clone, or name the file: coordinator config check FILE; coordinator init writes a first one")
}

// colorProblems colours the carets, the hints and the warnings of problems, if colours are wanted.
func colorProblems(color bool, problems string) string {
	lines := strings.Split(problems, "\n")
	for i, line := range lines {
		switch rest, isWarning := strings.CutPrefix(line, "warning: "); {
		case isWarning:
			lines[i] = paintIf(color, warningStyle, "warning:") + " " + rest
		case strings.HasPrefix(line, "      | "):
			lines[i] = line[:8] + paintIf(color, caretStyle, line[8:])
		case strings.HasPrefix(line, "  hint: "):
			lines[i] = paintIf(color, hintStyle, line)
		}
	}
	return strings.Join(lines, "\n")
}

// readOrganisation reads the organisation's policy from a file on this machine; nil where none is named.
func readOrganisation(path string) (*config.Organisation, error) {
	if path == "" {
		return nil, nil
	}
	src, err := readFileUpTo(path, config.MaxSize+1)
	if err != nil {
		return nil, usageError(err, fileHint(err))
	}
	o, err := config.ParseOrganisation(path, src)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		return nil, usageError(
			fmt.Errorf("the organisation's policy has %s\n%w", countNoun(len(wrong.Problems), "mistake"), err),
			"every repository's check asks for action until it is mended",
		)
	}
	return o, err
}

type configSchemaCmd struct{}

// Run prints the schema.
func (configSchemaCmd) Run(c *command) error {
	_, err := c.Stdout.Write(config.Schema())
	return err
}

func roleOf(r quorum.Reviewer) string {
	switch {
	case r.Retired:
		return "retired"
	case r.Shadow:
		return "shadow"
	case r.InsteadOf != "":
		return "reserve"
	case r.Required:
		return "required"
	default:
		return "votes"
	}
}

func sourceOf(r quorum.Reviewer) string {
	switch {
	case r.Workflow != "":
		return "runs of " + r.Workflow
	case r.Check != "":
		return fmt.Sprintf("check %q of %s", r.Check, r.App)
	case r.Status != "":
		return fmt.Sprintf("status %q by %s", r.Status, r.Author)
	default:
		return "reviews and comments by " + r.Author
	}
}
