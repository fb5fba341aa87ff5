package sandbox

// Check runs, check suites and commit statuses: those of other Apps, those of jobs, and those that the program writes.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// CheckRun is a check run that was made through the API.
type CheckRun struct {
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
	Annotations []Annotation
	Actions     []Action
	Started     time.Time
	Completed   time.Time
	Created     time.Time
	Mine        bool    // the program under test made it
	History     []Shown // what it has shown, in order; an update that changes nothing visible adds nothing
	Writes      int     // creates and updates

	suite *suite
}

// Shown is what a check run showed from a moment on.
type Shown struct {
	At         time.Time
	Status     string
	Conclusion string
	Title      string
}

// Annotation is an annotation of a check run, as the API takes it.
type Annotation struct {
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

// Action is a button.
type Action struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

// CheckSpec is a check run of another App.
type CheckSpec struct {
	Name        string
	App         App // an id of 0 is made up from the slug
	Head        string
	Status      string // default completed if there is a conclusion, else in_progress
	Conclusion  string
	ExternalID  string
	DetailsURL  string
	Title       string
	Summary     string
	Text        string
	Annotations []Annotation
	Another     bool // a further one, even if the App has one of that name
}

// Status is a commit status.
type Status struct {
	ID          int64
	Head        string
	Context     string
	State       string
	Description string
	TargetURL   string
	By          string
	At          time.Time
}

// suite is a check suite: one for each workflow run, and one for each other App on a commit.
type suite struct {
	id      int64
	app     App
	head    string
	branch  string
	created time.Time
	updated time.Time
	run     *run        // nil for other Apps
	fresh   bool        // it was requested, and not yet announced
	checks  []*CheckRun // made through the API, oldest first
}

// checkView is a check run as the API shows it: one that was made, or a job.
type checkView struct {
	*CheckRun
	job *job
}

// SetCheck makes, or updates, a check run of another App and returns its id.
func (g *GitHub) SetCheck(s CheckSpec) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	if s.App.ID == 0 {
		s.App.ID = accountID(s.App.Slug)
	}
	if s.App.Slug == actions.Slug {
		s.App = actions
	}
	head := SHA(s.Head)
	if g.commits[head] == nil {
		return 0, fmt.Errorf("set check %q: there is no commit %s", s.Name, s.Head)
	}
	var c *CheckRun
	if !s.Another {
		for _, in := range g.find.suitesAt[head] {
			for _, old := range in.checks {
				if !old.Mine && old.Name == s.Name && old.App == s.App && (c == nil || old.ID > c.ID) {
					c = old
				}
			}
		}
	}
	isNew := c == nil
	if isNew {
		c = &CheckRun{ID: g.id(), Name: s.Name, Head: head, App: s.App, Created: now, Started: now}
		c.suite = g.suiteFor(c, now)
		g.checks = append(g.checks, c)
		g.find.addCheck(c)
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
	c.shows(now)
	g.checked(c, isNew, c.Status == "completed")
	return c.ID, nil
}

// shows keeps the history.
func (c *CheckRun) shows(now time.Time) {
	c.Writes++
	c.suite.updated = now
	s := Shown{At: now, Status: c.Status, Conclusion: c.Conclusion, Title: c.Title}
	if n := len(c.History); n > 0 {
		last := c.History[n-1]
		last.At = now
		if last == s {
			return
		}
	}
	c.History = append(c.History, s)
}

// suiteOf finds or makes the one suite that an App other than Actions has on a commit.
func (g *GitHub) suiteOf(app App, head string, now time.Time) *suite {
	for _, s := range g.find.suitesAt[head] {
		if s.run == nil && s.app == app {
			return s
		}
	}
	s := &suite{id: g.id(), app: app, head: head, created: now, updated: now}
	g.find.addSuite(s)
	return s
}

// suiteFor is where a check run lands. What a job writes with GITHUB_TOKEN lands in the oldest suite of Actions on that
// commit, whichever workflow that belongs to.
func (g *GitHub) suiteFor(c *CheckRun, now time.Time) *suite {
	if c.App == actions {
		for _, s := range g.suitesOn(c.Head) {
			if s.app == actions {
				return s
			}
		}
	}
	return g.suiteOf(c.App, c.Head, now)
}

// suitesOn are the suites of a commit, oldest first.
func (g *GitHub) suitesOn(head string) []*suite {
	all := slices.Clone(g.find.suitesAt[head])
	slices.SortStableFunc(all, func(a, b *suite) int { return a.created.Compare(b.created) })
	return all
}

// jobView is a job as a check run.
func (g *GitHub) jobView(r *run, j *job) checkView {
	return checkView{job: j, CheckRun: &CheckRun{
		ID: j.id, Name: j.name, Head: r.head, App: actions, Status: j.status, Conclusion: j.conclusion, Started: j.started, Completed: j.completed,
		Created: j.created, DetailsURL: fmt.Sprintf("%s/actions/runs/%d/job/%d", g.web(), r.id, j.id), suite: r.suite,
	}}
}

// checksIn are the check runs of a suite, oldest first: jobs, then those made through the API. The latest are the newest
// of each name.
func (g *GitHub) checksIn(s *suite, latest bool, now time.Time) []checkView {
	var all []checkView
	if s.run != nil {
		for _, j := range s.run.jobsOf(now, true) {
			all = append(all, g.jobView(s.run, j))
		}
	}
	for _, c := range s.checks {
		all = append(all, checkView{CheckRun: c})
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

// check finds a check run by its id, be it a job.
func (g *GitHub) check(id int64, now time.Time) (checkView, bool) {
	if c := g.find.checks[id]; c != nil {
		return checkView{CheckRun: c}, true
	}
	if r, j := g.findJob(id, now); j != nil {
		return g.jobView(r, j), true
	}
	return checkView{}, false
}

// rollup is what a suite comes to: the worst of its check runs, or its workflow run's own words.
func (g *GitHub) rollup(s *suite, now time.Time) (status, conclusion string) {
	if s.run != nil {
		a := s.run.shown(now)
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

// SetStatus writes a commit status as somebody else.
func (g *GitHub) SetStatus(s Status) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	s.Head = SHA(s.Head)
	if g.commits[s.Head] == nil {
		return 0, fmt.Errorf("set status %q: there is no commit %s", s.Context, s.Head)
	}
	s.ID, s.At, s.Context = g.id(), now, or(s.Context, "default")
	g.addStatus(&s)
	return s.ID, nil
}

func (g *GitHub) addStatus(s *Status) {
	g.statuses = append(g.statuses, s)
	g.find.statuses[s.Head] = append(g.find.statuses[s.Head], s)
	g.statusEvent(s)
}

// Own lists the check runs on a commit that the program under test made, oldest first.
func (g *GitHub) Own(head string) []CheckRun {
	g.mu.Lock()
	defer g.mu.Unlock()
	var own []CheckRun
	for _, s := range g.find.suitesAt[SHA(head)] {
		for _, c := range s.checks {
			if c.Mine {
				copied := *c
				copied.suite, copied.History = nil, slices.Clone(c.History)
				copied.Annotations, copied.Actions = slices.Clone(c.Annotations), slices.Clone(c.Actions)
				own = append(own, copied)
			}
		}
	}
	slices.SortFunc(own, func(a, b CheckRun) int { return cmp.Compare(a.ID, b.ID) })
	return own
}

// Heads lists the commits that carry a check run or a status which the program under test wrote, in the order in which
// it wrote them first.
func (g *GitHub) Heads() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	type written struct {
		id   int64
		head string
	}
	var all []written
	for _, c := range g.checks {
		if c.Mine {
			all = append(all, written{c.ID, c.Head})
		}
	}
	for _, s := range g.statuses {
		if s.By == g.me() {
			all = append(all, written{s.ID, s.Head})
		}
	}
	slices.SortFunc(all, func(a, b written) int { return cmp.Compare(a.id, b.id) })
	var heads []string
	for _, w := range all {
		if !slices.Contains(heads, w.head) {
			heads = append(heads, w.head)
		}
	}
	return heads
}

// Statuses lists the commit statuses of a commit, whoever wrote them, oldest first.
func (g *GitHub) Statuses(head string) []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Status
	for _, s := range g.find.statuses[SHA(head)] {
		all = append(all, *s)
	}
	return all
}

// checkInput is the body of a create or an update.
type checkInput struct {
	Name        *string    `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      *string    `json:"status"`
	Conclusion  *string    `json:"conclusion"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title       *string      `json:"title"`
		Summary     *string      `json:"summary"`
		Text        *string      `json:"text"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
	Actions []Action `json:"actions"`
}

var (
	// GitHub itself may use more of both: waiting, requested and pending, stale and startup_failure.
	writableStatuses    = []string{"queued", "in_progress", "completed"}
	writableConclusions = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
)

// apply changes c as in asks; it says what GitHub finds wrong with it, and then nothing has changed.
func (c *CheckRun) apply(in checkInput, create bool, now time.Time) string {
	if why := in.invalid(create); why != "" {
		return why
	}
	set(&c.Name, in.Name)
	set(&c.DetailsURL, in.DetailsURL)
	set(&c.ExternalID, in.ExternalID)
	set(&c.Status, in.Status)
	if in.StartedAt != nil {
		c.Started = *in.StartedAt
	}
	switch {
	case in.Conclusion != nil: // a conclusion completes it, whatever status was sent
		c.Status, c.Conclusion, c.Completed = "completed", *in.Conclusion, now
		if in.CompletedAt != nil {
			c.Completed = *in.CompletedAt
		}
	case in.Status != nil: // a completed one may be opened again
		c.Conclusion, c.Completed = "", time.Time{}
	}
	if o := in.Output; o != nil {
		set(&c.Title, o.Title)
		set(&c.Summary, o.Summary)
		c.Text = ""
		set(&c.Text, o.Text)
		c.Annotations = append(c.Annotations, o.Annotations...) // they add up: none is ever replaced
	}
	if in.Actions != nil {
		c.Actions = slices.Clone(in.Actions)
	}
	c.shows(now)
	return ""
}

func set(s *string, to *string) {
	if to != nil {
		*s = *to
	}
}

// invalid says why GitHub answers 422.
func (in checkInput) invalid(create bool) string {
	switch {
	case create && (in.Name == nil || *in.Name == ""):
		return `Invalid request. "name" wasn't supplied.`
	case create && in.HeadSHA == "":
		return `Invalid request. "head_sha" wasn't supplied.`
	case in.Status != nil && !slices.Contains(writableStatuses, *in.Status):
		return fmt.Sprintf("Invalid request. %q is not a status that may be set.", *in.Status)
	case in.Conclusion != nil && !slices.Contains(writableConclusions, *in.Conclusion):
		return fmt.Sprintf("Invalid request. %q is not a conclusion that may be set.", *in.Conclusion)
	case in.Status != nil && *in.Status == "completed" && in.Conclusion == nil, in.CompletedAt != nil && in.Conclusion == nil:
		return "Invalid request. A conclusion is required when a check run is completed."
	case len(in.Actions) > 3:
		return "Invalid request. No more than 3 items are allowed in actions."
	}
	for _, a := range in.Actions {
		if !between(a.Label, 1, 20) || !between(a.Description, 1, 40) || !between(a.Identifier, 1, 20) {
			return "Invalid request. An action needs a label of at most 20 characters, a description of 40 and an identifier of 20."
		}
	}
	o := in.Output
	switch {
	case o == nil:
		return ""
	case o.Summary == nil, create && (o.Title == nil || *o.Title == ""):
		return "Invalid request. An output needs a title and a summary."
	case len(*o.Summary) > 65535, o.Text != nil && len(*o.Text) > 65535:
		return "Invalid request. Only 65535 characters are allowed; summary or text has more."
	case len(o.Annotations) > 50:
		return "Invalid request. No more than 50 items are allowed in annotations."
	}
	for _, a := range o.Annotations {
		if why := a.invalid(); why != "" {
			return why
		}
	}
	return ""
}

func (a Annotation) invalid() string {
	switch {
	case a.Path == "", a.StartLine < 1, a.EndLine < a.StartLine, a.Message == "":
		return "Invalid request. An annotation needs a path, its lines and a message."
	case !slices.Contains([]string{"notice", "warning", "failure"}, a.Level):
		return fmt.Sprintf("Invalid request. %q is not an annotation_level.", a.Level)
	case len(a.Message) > 64<<10, len(a.Details) > 64<<10, utf8.RuneCountInString(a.Title) > 255:
		return "Invalid request. An annotation's message, details or title is too long."
	case a.StartColumn+a.EndColumn > 0 && a.StartLine != a.EndLine:
		return "Invalid request. Columns are for annotations of one line."
	}
	return ""
}

func between(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	return n >= least && n <= most
}

func checkRoutes() []route {
	return []route{
		{method: "POST", pattern: "R/check-runs", answer: (*GitHub).createCheck},
		{method: "GET", pattern: "R/check-runs/{n:check_run_id}", answer: (*GitHub).getCheck},
		{method: "PATCH", pattern: "R/check-runs/{n:check_run_id}", answer: (*GitHub).updateCheck},
		{method: "GET", pattern: "R/check-runs/{n:check_run_id}/annotations", answer: (*GitHub).listAnnotations},
		{method: "GET", pattern: "R/check-suites/{n:check_suite_id}", answer: (*GitHub).getSuite},
		{method: "GET", pattern: "R/check-suites/{n:check_suite_id}/check-runs", answer: (*GitHub).listSuiteChecks},
		{method: "GET", pattern: "R/commits/{ref}/check-runs", answer: (*GitHub).listChecks},
		{method: "GET", pattern: "R/commits/{ref}/check-suites", answer: (*GitHub).listSuites},
		{method: "GET", pattern: "R/commits/{ref}/statuses", answer: (*GitHub).listStatuses},
		{method: "GET", pattern: "R/commits/{ref}/status", answer: (*GitHub).combinedStatus},
		{method: "POST", pattern: "R/statuses/{sha}", answer: (*GitHub).createStatus},
	}
}

func (g *GitHub) createCheck(r *call) answer {
	if g.person != "" {
		return problem(403, "You must authenticate via a GitHub App.")
	}
	var in checkInput
	if err := r.decode(&in); err != nil {
		return problem(422, "Invalid request. "+err.Error())
	}
	if in.HeadSHA != "" && (g.commits[in.HeadSHA] == nil || len(in.HeadSHA) != 40) {
		return problem(422, "No commit found for SHA: "+in.HeadSHA)
	}
	c := &CheckRun{ID: g.nextID + 1, Head: in.HeadSHA, App: g.app, Status: "queued", Started: r.now, Created: r.now, Mine: true}
	if in.invalid(true) == "" {
		g.nextID++
		c.suite = g.suiteFor(c, r.now)
	}
	if why := c.apply(in, true, r.now); why != "" {
		return problem(422, why)
	}
	g.checks = append(g.checks, c)
	g.find.addCheck(c)
	g.checked(c, true, c.Status == "completed")
	return created(g.checkJSON(checkView{CheckRun: c}))
}

func (g *GitHub) updateCheck(r *call) answer {
	if g.person != "" {
		return problem(403, "You must authenticate via a GitHub App.")
	}
	c, found := g.check(r.num("check_run_id"), r.now)
	switch {
	case !found:
		return notFound()
	case c.job != nil, c.App != g.app:
		return problem(403, fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", g.app.ID))
	}
	var in checkInput
	if err := r.decode(&in); err != nil {
		return problem(422, "Invalid request. "+err.Error())
	}
	if why := c.apply(in, false, r.now); why != "" {
		return problem(422, why)
	}
	g.checked(c.CheckRun, false, in.Conclusion != nil)
	return ok(g.checkJSON(c))
}

func (g *GitHub) getCheck(r *call) answer {
	if c, found := g.check(r.num("check_run_id"), r.now); found {
		return ok(g.checkJSON(c))
	}
	return notFound()
}

func (g *GitHub) listAnnotations(r *call) answer {
	c, found := g.check(r.num("check_run_id"), r.now)
	if !found {
		return notFound()
	}
	all := c.Annotations
	if c.job != nil {
		for _, m := range c.job.annotations {
			all = append(all, Annotation{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: m})
		}
	}
	return list(r, all, func(a Annotation) any {
		return object{
			"path": a.Path, "blob_href": g.web() + "/blob/" + c.Head + "/" + a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": zeroNull(a.StartColumn),
			"end_column": zeroNull(a.EndColumn), "annotation_level": a.Level, "title": a.Title, "message": a.Message, "raw_details": a.Details,
		}
	}, "")
}

func zeroNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func (g *GitHub) suite(id int64) *suite {
	return g.find.suites[id]
}

func (g *GitHub) getSuite(r *call) answer {
	if s := g.suite(r.num("check_suite_id")); s != nil {
		return ok(g.suiteJSON(s, r.now))
	}
	return notFound()
}

func (g *GitHub) listSuiteChecks(r *call) answer {
	s := g.suite(r.num("check_suite_id"))
	if s == nil {
		return notFound()
	}
	return g.listed(r, g.checksIn(s, r.query("filter") != "all", r.now))
}

func (g *GitHub) listChecks(r *call) answer {
	sha := g.resolve(r.params["ref"])
	if sha == "" {
		return problem(422, "No commit found for SHA: "+r.params["ref"])
	}
	var all []checkView
	for _, s := range g.suitesOn(sha) {
		all = append(all, g.checksIn(s, r.query("filter") != "all", r.now)...)
	}
	return g.listed(r, all)
}

// listed filters check runs and shows them, newest first.
func (g *GitHub) listed(r *call, all []checkView) answer {
	name, status, app := r.query("check_name"), r.query("status"), r.query("app_id")
	all = slices.DeleteFunc(all, func(c checkView) bool {
		return name != "" && c.Name != name || status != "" && c.Status != status || app != "" && app != fmt.Sprint(c.App.ID)
	})
	slices.SortStableFunc(all, func(a, b checkView) int { return cmp.Compare(b.ID, a.ID) })
	return list(r, all, func(c checkView) any { return g.checkJSON(c) }, "check_runs")
}

func (g *GitHub) listSuites(r *call) answer {
	sha := g.resolve(r.params["ref"])
	if sha == "" {
		return problem(422, "No commit found for SHA: "+r.params["ref"])
	}
	app, name := r.query("app_id"), r.query("check_name")
	all := slices.DeleteFunc(g.suitesOn(sha), func(s *suite) bool {
		return app != "" && app != fmt.Sprint(s.app.ID) ||
			name != "" && !slices.ContainsFunc(g.checksIn(s, true, r.now), func(c checkView) bool { return c.Name == name })
	})
	return list(r, all, func(s *suite) any { return g.suiteJSON(s, r.now) }, "check_suites")
}

// statusesOn are the statuses of a commit, newest first.
func (g *GitHub) statusesOn(sha string) []*Status {
	all := slices.Clone(g.find.statuses[sha])
	slices.Reverse(all)
	return all
}

// latestStatuses are the newest of each context. GitHub compares contexts without case.
func (g *GitHub) latestStatuses(sha string) []*Status {
	seen := map[string]bool{}
	return slices.DeleteFunc(g.statusesOn(sha), func(s *Status) bool {
		key := strings.ToLower(s.Context)
		old := seen[key]
		seen[key] = true
		return old
	})
}

func (g *GitHub) listStatuses(r *call) answer {
	return list(r, g.statusesOn(g.resolve(r.params["ref"])), func(s *Status) any { return g.statusJSON(s) }, "")
}

func (g *GitHub) combinedStatus(r *call) answer {
	sha := g.resolve(r.params["ref"])
	if sha == "" {
		return notFound()
	}
	all := g.latestStatuses(sha)
	state := "pending" // so it is too if there is none
	if len(all) > 0 {
		state = "success"
	}
	for _, s := range all {
		switch s.State {
		case "error", "failure":
			state = "failure"
		case "pending":
			if state == "success" {
				state = "pending"
			}
		}
	}
	a := list(r, all, func(s *Status) any { return g.statusJSON(s) }, "statuses")
	body := a.body.(object)
	body["state"], body["sha"], body["repository"] = state, sha, g.repoJSON(g.owner)
	body["commit_url"], body["url"] = g.api()+"/commits/"+sha, g.api()+"/commits/"+sha+"/status"
	return a
}

func (g *GitHub) createStatus(r *call) answer {
	var in struct {
		State       string `json:"state"`
		Context     string `json:"context"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url"`
	}
	if err := r.decode(&in); err != nil {
		return problem(422, "Validation Failed: "+err.Error())
	}
	s := &Status{Head: r.params["sha"], Context: or(in.Context, "default"), State: in.State, Description: in.Description, TargetURL: in.TargetURL, By: g.me(), At: r.now}
	same := 0
	for _, old := range g.statusesOn(s.Head) {
		if strings.EqualFold(old.Context, s.Context) {
			same++
		}
	}
	switch {
	case g.commits[s.Head] == nil:
		return problem(422, "No commit found for SHA: "+s.Head)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, s.State):
		return problem(422, "Validation Failed: state")
	case utf8.RuneCountInString(s.Description) > 140:
		return problem(422, "Validation Failed: description is too long (maximum is 140 characters)")
	case same >= 1000:
		return problem(422, "Validation Failed: This SHA and context has reached the maximum number of statuses.")
	}
	s.ID = g.id()
	g.addStatus(s)
	return created(g.statusJSON(s))
}

// Decided reports whether every open pull request that is no draft has a completed check of the program under test, or a
// status of it that is not pending, and when the last of them changed; no earlier than begin.
func Decided(g *GitHub, begin time.Time) (since time.Time, all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	since = begin
	for _, p := range g.find.ordered {
		if p.closed || p.draft {
			continue
		}
		done := false
		for _, s := range g.find.suitesAt[p.head] {
			for _, c := range s.checks {
				if c.Mine {
					done = c.Status == "completed"
					since = later(since, c.History[len(c.History)-1].At)
				}
			}
		}
		for _, s := range slices.Backward(g.find.statuses[p.head]) {
			if g.person != "" && s.By == g.me() {
				done = s.State != "pending"
				since = later(since, s.At)
				break
			}
		}
		if !done {
			return since, false
		}
	}
	return since, true
}
