// Package github is GitHub as the loop needs it: it observes a pull request, applies what was decided, and writes the
// check. It promises that an observation is whole or an error and never a smaller truth, that an effect which does
// not hold any more is not carried out, and that a check which reads as it should is not written again. With the
// packages below it, it is the only one that talks to GitHub.
package github

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Forge is GitHub as the loop needs it: it observes, applies and publishes. It may be used by several goroutines, as
// long as one pull request is in one of them.
//
// Between two looks at a pull request it remembers answers of GitHub's that cost a request to ask again; it never
// decides by them anything that GitHub could have changed. A new Forge comes to the same observations.
type Forge struct {
	client *client.Client
	app    appIdentity
	config string // path of the policy; "": the two default ones
	policy []byte // instead of the default branch's; nil: that one
	now    func() time.Time
	log    *slog.Logger

	installation int64       // 0: none
	fence        *writeFence // shared with the other forges of a server; nil: a job has one look at a time

	id       int // among those that share memories
	memories *Memories
	policies lastPolicies
	links    lastLinks

	organisations organisationPolicies

	mu    sync.Mutex
	me    quorum.Account      // whom a personal token belongs to
	blind bool                // it was said that GitHub does not show statuses
	whole time.Time           // when the last look began that read all it needed
	reran map[int64]time.Time // when a rerun of a run was asked for: a personal token has no record of it
}

// NewForge returns a forge that works through c. app is the slug of the App as which c writes check runs; config is
// the path of the policy file on the default branch, or "" for the default ones.
func NewForge(c *client.Client, app, config string, log *slog.Logger) *Forge {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &Forge{client: c, app: fixedApp(app), config: config, now: time.Now, log: log, reran: map[int64]time.Time{}}
	if id := c.AppID(); id != 0 {
		f.app = &ownApp{number: id, slug: app}
	}
	f.Share(NewMemories(maxPulls))
	return f
}

// WithPolicyRepository makes f take the policy of the organisation from a repository, owner/name; "" from each owner's
// .github. It must be called before f is used, and returns f.
func WithPolicyRepository(f *Forge, repo string) *Forge {
	f.organisations.repo = repo
	return f
}

// WithKnownOrganisation makes f know from elsewhere the policy that an owner had when it was read last: not to be shown
// it is to have lost it. It must be called before f is used, and returns f.
func WithKnownOrganisation(f *Forge, owner string, file quorum.OrganisationFile) *Forge {
	f.organisations.remember(owner, file)
	return f
}

// Share makes f remember in all, together with other forges. It must be called before f is used.
func (f *Forge) Share(all *Memories) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forges++
	f.memories, f.id = all, all.forges
}

// SetClock replaces the local clock: of a simulation, or of a test.
func (f *Forge) SetClock(now func() time.Time) { f.now = now }

// Suppose makes f observe as if src stood in the policy file and pull requests were open. It must then write nothing.
func (f *Forge) Suppose(path string, src []byte) { f.config, f.policy = path, src }

// Hint tells of a workflow run that an event has shown: lists of runs come from an index that lags, so that run is
// read by its id.
func (f *Forge) Hint(pr quorum.PR, runs ...int64) { f.Expect(pr, "", runs...) }

// Expect tells of an event, the head that it named ("" if none), and runs that it has shown. The next look then reads
// all it can at once. It is advice: what GitHub shows counts, whatever was told.
func (f *Forge) Expect(pr quorum.PR, head string, runs ...int64) {
	f.withMemory(pr, func(m *memory) { m.noteEvent(head, runs) })
}

// Hear tells of what events have touched. A look that shows a reviewer's text of which one told as it was before, or
// not at all, comes from a replica that lags: it fails for as long as [Forge.Observe] takes such a thing for a lag.
func (f *Forge) Hear(pr quorum.PR, touches ...quorum.Touch) {
	f.withMemory(pr, func(m *memory) { m.noteTouches(touches, f.now()) })
}

// Forget drops what is remembered of pr.
func (f *Forge) Forget(pr quorum.PR) { f.memories.forget(memoryKey{f.id, pr}) }

// CheckID returns the id and page of our check on the head of pr as of the last look or write; 0 without one.
func (f *Forge) CheckID(pr quorum.PR) (id int64, page string) {
	f.withMemory(pr, func(m *memory) {
		if len(m.ownChecks) > 0 {
			id, page = m.ownChecks[0].id, m.ownChecks[0].url
		}
	})
	return id, page
}

// PullsOf returns the open pull requests whose head is sha; a fork's too, which events do not name.
func (f *Forge) PullsOf(ctx context.Context, owner, repo, sha string) (prs []quorum.PR, err error) {
	pulls, err := readPages[restPull](ctx, f.client, nil, client.RepoPath(owner, repo, "commits", sha, "pulls")+"?per_page=100", "")
	for _, p := range pulls {
		if p.State == "open" && p.Head.SHA == sha {
			prs = append(prs, quorum.PR{Owner: owner, Repo: repo, Number: p.Number})
		}
	}
	return prs, err
}

// maxLeftPulls is how many closed pull requests of a head are looked at.
const maxLeftPulls = 3

// PullsLeftOn is [Forge.PullsOf], and where none is open it returns those of a branch (owner:branch) that were closed
// on sha without a merge, the one that changed last first: an event that names no pull request may be about the end of
// one. GitHub lists none of these by their commit.
func (f *Forge) PullsLeftOn(ctx context.Context, owner, repo, sha, branch string) (prs []quorum.PR, err error) {
	prs, err = f.PullsOf(ctx, owner, repo, sha)
	if len(prs) > 0 || err != nil && !client.IsNotFound(err) && !client.IsUnprocessable(err) || branch == "" {
		return prs, err
	}
	q := url.Values{"per_page": {"100"}, "state": {"closed"}, "head": {branch}, "sort": {"updated"}, "direction": {"desc"}}
	closed, _, err := readPage[restPull](ctx, f.client, client.RepoPath(owner, repo, "pulls")+"?"+q.Encode(), "", false)
	for _, p := range closed {
		if p.Head.SHA == sha && p.Merged.IsZero() && len(prs) < maxLeftPulls {
			prs = append(prs, quorum.PR{Owner: owner, Repo: repo, Number: p.Number})
		}
	}
	return prs, err
}

// noteWholeLook notes that a look read all it needed.
func (f *Forge) noteWholeLook(began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole = began
}

// warnOfUnshownStatuses says once what a job does without statuses.
func (f *Forge) warnOfUnshownStatuses(pr quorum.PR) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.blind {
		f.log.Warn("GitHub does not show commit statuses to this token: none is kept beside the check, without which GitHub's merge gate "+
			"may pass over the check; give the job the permission statuses: write", oplog.PullRequest(pr))
	}
	f.blind = true
}

// writesAsJob reports whether the forge writes with a job's GITHUB_TOKEN.
func (f *Forge) writesAsJob() bool {
	return f.app.KnownSlug() == quorum.ActionsApp && !f.client.Personal()
}
