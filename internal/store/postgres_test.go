package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/store/storetest"
)

// postgresURL is where a server of PostgreSQL lets these tests make schemas.
func postgresURL(t *testing.T) string {
	t.Helper()
	server := os.Getenv("COORDINATOR_POSTGRES")
	if server == "" {
		t.Skip("no PostgreSQL: set COORDINATOR_POSTGRES=postgres://… to a server's database for these tests")
	}
	return server
}

var schemas atomic.Int64

// newSchema makes an empty schema that goes with the test, and returns the URL of a store in it.
func newSchema(t *testing.T) string {
	t.Helper()
	server := postgresURL(t)
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	execPostgres(t, "CREATE SCHEMA "+name)
	t.Cleanup(func() { execPostgres(t, "DROP SCHEMA "+name+" CASCADE") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// execPostgres runs a statement on the server.
func execPostgres(t *testing.T, query string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), postgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), query); err != nil {
		t.Fatal(err)
	}
}

func openPostgres(t *testing.T, at string) *store.Database {
	t.Helper()
	s, err := store.OpenPostgres(t.Context(), at, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A delivery that is acknowledged is on the disk: a crash of the server right afterwards does not lose it.
func TestAnAcknowledgedDeliveryOutlivesACrashOfPostgres(t *testing.T) {
	at, restart := newSchema(t), os.Getenv("COORDINATOR_POSTGRES_RESTART")
	if restart == "" {
		t.Skip("COORDINATOR_POSTGRES_RESTART restarts no server: .ci/postgres.sh sets it")
	}
	now := time.Now()
	accept := func(round int, want bool) {
		t.Helper()
		s, err := store.OpenPostgres(t.Context(), at, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			id := fmt.Sprint("delivery ", round, ".", n)
			fresh, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: id, At: now}, store.Poke{Key: id, Tenant: 1, Due: now})
			if err != nil || fresh != want {
				t.Errorf("%s: new %t, want %t: %v", id, fresh, want, err)
			}
		}
		if want {
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", restart).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		_ = s.Close() // the server may have taken its connections
	}
	for round := range 3 {
		accept(round, true)
		accept(round, false)
	}
}

func TestPostgres(t *testing.T) {
	postgresURL(t)
	storetest.Run(t, func(t *testing.T) store.Store { return openPostgres(t, newSchema(t)) })
}

// Two processes on one database are one store, though one is of the next version: each call goes to the one that did not get the last.
func TestTwoReplicasOnPostgres(t *testing.T) {
	postgresURL(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		at := newSchema(t)
		return &replicas{a: openPostgres(t, at), b: openNewerPostgres(t, at, "")}
	})
}

// replicas hands each call to the next of two stores.
type replicas struct {
	a, b  *store.Database
	calls atomic.Int64
}

func (r *replicas) next() *store.Database {
	if r.calls.Add(1)%2 == 0 {
		return r.a
	}
	return r.b
}

func (r *replicas) Accept(ctx context.Context, d store.AcceptedDelivery, pokes ...store.Poke) (bool, error) {
	return r.next().Accept(ctx, d, pokes...)
}

func (r *replicas) Poke(ctx context.Context, pokes ...store.Poke) error {
	return r.next().Poke(ctx, pokes...)
}

func (r *replicas) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	return r.next().Claim(ctx, c)
}

func (r *replicas) Next(ctx context.Context, backlog bool, except []int64) (time.Time, error) {
	return r.next().Next(ctx, backlog, except)
}

func (r *replicas) Renew(ctx context.Context, until time.Time, leases ...store.Lease) ([]store.Lease, error) {
	return r.next().Renew(ctx, until, leases...)
}

func (r *replicas) Complete(ctx context.Context, l store.Lease, o store.Completion) (bool, error) {
	return r.next().Complete(ctx, l, o)
}

func (r *replicas) Retire(ctx context.Context) error { return r.next().Retire(ctx) }

func (r *replicas) Drop(ctx context.Context, tenant int64) error { return r.next().Drop(ctx, tenant) }

func (r *replicas) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	return r.next().Known(ctx, ids)
}

func (r *replicas) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	return r.next().Prune(ctx, before, limit)
}

func (r *replicas) Get(ctx context.Context, key string) (store.Row, error) {
	return r.next().Get(ctx, key)
}

func (r *replicas) List(ctx context.Context, q store.Query) ([]store.Row, error) {
	return r.next().List(ctx, q)
}

func (r *replicas) Health(ctx context.Context, at time.Time) (store.Health, error) {
	return r.next().Health(ctx, at)
}

func (r *replicas) AddNotes(ctx context.Context, tenant int64, group string, keep int, notes ...store.Note) (int, error) {
	return r.next().AddNotes(ctx, tenant, group, keep, notes...)
}

func (r *replicas) Notes(ctx context.Context, group string, answers bool) ([]store.Note, error) {
	return r.next().Notes(ctx, group, answers)
}

func (r *replicas) CountHeard(ctx context.Context, since time.Time) (map[string]store.HeardCount, error) {
	return r.next().CountHeard(ctx, since)
}

func (r *replicas) Close() error { return errors.Join(r.a.Close(), r.b.Close()) }

