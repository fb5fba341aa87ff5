package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// What an event is to a server: news of our own check is none, but whoever presses "Re-run" on it is heard.
func TestAServerReadsDeliveries(t *testing.T) {
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}})
	open := func(o client.Options) *github.Fleet {
		o.BaseURL, o.Transport = "https://api.github.com", hub
		f, err := github.NewFleet(github.FleetOptions{PoolOptions: client.PoolOptions{Options: o}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	app, unnamed := open(client.Options{App: &client.App{ID: 4711, Key: appKey(t)}}), open(client.Options{App: &client.App{ID: 4711, Key: appKey(t)}})
	if _, err := app.Slug(t.Context()); err != nil {
		t.Fatal(err)
	}
	person := open(client.Options{Token: "ghp_alice"})

	head := strings.Repeat("a", 40)
	check := func(action, app string) string {
		return fmt.Sprintf(`{"action":%q,"check_run":{"name":"quorum","head_sha":%q,"app":{"slug":%q},"pull_requests":[{"number":7}]}`, action, head, app)
	}
	suite := func(action, app string) string {
		return fmt.Sprintf(`{"action":%q,"check_suite":{"head_sha":%q,"app":{"slug":%q}}`, action, head, app)
	}
	const repository, installation = `,"repository":{"full_name":"acme/shop","default_branch":"main"}`, `,"installation":{"id":77}`
	const both = installation + repository
	touch := func(event, action, app, name string) quorum.Touch {
		return quorum.Touch{Event: event, Action: action, App: app, Name: name, Head: head}
	}
	const own, strangers, ours = "the check is our own", "a personal token has no installations", "the event is of no installation of the App"

	for _, test := range []struct {
		name    string
		fleet   *github.Fleet
		event   string
		payload string // without its last brace
		concern webhook.Concern
		tenant  int64
		why     string
		touch   quorum.Touch
	}{
		{
			"our check was made", app, "check_run", check("created", "quorum-app") + both, webhook.ConcernNothing, 77, own,
			touch("check_run", "created", "quorum-app", "quorum"),
		},
		{
			"our check was decided", app, "check_run", check("completed", "quorum-app") + both, webhook.ConcernNothing, 77, own,
			touch("check_run", "completed", "quorum-app", "quorum"),
		},
		{"Re-run on our check", app, "check_run", check("rerequested", "quorum-app") + both, webhook.ConcernPulls, 77, "", quorum.Touch{}},
		{
			"a button of ours", app, "check_run", check("requested_action", "quorum-app") + both, webhook.ConcernNothing, 77,
			"the button is none of ours",
			quorum.Touch{},
		},
		{
			"our suite has ended", app, "check_suite", suite("completed", "quorum-app") + both, webhook.ConcernNothing, 77, own,
			touch("check_suite", "completed", "quorum-app", ""),
		},
		{"Re-run all of ours", app, "check_suite", suite("rerequested", "quorum-app") + both, webhook.ConcernHead, 77, "", quorum.Touch{}},
		{
			"another App's check of our check's name", app, "check_run", check("completed", "cursor") + both, webhook.ConcernPulls,
			77, "", touch("check_run", "completed", "cursor", "quorum"),
		},
		{"Re-run on another App's check", app, "check_run", check("rerequested", "cursor") + both, webhook.ConcernPulls, 77, "", quorum.Touch{}},
		{"a check of nobody", app, "check_run", check("completed", "") + both, webhook.ConcernPulls, 77, "", touch("check_run", "completed", "", "quorum")},
		{
			"before our name is known, any check may be another's", unnamed, "check_run", check("completed", "quorum-app") + both,
			webhook.ConcernPulls, 77, "", touch("check_run", "completed", "quorum-app", "quorum"),
		},
		{
			"a check of nobody, before our name is known", unnamed, "check_run", check("completed", "") + both,
			webhook.ConcernPulls, 77, "", touch("check_run", "completed", "", "quorum"),
		},

		{
			"of no installation", app, "check_run", check("completed", "cursor") + repository, webhook.ConcernNothing, 0, ours,
			touch("check_run", "completed", "cursor", "quorum"),
		},
		{"Re-run, of no installation", app, "check_run", check("rerequested", "quorum-app") + repository, webhook.ConcernNothing, 0, ours, quorum.Touch{}},
		{"a policy, of no installation", app, "push", `{"ref":"refs/heads/main"` + repository, webhook.ConcernNothing, 0, ours, quorum.Touch{}},
		{"a policy", app, "push", `{"ref":"refs/heads/main"` + both, webhook.ConcernRepo, 77, "", quorum.Touch{}},
		{"an installation", app, "installation", `{"action":"created"` + installation, webhook.ConcernInstallation, 77, "", quorum.Touch{}},
		{"an installation that is deleted", app, "installation", `{"action":"deleted"` + installation, webhook.ConcernGone, 77, "", quorum.Touch{}},
		{"an installation that is suspended", app, "installation", `{"action":"suspend"` + installation, webhook.ConcernSuspended, 77, "", quorum.Touch{}},
		{"a ping", app, "ping", `{"zen":"x"`, webhook.ConcernNothing, 0, "a ping asks for nothing", quorum.Touch{}},

		// A personal token is one tenant, and writes no checks: a workflow's are a reviewer's.
		{
			"a person's: a check", person, "check_run", check("completed", "cursor") + repository, webhook.ConcernPulls, 0, "",
			touch("check_run", "completed", "cursor", "quorum"),
		},
		{
			"a person's: a workflow's check", person, "check_run", check("completed", "github-actions") + repository,
			webhook.ConcernPulls, 0, "", touch("check_run", "completed", "github-actions", "quorum"),
		},
		{
			"a person's: of an installation", person, "check_run", check("completed", "cursor") + both, webhook.ConcernPulls, 0, "",
			touch("check_run", "completed", "cursor", "quorum"),
		},
		{"a person's: an installation", person, "installation", `{"action":"created"` + installation, webhook.ConcernNothing, 0, strangers, quorum.Touch{}},
		{
			"a person's: an installation that is deleted", person, "installation", `{"action":"deleted"` + installation,
			webhook.ConcernNothing, 0, strangers,
			quorum.Touch{},
		},
		{
			"a person's: an installation that is suspended", person, "installation", `{"action":"suspend"` + installation,
			webhook.ConcernNothing, 0, strangers,
			quorum.Touch{},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, err := test.fleet.ReadDelivery(test.event, []byte(test.payload+"}"))
			if err != nil {
				t.Fatal(err)
			}
			if n.Concern != test.concern || n.Installation != test.tenant || n.Touch != test.touch {
				t.Errorf("concern %d of %d, touch %+v; want %d of %d, %+v", n.Concern, n.Installation, n.Touch, test.concern, test.tenant, test.touch)
			}
			if n.Concern == webhook.ConcernNothing && n.Idle != test.why {
				t.Errorf("why: %q, want %q", n.Idle, test.why)
			}
			if n.Concern == webhook.ConcernPulls && !slices.Equal(n.PRs, []int{7}) || n.Concern == webhook.ConcernHead && n.Head != head {
				t.Errorf("it is about %v %q", n.PRs, n.Head)
			}
		})
	}
	if _, err := app.ReadDelivery("check_run", []byte(`{"check_run":7}`)); err == nil {
		t.Error("a payload that GitHub does not send is no error")
	}
}

// That GitHub does not know the App is another thing than that something of an installation is gone.
func TestAnUnknownAppIsToldApart(t *testing.T) {
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}})
	nobody := roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.WriteString(`{"message":"Integration not found"}`)
		return w.Result(), nil
	})
	for name, c := range map[string]struct {
		transport http.RoundTripper
		unknown   bool
	}{"known": {hub, false}, "unknown": {nobody, true}} {
		f, err := github.NewFleet(github.FleetOptions{PoolOptions: client.PoolOptions{Options: client.Options{
			BaseURL: "https://api.github.com", Transport: c.transport, App: &client.App{ID: 4711, Key: appKey(t)},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		_, ofSlug := f.Slug(t.Context())
		_, ofList := f.Installations(t.Context())
		_, ofDeliveries := f.Deliveries(t.Context(), time.Now())
		forge, err := f.ForgeOf(77)
		if err != nil {
			t.Fatal(err)
		}
		_, ofForge := forge.PullsOf(t.Context(), "acme", "shop", strings.Repeat("a", 40))
		if errors.Is(ofDeliveries, client.ErrAppUnknown) { // an App without a webhook has none
			t.Errorf("%s: deliveries: %v", name, ofDeliveries)
		}
		for i, err := range []error{ofSlug, ofList, ofForge} {
			if c.unknown != errors.Is(err, client.ErrAppUnknown) || c.unknown != client.IsNotFound(err) && i < 2 {
				t.Errorf("%s, request %d: %v", name, i, err)
			}
		}
		if _, err := f.ForgeOf(0); !errors.Is(err, client.ErrNotInstalled) {
			t.Errorf("%s: a personal token's forge of an App: %v", name, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
