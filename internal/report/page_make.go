package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A decision becomes its page here. What a page says must be true for this very case: nothing is advised that would not
// help, or that those who are told cannot do.

// A pageMaker makes the page of one decision.
type pageMaker struct {
	policy   quorum.Policy
	snapshot quorum.Snapshot
	decision quorum.Decision
	record   quorum.Record
	places   Places
	unlinked map[string]string // addresses that are shown and not linked, by reviewer
	page     Page
}

// PageOf returns the page of d. rec is the record that is written with it. The page is a function of the arguments.
func PageOf(p quorum.Policy, s quorum.Snapshot, d quorum.Decision, rec quorum.Record, x Places) Page {
	m := pageMaker{policy: p, snapshot: s, decision: d, record: rec, places: x}
	m.unlinkStatuses()
	m.page = Page{Title: renderTitle(p, d, maxTitle), Verdict: verdictWord(d.Verdict)}
	m.page.Findings, m.page.Came = mergeFindings(s, x, m.decision.Ballots)
	m.page.Lead = m.lead()
	m.page.Steps = m.steps()
	m.page.Rows = m.rows()
	m.page.Rules = ruleTeller{policy: p, snapshot: s, decision: d, record: rec}.rulesHere()
	m.page.Heard = heardCommands(d, rec)
	m.page.Next = append(m.nextSteps(), peopleSteps(d, rec)...)
	m.page.Notes = append(append(m.notes(), refusedNotes(rec)...), spacingNotes(s)...)
	m.page.Path = pathMoments(s.PR, d, rec)
	m.page.Footer = m.footer()
	return m.page
}

func verdictWord(v quorum.Verdict) string {
	switch v {
	case quorum.Waiting:
		return "Waiting"
	case quorum.Passed:
		return "Passed"
	case quorum.Blocked:
		return "Blocked"
	case quorum.Ended:
		return "Ended"
	default: // one that was never made must not read like a pass
		return "Unverified"
	}
}

// lead says what was decided, and about which commit.
func (m *pageMaker) lead() Phrase {
	d := m.decision
	t := m.leadSentence()
	if last := t[len(t)-1].Text; !strings.HasSuffix(last, ".") && !strings.HasSuffix(last, "!") && !strings.HasSuffix(last, "?") {
		t = append(t, Span{Text: "."})
	}
	t = slices.Concat(t, undoneSaid(d, m.record))
	if d.Head != "" {
		t = append(t, Span{Text: " This is about commit "}, Span{Text: shortSHA(d.Head), From: FromWriting})
		if d.Base != "" {
			t = slices.Concat(t, wordsPhrase(" against "), namePhrase(d.Base))
		}
		if s := m.snapshot.PR.Stack; d.Trunk != "" {
			place := wordsPhrase("%d of %d", s.Position, s.Size)
			t = slices.Concat(t, fillPhrase(", as layer %s of a stack that is judged and merged onto %s", place, namePhrase(d.Trunk)))
		}
		t = append(t, Span{Text: "."})
	}
	t = slices.Concat(t, sharedSaid(d))
	if d.Reason == quorum.ReasonSiblings {
		t = slices.Concat(t, fillPhrase(" A check belongs to a commit, so one check would speak for the pull requests %s at once.", m.siblings()))
	}
	for _, x := range d.StandIns {
		t = slices.Concat(t, fillPhrase(" %s %s and stands in for what is missing.", namePhrase(x.Login), approvalOf(d.PR, x)))
	}
	for _, x := range d.People {
		why := wordsPhrase(", as the policy asks of a person")
		if x.Vouch {
			why = wordsPhrase(" and counts %s", insteadOf(m.policy.People))
		}
		t = slices.Concat(t, fillPhrase(" %s %s%s.", namePhrase(x.Login), approvalOf(d.PR, x), why))
	}
	for _, by := range endedBy(d) {
		did := " accepted the change over"
		if by.How == quorum.ReasonDismissed {
			did = " dismissed"
		}
		t = slices.Concat(t, fillPhrase(" %s"+did+" %s.", namePhrase(by.By), objectionsOf(namesOf(by.reviewers))))
	}
	return t
}

