//go:build !action

package main

// The rest of the demo's board. A dashboard with one pull request shows little, so five others live beside the story's:
// each is a story of its own, played on a GitHub of the same hub, and seen by the same daemon. Two are what waits; their
// authors push again before anything runs out, so that the board is the same an hour later.

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/story"
)

//go:embed demoboard/*.txt
var boardScenarios embed.FS

const (
	// boardLead is how long the board has been alive when the story begins.
	boardLead = 50 * time.Minute
	// What follows boardAgain in a scenario happens boardRounds times, with the number of the round for boardRound: for
	// more than a day.
	boardAgain, boardRound, boardRounds = "# again and again\n", "{n}", 160
)

// boardStory is a story of the board, and the repository in which it happens.
type boardStory struct {
	scenario    *story.Scenario
	owner, repo string
	account     int64 // the App's installation on the owner's repositories
}

// boardStories reads the stories of the board.
func boardStories() (all []boardStory, err error) {
	for _, s := range []boardStory{
		{owner: "acme", repo: "shop", account: demoInstallationID},
		{owner: "acme", repo: "billing", account: demoInstallationID},
		{owner: "acme", repo: "web", account: demoInstallationID},
		{owner: "kestrel", repo: "api", account: demoInstallationID + 1},
	} {
		name := "demoboard/" + s.repo + ".txt"
		src, err := boardScenarios.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the demo's board: %w", err) // unreachable: it is part of the program
		}
		once, again, _ := strings.Cut(string(src), boardAgain)
		text := strings.Builder{}
		text.WriteString(once)
		for n := range boardRounds {
			text.WriteString(strings.ReplaceAll(again, boardRound, strconv.Itoa(n+1)))
		}
		if s.scenario, err = story.Parse(name, []byte(text.String())); err != nil {
			return nil, fmt.Errorf("read the demo's board: %w", err) // unreachable: a test plays it
		}
		all = append(all, s)
	}
	return all, nil
}

// setBoard begins the stories of the board. That of the told story's repository happens on its GitHub, and is over when
// that begins.
func (d *demo) setBoard(stories []boardStory) {
	owner, repo := d.github.Repository()
	for _, s := range stories {
		g := d.github
		if s.owner != owner || s.repo != repo {
			g = s.scenario.GitHub(sandbox.Options{Owner: s.owner, Repo: s.repo, Now: d.clock.Now})
			d.hub.Add(s.account, g)
		}
		d.beside = append(d.beside, s.scenario.PlayBeside(g, d.clock.Now))
	}
}

// besideDue returns the moment at which something happens next on the rest of the board; zero: nothing will.
func (d *demo) besideDue() (next time.Time) {
	for _, b := range d.beside {
		if at := b.NextDue(); next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// catchUpBeside carries out what is due on the rest of the board.
func (d *demo) catchUpBeside() error {
	for _, b := range d.beside {
		if err := b.CatchUp(); err != nil {
			return err
		}
	}
	d.hub.Tick()
	return nil
}

// playLead plays what happened on the board before the story, without waiting for anything.
func (d *demo) playLead(ctx context.Context) error {
	speed := d.clock.speed
	d.clock.speed = 0
	defer func() { d.clock.speed = speed }()
	return d.advanceStory(ctx, story.Begin.Sub(d.clock.Now()))
}

// runInRealTime lets the board live on, with a clock as fast as the machine's, until ctx ends.
func (d *demo) runInRealTime(ctx context.Context) error {
	for {
		// A rerun that the daemon asks for meanwhile brings something nearer.
		until := d.clock.Now().Add(time.Second)
		if at := d.besideDue(); !at.IsZero() && at.Before(until) {
			until = at
		}
		if d.clock.runUntil(ctx, until, 1) != nil {
			return nil //nolint:nilerr // ctx has ended, and that is no error here
		}
		if err := d.catchUpBeside(); err != nil {
			return err
		}
	}
}
