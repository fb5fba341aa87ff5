package sandbox

// A GitHub of several repositories: an App, its installations, their tokens, and which token may see what.

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock is the time in which GitHub lives: real, faster, or that of a synctest bubble.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // ends early, with an error, when ctx does
}

// HubOptions say whose GitHub it is.
type HubOptions struct {
	App      App                                              // default: quorum-app. A GitHub that is added without an App of its own gets it
	Secret   string                                           // of the webhook
	Now      func() time.Time                                 // default time.Now
	Sleep    func(ctx context.Context, d time.Duration) error // of Latency and of late deliveries; default: a timer
	Latency  time.Duration                                    // how long each answer takes, at no cost of CPU
	Key      *rsa.PublicKey                                   // of the App; nil: its JWTs are read, and not verified
	Limit    int                                              // requests an hour of an installation; default 5,000
	Enforce  bool                                             // refuse what is more than the secondary limits of a minute allow
	Grants   map[string]string                                // what an installation's token may do; default: what the coordinator needs
	Events   []string                                         // of which an installation tells the App; default: what the coordinator needs
	Parallel int                                              // deliveries at a time; default 1
	Personal string                                           // the one personal token; "": any, where a GitHub was added to installation 0
}

// A Hub is GitHub with several repositories, for an App that is installed on them. All its methods may be called at any
// time by anyone.
//
// Installation 0 is none: a GitHub that is added to it is reached with a personal token, and its webhook is the
// repository's own, which names no installation.
type Hub struct {
	o     HubOptions
	began time.Time

	mu       sync.Mutex
	installs map[int64]*installation
	order    []*installation
	sites    map[string]*site // by lower-case owner/name, old names included
	siteIDs  map[int64]*site
	tokens   map[string]*pass
	minted   int
	crossed  []string
	faults   []*Fault
	log      []Request
	unknown  []string
	app      *budget // of requests that are signed by the App itself
	after    func(*http.Request, int)
	accounts map[string]json.RawMessage
	graphs   *graphCache
	stirred  chan struct{} // closed when something may have become due

	hooks hooks
	muted atomic.Bool
}

// installation is the App on an account.
type installation struct {
	id        int64
	account   string
	created   time.Time
	updated   time.Time
	suspended time.Time
	gone      bool
	sites     []*site
	budget    *budget
}

// site is a repository with its place in the Hub.
type site struct {
	g    *GitHub
	id   int64
	in   *installation
	name string // owner/name
}

// pass is a token of an installation.
type pass struct {
	in      *installation
	expires time.Time
	only    map[*site]bool // nil: all of the installation's
}

