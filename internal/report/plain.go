package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Plain shows d as text for a terminal or a log, as of now: its title, a row for each reviewer, when it can next
// change, and what a person can do. No control character of a stranger's reaches the terminal, and no command the
// runner.
func Plain(p quorum.Policy, d quorum.Decision, now time.Time) string {
	var b strings.Builder
	b.WriteString(renderTitle(p, d, maxTitle) + "\n")
	if len(d.Ballots) > 0 {
		b.WriteString("\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "REVIEWER\tVOTE\tATTEMPT\tSINCE\tWHY")
		for _, x := range d.Ballots {
			attempt, since := "-", "-"
			if x.Attempt > 0 {
				attempt = fmt.Sprint(x.Attempt)
			}
			if at := ballotSince(x); !at.IsZero() {
				since = formatTime(at, d.Start)
			}
			fmt.Fprintf(
				w,
				"%s\t%s\t%s\t%s\t%s\n",
				terminalName(x),
				x.Vote,
				attempt,
				since,
				explainBallot(x, func(s string) string { return plainLine(s, 160) }),
			)
		}
		w.Flush() // a strings.Builder takes everything
	}
	switch {
	case d.Verdict == quorum.Ended:
	case d.Wake.IsZero():
		b.WriteString("\nOnly a change on GitHub can change this.\n")
	case d.Wake.After(now):
		fmt.Fprintf(&b, "\nNext look by the clock: %s (in %s).\n", formatTime(d.Wake, d.Start), d.Wake.Sub(now).Round(time.Second))
	default:
		fmt.Fprintf(&b, "\nNext look by the clock: now (%s).\n", formatTime(d.Wake, d.Start))
	}
	told := map[string]bool{"": true}
	tell := func(prefix, advice string) {
		if !told[advice] {
			told[advice] = true
			fmt.Fprintf(&b, "%s%s\n", prefix, advice)
		}
	}
	if d.Verdict != quorum.Ended {
		tell("hint: ", Advice(d.Reason))
		for _, x := range d.Ballots {
			if mayNeedPerson(x) {
				tell("hint: "+plainLine(x.Reviewer, 60)+": ", Advice(x.Reason))
			}
		}
	}
	return b.String()
}

func terminalName(b quorum.Ballot) string {
	n := plainLine(b.Reviewer, 60)
	switch {
	case b.Shadow:
		return n + " (shadow: would not count)"
	case b.Retired:
		return n + " (retired)"
	case b.Required:
		return n + " (required)"
	}
	return n
}

// A Warning is what an operator should see in a log when it happens: a reviewer that is run again, or given up.
type Warning struct {
	Reviewer string
	Kind     string // words that its Text holds as long as it is the same warning
	Text     string // one line, safe in a log
}

// Warnings are the warnings that a decision calls for. They stay as long as it says so: who logs them tells new ones
// apart.
func Warnings(d quorum.Decision) (all []Warning) {
	for _, b := range d.Ballots {
		kind := ""
		switch {
		case b.Vote == quorum.Pending && b.Retrying && !b.Planned:
			kind = "retrying once"
		case isSkipped(b):
			kind = "manual review recommended"
		}
		if kind != "" && b.Voter() {
			why := explainBallot(b, func(s string) string { return plainLine(s, 160) })
			all = append(all, Warning{Reviewer: b.Reviewer, Kind: kind, Text: plainLine(b.Reviewer, 60) + ": " + why})
		}
	}
	return all
}
