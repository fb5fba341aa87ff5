//go:build !action

package main

// coordinator serve: the daemon with its two listeners. One is open to GitHub and takes webhooks; the other is for the
// people who run it. Everything that can be wrong with the settings is found before anything listens.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/store"
)

type serveCmd struct {
	Listen      string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where GitHub's webhooks come in, as POST /webhook. Default ${default}; put a proxy with TLS before it."`
	AdminListen string        `default:"127.0.0.1:9090" placeholder:"HOST:PORT" help:"Where the dashboard, health, metrics and API are. Default ${default}; keep it private."`
	Database    string        `                         placeholder:"URL"       help:"Where the daemon keeps what it must not lose: sqlite://PATH, or postgres://USER@HOST/NAME for several daemons. Default DATABASE_URL, else sqlite://review-coordinator.db."`
	PublicURL   string        `                         placeholder:"URL"       help:"The dashboard's address for those who read checks, https://HOST: each check's details lead to its page. Default PUBLIC_URL."`
	AdminHost   []string      `                         placeholder:"NAME"      help:"A name by which the dashboard may be asked for, besides localhost, addresses and the host of --public-url. Repeatable."`
	Resync      time.Duration `default:"5m"                                     help:"How often failed deliveries are asked for again and changed pull requests looked at. Default ${default}."`
	Check       bool          `                                                 help:"Only check the settings, the database and the access to GitHub, and say so."`
	JSON        bool          `help:"With --check: print JSON." name:"json"`
	organisationFlag
}

// Run serves until ctx ends.
func (cmd serveCmd) Run(ctx context.Context, c *command) error {
	secrets, noSecret := cmd.webhookSecrets(c)
	var noResync, noHost error
	for _, host := range cmd.AdminHost {
		if host == "" || strings.ContainsAny(host, ":/") {
			noHost = usageError(fmt.Errorf("--admin-host %s is no name", oneLine(host)), "write the name alone, without a port: coordinator.internal")
		}
	}
	if cmd.Resync < time.Second || cmd.Resync > 24*time.Hour {
		noResync = usageError(fmt.Errorf("--resync %s is not between 1s and 24h", cmd.Resync), "--resync 5m is the default")
	}
	database, noDatabase := parseDatabaseAddress(cmp.Or(cmd.Database, c.Getenv("DATABASE_URL"), "sqlite://review-coordinator.db"))
	noRepository := cmd.checkRepository()
	identity, noIdentity := cmd.githubIdentity(c)
	places := placesOf(identity.BaseURL)
	var noBoard error
	if places.Board, noBoard = parsePublicURL("--public-url", cmd.PublicURL); cmd.PublicURL == "" {
		places.Board, noBoard = parsePublicURL("PUBLIC_URL", c.Getenv("PUBLIC_URL"))
	}
	adminHosts := cmd.AdminHost
	if board, err := url.Parse(places.Board); err == nil && board.Hostname() != "" {
		adminHosts = append(adminHosts, board.Hostname())
	}
	log := c.logFrom(slog.LevelInfo) // decisions, warnings and errors
	if cmd.JSON && !cmd.Check {
		return usageError(errors.New("--json is given without --check"), "what serve does stands in its log; --check --json says what is set")
	}
	if cmd.Check {
		noDatabase = joinMistakes(noDatabase, tryDatabase(ctx, database, log), cmd.tryListeners(ctx))
	}
	if err := joinMistakes(noSecret, noIdentity, noDatabase, noBoard, noHost, noResync, noRepository); err != nil {
		if cmd.JSON {
			return errors.Join(c.writeJSON(checksAsJSON(c, err)), err)
		}
		return err
	}
	s, err := openServer(ctx, serverConfig{
		Listen: cmd.Listen, AdminListen: cmd.AdminListen, Database: database.file, Server: database.server, Secrets: secrets,
		GitHub: identity, Places: places, Resync: cmd.Resync, Log: log, Now: time.Now, PolicyRepository: cmd.PolicyRepository,
		AdminHosts: adminHosts, KeyFile: c.Getenv("GITHUB_APP_PRIVATE_KEY_FILE"),
	})
	switch stopped := ctx.Err() != nil && errors.Is(err, context.Canceled); {
	case stopped && !cmd.Check: // it was told to stop before it served
		return nil
	case err != nil:
		return err
	}
	defer s.close()
	if cmd.Check {
		return cmd.printCheck(ctx, c, s)
	}
	c.Grace.Store(int64(serveGrace))
	if c.Getenv("GOGC") == "" { // fewer collections in a burst for more memory, which is given back after it
		debug.SetGCPercent(150)
	}
	return s.serve(ctx)
}

