package review

// This file holds the tables of what explains in a log how a run failed. Each row has an example: a line of a log that
// a test reads, bare and behind wrappers, and that nothing but this row explains. Write the expression in small letters,
// from the start of the message. Add a row only where neither the error's type nor an HTTP code says it.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// errorTypes are compared with the names of types, without _ and the module before them. What ran and failed for good is
// never run again, so its classes come first.
var errorTypes = slices.Concat(
	meaning(quorum.Failed, quorum.ReasonBudget,
		`budget`, `review.errors.BudgetExceededError: 2.10 of 2.00 dollars`,
		`executiontimeout`, `review.errors.ExecutionTimeoutError: the step took more than its 480 s`, // it would again
	),
	meaning(quorum.Failed, quorum.ReasonBilling,
		`insufficient(?:quota|fund|\w*credit)`, `    "code": "insufficient_quota",`,
	),
	meaning(quorum.Failed, quorum.ReasonCredentials,
		`authenticat`, `{"type":"error","error":{"type":"authentication_error","message":"who is this?"}}`,
		`permission|accessdenied`, `{"type":"error","error":{"type":"permission_error","message":"not this model"}}`,
		`invalidapikey`, `  code: 'invalid_api_key'`,
	),
	meaning(quorum.Failed, quorum.ReasonInvalid,
		`executionfailed`, `review.errors.ExecutionFailedError: the reasoner returned the status failed`,
		`validation|zoderror`, `jsonschema.exceptions.ValidationError: 'verdict' is not of type 'string'`,
		`(?:file|module|model|^)notfound(?:error)?$`, `FileNotFoundError: [Errno 2] no diff.patch`,
		`invalidrequest|badrequest|invalidargument`, `    "type": "invalid_request_error",`,
		`contextlength`, `    "code": "context_length_exceeded",`,
	),
	meaning(quorum.Limited, quorum.ReasonQuota,
		`quota`, `    "reason": "QUOTA_EXHAUSTED",`,
		`capacityexhausted`, `    "reason": "MODEL_CAPACITY_EXHAUSTED",`,
	),
	meaning(quorum.Limited, quorum.ReasonRateLimit,
		`ratelimit`, `    "type": "rate_limit_error",`,
		`throttl|toomanyrequests`, `ClientError: An error occurred (ThrottlingException) when asking octo-pro`,
		`resourceexhausted`, `    "status": "RESOURCE_EXHAUSTED",`,
	),
	meaning(quorum.Overloaded, quorum.ReasonOverloaded,
		`overloaded`, `    "type": "overloaded_error",`,
		`unavailable`, `    "status": "UNAVAILABLE"`,
		`servererror`, `openai.InternalServerError: it was not our day`,
		`timeout|deadlineexceeded`, `asyncio.exceptions.TimeoutError`,
		`connect`, `aiohttp.client_exceptions.ClientConnectorError: no way to api.example.com`,
		`network|protocol|nameresolution`, `httpx.RemoteProtocolError: half an answer`,
		`maxretry|chunkedencoding|requestexception|fetcherror`, `requests.exceptions.RequestException: no answer`,
		`^(?:read|write|os)error$`, `OSError: Network is unreachable`,
		`^errstreamprematureclose|^underr`, `  code: 'ERR_STREAM_PREMATURE_CLOSE'`,
	),
)

// keyName matches the name of a variable that holds a key.
const keyName = `\w{0,60}(?:api[_-]key|_token|_secret)`

