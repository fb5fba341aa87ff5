package github_test

// Words of a pull request that are many, or shown oddly.

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// rewriting changes the answers at a path.
func rewriting(path string, change func(body []byte) []byte) func(*setup) {
	return func(s *setup) {
		before := s.wire
		s.wire = func(next http.RoundTripper) http.RoundTripper {
			if before != nil {
				next = before(next)
			}
			return roundTrip(func(req *http.Request) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err != nil || !strings.HasSuffix(req.URL.Path, path) || resp.StatusCode != http.StatusOK {
					return resp, err
				}
				body, err := io.ReadAll(resp.Body)
				body = change(body)
				resp.Header.Del("ETag")
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				return resp, err
			})
		}
	}
}

// GitHub may date a comment's last change before its creation: REST and GraphQL show that alike.
func TestACommentChangedBeforeItsCreation(t *testing.T) {
	changed := regexp.MustCompile(`("updated_at"|"updatedAt"): ?"[^"]*"`)
	early := func(body []byte) []byte { return changed.ReplaceAll(body, []byte(`$1:"1999-12-31T23:59:59Z"`)) }
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneSage), rewriting("/issues/7/comments", early), rewriting("/graphql", early))
		w.look()
		pass(time.Minute)
		w.comment("sage[bot]", plainYes)
		w.look()
		w.reads("success", "")
	})
}

// What strangers begin as we begin our comment that tells the verdict is not kept.
func TestStrangersVerdictsAreNotKept(t *testing.T) {
	for name, identity := range map[string]func(*setup){"App": func(*setup) {}, "job": asJob, "person": asCarol} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(oneSage), identity)
				all := github.NewMemories(4)
				w.forge.Share(all)
				for range 20 {
					w.comment("mallory", quorum.VerdictMarker+strings.Repeat("x", 30<<10))
				}
				w.look()
				w.forge.Expect(quorum.PR{Owner: "acme", Repo: "shop", Number: 8}, "")
				if n := all.Len(); n != 2 {
					t.Errorf("%d pull requests are remembered", n)
				}
			})
		})
	}
}

// The lists that confirm a pass are read page by page, and the words of none are kept.
func TestConfirmingKeepsNoWords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var held []uint64 // at each page
		w := newWorld(t, under(oneSage), rewriting("/issues/7/comments", func(body []byte) []byte {
			var now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&now)
			held = append(held, now.HeapAlloc)
			return body
		}))
		for range 60 {
			w.comment("mallory", longestComment)
		}
		w.look()
		held = nil
		w.comment("sage[bot]", plainYes)
		w.forge.Expect(w.pr, w.g.Head(7))
		w.look()
		w.reads("success", "")
		if len(held) < 6 || slices.Max(held) > held[0]+6<<20 {
			t.Errorf("at each page there are held %d bytes", held)
		}
	})
}

// A text that REST's list never shows costs each event a list, and no look more.
func TestATextThatIsNeverListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneSage), rewriting("/issues/7/comments", func([]byte) []byte { return []byte("[]") }))
		w.comment("sage[bot]", plainYes)
		w.look()
		w.reads("success", "")
		w.loop.Told = true
		for range 3 {
			pass(time.Minute)
			w.forge.Expect(w.pr, w.g.Head(7))
			if _, err := w.loop.Reconcile(t.Context(), w.pr); err != nil {
				t.Errorf("it is looked at again: %v", err)
			}
			w.reads("success", "")
		}
	})
}

// An inline comment that the query does not show as it was edited passes nothing, unless REST and the query never agree.
func TestAnInlineCommentThatLags(t *testing.T) {
	bubble(t, func(t *testing.T) {
		isEdited := false
		w := newWorld(t, under(oneCopilot), rewriting("/pulls/7/comments", func(body []byte) []byte {
			if isEdited {
				body = bytes.ReplaceAll(body, []byte("It may leak."), []byte("It leaks."))
			}
			return body
		}))
		w.look()
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{
			By:       copilotBot,
			Body:     "Copilot reviewed 1 out of 1 changed files in this pull request and generated 1 comment.",
			Comments: []sandbox.LineComment{{Path: "a.go", Line: 3, Body: "It may leak."}},
		}))
		w.look()
		pass(2 * time.Minute)
		w.must(w.g.ResolveThreads(7, copilotBot, "bob"))
		isEdited, w.loop.Told = true, true
		for began := time.Now(); time.Since(began) < maxLag; pass(5 * time.Second) {
			w.forge.Expect(w.pr, w.g.Head(7))
			if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil || w.own().Conclusion == "success" {
				t.Fatalf("after %s it is %s: %v", time.Since(began), w.own().Conclusion, err)
			}
		}
		w.look()
		w.reads("success", "")
	})
}

// maxLag is how long what REST shows otherwise than the query is taken for a lag.
const maxLag = 30 * time.Second
