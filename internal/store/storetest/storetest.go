// Package storetest is what every [store.Store] must do: each sentence of the interface's comments as a test. It
// promises that a store which passes can take the place of another one under the daemon.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/store"
)

// startTime is the time at which all tests begin: a store has no clock.
var startTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const leaseTime = 30 * time.Second

// Run runs the suite. Each call of open returns a store of its own, empty, which open's test closes: Close may come
// twice.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*harness){
		"accept":      testAccept,
		"rows":        testRow,
		"due":         testDue,
		"fencing":     testFencing,
		"expiry":      testLeaseExpiry,
		"poked":       testPokedWhileLeased,
		"renew":       testRenew,
		"failures":    testFailures,
		"touches":     testTouches,
		"gone":        testGone,
		"drop":        testDrop,
		"fair":        testFairness,
		"longest":     testLongestDueFirst,
		"backlog":     testBacklog,
		"except":      testExcept,
		"next":        testNext,
		"list":        testList,
		"pages":       testPages,
		"health":      testHealth,
		"prune":       testPrune,
		"nonsense":    testInvalidInput,
		"context":     testCancelledContext,
		"closed":      testClosed,
		"same ids":    testSameIDs,
		"many claim":  testConcurrentClaims,
		"many poke":   testConcurrentPokes,
		"precise":     testPrecision,
		"sight":       testSights,
		"unseen":      testOpenWithoutSight,
		"large touch": testLargeTouches,
		"heard":       testHeard,
		"count heard": testCountHeard,
		"signs":       testSigns,
		"first sign":  testFirstSign,
	} {
		t.Run(name, func(t *testing.T) { test(&harness{T: t, Store: open(t), now: startTime}) })
	}
	t.Run("model", func(t *testing.T) { againstModel(t, open) })
}

// A harness is a store under test and the time there. A method that begins with must or want fails the test.
type harness struct {
	*testing.T
	store.Store
	now time.Time
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
	return b.mustClaimAs(store.Claim{Limit: limit})
}

func (b *harness) mustClaimAs(c store.Claim) []store.Work {
	b.Helper()
	c.Now, c.Lease = b.now, leaseTime
	work, err := b.Claim(b.Context(), c)
	b.must(err)
	return work
}

// mustClaimOnly claims, and fails unless it gets exactly this key.
func (b *harness) mustClaimOnly(key string) store.Work {
	b.Helper()
	work := b.mustClaim(10)
	if len(work) != 1 || work[0].Key != key {
		b.Fatalf("claimed %v, want %s alone", work, key)
	}
	return work[0]
}

func (b *harness) wantNothingDue() {
	b.Helper()
	if work := b.mustClaim(10); len(work) > 0 {
		b.Fatalf("claimed %v, want nothing", work)
	}
}

func (b *harness) tryComplete(l store.Lease, o store.Completion) bool {
	b.Helper()
	if o.Now.IsZero() {
		o.Now = b.now
	}
	ours, err := b.Complete(b.Context(), l, o)
	b.must(err)
	return ours
}

func (b *harness) mustComplete(w store.Work, o store.Completion) {
	b.Helper()
	if !b.tryComplete(w.Lease, o) {
		b.Fatalf("the lease of %s was lost", w.Key)
	}
}

func (b *harness) mustGet(key string) store.Row {
	b.Helper()
	r, err := b.Get(b.Context(), key)
	b.must(err)
	return r
}

func (b *harness) wantNoRow(key string) {
	b.Helper()
	if _, err := b.Get(b.Context(), key); !errors.Is(err, store.ErrNoRow) {
		b.Fatalf("get %s: %v, want ErrNoRow", key, err)
	}
}

func (b *harness) mustFindNext(except ...int64) time.Time {
	b.Helper()
	at, err := b.Next(b.Context(), except)
	b.must(err)
	return at
}

func (b *harness) mustListKeys(q store.Query) []string {
	b.Helper()
	found, err := b.List(b.Context(), q)
	b.must(err)
	return rowKeys(found)
}

