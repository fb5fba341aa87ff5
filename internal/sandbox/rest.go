package sandbox

// How a request comes in and an answer goes out: routes, pages, ETags, rate limits, and the request log.

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
	"strconv"
	"strings"
	"time"
)

// logHost is where a job's log is fetched from when requests come through RoundTrip. It is another host than the API's,
// as it is in life, and like that one it refuses a request that carries the API's token.
const logHost = "logs.sandbox.invalid"

// maxBody is more than any request needs.
const maxBody = 8 << 20

// object is a JSON object on the wire. It is open: GitHub adds fields at any time.
type object = map[string]any

// Request is a request as it was answered.
type Request struct {
	At          time.Time
	Method      string
	Path        string // without the prefix of an Enterprise Server
	Query       string
	Status      int  // 0: nothing was answered
	NotModified bool // answered 304, which costs nothing
	Fault       bool // a fault struck it
}

// Requests lists all requests so far, those included that never arrived.
func (g *GitHub) Requests() []Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Request(nil), g.log...)
}

// ForgetRequests empties the list of requests.
func (g *GitHub) ForgetRequests() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = nil
}

// Unknown lists the requests that this GitHub does not know.
func (g *GitHub) Unknown() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.unknown...)
}

// Invalid lists the requests that were answered 422, and why.
func (g *GitHub) Invalid() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.invalid...)
}

// Spend uses up so many requests of the hour, as other jobs of the repository do.
func (g *GitHub) Spend(requests int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	g.budget.hour(g.now())
	g.budget.used += requests
}

type answer struct {
	status int
	body   any    // marshalled, unless raw is set
	raw    []byte // the body as it is
	header map[string]string
}

func ok(body any) answer      { return answer{status: 200, body: body} }
func created(body any) answer { return answer{status: 201, body: body} }

func problem(status int, message string) answer {
	return answer{status: status, body: object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}}
}

func notFound() answer { return problem(404, "Not Found") }

// A call is a request with what its route found in it.
type call struct {
	*http.Request
	path   string // without prefix
	segs   []string
	params map[string]string
	body   []byte
	failed error // the body could not be read
	values url.Values
	now    time.Time
	base   string   // scheme and host, and the prefix of an Enterprise Server, for links
	later  []func() // what must be called when the lock is gone
	wire   bool     // it came through a server, not through RoundTrip
	graph  *graphRequest
}

func (r *call) num(name string) int64 {
	n, _ := strconv.ParseInt(r.params[name], 10, 64)
	return n
}

func (r *call) query(name string) string {
	if r.values == nil {
		r.values = r.URL.Query()
	}
	return r.values.Get(name)
}

// newCall reads a request.
func newCall(req *http.Request, wire bool) *call {
	r := &call{Request: req, wire: wire, base: baseURL(req, wire)}
	r.path, r.segs = split(req.URL)
	if req.Body != nil {
		r.body, r.failed = io.ReadAll(io.LimitReader(req.Body, maxBody+1))
		req.Body.Close()
	}
	return r
}

// decode reads the body into a value.
func (r *call) decode(into any) error {
	if len(bytes.TrimSpace(r.body)) == 0 {
		return nil
	}
	return json.Unmarshal(r.body, into)
}

// valid says whether the body, if there is one, is JSON.
func (r *call) valid() bool {
	if r.path == "/graphql" {
		if _, err := r.graphRequest(); err == nil {
			return true
		}
	}
	return len(bytes.TrimSpace(r.body)) == 0 || json.Valid(r.body)
}

// A route answers what has its method and pattern. {x} is one segment, {n:x} one of digits only, {x...} the rest.
type route struct {
	method  string
	pattern string
	segs    []string
	answer  func(*GitHub, *call) answer
}

const repoPattern = "/repos/{owner}/{repo}"

var routes = allRoutes()

func allRoutes() []route {
	var all []route
	add := func(rs []route) {
		for _, r := range rs {
			r.pattern = strings.Replace(r.pattern, "R/", repoPattern+"/", 1)
			r.segs = strings.Split(strings.Trim(r.pattern, "/"), "/")
			all = append(all, r)
		}
	}
	add(pullRoutes())
	add(runRoutes())
	add(checkRoutes())
	add(repoRoutes())
	return all
}

func (r *route) match(method string, got []string) (map[string]string, bool) {
	if r.method != method || len(got) < len(r.segs) {
		return nil, false
	}
	rest := strings.HasSuffix(r.segs[len(r.segs)-1], "...}")
	if len(got) > len(r.segs) && !rest {
		return nil, false
	}
	for i, s := range r.segs {
		switch {
		case strings.HasPrefix(s, "{n:"):
			if strings.Trim(got[i], "0123456789") != "" || got[i] == "" {
				return nil, false
			}
		case !strings.HasPrefix(s, "{") && s != got[i]:
			return nil, false
		}
	}
	params := map[string]string{}
	for i, s := range r.segs {
		switch {
		case strings.HasSuffix(s, "...}"):
			params[s[1:len(s)-4]] = strings.Join(got[i:], "/")
		case strings.HasPrefix(s, "{n:"):
			params[s[3:len(s)-1]] = got[i]
		case strings.HasPrefix(s, "{"):
			params[s[1:len(s)-1]] = got[i]
		}
	}
	return params, true
}

