package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A pull request that cannot be read may hold an objection that nobody sees: anybody can make it so long that GitHub
// gives no answer. So it loses its green.

// What may heal by itself is given that long, and so many looks.
const (
	maxUnreadTime  = 5 * time.Minute
	maxUnreadLooks = 3
)

// isLost reports whether a pull request counts as one that cannot be read: at once where the next look would fail
// alike, else after a while; in a sweep, which comes but now and then, after as many looks. A fault on the way to
// GitHub is the pull request's own only if another one was read meanwhile.
func (f *Forge) isLost(u unreadLooks, inSweep bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case u.looks == 0:
		return false
	case errors.Is(u.err, client.ErrTooLong), errors.Is(u.err, errNoEnd):
		return true
	case errors.Is(u.err, client.ErrTransport) && !f.whole.After(u.since):
		return false
	}
	return u.looks >= maxUnreadLooks && (inSweep || f.now().Sub(u.since) >= maxUnreadTime)
}

// WithdrawUnread takes the green of pr's head away if pr cannot be read: its check is in progress again, with the
// record as it is, and the next look that reads all says what it should. It must follow an Observe that failed. inSweep
// says that no other look follows soon.
func (f *Forge) WithdrawUnread(ctx context.Context, pr quorum.PR, inSweep bool) error {
	m, release := f.holdMemory(pr)
	defer release()
	if !f.isLost(m.unread, inSweep) {
		return nil
	}
	var now restPull
	if _, err := f.client.Get(ctx, repoPath(pr, "pulls", strconv.Itoa(pr.Number)), &now); err != nil {
		return fmt.Errorf("withdraw %s: %w", pr, err)
	}
	if len(now.Head.SHA) < 40 || now.State != "open" {
		return nil
	}
	p := publication{f: f, pr: pr, m: &memory{}} // what is remembered may be of another head
	p.m.head = now.Head.SHA
	var err error
	if f.client.Personal() {
		err = p.withdrawStatus(ctx, m.unread.since)
	} else {
		err = p.withdrawChecks(ctx, m.unread.since)
	}
	if err != nil {
		return fmt.Errorf("withdraw %s: %w", pr, err)
	}
	return nil
}

// withdrawChecks takes the green of all our checks on the head.
func (p *publication) withdrawChecks(ctx context.Context, since time.Time) error {
	all, err := pullReader{client: p.f.client, pr: p.pr}.readChecks(ctx, p.m.head)
	if err != nil {
		return err
	}
	for _, r := range all {
		check := r.toCheck()
		if !isOwnCheck(p.f.app, p.pr, check.CheckRun) {
			p.m.jobsCheckOnHead = p.m.jobsCheckOnHead || check.App == quorum.ActionsApp
			continue
		}
		p.m.ownChecks = append(p.m.ownChecks, check.asWritten())
	}
	for _, r := range all {
		check := r.toCheck()
		if !isOwnCheck(p.f.app, p.pr, check.CheckRun) || check.Conclusion != "success" {
			continue
		}
		p.f.log.Warn("a pull request cannot be read, and its check is not success any more",
			oplog.PullRequest(p.pr), "head", p.m.head, "since", since)
		if p.f.writesAsJob() { // the list must be known, so that nobody's later status is overwritten
			e := equalStatus{p: p, head: p.m.head, name: check.Name, statuses: &p.m.statuses}
			if err := e.readStatuses(ctx); err != nil {
				return err
			}
		}
		withdrawn := report.Unread(since)
		withdrawn.Name, withdrawn.Head, withdrawn.ExternalID, withdrawn.Text = check.Name, p.m.head, check.ExternalID, check.Text
		if err := p.updateCheckWithStatus(ctx, check.asWritten(), withdrawn); err != nil {
			return err
		}
	}
	return nil
}

// withdrawStatus takes the green of the statuses that a personal token writes in place of a check.
func (p *publication) withdrawStatus(ctx context.Context, since time.Time) error {
	l := p.f.policyOf(p.pr.Owner, p.pr.Repo)
	if err := l.readPolicy(ctx); err != nil {
		return err
	}
	var me quorum.Account
	if err := p.f.readIdentity(ctx, &me); err != nil {
		return err
	}
	e := equalStatus{p: p, head: p.m.head, statuses: &p.m.statuses}
	if err := e.readStatuses(ctx); err != nil {
		return err
	}
	newest := map[string]quorum.Status{}
	for _, st := range slices.Backward(p.m.statuses) { // the newest comes first
		if st.Creator.Same(me) && (st.Context == l.policy.Check || strings.HasPrefix(st.Context, l.policy.Check+" (")) {
			newest[st.Context] = st
		}
	}
	for name, st := range newest {
		if st.State != statusSuccess {
			continue
		}
		in := map[string]string{"state": statusPending, "description": report.Unread(since).Title, "context": name}
		var made restStatus
		if _, err := p.f.client.Send(ctx, http.MethodPost, e.path("statuses", p.m.head), in, &made); err != nil {
			return err
		}
	}
	return nil
}
