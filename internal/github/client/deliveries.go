package client

// Deliveries that did not reach us. GitHub never sends one again by itself, and keeps them for three days.

import (
	"context"
	"errors"
	"fmt"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
)

// A FailedDelivery is a webhook delivery of which GitHub knows no success.
type FailedDelivery struct {
	ID           int64  // of its newest attempt: by which it is asked for again
	GUID         string // X-GitHub-Delivery: the same with each attempt
	Event        string
	Action       string
	Installation int64
	At           time.Time // of the newest attempt
	Status       string    // what came of it, in GitHub's words; hostile
}

const (
	keptDeliveries   = 3 * 24 * time.Hour // later GitHub refuses to deliver one again
	maxDeliveryPages = 200                // of 100: what is beyond them is left to looks that need no event
)

// Deliveries returns the deliveries since a moment, by our clock, of which no attempt succeeded, the newest first, each
// once; nil of a personal token, and none of an App that has no webhook. An outage can be longer than GitHub's memory,
// and its list longer than we read: other ways must lead to a look, too.
func (p *Pool) Deliveries(ctx context.Context, since time.Time) ([]FailedDelivery, error) {
	if p.signer == nil {
		return nil, nil
	}
	signed := p.signer.signed
	skew := signed.Skew() // since is by our clock, the list by GitHub's
	if oldest := p.host.now().Add(-keptDeliveries); since.Before(oldest) {
		since = oldest
	}
	since = since.Add(skew)
	all := deliveries{byID: map[string]*delivery{}}
	err := eachPage(ctx, signed, "app/hook/deliveries?per_page=100", maxDeliveryPages, func(page []*gogithub.HookDelivery) (bool, error) {
		for _, a := range page {
			if a.GetDeliveredAt().Before(since) { // the newest come first
				return false, nil
			}
			all.addAttempt(a)
		}
		return len(page) > 0, nil
	})
	switch {
	case IsNotFound(err):
		p.noteNoHook()
	case errors.Is(err, errManyPages):
		p.host.log.Warn("GitHub lists more deliveries than are read", "pages", maxDeliveryPages)
	case err != nil:
		return nil, fmt.Errorf("list deliveries of App %d: %w", p.signer.id, err)
	}
	return all.failedDeliveries(), nil
}

// noteNoHook says once that the App has no deliveries. GitHub answers 404 where an App's webhook is switched off or was
// never set up: that says nothing of its key, and looks that need no event go on.
func (p *Pool) noteNoHook() {
	p.mu.Lock()
	said := p.saidNoHook
	p.saidNoHook = true
	p.mu.Unlock()
	if !said {
		p.host.log.Warn("GitHub knows no webhook deliveries of this App: its webhook is off or has no address; resyncs find what changes")
	}
}

// A delivery is one with all its attempts.
type delivery struct {
	FailedDelivery
	reached bool // by one of them
}

// deliveries are in the order of GitHub's list.
type deliveries struct {
	order []*delivery
	byID  map[string]*delivery
}

func (s *deliveries) addAttempt(a *gogithub.HookDelivery) {
	if a.GetID() <= 0 || a.GetGUID() == "" {
		return
	}
	d := s.byID[a.GetGUID()]
	if d == nil {
		d = &delivery{}
		s.byID[a.GetGUID()], s.order = d, append(s.order, d)
	}
	if at := a.GetDeliveredAt().Time; d.ID == 0 || at.After(d.At) {
		d.FailedDelivery = FailedDelivery{
			ID: a.GetID(), GUID: a.GetGUID(), Event: a.GetEvent(), Action: untrusted.OneLine(a.GetAction(), 50),
			Installation: a.GetInstallationID(), At: at, Status: untrusted.OneLine(a.GetStatus(), 100),
		}
	}
	d.reached = d.reached || a.GetStatus() == "OK" // a time-out has no status code
}

func (s *deliveries) failedDeliveries() []FailedDelivery {
	all := []FailedDelivery{}
	for _, d := range s.order {
		if !d.reached {
			all = append(all, d.FailedDelivery)
		}
	}
	return all
}
