package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The language of the check: for each Reason one sentence that says what is so, and one piece of advice where a person
// can do something about it. Both are ours, plain text, and safe anywhere.

// Sentence says what r means, as the part of a sentence that follows a reviewer's name and a colon.
func Sentence(r quorum.Reason) string {
	switch r {
	case quorum.ReasonSilent:
		return "nothing has been seen of it on this commit yet"
	case quorum.ReasonRunning:
		return "its review is under way"
	case quorum.ReasonApproved:
		return "it approves"
	case quorum.ReasonResolved:
		return "every thread of its objection is resolved"
	case quorum.ReasonAccepted:
		return "it approves: all of its findings are below min_severity"
	case quorum.ReasonFindings:
		return "it objects"
	case quorum.ReasonOpenThreads:
		return "it reports nothing new, but a thread of its own is still open"
	case quorum.ReasonStands:
		return "its objection stands: nothing that came after it takes it back"
	case quorum.ReasonLookingAgain:
		return "its objection stands while it looks again"
	case quorum.ReasonDoubt:
		return "at work: what it has said so far seems to object"
	case quorum.ReasonNoAnswer:
		return "no review by its deadline"
	case quorum.ReasonLate:
		return "still at work at its deadline"
	case quorum.ReasonNotReceived:
		return "review not received"
	case quorum.ReasonEmpty:
		return "it ended and left no review"
	case quorum.ReasonAmbiguous:
		return "its answer may be about another commit: two of its runs were under way"
	case quorum.ReasonMalformed:
		return "no clear verdict in its answer"
	case quorum.ReasonContradicts:
		return "no clear verdict in its answer: it says both yes and no"
	case quorum.ReasonTemplate:
		return "no clear verdict in its answer: the template's verdict was not filled in"
	case quorum.ReasonConditional:
		return "no clear verdict in its answer: its yes does not stand alone"
	case quorum.ReasonDrift:
		return "no clear verdict in its answer, nor in its last ones on other pull requests: its format may have changed"
	case quorum.ReasonUncovered:
		return "it approves, and does not say that it read this commit or all files"
	case quorum.ReasonPartial:
		return "it did not see all of the change"
	case quorum.ReasonOverloaded:
		return "its service was overloaded or could not be reached"
	case quorum.ReasonHung:
		return "it found no runner, or did not end in time"
	case quorum.ReasonRateLimit:
		return "it met a rate limit"
	case quorum.ReasonQuota:
		return "its quota is used up: it met a usage limit"
	case quorum.ReasonCredentials:
		return "its credentials were not accepted"
	case quorum.ReasonBilling:
		return "its account has no credit, or met its spending limit"
	case quorum.ReasonBudget:
		return "the budget of its run is used up"
	case quorum.ReasonInvalid:
		return "its request was not valid: configuration, parameters or length"
	case quorum.ReasonModelRefusal:
		return "its model refused to answer"
	case quorum.ReasonFailedTwice:
		return "it failed twice"
	case quorum.ReasonSkipped:
		return "its run was skipped, or ended without a result"
	case quorum.ReasonDeclined:
		return "it declined to review"
	case quorum.ReasonTooLarge:
		return "the change is too large for it"
	case quorum.ReasonNoSecrets:
		return "it has no secrets here: a key is not set, or the pull request comes from a fork or from Dependabot"
	case quorum.ReasonForbidden:
		return "GitHub ran no job of it: does a policy forbid its event?"
	case quorum.ReasonRetired:
		return "its service has ended"
	case quorum.ReasonGuarded:
		return "the pull request changes what can steer its review"
	case quorum.ReasonCancelled:
		return "its run was cancelled and left no verdict"
	case quorum.ReasonApproval:
		return "a maintainer must approve its run"
	case quorum.ReasonRefused:
		return "GitHub refused to run it again"
	case quorum.ReasonPermission:
		return "the coordinator's token may not run it again or ask it"
	case quorum.ReasonTooOld:
		return "GitHub does not run it again: its run is more than 30 days old"
	case quorum.ReasonAttempts:
		return "GitHub does not run it again: its run has had 50 attempts"
	case quorum.ReasonIgnored:
		return "GitHub took the request for its review and did not pass it on: a job's own token cannot ask Copilot"
	case quorum.ReasonDismissed:
		return "its approval was dismissed"
	case quorum.ReasonDeleted:
		return "its approval was deleted"
	case quorum.ReasonEdited:
		return "its approval was edited by somebody else"
	case quorum.ReasonUnknown:
		return "it failed, and nothing says why"
	case quorum.ReasonCommand:
		return "its approval answers a command, and reviews nothing"
	case quorum.ReasonUnnamed:
		return "its answer names no commit, and the pull request had another one before"
	case quorum.ReasonMoved:
		return "its review is of an earlier commit: GitHub moved it onto this one"
	case quorum.ReasonOtherGuards:
		return "the branch below holds other workflows or instructions of reviewers than the trunk, or was pushed to since"
	case quorum.ReasonOldBase:
		return "its approval may have been begun before the base changed"
	case quorum.ReasonSelf:
		return "it opened the pull request, and nobody reviews their own"
	case quorum.ReasonFamily:
		return "an agent of its family may have had a hand in the change"
	case quorum.ReasonOtherPull:
		return "its result may be about another pull request of the same branch or commit"
	case quorum.ReasonOtherLane:
		return "it has no vote in this lane"
	case quorum.ReasonWhen:
		return "it has no vote on a pull request like this one"
	case quorum.ReasonReserve:
		return "the other one of its seat votes"
	case quorum.ReasonStage:
		return "it waits until others approve"
	case quorum.ReasonNotAsked:
		return "not asked"
	case quorum.ReasonCarried:
		return "its approval is carried over from an earlier commit with the same diff"
	case quorum.ReasonOverridden:
		return "a person who may accepted the change over its objection"

	case quorum.ReasonMayNot:
		return "who wrote it may not: the permission to write is missing"
	case quorum.ReasonHadHand:
		return "who wrote it had a hand in the change"
	case quorum.ReasonHandsUnknown:
		return "GitHub does not tell who had a hand in the change"
	case quorum.ReasonNoVouch:
		return "the policy does not let who wrote it vouch for a change of their own"
	case quorum.ReasonNotOwn:
		return "who wrote it had no hand in the change, and can approve it"
	case quorum.ReasonOthersAsked:
		return "the policy asks for other people here"
	case quorum.ReasonIsReviewer:
		return "who wrote it is a reviewer of the policy, and no person besides"
	case quorum.ReasonWordEdited:
		return "the comment was edited before it was heard"
	case quorum.ReasonInReview:
		return "it stands in a review"
	case quorum.ReasonUnclear:
		return "it is no command that is known"
	case quorum.ReasonNoOverride:
		return "the policy lets nobody with this permission accept over an objection"
	case quorum.ReasonNoChange:
		return "it changes nothing: it is so already"
	case quorum.ReasonUsedUp:
		return "no more such words of one person are heard on a commit"
	case quorum.ReasonOtherHead:
		return "it names another commit"
	case quorum.ReasonNothingNamed:
		return "the check had named no objection when it was written, or none that still stands"
	case quorum.ReasonNoReviewer:
		return "the policy names no such reviewer"
	case quorum.ReasonUnderWay:
		return "the review is under way already"
	case quorum.ReasonNoCollaborator:
		return "who is named has no access to the repository"
	case quorum.ReasonLocked:
		return "the conversation is locked"
	case quorum.ReasonNobodyToRerun:
		return "there is nobody to run again: all approve, or have no run and no request that could be repeated"

	case quorum.ReasonTally:
		return "the reviewers' votes decide"
	case quorum.ReasonDraft:
		return "the pull request is a draft"
	case quorum.ReasonClosed:
		return "the pull request is closed"
	case quorum.ReasonOff:
		return "the policy says mode: off"
	case quorum.ReasonNoPolicy:
		return "the default branch has no policy file"
	case quorum.ReasonBroken:
		return "the policy file is broken"
	case quorum.ReasonSiblings:
		return "other open pull requests have the same head commit"
	case quorum.ReasonRequired:
		return "a required reviewer does not approve"
	case quorum.ReasonStandIn:
		return "a person stands in for the approvals that are missing"
	case quorum.ReasonPeople:
		return "it needs an approval by a person"
	case quorum.ReasonTooFew:
		return "fewer reviewers vote on this pull request than must approve"
	case quorum.ReasonLayer:
		return "the check of a layer below it in the stack is not green"
	case quorum.ReasonLayersLost:
		return "its base is not the branch of one open pull request of the stack, or that of one below is not"
	case quorum.ReasonLayersMany:
		return "more than ten layers of the stack are below it"
	case quorum.ReasonGroupLate:
		return "a merge group that is not decided after ten minutes fails, and the queue tries again"
	case quorum.ReasonGroupUnknown:
		return "which pull requests the merge group holds is not known yet"
	case quorum.ReasonNoReview:
		return "no review is needed in its lane"
	case quorum.ReasonLaneBase:
		return "the lane asks less and does not name this base"
	case quorum.ReasonLaneGuard:
		return "the lane asks less, and the pull request changes what is guarded"
	case quorum.ReasonLanePolicy:
		return "the lane asks less, and the pull request changes the policy"
	case quorum.ReasonLaneLinks:
		return "the lane asks less, and it cannot be told which files the guarded ones link to"
	default:
		return cmp.Or(fixSentence(r), "for a reason that this version has no words for")
	}
}