// approvalOf says what a person approved.
func approvalOf(pr quorum.PR, x quorum.StandIn) Phrase {
	what := wordsPhrase("approved this commit")
	switch {
	case x.Vouch:
		what = wordsPhrase("had a hand in this change, vouches for it")
	case x.Carried != "":
		what = fillPhrase("approved the same diff on %s", quotePhrase(shortSHA(oneLine(x.Carried))))
	}
	return linkPhrase(pr, what, x.URL)
}

// undoneSaid says that the check had passed, and what came after that: whoever has seen it green is told; nil where it
// had not.
func undoneSaid(d quorum.Decision, rec quorum.Record) Phrase {
	if len(rec.Undone) == 0 || d.Verdict == quorum.Passed || d.Verdict == quorum.Ended {
		return nil
	}
	was := rec.Undone[len(rec.Undone)-1]
	var later []Phrase
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == quorum.Object && b.At.After(was.Passed) {
			later = append(later, namePhrase(b.Reviewer))
		}
	}
	passed := wordsPhrase("%s", formatTime(was.Passed, d.Start))
	switch len(later) {
	case 0:
		return fillPhrase(" This check had passed at %s; what that rested on has changed since.", passed)
	case 1:
		return fillPhrase(" This check had passed at %s; the objection of %s came after that.", passed, later[0])
	default:
		return fillPhrase(" This check had passed at %s; the objections of %s came after that.", passed, joinPhrases(later))
	}
}

func (m *pageMaker) leadSentence() Phrase {
	d := m.decision
	switch d.Reason {
	case "", quorum.ReasonTally, quorum.ReasonRequired, quorum.ReasonStandIn,
		quorum.ReasonPeople, quorum.ReasonTooFew, quorum.ReasonNoReview: // of the votes
	case quorum.ReasonLayer, quorum.ReasonLayersLost, quorum.ReasonLayersMany:
		return layersSaid(d)
	default:
		if d.Verdict == quorum.Blocked || d.Verdict == quorum.Passed { // unreachable unless Decide has another reason for them
			return wordsPhrase("%s", upperFirst(Sentence(d.Reason)))
		}
		return wordsPhrase("Nothing is decided here: %s", Sentence(d.Reason))
	}
	switch d.Verdict {
	case quorum.Waiting:
		t := wordsPhrase("Nothing is decided yet: %s so far", approvalCount(d))
		if d.Need == 0 && m.decision.Objections == 0 {
			t = wordsPhrase("Nothing is decided yet: %s, but an objection seems to come", approvalCount(d))
		}
		t = slices.Concat(t, carriedSaid(d))
		if d.Objections+len(opposingPeople(d)) > 0 {
			t = slices.Concat(t, fillPhrase(", and %s", m.objectionsSaid()))
		}
		return t
	case quorum.Passed:
		if d.Need == 0 {
			return slices.Concat(noReviewSaid(d.Lane), wordsPhrase(", and nobody objects"))
		}
		return slices.Concat(wordsPhrase("Enough reviewers approved this commit, and nobody objects: %s", approvalCount(d)), carriedSaid(d))
	case quorum.Blocked:
		return m.objectionsSaid()
	case quorum.Unverified:
		return m.missingSaid()
	case quorum.Ended:
		return wordsPhrase("Nothing is decided here")
	default: // unreachable unless a decision was never made
		return wordsPhrase("Nothing was decided")
	}
}

// layersSaid says that nothing but the layers below is waited for.
func layersSaid(d quorum.Decision) Phrase {
	own := wordsPhrase("Enough reviewers approved this commit, and nobody objects: %s", approvalCount(d))
	if d.Need == 0 {
		own = slices.Concat(noReviewSaid(d.Lane), wordsPhrase(", and nobody objects"))
	}
	own = slices.Concat(own, carriedSaid(d))
	if d.Reason == quorum.ReasonLayer {
		return slices.Concat(own, fillPhrase(". But the check of %s, a layer below it in the stack, is not green", numberPhrase(d.Layer)))
	}
	return slices.Concat(own, wordsPhrase(". But %s", Sentence(d.Reason)))
}

