package store

// Claiming what is due, in turns: the tenant that was served last waits for the others.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// A queue is one of the two in which a key can wait.
type queue struct {
	// firstRows are the tenants of the rows that are due first, up to $1, $2 rows at most, and since when each is due
	// there.
	firstRows string
	// allTenants are all tenants, and since when each is due.
	allTenants string
	// keys are the keys of tenant $1 that are due up to $2, the longest due first, $3 at most.
	keys string
}

func newQueue(column string) *queue {
	is := column + ` < 9223372036854775807`
	return &queue{
		firstRows: `SELECT f.tenant, min(f.at), count(*), coalesce(max(t.served), 0), coalesce(max(t.worker), '')
			FROM (SELECT tenant, ` + column + ` AS at FROM work WHERE ` + column + ` <= $1 AND ` + is + ` ORDER BY ` + column + ` LIMIT $2) AS f
			LEFT JOIN tenants t ON t.tenant = f.tenant GROUP BY f.tenant`,
		allTenants: `SELECT t.tenant, coalesce((SELECT min(` + column + `) FROM work w WHERE w.tenant = t.tenant AND ` + is + `),
			9223372036854775807), 1, t.served, t.worker FROM tenants t`,
		keys: `SELECT id, key, kind, due_at, backlog_at, wake_at, attempts, touches, taken, seen_at FROM work
			WHERE tenant = $1 AND ` + column + ` <= $2 AND ` + is + ` ORDER BY ` + column + `, id LIMIT $3`,
	}
}

var liveQueue, backlogQueue = newQueue(`due_at`), newQueue(`backlog_at`)

// A tenantTurn is when a tenant is due in a queue, and when it was served.
type tenantTurn struct {
	tenant, due int64
	served      int64  // the last token that it got: larger is later; 0: none yet
	worker      string // replica that got that
}

