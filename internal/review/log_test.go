package review

import (
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestLog(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       quorum.Outcome
		reason     quorum.Reason
	}{
		{"reset", "Error: read ECONNRESET\n    at TLSWrap.onStreamRead", quorum.Overloaded, none},
		{
			"no such host of a resolver",
			"Error: Post \"https://api.example.com/v1\": dial tcp: lookup api.example.com on 127.0.0.53:53: no such host",
			quorum.Overloaded, none,
		},
		{"pretty unavailable", "{\n  \"error\": {\n    \"code\": 503,\n    \"status\": \"UNAVAILABLE\"\n  }\n}", quorum.Overloaded, none},
		{"stamped and coloured", "2026-03-01T10:00:00.1234567Z \x1b[31mError: connect ECONNREFUSED 10.0.0.1:443\x1b[0m", quorum.Overloaded, none},
		{
			"credit",
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`,
			quorum.Failed, quorum.ReasonBilling,
		},
		{
			"payments",
			"The job was not started because recent account payments have failed or your spending limit needs to be increased.",
			quorum.Failed, quorum.ReasonBilling,
		},
		{
			"budget and 500",
			"orchestrator.BudgetExhaustedError: budget exhausted after 9 s\nexecution status: failed (HTTP 500)",
			quorum.Failed, quorum.ReasonBudget,
		},
		{"500 and then the budget", "Error: HTTP 500\norchestrator.BudgetExhaustedError: x", quorum.Failed, quorum.ReasonBudget},
		{
			"401",
			`HTTP 401: {"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`,
			quorum.Failed, quorum.ReasonCredentials,
		},
		{"a 503 and a quota", "Error: HTTP 503\nYou have exhausted your daily quota on this model.", quorum.Limited, quorum.ReasonQuota},
		{
			"a pool of requests",
			"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): " +
				"Max retries exceeded with url: /v1 (Caused by NewConnectionError('refused'))",
			quorum.Overloaded, none,
		},
		{
			"pydantic", "pydantic_core._pydantic_core.ValidationError: 1 validation error for Answer\nverdict\n  it is no word",
			quorum.Failed, quorum.ReasonInvalid,
		},
		{"validation after a 503", "Error: HTTP 503\nError: Validation failed: no verdict", quorum.Failed, quorum.ReasonInvalid},
		{
			"a step's own time, and a timeout", "ExecutionTimeoutError: review\nError: the request timed out after 480 s",
			quorum.Failed, quorum.ReasonBudget,
		},
		{"a resource", "ResourceExhausted: 429 Quota exceeded", quorum.Limited, none},
		{
			"an agent of an agent", `⏺ Agent "Read it" failed: Agent terminated early due to an API error: API Error: 529 Overloaded. Try again.`,
			quorum.Overloaded, none,
		},

		{"a setting", "request_timeout: 30\nrate_limit_exceeded: false\nx_denied: true\nquota_exceeded: 0,\nvalidation_error: null\nmax_turns: 30\n\"quota_exceeded\": false,", quorum.Unknown, none},
		{"words in JSON behind an error", `Error: the answer {"text": "x: Invalid API key"}`, quorum.Unknown, none},
		{"a sum of tests", "Tests failed: 500, passed: 3\nError: 404 files were skipped", quorum.Unknown, none},
		{"a finding in a row", "| Error | Invalid API key: accepted |", quorum.Unknown, none},
		{
			"a model's words", `{"type":"assistant","content":[{"type":"text","text":"Error: HTTP 503 is not handled: Invalid API key."}]}`,
			quorum.Unknown, none,
		},
		{"trace", "Traceback (most recent call last):\nKeyError: parts", quorum.Unknown, none},
		{"a verdict", yes, quorum.Unknown, none},
		{"a diff", "+503 Service Unavailable\n-Error: HTTP 503\n+\treturn errors.New(\"Invalid API key\")", quorum.Unknown, none},
		{"blank", "", quorum.Unknown, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Read(autoReviewer(), Material{Kind: Log, Body: c.body, Conclusion: "failure"})
			if got.Outcome != c.want || c.reason != none && got.Reason != c.reason {
				t.Errorf("%v (%v, %q), want %v (%v)", got.Outcome, got.Reason, got.Detail, c.want, c.reason)
			}
		})
	}
}

