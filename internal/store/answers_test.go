package store_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/review-coordinator/coordinator/internal/store"
)

func openAnswers(t testing.TB, path string, o store.AnswerCacheOptions) *store.AnswerCache {
	t.Helper()
	a, err := store.OpenAnswerCache(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func wantAnswer(t *testing.T, a *store.AnswerCache, key, want string) {
	t.Helper()
	if got, ok := a.Get(key); !ok || string(got) != want {
		t.Errorf("%s: %.20q, %v, want %.20q", key, got, ok, want)
	}
}

func wantMiss(t *testing.T, a *store.AnswerCache, key string) {
	t.Helper()
	if got, ok := a.Get(key); ok {
		t.Errorf("%s: %.20q, want a miss", key, got)
	}
}

func TestAnswersAreThereAtOnceAndAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	a := openAnswers(t, path, store.AnswerCacheOptions{})
	wantMiss(t, a, "a")
	a.Put("a", []byte("1"))
	wantAnswer(t, a, "a", "1")
	a.Put("a", []byte("2"))
	a.Put("empty", nil)
	a.Put("gone", []byte("x"))
	a.Forget("gone")
	a.Forget("never")
	for again := range 3 {
		wantAnswer(t, a, "a", "2")
		wantAnswer(t, a, "empty", "")
		wantMiss(t, a, "gone")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a.Put("closed", []byte("x"))
		wantMiss(t, a, "a")
		a = openAnswers(t, path, store.AnswerCacheOptions{})
		if again == 1 {
			a.Forget("empty")
			a.Put("empty", nil)
		}
	}
	a.Forget("a")
	wantMiss(t, a, "a")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = openAnswers(t, path, store.AnswerCacheOptions{})
	wantMiss(t, a, "a")
}

// A file of another schema is no fault: what it held is asked for again.
func TestAnswersOfAnOlderProgramAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	fixture(
		t,
		path,
		`CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, era INTEGER NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL);
		CREATE TABLE bodies (id INTEGER PRIMARY KEY, value BLOB NOT NULL); INSERT INTO answers VALUES (1, 'a', 1, 2, 3); INSERT INTO bodies VALUES (1, 'x'); PRAGMA user_version = 2`,
	)
	a := openAnswers(t, path, store.AnswerCacheOptions{})
	wantMiss(t, a, "a")
	a.Put("a", []byte("1"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, openAnswers(t, path, store.AnswerCacheOptions{}), "a", "1")
}

// An answer that stands in the file is replaced there, of whatever length the next one is, and nothing of it is left.
func TestAnswersAreReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	for _, want := range []string{"1", string(noise(20_000)), "3", ""} {
		a := openAnswers(t, path, store.AnswerCacheOptions{})
		a.Put("a", []byte(want))
		a.Put("gone", []byte(want))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = openAnswers(t, path, store.AnswerCacheOptions{})
		wantAnswer(t, a, "a", want)
		a.Forget("gone")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if rows := count(t, path, `SELECT (SELECT count(*) FROM answers) * 10 + (SELECT count(*) FROM bodies)`); rows != 11 {
			t.Errorf("there are %d answers and %d bodies, want one of each", rows/10, rows%10)
		}
	}
}

// A loss of power may take an answer's body alone: that is a miss, and only until it is put again.
func TestAnswersWithoutABody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	for range 2 {
		a := openAnswers(t, path, store.AnswerCacheOptions{})
		wantMiss(t, a, "a")
		a.Put("a", []byte("1"))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = openAnswers(t, path, store.AnswerCacheOptions{})
		wantAnswer(t, a, "a", "1")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		fixture(t, path, `DELETE FROM bodies`)
	}
}

// A key whose hash begins like another's never gets the other's answer.
func TestAnswersOfAnotherKeyAreMisses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	for _, want := range []string{"1", "2"} {
		a := openAnswers(t, path, store.AnswerCacheOptions{})
		wantMiss(t, a, "a")
		a.Put("a", []byte(want))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = openAnswers(t, path, store.AnswerCacheOptions{})
		wantAnswer(t, a, "a", want)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		fixture(t, path, `UPDATE answers SET rest = rest + 1`) // as if it were another key's
	}
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// noise is what cannot be compressed, always the same.
func noise(n int) []byte {
	all := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(all) // it never fails
	return all
}

