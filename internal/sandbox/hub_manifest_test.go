package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const goodManifest = `{"name":"Octo Quorum","url":"https://example.com","hook_attributes":{"url":"https://example.com/webhook","active":true},
	"redirect_url":"http://127.0.0.1:9/created?a=b","public":false,"default_events":["check_run","repository"],"default_permissions":{"checks":"write"}}`

// press posts a manifest as a page does, and returns the status and where the browser is sent.
func press(t *testing.T, h *sandbox.Hub, address, manifest string) (int, *url.URL) {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, "https://github.com"+address, strings.NewReader(url.Values{"manifest": {manifest}}.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	said := httptest.NewRecorder()
	h.ServeHTTP(said, req)
	return said.Code, must[*url.URL](t)(url.Parse(said.Header().Get("Location")))
}

func TestAnAppIsMadeFromAManifest(t *testing.T) {
	m := newMarket(t, sandbox.HubOptions{Secret: "the old one"})
	c := m.as("")
	status, to := press(t, m.Hub, "/organizations/octo/settings/apps/new?state=s", goodManifest)
	if q := to.Query(); status != 302 || to.Host != "127.0.0.1:9" || to.Path != "/created" || q.Get("state") != "s" || q.Get("a") != "b" {
		t.Fatalf("%d, sent on to %s", status, to)
	}
	exchange := "/app-manifests/" + to.Query().Get("code") + "/conversions"
	made := c.want(201, "POST", exchange, "")
	made.is(t, "id", "4711", "slug", "octo-quorum", "name", "Octo Quorum", "owner.login", "octo", "html_url", "https://github.com/apps/octo-quorum")
	if now := m.Created(); now.Slug != "octo-quorum" || now.Secret != made.at("webhook_secret") || !strings.Contains(made.at("pem"), "RSA PRIVATE KEY") {
		t.Errorf("GitHub knows another App: %+v", now.Slug)
	}
	c.want(404, "POST", exchange, "") // it was used
	m.app(t).want(401, "GET", "/app", "")
	m.key = m.Created().Key
	m.app(t).get("/app").is(t, "slug", "octo-quorum")
	signed, err := m.DeliveryRequest(t.Context(), "https://example.com/webhook", sandbox.HookDelivery{Event: "ping", Payload: []byte("{}")})
	check(t, err)
	if got := signed.Header.Get("X-Hub-Signature-256"); got != sandbox.Sign(made.at("webhook_secret"), []byte("{}")) {
		t.Errorf("a delivery is signed with another secret: %s", got)
	}

	_, to = press(t, m.Hub, "/settings/apps/new", goodManifest)
	m.now.at = m.now.at.Add(time.Hour + time.Second)
	m.as("").want(404, "POST", "/app-manifests/"+to.Query().Get("code")+"/conversions", "")
}

func TestManifestsThatGitHubRefuses(t *testing.T) {
	h := sandbox.NewHub(sandbox.HubOptions{})
	for _, change := range []struct{ from, to string }{
		{`"Octo Quorum"`, `""`},
		{`Octo Quorum`, strings.Repeat("a", 35)},
		{`"url":"https://example.com/webhook",`, ``},
		{`"check_run"`, `"ping"`},
		{`"check_run"`, `"status"`},
		{`"redirect_url"`, `"redirect"`},
		{`{"name"`, `"name"`},
	} {
		manifest := strings.Replace(goodManifest, change.from, change.to, 1)
		if status, _ := press(t, h, "/settings/apps/new", manifest); manifest == goodManifest || status != 422 {
			t.Errorf("%s in place of %s: %d", change.to, change.from, status)
		}
	}
}
