// Package storetest is what every [store.Store] must do: each sentence of the interface's comments as a test. It promises
// that a store which passes can take the place of another one under the daemon.
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

// start is when all tests begin: a store has no clock.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const lease = 30 * time.Second

// Run runs the suite. Each call of open returns a store of its own, empty, which open's test closes: Close may come twice.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*bench){
		"accept":      accepts,
		"rows":        rows,
		"due":         dues,
		"fencing":     fencing,
		"expiry":      expiry,
		"poked":       pokedWhileLeased,
		"renew":       renews,
		"failures":    failures,
		"touches":     touches,
		"gone":        gone,
		"drop":        drops,
		"fair":        fair,
		"longest":     longest,
		"except":      excepts,
		"next":        nexts,
		"list":        lists,
		"pages":       pages,
		"health":      healths,
		"prune":       prunes,
		"nonsense":    nonsense,
		"context":     contexts,
		"closed":      closed,
		"same ids":    sameIDs,
		"many claim":  manyClaim,
		"many poke":   manyPoke,
		"precise":     precise,
		"sight":       sights,
		"unseen":      unseen,
		"large touch": largeTouches,
	} {
		t.Run(name, func(t *testing.T) { test(&bench{T: t, Store: open(t), now: start}) })
	}
	t.Run("model", func(t *testing.T) { againstModel(t, open) })
}

// A bench is a store under test and the time there. What must not fail is done by its methods in lower case.
type bench struct {
	*testing.T
	store.Store
	now time.Time
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// poke pokes keys of tenant 1, due now.
func (b *bench) poke(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: k, Tenant: 1, Kind: "pull", Group: "acme/shop", Due: b.now, Touch: "t"}))
	}
}

func (b *bench) claim(limit int) []store.Work {
	b.Helper()
	return b.claimAs(store.Claim{Limit: limit})
}

func (b *bench) claimAs(c store.Claim) []store.Work {
	b.Helper()
	c.Now, c.Until = b.now, b.now.Add(lease)
	work, err := b.Claim(b.Context(), c)
	b.must(err)
	return work
}

// claimOnly claims and wants exactly this key.
func (b *bench) claimOnly(key string) store.Work {
	b.Helper()
	work := b.claim(10)
	if len(work) != 1 || work[0].Key != key {
		b.Fatalf("claimed %v, want %s alone", work, key)
	}
	return work[0]
}

func (b *bench) nothingDue() {
	b.Helper()
	if work := b.claim(10); len(work) > 0 {
		b.Fatalf("claimed %v, want nothing", work)
	}
}

func (b *bench) complete(l store.Lease, o store.Completion) bool {
	b.Helper()
	if o.Now.IsZero() {
		o.Now = b.now
	}
	ours, err := b.Complete(b.Context(), l, o)
	b.must(err)
	return ours
}

func (b *bench) done(w store.Work, o store.Completion) {
	b.Helper()
	if !b.complete(w.Lease, o) {
		b.Fatalf("the lease of %s was lost", w.Key)
	}
}

func (b *bench) row(key string) store.Row {
	b.Helper()
	r, err := b.Get(b.Context(), key)
	b.must(err)
	return r
}

func (b *bench) noRow(key string) {
	b.Helper()
	if _, err := b.Get(b.Context(), key); !errors.Is(err, store.ErrNoRow) {
		b.Fatalf("get %s: %v, want ErrNoRow", key, err)
	}
}

func (b *bench) next(except ...int64) time.Time {
	b.Helper()
	at, err := b.Next(b.Context(), except)
	b.must(err)
	return at
}

func (b *bench) list(q store.Query) []string {
	b.Helper()
	found, err := b.List(b.Context(), q)
	b.must(err)
	return keysOf(found)
}