// noReviewSaid says that the lane needs no review, and why.
func noReviewSaid(lane quorum.LaneChoice) Phrase {
	switch {
	case lane.Why != "":
		return fillPhrase("No review is needed: %s", namePhrase(lane.Why))
	case lane.Name != "":
		return fillPhrase("No review is needed in the lane %s", namePhrase(lane.Name))
	default:
		return wordsPhrase("No review is needed")
	}
}

// carriedSaid says of the approvals how many are carried over, and from where, as a part of a sentence; nil if none is.
func carriedSaid(d quorum.Decision) Phrase {
	approvals, carried, from := carriedApprovals(d)
	if carried == 0 {
		return nil
	}
	heads := make([]Phrase, 0, len(from))
	for _, head := range from {
		heads = append(heads, quotePhrase(head))
	}
	if carried < approvals {
		return fillPhrase(", %s carried over from %s", wordsPhrase("%d", carried), joinPhrases(heads))
	}
	return fillPhrase(", carried over from %s", joinPhrases(heads))
}

// objectionsSaid says who objects, and to what first.
func (m *pageMaker) objectionsSaid() Phrase {
	var names, parts []Phrase
	for _, b := range m.decision.Ballots {
		switch {
		case !b.Voter() || b.Vote != quorum.Object:
		case b.Pull != 0:
			parts = append(parts, fillPhrase("%s objected on %s", namePhrase(b.Reviewer), wordsPhrase("#%d", b.Pull)))
		default:
			names = append(names, namePhrase(b.Reviewer))
		}
	}
	names = append(names, namesOf(opposingPeople(m.decision))...)
	switch {
	case len(names) == 1:
		parts = slices.Insert(parts, 0, fillPhrase("%s objects", names[0]))
	case len(names) > 1:
		parts = slices.Insert(parts, 0, fillPhrase("%s object", joinPhrases(names)))
	case len(parts) == 0: // unreachable unless Decide blocks without an objection
		return wordsPhrase("A reviewer objects")
	}
	t := joinPhrases(parts)
	if first := m.firstObjecting(); first != nil {
		if say := firstSentence(objectingWords(*first).Body); say != "" {
			t = slices.Concat(t, fillPhrase(": %s", quotePhrase(say)))
		}
	}
	return t
}

// firstObjecting returns the finding that holds the pull request back most; nil if none is known.
func (m *pageMaker) firstObjecting() *PageFinding {
	if len(m.page.Findings) > 0 && m.page.Findings[0].Objects() {
		return &m.page.Findings[0]
	}
	return nil
}

// objectingWords returns the first words of f that hold the pull request back, else its first ones.
func objectingWords(f PageFinding) PageWords {
	if i := slices.IndexFunc(f.Said, func(w PageWords) bool { return w.Objects }); i >= 0 {
		return f.Said[i]
	}
	return f.Said[0]
}

// firstSentence returns the first line of a text in which something is said, not too long.
func firstSentence(text string) string {
	for line := range strings.Lines(cutBytes(text, maxOneLine)) {
		line = strings.TrimSpace(strings.Trim(oneLine(line), "#*_>-= `"))
		if line != "" {
			return clipRunes(line, 160)
		}
	}
	return ""
}

// missingSaid says what is missing for a pass, and why.
func (m *pageMaker) missingSaid() Phrase {
	d := m.decision
	if len(d.Ballots) == 0 {
		return wordsPhrase("Nothing can be decided")
	}
	t := wordsPhrase("Too few reviewers approve this commit, and none objects: %s", approvalCount(d))
	switch {
	case d.Reason == quorum.ReasonPeople && d.Need == 0:
		return slices.Concat(noReviewSaid(d.Lane), wordsPhrase(". What is missing is %s", missingPeople(d)))
	case d.Reason == quorum.ReasonPeople && len(d.StandIns) > 0:
		return wordsPhrase("A person stands in for the approvals of reviewers that are missing, and nobody objects. What is missing is %s", missingPeople(d))
	case d.Reason == quorum.ReasonPeople:
		t = wordsPhrase("Enough reviewers approve this commit, and nobody objects: %s", approvalCount(d))
		return slices.Concat(t, carriedSaid(d), wordsPhrase(". What is missing is %s", missingPeople(d)))
	case d.Reason == quorum.ReasonTooFew:
		t = wordsPhrase("Too few may approve: %s", tooFewSaid(m.policy, d))
	case d.Objections > 0: // unreachable unless Decide has another rule
		t = wordsPhrase("Too few reviewers approve this commit: %s", approvalCount(d))
	case d.Reason == quorum.ReasonRequired:
		t = wordsPhrase("A required reviewer does not approve, and none objects: %s", approvalCount(d))
	}
	t = slices.Concat(t, carriedSaid(d))
	missing := m.missingReasons()
	for i, x := range missing {
		separator := "; "
		if i == 0 {
			separator = ". "
		}
		if i == 3 && len(missing) > 4 {
			return append(t, Span{Text: fmt.Sprintf("; and %d more", len(missing)-i)})
		}
		t = slices.Concat(t, wordsPhrase("%s", separator), fillPhrase("%s: %s", joinPhrases(x.reviewers), x.why))
	}
	return t
}

