//go:build action

package main

// The action's program has no daemon and no fake GitHub. Their commands stay known to the parser, so that they can say
// where they are.

import "errors"

type fullProgramCommands struct {
	Init        absentCmd `cmd:"" hidden:"" passthrough:""`
	Simulate    absentCmd `cmd:"" hidden:"" passthrough:""`
	Serve       absentCmd `cmd:"" hidden:"" passthrough:""`
	AppManifest absentCmd `cmd:"" hidden:"" passthrough:""`
	Demo        absentCmd `cmd:"" hidden:"" passthrough:""`
}

// absentCmd stands for a command that this build does not have.
type absentCmd struct {
	Arguments []string `arg:"" optional:""`
}

// Run tells where to get a build that has the command.
func (absentCmd) Run() error {
	return usageError(errors.New("this build is the action's: it has no init, serve, app-manifest, demo and simulate"),
		"download coordinator_"+buildVersion()+"_… from the release, or build it without -tags action")
}