func (b *bench) same(what string, got, want any) {
	b.Helper()
	if d := cmp.Diff(want, got); d != "" {
		b.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func keysOf(found []store.Row) []string {
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

func accepts(b *bench) {
	d := store.AcceptedDelivery{ID: "d1", Event: "push", At: b.now}
	fresh, err := b.Accept(b.Context(), d, store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: "t"}, store.Poke{Key: "b", Tenant: 1, Due: b.now.Add(1), Touch: "t"})
	b.must(err)
	b.same("a new delivery", fresh, true)
	fresh, err = b.Accept(b.Context(), d, store.Poke{Key: "c", Tenant: 1, Due: b.now, Touch: "t"})
	b.must(err)
	b.same("a known delivery", fresh, false)
	b.noRow("c")
	fresh, err = b.Accept(b.Context(), store.AcceptedDelivery{ID: "d2", At: b.now})
	b.must(err)
	b.same("a delivery without pokes", fresh, true)
	known, err := b.Known(b.Context(), []string{"d1", "d2", "d3"})
	b.must(err)
	b.same("known", known, map[string]bool{"d1": true, "d2": true})
	known, err = b.Known(b.Context(), nil)
	b.must(err)
	b.same("known of none", len(known), 0)
	b.now = b.now.Add(time.Second)
	b.same("claimed", workKeys(b.claim(10)), []string{"a", "b"})
}

func rows(b *bench) {
	b.noRow("a")
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 7, Kind: "pull", Group: "acme/shop", Due: b.now}))
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 8, Kind: "other", Group: "other", Due: b.now}))
	b.same("poked", b.row("a"), store.Row{Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: b.now})
	w := b.claimOnly("a")
	b.same("leased", b.row("a"), store.Row{Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: b.now.Add(lease), Leased: true})
	b.same("work", w, store.Work{Lease: w.Lease, Tenant: 7, Kind: "pull", Due: b.now, Touches: []string{store.Any}})
	later := b.now.Add(time.Hour)
	b.done(w, store.Completion{Wake: later, Sight: []byte("s"), Open: true})
	b.same("completed", b.row("a"), store.Row{
		Key: "a", Kind: "pull", Group: "acme/shop", Tenant: 7, Due: later, Wake: later, Open: true, Seen: b.now, Sight: []byte("s"),
	})
	seen := b.now
	b.now = later
	w = b.claimOnly("a")
	b.same("work again", w, store.Work{Lease: w.Lease, Tenant: 7, Kind: "pull", Due: later, Wake: later, Sight: []byte("s"), Seen: seen})
}

// dues: due is the earlier of due and the poke's, and the worker's word when it is done.
func dues(b *bench) {
	at := func(d time.Duration) store.Poke {
		return store.Poke{Key: "a", Tenant: 1, Due: start.Add(d), Touch: "t"}
	}
	b.must(b.Poke(b.Context(), at(5*time.Second)))
	b.must(b.Poke(b.Context(), at(9*time.Second)))
	b.same("due after a later poke", b.row("a").Due, start.Add(5*time.Second))
	b.must(b.Poke(b.Context(), at(3*time.Second)))
	b.same("due after an earlier poke", b.row("a").Due, start.Add(3*time.Second))
	b.now = start.Add(3*time.Second - 1)
	b.nothingDue()
	b.now = start.Add(3 * time.Second)
	w := b.claimOnly("a")
	b.nothingDue()
	b.done(w, store.Completion{})
	b.same("due by itself", b.row("a").Due, time.Time{})
	b.now = b.now.Add(1e6 * time.Hour)
	b.nothingDue()
	b.poke("a")
	w = b.claimOnly("a")
	b.done(w, store.Completion{Wake: b.now.Add(-time.Hour)}) // a past one means now
	b.claimOnly("a")
}

func fencing(b *bench) {
	b.poke("a")
	w := b.claimOnly("a")
	for _, wrong := range []store.Lease{{Key: "a", Token: w.Token + 1}, {Key: "a", Token: w.Token - 1}, {Key: "a"}, {Key: "b", Token: w.Token}} {
		b.same(fmt.Sprint("complete with ", wrong), b.complete(wrong, store.Completion{Sight: []byte("wrong"), Gone: true}), false)
	}
	b.same("after wrong tokens", b.row("a").Leased, true)
	b.done(w, store.Completion{Sight: []byte("right")})
	b.same("complete twice", b.complete(w.Lease, store.Completion{Sight: []byte("twice")}), false)
	b.same("sight", string(b.row("a").Sight), "right")
	b.poke("a")
	b.claimOnly("a")
	b.same("complete with an old token", b.complete(w.Lease, store.Completion{}), false)
}

