package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// conversation is what the coordinator asks for in one query.
const conversation = `query($owner: String!, $name: String!, $number: Int!, $check: String!, $head: GitObjectID!, ` +
	`$threads: String, $comments: String, $reviews: String, $timeline: String) { ` +
	`repository(owner: $owner, name: $name) { ` +
	`object(oid: $head) { ... on Commit { associatedPullRequests(first: 50) { pageInfo { hasNextPage endCursor } nodes { number state headRefOid } } } } ` +
	`pullRequest(number: $number) { headRefOid baseRefName state isDraft ` +
	`reviews(first: 100, after: $reviews) { pageInfo { hasNextPage endCursor } nodes { fullDatabaseId body lastEditedAt editor { ...who } } } ` +
	`reviewThreads(first: 100, after: $threads) { pageInfo { hasNextPage endCursor } nodes { isResolved isOutdated path line originalLine ` +
	`resolvedBy { __typename login databaseId } ` +
	`comments(first: 1) { nodes { fullDatabaseId body createdAt lastEditedAt url author { ...who } editor { ...who } ` +
	`originalCommit { oid } pullRequestReview { fullDatabaseId } } } } } ` +
	`comments(first: 100, after: $comments) { pageInfo { hasNextPage endCursor } nodes { fullDatabaseId body updatedAt lastEditedAt editor { ...who } } } ` +
	`timelineItems(first: 100, after: $timeline, itemTypes: [BASE_REF_CHANGED_EVENT, HEAD_REF_FORCE_PUSHED_EVENT, ` +
	`REOPENED_EVENT, CLOSED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT, ` +
	`READY_FOR_REVIEW_EVENT, CONVERT_TO_DRAFT_EVENT, REVIEW_REQUESTED_EVENT, REVIEW_DISMISSED_EVENT]) { ` +
	`pageInfo { hasNextPage endCursor } nodes { __typename ` +
	`... on BaseRefChangedEvent { createdAt actor { ...who } previousRefName currentRefName } ` +
	`... on AutomaticBaseChangeSucceededEvent { createdAt actor { ...who } oldBase newBase } ` +
	`... on HeadRefForcePushedEvent { createdAt actor { ...who } beforeCommit { oid } afterCommit { oid } } ` +
	`... on ReopenedEvent { createdAt actor { ...who } } ... on ClosedEvent { createdAt actor { ...who } } ` +
	`... on ReadyForReviewEvent { createdAt actor { ...who } } ... on ConvertToDraftEvent { createdAt actor { ...who } } ` +
	`... on ReviewRequestedEvent { createdAt actor { ...who } ` +
	`requestedReviewer { __typename ... on User { login databaseId } ... on Bot { login databaseId } } } ` +
	`... on ReviewDismissedEvent { createdAt actor { ...who } previousReviewState review { fullDatabaseId } } } } ` +
	`commits(last: 20) { nodes { commit { oid checkSuites(first: 30) { nodes { createdAt ` +
	`checkRuns(first: 5, filterBy: {checkName: $check}) { nodes { name status externalId } } } } } } } } } } ` +
	`fragment who on Actor { __typename login ... on User { databaseId } ... on Bot { databaseId } }`

// BenchmarkFirstLook asks what a first look at a pull request asks, of 1,000 pull requests in 50 repositories.
func BenchmarkFirstLook(b *testing.B) {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	h := sandbox.NewHub(sandbox.HubOptions{Now: func() time.Time { return now }, HourlyLimit: 1 << 40})
	type look struct{ repo, head, number string }
	var looks []look
	for r := range 50 {
		repo := fmt.Sprintf("shop-%d", r)
		g := sandbox.New(sandbox.Options{Owner: "acme", Repo: repo, Now: func() time.Time { return now }})
		g.SetFile(".github/review-coordinator.yml", "", "quorum: 1\n")
		h.Add(77, g)
		for n := range 20 {
			head := sandbox.SHA(fmt.Sprint(repo, n))
			number := g.OpenPull(sandbox.PullSpec{Head: head})
			for _, reviewer := range []string{"openai", "gemini", "claude"} {
				id, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + reviewer + ".yml", PR: number})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := g.FinishRun(id, sandbox.Finish{Log: "done"}); err != nil {
					b.Fatal(err)
				}
				if _, err := g.Review(number, sandbox.ReviewSpec{By: reviewer + "[bot]", State: "APPROVED", Body: "fine"}); err != nil {
					b.Fatal(err)
				}
			}
			looks = append(looks, look{repo, head, fmt.Sprint(number)})
		}
	}
	h.TakeDeliveries()
	token := "Bearer " + h.MintToken(77)
	ask := func(method, path, body string, want int) {
		req, err := http.NewRequest(method, "https://api.github.com"+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", token)
		res, err := h.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != want {
			b.Fatal(method, path, res.StatusCode, err)
		}
	}
	requests, began := 0, cpu(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l := looks[i%len(looks)]
		base := "/repos/acme/" + l.repo
		ask("GET", base+"/pulls/"+l.number, "", 200)
		ask("GET", base+"/contents/.github/review-coordinator.yml", "", 200)
		ask("GET", base+"/commits/"+l.head+"/check-suites?per_page=100", "", 200)
		ask("GET", base+"/commits/"+l.head+"/check-runs?filter=all&per_page=100", "", 200)
		ask("GET", base+"/commits/"+l.head+"/statuses?per_page=100", "", 200)
		ask("GET", base+"/actions/runs?head_sha="+l.head+"&per_page=100", "", 200)
		ask("GET", base+"/pulls/"+l.number+"/files?per_page=100", "", 200)
		ask("GET", base+"/pulls/"+l.number+"/reviews?per_page=100", "", 200)
		ask(
			"POST",
			"/graphql",
			fmt.Sprintf(`{"query":%q,"variables":{"owner":"acme","name":%q,"number":%s,"check":"quorum","head":%q}}`, conversation, l.repo, l.number, l.head),
			200,
		)
		ask("POST", base+"/check-runs", `{"name":"quorum","head_sha":"`+l.head+`","status":"in_progress","output":{"title":"1 of 2","summary":"waiting"}}`, 201)
		requests += 10
		if i%1000 == 999 {
			h.TakeDeliveries()
		}
	}
	b.ReportMetric(float64((cpu(b)-began).Microseconds())/float64(requests), "cpu-µs/request")
}

// cpu is what the process has used so far: other processes do not count.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