// Advice says what a person can do about r; "" where there is nothing to do but read on or wait. What is to be typed
// stands between backticks.
func Advice(r quorum.Reason) string {
	switch r {
	case quorum.ReasonFindings:
		return "Mend what the findings name and push. Threads that need no change are resolved by a person who had no hand in the change."
	case quorum.ReasonOpenThreads:
		return "Resolve its open threads, or push the change that they ask for."
	case quorum.ReasonStands:
		return "Push the change that it asks for, or let it look again: its own approval ends the objection. A person who had no hand in the change may dismiss a review, or resolve its threads."
	case quorum.ReasonLookingAgain:
		return "Wait for its new answer: its approval ends the objection. So does a push of the change that it asks for, and a person who had no hand in the change, by dismissing a review or resolving its threads."
	case quorum.ReasonNoAnswer:
		return "See whether the reviewer is installed and started by this kind of pull request, or ask it again."
	case quorum.ReasonLate:
		return "Raise its timeout in the policy if it often needs longer; a late answer still counts."
	case quorum.ReasonEmpty:
		return "Look into its log: a green run that leaves no review is not a review."
	case quorum.ReasonAmbiguous:
		return "Let the reviewer name the commit that it reviewed, or give its workflow a concurrency group, and run it again."
	case quorum.ReasonMalformed, quorum.ReasonContradicts, quorum.ReasonConditional:
		return "Check the reviewer's prompt: it must end with exactly one verdict and no condition."
	case quorum.ReasonDrift:
		return "Compare its newest answer with its preset or prompt (`coordinator classify` shows how it is read), and report a format that the coordinator does not know yet. It is not asked again until one of its answers is understood."
	case quorum.ReasonPartial:
		return "Split the pull request, or raise the reviewer's limits, so that it reads all files."
	case quorum.ReasonTemplate:
		return "Check the reviewer's template: its verdict must be replaced by one of its values."
	case quorum.ReasonOverloaded:
		return "Run it again when its service is back."
	case quorum.ReasonHung:
		return "Look for a free runner and for what its run waits for, then run it again."
	case quorum.ReasonRateLimit:
		return "Run it again when the limit is over; if this is frequent, start fewer reviews at once."
	case quorum.ReasonQuota:
		return "Raise the usage limit of its plan, or wait until it is renewed, and run it again."
	case quorum.ReasonCredentials:
		return "Renew the key or token that its workflow uses; another run with the same one would fail again."
	case quorum.ReasonBilling:
		return "Settle the billing of its account; another run before that would fail again."
	case quorum.ReasonBudget:
		return "Raise the budget of its run (turns, tokens or money), or split the change."
	case quorum.ReasonInvalid:
		return "Mend its configuration, or split a change that is too long for it."
	case quorum.ReasonModelRefusal:
		return "Read what it refused; a person should review this change."
	case quorum.ReasonFailedTwice:
		return "Look into its log and mend what fails; set `failure_means` to findings if its failure is a result."
	case quorum.ReasonSkipped:
		return "Check the conditions of its workflow: a run that is skipped reviews nothing."
	case quorum.ReasonDeclined:
		return "Read why it declined; a person can review in its place."
	case quorum.ReasonTooLarge:
		return "Split the pull request, or raise the reviewer's limit."
	case quorum.ReasonNoSecrets:
		return "Set the key that it lacks. For a fork a maintainer can push the same commits to a branch of this repository, or review in its place."
	case quorum.ReasonForbidden:
		return "GitHub blocks pull_request_target in public repositories by default. Start its workflow by another event, or let a policy (Settings, Actions, Policies) allow this one for its file."
	case quorum.ReasonRetired:
		return "Remove it from the policy."
	case quorum.ReasonGuarded:
		return "A person should review this change; the reviewer can be trusted again once it is merged."
	case quorum.ReasonCancelled:
		return "Run it again if nobody meant to stop it."
	case quorum.ReasonApproval:
		return "A maintainer must approve the run on the pull request's page; its clock starts then."
	case quorum.ReasonRefused:
		return "Start it by hand, or push a new commit."
	case quorum.ReasonPermission:
		return "Give the coordinator's job or App the permission that is named, or run the reviewer again by hand."
	case quorum.ReasonTooOld, quorum.ReasonAttempts:
		return "Push a new commit: it starts new runs."
	case quorum.ReasonIgnored:
		return "Request its review by hand, or give the coordinator an App's or a person's token; with one, see whether Copilot may review here."
	case quorum.ReasonDismissed, quorum.ReasonDeleted, quorum.ReasonEdited:
		return "Run the reviewer again by hand if its approval should count."
	case quorum.ReasonUnknown:
		return "Look into its log."
	case quorum.ReasonCommand:
		return "Ask it for a review. A maintainer who had no hand in the change may let it approve."
	case quorum.ReasonUnnamed, quorum.ReasonUncovered:
		return "Let the reviewer name the commit that it reviewed (Reviewed commit: SHA)."
	case quorum.ReasonMoved, quorum.ReasonOldBase:
		return "Ask it to review this commit."
	case quorum.ReasonOtherGuards:
		return "Merge the layer below first, or push this one after it."
	case quorum.ReasonSelf, quorum.ReasonFamily:
		return "Another reviewer or a person must review this pull request."
	case quorum.ReasonOtherPull:
		return "Push a new commit, or have a person approve in its place: what comes then can be no other pull request's."
	case quorum.ReasonOverridden:
		return "Run it again if its word should count after all."

	case quorum.ReasonMayNot:
		return "Somebody with write permission can say it."
	case quorum.ReasonHadHand:
		return "Somebody who neither opened the pull request nor wrote or pushed a commit of it can say it."
	case quorum.ReasonHandsUnknown:
		return "Push the branch anew, or have the reviewer's threads resolved by a person instead."
	case quorum.ReasonNoVouch:
		return "With own_change: stand_in, who has the permission that stand_in names may. Or have somebody else approve."
	case quorum.ReasonNotOwn:
		return "Approve the pull request: an approval counts for more."
	case quorum.ReasonOthersAsked:
		return "Those whom the policy names under people can approve."
	case quorum.ReasonIsReviewer:
		return "Somebody whom the policy does not name as a reviewer can approve."
	case quorum.ReasonWordEdited:
		return "Write a new comment: an edited one may say what its author did not."
	case quorum.ReasonInReview:
		return "Write it as a comment of its own below the pull request: a review is a verdict."
	case quorum.ReasonUnclear:
		return "Write accept with a commit of at least seven digits and a reason, rerun with a reviewer's name or none, or fix off or on. " +
			"Why the check reads as it does, its page and coordinator explain say."
	case quorum.ReasonNoOverride:
		return "Who may accept, `override` in the policy says; without it nobody may. Or have the objection answered."
	case quorum.ReasonUsedUp:
		return "What accepts or switches fixes off is heard all the same; the rest another person can say, or the same one on the next commit."
	case quorum.ReasonOtherHead:
		return "Look at the newest commit, and accept that."
	case quorum.ReasonNothingNamed:
		return "Wait until the check shows the objection, and accept it then."
	case quorum.ReasonNoReviewer:
		return "Write the name as the policy has it."
	case quorum.ReasonUnderWay:
		return "Wait for its end."
	case quorum.ReasonNoCollaborator:
		return "Name people and teams under escalate who have access to the repository."
	case quorum.ReasonLocked:
		return "Unlock the conversation, or do without the comment: the check says the same."
	case quorum.ReasonNobodyToRerun:
		return "Name a reviewer to run again one that approves."

	case quorum.ReasonDraft:
		return "Mark the pull request as ready for review."
	case quorum.ReasonBroken:
		return "Mend the policy file on the default branch; `coordinator config check` shows every mistake."
	case quorum.ReasonSiblings:
		return "Close the pull requests that are not meant, or give each a commit of its own."
	case quorum.ReasonRequired:
		return "The quorum cannot do without a required reviewer: see what keeps it from approving."
	case quorum.ReasonPeople:
		return "A person who had no hand in the change, and may stand in, must approve this commit."
	case quorum.ReasonLayer:
		return "Settle the layer below first: GitHub merges it together with those above."
	case quorum.ReasonLayersLost:
		return "See that the branch of one open pull request is the base of the next, up from the trunk; rebase the stack if one below was merged or closed."
	case quorum.ReasonLayersMany:
		return "Merge the lowest layers first, or begin another stack."
	case quorum.ReasonGroupLate:
		return "Put the pull request into the merge queue when its own check has passed."
	case quorum.ReasonGroupUnknown:
		return "If it stays so, take the pull request out of the merge queue and put it in again."
	case quorum.ReasonTooFew:
		return "Let more reviewers vote on pull requests like this one, or ask for `majority` or `all` instead of a number."

	case quorum.ReasonNotAsked:
		return "It is asked when those for whom it waits have approved."
	case quorum.ReasonReserve, quorum.ReasonStage,
		quorum.ReasonSilent, quorum.ReasonRunning, quorum.ReasonApproved, quorum.ReasonResolved, quorum.ReasonAccepted,
		quorum.ReasonNotReceived, quorum.ReasonTally, quorum.ReasonClosed, quorum.ReasonOff, quorum.ReasonNoPolicy, quorum.ReasonStandIn,
		quorum.ReasonOtherLane, quorum.ReasonWhen, quorum.ReasonCarried, quorum.ReasonNoReview, quorum.ReasonLaneBase,
		quorum.ReasonLaneGuard, quorum.ReasonLanePolicy, quorum.ReasonLaneLinks:
		return ""
	default:
		return fixAdvice(r)
	}
}