// NewHub makes a GitHub without repositories.
func NewHub(o HubOptions) *Hub {
	if o.App == (App{}) {
		o.App.Slug = "quorum-app"
	}
	if o.App.ID == 0 {
		o.App.ID = accountID(o.App.Slug)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Limit == 0 {
		o.Limit = 5000
	}
	if o.Grants == nil {
		o.Grants = map[string]string{
			"actions": "write", "checks": "write", "contents": "read", "issues": "read", "merge_queues": "read", "metadata": "read", "pull_requests": "write", "statuses": "read",
		}
	}
	h := &Hub{
		o: o, began: o.Now(), installs: map[int64]*installation{}, sites: map[string]*site{}, siteIDs: map[int64]*site{}, tokens: map[string]*pass{},
		app: &budget{of: "App " + strconv.FormatInt(o.App.ID, 10), limit: o.Limit}, accounts: map[string]json.RawMessage{}, graphs: &graphCache{}, stirred: make(chan struct{}),
	}
	h.hooks.bell = make(chan struct{})
	h.hooks.byID = map[int64]*Delivery{}
	return h
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// App is the App whose Hub this is, with its id.
func (h *Hub) App() App { return h.o.App }

// Add gives a repository to an installation, which comes to be with its first one. What was done to g before is not
// announced by any webhook. The installation's own events come only from [Hub.Install].
func (h *Hub) Add(installation int64, g *GitHub) {
	h.add(installation, g)
}

func (h *Hub) add(id int64, g *GitHub) *site {
	h.mu.Lock()
	in := h.installs[id]
	if in == nil {
		in = &installation{id: id, account: g.owner, created: h.o.Now(), updated: h.o.Now(), budget: &budget{of: fmt.Sprintf("installation ID %d", id), limit: h.o.Limit, books: true, enforce: h.o.Enforce}}
		h.installs[id] = in
		h.order = append(h.order, in)
	}
	s := &site{g: g, in: in, name: g.owner + "/" + g.repo, id: g.repoID}
	in.sites = append(in.sites, s)
	h.sites[strings.ToLower(s.name)] = s
	h.siteIDs[s.id] = s
	nth := int64(len(h.siteIDs))
	h.mu.Unlock()

	g.mu.Lock()
	defer g.mu.Unlock()
	g.budget, g.graphs = in.budget, h.graphs
	g.hook = &hook{hub: h, installation: id, repository: s.id}
	g.nextID += nth * 10_000_000 // ids are unlike in all repositories, but for those of what was there before
	if g.app == actions && g.person == "" && id != 0 {
		g.app = h.o.App
	}
	return s
}

// Install adds an installation with its repositories and announces it.
func (h *Hub) Install(installation int64, all ...*GitHub) {
	var sites []*site
	for _, g := range all {
		sites = append(sites, h.add(installation, g))
	}
	h.announce(installation, "installation", "created", object{"repositories": h.minimal(sites)})
}

func (h *Hub) installation(id int64) *installation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.installs[id]
}

// GitHub finds a repository by its name, or a former one; nil if there is none.
func (h *Hub) GitHub(owner, repo string) *GitHub {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sites[strings.ToLower(owner+"/"+repo)]; s != nil {
		return s.g
	}
	return nil
}

// Crossed lists the requests that asked with one installation's token for what is not in its reach: another
// installation's repository, or one that the token was not made for. All were answered 404.
func (h *Hub) Crossed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.crossed)
}

// Requests lists the requests that reached no repository: those of the App itself, and refused ones. What a repository
// answered is in its own list.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// Unknown lists the requests that neither the Hub nor any of its repositories knows.
func (h *Hub) Unknown() []string {
	h.mu.Lock()
	all := slices.Clone(h.unknown)
	sites := slices.Collect(maps.Values(h.siteIDs))
	h.mu.Unlock()
	for _, s := range sites {
		all = append(all, s.g.Unknown()...)
	}
	return all
}

// After sets what is called after each request, with the status of its answer, 0 if the answer got lost.
func (h *Hub) After(f func(req *http.Request, status int)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after = f
}

// Fault adds a fault that strikes requests to all repositories and to the App's own endpoints.
func (h *Hub) Fault(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.seen, f.struck, f.until = 0, 0, time.Time{}
	h.faults = append(h.faults, &f)
}

// ClearFaults ends the Hub's faults; those of its repositories stay.
func (h *Hub) ClearFaults() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = nil
}

// Mint makes a token of an installation, as the App's own request for one does.
func (h *Hub) Mint(installation int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, _ := h.mint(h.installs[installation], nil)
	return text
}

func (h *Hub) mint(in *installation, only map[*site]bool) (string, *pass) {
	h.minted++
	sum := sha256.Sum256(fmt.Appendf(nil, "token %d of %d", h.minted, in.id))
	text := "ghs_" + hex.EncodeToString(sum[:])[:36]
	t := &pass{in: in, expires: h.o.Now().Add(time.Hour).Truncate(time.Second), only: only}
	h.tokens[text] = t
	return text, t
}

// Minted says how many tokens were made.
func (h *Hub) Minted() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.minted
}

// Revoke makes all tokens of an installation invalid, as a rotation does.
func (h *Hub) Revoke(installation int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.tokens, func(_ string, t *pass) bool { return t.in.id == installation })
}

// Suspend suspends an installation: its tokens are refused, and its repositories send nothing.
func (h *Hub) Suspend(id int64) {
	h.change(id, func(in *installation) { in.suspended = h.o.Now() })
	h.announce(id, "installation", "suspend", nil)
}

// Unsuspend ends that.
func (h *Hub) Unsuspend(id int64) {
	h.change(id, func(in *installation) { in.suspended = time.Time{} })
	h.announce(id, "installation", "unsuspend", nil)
}

