package store

// The two ends of a copy: who else uses them, and what the target says about itself.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// A copyEnd is a store as a copy uses it: on one connection, which holds what keeps others out.
type copyEnd struct {
	name       string // the address, without a password
	isPostgres bool
	isAlone    bool  // no coordinator uses it, and none can open it now
	now        int64 // the moment of the copy
	conn       *sql.Conn
	closers    []func() error // the last one is called first
}

func (e *copyEnd) close() error {
	var errs []error
	for i := len(e.closers) - 1; i >= 0; i-- {
		errs = append(errs, e.closers[i]())
	}
	e.closers = nil
	return errors.Join(errs...)
}

// dialect is a statement as this end takes it.
func (e *copyEnd) dialect(query string) string {
	if e.isPostgres {
		return strings.ReplaceAll(query, "?", "$")
	}
	return query
}

func (e *copyEnd) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return e.conn.QueryContext(ctx, e.dialect(query), args...)
}

func (e *copyEnd) exec(ctx context.Context, query string, args ...any) error {
	_, err := e.conn.ExecContext(ctx, e.dialect(query), args...)
	return err
}

// readNumber reads the one number that a query has.
func (e *copyEnd) readNumber(ctx context.Context, query string) (n int64, err error) {
	err = e.conn.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (e *copyEnd) countRows(ctx context.Context, t copyTable) (int64, error) {
	n, err := e.readNumber(ctx, "SELECT count(*) FROM "+t.name)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", t.name, err)
	}
	return n, nil
}

// openCopySource opens what is copied, and never writes it. If no coordinator uses it, none can until it is closed.
func openCopySource(ctx context.Context, from CopyEnd, now time.Time) (_ *copyEnd, err error) {
	e := &copyEnd{now: floorMicros(now)}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if from.File == "" {
		err = e.connectPostgres(ctx, from.URL, false)
	} else {
		err = e.connectSourceFile(ctx, from.File)
	}
	if err != nil {
		return nil, err
	}
	unfinished, err := e.readNumber(ctx, "SELECT count(*) FROM copies WHERE finished_at = 0")
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask whether it is a copy: %w", err)
	case unfinished > 0:
		return nil, ErrUnfinishedCopy
	}
	if from.File != "" {
		return e, e.lockSourceFile(from.File)
	}
	e.isAlone, err = e.lockOutOthers(ctx)
	return e, err
}

func (e *copyEnd) connectSourceFile(ctx context.Context, file string) error {
	db, err := connectDB(file, "ro", 1, "busy_timeout(10000)", "temp_store(MEMORY)")
	if err != nil {
		return err
	}
	e.closers = append(e.closers, db.Close)
	if _, err := checkBackupSource(ctx, file, db); err != nil {
		return noDatabaseError(err)
	}
	have, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if know := newestSchema(); have < know {
		return olderSchemaError(have, know)
	}
	e.name = nameOfFile(file)
	return e.useConn(ctx, db)
}

// lockSourceFile locks a file as a coordinator does, unless one has it.
func (e *copyEnd) lockSourceFile(file string) error {
	lock, err := lockFile(file + ".lock")
	switch {
	case errors.Is(err, ErrInUse):
		return nil
	case err != nil:
		return err
	}
	e.closers = append(e.closers, lock.Unlock)
	e.isAlone = true
	return nil
}

func olderSchemaError(have, know int64) error {
	return fmt.Errorf("%w: its schema is %d, and this program's is %d; start the coordinator of this version on it once", ErrOlder, have, know)
}

// openCopyTarget opens what is copied to, and keeps coordinators out.
func openCopyTarget(ctx context.Context, to CopyEnd, source string, now time.Time) (_ *copyEnd, err error) {
	e := &copyEnd{now: floorMicros(now)}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if to.File == "" {
		if err := e.connectPostgres(ctx, to.URL, true); err != nil {
			return nil, err
		}
		if e.name == source {
			return nil, ErrSameStore
		}
		e.isAlone, err = e.lockOutOthers(ctx)
		if err == nil && !e.isAlone {
			err = fmt.Errorf("%w: stop that one, or copy to another database or schema", ErrInUse)
		}
		return e, err
	}
	if e.name = nameOfFile(to.File); e.name == source {
		return nil, ErrSameStore
	}
	return e, e.openTargetFile(ctx, to.File)
}

func (e *copyEnd) openTargetFile(ctx context.Context, file string) error {
	lock, err := lockFile(file + ".lock")
	if err != nil {
		return err
	}
	e.isAlone, e.closers = true, append(e.closers, lock.Unlock)
	if err := createFile(file); err != nil {
		return err
	}
	if err := refuseForeignDatabase(file); err != nil {
		return noDatabaseError(err)
	}
	if err := migrateSchema(file); err != nil {
		return noDatabaseError(err)
	}
	db, err := openDB(file, 1, "synchronous(NORMAL)")
	if err != nil {
		return err
	}
	e.closers = append(e.closers, db.Close)
	return e.useConn(ctx, db)
}

// nameOfFile names a file of SQLite, by whatever path it is reached.
func nameOfFile(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return "sqlite://" + target
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(dir, filepath.Base(file))
	}
	return "sqlite://" + file
}

