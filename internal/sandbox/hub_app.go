package sandbox

// The App's own endpoints: its installations, their tokens and repositories, its deliveries.

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hubRoute is a route that the Hub answers itself.
type hubRoute struct {
	route
	needsJWT bool // only with the App's own signature; else only with an installation's token
	handle   func(*Hub, *routedRequest, credential) routeAnswer
}

var hubRoutes = allHubRoutes()

func allHubRoutes() []hubRoute {
	all := []hubRoute{
		{route{method: "GET", pattern: "/app"}, true, (*Hub).getApp},
		{route{method: "GET", pattern: "/app/installations"}, true, (*Hub).listInstallations},
		{route{method: "GET", pattern: "/app/installations/{n:installation_id}"}, true, (*Hub).getInstallation},
		{route{method: "POST", pattern: "/app/installations/{n:installation_id}/access_tokens"}, true, (*Hub).createToken},
		{route{method: "GET", pattern: repoPattern + "/installation"}, true, (*Hub).getRepoInstallation},
		{route{method: "GET", pattern: "/installation/repositories"}, false, (*Hub).listRepositories},
		{route{method: "GET", pattern: "/app/hook/deliveries"}, true, (*Hub).listDeliveries},
		{route{method: "POST", pattern: "/app/hook/deliveries/{n:delivery_id}/attempts"}, true, (*Hub).createRedelivery},
		{route{method: "POST", pattern: conversionPattern}, false, nil},
	}
	for i := range all {
		all[i].segments = strings.Split(strings.Trim(all[i].pattern, "/"), "/")
	}
	return all
}

// answerAppRequest answers requests that are about the App and no repository.
func (h *Hub) answerAppRequest(r *routedRequest) routeAnswer {
	for i := range hubRoutes {
		params, found := hubRoutes[i].match(r.Method, r.segments)
		if !found {
			continue
		}
		if hubRoutes[i].pattern == conversionPattern { // whoever has the code may
			r.params = params
			return convertManifest(h, r)
		}
		asks, refusal := h.authenticate(r)
		switch {
		case refusal.status != 0:
			return refusal
		case hubRoutes[i].needsJWT && !asks.isApp:
			return answerError(401, "A JSON web token could not be decoded")
		case !hubRoutes[i].needsJWT && asks.isApp:
			return answerError(403, "Resource not accessible by integration")
		}
		b := h.appBudget
		if asks.token != nil {
			b = asks.token.installation.budget
		}
		if a, fine := b.spendRequest(r); !fine {
			return a
		}
		r.params = params
		return hubRoutes[i].handle(h, r, asks)
	}
	return h.answerUnknown(r)
}

func (h *Hub) appJSON() object {
	app := App{Slug: h.appSlug.Load().(string), ID: h.options.App.ID}
	return object{
		"id": app.ID, "slug": app.Slug, "client_id": "Iv1." + h.options.App.Slug, "node_id": nodeID("A", app.ID),
		"owner": h.accountJSON("acme"), "name": app.Slug, "description": "",
		"external_url": "https://example.com/" + app.Slug, "html_url": "https://github.com/apps/" + app.Slug,
		"created_at": timeOrNull(h.createdAt), "updated_at": timeOrNull(h.createdAt),
		"permissions": h.options.Permissions, "events": h.subscribedEvents(),
	}
}

func (h *Hub) subscribedEvents() []string {
	if h.options.Events != nil {
		return h.options.Events
	}
	return []string{
		"check_run", "check_suite", "issue_comment", "pull_request", "pull_request_review",
		"pull_request_review_comment", "pull_request_review_thread", "push", "repository", "status", "workflow_run",
	}
}

func (h *Hub) getApp(_ *routedRequest, _ credential) routeAnswer {
	o := h.appJSON()
	defer h.mu.held()()
	n := 0
	for _, in := range h.installOrder {
		if !in.deleted && in.id != 0 {
			n++
		}
	}
	o["installations_count"] = n
	return answerOK(o)
}

// installationJSON shows an installation as it is now.
func (h *Hub) installationJSON(in *installation) object {
	account := h.accountJSON(in.account)
	defer h.mu.held()()
	suspender := any(nil)
	if !in.suspended.IsZero() {
		suspender = renderOnce(h.renderedAccounts, in.account, func() object { return accountJSON(in.account, accountID(in.account)) })
	}
	id := strconv.FormatInt(in.id, 10)
	return object{
		"id": in.id, "account": account, "repository_selection": "selected",
		"access_tokens_url": apiRoot + "/app/installations/" + id + "/access_tokens",
		"repositories_url":  apiRoot + "/installation/repositories", "html_url": "https://github.com/settings/installations/" + id,
		"app_id": h.options.App.ID, "app_slug": h.appSlug.Load(),
		"client_id": "Iv1." + h.options.App.Slug, "target_id": accountID(in.account),
		"target_type": "Organization", "permissions": h.options.Permissions, "events": h.subscribedEvents(),
		"created_at": timeOrNull(in.created), "updated_at": timeOrNull(in.updated),
		"single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []string{},
		"suspended_by": suspender, "suspended_at": timeOrNull(in.suspended),
	}
}

