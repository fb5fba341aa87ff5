package github

// How people's commands are answered: by a reaction to the comment. An answer is advice: one that GitHub refuses is not
// tried again.

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// giveReplies answers commands, and returns those that need no answer any more. It ends at a limit, or with ctx.
func (a application) giveReplies(ctx context.Context, replies []quorum.Reply) (given []int64, err error) {
	for _, reply := range replies {
		err := a.react(ctx, reply)
		var refused *client.APIError
		var limit *client.LimitError
		switch {
		case err == nil:
		case errors.As(err, &limit), ctx.Err() != nil, !errors.As(err, &refused), refused.Status == http.StatusUnauthorized:
			return given, err
		case client.IsNotFound(err) || client.IsGone(err): // the comment was deleted
		default:
			a.f.log.Warn("a person's command cannot be answered; pull-requests: write, or issues: write, is needed for that",
				oplog.PullRequest(a.pr), "err", err)
		}
		given = append(given, reply.Command)
	}
	return given, nil
}

// react leaves a thumb at the comment. One that is there already stays as it is.
func (a application) react(ctx context.Context, reply quorum.Reply) error {
	content := "+1"
	if reply.Refused {
		content = "-1"
	}
	path := repoPath(a.pr, "issues", "comments", strconv.FormatInt(reply.Command, 10), "reactions")
	_, err := a.f.client.Send(ctx, http.MethodPost, path, map[string]string{"content": content}, nil)
	return err
}
