package github

// The comment that tells the verdict. It is known by its first line and by its author: anybody can write that line. Two
// processes may have written one each; then the older one is kept, and ours beside it are deleted.

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// Tell makes our comment on pr read as c, and writes nothing if it does. told are those of ours that a look has found.
// It must follow a Publish. Why GitHub takes no comment of ours here is returned; zero if it does.
func (f *Forge) Tell(ctx context.Context, pr quorum.PR, c report.Comment, told []quorum.ToldComment) (quorum.Untold, error) {
	m, release := f.holdMemory(pr)
	defer release()
	body := c.Body(m.pageOfCheck(c))
	act := application{f: f, pr: pr}
	var err error
	if len(told) == 0 && f.now().Sub(m.told.at) < quorum.ReplicaLag {
		told = []quorum.ToldComment{m.told.ToldComment} // GitHub's list lags
	}
	if len(told) == 0 && c.Make { // another process may have just written it, and a list may lag
		told, err = act.findTold(ctx)
	}
	switch {
	case err != nil:
	case len(told) > 0:
		if err = act.keepTold(ctx, body, told); err == nil && told[0].ID == m.told.ID {
			m.told.Body = body // by it the next one is compared while the list lags
		}
	case c.Make:
		path := repoPath(pr, "issues", strconv.Itoa(pr.Number), "comments")
		var made restComment
		if _, err = f.client.Send(ctx, http.MethodPost, path, map[string]string{"body": body}, &made); err == nil {
			m.told = toldVerdict{quorum.ToldComment{ID: made.ID, Body: body}, f.now()}
		}
	}
	no, fault := resultOf(err)
	if fault != nil || no.State == quorum.ResultDone {
		return quorum.Untold{}, fault
	}
	if no.State != quorum.ResultRefused {
		return quorum.Untold{}, err // a fault on the way
	}
	switch {
	case refusalHolds(err, "is locked"):
		no.Reason, no.Detail = quorum.ReasonLocked, ""
	case no.Reason == quorum.ReasonPermission && no.Detail == "":
		no.Detail = "pull_requests=write"
	}
	f.log.Warn("the verdict cannot be told in a comment", oplog.PullRequest(pr), "err", err)
	return quorum.Untold{Reason: no.Reason, Detail: no.Detail}, nil
}

// keepTold makes the first of our comments read so, and deletes the others.
func (a application) keepTold(ctx context.Context, body string, told []quorum.ToldComment) error {
	pathOf := func(id int64) string { return repoPath(a.pr, "issues", "comments", strconv.FormatInt(id, 10)) }
	if !sameBody(told[0].Body, body) {
		_, err := a.f.client.Send(ctx, http.MethodPatch, pathOf(told[0].ID), map[string]string{"body": body}, nil)
		if err != nil && !client.IsNotFound(err) && !client.IsGone(err) { // else somebody has deleted it
			return err
		}
	}
	for _, extra := range told[1:] {
		_, err := a.f.client.Send(ctx, http.MethodDelete, pathOf(extra.ID), nil, nil)
		if err != nil && !client.IsNotFound(err) && !client.IsGone(err) {
			return err
		}
	}
	return nil
}

// sameBody reports whether GitHub shows a comment as it was written: it may change the ends of lines.
func sameBody(shown, written string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(shown) == plain(written)
}

// findTold reads our comments that tell the verdict.
func (a application) findTold(ctx context.Context) (told []quorum.ToldComment, err error) {
	ours := quorum.Account{Login: a.f.app.KnownSlug() + "[bot]", Bot: true}
	if a.f.client.Personal() {
		if err := a.f.readIdentity(ctx, &ours); err != nil {
			return nil, err
		}
	}
	path := repoPath(a.pr, "issues", strconv.Itoa(a.pr.Number), "comments")
	_, err = readSizedPages(ctx, a.f.client, nil, new(int), path+"?per_page=100", "", func(c *restComment) {
		if c.keepTold(); c.told != "" && c.User.account().Same(ours) {
			told = append(told, quorum.ToldComment{ID: c.ID, Body: c.told})
		}
		c.Body, c.told = "", ""
	})
	return told, err
}

// pageOfCheck is the address to which a comment leads.
func (m *memory) pageOfCheck(c report.Comment) string {
	for _, o := range m.ownChecks {
		if o.name == c.Check && o.url != "" {
			return o.url
		}
	}
	return c.Others
}
