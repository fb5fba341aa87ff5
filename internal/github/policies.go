package github

// Policies as they were read last: they spare a request, or the parsing of the same file again.

import (
	"slices"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// cachedPolicy is a repository's policy as it was read last. It decides what is read in parallel, spares parsing the
// same file again, and stands for the file where GitHub says that it is still that one.
type cachedPolicy struct {
	file   quorum.PolicyFile
	policy quorum.Policy
	src    untrusted.Digest
	named  bool // the conversation names the file as REST does, by its content's own hash: it is no link, nor too large
}

// maxRepos bounds how many repositories' policies are kept, and how many different ones.
const maxRepos = 64

// lastPolicies holds the policies that a forge read last, by repository. It may be used by several goroutines.
type lastPolicies struct {
	mu    sync.Mutex
	repos map[string]cachedPolicy // by "owner/repo"
}

func repoKey(pr quorum.PR) string { return strings.ToLower(pr.Owner + "/" + pr.Repo) }

// lookup returns the policy of pr's repository as it was read last.
func (c *lastPolicies) lookup(pr quorum.PR) (cachedPolicy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, known := c.repos[repoKey(pr)]
	return s, known
}

// noteNamed notes whether the conversation names what was read last, if that is still sha, as REST does.
func (c *lastPolicies) noteNamed(pr quorum.PR, sha string, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known := c.repos[repoKey(pr)]; known && s.file.SHA == sha {
		s.named = yes
		c.repos[repoKey(pr)] = s
	}
}

// store keeps a policy that was read.
func (c *lastPolicies) store(pr quorum.PR, s cachedPolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.repos == nil {
		c.repos = map[string]cachedPolicy{}
	}
	if len(c.repos) >= maxRepos {
		clear(c.repos)
	}
	c.repos[repoKey(pr)] = s
}

// withOwnAccounts returns a policy without the ids of presets' accounts, where the host is not the one that gave them.
func (f *Forge) withOwnAccounts(p quorum.Policy) quorum.Policy {
	if f.client.IsGitHubCom() {
		return p
	}
	p.Reviewers = slices.Clone(p.Reviewers) // others have the same policy
	for i := range p.Reviewers {
		p.Reviewers[i].AuthorID = 0
	}
	return p
}

// parsedPolicies are the policies that were parsed last, of whatever repository. It may be used by several goroutines.
type parsedPolicies struct {
	mu    sync.Mutex
	byKey map[policyKey]quorum.Policy
}

// policyKey is what a policy depends on: many repositories have the same file.
type policyKey struct {
	path string
	src  untrusted.Digest
	org  quorum.OrganisationFile
}

// parse reads a policy file beside the organisation's policy, one that reads the same only once.
func (all *parsedPolicies) parse(
	path string, src []byte, is untrusted.Digest, org quorum.OrganisationFile, policy *config.Organisation,
) (quorum.Policy, error) {
	return all.parseOnce(policyKey{path, is, org}, func() (quorum.Policy, error) { return config.Merge(path, src, policy) })
}

// parseDefault returns the organisation's policy for a repository that has none, made only once.
func (all *parsedPolicies) parseDefault(org quorum.OrganisationFile, policy *config.Organisation) quorum.Policy {
	p, _ := all.parseOnce(policyKey{org: org}, func() (quorum.Policy, error) { return policy.Policy(), nil }) // it had no mistakes
	return p
}

func (all *parsedPolicies) parseOnce(key policyKey, parse func() (quorum.Policy, error)) (quorum.Policy, error) {
	all.mu.Lock()
	p, known := all.byKey[key]
	all.mu.Unlock()
	if known {
		return p, nil
	}
	p, err := parse()
	if err == nil {
		all.mu.Lock()
		defer all.mu.Unlock()
		if all.byKey == nil {
			all.byKey = map[policyKey]quorum.Policy{}
		}
		if len(all.byKey) >= maxRepos {
			clear(all.byKey)
		}
		all.byKey[key] = p
	}
	return p, err
}
