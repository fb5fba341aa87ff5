package sandbox_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/sandbox/openapi"
)

// market is a Hub with an installation of two repositories and one of one.
type market struct {
	*sandbox.Hub
	now               *clock
	key               *rsa.PrivateKey
	shop, cart, other *sandbox.GitHub
	c                 *caller
}

func newMarket(t *testing.T, o sandbox.HubOptions) *market {
	t.Helper()
	m := &market{now: newClock()}
	var err error
	m.key, err = rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	o.App, o.Now, o.Key = sandbox.App{Slug: "quorum-app", ID: 4711}, m.now.now, &m.key.PublicKey
	m.Hub = sandbox.NewHub(o)
	m.shop = sandbox.New(sandbox.Options{Now: m.now.now})
	m.cart = sandbox.New(sandbox.Options{Repo: "cart", Now: m.now.now})
	m.other = sandbox.New(sandbox.Options{Owner: "evil", Repo: "shop", Now: m.now.now})
	m.Add(77, m.shop)
	m.Add(77, m.cart)
	m.Add(88, m.other)
	for _, g := range []*sandbox.GitHub{m.shop, m.cart, m.other} {
		g.OpenPull(sandbox.PullSpec{Number: 7})
	}
	rt, violations := openapi.Validate(m.Hub)
	t.Cleanup(func() {
		for _, v := range violations() {
			t.Error(v)
		}
	})
	m.c = &caller{t: t, rt: rt}
	return m
}

// jwt is the App's own signature.
func (m *market) jwt(t *testing.T, id string, lives time.Duration) string {
	t.Helper()
	claims := jwt.RegisteredClaims{Issuer: id, IssuedAt: jwt.NewNumericDate(m.now.at), ExpiresAt: jwt.NewNumericDate(m.now.at.Add(lives))}
	return must[string](t)(jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(m.key))
}

// as asks as somebody from now on.
func (m *market) as(token string) *caller {
	m.c.token = token
	return m.c
}

func (m *market) app(t *testing.T) *caller { t.Helper(); return m.as(m.jwt(t, "4711", 9*time.Minute)) }

func TestTheAppsEndpoints(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	c := m.app(t)
	c.get("/app").is(t, "slug", "quorum-app", "id", "4711", "installations_count", "2")
	first := c.get("/app/installations?per_page=1")
	first.is(t, "#", "1", "0.id", "77", "0.account.login", "acme", "0.suspended_at", "null")
	if link := first.header.Get("Link"); !strings.Contains(link, `page=2&per_page=1>; rel="next"`) {
		t.Errorf("link %s", link)
	}
	c.get("/app/installations/88").is(t, "account.login", "evil", "app_id", "4711")
	c.get("/repos/acme/cart/installation").is(t, "id", "77")
	c.want(404, "GET", "/repos/acme/none/installation", "")
	c.want(404, "GET", "/app/installations/99", "")
	made := c.want(201, "POST", "/app/installations/77/access_tokens", "")
	made.is(t, "expires_at", "2026-11-21T15:00:00Z", "permissions.checks", "write")
	whole := made.at("token")
	narrow := c.want(201, "POST", "/app/installations/77/access_tokens", `{"repositories":["cart"]}`)
	narrow.is(t, "repositories.0.full_name", "acme/cart", "repositories.#", "1")
	c.want(422, "POST", "/app/installations/77/access_tokens", `{"repositories":["shop","secrets"]}`)
	c.want(404, "POST", "/app/installations/99/access_tokens", "")

	m.as(whole).get("/installation/repositories?per_page=1").is(t, "total_count", "2", "repositories.0.full_name", "acme/shop")
	m.as(narrow.at("token")).get("/installation/repositories").is(t, "total_count", "1", "repositories.0.full_name", "acme/cart")
}

