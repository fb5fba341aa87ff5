//go:build !action

package main

import "github.com/review-coordinator/coordinator/internal/config"

// The commands that only the full program has. The action starts a program for every event and needs none of them: it
// is built with -tags action, which leaves out the daemon and the fake GitHub with all that they import.

// What the help shows first.
const (
	setUpExample  = "  coordinator init                                  a policy and workflows for the reviewers of a repository"
	doctorExample = "\n  coordinator doctor octo/shop                      can its check be trusted, and can it arrive?"
	demoExample   = "\n  coordinator demo                                  watch one grow, without an account"
)

type fullConfigCommands struct {
	Init   configInitCmd   `cmd:"" help:"Write a policy file for the reviewers that a repository has."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of policy files, for your editor."`
}

type configSchemaCmd struct{}

// Help is shown by coordinator config schema --help.
func (configSchemaCmd) Help() string {
	return `Editors with a YAML language server complete and check a policy that begins with

  # yaml-language-server: $schema=PATH

where PATH is the file that you write this to.`
}

// Run prints the schema.
func (configSchemaCmd) Run(c *command) error {
	_, err := c.Stdout.Write(config.Schema())
	return err
}

type fullProgramCommands struct {
	Classify classifyCmd `cmd:"" group:"everyday" help:"Say how a reviewer's text is read."`
	Init     initCmd     `cmd:"" group:"setUp" help:"Set up a repository: write its policy and its workflows."`
	Doctor   doctorCmd   `cmd:"" group:"setUp" help:"Say whether a repository's check can be trusted, and can arrive."`
	Simulate simulateCmd `cmd:"" group:"setUp" help:"Play scenario files and print what the check would have said."`
	Demo     demoCmd     `cmd:"" group:"setUp" help:"Watch a check grow: a story told live, without an account."`

	Serve serveCommands `cmd:"" group:"operators" help:"Run as a GitHub App: webhooks in, checks out."`
}
