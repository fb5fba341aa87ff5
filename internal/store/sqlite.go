package store

// The store in an embedded SQLite database: opening and closing its file, and its transactions.

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sqliteFile is the backend of a [Database] in a file. One goroutine writes.
type sqliteFile struct {
	injectFault     func(step string) error // for tests: the error of step "begin", "commit" or "fold"
	lock            *flock.Flock
	writeDB, readDB *sql.DB
	conn            *sql.Conn // of the writing goroutine alone, as what follows
	writer, reader  *sqliteSession
	openFiles       []openFile

	fleeting         bool // no commit ever waits for the disk
	fullSync         bool // commits wait for the disk
	logSuspect       bool // a commit or fold failed: how much of the log is on the disk is unknown
	commitsSinceFold int  // commits since the log was last folded into the file
}

// openFile is a file of the database as it was opened.
type openFile struct {
	path string
	info os.FileInfo
}

// OpenSQLite opens the tables in a file, which it creates if it is not there, and ends all leases of the process that
// had it before. A file that another process has open, or that a newer program wrote, is an error.
func OpenSQLite(path string, o Options) (*Database, error) {
	return openFaulty(path, o, func(string) error { return nil })
}

func openFaulty(path string, o Options, injectFault func(step string) error) (*Database, error) {
	s := newDatabase(o)
	_, notOurs := os.Stat(path + ".lock")
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	f := newSQLiteFile(lock, injectFault)
	err = noDatabaseError(f.openAll(path, o.Fleeting))
	if errors.Is(err, ErrNoDatabase) && notOurs == nil && !o.KeepDamaged {
		_ = f.closeFiles() // it is damaged
		if s.Damaged, err = moveDamaged(path); err == nil {
			f = newSQLiteFile(lock, injectFault)
			err = f.openAll(path, o.Fleeting)
		}
	}
	if err != nil {
		if notOurs != nil { // nor will it be at the next start
			_ = os.Remove(path + ".lock") // it may stay where files that are open cannot be removed
		}
		return nil, fmt.Errorf("open the database %s: %w", path, errors.Join(err, f.closeAll()))
	}
	s.startLanes(f, f.reader)
	return s, nil
}

func newSQLiteFile(lock *flock.Flock, injectFault func(step string) error) *sqliteFile {
	return &sqliteFile{lock: lock, injectFault: injectFault, fullSync: true}
}

// moveDamaged moves the files of a damaged database away, and returns what the first one is called now.
func moveDamaged(path string) (to string, err error) {
	to = path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	for _, part := range []string{"-wal", "-shm", ""} {
		if failed := os.Rename(path+part, to+part); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return to, err
}

func (f *sqliteFile) openAll(path string, fleeting bool) (err error) {
	if err := createFile(path); err != nil {
		return err
	}
	if err := refuseForeignDatabase(path); err != nil {
		return err
	}
	if err := migrateSQLite(path); err != nil {
		return err
	}
	f.writeDB, err = openDB(path, 1, "cache_size(-800)", "synchronous(FULL)", "wal_autocheckpoint(0)", "journal_size_limit(33554432)")
	if err != nil {
		return err
	}
	if f.conn, err = f.writeDB.Conn(context.Background()); err != nil {
		return err
	}
	if err := f.checkTables(); err != nil {
		return err
	}
	f.writer = newSQLiteSession(f.conn)
	if f.fleeting = fleeting; fleeting {
		if err := f.execQuery("PRAGMA synchronous(OFF)"); err != nil {
			return err
		}
	}
	// The process that had the file before no longer holds the lock, so it has ended.
	if err := f.execQuery(`UPDATE work SET leased = 0, due_at = since WHERE leased = 1`); err != nil {
		return fmt.Errorf("end old leases: %w", err)
	}
	if f.readDB, err = openDB(path, 2, "cache_size(-200)", "query_only(1)"); err != nil {
		return err
	}
	f.reader = newSQLiteSession(f.readDB)
	for _, p := range []string{path, path + "-wal", path + ".lock"} {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		f.openFiles = append(f.openFiles, openFile{p, info})
	}
	return nil
}

// checkTables looks through the tables for damage, but not through that of answers: it is large, and a fault there costs requests.
func (f *sqliteFile) checkTables() error {
	for _, table := range []string{"deliveries", "work", "sights", "tenants", "counters", "heard", "signs"} {
		var says string
		if err := f.conn.QueryRowContext(context.Background(), "PRAGMA quick_check("+table+")").Scan(&says); err != nil {
			return err
		} else if says != "ok" {
			return fmt.Errorf("%w: %s", ErrNoDatabase, says)
		}
	}
	return nil
}

// checkFilesInPlace checks that the open files are still those that the next process will read: a deleted file takes
// every write without an error.
func (f *sqliteFile) checkFilesInPlace() error {
	for _, of := range f.openFiles {
		switch info, err := os.Stat(of.path); {
		case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(info, of.info):
			return fmt.Errorf("%s %w", of.path, ErrReplaced)
		case err != nil:
			return err
		}
	}
	return nil
}

// lockFile locks a file for as long as the process lives. The operating system releases it, however the process ends.
func lockFile(path string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("%w and holds %s: stop that one, or give this one a data directory of its own", ErrInUse, path)
	}
	return l, nil
}

