package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What people can do, by who they are. Each step here is true for the decision that it stands under: an objection ends
// by a push, by its reviewer's own approval, by a review that is dismissed or threads that are resolved, where it has
// such, or by the word of a person who may accept over it; a person's approval fills what is missing, and only that,
// where the policy lets it.

// A stepDraft is a step for which reviewers are still collected.
type stepDraft struct {
	who, what string // formats: %s are the reviewers, at most once in both together; what stands in [] is linked
	about     []Phrase
	urls      []string // of the step, or of each reviewer in it
	filled    Phrase   // what, where it is no format
}

// stepList collects steps: what is the same for several reviewers is one.
type stepList []stepDraft

func (l *stepList) add(who, what, url string, about ...Phrase) {
	for i := range *l {
		s := &(*l)[i]
		if s.who == who && s.what == what && what != "" {
			s.about, s.urls = append(s.about, about...), append(s.urls, url)
			return
		}
	}
	*l = append(*l, stepDraft{who: who, what: what, about: about, urls: []string{url}})
}

func (l *stepList) addFilled(who string, what Phrase, url string) {
	*l = append(*l, stepDraft{who: who, filled: what, urls: []string{url}})
}

// pageSteps are the steps as they are shown.
func (l stepList) pageSteps(pr quorum.PR) (steps []PageStep) {
	for _, d := range l {
		s, url := PageStep{What: d.filled}, ""
		if len(d.urls) == 1 && isRepositoryPage(pr, d.urls[0]) {
			url = d.urls[0]
		}
		about := slices.Clone(d.about)
		if url == "" || !strings.Contains(d.what, "[") {
			for i := range about {
				about[i] = linkPhrase(pr, about[i], d.urls[i])
			}
		}
		s.Who, s.URL = fillFormat(pr, d.who, "", about), url
		if s.What == nil {
			s.What = fillFormat(pr, d.what, url, about)
		}
		steps = append(steps, s)
	}
	return steps
}

// fillFormat fills the one %s that a format may have, and links what stands in its [].
func fillFormat(pr quorum.PR, format, url string, about []Phrase) Phrase {
	fill := func(part string) Phrase {
		if strings.Contains(part, "%s") {
			return fillPhrase(part, joinPhrases(about))
		}
		return fillPhrase(part)
	}
	before, rest, _ := strings.Cut(format, "[")
	linked, after, _ := strings.Cut(rest, "]")
	return slices.Concat(fill(before), linkPhrase(pr, fill(linked), url), fill(after))
}

// steps returns what people can do about the decision.
func (m *pageMaker) steps() []PageStep {
	var l stepList
	d := m.decision
	switch d.Reason {
	case quorum.ReasonDraft:
		l.add(m.author(), "Mark the pull request as ready for review.", "")
		return l.pageSteps(d.PR)
	case quorum.ReasonSiblings, quorum.ReasonLayer, quorum.ReasonLayersLost, quorum.ReasonLayersMany:
		l.add(m.author(), Advice(d.Reason), "")
		return l.pageSteps(d.PR)
	case quorum.ReasonBroken:
		m.addBroken(&l)
		return l.pageSteps(d.PR)
	case quorum.ReasonNoPolicy:
		l.add(whoMaintainer, "Merge a policy into the default branch: `coordinator init` writes one.", "")
		return l.pageSteps(d.PR)
	}
	idle := m.idleReviewers()
	switch d.Verdict {
	case quorum.Ended:
		return nil
	case quorum.Passed:
		l.add(m.author(), passedAdvice(m.policy), "")
		m.addReviewers(&l)
	case quorum.Blocked:
		m.addObjections(&l)
		m.addReviewers(&l)
	case quorum.Waiting:
		m.addObjections(&l)
		awaitsApproval := slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool {
			return isAwaited(b) && b.Reason == quorum.ReasonApproval
		})
		if len(l) == 0 && !awaitsApproval && len(idle) == 0 {
			l.add(m.author(), waitAdvice(d), "")
		}
		m.addReviewers(&l)
	default:
		m.addUnverified(&l)
	}
	m.addIdle(&l, idle)
	return l.pageSteps(d.PR)
}

