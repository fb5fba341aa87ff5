package sandbox

// How an App comes to be: a page of somebody's posts a manifest to GitHub's website, a person says yes, GitHub sends
// the browser on with a code, and the code is exchanged for the App's key, once and within an hour.

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"regexp"
	"strings"
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
	mu      lock
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

// takeManifest keeps the App of a form that was sent, and returns where the browser is sent on to. The person who is
// signed in presses the button at once.
func (r *registry) takeManifest(owner, manifest, state string, now time.Time) (to, wrong string) {
	var m appManifest
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		return "", "Manifest is no JSON"
	}
	if wrong := m.wrong(); wrong != "" {
		return "", wrong
	}
	back, err := url.Parse(m.Redirect)
	if err != nil {
		return "", "Redirect url must be a valid URL" // unreachable: it was read before
	}
	defer r.mu.held()()
	code := randomHex(20)
	if r.pending == nil {
		r.pending = map[string]pendingApp{}
	}
	r.pending[code] = pendingApp{manifest: m, owner: owner, at: now}
	q := back.Query()
	q.Set("code", code)
	if state != "" {
		q.Set("state", state)
	}
	back.RawQuery = q.Encode()
	return back.String(), ""
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// takeCode returns what a code stands for, once and within its hour.
func (r *registry) takeCode(code string, now time.Time) (made pendingApp, found bool) {
	defer r.mu.held()()
	made, found = r.pending[code]
	delete(r.pending, code)
	return made, found && now.Sub(made.at) <= manifestCodeLife
}

// newCredentials makes the key of an App, and its webhook's secret.
func newCredentials(name string, secret bool) (*AppCredentials, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	made := &AppCredentials{Key: key, Slug: slugOfName(name)}
	if secret {
		made.Secret = randomHex(20)
	}
	return made, nil
}

// keyPEM is the key as GitHub hands it out.
func (c *AppCredentials) keyPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(c.Key)}))
}

// slugOfName is how GitHub makes an App's slug.
func slugOfName(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}
