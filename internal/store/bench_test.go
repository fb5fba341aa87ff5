package store_test

import (
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// latencies are what single calls took.
type latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

func (l *latencies) since(start time.Time) {
	d := time.Since(start)
	l.mu.Lock()
	l.took = append(l.took, d)
	l.mu.Unlock()
}

func (l *latencies) quantile(q float64) time.Duration {
	slices.Sort(l.took)
	return l.took[int(q*float64(len(l.took)-1))]
}

func (l *latencies) report(b *testing.B, name string) {
	b.ReportMetric(float64(l.quantile(0.5).Microseconds())/1000, name+"p50-ms")
	b.ReportMetric(float64(l.quantile(0.99).Microseconds())/1000, name+"p99-ms")
}

var benchIDs atomic.Int64

func acceptOne(b *testing.B, s *store.SQLite, tenants int) {
	n := benchIDs.Add(1)
	tenant := n % int64(tenants)
	d := store.AcceptedDelivery{ID: fmt.Sprintf("%08x-1111-11f0-9c3a-%012x", n*2654435761%(1<<32), n), Event: "workflow_run", Action: "completed", At: now}
	p := store.Poke{
		Key: fmt.Sprintf("%d/acme/shop#%d", tenant, n%20), Tenant: tenant, Kind: "pull", Group: "acme/shop", Due: now,
		Touch: fmt.Sprintf(`{"e":"workflow_run","a":"completed","w":".github/workflows/review.yml","r":%d}`, n%3),
	}
	if _, err := s.Accept(b.Context(), d, p); err != nil {
		b.Error(err)
	}
}

// BenchmarkAccept: deliveries a second, each durable before it is acknowledged.
func BenchmarkAccept(b *testing.B) {
	for _, parallel := range []int{1, 16, 128} {
		b.Run(fmt.Sprint(parallel), func(b *testing.B) {
			s := openTable(b, filepath.Join(b.TempDir(), "table.db"))
			b.SetParallelism(max(1, parallel/runtime.GOMAXPROCS(0)))
			var took latencies
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					start := time.Now()
					acceptOne(b, s, 50)
					took.since(start)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "acks/s")
			took.report(b, "")
		})
	}
}

// BenchmarkAcceptPaced: how long an acknowledgement takes at 1,000 deliveries a second.
func BenchmarkAcceptPaced(b *testing.B) {
	s := openTable(b, filepath.Join(b.TempDir(), "table.db"))
	var took latencies
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for b.Loop() {
		<-tick.C
		wg.Go(func() {
			start := time.Now()
			acceptOne(b, s, 50)
			took.since(start)
		})
	}
	wg.Wait()
	took.report(b, "")
}

func claimAndComplete(b *testing.B, s *store.SQLite, claims, completes *latencies, sight []byte) int {
	start := time.Now()
	work, err := s.Claim(b.Context(), store.Claim{Now: now, Lease: 30 * time.Second, Limit: 8})
	if err != nil {
		b.Error(err)
	}
	claims.since(start)
	for _, w := range work {
		start := time.Now()
		ours, err := s.Complete(b.Context(), w.Lease, store.Completion{Now: now, Wake: now.Add(time.Hour), Sight: sight, Open: true})
		if err != nil || !ours {
			b.Errorf("complete: %v, %v", ours, err)
		}
		completes.since(start)
	}
	return len(work)
}

