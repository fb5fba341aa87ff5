package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The summary answers, in this order: what is wrong with the policy, who voted what, what happens next and when, what a
// person can do, and what happened so far. It is written in pieces that are whole Markdown each, so that where there is
// no room for one, nothing is left open.

const noRoomNote = "\n\n_More does not fit here; the whole decision stands in the details._"

// summaryBuilder collects pieces of the summary up to GitHub's limit.
type summaryBuilder struct {
	b    strings.Builder
	full bool
}

func (p *summaryBuilder) addPiece(piece string) {
	switch {
	case p.full:
	case p.b.Len()+len(piece) > maxText-len(noRoomNote):
		p.full = true
		p.b.WriteString(noRoomNote)
	default:
		p.b.WriteString(piece)
	}
}

func (p *summaryBuilder) addFormat(format string, a ...any) { p.addPiece(fmt.Sprintf(format, a...)) }

// addSection adds a heading and a list, or nothing.
func (p *summaryBuilder) addSection(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	p.addFormat("\n\n### %s\n", heading)
	for _, item := range items {
		p.addPiece("\n- " + item)
	}
}

func renderSummary(p quorum.Policy, s quorum.Snapshot, d quorum.Decision, rec quorum.Record) string {
	var pg summaryBuilder
	pg.addPiece(leadParagraph(d))
	if p.Mode == quorum.ReportOnly {
		pg.addPiece("\n\nThe policy says `mode: report`: this check only reports and holds back nothing.")
	}
	addPolicyFile(&pg, s)
	addForeignChecks(&pg, s, d)
	if s.Ours.Login == quorum.ActionsBot {
		pg.addPiece(
			"\n\nWritten with a job's GITHUB_TOKEN: whoever may push a workflow to this repository could write a check of this name. Only a GitHub App of its own closes that.",
		)
	}
	if s.PassedOverFor != "" && p.Mode != quorum.ReportOnly {
		pg.addFormat(
			"\n\nGitHub has filed this check with the jobs of %s and counts it no more: that workflow ran again, or was started by hand. The commit status of the same name says the same and counts.",
			Quote(clipRunes(s.PassedOverFor, 200)),
		)
	}
	addBallotTable(&pg, p, d)
	pg.addSection("What happens next", nextSteps(p, d))
	pg.addSection("What a person can do", adviceItems(p, s, d))
	pg.addSection("What happened so far", timelineItems(d, rec))
	return pg.b.String()
}

// leadParagraph says what was decided, and about which commit.
func leadParagraph(d quorum.Decision) string {
	var t string
	switch d.Verdict {
	case quorum.Waiting:
		t = "**Waiting.** Nothing is decided yet"
	case quorum.Passed:
		t = "**Passed.** This commit was reviewed"
	case quorum.Blocked:
		t = "**Blocked.** A reviewer requests changes"
	case quorum.Unverified:
		t = "**Unverified.** Too few reviews of this commit can be relied on"
		if len(d.Ballots) == 0 {
			t = "**Unverified.** Nothing can be decided"
		}
	case quorum.Ended:
		t = "**Ended.** Nothing is decided here"
	default: // unreachable unless a decision was never made
		t = "**Unverified.** Nothing was decided"
	}
	if d.Reason != quorum.ReasonTally && d.Reason != "" {
		t += ": " + Sentence(d.Reason)
	}
	t += "."
	if d.Head != "" {
		t += fmt.Sprintf(" It is about commit %s", Quote(shortSHA(d.Head)))
		if d.Base != "" {
			t += " against " + quoteName(d.Base)
		}
		t += "."
	}
	if d.Reason == quorum.ReasonSiblings {
		t += fmt.Sprintf(
			" A check belongs to a commit, so one check would speak for the pull requests %s at once.",
			joinNames(siblingNumbers(d)),
		)
	}
	for _, x := range d.StandIns {
		t += fmt.Sprintf(" %s approved this commit and stands in for what is missing", quoteName(x.Login))
		if l := repositoryLink(d.PR, "review", x.URL); l != "" {
			t += " (" + l + ")"
		}
		t += "."
	}
	return t
}

// addPolicyFile adds what is wrong with the policy, and that a pull request which changes it does not decide by it.
func addPolicyFile(pg *summaryBuilder, s quorum.Snapshot) {
	const most = 8000
	f := s.File
	if f.State == quorum.FileBroken {
		pg.addFormat(
			"\n\nThe policy file %s on the default branch cannot be used:\n\n%s",
			Quote(f.Path),
			Fence(cutBytes(makeVisible(f.Problem), most)),
		)
	}
	if !f.Changed {
		return
	}
	pg.addFormat("\n\nThis pull request changes the policy file %s. The version on the default branch decides.", Quote(f.Path))
	if f.Proposed != "" {
		pg.addFormat(" The version that is proposed here is broken:\n\n%s", Fence(cutBytes(makeVisible(f.Proposed), most)))
	}
}

