package review

// This file is the table of the notices that reviewers without a preset post instead of a review. Each row has an
// example, which a test reads, and which nothing but this row recognises.

import "github.com/review-coordinator/coordinator/internal/quorum"

// generalNotices are tried in this order on one line, and the first that matches counts.
var generalNotices = messageTable{
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,4}(?:api )?(?:timeout|timed out)[.!]?$`, "timeout", "timed out"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`The request timed out.`,
	},
	{
		inLine, rx(`^(?:the )?(?:[\w.'-]+ ){0,4}(?:service|api|model|server)`+
			` is (?:temporarily |currently )?(?:unavailable|overloaded|down)\b.*$`,
			"unavailable", "overloaded", "down"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`The model is currently overloaded, so that there is no review.`,
	},
	{
		inLine, rx(`^(?:http )?(?:5\d\d )?(?:service (?:temporarily )?unavailable|internal server error|bad gateway|gateway time-?out)[.!]?$`,
			"service unavailable", "temporarily unavailable", "internal server error", "gateway"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`503 Service Unavailable`,
	},
	{
		inLine, rx(`^(?:you are |you're |we are |we're )?out of (?:review )?(?:credits?|quota|tokens)[.!]?$`, "credit", "quota", "tokens"),
		quorum.Limited, quorum.ReasonQuota,
		`Out of credits`,
	},
	{
		inLine, rx(`^api error: .{0,60}(?:overloaded|temporarily limiting requests|connection .{0,20}closed|timed? ?out).*$`,
			"api error: "),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`API Error: the connection was closed before the answer ended`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}(?:api )?rate limit (?:was |has been |is )?(?:exceeded|reached|hit)(?:$|[.!:,;].*$| for .*$)`,
			"rate limit "),
		quorum.Limited, quorum.ReasonRateLimit,
		`API rate limit exceeded.`,
	},
	{
		inLine, rx(`^review (?:rate )?limit(?:ed| reached| exceeded)\b.*$`, "review limit", "review rate limit"),
		quorum.Limited, quorum.ReasonRateLimit,
		`Review limit reached for this week`,
	},
	{
		inLine, rx(`^(?:sorry,? )?(?:@?[\w.\[\]-]+,? )?(?:you have|you've|has)`+
			` (?:reached|exceeded|hit|used up) (?:your|the|its) .{0,80}\b(?:rate limit|usage limits?|quota|limit|budget)\b.*$`,
			"limit", "quota", "budget"),
		quorum.Limited, quorum.ReasonQuota,
		`Sorry, you have used up your weekly review budget.`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}(?:quota|usage limits?) (?:was |has been |have been |is )?(?:exceeded|exhausted|reached)`+
			`(?:$|[.!:,;].*$| for .*$)`,
			"quota ", "usage limit"),
		quorum.Limited, quorum.ReasonQuota,
		`Daily quota exhausted.`,
	},
	{
		inLine, rx(`^(?:your )?credit balance is too low\b.*$`, "credit balance is too low"), quorum.Failed, quorum.ReasonBilling,
		`Credit balance is too low to go on`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}(?:authentication|authorization) failed[.:!]?(?: .{0,200})?$`,
			"authentication failed", "authorization failed"),
		quorum.Failed, quorum.ReasonCredentials,
		`Authentication failed: the token is unknown`,
	},
	{
		inLine, rx(`^(?:the )?(?:[\w.'-]+ ){0,2}api key (?:is |was )?(?:invalid|not valid|expired|revoked|rejected)\b.*$`+
			`|^(?:invalid|incorrect) api key\b.*$`, "api key"),
		quorum.Failed, quorum.ReasonCredentials,
		`The API key was rejected by the provider`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}(?:budget|max(?:imum)? turns|turn limit) (?:was |is )?(?:exhausted|exceeded|reached)\b.*$`,
			"budget ", "turns ", "turn limit "),
		quorum.Failed, quorum.ReasonBudget,
		`Token budget was exhausted after 12 files`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}review (?:was |is )?skipped\b.{0,40}\b(?:no (?:api )?key|no secrets?|fork|secret).*$`+
			`|^no (?:[\w-]+ )?(?:api key|secrets?) (?:is |are )?(?:available|configured|set)\b.*$`+
			`|^pr is from a fork\b.*$|^cannot review fork\b.*$`,
			"skipped", "api key", "secret", "from a fork", "review fork"),
		quorum.Declined, quorum.ReasonNoSecrets,
		`Review skipped: no API key`,
	},
	{
		inLine, rx(`^(?:sorry,? )?(?:too many files|(?:this )?(?:pull request|pr|diff|change) is too (?:large|big)`+
			`|we are unable to review this pull request)\b.*$`,
			"too many files", "is too large", "is too big", "unable to review"),
		quorum.Declined, quorum.ReasonTooLarge,
		`This pull request is too large to be reviewed`,
	},
	{
		inLine, rx(`^(?:[\w.'-]+ ){0,3}review (?:was |is )?skipped[.!]?$`+
			`|^(?:[\w.'-]+ ){0,3}review (?:was |is )?skipped ?(?::|-|–|—|because|as|since)(?: .{0,300})?$`+
			`|^skipp(?:ing|ed) (?:the |this |code )*(?:review|pull request|pr)\b.*$`,
			"skipped", "skipping"),
		quorum.Declined, quorum.ReasonDeclined,
		`Review skipped because this is a draft`,
	},
	{
		inLine, rx(`^(?:the )?(?:[\w.'-]+ ){0,2}(?:review(?: file)?|response|answer|output) (?:is|was|came back) empty\b.*$`+
			`|^(?:the )?(?:[\w.'-]+ ){0,2}(?:model|api) returned (?:no content|an empty (?:response|answer))\b.*$`,
			"empty", "returned no content"),
		quorum.Empty, quorum.ReasonEmpty,
		`The model returned an empty response`,
	},
	{
		inLine, rx(`^(?:sorry,? )?i (?:was unable to|am unable to|couldn't|could not|can't|cannot|was not able to|wasn't able to)`+
			` (?:fetch|access|read|retrieve|load|see|open|find)`+
			` (?:the |any |this |your )?(?:\w+ )?(?:diff|changes?|files|pull request|pr|code|patch)\b.*$`,
			"able to", "couldn't", "could not", "can't", "cannot"),
		quorum.Empty, quorum.ReasonEmpty,
		`I was unable to fetch the diff of this pull request`,
	},
	{
		inLine, rx(`^(?:the )?(?:diff|patch) (?:was|is) (?:empty|missing|unavailable|not available)\b.*$`, "diff ", "patch "),
		quorum.Empty, quorum.ReasonEmpty,
		`The diff is not available.`,
	},
	{
		inLine, rx(`^error: (?:[\w.'-]+ ){0,3}rate limit\b.*$`, "rate limit"), quorum.Limited, quorum.ReasonRateLimit,
		`Error: the provider's rate limit`,
	},
	{
		inLine, rx(`^(?:reviewed )?0 (?:of \d+ )?files (?:were )?reviewed\b.*$`+
			`|^reviewed 0 (?:of \d+ )?files\b.*$|^.{0,80}\(0 tool uses\b.*$`,
			"0 of ", "0 files", "0 tool uses"),
		quorum.Empty, quorum.ReasonEmpty,
		`Reviewed 0 of 12 files`,
	},
}
