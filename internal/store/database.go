package store

// The store in a database: the goroutines that write, and how others ask them to.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options are options of OpenSQLite and OpenPostgres.
type Options struct {
	Log *slog.Logger // nil: nothing is logged

	// Fleeting turns fsync off, in SQLite. A loss of power may damage the file.
	Fleeting bool
	// KeepDamaged has a damaged SQLite file reported and not moved away.
	KeepDamaged bool

	// Replica names this process among those that share a PostgreSQL database; no two have one name. Each works for a
	// part of the tenants, so that the budget of a tenant is known by one. "": this process works for all.
	Replica string
	// Lost is called when others may take this process for gone: what it has claimed until then may be theirs. It must
	// not wait; it may be nil.
	Lost func()
}

// A Database is a [Store] in a SQLite file, which one process uses at a time, or in a PostgreSQL database, which
// several use. Leases in PostgreSQL outlive the process that took them: another one claims its keys once they have
// run out. Times are the caller's, so that the clocks of those who share a database must agree to two seconds.
//
// Operations that write wait in a queue. The goroutines that write take those that came in while the database was busy
// with the transactions before, and commit them together: that is why thousands of deliveries a second can each wait
// for the disk.
type Database struct {
	log      *slog.Logger
	isShared bool // with other processes: what is read must be locked before it is changed
	backend  backend
	reader   session
	replica  *lifeline    // nil: this process works for all
	claimed  atomic.Int64 // when it was claimed last, by the caller's clock
	answers  *Answers     // nil: none were asked for
	Damaged  string       // where a damaged SQLite file was moved, in whose place an empty one was begun; "": none was

	queue    chan *op
	claims   chan *op // on PostgreSQL: a claim waits for other replicas, and nothing must wait with it
	writers  sync.WaitGroup
	closing  sync.RWMutex // held while an operation enters the queue
	isClosed bool
	faults   faultWatch
}

var _ Store = (*Database)(nil)

// A backend is what differs between the two databases.
type backend interface {
	// runTransaction runs a transaction, and reports whether it changed anything.
	runTransaction(names []string, do func(tx session) error) (changed bool, err error)
	// tidyUp does what may wait until those who wait for a commit have their answer.
	tidyUp()
	// closeAll closes it; isDamaged: the next process must not use it.
	closeAll(isDamaged bool) error
}

// An op is an operation that writes. It is made anew if a transaction came to nothing: nothing of the first time
// counts then.
type op struct {
	ctx        context.Context
	names      []string // of what it writes, so that no two transactions wait for each other
	statements []statement
	delivery   AcceptedDelivery                            // whose insertion is its only statement, if it has an ID
	pokes      []Poke                                      // unless the delivery is known
	apply      func(ctx context.Context, tx session) error // of a claim; nil: nothing
	wrote      int                                         // rows, as far as its statements add them to it
	done       chan error
}

const (
	maxQueuedOps    = 1024 // operations that wait
	maxBatchOps     = 256  // operations in one transaction: the last one waits for all of them
	postgresWriters = 4    // transactions at once, besides that of claims
)

func newDatabase(o Options) *Database {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Database{log: o.Log}
}

// startWriters starts the goroutines that write.
func (s *Database) startWriters(count int) {
	s.queue = s.startQueue(count)
	s.claims = s.queue
	if s.isShared {
		s.claims = s.startQueue(1)
	}
}

// startQueue makes a queue with goroutines that write what is in it.
func (s *Database) startQueue(writers int) chan *op {
	queue := make(chan *op, maxQueuedOps)
	for range writers {
		s.writers.Go(func() {
			for o := range queue {
				s.commitBatch(gatherBatch(o, queue))
			}
		})
	}
	return queue
}

// Wrote returns the error of the last transaction that had something to write; nil if it was committed.
func (s *Database) Wrote() error {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return s.faults.writeErr
}

// Close waits for the operations that were submitted before it, and closes the database. One that hangs is left as it
// is, for the end of the process.
func (s *Database) Close() error {
	if err := s.Hopeless(); errors.Is(err, errHangs) {
		return err
	}
	if s.answers != nil {
		s.answers.close()
	}
	s.closing.Lock()
	wasClosed := s.isClosed
	s.isClosed = true
	s.closing.Unlock()
	if wasClosed {
		return nil
	}
	close(s.queue)
	if s.isShared {
		close(s.claims)
	}
	s.writers.Wait()
	if s.replica != nil {
		s.replica.stop() // others take over what this process still has
		s.replica.running.Wait()
	}
	return s.backend.closeAll(isDamage(s.Hopeless()))
}