// webhookSecrets reads the webhook's secrets. They are required: without one anybody could send events.
func (cmd serveCmd) webhookSecrets(c *command) ([]string, error) {
	text := c.Getenv("GITHUB_WEBHOOK_SECRET")
	if text == "" {
		return nil, usageError(
			errors.New("there is no webhook secret"),
			"set GITHUB_WEBHOOK_SECRET to what the App's settings hold; openssl rand -hex 32 makes a new one",
		)
	}
	secrets, err := daemon.ParseSecrets(text)
	if err != nil {
		return nil, usageError(
			err,
			"openssl rand -hex 32 makes one, for here and for the App's settings; several, separated by commas, are for the time in which one is replaced",
		)
	}
	return secrets, nil
}

// githubIdentity reads the App or the token that the daemon works with.
func (cmd serveCmd) githubIdentity(c *command) (client.Options, error) {
	o := client.Options{UserAgent: "review-coordinator"}
	var noAddress error
	o.BaseURL, noAddress = c.apiURLFromEnv()
	app, noIdentity := c.appFromEnv()
	switch o.Token = c.Getenv("GITHUB_TOKEN"); {
	case noIdentity != nil:
	case app != nil:
		app.Mint = nil // masking is for the log of a job, and this is none
		o.App, o.Token = app, ""
	case o.Token == "":
		noIdentity = usageError(
			errors.New("there is neither an App nor a token"),
			"set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY_FILE (coordinator serve setup makes an App and writes both), or GITHUB_TOKEN",
		)
	}
	return o, joinMistakes(noAddress, noIdentity)
}

// databaseHint returns a hint for a database that cannot be opened. It never advises to move a file that may belong to
// another program.
func databaseHint(err error) string {
	switch {
	case errors.Is(err, store.ErrInUse), errors.Is(err, store.ErrNewer): // they say it themselves
		return ""
	case errors.Is(err, store.ErrForeignDatabase):
		return "give the daemon a file of its own; this one was left as it is"
	case errors.Is(err, store.ErrNoDatabase):
		return "does --database or DATABASE_URL name the right file? One that was the daemon's own may be moved away: only time is lost"
	case errors.Is(err, fs.ErrPermission):
		return "the user who runs the daemon must be able to write the file and its folder"
	case errors.Is(err, syscall.EROFS):
		return "put it on a file system that is writable: a folder that systemd or the container lets the daemon write to"
	}
	return "its folder must be the daemon's own, and writable"
}

// parseDatabaseURL returns the PATH of sqlite://PATH, whose folder must exist.
func parseDatabaseURL(address string) (string, error) {
	path, ok := strings.CutPrefix(address, "sqlite://")
	switch {
	case !ok: // not quoted: it may hold a password
		return "", usageError(
			errors.New("the database is no address that is known"),
			"write it as sqlite://PATH, for example sqlite:///var/lib/review-coordinator/coordinator.db, or as postgres://USER@HOST:PORT/NAME",
		)
	case path == "" || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#\x00"):
		return "", usageError(
			fmt.Errorf("sqlite://%s names no file", oneLine(path)),
			"write it as sqlite://PATH, for example sqlite:///var/lib/review-coordinator/coordinator.db",
		)
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", usageError(
			fmt.Errorf("the folder of the database, %s, is not there", dir),
			"make it, and let only the daemon's user read it",
		)
	case err != nil:
		return "", usageError(fmt.Errorf("look at the folder of the database: %w", err), "")
	case !info.IsDir():
		return "", usageError(fmt.Errorf("%s is no folder", dir), "the database's address names a file in a folder")
	}
	return path, nil
}

// serverConfig configures a server.
type serverConfig struct {
	Listen, AdminListen string
	AdminHosts          []string // names by which the dashboard may be asked for
	KeyFile             string   // of the App; "": it has none
	Database            string   // file of SQLite
	Fleeting            bool     // of a demo: no fsync, and a short stop
	Server              string   // URL of a PostgreSQL database, instead
	Secrets             []string
	GitHub              client.Options
	Places              report.Places // Web, if it is "", is derived from the API's address
	Resync              time.Duration
	PolicyRepository    string // of the organisation; "": each owner's own
	Log                 *slog.Logger
	Now                 func() time.Time
	Tune                func(*daemon.Config) // of a demo or a test; may be nil
	Bind                bindFunc             // of a test; nil: TCP
}

func (o serverConfig) database() databaseAddress {
	return databaseAddress{file: o.Database, server: o.Server, fleeting: o.Fleeting}
}

// bindFunc opens a listener, without a limit on connections.
type bindFunc func(ctx context.Context, address string) (net.Listener, error)

