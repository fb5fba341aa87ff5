package loop_test

// The order in which things happen: looked, announced, done.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const (
	head = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
	next = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	file = ".github/workflows/openai.yml"
	yes  = "## OpenAI Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n"
	no   = "## OpenAI Review\n\nNo.\n\n**Ready to merge?** No\n"
)

var (
	pr      = quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	actions = quorum.Account{Login: "github-actions[bot]", Bot: true}
)

// a host is a code host with one pull request. What is published on it stays, and its record is what is read again.
type host struct {
	p         quorum.Policy
	s         quorum.Snapshot
	story     []string
	results   map[quorum.ActionKind]quorum.Result          // of effects; default done
	observing func(ctx context.Context) error              // before each observation
	writing   func(ctx context.Context, what string) error // before each write
	applied   func(a quorum.Action)                        // after each effect that was done
	later     []event
	untold    quorum.Untold
	fix       quorum.FixResult // of the start of one
}

// an event happens on the host at its time, or is found to have when somebody looks.
type event struct {
	at time.Time
	do func()
}

func (h *host) after(d time.Duration, do func()) {
	h.later = append(h.later, event{time.Now().Add(d), do})
}

func (h *host) Observe(ctx context.Context, _ quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	h.tell("observe")
	for len(h.later) > 0 && !time.Now().Before(h.later[0].at) {
		due := h.later[0]
		h.later = h.later[1:]
		due.do()
	}
	if h.observing != nil {
		if err := h.observing(ctx); err != nil {
			return quorum.Policy{}, quorum.Snapshot{}, err
		}
	}
	s := h.s
	if s.Record.Head != s.PR.Head {
		s.Record = quorum.Record{}
	}
	s.Runs, s.Comments = slices.Clone(s.Runs), slices.Clone(s.Comments)
	return h.p, s, nil
}

func (h *host) ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	return h.Observe(ctx, pr)
}

func (h *host) Apply(ctx context.Context, _ quorum.PR, e quorum.Effects) (r quorum.Receipt, err error) {
	for _, a := range slices.Concat(e.Cancels, e.Reruns, e.Requests) {
		what := fmt.Sprintf("%s %s", a.Kind, a.Reviewer)
		if h.writing != nil {
			if err := h.writing(ctx, what); err != nil {
				return r, err
			}
		}
		h.tell(what)
		got := quorum.Result{State: quorum.ResultDone}
		if set, found := h.results[a.Kind]; found {
			got = set
		}
		if got.Action = a; got.State == quorum.ResultDone && h.applied != nil {
			h.applied(a)
		}
		r.Done = append(r.Done, got)
	}
	if e.Fix != nil {
		h.tell("fix")
		done := h.fix
		done.Order, r.Fix = *e.Fix, &done
	}
	return r, nil
}

func (h *host) Publish(ctx context.Context, _ quorum.PR, c report.Check) error {
	if h.writing != nil {
		if err := h.writing(ctx, "publish"); err != nil {
			return err
		}
	}
	h.tell("publish " + c.Status + c.Conclusion)
	rec, found := report.ParseRecord(c.Text)
	if !found {
		return errors.New("a check without a record")
	}
	h.s.Record = rec
	return nil
}

func (h *host) Tell(_ context.Context, _ quorum.PR, c report.Comment, told []quorum.ToldComment) (quorum.Untold, error) {
	h.tell(fmt.Sprintf("tell %s beside %d", c.Body("")[len(quorum.VerdictMarker)+1:][:30], len(told)))
	return h.untold, nil
}

func (h *host) WithdrawUnread(context.Context, quorum.PR, bool) error { return nil }

func (h *host) tell(what string) { h.story = append(h.story, what) }

// told is the story since it was told last.
func (h *host) told() string {
	s := strings.Join(h.story, ", ")
	h.story = nil
	return s
}

func (h *host) reconciler() *loop.Reconciler { return &loop.Reconciler{Forge: h} }