func TestWhoMayAskWhat(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	token := m.MintToken(77)
	foreign, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	forged := must[string](
		t,
	)(
		jwt.NewWithClaims(
			jwt.SigningMethodRS256,
			jwt.RegisteredClaims{Issuer: "4711", ExpiresAt: jwt.NewNumericDate(m.now.at.Add(time.Minute))},
		).SignedString(
			foreign,
		),
	)
	tests := []struct {
		token, path string
		want        int
	}{
		{token, "/repos/acme/shop/pulls/7", 200},
		{token, "/repos/acme/cart/pulls/7", 200},
		{token, "/repos/ACME/Cart/pulls/7", 200},
		{token, "/api/v3/repos/acme/cart/pulls/7", 200},
		{token, "/repos/evil/shop/pulls/7", 404},
		{m.MintToken(88), "/repos/acme/shop/pulls/7", 404},
		{m.MintToken(88), "/repos/evil/shop/pulls/7", 200},
		{token, "/repos/acme/none/pulls/7", 404},
		{token, "/app", 401},
		{token, "/app/hook/deliveries", 401},
		{token, "/rate_limit", 200},
		{token, "/user", 403},
		{m.jwt(t, "4711", time.Minute), "/app", 200},
		{m.jwt(t, "4711", time.Minute), "/installation/repositories", 403},
		{m.jwt(t, "4711", time.Minute), "/repos/acme/shop/pulls/7", 403},
		{m.jwt(t, "4712", time.Minute), "/app", 401},
		{m.jwt(t, "4711", -time.Second), "/app", 401},
		{m.jwt(t, "4711", time.Hour), "/app", 401},
		{forged, "/app", 401},
		{"a.b.c", "/app", 401},
		{"ghs_unknown", "/repos/acme/shop/pulls/7", 401},
		{"ghp_personal", "/repos/acme/shop/pulls/7", 401},
		{"", "/repos/acme/shop/pulls/7", 401},
	}
	for _, tt := range tests {
		if got := m.as(tt.token).ask("GET", tt.path, "").status; got != tt.want {
			t.Errorf("%.12s asks for %s: %d, want %d", tt.token, tt.path, got, tt.want)
		}
	}
	if crossed := m.CrossedRequests(); len(crossed) != 2 || crossed[0] != "GET /repos/evil/shop/pulls/7 with a token of installation 77" {
		t.Errorf("crossed: %q", crossed)
	}
	m.now.pass(time.Hour)
	m.as(token).want(401, "GET", "pulls/7", "")
}

func TestQueriesGoToTheRepositoryTheyName(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	check(t, m.cart.AddLabel(7, "in the cart", ""))
	ask := func(owner, name string) reply {
		return m.as(
			m.MintToken(77),
		).want(
			200,
			"POST",
			"/graphql",
			fmt.Sprintf(
				`{"query":"query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { `+
					`pullRequest(number: 7) { labels(first: 1) { nodes { name } } } } }","variables":{"owner":%q,"name":%q}}`,
				owner,
				name,
			),
		)
	}
	ask("acme", "cart").is(t, "data.repository.pullRequest.labels.nodes.0.name", "in the cart")
	ask("acme", "shop").is(t, "data.repository.pullRequest.labels.nodes.#", "0")
	ask("evil", "shop").is(t, "errors.0.type", "NOT_FOUND")
	ask("no", "body").is(t, "errors.0.type", "NOT_FOUND")
	if len(m.CrossedRequests()) != 1 {
		t.Errorf("crossed: %q", m.CrossedRequests())
	}
}

