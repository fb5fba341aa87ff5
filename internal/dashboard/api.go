package dashboard

// The admin listener's JSON, /api/v1. Names and meanings stay as they are; fields may be added.
//
//	GET /api/v1/                                what there is
//	GET /api/v1/pulls                           {"pulls": [pull …], "next": "…"}: the last evaluated first
//	    ?undecided=true|false                   only the undecided, only the others
//	    &repo=owner/name                        only of this repository
//	    &state=unverified                       only those in this state: unverified, blocked, waiting, passed, draft
//	    &reviewer=name                          only those that this reviewer is asked about
//	    &limit=100                              at most 1000
//	    &before=2026-01-02T15:04:05.123Z        only those evaluated before; "next" is the value for the next page.
//	                                            With state or reviewer a page may be short, or empty, and have one
//	GET /api/v1/pulls/{owner}/{repo}/{number}   pull
//	GET /api/v1/repositories                    {"repositories": [repository …], "counts": {…}, "next": "…"}
//	    ?policy=broken|valid|unread|missing     only those whose policy is so, without it those first; "counts" has how
//	                                            many there are of each
//	    &limit=100                              at most 1000
//	    &after=…                                "next" is the value for the next page
//	GET /api/v1/queue                           how much there is to do
//
// A pull is
//
//	installation      of the App; 0 with a personal token
//	repository        "acme/shop"
//	pull_request      its number
//	undecided         whether it is, or a resolved thread may still change it
//	evaluating        whether it is being evaluated now
//	next_evaluation   when it is evaluated next, at the latest; missing: only when something happens, or it waits to be
//	                  looked over, behind all that happens
//	last_evaluation   when it was last evaluated; missing: never
//	failures          of evaluations, in a row
//	failure           why the last one failed, and what to do
//	evaluation        a [Sight]: what the last one that did not fail showed; null: there was none. Its page,
//	                  what the check says, and its heads, the last ones and what was decided on each, are left out
//	                  in lists
//
// A repository is
//
//	installation      of the App; 0 with a personal token
//	repository        "acme/shop"
//	policy            broken, valid, unread (not looked at yet), missing
//	policy_path       of the file
//	mistakes          in a broken one: lines of text, each mistake with file:line:column
//	undecided         pull requests
//	more_undecided    true: there are more of them than are counted
//	waits_until       when GitHub's limit, for which the installation waits, ends; missing: it does not wait
//	next_look         when the policy and the list of open pull requests are read next, behind all that happens then
//	last_look         when they were read last; missing: never
//	failures          of that, in a row
//	failure           why the last one failed, and what to do
//
// Errors are {"error": "…", "hint": "…"} with a status of 4xx or 5xx.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	listedPulls = 100  // on a page, unless asked otherwise
	mostPulls   = 1000 // on a page

	ReadTimeout = 3 * time.Second // the table answers in milliseconds
)

// API serves /api/v1/: what is undecided and why, as JSON.
type API struct {
	Store store.Store
	Now   func() time.Time
	Log   *slog.Logger
	Waits func(tenant int64) time.Time // see [Board]; nil: not shown
}

// ErrorAnswer is the JSON of an error.
type ErrorAnswer struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

type apiIndex struct {
	Version   int           `json:"version"`
	Endpoints []apiEndpoint `json:"endpoints"`
}

type apiEndpoint struct {
	Path  string `json:"path"`
	Shows string `json:"shows"`
}

type apiPulls struct {
	Pulls []apiPull `json:"pulls"`
	Next  string    `json:"next,omitempty"` // value of before for the next page
}

type apiPull struct {
	Installation int64     `json:"installation"`
	Repository   string    `json:"repository"`
	PullRequest  int       `json:"pull_request"`
	Undecided    bool      `json:"undecided"`
	Evaluating   bool      `json:"evaluating"`
	Next         time.Time `json:"next_evaluation,omitzero"`
	Last         time.Time `json:"last_evaluation,omitzero"`
	Failures     int       `json:"failures"`
	Failure      string    `json:"failure,omitempty"` // may quote what strangers wrote
	Evaluation   *Sight    `json:"evaluation"`
}