// opened is a pull request that openai reviews; its head has just come.
func opened() *host {
	now := time.Now().UTC().Truncate(time.Second)
	return &host{
		p: quorum.Policy{
			Check: "Review quorum", Mode: quorum.Enforce, Need: 1, Grace: 3 * time.Minute, Deadline: 45 * time.Minute,
			EarlyStart: true, DraftsWait: true, Threads: quorum.ByOthers,
			Retry: quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute},
			Reviewers: []quorum.Reviewer{{
				Name: "openai", Workflow: file, Events: []string{"pull_request"}, Author: actions.Login, Heading: "## OpenAI Review",
				Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
			}},
		},
		s: quorum.Snapshot{
			PR: quorum.PullRequest{
				PR:            pr,
				Head:          head,
				HeadRef:       "feature",
				HeadRepo:      "acme/shop",
				BaseRef:       "main",
				DefaultBranch: "main",
				Author:        quorum.Account{Login: "alice"},
				Created:       now,
				Commits:       1,
			},
			File: quorum.PolicyFile{State: quorum.FileValid, SHA: "p1"}, Gated: true, Arrived: now, Ours: actions, SameBranch: []quorum.PullRequest{{PR: pr}},
		},
	}
}

// starts and ends are those of openai's one run.
func (h *host) starts() {
	now := time.Now().UTC().Truncate(time.Second)
	h.s.Runs = []quorum.Run{{
		ID: 1, Number: 1, Path: file, Event: "pull_request", Head: h.s.PR.Head, Branch: "feature", Repo: "acme/shop",
		Attempt: 1, Status: "in_progress", Created: now, Started: now, Updated: now,
		Jobs: []quorum.Job{{ID: 2, Started: now}},
	}}
}

func (h *host) ends(conclusion string) {
	r := &h.s.Runs[0]
	r.Status, r.Conclusion, r.Updated = "completed", conclusion, time.Now().UTC().Truncate(time.Second)
	r.Jobs = []quorum.Job{{ID: 2, Conclusion: conclusion, Started: r.Started, Completed: r.Updated, Read: true}}
}

// again is what a rerun does.
func (h *host) again(quorum.Action) {
	r := &h.s.Runs[0]
	r.Attempt++
	r.Status, r.Conclusion, r.Started = "in_progress", "", time.Now().UTC().Truncate(time.Second)
	r.Jobs = []quorum.Job{{ID: int64(r.Attempt + 1), Started: r.Started}}
}

func (h *host) says(body string) {
	h.s.Comments = append(
		h.s.Comments,
		quorum.Text{
			TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: int64(len(h.s.Comments) + 1)},
			Author:  actions,
			Body:    body,
			At:      time.Now().UTC().Truncate(time.Second),
		},
	)
}

func pass(d time.Duration) { <-time.After(d) }

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func want(t *testing.T, what, got, wanted string) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: %s, want %s", what, got, wanted)
	}
}

// reconcile looks once and wants no error.
func (h *host) reconcile(t *testing.T) time.Time {
	t.Helper()
	wake, err := h.reconciler().Reconcile(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	return wake
}

func TestAnEffectIsAnnouncedFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.applied = func(a quorum.Action) {
			if len(h.s.Record.Intents) != 1 || h.s.Record.Intents[0].Kind != a.Kind || h.s.Record.Intents[0].Run != a.Run {
				t.Errorf("when it is done, the check's record holds %+v", h.s.Record.Intents)
			}
			h.again(a)
		}
		h.starts()
		pass(time.Minute)
		h.ends("failure")
		wake := h.reconcile(t)
		want(t, "before it is due", h.told(), "observe, publish in_progress")
		pass(time.Until(wake))
		h.reconcile(t)
		want(t, "when it is due", h.told(), "observe, publish in_progress, rerun openai")
		h.reconcile(t)
		want(t, "after it", h.told(), "observe, publish in_progress")
	})
}

func TestARefusalIsRecordedAndTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.results = map[quorum.ActionKind]quorum.Result{quorum.Rerun: {State: quorum.ResultRefused, Reason: quorum.ReasonTooOld, Detail: "over a month"}}
		h.starts()
		pass(time.Second)
		h.ends("success") // and left nothing: run again at once
		h.reconcile(t)
		want(t, "the look", h.told(), "observe, observe, publish in_progress, rerun openai, publish completedaction_required")
		if r := h.s.Record.Refusals; len(r) != 1 || r[0].Reason != quorum.ReasonTooOld {
			t.Errorf("the refusals are %+v", r)
		}
		pass(time.Hour)
		h.reconcile(t)
		want(t, "a later look", h.told(), "observe, publish completedaction_required")
	})
}

// A quiet look leaves requests to others: it neither makes nor announces nor records them, and a later look makes them.
func TestAQuietLookAsksNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.p.Need = 2
		h.p.Reviewers = append(h.p.Reviewers, quorum.Reviewer{
			Name: "moss", Author: "moss[bot]", Request: quorum.Request{Comment: "@moss review", AtStart: true},
			Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
		})
		h.applied = func(a quorum.Action) {
			if a.Kind == quorum.Rerun {
				h.again(a)
			}
		}
		h.starts()
		pass(time.Second)
		h.ends("success") // and left nothing: run again at once
		var last loop.Look
		quiet := &loop.Reconciler{Forge: h, Quiet: true, Seen: func(l loop.Look) { last = l }}
		wake, err := quiet.Reconcile(t.Context(), pr)
		if err != nil || wake.IsZero() || wake.After(last.At) {
			t.Errorf("the next look is at %s (%v), though somebody is to be asked", wake, err)
		}
		want(t, "the quiet look", h.told(), "observe, observe, publish in_progress, rerun openai")
		if in := h.s.Record.Intents; len(in) != 1 || in[0].Kind != quorum.Rerun {
			t.Errorf("its record holds %+v", in)
		}
		if strings.Contains(last.Check.Summary, "asked for a review") {
			t.Errorf("its check announces a request: %s", last.Check.Summary)
		}
		h.reconcile(t)
		want(t, "a look that may ask", h.told(), "observe, publish in_progress, ask moss")
	})
}

func TestWhatIsVoidIsLookedAtSoon(t *testing.T) {
	for _, state := range []quorum.ResultState{quorum.ResultVoid, quorum.ResultFailed} {
		bubble(t, func(t *testing.T) {
			h := opened()
			h.results = map[quorum.ActionKind]quorum.Result{quorum.Rerun: {State: state}}
			h.starts()
			pass(time.Second)
			h.ends("success")
			if wake := h.reconcile(t); time.Until(wake) > 3*time.Second {
				t.Errorf("after %d the next look is in %s", state, time.Until(wake))
			}
			if len(h.s.Record.Intents) != 1 {
				t.Errorf("the intent is lost")
			}
		})
	}
}

// A fault while effects are carried out does not hide what GitHub refused before it.
func TestAnErrorOfApplyIsReturned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.starts()
		pass(time.Second)
		h.ends("success")
		until := time.Now().Add(time.Minute)
		h.writing = func(_ context.Context, what string) error {
			if what == "rerun openai" {
				return &limited{until}
			}
			return nil
		}
		wake, err := h.reconciler().Reconcile(t.Context(), pr)
		if err == nil || !wake.Equal(until) {
			t.Errorf("got %s, %v: want the end of the limit", wake, err)
		}
	})
}