func (b *harness) wantSame(what string, got, want any) {
	b.Helper()
	if d := cmp.Diff(want, got); d != "" {
		b.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func rowKeys(found []store.Row) []string {
	keys := []string{}
	for _, r := range found {
		keys = append(keys, r.Key)
	}
	return keys
}

func workKeys(work []store.Work) []string {
	keys := []string{}
	for _, w := range work {
		keys = append(keys, w.Key)
	}
	return keys
}

func testAccept(b *harness) {
	d := store.AcceptedDelivery{ID: "d1", Event: "push", At: b.now}
	fresh, err := b.Accept(
		b.Context(),
		d,
		store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: "t"},
		store.Poke{Key: "b", Tenant: 1, Due: b.now.Add(1), Touch: "t"},
	)
	b.must(err)
	b.wantSame("a new delivery", fresh, true)
	fresh, err = b.Accept(b.Context(), d, store.Poke{Key: "c", Tenant: 1, Due: b.now, Touch: "t"})
	b.must(err)
	b.wantSame("a known delivery", fresh, false)
	b.wantNoRow("c")
	fresh, err = b.Accept(b.Context(), store.AcceptedDelivery{ID: "d2", At: b.now})
	b.must(err)
	b.wantSame("a delivery without pokes", fresh, true)
	known, err := b.Known(b.Context(), []string{"d1", "d2", "d3"})
	b.must(err)
	b.wantSame("known", known, map[string]bool{"d1": true, "d2": true})
	known, err = b.Known(b.Context(), nil)
	b.must(err)
	b.wantSame("known of none", len(known), 0)
	b.now = b.now.Add(time.Second)
	b.wantSame("claimed", workKeys(b.mustClaim(10)), []string{"a", "b"})
}

func testRow(b *harness) {
	b.wantNoRow("a")
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 7, Kind: "pull", Group: "acme/shop", Due: b.now}))
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 8, Kind: "other", Group: "other", Due: b.now}))
	b.wantSame("poked", b.mustGet("a"), store.Row{Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: b.now})
	w := b.mustClaimOnly("a")
	b.wantSame(
		"leased",
		b.mustGet("a"),
		store.Row{Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: b.now.Add(leaseTime), Leased: true},
	)
	b.wantSame("work", w, store.Work{Lease: w.Lease, Tenant: 7, Kind: "pull", Due: b.now, Touches: []string{store.Any}})
	later := b.now.Add(time.Hour)
	b.mustComplete(w, store.Completion{Wake: later, Sight: []byte("s"), Open: true})
	b.wantSame("completed", b.mustGet("a"), store.Row{
		Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: later, Wake: later, Open: true, Seen: b.now, Sight: []byte("s"),
	})
	seen := b.now
	b.now = later
	w = b.mustClaimOnly("a")
	b.wantSame(
		"work again",
		w,
		store.Work{Lease: w.Lease, Tenant: 7, Kind: "pull", Due: later, Wake: later, Sight: []byte("s"), Seen: seen},
	)
}

// testDue: a key is due at the earlier of its due time and the poke's, and after a look when its worker says.
func testDue(b *harness) {
	at := func(d time.Duration) store.Poke {
		return store.Poke{Key: "a", Tenant: 1, Due: startTime.Add(d), Touch: "t"}
	}
	b.must(b.Poke(b.Context(), at(5*time.Second)))
	b.must(b.Poke(b.Context(), at(9*time.Second)))
	b.wantSame("due after a later poke", b.mustGet("a").Due, startTime.Add(5*time.Second))
	b.must(b.Poke(b.Context(), at(3*time.Second)))
	b.wantSame("due after an earlier poke", b.mustGet("a").Due, startTime.Add(3*time.Second))
	b.now = startTime.Add(3*time.Second - 1)
	b.wantNothingDue()
	b.now = startTime.Add(3 * time.Second)
	w := b.mustClaimOnly("a")
	b.wantNothingDue()
	b.mustComplete(w, store.Completion{})
	b.wantSame("due by itself", b.mustGet("a").Due, time.Time{})
	b.now = b.now.Add(1e6 * time.Hour)
	b.wantNothingDue()
	b.mustPoke("a")
	w = b.mustClaimOnly("a")
	b.mustComplete(w, store.Completion{Wake: b.now.Add(-time.Hour)}) // a past one means now
	b.mustClaimOnly("a")
}

func testFencing(b *harness) {
	b.mustPoke("a")
	w := b.mustClaimOnly("a")
	for _, wrong := range []store.Lease{
		{Key: "a", Token: w.Token + 1}, {Key: "a", Token: w.Token - 1}, {Key: "a"}, {Key: "b", Token: w.Token},
	} {
		b.wantSame(fmt.Sprint("complete with ", wrong), b.tryComplete(wrong, store.Completion{Sight: []byte("wrong"), Gone: true}), false)
	}
	b.wantSame("after wrong tokens", b.mustGet("a").Leased, true)
	b.mustComplete(w, store.Completion{Sight: []byte("right")})
	b.wantSame("complete twice", b.tryComplete(w.Lease, store.Completion{Sight: []byte("twice")}), false)
	b.wantSame("sight", string(b.mustGet("a").Sight), "right")
	b.mustPoke("a")
	b.mustClaimOnly("a")
	b.wantSame("complete with an old token", b.tryComplete(w.Lease, store.Completion{}), false)
}

