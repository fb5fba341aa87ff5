package sandbox

// What GitHub answers to an App about itself: its installations, their tokens and repositories, its deliveries.

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hubRoute is a route that the Hub answers itself.
type hubRoute struct {
	route
	signed bool // only with the App's own signature; else only with an installation's token
	answer func(*Hub, *call, who) answer
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
		{route{method: "GET", pattern: "/app/hook/deliveries/{n:delivery_id}"}, true, (*Hub).getDelivery},
		{route{method: "POST", pattern: "/app/hook/deliveries/{n:delivery_id}/attempts"}, true, (*Hub).redeliver},
	}
	for i := range all {
		all[i].segs = strings.Split(strings.Trim(all[i].pattern, "/"), "/")
	}
	return all
}

// answer answers what concerns the App and no repository.
func (h *Hub) answer(r *call) answer {
	for i := range hubRoutes {
		params, found := hubRoutes[i].match(r.Method, r.segs)
		if !found {
			continue
		}
		asks, refusal := h.ask(r)
		switch {
		case refusal.status != 0:
			return refusal
		case hubRoutes[i].signed && !asks.app:
			return problem(401, "A JSON web token could not be decoded")
		case !hubRoutes[i].signed && asks.app:
			return problem(403, "Resource not accessible by integration")
		}
		b := h.app
		if asks.token != nil {
			b = asks.token.in.budget
		}
		if a, fine := b.spend(r.Method, r.path, r.now); !fine {
			return a
		}
		r.params = params
		return hubRoutes[i].answer(h, r, asks)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unknown = append(h.unknown, r.Method+" "+r.path)
	return notFound()
}

func (h *Hub) appJSON() object {
	app := h.o.App
	return object{
		"id": app.ID, "slug": app.Slug, "client_id": "Iv1." + app.Slug, "node_id": nodeID("A", app.ID), "owner": h.account("acme"), "name": app.Slug, "description": "",
		"external_url": "https://example.com/" + app.Slug, "html_url": "https://github.com/apps/" + app.Slug, "created_at": stamp(h.began), "updated_at": stamp(h.began),
		"permissions": h.o.Grants, "events": h.events(),
	}
}

func (h *Hub) events() []string {
	if h.o.Events != nil {
		return h.o.Events
	}
	return []string{
		"check_run", "check_suite", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "push", "repository", "status", "workflow_run",
	}
}

func (h *Hub) getApp(_ *call, _ who) answer {
	o := h.appJSON()
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, in := range h.order {
		if !in.gone && in.id != 0 {
			n++
		}
	}
	o["installations_count"] = n
	return ok(o)
}

// installationJSON shows an installation as it is now.
func (h *Hub) installationJSON(in *installation) object {
	account := h.account(in.account)
	h.mu.Lock()
	defer h.mu.Unlock()
	suspender := any(nil)
	if !in.suspended.IsZero() {
		suspender = keep(h.accounts, in.account, func() object { return accountJSON(in.account) })
	}
	id := strconv.FormatInt(in.id, 10)
	return object{
		"id": in.id, "account": account, "repository_selection": "selected", "access_tokens_url": apiRoot + "/app/installations/" + id + "/access_tokens",
		"repositories_url": apiRoot + "/installation/repositories", "html_url": "https://github.com/settings/installations/" + id, "app_id": h.o.App.ID, "app_slug": h.o.App.Slug,
		"client_id": "Iv1." + h.o.App.Slug, "target_id": accountID(in.account), "target_type": "Organization", "permissions": h.o.Grants, "events": h.events(),
		"created_at": stamp(in.created), "updated_at": stamp(in.updated), "single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []string{},
		"suspended_by": suspender, "suspended_at": stamp(in.suspended),
	}
}

func (h *Hub) present() []*installation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.order), func(in *installation) bool { return in.gone || in.id == 0 })
}

func (h *Hub) listInstallations(r *call, _ who) answer {
	return list(r, h.present(), func(in *installation) any { return h.installationJSON(in) }, "")
}

func (h *Hub) getInstallation(r *call, _ who) answer {
	for _, in := range h.present() {
		if in.id == r.num("installation_id") {
			return ok(h.installationJSON(in))
		}
	}
	return notFound()
}

func (h *Hub) getRepoInstallation(r *call, _ who) answer {
	s := h.named(r.params["owner"] + "/" + r.params["repo"])
	if s == nil || s.in.id == 0 || !slices.Contains(h.present(), s.in) {
		return notFound()
	}
	return ok(h.installationJSON(s.in))
}