func (h *Hub) activeInstallations() []*installation {
	defer h.mu.held()()
	return slices.DeleteFunc(slices.Clone(h.installOrder), func(in *installation) bool { return in.deleted || in.id == 0 })
}

func (h *Hub) listInstallations(r *routedRequest, _ credential) routeAnswer {
	return answerList(r, h.activeInstallations(), h.installationJSON)
}

func (h *Hub) getInstallation(r *routedRequest, _ credential) routeAnswer {
	for _, in := range h.activeInstallations() {
		if in.id == r.intParam("installation_id") {
			return answerOK(h.installationJSON(in))
		}
	}
	return answerNotFound()
}

func (h *Hub) getRepoInstallation(r *routedRequest, _ credential) routeAnswer {
	s := h.repoNamed(r.params["owner"] + "/" + r.params["repo"])
	if s == nil || s.installation.id == 0 || !slices.Contains(h.activeInstallations(), s.installation) {
		return answerNotFound()
	}
	return answerOK(h.installationJSON(s.installation))
}

// createToken makes a token, for all of an installation's repositories or for those that are named.
func (h *Hub) createToken(r *routedRequest, _ credential) routeAnswer {
	var in struct {
		Repositories  []string `json:"repositories"`
		RepositoryIDs []int64  `json:"repository_ids"`
	}
	if err := r.decodeBody(&in); err != nil {
		return answerError(422, "Invalid request. "+err.Error())
	}
	text, t, refusal := mintChosen(h, r.intParam("installation_id"), in.Repositories, in.RepositoryIDs)
	if t == nil {
		return refusal
	}
	out := object{
		"token": text, "expires_at": timeOrNull(t.expires), "permissions": h.options.Permissions,
		"repository_selection": "selected",
	}
	if t.onlyRepos != nil {
		repos := []any{}
		for _, s := range reposOfToken(h, t) {
			repos = append(repos, s.fullJSON())
		}
		out["repositories"] = repos
	}
	return answerCreated(out)
}

// mintChosen makes a token of an installation for the repositories that are named, or returns GitHub's refusal.
func mintChosen(h *Hub, id int64, names []string, ids []int64) (text string, t *installationToken, refusal routeAnswer) {
	defer h.mu.held()()
	found := h.installations[id]
	switch {
	case found == nil, found.deleted, found.id == 0:
		return "", nil, answerNotFound()
	case !found.suspended.IsZero():
		return "", nil, answerError(403, "This installation has been suspended")
	}
	only, missing := found.chooseRepos(names, ids)
	if missing {
		return "", nil, answerError(
			422, "There is at least one repository that does not exist or is not accessible to the parent installation.",
		)
	}
	text, t = h.mintToken(found, only)
	return text, t, routeAnswer{}
}

// reposOfToken returns the repositories that a token reaches.
func reposOfToken(h *Hub, t *installationToken) (all []*hubRepo) {
	defer h.mu.held()()
	for _, s := range t.installation.repos {
		if t.onlyRepos == nil || t.onlyRepos[s] {
			all = append(all, s)
		}
	}
	return all
}

// chooseRepos finds the repositories that a new token is limited to; nil means all. missing reports that not all
// were found.
func (in *installation) chooseRepos(names []string, ids []int64) (only map[*hubRepo]bool, missing bool) {
	if len(names)+len(ids) == 0 {
		return nil, false
	}
	only = map[*hubRepo]bool{}
	for _, s := range in.repos {
		_, repo, _ := strings.Cut(s.name, "/")
		if slices.Contains(ids, s.id) || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, repo) }) {
			only[s] = true
		}
	}
	return only, len(only) < len(names)+len(ids)
}

// fullJSON renders a repository in full.
func (s *hubRepo) fullJSON() any {
	defer s.github.mu.held()()
	return s.github.repoJSON(s.github.owner)
}

func (h *Hub) listRepositories(r *routedRequest, asks credential) routeAnswer {
	a := answerCounted(r, "repositories", reposOfToken(h, asks.token), (*hubRepo).fullJSON)
	a.body.(object)["repository_selection"] = "selected"
	return a
}

// deliveryRetention is how long GitHub keeps a delivery.
const deliveryRetention = 3 * 24 * time.Hour

// deliveryJSON renders a delivery as lists show it.
func deliveryJSON(d *HookDelivery) object {
	repository := any(nil)
	if d.Repository != 0 {
		repository = d.Repository
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.Delivered.UTC().Format("2006-01-02T15:04:05.000Z"),
		"redelivery": d.Redelivery, "duration": d.Duration.Seconds(), "status": d.Status,
		"status_code": d.Code, "event": d.Event, "action": stringOrNull(d.Action),
		"installation_id": d.Installation, "repository_id": repository, "throttled_at": nil,
	}
}

