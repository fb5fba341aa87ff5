package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/review-coordinator/coordinator/internal/store"
)

// nextMigration is as a later version may have it: it does all that one may do to tables which an older program uses.
const nextMigration = `-- +goose Up
ALTER TABLE work ADD COLUMN weight integer NOT NULL DEFAULT 0;
CREATE INDEX work_weight ON work (weight, due_at);
CREATE TABLE weighings (tenant bigint PRIMARY KEY, heaviest integer NOT NULL);
`

// migrationsUpTo are the first n migrations of this program.
func migrationsUpTo(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, path := range migrationFiles(t)[:n] {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = &fstest.MapFile{Data: text}
	}
	return files
}

func migrationFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	slices.Sort(files)
	return files
}

// openNewerPostgres opens a store as the next version of this program does.
func openNewerPostgres(t *testing.T, at, replica string) *store.Database {
	t.Helper()
	files := migrationsUpTo(t, len(migrationFiles(t)))
	files["migrations/postgres/99999_next.sql"] = &fstest.MapFile{Data: []byte(nextMigration)}
	s, err := store.OpenPostgresOf(t.Context(), at, store.Options{Replica: replica}, files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A workload is what daemons do: they accept deliveries, each of which pokes a key of its own, and look at what is due.
type workload struct {
	mu       sync.Mutex
	accepted []string
	done     map[string]int // by key: how often it was completed
}

// doRound accepts a delivery, and looks at some of what is due to a replica.
func (l *workload) doRound(ctx context.Context, s *store.Database) (looks int, err error) {
	l.mu.Lock()
	id := fmt.Sprintf("delivery-%d", len(l.accepted))
	tenant := int64(len(l.accepted) % 20)
	l.accepted = append(l.accepted, id)
	l.mu.Unlock()
	poke := store.Poke{Key: id, Tenant: tenant, Kind: "pull", Group: "g", Due: now, Touch: "t"}
	if fresh, err := s.Accept(ctx, store.AcceptedDelivery{ID: id, At: now}, poke); err != nil || !fresh {
		return 0, fmt.Errorf("accept %s: %v, %w", id, fresh, err)
	}
	return l.lookAtDue(ctx, s)
}

func (l *workload) lookAtDue(ctx context.Context, s *store.Database) (looks int, err error) {
	works, err := s.Claim(ctx, store.Claim{Now: now, Lease: leaseTime, Limit: 4})
	if err != nil {
		return 0, err
	}
	for _, w := range works {
		if lost, err := s.Renew(ctx, now.Add(leaseTime), w.Lease); err != nil || len(lost) > 0 {
			return 0, fmt.Errorf("renew %s: lost %v, %w", w.Key, lost, err)
		}
		if ours, err := s.Complete(ctx, w.Lease, store.Completion{Now: now, Sight: []byte("{}")}); err != nil || !ours {
			return 0, fmt.Errorf("complete %s: %v, %w", w.Key, ours, err)
		}
		l.mu.Lock()
		l.done[w.Key]++
		l.mu.Unlock()
	}
	return len(works), nil
}

// A replica goes on, and is refused nothing, while one of the next version brings the tables to its schema, and beside it. It can only
// not start anew. Nothing is lost, and nothing is looked at twice.
func TestReplicaGoesOnWhileANewerOneMigratesOnPostgres(t *testing.T) {
	at := newSchema(t)
	old, load := openReplica(t, at, "old"), workload{done: map[string]int{}}
	const writers = 4
	begun, ended := make(chan bool, writers), make(chan bool)
	var group sync.WaitGroup
	stop := sync.OnceFunc(func() { close(ended); group.Wait() })
	defer stop()
	for range writers {
		group.Go(func() {
			_, err := load.doRound(t.Context(), old)
			begun <- true
			for err == nil {
				select {
				case <-ended:
					return
				default:
					_, err = load.doRound(t.Context(), old)
				}
			}
			t.Error(err)
		})
	}
	for range writers {
		<-begun
	}
	newer := openNewerPostgres(t, at, "newer")
	stop()
	looks := map[*store.Database]int{}
	for range 60 {
		for _, s := range []*store.Database{old, newer} {
			n, err := load.doRound(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			looks[s] += n
		}
	}
	if looks[old] == 0 || looks[newer] == 0 {
		t.Errorf("side by side the old one made %d looks, and the newer one %d", looks[old], looks[newer])
	}
	if _, err := store.OpenPostgres(t.Context(), at, store.Options{}); !errors.Is(err, store.ErrNewer) {
		t.Errorf("the old one starts anew: %v, want %v", err, store.ErrNewer)
	}
	if err := errors.Join(old.Retire(t.Context()), old.Close()); err != nil { // the server may take a while to notice the end
		t.Error(err)
	}
	for n, err := 1, error(nil); n > 0; {
		if n, err = load.lookAtDue(t.Context(), newer); err != nil {
			t.Fatal(err)
		}
	}
	known, err := newer.Known(t.Context(), load.accepted)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range load.accepted {
		if !known[id] || load.done[id] != 1 {
			t.Errorf("%s: known %v, looked at %d times", id, known[id], load.done[id])
		}
	}
}

// A schemaPart is a part of a schema that a program may rely on.
type schemaPart struct {
	Owner   string // table that it is a part of
	Is      string
	Narrows bool // put on an owner that was there before, it refuses what a program does that does not know of it
}

const schemaParts = `
	SELECT 'table ' || c.relname, 'column ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
		a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
	UNION ALL SELECT 'table ' || relname, 'relation ' || relkind::text, false
	FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S', 'v')
	UNION ALL SELECT 'table ' || c.relname, 'rule ' || n.conname || ' ' || pg_get_constraintdef(n.oid), true
	FROM pg_class c JOIN pg_constraint n ON n.conrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace
	UNION ALL SELECT 'table ' || c.relname, 'unique ' || i.indexrelid::regclass, true
	FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique`

func connectTo(t *testing.T, at string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func readSchemaParts(t *testing.T, conn *pgx.Conn) []schemaPart {
	t.Helper()
	rows, err := conn.Query(t.Context(), schemaParts)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[schemaPart])
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// brokenForOlder says what a program that knows one schema misses in another, and what there may refuse it.
func brokenForOlder(before, after []schemaPart) (all []string) {
	isOwner := map[string]bool{}
	for _, p := range before {
		isOwner[p.Owner] = true
		if !slices.Contains(after, p) {
			all = append(all, fmt.Sprintf("%s has lost: %s", p.Owner, p.Is))
		}
	}
	for _, p := range after {
		if p.Narrows && isOwner[p.Owner] && !slices.Contains(before, p) {
			all = append(all, fmt.Sprintf("%s has got: %s", p.Owner, p.Is))
		}
	}
	return all
}

// No migration takes away, or narrows, what the version before it uses: both work side by side until the older one is stopped.
func TestMigrationsKeepWhatOlderProgramsUseOnPostgres(t *testing.T) {
	at := newSchema(t)
	conn := connectTo(t, at)
	var before []schemaPart
	for i, file := range migrationFiles(t) {
		if err := store.MigratePostgres(t.Context(), at, migrationsUpTo(t, i+1)); err != nil {
			t.Fatal(err)
		}
		after := readSchemaParts(t, conn)
		for _, what := range brokenForOlder(before, after) {
			t.Errorf("%s breaks programs that run beside it: %s", file, what)
		}
		before = after
	}
	if len(before) < 50 {
		t.Errorf("only %d parts of the schema were found", len(before))
	}
}

// What would break an older program is found, and what would not is let pass.
func TestMigrationsThatBreakOlderProgramsAreFoundOnPostgres(t *testing.T) {
	at := newSchema(t)
	if err := store.MigratePostgres(t.Context(), at, migrationsUpTo(t, len(migrationFiles(t)))); err != nil {
		t.Fatal(err)
	}
	conn := connectTo(t, at)
	before := readSchemaParts(t, conn)
	for statement, isFound := range map[string]bool{
		"ALTER TABLE work DROP COLUMN failed":                           true,
		"ALTER TABLE work RENAME COLUMN failed TO failure":              true,
		"ALTER TABLE work ALTER COLUMN attempts TYPE bigint":            true,
		"ALTER TABLE work ADD COLUMN weight integer NOT NULL":           true,
		"ALTER TABLE work ADD CHECK (attempts < 10)":                    true,
		"ALTER TABLE deliveries RENAME TO events":                       true,
		"CREATE UNIQUE INDEX ON work (grp)":                             true,
		"ALTER TABLE work ADD COLUMN weight integer NOT NULL DEFAULT 0": false,
		"ALTER TABLE work ADD COLUMN weight integer":                    false,
		"CREATE INDEX ON work (grp, kind)":                              false,
		"CREATE TABLE weighings (tenant bigint PRIMARY KEY)":            false,
	} {
		t.Run(statement, func(t *testing.T) {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.Background())
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			if all := brokenForOlder(before, readSchemaParts(t, conn)); len(all) > 0 != isFound {
				t.Errorf("found: %q", all)
			}
		})
	}
}
