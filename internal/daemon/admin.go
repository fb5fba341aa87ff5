package daemon

// The admin listener: health, figures, the API and the dashboard. It changes nothing and asks for no password: it
// listens on a loopback address unless its operator decides otherwise. A page on the web could make a browser ask it
// through a name that resolves to its address: so it answers only to addresses and to the names that it is given.

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	longestSilence = 15 * time.Minute // failed requests are repeated more often than that
	startGrace     = 2 * time.Minute
	queueLate      = 5 * time.Minute
)

// Admin is the handler of the admin listener: health, figures, the API and the dashboard.
type Admin struct {
	Store    store.Store
	Metrics  *Metrics     // they know, too, when GitHub answered, and since when it has not
	Board    http.Handler // everything that is not health, figures or the API
	Wrote    func() error // the error of the last write to the table; nil: not known
	Draining func() bool
	Now      func() time.Time
	Log      *slog.Logger // nil: nothing is logged
	Refused  func() bool  // whether webhooks' connections cannot be accepted; nil: not known
	Hosts    []string     // names by which it may be asked, besides localhost and addresses
	Started  time.Time

	Queue func(context.Context) (store.Health, error) // its Oldest and Held, for readiness
	// Waits is until when a limit of GitHub's keeps us from asking for an installation; nil: not shown.
	Waits func(tenant int64) time.Time
}

// Handler serves. Callers that can reach the listener see titles and reviewers' words of every repository.
func (a Admin) Handler() http.Handler {
	a.Log = orDiscard(a.Log)
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", a.serveHealthz)
	mux.HandleFunc("/readyz", a.serveReadyz)
	mux.Handle("/metrics", a.Metrics.Handler())
	dashboard.API{Store: a.Store, Now: a.Now, Log: a.Log, Waits: a.Waits}.Routes(mux)
	mux.Handle("/", a.Board)
	return guardAdmin(mux, a.Hosts)
}

