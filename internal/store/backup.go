package store

// A copy of the file, made while a daemon writes it. The copy is what was committed when it began: one read transaction,
// for which no writer waits. The daemon's lock is not taken.

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// BackupOptions are options of BackUpSQLite.
type BackupOptions struct {
	Replace  bool                     // a file of the same name
	Progress func(done, about uint64) // told every second how many bytes are written of about so many; may be nil
}

// A Backup says what a copy holds.
type Backup struct {
	Bytes  int64
	Schema int64
	Rows   map[string]int64 // of each table of the copy
}

// Errors of [BackUpSQLite] that say what the caller does next.
var (
	ErrBackupExists = errors.New("it is there already")
	ErrBackupPlace  = errors.New("a backup cannot stand there")
	ErrBackupBroken = errors.New("the copy is damaged, and so may the database be")
)

// BackUpSQLite copies the file of an [OpenSQLite] to another one, which only its owner can read. Until the copy is
// whole, was found to be sound and is on the disk, nothing stands under its name.
func BackUpSQLite(ctx context.Context, from, to string, o BackupOptions) (b Backup, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return b, fmt.Errorf("back up to %s: %w", to, err)
	}
	if err := checkBackupPlace(from, to, o.Replace); err != nil {
		return b, fmt.Errorf("back up to %s: %w", to, err)
	}
	db, err := connectDB(from, "ro", 1, "busy_timeout(10000)", "temp_store(MEMORY)")
	if err != nil {
		return b, fmt.Errorf("back up %s: %w", from, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	about, err := checkBackupSource(ctx, from, db)
	if err != nil {
		return b, fmt.Errorf("back up %s: %w", from, noDatabaseError(err))
	}
	part, err := createPartial(to)
	if err != nil {
		return b, fmt.Errorf("back up to %s: %w", to, err)
	}
	defer os.Remove(part) // half a copy is none; a whole one has another name by then
	done := make(chan struct{})
	if o.Progress != nil {
		go reportProgress(part, about, o.Progress, done)
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	close(done)
	if err != nil {
		return b, fmt.Errorf("copy %s: %w", from, noDatabaseError(err))
	}
	if b, err = checkBackup(ctx, part); err != nil {
		return b, fmt.Errorf("check the copy of %s: %w", from, err)
	}
	if err := placeBackup(part, to, o.Replace); err != nil {
		return b, fmt.Errorf("back up to %s: %w", to, err)
	}
	return b, nil
}

// noDatabaseError adds ErrNoDatabase to an error of SQLite's that says so.
func noDatabaseError(err error) error {
	var said *sqlite.Error
	if errors.As(err, &said) && (said.Code()&0xff == sqlite3.SQLITE_NOTADB || said.Code()&0xff == sqlite3.SQLITE_CORRUPT) {
		return fmt.Errorf("%w: %w", ErrNoDatabase, err)
	}
	return err
}

// checkBackupPlace refuses names under which a copy would do harm: the database itself and what lies beside it, and
// any whose log would be read into the copy.
func checkBackupPlace(from, to string, replace bool) error {
	folder, err := os.Stat(filepath.Dir(to))
	switch {
	case err != nil:
		return err
	case !folder.IsDir():
		return fmt.Errorf("%w: %s is no folder", ErrBackupPlace, filepath.Dir(to))
	}
	source, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	if file, err := filepath.EvalSymlinks(source); err == nil { // its log lies beside the file itself
		source = file
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(to)); err == nil {
		to = filepath.Join(dir, filepath.Base(to))
	}
	there, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !there.Mode().IsRegular():
		return fmt.Errorf("%w: it is no file", ErrBackupPlace)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		own, err := os.Stat(source + suffix)
		if to == source+suffix || err == nil && there != nil && os.SameFile(own, there) {
			return fmt.Errorf("%w: the daemon uses this file", ErrBackupPlace)
		}
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(to + suffix); err == nil {
			return fmt.Errorf("%w: %s lies beside it, and would be read into the copy", ErrBackupPlace, filepath.Base(to)+suffix)
		}
	}
	if there != nil && !replace {
		return ErrBackupExists
	}
	return nil
}

// checkBackupSource refuses what is no database of ours, or a newer program's. It returns how large a copy may become.
func checkBackupSource(ctx context.Context, from string, db *sql.DB) (about uint64, err error) {
	// Nothing here opens the file but SQLite: to close it would end the locks that the process has on it.
	switch info, err := os.Stat(from); {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: it is no file", ErrNoDatabase)
	}
	tables, err := tableNames(ctx, db)
	if err != nil {
		return 0, err
	}
	for _, need := range []string{"deliveries", "work", "goose_db_version"} {
		if _, has := tables[need]; !has {
			return 0, ErrForeignDatabase
		}
	}
	have, err := schemaVersion(ctx, db)
	if err != nil {
		return 0, err
	}
	if know := newestSchema(); have > know {
		return 0, fmt.Errorf("%w: its schema is %d, and this program knows %d at most; use the program that the daemon runs", ErrNewer, have, know)
	}
	var pages, free, size uint64
	row := db.QueryRowContext(ctx, "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
	if err := row.Scan(&pages, &free, &size); err != nil {
		return 0, fmt.Errorf("read its size: %w", err)
	}
	return (pages - free) * size, nil
}

// tableNames lists the tables, each with its name quoted for a statement.
func tableNames(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT name, '"' || replace(name, '"', '""') || '"' FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
	if err != nil {
		return nil, fmt.Errorf("read its tables: %w", err)
	}
	defer rows.Close()
	names := map[string]string{}
	for rows.Next() {
		var name, quoted string
		if err := rows.Scan(&name, &quoted); err != nil {
			return nil, fmt.Errorf("read its tables: %w", err)
		}
		names[name] = quoted
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read its tables: %w", err)
	}
	return names, nil
}

func schemaVersion(ctx context.Context, db *sql.DB) (version int64, err error) {
	row := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied")
	if err := row.Scan(&version); err != nil {
		return 0, fmt.Errorf("read its schema: %w", err)
	}
	return version, nil
}

// newestSchema is the newest schema of SQLite that this program knows.
func newestSchema() int64 { return newestMigration(migrations, "migrations/sqlite") }

// newestMigration is the number of the newest migration in a folder.
func newestMigration(from embed.FS, dir string) (newest int64) {
	files, err := from.ReadDir(dir)
	if err != nil {
		panic(err) // unreachable: they are part of the program
	}
	for _, file := range files {
		var version int64
		if _, err := fmt.Sscanf(file.Name(), "%d_", &version); err == nil {
			newest = max(newest, version)
		}
	}
	return newest
}

// createPartial creates the empty file into which the copy is written, beside its later name.
func createPartial(to string) (string, error) {
	part := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+"."+strings.ToLower(rand.Text()[:8])+".partial")
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil { // whatever the umask is
		return "", errors.Join(err, os.Remove(part))
	}
	return part, nil
}

// reportProgress tells how far the copy is, until done is closed.
func reportProgress(part string, about uint64, tell func(done, about uint64), done <-chan struct{}) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-done:
			return
		case <-every.C:
			if info, err := os.Stat(part); err == nil {
				tell(uint64(max(info.Size(), 0)), about)
			}
		}
	}
}

// checkBackup opens the copy as a restore would, reads all of it, and counts its rows.
func checkBackup(ctx context.Context, part string) (b Backup, err error) {
	db, err := connectDB(part, "ro", 1, "temp_store(MEMORY)")
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return b, noDatabaseError(err)
	}
	if found != "ok" {
		return b, fmt.Errorf("%w: %s", ErrBackupBroken, found)
	}
	if b.Schema, err = schemaVersion(ctx, db); err != nil {
		return b, err
	}
	tables, err := tableNames(ctx, db)
	if err != nil {
		return b, err
	}
	b.Rows = map[string]int64{}
	for name, quoted := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted).Scan(&n); err != nil {
			return b, fmt.Errorf("count its rows: %w", err)
		}
		b.Rows[name] = n
	}
	info, err := os.Stat(part)
	if err != nil {
		return b, err
	}
	b.Bytes = info.Size()
	return b, nil
}

// placeBackup brings the copy down to the disk, and then gives it its name.
func placeBackup(part, to string, replace bool) error {
	if err := syncPath(part); err != nil {
		return err
	}
	if replace {
		if err := os.Rename(part, to); err != nil {
			return err
		}
		return syncPath(filepath.Dir(to))
	}
	switch err := os.Link(part, to); { // unlike a rename it replaces nothing that has come in the meantime
	case errors.Is(err, fs.ErrExist):
		return ErrBackupExists
	case err != nil: // a file system without hard links
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return ErrBackupExists
		}
		if err := os.Rename(part, to); err != nil {
			return err
		}
	}
	return syncPath(filepath.Dir(to))
}

// syncPath brings a file or a folder down to the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupportedSync(f.Sync()), f.Close())
}

// ignoreUnsupportedSync drops the error of a system that syncs no folders.
func ignoreUnsupportedSync(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return err
}