// Where a run seems to have left nothing, the text may have come between two reads.
func TestAHollowLookIsTakenTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.starts()
		h.reconcile(t)
		pass(5 * time.Second)
		h.ends("success")
		looks := 0
		h.observing = func(context.Context) error {
			if looks++; looks == 2 {
				h.says(yes)
			}
			return nil
		}
		h.told()
		h.reconcile(t)
		want(
			t,
			"a text between two reads",
			h.told(),
			"observe, observe, publish completedsuccess, observe, publish completedsuccess",
		) // a pass is looked at once more

		other := opened()
		other.p.Retry.FastFail = 0
		other.starts()
		pass(5 * time.Second)
		other.ends("success")
		other.reconcile(t)
		want(t, "an end that is new", other.told(), "observe, observe, publish in_progress")
		other.reconcile(t)
		want(t, "an end that is known", other.told(), "observe, publish in_progress")
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.starts()
		pass(time.Second)
		h.ends("success")
		seen := 0
		r := &loop.Reconciler{Forge: h, DryRun: true, Seen: func(l loop.Look) {
			if seen++; l.Check.Title == "" {
				t.Errorf("the check has no title")
			}
		}}
		if _, err := r.Reconcile(t.Context(), pr); err != nil {
			t.Fatal(err)
		}
		want(t, "a dry run", h.told(), "observe, observe")
		if _, err := r.Look(t.Context(), pr); err != nil || seen != 1 {
			t.Errorf("looked: %v, seen %d times", err, seen)
		}
		want(t, "a look", h.told(), "observe, observe")
	})
}

// Twice, late, or for no reason: it changes nothing.
func TestReconcileIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.starts()
		h.says(yes)
		pass(time.Second)
		h.ends("success")
		var looks []loop.Look
		r := h.reconciler()
		r.Seen = func(l loop.Look) { looks = append(looks, l) }
		for range 3 {
			if wake, err := r.Reconcile(t.Context(), pr); err != nil || !wake.IsZero() {
				t.Fatalf("got %s, %v", wake, err)
			}
		}
		if !reflect.DeepEqual(looks[1].Check, looks[2].Check) || looks[0].Check.Text != looks[2].Check.Text {
			t.Errorf("the check changes without a reason")
		}
	})
}

func TestAFailedObservationWritesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := opened()
		h.observing = func(context.Context) error { return errors.New("half of it") }
		wake, err := h.reconciler().Reconcile(t.Context(), pr)
		if err == nil || !wake.IsZero() {
			t.Errorf("got %s, %v", wake, err)
		}
		want(t, "the story", h.told(), "observe")
	})
}

// limited is a limit of the host's.
type limited struct{ until time.Time }

func (l *limited) Error() string      { return "limited" }
func (l *limited) RetryAt() time.Time { return l.until }
func (l *limited) Temporary() bool    { return true }

// faulty is a fault that may pass.
type faulty struct{}

func (faulty) Error() string   { return "a fault" }
func (faulty) Temporary() bool { return true }

// Even a write that is under way is finished when the context ends, and nothing is begun after it.
func TestCancellation(t *testing.T) {
	for name, during := range map[string]string{"while it observes": "observe", "while it publishes": "publish", "while it carries out": "rerun openai"} {
		for _, slow := range []time.Duration{time.Second, time.Hour} {
			t.Run(fmt.Sprint(name, slow), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					h := opened()
					h.starts()
					pass(time.Second)
					h.ends("success")
					ctx, cancel := context.WithCancel(t.Context())
					finished := false
					at := func(c context.Context, what string) error {
						if what != during {
							return nil
						}
						cancel()
						select {
						case <-c.Done():
							return c.Err()
						case <-time.After(slow):
							finished = true
							return nil
						}
					}
					h.writing = at
					h.observing = func(c context.Context) error { return at(c, "observe") }
					began := time.Now()
					_, err := h.reconciler().Stay(ctx, pr, loop.Stay{Wait: true, Poll: 15 * time.Second})
					if !errors.Is(err, context.Canceled) || time.Since(began) > 2*time.Second {
						t.Errorf("after %s: %v", time.Since(began), err)
					}
					if finished != (during != "observe" && slow == time.Second) {
						t.Errorf("a write of %s was finished: %v", slow, finished)
					}
					if story := h.told(); during == "publish" && strings.Contains(story, "rerun") ||
						strings.HasSuffix(story, "publish completedaction_required") {
						t.Errorf("it went on: %s", story)
					}
				})
			})
		}
	}
}