func TestInstallationsComeAndGo(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	token := m.MintToken(77)
	m.TakeDeliveries()
	m.Suspend(77)
	must[int64](t)(m.shop.Comment(7, "alice", "not announced"))
	m.as(token).want(403, "GET", "pulls/7", "")
	m.app(t).get("/app/installations/77").is(t, "suspended_at", "2026-11-21T14:00:00Z")
	m.c.want(403, "POST", "/app/installations/77/access_tokens", "")
	m.Unsuspend(77)
	m.as(token).get("pulls/7")
	m.RevokeTokens(77)
	m.as(token).want(401, "GET", "pulls/7", "")
	token = m.MintToken(77)
	m.RenameRepository(m.shop, "store")
	m.c.rt = m.Hub // GitHub describes neither a redirect nor where it leads
	moved := m.as(token).want(301, "GET", "pulls/7?x=1", "")
	to := strings.TrimPrefix(moved.header.Get("Location"), "https://api.github.com")
	if !strings.HasPrefix(to, "/repositories/") || !strings.HasSuffix(to, "/pulls/7?x=1") {
		t.Errorf("moved to %s", to)
	}
	m.c.get(to).is(t, "base.repo.full_name", "acme/store")
	m.c.get("/repos/acme/store/pulls/7").is(t, "number", "7")
	m.Uninstall(77)
	m.c.want(401, "GET", "/repos/acme/store/pulls/7", "")
	m.app(t).want(404, "GET", "/app/installations/77", "")
	m.c.want(404, "GET", "/repos/acme/store/installation", "")
	var events []string
	for _, d := range m.TakeDeliveries() {
		events = append(events, d.Event+" "+d.Action)
	}
	if want := []string{
		"installation suspend", "installation unsuspend", "repository renamed", "installation deleted",
	}; !slices.Equal(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
}

func TestTheDeliveriesThatTheAppSees(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{Secret: "a secret of some length"})
	m.TakeDeliveries()
	for i := range 5 {
		must[int64](t)(m.shop.Comment(7, "alice", fmt.Sprint(i)))
	}
	m.DisturbDeliveries(func(sandbox.HookDelivery) sandbox.Fate { return sandbox.Fate{Drop: true} })
	must[int64](t)(m.shop.Comment(7, "alice", "dropped"))
	m.DisturbDeliveries(nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.DeliverFunc(ctx, func(_, _ string, payload []byte) error {
			if strings.Contains(string(payload), `"body":"3"`) {
				return errors.New("the disk is full")
			}
			return nil
		})
	}()
	check(t, m.WaitDelivered(ctx))
	c := m.app(t)
	page := c.get("/app/hook/deliveries?per_page=2")
	page.is(
		t,
		"#",
		"2",
		"0.status",
		"failed to connect to host",
		"0.status_code",
		"0",
		"1.status",
		"OK",
		"1.event",
		"issue_comment",
		"1.action",
		"created",
		"1.installation_id",
		"77",
		"1.redelivery",
		"false",
	)
	next, _, _ := strings.Cut(strings.TrimPrefix(page.header.Get("Link"), "<https://api.github.com"), ">")
	second := c.get(next)
	second.is(t, "#", "2", "0.status", "Invalid HTTP Response: 500", "0.status_code", "500")
	c.get("/app/hook/deliveries?status=failure").is(t, "#", "1", "0.status_code", "500")
	if ok := c.get("/app/hook/deliveries?status=success&per_page=100"); strings.Contains(string(ok.body), "failed") {
		t.Error("a failed one is a success")
	}
	id, guid := second.at("0.id"), second.at("0.guid")
	c.want(202, "POST", "/app/hook/deliveries/"+id+"/attempts", "")
	c.want(404, "POST", "/app/hook/deliveries/1/attempts", "")
	check(t, m.WaitDelivered(ctx))
	c.get("/app/hook/deliveries?per_page=1").is(t, "0.guid", guid, "0.redelivery", "true")
	m.now.pass(73 * time.Hour)
	m.app(t).get("/app/hook/deliveries").is(t, "#", "0")
	m.c.want(404, "POST", "/app/hook/deliveries/"+id+"/attempts", "")
	stop()
	<-ended
}

func TestAnInstallationsLimits(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{HourlyLimit: 200, EnforceLimits: true})
	c := m.as(m.MintToken(77))
	tag := c.get("pulls/7").header.Get("Etag")
	c.want(304, "GET", "pulls/7", "", "If-None-Match: "+tag)
	if used := c.get("/repos/acme/cart/pulls/7").header.Get("X-Ratelimit-Used"); used != "2" {
		t.Errorf("used %s: the repositories of an installation share its hour", used)
	}
	m.now.pass(30 * time.Second)
	for range 80 {
		c.want(201, "POST", "issues/7/comments", `{"body":"x"}`)
	}
	m.now.pass(20 * time.Second)
	refused := c.want(403, "POST", "/repos/acme/cart/issues/7/comments", `{"body":"x"}`)
	if refused.header.Get("Retry-After") != "10" ||
		!strings.Contains(refused.at("message"), "secondary rate limit") { // the oldest of the minute leaves it then
		t.Errorf("refused: %v %s", refused.header, refused.body)
	}
	want := sandbox.Usage{Requests: 83, NotModified: 1, Points: 403, Writes: 80, Content: 80}
	if got := m.PeakUsage(77); got != want {
		t.Errorf("the minute came to %+v, want %+v", got, want)
	}
	if got := m.Usage(77, newClock().at.Add(time.Second), time.Time{}); got.Content != 80 || got.Requests != 80 {
		t.Errorf("after the first second: %+v", got)
	}
	if m.RefusedRequests(77) != 1 || m.RefusedRequests(88) != 0 {
		t.Errorf("refused %d and %d", m.RefusedRequests(77), m.RefusedRequests(88))
	}
	m.now.pass(time.Minute)
	c.want(201, "POST", "issues/7/comments", `{"body":"x"}`)
	m.as(m.MintToken(88)).get("/rate_limit").is(t, "rate.used", "0")
	m.shop.SpendRequests(1000)
	m.as(m.MintToken(77)).want(403, "GET", "/repos/acme/cart/pulls/7", "")
}

