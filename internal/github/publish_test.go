package github_test

// What is written, and how often: one check of each name on a head, whatever gets lost on the way.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	creates = "POST /repos/acme/shop/check-runs"
	updates = "PATCH /repos/acme/shop/check-runs/*"
)

// publish publishes, after a look as the loop takes it.
func (w *world) publish(c report.Check) error {
	w.t.Helper()
	w.observe()
	return w.forge.Publish(w.t.Context(), w.pr, c)
}

func TestPublishUpdatesInPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(w.publish(check("a1")))
		w.must(w.publish(check("a1"))) // the same: nothing is written
		if c := w.own(); c.Writes != 1 || c.ExternalID != "review-coordinator acme/shop#7" || c.Name != "Review quorum" {
			t.Errorf("after the first write the check is %+v", c)
		}
		w.must(w.publish(check("a1", func(c *report.Check) { c.Text += " " }))) // GitHub trims
		if c := w.own(); c.Writes != 1 {
			t.Errorf("blanks at the end were written")
		}
		for i, change := range []func(*report.Check){
			func(c *report.Check) { c.Title += "!" }, func(c *report.Check) { c.Summary += "!" }, func(c *report.Check) { c.Text += "!" },
			func(c *report.Check) { c.Status, c.Conclusion = "completed", "failure" },
			func(c *report.Check) { c.Status, c.Conclusion = "completed", "success" },
			func(*report.Check) {}, // back to in_progress
		} {
			w.must(w.publish(check("a1", change)))
			if c := w.own(); c.Writes != 2+i {
				t.Errorf("change %d: %d writes", i, c.Writes)
			}
		}
		if c := w.own(); c.Status != "in_progress" || c.Conclusion != "" {
			t.Errorf("it ends as %s %s", c.Status, c.Conclusion)
		}
		if id, page := w.forge.CheckID(w.pr); id != w.own().ID || page == "" {
			t.Errorf("the check is known as %d %s", id, page)
		}
		w.g.ForgetRequests()
		w.must(w.forge.Publish(t.Context(), w.pr, check("a1")))
		if n := w.asked(); n.all != 0 {
			t.Errorf("an equal check cost %+v", n)
		}
	})
}

// However the answer to a write gets lost, there is one check, and it reads as it must.
func TestPublishWhenAnswersAreLost(t *testing.T) {
	for _, kind := range []sandbox.FaultKind{sandbox.FaultLost, sandbox.FaultTruncate, sandbox.FaultReset, sandbox.FaultGarbage, sandbox.FaultUnsent} {
		for times := 1; times <= 3; times++ {
			t.Run(fmt.Sprintf("%s %d", kind, times), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := newWorld(t)
					w.g.AddFault(sandbox.Fault{Match: creates, Kind: kind, Times: times})
					w.must(w.publish(check("a1")))
					w.own()
					w.g.ClearFaults()
					w.g.AddFault(sandbox.Fault{Match: updates, Kind: kind, Times: times})
					w.must(w.publish(check("a1", func(c *report.Check) { c.Status, c.Conclusion, c.Title = "completed", "success", "2 of 2 approvals" })))
					w.reads("success", "2 of 2 approvals")
				})
			})
		}
	}
}

func TestPublishGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		fault sandbox.Fault
		want  string
		never bool
	}{
		"no such commit": {
			sandbox.Fault{Match: creates, Kind: sandbox.FaultAnswer, Status: 422, Body: `{"message":"No commit found for SHA: x"}`},
			"No commit found", true,
		},
		"gone": {sandbox.Fault{Match: creates, Kind: sandbox.FaultAnswer, Status: 404, Body: `{"message":"Not Found"}`}, "Not Found", true},
		"a permission": {
			sandbox.Fault{
				Match: creates, Kind: sandbox.FaultAnswer, Status: 403,
				Body:   `{"message":"Resource not accessible by integration"}`,
				Header: []string{"X-Accepted-GitHub-Permissions: checks=write"},
			},
			"needs checks=write", false,
		},
		"an outage": {sandbox.Fault{Match: creates, Kind: sandbox.FaultAnswer, Status: 502}, "create check", false},
		"a limit": {
			sandbox.Fault{
				Match: creates, Kind: sandbox.FaultAnswer, Status: 403,
				Body: `{"message":"You have exceeded a secondary rate limit."}`, Header: []string{"Retry-After: 60"},
			},
			"secondary rate limit", false,
		},
		"refused to updates": {
			sandbox.Fault{Match: updates, Kind: sandbox.FaultAnswer, Status: 422, Body: `{"message":"Invalid request."}`},
			"update check", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				if strings.HasPrefix(test.fault.Match, "PATCH") {
					w.must(w.publish(check("a1")))
				}
				w.g.AddFault(test.fault)
				err := w.publish(check("a1", func(c *report.Check) { c.Title = "another" }))
				var never *github.UnpublishableError
				if err == nil || !strings.Contains(err.Error(), test.want) || errors.As(err, &never) != test.never {
					t.Errorf("got %v, want %q, unpublishable: %v", err, test.want, test.never)
				}
				if n := w.g.StruckRequests(); test.fault.Status < 500 && n != 1 {
					t.Errorf("it was tried %d times", n)
				}
			})
		})
	}
}

func TestPublishAnnotations(t *testing.T) {
	done := func(n int) func(*report.Check) {
		return func(c *report.Check) {
			c.Status, c.Conclusion, c.Annotations = "completed", "failure", annotations(n)
		}
	}
	for _, n := range []int{0, 1, 50, 51, 130} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.publish(check("a1", done(n))))
			if c := w.own(); len(c.Annotations) != n || c.Writes != max(1, (n+49)/50) {
				t.Errorf("%d annotations came as %d in %d writes", n, len(c.Annotations), c.Writes)
			}
		})
	}
	// Each of the writes may get lost, or its answer: of a check that is new (-1: its creation, too), and of one that
	// was there.
	for skip := -1; skip < 6; skip++ {
		for _, kind := range []sandbox.FaultKind{sandbox.FaultLost, sandbox.FaultReset, sandbox.FaultTruncate} {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				fault := sandbox.Fault{Match: updates, Kind: kind, Skip: skip % 3, Times: 2}
				switch {
				case skip < 0:
					fault = sandbox.Fault{Match: creates, Kind: kind, Times: 2}
				case skip < 3:
					w.must(w.publish(check("a1")))
				}
				w.g.AddFault(fault)
				w.must(w.publish(check("a1", done(130))))
				seen := map[string]bool{}
				for _, a := range w.own().Annotations {
					seen[a.Message] = true
				}
				if c := w.own(); len(c.Annotations) != 130 || len(seen) != 130 {
					t.Errorf("%s %d: %d annotations, %d different", kind, skip, len(c.Annotations), len(seen))
				}
			})
		}
	}
}

// Several checks of ours with one name are kept equal: which of them counts is GitHub's secret.
func TestPublishKeepsDuplicatesEqual(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var replicas []*world
		for range 3 { // none of which saw the others' check
			other := *w
			other.replica(setup{token: "ghs_x", now: time.Now})
			other.observe()
			replicas = append(replicas, &other)
		}
		for _, other := range replicas {
			w.must(other.forge.Publish(t.Context(), w.pr, check("a1")))
		}
		w.must(w.publish(check("a1", func(c *report.Check) {
			c.Status, c.Conclusion, c.Title, c.Annotations = "completed", "failure", "Changes requested", annotations(2)
		})))
		all, annotated := w.g.OwnCheckRuns("a1"), 0
		if len(all) != 3 {
			t.Fatalf("%d checks", len(all))
		}
		for _, c := range all {
			annotated += len(c.Annotations)
			if c.Conclusion != "failure" || c.Title != "Changes requested" {
				t.Errorf("one reads %s %s", c.Conclusion, c.Title)
			}
		}
		if annotated != 2 {
			t.Errorf("%d annotations, want 2", annotated)
		}
	})
}

