package store_test

import (
	"fmt"
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

func acceptOne(b *testing.B, s *store.Database, tenants int) {
	n := benchIDs.Add(1)
	tenant := n % int64(tenants)
	d := store.AcceptedDelivery{ID: fmt.Sprintf("%08x-1111-11f0-9c3a-%012x", n*2654435761%(1<<32), n), At: now}
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

func claimAndComplete(b *testing.B, s *store.Database, claims, completes *latencies, sight []byte) int {
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
func fill(b *testing.B, s *store.Database, keys, tenants int, sight []byte) {
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