// fill makes a table of many keys, each of which was looked at once and is due far in the future.
func fill(b *testing.B, s *store.SQLite, keys, tenants int, sight []byte) {
	b.Helper()
	for n := 0; n < keys; {
		var pokes []store.Poke
		for range min(500, keys-n) {
			tenant := int64(n % tenants)
			pokes = append(
				pokes,
				store.Poke{
					Key:    fmt.Sprintf("%d/acme/shop#%d", tenant, n),
					Tenant: tenant,
					Kind:   "pull",
					Group:  fmt.Sprint("acme/", n%500),
					Due:    now,
					Touch:  "t",
				},
			)
			n++
		}
		if _, err := s.Accept(b.Context(), store.AcceptedDelivery{ID: fmt.Sprint("fill ", benchIDs.Add(1)), At: now}, pokes...); err != nil {
			b.Fatal(err)
		}
		work, err := s.Claim(b.Context(), store.Claim{Now: now, Lease: time.Minute, Limit: len(pokes)})
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, w := range work {
			wg.Go(func() {
				if _, err := s.Complete(b.Context(), w.Lease, store.Completion{Now: now, Wake: now.Add(time.Hour), Sight: sight, Open: true}); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

var benchSight = slices.Repeat([]byte("a sight of some length; "), 80) // about 2 KB

// BenchmarkClaimComplete: 16 workers, each of which claims 8 keys and completes them one by one.
func BenchmarkClaimComplete(b *testing.B) {
	s := openTable(b, filepath.Join(b.TempDir(), "table.db"))
	fill(b, s, 5000, 50, benchSight)
	var claims, completes latencies
	var done atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			for range 8 {
				acceptOne(b, s, 50)
			}
			done.Add(int64(claimAndComplete(b, s, &claims, &completes, benchSight)))
		}
	})
	b.ReportMetric(float64(done.Load())/b.Elapsed().Seconds(), "completed/s")
	claims.report(b, "claim-")
	completes.report(b, "complete-")
}

var growthKeys = flag.Int("growth-keys", 100_000, "keys of BenchmarkGrowth's larger table; a million take 4 GB")

const growthTenants = 50

// growthKey is the nth key of BenchmarkGrowth's tables, in a repository of 20.
func growthKey(n int) (key, group string, tenant int64) {
	tenant = int64(n % growthTenants)
	group = fmt.Sprintf("%d/acme/shop-%d", tenant, n/growthTenants/20)
	return fmt.Sprintf("%s#%d", group, n/growthTenants%20), group, tenant
}

// fillFile makes a file with so many keys, each of which was looked at once, one in a hundred being undecided, with a
// repository for each 20, and a delivery for each key: as rows, since a million looks would take an hour.
func fillFile(b *testing.B, path string, keys int) {
	b.Helper()
	if err := openTable(b, path).Close(); err != nil {
		b.Fatal(err)
	}
	const rows = `WITH RECURSIVE row(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM row WHERE n+1 < ?1) `
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(0)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		`INSERT INTO work (id, key, tenant, kind, grp, gen, claimed, due_at, wake_at, seen_at, open)` + rows + `
			SELECT n+1, printf('%d/acme/shop-%d#%d', n%50, n/1000, n/50%20), n%50, 'pull',
				printf('%d/acme/shop-%d', n%50, n/1000), 1, 1,
				iif(n%100 = 0, ?2 + 3600000000, 9223372036854775807), 9223372036854775807,
				?2 - ?1 + n, n%100 = 0 FROM row`,
		`INSERT INTO work (id, key, tenant, kind, grp, gen, due_at, backlog_at, wake_at, seen_at)` + rows + `
			SELECT ?1 + n+1, grp, tenant, 'repo', grp, 1, 9223372036854775807, ?2 + 3600000000, ?2 + 3600000000, ?2 + n
			FROM row JOIN work ON work.id = n+1 WHERE n/50%20 = 0`,
		`INSERT INTO sights (id, sight)` + rows + `SELECT n+1, randomblob(2000) FROM row WHERE ?2 > 0`,
		`INSERT INTO deliveries (id, event, action, received_at)` + rows + `
			SELECT lower(hex(randomblob(16))), 'workflow_run', 'completed', ?2 - n FROM row`,
	} {
		if _, err := db.ExecContext(b.Context(), statement, keys, now.UnixMicro()); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := db.ExecContext(b.Context(), "PRAGMA synchronous(2); PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		b.Fatal(err) // else the disk would go on writing while it is measured
	}
}

// BenchmarkGrowth: the same on a table of 1,000 keys and on one of -growth-keys, turn by turn, and the ratio of what it
// takes: to accept, to claim and complete, to count for a scrape, to list for a page, and for the resync of a repository.
func BenchmarkGrowth(b *testing.B) {
	type side struct {
		s                                        *store.SQLite
		keys                                     int
		opened                                   time.Duration
		accepts, claims, completes, health       latencies
		listOpen, listSettled, listRepos, resync latencies
	}
	sides := []*side{{keys: 1000}, {keys: *growthKeys}}
	for _, s := range sides {
		path := filepath.Join(b.TempDir(), "table.db")
		fillFile(b, path, s.keys)
		start := time.Now()
		s.s = openTable(b, path)
		s.opened = time.Since(start)
	}
	runtime.GC()
	for b.Loop() {
		for _, s := range sides {
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					key, group, tenant := growthKey(mathrand.IntN(s.keys))
					d := store.AcceptedDelivery{ID: rand.Text(), Event: "workflow_run", Action: "completed", At: now}
					start := time.Now()
					if _, err := s.s.Accept(b.Context(), d, store.Poke{
						Key: key, Tenant: tenant, Kind: "pull", Group: group, Due: now, Touch: "t",
					}); err != nil {
						b.Error(err)
					}
					s.accepts.since(start)
				})
			}
			wg.Wait()
			claimAndComplete(b, s.s, &s.claims, &s.completes, benchSight)
			start := time.Now()
			if _, err := s.s.Health(b.Context(), now); err != nil {
				b.Fatal(err)
			}
			s.health.since(start)
			open, settled := true, false
			_, group, _ := growthKey(mathrand.IntN(s.keys))
			for _, list := range []struct {
				took *latencies
				q    store.Query
			}{
				{&s.listOpen, store.Query{Kind: "pull", Open: &open}},
				{&s.listSettled, store.Query{Kind: "pull", Open: &settled}},
				{&s.listRepos, store.Query{Kind: "repo"}},
				{&s.resync, store.Query{Kind: "pull", Group: group, Thin: true}},
			} {
				start := time.Now()
				if _, err := s.s.List(b.Context(), list.q); err != nil {
					b.Fatal(err)
				}
				list.took.since(start)
			}
		}
	}
	small, large := sides[0], sides[1]
	for _, m := range []struct {
		name         string
		small, large *latencies
	}{
		{"ack-", &small.accepts, &large.accepts},
		{"claim-", &small.claims, &large.claims},
		{"complete-", &small.completes, &large.completes},
		{"health-", &small.health, &large.health},
		{"list-open-", &small.listOpen, &large.listOpen},
		{"list-settled-", &small.listSettled, &large.listSettled},
		{"list-repos-", &small.listRepos, &large.listRepos},
		{"resync-", &small.resync, &large.resync},
	} {
		b.ReportMetric(float64(m.large.quantile(0.5).Microseconds())/1000, m.name+"p50-ms")
		b.ReportMetric(float64(m.large.quantile(0.5))/float64(m.small.quantile(0.5)), m.name+"p50-ratio")
		b.ReportMetric(float64(m.large.quantile(0.99))/float64(m.small.quantile(0.99)), m.name+"p99-ratio")
	}
	b.ReportMetric(float64(large.opened.Microseconds())/1000, "open-ms")
}
