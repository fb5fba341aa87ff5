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
		{"503", "503 Service Unavailable", quorum.Overloaded, none},
		{"503 of a client", "Error: HTTP 503 Service Unavailable", quorum.Overloaded, none},
		{"529", `API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, quorum.Overloaded, none},
		{"reset", "Error: read ECONNRESET\n    at TLSWrap.onStreamRead", quorum.Overloaded, none},
		{"dns", "Error: getaddrinfo ENOTFOUND api.example.com", quorum.Overloaded, none},
		{"curl", "curl: (28) Operation timed out", quorum.Overloaded, none},
		{"go", "Post \"https://api.example.com\": dial tcp: lookup api.example.com: i/o timeout", quorum.Overloaded, none},
		{"curl -f", "curl: (22) The requested URL returned error: 503", quorum.Overloaded, none},
		{"git", "fatal: unable to access 'https://example.com/a/b/': The requested URL returned error: 502", quorum.Overloaded, none},
		{"git, and no such page", "fatal: unable to access 'https://example.com/a/b/': The requested URL returned error: 404", quorum.Unknown, none},
		{"git, and no such host", "fatal: unable to access 'https://example.com/a/b/': Could not resolve host: example.com", quorum.Overloaded, none},
		{
			"no such host of a resolver",
			"Error: Post \"https://api.example.com/v1\": dial tcp: lookup api.example.com on 127.0.0.53:53: no such host",
			quorum.Overloaded, none,
		},
		{"the action's address", "##[warning]Failed to resolve action download info. Error: the socket was closed", quorum.Overloaded, none},
		{"the action's file", "##[warning]Failed to download action 'https://example.com/tarball/v1'. Error: the socket was closed", quorum.Overloaded, none},
		{"a registry's limit", "Error response from daemon: toomanyrequests: too many pulls", quorum.Limited, quorum.ReasonRateLimit},
		{"high demand", "We're currently experiencing high demand, so that some answers fail.", quorum.Overloaded, none},
		{"lost runner", "The hosted runner lost communication with the server. Anything in your workflow", quorum.Overloaded, none},
		{"shutdown", "##[error]The runner has received a shutdown signal.", quorum.Overloaded, none},
		{"overloaded", "The model is overloaded. Please try again later.", quorum.Overloaded, none},
		{"pretty unavailable", "{\n  \"error\": {\n    \"code\": 503,\n    \"status\": \"UNAVAILABLE\"\n  }\n}", quorum.Overloaded, none},
		{"limiting", "API Error: Server is temporarily limiting requests (not your usage limit)", quorum.Overloaded, none},
		{"stamped and coloured", "2026-03-01T10:00:00.1234567Z \x1b[31mError: connect ECONNREFUSED 10.0.0.1:443\x1b[0m", quorum.Overloaded, none},
		{"execution time", "The job running on runner GitHub Actions 3 has exceeded the maximum execution time of 6 minutes.", quorum.Hung, none},
		{"step time", "The action 'review' has timed out after 5 minutes.", quorum.Hung, none},
		{
			"credit",
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`,
			quorum.Failed, quorum.ReasonBilling,
		},
		{
			"insufficient quota",
			"insufficient_quota: You exceeded your current quota, please check your plan and billing details.",
			quorum.Failed, quorum.ReasonBilling,
		},
		{
			"payments",
			"The job was not started because recent account payments have failed or your spending limit needs to be increased.",
			quorum.Failed, quorum.ReasonBilling,
		},
		{"budget", "orchestrator.BudgetExhaustedError", quorum.Failed, quorum.ReasonBudget},
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
		{"key", "Error: API key not valid. Please pass a valid API key.", quorum.Failed, quorum.ReasonCredentials},
		{"too long", "Error: prompt is too long: 210000 tokens > 200000 maximum", quorum.Failed, quorum.ReasonInvalid},
		{"no write", "##[error]Actor does not have write permissions to the repository", quorum.Failed, quorum.ReasonInvalid},
		{"fork", "::error::PR is from a fork (bob/x). Cannot review fork PRs due to secret access restrictions.", quorum.Declined, quorum.ReasonNoSecrets},
		{"validation", "Skipping action due to workflow validation error.", quorum.Declined, quorum.ReasonDeclined},
		{"429", "HTTP 429 Too Many Requests", quorum.Limited, quorum.ReasonRateLimit},
		{"rate", `{"type":"error","error":{"type":"rate_limit_error","message":"wait"}}`, quorum.Limited, quorum.ReasonRateLimit},
		{"per day", "  \"message\": \"Quota exceeded for quota metric 'Requests' and limit 'Requests per day'\"", quorum.Limited, quorum.ReasonQuota},
		{"daily", "You have exhausted your daily quota on this model.", quorum.Limited, quorum.ReasonQuota},
		{"usage", "You've hit your usage limit. Try again later.", quorum.Limited, quorum.ReasonQuota},
		{"a 503 and a quota", "Error: HTTP 503\nYou have exhausted your daily quota on this model.", quorum.Limited, quorum.ReasonQuota},
		{"hollow", "⎿  Done (0 tool uses · 0 tokens · 3m 46s)", quorum.Empty, none},
		{
			"a pool of requests",
			"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): " +
				"Max retries exceeded with url: /v1 (Caused by NewConnectionError('refused'))",
			quorum.Overloaded, none,
		},
		{"aborted", "ConnectionError: ('Connection aborted.', RemoteDisconnected('nobody there'))", quorum.Overloaded, none},
		{"read timeout", "requests.exceptions.ReadTimeout: the answer did not come", quorum.Overloaded, none},
		{"urllib3", "urllib3.exceptions.NewConnectionError: nobody listens", quorum.Overloaded, none},
		{"urllib3, and no name", "urllib3.exceptions.NameResolutionError: no such name", quorum.Overloaded, none},
		{"urllib3, and no more tries", "urllib3.exceptions.MaxRetryError: given up", quorum.Overloaded, none},
		{"httpx", "httpx.RemoteProtocolError: Server disconnected without sending a response.", quorum.Overloaded, none},
		{"httpx, bare", "httpx.ConnectError", quorum.Overloaded, none},
		{"httpx, and no connection", "httpx.ConnectError: All connection attempts failed", quorum.Overloaded, none},
		{"httpx, and no name", "httpx.ConnectError: [Errno -2] Name or service not known", quorum.Overloaded, none},
		{"a client on httpx", "openai.APITimeoutError: it took too long", quorum.Overloaded, none},
		{"Python's own", "ConnectionResetError: [Errno 104] the peer is gone", quorum.Overloaded, none},
		{"requests, and 503", "requests.exceptions.HTTPError: 503 Server Error: busy for url: https://api.example.com", quorum.Overloaded, none},
		{
			"requests, and 401", "requests.exceptions.HTTPError: 401 Client Error: who? for url: https://api.example.com",
			quorum.Failed, quorum.ReasonCredentials,
		},
		{"httpx, and 403", "httpx.HTTPStatusError: Client error '403 Forbidden' for url 'x'", quorum.Failed, quorum.ReasonCredentials},
		{"httpx, and 502", "httpx.HTTPStatusError: Server error '502 Bad Gateway' for url 'x'", quorum.Overloaded, none},
		{
			"pydantic", "pydantic_core._pydantic_core.ValidationError: 1 validation error for Answer\nverdict\n  it is no word",
			quorum.Failed, quorum.ReasonInvalid,
		},
		{"zod", "ZodError: [", quorum.Failed, quorum.ReasonInvalid},
		{"validation of GitHub's", "HttpError: Validation Failed: a line outside the diff", quorum.Failed, quorum.ReasonInvalid},
		{"validation after a 503", "Error: HTTP 503\nError: Validation failed: no verdict", quorum.Failed, quorum.ReasonInvalid},
		{"no input", "##[error]Input required and not supplied: github-token", quorum.Declined, quorum.ReasonNoSecrets},
		{"no input, and no key", "##[error]Input required and not supplied: model", quorum.Declined, quorum.ReasonDeclined},
		{"no key", "Error: GEMINI_API_KEY is not set", quorum.Declined, quorum.ReasonNoSecrets},
		{"no key in words", "Error: Missing API key", quorum.Declined, quorum.ReasonNoSecrets},
		{"no key in the environment", "Environment variable OCTO_TOKEN not set.", quorum.Declined, quorum.ReasonNoSecrets},
		{"no key to a shell", "./ask.sh: line 9: OCTO_TOKEN: parameter null or not set", quorum.Declined, quorum.ReasonNoSecrets},
		{"no model", "Missing required environment variable: MODEL", quorum.Failed, quorum.ReasonInvalid},
		{
			"a step's own time, and a timeout", "ExecutionTimeoutError: review\nError: the request timed out after 480 s",
			quorum.Failed, quorum.ReasonBudget,
		},
		{"a finding about exceptions", "ConnectionError is caught twice in client.py", quorum.Unknown, none},
		{"a finding about inputs", "Missing input validation in the handler", quorum.Unknown, none},
		{"a finding about keys", "The access_token is not set before the first call", quorum.Unknown, none},
		{"exit code", "Process completed with exit code 1.", quorum.Unknown, none},
		{"trace", "Traceback (most recent call last):\nKeyError: parts", quorum.Unknown, none},
		{"problems", "2 problems found", quorum.Unknown, none},
		{"a verdict", yes, quorum.Unknown, none},
		{"a diff", "+503 Service Unavailable\n-Error: HTTP 503\n+\treturn errors.New(\"Invalid API key\")", quorum.Unknown, none},
		{"prose", "The code retries on 503 Service Unavailable and on ECONNRESET; an invalid API key is fatal.", quorum.Unknown, none},
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
}
