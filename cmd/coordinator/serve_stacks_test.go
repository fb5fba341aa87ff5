//go:build !action

package main

// Layers of a stack, told to the whole daemon: what an event of one does to the checks above it, without an event of those.

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestAnEventOfALayerLeadsToTheChecksAbove(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(l *underLoad, g *sandbox.GitHub) error
		kept    string // the events that are told
		second  string // the check of the layer above it
	}{
		"it is objected to": {
			func(l *underLoad, _ *sandbox.GitHub) error { l.reviewBy(7, "CHANGES_REQUESTED"); return nil },
			"pull_request_review.submitted", "in_progress",
		},
		"it is pushed on": { // nobody knows what a reviewer of the layer above found there
			func(_ *underLoad, g *sandbox.GitHub) error { return g.Push(7, "a2", sandbox.PushSpec{}) },
			"pull_request.synchronize", "action_required",
		},
		"it is closed": {
			func(_ *underLoad, g *sandbox.GitHub) error { return g.Close(7, "alice") },
			"pull_request.closed", "in_progress",
		},
	} {
		t.Run(name, func(t *testing.T) {
			withSiblings(t, func(l *underLoad, g *sandbox.GitHub) {
				g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"})
				g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1", Base: "feature-7"})
				g.OpenPull(sandbox.PullSpec{Number: 9, Head: "c1", Base: "feature-8"})
				for n := 8; n <= 9; n++ {
					if err := sandbox.Stack(g, n, n-1); err != nil {
						t.Fatal(err)
					}
				}
				l.after(time.Minute)
				top, second := &loadPull{g: g, number: 9}, &loadPull{g: g, number: 8}
				l.reviewBy(9, "APPROVED")
				l.reviewBy(8, "APPROVED")
				l.after(time.Minute)
				if a, b := l.conclusion(second), l.conclusion(top); a != "in_progress" || b != "in_progress" {
					t.Fatalf("above a layer that is not approved the checks are %s and %s", a, b)
				}
				l.reviewBy(7, "APPROVED")
				l.after(20 * time.Second)
				if a, b := l.conclusion(second), l.conclusion(top); a != "success" || b != "success" {
					t.Fatalf("with every layer approved the checks above are %s and %s", a, b)
				}
				l.after(5 * time.Minute)
				l.told(test.kept)
				if err := test.happens(l, g); err != nil {
					t.Fatal(err)
				}
				l.after(20 * time.Second)
				if a, b := l.conclusion(second), l.conclusion(top); a != test.second || b != "in_progress" {
					t.Errorf("the checks above are %s and %s", a, b)
				}
			})
		})
	}
}
