package evidence

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// BenchmarkJudge judges a pull request whose author pushes texts and cancelled runs: each text is read once, whatever
// the number of runs to which it may belong.
func BenchmarkJudge(b *testing.B) {
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, cancelled := range []int{0, 30, 300} {
		s := quorum.Snapshot{File: quorum.PolicyFile{State: quorum.FileValid}, Arrived: start}
		s.PR = quorum.PullRequest{Head: strings.Repeat("a", 40), BaseRef: "main", Created: start}
		body := "## Owl\n\n" + strings.Repeat("Some words about `cart.go:12`.\n", 250)
		for i := range 30 {
			s.Comments = append(
				s.Comments,
				quorum.Text{
					TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: int64(i + 1)},
					Author:  quorum.Account{Login: quorum.ActionsBot, Bot: true},
					Body:    body,
					At:      start.Add(time.Minute),
				},
			)
		}
		for i := range cancelled + 1 {
			run := quorum.Run{
				ID: int64(i + 1), Number: i + 1, Path: ".github/workflows/owl.yml", Event: "pull_request", Head: s.PR.Head, Attempt: 1,
				Status: "completed", Conclusion: "cancelled",
				Created: start, Started: start, Updated: start.Add(2 * time.Minute),
				Jobs: []quorum.Job{{ID: int64(1000 + i), Conclusion: "cancelled"}},
			}
			if i == 0 {
				run.Conclusion, run.Jobs[0].Conclusion = "success", "success"
			}
			s.Runs = append(s.Runs, run)
		}
		p := quorum.Policy{Need: 1, Deadline: time.Hour, Retry: quorum.Retry{Max: 1}, Reviewers: []quorum.Reviewer{{
			Name: "owl", Workflow: ".github/workflows/owl.yml", Events: []string{"pull_request"},
			Author: quorum.ActionsBot, Heading: "## Owl", Verdict: quorum.Format{Kind: quorum.Auto}, Timeout: 10 * time.Minute,
		}}}
		b.Run(fmt.Sprint(cancelled, "-cancelled-runs"), func(b *testing.B) {
			for b.Loop() {
				Judge(p, s)
			}
		})
	}
}

// BenchmarkOrdinary reads an approving review of the usual length: the daemon reads some of them at each look.
func BenchmarkOrdinary(b *testing.B) {
	coderabbit, _ := review.Preset("coderabbit")
	owl := quorum.Reviewer{Name: "owl", Heading: "## Owl Review", Verdict: quorum.Format{Kind: quorum.Auto}}
	for what, r := range map[string]quorum.Reviewer{"auto": owl, "coderabbit": coderabbit} {
		b.Run(what+"/read", func(b *testing.B) {
			for b.Loop() {
				review.Read(r, review.Material{Kind: review.Comment, Body: ordinary})
			}
		})
		b.Run(what+"/bind", func(b *testing.B) {
			for b.Loop() {
				review.ReadLines(ordinary).HasHeading(owl.Heading)
				review.ReadLines(ordinary).NamedCommit(r)
			}
		})
	}
}

const ordinary = "## Owl Review\n\nReviewed commit: `1a2b3c4d5e6f`\n\n" + `### Summary

This pull request moves the totals of the cart into a type of their own and adds a cache in front of the price list.
I read all 14 changed files, and ran the tests of ` + "`pkg/cart` and `pkg/price`" + `. The new code follows the
conventions of the package around it, and each of its branches has a test.

### What I checked

- **Rounding:** ` + "`Total.Add`" + ` keeps cents as integers, so nothing is lost when many small amounts are added.
- **Concurrency:** the cache holds its lock only while it reads or writes the map, never while it asks the server.
- **Errors:** a price that cannot be fetched is reported to the caller with the name of the article.
- **Limits:** the retry loop in ` + "`fetch.go`" + ` waits for the time that the server names, at most 30 seconds.
- **Tests:** the table in ` + "`total_test.go`" + ` covers negative amounts, overflow, and currencies without cents.

| File | Change | Risk |
|------|--------|------|
| pkg/cart/total.go | new type for totals | none |
| pkg/price/cache.go | cache with a lock | none |
| pkg/price/fetch.go | waits between attempts | none |
| docs/prices.md | describes the cache | none |

### Strengths

1. The change is small for what it does, and the commit messages say why.
2. The old function stays as a wrapper, so no caller has to change at once.
3. The documentation was updated together with the code.

<details>
<summary>Files that were read</summary>

pkg/cart/total.go, pkg/cart/total_test.go, pkg/cart/cart.go, pkg/price/cache.go, pkg/price/cache_test.go

` + "```go\nfunc (t Total) Add(other Total) Total {\n\treturn Total{cents: t.cents + other.cents}\n}\n```" + `

</details>

### Assessment

Everything that the description promises is there, and I found nothing that stands in the way.

**Ready to merge?** Yes

**Reasoning:** the arithmetic is exact, the lock is held for a short time only, and the tests would notice a regression.
`
