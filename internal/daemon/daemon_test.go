package daemon

// The daemon against a host of its own: what becomes of deliveries, limits, refusals, faults, restarts and lost events.
// All of it in virtual time, on a real table.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const sha = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"

// land is a host with tenants. Its pull requests wait for a reviewer who never comes, so that each look has a wake.
type land struct {
	mu     sync.Mutex
	policy quorum.Policy
	file   quorum.PolicyFile
	org    quorum.OrganisationFile  // the organisation's, once it is asked for again
	takes  time.Duration            // of each observation
	hurts  int                      // numbers up to it have faults, after 45 seconds each
	fails  func(tenant int64) error // before each request to the tenant
	panics bool
	mute   bool // its lists fail: nothing is healed
	ready  map[int64]time.Time
	// before it the budget leaves nothing to the backlog, and a minute for each look after it
	backlogReady time.Time
	liveReady    time.Time                         // before it the budget leaves nothing to what takes no green away
	pulls        map[int64]map[quorum.PR]time.Time // open ones with their last change
	gone         map[int64]bool
	heads        map[string][]quorum.PR
	missed       []client.FailedDelivery
	asked        []string
	looked       []string // pull requests, in the order of their looks
	heard        []quorum.Touch
	remembered   []string // the policies of owners that it was told of
	requests     map[int64]int
	begun        map[quorum.PR]time.Time
	within       map[string]bool         // pull requests that are looked at right now
	skew         time.Duration           // of the land's clock
	twice        []string                // those that were looked at twice at once
	slow         map[int64]time.Duration // how long a tenant's looks take instead
	permits      []error                 // why checks were not to be written; nil: they were
}

func newLand() *land {
	return &land{
		policy: quorum.Policy{
			Check: "Review quorum", Mode: quorum.Enforce, Need: 1, Grace: 3 * time.Minute, Deadline: 45 * time.Minute,
			EarlyStart: true, DraftsWait: true, Threads: quorum.ByOthers,
			Retry: quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute},
			Reviewers: []quorum.Reviewer{{
				Name: "openai", Workflow: ".github/workflows/openai.yml", Events: []string{"pull_request"},
				Author: "github-actions[bot]", Heading: "## OpenAI Review",
				Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
			}},
		},
		file:  quorum.PolicyFile{State: quorum.FileValid, SHA: "p1", Path: ".github/review-coordinator.yml"},
		ready: map[int64]time.Time{}, pulls: map[int64]map[quorum.PR]time.Time{}, gone: map[int64]bool{},
		heads: map[string][]quorum.PR{}, requests: map[int64]int{},
		begun: map[quorum.PR]time.Time{}, within: map[string]bool{},
	}
}

func (l *land) open(tenant int64, prs ...quorum.PR) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pulls[tenant] == nil {
		l.pulls[tenant] = map[quorum.PR]time.Time{}
	}
	for _, pr := range prs {
		l.pulls[tenant][pr], l.begun[pr] = time.Now(), time.Now()
	}
}

// Payloads are notices.
func (l *land) ReadDelivery(event string, payload []byte) (n webhook.Notice, err error) {
	if err := json.Unmarshal(payload, &n); err != nil {
		return n, err
	}
	n.Name = event
	return n, nil
}

func (l *land) Enter(tenant int64) (TenantForge, error) { return place2{l, tenant}, nil }
func (l *land) Leave(int64)                             {}

func (l *land) Installations(context.Context) (all []client.Installation, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.pulls {
		if !l.gone[id] {
			all = append(all, client.Installation{ID: id})
		}
	}
	return all, l.lists(0)
}

// lists is a request for what would heal; l.mu is held.
func (l *land) lists(tenant int64) error {
	if err := l.ask(tenant); err != nil || !l.mute {
		return err
	}
	return errors.New("no list") // no fault: those hold up the tenant's looks, too
}

// tellsNothing makes the land list nothing from now on: what is looked at then stood in the table.
func (l *land) tellsNothing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute, l.takes, l.looked = true, 0, nil
}

func (l *land) Deliveries(context.Context, time.Time) ([]client.FailedDelivery, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.missed), nil
}

func (l *land) Redeliver(_ context.Context, delivery int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, l.guidOf(delivery))
	return nil
}

// guidOf is the name of a delivery that failed; l.mu is held.
func (l *land) guidOf(delivery int64) string {
	for _, m := range l.missed {
		if m.ID == delivery {
			return m.GUID
		}
	}
	return "not listed"
}

// ask is a request; l.mu is held.
func (l *land) ask(tenant int64) error {
	l.requests[tenant]++
	if l.fails != nil {
		return l.fails(tenant)
	}
	return nil
}

func (l *land) sent(tenant int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[tenant]
}

func (l *land) looks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.looked)
}

// place2 is a tenant's side of the land.
type place2 struct {
	*land
	tenant int64
}

func (p place2) Groups(context.Context, string, string, string) ([]quorum.GroupRef, error) {
	return nil, nil
}

func (p place2) ReadGroup(_ context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	return quorum.MergeGroup{GroupRef: ref, Gone: true}, nil
}

func (p place2) PublishGroup(context.Context, quorum.GroupRef, report.Check) error { return nil }

func (p place2) ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	return p.Observe(ctx, pr)
}

func (p place2) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	p.mu.Lock()
	if p.panics {
		p.mu.Unlock()
		panic("a mistake")
	}
	key := fmt.Sprint(p.tenant, pr)
	if p.within[key] {
		p.twice = append(p.twice, key)
	}
	p.within[key] = true
	p.looked = append(p.looked, pr.String())
	err := p.ask(p.tenant)
	changed, open := p.pulls[p.tenant][pr]
	policy, file, takes, begun := p.policy, p.file, p.takes, p.begun[pr]
	if slow := p.slow[p.tenant]; slow > 0 {
		takes = slow
	}
	if pr.Number <= p.hurts {
		takes, err = 45*time.Second, faultError{}
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.within[key] = false
		p.mu.Unlock()
	}()
	if takes > 0 {
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return policy, quorum.Snapshot{}, ctx.Err()
		case <-timer.C:
		}
	}
	_ = changed
	return policy, quorum.Snapshot{
		PR: quorum.PullRequest{
			PR:            pr,
			Title:         "Change",
			Head:          sha,
			BaseRef:       "main",
			DefaultBranch: "main",
			Author:        quorum.Account{Login: "alice"},
			Created:       begun,
			Commits:       1,
			Closed:        !open,
		},
		File: file, Gated: true, Arrived: begun, Ours: quorum.Account{Login: "app[bot]", Bot: true},
	}, err
}

func (p place2) Apply(context.Context, quorum.PR, quorum.Effects) (quorum.Receipt, error) {
	return quorum.Receipt{}, nil
}

func (p place2) Publish(ctx context.Context, _ quorum.PR, _ report.Check) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permits = append(p.permits, client.MayWrite(ctx))
	return nil
}

func (p place2) WithdrawUnread(context.Context, quorum.PR, bool) error { return nil }

func (p place2) Tell(context.Context, quorum.PR, report.Comment, []quorum.ToldComment) (quorum.Untold, error) {
	return quorum.Untold{}, nil
}

func (p place2) Expect(quorum.PR, string, ...int64) {}

func (p place2) Hear(_ quorum.PR, touches ...quorum.Touch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, touches...)
}

// ForgetOrganisation shows the policy that the organisation has by now.
func (p place2) ForgetOrganisation() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file.Org = p.org
}

func (p place2) RememberOrganisation(owner string, file quorum.OrganisationFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remembered = append(p.remembered, owner+" "+file.Repo+" "+file.SHA)
}

