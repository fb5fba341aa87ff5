package dashboard

// The repositories that the daemon knows: which have a policy, what is wrong with one, and which wait for GitHub. Each
// row is small and moves with every resync, so they are read whole, in an order of their own, and cut into pages here.

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
	mostRepos     = 10_000  // of the table that are read
	mostUndecided = 10_000  // pull requests that are counted
	mostMistakes  = 2 << 10 // bytes of what is wrong with a policy
)

// A RepoSight is kept in the row of a repository: what the last look over it showed.
type RepoSight struct {
	Policy string `json:"policy"` // blob SHA; with a + that of the organisation's
	// Organisation is the repository that holds the organisation's policy, owner/name; "": there is none.
	Organisation string `json:"organisation,omitempty"`

	State    quorum.FileState `json:"state"`
	Path     string           `json:"path,omitempty"`     // of the policy file
	Mistakes string           `json:"mistakes,omitempty"` // in a broken one, see [CutMistakes]
	Latest   time.Time        `json:"latest"`             // change of an open pull request, by GitHub's clock
	Queue    bool             `json:"queue,omitempty"`    // a merge queue had groups
}

// CutMistakes cuts what is wrong with a policy file to what a row may keep: whole lines, or a part of the first. The
// text may quote what strangers wrote.
func CutMistakes(text string) string {
	cut := cutText(text, mostMistakes)
	if end := strings.LastIndexByte(cut, '\n'); end > 0 && len(cut) < len(text) {
		return cut[:end]
	}
	return cut
}

// What is known of a repository's policy, those that need somebody first.
const (
	policyBroken  = "broken"
	policyValid   = "valid"
	policyUnread  = "unread"
	policyMissing = "missing"
)

func policyStates() []string { return []string{policyBroken, policyValid, policyUnread, policyMissing} }

// A knownRepo is a repository's row, read.
type knownRepo struct {
	row           store.Row
	at            workkey.Key
	sight         RepoSight
	policy        string // one of policyStates
	undecided     int    // pull requests
	moreUndecided bool   // undecided is the least that they are
	waits         time.Time
	ordered       string // by what it is ordered within a policy
}

// A repoQuery is what a reader asks the list of repositories for.
type repoQuery struct {
	policy string // one of policyStates; "": whatever is known; another one matches nothing
	words  string // all of them are in its name
	after  string // a page's next; "": the first page
	limit  int
}

// A repoPage is a page of the list.
type repoPage struct {
	repos  []knownRepo
	counts map[string]int // of all repositories, by policy
	next   string         // after of the next page; "": this is the last one
	cut    bool           // the table has more repositories than are read
}

// A repoLister lists repositories.
type repoLister struct {
	store store.Store
	waits func(tenant int64) time.Time // see [Board]; nil: not known
}

// list returns a page.
func (l repoLister) list(ctx context.Context, q repoQuery) (p repoPage, err error) {
	rows, err := l.store.List(ctx, store.Query{Kind: workkey.KindRepo, Limit: mostRepos + 1})
	if err != nil {
		return p, err
	}
	p.cut, p.counts = len(rows) > mostRepos, map[string]int{}
	p.repos = make([]knownRepo, 0, len(rows))
	for _, row := range rows[:min(len(rows), mostRepos)] {
		r := readRepo(row)
		p.counts[r.policy]++
		if (q.policy == "" || q.policy == r.policy) && hasWords(strings.ToLower(r.name()), q.words) {
			p.repos = append(p.repos, r)
		}
	}
	slices.SortFunc(p.repos, knownRepo.compare)
	if after, ok := parseAfter(q.after); ok {
		from, found := slices.BinarySearchFunc(p.repos, after, knownRepo.compare)
		if found {
			from++
		}
		p.repos = p.repos[from:]
	}
	if len(p.repos) > q.limit {
		p.repos = p.repos[:q.limit]
		last := p.repos[q.limit-1]
		p.next = last.policy + ":" + last.row.Key
	}
	return p, l.complete(ctx, p.repos)
}

// complete adds what does not stand in the rows of the repositories themselves.
func (l repoLister) complete(ctx context.Context, repos []knownRepo) error {
	if len(repos) == 0 {
		return nil
	}
	open := true
	q := store.Query{Kind: workkey.KindPull, Open: &open, Thin: true, Limit: mostUndecided + 1}
	rows, err := l.store.List(ctx, q)
	if err != nil {
		return err
	}
	undecided := map[string]int{}
	for _, row := range rows[:min(len(rows), mostUndecided)] {
		undecided[row.Group]++
	}
	for i := range repos {
		r := &repos[i]
		r.undecided, r.moreUndecided = undecided[r.row.Key], len(rows) > mostUndecided
		if l.waits != nil {
			r.waits = l.waits(r.row.Tenant)
		}
	}
	return nil
}

func readRepo(row store.Row) knownRepo {
	r := knownRepo{row: row, policy: policyUnread}
	r.at, _ = workkey.Parse(row.Key)
	r.ordered = orderOf(row.Key)
	if len(row.Sight) == 0 || json.Unmarshal(row.Sight, &r.sight) != nil {
		r.sight = RepoSight{}
		return r
	}
	switch r.sight.State {
	case quorum.FileBroken:
		r.policy = policyBroken
	case quorum.FileValid:
		r.policy = policyValid
	case quorum.FileMissing:
		r.policy = policyMissing
	}
	return r
}

// name is owner/name, or the key where that is odd.
func (r knownRepo) name() string {
	if r.at.Repo == "" {
		return r.row.Key
	}
	return r.at.Owner + "/" + r.at.Repo
}

// orderOf is what a repository is ordered by: its name, however it is written, and then its installation.
func orderOf(key string) string {
	tenant, name, _ := strings.Cut(key, "/")
	return strings.ToLower(name) + " " + tenant
}

func (r knownRepo) compare(other knownRepo) int {
	all := policyStates()
	return cmp.Or(
		cmp.Compare(slices.Index(all, r.policy), slices.Index(all, other.policy)),
		cmp.Compare(r.ordered, other.ordered),
	)
}

// parseAfter reads a cursor: a repository that need not be known any more.
func parseAfter(text string) (r knownRepo, ok bool) {
	policy, key, ok := strings.Cut(text, ":")
	if !ok || !slices.Contains(policyStates(), policy) {
		return knownRepo{}, false
	}
	return knownRepo{policy: policy, ordered: orderOf(key)}, true
}

// hasWords reports whether a text in lower case has every word of a query in it.
func hasWords(text, query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
