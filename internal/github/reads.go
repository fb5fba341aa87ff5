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
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
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
	news   *newsFlag
	texts  *textPages
}

// textPages is how the texts of a pull request can be read, as earlier reads have shown: anybody can leave many long
// ones.
type textPages struct {
	comments, reviews int // entries of a page; 0: full ones
	words             int // which GraphQL tells of: allWords, reviewsWords or noWords
	threads           int // of a page; 0: few
}

// repoPath is the path of something in the repository of a pull request.
func repoPath(pr quorum.PR, parts ...string) string {
	return client.RepoPath(pr.Owner, pr.Repo, parts...)
}

func (r pullReader) repoPath(parts ...string) string { return repoPath(r.pr, parts...) }

// pullPath is the path of something that belongs to the pull request's number: kind is pulls or issues.
func (r pullReader) pullPath(kind string, parts ...string) string {
	return r.repoPath(slices.Concat([]string{kind, strconv.Itoa(r.pr.Number)}, parts)...)
}

// readChecks reads all check runs of the head: jobs, other Apps', and our own with the record.
func (r pullReader) readChecks(ctx context.Context, head string) ([]restCheck, error) {
	return readPages[restCheck](ctx, r.client, nil, r.repoPath("commits", head, "check-runs")+"?filter=all&per_page=100", "check_runs")
}

func (r pullReader) readStatuses(ctx context.Context, head string) ([]restStatus, error) {
	return readPages[restStatus](ctx, r.client, nil, r.repoPath("commits", head, "statuses")+"?per_page=100", "")
}

func (r pullReader) readFiles(ctx context.Context) ([]restFile, error) {
	return readPages[restFile](ctx, r.client, r.news, r.pullPath("pulls", "files")+"?per_page=100", "", (*restFile).printPatch)
}

func (r pullReader) readRuns(ctx context.Context, head string) ([]restRun, error) {
	return readPages[restRun](
		ctx,
		r.client,
		r.news,
		r.repoPath("actions", "runs")+"?per_page=100&exclude_pull_requests=true&head_sha="+head,
		"workflow_runs",
	)
}

// readBranchRuns reads the runs of a branch, back to a moment.
func (r pullReader) readBranchRuns(ctx context.Context, branch string, since time.Time) ([]restRun, error) {
	q := url.Values{
		"per_page":              {"100"},
		"exclude_pull_requests": {"true"},
		"branch":                {branch},
		"created":               {">=" + since.UTC().Format(time.RFC3339)},
	}
	return readPages[restRun](ctx, r.client, r.news, r.repoPath("actions", "runs")+"?"+q.Encode(), "workflow_runs")
}

// readBranchPulls reads the pull requests of a branch, closed ones as well, the one that changed last first, back to a
// moment. Where GitHub refuses the list it is not whole, which costs an approval and no look.
func (r pullReader) readBranchPulls(ctx context.Context, label string, since time.Time) ([]quorum.PullRequest, error) {
	all := []quorum.PullRequest{} // not nil: it was asked for
	q := url.Values{"per_page": {"100"}, "state": {"all"}, "head": {label}, "sort": {"updated"}, "direction": {"desc"}}
	path := r.repoPath("pulls") + "?" + q.Encode()
	for range maxPages {
		page, answer, err := readPage[restPull](ctx, r.client, path, "", false)
		switch {
		case client.IsNotFound(err), client.IsUnprocessable(err):
			return all, nil
		case err != nil:
			return all, err
		}
		for _, p := range page {
			all = append(all, p.toPull(quorum.PR{Owner: r.pr.Owner, Repo: r.pr.Repo, Number: p.Number}))
		}
		if path = answer.Next; path == "" || len(page) == 0 || page[len(page)-1].Updated.Before(since) {
			break
		}
	}
	return all, nil
}

// readReviews reads the reviews. Of their words it keeps those that watched keeps.
func (r pullReader) readReviews(ctx context.Context, watched reviewerSet) ([]restReview, error) {
	path := r.pullPath("pulls", "reviews") + "?per_page=100"
	return readSizedPages(ctx, r.client, r.news, &r.texts.reviews, path, "", func(v *restReview) {
		v.sum, v.Body = untrusted.DigestOf(v.Body), watched.keptBody(v.User.account(), v.Body)
	})
}

