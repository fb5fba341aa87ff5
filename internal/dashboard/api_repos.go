package dashboard

// The list of repositories as JSON, see api.go.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

type apiRepos struct {
	Repositories []apiRepo      `json:"repositories"`
	Counts       map[string]int `json:"counts"`         // of all, by policy
	More         bool           `json:"more,omitempty"` // there are more than are counted and listed
	Next         string         `json:"next,omitempty"` // value of after for the next page
}

type apiRepo struct {
	Installation  int64     `json:"installation"`
	Repository    string    `json:"repository"`
	Policy        string    `json:"policy"`
	PolicyPath    string    `json:"policy_path,omitempty"`
	Mistakes      string    `json:"mistakes,omitempty"` // may quote what strangers wrote
	Undecided     int       `json:"undecided"`
	MoreUndecided bool      `json:"more_undecided,omitempty"`
	Waits         time.Time `json:"waits_until,omitzero"`
	Next          time.Time `json:"next_look,omitzero"`
	Last          time.Time `json:"last_look,omitzero"`
	Failures      int       `json:"failures"`
	Failure       string    `json:"failure,omitempty"` // may quote what strangers wrote
}

func (a API) serveRepos(w http.ResponseWriter, r *http.Request) {
	q, err := readRepoQuery(r.URL.RawQuery)
	if err != nil {
		WriteJSON(w, http.StatusBadRequest, ErrorAnswer{
			Error: err.Error(), Hint: "for example /api/v1/repositories?policy=broken&limit=20",
		})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), ReadTimeout)
	defer cancel()
	page, err := repoLister{a.Store, a.Waits}.list(ctx, q)
	if err != nil {
		a.answerUnreadable(w, r, err)
		return
	}
	answer := apiRepos{
		Repositories: make([]apiRepo, 0, len(page.repos)), Counts: page.counts, More: page.cut, Next: page.next,
	}
	for _, repo := range page.repos {
		answer.Repositories = append(answer.Repositories, apiRepoOf(repo))
	}
	WriteJSON(w, http.StatusOK, answer)
}

func apiRepoOf(r knownRepo) apiRepo {
	return apiRepo{
		Installation: r.row.Tenant, Repository: r.name(), Policy: r.policy, PolicyPath: r.sight.Path,
		Mistakes: r.sight.Mistakes, Undecided: r.undecided, MoreUndecided: r.moreUndecided, Waits: r.waits.UTC(),
		Next: r.row.Due.UTC(), Last: r.row.Seen.UTC(), Failures: r.row.Attempts, Failure: r.row.Failed,
	}
}

// readRepoQuery reads what the list of repositories is asked for, as strictly as readQuery.
func readRepoQuery(raw string) (q repoQuery, err error) {
	q.limit = listedPulls
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, errors.New("the query cannot be read")
	}
	for name, all := range values {
		value := all[len(all)-1]
		switch name {
		case "policy":
			if !slices.Contains(policyStates(), value) {
				return q, fmt.Errorf("policy is none of %s", strings.Join(policyStates(), ", "))
			}
			q.policy = value
		case "after":
			if _, ok := parseAfter(value); !ok {
				return q, errors.New("after is no next of a page")
			}
			q.after = value
		case "limit":
			if q.limit, err = parseLimit(value); err != nil {
				return q, err
			}
		default:
			return q, errors.New("the query has a parameter that is not known")
		}
	}
	return q, nil
}
