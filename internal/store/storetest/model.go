package storetest

// A second, simpler store, and a driver that does the same to both: they must agree, whatever the order of operations.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A model is the simpler store: it holds in memory what the tested one must hold.
type model struct {
	now             time.Time
	deliveries      map[string]time.Time
	keys            map[string]*modelKey
	servedInClaim   map[int64]int // the claim in which a tenant was served last
	claimCount      int
	completionCount int // completions
	leases          []store.Lease
}

type modelKey struct {
	row                           store.Row
	generation, claimedGeneration int
	token                         int64
	newTouches, claimedTouches    []string // since the claim; handed out with it
	completedAs                   int      // number of its last completion; 0: none
}

// againstModel does the same to the store and to the model, and compares them.
func againstModel(t *testing.T, open func(t *testing.T) store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t)
		defer s.Close()
		m := &model{now: startTime, deliveries: map[string]time.Time{}, keys: map[string]*modelKey{}, servedInClaim: map[int64]int{}}
		d := &modelDriver{T: rt, s: s, m: m, t: t}
		rt.Repeat(map[string]func(*rapid.T){
			"accept": d.acceptOrPoke, "accept more": d.acceptOrPoke, "claim": d.claimKeys, "claim more": d.claimKeys,
			"complete": d.completeLease, "complete more": d.completeLease,
			"renew": d.renewLease, "drop": d.dropTenant, "prune": d.pruneDeliveries, "wait": d.advanceClock,
			"list": d.listRows, "": d.checkState,
		})
	})
}

type modelDriver struct {
	*rapid.T
	s store.Store
	m *model
	t *testing.T
}

func (d *modelDriver) must(err error) {
	if err != nil {
		d.Fatal(err)
	}
}

func (d *modelDriver) wantSame(what string, got, want any) {
	if diff := gocmp.Diff(want, got); diff != "" {
		d.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// drawTime draws a time around now.
func (d *modelDriver) drawTime(what string) time.Time {
	return d.m.now.Add(time.Duration(rapid.IntRange(-5, 20).Draw(d.T, what)) * time.Second)
}

func (d *modelDriver) advanceClock(*rapid.T) {
	d.m.now = d.m.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(d.T, "seconds")) * time.Second)
}

func (d *modelDriver) acceptOrPoke(*rapid.T) {
	var pokes []store.Poke
	for range rapid.IntRange(0, 3).Draw(d.T, "pokes") {
		tenant := rapid.Int64Range(1, 3).Draw(d.T, "tenant")
		pokes = append(pokes, store.Poke{
			Key:    fmt.Sprintf("%d/%d", tenant, rapid.IntRange(1, 4).Draw(d.T, "key")),
			Tenant: tenant, Kind: rapid.SampledFrom([]string{"pull", "repo"}).Draw(d.T, "kind"),
			Group:   rapid.SampledFrom([]string{"g", "h"}).Draw(d.T, "group"),
			Due:     d.drawTime("due"),
			Touch:   rapid.SampledFrom([]string{"a", "b", "c", store.Kept + "k", store.Kept + "l", ""}).Draw(d.T, "touch"),
			IfKnown: rapid.IntRange(0, 3).Draw(d.T, "if known") == 0,
		})
	}
	if rapid.Bool().Draw(d.T, "without a delivery") {
		d.must(d.s.Poke(d.t.Context(), pokes...))
		d.m.applyPokes(pokes)
		return
	}
	del := store.AcceptedDelivery{ID: fmt.Sprint(rapid.IntRange(1, 20).Draw(d.T, "delivery")), At: d.m.now}
	fresh, err := d.s.Accept(d.t.Context(), del, pokes...)
	d.must(err)
	_, known := d.m.deliveries[del.ID]
	d.wantSame("fresh", fresh, !known)
	if !known {
		d.m.deliveries[del.ID] = del.At
		d.m.applyPokes(pokes)
	}
}

func (m *model) applyPokes(pokes []store.Poke) {
	for _, p := range pokes {
		k := m.keys[p.Key]
		if k == nil && p.IfKnown {
			continue
		}
		if k == nil {
			k = &modelKey{row: store.Row{Key: p.Key, Kind: p.Kind, Group: p.Group, Tenant: p.Tenant, Due: p.Due}}
			m.keys[p.Key] = k
		}
		k.generation++
		if !k.row.Leased && (k.row.Due.IsZero() || p.Due.Before(k.row.Due)) {
			k.row.Due = p.Due
		}
		k.newTouches = joinTouches(k.newTouches, []string{cmp.Or(p.Touch, store.Any)})
	}
}