// Uninstall deletes an installation with its tokens.
func (h *Hub) Uninstall(id int64) {
	var sites []*site
	h.change(id, func(in *installation) { in.gone, sites = true, in.sites })
	h.Revoke(id)
	h.announce(id, "installation", "deleted", object{"repositories": h.minimal(sites)})
}

func (h *Hub) change(id int64, f func(*installation)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if in := h.installs[id]; in != nil {
		f(in)
		in.updated = h.o.Now()
	}
}

// AddRepositories gives further repositories to an installation and announces them.
func (h *Hub) AddRepositories(installation int64, all ...*GitHub) {
	var sites []*site
	for _, g := range all {
		sites = append(sites, h.add(installation, g))
	}
	h.announce(installation, "installation_repositories", "added", object{
		"repository_selection": "selected", "repositories_added": h.minimal(sites), "repositories_removed": []any{}, "requester": nil,
	})
}

// RemoveRepository takes a repository away from its installation and announces it.
func (h *Hub) RemoveRepository(g *GitHub) {
	h.mu.Lock()
	s := h.siteOf(g)
	if s == nil {
		h.mu.Unlock()
		return
	}
	in := s.in
	in.sites = slices.DeleteFunc(in.sites, func(x *site) bool { return x == s })
	maps.DeleteFunc(h.sites, func(_ string, x *site) bool { return x == s })
	delete(h.siteIDs, s.id)
	h.mu.Unlock()
	g.mu.Lock()
	g.hook = nil
	g.mu.Unlock()
	h.announce(in.id, "installation_repositories", "removed", object{
		"repository_selection": "selected", "repositories_added": []any{}, "repositories_removed": h.minimal([]*site{s}), "requester": nil,
	})
}

// siteOf finds a repository's place; the caller holds the lock.
func (h *Hub) siteOf(g *GitHub) *site {
	for _, s := range h.siteIDs {
		if s.g == g {
			return s
		}
	}
	return nil
}

// Rename gives a repository another name. Requests to the old one are sent on, by a redirect to its id.
func (h *Hub) Rename(g *GitHub, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	from := g.repo
	g.repo = name
	g.repos = map[string]json.RawMessage{}
	h.mu.Lock()
	if s := h.siteOf(g); s != nil {
		s.name = g.owner + "/" + name
		h.sites[strings.ToLower(s.name)] = s
	}
	h.mu.Unlock()
	g.emit("repository", "renamed", g.owner, func() object { return object{"changes": object{"repository": object{"name": object{"from": from}}}} })
}

// ServeHTTP answers under / and under /api/v3/, as an Enterprise Server does.
func (h *Hub) ServeHTTP(w http.ResponseWriter, req *http.Request) { h.serve(req, true).write(w) }

// RoundTrip answers a request without a network, whatever its host.
func (h *Hub) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return h.serve(req, false).response(req)
}

// serve lets a fault strike, finds who asks for what, and takes the time that GitHub takes.
func (h *Hub) serve(req *http.Request, wire bool) outcome {
	r := newCall(req, wire)
	r.now = h.o.Now()
	h.mu.Lock()
	f := strike(h.faults, req.Method, r.path, r.now)
	after := h.after
	h.mu.Unlock()
	var o outcome
	if f == nil || f.carried() {
		o = h.forward(r)
	}
	if f != nil {
		o.fault = f
		if f.err() == nil && f.Kind != FaultHang {
			o.answer = f.answer(o.answer)
		}
		h.note(r, o.status, true)
	}
	if f != nil && f.Kind == FaultHang {
		<-req.Context().Done()
		return outcome{fault: f, err: req.Context().Err()}
	}
	if h.o.Latency > 0 {
		if err := h.o.Sleep(req.Context(), h.o.Latency); err != nil {
			return outcome{err: err}
		}
	}
	if after != nil {
		after(req, o.status)
	}
	if req.Method != http.MethodGet && r.path != "/graphql" {
		h.stir()
	}
	return o
}

// note keeps the list of what reached no repository.
func (h *Hub) note(r *call, status int, fault bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, Request{At: r.now, Method: r.Method, Path: r.path, Query: r.URL.RawQuery, Status: status, NotModified: status == http.StatusNotModified, Fault: fault})
}

