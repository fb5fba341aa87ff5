package review

// This file is the table of the notices that reviewers without a preset post instead of a review. Each row has an
// example, which a test reads, and which nothing but this row recognises.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Parts of notices: someWords is how one may begin; noticeEnd what may follow its words: a review of a rate limiter goes
// on otherwise.
const (
	someWords = `^(?:[\w.'-]+ ){0,4}`
	be        = ` (?:was |is |ha(?:s|ve) been )?`
	noticeEnd = `(?:$|[.!:,;|]| (?:for|or|by|provided|[·|–—-])(?:$|[ .:])| \()`
)

// generalNotices are tried in this order on one line, or on what stands in a line of a log behind a wrapper. The first
// that matches counts.
var generalNotices = slices.Concat(
	meaning(quorum.Overloaded, quorum.ReasonOverloaded,
		someWords+`(?:timeout|timed out)[.!]?$`, `The request timed out.`,
		someWords+`(?:service|api|model|server|engine)(?: is| temporarily| currently){1,2} (?:unavailable|overloaded|down)\b`,
		`The model is currently overloaded, so that there is no review.`,
		`^(?:http )?(?:5\d\d )?(?:service unavailable|internal server error|bad gateway|gateway time-?out)[.!]?$`,
		`503 Service Unavailable`,
		`^api error: .{0,60}(?:overloaded|temporarily limiting requests|connection .{0,20}closed|timed? ?out)`,
		`API Error: the connection was closed before the answer ended`,
	),
	meaning(quorum.Limited, quorum.ReasonRateLimit,
		someWords+`rate limit(?: of [\w ]{1,40})?`+be+`(?:exceeded|reached|hit)`+noticeEnd,
		`API rate limit exceeded.`,
		`^review (?:rate )?limit(?:ed| reached| exceeded)\b`, `Review limit reached for this week`,
	),
	meaning(quorum.Limited, quorum.ReasonQuota,
		`^(?:(?:you|we)(?: are|'re) )?out of (?:review )?(?:credits?|quota|tokens)[.!]?$`, `Out of credits`,
		`^(?:sorry,? )?(?:@?[\w.\[\]-]+,? )?(?:you have|you've|you|has) (?:reached|exceeded|hit|used up)`+
			` (?:your|the|its) .{0,80}\b(?:limits?|quota|budget)\b`,
		`Sorry, you have used up your weekly review budget.`,
		someWords+`(?:quota|usage limits?)`+be+`(?:exceeded|exhausted|reached|used up)`+noticeEnd, `Quota exhausted.`,
	),
	meaning(quorum.Failed, quorum.ReasonBilling,
		`^(?:your )?credit balance is too low\b`, `Credit balance is too low to go on`,
	),
	meaning(quorum.Failed, quorum.ReasonCredentials,
		someWords+`(?:authentication|authorization) failed`+noticeEnd, `Authentication failed: the token is unknown`,
		someWords+`api key`+be+`(?:invalid|not valid|not found|expired|revoked|rejected)`+noticeEnd,
		`The API key was rejected by the provider`,
		`^(?:invalid|incorrect) api key`+noticeEnd, `Incorrect API key provided: ***`,
	),
	meaning(quorum.Failed, quorum.ReasonBudget,
		someWords+`(?:budget|max(?:imum)? turns|turn limit)`+be+`(?:exhausted|exceeded|reached|used up)\b`,
		`Token budget was exhausted after 12 files`,
	),
	meaning(quorum.Declined, quorum.ReasonNoSecrets,
		someWords+`review`+be+`skipped\b.{0,40}\b(?:no (?:api )?key|no secrets?|fork|secret)`, `Review skipped: no API key`,
		`^skipping (?:the )?review: no (?:api )?key\b`, `Skipping review: no API key in this run`,
		`^no (?:[\w-]+ )?(?:api key|secrets?) (?:is |are )?(?:available|configured|set)\b`, `No API key is configured`,
		`^(?:this )?(?:pr|pull request) is from a fork\b`, `Error: this pull request is from a fork`,
		`^(?:cannot|can't|will not) review (?:prs from )?forks?\b`, `Cannot review forks: they have no key.`,
	),
	meaning(quorum.Declined, quorum.ReasonTooLarge,
		`^(?:sorry,? )?(?:too many files|(?:this |the )?(?:pull request|pr|diff|change) is too (?:large|big)`+
			`|we are unable to review this pull request)\b`,
		`This pull request is too large to be reviewed`,
	),
	meaning(quorum.Declined, quorum.ReasonDeclined,
		someWords+`review`+be+`skipped ?(?:[.!]?$|(?::|-|–|—|because|as|since)(?:$| ))`, `Review skipped: a draft`,
		`^skipp(?:ing|ed) (?:the |this |code )*(?:review|pull request|pr)\b`, `Skipping this pull request`,
	),
	meaning(quorum.Empty, quorum.ReasonEmpty,
		someWords+`(?:review(?: file)?|response|answer|output) (?:is|was|came back) empty\b`, `Review file is empty.`,
		someWords+`(?:model|api) returned (?:no content|an empty (?:response|answer))\b`, `API returned no content`,
		`^(?:sorry,? )?i (?:(?:was|am) unable to|couldn't|could not|can't|cannot|wasn't able to)`+
			` (?:fetch|access|read|retrieve|load|see|open|find)`+
			` (?:the |any |this |your )?(?:\w+ )?(?:diff|changes?|files|pull request|pr|code|patch)\b`,
		`I was unable to fetch the diff of this pull request`,
		`^(?:the )?(?:diff|patch) (?:was|is) (?:empty|missing|(?:un|not )available)\b`, `The diff is missing.`,
		`^(?:reviewed )?0 (?:of \d+ )?files (?:were )?reviewed\b|^reviewed 0 (?:of \d+ )?files\b`, `Reviewed 0 of 12 files`,
		`^.{0,80}\(0 tool uses\b`, `Done (0 tool uses · 0 tokens · 2s)`,
	),
)
