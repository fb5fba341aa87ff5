package story_test

// The product with a mistake in it, and the property that must find it: one that found none could not fail.

import (
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A mutant is the product with a mistake in it, and the property that must find it.
type mutant struct {
	finds  property
	world  world
	mutate func(p *product)
}

// mutants has a mistake for each property. What no property found would be a property that cannot fail.
var mutants = map[string]mutant{
	"an objection drops while its reviewer looks again": {noStands, plainWorld(1, byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Reason == quorum.ReasonLookingAgain {
			b.Vote, b.Outcome, b.Reason, b.Deadline, b.Late = quorum.Pending, quorum.Running, quorum.ReasonRunning, b.Since.Add(modelTimeout), quorum.ReasonLate
		}
	})},
	"the record forgets objections": {noStands, plainWorld(1, byConclusion), mutateRecord(func(rec *quorum.Record) { rec.Objections = nil })},
	"coming back to a base brings nothing back": {noStands, plainWorld(1, byApp), mutateRecord(func(rec *quorum.Record) {
		for i := range rec.Objections {
			rec.Objections[i].Base = ""
		}
	})},
	"a green run is an approval": {passIsEarned, plainWorld(1, byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Outcome == quorum.Empty {
			b.Vote, b.Outcome, b.At = quorum.Approve, quorum.Approved, b.Since
		}
	})},
	"any account ends an objection": {passIsEarned, plainWorld(1, byApp), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			s.Threads = slices.Clone(s.Threads)
			for i := range s.Threads {
				s.Threads[i].ResolvedBy = helper
			}
			return judge(policy, s)
		}
	}},
	"a rerun is announced and not made": {announcedIsDue, plainWorld(1, byWorkflowText), mutateDecision(func(d *quorum.Decision) { d.Effects.Reruns = nil })},
	"a rerun spends nothing": {nothingTwice, plainWorld(1, byWorkflowText), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			policy.Retry.Max = 9
			return judge(policy, s)
		}
	}},
	"what is under way is run again": {leavesAlone, plainWorld(1, byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Outcome == quorum.Running && b.Run != 0 && b.Vote == quorum.Pending {
			b.Next = []quorum.Action{{Kind: quorum.Rerun, Reviewer: b.Reviewer, Due: b.Since, Run: b.Run, Attempt: b.Attempt}}
		}
	})},
	"each look says anew when to look next": {alwaysEnds, plainWorld(1, byWorkflowText), func(p *product) {
		decide := p.decide
		p.decide = func(policy quorum.Policy, ballots []quorum.Ballot, f quorum.Facts, now time.Time) quorum.Decision {
			d := decide(policy, ballots, f, now)
			d.Wake = now.Add(time.Minute)
			return d
		}
	}},
	"a decision hangs on the second in which it is made": {staysDecided, plainWorld(1, byWorkflowText), func(p *product) {
		remember := p.remember
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			rec := remember(policy, s, d, now)
			rec.Seq++
			return rec
		}
	}},
	"an intent counts as done": {survivesCrash, plainWorld(1, byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Retrying && !b.Planned && b.Outcome != quorum.Running {
			b.Next = nil
		}
	})},
	"the wake comes a minute late": {quietTillWake, plainWorld(1, byWorkflowText), mutateDecision(func(d *quorum.Decision) {
		if !d.Wake.IsZero() {
			d.Wake = d.Wake.Add(time.Minute)
		}
	})},
	"what cannot help is waited for": {noIdleWait, plainWorld(1, byWorkflowText, byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Vote == quorum.Unavailable && b.Spent {
			b.Vote, b.Deadline, b.Late = quorum.Pending, b.Since.Add(20*time.Minute), b.Reason
			b.Next = []quorum.Action{{Kind: quorum.Cancel, Reviewer: b.Reviewer, Due: b.Deadline, Run: b.Run, Attempt: b.Attempt}}
		}
	})},
}

// mutateBallots changes each ballot that the judge makes.
func mutateBallots(change func(b *quorum.Ballot)) func(p *product) {
	return func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				change(&ballots[i])
			}
			return ballots
		}
	}
}

// mutateDecision changes each decision.
func mutateDecision(change func(d *quorum.Decision)) func(p *product) {
	return func(p *product) {
		decide := p.decide
		p.decide = func(policy quorum.Policy, ballots []quorum.Ballot, f quorum.Facts, now time.Time) quorum.Decision {
			d := decide(policy, ballots, f, now)
			change(&d)
			return d
		}
	}
}

// mutateRecord changes each record before it is written.
func mutateRecord(change func(rec *quorum.Record)) func(p *product) {
	return func(p *product) {
		remember := p.remember
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			rec := remember(policy, s, d, now)
			change(&rec)
			return rec
		}
	}
}

func TestEveryPropertyFindsItsMutant(t *testing.T) {
	found := map[property]bool{}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			p := theProduct
			m.mutate(&p)
			w := newWalker(p, m.world)
			w.walkAll(min(2, m.world.depth), 200, *historySeed)
			if w.broken[m.finds] == "" {
				t.Errorf("nothing says that %q does not hold; what does not: %v", m.finds, w.broken)
				return
			}
			found[m.finds] = true
			t.Logf("%s:\n\t\t%s", m.finds, w.broken[m.finds])
		})
	}
	for _, p := range properties {
		if !found[p] {
			t.Errorf("no mutant shows that %q can fail", p)
		}
	}
}
