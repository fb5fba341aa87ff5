//go:build action

package main

// The action's program has no daemon and no fake GitHub. Their commands stay known to the parser, so that they can say
// where they are.

import "errors"

// What the help shows first.
const (
	setUpExample  = "  coordinator config check                          what a policy says, and its mistakes"
	doctorExample = ""
	demoExample   = ""
)

type fullConfigCommands struct {
	Init   absentCmd `cmd:"" hidden:"" passthrough:""`
	Schema absentCmd `cmd:"" hidden:"" passthrough:""`
}

type fullProgramCommands struct {
	Classify absentCmd `cmd:"" group:"everyday" hidden:"" passthrough:""`
	Init     absentCmd `cmd:"" group:"setUp" hidden:"" passthrough:""`
	Doctor   absentCmd `cmd:"" group:"setUp" hidden:"" passthrough:""`
	Simulate absentCmd `cmd:"" group:"setUp" hidden:"" passthrough:""`
	Serve    absentCmd `cmd:"" group:"setUp" hidden:"" passthrough:""`
	Demo     absentCmd `cmd:"" group:"setUp" hidden:"" passthrough:""`
}

// absentCmd stands for a command that this build does not have.
type absentCmd struct {
	Arguments []string `arg:"" optional:""`
}

// Run tells where to get a build that has the command.
func (absentCmd) Run() error {
	return usageError(errors.New("this build is the action's: it has no init, classify, config init and schema, doctor, serve, demo and simulate"),
		"download coordinator_"+buildVersion()+"_… from the release, or build it without -tags action")
}
