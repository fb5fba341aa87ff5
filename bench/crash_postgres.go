package main

// bench crash on PostgreSQL: a schema that the daemon has alone, and how soon the next one goes on where the killed one was.

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// leaseTime is how long what a daemon looks at is nobody else's, if that one says nothing.
const leaseTime = 30 * time.Second

// useSchema makes a schema on a server for the daemon's table. drop removes it.
func (l *soakRun) useSchema(ctx context.Context, server string) (drop func(), err error) {
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return nil, fmt.Errorf("use the database: %w", err)
	}
	address, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("use the database: %w", err)
	}
	schema := fmt.Sprintf("crash_%d", time.Now().UnixNano())
	config.RuntimeParams["search_path"] = schema
	db := stdlib.OpenDB(*config)
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("use the database: %w", err)
	}
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	l.database, l.postgres = address.String(), db
	return func() {
		_, _ = db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE") // one that is left is in nobody's way
		db.Close()
	}, nil
}

// readTable reads the table of a killed daemon. What the server was still told by it may be carried out a little later.
func (l *soakRun) readTable(ctx context.Context) (workTable, error) {
	if l.postgres == nil {
		return l.harness.readLeftTable(ctx)
	}
	return readTable(ctx, l.postgres, `coalesce(convert_from(sight, 'UTF8')::jsonb ->> 'verdict' = 'waiting', false)`, "least")
}

// awaitNothingDue waits until no pull request is due or looked at, so long at most. On PostgreSQL metrics do not tell: what they count
// is some seconds old.
func (l *soakRun) awaitNothingDue(ctx context.Context, most time.Duration) error {
	for end := time.Now().Add(most); l.postgres != nil && time.Now().Before(end); {
		now, err := l.readTable(ctx)
		if err != nil {
			return err
		}
		if now.countDue(time.Now()) == 0 {
			return nil
		}
		if err := sleepFor(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil // what is still due shows in what was not looked at
}

// reportRecovery reports how long what killed daemons were looking at waited for its next look, by pull request and kill.
func (l *soakRun) reportRecovery(cutOff map[string][]time.Time) {
	looks, r := l.looksByPull(), &l.harness.report
	var waits durations
	for pull, kills := range cutOff {
		var before time.Time
		for _, at := range kills {
			i, _ := slices.BinarySearchFunc(looks[pull], at, time.Time.Compare)
			switch {
			case i == len(looks[pull]):
				r.addViolation("%s was not looked at again after a kill", pull)
			case looks[pull][i] != before: // else another kill came first
				before = looks[pull][i]
				waits = append(waits, before.Sub(at))
			}
		}
	}
	longest := time.Duration(waits.quantileMillis(1) * float64(time.Millisecond))
	r.addFigure("looks cut off by a kill", float64(len(waits)), "")
	r.addFigure("  kill → the next look, p50", waits.quantileMillis(0.5)/1000, "s")
	r.addAtMost("  kill → the next look, max, other kills included", longest.Seconds(), "s", leaseTime.Seconds())
	if longest > leaseTime {
		r.addViolation("what a killed daemon was looking at waited %s for its next look", longest.Round(time.Second))
	}
}
