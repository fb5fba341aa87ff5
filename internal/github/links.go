package github

// What guarded names link to on a branch: a pull request that changes the target changes what the name holds,
// and only the target stands in its list of files.

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxLinkTexts bounds how many different links are read of one tree: each takes a request, but those that read the same.
const maxLinkTexts = 100

// maxLinkSteps bounds how many links lead from one to another.
const maxLinkSteps = 16

// modeLink is Git's mode of a symbolic link.
const modeLink = "120000"

// lastLinks holds the links of repositories' branches as they were read last. It may be used by several
// goroutines.
type lastLinks struct {
	mu    sync.Mutex
	repos map[string]repoLinks // by "owner/repo" and branch
}

// repoLinks are the symbolic links of a commit's tree.
type repoLinks struct {
	tip     string            // the commit
	blobs   map[string]string // each link's blob; nil: they cannot be told
	targets map[string]string // what a blob says, of those that were read
}

func (c *lastLinks) lookup(pr quorum.PR, branch string) repoLinks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.repos[repoKey(pr)+" "+branch]
}

func (c *lastLinks) store(pr quorum.PR, branch string, links repoLinks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.repos == nil || len(c.repos) >= maxRepos {
		c.repos = map[string]repoLinks{}
	}
	c.repos[repoKey(pr)+" "+branch] = links
}

// readGuardedLinks returns what the names that p guards link to on the default branch and on the base: reviewers find
// the one or the other. nil where that cannot be told. tip is the default branch's.
func (r pullReader) readGuardedLinks(
	ctx context.Context, cache *lastLinks, p quorum.Policy, pr *quorum.PullRequest, tip string,
) ([]string, error) {
	links, err := r.readLinks(ctx, cache, p, pr.DefaultBranch, tip)
	if err != nil || links == nil || pr.BaseRef == pr.DefaultBranch {
		return links, err
	}
	onBase, err := r.readLinks(ctx, cache, p, pr.BaseRef, "") // what the pull request calls its base may be an older tip
	if err != nil || onBase == nil {
		return nil, err
	}
	return append(links, onBase...), nil // not nil, though there may be none: they are known
}

// readLinks returns what the names that p guards link to on a branch, and each link on the way; nil where that cannot
// be told. The branch is read again only if its tip is another commit, or is not known.
func (r pullReader) readLinks(ctx context.Context, cache *lastLinks, p quorum.Policy, branch, tip string) ([]string, error) {
	known := cache.lookup(r.pr, branch)
	links := repoLinks{tip: tip, blobs: known.blobs, targets: maps.Clone(known.targets)}
	if tip == "" || known.tip != tip {
		var err error
		if links.blobs, err = r.readTreeLinks(ctx, branch, tip); err != nil {
			return nil, err
		}
	}
	if links.targets == nil || len(links.targets) > maxLinkTexts {
		links.targets = map[string]string{}
	}
	targets, err := r.followLinks(ctx, p, &links)
	if err != nil {
		return nil, err
	}
	cache.store(r.pr, branch, links)
	return targets, nil
}

// readTreeLinks reads the blobs of all symbolic links of a commit, or of the branch if it is not known; nil if GitHub
// does not list the whole tree.
func (r pullReader) readTreeLinks(ctx context.Context, branch, tip string) (map[string]string, error) {
	tree, err := r.readTree(ctx, cmp.Or(tip, branch))
	if err != nil || tree == nil {
		return nil, err
	}
	blobs := map[string]string{}
	for _, e := range tree.Entries {
		if e.Mode == modeLink {
			blobs[e.Path] = e.SHA
		}
	}
	return blobs, nil
}

// followLinks returns what the guarded links lead to, link by link; nil where that cannot be told.
func (r pullReader) followLinks(ctx context.Context, p quorum.Policy, links *repoLinks) ([]string, error) {
	if links.blobs == nil {
		return nil, nil
	}
	reached := []string{} // not nil: they are known
	for _, name := range change.GuardedNames(p, slices.Sorted(maps.Keys(links.blobs))) {
		at := name
		for step := 0; ; step++ {
			link, rest, found := firstLinkOn(at, links.blobs)
			if !found {
				break
			}
			text, err := r.readLinkText(ctx, links, links.blobs[link])
			if err != nil || text == "" || step == maxLinkSteps {
				return nil, err
			}
			at = path.Join(path.Dir(link), text, rest)
			if path.IsAbs(text) || at == ".." || strings.HasPrefix(at, "../") { // it leads out of the repository
				break
			}
			if !slices.Contains(reached, at) {
				reached = append(reached, at)
			}
		}
	}
	return reached, nil
}

// firstLinkOn finds the first link on a path, which may be its last part, and the rest of the path after it.
func firstLinkOn(at string, links map[string]string) (link, rest string, found bool) {
	for i := range len(at) + 1 {
		if i < len(at) && at[i] != '/' {
			continue
		}
		if _, found = links[at[:i]]; found {
			return at[:i], at[i:], true
		}
	}
	return "", "", false
}

// readLinkText reads where a link leads; "" where GitHub does not tell, or too many were read.
func (r pullReader) readLinkText(ctx context.Context, links *repoLinks, blob string) (string, error) {
	if text, known := links.targets[blob]; known || len(links.targets) >= maxLinkTexts {
		return text, nil
	}
	var b struct {
		Content string `json:"content"`
	}
	_, err := r.client.Get(ctx, r.repoPath("git", "blobs", blob), &b)
	if client.IsNotFound(err) || client.LacksPermission(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(b.Content, "\n", ""))
	if err != nil {
		return "", nil //nolint:nilerr // it is no text, and leads nowhere that could be told
	}
	links.targets[blob] = string(text)
	return string(text), nil
}
