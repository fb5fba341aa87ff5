package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	c := &command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Folder: "."}
	c.Color, c.ErrColor = wantsColor(c.Stdout, c.Getenv), wantsColor(c.Stderr, c.Getenv)
	os.Exit(c.Main(ctx, os.Args[1:]))
}

// Main runs the program and returns its exit code.
func (c *command) Main(ctx context.Context, args []string) int {
	defer c.guardStreams()()
	run, code := c.parseArgs(ctx, args)
	if run == nil {
		return code
	}
	return c.reportError(ctx, run())
}
