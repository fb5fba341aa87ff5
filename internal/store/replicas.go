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
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockClaims lets one claim go at a time, or two would serve the same tenant's turn.
var lockClaims = statement{query: `SELECT pg_advisory_xact_lock(7020, 1)`, row: ignoreRow}

func ignoreRow(scanner) error { return nil }

// scanOne scans a row of one column.
func scanOne[T any](scan scanner) (one T, err error) {
	err = scan(&one)
	return one, err
}

// announceReplica begins a claim: it says that this process lives, and takes over what others had whose lifeline
// has ended. Who gets the lock of a lifeline knows that nobody has it.
func announceReplica(ctx context.Context, tx session, name string, now, until int64) error {
	var dead []string
	err := tx.runStatements(ctx, lockClaims, newStatement(
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
// it, or has a lease of it.
func ownTenants(ctx context.Context, from session, name string, now int64) (func(tenant int64) bool, error) {
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

// handOnLeases hands on what this process has done under a name.
func (s *Database) handOnLeases(ctx context.Context, name string) error {
	return s.explainError("hand on leases", s.reader.runStatements(ctx, handingOn(name, s.claimed.Load())...))
}

// endReplica hands on what this process still has, and ends its lifeline.
func (s *Database) endReplica() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if name, err := s.replica.holderName(); err == nil {
		if err := s.handOnLeases(ctx, name); err != nil {
			s.log.Warn("other coordinators take over when what this one has claimed runs out", "err", err)
		}
	}
	s.replica.endForGood()
}

// errNoLifeline says that others may take this process for gone.
var errNoLifeline = errors.New("the connection that says that this process lives has ended: it is made anew")

// A lifeline is the connection, and the name under which it holds a lock. Each connection has a name of its own:
// whoever else still has the one before for alive is in nobody's way. It may be used by several goroutines.
type lifeline struct {
	config  *pgx.ConnConfig
	replica string
	lost    func()                                      // called when it has ended; may be nil
	renamed func(ctx context.Context, was string) error // called when it is there again
	log     *slog.Logger

	mu    sync.Mutex
	name  string // "": there is no connection
	cause error  // why there is none, as far as it was tried
	count int    // connections so far

	stop    context.CancelFunc
	running sync.WaitGroup
}

// How long it waits before another try to connect: at first, and at most.
const (
	lifelinePause    = 200 * time.Millisecond
	maxLifelinePause = 5 * time.Second
)

// keepOpen connects, and connects again whenever the connection has ended, until it is ended for good.
func (l *lifeline) keepOpen(ctx context.Context) error {
	conn, err := l.connectNamed(ctx)
	if err != nil {
		return err
	}
	staying, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.running.Go(func() { l.stayConnected(staying, conn) })
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
	switch {
	case l.name != "":
		return l.name, nil
	case l.cause != nil:
		return "", fmt.Errorf("%w: %w", errNoLifeline, l.cause)
	}
	return "", errNoLifeline
}

// setName notes the name under which it is connected, or "" and why it is not. It returns the name before, and
// whether the cause is another one.
func (l *lifeline) setName(name string, cause error) (was string, isNews bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was = l.name
	isNews = cause != nil && (l.cause == nil || l.cause.Error() != cause.Error())
	l.name, l.cause = name, cause
	return was, isNews
}

// connectNamed opens a connection and takes a lock by a new name.
func (l *lifeline) connectNamed(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.count++
	name := fmt.Sprintf("%s.%d", l.replica, l.count)
	l.mu.Unlock()
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

// stayConnected waits for the end of a connection and makes another one, until ctx ends.
func (l *lifeline) stayConnected(ctx context.Context, conn *pgx.Conn) {
	for {
		_, err := conn.WaitForNotification(ctx) // nobody sends one
		if err == nil {
			continue
		}
		was, _ := l.setName("", err)
		isForGood := ctx.Err() != nil
		if l.lost != nil && !isForGood {
			l.lost() // before anything that takes time: others may have got to work
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_ = conn.Close(ending) // it has ended, or is to end
		cancel()
		if isForGood {
			return
		}
		l.log.Warn("the connection to the database has ended: evaluations under way are made again", "err", err)
		if conn = l.reconnect(ctx, was); conn == nil {
			return
		}
	}
}

// reconnect connects as often as it takes, and hands on what was done under a name; nil: ctx has ended.
func (l *lifeline) reconnect(ctx context.Context, was string) *pgx.Conn {
	for pause := lifelinePause; ; pause = min(2*pause, maxLifelinePause) {
		conn, err := l.connectNamed(ctx)
		if err == nil {
			if err = l.renamed(ctx, was); err != nil {
				l.log.Warn("what this process had leased waits until that runs out", "err", err)
			}
			return conn
		}
		if _, isNews := l.setName("", err); isNews && ctx.Err() == nil {
			l.log.Warn("the database cannot be reached: it is tried again", "err", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// endForGood ends it: others take over what this process had.
func (l *lifeline) endForGood() {
	l.stop()
	l.running.Wait()
}