// sentenceAbout is [Sentence] of a reviewer of that pull request: what is known of it need not be guessed.
func sentenceAbout(r quorum.Reason, pr quorum.PullRequest) string {
	switch {
	case r != quorum.ReasonNoSecrets:
		return Sentence(r)
	case pr.Fork:
		return "it has no secrets here, because the pull request comes from a fork"
	case pr.Author.Login == dependabot:
		return "it has no secrets here, because Dependabot opened the pull request"
	default:
		return "it has no secrets here: a key is not set"
	}
}

// dependabot opens pull requests whose runs get secrets of their own.
const dependabot = "dependabot[bot]"

// reasonSaid says why a ballot is what it is, with what a stranger said of it.
func reasonSaid(b quorum.Ballot, pr quorum.PullRequest) Phrase {
	switch detail := oneLine(b.Detail); {
	case detail == "":
		return wordsPhrase("%s", sentenceAbout(b.Reason, pr))
	case b.Reason == quorum.ReasonCarried:
		return fillPhrase("its approval is carried over from %s, which has the same diff", quotePhrase(shortSHA(detail)))
	case b.Reason == quorum.ReasonOverridden:
		return fillPhrase("%s accepted the change over its objection", namePhrase(detail))
	case b.Reason == quorum.ReasonFamily:
		return fillPhrase("%s, of its family, had a hand in the change", quotePhrase(detail))
	case b.Reason == quorum.ReasonStage, b.Reason == quorum.ReasonNotAsked:
		return fillPhrase(Sentence(b.Reason)+": %s", namePhrase(detail))
	case b.Reason == quorum.ReasonGuarded:
		return fillPhrase("the pull request changes %s, a file that can steer a review, so a person must look", quotePhrase(detail))
	default:
		return fillPhrase(sentenceAbout(b.Reason, pr)+": %s", quotePhrase(detail))
	}
}

