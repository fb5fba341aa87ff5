package sandbox

// The things that a repository holds, each with what it knows by itself.

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

type artifact struct {
	id      int64
	name    string
	archive []byte
	created time.Time
	expired bool
}

// StoredCheckRun is a check run that was made through the API. Jobs are shown as check runs too, and are not stored
// as such.
type StoredCheckRun struct {
	ID          int64
	Name        string
	Head        string
	App         App
	ExternalID  string
	DetailsURL  string
	Status      string
	Conclusion  string
	Title       string
	Summary     string
	Text        string
	Annotations []CheckAnnotation
	Actions     []CheckAction
	Started     time.Time
	Completed   time.Time
	Created     time.Time
	Own         bool            // the program under test made it
	History     []CheckRevision // visible states, in order; an update that changes nothing visible adds none
	Writes      int             // creates and updates

	suite *checkSuite
}

// CheckRevision is the visible state of a check run from At on.
type CheckRevision struct {
	At         time.Time
	Status     string
	Conclusion string
	Title      string
}

// CheckAnnotation is an annotation of a check run, as the API takes it.
type CheckAnnotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column"`
	EndColumn   int    `json:"end_column"`
	Level       string `json:"annotation_level"`
	Message     string `json:"message"`
	Title       string `json:"title"`
	Details     string `json:"raw_details"`
}

// CheckAction is a button below a check run.
type CheckAction struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

// CommitStatus is a commit status.
type CommitStatus struct {
	ID          int64
	Head        string
	Context     string
	State       string
	Description string
	TargetURL   string
	By          string
	At          time.Time
}

// checkSuite is a check suite: one for each workflow run, and one for each other App on a commit.
type checkSuite struct {
	id          int64
	app         App
	head        string
	headBranch  string
	created     time.Time
	updated     time.Time
	run         *workflowRun      // nil for other Apps
	unannounced bool              // it was requested, and not yet announced
	checks      []*StoredCheckRun // made through the API, oldest first
}

// checkView is a check run as the API shows it: one that was made, or a job.
type checkView struct {
	*StoredCheckRun
	job *job
}

// recordRevision counts a write, and appends the visible state to the history if it has changed.
func (c *StoredCheckRun) recordRevision(now time.Time) {
	c.Writes++
	c.suite.updated = now
	s := CheckRevision{At: now, Status: c.Status, Conclusion: c.Conclusion, Title: c.Title}
	if n := len(c.History); n > 0 {
		last := c.History[n-1]
		last.At = now
		if last == s {
			return
		}
	}
	c.History = append(c.History, s)
}

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