// readComments reads the comments, with the words that [restComment.keepWords] keeps.
func (r pullReader) readComments(ctx context.Context, watched reviewerSet) ([]restComment, error) {
	path := r.pullPath("issues", "comments") + "?per_page=100"
	return readSizedPages(ctx, r.client, r.news, &r.texts.comments, path, "", func(c *restComment) { c.keepWords(watched) })
}

func (r pullReader) readSiblings(ctx context.Context, head string) ([]restPull, error) {
	return readPages[restPull](ctx, r.client, nil, r.repoPath("commits", head, "pulls")+"?per_page=100", "")
}

// requiredCheck is a check that a rule or a protection requires, by its name and, unless any App may write it, its App.
type requiredCheck struct {
	Context     string `json:"context"`
	Integration int64  `json:"integration_id"` // of a rule; 0: any App
	App         int64  `json:"app_id"`         // of a protection; 0 or -1: any App
}

// isFulfilledBy reports whether a check of that name by that App is the one; app 0 is an App whose id is not known.
func (c requiredCheck) isFulfilledBy(check string, app int64) bool {
	by := max(c.Integration, c.App, 0)
	return c.Context == check && (by == 0 || app == 0 || by == app)
}

// branchRule is a rule that holds for a branch.
type branchRule struct {
	Type       string `json:"type"`
	Ruleset    int64  `json:"ruleset_id"`
	Parameters struct {
		Checks []requiredCheck `json:"required_status_checks"`
	} `json:"parameters"`
}

// protectedBranch is what GitHub tells of a branch's classic protection.
type protectedBranch struct {
	Protected  bool `json:"protected"`
	Protection *struct {
		Required struct {
			Level    string          `json:"enforcement_level"` // off: nothing is required
			Contexts []string        `json:"contexts"`          // where GitHub does not tell the Apps
			Checks   []requiredCheck `json:"checks"`
		} `json:"required_status_checks"`
	} `json:"protection"`
}

// hasNoRules reports whether GitHub refuses to tell what a branch requires because nothing can be required there: it
// does not exist, or the plan has no rules for a private repository.
func hasNoRules(err error) bool {
	var refused *client.APIError
	return client.IsNotFound(err) || client.IsForbidden(err) && errors.As(err, &refused) && !refused.Missing
}

// readGated reads whether the base is one that matters: the default branch, one that a lane names, or one that requires
// the check of that name by that App. Any other rule or protection does not matter, for anybody may give all branches
// of a name one; but of the branches that a lane's pattern means it marks those that not everybody may create. What
// GitHub does not tell requires nothing.
func (r pullReader) readGated(ctx context.Context, sc readPlan, check string, app int64) (bool, error) {
	base := sc.base
	if base == sc.defaultBranch || sc.named == change.ByName {
		return true, nil
	}
	var rules []branchRule
	_, err := r.client.Get(ctx, r.repoPath("rules", "branches")+"/"+client.EscapeSlashed(base)+"?per_page=100", &rules)
	if err != nil && !hasNoRules(err) {
		return false, err
	}
	isOurs := func(c requiredCheck) bool { return c.isFulfilledBy(check, app) }
	for _, rule := range rules {
		if rule.Type == "required_status_checks" && slices.ContainsFunc(rule.Parameters.Checks, isOurs) {
			return true, nil
		}
	}
	var branch protectedBranch
	_, err = r.client.Get(ctx, r.repoPath("branches")+"/"+client.EscapeSlashed(base), &branch)
	if err != nil && !hasNoRules(err) {
		return false, err
	}
	if sc.named == change.ByPattern && branch.Protected {
		return true, nil
	}
	if branch.Protection == nil || branch.Protection.Required.Level == "off" {
		return false, nil
	}
	required := branch.Protection.Required
	return slices.ContainsFunc(required.Checks, isOurs) || len(required.Checks) == 0 && slices.Contains(required.Contexts, check), nil
}

// A gateRead says whether the plain name of our check may be written.
type gateRead struct {
	open    bool
	onTrunk bool // because of the trunk of the pull request's stack
}

// readGate reads whether the branch matters by whose rules a pull request is judged: the trunk of its stack, or its
// base where that does not matter.
func readGate(ctx context.Context, r pullReader, sc readPlan, check string, app int64) (is gateRead, err error) {
	if sc.trunk != "" {
		onto := readPlan{base: sc.trunk, defaultBranch: sc.defaultBranch, named: sc.trunkNamed}
		if is.open, err = r.readGated(ctx, onto, check, app); err != nil || is.open {
			return gateRead{open: is.open, onTrunk: is.open}, err
		}
	}
	is.open, err = r.readGated(ctx, sc, check, app)
	return is, err
}

