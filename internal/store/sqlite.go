package store

// The store in an embedded SQLite database: opening and closing its file, and its transactions.

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sqliteFile is the backend of a [Database] in a file. One goroutine writes.
type sqliteFile struct {
	injectFault     func(step string) error // for tests: the error of step "begin" or "commit"
	hold            *os.File                // its lock keeps other daemons out, by whatever name they know the file
	writeDB, readDB *sql.DB
	writer, reader  *sqliteSession         // of the writing goroutine alone, as what follows; and of all
	openFiles       map[string]os.FileInfo // as they were opened, by path

	commitsSinceFold int // commits since the log was last folded into the file
}

// One of these stands in the header of our files, where SQLite has a place for it (https://www.sqlite.org/fileformat2.html).
const (
	applicationID   = 0x52766751 // "RvgQ"
	damagedID       = 0x52766744 // "RvgD": a process has met damage in it
	applicationIDAt = 68
	sqliteMagic     = "SQLite format 3\x00"
)

var errHeld = fmt.Errorf("%w: stop that one, or give this one a data directory of its own", ErrInUse)

// OpenSQLite opens the tables in a file, which it creates if it is not there, and ends all leases of the process that
// had it before. A file that another daemon has open, or that a newer program wrote, is an error; others may read it
// all the time.
func OpenSQLite(path string, o Options) (*Database, error) {
	return openFaulty(path, o, func(string) error { return nil })
}

func openFaulty(path string, o Options, injectFault func(step string) error) (*Database, error) {
	s := newDatabase(o)
	f := &sqliteFile{injectFault: injectFault}
	err := f.openAll(path, o.Fleeting)
	if errors.Is(err, ErrNoDatabase) && !o.KeepDamaged && (f.hasID(applicationID) || f.hasID(damagedID)) {
		if s.Damaged, err = f.moveAway(path); err == nil {
			err = f.openAll(path, o.Fleeting)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, errors.Join(err, f.closeAll(false)))
	}
	s.backend, s.reader = f, f.reader
	s.startWriters(1)
	return s, nil
}

// hasID reports whether the header of the file holds an ID of ours.
func (f *sqliteFile) hasID(id uint32) bool {
	header := make([]byte, applicationIDAt+4)
	_, err := f.hold.ReadAt(header, 0)
	return err == nil && bytes.HasPrefix(header, []byte(sqliteMagic)) && binary.BigEndian.Uint32(header[applicationIDAt:]) == id
}

// moveAway moves a damaged file and its log away while no other daemon can have it, closes it, and returns what it is called now.
func (f *sqliteFile) moveAway(path string) (to string, err error) {
	if file, unresolved := filepath.EvalSymlinks(path); unresolved == nil { // the link stays, and leads to the new file
		path = file
	}
	to = path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000000Z")
	err = f.closeDatabases()
	if runtime.GOOS == "windows" { // which renames nothing that is open
		f.hold.Close()
	} else {
		defer f.hold.Close()
	}
	for _, part := range []string{"-wal", "-shm", ""} {
		if failed := os.Rename(path+part, to+part); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return to, err
}

// openAll opens the file and holds it as long as the process lives. The lock is the operating system's, at a byte that SQLite has no
// use for: it releases it, however the process ends.
func (f *sqliteFile) openAll(path string, isFleeting bool) error {
	f.commitsSinceFold = commitsPerFold // the first commit is folded, so that the file shows its tables by every name
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		f.hold, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite gives its other files the same mode
	}
	if err != nil {
		return err
	}
	given, err := filepath.Abs(path)
	if err == nil {
		err = f.holdInPlace(given)
	}
	if err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // SQLite's other files lie beside the file itself
		return err
	}
	if f.hasID(damagedID) {
		return fmt.Errorf("%w: the process before met damage in it", ErrNoDatabase)
	}
	return asOpenError(f.openTables(path, given, isFleeting))
}

// holdInPlace holds the file that has a name. Another daemon may have moved it away since it was opened.
func (f *sqliteFile) holdInPlace(path string) error {
	held, err := f.hold.Stat()
	if err == nil {
		err = holdFile(f.hold)
	}
	if err != nil {
		return err
	}
	if f.openFiles = map[string]os.FileInfo{path: held}; f.checkFilesInPlace() != nil {
		return errHeld
	}
	return nil
}

