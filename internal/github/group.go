package github

// Reads in parallel. A mistake of ours in one of them ends the look, and not the program: what one pull request holds
// must not stop a server for all.

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// A group is an errgroup whose goroutines do not take the program along when they panic.
type group struct{ all *errgroup.Group }

func newGroup(ctx context.Context) (group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return group{g}, ctx
}

// Go calls f in parallel with the others. A panic is an error.
func (g group) Go(f func() error) {
	g.all.Go(func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &panicked{value: fmt.Sprint(v), stack: string(debug.Stack())}
			}
		}()
		growStack()
		return f()
	})
}

// growStack makes room on a new goroutine's stack for a request and its answer, at once: each of the steps in which it
// would grow by itself copies all that stands on it.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

// Wait waits for all of them and returns the first error.
func (g group) Wait() error { return g.all.Wait() }

// readEach reads a value for each key, in parallel; the values are there when the group has ended.
func readEach[K, V any](g group, keys []K, read func(K) (V, error)) []V {
	values := make([]V, len(keys))
	for i, key := range keys {
		g.Go(func() (err error) {
			values[i], err = read(key)
			return err
		})
	}
	return values
}

// panicked is a mistake of ours.
type panicked struct{ value, stack string }

func (p *panicked) Error() string { return "a mistake of the coordinator's own: panic: " + p.value }

// Stack is where it was made.
func (p *panicked) Stack() string { return p.stack }

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