func (p place2) Ready(looks int, u client.Urgency) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u == client.Backlog && p.backlogReady.After(time.Now()) {
		return p.backlogReady.Add(time.Duration(looks-1) * time.Minute)
	}
	if u != client.Urgent && p.liveReady.After(time.Now()) {
		return p.liveReady
	}
	if at := p.ready[p.tenant]; at.After(time.Now()) {
		return at
	}
	return time.Time{}
}

func (p place2) Hour() int { return 0 }

func (p place2) PullsOf(_ context.Context, owner, repo, sha string) ([]quorum.PR, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heads[owner+"/"+repo+"@"+sha], p.ask(p.tenant)
}

func (p place2) Repositories(context.Context) (all []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]bool{}
	for pr := range p.pulls[p.tenant] {
		if full := pr.Owner + "/" + pr.Repo; !seen[full] {
			seen[full] = true
			all = append(all, full)
		}
	}
	return all, p.lists(p.tenant)
}

func (p place2) Changed(_ context.Context, owner, repo string, since time.Time) (c github.RecentChanges, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.File, c.Policy, c.Skew = p.file, p.policy, p.skew
	for pr, at := range p.pulls[p.tenant] {
		if pr.Owner == owner && pr.Repo == repo && !at.Before(since) && c.File.State != quorum.FileMissing {
			c.Pulls = append(c.Pulls, github.RecentPull{PR: pr, Updated: at})
			if c.Latest.Before(at) {
				c.Latest = at
			}
		}
	}
	slices.SortFunc(c.Pulls, func(a, b github.RecentPull) int { return b.Updated.Compare(a.Updated) })
	return c, p.lists(p.tenant)
}

// A limitError is a limit of the host's.
type limitError struct{ until time.Time }

func (e limitError) Error() string      { return "limited" }
func (e limitError) RetryAt() time.Time { return e.until }
func (e limitError) Temporary() bool    { return true }

// What GitHub refuses.
var (
	errGone         = &client.APIError{Status: http.StatusNotFound}
	errUnauthorized = &client.APIError{Status: http.StatusUnauthorized}
	errForbidden    = &client.APIError{Status: http.StatusForbidden}
)

type faultError struct{}

func (faultError) Error() string   { return "fault" }
func (faultError) Temporary() bool { return true }

// Unreachable says that GitHub gave no answer.
func (faultError) Unreachable() bool { return true }

// A house is a daemon at work.
type house struct {
	*Daemon
	t    *testing.T
	stop func()
}

// build starts a daemon on the table in dir.
func build(t *testing.T, l *land, dir string, tune ...func(*Config)) *house {
	t.Helper()
	s, err := store.OpenSQLite(filepath.Join(dir, "c.db"), store.Options{Fleeting: true})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Store: s, Host: l, Metrics: NewMetrics(MetricsOptions{}), Feed: dashboard.NewFeed(), Log: slog.New(slog.DiscardHandler), Resync: 5 * time.Minute,
		Jitter: func(most time.Duration) time.Duration { return most },
	}
	for _, f := range tune {
		f(&c)
	}
	deadline.Describe(t, "its looks", func() string {
		all := l.looks()
		return fmt.Sprintf("%d, the last at %q", len(all), all[max(0, len(all)-5):])
	})
	h := &house{Daemon: New(c), t: t}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	var once sync.Once
	h.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			c.Feed.Close()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(h.stop)
	return h
}

var deliveries struct {
	sync.Mutex
	n int
}

// deliver hands the daemon a notice under a new id, and wants it accepted.
func (h *house) deliver(n webhook.Notice) {
	h.t.Helper()
	deliveries.Lock()
	deliveries.n++
	id := fmt.Sprintf("d-%d", deliveries.n)
	deliveries.Unlock()
	if got := h.deliverAs(id, n); got != "accepted" {
		h.t.Errorf("a delivery was %s", got)
	}
}

func (h *house) deliverAs(id string, n webhook.Notice) string {
	h.t.Helper()
	payload, err := json.Marshal(n)
	if err != nil {
		h.t.Fatal(err)
	}
	got, err := h.Receive(h.t.Context(), Received{ID: id, Event: "pull_request", Payload: payload, At: h.Now()})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// about is an event of a pull request that concerns its reviewer.
func about(tenant int64, pr quorum.PR) webhook.Notice {
	return webhook.Notice{
		Action:       "synchronize",
		Concern:      webhook.ConcernPulls,
		Installation: tenant,
		Owner:        pr.Owner,
		Repo:         pr.Repo,
		PRs:          []int{pr.Number},
		Touch:        quorum.Touch{Event: "pull_request", Action: "synchronize"},
	}
}

func pull(n int) quorum.PR { return quorum.PR{Owner: "acme", Repo: "shop", Number: n} }

// settle waits in virtual time until nothing moves any more, and then d.
func settle(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// lookAt asks for a look at a pull request, whatever happened.
func lookAt(tenant int64, pr quorum.PR, due time.Time) store.Poke {
	return store.Poke{
		Key:    workkey.Pull(tenant, pr),
		Tenant: tenant,
		Kind:   workkey.KindPull,
		Group:  workkey.Repo(tenant, pr.Owner, pr.Repo),
		Due:    due,
		Touch:  store.Any,
	}
}

func count(all []string, of string) (n int) {
	for _, s := range all {
		if s == of {
			n++
		}
	}
	return n
}

func TestADeliveryLeadsToOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.open(1, pull(7))
		h.deliver(about(1, pull(7)))
		settle(time.Second)
		if got := l.looks(); len(got) != 1 || got[0] != "acme/shop#7" {
			t.Errorf("looked at %v", got)
		}
		row, err := h.Store.Get(t.Context(), "1/acme/shop#7")
		if err != nil {
			t.Fatal(err)
		}
		var s dashboard.Sight
		if err := json.Unmarshal(row.Sight, &s); err != nil {
			t.Fatal(err)
		}
		if s.Verdict != "waiting" || len(s.Lanes) != 1 || s.Wake.IsZero() || !row.Open || row.Wake.IsZero() {
			t.Errorf("the table holds %+v, seen %+v", row, s)
		}
		h.stop()
	})
}

func TestADuplicateIsNoLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Second)
		before := len(l.looks())
		if got := h.deliverAs("one", about(1, pull(7))); got != "accepted" {
			t.Error(got)
		}
		settle(time.Second)
		for range 5 {
			if got := h.deliverAs("one", about(1, pull(7))); got != "duplicate" {
				t.Error(got)
			}
			settle(time.Second)
		}
		if n := len(l.looks()) - before; n != 1 {
			t.Errorf("%d looks", n)
		}
		h.stop()
	})
}

func TestABurstComesToTwoLooksAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = 100 * time.Millisecond
		h := build(t, l, t.TempDir())
		settle(time.Second)
		for n := range 100 {
			l.open(1, pull(n+1))
		}
		for range 10 {
			for n := range 100 {
				h.deliver(about(1, pull(n+1)))
			}
		}
		settle(time.Minute)
		looks := l.looks()
		for n := range 100 {
			if got := count(looks, pull(n+1).String()); got < 1 || got > 2 {
				t.Errorf("%s: %d looks", pull(n+1), got)
			}
		}
		if len(l.twice) > 0 {
			t.Errorf("looked at twice at once: %v", l.twice)
		}
		h.stop()
	})
}