// What was not read for longest goes first, and the file stays within its bound.
func TestAnswersForgetWhatIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	const limit, size = 4 << 20, 4 << 10
	a := openAnswers(t, path, store.AnswerCacheOptions{MaxBytes: limit})
	body := noise(size)
	a.Put("read", body)
	a.Put("unread", body)
	n := 0
	for range 4 * limit / size / 128 {
		for range 128 {
			a.Put(fmt.Sprint(n), body)
			n++
		}
		if err := a.Close(); err != nil { // so that all of it is written
			t.Fatal(err)
		}
		a = openAnswers(t, path, store.AnswerCacheOptions{MaxBytes: limit})
		wantAnswer(t, a, "read", string(body))
	}
	wantMiss(t, a, "unread")
	wantMiss(t, a, "0")
	wantAnswer(t, a, fmt.Sprint(n-1), string(body))
	kept := 0
	for i := range n {
		if _, ok := a.Get(fmt.Sprint(i)); ok {
			kept++
		}
	}
	if kept*size > limit || kept*size < limit/2 {
		t.Errorf("%d answers are kept, want about %d", kept, limit/size)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2*limit {
		t.Errorf("the file has %d bytes, want at most %d", info.Size(), 2*limit)
	}
}

func TestAnswersBeginACorruptFileAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("garbage"), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"other pages": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(bytes.Repeat([]byte("y"), int(info.Size())-4096), 4096); err != nil {
				t.Fatal(err)
			}
		},
		"other bytes in a body": func(t *testing.T, path string) {
			all, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			spoilt := bytes.Replace(all, noise(100), slices.Concat([]byte("x"), noise(100)[1:]), 1)
			if bytes.Equal(all, spoilt) {
				t.Fatal("the body is not in the file")
			}
			if err := os.WriteFile(path, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "answers.db")
			a := openAnswers(t, path, store.AnswerCacheOptions{})
			a.Put("a", noise(20000))
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, path)
			a = openAnswers(t, path, store.AnswerCacheOptions{})
			wantMiss(t, a, "a")
			a.Put("b", []byte("2"))
			wantAnswer(t, a, "b", "2")
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			a = openAnswers(t, path, store.AnswerCacheOptions{})
			wantAnswer(t, a, "b", "2")
			wantMiss(t, a, "a")
		})
	}
}

// A value that is too large, or too much at once, is a miss: never an older value, and never a wait.
func TestAnswersForgetWhatIsTooMuch(t *testing.T) {
	a := openAnswers(t, filepath.Join(t.TempDir(), "answers.db"), store.AnswerCacheOptions{MaxBytes: 1 << 20})
	a.Put("a", []byte("old"))
	a.Put("a", noise(1<<19))
	wantMiss(t, a, "a")
}

// JSON takes a fraction of its length.
func TestAnswersAreCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.db")
	a := openAnswers(t, path, store.AnswerCacheOptions{MaxBytes: 1 << 20})
	want := bytes.Repeat([]byte(`{"login":"somebody","id":1}`), 10_000)
	a.Put("a", want)
	wantAnswer(t, a, "a", string(want))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = openAnswers(t, path, store.AnswerCacheOptions{MaxBytes: 1 << 20})
	wantAnswer(t, a, "a", string(want))
}

func TestAnswersByManyAtOnce(t *testing.T) {
	a := openAnswers(t, filepath.Join(t.TempDir(), "answers.db"), store.AnswerCacheOptions{MaxBytes: 1 << 20})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 500 {
				key := fmt.Sprint(g, "/", n%50)
				want := fmt.Sprint(key, "#", n)
				a.Put(key, []byte(want))
				if got, ok := a.Get(key); ok && string(got) != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkAnswers(b *testing.B) {
	path := filepath.Join(b.TempDir(), "answers.db")
	a := openAnswers(b, path, store.AnswerCacheOptions{})
	body := bytes.Repeat([]byte("x"), 5000)
	const keys = 20_000
	for n := range keys {
		a.Put(fmt.Sprint("https://api.github.com/repos/acme/shop/pulls/", n), body)
		if n%2000 == 0 {
			if err := a.Close(); err != nil {
				b.Fatal(err)
			}
			a = openAnswers(b, path, store.AnswerCacheOptions{})
		}
	}
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
	a = openAnswers(b, path, store.AnswerCacheOptions{})
	b.Run("Get", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n += 7919
			if _, ok := a.Get(fmt.Sprint("https://api.github.com/repos/acme/shop/pulls/", n%keys)); !ok {
				b.Fatal("a miss")
			}
		}
	})
	b.Run("Put", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			a.Put(fmt.Sprint(n%keys), body)
		}
	})
}
