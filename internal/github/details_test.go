package github_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A check leads to the dashboard from the first write on that knows its address; none is written for the address alone.
func TestDetailsLeadToTheDashboard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, asJob)
		leads := func(c *report.Check) { c.DetailsURL = "https://quorum.example.org/pulls/acme/shop/7" }
		w.must(w.publish(check("a1")))
		w.must(w.publish(check("a1", leads)))
		if got := w.g.OwnCheckRuns(sandbox.SHA("a1"))[0].DetailsURL; got == "https://quorum.example.org/pulls/acme/shop/7" {
			t.Error("a check was written for an address alone")
		}
		w.must(w.publish(check("a1", leads, green)))
		if got := w.g.OwnCheckRuns(sandbox.SHA("a1"))[0].DetailsURL; got != "https://quorum.example.org/pulls/acme/shop/7" {
			t.Errorf("the check leads to %q", got)
		}
	})
}
