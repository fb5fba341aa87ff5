//go:build !action

package main

// coordinator serve --check: it says what is there and what is missing, and writes nothing on GitHub.

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
)

// checked is a GitHub on loopback, and the settings of a daemon for it.
type checked struct {
	t    *testing.T
	hub  *sandbox.Hub
	file string // the database
	env  map[string]string

	hooks, admin string // where it listens
}

const (
	checkSecret = "canary of a webhook"
	checkToken  = "ghp_canary"
)

// newChecked has an App that is installed on acme's repositories.
func newChecked(t *testing.T, o sandbox.HubOptions) *checked {
	t.Helper()
	o.App, o.PersonalToken = sandbox.App{Slug: "quorum-app", ID: 4711}, checkToken
	hub := sandbox.NewHub(o)
	hub.Add(77, sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App()}))
	hub.AfterRequest(func(r *http.Request, _ int) {
		if r.Method != http.MethodGet {
			t.Errorf("it sends %s %s", r.Method, r.URL.Path)
		}
	})
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	k := settings(t, server.URL)
	k.hub = hub
	return k
}

// settings are right for the App at an address.
func settings(t *testing.T, api string) *checked {
	t.Helper()
	return &checked{
		t: t, file: filepath.Join(ownFolder(t), "c.db"), hooks: "127.0.0.1:0", admin: "127.0.0.1:0",
		env: map[string]string{
			"GITHUB_API_URL":         api,
			"GITHUB_APP_ID":          "4711",
			"GITHUB_APP_PRIVATE_KEY": string(testKey()),
			"GITHUB_WEBHOOK_SECRET":  checkSecret,
		},
	}
}

// ownFolder is one that nobody else may read.
func ownFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// person gives it a personal token instead of the App.
func (k *checked) person(token string) {
	k.hub.Add(0, sandbox.New(sandbox.Options{Owner: "alice", Repo: "shop", TokenOwner: "alice"}))
	k.env["GITHUB_APP_ID"], k.env["GITHUB_APP_PRIVATE_KEY"], k.env["GITHUB_TOKEN"] = "", "", token
}

// want runs the program, which must end by itself, print what out and say what said matches, and no secret.
func (k *checked) want(code int, out, said string) {
	k.t.Helper()
	var stdout, stderr bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return k.env[name] }}
	got := c.Main(k.t.Context(), []string{"serve", "--check", "--listen", k.hooks, "--admin-listen", k.admin, "--database", "sqlite://" + k.file})
	for _, secret := range []string{"canary", "PRIVATE KEY", strings.Split(string(testKey()), "\n")[1]} {
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			k.t.Errorf("a secret is printed:\n%s%s", &stdout, &stderr)
		}
	}
	if got != code {
		k.t.Errorf("exit code %d, want %d", got, code)
	}
	if !regexp.MustCompile("^" + out + "$").MatchString(stdout.String()) {
		k.t.Errorf("it prints\n%s\nwant\n%s", &stdout, out)
	}
	if !regexp.MustCompile("^" + said + "$").MatchString(stderr.String()) {
		k.t.Errorf("it says\n%s\nwant\n%s", &stderr, said)
	}
}

// settled is what is said of settings that are right.
const settled = `ok  webhooks   http://127\.0\.0\.1:\d+/webhook, 1 secret
ok  admin      http://127\.0\.0\.1:\d+/
ok  database   .*/c\.db
`

const goodApp = settled + `ok  identity   the App quorum-app, 1 installation
`

const lame = `coordinator: 1 installation cannot be worked on as it should
hint: add the permissions and events in the App's settings, and accept them in each installation's
`

// An App that is not told of something would wait for the resync.
func TestServeCheckNamesMissingEvents(t *testing.T) {
	var most []string
	for _, event := range printedManifest(t).Events {
		if event != "status" && event != "issue_comment" && event != "merge_group" {
			most = append(most, event)
		}
	}
	k := newChecked(t, sandbox.HubOptions{Events: most})
	k.want(1, goodApp, "warning: the installation on acme is not subscribed to issue_comment, status\n"+lame)
}