// A missingReason is why reviewers do not approve.
type missingReason struct {
	reviewers []Phrase
	why       Phrase
}

// missingReasons are the reasons for what is missing, each once.
func (m *pageMaker) missingReasons() (all []missingReason) {
	d := m.decision
	for _, b := range d.Ballots {
		isMissing := (d.Reason != quorum.ReasonRequired || b.Required) && b.Reason != quorum.ReasonOverridden
		if !b.Voter() || !isMissing || b.Vote != quorum.Unavailable && b.Vote != quorum.Pending {
			continue
		}
		why := reasonSaid(b, m.snapshot.PR)
		i := slices.IndexFunc(all, func(x missingReason) bool { return slices.Equal(x.why, why) })
		if i < 0 {
			i, all = len(all), append(all, missingReason{why: why})
		}
		all[i].reviewers = append(all[i].reviewers, namePhrase(b.Reviewer))
	}
	return all
}

func (m *pageMaker) siblings() Phrase {
	return Phrase{{Text: joinNames(siblingNumbers(m.decision)), From: FromWriting}}
}

// rows are the reviewers' votes.
func (m *pageMaker) rows() (rows []PageRow) {
	for _, b := range m.decision.Ballots {
		row := PageRow{Reviewer: namePhrase(b.Reviewer), Why: m.whySaid(b), Attempt: b.Attempt, Since: ballotSince(b)}
		row.Mark, row.Vote = voteMark(b)
		isAfter := func(r quorum.Reviewer) bool { return slices.Contains(r.After, b.Reviewer) }
		switch {
		case b.Shadow && slices.ContainsFunc(m.policy.Reviewers, isAfter):
			row.Note = "a condition, no vote"
		case b.Shadow:
			row.Note = "shadow: would not count"
		case b.Retired:
			row.Note = "retired, not counted"
		case b.InsteadOf != "" && b.Excused == quorum.ReasonReserve && !b.Voter():
			row.Note = "in reserve for " + plainLine(b.InsteadOf, 60)
		case b.Excused == quorum.ReasonReserve && !b.Voter():
			row.Note = "its reserve votes"
		case !b.Voter():
			row.Note = "no vote here"
		case b.InsteadOf != "" && b.Excused == "":
			row.Note = "for " + plainLine(b.InsteadOf, 60)
			if b.Required {
				row.Note = "required, " + row.Note
			}
		case b.Required && b.Again:
			row.Note = "required: it objected before"
		case b.Required:
			row.Note = "required"
		}
		switch address := cmp.Or(b.URL, m.unlinked[b.Reviewer]); {
		case address == "":
		case isRepositoryPage(m.decision.PR, b.URL):
			row.URL = b.URL
		default:
			row.Why = slices.Concat(row.Why, fillPhrase(" (%s)", Phrase{{Text: clipRunes(oneLine(address), 200), From: FromWriting}}))
		}
		rows = append(rows, row)
	}
	return rows
}

