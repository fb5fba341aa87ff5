//go:build !action

package main

// The page of serve setup, on loopback. Other users of the machine can reach the port, and so can any page in the same
// browser. So the page stands at a path that nobody can guess, and GitHub's answer counts only with the state that
// stands on the page: without it a stranger could hand us the code of an App of his own. A Host that is not the
// loopback address itself is a name of a stranger's that leads here.

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// setupReturnPath is where GitHub sends the browser on to.
const setupReturnPath = "/created"

// A setupSite shows the page with the button, and takes the code.
type setupSite struct {
	host    string // the one that a request must name
	form    string // GitHub's, which takes the manifest
	page    setupView
	pageKey string // part of the page's path
	state   string
	makeApp func(code string) (savedApp, error) // once it had success, it only repeats it
	warn    func(string)

	mu     sync.Mutex
	code   string // that came with the state; no other is taken while it may still make the App
	warned bool   // of a stranger's answer
	made   chan savedApp
}

// newSetupSite makes the site for a manifest that leads back to it.
func newSetupSite(host, form string, page setupView) *setupSite {
	return &setupSite{host: host, form: form, page: page, pageKey: randomText(16), state: randomText(32), made: make(chan savedApp, 1)}
}

// pageAddress is the page's, for the person alone.
func (s *setupSite) pageAddress() string { return "http://" + s.host + "/" + s.pageKey + "/" }

// ServeHTTP implements http.Handler.
func (s *setupSite) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	isPage := subtle.ConstantTimeCompare([]byte(req.URL.Path), []byte("/"+s.pageKey+"/")) == 1
	switch {
	case req.Host != s.host:
		s.showPage(w, http.StatusMisdirectedRequest, setupView{Title: "Not here", Text: "This page has another address."})
	case req.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		s.showPage(w, http.StatusMethodNotAllowed, setupView{Title: "Not so", Text: "This page is only read."})
	case isPage:
		view := s.page
		view.Form = s.form + "?state=" + url.QueryEscape(s.state)
		s.showPage(w, http.StatusOK, view)
	case req.URL.Path == setupReturnPath:
		s.takeCode(w, req)
	default:
		s.showPage(w, http.StatusNotFound, setupView{Title: "Nothing here", Text: "The terminal shows the address of the page."})
	}
}

// takeCode takes GitHub's answer.
func (s *setupSite) takeCode(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	state, code := q.Get("state"), q.Get("code")
	if subtle.ConstantTimeCompare([]byte(state), []byte(s.state)) != 1 {
		s.warnOfStranger()
		s.showPage(w, http.StatusForbidden, setupView{
			Title: "This is not the answer to our page",
			Text:  "It does not carry what our page gave GitHub: perhaps a page of somebody else's sent your browser here. Nothing was done.",
		})
		return
	}
	if code == "" || !s.claimCode(code) {
		s.showPage(w, http.StatusConflict, setupView{
			Title: "Another App is being made",
			Text:  "One answer of GitHub's is enough: see the terminal.",
		})
		return
	}
	app, err := s.makeApp(code)
	if err != nil {
		if client.IsNotFound(err) || client.IsUnprocessable(err) || errors.Is(err, client.ErrNoManifestCode) {
			s.releaseCode() // it will never make an App
		}
		s.showPage(w, http.StatusBadGateway, setupView{
			Title: "The App is not ready",
			Text:  "The terminal says why. To try again, reload this page.",
		})
		return
	}
	s.showPage(w, http.StatusOK, setupView{
		Title: "The App " + app.name + " is made",
		Text:  "Its key and settings are on the machine where coordinator serve setup ran, in " + app.dir + ". The terminal says what comes next.",
		Next:  app.installURL,
	})
	select {
	case s.made <- app:
	default: // it was told before
	}
}

// claimCode reports whether the code is the first that came with the state, or that one again.
func (s *setupSite) claimCode(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" {
		s.code = code
	}
	return subtle.ConstantTimeCompare([]byte(s.code), []byte(code)) == 1
}

func (s *setupSite) releaseCode() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = ""
}

// warnOfStranger tells once that an answer came that is none: a stranger could fill the terminal.
func (s *setupSite) warnOfStranger() {
	s.mu.Lock()
	first := !s.warned
	s.warned = true
	s.mu.Unlock()
	if first {
		s.warn("something sent an answer here that does not belong to this page: it was refused; if you pressed no button on another page, a program of another user's may have")
	}
}

// showPage writes a page that runs no script, loads nothing and can be framed by nobody.
func (s *setupSite) showPage(w http.ResponseWriter, status int, view setupView) {
	view.Nonce = randomText(16)
	policy := "default-src 'none'; style-src 'nonce-" + view.Nonce + "'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
	if view.Form != "" {
		policy = strings.Replace(policy, "form-action 'none'", "form-action "+originOf(view.Form), 1)
	}
	var text bytes.Buffer
	if err := setupPage.Execute(&text, view); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError) // unreachable unless the template is wrong
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "strict-origin", // GitHub sees who posts, and not the page's path
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a browser that has gone needs no page
}

// originOf is the origin of an address that was read before.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "'none'" // unreachable
	}
	return u.Scheme + "://" + u.Host
}

// A setupView is the data of a page: with the button, or with some words.
type setupView struct {
	manifestTables
	Nonce, Title, Text   string
	Form, Manifest, Next string
}

// setupPage is each page of the site.
var setupPage = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style nonce="{{.Nonce}}">
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
button { font: inherit; font-weight: 600; padding: .6rem 1.2rem; border: 0; border-radius: .4rem }
button { background: #1f883d; color: #fff; cursor: pointer }
td { padding: .15rem 1rem .15rem 0; vertical-align: top }
code, pre { font: 14px/1.5 ui-monospace, monospace; overflow-x: auto }
</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{if .Form}}<form action="{{.Form}}" method="post">
<input type="hidden" name="manifest" value="{{.Manifest}}">
<p><button>Create the App on GitHub</button></p>
</form>
<h2>What it may do, and why</h2>
<table>{{range .Permissions}}<tr><td><code>{{.What}}</code></td><td>{{.Why}}</td></tr>
{{end}}</table>
<h2>What it is told</h2>
<table>{{range .Events}}<tr><td><code>{{.What}}</code></td><td>{{.Why}}</td></tr>
{{end}}</table>
{{end}}{{if .Next}}<p><a href="{{.Next}}">Install it on your repositories</a></p>
{{end}}</main>
</body>
</html>
`))
