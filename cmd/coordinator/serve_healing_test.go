//go:build !action

package main

// What a short outage leaves: whatever GitHub answers meanwhile, each check is right soon after its end.

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
)

// A weather is how GitHub fails: of those requests that it is for, that part is answered as it says.
type weather struct {
	name   string
	part   float64
	path   string // in the path of a request; "": any
	answer answerer
	late   time.Duration // by how much more than others it heals late if it lasted for a minute
}

// An answerer answers in GitHub's place.
type answerer func(req *http.Request, hub http.RoundTripper) (*http.Response, error)

// says answers with a status and a body.
func says(status int, header, body string) answerer {
	return func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
		name, value, _ := strings.Cut(header, ": ")
		return &http.Response{
			StatusCode: status, Header: http.Header{name: {value}}, Body: io.NopCloser(strings.NewReader(body)), Request: req,
			ContentLength: int64(len(body)), ProtoMajor: 1, ProtoMinor: 1,
		}, nil
	}
}

const (
	aJSON = "Content-Type: application/json; charset=utf-8"
	aPage = "Content-Type: text/html"
)

// Why some heal late after a minute.
const (
	alone   = 15 * time.Second // each pull request finds out for itself
	refused = 45 * time.Second // what is refused is asked about ever more rarely
	doubted = 55 * time.Second // a last opinion comes after a minute
)

// weathers are the ways of which an operator knows.
var weathers = []weather{
	{"500", 1, "", says(500, aJSON, `{"message":"Server Error"}`), 0},
	{"502 with a page", 1, "", says(502, aPage, "<html>Unicorn!</html>"), 0},
	{"403", 1, "", says(403, aJSON, `{"message":"Forbidden"}`), alone},
	{"401", 1, "", says(401, aJSON, `{"message":"Bad credentials"}`), refused},
	{"404", 1, "", says(404, aJSON, `{"message":"Not Found"}`), doubted},
	{"404 of repositories", 1, "/repos/", says(404, aJSON, `{"message":"Not Found"}`), doubted},
	{"404 of the policy", 1, "/contents/.github/review-coordinator", says(404, aJSON, `{"message":"Not Found"}`), alone},
	{"451", 1, "", says(451, aJSON, `{"message":"Repository access blocked"}`), alone},
	{"a page with 200", .5, "", says(200, aPage, "<html>This page is taking too long to load.</html>"), 0},
	{"a redirect in a circle", .5, "", func(req *http.Request, hub http.RoundTripper) (*http.Response, error) {
		return says(302, "Location: "+req.URL.String(), "")(req, hub)
	}, alone},
	{"reset", .5, "", func(*http.Request, http.RoundTripper) (*http.Response, error) { return nil, syscall.ECONNRESET }, 0},
	{"half a body", .5, "", func(req *http.Request, hub http.RoundTripper) (*http.Response, error) {
		resp, err := hub.RoundTrip(req)
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text[:len(text)/2]), brokenBody{}))
		}
		return resp, err
	}, 0},
	{"hangs", .3, "", func(*http.Request, http.RoundTripper) (*http.Response, error) {
		<-time.After(hangsFor)
		return nil, os.ErrDeadlineExceeded
	}, 0},
	{"GraphQL says null", 1, "/graphql", says(200, aJSON, `{"data":null}`), 0},
	{"GraphQL says that something went wrong", 1, "/graphql", says(200, aJSON,
		`{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout"}]}`), 0},
	{"no token: nothing in it", 1, "", withoutToken(says(201, aJSON, `{}`)), 0},
	{"no token: 404", 1, "", withoutToken(says(404, aJSON, `{"message":"Not Found"}`)), doubted},
}

// hangsFor is how long the client waits for an answer to begin. GitHub itself ends what takes it longer than ten seconds.
const hangsFor = 12 * time.Second

// withoutToken answers requests for a token so, and takes none that it gave before.
func withoutToken(token answerer) answerer {
	return func(req *http.Request, hub http.RoundTripper) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/access_tokens") {
			return token(req, hub)
		}
		return says(401, aJSON, `{"message":"Bad credentials"}`)(req, hub)
	}
}

// brokenBody ends a body early.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A changingSky is the way to GitHub, on which the weather changes. Which requests it strikes hangs on what they ask, and how often they
// were made, not on their order.
type changingSky struct {
	hub *sandbox.Hub

	mu    sync.Mutex
	now   weather
	asked map[string]uint64
}

func (s *changingSky) become(w weather) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = w
}

// strikes returns the weather of a moment, and whether it strikes a request that asks this.
func (s *changingSky) strikes(path, asks string) (weather, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[asks]++
	sum := fnv.New64a()
	sum.Write([]byte(asks))
	random := mathrand.New(mathrand.NewPCG(sum.Sum64(), s.asked[asks]))
	return s.now, strings.Contains(path, s.now.path) && random.Float64() < s.now.part
}

func (s *changingSky) RoundTrip(req *http.Request) (*http.Response, error) {
	asks := req.Method + req.URL.String()
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err := errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		asks += string(body)
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if w, struck := s.strikes(req.URL.Path, asks); struck {
		return w.answer(req, s.hub)
	}
	return s.hub.RoundTrip(req)
}

