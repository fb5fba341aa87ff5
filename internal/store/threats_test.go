package store

// What happens to the files of the table while it is in use.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Fault 43: into a file that was deleted everything can be written, and nothing of it is there after a restart. So nothing is
// accepted any more.
func TestADeletedFileAcceptsNothing(t *testing.T) {
	for _, suffix := range []string{"", "-wal"} {
		path := filepath.Join(t.TempDir(), "table.db")
		s, err := OpenSQLite(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: "before", At: testNow}, testPoke("k")); err != nil || s.Wrote() != nil {
			t.Fatal(err, s.Wrote())
		}
		if err := os.Rename(path+suffix, path+suffix+".gone"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: "after", At: testNow}, testPoke("k")); err == nil || s.Wrote() == nil {
				t.Errorf("without %q a delivery was accepted: %v, %v", suffix, err, s.Wrote())
			}
			if _, err := s.Prune(t.Context(), testNow, 0); err == nil { // readiness asks so
				t.Errorf("without %q it seems to work", suffix)
			}
			if _, err := s.Claim(t.Context(), Claim{Now: testNow, Lease: time.Minute, Limit: 1}); err == nil || s.Wrote() == nil {
				t.Errorf("without %q a key was claimed: %v, %v", suffix, err, s.Wrote())
			}
		}
		if err := s.Hopeless(); !errors.Is(err, ErrReplaced) {
			t.Errorf("without %q it is not given up: %v", suffix, err)
		}
		_ = s.Close() // whatever it says of the file
	}
}

// A file of which nothing was read or written for a minute is given up; one good read says that it may heal.
func TestAFileThatOnlyARestartCanMendIsGivenUp(t *testing.T) {
	var broken atomic.Bool
	s, err := openFaulty(filepath.Join(t.TempDir(), "table.db"), Options{}, func(string) error {
		if broken.Load() {
			return errors.New("input/output error")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	broken.Store(true)
	if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: "1", At: testNow}, testPoke("k")); err == nil || s.Hopeless() != nil {
		t.Fatalf("after one fault: %v, given up: %v", err, s.Hopeless())
	}
	s.faults.badSince = s.faults.badSince.Add(-hopelessTime)
	if err := s.Hopeless(); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("after a minute of faults: given up: %v", err)
	}
	if _, err := s.Health(t.Context(), testNow); err != nil || s.Hopeless() != nil {
		t.Errorf("after a good read: %v, given up: %v", err, s.Hopeless())
	}
}

