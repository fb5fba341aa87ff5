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
	"github.com/review-coordinator/coordinator/internal/report"
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
	if c.JSON != nil {
		at := proposedJSON{pull.Number, pull.URL}
		return true, c.writeJSON(initJSON{
			Repository: owner + "/" + name, Did: "nothing", PullRequest: &at, Files: []initFileJSON{},
			draftJSON: draftAsJSON(config.Draft{}),
		})
	}
	fmt.Fprintf(c.Stdout, "%s/%s#%d is open already: %s\n", owner, name, pull.Number, oneLine(pull.URL))
	fmt.Fprintf(c.Stdout, "%s opened it: read its files before you merge it\n", cmp.Or(oneLine(pull.By.Login), "nobody that is known"))
	return true, nil
}

// proposeFiles opens the pull request and says what is next.
func (s setup) proposeFiles(ctx context.Context, c *command, api *client.Client, force bool) error {
	there, err := github.FilesThere(ctx, api, s.owner, s.name, s.branch, append(config.Paths(), bellPath, coordinatorPath))
	switch {
	case err != nil:
		return readAccess.explainRefusal(err)
	case len(there) > 0 && !force:
		return usageError(fmt.Errorf("on %s %s", oneLine(s.branch), listThere(there)), "--force proposes to overwrite; nothing was written")
	case len(there) > 0 && slices.Contains(there, config.Paths()[1]) && !slices.Contains(there, config.Paths()[0]):
		s.files[0].path = config.Paths()[1]
	}
	p := github.Proposal{Base: s.branch, Branch: initBranch, Title: "Set up the review coordinator", Body: s.pullBody()}
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
	if c.JSON != nil {
		result := s.result("proposed")
		result.PullRequest, result.Next = &proposedJSON{pull.Number, pull.URL}, s.nextSteps(s.files[0].path, true)
		if reused { // its files are as they were
			result.Files = []initFileJSON{}
		}
		return c.writeJSON(result)
	}
	fmt.Fprint(c.Stdout, s.describeFound())
	if reused {
		fmt.Fprintf(c.Stdout, "the branch %s was there already: with these files, and nothing else\n", initBranch)
	} else {
		fmt.Fprint(c.Stdout, s.describeFiles("proposed"))
	}
	fmt.Fprintf(c.Stdout, "opened %s/%s#%d: %s\n", s.owner, s.name, pull.Number, oneLine(pull.URL))
	fmt.Fprint(c.Stdout, describeSteps(s.nextSteps(s.files[0].path, true)))
	return nil
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

// pullBody says what the files do. What the repository's texts and names gave is quoted.
func (s setup) pullBody() string {
	var b strings.Builder
	b.WriteString("One check, `Review quorum`, that says whether enough AI reviewers really approved a commit, ")
	b.WriteString("by the [review coordinator](https://github.com/review-coordinator/coordinator). This adds three files:\n\n")
	b.WriteString("| file | does |\n|---|---|\n")
	for _, f := range s.files {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.path, f.does)
	}
	b.WriteString("\n**Read the policy before you merge this.** The reviewers in it, and what was seen of them:\n\n")
	for _, f := range s.draft.Found {
		fmt.Fprintf(&b, "- %s: %s\n", report.Quote(f.Name), report.Quote(strings.Join(f.Evidence, " ")))
		if f.ToFill != "" {
			fmt.Fprintf(&b, "  It stands in a comment. To fill in: %s\n", report.Quote(f.ToFill))
		}
	}
	if len(s.draft.Found) == 0 {
		b.WriteString("- None was recognised: the check only reports until a reviewer is named.\n")
	}
	for _, note := range s.draft.Notes {
		fmt.Fprintf(&b, "- Note: %s\n", report.Quote(note))
	}
	b.WriteString("\nThe workflow that posts the check listens to the workflows of these names:\n\n")
	for _, name := range s.listen {
		fmt.Fprintf(&b, "- %s\n", report.Quote(name))
	}
	if s.unreleased {
		b.WriteString("\nUntil there is a release, write a commit of review-coordinator/coordinator (40 digits) in place of `v1` ")
		fmt.Fprintf(&b, "in `%s`.\n", coordinatorPath)
	}
	b.WriteString("\nAll three count once they are on the default branch: the next pull request gets the check. ")
	fmt.Fprintf(&b, "Then [require it](%s/require.md).\n", docsOf(buildVersion()))
	return b.String()
}
