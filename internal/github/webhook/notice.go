// Package webhook reads what a delivery is about. An event wakes and decides nothing: all that is taken from it is the
// name of a pull request, or the commit by which to find one, and what was touched, which can only spare a look. It
// promises that nothing of a payload, which is a stranger's text, is taken for more than that, and that an event of
// which nothing is known is no error.
package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// MaxPayload is GitHub's own bound on a payload, in bytes: https://docs.github.com/webhooks/webhook-events-and-payloads
const MaxPayload = 25 << 20

// A Notice is what is left of a payload. Either PRs holds a pull request or Why says why not; then it may mean all of
// them.
type Notice struct {
	Name        string // of the event, as X-GitHub-Event and GITHUB_EVENT_NAME spell it
	Action      string // "" where the event has none
	Owner, Repo string // "" if the payload names no repository
	PRs         []int  // each once
	Head        string // SHA by which to find the pull request if PRs is empty; "" if it cannot help
	Branch      string // of Head, as owner:branch; "" if the payload does not name it
	Before      string // SHA of the head before a push: pull_request synchronize
	Runs        []int64
	Why         string // a sentence
	Sweep       bool   // it means all open pull requests
	Blocked     bool   // GitHub starts no workflow for it in such a repository any more, unless a policy of it allows that

	// The fields below are for a server.
	Installation int64   // 0: the payload names none
	Concern      Concern // what must be done
	Idle         string  // of ConcernNothing: why, as a sentence
	App          string  // slug of the App whose check run or check suite it is
	// Touch is what was touched, for ConcernPulls and ConcernHead. The zero Touch is for all: somebody asks for a look,
	// or what was touched cannot be said in few and plain words.
	Touch        quorum.Touch
	Said         string           // what a new comment says; hostile
	Organisation bool             // of ConcernRepo: what the repository holds may be the policy of all that the installation has
	Group        *quorum.GroupRef // of ConcernGroup and ConcernGroupGone: the merge queue's commit; nil of every other event
}

// A Concern is what a server must do about an event.
type Concern uint8

// The concerns of events.
const (
	ConcernNothing      Concern = 1 + iota
	ConcernPulls                // PRs
	ConcernHead                 // the pull requests whose head is Head
	ConcernRepo                 // the repository as a whole: its policy must be read again
	ConcernInstallation         // an installation that is there, came back, or has other repositories or permissions
	ConcernGone                 // the installation was deleted
	ConcernSuspended            // the installation was suspended
	ConcernGroup                // Group must have a check
	ConcernGroupGone            // Group is no more: nothing is written for it
)

// Parse reads the payload of the event called name. An event that concerns no pull request is no error; a payload
// that is not what GitHub sends is one, so far as anything is known of what GitHub sends for that event.
func Parse(name string, payload []byte) (Notice, error) {
	e := Notice{Name: untrusted.OneLine(name, 50)}
	if len(payload) > MaxPayload {
		return Notice{}, fmt.Errorf("read event %s: payload of more than 25 MB", e.Name)
	}
	p, err := readPayload(e.Name, payload)
	if err != nil {
		return Notice{}, fmt.Errorf("read event %s: %w", e.Name, payloadError(err))
	}
	if bytes.Equal(bytes.TrimSpace(payload), []byte("null")) {
		return Notice{}, fmt.Errorf("read event %s: payload is null", e.Name)
	}
	e.Action = untrusted.OneLine(p.Action, 50)
	if err := e.readEvent(p); err != nil {
		return Notice{}, fmt.Errorf("read event %s: %w", e.Name, err)
	}
	e.setConcern(p)
	return e, nil
}

// isUnderstood reports whether it is known what is in an event.
func isUnderstood(name string) bool {
	switch name {
	case "pull_request",
		"pull_request_target",
		"pull_request_review",
		"pull_request_review_comment",
		"pull_request_review_thread",
		"issue_comment",
		"workflow_run",
		"check_run",
		"check_suite",
		"status",
		"workflow_dispatch",
		"schedule",
		"merge_group",
		"ping",
		"push",
		"repository",
		"installation",
		"installation_repositories":
		return true
	}
	return false
}

