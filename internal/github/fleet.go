package github

// A GitHub App with all its installations, for a server. Each installation has a client of its own, so that no token, no
// answer and no limit of one is another's; what costs memory or connections is shared.

import (
	queue "container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// FleetOptions say which App, and where. They show no token and no key, as [Options] does not.
type FleetOptions struct {
	Options        // App, or Token: then the one tenant is 0
	Slug    string // of the App as which check runs are written; "": [Fleet.Slug] asks GitHub
	Config  string // path of the policy file; "": the two default ones
	Most    int    // installations that are kept alive; 0: 512
}

// mostAlive is enough for the installations that are busy at a time.
const mostAlive = 512

// A Fleet is an App with all its installations, or a personal token. It may be used by several goroutines.
type Fleet struct {
	ground *ground
	config string
	most   int
	signer *signer // nil: a personal token
	own    *Forge  // of the personal token

	memories *Memories // of the pull requests of all installations

	mu     sync.Mutex
	slug   string
	alive  map[int64]*queue.Element // of *site
	order  queue.List               // the one entered last in front
	limits map[int64]*limits        // of those dropped whose last minute, or limit, may still count
	sweep  int                      // limits are looked through when there are more
}

type site struct {
	installation int64
	forge        *Forge
}

// NewFleet returns a fleet, or says what is wrong with the options. It sends nothing.
func NewFleet(o FleetOptions) (*Fleet, error) {
	g, err := newGround(o.Options, 2*fleetConnections)
	if err != nil {
		return nil, err
	}
	f := &Fleet{memories: NewMemories(mostPulls), ground: g, config: o.Config, most: o.Most, slug: o.Slug, alive: map[int64]*queue.Element{}, limits: map[int64]*limits{}}
	if f.most <= 0 {
		f.most = mostAlive
	}
	if o.App == nil {
		c, err := g.tokenClient(o.Options)
		if err != nil {
			return nil, err
		}
		if f.slug == "" {
			f.slug = ActionsApp // as whoever has no App; a personal token writes statuses
		}
		f.own = f.forge(c)
		return f, nil
	}
	f.signer, err = newSigner(g, *o.App, &stats{})
	return f, err
}

// fleetConnections is how many connections to GitHub are kept for all installations, where it does not speak HTTP/2: in a
// rush there are about as many requests at a time, and to connect anew costs more than most of them.
const fleetConnections = 512

// Calm gives back what a rush took: connections that wait for a next request, and memory.
func (f *Fleet) Calm() {
	if t, ok := f.ground.wire.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	f.memories.Compact()
}

// Format keeps the token and the key out of every verb.
func (f *Fleet) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "github.Fleet(%s)", f.ground.base) }

// Reached is when GitHub last answered anything but a failure of its own; zero: never yet.
func (f *Fleet) Reached() time.Time { return f.ground.lastReached() }

// Enter returns the forge of an installation, the same one as long as it is used. It sends nothing. Before the App's slug
// is known it is an error that passes.
func (f *Fleet) Enter(installation int64) (*Forge, error) {
	switch {
	case f.own != nil && installation == 0:
		return f.own, nil
	case f.own != nil:
		return nil, fmt.Errorf("enter installation %d: a personal token has none", installation)
	case installation <= 0:
		return nil, fmt.Errorf("enter installation %d: it is no number of an installation", installation)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.alive[installation]; ok {
		f.order.MoveToFront(at)
		return at.Value.(*site).forge, nil
	}
	if f.slug == "" {
		return nil, fmt.Errorf("enter installation %d: %w", installation, &fault{what: "the App's name is not known yet"})
	}
	l := f.limits[installation]
	if delete(f.limits, installation); l == nil {
		l = newLimits(f.ground, &stats{})
	}
	auth := &appAuth{signer: f.signer}
	auth.choose(installation, "")
	s := &site{installation: installation, forge: f.forge(f.ground.appClient(auth, l))}
	f.alive[installation] = f.order.PushFront(s)
	if f.order.Len() > f.most {
		f.drop(f.order.Back())
	}
	return s.forge, nil
}

func (f *Fleet) forge(c *Client) *Forge {
	forge := NewForge(c, f.slug, f.config, f.ground.log)
	forge.Share(f.memories)
	forge.SetClock(f.ground.now)
	return forge
}

// drop lets the installation go that was entered longest ago: its token and what its forge remembers. What it used of its
// limits is kept until that does not matter any more; f.mu is held.
func (f *Fleet) drop(at *queue.Element) {
	s := f.order.Remove(at).(*site)
	delete(f.alive, s.installation)
	f.limits[s.installation] = s.forge.client.limits
	if len(f.limits) <= f.sweep {
		return
	}
	for id, l := range f.limits {
		if l.idle() {
			delete(f.limits, id)
		}
	}
	f.sweep = max(2*len(f.limits), f.most)
}

// Leave forgets an installation: its token and its limits.
func (f *Fleet) Leave(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.alive[installation]; ok {
		f.order.Remove(at)
		delete(f.alive, installation)
	}
	delete(f.limits, installation)
}

// Login is whose personal token it is; "" of an App.
func (f *Fleet) Login(ctx context.Context) (string, error) {
	if f.own == nil {
		return "", nil
	}
	var who quorum.Account
	if err := f.own.whoami(ctx, &who); err != nil {
		return "", fmt.Errorf("sign in with the token: %w", err)
	}
	return who.Login, nil
}

// Slug is the App's name, as which it writes check runs. GitHub is asked once; a personal token writes none.
func (f *Fleet) Slug(ctx context.Context) (string, error) {
	f.mu.Lock()
	slug := f.slug
	f.mu.Unlock()
	if slug != "" {
		return slug, nil
	}
	var app struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
	}
	if _, err := f.signer.signed.Get(ctx, "app", &app); err != nil {
		return "", fmt.Errorf("sign in as App %d: %w", f.signer.id, err)
	}
	if app.Slug == "" || app.ID != f.signer.id {
		return "", fmt.Errorf("sign in as App %d: the answer names another App: %w", f.signer.id, ErrTransport)
	}
	f.named(app.Slug)
	return app.Slug, nil
}

