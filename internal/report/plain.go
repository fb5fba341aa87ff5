package report

import (
	"github.com/review-coordinator/coordinator/internal/quorum"
)

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
			why := reasonSaid(b, quorum.PullRequest{PR: d.PR}).Plain() + retrySaid(b)
			if skipped := skippedSaid(b); skipped != "" {
				why += " — " + skipped
			}
			all = append(all, Warning{Reviewer: b.Reviewer, Kind: kind, Text: plainLine(b.Reviewer, 60) + ": " + why})
		}
	}
	return all
}
