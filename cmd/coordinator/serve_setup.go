//go:build !action

package main

// coordinator serve setup: the App in one click. A page on loopback hands the manifest to GitHub and takes the code that
// comes back; key, secret and settings go into a folder of the person's own.

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

type setupCmd struct {
	Webhook      string        `                                  placeholder:"URL"       help:"Where GitHub will reach the daemon: https://HOST/webhook. It may be changed later, in the App's settings."`
	Organization string        `aliases:"org"                     placeholder:"ORG"       help:"Organisation that will own the App. Default: you."`
	Name         string        `default:"Review coordinator"      placeholder:"NAME"      help:"Name of the App, one that no other App on GitHub has. Default: ${default}. GitHub lets you change it before it is created."`
	Dir          string        `default:"review-coordinator-app"  placeholder:"FOLDER"    help:"Where key, secret and settings are written: a new folder, which is made. Default ${default}."`
	Listen       string        `default:"127.0.0.1:0"             placeholder:"HOST:PORT" help:"Where the page is, on this machine alone. Default ${default}: any free port."`
	Timeout      time.Duration `default:"30m"                                             help:"How long it waits for you. Default ${default}."`

	PrintManifest bool `help:"Print the App's manifest, and make nothing."`
}

// Run makes the App, or says why not, and leaves no listener behind.
func (cmd setupCmd) Run(ctx context.Context, c *command) (err error) {
	if cmd.Timeout < time.Second || cmd.Timeout > 24*time.Hour {
		return usageError(fmt.Errorf("--timeout %s is not between 1s and 24h", cmd.Timeout), "--timeout 30m is the default")
	}
	m, api, err := cmd.prepareManifest(c)
	if err != nil {
		return err
	}
	site := siteOfAPI(api)
	if cmd.PrintManifest {
		return printManifest(c, m, site, cmd.Organization)
	}
	folder, err := makeAppFolder(cmd.Dir)
	if err != nil {
		return err
	}
	defer folder.close()
	listener, err := cmd.listenLoopback(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()

	host := listener.Addr().String()
	m.Redirect = "http://" + host + setupReturnPath
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	var telling sync.Mutex // pages are asked for by several connections
	maker := &appMaker{
		github: client.Options{BaseURL: api, UserAgent: "review-coordinator"}, site: site, folder: folder,
		background: context.WithoutCancel(ctx), grace: &c.Grace, made: make(chan struct{}),
		warn: func(text string) {
			telling.Lock()
			defer telling.Unlock()
			c.printWarning(text)
		},
	}
	pages := &setupSite{host: host, pageKey: rand.Text(), state: rand.Text(), maker: maker}
	pages.page = setupView{
		Title: "Create " + m.Name, Manifest: string(text), Form: site.newAppURL(cmd.Organization) + "?state=" + pages.state,
		Text:        "GitHub asks once more, and lets you change the name. Then your browser comes back here, and the terminal says what comes next.",
		Permissions: appPermissions, Events: appEvents,
	}
	fmt.Fprintf(c.Stdout, "Open this page in a browser that is signed in to GitHub, and press its button:\n\n  %s\n\n", pages.pageAddress())
	fmt.Fprintf(c.Stdout, "Waiting until %s; Ctrl-C ends it.\n", time.Now().Add(cmd.Timeout).Format("15:04"))
	err = cmd.serveUntilMade(ctx, listener, pages)
	if unsaved := maker.unsavedError(); unsaved != nil {
		return unsaved
	}
	if err != nil {
		return err
	}
	cmd.printNext(c, folder.path, *maker.saved)
	return nil
}

// prepareManifest checks the flags, and returns the manifest without the address that it leads back to.
func (cmd setupCmd) prepareManifest(c *command) (m manifest, api string, err error) {
	if cmd.Webhook == "" {
		return m, "", usageError(
			errors.New("--webhook is missing: GitHub makes no App without the address at which it will reach the daemon"),
			"not known yet? Write the one that you mean to have, https://HOST/webhook on a host of yours: the App's settings change it at any time",
		)
	}
	if err := validateWebhookURL(cmd.Webhook); err != nil {
		return m, "", usageError(err, "--webhook https://HOST/webhook, as GitHub will reach it from outside; the App's settings change it at any time")
	}
	if api, err = c.apiURLFromEnv(); err == nil {
		err = validateAPIURL(api)
	}
	if err == nil && api != "" && !isPlainValue(api) {
		err = usageError(errors.New("GITHUB_API_URL has a sign that no environment file can hold"), "GITHUB_API_URL, if it is set, is https://HOST/api/v3")
	}
	if err != nil {
		return m, "", err
	}
	switch n := len([]rune(cmd.Name)); {
	case strings.TrimSpace(cmd.Name) == "" || n > maxAppName || oneLine(cmd.Name) != cmd.Name:
		return m, "", usageError(fmt.Errorf("--name has %d characters: GitHub takes 1 to %d, in one line", n, maxAppName), "")
	case cmd.Organization != "" && !orgNamePattern().MatchString(cmd.Organization):
		return m, "", usageError(
			fmt.Errorf("--org %q is no name of an organisation", cmd.Organization),
			"it is the last part of https://github.com/ORG",
		)
	}
	return newManifest(cmd.Webhook, cmd.Name), api, nil
}

// listenLoopback opens a port that no other machine reaches: the code that comes there opens the App's key.
func (cmd setupCmd) listenLoopback(ctx context.Context) (net.Listener, error) {
	l, err := listenLimited(ctx, bindTCP, "--listen", cmd.Listen, daemon.ListenerOptions{})
	if err != nil {
		return nil, err
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		l.Close()
		return nil, usageError(
			fmt.Errorf("--listen %s is reached by other machines", oneLine(cmd.Listen)),
			"--listen 127.0.0.1:47110 and ssh -L 47110:127.0.0.1:47110 SERVER show the page of a server on your own machine",
		)
	}
	return l, nil
}

// serveUntilMade shows the page until the App is made, or ctx ends.
func (cmd setupCmd) serveUntilMade(ctx context.Context, l net.Listener, pages *setupSite) (err error) {
	server := &http.Server{
		Handler: pages, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * exchangeTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	waited := time.NewTimer(cmd.Timeout)
	defer waited.Stop()
	select {
	case err = <-served:
		return fmt.Errorf("serve the page: %w", err)
	case <-pages.maker.made:
	case <-ctx.Done():
		err = fmt.Errorf("wait for the App: %w", ctx.Err())
	case <-waited.C:
		err = hintedError(
			fmt.Errorf("no App was made within %s", cmd.Timeout),
			"close GitHub's page: nobody takes its answer any more. Then start again, perhaps with a longer --timeout",
		)
	}
	if pages.maker.endMaking() {
		err = nil
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second) // for the last page
	defer done()
	if server.Shutdown(ending) != nil {
		server.Close()
	}
	return err
}

// printNext says what to do with the files.
func (cmd setupCmd) printNext(c *command, folder string, app savedApp) {
	at := func(name string) string { return filepath.Join(folder, name) }
	fmt.Fprintf(c.Stdout, "\nThe App %s of %s is made.\n\n", app.name, app.owner)
	for _, line := range [][2]string{
		{appKeyFile, "its private key"},
		{appSecretFile, "the secret that signs what GitHub sends"},
		{appEnvFile, "the settings of coordinator serve"},
	} {
		fmt.Fprintf(c.Stdout, "  %s: %s\n", at(line[0]), line[1])
	}
	env := filepath.ToSlash(at(appEnvFile))
	fmt.Fprintf(c.Stdout, `
Only you can read them: whoever has them can act as the App, and GitHub does not show them again.

Next:
  1. Ask whether all is well:  set -a; . %[2]s; set +a; coordinator serve --check
  2. Start it, with these settings; --database sqlite://PATH says where its database is, else it is in that folder:
       in that shell   coordinator serve
       under systemd   EnvironmentFile=%[2]s
       with docker     --env-file %[2]s -v %[3]s:%[3]s:ro
  3. Install the App on repositories that have a policy: %[1]s
     coordinator init --policy-only, in a clone of one, writes a first policy.
`, app.installURL, env, filepath.ToSlash(at(appKeyFile)))
	if app.ownSecret {
		fmt.Fprintf(c.Stdout, "  4. GitHub made no webhook secret. Put what is in %s into the App's settings, as Webhook secret: %s\n",
			at(appSecretFile), app.settingsURL)
	}
	if cmd.Organization != "" && !strings.EqualFold(cmd.Organization, app.owner) {
		c.printWarning(fmt.Sprintf("the App belongs to %s, and not to %s: is that what you wanted?", app.owner, cmd.Organization))
	}
}

// exchangeTimeout is how long GitHub may take to hand out the key.
const exchangeTimeout = 30 * time.Second

// keyGrace is how long the key may take to reach the disk.
const keyGrace = 10 * time.Second

// A savedApp is an App whose files are written.
type savedApp struct {
	name, owner, installURL, settingsURL string
	ownSecret                            bool // GitHub made none, or one that cannot be used: it must be told ours
}

// An appMaker exchanges the code and writes the files. What it has it does not lose: after a failure it goes on where
// it was.
type appMaker struct {
	github     client.Options
	site       githubSite
	folder     *appFolder
	warn       func(string)
	background context.Context // in which an exchange ends that a browser or a signal would cut off
	grace      *atomic.Int64   // how long a stop may take: as long as an exchange while GitHub shows the key
	made       chan struct{}   // closed once the files are written

	mu     sync.Mutex
	app    *client.NewApp // as GitHub handed it out; nil: not yet
	saved  *savedApp      // nil: not yet
	closed bool           // nothing new is begun
}

// endMaking waits for what is under way, which may be the one moment at which GitHub shows the key, and lets nothing new
// begin. It reports whether the App's files are written.
func (m *appMaker) endMaking() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.saved != nil
}

// makeApp makes the App of a code, once. Errors are told to the terminal.
func (m *appMaker) makeApp(code string) (savedApp, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.saved != nil:
		return *m.saved, nil
	case m.closed:
		return savedApp{}, errors.New("the program ends")
	}
	m.grace.Store(int64(exchangeTimeout + keyGrace))
	defer m.grace.Store(0)
	if m.app == nil {
		asking, cancel := context.WithTimeout(m.background, exchangeTimeout)
		defer cancel()
		app, err := client.ExchangeManifestCode(asking, m.github, code)
		if err != nil {
			m.warn("GitHub did not hand out the App's key: " + err.Error() + "; " + exchangeHint(err))
			return savedApp{}, err
		}
		m.app = &app
	}
	saved := m.describeApp()
	secret := m.app.WebhookSecret
	if saved.ownSecret = !usableSecret().MatchString(secret); saved.ownSecret {
		secret = rand.Text()
	}
	err := m.folder.writeFiles([]newFile{
		{path: appKeyFile, content: m.app.Key, mode: 0o600},
		{path: appSecretFile, content: []byte(secret + "\n"), mode: 0o600},
		{path: appEnvFile, content: []byte(m.envFileText(secret)), mode: 0o600},
	})
	if err != nil {
		m.warn("the App is made, and its key could not be written into " + m.folder.path + ": " + err.Error() +
			"; do not stop this program, which holds the only copy: mend that, and reload the page in the browser")
		return savedApp{}, fmt.Errorf("write the App's key: %w", err)
	}
	m.saved = &saved
	close(m.made)
	return saved, nil
}

