// Package dashboard shows what is undecided and why, each cycle as a timeline, and how the queue stands: as pages, and
// as the JSON of /api/v1.
//
// It promises to show what stands in the table and to ask GitHub nothing. Everything that it shows is hostile:
// html/template escapes it, and a content security policy lets nothing run that is not a file of ours.
package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	boardPage = 50   // sights on a page, at most
	boardOpen = 30   // of which on the overview are open
	boardScan = 1000 // rows that a search reads at most
	boardBeat = 15 * time.Second
	// boardPolicy lets a page load our own files and nothing else, and run no script that stands in it.
	boardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// A Board is the dashboard of a table.
type Board struct {
	Store   store.Store
	Feed    *Feed
	Now     func() time.Time
	Reached func() time.Time // when GitHub last answered, see [Host]; nil: not shown
	Version string
	// Waits is until when an installation waits for a limit of GitHub's to end; zero: it does not. nil: not shown.
	Waits func(tenant int64) time.Time
}

// boardSite is a board with its files and templates.
type boardSite struct {
	Board
	files boardFiles
	pages *template.Template
}

// Handler serves the dashboard at /, /pulls/, /repositories, /events and /static/.
func (b Board) Handler() http.Handler {
	files := loadBoardFiles()
	s := &boardSite{
		Board: b,
		files: files,
		pages: template.Must(
			template.New(
				"",
			).Funcs(
				template.FuncMap{
					"asset": files.path,
					"mark":  func(icon, tone string) boardMark { return boardMark{Icon: icon, Tone: tone} },
				},
			).ParseFS(
				boardWeb,
				"web/*.html",
			),
		),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.overview)
	mux.HandleFunc("GET /pulls/{owner}/{repo}/{number}", s.pull)
	mux.HandleFunc("GET /repositories", s.repositories)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /static/{name}", s.static)
	mux.HandleFunc("/", s.missing)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", boardPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	})
}

// A boardView is what the templates show. Which of its parts are there depends on the page.
type boardView struct {
	Page    string // overview, pull, repositories, missing
	Title   string
	Version string
	Self    string // where the page refreshes itself from; "": it stays as it is
	Events  string // where it learns that it should
	Every   int    // milliseconds between two refreshes, at least
	Now     int64  // milliseconds since 1970, from which the browser's clock is corrected
	Clock   string
	Filter  boardFilter
	Health  boardHealth
	Open    boardList
	Settled boardList
	Pull    boardCard
	Repos   boardRepos
	Lost    string // of missing: what is not there
}

// A boardFilter is what the reader asked for.
type boardFilter struct {
	Group       string // the key of a repository, see [Repo]
	Repo        string // its name
	Query, View string
	Before      time.Time
}

// A boardList is a section of the overview.
type boardList struct {
	Cards []boardCard
	Older string // where the next page is; "": this is the last one
	Cut   bool   // a search ended at its bound, not at the end of the table
}

func (s *boardSite) overview(w http.ResponseWriter, r *http.Request) {
	f := readBoardFilter(r.URL.Query())
	now := s.Now()
	v := boardView{Page: "overview", Title: "Review coordinator", Filter: f, Self: f.at("", time.Time{}), Events: "/events", Every: 1000}
	if f.Query != "" {
		v.Every = 5000 // a search reads many rows
	}
	health, err := s.Store.Health(r.Context(), now)
	if err != nil {
		s.broken(w)
		return
	}
	v.Health = showBoardHealth(health, s.Reached, now)
	open, settled := boardOpen, boardPage-boardOpen
	switch f.View {
	case "open":
		open, settled = boardPage, 0
		v.Self = f.at("open", f.Before)
	case "settled":
		open, settled = 0, boardPage
		v.Self = f.at("settled", f.Before)
	}
	if open > 0 {
		v.Open, err = s.list(r.Context(), f, true, open, now)
	}
	if err == nil && settled > 0 {
		v.Settled, err = s.list(r.Context(), f, false, settled, now)
	}
	if err != nil {
		s.broken(w)
		return
	}
	slices.SortStableFunc(v.Open.Cards, func(a, b boardCard) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.since.Compare(b.since))
	})
	s.show(w, r, http.StatusOK, v)
}

// list reads one section: at most limit cards, and of a search at most boardScan rows.
func (s *boardSite) list(ctx context.Context, f boardFilter, open bool, limit int, now time.Time) (boardList, error) {
	var l boardList
	view := "settled"
	if open {
		view = "open"
	}
	q := store.Query{Kind: workkey.KindPull, Group: f.Group, Open: &open, Before: f.Before, Limit: limit + 1}
	if f.Query != "" {
		q.Limit = 200
	}
	for read := 0; ; {
		rows, err := s.Store.List(ctx, q)
		if err != nil {
			return l, err
		}
		for i, row := range rows {
			card := showBoardCard(row, now, sizeCard(open))
			if !f.finds(card) {
				continue
			}
			if len(l.Cards) == limit {
				l.Older = f.at(view, rows[max(i-1, 0)].Seen)
				return l, nil
			}
			l.Cards = append(l.Cards, card)
		}
		if read += len(rows); len(rows) < q.Limit || f.Query == "" {
			return l, nil
		}
		q.Before = rows[len(rows)-1].Seen
		if read >= boardScan {
			l.Older, l.Cut = f.at(view, q.Before), true
			return l, nil
		}
	}
}