// A disk that hangs is given up, though what is in memory can be read; and nobody waits for it at the end.
func TestAFileOfADiskThatHangsIsGivenUp(t *testing.T) {
	hang, hangs := make(chan struct{}), make(chan struct{})
	s, err := openFaulty(filepath.Join(t.TempDir(), "table.db"), Options{}, func(step string) error {
		if step == "commit" {
			hangs <- struct{}{}
			<-hang
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	poked := make(chan error)
	go func() { poked <- s.Poke(t.Context(), testPoke("k")) }()
	<-hangs
	if _, err := s.Health(t.Context(), testNow); err != nil || s.Hopeless() != nil {
		t.Fatalf("at first: %v, given up: %v", err, s.Hopeless())
	}
	s.faults.noteWriting(time.Now().Add(-hopelessTime))
	if _, err := s.Health(t.Context(), testNow); err != nil || !errors.Is(s.Hopeless(), errHangs) || !errors.Is(s.Close(), errHangs) {
		t.Errorf("after a minute: %v, given up: %v", err, s.Hopeless())
	}
	close(hang)
	if err := <-poked; err != nil {
		t.Error(err)
	}
	for s.Hopeless() != nil { // it goes on
		runtime.Gosched()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// An index that is damaged is found by who needs it, whatever else can be read; and the next start begins anew, though it
// sees nothing of it.
func TestADamagedIndexIsGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	s, err := OpenSQLite(path, Options{})
	if err == nil {
		err = errors.Join(s.Poke(t.Context(), testPoke("k")), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := openDB(path, "rw", 1)
	for _, query := range []string{ // a row changes while the index is not there
		`CREATE TEMP TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'work_grp'`,
		`PRAGMA writable_schema = 1`, `DELETE FROM sqlite_schema WHERE name = 'work_grp'`, `PRAGMA writable_schema = RESET`,
		`UPDATE work SET grp = 'another'`,
		`PRAGMA writable_schema = 1`, `INSERT INTO sqlite_schema SELECT * FROM kept`, `PRAGMA writable_schema = RESET`,
	} {
		if err == nil {
			_, err = db.ExecContext(t.Context(), query)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSQLite(path, Options{}); err != nil || s.Damaged != "" || s.Hopeless() != nil {
		t.Fatalf("at the start: %v, moved to %q", err, s.Damaged)
	}
	dropped := s.Drop(t.Context(), 1)
	if _, err := s.Health(t.Context(), testNow); err != nil || !isDamage(dropped) || !isDamage(s.Hopeless()) {
		t.Errorf("dropped: %v; read: %v; given up: %v", dropped, err, s.Hopeless())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = OpenSQLite(path, Options{}); err != nil || s.Damaged == "" {
		t.Fatalf("at the next start: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A damaged file of ours is moved away, and an empty one is begun.
func TestADamagedFileIsMovedAway(t *testing.T) {
	for name, test := range map[string]struct {
		at     int64
		inUse  bool // it is damaged while it is in use, so that it is given up
		isLost bool // nothing shows any more whose it was
	}{
		"a page of a table":                 {at: 4096},
		"its beginning, while it is in use": {inUse: true},
		"its beginning, after a clean stop": {isLost: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table.db")
			s, err := OpenSQLite(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 500 {
				if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: fmt.Sprint(n), At: testNow}, testPoke(fmt.Sprint("k", n))); err != nil {
					t.Fatal(err)
				}
			}
			if test.inUse {
				overwritePages(t, path, test.at)
				s.run(t, func(ctx context.Context, tx session) error {
					return tx.runStatements(ctx, newStatement(`PRAGMA cache_size = 1`))
				})
				for n := 0; s.Hopeless() == nil && n < 1000; n++ {
					_ = s.Poke(t.Context(), testPoke(fmt.Sprint("k", n)))
				}
			}
			if err := s.Close(); err != nil || s.Damaged != "" {
				t.Fatal(err, s.Damaged)
			}
			if !test.inUse {
				overwritePages(t, path, test.at)
			}
			if _, err := OpenSQLite(path, Options{KeepDamaged: true}); !errors.Is(err, ErrNoDatabase) {
				t.Errorf("tried only: %v", err)
			}
			s, err = OpenSQLite(path, Options{})
			if test.isLost && errors.Is(err, ErrNoDatabase) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := os.Stat(s.Damaged); err != nil || !strings.HasPrefix(s.Damaged, path+".damaged-") {
				t.Errorf("the damaged file is at %q: %v", s.Damaged, err)
			}
			if taken, err := s.Accept(t.Context(), AcceptedDelivery{ID: "1", At: testNow}, testPoke("k")); err != nil || !taken {
				t.Errorf("the empty one takes a delivery: %t, %v", taken, err)
			}
		})
	}
}

// A damaged file that never was ours stays where it is, however often somebody starts the daemon with it.
func TestADamagedFileOfSomebodyElsesStays(t *testing.T) {
	notes, wiki := filepath.Join(t.TempDir(), "notes.txt"), filepath.Join(t.TempDir(), "wiki.db")
	if err := os.WriteFile(notes, bytes.Repeat([]byte("garbage"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := openDB(wiki, "rwc", 1, "journal_mode(WAL)", "application_id(7)")
	if err == nil {
		_, err = db.ExecContext(t.Context(), `CREATE TABLE pages (title TEXT)`)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(wiki)
	if err == nil {
		copy(data[100:], bytes.Repeat([]byte{0xa5}, 1000))
		err = os.WriteFile(wiki, data, 0o600)
	}
	if err = errors.Join(err, os.WriteFile(wiki+"-wal", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{notes, wiki, notes, wiki} {
		if _, err := OpenSQLite(path, Options{}); !errors.Is(err, ErrNoDatabase) {
			t.Errorf("%s was opened: %v", path, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// overwritePages overwrites all of a file from there on but its last page.
func overwritePages(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size()-at-4096)), at); err != nil {
		t.Fatal(err)
	}
}

// A disk that is full is said once in a while, not once for each delivery; and what writes nothing does not say that it
// works again.
func TestAFullDiskFloodsNoLog(t *testing.T) {
	var full atomic.Bool
	var said bytes.Buffer
	o := Options{Log: slog.New(slog.NewTextHandler(&said, nil))}
	s, err := openFaulty(filepath.Join(t.TempDir(), "table.db"), o, func(step string) error {
		if full.Load() && step == "commit" {
			return errors.New("disk is full")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	for n := range 1000 {
		if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: fmt.Sprint(n), At: testNow}, testPoke("k")); err == nil {
			t.Fatal("accepted")
		}
	}
	if s.Wrote() == nil {
		t.Error("it is not told that nothing can be written")
	}
	full.Store(false)
	if _, err := s.Prune(t.Context(), testNow, 1); err != nil || s.Wrote() == nil {
		t.Errorf("what wrote nothing says that writing works: %v", err)
	}
	if _, err := s.Accept(t.Context(), AcceptedDelivery{ID: "x", At: testNow}, testPoke("k")); err != nil || s.Wrote() != nil {
		t.Errorf("after it: %v, %v", err, s.Wrote())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said.String(), "\n"); n < 1 || n > 20 {
		t.Errorf("%d lines for 1000 faults", n)
	}
}
