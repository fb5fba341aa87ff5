package config

// What a policy may say and is likely to be regretted: waits that end before anything can come of them, an App's name
// without [bot], a linter that is read as if it wrote reviews.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// leastAttempt is shorter than the start of a runner: an attempt that may take no longer has failed before it began.
const leastAttempt = 30 * time.Second

// warnDurations warns of waits at the top level that end before anything can come of them, or after everything.
func (r policyResolver) warnDurations(f PolicyKeys) {
	r.warnIf(f.Grace > 0 && time.Duration(f.Grace) < time.Second, "grace",
		fmt.Sprintf("grace (%s) is too short for anybody to answer in", f.Grace), "write 0s for none, or some minutes")
	r.warnShort("timeout", "timeout", f.Timeout, "the default of "+Default().Timeout.String())
	r.warnShort("deadline", "deadline", f.Deadline, "the default of "+Default().Deadline.String())
	r.warnLong([]string{"timeout", "deadline"}, "timeout", "timeout", f.Timeout, f.Deadline)
	r.warnLong([]string{"grace", "deadline"}, "grace", "grace", f.Grace, f.Deadline)
}

// warnShort warns of a wait that the file gives at key and that is over before a run has begun. Without it another one holds.
func (r policyResolver) warnShort(key, what string, wait Duration, another string) {
	r.warnIf(r.hasKey(key) && time.Duration(wait) < leastAttempt, key,
		fmt.Sprintf("%s (%s) is over before a run has begun: GitHub takes longer to find it a runner", what, wait),
		"write some minutes, or leave it out for "+another)
}

// warnLong warns of a wait that the deadline ends, at the first of the keys that the file has.
func (r policyResolver) warnLong(keys []string, what, it string, wait, deadline Duration) {
	if i := slices.IndexFunc(keys, r.hasKey); i >= 0 && wait > deadline {
		r.warnKey(keys[i], fmt.Sprintf("%s (%s) is longer than deadline (%s), which ends everything", what, wait, deadline),
			"shorten "+it+" or lengthen deadline")
	}
}

// warnReviewer warns of keys of a reviewer that are allowed and yet likely to be regretted.
func (r policyResolver) warnReviewer(key string, q quorum.Reviewer, f PolicyKeys) {
	who := reviewerPhrase(q)
	ours := strings.EqualFold(q.Author, quorum.ActionsBot)
	r.warnIf(ours && q.Status != "", key+".status",
		fmt.Sprintf("%s: every workflow can set a status called %s as github-actions[bot]", who, quoteText(q.Status)),
		"name the workflow instead")
	r.warnIf(ours && q.Workflow == "" && q.Check == "" && q.Status == "", key,
		who+" has no run, and any workflow could write its texts as github-actions[bot]",
		"give it an App of its own, or name its workflow if the workflow runs on the pull request")
	r.warnIf(q.Check != "" && q.App == quorum.ActionsApp, key+".check",
		fmt.Sprintf("%s: every workflow can write a check run called %s", who, quoteText(q.Check)),
		"name the workflow instead")
	r.warnIf(q.Retired, key, who+" is retired: it is shown as unavailable and is no voter", "remove it")
	r.warnShort(key+".timeout", "the timeout of "+who, Duration(q.Timeout), "the top level's")
	r.warnLong([]string{key + ".timeout"}, "the timeout of "+who, "it", Duration(q.Timeout), f.Deadline)
	r.warnAuthor(key, q)
	r.warnHeading(key, q)
	for i, event := range q.Events {
		switch event {
		case "issue_comment", "workflow_dispatch", "repository_dispatch", "schedule":
			r.warnKey(fmt.Sprintf("%s.event[%d]", key, i),
				fmt.Sprintf("a run that %s starts is not on the pull request's head: it will not be found", event),
				"leave out workflow and event, and name the author of its texts")
		case "push": // GitHub docs, "Events that trigger workflows": GITHUB_SHA is the tip of the branch
			r.warnKey(fmt.Sprintf("%s.event[%d]", key, i),
				"a run that push starts uses the workflow file of the branch itself, as old as it may be: no guard sees which one",
				"start it by pull_request: then it uses the file as it is once merged with the base")
		}
	}
	r.warnIf(q.Request.Comment != "" && q.Workflow != "", key+".request",
		"a comment that is written with GITHUB_TOKEN starts no workflow: "+who+" is asked only with an App's or a person's token", "")
}