// What programs say when they fail, by its reason; and last what is no message of theirs.
func TestLogWordings(t *testing.T) {
	for want, lines := range map[quorum.Reason]string{
		quorum.ReasonOverloaded: `
			Net::ReadTimeout: nobody there|PoolTimeout|WriteTimeout|ConnectTimeout: slow
			DEADLINE_EXCEEDED: it was slow|http.client.RemoteDisconnected: gone|NetworkError: gone|ProtocolError: half
			urllib3.exceptions.NameResolutionError: no|requests.exceptions.ChunkedEncodingError: half
			FetchError: no answer|httpcore.WriteError|httpx.ReadError|google.genai.errors.ServerError: busy
			  code: 'UND_ERR_HEADERS_TIMEOUT'|Error: read ECONNABORTED|Error: connect ETIMEDOUT 192.0.2.7:443
			Error: getaddrinfo EAI_AGAIN example.com|Error: getaddrinfo ENOTFOUND example.com|Error: write EPIPE
			read tcp 192.0.2.7:443: connection reset by peer|dial tcp: connection timed out|('Connection aborted.', 1)
			The connection closed unexpectedly|net/http: request timeout|net/http: TLS handshake timeout
			Connection timeout: 30 s|lookup it: Temporary failure in name resolution
			Error: The socket connection was closed unexpectedly|curl: (56) it ended
			curl: (22) The requested URL returned error: 500
			Error: HTTPSConnection(host='example.com'): Read timed out.
			Error: HTTPSConnectionPool(host='example.com'): Max retries exceeded|remote error: tls: bad record mac
			review: internal/x: Post "https://api.example.com": read tcp 10.1.0.5:48122->192.0.2.9:443: read: connection reset by peer
			Error: x: Failed to establish a new connection: refused|Error: x: Failed to resolve 'example.com'
			Error: Remote end closed connection without response|peer closed connection without sending it all
			All connection attempts failed|error: RPC failed; HTTP 502 it ended|Request failed with status code 503
			HTTP status 502|  "code": 503|"error": "overloaded",|Server error '502 Bad Gateway' for url 'x'
			{"message":"{\"type\":\"overloaded_error\"}"}|API Error (HTTP status 502)|ERROR 503 Service Unavailable
			Error: error code: 502 - {}|503: Service Unavailable|Bad Gateway|Gateway Timeout|Internal server error
			API Error: it is overloaded|API Error: timed out|The service is temporarily unavailable
			Error: API temporarily unavailable|The server is currently down|The engine is overloaded
			503 Service Unavailable|Error: HTTP 503 Service Unavailable
			API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
			Error: getaddrinfo ENOTFOUND api.example.com|curl: (28) Operation timed out
			Post "https://api.example.com": dial tcp: lookup api.example.com: i/o timeout
			curl: (22) The requested URL returned error: 503
			fatal: unable to access 'https://example.com/a/b/': The requested URL returned error: 502
			fatal: unable to access 'https://example.com/a/b/': Could not resolve host: example.com
			##[warning]Failed to resolve action download info. Error: the socket was closed
			##[warning]Failed to download action 'https://example.com/tarball/v1'. Error: the socket was closed
			We're currently experiencing high demand, so that some answers fail.
			The hosted runner lost communication with the server. Anything in your workflow
			##[error]The runner has received a shutdown signal.|The model is overloaded. Please try again later.
			API Error: Server is temporarily limiting requests (not your usage limit)
			ConnectionError: ('Connection aborted.', RemoteDisconnected('nobody there'))
			requests.exceptions.ReadTimeout: the answer did not come
			urllib3.exceptions.NewConnectionError: nobody listens|urllib3.exceptions.NameResolutionError: no such name
			urllib3.exceptions.MaxRetryError: given up
			httpx.RemoteProtocolError: Server disconnected without sending a response.|httpx.ConnectError
			httpx.ConnectError: All connection attempts failed
			httpx.ConnectError: [Errno -2] Name or service not known|openai.APITimeoutError: it took too long
			ConnectionResetError: [Errno 104] the peer is gone
			requests.exceptions.HTTPError: 503 Server Error: busy for url: https://api.example.com
			httpx.HTTPStatusError: Server error '502 Bad Gateway' for url 'x'|TimeoutError
			requests.exceptions.Timeout: too slow|asyncio.TimeoutError|OSError: Network is unreachable
			{"is_error":true,"result":"API Error: 529 {\"error\":{\"type\":\"overloaded_error\"}}"}`,
		quorum.ReasonCredentials: `
			error: Unable to get ACTIONS_ID_TOKEN_REQUEST_URL env variable
			PERMISSION_DENIED: not yours|UNAUTHENTICATED: who is it?|AccessDeniedException: not yours|Failed: 401
			Error (401)|{"status": 403}|{"error": 401, "x": 1}|Error code: 401 - {|unexpected status 401
			Authorization failed.|Your API key has been revoked.|API key is invalid|API key not found
			API key was expired|Error: 401 Incorrect API key provided|Invalid API key (see the docs)|API key rejected or unknown
			Resource not accessible by personal access token|Invalid API key
			Error: API key not valid. Please pass a valid API key.
			requests.exceptions.HTTPError: 401 Client Error: who? for url: https://api.example.com
			httpx.HTTPStatusError: Client error '403 Forbidden' for url 'x'`,
		quorum.ReasonBilling: `
			insufficient_funds|INSUFFICIENT_G1_CREDITS_BALANCE|Your project has reached its spend limit.
			Your organization has reached its enforced spending limit.|Your account has reached its spending limit.
			insufficient_quota: You exceeded your current quota, please check your plan and billing details.
			openai.RateLimitError: Error code: 429 - {'error': {'message': 'Wait', 'type': 'insufficient_quota'}}`,
		quorum.ReasonInvalid: `
			openai.BadRequestError: no|INVALID_ARGUMENT: no|Error: model_not_found|"code": "model_not_found",
			status: 404|ZodError: [|Actor has insufficient permissions: read|1 validation error detected: it is long
			2 validation errors in it|TypeError: ask() missing 2 required keyword-only arguments: 'a' and 'b'
			Error: Missing required argument: diff|Missing parameter|Missing required parameters: x
			Missing required input 'x'|Missing required key: x|Missing required env var: MODEL|Malformed input.
			Client error '404 Not Found' for url 'x'
			fatal: unable to access 'https://example.com/a/b/': The requested URL returned error: 404
			Error: prompt is too long: 210000 tokens > 200000 maximum
			##[error]Actor does not have write permissions to the repository
			HttpError: Validation Failed: a line outside the diff|Missing required environment variable: MODEL
			ExecutionFailedError: the reasoner says the quota is exhausted|FileNotFoundError: [Errno 2] no diff.txt
			ModuleNotFoundError: No module named 'octo'|Error [ERR_MODULE_NOT_FOUND]: octo is not here
			openai.NotFoundError: Error code: 404 - {'error': {'code': 'model_not_found'}}|ValueError: malformed input
			Actor 'octo-bot' is not permitted to run this action: it is a robot`,
		quorum.ReasonNoSecrets: `
			Error: the OCTO_SECRET is missing|##[error]Input required and not supplied: octo-token
			Input required and not supplied: secret|Error: required environment variable OCTO_TOKEN is empty
			env OCTO_API_KEY is unset|OCTO_API_KEY: parameter null or not set|$OCTO_TOKEN was not defined
			"OCTO_API_KEY" not configured|secret OCTO_SECRET is required|input octo_api-key is not provided
			OCTO_API_KEY secret not found|OCTO_API_KEY not set in this run|OCTO_API_KEY not set for forks
			KeyError: 'OCTO_TOKEN'|KeyError: 'OCTO_SECRET'|TypeError: Could not resolve authentication method.
			Missing secret: OCTO_TOKEN|Missing env var OCTO_SECRET|Missing inputs: octo_token
			Either OCTO_API_KEY or OCTO_FILE must be set
			No secrets are available|No API key set|Review was skipped: a fork|Review skipped, no secrets here
			Review skipped, the secret is not there|Can't review PRs from forks
			::error::PR is from a fork (bob/x). Cannot review fork PRs due to secret access restrictions.
			##[error]Input required and not supplied: github-token|Error: GEMINI_API_KEY is not set
			Error: Missing API key|Environment variable OCTO_TOKEN not set.
			./ask.sh: line 9: OCTO_TOKEN: parameter null or not set
			./ask.sh: line 3: OCTO_API_KEY: unbound variable
			  - Either OCTO_API_KEY or OCTO_OAUTH_TOKEN is required here.`,
		quorum.ReasonRateLimit: `
			google.api_core.exceptions.TooManyRequests: 429 slow|TooManyRequestsException: slow
			This request would exceed your account's rate limit|Too many requests, try again
			Too many requests, slow down|rate limit was hit|The rate limit is reached
			API rate limit has been exceeded (see the docs)|Rate limit exceeded by octo
			Rate limit exceeded · slow down
			WARNING Review limit reached|CRITICAL Review limit reached|FATAL Review limit reached
			FATAL: Review limit reached|CRITICAL: Review limit reached|{"message":"error: \"x\": Rate limit exceeded"}
			Aborted: Rate limit exceeded|Unable to review: Rate limit exceeded
			panic: Rate limit exceeded|Caused by: Rate limit exceeded|claude: Rate limit exceeded
			gemini: Rate limit exceeded|codex: Rate limit exceeded|copilot: Rate limit exceeded|Review limit exceeded
			Review rate limited|ERROR: exceeded retry limit, last status: 429 Too Many Requests
			429 Resource has been exhausted|Error response from daemon: toomanyrequests: too many pulls
			HTTP 429 Too Many Requests|{"type":"error","error":{"type":"rate_limit_error","message":"wait"}}
			ThrottlingException: Too many tokens, please wait a little.
			Error during the call: 429 Resource has been exhausted (e.g. look at your quota).`,
		quorum.ReasonQuota: `
			You have exhausted your daily quota on this model.|octo-bot has reached its usage limit
			We're out of tokens|Out of quota|You've exceeded your usage limits|You exceeded your current quota
			The quota was exceeded|Usage limits have been reached|Monthly quota has been used up · wait
			The quota is exhausted (see the docs)
			  "message": "Quota exceeded for quota metric 'Requests' and limit 'Requests per day'"
			You've hit your usage limit. Try again later.|quota exhausted
			Error: Code Assist API error (429): Individual quota reached. Ask for more.`,
		quorum.ReasonBudget: `
			Error: maximum number of turns reached|Max turns exceeded|Turn limit reached|The budget is used up
			Budget has been exceeded|orchestrator.BudgetExhaustedError|BudgetExhausted|ExecutionTimeout: 480 s`,
		quorum.ReasonDeclined: `
			Exiting due to workflow validation skip|Skipped this review|The review is skipped.
			Review skipped since it is a draft|Skipping action due to workflow validation error.
			##[error]Input required and not supplied: model`,
		quorum.ReasonTooLarge: `
			Too many files|Sorry, we are unable to review this pull request|The diff is too big
			This change is too large`,
		quorum.ReasonEmpty: `
			Reviewed 0 files in 3 s|0 files were reviewed|The answer came back empty|The API returned no content
			I wasn't able to see any files|The patch was empty|⎿  Done (0 tool uses · 0 tokens · 3m 46s)
			I am unable to retrieve any code|I can't open this pull request|I couldn't load your patch
			I cannot find the changes|I was unable to access the PR|The diff was unavailable|The patch is not available
			The model returned an empty response|The review is empty|The output was empty`,
		quorum.ReasonModelRefusal: `
			Error: the model refused`,
		quorum.ReasonHung: `
			The job running on runner GitHub Actions 3 has exceeded the maximum execution time of 6 minutes.
			The action 'review' has timed out after 5 minutes.`,
		quorum.ReasonUnknown: `
			TypeError: a list is no dict|json.decoder.JSONDecodeError: Expecting value
			  // returns "429 Too Many Requests"|  // error: 429 Too Many Requests
			  throw new Error("Rate limit exceeded")|    raise RateLimitError('Rate limit exceeded')
			  except (ConnectionError, TimeoutError):|  ConnectionError,|class RateLimitError: pass
			INFO:httpx:HTTP Request: POST https://example.com "HTTP/1.1 429 Too Many Requests"
			**Error handling**: Rate limit exceeded.|1. Error handling: Rate limit exceeded.
			Error handling: Invalid API key is accepted in tests|Fixed: TimeoutError: the client waits longer
			ConnectionError is caught twice in client.py|Missing input validation in the handler
			The access_token is not set before the first call|Process completed with exit code 1.|2 problems found
			The code retries on 503 Service Unavailable and on ECONNRESET; an invalid API key is fatal.`,
	} {
		for _, line := range strings.FieldsFunc(lines, func(r rune) bool { return r == '|' || r == '\n' }) {
			line = strings.TrimLeft(line, "\t")
			if got := Read(autoReviewer(), Material{Kind: Log, Body: line}); line != "" && got.Reason != want {
				t.Errorf("%q is %v (%v), want %v", line, got.Outcome, got.Reason, want)
			}
		}
	}
}

