package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/store"
)

// copyKinds are the kinds of store, each with how a new place for one is made.
var copyKinds = map[string]func(t *testing.T) store.CopyEnd{
	"SQLite":   func(t *testing.T) store.CopyEnd { return store.CopyEnd{File: filepath.Join(t.TempDir(), "table.db")} },
	"Postgres": func(t *testing.T) store.CopyEnd { return store.CopyEnd{URL: newSchema(t)} },
}

func openEnd(t *testing.T, at store.CopyEnd) (store.Store, error) {
	t.Helper()
	if at.File != "" {
		return store.OpenSQLite(at.File, store.SQLiteOptions{})
	}
	return store.OpenPostgres(t.Context(), at.URL, store.PostgresOptions{})
}

func mustOpenEnd(t *testing.T, at store.CopyEnd) store.Store {
	t.Helper()
	s, err := openEnd(t, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustCopy(t *testing.T, from, to store.CopyEnd) store.Copied {
	t.Helper()
	c, err := store.Copy(t.Context(), from, to, store.CopyOptions{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eachCopy runs a test for each two kinds of store.
func eachCopy(t *testing.T, test func(t *testing.T, from, to func(t *testing.T) store.CopyEnd)) {
	t.Helper()
	for fromName, from := range copyKinds {
		for toName, to := range copyKinds {
			t.Run(fromName+" to "+toName, func(t *testing.T) {
				if fromName+toName != "SQLiteSQLite" {
					postgresURL(t)
				}
				test(t, from, to)
			})
		}
	}
}

// A source changes, rows are deleted there too, while it is copied again and again, and copies are cut short anywhere. After the
// last one, of a source that nobody uses, all that a store tells is the same.
func TestPostgresAndSQLiteCopies(t *testing.T) {
	eachCopy(t, func(t *testing.T, from, to func(t *testing.T) store.CopyEnd) {
		checks := 20
		if from(t).File == "" || to(t).File == "" {
			checks = 6
		}
		checkFewer(t, checks, func(rt *rapid.T) {
			u := &copiedUse{T: rt, t: t, from: from(t), to: to(t), now: now, keys: map[string]bool{}, ids: map[string]bool{}}
			u.s = u.must1(openEnd(t, u.from))
			for range rapid.IntRange(1, 2).Draw(rt, "first copies") {
				u.useStore()
				if c, ok := u.tryCopy(); ok && c.Finished {
					rt.Fatal("finished, although the source is in use")
				}
				if s, err := openEnd(t, u.to); !errors.Is(err, store.ErrUnfinishedCopy) {
					rt.Fatalf("opened %v, %v", s, err)
				}
			}
			u.useStore()
			u.must(u.s.Close())
			u.now = u.now.Add(time.Minute) // what was leased is due
			c, ok := u.tryCopy()
			for !ok {
				c, ok = u.tryCopy()
			}
			if !c.Finished || c.LeftOut != 0 {
				rt.Fatalf("%+v", c)
			}
			again, err := store.Copy(t.Context(), u.from, u.to, store.CopyOptions{Now: u.now})
			if err != nil || again.Changed != 0 || !again.Finished {
				rt.Fatalf("once more: %+v, %v", again, err)
			}
			a, b := u.must1(openEnd(t, u.from)), u.must1(openEnd(t, u.to))
			defer a.Close()
			defer b.Close()
			u.compareStores(a, b)
		})
	})
}

// checkFewer is rapid.Check with so many checks at most: each of them opens a dozen stores.
func checkFewer(t *testing.T, most int, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	if n, err := strconv.Atoi(was); err != nil || n > most {
		if err := checks.Value.Set(strconv.Itoa(most)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = checks.Value.Set(was) })
	}
	rapid.Check(t, property)
}

// A copiedUse is a store in use that is copied.
type copiedUse struct {
	*rapid.T
	t         *testing.T
	from, to  store.CopyEnd
	s         store.Store
	now       time.Time
	keys, ids map[string]bool // that were ever used
	leases    []store.Lease
	lastToken int64
	signs     int
}

func (u *copiedUse) must(err error) {
	if err != nil {
		u.Fatal(err)
	}
}

func (u *copiedUse) must1(s store.Store, err error) store.Store {
	u.must(err)
	return s
}

// tryCopy copies, and may be cut short after some pages; then it reports false.
func (u *copiedUse) tryCopy() (store.Copied, bool) {
	ctx, stop := context.WithCancel(u.t.Context())
	defer stop()
	pages := rapid.IntRange(0, 12).Draw(u.T, "pages before it is cut short")
	o := store.CopyOptions{Now: u.now, Progress: func(store.CopyProgress) {
		if pages--; pages == 0 {
			stop()
		}
	}}
	c, err := store.CopyByPages(ctx, u.from, u.to, o, rapid.IntRange(1, 5).Draw(u.T, "rows of a page"))
	if ctx.Err() != nil && err != nil {
		return c, false
	}
	u.must(err)
	return c, true
}

// useStore does with the store what a daemon does.
func (u *copiedUse) useStore() {
	for range rapid.IntRange(1, 12).Draw(u.T, "operations") {
		u.now = u.now.Add(time.Second)
		tenant := rapid.Int64Range(1, 3).Draw(u.T, "tenant")
		group := rapid.SampledFrom([]string{"g", "h"}).Draw(u.T, "group")
		switch rapid.IntRange(0, 9).Draw(u.T, "operation") {
		case 0, 1, 2:
			u.acceptSome()
		case 3, 4:
			work, err := u.s.Claim(u.t.Context(), store.Claim{Now: u.now, Until: u.now.Add(30 * time.Second), Limit: 4})
			u.must(err)
			for _, w := range work {
				u.leases = append(u.leases, w.Lease)
				u.lastToken = max(u.lastToken, w.Token)
			}
		case 5, 6:
			u.completeSome()
		case 7:
			u.must(u.s.Hear(u.t.Context(), tenant, group, 2, store.Heard{
				Reviewer: rapid.SampledFrom([]string{"codex", "claude"}).Draw(u.T, "reviewer"), Label: "label",
				Text: fmt.Sprint(rapid.IntRange(1, 4).Draw(u.T, "text")), Pull: 7, At: u.now, Unread: tenant == 1,
			}))
			u.signs++
			_, err := u.s.AddSigns(u.t.Context(), tenant, group, 2, store.ServiceSign{
				Reviewer: "codex", Kind: u.signs % 2, Of: fmt.Sprint(u.signs / 2), Author: "ann", At: u.now, Until: u.now.Add(time.Hour),
			})
			u.must(err)
		case 8:
			if _, err := u.s.Prune(u.t.Context(), u.now.Add(-5*time.Second), 2); err != nil {
				u.Fatal(err)
			}
		case 9:
			u.must(u.s.Drop(u.t.Context(), tenant))
		}
	}
}

func (u *copiedUse) acceptSome() {
	var pokes []store.Poke
	for range rapid.IntRange(1, 3).Draw(u.T, "pokes") {
		tenant := rapid.Int64Range(1, 3).Draw(u.T, "tenant")
		pokes = append(pokes, store.Poke{
			Key: fmt.Sprintf("%d/é%d", tenant, rapid.IntRange(1, 5).Draw(u.T, "key")), Tenant: tenant,
			Kind:    rapid.SampledFrom([]string{"pull", "repo"}).Draw(u.T, "kind"),
			Group:   rapid.SampledFrom([]string{"g", "h"}).Draw(u.T, "group"),
			Due:     u.now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(u.T, "due")) * time.Second),
			Touch:   rapid.SampledFrom([]string{"a", "b", store.Kept + "k", ""}).Draw(u.T, "touch"),
			Backlog: rapid.IntRange(0, 2).Draw(u.T, "backlog") == 0,
		})
		u.keys[pokes[len(pokes)-1].Key] = true
	}
	id := fmt.Sprint("d", len(u.ids))
	u.ids[id] = true
	_, err := u.s.Accept(u.t.Context(), store.AcceptedDelivery{ID: id, Event: "push", Action: "x", At: u.now}, pokes...)
	u.must(err)
}

func (u *copiedUse) completeSome() {
	for _, l := range u.leases {
		o := store.Completion{Now: u.now, Gone: rapid.IntRange(0, 3).Draw(u.T, "gone") == 0, Open: rapid.Bool().Draw(u.T, "open")}
		if rapid.Bool().Draw(u.T, "wakes") {
			o.Wake, o.Backlog = u.now.Add(time.Hour), rapid.Bool().Draw(u.T, "in the backlog")
		}
		if rapid.IntRange(0, 3).Draw(u.T, "failed") == 0 {
			o.Failed = "why"
		}
		if rapid.Bool().Draw(u.T, "sees") {
			o.Sight = fmt.Append(nil, "sight ", u.now)
		}
		_, err := u.s.Complete(u.t.Context(), l, o)
		u.must(err)
	}
	u.leases = nil
}

func (u *copiedUse) wantSame(what string, want, got any) {
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		u.Fatalf("%s (-source +copy):\n%s", what, d)
	}
}

// compareStores compares all that two stores tell, and at last what they claim.
func (u *copiedUse) compareStores(a, b store.Store) {
	ctx := u.t.Context()
	ids := make([]string, 0, len(u.ids))
	for id := range u.ids {
		ids = append(ids, id)
	}
	open := true
	for name, read := range map[string]func(s store.Store) (any, error){
		"all rows":   func(s store.Store) (any, error) { return listEnded(ctx, s, store.Query{Limit: 1000}) },
		"open rows":  func(s store.Store) (any, error) { return listEnded(ctx, s, store.Query{Open: &open, Kind: "pull"}) },
		"group":      func(s store.Store) (any, error) { return listEnded(ctx, s, store.Query{Group: "g"}) },
		"deliveries": func(s store.Store) (any, error) { return s.Known(ctx, ids) },
		"heard":      func(s store.Store) (any, error) { return s.Heard(ctx, "g") },
		"heard h":    func(s store.Store) (any, error) { return s.Heard(ctx, "h") },
		"count":      func(s store.Store) (any, error) { return s.CountHeard(ctx, now.Add(10*time.Second)) },
		"signs":      func(s store.Store) (any, error) { return s.Signs(ctx, "g") },
		"signs h":    func(s store.Store) (any, error) { return s.Signs(ctx, "h") },
		"health":     func(s store.Store) (any, error) { return s.Health(ctx, u.now) },
		"next":       func(s store.Store) (any, error) { return s.Next(ctx, nil) },
		"backlog":    func(s store.Store) (any, error) { return s.NextBacklog(ctx, nil) },
	} {
		want, err := read(a)
		u.must(err)
		got, err := read(b)
		u.must(err)
		u.wantSame(name, want, got)
	}
	for tenant := range int64(4) {
		var others []int64
		for other := range int64(4) {
			if other != tenant {
				others = append(others, other)
			}
		}
		late := u.now.Add(24 * time.Hour)
		c := store.Claim{Now: late, Until: late.Add(time.Hour), Limit: 100, Except: others}
		want, err := a.Claim(ctx, c)
		u.must(err)
		got, err := b.Claim(ctx, c)
		u.must(err)
		for i := range got {
			if got[i].Token <= u.lastToken {
				u.Fatalf("token %d was given before: %d was the newest", got[i].Token, u.lastToken)
			}
			got[i].Token = 0
		}
		for i := range want {
			want[i].Token = 0
		}
		u.wantSame("claimed", want, got)
	}
}

// listEnded lists rows as if all leases had ended.
func listEnded(ctx context.Context, s store.Store, q store.Query) ([]store.Row, error) {
	rows, err := s.List(ctx, q)
	for i := range rows {
		rows[i].Leased = false
	}
	return rows, err
}

// What is leased is due, in the copy, at once, and the lease is void there.
func TestPostgresAndSQLiteCopiesEndLeases(t *testing.T) {
	eachCopy(t, func(t *testing.T, from, to func(t *testing.T) store.CopyEnd) {
		at, there := from(t), to(t)
		s := mustOpenEnd(t, at)
		if err := s.Poke(t.Context(), store.Poke{Key: "a", Tenant: 1, Due: now.Add(-time.Minute), Touch: "t"}); err != nil {
			t.Fatal(err)
		}
		held, err := s.Claim(t.Context(), store.Claim{Now: now, Until: now.Add(time.Hour), Limit: 1})
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if c := mustCopy(t, at, there); !c.Finished || c.Rows["key"] != 1 {
			t.Fatalf("%+v", c)
		}
		copied := mustOpenEnd(t, there)
		if ours, err := copied.Complete(t.Context(), held[0].Lease, store.Completion{Now: now, Gone: true}); err != nil || ours {
			t.Errorf("the former lease is good: %v, %v", ours, err)
		}
		work, err := copied.Claim(t.Context(), store.Claim{Now: now, Until: now.Add(time.Hour), Limit: 1})
		if err != nil || len(work) != 1 || !slices.Equal(work[0].Touches, []string{"t"}) || work[0].Token <= held[0].Token {
			t.Errorf("claimed %+v, %v", work, err)
		}
	})
}

// There and back and there again: no token comes twice.
func TestPostgresAndSQLiteCopiesGoBack(t *testing.T) {
	eachCopy(t, func(t *testing.T, from, to func(t *testing.T) store.CopyEnd) {
		last := int64(0)
		at := from(t)
		for i, next := range []func(*testing.T) store.CopyEnd{to, from, to} {
			s := mustOpenEnd(t, at)
			key := fmt.Sprint("k", i)
			if err := s.Poke(t.Context(), store.Poke{Key: key, Tenant: 1, Due: now}); err != nil {
				t.Fatal(err)
			}
			work, err := s.Claim(t.Context(), store.Claim{Now: now, Until: now.Add(time.Minute), Limit: 9})
			if err != nil || len(work) != i+1 {
				t.Fatalf("claimed %v, %v", work, err)
			}
			for _, w := range work {
				if w.Token <= last {
					t.Errorf("token %d after %d", w.Token, last)
				}
				last = max(last, w.Token)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			there := next(t)
			if c := mustCopy(t, at, there); !c.Finished {
				t.Errorf("%+v", c)
			}
			at = there
		}
	})
}

// A target is only overwritten if all of it came from this source, and no coordinator opened it.
func TestPostgresAndSQLiteCopiesThatAreRefused(t *testing.T) {
	eachCopy(t, func(t *testing.T, from, to func(t *testing.T) store.CopyEnd) {
		source, other, target, served := from(t), from(t), to(t), to(t)
		for _, at := range []store.CopyEnd{source, other} {
			s := mustOpenEnd(t, at)
			if _, err := s.Accept(t.Context(), store.AcceptedDelivery{ID: "d", At: now}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		refuse := func(what string, from, to store.CopyEnd, want error) {
			t.Helper()
			if _, err := store.Copy(t.Context(), from, to, store.CopyOptions{Now: now}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		refuse("into itself", source, source, store.ErrSameStore)
		mustCopy(t, source, target)
		refuse("another source", other, target, store.ErrOtherCopy)
		mustCopy(t, source, target)
		if err := mustOpenEnd(t, target).Close(); err != nil {
			t.Fatal(err)
		}
		refuse("a coordinator opened it", source, target, store.ErrTargetFull)
		mustCopy(t, target, to(t)) // it is a source like any other

		s := mustOpenEnd(t, served)
		refuse("in use", source, served, store.ErrInUse)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		mustCopy(t, source, served)

		running, half := mustOpenEnd(t, source), to(t)
		if c := mustCopy(t, source, half); c.Finished {
			t.Errorf("%+v", c)
		}
		refuse("half a copy as a source", half, to(t), store.ErrUnfinishedCopy)
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		refuse("nothing there", to(t), to(t), map[bool]error{true: os.ErrNotExist, false: store.ErrForeignDatabase}[half.File != ""])
	})
}

// copyArguments makes a process of this test copy one file to another.
const copyArguments = "STORE_TEST_COPY"

// The process that copies is killed in the middle: no coordinator opens what it leaves, and the next copy goes on there.
func TestACopyThatIsKilledGoesOn(t *testing.T) {
	if from, to, child := strings.Cut(os.Getenv(copyArguments), "|"); child {
		mustCopy(t, store.CopyEnd{File: from}, store.CopyEnd{File: to})
		return
	}
	const keys = 20_000
	from, to := filepath.Join(t.TempDir(), "table.db"), filepath.Join(t.TempDir(), "copy.db")
	s := openTable(t, from)
	var pokes []store.Poke
	for n := range keys {
		pokes = append(pokes, store.Poke{Key: fmt.Sprintf("%08d%s", n, strings.Repeat("k", 200)), Tenant: 1, Due: now})
	}
	if err := errors.Join(s.Poke(t.Context(), pokes...), s.Close()); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program, "-test.run", "^TestACopyThatIsKilledGoesOn$")
	child.Env = append(os.Environ(), copyArguments+"="+from+"|"+to)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if info, err := os.Stat(to + "-wal"); err == nil && info.Size() > 1<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no copy begins")
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("it was done before it was killed")
	}
	if s, err := store.OpenSQLite(to, store.SQLiteOptions{}); !errors.Is(err, store.ErrUnfinishedCopy) {
		t.Fatalf("opened %v, %v", s, err)
	}
	c := mustCopy(t, store.CopyEnd{File: from}, store.CopyEnd{File: to})
	if !c.Finished || c.Rows["key"] != keys || c.Changed == 0 || c.Changed >= keys {
		t.Errorf("%+v", c)
	}
}