// soon is how long after the end of an outage everything must be right: 5 seconds if it was short, and else a share of its length.
func (w *weather) soon(length time.Duration) time.Duration {
	soon := 5 * time.Second
	if w.name == "hangs" { // what hangs at its end is waited for
		soon += hangsFor
	}
	if length >= time.Minute {
		soon += length/5 + w.late
	}
	return soon
}

// Pull requests are approved within an outage, which their reviewer does not notice. Soon after it all pass.
func TestAnOutageHealsSoon(t *testing.T) {
	testKey()
	for _, w := range weathers {
		for _, scene := range []struct {
			pulls  int
			length time.Duration
		}{{8, 6500 * time.Millisecond}, {1, time.Minute}} {
			t.Run(fmt.Sprintf("%s for %s, %d", w.name, scene.length, scene.pulls), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { healsSoon(t, w, scene.length, scene.pulls) })
			})
		}
	}
}

func healsSoon(t *testing.T, w weather, length time.Duration, pulls int) {
	t.Helper()
	hub, g := newShop(sagePolicy)
	sky := &changingSky{hub: hub, asked: map[string]uint64{}}
	b := inBubbleOver(t, hub, t.TempDir(), "", slog.New(slog.DiscardHandler), func(table store.Store) store.Store { return table }, sky)
	defer b.stop()
	for n := 1; n <= pulls; n++ {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprint("a", n)})
	}
	<-time.After(time.Minute)
	sky.become(w)
	<-time.After(time.Second)
	for n := 1; n <= pulls; n++ {
		if _, err := g.Review(n, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Yes."}); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(length - time.Second)
	sky.become(weather{})
	ended := time.Now()
	passed := func() (n int) {
		for pull := 1; pull <= pulls; pull++ {
			if runs := g.OwnCheckRuns(g.Head(pull)); len(runs) > 0 && runs[len(runs)-1].Conclusion == "success" {
				n++
			}
		}
		return n
	}
	for passed() < pulls && time.Since(ended) < 5*time.Minute {
		<-time.After(100 * time.Millisecond)
	}
	t.Logf("%d pass %.1f s after its end", passed(), time.Since(ended).Seconds())
	if time.Since(ended) > w.soon(length) {
		t.Errorf("%d of %d pass %s after its end; want %s at most", passed(), pulls, time.Since(ended), w.soon(length))
	}
}

// An outage of 404s in which a repository is looked over makes nobody deaf: what is objected after it ends the pass soon.
func TestAPolicyThatWasNotFoundForAWhileCounts(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(sagePolicy)
		sky := &changingSky{hub: hub, asked: map[string]uint64{}}
		b := inBubbleOver(t, hub, t.TempDir(), "", slog.New(slog.DiscardHandler), func(table store.Store) store.Store { return table }, sky)
		defer b.stop()
		g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a1"})
		say := func(state string, after time.Duration) {
			<-time.After(after)
			if _, err := g.Review(1, sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: "So."}); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
		}
		conclusion := func() string {
			runs := g.OwnCheckRuns(g.Head(1))
			return runs[len(runs)-1].Conclusion
		}
		say("APPROVED", time.Minute)
		<-time.After(10 * time.Minute)
		if is := conclusion(); is != "success" {
			t.Fatalf("it is %q", is)
		}
		sky.become(weather{part: 1, path: "/contents/.github/review-coordinator", answer: says(404, aJSON, `{"message":"Not Found"}`)})
		<-time.After(5*time.Minute + 30*time.Second)
		sky.become(weather{})
		say("CHANGES_REQUESTED", 10*time.Second)
		if is := conclusion(); is != "failure" {
			t.Errorf("10 s after the objection it is %q", is)
		}
	})
}

// A policy that is not found for a moment, wherever it stands, is there all the same: GraphQL says so, and no check is cancelled.
func TestAPolicyThatIsNotFoundForAMomentCancelsNothing(t *testing.T) {
	testKey()
	for _, path := range config.Paths() {
		synctest.Test(t, func(t *testing.T) {
			hub, g := newShop(sagePolicy)
			g.RemoveFile(config.Paths()[0], "")
			g.SetFile(path, "", sagePolicy)
			sky := &changingSky{hub: hub, asked: map[string]uint64{}}
			b := inBubbleOver(t, hub, t.TempDir(), "", slog.New(slog.DiscardHandler), func(table store.Store) store.Store { return table }, sky)
			defer b.stop()
			g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a1"})
			<-time.After(time.Minute)
			sky.become(weather{part: 1, path: "/contents/.github/review-coordinator", answer: says(404, aJSON, `{"message":"Not Found"}`)})
			_, err := g.Review(1, sandbox.ReviewSpec{By: "sage[bot]", State: "CHANGES_REQUESTED", Body: "So."})
			mustHappen(t, err)
			<-time.After(3 * time.Second)
			for _, run := range g.OwnCheckRuns(g.Head(1)) {
				if run.Conclusion != "" && run.Conclusion != "failure" {
					t.Errorf("%s: while its policy is not found, the check is %q", path, run.Conclusion)
				}
			}
			sky.become(weather{})
			<-time.After(5 * time.Second)
			if runs := g.OwnCheckRuns(g.Head(1)); runs[len(runs)-1].Conclusion != "failure" {
				t.Errorf("%s: 5 s later it is %q", path, runs[len(runs)-1].Conclusion)
			}
		})
	}
}
