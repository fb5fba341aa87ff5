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
	"sync"
	"time"
)

// Actions is the App whose token a workflow's job has. Its id is the same for every repository of github.com.
var actions = App{Slug: "github-actions", ID: 15368}

// An App is a GitHub App.
type App struct {
	Slug string
	ID   int64
}

// Options say which GitHub there is, and as whom the program writes.
type Options struct {
	Owner, Repo   string           // default acme/shop
	DefaultBranch string           // default main
	Now           func() time.Time // default time.Now
	App           App              // as which App the program writes; default GITHUB_TOKEN's, github-actions
	Person        string           // the login of a personal token that it has instead; it cannot write check runs
	Limit         int              // requests an hour; default 1,000 with GITHUB_TOKEN, else 5,000
	Lag           Lag
}

// Lag is how long GitHub takes. Zero is the default, a negative duration is none.
type Lag struct {
	Rerun  time.Duration // how long the old attempt still shows after a rerun; default 2s
	Runner time.Duration // how long after a rerun its jobs get a runner; default 5s
	Cancel time.Duration // how long a cancel that was accepted takes; default 2s
}

// GitHub is an imitation of GitHub that holds one repository. All its methods may be called at any time by anyone.
type GitHub struct {
	mu     sync.Mutex
	now    func() time.Time
	lag    Lag
	app    App
	person string

	owner, repo   string
	repoID        int64
	defaultBranch string
	created       time.Time
	nextID        int64
	pulls         map[int]*pull
	branches      map[string]*branch
	commits       map[string]*commit
	files         map[string]map[string]*string // by ref, then path; nil: the file was removed there
	permissions   map[string]string
	runs          []*run // oldest first
	live          []*run // those that will change by themselves
	numbers       map[string]int
	find          index
	checks        []*CheckRun // oldest first, jobs excluded
	statuses      []*Status   // oldest first

	budget  *budget
	hook    *hook // where its events go; nil: nobody hears of them
	faults  []*Fault
	log     []Request
	wrote   Written
	unknown []string
	invalid []string
	before  func(*http.Request)
	after   func(*http.Request, int)
	onRerun func(run int64, attempt int)
	onAsk   func(kind, body string)

	graphs   *graphCache
	accounts map[string]json.RawMessage // rendered once: they never change
	apps     map[App]json.RawMessage
	repos    map[string]json.RawMessage
	actors   map[string]object // accounts as GraphQL has them; never written to
}

