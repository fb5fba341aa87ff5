//go:build !action

package main

// The demo's world: the server that coordinator serve runs, with its table, its webhooks over HTTP and its dashboard,
// and a GitHub in memory in front of it.

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/story"
)

// demoPull is the pull request of the story, and demoInstallationID the App's installation on its repository.
const demoPull, demoInstallationID = 482, 77

// demo is a story, the GitHub in memory in which it happens, and the daemon that works on it.
type demo struct {
	story       *story.Scenario
	clock       *storyClock
	hub         *sandbox.Hub
	github      *sandbox.GitHub
	server      *server
	beside      []*story.Background // what else happens on the board
	toldKey     string              // the row of the story's pull request
	dir         string
	postedCount atomic.Int64 // of webhooks
	workEnded   <-chan struct{}
	patience    time.Duration // by the machine's time: without a sign of the daemon for so long the demo is at its end
}

// openDemo makes the GitHub and the server, and starts nothing. The demo must be closed even if there is an error.
func openDemo(
	ctx context.Context, c *command, s *story.Scenario, clock *storyClock, beside []boardStory, looked func(dashboard.Sight),
) (*demo, error) {
	d := &demo{story: s, clock: clock}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return d, fmt.Errorf("make the App's key: %w", err)
	}
	secret := rand.Text()
	app := sandbox.App{Slug: "review-coordinator", ID: 4711}
	// The client of GitHub signs by the machine's clock, which ends tokens, too; without Key the hub reads no JWT.
	d.hub = sandbox.NewHub(sandbox.HubOptions{App: app, Secret: secret, Now: clock.Now, TokenNow: time.Now})
	d.hub.DisturbDeliveries(func(sandbox.HookDelivery) sandbox.Fate {
		d.postedCount.Add(1)
		return sandbox.Fate{}
	})
	d.github = s.GitHub(sandbox.Options{Now: clock.Now})
	d.github.SetFile(".github/review-coordinator.yml", "", s.Policy)
	d.hub.Add(demoInstallationID, d.github)
	owner, repo := d.github.Repository()
	told := quorum.PR{Owner: owner, Repo: repo, Number: demoPull}
	d.toldKey = fmt.Sprintf("%d/%s", demoInstallationID, told)
	d.setBoard(beside)
	if d.dir, err = os.MkdirTemp("", "review-coordinator-demo-"); err != nil {
		return d, fmt.Errorf("make the demo's folder: %w", err)
	}
	d.server, err = openServer(ctx, serverConfig{
		Listen: anyLocalAddress, AdminListen: anyLocalAddress,
		Database: filepath.Join(d.dir, "demo.db"), Fleeting: true,
		Secrets: []string{secret}, Resync: 5 * time.Minute, Log: c.logFrom(slog.LevelError),
		Now: clock.Now,
		GitHub: client.Options{
			App: &client.App{
				ID:  app.ID,
				Key: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
			},
			Transport: d.hub, UserAgent: "review-coordinator",
		},
		Tune: func(config *daemon.Config) {
			config.Alarm = clock.Alarm
			config.Looked = func(pr quorum.PR, s dashboard.Sight) {
				if pr == told {
					looked(s)
				}
			}
		},
	})
	return d, err
}

// anyLocalAddress is a free port of this machine's own.
const anyLocalAddress = "127.0.0.1:0"

// close stops the server and removes the demo's folder.
func (d *demo) close() {
	if d.server != nil {
		d.server.close()
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir) // in the system's folder for temporary files, which is cleared some day
	}
}

// dashboardURL returns the dashboard's address.
func (d *demo) dashboardURL() string { return "http://" + d.server.adminListener.Addr().String() + "/" }

