package main

// What a job looks at besides the pull request that it was started for.

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// jobFor is the environment of a job that an event started.
func jobFor(t *testing.T, event, payload string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": path,
	}
}

const repositoryPart = `"repository":{"full_name":"acme/shop","private":false}`

func TestAJobLooksAtWhatElseIsDue(t *testing.T) {
	var later atomic.Int64
	g, run := shopOf(t, sandbox.Options{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}, []string{"One", "Two", "Three"})
	g.OpenPull(sandbox.PullSpec{Number: 4, Head: "head of 4", Draft: true})
	later.Store(int64(time.Minute)) // what is younger than five seconds may not be shown yet
	code, out, said := run(jobFor(t, "pull_request", `{"action":"opened","pull_request":{"number":1},`+repositoryPart+`}`), "run", "--hold", "0s")
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	for n := 1; n <= 4; n++ {
		if own := g.OwnCheckRuns(g.Head(n)); len(own) != 1 {
			t.Errorf("#%d has %d checks", n, len(own))
		}
	}
	wants(t, out, "acme/shop#2 was due, too: success: 1 of 1 approval", "acme/shop#3 was due, too: ")
	// Nothing is due any more: the next job looks at its own, and takes one list.
	later.Store(int64(2 * time.Minute))
	g.ForgetRequests()
	code, out, said = run(jobFor(t, "pull_request", `{"action":"edited","pull_request":{"number":1},`+repositoryPart+`}`), "run", "--hold", "0s")
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	for _, r := range g.Requests() {
		if strings.Contains(r.Path, "/pulls/2") || strings.Contains(r.Path, "/pulls/3") {
			t.Errorf("%s %s, though nothing of it is due", r.Method, r.Path)
		}
	}
	if strings.Contains(out, "was due, too") {
		t.Errorf("it looked at others: %s", out)
	}
}

// GitHub starts no job when a deadline passes: the next job of any pull request settles it.
func TestAJobSettlesAnothersDeadline(t *testing.T) {
	var later atomic.Int64
	g, run := shopOf(t, sandbox.Options{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}, []string{"One", "Two"})
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\nreviewers:\n"+
		"  - {name: moss, author: 'moss[bot]', request: {comment: '@moss review'}, timeout: 10m}\n")
	job := func(n int) string {
		t.Helper()
		payload := fmt.Sprintf(`{"action":"edited","pull_request":{"number":%d},%s}`, n, repositoryPart)
		code, out, said := run(jobFor(t, "pull_request", payload), "run", "--hold", "0s")
		if code != 0 {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
		return out
	}
	job(2)
	if own := g.OwnCheckRuns(g.Head(2)); len(own) != 1 || own[0].Status != "in_progress" {
		t.Fatalf("#2 has the checks %+v", own)
	}
	later.Store(int64(time.Hour))
	g.ForgetRequests()
	wants(t, job(1), "acme/shop#2 was due, too: action_required: Unverified: 0 of 1 approval; moss unavailable")
	if own := g.OwnCheckRuns(g.Head(2)); own[0].Conclusion != "action_required" {
		t.Errorf("#2 is %s %q", own[0].Conclusion, own[0].Title)
	}
	for _, r := range g.Requests() {
		if r.Method == http.MethodPost && strings.Contains(r.Path, "/issues/2/") {
			t.Errorf("%s %s: nobody is to be asked", r.Method, r.Path)
		}
	}
}

// Two jobs may look at the same pull request: neither asks for it.
func TestAJobAsksNobodyForAnother(t *testing.T) {
	g, run := shop(t, []string{"One", "Two"})
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\nreviewers:\n"+
		"  - {name: moss, author: 'moss[bot]', request: {comment: '@moss review', at_start: true}}\n")
	job := func(n int) {
		t.Helper()
		payload := fmt.Sprintf(`{"action":"opened","pull_request":{"number":%d},%s}`, n, repositoryPart)
		if code, out, said := run(jobFor(t, "pull_request", payload), "run", "--hold", "0s"); code != 0 {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
	}
	asked := func(n int) (times int) {
		for _, r := range g.Requests() {
			if r.Method == http.MethodPost && strings.HasSuffix(r.Path, fmt.Sprintf("/issues/%d/comments", n)) {
				times++
			}
		}
		return times
	}
	job(1)
	if asked(1) != 1 || asked(2) != 0 || len(g.OwnCheckRuns(g.Head(2))) != 1 {
		t.Errorf("asked %d times for its own and %d times for the other, which has %d checks", asked(1), asked(2), len(g.OwnCheckRuns(g.Head(2))))
	}
	if text := g.OwnCheckRuns(g.Head(2))[0].Summary; strings.Contains(text, "asked for a review") {
		t.Errorf("the other's check announces what is not done: %s", text)
	}
	before := g.OwnCheckRuns(g.Head(2))[0].Writes
	job(1)
	if after := g.OwnCheckRuns(g.Head(2))[0].Writes; after > before+1 { // stamped as looked at
		t.Errorf("the other's check was written %d times by a job that found nothing new", after-before)
	}
	job(2)
	if asked(2) != 1 {
		t.Errorf("its own job asked %d times", asked(2))
	}
}

