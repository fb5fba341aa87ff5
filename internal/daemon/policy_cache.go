package daemon

import (
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A policyCache remembers a bounded number of repositories' policies, so that an event that concerns no reviewer costs
// no request. No decision rests on them: every look reads the policy again. It may be used by several goroutines.
type policyCache struct {
	most   int // policies
	mu     sync.Mutex
	byRepo map[string]knownPolicy
}

type knownPolicy struct {
	state  quorum.FileState
	policy quorum.Policy
	readAt time.Time // when it began to be read
}

func newPolicyCache(most int) *policyCache {
	return &policyCache{most: most, byRepo: map[string]knownPolicy{}}
}

// put remembers a policy that began to be read at a time. One that was read later stays: a slow look must not bring
// back the policy from before a push.
func (c *policyCache) put(repo string, f quorum.PolicyFile, p quorum.Policy, readAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.byRepo[repo]
	if known && readAt.Before(old.readAt) {
		return
	}
	if !known && len(c.byRepo) >= c.most {
		for old := range c.byRepo { // any of them: it is read again when it is needed
			delete(c.byRepo, old)
			break
		}
	}
	c.byRepo[repo] = knownPolicy{f.State, p, readAt}
}

func (c *policyCache) get(repo string) (knownPolicy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.byRepo[repo]
	return p, known
}