func expiry(b *bench) {
	b.poke("a")
	lost := b.claimOnly("a")
	b.now = b.now.Add(lease - time.Microsecond)
	b.nothingDue()
	b.now = b.now.Add(time.Microsecond)
	b.poke("a")
	w := b.claimOnly("a")
	b.same("due since", w.Due, b.now)
	b.same("touches", w.Touches, []string{"t"})
	b.same("complete by the lost worker", b.complete(lost.Lease, store.Completion{Gone: true}), false)
	b.done(w, store.Completion{})

	b.poke("a")
	slow := b.claimOnly("a")
	b.now = b.now.Add(2 * lease)
	b.done(slow, store.Completion{}) // nobody has claimed it meanwhile
	b.nothingDue()
}

func pokedWhileLeased(b *bench) {
	b.poke("a")
	w := b.claimOnly("a")
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now.Add(time.Hour), Touch: "new"}))
	b.nothingDue()
	b.same("due while leased", b.row("a").Due, b.now.Add(lease))
	b.now = b.now.Add(time.Second)
	b.done(w, store.Completion{Wake: b.now.Add(time.Hour)})
	w = b.claimOnly("a")
	b.same("due since", w.Due, b.now)
	b.same("wake", w.Wake, b.now.Add(time.Hour))
	b.same("touches", w.Touches, []string{"new"})
	b.done(w, store.Completion{})
	b.nothingDue()
}

func renews(b *bench) {
	b.poke("a", "b")
	work := b.claim(2)
	until := b.now.Add(10 * lease)
	wrong := store.Lease{Key: "a", Token: work[0].Token + 100}
	lost, err := b.Renew(b.Context(), until, work[0].Lease, wrong, work[1].Lease)
	b.must(err)
	b.same("lost", lost, []store.Lease{wrong})
	b.same("next", b.next(), until)
	b.now = until.Add(-time.Microsecond)
	b.nothingDue()
	b.done(work[0], store.Completion{})
	lost, err = b.Renew(b.Context(), until, work[0].Lease)
	b.must(err)
	b.same("lost once completed", lost, []store.Lease{work[0].Lease})
	b.now = until
	b.claimOnly("b")
	lost, err = b.Renew(b.Context(), until.Add(lease), work[1].Lease)
	b.must(err)
	b.same("lost once claimed anew", lost, []store.Lease{work[1].Lease})
	lost, err = b.Renew(b.Context(), until)
	b.must(err)
	b.same("lost of none", len(lost), 0)
}

func failures(b *bench) {
	b.poke("a")
	for n := 1; n <= 3; n++ {
		w := b.claimOnly("a")
		b.same("attempts", w.Attempts, n-1)
		b.same("touches", w.Touches, []string{"t"})
		b.now = b.now.Add(time.Second)
		b.done(w, store.Completion{Failed: fmt.Sprint("why ", n), Wake: b.now.Add(time.Second)})
		b.same("row's attempts", b.row("a").Attempts, n)
		b.same("row's failure", b.row("a").Failed, fmt.Sprint("why ", n))
		b.same("what an earlier look brought", b.row("a").Wake, time.Time{})
		b.nothingDue()
		b.now = b.now.Add(time.Second)
	}
	w := b.claimOnly("a")
	b.done(w, store.Completion{Keep: true, Wake: b.now})
	b.same("attempts when nothing was looked at", b.row("a").Attempts, 3)
	b.same("failure when nothing was looked at", b.row("a").Failed, "why 3")
	w = b.claimOnly("a")
	b.same("kept touches", w.Touches, []string{"t"})
	b.done(w, store.Completion{Wake: b.now})
	b.same("attempts after a success", b.row("a").Attempts, 0)
	b.same("failure after a success", b.row("a").Failed, "")
	b.same("touches after a success", len(b.claimOnly("a").Touches), 0)
}

