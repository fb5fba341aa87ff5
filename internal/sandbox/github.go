package sandbox

// A GitHub of one repository: how it is made and set up, and what the program under test has written.

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Options describe the repository, and the account as which the program under test writes.
type Options struct {
	Owner, Repo   string           // default acme/shop
	DefaultBranch string           // default main
	Now           func() time.Time // default time.Now
	App           App              // the App as which the program writes; default GITHUB_TOKEN's, github-actions
	TokenOwner    string           // the login of a personal token that it has instead; it cannot write check runs
	HourlyLimit   int              // requests an hour; default 1,000 with GITHUB_TOKEN, else 5,000
	Lag           Lag
	NoStatuses    bool // the token has no permission for commit statuses
}

// GitHub is an imitation of GitHub that holds one repository. All its methods may be called at any time by anyone.
//
// It is built up in layers, each of which knows those below: what the repository holds, how GitHub writes it, what
// GitHub sends of a change, what happens to runs and checks, what people do to pull requests; and here, how the program
// under test is answered.
type GitHub struct {
	people
	front

	budget          *budget
	answered        int // requests
	written         Written
	invalidRequests []string
	beforeRequest   func(*http.Request)
	onReviewerAsked func(kind, body string)
	onDispatch      func(run int64, workflow string)
	queryCache      *graphCache
}

// New makes a GitHub with an empty repository.
func New(o Options) *GitHub {
	g := &GitHub{
		budget:     &budget{holder: "installation ID 77", limit: o.HourlyLimit},
		written:    Written{Reruns: map[int64]int{}, Cancels: map[int64]int{}, Edited: map[int64]bool{}},
		queryCache: &graphCache{},
	}
	g.repository = repository{
		now: o.Now, lag: o.Lag, app: o.App, tokenOwner: o.TokenOwner, noStatuses: o.NoStatuses,
		owner: or(o.Owner, "acme"), repo: or(o.Repo, "shop"), defaultBranch: or(o.DefaultBranch, "main"), lastID: 900_000,
		pulls: map[int]*pullRequest{}, branches: map[string]*branch{}, commits: map[string]*commit{},
		files: map[string]map[string]*string{}, trees: map[string]fileTree{}, diffs: newCommitDiffs(), index: newIndex(),
		treeNotes: newTreeNotes(), permissions: map[string]string{}, teams: map[string][]string{}, hiddenTeams: map[string]bool{},
		runNumbers: map[string]int{}, newSlugs: map[string]string{}, firstSlug: map[string]string{},
	}
	g.serve = g.serveRequest
	g.forgetRendered()
	g.queued = map[string]bool{}
	if g.now == nil {
		g.now = time.Now
	}
	g.repoID = accountID(g.owner + "/" + g.repo)
	if g.app == (App{}) {
		g.app = actionsApp
	}
	g.app = g.app.WithID()
	if g.budget.limit == 0 {
		g.budget.limit = 5000
		if g.app == actionsApp && g.tokenOwner == "" {
			g.budget.limit = 1000
		}
	}
	g.lag.Rerun = durationOrDefault(g.lag.Rerun, 2*time.Second)
	g.lag.Runner = durationOrDefault(g.lag.Runner, 5*time.Second)
	g.lag.Cancel = durationOrDefault(g.lag.Cancel, 2*time.Second)
	g.createdAt = g.now().Add(-365 * 24 * time.Hour)
	g.ensureBranch(g.defaultBranch)
	return g
}

func durationOrDefault(d, preset time.Duration) time.Duration {
	switch {
	case d == 0:
		return preset
	case d < 0:
		return 0
	}
	return d
}

// Written lists what the program under test wrote, apart from check runs and statuses.
type Written struct {
	Comments         []string       // bodies of issue comments, as they were created
	RequestedReviews []string       // logins whose review it requested
	Reruns           map[int64]int  // by run
	Cancels          map[int64]int  // by run, as far as they were accepted
	RerunOrder       []int64        // runs, in the order of their reruns
	Deleted          []int64        // issue comments it deleted
	Edited           map[int64]bool // issue comments it edited
	Reactions        []Reaction     // in their order
	Dispatched       []Dispatch     // in their order
	Revisions        []Revision     // of issue comments it edited, in their order
}

