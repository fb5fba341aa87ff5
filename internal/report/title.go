package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The title is what most people ever read of a decision: one sentence, plain text, the same words in the check, in a
// commit status and in the terminal.

const (
	maxTitle     = 255
	maxDescribed = 140 // GitHub's limit for the description of a commit status
	reportOnly   = " (report only)"
)

// title says d in one sentence of at most n characters.
func title(p quorum.Policy, d quorum.Decision, n int) string {
	t := sentence(d)
	if p.Mode == quorum.ReportOnly {
		return clip(t, n-len(reportOnly)) + reportOnly
	}
	return clip(t, n)
}

func sentence(d quorum.Decision) string {
	switch d.Verdict {
	case quorum.Waiting:
		return waiting(d)
	case quorum.Passed:
		return passed(d)
	case quorum.Blocked:
		return blocked(d)
	case quorum.Unverified:
		return unverified(d)
	case quorum.Ended:
		return ended(d)
	default: // unreachable unless a decision was never made; it must not read like a pass
		return "Unverified: nothing was decided"
	}
}

func waiting(d quorum.Decision) string {
	if d.Reason == quorum.ReasonDraft {
		return "Waiting: " + Sentence(d.Reason)
	}
	t := approvals(d)
	if d.Objections > 0 {
		t += ", " + counted(d.Objections, "objection")
	}
	pending := who(d, quorum.Pending)
	if len(pending) == 0 { // unreachable unless Decide waits for nobody
		return t + "; waiting"
	}
	t += "; waiting for " + list(pending)
	if approvable(d) {
		t += ", whose run a maintainer must approve,"
	}
	if until := until(d); !until.IsZero() {
		t += " until " + clock(until, d.Start)
	}
	return strings.TrimSuffix(t, ",")
}

// approvable reports whether all that is waited for is a maintainer's approval.
func approvable(d quorum.Decision) bool {
	return !slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool {
		return voter(b) && b.Vote == quorum.Pending && b.Reason != quorum.ReasonApproval
	})
}

// until is the moment at which the waiting ends as it stands.
func until(d quorum.Decision) (at time.Time) {
	if !d.GraceEnd.IsZero() {
		return d.GraceEnd
	}
	for _, b := range d.Ballots {
		if end := attemptEnds(b); voter(b) && b.Vote == quorum.Pending && end.After(at) {
			at = end
		}
	}
	return at
}

// attemptEnds is when the attempt that is waited for ends at the latest: it answers by then, or is cancelled and run
// again, which is said when it happens. The ballot's own deadline leaves room for that.
func attemptEnds(b quorum.Ballot) time.Time {
	end := b.Deadline
	for _, a := range b.Next {
		due := a.Due
		if a.Kind != quorum.Cancel {
			due = due.Add(a.Timeout)
		}
		if due.Before(end) {
			end = due
		}
	}
	return end
}

func passed(d quorum.Decision) string {
	t := []string{approvals(d)}
	if len(d.StandIns) > 0 {
		t = append(t, "verified by "+list(people(d)))
	} else if names := who(d, quorum.Unavailable); len(names) > 0 {
		t = append(t, list(names)+" unavailable")
	}
	if names := who(d, quorum.Pending); len(names) > 0 {
		t = append(t, list(names)+": "+Sentence(quorum.ReasonNotReceived))
	}
	return strings.Join(t, "; ")
}

func people(d quorum.Decision) (logins []string) {
	for _, s := range d.StandIns {
		logins = append(logins, plain(s.Login, 60))
	}
	return logins
}

func blocked(d quorum.Decision) string {
	t := "Changes requested by " + list(who(d, quorum.Object))
	n := 0
	for _, b := range d.Ballots {
		if !voter(b) || b.Vote != quorum.Object {
			continue
		}
		for _, f := range b.Findings {
			if !f.Below {
				n++
			}
		}
	}
	if n > 0 {
		t += " (" + counted(n, "finding") + ")"
	}
	if names := who(d, quorum.Pending); len(names) > 0 {
		t += "; not waiting for " + list(names)
	}
	return t
}

func unverified(d quorum.Decision) string {
	switch d.Reason {
	case quorum.ReasonBroken:
		return "Unverified: " + Sentence(d.Reason)
	case quorum.ReasonSiblings:
		return "Unverified: pull requests " + list(siblings(d)) + " have the same head commit"
	case quorum.ReasonRequired:
		return "Unverified: required " + list(missing(d)) + "; " + approvals(d)
	}
	t := "Unverified: " + approvals(d)
	if names := who(d, quorum.Unavailable); len(names) > 0 {
		t += "; " + list(names) + " unavailable"
	}
	if names := who(d, quorum.Pending); len(names) > 0 {
		t += "; " + list(names) + " pending"
	}
	return t
}

// missing names the required reviewers that do not approve, each with its vote.
func missing(d quorum.Decision) (names []string) {
	for _, b := range d.Ballots {
		if voter(b) && b.Required && b.Vote != quorum.Approve {
			names = append(names, plain(b.Reviewer, 60)+" "+b.Vote.String())
		}
	}
	return names
}

// siblings are the numbers of all pull requests that share the head, this one included.
func siblings(d quorum.Decision) (numbers []string) {
	all := append(slices.Clone(d.Siblings), d.PR.Number)
	slices.Sort(all)
	for _, n := range slices.Compact(all) {
		numbers = append(numbers, fmt.Sprintf("#%d", n))
	}
	return numbers
}

func ended(d quorum.Decision) string {
	switch d.Reason {
	case quorum.ReasonClosed:
		return "Nothing is decided here: closed"
	case quorum.ReasonOff:
		return "Nothing is decided here: mode: off"
	case quorum.ReasonNoPolicy:
		return "Nothing is decided here: no policy"
	default:
		return "Nothing is decided here: " + Sentence(d.Reason)
	}
}

// approvals is "1 of 2 approvals"; more than were needed would read oddly so.
func approvals(d quorum.Decision) string {
	switch {
	case d.Approvals > d.Need:
		return fmt.Sprintf("%s, %d needed", counted(d.Approvals, "approval"), d.Need)
	case d.Need == 1:
		return fmt.Sprintf("%d of 1 approval", d.Approvals)
	default:
		return fmt.Sprintf("%d of %d approvals", d.Approvals, d.Need)
	}
}