// What fails for another pull request fails no job.
func TestAJobSurvivesTheFailuresOfOthers(t *testing.T) {
	g, run := shop(t, []string{"One", "Two"})
	g.AddFault(sandbox.Fault{Kind: sandbox.FaultAnswer, Match: "GET /repos/acme/shop/pulls/2", Status: 403, Body: `{"message":"No"}`})
	code, out, said := run(jobFor(t, "pull_request", `{"action":"opened","pull_request":{"number":1},`+repositoryPart+`}`), "run", "--hold", "0s")
	if code != 0 || len(g.OwnCheckRuns(g.Head(1))) != 1 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	wants(t, out, "acme/shop#2 was due, too: failed: ")
}

// While half of the budget is needed for their own work jobs leave others alone.
func TestAJobLeavesOthersHalfOfTheBudget(t *testing.T) {
	for _, c := range []struct {
		left int
		want int
	}{{600, 1}, {500, 0}} {
		g, _ := shop(t, []string{"One", "Two"})
		run := commandThrough(t, g, func(w http.ResponseWriter) {
			w.Header().Set("X-Ratelimit-Limit", "1000")
			w.Header().Set("X-Ratelimit-Remaining", fmt.Sprint(c.left))
			w.Header().Set("X-Ratelimit-Reset", "4102444800")
			w.Header().Set("X-Ratelimit-Resource", "core")
		})
		code, out, said := run(jobFor(t, "pull_request", `{"action":"opened","pull_request":{"number":1},`+repositoryPart+`}`), "run", "--hold", "0s")
		if code != 0 || len(g.OwnCheckRuns(g.Head(2))) != c.want {
			t.Errorf("%d left: exit %d, %d checks: %s%s", c.left, code, len(g.OwnCheckRuns(g.Head(2))), out, said)
		}
	}
}

// A bell names no pull request of a fork, and no closed one: it is found by its head, and once it is closed by its
// branch.
func TestABellFindsItsPullRequest(t *testing.T) {
	for _, owner := range []string{"acme", "mallory"} {
		for _, event := range []string{"pull_request", "pull_request_review"} {
			g, run := shop(t, nil)
			pull := sandbox.PullSpec{Number: 1, Head: "of 1", Branch: "a b&c"}
			if owner != "acme" {
				pull.Fork = owner
			}
			g.OpenPull(pull)
			g.OpenPull(sandbox.PullSpec{Number: 2, Head: "of 2", Branch: "other"})
			bell := `{"action":"completed","workflow_run":{"id":5,"event":"` + event + `","head_sha":"` + sandbox.SHA("of 1") +
				`","head_branch":"a b&c","head_repository":{"full_name":"` + owner + `/shop"},"path":".github/workflows/bell.yml",` +
				`"conclusion":"skipped","pull_requests":[]},` + repositoryPart + `}`
			ring := func() {
				t.Helper()
				if code, out, said := run(jobFor(t, "workflow_run", bell), "run", "--hold", "0s"); code != 0 {
					t.Fatalf("exit %d: %s%s", code, out, said)
				}
			}
			ring()
			if own := g.OwnCheckRuns(g.Head(1)); len(own) != 1 || own[0].Status != "in_progress" {
				t.Fatalf("%s %s: the pull request has the checks %v", owner, event, own)
			}
			if err := g.Close(1, "alice"); err != nil {
				t.Fatal(err)
			}
			ring()
			if own := g.OwnCheckRuns(g.Head(1)); own[0].Conclusion != "cancelled" {
				t.Errorf("%s %s: once it is closed its check is %s %s", owner, event, own[0].Status, own[0].Conclusion)
			}
		}
	}
}

// GitHub starts it no more in public repositories, by default.
func TestPullRequestTargetInAPublicRepositoryIsWarnedOf(t *testing.T) {
	g, run := shop(t, []string{"One"})
	_ = g
	for private, want := range map[string]int{"false": 1, "true": 0} {
		payload := `{"action":"opened","pull_request":{"number":1},"repository":{"full_name":"acme/shop","private":` + private + `}}`
		code, out, said := run(jobFor(t, "pull_request_target", payload), "run", "--hold", "0s")
		if n := strings.Count(out+said, "examples/bell.yml"); code != 0 || n != want {
			t.Errorf("private %s: exit %d, warned %d times: %s%s", private, code, n, out, said)
		}
	}
}