// author is whoever opened the pull request, if that can do anything here.
func (m *pageMaker) author() string {
	if m.snapshot.PR.Author.Bot {
		return whoBotsKeeper
	}
	return whoAuthor
}

// addBroken adds what can be done about a policy file that cannot be used: that is nothing to whoever opened the pull
// request.
func (m *pageMaker) addBroken(l *stepList) {
	switch {
	case m.snapshot.PR.Author.Bot:
	case m.snapshot.File.Changed:
		l.add(whoAuthor, "Nothing: until that file is merged in a version that works, the one on the default branch counts.", "")
	default:
		l.add(whoAuthor, "Nothing in your change causes this. Tell a maintainer, if nobody has.", "")
	}
	if m.snapshot.File.Org.Broken {
		l.add(whoMaintainer, "Have the organisation's policy mended, or shown to this coordinator again: who may is in that repository.", "")
		return
	}
	l.add(whoMaintainer, "Mend [the policy file] on the default branch; `coordinator config check` shows every mistake.", m.policyURL())
}

// passedAdvice says what a pass is good for.
func passedAdvice(p quorum.Policy) string {
	if p.Mode == quorum.ReportOnly {
		return "Nothing is left to do for this check."
	}
	return "Nothing is left to do: as far as this check goes, the pull request can be merged."
}

// waitAdvice says until when there is nothing to do.
func waitAdvice(d quorum.Decision) string {
	until, last := waitingEnds(d), time.Time{}
	for _, b := range d.Ballots {
		if isAwaited(b) && b.Deadline.After(last) {
			last = b.Deadline
		}
	}
	switch {
	case until.IsZero():
		return "Nothing has to be done."
	case !d.GraceEnd.IsZero():
		return fmt.Sprintf("Nothing has to be done: the check passes by itself at %s, unless somebody objects.", formatTime(until, d.Start))
	case last.After(until):
		return fmt.Sprintf(
			"Nothing has to be done: this waits until %s, and if a review is run again, until %s at the latest.",
			formatTime(until, d.Start), formatTime(last, d.Start),
		)
	default:
		return fmt.Sprintf("Nothing has to be done: this waits until %s at the latest.", formatTime(until, d.Start))
	}
}

// addObjections adds what ends the objections.
func (m *pageMaker) addObjections(l *stepList) {
	d := m.decision
	people := opposingPeople(d)
	if d.Objections == 0 && len(people) == 0 {
		return
	}
	if d.Objections > 0 {
		m.addFix(l)
	}
	l.addSettle(m.author(), people)
	for _, b := range d.Ballots {
		if !b.Voter() || b.Vote != quorum.Object {
			continue
		}
		who := namePhrase(b.Reviewer)
		m.addThreads(l, b, who)
		if i := slices.IndexFunc(m.snapshot.Reviews, func(t quorum.Text) bool { return t.TextRef == b.Evidence }); i >= 0 &&
			m.snapshot.Reviews[i].State == "CHANGES_REQUESTED" {
			l.add(whoWriter+hadNoHand, "[Dismiss the review of %s], if what it asks for is not needed.", b.URL, who)
		}
		if b.Reason == quorum.ReasonStands && m.canStart(b) {
			l.add(whoWriter, "["+m.startVerb(b)+"]: its own approval ends its objection.", b.URL, who)
		}
	}
	l.addAccept(m.policy, d)
	l.addLoop(d)
}

// addSettle adds what ends the objections of people, where the policy asks people: nobody else ends them by a push.
func (l *stepList) addSettle(author string, people []string) {
	if len(people) == 0 {
		return
	}
	names := namesOf(people)
	l.addFilled(author, fillPhrase("Settle what %s asks for, and ask for a new review.", joinPhrases(names)), "")
	l.addFilled(whoWriter+hadNoHand, fillPhrase("Dismiss the review of %s, if what it asks for is not needed.", joinPhrases(names)), "")
}

