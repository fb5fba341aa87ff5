package github

import (
	"context"
	"crypto/sha1" //nolint:gosec // Git names files by it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A policyReader reads the policy of a pull request's repository.
type policyReader struct {
	pullReader
	f      *Forge
	src    []byte // nil: it was not read now
	file   quorum.PolicyFile
	policy quorum.Policy
}

// policyOf returns a reader of a repository's policy.
func (f *Forge) policyOf(owner, repo string) *policyReader {
	return &policyReader{f: f, pullReader: pullReader{client: f.client, pr: quorum.PR{Owner: owner, Repo: repo}, news: &newsFlag{}}}
}

// policyPaths are where a policy may stand; the first that is there counts.
func (r *policyReader) policyPaths() []string {
	if r.f.config != "" {
		return []string{r.f.config}
	}
	return config.Paths()
}

// pathInConversation is the path of which the conversation tells what stands there: one that Git takes.
func (r *policyReader) pathInConversation() string {
	if path := r.policyPaths()[0]; fs.ValidPath(path) && r.f.policy == nil {
		return path
	}
	return config.Paths()[0]
}

// sparedPolicy returns the policy that was read last, if the conversation, which is read in parallel, will tell whether
// it still stands: then the file is asked for only if it does not.
func (r *policyReader) sparedPolicy(conversed bool) (was cachedPolicy, spared bool) {
	was, known := r.f.policies.lookup(r.pr)
	return was, known && was.named && was.file.Path == r.pathInConversation() && r.f.policy == nil && conversed
}

// readPolicy reads the policy file of the default branch: never of the pull request, nor of a base that a contributor
// chose.
func (r *policyReader) readPolicy(ctx context.Context) error {
	paths := r.policyPaths()
	was, known := r.f.policies.lookup(r.pr)
	for _, path := range paths {
		src, sha, err := r.f.policy, "", error(nil)
		if src == nil {
			src, sha, err = r.readFile(ctx, path, "")
		}
		if client.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.src = src
		now := cachedPolicy{file: quorum.PolicyFile{State: quorum.FileValid, Path: path, SHA: sha}, src: sha256.Sum256(src)}
		if known && was.src == now.src && was.file.Path == path && was.file.SHA == sha && was.file.State != quorum.FileMissing {
			r.file, r.policy = was.file, was.policy
			return nil
		}
		if now.policy, err = r.f.memories.policies.parse(path, src, now.src); err != nil {
			now.file.State, now.file.Problem = quorum.FileBroken, err.Error()
		}
		now.policy = r.f.withOwnAccounts(now.policy)
		r.file, r.policy = now.file, now.policy
		r.f.policies.store(r.pr, now)
		return nil
	}
	r.file = quorum.PolicyFile{State: quorum.FileMissing, Path: paths[0]}
	r.f.policies.store(r.pr, cachedPolicy{file: r.file})
	return nil
}

// readProposedPolicy reads the policy file as a commit has it, and returns what is wrong with it; "" if nothing is.
func (r *policyReader) readProposedPolicy(ctx context.Context, path, head string) (problem string, err error) {
	src, _, err := r.readFile(ctx, path, head)
	switch {
	case client.IsNotFound(err):
		return "the pull request deletes or renames it", nil
	case errors.Is(err, errNoFile):
		return "the pull request makes it something else than a file", nil
	case err != nil:
		return "", err
	}
	if _, broken := config.Parse(path, src); broken != nil {
		problem = broken.Error()
	}
	return problem, nil
}

// blobID is the name that Git gives to a file that holds src.
func blobID(src []byte) string {
	sum := sha1.Sum(slices.Concat(fmt.Appendf(nil, "blob %d\x00", len(src)), src)) //nolint:gosec // as Git does
	return hex.EncodeToString(sum[:])
}