// whySaid says why a ballot is what it is, and what was tried; of an objection, to what.
func (m *pageMaker) whySaid(b quorum.Ballot) Phrase {
	switch {
	case b.Vote == quorum.Object && (b.Detail == "" || b.Reason == quorum.ReasonFindings):
		return m.objectionSaid(b)
	case b.Reason == quorum.ReasonGuarded: // the lead names the file, which may be wider than a cell of the table
		return wordsPhrase("%s", Sentence(b.Reason))
	case b.Ended.How == quorum.ReasonDismissed && b.Vote == quorum.Pending:
		return fillPhrase("%s dismissed its objection", namePhrase(b.Ended.By))
	case b.Excused != "" && b.Excused != b.Reason && b.Excused != quorum.ReasonReserve: // it says something, and has no vote
		return slices.Concat(reasonSaid(b, m.snapshot.PR), wordsPhrase(" (%s)", Sentence(b.Excused)))
	}
	why := append(reasonSaid(b, m.snapshot.PR), Span{Text: retrySaid(b)})
	if b.Failed > 1 && isSkipped(b) {
		why = append(why, Span{Text: " (" + countNoun(b.Failed, "attempt") + " failed)"})
	}
	if b.Of != 0 {
		why = slices.Concat(why, fillPhrase(", below %s", numberPhrase(b.Of)))
	}
	return slices.DeleteFunc(why, func(s Span) bool { return s.Text == "" })
}

// objectionSaid says what b objects to: its first finding, else its own words.
func (m *pageMaker) objectionSaid(b quorum.Ballot) Phrase {
	why := wordsPhrase("%s", Sentence(b.Reason))
	if open, _, _ := m.threadsOf(b); open > 0 && b.Reason == quorum.ReasonFindings {
		why = wordsPhrase("it objects, %s open", countVerb(open, "thread"))
	}
	say := oneLine(b.Detail)
	if i := slices.IndexFunc(b.Findings, func(f quorum.Finding) bool { return !f.Below }); i >= 0 {
		if first := firstSentence(b.Findings[i].Body); first != "" {
			say = first
		}
	}
	switch {
	case say == "" && b.Reason != quorum.ReasonFindings:
		return why
	case say == "" || !strings.Contains(say, " ") || strings.HasPrefix(say, "verdict: "): // a word for programs
		if b.Reason == quorum.ReasonFindings {
			return wordsPhrase("it asks for changes")
		}
	}
	why = slices.Concat(why, fillPhrase(": %s", quotePhrase(say)))
	if len(b.Findings) > 0 && b.Findings[0].More > 0 {
		why = slices.Concat(why, wordsPhrase(", the first of %s", countNoun(b.CountFindings(), "finding")))
	}
	return why
}

// threadsOf counts the threads of an objection that GitHub shows, where resolving them would end it: open ones, of
// which url is the first, and resolved ones, which did not end it.
func (m *pageMaker) threadsOf(b quorum.Ballot) (open, resolved int, url string) {
	if !b.Threads {
		return 0, 0, ""
	}
	for _, f := range b.Findings {
		i := slices.IndexFunc(m.snapshot.Threads, func(t quorum.Thread) bool { return f.Thread != 0 && t.ID == f.Thread })
		switch {
		case i < 0 || f.Below:
		case m.snapshot.Threads[i].Resolved:
			resolved++
		default:
			if open++; url == "" {
				url = f.URL
			}
		}
	}
	return open, resolved, url
}

// unlinkStatuses takes the addresses out of what rests on a commit status: its creator chose them, and a host of a
// stranger's may have pages that are called like the repository's. They are shown in the table, and linked nowhere.
func (m *pageMaker) unlinkStatuses() {
	m.unlinked = map[string]string{}
	m.decision.Ballots = slices.Clone(m.decision.Ballots)
	for i := range m.decision.Ballots {
		b := &m.decision.Ballots[i]
		if !m.isStatusReviewer(*b) {
			continue
		}
		m.unlinked[b.Reviewer], b.URL = b.URL, ""
		b.Findings = slices.Clone(b.Findings)
		for k := range b.Findings {
			b.Findings[k].URL = ""
		}
	}
}

func (m *pageMaker) isStatusReviewer(b quorum.Ballot) bool {
	r := m.reviewer(b)
	return b.Evidence.Kind == quorum.TextStatus || r != nil && r.Status != ""
}

