package github

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// Apply carries out the effects that still hold. All are void if the pull request has moved on, and a run is read again
// before it is touched. What GitHub refuses is told apart by its reason; a fault leaves open whether it happened, and
// the next look tells.
func (f *Forge) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (receipt quorum.Receipt, err error) {
	all := slices.Concat(e.Cancels, e.Reruns, e.Requests)
	m, release := f.holdMemory(pr)
	defer release()
	if e.PR.Number != 0 { // a sibling's: the check on the head is the same
		pr = e.PR
	}
	var p restPull
	if _, err := f.client.Get(ctx, repoPath(pr, "pulls", strconv.Itoa(pr.Number)), &p); err != nil {
		return receipt, err
	}
	if p.State != "open" || p.Head.SHA != e.Head || p.Base.Ref != e.Base {
		return voidReceipt(e), nil
	}
	act := application{f: f, pr: pr}
	asked := false // somebody else is at it: a comment cannot be taken back
	if e.CannotBeTakenBack() && len(m.ownChecks) > 0 && !f.client.Personal() {
		if asked, err = act.otherWroteCheck(ctx, m, e.Head); err != nil {
			return receipt, err
		}
	}
	for _, a := range all {
		if a.Kind == quorum.Ask && asked {
			receipt.Done = append(receipt.Done, quorum.Result{Action: a, State: quorum.ResultVoid})
			continue
		}
		done, err := act.carryOut(ctx, a)
		if err != nil { // a limit, or the end of ctx: the rest is left to the next look
			return receipt, err
		}
		receipt.Done = append(receipt.Done, done)
	}
	if e.Fix != nil && !asked { // else the other one's record counts
		if receipt.Fix, err = (pullReader{client: f.client, pr: pr}).startFix(ctx, e.Fix, pageOfCheck(m)); err != nil {
			return receipt, err
		}
	}
	if receipt.Void = asked && len(e.People) > 0; !receipt.Void {
		receipt.People, err = act.askPeople(ctx, e.People, &p)
	}
	if err == nil {
		receipt.Replied, err = act.giveReplies(ctx, e.Replies)
	}
	return receipt, err
}

// voidReceipt says of effects that none was carried out, for the pull request has moved on.
func voidReceipt(e quorum.Effects) (receipt quorum.Receipt) {
	for _, a := range slices.Concat(e.Cancels, e.Reruns, e.Requests) {
		receipt.Done = append(receipt.Done, quorum.Result{Action: a, State: quorum.ResultVoid})
	}
	receipt.Fix = voidFix(e.Fix)
	receipt.Void = len(e.People) > 0
	return receipt
}

// pageOfCheck is the address of our check's page, if one was written.
func pageOfCheck(m *memory) string {
	if len(m.ownChecks) == 0 {
		return ""
	}
	return m.ownChecks[0].url
}

// An application carries out effects on one pull request.
type application struct {
	f  *Forge
	pr quorum.PR
}

// carryOut carries out one effect for a reviewer.
func (a application) carryOut(ctx context.Context, e quorum.Action) (done quorum.Result, err error) {
	switch e.Kind {
	case quorum.Cancel:
		done, err = a.cancelRun(ctx, e)
	case quorum.Rerun:
		done, err = a.rerunAttempt(ctx, e)
	case quorum.Ask:
		done, err = a.askReviewer(ctx, e)
	}
	done.Action = e
	if done.Reason == quorum.ReasonPermission && done.Detail == "" {
		done.Detail = neededPermission(e)
	}
	return done, err
}

// otherWroteCheck reports whether another process wrote our check meanwhile: then its record holds the intents that
// count. Of two that made a check at once the older one goes on.
func (a application) otherWroteCheck(ctx context.Context, m *memory, head string) (bool, error) {
	found, err := (&publication{f: a.f, pr: a.pr, m: m}).findOwn(ctx, report.Check{Name: m.ownChecks[0].name, Head: head})
	return slices.ContainsFunc(found, func(now writtenCheck) bool {
		i := slices.IndexFunc(m.ownChecks, func(o writtenCheck) bool { return o.id == now.id })
		return i < 0 && now.id < m.ownChecks[0].id || i >= 0 && !m.ownChecks[i].digests.sameText(now.digests)
	}), err
}

// attemptStands reads a run again: whether its newest attempt is the one that was seen, and completed or not.
func (a application) attemptStands(ctx context.Context, e quorum.Action, status string) (bool, error) {
	var r restRun
	_, err := a.f.client.Get(ctx, repoPath(a.pr, "actions", "runs", strconv.FormatInt(e.Run, 10))+"?exclude_pull_requests=true", &r)
	return max(r.Attempt, 1) == e.Attempt && (r.Status == "completed") == (status == "completed"), err
}

func (a application) runPath(e quorum.Action, verb string) string {
	return repoPath(a.pr, "actions", "runs", strconv.FormatInt(e.Run, 10), verb)
}

func (a application) cancelRun(ctx context.Context, e quorum.Action) (quorum.Result, error) {
	if stands, err := a.attemptStands(ctx, e, "in_progress"); err != nil {
		return resultOf(err)
	} else if !stands {
		return quorum.Result{State: quorum.ResultVoid}, nil
	}
	if e.Left != "" {
		pulls, err := pullReader{client: a.f.client, pr: a.pr}.readSiblings(ctx, e.Left)
		if err != nil {
			return resultOf(err)
		}
		if slices.ContainsFunc(pulls, func(p restPull) bool { return p.State == "open" && p.Head.SHA == e.Left }) {
			return quorum.Result{State: quorum.ResultVoid}, nil // it is another one's
		}
	}
	_, err := a.f.client.Send(ctx, http.MethodPost, a.runPath(e, "cancel"), nil, nil)
	if client.IsConflict(err) { // it has just ended
		return quorum.Result{State: quorum.ResultVoid}, nil
	}
	return resultOf(err)
}

