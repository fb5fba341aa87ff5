package sandbox

// The state of the repository, and the clock that moves it.

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// actionsApp is the App whose token a workflow's job has. Its id is the same for every repository of github.com.
var actionsApp = App{Slug: "github-actions", ID: 15368}

// An App is a GitHub App.
type App struct {
	Slug string
	ID   int64
}

// WithID returns the App with its id: that of Actions, or one that is made up from the slug.
func (a App) WithID() App {
	switch {
	case a.Slug == actionsApp.Slug:
		return actionsApp
	case a.ID == 0:
		a.ID = accountID(a.Slug)
	}
	return a
}

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

// Lag is how long GitHub takes. Zero is the default, a negative duration is none.
type Lag struct {
	Rerun  time.Duration // how long the old attempt still shows after a rerun; default 2s
	Runner time.Duration // how long after a rerun its jobs get a runner; default 5s
	Cancel time.Duration // how long a cancel that was accepted takes; default 2s
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

// A repository is what GitHub holds. It sends nothing and renders nothing.
type repository struct {
	mu         lock
	now        func() time.Time
	lag        Lag
	app        App
	tokenOwner string
	noStatuses bool

	owner, repo   string
	repoID        int64
	defaultBranch string
	createdAt     time.Time
	lastID        int64
	lastStatusID  int64
	pulls         map[int]*pullRequest
	activity      []branchPush // oldest first
	branches      map[string]*branch
	commits       map[string]*commit
	files         map[string]map[string]*string // by ref, then path; nil: the file was removed there
	trees         map[string]fileTree           // those that were created by requests
	treeNotes     treeNotes
	diffs         *commitDiffs
	permissions   map[string]string
	teams         map[string][]string // the members of those with access, by slug
	hiddenTeams   map[string]bool
	runs          []*workflowRun // oldest first
	liveRuns      []*workflowRun // those that will change by themselves
	runNumbers    map[string]int
	forbidden     []string // events that may start no workflow
	index         index
	stacks        int               // how many there were
	newSlugs      map[string]string // what Apps are called now, by what they were called first
	firstSlug     map[string]string // what an App was called first, by each later name
	settings      Settings          // as Configure set them
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

// SHA returns the commit id that a short name, such as "a1", stands for in every story. A commit id is returned as
// it is.
func SHA(name string) string {
	if len(name) == 40 && strings.Trim(name, "0123456789abcdef") == "" {
		return name
	}
	sum := sha1.Sum([]byte("the commit called " + name))
	return hex.EncodeToString(sum[:])
}

// MergeSHA is the id of the test merge of a head.
func MergeSHA(head string) string { return SHA("the merge of " + SHA(head)) }

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

// OnRerun sets a function that is called when the program or a person runs a run again, with the number of the new
// attempt. It is called before the request is answered.
func (g *actions) OnRerun(f func(run int64, attempt int)) {
	defer g.mu.held()()
	g.onRerun = f
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

// Due returns the next moment at which something changes here by itself: a rerun becomes visible, a runner takes a
// job, a cancel takes effect. It is zero if nothing will.
func (g *actions) Due() time.Time {
	defer g.mu.held()()
	now := g.carryOutDue()
	var due time.Time
	for _, r := range g.liveRuns {
		for _, t := range r.newestAttempt().dueTimes() {
			if t.After(now) && (due.IsZero() || t.Before(due)) {
				due = t
			}
		}
	}
	return due
}

// carryOutDue carries out the changes that have become due, each at its own moment, and returns the current time.
func (g *actions) carryOutDue() time.Time {
	now := g.now()
	for _, r := range g.liveRuns {
		before := r.newestAttempt().status
		r.newestAttempt().carryOutDue(now, func() {
			g.emitRunProgress(r, before)
			before = r.newestAttempt().status
		})
	}
	g.liveRuns = slices.DeleteFunc(g.liveRuns, func(r *workflowRun) bool {
		return !slices.ContainsFunc(r.newestAttempt().dueTimes(), func(t time.Time) bool { return t.After(now) })
	})
	return now
}

// markLive adds a run to those that will change by themselves.
func (g *actions) markLive(r *workflowRun) {
	if !slices.Contains(g.liveRuns, r) {
		g.liveRuns = append(g.liveRuns, r)
	}
	if g.webhook != nil {
		g.webhook.hub.notifyDueChanged()
	}
}

func (g *repository) newID() int64 {
	g.lastID++
	return g.lastID
}

// programLogin returns the login as which the program under test writes.
func (g *repository) programLogin() string {
	if g.tokenOwner != "" {
		return g.tokenOwner
	}
	return g.app.Slug + "[bot]"
}

// Repository returns the repository's owner and its name, which a rename changes.
func (g *GitHub) Repository() (owner, name string) {
	defer g.mu.held()()
	return g.owner, g.repo
}

// A branch of the repository itself.
type branch struct {
	name       string
	tip        string
	protection *branchRules // of the classic kind; nil: it is not protected
	ruleset    *branchRules // nil: it has none
}

// branchRules are what a branch asks for: checks, or something else that the program under test has no part in.
type branchRules struct{ checks []RequiredCheck }

// Configure sets the settings of a repository.
func Configure(g *GitHub, s Settings) {
	defer g.mu.held()()
	g.settings = s
	g.forgetRendered()
}

// usualCheck is the name of the program's check where its policy gives it no other.
const usualCheck = "Review quorum"

func (g *repository) ensureBranch(name string) *branch {
	b := g.branches[name]
	if b == nil {
		b = &branch{name: name, tip: SHA("the tip of " + name)}
		g.branches[name] = b
		g.addCommit(&commit{sha: b.tip, author: g.owner, committer: g.owner, pushedAt: g.createdAt})
	}
	return b
}

// A commit is known from its push on.
type commit struct {
	sha        string
	parents    []string
	author     string
	committer  string
	coauthors  []string
	message    string
	verified   bool   // GitHub has verified its signature
	tree       string // that was created for it; "": it has one of its own
	pushedAt   time.Time
	simpleJSON json.RawMessage // rendered as runs and suites show it
}

// addCommit makes a commit known. A commit that was there before keeps the time of its first push.
func (g *repository) addCommit(c *commit) {
	if g.commits[c.sha] != nil {
		return
	}
	if c.message == "" {
		c.message = "Change"
	}
	g.commits[c.sha] = c
	if own := g.app != actionsApp && g.tokenOwner == ""; own && !c.pushedAt.IsZero() && len(c.parents) > 0 {
		g.ensureSuite(g.app, c.sha, c.pushedAt).unannounced = true // an App that may write checks gets a suite with every push
	}
}

// resolveRef turns a branch, a ref or a short id into a commit; "" if there is none.
func (g *repository) resolveRef(ref string) string {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")
	if ref == "HEAD" {
		ref = g.defaultBranch
	}
	if b := g.branches[ref]; b != nil {
		return b.tip
	}
	if rest, is := strings.CutPrefix(ref, "pull/"); is {
		number, kind, _ := strings.Cut(rest, "/")
		n, _ := strconv.Atoi(number)
		switch p := g.pulls[n]; {
		case p != nil && kind == "head":
			return p.head
		case p != nil && kind == "merge":
			return MergeSHA(p.head)
		}
	}
	for _, p := range g.index.pullsFor(ref) {
		if p.headBranch == ref && !p.fork {
			return p.head
		}
	}
	if g.commits[ref] != nil {
		return ref
	}
	found := ""
	if len(ref) >= 4 && len(ref) < 40 {
		for sha := range g.commits {
			if strings.HasPrefix(sha, ref) {
				if found != "" {
					return "" // ambiguous
				}
				found = sha
			}
		}
	}
	return found
}

// SetFile puts a file into a branch, the default one if ref is empty. A pull request's branch shows its base's files
// where it has none of its own.
func (g *GitHub) SetFile(path, ref, content string) {
	defer g.mu.held()()
	g.filesAt(ref)[path] = &content
	g.emitFilePush(path, ref)
}

// emitFilePush sends a push event for changed files on a branch of the repository itself. The branch's tip keeps its
// id.
func (g *announcer) emitFilePush(path, ref string) {
	if ref = or(ref, g.defaultBranch); g.webhook != nil && g.branches[ref] != nil {
		g.emitPushEvent(ref, g.branches[ref].tip, SHA(fmt.Sprintf("push %d to %s", g.newID(), ref)), g.owner, []string{path})
	}
}

// RemoveFile takes a file out of a branch.
func (g *GitHub) RemoveFile(path, ref string) {
	defer g.mu.held()()
	g.filesAt(ref)[path] = nil
	g.emitFilePush(path, ref)
}

func (g *repository) filesAt(ref string) map[string]*string {
	ref = or(ref, g.defaultBranch)
	if g.files[ref] == nil {
		g.files[ref] = map[string]*string{}
	}
	return g.files[ref]
}

// fileContent returns the content of a file at ref.
func (g *repository) fileContent(path, ref string) (string, bool) {
	if ref == "" {
		ref = g.defaultBranch
	}
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")
	look := []string{ref}
	for _, b := range g.branches {
		if b.tip == ref {
			look = append(look, b.name)
		}
	}
	for _, p := range g.index.pullsFor(ref) {
		if slices.Contains(p.allHeads, ref) || ref == p.headBranch || ref == MergeSHA(p.head) {
			look = append(look, p.head, p.headBranch, p.baseOf(ref))
		}
	}
	if g.resolveRef(ref) == "" {
		return "", false
	}
	for _, name := range append(look, g.defaultBranch) {
		if c, found := g.files[name][path]; found {
			if c == nil {
				return "", false
			}
			return *c, true
		}
	}
	return "", false
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

// RenameApp gives an App another name, in all repositories at once: its slug and its bot's login are other ones from
// now on, also on what it wrote before. Its id and its bot's stay. It may be named as before or as now. No event tells
// of it.
func RenameApp(g *GitHub, slug, name string) {
	repos := []*GitHub{g}
	if hook := webhookTargetOf(g); hook != nil {
		repos = hook.hub.allRepositories()
		if own := hook.hub.options.App.Slug; slug == own || slug == AppSlug(g, own) {
			hook.hub.appSlug.Store(name)
		}
	}
	for _, g := range repos {
		enterAppName(g, slug, name)
	}
}

func webhookTargetOf(g *GitHub) *webhookTarget {
	defer g.mu.held()()
	return g.webhook
}

func enterAppName(g *GitHub, slug, name string) {
	defer g.mu.held()()
	first := or(g.firstSlug[slug], slug)
	g.newSlugs[first], g.firstSlug[name] = name, first
	g.forgetRendered()
}

// AppSlug returns what an App is called now that was called so once.
func AppSlug(g *GitHub, slug string) string {
	defer g.mu.held()()
	return g.slugNow(slug)
}

func (g *repository) slugNow(slug string) string {
	return or(g.newSlugs[or(g.firstSlug[slug], slug)], slug)
}

// accountNow returns the login that an account has now, and its id, which no new name changes.
func (g *repository) accountNow(login string) (now string, id int64) {
	slug, isBot := strings.CutSuffix(login, "[bot]")
	if !isBot {
		return login, accountID(login)
	}
	return g.slugNow(slug) + "[bot]", accountID(or(g.firstSlug[slug], slug) + "[bot]")
}