func touches(b *bench) {
	for name, c := range map[string]struct {
		first    []string // before the claim
		outcome  store.Completion
		lose     bool // the first worker is lost
		while    []string
		expected []string
	}{
		"each once, oldest first":    {first: []string{"x"}, while: []string{"b", "a", "b"}, expected: []string{"b", "a"}},
		"a failure keeps them":       {first: []string{"x", "y"}, outcome: store.Completion{Failed: "no"}, while: []string{"z", "x"}, expected: []string{"x", "y", "z"}},
		"keep keeps them":            {first: []string{"x", "y"}, outcome: store.Completion{Keep: true}, while: []string{"z", "x"}, expected: []string{"x", "y", "z"}},
		"a lost worker keeps them":   {first: []string{"x", "y"}, lose: true, while: []string{"z", "x"}, expected: []string{"x", "y", "z"}},
		"the same one again":         {first: []string{"x"}, while: []string{"x"}, expected: []string{"x"}},
		"none: look":                 {first: []string{"x"}, while: []string{"a", ""}, expected: []string{store.Any}},
		"any swallows":               {first: []string{"x"}, while: []string{store.Any, "a"}, expected: []string{store.Any}},
		"any of a failure swallows":  {first: []string{""}, outcome: store.Completion{Failed: "no"}, while: []string{"a"}, expected: []string{store.Any}},
		"any after a failure":        {first: []string{"a"}, outcome: store.Completion{Failed: "no"}, while: []string{""}, expected: []string{store.Any}},
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
		w := b.claimOnly(key)
		poke(c.while)
		if c.lose {
			b.now = b.now.Add(lease)
		} else {
			b.done(w, c.outcome)
		}
		w = b.claimOnly(key)
		b.same(name, w.Touches, c.expected)
		b.done(w, store.Completion{Gone: true})
	}
}

func largeTouches(b *bench) {
	third := strings.Repeat("ä", store.MaxTouches/6-1) // two bytes each
	poke := func(touch string) {
		b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now, Touch: touch}))
	}
	poke(third + "1")
	poke(third + "2")
	w := b.claimOnly("a")
	b.same("within the bound", w.Touches, []string{third + "1", third + "2"})
	poke(third + "3")
	poke(third + "4")
	b.done(w, store.Completion{Keep: true})
	w = b.claimOnly("a")
	b.same("what was kept and what came, beyond the bound", w.Touches, []string{store.Any})
	b.done(w, store.Completion{})

	poke(strings.Repeat("x", store.MaxTouches))
	w = b.claimOnly("a")
	b.same("as large as the bound", len(w.Touches[0]), store.MaxTouches)
	poke(strings.Repeat("x", store.MaxTouches+1))
	b.done(w, store.Completion{})
	w = b.claimOnly("a")
	b.same("larger than the bound", w.Touches, []string{store.Any})
	poke(third + "1")
	poke(third + "2")
	poke(third + "3")
	poke("small")
	b.done(w, store.Completion{})
	b.same("many", b.claimOnly("a").Touches, []string{store.Any})
}

func gone(b *bench) {
	b.poke("a")
	b.done(b.claimOnly("a"), store.Completion{Sight: []byte("s"), Open: true, Wake: b.now})
	w := b.claimOnly("a")
	b.poke("a")
	b.done(w, store.Completion{Gone: true})
	b.same("poked meanwhile", b.row("a").Sight, []byte("s"))
	w = b.claimOnly("a")
	b.done(w, store.Completion{Gone: true})
	b.noRow("a")
	b.nothingDue()
	b.same("next", b.next(), time.Time{})
	b.same("complete what is gone", b.complete(w.Lease, store.Completion{}), false)
	h, err := b.Health(b.Context(), b.now)
	b.must(err)
	b.same("health", h, store.Health{})

	b.poke("a")
	again := b.claimOnly("a")
	b.same("sight of a new key", again.Sight, []byte(nil))
	b.same("token is used twice", again.Token == w.Token, false)
	b.same("complete with a token of the former key", b.complete(w.Lease, store.Completion{}), false)
}

