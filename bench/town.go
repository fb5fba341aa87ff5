package main

// The fake GitHub of a measurement: installations, repositories and pull requests, and the requests that were made.

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// reviewers are the reviewers of every repository. All of them must approve.
var reviewers = []struct{ name, workflow, heading string }{
	{"openai", ".github/workflows/openai-review.yml", "## OpenAI Review"},
	{"gemini", ".github/workflows/gemini-review.yml", "## Gemini Review"},
	{"claude", ".github/workflows/claude-review.yml", "## Claude Review"},
}

// policyText returns the policy of every repository. Its deadlines are longer than any measurement.
func policyText(of int, backoff time.Duration) string {
	var p strings.Builder
	fmt.Fprintf(
		&p,
		"version: 1\nquorum: all\ntimeout: 2h\ndeadline: 4h\nretry:\n  backoff: %s\ncircuit_breaker:\n  enabled: false\nreviewers:\n",
		backoff,
	)
	for _, r := range reviewers[:of] {
		fmt.Fprintf(&p, "  - name: %s\n    workflow: %s\n    heading: %q\n", r.name, r.workflow, r.heading)
	}
	return p.String()
}

const approvalComment = "\n\nI have read all of it, and every file that it touches.\n\n**Ready to merge?** Yes"

// fakeOptions say how much there is on a fake GitHub, and how it behaves.
type fakeOptions struct {
	installations int
	repositories  int // of each installation
	pulls         int // of each repository
	reviewers     int // 0: all three
	backoff       time.Duration
	latency       time.Duration
	enforceLimits bool // secondary limits are enforced
	hourlyLimit   int  // requests an hour; 0: 5,000
	parallel      int
	playBefore    func(trackedPull) error // called for each pull request before the start; it sends no webhooks
}

// A fakeGitHub is a GitHub in memory that listens on this machine.
type fakeGitHub struct {
	hub     *sandbox.Hub
	options fakeOptions
	url     string
	keyFile string // file of the App's private key
	secret  string
	repos   []*repository
	server  *http.Server

	mu            sync.Mutex
	requests      []loggedRequest
	answerHandler func(loggedRequest) // called for each request, once its answer is sent
	holdUntil     chan struct{}       // requests wait until it is closed; nil: they do not wait
}

// A repository is a repository with its installation.
type repository struct {
	*sandbox.GitHub
	installation int64
	name         string // owner/name
	pullCount    int
}

// A trackedPull is a pull request of a repository.
type trackedPull struct {
	*repository
	number int
}

func (p trackedPull) String() string { return p.name + "#" + strconv.Itoa(p.number) }

// A loggedRequest is a request as GitHub saw it.
type loggedRequest struct {
	began, ended time.Time
	method, path string
	token        string // with which it was made: each process has its own for an installation
	status       int
}

func newFakeGitHub(dir string, o fakeOptions) (*fakeGitHub, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the App's key: %w", err)
	}
	t := &fakeGitHub{options: o, keyFile: filepath.Join(dir, "app.pem"), secret: rand.Text()}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	if err := os.WriteFile(t.keyFile, text, 0o600); err != nil {
		return nil, fmt.Errorf("write the App's key: %w", err)
	}
	t.hub = sandbox.NewHub(sandbox.HubOptions{
		App: sandbox.App{
			Slug: "quorum-app",
			ID:   4711,
		}, Secret: t.secret, Latency: o.latency, Key: &private.PublicKey,
		HourlyLimit: o.hourlyLimit, EnforceLimits: o.enforceLimits, ParallelDeliveries: o.parallel,
	})
	for in := range o.installations {
		for n := range o.repositories {
			if err := t.addRepository(in, n, o.playBefore); err != nil {
				return nil, err
			}
		}
	}
	if err := t.startServer(); err != nil {
		return nil, err
	}
	return t, nil
}

