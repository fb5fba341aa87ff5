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

// holderName returns the name under which this process works. While others may take it for gone, it has none, but an
// errNoLifeline with the cause.
func (l *lifeline) holderName() (string, error) {
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

// setName notes the name under which it is connected, or "" and why it is not. It returns the name before, and whether the cause is
// another one.
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
	// A server that nobody answers gives up after 25 s at the earliest: by then a process that it cannot be reached by has noticed that
	// (three probes of its own), and sends GitHub nothing more, as its leases were not renewed.
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