// retrySaid says of a ballot that it is of a second attempt, or waits for one; "" where it is not.
func retrySaid(b quorum.Ballot) string {
	switch {
	case b.Vote == quorum.Pending && !b.Circuit.IsZero():
		return " — " + CircuitSentence(b.Circuit)
	case b.Vote == quorum.Pending && b.Retrying:
		return " — retrying once"
	case b.Vote == quorum.Approve && b.Retried:
		return " (retry succeeded)"
	default:
		return ""
	}
}

// skippedSaid says of a reviewer that it was given up; "" where it was not.
func skippedSaid(b quorum.Ballot) string {
	if !isSkipped(b) {
		return ""
	}
	return fmt.Sprintf("reviewer skipped after %s — manual review recommended (unverified)", countNoun(b.Failed, "failed attempt"))
}

// isSkipped reports whether b is a reviewer that was given up after failed attempts.
func isSkipped(b quorum.Ballot) bool {
	return b.Vote == quorum.Unavailable && b.Failed > 0 && (b.Failed > 1 || b.Spent)
}

// votersWith names the voters with that vote, for plain text.
func votersWith(d quorum.Decision, v quorum.Vote) []string {
	return namesWhere(d, func(b quorum.Ballot) bool { return b.Voter() && b.Vote == v })
}

// namesWhere names the reviewers of some ballots, for plain text.
func namesWhere(d quorum.Decision, is func(b quorum.Ballot) bool) (names []string) {
	for _, b := range d.Ballots {
		if is(b) {
			names = append(names, voterName(b))
		}
	}
	return names
}

// voterName names a voter for plain text, with the seat that a reserve fills and those for whom it waits.
func voterName(b quorum.Ballot) string {
	name := plainLine(b.Reviewer, 60)
	if b.InsteadOf != "" && b.Excused == "" {
		name += " for " + plainLine(b.InsteadOf, 60)
	}
	if b.Reason == quorum.ReasonStage {
		name += " (after " + plainLine(b.Detail, 100) + ")"
	}
	return name
}

// formatTime writes a moment in UTC, with its date if that is not the day on which the cycle started.
func formatTime(t, start time.Time) string {
	t, start = t.UTC(), start.UTC()
	if t.YearDay() == start.YearDay() && t.Year() == start.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("2006-01-02 15:04 UTC")
}

// shortSHA returns a commit's id as people write it.
func shortSHA(sha string) string { return cutBytes(sha, 7) }
