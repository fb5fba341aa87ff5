package github_test

// What guarded names link to, and how often it is asked.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const laxPolicy = `version: 1
quorum: 1
lanes:
  - name: docs
    if: {all_paths: ["docs/**"]}
    quorum: none
reviewers:
  - name: openai
    workflow: .github/workflows/openai.yml
    heading: "## OpenAI Review"
`

// The links are read once for each tip of the default branch, through whatever links lie on the way.
func TestLinksAreReadOncePerTip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.policy, s.pull.Files = laxPolicy, []sandbox.ChangedFile{{Path: "docs/a.md"}}
		})
		sandbox.SetLink(w.g, "AGENTS.md", "", "shared/rules.md")
		sandbox.SetLink(w.g, "shared", "", "./docs/house")
		sandbox.SetLink(w.g, "web/CLAUDE.md", "", "/etc/passwd")
		sandbox.SetLink(w.g, "notes.md", "", "docs/a.md")
		asked := func() (n int) {
			for _, r := range w.g.Requests() {
				if strings.Contains(r.Path, "/git/") {
					n++
				}
			}
			w.g.ForgetRequests()
			return n
		}
		p, s := w.observe()
		if want := []string{"shared/rules.md", "docs/house/rules.md"}; !slices.Equal(s.Links, want) {
			t.Errorf("links lead to %q, want %q", s.Links, want)
		}
		if lane := change.PolicyFor(p, s).Lane.Name; lane != "docs" {
			t.Errorf("the lane is %q, want docs", lane)
		}
		if n := asked(); n != 4 {
			t.Errorf("%d requests for a tree and three links, want 4", n)
		}
		w.observe()
		if n := asked(); n != 0 {
			t.Errorf("%d requests for a tip that is known, want none", n)
		}
		sandbox.SetLink(w.g, "GEMINI.md", "", "docs/a.md")
		w.forge.Forget(w.pr)
		if p, s = w.observe(); !slices.Contains(s.Links, "docs/a.md") || change.PolicyFor(p, s).Lane.Name != "" {
			t.Errorf("a new link is not seen: %q", s.Links)
		}
		sandbox.LimitTrees(w.g, 1)
		sandbox.SetLink(w.g, "x.md", "", "y.md")
		w.forge.Forget(w.pr)
		if p, s = w.observe(); s.Links != nil || !s.NoLinks || change.PolicyFor(p, s).Lane.Name != "" {
			t.Errorf("of a tree that is cut short links are known: %q", s.Links)
		}
	})
}

// Of a commit with more authors than GitHub lists nobody knows who made it. What else tells the decision is read all the
// same.
func TestAuthorsThatAreNotAllListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.policy = strings.Replace(laxPolicy, `all_paths: ["docs/**"]`, "authors: [alice]", 1)
		})
		crowd := sandbox.CommitSpec{Author: "alice"}
		for i := range 25 {
			crowd.CoAuthors = append(crowd.CoAuthors, fmt.Sprintf("writer%d", i))
		}
		w.must(w.g.Push(7, "a2", sandbox.PushSpec{Commit: crowd}))
		w.g.SetPermission("bob", "write")
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "bob", State: "APPROVED"}))
		p, s := w.observe()
		if lane := change.PolicyFor(p, s).Lane.Name; s.Commits == nil || lane != "" {
			t.Errorf("the commits are read: %t; the lane is %q, want none", s.Commits != nil, lane)
		}
		if s.Permissions["bob"] == 0 {
			t.Error("what bob may do was not read")
		}
	})
}
