//go:build !action

package main

// Where the daemon keeps its table: in a SQLite file of its own, or in a PostgreSQL database that several share.

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	openTimeout   = 20 * time.Second       // of a server of databases, and of a migration there
	sharedPoll    = 500 * time.Millisecond // how often at least a table that others write to is read
	keptAnswers   = 1 << 30                // bytes of GitHub's answers
	mostClockSkew = 2 * time.Second        // between our clock and the server's: leases are 30 s long
)

// A databaseAddress is where the daemon keeps what it must not lose.
type databaseAddress struct {
	file   string // of SQLite; "": a server has it
	server string // URL of a PostgreSQL database; it may hold a password

	fleeting bool // no fsync: for a demo
	isTried  bool // a damaged file stays where it is
}

// parseDatabaseAddress reads sqlite://PATH, whose folder must exist, or postgres://….
func parseDatabaseAddress(address string) (a databaseAddress, err error) {
	if !isPostgresURL(address) {
		a.file, err = parseDatabaseURL(address)
		return a, err
	}
	a.server = address
	if _, err := pgx.ParseConfig(address); err != nil { // it leaves the password out
		return databaseAddress{}, usageError(fmt.Errorf("the database: %w", errors.New(oneLine(err.Error()))), postgresForm)
	}
	return a, nil
}

const postgresForm = "write it as postgres://USER@HOST:PORT/NAME; the password may stand in PGPASSWORD, or in a file that PGPASSFILE names"

func isPostgresURL(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// String names the database for people, without a password.
func (a databaseAddress) String() string {
	if a.server == "" {
		return a.file
	}
	config, err := pgx.ParseConfig(a.server)
	if err != nil {
		return "PostgreSQL" // unreachable: it was read before
	}
	name := fmt.Sprintf("postgres://%s@%s:%d/%s", config.User, config.Host, config.Port, config.Database)
	if path := config.RuntimeParams["search_path"]; path != "" {
		name += "?search_path=" + path
	}
	return oneLine(name)
}

// LogValue names the database without a password.
func (a databaseAddress) LogValue() slog.Value { return slog.StringValue(a.String()) }

// Format keeps the password out of every verb.
func (a databaseAddress) Format(s fmt.State, _ rune) { fmt.Fprint(s, a.String()) }

// openStore opens the table, and makes it if it is not there. lost is called when others may have what was claimed; it may be nil.
func openStore(ctx context.Context, a databaseAddress, lost func(), log *slog.Logger) (*store.Database, error) {
	if a.server == "" {
		s, err := store.OpenSQLite(a.file, store.Options{Log: log, Fleeting: a.fleeting, KeepDamaged: a.isTried})
		if err != nil {
			return nil, usageError(err, databaseHint(err))
		}
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := store.OpenPostgres(ctx, a.server, store.Options{Log: log, Replica: newReplicaName(), Lost: lost})
	if err != nil {
		return nil, usageError(errors.New(oneLine(err.Error())), postgresHint(err))
	}
	return s, nil
}

// newReplicaName returns a name for this process that no other one has, and that tells people where it runs.
func newReplicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "coordinator"
	}
	return host + "-" + strings.ToLower(rand.Text()[:8])
}

// postgresHint returns a hint for a PostgreSQL database that cannot be opened.
func postgresHint(err error) string {
	says := err.Error()
	switch {
	case errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrForeignDatabase), errors.Is(err, store.ErrUnfitServer),
		errors.Is(err, store.ErrTablesGone):
		return "" // these errors say what to do themselves
	case strings.Contains(says, "SQLSTATE 42501"): // insufficient_privilege
		return "its user must be able to make tables in its schema: GRANT CREATE, USAGE ON SCHEMA public TO the user, or a schema of its own"
	case strings.Contains(says, "SQLSTATE 28"): // invalid_authorization_specification, invalid_password
		return "are user and password right, and does pg_hba.conf let them in from here? " + postgresForm
	case strings.Contains(says, "SQLSTATE 3D000"): // invalid_catalog_name
		return "createdb makes the database; the daemon makes its tables"
	case strings.Contains(says, "tls: failed to verify"), strings.Contains(says, "x509: "):
		return "the server answers, and its certificate does not fit sslmode: sslrootcert names the file of who signed it, " +
			"and verify-full asks for the host's own name"
	case strings.Contains(says, "unsupported startup parameter"):
		return "a pooler stands before the server and does not take that setting: connect to PostgreSQL itself, or tell the pooler to ignore it"
	}
	return "is the server up, and may this machine reach it? " + postgresForm
}

// printDatabase says what is to be said of the database, and returns what is wrong with it.
func printDatabase(ctx context.Context, c *command, a databaseAddress, t *store.Database) error {
	if !t.IsShared() {
		c.printChecked("database", "%s", a)
		dir := filepath.Dir(a.file)
		if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			c.printWarning(fmt.Sprintf("the folder of the database, %s, is open to others (mode %04o): it must be the daemon's own, with mode 0700",
				dir, info.Mode().Perm()))
		}
		return nil
	}
	server, err := t.Server(ctx, time.Now())
	if err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	c.printChecked("database", "%s, PostgreSQL %s, shared with %s", a, server.Version, countNoun(server.Replicas, "other coordinator"))
	return refuseWrongClock(ctx, t)
}

// refuseWrongClock is an error if our clock is not the database's.
func refuseWrongClock(ctx context.Context, t *store.Database) error {
	if says := clockMistake(ctx, t); says != "" {
		return hintedError(errors.New(says), clockHint)
	}
	return nil
}

const clockCheckPause, hopelessCheckPause = time.Minute, time.Second

const clockHint = "keep both clocks by NTP: who works for what is by them"

// watchDatabase says in the log that our clock has gone away from a server's, and gives a file up that nothing but a restart can
// mend, until ctx ends.
func watchDatabase(ctx context.Context, s *store.Database, log *slog.Logger) error {
	pause := hopelessCheckPause
	if s.IsShared() {
		pause = clockCheckPause
	}
	often := time.NewTicker(pause)
	defer often.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-often.C:
		}
		if err := s.Hopeless(); err != nil {
			err = fmt.Errorf("the database is given up: %w", err)
			return &exitError{exitDatabase, err, "start the daemon again, as systemd and Kubernetes do: only time is lost"}
		}
		if says := clockMistake(ctx, s); says != "" {
			log.Error("work may be done twice, or late", "because", says, "remedy", clockHint)
		}
	}
}

// clockMistake says how far our clock is from the database's; "": they agree, or it cannot be told.
func clockMistake(ctx context.Context, t *store.Database) string {
	began := time.Now()
	server, err := t.Server(ctx, began)
	ahead, side := server.ClockAhead, "behind"
	if way := time.Since(began); err != nil || ahead.Abs() <= mostClockSkew+way {
		return ""
	}
	if ahead < 0 {
		side = "ahead of"
	}
	return fmt.Sprintf("the clock of this machine is %s %s the database's", ahead.Abs().Round(time.Second), side)
}
