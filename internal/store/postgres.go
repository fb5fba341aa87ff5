package store

// The store in a PostgreSQL database: opening it, and its transactions.

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

const (
	leastPostgres    = 140_000 // server_version_num
	connectTimeout   = 10 * time.Second
	statementTimeout = 20 * time.Second // of the server; a client gives up a little later
	leastConns       = 12               // five write, and workers read what they know of GitHub
	readyConns       = 6                // open before they are needed: each takes the server a process
)

// connectionSettings are set in one round trip: a look's first requests may open a dozen connections. A client that does
// not take what it is sent must not keep others from what it has locked.
var connectionSettings = fmt.Sprintf(`SET lock_timeout = '15s'; SET idle_in_transaction_session_timeout = '10s';
	SET tcp_user_timeout = '15s'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
	SET statement_timeout = %d`, statementTimeout.Milliseconds())

// A postgresServer is the backend of a [Database] in PostgreSQL.
type postgresServer struct{ pool *pgxpool.Pool }

// OpenPostgres opens the tables in the database of a URL (postgres://USER@HOST/NAME?search_path=SCHEMA), and
// creates them if they are not there. ctx bounds the opening alone. No error holds the URL's password.
func OpenPostgres(ctx context.Context, url string, o Options) (*Database, error) {
	return openPostgres(ctx, url, o, migrations)
}

func openPostgres(ctx context.Context, url string, o Options, files fs.FS) (*Database, error) {
	pool, err := connectPostgres(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("open the PostgreSQL database: %w", err)
	}
	s := newDatabase(o)
	s.isShared = true
	s.reader = postgresSession{pool} // as the lifeline hands leases on by it
	if err = migratePostgres(ctx, pool, files); err == nil && o.Replica != "" {
		s.replica = &lifeline{s: s, config: pool.Config().ConnConfig, replica: asText(o.Replica), lost: o.Lost}
		err = s.replica.keepOpen(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the PostgreSQL database: %w", err)
	}
	s.backend = postgresServer{pool}
	s.startWriters(postgresWriters)
	return s, nil
}

// connectPostgres connects to the server of a URL, and refuses one that is too old, that a pooler hides, or that
// has another program's tables.
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
	config.MinConns = max(config.MinConns, readyConns)
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "review-coordinator"
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { // a pooler takes few settings with the connection
		_, err := conn.Exec(ctx, connectionSettings, pgx.QueryExecModeSimpleProtocol)
		return err
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

// checkServer refuses a server that is too old, and a schema with another program's tables, or without some of ours. One
// in which only goose has begun belongs to no program: a first start was cut short there.
func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	ours := []string{ // of the first schema
		"goose_db_version", "deliveries", "work", "sights", "tenants", "replicas", "counters", "notes", "answers",
	}
	var version, tables int
	var missing []string
	err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::integer,
		(SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'goose_db_version'),
		ARRAY(SELECT t FROM unnest($1::text[]) AS t WHERE to_regclass(quote_ident(current_schema()) || '.' || t) IS NULL)`,
		ours).Scan(&version, &tables, &missing)
	switch {
	case err != nil:
		return fmt.Errorf("read its version and tables: %w", err)
	case version < leastPostgres:
		return fmt.Errorf("%w: its version is %d.%d, and it must be 14 or newer", ErrUnfitServer, version/10_000, version%10_000)
	case len(missing) == 0, tables == 0 && slices.Contains(missing, "goose_db_version"):
		return nil
	case len(missing) == len(ours) || slices.Contains(missing, "goose_db_version"):
		return fmt.Errorf("%w: give the coordinator a database or a schema of its own (…?search_path=SCHEMA)", ErrForeignDatabase)
	}
	if tables == 0 { // goose makes its own first
		var migrated int64
		err := pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&migrated)
		if err != nil || migrated == 0 {
			return err
		}
	}
	return fmt.Errorf("%w, %s, were dropped: drop the others of the coordinator, too, goose_db_version as well, or give it an empty schema "+
		"(…?search_path=SCHEMA): that costs time alone", ErrTablesGone, strings.Join(missing, ", "))
}

// checkPooler refuses a pooler that gives each transaction a session of its own: the lock of a migration would be
// another's. It shows by two connections that have one server process.
func checkPooler(ctx context.Context, pool *pgxpool.Pool) error {
	var before, within, after int
	ask := func(from interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	}, process *int,
	) error {
		return from.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(process)
	}
	err := pool.AcquireFunc(ctx, func(first *pgxpool.Conn) error {
		if err := ask(first, &before); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return errors.Join(ask(tx, &within), ask(first, &after)) })
	})
	switch {
	case err != nil:
		return fmt.Errorf("connect: %w", err)
	case before == within || before != after:
		return fmt.Errorf("%w: a pooler in transaction mode stands before it: connect to PostgreSQL itself, or in session mode",
			ErrUnfitServer)
	}
	return nil
}

// A Server is a server of PostgreSQL's as it stands.
type Server struct {
	Version    string
	Replicas   int           // other named processes that have the tables
	ClockAhead time.Duration // of a moment that is now by ours, and some milliseconds for the way
}

// Server describes the server; SQLite has none, and our clock.
func (s *Database) Server(ctx context.Context, now time.Time) (server Server, err error) {
	name, err := s.replica.holderName()
	if err != nil || !s.isShared {
		return server, err
	}
	var clock time.Time
	err = s.readRows(ctx, "describe the server", statement{
		query: `SELECT current_setting('server_version'), clock_timestamp(),
			(SELECT count(*) FROM replicas WHERE until_at > $1 AND name <> $2)`,
		args: []any{floorMicros(now), name},
		row:  scanInto(&server.Version, &clock, &server.Replicas),
	})
	server.ClockAhead = clock.Sub(now)
	return server, err
}

// IsShared reports whether other processes may have the tables, too: they are PostgreSQL's.
func (s *Database) IsShared() bool { return s.isShared }

// migratePostgres brings the tables to the schema of some migrations. Another process that does so at the same time
// is waited for, and older programs go on beside it: what a migration may do stands in decision 21.
func migratePostgres(ctx context.Context, pool *pgxpool.Pool, files fs.FS) (err error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("lock its schema: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrateTables(ctx, goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
}

func (p postgresServer) tidyUp() {}

func (p postgresServer) closeAll(bool) error {
	p.pool.Close()
	return nil
}

// runTransaction runs a transaction that first locks names, always in the same order: two that touch the same rows
// wait for each other, and never each for the other. It is run again if another one was in its way all the same.
func (p postgresServer) runTransaction(names []string, do func(tx session) error) (changed bool, err error) {
	var first []statement
	if len(names) > 0 {
		first = append(first, statement{query: `SELECT pg_advisory_xact_lock(h) FROM (
			SELECT DISTINCT hashtextextended(name, 7020) AS h FROM unnest(CAST($1 AS text[])) AS name ORDER BY h
		) AS hashes`, args: []any{names}, row: ignoreRow})
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*statementTimeout+connectTimeout)
		err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			to := postgresSession{tx}
			if err := to.runStatements(ctx, first...); err != nil {
				return err
			}
			return do(to)
		})
		cancel()
		var said *pgconn.PgError
		if !errors.As(err, &said) || said.Code != "40001" && said.Code != "40P01" { // serialization_failure, deadlock_detected
			break
		}
	}
	return err == nil, err
}