func (a application) rerunAttempt(ctx context.Context, e quorum.Action) (quorum.Result, error) {
	if stands, err := a.attemptStands(ctx, e, "completed"); err != nil {
		return rerunResult(err)
	} else if !stands {
		return quorum.Result{State: quorum.ResultVoid}, nil
	}
	if a.f.client.Personal() && a.f.askedRerun(e.Run) {
		return quorum.Result{State: quorum.ResultDone}, nil // GitHub shows the new attempt only after seconds
	}
	verb := "rerun"
	if e.FailedOnly {
		verb = "rerun-failed-jobs"
	}
	_, err := a.f.client.Send(ctx, http.MethodPost, a.runPath(e, verb), nil, nil)
	if e.FailedOnly && refusalHolds(err, "no failed jobs") {
		_, err = a.f.client.Send(ctx, http.MethodPost, a.runPath(e, "rerun"), nil, nil)
	}
	return rerunResult(err)
}

// askedRerun reports whether a rerun of that run was asked for just now, and else remembers that it is.
func (f *Forge) askedRerun(run int64) bool {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.reran, func(_ int64, at time.Time) bool { return now.Sub(at) >= quorum.ReplicaLag })
	if _, done := f.reran[run]; done {
		return true
	}
	f.reran[run] = now
	return false
}

func (a application) askReviewer(ctx context.Context, e quorum.Action) (quorum.Result, error) {
	n := strconv.Itoa(a.pr.Number)
	if e.Request.Login != "" {
		return a.requestReview(ctx, e, n)
	}
	_, err := a.f.client.Send(
		ctx, http.MethodPost, repoPath(a.pr, "issues", n, "comments"),
		map[string]string{"body": e.Request.Comment}, nil,
	)
	return resultOf(err)
}

// requestReview asks for a review by login. GitHub answers 201 also where it does not pass the request on, as it does
// with one for Copilot by GITHUB_TOKEN: then the pull request that it answers with does not list the reviewer. Source:
// seen on GitHub (github.com/open-edge-platform/trusted-compute/pull/532, github.com/pinpoint-apm/pinpoint/pull/13955).
func (a application) requestReview(ctx context.Context, e quorum.Action, number string) (quorum.Result, error) {
	var p struct {
		Requested *[]restUser `json:"requested_reviewers"`
	}
	_, err := a.f.client.Send(
		ctx,
		http.MethodPost,
		repoPath(a.pr, "pulls", number, "requested_reviewers"),
		map[string][]string{"reviewers": {e.Request.Login}},
		&p,
	)
	if err != nil || p.Requested == nil {
		return resultOf(err)
	}
	for _, u := range *p.Requested {
		if e.Request.IsFor(u.account()) {
			return quorum.Result{State: quorum.ResultDone}, nil
		}
	}
	return quorum.Result{State: quorum.ResultRefused, Reason: quorum.ReasonIgnored}, nil
}

// neededPermission is the permission without which an effect is refused, where GitHub does not name it.
func neededPermission(a quorum.Action) string {
	switch {
	case a.Kind != quorum.Ask:
		return "actions=write"
	case a.Request.Login != "":
		return "pull_requests=write"
	}
	return "issues=write"
}

// refusalHolds reports whether GitHub's refusal holds that phrase.
func refusalHolds(err error, phrase string) bool {
	var api *client.APIError
	return errors.As(err, &api) && strings.Contains(strings.ToLower(api.Message), phrase)
}

// resultOf reads GitHub's answer to an effect.
func resultOf(err error) (quorum.Result, error) {
	if err == nil {
		return quorum.Result{State: quorum.ResultDone}, nil
	}
	var limit *client.LimitError
	if errors.As(err, &limit) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return quorum.Result{}, err
	}
	var api *client.APIError
	if !errors.As(err, &api) {
		return quorum.Result{State: quorum.ResultFailed}, nil
	}
	no := quorum.Result{State: quorum.ResultRefused, Reason: quorum.ReasonRefused, Detail: api.Message}
	switch {
	case api.Status == http.StatusUnauthorized:
		return quorum.Result{}, err
	case api.Missing:
		no.Reason, no.Detail = quorum.ReasonPermission, api.Permission
	}
	for _, r := range refusals {
		if refusalHolds(err, r.words) {
			no.Reason = r.reason
		}
	}
	if no.Reason == "" {
		return quorum.Result{State: quorum.ResultVoid}, nil
	}
	return no, nil
}

// refusals are GitHub's words for the reasons for which it starts no rerun; "": it needs none. Any other sentence is
// [quorum.ReasonRefused].
var refusals = [...]struct {
	words  string
	reason quorum.Reason
}{
	{"already running", ""},
	{"over a month ago", quorum.ReasonTooOld},
	{"number of attempts", quorum.ReasonAttempts},
	{"50 times", quorum.ReasonAttempts},
	{"attempt limit", quorum.ReasonAttempts},
	{"rerun limit", quorum.ReasonAttempts},
}

// rerunResult reads GitHub's answer to a rerun. One that only repeats its status gives no reason, nor does a redirect:
// the next one may be another.
func rerunResult(err error) (quorum.Result, error) {
	var api *client.APIError
	if errors.As(err, &api) && api.Status != http.StatusUnauthorized {
		isBare := strings.HasPrefix(api.Message, http.StatusText(api.Status)) || api.Message == "Validation Failed"
		if isBare || api.Status < http.StatusBadRequest {
			return quorum.Result{State: quorum.ResultFailed}, nil
		}
	}
	return resultOf(err)
}
