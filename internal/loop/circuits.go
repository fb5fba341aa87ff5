package loop

// The breaker, over several pull requests: a look tells how reviewers' services fared on its own, and learns how they
// fared on others. Who looks at one pull request alone knows what stands in its record, and no more.

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A SignKeeper keeps the signs that a look at a pull request found, and returns all that are known in the repository.
type SignKeeper func(ctx context.Context, p quorum.Policy, pr quorum.PR, found []quorum.Sign) []quorum.Sign

// A SignTable holds the newest signs of a repository.
type SignTable interface {
	// Signs returns those that are kept.
	Signs(ctx context.Context) ([]quorum.Sign, error)
	// AddSigns keeps signs, of each reviewer at most so many, and returns how many there were not before.
	AddSigns(ctx context.Context, most int, signs ...quorum.Sign) (added int, err error)
}

// A CircuitWatch keeps signs in a table and tells what they come to. Its funcs may be nil.
type CircuitWatch struct {
	Table   SignTable
	Now     func() time.Time                          // nil: time.Now
	Opened  func(pr quorum.PR, c quorum.Circuit)      // once for each circuit: pr shows that it is open
	Changed func(held quorum.PR)                      // what delays that pull request has changed: it is to be looked at
	Known   func(circuits []quorum.Circuit)           // as a look knows them
	Failed  func(pr quorum.PR, doing string, e error) // the table could not be read or written: the look goes on without it
}

// What a [CircuitWatch] was doing when its table failed.
const (
	ReadingSigns = "read"
	KeepingSigns = "keep"
)

// Note is a [SignKeeper].
func (w CircuitWatch) Note(ctx context.Context, p quorum.Policy, pr quorum.PR, found []quorum.Sign) []quorum.Sign {
	known, err := w.Table.Signs(ctx)
	if err != nil {
		w.reportFailure(pr, ReadingSigns, err)
		return found
	}
	most, all := p.Breaker.KeptSigns(), known
	newest := quorum.NewestSigns(slices.Concat(known, found), most)
	isOld := func(s quorum.Sign) bool { return !slices.Contains(newest, s) || slices.ContainsFunc(known, s.IsSame) }
	if fresh := slices.DeleteFunc(slices.Clone(found), isOld); len(fresh) > 0 {
		all = newest
		if _, err := w.Table.AddSigns(ctx, most, fresh...); err != nil {
			w.reportFailure(pr, KeepingSigns, err)
		} else if now, err := w.Table.Signs(ctx); err == nil { // of a probe somebody else's may have been the first
			all = now
		}
	}
	before, after := quorum.CircuitsOf(p, known), quorum.CircuitsOf(p, all)
	if w.Known != nil {
		w.Known(after)
	}
	for _, c := range after {
		w.tellOpened(ctx, most, pr, c)
		for _, number := range c.Concerns(quorum.CircuitOf(c.Reviewer, before)) {
			if held := pr; number != pr.Number && w.Changed != nil {
				held.Number = number
				w.Changed(held)
			}
		}
	}
	return all
}

// tellOpened tells of a circuit that is open, once: who puts the sign of it into the table first tells.
func (w CircuitWatch) tellOpened(ctx context.Context, most int, pr quorum.PR, c quorum.Circuit) {
	now := time.Now
	if w.Now != nil {
		now = w.Now
	}
	if c.Told || !c.IsOpen(now()) || w.Opened == nil {
		return
	}
	added, err := w.Table.AddSigns(ctx, most, quorum.SignOfTold(c, pr, now()))
	if err != nil {
		w.reportFailure(pr, KeepingSigns, err)
	}
	if added > 0 {
		w.Opened(pr, c)
	}
}

func (w CircuitWatch) reportFailure(pr quorum.PR, doing string, err error) {
	if w.Failed != nil {
		w.Failed(pr, doing, err)
	}
}

// A SignMemory is a [SignTable] that lasts as long as a process. It may be used by several goroutines. The zero value is
// empty.
type SignMemory struct {
	mu    sync.Mutex
	signs []quorum.Sign
}

// Signs implements [SignTable].
func (m *SignMemory) Signs(context.Context) ([]quorum.Sign, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.signs), nil
}

// AddSigns implements [SignTable].
func (m *SignMemory) AddSigns(_ context.Context, most int, signs ...quorum.Sign) (added int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range signs {
		if !slices.ContainsFunc(m.signs, s.IsSame) {
			m.signs = append(m.signs, s)
			added++
		}
	}
	m.signs = quorum.NewestSigns(m.signs, most)
	return added, nil
}

// noteSigns tells how reviewers' services fared on the look's pull request, learns how they fared on others, and judges
// anew if that may delay something here. It is told before anything is decided by it.
func (r *Reconciler) noteSigns(ctx context.Context, l *Look, more ...quorum.Sign) {
	if r.Note == nil || l.Snapshot.File.State != quorum.FileValid || l.Policy.Breaker.Threshold < 1 || l.Policy.Mode == quorum.Off {
		return
	}
	recorded := quorum.SignsOfRecord(l.Policy, l.Snapshot.PR, l.Snapshot.Record, l.At)
	signs := r.Note(ctx, l.Policy, l.Snapshot.PR.PR, slices.Concat(l.signs, recorded, more))
	l.Snapshot.Circuits = quorum.CircuitsOf(l.Policy, signs)
	delays := func(c quorum.Circuit) bool { return !c.Hold().Since.IsZero() || !c.Closed.IsZero() }
	if len(more) > 0 || slices.ContainsFunc(l.Snapshot.Circuits, delays) {
		l.judgeAndDecide()
	}
}

// takeProbes lets the attempts that are due through open circuits, of each one at a time: where another pull request
// was first, the attempt waits for what becomes of that one's.
func (r *Reconciler) takeProbes(ctx context.Context, f *headLooks) {
	if r.Note == nil || r.DryRun {
		return
	}
	for _, l := range f.looks {
		var probes []quorum.Sign
		for _, a := range slices.Concat(l.Decision.Effects.Reruns, l.Decision.Effects.Requests) {
			if !a.Round.IsZero() && a.Command == 0 {
				probes = append(probes, quorum.SignOfProbe(a.Reviewer, l.Snapshot.PR, a.Round, l.At))
			}
		}
		if len(probes) > 0 {
			r.noteSigns(ctx, l, probes...)
		}
	}
}
