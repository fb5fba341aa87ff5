package github

// A survey of a repository's reviewers: its workflows, and the texts and runs of its last pull requests. It is advice
// for a first policy: of long lists the first page is enough.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/doctor"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

const (
	surveyed      = 20 // pull requests
	surveyedFiles = 60 // workflows
	surveysAtOnce = 4  // requests at a time
)

// SurveyRepo reads owner/repo. Told is called with each step, for a person who waits.
func SurveyRepo(ctx context.Context, c *client.Client, owner, repo string, told func(string)) (config.Survey, error) {
	s := config.Survey{Repo: owner + "/" + repo}
	var about restRepo
	if _, err := c.Get(ctx, client.RepoPath(owner, repo), &about); err != nil {
		return s, fmt.Errorf("read the repository: %w", err)
	}
	s.Branch, s.Private = about.DefaultBranch, about.Private
	told("workflows")
	listed, err := listWorkflows(ctx, c, owner, repo)
	if err != nil {
		return s, fmt.Errorf("list workflows: %w", err)
	}
	listed = slices.DeleteFunc(listed, func(w listedWorkflow) bool { return w.State != "active" })
	files, err := readWorkflowFiles(ctx, c, owner, repo, listed[:min(len(listed), surveyedFiles)])
	if err != nil {
		return s, err
	}
	for _, f := range files {
		s.Workflows = append(s.Workflows, f.File)
	}
	told("pull requests")
	pulls, err := listLastPulls(ctx, c, owner, repo, surveyed)
	if err != nil {
		return s, err
	}
	parts := make([]config.Survey, len(pulls))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(surveysAtOnce)
	for i, p := range pulls {
		s.Pulls = append(s.Pulls, p.Number)
		group.Go(func() error { return surveyPull(ctx, c, &parts[i], owner, repo, p) })
	}
	told(fmt.Sprintf("what was said and run on the last pull requests (%d)", len(pulls)))
	if err := group.Wait(); err != nil {
		return s, err
	}
	for _, p := range parts {
		s.Runs, s.Texts, s.Checks = append(s.Runs, p.Runs...), append(s.Texts, p.Texts...), append(s.Checks, p.Checks...)
		s.Inline = append(s.Inline, p.Inline...)
	}
	return s, nil
}

// listLastPulls lists the pull requests that changed last, the newest first, at most 100.
func listLastPulls(ctx context.Context, c *client.Client, owner, repo string, most int) (pulls []restPull, err error) {
	path := client.RepoPath(owner, repo, "pulls") + fmt.Sprintf("?state=all&sort=updated&direction=desc&per_page=%d", most)
	if _, err := c.Get(ctx, path, &pulls); err != nil {
		return nil, fmt.Errorf("list pull requests: %w", err)
	}
	return pulls, nil
}

// LastPulls lists the pull requests of a repository that changed last, the newest first, at most 100.
func LastPulls(ctx context.Context, c *client.Client, owner, repo string, most int) (all []quorum.PullRequest, err error) {
	pulls, err := listLastPulls(ctx, c, owner, repo, most)
	for i := range pulls {
		all = append(all, pulls[i].toPull(quorum.PR{Owner: owner, Repo: repo}))
	}
	return all, err
}

// A listedWorkflow is a workflow as GitHub lists it.
type listedWorkflow struct {
	Path    string    `json:"path"`
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Created time.Time `json:"created_at"`
}

// listWorkflows lists the workflows. GitHub lists those that it runs itself, too: they have no file, and are left out.
func listWorkflows(ctx context.Context, c *client.Client, owner, repo string) ([]listedWorkflow, error) {
	path := client.RepoPath(owner, repo, "actions", "workflows") + "?per_page=100"
	all, err := readPages[listedWorkflow](ctx, c, nil, path, "workflows")
	return slices.DeleteFunc(all, func(w listedWorkflow) bool { return !strings.HasPrefix(w.Path, ".github/workflows/") }), err
}