func testLeaseExpiry(b *harness) {
	b.mustPoke("a")
	lost := b.mustClaimOnly("a")
	b.now = b.now.Add(leaseTime - time.Microsecond)
	b.wantNothingDue()
	b.now = b.now.Add(time.Microsecond)
	b.mustPoke("a")
	w := b.mustClaimOnly("a")
	b.wantSame("due since", w.Due, b.now)
	b.wantSame("touches", w.Touches, []string{"t"})
	b.wantSame("complete by the lost worker", b.tryComplete(lost.Lease, store.Completion{Gone: true}), false)
	b.mustComplete(w, store.Completion{})

	b.mustPoke("a")
	slow := b.mustClaimOnly("a")
	b.now = b.now.Add(2 * leaseTime)
	b.mustComplete(slow, store.Completion{}) // it was not claimed by another meanwhile
	b.wantNothingDue()
}

func testPokedWhileLeased(b *harness) {
	b.mustPoke("a")
	w := b.mustClaimOnly("a")
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now.Add(time.Hour), Touch: "new"}))
	b.wantNothingDue()
	b.wantSame("due while leased", b.mustGet("a").Due, b.now.Add(leaseTime))
	b.now = b.now.Add(time.Second)
	b.mustComplete(w, store.Completion{Wake: b.now.Add(time.Hour)})
	w = b.mustClaimOnly("a")
	b.wantSame("due since", w.Due, b.now)
	b.wantSame("wake", w.Wake, b.now.Add(time.Hour))
	b.wantSame("touches", w.Touches, []string{"new"})
	b.mustComplete(w, store.Completion{})
	b.wantNothingDue()
}

func testRenew(b *harness) {
	b.mustPoke("a", "b")
	work := b.mustClaim(2)
	until := b.now.Add(10 * leaseTime)
	wrong := store.Lease{Key: "a", Token: work[0].Token + 100}
	lost, err := b.Renew(b.Context(), until, work[0].Lease, wrong, work[1].Lease)
	b.must(err)
	b.wantSame("lost", lost, []store.Lease{wrong})
	b.wantSame("next", b.mustFindNext(), until)
	b.now = until.Add(-time.Microsecond)
	b.wantNothingDue()
	b.mustComplete(work[0], store.Completion{})
	lost, err = b.Renew(b.Context(), until, work[0].Lease)
	b.must(err)
	b.wantSame("lost once completed", lost, []store.Lease{work[0].Lease})
	b.now = until
	b.mustClaimOnly("b")
	lost, err = b.Renew(b.Context(), until.Add(leaseTime), work[1].Lease)
	b.must(err)
	b.wantSame("lost once claimed anew", lost, []store.Lease{work[1].Lease})
	lost, err = b.Renew(b.Context(), until)
	b.must(err)
	b.wantSame("lost of none", len(lost), 0)
}

func testFailures(b *harness) {
	b.mustPoke("a")
	for n := 1; n <= 3; n++ {
		w := b.mustClaimOnly("a")
		b.wantSame("attempts", w.Attempts, n-1)
		b.wantSame("touches", w.Touches, []string{"t"})
		b.now = b.now.Add(time.Second)
		b.mustComplete(w, store.Completion{Failed: fmt.Sprint("why ", n), Wake: b.now.Add(time.Second)})
		b.wantSame("row's attempts", b.mustGet("a").Attempts, n)
		b.wantSame("row's failure", b.mustGet("a").Failed, fmt.Sprint("why ", n))
		b.wantSame("what an earlier look brought", b.mustGet("a").Wake, time.Time{})
		b.wantNothingDue()
		b.now = b.now.Add(time.Second)
	}
	w := b.mustClaimOnly("a")
	b.mustComplete(w, store.Completion{Keep: true, Wake: b.now})
	b.wantSame("attempts when nothing was looked at", b.mustGet("a").Attempts, 3)
	b.wantSame("failure when nothing was looked at", b.mustGet("a").Failed, "why 3")
	w = b.mustClaimOnly("a")
	b.wantSame("kept touches", w.Touches, []string{"t"})
	b.mustComplete(w, store.Completion{Wake: b.now})
	b.wantSame("attempts after a success", b.mustGet("a").Attempts, 0)
	b.wantSame("failure after a success", b.mustGet("a").Failed, "")
	b.wantSame("touches after a success", len(b.mustClaimOnly("a").Touches), 0)
}