// logMessages are tried in this order on one message, and the first that matches counts: the more particular comes first.
// The log is compared with generalNotices, too.
var logMessages = slices.Concat(
	// The reviewer would not.
	meaning(quorum.Declined, quorum.ReasonNoSecrets,
		`^input required and not supplied: ?['"]?[\w. -]{0,60}(?:key|token|secret)\b`,
		`##[error]Input required and not supplied: octo_api_key`,
		`^(?:[^ ]{1,120} line \d{1,6}: |(?:(?:the|required|env|environment|variable|secret|input|- either|either):? ){0,4}["'$]{0,2})`+
			keyName+`["'\x60]?:? (?:(?:unbound variable|parameter null or not set|or \w{1,60} (?:is|must be) (?:required|set))\b`+
			`|(?:(?:environment |env )?variable |secret )?(?:is |was )?`+
			`(?:not (?:set|defined|configured|provided|found)|unset|empty|missing|required)(?: *$|[.,;:!]| (?:in|for) ))`,
		`ValueError: OCTO_API_KEY environment variable is not set`,
		`^environment variable validation failed\b`, `##[error]Action failed: Environment variable validation failed:`,
		`^missing (?:required )?api key\b|^(?:missing (?:required )?(?:environment variable|env var|secret|input)s?:?|keyerror:)`+
			` ["'\x60]?`+keyName+`\b`,
		`Error: Missing required environment variable: OCTO_API_KEY`,
		`^(?:the api_key client option must be set|could not resolve authentication method)\b`,
		`openai.OpenAIError: The api_key client option must be set, by an argument or in the environment`,
	),
	meaning(quorum.Declined, quorum.ReasonDeclined,
		`^(?:action skipped|skipping action|exiting) due to workflow validation\b`,
		`Action skipped due to workflow validation: this file differs from the one on the default branch`,
		`^no trigger found, skipping\b`, `No trigger found, skipping the remaining steps`,
		`^input required and not supplied\b`, `Error: Input required and not supplied: review-focus`,
	),

	// It failed for good.
	meaning(quorum.Failed, quorum.ReasonBilling,
		`^the job was not started because recent account payments have failed\b`,
		`The job was not started because recent account payments have failed. See the billing settings.`,
		`^your (?:project|organization|workspace|account) has reached its (?:configured )?(?:enforced )?spend`,
		`Error: Your workspace has reached its configured spend limit.`,
		`^quota exceeded\. check your plan and billing details\b`, `Quota exceeded. Check your plan and billing details.`,
	),
	meaning(quorum.Failed, quorum.ReasonBudget,
		`^(?:reached )?max(?:imum)?(?: number of)? turns\b`, `Error: Reached max turns (30)`,
		`^error_max_turns\b`, `{"type":"result","subtype":"error_max_turns","is_error":true,"result":""}`,
	),
	meaning(quorum.Failed, quorum.ReasonCredentials,
		`^bad credentials\b`, `HttpError: Bad credentials`,
		`^(?:unable to get actions_id_token_request_url|could not fetch an oidc token)\b`,
		`Action failed: Could not fetch an OIDC token. Does the workflow grant it?`,
		`^resource not accessible by (?:integration|personal access token)\b`,
		`##[error]Resource not accessible by integration`,
	),
	meaning(quorum.Failed, quorum.ReasonInvalid,
		`^actor (?:(?:does not have write|has insufficient) permissions|[\w'"\[\]-]{1,60} is not permitted to run this)\b`,
		`Error: Actor does not have write permissions`,
		`^workflow initiated by non-human actor\b`, `Error: Workflow initiated by non-human actor: a-bot (type: Bot)`,
		`^prompt is too long\b`, `Error: Prompt is too long`,
		`^this model's maximum context length\b`, `Error: This model's maximum context length is 128000 tokens.`,
		`^malformed input(?:$|[.,:])`, `ValueError: malformed input`,
		`^syntaxerror: invalid syntax\b`, `SyntaxError: invalid syntax`,
		`^\d{1,4} validation errors? (?:for|in|detected)\b`, `2 validation errors for ReviewAnswer`,
		`^(?:[\w.'-]+ ){0,3}validation failed\b`, `Error: answer schema validation failed at findings[2].line`,
		`^the following arguments are required\b`, `ask.py: error: the following arguments are required: --diff`,
		`^missing (?:(?:a )?required (?:argument|option|parameter|input|key|environment variable|env var)s?`+
			`|(?:argument|option|parameter)s?)(?: *$|[:.]| ["'\x60])`,
		`Error: Missing option '--model'.`,
		`^[\w.<>]{1,80}\(\) missing \d{1,3} required (?:positional|keyword-only) arguments?\b`,
		`TypeError: ask_model() missing 1 required positional argument: 'diff'`,
		`^input does not meet yaml 1\.2\b`, `TypeError: Input does not meet YAML 1.2 "Core Schema": fail-fast`,
		`^unable to resolve action\b`, `##[error]Unable to resolve action octo/review@v9, unable to find version v9`,
		`^invalid workflow file\b`, `Invalid workflow file: .github/workflows/review.yml#L12`,
		`^this workspace is deactivated\b`, `Codex: This workspace is deactivated`,
	),
	meaning(quorum.Failed, quorum.ReasonModelRefusal,
		`^(?:the )?model refused\b|^refusal$`, `    "stop_reason": "refusal",`,
	),

	// Limits.
	meaning(quorum.Limited, quorum.ReasonQuota,
		`^you have exhausted your (?:daily quota|capacity)\b`, `Error: You have exhausted your capacity on this model.`,
	),
	meaning(quorum.Limited, quorum.ReasonRateLimit,
		`^this request would exceed your (?:account|organization)(?:'s)? rate limit\b`,
		`Error: This request would exceed your organization's rate limit of 40,000 tokens`,
		`^too many (?:tokens|requests), (?:please )?(?:wait|slow|try)\b`, `Error: Too many tokens, please wait.`,
		`^resource has been exhausted\b`, `Error during the call: Resource has been exhausted (e.g. a quota).`,
		`^(?:response from daemon: )?toomanyrequests\b`, `Error response from daemon: toomanyrequests: too many pulls`,
	),

	// The runner.
	meaning(quorum.Hung, quorum.ReasonHung,
		`^the (?:job|action) (?:.{1,200} )?has (?:exceeded the maximum execution time|timed out after)\b`,
		`##[error]The job running on runner octo-runner-12 has exceeded the maximum execution time of 10 minutes.`,
	),
	meaning(quorum.Overloaded, quorum.ReasonOverloaded,
		`^the (?:hosted|self-hosted) runner\b.{0,200}\blost communication with the server\b`,
		`##[error]The self-hosted runner: octo-3 lost communication with the server. Look at its disk and its network.`,
		`^the runner has received a shutdown signal\b`, `##[error]The runner has received a shutdown signal.`,
		`^operating system is shutting down\b`, `Operating system is shutting down for computer 'octo-az12'`,

		// Outages.
		`^(?:we(?: are|'re) )?currently experiencing high demand\b`, `We're currently experiencing high demand.`,
		`^no capacity available for model\b`, `Error: No capacity available for model octo-pro on the server`,
		`^stream disconnected before completion\b`, `ERROR: stream disconnected before completion: it ended early`,
		`^failed to (?:resolve action download info|download action)\b`,
		`##[error]Failed to download action 'https://example.com/octo/review/tarball/v1'. Error: it ended early`,
		`^rpc failed; (?:http 5\d\d|curl)\b`, `error: RPC failed; curl 56 GnuTLS recv error (-54): it ended`,
		`^unable to fetch some archives\b`, `E: Unable to fetch some archives, maybe run apt-get update?`,
		`^cannot connect to the docker daemon\b`, `ERROR: Cannot connect to the Docker daemon. Is it running?`,

		// The network.
		`^(?:[\w.()!-]+:? ){0,3}(?:e(?:conn(?:reset|refused|aborted)|timedout|notfound|ai_again|pipe))\b`,
		`npm error code ECONNRESET`,
		`^(?:typeerror: )?fetch failed\b`, `TypeError: fetch failed`,
		`^(?:the )?socket (?:connection was closed|hang ?up)\b`, `Error: socket hang up`,
		`^(?:[^ ]{1,80} ){0,8}(?:connection (?:reset by peer|refused|timed out|aborted|closed unexpectedly)`+
			`|(?:i/o|tls handshake|request|connection) timeout|deadline exceeded|bad record mac`+
			`|no such host|temporary failure in name resolution|name or service not known)\b`,
		`Error: Post "https://api.example.com/v1/answers": context deadline exceeded`,
		`^(?:the )?(?:[\w-]+ ){0,2}timed out\b`, `Error: The request timed out after 600 s`,
		`^curl: \((?:5|6|7|18|28|35|52|55|56|92)\)`, `curl: (28) Operation took 30001 milliseconds for 0 bytes`,
		`^(?:failed to (?:establish a new connection\b|resolve ')|could not resolve host\b|max retries exceeded\b|read timed out\b)`,
		`fatal: unable to access 'https://github.com/octo/widgets/': Could not resolve host: github.com`,
		`^(?:(?:remote end|peer) closed connection|server disconnected) without\b|^all connection attempts failed\b`,
		`Error: Server disconnected without sending a response.`,
	),
)