func TestPublishOnlyOpen(t *testing.T) {
	ended := func(c *report.Check) {
		c.OnlyOpen, c.Status, c.Conclusion, c.Title = true, "completed", "cancelled", "closed"
	}
	for name, test := range map[string]struct {
		before func(*report.Check) // nil: there is none
		want   string
		writes int
	}{
		"none":                    {nil, "", 0},
		"open":                    {func(*report.Check) {}, "cancelled", 2},
		"completed":               {func(c *report.Check) { c.Status, c.Conclusion = "completed", "success" }, "success", 1},
		"open under another name": {func(c *report.Check) { c.Name = "Old name" }, "cancelled", 2},
		"made for another":        {func(c *report.Check) { c.ExternalID = "review-coordinator acme/shop#8" }, "cancelled", 2}, // which is closed
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				if test.before != nil {
					w.must(w.publish(check("a1", test.before)))
				}
				w.must(w.publish(check("a1", ended)))
				all := w.g.OwnCheckRuns("a1")
				if test.before == nil {
					if len(all) != 0 {
						t.Errorf("a check was written where none was open")
					}
					return
				}
				if len(all) != 1 || all[0].Conclusion != test.want || all[0].Writes != test.writes {
					t.Errorf("%d checks, the first %s after %d writes", len(all), all[0].Conclusion, all[0].Writes)
				}
			})
		})
	}
}

func TestPublishRetires(t *testing.T) {
	plain := report.Retired{Name: "Review quorum", Head: sandbox.SHA("a1"), Title: "now against dev"}
	for name, test := range map[string]struct {
		status, conclusion string
		want               string
	}{
		"open":              {"in_progress", "", "cancelled"},
		"green":             {"completed", "success", "cancelled"},
		"red":               {"completed", "failure", "failure"},
		"already cancelled": {"completed", "cancelled", "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.must(w.publish(check("a1", func(c *report.Check) { c.Status, c.Conclusion = test.status, test.conclusion })))
				for range 2 {
					w.must(w.publish(check("a1", func(c *report.Check) { c.Name, c.Retire = "Review quorum (→ dev)", []report.Retired{plain} })))
				}
				all := w.g.OwnCheckRuns("a1")
				if len(all) != 2 || all[0].Conclusion != test.want || all[1].Status != "in_progress" || all[0].Writes > 2 || all[1].Writes != 1 {
					t.Errorf("the plain check reads %s after %d writes", all[0].Conclusion, all[0].Writes)
				}
				if all[0].Text != "A record." {
					t.Errorf("its record is lost")
				}
			})
		})
	}
}

// A check that ends because another one replaces it keeps the record that stands in it then, whoever wrote that.
func TestPublishKeepsTheRecordThatStands(t *testing.T) {
	for name, retire := range map[string][]report.Retired{
		"renamed": nil, "another base": {{Name: "Review quorum", Head: sandbox.SHA("a1"), Title: "now against dev"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.must(w.publish(check("a1")))
				w.observe()
				other := *w
				other.replica(setup{token: "ghs_y", now: time.Now})
				other.must(other.publish(check("a1", func(c *report.Check) { c.Text = "Another record." })))
				w.must(w.forge.Publish(t.Context(), w.pr, check("a1", func(c *report.Check) { c.Name, c.Retire = "Another name", retire })))
				if all := w.g.OwnCheckRuns("a1"); len(all) != 2 || all[0].Conclusion != "cancelled" || all[0].Text != "Another record." {
					t.Errorf("the first of %d checks reads %s with %q", len(all), all[0].Conclusion, all[0].Text)
				}
			})
		})
	}
}

