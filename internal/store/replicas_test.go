package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store"
)

const leaseTime = 30 * time.Second

func openReplica(t *testing.T, at, name string) *store.Database {
	t.Helper()
	s, err := store.OpenPostgres(t.Context(), at, store.Options{Replica: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// claimAt claims what is due at a moment for a lease's time.
func claimAt(t *testing.T, s store.Store, at time.Time, limit int) []store.Work {
	t.Helper()
	works, err := s.Claim(t.Context(), store.Claim{Now: at, Lease: leaseTime, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return works
}

func completeAt(t *testing.T, s store.Store, at time.Time, works ...store.Work) {
	t.Helper()
	for _, w := range works {
		if ours, err := s.Complete(t.Context(), w.Lease, store.Completion{Now: at}); err != nil || !ours {
			t.Errorf("complete %s: %v, %v", w.Key, ours, err)
		}
	}
}

// pokeTenants pokes so many keys of each of so many tenants.
func pokeTenants(t *testing.T, s store.Store, at time.Time, tenants, keys int) {
	t.Helper()
	var pokes []store.Poke
	for tenant := range tenants {
		for key := range keys {
			pokes = append(pokes, store.Poke{Key: fmt.Sprintf("%d/%d", tenant, key), Tenant: int64(tenant), Kind: "k", Group: "g", Due: at})
		}
	}
	if err := s.Poke(t.Context(), pokes...); err != nil {
		t.Fatal(err)
	}
}

func tenantsOf(works []store.Work) map[int64]int {
	of := map[int64]int{}
	for _, w := range works {
		of[w.Tenant]++
	}
	return of
}

// Each tenant is one replica's at a time: no two ever have leases of one, and all are somebody's.
func TestReplicasShareTenantsOnPostgres(t *testing.T) {
	at := newSchema(t)
	all := []*store.Database{openReplica(t, at, "a"), openReplica(t, at, "b"), openReplica(t, at, "c")}
	for _, s := range all { // so that each knows of the others
		claimAt(t, s, now, 1)
	}
	const tenants = 60
	pokeTenants(t, all[0], now, tenants, 3)
	owner := map[int64]int{}
	for i, s := range all {
		next, err := s.Next(t.Context(), false, nil)
		if err != nil || next.IsZero() {
			t.Errorf("replica %d: something is due to it: %v, %v", i, next, err)
		}
		for {
			works := claimAt(t, s, now, 7)
			if len(works) == 0 {
				break
			}
			for tenant := range tenantsOf(works) {
				if was, known := owner[tenant]; known && was != i {
					t.Errorf("tenant %d is worked on by %d and %d", tenant, was, i)
				}
				owner[tenant] = i
			}
		}
		if next, err = s.Next(t.Context(), false, nil); err != nil || !next.After(now) {
			t.Errorf("replica %d: nothing more is due to it: %v, %v", i, next, err)
		}
	}
	share := map[int]int{}
	for _, i := range owner {
		share[i]++
	}
	if len(owner) != tenants || share[0] < tenants/6 || share[1] < tenants/6 || share[2] < tenants/6 {
		t.Errorf("%d of %d tenants are somebody's: %v", len(owner), tenants, share)
	}
}

// shareTenants is a table with the tenants of two replicas, of which the first holds one key, and the second has done what it has.
func shareTenants(t *testing.T, at string) (a, b *store.Database, held store.Work, left map[int64]bool) {
	t.Helper()
	a, b = openReplica(t, at, "a"), openReplica(t, at, "b")
	claimAt(t, a, now, 1)
	claimAt(t, b, now, 1)
	pokeTenants(t, a, now, 20, 2)
	claimed := claimAt(t, a, now, 1)
	if len(claimed) != 1 || claimed[0].Moved {
		t.Fatalf("%+v", claimed)
	}
	done := claimAt(t, b, now, 100)
	completeAt(t, b, now, done...)
	left = map[int64]bool{}
	for tenant := range int64(20) {
		left[tenant] = true
	}
	for _, w := range done {
		delete(left, w.Tenant)
	}
	if len(left) < 3 || len(left) > 17 {
		t.Fatalf("the tenants are not shared: %v", left)
	}
	return a, b, claimed[0], left
}

// A replica that says nothing any more is gone when its leases are, and not before. Who takes a tenant over is told.
func TestTenantsOfAReplicaThatIsGoneMoveOnPostgres(t *testing.T) {
	_, b, held, left := shareTenants(t, newSchema(t))
	if got := claimAt(t, b, now.Add(leaseTime-time.Second), 100); len(got) > 0 {
		t.Errorf("taken from a replica that lives: %v", tenantsOf(got))
	}
	got := claimAt(t, b, now.Add(leaseTime), 100)
	if len(got) != 2*len(left) {
		t.Errorf("took %d keys over, want two of each of %v", len(got), left)
	}
	moved := 0
	for _, w := range got {
		if w.Moved {
			moved++
		}
		if w.Moved && w.Tenant != held.Tenant {
			t.Errorf("%s is said to have moved, and nobody else worked for it", w.Key)
		}
	}
	if moved != 1 {
		t.Errorf("%d keys say that their tenant has moved, want the first of %d's", moved, held.Tenant)
	}
}

// tryUntilDone does what a server may not be ready for yet.
func tryUntilDone(t *testing.T, do func() error) {
	t.Helper()
	var last atomic.Value
	deadline.Describe(t, "it is tried again after", func() string { return fmt.Sprint(last.Load()) })
	for err := do(); err != nil; err = do() {
		last.Store(err.Error())
		<-time.After(10 * time.Millisecond)
	}
}

// claimWhenFreed claims what a replica had whose connection ends: its client may be told of that a moment before its lock is free.
func claimWhenFreed(t *testing.T, s *store.Database) (works []store.Work) {
	t.Helper()
	tryUntilDone(t, func() error {
		if works = claimAt(t, s, now, 100); len(works) == 0 {
			return errors.New("nothing was taken over")
		}
		return nil
	})
	return works
}

// A replica whose process ends leaves all that it has, at once: its lifeline ends with it. Should the process live all the same, it is
// told, and goes on under another name.
func TestTenantsOfAReplicaWhoseLifelineEndsMoveOnPostgres(t *testing.T) {
	at := newSchema(t)
	lost := make(chan struct{}, 1)
	a, err := store.OpenPostgres(t.Context(), at, store.Options{Replica: "cut-" + at, Lost: func() { lost <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b := openReplica(t, at, "b")
	pokeTenants(t, a, now, 20, 2)
	held := claimAt(t, a, now, 40)
	if len(held) != 40 {
		t.Fatalf("alone it gets %d of 40 keys", len(held))
	}
	if got := claimAt(t, b, now, 100); len(got) > 0 {
		t.Fatalf("taken from a replica that lives: %v", tenantsOf(got))
	}
	execPostgres(t, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7022 AND objid = hashtext('cut-"+at+".1')::oid")
	<-lost
	got := claimWhenFreed(t, b)
	leases := map[string]store.Lease{}
	for _, w := range held {
		leases[w.Key] = store.Lease{Key: w.Key, Token: w.Token}
	}
	for _, w := range got {
		if ours, err := a.Complete(t.Context(), leases[w.Key], store.Completion{Now: now}); err != nil || ours {
			t.Errorf("what is another's was completed: %v, %v", ours, err)
		}
	}
	var gone []store.Lease
	tryUntilDone(t, func() (err error) { // under its new name
		gone, err = a.Renew(t.Context(), now.Add(leaseTime), slices.Collect(maps.Values(leases))...)
		return err
	})
	if len(gone) != len(held) {
		t.Errorf("%d of %d leases of its old name were renewed under the new one", len(held)-len(gone), len(held))
	}
	tryUntilDone(t, func() error {
		works, err := a.Claim(t.Context(), store.Claim{Now: now, Lease: leaseTime, Limit: 100})
		got = append(got, works...)
		return err
	})
	if got = append(got, claimAt(t, b, now, 100)...); len(got) != 40 {
		t.Errorf("%d of 40 keys were taken over at once", len(got))
	}
}

// A replica that retires leaves its tenants at once, but for one that it still works for.
func TestTenantsOfAReplicaThatRetiresMoveOnPostgres(t *testing.T) {
	a, b, held, left := shareTenants(t, newSchema(t))
	if err := a.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tenantsOf(claimAt(t, b, now, 100))
	if len(got) != len(left)-1 || got[held.Tenant] > 0 {
		t.Errorf("took %v over, want all of %v but %d", got, left, held.Tenant)
	}
	completeAt(t, a, now, held)
	if rest := claimAt(t, b, now, 100); len(rest) != 1 || rest[0].Tenant != held.Tenant || !rest[0].Moved {
		t.Errorf("%+v, want the other key of %d, which has moved", rest, held.Tenant)
	}
}

// One that is killed while it finishes what it has leaves that at once, too, and renewing that did not undo that it had retired.
func TestLeasesOfAReplicaThatIsKilledAfterItRetiredMoveOnPostgres(t *testing.T) {
	at := newSchema(t)
	dead := make(chan struct{})
	a, err := store.OpenPostgres(t.Context(), at, store.Options{Replica: "killed-" + at, Lost: func() { <-dead }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer close(dead) // until then it does nothing any more, as a process that is killed
	pokeTenants(t, a, now, 20, 2)
	held := claimAt(t, a, now, 3)
	busy := tenantsOf(held)
	b := openReplica(t, at, "b")
	claimAt(t, b, now, 1)
	if err := a.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range held {
		if lost, err := a.Renew(t.Context(), now.Add(leaseTime), store.Lease{Key: w.Key, Token: w.Token}); err != nil || len(lost) > 0 {
			t.Fatalf("what it finishes is not renewed: %v, %v", lost, err)
		}
	}
	for tenant := range tenantsOf(claimAt(t, b, now, 100)) {
		if busy[tenant] > 0 {
			t.Errorf("two work for %d", tenant)
		}
	}
	execPostgres(t, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7022 AND objid = hashtext('killed-"+at+".1')::oid")
	if got := claimWhenFreed(t, b); len(got) != 2*len(busy) {
		t.Errorf("%d keys of %v were taken over at once", len(got), busy)
	}
}

// A replica that comes takes its part, but nothing of a tenant that another one works for at the moment.
func TestAReplicaThatComesTakesItsPartOnPostgres(t *testing.T) {
	at := newSchema(t)
	a := openReplica(t, at, "a")
	pokeTenants(t, a, now, 20, 2)
	works := claimAt(t, a, now, 20)
	if got := tenantsOf(works); len(got) != 20 {
		t.Fatalf("one replica has all tenants: %v", got)
	}
	b := openReplica(t, at, "b")
	if got := claimAt(t, b, now, 100); len(got) > 0 {
		t.Errorf("another replica works for %v", tenantsOf(got))
	}
	completeAt(t, a, now, works...)
	taken := claimAt(t, b, now, 100)
	if n := len(taken); n < 3 || n > 17 {
		t.Errorf("%d of 20 tenants are the new replica's", n)
	}
	if rest := claimAt(t, a, now, 100); len(rest)+len(taken) != 20 {
		t.Errorf("%d and %d of the 20 keys that are left were claimed", len(taken), len(rest))
	}
}

// A pooler that gives each transaction another session is refused: nobody would hold the lock of a migration.
func TestPostgresBehindAPoolerInTransactionMode(t *testing.T) {
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("no pooler: apt-get install pgbouncer for this test")
	}
	server, err := pgx.ParseConfig(postgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	database := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1)) // a pooler takes no search_path with a connection
	execPostgres(t, "CREATE DATABASE "+database)
	t.Cleanup(func() { execPostgres(t, "DROP DATABASE "+database+" WITH (FORCE)") })
	for mode, want := range map[string]error{"transaction": store.ErrUnfitServer, "session": nil} {
		t.Run(mode, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			port := l.Addr().(*net.TCPAddr).Port
			l.Close()
			dir := t.TempDir()
			config := fmt.Sprintf("[databases]\n* = host=%s port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
				"auth_type = any\npool_mode = %s\n", server.Host, server.Port, port, mode)
			config = strings.Replace(config, "* = ", "* = user="+server.User+" ", 1)
			file := filepath.Join(dir, "pgbouncer.ini")
			if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{file}
			if os.Geteuid() == 0 { // it refuses to run as root
				if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				args = []string{"-u", "postgres", file}
			}
			var said bytes.Buffer
			cmd := exec.CommandContext(t.Context(), bin, args...)
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			at := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s", server.User, port, database)
			deadline.Describe(t, "the pooler printed", said.String)
			tryUntilDone(t, func() error {
				c, err := net.Dial("tcp", l.Addr().String())
				if err == nil {
					c.Close()
				}
				return err
			})
			s, err := store.OpenPostgres(t.Context(), at, store.Options{})
			if s != nil {
				defer s.Close()
			}
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}
