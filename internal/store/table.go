package store

// The operations on the table, within the writer's transaction. They answer nothing: the writer does, after the commit.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A table is the database as its one writer sees it.
type table struct {
	conn *sql.Conn
	statements
	turns    turns
	totals   totals
	kept     totals // as of the last commit
	token    int64  // the last one
	synced   bool   // commits wait for the disk
	torn     bool   // one failed: what of the log has reached the disk is not known
	unfolded int    // commits since the log was last folded into the file
	lastSeen int64  // the latest seen_at
}

// totals are what Health would have to count.
type totals struct {
	keys, open, failing, tenants int
	accepted                     int64
}

// statements are prepared once: compiling one takes longer than most of them take.
type statements struct {
	begin, commit                                       *sql.Stmt
	insertDelivery, pruneDeliveries                     *sql.Stmt
	find, insert, poke, poked                           *sql.Stmt
	first, earliest, lease, renewLease                  *sql.Stmt
	leased, complete, remove, removeSight, replaceSight *sql.Stmt
	prepared
}

func newTable(db *sql.DB) (*table, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	t := &table{conn: conn, turns: turns{where: map[int64]int{}}, synced: true}
	if err := errors.Join(t.release(), t.load(), t.prepare()); err != nil {
		return nil, errors.Join(err, t.Close(), conn.Close())
	}
	return t, nil
}

// release ends the leases of the process that had the file before: it holds the lock no longer, so it is no more.
func (t *table) release() error {
	var epoch int64
	if err := t.row(`UPDATE epoch SET n = n + 1 RETURNING n`).Scan(&epoch); err != nil {
		return fmt.Errorf("begin anew: %w", err)
	}
	t.token = epoch << 32
	if err := t.exec(`UPDATE work SET leased = 0, due_at = since WHERE leased = 1`); err != nil {
		return fmt.Errorf("end old leases: %w", err)
	}
	return nil
}

