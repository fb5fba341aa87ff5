//go:build !action

package main

// coordinator serve and what belongs to it. Alone it is the daemon, with all the daemon's flags.

type serveCommands struct {
	Daemon serveCmd `cmd:"" default:"withargs" hidden:""`
	Setup  setupCmd `cmd:""                              help:"Make the GitHub App in your browser, and write its key and settings."`
}
