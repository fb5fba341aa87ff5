package storetest

// What is due and what is leased, for a test that waits for it for ever.

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OpenTables returns the first rows of each SQLite table that this process has open, whoever opened it and wherever: of those that are
// leased, and of those that are due first. It is for a watchdog, so it reads the files by connections of its own.
func OpenTables() string {
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || fds == nil {
		return "rows: only Linux tells which tables are open"
	}
	var files []string
	for _, fd := range fds {
		if file, err := os.Readlink(fd); err == nil && strings.HasSuffix(file, ".db") {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	var b strings.Builder
	for _, file := range slices.Compact(files) {
		rows, err := listFirstRows(file)
		fmt.Fprintf(&b, "rows of %s:\n%s", file, rows)
		if err != nil {
			fmt.Fprintf(&b, "  %v\n", err)
		}
	}
	if b.Len() == 0 {
		return "rows: no table is open"
	}
	return b.String()
}

// listFirstRows returns a line for each of the first rows of a table, and how many there are.
func listFirstRows(file string) (string, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: "mode=ro&_pragma=busy_timeout(500)"}).String())
	if err != nil {
		return "", err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), `SELECT key, leased, min(due_at, backlog_at), attempts, failed, count(*) OVER ()
		FROM work ORDER BY leased DESC, 3 LIMIT 20`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b strings.Builder
	all := 0
	for rows.Next() {
		var key, failed, when string
		var leased bool
		var due int64
		var attempts int
		if err := rows.Scan(&key, &leased, &due, &attempts, &failed, &all); err != nil {
			return b.String(), err
		}
		switch at := time.UnixMicro(due).UTC().Format("2006-01-02 15:04:05.000000"); {
		case leased:
			when = "leased until " + at
		case due == 1<<63-1:
			when = "never due"
		default:
			when = "due at " + at
		}
		fmt.Fprintf(&b, "  %s: %s", key, when)
		if attempts > 0 {
			fmt.Fprintf(&b, ", failed %d times: %s", attempts, failed)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "  %d in all\n", all)
	return b.String(), rows.Err()
}
