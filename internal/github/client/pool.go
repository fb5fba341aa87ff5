package client

// A GitHub App with all its installations, for a server. Each installation has a client of its own, so that no token,
// no answer and no limit of one is another's; what costs memory or connections is shared.

import (
	"cmp"
	queue "container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
)

// PoolOptions say which App, and where. They show no token and no key, as [Options] does not.
type PoolOptions struct {
	Options        // App, or Token: then the one client is that of installation 0
	Slug    string // of the App as which check runs are written; "": [Pool.Slug] asks GitHub
	Most    int    // installations that are kept alive; 0: 512
}

// mostAlive is enough for the installations that are busy at a time.
const mostAlive = 512

// A Pool holds a client for each installation of an App that is at work, or the one of a personal token. It may be used
// by several goroutines.
type Pool struct {
	host   *githubHost
	most   int
	signer *signer // nil: a personal token
	own    *Client // of the personal token

	mu     sync.Mutex
	slug   string
	alive  map[int64]*queue.Element // of *lodger
	order  queue.List               // the one entered last in front
	limits map[int64]*limits        // of those dropped whose last minute, or limit, may still count
	sweep  int                      // limits are looked through when there are more

	saidNoHook bool // that the App has no webhook was logged
}

// pooledClient is an installation with its client.
type pooledClient struct {
	installation int64
	client       *Client
}

// NewPool returns a pool, or says what is wrong with the options. It sends nothing.
func NewPool(o PoolOptions) (*Pool, error) {
	g, err := newHost(o.Options, 2*poolConnections)
	if err != nil {
		return nil, err
	}
	p := &Pool{host: g, most: o.Most, slug: o.Slug, alive: map[int64]*queue.Element{}, limits: map[int64]*limits{}}
	if p.most <= 0 {
		p.most = mostAlive
	}
	if o.App == nil {
		p.own, err = g.tokenClient(o.Options)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	p.signer, err = newSigner(g, *o.App, &stats{})
	return p, err
}

// poolConnections is how many connections to GitHub are kept for all installations, where it does not speak HTTP/2: in
// a burst there are about as many requests at a time, and a new connection costs more than most of them.
const poolConnections = 512

// Format keeps the token and the key out of every verb.
func (p *Pool) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "github.Pool(%s)", p.host.base) }

// Personal reports whether the pool is a personal token's: it has one client, and no installations.
func (p *Pool) Personal() bool { return p.own != nil }

// Client returns the client of an installation, the same one as long as it is used; 0 is a personal token's. It sends
// nothing. With its first request the App signs in.
func (p *Pool) Client(installation int64) (*Client, error) {
	switch {
	case p.own != nil && installation == 0:
		return p.own, nil
	case p.own != nil:
		return nil, fmt.Errorf("enter installation %d: a personal token has none", installation)
	case installation <= 0:
		return nil, fmt.Errorf("enter installation %d: it is no number of an installation", installation)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.alive[installation]; ok {
		p.order.MoveToFront(at)
		return at.Value.(*pooledClient).client, nil
	}
	host := *p.host // the same one, of which each line of the log names the installation
	host.log = host.log.With("installation", installation)
	l := p.limits[installation]
	if delete(p.limits, installation); l == nil {
		l = newLimits(&host, &stats{})
	}
	auth := &appAuth{signer: p.signer, signIn: p.Slug}
	auth.chooseInstallation(installation, "")
	s := &pooledClient{installation: installation, client: host.appClient(auth, l)}
	p.alive[installation] = p.order.PushFront(s)
	if p.order.Len() > p.most {
		p.dropOldest()
	}
	return s.client, nil
}

// Holds reports whether the installation's client is alive.
func (p *Pool) Holds(installation int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, alive := p.alive[installation]
	return alive || p.own != nil && installation == 0
}

// dropOldest lets the installation go that was entered longest ago, and with it its token. What it used of its limits
// is kept until that does not matter any more; p.mu is held.
func (p *Pool) dropOldest() {
	s := p.order.Remove(p.order.Back()).(*pooledClient)
	delete(p.alive, s.installation)
	p.limits[s.installation] = s.client.limits
	if len(p.limits) <= p.sweep {
		return
	}
	for id, l := range p.limits {
		if l.isIdle() {
			delete(p.limits, id)
		}
	}
	p.sweep = max(2*len(p.limits), p.most)
}

// Leave forgets an installation: its token and its limits.
func (p *Pool) Leave(installation int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.alive[installation]; ok {
		p.order.Remove(at)
		delete(p.alive, installation)
	}
	delete(p.limits, installation)
}

// Budgets are those of all installations that are alive and of which GitHub has told one; 0 is a personal token's.
func (p *Pool) Budgets() map[int64]Budget {
	all := map[int64]Budget{}
	if p.own != nil {
		all[0] = p.own.Budget()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, at := range p.alive {
		if b := at.Value.(*pooledClient).client.Budget(); b.Limit > 0 {
			all[id] = b
		}
	}
	return all
}

// KnownSlug is the App's name if it is known; "" before GitHub was asked for it.
func (p *Pool) KnownSlug() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slug
}

// Slug is the App's name, as which it writes check runs. GitHub is asked once; a personal token writes none.
func (p *Pool) Slug(ctx context.Context) (string, error) {
	p.mu.Lock()
	slug := p.slug
	p.mu.Unlock()
	if slug != "" {
		return slug, nil
	}
	var app struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
	}
	if _, err := p.signer.signed.Get(ctx, "app", &app); err != nil {
		return "", markAppUnknown(fmt.Errorf("sign in as App %d: %w", p.signer.id, err))
	}
	if app.Slug == "" || app.ID != p.signer.id {
		return "", fmt.Errorf("sign in as App %d: %w", p.signer.id, errOtherApp)
	}
	p.NoteSlug(app.Slug)
	return app.Slug, nil
}

