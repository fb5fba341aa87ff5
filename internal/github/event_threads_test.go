package github_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// draftLag lets that many of GraphQL's next answers still show the pull request as the draft that it was.
type draftLag struct {
	next http.RoundTripper
	left int
}

func (d *draftLag) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(req)
	if err != nil || req.URL.Path != "/graphql" || d.left == 0 {
		return resp, err
	}
	d.left--
	body, err := io.ReadAll(resp.Body)
	body = bytes.ReplaceAll(body, []byte(`"isDraft":false`), []byte(`"isDraft":true`))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, err
}

// An event makes a look ask for threads at once, however lately they were asked for: a process that lives on events may
// not look again for long. That holds where GraphQL lagged, at the look before or at this one.
func TestAnEventAsksForThreadsAtOnce(t *testing.T) {
	for name, answers := range map[string]struct{ before, now int }{
		"nothing lagged": {}, "the look before saw a lag": {before: 2}, "the first answer lags": {now: 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				lag := &draftLag{}
				w := newWorld(t, under(oneCopilot), func(s *setup) {
					s.wire = func(next http.RoundTripper) http.RoundTripper { lag.next = next; return lag }
				})
				w.look()
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{
					By:       copilotBot,
					Body:     "Copilot reviewed 1 out of 1 changed files in this pull request and generated 1 comment.",
					Comments: []sandbox.LineComment{{Path: "a.go", Line: 3, Body: "It leaks."}},
				}))
				w.look()
				pass(time.Minute)
				w.look()
				pass(time.Minute)
				lag.left = answers.before
				_, _ = w.loop.Reconcile(w.t.Context(), w.pr) // refused where it shows a draft that is none
				w.reads("failure", "")
				lag.left = answers.now
				pass(5 * time.Second)
				w.must(w.g.ResolveThreads(7, copilotBot, "bob"))
				w.forge.Expect(w.pr, w.g.Head(7))
				w.look()
				w.reads("success", "")
				pass(time.Minute)
				lag.left = answers.before
				_, _ = w.loop.Reconcile(w.t.Context(), w.pr)
				w.reads("success", "")
				lag.left = answers.now
				pass(5 * time.Second)
				w.must(w.g.UnresolveThreads(7, copilotBot))
				w.forge.Expect(w.pr, w.g.Head(7))
				w.look()
				w.reads("failure", "")
			})
		})
	}
}

// What REST and GraphQL show differently for good holds up looks of the pull request itself for half a minute, and those
// of another one of its commit no longer.
func TestADisagreementHoldsUpNoSiblingForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		lag := &draftLag{}
		w := newWorld(t, under(oneCopilot), func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper { lag.next = next; return lag }
		})
		w.look()
		lag.left = 1 << 20
		ended := 0
		for range 12 {
			if _, _, err := w.forge.ObserveSibling(t.Context(), w.pr); err == nil {
				ended++
			}
			pass(5 * time.Second)
		}
		if ended == 0 || ended > 6 {
			t.Errorf("%d of 12 looks of a minute ended, want those of its second half", ended)
		}
	})
}
