// Command bench measures and tortures the real daemon: it starts `coordinator serve` as a process of its own against
// the sandbox's GitHub, which runs in this one, and promises that every figure it prints was measured on the machine
// that it names. Times and memory are the daemon's alone; requests are counted as GitHub saw them.
package main

// The commands and their flags. Rules: every command measures one thing, prints it as a table or as JSON, and ends with
// 1 only if something that must never happen has happened, or with --strict if a target was missed.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

type commandLine struct {
	Acks       acksCmd       `cmd:"" help:"How many deliveries a second are durably acknowledged, and how fast at a fixed rate."`
	Burst      burstCmd      `cmd:"" help:"10,000 events for 1,000 pull requests, as fast as they are acknowledged."`
	Latency    latencyCmd    `cmd:"" help:"One event at a time: how long until the check is written."`
	Irrelevant irrelevantCmd `cmd:"" help:"Events that concern no reviewer: how many requests they cost."`
	Push       pushCmd       `cmd:"" help:"A push to a pull request with three reviewers: which requests it costs."`
	Memory     memoryCmd     `cmd:"" help:"Resident memory by tracked pull requests, idle and under load."`
	Pressure   pressureCmd   `cmd:"" help:"10,000 pull requests, a burst and large bodies with a soft limit of 64 MiB: nothing lost, and the process stays."`
	Growth     growthCmd     `cmd:"" help:"How much slower acknowledging and claiming become with 100 times as many tracked."`
	Idle       idleCmd       `cmd:"" help:"What a daemon costs that has nothing to do."`
	Crash      crashCmd      `cmd:"" help:"kill -9 at random points under load: nothing lost, nothing done twice."`
	Sigterm    sigtermCmd    `cmd:"" help:"SIGTERM with accepted events that are not looked at yet."`
	Shards     shardsCmd     `cmd:"" help:"All of GitHub on several PostgreSQL: a computation, without a daemon."`
	Chaos      chaosCmd      `cmd:"" help:"Three daemons on one PostgreSQL, killed, halted, cut off: nothing lost, nothing done twice."`
	Faults     faultsCmd     `cmd:"" help:"Failing writes, lost answers, duplicates and any order, under the same rules as crash."`

	benchOptions
}

func main() {
	debug.SetGCPercent(400) // this process plays the load and GitHub: its collections take cores from the daemon
	os.Exit(runBench(os.Args[1:], os.Stdout, os.Stderr))
}

func runBench(args []string, stdout, stderr io.Writer) int {
	var c commandLine
	code := -1
	parser, err := kong.New(
		&c,
		kong.Name("bench"),
		kong.Description(
			"Measures the daemon as a process, against the sandbox's GitHub.\n\n\"machine: N rounds/s\" says how fast one core was just before: how often a second it read, wrote and hashed a fixed document. Figures of different hours compare as far as it is alike.\n\nExamples:\n\n  go run ./bench acks\n  go run ./bench burst --installations 50\n  go run ./bench crash --points 100 --seed 1",
		),
		kong.Writers(stdout, stderr),
		kong.Exit(func(n int) { code = n }),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	command, err := parser.Parse(args)
	switch {
	case code >= 0:
		return code
	case err != nil:
		parser.FatalIfErrorf(err)
		return max(code, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	what := strings.Fields(command.Command())[0]
	b, err := newHarness(ctx, &c.benchOptions, stderr, what != "shards")
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	defer b.close()
	b.report.What = what
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run(b)
	b.report.printTo(stdout, c.JSON)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	case len(b.report.Violations) > 0:
		fmt.Fprintf(stderr, "bench: what must not happen has happened, %d times\n", len(b.report.Violations))
		return 1
	case c.Strict && b.report.missedTarget():
		fmt.Fprintln(stderr, "bench: a target was missed")
		return 1
	}
	return 0
}
