package evidence

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// BenchmarkJudge judges a pull request whose author pushes texts and cancelled runs: each text is read once, whatever the
// number of runs to which it may belong.
func BenchmarkJudge(b *testing.B) {
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, cancelled := range []int{0, 30, 300} {
		s := quorum.Snapshot{File: quorum.PolicyFile{State: quorum.FileValid}, Arrived: start}
		s.PR = quorum.PullRequest{Head: strings.Repeat("a", 40), BaseRef: "main", Created: start}
		body := "## Owl\n\n" + strings.Repeat("Some words about `cart.go:12`.\n", 250)
		for i := range 30 {
			s.Comments = append(s.Comments, quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: int64(i + 1)}, Author: quorum.Account{Login: Actions, Bot: true}, Body: body, At: start.Add(time.Minute)})
		}
		for i := range cancelled + 1 {
			run := quorum.Run{
				ID: int64(i + 1), Number: i + 1, Path: ".github/workflows/owl.yml", Event: "pull_request", Head: s.PR.Head, Attempt: 1, Status: "completed", Conclusion: "cancelled",
				Created: start, Started: start, Updated: start.Add(2 * time.Minute), Jobs: []quorum.Job{{ID: int64(1000 + i), Status: "completed", Conclusion: "cancelled"}},
			}
			if i == 0 {
				run.Conclusion, run.Jobs[0].Conclusion = "success", "success"
			}
			s.Runs = append(s.Runs, run)
		}
		p := quorum.Policy{Need: 1, Deadline: time.Hour, Retry: quorum.Retry{Max: 1}, Reviewers: []quorum.Reviewer{{
			Name: "owl", Workflow: ".github/workflows/owl.yml", Events: []string{"pull_request"}, Author: Actions, Heading: "## Owl", Verdict: quorum.Format{Kind: quorum.Auto}, Timeout: 10 * time.Minute,
		}}}
		b.Run(fmt.Sprint(cancelled, "-cancelled-runs"), func(b *testing.B) {
			for b.Loop() {
				Judge(p, s)
			}
		})
	}
}
