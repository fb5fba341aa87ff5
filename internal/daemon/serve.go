package daemon

// The HTTP servers. net/http waits for ever by default: every wait here has an end, and every caller a bound.

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
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

// Limit accepts a bounded number of connections at once. Further ones wait in the kernel.
func Limit(l net.Listener) net.Listener { return netutil.LimitListener(l, maxConns) }

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
				m.Panicked()
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
