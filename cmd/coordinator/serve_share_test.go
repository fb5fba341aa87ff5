//go:build !action

package main

// What one pull request may use of GitHub's hour, and what is kept of it for taking a green check away.

import (
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// Somebody force-pushes to a pull request, again and again. That uses a tenth of GitHub's hour, its check says so, and what
// happens elsewhere is looked at within moments.
func TestOnePullRequestUsesATenthOfAnHour(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(loadPolicy)
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		for number := 1; number <= 2; number++ {
			g.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprint("begin ", number), Author: "mallory"})
		}
		<-time.After(10 * time.Minute)
		began := time.Now()
		for n := range 400 {
			mustHappen(t, g.Push(1, fmt.Sprint("pushed ", n), sandbox.PushSpec{Force: true}))
			<-time.After(9 * time.Second)
		}
		u := hub.Usage(77, began, time.Time{})
		used := u.Requests - u.NotModified
		t.Logf("400 pushes: %d requests that are not 304 (queries: %d)", used, u.GraphQL)
		if used < 200 || used > 500 {
			t.Errorf("%d requests of an hour's 5,000", used)
		}
		<-time.After(20 * time.Minute)
		own := g.OwnCheckRuns(g.Head(1))
		if len(own) != 1 || !strings.Contains(own[0].Summary, "it has used its part of what GitHub allows in an hour") {
			t.Errorf("the newest head's check: %+v", own)
		}
		mustHappen(t, g.Push(2, "elsewhere", sandbox.PushSpec{}))
		<-time.After(2 * time.Second)
		if own := g.OwnCheckRuns(g.Head(2)); len(own) != 1 || strings.Contains(own[0].Summary, "used its part") {
			t.Errorf("elsewhere: %+v", own)
		}
		<-time.After(3 * time.Hour)
		mustHappen(t, g.Push(1, "calm again", sandbox.PushSpec{}))
		<-time.After(2 * time.Second)
		if own := g.OwnCheckRuns(g.Head(1)); len(own) != 1 || strings.Contains(own[0].Summary, "used its part") {
			t.Errorf("hours later: %+v", own)
		}
	})
}

// Whoever makes much happen on a green pull request puts off an objection to it by two minutes at most, even after most of an
// hour of it.
func TestAFloodHidesNoObjection(t *testing.T) {
	t.Parallel()
	approve := func(g *sandbox.GitHub, _ int) error {
		_, err := g.Comment(1, "github-actions[bot]", "## openai\n\nRead.\n\n**Ready to merge?** Yes")
		return err
	}
	label := func(g *sandbox.GitHub, n int) error {
		if n%2 > 0 {
			return g.RemoveLabel(1, "again", "mallory")
		}
		return g.AddLabel(1, "again", "mallory")
	}
	t.Run("approvals", func(t *testing.T) { floodWith(t, approve, 2*time.Minute+5*time.Second) })
	t.Run("labels", func(t *testing.T) { floodWith(t, label, 5*time.Second) })
}

var floodOf = flag.Int("flood", 250, "events of the floods of one pull request, one in three seconds")

// floodWith makes something happen a thousand times in most of an hour, and wants an objection to be seen within a time.
func floodWith(t *testing.T, happen func(g *sandbox.GitHub, n int) error, within time.Duration) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(loadPolicy)
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		g.OpenPull(sandbox.PullSpec{Number: 1, Head: "begin", Author: "mallory"})
		o := &organisation{underLoad: &underLoad{t: t}}
		reviewed := loadPull{g: g, number: 1}
		for n, run := range o.startReviews(reviewed) {
			mustHappen(t, o.review(reviewed, n, run, time.Second, nil))
		}
		began := time.Now()
		for n := range *floodOf {
			mustHappen(t, happen(g, n))
			<-time.After(3 * time.Second)
		}
		u := hub.Usage(77, began, time.Time{})
		t.Logf("%d events in %s: %d requests that are not 304", *floodOf, time.Since(began), u.Requests-u.NotModified)
		if used := u.Requests - u.NotModified; used > 500 {
			t.Errorf("%d requests of an hour's 5,000", used)
		}
		if is := groupReads(t, g, "begin"); is != "success 3 of 3 approvals" {
			t.Fatalf("before, the check reads %q", is)
		}
		_, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "openai", PR: 1, Jobs: []string{"review"}})
		mustHappen(t, err)
		_, err = g.Comment(1, "github-actions[bot]", "## openai\n\n**Ready to merge?** No")
		mustHappen(t, err)
		<-time.After(within)
		if is := groupReads(t, g, "begin"); !strings.HasPrefix(is, "failure ") {
			t.Errorf("after %s the check reads %q", within, is)
		}
	})
}