// One tenant's looks at a time are bounded, however many workers are free when it comes.
func TestATenantGetsNotAllWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir(), func(c *Config) { c.PerTenant = 5 })
		settle(time.Minute)
		l.mu.Lock()
		l.takes = time.Second
		l.mu.Unlock()
		var pokes []store.Poke // all due at once
		for n := range 40 {
			l.open(1, pull(n+1))
			pokes = append(pokes, lookAt(1, pull(n+1), time.Now().Add(time.Second)))
		}
		if err := h.Store.Poke(t.Context(), pokes...); err != nil {
			t.Fatal(err)
		}
		h.deliver(
			webhook.Notice{Concern: webhook.ConcernHead, Installation: 1, Owner: "acme", Repo: "shop", Head: sha},
		) // of no pull request: the table is looked at
		settle(1500 * time.Millisecond)
		l.mu.Lock()
		at := 0
		for _, within := range l.within {
			if within {
				at++
			}
		}
		l.mu.Unlock()
		if at != 5 {
			t.Errorf("%d looks at a time, want 5", at)
		}
		h.stop()
	})
}

func TestWhatHappensDuringALookIsLookedAtAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = 10 * time.Second
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(5 * time.Second) // the resync's look is under way
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		if got := len(l.looks()); got != 2 || len(l.twice) > 0 {
			t.Errorf("%d looks, at once %v", got, l.twice)
		}
		h.stop()
	})
}

// Who has no part in a burst is looked at soon, however long the looks of those who have: several at once, one that is
// asked for again during its look, and one of which an event names only the commit.
func TestARushHoldsUpNobodyElsesLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.slow = map[int64]time.Duration{1: time.Minute}
		h := build(t, l, t.TempDir())
		settle(time.Second)
		n := 0
		storm := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); n++ {
				if n < 500 {
					l.open(1, pull(n+1))
				}
				h.deliver(about(1, pull(n%500+1)))
				settle(2 * time.Millisecond)
			}
		}
		storm(2 * time.Second)
		others := make([]quorum.PR, 8)
		l.mu.Lock()
		l.takes = 200 * time.Millisecond
		l.mu.Unlock()
		for n := range others {
			others[n] = quorum.PR{Owner: "other", Repo: fmt.Sprint("tool-", n), Number: n + 1}
			l.open(int64(n+2), others[n])
			h.deliver(about(int64(n+2), others[n]))
		}
		storm(100 * time.Millisecond)
		h.deliver(about(2, others[0])) // while it is looked at
		l.mu.Lock()
		l.heads["other/tool-7@"+sha] = []quorum.PR{{Owner: "other", Repo: "tool-7", Number: 99}}
		l.mu.Unlock()
		h.deliver(
			webhook.Notice{
				Action:       "completed",
				Concern:      webhook.ConcernHead,
				Installation: 9,
				Owner:        "other",
				Repo:         "tool-7",
				Head:         sha,
				Touch:        quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/openai.yml"},
			},
		)
		storm(1500 * time.Millisecond)
		looks := l.looks()
		for n, pr := range append(slices.Clone(others), quorum.PR{Owner: "other", Repo: "tool-7", Number: 99}) {
			want := 1
			if n == 0 {
				want = 2
			}
			if got := count(looks, pr.String()); got != want {
				t.Errorf("%s was looked at %d times, want %d", pr, got, want)
			}
		}
		h.stop()
	})
}

// A resync wakes nobody who is being looked at, unless that look may have missed a change.
func TestAResyncTrustsALookThatIsUnderWay(t *testing.T) {
	for _, test := range []struct {
		title   string
		began   time.Duration // before the resync
		changed time.Duration // from the look's begin on
		skew    time.Duration
		looks   int
	}{
		{"what changed before it began", 5 * time.Second, -20 * time.Second, 0, 1},
		{"what changed after it began", 5 * time.Second, time.Second, 0, 2},
		{"what changed after it began, and our clock is ahead", 5 * time.Second, time.Second, -time.Minute, 2},
		{"what is undecided, and the look is old", 20 * time.Second, -20 * time.Second, 0, 2},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7))
				h := build(t, l, t.TempDir())
				settle(5*time.Minute - time.Second - test.began)
				l.mu.Lock()
				l.looked, l.takes, l.skew = nil, time.Minute, test.skew
				l.mu.Unlock()
				h.deliver(about(1, pull(7)))
				l.mu.Lock()
				l.pulls[1][pull(7)] = time.Now().Add(test.skew + test.changed)
				l.mu.Unlock()
				settle(3 * time.Minute)
				if got := len(l.looks()); got != test.looks || len(l.twice) > 0 {
					t.Errorf("%d looks, at once %v, want %d", got, l.twice, test.looks)
				}
				h.stop()
			})
		})
	}
}

// The other tenant's single event is looked at among the first, however many a tenant has.
func TestAStormHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = time.Second
		h := build(t, l, t.TempDir(), func(c *Config) { c.Workers, c.PerTenant = 8, 6 })
		settle(time.Second)
		for n := range 500 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		other := quorum.PR{Owner: "other", Repo: "tool", Number: 1}
		l.open(2, other)
		settle(2 * time.Second)
		h.deliver(about(2, other))
		settle(1500 * time.Millisecond)
		looks := l.looks()
		at := slices.Index(looks, other.String())
		if at < 0 || len(looks) > 100 {
			t.Errorf("of %d looks the other tenant's is at %d", len(looks), at)
		}
		h.stop()
	})
}

func TestALimitIsADueTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		until := time.Now().Add(20 * time.Minute)
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 && time.Now().Before(until) {
				return limitError{until}
			}
			return nil
		}
		l.mu.Unlock()
		for n := range 50 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		settle(time.Minute)
		sent := l.sent(1)
		if sent > h.PerTenant {
			t.Errorf("%d requests met the limit", sent)
		}
		settle(18 * time.Minute)
		if now := l.sent(1); now != sent {
			t.Errorf("%d requests while the limit lasted", now-sent)
		}
		settle(2 * time.Minute)
		seen := map[string]bool{}
		for _, pr := range l.looks() {
			seen[pr] = true
		}
		if len(seen) != 50 || l.sent(1) <= sent {
			t.Errorf("%d of 50 were looked at after it", len(seen))
		}
		h.stop()
	})
}

func TestABudgetIsKeptWithoutARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.ready[1] = time.Now().Add(10 * time.Minute)
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.open(1, pull(1))
		h.deliver(about(1, pull(1)))
		settle(9 * time.Minute)
		if n := len(l.looks()); n != 0 {
			t.Errorf("%d looks before the budget allows one", n)
		}
		if table, err := h.View().Health(t.Context(), time.Now()); err != nil || !table.HeldUntil().Equal(l.ready[1]) || table.Oldest > 0 {
			t.Errorf("%+v, %v; held until %s", table, err, l.ready[1])
		}
		settle(2 * time.Minute)
		if n := len(l.looks()); n == 0 {
			t.Error("no look after it")
		}
		h.stop()
	})
}

// What has just happened goes before a look-over that the hour's budget holds up, and the page tells of both.
func TestWhatHappensGoesBeforeTheBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1), pull(2), pull(3), pull(4))
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.backlogReady, l.looked = time.Now().Add(30*time.Minute), nil
		l.mu.Unlock()
		l.open(1, pull(1), pull(2), pull(3), pull(4)) // they have changed, and no event told
		settle(6 * time.Minute)
		if n := len(l.looks()); n > 0 {
			t.Errorf("%d looks of the backlog before the budget leaves any over", n)
		}
		h.deliver(about(1, pull(3)))
		settle(time.Second)
		if got := l.looks(); len(got) != 1 || got[0] != pull(3).String() {
			t.Errorf("after an event were looked at: %v", got)
		}
		table, err := h.View().Health(t.Context(), time.Now())
		if err != nil || table.BacklogSize() == 0 || table.BacklogEnd().Before(l.backlogReady) || table.Oldest > 0 || len(table.Held) > 0 {
			t.Errorf("%+v, %v", table, err)
		}
		settle(time.Hour)
		seen := l.looks()
		slices.Sort(seen)
		if seen = slices.Compact(seen); len(seen) != 4 {
			t.Errorf("in the end were looked at: %v", seen)
		}
		h.stop()
	})
}