// split cuts the escaped path, so that a branch name with an escaped slash stays one segment.
func split(u *url.URL) (path string, segs []string) {
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

// carryOut finds the route and lets it answer.
func (g *GitHub) carryOut(r *call) answer {
	for i := range routes {
		params, found := routes[i].match(r.Method, r.segs)
		if !found {
			continue
		}
		if params["owner"] != "" && (!strings.EqualFold(params["owner"], g.owner) || !strings.EqualFold(params["repo"], g.repo)) {
			return notFound()
		}
		r.params = params
		a := routes[i].answer(g, r)
		if a.status == 422 {
			g.invalid = append(g.invalid, fmt.Sprintf("%s %s: %s", r.Method, r.path, message(a)))
		}
		return a
	}
	g.unknown = append(g.unknown, r.Method+" "+r.path)
	return notFound()
}

func message(a answer) string {
	if o, isObject := a.body.(object); isObject {
		return fmt.Sprint(o["message"])
	}
	return ""
}

// outcome is what comes of a request.
type outcome struct {
	answer
	fault *Fault
	err   error // the caller gave up
}

// serve reads a request, lets a fault strike, carries it out, and keeps the books.
func (g *GitHub) serve(req *http.Request, wire bool) outcome {
	g.announce(req)
	return g.handle(newCall(req, wire))
}

// announce says that a request comes, before it is looked at.
func (g *GitHub) announce(req *http.Request) {
	g.mu.Lock()
	before := g.before
	g.mu.Unlock()
	if before != nil {
		before(req)
	}
}

func (g *GitHub) handle(r *call) outcome {
	req := r.Request
	g.mu.Lock()
	after := g.after
	r.now = g.settle()
	f := strike(g.faults, req.Method, r.path, r.now)
	entry := Request{At: r.now, Method: req.Method, Path: r.path, Query: req.URL.RawQuery, Fault: f != nil}
	var a answer
	if f == nil || f.carried() {
		a = g.guarded(r)
	}
	arrives := f == nil || f.err() == nil && f.Kind != FaultHang
	if f != nil && arrives {
		a = f.answer(a)
	}
	a = g.finish(r, a)
	if arrives {
		entry.Status, entry.NotModified = a.status, a.status == http.StatusNotModified
	}
	g.log = append(g.log, entry)
	later := r.later
	g.mu.Unlock()

	for _, call := range later {
		call()
	}
	if f != nil && f.Kind == FaultHang {
		<-req.Context().Done()
		return outcome{fault: f, err: req.Context().Err()}
	}
	if after != nil {
		after(req, entry.Status)
	}
	return outcome{answer: a, fault: f}
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

// guarded stands before every route: who asks, how often, and with what.
func (g *GitHub) guarded(r *call) answer {
	isLog := r.segs[0] == "_logs"
	token := r.Header.Get("Authorization")
	switch {
	case isLog && !r.wire && token != "":
		return answer{status: 401, raw: []byte("<?xml version=\"1.0\"?><Error><Code>InvalidAuthenticationInfo</Code></Error>"), header: map[string]string{"Content-Type": "application/xml"}}
	case isLog:
		return g.carryOut(r)
	case r.failed != nil || len(r.body) > maxBody:
		return problem(400, "Problems reading the body")
	case token == "":
		return problem(401, "Requires authentication")
	case !r.valid():
		return problem(400, "Problems parsing JSON")
	}
	if a, fine := g.budget.spend(r.Method, r.path, r.now); !fine {
		return a
	}
	if r.path == "/graphql" {
		return g.graphql(r)
	}
	return g.carryOut(r)
}

// finish renders an answer and gives it the headers that GitHub gives to all.
func (g *GitHub) finish(r *call, a answer) answer {
	if a.status == 0 {
		return a
	}
	a.header = roomy(a.header)
	if a.raw == nil && a.body != nil {
		a.raw = render(a.body)
		a.header = withDefault(a.header, "Content-Type", "application/json; charset=utf-8")
	}
	a.header = withDefault(a.header, "Date", r.now.UTC().Format(http.TimeFormat))
	if strings.HasPrefix(r.path, "/_logs/") {
		return a
	}
	a = conditional(r, a, g.budget)
	g.budget.limits(r, &a)
	a.header = withDefault(a.header, "X-Github-Media-Type", "github.v3; format=json")
	a.header = withDefault(a.header, "X-Github-Request-Id", fmt.Sprintf("5A4D:%04X", len(g.log)+1))
	return a
}

// mostHeaders is more than an answer has.
const mostHeaders = 14

// roomy has room for what every answer gets.
func roomy(h map[string]string) map[string]string {
	room := make(map[string]string, mostHeaders)
	maps.Copy(room, h)
	return room
}

func withDefault(h map[string]string, name, value string) map[string]string {
	if h[name] == "" {
		return with(h, name, value)
	}
	return h
}

// conditional gives an answer its ETag and turns it into a 304 if the caller has it. The tag depends on the token as well
// as on the body, so that it is of no use to another token, and it can be worked out by who knows the rule: the values of
// Accept, Authorization and Cookie, each with a colon, then the body, in SHA-256.
func conditional(r *call, a answer, b *budget) answer {
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
	a.header = with(a.header, "Etag", `W/"`+tag+`"`)
	a.header = with(a.header, "Vary", "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With")
	a.header = with(a.header, "Cache-Control", "private, max-age=60, s-maxage=60")
	if !strings.Contains(r.Header.Get("If-None-Match"), `"`+tag+`"`) {
		return a
	}
	b.refund() // a 304 costs nothing
	delete(a.header, "Content-Type")
	a.status, a.raw = http.StatusNotModified, nil
	return a
}

func (b *budget) limits(r *call, a *answer) {
	s := b.state()
	resource, used := "core", s.used
	if r.path == "/graphql" {
		resource, used = "graphql", s.usedGQL
	}
	a.header = withDefault(a.header, "X-Ratelimit-Resource", resource)
	a.header = withDefault(a.header, "X-Ratelimit-Limit", strconv.Itoa(s.limit))
	a.header = withDefault(a.header, "X-Ratelimit-Used", strconv.Itoa(used))
	a.header = withDefault(a.header, "X-Ratelimit-Remaining", strconv.Itoa(max(s.limit-used, 0)))
	a.header = withDefault(a.header, "X-Ratelimit-Reset", strconv.FormatInt(s.reset.Unix(), 10))
}

// ServeHTTP answers under / and under /api/v3/, as an Enterprise Server does.
func (g *GitHub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g.serve(req, true).write(w)
}

// write sends the answer, or drops the connection.
func (o outcome) write(w http.ResponseWriter) {
	if o.err != nil || o.fault != nil && o.fault.err() != nil {
		panic(http.ErrAbortHandler) // the server drops the connection
	}
	o.fill(w.Header())
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

// RoundTrip answers a request without a network, whatever its host.
func (g *GitHub) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return g.serve(req, false).response(req)
}

// fill sets the answer's headers, whose values share one array.
func (o outcome) fill(h http.Header) {
	values := make([]string, 0, len(o.header))
	for name, value := range o.header {
		values = append(values, value)
		n := len(values)
		h[http.CanonicalHeaderKey(name)] = values[n-1 : n : n]
	}
}

// response is the answer as the caller of a RoundTripper has it.
func (o outcome) response(req *http.Request) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.fault != nil && o.fault.err() != nil {
		return nil, o.fault.err()
	}
	res := &http.Response{
		Status: fmt.Sprintf("%d %s", o.status, http.StatusText(o.status)), StatusCode: o.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, len(o.header)), ContentLength: int64(len(o.raw)), Request: req,
	}
	o.fill(res.Header)
	var body io.Reader = bytes.NewReader(o.raw)
	if o.fault != nil && o.fault.Kind == FaultTruncate {
		body = io.MultiReader(bytes.NewReader(o.raw[:len(o.raw)/2]), broken{})
	}
	res.Body = io.NopCloser(body)
	return res, nil
}

