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
	queued  = 1024 // operations that wait for the writer
	batched = 256  // operations in one transaction: the last one waits for all of them
)

// An op is an operation on the table. It may be done twice, if the first time was taken back.
type op struct {
	ctx     context.Context
	durable bool
	do      func(*table) error
	done    chan error
}

// ask has an operation done and returns when it is committed, and durable: a loss of power does not undo it. Unless it
// returns nil, do may still be running: nothing that it writes may be read.
func (s *SQLite) ask(ctx context.Context, what string, do func(*table) error) error {
	return s.have(&op{ctx: ctx, durable: true, do: do, done: make(chan error, 1)}, what)
}

// note has an operation done that a loss of power may undo, with all that were noted after it: no end of the process does,
// and it is durable as soon as anything later is. It is for what a look takes and leaves: undone, the look is made again.
func (s *SQLite) note(ctx context.Context, what string, do func(*table) error) error {
	return s.have(&op{ctx: ctx, do: do, done: make(chan error, 1)}, what)
}

func (s *SQLite) have(o *op, what string) error {
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
		return wrap(what, err)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case <-s.gone:
	}
	select {
	case err := <-o.done: // it was done just before the end
		return wrap(what, err)
	default:
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
}

func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// write does operations until it is told to quit, and then those that are already there.
func (s *SQLite) write() {
	defer close(s.gone)
	for {
		select {
		case o := <-s.ops:
			s.commit(s.gather(o))
		case <-s.quit:
			select {
			case o := <-s.ops:
				s.commit(s.gather(o))
			default:
				return
			}
		}
	}
}

// How long others may ask first: a turn of all who can run, or several that are short. If a turn is long somebody computes,
// and for some time nobody is waited for.
const (
	gathers  = time.Millisecond
	longTurn = 8 * time.Millisecond
	hurry    = 200 * time.Millisecond
)

// gather takes what waits together with the first. Whoever can ask now does so first: one commit serves them all.
func (s *SQLite) gather(first *op) []*op {
	batch, began := []*op{first}, time.Now()
	now := began
	for yielded := 0; len(batch) < batched; {
		select {
		case o := <-s.ops:
			batch, yielded = append(batch, o), 0
		default:
			if yielded++; yielded > 2 || now.Sub(began) > gathers || now.Before(s.hurried) {
				return batch
			}
			before := now
			runtime.Gosched()
			if now = time.Now(); now.Sub(before) > longTurn {
				s.hurried = now.Add(hurry)
			}
		}
	}
	return batch
}

// commit does a batch in one transaction. If that fails, each operation gets one of its own: what one of them asks must not
// be another's error.
func (s *SQLite) commit(batch []*op) {
	batch = slices.DeleteFunc(batch, func(o *op) bool {
		if o.ctx.Err() == nil {
			return false
		}
		o.done <- o.ctx.Err() // nobody waits for it any more
		return true
	})
	if len(batch) == 0 {
		return
	}
	if err := s.ready(); err != nil {
		s.complain(err)
		for _, o := range batch {
			o.done <- err
		}
		return
	}
	err := s.transact(batch)
	switch {
	case err != nil && len(batch) > 1:
		for _, o := range batch {
			s.commit([]*op{o})
		}
	case err != nil:
		s.complain(err)
		batch[0].done <- err
	default:
		for _, o := range batch {
			o.done <- nil
		}
		s.fold()
	}
}

// quiet is how long a fault of the disk, which strikes everything, is not logged again.
const quiet = 10 * time.Second

// complain logs a fault, and how many there were since the line before.
func (s *SQLite) complain(err error) {
	s.mu.Lock()
	s.broken = err
	s.mu.Unlock()
	s.muted++
	if now := time.Now(); !now.Before(s.mute) {
		s.log.Error("the table cannot be written", "operations", s.muted, "err", err)
		s.muted, s.mute = 0, now.Add(quiet)
	}
}

// changes counts what was ever written on the connection.
func (t *table) changes() (n int64, err error) {
	return n, t.row("SELECT total_changes()").Scan(&n)
}

// ready makes sure that what will be written can be read again.
func (s *SQLite) ready() error {
	if err := s.there(); err != nil {
		return err
	}
	return s.table.whole()
}

// folded is how many commits stand in the log until it is folded into the file.
const folded = 64