// addRepository adds a repository with its open pull requests, and calls play for each of them. No webhook is sent.
func (t *fakeGitHub) addRepository(installation, n int, play func(trackedPull) error) error {
	r := &repository{installation: int64(1000 + installation), pullCount: t.options.pulls}
	owner, repo := fmt.Sprintf("org-%04d", installation), fmt.Sprintf("shop-%04d", n)
	r.name = owner + "/" + repo
	r.GitHub = sandbox.New(sandbox.Options{Owner: owner, Repo: repo, App: t.hub.App(), Lag: sandbox.Lag{Rerun: -1, Runner: -1, Cancel: -1}})
	of := t.options.reviewers
	if of == 0 {
		of = len(reviewers)
	}
	r.SetFile(".github/review-coordinator.yml", "", policyText(of, max(t.options.backoff, time.Second)))
	for number := 1; number <= t.options.pulls; number++ {
		r.OpenPull(sandbox.PullSpec{Number: number, Head: headName(number, 1)})
		if play != nil {
			if err := play(trackedPull{r, number}); err != nil {
				return fmt.Errorf("play: %w", err)
			}
		}
	}
	t.hub.Add(r.installation, r.GitHub)
	t.repos = append(t.repos, r)
	return nil
}

// headName returns the name of a push's commit, the same in every repository.
func headName(number, cycle int) string { return fmt.Sprintf("pull %d, push %d", number, cycle) }

func (t *fakeGitHub) allPulls() (all []trackedPull) {
	for _, r := range t.repos {
		for n := 1; n <= r.pullCount; n++ {
			all = append(all, trackedPull{r, n})
		}
	}
	return all
}

func (t *fakeGitHub) startServer() error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen as GitHub: %w", err)
	}
	t.url = "http://" + l.Addr().String() + "/api/v3"
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { _ = t.server.Serve(l) }() // close ends it
	return nil
}

func (t *fakeGitHub) close() {
	if err := t.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return // the listener is closed in any case
	}
}

// ServeHTTP answers as GitHub and logs the request.
func (t *fakeGitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := loggedRequest{
		began: time.Now(), method: r.Method, path: strings.TrimPrefix(r.URL.Path, "/api/v3"), token: r.Header.Get("Authorization"),
	}
	if q.path == "/api/graphql" {
		q.path = "/graphql"
	}
	t.mu.Lock()
	held := t.holdUntil
	t.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done(): // the caller gave up; GitHub carries it out all the same
		}
	}
	s := &statusWriter{ResponseWriter: w}
	t.hub.ServeHTTP(s, r)
	if f, ok := w.(http.Flusher); ok && t.answerHandler != nil {
		f.Flush()
	}
	q.ended, q.status = time.Now(), s.status
	t.mu.Lock()
	t.requests = append(t.requests, q)
	told := t.answerHandler
	t.mu.Unlock()
	if told != nil {
		told(q)
	}
}

// endRun ends a run and returns the delivery that announces it.
func (t *fakeGitHub) endRun(p trackedPull, run int64) (w signedDelivery, err error) {
	told, err := t.collectDeliveries(func() error { _, err := p.FinishRun(run, sandbox.Finish{}); return err })
	if err != nil {
		return w, err
	}
	if told = filterDeliveries(told, "workflow_run.completed"); len(told) != 1 {
		return w, fmt.Errorf("%s: its run ended with %d deliveries", p, len(told))
	}
	return t.signDelivery(told[0]), nil
}

// holdRequests makes every request wait until release is called.
func (t *fakeGitHub) holdRequests() (release func()) {
	held := make(chan struct{})
	t.mu.Lock()
	t.holdUntil = held
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.holdUntil = nil
		t.mu.Unlock()
		close(held)
	}
}

// statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets a fault of the sandbox hijack the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// setAnswerHandler sets the function that is called after each answer.
func (t *fakeGitHub) setAnswerHandler(f func(loggedRequest)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answerHandler = f
}

// takeRequests returns the requests since the last call.
func (t *fakeGitHub) takeRequests() []loggedRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.requests
	t.requests = nil
	for _, r := range t.repos {
		r.ForgetRequests()
	}
	return all
}

