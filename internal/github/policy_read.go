package github

import (
	"cmp"
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
	src    []byte             // nil: it was not read now
	org    organisationPolicy // as of that
	file   quorum.PolicyFile
	policy quorum.Policy

	vanished bool // a file that was there was not found, once: a replica, and an outage, may say so
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

// pathInConversation is the path at which the conversation looks: where the policy stood last, or may stand, if Git takes it.
func (r *policyReader) pathInConversation() string {
	was, _ := r.f.policies.lookup(r.pr)
	if path := cmp.Or(was.file.Path, r.policyPaths()[0]); fs.ValidPath(path) && r.f.policy == nil {
		return path
	}
	return config.Paths()[0]
}

// sparedPolicy returns the policy that was read last, if the conversation, which is read in parallel, will tell whether
// it still stands: then the file is asked for only if it does not.
func (r *policyReader) sparedPolicy(ctx context.Context, conversed bool) (was cachedPolicy, spared bool) {
	was, known := r.f.policies.lookup(r.pr)
	path := was.file.Path // of another than the first it is not told whether that is there by now
	return was, known && was.named && path == r.policyPaths()[0] && path == r.pathInConversation() &&
		r.f.policy == nil && conversed && r.f.organisations.stillIs(ctx, r.pr.Owner, was.file.Org, r.f.now())
}

// readPolicy reads the policy file of the default branch, and that of the organisation: never of the pull request, nor
// of a base that a contributor chose.
func (r *policyReader) readPolicy(ctx context.Context) error {
	file := quorum.PolicyFile{State: quorum.FileMissing, Path: r.policyPaths()[0]}
	g, beside := newGroup(ctx)
	g.Go(func() (err error) {
		r.org, err = r.f.organisations.read(beside, r.client, r.f.now(), r.pr.Owner)
		return err
	})
	g.Go(func() error { return r.findFile(beside, &file) })
	if err := g.Wait(); err != nil {
		return err
	}
	file.Org = r.org.file
	was, known := r.f.policies.lookup(r.pr)
	now := cachedPolicy{file: file, src: sha256.Sum256(r.src)}
	isSame := was.file.Path == file.Path && was.file.SHA == file.SHA && was.file.Org == file.Org && was.src == now.src
	if known && isSame && r.src != nil && was.file.State != quorum.FileMissing && r.org.problem == "" {
		r.file, r.policy = was.file, was.policy
		return nil
	}
	now.parse(r.f.memories, r.src, r.org)
	now.policy = r.f.withOwnAccounts(now.policy)
	r.file, r.policy = now.file, now.policy
	if known && r.src == nil && was.src != now.src && !r.vanished {
		r.vanished = true
		return nil
	}
	r.f.policies.store(r.pr, now)
	return nil
}

// findFile reads the first file that is there.
func (r *policyReader) findFile(ctx context.Context, file *quorum.PolicyFile) error {
	for _, path := range r.policyPaths() {
		src, sha, err := r.f.policy, "", error(nil)
		if src == nil {
			src, sha, err = r.readFile(ctx, path, "")
		}
		if client.IsNotFound(err) {
			continue
		}
		if err == nil {
			r.src, *file = src, quorum.PolicyFile{State: quorum.FileValid, Path: path, SHA: sha}
		}
		return err
	}
	return nil
}

// parse makes the policy of the file, nil if there is none, and of the organisation's.
func (c *cachedPolicy) parse(m *Memories, src []byte, org organisationPolicy) {
	var err error
	switch {
	case org.problem != "":
		c.policy = quorum.Policy{Check: org.check}
		if src != nil && !(org.policy != nil && org.policy.Enforces()) {
			own, _ := config.Parse(c.file.Path, src)
			c.policy.Check = own.Check
		}
		c.file.State, c.file.Problem = quorum.FileBroken, org.problem
	case src == nil && org.policy != nil && org.policy.NamesReviewers():
		c.file.State, c.policy = quorum.FileValid, m.policies.parseDefault(org.file, org.policy)
	case src != nil:
		if c.policy, err = m.policies.parse(c.file.Path, src, c.src, org.file, org.policy); err != nil {
			c.file.State, c.file.Problem = quorum.FileBroken, err.Error()
		}
	}
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
	org, err := r.f.organisations.read(ctx, r.client, r.f.now(), r.pr.Owner)
	if err != nil {
		return "", err
	}
	if _, broken := config.Merge(path, src, org.policy); broken != nil {
		problem = broken.Error()
	}
	return problem, nil
}

// blobID is the name that Git gives to a file that holds src.
func blobID(src []byte) string {
	sum := sha1.Sum(slices.Concat(fmt.Appendf(nil, "blob %d\x00", len(src)), src)) //nolint:gosec // as Git does
	return hex.EncodeToString(sum[:])
}
