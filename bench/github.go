package main

// The fake GitHub of a mode: the sandbox behind a port, the requests that were made of it, the events of a pull request, and
// the sender of webhooks.

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// reviewers are the reviewers of a repository, of which it may have the first ones alone. All of them must approve.
var reviewers = []struct{ name, workflow, heading string }{
	{"openai", ".github/workflows/openai-review.yml", "## OpenAI Review"},
	{"gemini", ".github/workflows/gemini-review.yml", "## Gemini Review"},
	{"claude", ".github/workflows/claude-review.yml", "## Claude Review"},
}

const approvalText = "I have read all of it, and every file that it touches.\n\n**Ready to merge?** Yes"

// A fakeGitHub is a GitHub in memory that listens on this machine.
type fakeGitHub struct {
	hub                  *sandbox.Hub
	url, secret, keyFile string // keyFile is the file of the App's private key
	pulls                []pull
	repos                []*repository
	sender               *http.Client
	hook                 atomic.Pointer[func(moment)] // told of each moment; nil: nothing is

	mu       sync.Mutex
	requests []request
}

// A repository is a repository with an installation of its own.
type repository struct {
	*sandbox.GitHub
	name         string // owner/name
	installation int64
}

// A pull is a pull request.
type pull struct {
	*repository
	number int
}

func (p pull) String() string { return fmt.Sprintf("%s#%d", p.name, p.number) }

// A request is a request as GitHub saw it.
type request struct {
	method, path string
	token        string // with which it was made: each process has its own for an installation
	status       int
}

// A moment is one at which a daemon may be struck.
type moment struct {
	kind momentKind
	request
}

type momentKind uint8

const (
	acknowledged momentKind = 1 + iota // the daemon answered 202
	carriedOut                         // GitHub has carried out a request, and not answered it
	answered                           // GitHub's answer is sent
)

// newFakeGitHub makes a GitHub that listens, with open pull requests. Its limits are GitHub's, unless there is another of the hour.
func (b *bench) newFakeGitHub(repositories, pulls, reviewerCount, hourlyLimit int) (*fakeGitHub, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the App's key: %w", err)
	}
	t := &fakeGitHub{keyFile: filepath.Join(b.dir, "app.pem"), secret: rand.Text(), sender: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 10 * time.Second, // GitHub waits no longer
	}}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	t.hub = sandbox.NewHub(sandbox.HubOptions{
		App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: t.secret, Latency: b.latency, Key: &private.PublicKey,
		EnforceLimits: hourlyLimit == 0, HourlyLimit: hourlyLimit, ParallelDeliveries: 64,
	})
	t.hub.AfterRequest(t.keepRequest)
	policy := "version: 1\nquorum: all\ntimeout: 2h\ndeadline: 4h\nretry:\n  backoff: 1s\ncircuit_breaker:\n  enabled: false\nreviewers:\n"
	for _, who := range reviewers[:reviewerCount] {
		policy += fmt.Sprintf("  - name: %s\n    workflow: %s\n    heading: %q\n", who.name, who.workflow, who.heading)
	}
	for n := range repositories {
		t.addRepository(n, pulls, policy)
	}
	listener, err := (&net.ListenConfig{}).Listen(b.ctx, "tcp", "127.0.0.1:0")
	if err := errors.Join(os.WriteFile(t.keyFile, text, 0o600), err); err != nil {
		return nil, fmt.Errorf("listen as GitHub: %w", err)
	}
	t.url = "http://" + listener.Addr().String() + "/api/v3"
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it ends with the process
	return t, nil
}

func (t *fakeGitHub) addRepository(n, pulls int, policy string) {
	owner, none := fmt.Sprintf("org-%04d", n), sandbox.Lag{Rerun: -1, Runner: -1, Cancel: -1}
	r := &repository{name: owner + "/shop", installation: int64(1000 + n)}
	r.GitHub = sandbox.New(sandbox.Options{Owner: owner, Repo: "shop", App: t.hub.App(), Lag: none})
	r.SetFile(".github/review-coordinator.yml", "", policy)
	for number := 1; number <= pulls; number++ {
		r.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprintf("pull %d, push 1", number)})
		t.pulls = append(t.pulls, pull{r, number})
	}
	t.hub.Add(r.installation, r.GitHub)
	t.repos = append(t.repos, r)
}