func drops(b *bench) {
	b.poke("a", "b")
	b.must(b.Poke(b.Context(), store.Poke{Key: "other", Tenant: 2, Due: b.now}))
	work := b.claimAs(store.Claim{Limit: 1, Except: []int64{2}})
	b.must(b.Drop(b.Context(), 1))
	b.must(b.Drop(b.Context(), 99))
	b.noRow("a")
	b.noRow("b")
	b.same("complete what was dropped", b.complete(work[0].Lease, store.Completion{Sight: []byte("s")}), false)
	lost, err := b.Renew(b.Context(), b.now.Add(time.Hour), work[0].Lease)
	b.must(err)
	b.same("renew what was dropped", lost, []store.Lease{work[0].Lease})
	b.claimOnly("other")
	b.poke("a", "b")
	again := b.claim(10)
	b.same("a tenant that came back", len(again), 2)
	b.same("complete with a token from before", b.complete(work[0].Lease, store.Completion{}), false)
}

func fair(b *bench) {
	for tenant := range int64(10) {
		for n := range 10 - tenant { // the first one has by far the most
			b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprintf("%d/%d", tenant, n), Tenant: tenant, Due: b.now.Add(-time.Duration(10-tenant) * time.Minute), Touch: "t"}))
		}
	}
	turns := map[int64]int{}
	for n := range 10 {
		w := b.claim(1)
		if turns[w[0].Tenant]++; turns[w[0].Tenant] > 1 {
			b.Fatalf("claim %d: tenant %d comes again, and others wait", n, w[0].Tenant)
		}
	}
	served := map[int64]bool{}
	for _, limit := range []int{4, 3, 2} {
		for _, w := range b.claim(limit) {
			if served[w.Tenant] {
				b.Fatalf("tenant %d got its third key before others their second", w.Tenant)
			}
			served[w.Tenant] = true
		}
	}
	b.same("tenants that have two keys", len(served), 9)
	counts := map[int64]int{}
	for _, w := range b.claim(8 + 7 + 6) {
		counts[w.Tenant]++
	}
	b.same("more keys than tenants", counts, map[int64]int{0: 3, 1: 3, 2: 3, 3: 3, 4: 3, 5: 3, 6: 2, 7: 1})
	b.same("the rest", len(b.claim(1000)), 55-10-9-21)
	b.nothingDue()
}

func longest(b *bench) {
	for n, k := range []string{"c", "a", "d", "b"} {
		b.must(b.Poke(b.Context(), store.Poke{Key: k, Tenant: 1, Due: b.now.Add(time.Duration(-n) * time.Second), Touch: "t"}))
	}
	b.same("first", workKeys(b.claim(1)), []string{"b"})
	b.same("rest", workKeys(b.claim(9)), []string{"d", "a", "c"})
}

func excepts(b *bench) {
	for tenant := range int64(4) {
		for n := range 4 {
			b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprintf("%d/%d", tenant, n), Tenant: tenant, Due: b.now, Touch: "t"}))
		}
	}
	count := func(c store.Claim) map[int64]int {
		counts := map[int64]int{}
		for _, w := range b.claimAs(c) {
			counts[w.Tenant]++
		}
		return counts
	}
	b.same("limit 0", count(store.Claim{}), map[int64]int{})
	b.same("one", count(store.Claim{Limit: 100, Except: []int64{0, 1, 3}, Most: map[int64]int{2: 1}}), map[int64]int{2: 1})
	b.same("most", count(store.Claim{Limit: 100, Except: []int64{0}, Most: map[int64]int{0: 9, 1: 2, 2: 0}}), map[int64]int{1: 2, 3: 4})
	b.same("next", b.next(0, 1, 2), b.now.Add(lease))
	b.same("next of none", b.next(0, 1, 2, 3), time.Time{})
	b.same("each", count(store.Claim{Limit: 100, Each: 1, Most: map[int64]int{2: 2}}), map[int64]int{0: 1, 1: 1, 2: 2})
	b.same("the rest", count(store.Claim{Limit: 100}), map[int64]int{0: 3, 1: 1, 2: 1})
}

