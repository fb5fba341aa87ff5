package daemon

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A knownPolicy is a repository's policy as it was read last, so that an event that concerns no reviewer costs no request. No
// decision rests on it: every look reads the policy again.
type knownPolicy struct {
	state  quorum.FileState
	policy *quorum.Policy // its parts are the forge's, and those of other repositories: they are not changed
	readAt time.Time      // when it began to be read
}

// mostPolicies is of how many repositories a policy is remembered: a long one may take a megabyte.
const mostPolicies = 1 << 13

// putPolicy remembers a policy that began to be read at a time. One that was read later stays: a slow look must not bring
// back the policy from before a push. Of a file that is not valid no policy is kept.
func (b *tenantBook) putPolicy(at workkey.Key, f quorum.PolicyFile, p quorum.Policy, readAt time.Time) {
	if f.State != quorum.FileValid {
		p = quorum.Policy{}
	}
	repo := workkey.Repo(at.Tenant, at.Owner, at.Repo)
	b.mu.Lock()
	defer b.mu.Unlock()
	if readAt.Before(b.policies[repo].readAt) {
		return
	}
	if _, isKnown := b.policies[repo]; !isKnown && len(b.policies) >= mostPolicies { // each is read again when it is needed
		clear(b.policies)
	}
	b.policies[repo] = knownPolicy{f.State, &p, readAt}
}

// policyOf returns a repository's policy; the zero one if it is not known.
func (b *tenantBook) policyOf(at workkey.Key) knownPolicy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policies[workkey.Repo(at.Tenant, at.Owner, at.Repo)]
}

// reviewersTouches returns the touches without those of strangers' texts, as far as the policy is known: strangers' may
// be many, and few are kept. People's commands are no strangers'.
func (k knownPolicy) reviewersTouches(touches []quorum.Touch) []quorum.Touch {
	if k.state != quorum.FileValid {
		return touches
	}
	return slices.DeleteFunc(slices.Clone(touches), func(t quorum.Touch) bool {
		isAuthor := func(r quorum.Reviewer) bool { return evidence.WroteBy(r, t.Author) }
		return t.Author != "" && t.Press == 0 && !t.Command && !slices.ContainsFunc(k.policy.Reviewers, isAuthor)
	})
}