func TestLogWaits(t *testing.T) {
	for _, c := range []struct {
		body   string
		reset  time.Duration
		until  string
		reason quorum.Reason
	}{
		{
			"429 Too Many Requests: You exceeded your current quota\n  * Quota: GenerateRequestsPerMinute\nPlease retry in 54.5s",
			54*time.Second + 500*time.Millisecond, "", quorum.ReasonRateLimit,
		},
		{"Error: 429 quota exceeded for requests per minute, retry in 54s", 54 * time.Second, "", quorum.ReasonRateLimit},
		{
			"You have exhausted your capacity on this model. Your quota will reset after 19h14m47s.",
			19*time.Hour + 14*time.Minute + 47*time.Second, "", quorum.ReasonQuota,
		},
		{"HTTP 429\nretry-after: 30", 30 * time.Second, "", quorum.ReasonRateLimit},
		{"Rate limit exceeded. Try again in 6m0s.", 6 * time.Minute, "", quorum.ReasonRateLimit},
		{"usage limit reached|1790000000", 0, "2026-09-21T14:13:20Z", quorum.ReasonQuota},
		{"You've hit your limit · resets 2026-09-12 20:00 UTC", 0, "2026-09-12T20:00:00Z", quorum.ReasonQuota},
		{"You've hit your limit · resets Sep 12, 8pm (UTC)", 0, "", quorum.ReasonQuota},
		{
			"Error: Rate limit of 50 per 86400s exceeded for octo-pro. Please wait 43120 seconds before the next.",
			43120 * time.Second, "", quorum.ReasonRateLimit,
		},
		{"Rate limit exceeded, retry after 2h", 2 * time.Hour, "", quorum.ReasonRateLimit},
		{"Rate limit exceeded. Try again in 3 days.", 72 * time.Hour, "", quorum.ReasonRateLimit},
		{"HTTP 429\n  \"retryDelay\": \"53s\"", 53 * time.Second, "", quorum.ReasonRateLimit},
		{"HTTP 429\nx-ratelimit-reset-requests: 6m0s", 6 * time.Minute, "", quorum.ReasonRateLimit},
		{"HTTP 429\nX-RateLimit-Reset: 1790000000", 0, "2026-09-21T14:13:20Z", quorum.ReasonRateLimit},
		{"HTTP 429\n  \"resetTime\": \"2026-09-12T20:00:00Z\"", 0, "2026-09-12T20:00:00Z", quorum.ReasonRateLimit},
		{"HTTP 429\nRetry-After: Sat, 12 Sep 2026 20:00:00 GMT", 0, "2026-09-12T20:00:00Z", quorum.ReasonRateLimit},
		{"HTTP 429\n+retry in 3s\nRetrying in 4s", 0, "", quorum.ReasonRateLimit}, // a diff's, and the program's own
		{"You've hit your limit · resets 3pm (UTC)", 0, "", quorum.ReasonQuota},   // of which day nobody knows
		{"2026-09-12T10:00:00.1Z You've hit your limit · resets 3pm (UTC)", 0, "2026-09-12T15:00:00Z", quorum.ReasonQuota},
		{"2026-09-12T16:00:00.1Z You've hit your limit · resets at 15:30 UTC", 0, "2026-09-13T15:30:00Z", quorum.ReasonQuota},
		{"2026-12-30T16:00:00.1Z You've hit your limit · resets Jan 2, 8pm (UTC)", 0, "2027-01-02T20:00:00Z", quorum.ReasonQuota},
		{"2026-09-12T16:00:00.1Z You've hit your limit · resets 3pm (Europe/Paris)", 0, "", quorum.ReasonQuota},
		{"2026-09-12T16:00:00.1Z You've hit your limit · resets 25pm (UTC)", 0, "", quorum.ReasonQuota},
		{"Rate limit exceeded, retry in 9999999 days", maxWait, "", quorum.ReasonRateLimit},
		{"Rate limit exceeded, retry in 99999999999999999999h", maxWait, "", quorum.ReasonRateLimit},
	} {
		got := Read(autoReviewer(), Material{Kind: Log, Body: c.body})
		until := ""
		if !got.Until.IsZero() {
			until = got.Until.Format(time.RFC3339)
		}
		if got.Outcome != quorum.Limited || got.Reset != c.reset || until != c.until || got.Reason != c.reason {
			t.Errorf("%q: %v (%v) %v %q, want limited (%v) %v %q", c.body, got.Outcome, got.Reason, got.Reset, until, c.reason, c.reset, c.until)
		}
	}
}

