package sandbox

// How an App comes to be: a page of somebody's posts a manifest to GitHub's website, a person says yes, GitHub sends the
// browser on with a code, and the code is exchanged for the App's key, once and within an hour.

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// AppCredentials are what GitHub knows an App by. GitHub shows them once.
type AppCredentials struct {
	Key    *rsa.PrivateKey
	Secret string // of the webhook; "" if GitHub made none
	Slug   string
}

// A registry makes Apps from manifests.
type registry struct {
	mu      sync.Mutex
	pending map[string]pendingApp // by code
}

type pendingApp struct {
	manifest appManifest
	owner    string
	at       time.Time
}

// An appManifest is what GitHub reads of a manifest.
type appManifest struct {
	Name        string               `json:"name"`
	URL         string               `json:"url"`
	Hook        struct{ URL string } `json:"hook_attributes"`
	Redirect    string               `json:"redirect_url"`
	Description string               `json:"description"`
	Events      []string             `json:"default_events"`
	Permissions map[string]string    `json:"default_permissions"`
}

// manifestCodeLife is how long GitHub keeps a code.
const manifestCodeLife = time.Hour

// permissionOfEvent names the permission without which GitHub refuses a subscription; "metadata" every App has.
var permissionOfEvent = map[string]string{
	"check_run": "checks", "check_suite": "checks", "issue_comment": "issues", "merge_group": "merge_queues",
	"pull_request": "pull_requests", "pull_request_review": "pull_requests", "pull_request_review_comment": "pull_requests",
	"pull_request_review_thread": "pull_requests", "push": "contents", "repository": "metadata", "status": "statuses",
	"workflow_run": "actions",
}

// wrong says what GitHub would not take of a manifest; "" if it takes it.
func (m appManifest) wrong() string {
	isWeb := func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
	}
	switch {
	case m.Name == "", len([]rune(m.Name)) > 34:
		return "Name is missing, or too long (maximum is 34 characters)"
	case !isWeb(m.URL):
		return "Url must be a valid URL"
	case !isWeb(m.Hook.URL):
		return "Hook url must be a valid URL"
	case !isWeb(m.Redirect):
		return "Redirect url must be a valid URL"
	}
	for _, event := range m.Events {
		switch need := permissionOfEvent[event]; {
		case need == "":
			return "Default events unsupported: " + event
		case need != "metadata" && m.Permissions[need] == "":
			return "Default events are not supported by permissions: " + event
		}
	}
	return ""
}

// webForm matches the addresses of GitHub's website that take a manifest.
var webForm = regexp.MustCompile(`^/(?:organizations/([A-Za-z0-9_-]+)/)?settings/apps/new$`)

// takeManifest answers the form's request on the website: the person who is signed in presses the button at once. It
// returns an empty answer for any other request.
func (r *registry) takeManifest(req *routedRequest) routeAnswer {
	found := webForm.FindStringSubmatch(req.URL.Path)
	if found == nil || req.Method != http.MethodPost {
		return routeAnswer{}
	}
	form, err := url.ParseQuery(string(req.body))
	if err != nil || !strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return answerPage(400, "What?")
	}
	var m appManifest
	if err := json.Unmarshal([]byte(form.Get("manifest")), &m); err != nil {
		return answerPage(422, "Manifest is no JSON")
	}
	if wrong := m.wrong(); wrong != "" {
		return answerPage(422, wrong)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	code := randomHex(20)
	if r.pending == nil {
		r.pending = map[string]pendingApp{}
	}
	r.pending[code] = pendingApp{manifest: m, owner: or(found[1], "alice"), at: req.now}
	to, err := url.Parse(m.Redirect)
	if err != nil {
		return answerPage(422, "Redirect url must be a valid URL") // unreachable: it was read before
	}
	q := to.Query()
	q.Set("code", code)
	if state := req.queryParam("state"); state != "" {
		q.Set("state", state)
	}
	to.RawQuery = q.Encode()
	a := answerPage(302, "You are being redirected.")
	a.header["Location"] = to.String()
	return a
}

func answerPage(status int, text string) routeAnswer {
	return routeAnswer{status: status, raw: []byte(text), header: map[string]string{"Content-Type": "text/html; charset=utf-8"}}
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// conversionPattern is where a code is exchanged.
const conversionPattern = "/app-manifests/{code}/conversions"

// convert answers the exchange of a code. The Hub is the GitHub of one App: the one that is made has its id, and takes
// its place.
func (r *registry) convert(h *Hub, req *routedRequest) routeAnswer {
	r.mu.Lock()
	made, found := r.pending[req.params["code"]]
	delete(r.pending, req.params["code"])
	r.mu.Unlock()
	if !found || req.now.Sub(made.at) > manifestCodeLife {
		return answerNotFound()
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return answerError(500, "no key") // unreachable
	}
	slug := slugOfName(made.manifest.Name)
	h.appSlug.Store(slug)
	created := AppCredentials{Key: key, Secret: randomHex(20), Slug: slug}
	if h.options.NoWebhookSecret {
		created.Secret = ""
	}
	h.created.Store(&created)
	o := h.appJSON()
	maps.Copy(o, object{
		"owner": h.accountJSON(made.owner), "name": made.manifest.Name, "description": made.manifest.Description,
		"external_url": made.manifest.URL, "permissions": made.manifest.Permissions, "events": slices.Clone(made.manifest.Events),
		"client_secret": randomHex(20), "webhook_secret": stringOrNull(created.Secret),
		"pem": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if strings.HasPrefix(req.URL.Path, "/api/v3/") {
		o["html_url"] = fmt.Sprintf("%s/github-apps/%s", strings.TrimSuffix(req.baseURL, "/api/v3"), slug)
	}
	return answerCreated(o)
}

// slugOfName is how GitHub makes an App's slug.
func slugOfName(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// Created returns the App that was made last from a manifest; nil if none was.
func (h *Hub) Created() *AppCredentials { return h.created.Load() }

// withCreated returns the options with the webhook's secret of the App that was made, if one was.
func (o HubOptions) withCreated(made *AppCredentials) HubOptions {
	if made != nil {
		o.Secret = made.Secret
	}
	return o
}
