package github

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The shapes of GitHub's REST answers, as far as they are read. Own structs, because go-github v60 lacks a run's path
// and because what is not read cannot surprise.

type restUser struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"`
}

func (u *restUser) account() quorum.Account {
	if u == nil {
		return quorum.Account{}
	}
	return quorum.Account{Login: u.Login, ID: u.ID, Bot: u.Type == "Bot"}
}

type restRepo struct {
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Fork          bool   `json:"fork"`
	Private       bool   `json:"private"`
}

type restPull struct {
	Number  int       `json:"number"`
	State   string    `json:"state"`
	Title   string    `json:"title"`
	Draft   bool      `json:"draft"`
	User    *restUser `json:"user"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
	Closed  time.Time `json:"closed_at"`
	Merged  time.Time `json:"merged_at"`
	Head    struct {
		Label string    `json:"label"` // "owner:branch"
		Ref   string    `json:"ref"`
		SHA   string    `json:"sha"`
		Repo  *restRepo `json:"repo"`
	} `json:"head"`
	Base struct {
		Ref  string   `json:"ref"`
		SHA  string   `json:"sha"`
		Repo restRepo `json:"repo"`
	} `json:"base"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	Merge        string `json:"merge_commit_sha"`
	ChangedFiles int    `json:"changed_files"`
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
	Commits      int    `json:"commits"`

	Stack restStack `json:"stack"`

	Requested []restUser `json:"requested_reviewers"`
	Teams     []struct {
		Slug string `json:"slug"`
	} `json:"requested_teams"`
}

// restStack is the stack of a pull request; zero where a server knows of none, or means something else by it. GitHub
// shows it as a preview since 2026-07-30.
type restStack struct {
	Number   int `json:"number"`
	Size     int `json:"size"`
	Position int `json:"position"`
	Base     struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *restStack) UnmarshalJSON(text []byte) error {
	type plain restStack
	var is plain
	if json.Unmarshal(text, &is) == nil && is.Number > 0 && is.Base.Ref != "" {
		*s = restStack(is)
	}
	return nil
}

func (s restStack) toStack() quorum.Stack {
	return quorum.Stack{Number: s.Number, Trunk: s.Base.Ref, Position: s.Position, Size: s.Size}
}

// requested are those whose review is asked for: logins, and teams as "owner/team", for they are of the organisation
// that owns the repository.
func (p restPull) requested(owner string) (names []string) {
	for i := range p.Requested {
		names = append(names, p.Requested[i].account().Login)
	}
	for _, t := range p.Teams {
		names = append(names, owner+"/"+t.Slug)
	}
	return names
}

func (p restPull) toPull(pr quorum.PR) quorum.PullRequest {
	out := quorum.PullRequest{
		PR: quorum.PR{Owner: pr.Owner, Repo: pr.Repo, Number: p.Number}, Title: p.Title,
		Head: p.Head.SHA, HeadRef: p.Head.Ref, Base: p.Base.SHA, BaseRef: p.Base.Ref, DefaultBranch: p.Base.Repo.DefaultBranch,
		Stack: p.Stack.toStack(), Merge: p.Merge, Author: p.User.account(),
		Draft: p.Draft, Closed: p.State != "open", Merged: !p.Merged.IsZero(),
		Created: p.Created, ClosedAt: p.Closed, Commits: p.Commits,
	}
	if p.Head.Repo != nil {
		out.HeadRepo = p.Head.Repo.FullName
	}
	out.Requested = p.requested(pr.Owner)
	out.Fork = !strings.EqualFold(out.HeadRepo, p.Base.Repo.FullName)
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	return out
}

type restFile struct {
	Filename string `json:"filename"`
	Previous string `json:"previous_filename"`

	Status    string `json:"status"`
	SHA       string `json:"sha"` // of the blob; of a removed file, of the one that was
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Patch     string `json:"patch"` // hostile; dropped once print is taken

	printed patchPrint
}

