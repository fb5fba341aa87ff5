//go:build !action

package main

// coordinator config init: a first policy file, from what the repository's workflows and reviewers left on GitHub.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github"
)

type configInitCmd struct {
	Repo  string `help:"The repository. Default: GITHUB_REPOSITORY, else the clone's origin." placeholder:"OWNER/NAME"`
	Write string `help:"Write the policy to this file instead of standard output." placeholder:"FILE"`
	Force bool   `help:"Overwrite the file if it exists."`
	JSON  bool   `help:"Print what was found and written as JSON, with the policy." name:"json"`
}

// Run surveys the repository and writes the file.
func (cmd configInitCmd) Run(ctx context.Context, c *command) error {
	owner, name, err := c.resolveRepo(cmd.Repo, "config init")
	if err != nil {
		return err
	}
	if cmd.Write != "" && !cmd.Force { // refuse before the survey, which takes a minute
		if _, err := os.Lstat(cmd.Write); err == nil {
			return usageError(fmt.Errorf("%s exists", cmd.Write), "--force overwrites it")
		}
	}
	api, _, err := c.connectGitHub(ctx, owner, name, readAccess)
	if err != nil {
		return err
	}
	survey, err := github.SurveyRepo(
		ctx,
		api,
		owner,
		name,
		func(step string) { fmt.Fprintf(c.Stderr, "reading %s of %s/%s\n", step, owner, name) },
	)
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	draft := config.Init(survey)
	src, fill := draft.Policy, draft.Fill
	if cmd.Write != "" || !cmd.JSON {
		if err := cmd.writePolicy(c, src); err != nil {
			return err
		}
	}
	if cmd.JSON {
		return c.writeJSON(policyDraftAsJSON(owner+"/"+name, cmd.Write, draft))
	}
	file := cmd.Write
	if file == "" {
		file = "<stdout>"
	}
	for _, f := range fill {
		fmt.Fprintf(c.Stderr, "%s:%d: fill in: %s\n", file, f.Line, f.What)
	}
	policy, err := config.Parse(file, src)
	var wrong *config.Error
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintf(c.Stderr, "the file is no valid policy yet: %s\n", oneLine(wrong.Problems[0].Message))
	case err != nil:
		return err
	default:
		fmt.Fprintf(c.Stderr, "found %s; %s needed\n", countNoun(policy.Voters(), "voter"), countNoun(policy.Need, "approval"))
	}
	return nil
}

func (cmd configInitCmd) writePolicy(c *command, src []byte) error {
	if cmd.Write == "" {
		if _, err := c.Stdout.Write(src); err != nil {
			return fmt.Errorf("write policy: %w", err)
		}
		return nil
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if cmd.Force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	if dir := filepath.Dir(cmd.Write); !strings.HasPrefix(dir, "..") {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return usageError(fmt.Errorf("write policy: %w", err), "")
		}
	}
	f, err := os.OpenFile(cmd.Write, flags, 0o644) //nolint:gosec // a file of a repository is no secret
	switch {
	case errors.Is(err, fs.ErrExist):
		return usageError(fmt.Errorf("%s exists", cmd.Write), "--force overwrites it")
	case err != nil:
		return usageError(fmt.Errorf("write policy: %w", err), "")
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return nil
}

// A policyDraftJSON is what config init --json prints.
type policyDraftJSON struct {
	Repository string        `json:"repository"`
	File       string        `json:"file,omitempty"` // that was written
	Policy     string        `json:"policy"`
	Valid      bool          `json:"valid"`
	Need       int           `json:"need,omitempty"`
	Voters     int           `json:"voters,omitempty"`
	Problems   []problemJSON `json:"problems"`
	draftJSON
}

func policyDraftAsJSON(repository, file string, d config.Draft) policyDraftJSON {
	out := policyDraftJSON{
		Repository: repository, File: file, Policy: string(d.Policy), Problems: []problemJSON{}, draftJSON: draftAsJSON(d),
	}
	policy, err := config.Parse(file, d.Policy)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		out.Problems = problemsAsJSON(wrong.Problems)
	} else if err == nil {
		out.Valid, out.Need, out.Voters = true, policy.Need, policy.Voters()
	}
	return out
}