// readPayload reads what is needed of a payload. Another event may have a field that only shares its name with one of
// ours: of such an event little is read, and what is unlike is left out. It must not be refused, for GitHub would be
// asked for it again and again.
func readPayload(name string, payload []byte) (*eventPayload, error) {
	if isUnderstood(name) {
		p := new(eventPayload)
		return p, json.Unmarshal(payload, p)
	}
	var s strangePayload
	err := json.Unmarshal(payload, &s)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" { // all else was read nevertheless
		err = nil
	}
	if s.Repository != nil {
		if _, _, ok := untrusted.SplitFullName(s.Repository.FullName); !ok {
			s.Repository = nil
		}
	}
	return &eventPayload{Action: s.Action, Repository: s.Repository, Installation: s.Installation}, err
}

func (e *Notice) readEvent(p *eventPayload) error {
	if err := e.readRepository(p.Repository); err != nil {
		return err
	}
	switch e.Name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		return e.readPullRequest(p)
	case "issue_comment":
		return e.readIssueComment(p)
	case "workflow_run":
		return e.readWorkflowRun(p)
	case "check_run":
		return e.readCheckRun(p)
	case "check_suite":
		return e.readCheckSuite(p)
	case "status":
		e.Why = "a status names a commit and no pull request"
		return e.setHead(p.SHA, "sha")
	case "workflow_dispatch":
		return e.readDispatch(p)
	case "schedule":
		e.Sweep, e.Why = true, "a schedule names no pull request"
	case "merge_group":
		return e.readMergeGroup(p)
	default:
		e.Why = fmt.Sprintf("the event %q names no pull request that we know of", e.Name)
	}
	return nil
}

func (e *Notice) readRepository(r *eventRepository) error {
	if r == nil {
		return nil
	}
	owner, repo, ok := untrusted.SplitFullName(r.FullName)
	if !ok {
		return errors.New("repository.full_name is no owner/name")
	}
	e.Owner, e.Repo = owner, repo
	return nil
}

func (e *Notice) readPullRequest(p *eventPayload) error {
	if p.PullRequest == nil || p.PullRequest.Number <= 0 {
		return errors.New("pull_request.number is missing")
	}
	e.PRs = []int{p.PullRequest.Number}
	if e.Name == "pull_request" || e.Name == "pull_request_target" {
		e.Before = parseSHA(p.Before)
	}
	// GitHub blocks the event in public repositories by default since 2026-11-02. Source: its changelog of 2026-09-17.
	e.Blocked = e.Name == "pull_request_target" && p.Repository != nil && p.Repository.Private != nil && !*p.Repository.Private
	return nil
}

func (e *Notice) readIssueComment(p *eventPayload) error {
	if p.Issue == nil || p.Issue.Number <= 0 {
		return errors.New("issue.number is missing")
	}
	if p.Issue.PullRequest == nil {
		e.Why = "the comment is on an issue, not on a pull request"
		return nil
	}
	e.PRs = []int{p.Issue.Number}
	return nil
}

