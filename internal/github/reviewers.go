package github

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A reviewerSet are the reviewers whose words count, or until the policy was read those that are expected; nil: not known.
type reviewerSet []quorum.Reviewer

// includes reports whether login is a reviewer, or not known: others, who write and delete all day, must hold nothing up.
func (all reviewerSet) includes(login string) bool {
	return login == "" || slices.ContainsFunc(all, func(r quorum.Reviewer) bool { return strings.EqualFold(r.Author, login) })
}

// keptBody is as much of a text as may be needed. A stranger's text that is longer than a request for a review says nothing
// that counts, and there may be thousands of them.
func (all reviewerSet) keptBody(login, body string) string {
	if all == nil || all.includes(login) {
		return body
	}
	most := 1 << 10
	for _, r := range all {
		most = max(most, 2*len(r.Request.Comment)) // lines may come back with other ends
	}
	if len(body) <= most {
		return body
	}
	if slices.ContainsFunc(all, func(r quorum.Reviewer) bool { return len(r.Obeys) > 0 }) && strings.Contains(body, "@") {
		return body[:most] // the beginning may be a command
	}
	return ""
}

// authorsDigest stands for the accounts that the reviewers have.
func (all reviewerSet) authorsDigest() untrusted.Digest {
	var names strings.Builder
	for _, r := range all {
		names.WriteString(strings.ToLower(r.Author) + "\n")
	}
	return sha256.Sum256([]byte(names.String()))
}