// forward sends a request to who must answer it.
func (h *Hub) forward(r *call) outcome {
	s, refusal := h.find(r)
	if s != nil {
		s.in.budget.enter(1)
		defer s.in.budget.enter(-1)
		s.g.announce(r.Request)
		return s.g.handle(r)
	}
	a := refusal
	if a.status == 0 {
		a = h.answer(r)
	}
	a = h.finish(r, a)
	h.note(r, a.status, false)
	return outcome{answer: a}
}

// who asks.
type who struct {
	app   bool // the App itself, by a JWT
	token *pass
}

// ask says who asks; its second result is what GitHub answers to nobody.
func (h *Hub) ask(r *call) (who, answer) {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return who{}, problem(401, "Requires authentication")
	}
	if strings.Count(text, ".") == 2 {
		return who{app: true}, h.signed(text, r.now)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tokens[text]
	if t == nil && h.installs[0] != nil && !strings.HasPrefix(text, "ghs_") && (h.o.Personal == "" || h.o.Personal == text) {
		return who{token: &pass{in: h.installs[0]}}, answer{}
	}
	switch {
	case t == nil, t.in.gone, !r.now.Before(t.expires):
		return who{}, problem(401, "Bad credentials")
	case !t.in.suspended.IsZero():
		return who{}, problem(403, "This installation has been suspended")
	}
	return who{token: t}, answer{}
}

