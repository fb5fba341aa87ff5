package github_test

// Pull requests that strangers make too long to be read.

import (
	"cmp"
	"flag"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// longestComment is the longest comment that GitHub takes. As JSON each of its bytes takes two.
var longestComment = strings.Repeat(`"`, 262_144)

var floodComments = flag.Int("flood-comments", 20, "number of the longest comments that a stranger leaves")

// Twenty such comments, and twenty such reviews, are each longer than one answer may be: they are read in pages of ten.
func TestLongCommentsOfAStrangerHideNoObjection(t *testing.T) {
	for name, identity := range map[string]func(*setup){"App": func(*setup) {}, "job": asJob, "person": asCarol} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(oneSage), identity)
				w.look()
				w.comment("sage[bot]", plainYes)
				w.look()
				if w.last.Check.Conclusion != "success" {
					t.Fatalf("%s: %s", w.last.Check.Conclusion, w.last.Check.Title)
				}
				pass(time.Minute)
				for range *floodComments {
					w.comment("mallory", longestComment)
				}
				for range 20 {
					do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "mallory", State: "COMMENTED", Body: longestComment}))
				}
				w.comment("sage[bot]", plainNo)
				w.look()
				if w.last.Check.Conclusion != "failure" {
					t.Errorf("%s: %s", w.last.Check.Conclusion, w.last.Check.Title)
				}
				before := w.client.Requests()
				w.look()
				if n := w.client.Requests().Sent - before.Sent; n > 10+(*floodComments+20)/10 { // pages of ten, and what a look asks for
					t.Errorf("another look sends %d requests", n)
				}
			})
		})
	}
}

// A blind wire gives no answer about the comments of pull request 7.
type blind struct {
	next   http.RoundTripper
	answer func() *http.Response // nil: it sees
	path   string                // "": the comments'
}

func (b *blind) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.answer != nil && strings.HasSuffix(r.URL.Path, cmp.Or(b.path, "/issues/7/comments")) {
		return b.answer(), nil
	}
	return b.next.RoundTrip(r)
}

func answerWith(status int, body string, header ...string) func() *http.Response {
	return func() *http.Response {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
		for i := 0; i+1 < len(header); i += 2 {
			resp.Header.Set(header[i], header[i+1])
		}
		return resp
	}
}

func TestWhatCannotBeReadLosesItsGreen(t *testing.T) {
	badGateway := answerWith(http.StatusBadGateway, "Bad gateway")
	tooLong := answerWith(http.StatusOK, "["+strings.Repeat(" ", 40<<20)+"]")
	limited := answerWith(http.StatusForbidden, `{"message": "You have exceeded a secondary rate limit"}`, "Retry-After", "60")
	for name, c := range map[string]struct {
		answer   func() *http.Response
		identity func(*setup)
		others   bool // another pull request is read meanwhile
		sweep    bool
		minutes  int  // looks, one a minute
		green    bool // still, after them
	}{
		"a fault of a few minutes":        {answer: badGateway, others: true, minutes: 5, green: true},
		"a fault that lasts":              {answer: badGateway, others: true, minutes: 7},
		"a fault that lasts, in a sweep":  {answer: badGateway, others: true, sweep: true, minutes: 3},
		"one look of a sweep":             {answer: badGateway, others: true, sweep: true, minutes: 1, green: true},
		"GitHub answers nobody":           {answer: badGateway, minutes: 30, green: true},
		"GitHub takes no requests":        {answer: limited, others: true, minutes: 30, green: true},
		"an answer too long, whatever":    {answer: tooLong, minutes: 1},
		"an answer too long, for a job":   {answer: tooLong, identity: asJob, minutes: 1},
		"a fault that lasts, for a job":   {answer: badGateway, identity: asJob, others: true, minutes: 7},
		"a fault that lasts, of a person": {answer: badGateway, identity: asCarol, others: true, minutes: 7},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				wire := &blind{}
				w := newWorld(t, under(oneSage), func(s *setup) {
					if c.identity != nil {
						c.identity(s)
					}
					s.wire = func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire }
				})
				w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b8", Branch: "other"})
				w.look()
				w.comment("sage[bot]", plainYes)
				w.look()
				isGreen := func() bool {
					green := slices.ContainsFunc(w.g.OwnCheckRuns(w.g.Head(7)), func(c sandbox.StoredCheckRun) bool { return c.Conclusion == "success" })
					return green || w.statusOn(w.g.Head(7)).State == "success"
				}
				if !isGreen() {
					t.Fatal("it was never green")
				}
				wire.answer, w.loop.Restamp = c.answer, c.sweep
				w.comment("sage[bot]", plainNo)
				for range c.minutes {
					if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
						t.Fatal("it was read")
					}
					pass(time.Minute)
					if c.others {
						_, _, err := w.forge.Observe(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 8})
						w.must(err)
					}
				}
				if isGreen() != c.green {
					t.Errorf("green: %t, want %t", isGreen(), c.green)
				}
				if !c.green && w.client.Personal() == false {
					if now := w.own(); now.Status != "in_progress" || !strings.HasPrefix(now.Title, "Cannot be read since ") {
						t.Errorf("%s %q", now.Status, now.Title)
					}
				}
				wire.answer = nil
				pass(2 * time.Minute)
				w.look()
				if w.last.Decision.Verdict != quorum.Blocked || isGreen() {
					t.Errorf("once it is read: %s", w.last.Check.Title)
				}
			})
		})
	}
}

// What was green before nobody could read it is green again, by the record that was kept.
func TestGreenComesBackWithTheReading(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wire := &blind{}
		w := newWorld(t, under(oneSage), func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire }
		})
		w.look()
		w.comment("sage[bot]", plainYes)
		w.look()
		before, _ := report.ParseRecord(w.own().Text)
		wire.answer = answerWith(http.StatusOK, "["+strings.Repeat(" ", 40<<20)+"]")
		if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
			t.Fatal("it was read")
		}
		kept, _ := report.ParseRecord(w.own().Text)
		if kept.Seq != before.Seq || kept.Pass == nil {
			t.Errorf("the record was lost: %+v", kept)
		}
		if w.own().Status != "in_progress" {
			t.Errorf("it is %s", w.own().Conclusion)
		}
		wire.answer = nil
		w.look()
		w.reads("success", "1 of 1 approval")
	})
}
