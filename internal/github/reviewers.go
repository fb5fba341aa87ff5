package github

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A reviewerSet are the reviewers whose words count, or until the policy was read those that are expected; nil: not
// known.
type reviewerSet []quorum.Reviewer

// includes reports whether an account is a reviewer's by its id or its name, or not known: others, who write and delete
// all day, must hold nothing up.
func (all reviewerSet) includes(a quorum.Account) bool {
	return a.Login == "" || slices.ContainsFunc(all, func(r quorum.Reviewer) bool {
		return r.AuthorID != 0 && r.AuthorID == a.ID || strings.EqualFold(r.Author, a.Login)
	})
}

// keptBody is as much of a text as may be needed. A stranger's text that is longer than a request for a review says
// nothing that counts, and there may be thousands of them.
func (all reviewerSet) keptBody(author quorum.Account, body string) string {
	if all == nil || all.includes(author) {
		return body
	}
	most := 1 << 10
	for _, r := range all {
		most = max(most, 2*len(r.Request.Comment)) // lines may come back with other ends
	}
	if len(body) <= most {
		return body
	}
	return all.keptCommands(body, most)
}

// keptCommands are the lines of a text that address a reviewer who obeys commands, up to a number of bytes.
func (all reviewerSet) keptCommands(body string, most int) string {
	var kept strings.Builder
	for _, r := range all {
		for _, address := range r.Addresses() {
			if len(r.Obeys) == 0 || !strings.Contains(strings.ToLower(body), address) {
				continue
			}
			for line := range strings.Lines(body) {
				if at := strings.Index(strings.ToLower(line), address); at >= 0 && kept.Len()+len(line)-at <= most {
					kept.WriteString(strings.ToValidUTF8(line[min(at, len(line)):], ""))
				}
			}
		}
	}
	return kept.String()
}

// authorsDigest stands for the accounts that the reviewers have.
func (all reviewerSet) authorsDigest() untrusted.Digest {
	var names strings.Builder
	for _, r := range all {
		fmt.Fprintf(&names, "%s %d\n", strings.ToLower(r.Author), r.AuthorID)
	}
	return sha256.Sum256([]byte(names.String()))
}
