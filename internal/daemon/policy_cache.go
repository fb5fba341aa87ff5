package daemon

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A policyCache remembers a bounded number of repositories' policies, so that an event that concerns no reviewer costs
// no request. No decision rests on them: every look reads the policy again. It may be used by several goroutines.
type policyCache struct {
	most   int // repositories
	mu     sync.Mutex
	byRepo map[string]knownPolicy
	byBlob map[string]*quorum.Policy // the one that was read last from a blob, as many repositories have the same
}

type knownPolicy struct {
	state  quorum.FileState
	policy *quorum.Policy // not to be changed: repositories share it
	readAt time.Time      // when it began to be read
}

// mostBlobs bounds the blobs whose policies are shared.
const mostBlobs = 4096

func newPolicyCache(most int) *policyCache {
	return &policyCache{most: most, byRepo: map[string]knownPolicy{}, byBlob: map[string]*quorum.Policy{}}
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
	c.byRepo[repo] = knownPolicy{f.State, c.sharePolicy(f.SHA, p), readAt}
}

// sharePolicy returns the policy that others read from the same blob, if it is the same: that of a lane is another.
func (c *policyCache) sharePolicy(blob string, p quorum.Policy) *quorum.Policy {
	if shared, ok := c.byBlob[blob]; ok && reflect.DeepEqual(*shared, p) {
		return shared
	}
	if len(c.byBlob) >= mostBlobs {
		clear(c.byBlob)
	}
	c.byBlob[blob] = &p
	return &p
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
		isAuthor := func(r quorum.Reviewer) bool { return strings.EqualFold(r.Author, t.Author) }
		return t.Author != "" && t.Press == 0 && !t.Command && !slices.ContainsFunc(known.policy.Reviewers, isAuthor)
	})
}
