package sandbox

// Workflow runs: what starts and ends them, and how GitHub shows them meanwhile.

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RunSpec is a workflow run that something starts.
type RunSpec struct {
	Workflow   string // path of the workflow file, as the API shows it
	Name       string // of the workflow; default: its path
	Title      string // display_title; default: the pull request's title
	Event      string // default pull_request
	PR         int    // the pull request that it is about
	Head       string // name or SHA; default: the pull request's head, or the default branch for events that run there
	Branch     string // default: the pull request's
	By         string // who caused it; default: the pull request's author
	Jobs       []string
	Status     string // in_progress (default), queued (no runner takes its jobs until JobStarts), waiting, pending, completed
	Conclusion string // with it the run has ended at once; action_required and startup_failure have no jobs
	Log        string // of a run that has ended at once
	Refused    string // the words in which GitHub refuses to run it again; "" if it does not
	Created    time.Time
}

// Finish is how a run's newest attempt ends.
type Finish struct {
	Conclusion string // default success
	Job        string // whose end it is that the rest of this describes; default: the first job
	Log        string
	NoLog      bool   // the log is lost, as it is when a runner dies
	Step       string // the name of the step that failed
	Annotation string
	Attempt    int // only if this is the newest attempt; 0: whichever is
}

type run struct {
	id       int64
	workflow int64
	suite    *suite
	path     string
	name     string
	title    string
	event    string
	head     string
	branch   string
	fork     string // owner of the repository that the head lives in, if it is another one
	pull     int
	by       string
	number   int
	created  time.Time
	attempts []*attempt
	refused  string
	hidden   bool
}

type attempt struct {
	number     int
	by         string
	status     string
	conclusion string
	started    time.Time // run_started_at
	visible    time.Time // until then the attempt before it shows
	listed     time.Time // until then its jobs do not show while it is queued
	runner     time.Time // when a runner takes it; zero: not by itself
	cancel     time.Time // when an accepted cancel takes effect; zero: none is under way
	finished   time.Time
	updated    time.Time
	jobs       []*job // those kept from an earlier attempt included
}

type job struct {
	id          int64
	attempt     int
	name        string
	status      string
	conclusion  string
	created     time.Time
	started     time.Time // zero: no runner yet
	completed   time.Time
	log         string
	noLog       bool
	step        string
	annotations []string
}

func (r *run) last() *attempt { return r.attempts[len(r.attempts)-1] }

// shown is the attempt that GitHub shows at now.
func (r *run) shown(now time.Time) *attempt {
	a := r.last()
	if n := len(r.attempts); n > 1 && now.Before(a.visible) {
		return r.attempts[n-2]
	}
	return a
}

// file is the path of the workflow's file in its repository.
func (r *run) file() string {
	f, _, _ := strings.Cut(r.path, "@")
	if i := strings.Index(f, "/.github/"); i > 0 {
		f = f[i+1:]
	}
	return f
}

func jobless(conclusion string) bool {
	return conclusion == "action_required" || conclusion == "startup_failure"
}

// due are the moments at which the attempt changes by itself.
func (a *attempt) due() []time.Time { return []time.Time{a.visible, a.listed, a.runner, a.cancel} }

// jobsAt are the jobs that GitHub lists: right after a rerun there are none yet, which must not be read as a run
// without jobs.
func (a *attempt) jobsAt(now time.Time) []*job {
	if a.status == "queued" && now.Before(a.listed) {
		return nil
	}
	return a.jobs
}

// settle carries out what is due by now, in its order.
func (a *attempt) settle(now time.Time, moved func()) {
	if a.status == "completed" {
		return
	}
	starts := !a.runner.IsZero() && !now.Before(a.runner)
	ends := !a.cancel.IsZero() && !now.Before(a.cancel)
	if starts && !(ends && a.cancel.Before(a.runner)) {
		a.take(a.runner)
		moved()
	}
	if ends {
		a.end("cancelled", a.cancel, func(*job) string { return "cancelled" })
		moved()
	}
}

// take gives the jobs a runner.
func (a *attempt) take(at time.Time) {
	a.status, a.updated, a.runner = "in_progress", at, time.Time{}
	for _, j := range a.jobs {
		if j.status != "completed" {
			j.status, j.started = "in_progress", at
		}
	}
}

func (a *attempt) end(conclusion string, at time.Time, of func(*job) string) {
	a.status, a.conclusion, a.finished, a.updated = "completed", conclusion, at, at
	a.runner, a.cancel = time.Time{}, time.Time{}
	for _, j := range a.jobs {
		if j.status != "completed" {
			j.status, j.conclusion, j.completed = "completed", of(j), at
		}
	}
}

