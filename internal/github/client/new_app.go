package client

// A GitHub App that was just made from a manifest: its key, for the code that GitHub sent the browser on with.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

// A NewApp is a GitHub App with the secrets that GitHub shows once.
type NewApp struct {
	ID            int64
	Slug          string // hostile, as all words here are: a person chose them
	Name          string
	Owner         string
	Page          string // its address on the website
	Key           []byte // PEM
	WebhookSecret string // "" if GitHub made none
}

// Format keeps the secrets out of every verb.
func (a NewApp) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "github.NewApp(%d)", a.ID) }

// manifestCode matches the codes that are exchanged: one stands in a path.
var manifestCode = lazy.Regexp(`^[A-Za-z0-9_-]{1,200}$`)

// ErrNoManifestCode says that a text cannot be the code of a manifest.
var ErrNoManifestCode = errors.New("it is no code of GitHub's")

// ExchangeManifestCode exchanges the code of a manifest for the App that was made. The code is the only credential, and
// is worth nothing afterwards: it stands in no error. GitHub answers 404 if it is more than an hour old, or was used.
func ExchangeManifestCode(ctx context.Context, o Options, code string) (NewApp, error) {
	if !manifestCode().MatchString(code) {
		return NewApp{}, ErrNoManifestCode
	}
	g, err := newHost(o, 1)
	if err != nil {
		return NewApp{}, err
	}
	c := g.newClient(secret(code), newLimits(g, &stats{})) // so that the code is in no word of it
	c.connect(g.authorizedLayers(g.wireLayer(c.token, c.stats), c.limits))
	var in newAppAnswer
	if _, err := c.Send(ctx, http.MethodPost, "app-manifests/"+code+"/conversions", nil, &in); err != nil {
		return NewApp{}, err
	}
	return in.newApp()
}

// A newAppAnswer is GitHub's answer. An enterprise as the owner has a slug, which go-github does not know.
type newAppAnswer struct {
	gogithub.AppConfig
	Owner struct {
		Login string `json:"login"`
		Slug  string `json:"slug"`
	} `json:"owner"`
}

// newApp reads the answer. No error quotes it: it holds a key.
func (in *newAppAnswer) newApp() (NewApp, error) {
	if in.GetID() <= 0 || !strings.Contains(in.GetPEM(), "PRIVATE KEY-----") {
		return NewApp{}, fmt.Errorf("make App: %w", &fault{what: "the answer describes no new App with its key"})
	}
	return NewApp{
		ID: in.GetID(), Slug: untrusted.OneLine(in.GetSlug(), 100), Name: untrusted.OneLine(in.GetName(), 100),
		Owner: untrusted.OneLine(cmp.Or(in.Owner.Login, in.Owner.Slug), 100),
		Page:  in.GetHTMLURL(), Key: []byte(in.GetPEM()), WebhookSecret: in.GetWebhookSecret(),
	}, nil
}
