package report

// Who can do what, in the words of the steps.

import "github.com/review-coordinator/coordinator/internal/quorum"

// Who can do something. In a format, %s is the reviewers that it is about.
const (
	whoAuthor     = "You"                             // whoever opened the pull request
	whoBotsKeeper = "Whoever looks after this branch" // in place of an author that is no person
	whoWriter     = "A person with write permission"
	whoMaintainer = "A maintainer"
	whoOperator   = "Whoever runs %s"
	whoUs         = "Whoever runs the coordinator"
	hadNoHand     = " who had no hand in the change"
	hadAHand      = " who had a hand in it"
)

// personWith names those who have at least that permission and had no hand in the change.
func personWith(p quorum.Permission) string {
	switch p {
	case quorum.Maintain:
		return whoMaintainer + " (permission maintain or admin)" + hadNoHand
	case quorum.Admin:
		return "An administrator" + hadNoHand
	default:
		return whoWriter + hadNoHand
	}
}
