package doctor

// Who else can write as github-actions[bot]: the account of every job's token.

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// examineActions examines the repository's settings for Actions.
func (e *examination) examineActions() {
	needsActions := len(e.posts) > 0 || slices.ContainsFunc(e.Policy.Reviewers, func(r quorum.Reviewer) bool {
		return r.Workflow != "" && !r.Retired
	})
	if e.Actions.Disabled && needsActions {
		e.report(Broken, "actions-disabled", "Actions is switched off for this repository: no workflow of the set-up runs",
			"switch it on", e.ghAPI("PUT", e.repoPath("actions", "permissions"), map[string]any{"enabled": true, "allowed_actions": "all"}))
	}
	if e.Actions.DefaultAll && (!e.postsAsApp() || e.readsBotTexts()) {
		e.report(Warning, "default-write",
			"every workflow's token may write unless it says otherwise: each can post a check, or a text of a reviewer, "+
				"as github-actions[bot]", "let tokens read by default: Settings, Actions, General, Workflow permissions", e.tokenCommand())
	}
	if e.Actions.Approves {
		e.report(Warning, "actions-approve", "workflows may approve pull requests: what GitHub counts as a review may be a job's",
			"take the permission away: Settings, Actions, General, Workflow permissions", e.tokenCommand())
	}
}

// readsBotTexts reports whether a reviewer's verdict is read from texts that every workflow can write.
func (e *examination) readsBotTexts() bool {
	return slices.ContainsFunc(e.Policy.Reviewers, func(r quorum.Reviewer) bool {
		return strings.EqualFold(r.Author, quorum.ActionsBot) && readsTexts(r)
	})
}

// readsTexts reports whether a reviewer's verdict stands in what it writes.
func readsTexts(r quorum.Reviewer) bool {
	return !r.Retired && r.Verdict.Kind != quorum.Artifact && r.Verdict.Kind != quorum.Conclusion
}

// targetBlocked is when GitHub began to block pull_request_target in public repositories. GitHub changelog, 2026-09-17.
var targetBlocked = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// forbidsTarget reports whether pull_request_target starts nothing here. GitHub tells no token what its policies allow:
// a run of that workflow and event that succeeded since then shows that one does.
func (e *examination) forbidsTarget(path string) bool {
	if !e.Public || e.Host != "" || e.Now.Before(targetBlocked) {
		return false
	}
	for _, p := range e.Pulls {
		for _, r := range p.Runs {
			if r.Path == path && r.Event == "pull_request_target" && r.Created.After(targetBlocked) && r.Conclusion == "success" {
				return false
			}
		}
	}
	return true
}