func testTouches(b *harness) {
	for name, c := range map[string]struct {
		first    []string // before the claim
		outcome  store.Completion
		lose     bool // the first worker is lost
		while    []string
		expected []string
	}{
		"each once, oldest first": {first: []string{"x"}, while: []string{"b", "a", "b"}, expected: []string{"b", "a"}},
		"a failure keeps them": {
			first: []string{"x", "y"}, outcome: store.Completion{Failed: "no"}, while: []string{"z", "x"},
			expected: []string{"x", "y", "z"},
		},
		"keep keeps them": {
			first: []string{"x", "y"}, outcome: store.Completion{Keep: true}, while: []string{"z", "x"},
			expected: []string{"x", "y", "z"},
		},
		"a lost worker keeps them": {first: []string{"x", "y"}, lose: true, while: []string{"z", "x"}, expected: []string{"x", "y", "z"}},
		"the same one again":       {first: []string{"x"}, while: []string{"x"}, expected: []string{"x"}},
		"none: look":               {first: []string{"x"}, while: []string{"a", ""}, expected: []string{store.Any}},
		"any swallows":             {first: []string{"x"}, while: []string{store.Any, "a"}, expected: []string{store.Any}},
		"any of a failure swallows": {
			first: []string{""}, outcome: store.Completion{Failed: "no"}, while: []string{"a"},
			expected: []string{store.Any},
		},
		"any after a failure": {
			first: []string{"a"}, outcome: store.Completion{Failed: "no"}, while: []string{""},
			expected: []string{store.Any},
		},
		"any leaves what must be kept": {
			first: []string{store.Kept + "x", "y"}, outcome: store.Completion{Failed: "no"},
			while:    []string{store.Kept + "b", "", store.Kept + "a", "z"},
			expected: []string{store.Any, store.Kept + "x", store.Kept + "b", store.Kept + "a"},
		},
		"what must be kept comes to any": {
			first: []string{""}, outcome: store.Completion{Keep: true},
			while:    []string{store.Kept + "a", "z", store.Kept + "a"},
			expected: []string{store.Any, store.Kept + "a"},
		},
		"two lines are no touch":     {first: []string{"x"}, while: []string{"a\nb"}, expected: []string{store.Any}},
		"no text is no touch":        {first: []string{"x"}, while: []string{"a\xff"}, expected: []string{store.Any}},
		"nor is a zero byte":         {first: []string{"x"}, while: []string{"a\x00b"}, expected: []string{store.Any}},
		"one that begins another":    {first: []string{"x"}, while: []string{"abc", "ab", "bc"}, expected: []string{"abc", "ab", "bc"}},
		"case counts, and so does %": {first: []string{"x"}, while: []string{"A%", "a%", "A_"}, expected: []string{"A%", "a%", "A_"}},
	} {
		key := name
		poke := func(ts []string) {
			for _, t := range ts {
				b.must(b.Poke(b.Context(), store.Poke{Key: key, Tenant: 1, Due: b.now, Touch: t}))
			}
		}
		poke(c.first)
		w := b.mustClaimOnly(key)
		poke(c.while)
		if c.lose {
			b.now = b.now.Add(leaseTime)
		} else {
			b.mustComplete(w, c.outcome)
		}
		w = b.mustClaimOnly(key)
		b.wantSame(name, w.Touches, c.expected)
		b.mustComplete(w, store.Completion{Gone: true})
	}
}

