// Package client sends requests to one GitHub. It promises that what it hands on is what GitHub said: an answer that is
// cut off, no JSON where it is read, or a page short of a list is an error and never a smaller truth; a limit is an
// error with the moment at which it ends; a write is sent once. No token leaves it but in a request to GitHub's own
// API.
package client

// The client: go-github's, for one token at one GitHub. The layers below it, outermost first: retry → rate gate →
// authorization → conditional cache → whole answers → transport. The cache stands below the authorization because an
// ETag of GitHub's depends on it.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	ghtransport "github.com/bored-engineer/github-conditional-http-transport"
	"github.com/failsafe-go/failsafe-go"
	gogithub "github.com/google/go-github/v60/github"
	"golang.org/x/oauth2"
)

// Options say which GitHub, and as whom.
type Options struct {
	BaseURL   string            // GITHUB_API_URL; "" is https://api.github.com, GitHub Enterprise Server is https://host/api/v3
	Token     string            // GITHUB_TOKEN or a personal token
	App       *App              // or: a GitHub App, whose installation [Client.Install] finds
	Actions   bool              // we run in a job: a token of unknown shape is the job's
	Transport http.RoundTripper // nil: one with timeouts of its own
	UserAgent string            // "" is "review-coordinator"
	Log       *slog.Logger      // nil: nothing is logged
	Now       func() time.Time  // nil: time.Now
	Cache     ResponseCache     // where answers are remembered; nil: in memory
	Reserve   bool              // a twentieth of an hour is left to others, and a turn that is far is a [LimitError]: for a server
	Observed  Observer          // told of each answer; may be nil

	Jitter func(most time.Duration) time.Duration // returns a random time below most; nil: by math/rand
}

// An Observer is told of each answer of GitHub's API: the endpoint as a template of few, known words, the status, 0 for
// a transport fault, and how long it took. It is called by several goroutines.
type Observer func(endpoint string, status int, took time.Duration)

// Format keeps the token out of every verb.
func (o Options) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "github.Options(%s)", redactURL(o.BaseURL))
}

// LogValue keeps the token out of every handler.
func (o Options) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(o)) }

// A Client sends requests to one GitHub with one token. It may be used by several goroutines.
type Client struct {
	*githubHost
	api            *gogithub.Client
	logs           http.RoundTripper // for signed URLs outside the API: without the token
	guarded        http.RoundTripper // the same, but dials no private address
	forgetResponse func(url string)  // drops a remembered answer
	limits         *limits
	stats          *stats
	token          secret
	app            *appAuth // nil: the client has a token
	personal       bool
}

// A githubHost is the part that all clients of one GitHub share.
type githubHost struct {
	base     *url.URL // ends in a slash
	graphql  string   // address of all queries
	agent    string
	wire     http.RoundTripper // to GitHub
	private  http.RoundTripper // the same, but dials no private address
	retry    failsafe.Executor[*http.Response]
	answers  ResponseCache
	reserve  bool
	observed Observer
	now      func() time.Time
	log      *slog.Logger
}

// Format keeps the token out of every verb.
func (c *Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "github.Client(%s)", c.base) }

// A Response is what came with an answer's body.
type Response struct {
	Status  int
	Changed bool      // false: GitHub said that it is what we had read before
	Date    time.Time // GitHub's clock; zero if the answer does not tell
	Next    string    // path of the next page; "" at the end of a list
}

// Counts are the requests that were sent to GitHub's API, retries and redirects included.
type Counts struct {
	Sent        int
	NotModified int // of them answered with 304: free of the hourly budget
	GraphQL     int
	Methods     map[string]int
}

// New returns a client, or says what is wrong with the options. It sends nothing.
func New(o Options) (*Client, error) {
	g, err := newHost(o, 2*maxParallel)
	if err != nil {
		return nil, err
	}
	if o.App == nil {
		return g.tokenClient(o)
	}
	counted := &stats{}
	s, err := newSigner(g, *o.App, counted)
	if err != nil {
		return nil, err
	}
	return g.appClient(&appAuth{signer: s}, newLimits(g, counted)), nil
}

// newHost checks what all clients share. idle is how many connections are kept.
func newHost(o Options, idle int) (*githubHost, error) {
	base, err := baseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	g := &githubHost{
		base: base, graphql: base.JoinPath("graphql").String(), agent: cmp.Or(o.UserAgent, "review-coordinator"),
		wire: o.Transport, private: o.Transport, answers: o.Cache, reserve: o.Reserve,
		retry:    newRetryPolicy(o.Jitter), //nolint:bodyclose // a policy holds no answer
		observed: o.Observed, now: o.Now, log: o.Log,
	}
	if strings.HasSuffix(base.Path, "/api/v3/") {
		g.graphql = base.JoinPath("../graphql").String()
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.answers == nil {
		g.answers = newMemoryCache()
	}
	if o.Transport == nil {
		g.wire = newTransport(&net.Dialer{Timeout: dialTimeout}, idle)
		g.private = newTransport(&net.Dialer{Timeout: dialTimeout, Control: refusePrivate}, maxParallel)
	}
	return g, nil
}

// tokenClient returns a client with a token that never changes.
func (g *githubHost) tokenClient(o Options) (*Client, error) {
	token := secret(strings.TrimSpace(o.Token))
	switch {
	case token == "":
		return nil, errors.New("open GitHub: no token")
	case strings.ContainsFunc(string(token), func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("open GitHub: the token holds a space or a character that no token has")
	}
	c := g.newClient(token, newLimits(g, &stats{}))
	c.personal = isPersonalToken(string(token), o.Actions)
	cache := c.cacheLayer(func() int64 { return 0 })
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(token)})
	c.connect(g.authorizedLayers(&oauth2.Transport{Source: source, Base: cache}, c.limits))
	return c, nil
}

// appClient returns a client whose tokens a brings.
func (g *githubHost) appClient(a *appAuth, l *limits) *Client {
	c := g.newClient("", l) // an installation's token comes with each request
	c.app = a
	a.next = c.cacheLayer(a.installationID)
	c.connect(g.authorizedLayers(a, l))
	return c
}

// connect puts go-github's client upon the layers, which answer for all requests that c sends.
func (c *Client) connect(layers http.RoundTripper) {
	c.api = gogithub.NewClient(&http.Client{Transport: layers, CheckRedirect: c.checkRedirect})
	c.api.BaseURL, c.api.UserAgent = c.base, c.agent
}

func (g *githubHost) newClient(token secret, l *limits) *Client {
	outside := func(next http.RoundTripper) http.RoundTripper {
		return &retrier{
			policy: g.retry,
			log:    g.log,
			next:   &wholeReader{next: next, now: g.now, token: token, log: g.log},
		}
	}
	return &Client{
		githubHost: g, logs: outside(g.wire), guarded: outside(g.private), limits: l, stats: l.stats, token: token,
		forgetResponse: func(string) {}, // nothing is remembered
	}
}

// authorizedLayers is what stands above authorization.
func (g *githubHost) authorizedLayers(auth http.RoundTripper, l *limits) *retrier {
	return &retrier{policy: g.retry, log: g.log, next: &gate{next: &hostGuard{host: g.base, next: auth}, limits: l}}
}

// wireLayer is what stands below authorization and conditions.
func (g *githubHost) wireLayer(token secret, counted *stats) *wholeReader {
	return &wholeReader{
		next:     g.wire,
		now:      g.now,
		token:    token,
		log:      g.log,
		stats:    counted,
		observed: g.observed,
	}
}

// cacheLayer is the same behind a memory of answers, which is the tenant's own.
func (c *Client) cacheLayer(tenant func() int64) http.RoundTripper {
	s := &responseStorage{cache: c.answers, tenant: tenant}
	c.forgetResponse = s.forget
	return ghtransport.NewTransport(s, c.wireLayer(c.token, c.stats))
}

const dialTimeout = 10 * time.Second

// baseURL checks where the token will be sent.
func baseURL(text string) (*url.URL, error) {
	if text == "" {
		text = "https://api.github.com"
	}
	shown := text
	if at := strings.LastIndex(shown, "@"); at >= 0 { // however odd the rest, a password stands before it
		shown = "***" + shown[at:]
		if strings.ContainsAny(text[:at], "?#") {
			shown = "***"
		}
	}
	if end := strings.IndexAny(shown, "?#"); end >= 0 {
		shown = shown[:end+1] + "..." // a secret, perhaps
	}
	shown = redactURL(shown)
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read API URL: %s is no URL", shown) // url.Parse would quote a password
	case u.User != nil:
		return nil, errors.New("read API URL: it must hold no user or password")
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("read API URL: %s is not of the form https://host/path", shown)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u.JoinPath("/"), nil
	}
	return nil, fmt.Errorf("read API URL: %s must be https: the token would travel in the clear", shown)
}

func redactURL(text string) string { return secret("").redact(text) }

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// isPersonalToken tells a person's token by its prefix. Check runs can be written only by an App, so by a job's or an
// installation's token.
func isPersonalToken(token string, actions bool) bool {
	for _, prefix := range []string{"ghp_", "github_pat_", "gho_", "ghu_"} {
		if strings.HasPrefix(token, prefix) {
			return true
		}
	}
	return !strings.HasPrefix(token, "ghs_") && !actions
}

// Personal says that the token is a person's and cannot write check runs.
func (c *Client) Personal() bool { return c.personal }

// IsGitHubCom says that the API is github.com's: other hosts number accounts and Apps in their own way.
func (c *Client) IsGitHubCom() bool { return c.base.Host == "api.github.com" }

// AppID is the id of the App whose key the client has; 0 of a token.
func (c *Client) AppID() int64 {
	if c.app == nil || c.app.signer == nil {
		return 0
	}
	return c.app.id
}

// Skew is GitHub's clock minus the local one, as the last answer showed it, where that exceeds two seconds; else 0.
func (c *Client) Skew() time.Duration { return c.stats.clockOffset() }

// Requests counts what was sent so far.
func (c *Client) Requests() Counts {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	n := c.stats.counts
	n.Methods = maps.Clone(n.Methods)
	return n
}

// Get reads path, which is relative to the API and may hold a query, into into (nil: only the status matters).
func (c *Client) Get(ctx context.Context, path string, into any) (Response, error) {
	return c.Send(ctx, http.MethodGet, path, nil, into)
}

// GetPage reads a page of a list like [Client.Get]. One of more than 8 MiB is an [ErrTooLong]: it can be asked for in
// smaller ones, of which passing says that they are so many that none is remembered.
func (c *Client) GetPage(ctx context.Context, path string, passing bool, into any) (Response, error) {
	return c.sendExchange(ctx, &exchange{isPage: true, isPassing: passing}, http.MethodGet, path, nil, into)
}

// Send writes. It is tried again only if nothing of it left this machine: after ErrTransport it may have been carried
// out.
func (c *Client) Send(ctx context.Context, method, path string, body, into any) (Response, error) {
	return c.sendExchange(ctx, &exchange{}, method, path, body, into)
}

func (c *Client) sendExchange(ctx context.Context, k *exchange, method, path string, body, into any) (Response, error) {
	req, err := c.newRequest(method, path, body)
	if err != nil {
		return Response{}, err
	}
	answer, err := c.api.Do(context.WithValue(ctx, exchangeKey{}, k), req, into)
	r := Response{}
	if answer != nil {
		r = Response{Status: answer.StatusCode, Changed: answer.Header.Get(fromCache) != isUnchanged}
		r.Date, _ = http.ParseTime(answer.Header.Get("Date"))
	}
	switch err = c.explain(ctx, req, answer, err); {
	case err != nil:
		return r, err
	case into != nil && answer.ContentLength == 0 && r.Status != http.StatusNoContent: // go-github takes nothing for anything
		return r, c.wrapError(req, &fault{what: "answer is nothing"})
	}
	if r.Next, err = nextPage(path, answer); err != nil {
		return r, c.wrapError(req, err)
	}
	return r, nil
}

// newRequest returns a request to a path below the API's.
func (c *Client) newRequest(method, path string, body any) (*http.Request, error) {
	to, err := parseAPIPath(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, redactURL(path), err)
	}
	req, err := c.api.NewRequest(method, to.String(), body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: build request: %s", method, redactURL(path), c.token.redact(err.Error()))
	}
	return req, nil
}

// GraphQL asks query and reads the answer's data into into. An answer with errors is an error, whatever data came with
// it. It is repeated like a read, so it refuses to send a mutation.
func (c *Client) GraphQL(ctx context.Context, query string, vars map[string]any, into any) error {
	if !strings.HasPrefix(strings.TrimSpace(query), "query") && !strings.HasPrefix(strings.TrimSpace(query), "{") {
		return errors.New("ask GraphQL: only queries may be repeated")
	}
	req, err := c.api.NewRequest(http.MethodPost, c.graphql, graphqlQuery{query, vars})
	if err != nil {
		return fmt.Errorf("POST graphql: build request: %s", c.token.redact(err.Error()))
	}
	k := &exchange{graphql: true, repeatable: true, isPage: true}
	answer, err := c.api.Do(context.WithValue(ctx, exchangeKey{}, k), req, nil)
	if err = c.explain(ctx, req, answer, err); err != nil {
		return err
	}
	if len(k.response.Errors) > 0 {
		return k.response.newAPIError(c.token)
	}
	if err := json.Unmarshal(k.response.Data, into); err != nil {
		return c.wrapError(req, otherShape(c.token, err))
	}
	return nil
}

// maxHops bounds the redirects that one request may follow.
const maxHops = 5

// checkRedirect keeps the token on the API's host: a redirect to another one is an error. A write is repeated only where
// HTTP says that the first host did not carry it out. A file's signed URL is left to [Client.download].
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.Method != via[0].Method, isFileElsewhere(req):
		return http.ErrUseLastResponse
	case len(via) >= maxHops:
		return fmt.Errorf("more than %d redirects", maxHops)
	case !sameHost(req.URL, c.base):
		return fmt.Errorf("a redirect to another host (%s) is not followed", c.token.redact(req.URL.Host))
	}
	return nil
}

func isFileElsewhere(req *http.Request) bool {
	return exchangeOf(req).tailBytes > 0 && req.Response.StatusCode == http.StatusFound
}

// nextPage is the path of a list's next page, as go-github reads the answer's Link. A list that goes on in a way that it
// does not read would be a short list: an error.
func nextPage(path string, answer *gogithub.Response) (string, error) {
	links := strings.ReplaceAll(strings.Join(answer.Header["Link"], ","), `"`, "")
	if !strings.Contains(links, "rel=next") {
		return "", nil
	}
	u, err := url.Parse(path)
	if err != nil {
		return "", err // unreachable: it was asked for
	}
	q := u.Query()
	switch {
	case answer.NextPage > 0:
		q.Set("page", strconv.Itoa(answer.NextPage))
	case answer.Cursor != "":
		q.Set("cursor", answer.Cursor)
	case answer.After != "":
		q.Set("after", answer.After)
	default:
		return "", &fault{what: "the list goes on, but not at a page that has a number or a cursor"}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// explain returns what an answer of go-github's means in the words of this package; nil: it is what was asked for.
func (c *Client) explain(ctx context.Context, req *http.Request, answer *gogithub.Response, err error) error {
	var accepted *gogithub.AcceptedError // which is none, but go-github reads no body then
	if errors.As(err, &accepted) {
		if err = nil; req.Method == http.MethodGet {
			err = c.wrapError(req, &fault{what: "GitHub answers a read with 202, before there is an answer"})
		}
		return err
	}
	switch {
	case err == nil:
		return nil
	case answer == nil:
		return c.wrapError(req, c.rootCause(ctx, err))
	case answer.StatusCode >= 300:
		return c.newAPIError(req, answer.Response)
	}
	c.forgetResponse(answer.Request.URL.String())
	return c.wrapError(req, otherShape(c.token, err))
}

func (c *Client) wrapError(req *http.Request, err error) error {
	return fmt.Errorf("%s %s: %w", req.Method, c.apiPath(req.URL), err)
}

// apiPath is a URL's path below the API's, for errors.
func (c *Client) apiPath(u *url.URL) string {
	if u.String() == c.graphql {
		return "graphql"
	}
	return c.token.redact(strings.TrimPrefix(u.Path, c.base.Path))
}

func otherShape(token secret, err error) error {
	return &fault{what: token.redact("answer is not what was asked for: " + err.Error())}
}

// rootCause finds what happened below the words of the layers and of package http, which quote URLs.
func (c *Client) rootCause(ctx context.Context, err error) error {
	var f *fault
	var limit *LimitError
	var token *noTokenError
	var outer *url.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		if f.what == noJSON {
			f.hint = addressHint(c.base)
		}
		return f
	case errors.As(err, &limit):
		return limit
	case errors.As(err, &token):
		return token
	case errors.Is(err, context.DeadlineExceeded): // the gate saw that our turn comes after the caller's deadline
		return context.DeadlineExceeded
	case errors.Is(err, ErrTooLong):
		return ErrTooLong
	case errors.As(err, &outer):
		err = outer.Err
	}
	if strings.HasPrefix(err.Error(), "failed to parse Location header") { // it quotes an address that may be signed
		return errors.New("a redirect to no address")
	}
	return errors.New(c.token.redact(err.Error()))
}

// newAPIError is what GitHub answered instead of doing it.
func (c *Client) newAPIError(req *http.Request, resp *http.Response) error {
	body, err := bufferBody(resp)
	if err != nil {
		return c.wrapError(req, &fault{what: "the refusal is cut off"}) // unreachable unless a body is not in memory
	}
	e := &APIError{
		Status: resp.StatusCode, Method: req.Method, Path: c.apiPath(req.URL),
		Permission: c.token.redact(resp.Header.Get("X-Accepted-GitHub-Permissions")),
		SignOn:     signOnAddress(resp.Header.Get("X-Github-Sso"), c.base),
	}
	e.Message = cmp.Or(c.token.redact(errorMessage(body)), http.StatusText(e.Status))
	e.Missing = strings.HasPrefix(e.Message, "Resource not accessible by")
	to, err := resp.Location()
	switch {
	case e.Status < 400 && err != nil:
		return c.wrapError(req, &fault{what: fmt.Sprintf("a %d without a place to go", e.Status)})
	case e.Status < 400:
		e.Message = "moved to " + c.token.redact(to.Path)
	case resp.Request.URL.Host == c.base.Host && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		e.Message, e.address = e.Message+" (a page, and no answer of an API)", addressHint(c.base)
	}
	return e
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

// hostGuard keeps the token on one host, whatever the layers above decide.
type hostGuard struct {
	host *url.URL
	next http.RoundTripper
}

func (o *hostGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !sameHost(req.URL, o.host) {
		return nil, errors.New("another host gets no token") // unreachable unless checkRedirect is wrong
	}
	return o.next.RoundTrip(req)
}

// parseAPIPath reads a path below the API's. It refuses those that would leave it: names in them come from events and
// policies.
func parseAPIPath(path string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimPrefix(path, "/"))
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Path == "" || u.Path[0] == '/' {
		return nil, errors.New("build request: not a path of the API")
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == ".." || part == "." {
			return nil, errors.New("build request: a path of the API goes nowhere but down")
		}
	}
	return u, nil
}

type graphqlQuery struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables,omitempty"`
}

