package store_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/store/storetest"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return openTable(t, filepath.Join(t.TempDir(), "table.db")) })
}

func openTable(t testing.TB, path string) *store.Database {
	t.Helper()
	s, err := store.OpenSQLite(path, store.Options{})
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

func accept(t testing.TB, s *store.Database, id string, pokes ...store.Poke) {
	t.Helper()
	if fresh, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: id, At: now}, pokes...); err != nil || !fresh {
		t.Fatalf("accept %s: %v, %v", id, fresh, err)
	}
}

func claim(t testing.TB, s *store.Database, limit int) []store.Work {
	t.Helper()
	work, err := s.Claim(t.Context(), store.Claim{Now: now, Lease: 30 * time.Second, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return work
}

// What was leased when the process ended is due at once in the next one, and the former tokens are void.
func TestOpeningEndsLeases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "table.db")
	s := openTable(t, path)
	accept(t, s, "d", store.Poke{Key: "a", Tenant: 1, Due: now.Add(-time.Minute), Touch: "t"})
	before := claim(t, s, 9)
	if err := s.Poke(t.Context(), store.Poke{Key: "a", Tenant: 1, Due: now, Touch: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTable(t, path)
	if ours, err := s.Complete(t.Context(), before[0].Lease, store.Completion{Now: now, Gone: true}); err != nil || ours {
		t.Fatalf("complete with a token of the former process: %v, %v", ours, err)
	}
	after := claim(t, s, 9)
	if len(after) != 1 || after[0].Token == before[0].Token {
		t.Fatalf("claimed %v, before the end %v", after, before)
	}
	want := store.Work{Lease: after[0].Lease, Tenant: 1, Due: now.Add(-time.Minute), Touches: []string{"t", "u"}}
	if d := cmp.Diff(want, after[0]); d != "" {
		t.Errorf("work (-want +got):\n%s", d)
	}
	if ours, err := s.Complete(t.Context(), before[0].Lease, store.Completion{Now: now}); err != nil || ours {
		t.Errorf("complete with a token of the former process: %v, %v", ours, err)
	}
	if known, err := s.Known(t.Context(), []string{"d"}); err != nil || !known["d"] {
		t.Errorf("known: %v, %v", known, err)
	}
}

// openedFile is set in a process that holds the file of that name open until its input ends.
const openedFile = "COORDINATOR_TEST_OPENS"

func TestMain(m *testing.M) {
	if path := os.Getenv(openedFile); path != "" {
		if _, err := store.OpenSQLite(path, store.Options{}); err != nil {
			fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stdout, "open")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // as if killed: nothing is closed
	}
	goleak.VerifyTestMain(deadline.Watch(m, storetest.OpenTables))
}

// A second process is refused by whatever name it knows the file, and let in once the first one has been killed.
func TestASecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link, symlink := filepath.Join(dir, "table.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "symlink.db")
	s := openTable(t, path)
	accept(t, s, "c")
	accept(t, s, "d")
	if err := errors.Join(os.Link(path, link), os.Symlink(path, symlink)); err != nil {
		t.Skip("no links here:", err)
	}
	wantRefused := func(who, says string) {
		t.Helper()
		if !strings.Contains(says, store.ErrInUse.Error()) || !strings.Contains(says, "stop that one") {
			t.Errorf("%s: %s", who, says)
		}
	}
	for _, name := range []string{path, link, symlink} {
		_, says := openInProcess(t, name)
		wantRefused("another process with "+name, says)
		_, err := store.OpenSQLite(name, store.Options{})
		wantRefused("this process with "+name, fmt.Sprint(err))
	}
	accept(t, s, "e")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{symlink, path} {
		kill, says := openInProcess(t, name)
		if says != "open" {
			t.Fatalf("once the first one has ended, with %s: %s", name, says)
		}
		_, err := store.OpenSQLite(link, store.Options{})
		wantRefused("this process with "+link, fmt.Sprint(err))
		kill()
	}
	s = openTable(t, symlink)
	if known, err := s.Known(t.Context(), []string{"d", "e"}); err != nil || len(known) != 2 {
		t.Errorf("known: %v, %v", known, err)
	}
}

// Whoever reads the file, as a shell of SQLite's does, keeps no daemon from starting.
func TestAReaderKeepsNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	if err := openTable(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM counters")
	if err != nil || !rows.Next() {
		t.Fatal("it cannot be read:", err)
	}
	defer rows.Close()
	if kill, says := openInProcess(t, path); says != "open" {
		t.Error(says)
	} else {
		kill()
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// A start writes nothing: the disk may be full, and what GitHub delivers is then answered.
func TestAStartWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	s := openTable(t, path)
	accept(t, s, "d")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	openTable(t, path)
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
	if log, err := os.ReadFile(path + "-wal"); err != nil || len(log) > 0 {
		t.Errorf("%d bytes were written to the log: %v", len(log), err)
	}
}

// openInProcess opens a file in a process of its own, and returns what that says of it.
func openInProcess(t *testing.T, path string) (kill func(), says string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), openedFile+"="+path)
	_, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(kill)
	says, _ = bufio.NewReader(out).ReadString('\n')
	return kill, strings.TrimSpace(says)
}

// Of some that start at once no two get the file, and the others are told why.
func TestNoTwoThatStartAtOnceGetTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.db")
	var group sync.WaitGroup
	var opened atomic.Int32
	for range 6 {
		group.Go(func() {
			switch _, says := openInProcess(t, path); {
			case says == "open":
				opened.Add(1)
			case !strings.Contains(says, store.ErrInUse.Error()):
				t.Error(says)
			}
		})
	}
	group.Wait()
	if n := opened.Load(); n > 1 {
		t.Errorf("%d have it", n)
	}
}

