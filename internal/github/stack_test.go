package github_test

// Layers of stacks: by whose rules they are judged, and what is read of the layers below.

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// stackUp opens pull requests from #8 to the last one, each a layer upon the one before; #7 is the lowest.
func (w *world) stackUp(last int) {
	w.t.Helper()
	for n := 8; n <= last; n++ {
		w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("s%d", n), Base: fmt.Sprintf("feature-%d", n-1)})
		w.must(sandbox.Stack(w.g, n, n-1))
	}
}

// settle has a pull request approved and looked at.
func (w *world) settle(number int) {
	w.t.Helper()
	w.sageSays(number, "APPROVED")
	w.lookNow(number)
}

func (w *world) lookNow(number int) {
	w.t.Helper()
	do[time.Time](w.t)(w.loop.Reconcile(w.t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: number}))
}

// saysOf wants the check of the last look to read so.
func (w *world) saysOf(name, status, title string) {
	w.t.Helper()
	if c := w.last.Check; c.Name != name || strings.TrimSuffix(c.Status+"/"+c.Conclusion, "/") != status || c.Title != title {
		w.t.Errorf("#%d: %s, %s/%s, %q; want %s, %s, %q", w.last.Snapshot.PR.Number, c.Name, c.Status, c.Conclusion, c.Title, name, status, title)
	}
}

const (
	plain   = "Review quorum"
	isGreen = "completed/success"
	isOpen  = "in_progress"
)

func TestALayerIsJudgedOntoTheTrunk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.stackUp(9)
		w.settle(9)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #8 below")
		w.settle(8)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below")
		w.settle(7)
		w.saysOf(plain, isGreen, "1 of 1 approval")
		w.lookNow(8)
		w.saysOf(plain, isGreen, "1 of 1 approval")
		w.lookNow(9)
		w.saysOf(plain, isGreen, "1 of 1 approval")
		w.sageSays(7, "CHANGES_REQUESTED")
		w.lookNow(7)
		w.lookNow(8)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below")
		w.lookNow(9)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #8 below")
	})
}

// Where a policy only reports, our check is neutral whatever it says: its text tells. A person's token writes statuses.
func TestAGreenLayerBelowIsKnown(t *testing.T) {
	reportOnly := func(s *setup) { s.policy = crowdPolicy + "mode: report\n" }
	for name, test := range map[string]struct {
		as     func(*setup)
		passes string
		tail   string
	}{
		"a policy that only reports": {reportOnly, "completed/neutral", " (report only)"},
		"a person's token":           {asCarol, isGreen, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(crowdPolicy), test.as)
				w.stackUp(8)
				w.settle(8)
				w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below"+test.tail)
				w.lookNow(7)
				w.lookNow(8)
				w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below"+test.tail)
				w.settle(7)
				w.lookNow(8)
				w.saysOf(plain, test.passes, "1 of 1 approval"+test.tail)
				w.sageSays(7, "CHANGES_REQUESTED")
				w.lookNow(7)
				w.lookNow(8)
				w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below"+test.tail)
			})
		})
	}
}

// A trunk where nothing is at stake gives no layer the plain name, and a base alone makes no stack.
func TestNoLayerOfAnUngatedTrunk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy), func(s *setup) { s.pull.Base = "playground" })
		w.stackUp(8)
		w.settle(8)
		w.saysOf(plain+" (→ feature-7)", isGreen, "1 of 1 approval")
		w.g.OpenPull(sandbox.PullSpec{Number: 9, Head: "h9", Base: "feature-8"})
		w.settle(9)
		w.saysOf(plain+" (→ feature-8)", isGreen, "1 of 1 approval")
	})
}

// A pull request that becomes a layer after it was looked at has the plain check from then on, and not its old one.
func TestAPullRequestBecomesALayer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "s8", Base: "feature-7"})
		w.settle(8)
		w.saysOf(plain+" (→ feature-7)", isGreen, "1 of 1 approval")
		pass(time.Minute)
		w.must(sandbox.Stack(w.g, 8, 7))
		w.lookNow(8)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for #7 below")
		for _, c := range w.g.OwnCheckRuns(sandbox.SHA("s8")) {
			if strings.Contains(c.Name, "→") && c.Conclusion != "cancelled" {
				t.Errorf("%s is %s", c.Name, c.Conclusion)
			}
		}
	})
}

func TestALayerWhoseStackLeadsNowhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.stackUp(18)
		for n := 7; n <= 17; n++ {
			w.settle(n)
		}
		w.saysOf(plain, isGreen, "1 of 1 approval")
		w.settle(18)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for lower layers: more than 10 are below")
		w.must(w.g.Close(9, "alice"))
		w.lookNow(10)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for the layers below, which cannot all be found")
	})
}

// When the lowest layer merges the next one is onto the trunk: it waits for nobody.
func TestALayerBecomesTheLowest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.stackUp(8)
		w.settle(7)
		w.settle(8)
		w.must(w.g.Merge(7, "bob"))
		pass(time.Minute)
		w.settle(8)
		w.saysOf(plain, isGreen, "1 of 1 approval")
		if s := w.last.Snapshot; s.PR.BaseRef != "main" || s.PR.Stack != (quorum.Stack{}) {
			t.Errorf("onto %s in %v", s.PR.BaseRef, s.PR.Stack)
		}
	})
}

// stackedAs is a server whose pull requests have another stack, in JSON; "": the field is not there.
type stackedAs struct {
	next  http.RoundTripper
	stack string
}

func (s stackedAs) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(req)
	if err != nil || s.stack == "" || !strings.HasSuffix(req.URL.Path, "/pulls/7") {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	said := strings.Replace(string(body), `"state":"open"`, `"stack":`+s.stack+`,"state":"open"`, 1)
	res.Body, res.ContentLength = io.NopCloser(strings.NewReader(said)), int64(len(said))
	res.Header.Set("Content-Length", strconv.Itoa(len(said)))
	return res, err
}

// A server that says something else of stacks, or nothing, has none: the look is as good as before.
func TestServersWithoutStacks(t *testing.T) {
	for name, stack := range map[string]string{
		"null": "null", "nothing": "", "words": `"no"`, "a list": "[]", "an empty object": "{}", "other words": `{"number": "x", "base": 7}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(crowdPolicy), func(s *setup) {
					s.pull.Base = "feature"
					s.wire = func(next http.RoundTripper) http.RoundTripper { return stackedAs{next, stack} }
				})
				w.settle(7)
				w.saysOf(plain+" (→ feature)", isGreen, "1 of 1 approval")
			})
		})
	}
}

// A list that a server refuses leaves the layers below unknown, and the rest of the look as it is.
func TestARefusedListOfLayers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.stackUp(8)
		w.settle(8)
		w.g.AddFault(sandbox.Fault{Match: "GET /repos/*/*/pulls", Status: 422})
		w.lookNow(8)
		w.saysOf(plain, isOpen, "1 of 1 approval; waiting for the layers below, which cannot all be found")
	})
}

// A sweep looks at a layer that is green above one that is not, or waits for one that is green: nothing about it has changed.
func TestASweepFindsAGreenLayerAboveOneThatIsNot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.stackUp(9)
		due := func(want ...github.Due) {
			t.Helper()
			pass(time.Minute)
			open := do[github.Open](t)(w.forge.Open(t.Context(), "acme", "shop"))
			for i := range open.Due {
				open.Due[i].Title = ""
			}
			if diff := cmp.Diff(want, open.Due); diff != "" {
				t.Errorf("other pull requests are due (-want +got):\n%s", diff)
			}
		}
		of := func(number int, why github.Why) github.Due {
			return github.Due{PR: quorum.PR{Owner: "acme", Repo: "shop", Number: number}, Why: why}
		}
		for n := 7; n <= 9; n++ {
			w.sageSays(n, "APPROVED")
			pass(time.Minute)
			w.lookNow(n)
		}
		due()
		w.sageSays(7, "CHANGES_REQUESTED")
		pass(time.Minute)
		w.lookNow(7)
		due(of(8, github.Changed))
		w.lookNow(8)
		due(of(9, github.Changed), of(8, github.Undecided))
		w.lookNow(9)
		due(of(8, github.Undecided), of(9, github.Undecided))
		w.sageSays(7, "APPROVED")
		pass(time.Minute)
		w.lookNow(7)
		due(of(8, github.Changed), of(9, github.Undecided))
	})
}