func compareTurns(a, b tenantTurn) int {
	return cmp.Or(cmp.Compare(a.served, b.served), cmp.Compare(a.due, b.due), cmp.Compare(a.tenant, b.tenant))
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
	c.Bounds, c.Backlog = c.copyAll(), c.Backlog.copyAll()
	name, err := s.replica.holderName()
	if err != nil {
		return nil, s.explainError("claim", err)
	}
	s.claimed.Store(floorMicros(c.Now))
	var work []Work
	_, err = s.submitOp(ctx, "claim", &op{apply: func(ctx context.Context, tx session) error {
		d := dealer{Claim: c, tx: tx, replica: name, isShared: s.isShared}
		var err error
		work, err = d.dealKeys(ctx)
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
	isShared   bool
	now, until int64
	token      int64 // the last one that was given

	dealt []dueKey
	got   map[int64]int // keys by tenant
}

// A dueKey is a row that a claim may get.
type dueKey struct {
	id            int64
	round         int // how many of its tenant's come before it
	work          Work
	due, backlog  int64
	touches, took string
}

// dealKeys leases keys: first those of what has just happened, then those of the backlog.
func (d *dealer) dealKeys(ctx context.Context) ([]Work, error) {
	d.now, d.until, d.got = floorMicros(d.Now), ceilMicros(d.Now.Add(d.Lease)), map[int64]int{}
	if d.isShared {
		if err := announceReplica(ctx, d.tx, d.replica, d.now, d.until); err != nil {
			return nil, err
		}
	}
	mayServe, err := ownTenants(ctx, d.tx, d.replica, d.now)
	if err != nil {
		return nil, err
	}
	err = d.tx.runStatements(ctx, statement{query: `SELECT n FROM counters WHERE name = 'token'`, row: scanInto(&d.token)})
	if err != nil {
		return nil, err
	}
	for _, q := range []*queue{liveQueue, backlogQueue} {
		if err := d.dealQueue(ctx, q, mayServe); err != nil {
			return nil, err
		}
	}
	return d.leaseDealt(ctx)
}

// dealQueue deals keys of a queue: one of each tenant whose turn it is, then another one of each, until the limit
// is reached.
func (d *dealer) dealQueue(ctx context.Context, q *queue, mayServe func(int64) bool) error {
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
	turns, err := dueTenants(ctx, d.tx, q, d.now, false, func(tenant int64) bool { return mayHave(tenant) && mayServe(tenant) })
	if err != nil {
		return err
	}
	slices.SortFunc(turns, compareTurns)
	var keys []dueKey
	var reads []statement
	for _, t := range turns[:min(len(turns), d.Limit)] { // one key of each would be enough
		round := 0
		reads = append(reads, statement{
			query: q.keys + skipLocked(d.isShared), // those that another transaction has are not among them
			args:  []any{t.tenant, d.now, min(d.most(t.tenant, d.Limit), d.Limit-len(d.dealt)) + d.got[t.tenant]},
			row: func(scan scanner) error {
				k := dueKey{round: round}
				k.work = Work{Tenant: t.tenant, Backlog: q == backlogQueue, Moved: t.served > 0 && t.worker != d.replica}
				err := scan(&k.id, &k.work.Key, &k.work.Kind, &k.due, &k.backlog, microsInto{&k.work.Wake}, &k.work.Attempts,
					&k.touches, &k.took, microsInto{&k.work.Seen})
				if !slices.ContainsFunc(d.dealt, func(o dueKey) bool { return o.id == k.id }) {
					keys = append(keys, k)
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
		if len(d.dealt) < d.Limit && mayHave(k.work.Tenant) {
			d.dealt = append(d.dealt, k)
			d.got[k.work.Tenant]++
			ofQueue[k.work.Tenant]++
		}
	}
	return nil
}

// leaseDealt leases what was dealt.
func (d *dealer) leaseDealt(ctx context.Context) ([]Work, error) {
	if len(d.dealt) == 0 {
		return nil, nil
	}
	all := make([]statement, 0, 3*len(d.dealt)+1)
	work := make([]Work, len(d.dealt))
	told := map[int64]bool{}
	for i, k := range d.dealt {
		d.token++
		w := &work[i]
		*w = k.work
		took := mergeTouches(k.took, k.touches)
		since := k.due
		if w.Backlog {
			since, w.LiveDue = k.backlog, timeOfMicros(k.due)
		}
		w.Token, w.Touches, w.Due = d.token, splitTouches(took), timeOfMicros(since)
		w.Moved = w.Moved && !told[w.Tenant] // from its first key on, this process works for it
		told[w.Tenant] = true
		all = append(all,
			newStatement(`UPDATE work SET leased = 1, token = $2, holder = $3, since = $4, due_at = $5,
				backlog_at = 9223372036854775807, touches = '', taken = $6 WHERE id = $1`, k.id, d.token, d.replica, since, d.until, took),
			statement{query: `SELECT sight FROM sights WHERE id = $1`, args: []any{k.id}, row: scanInto(&w.Sight)},
			newStatement(`UPDATE tenants SET served = $2, worker = $3 WHERE tenant = $1`, w.Tenant, d.token, d.replica),
		)
	}
	err := d.tx.runStatements(ctx, append(all, newStatement(`UPDATE counters SET n = $1 WHERE name = 'token'`, d.token))...)
	return work, err
}

// Next returns the earliest moment at which Claim would have something.
func (s *Database) Next(ctx context.Context, backlog bool, except []int64) (at time.Time, err error) {
	q := liveQueue
	if backlog {
		q = backlogQueue
	}
	var mayServe func(tenant int64) bool
	var turns []tenantTurn
	name, err := s.replica.holderName()
	if err = cmp.Or(err, ctx.Err()); err == nil {
		mayServe, err = ownTenants(ctx, s.reader, name, s.claimed.Load())
	}
	if err == nil {
		turns, err = dueTenants(ctx, s.reader, q, neverDue, true, func(tenant int64) bool {
			return !slices.Contains(except, tenant) && mayServe(tenant)
		})
	}
	if err != nil || len(turns) == 0 {
		return at, s.explainError("find next", err)
	}
	return timeOfMicros(slices.MinFunc(turns, func(a, b tenantTurn) int { return cmp.Compare(a.due, b.due) }).due), nil
}
