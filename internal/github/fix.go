package github

// Fixes of blocked pull requests: what a decision about one rests on, and the start of its workflow.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxFixPages is how many pages of a fix workflow's runs are read: the newest 300 runs. The record counts older ones.
const maxFixPages = 3

// maxDispatch is how long the body of a dispatch may be. GitHub takes inputs of 65,535 characters all together. Source:
// GitHub's documentation, "Events that trigger workflows", workflow_dispatch.
const maxDispatch = 60_000

// A fixReader reads what the decision about a fix lacks.
type fixReader struct {
	read  pullReader
	snap  *quorum.Snapshot
	hands *knownHands
}

// readAll reads who pushed the head, and the fix runs. What one answer tells may leave another to be wanted.
func (r fixReader) readAll(ctx context.Context, p quorum.Policy) error {
	p = change.PolicyFor(p, *r.snap)
	for range 2 {
		wants := evidence.MissingOfFix(p, *r.snap)
		if wants == (quorum.FixWants{}) {
			return nil
		}
		if err := r.readWants(ctx, p.Fix.Workflow, wants); err != nil {
			return err
		}
	}
	return nil
}

func (r fixReader) readWants(ctx context.Context, workflow string, wants quorum.FixWants) (err error) {
	sight := &r.snap.Fix
	if wants.Push {
		if sight.Push, err = r.readHeadPush(ctx); err != nil {
			return err
		}
		if sight.Stranger, err = r.isOpenedByStranger(ctx); err != nil {
			return err
		}
		sight.PushRead = true
	}
	if wants.List {
		if sight.Runs, err = r.read.readFixRuns(ctx, workflow, r.snap.PR.DefaultBranch); err != nil {
			return err
		}
		sight.Listed = true
	}
	if wants.Run != 0 {
		run, err := r.read.readRun(ctx, wants.Run)
		switch {
		case err != nil:
			return err
		case run == nil: // it was deleted
			run = &restRun{ID: wants.Run, Status: "completed"}
		}
		sight.Runs = append(sight.Runs, fixSeenIn(run, r.snap.PR.Number))
	}
	return nil
}

// readHeadPush reads by which push the head came to its branch; zero where GitHub does not tell.
func (r fixReader) readHeadPush(ctx context.Context) (push quorum.Push, err error) {
	pr, pushes := r.snap.PR, r.hands.pushes
	if !r.hands.knowsPushesOf(r.snap) {
		if pushes, err = r.read.readPushes(ctx, pr.HeadRepo, pr.HeadRef); err != nil {
			return push, err
		}
	}
	i := slices.IndexFunc(pushes, func(p quorum.Push) bool { return p.After == pr.Head })
	if i < 0 {
		return push, nil
	}
	r.hands.notePushes(r.snap, pushes)
	return pushes[i], nil
}

// isOpenedByStranger reports whether a person opened the pull request who neither has pushed to its branch nor may write.
func (r fixReader) isOpenedByStranger(ctx context.Context) (bool, error) {
	author := r.snap.PR.Author
	hasPushed := r.hands.pushesOf == r.snap.PR.Head &&
		slices.ContainsFunc(r.hands.pushes, func(p quorum.Push) bool { return p.Actor.Same(author) })
	if author.Bot || hasPushed {
		return false, nil
	}
	if author.Login == "" { // its account is gone
		return true, nil
	}
	may, err := r.read.readPermission(ctx, author.Login)
	return err == nil && may < quorum.Write, err
}

// readFixRuns lists the fix runs of the pull request, newest first. The list is not filtered: filtered ones come from
// an index that lags. A workflow that is not there has none. A run of another branch than the one on which it is
// started runs what stands there, whoever wrote that: it is no fix run.
func (r pullReader) readFixRuns(ctx context.Context, workflow, branch string) (runs []quorum.FixSeen, err error) {
	at := r.repoPath("actions", "workflows", path.Base(workflow), "runs") + "?per_page=100"
	for range maxFixPages {
		page, answer, err := readPage[restRun](ctx, r.client, at, "workflow_runs", false)
		switch {
		case client.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, err
		}
		for i := range page {
			seen := fixSeenIn(&page[i], r.pr.Number)
			isDispatched := page[i].Event == "workflow_dispatch" && page[i].Branch == branch
			if seen.Head != "" && isDispatched && workflowPath(page[i].Path) == workflow {
				runs = append(runs, seen)
			}
		}
		if at = answer.Next; at == "" {
			break
		}
	}
	return runs, nil
}

