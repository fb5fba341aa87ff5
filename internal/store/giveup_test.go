package store

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// Whoever stops waiting for an operation shares nothing with it any more, though it may still run. The race detector tells.
func TestGivingUpSharesNothing(t *testing.T) {
	t.Parallel()
	giveUp := func() {}
	s := openTable(t, func(step string) error {
		if step == "begin" {
			giveUp() // and let the caller go first: nothing orders what it does and what the operation writes
			for range 100 {
				runtime.Gosched()
			}
		}
		return nil
	})
	for name, do := range map[string]func(ctx context.Context, id string) error{
		"Accept": func(ctx context.Context, id string) error {
			_, err := s.Accept(ctx, AcceptedDelivery{ID: id, At: testNow}, testPoke(id))
			return err
		},
		"AddNotes": func(ctx context.Context, id string) error {
			_, err := s.AddNotes(ctx, 1, "g", 9, Note{Kind: 1, Reviewer: "r", Of: id, At: testNow})
			return err
		},
		"Claim": func(ctx context.Context, _ string) error {
			_, err := s.Claim(ctx, Claim{Now: testNow, Lease: time.Minute, Limit: 1})
			return err
		},
		"Complete": func(ctx context.Context, id string) error {
			_, err := s.Complete(ctx, Lease{Key: id}, Completion{Now: testNow, Wake: testNow})
			return err
		},
		"Prune": func(ctx context.Context, _ string) error { _, err := s.Prune(ctx, testNow, 1); return err },
		"Renew": func(ctx context.Context, id string) error {
			_, err := s.Renew(ctx, testNow, Lease{Key: id})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			gaveUp := 0
			for i := range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				giveUp = cancel
				if do(ctx, fmt.Sprint(name, i)) != nil {
					gaveUp++
				}
			}
			if gaveUp == 0 {
				t.Error("nobody gave up")
			}
		})
	}
}
