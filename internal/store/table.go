package store

// The operations on the table, within the writer's transaction. Callers get their answer from the writer, after the
// commit.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"
)

// A workTable is the database as its one writer sees it.
type workTable struct {
	conn *sql.Conn
	statements
	turns            tenantTurns
	totals           totals
	committedTotals  totals // as of the last commit
	lastToken        int64  // the newest one that was given
	fullSync         bool   // commits wait for the disk
	fleeting         bool   // none ever does
	logSuspect       bool   // a commit or fold failed: how much of the log is on the disk is unknown
	commitsSinceFold int    // commits since the log was last folded into the file
	lastSeen         int64  // the latest seen_at
}

// totals are the counts that Health would otherwise have to make.
type totals struct {
	keys, open, failing, tenants int
	accepted                     int64
}

// statements are prepared once: compiling one takes longer than most of them take.
type statements struct {
	begin, commit                                                       *sql.Stmt
	insertDelivery, pruneDeliveries                                     *sql.Stmt
	selectKey, insertKey, updatePoked, updateGeneration                 *sql.Stmt
	selectFirstDue, selectEarliestDue                                   [queueKinds]*sql.Stmt
	updateLeased, updateLeaseEnd                                        *sql.Stmt
	selectLease, updateCompleted, deleteWork, deleteSight, replaceSight *sql.Stmt
	preparedStatements
}

func newWorkTable(db *sql.DB) (*workTable, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	t := &workTable{conn: conn, turns: tenantTurns{indexOf: map[int64]int{}}, fullSync: true}
	if err := errors.Join(t.endOldLeases(), t.loadTotals(), t.prepareStatements()); err != nil {
		return nil, errors.Join(err, t.Close(), conn.Close())
	}
	return t, nil
}

// endOldLeases ends the leases of the process that had the file before: it no longer holds the lock, so it has ended.
func (t *workTable) endOldLeases() error {
	var epoch int64
	if err := t.queryRow(`UPDATE epoch SET n = n + 1 RETURNING n`).Scan(&epoch); err != nil {
		return fmt.Errorf("begin anew: %w", err)
	}
	t.lastToken = epoch << 32
	if err := t.exec(`UPDATE work SET leased = 0, due_at = since WHERE leased = 1`); err != nil {
		return fmt.Errorf("end old leases: %w", err)
	}
	return nil
}

