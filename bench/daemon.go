package main

// The daemon as a process, and its database.

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers that the daemon has
	_ "modernc.org/sqlite"
)

// A daemon is a process of coordinator serve.
type daemon struct {
	command *exec.Cmd
	address string        // host:port of its webhook
	ended   chan struct{} // closed when the process is gone
}

var listenPattern = regexp.MustCompile(`webhook=http://([^/\s]+)/`)

// startDaemon starts the daemon on a database and waits until it listens. It calls begun, if not nil, as soon as the process
// exists.
func (b *bench) startDaemon(t *fakeGitHub, db database, begun func(*daemon)) (*daemon, error) {
	d := &daemon{ended: make(chan struct{})}
	d.command = exec.CommandContext(b.ctx, b.bin, "serve", "--listen", "127.0.0.1:0", //nolint:gosec // the program that the user names
		"--admin-listen", "127.0.0.1:0", "--database", db.url, "--resync", "24h")
	d.command.Env = append(os.Environ(), "GITHUB_APP_ID="+strconv.FormatInt(t.hub.App().ID, 10), "GITHUB_APP_PRIVATE_KEY_FILE="+t.keyFile,
		"GITHUB_WEBHOOK_SECRET="+t.secret, "GITHUB_API_URL="+t.url, "NO_COLOR=1", "GITHUB_TOKEN=", "GITHUB_ACTIONS=")
	log, err := os.OpenFile(filepath.Join(b.dir, "daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the daemon's log: %w", err)
	}
	out, err := d.command.StderrPipe()
	if err = errors.Join(err, d.command.Start()); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	if begun != nil {
		begun(d)
	}
	listens := make(chan string, 1)
	b.running.Go(func() {
		defer close(d.ended)
		defer log.Close()
		lines := bufio.NewScanner(io.TeeReader(out, log))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if at := listenPattern.FindStringSubmatch(lines.Text()); at != nil {
				listens <- at[1]
			}
		}
		_ = d.command.Wait() // its state says how it ended
	})
	select {
	case d.address = <-listens:
		return d, nil
	case <-d.ended:
		return d, errors.New("the daemon ended before it listened")
	case <-time.After(30 * time.Second):
		return d, errors.Join(errors.New("the daemon does not listen after 30s"), d.endProcess(syscall.SIGKILL))
	}
}

func (d *daemon) sendSignal(s os.Signal) { _ = d.command.Process.Signal(s) } // it may be gone

// endProcess sends the process a signal, and waits until it is gone.
func (d *daemon) endProcess(s syscall.Signal) error {
	d.sendSignal(s)
	return d.awaitEnd(s)
}

// awaitEnd waits until a process is gone that was sent a signal. It fails if SIGTERM takes longer than ten seconds, or is no good end.
func (d *daemon) awaitEnd(s syscall.Signal) error {
	select {
	case <-d.ended:
	case <-time.After(10 * time.Second):
		d.sendSignal(syscall.SIGKILL)
		<-d.ended
	}
	if s == syscall.SIGTERM && !d.command.ProcessState.Success() {
		return fmt.Errorf("the daemon was told to stop, and ended with %s", d.command.ProcessState)
	}
	return nil
}

// cpuTime returns the milliseconds of CPU that the process has taken so far, as Linux counts them.
func (d *daemon) cpuTime() (millis float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.command.Process.Pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before may hold spaces
	for i := 11; i < 13 && err == nil; i++ {
		var ticks float64
		ticks, err = strconv.ParseFloat(fields[i], 64)
		millis += 10 * ticks
	}
	return millis, err
}

// A database is where daemons keep what they must not lose.
type database struct{ url, driver, source string } // source is for the driver what url is for the daemon

// newDatabase makes a schema of its own on a PostgreSQL, or names a file of SQLite if server is "".
func (b *bench) newDatabase(server string) (database, error) {
	if server == "" {
		file := filepath.Join(b.dir, "coordinator.db")
		return database{"sqlite://" + file, "sqlite", "file:" + file}, nil
	}
	address, err := url.Parse(server)
	opened, failed := sql.Open("pgx", server)
	if err := errors.Join(err, failed); err != nil {
		return database{}, fmt.Errorf("open the database: %w", err)
	}
	defer opened.Close()
	schema, query := fmt.Sprintf("bench_%d", time.Now().UnixNano()), address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	_, err = opened.ExecContext(b.ctx, "CREATE SCHEMA "+schema) // it stays: the server is a throwaway
	return database{address.String(), "pgx", address.String()}, err
}

// readDeliveries returns the ids of all deliveries in the database.
func (db database) readDeliveries(ctx context.Context) (map[string]bool, error) {
	opened, err := sql.Open(db.driver, db.source)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer opened.Close()
	rows, err := opened.QueryContext(ctx, "SELECT id FROM deliveries")
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer rows.Close()
	all, id := map[string]bool{}, ""
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read deliveries: %w", err)
		}
		all[id] = true
	}
	return all, rows.Err()
}