// NoteSlug takes over the App's name as GitHub shows it now: an App may be renamed.
func (p *Pool) NoteSlug(slug string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slug != "" {
		p.slug = slug
	}
}

// AppID is the App's id; 0 of a personal token.
func (p *Pool) AppID() int64 {
	if p.signer == nil {
		return 0
	}
	return p.signer.id
}

// Installations are all that the App has, suspended ones included; nil of a personal token.
func (p *Pool) Installations(ctx context.Context) ([]Installation, error) {
	if p.signer == nil {
		return nil, nil
	}
	type entry struct {
		ID      int64 `json:"id"`
		App     int64 `json:"app_id"`
		Account struct {
			Login string `json:"login"`
			Slug  string `json:"slug"` // of an enterprise
		} `json:"account"`
		Suspended time.Time         `json:"suspended_at"`
		Grants    map[string]string `json:"permissions"`
		Events    []string          `json:"events"`
		Slug      string            `json:"app_slug"`
	}
	var all []Installation
	err := eachPage(ctx, p.signer.signed, "app/installations?per_page=100", maxInstallationPages, func(page []entry) (bool, error) {
		for _, e := range page {
			if e.ID <= 0 || e.App != p.signer.id {
				return false, errOtherApp
			}
			all = append(all, Installation{
				ID: e.ID, Slug: e.Slug, Grants: e.Grants, Events: e.Events,
				Account: cmp.Or(e.Account.Login, e.Account.Slug), Suspended: e.Suspended,
			})
			p.NoteSlug(e.Slug)
		}
		return true, nil
	})
	if err != nil {
		return nil, markAppUnknown(fmt.Errorf("list installations of App %d: %w", p.signer.id, err))
	}
	return all, nil
}

// maxInstallationPages allows 100,000 installations.
const maxInstallationPages = 1000

// errManyPages is in the chain of an error about a list that goes on after as many pages as are read.
var errManyPages = errors.New("more pages than are read")

// eachPage hands the pages of a list to take, until its end or until take wants no more.
func eachPage[P any](ctx context.Context, c *Client, path string, most int, take func(page P) (more bool, err error)) error {
	for range most {
		var page P
		answer, err := c.Get(ctx, path, &page)
		if err != nil {
			return err
		}
		more, err := take(page)
		if path = answer.Next; err != nil || !more || path == "" {
			return err
		}
	}
	return fmt.Errorf("%w: %d", errManyPages, most)
}

// Repositories are those that c's installation lets us see and that can change, as owner/name; nil of a token's client.
func (c *Client) Repositories(ctx context.Context) ([]string, error) {
	if c.app == nil {
		return nil, nil
	}
	type list struct {
		Repositories *[]struct {
			FullName string `json:"full_name"`
			Archived bool   `json:"archived"`
			Disabled bool   `json:"disabled"`
		} `json:"repositories"`
	}
	all := []string{}
	err := eachPage(ctx, c, "installation/repositories?per_page=100", maxInstallationPages, func(page list) (bool, error) {
		if page.Repositories == nil {
			return false, fmt.Errorf("the answer has no list: %w", ErrTransport)
		}
		for _, r := range *page.Repositories {
			if _, _, ok := untrusted.SplitFullName(r.FullName); ok && !r.Archived && !r.Disabled {
				all = append(all, r.FullName)
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list repositories of installation %d: %w", c.app.installationID(), err)
	}
	return all, nil
}

// errNoApp says that only an App can do it.
var errNoApp = errors.New("a personal token has no deliveries")

// Redeliver asks GitHub for a delivery again, by its number.
func (p *Pool) Redeliver(ctx context.Context, delivery int64) error {
	if p.signer == nil {
		return fmt.Errorf("redeliver %d: %w", delivery, errNoApp)
	}
	at := fmt.Sprintf("app/hook/deliveries/%d/attempts", delivery)
	if _, err := p.signer.signed.Send(ctx, http.MethodPost, at, nil, nil); err != nil {
		return fmt.Errorf("redeliver %d: %w", delivery, err)
	}
	return nil
}