// addForeignChecks adds the checks of our name that are not ours: a reader of names alone could take one for the other.
func addForeignChecks(pg *summaryBuilder, s quorum.Snapshot, d quorum.Decision) {
	const most = 10
	for i, c := range s.Foreign {
		if i == most {
			pg.addFormat("\n\nThere are %d more like it.", len(s.Foreign)-most)
			return
		}
		said := c.Conclusion
		if said == "" {
			said = c.Status
		}
		pg.addFormat(
			"\n\n⚠️ A check named %s on this commit was not written by this coordinator, but by %s; it says %s and counts for nothing here.",
			Quote(clipRunes(c.Name, 100)),
			Quote(clipRunes(c.App, 100)),
			Quote(clipRunes(said, 40)),
		)
		if l := repositoryLink(d.PR, "Look at it", c.URL); l != "" {
			pg.addPiece(" " + l + ".")
		}
	}
}

// addBallotTable adds a table with a row for each reviewer.
func addBallotTable(pg *summaryBuilder, p quorum.Policy, d quorum.Decision) {
	if len(d.Ballots) == 0 {
		return
	}
	pg.addPiece("\n\n| Reviewer | Vote | Why | Attempt | Since | Link |\n| --- | --- | --- | --- | --- | --- |")
	for _, b := range d.Ballots {
		who := quoteName(b.Reviewer)
		switch {
		case b.Shadow:
			who += " (shadow: would not count)"
		case b.Retired:
			who += " (retired, not counted)"
		case b.Required:
			who += " (required)"
		}
		attempt, since := "–", "–"
		if b.Attempt > 0 {
			attempt = fmt.Sprint(b.Attempt)
		}
		if at := ballotSince(b); !at.IsZero() {
			since = formatTime(at, d.Start)
		}
		pg.addFormat("\n| %s | %s | %s | %s | %s | %s |", who, voteMark(b), explainBallot(b, Quote), attempt, since, evidenceLink(p, d, b))
	}
}

// ballotSince returns since when a ballot is what it is.
func ballotSince(b quorum.Ballot) time.Time {
	if !b.Since.IsZero() {
		return b.Since
	}
	return b.At
}

func voteMark(b quorum.Ballot) string {
	switch b.Vote {
	case quorum.Pending:
		if b.Reason == quorum.ReasonNotReceived {
			return "➖ none"
		}
		return "⏳ pending"
	case quorum.Approve:
		return "✅ approve"
	case quorum.Object:
		return "❌ object"
	case quorum.Unavailable:
		return "⚠️ unavailable"
	default: // unreachable unless a ballot was never cast
		return "⚠️ none"
	}
}

// evidenceLink links to the evidence of a vote. The address of a commit status is chosen by its creator, so it is shown
// and not linked.
func evidenceLink(p quorum.Policy, d quorum.Decision, b quorum.Ballot) string {
	label := "run"
	switch b.Evidence.Kind {
	case quorum.TextStatus:
		label = ""
	case quorum.TextComment, quorum.TextReview, quorum.TextThread, quorum.TextCheck, quorum.TextArtifact:
		label = b.Evidence.Kind.String()
	case quorum.TextRun:
	}
	if i := slices.IndexFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Name == b.Reviewer }); i >= 0 &&
		p.Reviewers[i].Status != "" {
		label = ""
	}
	switch {
	case b.URL == "":
		return "–"
	case label == "":
		return Quote(clipRunes(b.URL, 200))
	}
	if l := repositoryLink(d.PR, label, b.URL); l != "" {
		return l
	}
	return Quote(clipRunes(b.URL, 200))
}

// repositoryLink returns a Markdown link to a page of pr's repository, or "" if url is not one: only those are GitHub's
// own words.
func repositoryLink(pr quorum.PR, label, url string) string {
	rest, found := strings.CutPrefix(url, "https://")
	if !found {
		rest, found = strings.CutPrefix(url, "http://") // a server of one's own, a sandbox
	}
	host, path, slash := strings.Cut(rest, "/")
	prefix := pr.Owner + "/" + pr.Repo + "/"
	switch {
	case !found || !slash || host == "" || pr.Owner == "" || len(url) > 500:
		return ""
	case len(path) < len(prefix) || !strings.EqualFold(path[:len(prefix)], prefix) || strings.Contains(path, ".."):
		return ""
	case strings.IndexFunc(host, func(r rune) bool { return !isPlainRune(r, ".-:") }) >= 0:
		return ""
	case strings.IndexFunc(path, func(r rune) bool { return !isPlainRune(r, "._-/?#=&%+") }) >= 0:
		return ""
	}
	return "[" + label + "](" + url + ")"
}

