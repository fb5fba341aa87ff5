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

// handOn has it that the replicas of a condition have nothing any more. They may still complete what they had leased.
const handOn = `WITH gone AS (DELETE FROM replicas WHERE %s RETURNING name)
	UPDATE work SET due_at = since FROM gone WHERE leased = 1 AND holder = gone.name AND due_at > $2`

// replicaAnnouncement begins a claim, of which one goes at a time, or two would serve the same tenant's turn. It says that this
// process lives, and takes over what others had whose lifeline has ended. Who gets the lock of a lifeline knows that
// nobody has it.
func replicaAnnouncement(name string, now, until int64) []statement {
	lock := statement{query: `SELECT pg_advisory_xact_lock(7020, 1)`, row: ignoreRow}
	if name == "" {
		return []statement{lock}
	}
	return []statement{
		lock,
		newStatement(`INSERT INTO replicas (name, until_at) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET until_at = excluded.until_at WHERE replicas.until_at < excluded.until_at - $3`,
			name, until, (until-now)/3),
		newStatement(fmt.Sprintf(handOn, `name <> $1 AND pg_try_advisory_xact_lock(7022, hashtext(name))`), name, now),
	}
}

// ownTenants returns a function that reports, once its statements have run, whether a tenant is a replica's: no other
// one that lives comes before it, or has a lease of it. Without a name all are its own.
func ownTenants(name string, now int64) (isOwn func(tenant int64) bool, reads []statement) {
	var others []string
	var leased []int64 // tenants with a lease of another's
	if name != "" {
		reads = []statement{{
			query: `SELECT name FROM replicas WHERE name <> $1 AND until_at > $2`,
			args:  []any{name, now},
			row:   collectInto(&others, scanOne[string]),
		}, {
			query: `SELECT DISTINCT tenant FROM work WHERE leased = 1 AND holder <> $1 AND due_at > $2`,
			args:  []any{name, now},
			row:   collectInto(&leased, scanOne[int64]),
		}}
	}
	return func(tenant int64) bool {
		return !slices.Contains(leased, tenant) && !slices.ContainsFunc(others, func(other string) bool {
			return cmp.Or(cmp.Compare(rankFor(other, tenant), rankFor(name, tenant)), cmp.Compare(other, name)) > 0
		})
	}, reads
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
	retire := newStatement(`UPDATE replicas SET until_at = 0 WHERE name = $1`, name)
	return s.explainError("retire", s.reader.runStatements(ctx, retire))
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

	stop func() // ends it, and waits for that
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
	staying, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	l.stop = func() { end(); running.Wait() }
	running.Go(func() {
		for conn != nil {
			conn = l.reconnect(staying, l.awaitEnd(staying, conn))
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
			err = l.s.reader.runStatements(ctx, newStatement(fmt.Sprintf(handOn, `name = $1`), was, l.s.claimed.Load()))
			if err != nil {
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
