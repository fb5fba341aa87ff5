package dashboard

// The page of the repositories.

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// boardRepos is the list of repositories as it is shown.
type boardRepos struct {
	Policy string // the one that the reader asked for; "": all
	After  bool   // it is not the first page
	States []boardState
	Rows   []boardRepo
	Next   string // where the next page is; "": this is the last one
	Cut    bool   // there are more repositories than are read
}

// A boardState is a state of a policy, and how many repositories have theirs in it.
type boardState struct {
	Mark  boardMark
	Count string
	Link  string
	Here  bool // these are shown
}

// A boardRepo is a repository as it is shown.
type boardRepo struct {
	ID        string
	Name      string
	Pulls     string // the overview of it; "" if its key is odd
	Mark      boardMark
	Mistakes  string // what is wrong with its policy, in lines
	Undecided string
	Waits     *boardMoment
	Seen      *boardMoment
	Failed    string
	Attempts  int
}

func (s *boardSite) repositories(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	q := repoQuery{after: asked.Get("after"), limit: boardPage}
	q.words = boardClip(strings.TrimSpace(asked.Get("q")), 200)
	q.policy = boardClip(strings.TrimSpace(asked.Get("policy")), 20) // one that there is not matches nothing
	if _, ok := parseAfter(q.after); !ok {
		q.after = ""
	}
	page, err := repoLister{s.Store, s.Waits}.list(r.Context(), q)
	if err != nil {
		s.broken(w)
		return
	}
	now := s.Now()
	v := boardRepos{Policy: q.policy, After: q.after != "", Cut: page.cut}
	for _, policy := range policyStates() {
		v.States = append(v.States, boardState{
			Mark: policyMark(policy), Count: grouped(int64(page.counts[policy])),
			Link: reposAt(repoQuery{policy: policy, words: q.words}), Here: policy == q.policy,
		})
	}
	for _, repo := range page.repos {
		v.Rows = append(v.Rows, showRepo(repo, now))
	}
	if page.next != "" {
		v.Next = reposAt(repoQuery{policy: q.policy, words: q.words, after: page.next})
	}
	s.show(w, r, http.StatusOK, boardView{
		Page: "repositories", Title: "Repositories · Review coordinator", Filter: boardFilter{Query: q.words}, Repos: v,
		Self: reposAt(q), Events: "/events", Every: 5000, // the list is read whole
	})
}

// reposAt is where a list of repositories is.
func reposAt(q repoQuery) string {
	values := make(url.Values)
	for name, value := range map[string]string{"policy": q.policy, "q": q.words, "after": q.after} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return "/repositories"
	}
	return "/repositories?" + values.Encode()
}

func policyMark(policy string) boardMark {
	switch policy {
	case policyBroken:
		return boardMark{"broken", "cross", "bad"}
	case policyValid:
		return boardMark{"has a policy", "check", "ok"}
	case policyMissing:
		return boardMark{"no policy", "dash", "calm"}
	default:
		return boardMark{"not read yet", "clock", "calm"}
	}
}

func showRepo(r knownRepo, now time.Time) boardRepo {
	v := boardRepo{
		ID: "repo-" + idOf(r.row.Key), Name: boardClip(r.name(), 210), Mark: policyMark(r.policy),
		Undecided: grouped(int64(r.undecided)), Failed: boardClip(r.row.Failed, 600), Attempts: r.row.Attempts,
	}
	if r.at.Repo != "" {
		v.Pulls = boardFilter{Group: r.row.Key}.at("", time.Time{})
	}
	if r.policy == policyBroken {
		v.Mistakes = clipBlock(r.sight.Mistakes)
	}
	if r.moreUndecided {
		v.Undecided = "at least " + v.Undecided
	}
	if r.waits.After(now) {
		v.Waits = new(momentAt(r.waits, now))
	}
	if !r.row.Seen.IsZero() {
		v.Seen = new(momentAt(r.row.Seen, now))
	}
	return v
}
