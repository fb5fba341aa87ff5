//go:build !action

package main

// coordinator config init: a first policy file, from what the repository's workflows and reviewers left on GitHub.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	survey, err := github.SurveyRepo(ctx, api, owner, name, readingPrinter(c.Stderr, owner, name))
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	draft := config.Init(survey)
	switch {
	case cmd.Write != "":
		err = cmd.writePolicy(draft.Policy)
	case !cmd.JSON:
		_, err = c.Stdout.Write(draft.Policy)
	}
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	file := cmp.Or(cmd.Write, "<stdout>")
	policy, err := config.Parse(file, draft.Policy)
	var wrong *config.Error
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if cmd.JSON {
		out := policyDraftJSON{
			Repository: owner + "/" + name, File: cmd.Write, Policy: string(draft.Policy), Valid: err == nil,
			Need: policy.Need, Voters: policy.Voters(), Problems: []problemJSON{}, Draft: draft,
		}
		if wrong != nil {
			out.Problems = problemsAsJSON(wrong.Problems)
		}
		return c.writeJSON(out)
	}
	for _, f := range draft.Fill {
		fmt.Fprintf(c.Stderr, "%s:%d: fill in: %s\n", file, f.Line, f.What)
	}
	if wrong == nil {
		fmt.Fprintf(c.Stderr, "found %s; %s needed\n", countNoun(policy.Voters(), "voter"), countNoun(policy.Need, "approval"))
	} else {
		fmt.Fprintf(c.Stderr, "the file is no valid policy yet: %s\n", oneLine(wrong.Problems[0].Message))
	}
	return nil
}

func (cmd configInitCmd) writePolicy(src []byte) error {
	dir := filepath.Dir(cmd.Write)
	if !strings.HasPrefix(dir, "..") {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return usageError(err, "")
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usageError(err, "")
	}
	defer root.Close()
	return writeAll(root, []newFile{{path: filepath.Base(cmd.Write), content: src, mode: 0o644}}, cmd.Force)
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
	config.Draft
}