// usableSecret matches what a webhook's secret may be: a line that needs no quotes, and is not taken for several.
var usableSecret = lazy.Regexp(`^[A-Za-z0-9_+/=.-]{16,200}$`)

// describeApp returns the App's names and addresses, without a word that could mislead.
func (m *appMaker) describeApp() savedApp {
	s := savedApp{name: strconv.Quote(m.app.Name), owner: m.app.Owner}
	if !orgNamePattern().MatchString(s.owner) {
		s.owner = "an account that GitHub did not name"
	}
	s.installURL = m.site.webURL + "/settings/apps"
	s.settingsURL = s.installURL
	if rest, ok := strings.CutPrefix(m.app.Page, m.site.webURL+"/"); ok && appPagePath().MatchString(rest) {
		s.installURL = m.app.Page + "/installations/new"
	}
	return s
}

// appPagePath matches the path of an App's page: on github.com, and on a GitHub Enterprise Server.
var appPagePath = lazy.Regexp(`^(?:github-)?apps/[A-Za-z0-9-]+$`)

// envFileText returns the settings of serve as lines that a shell, systemd and docker read alike.
func (m *appMaker) envFileText(secret string) string {
	lines := []string{
		"# Settings of coordinator serve, made by coordinator serve setup. Whoever reads this can act as the App.",
		"GITHUB_APP_ID=" + strconv.FormatInt(m.app.ID, 10),
		"GITHUB_APP_PRIVATE_KEY_FILE=" + filepath.ToSlash(filepath.Join(m.folder.path, appKeyFile)),
		"GITHUB_WEBHOOK_SECRET=" + secret,
	}
	if m.github.BaseURL != "" {
		lines = append(lines, "GITHUB_API_URL="+m.github.BaseURL)
	}
	return strings.Join(lines, "\n") + "\n"
}

// unsavedError says what to do about an App whose key is lost; nil if none is.
func (m *appMaker) unsavedError() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.app == nil || m.saved != nil {
		return nil
	}
	return hintedError(
		errors.New("the App is made, and its key was written nowhere"),
		"generate another private key in the App's settings, and set a webhook secret of your own there; or delete the App and start again",
	)
}

// exchangeHint says what helps when GitHub hands out no key.
func exchangeHint(err error) string {
	switch {
	case client.IsNotFound(err), client.IsUnprocessable(err), errors.Is(err, client.ErrNoManifestCode):
		return "the code is more than an hour old, or was used: delete the App if it is there, and press the button of the first page again"
	case client.IsForbidden(err):
		return "GitHub may take no more requests without an account from this network for now: reload the page in the browser later, within the hour"
	}
	return "reload the page in the browser to try again, within the hour"
}
