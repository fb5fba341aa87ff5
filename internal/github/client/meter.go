package client

// What a context says of the requests that are made with it: who counts them, and whether it may still write.

import (
	"context"
	"sync/atomic"
)

// A Meter counts requests that count in GitHub's hour: those that it answers, but for 304s and failures of its own. The
// zero value has counted none. It may be used by several goroutines.
type Meter struct{ requests atomic.Int64 }

type meterKey struct{}

// WithMeter returns a context whose requests m counts.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// Requests returns how many were counted so far.
func (m *Meter) Requests() int { return int(m.requests.Load()) }

// countInMeter counts a request of a context that has a meter.
func countInMeter(ctx context.Context) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.requests.Add(1)
	}
}

type permitKey struct{}

// WithPermit returns a context whose requests that change something are not sent once permit returns an error: the
// requests fail with it. It is asked right before each is sent, and again before each is repeated.
func WithPermit(ctx context.Context, permit func() error) context.Context {
	return context.WithValue(ctx, permitKey{}, permit)
}

// MayWrite returns why a context's requests may change nothing any more; nil if they may.
func MayWrite(ctx context.Context) error {
	if permit, ok := ctx.Value(permitKey{}).(func() error); ok {
		return permit()
	}
	return nil
}
