package loop_test

// How long a job stays, in virtual time.

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

var (
	waiting = loop.Stay{Wait: true, Poll: 15 * time.Second, Hold: 15 * time.Minute}
	alone   = loop.Stay{Poll: 15 * time.Second, Hold: 15 * time.Minute}
)

// copilot is a reviewer whose answers GitHub announces to no job.
func copilot() quorum.Reviewer {
	return quorum.Reviewer{
		Name: "copilot", Author: "copilot[bot]", Verdict: quorum.Format{Kind: quorum.ReviewState},
		FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
		Request: quorum.Request{Login: "copilot[bot]"},
	}
}

func (h *host) reviews(body, state string) {
	h.s.Reviews = append(h.s.Reviews, quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: int64(len(h.s.Reviews) + 1)}, Author: quorum.Account{Login: "copilot[bot]", Bot: true},
		Body: body, State: state, At: time.Now().UTC().Truncate(time.Second), Commit: h.s.PR.Head,
	})
}

// hears lets somebody who may write, and had no hand in the change, comment on it.
func (h *host) hears(login, body string) {
	h.says(body)
	c := &h.s.Comments[len(h.s.Comments)-1]
	c.Author, c.Member = quorum.Account{Login: login}, true
	h.s.Permissions = map[string]quorum.Permission{login: quorum.Write}
	h.s.Commits = []quorum.Commit{{SHA: head, People: []quorum.Account{{Login: "alice"}}}}
	h.s.Pushes = []quorum.Push{{After: head, Actor: quorum.Account{Login: "alice"}}}
}