func joinTouches(older, newer []string) []string {
	all := slices.Clone(older)
	for _, t := range newer {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	if slices.Contains(all, store.Any) {
		kept := slices.DeleteFunc(all, func(t string) bool { return !strings.HasPrefix(t, store.Kept) })
		return append([]string{store.Any}, kept...)
	}
	return all
}

// dueKeys returns the keys that a claim may get of each tenant, the longest due first.
func (m *model) dueKeys(c store.Claim) map[int64][]*modelKey {
	due := map[int64][]*modelKey{}
	for _, name := range slices.Sorted(maps.Keys(m.keys)) {
		k := m.keys[name]
		if !slices.Contains(c.Except, k.row.Tenant) && !k.row.Due.IsZero() && !k.row.Due.After(c.Now) {
			due[k.row.Tenant] = append(due[k.row.Tenant], k)
		}
	}
	for tenant, ks := range due {
		slices.SortFunc(ks, func(a, b *modelKey) int { return a.row.Due.Compare(b.row.Due) })
		if claimLimit(c, tenant, ks) == 0 {
			delete(due, tenant)
		}
	}
	return due
}

// claimLimit returns how many of a tenant's due keys a claim may get.
func claimLimit(c store.Claim, tenant int64, due []*modelKey) int {
	if n, ok := c.Most[tenant]; ok {
		return min(n, len(due))
	}
	if c.Each > 0 {
		return min(c.Each, len(due))
	}
	return len(due)
}

func (d *modelDriver) claimKeys(*rapid.T) {
	c := store.Claim{Now: d.m.now, Until: d.m.now.Add(time.Duration(rapid.IntRange(1, 30).Draw(d.T, "lease")) * time.Second)}
	c.Limit = rapid.IntRange(0, 5).Draw(d.T, "limit")
	if rapid.IntRange(0, 3).Draw(d.T, "except") == 0 {
		c.Except = []int64{rapid.Int64Range(1, 3).Draw(d.T, "whom")}
	}
	if rapid.IntRange(0, 3).Draw(d.T, "most") == 0 {
		c.Most = map[int64]int{rapid.Int64Range(1, 3).Draw(d.T, "of whom"): rapid.IntRange(0, 2).Draw(d.T, "how many")}
	}
	if rapid.IntRange(0, 3).Draw(d.T, "each") == 0 {
		c.Each = rapid.IntRange(1, 2).Draw(d.T, "at most")
	}
	work, err := d.s.Claim(d.t.Context(), c)
	d.must(err)
	due := d.m.dueKeys(c)
	could := 0
	for tenant, ks := range due {
		could += claimLimit(c, tenant, ks)
	}
	d.wantSame("keys claimed", len(work), min(c.Limit, could))
	d.m.claimCount++
	got := map[int64]int{}
	for i, w := range work {
		k := d.m.keys[w.Key]
		if k == nil || !slices.Contains(due[w.Tenant], k) ||
			slices.ContainsFunc(work[:i], func(o store.Work) bool { return o.Key == w.Key }) {
			d.Fatalf("%s was claimed, and is not due", w.Key)
		}
		d.wantSame("due for as long as the next one", w.Due, due[w.Tenant][got[w.Tenant]].row.Due)
		if got[w.Tenant]++; got[w.Tenant] > claimLimit(c, w.Tenant, due[w.Tenant]) {
			d.Fatalf("tenant %d got %d keys, more than it may", w.Tenant, got[w.Tenant])
		}
	}
	d.checkFairness(due, got)
	for _, w := range work {
		d.checkWork(d.m.keys[w.Key], w, c.Until)
	}
}

func (d *modelDriver) checkFairness(due map[int64][]*modelKey, got map[int64]int) {
	for waits := range due {
		for tenant, n := range got {
			if got[waits] == 0 && (n > 1 || d.m.servedInClaim[tenant] > d.m.servedInClaim[waits]) {
				d.Fatalf("tenant %d got %d keys, and tenant %d waits, whose turn it is", tenant, n, waits)
			}
		}
	}
	for tenant := range got {
		d.m.servedInClaim[tenant] = d.m.claimCount
	}
}

func (d *modelDriver) checkWork(k *modelKey, w store.Work, until time.Time) {
	k.claimedTouches, k.newTouches = joinTouches(k.claimedTouches, k.newTouches), nil
	d.wantSame("work", w, store.Work{
		Lease: store.Lease{Key: k.row.Key, Token: w.Token}, Tenant: k.row.Tenant, Kind: k.row.Kind, Due: k.row.Due, Wake: k.row.Wake,
		Attempts: k.row.Attempts, Touches: k.claimedTouches, Sight: k.row.Sight, Seen: k.row.Seen,
	})
	for _, l := range d.m.leases {
		if l == w.Lease {
			d.Fatalf("token %d of %s was used before", l.Token, l.Key)
		}
	}
	k.row.Leased, k.row.Due, k.claimedGeneration, k.token = true, until, k.generation, w.Token
	d.m.leases = append(d.m.leases, w.Lease)
}

// leasedKey returns the key of a lease; nil if the lease was lost.
func (m *model) leasedKey(l store.Lease) *modelKey {
	if k := m.keys[l.Key]; k != nil && k.row.Leased && k.token == l.Token {
		return k
	}
	return nil
}

func (d *modelDriver) someLease() store.Lease {
	if len(d.m.leases) == 0 {
		d.Skip("nothing was leased yet")
	}
	recent := d.m.leases[max(0, len(d.m.leases)-6):]
	return rapid.SampledFrom(recent).Draw(d.T, "lease")
}

func (d *modelDriver) completeLease(*rapid.T) {
	l := d.someLease()
	o := store.Completion{
		Now:  d.m.now,
		Keep: rapid.IntRange(0, 4).Draw(d.T, "keep") == 0,
		Gone: rapid.IntRange(0, 4).Draw(d.T, "gone") == 0,
	}
	if rapid.Bool().Draw(d.T, "wakes") {
		o.Wake = d.drawTime("wake")
	}
	if rapid.IntRange(0, 3).Draw(d.T, "failed") == 0 {
		o.Failed = "why"
	}
	if rapid.Bool().Draw(d.T, "sees") {
		o.Sight = []byte(fmt.Sprint("sight ", d.m.completionCount))
	}
	o.Open = rapid.Bool().Draw(d.T, "open")
	ours, err := d.s.Complete(d.t.Context(), l, o)
	d.must(err)
	k := d.m.leasedKey(l)
	d.wantSame("ours", ours, k != nil)
	if k == nil {
		return
	}
	if o.Gone && k.generation == k.claimedGeneration {
		delete(d.m.keys, l.Key)
		return
	}
	d.m.completionCount++
	k.completedAs = d.m.completionCount
	k.applyCompletion(o)
	r, err := d.s.Get(d.t.Context(), l.Key)
	d.must(err)
	if r.Seen.Before(o.Now) || r.Seen.After(o.Now.Add(time.Millisecond)) {
		d.Fatalf("completed at %v, and seen at %v", o.Now, r.Seen)
	}
	k.row.Seen = r.Seen
}

func (k *modelKey) applyCompletion(o store.Completion) {
	k.row.Leased, k.row.Due = false, o.Wake
	if k.generation > k.claimedGeneration {
		k.row.Due = o.Now
	}
	k.row.Open = k.row.Open || o.Open
	if o.Sight != nil {
		k.row.Sight, k.row.Open = o.Sight, o.Open
	}
	switch {
	case o.Failed != "":
		k.row.Attempts++
		k.row.Failed = o.Failed
	case !o.Keep:
		k.row.Attempts, k.row.Failed, k.row.Wake, k.claimedTouches = 0, "", o.Wake, nil
	}
}

func (d *modelDriver) renewLease(*rapid.T) {
	l, until := d.someLease(), d.drawTime("until")
	lost, err := d.s.Renew(d.t.Context(), until, l)
	d.must(err)
	k := d.m.leasedKey(l)
	d.wantSame("lost", len(lost) > 0, k == nil)
	if k != nil {
		k.row.Due = until
	}
}

func (d *modelDriver) dropTenant(*rapid.T) {
	if rapid.IntRange(0, 4).Draw(d.T, "really") > 0 {
		return
	}
	tenant := rapid.Int64Range(1, 3).Draw(d.T, "tenant")
	d.must(d.s.Drop(d.t.Context(), tenant))
	maps.DeleteFunc(d.m.keys, func(_ string, k *modelKey) bool { return k.row.Tenant == tenant })
}

func (d *modelDriver) pruneDeliveries(*rapid.T) {
	before, limit := d.drawTime("before"), rapid.IntRange(0, 3).Draw(d.T, "limit")
	n, err := d.s.Prune(d.t.Context(), before, limit)
	d.must(err)
	old := slices.DeleteFunc(slices.Sorted(maps.Keys(d.m.deliveries)), func(id string) bool { return !d.m.deliveries[id].Before(before) })
	d.wantSame("pruned", n, min(limit, len(old)))
	known, err := d.s.Known(d.t.Context(), slices.Collect(maps.Keys(d.m.deliveries)))
	d.must(err)
	d.wantSame("left", len(known), len(d.m.deliveries)-n)
	for id := range maps.Clone(d.m.deliveries) {
		if !known[id] {
			if !slices.Contains(old, id) {
				d.Fatalf("delivery %s was forgotten too early", id)
			}
			delete(d.m.deliveries, id)
		}
	}
}

func (d *modelDriver) listRows(*rapid.T) {
	q := store.Query{
		Limit: rapid.IntRange(1, 15).Draw(d.T, "limit"),
		Kind:  rapid.SampledFrom([]string{"", "pull", "repo"}).Draw(d.T, "kind"),
	}
	if rapid.Bool().Draw(d.T, "by group") {
		q.Group = "g"
	}
	if rapid.Bool().Draw(d.T, "by tenant") {
		tenant := int64(2)
		q.Tenant = &tenant
	}
	if rapid.Bool().Draw(d.T, "by open") {
		open := rapid.Bool().Draw(d.T, "open")
		q.Open = &open
	}
	if rapid.Bool().Draw(d.T, "by time") {
		q.Before = d.drawTime("before")
	}
	rows, err := d.s.List(d.t.Context(), q)
	d.must(err)
	var want []*modelKey
	for _, k := range d.m.keys {
		r := k.row
		if (q.Kind == "" || r.Kind == q.Kind) && (q.Group == "" || r.Group == q.Group) && (q.Tenant == nil || r.Tenant == *q.Tenant) &&
			(q.Open == nil || r.Open == *q.Open) && (q.Before.IsZero() || k.completedAs > 0 && r.Seen.Before(q.Before)) {
			want = append(want, k)
		}
	}
	slices.SortFunc(want, func(a, b *modelKey) int { return cmp.Compare(b.completedAs, a.completedAs) })
	d.wantSame("rows listed", len(rows), min(q.Limit, len(want)))
	for i, r := range rows {
		if want[i].completedAs == 0 { // in any order
			d.wantSame("never completed", r.Seen.IsZero(), true)
			continue
		}
		d.wantSame("listed", r, want[i].row)
	}
}

// checkState compares, after each step, everything that the store tells with the model.
func (d *modelDriver) checkState(*rapid.T) {
	h := store.Health{Keys: len(d.m.keys), Accepted: int64(len(d.m.deliveries))}
	tenants := map[int64]bool{}
	var next time.Time
	for name, k := range d.m.keys {
		r, err := d.s.Get(d.t.Context(), name)
		d.must(err)
		d.wantSame("row", r, k.row)
		tenants[r.Tenant] = true
		h.Tenants = len(tenants)
		if r.Open {
			h.Open++
		}
		if r.Attempts > 0 {
			h.Failing++
		}
		if r.Due.IsZero() {
			continue
		}
		if next.IsZero() || r.Due.Before(next) {
			next = r.Due
		}
		switch {
		case !r.Due.After(d.m.now):
			h.Due++
			h.Oldest = max(h.Oldest, d.m.now.Sub(r.Due))
		case r.Leased:
			h.Leased++
		}
	}
	got, err := d.s.Health(d.t.Context(), d.m.now)
	d.must(err)
	d.wantSame("health", got, h)
	at, err := d.s.Next(d.t.Context(), nil)
	d.must(err)
	d.wantSame("next", at, next)
	if _, err := d.s.Get(d.t.Context(), "none"); !errors.Is(err, store.ErrNoRow) {
		d.Fatalf("get: %v, want ErrNoRow", err)
	}
}