// guardAdmin refuses methods that could change something, and host names that are not ours.
func guardAdmin(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		dashboard.GuardHeaders(h)
		h.Set("Cache-Control", "no-store")
		switch {
		case !isOwnHost(r.Host, hosts):
			dashboard.WriteJSON(w, http.StatusForbidden, dashboard.ErrorAnswer{
				Error: "this listener is asked by another name than its own",
				Hint:  "ask by localhost or by its address; --admin-host allows a further name",
			})
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			dashboard.WriteJSON(w, http.StatusMethodNotAllowed, dashboard.ErrorAnswer{Error: "this listener only shows", Hint: "use GET"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isOwnHost reports whether a request's Host is localhost, an address or one of the names. It asks no resolver: the
// answer could be another a moment later. 0.0.0.0 is no address to ask, but for pages that some browsers let ask by it.
func isOwnHost(host string, names []string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	isNamed := func(name string) bool { return strings.EqualFold(host, name) }
	ip, err := netip.ParseAddr(host)
	return err == nil && !ip.Unmap().IsUnspecified() || isNamed("localhost") || slices.ContainsFunc(names, isNamed)
}

// healthAnswer is the JSON of /healthz.
type healthAnswer struct {
	OK       bool      `json:"ok"` // the process serves
	Started  time.Time `json:"started"`
	Draining bool      `json:"draining"`
}

func (a Admin) serveHealthz(w http.ResponseWriter, _ *http.Request) {
	dashboard.WriteJSON(w, http.StatusOK, healthAnswer{OK: true, Started: a.Started.UTC(), Draining: valueOf(a.Draining)})
}

// readyAnswer is the JSON of /readyz. Its status is 503 unless everything is as it should be, but for what the address
// excludes: /readyz?exclude=github is for a load balancer, which would else turn away what GitHub sends after an outage.
type readyAnswer struct {
	Ready  bool         `json:"ready"`
	Checks []readyCheck `json:"checks"`
}

type readyCheck struct {
	Name string `json:"name"` // database, github, queue, serving
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}

func (a Admin) serveReadyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), dashboard.ReadTimeout)
	defer cancel()
	now := a.Now()
	h, err := a.Queue(ctx)
	checks := []readyCheck{a.checkDatabase(ctx, err), a.checkGitHub(now), a.checkQueue(h, err, now), a.checkServing()}
	answer := readyAnswer{Ready: true, Checks: checks}
	status := http.StatusOK
	excluded := r.URL.Query()["exclude"]
	for _, c := range answer.Checks {
		if !c.OK && !slices.Contains(excluded, c.Name) {
			answer.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	dashboard.WriteJSON(w, status, answer)
}

// checkDatabase asks whether the table is read and written. A prune of nothing takes the way of every write.
func (a Admin) checkDatabase(ctx context.Context, read error) readyCheck {
	c := readyCheck{Name: "database", OK: true, Says: "reads and writes work"}
	fail := func(says string, err error) readyCheck {
		a.Log.WarnContext(ctx, "not ready: "+says, "err", err)
		return readyCheck{Name: c.Name, Says: says} // the error may name files: the log says more
	}
	if read != nil {
		return fail("it cannot be read", read)
	}
	if _, err := a.Store.Prune(ctx, time.Unix(0, 0), 1); err != nil {
		return fail("it cannot be written", err)
	}
	if err := valueOf(a.Wrote); err != nil { // on a full disk a write of nothing still works
		return fail("the last write failed", err)
	}
	return c
}

// checkGitHub asks whether GitHub answers. A quiet daemon asks nothing: GitHub is silent only if it was asked. A limit is an answer.
func (a Admin) checkGitHub(now time.Time) readyCheck {
	answered, silent := a.Metrics.Answered(), a.Metrics.Unanswered()
	c := readyCheck{Name: "github", OK: true}
	switch {
	case answered.IsZero() && silent.IsZero():
		c.Says = "not asked yet"
	case !answered.IsZero() && (silent.IsZero() || now.Sub(silent) < longestSilence):
		c.Says = fmt.Sprintf("answered %s ago", timeAgo(now, answered))
	case !answered.IsZero():
		c.OK, c.Says = false, fmt.Sprintf("has not answered for %s", timeAgo(now, answered))
	case now.Sub(silent) < startGrace:
		c.Says = fmt.Sprintf("has not answered yet: asked first %s ago", timeAgo(now, silent))
	default:
		c.OK, c.Says = false, "has not answered since the start"
	}
	return c
}

// checkQueue asks whether what is due is looked at. What waits for a limit is not in Oldest: see [Daemon.View].
func (a Admin) checkQueue(h store.Health, err error, now time.Time) readyCheck {
	c := readyCheck{Name: "queue", OK: h.Oldest < queueLate || now.Sub(a.Started) < startGrace}
	switch {
	case err != nil:
		c.OK, c.Says = false, "not known: the database cannot be read"
	case h.Oldest == 0:
		c.Says = "nothing waits"
	default:
		c.Says = fmt.Sprintf("the oldest has been due for %s", h.Oldest.Round(time.Second))
	}
	if n := len(h.Held); n > 0 {
		c.Says += fmt.Sprintf("; installations that wait for a limit of GitHub's: %d, until %s", n, h.HeldUntil().UTC().Format(time.RFC3339))
	}
	return c
}

func (a Admin) checkServing() readyCheck {
	if valueOf(a.Draining) {
		return readyCheck{Name: "serving", Says: "stopping: new deliveries are refused"}
	}
	if valueOf(a.Refused) {
		return readyCheck{Name: "serving", Says: "connections cannot be accepted: the log says why"}
	}
	return readyCheck{Name: "serving", OK: true, Says: "deliveries are accepted"}
}

// timeAgo returns the time from then to now, rounded as people read it.
func timeAgo(now, then time.Time) time.Duration {
	return max(now.Sub(then), 0).Round(time.Second)
}