type restRun struct {
	ID         int64     `json:"id"`
	Number     int       `json:"run_number"`
	Path       string    `json:"path"`
	Event      string    `json:"event"`
	Head       string    `json:"head_sha"`
	Branch     string    `json:"head_branch"`
	Suite      int64     `json:"check_suite_id"`
	Attempt    int       `json:"run_attempt"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion"`
	Created    time.Time `json:"created_at"`
	Started    time.Time `json:"run_started_at"`
	Updated    time.Time `json:"updated_at"`
	Actor      *restUser `json:"actor"`
	Starter    *restUser `json:"triggering_actor"`
	URL        string    `json:"html_url"`
	HeadRepo   *restRepo `json:"head_repository"`
	Title      string    `json:"display_title"` // hostile
}

func (r restRun) toRun() quorum.Run {
	out := quorum.Run{
		ID: r.ID, Number: r.Number, Path: workflowPath(r.Path), Event: r.Event,
		Head: r.Head, Branch: r.Branch, Suite: r.Suite, Attempt: max(r.Attempt, 1),
		Status: r.Status, Conclusion: r.Conclusion, Created: r.Created, Started: r.Started, Updated: r.Updated,
		Actor: r.Actor.account(), Starter: r.Starter.account(), URL: r.URL,
	}
	if r.HeadRepo != nil {
		out.Repo = r.HeadRepo.FullName
	}
	if out.Started.IsZero() {
		out.Started = r.Created
	}
	if out.Status != "completed" { // right after a rerun the old conclusion may still show
		out.Conclusion = ""
	}
	return out
}

// workflowPath is the path of a workflow file within its repository: GitHub documents "@ref" behind it and
// "owner/repo/" before it, and shows neither most of the time.
func workflowPath(path string) string {
	for at := strings.LastIndex(path, "@"); at >= 0 && !isWorkflowFile(path); at = strings.LastIndex(path, "@") {
		path = path[:at] // a ref may hold another one, and so may a file's name
	}
	if i := strings.Index(path, "/.github/"); i > 0 {
		path = path[i+1:]
	}
	return path
}

func isWorkflowFile(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")
}

type restCheck struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Head       string    `json:"head_sha"`
	ExternalID string    `json:"external_id"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion"`
	Started    time.Time `json:"started_at"`
	Completed  time.Time `json:"completed_at"`
	URL        string    `json:"html_url"`
	Details    string    `json:"details_url"` // hostile
	Output     struct {
		Title       string `json:"title"`
		Summary     string `json:"summary"`
		Text        string `json:"text"`
		Annotations int    `json:"annotations_count"`
	} `json:"output"`
	Suite struct {
		ID int64 `json:"id"`
	} `json:"check_suite"`
	App struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
	} `json:"app"`
}

func (c restCheck) toCheck() ownCheck {
	return ownCheck{annotations: c.Output.Annotations, CheckRun: quorum.CheckRun{
		ID: c.ID, Name: c.Name, App: c.App.Slug, AppID: c.App.ID,
		Job:   c.App.Slug == quorum.ActionsApp && isJobPage(c.Details, c.ID),
		Suite: c.Suite.ID, Status: c.Status, Conclusion: c.Conclusion, ExternalID: c.ExternalID,
		Title: c.Output.Title, Summary: c.Output.Summary, Text: c.Output.Text, Started: c.Started, Completed: c.Completed, URL: c.URL,
	}}
}

// isJobPage reports whether a check run's details_url is the page of the job with its id. GitHub files a check that a
// job writes with GITHUB_TOKEN into the suite of some run, and even lists it among that run's jobs; where its writer
// sends its readers, to his own job's page for one, tells nothing of it.
func isJobPage(details string, id int64) bool {
	_, page, found := strings.Cut(details, "/actions/runs/")
	_, job, inRun := strings.Cut(page, "/job/")
	return found && inRun && job == strconv.FormatInt(id, 10)
}

