//go:build !action

package main

// The commands that only the full program has. The action starts a program for every event and needs none of them: it
// is built with -tags action, which leaves out the daemon and the fake GitHub with all that they import.

type fullProgramCommands struct {
	Init     initCmd     `cmd:"" help:"Set up a repository: write its policy and its workflows."`
	Simulate simulateCmd `cmd:"" help:"Play scenario files and print what the check would have said."`

	Serve       serveCmd    `cmd:"" help:"Run as a GitHub App: webhooks in, checks out."`
	AppManifest manifestCmd `cmd:"" help:"Print the manifest of a GitHub App with the least that serve needs."`
	Demo        demoCmd     `cmd:"" help:"Watch a check grow: a story told live, without an account."`
}
