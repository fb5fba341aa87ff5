package github_test

// Our own App gets another name, in the middle of its work.

import (
	"fmt"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A new name changes an App's slug everywhere at once, on old checks too, and never its id: in ten hours no head gets a
// second check.
func TestARenamedAppWritesOneCheckAHead(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, hub *sandbox.Hub) loop.Forge{
		"daemon": func(t *testing.T, hub *sandbox.Hub) loop.Forge {
			return do[*github.ServerForge](t)(newFleet(t, hub).ForgeOf(77))
		},
		"job with the App's key": func(t *testing.T, hub *sandbox.Hub) loop.Forge {
			api := do[*client.Client](t)(client.New(client.Options{Transport: hub, App: &client.App{ID: 4711, Key: appKey(t)}}))
			in := do[client.Installation](t)(api.Install(t.Context(), "acme", "shop"))
			return github.NewForge(api, in.Slug, "", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				hub := newHub()
				g := sandbox.New(sandbox.Options{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Now: time.Now})
				g.SetFile(".github/review-coordinator.yml", "", oneSage)
				g.OpenPull(sandbox.PullSpec{Number: 7})
				hub.Add(77, g)
				slug := "quorum-app"
				r := &loop.Reconciler{Forge: forge(t, hub), Now: time.Now}
				heads := []string{"a1"}
				for i := range 60 {
					switch {
					case i%12 == 11:
						heads = append(heads, fmt.Sprint("a", len(heads)+1))
						if err := g.Push(7, heads[len(heads)-1], sandbox.PushSpec{}); err != nil {
							t.Fatal(err)
						}
					case i%20 == 5:
						next := fmt.Sprint("quorum-", i)
						sandbox.RenameApp(g, slug, next)
						slug = next
					case i%6 == 3:
						do[int64](t)(g.Comment(7, "sage[bot]", plainYes+"\nReviewed commit: "+g.Head(7)+"\n"))
					}
					if _, err := r.Reconcile(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 7}); err != nil {
						t.Fatal(err)
					}
					pass(10 * time.Minute)
				}
				for _, head := range heads {
					if n := len(g.OwnCheckRuns(sandbox.SHA(head))); n != 1 {
						t.Errorf("%s has %d checks", head, n)
					}
				}
			})
		})
	}
}