// ServeHTTP answers as GitHub.
func (t *fakeGitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.hub.ServeHTTP(w, r)
	_ = http.NewResponseController(w).Flush() // a client that is gone needs no answer
	t.tellHook(moment{answered, request{method: r.Method, path: r.URL.Path}})
}

// keepRequest keeps a request that GitHub has carried out, and not answered yet.
func (t *fakeGitHub) keepRequest(r *http.Request, status int) {
	q := request{r.Method, strings.TrimPrefix(r.URL.Path, "/api/v3"), r.Header.Get("Authorization"), status}
	t.mu.Lock()
	t.requests = append(t.requests, q)
	t.mu.Unlock()
	t.tellHook(moment{carriedOut, q})
}

func (t *fakeGitHub) tellHook(m moment) {
	if f := t.hook.Load(); f != nil {
		(*f)(m)
	}
}

// countRequests returns how many requests there are of a kind.
func countRequests(all []request, is func(request) bool) (n int) {
	for _, q := range all {
		if is(q) {
			n++
		}
	}
	return n
}

// takeRequests returns the requests since the last call, once there was none for a second: the daemon rests.
func (t *fakeGitHub) takeRequests(ctx context.Context) ([]request, error) {
	for last := -1; ; {
		t.mu.Lock()
		all := t.requests
		if len(all) == last {
			t.requests = nil
		}
		t.mu.Unlock()
		if len(all) == last {
			return all, nil
		}
		last = len(all)
		if err := sleepFor(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// sendDelivery sends a signed delivery to a daemon. It returns the answer's status, 0 if there is none, and whether the daemon
// keeps what it accepted: it does not keep what concerns nobody.
func (t *fakeGitHub) sendDelivery(ctx context.Context, d *daemon, w sandbox.HookDelivery) (status int, kept bool) {
	req, err := t.hub.DeliveryRequest(ctx, "http://"+d.address+"/webhook", w)
	if err != nil {
		return 0, false // the context is over
	}
	resp, err := t.sender.Do(req) //nolint:gosec // to the daemon that we started
	if err != nil {
		return 0, false
	}
	defer resp.Body.Close()
	var said struct{ Result string }
	if json.NewDecoder(resp.Body).Decode(&said) != nil {
		return 0, false
	}
	return resp.StatusCode, resp.StatusCode == http.StatusAccepted && said.Result != "ignored"
}

// startRun begins a reviewer's run.
func (p pull) startRun(reviewer int) (int64, error) {
	who := reviewers[reviewer]
	return p.StartRun(sandbox.RunSpec{Workflow: who.workflow, Name: who.name, PR: p.number, Jobs: []string{"review"}})
}

// postAnswer writes a reviewer's answer; "": it writes none.
func (p pull) postAnswer(reviewer int, text string) (err error) {
	if text != "" {
		_, err = p.Comment(p.number, "github-actions[bot]", reviewers[reviewer].heading+"\n\n"+text)
	}
	return err
}

// endRun ends a run; conclusion "" is success.
func (p pull) endRun(run int64, conclusion string) error {
	_, err := p.FinishRun(run, sandbox.Finish{Conclusion: conclusion})
	return err
}

// approveByAll plays a whole run of each reviewer, which approves.
func (p pull) approveByAll() error {
	for r := range reviewers {
		run, err := p.startRun(r)
		if err := errors.Join(err, p.postAnswer(r, approvalText), p.endRun(run, "")); err != nil {
			return err
		}
	}
	return nil
}

// awaitChecks waits until the check of each pull request's head has a conclusion; "": any or none.
func (b *bench) awaitChecks(pulls []pull, conclusion string, most time.Duration) error {
	for _, p := range pulls {
		if err := b.awaitThat(fmt.Sprintf("check %q of %s", conclusion, p), most, func() bool {
			own := p.OwnCheckRuns(p.Head(p.number))
			return len(own) > 0 && (conclusion == "" || own[0].Conclusion == conclusion)
		}); err != nil {
			return err
		}
	}
	return nil
}