// A resync that waits, for a limit or its turn, is in the figures and, once an hour, in the log; after it nothing is.
func TestAResyncThatWaitsSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1))
		var log bytes.Buffer
		m := NewMetrics(MetricsOptions{})
		h := build(t, l, t.TempDir(), func(c *Config) { c.Metrics, c.Log = m, slog.New(slog.NewTextHandler(&log, nil)) })
		settle(10 * time.Minute)
		waits := func(least, most int) {
			t.Helper()
			age, err := strconv.Atoi(strings.SplitN(scrape(t, m)["coordinator_tasks_backlog_oldest_due_seconds"], ".", 2)[0])
			if err != nil || age < least || age > most {
				t.Errorf("due for %d s (%v), want %d to %d", age, err, least, most)
			}
		}
		waits(0, 60)
		l.mu.Lock()
		l.backlogReady = time.Now().Add(90 * time.Minute)
		l.mu.Unlock()
		settle(30 * time.Minute)
		waits(24*60, 30*60)
		settle(55 * time.Minute)
		waits(79*60, 85*60)
		settle(30 * time.Minute)
		waits(0, 60)
		h.stop()
		late := regexp.MustCompile(`time=\S+T(\d\d:\d)\d:\S+ level=INFO msg="open pull requests are looked over late`)
		if told := late.FindAllStringSubmatch(log.String(), -1); len(told) != 2 || told[0][1] != "00:1" || told[1][1] != "01:1" {
			t.Errorf("the log tells %q, want one within ten minutes, and one an hour later: %s", told, log.String())
		}
	})
}

// In a spent hour is looked at what may take a green check away, and nothing else.
func TestASpentHourLooksAtWhatMayEndGreen(t *testing.T) {
	green, waits := []byte(`{"conclusion":"success"}`), []byte(`{"status":"in_progress"}`)
	said := func(t quorum.Touch) string {
		text, _ := json.Marshal(t)
		return string(text)
	}
	for name, c := range map[string]struct {
		sight   []byte
		touch   string
		backlog bool
		people  int // the policy asks for
		looked  bool
	}{
		"a text of a reviewer's":          {sight: green, touch: said(quorum.Touch{Event: "issue_comment", Author: "reviewer[bot]"}), looked: true},
		"the end of a run":                {sight: green, touch: said(quorum.Touch{Event: "workflow_run", Action: "completed"}), looked: true},
		"whatever happened":               {sight: green, touch: store.Any, looked: true},
		"of which nothing is known":       {touch: said(quorum.Touch{Event: "pull_request", Action: "edited"}), looked: true},
		"a new one":                       {touch: said(quorum.Touch{Event: "pull_request", Action: "opened"})},
		"a push":                          {sight: green, touch: said(quorum.Touch{Event: "pull_request", Action: "synchronize"})},
		"a resync":                        {sight: green, touch: said(quorum.Touch{Action: "resync"})},
		"a person's review":               {sight: green, touch: said(quorum.Touch{Event: "pull_request_review", Author: "carol"}), people: 1, looked: true},
		"a stranger's review":             {sight: green, touch: said(quorum.Touch{Event: "pull_request_review", Author: "mallory"})},
		"a stranger's text":               {sight: green, touch: said(quorum.Touch{Event: "issue_comment", Author: "mallory"})},
		"words that approve":              {sight: green, touch: said(quorum.Touch{Event: "issue_comment", Author: "reviewer[bot]", Approver: "r"})},
		"one that is not green":           {sight: waits, touch: said(quorum.Touch{Event: "issue_comment", Author: "reviewer[bot]"})},
		"a green one that is looked over": {sight: green, touch: store.Any, backlog: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.policy.Reviewers = []quorum.Reviewer{{Name: "r", Author: "reviewer[bot]"}}
				l.policy.People = quorum.NewPeople(quorum.PeopleRule{Count: c.people})
				h := build(t, l, t.TempDir())
				l.open(1, pull(2))
				h.deliver(about(1, pull(2))) // the policy is known from it
				settle(time.Second)
				l.open(1, pull(1)) // after the first resync, which would look at it
				l.mu.Lock()
				l.liveReady, l.looked = time.Now().Add(30*time.Minute), nil
				l.mu.Unlock()
				p := lookAt(1, pull(1), time.Now().Add(time.Hour))
				if err := h.Store.Poke(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				later := time.Now().Add(2 * time.Hour)
				work, err := h.Store.Claim(t.Context(), store.Claim{Now: later, Lease: time.Minute, Limit: 9})
				for _, w := range work {
					as := store.Completion{Now: time.Now(), Keep: true, Wake: w.Due, Backlog: w.Backlog}
					if w.Key == p.Key {
						as = store.Completion{Now: time.Now(), Sight: c.sight}
					}
					_, ending := h.Store.Complete(t.Context(), w.Lease, as)
					err = errors.Join(err, ending)
				}
				p.Due, p.Touch, p.Backlog = time.Now(), c.touch, c.backlog
				if err = errors.Join(err, h.Store.Poke(t.Context(), p)); err != nil {
					t.Fatal(err)
				}
				settle(20 * time.Minute)
				if looked := len(l.looks()) > 0; looked != c.looked {
					t.Errorf("in the spent hour it was looked at: %v", looked)
				}
				settle(20 * time.Minute)
				if len(l.looks()) == 0 {
					t.Error("nor in the next")
				}
				h.stop()
			})
		})
	}
}

// makeGreen makes all that is tracked green, as if it had been looked at now.
func (h *house) makeGreen(t *testing.T) {
	t.Helper()
	later := time.Now().Add(2 * time.Hour)
	work, err := h.Store.Claim(t.Context(), store.Claim{Now: later, Lease: time.Minute, Limit: 5000})
	for _, w := range work {
		as := store.Completion{Now: time.Now(), Keep: true, Wake: w.Due, Backlog: w.Backlog, LiveDue: w.LiveDue}
		if w.Kind == workkey.KindPull {
			sight, _ := json.Marshal(map[string]any{"conclusion": "success", "at": time.Now()})
			as = store.Completion{Now: time.Now(), Sight: sight}
		}
		_, ending := h.Store.Complete(t.Context(), w.Lease, as)
		err = errors.Join(err, ending)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What the table knows of an organisation's policy is told before the first look after a start: one that is hidden meanwhile is none
// that never was.
func TestAStartKnowsTheOrganisationsPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, dir := newLand(), t.TempDir()
		l.file.Org = quorum.OrganisationFile{Repo: "acme/.github", SHA: "o1"}
		h := build(t, l, dir)
		l.open(1, pull(1))
		settle(2 * time.Minute)
		h.stop()
		l.mu.Lock()
		l.remembered = nil
		l.mute = true // so that nothing is told but what the table knows
		l.mu.Unlock()
		h = build(t, l, dir)
		l.open(1, pull(2))
		h.deliver(about(1, pull(2)))
		settle(time.Second)
		h.stop()
		if !slices.Equal(slices.Compact(l.remembered), []string{"acme acme/.github o1"}) { // two keys may begin side by side
			t.Errorf("the start tells of %q", l.remembered)
		}
	})
}

