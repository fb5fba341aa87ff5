package store

// The one goroutine that writes, and how others ask it to. The operations themselves stand in table.go.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"
)

const (
	maxQueuedOps = 1024 // operations that wait for the writer
	maxBatchOps  = 256  // operations in one transaction: the last one waits for all of them
)

// An op is an operation on the table. It may be applied twice, if the first time was rolled back.
type op struct {
	ctx     context.Context
	durable bool
	apply   func(*workTable) error
	done    chan error
}

// runDurably submits an operation and returns when it is committed and durable: a loss of power does not undo it.
// Unless it returns nil, the operation may still be running: nothing that it writes may be read.
func (s *SQLite) runDurably(ctx context.Context, what string, do func(*workTable) error) error {
	return s.submitOp(&op{ctx: ctx, durable: true, apply: do, done: make(chan error, 1)}, what)
}

// runLazily submits an operation that a loss of power may undo, together with all that were submitted so after it. No
// end of the process undoes it, and it is durable as soon as a later operation is. It is for the claim and the
// completion of a look: undone, the look is made again.
func (s *SQLite) runLazily(ctx context.Context, what string, do func(*workTable) error) error {
	return s.submitOp(&op{ctx: ctx, apply: do, done: make(chan error, 1)}, what)
}

// answer submits an operation that has an answer, by one of the two above. Whoever stops waiting gets no answer: the operation
// may still be writing it.
func answer[T any](ctx context.Context, run func(context.Context, string, func(*workTable) error) error, what string,
	do func(*workTable) (T, error),
) (T, error) {
	var given, none T
	err := run(ctx, what, func(t *workTable) (err error) {
		given, err = do(t)
		return err
	})
	if err != nil {
		return none, err
	}
	return given, nil
}