// signed checks the App's own signature.
func (h *Hub) signed(jwt string, now time.Time) answer {
	parts := strings.Split(jwt, ".")
	var header struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Iss json.RawMessage `json:"iss"`
		Iat float64         `json:"iat"`
		Exp float64         `json:"exp"`
	}
	if !decodePart(parts[0], &header) || !decodePart(parts[1], &claims) {
		return problem(401, "A JSON web token could not be decoded")
	}
	if iss := strings.Trim(string(claims.Iss), `"`); iss != strconv.FormatInt(h.o.App.ID, 10) {
		return problem(401, "'Issuer' claim ('iss') must be an Integer")
	}
	if h.o.Key == nil {
		return answer{}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	at := float64(now.Unix())
	switch {
	case header.Alg != "RS256", err != nil, rsa.VerifyPKCS1v15(h.o.Key, crypto.SHA256, sum[:], signature) != nil:
		return problem(401, "A JSON web token could not be decoded")
	case claims.Exp <= at:
		return problem(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case claims.Exp > at+10*60+60, claims.Iat > at+60:
		return problem(401, "'Expiration time' claim ('exp') is too far in the future")
	}
	return answer{}
}

func decodePart(text string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(b, into) == nil
}

// find says which repository a request is for, if its token reaches that one; or what is answered instead. Neither means
// that the Hub answers itself.
func (h *Hub) find(r *call) (*site, answer) {
	name, rest := "", 0
	switch {
	case r.segs[0] == "_logs":
		return h.named(r.query("repository")), answer{}
	case r.path == "/graphql":
		in, _ := r.graphRequest() // who reads the query says what is wrong with it
		text := func(name string) string { s, _ := in.Variables[name].(string); return s }
		name = text("owner") + "/" + or(text("name"), text("repo"))
	case len(r.segs) == 4 && r.segs[0] == "repos" && r.segs[3] == "installation":
		return nil, answer{}
	case len(r.segs) >= 3 && r.segs[0] == "repos":
		name, rest = r.segs[1]+"/"+r.segs[2], 3
	case len(r.segs) >= 2 && r.segs[0] == "repositories":
		name, rest = r.segs[1], 2
	case r.path == "/user", r.path == "/rate_limit":
		return h.any(r)
	default:
		return nil, answer{}
	}
	asks, refusal := h.ask(r)
	switch {
	case refusal.status != 0:
		return nil, refusal
	case asks.app:
		return nil, problem(403, "Resource not accessible by integration")
	}
	return h.reach(r, name, rest, asks.token)
}

func (h *Hub) named(name string) *site {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sites[strings.ToLower(name)]
}

// any is a repository that stands for the token.
func (h *Hub) any(r *call) (*site, answer) {
	asks, refusal := h.ask(r)
	if refusal.status != 0 || asks.app {
		return nil, refusal
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(asks.token.in.sites) > 0 {
		return asks.token.in.sites[0], answer{}
	}
	return nil, rateLimit(asks.token.in.budget.state())
}

// reach finds a repository within the reach of a token.
func (h *Hub) reach(r *call, name string, rest int, t *pass) (*site, answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sites[strings.ToLower(name)]
	byID := rest == 2
	if byID {
		id, _ := strconv.ParseInt(name, 10, 64)
		s = h.siteIDs[id]
	}
	switch {
	case s == nil && rest == 0 && len(t.in.sites) > 0: // a query that names none, or one that is not there, is still a query
		return t.in.sites[0], answer{}
	case s == nil:
		return nil, notFound()
	case s.in != t.in, t.only != nil && !t.only[s]:
		h.crossed = append(h.crossed, fmt.Sprintf("%s %s with a token of installation %d", r.Method, r.path, t.in.id))
		if rest == 0 && len(t.in.sites) > 0 && t.in.sites[0] != s {
			return t.in.sites[0], answer{} // which knows no such repository
		}
		return nil, notFound()
	case byID:
		tail := r.segs[2:]
		owner, repo, _ := strings.Cut(s.name, "/")
		r.segs = append([]string{"repos", owner, repo}, tail...)
		return s, answer{}
	case rest > 0 && !strings.EqualFold(name, s.name):
		to := fmt.Sprintf("%s/repositories/%d", r.base, s.id)
		if _, tail, found := cutSegments(r.path, 3); found {
			to += "/" + tail
		}
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return nil, answer{status: 301, body: object{"message": "Moved Permanently", "url": to, "documentation_url": "https://docs.github.com/rest"}, header: map[string]string{"Location": to}}
	}
	return s, answer{}
}

// cutSegments cuts a path after so many segments.
func cutSegments(path string, n int) (before, after string, found bool) {
	rest := strings.TrimPrefix(path, "/")
	for range n {
		if _, rest, found = strings.Cut(rest, "/"); !found {
			return path, "", false
		}
	}
	return path[:len(path)-len(rest)], rest, true
}

// finish renders an answer of the Hub's own.
func (h *Hub) finish(r *call, a answer) answer {
	a.header = roomy(a.header)
	if a.raw == nil && a.body != nil {
		a.raw = render(a.body)
		a.header = withDefault(a.header, "Content-Type", "application/json; charset=utf-8")
	}
	a.header = withDefault(a.header, "Date", r.now.UTC().Format(http.TimeFormat))
	a = conditional(r, a, h.app)
	h.app.limits(r, &a)
	a.header = withDefault(a.header, "X-Github-Media-Type", "github.v3; format=json")
	return a
}

// Due is the next moment at which something changes by itself in one of the repositories; zero if nothing will.
func (h *Hub) Due() time.Time {
	var due time.Time
	for _, g := range h.githubs() {
		due = sooner(due, g.Due())
	}
	return due
}

// Tick carries out what has become due, so that its webhooks are sent.
func (h *Hub) Tick() {
	for _, g := range h.githubs() {
		g.mu.Lock()
		g.settle()
		g.mu.Unlock()
	}
}

func (h *Hub) githubs() []*GitHub {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*GitHub, 0, len(h.siteIDs))
	for _, in := range h.order {
		for _, s := range in.sites {
			all = append(all, s.g)
		}
	}
	return all
}

// stir wakes who waits for something to become due.
func (h *Hub) stir() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.stirred)
	h.stirred = make(chan struct{})
}

// Run carries out what becomes due, at its moment, until ctx ends.
func (h *Hub) Run(ctx context.Context, clock Clock) {
	for ctx.Err() == nil {
		h.mu.Lock()
		stirred := h.stirred
		h.mu.Unlock()
		h.Tick()
		due := h.Due()
		if due.IsZero() {
			select {
			case <-ctx.Done():
			case <-stirred:
			}
			continue
		}
		sleeping, wake := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			select {
			case <-stirred:
				wake()
			case <-sleeping.Done():
			}
		}()
		_ = clock.Sleep(sleeping, due.Sub(clock.Now())) // woken or not: it is looked again
		wake()
		<-done
	}
}

// account is an account, rendered once.
func (h *Hub) account(login string) any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return keep(h.accounts, login, func() object { return accountJSON(login) })
}
