package store

import (
	"context"
	"io/fs"
)

// PoolPages is for tests that open a file without this package: it must come before them.
func PoolPages() { poolPages() }

// ListQuery is the SQL of a query, for tests of how much it reads.
func ListQuery(q Query) (query string, args []any) { return listQuery(q) }

// CommitsPerFold is for tests of a log that was not folded yet.
const CommitsPerFold = commitsPerFold

// OpenPostgresOf opens tables as a version of this program does that has these migrations.
func OpenPostgresOf(ctx context.Context, url string, o PostgresOptions, migrations fs.FS) (*Postgres, error) {
	o.migrations = migrations
	return OpenPostgres(ctx, url, o)
}

// MigratePostgres brings tables to the schema of these migrations.
func MigratePostgres(ctx context.Context, url string, migrations fs.FS) error {
	pool, err := connectPostgres(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	return migratePostgres(ctx, pool, migrations)
}
