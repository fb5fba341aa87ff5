package github_test

import (
	"slices"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// What a look read that kept nothing, or came to nothing, is no news to GitHub any more; the own look knows it all the same.
func TestChangeThatAnotherLookReadIsSeen(t *testing.T) {
	pr := quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	for name, other := range map[string]func(t *testing.T, w *world){
		"a look at a sibling or a group": func(t *testing.T, w *world) {
			if _, _, err := w.forge.ObserveSibling(t.Context(), pr); err != nil {
				t.Fatal(err)
			}
		},
		"a look that failed": func(t *testing.T, w *world) {
			w.g.AddFault(sandbox.Fault{Match: "POST /graphql", Kind: sandbox.FaultUnsent})
			if _, _, err := w.forge.Observe(t.Context(), pr); err == nil {
				t.Fatal("no look failed")
			}
			w.g.ClearFaults()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				for range 3 {
					if _, _, err := w.forge.Observe(t.Context(), pr); err != nil {
						t.Fatal(err)
					}
				}
				w.must(w.g.Retarget(7, "stable", "alice"))
				other(t, w)
				_, s, err := w.forge.Observe(t.Context(), pr)
				isChange := func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged && e.To == "stable" }
				if err != nil || s.PR.BaseRef != "stable" || !slices.ContainsFunc(s.Timeline, isChange) {
					t.Errorf("against %s, and the timeline is %v; %v", s.PR.BaseRef, s.Timeline, err)
				}
			})
		})
	}
}