// Strangers' comments change many green pull requests, and a policy's edit all of a repository: few of them go before what
// happens elsewhere.
func TestManyGreenOnesDoNotGoAhead(t *testing.T) {
	for name, change := range map[string]func(h *house, l *land, prs []quorum.PR){
		"comments": func(_ *house, l *land, prs []quorum.PR) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, pr := range prs {
				l.pulls[1][pr] = time.Now() // GitHub's updated_at
			}
		},
		"the policy": func(h *house, l *land, _ []quorum.PR) {
			l.mu.Lock()
			l.file.SHA = "p2"
			l.mu.Unlock()
			h.deliver(webhook.Notice{Name: "push", Concern: webhook.ConcernRepo, Installation: 1, Owner: "acme", Repo: "shop"})
		},
		"the organisation's policy": func(h *house, l *land, _ []quorum.PR) {
			l.mu.Lock()
			l.org = quorum.OrganisationFile{Repo: "acme/.github", SHA: "o2"}
			l.mu.Unlock()
			h.deliver(webhook.Notice{
				Name: "push", Concern: webhook.ConcernRepo, Installation: 1, Owner: "acme", Repo: ".github", Organisation: true,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				h := build(t, l, t.TempDir())
				var prs []quorum.PR
				for n := range 100 {
					prs = append(prs, pull(n+1))
				}
				l.open(1, prs...)
				settle(2 * time.Minute)
				h.makeGreen(t)
				l.mu.Lock()
				l.looked, l.takes = nil, 2*time.Second
				l.mu.Unlock()
				change(h, l, prs)
				for range 600 { // until the resync has found them
					if settle(time.Second); len(l.looks()) > 0 {
						break
					}
				}
				before := len(l.looks())
				other := quorum.PR{Owner: "acme", Repo: "other", Number: 7}
				l.open(1, other)
				h.deliver(about(1, other))
				settle(15 * time.Second)
				after := slices.Index(l.looks(), other.String())
				if after < 0 || after > before+40 {
					t.Errorf("a push elsewhere was look number %d, %d of them before it, of %d", after+1, before, len(l.looks()))
				}
				settle(15 * time.Minute)
				if n := len(l.looks()); n < len(prs) {
					t.Errorf("a quarter of an hour later %d of %d were looked at", n, len(prs))
				}
				h.stop()
			})
		})
	}
}

// What waits for the next hour is not put behind the backlog by a look-over that finds it, too.
func TestAnEventThatWaitsIsNotOfTheBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1))
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.liveReady, l.backlogReady = time.Now().Add(20*time.Minute), time.Now().Add(5*time.Hour)
		l.looked = nil
		l.mu.Unlock()
		h.deliver(about(1, pull(1)))
		settle(time.Second)
		over := lookAt(1, pull(1), time.Now())
		over.Backlog = true
		if err := h.Store.Poke(t.Context(), over); err != nil {
			t.Fatal(err)
		}
		settle(10 * time.Minute)
		if n := len(l.looks()); n != 0 {
			t.Errorf("%d looks in the spent hour", n)
		}
		settle(15 * time.Minute)
		if len(l.looks()) == 0 {
			t.Error("the event was not looked at in the next hour")
		}
		h.stop()
	})
}

func TestRefusedCredentialsParkTheTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		renewed := false
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 && !renewed {
				return fmt.Errorf("token: %w", errUnauthorized)
			}
			return nil
		}
		l.mu.Unlock()
		l.open(1, pull(1), pull(2), pull(3))
		for n := range 3 {
			h.deliver(about(1, pull(n+1)))
		}
		settle(3 * time.Hour)
		if n := l.sent(1); n > 30 {
			t.Errorf("%d requests in three hours", n)
		}
		l.mu.Lock()
		renewed = true
		l.looked = nil
		l.mu.Unlock()
		settle(2 * time.Hour)
		for n := range 3 {
			if !slices.Contains(l.looks(), pull(n+1).String()) {
				t.Errorf("%s was not looked at after the key was renewed", pull(n+1))
			}
		}
		h.stop()
	})
}

// What moved while it was read is no outage: one such pull request holds up no other of its tenant.
func TestWhatMovesRestsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1), pull(2))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.fails = func(int64) error { return fmt.Errorf("observe: %w", movedError{}) }
		l.mu.Unlock()
		for range 60 {
			h.deliver(about(1, pull(1)))
			settle(time.Second)
		}
		l.mu.Lock()
		l.fails, l.looked = nil, nil
		l.mu.Unlock()
		h.deliver(about(1, pull(2)))
		settle(time.Second)
		if n := count(l.looks(), pull(2).String()); n == 0 {
			t.Error("another pull request of the tenant is not looked at")
		}
		h.stop()
	})
}

// movedError is as the host tells it.
type movedError struct{}

func (movedError) Error() string   { return "it changed" }
func (movedError) Unwrap() error   { return github.ErrMoved }
func (movedError) Temporary() bool { return true }

func TestATenantThatIsGoneTakesItsWorkAlong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1), pull(2))
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.gone[1] = true
		l.fails = func(tenant int64) error {
			if tenant == 1 {
				return fmt.Errorf("token: %w", client.ErrNotInstalled)
			}
			return nil
		}
		l.mu.Unlock()
		h.deliver(webhook.Notice{Action: "deleted", Concern: webhook.ConcernGone, Installation: 1})
		settle(2 * time.Minute)
		sent := l.sent(1)
		settle(24 * time.Hour)
		if n := l.sent(1) - sent; n > 0 {
			t.Errorf("%d requests for an installation that is gone", n)
		}
		one := int64(1)
		rows, err := h.Store.List(t.Context(), store.Query{Tenant: &one})
		if err != nil || len(rows) > 0 {
			t.Errorf("the table still holds %v, %v", rows, err)
		}
		h.stop()
	})
}

func TestAPullRequestThatIsGoneEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.fails = func(int64) error { return fmt.Errorf("read: %w", errGone) }
		l.mu.Unlock()
		h.deliver(about(1, pull(9)))
		settle(time.Hour)
		if n := count(l.looks(), pull(9).String()); n != 4 {
			t.Errorf("%d looks at what is gone", n)
		}
		h.stop()
	})
}

func TestAnOutageHealsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		var log bytes.Buffer
		h := build(t, l, t.TempDir(), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		settle(time.Second)
		down := true
		l.mu.Lock()
		l.fails = func(int64) error {
			if down {
				return faultError{}
			}
			return nil
		}
		l.mu.Unlock()
		for n := range 200 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		settle(10 * time.Minute)
		if n := l.sent(1); n > 600 {
			t.Errorf("%d requests in ten minutes of an outage", n)
		}
		l.mu.Lock()
		down, l.looked = false, nil
		l.mu.Unlock()
		settle(10 * time.Minute)
		seen := map[string]bool{}
		for _, pr := range l.looks() {
			seen[pr] = true
		}
		if len(seen) != 200 {
			t.Errorf("%d of 200 were looked at after the outage", len(seen))
		}
		health, err := h.Store.Health(t.Context(), time.Now())
		if err != nil || health.Failing > 0 {
			t.Errorf("%+v, %v", health, err)
		}
		h.stop()
		begins, ends := strings.Count(log.String(), "GitHub cannot be reached: "), strings.Count(log.String(), "GitHub can be reached again")
		if begins != 1 || ends != 1 {
			t.Errorf("the log tells %d times that the outage begins, and %d times that it ends", begins, ends)
		}
	})
}