// createFile creates the file if it is missing, so that only its owner can read it: SQLite gives its other files the
// same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openDB opens a database of ours; the pragmas are set on each connection.
func openDB(path string, conns int, pragmas ...string) (*sql.DB, error) {
	return connectDB(
		path,
		"rwc",
		conns,
		append([]string{"busy_timeout(10000)", "journal_mode(WAL)", "temp_store(MEMORY)", "foreign_keys(1)"}, pragmas...)...)
}

func connectDB(path, mode string, conns int, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{"mode": {mode}, "_pragma": pragmas}.Encode()}
	var c driver.Connector
	if c, err = sqlite.NewConnector(dsn.String()); err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// refuseForeignDatabase refuses the database of another program, and leaves it as it is, but for what a killed
// process had begun. An empty file belongs to no program; nor does one in which only goose has begun.
func refuseForeignDatabase(path string) error {
	tables, known, err := countTables(path, "ro")
	var said *sqlite.Error
	if errors.As(err, &said) && said.Code() == sqlite3.SQLITE_READONLY_ROLLBACK {
		// A process was killed in its first transaction, before the file had its write-ahead log. Nobody can read the
		// file until that is rolled back, and only who may write can.
		tables, known, err = countTables(path, "rw")
	}
	if err != nil {
		return fmt.Errorf("read its tables: %w", err)
	}
	if tables > 0 && known < 3 {
		return ErrForeignDatabase
	}
	return nil
}

// countTables counts the tables that are not goose's, and those that every database of ours has.
func countTables(path, mode string) (tables, known int, err error) {
	db, err := connectDB(path, mode, 1, "busy_timeout(10000)")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	row := db.QueryRowContext(
		context.Background(),
		`SELECT count(*) FILTER (WHERE name NOT IN ('goose_db_version', 'sqlite_sequence')), count(*) FILTER (WHERE name IN ('deliveries', 'work', 'goose_db_version'))
		FROM sqlite_schema WHERE type = 'table'`,
	)
	err = row.Scan(&tables, &known)
	return tables, known, err
}

// noDatabaseError adds ErrNoDatabase to an error of SQLite's that says so.
func noDatabaseError(err error) error {
	var said *sqlite.Error
	if errors.As(err, &said) && (said.Code()&0xff == sqlite3.SQLITE_NOTADB || said.Code()&0xff == sqlite3.SQLITE_CORRUPT) {
		return fmt.Errorf("%w: %w", ErrNoDatabase, err)
	}
	return err
}

func migrateSQLite(path string) (err error) {
	db, err := openDB(path, 1, "synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dir, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err // unreachable unless the path above is wrong
	}
	return migrateTables(context.Background(), goose.DialectSQLite3, db, dir)
}

