package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/review-coordinator/coordinator/internal/store"
)

// noise returns bytes that cannot be compressed, always the same.
func noise(n int) []byte {
	all := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(all) // it never fails
	return all
}

// An answerCache is the cache of a store that is closed and opened again.
type answerCache struct {
	*testing.T
	reopen func() (*store.Answers, func() error)
	*store.Answers
	close func() error
}

// flush closes the store, so that all is written, and opens another one.
func (a *answerCache) flush() {
	a.Helper()
	if a.close != nil {
		if err := a.close(); err != nil {
			a.Fatal(err)
		}
	}
	a.Answers, a.close = a.reopen()
}

func (a *answerCache) want(key, want string) {
	a.Helper()
	if got, ok := a.Get(key); !ok || string(got) != want {
		a.Errorf("%s: %.20q, %v, want %.20q", key, got, ok, want)
	}
}

func (a *answerCache) wantMiss(key string) {
	a.Helper()
	if got, ok := a.Get(key); ok {
		a.Errorf("%s: %.20q, want a miss", key, got)
	}
}

// answerBytes is the bound of these caches.
const answerBytes = 1 << 20

// testAnswers tests the cache of answers. Each call of reopen opens a store again, with a cache of answerBytes, and returns what
// closes it.
func testAnswers(t *testing.T, reopen func() (*store.Answers, func() error)) {
	a := &answerCache{T: t, reopen: reopen}
	a.flush()
	a.wantMiss("a")
	json := bytes.Repeat([]byte(`{"login":"somebody","id":1}`), 1<<17) // of 3.5 MB, a fraction is kept
	value := []byte("1")
	a.Put("a", value)
	value[0] = 'x' // it is the caller's again
	a.Put("empty", nil)
	a.Put("json", json)
	a.Put("large", []byte("1"))
	a.Put("gone", []byte("1"))
	a.flush()
	a.want("a", "1")
	a.want("empty", "")
	a.want("json", string(json))
	a.Put("a", noise(20_000))
	a.Put("large", noise(answerBytes/2))
	a.Forget("gone")
	a.Forget("never")
	a.flush()
	a.want("a", string(noise(20_000)))
	a.wantMiss("large")
	a.wantMiss("gone")

	body := noise(4 << 10)
	n := 0
	for range 8 {
		for range answerBytes / len(body) / 4 {
			a.Put(fmt.Sprint(n), body)
			n++
		}
		a.flush()
	}
	kept := 0
	for i := range n {
		if _, ok := a.Get(fmt.Sprint(i)); ok {
			kept++
		}
	}
	if bytes := kept * len(body); bytes > answerBytes*5/4 || bytes < answerBytes/2 {
		t.Errorf("%d bytes are kept, want about %d", bytes, answerBytes)
	}
	a.wantMiss("0")
	a.want(fmt.Sprint(n-1), string(body))

	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 200 {
				key := fmt.Sprint(g, "/", n%50)
				a.Put(key, []byte(key+"#"))
				if got, ok := a.Get(key); ok && string(got) != key+"#" {
					t.Errorf("%s: %q", key, got)
				}
			}
		})
	}
	wg.Wait()
	if err := a.close(); err != nil {
		t.Error(err)
	}
	a.Put("closed", nil)
	a.wantMiss("closed")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.db")
	testAnswers(t, func() (*store.Answers, func() error) {
		s, err := store.OpenSQLite(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Answers(answerBytes), s.Close
	})
}

// What is 30 days old goes, though there is room: its installation may have gone.
func TestOldAnswersGo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.db")
	for _, key := range []string{"old", "new"} {
		s := openTable(t, path)
		s.Answers(answerBytes).Put(key, make([]byte, 100))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if key == "old" {
			fixture(t, path, `UPDATE answers SET put_at = put_at - 31 * 86400000000`)
		}
	}
	a := openTable(t, path).Answers(answerBytes)
	if _, ok := a.Get("old"); ok {
		t.Error("what is 31 days old is there")
	}
	if _, ok := a.Get("new"); !ok {
		t.Error("what is new is gone")
	}
}

// An answer that one replica has got spares the others a request.
func TestAnswersOnPostgres(t *testing.T) {
	at := newSchema(t)
	testAnswers(t, func() (*store.Answers, func() error) {
		s, err := store.OpenPostgres(t.Context(), at, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Answers(answerBytes), s.Close
	})
	other := openPostgres(t, at).Answers(answerBytes)
	if _, ok := other.Get("empty"); ok {
		t.Error("an answer was kept that made way")
	}
	if got, ok := other.Get("0/0"); !ok || string(got) != "0/0#" {
		t.Errorf("of the other's answer there is %q, %v", got, ok)
	}
}
