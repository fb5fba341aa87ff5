package evidence

// How an open circuit delays what is done for a reviewer, and what the record holds of it.

import "github.com/review-coordinator/coordinator/internal/quorum"

// delayByCircuit delays the planned retry of a ballot, and its deadline, while the reviewer's circuit is open.
func (p *planner) delayByCircuit(b quorum.Ballot) quorum.Ballot {
	passage := p.findPassage()
	next := &b.Next[0]
	if next.Round = passage.Round; !next.Due.Before(passage.At) {
		return b // it is let through when it is due
	}
	next.Due, b.Circuit = passage.At, passage.Hold
	b.Deadline = earliest(next.Due.Add(p.Timeout), p.limit)
	return b
}

// findPassage says when another attempt is let through, by the circuit or the record, unless the service has answered since.
func (p *planner) findPassage() quorum.Passage {
	s := p.head.snapshot
	failed := latest(p.result.at, p.attempt.ended)
	c := quorum.CircuitOf(p.Name, s.Circuits)
	passage := c.PassageOf(s.PR.Number, failed)
	if !passage.Hold.IsZero() || c.Probe == s.PR.Number {
		return passage
	}
	for _, held := range p.head.record.record.Circuits {
		if held.Reviewer == p.Name && failed.Before(held.At) && c.Answered.Before(held.Since) {
			held.Reviewer = ""
			return quorum.Passage{At: held.At, Hold: held}
		}
	}
	return passage
}

// holdsOf are the open circuits that delay ballots.
func holdsOf(ballots []quorum.Ballot) (all []quorum.Hold) {
	for _, b := range ballots {
		if hold := b.Circuit; !hold.IsZero() {
			hold.Reviewer, hold.Since, hold.Until, hold.At = b.Reviewer, hold.Since.UTC(), hold.Until.UTC(), hold.At.UTC()
			all = append(all, hold)
		}
	}
	return all
}