type restReview struct {
	ID        int64     `json:"id"`
	User      *restUser `json:"user"`
	Body      string    `json:"body"`
	State     string    `json:"state"`
	Commit    string    `json:"commit_id"`
	Relation  string    `json:"author_association"`
	Submitted time.Time `json:"submitted_at"`
	URL       string    `json:"html_url"`

	sum untrusted.Digest // of the body as it came
}

// restActivity is an entry of a repository's activity list.
type restActivity struct {
	Before string    `json:"before"`
	After  string    `json:"after"`
	At     time.Time `json:"timestamp"`
	Actor  *restUser `json:"actor"`
}

func (a restActivity) toPush() quorum.Push {
	return quorum.Push{Before: a.Before, After: a.After, Actor: a.Actor.account(), At: a.At}
}

type restComment struct {
	ID      int64     `json:"id"`
	User    *restUser `json:"user"`
	Body    string    `json:"body"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
	URL     string    `json:"html_url"`

	Relation string `json:"author_association"`
	IssueURL string `json:"issue_url"`

	sum untrusted.Digest // of the body as it came

	told string // Body, where it may be our comment that tells the verdict
}

// maxTold is how many bytes a comment of ours that tells the verdict may have.
const maxTold = 32 << 10

// keepWords keeps of the words those that watched keeps, and what a member commands.
func (c *restComment) keepWords(watched reviewerSet) {
	command := ""
	if isMember(c.Relation) {
		command = quorum.CommandLine(c.Body)
	}
	c.keepTold()
	c.sum, c.Body = untrusted.DigestOf(c.Body), watched.keptBody(c.User.account(), c.Body)
	if command != "" && quorum.CommandLine(c.Body) != command {
		c.Body = command
	}
}

// keepTold keeps the words of what may be our comment that tells the verdict.
func (c *restComment) keepTold() {
	if len(c.Body) <= maxTold && strings.HasPrefix(c.Body, quorum.VerdictMarker) {
		c.told = c.Body
	}
}

// toldComments are our comments among all that tell the verdict.
func toldComments(all []restComment, ours quorum.Account) (told []quorum.ToldComment) {
	for i := range all {
		if c := &all[i]; c.told != "" && c.User.account().Same(ours) {
			told = append(told, quorum.ToldComment{ID: c.ID, Body: c.told})
		}
	}
	return told
}

type restStatus struct {
	ID          int64     `json:"id"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	Creator     *restUser `json:"creator"`
	Created     time.Time `json:"created_at"`
	URL         string    `json:"target_url"`
}

func (st *restStatus) toStatus() quorum.Status {
	return quorum.Status{
		ID: st.ID, Context: st.Context, State: st.State, Description: st.Description, Creator: st.Creator.account(), At: st.Created,
		URL: st.URL,
	}
}

type restContent struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Size     int    `json:"size"`
	Content  string `json:"content"`
	SHA      string `json:"sha"`
}

type restCommit struct {
	SHA     string `json:"sha"`
	Parents []struct {
		SHA string `json:"sha"`
	} `json:"parents"`
}

func (r restReview) toText() quorum.Text {
	return quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: r.ID},
		Author:  r.User.account(),
		Body:    r.Body,
		At:      r.Submitted,
		Commit:  r.Commit,
		State:   r.State,
		Member:  isMember(r.Relation),
		URL:     r.URL,
	}
}

// isMember reports whether GitHub's word for what an author is to the repository is that of a member.
func isMember(relation string) bool {
	return relation == "OWNER" || relation == "MEMBER" || relation == "COLLABORATOR"
}

func (c restComment) toText() quorum.Text {
	t := quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: c.ID},
		Author:  c.User.account(),
		Body:    c.Body,
		At:      c.Created,
		Member:  isMember(c.Relation),
		URL:     c.URL,
	}
	if c.Updated.After(c.Created) {
		t.Edited = c.Updated
	}
	return t
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// The states of a commit status that we write.
const (
	statusSuccess = "success"
	statusFailure = "failure"
	statusError   = "error"
	statusPending = "pending"
)