// readWorkflowRun: a run of a fork names no pull request, and one that a comment or a schedule started is on the
// default branch: its head would find the wrong one.
func (e *Notice) readWorkflowRun(p *eventPayload) error {
	run := p.WorkflowRun
	if run == nil || run.ID <= 0 {
		return errors.New("workflow_run.id is missing")
	}
	e.Runs = []int64{run.ID}
	if err := e.addPulls(run.PullRequests, p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	if pull, _, _ := quorum.ParseFixRunName(run.Title); pull > 0 && run.Event == "workflow_dispatch" { // whoever gave that name
		e.Runs, e.PRs = nil, []int{pull}
		return nil
	}
	switch run.Event {
	case "issue_comment", "workflow_run", "check_run", "check_suite", "status", "schedule", "repository_dispatch", "merge_group":
		e.Why = "a run that " + run.Event + " started is on no pull request's head"
		return nil
	}
	e.Why = "the run names no pull request of this repository, as those of forks do"
	if owner, _, ok := untrusted.SplitFullName(run.HeadRepository.FullName); ok && run.HeadBranch != "" {
		e.Branch = owner + ":" + run.HeadBranch
	}
	return e.setHead(run.HeadSHA, "workflow_run.head_sha")
}

// readMergeGroup: the event has no pull request, but a commit and the branch of it. GitHub knows two actions of it.
func (e *Notice) readMergeGroup(p *eventPayload) error {
	if e.Action != "checks_requested" && e.Action != "destroyed" {
		e.Why = "nothing is known of that action of a merge group"
		return nil
	}
	if p.MergeGroup == nil {
		return errors.New("merge_group is missing")
	}
	head := parseSHA(p.MergeGroup.HeadSHA)
	if head == "" {
		return errors.New("merge_group.head_sha is no full commit SHA")
	}
	if e.Owner == "" {
		return errors.New("the payload names no repository")
	}
	branch := strings.TrimPrefix(p.MergeGroup.HeadRef, "refs/heads/")
	g := quorum.GroupRef{Owner: e.Owner, Repo: e.Repo, Head: head, Branch: branch}
	if !g.IsValid() {
		return errors.New("merge_group.head_ref is no merge queue's branch")
	}
	e.Group, e.Why = &g, "a merge group's commit is no pull request's head"
	return nil
}

func (e *Notice) readCheckRun(p *eventPayload) error {
	if p.CheckRun == nil {
		return errors.New("check_run is missing")
	}
	if err := e.addPulls(append(p.CheckRun.PullRequests, p.CheckRun.CheckSuite.PullRequests...), p.Repository); err != nil ||
		len(e.PRs) > 0 {
		return err
	}
	e.Why = "the check run names no pull request of this repository, as those of forks do"
	return e.setHead(p.CheckRun.HeadSHA, "check_run.head_sha")
}

func (e *Notice) readCheckSuite(p *eventPayload) error {
	if p.CheckSuite == nil {
		return errors.New("check_suite is missing")
	}
	if err := e.addPulls(p.CheckSuite.PullRequests, p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	e.Why = "the check suite names no pull request of this repository, as those of forks do"
	return e.setHead(p.CheckSuite.HeadSHA, "check_suite.head_sha")
}

// addPulls takes over the pull requests of a run or a check. GitHub lists by branch and commit, so that a pull request
// of another repository, whose head this repository is, can be among them: its number means something else here. Where
// its head stands by now does not matter, the number is right.
func (e *Notice) addPulls(prs []eventPull, repo *eventRepository) error {
	for _, pr := range prs {
		switch {
		case pr.Number <= 0:
			return errors.New("pull_requests holds one without a number")
		case repo != nil && repo.ID != 0 && pr.Base.Repo.ID != 0 && repo.ID != pr.Base.Repo.ID:
		case !slices.Contains(e.PRs, pr.Number):
			e.PRs = append(e.PRs, pr.Number)
		}
	}
	return nil
}

// readDispatch reads the inputs of a workflow_dispatch. A person types them, so that a slip is told.
func (e *Notice) readDispatch(p *eventPayload) error {
	if pr := strings.TrimPrefix(strings.TrimSpace(string(p.Inputs.PR)), "#"); pr != "" {
		n, err := strconv.Atoi(pr)
		if err != nil || n <= 0 {
			return fmt.Errorf("the input pr is %q, which is no pull request's number", untrusted.OneLine(pr, 50))
		}
		e.PRs = []int{n}
		return nil
	}
	if head := strings.TrimSpace(string(p.Inputs.Head)); head != "" {
		e.Why = "the input head names a commit and no pull request"
		return e.setHead(head, "inputs.head")
	}
	e.Sweep, e.Why = true, "neither the input pr nor the input head is given"
	return nil
}

func (e *Notice) setHead(text, field string) error {
	if e.Head = parseSHA(text); e.Head == "" {
		return fmt.Errorf("%s is no full commit SHA", field)
	}
	return nil
}

var fullSHA = lazy.Regexp(`^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$`)

// parseSHA is text if it is a commit's, and not the zeros by which GitHub says that there is none.
func parseSHA(text string) string {
	if !fullSHA().MatchString(text) || strings.Trim(text, "0") == "" {
		return ""
	}
	return strings.ToLower(text)
}

// payloadError says what is wrong with a payload without quoting it.
func payloadError(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errInput):
		return errInput
	case errors.As(err, &wrong) && wrong.Field != "":
		kind, _, _ := strings.Cut(wrong.Value, " ") // a number brings its digits along
		return fmt.Errorf("%s is of the wrong type (%s)", untrusted.OneLine(wrong.Field, 100), kind)
	case errors.As(err, &wrong):
		return errors.New("payload is no JSON object")
	case errors.As(err, &syntax):
		return fmt.Errorf("payload is no JSON (at byte %d)", syntax.Offset)
	}
	return errors.New("payload is no JSON")
}

