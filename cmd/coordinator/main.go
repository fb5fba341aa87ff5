package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	c := &command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Folder: "."}
	c.Color, c.ErrColor = wantsColor(c.Stdout, c.Getenv), wantsColor(c.Stderr, c.Getenv)
	c.RunUntilSignal(os.Args[1:])
}

// stopGrace is how long a command may take to end after a signal. Then it is ended, whatever it waits for.
const stopGrace = 2 * time.Second

// RunUntilSignal runs the program and ends the process with its exit code, within the grace after a first signal and at
// once after a second.
func (c *command) RunUntilSignal(args []string) {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		got := stopError{<-signals}
		signal.Stop(signals)
		stop(got)
		for began := time.Now(); time.Since(began) < cmp.Or(time.Duration(c.Grace.Load()), stopGrace); { // which may grow meanwhile
			<-time.After(50 * time.Millisecond)
		}
		os.Exit(got.exitCode())
	}()
	os.Exit(c.Main(ctx, args))
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
