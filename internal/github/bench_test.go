package github_test

// How many requests a look costs: GitHub allows a job a thousand an hour for the whole repository.

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// clock is time that moves when a test says so.
type clock struct{ at time.Time }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

// underWay is a pull request whose two workflows have begun, after look said so.
func underWay(t testing.TB) (w *world, c *clock, openai, gemini int64) {
	c = &clock{at: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}
	w = newWorld(t, func(s *setup) { s.now = c.now })
	openai, gemini = w.start(openaiFile), w.start(geminiFile)
	c.pass(5 * time.Second)
	return w, c, openai, gemini
}

// settled is the look after a write of ours, which is news in the list of checks and nowhere else.
func (w *world) settled() {
	w.t.Helper()
	w.g.ForgetRequests()
	w.look()
	if n := w.asked(); n.fresh > 1 || n.graphql+n.writes > 0 {
		w.t.Errorf("the look after our own write cost %+v:\n%s", n, w.requests())
	}
	w.g.ForgetRequests()
}

func TestRequests(t *testing.T) {
	w, c, openai, gemini := underWay(t)
	look := func(what string, ok func(n asked) bool) {
		t.Helper()
		w.g.ForgetRequests()
		w.look()
		if n := w.asked(); !ok(n) {
			t.Errorf("%s cost %+v:\n%s", what, n, w.requests())
		}
		c.pass(15 * time.Second)
	}
	nothing := func(n asked) bool { return n.all <= 8 && n.fresh == 0 }

	look("the first sight", func(n asked) bool { return n.all <= 11 && n.graphql == 1 && n.writes == 1 })
	w.settled()
	for range 3 {
		look("a look with nothing new", nothing)
	}
	w.comment(actionsBot, openaiYes) // changes the pull request, wherever it is listed, and the list of comments
	// and, as the first word that approves, asks for the other pull requests of the branch
	look("a comment", func(n asked) bool { return n.graphql == 1 && n.writes <= 1 && n.fresh-n.graphql-n.writes == 4 })
	w.settled()
	w.finish(openai, sandbox.Finish{}) // changes the list of runs and the list of checks
	look("an end", func(n asked) bool { return n.graphql == 1 && n.writes == 1 && n.fresh-n.graphql-n.writes == 2 })
	w.settled()
	look("a look with nothing new", nothing)

	w.comment(actionsBot, geminiYes)
	w.finish(gemini, sandbox.Finish{})
	look("the last answer", func(n asked) bool { return n.graphql == 1 && n.writes == 1 && n.fresh-n.graphql-n.writes == 5 })
	w.reads("in_progress", "2 of 2 approvals")
	w.settled()

	wake := w.last.Decision.Wake
	c.at = wake.Add(-time.Second)
	look("the look before the wake", nothing)
	c.at = wake
	look(
		"the wake",
		func(n asked) bool { return n.graphql == 1 && n.writes == 1 && n.fresh == 3 },
	) // a pass is looked at once more, and our own write has changed the list of checks
	w.reads("success", "2 of 2 approvals")
	w.settled()
	look("a look at a pass", nothing)
	c.pass(24 * time.Hour)
	look("a look at an old pass", nothing)
}

// A run that left nothing is looked into: one request more, and a second look at lists that are not new.
func TestRequestsOfARunThatLeftNothing(t *testing.T) {
	w, c, openai, _ := underWay(t)
	c.pass(time.Minute)
	w.finish(openai, sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable\n"})
	c.pass(time.Second)
	w.look()
	if n := w.asked(); n.fresh > 13 { // 11, the log, and the place to which GitHub sends us for it
		t.Errorf("the first sight cost %+v:\n%s", n, w.requests())
	}
	w.settled()
	w.look()
	if n := w.asked(); n.fresh != 0 {
		t.Errorf("a look with nothing new cost %+v:\n%s", n, w.requests())
	}
}

func BenchmarkFirstSight(b *testing.B) {
	all := 0
	for b.Loop() {
		w, _, _, _ := underWay(b)
		w.look()
		all += w.asked().all
	}
	b.ReportMetric(float64(all)/float64(b.N), "requests/op")
}

// BenchmarkFirstSightOfAnEvent is the daemon's first look at a pull request.
func BenchmarkFirstSightOfAnEvent(b *testing.B) {
	var n asked
	for b.Loop() {
		b.StopTimer()
		w, _, _, _ := underWay(b)
		b.StartTimer()
		w.forge.Expect(w.pr, sandbox.SHA("a1"))
		w.look()
		n.all += w.asked().all
	}
	b.ReportMetric(float64(n.all)/float64(b.N), "requests/op")
}

// BenchmarkComment is the daemon's look at a comment on a pull request that it knows.
func BenchmarkComment(b *testing.B) {
	var n asked
	for b.Loop() {
		b.StopTimer()
		w, c, _, _ := underWay(b)
		w.look()
		w.settled()
		c.pass(15 * time.Second)
		w.comment(actionsBot, openaiYes)
		b.StartTimer()
		w.forge.Expect(w.pr, sandbox.SHA("a1"))
		w.look()
		one := w.asked()
		n.all, n.fresh = n.all+one.all, n.fresh+one.fresh
	}
	b.ReportMetric(float64(n.all)/float64(b.N), "requests/op")
	b.ReportMetric(float64(n.fresh)/float64(b.N), "not-304/op")
}

func BenchmarkLaterLook(b *testing.B) {
	var n asked
	for b.Loop() {
		b.StopTimer() // a client is paced: each look has one of its own
		w, c, _, _ := underWay(b)
		w.look()
		w.settled()
		c.pass(15 * time.Second)
		b.StartTimer()
		w.look()
		one := w.asked()
		n.all, n.fresh = n.all+one.all, n.fresh+one.fresh
	}
	b.ReportMetric(float64(n.all)/float64(b.N), "requests/op")
	b.ReportMetric(float64(n.fresh)/float64(b.N), "not-304/op")
}
