package daemon

import (
	"maps"
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
	mu     sync.Mutex
	byRepo map[string]knownPolicy
	byBlob map[string]*quorum.Policy // the one that was read last from a blob, as many repositories have the same
}

type knownPolicy struct {
	state  quorum.FileState
	policy *quorum.Policy // not to be changed: repositories share it
	readAt time.Time      // when it began to be read
}

const (
	mostRepos    = 1 << 16 // whose policies are remembered
	mostPolicies = 4096    // different ones: one may take a megabyte
)

func newPolicyCache() *policyCache {
	return &policyCache{byRepo: map[string]knownPolicy{}, byBlob: map[string]*quorum.Policy{}}
}

// put remembers a policy that began to be read at a time. One that was read later stays: a slow look must not bring
// back the policy from before a push. Of a file that is not valid no policy is kept.
func (c *policyCache) put(repo string, f quorum.PolicyFile, p quorum.Policy, readAt time.Time) {
	blob := f.Blobs()
	if f.State != quorum.FileValid {
		p, blob = quorum.Policy{}, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, known := c.byRepo[repo]; known && readAt.Before(old.readAt) {
		return
	}
	if len(c.byRepo) >= mostRepos || len(c.byBlob) >= mostPolicies { // each is read again when it is needed
		clear(c.byRepo)
		clear(c.byBlob)
	}
	shared := c.byBlob[blob]
	if shared == nil || !reflect.DeepEqual(*shared, p) { // that of a lane is another
		shared = &p
		c.byBlob[blob] = shared
	}
	c.byRepo[repo] = knownPolicy{f.State, shared, readAt}
}

// forgetTenant drops the repositories of a tenant.
func (c *policyCache) forgetTenant(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.byRepo, func(repo string, _ knownPolicy) bool { return strings.HasPrefix(repo, workkey.Tenant(id)+"/") })
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