func nexts(b *bench) {
	b.same("of nothing", b.next(), time.Time{})
	later := b.now.Add(time.Minute)
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: later}, store.Poke{Key: "b", Tenant: 2, Due: later.Add(time.Minute)}))
	b.same("the earliest", b.next(), later)
	b.same("without that tenant", b.next(1), later.Add(time.Minute))
	b.now = later
	w := b.claimOnly("a")
	b.same("the lease's end", b.next(), b.now.Add(lease))
	b.done(w, store.Completion{Wake: b.now.Add(time.Hour)})
	b.same("the other one", b.next(), later.Add(time.Minute))
	b.same("the wake", b.next(2), b.now.Add(time.Hour))
	b.must(b.Drop(b.Context(), 2))
	b.same("when that is dropped", b.next(), b.now.Add(time.Hour))
	b.poke("a")
	b.same("poked", b.next(), b.now)
}

func lists(b *bench) {
	yes, no, two := true, false, int64(2)
	for n, p := range []store.Poke{
		{Key: "a", Tenant: 1, Kind: "pull", Group: "acme/shop"},
		{Key: "b", Tenant: 1, Kind: "repo", Group: "acme/shop"},
		{Key: "c", Tenant: 2, Kind: "pull", Group: "acme/till"},
		{Key: "d", Tenant: 2, Kind: "pull", Group: "acme/shop"},
	} {
		p.Due = b.now
		b.must(b.Poke(b.Context(), p))
		b.done(b.claimOnly(p.Key), store.Completion{Sight: []byte("of " + p.Key), Open: n%2 == 0})
		b.now = b.now.Add(time.Second)
	}
	b.must(b.Poke(b.Context(), store.Poke{Key: "never", Tenant: 3, Kind: "pull", Group: "acme/none", Due: b.now}))
	b.same("all", b.list(store.Query{}), []string{"d", "c", "b", "a", "never"})
	b.same("of a tenant", b.list(store.Query{Tenant: &two}), []string{"d", "c"})
	b.same("of a kind", b.list(store.Query{Kind: "repo"}), []string{"b"})
	b.same("of a group", b.list(store.Query{Group: "acme/shop"}), []string{"d", "b", "a"})
	b.same("open", b.list(store.Query{Open: &yes}), []string{"c", "a"})
	b.same("not open", b.list(store.Query{Open: &no}), []string{"d", "b", "never"})
	b.same("all at once", b.list(store.Query{Tenant: &two, Kind: "pull", Group: "acme/till", Open: &yes}), []string{"c"})
	b.same("before", b.list(store.Query{Before: start.Add(2 * time.Second)}), []string{"b", "a"})
	b.same("limit", b.list(store.Query{Limit: 1}), []string{"d"})
	found, err := b.List(b.Context(), store.Query{Limit: 1})
	b.must(err)
	b.same("a row of a list", found[0], b.row("d"))
	found, err = b.List(b.Context(), store.Query{Limit: 1, Thin: true})
	b.must(err)
	thin := b.row("d")
	thin.Sight = nil
	b.same("a thin row", found[0], thin)
}

func pages(b *bench) {
	const keys = 250
	for n := range keys {
		b.must(b.Poke(b.Context(), store.Poke{Key: fmt.Sprint(n), Tenant: 1, Due: b.now}))
	}
	for _, w := range b.claim(keys) {
		b.done(w, store.Completion{}) // all at the same moment
	}
	b.same("rows without a limit", len(b.list(store.Query{})), 100)
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
	b.same("rows on all pages", len(seen), keys)
}