type apiQueue struct {
	At            time.Time `json:"at"`
	Tasks         int       `json:"tasks"`     // pull requests to evaluate, and lists to read
	Undecided     int       `json:"undecided"` // pull requests
	Due           int       `json:"due"`
	Running       int       `json:"running"`
	Failing       int       `json:"failing"`
	Installations int       `json:"installations"`
	Deliveries    int64     `json:"deliveries_remembered"`
	OldestSeconds float64   `json:"oldest_due_seconds"` // how long the task that has waited longest has been due
	// installations that wait for a limit of GitHub's, and until when
	Limited map[int64]time.Time `json:"limited,omitempty"`
	// tasks that what has just happened goes before, by installation, and when they will be done, at the earliest
	Backlog      map[int64]int       `json:"backlog,omitempty"`
	BacklogUntil map[int64]time.Time `json:"backlog_until,omitempty"`
}

func (a API) Routes(mux *http.ServeMux) {
	mux.HandleFunc("/api/v1/{$}", a.serveIndex)
	mux.HandleFunc("/api/v1/pulls", a.servePulls)
	mux.HandleFunc("/api/v1/pulls/{owner}/{repo}/{number}", a.servePull)
	mux.HandleFunc("/api/v1/repositories", a.serveRepos)
	mux.HandleFunc("/api/v1/queue", a.serveQueue)
	mux.HandleFunc("/api/", notFound)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusNotFound, ErrorAnswer{Error: "there is nothing here", Hint: "/api/v1/ lists what there is"})
}

func (a API) serveIndex(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, apiIndex{Version: 1, Endpoints: []apiEndpoint{
		{
			"/api/v1/pulls",
			"pull requests, the last evaluated first; ?undecided=true|false &repo=owner/name &state=<state> " +
				"&reviewer=<name> &limit=100 &before=<next of the page before>",
		},
		{"/api/v1/pulls/{owner}/{repo}/{number}", "one pull request"},
		{
			"/api/v1/repositories",
			"repositories and their policies, broken ones first; " +
				"?policy=broken|valid|unread|missing &limit=100 &after=<next of the page before>",
		},
		{"/api/v1/queue", "how much there is to do, and for how long it has waited"},
		{"/healthz", "200 while the process serves"},
		{"/readyz", "200 while it works, else 503 and why not"},
		{"/metrics", "figures for Prometheus"},
	}})
}

func (a API) serveQueue(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), ReadTimeout)
	defer cancel()
	now := a.Now()
	h, err := a.Store.Health(ctx, now)
	if err != nil {
		a.answerUnreadable(w, r, err)
		return
	}
	WriteJSON(w, http.StatusOK, apiQueue{
		At: now.UTC(), Tasks: h.Keys, Undecided: h.Open, Due: h.Due, Running: h.Leased, Failing: h.Failing, Installations: h.Tenants,
		Deliveries: h.Accepted, OldestSeconds: max(h.Oldest, 0).Seconds(),
		Limited: h.Held, Backlog: h.Backlog, BacklogUntil: h.BacklogUntil,
	})
}

func (a API) servePulls(w http.ResponseWriter, r *http.Request) {
	asked, err := readQuery(r.URL.RawQuery)
	if err != nil {
		WriteJSON(w, http.StatusBadRequest,
			ErrorAnswer{Error: err.Error(), Hint: "for example /api/v1/pulls?undecided=true&repo=acme/shop&limit=20"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), ReadTimeout)
	defer cancel()
	var groups []string
	if asked.repo != "" {
		groups, err = repoKeysNamed(ctx, a.Store, asked.repo)
	}
	var page pullPage
	if err == nil {
		page, err = listPulls(ctx, a.Store, asked.query, groups, asked.filter)
	}
	if err != nil {
		a.answerUnreadable(w, r, err)
		return
	}
	answer := apiPulls{Pulls: make([]apiPull, 0, len(page.rows))}
	if !page.next.IsZero() {
		answer.Next = page.next.UTC().Format(time.RFC3339Nano)
	}
	for _, row := range page.rows {
		pull := apiPullOf(row)
		if pull.Evaluation != nil {
			pull.Evaluation.Page, pull.Evaluation.Heads = nil, nil
		}
		answer.Pulls = append(answer.Pulls, pull)
	}
	WriteJSON(w, http.StatusOK, answer)
}

func (a API) servePull(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), ReadTimeout)
	defer cancel()
	row, err := a.findRow(ctx, r.PathValue("owner"), r.PathValue("repo"), r.PathValue("number"))
	switch {
	case errors.Is(err, store.ErrNoRow):
		WriteJSON(w, http.StatusNotFound, ErrorAnswer{
			Error: "this pull request is not known",
			Hint:  "it becomes known by its first event, or by the next resync if its repository has a policy",
		})
	case err != nil:
		a.answerUnreadable(w, r, err)
	default:
		WriteJSON(w, http.StatusOK, apiPullOf(row))
	}
}

