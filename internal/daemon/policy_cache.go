package daemon

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A policyCache remembers a bounded number of repositories' policies, and of different ones, so that an event that concerns no
// reviewer costs no request. No decision rests on them: every look reads the policy again. It may be used by several
// goroutines.
type policyCache struct {
	most   int // repositories
	mu     sync.Mutex
	byRepo map[string]knownPolicy
	byBlob map[string]*quorum.Policy // the one that was read last from a blob, as many repositories have the same
	repos  map[*quorum.Policy]int    // how many repositories have it
}

type knownPolicy struct {
	state  quorum.FileState
	policy *quorum.Policy // not to be changed: repositories share it
	readAt time.Time      // when it began to be read
	blob   string
}

// mostPolicies bounds the different policies: one may take a megabyte.
const mostPolicies = 4096

func newPolicyCache(most int) *policyCache {
	return &policyCache{most: most, byRepo: map[string]knownPolicy{}, byBlob: map[string]*quorum.Policy{}, repos: map[*quorum.Policy]int{}}
}

// put remembers a policy that began to be read at a time. One that was read later stays: a slow look must not bring
// back the policy from before a push. Of a file that is not valid no policy is kept.
func (c *policyCache) put(repo string, f quorum.PolicyFile, p quorum.Policy, readAt time.Time) {
	now := knownPolicy{f.State, &p, readAt, f.Blobs()}
	if f.State != quorum.FileValid {
		now.policy, now.blob = &quorum.Policy{}, ""
	}
	c.mu.Lock()
	shared := c.byBlob[now.blob]
	c.mu.Unlock()
	if shared != nil && reflect.DeepEqual(*shared, *now.policy) { // that of a lane is another
		now.policy = shared
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, known := c.byRepo[repo]; known && readAt.Before(old.readAt) {
		return
	}
	c.forget(repo)
	for len(c.byRepo) > 0 && (len(c.byRepo) >= c.most || len(c.repos) >= mostPolicies && c.repos[now.policy] == 0) {
		for repo := range c.byRepo { // any of them: it is read again when it is needed
			c.forget(repo)
			break
		}
	}
	c.byRepo[repo] = now
	c.byBlob[now.blob] = now.policy
	c.repos[now.policy]++
}

// forget drops a repository, and its policy if no other has it; c.mu is held.
func (c *policyCache) forget(repo string) {
	k, known := c.byRepo[repo]
	if !known {
		return
	}
	delete(c.byRepo, repo)
	if c.repos[k.policy]--; c.repos[k.policy] <= 0 {
		delete(c.repos, k.policy)
		if c.byBlob[k.blob] == k.policy {
			delete(c.byBlob, k.blob)
		}
	}
}

// forgetTenant drops the repositories of a tenant.
func (c *policyCache) forgetTenant(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for repo := range c.byRepo {
		if strings.HasPrefix(repo, workkey.Tenant(id)+"/") {
			c.forget(repo)
		}
	}
}

func (c *policyCache) get(repo string) (knownPolicy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.byRepo[repo]
	return p, known
}

// reviewersTouches returns the touches without those of strangers' texts, as far as the policy is known: strangers' may
// be many, and few are kept. People's commands are no strangers'.
func (c *policyCache) reviewersTouches(p workkey.Key, touches []quorum.Touch) []quorum.Touch {
	known, ok := c.get(workkey.Repo(p.Tenant, p.Owner, p.Repo))
	if !ok || known.state != quorum.FileValid {
		return touches
	}
	return slices.DeleteFunc(slices.Clone(touches), func(t quorum.Touch) bool {
		isAuthor := func(r quorum.Reviewer) bool { return evidence.WroteBy(r, t.Author) }
		return t.Author != "" && t.Press == 0 && !t.Command && !slices.ContainsFunc(known.policy.Reviewers, isAuthor)
	})
}
