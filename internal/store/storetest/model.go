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

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A model is the simpler store: it holds in memory what the tested one must hold, and draws what is done to both.
type model struct {
	*rapid.T
	harness         // of the tested one
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
		m := &model{
			T: rt, harness: harness{rt, open(t), startTime},
			deliveries: map[string]time.Time{}, keys: map[string]*modelKey{}, servedInClaim: map[int64]int{},
		}
		defer m.Close()
		steps := map[string]func(*rapid.T){
			"renew": m.renewLease, "drop": m.dropTenant, "prune": m.pruneDeliveries, "wait": m.advanceClock,
			"list": m.listRows, "": m.checkState,
		}
		for n := range 3 { // what is done most
			steps[fmt.Sprint("accept ", n)], steps[fmt.Sprint("claim ", n)] = m.acceptOrPoke, m.claimKeys
			steps[fmt.Sprint("complete ", n)] = m.completeLease
		}
		rt.Repeat(steps)
	})
}

// drawTime draws a time around now.
func (m *model) drawTime(what string) time.Time {
	return m.now.Add(time.Duration(rapid.IntRange(-5, 20).Draw(m.T, what)) * time.Second)
}

func (m *model) advanceClock(*rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(m.T, "seconds")) * time.Second)
}

// modelTouches are touches of which some begin another one, some must be kept, and the last four are none.
var modelTouches = []string{"a", "ab", "b", "A", "A%", store.Kept + "k", store.Kept + "l", "", "a\nb", "a\xff", "a\x00b"}

func (m *model) acceptOrPoke(*rapid.T) {
	var pokes []store.Poke
	for range rapid.IntRange(0, 3).Draw(m.T, "pokes") {
		tenant := rapid.Int64Range(1, 3).Draw(m.T, "tenant")
		pokes = append(pokes, store.Poke{
			Key:    fmt.Sprintf("%d/%d", tenant, rapid.Int64Range(1, 4-tenant).Draw(m.T, "key")),
			Tenant: tenant, Kind: rapid.SampledFrom([]string{"pull", "repo"}).Draw(m.T, "kind"),
			Group:   rapid.SampledFrom([]string{"g", "h"}).Draw(m.T, "group"),
			Due:     m.drawTime("due"),
			Touch:   rapid.SampledFrom(modelTouches).Draw(m.T, "touch"),
			IfKnown: rapid.IntRange(0, 3).Draw(m.T, "if known") == 0,
			Backlog: rapid.IntRange(0, 2).Draw(m.T, "backlog") == 0,
		})
	}
	if rapid.Bool().Draw(m.T, "without a delivery") {
		m.must(m.Poke(m.Context(), pokes...))
		m.applyPokes(pokes)
		return
	}
	del := store.AcceptedDelivery{ID: fmt.Sprint(rapid.IntRange(1, 20).Draw(m.T, "delivery")), At: m.now}
	fresh, err := m.Accept(m.Context(), del, pokes...)
	m.must(err)
	_, known := m.deliveries[del.ID]
	m.wantSame("fresh", fresh, !known)
	if !known {
		m.deliveries[del.ID] = del.At
		m.applyPokes(pokes)
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
		k.newTouches = joinTouches(k.newTouches, []string{p.Touch})
	}
}

