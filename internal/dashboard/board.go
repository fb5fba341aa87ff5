// Package dashboard shows what is undecided and why, each cycle as a timeline, the repositories with their policies, and
// how the queue stands: as pages, and as the JSON of /api/v1.
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
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	boardPage = 50 // sights on a page, at most
	boardOpen = 30 // of which on the overview are open
	boardBeat = 15 * time.Second
	// boardPolicy lets a page load our own files and nothing else, and run no script that stands in it.
	boardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
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
	// BegunAnew says that the database was damaged at the start, and that an empty one was begun.
	BegunAnew bool
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
	pages := template.New("").Funcs(template.FuncMap{
		"asset": files.path,
		"mark":  func(icon, tone string) boardMark { return boardMark{Icon: icon, Tone: tone} },
	})
	s := &boardSite{Board: b, files: files, pages: template.Must(pages.ParseFS(boardWeb, "web/*.html"))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.overview)
	mux.HandleFunc("GET /pulls/{owner}/{repo}/{number}", s.pull)
	mux.HandleFunc("GET /repositories", s.repositories)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /static/{name}", s.static)
	mux.HandleFunc("/", s.missing)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		GuardHeaders(w.Header())
		mux.ServeHTTP(w, r)
	})
}

// GuardHeaders keeps other sites from embedding, reading or steering an answer, and its page from loading more than is our own.
func GuardHeaders(h http.Header) {
	h.Set("Content-Security-Policy", boardPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
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
	Nothing bool // nothing is as the filter asks
	Health  boardHealth
	Anew    bool // the database was begun anew
	Open    boardList
	Settled boardList
	// Repositories and Reviewers are names that a filter may ask for.
	Repositories, Reviewers []string

	Pull  boardCard
	Repos boardRepos
	Lost  string // of missing: what is not there
}

// A boardList is a section of the overview.
type boardList struct {
	Cards  []boardCard
	Older  string // where the next page is; "": this is the last one
	Cut    bool   // a search ended at its bound, not at the end of the table
	Unseen bool   // there are more, which were never looked at
}

func (s *boardSite) overview(w http.ResponseWriter, r *http.Request) {
	f := readBoardFilter(r.URL.Query())
	now := s.Now()
	v := boardView{
		Page: "overview", Title: "Review coordinator", Filter: f, Anew: s.BegunAnew,
		Self: f.at(f.View, f.Before), Events: "/events", Every: 1000,
	}
	if f.rows() != (pullFilter{}) {
		v.Every = 5000 // many rows are read
	}
	health, err := s.Store.Health(r.Context(), now)
	if err != nil {
		s.broken(w)
		return
	}
	v.Health = showBoardHealth(health, s.Reached, now)
	groups, some, err := f.findGroups(r.Context(), s.Store)
	if err == nil && some {
		v.Open, v.Settled, err = s.sections(r.Context(), f, groups, now)
	}
	if err != nil {
		s.broken(w)
		return
	}
	v.Nothing = len(f.Asked()) > 0 && v.Open.isEmpty() && v.Settled.isEmpty()
	v.Repositories, v.Reviewers = namesOn(v.Open.Cards, v.Settled.Cards)
	if r.Header.Get("HX-Request") == "true" && r.URL.RequestURI() != v.Self {
		w.Header().Set("HX-Replace-Url", v.Self) // a form sends its empty fields, too
	}
	s.show(w, r, http.StatusOK, v)
}

// sections reads the overview's two sections, as far as they are asked for.
func (s *boardSite) sections(
	ctx context.Context, f boardFilter, groups []string, now time.Time,
) (open, settled boardList, err error) {
	mostOpen, mostSettled := boardOpen, boardPage-boardOpen
	switch f.View {
	case "open":
		mostOpen, mostSettled = boardPage, 0
	case "settled":
		mostOpen, mostSettled = 0, boardPage
	}
	if mostOpen > 0 {
		if open, err = s.list(ctx, f, groups, true, mostOpen, now); err != nil {
			return open, settled, err
		}
	}
	if mostSettled > 0 && f.rows().canBeSettled() {
		settled, err = s.list(ctx, f, groups, false, mostSettled, now)
	}
	slices.SortStableFunc(open.Cards, func(a, b boardCard) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.since.Compare(b.since))
	})
	return open, settled, err
}

// list reads one section: at most limit cards.
func (s *boardSite) list(
	ctx context.Context, f boardFilter, groups []string, open bool, limit int, now time.Time,
) (l boardList, err error) {
	view := "settled"
	if open {
		view = "open"
	}
	page, err := listPulls(ctx, s.Store, store.Query{Open: &open, Before: f.Before, Limit: limit}, groups, f.rows())
	if err != nil {
		return l, err
	}
	for _, row := range page.rows {
		l.Cards = append(l.Cards, showBoardCard(row, now, sizeCard(open)))
	}
	if l.Cut, l.Unseen = page.cut, page.unseen; !page.next.IsZero() {
		l.Older = f.at(view, page.next)
	}
	return l, nil
}

// isEmpty reports whether a section shows nothing and leads nowhere.
func (l boardList) isEmpty() bool { return len(l.Cards) == 0 && l.Older == "" && !l.Unseen }

// namesOn are the repositories and reviewers of cards, for who fills a filter in.
func namesOn(lists ...[]boardCard) (repos, reviewers []string) {
	for _, cards := range lists {
		for _, c := range cards {
			if c.Repo != "" {
				repos = append(repos, c.Repo)
			}
			for _, v := range c.Votes {
				reviewers = append(reviewers, v.Name)
			}
		}
	}
	slices.Sort(repos)
	slices.Sort(reviewers)
	return slices.Compact(repos), slices.Compact(reviewers)
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