// Lag is how long GitHub takes. Zero is the default, a negative duration is none.
type Lag struct {
	Rerun  time.Duration // how long the old attempt still shows after a rerun; default 2s
	Runner time.Duration // how long after a rerun its jobs get a runner; default 5s
	Cancel time.Duration // how long a cancel that was accepted takes; default 2s
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

// A branch of the repository itself.
type branch struct {
	name       string
	tip        string
	protection *branchRules // of the classic kind; nil: it is not protected
	ruleset    *branchRules // nil: it has none
}

// branchRules are what a branch asks for: checks, or something else that the program under test has no part in.
type branchRules struct{ checks []RequiredCheck }

// usualCheck is the name of the program's check where its policy gives it no other.
const usualCheck = "Review quorum"

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

func (p *pullRequest) state() string {
	switch {
	case p.merged:
		return "merged"
	case p.closed:
		return "closed"
	default:
		return "open"
	}
}

// toldFiles are the files that the pull request changes, as they were told.
func (p *pullRequest) toldFiles() []ChangedFile { return p.diffs.filesAgainst(p.head, p.baseBranch) }

// baseOf is the base whose files a commit of the pull request shows where it has none of its own: the test merge those
// of the base now, a head those of the base against which it was pushed.
func (p *pullRequest) baseOf(ref string) string {
	if ref == MergeSHA(p.head) {
		return p.baseBranch
	}
	if ref == p.headBranch {
		ref = p.head
	}
	return p.diffs.contents[ref].base
}

// openOrClosed is a pull request's state as REST has it.
func (p *pullRequest) openOrClosed() string {
	if p.closed {
		return "closed"
	}
	return "open"
}

// changedLines are the lines that the pull request adds and removes.
func (p *pullRequest) changedLines() (added, removed int) {
	for _, f := range p.toldFiles() {
		more, less := f.changedLines()
		added, removed = added+more, removed+less
	}
	return added, removed
}

type pullRequest struct {
	number         int
	title          string
	body           string
	author         string
	head           string
	allHeads       []string // all that it ever had
	shownCommits   []string // commits that it shows: since the last force-push
	headBranch     string
	baseBranch     string
	baseSHA        string
	fork           bool
	headOwner      string // of the repository that the head lives in
	draft          bool
	closed         bool
	merged         bool
	labels         []string
	diffs          pullDiffs
	changedCount   int
	created        time.Time
	updated        time.Time
	closedAt       time.Time
	comments       []*issueComment
	reviews        []*review
	threads        []*reviewThread
	timeline       []*timelineEvent
	reviewRequests []*reviewRequest
	minimalJSON    minimalPullCache

	teamRequests []string
	locked       bool
	stack        *pullStack // nil: it is in none
}

type issueComment struct {
	pull     *pullRequest
	id       int64
	author   string
	body     string
	created  time.Time
	updated  time.Time
	editor   string
	editedAt time.Time

	reactions []commentReaction
}

// commentReaction is somebody's reaction to an issue comment.
type commentReaction struct {
	id      int64
	by      string
	content string
	at      time.Time
}

type review struct {
	pull        *pullRequest
	id          int64
	author      string
	state       string
	body        string
	commit      string
	submitted   time.Time
	editor      string
	editedAt    time.Time
	dismissedBy string // by whom
}

// reviewThread is a review thread: the comment that opened it, and the replies.
type reviewThread struct {
	pull       *pullRequest
	comments   []*reviewComment
	path       string
	line       int
	outdated   bool
	resolvedBy string // by whom
}

type reviewComment struct {
	thread         *reviewThread
	review         *review
	id             int64
	author         string
	body           string
	originalCommit string // the one it was written on
	created        time.Time
	editor         string
	editedAt       time.Time
}

// timelineEvent is an entry of the timeline.
type timelineEvent struct {
	id             int64
	kind           string // as REST calls it
	actor          string
	at             time.Time
	old, new       string // branches or commits
	requestedLogin string // whose review was requested
	label          string
	review         *review // that was dismissed
	dismissedState string  // of a review before it was dismissed
}

// reviewRequest is a review that was asked for and stands until it comes.
type reviewRequest struct {
	login     string
	fulfilled bool
}

func or(s, preset string) string {
	if s == "" {
		return preset
	}
	return s
}

// A branchPush is an entry of a repository's activity list.
type branchPush struct {
	id            int64
	owner, branch string // of the repository
	before, after string // commits
	kind          string // as REST calls it
	actor         string
	at            time.Time
}

// moveReviews shows the reviews of some authors on the new head, as GitHub does after some pushes.
func (p *pullRequest) moveReviews(before string, authors []string) {
	for _, v := range p.reviews {
		if v.commit == before && slices.ContainsFunc(authors, func(a string) bool { return strings.EqualFold(a, v.author) }) {
			v.commit = p.head
		}
	}
}

// A queueEntry is a pull request in the merge queue of its base.
type queueEntry struct {
	pull       *pullRequest
	by         string
	at         time.Time
	head, base string // commits of its group; "": none is built
}

func (e *queueEntry) branchName() string {
	return fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", e.pull.baseBranch, e.pull.number, e.base)
}

// A pullStack is a stack of pull requests, in public preview since 2026-07-30: each targets the branch of the one
// below, and GitHub merges them together into the trunk, the base of the lowest one. Its layers come from there, those
// that are merged included. Source: GitHub's documentation and reference of gh-stack.
type pullStack struct {
	number int
	trunk  string
	layers []*pullRequest
}

// openBelow are the open layers of its stack below p, from the bottom.
func (p *pullRequest) openBelow() []*pullRequest {
	if p.stack == nil {
		return nil
	}
	below := p.stack.layers[:slices.Index(p.stack.layers, p)]
	return slices.DeleteFunc(slices.Clone(below), func(o *pullRequest) bool { return o.closed })
}

// nextAbove is the lowest open layer of its stack above p; nil if there is none.
func (p *pullRequest) nextAbove() *pullRequest {
	if p.stack == nil {
		return nil
	}
	above := p.stack.layers[slices.Index(p.stack.layers, p)+1:]
	if i := slices.IndexFunc(above, func(o *pullRequest) bool { return !o.closed }); i >= 0 {
		return above[i]
	}
	return nil
}

// reviewComments are the comments on the diff that a review made, by id; 0: all.
func (p *pullRequest) reviewComments(review int64) (all []*reviewComment) {
	for _, t := range p.threads {
		for _, c := range t.comments {
			if review == 0 || c.review.id == review {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b *reviewComment) int { return cmp.Compare(a.id, b.id) })
	return all
}

func (r *workflowRun) isOfWorkflow(workflow string) bool {
	return workflow == "" || workflow == fmt.Sprint(r.workflowID) || workflow == path.Base(r.workflowFile())
}

// findAttempt returns the attempt of that number; nil if there is none, or if it does not show yet.
func (r *workflowRun) findAttempt(n int64, now time.Time) *runAttempt {
	for _, a := range r.attempts {
		if int64(a.number) == n && a.number <= r.shownAttempt(now).number {
			return a
		}
	}
	return nil
}

func (b *branch) isProtected() bool { return b.protection != nil || b.ruleset != nil }

// fileTree are the files of a tree that was created, apart from those of the commit or tree that it is based on.
type fileTree map[string]*string

// nameInSource is the name that a workflow file gives itself; its path without one.
func nameInSource(source, file string) string {
	for line := range strings.Lines(source) {
		if name, found := strings.CutPrefix(line, "name:"); found {
			return strings.Trim(strings.TrimSpace(name), `"'`)
		}
	}
	return file
}

// hasForkBy reports whether a pull request came from a fork of that account.
func hasForkBy(pulls map[int]*pullRequest, owner string) bool {
	for _, p := range pulls {
		if p.fork && strings.EqualFold(p.headOwner, owner) {
			return true
		}
	}
	return false
}

// Finish is how a run's newest attempt ends.
type Finish struct {
	Conclusion string // default success
	Job        string // the job that the rest of this describes; default: the first one
	Log        string
	NoLog      bool   // the log is lost, as it is when a runner dies
	Step       string // the name of the step that failed
	Annotation string
	Attempt    int // end it only if this is the newest attempt; 0: any
}

type workflowRun struct {
	id           int64
	workflowID   int64
	suite        *checkSuite
	workflowPath string
	name         string
	title        string
	event        string
	head         string
	headBranch   string
	forkOwner    string // owner of the repository that the head lives in, if it is another one
	pullNumber   int
	actor        string
	runNumber    int
	created      time.Time
	attempts     []*runAttempt
	rerunRefusal string
	hidden       bool
	artifacts    []*artifact // oldest first
}

type runAttempt struct {
	number       int
	triggeredBy  string
	status       string
	conclusion   string
	started      time.Time // run_started_at
	visibleAt    time.Time // until then the attempt before it shows
	jobsListedAt time.Time // until then its jobs do not show while it is queued
	runnerAt     time.Time // when a runner takes it; zero: not by itself
	cancelAt     time.Time // when an accepted cancel takes effect; zero: none is under way
	finishedAt   time.Time
	updated      time.Time
	jobs         []*job // those kept from an earlier attempt included
}

type job struct {
	run         *workflowRun
	id          int64
	attempt     int
	name        string
	status      string
	conclusion  string
	created     time.Time
	started     time.Time // zero: no runner yet
	completed   time.Time
	log         string
	logLost     bool
	failedStep  string
	annotations []string
}

func (r *workflowRun) newestAttempt() *runAttempt { return r.attempts[len(r.attempts)-1] }

// shownAttempt returns the attempt that GitHub shows at now.
func (r *workflowRun) shownAttempt(now time.Time) *runAttempt {
	a := r.newestAttempt()
	if n := len(r.attempts); n > 1 && now.Before(a.visibleAt) {
		return r.attempts[n-2]
	}
	return a
}

// workflowFile returns the path of the workflow's file in its repository.
func (r *workflowRun) workflowFile() string {
	f, _, _ := strings.Cut(r.workflowPath, "@")
	if i := strings.Index(f, "/.github/"); i > 0 {
		f = f[i+1:]
	}
	return f
}

func hasNoJobs(conclusion string) bool {
	return conclusion == "action_required" || conclusion == "startup_failure"
}

// dueTimes returns the moments at which the attempt changes by itself.
func (a *runAttempt) dueTimes() []time.Time {
	return []time.Time{a.visibleAt, a.jobsListedAt, a.runnerAt, a.cancelAt}
}

// listedJobs returns the jobs that GitHub lists: none right after a rerun, which must not be read as a run without
// jobs.
func (a *runAttempt) listedJobs(now time.Time) []*job {
	if a.status == "queued" && now.Before(a.jobsListedAt) {
		return nil
	}
	return a.jobs
}

// carryOutDue carries out the changes that are due by now, in their order.
func (a *runAttempt) carryOutDue(now time.Time, moved func()) {
	if a.status == "completed" {
		return
	}
	starts := !a.runnerAt.IsZero() && !now.Before(a.runnerAt)
	ends := !a.cancelAt.IsZero() && !now.Before(a.cancelAt)
	if starts && !(ends && a.cancelAt.Before(a.runnerAt)) {
		a.startJobs(a.runnerAt)
		moved()
	}
	if ends {
		a.endJobs("cancelled", a.cancelAt, func(*job) string { return "cancelled" })
		moved()
	}
}

// startJobs lets a runner take the jobs.
func (a *runAttempt) startJobs(at time.Time) {
	a.status, a.updated, a.runnerAt = "in_progress", at, time.Time{}
	for _, j := range a.jobs {
		if j.status != "completed" {
			j.status, j.started = "in_progress", at
		}
	}
}

func (a *runAttempt) endJobs(conclusion string, at time.Time, of func(*job) string) {
	a.status, a.conclusion, a.finishedAt, a.updated = "completed", conclusion, at, at
	a.runnerAt, a.cancelAt = time.Time{}, time.Time{}
	for _, j := range a.jobs {
		if j.status != "completed" {
			j.status, j.conclusion, j.completed = "completed", of(j), at
		}
	}
}

func (a *runAttempt) finishAs(f Finish, now time.Time, ended *bool) error {
	if a.status != "in_progress" && f.Conclusion != "cancelled" {
		a.startJobs(now) // a run does not end without having begun
	}
	if now.Before(a.visibleAt) {
		a.visibleAt = now
	}
	conclusion := or(f.Conclusion, "success")
	i := 0
	if f.Job != "" {
		i = slices.IndexFunc(a.jobs, func(j *job) bool { return j.name == f.Job })
	}
	if i < 0 || len(a.jobs) > 0 && i >= len(a.jobs) {
		return fmt.Errorf("it has no job %q", f.Job)
	}
	var chosen *job
	if len(a.jobs) > 0 {
		chosen = a.jobs[i]
		chosen.log, chosen.logLost, chosen.failedStep = f.Log, f.NoLog, f.Step
		if f.Annotation != "" {
			chosen.annotations = append(chosen.annotations, f.Annotation)
		}
	}
	a.endJobs(conclusion, now, func(j *job) string {
		switch {
		case j == chosen:
			return conclusion
		case conclusion == "cancelled" || conclusion == "skipped":
			return conclusion
		default: // one job failed, the others did not
			return "success"
		}
	})
	*ended = true
	return nil
}

func everyJob(*job) bool { return true }

func isFailedJob(j *job) bool { return j.conclusion == "failure" || j.conclusion == "timed_out" }

// waitingStatus is the status of a job that no runner has taken.
func waitingStatus(a *runAttempt) string {
	if a.status == "waiting" {
		return "waiting"
	}
	return "queued"
}

// shownJobs returns the jobs that GitHub shows for a run: of the newest attempt, or of all. A job that was not run
// again keeps the attempt that it ran in.
func (r *workflowRun) shownJobs(now time.Time, all bool) []*job {
	if !all {
		return r.shownAttempt(now).listedJobs(now)
	}
	var out []*job
	for _, a := range r.attempts {
		if a.number > r.shownAttempt(now).number {
			break
		}
		for _, j := range a.listedJobs(now) {
			if !slices.Contains(out, j) {
				out = append(out, j)
			}
		}
	}
	return out
}

// A treeFile is a file in a tree.
type treeFile struct{ path, mode, sha string }

// treeNotes are what trees have that files do not tell.
type treeNotes struct {
	links    map[string]map[string]bool     // by ref, then path: the files that are symbolic links
	oldFiles map[string]map[string]treeFile // by merge base, then path: what pull requests change
	limit    int                            // so many entries of a tree are listed; 0: as many as GitHub lists
}

func newTreeNotes() treeNotes {
	return treeNotes{links: map[string]map[string]bool{}, oldFiles: map[string]map[string]treeFile{}}
}

// noteLink notes that a file of a branch is a symbolic link.
func (t treeNotes) noteLink(name, ref string) {
	if t.links[ref] == nil {
		t.links[ref] = map[string]bool{}
	}
	t.links[ref][name] = true
}

// isLink reports whether a file of a branch is a symbolic link.
func (t treeNotes) isLink(name, ref string) bool {
	return t.links[strings.TrimPrefix(ref, "refs/heads/")][path.Clean(name)]
}

// mergeBaseSHA is the commit at which a head has left a base. It is the same for bases against which it changes the same.
func mergeBaseSHA(d *pullDiffs, head, base string) string {
	if d.isAsFirst(head, base) {
		base = d.contents[head].base
	}
	return SHA("the base of " + head + " against " + base)
}

const apiRoot = "https://api.github.com"

func pullID(p *pullRequest) int64 { return 5_000_000 + int64(p.number) }

// openRequests are the requests for reviews that have not come.
func (p *pullRequest) openRequests() []*reviewRequest {
	return slices.DeleteFunc(slices.Clone(p.reviewRequests), func(q *reviewRequest) bool { return q.fulfilled })
}

// accountOf is the login of one of a commit's people; "" of an e-mail address that no account has.
func accountOf(person string) string {
	if strings.Contains(person, "@") {
		return ""
	}
	return person
}

// emailOf is the e-mail address of one of a commit's people.
func emailOf(person string) string {
	if accountOf(person) == "" {
		return person
	}
	return person + "@users.noreply.github.com"
}

// fullMessage returns the commit's message with its trailers.
func (c *commit) fullMessage() string {
	var b strings.Builder
	b.WriteString(c.message)
	if len(c.coauthors) > 0 {
		b.WriteString("\n")
	}
	for _, login := range c.coauthors {
		fmt.Fprintf(&b, "\nCo-authored-by: %s <%s>", login, emailOf(login))
	}
	return b.String()
}

// shownCommit returns the commit on which GitHub shows a comment: as long as its lines stand, it moves along with
// the head.
func (c *reviewComment) shownCommit() string {
	if c.thread.outdated {
		return c.originalCommit
	}
	return c.thread.pull.head
}

// earlierOf returns the earlier of two moments; a zero one is none.
func earlierOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// minimalPullCache is a pull request in the short form that runs, suites and checks contain, with the values that it
// was rendered from.
type minimalPullCache struct {
	repo, branch, head, base, baseSHA string
	json                              json.RawMessage
}

// updatedAt returns the moment of a suite's last change.
func (s *checkSuite) updatedAt(now time.Time) time.Time {
	at := s.updated
	if s.run != nil {
		at = laterOf(at, s.run.shownAttempt(now).updated)
	}
	return at
}
