//go:build !action

package main

// The demo's world: the server that coordinator serve runs, with its table, its webhooks over HTTP and its dashboard, and a
// GitHub in memory in front of it.

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/story"
)

// demoInstallationID is that of the App on the demo's repository.
const demoInstallationID = 77

// demo is a story with the daemon that lives through it.
type demo struct {
	story       *story.Scenario
	clock       *storyClock
	hub         *sandbox.Hub
	github      *sandbox.GitHub
	server      *server
	dir         string
	postedCount atomic.Int64 // webhooks
	workEnded   <-chan struct{}
}

// openDemo opens everything and begins nothing. The dashboard is at admin. What it returns must be closed, with an
// error too.
func openDemo(ctx context.Context, c *command, s *story.Scenario, clock *storyClock, admin string, looked func(dashboard.Sight)) (*demo, error) {
	d := &demo{story: s, clock: clock}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return d, fmt.Errorf("make the App's key: %w", err)
	}
	secret := rand.Text()
	app := sandbox.App{Slug: "review-coordinator", ID: 4711}
	d.hub = sandbox.NewHub(sandbox.HubOptions{App: app, Secret: secret, Now: clock.Now}) // without Key: JWTs are signed by the machine's clock
	d.hub.Disturb(func(sandbox.Delivery) sandbox.Fate {
		d.postedCount.Add(1)
		return sandbox.Fate{}
	})
	d.github = s.GitHub(sandbox.Options{Now: clock.Now})
	d.github.SetFile(".github/review-coordinator.yml", "", s.Policy)
	d.hub.Add(demoInstallationID, d.github)
	if d.dir, err = os.MkdirTemp("", "review-coordinator-demo-"); err != nil {
		return d, fmt.Errorf("make the demo's folder: %w", err)
	}
	d.server, err = openServer(ctx, serverConfig{
		Listen: anyLocalAddress, AdminListen: admin, AdminElse: anyLocalAddress, Database: filepath.Join(d.dir, "demo.db"), Secrets: []string{secret}, Resync: 5 * time.Minute, Log: c.demoLog(), Now: clock.Now,
		GitHub: github.Options{
			App:       &github.App{ID: app.ID, Key: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})},
			Transport: tokenExpiryTransport{d.hub}, UserAgent: "review-coordinator",
		},
		Tune: func(config *daemon.Config) {
			config.Alarm = clock.Alarm
			config.Looked = func(_ quorum.PR, s dashboard.Sight) { looked(s) }
		},
	})
	return d, err
}

// The dashboard is where serve has it, or, if another program is there, anywhere.
const defaultAdminAddress, anyLocalAddress = "127.0.0.1:9090", "127.0.0.1:0"

// tokenExpiryTransport brings the Hub's answers. A token's end is told by the story's clock, and what asks for tokens goes by the
// machine's: by that one it is told an end that comes earlier.
type tokenExpiryTransport struct{ hub *sandbox.Hub }

// tokenLifetime is less than the hour that a token is good for, by more than a story takes.
const tokenLifetime = 30 * time.Minute

func (s tokenExpiryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.hub.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusCreated || !strings.HasSuffix(req.URL.Path, "/access_tokens") {
		return resp, err
	}
	defer resp.Body.Close()
	var token map[string]json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&token); err != nil {
		return nil, fmt.Errorf("read a token: %w", err)
	}
	token["expires_at"] = json.RawMessage(time.Now().Add(tokenLifetime).UTC().Format(`"` + time.RFC3339 + `"`))
	text, err := json.Marshal(token)
	if err != nil {
		return nil, fmt.Errorf("write a token: %w", err) // unreachable: it was read
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Del("Content-Length")
	return resp, nil
}

// demoLog says what goes wrong; with -v everything, as serve does. What is decided, the stage tells.
func (c *command) demoLog() *slog.Logger {
	if c.Verbose {
		return c.serverLog()
	}
	return slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// close leaves nothing behind.
func (d *demo) close() {
	if d.server != nil {
		d.server.close()
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir) // a folder for such things: the system clears it
	}
}

// dashboardURL is where it is.
func (d *demo) dashboardURL() string { return "http://" + d.server.adminListener.Addr().String() + "/" }

// runDaemon lets the daemon work, and GitHub tell it what happens, while tell does.
func (d *demo) runDaemon(ctx context.Context, tell func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	done, ok := d.server.feed.Subscribe(ctx, "")
	if !ok {
		return errors.New("hear of the daemon's work: too many listen") // unreachable: nobody else does yet
	}
	d.workEnded = done
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	group.Go(func() error { return d.server.serve(serving) })
	group.Go(func() error {
		defer end() // what is on its way arrives: the server must not complain of a caller that hung up
		wire := &http.Transport{}
		defer wire.CloseIdleConnections()
		d.hub.DeliverTo(ctx, "http://"+d.server.webhookListener.Addr().String()+daemon.WebhookPath, &http.Client{Transport: wire})
		return nil
	})
	group.Go(func() error {
		defer stop()
		return tell(ctx)
	})
	return group.Wait()
}

