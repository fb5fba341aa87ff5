package review

// This file is the table of the reviewers that the coordinator knows: their accounts on GitHub, how they are asked, and
// the sentences with which they approve, object, or say that there was no review. A sentence is anchored at both ends or
// at its beginning; it is written in lower case, without Markdown.

import "github.com/review-coordinator/coordinator/internal/quorum"

func format(k quorum.FormatKind) quorum.Format { return quorum.Format{Kind: k} }

var presets = []preset{
	{
		reviewer: quorum.Reviewer{
			Name: "copilot", Preset: "copilot", Author: "copilot-pull-request-reviewer[bot]",
			Verdict: format(quorum.ReviewState), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Login: "copilot-pull-request-reviewer[bot]"},
			Guard:   copilotGuard,
		},
		note: "review-state: always a COMMENTED review; its inline comments object, " +
			"\"generated no new comments\" approves once none of its threads is open",
		marks:        []string{"copilot"},
		listsPlaces:  true,
		countsInline: true,
		counts: []pattern{
			rx(
				`^copilot reviewed [1-9]\d* out of \d+ changed files? in this pull request and generated (\w+) (?:new )?comments?\.?$`,
				"copilot reviewed ",
			),
		},
		notices: messageTable{
			{
				inLine, rx(`^copilot encountered an error and was unable to review this pull request\b`, "copilot encountered"),
				quorum.Overloaded, quorum.ReasonOverloaded,
				`Copilot encountered an error and was unable to review this pull request. Ask it once more.`,
			},
			{
				inLine, rx(`^copilot was unable to review this pull request`+
					` because the user who requested the review has reached (?:their|its) quota\b`,
					"reached their quota", "reached its quota"),
				quorum.Limited, quorum.ReasonQuota,
				`Copilot was unable to review this pull request because the user who requested the review has reached their quota.`,
			},
			{
				inLine, rx(`^copilot (?:was unable|wasn't able) to review (?:any files in )?this pull request`+
					`\b.{0,40}\b(?:too (?:large|many)|exceeds)\b`, "copilot was"),
				quorum.Declined, quorum.ReasonTooLarge,
				`Copilot wasn't able to review this pull request because it has too many lines.`,
			},
			{
				inLine, rx(`^copilot (?:wasn't able|was not able|was unable) to review any files in this pull request\b`, "copilot was"),
				quorum.Declined, quorum.ReasonDeclined,
				`Copilot wasn't able to review any files in this pull request, which has none.`,
			},
			{
				inLine, rx(`^copilot was unable to review this pull request\b`, "copilot was unable"), quorum.Unknown, quorum.ReasonUnknown,
				`Copilot was unable to review this pull request for a reason of its own.`,
			},
			{
				inLine, rx(`^copilot reviewed 0 out of \d+ changed files\b`, "copilot reviewed 0"), quorum.Empty, quorum.ReasonEmpty,
				`Copilot reviewed 0 out of 4 changed files in this pull request.`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "coderabbit", Preset: "coderabbit", Author: "coderabbitai[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@coderabbitai review"},
			Obeys:   []string{"approve", "resolve", "dismiss"}, // docs.coderabbit.ai: no permission is named
			Guard:   coderabbitGuard,
		},
		note: "auto: \"Actionable comments posted: N\" or \"No actionable comments were generated\"; " +
			"none approves once none of its threads is open; its commit status says nothing",
		marks:         []string{"coderabbit", "actionable comments", "reviews paused"},
		noticesQuoted: true,
		countsInline:  true,
		counts:        []pattern{rx(`^actionable comments posted: ?(\d{1,4})$`, "actionable comments posted")},
		hiddenCounts:  []pattern{rx(`^outside diff range comments ?\((\d{1,4})\)$`, "outside diff range")},
		clean:         []pattern{rx(`^no actionable comments were generated in the recent review\b.*$`, "no actionable comments")},
		notices: messageTable{
			{
				inComment, rx(`rate limited by coderabbit\.ai`, "rate limited by coderabbit.ai"), quorum.Limited, quorum.ReasonRateLimit,
				"<!-- comment: rate limited by coderabbit.ai -->\nMore of this account's reviews have to wait.",
			},
			{
				inComment, rx(`skip review by coderabbit\.ai`, "skip review by coderabbit.ai"), quorum.Declined, quorum.ReasonDeclined,
				"<!-- comment: skip review by coderabbit.ai -->\nThis branch is left alone.",
			},
			{
				inComment, rx(`review paused by coderabbit\.ai`, "review paused by coderabbit.ai"), quorum.Declined, quorum.ReasonDeclined,
				"<!-- comment: review paused by coderabbit.ai -->\nThere are many new commits.",
			},
			{
				inComment, rx(`failure by coderabbit\.ai`, "failure by coderabbit.ai"), quorum.Overloaded, quorum.ReasonOverloaded,
				"<!-- comment: failure by coderabbit.ai -->\nIt came to no end.",
			},
			{
				inLine, rx(`^(?:rate limit exceeded|review rate limited|review limit reached)\b`, "limit"),
				quorum.Limited, quorum.ReasonRateLimit,
				`> ## Rate limit exceeded: no more today`,
			},
			{
				inLine, rx(`^@?[\w.\[\]-]+,? (?:has|have|you have) exceeded the limit for the number of (?:commits|files)\b`,
					"exceeded the limit"),
				quorum.Limited, quorum.ReasonRateLimit,
				`> @octo has exceeded the limit for the number of commits in an hour.`,
			},
			{
				inLine, rx(`^too many files\b`, "too many files"), quorum.Declined, quorum.ReasonTooLarge,
				`> ## Too many files!`,
			},
			{
				inLine, rx(`^the head commit changed during the review\b`, "the head commit changed"),
				quorum.Overloaded, quorum.ReasonOverloaded,
				`> The head commit changed during the review.`,
			},
			{
				inLine, rx(`^review failed$|^review failed:`, "review failed"), quorum.Overloaded, quorum.ReasonOverloaded,
				`> ## Review failed`,
			},
			{
				inLine, rx(`^review skipped(?:$|\W)`, "review skipped"), quorum.Declined, quorum.ReasonDeclined,
				`> ## Review skipped: a draft`,
			},
			{
				inLine, rx(`^reviews? paused(?:$|\W)`, "paused"), quorum.Declined, quorum.ReasonDeclined,
				`> ## Reviews paused: many commits`,
			},
			{
				inLine, rx(`^auto reviews are (?:limited|disabled)\b`, "auto reviews are"), quorum.Declined, quorum.ReasonDeclined,
				`> Auto reviews are disabled in this repository.`,
			},
			{
				inLine, rx(`^(?:the )?(?:pull request|pr) (?:was |is )?closed or merged during review\b`+
					`|^closed or merged during review\b`, "closed or merged"),
				quorum.Declined, quorum.ReasonDeclined,
				`> The pull request was closed or merged during review.`,
			},
		},
		working: []pattern{
			rx(`^review (?:queued|in progress)\b`, "review queued", "review in progress"),
			rx(`^currently (?:processing|reviewing) new changes\b`, "currently"),
			rx(`^note:? currently processing\b`, "currently processing"),
		},
		replyMark: "auto-generated reply by coderabbit",
		otherTexts: []pattern{
			rx(`^walkthrough$`, "walkthrough"),
			rx(`^summary by coderabbit$`, "summary by coderabbit"),
			rx(`^actions? performed$`, " performed"),
			rx(`^review triggered\b`, "review triggered"),
			rx(`^review completed$`, "review completed"),
		},
		commit: rx(`\bbetween [0-9a-f]{7,64} and ([0-9a-f]{7,64})\b`, "between "),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "codex", Preset: "codex", Author: "chatgpt-codex-connector[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@codex review"},
			Guard:   codexGuard,
		},
		note: "auto: a COMMENTED review with inline comments objects; " +
			"the comment \"Codex Review: Didn't find any major issues\" approves once none of its threads is open; " +
			"reactions are not read",
		marks: []string{"codex"},
		clean: []pattern{rx(`^codex review: ?didn't find any major issues[.!](?: .{0,80})?$`, "didn't find any")},
		notices: messageTable{
			{
				inLine, rx(`^you have reached your codex usage limits?\b`, "your codex usage"), quorum.Limited, quorum.ReasonQuota,
				`You have reached your Codex usage limits.`,
			},
			{
				inLine, rx(`^codex usage limits? (?:have|has) been reached\b`, "codex usage"), quorum.Limited, quorum.ReasonQuota,
				`Codex usage limits have been reached for reviews of code.`,
			},
			{
				inLine, rx(`^credits must be used\b`, "credits must"), quorum.Limited, quorum.ReasonQuota,
				`Credits must be used for more.`,
			},
			{
				inLine, rx(`^to use codex here, (?:create|connect|set up)\b`, "to use codex"), quorum.Failed, quorum.ReasonInvalid,
				`To use Codex here, create an environment.`,
			},
			{
				inLine, rx(`^(?:codex review: )?something went wrong\b.{0,200}\bthis workspace is deactivated\b`,
					"workspace is deactivated"),
				quorum.Failed, quorum.ReasonInvalid,
				`Codex Review: Something went wrong. This workspace is deactivated`,
			},
			{
				inLine, rx(`^(?:codex review: )?something went wrong\b`, "something went wrong"),
				quorum.Overloaded, quorum.ReasonOverloaded,
				`Codex Review: Something went wrong, so that nothing was read.`,
			},
			{
				inLine, rx(`^codex couldn't complete this request\b`, "codex couldn't"), quorum.Overloaded, quorum.ReasonOverloaded,
				`Codex couldn't complete this request.`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "codex-action", Preset: "codex-action", Events: quorum.DefaultEvents(), Author: quorum.ActionsBot,
			Verdict: format(quorum.JSON), FailureMeans: quorum.MeansUnavailable,
			Guard: codexActionGuard,
		},
		note: "json: one object with overall_correctness (\"patch is correct\", \"patch is incorrect\") and findings; " +
			"an empty final message posts nothing",
		workflow: true,
	},
	{
		reviewer: quorum.Reviewer{
			Name: "claude-action", Preset: "claude-action", Events: quorum.DefaultEvents(), Author: "claude[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Guard: claudeActionGuard,
		},
		note: "auto: \"Ready to merge? …\" as your prompt asks for, or the review plugin's \"No issues found\"; " +
			"a comment that only says it finished is no verdict; " +
			"with github_token its author is github-actions[bot]",
		workflow: true,
		clean:    []pattern{rx(`^no issues found\. checked for bugs and claude\.md compliance\.?$`, "no issues found")},
		working: []pattern{
			rx(`^claude(?: code)? is working\b`, "is working"),
			rx(`^i'll (?:work on|review|analyze) (?:this|the|your)\b`, "i'll "),
		},
		notices: messageTable{
			{
				inLine, rx(`^claude encountered an error\b`, "claude encountered"), quorum.Overloaded, quorum.ReasonOverloaded,
				`**Claude encountered an error** after 2m`,
			},
			{
				inLine, rx(`^credit balance is too low\b`, "credit balance"), quorum.Failed, quorum.ReasonBilling,
				`Credit balance is too low`,
			},
			{
				inLine, rx(`^(?:skipping action|action skipped) due to workflow validation\b`, "workflow validation"),
				quorum.Declined, quorum.ReasonDeclined,
				`Action skipped due to workflow validation of this branch`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "claude-review", Preset: "claude-review", Author: "claude[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "@claude review"},
			Guard:   claudeReviewGuard,
		},
		note: "auto: Claude Code Review's inline comments object; \"No issues found\" approves; " +
			"its check run is neutral whatever it found and says nothing",
		clean:   []pattern{rx(`^no issues found\. checked for bugs and claude\.md compliance\.?$`, "no issues found")},
		working: []pattern{rx(`^claude(?: code)? is (?:working|reviewing)\b`, "is working", "is reviewing")},
		notices: messageTable{
			{
				inLine, rx(`^claude encountered an error\b`, "claude encountered"), quorum.Overloaded, quorum.ReasonOverloaded,
				`Claude encountered an error while it was reading`,
			},
			{
				inLine, rx(`^(?:code )?review (?:was )?skipped\b`, "skipped"), quorum.Declined, quorum.ReasonDeclined,
				`Code review skipped (a draft)`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "gemini-cli", Preset: "gemini-cli", Events: quorum.DefaultEvents(), Author: quorum.ActionsBot,
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Guard: geminiCLIGuard,
		},
		note: "auto: its shipped prompt asks for no verdict, so add \"Ready to merge? Yes | No | With fixes\" to it; " +
			"inline comments object",
		workflow: true,
		working:  []pattern{rx(`^hi @?[\w.\[\]-]+, i've received your request\b`, "i've received your request")},
		notices: messageTable{
			{
				inLine, rx(`^i'm sorry @?[\w.\[\]-]+, but i was unable to process your request\b`, "unable to process"),
				quorum.Overloaded, quorum.ReasonOverloaded,
				`🤖 I'm sorry @octo, but I was unable to process your request.`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "qodo", Preset: "qodo", Author: "qodo-code-review[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "/review"},
			Guard:   qodoGuard,
		},
		note:    "auto: \"No major issues detected\" approves; its guide of observations alone is no verdict",
		marks:   []string{"pr reviewer guide", "code review by qodo", "ready to merge", "verdict"},
		clean:   []pattern{rx(`^no major issues detected\.?$`, "no major issues")},
		working: []pattern{rx(`^preparing review\b`, "preparing review")},
		notices: messageTable{
			{
				inLine, rx(`^incremental review skipped\b`, "incremental review"), quorum.Declined, quorum.ReasonDeclined,
				`Incremental review skipped: nothing is new`,
			},
			{
				inLine, rx(`^reviews? (?:are|is) paused\b`, "paused"), quorum.Declined, quorum.ReasonDeclined,
				`Reviews are paused for this branch`,
			},
			{
				inLine, rx(`^failed to review pr\b`, "failed to review"), quorum.Overloaded, quorum.ReasonOverloaded,
				`Failed to review PR`,
			},
		},
		otherTexts: []pattern{
			rx(`^pr summary by qodo\b`, "pr summary"),
			rx(`^pr code suggestions\b`, "pr code suggestions"),
			rx(`^pr description updated\b`, "pr description"),
		},
		commit: rx(`\breview updated until commit (?:https?://[^ ()]{1,200}/commits?/)?([0-9a-f]{7,64})\b`, "review updated until"),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "sourcery", Preset: "sourcery", Author: "sourcery-ai[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "@sourcery-ai review"},
			Guard:   sourceryGuard,
		},
		note:         "auto: a COMMENTED review; its issues and inline comments object, \"your changes look great\" approves",
		counts:       []pattern{rx(`^hey[^a-z]{1,6}i've found (\d{1,4}|no) issues?\b.*$`, "i've found")},
		clean:        []pattern{rx(`^hey[^a-z]{1,6}i've reviewed your changes and they look great!?$`, "i've reviewed your changes")},
		countsInline: true,
		notices: messageTable{
			{
				inLine, rx(`^sorry @?[\w.\[\]-]+, you(?:'ve| have) (?:used|reached|exceeded)\b`, "sorry "),
				quorum.Limited, quorum.ReasonQuota,
				`Sorry @octo, you have used all of your reviews`,
			},
			{
				inLine, rx(`^sorry(?: @?[\w.\[\]-]+)?, (?:we are|we're) unable to review this pull request\b`, "unable to review"),
				quorum.Declined, quorum.ReasonTooLarge,
				`Sorry @octo, we're unable to review this pull request`,
			},
			{
				inLine, rx(`^sorry(?: @?[\w.\[\]-]+)?, your pull request is (?:larger|too large)\b`, "your pull request"),
				quorum.Declined, quorum.ReasonTooLarge,
				`Sorry @octo, your pull request is too large`,
			},
			{
				inLine, rx(`^the github api does not allow us to fetch diffs\b`, "the github api"), quorum.Declined, quorum.ReasonTooLarge,
				`The GitHub API does not allow us to fetch diffs of this size`,
			},
		},
		otherTexts: []pattern{rx(`^reviewer's guide\b`, "reviewer's guide")},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "greptile", Preset: "greptile", Author: "greptile-apps[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable,
			Request: quorum.Request{Comment: "@greptileai review"},
			Guard:   greptileGuard,
		},
		note: "auto: Confidence Score 5/5 approves, 4/5 too if no thread of its is open, less objects; " +
			"inline comments object; its check run shows only that it ended",
		marks:       []string{"greptile summary", "greptile overview", "greptile review"},
		scored:      true,
		listsPlaces: true,
		notices: messageTable{
			{
				inLine, rx(`^@?[\w.\[\]-]+ has reached the \d+-(?:credit|review) limit\b`, "has reached the "),
				quorum.Limited, quorum.ReasonQuota,
				`@octo has reached the 50-review limit`,
			},
			{
				inLine, rx(`^(?:your )?free trial has ended\b`, "free trial"), quorum.Failed, quorum.ReasonBilling,
				`Your free trial has ended.`,
			},
			{
				inLine, rx(`^too many files\b`, "too many files"), quorum.Declined, quorum.ReasonTooLarge,
				`Too many files changed`,
			},
		},
		commit: rx(
			`\blast reviewed commit: ?\[[^\[\]]{0,200}\]\(https?://[^ ()]{1,200}/commits?/([0-9a-f]{7,64})\b`,
			"last reviewed commit",
		),
	},
	{
		reviewer: quorum.Reviewer{
			Name: "bugbot", Preset: "bugbot", Check: "Cursor Bugbot", App: "cursor", Author: "cursor[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, OnlyNew: true,
			Request: quorum.Request{Comment: "bugbot run"},
			Guard:   bugbotGuard,
		},
		note: "auto: the number of issues in its check run's summary, whatever the conclusion; " +
			"none approves once none of its threads is open",
		marks:        []string{"bugbot"},
		countsInline: true,
		counts: []pattern{
			rx(
				`^final result: bugbot completed review and found (\d{1,4}|no) (?:new )?(?:potential )?(?:issues?|bugs?)\b.*$`,
				"final result",
			),
			rx(
				`^(?:cursor )?bugbot (?:completed review|has reviewed your changes|reviewed your changes)`+
					` and found (\d{1,4}|no) (?:new )?(?:potential )?(?:issues?|bugs?)\b.*$`,
				"and found ",
			),
		},
		notices: messageTable{
			{
				inLine, rx(`^skipping bugbot: unable to authenticate\b`, "skipping bugbot"), quorum.Failed, quorum.ReasonCredentials,
				`Skipping Bugbot: Unable to authenticate this request.`,
			},
			{
				inLine, rx(`^skipping bugbot: .{0,80}\b(?:usage|spend|limit)\b`, "skipping bugbot"), quorum.Limited, quorum.ReasonQuota,
				`Skipping Bugbot: the usage limit of this team is reached`,
			},
			{
				inLine, rx(`^skipping bugbot\b`, "skipping bugbot"), quorum.Declined, quorum.ReasonDeclined,
				`Skipping Bugbot: not in this repository`,
			},
			{
				inLine, rx(`^bugbot (?:couldn't|could not|failed to) (?:run|review|complete)\b`, "bugbot "),
				quorum.Overloaded, quorum.ReasonOverloaded,
				`Bugbot couldn't run on this change`,
			},
		},
	},
	{
		reviewer: quorum.Reviewer{
			Name: "gemini-code-assist", Preset: "gemini-code-assist", Author: "gemini-code-assist[bot]",
			Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, Retired: true,
			Guard: []string{".gemini/**"},
		},
		note:          "retired: the service ended on 2026-07-17; always Unavailable, remove it from the policy",
		noticesQuoted: true,
	},
}