func testLargeTouches(b *harness) {
	third := strings.Repeat("ä", store.MaxTouches/6-1) // two bytes each
	poke := func(touch string) {
		b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: touch}))
	}
	poke(third + "1")
	poke(third + "2")
	w := b.mustClaimOnly("a")
	b.wantSame("within the bound", w.Touches, []string{third + "1", third + "2"})
	poke(third + "3")
	poke(third + "4")
	b.mustComplete(w, store.Completion{Keep: true})
	w = b.mustClaimOnly("a")
	b.wantSame("what was kept and what came, beyond the bound", w.Touches, []string{store.Any})
	b.mustComplete(w, store.Completion{})

	poke(strings.Repeat("x", store.MaxTouches))
	w = b.mustClaimOnly("a")
	b.wantSame("as large as the bound", len(w.Touches[0]), store.MaxTouches)
	poke(strings.Repeat("x", store.MaxTouches+1))
	b.mustComplete(w, store.Completion{})
	w = b.mustClaimOnly("a")
	b.wantSame("larger than the bound", w.Touches, []string{store.Any})
	poke(third + "1")
	poke(third + "2")
	poke(third + "3")
	poke("small")
	b.mustComplete(w, store.Completion{})
	w = b.mustClaimOnly("a")
	b.wantSame("many", w.Touches, []string{store.Any})
	poke(third + "1")
	poke(store.Kept + third)
	poke(third + "2")
	poke(store.Kept + "no room beside" + third + third)
	poke(store.Kept + "small")
	b.mustComplete(w, store.Completion{})
	kept := []string{store.Any, store.Kept + third, store.Kept + "small"}
	b.wantSame("what must be kept, among many", b.mustClaimOnly("a").Touches, kept)
}

func testGone(b *harness) {
	b.mustPoke("a")
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Sight: []byte("s"), Open: true, Wake: b.now})
	w := b.mustClaimOnly("a")
	b.mustPoke("a")
	b.mustComplete(w, store.Completion{Gone: true})
	b.wantSame("poked meanwhile", b.mustGet("a").Sight, []byte("s"))
	w = b.mustClaimOnly("a")
	b.mustComplete(w, store.Completion{Gone: true})
	b.wantNoRow("a")
	b.wantNothingDue()
	b.wantSame("next", b.mustFindNext(), time.Time{})
	b.wantSame("complete what is gone", b.tryComplete(w.Lease, store.Completion{}), false)
	h, err := b.Health(b.Context(), b.now)
	b.must(err)
	b.wantSame("health", h, store.Health{})

	b.mustPoke("a")
	again := b.mustClaimOnly("a")
	b.wantSame("sight of a new key", again.Sight, []byte(nil))
	b.wantSame("token is used twice", again.Token == w.Token, false)
	b.wantSame("complete with a token of the former key", b.tryComplete(w.Lease, store.Completion{}), false)
}

func testDrop(b *harness) {
	b.mustPoke("a", "b")
	b.must(b.Poke(b.Context(), store.Poke{Key: "other", Tenant: 2, Due: b.now}))
	work := b.mustClaimAs(store.Claim{Limit: 1, Except: []int64{2}})
	b.must(b.Drop(b.Context(), 1))
	b.must(b.Drop(b.Context(), 99))
	b.wantNoRow("a")
	b.wantNoRow("b")
	b.wantSame("complete what was dropped", b.tryComplete(work[0].Lease, store.Completion{Sight: []byte("s")}), false)
	lost, err := b.Renew(b.Context(), b.now.Add(time.Hour), work[0].Lease)
	b.must(err)
	b.wantSame("renew what was dropped", lost, []store.Lease{work[0].Lease})
	b.mustClaimOnly("other")
	b.mustPoke("a", "b")
	again := b.mustClaim(10)
	b.wantSame("a tenant that came back", len(again), 2)
	b.wantSame("complete with a token from before", b.tryComplete(work[0].Lease, store.Completion{}), false)
}