// readRun reads one run; nil if GitHub answers 404.
func (r pullReader) readRun(ctx context.Context, id int64) (*restRun, error) {
	var run restRun
	answer, err := r.client.Get(ctx, r.repoPath("actions", "runs", strconv.FormatInt(id, 10))+"?exclude_pull_requests=true", &run)
	if client.IsNotFound(err) {
		return nil, nil
	}
	r.news.note(answer.Changed)
	return &run, err
}

// readAttempt reads an earlier attempt of a run; without a conclusion if GitHub knows it no more.
func (r pullReader) readAttempt(ctx context.Context, n quorum.AttemptName) (quorum.Run, error) {
	var run restRun
	path := r.repoPath("actions", "runs", strconv.FormatInt(n.Run, 10), "attempts", strconv.Itoa(n.Number))
	_, err := r.client.Get(ctx, path+"?exclude_pull_requests=true", &run)
	if client.IsNotFound(err) || err == nil && (run.ID != n.Run || run.Attempt != n.Number) {
		return quorum.Run{ID: n.Run, Attempt: n.Number}, nil
	}
	return run.toRun(), err
}

// beginReadingRuns reads runs by their ids, as tasks of g: each stands in what it returns once g has ended, nil if
// GitHub knows it no more.
func (r pullReader) beginReadingRuns(ctx context.Context, g group, ids []int64) []*restRun {
	found := make([]*restRun, len(ids))
	for i, id := range ids {
		g.Go(func() (err error) {
			found[i], err = r.readRun(ctx, id)
			return err
		})
	}
	return found
}

// readText reads one review or comment.
func (r pullReader) readText(ctx context.Context, ref quorum.TextRef) (quorum.Text, error) {
	id := strconv.FormatInt(ref.ID, 10)
	if ref.Kind == quorum.TextReview {
		var v restReview
		_, err := r.client.Get(ctx, r.pullPath("pulls", "reviews", id), &v)
		return v.toText(), err
	}
	var c restComment
	_, err := r.client.Get(ctx, r.repoPath("issues", "comments", id), &c)
	if err == nil && c.IssueURL != "" && !strings.HasSuffix(c.IssueURL, "/"+strconv.Itoa(r.pr.Number)) {
		return quorum.Text{}, errOtherPull
	}
	return c.toText(), err
}

// errOtherPull says that a comment is another pull request's.
var errOtherPull = errors.New("the comment is of another pull request")

// readJobLog reads the tail of a job's log, or its annotations where there is no log: a job that was never started has
// none, and why one was cancelled stands only there. It is advice: unreadable, it makes a failure unknown.
func (r pullReader) readJobLog(ctx context.Context, id int64, cancelled bool) (job quorum.Job, err error) {
	job.Read = true
	n := strconv.FormatInt(id, 10)
	var limit *client.LimitError
	if !cancelled {
		tail, err := r.client.Tail(ctx, r.repoPath("actions", "jobs", n, "logs"), maxTail)
		switch {
		case errors.As(err, &limit) || ctx.Err() != nil:
			return job, err
		case err == nil && len(tail) > 0:
			job.Log = string(tail)
			return job, nil
		}
	}
	notes, err := readPages[struct {
		Message string `json:"message"`
		Title   string `json:"title"`
	}](ctx, r.client, nil, r.repoPath("check-runs", n, "annotations")+"?per_page=100", "")
	if errors.As(err, &limit) || ctx.Err() != nil {
		return job, err
	}
	for _, note := range notes {
		job.Annotations = append(job.Annotations, note.Message)
	}
	return job, nil
}

// readCommit reads a commit that a text names; zero if GitHub knows none.
func (r pullReader) readCommit(ctx context.Context, id string) (commit quorum.Commit, err error) {
	var c restCommit
	_, err = r.client.Get(ctx, r.repoPath("commits", id), &c)
	if client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err) {
		return commit, nil
	}
	commit.SHA = c.SHA
	for _, p := range c.Parents {
		commit.Parents = append(commit.Parents, p.SHA)
	}
	return commit, err
}

