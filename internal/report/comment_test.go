package report

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The check's name holds the name of a branch, which a contributor chooses: the comment mentions and links nobody by
// it.
func TestCommentQuotesTheChecksName(t *testing.T) {
	for _, when := range []quorum.CommentWhen{quorum.CommentNever, quorum.CommentOnProblem} {
		c, told := CommentOf(quorum.Policy{Comment: when}, quorum.Decision{Verdict: quorum.Passed}, Check{Name: "Review quorum (→ @acme/all)"})
		if body := c.Body(""); !told || !strings.Contains(body, "`Review quorum (→ @\u2060acme/all)`") {
			t.Errorf("%d: %t, %q", when, told, body)
		}
	}
}
