package oplog

// The fields of a line, in one place, so that every line names a thing as GitHub does and as every other line.

import (
	"log/slog"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// PullRequest returns the fields repository and pull_request.
func PullRequest(pr quorum.PR) slog.Attr {
	return slog.Group("", Repository(pr.Owner, pr.Repo), slog.Int("pull_request", pr.Number))
}

// Repository returns the field repository: OWNER/NAME.
func Repository(owner, name string) slog.Attr { return slog.String("repository", owner+"/"+name) }

// Installation returns the field installation, the number of an App's installation. A personal token has none.
func Installation(id int64) slog.Attr {
	if id == 0 {
		return slog.Attr{}
	}
	return slog.Int64("installation", id)
}

// Subject returns the fields that say what a key of the work table names: installation, repository, and pull_request or
// head, as far as it names them.
func Subject(key string) slog.Attr {
	at, ok := workkey.Parse(key)
	switch {
	case key == workkey.App:
		return slog.Attr{}
	case !ok:
		return slog.String("key", key) // nobody can read it: it says itself
	}
	fields := []any{Installation(at.Tenant)}
	if at.Repo != "" {
		fields = append(fields, Repository(at.Owner, at.Repo))
	}
	if at.Number != 0 {
		fields = append(fields, slog.Int("pull_request", at.Number))
	}
	if at.Head != "" {
		fields = append(fields, slog.String("head", at.Head))
	}
	return slog.Group("", fields...)
}