// What could not be looked at yet is undecided, and people see it as that; once it was looked at, it is what it is.
func TestWhatWasNeverLookedAtIsOpen(t *testing.T) {
	for name, err := range map[string]error{"fault": faultError{}, "limit": limitError{}, "refused": errUnauthorized} {
		synctest.Test(t, func(t *testing.T) {
			l := newLand()
			h := build(t, l, t.TempDir())
			settle(time.Second)
			mend := l.failing(1, err)
			l.open(1, pull(1))
			h.deliver(about(1, pull(1)))
			n := 1
			if name != "refused" { // then one key at a time finds out, and another one may have to wait
				h.deliver(about(1, pull(2))) // it is closed
				n = 2
			}
			settle(10 * time.Minute)
			health, _ := h.Store.Health(t.Context(), time.Now())
			if !h.row(1, pull(1)).Open || n == 2 && !h.row(1, pull(2)).Open || health.Open != n {
				t.Errorf("%s: %d of %d are open", name, health.Open, n)
			}
			if health.Keys > 5 {
				t.Errorf("%+v", health)
			}
			mend()
			settle(10 * time.Minute)
			health, _ = h.Store.Health(t.Context(), time.Now())
			if row := h.row(1, pull(1)); !row.Open || row.Sight == nil || health.Open != 1 {
				t.Errorf("%s: %+v is left, %d are open", name, row, health.Open)
			}
			if _, err := h.Store.Get(t.Context(), workkey.Pull(1, pull(2))); !errors.Is(err, store.ErrNoRow) {
				t.Errorf("%s: what is closed is still there: %v", name, err)
			}
			h.stop()
		})
	}
}

func TestAMistakeOfOursStopsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.panics = true
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.open(1, pull(1))
		h.deliver(about(1, pull(1)))
		settle(time.Minute)
		l.mu.Lock()
		l.panics = false
		l.mu.Unlock()
		settle(10 * time.Minute)
		if len(l.looks()) == 0 {
			t.Error("never looked at after it")
		}
		h.stop()
	})
}

func TestWhatConcernsNoReviewerCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		sent, row := l.sent(1), h.row(1, pull(7))
		n := about(1, pull(7))
		n.Touch = quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/tests.yml", Run: 4}
		h.deliver(n)
		n.Touch = quorum.Touch{Event: "issue_comment", Author: "alice"}
		h.deliver(n)
		n = webhook.Notice{
			Action:       "completed",
			Concern:      webhook.ConcernHead,
			Installation: 1,
			Owner:        "acme",
			Repo:         "shop",
			Head:         sha,
			Touch:        quorum.Touch{Event: "check_run", App: "lint-app", Name: "lint"},
		}
		h.deliver(n)
		settle(time.Minute)
		if got := l.sent(1); got != sent {
			t.Errorf("%d requests", got-sent)
		}
		after := h.row(1, pull(7))
		if !after.Wake.Equal(row.Wake) || !after.Due.Equal(row.Due) || after.Due.IsZero() {
			t.Errorf("due %s and wake %s before, %s and %s after", row.Due, row.Wake, after.Due, after.Wake)
		}
		n = about(1, pull(7))
		n.Touch = quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/openai.yml", Run: 5}
		h.deliver(n)
		settle(time.Second)
		if got := l.sent(1); got == sent {
			t.Error("the reviewer's own run was spared too")
		}
		h.stop()
	})
}

func (h *house) row(tenant int64, pr quorum.PR) store.Row {
	h.t.Helper()
	row, err := h.Store.Get(h.t.Context(), workkey.Pull(tenant, pr))
	if err != nil {
		h.t.Fatal(err)
	}
	return row
}

func TestACommitsPullRequestsAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7), pull(8))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.heads["acme/shop@"+sha] = []quorum.PR{pull(7), pull(8)}
		l.looked = nil
		l.mu.Unlock()
		h.deliver(
			webhook.Notice{
				Action:       "completed",
				Concern:      webhook.ConcernHead,
				Installation: 1,
				Owner:        "acme",
				Repo:         "shop",
				Head:         sha,
				Touch:        quorum.Touch{Event: "workflow_run", Workflow: ".github/workflows/openai.yml"},
			},
		)
		settle(time.Second)
		looks := l.looks()
		slices.Sort(looks)
		if strings.Join(looks, " ") != "acme/shop#7 acme/shop#8" {
			t.Errorf("looked at %v", looks)
		}
		if _, err := h.Store.Get(t.Context(), workkey.Head(1, "acme", "shop", sha)); !errors.Is(err, store.ErrNoRow) {
			t.Errorf("the commit is still there: %v", err)
		}
		h.stop()
	})
}

func TestWakesSurviveARestart(t *testing.T) {
	for name, away := range map[string]time.Duration{
		"that passed meanwhile": time.Hour, // it means now
		"that is to come":       time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				l := newLand()
				l.open(1, pull(7))
				h := build(t, l, dir)
				settle(time.Minute)
				due := h.row(1, pull(7)).Wake
				h.stop()
				settle(away)
				l.tellsNothing()
				if due.Before(time.Now()) {
					due = time.Now()
				}
				h = build(t, l, dir)
				settle(time.Until(due) - time.Millisecond)
				if n := len(l.looks()); n > 0 && due.After(time.Now()) {
					t.Errorf("%d looks before the wake", n)
				}
				settle(time.Second)
				if n := count(l.looks(), pull(7).String()); n != 1 {
					t.Errorf("%d looks after the restart", n)
				}
				late := scrape(t, h.Metrics)["coordinator_deadline_lateness_seconds_sum"]
				if passed := away == time.Hour; passed == (late == "0") {
					t.Errorf("it woke %s s late", late)
				}
				h.stop()
			})
		})
	}
}

func TestAStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := newLand()
		l.takes = 3 * time.Second
		h := build(t, l, dir, func(c *Config) { c.Workers = 4 })
		settle(time.Second)
		for n := range 100 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		settle(time.Second)
		began := time.Now()
		h.stop()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the stop took %s", took)
		}
		if _, err := h.Receive(t.Context(), Received{ID: "late", Event: "ping", Payload: []byte("{}")}); !errors.Is(err, ErrDraining) {
			t.Errorf("a delivery after the stop: %v", err)
		}
		finished := len(l.looks())
		if finished == 0 || finished > 50 {
			t.Fatalf("%d of 100 were looked at before the stop", finished)
		}
		l.tellsNothing()
		h = build(t, l, dir)
		if health, err := h.Store.Health(t.Context(), time.Now()); err != nil || health.Accepted != 100 {
			t.Errorf("%d deliveries of 100 are known, %v", health.Accepted, err)
		}
		settle(time.Minute)
		if looks := l.looks(); len(looks) != 100-finished {
			t.Errorf("%d were looked at before the stop, and %d after it", finished, len(looks))
		}
		for n := range 100 { // each of them by now
			if h.row(1, pull(n+1)).Seen.IsZero() {
				t.Errorf("%s was never looked at", pull(n+1))
			}
		}
		h.stop()
	})
}

func TestALookThatWillNotEndIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := newLand()
		l.takes = time.Hour
		l.open(1, pull(1))
		h := build(t, l, dir)
		settle(time.Minute)
		began := time.Now()
		h.stop()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the stop took %s", took)
		}
		l.tellsNothing()
		h = build(t, l, dir)
		settle(time.Second)
		if len(l.looks()) == 0 {
			t.Error("not looked at after the restart")
		}
		h.stop()
	})
}

// Everything that waits is there after a restart, each key as it was: a resync that is due in an hour, too.
func TestWhatWaitsIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, dir)
		settle(time.Minute)
		before := h.dues()
		h.stop()
		l.tellsNothing()
		h = build(t, l, dir)
		settle(time.Second) // the host itself is looked over at a start
		after := h.dues()
		for _, key := range []string{"1", "1/acme/shop", "1/acme/shop#7"} {
			if before[key].IsZero() || !after[key].Equal(before[key]) {
				t.Errorf("%s was due %s, and is due %s", key, before[key], after[key])
			}
		}
		h.stop()
	})
}