// reviewer returns what the policy says of a ballot's reviewer; nil if it does not name it.
func (m *pageMaker) reviewer(b quorum.Ballot) *quorum.Reviewer {
	for i := range m.policy.Reviewers {
		if m.policy.Reviewers[i].Name == b.Reviewer {
			return &m.policy.Reviewers[i]
		}
	}
	return nil
}

// ballotSince returns since when a ballot is what it is.
func ballotSince(b quorum.Ballot) time.Time {
	if !b.Since.IsZero() {
		return b.Since
	}
	return b.At
}

func voteMark(b quorum.Ballot) (mark, word string) {
	if b.Excused != "" && b.Excused == b.Reason {
		return "➖", "none"
	}
	switch b.Vote {
	case quorum.Pending:
		if b.Reason == quorum.ReasonNotReceived {
			return "➖", "none"
		}
		return "⏳", "pending"
	case quorum.Approve:
		return "✅", "approve"
	case quorum.Object:
		return "❌", "object"
	case quorum.Unavailable:
		return "⚠️", "unavailable"
	default: // unreachable unless a ballot was never cast
		return "⚠️", "none"
	}
}

// nextOfReason says what is waited for where no reviewer is; "" where the votes decide.
func nextOfReason(r quorum.Reason) string {
	switch r {
	case quorum.ReasonDraft:
		return "Nothing is decided while the pull request is a draft; every clock starts when it is ready for review."
	case quorum.ReasonBroken:
		return "Nothing is decided until the policy file on the default branch is mended."
	case quorum.ReasonSiblings:
		return "Nothing is decided until only one open pull request has this head commit."
	case quorum.ReasonLayer, quorum.ReasonLayersLost, quorum.ReasonLayersMany:
		return "The check passes once those of all layers below are green: GitHub merges them together. An objection that comes before that counts."
	}
	return ""
}

// nextSteps says what happens by itself, and when.
func (m *pageMaker) nextSteps() (items []Phrase) {
	p, d := m.policy, m.decision
	add := func(format string, a ...any) { items = append(items, wordsPhrase(format, a...)) }
	if awaited := nextOfReason(d.Reason); awaited != "" {
		return []Phrase{wordsPhrase("%s", awaited)}
	}
	if !d.GraceEnd.IsZero() {
		add(
			"The quorum is reached. The check passes at %s, or earlier if everybody has answered, unless somebody objects.",
			formatTime(d.GraceEnd, d.Start),
		)
	}
	items = append(items, pendingSteps(d)...)
	for _, b := range d.Ballots {
		switch {
		case b.Vote == quorum.Unavailable && b.Open && b.Voter():
			items = append(items, fillPhrase("%s: an answer may still come, and would count.", namePhrase(b.Reviewer)))
		case b.Vote == quorum.Object && b.Voter() && b.Reason == quorum.ReasonLookingAgain:
			items = append(items, fillPhrase("%s looks again: an approval of its own ends its objection.", namePhrase(b.Reviewer)))
		}
	}
	switch d.Verdict {
	case quorum.Waiting:
	case quorum.Passed:
		add("Nothing is waited for. An objection that comes later, a withdrawn approval, a push or a new base opens this check again.")
	case quorum.Blocked:
		items = append(items, loopSaid(d)...)
		if !m.isBranchGone() {
			add("A push starts the reviews anew.")
		}
	case quorum.Unverified:
		if d.Reason == quorum.ReasonPeople {
			add("The check passes when %s comes. An objection that comes later counts.", missingPeople(d))
			return items
		}
		add("An approval that comes later counts, and so does an objection.")
		if p.StandIn == 0 {
			add("The policy lets no person stand in for a reviewer.")
		}
	case quorum.Ended:
	}
	return items
}