// New makes a GitHub with an empty repository.
func New(o Options) *GitHub {
	g := &GitHub{
		now: o.Now, lag: o.Lag, app: o.App, person: o.Person, owner: o.Owner, repo: o.Repo, defaultBranch: o.DefaultBranch, budget: &budget{of: "installation ID 77", limit: o.Limit},
		nextID: 900_000,
		pulls:  map[int]*pull{}, branches: map[string]*branch{}, commits: map[string]*commit{}, files: map[string]map[string]*string{},
		find: newIndex(), graphs: &graphCache{}, permissions: map[string]string{}, numbers: map[string]int{},
		accounts: map[string]json.RawMessage{}, apps: map[App]json.RawMessage{}, repos: map[string]json.RawMessage{}, actors: map[string]object{},
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.owner == "" {
		g.owner = "acme"
	}
	if g.repo == "" {
		g.repo = "shop"
	}
	if g.defaultBranch == "" {
		g.defaultBranch = "main"
	}
	g.repoID = accountID(g.owner + "/" + g.repo)
	if g.app == (App{}) {
		g.app = actions
	}
	if g.app.ID == 0 {
		g.app.ID = accountID(g.app.Slug)
	}
	if g.budget.limit == 0 {
		g.budget.limit = 5000
		if g.app == actions && g.person == "" {
			g.budget.limit = 1000
		}
	}
	g.lag.Rerun = orDefault(g.lag.Rerun, 2*time.Second)
	g.lag.Runner = orDefault(g.lag.Runner, 5*time.Second)
	g.lag.Cancel = orDefault(g.lag.Cancel, 2*time.Second)
	g.created = g.now().Add(-365 * 24 * time.Hour)
	g.wrote = Written{Reruns: map[int64]int{}, Cancels: map[int64]int{}}
	g.branch(g.defaultBranch)
	return g
}

func orDefault(d, preset time.Duration) time.Duration {
	switch {
	case d == 0:
		return preset
	case d < 0:
		return 0
	}
	return d
}

// SHA turns a short name, such as "a1", into the commit id that it stands for everywhere in a story. A commit id stays
// what it is.
func SHA(name string) string {
	if len(name) == 40 && strings.Trim(name, "0123456789abcdef") == "" {
		return name
	}
	sum := sha1.Sum([]byte("the commit called " + name))
	return hex.EncodeToString(sum[:])
}

// MergeSHA is the id of the test merge of a head.
func MergeSHA(head string) string { return SHA("the merge of " + SHA(head)) }

// Written is what the program under test wrote, check runs and statuses aside.
type Written struct {
	Comments []string       // bodies of issue comments, as they were created
	Reviews  []string       // logins whose review it requested
	Reruns   map[int64]int  // by run
	Cancels  map[int64]int  // by run, as far as they were accepted
	Reran    []int64        // runs, in the order of their reruns
	Deleted  []int64        // issue comments it deleted
	Edited   map[int64]bool // issue comments it edited
}

// Wrote says what the program under test wrote.
func (g *GitHub) Wrote() Written {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.wrote
	w.Comments, w.Reviews, w.Reran, w.Deleted = slices.Clone(w.Comments), slices.Clone(w.Reviews), slices.Clone(w.Reran), slices.Clone(w.Deleted)
	w.Reruns, w.Cancels, w.Edited = maps.Clone(w.Reruns), maps.Clone(w.Cancels), maps.Clone(w.Edited)
	return w
}

// OnRerun sets what is called when a run was run again, by the program or a person, with the number of the new attempt.
// It is called before the request is answered.
func (g *GitHub) OnRerun(f func(run int64, attempt int)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.onRerun = f
}

// OnAsk sets what is called when the program asked a reviewer: kind is "comment" with the comment's body, or
// "review_request" with the login.
func (g *GitHub) OnAsk(f func(kind, body string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.onAsk = f
}

// Before sets what is called before a request is looked at. It may change GitHub: that is how another replica gets in
// between two requests.
func (g *GitHub) Before(f func(*http.Request)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before = f
}

// After sets what is called after a request was carried out, with the status of its answer, 0 if the answer got lost.
func (g *GitHub) After(f func(req *http.Request, status int)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.after = f
}

// Due is the next moment at which something changes here by itself: a rerun becomes visible, a runner takes a job, a
// cancel takes effect. It is zero if nothing will.
func (g *GitHub) Due() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	var due time.Time
	for _, r := range g.live {
		for _, t := range r.last().due() {
			if t.After(now) && (due.IsZero() || t.Before(due)) {
				due = t
			}
		}
	}
	return due
}

// settle carries out what has become due, each at its own moment, and says what time it is.
func (g *GitHub) settle() time.Time {
	now := g.now()
	for _, r := range g.live {
		before := r.last().status
		r.last().settle(now, func() {
			g.moved(r, before)
			before = r.last().status
		})
	}
	g.live = slices.DeleteFunc(g.live, func(r *run) bool {
		return !slices.ContainsFunc(r.last().due(), func(t time.Time) bool { return t.After(now) })
	})
	return now
}

// alive says that a run will change by itself.
func (g *GitHub) alive(r *run) {
	if !slices.Contains(g.live, r) {
		g.live = append(g.live, r)
	}
	if g.hook != nil {
		g.hook.hub.stir()
	}
}

func (g *GitHub) id() int64 {
	g.nextID++
	return g.nextID
}

// me is the login as which the program under test writes.
func (g *GitHub) me() string {
	if g.person != "" {
		return g.person
	}
	return g.app.Slug + "[bot]"
}

// Repository returns the repository's owner and its name, which a rename changes.
func (g *GitHub) Repository() (owner, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.owner, g.repo
}

// A branch of the repository itself.
type branch struct {
	name      string
	tip       string
	protected bool
	ruled     bool
}

func (g *GitHub) branch(name string) *branch {
	b := g.branches[name]
	if b == nil {
		b = &branch{name: name, tip: SHA("the tip of " + name)}
		g.branches[name] = b
		g.arrive(&commit{sha: b.tip, author: g.owner, committer: g.owner, pushed: g.created})
	}
	return b
}

// A commit is known from its push on.
type commit struct {
	sha       string
	parents   []string
	author    string
	committer string
	coauthors []string
	message   string
	pushed    time.Time
	simple    json.RawMessage // as runs and suites show it
}

// arrive makes a commit known. A commit that was there before keeps the time of its first push.
func (g *GitHub) arrive(c *commit) {
	if g.commits[c.sha] != nil {
		return
	}
	if c.message == "" {
		c.message = "Change"
	}
	g.commits[c.sha] = c
	if own := g.app != actions && g.person == ""; own && !c.pushed.IsZero() && len(c.parents) > 0 {
		g.suiteOf(g.app, c.sha, c.pushed).fresh = true // an App that may write checks gets a suite with every push
	}
}

// resolve turns a branch, a ref or a short id into a commit; "" if there is none.
func (g *GitHub) resolve(ref string) string {
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
	for _, p := range g.find.pullsFor(ref) {
		if p.branch == ref && !p.fork {
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
	g.mu.Lock()
	defer g.mu.Unlock()
	g.file(ref)[path] = &content
	g.filePushed(path, ref)
}

// filePushed announces that a branch of the repository itself has other files. Its tip stays what it is called.
func (g *GitHub) filePushed(path, ref string) {
	if ref = or(ref, g.defaultBranch); g.hook != nil && g.branches[ref] != nil {
		g.pushEvent(ref, g.branches[ref].tip, SHA(fmt.Sprintf("push %d to %s", g.id(), ref)), g.owner, []string{path})
	}
}

// RemoveFile takes a file out of a branch.
func (g *GitHub) RemoveFile(path, ref string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.file(ref)[path] = nil
	g.filePushed(path, ref)
}

func (g *GitHub) file(ref string) map[string]*string {
	if ref == "" {
		ref = g.defaultBranch
	}
	if g.files[ref] == nil {
		g.files[ref] = map[string]*string{}
	}
	return g.files[ref]
}

// content finds a file as ref has it.
func (g *GitHub) content(path, ref string) (string, bool) {
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
	for _, p := range g.find.pullsFor(ref) {
		if slices.Contains(p.heads, ref) || ref == p.branch || ref == MergeSHA(p.head) {
			look = append(look, p.head, p.branch, p.base)
		}
	}
	if g.resolve(ref) == "" {
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

// Permission says what somebody may do: admin, maintain, write, triage, read or none. The default is read.
func (g *GitHub) Permission(login, permission string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.permissions[strings.ToLower(login)] = permission
}

// Protect makes a branch a protected one.
func (g *GitHub) Protect(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.branch(name).protected = true
}

// Rule gives a branch a ruleset that asks for a pull request.
func (g *GitHub) Rule(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.branch(name).ruled = true
}

// accountID is stable, and unlike for each login.
func accountID(login string) int64 {
	var id int64 = 7
	for _, c := range strings.ToLower(login) {
		id = (id*31 + int64(c)) % 1_000_000_007
	}
	return id
}