// fixSeenIn is a run as a fix of that pull request.
func fixSeenIn(r *restRun, number int) quorum.FixSeen {
	seen := quorum.FixSeen{ID: r.ID, Created: r.Created, Updated: r.Updated, Ended: r.Status == "completed", URL: r.URL}
	if of, head, base := quorum.ParseFixRunName(r.Title); of == number {
		seen.Head, seen.Base = head, base
	}
	return seen
}

// voidFix is what became of a fix that was not started, and is not known to have been.
func voidFix(order *quorum.FixOrder) *quorum.FixResult {
	if order == nil {
		return nil
	}
	return &quorum.FixResult{Order: *order, State: quorum.ResultVoid}
}

// startFix starts a fix, unless GitHub lists a run for that head and base: a run cannot be taken back. page is that of our check.
func (r pullReader) startFix(ctx context.Context, order *quorum.FixOrder, page string) (*quorum.FixResult, error) {
	runs, err := r.readFixRuns(ctx, order.Workflow, order.Branch)
	if err != nil {
		return voidFix(order), err
	}
	isIt := func(seen quorum.FixSeen) bool { return seen.Head == order.Head && seen.Base == order.Base }
	if i := slices.IndexFunc(runs, isIt); i >= 0 {
		return &quorum.FixResult{Order: *order, State: quorum.ResultDone, Run: runs[i].ID}, nil
	}
	return r.dispatchFix(ctx, *order, page)
}

// A fixDispatch is the body of a dispatch.
type fixDispatch struct {
	Ref     string            `json:"ref"`
	Inputs  map[string]string `json:"inputs"`
	Details bool              `json:"return_run_details,omitempty"`
}

func (r pullReader) dispatchFix(ctx context.Context, order quorum.FixOrder, page string) (*quorum.FixResult, error) {
	body := fixDispatch{Ref: order.Branch, Details: true, Inputs: map[string]string{
		"pr": strconv.Itoa(r.pr.Number), "head": order.Head, "base": order.Base, "findings": "",
	}}
	bare, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the dispatch of %s: %w", order.Workflow, err)
	}
	body.Inputs["findings"] = order.FindingsJSON(page, maxDispatch-len(bare))
	at := r.repoPath("actions", "workflows", path.Base(order.Workflow), "dispatches")
	var started struct {
		Run int64 `json:"workflow_run_id"`
	}
	_, err = r.client.Send(ctx, http.MethodPost, at, body, &started)
	var api *client.APIError
	isUnknown := errors.As(err, &api) && strings.Contains(api.Message, "return_run_details")
	if client.IsUnprocessable(err) && isUnknown { // by an older Enterprise Server
		body.Details = false
		_, err = r.client.Send(ctx, http.MethodPost, at, body, &started)
	}
	done, err := fixResultOf(err)
	if done != nil {
		done.Order, done.Run = order, started.Run
	}
	return done, err
}

// fixResultOf reads GitHub's answer to a dispatch.
func fixResultOf(err error) (*quorum.FixResult, error) {
	var api *client.APIError
	switch {
	case err == nil:
		return &quorum.FixResult{State: quorum.ResultDone}, nil
	case errors.As(err, new(*client.LimitError)), client.IsUnauthorized(err): // it was not carried out
		return &quorum.FixResult{State: quorum.ResultVoid}, err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, err
	case !errors.As(err, &api):
		return &quorum.FixResult{State: quorum.ResultFailed}, nil
	}
	no := quorum.FixResult{State: quorum.ResultRefused, Reason: quorum.ReasonFixRefused, Detail: api.Message}
	switch says := strings.ToLower(api.Message); {
	case api.Missing:
		no.Reason, no.Detail = quorum.ReasonFixForbidden, "actions=write"
	case strings.Contains(says, "disabled"):
		no.Reason, no.Detail = quorum.ReasonFixDisabled, ""
	case api.Status == http.StatusNotFound:
		no.Reason, no.Detail = quorum.ReasonFixMissing, ""
	case strings.Contains(says, "workflow_dispatch"):
		no.Reason, no.Detail = quorum.ReasonFixTrigger, ""
	case strings.Contains(says, "input"):
		no.Reason = quorum.ReasonFixInputs
	}
	return &no, nil
}
