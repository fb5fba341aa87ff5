package store

// Faults of the disk, from within: a full one by SQLite's own bound, others by a hook.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func testPoke(key string) Poke { return Poke{Key: key, Tenant: 1, Due: testNow, Touch: "t"} }

func openTable(t *testing.T, fault func(string) error) *Database {
	t.Helper()
	if fault == nil {
		fault = func(string) error { return nil }
	}
	s, err := openFaulty(filepath.Join(t.TempDir(), "table.db"), Options{}, fault)
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

// run applies something in a transaction of a table's own.
func (s *Database) run(t *testing.T, apply func(ctx context.Context, tx session) error) {
	t.Helper()
	if _, err := s.submitOp(t.Context(), "test", &op{apply: apply}); err != nil {
		t.Fatal(err)
	}
}

// logFile is the write-ahead log of a table.
func (s *Database) logFile() string {
	for path := range s.backend.(*sqliteFile).openFiles {
		if strings.HasSuffix(path, "-wal") {
			return path
		}
	}
	return ""
}

// A full disk: nothing is half done, nothing is acknowledged that is lost, and it goes on when there is space again.
func TestFullDisk(t *testing.T) {
	s := openTable(t, nil)
	ctx := t.Context()
	pages := func(n int) {
		t.Helper()
		s.run(t, func(ctx context.Context, tx session) error {
			return tx.runStatements(ctx, statement{query: fmt.Sprintf("PRAGMA max_page_count = %d", n), row: ignoreRow})
		})
	}
	pages(1) // as many as there are
	large := strings.Repeat("x", 3000)
	acked := map[string]bool{}
	var refused error
	for n := range 200 {
		id := fmt.Sprint(n)
		fresh, err := s.Accept(ctx, AcceptedDelivery{ID: id, At: testNow},
			Poke{Key: "first " + id, Tenant: 1, Due: testNow, Touch: large}, testPoke("second "+id))
		if acked[id] = err == nil; err != nil {
			refused = err
		} else if !fresh {
			t.Fatal("a new delivery is not fresh")
		}
	}
	if refused == nil || !strings.Contains(refused.Error(), "accept delivery") || !strings.Contains(refused.Error(), "full") {
		t.Fatalf("the error of a full disk is %v", refused)
	}
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
}

// A disk that fails now and then, under many at once: whoever got no error finds what it did, and nobody finds half of
// it.
func TestFailingDisk(t *testing.T) {
	var calls atomic.Int64
	errDisk := errors.New("input/output error")
	s := openTable(t, func(step string) error {
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
}

// What one operation asks for must not be another's error.
func TestOneFailsAlone(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	s := openTable(t, nil)
	var wg sync.WaitGroup
	wg.Go(func() { // holds the writer until the others wait together
		s.run(t, func(context.Context, session) error {
			held <- struct{}{}
			<-hold
			return nil
		})
	})
	<-held
	errBad := errors.New("bad")
	bad := &op{ctx: t.Context(), done: make(chan error, 1), apply: func(ctx context.Context, tx session) error {
		if err := tx.runStatements(ctx, newStatement(`DELETE FROM work`)); err != nil {
			return err
		}
		return errBad
	}}
	good := make([]*op, 20)
	for n := range good {
		good[n] = &op{ctx: t.Context(), done: make(chan error, 1), pokes: []Poke{testPoke(fmt.Sprint(n))}}
		s.queue <- good[n]
		if n == 10 {
			s.queue <- bad
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
}

// Whoever does not wait any longer gets its error at once, even while the disk hangs.
func TestContextEndsWhileTheDiskHangs(t *testing.T) {
	hang, hangs := make(chan struct{}), make(chan struct{}, 1)
	s := openTable(t, func(step string) error {
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

// The log is folded into the file now and then, so that it does not grow for ever.
func TestTheLogIsFolded(t *testing.T) {
	s := openTable(t, nil)
	for n := range 10 * commitsPerFold {
		if err := s.Poke(t.Context(), testPoke(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(s.logFile())
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 4<<20 {
		t.Errorf("the log has %d bytes", info.Size())
	}
}

// What claims to be long is not believed.
func TestAnAnswerIsNoBomb(t *testing.T) {
	if value, err := decompressValue(binary.AppendUvarint(nil, 3<<30)); err == nil || !strings.Contains(err.Error(), "more than any") {
		t.Errorf("%d bytes were unpacked: %v", len(value), err)
	}
}

// What a poke asks for in vain costs no write: the key is due as early already, and knows of the touch. While it is
// looked at the same poke asks for another look, once.
func TestAPokeThatChangesNothingWritesNothing(t *testing.T) {
	s := openTable(t, nil)
	writes := func(what string, want int64, f func() error) {
		t.Helper()
		var before, after int64
		count := func(n *int64) {
			s.run(t, func(ctx context.Context, tx session) error {
				return tx.runStatements(ctx, statement{query: "SELECT total_changes()", row: func(scan scanner) error { return scan(n) }})
			})
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
	writes("the first delivery", 3, accept("1"))
	writes("the same again", 1, accept("2")) // that it came
	work, err := s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %v, %v", work, err)
	}
	writes("the same during a look", 2, accept("3"))
	writes("and again", 1, accept("4"))
	if ours, err := s.Complete(t.Context(), work[0].Lease, Completion{Now: testNow}); err != nil || !ours {
		t.Fatalf("complete: %v, %v", ours, err)
	}
	if work, err = s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1}); err != nil || len(work) != 1 {
		t.Errorf("then claimed %v, %v", work, err)
	}
}

// What a call returned has reached the disk; a table that nobody misses waits for no disk.
func TestEveryCommitWaitsForTheDisk(t *testing.T) {
	for _, isFleeting := range []bool{false, true} {
		s, err := OpenSQLite(filepath.Join(t.TempDir(), "table.db"), Options{Fleeting: isFleeting})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if fresh, err := s.Accept(t.Context(), AcceptedDelivery{ID: "d", At: testNow}); err != nil || !fresh {
			t.Fatalf("accept: %v, %v", fresh, err)
		}
		level, want := -1, 2 // of https://www.sqlite.org/pragma.html#pragma_synchronous
		if isFleeting {
			want = 0
		}
		s.run(t, func(ctx context.Context, _ session) error {
			return s.backend.(*sqliteFile).writeDB.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level)
		})
		if level != want {
			t.Errorf("synchronous is %d, want %d", level, want)
		}
	}
}

// A file that another daemon has moved away between its opening and its hold is not this daemon's.
func TestAFileThatWasMovedMeanwhileIsNotHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	held, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	f := &sqliteFile{hold: held}
	if err := f.holdInPlace(path); err != nil {
		t.Errorf("in its place: %v", err)
	}
	if err := os.Rename(path, path+".damaged"); err != nil {
		t.Fatal(err)
	}
	if err := f.holdInPlace(path); !errors.Is(err, ErrInUse) {
		t.Errorf("moved away: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.holdInPlace(path); !errors.Is(err, ErrInUse) {
		t.Errorf("another one in its place: %v", err)
	}
}
