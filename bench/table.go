package main

// The work table of a killed daemon. A start repairs much: whether something was lost can only be seen before it, or in
// what a start cannot repair.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// neverDue is the table's value for "no time".
const neverDue = math.MaxInt64

// A workRow is a row of the table. Its times are microseconds since 1970, as in the table.
type workRow struct {
	id, gen, claimedGen, dueAt, wakeAt, seenAt int64 // claimedGen: the gen that was looked at last
	kind                                       string
	leased, undecided                          bool // undecided: its last verdict is waiting
	attempts                                   int
}

// A workTable is the contents of a database at one moment.
type workTable struct {
	deliveries map[string]bool
	rows       map[string]workRow // by key
}

// tableKey returns the table's key for a pull request.
func (p trackedPull) tableKey() string { return fmt.Sprintf("%d/%s", p.installation, p) }

// readLeftTable reads the table of a killed daemon from a copy: opening the file itself would recover its log, which
// the daemon must be able to do.
func (b *harness) readLeftTable(ctx context.Context) (t workTable, err error) {
	copied, err := os.MkdirTemp(b.dir, "left-")
	if err != nil {
		return t, fmt.Errorf("copy the database: %w", err)
	}
	defer os.RemoveAll(copied)
	for _, name := range []string{"coordinator.db", "coordinator.db-wal"} {
		if err := copyFile(filepath.Join(b.dir, name), filepath.Join(copied, name)); err != nil {
			return t, err
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(copied, "coordinator.db"))
	if err != nil {
		return t, fmt.Errorf("open the copy: %w", err)
	}
	defer db.Close()
	return readTable(ctx, db, `coalesce(CAST(sight AS TEXT) ->> '$.verdict' = 'waiting', 0)`, "min")
}

// readTable reads a database. undecided and least are SQL's for whether the last verdict is waiting, and for the least of two values.
func readTable(ctx context.Context, db *sql.DB, undecided, least string) (t workTable, err error) {
	t = workTable{deliveries: map[string]bool{}, rows: map[string]workRow{}}
	err = errors.Join(
		scanRows(ctx, db, `SELECT id FROM deliveries`, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			t.deliveries[id] = true
			return err
		}),
		scanRows(ctx, db, "SELECT key, kind, id, gen, claimed, "+least+"(due_at, backlog_at), wake_at, seen_at, leased, attempts, "+
			undecided+" FROM work LEFT JOIN sights USING (id)", func(rows *sql.Rows) error {
			var key string
			var r workRow
			err := rows.Scan(
				&key,
				&r.kind,
				&r.id,
				&r.gen,
				&r.claimedGen,
				&r.dueAt,
				&r.wakeAt,
				&r.seenAt,
				&r.leased,
				&r.attempts,
				&r.undecided,
			)
			t.rows[key] = r
			return err
		}))
	return t, err
}

// scanRows scans the rows of a query. A missing table counts as empty: the daemon was killed before it had made it.
func scanRows(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		var said *pgconn.PgError
		if strings.Contains(err.Error(), "no such table") || errors.As(err, &said) && said.Code == "42P01" { // undefined_table
			return nil
		}
		return fmt.Errorf("read the table: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read the table: %w", err)
		}
	}
	return rows.Err()
}

// brokenKeys returns the keys of pull requests and repositories that were lost or changed since before. None may be
// gone, as no pull request or repository was removed; one that a start has found again has another id or a smaller gen
// or seen time; and only a look may move a wake.
func (t workTable) brokenKeys(before workTable) (all []string) {
	for key, was := range before.rows {
		if was.kind != "pull" && was.kind != "repo" {
			continue
		}
		is, ok := t.rows[key]
		switch {
		case !ok:
			all = append(all, key+" is not in the table any more")
		case is.id != was.id, is.gen < was.gen, is.seenAt < was.seenAt:
			all = append(all, key+" was lost, and found again")
		case is.seenAt == was.seenAt && (is.wakeAt != was.wakeAt || is.undecided != was.undecided):
			all = append(all, fmt.Sprintf("%s was not looked at, and wakes at %d and not at %d", key, is.wakeAt, was.wakeAt))
		}
	}
	return all
}

// lostWakes returns the pull requests that would not be looked at in time: one that is
// undecided must be due, and none later than its wake. One that failed is tried again by itself.
func (t workTable) lostWakes() (all []string) {
	for key, r := range t.rows {
		switch {
		case r.kind != "pull", r.leased, r.attempts > 0:
		case r.dueAt > r.wakeAt:
			all = append(all, fmt.Sprintf("%s is due at %d, after its wake at %d", key, r.dueAt, r.wakeAt))
		case r.undecided && r.dueAt == neverDue:
			all = append(all, key+" waits, and is never looked at again")
		}
	}
	return all
}

// countWaiting counts the pull requests whose next look is in the future.
func (t workTable) countWaiting(now time.Time) (n int) {
	for _, r := range t.rows {
		if r.kind == "pull" && !r.leased && r.dueAt > now.UnixMicro() && r.dueAt != neverDue {
			n++
		}
	}
	return n
}

// countDue counts the pull requests that are due, or leased.
func (t workTable) countDue(now time.Time) (n int) {
	for _, r := range t.rows {
		if r.kind == "pull" && (r.leased || r.dueAt <= now.UnixMicro()) {
			n++
		}
	}
	return n
}

// missingEntries returns the deliveries and the keys that are not in the table.
func (t workTable) missingEntries(ids, keys []string) (all []string) {
	for _, id := range ids {
		if !t.deliveries[id] {
			all = append(all, "the accepted delivery "+id)
		}
	}
	for _, key := range keys {
		if _, ok := t.rows[key]; !ok {
			all = append(all, "the key "+key)
		}
	}
	return all
}

// addViolations adds one violation for all entries, with the first as its example.
func (r *report) addViolations(when, what string, all []string) {
	if len(all) > 0 {
		r.addViolation("%s: %d %s, for example %s", when, len(all), what, all[0])
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a database without a write-ahead log, or not made yet
	}
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(fmt.Errorf("copy the database: %w", err), out.Close())
	}
	return out.Close()
}
