package evidence

// This file tells the events that call for a look from the others, which are most of those of a repository.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Concerned reports whether an event may concern a reviewer of p or the decision itself. In doubt it does.
func Concerned(p quorum.Policy, t quorum.Touch) bool {
	if t.Action == "rerequested" || t.Press != 0 || t.Command { // a button of a check; a person's word
		return true
	}
	anyone := func(is func(quorum.Reviewer) bool) bool { return slices.ContainsFunc(p.Reviewers, is) }
	switch t.Event {
	case "pull_request", "pull_request_target":
		isChoice := p.Fix.Workflow != "" || anyone(func(r quorum.Reviewer) bool { return len(r.When.Labels) > 0 }) ||
			slices.ContainsFunc(p.Lanes, func(l quorum.Lane) bool { return len(l.If.Labels) > 0 }) // a label stops fixes
		return isChoice || t.Action != "labeled" && t.Action != "unlabeled"
	case "workflow_run":
		// Runs of other workflows also show who pushed the head; the look that follows a person's review reads them.
		isReviewers := func(r quorum.Reviewer) bool { return isRunOf(r.Workflow, t.Workflow) }
		return t.Workflow == "" || isRunOf(p.Fix.Workflow, t.Workflow) || anyone(isReviewers)
	case "check_run":
		// Checks that are jobs need no look: their run has events of its own.
		return t.App == "" || t.Name == "" || t.Name == p.Check || anyone(func(r quorum.Reviewer) bool {
			of := signalsOf(&r) // a reviewer that speaks in a status may say in a check that it works
			return of.Check == t.Name && strings.EqualFold(of.App, t.App)
		})
	case "check_suite":
		return t.App == "" || anyone(func(r quorum.Reviewer) bool {
			return r.Check != "" && strings.EqualFold(r.App, t.App)
		})
	case "status":
		return t.Name == "" || anyone(func(r quorum.Reviewer) bool {
			return strings.EqualFold(r.Status, t.Name) && (t.Author == "" || WroteBy(r, t.Author))
		})
	case "issue_comment", "pull_request_review", "pull_request_review_comment":
		mayAsk := t.Event == "issue_comment" && anyone(func(r quorum.Reviewer) bool { return r.Request.Comment != "" })
		mayDecide := t.Event == "pull_request_review" && !t.Remark // it may stand in, or object
		isHeard := (mayAsk || mayDecide) && !strings.HasSuffix(t.Author, "[bot]")
		return t.Author == "" || isHeard || anyone(func(r quorum.Reviewer) bool { return WroteBy(r, t.Author) })
	}
	return true
}

// TellsProgress reports whether an event tells only that a run has begun or goes on: whatever decides reads the runs.
func TellsProgress(t quorum.Touch) bool {
	return t.Event == "workflow_run" && (t.Action == "requested" || t.Action == "in_progress")
}

// ApproverIn returns the name of the workflow's reviewer whose new comment approves, as far as its words tell; else "".
// It is a hint: such a comment counts once its run has ended, and whoever decides reads it on GitHub.
func ApproverIn(p *quorum.Policy, t quorum.Touch, said string) (name string) {
	if t.Event != "issue_comment" || t.Action != "created" || t.Command || said == "" {
		return ""
	}
	text, texts := quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: t.Text}, Body: said}, newTextReader(0)
	for i := range p.Reviewers {
		r := &p.Reviewers[i]
		if !WroteBy(*r, t.Author) || !texts.hasHeading(r, &text) {
			continue
		}
		if name != "" || r.Workflow == "" || texts.readText(r, &text, "", 0, 0).Outcome != quorum.Approved {
			return ""
		}
		name = r.Name
	}
	return name
}

// RunsAs reports whether an event tells of a run of the reviewer of that name.
func RunsAs(p *quorum.Policy, name string, t quorum.Touch) bool {
	isOf := func(r quorum.Reviewer) bool { return r.Name == name && isRunOf(r.Workflow, t.Workflow) }
	return t.Event == "workflow_run" && slices.ContainsFunc(p.Reviewers, isOf)
}

// isRunOf reports whether a run of that path, with a repository before it or a ref behind as events show it, is of a workflow.
func isRunOf(workflow, path string) bool {
	bare, _, _ := strings.Cut(path, "@")
	return workflow != "" && (path == workflow || bare == workflow || strings.HasSuffix(bare, "/"+workflow))
}

// WroteBy reports whether login is r's author. Copilot writes inline comments under another name than reviews.
func WroteBy(r quorum.Reviewer, login string) bool {
	isCopilot := strings.EqualFold(login, "Copilot") && strings.HasPrefix(strings.ToLower(r.Author), "copilot-")
	return r.Author != "" && (strings.EqualFold(r.Author, login) || isCopilot)
}
