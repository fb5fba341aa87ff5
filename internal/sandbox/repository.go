package sandbox

// The state: what the repository holds, and how it is found.

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ensureSuite finds or makes the one suite that an App other than Actions has on a commit.
func (g *repository) ensureSuite(app App, head string, now time.Time) *checkSuite {
	for _, s := range g.index.suitesByHead[head] {
		if s.run == nil && s.app == app {
			return s
		}
	}
	s := &checkSuite{id: g.newID(), app: app, head: head, created: now, updated: now}
	g.index.addSuite(s)
	return s
}

// suiteForCheck returns the suite in which a new check run lands. What a job writes with GITHUB_TOKEN lands in the
// oldest suite of Actions on that commit, whichever workflow that belongs to.
func (g *repository) suiteForCheck(c *StoredCheckRun, now time.Time) *checkSuite {
	if c.App == actionsApp {
		for _, s := range g.suitesOn(c.Head) {
			if s.app == actionsApp {
				return s
			}
		}
	}
	return g.ensureSuite(c.App, c.Head, now)
}

// suitesOn returns the suites of a commit, oldest first.
func (g *repository) suitesOn(head string) []*checkSuite {
	all := slices.Clone(g.index.suitesByHead[head])
	slices.SortStableFunc(all, func(a, b *checkSuite) int { return a.created.Compare(b.created) })
	return all
}

// jobView shows a job as a check run.
func (g *repository) jobView(j *job) checkView {
	r := j.run
	return checkView{job: j, StoredCheckRun: &StoredCheckRun{
		ID: j.id, Name: j.name, Head: r.head, App: actionsApp, Status: j.status,
		Conclusion: j.conclusion, Started: j.started, Completed: j.completed,
		Created: j.created, DetailsURL: fmt.Sprintf("%s/actions/runs/%d/job/%d", g.webURL(), r.id, j.id), suite: r.suite,
	}}
}

// checksIn returns the check runs of a suite, oldest first: jobs, then those made through the API. With latest it
// returns only the newest of each name.
func (g *repository) checksIn(s *checkSuite, latest bool, now time.Time) []checkView {
	var all []checkView
	if s.run != nil {
		for _, j := range s.run.shownJobs(now, true) {
			all = append(all, g.jobView(j))
		}
	}
	for _, c := range s.checks {
		all = append(all, checkView{StoredCheckRun: c})
	}
	if !latest {
		return all
	}
	newest := map[string]int64{}
	for _, c := range all {
		newest[c.Name] = max(newest[c.Name], c.ID)
	}
	return slices.DeleteFunc(all, func(c checkView) bool { return newest[c.Name] != c.ID })
}

// findCheck finds a check run by its id; a job is found too, as a check run.
func (g *repository) findCheck(id int64, now time.Time) checkView {
	if c := g.index.checkByID[id]; c != nil {
		return checkView{StoredCheckRun: c}
	}
	if j := g.findJob(id, now); j != nil {
		return g.jobView(j)
	}
	return checkView{}
}

// suiteResult returns the status and the conclusion of a suite: those of its workflow run, or the worst of its check
// runs.
func (g *repository) suiteResult(s *checkSuite, now time.Time) (status, conclusion string) {
	if s.run != nil {
		a := s.run.shownAttempt(now)
		return a.status, a.conclusion
	}
	checks := g.checksIn(s, true, now)
	if len(checks) == 0 {
		return "queued", ""
	}
	order := []string{"", "skipped", "neutral", "success", "cancelled", "action_required", "timed_out", "failure"}
	for _, c := range checks {
		if c.Status != "completed" {
			return c.Status, ""
		}
		if slices.Index(order, c.Conclusion) > slices.Index(order, conclusion) {
			conclusion = c.Conclusion
		}
	}
	return "completed", conclusion
}

// statusesOn returns the statuses of a commit, newest first.
func (g *repository) statusesOn(sha string) []*CommitStatus {
	all := slices.Clone(g.index.statusesByHead[sha])
	slices.Reverse(all)
	return all
}

// latestStatuses returns the newest status of each context. GitHub compares contexts without case.
func (g *repository) latestStatuses(sha string) []*CommitStatus {
	seen := map[string]bool{}
	return slices.DeleteFunc(g.statusesOn(sha), func(s *CommitStatus) bool {
		key := strings.ToLower(s.Context)
		old := seen[key]
		seen[key] = true
		return old
	})
}

