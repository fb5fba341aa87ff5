//go:build !action

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// An installation moves: a first copy while its daemon serves, and the last one after that was stopped. Before that the copy
// cannot be served.
func TestStoreCopy(t *testing.T) {
	dir := ownFolder(t)
	from, to := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db")
	args := []string{"store", "copy", "--from", "sqlite://" + from, "--to", "sqlite://" + to}
	s, err := store.OpenSQLite(from, store.SQLiteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	accept := func(id string) {
		t.Helper()
		d, poke := store.AcceptedDelivery{ID: id, Event: "push"}, store.Poke{Key: id, Tenant: 1, Due: time.Unix(1, 0)}
		if _, err := s.Accept(t.Context(), d, poke); err != nil {
			t.Fatal(err)
		}
	}
	accept("a")
	code, out, said := runAt(t, "", nil, args...)
	if code != 0 || !strings.Contains(out, "1 key, 1 delivery, 0 answers, 0 signs; 2 rows new or changed") ||
		!strings.Contains(said, "the copy is not finished: a coordinator uses the source. Stop it") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	settings := map[string]string{"GITHUB_WEBHOOK_SECRET": strings.Repeat("s", 16), "GITHUB_TOKEN": "t"}
	serve := []string{"serve", "--check", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--database", "sqlite://" + to}
	code, out, said = runAt(t, "", settings, serve...)
	if code != 2 || !strings.Contains(said, "it is a copy that is not finished, of sqlite://"+from+": stop the coordinator") ||
		strings.Contains(said, "hint:") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	accept("b")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, said = runAt(t, "", nil, append(args, "--json")...)
	var made struct {
		From, To string
		Finished bool
		Rows     map[string]int
		Changed  int
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil || code != 0 || said != "" || made.From != "sqlite://"+from ||
		made.To != "sqlite://"+to || !made.Finished || made.Rows["delivery"] != 2 || made.Changed != 2 {
		t.Errorf("exit %d, %v: %s%s", code, err, out, said)
	}
	code, out, said = runAt(t, "", nil, args...)
	if code != 0 || said != "" || !strings.HasSuffix(out, "0 rows new or changed\n"+
		"ok  complete   nobody used the source: start the daemon on the copy, and on the source no more\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	moved, err := store.OpenSQLite(to, store.SQLiteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if known, err := moved.Known(t.Context(), []string{"a", "b"}); err != nil || len(known) != 2 {
		t.Errorf("%v, %v", known, err)
	}
}

// No error of a copy holds a password, and each says what to do.
func TestStoreCopiesThatAreRefused(t *testing.T) {
	dir := ownFolder(t)
	there, served := "sqlite://"+filepath.Join(dir, "there.db"), "sqlite://"+filepath.Join(dir, "served.db")
	for _, address := range []string{there, served} {
		s, err := store.OpenSQLite(strings.TrimPrefix(address, "sqlite://"), store.SQLiteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: "d"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	newer := filepath.Join(dir, "newer.db")
	newerTable(t, newer)
	free := "sqlite://" + filepath.Join(dir, "free.db")
	for _, c := range []struct {
		from, to string
		code     int
		says     string
	}{
		{"mysql://me:canary@h/d", free, 2, "--from is no address that is known\nhint: write it as sqlite://PATH or postgres://USER@HOST/NAME"},
		{there, "canary", 2, "--to is no address that is known"},
		{there, there, 2, "hint: --to names another database than --from"},
		{there, served, 2, "hint: a daemon has used it"},
		{"sqlite://" + filepath.Join(dir, "none.db"), free, 2, "hint: --from names a file that is there"},
		{"sqlite://" + newer, free, 2, "a newer coordinator wrote it"},
		{there, "postgres://me:canary@127.0.0.1:1/d?connect_timeout=2", 1, "hint: is the server there"},
		{there, "postgres://me:canary@127.0.0.1:port/d", 2, "hint: write it as postgres://USER@HOST/NAME"},
	} {
		code, out, said := runAt(t, "", nil, "store", "copy", "--from", c.from, "--to", c.to)
		if code != c.code || out != "" || !strings.Contains(said, c.says) || strings.Contains(said, "canary") {
			t.Errorf("%s to %s: exit %d: %s%s", c.from, c.to, code, out, said)
		}
	}
}