var (
	digitsPattern = regexp.MustCompile(`^\d+$`)
	commitPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// pullReadPattern matches the reviews of a pull request, or itself, which not every look reads.
	pullReadPattern = regexp.MustCompile(`^/repos/([^/]+/[^/]+)/pulls/(\d+)(/reviews)?$`)
)

// endpointName returns a request's method and path with placeholders for names and numbers.
func (q loggedRequest) endpointName() string {
	parts := strings.Split(strings.TrimPrefix(q.path, "/"), "/")
	for i, p := range parts {
		switch {
		case parts[0] == "repos" && i == 1:
			parts[i] = "{owner}"
		case parts[0] == "repos" && i == 2:
			parts[i] = "{repo}"
		case digitsPattern.MatchString(p):
			parts[i] = "{n}"
		case commitPattern.MatchString(p):
			parts[i] = "{sha}"
		case i == 4 && parts[3] == "contents":
			return q.method + " /" + strings.Join(parts[:i], "/") + "/{path}"
		case i > 0 && (parts[i-1] == "branches" || parts[i-1] == "workflows"):
			parts[i] = "{name}"
		}
	}
	return q.method + " /" + strings.Join(parts, "/")
}

func (q loggedRequest) isWrite() bool {
	return q.method != http.MethodGet && q.path != "/graphql" && !strings.HasSuffix(q.path, "/access_tokens")
}

// countReads counts how often each pull request's reviews were read: once by every look, and again if something had changed
// meanwhile.
func countReads(all []loggedRequest) map[string]int {
	n := map[string]int{}
	for _, q := range all {
		if m := pullReadPattern.FindStringSubmatch(q.path); m != nil && m[3] != "" && q.method == http.MethodGet {
			n[m[1]+"#"+m[2]]++
		}
	}
	return n
}

// noteEndpoints adds a note with the number of requests by status and endpoint, divided by per.
func (r *report) noteEndpoints(all []loggedRequest, per int) {
	counts := map[string]int{}
	for _, q := range all {
		counts[fmt.Sprintf("%d  %s", q.status, q.endpointName())]++
	}
	var text strings.Builder
	fmt.Fprintf(&text, "requests by status and endpoint, per pull request (%d):", per)
	for _, name := range sortedKeys(counts) {
		fmt.Fprintf(&text, "\n  %6s  %s", formatNumber(float64(counts[name])/float64(per)), name)
	}
	r.addNote("%s", text.String())
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// countWaves counts requests in series: each began after the one before it had ended.
func countWaves(all []loggedRequest) int {
	slices.SortFunc(all, func(a, b loggedRequest) int { return a.ended.Compare(b.ended) })
	n, end := 0, time.Time{}
	for _, q := range all {
		if !q.began.Before(end) {
			n, end = n+1, q.ended
		}
	}
	return n
}

// awaitChecks waits until the check of every pull request's head satisfies is.
func awaitChecks(ctx context.Context, pulls []trackedPull, most time.Duration, is func(sandbox.StoredCheckRun) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("after %s", most))
	defer cancel()
	missing := func(p trackedPull) bool {
		own := p.OwnCheckRuns(p.Head(p.number))
		return len(own) == 0 || !is(own[len(own)-1])
	}
	left := pulls
	for {
		for len(left) > 0 && !missing(left[0]) { // only up to the first missing one: the daemon needs the cores
			left = left[1:]
		}
		if len(left) == 0 {
			return nil
		}
		if err := sleepFor(ctx, 50*time.Millisecond); err != nil {
			left = append(left[:1:1], slices.DeleteFunc(slices.Clone(left[1:]), func(p trackedPull) bool { return !missing(p) })...)
			return fmt.Errorf("wait for checks: %d of %d are missing, for example %s: %w", len(left), len(pulls), left[0], err)
		}
	}
}

func isAnyCheck(sandbox.StoredCheckRun) bool { return true }

func isPassed(c sandbox.StoredCheckRun) bool {
	return c.Status == "completed" && c.Conclusion == "success"
}