func TestWaitForms(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"wait another 5 minutes": 5 * time.Minute, "retry in 5m30s": 330 * time.Second, "try again in 2 hrs": 2 * time.Hour,
		"available in 59 minutes and 3 seconds": 59*time.Minute + 3*time.Second, "wait for 1 hour, 2 mins": 62 * time.Minute,
		"wait up to 90 secs": 90 * time.Second, "retry after 1 day": 24 * time.Hour, "wait about 1 min": time.Minute,
		"another review in 7 minutes": 7 * time.Minute, "resets in 1d 2h": 26 * time.Hour, "retry-after: 250ms": 250 * time.Millisecond,
		"available again in 1 hr": time.Hour, "retrydelay: '2s'": 2 * time.Second, "retry_after\": 30": 30 * time.Second,
		"reset after 1 second": time.Second, "wait 3 more": 0, "wait 5 messages": 0, "retry 3": 0, "waited 3 s": 0,
	} {
		if got := (Reading{}).withWaitInLine(line, time.Time{}); got.Reset != want {
			t.Errorf("%q: %v, want %v", line, got.Reset, want)
		}
	}
	for _, line := range []string{
		"resets on 2026-09-12 20:00", "available at 2026-09-12t20:00z", "try again after 2026-09-12 22:00:00+02:00",
		"retry at 2026-09-12t20:00:00.000z", "reset_at=2026-09-12t20:00:00z", "resets at 1789243200", "reset: 1789243200",
	} {
		got := Reading{}.withWaitInLine(line, time.Time{})
		if want := time.Date(2026, 9, 12, 20, 0, 0, 0, time.UTC); !got.Until.Equal(want) {
			t.Errorf("%q: %v, want %v", line, got.Until, want)
		}
	}
}