// playStory tells the story, once the daemon has found the repository.
func (d *demo) playStory(ctx context.Context, a story.Audience) error {
	if err := d.awaitWork(ctx); err != nil {
		return err
	}
	if err := d.awaitSettled(ctx); err != nil {
		return err
	}
	_, err := d.story.Perform(ctx, story.Performance{
		Hub: d.hub, GitHub: d.github, Clock: sandbox.Clock{Now: d.clock.Now, Sleep: d.advanceStory}, Rest: d.awaitNextDue, Audience: a,
	})
	return err
}

// runInRealTime lets the time go on as it does elsewhere, until ctx ends.
func (d *demo) runInRealTime(ctx context.Context) {
	_ = d.clock.runUntil(ctx, d.clock.Now().AddDate(100, 0, 0), 1) // it ends by ctx
}

// advanceStory lets the time pass. What the daemon does by itself meanwhile it does in its moment.
func (d *demo) advanceStory(ctx context.Context, duration time.Duration) error {
	until := d.clock.Now().Add(duration)
	for {
		due, err := d.server.store.Next(ctx, nil)
		if err != nil {
			return fmt.Errorf("ask when the daemon acts: %w", err)
		}
		own := due.After(d.clock.Now()) && due.Before(until)
		if !own {
			return d.clock.advanceTo(ctx, until)
		}
		if err := d.clock.advanceTo(ctx, due); err != nil {
			return err
		}
		if err := d.awaitSettled(ctx); err != nil {
			return err
		}
	}
}

// awaitNextDue waits until the daemon has dealt with all that it was told, and returns when a pull request is looked at by itself:
// looking over the repositories goes on for ever.
func (d *demo) awaitNextDue(ctx context.Context) (next time.Time, err error) {
	if err := d.awaitSettled(ctx); err != nil {
		return time.Time{}, err
	}
	rows, err := d.server.store.List(ctx, store.Query{Thin: true})
	if err != nil {
		return time.Time{}, fmt.Errorf("ask what is due: %w", err)
	}
	for _, row := range rows {
		if strings.Contains(row.Key, "#") && !row.Due.IsZero() && (next.IsZero() || row.Due.Before(next)) {
			next = row.Due
		}
	}
	return next, nil
}

// awaitSettled waits until all webhooks have come in and all work is done: what is done may cause webhooks, and these work.
func (d *demo) awaitSettled(ctx context.Context) error {
	for {
		posted := d.postedCount.Load()
		if err := d.hub.Delivered(ctx); err != nil {
			return fmt.Errorf("deliver webhooks: %w", err)
		}
		for {
			busy, err := d.hasWork(ctx)
			if err != nil {
				return err
			}
			if !busy {
				break
			}
			if err := d.awaitWork(ctx); err != nil {
				return err
			}
		}
		if d.postedCount.Load() == posted {
			return nil
		}
	}
}

// hasWork reports whether anything is due or worked on. It reads the table once: between two reads a work could end, of which
// the first sees no due time and the second no lease.
func (d *demo) hasWork(ctx context.Context) (bool, error) {
	rows, err := d.server.store.List(ctx, store.Query{Thin: true})
	if err != nil {
		return false, fmt.Errorf("ask what is due: %w", err)
	}
	now := d.clock.Now()
	return slices.ContainsFunc(rows, func(r store.Row) bool { return r.Leased || !r.Due.IsZero() && !r.Due.After(now) }), nil
}

// awaitWork waits for the end of a work.
func (d *demo) awaitWork(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case _, ok := <-d.workEnded:
		if !ok {
			return fmt.Errorf("wait for the daemon: %w", context.Canceled)
		}
		return nil
	}
}

// firstFinding is what a reviewer objects to first, as the text of the check quotes it; "" if it quotes nothing.
func (d *demo) firstFinding(head, reviewer string) string {
	for _, run := range d.github.Own(head) {
		_, quoted, _ := strings.Cut(run.Text, "\n**"+reviewer+"**")
		if _, body, found := strings.Cut(quoted, "\n```"); found {
			_, body, _ = strings.Cut(body, "\n") // the rest of the fence
			line, _, _ := strings.Cut(body, "\n")
			return line
		}
	}
	return ""
}