// readWorkflowFiles reads the files of workflows. One whose file is not on the default branch is left out.
func readWorkflowFiles(
	ctx context.Context, c *client.Client, owner, repo string, listed []listedWorkflow,
) ([]doctor.WorkflowFile, error) {
	files := make([]doctor.WorkflowFile, len(listed))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(surveysAtOnce)
	for i, w := range listed {
		group.Go(func() error {
			source, err := readWorkflowText(reading, c, owner, repo, w.Path)
			files[i] = doctor.WorkflowFile{File: workflow.Read(w.Path, source), State: w.State, Created: w.Created}
			files[i].Name = cmp.Or(files[i].Name, w.Name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(f doctor.WorkflowFile) bool { return f.Source == "" }), nil
}

// readWorkflowText reads a workflow's file; "" of one that ran from a branch, or was removed.
func readWorkflowText(ctx context.Context, c *client.Client, owner, repo, path string) (string, error) {
	src, _, err := pullReader{client: c, pr: quorum.PR{Owner: owner, Repo: repo}}.readFile(ctx, path, "")
	switch {
	case client.IsNotFound(err), errors.Is(err, errNoFile):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return string(src), nil
}

// surveyPull reads what was left on one pull request, and the runs and checks of its last head.
func surveyPull(ctx context.Context, c *client.Client, s *config.Survey, owner, repo string, p restPull) error {
	left, err := readTraces(ctx, c, owner, repo, p)
	if err != nil {
		return err
	}
	for _, t := range left.texts {
		s.Texts = append(s.Texts, config.SurveyedText{Pull: p.Number, Text: t})
	}
	for _, author := range left.inline {
		s.Inline = append(s.Inline, config.SurveyedInline{Pull: p.Number, Author: author})
	}
	for _, r := range left.runs {
		s.Runs = append(s.Runs, config.SurveyedRun{Pull: p.Number, Run: r})
	}
	for _, check := range left.checks {
		s.Checks = append(s.Checks, config.SurveyedCheck{Pull: p.Number, Name: check.Name, App: check.App})
	}
	return nil
}

// traces are what was left on one pull request, and the runs and checks of its last head, as far as the first pages
// show them.
type traces struct {
	texts  []quorum.Text
	inline []quorum.Account // whose comments on lines opened a thread
	runs   []quorum.Run
	checks []quorum.CheckRun
}

// readTraces reads what was left on one pull request.
func readTraces(ctx context.Context, c *client.Client, owner, repo string, p restPull) (left traces, err error) {
	n := fmt.Sprint(p.Number)
	var comments []restComment
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "issues", n, "comments")+"?per_page=100", &comments); err != nil {
		return left, fmt.Errorf("read the comments of #%s: %w", n, err)
	}
	for _, t := range comments {
		left.texts = append(left.texts, quorum.Text{
			TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: t.ID}, Author: t.User.account(), Body: t.Body, At: t.Created,
		})
	}
	var inline []struct {
		User   *restUser `json:"user"`
		Review int64     `json:"pull_request_review_id"`
		Reply  int64     `json:"in_reply_to_id"`
	}
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "pulls", n, "comments")+"?per_page=100", &inline); err != nil {
		return left, fmt.Errorf("read the inline comments of #%s: %w", n, err)
	}
	threads := map[int64]int{} // that a review opened
	for _, comment := range inline {
		if comment.Reply == 0 {
			threads[comment.Review]++
			left.inline = append(left.inline, comment.User.account())
		}
	}
	var reviews []restReview
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "pulls", n, "reviews")+"?per_page=100", &reviews); err != nil {
		return left, fmt.Errorf("read the reviews of #%s: %w", n, err)
	}
	for _, r := range reviews {
		left.texts = append(left.texts, quorum.Text{
			TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: r.ID}, Author: r.User.account(), Body: r.Body,
			At: r.Submitted, State: r.State, Commit: r.Commit, Threads: threads[r.ID],
		})
	}
	var runs struct {
		Runs []restRun `json:"workflow_runs"`
	}
	if _, err := c.Get(ctx, client.RepoPath(owner, repo, "actions", "runs")+"?per_page=100&head_sha="+p.Head.SHA, &runs); err != nil {
		return left, fmt.Errorf("list the runs of #%s: %w", n, err)
	}
	for _, r := range runs.Runs {
		left.runs = append(left.runs, r.toRun())
	}
	var checks struct {
		Checks []restCheck `json:"check_runs"`
	}
	_, err = c.Get(ctx, client.RepoPath(owner, repo, "commits", p.Head.SHA, "check-runs")+"?per_page=100", &checks)
	if err != nil && !client.IsNotFound(err) && !client.IsUnprocessable(err) { // the head of a fork that is gone
		return left, fmt.Errorf("list the checks of #%s: %w", n, err)
	}
	for _, check := range checks.Checks {
		left.checks = append(left.checks, check.toCheck().CheckRun)
	}
	return left, nil
}
