//go:build !action

package main

// coordinator serve setup, played as a browser, GitHub and strangers play it.

import (
	"bytes"
	"context"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A setting is coordinator serve setup that runs, with a GitHub of its own.
type setting struct {
	t      *testing.T
	hub    *sandbox.Hub
	api    string // of an Enterprise Server, as it is on loopback
	dir    string
	page   string // its address
	out    *syncBuffer
	stderr *syncBuffer
	stop   context.CancelFunc
	ended  chan int
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/[0-9A-Z]+/`)

// startSetup starts it, and waits until it shows its page.
func startSetup(t *testing.T, o sandbox.HubOptions, flags ...string) *setting {
	t.Helper()
	o.App = sandbox.App{Slug: "quorum-app", ID: 4711}
	s := &setting{t: t, hub: sandbox.NewHub(o), dir: filepath.Join(t.TempDir(), "app"), out: &syncBuffer{}, stderr: &syncBuffer{}, ended: make(chan int, 1)}
	deadline.Describe(t, "it printed", func() string { return s.out.String() + s.stderr.String() })
	s.hub.Add(77, sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: s.hub.App()}))
	var c *command
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/conversions") && time.Duration(c.Grace.Load()) <= 30*time.Second {
			t.Errorf("while GitHub shows the key, a signal ends the program after %s", time.Duration(c.Grace.Load()))
		}
		s.hub.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	s.api = server.URL + "/api/v3"
	var ctx context.Context
	ctx, s.stop = context.WithCancel(t.Context())
	t.Cleanup(s.stop)
	shown, tell := io.Pipe()
	c = &command{
		Stdin: strings.NewReader(""), Stdout: io.MultiWriter(s.out, tell), Stderr: s.stderr,
		Getenv: func(name string) string { return map[string]string{"GITHUB_API_URL": s.api}[name] },
	}
	args := append([]string{"serve", "setup", "--webhook", "https://quorum.example.com/webhook", "--name", "Octo Quorum", "--dir", s.dir}, flags...)
	go func() {
		s.ended <- c.Main(ctx, args)
		tell.Close()
	}()
	s.page = <-firstMatch(pageAddress, shown)
	if s.page == "" {
		t.Fatalf("it ended with %d: %s", <-s.ended, s.stderr)
	}
	return s
}

// firstMatch reads to the end, and sends the first match; "" if there is none.
func firstMatch(pattern *regexp.Regexp, from io.Reader) <-chan string {
	found := make(chan string, 1)
	go func() {
		defer close(found)
		var all bytes.Buffer
		for b := make([]byte, 512); ; {
			n, err := from.Read(b)
			all.Write(b[:n])
			if at := pattern.FindString(all.String()); at != "" && len(found) == 0 {
				found <- at
			}
			if err != nil {
				return
			}
		}
	}()
	return found
}

// visit sends a request as a browser that follows no redirect.
func (s *setting) visit(method, address, host, body string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if req.Host = host; body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

var (
	formAction  = regexp.MustCompile(`<form action="([^"]+)" method="post">`)
	formContent = regexp.MustCompile(`<input type="hidden" name="manifest" value="([^"]+)">`)
)

// pressButton sends what the page's button sends, and returns where GitHub sends the browser on to.
func (s *setting) pressButton() string {
	s.t.Helper()
	res, text := s.visit(http.MethodGet, s.page, "", "")
	action, content := formAction.FindStringSubmatch(text), formContent.FindStringSubmatch(text)
	if res.StatusCode != 200 || action == nil || content == nil {
		s.t.Fatalf("%d, no form:\n%s", res.StatusCode, text)
	}
	res, said := s.visit(http.MethodPost, html.UnescapeString(action[1]), "", url.Values{"manifest": {html.UnescapeString(content[1])}}.Encode())
	if res.StatusCode != 302 {
		s.t.Fatalf("GitHub takes no such manifest: %d %s", res.StatusCode, said)
	}
	return res.Header.Get("Location")
}

