package report

import "github.com/review-coordinator/coordinator/internal/quorum"

// The sentences and the advice for the reasons of the loop of fixes, as words.go has those for all others.

// fixSentence says what a reason of the loop of fixes means; "" for any other.
func fixSentence(r quorum.Reason) string {
	switch r {
	case quorum.ReasonFixMax:
		return "max restarts reached"
	case quorum.ReasonFixNoFewer:
		return "no fewer findings are open than before the fix"
	case quorum.ReasonFixNoPush:
		return "the fix run has pushed nothing"
	case quorum.ReasonFixSameDiff:
		return "the fix run has pushed the same diff"
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
	case quorum.ReasonFixStranger:
		return "it was opened by somebody who may not write here"
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
	case quorum.ReasonFixSameDiff:
		return "Look at the open findings and into the fix run's log: its push changes nothing of the diff."
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
	case quorum.ReasonFixStranger:
		return "Who may write here can open the pull request anew, or push to it."
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
