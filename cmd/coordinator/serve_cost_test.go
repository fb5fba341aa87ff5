//go:build !action

package main

// What a push costs of GitHub's hour: from the push over three reviewers that run, write their verdict and end, to the
// green check, with every event that GitHub sends meanwhile.

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A cycleCost is what was asked of GitHub in a cycle.
type cycleCost struct {
	rest     int // requests over REST that are not answered 304
	queries  int
	points   int // of GraphQL's hour
	all      int // requests
	told     int // deliveries
	requests []string
}

// countCost counts what was asked since the last [sandbox.GitHub.ForgetRequests].
func countCost(g *sandbox.GitHub) (cost cycleCost) {
	all := g.Requests()
	for _, r := range all {
		cost.all++
		cost.requests = append(cost.requests, fmt.Sprintf("%7s %3d %-5s %s", r.At.Sub(all[0].At).Round(time.Second), r.Status, r.Method, r.Path))
		switch {
		case r.NotModified:
		case strings.HasSuffix(r.Path, "/graphql"):
			cost.queries++
			cost.points += r.Points
		default:
			cost.rest++
		}
	}
	return cost
}

// A reviewedPush is a pull request whose reviewers run for a while, write their verdict and end.
type reviewedPush struct {
	*testing.T
	g *sandbox.GitHub
}

func (p reviewedPush) mustHappen(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// wantCheck wants the check to read so within a second.
func (p reviewedPush) wantCheck(want string) {
	p.Helper()
	<-time.After(time.Second)
	if is := groupReads(p.T, p.g, p.g.Head(7)); !strings.HasPrefix(is, want) {
		p.Errorf("the check reads %q, want %q", is, want)
	}
}

// review lets the reviewers run. The check says how many approve as soon as a run has ended.
func (p reviewedPush) review() {
	p.Helper()
	var runs []int64
	for _, who := range loadReviewers {
		<-time.After(3 * time.Second)
		run, err := p.g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + who + ".yml", Name: who, PR: 7, Jobs: []string{"review"}})
		p.mustHappen(err)
		runs = append(runs, run)
	}
	p.wantCheck(" 0 of 3 approvals")
	for i, who := range loadReviewers {
		<-time.After(40 * time.Second)
		_, err := p.g.Comment(7, "github-actions[bot]", "## "+who+"\n\nRead.\n\n**Ready to merge?** Yes")
		p.mustHappen(err)
		<-time.After(5 * time.Second)
		_, err = p.g.FinishRun(runs[i], sandbox.Finish{})
		p.mustHappen(err)
		p.wantCheck([]string{" 1 of 3 approvals", " 2 of 3 approvals", "success 3 of 3 approvals"}[i])
	}
}

func TestTheDaemonsCostOfAPush(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(loadPolicy)
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		p := reviewedPush{t, g}
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice", Files: []sandbox.ChangedFile{{Path: "cart.go"}}})
		p.review()
		<-time.After(160 * time.Second) // and a resync, which is the repository's
		g.ForgetRequests()
		told := len(hub.Deliveries())
		p.mustHappen(g.Push(7, "a2", sandbox.PushSpec{}))
		p.review()
		cost := countCost(g)
		cost.told = len(hub.Deliveries()) - told
		t.Logf("%d deliveries: %d requests over REST that are not 304, %d queries for %d points, %d requests in all",
			cost.told, cost.rest, cost.queries, cost.points, cost.all)
		if cost.rest > 18 || cost.points > 4 || cost.all > 30 {
			t.Errorf("that is more than 18, 4 and 30:\n%s", strings.Join(cost.requests, "\n"))
		}
	})
}

// A look-over knows from the list which head a pull request has, so that all is read at once: what the query tells is not read
// over REST beside it.
func TestALookOverExpectsTheListedHead(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words", Now: time.Now})
		g := sandbox.New(sandbox.Options{Now: time.Now, App: hub.App()})
		g.SetFile(".github/review-coordinator.yml", "", loadPolicy)
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice", Files: []sandbox.ChangedFile{{Path: "cart.go"}}})
		hub.Add(77, g) // no event told of it
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		reviewedPush{t, g}.wantCheck(" 0 of 3 approvals")
		cost := countCost(g)
		if all := strings.Join(cost.requests, "\n"); strings.Contains(all, "/issues/7/comments") || strings.Contains(all, "/pulls?per_page") {
			t.Errorf("what the query tells was read over REST:\n%s", all)
		}
	})
}

// What only shows waits for the next look, but not for long: the check of a reviewer that has begun, and of one whose
// verdict stands while its run does not end.
func TestTheDaemonShowsInTimeWhatDecidesNothing(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(loadPolicy)
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		p := reviewedPush{t, g}
		looks := func(d time.Duration) (queries int) {
			g.ForgetRequests()
			<-time.After(d)
			return countCost(g).queries
		}
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice", Files: []sandbox.ChangedFile{{Path: "cart.go"}}})
		<-time.After(10 * time.Second)
		run, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "openai", PR: 7, Jobs: []string{"review"}})
		p.mustHappen(err)
		if n := looks(100 * time.Second); n > 0 {
			t.Errorf("%d looks at a run that has begun", n)
		}
		if n := looks(20 * time.Second); n == 0 {
			t.Error("two minutes after the last look it is not shown that the run has begun")
		}
		_, err = g.Comment(7, "github-actions[bot]", "## openai\n\nRead.\n\n**Ready to merge?** Yes")
		p.mustHappen(err)
		if n := looks(29 * time.Second); n > 0 {
			t.Errorf("%d looks at words that do not count yet", n)
		}
		if n := looks(2 * time.Second); n == 0 {
			t.Error("half a minute after the words nobody has read them")
		}
		_, err = g.Comment(7, "github-actions[bot]", "## openai\n\n**Ready to merge?** No")
		p.mustHappen(err)
		p.wantCheck("failure ")
		_, err = g.FinishRun(run, sandbox.Finish{})
		p.mustHappen(err)
		g.ForgetRequests()
		_, err = g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "openai", PR: 7, Jobs: []string{"review"}})
		p.mustHappen(err)
		if n := looks(time.Second); n == 0 {
			t.Error("what was decided is not looked at when a run begins")
		}
	})
}
