package dashboard

// What the reader of the overview asks for, and its address: all of it stands there, so that a view can be sent to
// somebody else, and be had without a script.

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A boardFilter is what the reader asked for.
type boardFilter struct {
	Group       string // the key of a repository, see [workkey.Repo]; "": Repo is all that is known of it
	Repo        string // its name
	State       string
	Reviewer    string
	Query, View string
	Before      time.Time
}

// readBoardFilter reads what was asked for. What a filter asks for that there is not matches nothing: left out, it
// would show everything.
func readBoardFilter(q url.Values) boardFilter {
	text := func(name string) string { return boardClip(strings.TrimSpace(q.Get(name)), 200) }
	f := boardFilter{Query: text("q"), State: text("state"), Reviewer: text("reviewer"), Repo: text("repo")}
	if at, ok := workkey.Parse(f.Repo); ok && at.Repo != "" {
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
	for name, value := range map[string]string{
		"repo": cmp.Or(f.Group, f.Repo), "state": f.State, "reviewer": f.Reviewer, "q": f.Query, "view": view,
	} {
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

// rows is the filter of the rows.
func (f boardFilter) rows() pullFilter {
	return pullFilter{state: f.State, reviewer: f.Reviewer, words: f.Query}
}

// findGroups returns the repositories to read; nil: all. It reports false if nothing can match.
func (f boardFilter) findGroups(ctx context.Context, s store.Store) (groups []string, ok bool, err error) {
	switch {
	case f.State != "" && !slices.Contains(pullStates(), f.State):
		return nil, false, nil
	case f.Group != "":
		return []string{f.Group}, true, nil
	case f.Repo != "":
		groups, err = repoKeysNamed(ctx, s, f.Repo)
		return groups, len(groups) > 0, err
	}
	return nil, true, nil
}

// States are what a reader may choose from.
func (f boardFilter) States() []string { return pullStates() }

// A boardAsked is one thing that the reader asked for.
type boardAsked struct {
	Name, Value string
	Without     string // the view that does not ask for it
}

// Asked are the filters that hold.
func (f boardFilter) Asked() (asked []boardAsked) {
	add := func(name, value string, without boardFilter) {
		if value != "" {
			asked = append(asked, boardAsked{name, value, without.at(without.View, time.Time{})})
		}
	}
	without := f
	without.Group, without.Repo = "", ""
	add("repository", f.Repo, without)
	without = f
	without.State = ""
	add("state", f.State, without)
	without = f
	without.Reviewer = ""
	add("reviewer", f.Reviewer, without)
	without = f
	without.Query = ""
	add("words", f.Query, without)
	without = f
	without.View = ""
	add("section", f.View, without)
	if !f.Before.IsZero() {
		add("time", "before "+f.Before.UTC().Format("2006-01-02 15:04:05 UTC"), f)
	}
	return asked
}
