package main

// PostgreSQL as a measurement uses it: a schema for each table of the daemons', and what stands in it afterwards.

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// urlOfSchema returns the URL of a database with a schema as its search path.
func urlOfSchema(database, schema string) string {
	u, err := url.Parse(database)
	if err != nil {
		return database // the daemon says what is wrong with it
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// runSQL runs a statement on a connection of its own.
func runSQL(ctx context.Context, database, query string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return fmt.Errorf("use the database: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, query); err != nil {
		return fmt.Errorf("use the database: %w", err)
	}
	return nil
}

// queryNumbers returns the numbers of a query's only row.
func queryNumbers(ctx context.Context, database, query string, numbers ...*float64) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return fmt.Errorf("use the database: %w", err)
	}
	defer conn.Close(ctx)
	row := conn.QueryRow(ctx, query)
	switch len(numbers) {
	case 1:
		err = row.Scan(numbers[0])
	case 2:
		err = row.Scan(numbers[0], numbers[1])
	default:
		err = fmt.Errorf("a query of %d numbers", len(numbers))
	}
	if err != nil {
		return fmt.Errorf("use the database: %w", err)
	}
	return nil
}

// readDeliveryIDs returns the ids of all deliveries in a schema's table.
func readDeliveryIDs(ctx context.Context, database, schema string) (map[string]bool, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, fmt.Errorf("use the database: %w", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT id FROM "+schema+".deliveries")
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	known := map[string]bool{}
	var id string
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error { known[strings.Clone(id)] = true; return nil }); err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	return known, nil
}

// awaitNothingDue waits until nothing in a schema's table is due or leased.
func awaitNothingDue(ctx context.Context, database, schema string, most time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the daemons still work after %s", most))
	defer cancel()
	query := `SELECT count(*)::float8 FROM ` + schema + `.work
		WHERE leased OR least(due_at, backlog_at) <= (extract(epoch FROM clock_timestamp()) * 1e6)::bigint`
	for {
		var due float64
		if err := queryNumbers(ctx, database, query, &due); err != nil || due == 0 {
			return err
		}
		if err := sleepFor(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// serverCPU returns the CPU time so far of the server's processes, if they run on this machine: those that are connected, and
// those that write.
func serverCPU(ctx context.Context, database string) (all time.Duration, err error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return 0, fmt.Errorf("use the database: %w", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	if err != nil {
		return 0, fmt.Errorf("read the server's processes: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return 0, fmt.Errorf("read the server's processes: %w", err)
	}
	for _, pid := range pids {
		all += readCPU(pid)
	}
	return all, nil
}