// submitOp submits an operation and returns when it is committed, with the rows that it wrote. Unless the error is nil,
// the operation may still be running: nothing that it writes may be read.
func (s *Database) submitOp(ctx context.Context, what string, o *op) (wrote int, err error) {
	o.ctx, o.done = ctx, make(chan error, 1)
	if err = s.enterQueue(ctx, o); err == nil {
		select {
		case err = <-o.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return o.wrote, nil
}

func (s *Database) enterQueue(ctx context.Context, o *op) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.isClosed {
		return ErrClosed
	}
	queue := s.queue
	if o.apply != nil {
		queue = s.claims
	}
	select {
	case queue <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readRows runs statements that only read.
func (s *Database) readRows(ctx context.Context, what string, statements ...statement) error {
	err := ctx.Err()
	if err == nil {
		err = s.reader.runStatements(ctx, statements...)
		if ctx.Err() == nil {
			s.faults.noteResult(err)
		}
	}
	return s.explainError(what, err)
}

// Hopeless returns why only a restart, or an empty file, can help; nil if the database may heal by itself, as a full disk does
// once there is room, and a server of PostgreSQL's once it is back.
func (s *Database) Hopeless() error {
	w := &s.faults
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.isShared:
	case errors.Is(w.writeErr, ErrReplaced):
		return w.writeErr
	case w.damage != nil: // whatever else could be read or written since
		return w.damage
	case !w.writing.IsZero() && time.Since(w.writing) >= hopelessTime:
		return errHangs
	case !w.badSince.IsZero() && time.Since(w.badSince) >= hopelessTime:
		return w.badErr
	}
	return nil
}

// explainError wraps an error; one that came because the store was closed is ErrClosed.
func (s *Database) explainError(what string, err error) error {
	if err == nil {
		return nil
	}
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.isClosed {
		err = ErrClosed
	}
	return fmt.Errorf("%s: %w", what, err)
}

// gatherBatch takes the operations that wait together with the first. Goroutines that can submit one now are let go
// first: one commit serves them all.
func gatherBatch(first *op, ops <-chan *op) []*op {
	batch := []*op{first}
	runtime.Gosched()
	for len(batch) < maxBatchOps {
		select {
		case o, isOpen := <-ops:
			if !isOpen {
				return batch
			}
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// commitBatch commits a batch in one transaction. If that fails by one of them, each gets a transaction of its own.
func (s *Database) commitBatch(batch []*op) {
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
	if !s.isShared {
		s.faults.noteWriting(time.Now())
		defer s.faults.noteWriting(time.Time{})
	}
	changed, err := s.commitOnce(batch)
	var said *pgconn.PgError // a server that has not answered has nothing to say of one of them
	if err != nil && len(batch) > 1 && (!s.isShared || errors.As(err, &said)) {
		for _, o := range batch {
			s.commitBatch([]*op{o})
		}
		return
	}
	s.faults.noteWrite(s.log, changed, err)
	for _, o := range batch {
		o.done <- err
	}
	s.backend.tidyUp()
}

// commitOnce applies operations in one transaction, all or none.
func (s *Database) commitOnce(batch []*op) (changed bool, err error) {
	var names []string
	for _, o := range batch {
		names = append(names, o.names...)
	}
	return s.backend.runTransaction(names, func(tx session) error {
		ctx := context.Background() // a transaction is not cut short
		var all []statement
		for _, o := range batch {
			for _, st := range o.statements {
				if st.wrote != nil {
					*st.wrote = 0
				}
			}
			all = append(all, o.statements...)
		}
		if err := tx.runStatements(ctx, all...); err != nil {
			return err
		}
		if err := applyPokes(ctx, tx, batch, s.isShared); err != nil {
			return err
		}
		for _, o := range batch { // on SQLite behind what is poked; on PostgreSQL alone, see claims
			if o.apply == nil {
				continue
			}
			if err := o.apply(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// A faultWatch knows how the database has fared. It may be used by several goroutines.
type faultWatch struct {
	mu       sync.Mutex
	writeErr error     // of the last transaction that had something to write; nil: it was committed
	badSince time.Time // since then nothing was read or written; zero: something was
	badErr   error     // the last fault since then
	damage   error     // that was found, and stays; nil: none was
	writing  time.Time // when the transaction of SQLite's one writer began; zero: there is none
	unlogged int       // faults since the last log line about one
	mutedTo  time.Time // no fault is logged before
}

const (
	faultLogPause = 10 * time.Second // at least, between two log lines: a fault of the disk strikes every operation
	hopelessTime  = time.Minute      // without anything that was read or written, or in one transaction
)

// errHangs says that a transaction does not end.
var errHangs = errors.New("the disk hangs: a transaction has not ended for a minute")

// noteWriting notes when a transaction began, or that it has ended.
func (w *faultWatch) noteWriting(since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = since
}

// noteResult notes how a read or a transaction ended.
func (w *faultWatch) noteResult(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isDamage(err) {
		w.damage = err
	}
	switch w.badErr = err; {
	case err == nil:
		w.badSince = time.Time{}
	case w.badSince.IsZero():
		w.badSince = time.Now()
	}
}

// noteWrite notes how a transaction ended, and logs why it failed, with the number of those since the line before. One
// that changes nothing does not show that writing works.
func (w *faultWatch) noteWrite(log *slog.Logger, changed bool, err error) {
	w.noteResult(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !changed {
		return
	}
	if w.writeErr = err; err == nil {
		return
	}
	w.unlogged++
	if now := time.Now(); !now.Before(w.mutedTo) {
		log.Error("our database cannot be written", "operations", w.unlogged, "err", err)
		w.unlogged, w.mutedTo = 0, now.Add(faultLogPause)
	}
}

// neverDue is the due time of a key that is not due by itself.
const neverDue = 1<<63 - 1

// floorMicros converts a time to the database's microseconds, rounded down: for what has happened.
func floorMicros(t time.Time) int64 { return t.UnixMicro() }

// ceilMicros converts a time to the database's microseconds, rounded up, so that nothing happens before it;
// neverDue if it is zero.
func ceilMicros(t time.Time) int64 {
	if t.IsZero() {
		return neverDue
	}
	return t.Add(time.Microsecond - 1).UnixMicro()
}

// timeOfMicros converts microseconds of the database to a time: zero for 0, which is no moment, and for neverDue.
func timeOfMicros(at int64) time.Time {
	if at == 0 || at == neverDue {
		return time.Time{}
	}
	return time.UnixMicro(at).UTC()
}