// A pass is not written over what another process has written since, however little of it is new.
func TestPublishPassesOverNothingNew(t *testing.T) {
	for name, wrote := range map[string]func(*report.Check){
		"title": func(c *report.Check) { c.Title = "Another title" },
		"text":  func(c *report.Check) { c.Text = "Another record." },
		"end":   func(c *report.Check) { c.Status, c.Conclusion = "completed", "failure" },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				pending := func(c *report.Check) { c.Status, c.Conclusion = "in_progress", "" }
				w.must(w.publish(check("a1", pending)))
				w.observe()
				other := *w
				other.replica(setup{token: "ghs_y", now: time.Now})
				other.must(other.publish(check("a1", pending, wrote)))
				stands := w.own()
				if err := w.forge.Publish(
					t.Context(), w.pr, check("a1", func(c *report.Check) { c.Status, c.Conclusion = "completed", "success" }),
				); err == nil ||
					!reflect.DeepEqual(w.own(), stands) {
					t.Errorf("published with %v: %+v", err, w.own())
				}
			})
		})
	}
}

// blank shows nothing of a check that is asked for by its id.
type blank struct {
	next http.RoundTripper
	on   bool
}

func (b *blank) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.on && req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/check-runs/") {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	}
	return b.next.RoundTrip(req)
}

// An answer that shows no check does not empty its record.
func TestPublishKeepsARecordThatCannotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wire := &blank{}
		w := newWorld(t, func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire }
		})
		w.must(w.publish(check("a1")))
		w.observe()
		wire.on = true
		if err := w.forge.Publish(t.Context(), w.pr, check("a1", func(c *report.Check) { c.Name = "Another name" })); !errors.Is(err, client.ErrTransport) ||
			w.own().Text != "A record." {
			t.Errorf("published with %v", err)
		}
	})
}

func TestPublishSupersedesOlderHeads(t *testing.T) {
	for name, test := range map[string]struct {
		conclusion string
		force      bool
		shared     bool // another open pull request has the old head
		fault      *sandbox.Fault
		want       string
	}{
		"open":                 {want: "cancelled"},
		"open, forced away":    {force: true, want: "cancelled"},
		"completed":            {conclusion: "failure", want: "failure"},
		"somebody else's head": {shared: true, want: ""},
		"it fails":             {fault: &sandbox.Fault{Match: updates, Kind: sandbox.FaultAnswer, Status: 403, Times: 1}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.must(w.publish(check("a1", func(c *report.Check) {
					if c.Conclusion = test.conclusion; test.conclusion != "" {
						c.Status = "completed"
					}
				})))
				if test.shared {
					w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "a1"})
				}
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{Force: test.force}))
				if test.fault != nil {
					w.g.AddFault(*test.fault)
				}
				next := check("a2", func(c *report.Check) {
					c.Retire = []report.Retired{{Name: c.Name, Head: sandbox.SHA("a1"), Title: "superseded by a2"}}
				})
				w.must(w.publish(next)) // best effort: the new head's check comes in any case
				old := w.g.OwnCheckRuns("a1")
				if len(old) != 1 || old[0].Conclusion != test.want {
					t.Errorf("the old head's check reads %q, want %q", old[0].Conclusion, test.want)
				}
				w.own()
				w.g.ClearFaults()
				w.g.ForgetRequests()
				w.must(w.publish(next))
				for _, r := range w.g.Requests() {
					if test.fault == nil && !test.shared && strings.Contains(r.Path, sandbox.SHA("a1")) {
						t.Errorf("the old head is looked at again: %s", r.Path)
					}
				}
			})
		})
	}
}

