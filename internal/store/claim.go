package store

// Claiming what is due, in turns: the tenant that was served last waits for the others.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A queue is one of the two in which a key can wait.
type queue struct {
	// firstRows are the tenants of the rows that are due first, up to $1, $2 rows at most, and since when each is due
	// there.
	firstRows string
	// allTenants are all tenants, and since when each is due.
	allTenants string
	// keys are the keys of tenant $1 that are due up to $2, the longest due first, $3 at most. Those that another
	// transaction has are not among them.
	keys string
}

// newQueue is the queue of a column of work; liveDue is when a key of it is due in the other one.
func newQueue(column, liveDue string) *queue {
	is := column + ` < 9223372036854775807`
	return &queue{
		firstRows: `SELECT f.tenant, min(f.at), count(*), coalesce(max(t.served), 0), coalesce(max(t.worker), '')
			FROM (SELECT tenant, ` + column + ` AS at FROM work WHERE ` + column + ` <= $1 AND ` + is + ` ORDER BY ` + column + ` LIMIT $2) AS f
			LEFT JOIN tenants t ON t.tenant = f.tenant GROUP BY f.tenant`,
		allTenants: `SELECT t.tenant, coalesce((SELECT min(` + column + `) FROM work w WHERE w.tenant = t.tenant AND ` + is + `),
			9223372036854775807), 1, t.served, t.worker FROM tenants t`,
		keys: `SELECT key, kind, ` + column + `, ` + liveDue + `, wake_at, attempts, touches, taken, seen_at FROM work
			WHERE tenant = $1 AND ` + column + ` <= $2 AND ` + is + `
			ORDER BY ` + column + `, id LIMIT $3 FOR UPDATE SKIP LOCKED`,
	}
}

var liveQueue, backlogQueue = newQueue(`due_at`, `0`), newQueue(`backlog_at`, `due_at`)

// A tenantTurn is when a tenant is due in a queue, and when it was served.
type tenantTurn struct {
	tenant, due int64
	served      int64  // the last token that it got: larger is later; 0: none yet
	worker      string // replica that got that
}

// firstRows is how many rows are read to find the tenants that are due. If more are due, all tenants are looked up.
const firstRows = 200

// dueTenants returns the tenants that are due in a queue until a moment, and that may be served. If one is enough,
// it is the first of them, and others may be missing.
func dueTenants(ctx context.Context, from session, q *queue, until int64, one bool, mayServe func(int64) bool) ([]tenantTurn, error) {
	var found []tenantTurn
	rows := 0
	row := func(scan scanner) error {
		var t tenantTurn
		var n int
		err := scan(&t.tenant, &t.due, &n, &t.served, &t.worker)
		if rows += n; err == nil && t.due <= until && t.due < neverDue && mayServe(t.tenant) {
			found = append(found, t)
		}
		return err
	}
	err := from.runStatements(ctx, statement{query: q.firstRows, args: []any{until, firstRows}, row: row})
	if err != nil || rows < firstRows || one && len(found) > 0 {
		return found, err
	}
	found = nil
	err = from.runStatements(ctx, statement{query: q.allTenants, row: row})
	return found, err
}

// Claim leases what is due.
func (s *Database) Claim(ctx context.Context, c Claim) ([]Work, error) {
	if c.Lease < time.Microsecond { // it would have run out before the work began
		return nil, fmt.Errorf("claim: a lease of %s is none", c.Lease)
	}
	name, err := s.replica.holderName()
	if err != nil {
		return nil, s.explainError("claim", err)
	}
	s.claimed.Store(c.Now.UnixMicro())
	var work []Work
	_, err = s.submitOp(ctx, "claim", &op{apply: func(ctx context.Context, tx session) error {
		d := dealer{
			Claim: c, tx: tx, replica: name, now: c.Now.UnixMicro(), until: ceilMicros(c.Now.Add(c.Lease)), got: map[int64]int{},
		}
		err := d.dealKeys(ctx, s.isShared)
		work = d.dealt
		return err
	}})
	if err != nil {
		return nil, err
	}
	if still, err := s.replica.holderName(); err != nil || still != name { // others may have got these by now
		return nil, s.explainError("claim", cmp.Or(err, errNoLifeline))
	}
	return work, nil
}

// A dealer deals keys out in one claim.
type dealer struct {
	Claim
	tx         session
	replica    string
	now, until int64

	dealt []Work
	got   map[int64]int // keys by tenant
}

// A dueKey is a key that a claim may get.
type dueKey struct {
	Work
	round int // how many of its tenant's come before it
}

// dealKeys leases keys: first those of what has just happened, then those of the backlog.
func (d *dealer) dealKeys(ctx context.Context, isShared bool) error {
	isOwn, first := ownTenants(d.replica, d.now)
	if isShared {
		first = append(replicaAnnouncement(d.replica, d.now, d.until), first...)
	}
	err := d.tx.runStatements(ctx, first...)
	for _, q := range []*queue{liveQueue, backlogQueue} {
		if err == nil {
			err = d.dealQueue(ctx, q, isOwn)
		}
	}
	if err != nil || len(d.dealt) == 0 {
		return err
	}
	return d.leaseDealt(ctx)
}

