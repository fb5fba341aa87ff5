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
	Annotations []CheckAnnotation
	AlwaysNew   bool // make a further one, even if the App has one of that name
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
		Title       *string           `json:"title"`
		Summary     *string           `json:"summary"`
		Text        *string           `json:"text"`
		Annotations []CheckAnnotation `json:"annotations"`
	} `json:"output"`
	Actions []CheckAction `json:"actions"`
}

var (
	// GitHub itself may use more of both: waiting, requested and pending, stale and startup_failure.
	writableStatuses    = []string{"queued", "in_progress", "completed"}
	writableConclusions = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
)

// applyInput changes c as the request says. It returns the message with which GitHub refuses the request, and then
// nothing has changed; "" if there is none.
func (c *StoredCheckRun) applyInput(in checkInput, create bool, now time.Time) string {
	if why := in.invalidReason(create); why != "" {
		return why
	}
	setIfGiven(&c.Name, in.Name)
	setIfGiven(&c.DetailsURL, in.DetailsURL)
	setIfGiven(&c.ExternalID, in.ExternalID)
	setIfGiven(&c.Status, in.Status)
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
		setIfGiven(&c.Title, o.Title)
		setIfGiven(&c.Summary, o.Summary)
		c.Text = ""
		setIfGiven(&c.Text, o.Text)
		c.Annotations = append(c.Annotations, o.Annotations...) // they add up: none is ever replaced
	}
	if in.Actions != nil {
		c.Actions = slices.Clone(in.Actions)
	}
	c.recordRevision(now)
	return ""
}

func setIfGiven(s *string, to *string) {
	if to != nil {
		*s = *to
	}
}

// invalidReason returns the message of GitHub's 422; "" if the input is valid.
func (in checkInput) invalidReason(create bool) string {
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
		if !lengthBetween(a.Label, 1, 20) || !lengthBetween(a.Description, 1, 40) || !lengthBetween(a.Identifier, 1, 20) {
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
		if why := a.invalidReason(); why != "" {
			return why
		}
	}
	return ""
}