// pendingSteps say how long pending reviewers have, and what happens in the meantime. Why they are pending stands in the
// table.
func pendingSteps(d quorum.Decision) (items []Phrase) {
	type deadlineGroup struct {
		end       time.Time
		reviewers []Phrase
	}
	var groups []deadlineGroup
	for _, b := range d.Ballots {
		switch {
		case b.Vote != quorum.Pending || b.Reason == quorum.ReasonNotReceived || b.Excused != "" && !isAwaited(b):
		case len(b.Next) > 0:
			items = append(items, announcedSteps(d, b))
		case !b.Deadline.IsZero():
			i := slices.IndexFunc(groups, func(g deadlineGroup) bool { return g.end.Equal(b.Deadline) })
			if i < 0 {
				i, groups = len(groups), append(groups, deadlineGroup{end: b.Deadline})
			}
			groups[i].reviewers = append(groups[i].reviewers, namePhrase(b.Reviewer))
		}
	}
	for _, g := range groups {
		verb := pluralWord(len(g.reviewers), "has", "have")
		until := wordsPhrase("%s until %s", verb, formatTime(g.end, d.Start))
		items = append(items, fillPhrase("%s %s to answer.", joinPhrases(g.reviewers), until))
	}
	return items
}

// announcedSteps say what will be done for a pending reviewer, and when its time ends.
func announcedSteps(d quorum.Decision, b quorum.Ballot) Phrase {
	var says []string
	for _, a := range b.Next {
		verb := map[quorum.ActionKind]string{quorum.Rerun: "it is run again", quorum.Ask: "it is asked for a review"}[a.Kind]
		switch {
		case a.Kind == quorum.Cancel && a.Due.IsZero():
			says = append(says, "if it has not ended, its run is cancelled and started again")
		case a.Kind == quorum.Cancel:
			says = append(says, "if it has not ended by "+formatTime(a.Due, d.Start)+", its run is cancelled and started again")
		case a.Due.IsZero():
			says = append(says, verb)
		default:
			says = append(says, againSaid(verb, b, a.Due, d.Start))
		}
	}
	if !b.Deadline.IsZero() {
		says = append(says, "whatever happens, its time ends at "+formatTime(b.Deadline, d.Start))
	}
	return fillPhrase("%s: %s.", namePhrase(b.Reviewer), wordsPhrase("%s", strings.Join(says, "; ")))
}

// notes say what must be known of the policy file, of checks of the same name, and of GitHub's merge gate.
func (m *pageMaker) notes() (notes []PageNote) {
	p, s, f := m.policy, m.snapshot, m.snapshot.File
	const mostBlock, mostForeign = 8000, 10
	path := linkPhrase(s.PR.PR, quotePhrase(f.Path), m.policyURL())
	if p.Mode == quorum.ReportOnly {
		notes = append(notes, PageNote{Says: wordsPhrase("The policy says mode: report. This check only reports and holds back nothing.")})
	}
	if f.State == quorum.FileBroken {
		says := fillPhrase("The policy file %s on the default branch cannot be used:", path)
		if f.Org.Broken {
			says = fillPhrase("The organisation's policy, in %s, cannot be used, and nobody may pass without it:", quotePhrase(f.Org.Repo))
		}
		notes = append(notes, PageNote{Says: says, Block: cutBytes(makeVisible(f.Problem), mostBlock)})
	}
	if f.State == quorum.FileValid && f.Org.SHA != "" && f.SHA == "" {
		notes = append(notes, PageNote{Says: fillPhrase("The policy is the organisation's, in %s.", quotePhrase(f.Org.Repo))})
	}
	if f.Changed {
		n := PageNote{Says: fillPhrase("This pull request changes the policy file %s. The version on the default branch decides.", path)}
		if f.Proposed != "" {
			n.Says = append(n.Says, Span{Text: " The version that is proposed here is broken:"})
			n.Block = cutBytes(makeVisible(f.Proposed), mostBlock)
		}
		notes = append(notes, n)
	}
	for i, c := range s.Foreign {
		if i == mostForeign {
			notes = append(notes, PageNote{Says: wordsPhrase("There are %d more like it.", len(s.Foreign)-mostForeign)})
			break
		}
		said := cmp.Or(c.Conclusion, c.Status)
		notes = append(notes, PageNote{Says: fillPhrase(
			"⚠️ %s named %s on this commit was not written by this coordinator, but by %s; it says %s and counts for nothing here.",
			linkPhrase(s.PR.PR, wordsPhrase("A check"), c.URL), quotePhrase(clipRunes(c.Name, 100)), quotePhrase(clipRunes(c.App, 100)),
			quotePhrase(clipRunes(said, 40)),
		)})
	}
	if s.PassedOverFor != "" && p.Mode != quorum.ReportOnly {
		notes = append(notes, PageNote{Says: fillPhrase(
			"GitHub has filed this check with the jobs of %s and counts it no more: that workflow ran again, or was started by hand. The commit status of the same name says the same and counts.",
			quotePhrase(s.PassedOverFor),
		)})
	}
	return notes
}

