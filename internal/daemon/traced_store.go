package daemon

// The table in a program that is built with traces: the calls that a delivery and a look wait for.

import (
	"context"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/trace"
)

// A tracedStore tells of the calls that somebody waits for, and hands all of them on.
type tracedStore struct{ store.Store }

// traceStore returns s, told of if this program has traces.
func traceStore(s store.Store) store.Store {
	if !trace.On {
		return s
	}
	return tracedStore{s}
}

// Accept implements [store.Store].
func (s tracedStore) Accept(ctx context.Context, d store.AcceptedDelivery, pokes ...store.Poke) (fresh bool, err error) {
	began := time.Now()
	fresh, err = s.Store.Accept(ctx, d, pokes...)
	trace.Record(ctx, trace.Store, began, err != nil, trace.Task("accept"), trace.Count(len(pokes)))
	return fresh, err
}

// Claim implements [store.Store].
func (s tracedStore) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	began := time.Now()
	works, err := s.Store.Claim(ctx, c)
	if len(works) > 0 || err != nil { // it asks all the time, and mostly for nothing
		trace.Record(ctx, trace.Store, began, err != nil, trace.Task("claim"), trace.Count(len(works)))
	}
	return works, err
}

// Complete implements [store.Store].
func (s tracedStore) Complete(ctx context.Context, l store.Lease, o store.Completion) (ours bool, err error) {
	began := time.Now()
	ours, err = s.Store.Complete(ctx, l, o)
	trace.Record(ctx, trace.Store, began, err != nil, trace.Task("complete"))
	return ours, err
}