// broken is the end of an answer that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// list cuts a list as per_page and page ask and names its neighbours as GitHub does. With a name the list is part of an
// object that also counts it.
func list[T any](r *call, all []T, show func(T) any, name string) answer {
	per, _ := strconv.Atoi(r.query("per_page"))
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	page, _ := strconv.Atoi(r.query("page"))
	page = max(page, 1)
	last := max((len(all)+per-1)/per, 1)
	from, to := min((page-1)*per, len(all)), min(page*per, len(all))

	items := make([]any, 0, to-from)
	for _, x := range all[from:to] {
		items = append(items, show(x))
	}
	a := answer{status: 200, body: items}
	if name != "" {
		a.body = object{"total_count": len(all), name: items}
	}
	var links []string
	link := func(n int, rel string) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", r.base, r.path, q.Encode(), rel))
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

// stamp is a time as GitHub writes it, in whole seconds; null if it is zero.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// orNull is a string, or null if it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r *route) endpoint() string {
	return r.method + " " + strings.NewReplacer("{n:", "{", "...}", "}").Replace(r.pattern)
}

// Endpoints lists what a GitHub answers over REST, in the words of GitHub's OpenAPI description: "METHOD /path/{parameter}".
func Endpoints() []string {
	var all []string
	for _, r := range routes {
		if r.segs[0] != "_logs" { // another host's
			all = append(all, r.endpoint())
		}
	}
	return all
}
