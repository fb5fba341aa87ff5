package store

// The table in an embedded SQLite database: opening, closing and reading it. Writing stands in writer.go and table.go.

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// SQLiteOptions are options of OpenSQLite.
type SQLiteOptions struct {
	Log *slog.Logger // nil: nothing is logged
	// Fleeting turns fsync off. A loss of power may damage the file.
	Fleeting bool

	injectFault func(step string) error // for tests: the error of step "begin", "commit" or "fold"
}

// SQLite is a [Store] in one file, which one process uses at a time.
//
// One goroutine writes. It takes what has come in while the disk was busy with the transaction before, and commits it
// together: that is why thousands of deliveries a second can each wait for the disk.
type SQLite struct {
	log         *slog.Logger
	injectFault func(step string) error
	fileLock    *flock.Flock
	writeDB     *sql.DB
	readDB      *sql.DB
	reads       readStatements
	table       *workTable // of the writing goroutine alone

	ops        chan *op
	quit       chan struct{} // closed: no more ops are wanted
	writerDone chan struct{} // closed: the writing goroutine has ended
	closeOnce  sync.Once
	closeErr   error // of closing

	mu       sync.Mutex
	totals   totals // as of the last commit
	writeErr error  // of the last transaction that had something to write; nil: it was committed

	openFiles    []openFile // of the writing goroutine alone
	mutedUntil   time.Time  // no fault is logged before
	mutedFaults  int        // faults since the last log line
	noYieldUntil time.Time  // gatherBatch does not yield before
}

// openFile is a file of the database as it was opened.
type openFile struct {
	path string
	info os.FileInfo
}

var _ Store = (*SQLite)(nil)

// readStatements are the statements that only read.
type readStatements struct {
	selectKnown, selectRow, countQueue, countBacklog, selectHeard, selectSigns *sql.Stmt
	preparedStatements
}

// preparedStatements are closed together: a file is closed, and its log folded into it, only when none of its
// statements is open any more.
type preparedStatements []*sql.Stmt

// Close closes them all.
func (p preparedStatements) Close() error {
	var errs []error
	for _, stmt := range p {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// OpenSQLite opens the table in a file, which it creates if it is not there, and ends all leases of the process that
// had it before. A file that another process has open, or that a newer program wrote, is an error.
func OpenSQLite(path string, o SQLiteOptions) (*SQLite, error) {
	s, err := openSQLite(path, o)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, noDatabaseError(err))
	}
	return s, nil
}

func openSQLite(path string, o SQLiteOptions) (_ *SQLite, err error) {
	s := &SQLite{
		log: o.Log, injectFault: o.injectFault,
		ops: make(chan *op, maxQueuedOps), quit: make(chan struct{}), writerDone: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.injectFault == nil {
		s.injectFault = func(string) error { return nil }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeAll())
		}
	}()
	if s.fileLock, err = lockFile(path + ".lock"); err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	if err := refuseForeignDatabase(path); err != nil {
		return nil, err
	}
	if err := migrateSchema(path); err != nil {
		return nil, err
	}
	s.writeDB, err = openDB(path, 1, "cache_size(-800)", "synchronous(FULL)", "wal_autocheckpoint(0)", "journal_size_limit(33554432)")
	if err != nil {
		return nil, err
	}
	if s.table, err = newWorkTable(s.writeDB); err != nil {
		return nil, err
	}
	if o.Fleeting {
		if err := s.table.neverSync(); err != nil {
			return nil, err
		}
	}
	s.totals = s.table.totals
	if s.readDB, err = openDB(path, 2, "cache_size(-200)", "query_only(1)"); err != nil {
		return nil, err
	}
	if s.reads, err = prepareReads(s.readDB); err != nil {
		return nil, err
	}
	for _, p := range []string{path, path + "-wal", path + ".lock"} {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		s.openFiles = append(s.openFiles, openFile{p, info})
	}
	go s.runWriter()
	return s, nil
}

