package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Plain shows d as text for a terminal or a log, as of now: its title, a row for each reviewer, when it can next change,
// and what a person can do. No control character of a stranger's reaches the terminal, and no command the runner.
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
		return n + " (shadow)"
	case b.Retired:
		return n + " (retired)"
	case b.Required:
		return n + " (required)"
	}
	return n
}
