package github_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// appKey is the private key of an App.
func appKey(t testing.TB) []byte {
	t.Helper()
	key := do[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// newFleet is a fleet of App 4711 on a hub.
func newFleet(t testing.TB, hub *sandbox.Hub, change ...func(*github.FleetOptions)) *github.Fleet {
	t.Helper()
	var o github.FleetOptions
	o.App, o.Transport, o.Slug = &client.App{ID: 4711, Key: appKey(t)}, hub, "quorum-app"
	for _, f := range change {
		f(&o)
	}
	return do[*github.Fleet](t)(github.NewFleet(o))
}

func newHub() *sandbox.Hub {
	return sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}})
}

// What is known of an organisation's policy outlives a forge, and comes before the App's name is known: where the policy
// is hidden,
// the pull requests of a forge that begins must not do without.
func TestAFleetRemembersOrganisations(t *testing.T) {
	for name, change := range map[string]func(*github.FleetOptions){
		"before it has signed in": func(o *github.FleetOptions) { o.Slug = "" },
		"signed in":               func(*github.FleetOptions) {},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub()
			g := sandbox.New(sandbox.Options{App: hub.App()})
			g.SetFile(".github/review-coordinator.yml", "", "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n")
			g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice", Files: []sandbox.ChangedFile{{Path: "cart.go"}}})
			hub.Add(77, g)
			f := newFleet(t, hub, change)
			owner, repo := g.Repository()
			stateNow := func() quorum.FileState {
				forge := do[*github.ServerForge](t)(f.ForgeOf(77))
				_, s, err := forge.Observe(t.Context(), quorum.PR{Owner: owner, Repo: repo, Number: 7})
				if err != nil {
					t.Fatal(err)
				}
				return s.File.State
			}
			f.RememberOrganisation(77, strings.ToUpper(owner), quorum.OrganisationFile{Repo: owner + "/.github", SHA: "b10b"})
			if got := stateNow(); got != quorum.FileBroken {
				t.Errorf("the first look finds state %d", got)
			}
			f.Leave(77)
			if got := stateNow(); got != quorum.FileBroken {
				t.Errorf("that of a new forge finds state %d", got)
			}
			f.RememberOrganisation(77, owner, quorum.OrganisationFile{})
			f.Leave(77)
			if got := stateNow(); got != quorum.FileValid {
				t.Errorf("once it is known to be gone, a new forge finds state %d", got)
			}
			f.RememberOrganisation(77, owner, quorum.OrganisationFile{Repo: "other/policies", SHA: "b10b"})
			f.Leave(77)
			if got := stateNow(); got != quorum.FileValid {
				t.Errorf("what another repository said makes it state %d", got)
			}
		})
	}
}

// An installation has one forge as long as it is used.
func TestEnterIsOneForge(t *testing.T) {
	f := newFleet(t, newHub(), func(o *github.FleetOptions) { o.Most = 2 })
	enter := func(id int64) *github.Forge { return do[*github.Forge](t)(f.Enter(id)) }
	one := enter(1)
	if enter(1) != one || enter(2) == one {
		t.Error("one forge of two installations, or two of one")
	}
	enter(3) // 1 has to go
	anew := enter(1)
	if anew == one {
		t.Error("the forge of an installation that was dropped came back")
	}
	f.Leave(1)
	if enter(1) == anew {
		t.Error("something is left of an installation")
	}
	for _, id := range []int64{0, -1} {
		if _, err := f.Enter(id); err == nil {
			t.Errorf("entered %d", id)
		}
	}
}

func TestFleetOfAToken(t *testing.T) {
	w := newWorld(t, asCarol)
	var o github.FleetOptions
	o.Token, o.Transport = "ghp_x", w.g
	f := do[*github.Fleet](t)(github.NewFleet(o))
	forge := do[*github.Forge](t)(f.Enter(0))
	if again := do[*github.Forge](t)(f.Enter(0)); forge != again || f.KnownSlug() != quorum.ActionsApp {
		t.Errorf("a second forge, or the name %s", f.KnownSlug())
	}
	if _, err := f.Enter(7); err == nil {
		t.Error("entered an installation")
	}
	if repos, err := do[*github.ServerForge](t)(f.ForgeOf(0)).Repositories(t.Context()); repos != nil || err != nil {
		t.Errorf("%q, %v", repos, err)
	}
	if n := w.asked(); n.all != 0 {
		t.Errorf("asked %+v", n)
	}
	if login := do[string](t)(f.Login(t.Context())); login != "carol" {
		t.Errorf("the token is %q's", login)
	}
	if _, err := github.NewFleet(github.FleetOptions{}); err == nil {
		t.Error("a fleet of nobody")
	}
}

func TestFleetKeepsItsSecrets(t *testing.T) {
	var o github.FleetOptions
	o.App, o.Token, o.Slug = &client.App{ID: 4711, Key: appKey(t)}, "ghs_canary0123456789", "quorum-app"
	f := do[*github.Fleet](t)(github.NewFleet(o))
	var shown bytes.Buffer
	fmt.Fprintf(&shown, "%v %+v %#v %v %+v %#v", o, o, o, f, f, f)
	for _, secret := range []string{"canary", "PRIVATE", strings.Split(string(o.App.Key), "\n")[1]} {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%s is shown:\n%s", secret[:3], shown.String())
		}
	}
}
