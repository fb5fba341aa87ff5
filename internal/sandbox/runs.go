package sandbox

// Workflow runs, checks and statuses: how they start and end, and how GitHub shows them meanwhile.

import (
	"cmp"
	"fmt"
	"maps"
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

// SetCheck makes, or updates, a check run of another App and returns its id.
func (g *actions) SetCheck(s CheckSpec) (int64, error) {
	defer g.mu.held()()
	now := g.carryOutDue()
	s.App.Slug = or(g.firstSlug[s.App.Slug], s.App.Slug)
	s.App = s.App.WithID()
	head := SHA(s.Head)
	if g.commits[head] == nil {
		return 0, fmt.Errorf("set check %q: there is no commit %s", s.Name, s.Head)
	}
	var c *StoredCheckRun
	if !s.AlwaysNew {
		for _, in := range g.index.suitesByHead[head] {
			for _, old := range in.checks {
				if !old.Own && old.Name == s.Name && old.App == s.App && (c == nil || old.ID > c.ID) {
					c = old
				}
			}
		}
	}
	isNew := c == nil
	if isNew {
		c = &StoredCheckRun{ID: g.newID(), Name: s.Name, Head: head, App: s.App, Created: now, Started: now}
		c.suite = g.suiteForCheck(c, now)
		g.index.addCheck(c)
	}
	c.Status, c.Conclusion, c.ExternalID, c.DetailsURL = s.Status, s.Conclusion, s.ExternalID, s.DetailsURL
	c.Title, c.Summary, c.Text, c.Annotations = s.Title, s.Summary, s.Text, slices.Clone(s.Annotations)
	c.Completed = time.Time{}
	switch {
	case c.Conclusion != "":
		c.Status, c.Completed = "completed", now
	case c.Status == "":
		c.Status = "in_progress"
	}
	c.recordRevision(now)
	g.emitCheckProgress(c, isNew, c.Status == "completed")
	return c.ID, nil
}

// SetStatus writes a commit status as another author than the program under test.
func (g *actions) SetStatus(s CommitStatus) (int64, error) {
	defer g.mu.held()()
	now := g.carryOutDue()
	s.Head = SHA(s.Head)
	if g.commits[s.Head] == nil {
		return 0, fmt.Errorf("set status %q: there is no commit %s", s.Context, s.Head)
	}
	s.At, s.Context = now, or(s.Context, "default")
	g.addStatus(&s)
	return s.ID, nil
}

// addStatus adds a status, with the next id: each kind of thing has ids of its own.
func (g *actions) addStatus(s *CommitStatus) {
	g.lastStatusID++
	s.ID = g.lastStatusID
	g.index.statusesByHead[s.Head] = append(g.index.statusesByHead[s.Head], s)
	g.emitStatusEvent(s)
}

// OwnCheckRuns lists the check runs on a commit that the program under test made, oldest first.
func (g *actions) OwnCheckRuns(head string) []StoredCheckRun {
	defer g.mu.held()()
	var own []StoredCheckRun
	for _, s := range g.index.suitesByHead[SHA(head)] {
		for _, c := range s.checks {
			if c.Own {
				copied := *c
				copied.suite, copied.History = nil, slices.Clone(c.History)
				copied.Annotations, copied.Actions = slices.Clone(c.Annotations), slices.Clone(c.Actions)
				own = append(own, copied)
			}
		}
	}
	slices.SortFunc(own, func(a, b StoredCheckRun) int { return cmp.Compare(a.ID, b.ID) })
	return own
}

// WrittenHeads lists the commits that carry a check run or a status which the program under test wrote, in the order in
// which it wrote them first.
func (g *actions) WrittenHeads() []string {
	defer g.mu.held()()
	type written struct {
		id   int64
		head string
	}
	var all []written
	for _, c := range g.index.checkByID {
		if c.Own {
			all = append(all, written{c.ID, c.Head})
		}
	}
	for _, s := range slices.Concat(slices.Collect(maps.Values(g.index.statusesByHead))...) {
		if s.By == g.programLogin() {
			all = append(all, written{s.ID, s.Head})
		}
	}
	slices.SortFunc(all, func(a, b written) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.head, b.head)) })
	var heads []string
	for _, w := range all {
		if !slices.Contains(heads, w.head) {
			heads = append(heads, w.head)
		}
	}
	return heads
}

// Statuses lists the commit statuses of a commit, by any author, oldest first.
func (g *actions) Statuses(head string) []CommitStatus {
	defer g.mu.held()()
	var all []CommitStatus
	for _, s := range g.index.statusesByHead[SHA(head)] {
		all = append(all, *s)
	}
	return all
}

// OnRerun sets a function that is called when the program or a person runs a run again, with the number of the new
// attempt. It is called before the request is answered.
func (g *actions) OnRerun(f func(run int64, attempt int)) {
	defer g.mu.held()()
	g.onRerun = f
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
