//go:build !action

package main

// coordinator backup: a copy of the daemon's database while the daemon runs.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/review-coordinator/coordinator/internal/store"
)

type backupCmd struct {
	File     string `arg:""            help:"The new file, on any disk with room."`
	Database string `placeholder:"URL" help:"The daemon's database: sqlite://PATH. Default DATABASE_URL, else sqlite://review-coordinator.db."`
	Force    bool   `                  help:"Replace a file that is there."`
	JSON     bool   `                  help:"Print what the copy holds as JSON."                                                               name:"json"`
}

// Help is shown by coordinator backup --help.
func (backupCmd) Help() string {
	return `Copies the database of coordinator serve while that runs, and waits for nothing: what the daemon answered with 202 before it
began is in the copy. The copy is one file that only you can read. It is checked, and then gets its name: after a crash
there is no half of it. docs/daemon.md shows how to restore it. Nobody needs a backup: without its database the daemon
reads everything from GitHub again, and decides the same.

Run it as the daemon's user, or as root.

Examples:

  coordinator backup /backup/coordinator.db --database sqlite:///var/lib/review-coordinator/coordinator.db
  coordinator backup /backup/coordinator.db --force --json`
}

// Run makes the copy.
func (cmd backupCmd) Run(ctx context.Context, c *command) error {
	address := cmp.Or(cmd.Database, c.Getenv("DATABASE_URL"), "sqlite://review-coordinator.db")
	if isPostgresURL(address) {
		return usageError(
			errors.New("coordinator backup copies SQLite's file, and this is a PostgreSQL server"),
			"pg_dump --format=custom --file FILE DATABASE copies it, and pg_restore restores it",
		)
	}
	from, err := parseDatabaseURL(address)
	if err != nil {
		return err
	}
	made, err := store.BackUpSQLite(ctx, from, cmd.File, store.BackupOptions{
		Replace: cmd.Force,
		Progress: func(done, about uint64) {
			fmt.Fprintf(c.Stderr, "copying: %s of about %s\n", sizeText(done), sizeText(about))
		},
	})
	if err != nil {
		return explainBackupError(ctx, err)
	}
	if cmd.JSON {
		return c.writeJSON(struct {
			File   string           `json:"file"`
			Bytes  int64            `json:"bytes"`
			Schema int64            `json:"schema"`
			Rows   map[string]int64 `json:"rows"`
		}{cmd.File, made.Bytes, made.Schema, made.Rows})
	}
	fmt.Fprintf(
		c.Stdout, "ok  backup     %s, %s\nok  contents   %s, %s, %s; no damage found\n",
		oneLine(cmd.File), sizeText(uint64(max(made.Bytes, 0))), countNoun(int(made.Rows["work"]), "row")+" of work",
		countDeliveries(made.Rows["deliveries"]), countNoun(int(made.Rows["heard"]), "answer"),
	)
	return nil
}

func countDeliveries(n int64) string {
	if n == 1 {
		return "1 delivery"
	}
	return fmt.Sprintf("%d deliveries", n)
}

// sizeText is a size for people.
func sizeText(bytes uint64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%d KB", (bytes+1023)>>10)
	case bytes < 10<<30:
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%d GB", bytes>>30)
}

// explainBackupError adds what helps.
func explainBackupError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("back up: %w", ctx.Err())
	case errors.Is(err, store.ErrBackupExists):
		return usageError(err, "choose another name, or replace it with --force")
	case errors.Is(err, store.ErrBackupPlace):
		return usageError(err, "choose another name, or remove what lies there")
	case errors.Is(err, store.ErrNewer):
		return usageError(err, "the version of a daemon that runs stands in its log and on its dashboard")
	case errors.Is(err, store.ErrForeignDatabase), errors.Is(err, store.ErrNoDatabase):
		return usageError(err, "does --database or DATABASE_URL name the daemon's file? Nothing was written")
	case errors.Is(err, store.ErrBackupBroken):
		return hintedError(err, "stop the daemon and move its database away: it begins a new one, and only time is lost")
	case errors.Is(err, fs.ErrNotExist):
		return usageError(err, "both must be there: the database, which --database or DATABASE_URL names, and the folder of the copy")
	case errors.Is(err, fs.ErrPermission):
		return usageError(err, "run it as the daemon's user or as root, into a folder that this user may write")
	}
	return hintedError(err, "is there room on the disk? Nothing stands under the copy's name")
}