// findRow returns a pull request's row; of several that which was looked at last.
func (a API) findRow(ctx context.Context, owner, repo, number string) (found store.Row, err error) {
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || !repoShape.MatchString(owner+"/"+repo) {
		return store.Row{}, store.ErrNoRow
	}
	groups, err := repoKeysNamed(ctx, a.Store, owner+"/"+repo)
	if err != nil {
		return store.Row{}, err
	}
	for _, group := range groups {
		at, ok := workkey.Parse(group)
		if !ok {
			continue
		}
		row, err := a.Store.Get(ctx, workkey.Pull(at.Tenant, quorum.PR{Owner: at.Owner, Repo: at.Repo, Number: n}))
		switch {
		case errors.Is(err, store.ErrNoRow):
		case err != nil:
			return store.Row{}, err
		case found.Key == "" || row.Seen.After(found.Seen):
			found = row
		}
	}
	if found.Key == "" {
		return store.Row{}, store.ErrNoRow
	}
	return found, nil
}

// answerUnreadable hides what the table said: it may name files.
func (a API) answerUnreadable(w http.ResponseWriter, r *http.Request, err error) {
	a.Log.ErrorContext(r.Context(), "our database cannot be read for the API", "err", err)
	WriteJSON(w, http.StatusServiceUnavailable, ErrorAnswer{Error: "our database cannot be read", Hint: "/readyz and the log say more"})
}

// repoShape is of names as GitHub allows them, and of a few that it does not.
var repoShape = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$`)

// An askedPulls is what a list of pull requests is asked for.
type askedPulls struct {
	query  store.Query
	repo   string // owner/name; "": all
	filter pullFilter
}

// readQuery reads what a list is asked for. What it does not know is an error: a filter with a slip in its name would
// show everything.
func readQuery(raw string) (asked askedPulls, err error) {
	asked.query.Limit = listedPulls
	values, err := url.ParseQuery(raw)
	if err != nil {
		return asked, errors.New("the query cannot be read")
	}
	for name, all := range values {
		if err := asked.set(name, all[len(all)-1]); err != nil {
			return asked, err
		}
	}
	return asked, nil
}

// set sets one of the parameters.
func (asked *askedPulls) set(name, value string) (err error) {
	switch name {
	case "undecided":
		open := value == "true"
		if !open && value != "false" {
			return errors.New("undecided is neither true nor false")
		}
		asked.query.Open = &open
	case "repo":
		if !repoShape.MatchString(value) {
			return errors.New("repo is not owner/name")
		}
		asked.repo = value
	case "state":
		if !slices.Contains(pullStates(), value) {
			return fmt.Errorf("state is none of %s", strings.Join(pullStates(), ", "))
		}
		asked.filter.state = value
	case "reviewer":
		if value == "" {
			return errors.New("reviewer is empty")
		}
		asked.filter.reviewer = value
	case "before":
		if asked.query.Before, err = time.Parse(time.RFC3339Nano, value); err != nil {
			return errors.New("before is no time like 2026-01-02T15:04:05Z")
		}
	case "limit":
		asked.query.Limit, err = parseLimit(value)
		return err
	default:
		return errors.New("the query has a parameter that is not known")
	}
	return nil
}

// parseLimit reads how many a page may have.
func parseLimit(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > mostPulls {
		return 0, fmt.Errorf("limit is no number from 1 to %d", mostPulls)
	}
	return n, nil
}

func apiPullOf(row store.Row) apiPull {
	p := apiPull{
		Installation: row.Tenant, Undecided: row.Open, Evaluating: row.Leased, Last: row.Seen.UTC(),
		Failures: row.Attempts, Failure: row.Failed,
	}
	if !row.Backlog {
		p.Next = row.Due.UTC()
	}
	if at, ok := workkey.Parse(row.Key); ok {
		p.Repository, p.PullRequest = at.Owner+"/"+at.Repo, at.Number
	}
	var s Sight
	if len(row.Sight) > 0 && json.Unmarshal(row.Sight, &s) == nil {
		p.Evaluation = &s
	}
	return p
}

// WriteJSON answers. Whoever has gone needs no answer.
func WriteJSON[T any](w http.ResponseWriter, status int, v T) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