func TestAPersonalTokenNeedsNoInstallation(t *testing.T) {
	h := sandbox.NewHub(sandbox.HubOptions{})
	g := sandbox.New(sandbox.Options{TokenOwner: "carol"})
	h.Add(0, g)
	g.OpenPull(sandbox.PullSpec{Number: 7})
	c := &caller{t: t, rt: h, token: "ghp_x"}
	c.get("pulls/7")
	c.get("/user").is(t, "login", "carol")
	for _, d := range h.TakeDeliveries() {
		var p map[string]json.RawMessage
		check(t, json.Unmarshal(d.Payload, &p))
		if p["installation"] != nil {
			t.Errorf("%s names an installation", d.Event)
		}
	}
}

func TestFaultsOfTheWholeHub(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	m.AddFault(sandbox.Fault{Match: "POST /**", Status: 502, CarriedOut: true})
	m.as(m.MintToken(77)).want(502, "POST", "issues/7/comments", `{"body":"x"}`)
	m.app(t).want(502, "POST", "/app/installations/77/access_tokens", "")
	m.ClearFaults()
	if len(m.shop.Wrote().Comments) != 1 {
		t.Error("it was not carried out")
	}
	if log := m.Requests(); len(log) == 0 || !log[0].Faulted {
		t.Errorf("log: %+v", log)
	}
}

func TestAnAnswerTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sandbox.NewHub(sandbox.HubOptions{Latency: 30 * time.Millisecond})
		h.Add(77, sandbox.New(sandbox.Options{}))
		began := time.Now()
		(&caller{t: t, rt: h, token: h.MintToken(77)}).get(repo)
		if took := time.Since(began); took != 30*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.github.com"+repo, nil)
		check(t, err)
		if res, err := h.RoundTrip(req); !errors.Is(err, context.DeadlineExceeded) {
			res.Body.Close()
			t.Errorf("who gives up gets %v", err)
		}
	})
}

// The App's own new name is another one in all its installations at once.
func TestTheHubsAppIsRenamed(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{})
	wrote := `{"name":"Q","head_sha":"` + sandbox.SHA("a1") + `"}`
	m.c.token = m.MintToken(88)
	m.c.want(201, "POST", "/repos/evil/shop/check-runs", wrote)
	sandbox.RenameApp(m.shop, "quorum-app", "quorum")
	m.c.get("/repos/evil/shop/commits/"+sandbox.SHA("a1")+"/check-runs").is(
		t, "check_runs.0.app.slug", "quorum", "check_runs.0.app.id", "4711")
	late := sandbox.New(sandbox.Options{Owner: "evil", Repo: "late", Now: m.now.now})
	late.OpenPull(sandbox.PullSpec{Number: 7})
	m.Add(88, late)
	m.c.want(201, "POST", "/repos/evil/late/check-runs", wrote).is(t, "app.slug", "quorum", "app.id", "4711")
	m.c.token = m.jwt(t, "4711", time.Minute)
	m.c.get("/app").is(t, "slug", "quorum", "id", "4711", "client_id", "Iv1.quorum-app")
	m.c.get("/app/installations/77").is(t, "app_slug", "quorum", "app_id", "4711")
	if m.App() != (sandbox.App{Slug: "quorum-app", ID: 4711}) {
		t.Errorf("it was made for %v", m.App())
	}
}