func bindTCP(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// A server is the daemon with its listeners open.
type server struct {
	config          serverConfig
	store           *store.Database
	fleet           *github.Fleet
	daemon          *daemon.Daemon
	feed            *dashboard.Feed
	webhookListener *daemon.Listener
	adminListener   *daemon.Listener
	webhookServer   *http.Server
	adminServer     *http.Server
}

// openServer opens the database and the listeners, and serves nothing yet.
func openServer(ctx context.Context, o serverConfig) (_ *server, err error) {
	if o.Bind == nil {
		o.Bind = bindTCP
	}
	s := &server{config: o, feed: dashboard.NewFeed()}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var claims atomic.Pointer[daemon.Daemon] // nil: nothing is claimed yet
	voidClaims := func() {
		if d := claims.Load(); d != nil {
			d.VoidClaims()
		}
	}
	if s.store, err = openStore(ctx, o.database(), voidClaims, o.Log); err != nil {
		return nil, err
	}
	metrics := daemon.NewMetrics(daemon.MetricsOptions{
		Health: func(ctx context.Context) (store.Health, error) { return s.daemon.View().Health(ctx, o.Now()) },
		Heard: func(ctx context.Context) (map[string]store.HeardCount, error) {
			return daemon.CountHeard(ctx, s.daemon.View(), o.Now())
		},
		Circuits:  func() int { return s.daemon.OpenCircuits() },
		BegunAnew: s.store.Damaged != "",
		Presets:   review.Presets(),
		Budgets:   func() map[int64]client.Budget { return s.fleet.Budgets() },
		Version:   buildVersion(),
		Now:       o.Now,
		Log:       o.Log,
	})
	o.GitHub.Log, o.GitHub.Now, o.GitHub.Reserve, o.GitHub.Observed = o.Log, o.Now, true, metrics.Asked
	o.GitHub.Cache = s.store.Answers(keptAnswers)
	at := github.FleetOptions{PoolOptions: client.PoolOptions{Options: o.GitHub}, PolicyRepository: o.PolicyRepository}
	if s.fleet, err = github.NewFleet(at); err != nil {
		return nil, usageError(err, "GITHUB_TOKEN holds the token and nothing else")
	}
	o.Places.Web = cmp.Or(o.Places.Web, siteOfAPI(o.GitHub.BaseURL).webURL)
	config := daemon.Config{
		Store: s.store, Host: daemon.HostOf(s.fleet), Metrics: metrics, Feed: s.feed, Log: o.Log, Now: o.Now,
		Resync: o.Resync, Places: o.Places,
	}
	if o.Server != "" {
		config.Poll = sharedPoll
	}
	if o.Tune != nil {
		o.Tune(&config)
	}
	s.daemon = daemon.New(config)
	claims.Store(s.daemon)
	accept := daemon.ListenerOptions{Metrics: metrics, Log: o.Log}
	if s.webhookListener, err = listenLimited(ctx, o.Bind, "--listen", o.Listen, accept); err != nil {
		return nil, err
	}
	if s.adminListener, err = listenLimited(ctx, o.Bind, "--admin-listen", o.AdminListen, accept); err != nil {
		return nil, err
	}
	hooks := http.NewServeMux()
	hooks.Handle(
		daemon.WebhookPath,
		&daemon.Intake{Secrets: o.Secrets, Receive: s.daemon.Receive, Metrics: metrics, Log: o.Log, Now: o.Now},
	)
	s.webhookServer = daemon.NewServer(hooks, metrics, o.Log)
	board := &dashboard.Board{
		Store: s.daemon.View(), Feed: s.feed, Now: o.Now, Reached: metrics.Answered, Waits: s.daemon.Waits, Version: buildVersion(),
		BegunAnew: s.store.Damaged != "",
	}
	office := daemon.Admin{
		Store: s.daemon.View(), Metrics: metrics, Board: board.Handler(), Waits: s.daemon.Waits, Queue: s.daemon.Queue,
		Wrote: s.store.Wrote, Draining: s.daemon.Draining, Now: o.Now, Log: o.Log,
		Refused: s.webhookListener.Failed, Hosts: o.AdminHosts, Started: o.Now(),
	}
	s.adminServer = daemon.NewServer(office.Handler(), metrics, o.Log)
	return s, nil
}

const listenHint = "write it as HOST:PORT, with an address of this machine: 127.0.0.1:8080, or 0.0.0.0:8080 for all that it has"

// identityName describes the daemon's identity for its log.
func identityName(o client.Options) string {
	if o.App != nil {
		return "App " + strconv.FormatInt(o.App.ID, 10)
	}
	return "a personal token"
}

// listenLimited opens a listener with a limit on connections. An address without a port is refused: it would mean any
// port, so that a variable that is not set would open the dashboard to everybody, at an unknown place.
func listenLimited(ctx context.Context, open bindFunc, flag, address string, o daemon.ListenerOptions) (*daemon.Listener, error) {
	if _, port, err := net.SplitHostPort(address); address == "" || err == nil && port == "" {
		return nil, usageError(fmt.Errorf("%s %q has no port", flag, address), listenHint)
	}
	l, err := open(ctx, address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, usageError(
			fmt.Errorf("%s %s: %w", flag, oneLine(address), err),
			"another program has that port, perhaps another coordinator; port 0 takes any that is free",
		)
	case err != nil:
		return nil, usageError(fmt.Errorf("%s %s: %w", flag, oneLine(address), err), listenHint)
	}
	return o.Limit(l), nil
}

// close closes the listeners and the database. It may be called after serve.
func (s *server) close() {
	for _, l := range []*daemon.Listener{s.webhookListener, s.adminListener} {
		if l != nil {
			l.Close()
		}
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.config.Log.Error("the database could not be closed", "err", err)
		}
	}
}

