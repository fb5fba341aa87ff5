package github

// The equal status: a commit status of the check's name, which a job writes beside its check. GitHub files what a job
// writes with GITHUB_TOKEN into the oldest check suite of Actions that the head has, and the merge gate passes over
// that suite's checks once a newer run of its workflow and event exists, or if its run was dispatched; a status is in
// no suite. Source: the probes of rmartz/merge-safety 73 and 74 and of others, autumn 2026.
//
// Both must never be green over a newer no, whoever else writes and wherever a job dies. So where something stands,
// red goes to the status first and green last, each only if nobody wrote the status since it was read, and every look
// mends what differs. On a commit without either the check comes first: a status is never written because GitHub
// refuses the check.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// scarceStatuses is the number of statuses of one name on a commit from which on only red ones are written: GitHub
// takes 1,000. Source: https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
const scarceStatuses = 900

// maxStatusDescription is how many characters GitHub takes of a status's description.
const maxStatusDescription = 140

// A statusText is what a commit status says. Its zero value is no status.
type statusText struct {
	state       string
	description string // at most maxStatusDescription characters
}

// statusBeside is the status that belongs beside a check; none beside one that only reports.
func statusBeside(c report.Check) statusText {
	switch {
	case c.Status != "completed":
		return statusText{statusPending, "Not decided yet. The check of this name says what it waits for."}
	case c.Conclusion == "success":
		return statusText{statusSuccess, c.Described}
	case c.Conclusion == "cancelled":
		title := []rune(c.Title) // that of a check that ends, where nothing is described
		return statusText{statusError, string(title[:min(len(title), maxStatusDescription)])}
	case c.Conclusion == "neutral":
		return statusText{}
	}
	return statusText{statusFailure, c.Described}
}

// An equalStatus keeps the status of one name on one commit equal to our check there.
type equalStatus struct {
	p        *publication
	head     string
	name     string
	statuses *[]quorum.Status // of the commit, the newest first

	hasWritten bool // the status was written
}

// equalStatus returns the keeper of the status beside our check of that name on the head; nil where none is kept. An
// App keeps one that a job left beside its check.
func (p *publication) equalStatus(ctx context.Context, name string) (*equalStatus, error) {
	e := &equalStatus{p: p, head: p.m.head, name: name, statuses: &p.m.statuses}
	switch {
	case p.f.writesAsJob():
		return e, nil
	case !p.m.jobsCheckOnHead:
		return nil, nil
	case p.m.statuses == nil: // the policy's reviewers set none, so that the look did not read them
		if err := e.readStatuses(ctx); err != nil {
			return nil, err
		}
	}
	isJobs := func(st quorum.Status) bool {
		return strings.EqualFold(st.Context, name) && st.Creator.Is(quorum.ActionsBot)
	}
	if !slices.ContainsFunc(p.m.statuses, isJobs) {
		return nil, nil
	}
	return e, nil
}

// equalStatusOnOlderHead returns the keeper of the status beside our check on another commit; nil where none is kept.
func (p *publication) equalStatusOnOlderHead(ctx context.Context, head, name string) (*equalStatus, error) {
	if !p.f.writesAsJob() {
		return nil, nil
	}
	e := &equalStatus{p: p, head: head, name: name, statuses: new([]quorum.Status)}
	return e, e.readStatuses(ctx)
}

// readStatuses reads the statuses of the commit. Where GitHub refuses them there are none.
func (e *equalStatus) readStatuses(ctx context.Context) error {
	all, err := readPages[restStatus](ctx, e.p.f.client, nil, e.path("commits", e.head, "statuses")+"?per_page=100", "")
	if err != nil && !client.IsForbidden(err) && !client.IsNotFound(err) && !client.IsUnprocessable(err) {
		return err
	}
	*e.statuses = []quorum.Status{}
	for i := range all {
		*e.statuses = append(*e.statuses, all[i].toStatus())
	}
	sortStatuses(*e.statuses)
	return nil
}

func (e *equalStatus) path(parts ...string) string { return repoPath(e.p.pr, parts...) }

// named are the statuses of the name, the newest first, whoever wrote them: the newest is the one that counts.
func (e *equalStatus) named() []quorum.Status {
	return slices.DeleteFunc(slices.Clone(*e.statuses), func(st quorum.Status) bool { return !strings.EqualFold(st.Context, e.name) })
}

