package github_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// beforeWrite does something just before the first check run is written.
type beforeWrite struct {
	next http.RoundTripper
	then func()
}

func (b *beforeWrite) RoundTrip(req *http.Request) (*http.Response, error) {
	if then := b.then; then != nil && req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") {
		b.then = nil
		then()
	}
	return b.next.RoundTrip(req)
}

// Two pull requests have one head. Where a look at one of them began before the other's wrote, it writes nothing, so
// that the check does not stand twice; the next look finds the check. So it is where that look began while the other wrote.
func TestSiblingsWriteOneCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.g.OpenPull(sandbox.PullSpec{Number: 8})
		var o github.FleetOptions
		wire := &beforeWrite{next: w.g}
		o.Token, o.Slug, o.Transport = "ghs_x", w.app, wire
		f := do[*github.Fleet](t)(github.NewFleet(o))
		forge := do[*github.Forge](t)(f.Enter(0))
		a, b := w.pr, quorum.PR{Owner: "acme", Repo: "shop", Number: 8}
		observe := func(pr quorum.PR) {
			t.Helper()
			_, _, err := forge.Observe(t.Context(), pr)
			w.must(err)
			pass(time.Second)
		}
		of := func(pr quorum.PR) report.Check {
			return check("a1", func(c *report.Check) { c.ExternalID = report.ExternalID(pr) })
		}
		writes := func() (n int) {
			for _, r := range w.g.Requests() {
				if r.Method != http.MethodGet && r.Path != "/graphql" {
					n++
				}
			}
			return n
		}

		observe(a)
		observe(b)
		wire.then = func() {
			pass(time.Second)
			observe(b)
			if err := forge.Publish(t.Context(), b, of(b)); err == nil {
				t.Error("both write at the same time")
			}
			observe(b)
		}
		w.must(forge.Publish(t.Context(), a, of(a)))
		if wire.then != nil {
			t.Error("nothing was written between")
		}
		err := forge.Publish(t.Context(), b, of(b))
		if err == nil || !strings.Contains(err.Error(), "#7, which has the same head, is written at the same time") || writes() != 1 {
			t.Errorf("%d writes, %v", writes(), err)
		}
		w.must(forge.Publish(t.Context(), a, of(a))) // its own write is nothing in between
		pass(time.Second)
		observe(b)
		w.must(forge.Publish(t.Context(), b, of(b)))
		if w.own(); writes() > 2 {
			t.Errorf("%d writes", writes())
		}

		observe(a)
		other := check("a1", func(c *report.Check) { c.Name = "Another quorum" })
		w.must(forge.Publish(t.Context(), a, other)) // another check is another matter
	})
}