// wait returns the exit code.
func (s *setting) wait() int {
	s.t.Helper()
	return <-s.ended
}

// env reads the environment file as docker does: nothing but lines NAME=VALUE, taken as they are.
func readEnv(t *testing.T, dir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && !strings.HasPrefix(line, "#") {
			env[name] = value
		}
	}
	return env
}

// tellsNoSecret checks that nothing that was printed or shown holds a secret of the App's.
func (s *setting) tellsNoSecret(dir string, shown ...string) {
	s.t.Helper()
	all := s.out.String() + s.stderr.String() + strings.Join(shown, "")
	key, err := os.ReadFile(filepath.Join(dir, "app.pem"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, secret := range []string{"PRIVATE KEY", strings.Split(string(key), "\n")[1], readEnv(s.t, dir)["GITHUB_WEBHOOK_SECRET"]} {
		if secret == "" || strings.Contains(all, secret) {
			s.t.Errorf("a secret is told:\n%s", all)
		}
	}
}

// The whole way: page, form, redirect, exchange, files; then serve --check is content, and serve takes what GitHub signs.
func TestServeSetupMakesAnAppThatServes(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{}, "--organization", "octo")
	back := s.pressButton()
	res, done := s.visit(http.MethodGet, back, "", "")
	if res.StatusCode != 200 || !strings.Contains(done, "&#34;Octo Quorum&#34; is made") ||
		!strings.Contains(done, "/github-apps/octo-quorum/installations/new") {
		t.Errorf("%d:\n%s", res.StatusCode, done)
	}
	if code := s.wait(); code != 0 {
		t.Fatalf("exit %d: %s", code, s.stderr)
	}
	s.tellsNoSecret(s.dir, done)
	for _, want := range []string{
		`The App "Octo Quorum" of octo is made.`, s.dir + "/env", "/github-apps/octo-quorum/installations/new", "coordinator serve --check",
	} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, s.out)
		}
	}
	if said := s.stderr.String(); said != "" {
		t.Errorf("it says %s", said)
	}
	for _, name := range []string{"app.pem", "webhook-secret", "env"} {
		if info, err := os.Lstat(filepath.Join(s.dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(s.dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(s.dir); len(left) != 3 {
		t.Errorf("%d files are in the folder", len(left))
	}

	k := &checked{t: t, hub: s.hub, file: filepath.Join(ownFolder(t), "c.db"), hooks: "127.0.0.1:0", admin: "127.0.0.1:0", env: readEnv(t, s.dir)}
	if k.env["GITHUB_API_URL"] != s.api || k.env["GITHUB_APP_ID"] != "4711" || k.env["GITHUB_WEBHOOK_SECRET"] != s.hub.Created().Secret {
		t.Errorf("the settings are %q", k.env)
	}
	k.want(0, settled+"ok  identity   the App octo-quorum, 1 installation\n", "")
	s.takesWhatIsSigned(k.env, k.file)
}

// takesWhatIsSigned runs serve with these settings: it takes a delivery that GitHub signs, and no other.
func (s *setting) takesWhatIsSigned(env map[string]string, file string) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	log := &syncBuffer{}
	shown, tell := io.Pipe()
	c := &command{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.MultiWriter(log, tell),
		Getenv: func(name string) string { return env[name] },
	}
	ended := make(chan int, 1)
	go func() {
		ended <- c.Main(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--database", "sqlite://" + file})
		tell.Close()
	}()
	address := <-firstMatch(regexp.MustCompile(`http://127\.0\.0\.1:\d+/webhook`), shown)
	if address == "" {
		s.t.Fatalf("serve does not begin: %s", log)
	}
	for _, want := range []struct {
		status int
		secret string
	}{{202, s.hub.Created().Secret}, {401, "the secret of another App"}} {
		payload := []byte(`{"zen":"Keep it logically awesome.","hook_id":1,"hook":{"type":"App"}}`)
		req, err := s.hub.DeliveryRequest(s.t.Context(), address, sandbox.HookDelivery{Event: "ping", GUID: "g-" + want.secret[:3], Payload: payload})
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("X-Hub-Signature-256", sandbox.Sign(want.secret, payload))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want.status {
			s.t.Errorf("a delivery signed with %.3s is answered with %d, want %d: %s", want.secret, res.StatusCode, want.status, log)
		}
	}
	stop()
	<-ended
}

// What strangers may try: another page in the same browser, a name of theirs that leads here, another user of the
// machine, and the code of an App of their own. Nothing of it makes an App, and the person's own way still works.
func TestServeSetupRefusesStrangers(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{})
	at, err := url.Parse(s.page)
	if err != nil {
		t.Fatal(err)
	}
	root := "http://" + at.Host
	_, page := s.visit(http.MethodGet, s.page, "", "")
	state := html.UnescapeString(regexp.MustCompile(`state=([0-9A-Z]+)`).FindStringSubmatch(page)[1])
	for _, c := range []struct {
		name, method, address, host, body string
		want                              int
	}{
		{"another user who looks at the port", "GET", root + "/", "", "", 404},
		{"another user who guesses", "GET", root + "/" + strings.Repeat("0", 32) + "/", "", "", 404},
		{"a page without its end", "GET", strings.TrimSuffix(s.page, "/"), "", "", 404},
		{"a name that leads here", "GET", s.page, "evil.example:" + at.Port(), "", 421},
		{"localhost, which another page may be", "GET", s.page, "localhost:" + at.Port(), "", 421},
		{"a name that leads here, with the right answer", "GET", root + "/created?code=c0de&state=" + state, "evil.example", "", 421},
		{"a form of another page's", "POST", root + "/created", "", "code=c0de&state=" + state, 405},
		{"a form of another page's to the page", "POST", s.page, "", "a=b", 405},
		{"the code of a stranger's App", "GET", root + "/created?code=c0de", "", "", 403},
		{"with a state of theirs", "GET", root + "/created?code=c0de&state=" + strings.Repeat("0", len(state)), "", "", 403},
		{"with half of the state", "GET", root + "/created?code=c0de&state=" + state[:len(state)/2], "", "", 403},
		{"no code", "GET", root + "/created?state=" + state, "", "", 403},
	} {
		res, text := s.visit(c.method, c.address, c.host, c.body)
		if res.StatusCode != c.want || strings.Contains(text, state) || strings.Contains(text, at.Path) {
			t.Errorf("%s: %d, want %d:\n%s", c.name, res.StatusCode, c.want, text)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'nonce-", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
		} {
			if got := res.Header.Get(name); !strings.HasPrefix(got, want) || strings.Contains(got, "script") {
				t.Errorf("%s: %s is %q", c.name, name, got)
			}
		}
	}
	for _, r := range s.hub.Requests() {
		t.Errorf("GitHub was asked: %s %s", r.Method, r.Path)
	}
	if said := s.stderr.String(); strings.Count(said, "warning: ") != 1 || !strings.Contains(said, "it was refused") {
		t.Errorf("it says %s", said)
	}
	if res, text := s.visit(http.MethodGet, s.pressButton(), "", ""); res.StatusCode != 200 {
		t.Errorf("the person's own answer: %d %s", res.StatusCode, text)
	}
	if code := s.wait(); code != 0 || s.hub.Created() == nil {
		t.Errorf("exit %d", code)
	}
}

// The page runs no script, loads nothing, and sends its form to GitHub alone.
func TestTheSetupPageIsClosed(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{}, "--name", `<script>"><b>`)
	res, text := s.visit(http.MethodGet, s.page, "", "")
	web := strings.TrimSuffix(s.api, "/api/v3")
	policy := res.Header.Get("Content-Security-Policy")
	if !regexp.MustCompile(`^default-src 'none'; style-src 'nonce-[0-9A-Z]{26}'; base-uri 'none'; frame-ancestors 'none'; form-action ` + regexp.QuoteMeta(web) + `$`).MatchString(policy) {
		t.Errorf("the policy is %s", policy)
	}
	if res.Header.Get("Referrer-Policy") != "strict-origin" {
		t.Errorf("referrer: %s", res.Header.Get("Referrer-Policy"))
	}
	for _, bad := range []string{"<script", "src=", "onclick", "javascript:", "<b>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	s.stop()
	if code := s.wait(); code != 130 {
		t.Errorf("interrupted, it ends with %d: %s", code, s.stderr)
	}
	if _, err := os.Lstat(s.dir); !os.IsNotExist(err) {
		t.Errorf("an empty folder is left: %v", err)
	}
}

// GitHub fails once: the key is not lost, and reloading the page is enough.
func TestServeSetupTriesAgain(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{NoWebhookSecret: true})
	back := s.pressButton()
	s.hub.AddFault(sandbox.Fault{Match: "POST /app-manifests/**", Status: 502, Times: 1})
	res, text := s.visit(http.MethodGet, back, "", "")
	if res.StatusCode != 502 || !strings.Contains(text, "reload this page") {
		t.Errorf("%d:\n%s", res.StatusCode, text)
	}
	code := regexp.MustCompile(`code=([0-9a-f]+)`).FindStringSubmatch(back)[1]
	if said := s.stderr.String(); !strings.Contains(said, "reload the page") || strings.Contains(said, code) || strings.Contains(text, code) {
		t.Errorf("it says %s", said)
	}
	if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 200 {
		t.Errorf("the second time: %d", res.StatusCode)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	s.tellsNoSecret(s.dir, text)
	env := readEnv(t, s.dir)
	if len(env["GITHUB_WEBHOOK_SECRET"]) != 26 || !strings.Contains(s.out.String(), "GitHub made no webhook secret. Put what is in "+s.dir+"/webhook-secret") {
		t.Errorf("%q\n%s", env, s.out)
	}
}

// A code that GitHub does not take leaves the way open for another one.
func TestServeSetupTakesANewCodeAfterARefusedOne(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{})
	back := s.pressButton()
	old := regexp.MustCompile(`code=([0-9a-f]+)`).ReplaceAllString(back, "code=c0de")
	if res, _ := s.visit(http.MethodGet, old, "", ""); res.StatusCode != 502 || !strings.Contains(s.stderr.String(), "more than an hour old, or was used") {
		t.Errorf("%d: %s", res.StatusCode, s.stderr)
	}
	if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 200 {
		t.Errorf("%d: %s", res.StatusCode, s.stderr)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A file comes into the folder after GitHub was asked: it is not replaced, and nothing is lost. Once it is gone, reloading
// the page is enough; without that it is said what GitHub still gives.
func TestServeSetupKeepsTheKeyThatCannotBeWritten(t *testing.T) {
	for _, isMended := range []bool{true, false} {
		s := startSetup(t, sandbox.HubOptions{})
		back, inTheWay := s.pressButton(), filepath.Join(s.dir, "env")
		if err := os.WriteFile(inTheWay, []byte("another's"), 0o600); err != nil {
			t.Fatal(err)
		}
		if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 502 || !strings.Contains(s.stderr.String(), "which holds the only copy") {
			t.Errorf("%d: %s", res.StatusCode, s.stderr)
		}
		text, err := os.ReadFile(inTheWay)
		if left, _ := os.ReadDir(s.dir); len(left) != 1 || err != nil || string(text) != "another's" {
			t.Errorf("%d files are left; it holds %s, %v", len(left), text, err)
		}
		if !isMended {
			s.stop()
			if code := s.wait(); code != 1 || !strings.Contains(s.stderr.String(), "hint: generate another private key") {
				t.Errorf("exit %d: %s", code, s.stderr)
			}
			continue
		}
		if err := os.Remove(inTheWay); err != nil {
			t.Fatal(err)
		}
		if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 200 {
			t.Errorf("%d: %s", res.StatusCode, s.stderr)
		}
		if code := s.wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		s.tellsNoSecret(s.dir)
	}
}