// The end of an hour's requests is kept for what others need, and a part of it for objections to what is green.
func TestASpentHourStillTakesGreenAway(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		g := l.repos[0]
		for number := 1; number <= 2; number++ {
			g.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprint("begin ", number), Author: "alice"})
		}
		for _, who := range loadReviewers {
			run, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + who + ".yml", Name: who, PR: 1, Jobs: []string{"review"}})
			mustHappen(t, err)
			_, err = g.Comment(1, "github-actions[bot]", "## "+who+"\n\nRead.\n\n**Ready to merge?** Yes")
			mustHappen(t, err)
			_, err = g.FinishRun(run, sandbox.Finish{})
			mustHappen(t, err)
		}
		l.after(20 * time.Minute)
		began := time.Now()
		l.github.mu.Lock()
		l.github.alter = func(_ *http.Request, resp *http.Response) {
			if time.Since(began) < 20*time.Minute && resp.Header.Get("X-RateLimit-Resource") == "core" {
				resp.Header.Set("X-RateLimit-Remaining", "400") // of 5,000: a twentieth is left to others, and one kept
			}
		}
		l.github.mu.Unlock()
		reads := func(number int) string { return groupReads(t, g, "begin "+strconv.Itoa(number)) }
		_, err := g.Comment(1, "github-actions[bot]", "## openai\n\n**Ready to merge?** Yes, still") // GitHub tells what is left
		mustHappen(t, err)
		l.after(10 * time.Second)
		if is := reads(1); is != "success 3 of 3 approvals" {
			t.Fatalf("before, the check reads %q", is)
		}
		mustHappen(t, g.Push(2, "pushed", sandbox.PushSpec{}))
		_, err = g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "openai", PR: 1, Jobs: []string{"review"}})
		mustHappen(t, err)
		_, err = g.Comment(1, "github-actions[bot]", "## openai\n\n**Ready to merge?** No")
		mustHappen(t, err)
		l.after(10 * time.Second)
		if is := reads(1); !strings.HasPrefix(is, "failure ") {
			t.Errorf("an objection in a spent hour: the check reads %q", is)
		}
		if own := g.OwnCheckRuns(g.Head(2)); len(own) > 0 {
			t.Errorf("in a spent hour what is not green was looked at: %+v", own)
		}
		h, err := l.server.daemon.View().Health(t.Context(), time.Now())
		if mustHappen(t, err); h.HeldUntil().Sub(began) < 30*time.Minute {
			t.Errorf("the page says that it waits until %s, and it is %s", h.HeldUntil(), time.Now())
		}
		l.after(41 * time.Minute)
		if own := g.OwnCheckRuns(g.Head(2)); len(own) != 1 {
			t.Errorf("in the next hour: %+v", own)
		}
	})
}

// What has waited for the end of one spent hour, and finds the next one spent before its turn, comes first in the one after.
func TestWhatWaitedThroughASpentHourComesFirst(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		g, born := l.repos[0], time.Now()
		const many = 110
		for number := 1; number <= many; number++ {
			g.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprint("begin ", number), Author: "alice"})
		}
		l.after(30 * time.Minute)
		l.github.mu.Lock()
		l.github.alter = func(_ *http.Request, resp *http.Response) {
			in := time.Since(born)
			isSpent := in < time.Hour || in > 62*time.Minute && in < 2*time.Hour
			if isSpent && resp.Header.Get("X-RateLimit-Resource") == "core" {
				resp.Header.Set("X-RateLimit-Remaining", "400")
			}
		}
		l.github.mu.Unlock()
		for number := 1; number <= many; number++ {
			mustHappen(t, g.Push(number, fmt.Sprint("pushed ", number), sandbox.PushSpec{}))
		}
		seen := func() (n int) {
			for number := 1; number <= many; number++ {
				if len(g.OwnCheckRuns(g.Head(number))) > 0 {
					n++
				}
			}
			return n
		}
		l.after(time.Until(born.Add(2 * time.Hour)))
		if n := seen(); n == 0 || n == many {
			t.Errorf("in the second hour, which was soon spent, %d were looked at", n)
		}
		l.after(2 * time.Minute)
		if n := seen(); n < many {
			t.Errorf("at the begin of the third hour %d of %d were looked at", n, many)
		}
	})
}

