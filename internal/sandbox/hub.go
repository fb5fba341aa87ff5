package sandbox

// A GitHub of several repositories: an App, its installations, their tokens, and the repositories that a token may
// see.

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
	"sync/atomic"
	"time"
)

// A Clock is the time in which GitHub lives: real, faster, or that of a synctest bubble.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // ends early, with an error, when ctx does
}

// HubOptions configure a Hub.
type HubOptions struct {
	// default: quorum-app. A GitHub that is added without an App of its own gets it
	App           App
	Secret        string                                           // of the webhook
	Now           func() time.Time                                 // default time.Now
	TokenNow      func() time.Time                                 // the clock of tokens' ends, for a client that has another; default Now
	Sleep         func(ctx context.Context, d time.Duration) error // of Latency and of late deliveries; default: a timer
	Latency       time.Duration                                    // how long each answer takes, at no cost of CPU
	Key           *rsa.PublicKey                                   // of the App; nil: its JWTs are read, and not verified
	HourlyLimit   int                                              // requests an hour of an installation; default 5,000
	EnforceLimits bool                                             // refuse requests beyond the secondary limits of a minute
	// permissions of an installation's token; default: those that the coordinator needs
	Permissions map[string]string
	// events that an installation sends to the App; default: what the coordinator needs
	Events             []string
	ParallelDeliveries int  // deliveries at a time; default 1
	NoWebhookSecret    bool // an App that is made from a manifest gets none, as GitHub may do
	// the one personal token; "": any, where a GitHub was added to installation 0
	PersonalToken string
}

// A Hub is GitHub with several repositories, for an App that is installed on them. All its methods may be called at any
// time by anyone.
//
// Installation 0 is none: a GitHub that is added to it is reached with a personal token, and its webhook is the
// repository's own, which names no installation.
type Hub struct {
	front
	options   HubOptions
	createdAt time.Time

	mu               lock
	installations    map[int64]*installation
	installOrder     []*installation
	reposByName      map[string]*hubRepo // by lower-case owner/name, old names included
	reposByID        map[int64]*hubRepo
	tokens           map[string]*installationToken
	mintedCount      int
	crossedRequests  []string
	appBudget        *budget // of requests that are signed by the App itself
	renderedAccounts map[string]json.RawMessage
	queryCache       *graphCache
	dueChanged       chan struct{} // closed when something may have become due

	deliveries deliveryQueue
	muted      atomic.Bool
	appSlug    atomic.Value // a string: what the App is called now
	registry   registry
	created    atomic.Pointer[AppCredentials] // of the App that was made last from a manifest; nil: those of the options
}

// installation is the App on an account.
type installation struct {
	id        int64
	account   string
	created   time.Time
	updated   time.Time
	suspended time.Time
	deleted   bool
	repos     []*hubRepo
	budget    *budget
}

// hubRepo is a repository of the Hub, with its installation.
type hubRepo struct {
	github       *GitHub
	id           int64
	installation *installation
	name         string // owner/name
}

