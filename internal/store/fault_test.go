package store

// Faults of the disk, from within: a full one by SQLite's own bound, others by a hook.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func testPoke(key string) Poke { return Poke{Key: key, Tenant: 1, Due: testNow, Touch: "t"} }

func openFaulty(t *testing.T, fault func(string) error) *SQLite {
	t.Helper()
	s, err := OpenSQLite(filepath.Join(t.TempDir(), "table.db"), SQLiteOptions{injectFault: fault})
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

// agrees checks that what the writer remembers is what stands in the file.
func agrees(t *testing.T, s *SQLite) {
	t.Helper()
	err := s.runDurably(t.Context(), "compare", func(tab *workTable) error {
		fresh := &workTable{conn: tab.conn, turns: tenantTurns{indexOf: map[int64]int{}}}
		if err := fresh.loadTotals(); err != nil {
			return err
		}
		if fresh.totals != tab.totals {
			t.Errorf("remembered are %+v, and there are %+v", tab.totals, fresh.totals)
		}
		for _, n := range tab.turns.all {
			is := tenantTurn{first: nothingDue}
			if i, ok := fresh.turns.indexOf[n.tenant]; ok {
				is = fresh.turns.all[i]
			}
			if n.keyCount != is.keyCount {
				t.Errorf("remembered is %+v, and it is %+v", n, is)
			}
			for q, due := range n.first {
				if due.at > is.first[q].at || due.isExact && due.at != is.first[q].at {
					t.Errorf("in queue %d, remembered is %+v, and it is %+v", q, n, is)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A full disk: nothing is half done, nothing is acknowledged that is lost, and it goes on when there is space again.
func TestFullDisk(t *testing.T) {
	s := openFaulty(t, nil)
	ctx := t.Context()
	pages := func(n int) {
		t.Helper()
		if err := s.runDurably(ctx, "bound", func(tab *workTable) error { return tab.exec(fmt.Sprintf("PRAGMA max_page_count = %d", n)) }); err != nil {
			t.Fatal(err)
		}
	}
	pages(1) // as many as there are
	large := strings.Repeat("x", 3000)
	acked := map[string]bool{}
	var refused error
	for n := range 200 {
		id := fmt.Sprint(n)
		fresh, err := s.Accept(ctx, AcceptedDelivery{ID: id, Action: large, At: testNow}, testPoke("first "+id), testPoke("second "+id))
		if acked[id] = err == nil; err != nil {
			refused = err
		} else if !fresh {
			t.Fatal("a new delivery is not fresh")
		}
	}
	if refused == nil || !strings.Contains(refused.Error(), "accept delivery") || !strings.Contains(refused.Error(), "full") {
		t.Fatalf("the error of a full disk is %v", refused)
	}
	agrees(t, s)
	pages(1 << 30)
	for id, ok := range acked {
		known, err := s.Known(ctx, []string{id})
		if err != nil || known[id] != ok {
			t.Fatalf("%s was acknowledged: %v, and is known: %v, %v", id, ok, known, err)
		}
		for _, key := range []string{"first ", "second "} {
			if _, err := s.Get(ctx, key+id); (err == nil) != ok {
				t.Fatalf("%s was acknowledged: %v, and its key: %v", id, ok, err)
			}
		}
		if fresh, err := s.Accept(ctx, AcceptedDelivery{ID: id, At: testNow}); err != nil || fresh == ok {
			t.Fatalf("%s was acknowledged: %v, and again: %v, %v", id, ok, fresh, err)
		}
	}
	agrees(t, s)
}

// A disk that fails now and then, under many at once: whoever got no error finds what it did, and nobody finds half of
// it.
func TestFailingDisk(t *testing.T) {
	var calls atomic.Int64
	errDisk := errors.New("input/output error")
	s := openFaulty(t, func(step string) error {
		if step == "commit" && calls.Add(1)%3 == 0 {
			return errDisk
		}
		return nil
	})
	var wg sync.WaitGroup
	var failed, forgotten atomic.Int64
	for g := range 8 {
		wg.Go(func() {
			for n := range 40 {
				key := fmt.Sprint(g, "/", n)
				_, err := s.Accept(t.Context(), AcceptedDelivery{ID: key, At: testNow}, Poke{Key: key, Tenant: int64(n % 5), Due: testNow})
				if err != nil && !errors.Is(err, errDisk) {
					t.Error(err)
				}
				if err != nil {
					failed.Add(1)
				}
				if _, got := s.Get(t.Context(), key); (got == nil) != (err == nil) {
					t.Errorf("accept: %v, get: %v", err, got)
				}
				work, err := s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1})
				if err != nil || len(work) == 0 {
					continue
				}
				gone := n%2 == 0 && work[0].Key == key // nobody else looks for it any more
				ours, err := s.Complete(t.Context(), work[0].Lease, Completion{Now: testNow, Failed: "no", Gone: gone, Sight: []byte("s"), Open: true})
				if ours && gone {
					forgotten.Add(1)
				}
				if err != nil && !errors.Is(err, errDisk) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() == 0 || forgotten.Load() == 0 {
		t.Errorf("the disk failed %d times, and %d keys were forgotten", failed.Load(), forgotten.Load())
	}
	for s.Drop(t.Context(), 1) != nil {
		continue // until the disk works
	}
	for range 3 { // of three, one fails
		if _, err := s.Health(t.Context(), testNow); err != nil {
			t.Fatal(err)
		}
	}
	for calls.Load()%3 != 0 {
		_ = s.Poke(t.Context(), testPoke("a"))
	}
	agrees(t, s)
}

// What one operation asks for must not be another's error.
func TestOneFailsAlone(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	s := openFaulty(t, nil)
	var wg sync.WaitGroup
	wg.Go(func() { // holds the writer until the others wait together
		_ = s.runDurably(t.Context(), "hold", func(*workTable) error {
			held <- struct{}{}
			<-hold
			return nil
		})
	})
	<-held
	errBad := errors.New("bad")
	bad := &op{ctx: t.Context(), done: make(chan error, 1), apply: func(tab *workTable) error {
		if err := tab.exec(`DELETE FROM work`); err != nil {
			return err
		}
		return errBad
	}}
	good := make([]*op, 20)
	for n := range good {
		good[n] = &op{ctx: t.Context(), done: make(chan error, 1), apply: func(tab *workTable) error { return tab.pokeOne(testPoke(fmt.Sprint(n))) }}
		s.ops <- good[n]
		if n == 10 {
			s.ops <- bad
		}
	}
	close(hold)
	for n, o := range good {
		if err := <-o.done; err != nil {
			t.Errorf("operation %d: %v", n, err)
		}
	}
	if err := <-bad.done; !errors.Is(err, errBad) {
		t.Errorf("the bad one: %v", err)
	}
	wg.Wait()
	if h, err := s.Health(t.Context(), testNow); err != nil || h.Keys != len(good) {
		t.Errorf("%d keys, %v", h.Keys, err)
	}
	agrees(t, s)
}

// Whoever does not wait any longer gets its error at once, even while the disk hangs.
func TestContextEndsWhileTheDiskHangs(t *testing.T) {
	hang, hangs := make(chan struct{}), make(chan struct{}, 1)
	s := openFaulty(t, func(step string) error {
		if step == "commit" {
			select {
			case hangs <- struct{}{}:
			default:
			}
			<-hang
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.Accept(ctx, AcceptedDelivery{ID: "d", At: testNow}, testPoke("a"))
		ended <- err
	}()
	<-hangs
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("accept: %v, want context.Canceled", err)
	}
	close(hang)
	if err := s.Close(); err != nil { // waits for the writer
		t.Fatal(err)
	}
}

// What was accepted has reached the disk when Accept returns; what a look takes and leaves need not.
func TestOnlyWhatIsAskedForWaitsForTheDisk(t *testing.T) {
	var s *SQLite
	var level int // as of the last commit: 2 waits for the disk
	s = openFaulty(t, func(step string) error {
		if step == "commit" {
			return s.table.queryRow("PRAGMA synchronous").Scan(&level)
		}
		return nil
	})
	ctx, n := t.Context(), 0
	together := func(first, second func() error) { // in one transaction, in this order
		hold, held := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = s.runLazily(ctx, "hold", func(*workTable) error {
				held <- struct{}{}
				<-hold
				return nil
			})
		})
		<-held
		for i, do := range []func() error{first, second} {
			wg.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
			for len(s.ops) <= i {
				runtime.Gosched()
			}
		}
		close(hold)
		wg.Wait()
	}
	accepted := func() {
		n++
		if _, err := s.Accept(ctx, AcceptedDelivery{ID: fmt.Sprint(n), At: testNow}, testPoke("a")); err != nil || level != 2 {
			t.Fatalf("accepted at level %d: %v", level, err)
		}
	}
	for range 2 {
		accepted()
		works, err := s.Claim(ctx, Claim{Now: testNow, Lease: time.Minute, Limit: 1})
		if err != nil || len(works) != 1 || level != 1 {
			t.Fatalf("claimed %d at level %d: %v", len(works), level, err)
		}
		accepted()
		if ours, err := s.Complete(ctx, works[0].Lease, Completion{Now: testNow, Wake: testNow}); err != nil || !ours || level != 1 {
			t.Fatalf("completed at level %d: %v", level, err)
		}
		if err := s.Poke(ctx, testPoke("b")); err != nil || level != 2 {
			t.Fatalf("poked at level %d: %v", level, err)
		}
		together(func() error { return s.runLazily(ctx, "note", func(*workTable) error { return nil }) }, func() error { return s.Poke(ctx, testPoke("c")) })
		if level != 2 {
			t.Fatalf("poked beside something else at level %d", level)
		}
	}
}

// After a commit that failed, nothing is accepted on a log of which nobody knows what is on the disk.
func TestAFailedCommitBeginsTheLogAnew(t *testing.T) {
	var fails atomic.Bool
	s := openFaulty(t, func(step string) error {
		if step == "commit" && fails.Load() {
			return errors.New("input/output error")
		}
		return nil
	})
	ctx := t.Context()
	size := func() int64 {
		info, err := os.Stat(s.openFiles[1].path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if err := s.Poke(ctx, testPoke("a")); err != nil || size() == 0 {
		t.Fatal(err, size())
	}
	fails.Store(true)
	if err := s.Poke(ctx, testPoke("b")); err == nil {
		t.Fatal("the commit did not fail")
	}
	fails.Store(false)
	before := size()
	if err := s.Poke(ctx, testPoke("c")); err != nil || size() >= before || s.Wrote() != nil {
		t.Errorf("%v: the log had %d bytes and has %d", err, before, size())
	}
	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, err := s.Get(ctx, key); (err == nil) != want {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// The log is folded into the file now and then, so that it does not grow for ever.
func TestTheLogIsFolded(t *testing.T) {
	s := openFaulty(t, nil)
	for n := range 10 * commitsPerFold {
		if err := s.Poke(t.Context(), testPoke(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(s.openFiles[1].path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 4<<20 {
		t.Errorf("the log has %d bytes", info.Size())
	}
}

// A log that could not be folded is begun anew before anything else is accepted on it.
func TestAFailedFoldIsAFault(t *testing.T) {
	s := openFaulty(t, func(step string) error {
		if step == "fold" {
			return errors.New("input/output error")
		}
		return nil
	})
	var last int64 // bytes of the log
	for n := range commitsPerFold + 1 {
		if err := s.Poke(t.Context(), testPoke(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.openFiles[1].path)
		if err != nil {
			t.Fatal(err)
		}
		if n == commitsPerFold && info.Size() >= last {
			t.Errorf("the log had %d bytes and has %d", last, info.Size())
		}
		last = info.Size()
	}
}

// What claims to be long is not believed.
func TestAnAnswerIsNoBomb(t *testing.T) {
	if value, err := decompressValue(binary.AppendUvarint(nil, 3<<30)); !errors.Is(err, errTooLong) { // s2 would make room first
		t.Errorf("%d bytes were unpacked: %v", len(value), err)
	}
}

// What a poke asks for in vain costs no write: the key is due as early already, and knows of the touch. While it is
// looked at the same poke asks for another look.
func TestAPokeThatChangesNothingWritesNothing(t *testing.T) {
	s := openFaulty(t, nil)
	writes := func(what string, want int64, f func() error) {
		t.Helper()
		var before, after int64
		count := func(n *int64) {
			if err := s.runDurably(t.Context(), "count", func(tab *workTable) (err error) { *n, err = tab.totalChanges(); return err }); err != nil {
				t.Fatal(err)
			}
		}
		count(&before)
		if err := f(); err != nil {
			t.Fatal(err)
		}
		count(&after)
		if after-before != want {
			t.Errorf("%s wrote %d rows, want %d", what, after-before, want)
		}
	}
	accept := func(id string) func() error {
		return func() error {
			_, err := s.Accept(t.Context(), AcceptedDelivery{ID: id, At: testNow}, testPoke("a"))
			return err
		}
	}
	writes("the first delivery", 2, accept("1"))
	writes("the same again", 1, accept("2")) // that it came
	work, err := s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %v, %v", work, err)
	}
	writes("the same during a look", 2, accept("3"))
	writes("and again", 2, accept("4"))
	if ours, err := s.Complete(t.Context(), work[0].Lease, Completion{Now: testNow}); err != nil || !ours {
		t.Fatalf("complete: %v, %v", ours, err)
	}
	if work, err = s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1}); err != nil || len(work) != 1 {
		t.Errorf("then claimed %v, %v", work, err)
	}
}

// A table that nobody misses waits for no disk, however durable a write is elsewhere.
func TestAFleetingTableWaitsForNoDisk(t *testing.T) {
	s, err := OpenSQLite(filepath.Join(t.TempDir(), "table.db"), SQLiteOptions{Fleeting: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if fresh, err := s.Accept(t.Context(), AcceptedDelivery{ID: "d", At: testNow}); err != nil || !fresh {
		t.Fatalf("accept: %v, %v", fresh, err)
	}
	level := -1
	err = s.runDurably(t.Context(), "ask", func(t *workTable) error { return t.queryRow("PRAGMA synchronous").Scan(&level) })
	if err != nil || level != 0 {
		t.Errorf("synchronous is %d, %v", level, err)
	}
}