// addAccept adds the words by which a person who may accepts the change over the objections.
func (l *stepList) addAccept(p quorum.Policy, d quorum.Decision) {
	if p.Override == 0 || d.Objections == 0 || d.Head == "" {
		return
	}
	names := namesOf(votersWith(d, quorum.Object))
	line := Phrase{{Text: "/review-coordinator accept " + cutBytes(d.Head, acceptedDigits) + " <why>", From: FromWriting}}
	l.addFilled(personWith(p.Override), fillPhrase(
		"Comment %s, with your reason at its end, if the change is right as it is: that ends %s.", line, objectionsOf(names),
	), "")
}

// acceptedDigits is how much of a commit's id the line to copy holds: seven are enough for it to be heard.
const acceptedDigits = 12

// addFix adds what the author can do about objections: what they name, and a push.
func (m *pageMaker) addFix(l *stepList) {
	if m.isBranchGone() {
		l.add(m.author(), openAnew, "")
		return
	}
	first := m.firstObjecting()
	var silent []Phrase // objects, and names no place
	for _, b := range m.decision.Ballots {
		names := slices.ContainsFunc(b.Findings, func(f quorum.Finding) bool { return !f.Below && f.Path != "" })
		if b.Voter() && b.Vote == quorum.Object && !names {
			silent = append(silent, namePhrase(b.Reviewer))
		}
	}
	if first != nil && first.Path != "" {
		l.addFilled(m.author(), fixSaid(*first, m.page.Findings[1:]), first.URL)
		return
	}
	if len(silent) > 0 {
		l.addFilled(m.author(), fillPhrase("Mend what %s names, and push.", joinPhrases(silent)), "")
		return
	}
	l.add(m.author(), "Mend what the findings name, and push.", "")
}

// fixSaid says what is to be fixed: places, as they stand among the findings.
func fixSaid(first PageFinding, rest []PageFinding) Phrase {
	var others []PageFinding
	allPlaced := true
	for _, f := range rest {
		if f.Objects() {
			others, allPlaced = append(others, f), allPlaced && f.Place() != ""
		}
	}
	linked := func(f PageFinding) Phrase { return Phrase{{Text: f.Place(), From: FromWriting, URL: f.URL}} }
	switch n := len(others); {
	case n == 0:
		return fillPhrase("Fix %s and push.", linked(first))
	case n == 1 && allPlaced:
		return fillPhrase("Fix %s and %s and push.", linked(first), linked(others[0]))
	case n == 1:
		return fillPhrase("Fix %s and the other finding below, and push.", linked(first))
	case allPlaced:
		return fillPhrase("Fix %s and the %s other places below, and push.", linked(first), wordsPhrase("%d", n))
	default:
		return fillPhrase("Fix %s and the %s other findings below, and push.", linked(first), wordsPhrase("%d", n))
	}
}

// addThreads adds that threads can be resolved, where that would end the objection and there are any.
func (m *pageMaker) addThreads(l *stepList, b quorum.Ballot, who Phrase) {
	open, resolved, url := m.threadsOf(b)
	role := whoWriter + hadNoHand
	if m.policy.Threads == quorum.ByAnyone {
		role = whoWriter
		if !m.snapshot.PR.Author.Bot {
			role = "You, or a person with write permission"
		}
	}
	switch {
	case open == 1:
		l.add(role, "Resolve [the open thread of %s], if it is wrong.", url, who)
	case open > 1:
		l.add(role, fmt.Sprintf("Resolve [the %d open threads of %%s], if they are wrong.", open), url, who)
	case resolved > 0:
		l.add(role, "Open [the threads of %s] and resolve them again: whoever resolved them may not.", b.URL, who)
	}
}

// canStart reports whether a person can let b's reviewer look again.
func (m *pageMaker) canStart(b quorum.Ballot) bool {
	r := m.reviewer(b)
	return b.Run != 0 || r != nil && (r.Workflow != "" || r.Request.Set())
}

// startVerb says how b's reviewer is started again.
func (m *pageMaker) startVerb(b quorum.Ballot) string {
	if r := m.reviewer(b); b.Run != 0 || r != nil && r.Workflow != "" {
		return "Run %s again"
	}
	return "Ask %s for a review again"
}