func (s *SQLite) submitOp(o *op, what string) error {
	ctx := o.ctx
	select {
	case <-s.quit:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case s.ops <- o:
	}
	select {
	case err := <-o.done:
		return wrapError(what, err)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case <-s.writerDone:
	}
	select {
	case err := <-o.done: // it was committed just before the end
		return wrapError(what, err)
	default:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
}

func wrapError(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// runWriter commits operations until it is told to quit, and then those that are already there.
func (s *SQLite) runWriter() {
	defer close(s.writerDone)
	for {
		select {
		case o := <-s.ops:
			s.commitBatch(s.gatherBatch(o))
		case <-s.quit:
			select {
			case o := <-s.ops:
				s.commitBatch(s.gatherBatch(o))
			default:
				return
			}
		}
	}
}

// Bounds of gatherBatch. gatherTime is enough for a turn of all goroutines that can run, or for several short turns. A
// yield that takes longYield shows that somebody computes: for noYieldTime the writer then waits for nobody.
const (
	gatherTime  = time.Millisecond
	longYield   = 8 * time.Millisecond
	noYieldTime = 200 * time.Millisecond
)

// gatherBatch takes the operations that wait together with the first. Goroutines that can submit one now are let go
// first: one commit serves them all.
func (s *SQLite) gatherBatch(first *op) []*op {
	batch, began := []*op{first}, time.Now()
	now := began
	for yielded := 0; len(batch) < maxBatchOps; {
		select {
		case o := <-s.ops:
			batch, yielded = append(batch, o), 0
		default:
			if yielded++; yielded > 2 || now.Sub(began) > gatherTime || now.Before(s.noYieldUntil) {
				return batch
			}
			before := now
			runtime.Gosched()
			if now = time.Now(); now.Sub(before) > longYield {
				s.noYieldUntil = now.Add(noYieldTime)
			}
		}
	}
	return batch
}

// commitBatch commits a batch in one transaction. If that fails, each operation gets one of its own: the fault of one
// must not be another's error.
func (s *SQLite) commitBatch(batch []*op) {
	batch = slices.DeleteFunc(batch, func(o *op) bool {
		if o.ctx.Err() == nil {
			return false
		}
		o.done <- o.ctx.Err() // its caller has stopped waiting
		return true
	})
	if len(batch) == 0 {
		return
	}
	if err := s.checkWritable(); err != nil {
		s.logFault(err)
		for _, o := range batch {
			o.done <- err
		}
		return
	}
	err := s.runTransaction(batch)
	switch {
	case err != nil && len(batch) > 1:
		for _, o := range batch {
			s.commitBatch([]*op{o})
		}
	case err != nil:
		s.logFault(err)
		batch[0].done <- err
	default:
		for _, o := range batch {
			o.done <- nil
		}
		s.foldLog()
	}
}

// faultLogPause is the least time between two log lines about faults of the disk, which strike every operation.
const faultLogPause = 10 * time.Second

// logFault logs a fault with the number of faults since the line before.
func (s *SQLite) logFault(err error) {
	s.mu.Lock()
	s.writeErr = err
	s.mu.Unlock()
	s.mutedFaults++
	if now := time.Now(); !now.Before(s.mutedUntil) {
		s.log.Error("our database cannot be written", "operations", s.mutedFaults, "err", err)
		s.mutedFaults, s.mutedUntil = 0, now.Add(faultLogPause)
	}
}

// totalChanges returns how many rows were ever written on the connection.
func (t *workTable) totalChanges() (n int64, err error) {
	return n, t.queryRow("SELECT total_changes()").Scan(&n)
}

// checkWritable checks, before a commit, that the next process will find what it writes.
func (s *SQLite) checkWritable() error {
	if err := s.checkFilesInPlace(); err != nil {
		return err
	}
	return s.table.recoverLog()
}

// commitsPerFold is the number of commits after which the log is folded into the file. The one after them waits for it:
// with a million keys hardly two commits write the same page, and each fold brings the pages of all of them to the disk.
const commitsPerFold = 16

// foldLog folds the log into the file after every commitsPerFold commits. SQLite could do so by itself, but would
// report no failure.
func (s *SQLite) foldLog() {
	t := s.table
	if t.commitsSinceFold++; t.commitsSinceFold < commitsPerFold {
		return
	}
	t.commitsSinceFold = 0
	err := s.injectFault("fold")
	if err == nil {
		err = t.exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	t.logSuspect = t.logSuspect || err != nil
}

// runTransaction applies operations in one transaction, all or none.
func (s *SQLite) runTransaction(batch []*op) (err error) {
	if err := s.injectFault("begin"); err != nil {
		return err
	}
	if err := s.table.setFullSync(slices.ContainsFunc(batch, func(o *op) bool { return o.durable })); err != nil {
		return err
	}
	ailing := s.Wrote() != nil // then only a transaction that changes rows shows that writing works again
	var before, after int64
	if ailing {
		if before, err = s.table.totalChanges(); err != nil {
			return err
		}
	}
	if err := s.table.execStatement(s.table.begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.table.undoChanges()
		}
	}()
	for _, o := range batch {
		if err := o.apply(s.table); err != nil {
			return err
		}
	}
	if ailing {
		if after, err = s.table.totalChanges(); err != nil {
			return err
		}
	}
	if err = s.injectFault("commit"); err == nil {
		err = s.table.execStatement(s.table.commit)
	}
	if err != nil {
		s.table.logSuspect = true
		return err
	}
	s.table.keepChanges()
	s.mu.Lock()
	s.totals = s.table.totals
	if after != before {
		s.writeErr = nil
	}
	s.mu.Unlock()
	return nil
}

// Accept makes a delivery and the pokes that it causes durable.
func (s *SQLite) Accept(ctx context.Context, d AcceptedDelivery, pokes ...Poke) (bool, error) {
	if d.ID == "" {
		return false, errors.New("accept delivery: it has no ID")
	}
	if err := checkPokes(pokes); err != nil {
		return false, fmt.Errorf("accept delivery: %w", err)
	}
	pokes = slices.Clone(pokes)
	return answer(ctx, s.runDurably, "accept delivery", func(t *workTable) (bool, error) { return t.acceptDelivery(d, pokes) })
}

// Poke asks for looks.
func (s *SQLite) Poke(ctx context.Context, pokes ...Poke) error {
	if err := checkPokes(pokes); err != nil {
		return fmt.Errorf("poke: %w", err)
	}
	pokes = slices.Clone(pokes)
	return s.runDurably(ctx, "poke", func(t *workTable) error { return t.pokeAll(pokes) })
}

func checkPokes(pokes []Poke) error {
	for _, p := range pokes {
		switch {
		case p.Key == "":
			return errors.New("a poke names no key")
		case p.Due.IsZero():
			return fmt.Errorf("a poke of %q has no due time", p.Key)
		}
	}
	return nil
}

// Claim leases what is due.
func (s *SQLite) Claim(ctx context.Context, c Claim) ([]Work, error) {
	if err := c.checkLease(); err != nil {
		return nil, err
	}
	c.Except, c.Most = slices.Clone(c.Except), maps.Clone(c.Most)
	c.Backlog.Except, c.Backlog.Most = slices.Clone(c.Backlog.Except), maps.Clone(c.Backlog.Most)
	return answer(ctx, s.runLazily, "claim", func(t *workTable) ([]Work, error) { return t.claimKeys(c) })
}

// Next returns the earliest moment at which Claim would have something that is not of the backlog.
func (s *SQLite) Next(ctx context.Context, except []int64) (time.Time, error) {
	return s.nextIn(ctx, liveQueue, except)
}

// NextBacklog returns the earliest moment at which Claim would have something of the backlog.
func (s *SQLite) NextBacklog(ctx context.Context, except []int64) (time.Time, error) {
	return s.nextIn(ctx, backlogQueue, except)
}

func (s *SQLite) nextIn(ctx context.Context, q queueKind, except []int64) (time.Time, error) {
	not := tenantSet(except)
	return answer(ctx, s.runLazily, "find next", func(t *workTable) (time.Time, error) { return t.nextDue(q, not) })
}

func tenantSet(tenants []int64) map[int64]bool {
	set := make(map[int64]bool, len(tenants))
	for _, t := range tenants {
		set[t] = true
	}
	return set
}

// Renew prolongs leases.
func (s *SQLite) Renew(ctx context.Context, until time.Time, leases ...Lease) ([]Lease, error) {
	leases = slices.Clone(leases)
	return answer(ctx, s.runLazily, "renew leases", func(t *workTable) ([]Lease, error) {
		return t.renewLeases(ceilMicros(until), leases)
	})
}

// Complete ends a lease.
func (s *SQLite) Complete(ctx context.Context, l Lease, o Completion) (bool, error) {
	return answer(ctx, s.runLazily, "complete", func(t *workTable) (bool, error) { return t.completeOne(l, o) })
}

// Retire does nothing: no other process claims.
func (s *SQLite) Retire(context.Context) error { return nil }

// Drop forgets all keys of a tenant.
func (s *SQLite) Drop(ctx context.Context, tenant int64) error {
	return s.runDurably(ctx, "drop tenant", func(t *workTable) error { return t.dropTenant(tenant) })
}

// Prune forgets deliveries.
func (s *SQLite) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	return answer(ctx, s.runLazily, "prune deliveries", func(t *workTable) (int, error) {
		return t.pruneOldDeliveries(floorMicros(before), limit)
	})
}
