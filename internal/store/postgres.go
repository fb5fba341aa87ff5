package store

// The table in a PostgreSQL database, which several processes may use at a time. What a transaction does stands as functions in
// migrations/postgres.

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/postgres/*.sql
var postgresMigrations embed.FS

// PostgresOptions are options of OpenPostgres.
type PostgresOptions struct {
	Log       *slog.Logger  // nil: nothing is logged
	HealthFor time.Duration // for how long what Health counted is counted no more; 0: it counts each time
	// Replica names this process among those that share the database; no two have one name. Each works for a part of the tenants,
	// so that all that is to know of one, its budget above all, is known by one. "": this process works for all.
	Replica string
	// Lost is called when others may take this process for gone: what it has claimed until then may be theirs. It must not wait; nil:
	// nobody wants to know.
	Lost func()

	migrations fs.FS // for tests, another version's; nil: those of this program
}

// Postgres is a [Store] in a PostgreSQL database. Leases outlive the process that took them: another one claims its keys once they
// have run out. Times are the caller's, so that the clocks of those who share a database must agree to two seconds.
//
// Two goroutines write: one what must be durable, the other what a loss of power may undo. Each takes what has come in while
// the database was busy with the transaction before, and sends it as one.
type Postgres struct {
	log     *slog.Logger
	line    *lifeline // nil: this process works for all
	pool    *pgxpool.Pool
	claimed atomic.Int64 // when it was claimed last, by the caller's clock
	health  pgHealth
	durable chan *pgOp
	lazy    chan *pgOp
	quit    chan struct{} // closed: no more ops are wanted
	ended   chan struct{} // closed: none is sent any more
	writers sync.WaitGroup

	closeOnce sync.Once
	mu        sync.Mutex
	writeErr  error // of the last transaction that wrote; nil: it was committed
}

var _ Store = (*Postgres)(nil)

const (
	leastPostgres    = 140_000 // server_version_num
	connectTimeout   = 10 * time.Second
	statementTimeout = 20 * time.Second // of the server; a client gives up a little later
	maxPgBatch       = 128              // operations in one transaction
	leastConns       = 4                // two write, one claims, and somebody watches
)

// OpenPostgres opens the tables in the database of a URL (postgres://USER@HOST/NAME?search_path=SCHEMA), and creates them if
// they are not there. ctx bounds the opening alone. No error holds the URL's password.
func OpenPostgres(ctx context.Context, url string, o PostgresOptions) (*Postgres, error) {
	s, err := openPostgres(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("open the PostgreSQL database: %w", err)
	}
	return s, nil
}

func openPostgres(ctx context.Context, url string, o PostgresOptions) (_ *Postgres, err error) {
	s := &Postgres{
		log: o.Log, health: pgHealth{lasts: o.HealthFor},
		durable: make(chan *pgOp, maxQueuedOps), lazy: make(chan *pgOp, maxQueuedOps), quit: make(chan struct{}),
		ended: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.pool, err = connectPostgres(ctx, url); err != nil {
		return nil, err
	}
	if err := migratePostgres(ctx, s.pool, o.migrations); err != nil {
		s.pool.Close()
		return nil, err
	}
	if o.Replica != "" {
		s.line = &lifeline{
			config: s.pool.Config().ConnConfig, replica: asText(o.Replica), lost: o.Lost, renamed: s.handOnLeases, log: s.log,
		}
		if err := s.line.keepOpen(ctx); err != nil {
			s.pool.Close()
			return nil, err
		}
	}
	s.writers.Go(func() { s.runWriter(s.durable, true) })
	s.writers.Go(func() { s.runWriter(s.lazy, false) })
	return s, nil
}

// connectPostgres connects to the server of a URL, and refuses one that is too old, that a pooler hides, or that has another
// program's tables.
func connectPostgres(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out
	}
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.DialFunc = (&net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
	}).DialContext
	config.MaxConns = max(config.MaxConns, leastConns)
	given := config.ConnConfig.RuntimeParams
	if given["application_name"] == "" {
		given["application_name"] = "review-coordinator"
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { // a pooler takes few settings with the connection
		for name, value := range map[string]string{
			"lock_timeout": "15s", "idle_in_transaction_session_timeout": "60s",
			// Who does not take what it is sent must not keep others from what it has locked.
			"tcp_user_timeout": "15s", "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
			"statement_timeout": fmt.Sprint(statementTimeout.Milliseconds()),
		} {
			if _, isGiven := given[name]; isGiven {
				continue
			}
			if _, err := conn.Exec(ctx, `SELECT set_config($1, $2, false)`, pgx.QueryExecModeSimpleProtocol, name, value); err != nil {
				return fmt.Errorf("set %s: %w", name, err)
			}
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	for _, check := range []func(context.Context, *pgxpool.Pool) error{checkPooler, checkServer} {
		if err := check(ctx, pool); err != nil {
			pool.Close()
			return nil, err
		}
	}
	return pool, nil
}

// checkServer refuses a server that is too old, and a schema with another program's tables. One in which only goose has begun
// belongs to no program: a first start was cut short there.
func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	var version, tables, known int
	err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::integer,
		count(c.relname) FILTER (WHERE c.relname <> 'goose_db_version'),
		count(c.relname) FILTER (WHERE c.relname IN ('deliveries', 'work', 'goose_db_version'))
		FROM (SELECT 1) AS one LEFT JOIN pg_class c ON c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`).
		Scan(&version, &tables, &known)
	switch {
	case err != nil:
		return fmt.Errorf("read its version and tables: %w", err)
	case version < leastPostgres:
		return fmt.Errorf("%w: its version is %d.%d, and it must be 14 or newer", ErrUnfitServer, version/10_000, version%10_000)
	case tables > 0 && known < 3:
		return fmt.Errorf("%w: give the coordinator a database or a schema of its own (…?search_path=SCHEMA)", ErrForeignDatabase)
	}
	return nil
}

// checkPooler refuses a pooler that gives each transaction a session of its own: the lock of a migration would be another's. It shows
// by two connections that have one server process.
func checkPooler(ctx context.Context, pool *pgxpool.Pool) error {
	first, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer first.Release()
	second, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer second.Release()
	pid := func(from interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	},
	) (n int, err error) {
		err = from.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&n)
		return n, err
	}
	before, err := pid(first)
	if err != nil {
		return fmt.Errorf("ask for its process: %w", err)
	}
	tx, err := second.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // it has changed nothing
	within, err := pid(tx)
	if err != nil {
		return fmt.Errorf("ask for its process: %w", err)
	}
	after, err := pid(first)
	if err != nil {
		return fmt.Errorf("ask for its process: %w", err)
	}
	if before == within || before != after {
		return fmt.Errorf("%w: a pooler in transaction mode stands before it: connect to PostgreSQL itself, or in session mode",
			ErrUnfitServer)
	}
	return nil
}

// ClockAhead returns how far the server's clock is ahead of a moment that is now by ours, and some milliseconds for the way.
func (s *Postgres) ClockAhead(ctx context.Context, now time.Time) (time.Duration, error) {
	var at time.Time
	if err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
		return 0, s.explain("read the database's clock", err)
	}
	return at.Sub(now), nil
}

// Describe returns the server's version, and how many other named processes have the table at a moment.
func (s *Postgres) Describe(ctx context.Context, now time.Time) (version string, replicas int, err error) {
	name, err := s.holderName()
	if err != nil {
		return "", 0, err
	}
	err = s.pool.QueryRow(ctx, `SELECT current_setting('server_version'),
		(SELECT count(*) FROM replicas WHERE until_at > $1 AND name <> $2)`, floorMicros(now), name).Scan(&version, &replicas)
	if err != nil {
		return "", 0, s.explain("read version and replicas", err)
	}
	return version, replicas, nil
}

// Retire says that this process claims nothing any more. Others still see to what it has leased, should it end before that is done.
func (s *Postgres) Retire(ctx context.Context) error {
	name, err := s.holderName()
	if err != nil || name == "" {
		return err
	}
	if _, err := s.pool.Exec(ctx, `UPDATE replicas SET until_at = 0 WHERE name = $1`, name); err != nil {
		return s.explain("retire", err)
	}
	return nil
}

// handOnLeases hands on what this process has done under a name.
func (s *Postgres) handOnLeases(ctx context.Context, name string) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM replicas WHERE name = $1`, name)
	b.Queue(`SELECT free_leases_of($1, $2)`, name, s.claimed.Load())
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return s.explain("hand on leases", err)
	}
	return nil
}

// holderName returns the name under which this process works; "" if it works for all.
func (s *Postgres) holderName() (string, error) {
	if s.line == nil {
		return "", nil
	}
	return s.line.holderName()
}

// migratePostgres brings the tables to the schema of some migrations; nil: those of this program. Another process that does so at
// the same time is waited for, and older programs go on beside it: what a migration may do stands in decision 21.
func migratePostgres(ctx context.Context, pool *pgxpool.Pool, dir fs.FS) (err error) {
	if dir == nil {
		if dir, err = fs.Sub(postgresMigrations, "migrations/postgres"); err != nil {
			return err // unreachable unless the path above is wrong
		}
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("lock its schema: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := goose.NewProvider(
		goose.DialectPostgres, db, dir, goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker),
		goose.WithSlog(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, know, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read its schema: %w", err)
	}
	if have > know {
		return fmt.Errorf("%w: its schema is %d, and this program knows %d at most; run the newer program", ErrNewer, have, know)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Wrote returns the error of the last transaction that wrote; nil if it was committed.
func (s *Postgres) Wrote() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// endReplica hands on what this process still has, and ends its lifeline.
func (s *Postgres) endReplica() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if name, err := s.holderName(); err == nil {
		if err := s.handOnLeases(ctx, name); err != nil {
			s.log.Warn("other coordinators take over when what this one has claimed runs out", "err", err)
		}
	}
	s.line.endForGood()
}

// Close waits for the operations that were submitted before it, and closes the connections.
func (s *Postgres) Close() error {
	s.closeOnce.Do(func() {
		close(s.quit)
		s.writers.Wait()
		close(s.ended)
		if s.line != nil {
			s.endReplica()
		}
		s.pool.Close()
	})
	return nil
}

// A pgOp is an operation that writes. It may be sent twice, if the first time came to nothing.
type pgOp struct {
	ctx   context.Context
	names []string         // of what it writes: locked in one order, so that no two transactions wait for each other
	queue func(*pgx.Batch) // adds its statements, which keep their results; nil: it is what it accepts
	taken *acceptance      // nil: it accepts nothing
	done  chan error
}

// submit submits an operation and returns when it is committed. Unless it returns nil, the operation may still be running: nothing
// that it keeps may be read.
func (s *Postgres) submit(ctx context.Context, to chan *pgOp, what string, names []string, queue func(*pgx.Batch)) error {
	return s.submitOp(to, what, &pgOp{ctx: ctx, names: names, queue: queue, done: make(chan error, 1)})
}

func (s *Postgres) submitOp(to chan *pgOp, what string, o *pgOp) error {
	ctx := o.ctx
	select {
	case <-s.quit:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	default:
	}
	select {
	case <-s.quit:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case to <- o:
	}
	select {
	case err := <-o.done:
		return wrapError(what, err)
	case <-s.ended: // it may have come after the last one that was sent
		select {
		case err := <-o.done:
			return wrapError(what, err)
		default:
			return fmt.Errorf("%s: %w", what, ErrClosed)
		}
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
}

// runWriter sends operations until it is told to quit, and then those that are already there.
func (s *Postgres) runWriter(ops chan *pgOp, isDurable bool) {
	for {
		select {
		case o := <-ops:
			s.sendBatch(gatherOps(o, ops), isDurable)
		case <-s.quit:
			for {
				select {
				case o := <-ops:
					s.sendBatch(gatherOps(o, ops), isDurable)
				default:
					return
				}
			}
		}
	}
}

// gatherOps takes the operations that wait together with the first.
func gatherOps(first *pgOp, ops chan *pgOp) []*pgOp {
	batch := []*pgOp{first}
	for len(batch) < maxPgBatch {
		select {
		case o := <-ops:
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// sendBatch sends operations as one transaction. If that fails for one of them, each gets one of its own: the fault of one must
// not be another's error.
func (s *Postgres) sendBatch(batch []*pgOp, isDurable bool) {
	batch = slices.DeleteFunc(batch, func(o *pgOp) bool {
		if o.ctx.Err() == nil {
			return false
		}
		o.done <- o.ctx.Err() // its caller has stopped waiting
		return true
	})
	if len(batch) == 0 {
		return
	}
	err := s.runTransaction(batch, isDurable)
	for tries := 1; isSerialization(err) && tries < 3; tries++ {
		err = s.runTransaction(batch, isDurable)
	}
	var said *pgconn.PgError
	if errors.As(err, &said) && len(batch) > 1 { // the server has answered
		for _, o := range batch {
			s.sendBatch([]*pgOp{o}, isDurable)
		}
		return
	}
	s.mu.Lock()
	s.writeErr = err
	s.mu.Unlock()
	for _, o := range batch {
		o.done <- err
	}
}

// isSerialization reports whether another transaction was in the way: to try again helps.
func isSerialization(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == "40001" || said.Code == "40P01")
}

// runTransaction sends operations in one round trip, all or none.
func (s *Postgres) runTransaction(batch []*pgOp, isDurable bool) error {
	var names []string
	b := &pgx.Batch{}
	if !isDurable {
		b.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
	}
	for _, o := range batch {
		for _, name := range o.names {
			names = append(names, asText(name))
		}
	}
	if len(names) > 0 {
		b.Queue(`SELECT lock_names($1)`, names)
	}
	queueAcceptances(b, batch)
	for _, o := range batch {
		if o.queue != nil {
			o.queue(b)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout+connectTimeout)
	defer cancel()
	return s.pool.SendBatch(ctx, b).Close()
}

// Claim leases what is due.
func (s *Postgres) Claim(ctx context.Context, c Claim) (work []Work, err error) {
	if err := c.checkLease(); err != nil {
		return nil, err
	}
	now, until := floorMicros(c.Now), ceilMicros(c.Now.Add(c.Lease))
	split := func(most map[int64]int) (of []int64, n []int) {
		for _, tenant := range slices.Sorted(maps.Keys(most)) {
			of, n = append(of, tenant), append(n, most[tenant])
		}
		return notNil(of), notNil(n)
	}
	of, most := split(c.Most)
	backlogOf, backlogMost := split(c.Backlog.Most)
	each := func(n int) int {
		if n == 0 {
			return c.Limit
		}
		return n
	}
	name, err := s.holderName()
	if err != nil {
		return nil, s.explain("claim", err)
	}
	s.claimed.Store(now)
	rows, err := s.pool.Query(ctx, `SELECT * FROM claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		name, now, until, c.Limit, notNil(c.Except), of, most, each(c.Each),
		notNil(c.Backlog.Except), backlogOf, backlogMost, each(c.Backlog.Each),
	)
	if err != nil {
		return nil, s.explain("claim", err)
	}
	work, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Work, err error) {
		var live, due, wake, seen int64
		var touches string
		err = row.Scan(&w.Key, &w.Token, &w.Tenant, &w.Kind, &w.Backlog, &live, &due, &wake, &w.Attempts, &touches,
			&w.Sight, &seen, &w.Moved)
		w.LiveDue, w.Due, w.Wake, w.Seen = timeOfMicros(live), timeOfMicros(due), timeOfMicros(wake), timeOfMicros(seen)
		w.Touches = splitTouches(touches)
		return w, err
	})
	if err != nil {
		return nil, s.explain("claim", err)
	}
	if still, err := s.holderName(); err != nil || still != name { // others may have got these by now
		return nil, s.explain("claim", cmp.Or(err, errNoLifeline))
	}
	if len(work) == 0 {
		return nil, nil
	}
	return work, nil
}

// asText is a text as PostgreSQL takes it: UTF-8 without zero bytes. What is different in no more than these is one text there.
func asText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// notNil returns a slice that is no NULL in the database.
func notNil[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// explain wraps an error; one that came because the store was closed is ErrClosed.
func (s *Postgres) explain(what string, err error) error {
	select {
	case <-s.quit:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// Next returns the earliest moment at which Claim would have something that is not of the backlog.
func (s *Postgres) Next(ctx context.Context, except []int64) (time.Time, error) {
	return s.nextIn(ctx, false, except)
}

// NextBacklog returns the earliest moment at which Claim would have something of the backlog.
func (s *Postgres) NextBacklog(ctx context.Context, except []int64) (time.Time, error) {
	return s.nextIn(ctx, true, except)
}

// nextIn returns the earliest moment in a queue of this replica's tenants. What others have is looked for again and again.
func (s *Postgres) nextIn(ctx context.Context, backlog bool, except []int64) (time.Time, error) {
	var at *int64
	name, err := s.holderName()
	if err != nil {
		return time.Time{}, s.explain("find next", err)
	}
	err = s.pool.QueryRow(ctx, `SELECT min(at) FROM first_of_tenants($1, $2, $3, $4, $5, 200, true)`,
		name, s.claimed.Load(), backlog, notNil(except), int64(neverDue)).Scan(&at)
	if err != nil {
		return time.Time{}, s.explain("find next", err)
	}
	if at == nil {
		return time.Time{}, nil
	}
	return timeOfMicros(*at), nil
}

// Renew prolongs leases.
func (s *Postgres) Renew(ctx context.Context, until time.Time, leases ...Lease) (lost []Lease, err error) {
	name, err := s.holderName()
	if err != nil {
		return nil, s.explain("renew leases", err)
	}
	leases = slices.Clone(leases)
	held := make([]bool, len(leases))
	names := make([]string, len(leases))
	for i, l := range leases {
		names[i] = l.Key
	}
	err = s.submit(ctx, s.lazy, "renew leases", names, func(b *pgx.Batch) {
		if name != "" { // it lives, though all its workers may be busy
			b.Queue(`UPDATE replicas SET until_at = greatest(until_at, $2) WHERE name = $1 AND until_at > 0`, name, ceilMicros(until))
		}
		for i, l := range leases {
			b.Queue(`SELECT renew($1, $2, $3, $4)`, asText(l.Key), l.Token, name, ceilMicros(until)).
				QueryRow(func(row pgx.Row) error { return row.Scan(&held[i]) })
		}
	})
	if err != nil {
		return nil, err
	}
	for i, l := range leases {
		if !held[i] {
			lost = append(lost, l)
		}
	}
	return lost, nil
}

// Complete ends a lease.
func (s *Postgres) Complete(ctx context.Context, l Lease, o Completion) (bool, error) {
	var ours bool
	err := s.submit(ctx, s.lazy, "complete", []string{l.Key}, func(b *pgx.Batch) {
		b.Queue(`SELECT complete($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			asText(l.Key), l.Token, floorMicros(o.Now), ceilMicros(o.Now), ceilMicros(o.Wake), o.Backlog, ceilMicros(o.LiveDue),
			asText(o.Failed), o.Keep, o.Gone, o.Sight, o.Open,
		).QueryRow(func(row pgx.Row) error { return row.Scan(&ours) })
	})
	if err != nil {
		return false, err
	}
	return ours, nil
}

// Drop forgets all keys of a tenant.
func (s *Postgres) Drop(ctx context.Context, tenant int64) error {
	return s.submit(ctx, s.durable, "drop tenant", nil, func(b *pgx.Batch) {
		b.Queue(`DELETE FROM heard WHERE tenant = $1`, tenant)
		b.Queue(`DELETE FROM signs WHERE tenant = $1`, tenant)
		b.Queue(`DELETE FROM work WHERE tenant = $1`, tenant)
	})
}

// Prune forgets deliveries.
func (s *Postgres) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	var pruned int64
	err := s.submit(ctx, s.lazy, "prune deliveries", nil, func(b *pgx.Batch) {
		b.Queue(`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE received_at < $1 ORDER BY received_at LIMIT $2
			FOR UPDATE SKIP LOCKED)`, floorMicros(before), limit,
		).Exec(func(tag pgconn.CommandTag) error { pruned = tag.RowsAffected(); return nil })
	})
	if err != nil {
		return 0, err
	}
	return int(pruned), nil
}

// Known says which of these deliveries were accepted.
func (s *Postgres) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	named := map[string]string{}
	for _, id := range ids {
		named[asText(id)] = id
	}
	rows, err := s.pool.Query(ctx, `SELECT id FROM deliveries WHERE id = ANY ($1)`, notNil(slices.Collect(maps.Keys(named))))
	if err != nil {
		return nil, s.explain("find deliveries", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, s.explain("find deliveries", err)
	}
	known := map[string]bool{}
	for _, id := range found {
		known[named[id]] = true
	}
	return known, nil
}

// Get returns a row.
func (s *Postgres) Get(ctx context.Context, key string) (Row, error) {
	r, err := scanRow(s.pool.QueryRow(ctx,
		`SELECT `+rowColumns+`, s.sight FROM work w LEFT JOIN sights s ON s.id = w.id WHERE w.key = $1`, asText(key)).Scan)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Row{}, ErrNoRow
	case err != nil:
		return Row{}, s.explain("read key", err)
	}
	return r, nil
}

// List returns rows.
func (s *Postgres) List(ctx context.Context, q Query) ([]Row, error) {
	sight, from := "s.sight", "work w LEFT JOIN sights s ON s.id = w.id"
	if q.Thin {
		sight, from = "NULL::bytea", "work w"
	}
	where, args := []string{"true"}, []any{}
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if q.Tenant != nil {
		add("w.tenant = $%d", *q.Tenant)
	}
	if q.Kind != "" {
		add("w.kind = $%d", asText(q.Kind))
	}
	if q.Group != "" {
		add("w.grp = $%d", asText(q.Group))
	}
	switch {
	case q.Open == nil:
	case *q.Open:
		where = append(where, "w.open")
	default:
		where = append(where, "NOT w.open")
	}
	if !q.Before.IsZero() {
		add("w.seen_at < $%d AND w.seen_at > 0", floorMicros(q.Before))
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	args = append(args, limit)
	rows, err := s.pool.Query(ctx, "SELECT "+rowColumns+", "+sight+" FROM "+from+" WHERE "+strings.Join(where, " AND ")+
		fmt.Sprintf(" ORDER BY w.seen_at DESC, w.id LIMIT $%d", len(args)), args...)
	if err != nil {
		return nil, s.explain("list keys", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Row, error) { return scanRow(row.Scan) })
	if err != nil {
		return nil, s.explain("list keys", err)
	}
	return list, nil
}

// pgHealth is what was counted last.
type pgHealth struct {
	lasts time.Duration
	mu    sync.Mutex // held while it is counted
	h     Health
	at    time.Time // by the machine's clock
}

// Health counts keys, leases and deliveries. It reads the whole table, but not again within [PostgresOptions.HealthFor].
func (s *Postgres) Health(ctx context.Context, now time.Time) (Health, error) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if k := &s.health; !k.at.IsZero() && time.Since(k.at) < k.lasts {
		return k.h, nil
	}
	h, err := s.countHealth(ctx, now)
	if err != nil {
		return Health{}, err
	}
	s.health.h, s.health.at = h, time.Now()
	return h, nil
}

func (s *Postgres) countHealth(ctx context.Context, now time.Time) (h Health, err error) {
	at := floorMicros(now)
	var oldest *int64
	if err := s.pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE open), count(*) FILTER (WHERE attempts > 0),
		count(DISTINCT tenant), count(*) FILTER (WHERE due_at <= $1), min(due_at) FILTER (WHERE due_at <= $1),
		count(*) FILTER (WHERE leased AND due_at > $1), (SELECT count(*) FROM deliveries) FROM work`, at).
		Scan(&h.Keys, &h.Open, &h.Failing, &h.Tenants, &h.Due, &oldest, &h.Leased, &h.Accepted); err != nil {
		return Health{}, s.explain("count keys", err)
	}
	if oldest != nil {
		h.Oldest = time.Duration(at-*oldest) * time.Microsecond
	}
	rows, err := s.pool.Query(ctx, `SELECT tenant, count(*) FROM work
		WHERE backlog_at <= $1 AND backlog_at < 9223372036854775807 GROUP BY tenant`, at)
	if err != nil {
		return Health{}, s.explain("count the backlog", err)
	}
	var tenant int64
	var n int
	_, err = pgx.ForEachRow(rows, []any{&tenant, &n}, func() error {
		if h.Backlog == nil {
			h.Backlog = map[int64]int{}
		}
		h.Backlog[tenant] = n
		return nil
	})
	if err != nil {
		return Health{}, s.explain("count the backlog", err)
	}
	return h, nil
}

// Hear keeps answers.
func (s *Postgres) Hear(ctx context.Context, tenant int64, group string, keep int, answers ...Heard) error {
	answers = slices.Clone(answers)
	return s.submit(ctx, s.lazy, "keep answers", []string{"group " + group}, func(b *pgx.Batch) {
		for _, a := range answers {
			unread := boolToInt(a.Unread)
			b.Queue(`INSERT INTO heard (grp, reviewer, text, tenant, label, pull, stranger, said_at, unread)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
				ON CONFLICT (grp, reviewer, text) DO UPDATE SET tenant = excluded.tenant, label = excluded.label, pull = excluded.pull,
					stranger = excluded.stranger, said_at = excluded.said_at, unread = excluded.unread`,
				asText(group), asText(a.Reviewer), asText(a.Text), tenant, asText(a.Label), a.Pull, asText(a.Stranger),
				floorMicros(a.At), unread)
			b.Queue(`DELETE FROM heard WHERE grp = $1 AND reviewer = $2 AND text NOT IN
				(SELECT text FROM heard WHERE grp = $1 AND reviewer = $2 ORDER BY said_at DESC, unread, text LIMIT $3)`,
				asText(group), asText(a.Reviewer), keep)
		}
	})
}

// Heard returns the answers that are kept of a group.
func (s *Postgres) Heard(ctx context.Context, group string) ([]Heard, error) {
	rows, err := s.pool.Query(ctx, `SELECT reviewer, text, label, pull, stranger, said_at, unread FROM heard
		WHERE grp = $1 ORDER BY said_at DESC, unread, reviewer, text`, asText(group))
	if err != nil {
		return nil, s.explain("read answers", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Heard, err error) {
		var at int64
		var unread int
		err = row.Scan(&a.Reviewer, &a.Text, &a.Label, &a.Pull, &a.Stranger, &at, &unread)
		a.At, a.Unread = timeOfMicros(at), unread > 0
		return a, err
	})
	if err != nil {
		return nil, s.explain("read answers", err)
	}
	return slices.Clip(all), nil
}

// CountHeard counts answers by label.
func (s *Postgres) CountHeard(ctx context.Context, since time.Time) (map[string]HeardCount, error) {
	rows, err := s.pool.Query(ctx, `SELECT label, count(*), sum(unread) FROM heard WHERE said_at >= $1 GROUP BY label`, floorMicros(since))
	if err != nil {
		return nil, s.explain("count answers", err)
	}
	counts := map[string]HeardCount{}
	var label string
	var n HeardCount
	_, err = pgx.ForEachRow(rows, []any{&label, &n.Answers, &n.Unread}, func() error {
		counts[label] = n
		return nil
	})
	if err != nil {
		return nil, s.explain("count answers", err)
	}
	return counts, nil
}

// AddSigns keeps signs.
func (s *Postgres) AddSigns(ctx context.Context, tenant int64, group string, keep int, signs ...ServiceSign) (int, error) {
	signs = slices.Clone(signs)
	var added int64
	err := s.submit(ctx, s.lazy, "keep signs", []string{"group " + group}, func(b *pgx.Batch) {
		added = 0 // a batch may be sent twice
		for _, a := range signs {
			until := int64(0)
			if !a.Until.IsZero() {
				until = floorMicros(a.Until)
			}
			b.Queue(`INSERT INTO signs (grp, reviewer, kind, shown_by, tenant, pull, author, shown_at, until_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
				asText(group), asText(a.Reviewer), a.Kind, asText(a.Of), tenant, a.Pull, asText(a.Stranger), floorMicros(a.At), until,
			).Exec(func(tag pgconn.CommandTag) error { added += tag.RowsAffected(); return nil })
			b.Queue(`DELETE FROM signs WHERE grp = $1 AND reviewer = $2 AND (kind, shown_by) NOT IN
				(SELECT kind, shown_by FROM signs WHERE grp = $1 AND reviewer = $2
					ORDER BY shown_at DESC, kind DESC, pull DESC, shown_by DESC LIMIT $3)`, asText(group), asText(a.Reviewer), keep)
		}
	})
	if err != nil {
		return 0, err
	}
	return int(added), nil
}

// Signs returns the signs that are kept of a group.
func (s *Postgres) Signs(ctx context.Context, group string) ([]ServiceSign, error) {
	rows, err := s.pool.Query(ctx, `SELECT reviewer, kind, shown_by, pull, author, shown_at, until_at FROM signs
		WHERE grp = $1 ORDER BY shown_at, kind, pull, shown_by, reviewer`, asText(group))
	if err != nil {
		return nil, s.explain("read signs", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a ServiceSign, err error) {
		var at, until int64
		err = row.Scan(&a.Reviewer, &a.Kind, &a.Of, &a.Pull, &a.Stranger, &at, &until)
		if a.At = timeOfMicros(at); until != 0 {
			a.Until = timeOfMicros(until)
		}
		return a, err
	})
	if err != nil {
		return nil, s.explain("read signs", err)
	}
	return all, nil
}