// load remembers what the table would otherwise be asked for again and again.
func (t *table) load() error {
	if err := t.row(`SELECT count(*), coalesce(sum(open), 0), coalesce(sum(attempts > 0), 0), coalesce(max(seen_at), 0) FROM work`).
		Scan(&t.totals.keys, &t.totals.open, &t.totals.failing, &t.lastSeen); err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if err := t.row(`SELECT count(*) FROM deliveries`).Scan(&t.totals.accepted); err != nil {
		return fmt.Errorf("count deliveries: %w", err)
	}
	rows, err := t.conn.QueryContext(context.Background(), `SELECT tenant, count(*), min(due_at) FROM work GROUP BY tenant`)
	if err != nil {
		return fmt.Errorf("read tenants: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var tenant, due int64
		var keys int
		if err := rows.Scan(&tenant, &keys, &due); err != nil {
			return fmt.Errorf("read tenants: %w", err)
		}
		n := t.turns.change(tenant)
		n.keys, n.due = keys, due
		t.totals.tenants++
	}
	t.keep()
	return rows.Err()
}

func (t *table) prepare() error {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&t.begin, `BEGIN IMMEDIATE`},
		{&t.commit, `COMMIT`},

		{&t.insertDelivery, `INSERT INTO deliveries (id, event, action, received_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&t.pruneDeliveries, `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE received_at < ? ORDER BY received_at LIMIT ?)`},

		{&t.find, `SELECT id, tenant, due_at, leased, touches FROM work WHERE key = ?`},
		{&t.insert, `INSERT INTO work (key, tenant, kind, grp, gen, due_at, touches) VALUES (?, ?, ?, ?, 1, ?, ?)`},
		{&t.poke, `UPDATE work SET gen = gen + 1, due_at = ?, touches = ? WHERE id = ?`},
		{&t.poked, `UPDATE work SET gen = gen + 1 WHERE id = ?`},

		{&t.first, `SELECT w.id, w.key, w.kind, w.due_at, w.wake_at, w.attempts, w.touches, w.taken, w.seen_at, s.sight
			FROM work w LEFT JOIN sights s ON s.id = w.id WHERE w.tenant = ? ORDER BY w.due_at LIMIT 1`},
		{&t.earliest, `SELECT due_at FROM work WHERE tenant = ? ORDER BY due_at LIMIT 1`},
		{&t.lease, `UPDATE work SET leased = 1, token = ?, claimed = gen, since = due_at, due_at = ?, touches = '', taken = ? WHERE id = ?`},
		{&t.renewLease, `UPDATE work SET due_at = ? WHERE id = ?`},

		{&t.leased, `SELECT id, tenant, due_at, gen > claimed, attempts, failed, open, taken, wake_at FROM work WHERE key = ? AND token = ? AND leased = 1`},
		{&t.complete, `UPDATE work SET leased = 0, due_at = ?, wake_at = ?, attempts = ?, failed = ?, taken = ?, seen_at = ?, open = ? WHERE id = ?`},
		{&t.remove, `DELETE FROM work WHERE id = ?`},
		{&t.removeSight, `DELETE FROM sights WHERE id = ?`},
		{&t.replaceSight, `INSERT INTO sights (id, sight) VALUES (?, ?) ON CONFLICT DO UPDATE SET sight = excluded.sight`},
	} {
		var err error
		if *p.stmt, err = t.conn.PrepareContext(context.Background(), p.query); err != nil {
			return fmt.Errorf("prepare %q: %w", p.query, err)
		}
		t.prepared = append(t.prepared, *p.stmt)
	}
	return nil
}

func (t *table) exec(query string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), query, args...)
	return err
}

// do executes a statement without parameters.
func (t *table) do(stmt *sql.Stmt) error {
	_, err := stmt.ExecContext(context.Background())
	return err
}

// sync says whether the commits from now on wait for the disk. One that does makes those before it durable, too: all stand
// in one log (https://www.sqlite.org/pragma.html#pragma_synchronous).
func (t *table) sync(yes bool) error {
	if yes == t.synced {
		return nil
	}
	level := "NORMAL"
	if yes {
		level = "FULL"
	}
	t.synced = false // an error does not tell whether it was done
	if err := t.exec("PRAGMA synchronous(" + level + ")"); err != nil {
		return err
	}
	t.synced = yes
	return nil
}

// whole makes sure, after a commit that failed, that the next one stands on what is on the disk: Linux tells of a failed
// fsync once, and forgets what was not written. So the log is folded into the file, and begun anew.
func (t *table) whole() error {
	if !t.torn {
		return nil
	}
	var busy bool
	var log, moved int
	if err := t.row("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return err
	}
	if busy {
		return errors.New("after a fault, the log cannot be folded into the file: somebody reads it")
	}
	t.torn = false
	return nil
}

func (t *table) row(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(context.Background(), query, args...)
}

// keep makes what is remembered final, after a commit.
func (t *table) keep() {
	t.turns.keep()
	t.kept = t.totals
}

// takeBack undoes what was done since the last commit.
func (t *table) takeBack() {
	_ = t.exec("ROLLBACK") // SQLite has rolled back by itself after some errors, and then says that there is nothing to do
	t.turns.takeBack()
	t.totals = t.kept
}

func (t *table) accept(d Delivery, pokes []Poke) (fresh bool, err error) {
	r, err := t.insertDelivery.ExecContext(context.Background(), d.ID, d.Event, d.Action, floor(d.At))
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	if err != nil || n == 0 {
		return false, err
	}
	t.totals.accepted++
	return true, t.pokeAll(pokes)
}

func (t *table) pokeAll(pokes []Poke) error {
	for _, p := range pokes {
		if err := t.pokeOne(p); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) pokeOne(p Poke) error {
	due := ceil(p.Due)
	var id, tenant, dueBefore int64
	var leased bool
	var touches string
	err := t.find.QueryRowContext(context.Background(), p.Key).Scan(&id, &tenant, &dueBefore, &leased, &touches)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		if _, err := t.insert.ExecContext(context.Background(), p.Key, p.Tenant, p.Kind, p.Group, due, addTouch("", p.Touch)); err != nil {
			return err
		}
		t.counted(p.Tenant, 1)
		t.turns.moved(p.Tenant, never, due)
		return nil
	case err != nil:
		return err
	}
	if leased || due > dueBefore {
		due = dueBefore
	}
	switch with := addTouch(touches, p.Touch); {
	case due != dueBefore || with != touches:
		_, err = t.poke.ExecContext(context.Background(), due, with, id)
	case leased:
		_, err = t.poked.ExecContext(context.Background(), id)
	} // else a look is due that will know of it: in a burst nothing is written anew
	if err != nil {
		return err
	}
	t.turns.moved(tenant, dueBefore, due)
	return nil
}

// counted tells of n keys more of a tenant.
func (t *table) counted(tenant int64, n int) {
	turn := t.turns.change(tenant)
	before := turn.keys
	turn.keys += n
	t.totals.keys += n
	switch {
	case before == 0 && turn.keys > 0:
		t.totals.tenants++
	case before > 0 && turn.keys == 0:
		t.totals.tenants--
	}
}

// claim deals keys out: one to each tenant whose turn it is, then another one to each, until the limit is reached.
func (t *table) claim(c Claim) ([]Work, error) {
	now := floor(c.Now)
	for _, n := range t.turns.all {
		if n.due <= now && !n.exact { // or a tenant that has nothing would be picked, and one that waits would not
			if err := t.settle(n.tenant); err != nil {
				return nil, err
			}
		}
	}
	live := t.turns.pick(now, c.Limit, setOf(c.Except), c.Most)
	var work []Work
	for round := 1; len(live) > 0; round++ {
		still := live[:0]
		for _, tenant := range live {
			if len(work) == c.Limit {
				return work, nil
			}
			w, ok, err := t.claimOne(tenant, now, ceil(c.Until))
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			work = append(work, w)
			most, ok := c.Most[tenant]
			if !ok {
				most = c.Each
			}
			if !ok && most == 0 || round < most {
				still = append(still, tenant)
			}
		}
		live = still
	}
	return work, nil
}

// claimOne leases the key of a tenant that has been due longest; false if none is due.
func (t *table) claimOne(tenant, now, until int64) (Work, bool, error) {
	w := Work{Tenant: tenant}
	var id, due, wake, seen int64
	var touches, taken string
	err := t.first.QueryRowContext(context.Background(), tenant).Scan(&id, &w.Key, &w.Kind, &due, &wake, &w.Attempts, &touches, &taken, &seen, &w.Sight)
	if errors.Is(err, sql.ErrNoRows) {
		due, err = never, nil
	}
	if err != nil {
		return Work{}, false, err
	}
	turn := t.turns.change(tenant)
	if due > now {
		turn.due, turn.exact = due, true
		return Work{}, false, nil
	}
	t.token++
	taken = mergeTouches(taken, touches)
	if _, err := t.lease.ExecContext(context.Background(), t.token, until, taken, id); err != nil {
		return Work{}, false, err
	}
	t.turns.clock++
	turn.served = t.turns.clock
	turn.due, turn.exact = due, false // another one may be due as long
	w.Token, w.Due, w.Wake, w.Seen, w.Touches = t.token, when(due), when(wake), when(seen), splitTouches(taken)
	return w, true, nil
}

func (t *table) next(except map[int64]bool) (time.Time, error) {
	for {
		first := -1
		for i, n := range t.turns.all {
			if !except[n.tenant] && (first < 0 || n.due < t.turns.all[first].due) {
				first = i
			}
		}
		if first < 0 {
			return time.Time{}, nil
		}
		if n := t.turns.all[first]; n.exact {
			return when(n.due), nil
		}
		if err := t.settle(t.turns.all[first].tenant); err != nil {
			return time.Time{}, err
		}
	}
}

// settle finds out when a tenant's first key is due.
func (t *table) settle(tenant int64) error {
	n := t.turns.change(tenant)
	err := t.earliest.QueryRowContext(context.Background(), tenant).Scan(&n.due)
	if errors.Is(err, sql.ErrNoRows) {
		n.due, err = never, nil
	}
	n.exact = err == nil
	return err
}

// held is a lease that was not lost.
type held struct {
	id, tenant, due int64
	moved           bool // it was poked meanwhile
	attempts        int
	failed, taken   string
	open            bool
	wake            int64
}

func (t *table) holds(l Lease) (h held, ok bool, err error) {
	err = t.leased.QueryRowContext(context.Background(), l.Key, l.Token).Scan(&h.id, &h.tenant, &h.due, &h.moved, &h.attempts, &h.failed, &h.open, &h.taken, &h.wake)
	if errors.Is(err, sql.ErrNoRows) {
		return held{}, false, nil
	}
	return h, err == nil, err
}

func (t *table) renew(until int64, leases []Lease) (lost []Lease, err error) {
	for _, l := range leases {
		h, ok, err := t.holds(l)
		if err != nil {
			return nil, err
		}
		if !ok {
			lost = append(lost, l)
			continue
		}
		if _, err := t.renewLease.ExecContext(context.Background(), until, h.id); err != nil {
			return nil, err
		}
		t.turns.moved(h.tenant, h.due, until)
	}
	return lost, nil
}

func (t *table) completeOne(l Lease, o Outcome) (ours bool, err error) {
	h, ok, err := t.holds(l)
	if err != nil || !ok {
		return false, err
	}
	if o.Gone && !h.moved {
		return true, t.forget(h)
	}
	due := ceil(o.Wake)
	if h.moved {
		due = ceil(o.Now)
	}
	after := h
	switch {
	case o.Failed != "":
		after.attempts, after.failed = h.attempts+1, o.Failed
	case !o.Keep:
		after.attempts, after.failed, after.taken, after.wake = 0, "", "", ceil(o.Wake)
	}
	after.open = o.Open || h.open && o.Sight == nil
	if o.Sight != nil {
		if _, err := t.replaceSight.ExecContext(context.Background(), h.id, o.Sight); err != nil {
			return false, err
		}
	}
	seen := floor(o.Now)
	if seen <= t.lastSeen && t.lastSeen-seen < int64(time.Second/time.Microsecond) {
		seen = t.lastSeen + 1 // so that a page of a list ends between two keys
	}
	if _, err := t.complete.ExecContext(context.Background(), due, after.wake, after.attempts, after.failed, after.taken, seen, after.open, h.id); err != nil {
		return false, err
	}
	t.lastSeen = max(t.lastSeen, seen)
	t.restate(h, after)
	t.turns.moved(h.tenant, h.due, due)
	return true, nil
}

func (t *table) forget(h held) error {
	if _, err := t.remove.ExecContext(context.Background(), h.id); err != nil {
		return err
	}
	if _, err := t.removeSight.ExecContext(context.Background(), h.id); err != nil {
		return err
	}
	t.restate(h, held{})
	t.counted(h.tenant, -1)
	t.turns.moved(h.tenant, h.due, never)
	return nil
}

// restate counts a key that was one thing and is another.
func (t *table) restate(before, after held) {
	t.totals.open += one(after.open) - one(before.open)
	t.totals.failing += one(after.attempts > 0) - one(before.attempts > 0)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *table) drop(tenant int64) error {
	var keys, open, failing int
	if err := t.row(`SELECT count(*), coalesce(sum(open), 0), coalesce(sum(attempts > 0), 0) FROM work WHERE tenant = ?`, tenant).
		Scan(&keys, &open, &failing); err != nil {
		return err
	}
	if keys == 0 {
		return nil
	}
	if err := t.exec(`DELETE FROM sights WHERE id IN (SELECT id FROM work WHERE tenant = ?)`, tenant); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM work WHERE tenant = ?`, tenant); err != nil {
		return err
	}
	t.totals.open -= open
	t.totals.failing -= failing
	t.counted(tenant, -keys)
	n := t.turns.change(tenant)
	n.due, n.exact = never, true
	return nil
}

func (t *table) prune(before int64, limit int) (int, error) {
	r, err := t.pruneDeliveries.ExecContext(context.Background(), before, limit)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	t.totals.accepted -= n
	return int(n), err
}
