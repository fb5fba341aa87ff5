package github

// What an event says about whom to look at. An event wakes and decides nothing: all that is taken from it is the name of
// a pull request, or the commit by which to find one. Its payload is a stranger's text.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxPayload is GitHub's own bound on a payload, in bytes.
const MaxPayload = 25 << 20

// An Event is what is left of a payload. Either PRs holds a pull request or Why says why not; then it may mean all of them.
type Event struct {
	Name        string // of the event, as X-GitHub-Event and GITHUB_EVENT_NAME spell it
	Action      string // "" where the event has none
	Owner, Repo string // "" if the payload names no repository
	PRs         []int  // each once
	Head        string // SHA by which to find the pull request if PRs is empty; "" if it cannot help
	Before      string // SHA of the head before a push: pull_request synchronize
	Runs        []int64
	Why         string // a sentence
	Sweep       bool   // it means all open pull requests
	NotYet      bool   // the event is known, what it asks for is not built
}

// ParseEvent reads the payload of the event called name. An event that concerns no pull request is no error; a payload
// that is not what GitHub sends is one.
func ParseEvent(name string, payload []byte) (Event, error) {
	e := Event{Name: oneLine(name, 50)}
	if len(payload) > MaxPayload {
		return Event{}, fmt.Errorf("read event %s: payload of more than 25 MB", e.Name)
	}
	var p eventPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return Event{}, fmt.Errorf("read event %s: %w", e.Name, payloadError(err))
	}
	if bytes.Equal(bytes.TrimSpace(payload), []byte("null")) {
		return Event{}, fmt.Errorf("read event %s: payload is null", e.Name)
	}
	e.Action = oneLine(p.Action, 50)
	if err := e.read(p); err != nil {
		return Event{}, fmt.Errorf("read event %s: %w", e.Name, err)
	}
	return e, nil
}

func (e *Event) read(p eventPayload) error {
	if err := e.repository(p.Repository); err != nil {
		return err
	}
	switch e.Name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		return e.pullRequest(p)
	case "issue_comment":
		return e.issueComment(p)
	case "workflow_run":
		return e.workflowRun(p)
	case "check_run":
		return e.checkRun(p)
	case "check_suite":
		return e.checkSuite(p)
	case "status":
		e.Why = "a status names a commit and no pull request"
		return e.head(p.SHA, "sha")
	case "workflow_dispatch":
		return e.dispatch(p)
	case "schedule":
		e.Sweep, e.Why = true, "a schedule names no pull request"
	case "merge_group":
		e.NotYet, e.Why = true, "merge groups are not built yet"
	default:
		e.Why = fmt.Sprintf("the event %q names no pull request that we know of", e.Name)
	}
	return nil
}

// word is what owners, repositories and nothing else consist of: both become part of a path of the API.
var word = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func (e *Event) repository(r *eventRepository) error {
	if r == nil {
		return nil
	}
	owner, repo, ok := strings.Cut(r.FullName, "/")
	if !ok || !word.MatchString(owner) || !word.MatchString(repo) || strings.Trim(owner, ".") == "" || strings.Trim(repo, ".") == "" {
		return errors.New("repository.full_name is no owner/name")
	}
	e.Owner, e.Repo = owner, repo
	return nil
}

func (e *Event) pullRequest(p eventPayload) error {
	if p.PullRequest == nil || p.PullRequest.Number <= 0 {
		return errors.New("pull_request.number is missing")
	}
	e.PRs = []int{p.PullRequest.Number}
	if e.Name == "pull_request" || e.Name == "pull_request_target" {
		e.Before = sha(p.Before)
	}
	return nil
}