// fillInAuthor is the account of the reviewer that a first policy names where none was found. Nobody posts as it.
const fillInAuthor = "fill-in[bot]"

// warnAuthor warns of the name of an App that the coordinator knows, written as a person's.
func (r policyResolver) warnAuthor(key string, q quorum.Reviewer) {
	if !r.hasKey(key+".author") || q.Author == "" {
		return
	}
	if strings.EqualFold(strings.TrimSuffix(q.Author, "[bot]")+"[bot]", fillInAuthor) {
		r.warnKey(key+".author", reviewerPhrase(q)+" stands for one that coordinator init did not find: nobody posts as it",
			"name the account that reviews")
		return
	}
	known, instead := "", ""
	for _, name := range review.Presets() {
		preset, _ := review.Preset(name)
		if !strings.EqualFold(preset.Author, q.Author+"[bot]") || preset.Author == quorum.ActionsBot {
			continue
		}
		known = preset.Author
		if instead == "" && !review.NeedsWorkflow(name) && !preset.Retired {
			instead = ", or preset: " + name + " instead"
		}
	}
	r.warnIf(known != "", key+".author",
		fmt.Sprintf("%s: %s is the login of a person; the App posts as %s", reviewerPhrase(q), quoteText(q.Author), known),
		"write author: "+known+instead)
}

// linterPattern finds the names that linters have.
var linterPattern = lazy.Regexp(
	`(?i)(?:^|[^a-z])(?:(?:es|ts|js|go|py|hado|yaml|markdown|action|style|kt|swift|sql|tf|html|super|mega|code)?` +
		`-?lint(?:er|ers|ing)?` +
		`|ruff|rubocop|prettier|checkstyle|shellcheck|flake8|clippy|detekt)(?:[^a-z]|$)`,
)

// linterKeys is what a linter's entry needs.
const linterKeys = "verdict: conclusion and failure_means: findings"

// looksLikeLinter reports whether a workflow's reviewer is called like a linter and is read as if it wrote reviews.
func looksLikeLinter(q quorum.Reviewer) bool {
	return q.Workflow != "" && q.Preset == "" && q.Verdict.Kind == quorum.Auto && strings.EqualFold(q.Author, quorum.ActionsBot) &&
		(linterPattern().MatchString(q.Name) || linterPattern().MatchString(q.Workflow))
}

// warnHeading warns of a heading that is not read, or by which no review will be found: a linter has a conclusion and
// writes no review.
func (r policyResolver) warnHeading(key string, q quorum.Reviewer) {
	if !r.hasKey(key+".heading") || r.brokenKeys[key+".heading"] {
		return
	}
	who, noun := reviewerPhrase(q), verdictNouns[q.Verdict.Kind]
	switch {
	case noun != "":
		r.warnKey(key+".heading",
			fmt.Sprintf("%s: the heading is not read, since its %s is the verdict", who, noun),
			"remove heading")
	case looksLikeLinter(q):
		r.warnKey(key+".heading",
			who+" seems to be a linter: its job ends with a conclusion, and a text of it has no verdict that approves",
			"if it is one, write "+linterKeys+" in place of heading")
	}
}

// missingHeadingHint says what to add to a reviewer whose texts nothing tells from others'.
func missingHeadingHint(q quorum.Reviewer) string {
	hint := `add heading: "## …" with the heading that its texts open with`
	if looksLikeLinter(q) {
		hint += "; if it is a linter, which writes no review: " + linterKeys
	}
	return hint
}
