package github

// Lists the open pull requests of a repository that changed since the last look. A program that lives on events asks
// for them now and then, because events get lost.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// RecentChanges are the changes of a repository since a moment.
type RecentChanges struct {
	File   quorum.PolicyFile
	Policy quorum.Policy // zero unless File is valid
	Pulls  []RecentPull  // the one changed last first; none where there is no policy
	Latest time.Time     // of the last change of any open pull request, by GitHub's clock
	Skew   time.Duration // by which that is ahead of ours, as far as it is known
	Branch string        // the default one; "" where no pull request is open
}

// RecentPull is an open pull request that was changed.
type RecentPull struct {
	PR      quorum.PR
	Head    string
	Updated time.Time
}

// Changed reads a repository's policy and, if there is one, which open pull requests were changed at since or later;
// zero asks for all. GitHub does not count a check or a run as a change of the pull request. Where nothing was changed
// the answers are those of the last time and cost nothing.
func (f *Forge) Changed(ctx context.Context, owner, repo string, since time.Time) (RecentChanges, error) {
	fail := func(err error) (RecentChanges, error) {
		return RecentChanges{}, fmt.Errorf("list changed pull requests of %s/%s: %w", owner, repo, err)
	}
	l := f.policyOf(owner, repo)
	if err := l.readPolicy(ctx); err != nil { // as a look reads it
		return fail(err)
	}
	r := RecentChanges{File: l.file, Policy: l.policy, Skew: f.client.Skew()}
	if r.File.State == quorum.FileMissing {
		return r, nil
	}
	if r.File.State != quorum.FileValid {
		r.Policy = quorum.Policy{}
	}
	path := client.RepoPath(owner, repo, "pulls") + "?state=open&sort=updated&direction=desc&per_page=100"
	seen := map[int]bool{} // the list moves while it is read
	for range maxPages {
		page, answer, err := readPage[recentPull](ctx, f.client, path, "", false)
		if err != nil {
			return fail(err)
		}
		for _, p := range page {
			r.Branch = p.Base.Repo.DefaultBranch
			if p.Updated.After(r.Latest) {
				r.Latest = p.Updated
			}
			if p.Updated.Before(since) {
				return r, nil
			}
			r.addPull(p, owner, repo, seen)
		}
		if answer.Next == "" {
			return r, nil
		}
		path = answer.Next
	}
	return fail(fmt.Errorf("read %s: more than %d pages", path, maxPages))
}

// recentPull is a pull request as the list shows it, as far as it is read.
type recentPull struct {
	Number  int       `json:"number"`
	Updated time.Time `json:"updated_at"`
	Head    struct {
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Repo struct {
			DefaultBranch string `json:"default_branch"`
		} `json:"repo"`
	} `json:"base"`
}

func (r *RecentChanges) addPull(p recentPull, owner, repo string, seen map[int]bool) {
	if p.Number <= 0 || seen[p.Number] {
		return
	}
	seen[p.Number] = true
	r.Pulls = append(r.Pulls, RecentPull{PR: quorum.PR{Owner: owner, Repo: repo, Number: p.Number}, Head: p.Head.SHA, Updated: p.Updated})
}