func testFairness(b *harness) {
	for tenant := range int64(10) {
		for n := range 10 - tenant { // the first one has by far the most
			b.must(
				b.Poke(
					b.Context(),
					store.Poke{
						Key:    fmt.Sprintf("%d/%d", tenant, n),
						Tenant: tenant,
						Due:    b.now.Add(-time.Duration(10-tenant) * time.Minute),
						Touch:  "t",
					},
				),
			)
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

func testLongestDueFirst(b *harness) {
	for n, k := range []string{"c", "a", "d", "b"} {
		b.must(b.Poke(b.Context(), store.Poke{Key: k, Tenant: 1, Due: b.now.Add(time.Duration(-n) * time.Second), Touch: "t"}))
	}
	b.wantSame("first", workKeys(b.mustClaim(1)), []string{"b"})
	b.wantSame("rest", workKeys(b.mustClaim(9)), []string{"d", "a", "c"})
}

// What has just happened goes before the backlog, however long that waits.
func testBacklog(b *harness) {
	wait := func(key string, tenant int64) store.Poke {
		return store.Poke{Key: key, Tenant: tenant, Kind: "pull", Group: "acme/shop", Due: b.now, Backlog: true}
	}
	b.must(b.Poke(b.Context(), wait("old", 1), wait("older", 1), wait("of another", 2)))
	b.now = b.now.Add(time.Hour)
	b.mustPoke("new", "older")
	next, err := b.Next(b.Context(), nil)
	b.must(err)
	b.wantSame("next", next, b.now)
	next, err = b.NextBacklog(b.Context(), []int64{2})
	b.must(err)
	b.wantSame("next of the backlog", next, b.now.Add(-time.Hour))
	h, err := b.Health(b.Context(), b.now)
	b.must(err)
	b.wantSame("health", h, store.Health{Keys: 4, Due: 2, Tenants: 2, Backlog: map[int64]int{1: 2, 2: 1}})

	var order []string
	var works []store.Work
	for range 4 {
		for _, w := range b.mustClaim(1) {
			order, works = append(order, fmt.Sprint(w.Key, w.Backlog)), append(works, w)
		}
	}
	b.wantSame("order", order, []string{"olderfalse", "newfalse", "of anothertrue", "oldtrue"}) // a key is claimed once for both
	b.wantNothingDue()
	b.mustComplete(works[3], store.Completion{Keep: true, Wake: b.now, Backlog: true})
	b.mustComplete(works[2], store.Completion{Wake: b.now})
	b.wantSame("back in the backlog", b.mustGet("old").Backlog, true)
	b.wantSame("done", b.mustGet("of another").Backlog, false)
	b.mustClaimAs(store.Claim{Limit: 9, Backlog: store.BacklogBounds{Except: []int64{1}}})
	b.wantSame("held back", b.mustGet("old").Leased, false)
	b.mustPoke("old")
	if w := b.mustClaimOnly("old"); w.Backlog {
		b.Error("an event did not take it out of the backlog")
	}
}

func testExcept(b *harness) {
	for tenant := range int64(4) {
		for n := range 4 {
			b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprintf("%d/%d", tenant, n), Tenant: tenant, Due: b.now, Touch: "t"}))
		}
	}
	count := func(c store.Claim) map[int64]int {
		counts := map[int64]int{}
		for _, w := range b.mustClaimAs(c) {
			counts[w.Tenant]++
		}
		return counts
	}
	b.wantSame("limit 0", count(store.Claim{}), map[int64]int{})
	b.wantSame("one", count(store.Claim{Limit: 100, Except: []int64{0, 1, 3}, Most: map[int64]int{2: 1}}), map[int64]int{2: 1})
	b.wantSame("most", count(store.Claim{Limit: 100, Except: []int64{0}, Most: map[int64]int{0: 9, 1: 2, 2: 0}}), map[int64]int{1: 2, 3: 4})
	b.wantSame("next", b.mustFindNext(0, 1, 2), b.now.Add(leaseTime))
	b.wantSame("next of none", b.mustFindNext(0, 1, 2, 3), time.Time{})
	b.wantSame("each", count(store.Claim{Limit: 100, Each: 1, Most: map[int64]int{2: 2}}), map[int64]int{0: 1, 1: 1, 2: 2})
	b.wantSame("the rest", count(store.Claim{Limit: 100}), map[int64]int{0: 3, 1: 1, 2: 1})
}

func testNext(b *harness) {
	b.wantSame("of nothing", b.mustFindNext(), time.Time{})
	later := b.now.Add(time.Minute)
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: later}, store.Poke{Key: "b", Tenant: 2, Due: later.Add(time.Minute)}))
	b.wantSame("the earliest", b.mustFindNext(), later)
	b.wantSame("without that tenant", b.mustFindNext(1), later.Add(time.Minute))
	b.now = later
	w := b.mustClaimOnly("a")
	b.wantSame("the lease's end", b.mustFindNext(), b.now.Add(leaseTime))
	b.mustComplete(w, store.Completion{Wake: b.now.Add(time.Hour)})
	b.wantSame("the other one", b.mustFindNext(), later.Add(time.Minute))
	b.wantSame("the wake", b.mustFindNext(2), b.now.Add(time.Hour))
	b.must(b.Drop(b.Context(), 2))
	b.wantSame("when that is dropped", b.mustFindNext(), b.now.Add(time.Hour))
	b.mustPoke("a")
	b.wantSame("poked", b.mustFindNext(), b.now)
}

