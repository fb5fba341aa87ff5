package quorum

import "testing"

// Whose reserve votes is asked again, and would be run again once more. It is not, and so its old deadline says
// nothing.
func TestWhoseReserveVotesIsNeverLate(t *testing.T) {
	const deadline = 21
	at := func(seconds int) Decision {
		owner := Ballot{
			Reviewer: "codex", Vote: Pending, Outcome: Running, Reason: ReasonRunning, Late: ReasonLate, Open: true, Planned: true,
			Deadline: sec(deadline), Next: []Action{{Kind: Rerun, Reviewer: "codex", Due: sec(deadline - 1)}},
		}
		reserve := Ballot{
			Reviewer: "gemini", InsteadOf: "codex", Turn: sec(5), Vote: Pending, Outcome: Running, Reason: ReasonRunning,
			Late: ReasonLate, Open: true, Deadline: sec(2 * deadline),
		}
		p := Policy{Need: 1, Reviewers: []Reviewer{{Name: "codex"}, {Name: "gemini"}}}
		return Decide(p, []Ballot{owner, reserve}, Facts{Head: "a1", Base: "main", Start: sec(0), File: PolicyFile{State: FileValid}}, sec(seconds))
	}
	before, after := at(deadline-1), at(deadline)
	if wake := sec(2 * deadline); !before.Wake.Equal(wake) {
		t.Errorf("wakes at %v, want %v, when the reserve is late", before.Wake.Sub(sec(0)), wake.Sub(sec(0)))
	}
	if diff := diffDecisions(before, after); diff != "" {
		t.Errorf("changed at the deadline of whom nobody waits for:\n%s", diff)
	}
}
