package store

// One set of SQL for two databases. Both number their parameters ($1), so that no statement is written twice.

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A statement is one SQL statement, and the use of its result.
type statement struct {
	query string
	args  []any
	row   func(scan scanner) error // called for each row; nil: it returns none
	wrote *int                     // of one without rows: the number of those that it wrote is added to it; may be nil
}

// A scanner stores the columns of a row.
type scanner = func(...any) error

// scanInto returns a row's use: it is stored.
func scanInto(columns ...any) func(scanner) error {
	return func(scan scanner) error { return scan(columns...) }
}

// collectInto returns the use of rows that are collected.
func collectInto[T any](all *[]T, scanOne func(scan scanner) (T, error)) func(scanner) error {
	return func(scan scanner) error {
		one, err := scanOne(scan)
		*all = append(*all, one)
		return err
	}
}

// microsInto scans microseconds of the database into a time.
type microsInto struct{ at *time.Time }

// Scan implements [sql.Scanner].
func (m microsInto) Scan(value any) error {
	at, isTime := value.(int64)
	if !isTime {
		return fmt.Errorf("%T is no time", value)
	}
	*m.at = timeOfMicros(at)
	return nil
}

// newStatement returns a statement that returns no rows.
func newStatement(query string, args ...any) statement {
	return statement{query: query, args: args}
}

// countWritten counts the rows that it wrote.
func (st statement) countWritten(rows int64) {
	if st.wrote != nil {
		*st.wrote += int(rows)
	}
}

// A session runs statements in their order. PostgreSQL gets them in one round trip.
type session interface {
	runStatements(ctx context.Context, statements ...statement) error
}

// A sqliteSession prepares each statement once: compiling one takes longer than most of them take.
type sqliteSession struct {
	db *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
	changed  bool // a statement has written a row; of the writer's session, which one goroutine uses
}

func newSQLiteSession(db *sql.DB) *sqliteSession {
	return &sqliteSession{db: db, prepared: map[string]*sql.Stmt{}}
}

func (s *sqliteSession) prepareOnce(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.db.PrepareContext(ctx, query)
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

func (s *sqliteSession) runStatements(ctx context.Context, statements ...statement) error {
	for _, st := range statements {
		if err := s.runStatement(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqliteSession) runStatement(ctx context.Context, st statement) error {
	stmt, err := s.prepareOnce(ctx, st.query)
	if err != nil {
		return err
	}
	if st.row == nil {
		r, err := stmt.ExecContext(ctx, st.args...)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		s.changed = s.changed || n > 0
		st.countWritten(n)
		return err
	}
	rows, err := stmt.QueryContext(ctx, st.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := st.row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A postgresSession sends statements to a transaction, or to the pool: then they are a transaction of their own.
type postgresSession struct {
	to interface {
		SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	}
}

func (s postgresSession) runStatements(ctx context.Context, statements ...statement) error {
	if len(statements) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	for _, st := range statements {
		q := b.Queue(st.query, st.args...)
		if st.row == nil {
			q.Exec(func(tag pgconn.CommandTag) error { st.countWritten(tag.RowsAffected()); return nil })
			continue
		}
		q.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := st.row(rows.Scan); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	}
	return s.to.SendBatch(ctx, b).Close()
}

// skipLocked ends a query for rows that are to be changed: those that another process changes are not among them.
func skipLocked(isShared bool) string {
	if isShared {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// asText is a text as every database takes it: UTF-8 without zero bytes. Texts that differ only in these are one
// there.
func asText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
