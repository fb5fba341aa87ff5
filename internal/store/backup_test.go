package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

func backUp(t *testing.T, from, to string, o store.BackupOptions) store.Backup {
	t.Helper()
	b, err := store.BackUpSQLite(t.Context(), from, to, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Many write while the copy is made. Nobody waits for it, and all that was accepted before it began is in it.
func TestABackupUnderLoadHoldsWhatWasAccepted(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "table.db"), filepath.Join(t.TempDir(), "copy.db")
	s := openTable(t, from)
	const writers = 8
	var accepted [writers]atomic.Int64
	storming, calm := context.WithCancel(t.Context())
	enough := make(chan struct{})
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := int64(0); storming.Err() == nil; n++ {
				id := fmt.Sprintf("%d-%d", w, n)
				poke := store.Poke{Key: id, Tenant: int64(w), Kind: "pull", Group: "octo/shop", Due: now}
				if _, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: id, Event: "push", At: now}, poke); err != nil {
					t.Error(err)
					return
				}
				if accepted[w].Store(n + 1); w == 0 && n == 200 {
					close(enough)
				}
			}
		})
	}
	<-enough
	var before [writers]int64
	for w := range writers {
		before[w] = accepted[w].Load()
	}
	b := backUp(t, from, to, store.BackupOptions{})
	during := accepted[0].Load() - before[0]
	calm()
	writing.Wait()
	if during == 0 {
		t.Error("nothing was accepted while the copy was made")
	}
	if info, err := os.Lstat(to); err != nil || info.Size() != b.Bytes || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(to)); len(left) != 1 {
		t.Errorf("beside the copy lie %v", left)
	}
	restored := openTable(t, to)
	total := int64(0)
	for w := range writers {
		total += before[w]
		var ids []string
		for n := range before[w] {
			ids = append(ids, fmt.Sprintf("%d-%d", w, n))
		}
		known, err := restored.Known(t.Context(), ids)
		if err != nil || len(known) != len(ids) {
			t.Errorf("writer %d: %d of %d deliveries are in the copy, %v", w, len(known), len(ids), err)
		}
		if _, err := restored.Get(t.Context(), ids[len(ids)-1]); err != nil {
			t.Errorf("its last row: %v", err)
		}
	}
	if b.Rows["deliveries"] < total || b.Rows["deliveries"] != b.Rows["work"] || b.Schema == 0 {
		t.Errorf("it says %+v, %d were accepted before", b, total)
	}
	accept(t, s, "and the daemon goes on")
}

func TestBackupsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "table.db")
	s := openTable(t, from)
	accept(t, s, "d", store.Poke{Key: "a", Tenant: 1, Due: now})
	at := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign, newer := filepath.Join(dir, "foreign.db"), filepath.Join(dir, "newer.db")
	runSQL(t, foreign, "CREATE TABLE work (id INTEGER)")
	backUp(t, from, newer, store.BackupOptions{})
	runSQL(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
	there, free := at("there.db", "mine"), filepath.Join(dir, "free.db")
	at("logged.db-wal", "a log")
	elsewhere := t.TempDir()
	link, folder := filepath.Join(elsewhere, "link.db"), filepath.Join(elsewhere, "folder")
	if err := errors.Join(os.Symlink(from, link), os.Symlink(dir, folder)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to string
		replace  bool
		want     error
	}{
		{from, there, false, store.ErrBackupExists},
		{from, from, true, store.ErrBackupPlace},
		{from, from + "-wal", true, store.ErrBackupPlace},
		{from, from + "-shm", true, store.ErrBackupPlace},
		{from, from + ".lock", true, store.ErrBackupPlace},
		{from, from + "-journal", true, store.ErrBackupPlace},
		{link, from + "-wal", true, store.ErrBackupPlace},
		{from, filepath.Join(folder, "table.db-journal"), true, store.ErrBackupPlace},
		{from, filepath.Join(dir, "logged.db"), true, store.ErrBackupPlace},
		{from, dir, true, store.ErrBackupPlace},
		{from, filepath.Join(dir, "none", "copy.db"), false, os.ErrNotExist},
		{filepath.Join(dir, "none.db"), free, false, os.ErrNotExist},
		{at("empty.db", ""), free, false, store.ErrForeignDatabase},
		{at("text.db", strings.Repeat("no database at all. ", 100)), free, false, store.ErrNoDatabase},
		{foreign, free, false, store.ErrForeignDatabase},
		{newer, free, false, store.ErrNewer},
		{dir, free, false, store.ErrNoDatabase},
	} {
		if _, err := store.BackUpSQLite(t.Context(), c.from, c.to, store.BackupOptions{Replace: c.replace}); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
	}
	if _, err := os.Lstat(free); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy is there: %v", err)
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("it was replaced: %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	backUp(t, from, there, store.BackupOptions{Replace: true})
	if h, err := openTable(t, there).Health(t.Context(), now); err != nil || h.Accepted != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	accept(t, s, "the daemon goes on")
}

func runSQL(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(script)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// backupArguments makes a process of this test copy one file to another.
const backupArguments = "STORE_TEST_BACKUP"

// The process that copies is killed in the middle: nothing stands under the copy's name, the database is whole, and the
// next copy is made.
func TestABackupThatIsKilledLeavesNoHalf(t *testing.T) {
	if from, to, child := strings.Cut(os.Getenv(backupArguments), "|"); child {
		backUp(t, from, to, store.BackupOptions{})
		return
	}
	from, to := filepath.Join(t.TempDir(), "table.db"), filepath.Join(t.TempDir(), "copy.db")
	s := openTable(t, from)
	var pokes []store.Poke
	for n := range 40_000 {
		pokes = append(pokes, store.Poke{Key: fmt.Sprintf("%08d%s", n, strings.Repeat("k", 200)), Tenant: 1, Due: now})
	}
	if err := s.Poke(t.Context(), pokes...); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program, "-test.run", "^TestABackupThatIsKilledLeavesNoHalf$")
	child.Env = append(os.Environ(), backupArguments+"="+from+"|"+to)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		part, _ := filepath.Glob(filepath.Join(filepath.Dir(to), ".copy.db.*.partial"))
		if len(part) == 1 {
			if info, err := os.Stat(part[0]); err == nil && info.Size() > 1<<20 {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no copy begins")
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("it was done before it was killed")
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a copy is there: %v", err)
	}
	accept(t, s, "the daemon goes on")
	if b := backUp(t, from, to, store.BackupOptions{}); b.Rows["work"] != 40_000 || b.Rows["deliveries"] != 1 {
		t.Errorf("%+v", b)
	}
}

// An interrupted copy leaves nothing at all.
func TestABackupThatIsInterruptedLeavesNothing(t *testing.T) {
	dir, from := t.TempDir(), filepath.Join(t.TempDir(), "table.db")
	accept(t, openTable(t, from), "d")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.BackUpSQLite(ctx, from, filepath.Join(dir, "copy.db"), store.BackupOptions{}); err == nil {
		t.Error("it was made")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// After a kill the newest rows lie in the log, and nobody holds the file: they are in the copy, too.
func TestABackupHoldsWhatAKilledDaemonLeftInItsLog(t *testing.T) {
	running, killed := filepath.Join(t.TempDir(), "table.db"), filepath.Join(t.TempDir(), "table.db")
	accept(t, openTable(t, running), "d")
	for _, suffix := range []string{"", "-wal"} { // as they would be found
		data, err := os.ReadFile(running + suffix)
		if err == nil {
			err = os.WriteFile(killed+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if b := backUp(t, killed, to, store.BackupOptions{}); b.Rows["deliveries"] != 1 {
		t.Errorf("%+v", b)
	}
	if known, err := openTable(t, killed).Known(t.Context(), []string{"d"}); err != nil || !known["d"] {
		t.Errorf("the database lost it: %v, %v", known, err)
	}
}