func (f *Fleet) named(slug string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slug == "" {
		f.slug = slug
	}
}

// Installations are all that the App has, suspended ones included; nil of a personal token.
func (f *Fleet) Installations(ctx context.Context) ([]Installation, error) {
	if f.signer == nil {
		return nil, nil
	}
	type entry struct {
		ID      int64 `json:"id"`
		App     int64 `json:"app_id"`
		Account struct {
			Login string `json:"login"`
			Slug  string `json:"slug"` // of an enterprise
		} `json:"account"`
		Suspended *time.Time        `json:"suspended_at"`
		Grants    map[string]string `json:"permissions"`
		Events    []string          `json:"events"`
		Slug      string            `json:"app_slug"`
	}
	var all []Installation
	path := "app/installations?per_page=100"
	for range maxInstallationPages {
		var page []entry
		answer, err := f.signer.signed.Get(ctx, path, &page)
		if err != nil {
			return nil, fmt.Errorf("list installations of App %d: %w", f.signer.id, err)
		}
		for _, e := range page {
			if e.ID <= 0 || e.App != f.signer.id {
				return nil, fmt.Errorf("list installations of App %d: the answer names another App: %w", f.signer.id, ErrTransport)
			}
			in := Installation{ID: e.ID, Slug: e.Slug, Grants: e.Grants, Events: e.Events, Account: e.Account.Login}
			if in.Account == "" {
				in.Account = e.Account.Slug
			}
			if e.Suspended != nil {
				in.Suspended = *e.Suspended
			}
			all = append(all, in)
			f.named(e.Slug)
		}
		if path = answer.Next; path == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("list installations of App %d: more than %d pages", f.signer.id, maxInstallationPages)
}

// maxInstallationPages allows 100,000 installations.
const maxInstallationPages = 1000

// Repositories are those that an installation lets us see and that can change, as owner/name; nil of a personal token.
func (f *Fleet) Repositories(ctx context.Context, installation int64) ([]string, error) {
	if f.signer == nil {
		return nil, nil
	}
	forge, err := f.Enter(installation)
	if err != nil {
		return nil, err
	}
	type repository struct {
		FullName string `json:"full_name"`
		Archived bool   `json:"archived"`
		Disabled bool   `json:"disabled"`
	}
	all := []string{}
	path := "installation/repositories?per_page=100"
	for range maxInstallationPages {
		var page struct {
			Repositories *[]repository `json:"repositories"`
		}
		answer, err := forge.client.Get(ctx, path, &page)
		if err != nil {
			return nil, fmt.Errorf("list repositories of installation %d: %w", installation, err)
		}
		if page.Repositories == nil {
			return nil, fmt.Errorf("list repositories of installation %d: the answer has no list: %w", installation, ErrTransport)
		}
		for _, r := range *page.Repositories {
			if _, _, ok := fullName(r.FullName); ok && !r.Archived && !r.Disabled {
				all = append(all, r.FullName)
			}
		}
		if path = answer.Next; path == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("list repositories of installation %d: more than %d pages", installation, maxInstallationPages)
}

// fullName takes owner/name apart, if both can be part of a path.
func fullName(text string) (owner, repo string, ok bool) {
	owner, repo, ok = strings.Cut(text, "/")
	if !ok || !isWord(owner) || !isWord(repo) || strings.Trim(owner, ".") == "" || strings.Trim(repo, ".") == "" {
		return "", "", false
	}
	return owner, repo, true
}

// isWord says whether text is of what owners, repositories and nothing else consist of: both become part of a path.
func isWord(text string) bool {
	for _, r := range []byte(text) {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		default:
			return false
		}
	}
	return text != "" && len(text) <= 100
}

// errNoApp says that only an App can do it.
var errNoApp = errors.New("a personal token has no deliveries")

// Redeliver asks GitHub for a delivery again, by its number.
func (f *Fleet) Redeliver(ctx context.Context, delivery int64) error {
	if f.signer == nil {
		return fmt.Errorf("redeliver %d: %w", delivery, errNoApp)
	}
	if _, err := f.signer.signed.Send(ctx, http.MethodPost, "app/hook/deliveries/"+strconv.FormatInt(delivery, 10)+"/attempts", nil, nil); err != nil {
		return fmt.Errorf("redeliver %d: %w", delivery, err)
	}
	return nil
}
