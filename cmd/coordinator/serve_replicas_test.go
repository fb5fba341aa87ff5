//go:build !action

package main

// An organisation's hour with two daemons on one PostgreSQL, one of which is killed every ten minutes. Time is virtual, the database
// real: it stands outside the bubble, and no time passes in there while it is asked.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/store"
)

// An outside is where functions of a bubble wait for what is not in it. All its channels are made there.
type outside struct {
	jobs    chan func()
	replies chan chan struct{} // that nobody waits for
}

// newOutside starts so many goroutines that work until the test ends.
func newOutside(t *testing.T, workers int) *outside {
	o := &outside{jobs: make(chan func()), replies: make(chan chan struct{}, workers)}
	for range workers {
		o.replies <- make(chan struct{}, 1)
		go func() {
			for job := range o.jobs {
				job()
			}
		}()
	}
	t.Cleanup(func() { close(o.jobs) })
	return o
}

// do calls a function out there and waits for it.
func (o *outside) do(f func()) {
	done := <-o.replies
	o.jobs <- func() {
		f()
		done <- struct{}{}
	}
	<-done
	o.replies <- done
}

var errKilled = errors.New("this process was killed")

// A mortalProcess is a daemon's, until it is killed.
type mortalProcess struct {
	name   string
	role   string // of the database, its own
	table  *store.Database
	at     *outside
	server *server
	cancel context.CancelFunc
	ended  sync.WaitGroup
	dead   atomic.Bool
}

// askOutside asks the table of a process.
func askOutside[T any](p *mortalProcess, ask func(context.Context) (T, error)) (v T, err error) {
	if p.dead.Load() {
		return v, errKilled
	}
	p.at.do(func() { v, err = ask(context.Background()) })
	if p.dead.Load() {
		var none T
		return none, errKilled
	}
	return v, err
}

