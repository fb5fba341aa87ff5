package store

// What a store says about itself while it is a copy. A coordinator asks that when it opens one.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrUnfinishedCopy says that a store is a copy of which something is missing: no coordinator opens it.
var ErrUnfinishedCopy = errors.New("it is a copy that is not finished")

// takeCopyOver refuses a copy that is not finished. One that is finished is from now on a store like any other.
func takeCopyOver(ctx context.Context, db *sql.DB) error {
	var of string
	var finished int64
	switch err := db.QueryRowContext(ctx, "SELECT source, finished_at FROM copies").Scan(&of, &finished); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("ask whether it is a copy: %w", err)
	case finished == 0:
		return fmt.Errorf("%w, of %s: stop the coordinator that uses that one, and run coordinator store copy again, which brings the rest",
			ErrUnfinishedCopy, of)
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM copies"); err != nil {
		return fmt.Errorf("begin with a copy: %w", err)
	}
	return nil
}
