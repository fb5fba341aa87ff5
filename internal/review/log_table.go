package review

// This file is the table of the messages that explain in a log how a run failed. Each row has an example: lines of a log
// that a test reads, and that nothing but this row explains. Write the expression in small letters, from the start
// of the message; a vendor's name before the message belongs in levelPrefix (log.go).

import "github.com/review-coordinator/coordinator/internal/quorum"

// logMessages are tried in this order on one message, and the first that matches counts: the more particular comes first.
var logMessages = messageTable{
	// The reviewer would not.
	{
		inLog, rx(`^(?:this )?(?:pr|pull request) is from a fork\b`, "fork"), quorum.Declined, quorum.ReasonNoSecrets,
		`Error: this pull request is from a fork, which is given no secrets`,
	},
	{
		inLog, rx(`^(?:cannot|can't|will not) review (?:prs from )?forks?\b`, "fork"), quorum.Declined, quorum.ReasonNoSecrets,
		`::error::Cannot review forks: their runs have no access to the provider's key.`,
	},
	{
		inLog, rx(`^(?:[\w.-]+ )?(?:review )?skipp(?:ed|ing)(?: review)?: no (?:api )?key\b`, "key"),
		quorum.Declined, quorum.ReasonNoSecrets,
		`Skipping review: no API key in this run`,
	},
	{
		inLog, rx(`^(?:action skipped|skipping action|exiting) due to workflow validation\b`, "workflow validation"),
		quorum.Declined, quorum.ReasonDeclined,
		`Action skipped due to workflow validation: this file differs from the one on the default branch`,
	},
	{
		inLog, rx(`^no trigger found, skipping\b`, "no trigger found"), quorum.Declined, quorum.ReasonDeclined,
		`No trigger found, skipping the remaining steps`,
	},
	{
		inLog, rx(`^input required and not supplied: ?['"]?[\w. -]{0,60}(?:key|token|secret|credentials?|password)\b`,
			"input required and not supplied"),
		quorum.Declined, quorum.ReasonNoSecrets,
		`##[error]Input required and not supplied: octo_api_key`,
	},
	{
		inLog, rx(`^input required and not supplied\b`, "input required and not supplied"),
		quorum.Declined, quorum.ReasonDeclined,
		`Error: Input required and not supplied: review-focus`,
	},
	{
		inLog, rx(`^(?:(?:the|a|no|required|env|environment|variable|secret|input):? ){0,4}["'$]{0,2}\w{0,60}`+
			`(?:api[_-]key|_token|_secret)["'\x60]? (?:(?:environment |env )?variable |secret )?(?:is |was |were )?`+
			`(?:not (?:set|defined|configured|provided|supplied|found)|unset|empty|missing|required|undefined)`+
			`(?: *$|[.,;:!]| (?:in|for|but|to|-) )|^(?:the )?api key (?:is )?missing\b`,
			"api_key", "api-key", "_token", "_secret", "api key "),
		quorum.Declined, quorum.ReasonNoSecrets,
		`ValueError: OCTO_API_KEY environment variable is not set`,
	},
	{
		inLog, rx(`^missing (?:required )?(?:api key|`+
			`(?:environment variables?|env vars?|secrets?|inputs?):? ["'\x60]?\w{0,60}(?:api[_-]key|token|secret))\b`,
			"missing "),
		quorum.Declined, quorum.ReasonNoSecrets,
		`Error: Missing required environment variable: OCTO_API_KEY`,
	},
	{
		inLog, rx(`^keyerror: ["']\w{0,60}(?:api_key|_token|_secret)["']`, "keyerror"), quorum.Declined, quorum.ReasonNoSecrets,
		`KeyError: 'OCTO_API_KEY'`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,120} line \d{1,6}: )?\w{0,60}(?:api_key|_token|_secret): `+
			`(?:unbound variable|parameter null or not set)\b`,
			"unbound variable", "parameter null or not set"),
		quorum.Declined, quorum.ReasonNoSecrets,
		`./ask.sh: line 3: OCTO_API_KEY: unbound variable`,
	},
	{
		inLog, rx(`^(?:the api_key client option must be set|could not resolve authentication method)\b`,
			"the api_key client option", "authentication method"),
		quorum.Declined, quorum.ReasonNoSecrets,
		`openai.OpenAIError: The api_key client option must be set, by an argument or in the environment`,
	},

	// Money.
	{
		inLog, rx(`^(?:your )?credit balance is too low\b`, "credit balance"), quorum.Failed, quorum.ReasonBilling,
		`API Error: Credit balance is too low`,
	},
	{
		inLog, rx(`^the job was not started because recent account payments have failed\b`, "account payments"),
		quorum.Failed, quorum.ReasonBilling,
		`The job was not started because recent account payments have failed. See the billing settings.`,
	},
	{
		inLog, rx(`^(?:(?:type|code|reason)["']?: ?["']?)?insufficient_(?:quota|g1_credits_balance|funds|credits)\b`, "insufficient_"),
		quorum.Failed, quorum.ReasonBilling,
		`    "code": "insufficient_quota",`,
	},
	{
		inLog, rx(`^your (?:project|organization|workspace|account) has reached its (?:configured )?(?:enforced )?spend(?:ing)? limit\b`,
			"spend"),
		quorum.Failed, quorum.ReasonBilling,
		`Error: Your workspace has reached its configured spend limit.`,
	},
	{
		inLog, rx(`^quota exceeded\. check your plan and billing details\b`, "billing details"), quorum.Failed, quorum.ReasonBilling,
		`ERROR: Quota exceeded. Check your plan and billing details.`,
	},

	// Its own budget.
	{
		inLog, rx(`^(?:[\w$]+\.)*budget_?(?:exhausted|exceeded)(?:error|exception)?\b`, "budget"), quorum.Failed, quorum.ReasonBudget,
		`review.errors.BudgetExceededError: 2.10 of 2.00 dollars`,
	},
	{
		inLog, rx(`^(?:the )?(?:[\w-]+ ){0,3}budget (?:is |was |has been )?(?:exhausted|exceeded|used up)\b`, "budget"),
		quorum.Failed, quorum.ReasonBudget,
		`Error: the token budget was used up after 41 requests`,
	},
	{
		inLog, rx(`^(?:reached )?max(?:imum)?(?: number of)? turns\b(?:.{0,20}\b(?:reached|exceeded))?`, "turns"),
		quorum.Failed, quorum.ReasonBudget,
		`Error: Reached max turns (30)`,
	},
	{
		inLog, rx(`^(?:subtype["']?: ?["']?)?error_max_turns\b`, "error_max_turns"), quorum.Failed, quorum.ReasonBudget,
		`{"type":"result","subtype":"error_max_turns","is_error":true,"result":""}`,
	},
	{ // a step that used up its own time would use it up again: no outage, and not the runner's limit either
		inLog, rx(`^(?:[\w$]+\.)*executiontimeout(?:error|exception)(?:[":(]| *$)`, "executiontimeout"),
		quorum.Failed, quorum.ReasonBudget,
		`review.errors.ExecutionTimeoutError: the step took more than its 480 s`,
	},

	// Credentials.
	{
		inLog, rx(`^(?:invalid|incorrect) api key\b`, "api key"), quorum.Failed, quorum.ReasonCredentials,
		`Error: Invalid API key · check the secret of this workflow`,
	},
	{
		inLog, rx(`^api key (?:not valid|not found|is invalid|expired)\b`, "api key"), quorum.Failed, quorum.ReasonCredentials,
		`gemini: API key expired. Renew it and run this again.`,
	},
	{
		inLog, rx(`^(?:type["']?: ?["']?)?(?:authentication_error|authentication failed)\b`, "authentication"),
		quorum.Failed, quorum.ReasonCredentials,
		`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
	},
	{
		inLog, rx(`^(?:type["']?: ?["']?)?permission_error\b`, "permission_error"), quorum.Failed, quorum.ReasonCredentials,
		`{"type":"error","error":{"type":"permission_error","message":"this account may not use the model"}}`,
	},
	{
		inLog, rx(`^(?:code["']?: ?["']?)?invalid_api_key\b`, "invalid_api_key"), quorum.Failed, quorum.ReasonCredentials,
		`    "code": "invalid_api_key",`,
	},
	{
		inLog, rx(`^bad credentials\b`, "bad credentials"), quorum.Failed, quorum.ReasonCredentials,
		`HttpError: Bad credentials`,
	},
	{
		inLog, rx(`^could not fetch an oidc token\b`, "oidc token"), quorum.Failed, quorum.ReasonCredentials,
		`Error: Could not fetch an OIDC token: the job lacks the permission id-token: write`,
	},
	{
		inLog, rx(`^app token exchange failed: 40[13]\b`, "token exchange failed"), quorum.Failed, quorum.ReasonCredentials,
		`Error: App token exchange failed: 401 Unauthorized - the app is not installed here`,
	},
	{
		inLog, rx(`^resource not accessible by (?:integration|personal access token)\b`, "resource not accessible"),
		quorum.Failed, quorum.ReasonCredentials,
		`##[error]Resource not accessible by integration`,
	},

	// What it was given.
	{
		inLog, rx(`^actor does not have write permissions\b`, "write permissions"), quorum.Failed, quorum.ReasonInvalid,
		`##[error]Actor does not have write permissions to the repository`,
	},
	{
		inLog, rx(`^workflow initiated by non-human actor\b`, "non-human actor"), quorum.Failed, quorum.ReasonInvalid,
		`Error: Workflow initiated by non-human actor: a-bot (type: Bot)`,
	},
	{
		inLog, rx(`^prompt is too long\b`, "prompt is too long"), quorum.Failed, quorum.ReasonInvalid,
		`Error: Prompt is too long`,
	},
	{
		inLog, rx(`^(?:code["']?: ?["']?)?context_length_exceeded\b`, "context_length_exceeded"), quorum.Failed, quorum.ReasonInvalid,
		`    "code": "context_length_exceeded",`,
	},
	{
		inLog, rx(`^this model's maximum context length\b`, "context length"), quorum.Failed, quorum.ReasonInvalid,
		`Error: This model's maximum context length is 128000 tokens, and the messages have 131204.`,
	},
	{
		inLog, rx(`^(?:type["']?: ?["']?)?invalid_request_error\b`, "invalid_request_error"), quorum.Failed, quorum.ReasonInvalid,
		`    "type": "invalid_request_error",`,
	},
	{
		inLog, rx(`^(?:[\w$]+\.)*(?:\w{0,60}validation[_ ]?(?:errors?|exception)|zoderror)(?:[":(]| *$)`, "validation", "zoderror"),
		quorum.Failed, quorum.ReasonInvalid,
		`jsonschema.exceptions.ValidationError: 'verdict' is not of type 'string'`,
	},
	{
		inLog, rx(`^\d{1,4} validation errors? (?:for|in|detected)\b`, "validation error"), quorum.Failed, quorum.ReasonInvalid,
		`2 validation errors for ReviewAnswer`,
	},
	{
		inLog, rx(`^(?:[\w.'-]+ ){0,3}validation failed\b`, "validation failed"), quorum.Failed, quorum.ReasonInvalid,
		`Error: answer schema validation failed at findings[2].line`,
	},
	{
		inLog, rx(`^(?:[\w./-]{1,80}: error: )?the following arguments are required\b`, "arguments are required"),
		quorum.Failed, quorum.ReasonInvalid,
		`ask.py: error: the following arguments are required: --diff`,
	},
	{
		inLog, rx(`^missing (?:(?:a )?required (?:argument|option|parameter|input|key|environment variable|env var)s?`+
			`|(?:argument|option|parameter)s?)(?: *$|[:.]| ["'\x60])`,
			"missing "),
		quorum.Failed, quorum.ReasonInvalid,
		`Error: Missing option '--model'.`,
	},
	{
		inLog, rx(`^[\w.<>]{1,80}\(\) missing \d{1,3} required (?:positional|keyword-only) arguments?\b`, "() missing "),
		quorum.Failed, quorum.ReasonInvalid,
		`TypeError: ask_model() missing 1 required positional argument: 'diff'`,
	},
	{
		inLog, rx(`^input does not meet yaml 1\.2\b`, "input does not meet yaml"), quorum.Failed, quorum.ReasonInvalid,
		`TypeError: Input does not meet YAML 1.2 "Core Schema" specification: fail-fast`,
	},
	{
		inLog, rx(`^unable to resolve action\b`, "resolve action"), quorum.Failed, quorum.ReasonInvalid,
		`##[error]Unable to resolve action octo/review@v9, unable to find version v9`,
	},
	{
		inLog, rx(`^invalid workflow file\b`, "invalid workflow file"), quorum.Failed, quorum.ReasonInvalid,
		`Invalid workflow file: .github/workflows/review.yml#L12`,
	},
	{
		inLog, rx(`^this workspace is deactivated\b`, "workspace is deactivated"), quorum.Failed, quorum.ReasonInvalid,
		`Codex: This workspace is deactivated`,
	},
	{
		inLog, rx(`^(?:the )?model refused\b|^(?:stop_reason["']?: ?["']?)refusal\b`, "refus"), quorum.Failed, quorum.ReasonModelRefusal,
		`    "stop_reason": "refusal",`,
	},

	// Limits that no retry within the hour helps.
	{
		inLog, rx(`^(?:(?:reason|status|code)["']?: ?["']?)?quota_exhausted\b`, "quota"), quorum.Limited, quorum.ReasonQuota,
		`    "reason": "QUOTA_EXHAUSTED",`,
	},
	{
		inLog, rx(`^(?:reason["']?: ?["']?)?model_capacity_exhausted\b`, "model_capacity_exhausted"), quorum.Limited, quorum.ReasonQuota,
		`    "reason": "MODEL_CAPACITY_EXHAUSTED",`,
	},
	{
		inLog, rx(`^you have exhausted your (?:daily quota|capacity)\b`, "exhausted your"), quorum.Limited, quorum.ReasonQuota,
		`Error: You have exhausted your capacity on this model.`,
	},
	{
		inLog, rx(`^you(?:'ve| have) (?:hit|reached) your (?:usage |session |weekly |\d+-hour )?limit\b`, "limit"),
		quorum.Limited, quorum.ReasonQuota,
		`You've hit your usage limit. More is to be had tomorrow.`,
	},
	{
		inLog, rx(`^(?:[\w-]+ ){0,3}usage limit reached\b`, "usage limit reached"), quorum.Limited, quorum.ReasonQuota,
		`Claude AI usage limit reached|1790000000`,
	},
	{
		inLog, rx(`^you have exceeded your monthly quota\b`, "monthly quota"), quorum.Limited, quorum.ReasonQuota,
		`Error: You have exceeded your monthly quota of chats`,
	},
	{
		inLog, rx(`^you exceeded your current quota\b`, "current quota"), quorum.Limited, quorum.ReasonQuota,
		`Error: You exceeded your current quota, please ask for more.`,
	},

	// Limits that pass.
	{
		inLog, rx(`^(?:the )?server is temporarily limiting requests\b`, "temporarily limiting"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`API Error: Server is temporarily limiting requests, whatever your plan allows`,
	},
	{
		inLog, rx(`^quota exceeded\b`, "quota exceeded"), quorum.Limited, quorum.ReasonRateLimit,
		`Error: Quota exceeded for metric requests_of_this_minute`,
	},
	{
		inLog, rx(`^(?:[\w.-]+ ){0,3}rate limit (?:exceeded|reached|hit)\b`, "rate limit"), quorum.Limited, quorum.ReasonRateLimit,
		`Error: API rate limit exceeded for installation ID 42`,
	},
	{
		inLog, rx(`^this request would exceed your (?:account|organization)(?:'s)? rate limit\b`, "rate limit"),
		quorum.Limited, quorum.ReasonRateLimit,
		`Error: This request would exceed your organization's rate limit of 40,000 tokens`,
	},
	{
		inLog, rx(`^(?:(?:type|reason|code)["']?: ?["']?)?rate_limit_(?:error|exceeded)\b`, "rate_limit"),
		quorum.Limited, quorum.ReasonRateLimit,
		`    "type": "rate_limit_error",`,
	},
	{
		inLog, rx(`^(?:reason["']?: ?["']?)?ratelimitexceeded\b`, "ratelimitexceeded"), quorum.Limited, quorum.ReasonRateLimit,
		`    "reason": "rateLimitExceeded",`,
	},
	{
		inLog, rx(`^(?:status["']?: ?["']?)?resource_exhausted\b`, "resource_exhausted"), quorum.Limited, quorum.ReasonRateLimit,
		`    "status": "RESOURCE_EXHAUSTED",`,
	},
	{
		inLog, rx(`^(?:response from daemon: )?toomanyrequests\b`, "toomanyrequests"), quorum.Limited, quorum.ReasonRateLimit,
		`Error response from daemon: toomanyrequests: too many pulls without a login`,
	},
	{
		inLog, rx(`^exceeded retry limit, last status: 429\b`, "last status: 429"), quorum.Limited, quorum.ReasonRateLimit,
		`ERROR: exceeded retry limit, last status: 429 Too Many Requests`,
	},

	// The runner.
	{
		inLog, rx(`^the job (?:running on .{1,200} )?has exceeded the maximum execution time\b`, "maximum execution time"),
		quorum.Hung, quorum.ReasonHung,
		`##[error]The job running on runner octo-runner-12 has exceeded the maximum execution time of 10 minutes.`,
	},
	{
		inLog, rx(`^the action .{1,200} has timed out after\b`, "has timed out after"), quorum.Hung, quorum.ReasonHung,
		`##[error]The action 'Review' has timed out after 20 minutes.`,
	},
	{
		inLog, rx(`^the (?:hosted|self-hosted) runner\b.{0,200}\blost communication with the server\b`, "lost communication"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`##[error]The self-hosted runner: octo-3 lost communication with the server. Look at its disk and its network.`,
	},
	{
		inLog, rx(`^the runner has received a shutdown signal\b`, "shutdown signal"), quorum.Overloaded, quorum.ReasonOverloaded,
		`##[error]The runner has received a shutdown signal. Its service was stopped, or the run was cancelled.`,
	},
	{
		inLog, rx(`^operating system is shutting down\b`, "operating system is shutting"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Operating system is shutting down for computer 'octo-az12'`,
	},

	// Outages.
	{
		inLog, rx(`^(?:(?:type|code)["']?: ?["']?)?overloaded(?:_error)?\b`, "overloaded"), quorum.Overloaded, quorum.ReasonOverloaded,
		`    "type": "overloaded_error",`,
	},
	{
		inLog, rx(`^the (?:model|server|engine) is (?:currently )?overloaded\b`, "overloaded"), quorum.Overloaded, quorum.ReasonOverloaded,
		`The engine is currently overloaded, please ask again later`,
	},
	{
		inLog, rx(`^(?:(?:status|code)["']?: ?["']?)?unavailable\b`, "unavailable"), quorum.Overloaded, quorum.ReasonOverloaded,
		`    "status": "UNAVAILABLE",`,
	},
	{
		inLog, rx(`^(?:the )?(?:service|server|model|api)(?: is)? (?:temporarily |currently )?unavailable\b`, "unavailable"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: service temporarily unavailable`,
	},
	{
		inLog, rx(`^we(?: are|'re) currently experiencing high demand\b`, "high demand"), quorum.Overloaded, quorum.ReasonOverloaded,
		`ERROR: We're currently experiencing high demand, so that some answers fail.`,
	},
	{
		inLog, rx(`^no capacity available for model\b`, "no capacity"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: No capacity available for model octo-pro on the server`,
	},
	{
		inLog, rx(`^internal server error\b`, "internal server error"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: Internal server error`,
	},
	{
		inLog, rx(`^bad gateway\b`, "bad gateway"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: Bad Gateway`,
	},
	{
		inLog, rx(`^gateway time-?out\b`, "gateway time"), quorum.Overloaded, quorum.ReasonOverloaded,
		`upstream_error: Gateway Time-out`,
	},
	{
		inLog, rx(`^stream disconnected before completion\b`, "stream disconnected"), quorum.Overloaded, quorum.ReasonOverloaded,
		`ERROR: stream disconnected before completion: the stream ended before its last event`,
	},
	{
		inLog, rx(`^failed to (?:resolve action download info|download action)\b`, "action download", "download action"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`##[error]Failed to download action 'https://api.github.com/repos/octo/review/tarball/v1'. Error: the body ended early`,
	},
	{
		inLog, rx(`^rpc failed; (?:http 5\d\d|curl)\b`, "rpc failed"), quorum.Overloaded, quorum.ReasonOverloaded,
		`error: RPC failed; curl 56 GnuTLS recv error (-54): error in the pull function`,
	},
	{
		inLog, rx(`^the requested url returned error: 5\d\d\b`, "requested url returned error"), quorum.Overloaded, quorum.ReasonOverloaded,
		`fatal: unable to access 'https://github.com/octo/widgets/': The requested URL returned error: 503`,
	},
	{
		inLog, rx(`^unable to fetch some archives\b`, "unable to fetch some archives"), quorum.Overloaded, quorum.ReasonOverloaded,
		`E: Unable to fetch some archives, maybe run apt-get update?`,
	},
	{
		inLog, rx(`^cannot connect to the docker daemon\b`, "docker daemon"), quorum.Overloaded, quorum.ReasonOverloaded,
		`ERROR: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?`,
	},

	// The network.
	{
		inLog, rx(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?(?:econnreset|econnrefused|econnaborted)\b`, "econn"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: read ECONNRESET`,
	},
	{
		inLog, rx(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?etimedout\b`, "etimedout"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: connect ETIMEDOUT 192.0.2.7:443`,
	},
	{
		inLog, rx(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?enotfound\b`, "enotfound"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: getaddrinfo ENOTFOUND api.example.com`,
	},
	{
		inLog, rx(`^(?:[\w.()-]+:? ){0,4}(?:code["']?: ?["']?)?eai_again\b`, "eai_again"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: getaddrinfo EAI_AGAIN api.example.com`,
	},
	{
		inLog, rx(`^(?:[\w.()-]+:? ){0,3}epipe\b`, "epipe"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: write EPIPE`,
	},
	{
		inLog, rx(`^(?:code["']?: ?["']?)?und_err_(?:\w+_timeout|socket)\b`, "und_err_"), quorum.Overloaded, quorum.ReasonOverloaded,
		`  code: 'UND_ERR_HEADERS_TIMEOUT'`,
	},
	{
		inLog, rx(`^(?:code["']?: ?["']?)?err_stream_premature_close\b`, "err_stream_premature_close"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`  code: 'ERR_STREAM_PREMATURE_CLOSE'`,
	},
	{
		inLog, rx(`^fetch failed\b`, "fetch failed"), quorum.Overloaded, quorum.ReasonOverloaded,
		`TypeError: fetch failed`,
	},
	{
		inLog, rx(`^(?:[\w.:-]+ ){0,4}bad record mac\b`, "bad record mac"), quorum.Overloaded, quorum.ReasonOverloaded,
		`remote error: tls: bad record mac`,
	},
	{
		inLog, rx(`^(?:the )?socket (?:connection was closed|hang ?up)\b`, "socket"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: socket hang up`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,80} ){0,6}connection (?:reset by peer|refused|timed out|was reset|aborted|closed unexpectedly)\b`,
			"connection"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: dial tcp 192.0.2.7:443: connect: connection refused`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,80} ){0,6}(?:i/o|read|connect|connection|request|tls handshake) timeout\b`, "timeout"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: net/http: TLS handshake timeout`,
	},
	{
		inLog, rx(`^(?:the )?(?:[\w-]+ ){0,2}(?:request|operation|connection|api call|call)? ?timed out\b`, "timed out"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: The request timed out after 600 s`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,80} ){0,4}(?:context )?deadline exceeded\b`, "deadline exceeded"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: Post "https://api.example.com/v1/answers": context deadline exceeded`,
	},
	{
		inLog, rx(`^curl: \((?:5|6|7|18|28|35|52|55|56|92)\)`, "curl: ("), quorum.Overloaded, quorum.ReasonOverloaded,
		`curl: (28) Operation timed out after 30001 milliseconds with 0 bytes received`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,80} ){0,8}no such host\b`, "no such host"), quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: Post "https://api.example.com/v1/answers": dial tcp: lookup api.example.com on 127.0.0.53:53: no such host`,
	},
	{ // the exceptions of requests, urllib3, httpx, and of the clients on top of them
		inLog, rx(`^(?:[\w$]+\.)*(?:(?:api)?connectionerror|api(?:connection)?timeouterror|(?:connect|read|write|pool)timeout(?:error)?`+
			`|(?:newconnection|nameresolution|remoteprotocol|maxretry|chunkedencoding)error|remotedisconnected`+
			`|connection(?:reset|refused|aborted)error)(?:[":(]| *$)`,
			"connectionerror", "timeouterror", "connecttimeout", "readtimeout", "writetimeout", "pooltimeout", "resolutionerror",
			"protocolerror", "maxretryerror", "encodingerror", "remotedisconnected", "reseterror", "refusederror", "abortederror"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`httpx.ConnectTimeout`,
	},
	{
		inLog, rx(`^(?:httpx|httpcore)\.(?:connect|read|write|network)error(?:[":(]| *$)`, "httpx.", "httpcore."),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`httpcore.ReadError`,
	},
	{
		inLog, rx(`^(?:https?connectionpool\(.{1,300}\): )?(?:max retries exceeded|read timed out)\b`,
			"max retries exceeded", "read timed out"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /v1/answers`,
	},
	{
		inLog, rx(`^(?:<.{1,200}>: |https?connection\(.{1,200}\): )?failed to (?:establish a new connection\b|resolve ')`,
			"failed to establish", "failed to resolve"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: HTTPSConnection(host='api.example.com', port=443): Failed to resolve 'api.example.com'`,
	},
	{
		inLog, rx(`^(?:remote end closed connection|server disconnected|peer closed connection) without\b`+
			`|^all connection attempts failed\b`,
			"closed connection", "server disconnected", "connection attempts failed"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`Error: Server disconnected without sending a response.`,
	},
	{
		inLog, rx(`^(?:[^ ]{1,80} ){0,6}(?:temporary failure in name resolution|name or service not known)\b`,
			"name resolution", "name or service not known"),
		quorum.Overloaded, quorum.ReasonOverloaded,
		`socket.gaierror: [Errno -3] Temporary failure in name resolution`,
	},
	{
		inLog, rx(`^could not resolve host\b`, "could not resolve host"), quorum.Overloaded, quorum.ReasonOverloaded,
		`fatal: unable to access 'https://github.com/octo/widgets/': Could not resolve host: github.com`,
	},

	// Green and hollow.
	{
		inLog, rx(`^(?:done )?\(?0 tool uses\b`, "0 tool uses"), quorum.Empty, quorum.ReasonEmpty,
		`  ⎿  Done (0 tool uses · 0 tokens · 2s)`,
	},
	{
		inLog, rx(`^0 files reviewed\b`, "0 files reviewed"), quorum.Empty, quorum.ReasonEmpty,
		`0 files reviewed in 3 s`,
	},
	{
		inLog, rx(`^reviewed 0 files\b`, "reviewed 0 files"), quorum.Empty, quorum.ReasonEmpty,
		`Reviewed 0 files in 3 s`,
	},
}