func healths(b *bench) {
	health := func() store.Health {
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		return h
	}
	b.same("empty", health(), store.Health{})
	_, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: "d", At: b.now},
		store.Poke{Key: "a", Tenant: 1, Due: b.now}, store.Poke{Key: "b", Tenant: 1, Due: b.now.Add(time.Second)}, store.Poke{Key: "c", Tenant: 2, Due: b.now.Add(time.Hour)})
	b.must(err)
	b.now = b.now.Add(3 * time.Second)
	b.same("accepted", health(), store.Health{Keys: 3, Due: 2, Oldest: 3 * time.Second, Tenants: 2, Accepted: 1})
	w := b.claim(1)[0]
	b.same("leased", health(), store.Health{Keys: 3, Due: 1, Leased: 1, Oldest: 2 * time.Second, Tenants: 2, Accepted: 1})
	b.done(w, store.Completion{Sight: []byte("s"), Open: true, Failed: "no", Wake: b.now.Add(time.Hour)})
	b.same("failed", health(), store.Health{Keys: 3, Open: 1, Failing: 1, Due: 1, Oldest: 2 * time.Second, Tenants: 2, Accepted: 1})
	w = b.claim(1)[0]
	b.now = b.now.Add(lease + time.Second)
	b.same("a lease that ran out", health(), store.Health{Keys: 3, Open: 1, Failing: 1, Due: 1, Oldest: time.Second, Tenants: 2, Accepted: 1})
	b.done(w, store.Completion{Gone: true})
	b.must(b.Drop(b.Context(), 2))
	b.now = b.now.Add(2 * time.Hour)
	w = b.claimOnly("a")
	b.done(w, store.Completion{Sight: []byte("s")})
	b.same("in the end", health(), store.Health{Keys: 1, Tenants: 1, Accepted: 1})
}

func prunes(b *bench) {
	var ids []string
	for n := range 10 {
		ids = append(ids, fmt.Sprint(n))
		_, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: ids[n], At: start.Add(time.Duration(n) * time.Second)}, store.Poke{Key: "a", Tenant: 1, Due: b.now})
		b.must(err)
	}
	for _, c := range []struct{ limit, pruned, left int }{{2, 2, 8}, {100, 3, 5}, {100, 0, 5}} {
		n, err := b.Prune(b.Context(), start.Add(5*time.Second), c.limit)
		b.must(err)
		b.same("pruned", n, c.pruned)
		known, err := b.Known(b.Context(), ids)
		b.must(err)
		b.same("known", len(known), c.left)
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		b.same("accepted", h.Accepted, int64(c.left))
	}
	fresh, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: "0", At: start})
	b.must(err)
	b.same("fresh once it is forgotten", fresh, true)
	b.claimOnly("a")
}

func nonsense(b *bench) {
	if _, err := b.Accept(b.Context(), store.AcceptedDelivery{At: b.now}); err == nil {
		b.Error("a delivery without an ID was accepted: all of them would be one")
	}
	if err := b.Poke(b.Context(), store.Poke{Tenant: 1, Due: b.now}); err == nil {
		b.Error("a poke without a key was taken")
	}
	if err := b.Poke(b.Context(), store.Poke{Key: "good", Tenant: 1, Due: b.now}, store.Poke{Key: "a", Tenant: 1}); err == nil {
		b.Error("a poke without a time was taken")
	}
	if _, err := b.Claim(b.Context(), store.Claim{Now: b.now, Until: b.now, Limit: 1}); err == nil {
		b.Error("a lease without a length was given")
	}
	if fresh, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: "d", At: b.now}, store.Poke{Key: "a", Tenant: 1}); err == nil || fresh {
		b.Error("a delivery was accepted whose poke was not")
	}
	known, err := b.Known(b.Context(), []string{"", "d"})
	b.must(err)
	b.same("known", len(known), 0)
	b.noRow("good")
	b.poke("' OR 1=1 --", "100%", "a\nb", "日本/語#1")
	b.same("odd keys", len(b.claim(9)), 4)
}

