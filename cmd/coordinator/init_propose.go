//go:build !action

package main

// The pull request of coordinator init.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

// proposalPermissions are what a token needs to open the pull request.
const proposalPermissions = "the token needs contents: write, pull-requests: write and workflows: write " +
	"(a classic token: the scopes repo and workflow; gh auth refresh -s workflow adds it), and a job's own token cannot write workflows"

// printOpenProposal says where the pull request of an earlier run is, if it is open.
func printOpenProposal(ctx context.Context, c *command, api *client.Client, owner, name string) (isOpen bool, err error) {
	pull, found, err := github.FindProposal(ctx, api, owner, name, initBranch)
	if err != nil || !found || pull.State != "open" {
		return false, err
	}
	open := initJSON{
		Repository: owner + "/" + name, Did: "nothing", PullRequest: &proposedJSON{pull.Number, pull.URL}, Files: []initFileJSON{},
		Draft: config.NewDraft(),
	}
	return true, open.print(c, fmt.Sprintf("%s#%d is open already: %s\n%s opened it: read its files before you merge it\n",
		open.Repository, pull.Number, oneLine(pull.URL), cmp.Or(oneLine(pull.By.Login), "nobody that is known")))
}

// proposeFiles opens the pull request and says what is next.
func (s setup) proposeFiles(ctx context.Context, c *command, api *client.Client, names []string, force bool) error {
	there, err := github.FilesThere(ctx, api, s.owner, s.name, s.Branch, names)
	switch {
	case err != nil:
		return readAccess.explainRefusal(err)
	case len(there) > 0 && !force:
		return usageError(fmt.Errorf("on %s %s", oneLine(s.Branch), listThere(there)), "--force proposes to overwrite; nothing was written")
	case len(there) > 0 && slices.Contains(there, config.Paths()[1]) && !slices.Contains(there, config.Paths()[0]):
		s.files[0].path = config.Paths()[1]
	}
	p := github.Proposal{Base: s.Branch, Branch: initBranch, Title: "Set up the review coordinator"}
	p.Body = s.result("").text("pull request")
	for _, f := range s.files {
		p.Files = append(p.Files, github.ProposedFile{Path: f.path, Content: string(f.content)})
	}
	pull, reused, err := github.OpenProposal(ctx, api, s.owner, s.name, p)
	switch {
	case errors.Is(err, github.ErrBranchTaken):
		return usageError(err, "look at it, and delete it to begin anew: "+s.web+"/branches")
	case err != nil && reused && client.IsUnprocessable(err): // its pull request was closed, or it has nothing new
		return hintedError(err, "delete the branch "+initBranch+" to begin anew: "+s.web+"/branches")
	case err != nil:
		return explainProposalRefusal(err)
	}
	result := s.result("proposed")
	result.PullRequest, result.Next = &proposedJSON{pull.Number, pull.URL}, s.nextSteps(s.files[0].path, true)
	did := result.text("files")
	if reused { // its files are as they were
		result.Files = []initFileJSON{}
		did = fmt.Sprintf("the branch %s was there already: with these files, and nothing else\n", initBranch)
	}
	did += fmt.Sprintf("opened %s#%d: %s\n", result.Repository, pull.Number, oneLine(pull.URL))
	return result.print(c, result.text("found")+did+result.text("next"))
}

// explainProposalRefusal adds what the token needs to a refusal of GitHub's. Of a workflow file that the token may not
// write, GitHub says "Not Found" to some tokens.
func explainProposalRefusal(err error) error {
	var api *client.APIError
	switch {
	case !errors.As(err, &api) || api.Method != "POST":
		return readAccess.explainRefusal(err)
	case strings.HasSuffix(api.Path, "/pulls") && strings.Contains(api.Message, "not permitted to create"):
		return hintedError(err, "allow it: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\"")
	case client.IsForbidden(err), client.IsNotFound(err):
		return hintedError(err, proposalPermissions)
	}
	return withAPIHint(err)
}
