// Package storetest is what every [store.Store] must do: each sentence of the interface's comments as a test. It
// promises that a store which passes can take the place of another one under the daemon.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/store"
)

// startTime is the time at which all tests begin: a store has no clock.
var startTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const leaseTime = 30 * time.Second

// Run runs the suite. Each call of open returns a store of its own, empty, which open's test closes: Close may come
// twice.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*harness){
		"fair":        testFairness,
		"pages":       testPages,
		"nonsense":    testInvalidInput,
		"context":     testCancelledContext,
		"closed":      testClosed,
		"same ids":    testSameIDs,
		"many claim":  testConcurrentClaims,
		"many poke":   testConcurrentPokes,
		"precise":     testPrecision,
		"large":       testLargeTexts,
		"answers":     testAnswers,
		"count heard": testCountHeard,
		"signs":       testSigns,
		"first sign":  testFirstSign,
	} {
		t.Run(name, func(t *testing.T) { test(&harness{t, open(t), startTime}) })
	}
	t.Run("model", func(t *testing.T) { againstModel(t, open) })
}

// A harness is a store under test and the time there. A method that begins with must or want fails the test.
type harness struct {
	tester
	store.Store
	now time.Time
}

// A tester is a [testing.T], or rapid's.
type tester interface {
	rapid.TB
	Context() context.Context
}

func (b *harness) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// mustPoke pokes keys of tenant 1, due now.
func (b *harness) mustPoke(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: k, Tenant: 1, Kind: "pull", Group: "acme/shop", Due: b.now, Touch: "t"}))
	}
}

func (b *harness) mustClaim(limit int) []store.Work {
	b.Helper()
	work, err := b.Claim(b.Context(), store.Claim{Now: b.now, Lease: leaseTime, Limit: limit})
	b.must(err)
	return work
}

// mustClaimOne claims, and fails unless it gets one key.
func (b *harness) mustClaimOne() store.Work {
	b.Helper()
	work := b.mustClaim(10)
	if len(work) != 1 {
		b.Fatalf("claimed %v, want one", work)
	}
	return work[0]
}

func (b *harness) wantNothingDue() {
	b.Helper()
	if work := b.mustClaim(10); len(work) > 0 {
		b.Fatalf("claimed %v, want nothing", work)
	}
}

func (b *harness) mustComplete(w store.Work, o store.Completion) {
	b.Helper()
	o.Now = b.now
	ours, err := b.Complete(b.Context(), w.Lease, o)
	b.must(err)
	b.wantSame("the lease of "+w.Key+" is ours", ours, true)
}

func (b *harness) wantSame(what string, got, want any) {
	b.Helper()
	if d := cmp.Diff(want, got); d != "" {
		b.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func testLargeTexts(b *harness) {
	third := strings.Repeat("ä", store.MaxTouches/6-1) // two bytes each
	poke := func(touch string) {
		b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: touch}))
	}
	poke(third + "1")
	poke(third + "2")
	w := b.mustClaimOne()
	b.wantSame("within the bound", w.Touches, []string{third + "1", third + "2"})
	poke(third + "3")
	poke(third + "4")
	b.mustComplete(w, store.Completion{Keep: true})
	w = b.mustClaimOne()
	b.wantSame("what was kept and what came, beyond the bound", w.Touches, []string{store.Any})
	b.mustComplete(w, store.Completion{})

	poke(strings.Repeat("x", store.MaxTouches))
	w = b.mustClaimOne()
	b.wantSame("as large as the bound", len(w.Touches[0]), store.MaxTouches)
	poke(strings.Repeat("x", store.MaxTouches+1))
	b.mustComplete(w, store.Completion{})
	w = b.mustClaimOne()
	b.wantSame("larger than the bound", w.Touches, []string{store.Any})
	poke(third + "1")
	poke(third + "2")
	poke(third + "3")
	poke("small")
	b.mustComplete(w, store.Completion{})
	w = b.mustClaimOne()
	b.wantSame("many", w.Touches, []string{store.Any})
	poke(third + "1")
	poke(store.Kept + third)
	poke(third + "2")
	poke(store.Kept + "no room beside" + third + third)
	poke(store.Kept + "small")
	b.mustComplete(w, store.Completion{})
	kept := []string{store.Any, store.Kept + third, store.Kept + "small"}
	w = b.mustClaimOne()
	b.wantSame("what must be kept, among many", w.Touches, kept)
	large := bytes.Repeat([]byte{0, 1, 0xff}, 80_000)
	b.mustComplete(w, store.Completion{Sight: large, Wake: b.now})
	b.wantSame("a large sight", bytes.Equal(b.mustClaimOne().Sight, large), true)
}

