package report

// What answers a person who asks why the check reads as it does.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxExplanation leaves room in a comment, which GitHub takes up to 65,536 characters.
const maxExplanation = 60_000

// FillReplies returns replies with the words of those that explain the check: what it says, without the record.
func FillReplies(replies []quorum.Reply, c Check) []quorum.Reply {
	replies = slices.Clone(replies)
	for i := range replies {
		if replies[i].Explain {
			replies[i].Body = explanationOf(c)
		}
	}
	return replies
}

func explanationOf(c Check) string {
	state := c.Conclusion
	if state == "" {
		state = c.Status
	}
	return "**" + c.Name + "** (" + state + ", " + shortSHA(c.Head) + "): " + c.Title + "\n\n" + cutBytes(c.Summary, maxExplanation) + "\n"
}