func contexts(b *bench) {
	over, cancel := context.WithCancel(b.Context())
	cancel()
	for name, call := range map[string]func() error{
		"accept": func() error { _, err := b.Accept(over, store.AcceptedDelivery{ID: "d", At: b.now}); return err },
		"poke":   func() error { return b.Poke(over, store.Poke{Key: "a", Tenant: 1, Due: b.now}) },
		"claim": func() error {
			_, err := b.Claim(over, store.Claim{Now: b.now, Until: b.now.Add(lease), Limit: 1})
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
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			b.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

func closed(b *bench) {
	b.poke("a")
	b.must(b.Close())
	b.must(b.Close())
	if err := b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: b.now}); !errors.Is(err, store.ErrClosed) {
		b.Errorf("poke: %v, want ErrClosed", err)
	}
}

func sameIDs(b *bench) {
	const ids, each = 50, 8
	var mu sync.Mutex
	fresh := map[string]int{}
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() {
			for n := range ids {
				id := fmt.Sprint(n)
				ok, err := b.Accept(b.Context(), store.AcceptedDelivery{ID: id, At: b.now}, store.Poke{Key: id, Tenant: 1, Due: b.now, Touch: "t"})
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
	b.same("deliveries that were fresh", len(fresh), ids)
}

func manyClaim(b *bench) {
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
				work, err := b.Claim(b.Context(), store.Claim{Now: b.now, Until: b.now.Add(lease), Limit: 3})
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
	b.same("keys that were leased", len(leased), keys)
}

// manyPoke: no poke is lost, whenever it comes.
func manyPoke(b *bench) {
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
		work := b.claim(1)
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
		b.done(work[0], store.Completion{})
	}
	if len(looked) != pokes && !looked[store.Any] {
		b.Fatalf("%d of %d touches were handed out", len(looked), pokes)
	}
}

// precise: what is kept is less precise than a time, and still nothing is early.
func precise(b *bench) {
	b.must(b.Poke(b.Context(), store.Poke{Key: "a", Tenant: 1, Due: start.Add(1001)}))
	b.now = start.Add(1000)
	b.nothingDue()
	at := b.next()
	if at.Before(start.Add(1001)) || at.After(start.Add(2001)) {
		b.Fatalf("next is %v", at)
	}
	b.now = at
	w := b.claimOnly("a")
	wake := b.now.Add(time.Hour + 1)
	b.done(w, store.Completion{Wake: wake})
	if at := b.next(); at.Before(wake) || b.row("a").Wake.Before(wake) {
		b.Fatalf("woken at %v, want %v", at, wake)
	}
}

func sights(b *bench) {
	b.poke("a")
	b.done(b.claimOnly("a"), store.Completion{Sight: []byte{0, 1, 0xff}, Open: true, Wake: b.now})
	b.done(b.claimOnly("a"), store.Completion{Wake: b.now})
	b.same("nil: as before", b.row("a").Sight, []byte{0, 1, 0xff})
	b.same("nil: open as before", b.row("a").Open, true)
	large := slices.Repeat([]byte("sight"), 50_000)
	b.done(b.claimOnly("a"), store.Completion{Sight: large, Wake: b.now})
	b.same("large", b.claimOnly("a").Sight, large)
	b.same("decided", b.row("a").Open, false)
}

// A key that was never seen may be undecided all the same, until it is seen or gone.
func unseen(b *bench) {
	open := func() int {
		h, err := b.Health(b.Context(), b.now)
		b.must(err)
		yes := true
		b.same("listed as open", len(b.list(store.Query{Open: &yes})), h.Open)
		return h.Open
	}
	b.poke("a")
	b.done(b.claimOnly("a"), store.Completion{Failed: "why", Open: true, Wake: b.now})
	b.same("after a failure", b.row("a").Open, true)
	b.same("how many after a failure", open(), 1)
	b.done(b.claimOnly("a"), store.Completion{Keep: true, Wake: b.now})
	b.same("how many after nothing was looked at", open(), 1)
	b.done(b.claimOnly("a"), store.Completion{Sight: []byte("s"), Wake: b.now})
	b.same("how many when it is decided", open(), 0)
	b.done(b.claimOnly("a"), store.Completion{Failed: "why", Wake: b.now})
	b.same("how many after a failure of what was decided", open(), 0)
	b.done(b.claimOnly("a"), store.Completion{Keep: true, Open: true, Wake: b.now})
	b.same("how many", open(), 1)
	b.done(b.claimOnly("a"), store.Completion{Gone: true})
	b.same("how many when it is gone", open(), 0)
}
