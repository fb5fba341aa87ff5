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

	"github.com/review-coordinator/coordinator/internal/dashboard"
)

// ServerOptions are the bounds of a server. Zero durations are the defaults.
type ServerOptions struct {
	ReadHeader time.Duration // for a request's headers; default 5s
	Read       time.Duration // for a request, its body included; default 15s
	Write      time.Duration // from the end of the headers to the end of the answer; default 30s
	Idle       time.Duration // between two requests on a connection; default 60s
	Metrics    *Metrics      // nil: nothing is counted
	Log        *slog.Logger  // nil: nothing is logged
}

const (
	maxHeaderBytes = 32 << 10 // to which net/http adds 4 KB
	maxConns       = 1024     // of each listener

	acceptRetry = 5 * time.Second // after which what failed would have failed again
)

// NewServer returns a server for a listener that the caller has. A stream that is to last longer than Write moves its
// deadline with [http.ResponseController].
func NewServer(handler http.Handler, o ServerOptions) *http.Server {
	log := orDiscard(o.Log)
	return &http.Server{
		Handler:           recoverPanics(handler, o.Metrics, log),
		ReadHeaderTimeout: cmp.Or(o.ReadHeader, 5*time.Second),
		ReadTimeout:       cmp.Or(o.Read, 15*time.Second),
		WriteTimeout:      cmp.Or(o.Write, 30*time.Second),
		IdleTimeout:       cmp.Or(o.Idle, time.Minute),
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

// recoverPanics answers 500 when a handler panics. If the answer has begun it is cut off: it must not look whole.
func recoverPanics(next http.Handler, m *Metrics, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &trackedWriter{ResponseWriter: w}
		defer func() {
			what := recover()
			if what == nil {
				return
			}
			if what == http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				panic(what)
			}
			if m != nil {
				m.panics.Inc()
			}
			log.Error("an HTTP handler panicked", "panic", quoteBounded(fmt.Sprint(what)), "stack", string(debug.Stack()))
			if t.began {
				panic(http.ErrAbortHandler)
			}
			dashboard.WriteJSON(w, http.StatusInternalServerError, dashboard.ErrorAnswer{
				Error: "this is a fault of the coordinator", Hint: "its log says more",
			})
		}()
		next.ServeHTTP(t, r)
	})
}

// trackedWriter remembers whether the answer has begun.
type trackedWriter struct {
	http.ResponseWriter
	began bool
}

func (t *trackedWriter) WriteHeader(status int) {
	t.began = t.began || status >= http.StatusOK
	t.ResponseWriter.WriteHeader(status)
}

func (t *trackedWriter) Write(p []byte) (int, error) {
	t.began = true
	return t.ResponseWriter.Write(p)
}

// Flush is for handlers that ask for an [http.Flusher] rather than for an [http.ResponseController].
func (t *trackedWriter) Flush() {
	t.began = true
	_ = http.NewResponseController(t.ResponseWriter).Flush() // a caller that has gone needs nothing
}

// Unwrap is for [http.ResponseController].
func (t *trackedWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }
