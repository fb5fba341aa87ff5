package sandbox

// Requests in and answers out: routes, pages, ETags, rate limits, and the request log.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// logHost is where a job's log is fetched from when requests come through RoundTrip. It is another host than the API's,
// as it is in life, and like that one it refuses a request that carries the API's token.
const logHost = "logs.sandbox.invalid"

// maxBody is the longest body that is read: longer than any request needs.
const maxBody = 8 << 20

// LoggedRequest is a request with the status of its answer.
type LoggedRequest struct {
	At          time.Time
	Method      string
	Path        string // without the prefix of an Enterprise Server
	Query       string
	Status      int  // 0: nothing was answered
	NotModified bool // answered 304, which costs nothing
	Faulted     bool // a fault struck it
	Points      int  // what its query costs of the hour's points; 0 of a request over REST
}

// A front is where requests arrive: what it was asked, and what goes wrong with it.
type front struct {
	serve           func(req *http.Request, wire bool) requestOutcome
	guard           lock // of what follows
	faults          []*Fault
	requestLog      []LoggedRequest
	unknownRequests []string
	afterRequest    func(*http.Request, int)
}

// ServeHTTP answers under / and under /api/v3/, as an Enterprise Server does.
func (f *front) ServeHTTP(w http.ResponseWriter, req *http.Request) { f.serve(req, true).writeTo(w) }

// RoundTrip answers a request without a network, whatever its host.
func (f *front) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return f.serve(req, false).httpResponse(req)
}

// Requests lists all requests so far, those included that never arrived. A Hub lists those that reached no repository:
// those of the App itself, and refused ones.
func (f *front) Requests() []LoggedRequest {
	defer f.guard.held()()
	return slices.Clone(f.requestLog)
}

// ForgetRequests empties the list of requests.
func (f *front) ForgetRequests() {
	defer f.guard.held()()
	f.requestLog = nil
}

// UnknownRequests lists the requests that this GitHub does not know.
func (f *front) UnknownRequests() []string {
	defer f.guard.held()()
	return slices.Clone(f.unknownRequests)
}

// AfterRequest sets a function that is called after a request was carried out, with the status of its answer, 0 if
// the answer got lost.
func (f *front) AfterRequest(call func(req *http.Request, status int)) {
	defer f.guard.held()()
	f.afterRequest = call
}

// callAfterRequest calls the function of AfterRequest.
func (f *front) callAfterRequest(req *http.Request, status int) {
	call := func() func(*http.Request, int) {
		defer f.guard.held()()
		return f.afterRequest
	}()
	if call != nil {
		call(req, status)
	}
}

// logRequest enters a request with its answer into the list.
func (f *front) logRequest(r *routedRequest, status int, faulted bool) {
	defer f.guard.held()()
	f.requestLog = append(f.requestLog, LoggedRequest{
		At: r.now, Method: r.Method, Path: r.path, Query: r.URL.RawQuery, Status: status,
		NotModified: status == http.StatusNotModified, Faulted: faulted, Points: r.graphPoints,
	})
}

// answerUnknown answers a request that has no route.
func (f *front) answerUnknown(r *routedRequest) routeAnswer {
	defer f.guard.held()()
	f.unknownRequests = append(f.unknownRequests, r.Method+" "+r.path)
	return answerNotFound()
}

// InvalidRequests lists the requests that were answered 422, and why.
func (g *GitHub) InvalidRequests() []string {
	defer g.mu.held()()
	return slices.Clone(g.invalidRequests)
}

// SpendRequests uses up so many requests of the hour, as other jobs of the repository do.
func (g *GitHub) SpendRequests(requests int) {
	defer g.mu.held()()
	defer g.budget.mu.held()()
	g.budget.renewHour(g.now())
	g.budget.used += requests
}

type routeAnswer struct {
	status int
	body   any    // marshalled, unless raw is set
	raw    []byte // the body as it is
	header map[string]string
}

func answerOK(body any) routeAnswer { return routeAnswer{status: 200, body: body} }

func answerCreated(body any) routeAnswer { return routeAnswer{status: 201, body: body} }

func answerRaw(status int, kind string, raw []byte) routeAnswer {
	return routeAnswer{status: status, raw: raw, header: map[string]string{"Content-Type": kind}}
}

func answerError(status int, message string) routeAnswer {
	return routeAnswer{
		status: status,
		body:   object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)},
	}
}

func answerNotFound() routeAnswer { return answerError(404, "Not Found") }

// A routedRequest is a request with its path, its parameters and its body.
type routedRequest struct {
	*http.Request
	path        string // without prefix
	segments    []string
	params      map[string]string
	body        []byte
	bodyError   error // the body could not be read
	queryValues url.Values
	now         time.Time
	baseURL     string   // scheme and host, and the prefix of an Enterprise Server, for links
	afterUnlock []func() // called as soon as the lock is released
	overNetwork bool     // it came through a server, not through RoundTrip
	graphBody   *graphRequest
	graphPoints int // what its query costs
}

func (r *routedRequest) intParam(name string) int64 {
	n, _ := strconv.ParseInt(r.params[name], 10, 64)
	return n
}

func (r *routedRequest) queryParam(name string) string {
	if r.queryValues == nil {
		r.queryValues = r.URL.Query()
	}
	return r.queryValues.Get(name)
}

// newRoutedRequest reads a request.
func newRoutedRequest(req *http.Request, wire bool) *routedRequest {
	r := &routedRequest{Request: req, overNetwork: wire, baseURL: baseURL(req, wire)}
	r.path, r.segments = splitPath(req.URL)
	if req.Body != nil {
		r.body, r.bodyError = io.ReadAll(io.LimitReader(req.Body, maxBody+1))
		req.Body.Close()
	}
	return r
}

// decodeBody reads the body into a value.
func (r *routedRequest) decodeBody(into any) error {
	if len(bytes.TrimSpace(r.body)) == 0 {
		return nil
	}
	return json.Unmarshal(r.body, into)
}

// hasValidBody reports whether the body is JSON, or empty.
func (r *routedRequest) hasValidBody() bool {
	if r.path == "/graphql" {
		if _, err := r.readGraphRequest(); err == nil {
			return true
		}
	}
	return len(bytes.TrimSpace(r.body)) == 0 || json.Valid(r.body)
}

// A handler answers the requests of a route.
type handler = func(*GitHub, *routedRequest) routeAnswer

// A route answers the requests with its method and pattern. {x} is one segment, {n:x} one of digits only, {x...} the
// rest.
type route struct {
	method   string
	pattern  string
	segments []string
	handle   handler
}

func onGet(pattern string, handle handler) route {
	return route{method: "GET", pattern: pattern, handle: handle}
}

func onPost(pattern string, handle handler) route {
	return route{method: "POST", pattern: pattern, handle: handle}
}

const repoPattern = "/repos/{owner}/{repo}"

var routes = allRoutes()

func allRoutes() []route {
	var all []route
	add := func(rs []route) {
		for _, r := range rs {
			r.pattern = strings.Replace(r.pattern, "R/", repoPattern+"/", 1)
			r.segments = strings.Split(strings.Trim(r.pattern, "/"), "/")
			all = append(all, r)
		}
	}
	add(pullRoutes())
	add(runRoutes())
	add(checkRoutes())
	add(repoRoutes())
	add(treeRoutes())
	add(proposalRoutes())
	add(settingsRoutes())
	return all
}

// match returns the parameters of a request that the route answers.
func (r *route) match(method string, got []string) (params map[string]string, found bool) {
	if r.method != method {
		return nil, false
	}
	for i, s := range r.segments {
		name, isParam := strings.CutPrefix(strings.TrimSuffix(s, "}"), "{")
		number, isNumber := strings.CutPrefix(name, "n:")
		rest, isRest := strings.CutSuffix(name, "...")
		switch {
		case i >= len(got), !isParam && s != got[i], isNumber && (got[i] == "" || strings.Trim(got[i], "0123456789") != ""):
			return nil, false
		case isParam && params == nil:
			params = map[string]string{}
		}
		switch {
		case isRest:
			params[rest] = strings.Join(got[i:], "/")
			return params, true
		case isParam:
			params[number] = got[i]
		}
	}
	return params, len(got) == len(r.segments)
}

// splitPath cuts the escaped path, so that a branch name with an escaped slash stays one segment.
func splitPath(u *url.URL) (path string, segs []string) {
	path = u.EscapedPath()
	if rest, found := strings.CutPrefix(path, "/api/v3/"); found {
		path = "/" + rest
	} else if path == "/api/graphql" {
		path = "/graphql"
	}
	for _, s := range strings.Split(strings.Trim(path, "/"), "/") {
		plain, err := url.PathUnescape(s)
		if err != nil {
			plain = s
		}
		segs = append(segs, plain)
	}
	return path, segs
}

// callRoute finds the route of a request and calls it.
func (g *GitHub) callRoute(r *routedRequest) routeAnswer {
	for i := range routes {
		params, found := routes[i].match(r.Method, r.segments)
		if !found {
			continue
		}
		ofFork := routes[i].pattern == repoPattern+"/activity" && hasForkBy(g.pulls, params["owner"])
		isKnown := ofFork || strings.EqualFold(params["owner"], g.owner)
		if params["owner"] != "" && (!isKnown || !strings.EqualFold(params["repo"], g.repo)) {
			return answerNotFound()
		}
		r.params = params
		a := routes[i].handle(g, r)
		if a.status == 422 {
			g.invalidRequests = append(g.invalidRequests, fmt.Sprintf("%s %s: %s", r.Method, r.path, errorMessage(a)))
		}
		return a
	}
	return g.answerUnknown(r)
}

func errorMessage(a routeAnswer) string {
	if o, isObject := a.body.(object); isObject {
		return fmt.Sprint(o["message"])
	}
	return ""
}

// requestOutcome is the answer to a request, and the fault that it met.
type requestOutcome struct {
	routeAnswer
	fault *Fault
	err   error // the caller gave up
}

// serveRequest announces a request, reads it and answers it.
func (g *GitHub) serveRequest(req *http.Request, wire bool) requestOutcome {
	g.callBeforeRequest(req)
	return g.handleRequest(newRoutedRequest(req, wire))
}

// callBeforeRequest calls the function of BeforeRequest.
func (g *GitHub) callBeforeRequest(req *http.Request) {
	before := func() func(*http.Request) {
		defer g.mu.held()()
		return g.beforeRequest
	}()
	if before != nil {
		before(req)
	}
}

func (g *GitHub) handleRequest(r *routedRequest) requestOutcome {
	o := carryOut(g, r)
	for _, call := range r.afterUnlock {
		call()
	}
	if o.fault.hangs() {
		return r.awaitCaller(o.fault)
	}
	status := o.status
	if !o.fault.letsAnswerArrive() {
		status = 0
	}
	g.callAfterRequest(r.Request, status)
	return o
}

// awaitCaller waits until the caller gives up.
func (r *routedRequest) awaitCaller(f *Fault) requestOutcome {
	<-r.Context().Done()
	return requestOutcome{fault: f, err: r.Context().Err()}
}

// carryOut carries out a request under the lock. A route that panics leaves no lock behind: who plays a scenario goes on
// asking.
func carryOut(g *GitHub, r *routedRequest) requestOutcome {
	defer g.mu.held()()
	r.now = g.carryOutDue()
	f := g.triggerFault(r)
	var a routeAnswer
	if f.isCarriedOut() {
		a = g.checkAndAnswer(r)
	}
	arrives := f.letsAnswerArrive()
	if arrives {
		a = f.replaceAnswer(a)
	}
	a = g.finishAnswer(r, a)
	if arrives {
		g.logRequest(r, a.status, f != nil)
	} else {
		g.logRequest(r, 0, true)
	}
	return requestOutcome{routeAnswer: a, fault: f}
}

func baseURL(req *http.Request, wire bool) string {
	host, scheme := req.URL.Host, req.URL.Scheme
	if wire {
		host, scheme = req.Host, "http"
		if req.TLS != nil {
			scheme = "https"
		}
	}
	prefix := ""
	if strings.HasPrefix(req.URL.Path, "/api/v3/") {
		prefix = "/api/v3"
	}
	return scheme + "://" + host + prefix
}

// checkAndAnswer checks a request's authorization, its body and the rate limit before it is answered.
func (g *GitHub) checkAndAnswer(r *routedRequest) routeAnswer {
	isLog := r.segments[0] == "_logs"
	token := r.Header.Get("Authorization")
	switch {
	case isLog && !r.overNetwork && token != "":
		const refusal = `<?xml version="1.0"?><Error><Code>InvalidAuthenticationInfo</Code></Error>`
		return answerRaw(401, "application/xml", []byte(refusal))
	case isLog:
		return g.callRoute(r)
	case r.bodyError != nil || len(r.body) > maxBody:
		return answerError(400, "Problems reading the body")
	case token == "":
		return answerError(401, "Requires authentication")
	case !r.hasValidBody():
		return answerError(400, "Problems parsing JSON")
	}
	if r.path == "/graphql" {
		r.graphPoints = queryPoints(g, r)
	}
	if a, fine := g.budget.spendRequest(r); !fine {
		return a
	}
	if r.path == "/graphql" {
		return g.answerGraphQL(r)
	}
	return g.callRoute(r)
}

// finishAnswer renders an answer of the GitHub.
func (g *GitHub) finishAnswer(r *routedRequest, a routeAnswer) routeAnswer {
	if a.status == 0 {
		return a
	}
	a = r.finishAnswer(a, g.budget)
	g.answered++
	if !strings.HasPrefix(r.path, "/_logs/") {
		a.header = withDefaultHeader(a.header, "X-Github-Request-Id", fmt.Sprintf("5A4D:%04X", g.answered))
	}
	return a
}

// finishAnswer renders an answer and gives it the headers that GitHub gives to all.
func (r *routedRequest) finishAnswer(a routeAnswer, b *budget) routeAnswer {
	a.header = copyHeaders(a.header)
	if a.raw == nil && a.body != nil {
		a.raw = renderJSON(a.body)
		a.header = withDefaultHeader(a.header, "Content-Type", "application/json; charset=utf-8")
	}
	a.header = withDefaultHeader(a.header, "Date", r.now.UTC().Format(http.TimeFormat))
	if strings.HasPrefix(r.path, "/_logs/") {
		return a
	}
	a = applyETag(r, a, b)
	b.addLimitHeaders(r, &a)
	a.header = withDefaultHeader(a.header, "X-Github-Media-Type", "github.v3; format=json")
	return a
}

// maxHeaders is room for more headers than an answer has.
const maxHeaders = 14

// copyHeaders copies headers into a map with room for those that every answer gets.
func copyHeaders(h map[string]string) map[string]string {
	room := make(map[string]string, maxHeaders)
	maps.Copy(room, h)
	return room
}

func withDefaultHeader(h map[string]string, name, value string) map[string]string {
	if h[name] == "" {
		return withHeader(h, name, value)
	}
	return h
}

// applyETag gives an answer its ETag and turns it into a 304 if the caller has it. The tag depends on the token as
// well as on the body, so that it is of no use with another token, and a client can compute it itself: the values of
// Accept, Authorization and Cookie, each with a colon, then the body, in SHA-256.
func applyETag(r *routedRequest, a routeAnswer, b *budget) routeAnswer {
	if a.status != 200 || r.Method != http.MethodGet || r.path == "/rate_limit" {
		return a
	}
	h := sha256.New()
	for _, name := range []string{"Accept", "Authorization", "Cookie"} {
		for _, v := range r.Header.Values(name) {
			io.WriteString(h, v+":")
		}
	}
	h.Write(a.raw)
	tag := hex.EncodeToString(h.Sum(nil))
	a.header = withHeader(a.header, "Etag", `W/"`+tag+`"`)
	a.header = withHeader(a.header, "Vary", "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With")
	a.header = withHeader(a.header, "Cache-Control", "private, max-age=60, s-maxage=60")
	if !strings.Contains(r.Header.Get("If-None-Match"), `"`+tag+`"`) {
		return a
	}
	b.refundRequest() // a 304 costs nothing
	delete(a.header, "Content-Type")
	a.status, a.raw = http.StatusNotModified, nil
	return a
}

func (b *budget) addLimitHeaders(r *routedRequest, a *routeAnswer) {
	s := b.currentState()
	resource, used := "core", s.used
	if r.path == "/graphql" {
		resource, used = "graphql", s.usedGQL
	}
	a.header = withDefaultHeader(a.header, "X-Ratelimit-Resource", resource)
	a.header = withDefaultHeader(a.header, "X-Ratelimit-Limit", strconv.Itoa(s.limit))
	a.header = withDefaultHeader(a.header, "X-Ratelimit-Used", strconv.Itoa(used))
	a.header = withDefaultHeader(a.header, "X-Ratelimit-Remaining", strconv.Itoa(max(s.limit-used, 0)))
	a.header = withDefaultHeader(a.header, "X-Ratelimit-Reset", strconv.FormatInt(s.reset.Unix(), 10))
}

// writeTo sends the answer, or drops the connection.
func (o requestOutcome) writeTo(w http.ResponseWriter) {
	if o.err != nil || o.fault.transportError() != nil {
		panic(http.ErrAbortHandler) // the server drops the connection
	}
	o.fillHeader(w.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(o.raw)))
	if o.status == http.StatusNotModified || o.status == http.StatusNoContent {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(o.status)
	if o.fault != nil && o.fault.Kind == FaultTruncate {
		w.Write(o.raw[:len(o.raw)/2])
		panic(http.ErrAbortHandler)
	}
	w.Write(o.raw)
}

// fillHeader sets the answer's headers, whose values share one array.
func (o requestOutcome) fillHeader(h http.Header) {
	values := make([]string, 0, len(o.header))
	for name, value := range o.header {
		values = append(values, value)
		n := len(values)
		h[http.CanonicalHeaderKey(name)] = values[n-1 : n : n]
	}
}

// httpResponse returns the answer as a caller of RoundTrip gets it.
func (o requestOutcome) httpResponse(req *http.Request) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	if err := o.fault.transportError(); err != nil {
		return nil, err
	}
	res := &http.Response{
		Status: fmt.Sprintf(
			"%d %s", o.status, http.StatusText(o.status),
		), StatusCode: o.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, len(o.header)), ContentLength: int64(len(o.raw)), Request: req,
	}
	o.fillHeader(res.Header)
	var body io.Reader = bytes.NewReader(o.raw)
	if o.fault != nil && o.fault.Kind == FaultTruncate {
		body = io.MultiReader(bytes.NewReader(o.raw[:len(o.raw)/2]), truncatedBody{})
	}
	res.Body = io.NopCloser(body)
	return res, nil
}

// truncatedBody ends an answer that breaks off.
type truncatedBody struct{}

func (truncatedBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// answerList answers with the page of a list that per_page and page ask for, and names the neighbouring pages as
// GitHub does.
func answerList[T, U any](r *routedRequest, all []T, show func(T) U) routeAnswer {
	per, _ := strconv.Atoi(r.queryParam("per_page"))
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	page, _ := strconv.Atoi(r.queryParam("page"))
	page = max(page, 1)
	last := max((len(all)+per-1)/per, 1)
	from, to := min((page-1)*per, len(all)), min(page*per, len(all))

	items := make([]any, 0, to-from)
	for _, x := range all[from:to] {
		items = append(items, show(x))
	}
	a := routeAnswer{status: 200, body: items}
	var links []string
	link := func(n int, rel string) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", r.baseURL, r.path, q.Encode(), rel))
	}
	if page > 1 {
		link(page-1, "prev")
		link(1, "first")
	}
	if page < last {
		link(page+1, "next")
		link(last, "last")
	}
	if links != nil {
		a.header = map[string]string{"Link": strings.Join(links, ", ")}
	}
	return a
}

// answerCounted answers with a list as a part of an object that also counts it.
func answerCounted[T, U any](r *routedRequest, name string, all []T, show func(T) U) routeAnswer {
	a := answerList(r, all, show)
	a.body = object{"total_count": len(all), name: a.body}
	return a
}

func asItIs(o object) object { return o }

func (r *route) endpoint() string {
	return r.method + " " + strings.NewReplacer("{n:", "{", "...}", "}").Replace(r.pattern)
}

// Endpoints lists the REST endpoints of a GitHub as GitHub's OpenAPI description writes them: "METHOD
// /path/{parameter}".
func Endpoints() []string {
	var all []string
	for _, r := range routes {
		if r.segments[0] != "_logs" { // another host's
			all = append(all, r.endpoint())
		}
	}
	return all
}
