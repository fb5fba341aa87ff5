package sandbox

// Workflow runs: how they start and end, and how GitHub shows them meanwhile.

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// actions are what happens to runs and checks.
type actions struct {
	mergeQueue
	onRerun func(run int64, attempt int)
}

// RunSpec is a workflow run that something starts.
type RunSpec struct {
	Workflow   string // path of the workflow file, as the API shows it
	Name       string // of the workflow; default: its path
	Title      string // display_title; default: the pull request's title
	Event      string // default pull_request
	PR         int    // the pull request that it is about
	Head       string // name or SHA; default: the pull request's head, or the default branch for events that run there
	Branch     string // default: the pull request's
	By         string // login that caused it; default: the pull request's author
	Jobs       []string
	Status     string // in_progress (default), queued or waiting (no runner takes its jobs until StartJobs), pending, completed
	Conclusion string // with it the run has ended at once; action_required and startup_failure have no jobs
	Log        string // of a run that has ended at once
	Refused    string // GitHub's message when it refuses a rerun; "" if it does not
	Created    time.Time
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

// ForbidEvents sets the events that may start no workflow, as a policy for Actions does with its rule
// restrict_action_events, and GitHub by itself with pull_request_target in public repositories. Their runs fail at
// once, without a job. Source: GitHub changelog 2026-09-17; "About Actions policies".
func ForbidEvents(g *GitHub, events ...string) {
	defer g.mu.held()()
	g.forbidden = slices.Clone(events)
}

// StartRun starts a workflow run and returns its id.
func (g *actions) StartRun(s RunSpec) (int64, error) {
	defer g.mu.held()()
	return g.startRun(s, g.carryOutDue())
}

func (g *actions) startRun(s RunSpec, now time.Time) (int64, error) {
	r := &workflowRun{
		workflowPath: s.Workflow, name: or(s.Name, s.Workflow), title: s.Title, event: or(s.Event, "pull_request"), headBranch: s.Branch,
		pullNumber: s.PR, actor: s.By, created: s.Created, rerunRefusal: s.Refused,
	}
	p := g.pulls[s.PR]
	switch {
	case s.Workflow == "":
		return 0, fmt.Errorf("start run: it needs a workflow")
	case s.PR != 0 && p == nil:
		return 0, fmt.Errorf("start run of %s: there is no pull request #%d", s.Workflow, s.PR)
	}
	if r.created.IsZero() {
		r.created = now
	}
	g.placeRun(r, p, s.Head)
	for _, c := range r.workflowFile() {
		r.workflowID = (r.workflowID*31 + int64(c)) % 100_000_000
	}
	g.runNumbers[r.workflowFile()]++
	r.id, r.runNumber = g.newID(), g.runNumbers[r.workflowFile()]
	r.suite = &checkSuite{
		id: g.newID(), app: actionsApp, head: r.head, headBranch: r.headBranch, created: r.created, updated: r.created,
		run: r,
	}
	g.runs = append(g.runs, r)
	g.index.addRun(r)

	refused := slices.Contains(g.forbidden, r.event)
	if refused {
		s.Conclusion, r.rerunRefusal = "failure", or(r.rerunRefusal, "This workflow run cannot be retried")
	}
	a := &runAttempt{number: 1, triggeredBy: r.actor, status: or(s.Status, "in_progress"), started: r.created, updated: r.created}
	r.attempts = []*runAttempt{a}
	jobs := s.Jobs
	if len(jobs) == 0 {
		jobs = []string{"review"}
	}
	if !hasNoJobs(s.Conclusion) && !refused {
		for _, name := range jobs {
			g.addJob(r, a, name, r.created).log = s.Log
		}
	}
	switch {
	case s.Conclusion != "" || a.status == "completed":
		if a.jobs != nil && s.Conclusion != "skipped" {
			a.startJobs(r.created)
		}
		a.endJobs(or(s.Conclusion, "success"), r.created, func(*job) string { return or(s.Conclusion, "success") })
	case a.status == "in_progress":
		a.startJobs(r.created)
	}
	g.emitRunStart(r)
	return r.id, nil
}

// addJob gives an attempt of a run a job that no runner has taken.
func (g *repository) addJob(r *workflowRun, a *runAttempt, name string, now time.Time) *job {
	j := &job{run: r, id: g.newID(), attempt: a.number, name: name, status: waitingStatus(a), created: now}
	a.jobs = append(a.jobs, j)
	g.index.jobs[j.id] = j
	return j
}

// emitRunStart sends the events of a new run, and those of its progress if it has begun or ended already.
func (g *announcer) emitRunStart(r *workflowRun) {
	g.emitRunEvent(r, "requested")
	g.emitJobEvents(r, "created", everyJob)
	g.emitRunProgress(r, "queued")
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

// StartJobs lets a runner take the jobs of a run's newest attempt.
func (g *actions) StartJobs(id int64) error {
	return g.withRun("start jobs of", id, func(r *workflowRun, now time.Time) error {
		if a := r.newestAttempt(); a.status == "completed" {
			return fmt.Errorf("its attempt %d has ended", a.number)
		}
		before := r.newestAttempt().status
		r.newestAttempt().startJobs(now)
		g.emitRunProgress(r, before)
		return nil
	})
}

// FinishRun ends a run's newest attempt. It changes nothing and reports false if the attempt has ended meanwhile, by
// a cancel for example, or if f names another attempt.
func (g *actions) FinishRun(id int64, f Finish) (bool, error) {
	ended := false
	err := g.withRun("finish", id, func(r *workflowRun, now time.Time) error {
		a := r.newestAttempt()
		if a.status == "completed" || f.Attempt != 0 && f.Attempt != a.number {
			return nil
		}
		before := a.status
		err := a.finishAs(f, now, &ended)
		g.emitRunProgress(r, before)
		return err
	})
	return ended, err
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

// RerunByPerson runs a run again, as a person does in the browser.
func (g *actions) RerunByPerson(id int64, who string) error {
	var tell func()
	err := g.withRun("rerun", id, func(r *workflowRun, now time.Time) error {
		if r.newestAttempt().status != "completed" {
			return fmt.Errorf("it has not ended")
		}
		tell = g.startNextAttempt(r, who, everyJob, now)
		return nil
	})
	if tell != nil {
		tell()
	}
	return err
}

// startNextAttempt starts the next attempt with the jobs that runs selects; the others are kept. The function that
// it returns calls that of OnRerun; it must be called without the lock.
func (g *actions) startNextAttempt(r *workflowRun, who string, runs func(*job) bool, now time.Time) func() {
	old := r.newestAttempt()
	next := &runAttempt{
		number: old.number + 1, triggeredBy: who, status: "queued", started: now, updated: now,
		visibleAt: now.Add(g.lag.Rerun), runnerAt: now.Add(g.lag.Runner),
	}
	if g.lag.Rerun > 0 {
		next.jobsListedAt = next.visibleAt.Add(time.Second)
	}
	if next.runnerAt.Before(next.visibleAt) {
		next.runnerAt = next.visibleAt
	}
	names := []string{}
	for _, j := range old.jobs {
		if !runs(j) {
			next.jobs = append(next.jobs, j) // it keeps its attempt and its id
			continue
		}
		names = append(names, j.name)
	}
	if len(old.jobs) == 0 {
		names = append(names, "review")
	}
	for _, name := range names {
		g.addJob(r, next, name, now)
	}
	r.attempts = append(r.attempts, next)
	g.markLive(r)
	g.emitJobEvents(r, "created", everyJob)
	number, f := next.number, g.onRerun
	return func() {
		if f != nil {
			f(r.id, number)
		}
	}
}

func everyJob(*job) bool { return true }

func isFailedJob(j *job) bool { return j.conclusion == "failure" || j.conclusion == "timed_out" }

// RestartRun starts a run's newest attempt again under the same number, as GitHub does with a run that a maintainer
// approves, and sometimes with one that it ran again itself.
func (g *actions) RestartRun(id int64) error {
	return g.withRun("restart", id, func(r *workflowRun, now time.Time) error {
		a := r.newestAttempt()
		if a.status != "completed" {
			return fmt.Errorf("it has not ended")
		}
		names := []string{}
		for _, j := range a.jobs {
			names = append(names, j.name)
		}
		if len(names) == 0 {
			names = []string{"review"}
		}
		*a = runAttempt{
			number: a.number, triggeredBy: a.triggeredBy, status: "queued", started: now, updated: now,
			runnerAt: now.Add(g.lag.Runner),
		}
		for _, name := range names {
			g.addJob(r, a, name, now)
		}
		g.markLive(r)
		g.emitJobEvents(r, "created", everyJob)
		return nil
	})
}

// WithholdRunner keeps the jobs of a run's newest attempt queued until StartJobs.
func (g *actions) WithholdRunner(id int64) error {
	return g.withRun("hold", id, func(r *workflowRun, _ time.Time) error {
		r.newestAttempt().runnerAt = time.Time{}
		return nil
	})
}

// AwaitEnvironment lets the jobs of a run's newest attempt wait for the environment that they name, until StartJobs:
// somebody must approve it first.
func AwaitEnvironment(g *GitHub, id int64) error {
	return g.withRun("hold", id, func(r *workflowRun, now time.Time) error {
		a := r.newestAttempt()
		if a.status == "completed" {
			return fmt.Errorf("its attempt %d has ended", a.number)
		}
		a.status, a.updated, a.runnerAt = "waiting", now, time.Time{}
		for _, j := range a.jobs {
			if j.status != "completed" {
				j.status, j.started = waitingStatus(a), time.Time{}
			}
		}
		return nil
	})
}

// waitingStatus is the status of a job that no runner has taken.
func waitingStatus(a *runAttempt) string {
	if a.status == "waiting" {
		return "waiting"
	}
	return "queued"
}

// RefuseRerun sets the message with which GitHub refuses to run a run again; "" if it does not.
func (g *actions) RefuseRerun(id int64, words string) error {
	return g.withRun("refuse", id, func(r *workflowRun, _ time.Time) error {
		r.rerunRefusal = words
		return nil
	})
}

// HideRun takes a run out of filtered lists, as GitHub's lagging index does. By its id it is there all the same.
func (g *actions) HideRun(id int64, hidden bool) error {
	return g.withRun("hide", id, func(r *workflowRun, _ time.Time) error {
		r.hidden = hidden
		return nil
	})
}

// DeleteRun deletes a run.
func (g *actions) DeleteRun(id int64) error {
	return g.withRun("delete", id, func(r *workflowRun, _ time.Time) error {
		g.deleteRun(r)
		return nil
	})
}

func (g *actions) deleteRun(r *workflowRun) {
	g.runs = slices.DeleteFunc(g.runs, func(x *workflowRun) bool { return x == r })
	g.liveRuns = slices.DeleteFunc(g.liveRuns, func(x *workflowRun) bool { return x == r })
	g.index.removeRun(r)
}

// Expire takes the workflow runs, check suites, check runs and statuses from the head of a pull request, as GitHub does
// when the days are over for which the repository keeps what Actions has left: 90 by default. Source: GitHub changelog
// 2026-07-17.
func Expire(g *GitHub, pull int) error {
	defer g.mu.held()()
	g.carryOutDue()
	p := g.pulls[pull]
	if p == nil {
		return fmt.Errorf("expire the runs and checks of #%d: there is no such pull request", pull)
	}
	for _, r := range slices.Clone(g.index.runsByHead[p.head]) {
		g.deleteRun(r)
	}
	g.index.removeSuitesAndStatuses(p.head)
	return nil
}

// RunState is a run as it is, not as GitHub shows it.
type RunState struct {
	Attempt    int
	Status     string
	Conclusion string
	Cancelling bool
}

// StateOfRun returns the state of a run.
func (g *actions) StateOfRun(id int64) (RunState, error) {
	var s RunState
	err := g.withRun("read", id, func(r *workflowRun, _ time.Time) error {
		a := r.newestAttempt()
		s = RunState{Attempt: a.number, Status: a.status, Conclusion: a.conclusion, Cancelling: !a.cancelAt.IsZero()}
		return nil
	})
	return s, err
}

func (g *actions) withRun(verb string, id int64, f func(*workflowRun, time.Time) error) error {
	defer g.mu.held()()
	r := g.index.runByID[id]
	if r == nil {
		return fmt.Errorf("%s run %d: there is none", verb, id)
	}
	if err := f(r, g.carryOutDue()); err != nil {
		return fmt.Errorf("%s run %d: %w", verb, id, err)
	}
	return nil
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

// whyNoRerun returns the status and the message with which GitHub refuses to run r again; 0 if it does not.
func (r *workflowRun) whyNoRerun(failedOnly bool, now time.Time) (int, string) {
	a := r.newestAttempt()
	switch {
	case a.status != "completed":
		return 403, "This workflow is already running"
	case r.rerunRefusal != "":
		return 403, r.rerunRefusal
	case now.Sub(r.created) > 30*24*time.Hour:
		return 403, "Unable to retry this workflow run because it was created over a month ago"
	case len(r.attempts) > 50:
		return 403, "This workflow run cannot be retried"
	case failedOnly && !slices.ContainsFunc(a.jobs, isFailedJob):
		return 403, "No failed jobs to rerun."
	}
	return 0, ""
}

// A Dispatch is a workflow run that the program started.
type Dispatch struct {
	Run      int64
	Workflow string // path of the file
	Name     string // of the run
	Inputs   map[string]string
}

// OnDispatch sets a function that is called when the program starts a workflow. It is called before the request is
// answered.
func OnDispatch(g *GitHub, f func(run int64, workflow string)) {
	defer g.mu.held()()
	g.onDispatch = f
}

// dispatchWorkflow starts a workflow on a branch. The file must stand on the default branch; its run belongs to the
// branch's tip. A job's GITHUB_TOKEN may do so. Source: the documentation's "Create a workflow dispatch event";
// messages as seen on GitHub (github.com/cli/cli/issues/9221, 9989).
func dispatchWorkflow(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Ref     string            `json:"ref"`
		Inputs  map[string]string `json:"inputs"`
		Details bool              `json:"return_run_details"`
	}
	if r.decodeBody(&in) != nil {
		return answerError(http.StatusBadRequest, "Problems parsing JSON")
	}
	path := ".github/workflows/" + r.params["workflow_id"]
	src, found := g.fileContent(path, "")
	if !found {
		return answerNotFound()
	}
	isBranch := g.branches[strings.TrimPrefix(in.Ref, "refs/heads/")] != nil || in.Ref == g.defaultBranch
	if status, why := whyNoDispatch(src, in.Ref, isBranch, in.Inputs, len(r.body)); status != 0 {
		return answerError(status, why)
	}
	id, err := g.startRun(RunSpec{
		Workflow: path, Event: "workflow_dispatch", Branch: in.Ref, By: g.programLogin(), Title: nameOfRun(src, in.Inputs),
	}, r.now)
	if err != nil {
		return answerError(http.StatusUnprocessableEntity, err.Error())
	}
	w := g.index.runByID[id]
	g.written.Dispatched = append(g.written.Dispatched, Dispatch{Run: id, Workflow: path, Name: w.title, Inputs: in.Inputs})
	if call := g.onDispatch; call != nil {
		r.afterUnlock = append(r.afterUnlock, func() { call(id, path) })
	}
	if !in.Details {
		return routeAnswer{status: http.StatusNoContent}
	}
	at := fmt.Sprintf("/repos/%s/%s/actions/runs/%d", g.owner, g.repo, id)
	return answerOK(object{
		"workflow_run_id": id, "run_url": r.baseURL + at,
		"html_url": fmt.Sprintf("https://github.com/%s/%s/actions/runs/%d", g.owner, g.repo, id),
	})
}
