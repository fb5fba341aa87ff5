// Command house measures how the program is built: its walls (circles of files, methods of a type), its words (names of
// one word, type names in two packages, names that tests hold) and its size. It promises that every figure is counted
// in the type-checked source as it stands, so that two checkouts compare, and ends with 1 if one is past its limit.
package main

// limits.go has the limits, with a reason each; measure.go says how each figure is counted. One law of the house is no
// figure: a test holds that every row of a table of texts has its example.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run measures a checkout and returns the exit code: 1 if a figure falls behind, 2 if nothing could be measured.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("house", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("at", ".", "the checkout to measure, by the limits of this one")
	webhook := flags.String("webhook", "", "the coverage profile of one event's way to a check: its functions are counted, too")
	verbose := flags.Bool("v", false, "name the files, types and functions behind each figure")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "house: %q is not a flag\n", flags.Arg(0))
		flags.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	house, err := loadModule(ctx, *dir)
	if err == nil && *webhook != "" {
		house.covered, err = readProfile(*webhook, house.module)
	}
	if err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 2
	}
	table := measureHouse(house, limits)
	printTable(stdout, table)
	if *verbose {
		printPlaces(stdout, table)
	}
	return printRemedies(stderr, table)
}

// printTable writes one line a figure.
func printTable(w io.Writer, table []*measurement) {
	wide := 0
	for _, m := range table {
		wide = max(wide, len(m.title()))
	}
	fmt.Fprintf(w, "%-*s  %7s  %7s\n", wide, "figure", "now", "limit")
	for _, m := range table {
		limit, state := "-", ""
		if m.limit != nil {
			limit, state = m.inUnits(m.limit.most), "  ok"
		}
		if m.fallsBehind() {
			state = "  FALLS BEHIND"
		}
		fmt.Fprintf(w, "%-*s  %7s  %7s%s\n", wide, m.title(), m.inUnits(m.figure()), limit, state)
	}
}

// printPlaces writes what was counted.
func printPlaces(w io.Writer, table []*measurement) {
	for _, m := range table {
		if len(m.places) > 0 {
			fmt.Fprintf(w, "\n%s: %s\n  %s\n", m.title(), m.inUnits(m.figure()), strings.Join(m.places, "\n  "))
		}
	}
}

// printRemedies says of each figure that falls behind why it has a limit and what to do, and returns the exit code.
func printRemedies(w io.Writer, table []*measurement) (code int) {
	for _, m := range table {
		if m.fallsBehind() {
			code = 1
			fmt.Fprintf(w, "house: %s: %s is more than %s: %s; %s\n",
				m.title(), m.inUnits(m.figure()), m.inUnits(m.limit.most), m.limit.why, m.kind.remedy)
		}
	}
	if code != 0 {
		fmt.Fprintln(w, "house: -v names what was counted; the limits stand in scripts/house/limits.go")
	}
	return code
}

// title is the measurement's name in the table.
func (m *measurement) title() string { return strings.TrimSuffix(m.kind.name+": "+m.of, ": ") }

// inUnits formats a value as the measurement counts: a share with one decimal.
func (m *measurement) inUnits(value float64) string {
	switch {
	case m.kind == usesOfPhrase:
		return fmt.Sprintf("%.1f", value)
	case m.among > 0:
		return fmt.Sprintf("%.1f %%", value)
	}
	return fmt.Sprintf("%.0f", value)
}
