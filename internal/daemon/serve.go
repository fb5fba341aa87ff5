package daemon

// The HTTP servers. net/http waits for ever by default: every wait here has an end, and every caller a bound.

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxHeaderBytes = 32 << 10 // to which net/http adds 4 KB
	maxConns       = 1024     // of each listener

	acceptRetry = 5 * time.Second // after which what failed would have failed again
)

// NewServer returns a server for a listener that the caller has. A stream that is to last longer than WriteTimeout moves its
// deadline with [http.ResponseController]. Its own faults are counted and logged; nil: they are not.
func NewServer(handler http.Handler, m *Metrics, log *slog.Logger) *http.Server {
	log = orDiscard(log)
	return &http.Server{
		Handler:           recoverPanics(handler, m, log),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second, // a request, its body included
		WriteTimeout:      30 * time.Second, // from the end of the headers to the end of the answer
		IdleTimeout:       time.Minute,      // between two requests on a connection
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mistakes of callers are not worth a line each
	}
}

// A Listener accepts a bounded number of connections at once; further ones wait in the kernel.
type Listener struct {
	net.Listener
	options ListenerOptions
	failed  atomic.Pointer[time.Time] // when one was not accepted last; nil: one was accepted since
}

// ListenerOptions configure a [Listener].
type ListenerOptions struct {
	Files   uint64       // how many files the process may open; 0: as many as the system allows
	Metrics *Metrics     // nil: nothing is counted
	Log     *slog.Logger // nil: nothing is logged
}

// connections is how many of each listener are taken at once: where few files can be open, some are left for the database
// and for GitHub.
func (o ListenerOptions) connections() int {
	return int(min(maxConns, max(cmp.Or(o.Files, openFilesLimit())/4, 8))) //nolint:gosec // it is at most maxConns
}

// Warning returns what to say where the process may open too few files; "" where it may open enough.
func (o ListenerOptions) Warning() string {
	if o.connections() == maxConns {
		return ""
	}
	return fmt.Sprintf("this process may open so few files that each listener takes %d connections at once instead of %d: %s",
		o.connections(), maxConns, fewFilesHint)
}

// fewFilesHint says how a process may open more files.
const fewFilesHint = "let it open more: LimitNOFILE=65536 in its systemd unit, or ulimit -n 65536"

// Limit returns a listener that accepts from l.
func (o ListenerOptions) Limit(l net.Listener) *Listener {
	o.Log = orDiscard(o.Log)
	return &Listener{Listener: netutil.LimitListener(l, o.connections()), options: o}
}

// Accept returns the next connection. A failure is the daemon's own, mostly for want of file descriptors: each is
// counted, and the first since a connection was accepted is logged.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	switch {
	case err == nil:
		l.failed.Store(nil)
	case !errors.Is(err, net.ErrClosed):
		if m := l.options.Metrics; m != nil {
			m.acceptErrors.Inc()
		}
		if now := time.Now(); l.failed.Swap(&now) == nil {
			l.options.Log.Error("connections cannot be accepted", "err", err, "remedy", fewFilesHint)
		}
	}
	return conn, err
}

// Failed reports whether connections cannot be accepted. That is tried again each second: where it is not, it works.
func (l *Listener) Failed() bool {
	at := l.failed.Load()
	return at != nil && time.Since(*at) < acceptRetry
}

// recoverPanics cuts an answer off when its handler panics: half of it must not look whole.
func recoverPanics(next http.Handler, m *Metrics, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			what := recover()
			if what == nil {
				return
			}
			if what != http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				if m != nil {
					m.panics.Inc()
				}
				log.Error("an HTTP handler panicked", "panic", quoteBounded(fmt.Sprint(what)), "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
