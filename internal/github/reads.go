package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxTail bounds the bytes of a job's log that are read.
const maxTail = 1 << 20

// A pullReader reads the parts of one pull request, and notes whether any answer was new that counts as news.
type pullReader struct {
	client *client.Client
	pr     quorum.PR
	seen   *changes
}

func (r pullReader) path(parts ...string) string {
	return client.RepoPath(r.pr.Owner, r.pr.Repo, parts...)
}

// pullPath is the path of something that belongs to the pull request's number: kind is pulls or issues.
func (r pullReader) pullPath(kind string, parts ...string) string {
	return r.path(slices.Concat([]string{kind, strconv.Itoa(r.pr.Number)}, parts)...)
}

// checks reads all check runs of the head: jobs, other Apps', and our own with the record.
func (r pullReader) checks(ctx context.Context, head string) ([]restCheck, error) {
	return pages[restCheck](ctx, r.client, nil, r.path("commits", head, "check-runs")+"?filter=all&per_page=100", "check_runs")
}

func (r pullReader) statuses(ctx context.Context, head string) ([]restStatus, error) {
	return pages[restStatus](ctx, r.client, r.seen, r.path("commits", head, "statuses")+"?per_page=100", "")
}

func (r pullReader) files(ctx context.Context) ([]restFile, error) {
	return pages[restFile](ctx, r.client, r.seen, r.pullPath("pulls", "files")+"?per_page=100", "")
}

func (r pullReader) runs(ctx context.Context, head string) ([]restRun, error) {
	return pages[restRun](ctx, r.client, r.seen, r.path("actions", "runs")+"?per_page=100&exclude_pull_requests=true&head_sha="+head, "workflow_runs")
}

// branchRuns reads the runs of a branch, back to a moment.
func (r pullReader) branchRuns(ctx context.Context, branch string, since time.Time) ([]restRun, error) {
	q := url.Values{"per_page": {"100"}, "exclude_pull_requests": {"true"}, "branch": {branch}, "created": {">=" + since.UTC().Format(time.RFC3339)}}
	return pages[restRun](ctx, r.client, r.seen, r.path("actions", "runs")+"?"+q.Encode(), "workflow_runs")
}

// branchPulls reads the pull requests of a branch, closed ones as well, the one that changed last first, back to a moment.
// Where GitHub refuses the list it is not whole, which costs an approval and no look.
func (r pullReader) branchPulls(ctx context.Context, label string, since time.Time) ([]quorum.PullRequest, error) {
	all := []quorum.PullRequest{} // not nil: it was asked for
	q := url.Values{"per_page": {"100"}, "state": {"all"}, "head": {label}, "sort": {"updated"}, "direction": {"desc"}}
	path := r.path("pulls") + "?" + q.Encode()
	for range maxPages {
		page, answer, err := onePage[restPull](ctx, r.client, path, "")
		switch {
		case client.IsNotFound(err), client.IsUnprocessable(err):
			return all, nil
		case err != nil:
			return all, err
		}
		for _, p := range page {
			all = append(all, p.pull(quorum.PR{Owner: r.pr.Owner, Repo: r.pr.Repo, Number: p.Number}))
		}
		if path = answer.Next; path == "" || len(page) == 0 || page[len(page)-1].Updated.Before(since) {
			break
		}
	}
	return all, nil
}

// reviews reads the reviews. Of their words it keeps those that watched keeps.
func (r pullReader) reviews(ctx context.Context, watched reviewerSet) ([]restReview, error) {
	return pages[restReview](ctx, r.client, r.seen, r.pullPath("pulls", "reviews")+"?per_page=100", "", func(v *restReview) {
		v.sum, v.Body = untrusted.DigestOf(v.Body), watched.keptBody(v.User.account().Login, v.Body)
	})
}

// comments reads the comments. Of their words it keeps those that watched keeps.
func (r pullReader) comments(ctx context.Context, watched reviewerSet) ([]restComment, error) {
	return pages[restComment](ctx, r.client, r.seen, r.pullPath("issues", "comments")+"?per_page=100", "", func(c *restComment) {
		c.sum, c.Body = untrusted.DigestOf(c.Body), watched.keptBody(c.User.account().Login, c.Body)
	})
}

func (r pullReader) siblings(ctx context.Context, head string) ([]restPull, error) {
	return pages[restPull](ctx, r.client, nil, r.path("commits", head, "pulls")+"?per_page=100", "")
}

// gated reads whether the base is one that matters: the default branch, a protected one, or one with rules.
func (r pullReader) gated(ctx context.Context, base, defaultBranch string) (bool, error) {
	if base == defaultBranch {
		return true, nil
	}
	var branch struct {
		Protected bool `json:"protected"`
	}
	if _, err := r.client.Get(ctx, r.path("branches")+"/"+client.EscapeSlashed(base), &branch); err != nil && !client.IsNotFound(err) {
		return false, err
	}
	if branch.Protected {
		return true, nil
	}
	var rules []struct {
		Type string `json:"type"`
	}
	if _, err := r.client.Get(ctx, r.path("rules", "branches")+"/"+client.EscapeSlashed(base), &rules); err != nil && !client.IsNotFound(err) {
		return false, err
	}
	return len(rules) > 0, nil
}

