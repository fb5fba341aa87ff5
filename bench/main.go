// Command bench counts what the real daemon costs, and tortures it: it starts `coordinator serve` as a process of its own
// against the sandbox's GitHub, which runs in this one. Each of its four modes promises to end with 1 if what it is there
// to find has happened.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"
)

const usageText = `usage: bench [--bin PATH] [--github 10ms] MODE

  push                             the requests of a push, and of the three reviews that follow it
  burst                            10,000 events for 1,000 pull requests at once: within GitHub's limits, and fast
  crash [--points 30] [--seed 1]   one daemon is killed or stopped at random points: nothing is lost, nothing done twice
  chaos [--blows 6] [--seed 1]     three daemons on one PostgreSQL are killed, halted, stopped, their server restarted

crash is on SQLite, unless COORDINATOR_POSTGRES names a server: .ci/postgres.sh starts one for a command. --bin is the daemon's
program, else it is built from this tree; --github is how long GitHub takes for a request. crash takes 60 points at the most:
what is cut off three times, half a minute apart, is given up.
`

var modes = map[string]func(*bench) error{"push": runPush, "burst": runBurst, "crash": runCrash, "chaos": runChaos}

// A bench is what all modes share: flags, a folder, and what was found.
type bench struct {
	ctx           context.Context
	bin, dir      string        // the daemon's program, and where its database and log are
	latency       time.Duration // of GitHub's answers
	points, blows int           // how often a daemon is struck
	seed          uint64        // of what happens
	stdout        io.Writer
	running       sync.WaitGroup // the daemons' processes

	mu       sync.Mutex
	failures int
}

func main() {
	debug.SetGCPercent(400) // this process plays GitHub: its collections take cores from the daemon
	os.Exit(runBench(os.Args[1:], os.Stdout))
}

func runBench(args []string, stdout io.Writer) int {
	b := &bench{stdout: stdout}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usageText) }
	flags.StringVar(&b.bin, "bin", "", "")
	flags.DurationVar(&b.latency, "github", 10*time.Millisecond, "")
	flags.IntVar(&b.points, "points", 30, "")
	flags.IntVar(&b.blows, "blows", 6, "")
	flags.Uint64Var(&b.seed, "seed", 1, "")
	err := flags.Parse(args)
	run := modes[flags.Arg(0)]
	if err == nil && run != nil {
		err = flags.Parse(flags.Args()[1:])
	}
	if err != nil {
		return 2
	} else if run == nil || flags.NArg() > 0 || b.points > 60 {
		flags.Usage()
		return 2
	}
	if err := b.runMode(run); err != nil || b.failures > 0 {
		fmt.Fprintf(os.Stderr, "bench: failed %d times, %v; the daemon's log is in %s\n", b.failures, err, b.dir)
		return 1
	}
	_ = os.RemoveAll(b.dir) // an error leaves only large files behind
	return 0
}

// runMode makes the folder and the program, runs a mode, and leaves no daemon behind.
func (b *bench) runMode(run func(*bench) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer b.running.Wait()
	defer stop() // which ends the daemons
	b.ctx = ctx
	if b.dir, err = os.MkdirTemp("", "coordinator-bench-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if b.bin == "" {
		b.bin = filepath.Join(b.dir, "coordinator")
		const program = "github.com/review-coordinator/coordinator/cmd/coordinator"
		out, err := exec.CommandContext(b.ctx, "go", "build", "-o", b.bin, program).CombinedOutput() //nolint:gosec // the folder is our own
		if err != nil {
			return fmt.Errorf("build the daemon: %w\n%s", err, out)
		}
	}
	return errors.Join(run(b), ctx.Err())
}

// printFigure prints a figure.
func (b *bench) printFigure(name string, value float64, unit string) {
	fmt.Fprintf(b.stdout, "%-58s %8.4g %s\n", name, value, unit)
}

// requireAtMost prints a figure, and fails if it is larger than it may be.
func (b *bench) requireAtMost(name string, value, most float64, unit string) {
	b.printFigure(name, value, fmt.Sprintf("%s (at most %.4g)", unit, most))
	if value > most {
		b.reportFailure("%s: %.4g %s, and at most %.4g", name, value, unit, most)
	}
}

// reportFailure prints what must not happen, and has the command end with 1.
func (b *bench) reportFailure(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures++; b.failures <= 20 { // the rest says the same
		fmt.Fprintf(b.stdout, "MUST NOT HAPPEN: "+format+"\n", args...)
	}
}

// awaitThat waits until something is so, and fails if it is not in time.
func (b *bench) awaitThat(what string, most time.Duration, is func() bool) error {
	for end := time.Now().Add(most); !is(); {
		if time.Now().After(end) {
			return fmt.Errorf("no %s after %s", what, most)
		}
		if err := sleepFor(b.ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// sleepFor waits for a duration or until ctx ends.
func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