// createToken makes a token, for all of an installation's repositories or for those that are named.
func (h *Hub) createToken(r *call, _ who) answer {
	var in struct {
		Repositories  []string `json:"repositories"`
		RepositoryIDs []int64  `json:"repository_ids"`
	}
	if err := r.decode(&in); err != nil {
		return problem(422, "Invalid request. "+err.Error())
	}
	h.mu.Lock()
	found := h.installs[r.num("installation_id")]
	switch {
	case found == nil, found.gone, found.id == 0:
		h.mu.Unlock()
		return notFound()
	case !found.suspended.IsZero():
		h.mu.Unlock()
		return problem(403, "This installation has been suspended")
	}
	only, missing := found.choose(in.Repositories, in.RepositoryIDs)
	if missing {
		h.mu.Unlock()
		return problem(422, "There is at least one repository that does not exist or is not accessible to the parent installation.")
	}
	text, t := h.mint(found, only)
	var chosen []*site
	for _, s := range found.sites {
		if only[s] {
			chosen = append(chosen, s)
		}
	}
	h.mu.Unlock()
	out := object{"token": text, "expires_at": stamp(t.expires), "permissions": h.o.Grants, "repository_selection": "selected"}
	if only != nil {
		repos := []any{}
		for _, s := range chosen {
			repos = append(repos, s.show())
		}
		out["repositories"] = repos
	}
	return created(out)
}

// choose finds the repositories that a token is wanted for; nil means all.
func (in *installation) choose(names []string, ids []int64) (only map[*site]bool, missing bool) {
	if len(names)+len(ids) == 0 {
		return nil, false
	}
	only = map[*site]bool{}
	for _, s := range in.sites {
		_, repo, _ := strings.Cut(s.name, "/")
		if slices.Contains(ids, s.id) || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, repo) }) {
			only[s] = true
		}
	}
	return only, len(only) < len(names)+len(ids)
}

// show is a repository in full.
func (s *site) show() any {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.g.repoJSON(s.g.owner)
}

func (h *Hub) listRepositories(r *call, asks who) answer {
	h.mu.Lock()
	var all []*site
	for _, s := range asks.token.in.sites {
		if asks.token.only == nil || asks.token.only[s] {
			all = append(all, s)
		}
	}
	h.mu.Unlock()
	a := list(r, all, func(s *site) any { return s.show() }, "repositories")
	a.body.(object)["repository_selection"] = "selected"
	return a
}

// How long GitHub keeps a delivery.
const keepsDeliveries = 3 * 24 * time.Hour

// deliveryJSON is a delivery in a list.
func deliveryJSON(d *Delivery) object {
	repository := any(nil)
	if d.Repository != 0 {
		repository = d.Repository
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.Delivered.UTC().Format("2006-01-02T15:04:05.000Z"), "redelivery": d.Redelivery, "duration": d.Duration.Seconds(), "status": d.Status,
		"status_code": d.Code, "event": d.Event, "action": orNull(d.Action), "installation_id": d.Installation, "repository_id": repository, "throttled_at": nil,
	}
}

// listDeliveries shows the newest first. A next page is named by where it begins.
func (h *Hub) listDeliveries(r *call, _ who) answer {
	per, _ := strconv.Atoi(r.query("per_page"))
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	before, _ := strconv.ParseInt(strings.TrimPrefix(r.query("cursor"), "v1_"), 10, 64)
	status := r.query("status")
	h.mu.Lock()
	defer h.mu.Unlock()
	items, more := []any{}, int64(0)
	for _, d := range slices.Backward(h.hooks.done) {
		switch {
		case before != 0 && d.ID >= before, r.now.Sub(d.Delivered) > keepsDeliveries:
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
	a := ok(items)
	if more != 0 {
		q := r.URL.Query()
		q.Set("cursor", fmt.Sprintf("v1_%d", more))
		a.header = map[string]string{"Link": fmt.Sprintf("<%s%s?%s>; rel=\"next\"", r.base, r.path, q.Encode())}
	}
	return a
}

func (h *Hub) findDelivery(r *call) *Delivery {
	d := h.hooks.byID[r.num("delivery_id")]
	if d == nil || d.Delivered.IsZero() || r.now.Sub(d.Delivered) > keepsDeliveries {
		return nil
	}
	return d
}

func (h *Hub) getDelivery(r *call, _ who) answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.findDelivery(r)
	if d == nil {
		return notFound()
	}
	o := deliveryJSON(d)
	o["url"] = d.url
	headers := object{}
	for name, values := range headersOf(d, h.o) {
		headers[name] = strings.Join(values, ", ")
	}
	o["request"] = object{"headers": headers, "payload": rawOrNull(d.Payload)}
	o["response"] = object{"headers": object{}, "payload": ""}
	return ok(o)
}

// redeliver sends a delivery again, as a new one with the same guid.
func (h *Hub) redeliver(r *call, _ who) answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.findDelivery(r)
	switch {
	case d == nil:
		return notFound()
	case d.Payload == nil:
		return problem(422, "The payload of this delivery is not kept any more.")
	}
	h.again(d)
	return answer{status: http.StatusAccepted, body: object{}}
}

// AppEndpoints lists what a Hub answers beside what its repositories do, as [Endpoints] does.
func AppEndpoints() []string {
	var all []string
	for _, r := range hubRoutes {
		all = append(all, r.endpoint())
	}
	return all
}