// runByID reads one run; nil if GitHub answers 404.
func (r pullReader) runByID(ctx context.Context, id int64) (*restRun, error) {
	var run restRun
	answer, err := r.client.Get(ctx, r.path("actions", "runs", strconv.FormatInt(id, 10))+"?exclude_pull_requests=true", &run)
	if client.IsNotFound(err) {
		return nil, nil
	}
	r.seen.note(answer.Changed)
	return &run, err
}

// textByID reads one review or comment.
func (r pullReader) textByID(ctx context.Context, ref quorum.TextRef) (quorum.Text, error) {
	id := strconv.FormatInt(ref.ID, 10)
	if ref.Kind == quorum.TextReview {
		var v restReview
		_, err := r.client.Get(ctx, r.pullPath("pulls", "reviews", id), &v)
		return v.text(), err
	}
	var c restComment
	_, err := r.client.Get(ctx, r.path("issues", "comments", id), &c)
	return c.text(), err
}

// jobLog reads the tail of a job's log, or its annotations where there is no log: a job that was never started has none, and
// why one was cancelled stands only there. It is advice: unreadable, it makes a failure unknown.
func (r pullReader) jobLog(ctx context.Context, id int64, cancelled bool) (job quorum.Job, err error) {
	job.Read = true
	n := strconv.FormatInt(id, 10)
	var limit *client.LimitError
	if !cancelled {
		tail, err := r.client.Tail(ctx, r.path("actions", "jobs", n, "logs"), maxTail)
		switch {
		case errors.As(err, &limit) || ctx.Err() != nil:
			return job, err
		case err == nil && len(tail) > 0:
			job.Log = string(tail)
			return job, nil
		}
	}
	notes, err := pages[struct {
		Message string `json:"message"`
		Title   string `json:"title"`
	}](ctx, r.client, nil, r.path("check-runs", n, "annotations")+"?per_page=100", "")
	if errors.As(err, &limit) || ctx.Err() != nil {
		return job, err
	}
	for _, note := range notes {
		job.Annotations = append(job.Annotations, note.Message)
	}
	return job, nil
}

// commit reads a commit that a text names; zero if GitHub knows none.
func (r pullReader) commit(ctx context.Context, id string) (commit quorum.Commit, err error) {
	var c restCommit
	_, err = r.client.Get(ctx, r.path("commits", id), &c)
	if client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err) {
		return commit, nil
	}
	commit.SHA = c.SHA
	for _, p := range c.Parents {
		commit.Parents = append(commit.Parents, p.SHA)
	}
	return commit, err
}

// permission reads what a person may on the repository.
func (r pullReader) permission(ctx context.Context, login string) (quorum.Permission, error) {
	var p struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	_, err := r.client.Get(ctx, r.path("collaborators", login, "permission"), &p)
	if client.IsNotFound(err) {
		return 0, nil
	}
	switch { // "permission" says write for maintain
	case p.Permission == "admin":
		return quorum.Admin, err
	case p.Role == "maintain":
		return quorum.Maintain, err
	case p.Permission == "write":
		return quorum.Write, err
	}
	return 0, err
}

var errNoFile = errors.New("it is no file")

// file reads a file; ref "" is the default branch.
func (r pullReader) file(ctx context.Context, path, ref string) (src []byte, sha string, err error) {
	at := r.path("contents") + "/" + client.EscapeSlashed(path)
	if ref != "" {
		at += "?ref=" + url.QueryEscape(ref)
	}
	var raw json.RawMessage
	answer, err := r.client.Get(ctx, at, &raw)
	if err != nil {
		return nil, "", err
	}
	r.seen.note(answer.Changed)
	var c restContent
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")): // what a folder holds
		return nil, "", fmt.Errorf("read %s: it is a folder: %w", path, errNoFile)
	case json.Unmarshal(raw, &c) != nil:
		return nil, "", fmt.Errorf("read %s: %w", path, client.ErrTransport)
	}
	switch {
	case c.Size > config.MaxSize: // the parser says that it is too large
		return make([]byte, config.MaxSize+1), c.SHA, nil
	case c.Type != "" && c.Type != "file":
		return nil, "", fmt.Errorf("read %s: it is a %s: %w", path, untrusted.OneLine(c.Type, 50), errNoFile)
	case c.Encoding == "base64":
		src, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(c.Content, "\n", ""))
	default:
		src = []byte(c.Content)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", at, client.ErrTransport)
	}
	return src, c.SHA, nil
}