// What GitHub would never send is kept all the same: a delivery that is refused comes again for ever.
func TestPostgresTakesAnyText(t *testing.T) {
	s := openPostgres(t, newSchema(t))
	odd := "a\x00b\xff"
	p := store.Poke{Key: odd, Tenant: 1, Kind: odd, Group: odd, Due: now, Touch: odd}
	fresh, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: odd, At: now}, p)
	if err != nil || !fresh {
		t.Fatalf("%v, %v", fresh, err)
	}
	known, err := s.Known(t.Context(), []string{odd})
	if err != nil || !known[odd] {
		t.Errorf("known: %v, %v", known, err)
	}
	work, err := s.Claim(t.Context(), store.Claim{Now: now, Lease: time.Minute, Limit: 1})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %v, %v", work, err)
	}
	if ours, err := s.Complete(t.Context(), work[0].Lease, store.Completion{Now: now, Failed: odd}); err != nil || !ours {
		t.Errorf("completed: %v, %v", ours, err)
	}
	if r, err := s.Get(t.Context(), odd); err != nil || r.Attempts != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A newer program's tables, and another program's, are left alone.
func TestPostgresTablesOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		make string
		want error
	}{
		"a newer coordinator": {"INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)", store.ErrNewer},
		"a dropped table":     {"DROP TABLE work CASCADE", store.ErrTablesGone},
		"all but goose's":     {"DROP TABLE deliveries, work, sights, tenants, replicas, counters, notes, answers CASCADE", store.ErrTablesGone},
		"another program":     {"DROP TABLE goose_db_version", store.ErrForeignDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			at := newSchema(t)
			if err := openPostgres(t, at).Close(); err != nil {
				t.Fatal(err)
			}
			conn, err := pgx.Connect(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			if _, err := conn.Exec(t.Context(), c.make); err != nil {
				t.Fatal(err)
			}
			if _, err := store.OpenPostgres(t.Context(), at, store.Options{}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// A first start that was cut short, when goose had made its own table and nothing else, is no other program's.
func TestPostgresOpensWhatAFirstStartBegan(t *testing.T) {
	at := newSchema(t)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE goose_db_version (id integer PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
		version_id bigint NOT NULL, is_applied boolean NOT NULL, tstamp timestamp NOT NULL DEFAULT now());
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, true)`); err != nil {
		t.Fatal(err)
	}
	if err := openPostgres(t, at).Close(); err != nil {
		t.Error(err)
	}
}

// No error of an opening holds the password, and each says what to do.
func TestPostgresThatCannotBeOpened(t *testing.T) {
	for name, at := range map[string]string{
		"nobody listens": "postgres://me:hunter2@127.0.0.1:1/x?connect_timeout=2",
		"no URL":         "postgres://me:hunter2@127.0.0.1:port/x",
		"no such option": "postgres://me:hunter2@127.0.0.1/x?sslmode=sometimes",
	} {
		_, err := store.OpenPostgres(t.Context(), at, store.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// More is due than a claim looks at row by row: what came last has its turn all the same.
func TestPostgresClaimsInTurnsHoweverMuchIsDue(t *testing.T) {
	postgresURL(t)
	s := openPostgres(t, newSchema(t))
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for _, backlog := range []bool{false, true} {
		first := int64(1) // tenant
		if backlog {
			first = 11
		}
		var pokes []store.Poke
		for n := range 5_200 {
			pokes = append(pokes, store.Poke{
				Key: fmt.Sprintf("%d/%d", first, n), Tenant: first, Kind: "k", Group: "g", Due: now, Backlog: backlog,
			})
		}
		for late := range int64(3) {
			pokes = append(pokes, store.Poke{
				Key: fmt.Sprintf("%d/late", first+1+late), Tenant: first + 1 + late, Kind: "k", Group: "g",
				Due: now.Add(time.Duration(late+1) * time.Second), Backlog: backlog,
			})
		}
		if err := s.Poke(t.Context(), pokes...); err != nil {
			t.Fatal(err)
		}
		at := now.Add(2 * time.Second) // the last of them is not due yet
		works := claimAt(t, s, at, 4)
		if got := tenantsOf(works); len(works) != 4 || got[first] != 2 || got[first+1] != 1 || got[first+2] != 1 {
			t.Errorf("backlog %v: four were claimed of %v, want two of %d and one each of the next two", backlog, got, first)
		}
		if due, err := s.Next(t.Context(), backlog, []int64{first, first + 1, first + 2}); err != nil || !due.Equal(now.Add(3*time.Second)) {
			t.Errorf("backlog %v: next is %v, %v, want %v", backlog, due, err, now.Add(3*time.Second))
		}
		if err := s.Drop(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		for late := range int64(3) {
			if err := s.Drop(t.Context(), first+1+late); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A delivery that comes several times at once, with others, is fresh once, and pokes once.
func TestPostgresAcceptsADeliveryThatComesOftenAtOnceOnce(t *testing.T) {
	postgresURL(t)
	s := openPostgres(t, newSchema(t))
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	var fresh [3]atomic.Int64
	var group sync.WaitGroup
	for n := range 60 {
		group.Go(func() {
			id := n % len(fresh)
			is, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: fmt.Sprintf("delivery %d", id), At: now},
				store.Poke{Key: fmt.Sprintf("1/%d", n), Tenant: 1, Kind: "k", Group: "g", Due: now},
				store.Poke{Key: "1/shared", Tenant: 1, Kind: "k", Group: "g", Due: now, Touch: fmt.Sprintf("!%d", id)})
			if err != nil {
				t.Error(err)
			}
			if is {
				fresh[id].Add(1)
			}
		})
	}
	group.Wait()
	for id := range fresh {
		if n := fresh[id].Load(); n != 1 {
			t.Errorf("delivery %d was fresh %d times", id, n)
		}
	}
	works := claimAt(t, s, now, 100)
	if len(works) != len(fresh)+1 {
		t.Errorf("%d keys are due, want one of each delivery and the one that they share", len(works))
	}
	for _, w := range works {
		if w.Key == "1/shared" && len(w.Touches) != len(fresh) {
			t.Errorf("the shared key was touched by %q", w.Touches)
		}
	}
}
