package store

// The processes that share a PostgreSQL database. Each has a lifeline: a connection that ends with the process,
// however that ends, so that others take over at once what it had. One that is halted, or whose machine is gone
// without a word, keeps it: then its leases run out.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

func ignoreRow(scanner) error { return nil }

// scanOne scans a row of one column.
func scanOne[T any](scan scanner) (one T, err error) {
	err = scan(&one)
	return one, err
}

// announceReplica begins a claim, of which one goes at a time, or two would serve the same tenant's turn. It says that
// this process lives, and takes over what others had whose lifeline has ended. Who gets the lock of a lifeline knows
// that nobody has it.
func announceReplica(ctx context.Context, tx session, name string, now, until int64) error {
	lock := statement{query: `SELECT pg_advisory_xact_lock(7020, 1)`, row: ignoreRow}
	if name == "" {
		return tx.runStatements(ctx, lock)
	}
	var dead []string
	err := tx.runStatements(ctx, lock, newStatement(
		`INSERT INTO replicas (name, until_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET until_at = excluded.until_at
			WHERE replicas.until_at < excluded.until_at - $3`, name, until, (until-now)/3,
	), statement{
		query: `SELECT name FROM replicas WHERE name <> $1 AND pg_try_advisory_xact_lock(7022, hashtext(name))`,
		args:  []any{name},
		row:   collectInto(&dead, scanOne[string]),
	})
	var all []statement
	for _, of := range dead {
		all = append(all, handingOn(of, now)...)
	}
	return cmp.Or(err, tx.runStatements(ctx, all...))
}

// handingOn are the statements by which a replica has nothing any more. It may still complete what it had leased.
func handingOn(name string, now int64) []statement {
	return []statement{
		newStatement(`DELETE FROM replicas WHERE name = $1`, name),
		newStatement(`UPDATE work SET due_at = since WHERE leased = 1 AND holder = $1 AND due_at > $2`, name, now),
	}
}

// ownTenants returns a function that reports whether a tenant is a replica's: no other one that lives comes before
// it, or has a lease of it. Without a name all are its own.
func ownTenants(ctx context.Context, from session, name string, now int64) (func(tenant int64) bool, error) {
	if name == "" {
		return func(int64) bool { return true }, nil
	}
	var others []string
	var leased []int64 // tenants with a lease of another's
	err := from.runStatements(ctx, statement{
		query: `SELECT name FROM replicas WHERE name <> $1 AND until_at > $2`, args: []any{name, now},
		row: collectInto(&others, scanOne[string]),
	}, statement{
		query: `SELECT DISTINCT tenant FROM work WHERE leased = 1 AND holder <> $1 AND due_at > $2`, args: []any{name, now},
		row: collectInto(&leased, scanOne[int64]),
	})
	return func(tenant int64) bool {
		rank := rankFor(name, tenant)
		for _, other := range others {
			if cmp.Or(cmp.Compare(rankFor(other, tenant), rank), cmp.Compare(other, name)) > 0 {
				return false
			}
		}
		return !slices.Contains(leased, tenant)
	}, err
}

// rankFor is the rank of a replica among all for a tenant.
func rankFor(name string, tenant int64) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", name, tenant))
	return binary.BigEndian.Uint64(sum[:])
}

// Retire says that this process claims nothing any more. Others still see to what it has leased, should it end
// before that is done.
func (s *Database) Retire(ctx context.Context) error {
	name, err := s.replica.holderName()
	if err != nil || name == "" {
		return err
	}
	return s.explainError("retire", s.reader.runStatements(ctx, newStatement(`UPDATE replicas SET until_at = 0 WHERE name = $1`, name)))
}

// errNoLifeline says that others may take this process for gone.
var errNoLifeline = errors.New("the connection that says that this process lives has ended: it is made anew")

// A lifeline is the connection, and the name under which it holds a lock. Each connection has a name of its own:
// whoever else still has the one before for alive is in nobody's way. It may be used by several goroutines.
type lifeline struct {
	s       *Database
	config  *pgx.ConnConfig
	replica string
	lost    func() // called when it has ended; may be nil
	count   int    // connections so far, of the goroutine that makes them

	mu    sync.Mutex
	name  string // "": there is no connection
	cause error  // why there is none

	stop    context.CancelFunc
	running sync.WaitGroup
}

// How long it waits before another try to connect: at first, and at most.
const (
	lifelinePause    = 200 * time.Millisecond
	maxLifelinePause = 5 * time.Second
)

// keepOpen connects, and connects again whenever the connection has ended, until it is stopped.
func (l *lifeline) keepOpen(ctx context.Context) error {
	conn, err := l.connectNamed(ctx)
	if err != nil {
		return err
	}
	staying, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.running.Go(func() {
		for conn != nil {
			was := l.awaitEnd(staying, conn)
			conn = l.reconnect(staying, was)
		}
	})
	return nil
}

// holderName returns the name under which this process works; "" without a lifeline: it works for all. While others
// may take it for gone, it has none, but an errNoLifeline with the cause.
func (l *lifeline) holderName() (string, error) {
	if l == nil {
		return "", nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == "" {
		return "", fmt.Errorf("%w: %w", errNoLifeline, l.cause)
	}
	return l.name, nil
}

// setName notes the name under which it is connected, or "" and why it is not. It returns the name before.
func (l *lifeline) setName(name string, cause error) (was string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was = l.name
	l.name, l.cause = name, cause
	return was
}

// connectNamed opens a connection and takes a lock by a new name.
func (l *lifeline) connectNamed(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return nil, err
	}
	l.count++
	name := fmt.Sprintf("%s.%d", l.replica, l.count)
	// A server that nobody answers gives up after 25 s at the earliest: by then a process that it cannot be reached by
	// has noticed that (three probes of its own), and sends GitHub nothing more, as its leases were not renewed.
	const hold = `SELECT set_config('idle_session_timeout', '0', false), set_config('tcp_keepalives_idle', '10', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '5', false),
		pg_advisory_lock(7022, hashtext($1))`
	if _, err := conn.Exec(ctx, hold, pgx.QueryExecModeSimpleProtocol, name); err != nil {
		_ = conn.Close(ctx) // the error before it tells more
		return nil, fmt.Errorf("say that this process lives: %w", err)
	}
	l.setName(name, nil)
	return conn, nil
}

// awaitEnd waits for the end of a connection, and returns its name.
func (l *lifeline) awaitEnd(ctx context.Context, conn *pgx.Conn) (was string) {
	var err error
	for err == nil {
		_, err = conn.WaitForNotification(ctx) // nobody sends one
	}
	was = l.setName("", err)
	if ctx.Err() == nil {
		if l.lost != nil {
			l.lost() // before anything that takes time: others may have got to work
		}
		l.s.log.Warn("the connection to the database has ended: evaluations under way are made again", "err", err)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ending) // it has ended, or is to end
	return was
}

// reconnect connects as often as it takes, and hands on what was done under a name; nil: ctx has ended.
func (l *lifeline) reconnect(ctx context.Context, was string) *pgx.Conn {
	for pause := lifelinePause; ctx.Err() == nil; pause = min(2*pause, maxLifelinePause) {
		conn, err := l.connectNamed(ctx)
		if err == nil {
			if err = l.s.reader.runStatements(ctx, handingOn(was, l.s.claimed.Load())...); err != nil {
				l.s.log.Warn("what this process had leased waits until that runs out", "err", err)
			}
			return conn
		}
		l.setName("", err)
		if pause == lifelinePause {
			l.s.log.Warn("the database cannot be reached: it is tried again", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}