// shutdownTimeout is how long requests under way may take after a stop; a demo has less than that for all of it.
const shutdownTimeout, demoShutdownTimeout = 3 * time.Second, time.Second

// serveGrace is how long all of a stop may take: what else is under way is given up, as by a crash: nothing is lost.
const serveGrace = 10 * time.Second

// serve works until ctx ends, or a listener fails.
func (s *server) serve(ctx context.Context) error {
	log := s.config.Log
	if err := refuseWrongClock(ctx, s.store); err != nil {
		return err
	}
	log.Info("the review coordinator serves", "version", buildVersion(),
		"webhook", "http://"+s.webhookListener.Addr().String()+daemon.WebhookPath,
		"dashboard", "http://"+s.adminListener.Addr().String()+"/", "database", s.config.database(),
		"identity", identityName(s.config.GitHub), "api", siteOfAPI(s.config.GitHub.BaseURL).apiURL, "resync", s.config.Resync)
	for _, warning := range s.warnings() {
		log.Warn("it serves, but not as it should", "because", warning)
	}
	group, working := errgroup.WithContext(ctx)
	for name, part := range map[string]struct {
		server   *http.Server
		listener *daemon.Listener
	}{"webhook": {s.webhookServer, s.webhookListener}, "admin": {s.adminServer, s.adminListener}} {
		group.Go(func() error {
			if err := part.server.Serve(part.listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", name, err)
			}
			return nil
		})
	}
	group.Go(func() error { return s.daemon.Run(working) })
	hopeless := make(chan error, 1)
	group.Go(func() error {
		err := watchDatabase(working, s.store, log)
		if err != nil {
			hopeless <- err
		}
		return err
	})
	group.Go(func() error {
		<-working.Done()
		log.Info("stopping: nothing new is accepted, evaluations under way are finished")
		s.daemon.Stop()
		s.feed.Close()
		requests := shutdownTimeout
		if s.config.Fleeting {
			requests = demoShutdownTimeout
		}
		ending, done := context.WithTimeout(context.WithoutCancel(ctx), requests)
		defer done()
		_ = s.webhookServer.Shutdown(ending) // a caller that does not end its request in time is no failure of ours
		if s.adminServer.Shutdown(ending) != nil {
			_ = s.adminServer.Close() // a browser that holds its stream open is cut off
		}
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	var err error
	select {
	case err = <-ended:
	case err = <-hopeless: // what reads or writes the database may hang for ever
		select {
		case err = <-ended:
		case <-time.After(serveGrace):
		}
	}
	log.Info("stopped")
	return err
}

// printCheck checks the listeners, the database and the access to GitHub, and prints each.
func (cmd serveCmd) printCheck(ctx context.Context, c *command, s *server) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c.printChecked("webhooks", "http://%s%s, %s", s.webhookListener.Addr(), daemon.WebhookPath, countNoun(len(s.config.Secrets), "secret"))
	c.printChecked("admin", "http://%s/", s.adminListener.Addr())
	for _, warning := range s.warnings() {
		c.printWarning(warning)
	}
	if err := printDatabase(ctx, c, s.config.database(), s.store); err != nil {
		return err
	}
	err := hintNotGitHub(checkFleet(ctx, c, s.fleet))
	if cmd.JSON {
		return errors.Join(c.writeJSON(checksAsJSON(c, err)), err)
	}
	return err
}

// hintNotGitHub adds a hint to an error that a proxy or a firewall seems to have caused.
func hintNotGitHub(err error) error {
	var said *exitError
	switch {
	case errors.Is(err, client.ErrTransport) && strings.Contains(err.Error(), "answer is no JSON"):
		return hintedError(
			err,
			"something else answered: a proxy's page, or GITHUB_API_URL is GitHub's website; of a GitHub Enterprise Server the API is https://HOST/api/v3",
		)
	case client.IsForbidden(err) && !errors.As(err, &said):
		return hintedError(
			err,
			"a proxy or a firewall may have answered, or GitHub takes no requests from this machine's address: look at the organisation's or the server's list of allowed addresses",
		)
	}
	return err
}
