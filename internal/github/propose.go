package github

// A pull request that adds files, made without a clone: a tree, a commit of it, a branch and the pull request, in this
// order, so that the branch is there with all of its files or not at all.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// A Proposal is a pull request to open.
type Proposal struct {
	Base, Branch string
	Title, Body  string
	Files        []ProposedFile
}

// A ProposedFile is a file that a pull request adds or replaces.
type ProposedFile struct{ Path, Content string }

// A ProposedPull is a pull request of a branch.
type ProposedPull struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	URL    string `json:"html_url"`
	By     struct {
		Login string `json:"login"`
	} `json:"user"` // who opened it; hostile
}

// FindProposal returns the newest pull request of a branch of the repository itself, and whether there is one.
func FindProposal(ctx context.Context, c *client.Client, owner, repo, branch string) (pull ProposedPull, found bool, err error) {
	var pulls []ProposedPull
	query := url.Values{"state": {"all"}, "head": {owner + ":" + branch}, "per_page": {"10"}}
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "pulls")+"?"+query.Encode(), &pulls); err != nil {
		return pull, false, fmt.Errorf("list pull requests of %s: %w", branch, err)
	}
	if len(pulls) == 0 {
		return pull, false, nil
	}
	return pulls[0], true, nil
}

// FilesThere returns those of the files that a branch has.
func FilesThere(ctx context.Context, c *client.Client, owner, repo, branch string, files []string) (there []string, err error) {
	for _, name := range files {
		var content restContent
		path := client.RepoPath(owner, repo, "contents") + "/" + client.EscapeSlashed(name) + "?ref=" + url.QueryEscape(branch)
		_, err := c.Get(ctx, path, &content)
		switch {
		case client.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		default:
			there = append(there, name)
		}
	}
	return there, nil
}

// ErrBranchTaken says that a proposal's branch is there and holds something else.
var ErrBranchTaken = errors.New("the branch is there and holds something else")

// OpenProposal makes the branch, if it is not there, and opens the pull request. reused says that the branch was there
// with these very files upon this very base. Any other is refused with [ErrBranchTaken]: whoever may push can have put
// it there, and the pull request would be theirs under our words.
func OpenProposal(ctx context.Context, c *client.Client, owner, repo string, p Proposal) (pull ProposedPull, reused bool, err error) {
	base, err := readTip(ctx, c, owner, repo, p.Base)
	if err != nil {
		return pull, false, err
	}
	send := func(kind string, body any) (sha string, err error) {
		return createGitObject(ctx, c, client.RepoPath(owner, repo, "git", kind), body)
	}
	tree, err := send("trees", map[string]any{"base_tree": base.tree, "tree": treeEntries(p.Files)})
	if err != nil {
		return pull, false, fmt.Errorf("write the files: %w", err)
	}
	there, err := readTip(ctx, c, owner, repo, p.Branch)
	switch {
	case client.IsNotFound(err):
		commit, err := send("commits", map[string]any{"message": p.Title, "tree": tree, "parents": []string{base.commit}})
		if err != nil {
			return pull, false, fmt.Errorf("commit the files: %w", err)
		}
		if _, err := send("refs", map[string]any{"ref": "refs/heads/" + p.Branch, "sha": commit}); err != nil {
			return pull, false, fmt.Errorf("make the branch %s: %w", p.Branch, err)
		}
	case err != nil:
		return pull, false, err
	case there.tree != tree || !slices.Equal(there.parents, []string{base.commit}):
		return pull, false, fmt.Errorf("%s: %w", p.Branch, ErrBranchTaken)
	default:
		reused = true
	}
	ask := map[string]string{"title": p.Title, "body": p.Body, "head": p.Branch, "base": p.Base}
	if _, err := c.Send(ctx, http.MethodPost, client.RepoPath(owner, repo, "pulls"), ask, &pull); err != nil {
		return pull, reused, fmt.Errorf("open the pull request of the branch %s, which is there: %w", p.Branch, err)
	}
	return pull, reused, nil
}

// A branchTip is the commit at the tip of a branch.
type branchTip struct {
	commit, tree string
	parents      []string
}

// readTip reads the tip of a branch; of a branch that is not there, GitHub says so.
func readTip(ctx context.Context, c *client.Client, owner, repo, branch string) (branchTip, error) {
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	path := client.RepoPath(owner, repo, "git", "ref", "heads") + "/" + client.EscapeSlashed(branch)
	if _, err := c.Get(ctx, path, &ref); err != nil {
		return branchTip{}, fmt.Errorf("read the branch %s: %w", branch, err)
	}
	type named struct {
		SHA string `json:"sha"`
	}
	var at struct {
		Tree    named   `json:"tree"`
		Parents []named `json:"parents"`
	}
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "git", "commits", ref.Object.SHA), &at); err != nil {
		return branchTip{}, fmt.Errorf("read the tip of %s: %w", branch, err)
	}
	tip := branchTip{commit: ref.Object.SHA, tree: at.Tree.SHA}
	for _, p := range at.Parents {
		tip.parents = append(tip.parents, p.SHA)
	}
	return tip, nil
}

// A treeEntry is a file of a tree.
type treeEntry struct {
	Path    string `json:"path"`
	Mode    string `json:"mode"`
	Type    string `json:"type"`
	Content string `json:"content"`
}

func treeEntries(files []ProposedFile) (entries []treeEntry) {
	for _, f := range files {
		entries = append(entries, treeEntry{f.Path, "100644", "blob", f.Content})
	}
	return entries
}

// createGitObject makes an object of Git's, and returns its name: that of a tree says what it holds.
func createGitObject(ctx context.Context, c *client.Client, path string, body any) (sha string, err error) {
	var made struct {
		SHA string `json:"sha"`
	}
	_, err = c.Send(ctx, http.MethodPost, path, body, &made)
	return made.SHA, err
}