func TestServeCheck(t *testing.T) {
	full := printedManifest(t).Permissions
	with := func(name, level string) map[string]string {
		grants := map[string]string{name: level}
		for other, level := range full {
			if other != name {
				grants[other] = level
			}
		}
		return grants
	}
	for _, test := range []struct {
		name   string
		grants map[string]string
		set    func(k *checked)
		code   int
		out    string // regexps of all that is printed
		said   string
	}{
		{"an App", full, nil, 0, goodApp, ""},
		{"an App that may do more", with("contents", "write"), nil, 0, goodApp, ""},
		{"an App that would not be told of merge queues", with("merge_queues", ""), nil, 0, goodApp, ""},
		{"an App beside a token: the job's, or a leftover", full, func(k *checked) { k.env["GITHUB_TOKEN"] = checkToken }, 0, goodApp, ""},
		{
			"two secrets, of which one is on its way out", full,
			func(k *checked) { k.env["GITHUB_WEBHOOK_SECRET"] += ", another canary of it" }, 0,
			strings.Replace(goodApp, "1 secret", "2 secrets", 1), "",
		},
		{
			"an App that is installed nowhere yet", full, func(k *checked) { k.hub.Uninstall(77) }, 0,
			settled + "ok  identity   the App quorum-app, 0 installations\n", "",
		},
		{"a suspended installation", full, func(k *checked) { k.hub.Suspend(77) }, 0, goodApp, "warning: the installation on acme is suspended\n"},
		{"no permission to write checks", with("checks", "read"), nil, 1, goodApp, "warning: the installation on acme lacks checks: write\n" + lame},
		{
			"no permission to run again, or for reviews", with("actions", "read"), nil, 1, goodApp,
			"warning: the installation on acme lacks actions: write\n" + lame,
		},
		{"no permission for comments: GitHub sends none of their events", with("issues", ""), nil, 1, goodApp, "warning: the installation on acme lacks issues: read\n" + lame},
		{"no permission for statuses: the same", with("statuses", ""), nil, 1, goodApp, "warning: the installation on acme lacks statuses: read\n" + lame},
		{"another App's key", full, func(k *checked) { k.env["GITHUB_APP_ID"] = "4712" }, 1, settled, `coordinator: sign in as App 4712: GET app: 401 .*
hint: GITHUB_APP_ID and the private key must be of the same App, and this machine's clock right
`},
		{"an App of another GitHub", full, func(k *checked) { k.hub.AddFault(sandbox.Fault{Match: "GET /app", Status: 404}) }, 1, settled, `coordinator: sign in as App 4711: GET app: 404 .*
hint: is GITHUB_API_URL the API of the GitHub that the App or the token is of\?
`},
		{"a token", full, func(k *checked) { k.person(checkToken) }, 0, settled + "ok  identity   a personal token of alice: commit statuses instead of checks, and failed deliveries are not asked for again\n", ""},
		{"a token that was revoked", full, func(k *checked) { k.person("ghp_old_canary") }, 1, settled, `coordinator: sign in with the token: GET user: 401 .*
hint: GitHub does not take the token: it is expired, revoked or mistyped
`},
		{"a key of another kind", full, func(k *checked) { k.env["GITHUB_APP_PRIVATE_KEY"] = ecKey(k.t) }, 2, "", `coordinator: open GitHub: the App's private key is no RSA key in PEM \(GITHUB_APP_PRIVATE_KEY\)
hint: GITHUB_APP_PRIVATE_KEY holds the text of the \.pem file that GitHub hands out; .*
`},
		{"a key that went through an .env file", full, func(k *checked) {
			k.env["GITHUB_APP_PRIVATE_KEY"] = strings.ReplaceAll(string(testKey()), "\n", `\n`)
		}, 0, goodApp, ""},
		{"a port that another program has", full, func(k *checked) { k.hooks = openPort(k.t) }, 2, "", `coordinator: --listen 127\.0\.0\.1:\d+: .*address already in use
hint: another program has that port, perhaps another coordinator; port 0 takes any that is free
`},
		{"the same of the admin listener", full, func(k *checked) { k.admin = openPort(k.t) }, 2, "", `coordinator: --admin-listen 127\.0\.0\.1:\d+: .*address already in use
hint: another program has that port, perhaps another coordinator; port 0 takes any that is free
`},
		{"a database that a daemon has", full, func(k *checked) { openTable(k.t, k.file) }, 2, "", `coordinator: open the database .*/c\.db: .*another coordinator uses it.*: stop that one, .*
`},
		{"a database of a newer coordinator", full, func(k *checked) { newerTable(k.t, k.file) }, 2, "", `coordinator: open the database .*/c\.db: a newer coordinator wrote it: its schema is 99, .*; run the newer program, .*
`},
		{"another program's file", full, func(k *checked) {
			if err := os.WriteFile(k.file, []byte("no database"), 0o600); err != nil {
				k.t.Fatal(err)
			}
		}, 2, "", `coordinator: open the database .*/c\.db: it is no SQLite database, or a damaged one: .*
hint: does --database or DATABASE_URL name the right file\? One that was the daemon's own may be moved away: only time is lost
`},
		{"another program's database", full, func(k *checked) {
			alter(k.t, k.file, `CREATE TABLE pages (title TEXT)`)
		}, 2, "", `coordinator: open the database .*/c\.db: another program's tables are in it
hint: give the daemon a file of its own; this one was left as it is
`},
		{"a folder that others may read", full, func(k *checked) {
			if err := os.Chmod(filepath.Dir(k.file), 0o755); err != nil {
				k.t.Fatal(err)
			}
		}, 0, goodApp, `warning: the folder of the database, .*, is open to others \(mode 0755\): it must be the daemon's own, with mode 0700
`},
		{"a key that others may read", full, func(k *checked) {
			file := filepath.Join(filepath.Dir(k.file), "app.pem")
			if err := os.WriteFile(file, testKey(), 0o600); err != nil {
				k.t.Fatal(err)
			}
			if err := os.Chmod(file, 0o644); err != nil {
				k.t.Fatal(err)
			}
			delete(k.env, "GITHUB_APP_PRIVATE_KEY")
			k.env["GITHUB_APP_PRIVATE_KEY_FILE"] = file
		}, 0, goodApp, `warning: the App's private key, .*/app\.pem, is open to others \(mode 0644\): chmod 0600 .*/app\.pem keeps it to the daemon's user
`},
		{"an admin listener for everybody", full, func(k *checked) { k.admin = "0.0.0.0:0" }, 0, strings.Replace(goodApp, `admin      http://127\.0\.0\.1`, `admin      http://\S+`, 1), `warning: the admin listener is at \S+:\d+, which other machines may reach, and asks nobody who they are: .*
`},
		{"an App that is refused without a permission being missed", full, func(k *checked) { k.hub.AddFault(sandbox.Fault{Match: "GET /app", Status: 403}) }, 1, settled, `coordinator: sign in as App 4711: GET app: 403 .*
hint: a proxy or a firewall may have answered, .*
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newChecked(t, sandbox.HubOptions{Permissions: test.grants})
			if test.set != nil {
				test.set(k)
			}
			k.want(test.code, test.out, test.said)
		})
	}
}

// What is asked again and again is asked in virtual time.
func TestServeCheckWithoutGitHub(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		settings(t, "http://127.0.0.1:1").want(1, settled, `coordinator: sign in as App 4711: GET app: .*refused.*
hint: nothing takes requests at that address: is GITHUB_API_URL right, and does no firewall stand between\? serve starts all the same, and waits for GitHub
`)
	})
}

// A proxy's page is asked for again and again, too.
func TestServeCheckBehindAProxy(t *testing.T) {
	testKey()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // a connection that waits would hold virtual time up
		io.WriteString(w, "<html>Sign in</html>")
	}))
	defer page.Close()
	synctest.Test(t, func(t *testing.T) {
		settings(t, page.URL).want(1, settled, `coordinator: sign in as App 4711: GET app: answer is no JSON
hint: something else answered: a proxy's page, or GITHUB_API_URL is GitHub's website; .*
`)
	})
}

// openPort is the address of a listener that stays open.
func openPort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// openTable is a daemon that has its database open.
func openTable(t *testing.T, file string) {
	t.Helper()
	table, err := store.OpenSQLite(file, store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
}

// newerTable is a database of a program that is to come.
func newerTable(t *testing.T, file string) {
	t.Helper()
	table, err := store.OpenSQLite(file, store.Options{})
	if err == nil {
		err = table.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	alter(t, file, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
}

// alter does something to a database that nobody has open.
func alter(t *testing.T, file, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
}

func ecKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}