// installationToken is a token of an installation.
type installationToken struct {
	installation *installation
	expires      time.Time
	onlyRepos    map[*hubRepo]bool // nil: all of the installation's
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
	if o.TokenNow == nil {
		o.TokenNow = o.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.HourlyLimit == 0 {
		o.HourlyLimit = 5000
	}
	if o.Permissions == nil {
		o.Permissions = map[string]string{
			"actions": "write", "checks": "write", "contents": "read", "issues": "read",
			"merge_queues": "read", "metadata": "read", "pull_requests": "write", "statuses": "read",
		}
	}
	h := &Hub{
		options: o, createdAt: o.Now(), installations: map[int64]*installation{}, reposByName: map[string]*hubRepo{},
		reposByID: map[int64]*hubRepo{}, tokens: map[string]*installationToken{},
		appBudget:        &budget{holder: "App " + strconv.FormatInt(o.App.ID, 10), limit: o.HourlyLimit},
		renderedAccounts: map[string]json.RawMessage{}, queryCache: &graphCache{}, dueChanged: make(chan struct{}),
	}
	h.serve = h.serveRequest
	h.appSlug.Store(o.App.Slug)
	h.deliveries.changed = make(chan struct{})
	h.deliveries.byID = map[int64]*HookDelivery{}
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

// App returns the App whose Hub this is, with its id.
func (h *Hub) App() App { return h.options.App }

// Add gives a repository to an installation, and creates the installation with its first one. No webhook announces
// what was done to g before.
func (h *Hub) Add(id int64, g *GitHub) {
	s, nth := enterRepo(h, id, g)
	defer g.mu.held()()
	g.budget, g.queryCache = s.installation.budget, h.queryCache
	g.webhook = &webhookTarget{hub: h, installation: id, repository: s.id}
	g.lastID += nth * 10_000_000 // ids are unlike in all repositories, but for those of what was there before
	if (g.app == actionsApp || g.app.Slug == h.options.App.Slug) && g.tokenOwner == "" && id != 0 {
		g.app = h.options.App
	}
	if slug, own := h.appSlug.Load().(string), h.options.App.Slug; slug != own { // it was renamed
		g.newSlugs[own], g.firstSlug[slug] = slug, own
	}
}

// enterRepo enters a repository into its installation, and returns which one of all it is.
func enterRepo(h *Hub, id int64, g *GitHub) (s *hubRepo, nth int64) {
	defer h.mu.held()()
	in := h.installations[id]
	if in == nil {
		in = &installation{
			id:      id,
			account: g.owner,
			created: h.options.Now(),
			updated: h.options.Now(),
			budget: &budget{
				holder: fmt.Sprintf("installation ID %d", id), limit: h.options.HourlyLimit, keepsLedger: true,
				enforce: h.options.EnforceLimits,
			},
		}
		h.installations[id] = in
		h.installOrder = append(h.installOrder, in)
	}
	s = &hubRepo{github: g, installation: in, name: g.owner + "/" + g.repo, id: g.repoID}
	in.repos = append(in.repos, s)
	h.reposByName[strings.ToLower(s.name)] = s
	h.reposByID[s.id] = s
	return s, int64(len(h.reposByID))
}

func (h *Hub) findInstallation(id int64) *installation {
	defer h.mu.held()()
	return h.installations[id]
}

// CrossedRequests lists the requests that went beyond the reach of their token: to another installation's
// repository, or to one that the token was not made for. All were answered 404.
func (h *Hub) CrossedRequests() []string {
	defer h.mu.held()()
	return slices.Clone(h.crossedRequests)
}

// MintToken makes a token of an installation, as the App's own request for one does.
func (h *Hub) MintToken(installation int64) string {
	defer h.mu.held()()
	text, _ := h.mintToken(h.installations[installation], nil)
	return text
}

func (h *Hub) mintToken(in *installation, only map[*hubRepo]bool) (string, *installationToken) {
	h.mintedCount++
	sum := sha256.Sum256(fmt.Appendf(nil, "token %d of %d", h.mintedCount, in.id))
	text := "ghs_" + hex.EncodeToString(sum[:])[:36]
	t := &installationToken{installation: in, expires: h.options.TokenNow().Add(time.Hour).Truncate(time.Second), onlyRepos: only}
	h.tokens[text] = t
	return text, t
}

// RevokeTokens makes all tokens of an installation invalid, as a rotation does.
func (h *Hub) RevokeTokens(installation int64) {
	defer h.mu.held()()
	maps.DeleteFunc(h.tokens, func(_ string, t *installationToken) bool { return t.installation.id == installation })
}

// Suspend suspends an installation: its tokens are refused, and its repositories send nothing.
func (h *Hub) Suspend(id int64) {
	h.updateInstallation(id, func(in *installation) { in.suspended = h.options.Now() })
	h.announceInstallation(id, "installation", "suspend", nil)
}

// Unsuspend ends the suspension of an installation.
func (h *Hub) Unsuspend(id int64) {
	h.updateInstallation(id, func(in *installation) { in.suspended = time.Time{} })
	h.announceInstallation(id, "installation", "unsuspend", nil)
}

// Uninstall deletes an installation with its tokens.
func (h *Hub) Uninstall(id int64) {
	var sites []*hubRepo
	h.updateInstallation(id, func(in *installation) { in.deleted, sites = true, in.repos })
	h.RevokeTokens(id)
	h.announceInstallation(id, "installation", "deleted", object{"repositories": h.minimalReposJSON(sites)})
}

func (h *Hub) updateInstallation(id int64, f func(*installation)) {
	defer h.mu.held()()
	if in := h.installations[id]; in != nil {
		f(in)
		in.updated = h.options.Now()
	}
}

// repoOf finds the Hub's entry of a repository; the caller holds the lock.
func (h *Hub) repoOf(g *GitHub) *hubRepo {
	for _, s := range h.reposByID {
		if s.github == g {
			return s
		}
	}
	return nil
}

// RenameRepository gives a repository another name. Requests to the old one are sent on, by a redirect to its id.
func (h *Hub) RenameRepository(g *GitHub, name string) {
	defer g.mu.held()()
	from := g.repo
	g.repo = name
	g.forgetRendered()
	enterRepoName(h, g, g.owner+"/"+name)
	g.emitEvent(
		"repository", "renamed", g.owner,
		func() object { return object{"changes": object{"repository": object{"name": object{"from": from}}}} },
	)
}

// enterRepoName makes a repository known by another name; g is locked.
func enterRepoName(h *Hub, g *GitHub, name string) {
	defer h.mu.held()()
	if s := h.repoOf(g); s != nil {
		s.name = name
		h.reposByName[strings.ToLower(name)] = s
	}
}

// serveRequest lets a fault strike, hands the request on, and takes the time that GitHub takes.
func (h *Hub) serveRequest(req *http.Request, wire bool) requestOutcome {
	r := newRoutedRequest(req, wire)
	r.now = h.options.Now()
	f := h.triggerFault(r)
	var o requestOutcome
	if f.isCarriedOut() {
		o = h.forwardRequest(r)
	}
	if f != nil {
		o.fault = f
		if f.letsAnswerArrive() {
			o.routeAnswer = f.replaceAnswer(o.routeAnswer)
		}
		h.logRequest(r, o.status, true)
	}
	if f.hangs() {
		return r.awaitCaller(f)
	}
	if h.options.Latency > 0 {
		if err := h.options.Sleep(req.Context(), h.options.Latency); err != nil {
			return requestOutcome{err: err}
		}
	}
	h.callAfterRequest(req, o.status)
	if req.Method != http.MethodGet && r.path != "/graphql" {
		h.notifyDueChanged()
	}
	return o
}

// forwardRequest hands a request to the repository that it is for, or lets the Hub itself answer.
func (h *Hub) forwardRequest(r *routedRequest) requestOutcome {
	s, refusal := h.repoForRequest(r)
	if s != nil {
		s.installation.budget.countInFlight(1)
		defer s.installation.budget.countInFlight(-1)
		s.github.callBeforeRequest(r.Request)
		return s.github.handleRequest(r)
	}
	a := refusal
	if a.status == 0 {
		a = r.answerForm(&h.registry)
	}
	if a.status == 0 {
		a = h.answerAppRequest(r)
	}
	a = r.finishAnswer(a, h.appBudget)
	h.logRequest(r, a.status, false)
	return requestOutcome{routeAnswer: a}
}

// credential says as whom a request is made: as the App itself, or with a token of an installation.
type credential struct {
	isApp bool // the App itself, by a JWT
	token *installationToken
}

// authenticate returns the credential of a request, or GitHub's refusal.
func (h *Hub) authenticate(r *routedRequest) (credential, routeAnswer) {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return credential{}, answerError(401, "Requires authentication")
	}
	if strings.Count(text, ".") == 2 {
		return credential{isApp: true}, h.verifyJWT(text, r.now)
	}
	defer h.mu.held()()
	t := h.tokens[text]
	if t == nil && h.installations[0] != nil && !strings.HasPrefix(text, "ghs_") &&
		(h.options.PersonalToken == "" || h.options.PersonalToken == text) {
		return credential{token: &installationToken{installation: h.installations[0]}}, routeAnswer{}
	}
	switch {
	case t == nil, t.installation.deleted, !h.options.TokenNow().Before(t.expires):
		return credential{}, answerError(401, "Bad credentials")
	case !t.installation.suspended.IsZero():
		return credential{}, answerError(403, "This installation has been suspended")
	}
	return credential{token: t}, routeAnswer{}
}

// verifyJWT checks the JWT with which the App itself signs a request. It returns GitHub's refusal, or an empty
// answer.
func (h *Hub) verifyJWT(jwt string, now time.Time) routeAnswer {
	parts := strings.Split(jwt, ".")
	var header struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Iss json.RawMessage `json:"iss"`
		Iat float64         `json:"iat"`
		Exp float64         `json:"exp"`
	}
	if !decodeJWTPart(parts[0], &header) || !decodeJWTPart(parts[1], &claims) {
		return answerError(401, "A JSON web token could not be decoded")
	}
	if iss := strings.Trim(string(claims.Iss), `"`); iss != strconv.FormatInt(h.options.App.ID, 10) {
		return answerError(401, "'Issuer' claim ('iss') must be an Integer")
	}
	key := h.options.Key
	if made := h.created.Load(); made != nil {
		key = &made.Key.PublicKey
	}
	if key == nil {
		return routeAnswer{}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	at := float64(now.Unix())
	switch {
	case header.Alg != "RS256", err != nil, rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil:
		return answerError(401, "A JSON web token could not be decoded")
	case claims.Exp <= at:
		return answerError(
			401,
			"'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
		)
	case claims.Exp > at+10*60+60, claims.Iat > at+60:
		return answerError(401, "'Expiration time' claim ('exp') is too far in the future")
	}
	return routeAnswer{}
}

func decodeJWTPart(text string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(b, into) == nil
}

// repoForRequest returns the repository that a request is for, if its token reaches that one, or GitHub's refusal.
// If it returns neither, the Hub answers itself.
func (h *Hub) repoForRequest(r *routedRequest) (*hubRepo, routeAnswer) {
	name, rest := "", 0
	switch {
	case r.segments[0] == "_logs":
		return h.repoNamed(r.queryParam("repository")), routeAnswer{}
	case r.path == "/graphql":
		in, _ := r.readGraphRequest() // a malformed query is refused where it is answered
		text := func(name string) string { s, _ := in.Variables[name].(string); return s }
		name = text("owner") + "/" + or(text("name"), text("repo"))
	case len(r.segments) == 4 && r.segments[0] == "repos" && r.segments[3] == "installation":
		return nil, routeAnswer{}
	case len(r.segments) >= 3 && r.segments[0] == "repos":
		name, rest = r.segments[1]+"/"+r.segments[2], 3
	case len(r.segments) >= 2 && r.segments[0] == "repositories":
		name, rest = r.segments[1], 2
	case r.path == "/user", r.path == "/rate_limit", r.segments[0] == "orgs":
		return h.anyRepoOfToken(r)
	default:
		return nil, routeAnswer{}
	}
	asks, refusal := h.authenticate(r)
	switch {
	case refusal.status != 0:
		return nil, refusal
	case asks.isApp:
		return nil, answerError(403, "Resource not accessible by integration")
	}
	return h.repoInReach(r, name, rest, asks.token)
}

func (h *Hub) repoNamed(name string) *hubRepo {
	defer h.mu.held()()
	return h.reposByName[strings.ToLower(name)]
}

// anyRepoOfToken returns the first repository of a token, for requests that name none.
func (h *Hub) anyRepoOfToken(r *routedRequest) (*hubRepo, routeAnswer) {
	asks, refusal := h.authenticate(r)
	if refusal.status != 0 || asks.isApp {
		return nil, refusal
	}
	defer h.mu.held()()
	if len(asks.token.installation.repos) > 0 {
		return asks.token.installation.repos[0], routeAnswer{}
	}
	return nil, answerRateLimit(asks.token.installation.budget.currentState())
}

// repoInReach finds a repository by its name, or id, if the token reaches it. rest is how many segments of the path
// name it, 0 for a query.
func (h *Hub) repoInReach(r *routedRequest, name string, rest int, t *installationToken) (*hubRepo, routeAnswer) {
	defer h.mu.held()()
	s := h.reposByName[strings.ToLower(name)]
	byID := rest == 2
	if byID {
		id, _ := strconv.ParseInt(name, 10, 64)
		s = h.reposByID[id]
	}
	switch {
	case s == nil && rest == 0 && len(t.installation.repos) > 0: // a query that names none, or one that is not there, is still a query
		return t.installation.repos[0], routeAnswer{}
	case s == nil:
		return nil, answerNotFound()
	case s.installation != t.installation, t.onlyRepos != nil && !t.onlyRepos[s]:
		h.crossedRequests = append(
			h.crossedRequests,
			fmt.Sprintf("%s %s with a token of installation %d", r.Method, r.path, t.installation.id),
		)
		if rest == 0 && len(t.installation.repos) > 0 && t.installation.repos[0] != s {
			return t.installation.repos[0], routeAnswer{} // which knows no such repository
		}
		return nil, answerNotFound()
	case byID:
		tail := r.segments[2:]
		owner, repo, _ := strings.Cut(s.name, "/")
		r.segments = append([]string{"repos", owner, repo}, tail...)
		return s, routeAnswer{}
	case rest > 0 && !strings.EqualFold(name, s.name):
		to := fmt.Sprintf("%s/repositories/%d", r.baseURL, s.id)
		if _, tail, found := cutSegments(r.path, 3); found {
			to += "/" + tail
		}
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return nil, routeAnswer{
			status: 301,
			body:   object{"message": "Moved Permanently", "url": to, "documentation_url": "https://docs.github.com/rest"},
			header: map[string]string{"Location": to},
		}
	}
	return s, routeAnswer{}
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

// Due returns the next moment at which something changes by itself in one of the repositories; zero if nothing will.
func (h *Hub) Due() time.Time {
	var due time.Time
	for _, g := range h.allRepositories() {
		due = earlierOf(due, g.Due())
	}
	return due
}

// Tick carries out the changes that have become due, so that their webhooks are sent.
func (h *Hub) Tick() {
	for _, g := range h.allRepositories() {
		g.Due()
	}
}

func (h *Hub) allRepositories() []*GitHub {
	defer h.mu.held()()
	all := make([]*GitHub, 0, len(h.reposByID))
	for _, in := range h.installOrder {
		for _, s := range in.repos {
			all = append(all, s.github)
		}
	}
	return all
}

// notifyDueChanged wakes Run: something may become due sooner than it knows.
func (h *Hub) notifyDueChanged() {
	defer h.mu.held()()
	close(h.dueChanged)
	h.dueChanged = make(chan struct{})
}

// whenDueChanges returns what is closed when something may become due sooner.
func whenDueChanges(h *Hub) <-chan struct{} {
	defer h.mu.held()()
	return h.dueChanged
}

// Run carries out changes as they become due, until ctx ends.
func (h *Hub) Run(ctx context.Context, clock Clock) {
	for ctx.Err() == nil {
		stirred := whenDueChanges(h)
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
		_ = clock.Sleep(sleeping, due.Sub(clock.Now())) // the loop looks again, woken or not
		wake()
		<-done
	}
}

// accountJSON renders an account, once.
func (h *Hub) accountJSON(login string) any {
	defer h.mu.held()()
	return renderOnce(h.renderedAccounts, login, func() object { return accountJSON(login, accountID(login)) })
}

// RenameApp gives an App another name, in all repositories at once: its slug and its bot's login are other ones from
// now on, also on what it wrote before. Its id and its bot's stay. It may be named as before or as now. No event tells
// of it.
func RenameApp(g *GitHub, slug, name string) {
	repos := []*GitHub{g}
	if h := hubOf(g); h != nil {
		repos = h.allRepositories()
		if own := h.options.App.Slug; slug == own || slug == AppSlug(g, own) {
			h.appSlug.Store(name)
		}
	}
	for _, g := range repos {
		enterAppName(g, slug, name)
	}
}

// hubOf is the Hub of a repository; nil: it stands alone.
func hubOf(g *GitHub) *Hub {
	defer g.mu.held()()
	if g.webhook == nil {
		return nil
	}
	h, _ := g.webhook.hub.(*Hub)
	return h
}

func enterAppName(g *GitHub, slug, name string) {
	defer g.mu.held()()
	first := or(g.firstSlug[slug], slug)
	g.newSlugs[first], g.firstSlug[name] = name, first
	g.forgetRendered()
}
