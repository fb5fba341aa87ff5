package evidence

import "fmt"

// A rejection says why a text does not count, as coordinator explain prints it. docs/troubleshooting.md has a row for each.
type rejection string

const (
	// By the text alone.
	withoutHeading    rejection = "it does not open with the heading"
	reviewOfOther     rejection = "it is a review of another commit"
	reviewMoved       rejection = "it is older than this commit is here: GitHub moved it from another one"
	reviewUnsubmitted rejection = "it is a review that was not submitted"
	onlyReplies       rejection = "it holds nothing but answers in threads"
	noReview          rejection = "it is no review"
	artifactExpired   rejection = "GitHub keeps the artifact no more"

	// By whoever changed it.
	editedByOther   rejection = "it was edited by somebody else"
	editedIntoYes   rejection = "it objected in the same attempt, and any workflow could have edited it"
	reviewDismissed rejection = "it was dismissed"

	// By the commit that it is about.
	beforeBase       rejection = "it is from before the base changed"
	beforeHead       rejection = "it is from before this head arrived and names no commit"
	namesOtherCommit rejection = "it names the commit %s, which is not this head"
	vagueCommit      rejection = "it approves, but it cannot be told whether it names this head"
	ofOldBase        rejection = "it approves, but may have been begun against the base of before"
	answersCommand   rejection = "it approves at somebody's command, and reviews nothing"
	ofOtherPull      rejection = "it approves, but its run may have been started for another pull request of the same branch"
	unnamedCommit    rejection = "it approves, but does not name this commit, and the pull request had another one before"
	anyWorkflows     rejection = "any workflow could have written it, and it does not name this commit"

	// By the attempt of its reviewer.
	noRunKnown      rejection = "no run of %s is known on this head"
	outsideAttempt  rejection = "it was not written during the newest attempt of this head's run"
	duringOtherRun  rejection = "it names no commit, and another run of this workflow for this pull request was under way"
	askedAgainSince rejection = "it holds no verdict, and the reviewer was asked again since"

	// By the policy and the pull request: no text of the reviewer counts.
	conclusionDecides rejection = "its reviewer's verdict is a conclusion, not a text"
	artifactDecides   rejection = "its reviewer's verdict is an artifact, not a text"
	byPullAuthor      rejection = "its reviewer opened the pull request"
	ofFamily          rejection = "%s of its reviewer's family may have had a hand in the change"
	guardedFile       rejection = "the pull request changes %s, which may instruct the reviewer"
	guardUnknown      rejection = "the list of changed files is not complete: one of them may instruct the reviewer"
	layerOfOthers     rejection = "%s, the branch below, may hold other workflows or instructions of reviewers than the trunk"

	// objectionStands follows another rejection.
	objectionStands rejection = "%s; the objection that it held stands"
)

// with fills in the argument of a rejection.
func (r rejection) with(arg string) rejection { return rejection(fmt.Sprintf(string(r), arg)) }
