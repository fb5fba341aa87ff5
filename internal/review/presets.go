package review

// This file is the table of the reviewers that the coordinator knows: their accounts on GitHub, how they are asked, and
// the sentences with which they approve, object, or say that there was no review. A sentence is anchored at both ends or
// at its beginning; it is written in lower case, without Markdown.

import "github.com/review-coordinator/coordinator/internal/quorum"

func format(k quorum.FormatKind) quorum.Format { return quorum.Format{Kind: k} }

var workflowEvents = []string{"pull_request", "pull_request_target", "dynamic"}

const actionsBot = "github-actions[bot]"

var presets = []preset{
	{
		reviewer: quorum.Reviewer{
			Name: "copilot", Preset: "copilot", Author: "copilot-pull-request-reviewer[bot]", Verdict: format(quorum.ReviewState), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Login: "copilot-pull-request-reviewer[bot]"},
			Guard:   []string{".github/copilot-instructions.md", ".github/instructions/**", "AGENTS.md", "**/AGENTS.md"},
		},
		note:         "review-state: always a COMMENTED review; its inline comments object, \"generated no new comments\" approves once none of its threads is open",
		marks:        []string{"copilot"},
		listsPlaces:  true,
		countsInline: true,
		counts:       []pattern{rx(`^copilot reviewed [1-9]\d* out of \d+ changed files? in this pull request and generated (\w+) (?:new )?comments?\.?$`, "copilot reviewed ")},
		notices: []shape{
			{rx(`^copilot encountered an error and was unable to review this pull request\b`, "copilot encountered"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^copilot was unable to review this pull request because the user who requested the review has reached (?:their|its) quota\b`, "reached their quota", "reached its quota"), quorum.Limited, quorum.ReasonQuota},
			{rx(`^copilot (?:was unable|wasn't able) to review (?:any files in )?this pull request\b.{0,40}\b(?:too (?:large|many)|exceeds)\b`, "copilot was"), quorum.Declined, quorum.ReasonTooLarge},
			{rx(`^copilot (?:wasn't able|was not able|was unable) to review any files in this pull request\b`, "copilot was"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^copilot was unable to review this pull request\b`, "copilot was unable"), quorum.Unknown, quorum.ReasonUnknown},
			{rx(`^copilot reviewed 0 out of \d+ changed files\b`, "copilot reviewed 0"), quorum.Empty, quorum.ReasonEmpty},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "coderabbit", Preset: "coderabbit", Author: "coderabbitai[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@coderabbitai review"},
			Guard:   []string{".coderabbit.yaml", ".coderabbit.yml"},
		},
		note:          "auto: \"Actionable comments posted: N\" or \"No actionable comments were generated\"; none approves once none of its threads is open; its commit status says nothing",
		marks:         []string{"coderabbit", "actionable comments", "reviews paused"},
		noticesQuoted: true,
		countsInline:  true,
		counts:        []pattern{rx(`^actionable comments posted: ?(\d{1,4})$`, "actionable comments posted")},
		hiddenCounts:  []pattern{rx(`^outside diff range comments ?\((\d{1,4})\)$`, "outside diff range")},
		clean:         []pattern{rx(`^no actionable comments were generated in the recent review\b.*$`, "no actionable comments")},
		markers: []marker{
			{"rate limited by coderabbit.ai", quorum.Limited, quorum.ReasonRateLimit},
			{"skip review by coderabbit.ai", quorum.Declined, quorum.ReasonDeclined},
			{"review paused by coderabbit.ai", quorum.Declined, quorum.ReasonDeclined},
			{"failure by coderabbit.ai", quorum.Overloaded, quorum.ReasonOverloaded},
		},
		notices: []shape{
			{rx(`^(?:rate limit exceeded|review rate limited|review limit reached)\b`, "limit"), quorum.Limited, quorum.ReasonRateLimit},
			{rx(`^@?[\w.\[\]-]+,? (?:has|have|you have) exceeded the limit for the number of (?:commits|files)\b`, "exceeded the limit"), quorum.Limited, quorum.ReasonRateLimit},
			{rx(`^too many files\b`, "too many files"), quorum.Declined, quorum.ReasonTooLarge},
			{rx(`^review failed: the head commit changed during the review\b`, "the head commit changed"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^the head commit changed during the review\b`, "the head commit changed"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^review failed$|^review failed:`, "review failed"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^review skipped(?:$|\W)`, "review skipped"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^reviews? paused(?:$|\W)`, "paused"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^auto reviews are (?:limited|disabled)\b`, "auto reviews are"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^(?:the )?(?:pull request|pr) (?:was |is )?closed or merged during review\b|^closed or merged during review\b`, "closed or merged"), quorum.Declined, quorum.ReasonDeclined},
		},
		working:    []pattern{rx(`^review (?:queued|in progress)\b`, "review queued", "review in progress"), rx(`^currently (?:processing|reviewing) new changes\b`, "currently"), rx(`^note:? currently processing\b`, "currently processing")},
		replyMark:  "auto-generated reply by coderabbit",
		otherTexts: []pattern{rx(`^walkthrough$`, "walkthrough"), rx(`^summary by coderabbit$`, "summary by coderabbit"), rx(`^actions? performed$`, " performed"), rx(`^review triggered\b`, "review triggered"), rx(`^review completed$`, "review completed")},
		commit:     rx(`\bbetween [0-9a-f]{7,64} and ([0-9a-f]{7,64})\b`, "between "),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "codex", Preset: "codex", Author: "chatgpt-codex-connector[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@codex review"},
			Guard:   []string{"AGENTS.md", "**/AGENTS.md", ".codex/**"},
		},
		note:  "auto: a COMMENTED review with inline comments objects; the comment \"Codex Review: Didn't find any major issues\" approves once none of its threads is open; reactions are not read",
		marks: []string{"codex"},
		clean: []pattern{rx(`^codex review: ?didn't find any major issues[.!](?: .{0,80})?$`, "didn't find any")},
		notices: []shape{
			{rx(`^you have reached your codex usage limits?\b`, "your codex usage"), quorum.Limited, quorum.ReasonQuota},
			{rx(`^codex usage limits? (?:have|has) been reached\b`, "codex usage"), quorum.Limited, quorum.ReasonQuota},
			{rx(`^credits must be used\b`, "credits must"), quorum.Limited, quorum.ReasonQuota},
			{rx(`^to use codex here, (?:create|connect|set up)\b`, "to use codex"), quorum.Failed, quorum.ReasonInvalid},
			{rx(`^(?:codex review: )?something went wrong\b.{0,200}\bthis workspace is deactivated\b`, "workspace is deactivated"), quorum.Failed, quorum.ReasonInvalid},
			{rx(`^(?:codex review: )?something went wrong\b`, "something went wrong"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^codex couldn't complete this request\b`, "codex couldn't"), quorum.Overloaded, quorum.ReasonOverloaded},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "codex-action", Preset: "codex-action", Events: workflowEvents, Author: actionsBot, Verdict: format(quorum.JSON), FailureMeans: quorum.MeansUnavailable,
			Guard: []string{"AGENTS.md", "**/AGENTS.md", ".codex/**", ".github/codex/**"},
		},
		note:     "json: one object with overall_correctness (\"patch is correct\", \"patch is incorrect\") and findings; an empty final message posts nothing",
		workflow: true,
	},
	{
		reviewer: quorum.Reviewer{
			Name: "claude-action", Preset: "claude-action", Events: workflowEvents, Author: "claude[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Guard: []string{"CLAUDE.md", "**/CLAUDE.md", ".claude/**", ".mcp.json"},
		},
		note:     "auto: \"Ready to merge? …\" as your prompt asks for, or the review plugin's \"No issues found\"; a comment that only says it finished is no verdict; with github_token its author is github-actions[bot]",
		workflow: true,
		clean:    []pattern{rx(`^no issues found\. checked for bugs and claude\.md compliance\.?$`, "no issues found")},
		working:  []pattern{rx(`^claude(?: code)? is working\b`, "is working"), rx(`^i'll (?:work on|review|analyze) (?:this|the|your)\b`, "i'll ")},
		notices: []shape{
			{rx(`^claude encountered an error\b`, "claude encountered"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^credit balance is too low\b`, "credit balance"), quorum.Failed, quorum.ReasonBilling},
			{rx(`^(?:skipping action|action skipped) due to workflow validation\b`, "workflow validation"), quorum.Declined, quorum.ReasonDeclined},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "claude-review", Preset: "claude-review", Author: "claude[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@claude review"},
			Guard:   []string{"CLAUDE.md", "**/CLAUDE.md", "REVIEW.md"},
		},
		note:    "auto: Claude Code Review's inline comments object; \"No issues found\" approves; its check run is neutral whatever it found and says nothing",
		clean:   []pattern{rx(`^no issues found\. checked for bugs and claude\.md compliance\.?$`, "no issues found")},
		working: []pattern{rx(`^claude(?: code)? is (?:working|reviewing)\b`, "is working", "is reviewing")},
		notices: []shape{
			{rx(`^claude encountered an error\b`, "claude encountered"), quorum.Overloaded, quorum.ReasonOverloaded},
			{rx(`^(?:code )?review (?:was )?skipped\b`, "skipped"), quorum.Declined, quorum.ReasonDeclined},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "gemini-cli", Preset: "gemini-cli", Events: workflowEvents, Author: actionsBot, Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Guard: []string{"GEMINI.md", "**/GEMINI.md", ".gemini/**", ".github/commands/**"},
		},
		note:     "auto: its shipped prompt asks for no verdict, so add \"Ready to merge? Yes | No | With fixes\" to it; inline comments object",
		workflow: true,
		working:  []pattern{rx(`^hi @?[\w.\[\]-]+, i've received your request\b`, "i've received your request")},
		notices: []shape{
			{rx(`^i'm sorry @?[\w.\[\]-]+, but i was unable to process your request\b`, "unable to process"), quorum.Overloaded, quorum.ReasonOverloaded},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "qodo", Preset: "qodo", Author: "qodo-code-review[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "/review"},
			Guard:   []string{".pr_agent.toml", "best_practices.md"},
		},
		note:    "auto: \"No major issues detected\" approves; its guide of observations alone is no verdict",
		marks:   []string{"pr reviewer guide", "code review by qodo", "ready to merge", "verdict"},
		clean:   []pattern{rx(`^no major issues detected\.?$`, "no major issues")},
		working: []pattern{rx(`^preparing review\b`, "preparing review")},
		notices: []shape{
			{rx(`^incremental review skipped\b`, "incremental review"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^reviews? (?:are|is) paused\b`, "paused"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^failed to review pr\b`, "failed to review"), quorum.Overloaded, quorum.ReasonOverloaded},
		},
		otherTexts: []pattern{rx(`^pr summary by qodo\b`, "pr summary"), rx(`^pr code suggestions\b`, "pr code suggestions"), rx(`^pr description updated\b`, "pr description")},
		commit:     rx(`\breview updated until commit (?:https?://[^ ()]{1,200}/commits?/)?([0-9a-f]{7,64})\b`, "review updated until"),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "sourcery", Preset: "sourcery", Author: "sourcery-ai[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "@sourcery-ai review"},
			Guard:   []string{".sourcery.yaml"},
		},
		note:         "auto: a COMMENTED review; its issues and inline comments object, \"your changes look great\" approves",
		counts:       []pattern{rx(`^hey[^a-z]{1,6}i've found (\d{1,4}|no) issues?\b.*$`, "i've found")},
		clean:        []pattern{rx(`^hey[^a-z]{1,6}i've reviewed your changes and they look great!?$`, "i've reviewed your changes")},
		countsInline: true,
		notices: []shape{
			{rx(`^sorry @?[\w.\[\]-]+, you(?:'ve| have) (?:used|reached|exceeded)\b`, "sorry "), quorum.Limited, quorum.ReasonQuota},
			{rx(`^sorry(?: @?[\w.\[\]-]+)?, (?:we are|we're) unable to review this pull request\b`, "unable to review"), quorum.Declined, quorum.ReasonTooLarge},
			{rx(`^sorry(?: @?[\w.\[\]-]+)?, your pull request is (?:larger|too large)\b`, "your pull request"), quorum.Declined, quorum.ReasonTooLarge},
			{rx(`^the github api does not allow us to fetch diffs\b`, "the github api"), quorum.Declined, quorum.ReasonTooLarge},
		},
		otherTexts: []pattern{rx(`^reviewer's guide\b`, "reviewer's guide")},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "greptile", Preset: "greptile", Author: "greptile-apps[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "@greptileai review"},
			Guard:   []string{"greptile.json", ".greptile/**"},
		},
		note:        "auto: Confidence Score 5/5 approves, 4/5 too if no thread of its is open, less objects; inline comments object; its check run shows only that it ended",
		marks:       []string{"greptile summary", "greptile overview", "greptile review"},
		scored:      true,
		listsPlaces: true,
		notices: []shape{
			{rx(`^@?[\w.\[\]-]+ has reached the \d+-(?:credit|review) limit\b`, "has reached the "), quorum.Limited, quorum.ReasonQuota},
			{rx(`^(?:your )?free trial has ended\b`, "free trial"), quorum.Failed, quorum.ReasonBilling},
			{rx(`^too many files\b`, "too many files"), quorum.Declined, quorum.ReasonTooLarge},
		},
		commit: rx(`\blast reviewed commit: ?\[[^\[\]]{0,200}\]\(https?://[^ ()]{1,200}/commits?/([0-9a-f]{7,64})\b`, "last reviewed commit"),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "bugbot", Preset: "bugbot", Check: "Cursor Bugbot", App: "cursor", Author: "cursor[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "bugbot run"},
			Guard:   []string{".cursor/BUGBOT.md", "**/.cursor/BUGBOT.md", ".cursor/rules/**"},
		},
		note:         "auto: the number of issues in its check run's summary, whatever the conclusion; none approves once none of its threads is open",
		marks:        []string{"bugbot"},
		countsInline: true,
		counts: []pattern{
			rx(`^final result: bugbot completed review and found (\d{1,4}|no) (?:new )?(?:potential )?(?:issues?|bugs?)\b.*$`, "final result"),
			rx(`^(?:cursor )?bugbot (?:completed review|has reviewed your changes|reviewed your changes) and found (\d{1,4}|no) (?:new )?(?:potential )?(?:issues?|bugs?)\b.*$`, "and found "),
		},
		notices: []shape{
			{rx(`^skipping bugbot: unable to authenticate\b`, "skipping bugbot"), quorum.Failed, quorum.ReasonCredentials},
			{rx(`^skipping bugbot: .{0,80}\b(?:usage|spend|limit)\b`, "skipping bugbot"), quorum.Limited, quorum.ReasonQuota},
			{rx(`^skipping bugbot\b`, "skipping bugbot"), quorum.Declined, quorum.ReasonDeclined},
			{rx(`^bugbot (?:couldn't|could not|failed to) (?:run|review|complete)\b`, "bugbot "), quorum.Overloaded, quorum.ReasonOverloaded},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "gemini-code-assist", Preset: "gemini-code-assist", Author: "gemini-code-assist[bot]", Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, Retired: true,
			Guard: []string{".gemini/**"},
		},
		note:          "retired: the service ended on 2026-07-17; always Unavailable, remove it from the policy",
		noticesQuoted: true,
		notices: []shape{
			{rx(`^the consumer version of gemini code assist on github has been sunset\b`, "the consumer version"), quorum.Declined, quorum.ReasonRetired},
		},
	},
}