func testFairness(b *harness) {
	for tenant := range int64(10) {
		for n := range 10 - tenant { // the first one has by far the most
			due := b.now.Add(-time.Duration(10-tenant) * time.Minute)
			b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprintf("%d/%d", tenant, n), Tenant: tenant, Due: due, Touch: "t"}))
		}
	}
	turns := map[int64]int{}
	for n := range 10 {
		w := b.mustClaim(1)
		if turns[w[0].Tenant]++; turns[w[0].Tenant] > 1 {
			b.Fatalf("claim %d: tenant %d comes again, and others wait", n, w[0].Tenant)
		}
	}
	served := map[int64]bool{}
	for _, limit := range []int{4, 3, 2} {
		for _, w := range b.mustClaim(limit) {
			if served[w.Tenant] {
				b.Fatalf("tenant %d got its third key before others their second", w.Tenant)
			}
			served[w.Tenant] = true
		}
	}
	b.wantSame("tenants that have two keys", len(served), 9)
	counts := map[int64]int{}
	for _, w := range b.mustClaim(8 + 7 + 6) {
		counts[w.Tenant]++
	}
	b.wantSame("more keys than tenants", counts, map[int64]int{0: 3, 1: 3, 2: 3, 3: 3, 4: 3, 5: 3, 6: 2, 7: 1})
	b.wantSame("the rest", len(b.mustClaim(1000)), 55-10-9-21)
	b.wantNothingDue()
}

func testPages(b *harness) {
	const keys = 250
	for n := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprint(n), Tenant: 1, Due: b.now}))
	}
	for _, w := range b.mustClaim(keys) {
		b.mustComplete(w, store.Completion{}) // all at the same moment
	}
	found, err := b.List(b.Context(), store.Query{})
	b.must(err)
	b.wantSame("rows without a limit", len(found), 100)
	seen := map[string]bool{}
	var before time.Time
	for range keys {
		found, err := b.List(b.Context(), store.Query{Before: before, Limit: 40})
		b.must(err)
		if len(found) == 0 {
			break
		}
		for _, r := range found {
			if seen[r.Key] {
				b.Fatalf("%s is on two pages", r.Key)
			}
			seen[r.Key] = true
		}
		before = found[len(found)-1].Seen
	}
	b.wantSame("rows on all pages", len(seen), keys)
}

func testInvalidInput(b *harness) {
	if _, err := b.Accept(b.Context(), store.AcceptedDelivery{At: b.now}); err == nil {
		b.Error("a delivery without an ID was accepted: all of them would be one")
	}
	if err := b.Poke(b.Context(), store.Poke{Tenant: 1, Due: b.now}); err == nil {
		b.Error("a poke without a key was taken")
	}
	if err := b.Poke(b.Context(), store.Poke{Key: "good", Tenant: 1, Due: b.now}, store.Poke{Key: "a", Tenant: 1}); err == nil {
		b.Error("a poke without a time was taken")
	}
	if _, err := b.Claim(b.Context(), store.Claim{Now: b.now, Limit: 1}); err == nil {
		b.Error("a lease without a length was given")
	}
	if fresh, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: "d", At: b.now}, store.Poke{Key: "a", Tenant: 1}); err == nil ||
		fresh {
		b.Error("a delivery was accepted whose poke was not")
	}
	known, err := b.Known(b.Context(), []string{"", "d"})
	b.must(err)
	b.wantSame("known", len(known), 0)
	if _, err := b.Get(b.Context(), "good"); !errors.Is(err, store.ErrNoRow) {
		b.Fatalf("of what was poked beside nonsense: %v, want ErrNoRow", err)
	}
	b.mustPoke("' OR 1=1 --", "100%", "a\nb", "日本/語#1")
	b.wantSame("odd keys", len(b.mustClaim(9)), 4)
}

