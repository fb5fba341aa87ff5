package report

import (
	"fmt"
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What the check says of the loop of fixes: how many there were, what is open, and why it goes on or has ended.

// fixSentence says what a reason of the loop of fixes means; "" for any other.
func fixSentence(r quorum.Reason) string {
	switch r {
	case quorum.ReasonFixMax:
		return "max restarts reached"
	case quorum.ReasonFixNoFewer:
		return "no fewer findings are open than before the fix"
	case quorum.ReasonFixNoPush:
		return "the fix run has pushed nothing"
	case quorum.ReasonFixLost:
		return "GitHub was asked for a fix run and shows none"
	case quorum.ReasonFixForbidden:
		return "the coordinator's token may not start the fix workflow"
	case quorum.ReasonFixMissing:
		return "there is no such fix workflow on the default branch"
	case quorum.ReasonFixTrigger:
		return "the fix workflow cannot be started: it has no workflow_dispatch trigger"
	case quorum.ReasonFixInputs:
		return "the fix workflow takes other inputs"
	case quorum.ReasonFixDisabled:
		return "the fix workflow is disabled"
	case quorum.ReasonFixRefused:
		return "GitHub refused to start the fix workflow"
	case quorum.ReasonFixFork:
		return "the branch is a fork's, to which no fix is pushed"
	case quorum.ReasonFixLabel:
		return "the pull request has the label " + quorum.NoFixLabel
	case quorum.ReasonFixOff:
		return "a person has switched fixes off"
	case quorum.ReasonFixReport:
		return "the policy says mode: report"
	case quorum.ReasonFixNoRecord:
		return "a personal token keeps no record of what it started"
	case quorum.ReasonNoFixes:
		return "the policy names no fix workflow"
	default:
		return ""
	}
}

// fixAdvice says what a person can do about a reason of the loop of fixes; "" for any other.
func fixAdvice(r quorum.Reason) string {
	switch r {
	case quorum.ReasonFixMax:
		return "Mend the rest by hand; each person's push starts the reviews anew and costs no fix run."
	case quorum.ReasonFixNoFewer:
		return "Look at the open findings: the fix gets nowhere with them."
	case quorum.ReasonFixNoPush:
		return "Look into the fix run's log: it must push to the pull request's branch, as an App or a person."
	case quorum.ReasonFixLost:
		return "Start the fix workflow by hand, or push."
	case quorum.ReasonFixForbidden:
		return "Give the coordinator's job or App the permission `actions: write`."
	case quorum.ReasonFixMissing:
		return "Put the workflow on the default branch, or mend `fix.workflow` in the policy."
	case quorum.ReasonFixTrigger, quorum.ReasonFixInputs:
		return "Let the workflow start `on: workflow_dispatch` with the inputs `pr`, `head`, `base` and `findings`, and no other that is required."
	case quorum.ReasonFixDisabled:
		return "Enable the workflow under Actions."
	case quorum.ReasonFixRefused:
		return "Start the fix workflow by hand to see what is wrong with it."
	case quorum.ReasonFixLabel:
		return "Remove the label if fixes should be started."
	case quorum.ReasonFixOff:
		return "Comment `/review-coordinator fix on` if fixes should be started."
	case quorum.ReasonNoFixes:
		return "Name a workflow as `fix.workflow` in the policy."
	default: // nothing is to be done about a fork, a report or a personal token
		return ""
	}
}

// loopTitle says how the loop of fixes stands, as the end of a title; "" where nothing is to be said.
func loopTitle(d quorum.Decision) string {
	switch l := d.Loop; {
	case l == nil:
		return ""
	case l.State == quorum.LoopRunning:
		return fmt.Sprintf("; fix %d of %d under way", l.Made, l.Max)
	case l.State == quorum.LoopOver:
		return "; " + Sentence(l.Reason) + "; needs a person"
	default:
		return ""
	}
}

// fixRules say which workflow mends the pull request, and how often it was started.
func fixRules(p quorum.Policy, d quorum.Decision) []Phrase {
	if l := d.Loop; l != nil {
		return []Phrase{fillPhrase(
			"A blocked change is mended by %s, which is started once for each change: %s so far, at most %s.",
			quotePhrase(p.Fix.Workflow), wordsPhrase("%s", countNoun(l.Made, "fix run")), wordsPhrase("%d", l.Max),
		)}
	}
	return nil
}

// loopSaid says what the loop of fixes does next, and what is open.
func (m *pageMaker) loopSaid() (says []Phrase) {
	l, start := m.decision.Loop, m.decision.Start
	if l == nil {
		return nil
	}
	run := linkPhrase(m.decision.PR, wordsPhrase("fix run"), l.URL)
	switch l.State {
	case quorum.LoopWaiting:
		says = append(says, wordsPhrase("A fix run is started when the attempts that object have ended, and at %s at the latest.", formatTime(l.Until, start)))
	case quorum.LoopDue:
		says = append(says, wordsPhrase("A fix run is started."))
	case quorum.LoopRunning:
		says = append(says, fillPhrase("A %s was started at %s. Its push starts the reviews anew; without one by %s a person is needed.",
			run, wordsPhrase("%s", formatTime(l.At, start)), wordsPhrase("%s", formatTime(l.Until, start))))
	case quorum.LoopNone:
		says = append(says, fillPhrase("No fix run is started: %s.", loopReasonSaid(l)))
	case quorum.LoopOver:
		says = append(says, fillPhrase("No more %s is started: %s.", run, loopReasonSaid(l)))
	case quorum.LoopIdle:
		return nil
	}
	return append(says, m.openSaid(l))
}

// loopReasonSaid says why the loop has ended or none is started, with what a stranger said of it.
func loopReasonSaid(l *quorum.Loop) Phrase {
	switch {
	case oneLine(l.Detail) == "":
		return wordsPhrase("%s", Sentence(l.Reason))
	case l.Reason == quorum.ReasonFixOff:
		return fillPhrase("%s has switched fixes off", namePhrase(l.Detail))
	default:
		return fillPhrase(Sentence(l.Reason)+": %s", quotePhrase(l.Detail))
	}
}

// maxOpenSaid is how many open findings are named beside the loop: all of them stand among the findings.
const maxOpenSaid = 8

// openSaid lists what is open, and how it came to be.
func (m *pageMaker) openSaid(l *quorum.Loop) Phrase {
	var names []Phrase
	for _, f := range l.Open {
		name := namePhrase(f.Said[0].Reviewer)
		switch {
		case f.Path != "" && f.Line > 0:
			name = quotePhrase(fmt.Sprintf("%s:%d", clipRunes(oneLine(f.Path), maxQuoteRunes-20), f.Line))
		case f.Path != "":
			name = quotePhrase(f.Path)
		}
		names = append(names, slices.Concat(name, wordsPhrase(" (%s)", findingStateSaid(f.State))))
	}
	count := countNoun(len(l.Open), "finding")
	if l.Before > 0 {
		count += fmt.Sprintf(" (%d before the fix)", l.Before)
	}
	return fillPhrase("Open: %s: %s.", wordsPhrase("%s", count), joinPhrasesBy("and", names, maxOpenSaid))
}

func findingStateSaid(s quorum.FindingState) string {
	switch s {
	case quorum.FindingAgain:
		return "seen before"
	case quorum.FindingByFix:
		return "made by the fix"
	default:
		return "new"
	}
}

// addLoop adds what a person can do once the loop of fixes has ended, or does not begin.
func (m *pageMaker) addLoop(l *stepList) {
	loop := m.decision.Loop
	if loop == nil || m.decision.Verdict != quorum.Blocked || loop.State != quorum.LoopOver && loop.State != quorum.LoopNone {
		return
	}
	if say := Advice(loop.Reason); say != "" {
		l.add(whoMaintainer, say, "")
	}
}
