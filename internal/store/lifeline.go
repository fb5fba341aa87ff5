package store

// A process's lifeline in a PostgreSQL database: a connection that ends with the process, however that ends, so that others take over
// at once what it had. One that is halted, or whose machine is gone without a word, keeps it: then its leases run out.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNoLifeline says that others may take this process for gone.
var errNoLifeline = errors.New("the connection that says that this process lives has ended: it is made anew")

// A lifeline is the connection, and the name under which it holds a lock. Each connection has a name of its own: whoever else still
// has the one before for alive is in nobody's way. It may be used by several goroutines.
type lifeline struct {
	config  *pgx.ConnConfig
	replica string
	lost    func()                                      // called when it has ended; may be nil
	renamed func(ctx context.Context, was string) error // called when it is there again
	log     *slog.Logger

	mu    sync.Mutex
	name  string // "": there is no connection
	count int    // connections so far

	stop    context.CancelFunc
	running sync.WaitGroup
}

const lifelinePause = 200 * time.Millisecond // before another try to connect

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

// holderName returns the name under which this process works; "" while others may take it for gone.
func (l *lifeline) holderName() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
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
	// A server that nobody answers gives up after 25 s at the earliest: by then a process that it cannot be reached by has noticed that
	// (three probes of its own), and sends GitHub nothing more, as its leases were not renewed.
	const hold = `SELECT set_config('idle_session_timeout', '0', false), set_config('tcp_keepalives_idle', '10', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '5', false),
		pg_advisory_lock(7022, hashtext($1))`
	if _, err := conn.Exec(ctx, hold, pgx.QueryExecModeSimpleProtocol, name); err != nil {
		_ = conn.Close(ctx) // the error before it tells more
		return nil, fmt.Errorf("say that this process lives: %w", err)
	}
	l.mu.Lock()
	l.name = name
	l.mu.Unlock()
	return conn, nil
}

// stayConnected waits for the end of a connection and makes another one, until ctx ends.
func (l *lifeline) stayConnected(ctx context.Context, conn *pgx.Conn) {
	for {
		_, err := conn.WaitForNotification(ctx) // nobody sends one
		if err == nil {
			continue
		}
		l.mu.Lock()
		was := l.name
		l.name = ""
		l.mu.Unlock()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_ = conn.Close(ending) // it has ended, or is to end
		cancel()
		if ctx.Err() != nil {
			return
		}
		if l.lost != nil {
			l.lost()
		}
		l.log.Warn("the connection to the database has ended: evaluations under way are made again", "err", err)
		if conn = l.reconnect(ctx, was); conn == nil {
			return
		}
	}
}

// reconnect connects as often as it takes, and hands on what was done under a name; nil: ctx has ended.
func (l *lifeline) reconnect(ctx context.Context, was string) *pgx.Conn {
	for {
		conn, err := l.connectNamed(ctx)
		if err == nil {
			if err = l.renamed(ctx, was); err != nil {
				l.log.Warn("what this process had leased waits until that runs out", "err", err)
			}
			return conn
		}
		timer := time.NewTimer(lifelinePause)
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
