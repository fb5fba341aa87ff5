package github

// A pull request that adds files, made without a clone: a tree, a commit of it, a branch and the pull request, in this
// order, so that the branch is there with all of its files or not at all.

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

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

// OpenProposal makes the branch, if it is not there, and opens the pull request. reused says that the branch was there:
// its files are as they were.
func OpenProposal(ctx context.Context, c *client.Client, owner, repo string, p Proposal) (pull ProposedPull, reused bool, err error) {
	refOf := func(branch string) string {
		return client.RepoPath(owner, repo, "git", "ref", "heads") + "/" + client.EscapeSlashed(branch)
	}
	_, err = c.Get(ctx, refOf(p.Branch), &struct{}{})
	switch {
	case client.IsNotFound(err):
		if err := createProposedBranch(ctx, c, owner, repo, refOf(p.Base), p); err != nil {
			return pull, false, err
		}
	case err != nil:
		return pull, false, fmt.Errorf("read the branch %s: %w", p.Branch, err)
	default:
		reused = true
	}
	ask := map[string]string{"title": p.Title, "body": p.Body, "head": p.Branch, "base": p.Base}
	if _, err := c.Send(ctx, http.MethodPost, client.RepoPath(owner, repo, "pulls"), ask, &pull); err != nil {
		return pull, reused, fmt.Errorf("open the pull request of the branch %s, which is there: %w", p.Branch, err)
	}
	return pull, reused, nil
}

// createProposedBranch makes the branch of a proposal, upon the tip of its base.
func createProposedBranch(ctx context.Context, c *client.Client, owner, repo, base string, p Proposal) error {
	var tip struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if _, err := c.Get(ctx, base, &tip); err != nil {
		return fmt.Errorf("read the branch %s: %w", p.Base, err)
	}
	var at struct {
		Tree struct {
			SHA string `json:"sha"`
		} `json:"tree"`
	}
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "git", "commits", tip.Object.SHA), &at); err != nil {
		return fmt.Errorf("read the tip of %s: %w", p.Base, err)
	}
	type entry struct {
		Path    string `json:"path"`
		Mode    string `json:"mode"`
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	var entries []entry
	for _, f := range p.Files {
		entries = append(entries, entry{f.Path, "100644", "blob", f.Content})
	}
	var made struct {
		SHA string `json:"sha"`
	}
	send := func(kind string, body any) error {
		_, err := c.Send(ctx, http.MethodPost, client.RepoPath(owner, repo, "git", kind), body, &made)
		return err
	}
	if err := send("trees", map[string]any{"base_tree": at.Tree.SHA, "tree": entries}); err != nil {
		return fmt.Errorf("write the files: %w", err)
	}
	if err := send("commits", map[string]any{"message": p.Title, "tree": made.SHA, "parents": []string{tip.Object.SHA}}); err != nil {
		return fmt.Errorf("commit the files: %w", err)
	}
	if err := send("refs", map[string]any{"ref": "refs/heads/" + p.Branch, "sha": made.SHA}); err != nil {
		return fmt.Errorf("make the branch %s: %w", p.Branch, err)
	}
	return nil
}