func TestStay(t *testing.T) {
	for name, test := range map[string]struct {
		stay    loop.Stay
		story   func(h *host)
		verdict quorum.Verdict
		from    time.Duration // how long it stays, at least
		to      time.Duration // and at most
	}{
		"--wait: until it passes": {waiting, func(h *host) {
			h.starts()
			h.after(20*time.Minute/4, func() { h.says(yes); h.ends("success") })
		}, quorum.Passed, 5 * time.Minute, 5*time.Minute + 15*time.Second},
		"--wait: until it is blocked": {waiting, func(h *host) {
			h.starts()
			h.after(time.Minute, func() { h.says(no); h.ends("success") })
		}, quorum.Blocked, time.Minute, 75 * time.Second},
		"--wait: until nobody comes": {waiting, func(*host) {}, quorum.Unverified, 10 * time.Minute, 10*time.Minute + time.Second},
		"--wait: longer than hold": {waiting, func(h *host) {
			h.p.Reviewers[0].Timeout = 40 * time.Minute
			h.starts()
		}, quorum.Unverified, 40 * time.Minute, 46 * time.Minute},
		"--wait: a draft": {waiting, func(h *host) { h.s.PR.Draft = true }, quorum.Waiting, 0, 0},
		"--wait: a layer below": {waiting, func(h *host) {
			h.starts()
			h.says(yes)
			h.ends("success")
			h.s.Below = quorum.Below{Why: quorum.ReasonLayer, Number: 41}
		}, quorum.Waiting, 0, 0},
		"--wait: closed":          {waiting, func(h *host) { h.s.PR.Closed = true }, quorum.Ended, 0, 0},
		"--wait: a broken policy": {waiting, func(h *host) { h.s.File.State, h.p = quorum.FileBroken, quorum.Policy{} }, quorum.Unverified, 0, 0},
		"--wait: no policy":       {waiting, func(h *host) { h.s.File.State, h.p = quorum.FileMissing, quorum.Policy{} }, quorum.Ended, 0, 0},
		"--wait: off":             {waiting, func(h *host) { h.p.Mode = quorum.Off }, quorum.Ended, 0, 0},
		"--wait: closed meanwhile": {waiting, func(h *host) {
			h.starts()
			h.after(time.Minute, func() { h.s.PR.Closed = true })
		}, quorum.Ended, time.Minute, 75 * time.Second},
		"--wait: a new head is followed": {waiting, func(h *host) {
			h.starts()
			h.after(time.Minute, func() {
				h.s.PR.Head, h.s.Arrived, h.s.Comments, h.s.Earlier = next, time.Now().UTC().Truncate(time.Second), nil, []string{head}
				h.starts()
			})
			h.after(3*time.Minute, func() { h.says(yes); h.ends("success") })
		}, quorum.Passed, 3 * time.Minute, 3*time.Minute + 15*time.Second},
		"alone: not for a run that has just begun": {alone, func(h *host) { h.starts() }, quorum.Waiting, 0, 0},
		"alone: not for one that never began":      {alone, func(*host) {}, quorum.Waiting, 0, 0},
		"alone: for a rerun that is due, and for it": {alone, func(h *host) {
			h.starts()
			pass(time.Minute)
			h.ends("failure")
			h.applied = func(a quorum.Action) {
				h.again(a)
				h.after(2*time.Minute, func() { h.says(yes); h.ends("success") })
			}
		}, quorum.Passed, 2*time.Minute + 48*time.Second, 3*time.Minute + 40*time.Second},
		"alone: not for a person's rerun": {alone, func(h *host) {
			h.starts()
			pass(time.Minute)
			h.ends("failure")
			h.again(quorum.Action{})
		}, quorum.Waiting, 0, 0},
		"alone: for a rerun of who objects": {alone, func(h *host) {
			h.starts()
			h.says(no)
			pass(time.Minute)
			h.ends("success")
			h.hears("bob", "/review-coordinator rerun openai")
			h.applied = func(a quorum.Action) {
				h.again(a)
				h.after(2*time.Minute, func() { h.says(yes); h.ends("success") })
			}
		}, quorum.Passed, 2 * time.Minute, 2*time.Minute + 15*time.Second},
		"alone: for a rerun of who objects, and says so again": {alone, func(h *host) {
			h.starts()
			h.says(no)
			pass(time.Minute)
			h.ends("success")
			h.hears("bob", "/review-coordinator rerun openai")
			h.applied = func(a quorum.Action) {
				h.again(a)
				h.after(2*time.Minute, func() { h.says(no); h.ends("success") })
			}
		}, quorum.Blocked, 2 * time.Minute, 2*time.Minute + 15*time.Second},
		"alone: not for a rerun that GitHub refuses": {alone, func(h *host) {
			h.starts()
			h.says(no)
			pass(time.Minute)
			h.ends("success")
			h.hears("bob", "/review-coordinator rerun openai")
			h.results = map[quorum.ActionKind]quorum.Result{quorum.Rerun: {State: quorum.ResultRefused, Reason: quorum.ReasonTooOld}}
		}, quorum.Blocked, 0, 15 * time.Second},
		"alone: for copilot": {alone, func(h *host) {
			h.p.Reviewers[0] = copilot()
			h.after(4*time.Minute, func() { h.reviews("", "APPROVED") })
		}, quorum.Passed, 4 * time.Minute, 4*time.Minute + 15*time.Second},
		"alone: for another App's check": {alone, func(h *host) {
			h.p.Reviewers[0] = quorum.Reviewer{
				Name: "sec", Check: "Sec", App: "secbot", Verdict: quorum.Format{Kind: quorum.Conclusion},
				FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
			}
			h.after(4*time.Minute, func() {
				h.s.Checks = []quorum.CheckRun{{
					ID: 1, Name: "Sec", App: "secbot", Status: "completed", Conclusion: "success", Completed: time.Now().UTC().Truncate(time.Second),
				}}
			})
		}, quorum.Passed, 4 * time.Minute, 4*time.Minute + 15*time.Second},
		"alone: for the end of the grace": {alone, func(h *host) {
			h.p.Reviewers = append(h.p.Reviewers, h.p.Reviewers[0])
			h.p.Reviewers[1].Name, h.p.Reviewers[1].Workflow = "late", "late.yml"
			h.starts()
			h.says(yes)
			h.ends("success")
		}, quorum.Passed, 3 * time.Minute, 3*time.Minute + time.Second},
		"alone: at most hold": {
			loop.Stay{Poll: 15 * time.Second, Hold: 100 * time.Second},
			func(h *host) { h.p.Reviewers[0] = copilot() },
			quorum.Waiting, 100 * time.Second, 100 * time.Second,
		},
		"alone: a shadow is not stayed for": {alone, func(h *host) {
			h.starts()
			h.p.Reviewers = append(h.p.Reviewers, copilot())
			h.p.Reviewers[1].Shadow = true
		}, quorum.Waiting, 0, 0},
		"alone: once it is decided": {alone, func(h *host) {
			h.p.Reviewers[0] = copilot()
			h.reviews("", "CHANGES_REQUESTED")
		}, quorum.Blocked, 0, 0},
		"alone: a look that is void is taken again": {alone, func(h *host) {
			h.starts()
			pass(time.Second)
			h.ends("success")
			h.results = map[quorum.ActionKind]quorum.Result{quorum.Rerun: {State: quorum.ResultVoid}}
			h.after(time.Second, func() { h.again(quorum.Action{}); h.says(yes); h.ends("success") })
		}, quorum.Passed, time.Second, 5 * time.Second},
		"--wait: faults are borne": {waiting, func(h *host) {
			h.starts()
			h.says(yes)
			h.ends("success")
			from := time.Now()
			h.observing = func(context.Context) error {
				if time.Since(from) < 10*time.Minute {
					return faulty{}
				}
				return nil
			}
		}, quorum.Passed, 10 * time.Minute, 11 * time.Minute},
		"--wait: a limit is waited out, and no longer": {waiting, func(h *host) {
			h.starts()
			h.says(yes)
			h.ends("success")
			until := time.Now().Add(40 * time.Minute)
			looks := 0
			h.observing = func(context.Context) error {
				if looks++; time.Now().Before(until) && looks > 1 {
					return errors.New("it was asked during a limit")
				}
				if time.Now().Before(until) {
					return &limited{until}
				}
				return nil
			}
		}, quorum.Passed, 40 * time.Minute, 40*time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := opened()
				test.story(h)
				began := time.Now()
				last, err := h.reconciler().Stay(t.Context(), pr, test.stay)
				if err != nil {
					t.Fatal(err)
				}
				if stayed := time.Since(began); last.Decision.Verdict != test.verdict || stayed < test.from || stayed > test.to {
					t.Errorf(
						"it ended %s after %s, want %s after %s to %s (%s)",
						last.Decision.Verdict,
						stayed,
						test.verdict,
						test.from,
						test.to,
						last.Check.Title,
					)
				}
			})
		})
	}
}

func TestStayGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		stay     loop.Stay
		err      func(began time.Time) error
		from, to time.Duration
	}{
		"GitHub refuses for good": {waiting, func(time.Time) error { return errors.New("no permission") }, 0, 0},
		"nothing but faults":      {waiting, func(time.Time) error { return faulty{} }, 15 * time.Minute, 16 * time.Minute},
		"alone: no longer than hold": {
			loop.Stay{Poll: time.Second, Hold: 5 * time.Minute},
			func(time.Time) error { return faulty{} },
			4 * time.Minute, 5 * time.Minute,
		},
		"alone: a limit longer than hold": {alone, func(began time.Time) error { return &limited{began.Add(40 * time.Minute)} }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := opened()
				began := time.Now()
				h.observing = func(context.Context) error { return test.err(began) }
				faults := 0
				r := h.reconciler()
				r.Fault = func(err error, next time.Time) {
					if faults++; err == nil || next.Before(time.Now()) {
						t.Errorf("told of %v, and of %s", err, next)
					}
				}
				_, err := r.Stay(t.Context(), pr, test.stay)
				if stayed := time.Since(began); err == nil || stayed < test.from || stayed > test.to || faults > 40 || (faults > 0) != (test.from > 0) {
					t.Errorf("it ended after %s and %d faults: %v", stayed, faults, err)
				}
			})
		})
	}
}

// Who waits for the first look is told once, before anything is waited for, whatever came of it.
func TestStayTellsOfItsFirstLook(t *testing.T) {
	for name, fault := range map[string]error{"looked": nil, "a fault": faulty{}, "refused": errors.New("refused")} {
		bubble(t, func(t *testing.T) {
			h, began := opened(), time.Now()
			h.observing = func(context.Context) error { return fault }
			told := 0
			stay := loop.Stay{Wait: true, Poll: time.Minute, Looked: func() {
				if told++; time.Since(began) > 0 {
					t.Errorf("%s: told %s late", name, time.Since(began))
				}
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if _, err := h.reconciler().Stay(ctx, pr, stay); err == nil || told != 1 {
				t.Errorf("%s: told %d times, then %v", name, told, err)
			}
		})
	}
}

// It looks at every wake, to the moment, and otherwise as often as it polls.
func TestStayLooksAtEveryWake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.starts()
		began := time.Now()
		var looks []time.Duration
		h.observing = func(context.Context) error {
			looks = append(looks, time.Since(began))
			return nil
		}
		h.p.Retry.Max = 0
		if _, err := h.reconciler().Stay(t.Context(), pr, loop.Stay{Wait: true, Poll: 7 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		if len(looks) != 3 || looks[1] != 7*time.Minute || looks[2] != 10*time.Minute {
			t.Errorf("it looked after %s", looks)
		}
	})
	bubble(t, func(t *testing.T) { // GitHub's clock is ahead
		h := opened()
		h.s.Skew = time.Minute
		h.s.Arrived = h.s.Arrived.Add(time.Minute)
		began := time.Now()
		if last, err := h.reconciler().Stay(t.Context(), pr, loop.Stay{Wait: true, Poll: time.Hour}); err != nil || time.Since(began) != 10*time.Minute ||
			last.Decision.Verdict != quorum.Unverified {
			t.Errorf("with a skew it ended after %s: %v", time.Since(began), err)
		}
	})
}

// A pull request at which each look costs much, because a stranger has filled it, is looked at seldom; a first look may
// cost what it wants.
func TestStayPaysForNoFlood(t *testing.T) {
	for name, c := range map[string]struct {
		costs []int // of the looks; the last one goes on
		most  int   // looks in forty minutes
		least int
	}{
		"cheap":           {[]int{3}, 200, 150},
		"dear at first":   {[]int{300, 3}, 200, 150},
		"dear each time":  {[]int{300}, 10, 3},
		"a little dearer": {[]int{41}, 10, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := opened()
				h.p.Reviewers[0].Timeout = 40 * time.Minute
				h.starts()
				looks, paid := 0, 0
				h.observing = func(context.Context) error {
					paid += c.costs[min(looks, len(c.costs)-1)]
					looks++
					return nil
				}
				stay := waiting
				stay.Cost = func() int { return paid }
				if _, err := h.reconciler().Stay(t.Context(), pr, stay); err != nil {
					t.Fatal(err)
				}
				if looks > c.most || looks < c.least {
					t.Errorf("%d looks", looks)
				}
			})
		})
	}
}