// After a clean stop one file holds all.
func TestACleanStopLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.db")
	s := openTable(t, path)
	accept(t, s, "d")
	if _, err := s.Health(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", suffix, err)
		}
	}
	alone := filepath.Join(t.TempDir(), "copy.db")
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(alone, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h, err := openTable(t, alone).Health(t.Context(), time.Now()); err != nil || h.Accepted != 1 {
		t.Errorf("the copy holds %d deliveries, %v", h.Accepted, err)
	}
}

func TestTheFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "table 100%?#.db")
	s := openTable(t, path)
	accept(t, s, "d")
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

// fixture makes a database of SQL.
func fixture(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
}

// With a million keys a page must not take longer: what the daemon lists is read by the index that holds little else.
func TestListsReadFewRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	if err := openTable(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	open, settled, tenant := true, false, int64(77)
	for _, c := range []struct {
		what, plan string
		q          store.Query
	}{
		{"repositories", "SEARCH w USING INDEX work_kind (kind=?)", store.Query{Kind: "repo"}},
		{"open ones", "SCAN w USING INDEX work_open", store.Query{Kind: "pull", Open: &open}},
		{
			"open ones of the next page", "SEARCH w USING INDEX work_open (seen_at>? AND seen_at<?)",
			store.Query{Kind: "pull", Open: &open, Before: now},
		},
		{"settled ones", "SEARCH w USING INDEX work_kind (kind=?)", store.Query{Kind: "pull", Open: &settled}},
		{
			"settled ones of the next page", "SEARCH w USING INDEX work_kind (kind=? AND seen_at>? AND seen_at<?)",
			store.Query{Kind: "pull", Open: &settled, Before: now},
		},
		{
			"a repository's", "SEARCH w USING INDEX work_grp (grp=?)",
			store.Query{Tenant: &tenant, Kind: "pull", Group: "acme/shop", Thin: true},
		},
		{
			"open ones of a repository", "SEARCH w USING INDEX work_grp (grp=?)",
			store.Query{Kind: "pull", Group: "acme/shop", Open: &open},
		},
	} {
		query, args := store.ListQuery(c.q)
		var id, parent, unused int
		var plan string
		explained := db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err := explained.Scan(&id, &parent, &unused, &plan); err != nil {
			t.Fatal(err)
		}
		if plan != c.plan {
			t.Errorf("%s: SQLite would %s, want %s", c.what, plan, c.plan)
		}
	}
}

func TestANewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	s := openTable(t, path)
	accept(t, s, "d")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fixture(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	_, err := store.OpenSQLite(path, store.Options{})
	if err == nil || !strings.Contains(err.Error(), "a newer coordinator wrote it: its schema is 999") {
		t.Fatalf("opened: %v", err)
	}
	fixture(t, path, `DELETE FROM goose_db_version WHERE version_id = 999`)
	s = openTable(t, path) // the lock was let go of
	if known, err := s.Known(t.Context(), []string{"d"}); err != nil || !known["d"] {
		t.Errorf("known: %v, %v", known, err)
	}
}

func TestNoDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("garbage"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenSQLite(path, store.Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("opened: %v", err)
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	for name, script := range map[string]string{
		"a wiki":       `CREATE TABLE pages (title TEXT)`,
		"goose's, too": `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER, is_applied INTEGER, tstamp TIMESTAMP); INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (7, 1); CREATE TABLE pages (title TEXT)`,
		"in a log":     `PRAGMA journal_mode = WAL; CREATE TABLE pages (title TEXT)`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "wiki.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), script); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "wiki.db") // as a program leaves it that was killed
			was := map[string][]byte{}
			for _, suffix := range []string{"", "-wal"} {
				if was[suffix], err = os.ReadFile(path + suffix); err != nil {
					delete(was, suffix)
					continue
				}
				if err := os.WriteFile(copied+suffix, was[suffix], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := store.OpenSQLite(copied, store.Options{}); !errors.Is(err, store.ErrForeignDatabase) || !strings.Contains(err.Error(), copied) {
				t.Errorf("opened: %v", err)
			}
			for suffix, bytesWere := range was {
				if is, err := os.ReadFile(copied + suffix); err != nil || !bytes.Equal(is, bytesWere) {
					t.Errorf("wiki.db%s was changed (%v)", suffix, err)
				}
			}
		})
	}
}

// A process that is killed in its first transaction leaves a rollback journal, which the next process must roll back
// before it can read. (The layout of a journal's header: https://www.sqlite.org/fileformat2.html#rollback_journal.)
func TestKilledInItsFirstTransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 1"); err != nil { // the file gets its first page
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	journal := make([]byte, 512)
	copy(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	binary.BigEndian.PutUint32(journal[20:], 512)  // of a sector
	binary.BigEndian.PutUint32(journal[24:], 4096) // of a page; no page was there before
	if err := os.WriteFile(path+"-journal", journal, 0o600); err != nil {
		t.Fatal(err)
	}
	accept(t, openTable(t, path), "d1", store.Poke{Key: "k", Tenant: 1, Due: now, Touch: "d1"})
}

// A loss of power may cut the log anywhere, or leave anything in its last part. What is found is what was accepted up
// to some moment, and all that was durable before the damage.
func TestATornLog(t *testing.T) {
	t.Parallel()
	const deliveries = store.CommitsPerFold - 1 // all in one log
	dir := t.TempDir()
	path := filepath.Join(dir, "table.db")
	s := openTable(t, path)
	var ids []string
	var sizes []int // of the log after each
	for n := range deliveries {
		ids = append(ids, fmt.Sprint("d", n))
		accept(t, s, ids[n], store.Poke{Key: fmt.Sprint("k", n%10), Tenant: 1, Due: now, Touch: ids[n]})
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, int(info.Size()))
	}
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const cuts = 40
	for n := range cuts {
		at := (n*len(wal)/cuts + n*n) % len(wal) // within headers, within pages, between
		flipped := bytes.Clone(wal)
		flipped[at] ^= 0x40
		zeroed := append(bytes.Clone(wal[:at]), make([]byte, len(wal)-at)...)
		for name, torn := range map[string][]byte{"cut": wal[:at], "flipped": flipped, "zeroed": zeroed} {
			least := 0
			for least < deliveries && sizes[least] <= at {
				least++
			}
			found := reopened(t, filepath.Join(t.TempDir(), "table.db"), db, torn, ids)
			if found < least {
				t.Errorf("%s at %d of %d: %d deliveries are found, %d were durable", name, at, len(wal), found, least)
			}
		}
	}
	if found := reopened(t, filepath.Join(t.TempDir(), "table.db"), db, wal, ids); found != deliveries {
		t.Errorf("of a whole log %d deliveries are found", found)
	}
}

// reopened opens a copy and says how many deliveries it holds. They are the first ones, and their pokes are there.
func reopened(t *testing.T, path string, db, wal []byte, ids []string) int {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", wal, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenSQLite(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	known, err := s.Known(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	touched := map[string]bool{}
	for _, w := range claim(t, s, 100) {
		for _, touch := range w.Touches {
			touched[touch] = true
		}
	}
	for n, id := range ids {
		if known[id] != (n < len(known)) || touched[id] != known[id] {
			t.Fatalf("%s is known: %v, and touched: %v, of %d", id, known[id], touched[id], len(known))
		}
	}
	return len(known)
}

// modernc.org/sqlite is C that was translated for one version of modernc.org/libc: with another one it may corrupt
// memory.
func TestLibcIsTheOneOfSQLite(t *testing.T) {
	mod, err := exec.Command("go", "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite").Output()
	if err != nil {
		t.Fatal(err)
	}
	required, err := os.ReadFile(strings.TrimSpace(string(mod)))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(required)
	if want == nil {
		t.Fatal("SQLite requires no libc")
	}
	built, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}{{with .Replace}} replaced by {{.Path}}{{end}}", "modernc.org/libc").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(built)); got != string(want[1]) {
		t.Errorf("libc is %s, SQLite wants %s", got, want[1])
	}
}

// Where the given name leads elsewhere, the next process would not have what is accepted now.
func TestATurnedLinkIsAReplacedFile(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "data")
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a"), link); err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenSQLite(filepath.Join(link, "c.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(os.Remove(link), os.Symlink(filepath.Join(dir, "b"), link)); err != nil {
		t.Fatal(err)
	}
	d := store.AcceptedDelivery{ID: "x", At: time.Now()}
	if _, err := s.Accept(t.Context(), d, store.Poke{Key: "k", Kind: "pull", Due: time.Now()}); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("accepted: %v", err)
	}
}

// Somebody else's file stays, also one without SQLite's header that has a log beside it.
func TestAnEncryptedDatabaseStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	for _, part := range []string{path, path + "-wal"} {
		if err := os.WriteFile(part, bytes.Repeat([]byte{0x9c, 7, 0xee, 31}, 4096), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := store.OpenSQLite(path, store.Options{}); !errors.Is(err, store.ErrNoDatabase) {
		t.Errorf("it was opened: %v, %v", s, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("it was moved: %v", err)
	}
}
