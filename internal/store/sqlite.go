package store

// The store in an embedded SQLite database: opening and closing its file, and its transactions.

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sqliteFile is the backend of a [Database] in a file. One goroutine writes.
type sqliteFile struct {
	injectFault     func(step string) error // for tests: the error of step "begin", "commit" or "fold"
	writeDB, readDB *sql.DB
	writer, reader  *sqliteSession         // of the writing goroutine alone, as what follows; and of all
	openFiles       map[string]os.FileInfo // as they were opened, by path

	fleeting         bool // no commit ever waits for the disk
	logSuspect       bool // a commit or fold failed: how much of the log is on the disk is unknown
	commitsSinceFold int  // commits since the log was last folded into the file
}

// applicationID stands in the header of our files, where SQLite has a place for it (https://www.sqlite.org/fileformat2.html).
const applicationID = 0x52766751 // "RvgQ"

// OpenSQLite opens the tables in a file, which it creates if it is not there, and ends all leases of the process that
// had it before. A file that another process has open, or that a newer program wrote, is an error.
func OpenSQLite(path string, o Options) (*Database, error) {
	return openFaulty(path, o, func(string) error { return nil })
}

func openFaulty(path string, o Options, injectFault func(step string) error) (*Database, error) {
	s := newDatabase(o)
	f, err := openSQLite(path, o.Fleeting, injectFault)
	if errors.Is(err, ErrNoDatabase) && !o.KeepDamaged && wasOurs(path) {
		if s.Damaged, err = moveDamaged(path); err == nil {
			f, err = openSQLite(path, o.Fleeting, injectFault)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	s.backend, s.reader = f, f.reader
	s.startWriters(1)
	return s, nil
}

// wasOurs reports whether a damaged file was one of ours. If its header is lost, too, the log beside it shows that: a process of ours
// leaves it there if it is killed, or gives the file up.
func wasOurs(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	header := make([]byte, 72)
	_, _ = io.ReadFull(f, header) // what cannot be read is no header
	if id, isSQLite := bytes.CutPrefix(header, []byte("SQLite format 3\x00")); isSQLite {
		return binary.BigEndian.Uint32(id[52:]) == applicationID
	}
	log, err := os.Open(path + "-wal")
	if err != nil {
		return false
	}
	defer log.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(log, magic)
	return errors.Is(err, io.EOF) || err == nil && binary.BigEndian.Uint32(magic)&^1 == walMagic // an empty one was folded into the file
}

// walMagic begins a log of SQLite's; its last bit is the order of bytes (https://www.sqlite.org/fileformat2.html).
const walMagic = 0x377f0682

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

func openSQLite(path string, fleeting bool, injectFault func(step string) error) (*sqliteFile, error) {
	f := &sqliteFile{injectFault: injectFault, fleeting: fleeting, openFiles: map[string]os.FileInfo{}}
	f.commitsSinceFold = commitsPerFold // the first commit is folded, so that the file shows its tables by every name
	err := f.openAll(path)
	if err == nil {
		return f, nil
	}
	var said *sqlite.Error
	if errors.As(err, &said) {
		switch said.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: %w", ErrNoDatabase, err)
		case sqlite3.SQLITE_BUSY:
			err = fmt.Errorf("%w, or another program reads it: stop that one, or give this one a data directory of its own", ErrInUse)
		}
	}
	return nil, errors.Join(err, f.closeAll(false))
}

// openAll opens the file and holds it as long as the process lives: it is opened alone, by SQLite's exclusive lock, and then shared with
// readers alone, whose locks refuse the next process that lock. These are locks of the file, by whatever name it is opened, and the
// operating system releases them, however the process ends.
func (f *sqliteFile) openAll(path string) error {
	if err := createFile(path); err != nil {
		return err
	}
	given, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // SQLite's other files lie beside the file itself
		return err
	}
	isNew, err := refuseForeignDatabase(path)
	if err != nil {
		return err
	}
	level := "FULL"
	if f.fleeting {
		level = "OFF"
	}
	f.writeDB, err = openDB(path, "rwc", 1, "busy_timeout(500)", "journal_mode(WAL)", "temp_store(MEMORY)", "foreign_keys(1)",
		"cache_size(-800)", "synchronous("+level+")", "wal_autocheckpoint(0)", "journal_size_limit(33554432)")
	if err != nil {
		return err
	}
	// The read begins the log while the lock is a shared one: else no reader could ever come to it. The transaction takes the lock.
	if err := f.execQuery(`PRAGMA schema_version; PRAGMA locking_mode(EXCLUSIVE); BEGIN IMMEDIATE; COMMIT`); err != nil {
		return err
	}
	if isNew { // a start writes nothing else: the disk may be full
		if err := f.execQuery(fmt.Sprintf(`PRAGMA application_id(%d)`, applicationID)); err != nil {
			return err
		}
	}
	ctx := context.Background()
	if err := migrateTables(ctx, goose.DialectSQLite3, f.writeDB, migrations); err != nil {
		return err
	}
	if err := f.checkTables(); err != nil {
		return err
	}
	// The process that had these leases has ended. The end of the transaction lets readers in.
	if err := f.execQuery(`PRAGMA busy_timeout(10000); PRAGMA locking_mode(NORMAL);
		UPDATE work SET leased = 0, due_at = since WHERE leased = 1`); err != nil {
		return fmt.Errorf("end old leases: %w", err)
	}
	if f.readDB, err = openDB(path, "rw", 2, "busy_timeout(10000)", "temp_store(MEMORY)", "cache_size(-200)", "query_only(1)"); err != nil {
		return err
	}
	f.writer, f.reader = newSQLiteSession(f.writeDB), newSQLiteSession(f.readDB)
	for _, part := range []string{given, path, path + "-wal"} { // the next process reads what the given name leads to
		if f.openFiles[part], err = os.Stat(part); err != nil {
			return err
		}
	}
	return nil
}

