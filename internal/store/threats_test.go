package store

// What happens to the files of the table while it is in use.

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Faults 43 and 45: into a file that was deleted everything can be written, and nothing of it is there after a restart;
// and without the lock another daemon may be at work. So nothing is accepted any more.
func TestADeletedFileAcceptsNothing(t *testing.T) {
	for _, suffix := range []string{"", "-wal", ".lock"} {
		path := filepath.Join(t.TempDir(), "table.db")
		s, err := OpenSQLite(path, SQLiteOptions{})
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
		_ = s.Close() // whatever it says of the file
	}
}

// A disk that is full is said once in a while, not once for each delivery; and what writes nothing does not say that it
// works again.
func TestAFullDiskFloodsNoLog(t *testing.T) {
	var full atomic.Bool
	var said bytes.Buffer
	s, err := OpenSQLite(
		filepath.Join(t.TempDir(), "table.db"),
		SQLiteOptions{Log: slog.New(slog.NewTextHandler(&said, nil)), injectFault: func(step string) error {
			if full.Load() && step == "commit" {
				return errors.New("disk is full")
			}
			return nil
		}},
	)
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