// setConcern sets what a server must do about the event.
func (e *Notice) setConcern(p *eventPayload) {
	if p.Installation != nil && p.Installation.ID > 0 {
		e.Installation = p.Installation.ID
	}
	if e.Concern, e.Idle = e.concernOf(p); e.Concern == ConcernPulls || e.Concern == ConcernHead {
		if e.Owner == "" {
			e.Concern, e.Idle = ConcernNothing, "the payload names no repository"
		}
		e.setTouch(p)
	}
}

func (e *Notice) concernOf(p *eventPayload) (Concern, string) {
	switch e.Name {
	case "ping":
		return ConcernNothing, "a ping asks for nothing"
	case "push":
		return e.pushConcern(p)
	case "repository":
		if e.Owner == "" {
			return ConcernNothing, "the payload names no repository"
		}
		return ConcernRepo, ""
	case "installation", "installation_repositories":
		return e.installationConcern()
	case "workflow_dispatch", "schedule":
		return ConcernNothing, "it is for workflows"
	}
	if e.Group != nil && e.Action == "destroyed" {
		return ConcernGroupGone, ""
	}
	switch idle := e.whyIdle(p); {
	case e.Group != nil:
		return ConcernGroup, ""
	case idle != "":
		return ConcernNothing, idle
	case len(e.PRs) > 0:
		return ConcernPulls, ""
	case e.Head != "":
		return ConcernHead, ""
	}
	return ConcernNothing, e.Why
}

// whyIdle says why an event that names a pull request cannot change what was decided about it.
func (e *Notice) whyIdle(p *eventPayload) string {
	switch e.Name {
	case "pull_request", "pull_request_target":
		switch e.Action {
		case "assigned", "unassigned", "milestoned", "demilestoned", "locked", "unlocked",
			"auto_merge_enabled", "auto_merge_disabled", "enqueued", "dequeued":
			return e.Action + " decides nothing"
		case "edited":
			if p.Changes.Base == nil {
				return "edited without a change of base decides nothing"
			}
		}
	case "check_run":
		if e.Action == "requested_action" && p.Requested.Is.Identifier != quorum.RerunButton {
			return "the button is none of ours"
		}
	}
	return ""
}

func (e *Notice) pushConcern(p *eventPayload) (Concern, string) {
	switch {
	case p.Repository == nil || e.Owner == "":
		return ConcernNothing, "the payload names no repository"
	case p.Repository.DefaultBranch == "" || p.Ref != "refs/heads/"+p.Repository.DefaultBranch:
		return ConcernNothing, "the push is to another branch than the default one"
	}
	return ConcernRepo, ""
}

func (e *Notice) installationConcern() (Concern, string) {
	if e.Installation == 0 {
		return ConcernNothing, "the payload names no installation"
	}
	switch e.Name + "." + e.Action {
	case "installation.deleted":
		return ConcernGone, ""
	case "installation.suspend":
		return ConcernSuspended, ""
	case "installation.created",
		"installation.unsuspend",
		"installation.new_permissions_accepted",
		"installation_repositories.added",
		"installation_repositories.removed":
		return ConcernInstallation, ""
	}
	return ConcernNothing, "nothing is known of that action"
}