// A Revision is what an issue comment reads after the program has edited it.
type Revision struct {
	Comment int64
	Body    string
}

// Reaction is a reaction of the program's to an issue comment.
type Reaction struct {
	Comment int64
	Author  string // of the comment
	Content string // +1, -1, …
}

// Wrote returns what the program under test has written so far.
func (g *GitHub) Wrote() Written {
	defer g.mu.held()()
	w := g.written
	w.Comments, w.RequestedReviews = slices.Clone(w.Comments), slices.Clone(w.RequestedReviews)
	w.RerunOrder, w.Deleted = slices.Clone(w.RerunOrder), slices.Clone(w.Deleted)
	w.Reactions, w.Dispatched, w.Revisions = slices.Clone(w.Reactions), slices.Clone(w.Dispatched), slices.Clone(w.Revisions)
	w.Reruns, w.Cancels, w.Edited = maps.Clone(w.Reruns), maps.Clone(w.Cancels), maps.Clone(w.Edited)
	return w
}

// OnReviewerAsked sets a function that is called when the program asks a reviewer: kind is "comment" with the
// comment's body, or "review_request" with the login.
func (g *GitHub) OnReviewerAsked(f func(kind, body string)) {
	defer g.mu.held()()
	g.onReviewerAsked = f
}

// BeforeRequest sets a function that is called before a request is handled. It may change GitHub: that is how
// another replica gets in between two requests.
func (g *GitHub) BeforeRequest(f func(*http.Request)) {
	defer g.mu.held()()
	g.beforeRequest = f
}

// Repository returns the repository's owner and its name, which a rename changes.
func (g *GitHub) Repository() (owner, name string) {
	defer g.mu.held()()
	return g.owner, g.repo
}

// Configure sets the settings of a repository.
func Configure(g *GitHub, s Settings) {
	defer g.mu.held()()
	g.settings = s
	g.forgetRendered()
}

// SetFile puts a file into a branch, the default one if ref is empty. A pull request's branch shows its base's files
// where it has none of its own.
func (g *GitHub) SetFile(path, ref, content string) {
	defer g.mu.held()()
	g.filesAt(ref)[path] = &content
	g.emitFilePush(path, ref)
}

// RemoveFile takes a file out of a branch.
func (g *GitHub) RemoveFile(path, ref string) {
	defer g.mu.held()()
	g.filesAt(ref)[path] = nil
	g.emitFilePush(path, ref)
}

// SetPermission sets what a user may do: admin, maintain, write, triage, read or none. The default is read.
func (g *GitHub) SetPermission(login, permission string) {
	defer g.mu.held()()
	g.permissions[strings.ToLower(login)] = permission
}

// Protect makes a branch a protected one, which requires the check Review quorum.
func (g *GitHub) Protect(name string) { ProtectBranch(g, name, RequiredCheck{Name: usualCheck}) }

// AddRuleset gives a branch a ruleset that requires the check Review quorum.
func (g *GitHub) AddRuleset(name string) { AddBranchRuleset(g, name, RequiredCheck{Name: usualCheck}) }

// ProtectBranch makes a branch a protected one, of the classic kind, that requires these checks; without any it asks
// for something else, a linear history.
func ProtectBranch(g *GitHub, name string, checks ...RequiredCheck) {
	defer g.mu.held()()
	g.ensureBranch(name).protection = &branchRules{checks: slices.Clone(checks)}
}

// AddBranchRuleset gives a branch a ruleset that requires these checks; without any it asks for something else: that
// the branch is not deleted, and a linear history.
func AddBranchRuleset(g *GitHub, name string, checks ...RequiredCheck) {
	defer g.mu.held()()
	g.ensureBranch(name).ruleset = &branchRules{checks: slices.Clone(checks)}
}

// AppSlug returns what an App is called now that was called so once.
func AppSlug(g *GitHub, slug string) string {
	defer g.mu.held()()
	return g.slugNow(slug)
}