func (e *Event) issueComment(p eventPayload) error {
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

// workflowRun: a run of a fork names no pull request, and one that a comment or a schedule started is on the default
// branch: its head would find the wrong one.
func (e *Event) workflowRun(p eventPayload) error {
	run := p.WorkflowRun
	if run == nil || run.ID <= 0 {
		return errors.New("workflow_run.id is missing")
	}
	e.Runs = []int64{run.ID}
	if err := e.named(run.PullRequests, p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	switch run.Event {
	case "issue_comment", "workflow_run", "check_run", "check_suite", "status", "schedule", "repository_dispatch", "merge_group":
		e.Why = "a run that " + run.Event + " started is on no pull request's head"
		return nil
	}
	e.Why = "the run names no pull request of this repository, as those of forks do"
	return e.head(run.HeadSHA, "workflow_run.head_sha")
}

func (e *Event) checkRun(p eventPayload) error {
	if p.CheckRun == nil {
		return errors.New("check_run is missing")
	}
	if err := e.named(append(p.CheckRun.PullRequests, p.CheckRun.CheckSuite.PullRequests...), p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	e.Why = "the check run names no pull request of this repository, as those of forks do"
	return e.head(p.CheckRun.HeadSHA, "check_run.head_sha")
}

func (e *Event) checkSuite(p eventPayload) error {
	if p.CheckSuite == nil {
		return errors.New("check_suite is missing")
	}
	if err := e.named(p.CheckSuite.PullRequests, p.Repository); err != nil || len(e.PRs) > 0 {
		return err
	}
	e.Why = "the check suite names no pull request of this repository, as those of forks do"
	return e.head(p.CheckSuite.HeadSHA, "check_suite.head_sha")
}

// named takes over the pull requests of a run or a check. GitHub lists by branch and commit, so that a pull request of
// another repository, whose head this repository is, can be among them: its number means something else here. Where its
// head stands by now does not matter, the number is right.
func (e *Event) named(prs []eventPull, repo *eventRepository) error {
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

// dispatch: a person types the inputs, so that a slip of hers is told.
func (e *Event) dispatch(p eventPayload) error {
	if pr := strings.TrimPrefix(strings.TrimSpace(string(p.Inputs.PR)), "#"); pr != "" {
		n, err := strconv.Atoi(pr)
		if err != nil || n <= 0 {
			return fmt.Errorf("the input pr is %q, which is no pull request's number", oneLine(pr, 50))
		}
		e.PRs = []int{n}
		return nil
	}
	if head := strings.TrimSpace(string(p.Inputs.Head)); head != "" {
		e.Why = "the input head names a commit and no pull request"
		return e.head(head, "inputs.head")
	}
	e.Sweep, e.Why = true, "neither the input pr nor the input head is given"
	return nil
}

func (e *Event) head(text, field string) error {
	if e.Head = sha(text); e.Head == "" {
		return fmt.Errorf("%s is no full commit SHA", field)
	}
	return nil
}

var fullSHA = regexp.MustCompile(`^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$`)

// sha is text if it is a commit's, and not the zeros by which GitHub says that there is none.
func sha(text string) string {
	if !fullSHA.MatchString(text) || strings.Trim(text, "0") == "" {
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
		return fmt.Errorf("%s is of the wrong type (%s)", oneLine(wrong.Field, 100), kind)
	case errors.As(err, &wrong):
		return errors.New("payload is no JSON object")
	case errors.As(err, &syntax):
		return fmt.Errorf("payload is no JSON (at byte %d)", syntax.Offset)
	}
	return errors.New("payload is no JSON")
}

// The few fields of GitHub's payloads that are read.
type eventPayload struct {
	Action      string           `json:"action"`
	Before      string           `json:"before"`
	SHA         string           `json:"sha"`
	Repository  *eventRepository `json:"repository"`
	PullRequest *eventPull       `json:"pull_request"`
	Issue       *eventIssue      `json:"issue"`
	WorkflowRun *eventRun        `json:"workflow_run"`
	CheckRun    *eventCheck      `json:"check_run"`
	CheckSuite  *eventSuite      `json:"check_suite"`
	Inputs      eventInputs      `json:"inputs"`
}

type eventRepository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

type eventPull struct {
	Number int `json:"number"`
	Base   struct {
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
	Event        string      `json:"event"`
	HeadSHA      string      `json:"head_sha"`
	PullRequests []eventPull `json:"pull_requests"`
}

type eventCheck struct {
	HeadSHA      string      `json:"head_sha"`
	PullRequests []eventPull `json:"pull_requests"`
	CheckSuite   eventSuite  `json:"check_suite"`
}

type eventSuite struct {
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