func isPlainRune(r rune, more string) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(more, r)
}

// nextSteps says what happens by itself, and when, and what else would change the decision.
func nextSteps(p quorum.Policy, d quorum.Decision) (items []string) {
	switch {
	case d.Reason == quorum.ReasonDraft:
		return []string{"Nothing is decided while the pull request is a draft; every clock starts when it is ready for review."}
	case d.Reason == quorum.ReasonBroken:
		return []string{"Nothing is decided until the policy file on the default branch is mended."}
	case d.Reason == quorum.ReasonSiblings:
		return []string{"Nothing is decided until only one open pull request has this head commit."}
	}
	if !d.GraceEnd.IsZero() {
		items = append(
			items,
			fmt.Sprintf(
				"The quorum is reached. The check passes at %s, or earlier if everybody has answered, unless somebody objects.",
				formatTime(d.GraceEnd, d.Start),
			),
		)
	}
	for _, b := range d.Ballots {
		if b.Vote == quorum.Pending {
			items = append(items, pendingStep(d, b))
		}
	}
	for _, b := range d.Ballots {
		if b.Vote == quorum.Unavailable && b.Open {
			items = append(items, quoteName(b.Reviewer)+": an answer may still come, and would count.")
		}
	}
	switch d.Verdict {
	case quorum.Ended:
	case quorum.Waiting:
		if !d.Wake.IsZero() {
			items = append(
				items,
				fmt.Sprintf(
					"The next look by the clock is at %s; whatever happens on GitHub before is seen when it happens.",
					formatTime(d.Wake, d.Start),
				),
			)
		}
	case quorum.Passed:
		items = append(
			items,
			"Nothing is waited for. An objection that comes later, a withdrawn approval, a new commit or a new base opens it again.",
		)
	case quorum.Blocked:
		items = append(items, "A new commit starts a new cycle.")
		if slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Threads && b.Vote == quorum.Object }) {
			items = append(
				items,
				"An objection by comments on the diff ends when all of its threads are resolved"+resolversNote(p)+".",
			)
		}
	case quorum.Unverified:
		items = append(items, "An approval that comes later turns it green, an objection red.")
		if p.StandIn != 0 && d.Objections == 0 {
			items = append(
				items,
				fmt.Sprintf(
					"A person with %s permission who has no part in the change can approve this commit in place of what is missing%s.",
					permissionWord(p.StandIn),
					onceSettledNote(d),
				),
			)
		}
	}
	return items
}

func onceSettledNote(d quorum.Decision) string {
	if d.Pending > 0 {
		return "; it counts once nobody is pending"
	}
	return ""
}

func resolversNote(p quorum.Policy) string {
	if p.Threads == quorum.ByAnyone {
		return " (by any person)"
	}
	return " (by a person who had no hand in the change)"
}

func permissionWord(p quorum.Permission) string {
	switch p {
	case quorum.Write:
		return "write"
	case quorum.Maintain:
		return "maintain"
	case quorum.Admin:
		return "admin"
	default:
		return "no"
	}
}

// pendingStep says how long a pending reviewer has, and what happens in the meantime.
func pendingStep(d quorum.Decision, b quorum.Ballot) string {
	t := quoteName(b.Reviewer) + ": " + explainBallot(b, Quote)
	if b.Reason == quorum.ReasonNotReceived {
		return t + "."
	}
	for _, a := range b.Next {
		switch a.Kind {
		case quorum.Rerun:
			t += "; it is run again"
		case quorum.Cancel:
			t += "; if it has not ended, its run is cancelled and run again"
		case quorum.Ask:
			t += "; it is asked for a review"
		default: // unreachable unless a kind is new
			continue
		}
		if !a.Due.IsZero() {
			t += " at " + formatTime(a.Due, d.Start)
		}
	}
	switch {
	case b.Deadline.IsZero():
	case len(b.Next) > 0:
		t += "; whatever happens, its time ends at " + formatTime(b.Deadline, d.Start)
	default:
		t += "; its time ends at " + formatTime(b.Deadline, d.Start)
	}
	return t + "."
}