// listDeliveries shows the newest first. A next page is named by where it begins.
func (h *Hub) listDeliveries(r *routedRequest, _ credential) routeAnswer {
	per, _ := strconv.Atoi(r.queryParam("per_page"))
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	before, _ := strconv.ParseInt(strings.TrimPrefix(r.queryParam("cursor"), "v1_"), 10, 64)
	status := r.queryParam("status")
	defer h.mu.held()()
	items, more := []any{}, int64(0)
	for _, d := range slices.Backward(h.deliveries.tried) {
		switch {
		case before != 0 && d.ID >= before, r.now.Sub(d.Delivered) > deliveryRetention:
		case status == "success" && (d.Code < 200 || d.Code >= 400), status == "failure" && (d.Code < 400 || d.Code >= 600):
		case len(items) == per:
			more = items[per-1].(object)["id"].(int64)
		default:
			items = append(items, deliveryJSON(d))
		}
		if more != 0 {
			break
		}
	}
	a := answerOK(items)
	if more != 0 {
		q := r.URL.Query()
		q.Set("cursor", fmt.Sprintf("v1_%d", more))
		a.header = map[string]string{"Link": fmt.Sprintf("<%s%s?%s>; rel=\"next\"", r.baseURL, r.path, q.Encode())}
	}
	return a
}

func (h *Hub) findDelivery(r *routedRequest) *HookDelivery {
	d := h.deliveries.byID[r.intParam("delivery_id")]
	if d == nil || d.Delivered.IsZero() || r.now.Sub(d.Delivered) > deliveryRetention {
		return nil
	}
	return d
}

// createRedelivery sends a delivery again, as a new one with the same guid.
func (h *Hub) createRedelivery(r *routedRequest, _ credential) routeAnswer {
	defer h.mu.held()()
	d := h.findDelivery(r)
	switch {
	case d == nil:
		return answerNotFound()
	case d.Payload == nil:
		return answerError(422, "The payload of this delivery is not kept any more.")
	}
	h.queueRedelivery(d)
	return routeAnswer{status: http.StatusAccepted, body: object{}}
}

// AppEndpoints lists the endpoints of the Hub itself, as [Endpoints] does.
func AppEndpoints() []string {
	var all []string
	for _, r := range hubRoutes {
		all = append(all, r.endpoint())
	}
	return all
}

// webForm matches the addresses of GitHub's website that take a manifest.
var webForm = regexp.MustCompile(`^/(?:organizations/([A-Za-z0-9_-]+)/)?settings/apps/new$`)

// answerForm answers the form that posts a manifest to the website; an empty answer is for any other request.
func (r *routedRequest) answerForm(made *registry) routeAnswer {
	found := webForm.FindStringSubmatch(r.URL.Path)
	if found == nil || r.Method != http.MethodPost {
		return routeAnswer{}
	}
	form, err := url.ParseQuery(string(r.body))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return answerPage(400, "What?")
	}
	to, wrong := made.takeManifest(or(found[1], "alice"), form.Get("manifest"), r.queryParam("state"), r.now)
	if wrong != "" {
		return answerPage(422, wrong)
	}
	a := answerPage(302, "You are being redirected.")
	a.header["Location"] = to
	return a
}

func answerPage(status int, text string) routeAnswer {
	return answerRaw(status, "text/html; charset=utf-8", []byte(text))
}

// conversionPattern is where a code is exchanged.
const conversionPattern = "/app-manifests/{code}/conversions"

// convertManifest answers the exchange of a code. The Hub is the GitHub of one App: the one that is made has its id,
// and takes its place.
func convertManifest(h *Hub, r *routedRequest) routeAnswer {
	made, found := h.registry.takeCode(r.params["code"], r.now)
	if !found {
		return answerNotFound()
	}
	created, err := newCredentials(made.manifest.Name, !h.options.NoWebhookSecret)
	if err != nil {
		return answerError(500, "no key") // unreachable
	}
	h.appSlug.Store(created.Slug)
	h.created.Store(created)
	o := h.appJSON()
	maps.Copy(o, object{
		"owner": h.accountJSON(made.owner), "name": made.manifest.Name, "description": made.manifest.Description,
		"external_url": made.manifest.URL, "permissions": made.manifest.Permissions, "events": made.manifest.Events,
		"client_secret": randomHex(20), "webhook_secret": stringOrNull(created.Secret), "pem": created.keyPEM(),
	})
	if strings.HasPrefix(r.URL.Path, "/api/v3/") {
		o["html_url"] = fmt.Sprintf("%s/github-apps/%s", strings.TrimSuffix(r.baseURL, "/api/v3"), created.Slug)
	}
	return answerCreated(o)
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