// writeBeside writes a check by write and the status beside it, in the order that never shows both green over a newer
// no. was are our checks of the name that stand.
func (e *equalStatus) writeBeside(ctx context.Context, c report.Check, was []writtenCheck, write func() error) error {
	if e == nil {
		return write()
	}
	want := e.wantedStatus(c)
	isFirst := len(was) == 0 && len(e.named()) == 0
	isCheckFirst := isFirst || want.state == statusSuccess
	if !isCheckFirst {
		if err := e.writeStatus(ctx, want); err != nil {
			return err
		}
	}
	if !isFirst && slices.ContainsFunc(was, func(o writtenCheck) bool { return o.status != c.Status || o.conclusion != c.Conclusion }) {
		if err := e.refuseForeignStatus(ctx); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	if !isCheckFirst {
		return e.refuseLaterStatus(ctx, want)
	}
	err := e.writeStatus(ctx, want)
	if want.state == statusSuccess && errors.Is(err, ErrMoved) {
		return nil // whoever wrote it saw something else: the look that follows each pass will see that, too
	}
	if err != nil {
		return err
	}
	return e.refuseLaterStatus(ctx, want)
}

// refuseLaterStatus makes sure that no process that had seen a pass wrote its green status over a red one meanwhile.
func (e *equalStatus) refuseLaterStatus(ctx context.Context, want statusText) error {
	if want.state != statusFailure || !e.hasWritten {
		return nil
	}
	return e.refuseForeignStatus(ctx)
}

// wantedStatus is [statusBeside] for a commit on which statuses stand: beside a check that only reports, one that
// stands holds back nothing; and where statuses run out, only red ones are written.
func (e *equalStatus) wantedStatus(c report.Check) statusText {
	want, named := statusBeside(c), e.named()
	if len(named) == 0 {
		return want
	}
	stands := statusText{named[0].State, named[0].Description}
	if want == (statusText{}) {
		want = statusText{statusSuccess, c.Described}
	}
	isRed := want.state == statusFailure || want.state == statusError
	switch {
	case len(named) < scarceStatuses || isRed || want == stands:
		return want
	case stands.state == statusSuccess:
		return statusText{statusFailure, "This commit has too many statuses. Push a new commit."}
	}
	e.p.f.log.Warn("the commit has too many statuses for one more, and stays red: push a new commit",
		oplog.PullRequest(e.p.pr), "head", e.head, "statuses", len(named))
	return stands
}

// writeStatus makes the status read so. One that says the same is not written again, and of an open one the words do
// not matter.
func (e *equalStatus) writeStatus(ctx context.Context, want statusText) error {
	if named := e.named(); want == (statusText{}) || len(named) > 0 && named[0].State == want.state &&
		(named[0].Description == want.description || want.state == statusPending) {
		return nil
	}
	if err := e.refuseForeignStatus(ctx); err != nil {
		return err
	}
	in := map[string]string{"state": want.state, "description": want.description, "context": e.name}
	var lost error
	for try := range writeTries {
		if try > 0 {
			if err := pause(ctx, time.Second<<(try-1)); err != nil {
				return err
			}
		}
		var made restStatus
		_, err := e.p.f.client.Send(ctx, http.MethodPost, e.path("statuses", e.head), in, &made)
		switch {
		case err == nil:
			st := made.toStatus()
			st.Context, st.State, st.Description = e.name, want.state, want.description
			*e.statuses = append([]quorum.Status{st}, *e.statuses...)
			e.hasWritten = true
			return nil
		case client.IsForbidden(err), client.IsNotFound(err), client.IsUnprocessable(err): // the check alone is what there was before
			e.p.f.log.Warn("GitHub refuses the commit status beside the check, without which its merge gate may pass over the check: "+
				"give the job the permission statuses: write", oplog.PullRequest(e.p.pr), "head", e.head, "err", err)
			return nil
		case !errors.Is(err, client.ErrTransport):
			return fmt.Errorf("write status: %w", err)
		}
		lost = err // to write it twice does no harm
	}
	return fmt.Errorf("write status: %w", lost)
}

// refuseForeignStatus makes sure that nobody wrote the status since it was read. The list is conditional, so that
// usually it costs nothing.
func (e *equalStatus) refuseForeignStatus(ctx context.Context) error {
	now := *e
	now.statuses = new([]quorum.Status)
	if err := now.readStatuses(ctx); err != nil {
		return err
	}
	newest := func(named []quorum.Status) (id int64) {
		for _, st := range named {
			id = max(id, st.ID)
		}
		return id
	}
	if newest(now.named()) > newest(e.named()) {
		return moved{"the status of " + e.p.pr.String() + " was written by another process"}
	}
	return nil
}