// dues is when each key of the table is due.
func (h *house) dues() map[string]time.Time {
	h.t.Helper()
	rows, err := h.Store.List(h.t.Context(), store.Query{})
	if err != nil {
		h.t.Fatal(err)
	}
	due := map[string]time.Time{}
	for _, row := range rows {
		due[row.Key] = row.Due
	}
	return due
}

func TestALongLookKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = 5 * time.Minute
		l.open(1, pull(1))
		h := build(t, l, t.TempDir())
		settle(6 * time.Minute)
		if len(l.twice) > 0 {
			t.Errorf("looked at twice at once: %v", l.twice)
		}
		if row := h.row(1, pull(1)); row.Seen.IsZero() {
			t.Errorf("its outcome was not kept: %+v", row)
		}
		h.stop()
	})
}

func TestFailedDeliveriesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(1))
		h := build(t, l, t.TempDir())
		settle(time.Second)
		h.deliverAs("arrived", about(1, pull(1)))
		l.mu.Lock()
		l.missed = []client.FailedDelivery{{GUID: "lost", ID: 1}, {GUID: "arrived", ID: 2}}
		l.mu.Unlock()
		settle(time.Hour)
		l.mu.Lock()
		asked := slices.Clone(l.asked)
		l.mu.Unlock()
		if count(asked, "arrived") > 0 || count(asked, "lost") != 4 { // at once, and after 5, 10 and 20 minutes
			t.Errorf("asked for %v", asked)
		}
		h.stop()
	})
}

// courier is a land whose way to the daemon can be broken: it knows each attempt, as GitHub does.
type courier struct {
	*land
	down    func() bool
	answer  error // of each redelivery; nil: it is sent
	receive func(id string)
	trips   []trip
}

type trip struct {
	id string
	at time.Time
	ok bool
}

// send is a delivery or a redelivery; of a first one that the way is broken is enough.
func (p *courier) send(id string) {
	p.mu.Lock()
	up, receive := p.down == nil || !p.down(), p.receive
	p.trips = append(p.trips, trip{id, time.Now(), up})
	p.mu.Unlock()
	if up {
		receive(id)
	}
}

func (p *courier) Deliveries(_ context.Context, since time.Time) (all []client.FailedDelivery, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reached := map[string]bool{}
	for hook, a := range slices.Backward(p.trips) {
		if a.at.Before(since) {
			break
		}
		if reached[a.id] = reached[a.id] || a.ok; !reached[a.id] && !slices.ContainsFunc(all, func(m client.FailedDelivery) bool { return m.GUID == a.id }) {
			all = append(all, client.FailedDelivery{GUID: a.id, ID: int64(hook)})
		}
	}
	return all, nil
}

func (p *courier) Redeliver(_ context.Context, delivery int64) error {
	p.mu.Lock()
	id := p.trips[delivery].id
	p.asked = append(p.asked, id)
	newest := !slices.ContainsFunc(p.trips[delivery+1:], func(a trip) bool { return a.id == id && time.Since(a.at) < 4*time.Minute })
	err := p.answer
	p.mu.Unlock()
	if !newest {
		return errors.New("that is not the newest attempt")
	}
	if err == nil {
		p.send(id)
	}
	return err
}

func (p *courier) asks(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return count(p.asked, id)
}

// mail starts a daemon to which a land's post comes; it receives notices about pull 7.
func mail(t *testing.T, p *courier, dir string, tune ...func(*Config)) *house {
	h := build(t, p.land, dir, append(tune, func(c *Config) { c.Host = p })...)
	p.mu.Lock()
	p.receive = func(id string) { h.deliverAs(id, about(1, pull(7))) }
	p.mu.Unlock()
	settle(time.Second)
	return h
}

// left are the failed deliveries that are still remembered, as the table has them, with when each is asked for.
func (h *house) left() map[string]time.Time {
	h.t.Helper()
	row, err := h.Store.Get(h.t.Context(), workkey.App)
	if err != nil {
		h.t.Fatal(err)
	}
	var kept struct {
		Unsettled []struct {
			ID   string
			Next time.Time
		}
	}
	if err := json.Unmarshal(row.Sight, &kept); err != nil {
		h.t.Fatal(err)
	}
	all := map[string]time.Time{}
	for _, u := range kept.Unsettled {
		all[u.ID] = u.Next
	}
	return all
}

// seldom is an alarm for days on end: it rings at whole steps only.
func seldom(step time.Duration) func(time.Time) (<-chan time.Time, func()) {
	began := time.Now()
	return func(time.Time) (<-chan time.Time, func()) {
		timer := time.NewTimer(step - time.Since(began)%step)
		return timer.C, func() { timer.Stop() }
	}
}

// However long the way to us is broken, what failed meanwhile is asked for until it arrives, and then no more.
func TestALongBreakLosesNoDelivery(t *testing.T) {
	for _, broken := range []time.Duration{20 * time.Minute, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			mended := time.Now().Add(broken)
			p := &courier{land: newLand(), down: func() bool { return time.Now().Before(mended) }}
			h := mail(t, p, t.TempDir())
			p.send("lost") // nothing is listed: only the delivery tells
			settle(broken + broken + 6*time.Minute)
			known, err := h.Store.Known(t.Context(), []string{"lost"})
			if err != nil || !known["lost"] || count(p.looks(), pull(7).String()) == 0 {
				t.Errorf("broken for %s: it came: %v, %v, looked at %v, left is %+v", broken, known["lost"], err, p.looks(), h.left())
			}
			asks := p.asks("lost")
			settle(2 * time.Hour)
			if more := p.asks("lost") - asks; more > 0 || len(h.left()) > 0 {
				t.Errorf("broken for %s: asked for %d times after it came, and left is %v", broken, more, h.left())
			}
			h.stop()
		})
	}
}

// A delivery that does not come is asked for with pauses that grow to four hours, for three days, whatever a restart
// does.
func TestADeliveryThatDoesNotComeIsAskedForEverLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const round = 5 * time.Minute
		dir, alarm := t.TempDir(), seldom(round)
		p := &courier{land: newLand(), down: func() bool { return true }}
		var left map[string]time.Time
		rounds := func(all time.Duration) { // between a start and an end of the daemon
			h := build(t, p.land, dir, func(c *Config) { c.Host, c.Alarm, c.Resync = p, alarm, round })
			p.mu.Lock()
			p.receive = func(id string) { h.deliverAs(id, about(1, pull(7))) }
			p.mu.Unlock()
			settle(all - time.Second)
			left = h.left()
			h.stop()
			settle(time.Second)
		}
		p.send("lost")
		for _, c := range []struct {
			after time.Duration
			asks  int
		}{
			{5 * time.Minute, 1},
			{10 * time.Minute, 2},
			{55 * time.Minute, 4},
			{5 * time.Minute, 4},
			{9 * time.Hour, 8},
			{24 * time.Hour, 14},
			{48 * time.Hour, 23},
		} {
			rounds(c.after) // a restart asks for nothing anew
			if n := p.asks("lost"); n != c.asks {
				t.Errorf("asked for %d times, want %d", n, c.asks)
			}
		}
		rounds(24 * time.Hour)
		if n := p.asks("lost"); n != 23 || len(left) > 0 {
			t.Errorf("asked for %d times after three days; left is %v", n-23, left)
		}
		p.send("other")
		rounds(30 * time.Hour)
		p.mu.Lock()
		p.down = nil
		p.mu.Unlock()
		rounds(4*time.Hour + 2*round)
		if asks := p.asks("other"); asks == 0 || len(left) > 0 {
			t.Errorf("asked for %d times; when the way is mended, left is %v", asks, left)
		}
	})
}