type graphqlResponse struct {
	Data   json.RawMessage `json:"data"`
	Errors []graphqlError  `json:"errors"`
}

type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// readGraphQL tells an answer that GitHub failed to give in time, or at all, from one that says no, and reads what is neither.
func (c *exchange) readGraphQL(body []byte) error {
	c.response = graphqlResponse{}
	a := &c.response
	if err := json.Unmarshal(body, a); err != nil {
		return &fault{what: "answer is not GraphQL's"}
	}
	if len(a.Errors) == 0 && (len(a.Data) == 0 || bytes.Equal(a.Data, []byte("null"))) {
		return &fault{what: "answer holds no data"}
	}
	for _, e := range a.Errors {
		words := strings.ToLower(e.Message)
		if strings.HasPrefix(words, "something went wrong while executing your query") ||
			strings.HasPrefix(words, "we couldn't respond to your request in time") {
			return &fault{silent: true, what: "GraphQL gave no answer in time"}
		}
	}
	return nil
}

// readLimit says whether an answer is a limit. A spent budget comes with status 200 and a type.
func (a graphqlResponse) readLimit() (primary, secondary bool) {
	for _, e := range a.Errors {
		primary = primary || strings.HasPrefix(e.Type, "RATE_LIMIT")
		secondary = secondary || strings.Contains(strings.ToLower(e.Message), "secondary rate limit")
	}
	return primary && !secondary, secondary
}

// newAPIError is GraphQL's no, with the status that REST would have given.
func (a graphqlResponse) newAPIError(token secret) *APIError {
	first := a.Errors[0]
	e := &APIError{Status: http.StatusOK, Method: http.MethodPost, Path: "graphql", Message: token.redact(first.Message)}
	switch first.Type {
	case "NOT_FOUND":
		e.Status = http.StatusNotFound
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		e.Status = http.StatusForbidden
	}
	e.Missing = strings.HasPrefix(e.Message, "Resource not accessible by")
	return e
}
