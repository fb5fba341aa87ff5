//go:build !action

package main

// coordinator store copy: the daemon's database, copied into another one, of another kind too.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/review-coordinator/coordinator/internal/store"
)

type storeCommands struct {
	Copy storeCopyCmd `cmd:"" help:"Copy the database of serve into another one, to move there."`
}

type storeCopyCmd struct {
	From string `placeholder:"URL" required:"" help:"The database that serve has: sqlite://PATH or postgres://USER@HOST/NAME."`
	To   string `placeholder:"URL" required:"" help:"An empty one, or an earlier copy of the same."`
	JSON bool   `                              help:"Print what the copy holds as JSON."                                        name:"json"`
}

// Help is shown by coordinator store copy --help.
func (storeCopyCmd) Help() string {
	return `Moves an installation from SQLite to PostgreSQL, or back. Run it while the daemon serves: that copies nearly all, and no delivery
waits for it. Then stop the daemon, and run the same again: it brings what has changed since, and says that the copy is
finished. Then start the daemon with the new --database. It refuses a copy that is not finished, so that a step left out
loses nothing. What is cut short goes on where it was when it is run again.

Everything is copied that the daemon knows: keys and what was seen of them, what is due, deliveries, answers and signs.
Leases are not: what a worker had is due. The source is left as it is.

Run it as the daemon's user. A password stands better in PGPASSWORD or ~/.pgpass than in the address.

Examples:

  coordinator store copy --from sqlite:///var/lib/review-coordinator/coordinator.db --to postgres://coordinator@db/coordinator
  coordinator store copy --from postgres://coordinator@db/coordinator --to sqlite://coordinator.db --json`
}

// Run makes the copy.
func (cmd storeCopyCmd) Run(ctx context.Context, c *command) error {
	from, noSource := parseCopyAddress("--from", cmd.From)
	to, noTarget := parseCopyAddress("--to", cmd.To)
	if err := joinMistakes(noSource, noTarget); err != nil {
		return err
	}
	var told time.Time
	made, err := store.Copy(ctx, from, to, store.CopyOptions{
		Now: time.Now(),
		Progress: func(p store.CopyProgress) {
			if time.Since(told) >= time.Second {
				told = time.Now()
				fmt.Fprintf(c.Stderr, "copying: %d of about %s\n", p.Read, countCopied(p.Noun, p.About))
			}
		},
	})
	if err != nil {
		return explainCopyError(ctx, err)
	}
	if cmd.JSON {
		return c.writeJSON(struct {
			From     string           `json:"from"`
			To       string           `json:"to"`
			Finished bool             `json:"finished"`
			Rows     map[string]int64 `json:"rows"`
			Changed  int64            `json:"changed"`
			LeftOut  int64            `json:"left_out"`
		}{made.From, made.To, made.Finished, made.Rows, made.Changed, made.LeftOut})
	}
	cmd.printCopied(c, made)
	return nil
}

func (storeCopyCmd) printCopied(c *command, made store.Copied) {
	var held []string
	for _, noun := range []string{"key", "delivery", "answer", "sign"} {
		held = append(held, countCopied(noun, made.Rows[noun]))
	}
	fmt.Fprintf(
		c.Stdout, "ok  copied     %s to %s\nok  contents   %s; %s new or changed\n",
		oneLine(made.From), oneLine(made.To), strings.Join(held, ", "), countCopied("row", made.Changed),
	)
	if made.LeftOut > 0 {
		c.printWarning(countCopied("row", made.LeftOut) + " of history left out, whose names are no text that PostgreSQL takes")
	}
	if made.Finished {
		fmt.Fprintln(c.Stdout, "ok  complete   nobody used the source: start the daemon on the copy, and on the source no more")
		return
	}
	c.printWarning("the copy is not finished: a coordinator uses the source. Stop it and run the same again, which brings what has changed")
}

// countCopied is a number of things for people.
func countCopied(noun string, n int64) string {
	if noun == "delivery" {
		return countDeliveries(n)
	}
	return countNoun(int(n), noun)
}

// parseCopyAddress parses the address of a store, which a flag holds.
func parseCopyAddress(flag, address string) (store.CopyEnd, error) {
	const hint = "write it as sqlite://PATH or postgres://USER@HOST/NAME"
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		return store.CopyEnd{URL: address}, nil
	}
	if !strings.HasPrefix(address, "sqlite://") { // not quoted: it may hold a password
		return store.CopyEnd{}, usageError(errors.New(flag+" is no address that is known"), hint)
	}
	file, err := parseDatabaseURL(address)
	if err != nil {
		var said *exitError
		errors.As(err, &said)
		return store.CopyEnd{}, usageError(fmt.Errorf("%s: %w", flag, err), said.hint)
	}
	return store.CopyEnd{File: file}, nil
}

// explainCopyError adds what helps.
func explainCopyError(ctx context.Context, err error) error {
	var refused *pgconn.PgError
	var unreachable *pgconn.ConnectError
	var address *pgconn.ParseConfigError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("copy: %w", ctx.Err())
	case errors.Is(err, store.ErrSameStore):
		return usageError(err, "--to names another database than --from")
	case errors.Is(err, store.ErrTargetFull):
		return usageError(err, "a daemon has used it: choose a new file, database or schema, or empty that one first")
	case errors.Is(err, store.ErrOtherCopy):
		return usageError(err, "name the source as before, or choose a new file, database or schema")
	case errors.Is(err, store.ErrUnfinishedCopy):
		return usageError(err, "finish it first, or copy from where it comes")
	case errors.Is(err, store.ErrForeignDatabase), errors.Is(err, store.ErrNoDatabase):
		return usageError(err, "does the address name the daemon's database? Another program's was left as it is")
	case errors.Is(err, store.ErrInUse), errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrOlder): // they say it themselves
		return usageError(err, "")
	case errors.As(err, &address):
		return usageError(err, "write it as postgres://USER@HOST/NAME; a password stands in PGPASSWORD or ~/.pgpass")
	case errors.As(err, &unreachable):
		return hintedError(err, "is the server there, does it take this user and password, and is there such a database? What was copied is kept")
	case errors.As(err, &refused):
		return hintedError(err, "the user needs all rights in its schema. What was copied is kept: run it again")
	case errors.Is(err, fs.ErrNotExist):
		return usageError(err, "--from names a file that is there")
	case errors.Is(err, fs.ErrPermission):
		return usageError(err, "run it as the daemon's user")
	}
	return hintedError(err, "what was copied is kept: run it again, and it goes on")
}
