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
	t := cmp.Or(sharedTitle(d, room), titleSentence(p, d))
	if p.Mode == quorum.ReportOnly {
		return clipRunes(t, n-len(reportOnlySuffix)) + reportOnlySuffix
	}
	return clipRunes(t, n)
}

func titleSentence(p quorum.Policy, d quorum.Decision) string {
	switch d.Verdict {
	case quorum.Waiting:
		return waitingTitle(p, d)
	case quorum.Passed:
		return passedTitle(p, d)
	case quorum.Blocked:
		return blockedTitle(d)
	case quorum.Unverified:
		return unverifiedTitle(p, d)
	case quorum.Ended:
		return nothingTitle(d)
	default: // unreachable unless a decision was never made; it must not read like a pass
		return "Unverified: nothing was decided"
	}
}

func waitingTitle(p quorum.Policy, d quorum.Decision) string {
	if d.Reason == quorum.ReasonDraft {
		return "Waiting: " + Sentence(d.Reason)
	}
	if layers := layersAwaited(d); layers != "" {
		return passedTitle(p, d) + "; waiting for " + layers
	}
	t := upperFirst(approvalCount(d)) + carriedTitle(d)
	if n := d.Objections + len(opposingPeople(d)); n > 0 {
		t += ", " + countNoun(n, "objection")
	}
	t += seatsTitle(d) + peopleTitle(p, d) + endedTitle(d)
	pending := namesWhere(d, isAwaited)
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
		return isAwaited(b) && b.Reason != quorum.ReasonApproval
	})
}

// isAwaited reports whether b is waited for: a voter's is, and one that seems to object and would have a vote then.
func isAwaited(b quorum.Ballot) bool {
	return b.Vote == quorum.Pending && (b.Voter() || b.MayVote() && b.Then != nil && b.Then.Vote == quorum.Object)
}

