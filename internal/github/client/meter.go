package client

import (
	"context"
	"sync/atomic"
)

// A Meter counts requests that count in GitHub's hour: those that it answers, but for 304s. The zero value has counted none.
// It may be used by several goroutines.
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