// A personal token cannot write check runs.
func TestPublishAsAPerson(t *testing.T) {
	person := func(s *setup) { s.token, s.sand.TokenOwner = "ghp_x", "robin" }
	for _, test := range []struct{ status, conclusion, want string }{
		{"in_progress", "", "pending"},
		{"completed", "success", "success"},
		{"completed", "failure", "failure"},
		{"completed", "action_required", "error"},
		{"completed", "neutral", "pending"},
		{"completed", "odd", "pending"},
		{"queued", "success", "pending"},
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, person)
			c := check("a1", func(c *report.Check) { c.Status, c.Conclusion = test.status, test.conclusion })
			w.must(w.publish(c))
			w.must(w.publish(c))
			all := w.g.Statuses("a1")
			if len(all) != 1 || all[0].State != test.want || all[0].Context != "Review quorum" || all[0].Description != "0 of 2 approvals" {
				t.Errorf("%s %s is written as %+v", test.status, test.conclusion, all)
			}
			c.Described = "another"
			w.must(w.publish(c))
			if all := w.g.Statuses("a1"); len(all) != 2 {
				t.Errorf("a change is written as %+v", all)
			}
			if len(w.g.OwnCheckRuns("a1")) != 0 {
				t.Errorf("a check run was written, too")
			}
		})
	}
	bubble(t, func(t *testing.T) { // a required name would mean both
		w := newWorld(t, person)
		do[int64](t)(w.g.SetCheck(sandbox.CheckSpec{Name: "Review quorum", App: sandbox.App{Slug: "github-actions"}, Head: "a1", Conclusion: "success"}))
		if err := w.publish(check("a1")); err == nil || !strings.Contains(err.Error(), "a check run named \"Review quorum\" stands") ||
			len(w.g.Statuses("a1")) != 0 {
			t.Errorf("beside a check run of that name: %v", err)
		}
	})
	bubble(t, func(t *testing.T) { // a status is never chosen because check runs are refused
		w := newWorld(t)
		w.g.AddFault(sandbox.Fault{Match: creates, Kind: sandbox.FaultAnswer, Status: 403, Body: `{"message":"You must authenticate via a GitHub App."}`})
		if err := w.publish(check("a1")); err == nil || len(w.g.Statuses("a1")) != 0 {
			t.Errorf("where checks are refused: %v, %+v", err, w.g.Statuses("a1"))
		}
	})
	bubble(t, func(t *testing.T) { // somebody else's status of that name is no answer of ours
		w := newWorld(t, person)
		do[int64](
			t,
		)(
			w.g.SetStatus(sandbox.CommitStatus{Head: "a1", Context: "review QUORUM", State: "success", Description: "0 of 2 approvals", By: "mallory"}),
		)
		w.must(w.publish(check("a1", func(c *report.Check) { c.Status, c.Conclusion = "completed", "success" })))
		if all := w.g.Statuses("a1"); len(all) != 2 {
			t.Errorf("statuses: %+v", all)
		}
	})
	bubble(t, func(t *testing.T) { // only what is open ends
		w := newWorld(t, person)
		ended := check("a1", func(c *report.Check) { c.OnlyOpen, c.Status, c.Conclusion = true, "completed", "cancelled" })
		w.must(w.publish(ended))
		if n := len(w.g.Statuses("a1")); n != 0 {
			t.Errorf("%d statuses where none was open", n)
		}
		w.must(w.publish(check("a1")))
		w.must(w.publish(ended))
		if all := w.g.Statuses("a1"); len(all) != 2 {
			t.Errorf("an open status ends as %+v", all)
		}
	})
	for status, never := range map[int]bool{422: true, 404: true, 403: false} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, person)
			w.g.AddFault(sandbox.Fault{Match: "POST /repos/acme/shop/statuses/*", Kind: sandbox.FaultAnswer, Status: status, Body: `{"message":"no"}`})
			var unpublishable *github.UnpublishableError
			if err := w.publish(check("a1")); err == nil || errors.As(err, &unpublishable) != never {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}

// Two processes write at once: the one that comes second finds the other's check.
func TestPublishBesideAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.observe()
		other := *w
		other.replica(setup{token: "ghs_x", now: time.Now})
		raced := false
		w.g.BeforeRequest(func(req *http.Request) {
			if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") && !raced {
				raced = true
				w.must(other.publish(check("a1")))
			}
		})
		w.must(w.forge.Publish(t.Context(), w.pr, check("a1")))
		w.must(w.publish(check("a1", func(c *report.Check) { c.Title = "now" })))
		for _, c := range w.g.OwnCheckRuns("a1") {
			if c.Title != "now" {
				t.Errorf("one of them still reads %q", c.Title)
			}
		}
	})
}