// Wrote returns the error of the last transaction that had something to write; nil if it was committed.
func (s *SQLite) Wrote() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// checkFilesInPlace checks that the open files are still those that the next process will read: a deleted file takes
// every write without an error.
func (s *SQLite) checkFilesInPlace() error {
	for _, f := range s.openFiles {
		if info, err := os.Stat(f.path); err != nil || !os.SameFile(info, f.info) {
			return fmt.Errorf(
				"%s was deleted or replaced while it was in use: what is accepted now would be lost; restart the coordinator",
				f.path,
			)
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
	poolPages()
	var c driver.Connector
	if c, err = sqlite.NewConnector(dsn.String()); err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// refuseForeignDatabase refuses the database of another program, and leaves it as it is, but for what a killed process
// had begun. An empty file belongs to no
// program; nor does one in which only goose has begun.
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

// migrateSchema brings the file to the schema of this program.
func migrateSchema(path string) (err error) {
	db, err := openDB(path, 1, "synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dir, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err // unreachable unless the path above is wrong
	}
	p, err := goose.NewProvider(
		goose.DialectSQLite3,
		db,
		dir,
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	ctx := context.Background()
	have, know, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read its schema: %w", err)
	}
	if have > know {
		return fmt.Errorf(
			"%w: its schema is %d, and this program knows %d at most; run the newer program, or move the file away: a new one costs time alone",
			ErrNewer,
			have,
			know,
		)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Close waits for the operations that were submitted before it, and closes the file.
func (s *SQLite) Close() error {
	s.closeOnce.Do(func() {
		close(s.quit)
		<-s.writerDone
		s.closeErr = s.closeAll()
	})
	return s.closeErr
}

// closeAll closes everything that was opened. The writer comes last: the last connection folds the log into the file.
func (s *SQLite) closeAll() error {
	errs := []error{s.reads.Close()}
	if s.readDB != nil {
		errs = append(errs, s.readDB.Close())
	}
	if s.table != nil {
		errs = append(errs, s.table.Close(), s.table.conn.Close())
	}
	if s.writeDB != nil {
		errs = append(errs, s.writeDB.Close())
	}
	if s.fileLock != nil {
		errs = append(errs, s.fileLock.Close())
	}
	return errors.Join(errs...)
}

// eachTenant and eachKind are the different tenants and kinds of all keys, a search of an index for each. To GROUP BY them,
// or to look for what is due by an index that begins with the tenant, SQLite would read every key.
const (
	eachTenant = `each (tenant) AS (SELECT min(tenant) FROM work
		UNION ALL SELECT (SELECT min(tenant) FROM work WHERE tenant > each.tenant) FROM each WHERE each.tenant IS NOT NULL)`
	eachKind = `each (kind) AS (SELECT min(kind) FROM work
		UNION ALL SELECT (SELECT min(kind) FROM work WHERE kind > each.kind) FROM each WHERE each.kind IS NOT NULL)`
)

func prepareReads(db *sql.DB) (r readStatements, err error) {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&r.selectKnown, `SELECT id FROM deliveries WHERE id IN (SELECT value FROM json_each(?))`},
		{&r.selectRow, `SELECT ` + rowColumns + `, s.sight FROM work w LEFT JOIN sights s ON s.id = w.id WHERE w.key = ?`},
		{&r.countBacklog, `WITH RECURSIVE ` + eachTenant + `
			SELECT each.tenant, count(*) FROM each CROSS JOIN work w INDEXED BY work_backlog
				ON w.tenant = each.tenant AND w.backlog_at <= ?1 AND w.backlog_at < 9223372036854775807 GROUP BY each.tenant`},
		{&r.countQueue, `WITH RECURSIVE ` + eachTenant + `
			SELECT count(*), min(w.due_at), (SELECT count(*) FROM work INDEXED BY work_leased WHERE leased = 1 AND due_at > ?1)
			FROM each CROSS JOIN work w INDEXED BY work_due ON w.tenant = each.tenant AND w.due_at <= ?1`}, // at one moment
		{&r.selectHeard, `SELECT reviewer, text, label, pull, stranger, said_at, unread FROM heard WHERE grp = ? ORDER BY said_at DESC, unread, reviewer, text`},
		{&r.selectSigns, `SELECT reviewer, kind, shown_by, pull, author, shown_at, until_at FROM signs
			WHERE grp = ? ORDER BY shown_at, kind, pull, shown_by, reviewer`},
	} {
		if *p.stmt, err = db.PrepareContext(context.Background(), p.query); err != nil {
			return r, err
		}
		r.preparedStatements = append(r.preparedStatements, *p.stmt)
	}
	return r, nil
}

// Known says which of these deliveries were accepted.
func (s *SQLite) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err // unreachable: strings can be marshaled
	}
	known := map[string]bool{}
	rows, err := s.reads.selectKnown.QueryContext(ctx, string(list))
	if err != nil {
		return nil, fmt.Errorf("find deliveries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("find deliveries: %w", err)
		}
		known[id] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find deliveries: %w", err)
	}
	return known, nil
}

// rowColumns are the columns that scanRow scans, of work as w.
const rowColumns = `w.key, w.kind, w.grp, w.tenant, w.due_at, w.backlog_at, w.wake_at, w.leased, w.attempts, w.failed, w.open, w.seen_at`

func scanRow(scan func(...any) error) (Row, error) {
	var r Row
	var due, backlog, wake, seen int64
	err := scan(&r.Key, &r.Kind, &r.Group, &r.Tenant, &due, &backlog, &wake, &r.Leased, &r.Attempts, &r.Failed, &r.Open, &seen, &r.Sight)
	r.Backlog = backlog < due
	r.Due, r.Wake, r.Seen = timeOfMicros(min(due, backlog)), timeOfMicros(wake), timeOfMicros(seen)
	return r, err
}

// Get returns a row.
func (s *SQLite) Get(ctx context.Context, key string) (Row, error) {
	r, err := scanRow(s.reads.selectRow.QueryRowContext(ctx, key).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Row{}, ErrNoRow
	case err != nil:
		return Row{}, fmt.Errorf("read key: %w", err)
	}
	return r, nil
}

// List returns rows.
func (s *SQLite) List(ctx context.Context, q Query) ([]Row, error) {
	query, args := listQuery(q)
	rows, err := s.readDB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	defer rows.Close()
	var list []Row
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return list, nil
}

// listQuery returns the SQL of a query. All of its text stands here: the caller's values go into parameters.
func listQuery(q Query) (query string, args []any) {
	sight, from := "s.sight", "work w"+listIndex(q)+" LEFT JOIN sights s ON s.id = w.id"
	if q.Thin {
		sight, from = "NULL", "work w"+listIndex(q)
	}
	where := []string{"1"}
	if q.Tenant != nil {
		where, args = append(where, "w.tenant = ?"), append(args, *q.Tenant)
	}
	if q.Kind != "" {
		where, args = append(where, "w.kind = ?"), append(args, q.Kind)
	}
	if q.Group != "" {
		where, args = append(where, "w.grp = ?"), append(args, q.Group)
	}
	switch {
	case q.Open == nil:
	case *q.Open:
		where = append(where, "w.open = 1") // as it stands in the index of open keys
	default:
		where = append(where, "w.open = 0")
	}
	if !q.Before.IsZero() {
		where, args = append(where, "w.seen_at < ? AND w.seen_at > 0"), append(args, floorMicros(q.Before))
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	return "SELECT " + rowColumns + ", " + sight + " FROM " + from + " WHERE " + strings.Join(where, " AND ") +
		" ORDER BY w.seen_at DESC, w.id LIMIT ?", append(args, limit)
}

// listIndex names the index by which a query reads the fewest rows. SQLite would have to guess: it does not know that one
// kind may have a million keys, and a group has some.
func listIndex(q Query) string {
	switch {
	case q.Group != "":
		return " INDEXED BY work_grp"
	case q.Open != nil && *q.Open:
		return " INDEXED BY work_open"
	case q.Tenant != nil && q.Kind != "": // one tenant's, however many others have keys of the kind
		return " INDEXED BY work_due"
	case q.Kind != "":
		return " INDEXED BY work_kind"
	default:
		return ""
	}
}

// Health counts keys, leases and deliveries.
func (s *SQLite) Health(ctx context.Context, now time.Time) (Health, error) {
	s.mu.Lock()
	t := s.totals
	s.mu.Unlock()
	h := Health{Keys: t.keys, Open: t.open, Failing: t.failing, Tenants: t.tenants, Accepted: t.accepted}
	var oldest sql.NullInt64
	at := floorMicros(now)
	if err := s.reads.countQueue.QueryRowContext(ctx, at).Scan(&h.Due, &oldest, &h.Leased); err != nil {
		return Health{}, fmt.Errorf("count what is due: %w", err)
	}
	if oldest.Valid {
		h.Oldest = time.Duration(at-oldest.Int64) * time.Microsecond
	}
	return h, s.countBacklogs(ctx, at, &h)
}

// countBacklogs counts what is due of each tenant's backlog.
func (s *SQLite) countBacklogs(ctx context.Context, now int64, h *Health) error {
	rows, err := s.reads.countBacklog.QueryContext(ctx, now)
	if err != nil {
		return fmt.Errorf("count the backlog: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var tenant int64
		var n int
		if err := rows.Scan(&tenant, &n); err != nil {
			return fmt.Errorf("count the backlog: %w", err)
		}
		if h.Backlog == nil {
			h.Backlog = map[int64]int{}
		}
		h.Backlog[tenant] = n
	}
	return rows.Err()
}

// floorMicros converts a time to the database's microseconds, rounded down: for what has happened.
func floorMicros(t time.Time) int64 { return t.UnixMicro() }

// ceilMicros converts a time to the database's microseconds, rounded up, so that nothing happens before it; neverDue if
// it is zero.
func ceilMicros(t time.Time) int64 {
	if t.IsZero() {
		return neverDue
	}
	return t.Add(time.Microsecond - 1).UnixMicro()
}

// timeOfMicros converts microseconds of the database to a time: zero for 0, which is no moment, and for neverDue.
func timeOfMicros(at int64) time.Time {
	if at == 0 || at == neverDue {
		return time.Time{}
	}
	return time.UnixMicro(at).UTC()
}
