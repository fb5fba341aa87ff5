package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The title is what most people ever read of a decision: one sentence, plain text, the same words in the check, in a
// commit status and in the terminal.

const (
	maxTitle         = 255
	maxStatusTitle   = 140 // GitHub's limit for the description of a commit status
	reportOnlySuffix = " (report only)"
)

// renderTitle says d in one sentence of at most n characters.
func renderTitle(p quorum.Policy, d quorum.Decision, n int) string {
	room := n
	if p.Mode == quorum.ReportOnly {
		room -= len(reportOnlySuffix)
	}
	t := cmp.Or(sharedTitle(d, room), titleSentence(d))
	if p.Mode == quorum.ReportOnly {
		return clipRunes(t, n-len(reportOnlySuffix)) + reportOnlySuffix
	}
	return clipRunes(t, n)
}

func titleSentence(d quorum.Decision) string {
	switch d.Verdict {
	case quorum.Waiting:
		return waitingTitle(d)
	case quorum.Passed:
		return passedTitle(d)
	case quorum.Blocked:
		return blockedTitle(d)
	case quorum.Unverified:
		return unverifiedTitle(d)
	case quorum.Ended:
		return endedTitle(d)
	default: // unreachable unless a decision was never made; it must not read like a pass
		return "Unverified: nothing was decided"
	}
}

func waitingTitle(d quorum.Decision) string {
	if d.Reason == quorum.ReasonDraft {
		return "Waiting: " + Sentence(d.Reason)
	}
	t := approvalCount(d)
	if d.Objections > 0 {
		t += ", " + countNoun(d.Objections, "objection")
	}
	pending := votersWith(d, quorum.Pending)
	if len(pending) == 0 { // unreachable unless Decide waits for nobody
		return t + "; waiting"
	}
	t += "; waiting for " + joinNames(pending)
	if awaitsOnlyApproval(d) {
		t += ", whose run a maintainer must approve,"
	}
	if until := waitingEnds(d); !until.IsZero() {
		t += " until " + formatTime(until, d.Start)
	}
	return strings.TrimSuffix(t, ",")
}

// awaitsOnlyApproval reports whether all that is waited for is a maintainer's approval.
func awaitsOnlyApproval(d quorum.Decision) bool {
	return !slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool {
		return b.Voter() && b.Vote == quorum.Pending && b.Reason != quorum.ReasonApproval
	})
}

// waitingEnds returns when the waiting ends at the latest, as it stands.
func waitingEnds(d quorum.Decision) (at time.Time) {
	if !d.GraceEnd.IsZero() {
		return d.GraceEnd
	}
	for _, b := range d.Ballots {
		if end := attemptEnds(b); b.Voter() && b.Vote == quorum.Pending && end.After(at) {
			at = end
		}
	}
	return at
}

// attemptEnds returns when the attempt that is waited for ends at the latest: it answers by then, or is cancelled and
// run again, which is said when it happens. The ballot's own deadline leaves room for that.
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

func passedTitle(d quorum.Decision) string {
	t := []string{approvalCount(d)}
	if len(d.StandIns) > 0 {
		t = append(t, "verified by "+joinNames(standInLogins(d)))
	} else if names := votersWith(d, quorum.Unavailable); len(names) > 0 {
		t = append(t, joinNames(names)+" unavailable")
	}
	if names := votersWith(d, quorum.Pending); len(names) > 0 {
		t = append(t, joinNames(names)+": "+Sentence(quorum.ReasonNotReceived))
	}
	return strings.Join(t, "; ")
}

func standInLogins(d quorum.Decision) (logins []string) {
	for _, s := range d.StandIns {
		logins = append(logins, plainLine(s.Login, 60))
	}
	return logins
}

func blockedTitle(d quorum.Decision) string {
	t := "Changes requested by " + joinNames(votersWith(d, quorum.Object))
	n := 0
	for _, b := range d.Ballots {
		if !b.Voter() || b.Vote != quorum.Object {
			continue
		}
		for _, f := range b.Findings {
			if !f.Below {
				n++
			}
		}
	}
	if n > 0 {
		t += " (" + countNoun(n, "finding") + ")"
	}
	var again []string
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == quorum.Object && b.Reason == quorum.ReasonLookingAgain {
			again = append(again, plainLine(b.Reviewer, 60))
		}
	}
	switch {
	case len(again) > 0 && len(votersWith(d, quorum.Object)) == 1:
		t += "; looking again"
	case len(again) > 0:
		t += "; " + joinNames(again) + " looking again"
	}
	if names := votersWith(d, quorum.Pending); len(names) > 0 {
		t += "; not waiting for " + joinNames(names)
	}
	return t
}

func unverifiedTitle(d quorum.Decision) string {
	switch d.Reason {
	case quorum.ReasonBroken:
		return "Unverified: " + Sentence(d.Reason)
	case quorum.ReasonSiblings:
		return "Unverified: pull requests " + joinNames(siblingNumbers(d)) + " have the same head commit"
	case quorum.ReasonRequired:
		return "Unverified: required " + joinNames(missingRequired(d)) + "; " + approvalCount(d) + guardedTitle(d)
	}
	t := "Unverified: " + approvalCount(d)
	if names := votersWith(d, quorum.Unavailable); len(names) > 0 {
		t += "; " + joinNames(names) + " unavailable"
	}
	if names := votersWith(d, quorum.Pending); len(names) > 0 {
		t += "; " + joinNames(names) + " pending"
	}
	return t + guardedTitle(d)
}

// guardedTitle says of a pull request that it changes what instructs reviewers: then none of their answers can count,
// and a person must look.
func guardedTitle(d quorum.Decision) string {
	var guarded []string
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == quorum.Unavailable && b.Reason == quorum.ReasonGuarded {
			guarded = append(guarded, plainLine(b.Reviewer, 60))
		}
	}
	const says = "; the pull request changes what instructs "
	switch {
	case len(guarded) == 0:
		return ""
	case len(guarded) == 1 || len(guarded) < len(votersWith(d, quorum.Unavailable)):
		return says + joinNames(guarded)
	default:
		return says + "them"
	}
}

// missingRequired names the required reviewers that do not approve, each with its vote.
func missingRequired(d quorum.Decision) (names []string) {
	for _, b := range d.Ballots {
		if b.Voter() && b.Required && b.Vote != quorum.Approve {
			names = append(names, plainLine(b.Reviewer, 60)+" "+b.Vote.String())
		}
	}
	return names
}

// siblingNumbers returns the numbers of all pull requests that share the head, this one included.
func siblingNumbers(d quorum.Decision) (numbers []string) {
	all := append(slices.Clone(d.Siblings), d.PR.Number)
	slices.Sort(all)
	for _, n := range slices.Compact(all) {
		numbers = append(numbers, fmt.Sprintf("#%d", n))
	}
	return numbers
}

func endedTitle(d quorum.Decision) string {
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

// approvalCount returns "1 of 2 approvals", or "3 approvals, 2 needed" where there are more than needed.
func approvalCount(d quorum.Decision) string {
	switch {
	case d.Approvals > d.Need:
		return fmt.Sprintf("%s, %d needed", countNoun(d.Approvals, "approval"), d.Need)
	case d.Need == 1:
		return fmt.Sprintf("%d of 1 approval", d.Approvals)
	default:
		return fmt.Sprintf("%d of %d approvals", d.Approvals, d.Need)
	}
}