// migrateTables brings tables to the schema of some migrations.
func migrateTables(ctx context.Context, dialect goose.Dialect, db *sql.DB, dir fs.FS, more ...goose.ProviderOption) error {
	p, err := goose.NewProvider(dialect, db, dir,
		append(more, goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, know, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read its schema: %w", err)
	}
	if have > know {
		return fmt.Errorf("%w: its schema is %d, and this program knows %d at most; run the newer program, or begin with an empty database: "+
			"that costs time alone", ErrNewer, have, know)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

func (f *sqliteFile) closeAll() error { return errors.Join(f.closeFiles(), f.lock.Close()) }

// closeFiles closes what openAll opened. The writer comes last: the last connection folds the log into the file.
func (f *sqliteFile) closeFiles() error {
	var errs []error
	if f.reader != nil {
		errs = append(errs, f.reader.closeStatements()...)
	}
	if f.readDB != nil {
		errs = append(errs, f.readDB.Close())
	}
	if f.writer != nil {
		errs = append(errs, f.writer.closeStatements()...)
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	if f.writeDB != nil {
		errs = append(errs, f.writeDB.Close())
	}
	return errors.Join(errs...)
}

func (f *sqliteFile) isShared() bool { return false }

func (f *sqliteFile) blamesBatch(error) bool { return true }

func (f *sqliteFile) execQuery(query string) error {
	_, err := f.conn.ExecContext(context.Background(), query)
	return err
}

// runTransaction runs a transaction of the writing goroutine. Before it, it checks that the next process will find
// what it writes.
func (f *sqliteFile) runTransaction(durable bool, _ []string, do func(tx session) error) (changed bool, err error) {
	if err := f.checkFilesInPlace(); err != nil {
		return false, err
	}
	if err := f.recoverLog(); err != nil {
		return false, err
	}
	if err := f.injectFault("begin"); err != nil {
		return false, err
	}
	if err := f.setFullSync(durable); err != nil {
		return false, err
	}
	f.writer.changed = false
	if err := f.execQuery("BEGIN IMMEDIATE"); err != nil {
		return false, err
	}
	err = do(f.writer)
	if err == nil {
		if err = f.injectFault("commit"); err == nil {
			err = f.execQuery("COMMIT")
		}
		f.logSuspect = f.logSuspect || err != nil
	}
	if err != nil {
		_ = f.execQuery("ROLLBACK") // SQLite has rolled back by itself after some errors, and then says that there is nothing to do
		return false, err
	}
	f.commitsSinceFold++
	return f.writer.changed, nil
}

// setFullSync sets whether commits wait for the disk from now on. One that does makes those before it durable, too:
// all stand in one log (https://www.sqlite.org/pragma.html#pragma_synchronous).
func (f *sqliteFile) setFullSync(yes bool) error {
	if f.fleeting || yes == f.fullSync {
		return nil
	}
	level := "NORMAL"
	if yes {
		level = "FULL"
	}
	f.fullSync = false // an error does not tell whether it was done
	if err := f.execQuery("PRAGMA synchronous(" + level + ")"); err != nil {
		return err
	}
	f.fullSync = yes
	return nil
}

// recoverLog folds the log into the file and empties it, if a commit failed: the next commit must build on what is on
// the disk, and Linux reports a failed fsync only once and forgets what was not written.
func (f *sqliteFile) recoverLog() error {
	if !f.logSuspect {
		return nil
	}
	var busy bool
	var log, moved int
	row := f.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := row.Scan(&busy, &log, &moved); err != nil {
		return err
	}
	if busy {
		return errors.New("after a fault, the log cannot be folded into the file: somebody reads it")
	}
	f.logSuspect = false
	return nil
}

// commitsPerFold is the number of commits after which the log is folded into the file. The one after them waits for
// it: with a million keys hardly two commits write the same page, and each fold brings the pages of all of them to
// the disk.
const commitsPerFold = 16

// tidyUp folds the log into the file after every commitsPerFold commits. SQLite could do so by itself, but would
// report no failure.
func (f *sqliteFile) tidyUp() {
	if f.commitsSinceFold < commitsPerFold {
		return
	}
	f.commitsSinceFold = 0
	err := f.injectFault("fold")
	if err == nil {
		err = f.execQuery("PRAGMA wal_checkpoint(PASSIVE)")
	}
	f.logSuspect = f.logSuspect || err != nil
}
