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

// explanations counts our comments.
func (w *world) explanations() (n int) {
	for _, body := range w.g.Wrote().Comments {
		if strings.Contains(body, "Review quorum") {
			n++
		}
	}
	return n
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
		for _, word := range []string{"rerun", "accept 1234567 it is fine", "explain"} {
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

// An explanation that was written is not written again by whoever does not know of it: its process ended before the
// record was written, or GitHub's answer was lost.
func TestAnExplanationIsWrittenOnce(t *testing.T) {
	for name, breaks := range map[string]func(w *world){
		"an end before the record": func(w *world) {
			w.g.AfterRequest(func(r *http.Request, status int) {
				isComment := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/issues/7/comments")
				if isComment && status == http.StatusCreated {
					w.g.AddFault(sandbox.Fault{Match: checkWrites, Kind: sandbox.FaultReset})
				}
			})
		},
		"an end between the thumb and the comment": func(w *world) {
			w.g.AddFault(sandbox.Fault{Match: newComments, Kind: sandbox.FaultReset})
		},
		"a lost answer": func(w *world) {
			w.g.AddFault(sandbox.Fault{Match: newComments, Kind: sandbox.FaultLost, Times: 1})
		},
		"a lost answer to the thumb": func(w *world) {
			w.g.AddFault(sandbox.Fault{Match: reactions, Kind: sandbox.FaultLost, Times: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newCommanded(t, "/review-coordinator explain")
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
				if n, thumbs := w.explanations(), w.g.Wrote().Reactions; n != 1 || len(thumbs) != 1 {
					t.Errorf("%d explanations and %d thumbs were left", n, len(thumbs))
				}
			})
		})
	}
}