// A spentShop is a shop in an hour of which little is left, with a pull request that all reviewers have approved.
type spentShop struct {
	*underLoad
	g       *sandbox.GitHub
	refused atomic.Int32 // answers about reviews that fail next
}

// inSpentHour lets something happen in a spent hour, and wants the green check to be gone a minute later.
func inSpentHour(t *testing.T, happen func(s *spentShop)) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		s := &spentShop{underLoad: l, g: l.repos[0]}
		s.g.Protect("main")
		s.g.OpenPull(sandbox.PullSpec{Number: 1, Head: "begin", Author: "alice"})
		for _, who := range loadReviewers {
			s.says(who, "Yes", sandbox.Finish{})
		}
		l.after(20 * time.Minute)
		began := time.Now()
		l.github.mu.Lock()
		l.github.alter = func(r *http.Request, resp *http.Response) {
			if time.Since(began) < 35*time.Minute && resp.Header.Get("X-RateLimit-Resource") == "core" {
				resp.Header.Set("X-RateLimit-Remaining", "400")
			}
			if strings.HasSuffix(r.URL.Path, "/pulls/1/reviews") && s.refused.Add(-1) >= 0 {
				resp.StatusCode = http.StatusNotFound
			}
		}
		l.github.mu.Unlock()
		_, err := s.g.Comment(1, "github-actions[bot]", "## openai\n\n**Ready to merge?** Yes, still")
		mustHappen(t, err)
		l.after(10 * time.Second)
		if is := groupReads(t, s.g, "begin"); is != "success 3 of 3 approvals" {
			t.Fatalf("before, the check reads %q", is)
		}
		happen(s)
		l.after(time.Minute)
		if is := groupReads(t, s.g, "begin"); strings.HasPrefix(is, "success") {
			t.Errorf("a minute later the check reads %q", is)
		}
	})
}

// says lets a reviewer run and say whether to merge; without an end it runs on.
func (s *spentShop) says(who, word string, end ...sandbox.Finish) {
	run, err := s.g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + who + ".yml", Name: who, PR: 1, Jobs: []string{"review"}})
	mustHappen(s.t, err)
	_, err = s.g.Comment(1, "github-actions[bot]", "## "+who+"\n\nRead.\n\n**Ready to merge?** "+word)
	mustHappen(s.t, err)
	for _, f := range end {
		_, err = s.g.FinishRun(run, f)
		mustHappen(s.t, err)
	}
}

// In a spent hour nobody can make an objection wait: not who labels just before, nor a fault of the look at it. And a green head
// that another pull request comes with, against another base, is looked at.
func TestASpentHourHidesNoObjection(t *testing.T) {
	t.Run("after a label", func(t *testing.T) {
		inSpentHour(t, func(s *spentShop) {
			mustHappen(t, s.g.AddLabel(1, "again", "alice"))
			s.after(time.Minute)
			s.says("openai", "No")
		})
	})
	t.Run("after a fault", func(t *testing.T) {
		inSpentHour(t, func(s *spentShop) {
			s.refused.Store(2)
			s.says("openai", "No")
		})
	})
	t.Run("on another pull request's head", func(t *testing.T) {
		inSpentHour(t, func(s *spentShop) {
			s.g.Protect("release")
			s.g.OpenPull(sandbox.PullSpec{Number: 3, Head: "begin", Base: "release", Branch: "feature-1", Author: "alice"})
		})
	})
}
