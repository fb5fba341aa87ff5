package client

// Deliveries that did not reach us. GitHub never sends one again by itself, and keeps them for three days.

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	var tries attemptsByDelivery
	err := eachPage(ctx, signed, "app/hook/deliveries?per_page=100", maxDeliveryPages, func(page []deliveryAttempt) (bool, error) {
		for _, a := range page {
			if a.At.Before(since) { // the newest come first
				return false, nil
			}
			tries.add(a)
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
	return tries.failedDeliveries(), nil
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

type deliveryAttempt struct {
	ID           int64     `json:"id"`
	GUID         string    `json:"guid"`
	At           time.Time `json:"delivered_at"`
	Status       string    `json:"status"` // a time-out has no status code
	Event        string    `json:"event"`
	Action       string    `json:"action"`
	Installation int64     `json:"installation_id"`
}

// attemptsByDelivery are those of each delivery together, in the order of GitHub's list.
type attemptsByDelivery struct {
	order   []string
	newest  map[string]deliveryAttempt
	reached map[string]bool
}

func (s *attemptsByDelivery) add(a deliveryAttempt) {
	if a.ID <= 0 || a.GUID == "" {
		return
	}
	if s.newest == nil {
		s.newest, s.reached = map[string]deliveryAttempt{}, map[string]bool{}
	}
	was, known := s.newest[a.GUID]
	if !known {
		s.order = append(s.order, a.GUID)
	}
	if !known || a.At.After(was.At) {
		s.newest[a.GUID] = a
	}
	if a.Status == "OK" {
		s.reached[a.GUID] = true
	}
}

func (s *attemptsByDelivery) failedDeliveries() []FailedDelivery {
	all := []FailedDelivery{}
	for _, guid := range s.order {
		if a := s.newest[guid]; !s.reached[guid] {
			all = append(all, FailedDelivery{
				ID: a.ID, GUID: guid, Event: a.Event, Action: untrusted.OneLine(a.Action, 50), Installation: a.Installation, At: a.At,
				Status: untrusted.OneLine(a.Status, 100),
			})
		}
	}
	return all
}