// checkTables looks through the tables for damage, but not through that of answers: it is large, and a fault there costs requests.
func (f *sqliteFile) checkTables() error {
	for _, table := range []string{"deliveries", "work", "sights", "tenants", "counters", "notes"} {
		var says string
		if err := f.writeDB.QueryRowContext(context.Background(), "PRAGMA quick_check("+table+")").Scan(&says); err != nil {
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
	for path, opened := range f.openFiles {
		switch info, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(info, opened):
			return fmt.Errorf("%s %w", path, ErrReplaced)
		case err != nil:
			return err
		}
	}
	return nil
}

// createFile creates the file if it is missing, so that only its owner can read it: SQLite gives its other files the
// same mode. One that is there is not opened: to close it would release SQLite's locks.
func createFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openDB opens a database; the pragmas are set on each connection.
func openDB(path, mode string, conns int, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{"mode": {mode}, "_pragma": pragmas}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// refuseForeignDatabase refuses the database of another program, and leaves it as it is, but for what a killed
// process had begun. An empty file belongs to no program: it is new.
func refuseForeignDatabase(path string) (isNew bool, err error) {
	mode := "ro"
	if _, err := os.Stat(path + "-journal"); err == nil {
		mode = "rw" // a process was killed in a transaction: only who may write can roll that back, and then read
	}
	db, err := openDB(path, mode, 1, "busy_timeout(10000)")
	if err != nil {
		return false, err
	}
	defer db.Close() // nothing was written
	var tables int
	err = db.QueryRowContext(context.Background(), `SELECT application_id <> $1, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id`, applicationID).Scan(&isNew, &tables)
	if err == nil && isNew && tables > 0 {
		err = ErrForeignDatabase
	}
	return isNew, err
}

// migrateTables brings tables to the schema of the migrations of a dialect.
func migrateTables(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS, more ...goose.ProviderOption) error {
	dir, err := fs.Sub(files, "migrations/"+string(dialect))
	if err != nil {
		return err // unreachable unless the path is wrong
	}
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

// closeAll closes what openAll opened. The writer comes last: the last connection folds the log into the file, and deletes it. The log
// of a file that was given up stays, for [wasOurs].
func (f *sqliteFile) closeAll(isGivenUp bool) error {
	var errs []error
	if f.readDB != nil {
		errs = append(errs, f.readDB.Close())
	}
	if f.writeDB != nil && isGivenUp {
		errs = append(errs, f.keepLog())
	}
	if f.writeDB != nil {
		errs = append(errs, f.writeDB.Close())
	}
	return errors.Join(errs...)
}

// keepLog has the log stay when the file is closed.
func (f *sqliteFile) keepLog() error {
	conn, err := f.writeDB.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(of any) error {
		_, err := of.(sqlite.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}

func (f *sqliteFile) execQuery(query string) error {
	_, err := f.writeDB.ExecContext(context.Background(), query)
	return err
}

// runTransaction runs a transaction of the writing goroutine. Before it, it checks that the next process will find
// what it writes.
func (f *sqliteFile) runTransaction(_ []string, do func(tx session) error) (changed bool, err error) {
	f.writer.changed = false
	for _, begin := range []func() error{
		f.checkFilesInPlace, f.recoverLog,
		func() error { return f.injectFault("begin") },
		func() error { return f.execQuery("BEGIN IMMEDIATE") },
	} {
		if err := begin(); err != nil {
			return false, err
		}
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

// recoverLog folds the log into the file and empties it, if a commit failed: the next commit must build on what is on
// the disk, and Linux reports a failed fsync only once and forgets what was not written.
func (f *sqliteFile) recoverLog() error {
	if !f.logSuspect {
		return nil
	}
	var busy bool
	var log, moved int
	row := f.writeDB.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
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