func TestLogConclusion(t *testing.T) {
	for conclusion, want := range map[string]quorum.Outcome{
		"success": quorum.Empty, "neutral": quorum.Declined, "skipped": quorum.Declined, "timed_out": quorum.Hung,
		"failure": quorum.Unknown, "cancelled": quorum.Unknown, "startup_failure": quorum.Unknown, "": quorum.Unknown, "new": quorum.Unknown,
	} {
		if got := Read(autoReviewer(), Material{Kind: Log, Body: "reading the diff", Conclusion: conclusion}); got.Outcome != want {
			t.Errorf("%q: %v, want %v", conclusion, got.Outcome, want)
		}
	}
}

func TestOnlyTheEndOfALogCounts(t *testing.T) {
	long := "Error: Invalid API key\n" + strings.Repeat("working on it\n", MaxLog/14+1)
	if got := Read(autoReviewer(), Material{Kind: Log, Body: long}); got.Outcome != quorum.Unknown {
		t.Errorf("before the last MiB: %v", got.Outcome)
	}
	if got := Read(autoReviewer(), Material{Kind: Log, Body: long + "Error: HTTP 503\n"}); got.Outcome != quorum.Overloaded {
		t.Errorf("at the end: %v", got.Outcome)
	}
	bar := strings.Repeat("x", MaxLog) + "\rError: HTTP 429 rate limit exceeded\r"
	if got := Read(autoReviewer(), Material{Kind: Log, Body: bar}); got.Outcome != quorum.Limited {
		t.Errorf("behind a bar of progress, in a log of one line: %v", got.Outcome)
	}
}