// setTouch sets what the event touched. A policy's reviewers are compared with it, so that it is kept letter by letter
// or not at all.
func (e *Notice) setTouch(p *eventPayload) {
	t := quorum.Touch{Event: e.Name, Action: e.Action}
	switch e.Name {
	case "workflow_run":
		t.Workflow, t.Run, t.Head = p.WorkflowRun.Path, p.WorkflowRun.ID, parseSHA(p.WorkflowRun.HeadSHA)
		if t.Workflow == "" {
			t.Workflow = p.Workflow.Is.Path
		}
	case "check_run":
		t.App, t.Name, t.Head = p.CheckRun.App.Slug, p.CheckRun.Name, parseSHA(p.CheckRun.HeadSHA)
		if e.Action == "requested_action" {
			t.Author, t.By = p.Sender.Login, p.Sender.ID
		}
	case "check_suite":
		t.App, t.Head = p.CheckSuite.App.Slug, parseSHA(p.CheckSuite.HeadSHA)
	case "status":
		t.Name, t.Author, t.Head = p.Context, p.Sender.Login, parseSHA(p.SHA)
	case "issue_comment":
		t.Author, t.Text, t.Sum = p.Comment.Is.User.Login, p.Comment.Is.ID, p.Comment.Is.digest()
		if at := p.Comment.Is.Updated; !at.IsZero() {
			t.At = at.Unix()
		}
		if e.Action == "created" {
			t.Command, e.Said = p.Comment.Is.isMembersCommand(), p.Comment.Is.Body
		}
	case "pull_request_review_comment":
		t.Author = p.Comment.Is.User.Login
	case "pull_request_review":
		t.Author, t.Text, t.Sum = p.Review.Is.User.Login, p.Review.Is.ID, p.Review.Is.digest()
		t.Remark = strings.EqualFold(p.Review.Is.State, "commented") && e.Action != "dismissed"
		t.Command = e.Action == "submitted" && p.Review.Is.isMembersCommand() // it is answered
	}
	if p.PullRequest != nil {
		t.Head = parseSHA(p.PullRequest.Head.SHA)
	}
	if isPlainLine(t.App, 100) {
		e.App = t.App
	}
	asked := e.Action == "rerequested" // somebody pressed the button: whatever the policy says
	if !asked && isPlainTouch(t) {
		e.Touch = t
	}
}

// isPlainTouch reports whether all that a touch names is of a length and of characters that GitHub allows.
func isPlainTouch(t quorum.Touch) bool {
	return isPlainLine(t.Event, 50) && isPlainLine(t.Action, 50) && isPlainLine(t.Workflow, 300) &&
		isPlainLine(t.App, 100) && isPlainLine(t.Name, 300) && isPlainLine(t.Author, 100)
}

// IsPress reports whether somebody pressed the button of our check. Whoever received the delivery calls
// [Notice.SetPress] then.
func (e Notice) IsPress() bool {
	return e.Touch.Event == "check_run" && e.Touch.Action == "requested_action"
}

// SetPress makes the touch of a press one that is told from every other: GitHub's payload has neither a number of it
// nor a time. id names the delivery.
func (e *Notice) SetPress(id string, at time.Time) {
	if e.IsPress() && id != "" {
		sum := sha256.Sum256([]byte(id))
		e.Touch.Press, e.Touch.At = -1-int64(binary.BigEndian.Uint64(sum[:8])>>12), at.Unix() // 52 bits: every reader of JSON has them
	}
}