// dealQueue deals keys of a queue: one of each tenant whose turn it is, then another one of each, until the limit
// is reached.
func (d *dealer) dealQueue(ctx context.Context, q *queue, isOwn func(int64) bool) error {
	if len(d.dealt) >= d.Limit {
		return nil
	}
	ofQueue := map[int64]int{}
	mayHave := func(tenant int64) bool {
		if q == backlogQueue && ofQueue[tenant] >= d.Backlog.most(tenant, d.Limit) {
			return false
		}
		return d.got[tenant] < d.most(tenant, d.Limit)
	}
	mayServe := func(tenant int64) bool { return mayHave(tenant) && isOwn(tenant) }
	turns, err := dueTenants(ctx, d.tx, q, d.now, false, mayServe)
	if err != nil {
		return err
	}
	slices.SortFunc(turns, func(a, b tenantTurn) int {
		return cmp.Or(cmp.Compare(a.served, b.served), cmp.Compare(a.due, b.due), cmp.Compare(a.tenant, b.tenant))
	})
	var keys []dueKey
	var reads []statement
	for _, t := range turns[:min(len(turns), d.Limit)] { // one key of each would be enough
		round := 0
		reads = append(reads, statement{
			query: q.keys,
			args:  []any{t.tenant, d.now, min(d.most(t.tenant, d.Limit), d.Limit-len(d.dealt)) + d.got[t.tenant]},
			row: func(scan scanner) error {
				w := Work{Tenant: t.tenant, Backlog: q == backlogQueue, Moved: t.served > 0 && t.worker != d.replica}
				var touches, taken string
				err := scan(&w.Key, &w.Kind, microsInto{&w.Due}, microsInto{&w.LiveDue}, microsInto{&w.Wake}, &w.Attempts,
					&touches, &taken, microsInto{&w.Seen})
				w.Touches = splitTouches(addTouches(taken, splitTouches(touches)...))
				if !slices.ContainsFunc(d.dealt, func(o Work) bool { return o.Key == w.Key }) {
					keys = append(keys, dueKey{w, round})
					round++
				}
				return err
			},
		})
	}
	if err := d.tx.runStatements(ctx, reads...); err != nil {
		return err
	}
	slices.SortStableFunc(keys, func(a, b dueKey) int { return cmp.Compare(a.round, b.round) })
	for _, k := range keys {
		if len(d.dealt) < d.Limit && mayHave(k.Tenant) {
			k.Moved = k.Moved && d.got[k.Tenant] == 0 // from its first key on, this process works for it
			d.dealt = append(d.dealt, k.Work)
			d.got[k.Tenant]++
			ofQueue[k.Tenant]++
		}
	}
	return nil
}

// leaseDealt leases what was dealt.
func (d *dealer) leaseDealt(ctx context.Context) error {
	var last int64
	err := d.tx.runStatements(ctx, statement{
		query: `UPDATE counters SET n = n + $1 WHERE name = 'token' RETURNING n`,
		args:  []any{len(d.dealt)},
		row:   scanInto(&last),
	})
	if err != nil {
		return err
	}
	all := make([]statement, 0, 3*len(d.dealt))
	for i := range d.dealt {
		w := &d.dealt[i]
		w.Token = last - int64(i)
		all = append(all,
			newStatement(`UPDATE work SET leased = 1, token = $2, holder = $3, since = $4, due_at = $5,
				backlog_at = 9223372036854775807, touches = '', taken = $6 WHERE key = $1`,
				w.Key, w.Token, d.replica, w.Due.UnixMicro(), d.until, strings.Join(w.Touches, "\n")),
			statement{
				query: `SELECT sight FROM sights WHERE id = (SELECT id FROM work WHERE key = $1)`, args: []any{w.Key},
				row: scanInto(&w.Sight),
			},
			newStatement(`UPDATE tenants SET served = $2, worker = $3 WHERE tenant = $1`, w.Tenant, w.Token, d.replica),
		)
	}
	return d.tx.runStatements(ctx, all...)
}

// Next returns the earliest moment at which Claim would have something.
func (s *Database) Next(ctx context.Context, backlog bool, except []int64) (at time.Time, err error) {
	q := liveQueue
	if backlog {
		q = backlogQueue
	}
	var turns []tenantTurn
	name, err := s.replica.holderName()
	isOwn, reads := ownTenants(name, s.claimed.Load())
	if err == nil {
		err = s.reader.runStatements(ctx, reads...)
	}
	if err == nil {
		turns, err = dueTenants(ctx, s.reader, q, neverDue, true, func(tenant int64) bool {
			return !slices.Contains(except, tenant) && isOwn(tenant)
		})
	}
	if err != nil || len(turns) == 0 {
		return at, s.explainError("find next", err)
	}
	return timeOfMicros(slices.MinFunc(turns, func(a, b tenantTurn) int { return cmp.Compare(a.due, b.due) }).due), nil
}