func joinTouches(older, newer []string) []string {
	all := slices.Clone(older)
	for _, t := range newer {
		if slices.Contains(modelTouches[len(modelTouches)-4:], t) {
			t = store.Any
		}
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

func (m *model) claimKeys(*rapid.T) {
	c := store.Claim{Now: m.now, Lease: time.Duration(rapid.IntRange(1, 30).Draw(m.T, "lease")) * time.Second}
	c.Limit = rapid.IntRange(0, 5).Draw(m.T, "limit")
	if rapid.IntRange(0, 3).Draw(m.T, "except") == 0 {
		c.Except = []int64{rapid.Int64Range(1, 3).Draw(m.T, "whom")}
	}
	if rapid.IntRange(0, 3).Draw(m.T, "most") == 0 {
		c.Most = map[int64]int{rapid.Int64Range(1, 3).Draw(m.T, "of whom"): rapid.IntRange(0, 2).Draw(m.T, "how many")}
	}
	if rapid.IntRange(0, 3).Draw(m.T, "each") == 0 {
		c.Each = rapid.IntRange(1, 2).Draw(m.T, "at most")
	}
	if rapid.IntRange(0, 3).Draw(m.T, "no backlog") == 0 {
		c.Backlog.Except = []int64{rapid.Int64Range(1, 3).Draw(m.T, "of whom not")}
	}
	if rapid.IntRange(0, 3).Draw(m.T, "backlog each") == 0 {
		c.Backlog.Each = rapid.IntRange(1, 2).Draw(m.T, "of the backlog at most")
	}
	work, err := m.Claim(m.Context(), c)
	m.must(err)
	due, ofBacklog := m.dueKeys(c)
	could := 0
	for _, ks := range due {
		could += len(ks)
	}
	m.wantSame("keys claimed", len(work), min(c.Limit, could))
	m.claimCount++
	got, gotOfBacklog := map[int64]int{}, map[int64]int{}
	backlog := false
	for i, w := range work {
		k, n := m.keys[w.Key], got[w.Tenant]
		if n >= len(due[w.Tenant]) {
			m.Fatalf("tenant %d got more than %d keys, which it may have", w.Tenant, n)
		}
		next := due[w.Tenant][n]
		isOneOfThose := slices.Contains(due[w.Tenant], k) || w.Due.Equal(next.dueIn(w.Backlog)) // of several that are due as long
		if k == nil || !isOneOfThose ||
			slices.ContainsFunc(work[:i], func(o store.Work) bool { return o.Key == w.Key }) {
			m.Fatalf("%s was claimed, and is not due", w.Key)
		}
		m.wantSame("due for as long as the next one", w.Due, next.dueIn(w.Backlog))
		if backlog = backlog || w.Backlog; backlog && !w.Backlog {
			m.Fatalf("%s comes after keys of the backlog", w.Key)
		}
		if got[w.Tenant]++; backlog {
			gotOfBacklog[w.Tenant]++
		}
	}
	m.checkFairness(due, ofBacklog, got, gotOfBacklog)
	for _, w := range work {
		m.checkWork(m.keys[w.Key], w, c.Now.Add(c.Lease))
	}
}

// checkFairness fails if a tenant got a key whose turn another's was: one that waits for one of the backlog, or of the rest.
func (m *model) checkFairness(due map[int64][]*modelKey, ofBacklog, got, gotOfBacklog map[int64]int) {
	for waits, ks := range due {
		if got[waits] > 0 || len(ks) == 0 {
			continue
		}
		for tenant, n := range got {
			if len(ks) == ofBacklog[waits] {
				n = gotOfBacklog[tenant]
			}
			if n > 1 || n == 1 && m.servedInClaim[tenant] > m.servedInClaim[waits] {
				m.Fatalf("tenant %d got %d keys, and tenant %d waits, whose turn it is", tenant, n, waits)
			}
		}
	}
	for tenant := range got {
		m.servedInClaim[tenant] = m.claimCount
	}
}

func (m *model) checkWork(k *modelKey, w store.Work, until time.Time) {
	k.claimedTouches, k.newTouches = joinTouches(k.claimedTouches, k.newTouches), nil
	var liveDue time.Time
	if w.Backlog {
		liveDue = k.due
	}
	m.wantSame("work", w, store.Work{
		LiveDue: liveDue,
		Lease:   store.Lease{Key: k.row.Key, Token: w.Token}, Tenant: k.row.Tenant, Kind: k.row.Kind, Backlog: w.Backlog,
		Due: k.dueIn(w.Backlog), Wake: k.row.Wake, Attempts: k.row.Attempts, Touches: k.claimedTouches,
		Sight: k.row.Sight, Seen: k.row.Seen,
	})
	for _, l := range m.leases {
		if l == w.Lease {
			m.Fatalf("token %d of %s was used before", l.Token, l.Key)
		}
	}
	k.row.Leased, k.due, k.backlog, k.claimedGeneration, k.token = true, until, time.Time{}, k.generation, w.Token
	m.leases = append(m.leases, w.Lease)
}

// leasedKey returns the key of a lease; nil if the lease was lost.
func (m *model) leasedKey(l store.Lease) *modelKey {
	if k := m.keys[l.Key]; k != nil && k.row.Leased && k.token == l.Token {
		return k
	}
	return nil
}

// someLease returns a lease that holds or one of the last, seldom with a wrong token or key.
func (m *model) someLease() store.Lease {
	if len(m.leases) == 0 {
		m.Skip("nothing was leased yet")
	}
	held := slices.Clone(m.leases[max(0, len(m.leases)-2):])
	for _, l := range m.leases {
		if m.leasedKey(l) != nil {
			held = append(held, l)
		}
	}
	recent := rapid.SampledFrom(held)
	l := recent.Draw(m.T, "lease")
	switch rapid.IntRange(0, 9).Draw(m.T, "wrong") {
	case 0:
		l.Token++
	case 1:
		l.Token--
	case 2:
		l.Key = recent.Draw(m.T, "other").Key
	}
	return l
}

func (m *model) completeLease(*rapid.T) {
	l := m.someLease()
	o := store.Completion{
		Now:  m.now,
		Keep: rapid.IntRange(0, 4).Draw(m.T, "keep") == 0,
		Gone: rapid.IntRange(0, 4).Draw(m.T, "gone") == 0,
	}
	if rapid.Bool().Draw(m.T, "wakes") {
		o.Wake = m.drawTime("wake")
		o.Backlog = rapid.IntRange(0, 2).Draw(m.T, "wakes in the backlog") == 0
	}
	if rapid.IntRange(0, 2).Draw(m.T, "wakes otherwise") == 0 {
		o.LiveDue = m.drawTime("otherwise")
	}
	if rapid.IntRange(0, 2).Draw(m.T, "failed") == 0 {
		o.Failed = "why"
	}
	if rapid.Bool().Draw(m.T, "sees") {
		o.Sight = fmt.Appendf([]byte{0, 0xff}, "sight %d", m.completionCount)
	}
	o.Open = rapid.Bool().Draw(m.T, "open")
	ours, err := m.Complete(m.Context(), l, o)
	m.must(err)
	k := m.leasedKey(l)
	m.wantSame("ours", ours, k != nil)
	if k == nil {
		return
	}
	if o.Gone && k.generation == k.claimedGeneration {
		delete(m.keys, l.Key)
		return
	}
	m.completionCount++
	k.completedAs = m.completionCount
	k.applyCompletion(o)
	r, err := m.Get(m.Context(), l.Key)
	m.must(err)
	if r.Seen.Before(o.Now) || r.Seen.After(o.Now.Add(time.Millisecond)) {
		m.Fatalf("completed at %v, and seen at %v", o.Now, r.Seen)
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

func (m *model) renewLease(*rapid.T) {
	until := m.drawTime("until")
	var leases, wantLost []store.Lease
	for range rapid.IntRange(0, 3).Draw(m.T, "leases") {
		l := m.someLease()
		leases = append(leases, l)
		if k := m.leasedKey(l); k == nil {
			wantLost = append(wantLost, l)
		} else {
			k.due = until
		}
	}
	lost, err := m.Renew(m.Context(), until, leases...)
	m.must(err)
	m.wantSame("lost", lost, wantLost)
}

func (m *model) dropTenant(*rapid.T) {
	if rapid.IntRange(0, 4).Draw(m.T, "really") > 0 {
		return
	}
	tenant := rapid.Int64Range(1, 3).Draw(m.T, "tenant")
	m.must(m.Drop(m.Context(), tenant))
	maps.DeleteFunc(m.keys, func(_ string, k *modelKey) bool { return k.row.Tenant == tenant })
}

func (m *model) pruneDeliveries(*rapid.T) {
	before, limit := m.drawTime("before"), rapid.IntRange(0, 3).Draw(m.T, "limit")
	n, err := m.Prune(m.Context(), before, limit)
	m.must(err)
	old := slices.DeleteFunc(slices.Sorted(maps.Keys(m.deliveries)), func(id string) bool { return !m.deliveries[id].Before(before) })
	m.wantSame("pruned", n, min(limit, len(old)))
	known, err := m.Known(m.Context(), append(slices.Collect(maps.Keys(m.deliveries)), "0"))
	m.must(err)
	m.wantSame("left", len(known), len(m.deliveries)-n)
	for id := range maps.Clone(m.deliveries) {
		if !known[id] {
			if !slices.Contains(old, id) {
				m.Fatalf("delivery %s was forgotten too early", id)
			}
			delete(m.deliveries, id)
		}
	}
}

func (m *model) listRows(*rapid.T) {
	q := store.Query{
		Thin:   rapid.Bool().Draw(m.T, "thin"),
		Limit:  rapid.IntRange(1, 15).Draw(m.T, "limit"),
		Kind:   rapid.SampledFrom([]string{"", "pull", "repo"}).Draw(m.T, "kind"),
		Group:  rapid.SampledFrom([]string{"", "g"}).Draw(m.T, "group"),
		Tenant: rapid.Ptr(rapid.Just(int64(2)), true).Draw(m.T, "tenant"),
		Open:   rapid.Ptr(rapid.Bool(), true).Draw(m.T, "open"),
		Keys:   rapid.SliceOfN(rapid.SampledFrom([]string{"1/1", "2/1", "nowhere"}), 0, 2).Draw(m.T, "keys"),
		Holds:  rapid.SliceOfN(rapid.SampledFrom([]string{"sight 1", "3", "%", "\x00\xff"}), 0, 2).Draw(m.T, "holds"),
	}
	if rapid.Bool().Draw(m.T, "by time") {
		q.Before = m.drawTime("before")
	}
	rows, err := m.List(m.Context(), q)
	m.must(err)
	var want []*modelKey
	for _, k := range m.keys {
		r := k.row
		isHeld := func(text string) bool { return strings.Contains(string(r.Sight), text) }
		isEither := slices.Contains(q.Keys, r.Key) || slices.ContainsFunc(q.Holds, isHeld) || len(q.Holds)+len(q.Keys) == 0
		if isEither && (q.Kind == "" || r.Kind == q.Kind) && (q.Group == "" || r.Group == q.Group) &&
			(q.Tenant == nil || r.Tenant == *q.Tenant) && (q.Open == nil || r.Open == *q.Open) &&
			(q.Before.IsZero() || k.completedAs > 0 && r.Seen.Before(q.Before)) {
			want = append(want, k)
		}
	}
	slices.SortFunc(want, func(a, b *modelKey) int { return cmp.Compare(b.completedAs, a.completedAs) })
	m.wantSame("rows listed", len(rows), min(q.Limit, len(want)))
	for i, r := range rows {
		if want[i].completedAs == 0 { // in any order
			m.wantSame("never completed", r.Seen.IsZero(), true)
			continue
		}
		wantRow := want[i].asRow()
		if q.Thin {
			wantRow.Sight = nil
		}
		m.wantSame("listed", r, wantRow)
	}
}

// checkState compares, after each step, everything that the store tells with the model.
func (m *model) checkState(*rapid.T) {
	h := store.Health{Keys: len(m.keys), Accepted: int64(len(m.deliveries))}
	tenants := map[int64]bool{}
	var next, nextBacklog time.Time
	except := []int64{rapid.Int64Range(1, 4).Draw(m.T, "not next")}
	rows, err := m.List(m.Context(), store.Query{})
	m.must(err)
	m.wantSame("keys", len(rows), len(m.keys))
	for _, r := range rows {
		k := m.keys[r.Key]
		if k == nil {
			m.Fatalf("%s is there", r.Key)
		}
		m.wantSame("row", r, k.asRow())
		tenants[r.Tenant] = true
		h.Tenants = len(tenants)
		if r.Open {
			h.Open++
		}
		if r.Attempts > 0 {
			h.Failing++
		}
		if r.Tenant != except[0] {
			next, nextBacklog = earlierDue(next, k.due), earlierDue(nextBacklog, k.backlog)
		}
		if !k.backlog.IsZero() && !k.backlog.After(m.now) {
			if h.Backlog == nil {
				h.Backlog = map[int64]int{}
			}
			h.Backlog[k.row.Tenant]++
		}
		switch {
		case k.due.IsZero():
		case !k.due.After(m.now):
			h.Due++
			h.Oldest = max(h.Oldest, m.now.Sub(k.due))
		case r.Leased:
			h.Leased++
		}
	}
	got, err := m.Health(m.Context(), m.now)
	m.must(err)
	m.wantSame("health", got, h)
	at, err := m.Next(m.Context(), false, except)
	m.must(err)
	m.wantSame("next", at, next)
	at, err = m.Next(m.Context(), true, except)
	m.must(err)
	m.wantSame("next of the backlog", at, nextBacklog)
	if _, err := m.Get(m.Context(), "none"); !errors.Is(err, store.ErrNoRow) {
		m.Fatalf("get: %v, want ErrNoRow", err)
	}
}

// earlierDue returns the earlier of two due times, zero ones apart.
func earlierDue(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
