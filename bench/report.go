package main

// The figures of a measurement, as a table for people and as JSON for tools.

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// A report holds what a command measured.
type report struct {
	What       string   `json:"what"`
	Machine    machine  `json:"machine"`
	GitHub     string   `json:"github_takes"`
	Figures    []figure `json:"figures"`
	Notes      []string `json:"notes,omitempty"`
	Violations []string `json:"violations,omitempty"` // what must never happen
}

// A figure is one number, with its target if it has one.
type figure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	Target string  `json:"target,omitempty"`
	Missed bool    `json:"missed,omitempty"`
}

func (r *report) addFigure(name string, value float64, unit string) {
	r.Figures = append(r.Figures, figure{Name: name, Value: value, Unit: unit})
}

// addAtMost adds a figure that must not be larger than a target.
func (r *report) addAtMost(name string, value float64, unit string, target float64) {
	r.Figures = append(r.Figures, figure{Name: name, Value: value, Unit: unit, Target: "≤ " + formatNumber(target), Missed: value > target})
}

// addAtLeast adds a figure that must not be smaller than a target.
func (r *report) addAtLeast(name string, value float64, unit string, target float64) {
	r.Figures = append(r.Figures, figure{Name: name, Value: value, Unit: unit, Target: "≥ " + formatNumber(target), Missed: value < target})
}

func (r *report) addNote(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *report) addViolation(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

func (r *report) missedTarget() bool {
	return slices.ContainsFunc(r.Figures, func(f figure) bool { return f.Missed })
}

func (r *report) printTo(w io.Writer, asJSON bool) {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		_ = e.Encode(r) // a closed pipe: there is no reader to report it to
		return
	}
	if r.Machine.CPU == "" { // it is a computation, the same on any
		fmt.Fprintf(w, "%s\n\n", r.What)
		r.printFigures(w)
		return
	}
	fmt.Fprintf(
		w,
		"%s   %s; GitHub takes %s a request\nmachine: %s rounds/s\n\n",
		r.What,
		r.Machine,
		r.GitHub,
		formatNumber(r.Machine.Rounds),
	)
	r.printFigures(w)
}

func (r *report) printFigures(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Figures {
		verdict := ""
		switch {
		case f.Missed:
			verdict = "missed"
		case f.Target != "":
			verdict = "ok"
		}
		fmt.Fprintf(t, "%s\t%s %s\t%s\t%s\n", f.Name, formatNumber(f.Value), f.Unit, f.Target, verdict)
	}
	_ = t.Flush()
	for _, n := range r.Notes {
		fmt.Fprintf(w, "\n%s\n", n)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(w, "\nMUST NOT HAPPEN: %s\n", v)
	}
}

// formatNumber formats a number with as many digits as mean something.
func formatNumber(v float64) string {
	switch {
	case v == float64(int64(v)), v >= 1000, v <= -1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}

// durations are the times that something took.
type durations []time.Duration

// quantileMillis returns a quantile in milliseconds; 0.5 is the median.
func (t durations) quantileMillis(q float64) float64 {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return toMillis(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)])
}

func toMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