// isPlainLine says that text is a line which can be kept as it is.
func isPlainLine(text string, limit int) bool {
	if len(text) > limit || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// The few fields of GitHub's payloads that are read.
type eventPayload struct {
	Action       string             `json:"action"`
	Before       string             `json:"before"`
	Ref          string             `json:"ref"`
	SHA          string             `json:"sha"`
	Context      string             `json:"context"`
	Repository   *eventRepository   `json:"repository"`
	PullRequest  *eventPull         `json:"pull_request"`
	Issue        *eventIssue        `json:"issue"`
	Comment      maybe[eventText]   `json:"comment"`
	Review       maybe[eventText]   `json:"review"`
	Workflow     maybe[eventPath]   `json:"workflow"`
	WorkflowRun  *eventRun          `json:"workflow_run"`
	CheckRun     *eventCheck        `json:"check_run"`
	CheckSuite   *eventSuite        `json:"check_suite"`
	Inputs       eventInputs        `json:"inputs"`
	MergeGroup   *eventGroup        `json:"merge_group"`
	Changes      eventChanges       `json:"changes"`
	Requested    maybe[eventButton] `json:"requested_action"`
	Sender       eventUser          `json:"sender"`
	Installation *eventInstallation `json:"installation"`
}

// The fields of an event that is not understood.
type strangePayload struct {
	Action       string             `json:"action"`
	Repository   *eventRepository   `json:"repository"`
	Installation *eventInstallation `json:"installation"`
}

// A maybe is an object that some events spell otherwise: another value leaves it zero.
type maybe[T any] struct{ Is T }

func (m *maybe[T]) UnmarshalJSON(b []byte) error {
	if b[0] == '{' && json.Unmarshal(b, &m.Is) != nil {
		m.Is = *new(T)
	}
	return nil
}

type eventInstallation struct {
	ID int64 `json:"id"`
}

type eventUser struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
}

type eventButton struct {
	Identifier string `json:"identifier"`
}

type eventText struct {
	ID      int64     `json:"id"`
	User    eventUser `json:"user"`
	Body    string    `json:"body"`
	State   string    `json:"state"` // of a review
	Updated time.Time `json:"updated_at"`

	Relation string `json:"author_association"`
}

// isMembersCommand reports whether a text is the command of somebody whom GitHub calls a member.
func (t eventText) isMembersCommand() bool {
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, t.Relation) && quorum.CommandLine(t.Body) != ""
}

func (t eventText) digest() string {
	if t.ID == 0 {
		return ""
	}
	return untrusted.ShortDigest(t.Body)
}

type eventPath struct {
	Path string `json:"path"`
}

type eventChanges struct {
	Base *struct{} `json:"base"`
}

type eventApp struct {
	Slug string `json:"slug"`
}

type eventRepository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Private  *bool  `json:"private"`

	DefaultBranch string `json:"default_branch"`
}

type eventPull struct {
	Number int `json:"number"`
	Head   struct {
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Repo struct {
			ID int64 `json:"id"`
		} `json:"repo"`
	} `json:"base"`
}

type eventIssue struct {
	Number      int       `json:"number"`
	PullRequest *struct{} `json:"pull_request"`
}

type eventRun struct {
	ID           int64       `json:"id"`
	Path         string      `json:"path"`
	Event        string      `json:"event"`
	HeadSHA      string      `json:"head_sha"`
	HeadBranch   string      `json:"head_branch"` // hostile
	PullRequests []eventPull `json:"pull_requests"`

	HeadRepository eventRepository `json:"head_repository"`

	Title string `json:"display_title"` // hostile
}

type eventCheck struct {
	Name         string      `json:"name"`
	App          eventApp    `json:"app"`
	HeadSHA      string      `json:"head_sha"`
	PullRequests []eventPull `json:"pull_requests"`
	CheckSuite   eventSuite  `json:"check_suite"`
}

type eventGroup struct {
	HeadSHA string `json:"head_sha"`
	HeadRef string `json:"head_ref"` // hostile
}

type eventSuite struct {
	App          eventApp    `json:"app"`
	HeadSHA      string      `json:"head_sha"`
	PullRequests []eventPull `json:"pull_requests"`
}

type eventInputs struct {
	PR   input `json:"pr"`
	Head input `json:"head"`
}

// An input is a string in GitHub's payloads, and a number in those that people write.
type input string

var errInput = errors.New("an input is neither a string nor a number")

func (i *input) UnmarshalJSON(b []byte) error {
	var text string
	var number json.Number
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case json.Unmarshal(b, &text) == nil:
		*i = input(text)
		return nil
	case json.Unmarshal(b, &number) == nil:
		*i = input(number)
		return nil
	}
	return errInput
}
