//go:build !action

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A daemon has the database open: that is when backup is for.
func TestBackup(t *testing.T) {
	file := filepath.Join(ownFolder(t), "c.db")
	s, err := store.OpenSQLite(file, store.SQLiteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: "d", Event: "push"}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to := filepath.Join(dir, "copy.db")
	code, out, said := runAt(t, "", nil, "backup", to, "--database", "sqlite://"+file)
	if want := "ok  backup     " + to + ", "; code != 0 || said != "" || !strings.HasPrefix(out, want) ||
		!strings.HasSuffix(out, "ok  contents   0 rows of work, 1 delivery, 0 answers; no damage found\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	code, out, said = runAt(t, "", map[string]string{"DATABASE_URL": "sqlite://" + file}, "backup", to, "--force", "--json")
	var made struct {
		File   string
		Bytes  int64
		Schema int
		Rows   map[string]int
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil || code != 0 || said != "" || made.File != to ||
		made.Bytes == 0 || made.Schema == 0 || made.Rows["deliveries"] != 1 {
		t.Errorf("exit %d, %v: %s%s", code, err, out, said)
	}
	newer := filepath.Join(dir, "newer.db")
	newerTable(t, newer)
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("hello ", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	free := filepath.Join(dir, "free.db")
	for _, c := range []struct{ database, to, says string }{
		{"sqlite://" + file, to, "is there already\nhint: choose another name, or replace it with --force"},
		{"sqlite://" + file, filepath.Join(dir, "none", "copy.db"), "hint: both must be there"},
		{"sqlite://" + filepath.Join(dir, "none.db"), free, "hint: both must be there"},
		{"sqlite://" + text, free, "no SQLite database, or a damaged one"},
		{"sqlite://" + newer, free, "a newer coordinator wrote it"},
		{"postgres://user:canary@host/db", free, "pg_dump --format=custom"},
		{"mysql://canary", free, "write it as sqlite://PATH"},
	} {
		code, out, said := runAt(t, "", nil, "backup", c.to, "--database", c.database)
		if code != 2 || out != "" || !strings.Contains(said, c.says) || strings.Contains(said, "canary") {
			t.Errorf("%s to %s: exit %d: %s%s", c.database, c.to, code, out, said)
		}
	}
	if _, err := os.Lstat(free); !os.IsNotExist(err) {
		t.Errorf("a file is there: %v", err)
	}
}