// fold folds the log into the file now and then. SQLite would do so by itself, but tell nobody if it fails.
func (s *SQLite) fold() {
	t := s.table
	if t.unfolded++; t.unfolded < folded {
		return
	}
	t.unfolded = 0
	err := s.fault("fold")
	if err == nil {
		err = t.exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	t.torn = t.torn || err != nil
}

// transact does operations in one transaction, all or none.
func (s *SQLite) transact(batch []*op) (err error) {
	if err := s.fault("begin"); err != nil {
		return err
	}
	if err := s.table.sync(slices.ContainsFunc(batch, func(o *op) bool { return o.durable })); err != nil {
		return err
	}
	ailing := s.Wrote() != nil // then only what writes shows that it works again: not every operation does
	var before, after int64
	if ailing {
		if before, err = s.table.changes(); err != nil {
			return err
		}
	}
	if err := s.table.do(s.table.begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.table.takeBack()
		}
	}()
	for _, o := range batch {
		if err := o.do(s.table); err != nil {
			return err
		}
	}
	if ailing {
		if after, err = s.table.changes(); err != nil {
			return err
		}
	}
	if err = s.fault("commit"); err == nil {
		err = s.table.do(s.table.commit)
	}
	if err != nil {
		s.table.torn = true
		return err
	}
	s.table.keep()
	s.mu.Lock()
	s.totals = s.table.totals
	if after != before {
		s.broken = nil
	}
	s.mu.Unlock()
	return nil
}

// Accept makes a delivery and the pokes that it causes durable.
func (s *SQLite) Accept(ctx context.Context, d Delivery, pokes ...Poke) (bool, error) {
	if d.ID == "" {
		return false, errors.New("accept delivery: it has no ID")
	}
	if err := checkPokes(pokes); err != nil {
		return false, fmt.Errorf("accept delivery: %w", err)
	}
	pokes = slices.Clone(pokes)
	var fresh bool
	err := s.ask(ctx, "accept delivery", func(t *table) (err error) {
		fresh, err = t.accept(d, pokes)
		return err
	})
	if err != nil {
		return false, err
	}
	return fresh, nil
}

// Poke asks for looks.
func (s *SQLite) Poke(ctx context.Context, pokes ...Poke) error {
	if err := checkPokes(pokes); err != nil {
		return fmt.Errorf("poke: %w", err)
	}
	pokes = slices.Clone(pokes)
	return s.ask(ctx, "poke", func(t *table) error { return t.pokeAll(pokes) })
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
	if floor(c.Until) <= floor(c.Now) {
		return nil, fmt.Errorf("claim: leases would run out at %v, and it is %v", c.Until, c.Now)
	}
	c.Except, c.Most = slices.Clone(c.Except), maps.Clone(c.Most)
	var work []Work
	err := s.note(ctx, "claim", func(t *table) (err error) {
		work, err = t.claim(c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return work, nil
}

// Next is the earliest moment at which Claim would have something.
func (s *SQLite) Next(ctx context.Context, except []int64) (time.Time, error) {
	not := setOf(except)
	var next time.Time
	err := s.note(ctx, "find next", func(t *table) (err error) {
		next, err = t.next(not)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return next, nil
}

func setOf(tenants []int64) map[int64]bool {
	set := make(map[int64]bool, len(tenants))
	for _, t := range tenants {
		set[t] = true
	}
	return set
}

// Renew prolongs leases.
func (s *SQLite) Renew(ctx context.Context, until time.Time, leases ...Lease) ([]Lease, error) {
	leases = slices.Clone(leases)
	var lost []Lease
	err := s.note(ctx, "renew leases", func(t *table) (err error) {
		lost, err = t.renew(ceil(until), leases)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

// Complete ends a lease.
func (s *SQLite) Complete(ctx context.Context, l Lease, o Outcome) (bool, error) {
	var ours bool
	err := s.note(ctx, "complete", func(t *table) (err error) {
		ours, err = t.completeOne(l, o)
		return err
	})
	if err != nil {
		return false, err
	}
	return ours, nil
}

// Drop forgets all keys of a tenant.
func (s *SQLite) Drop(ctx context.Context, tenant int64) error {
	return s.ask(ctx, "drop tenant", func(t *table) error { return t.drop(tenant) })
}

// Prune forgets deliveries.
func (s *SQLite) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	var pruned int
	err := s.note(ctx, "prune deliveries", func(t *table) (err error) {
		pruned, err = t.prune(floor(before), limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return pruned, nil
}
