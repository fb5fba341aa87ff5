//go:build !action

package main

// The page of serve setup, on loopback. Other users of the machine can reach the port, and so can any page in the same
// browser. So the page stands at a path that nobody can guess, and GitHub's answer counts only with the state that
// stands on the page: without it a stranger could hand us the code of an App of his own. A Host that is not the
// loopback address itself is a name of a stranger's that leads here.

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"sync"
)

// setupReturnPath is where GitHub sends the browser on to.
const setupReturnPath = "/created"

// A setupSite shows the page with the button, and takes the code.
type setupSite struct {
	host    string // the one that a request must name
	page    setupView
	pageKey string // part of the page's path
	state   string
	maker   *appMaker

	strangers sync.Once // the first of them is told of: a stranger could fill the terminal
}

// pageAddress is the page's, for the person alone.
func (s *setupSite) pageAddress() string { return "http://" + s.host + "/" + s.pageKey + "/" }

// ServeHTTP implements http.Handler.
func (s *setupSite) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	isPage := isEqualSecret(req.URL.Path, "/"+s.pageKey+"/")
	switch {
	case req.Host != s.host:
		s.showPage(w, http.StatusMisdirectedRequest, setupView{Title: "Not here", Text: "This page has another address."})
	case req.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		s.showPage(w, http.StatusMethodNotAllowed, setupView{Title: "Not so", Text: "This page is only read."})
	case isPage:
		s.showPage(w, http.StatusOK, s.page)
	case req.URL.Path == setupReturnPath:
		s.takeCode(w, req.URL.Query())
	default:
		s.showPage(w, http.StatusNotFound, setupView{Title: "Nothing here", Text: "The terminal shows the address of the page."})
	}
}

// isEqualSecret compares what a stranger may have guessed with a secret.
func isEqualSecret(guess, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(guess), []byte(secret)) == 1
}

// takeCode takes GitHub's answer.
func (s *setupSite) takeCode(w http.ResponseWriter, answer url.Values) {
	if !isEqualSecret(answer.Get("state"), s.state) || answer.Get("code") == "" {
		s.strangers.Do(func() {
			s.maker.warn("something sent an answer here that does not belong to this page: it was refused; " +
				"if you pressed no button on another page, a program of another user's may have")
		})
		s.showPage(w, http.StatusForbidden, setupView{
			Title: "This is not the answer to our page",
			Text:  "It does not carry what our page gave GitHub: perhaps a page of somebody else's sent your browser here. Nothing was done.",
		})
		return
	}
	app, err := s.maker.makeApp(answer.Get("code"))
	if err != nil {
		s.showPage(w, http.StatusBadGateway, setupView{
			Title: "The App is not ready",
			Text:  "The terminal says why. To try again, reload this page.",
		})
		return
	}
	s.showPage(w, http.StatusOK, setupView{
		Title: "The App " + app.name + " is made",
		Text: "Its key and settings are on the machine where coordinator serve setup ran, in " + s.maker.folder.path +
			". The terminal says what comes next.",
		Next: app.installURL,
	})
}

// showPage writes a page that runs no script, loads nothing and can be framed by nobody.
func (s *setupSite) showPage(w http.ResponseWriter, status int, view setupView) {
	view.Nonce = rand.Text()
	formAction := "'none'"
	if u, err := url.Parse(view.Form); err == nil && view.Form != "" {
		formAction = u.Scheme + "://" + u.Host
	}
	var text bytes.Buffer
	if err := setupPage.Execute(&text, view); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError) // unreachable unless the template is wrong
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'nonce-" + view.Nonce +
			"'; base-uri 'none'; frame-ancestors 'none'; form-action " + formAction,
		"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "strict-origin", // GitHub sees who posts, and not the page's path
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a browser that has gone needs no page
}

// A setupView is the data of a page: with the button and what the App asks for, or with some words.
type setupView struct {
	Nonce, Title, Text   string
	Form, Manifest, Next string
	Permissions          []appPermission
	Events               []eventSubscription
}

//go:embed setup_page.html
var setupPageText string

// setupPage is each page of the site.
var setupPage = template.Must(template.New("page").Parse(setupPageText))