// leastSpacing is how far looks must be apart for it to be worth a word.
const leastSpacing = time.Minute

// spacingNotes say that a pull request is looked at less often, in whole minutes, so that a check is not written for each.
func spacingNotes(s quorum.Snapshot) []PageNote {
	if s.Spacing < leastSpacing {
		return nil
	}
	minutes := int(s.Spacing.Round(time.Minute) / time.Minute)
	return []PageNote{{Says: wordsPhrase(
		"So much happens on this pull request that it has used its part of what GitHub allows in an hour, which others need, too: "+
			"if that goes on, what happens is read every %d min.", minutes,
	)}}
}

// policyURL returns the address of the policy file on the default branch; "" if it is not known.
func (m *pageMaker) policyURL() string {
	s := m.snapshot
	url := m.places.Web + "/" + pathOf(s.PR.Owner, s.PR.Repo, "blob", "HEAD", s.File.Path) // HEAD is the default branch
	if m.places.Web == "" || s.File.Path == "" || oneLine(s.File.Path) != s.File.Path || s.File.State == quorum.FileMissing ||
		s.File.SHA == "" && s.File.Org.Repo != "" || !isRepositoryPage(s.PR.PR, url) {
		return ""
	}
	return url
}

// footer says by which rules it was decided, and where to read on.
func (m *pageMaker) footer() (f PageFooter) {
	s, d := m.snapshot, m.decision
	f.Quorum = quorumSaid(m.policy, d)
	if url := m.policyURL(); url != "" {
		f.Policy = linkPhrase(d.PR, wordsPhrase("the policy file"), url)
	}
	if m.places.Docs != "" {
		f.Meaning = m.places.Docs + "/verdicts.md#" + strings.ToLower(m.page.Verdict)
	}
	switch {
	case d.Reason == quorum.ReasonNoPolicy || d.Reason == quorum.ReasonOff: // no check is written
	case s.Ours.Login == quorum.ActionsBot:
		f.Writers = wordsPhrase("It was written with a job's GITHUB_TOKEN: whoever may push a workflow to this repository could write a check of this name. Only a GitHub App of its own closes that.")
	case s.Ours.Bot:
		f.Writers = fillPhrase("Only the GitHub App that wrote it, %s, can write it where the rule that requires it names that App as its source. Else a workflow could write a check of this name.", namePhrase(s.Ours.Login))
	}
	return f
}

// quorumSaid says how many must approve, and who among them.
func quorumSaid(p quorum.Policy, d quorum.Decision) (says Phrase) {
	if p.Need < 1 && len(p.Rules) == 0 || len(p.Reviewers) == 0 {
		return nil
	}
	switch n, ones, many := voterCount(p, d); {
	case d.Need == 0 && p.NeedsNoReview():
		says = wordsPhrase("Quorum: no reviewer has to approve")
	case n < d.Need:
		says = wordsPhrase("Quorum: %d must approve, of %d %s", d.Need, n, pluralWord(n, ones, many))
	default:
		says = wordsPhrase("Quorum: %d of %d %s must approve", d.Need, n, pluralWord(n, ones, many))
	}
	var required []Phrase
	for _, r := range p.Reviewers {
		isAgain := slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Reviewer == r.Name && b.Again && b.Voter() })
		if isAgain || r.Required && r.Voter() {
			required = append(required, namePhrase(r.Name))
		}
	}
	if len(required) > 0 {
		says = slices.Concat(says, fillPhrase(", %s among them", joinPhrases(required)))
	}
	if len(p.People) > 0 {
		says = append(says, Span{Text: ", and " + whoseApprovals(p.People) + " besides"})
	}
	return append(says, Span{Text: ", and none may object"})
}