// asOpenError returns what it means that SQLite could not open a file.
func asOpenError(err error) error {
	var said *sqlite.Error
	switch {
	case isDamage(err):
		return fmt.Errorf("%w: %w", ErrNoDatabase, err)
	case errors.As(err, &said) && said.Code()&0xff == sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another program keeps it locked: stop that one, or give this one a data directory of its own: %w", err)
	}
	return err
}

// isDamage reports whether SQLite has found a file damaged.
func isDamage(err error) bool {
	var said *sqlite.Error
	return errors.As(err, &said) && (said.Code()&0xff == sqlite3.SQLITE_CORRUPT || said.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// openTables opens the connections, and brings the tables up to date.
func (f *sqliteFile) openTables(path, given string, isFleeting bool) error {
	isNew, err := refuseForeignDatabase(path)
	if err != nil {
		return err
	}
	level := "FULL"
	if isFleeting {
		level = "OFF"
	}
	f.writeDB, err = openDB(path, "rwc", 1, "busy_timeout(10000)", "journal_mode(WAL)", "temp_store(MEMORY)", "foreign_keys(1)",
		"cache_size(-800)", "synchronous("+level+")", "wal_autocheckpoint(0)", "journal_size_limit(33554432)")
	if err != nil {
		return err
	}
	if isNew { // a start writes nothing else: the disk may be full
		if err := f.execQuery(fmt.Sprintf(`PRAGMA application_id(%d)`, applicationID)); err != nil {
			return err
		}
	}
	if err := migrateTables(context.Background(), goose.DialectSQLite3, f.writeDB, migrations); err != nil {
		return err
	}
	if err := f.checkTables(); err != nil {
		return err
	}
	// The process that had these leases has ended.
	if err := f.execQuery(`UPDATE work SET leased = 0, due_at = since WHERE leased = 1`); err != nil {
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

// closeDatabases closes the connections. The writer comes last: the last connection folds the log into the file, and deletes it.
func (f *sqliteFile) closeDatabases() (err error) {
	for _, db := range []*sql.DB{f.readDB, f.writeDB} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	f.readDB, f.writeDB = nil, nil
	return err
}

// closeAll closes what openAll opened. In a damaged file it leaves word of that, for the next start: what that one looks through
// may show nothing, or no longer whose it was.
func (f *sqliteFile) closeAll(isDamaged bool) error {
	err := f.closeDatabases()
	if isDamaged {
		_, failed := f.hold.WriteAt([]byte(sqliteMagic), 0)
		_, failedToo := f.hold.WriteAt(binary.BigEndian.AppendUint32(nil, damagedID), applicationIDAt)
		err = errors.Join(err, failed, failedToo)
	}
	if f.hold != nil {
		err = errors.Join(err, f.hold.Close())
	}
	return err
}

func (f *sqliteFile) execQuery(query string) error {
	_, err := f.writeDB.ExecContext(context.Background(), query)
	return err
}

// runTransaction runs a transaction of the writing goroutine. Before it, it checks that the next process will find
// what it writes.
func (f *sqliteFile) runTransaction(_ []string, do func(tx session) error) (changed bool, err error) {
	f.writer.changed = false
	if err = f.checkFilesInPlace(); err == nil {
		err = f.injectFault("begin")
	}
	if err == nil {
		err = f.execQuery("BEGIN IMMEDIATE")
	}
	if err != nil {
		return false, err
	}
	if err = do(f.writer); err == nil {
		err = f.injectFault("commit")
	}
	if err == nil { // after an error the next commit writes the same part of the log anew, and nothing before it waits for the disk
		err = f.execQuery("COMMIT")
	}
	if err != nil {
		_ = f.execQuery("ROLLBACK") // SQLite has rolled back by itself after some errors, and then says that there is nothing to do
		return false, err
	}
	f.commitsSinceFold++
	return f.writer.changed, nil
}

// commitsPerFold is the number of commits after which the log is folded into the file. The one after them waits for
// it: with a million keys hardly two commits write the same page, and each fold brings the pages of all of them to
// the disk.
const commitsPerFold = 16

// tidyUp folds the log into the file after every commitsPerFold commits. SQLite would do so before those who wait for a
// commit have their answer. What could not be folded stays in the log, for the next time.
func (f *sqliteFile) tidyUp() {
	if f.commitsSinceFold >= commitsPerFold {
		f.commitsSinceFold = 0
		_ = f.execQuery("PRAGMA wal_checkpoint(PASSIVE)")
	}
}