// loadTotals counts keys and deliveries, and reads how many keys each tenant has and when the first one is due, so that
// no operation has to ask for them. It reads indexes alone: to read the rows of a million keys takes seconds.
func (t *workTable) loadTotals() error {
	if err := t.queryRow(`WITH RECURSIVE `+eachKind+`
		SELECT (SELECT count(*) FROM work INDEXED BY work_open WHERE open = 1),
			(SELECT count(*) FROM work INDEXED BY work_failing WHERE attempts > 0), (SELECT count(*) FROM deliveries),
			(SELECT coalesce(max((SELECT max(seen_at) FROM work WHERE kind = each.kind)), 0) FROM each)`).
		Scan(&t.totals.open, &t.totals.failing, &t.totals.accepted, &t.lastSeen); err != nil {
		return fmt.Errorf("count keys and deliveries: %w", err)
	}
	rows, err := t.conn.QueryContext(context.Background(), `SELECT tenant, count(*), min(due_at),
		coalesce((SELECT min(backlog_at) FROM work b INDEXED BY work_backlog
			WHERE b.tenant = work.tenant AND backlog_at < 9223372036854775807), 9223372036854775807)
		FROM work INDEXED BY work_due GROUP BY tenant`)
	if err != nil {
		return fmt.Errorf("read tenants: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var tenant, due, backlog int64
		var keys int
		if err := rows.Scan(&tenant, &keys, &due, &backlog); err != nil {
			return fmt.Errorf("read tenants: %w", err)
		}
		n := t.turns.editTurn(tenant)
		n.keyCount = keys
		n.first[liveQueue].at, n.first[backlogQueue].at = due, backlog
		t.totals.keys += keys
		t.totals.tenants++
	}
	t.keepChanges()
	return rows.Err()
}

// claimedColumns are what a claim reads of a key beside its two due times.
const claimedColumns = `w.id, w.key, w.kind, w.wake_at, w.attempts, w.touches, w.taken, w.seen_at, s.sight
	FROM work w LEFT JOIN sights s ON s.id = w.id`

func (t *workTable) prepareStatements() error {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&t.begin, `BEGIN IMMEDIATE`},
		{&t.commit, `COMMIT`},

		{&t.insertDelivery, `INSERT INTO deliveries (id, event, action, received_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&t.pruneDeliveries, `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE received_at < ? ORDER BY received_at LIMIT ?)`},

		{&t.selectKey, `SELECT id, tenant, due_at, backlog_at, leased, touches FROM work WHERE key = ?`},
		{&t.insertKey, `INSERT INTO work (key, tenant, kind, grp, gen, due_at, backlog_at, touches) VALUES (?, ?, ?, ?, 1, ?, ?, ?)`},
		{&t.updatePoked, `UPDATE work SET gen = gen + 1, due_at = ?, backlog_at = ?, touches = ? WHERE id = ?`},
		{&t.updateGeneration, `UPDATE work SET gen = gen + 1 WHERE id = ?`},

		{&t.selectFirstDue[liveQueue], `SELECT w.due_at, w.backlog_at, ` + claimedColumns + `
			WHERE w.tenant = ? ORDER BY w.due_at LIMIT 1`},
		{&t.selectFirstDue[backlogQueue], `SELECT w.backlog_at, w.due_at, ` + claimedColumns + `
			WHERE w.tenant = ? AND w.backlog_at < 9223372036854775807 ORDER BY w.backlog_at LIMIT 1`},
		{&t.selectEarliestDue[liveQueue], `SELECT due_at FROM work WHERE tenant = ? ORDER BY due_at LIMIT 1`},
		{&t.selectEarliestDue[backlogQueue], `SELECT backlog_at FROM work
			WHERE tenant = ? AND backlog_at < 9223372036854775807 ORDER BY backlog_at LIMIT 1`},
		{&t.updateLeased, `UPDATE work SET leased = 1, token = ?, claimed = gen, since = ?, due_at = ?, backlog_at = 9223372036854775807,
			touches = '', taken = ? WHERE id = ?`},
		{&t.updateLeaseEnd, `UPDATE work SET due_at = ? WHERE id = ?`},

		{&t.selectLease, `SELECT id, tenant, due_at, gen > claimed, attempts, failed, open, taken, wake_at FROM work WHERE key = ? AND token = ? AND leased = 1`},
		{&t.updateCompleted, `UPDATE work SET leased = 0, due_at = ?, backlog_at = ?, wake_at = ?, attempts = ?, failed = ?, taken = ?, seen_at = ?, open = ? WHERE id = ?`},
		{&t.deleteWork, `DELETE FROM work WHERE id = ?`},
		{&t.deleteSight, `DELETE FROM sights WHERE id = ?`},
		{&t.replaceSight, `INSERT INTO sights (id, sight) VALUES (?, ?) ON CONFLICT DO UPDATE SET sight = excluded.sight`},
	} {
		var err error
		if *p.stmt, err = t.conn.PrepareContext(context.Background(), p.query); err != nil {
			return fmt.Errorf("prepare %q: %w", p.query, err)
		}
		t.preparedStatements = append(t.preparedStatements, *p.stmt)
	}
	return nil
}

func (t *workTable) exec(query string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), query, args...)
	return err
}

// execStatement executes a statement without parameters.
func (t *workTable) execStatement(stmt *sql.Stmt) error {
	_, err := stmt.ExecContext(context.Background())
	return err
}

// setFullSync sets whether commits wait for the disk from now on. One that does makes those before it durable, too: all
// stand in one log (https://www.sqlite.org/pragma.html#pragma_synchronous).
func (t *workTable) setFullSync(yes bool) error {
	if t.fleeting || yes == t.fullSync {
		return nil
	}
	level := "NORMAL"
	if yes {
		level = "FULL"
	}
	t.fullSync = false // an error does not tell whether it was done
	if err := t.exec("PRAGMA synchronous(" + level + ")"); err != nil {
		return err
	}
	t.fullSync = yes
	return nil
}

// neverSync lets no commit wait for the disk from now on.
func (t *workTable) neverSync() error {
	t.fleeting = true
	return t.exec("PRAGMA synchronous(OFF)")
}

// recoverLog folds the log into the file and empties it, if a commit failed: the next commit must build on what is on
// the disk, and Linux reports a failed fsync only once and forgets what was not written.
func (t *workTable) recoverLog() error {
	if !t.logSuspect {
		return nil
	}
	var busy bool
	var log, moved int
	if err := t.queryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return err
	}
	if busy {
		return errors.New("after a fault, the log cannot be folded into the file: somebody reads it")
	}
	t.logSuspect = false
	return nil
}

func (t *workTable) queryRow(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(context.Background(), query, args...)
}

// keepChanges makes the remembered turns and totals final, after a commit.
func (t *workTable) keepChanges() {
	t.turns.keepChanges()
	t.committedTotals = t.totals
}

// undoChanges rolls back the transaction, and with it the remembered turns and totals.
func (t *workTable) undoChanges() {
	_ = t.exec("ROLLBACK") // SQLite has rolled back by itself after some errors, and then says that there is nothing to do
	t.turns.undoChanges()
	t.totals = t.committedTotals
}

func (t *workTable) acceptDelivery(d AcceptedDelivery, pokes []Poke) (fresh bool, err error) {
	r, err := t.insertDelivery.ExecContext(context.Background(), d.ID, d.Event, d.Action, floorMicros(d.At))
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

func (t *workTable) pokeAll(pokes []Poke) error {
	for _, p := range pokes {
		if err := t.pokeOne(p); err != nil {
			return err
		}
	}
	return nil
}

func (t *workTable) pokeOne(p Poke) error {
	due, backlog := ceilMicros(p.Due), int64(neverDue)
	if p.Backlog {
		due, backlog = backlog, due
	}
	var id, tenant, dueBefore, backlogBefore int64
	var leased bool
	var touches string
	err := t.selectKey.QueryRowContext(context.Background(), p.Key).Scan(&id, &tenant, &dueBefore, &backlogBefore, &leased, &touches)
	switch {
	case errors.Is(err, sql.ErrNoRows) && p.IfKnown:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		_, err := t.insertKey.ExecContext(
			context.Background(), p.Key, p.Tenant, p.Kind, p.Group, due, backlog, addTouch("", p.Touch),
		)
		if err != nil {
			return err
		}
		t.addKeys(p.Tenant, 1)
		t.turns.noteDueMoved(p.Tenant, liveQueue, neverDue, due)
		t.turns.noteDueMoved(p.Tenant, backlogQueue, neverDue, backlog)
		return nil
	case err != nil:
		return err
	}
	due, backlog = min(due, dueBefore), min(backlog, backlogBefore)
	if leased {
		due, backlog = dueBefore, backlogBefore
	}
	switch with := addTouch(touches, p.Touch); {
	case due != dueBefore || backlog != backlogBefore || with != touches:
		_, err = t.updatePoked.ExecContext(context.Background(), due, backlog, with, id)
	case leased:
		_, err = t.updateGeneration.ExecContext(context.Background(), id)
	} // else a look is due that will see it: in a burst nothing is written again
	if err != nil {
		return err
	}
	t.turns.noteDueMoved(tenant, liveQueue, dueBefore, due)
	t.turns.noteDueMoved(tenant, backlogQueue, backlogBefore, backlog)
	return nil
}

// addKeys counts n more keys of a tenant.
func (t *workTable) addKeys(tenant int64, n int) {
	turn := t.turns.editTurn(tenant)
	before := turn.keyCount
	turn.keyCount += n
	t.totals.keys += n
	switch {
	case before == 0 && turn.keyCount > 0:
		t.totals.tenants++
	case before > 0 && turn.keyCount == 0:
		t.totals.tenants--
	}
}

// claimKeys deals keys out: first of what has just happened, then of the backlog.
func (t *workTable) claimKeys(c Claim) (work []Work, err error) {
	got := map[int64]int{}
	for _, q := range []queueKind{liveQueue, backlogQueue} {
		if work, err = t.dealKeys(work, c, q, got); err != nil {
			return nil, err
		}
	}
	return work, nil
}

// dealKeys adds keys of a queue to work: one of each tenant whose turn it is, then another one of each, until the limit is
// reached. got is how many keys a tenant has got already.
func (t *workTable) dealKeys(work []Work, c Claim, q queueKind, got map[int64]int) ([]Work, error) {
	now := floorMicros(c.Now)
	for _, n := range t.turns.all {
		if due := n.first[q]; due.at <= now && !due.isExact { // or a tenant that has nothing would be picked, and one that waits would not
			if err := t.readFirstDue(n.tenant, q); err != nil {
				return nil, err
			}
		}
	}
	ofQueue := map[int64]int{}
	mayHave := func(tenant int64) bool {
		return got[tenant] < c.most(tenant) && (q == liveQueue || ofQueue[tenant] < c.Backlog.most(tenant, c.Limit))
	}
	except := tenantSet(c.Except)
	if q == backlogQueue {
		maps.Copy(except, tenantSet(c.Backlog.Except))
	}
	live := t.turns.pickTenants(now, c.Limit-len(work), q, except, mayHave)
	for len(live) > 0 {
		still := live[:0]
		for _, tenant := range live {
			if len(work) == c.Limit {
				return work, nil
			}
			w, ok, err := t.claimOne(tenant, q, now, ceilMicros(c.Now.Add(c.Lease)))
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			work = append(work, w)
			got[tenant]++
			ofQueue[tenant]++
			if mayHave(tenant) {
				still = append(still, tenant)
			}
		}
		live = still
	}
	return work, nil
}

// claimOne leases the key of a tenant that has been due longest in a queue; false if none is due.
func (t *workTable) claimOne(tenant int64, q queueKind, now, until int64) (Work, bool, error) {
	w := Work{Tenant: tenant, Backlog: q == backlogQueue}
	var id, due, other, wake, seen int64
	var touches, taken string
	err := t.selectFirstDue[q].QueryRowContext(context.Background(), tenant).Scan(
		&due, &other, &id, &w.Key, &w.Kind, &wake, &w.Attempts, &touches, &taken, &seen, &w.Sight,
	)
	if errors.Is(err, sql.ErrNoRows) {
		due, err = neverDue, nil
	}
	if err != nil {
		return Work{}, false, err
	}
	turn := t.turns.editTurn(tenant)
	if due > now {
		turn.first[q] = firstDue{due, true}
		return Work{}, false, nil
	}
	t.lastToken++
	taken = mergeTouches(taken, touches)
	if _, err := t.updateLeased.ExecContext(context.Background(), t.lastToken, due, until, taken, id); err != nil {
		return Work{}, false, err
	}
	t.turns.serveClock++
	turn.lastServed = t.turns.serveClock
	turn.first[q] = firstDue{due, false} // another one may be due as long
	if q == backlogQueue {
		w.LiveDue = timeOfMicros(other)
		t.turns.noteDueMoved(tenant, liveQueue, other, until)
	} else {
		t.turns.noteDueMoved(tenant, backlogQueue, other, neverDue)
	}
	w.Token, w.Due, w.Wake, w.Seen, w.Touches = t.lastToken, timeOfMicros(due), timeOfMicros(wake), timeOfMicros(seen), splitTouches(taken)
	return w, true, nil
}

func (t *workTable) nextDue(q queueKind, except map[int64]bool) (time.Time, error) {
	for {
		first := -1
		for i, n := range t.turns.all {
			if !except[n.tenant] && (first < 0 || n.first[q].at < t.turns.all[first].first[q].at) {
				first = i
			}
		}
		if first < 0 {
			return time.Time{}, nil
		}
		n := t.turns.all[first]
		if due := n.first[q]; due.isExact {
			return timeOfMicros(due.at), nil
		}
		if err := t.readFirstDue(n.tenant, q); err != nil {
			return time.Time{}, err
		}
	}
}

// readFirstDue reads when a tenant's first key in a queue is due.
func (t *workTable) readFirstDue(tenant int64, q queueKind) error {
	due := &t.turns.editTurn(tenant).first[q]
	err := t.selectEarliestDue[q].QueryRowContext(context.Background(), tenant).Scan(&due.at)
	if errors.Is(err, sql.ErrNoRows) {
		due.at, err = neverDue, nil
	}
	due.isExact = err == nil
	return err
}

// heldLease is the row of a lease that was not lost.
type heldLease struct {
	id, tenant, due int64
	pokedMeanwhile  bool // since it was claimed
	attempts        int
	failed, taken   string
	open            bool
	wake            int64
}

func (t *workTable) findLease(l Lease) (h heldLease, ok bool, err error) {
	err = t.selectLease.QueryRowContext(
		context.Background(),
		l.Key,
		l.Token,
	).Scan(
		&h.id,
		&h.tenant,
		&h.due,
		&h.pokedMeanwhile,
		&h.attempts,
		&h.failed,
		&h.open,
		&h.taken,
		&h.wake,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return heldLease{}, false, nil
	}
	return h, err == nil, err
}

func (t *workTable) renewLeases(until int64, leases []Lease) (lost []Lease, err error) {
	for _, l := range leases {
		h, ok, err := t.findLease(l)
		if err != nil {
			return nil, err
		}
		if !ok {
			lost = append(lost, l)
			continue
		}
		if _, err := t.updateLeaseEnd.ExecContext(context.Background(), until, h.id); err != nil {
			return nil, err
		}
		t.turns.noteDueMoved(h.tenant, liveQueue, h.due, until)
	}
	return lost, nil
}

func (t *workTable) completeOne(l Lease, o Completion) (ours bool, err error) {
	h, ok, err := t.findLease(l)
	if err != nil || !ok {
		return false, err
	}
	if o.Gone && !h.pokedMeanwhile {
		return true, t.deleteKey(h)
	}
	due, backlog := ceilMicros(o.Wake), int64(neverDue)
	switch {
	case h.pokedMeanwhile:
		due = ceilMicros(o.Now)
	case o.Backlog:
		due, backlog = ceilMicros(o.LiveDue), due
	}
	after := h
	switch {
	case o.Failed != "":
		after.attempts, after.failed = h.attempts+1, o.Failed
	case !o.Keep:
		after.attempts, after.failed, after.taken, after.wake = 0, "", "", ceilMicros(o.Wake)
	}
	after.open = o.Open || h.open && o.Sight == nil
	if o.Sight != nil {
		if _, err := t.replaceSight.ExecContext(context.Background(), h.id, o.Sight); err != nil {
			return false, err
		}
	}
	seen := floorMicros(o.Now)
	if seen <= t.lastSeen && t.lastSeen-seen < int64(time.Second/time.Microsecond) {
		seen = t.lastSeen + 1 // so that a page of a list ends between two keys
	}
	if _, err := t.updateCompleted.ExecContext(
		context.Background(), due, backlog, after.wake, after.attempts, after.failed, after.taken, seen, after.open, h.id,
	); err != nil {
		return false, err
	}
	t.lastSeen = max(t.lastSeen, seen)
	t.recountKey(h, after)
	t.turns.noteDueMoved(h.tenant, liveQueue, h.due, due)
	t.turns.noteDueMoved(h.tenant, backlogQueue, neverDue, backlog)
	return true, nil
}

func (t *workTable) deleteKey(h heldLease) error {
	if _, err := t.deleteWork.ExecContext(context.Background(), h.id); err != nil {
		return err
	}
	if _, err := t.deleteSight.ExecContext(context.Background(), h.id); err != nil {
		return err
	}
	t.recountKey(h, heldLease{})
	t.addKeys(h.tenant, -1)
	t.turns.noteDueMoved(h.tenant, liveQueue, h.due, neverDue)
	return nil
}

// recountKey updates the totals for a key that was before and is now after.
func (t *workTable) recountKey(before, after heldLease) {
	t.totals.open += boolToInt(after.open) - boolToInt(before.open)
	t.totals.failing += boolToInt(after.attempts > 0) - boolToInt(before.attempts > 0)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *workTable) dropTenant(tenant int64) error {
	for _, history := range []string{`DELETE FROM heard WHERE tenant = ?`, `DELETE FROM signs WHERE tenant = ?`} {
		if err := t.exec(history, tenant); err != nil {
			return err
		}
	}
	var keys, open, failing int
	if err := t.queryRow(`SELECT count(*), coalesce(sum(open), 0), coalesce(sum(attempts > 0), 0) FROM work WHERE tenant = ?`, tenant).
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
	t.addKeys(tenant, -keys)
	t.turns.editTurn(tenant).first = nothingDue
	return nil
}

func (t *workTable) pruneOldDeliveries(before int64, limit int) (int, error) {
	r, err := t.pruneDeliveries.ExecContext(context.Background(), before, limit)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	t.totals.accepted -= n
	return int(n), err
}
