package store

import (
	"context"
	"io/fs"
)

// ListQuery is the SQL of a query, for tests of how much it reads.
func ListQuery(q Query) (query string, args []any) { return listQuery(q, false) }

// CommitsPerFold is for tests of a log that was not folded yet.
const CommitsPerFold = commitsPerFold

// OpenPostgresOf opens tables as a version of this program does that has these migrations.
func OpenPostgresOf(ctx context.Context, url string, o Options, migrations fs.FS) (*Database, error) {
	return openPostgres(ctx, url, o, migrations)
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