// StartRun starts a workflow run and returns its id.
func (g *GitHub) StartRun(s RunSpec) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	r := &run{
		path: s.Workflow, name: or(s.Name, s.Workflow), title: s.Title, event: or(s.Event, "pull_request"), branch: s.Branch,
		pull: s.PR, by: s.By, created: s.Created, refused: s.Refused,
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
	g.place(r, p, s.Head)
	for _, c := range r.file() {
		r.workflow = (r.workflow*31 + int64(c)) % 100_000_000
	}
	g.numbers[r.file()]++
	r.id, r.number = g.id(), g.numbers[r.file()]
	r.suite = &suite{id: g.id(), app: actions, head: r.head, branch: r.branch, created: r.created, updated: r.created, run: r}
	g.runs = append(g.runs, r)
	g.find.addRun(r)

	a := &attempt{number: 1, by: r.by, status: or(s.Status, "in_progress"), started: r.created, updated: r.created}
	r.attempts = []*attempt{a}
	jobs := s.Jobs
	if len(jobs) == 0 {
		jobs = []string{"review"}
	}
	if !jobless(s.Conclusion) {
		for _, name := range jobs {
			a.jobs = append(a.jobs, &job{id: g.id(), attempt: 1, name: name, status: "queued", created: r.created, log: s.Log})
		}
	}
	g.find.addJobs(r)
	switch {
	case s.Conclusion != "" || a.status == "completed":
		if a.jobs != nil && s.Conclusion != "skipped" {
			a.take(r.created)
		}
		a.end(or(s.Conclusion, "success"), r.created, func(*job) string { return or(s.Conclusion, "success") })
	case a.status == "in_progress":
		a.take(r.created)
	}
	g.began(r)
	return r.id, nil
}

// began announces a new run. Where it is completed or in progress already, GitHub says that too.
func (g *GitHub) began(r *run) {
	g.runEvent(r, "requested")
	g.jobEvents(r, "created", everyJob)
	g.moved(r, "queued")
}

// place says on which commit and branch a run appears.
func (g *GitHub) place(r *run, p *pull, head string) {
	switch r.event {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "dynamic", "push":
		if p != nil {
			r.head, r.branch, r.title, r.by = p.head, or(r.branch, p.branch), or(r.title, p.title), or(r.by, p.author)
			if p.fork {
				r.fork = p.owner
			}
		}
	}
	if r.head == "" { // all others run on the default branch, and so do not appear on the pull request
		r.head, r.branch = g.branch(g.defaultBranch).tip, or(r.branch, g.defaultBranch)
	}
	if head != "" {
		r.head = SHA(head)
		g.arrive(&commit{sha: r.head, author: "alice", committer: "alice", pushed: g.now()})
	}
	if p != nil {
		r.by = or(r.by, p.author)
	}
	r.title, r.by = or(r.title, r.name), or(r.by, "alice")
}

// JobStarts says that a runner has taken the jobs of a run's newest attempt.
func (g *GitHub) JobStarts(id int64) error {
	return g.withRun("start jobs of", id, func(r *run, now time.Time) error {
		if a := r.last(); a.status == "completed" {
			return fmt.Errorf("its attempt %d has ended", a.number)
		}
		before := r.last().status
		r.last().take(now)
		g.moved(r, before)
		return nil
	})
}

// FinishRun ends a run's newest attempt. What has ended meanwhile, by a cancel for example, stays as it is: then, and
// if f names another attempt, it reports false.
func (g *GitHub) FinishRun(id int64, f Finish) (bool, error) {
	ended := false
	err := g.withRun("finish", id, func(r *run, now time.Time) error {
		a := r.last()
		if a.status == "completed" || f.Attempt != 0 && f.Attempt != a.number {
			return nil
		}
		before := a.status
		err := a.finish(f, now, &ended)
		g.moved(r, before)
		return err
	})
	return ended, err
}