func (a CheckAnnotation) invalidReason() string {
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

func lengthBetween(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	return n >= least && n <= most
}

func checkRoutes() []route {
	return []route{
		onPost("R/check-runs", createCheck),
		onGet("R/check-runs/{n:check_run_id}", onCheck(getCheck)),
		{method: "PATCH", pattern: "R/check-runs/{n:check_run_id}", handle: updateCheck},
		onGet("R/check-runs/{n:check_run_id}/annotations", onCheck(listAnnotations)),
		onGet("R/commits/{ref}/check-runs", onCommit(listChecks)),
		onGet("R/commits/{ref}/check-suites", onCommit(listSuites)),
		onGet("R/commits/{ref}/statuses", onStatuses(listStatuses)),
		onPost("R/statuses/{sha}", onStatuses(createStatus)),
	}
}

func onCheck(f func(*GitHub, *routedRequest, checkView) routeAnswer) handler {
	return onFound(func(g *GitHub, r *routedRequest) checkView { return g.findCheck(r.intParam("check_run_id"), r.now) }, f)
}

func createCheck(g *GitHub, r *routedRequest) routeAnswer {
	if g.tokenOwner != "" {
		return answerError(403, "You must authenticate via a GitHub App.")
	}
	var in checkInput
	if err := r.decodeBody(&in); err != nil {
		return answerError(422, "Invalid request. "+err.Error())
	}
	if in.HeadSHA != "" && (g.commits[in.HeadSHA] == nil || len(in.HeadSHA) != 40) {
		return answerError(422, "No commit found for SHA: "+in.HeadSHA)
	}
	c := &StoredCheckRun{ID: g.lastID + 1, Head: in.HeadSHA, App: g.app, Status: "queued", Started: r.now, Created: r.now, Own: true}
	if in.invalidReason(true) == "" {
		g.lastID++
		c.suite = g.suiteForCheck(c, r.now)
	}
	if why := c.applyInput(in, true, r.now); why != "" {
		return answerError(422, why)
	}
	g.index.addCheck(c)
	g.emitCheckProgress(c, true, c.Status == "completed")
	return answerCreated(g.checkJSON(checkView{StoredCheckRun: c}))
}

func updateCheck(g *GitHub, r *routedRequest) routeAnswer {
	if g.tokenOwner != "" {
		return answerError(403, "You must authenticate via a GitHub App.")
	}
	c := g.findCheck(r.intParam("check_run_id"), r.now)
	switch {
	case c.StoredCheckRun == nil:
		return answerNotFound()
	case c.job != nil && g.app == actionsApp: // since 2025-03-31
		return answerError(403, "Check runs that are jobs can only be updated internally by GitHub Actions.")
	case c.job != nil, c.App != g.app:
		return answerError(
			403,
			fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", g.app.ID),
		)
	}
	var in checkInput
	if err := r.decodeBody(&in); err != nil {
		return answerError(422, "Invalid request. "+err.Error())
	}
	if why := c.applyInput(in, false, r.now); why != "" {
		return answerError(422, why)
	}
	g.emitCheckProgress(c.StoredCheckRun, false, in.Conclusion != nil)
	return answerOK(g.checkJSON(c))
}

func getCheck(g *GitHub, _ *routedRequest, c checkView) routeAnswer { return answerOK(g.checkJSON(c)) }

func listAnnotations(g *GitHub, r *routedRequest, c checkView) routeAnswer {
	all := c.Annotations
	if c.job != nil {
		for _, m := range c.job.annotations {
			all = append(all, CheckAnnotation{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: m})
		}
	}
	return answerList(r, all, func(a CheckAnnotation) object {
		return object{
			"path": a.Path, "blob_href": g.webURL() + "/blob/" + c.Head + "/" + a.Path, "start_line": a.StartLine,
			"end_line": a.EndLine, "start_column": intOrNull(a.StartColumn), "end_column": intOrNull(a.EndColumn),
			"annotation_level": a.Level, "title": a.Title, "message": a.Message, "raw_details": a.Details,
		}
	})
}

func listChecks(g *GitHub, r *routedRequest, on *commit) routeAnswer {
	var all []checkView
	for _, s := range g.suitesOn(on.sha) {
		all = append(all, g.checksIn(s, r.queryParam("filter") != "all", r.now)...)
	}
	return listMatchingChecks(g, r, all)
}

// listMatchingChecks answers with the check runs that match the query's filters, newest first.
func listMatchingChecks(g *GitHub, r *routedRequest, all []checkView) routeAnswer {
	name, status, app := r.queryParam("check_name"), r.queryParam("status"), r.queryParam("app_id")
	all = slices.DeleteFunc(all, func(c checkView) bool {
		return name != "" && c.Name != name || status != "" && c.Status != status || app != "" && app != fmt.Sprint(c.App.ID)
	})
	slices.SortStableFunc(all, func(a, b checkView) int { return cmp.Compare(b.ID, a.ID) })
	return answerCounted(r, "check_runs", all, g.checkJSON)
}

func listSuites(g *GitHub, r *routedRequest, on *commit) routeAnswer {
	app, name := r.queryParam("app_id"), r.queryParam("check_name")
	all := slices.DeleteFunc(g.suitesOn(on.sha), func(s *checkSuite) bool {
		return app != "" && app != fmt.Sprint(s.app.ID) ||
			name != "" && !slices.ContainsFunc(g.checksIn(s, true, r.now), func(c checkView) bool { return c.Name == name })
	})
	return answerCounted(r, "check_suites", all, func(s *checkSuite) object { return g.suiteJSON(s, r.now) })
}

// onStatuses refuses what a token without the permission for statuses asks of them.
func onStatuses(handle handler) handler {
	return func(g *GitHub, r *routedRequest) routeAnswer {
		if g.noStatuses {
			return answerError(403, "Resource not accessible by integration")
		}
		return handle(g, r)
	}
}

func listStatuses(g *GitHub, r *routedRequest) routeAnswer {
	return answerList(r, g.statusesOn(g.resolveRef(r.params["ref"])), g.statusJSON)
}

func createStatus(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		State       string `json:"state"`
		Context     string `json:"context"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url"`
	}
	if err := r.decodeBody(&in); err != nil {
		return answerError(422, "Validation Failed: "+err.Error())
	}
	s := &CommitStatus{
		Head: r.params["sha"], Context: or(in.Context, "default"), State: in.State, Description: in.Description,
		TargetURL: in.TargetURL, By: g.programLogin(), At: r.now,
	}
	same := 0
	for _, old := range g.statusesOn(s.Head) {
		if strings.EqualFold(old.Context, s.Context) {
			same++
		}
	}
	switch {
	case g.commits[s.Head] == nil:
		return answerError(422, "No commit found for SHA: "+s.Head)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, s.State):
		return answerError(422, "Validation Failed: state")
	case utf8.RuneCountInString(s.Description) > 140:
		return answerError(422, "Validation Failed: description is too long (maximum is 140 characters)")
	case same >= 1000:
		return answerError(422, "Validation Failed: This SHA and context has reached the maximum number of statuses.")
	}
	g.addStatus(s)
	return answerCreated(g.statusJSON(s))
}

// Decided reports whether every open pull request that is no draft has a completed check of the program under test, or
// a status of it that is not pending, and when the last of them changed; no earlier than begin.
func Decided(g *GitHub, begin time.Time) (since time.Time, all bool) {
	defer g.mu.held()()
	since = begin
	for _, p := range g.index.pullsByNumber {
		if p.closed || p.draft {
			continue
		}
		done := false
		for _, s := range g.index.suitesByHead[p.head] {
			for _, c := range s.checks {
				if c.Own {
					done = c.Status == "completed"
					since = laterOf(since, c.History[len(c.History)-1].At)
				}
			}
		}
		for _, s := range slices.Backward(g.index.statusesByHead[p.head]) {
			if g.tokenOwner != "" && s.By == g.programLogin() {
				done = s.State != "pending"
				since = laterOf(since, s.At)
				break
			}
		}
		if !done {
			return since, false
		}
	}
	return since, true
}
