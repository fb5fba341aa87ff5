// Package webhook reads what a delivery is about. An event wakes and decides nothing: all that is taken from it is the
// name of a pull request, or the commit by which to find one, and what was touched, which can only spare a look. It
// promises that nothing of a payload, which is a stranger's text, is taken for more than that, and that an event of
// which nothing is known is no error.
package webhook

import (
	"bytes"
	"cmp"
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
	if err := e.readRepository(p.Repository); err != nil {
		return Notice{}, fmt.Errorf("read event %s: %w", e.Name, err)
	}
	if err := e.readEvent(p); err != nil {
		return Notice{}, fmt.Errorf("read event %s: %w", e.Name, err)
	}
	e.setConcern()
	return e, nil
}

// isUnderstood reports whether it is known what is in an event.
func isUnderstood(name string) bool {
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"issue_comment", "workflow_run", "check_run", "check_suite", "status", "workflow_dispatch", "schedule", "merge_group",
		"ping", "push", "repository", "installation", "installation_repositories":
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
	return &eventPayload{strangePayload: s}, err
}

// readEvent reads what the event is about, and what it touched.
func (e *Notice) readEvent(p *eventPayload) error {
	if p.Installation != nil {
		e.Installation = max(p.Installation.ID, 0)
	}
	switch comment, review := p.Comment.Is, p.Review.Is; e.Name {
	case "pull_request", "pull_request_target":
		e.Before, e.Idle = parseSHA(p.Before), e.whyIdle(p)
		return e.readPullRequest(p)
	case "pull_request_review":
		e.Touch = quorum.Touch{
			Author: review.User.Login, Text: review.ID, Sum: review.digest(),
			Remark:  strings.EqualFold(review.State, "commented") && e.Action != "dismissed",
			Command: e.Action == "submitted" && review.isMembersCommand(), // it is answered
		}
		return e.readPullRequest(p)
	case "pull_request_review_comment":
		e.Touch = quorum.Touch{Author: comment.User.Login}
		return e.readPullRequest(p)
	case "pull_request_review_thread":
		return e.readPullRequest(p)
	case "issue_comment":
		return e.readIssueComment(p)
	case "workflow_run":
		return e.readWorkflowRun(p)
	case "check_run":
		if p.CheckRun == nil {
			return errors.New("check_run is missing")
		}
		e.Touch = quorum.Touch{App: p.CheckRun.App.Slug, Name: p.CheckRun.Name}
		if e.Action == "requested_action" {
			e.Touch.Author, e.Touch.By = p.Sender.Login, p.Sender.ID
			if p.Requested.Is.Identifier != quorum.RerunButton {
				e.Idle = "the button is none of ours"
			}
		}
		return e.readCheck(append(p.CheckRun.PullRequests, p.CheckRun.CheckSuite.PullRequests...), p.CheckRun.HeadSHA, p.Repository)
	case "check_suite":
		if p.CheckSuite == nil {
			return errors.New("check_suite is missing")
		}
		e.Touch = quorum.Touch{App: p.CheckSuite.App.Slug}
		return e.readCheck(p.CheckSuite.PullRequests, p.CheckSuite.HeadSHA, p.Repository)
	case "status":
		e.Why = "a status names a commit and no pull request"
		e.Touch = quorum.Touch{Name: p.Context, Author: p.Sender.Login, Head: parseSHA(p.SHA)}
		return e.setHead(p.SHA, "sha")
	case "workflow_dispatch":
		e.Idle = "it is for workflows"
		return e.readDispatch(p)
	case "schedule":
		e.Sweep, e.Why, e.Idle = true, "a schedule names no pull request", "it is for workflows"
	case "merge_group":
		return e.readMergeGroup(p)
	default:
		e.Why = fmt.Sprintf("the event %q names no pull request that we know of", e.Name)
		e.Concern, e.Idle = e.otherConcern(p)
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
	if p.PullRequest == nil || !isPullNumber(p.PullRequest.Number) {
		return errors.New("pull_request.number is no pull request's")
	}
	e.PRs, e.Touch.Head = []int{p.PullRequest.Number}, parseSHA(p.PullRequest.Head.SHA)
	// GitHub blocks the event in public repositories by default since 2026-11-02. Source: its changelog of 2026-09-17.
	e.Blocked = e.Name == "pull_request_target" && p.Repository != nil && p.Repository.Private != nil && !*p.Repository.Private
	return nil
}

func (e *Notice) readIssueComment(p *eventPayload) error {
	if p.Issue == nil || !isPullNumber(p.Issue.Number) {
		return errors.New("issue.number is no issue's")
	}
	if p.Issue.PullRequest == nil {
		e.Why = "the comment is on an issue, not on a pull request"
		return nil
	}
	e.PRs = []int{p.Issue.Number}
	said := p.Comment.Is
	e.Touch = quorum.Touch{Author: said.User.Login, Text: said.ID, Sum: said.digest()}
	if !said.Updated.IsZero() {
		e.Touch.At = said.Updated.Unix()
	}
	if e.Action == "created" {
		e.Touch.Command, e.Said = said.isMembersCommand(), said.Body
	}
	return nil
}

// isPullNumber reports whether a pull request may have that number: each reader of JSON has those up to 2^53.
func isPullNumber(n int) bool { return 0 < n && int64(n) <= 1<<53 }

// readWorkflowRun: a run of a fork names no pull request, and one that a comment or a schedule started is on the
// default branch: its head would find the wrong one.
func (e *Notice) readWorkflowRun(p *eventPayload) error {
	run := p.WorkflowRun
	if run == nil || run.ID <= 0 {
		return errors.New("workflow_run.id is missing")
	}
	e.Runs = []int64{run.ID}
	e.Touch = quorum.Touch{Workflow: cmp.Or(run.Path, p.Workflow.Is.Path), Run: run.ID, Head: parseSHA(run.HeadSHA)}
	if err := e.addPulls(run.PullRequests, p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	if pull, _, _ := quorum.ParseFixRunName(run.Title); isPullNumber(pull) && run.Event == "workflow_dispatch" { // whoever gave that name
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
	e.Group, e.Why, e.Concern = &g, "a merge group's commit is no pull request's head", ConcernGroup
	if e.Action == "destroyed" {
		e.Concern = ConcernGroupGone
	}
	return nil
}

// readCheck reads which pull requests a check run or a check suite is of.
func (e *Notice) readCheck(prs []eventPull, head string, repo *eventRepository) error {
	e.Touch.Head = parseSHA(head)
	if err := e.addPulls(prs, repo); err != nil || len(e.PRs) > 0 {
		return err
	}
	e.Why = "the " + strings.ReplaceAll(e.Name, "_", " ") + " names no pull request of this repository, as those of forks do"
	return e.setHead(head, e.Name+".head_sha")
}

// addPulls takes over the pull requests of a run or a check. GitHub lists by branch and commit, so that a pull request
// of another repository, whose head this repository is, can be among them: its number means something else here. Where
// its head stands by now does not matter, the number is right.
func (e *Notice) addPulls(prs []eventPull, repo *eventRepository) error {
	for _, pr := range prs {
		switch {
		case !isPullNumber(pr.Number):
			return errors.New("pull_requests holds one whose number is none")
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
		if err != nil || !isPullNumber(n) {
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

// setConcern sets what a server must do about the event. A policy's reviewers are compared with what it touched, so that
// this is kept letter by letter or not at all.
func (e *Notice) setConcern() {
	switch {
	case e.Concern != 0: // an event of its own kind
	case e.Idle != "":
		e.Concern = ConcernNothing
	case len(e.PRs) > 0:
		e.Concern = ConcernPulls
	case e.Head != "":
		e.Concern = ConcernHead
	default:
		e.Concern, e.Idle = ConcernNothing, e.Why
	}
	t := e.Touch
	e.Touch = quorum.Touch{}
	if e.Concern != ConcernPulls && e.Concern != ConcernHead {
		e.Said = ""
		return
	}
	if e.Owner == "" {
		e.Concern, e.Idle = ConcernNothing, "the payload names no repository"
	}
	if isPlainLine(t.App, 100) {
		e.App = t.App
	}
	asked := e.Action == "rerequested" // somebody pressed the button: whatever the policy says
	if t.Event, t.Action = e.Name, e.Action; !asked && isPlainTouch(t) {
		e.Touch = t
	}
}

// otherConcern is what must be done about an event that names no pull request, and why, if that is nothing.
func (e *Notice) otherConcern(p *eventPayload) (Concern, string) {
	switch e.Name {
	case "ping":
		return ConcernNothing, "a ping asks for nothing"
	case "push", "repository":
		switch {
		case e.Owner == "":
			return ConcernNothing, "the payload names no repository"
		case e.Name == "push" && (p.Repository.DefaultBranch == "" || p.Ref != "refs/heads/"+p.Repository.DefaultBranch):
			return ConcernNothing, "the push is to another branch than the default one"
		}
		return ConcernRepo, ""
	case "installation", "installation_repositories":
		if e.Installation == 0 {
			return ConcernNothing, "the payload names no installation"
		}
	default:
		return 0, ""
	}
	switch e.Name + "." + e.Action {
	case "installation.deleted":
		return ConcernGone, ""
	case "installation.suspend":
		return ConcernSuspended, ""
	case "installation.created", "installation.unsuspend", "installation.new_permissions_accepted",
		"installation_repositories.added", "installation_repositories.removed":
		return ConcernInstallation, ""
	}
	return ConcernNothing, "nothing is known of that action"
}

// whyIdle is why an event of a pull request cannot change what was decided about it; "": it can.
func (e *Notice) whyIdle(p *eventPayload) string {
	switch e.Action {
	case "assigned", "unassigned", "milestoned", "demilestoned", "locked", "unlocked",
		"auto_merge_enabled", "auto_merge_disabled", "enqueued", "dequeued":
		return e.Action + " decides nothing"
	case "edited":
		if p.Changes.Base == nil {
			return "edited without a change of base decides nothing"
		}
	}
	return ""
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
	strangePayload
	Before      string           `json:"before"`
	Ref         string           `json:"ref"`
	SHA         string           `json:"sha"`
	Context     string           `json:"context"`
	Sender      eventUser        `json:"sender"`
	PullRequest *eventPull       `json:"pull_request"`
	Comment     maybe[eventText] `json:"comment"`
	Review      maybe[eventText] `json:"review"`
	WorkflowRun *eventRun        `json:"workflow_run"`
	CheckRun    *eventCheck      `json:"check_run"`
	CheckSuite  *eventSuite      `json:"check_suite"`
	Issue       *struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Workflow maybe[struct {
		Path string `json:"path"`
	}] `json:"workflow"`
	Inputs struct {
		PR   input `json:"pr"`
		Head input `json:"head"`
	} `json:"inputs"`
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"` // hostile
	} `json:"merge_group"`
	Changes struct {
		Base *struct{} `json:"base"`
	} `json:"changes"`
	Requested maybe[struct {
		Identifier string `json:"identifier"`
	}] `json:"requested_action"`
}

// The fields of an event that is not understood.
type strangePayload struct {
	Action       string           `json:"action"`
	Repository   *eventRepository `json:"repository"`
	Installation *struct {
		ID int64 `json:"id"`
	} `json:"installation"`
}

// A maybe is an object that some events spell otherwise: another value leaves it zero.
type maybe[T any] struct{ Is T }

func (m *maybe[T]) UnmarshalJSON(b []byte) error {
	if b[0] == '{' && json.Unmarshal(b, &m.Is) != nil {
		m.Is = *new(T)
	}
	return nil
}

type eventUser struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
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

type eventSuite struct {
	App          eventApp    `json:"app"`
	HeadSHA      string      `json:"head_sha"`
	PullRequests []eventPull `json:"pull_requests"`
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
