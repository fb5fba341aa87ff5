package dashboard

// A list of pull requests that a reader asked for: what the table cannot select by is read off its rows, a bounded part
// of it at a time, and whoever wants more goes on from there.

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	mostScanned = 1000 // rows that are read off for one list
	scannedStep = 200  // of them at once
)

// stateDraft is the state of a draft: it waits, and nobody need do anything about it.
const stateDraft = "draft"

// pullStates are what a reader may ask for, those that need somebody first.
func pullStates() []string {
	return []string{
		quorum.Unverified.String(), quorum.Blocked.String(), quorum.Waiting.String(), quorum.Passed.String(), stateDraft,
	}
}

// A pullFilter is what a reader asks for beyond what the table selects by. Its zero value is everything.
type pullFilter struct {
	state    string // one of pullStates
	reviewer string // one of the pull request's, however it is written
	words    string // all of them stand in its name, its title or its check's
}

// A filterSight is what a filter reads of a [Sight].
type filterSight struct {
	Title     string    `json:"title"`
	Says      string    `json:"check_title"`
	Verdict   string    `json:"verdict"`
	Draft     bool      `json:"draft"`
	GraceEnd  time.Time `json:"grace_end"`
	Reviewers []struct {
		Name string `json:"name"`
	} `json:"reviewers"`
}

// selects reports whether a row is asked for.
func (f pullFilter) selects(row store.Row) bool {
	if f == (pullFilter{}) {
		return true
	}
	var s filterSight
	state := "queued: not looked at yet"
	if len(row.Sight) > 0 && json.Unmarshal(row.Sight, &s) == nil {
		state = s.state()
	}
	if f.state != "" && f.state != state || f.reviewer != "" && !s.isReviewedBy(f.reviewer) {
		return false
	}
	if !s.GraceEnd.IsZero() && state == quorum.Waiting.String() {
		state += " in grace"
	}
	_, name, _ := strings.Cut(row.Key, "/")
	return hasWords(strings.ToLower(name+" "+s.Title+" "+s.Says+" "+state), f.words)
}

func (s filterSight) state() string {
	if s.Draft && s.Verdict == quorum.Waiting.String() {
		return stateDraft
	}
	return s.Verdict
}

func (s filterSight) isReviewedBy(name string) bool {
	for _, r := range s.Reviewers {
		if strings.EqualFold(r.Name, name) {
			return true
		}
	}
	return false
}

// canBeSettled reports whether a pull request in the filter's state need not be open, see [Sight.Open].
func (f pullFilter) canBeSettled() bool {
	return f.state != quorum.Waiting.String() && f.state != quorum.Unverified.String()
}

// A pullPage is a page of a list.
type pullPage struct {
	rows   []store.Row
	next   time.Time // the next page is of those that were looked at before; zero: there is none
	cut    bool      // it ended at the bound of what is read, not because it is full
	unseen bool      // there are more, which were never looked at: no page begins at them
}

// listPulls returns up to q.Limit rows that are asked for. Groups are the repositories to read; nil: all.
func listPulls(
	ctx context.Context, s store.Store, q store.Query, groups []string, f pullFilter,
) (p pullPage, err error) {
	limit := q.Limit
	q.Kind, q.Limit = workkey.KindPull, limit+1
	if f != (pullFilter{}) {
		q.Limit = scannedStep
	}
	for read := 0; ; {
		rows, err := listGroups(ctx, s, q, groups)
		if err != nil {
			return pullPage{}, err
		}
		for _, row := range rows {
			if !f.selects(row) {
				continue
			}
			if len(p.rows) == limit {
				p.endBefore(row)
				return p, nil
			}
			p.rows = append(p.rows, row)
		}
		if len(rows) < q.Limit {
			return p, nil
		}
		read += len(rows)
		if q.Before = rows[len(rows)-1].Seen; q.Before.IsZero() {
			p.unseen = true
			return p, nil
		}
		if read >= mostScanned {
			p.next, p.cut = q.Before, true
			return p, nil
		}
	}
}

// endBefore ends a full page before a row. Rows that were looked at in one moment stay together, as the next page
// begins before a moment.
func (p *pullPage) endBefore(over store.Row) {
	n := len(p.rows)
	for n > 0 && p.rows[n-1].Seen.Equal(over.Seen) {
		n--
	}
	n = cmp.Or(n, len(p.rows))
	if p.next = p.rows[n-1].Seen; p.next.IsZero() {
		n, p.unseen = len(p.rows), true
	}
	p.rows = p.rows[:n]
}

// listGroups lists rows of several repositories as if they were one.
func listGroups(ctx context.Context, s store.Store, q store.Query, groups []string) (all []store.Row, err error) {
	if groups == nil {
		return s.List(ctx, q)
	}
	for _, group := range groups {
		q.Group = group
		rows, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(x, y store.Row) int { return y.Seen.Compare(x.Seen) })
	return all[:min(len(all), q.Limit)], nil
}

// repoKeysNamed are the keys of a repository: it has one for each tenant that shows it to us, after a transfer two for
// a while. It is not nil.
func repoKeysNamed(ctx context.Context, s store.Store, repo string) (groups []string, err error) {
	rows, err := s.List(ctx, store.Query{Kind: workkey.KindRepo, Limit: mostRepos, Thin: true})
	if err != nil {
		return nil, err
	}
	groups = []string{}
	for _, row := range rows {
		// GitHub compares names without case, and people write them as they like.
		if _, name, _ := strings.Cut(row.Key, "/"); strings.EqualFold(name, repo) {
			groups = append(groups, row.Key)
		}
	}
	return groups, nil
}