// runDaemon runs the server and the delivery of webhooks until tell returns.
func (d *demo) runDaemon(ctx context.Context, tell func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	done, ok := d.server.feed.Subscribe(ctx, "")
	if !ok {
		return errors.New("hear of the daemon's work: too many listen") // unreachable: this is the first listener
	}
	d.workEnded = done
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	group.Go(func() error { return d.server.serve(serving) })
	group.Go(func() error {
		defer end() // only now: deliveries under way still arrive, and the server has no broken connection to log
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

// playStory plays the story, once the daemon has found the repository.
func (d *demo) playStory(ctx context.Context, a story.Audience) error {
	if err := d.awaitWork(ctx); err != nil {
		return err
	}
	if err := d.awaitSettled(ctx); err != nil {
		return err
	}
	if len(d.beside) > 0 {
		if err := d.playLead(ctx); err != nil {
			return err
		}
	}
	_, err := d.story.Perform(ctx, story.Performance{
		Hub: d.hub, GitHub: d.github, Clock: sandbox.Clock{Now: d.clock.Now, Sleep: d.advanceStory}, Rest: d.awaitNextDue, Audience: a,
	})
	return err
}

// advanceStory moves the clock on by a duration. It stops at each time at which something else happens on the board, or
// the daemon acts by itself, until that is done.
func (d *demo) advanceStory(ctx context.Context, duration time.Duration) error {
	until := d.clock.Now().Add(duration)
	for {
		if err := d.catchUpBeside(); err != nil {
			return err
		}
		if err := d.awaitSettled(ctx); err != nil {
			return err
		}
		stop := until
		due, err := d.server.store.Next(ctx, false, nil)
		backlog, errToo := d.server.store.Next(ctx, true, nil)
		if err := errors.Join(err, errToo); err != nil {
			return fmt.Errorf("ask when the daemon acts: %w", err)
		}
		for _, at := range []time.Time{due, backlog, d.besideDue()} {
			if at.After(d.clock.Now()) && at.Before(stop) {
				stop = at
			}
		}
		if err := d.clock.advanceTo(ctx, stop); err != nil || !stop.Before(until) {
			return err
		}
	}
}

// awaitNextDue waits until the daemon is idle, and returns the time of the next look at the story's pull request. The
// rest of the board does not count: that goes on for ever.
func (d *demo) awaitNextDue(ctx context.Context) (next time.Time, err error) {
	if err := d.awaitSettled(ctx); err != nil {
		return time.Time{}, err
	}
	told, err := d.server.store.Get(ctx, d.toldKey)
	if err != nil && !errors.Is(err, store.ErrNoRow) {
		return time.Time{}, fmt.Errorf("ask what is due: %w", err)
	}
	return told.Due, nil
}

// awaitSettled waits until all webhooks are delivered and all work is done. Work may cause webhooks, and webhooks work,
// so it repeats until no webhook was added.
func (d *demo) awaitSettled(ctx context.Context) error {
	for {
		posted := d.postedCount.Load()
		if err := d.hub.WaitDelivered(ctx); err != nil {
			return fmt.Errorf("deliver webhooks: %w", err)
		}
		for {
			underWay, due, err := d.readWork(ctx)
			if err != nil {
				return err
			}
			if underWay == 0 && len(due) == 0 {
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

// readWork returns how many keys the daemon works on, and which others are due. It reads the table once, and before it asks
// the daemon: a work that ended between two reads would be seen by neither.
func (d *demo) readWork(ctx context.Context) (underWay int, due []string, err error) {
	rows, err := d.server.store.List(ctx, store.Query{Thin: true})
	if err != nil {
		return 0, nil, fmt.Errorf("ask what is due: %w", err)
	}
	now := d.clock.Now()
	for _, row := range rows {
		switch {
		case row.Leased:
			underWay++
		case !row.Due.IsZero() && !row.Due.After(now):
			due = append(due, row.Key+" since "+row.Due.Format(time.TimeOnly))
		}
	}
	return max(underWay, daemon.UnderWay(d.server.daemon)), due, nil // an evaluation is under way until it is announced
}

// awaitWork waits until the daemon reports the end of a work. The story's clock stands meanwhile, and the daemon may wait
// for that very clock: where nothing comes, the clock goes on to its next alarm, and to the next. It is an error if
// nothing comes of that either.
func (d *demo) awaitWork(ctx context.Context) error {
	still := d.patience / 4
	for waited := time.Duration(0); ; still = d.patience / 20 {
		timer := time.NewTimer(still)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case _, ok := <-d.workEnded:
			timer.Stop()
			if !ok {
				return fmt.Errorf("wait for the daemon: %w", context.Canceled)
			}
			return nil
		case <-timer.C:
			waited += still
			underWay, due, err := d.readWork(ctx)
			if err != nil {
				return err
			}
			if waited >= d.patience {
				return d.standstillError(underWay, due)
			}
			if underWay == 0 { // it pauses, by a clock that waits for it
				d.clock.skipToAlarm()
			}
		}
	}
}

// standstillError says what the demo waits for.
func (d *demo) standstillError(underWay int, due []string) error {
	return hintedError(
		fmt.Errorf("the demo stands still: its daemon has done nothing for %s; in the story %s; %s under way; due: %s",
			d.patience, d.clock, countNoun(underWay, "evaluation"), cmp.Or(strings.Join(due, ", "), "nothing")),
		"this is a mistake of the program's: please report these lines; coordinator demo begins anew",
	)
}

// firstFinding returns the first line of a reviewer's finding as the check quotes it; "" if it quotes none.
func (d *demo) firstFinding(head, reviewer string) string {
	for _, run := range d.github.OwnCheckRuns(head) {
		_, quoted, _ := strings.Cut(run.Text, "\n**"+reviewer+"**")
		if _, body, found := strings.Cut(quoted, "\n> "); found {
			line, _, _ := strings.Cut(body, "\n")
			return strings.Trim(line, "`")
		}
	}
	return ""
}