// addUnverified adds what fills the places that are missing.
func (m *pageMaker) addUnverified(l *stepList) {
	d := m.decision
	m.addObjections(l)
	var reviewers stepList
	m.addReviewers(&reviewers)
	areSettled := !isAnyPending(d) || d.Reason == quorum.ReasonPeople
	helpsNow := m.policy.StandIn != 0 && d.Objections == 0 && len(d.Against) == 0 && areSettled
	if helpsNow { // a person's approval ends it, whatever became of the reviewers
		m.addStandIn(l)
	}
	if d.Objections == 0 && !slices.ContainsFunc(reviewers, func(s stepDraft) bool { return s.who == m.author() }) {
		what := "Nothing in the change has to be mended for this check: no reviewer objects to it."
		if helpsNow {
			what += " You can ask for that approval."
		}
		l.add(m.author(), what, "")
	}
	if d.Reason == quorum.ReasonTooFew {
		l.add(whoMaintainer, Advice(d.Reason), "")
	}
	*l = append(*l, reviewers...)
	if !helpsNow {
		m.addStandIn(l)
	}
}

// addStandIn adds that a person can approve in place of what is missing, where that counts.
func (m *pageMaker) addStandIn(l *stepList) {
	d := m.decision
	switch {
	case m.policy.StandIn == 0 || d.Objections > 0:
	case len(d.Against) > 0:
		l.addFilled(whoWriter, fillPhrase(
			"Settle what %s asks for: while a person requests changes, nobody's approval stands in for what is missing.", joinPhrases(namesOf(d.Against)),
		), "")
	default:
		what := "Review this commit and approve it: " + enoughApprovals(d)
		if isAnyPending(d) && d.Reason != quorum.ReasonPeople {
			what += ", once nobody is pending"
		}
		l.add(personWith(m.policy.StandIn), what+".", "")
		isOfPeople := d.Reason == quorum.ReasonPeople
		isInVain := slices.ContainsFunc(d.Unheard, func(s quorum.StandIn) bool { return s.Vouch }) || isOfPeople && len(d.StandIns) > 0
		if m.policy.OwnChange && !isInVain && (isOfPeople || d.MayVouch()) && d.Head != "" {
			line := Phrase{{Text: "/review-coordinator vouch " + cutBytes(d.Head, acceptedDigits) + " <why>", From: FromWriting}}
			what := "to stand in for reviewers that cannot answer"
			if isOfPeople {
				what = "if nobody else may write here: then it takes the place of what is missing"
			}
			l.addFilled(strings.Replace(personWith(m.policy.StandIn), hadNoHand, hadAHand, 1), fillPhrase(
				"Comment %s, with your reason at its end, "+what+". It is no approval, and the title names you.", line,
			), "")
		}
	}
}

// isAnyPending reports whether somebody's answer keeps people from standing in: a voter's, or one that seems to object.
func isAnyPending(d quorum.Decision) bool {
	isDoubt := func(b quorum.Ballot) bool { return isAwaited(b) && !b.Voter() }
	return d.Pending > 0 || slices.ContainsFunc(d.Ballots, isDoubt)
}

// enoughApprovals says how many approvals by people are enough: those that the policy asks for, and one for all of the
// reviewers' that are missing.
func enoughApprovals(d quorum.Decision) string {
	n, areNamed := 0, false
	for _, r := range d.MissingPeople {
		n, areNamed = n+r.Count, areNamed || len(r.Of) > 0
	}
	if d.Reason != quorum.ReasonPeople {
		n++
	}
	switch {
	case areNamed && d.Reason == quorum.ReasonPeople:
		return "what is missing is " + missingPeople(d)
	case areNamed:
		return "one such approval stands in for the reviewers', and besides the policy asks for " + missingPeople(d)
	case n <= 1:
		return "one such approval is enough"
	case d.Reason == quorum.ReasonPeople || d.NeedPeople == 0:
		return fmt.Sprintf("%d such approvals are enough", n)
	default:
		return fmt.Sprintf("%d such approvals, by different people, are enough", n)
	}
}