// connectPostgres connects to a database. Only a target's tables are created or brought up to date.
func (e *copyEnd) connectPostgres(ctx context.Context, url string, isTarget bool) error {
	e.isPostgres = true
	pool, err := connectPostgres(ctx, url, nil)
	if err != nil {
		return err
	}
	e.closers = append(e.closers, func() error { pool.Close(); return nil })
	if isTarget {
		if err := migratePostgres(ctx, pool, nil); err != nil {
			return err
		}
	} else if err := checkPostgresSource(ctx, pool); err != nil {
		return err
	}
	at := pool.Config().ConnConfig
	var schema string
	if err := pool.QueryRow(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return fmt.Errorf("read its schema's name: %w", err)
	}
	e.name = fmt.Sprintf("postgres://%s:%d/%s?search_path=%s", at.Host, at.Port, at.Database, schema)
	db := stdlib.OpenDBFromPool(pool)
	e.closers = append(e.closers, db.Close)
	return e.useConn(ctx, db)
}

// checkPostgresSource refuses tables that are not there, or not of this program's schema.
func checkPostgresSource(ctx context.Context, pool *pgxpool.Pool) error {
	var has bool
	row := pool.QueryRow(ctx, "SELECT to_regclass('work') IS NOT NULL AND to_regclass('goose_db_version') IS NOT NULL")
	if err := row.Scan(&has); err != nil {
		return fmt.Errorf("read its tables: %w", err)
	}
	if !has {
		return fmt.Errorf("%w, or none", ErrForeignDatabase)
	}
	var have int64
	row = pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied")
	if err := row.Scan(&have); err != nil {
		return fmt.Errorf("read its schema: %w", err)
	}
	switch know := newestMigration(postgresMigrations, "migrations/postgres"); {
	case have < know:
		return olderSchemaError(have, know)
	case have > know:
		return fmt.Errorf("%w: its schema is %d, and this program knows %d at most; use the program that the daemon runs", ErrNewer, have, know)
	}
	return nil
}

func (e *copyEnd) useConn(ctx context.Context, db *sql.DB) (err error) {
	if e.conn, err = db.Conn(ctx); err != nil {
		return noDatabaseError(err)
	}
	e.closers = append(e.closers, e.conn.Close)
	return nil
}

// lockOutOthers takes the lock for this connection alone; false if a coordinator uses the tables. It asks for half a second: the server
// notices a little later that a connection has ended. It never waits in the server's line, where it would keep new connections
// of a coordinator waiting.
func (e *copyEnd) lockOutOthers(ctx context.Context) (alone bool, err error) {
	const tries, pause = 20, 25 * time.Millisecond
	for range tries {
		if err := e.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+usersLock+")").Scan(&alone); err != nil {
			return false, fmt.Errorf("lock its tables: %w", err)
		}
		if alone {
			e.closers = append(e.closers, e.letOthersIn)
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
	}
	return false, nil
}

// letOthersIn releases the lock before the connection ends, of which the server learns a little later.
func (e *copyEnd) letOthersIn() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	_ = e.exec(ctx, "SELECT pg_advisory_unlock("+usersLock+")") // a connection that is gone has no lock
	return nil
}

// beginCopy marks the target as an unfinished copy of a source. It refuses one that holds anything else.
func (e *copyEnd) beginCopy(ctx context.Context, source string) error {
	var of string
	err := e.conn.QueryRowContext(ctx, "SELECT source FROM copies").Scan(&of)
	switch {
	case err == nil && of != source:
		return fmt.Errorf("%w: of %s, and not of %s", ErrOtherCopy, of, source)
	case err == nil:
		return e.exec(ctx, "UPDATE copies SET finished_at = 0")
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("ask whether it is a copy: %w", err)
	}
	for _, t := range copyTables() {
		switch has, err := e.readNumber(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t.name+" LIMIT 1) AS one"); {
		case err != nil:
			return fmt.Errorf("read %s: %w", t.name, err)
		case has > 0:
			return ErrTargetFull
		}
	}
	return e.exec(ctx, "INSERT INTO copies (source, begun_at, finished_at) VALUES (?1, ?2, 0)", source, e.now)
}

// finishCopy says, durably, that a coordinator may open the target.
func (e *copyEnd) finishCopy(ctx context.Context) error {
	if !e.isPostgres {
		if err := e.exec(ctx, "PRAGMA synchronous(FULL)"); err != nil { // what was committed before stands in the same log
			return err
		}
	}
	return e.exec(ctx, "UPDATE copies SET finished_at = ?1", max(e.now, 1))
}

// lastToken returns a token that is not smaller than any that was given. SQLite's hold in their upper half how often the file
// was opened.
func (e *copyEnd) lastToken(ctx context.Context) (int64, error) {
	if e.isPostgres {
		return e.readNumber(ctx, "SELECT last_value FROM tokens")
	}
	return e.readNumber(ctx, "SELECT ((n + 1) << 32) - 1 FROM epoch")
}

// continueAfter lets the next token be larger than one that was given elsewhere, and the next key and look come after those
// that were copied.
func (e *copyEnd) continueAfter(ctx context.Context, token int64) error {
	if !e.isPostgres {
		return e.exec(ctx, "UPDATE epoch SET n = max(n, ?1)", token>>32) // one more when it is opened
	}
	if err := e.exec(ctx, "SELECT setval('tokens', greatest(last_value, ?1)) FROM tokens", token); err != nil {
		return err
	}
	if err := e.exec(ctx, "SELECT setval(pg_get_serial_sequence('work', 'id'), coalesce(max(id), 0) + 1) FROM work"); err != nil {
		return err
	}
	return e.exec(ctx, "UPDATE seen_last SET at = greatest(at, (SELECT coalesce(max(seen_at), 0) FROM work))")
}