func sizeCard(open bool) boardSize {
	if open {
		return sizeNormal
	}
	return sizeMini
}

func (s *boardSite) pull(w http.ResponseWriter, r *http.Request) {
	row, err := s.find(r)
	switch {
	case errors.Is(err, store.ErrNoRow):
		s.missing(w, r)
		return
	case err != nil:
		s.broken(w)
		return
	}
	card := showBoardCard(row, s.Now(), sizeLarge)
	s.show(w, r, http.StatusOK, boardView{
		Page: "pull", Title: card.PR + " · Review coordinator", Pull: card,
		Self: card.Page, Events: "/events?" + url.Values{"key": {row.Key}}.Encode(), Every: 1000,
	})
}

// find returns the row of a pull request. Our own links say which tenant it is in; for an address that somebody wrote,
// the repository is looked for.
func (s *boardSite) find(r *http.Request) (store.Row, error) {
	owner, repo, number := r.PathValue("owner"), r.PathValue("repo"), r.PathValue("number")
	tenant := r.URL.Query().Get("in")
	if tenant == "" {
		return API{Store: s.Store}.findRow(r.Context(), owner, repo, number)
	}
	at, ok := workkey.Parse(tenant + "/" + owner + "/" + repo + "#" + number)
	if !ok || at.Number == 0 {
		return store.Row{}, store.ErrNoRow
	}
	return s.Store.Get(r.Context(), workkey.Pull(at.Tenant, at.PR()))
}

// events nudges the page, which then asks for what it shows. A comment now and then keeps proxies from cutting the
// line, and tells us of a browser that is gone.
func (s *boardSite) events(w http.ResponseWriter, r *http.Request) {
	nudges, ok := s.Feed.Subscribe(r.Context(), r.URL.Query().Get("key"))
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many open dashboards", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold the stream back
	beat := time.NewTicker(boardBeat)
	defer beat.Stop()
	for text := "retry: 2000\n\n"; ; {
		out := http.NewResponseController(w)
		// A deadline of the whole answer would cut the stream: each write has its own. What cannot set one has none.
		if err := out.SetWriteDeadline(time.Now().Add(2 * boardBeat)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case _, more := <-nudges:
			if !more {
				return
			}
			text = "event: changed\ndata:\n\n"
		case <-beat.C:
			text = ": still here\n\n"
		}
	}
}

func (s *boardSite) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the dashboard only shows", http.StatusMethodNotAllowed)
		return
	}
	s.show(w, r, http.StatusNotFound, boardView{Page: "missing", Title: "Not here · Review coordinator", Lost: boardClip(r.URL.Path, 120)})
}

// broken says that the table cannot be read. Why stands in the log of whoever reads it, not on a page.
func (s *boardSite) broken(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	http.Error(w, "our database cannot be read at the moment", http.StatusServiceUnavailable)
}

// show writes the whole page, or only the board of it if htmx asks.
func (s *boardSite) show(w http.ResponseWriter, r *http.Request, status int, v boardView) {
	now := s.Now()
	v.Now, v.Clock, v.Version = now.UnixMilli(), now.UTC().Format("15:04:05"), s.Version
	name := "page"
	if r.Header.Get("HX-Request") == "true" {
		name = "board"
	}
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, name, v); err != nil { // unreachable unless a template names what is not there
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "HX-Request")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // a browser that is gone needs no page
}

// readBoardFilter reads what was asked for. What makes no sense is left out.
func readBoardFilter(q url.Values) boardFilter {
	f := boardFilter{Query: boardClip(strings.TrimSpace(q.Get("q")), 200)}
	if at, ok := workkey.Parse(q.Get("repo")); ok && at.Repo != "" {
		f.Group, f.Repo = workkey.Repo(at.Tenant, at.Owner, at.Repo), at.Owner+"/"+at.Repo
	}
	switch v := q.Get("view"); v {
	case "open", "settled":
		f.View = v
		if before, err := time.Parse(time.RFC3339Nano, q.Get("before")); err == nil {
			f.Before = before
		}
	}
	return f
}

// at is where a filtered view is.
func (f boardFilter) at(view string, before time.Time) string {
	q := make(url.Values)
	for name, value := range map[string]string{"repo": f.Group, "q": f.Query, "view": view} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if !before.IsZero() {
		q.Set("before", before.UTC().Format(time.RFC3339Nano))
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

// WithoutRepo is the same view of all repositories.
func (f boardFilter) WithoutRepo() string {
	f.Group, f.Repo = "", ""
	return f.at(f.View, time.Time{})
}

// finds reports whether a card has every word of the query in it.
func (f boardFilter) finds(c boardCard) bool {
	if f.Query == "" {
		return true
	}
	text := strings.ToLower(c.PR + " " + c.Title + " " + c.Says + " " + c.Verdict.Word)
	for _, word := range strings.Fields(strings.ToLower(f.Query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