// waitingEnds returns when the waiting ends at the latest, as it stands.
func waitingEnds(d quorum.Decision) (at time.Time) {
	if !d.GraceEnd.IsZero() {
		return d.GraceEnd
	}
	for _, b := range d.Ballots {
		if end := attemptEnds(b); isAwaited(b) && end.After(at) {
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

func passedTitle(p quorum.Policy, d quorum.Decision) string {
	t := approvalCount(d) + carriedTitle(d)
	if d.Need == 0 {
		t = "No review needed" + laneTitle(d)
	}
	t += seatsTitle(d) + standInTitle(d) + peopleTitle(p, d) + endedTitle(d)
	if names := unavailableNames(d); len(d.StandIns) == 0 && d.Need > 0 && len(names) > 0 {
		t += "; " + joinNames(names) + " unavailable"
	}
	isSilent := func(b quorum.Ballot) bool { return b.Voter() && b.Vote == quorum.Pending && !b.IsSpokenFor() }
	if silent := namesWhere(d, isSilent); d.Need > 0 && len(silent) > 0 {
		t += "; " + joinNames(silent) + ": " + Sentence(quorum.ReasonNotReceived)
	}
	return t
}

// laneTitle says why the lane needs no review, as the end of a sentence.
func laneTitle(d quorum.Decision) string {
	switch {
	case d.Lane.Why != "":
		return ": " + plainLine(d.Lane.Why, maxLaneWords)
	case d.Lane.Name != "":
		return ": lane " + plainLine(d.Lane.Name, 60)
	default:
		return ""
	}
}

// maxLaneWords is how much is shown of what a policy says of a lane, in characters.
const maxLaneWords = 100

// carriedTitle says of the approvals that count how many are carried over, as a part of a sentence; "" if none is.
func carriedTitle(d quorum.Decision) string {
	approvals, carried, from := carriedApprovals(d)
	switch {
	case carried == 0:
		return ""
	case len(from) > 2:
		from = append(from[:2:2], "others")
	}
	t := "carried over from " + joinNames(from)
	if carried < approvals {
		return fmt.Sprintf(", %d %s", carried, t)
	}
	return ", " + t
}

// carriedApprovals counts the voters that approve, those of them whose approval is carried over, and says from which
// heads.
func carriedApprovals(d quorum.Decision) (approvals, carried int, from []string) {
	for _, b := range d.Ballots {
		if !b.Voter() || b.Vote != quorum.Approve {
			continue
		}
		approvals++
		if b.Reason != quorum.ReasonCarried {
			continue
		}
		carried++
		if head := plainLine(shortSHA(b.Detail), 7); !slices.Contains(from, head) {
			from = append(from, head)
		}
	}
	return approvals, carried, from
}

// seatsTitle names the reserves that approve for others, as the end of a sentence; "" if none does.
func seatsTitle(d quorum.Decision) string {
	fillsSeat := func(b quorum.Ballot) bool { return b.InsteadOf != "" && b.Excused == "" && b.Vote == quorum.Approve }
	return strings.Join(append([]string{""}, namesWhere(d, fillsSeat)...), "; ")
}

// standInTitle names who stands in for reviewers, as the end of a sentence; "" if nobody does.
func standInTitle(d quorum.Decision) string {
	switch names := joinNames(loginsOf(d.StandIns)); {
	case names == "":
		return ""
	case d.StandIns[0].Vouch: // then it is one
		return "; " + names + " vouches for a change of their own"
	default:
		return "; verified by " + names
	}
}

// peopleTitle names the people whose approvals the policy asks for, as the end of a sentence; "" if there is none.
func peopleTitle(p quorum.Policy, d quorum.Decision) string {
	switch {
	case len(d.People) == 0:
		return ""
	case d.People[0].Vouch: // it stands alone: who else approves may write
		return "; " + joinNames(loginsOf(d.People)) + " vouches for a change of their own " + insteadOf(p.People)
	}
	return "; " + joinNames(loginsOf(d.People)) + pluralWord(len(d.People), " approves", " approve")
}

// endedTitle says which objections people ended, and who did, as the end of a sentence; "" if none did.
func endedTitle(d quorum.Decision) (t string) {
	for _, by := range endedBy(d) {
		names := make([]string, 0, len(by.reviewers))
		for _, name := range by.reviewers {
			names = append(names, plainLine(name, 60))
		}
		what := pluralWord(len(names), "objection", "objections")
		t += "; " + what + " of " + joinNames(names) + by.verb() + " by " + plainLine(by.By, 60)
	}
	return t
}

// An endedObjections is the act of a person that ended objections, and whose.
type endedObjections struct {
	quorum.Ending
	reviewers []string
}

func (e *endedObjections) verb() string {
	if e.How == quorum.ReasonDismissed {
		return " dismissed"
	}
	return " accepted"
}

func endedBy(d quorum.Decision) (all []endedObjections) {
	for _, b := range d.Ballots {
		if !b.MayVote() || !b.IsSpokenFor() {
			continue
		}
		i := slices.IndexFunc(all, func(e endedObjections) bool { return e.Ending == b.Ended })
		if i < 0 {
			i, all = len(all), append(all, endedObjections{Ending: b.Ended})
		}
		all[i].reviewers = append(all[i].reviewers, b.Reviewer)
	}
	return all
}

// unavailableNames names the voters that are lost, but those whose objection a person ended.
func unavailableNames(d quorum.Decision) []string {
	return namesWhere(d, func(b quorum.Ballot) bool { return b.Voter() && b.Vote == quorum.Unavailable && !b.IsSpokenFor() })
}

func loginsOf(people []quorum.StandIn) (logins []string) {
	for _, s := range people {
		login := plainLine(s.Login, 60)
		if s.Carried != "" {
			login += " (carried over from " + plainLine(shortSHA(s.Carried), 7) + ")"
		}
		logins = append(logins, login)
	}
	return logins
}

func blockedTitle(d quorum.Decision) string {
	names := votersWith(d, quorum.Object)
	for _, login := range opposingPeople(d) {
		names = append(names, plainLine(login, 60))
	}
	t := objectionsTitle(d)
	n := 0
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == quorum.Object {
			n += b.CountFindings()
		}
	}
	if n > 0 {
		t += " (" + countNoun(n, "finding") + ")"
	}
	again := namesWhere(d, func(b quorum.Ballot) bool {
		return b.Voter() && b.Vote == quorum.Object && b.Reason == quorum.ReasonLookingAgain
	})
	switch {
	case len(again) > 0 && len(names) == 1:
		t += "; looking again"
	case len(again) > 0:
		t += "; " + joinNames(again) + " looking again"
	}
	t += endedTitle(d) + loopTitle(d)
	if names := votersWith(d, quorum.Pending); len(names) > 0 {
		t += "; not waiting for " + joinNames(names)
	}
	return t
}

// objectionsTitle says who objects, and on which other pull request that was said.
func objectionsTitle(d quorum.Decision) string {
	var here, parts []string
	for _, b := range d.Ballots {
		switch name := plainLine(b.Reviewer, 60); {
		case !b.Voter() || b.Vote != quorum.Object:
		case b.Pull != 0:
			parts = append(parts, fmt.Sprintf("%s objected on #%d", name, b.Pull))
		default:
			here = append(here, name)
		}
	}
	for _, login := range opposingPeople(d) {
		here = append(here, plainLine(login, 60))
	}
	if len(here) > 0 || len(parts) == 0 {
		parts = slices.Insert(parts, 0, "Changes requested by "+joinNames(here))
	}
	return strings.Join(parts, "; ")
}

// opposingPeople are the people whose request for changes objects: where the policy asks people.
func opposingPeople(d quorum.Decision) []string {
	if !d.AgainstVote {
		return nil
	}
	return d.Against
}

func unverifiedTitle(p quorum.Policy, d quorum.Decision) string {
	switch d.Reason {
	case quorum.ReasonBroken:
		return "Unverified: " + Sentence(d.Reason)
	case quorum.ReasonSiblings:
		return "Unverified: pull requests " + joinNames(siblingNumbers(d)) + " have the same head commit"
	case quorum.ReasonRequired:
		t := "Unverified: required " + joinNames(missingRequired(d)) + "; " + approvalCount(d)
		return t + carriedTitle(d) + endedTitle(d) + guardedTitle(d)
	case quorum.ReasonPeople:
		t := "Unverified: " + approvalCount(d) + carriedTitle(d)
		return t + standInTitle(d) + peopleTitle(p, d) + endedTitle(d) + "; needs " + missingPeople(d)
	case quorum.ReasonTooFew:
		return "Unverified: " + tooFewSaid(p, d) + endedTitle(d)
	}
	t := "Unverified: " + approvalCount(d) + carriedTitle(d) + endedTitle(d)
	if names := unavailableNames(d); len(names) > 0 {
		t += "; " + joinNames(names) + " unavailable"
	}
	if names := votersWith(d, quorum.Pending); len(names) > 0 {
		t += "; " + joinNames(names) + " pending"
	}
	return t + guardedTitle(d)
}

// missingPeople says which approvals by people are missing: "an approval by a person".
func missingPeople(d quorum.Decision) string {
	missing := make([]string, len(d.MissingPeople))
	for i, r := range d.MissingPeople {
		by, more := alternatives(r.Of), ""
		switch {
		case len(r.Of) > 0:
		case r.Count == 1:
			by = "a person"
		default:
			by = "people"
		}
		if len(r.Of) == 0 && len(d.People) > 0 {
			more = "more "
		}
		switch {
		case r.Count == 1 && more != "":
			missing[i] = "one more approval by a person"
		case r.Count == 1:
			missing[i] = "an approval by " + by
		default:
			missing[i] = fmt.Sprintf("%d %sapprovals by %s", r.Count, more, by)
		}
	}
	return joinNames(missing)
}

// alternatives is a list of names of which one or several are meant.
func alternatives(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// tooFewSaid says that fewer vote than must approve: "1 reviewer votes here, 2 must approve".
func tooFewSaid(p quorum.Policy, d quorum.Decision) string {
	n, ones, many := voterCount(p, d)
	if n == 0 {
		return fmt.Sprintf("no %s votes here, %d must approve", ones, d.Need)
	}
	return fmt.Sprintf("%d %s %s here, %d must approve", n, pluralWord(n, ones, many), pluralWord(n, "votes", "vote"), d.Need)
}

// voterCount says how many vote on the pull request, and what is counted: reviewers, or families of them.
func voterCount(p quorum.Policy, d quorum.Decision) (n int, ones, many string) {
	var families []string
	for _, r := range p.Reviewers {
		votes := r.Voter()
		if i := slices.IndexFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Reviewer == r.Name }); i >= 0 {
			votes = d.Ballots[i].Voter() // who has objected votes all the same
		}
		isCounted := p.Families == quorum.DistinctFamily && r.Family != "" && slices.Contains(families, r.Family)
		if votes && !isCounted {
			families = append(families, r.Family)
			n++
		}
	}
	if p.Families == quorum.DistinctFamily {
		return n, "family of reviewers", "families of reviewers"
	}
	return n, "reviewer", "reviewers"
}

// guardedTitle says of a pull request that it changes what instructs reviewers: then none of their answers can count,
// and a person must look.
func guardedTitle(d quorum.Decision) string {
	guarded := namesWhere(d, func(b quorum.Ballot) bool {
		return b.Voter() && b.Vote == quorum.Unavailable && b.Reason == quorum.ReasonGuarded
	})
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
		if !b.Voter() || !b.Required || b.Vote == quorum.Approve {
			continue
		}
		name := voterName(b)
		if b.Again {
			name += " (objected before)"
		}
		names = append(names, name+" "+b.Vote.String())
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

func nothingTitle(d quorum.Decision) string {
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
	case d.Need == 0:
		return "no reviewer has to approve"
	case d.Approvals > d.Need:
		return fmt.Sprintf("%s, %d needed", countNoun(d.Approvals, "approval"), d.Need)
	case d.Need == 1:
		return fmt.Sprintf("%d of 1 approval", d.Approvals)
	default:
		return fmt.Sprintf("%d of %d approvals", d.Approvals, d.Need)
	}
}
