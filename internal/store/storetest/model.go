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
	row                           store.Row // but for Due and Backlog
	due, backlog                  time.Time // by themselves; zero: never
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
			Backlog: rapid.IntRange(0, 2).Draw(d.T, "backlog") == 0,
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
			k = &modelKey{row: store.Row{Key: p.Key, Kind: p.Kind, Group: p.Group, Tenant: p.Tenant}}
			m.keys[p.Key] = k
		}
		k.generation++
		due := &k.due
		if p.Backlog {
			due = &k.backlog
		}
		if !k.row.Leased && (due.IsZero() || p.Due.Before(*due)) {
			*due = p.Due
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

// dueKeys returns the keys that a claim may get of each tenant, in their order, and how many of them are of the backlog:
// the last ones.
func (m *model) dueKeys(c store.Claim) (due map[int64][]*modelKey, ofBacklog map[int64]int) {
	due, ofBacklog = m.dueSince(c.Now, c.Except, (*modelKey).liveDue), map[int64]int{}
	for tenant, ks := range m.dueSince(c.Now, slices.Concat(c.Except, c.Backlog.Except), (*modelKey).backlogDue) {
		ks = slices.DeleteFunc(ks, func(k *modelKey) bool { return slices.Contains(due[tenant], k) })
		ks = ks[:mostOf(c.Backlog.Most, c.Backlog.Each, tenant, len(ks))]
		due[tenant], ofBacklog[tenant] = append(due[tenant], ks...), len(ks)
	}
	for tenant, ks := range due {
		n := mostOf(c.Most, c.Each, tenant, len(ks))
		due[tenant], ofBacklog[tenant] = ks[:n], max(ofBacklog[tenant]-(len(ks)-n), 0)
	}
	return due, ofBacklog
}

// dueSince returns the keys of each tenant that are due in one way, the longest due first.
func (m *model) dueSince(now time.Time, except []int64, dueOf func(*modelKey) time.Time) map[int64][]*modelKey {
	due := map[int64][]*modelKey{}
	for _, name := range slices.Sorted(maps.Keys(m.keys)) {
		k := m.keys[name]
		if at := dueOf(k); !slices.Contains(except, k.row.Tenant) && !at.IsZero() && !at.After(now) {
			due[k.row.Tenant] = append(due[k.row.Tenant], k)
		}
	}
	for _, ks := range due {
		slices.SortFunc(ks, func(a, b *modelKey) int { return dueOf(a).Compare(dueOf(b)) })
	}
	return due
}

// dueIn is since when the key is due in one way.
func (k *modelKey) dueIn(backlog bool) time.Time {
	if backlog {
		return k.backlog
	}
	return k.due
}

func (k *modelKey) liveDue() time.Time    { return k.due }
func (k *modelKey) backlogDue() time.Time { return k.backlog }

// asRow is the key as the store shows it.
func (k *modelKey) asRow() store.Row {
	r := k.row
	r.Due = k.due
	if !k.backlog.IsZero() && (k.due.IsZero() || k.backlog.Before(k.due)) {
		r.Due, r.Backlog = k.backlog, true
	}
	return r
}

// mostOf returns how many of a tenant's n due keys a claim may get.
func mostOf(most map[int64]int, each int, tenant int64, n int) int {
	if m, ok := most[tenant]; ok {
		return min(m, n)
	}
	if each > 0 {
		return min(each, n)
	}
	return n
}

func (d *modelDriver) claimKeys(*rapid.T) {
	c := store.Claim{Now: d.m.now, Lease: time.Duration(rapid.IntRange(1, 30).Draw(d.T, "lease")) * time.Second}
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
	if rapid.IntRange(0, 3).Draw(d.T, "no backlog") == 0 {
		c.Backlog.Except = []int64{rapid.Int64Range(1, 3).Draw(d.T, "of whom not")}
	}
	if rapid.IntRange(0, 3).Draw(d.T, "backlog each") == 0 {
		c.Backlog.Each = rapid.IntRange(1, 2).Draw(d.T, "of the backlog at most")
	}
	work, err := d.s.Claim(d.t.Context(), c)
	d.must(err)
	due, ofBacklog := d.m.dueKeys(c)
	could := 0
	for _, ks := range due {
		could += len(ks)
	}
	d.wantSame("keys claimed", len(work), min(c.Limit, could))
	d.m.claimCount++
	got, gotOfBacklog := map[int64]int{}, map[int64]int{}
	backlog := false
	for i, w := range work {
		k, n := d.m.keys[w.Key], got[w.Tenant]
		if n >= len(due[w.Tenant]) {
			d.Fatalf("tenant %d got more than %d keys, which it may have", w.Tenant, n)
		}
		next := due[w.Tenant][n]
		isOneOfThose := slices.Contains(due[w.Tenant], k) || w.Due.Equal(next.dueIn(w.Backlog)) // of several that are due as long
		if k == nil || !isOneOfThose ||
			slices.ContainsFunc(work[:i], func(o store.Work) bool { return o.Key == w.Key }) {
			d.Fatalf("%s was claimed, and is not due", w.Key)
		}
		d.wantSame("due for as long as the next one", w.Due, next.dueIn(w.Backlog))
		if backlog = backlog || w.Backlog; backlog && !w.Backlog {
			d.Fatalf("%s comes after keys of the backlog", w.Key)
		}
		if got[w.Tenant]++; backlog {
			gotOfBacklog[w.Tenant]++
		}
	}
	d.checkFairness(due, ofBacklog, got, gotOfBacklog)
	for _, w := range work {
		d.checkWork(d.m.keys[w.Key], w, c.Now.Add(c.Lease))
	}
}

// checkFairness fails if a tenant got a key whose turn another's was: one that waits for one of the backlog, or of the rest.
func (d *modelDriver) checkFairness(due map[int64][]*modelKey, ofBacklog, got, gotOfBacklog map[int64]int) {
	for waits, ks := range due {
		if got[waits] > 0 || len(ks) == 0 {
			continue
		}
		for tenant, n := range got {
			if len(ks) == ofBacklog[waits] {
				n = gotOfBacklog[tenant]
			}
			if n > 1 || n == 1 && d.m.servedInClaim[tenant] > d.m.servedInClaim[waits] {
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
	var liveDue time.Time
	if w.Backlog {
		liveDue = k.due
	}
	d.wantSame("work", w, store.Work{
		LiveDue: liveDue,
		Lease:   store.Lease{Key: k.row.Key, Token: w.Token}, Tenant: k.row.Tenant, Kind: k.row.Kind, Backlog: w.Backlog,
		Due: k.dueIn(w.Backlog), Wake: k.row.Wake, Attempts: k.row.Attempts, Touches: k.claimedTouches,
		Sight: k.row.Sight, Seen: k.row.Seen,
	})
	for _, l := range d.m.leases {
		if l == w.Lease {
			d.Fatalf("token %d of %s was used before", l.Token, l.Key)
		}
	}
	k.row.Leased, k.due, k.backlog, k.claimedGeneration, k.token = true, until, time.Time{}, k.generation, w.Token
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
		o.Backlog = rapid.IntRange(0, 2).Draw(d.T, "wakes in the backlog") == 0
	}
	if rapid.IntRange(0, 2).Draw(d.T, "wakes otherwise") == 0 {
		o.LiveDue = d.drawTime("otherwise")
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
	k.row.Leased, k.due = false, o.Wake
	switch {
	case k.generation > k.claimedGeneration:
		k.due = o.Now
	case o.Backlog:
		k.due, k.backlog = o.LiveDue, o.Wake
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
		k.due = until
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
		d.wantSame("listed", r, want[i].asRow())
	}
}

// checkState compares, after each step, everything that the store tells with the model.
func (d *modelDriver) checkState(*rapid.T) {
	h := store.Health{Keys: len(d.m.keys), Accepted: int64(len(d.m.deliveries))}
	tenants := map[int64]bool{}
	var next, nextBacklog time.Time
	for name, k := range d.m.keys {
		r, err := d.s.Get(d.t.Context(), name)
		d.must(err)
		d.wantSame("row", r, k.asRow())
		tenants[r.Tenant] = true
		h.Tenants = len(tenants)
		if r.Open {
			h.Open++
		}
		if r.Attempts > 0 {
			h.Failing++
		}
		next, nextBacklog = earlierDue(next, k.due), earlierDue(nextBacklog, k.backlog)
		if !k.backlog.IsZero() && !k.backlog.After(d.m.now) {
			if h.Backlog == nil {
				h.Backlog = map[int64]int{}
			}
			h.Backlog[k.row.Tenant]++
		}
		switch {
		case k.due.IsZero():
		case !k.due.After(d.m.now):
			h.Due++
			h.Oldest = max(h.Oldest, d.m.now.Sub(k.due))
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
	at, err = d.s.NextBacklog(d.t.Context(), nil)
	d.must(err)
	d.wantSame("next of the backlog", at, nextBacklog)
	if _, err := d.s.Get(d.t.Context(), "none"); !errors.Is(err, store.ErrNoRow) {
		d.Fatalf("get: %v, want ErrNoRow", err)
	}
}

// earlierDue returns the earlier of two due times, zero ones apart.
func earlierDue(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
