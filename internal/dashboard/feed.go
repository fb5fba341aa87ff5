package dashboard

// How an open dashboard learns that something changed: a nudge without content. What is shown is read from the table
// when the page asks for it, so that a nudge that is lost or merged with others costs nothing.

import (
	"context"
	"sync"
)

// maxSubscribers bounds the open dashboards.
const maxSubscribers = 64

// A Feed tells subscribers that a key changed. It may be used by several goroutines. It never waits for a subscriber.
type Feed struct {
	mu     sync.Mutex
	subs   map[*subscriber]struct{}
	closed bool
}

type subscriber struct {
	only  string // the key that it is about; "": all
	nudge chan struct{}
}

// NewFeed returns a feed without subscribers.
func NewFeed() *Feed { return &Feed{subs: make(map[*subscriber]struct{})} }

// Publish says that what is shown of key has changed; "" stands for the queue as a whole, which concerns everybody.
func (f *Feed) Publish(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		if s.only != "" && key != "" && s.only != key {
			continue
		}
		select {
		case s.nudge <- struct{}{}:
		default: // it has one that it has not looked at: that one stands for this one too
		}
	}
}

// Subscribe returns a channel of nudges about one key, or about all if only is "". It is closed when ctx ends or the
// feed is closed. It reports false if there are too many subscribers already, or the feed is closed.
func (f *Feed) Subscribe(ctx context.Context, only string) (<-chan struct{}, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.subs) >= maxSubscribers {
		return nil, false
	}
	s := &subscriber{only: only, nudge: make(chan struct{}, 1)}
	f.subs[s] = struct{}{}
	context.AfterFunc(ctx, func() { f.unsubscribe(s) })
	return s.nudge, true
}

// Close ends all subscriptions: a server that shuts down waits for its requests, and these would never end.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for s := range f.subs {
		f.closeSubscriber(s)
	}
}

func (f *Feed) unsubscribe(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closeSubscriber(s)
}

// closeSubscriber closes s once. The caller holds the lock, which every send holds too: nobody sends on a closed
// channel.
func (f *Feed) closeSubscriber(s *subscriber) {
	if _, there := f.subs[s]; there {
		delete(f.subs, s)
		close(s.nudge)
	}
}