func testCancelledContext(b *harness) {
	over, cancel := context.WithCancel(b.Context())
	cancel()
	for name, call := range map[string]func() error{
		"accept": func() error { _, err := b.Accept(over, store.AcceptedDelivery{ID: "d", At: b.now}); return err },
		"poke":   func() error { return b.Poke(over, store.Poke{Key: "a", Tenant: 1, Due: b.now}) },
		"claim": func() error {
			_, err := b.Claim(over, store.Claim{Now: b.now, Lease: leaseTime, Limit: 1})
			return err
		},
		"complete": func() error {
			_, err := b.Complete(over, store.Lease{Key: "a"}, store.Completion{Now: b.now})
			return err
		},
		"renew":  func() error { _, err := b.Renew(over, b.now, store.Lease{Key: "a"}); return err },
		"next":   func() error { _, err := b.Next(over, false, nil); return err },
		"drop":   func() error { return b.Drop(over, 1) },
		"known":  func() error { _, err := b.Known(over, []string{"d"}); return err },
		"prune":  func() error { _, err := b.Prune(over, b.now, 1); return err },
		"get":    func() error { _, err := b.Get(over, "a"); return err },
		"list":   func() error { _, err := b.List(over, store.Query{}); return err },
		"health": func() error { _, err := b.Health(over, b.now); return err },
		"count":  func() error { _, err := b.CountHeard(over, b.now); return err },
		"notes":  func() error { _, err := b.Notes(over, "g", true); return err },
		"add notes": func() error {
			_, err := b.AddNotes(over, 1, "g", 3, store.Note{Reviewer: "sage", Of: "1", At: b.now})
			return err
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			b.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

func testClosed(b *harness) {
	b.mustPoke("a")
	b.must(b.Close())
	b.must(b.Close())
	if err := b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now}); !errors.Is(err, store.ErrClosed) {
		b.Errorf("poke: %v, want ErrClosed", err)
	}
}

func testSameIDs(b *harness) {
	const ids, each = 50, 8
	var mu sync.Mutex
	fresh := map[string]int{}
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() {
			for n := range ids {
				id := fmt.Sprint(n)
				ok, err := b.Accept(
					b.Context(),
					store.AcceptedDelivery{ID: id, At: b.now},
					store.Poke{Key: id, Tenant: 1, Due: b.now, Touch: "t"},
				)
				if err != nil {
					b.Error(err)
				}
				if ok {
					mu.Lock()
					fresh[id]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for id, n := range fresh {
		if n != 1 {
			b.Errorf("delivery %s was fresh %d times", id, n)
		}
	}
	b.wantSame("deliveries that were fresh", len(fresh), ids)
}

func testConcurrentClaims(b *harness) {
	const keys, workers = 200, 8
	for n := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprint(n), Tenant: int64(n % 7), Due: b.now, Touch: "t"}))
	}
	var mu sync.Mutex
	leased := map[string]int{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				work, err := b.Claim(b.Context(), store.Claim{Now: b.now, Lease: leaseTime, Limit: 3})
				if err != nil {
					b.Error(err)
				}
				if len(work) == 0 {
					return
				}
				mu.Lock()
				for _, w := range work {
					leased[w.Key]++
				}
				mu.Unlock()
				for _, w := range work {
					if ours, err := b.Complete(b.Context(), w.Lease, store.Completion{Now: b.now}); err != nil || !ours {
						b.Errorf("complete %s: %v, %v", w.Key, ours, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for k, n := range leased {
		if n != 1 {
			b.Errorf("%s was leased %d times", k, n)
		}
	}
	b.wantSame("keys that were leased", len(leased), keys)
}

// testConcurrentPokes: no poke is lost, whenever it comes.
func testConcurrentPokes(b *harness) {
	const pokes = 200
	looked := map[string]bool{}
	poking := make(chan struct{})
	go func() {
		defer close(poking)
		for n := range pokes {
			if err := b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: fmt.Sprint(n)}); err != nil {
				b.Error(err)
			}
		}
	}()
	for over := false; ; {
		work := b.mustClaim(1)
		if len(work) == 0 {
			if over {
				break
			}
			select {
			case <-poking:
				over = true
			default:
			}
			continue
		}
		for _, t := range work[0].Touches {
			looked[t] = true
		}
		b.mustComplete(work[0], store.Completion{})
	}
	if len(looked) != pokes && !looked[store.Any] {
		b.Fatalf("%d of %d touches were handed out", len(looked), pokes)
	}
}

// testPrecision: stored times are less precise than the caller's, and still nothing is early.
func testPrecision(b *harness) {
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: startTime.Add(1001)}))
	b.now = startTime.Add(1000)
	b.wantNothingDue()
	at, err := b.Next(b.Context(), false, nil)
	b.must(err)
	if at.Before(startTime.Add(1001)) || at.After(startTime.Add(2001)) {
		b.Fatalf("next is %v", at)
	}
	b.now = at
	w := b.mustClaimOne()
	wake := b.now.Add(time.Hour + 1)
	b.mustComplete(w, store.Completion{Wake: wake})
	r, err := b.Get(b.Context(), "a")
	b.must(err)
	if r.Due.Before(wake) || r.Wake.Before(wake) {
		b.Fatalf("due at %v and woken at %v, want %v", r.Due, r.Wake, wake)
	}
}
