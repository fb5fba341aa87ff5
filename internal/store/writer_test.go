package store

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Whoever computes for long holds up no commit: the writer lets nobody go first for some time.
func TestTheWriterDoesNotWaitForOneWhoComputes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var enough atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !enough.Load() { // until the scheduler takes it off, after 10 ms
		}
	}()
	s := &SQLite{ops: make(chan *op, maxQueuedOps)}
	for n := 0; n < 100 && s.noYieldUntil.IsZero(); n++ { // once does, unless something else takes the other off
		s.gatherBatch(&op{})
	}
	if s.noYieldUntil.IsZero() {
		t.Error("it would wait again")
	}
	until := time.Now().Add(time.Hour)
	s.noYieldUntil = until
	s.ops <- &op{}
	if batch := s.gatherBatch(&op{}); len(batch) != 2 || !s.noYieldUntil.Equal(until) {
		t.Errorf("it gathered %d, and waited", len(batch))
	}
	enough.Store(true)
	<-ended
}