func testList(b *harness) {
	yes, no, two := true, false, int64(2)
	for n, p := range []store.Poke{
		{Key: "a", Tenant: 1, Kind: "pull", Group: "acme/shop"},
		{Key: "b", Tenant: 1, Kind: "repo", Group: "acme/shop"},
		{Key: "c", Tenant: 2, Kind: "pull", Group: "acme/till"},
		{Key: "d", Tenant: 2, Kind: "pull", Group: "acme/shop"},
	} {
		p.Due = b.now
		b.must(b.Poke(b.Context(), p))
		b.mustComplete(b.mustClaimOnly(p.Key), store.Completion{Sight: []byte("of " + p.Key), Open: n%2 == 0})
		b.now = b.now.Add(time.Second)
	}
	b.must(b.Poke(b.Context(), store.Poke{Key: "never", Tenant: 3, Kind: "pull", Group: "acme/none", Due: b.now}))
	b.wantSame("all", b.mustListKeys(store.Query{}), []string{"d", "c", "b", "a", "never"})
	b.wantSame("of a tenant", b.mustListKeys(store.Query{Tenant: &two}), []string{"d", "c"})
	b.wantSame("of a kind", b.mustListKeys(store.Query{Kind: "repo"}), []string{"b"})
	b.wantSame("of a group", b.mustListKeys(store.Query{Group: "acme/shop"}), []string{"d", "b", "a"})
	b.wantSame("open", b.mustListKeys(store.Query{Open: &yes}), []string{"c", "a"})
	b.wantSame("not open", b.mustListKeys(store.Query{Open: &no}), []string{"d", "b", "never"})
	b.wantSame("all at once", b.mustListKeys(store.Query{Tenant: &two, Kind: "pull", Group: "acme/till", Open: &yes}), []string{"c"})
	b.wantSame("before", b.mustListKeys(store.Query{Before: startTime.Add(2 * time.Second)}), []string{"b", "a"})
	b.wantSame("limit", b.mustListKeys(store.Query{Limit: 1}), []string{"d"})
	found, err := b.List(b.Context(), store.Query{Limit: 1})
	b.must(err)
	b.wantSame("a row of a list", found[0], b.mustGet("d"))
	found, err = b.List(b.Context(), store.Query{Limit: 1, Thin: true})
	b.must(err)
	thin := b.mustGet("d")
	thin.Sight = nil
	b.wantSame("a thin row", found[0], thin)
}

func testPages(b *harness) {
	const keys = 250
	for n := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprint(n), Tenant: 1, Due: b.now}))
	}
	for _, w := range b.mustClaim(keys) {
		b.mustComplete(w, store.Completion{}) // all at the same moment
	}
	b.wantSame("rows without a limit", len(b.mustListKeys(store.Query{})), 100)
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

func testHealth(b *harness) {
	health := func() store.Health {
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		return h
	}
	b.wantSame("empty", health(), store.Health{})
	_, err := b.Accept(
		b.Context(),
		store.AcceptedDelivery{ID: "d", At: b.now},
		store.Poke{
			Key:    "a",
			Tenant: 1,
			Due:    b.now,
		},
		store.Poke{Key: "b", Tenant: 1, Due: b.now.Add(time.Second)},
		store.Poke{Key: "c", Tenant: 2, Due: b.now.Add(time.Hour)},
	)
	b.must(err)
	b.now = b.now.Add(3 * time.Second)
	b.wantSame("accepted", health(), store.Health{Keys: 3, Due: 2, Oldest: 3 * time.Second, Tenants: 2, Accepted: 1})
	w := b.mustClaim(1)[0]
	b.wantSame("leased", health(), store.Health{Keys: 3, Due: 1, Leased: 1, Oldest: 2 * time.Second, Tenants: 2, Accepted: 1})
	b.mustComplete(w, store.Completion{Sight: []byte("s"), Open: true, Failed: "no", Wake: b.now.Add(time.Hour)})
	b.wantSame("failed", health(), store.Health{Keys: 3, Open: 1, Failing: 1, Due: 1, Oldest: 2 * time.Second, Tenants: 2, Accepted: 1})
	w = b.mustClaim(1)[0]
	b.now = b.now.Add(leaseTime + time.Second)
	b.wantSame(
		"a lease that ran out",
		health(),
		store.Health{Keys: 3, Open: 1, Failing: 1, Due: 1, Oldest: time.Second, Tenants: 2, Accepted: 1},
	)
	b.mustComplete(w, store.Completion{Gone: true})
	b.must(b.Drop(b.Context(), 2))
	b.now = b.now.Add(2 * time.Hour)
	w = b.mustClaimOnly("a")
	b.mustComplete(w, store.Completion{Sight: []byte("s")})
	b.wantSame("in the end", health(), store.Health{Keys: 1, Tenants: 1, Accepted: 1})
}