// addReviewers adds what can be done about reviewers that give no vote.
func (m *pageMaker) addReviewers(l *stepList) {
	for i, b := range m.decision.Ballots {
		if b.Shadow || b.Excused != "" || !mayNeedPerson(b) || b.Vote == quorum.Object {
			continue
		}
		if b.Reason == quorum.ReasonGuarded {
			isFirst := !slices.ContainsFunc(m.decision.Ballots[:i], isGuarded)
			if isFirst && isGuarded(b) {
				m.addGuarded(l)
			}
			continue
		}
		who, what := m.remedyFor(b)
		url := b.URL
		if who == m.author() || who == whoUs {
			url = ""
		}
		if what != "" {
			l.add(who, what, url, namePhrase(b.Reviewer))
		}
	}
}

// isGuarded reports whether b does not count because of a file that is known. Where not all files are known, leaving
// one out would not help.
func isGuarded(b quorum.Ballot) bool {
	return !b.Shadow && b.Excused == "" && b.Vote == quorum.Unavailable && b.Reason == quorum.ReasonGuarded && b.Detail != ""
}

// addGuarded adds that the files that can steer reviews can be left out.
func (m *pageMaker) addGuarded(l *stepList) {
	if m.isBranchGone() {
		l.add(m.author(), openAnew, "")
		return
	}
	var files, reviewers []Phrase
	for _, b := range m.decision.Ballots {
		if !isGuarded(b) {
			continue
		}
		reviewers = append(reviewers, namePhrase(b.Reviewer))
		file := quotePhrase(b.Detail)
		if !slices.ContainsFunc(files, func(p Phrase) bool { return slices.Equal(p, file) }) {
			files = append(files, file)
		}
	}
	counts := pluralWord(len(reviewers), "the review of %s counts", "the reviews of %s count")
	l.addFilled(m.author(), fillPhrase(
		"Put %s, and any other such file, into a pull request of its own: then %s here.",
		joinPhrases(files), fillPhrase(counts, joinPhrases(reviewers)),
	), "")
}

// mayNeedPerson reports whether a person may be needed for b.
func mayNeedPerson(b quorum.Ballot) bool {
	switch b.Vote {
	case quorum.Unavailable:
		return true
	case quorum.Object:
		return b.Voter()
	case quorum.Pending:
		return b.Reason == quorum.ReasonApproval || b.Reason == quorum.ReasonUnnamed ||
			b.Reason == quorum.ReasonMoved || b.Reason == quorum.ReasonOldBase
	default:
		return false
	}
}

// remedyFor returns who can help a reviewer that gives no vote, and how; formats, "" where there is nothing to do.
func (m *pageMaker) remedyFor(b quorum.Ballot) (who, what string) {
	switch b.Reason {
	case quorum.ReasonApproval:
		return whoMaintainer, "Approve the run of %s on the pull request's page; its clock starts then."
	case quorum.ReasonTooLarge, quorum.ReasonPartial:
		return m.author(), "Split the pull request: %s cannot read all of it."
	case quorum.ReasonTooOld, quorum.ReasonAttempts:
		return m.pushStep("Push a new commit: it starts new runs of %s.")
	case quorum.ReasonOtherPull:
		return m.pushStep("Push a new commit: what %s says of it can be no other pull request's.")
	case quorum.ReasonNoSecrets:
		return m.secretsRemedy()
	case quorum.ReasonRetired:
		return whoMaintainer, "Remove %s from the policy: its service has ended."
	case quorum.ReasonPermission, quorum.ReasonIgnored:
		return whoUs, Advice(b.Reason)
	case quorum.ReasonMoved, quorum.ReasonOldBase:
		return whoWriter, "Ask %s to review this commit."
	case quorum.ReasonCommand:
		return whoWriter, "Ask %s for a review: its approval only answers a command."
	case quorum.ReasonSelf, quorum.ReasonFamily, quorum.ReasonFindings, quorum.ReasonOpenThreads,
		quorum.ReasonStands, quorum.ReasonLookingAgain:
		return "", "" // of an objection see [pageMaker.addObjections]
	case quorum.ReasonDeclined, quorum.ReasonModelRefusal:
		return whoOperator, "Read why it declined."
	case quorum.ReasonEmpty, quorum.ReasonUnknown:
		return whoWriter, "Look into the log of %s, mend what it shows, and start it again."
	}
	if when := whenAgain(b.Reason); when != "" {
		return whoWriter, "[" + m.startVerb(b) + "]" + when
	}
	what = Advice(b.Reason)
	if what != "" && answeredWithoutVerdict(b) {
		what += " Its answers are shown in the details."
	}
	return whoOperator, what
}