// isPassedOver reports whether the merge gate passes over the checks of a suite: its run was followed by a newer one
// of the same workflow and event on the commit, or nobody's change started it. Source for dispatched and scheduled
// runs: b24ui 353 and cpplint 360.
func (g *repository) isPassedOver(s *checkSuite) bool {
	r := s.run
	if r == nil {
		return false
	}
	return r.event == "workflow_dispatch" || r.event == "schedule" ||
		slices.ContainsFunc(g.index.runsByHead[r.head], func(o *workflowRun) bool {
			return o.id > r.id && o.workflowFile() == r.workflowFile() && o.event == r.event
		})
}

// appOfRequiredCheck is the id of the App of which a rule of the branch requires the check; 0 if anybody may set it.
func (g *repository) appOfRequiredCheck(branch, check string) int64 {
	b := g.branches[branch]
	if b == nil {
		return 0
	}
	for _, rules := range []*branchRules{b.protection, b.ruleset} {
		if rules == nil {
			continue
		}
		for _, c := range rules.checks {
			if c.Name == check && c.AppID != 0 {
				return c.AppID
			}
		}
	}
	return 0
}

// appOfBot is the App whose bot has that login; a person's has none.
func (g *repository) appOfBot(login string) App {
	slug, isBot := strings.CutSuffix(login, "[bot]")
	switch {
	case !isBot:
		return App{}
	case slug == g.app.Slug:
		return g.app
	}
	return App{Slug: or(g.firstSlug[slug], slug)}.WithID()
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

func (g *repository) ensureBranch(name string) *branch {
	b := g.branches[name]
	if b == nil {
		b = &branch{name: name, tip: SHA("the tip of " + name)}
		g.branches[name] = b
		g.addCommit(&commit{sha: b.tip, author: g.owner, committer: g.owner, pushedAt: g.createdAt})
	}
	return b
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

// index finds what a GitHub holds.
type index struct {
	pullsByNumber  []*pullRequest            // by number
	pullsByHead    map[string][]*pullRequest // by each head that a pull request ever had, and by the test merge of it
	pullsByBranch  map[string][]*pullRequest // by the branch that a pull request comes from
	comments       map[int64]*issueComment
	reviews        map[int64]*review
	runByID        map[int64]*workflowRun
	runsByHead     map[string][]*workflowRun // by head, oldest first
	runsByBranch   map[string][]*workflowRun // by branch, oldest first
	jobs           map[int64]*job
	suiteByID      map[int64]*checkSuite
	suitesByHead   map[string][]*checkSuite // by head, in the order in which they came
	checkByID      map[int64]*StoredCheckRun
	statusesByHead map[string][]*CommitStatus // by head, oldest first
}

func newIndex() index {
	return index{
		pullsByHead: map[string][]*pullRequest{}, pullsByBranch: map[string][]*pullRequest{}, comments: map[int64]*issueComment{},
		reviews: map[int64]*review{}, runByID: map[int64]*workflowRun{}, runsByHead: map[string][]*workflowRun{},
		runsByBranch: map[string][]*workflowRun{}, jobs: map[int64]*job{}, suiteByID: map[int64]*checkSuite{},
		suitesByHead: map[string][]*checkSuite{}, checkByID: map[int64]*StoredCheckRun{}, statusesByHead: map[string][]*CommitStatus{},
	}
}

func (x *index) addPull(p *pullRequest) {
	i, _ := slices.BinarySearchFunc(x.pullsByNumber, p.number, func(q *pullRequest, n int) int { return q.number - n })
	x.pullsByNumber = slices.Insert(x.pullsByNumber, i, p)
	x.pullsByBranch[p.headBranch] = append(x.pullsByBranch[p.headBranch], p)
}

func (x *index) addHead(p *pullRequest, sha string) {
	for _, key := range []string{sha, MergeSHA(sha)} {
		if !slices.Contains(x.pullsByHead[key], p) {
			x.pullsByHead[key] = append(x.pullsByHead[key], p)
		}
	}
}

// pullsFor returns the pull requests, by number, that have or had one of the refs as head, test merge or branch.
func (x *index) pullsFor(refs ...string) []*pullRequest {
	var all []*pullRequest
	for _, ref := range refs {
		for _, some := range [][]*pullRequest{x.pullsByHead[ref], x.pullsByBranch[ref]} {
			for _, p := range some {
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *pullRequest) int { return a.number - b.number })
	return all
}

func (x *index) addRun(r *workflowRun) {
	x.runByID[r.id] = r
	x.runsByHead[r.head] = append(x.runsByHead[r.head], r)
	x.runsByBranch[r.headBranch] = append(x.runsByBranch[r.headBranch], r)
	x.addSuite(r.suite)
}

func (x *index) addSuite(s *checkSuite) {
	x.suiteByID[s.id] = s
	x.suitesByHead[s.head] = append(x.suitesByHead[s.head], s)
}

func (x *index) addCheck(c *StoredCheckRun) {
	x.checkByID[c.ID] = c
	c.suite.checks = append(c.suite.checks, c)
}

func (x *index) removeRun(r *workflowRun) {
	same := func(o *workflowRun) bool { return o == r }
	delete(x.runByID, r.id)
	delete(x.suiteByID, r.suite.id)
	x.runsByHead[r.head] = slices.DeleteFunc(x.runsByHead[r.head], same)
	x.runsByBranch[r.headBranch] = slices.DeleteFunc(x.runsByBranch[r.headBranch], same)
	x.suitesByHead[r.head] = slices.DeleteFunc(x.suitesByHead[r.head], func(s *checkSuite) bool { return s.run == r })
	maps.DeleteFunc(x.jobs, func(_ int64, j *job) bool { return j.run == r })
	for _, c := range r.suite.checks {
		delete(x.checkByID, c.ID)
	}
}

// removeSuitesAndStatuses removes the suites that are left on a commit, with their checks, and its statuses.
func (x *index) removeSuitesAndStatuses(head string) {
	for _, s := range x.suitesByHead[head] {
		delete(x.suiteByID, s.id)
		for _, c := range s.checks {
			delete(x.checkByID, c.ID)
		}
	}
	delete(x.suitesByHead, head)
	delete(x.statusesByHead, head)
}

func (g *repository) addTimelineEvent(p *pullRequest, h timelineEvent) {
	h.id, h.at = g.newID(), g.now()
	p.timeline = append(p.timeline, &h)
}

// findJob finds a job that GitHub shows.
func (g *repository) findJob(id int64, now time.Time) *job {
	if j := g.index.jobs[id]; j != nil && slices.Contains(j.run.shownJobs(now, true), j) {
		return j
	}
	return nil
}

// newestRuns returns the newest run of each workflow, the oldest workflow first.
func (g *repository) newestRuns() []*workflowRun {
	newest := map[int64]int{}
	var all []*workflowRun
	for _, w := range g.runs {
		if i, seen := newest[w.workflowID]; seen {
			all[i] = w
			continue
		}
		newest[w.workflowID] = len(all)
		all = append(all, w)
	}
	return all
}

// pullsWith are the pull requests that show a commit.
func (g *repository) pullsWith(c *commit) []*pullRequest {
	return slices.DeleteFunc(g.index.pullsFor(c.sha), func(p *pullRequest) bool { return !slices.Contains(p.shownCommits, c.sha) })
}

// pullBetween is a pull request whose diff is that between two commits, with its base; nil if none is known.
func (g *repository) pullBetween(base, head string) (between *pullRequest, branch string) {
	for _, p := range g.index.pullsFor(head) {
		if !p.diffs.heads[head] {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(g.branches)) {
			if g.branches[name].tip != base {
				continue
			}
			if _, isTold := p.diffs.told[headOnBase{head, name}]; isTold {
				return p, name
			}
			if between == nil {
				between, branch = p, name
			}
		}
		if between == nil && p.head == head {
			between, branch = p, p.baseBranch
		}
	}
	return between, branch
}

// rulesetsFor are the active rulesets that hold for a branch.
func (g *repository) rulesetsFor(branch string) []RulesetSpec {
	return slices.DeleteFunc(slices.Clone(g.settings.Rulesets), func(s RulesetSpec) bool {
		return or(s.Enforcement, "active") != "active" || !slices.ContainsFunc(s.Include, func(ref string) bool {
			matches, _ := path.Match(ref, "refs/heads/"+branch)
			return ref == "~ALL" || ref == "~DEFAULT_BRANCH" && branch == g.defaultBranch || matches
		})
	})
}

// sourceOf is whose a ruleset is.
func (g *repository) sourceOf(s RulesetSpec) (kind, name string) {
	if s.By != "" {
		return "Organization", s.By
	}
	return "Repository", g.owner + "/" + g.repo
}

// workflowsWithoutRun are the workflow files of the default branch that never ran, as GitHub lists them all the same.
func (g *repository) workflowsWithoutRun() (all []*workflowRun) {
	for name, source := range g.files[g.defaultBranch] {
		isWorkflow := strings.HasPrefix(name, ".github/workflows/") && (path.Ext(name) == ".yml" || path.Ext(name) == ".yaml")
		if !isWorkflow || source == nil || slices.ContainsFunc(g.runs, func(r *workflowRun) bool { return r.workflowFile() == name }) {
			continue
		}
		r := &workflowRun{workflowPath: name, name: nameInSource(*source, name)}
		for _, c := range name {
			r.workflowID = (r.workflowID*31 + int64(c)) % 100_000_000
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *workflowRun) int { return strings.Compare(a.workflowPath, b.workflowPath) })
	return all
}

// addJob gives an attempt of a run a job that no runner has taken.
func (g *repository) addJob(r *workflowRun, a *runAttempt, name string, now time.Time) *job {
	j := &job{run: r, id: g.newID(), attempt: a.number, name: name, status: waitingStatus(a), created: now}
	a.jobs = append(a.jobs, j)
	g.index.jobs[j.id] = j
	return j
}

// placeRun sets the commit and the branch on which a run appears.
func (g *repository) placeRun(r *workflowRun, p *pullRequest, head string) {
	switch r.event {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "dynamic", "push":
		if p != nil {
			r.head, r.headBranch, r.title, r.actor = p.head, or(r.headBranch, p.headBranch), or(r.title, p.title), or(r.actor, p.author)
			if p.fork {
				r.forkOwner = p.headOwner
			}
		}
	}
	if r.head == "" { // all others run on the default branch, and so do not appear on the pull request
		r.head, r.headBranch = g.ensureBranch(g.defaultBranch).tip, or(r.headBranch, g.defaultBranch)
	}
	if head != "" {
		r.head = SHA(head)
		g.addCommit(&commit{sha: r.head, author: "alice", committer: "alice", pushedAt: g.now()})
	}
	if p != nil {
		r.actor = or(r.actor, p.author)
	}
	r.title, r.actor = or(r.title, r.name), or(r.actor, "alice")
}

// treeOf are the files at a commit, by path: those of the default branch, of the branch that it is on, and of a pull
// request's head those that it changes.
func (g *repository) treeOf(sha string) map[string]treeFile {
	files := map[string]treeFile{}
	over := func(ref string) {
		for name, content := range g.files[ref] {
			switch {
			case content == nil:
				delete(files, name)
			case g.treeNotes.links[ref][name]:
				files[name] = treeFile{name, modeLink, blobID(*content)}
			default:
				files[name] = treeFile{name, modeFile, blobID(*content)}
			}
		}
	}
	over(g.defaultBranch)
	for name, b := range g.branches {
		if b.tip == sha && name != g.defaultBranch {
			over(name)
		}
	}
	maps.Copy(files, g.treeNotes.oldFiles[sha])
	for _, p := range g.index.pullsFor(sha) {
		if !p.diffs.heads[sha] {
			continue
		}
		changed := p.diffs.wholeOf(sha)
		over(p.baseOf(sha))
		over(p.headBranch)
		over(sha)
		for _, f := range changed {
			delete(files, f.Previous)
			if f.Status == "removed" {
				delete(files, f.Path)
				continue
			}
			if _, isThere := g.files[p.headBranch][f.Path]; isThere || g.files[sha][f.Path] != nil {
				continue // its content is known
			}
			files[f.Path] = treeFile{f.Path, f.mode(), f.blob()}
		}
	}
	return files
}

// mergeBase is the commit at which a head has left a base.
func (g *repository) mergeBase(p *pullRequest, head, base string) *commit {
	g.noteMergeBase(p, head, base)
	return g.commits[mergeBaseSHA(&p.diffs, head, base)]
}

// noteMergeBase makes the commit known at which a head has left a base, with the files as they are there: what the head
// changes is as it was, and of the rest of what it holds the base has the same.
func (g *repository) noteMergeBase(p *pullRequest, head, base string) {
	sha := mergeBaseSHA(&p.diffs, head, base)
	if g.commits[sha] == nil {
		tip := g.ensureBranch(base).tip
		g.commits[sha] = &commit{sha: sha, parents: []string{tip}, author: g.owner, committer: g.owner, message: "Base", pushedAt: g.now()}
	}
	files := map[string]treeFile{}
	for _, f := range p.diffs.wholeOf(head) {
		if f.Status != "removed" {
			files[f.Path] = treeFile{f.Path, f.mode(), f.blob()}
		}
	}
	for _, f := range p.diffs.changesAgainst(head, base) {
		delete(files, f.Path)
		if name := or(f.Previous, f.Path); f.Status != "added" {
			files[name] = treeFile{name, or(f.Change.Was.Mode, modeFile), blobID(f.Change.Was.Content)}
		}
	}
	g.treeNotes.oldFiles[sha] = files
}

func (g *repository) apiURL() string { return apiRoot + "/repos/" + g.owner + "/" + g.repo }

func (g *repository) webURL() string { return "https://github.com/" + g.owner + "/" + g.repo }

// checkPage is the page of a check run that is no job.
func (g *repository) checkPage(id int64) string { return fmt.Sprintf("%s/runs/%d", g.webURL(), id) }