// adviceItems returns one sentence for each distinct reason that needs a person.
func adviceItems(p quorum.Policy, s quorum.Snapshot, d quorum.Decision) (items []string) {
	if d.Verdict == quorum.Ended {
		return nil
	}
	if a := Advice(d.Reason); a != "" {
		items = append(items, a)
	}
	var order []string
	whom := map[string][]string{}
	for _, b := range d.Ballots {
		a := Advice(b.Reason)
		if a != "" && answeredWithoutVerdict(b) {
			a += " Its answers are shown in the details."
		}
		if a == "" || !mayNeedPerson(b) {
			continue
		}
		if whom[a] == nil {
			order = append(order, a)
		}
		whom[a] = append(whom[a], quoteName(b.Reviewer))
	}
	for _, a := range order {
		items = append(items, joinQuotedNames(whom[a])+": "+a)
	}
	if to, changed := newBaseCycle(s); changed {
		var idle []string
		for _, b := range d.Ballots {
			runs := slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Name == b.Reviewer && r.Workflow != "" })
			if runs && (b.Reason == quorum.ReasonSilent || b.Reason == quorum.ReasonNoAnswer) {
				idle = append(idle, quoteName(b.Reviewer))
			}
		}
		if len(idle) > 0 {
			items = append(
				items,
				fmt.Sprintf(
					"%s: the base is %s now, which voids earlier reviews and starts no workflow. Close and reopen the pull request to start them.",
					joinQuotedNames(idle),
					quoteName(to),
				),
			)
		}
	}
	return items
}

// mayNeedPerson reports whether a person may be needed for b.
func mayNeedPerson(b quorum.Ballot) bool {
	switch b.Vote {
	case quorum.Unavailable:
		return true
	case quorum.Object:
		return b.Voter()
	case quorum.Pending:
		switch b.Reason {
		case quorum.ReasonApproval, quorum.ReasonUnnamed, quorum.ReasonMoved:
			return true
		}
		return false
	default:
		return false
	}
}

// newBaseCycle reports whether the newest cycle began with a change of the base.
func newBaseCycle(s quorum.Snapshot) (to string, changed bool) {
	for _, e := range s.Timeline {
		switch e.Kind {
		case quorum.BaseChanged:
			to, changed = s.PR.BaseRef, true
		case quorum.Reopened, quorum.ForcePushed:
			changed = false
		}
	}
	return to, changed
}

// timelineItems returns the cycle's timeline, oldest first.
func timelineItems(d quorum.Decision, rec quorum.Record) (items []string) {
	const most = 60
	type moment struct {
		at   time.Time
		what string
	}
	var all []moment
	tell := func(at time.Time, format string, a ...any) {
		if !at.IsZero() {
			all = append(
				all,
				moment{at.Truncate(time.Second), fmt.Sprintf(format, a...)},
			) // to the second, as GitHub's stamps: a rerun of ours comes before the attempt that it began
		}
	}
	tell(d.Start, "the cycle starts")
	of := map[int64]string{}
	for _, b := range d.Ballots {
		of[b.Run] = quoteName(b.Reviewer)
	}
	for _, in := range rec.Intents {
		of[in.Run] = quoteName(in.Reviewer)
	}
	for _, in := range rec.Intents {
		if in.Base != d.Base {
			continue
		}
		switch who := quoteName(in.Reviewer); in.Kind {
		case quorum.Rerun:
			tell(in.At, "%s: is run again after attempt %d", who, in.Attempt)
		case quorum.Cancel:
			tell(in.At, "%s: attempt %d is cancelled, because it hangs", who, in.Attempt)
		case quorum.Ask:
			tell(in.At, "%s: is asked for a review", who)
		}
	}
	for _, r := range rec.Runs {
		who := of[r.ID]
		if who == "" {
			who = fmt.Sprintf("run %d", r.ID)
		}
		tell(r.Started, "%s: attempt %d begins", who, r.Attempt)
		tell(r.Ended, "%s: attempt %d has ended", who, r.Attempt)
	}
	for _, b := range d.Ballots {
		switch b.Vote {
		case quorum.Approve, quorum.Object:
			at := b.At
			if at.IsZero() {
				at = b.Since
			}
			tell(at, "%s: %s", quoteName(b.Reviewer), b.Vote)
		case quorum.Unavailable:
			tell(b.Since, "%s: unavailable, %s", quoteName(b.Reviewer), Sentence(b.Reason))
		case quorum.Pending:
		}
	}
	for _, x := range d.StandIns {
		tell(x.At, "%s: approves in person", quoteName(x.Login))
	}
	if d.Pass != nil {
		tell(d.Pass.At, "the check passes")
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	if n := len(all) - most; n > 0 {
		items = append(items, fmt.Sprintf("%s not shown", countNoun(n, "earlier moment")))
		all = all[n:]
	}
	for _, m := range all {
		items = append(items, formatTime(m.at, d.Start)+" "+m.what)
	}
	return items
}