// doOutside is askOutside of what answers with nothing.
func doOutside(p *mortalProcess, do func(context.Context) error) error {
	_, err := askOutside(p, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// A mortalTable is a process's table, seen from the bubble.
type mortalTable struct{ of *mortalProcess }

var _ store.Store = mortalTable{}

func (m mortalTable) Accept(_ context.Context, d store.AcceptedDelivery, pokes ...store.Poke) (bool, error) {
	return askOutside(m.of, func(ctx context.Context) (bool, error) { return m.of.table.Accept(ctx, d, pokes...) })
}

func (m mortalTable) Poke(_ context.Context, pokes ...store.Poke) error {
	return doOutside(m.of, func(ctx context.Context) error { return m.of.table.Poke(ctx, pokes...) })
}

func (m mortalTable) Claim(_ context.Context, c store.Claim) ([]store.Work, error) {
	return askOutside(m.of, func(ctx context.Context) ([]store.Work, error) { return m.of.table.Claim(ctx, c) })
}

func (m mortalTable) Next(_ context.Context, backlog bool, except []int64) (time.Time, error) {
	return askOutside(m.of, func(ctx context.Context) (time.Time, error) { return m.of.table.Next(ctx, backlog, except) })
}

func (m mortalTable) Renew(_ context.Context, until time.Time, leases ...store.Lease) ([]store.Lease, error) {
	return askOutside(m.of, func(ctx context.Context) ([]store.Lease, error) { return m.of.table.Renew(ctx, until, leases...) })
}

func (m mortalTable) Complete(_ context.Context, l store.Lease, c store.Completion) (bool, error) {
	return askOutside(m.of, func(ctx context.Context) (bool, error) { return m.of.table.Complete(ctx, l, c) })
}

func (m mortalTable) Retire(context.Context) error { return doOutside(m.of, m.of.table.Retire) }

func (m mortalTable) Drop(_ context.Context, tenant int64) error {
	return doOutside(m.of, func(ctx context.Context) error { return m.of.table.Drop(ctx, tenant) })
}

func (m mortalTable) Known(_ context.Context, ids []string) (map[string]bool, error) {
	return askOutside(m.of, func(ctx context.Context) (map[string]bool, error) { return m.of.table.Known(ctx, ids) })
}

func (m mortalTable) Prune(_ context.Context, before time.Time, limit int) (int, error) {
	return askOutside(m.of, func(ctx context.Context) (int, error) { return m.of.table.Prune(ctx, before, limit) })
}

func (m mortalTable) Get(_ context.Context, key string) (store.Row, error) {
	return askOutside(m.of, func(ctx context.Context) (store.Row, error) { return m.of.table.Get(ctx, key) })
}

func (m mortalTable) List(_ context.Context, q store.Query) ([]store.Row, error) {
	return askOutside(m.of, func(ctx context.Context) ([]store.Row, error) { return m.of.table.List(ctx, q) })
}

func (m mortalTable) Health(_ context.Context, now time.Time) (store.Health, error) {
	return askOutside(m.of, func(ctx context.Context) (store.Health, error) { return m.of.table.Health(ctx, now) })
}

func (m mortalTable) AddNotes(_ context.Context, tenant int64, group string, keep int, notes ...store.Note) (int, error) {
	return askOutside(m.of, func(ctx context.Context) (int, error) { return m.of.table.AddNotes(ctx, tenant, group, keep, notes...) })
}

func (m mortalTable) Notes(_ context.Context, group string, answers bool) ([]store.Note, error) {
	return askOutside(m.of, func(ctx context.Context) ([]store.Note, error) { return m.of.table.Notes(ctx, group, answers) })
}

func (m mortalTable) CountHeard(_ context.Context, since time.Time) (map[string]store.HeardCount, error) {
	return askOutside(m.of, func(ctx context.Context) (map[string]store.HeardCount, error) {
		return m.of.table.CountHeard(ctx, since)
	})
}

func (m mortalTable) Close() error { return nil } // from outside, at the end of the test

// RoundTrip asks GitHub, as long as the process lives.
func (o *replicatedOrganisation) roundTrip(p *mortalProcess, req *http.Request) (*http.Response, error) {
	if p.dead.Load() {
		return nil, errKilled
	}
	resp, err := o.github.RoundTrip(req)
	if p.dead.Load() {
		return nil, errKilled
	}
	if err == nil && req.Method != http.MethodGet && strings.Contains(req.URL.Path, "/check-runs") {
		o.mu.Lock()
		o.writer = p
		o.mu.Unlock()
	}
	return resp, err
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A replicatedOrganisation is an organisation for which several processes work, of which one is killed now and then.
type replicatedOrganisation struct {
	*organisation
	admin   *pgx.Conn // outside
	at      *outside
	to      []*mortalProcess // that have not begun
	serving []*mortalProcess
	writer  *mortalProcess // whose check was written last
	refused int            // answers for a limit of GitHub's
	lost    int            // deliveries to a process that was killed meanwhile
}

// openMortalTables opens tables of so many processes, each with a role of its own.
func openMortalTables(t *testing.T, address string, processes int) (admin *pgx.Conn, all []*mortalProcess) {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	do := func(query string) {
		t.Helper()
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), query); err != nil {
			t.Fatal(err)
		}
	}
	schema := fmt.Sprintf("organisation_%d", time.Now().UnixNano())
	do("CREATE SCHEMA " + schema)
	for n := range processes {
		p := &mortalProcess{name: fmt.Sprint("replica ", n), role: fmt.Sprintf("%s_%d", schema, n)}
		do("CREATE ROLE " + p.role + " LOGIN SUPERUSER")
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.User(p.role)
		u.RawQuery = url.Values{"search_path": {schema}}.Encode()
		if p.table, err = store.OpenPostgres(t.Context(), u.String(), store.Options{Replica: p.name}); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	t.Cleanup(func() {
		for _, p := range all {
			_ = p.table.Close() // that of one that was killed cannot say that it ends
		}
		do("DROP SCHEMA " + schema + " CASCADE")
		for _, p := range all {
			do("DROP OWNED BY " + p.role)
			do("DROP ROLE " + p.role)
		}
		_ = admin.Close(context.WithoutCancel(t.Context()))
	})
	return admin, all
}

// startProcess starts the next process.
func (o *replicatedOrganisation) startProcess(dir string) {
	o.mu.Lock()
	p := o.to[0]
	o.to = o.to[1:]
	o.mu.Unlock()
	p.at = o.at
	transport := roundTripFunc(func(req *http.Request) (*http.Response, error) { return o.roundTrip(p, req) })
	var err error
	p.server, err = openServer(o.ctx, serverConfig{
		Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", Database: filepath.Join(dir, p.role+".db"), Secrets: []string{loadSecret},
		GitHub: client.Options{BaseURL: "https://api.github.com", Transport: transport, App: &client.App{ID: 4711, Key: testKey()}},
		Resync: 5 * time.Minute, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Tune: func(c *daemon.Config) { c.Store, c.Poll = mortalTable{p}, 500*time.Millisecond },
	})
	if err != nil {
		o.t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(o.ctx)
	p.cancel = cancel
	p.ended.Go(func() {
		if err := p.server.daemon.Run(ctx); err != nil && !p.dead.Load() {
			o.t.Error(err)
		}
	})
	o.mu.Lock()
	o.serving = append(o.serving, p)
	o.mu.Unlock()
}

// killProcess kills the process that wrote last, or another one, and starts a new one after a while.
func (o *replicatedOrganisation) killProcess(theWriter bool, dir string) {
	o.mu.Lock()
	k := slices.IndexFunc(o.serving, func(p *mortalProcess) bool { return (p == o.writer) == theWriter })
	if k < 0 {
		o.mu.Unlock()
		o.t.Error("there is no such process to kill")
		return
	}
	p := o.serving[k]
	o.serving = slices.Delete(o.serving, k, k+1)
	o.mu.Unlock()
	p.dead.Store(true)
	o.at.do(func() {
		for _, query := range []string{
			"ALTER ROLE " + p.role + " NOLOGIN",
			"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '" + p.role + "'",
		} {
			if _, err := o.admin.Exec(context.Background(), query); err != nil {
				o.t.Error(err)
			}
		}
	})
	p.cancel()
	p.ended.Wait()
	p.server.close()
	o.after(30 * time.Second)
	o.startProcess(dir)
}

// deliver hands a delivery to any process that is not known to be dead, as a load balancer does.
func (o *replicatedOrganisation) deliver(event, guid string, payload []byte) error {
	o.mu.Lock()
	p := o.serving[rand.IntN(len(o.serving))]
	o.mu.Unlock()
	err := receive(o.ctx, p.server, event, guid, payload)
	switch {
	case err == nil || o.ctx.Err() != nil:
	case p.dead.Load():
		o.mu.Lock()
		o.lost++
		o.mu.Unlock()
	default:
		o.t.Errorf("%s was not accepted: %v", event, err)
	}
	return err
}

// Two daemons on one PostgreSQL, one of which is killed every ten minutes, most often the one that works for the organisation: what
// happens is decided within seconds all the while, and GitHub refuses nothing.
func TestAnOrganisationsHourWithReplicasThatAreKilled(t *testing.T) {
	address := os.Getenv("COORDINATOR_POSTGRES")
	if address == "" {
		t.Skip("COORDINATOR_POSTGRES names no server: .ci/postgres.sh starts one")
	}
	testKey()
	admin, processes := openMortalTables(t, address, 2+5)
	at := newOutside(t, 64)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { playReplicas(t, admin, at, processes, dir) })
}

// playReplicas plays an hour. The hour's requests are those of the whole organisation, however small the part that is played: to take
// over costs as much.
func playReplicas(t *testing.T, admin *pgx.Conn, at *outside, processes []*mortalProcess, dir string) {
	const hourly, pushes = 12_500, 200
	part := max(*organisationPart, 1)
	o := &replicatedOrganisation{organisation: newOrganisation(t, 500/part, hourly), admin: admin, at: at, to: processes}
	o.github = &distant{hub: o.hub, alter: func(_ *http.Request, resp *http.Response) {
		if resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests {
			o.mu.Lock()
			o.refused++
			o.mu.Unlock()
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	o.ctx = ctx
	o.startProcess(dir)
	o.startProcess(dir)
	var delivering, all sync.WaitGroup
	delivering.Go(func() { o.hub.DeliverFunc(ctx, o.deliver) })
	rng := rand.New(rand.NewPCG(1, hourly))
	for i := range pushes / part {
		begins := time.Duration(rng.Float64() * float64(time.Hour))
		all.Go(func() {
			o.after(begins)
			o.push(o.pulls[i%len(o.pulls)], fmt.Sprint("push ", i))
		})
	}
	for n := range 5 {
		o.after(10 * time.Minute)
		o.killProcess(n != 2, dir)
		u := o.hub.Usage(77, time.Now().Add(-10*time.Minute), time.Time{})
		t.Logf("minute %d: %d requests that are not 304 beside %d queries in ten, %d not looked at yet",
			10*(n+1), u.Requests-u.NotModified-u.GraphQL, u.GraphQL, o.countUnseen())
	}
	all.Wait()
	o.after(time.Minute)
	delays := o.delays()
	t.Logf("%d events: p50 %s, p99 %s, most %s; %d deliveries were under way to a process that was killed",
		len(delays), share(delays, 50), share(delays, 99), share(delays, 100), o.lost)
	if p99 := share(delays, 99); p99 > 10*time.Second {
		t.Errorf("p99 is %s", p99)
	}
	if o.refused > 0 {
		t.Errorf("GitHub refused %d requests for a limit", o.refused)
	}
	for _, e := range o.events {
		if n := len(e.g.OwnCheckRuns(e.head)); n > 1 {
			t.Errorf("%s has %d checks of ours", e.head, n)
		}
	}
	cancel()
	delivering.Wait()
	for _, p := range o.serving {
		p.ended.Wait()
		p.server.close()
	}
}