func (a *attempt) finish(f Finish, now time.Time, ended *bool) error {
	if a.status != "in_progress" && f.Conclusion != "cancelled" {
		a.take(now) // a run does not end without having begun
	}
	if now.Before(a.visible) {
		a.visible = now
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
		chosen.log, chosen.noLog, chosen.step = f.Log, f.NoLog, f.Step
		if f.Annotation != "" {
			chosen.annotations = append(chosen.annotations, f.Annotation)
		}
	}
	a.end(conclusion, now, func(j *job) string {
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

// RerunByPerson runs a run again, as somebody does in the browser.
func (g *GitHub) RerunByPerson(id int64, who string) error {
	var tell func()
	err := g.withRun("rerun", id, func(r *run, now time.Time) error {
		if r.last().status != "completed" {
			return fmt.Errorf("it has not ended")
		}
		tell = g.again(r, who, everyJob, now)
		return nil
	})
	if tell != nil {
		tell()
	}
	return err
}

// again starts the next attempt with the jobs that runs chooses; the others are kept. The call that it returns tells the players; it must be made without the lock.
func (g *GitHub) again(r *run, who string, runs func(*job) bool, now time.Time) func() {
	old := r.last()
	next := &attempt{number: old.number + 1, by: who, status: "queued", started: now, updated: now, visible: now.Add(g.lag.Rerun), runner: now.Add(g.lag.Runner)}
	if g.lag.Rerun > 0 {
		next.listed = next.visible.Add(time.Second)
	}
	if next.runner.Before(next.visible) {
		next.runner = next.visible
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
		next.jobs = append(next.jobs, &job{id: g.id(), attempt: next.number, name: name, status: "queued", created: now})
	}
	r.attempts = append(r.attempts, next)
	g.find.addJobs(r)
	g.alive(r)
	g.jobEvents(r, "created", everyJob)
	number, f := next.number, g.onRerun
	return func() {
		if f != nil {
			f(r.id, number)
		}
	}
}

func everyJob(*job) bool { return true }

func failedJob(j *job) bool { return j.conclusion == "failure" || j.conclusion == "timed_out" }

// Restart begins a run's newest attempt anew without a new number, as GitHub does with a run that a maintainer approves,
// and sometimes with one that it ran again itself.
func (g *GitHub) Restart(id int64) error {
	return g.withRun("restart", id, func(r *run, now time.Time) error {
		a := r.last()
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
		*a = attempt{number: a.number, by: a.by, status: "queued", started: now, updated: now, runner: now.Add(g.lag.Runner)}
		for _, name := range names {
			a.jobs = append(a.jobs, &job{id: g.id(), attempt: a.number, name: name, status: "queued", created: now})
		}
		g.find.addJobs(r)
		g.alive(r)
		g.jobEvents(r, "created", everyJob)
		return nil
	})
}

// NoRunner keeps the jobs of a run's newest attempt queued until JobStarts.
func (g *GitHub) NoRunner(id int64) error {
	return g.withRun("hold", id, func(r *run, _ time.Time) error {
		r.last().runner = time.Time{}
		return nil
	})
}

// Refuse says in which words GitHub refuses to run a run again; "" if it does not.
func (g *GitHub) Refuse(id int64, words string) error {
	return g.withRun("refuse", id, func(r *run, _ time.Time) error {
		r.refused = words
		return nil
	})
}

// Hide takes a run out of filtered lists, as GitHub's lagging index does. By its id it is there all the same.
func (g *GitHub) Hide(id int64, hidden bool) error {
	return g.withRun("hide", id, func(r *run, _ time.Time) error {
		r.hidden = hidden
		return nil
	})
}

// DeleteRun deletes a run.
func (g *GitHub) DeleteRun(id int64) error {
	return g.withRun("delete", id, func(r *run, _ time.Time) error {
		g.runs = slices.DeleteFunc(g.runs, func(x *run) bool { return x == r })
		g.live = slices.DeleteFunc(g.live, func(x *run) bool { return x == r })
		g.checks = slices.DeleteFunc(g.checks, func(c *CheckRun) bool { return c.suite == r.suite })
		g.find.removeRun(r)
		return nil
	})
}

// RunState is a run as it is, not as GitHub shows it.
type RunState struct {
	Attempt    int
	Status     string
	Conclusion string
	Cancelling bool
}

// Run says how a run is.
func (g *GitHub) Run(id int64) (RunState, error) {
	var s RunState
	err := g.withRun("read", id, func(r *run, _ time.Time) error {
		a := r.last()
		s = RunState{Attempt: a.number, Status: a.status, Conclusion: a.conclusion, Cancelling: !a.cancel.IsZero()}
		return nil
	})
	return s, err
}

func (g *GitHub) withRun(verb string, id int64, f func(*run, time.Time) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.run(id)
	if r == nil {
		return fmt.Errorf("%s run %d: there is none", verb, id)
	}
	if err := f(r, g.settle()); err != nil {
		return fmt.Errorf("%s run %d: %w", verb, id, err)
	}
	return nil
}

func (g *GitHub) run(id int64) *run {
	return g.find.runs[id]
}

// jobsOf are the jobs that GitHub shows for a run: of the newest attempt, or of all. A job that was not run again keeps
// the attempt that it ran in.
func (r *run) jobsOf(now time.Time, all bool) []*job {
	if !all {
		return r.shown(now).jobsAt(now)
	}
	var out []*job
	for _, a := range r.attempts {
		if a.number > r.shown(now).number {
			break
		}
		for _, j := range a.jobsAt(now) {
			if !slices.Contains(out, j) {
				out = append(out, j)
			}
		}
	}
	return out
}

// refusal is why GitHub will not run r again, with its status; 0 if it will.
func (r *run) refusal(failedOnly bool, now time.Time) (int, string) {
	a := r.last()
	switch {
	case a.status != "completed":
		return 403, "This workflow is already running"
	case r.refused != "":
		return 403, r.refused
	case now.Sub(r.created) > 30*24*time.Hour:
		return 403, "Unable to retry this workflow run because it was created over a month ago"
	case len(r.attempts) > 50:
		return 403, "This workflow run cannot be retried"
	case failedOnly && !slices.ContainsFunc(a.jobs, failedJob):
		return 403, "No failed jobs to rerun."
	}
	return 0, ""
}
