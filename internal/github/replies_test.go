package github_test

// How people's commands are answered where GitHub refuses it, or where we end between an answer and its record.

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	reactions   = "POST /repos/*/*/issues/comments/*/reactions"
	newComments = "POST /repos/*/*/issues/*/comments"
	checkWrites = "PATCH /repos/*/*/check-runs/*"
)

// newCommanded makes a world in which gemini objects, the check says so, and carol, who may write, then said something.
func newCommanded(t *testing.T, said string) *world {
	w := newWorld(t, func(s *setup) { s.pull.Author = "alice" })
	w.g.SetPermission("carol", "write")
	run := w.start(geminiFile)
	w.comment(actionsBot, geminiNo)
	w.finish(run, sandbox.Finish{Conclusion: "success"})
	w.look()
	pass(time.Minute)
	w.comment("carol", said)
	return w
}

// tries counts the requests of a method for paths that end so.
func (w *world) tries(method, suffix string) (n int) {
	for _, r := range w.g.Requests() {
		if r.Method == method && strings.HasSuffix(r.Path, suffix) {
			n++
		}
	}
	return n
}

// A thumb that GitHub refuses costs nothing but the thumb: the command is heard, the check is written, and the thumb is
// tried once.
func TestARefusedThumbLosesNothing(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"may not":        {Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`},
		"locked":         {Status: http.StatusForbidden, Body: `{"message":"Unable to create reaction because issue is locked"}`},
		"deleted":        {Status: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"gone":           {Status: http.StatusGone, Body: `{"message":"Issues are disabled for this repo"}`},
		"not understood": {Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed"}`},
	} {
		for _, word := range []string{"rerun", "accept 1234567 it is fine"} {
			t.Run(name+"/"+word, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := newCommanded(t, "/review-coordinator "+word)
					fault.Match, fault.Kind = reactions, sandbox.FaultAnswer
					w.g.AddFault(fault)
					for range 3 {
						w.replica(setup{token: "ghs_x", now: time.Now})
						w.look()
						pass(time.Minute)
					}
					if n := w.tries(http.MethodPost, "/reactions"); n != 1 {
						t.Errorf("a thumb was tried %d times", n)
					}
					if c := w.own(); !strings.Contains(c.Summary+c.Text, "carol") {
						t.Errorf("the check does not say what carol said:\n%s", c.Summary)
					}
					want := 0
					if word == "rerun" {
						want = 1
					}
					if n := len(w.g.Wrote().RerunOrder); n != want {
						t.Errorf("%d runs were run again, want %d", n, want)
					}
				})
			})
		}
	}
}

// A thumb that failed, or whose record did, is given by a later look, and its command is carried out once.
func TestAThumbIsGivenOnce(t *testing.T) {
	for name, breaks := range map[string]func(w *world){
		"an end before the thumb": func(w *world) { w.g.AddFault(sandbox.Fault{Match: reactions, Kind: sandbox.FaultReset}) },
		"a lost answer":           func(w *world) { w.g.AddFault(sandbox.Fault{Match: reactions, Kind: sandbox.FaultLost, Times: 1}) },
		"an end before the record": func(w *world) {
			w.g.AfterRequest(func(r *http.Request, _ int) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/reactions") {
					w.g.AddFault(sandbox.Fault{Match: checkWrites, Kind: sandbox.FaultReset})
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newCommanded(t, "/review-coordinator rerun")
				breaks(w)
				if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
					t.Fatal("nothing broke")
				}
				w.g.ClearFaults()
				w.g.AfterRequest(nil)
				for range 3 {
					w.replica(setup{token: "ghs_x", now: time.Now})
					w.look()
					pass(time.Minute)
				}
				if wrote := w.g.Wrote(); len(wrote.Reactions) != 1 || len(wrote.RerunOrder) != 1 {
					t.Errorf("%d thumbs were left, and %d runs were run again", len(wrote.Reactions), len(wrote.RerunOrder))
				}
			})
		})
	}
}
