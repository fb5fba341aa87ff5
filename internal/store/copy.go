package store

// A store copied into another one, of either kind. Both are walked in the order of their keys, page by page, and what differs
// is written. That is why a copy that was cut short goes on where it was, and why a second one brings only what has changed:
// what stands in the target tells how far it is.
//
// A copy is finished only if no coordinator used its source meanwhile. Until then no coordinator opens the target.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A CopyEnd names a store to be copied from or to.
type CopyEnd struct {
	File string // of SQLite
	URL  string // of PostgreSQL, where File is ""
}

// CopyOptions are options of Copy.
type CopyOptions struct {
	Now      time.Time          // keys that are leased are due then, at the latest
	Progress func(CopyProgress) // told after each page; may be nil

	pageRows int // for tests; 0: 1,000
}

// CopyProgress says how far a copy is.
type CopyProgress struct {
	Noun        string // what is copied: "key", "delivery", "answer" or "sign"
	Read, About int64
}

// Copied says what a copy did.
type Copied struct {
	From, To string           // without passwords
	Finished bool             // nobody used the source: all that it held is in the target, and a coordinator may use that
	Rows     map[string]int64 // that the target holds, by the noun of [CopyProgress]
	Changed  int64            // rows that were written or deleted: what was new, or was not so before
	LeftOut  int64            // rows of history whose names PostgreSQL cannot hold
}

// Errors of [Copy] that say what the caller does next, beside those of opening a store.
var (
	ErrSameStore  = errors.New("it is to be copied into itself")
	ErrTargetFull = errors.New("it holds rows of its own")
	ErrOtherCopy  = errors.New("it holds a copy of another store")
	ErrOlder      = errors.New("an older coordinator wrote it")
)

// Copy makes a store hold what another one holds, and deletes from it what that does not hold. Nobody waits for it: the source
// may be in use, and then the copy is a first one, not finished, which the next one brings up to date. Leases are not copied:
// their keys are due. No token that the source gave is given by the target. The target is empty before, or holds an earlier copy
// of this source, which no coordinator has opened.
func Copy(ctx context.Context, from, to CopyEnd, o CopyOptions) (c Copied, err error) {
	if o.pageRows == 0 {
		o.pageRows = 1000
	}
	source, err := openCopySource(ctx, from, o.Now)
	if err != nil {
		return c, fmt.Errorf("copy from %s: %w", from.kind(), err)
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openCopyTarget(ctx, to, source.name, o.Now)
	if err != nil {
		return c, fmt.Errorf("copy to %s: %w", to.kind(), err)
	}
	defer func() { err = errors.Join(err, target.close()) }()
	work := &copier{source: source, target: target, options: o}
	work.copied = Copied{From: source.name, To: target.name, Rows: map[string]int64{}}
	if err := work.copyAll(ctx); err != nil {
		return c, fmt.Errorf("copy %s to %s: %w", source.name, target.name, err)
	}
	return work.copied, nil
}

// kind is what the errors of opening it call it.
func (e CopyEnd) kind() string {
	if e.File != "" {
		return e.File
	}
	return "PostgreSQL" // the URL may hold a password
}

// A copier is a copy at work.
type copier struct {
	source, target *copyEnd
	options        CopyOptions
	copied         Copied
}

func (c *copier) copyAll(ctx context.Context) error {
	if err := c.target.beginCopy(ctx, c.source.name); err != nil {
		return err
	}
	for _, t := range copyTables() {
		if err := c.copyTable(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	last, err := c.source.lastToken(ctx)
	if err != nil {
		return fmt.Errorf("read the newest token: %w", err)
	}
	if err := c.target.continueAfter(ctx, last); err != nil {
		return fmt.Errorf("continue its counters: %w", err)
	}
	for _, t := range copyTables() {
		if c.copied.Rows[t.noun], err = c.target.countRows(ctx, t); err != nil {
			return err
		}
	}
	if !c.source.isAlone {
		return nil
	}
	if err := c.checkCounts(ctx); err != nil {
		return err
	}
	c.copied.Finished = true
	return c.target.finishCopy(ctx)
}

// checkCounts refuses a copy of which rows are missing, although nobody wrote the source meanwhile.
func (c *copier) checkCounts(ctx context.Context) error {
	var held, holds int64
	for _, t := range copyTables() {
		n, err := c.source.countRows(ctx, t)
		if err != nil {
			return err
		}
		held += n
		holds += c.copied.Rows[t.noun]
	}
	if held != holds+c.copied.LeftOut { // unreachable unless somebody else writes
		return fmt.Errorf("the source holds %d rows and the copy %d: it is not finished", held, holds)
	}
	return nil
}

// copyTable walks a table of both stores, and makes the target's as the source's.
func (c *copier) copyTable(ctx context.Context, t copyTable) error {
	about, err := c.source.countRows(ctx, t)
	if err != nil {
		return err
	}
	from := &copyReader{end: c.source, table: t, pageRows: c.options.pageRows, isForPostgres: c.target.isPostgres}
	to := &copyReader{end: c.target, table: t, pageRows: c.options.pageRows}
	var differ copyChanges
	for read := int64(0); ; {
		is, err := from.peekRow(ctx)
		if err != nil {
			return err
		}
		was, err := to.peekRow(ctx)
		if err != nil {
			return err
		}
		if is == nil && was == nil {
			break
		}
		order := t.compareKeys(is, was)
		switch {
		case order > 0:
			differ.gone = append(differ.gone, was)
		case order < 0 || !slices.Equal(is, was):
			differ.changed = append(differ.changed, is)
		}
		if order <= 0 {
			from.dropRow()
			if read++; read%int64(c.options.pageRows) == 0 {
				c.tellProgress(t, read, about)
			}
		}
		if order >= 0 {
			to.dropRow()
		}
		if differ.count() >= c.options.pageRows {
			if err := c.writeChanges(ctx, t, differ); err != nil {
				return err
			}
			differ = copyChanges{}
		}
	}
	c.copied.LeftOut += from.leftOut
	return c.writeChanges(ctx, t, differ)
}

func (c *copier) tellProgress(t copyTable, read, about int64) {
	if c.options.Progress != nil {
		c.options.Progress(CopyProgress{Noun: t.noun, Read: read, About: max(read, about)})
	}
}

// copyChanges are rows by which the two stores differ.
type copyChanges struct {
	changed []copyRow // as the source has them
	gone    []copyRow // that the source has no more
}

func (d copyChanges) count() int { return len(d.changed) + len(d.gone) }

// writeChanges writes what differs, in one transaction.
func (c *copier) writeChanges(ctx context.Context, t copyTable, d copyChanges) (err error) {
	if d.count() == 0 {
		return nil
	}
	old := slices.Concat(d.changed, d.gone)
	var sights map[int64][]byte
	if t.hasSights {
		// Row and sight are read at once: of two reads the later one may know a look that the earlier one does not.
		if d.changed, sights, err = c.source.readWithSights(ctx, t, d.changed, c.target.isPostgres); err != nil {
			return err
		}
	}
	tx, err := c.target.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	w := copyWriter{end: c.target, tx: tx, table: t}
	if err := w.replaceRows(ctx, old, d.changed, sights); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	c.copied.Changed += int64(len(old))
	return nil
}