// whenAgain says when starting a reviewer again helps, as the end of a sentence; "" where that is not what helps.
func whenAgain(r quorum.Reason) string {
	switch r {
	case quorum.ReasonOverloaded:
		return " when its service is back."
	case quorum.ReasonRateLimit:
		return " when its limit is over."
	case quorum.ReasonHung:
		return " once there is a runner for it and nothing that its run waits for."
	case quorum.ReasonCancelled:
		return ", if nobody meant to stop it."
	case quorum.ReasonDismissed, quorum.ReasonDeleted, quorum.ReasonEdited:
		return ", if its approval should count."
	case quorum.ReasonRefused:
		return " by hand, or push a new commit."
	case quorum.ReasonOverridden:
		return ", if its word should count after all."
	default:
		return ""
	}
}

// isBranchGone reports whether nobody can push to the pull request any more.
func (m *pageMaker) isBranchGone() bool { return m.snapshot.PR.Fork && m.snapshot.PR.HeadRepo == "" }

const openAnew = "Open the pull request anew: its branch is gone, so that nothing can be pushed."

// pushStep is a step of the author's that ends with a push.
func (m *pageMaker) pushStep(what string) (string, string) {
	if m.isBranchGone() {
		return m.author(), openAnew
	}
	return m.author(), what
}

// secretsRemedy says how a reviewer gets the key that it lacks.
func (m *pageMaker) secretsRemedy() (who, what string) {
	switch s := m.snapshot.PR; {
	case s.Fork:
		return whoMaintainer, "Push the same commits to a branch of this repository and open a pull request for it in place of this one: %s has no secrets on one from a fork."
	case s.Author.Login == dependabot:
		return whoOperator, "Give its key to Dependabot's runs, too: they have secrets of their own."
	default:
		return whoOperator, "Set the key that it lacks."
	}
}

// idleReviewers are those whose workflows nothing has started since the base changed.
func (m *pageMaker) idleReviewers() (idle []Phrase) {
	if !newBaseCycle(m.snapshot) {
		return nil
	}
	for _, b := range m.decision.Ballots {
		r := m.reviewer(b)
		if r != nil && b.Excused == "" && r.Workflow != "" && (b.Reason == quorum.ReasonSilent || b.Reason == quorum.ReasonNoAnswer) {
			idle = append(idle, namePhrase(b.Reviewer))
		}
	}
	return idle
}

// addIdle adds what starts the workflows of a pull request whose base has changed.
func (m *pageMaker) addIdle(l *stepList, idle []Phrase) {
	if len(idle) == 0 {
		return
	}
	what := fillPhrase(
		"Close and reopen the pull request to start %s: the base is %s now, which voids earlier reviews and starts no workflow.",
		joinPhrases(idle), namePhrase(m.snapshot.PR.BaseRef),
	)
	*l = slices.Insert(*l, 0, stepDraft{who: m.author(), filled: what})
}

// newBaseCycle reports whether the newest cycle began with a change of the base.
func newBaseCycle(s quorum.Snapshot) (changed bool) {
	for _, e := range s.Timeline {
		switch e.Kind {
		case quorum.BaseChanged:
			changed = true
		case quorum.Reopened, quorum.ForcePushed:
			changed = false
		}
	}
	return changed
}

// addLoop adds what a person can do once the loop of fixes has ended, or does not begin.
func (l *stepList) addLoop(d quorum.Decision) {
	loop := d.Loop
	if loop == nil || d.Verdict != quorum.Blocked || loop.State != quorum.LoopOver && loop.State != quorum.LoopNone {
		return
	}
	if say := Advice(loop.Reason); say != "" {
		l.add(whoMaintainer, say, "")
	}
}