// readPermission reads what a person may on the repository.
func (r pullReader) readPermission(ctx context.Context, login string) (quorum.Permission, error) {
	var p struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	_, err := r.client.Get(ctx, r.repoPath("collaborators", login, "permission"), &p)
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

// readOnlyWriter returns the login of the only person who may write to a repository; "" if there are more, or it is not known. A
// role of an organisation's own may let its people write; a list without an administrator is not whole, for an owner is one.
func readOnlyWriter(ctx context.Context, c *client.Client, path string) (string, error) {
	type collaborator struct {
		Login string `json:"login"`
		Role  string `json:"role_name"`
	}
	all, answer, err := readPage[collaborator](ctx, c, path+"?per_page=100", "", false)
	all = slices.DeleteFunc(all, func(p collaborator) bool { return p.Role == "read" || p.Role == "triage" })
	if answer.Next != "" || len(all) != 1 || all[0].Role != "admin" {
		return "", err
	}
	return all[0].Login, err
}

// readMembership reads the team with at most that one member: whoever is of the team or of one below it, and has accepted that. A job's
// GITHUB_TOKEN may not see it, nor an App without members: read; of another owner's team nobody is asked.
func readMembership(ctx context.Context, r pullReader, n quorum.TeamName) (team quorum.Team, err error) {
	owner, slug, _ := strings.Cut(n.Team, "/")
	if !strings.EqualFold(owner, r.pr.Owner) {
		return quorum.Team{Unread: true}, nil
	}
	var answer struct {
		State string `json:"state"` // active or pending
	}
	_, err = r.client.Get(ctx, client.EscapeSlashed("orgs/"+owner+"/teams/"+slug+"/memberships/"+n.Login), &answer)
	switch {
	case client.IsNotFound(err):
		return team, nil
	case client.LacksPermission(err):
		return quorum.Team{Unread: true}, nil
	case answer.State == "active":
		team.Members = []string{n.Login}
	}
	return team, err
}

// maxPushPages is how many pages of a branch's activity are read. Of a branch with more, nothing is known.
const maxPushPages = 5

// readPushes reads who moved a branch, newest first: the activity list of its repository, for a fork's branch the
// fork's. It returns none where GitHub does not tell, or has more to tell than is read.
func (r pullReader) readPushes(ctx context.Context, repo, branch string) (pushes []quorum.Push, err error) {
	owner, name, found := strings.Cut(repo, "/")
	if !found {
		return nil, nil
	}
	path := client.RepoPath(owner, name, "activity") + "?" + url.Values{"ref": {"refs/heads/" + branch}, "per_page": {"100"}}.Encode()
	for range maxPushPages {
		page, answer, err := readPage[restActivity](ctx, r.client, path, "", false)
		switch {
		case client.IsNotFound(err) || client.IsUnprocessable(err),
			client.IsForbidden(err) && !strings.EqualFold(repo, r.pr.Owner+"/"+r.pr.Repo): // a fork's organisation may let in nobody
			return nil, nil
		case err != nil:
			return nil, err
		}
		for i := range page {
			pushes = append(pushes, page[i].toPush())
		}
		if answer.Next == "" {
			return pushes, nil
		}
		path = answer.Next
	}
	return nil, nil
}

var errNoFile = errors.New("it is no file")

// readBlobSHA reads the SHA of a file's blob on a branch; "" if it is not there.
func (r pullReader) readBlobSHA(ctx context.Context, file quorum.BranchFile) (string, error) {
	_, sha, err := r.readFile(ctx, file.Path, file.Branch)
	if client.IsNotFound(err) || errors.Is(err, errNoFile) {
		return "", nil
	}
	return sha, err
}

// readFile reads a file; ref "" is the default branch.
func (r pullReader) readFile(ctx context.Context, path, ref string) (src []byte, sha string, err error) {
	at := r.repoPath("contents") + "/" + client.EscapeSlashed(path)
	if ref != "" {
		at += "?ref=" + url.QueryEscape(ref)
	}
	var raw json.RawMessage
	answer, err := r.client.Get(ctx, at, &raw)
	if err != nil {
		return nil, "", err
	}
	r.news.note(answer.Changed)
	var c restContent
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")): // what a folder holds
		return nil, "", fmt.Errorf("read %s: it is a folder: %w", path, errNoFile)
	case json.Unmarshal(raw, &c) != nil:
		return nil, "", fmt.Errorf("read %s: %w", path, client.ErrTransport)
	}
	switch {
	case c.Size > config.MaxSize && c.Content == "": // the parser says that it is too large
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

// sortStatuses puts the newest first.
func sortStatuses(all []quorum.Status) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].ID > all[j].ID })
}