func testPrune(b *harness) {
	var ids []string
	for n := range 10 {
		ids = append(ids, fmt.Sprint(n))
		_, err := b.Accept(
			b.Context(),
			store.AcceptedDelivery{ID: ids[n], At: startTime.Add(time.Duration(n) * time.Second)},
			store.Poke{Key: "a", Tenant: 1, Due: b.now},
		)
		b.must(err)
	}
	for _, c := range []struct{ limit, pruned, left int }{{2, 2, 8}, {100, 3, 5}, {100, 0, 5}} {
		n, err := b.Prune(b.Context(), startTime.Add(5*time.Second), c.limit)
		b.must(err)
		b.wantSame("pruned", n, c.pruned)
		known, err := b.Known(b.Context(), ids)
		b.must(err)
		b.wantSame("known", len(known), c.left)
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		b.wantSame("accepted", h.Accepted, int64(c.left))
	}
	fresh, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: "0", At: startTime})
	b.must(err)
	b.wantSame("fresh once it is forgotten", fresh, true)
	b.mustClaimOnly("a")
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
	b.wantNoRow("good")
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
		"next":   func() error { _, err := b.Next(over, nil); return err },
		"drop":   func() error { return b.Drop(over, 1) },
		"known":  func() error { _, err := b.Known(over, []string{"d"}); return err },
		"prune":  func() error { _, err := b.Prune(over, b.now, 1); return err },
		"get":    func() error { _, err := b.Get(over, "a"); return err },
		"list":   func() error { _, err := b.List(over, store.Query{}); return err },
		"health": func() error { _, err := b.Health(over, b.now); return err },
		"hear":   func() error { return b.Hear(over, 1, "g", 3, store.Heard{Reviewer: "sage", Text: "1", At: b.now}) },
		"heard":  func() error { _, err := b.Heard(over, "g"); return err },
		"count":  func() error { _, err := b.CountHeard(over, b.now); return err },
		"add signs": func() error {
			_, err := b.AddSigns(over, 1, "g", 3, store.ServiceSign{Reviewer: "sage", Kind: 1, Of: "1", At: b.now})
			return err
		},
		"signs": func() error { _, err := b.Signs(over, "g"); return err },
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
	at := b.mustFindNext()
	if at.Before(startTime.Add(1001)) || at.After(startTime.Add(2001)) {
		b.Fatalf("next is %v", at)
	}
	b.now = at
	w := b.mustClaimOnly("a")
	wake := b.now.Add(time.Hour + 1)
	b.mustComplete(w, store.Completion{Wake: wake})
	if at := b.mustFindNext(); at.Before(wake) || b.mustGet("a").Wake.Before(wake) {
		b.Fatalf("woken at %v, want %v", at, wake)
	}
}

func testSights(b *harness) {
	b.mustPoke("a")
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Sight: []byte{0, 1, 0xff}, Open: true, Wake: b.now})
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Wake: b.now})
	b.wantSame("nil: as before", b.mustGet("a").Sight, []byte{0, 1, 0xff})
	b.wantSame("nil: open as before", b.mustGet("a").Open, true)
	large := slices.Repeat([]byte("sight"), 50_000)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Sight: large, Wake: b.now})
	b.wantSame("large", b.mustClaimOnly("a").Sight, large)
	b.wantSame("decided", b.mustGet("a").Open, false)
}

// testOpenWithoutSight: a key that was never seen may be undecided all the same, until it is seen or gone.
func testOpenWithoutSight(b *harness) {
	open := func() int {
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		yes := true
		b.wantSame("listed as open", len(b.mustListKeys(store.Query{Open: &yes})), h.Open)
		return h.Open
	}
	b.mustPoke("a")
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Failed: "why", Open: true, Wake: b.now})
	b.wantSame("after a failure", b.mustGet("a").Open, true)
	b.wantSame("how many after a failure", open(), 1)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Keep: true, Wake: b.now})
	b.wantSame("how many after nothing was looked at", open(), 1)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Sight: []byte("s"), Wake: b.now})
	b.wantSame("how many when it is decided", open(), 0)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Failed: "why", Wake: b.now})
	b.wantSame("how many after a failure of what was decided", open(), 0)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Keep: true, Open: true, Wake: b.now})
	b.wantSame("how many", open(), 1)
	b.mustComplete(b.mustClaimOnly("a"), store.Completion{Gone: true})
	b.wantSame("how many when it is gone", open(), 0)
}