// What concerns nobody is known when it came, though the table holds nothing of it; and what the host has no more is
// given up.
func TestADeliveryIsAskedForNoMore(t *testing.T) {
	for name, p := range map[string]*courier{"ignored": {}, "gone": {answer: fmt.Errorf("redeliver: %w", errGone)}} {
		synctest.Test(t, func(t *testing.T) {
			p.land = newLand()
			p.down = func() bool { return true }
			h := mail(t, p, t.TempDir())
			p.send("lost")
			p.mu.Lock()
			p.down, p.receive = nil, func(id string) { h.deliverAs(id, webhook.Notice{Concern: webhook.ConcernNothing}) }
			p.mu.Unlock()
			settle(2 * time.Hour)
			if n := p.asks("lost"); n != 1 || len(h.left()) > 0 {
				t.Errorf("%s: asked for %d times, left is %v", name, n, h.left())
			}
			h.stop()
		})
	}
}

// A round that ends with an error half way is gone on with where it was, before a restart and after it.
func TestARoundThatFailsHalfWayAsksForTheOthers(t *testing.T) {
	for name, answer := range map[string]error{"fault": faultError{}, "limit": limitError{}} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			l := newLand()
			for n := range 6 {
				l.missed = append(l.missed, client.FailedDelivery{GUID: fmt.Sprint("d", n), ID: int64(n)})
			}
			sent := map[string]int{}
			host := hooked{land: l, redeliver: func(guid string) error {
				if len(l.asked)%2 == 0 { // each second time
					return answer
				}
				sent[guid]++
				return nil
			}}
			with := func(c *Config) { c.Host = host }
			h := build(t, l, dir, with)
			settle(700 * time.Millisecond)
			h.stop()
			h = build(t, l, dir, with)
			settle(4 * time.Minute)
			want := 1
			for n := range 6 {
				id := fmt.Sprint("d", n)
				if name == "fault" {
					want = (n + 1) % 2 // those that failed have their pause
				}
				if sent[id] != want {
					t.Errorf("%s: %s was asked for %d times, want %d; in all %v", name, id, sent[id], want, l.asked)
				}
			}
			h.stop()
		})
	}
}

// So many failed that not all are remembered: the oldest are dropped, and the log says so.
func TestUnsettledDeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most, round = 10_000, 24 * time.Hour
		var log bytes.Buffer
		l, jump := newLand(), &shift{}
		all := make([]client.FailedDelivery, most+7)
		for n := range all {
			all[len(all)-1-n] = client.FailedDelivery{GUID: fmt.Sprint(n), ID: int64(n)} // the newest first, as the host lists them
		}
		newest := all[0].GUID
		names := func(missed []client.FailedDelivery) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.missed, l.asked = missed, nil
		}
		asks := func(id string) int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return count(l.asked, id)
		}
		names(all[most+2:]) // the five oldest
		h := build(t, l, t.TempDir(), func(c *Config) {
			c.Alarm, c.Resync, c.Now, c.Log = seldom(round), round, jump.now, slog.New(slog.NewTextHandler(&log, nil))
		})
		settle(time.Hour)
		if left := h.left(); len(left) != 5 {
			t.Errorf("%d of 5 are left", len(left))
		}
		names(all)
		settle(round)
		left := h.left()
		_, oldest := left["7"]
		_, dropped := left["6"]
		if len(left) != most || !oldest || dropped || asks("7") != 1 || asks("6") != 0 || !strings.Contains(log.String(), "dropped=7") {
			t.Errorf("%d are left, the oldest: %v, one that is older: %v", len(left), oldest, dropped)
		}
		names(all[:1])
		settle(3*round + round)
		for range 3 { // what the host goes on naming is no new one when it is too old
			names(all[:1])
			settle(round)
			if left := h.left(); len(left) != 1 || asks(newest) != 0 {
				t.Errorf("%d are left after three days, and asked for %d times", len(left), asks(newest))
			}
		}
		jump.set(-30 * round) // the clock had been wrong
		settle(round)
		if left := h.left(); len(left) != 1 || asks(newest) != 1 {
			t.Errorf("given up by a wrong clock: %v, asked for %d times", left, asks(newest))
		}
		names(nil)
		settle(5 * round)
		if left := h.left(); len(left) > 0 {
			t.Errorf("%d are left for good", len(left))
		}
		h.stop()
	})
}

func TestTheResyncFindsWhatNoEventTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.open(1, pull(7)) // and nobody tells
		settle(11 * time.Minute)
		if count(l.looks(), pull(7).String()) == 0 {
			t.Fatal("a new pull request was not found")
		}
		l.mu.Lock()
		l.file.SHA, l.looked = "p2", nil
		l.mu.Unlock()
		settle(6 * time.Minute)
		if count(l.looks(), pull(7).String()) == 0 {
			t.Error("a new policy was not found")
		}
		l.mu.Lock()
		delete(l.pulls[1], pull(7))
		l.pulls[1][pull(8)] = time.Now() // or the repository would be gone
		l.mu.Unlock()
		settle(2 * time.Hour)
		if _, err := h.Store.Get(t.Context(), workkey.Pull(1, pull(7))); !errors.Is(err, store.ErrNoRow) {
			t.Errorf("a closed pull request is still tracked: %v", err)
		}
		h.stop()
	})
}

func TestAPushOfTheDefaultBranchReadsThePolicyAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.file.SHA, l.looked = "p2", nil
		l.mu.Unlock()
		h.deliver(webhook.Notice{Name: "push", Concern: webhook.ConcernRepo, Installation: 1, Owner: "acme", Repo: "shop"})
		settle(time.Second)
		if count(l.looks(), pull(7).String()) != 1 {
			t.Errorf("looked at %v", l.looks())
		}
		h.stop()
	})
}

// A personal token has no list of repositories: what a webhook has named is looked over from then on, a restart or not,
// and nothing else is.
func TestATokensResyncCoversWhatWebhooksNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := newLand()
		h := build(t, l, dir, func(c *Config) { c.Host = tokened{l} })
		settle(time.Minute)
		other := quorum.PR{Owner: "acme", Repo: "blog", Number: 1}
		l.open(0, pull(7), other)
		h.deliver(about(0, pull(7)))
		settle(time.Minute)
		l.open(0, pull(8)) // and nobody tells
		settle(6 * time.Minute)
		if count(l.looks(), pull(8).String()) == 0 {
			t.Error("a new pull request of a repository that a webhook has named was not found")
		}
		h.stop()
		l.open(0, pull(9)) // nor of this
		h = build(t, l, dir, func(c *Config) { c.Host = tokened{l} })
		settle(6 * time.Minute)
		if count(l.looks(), pull(9).String()) == 0 {
			t.Error("after a restart it is looked over no more")
		}
		if count(l.looks(), other.String()) > 0 {
			t.Error("a repository that no webhook has named was looked over")
		}
		h.stop()
	})
}

// tokened is a land as a personal token sees it.
type tokened struct{ *land }

func (tokened) Installations(context.Context) ([]client.Installation, error) { return nil, nil }
func (tokened) Deliveries(context.Context, time.Time) ([]client.FailedDelivery, error) {
	return nil, nil
}

func (h tokened) Enter(tenant int64) (TenantForge, error) {
	return listless{place2{h.land, tenant}}, nil
}

type listless struct{ place2 }

func (listless) Repositories(context.Context) ([]string, error) { return nil, nil }
