package evidence_test

// What an open circuit does to a ballot: it delays what is done for the reviewer, and nothing else.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// heldUntil opens the circuit of a reviewer until a moment.
func (x *scene) heldUntil(reviewer string, sec int) *scene {
	x.s.Circuits = append(x.s.Circuits, quorum.Circuit{
		Reviewer: reviewer, Opened: at(50), Until: at(sec), Waiting: []int{x.s.PR.Number},
	})
	return x
}

func TestAnOpenCircuitDelaysTheRetry(t *testing.T) {
	outage := func() *scene {
		return onHead(openai()).run(1, 10, 100, log("failure", "Error: 503 Service Unavailable\n"))
	}
	limited := func() *scene {
		return onHead(openai()).run(1, 10, 100, log("failure", "Error: 429 Too Many Requests\nRetry-After: 120\n"))
	}
	hold := func(sec int) quorum.Hold { return quorum.Hold{Since: at(50), Until: at(sec), At: at(sec)} }
	inRecord := func(x *scene, sec int) *scene {
		held := hold(sec)
		held.Reviewer = "openai"
		x.s.Record.Circuits = []quorum.Hold{held}
		return x
	}
	limitHold := quorum.Hold{Since: at(50), Until: at(400), At: at(400), Limit: true}
	limit := func(x *scene) {
		x.s.Circuits = []quorum.Circuit{{Reviewer: "openai", Limited: at(50), LimitEnd: at(400), Waiting: []int{7}}}
	}
	const deadline = 45 * 60
	for _, test := range []struct {
		name     string
		x        *scene
		due, end int // 0: none
		hold     quorum.Hold
		probes   bool
	}{
		{"no circuit", outage(), 0, deadline, quorum.Hold{}, false},
		{"an open one", outage().heldUntil("openai", 700), 700, 1300, hold(700), true},
		{"another reviewer's", outage().heldUntil("sage", 700), 0, deadline, quorum.Hold{}, false},
		{"its deadline is at most that of the wait", outage().heldUntil("openai", 2400), 2400, deadline, hold(2400), true},
		{"it waits although it is open for longer than that", outage().heldUntil("openai", 9000), 9000, deadline, hold(9000), true},
		{"one that lets it through before it is due", outage().heldUntil("openai", 60), 0, deadline, quorum.Hold{}, true},
		{"it is the probe", outage().heldUntil("openai", 700).with(func(x *scene) { x.s.Circuits[0].Probe = 7 }), 0, deadline, quorum.Hold{}, false},
		{"as its record says", inRecord(outage(), 700), 700, 1300, hold(700), false},
		{"what is known now goes before that", inRecord(outage(), 700).heldUntil("openai", 800), 800, 1400, hold(800), true},
		{
			"and an answer on another pull request, too",
			inRecord(outage(), 700).with(func(x *scene) { x.s.Circuits = []quorum.Circuit{{Reviewer: "openai", Answered: at(300)}} }),
			0, deadline,
			quorum.Hold{},
			false,
		},
		{
			"but none from before it opened",
			inRecord(outage(), 700).with(func(x *scene) { x.s.Circuits = []quorum.Circuit{{Reviewer: "openai", Answered: at(40)}} }),
			700, 1300, hold(700), false,
		},
		{"a record of a circuit that was over before it failed", inRecord(outage(), 90), 0, deadline, quorum.Hold{}, false},
		{"another's limit", outage().with(limit), 400, 1000, limitHold, false},
		{"its own limit ends sooner", limited().with(limit), 400, 1000, limitHold, false},
		{"its own limit ends later", limited().with(limit).with(func(x *scene) { x.s.Circuits[0].LimitEnd = at(150) }), 220, deadline, quorum.Hold{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.x.ballot()
			if b.Vote != quorum.Pending || !b.Planned || len(b.Next) != 1 {
				t.Fatalf("%+v", b)
			}
			if due := b.Next[0].Due; test.due != 0 && !due.Equal(at(test.due)) || test.due == 0 && (due.Before(at(100)) || due.After(at(180))) {
				t.Errorf("due at %s", due)
			}
			if !b.Deadline.Equal(at(test.end)) {
				t.Errorf("deadline %s, want %s", b.Deadline.Sub(at(0)), at(test.end).Sub(at(0)))
			}
			if diff := cmp.Diff(test.hold, b.Circuit); diff != "" {
				t.Errorf("hold (-want +got):\n%s", diff)
			}
			if !b.Next[0].Round.IsZero() != test.probes {
				t.Errorf("the round is %s", b.Next[0].Round)
			}
		})
	}
}

// Whoever knows a record alone delays what the record says, as long: a job, and a server that has lost its table.
func TestTheRecordHoldsWhatIsDelayed(t *testing.T) {
	x := onHead(openai(), sage()).run(1, 10, 100, log("failure", "Error: 503 Service Unavailable\n")).heldUntil("openai", 700).heldUntil("sage", 700)
	decide := func() quorum.Decision {
		return quorum.Decide(x.p, evidence.Judge(x.p, x.s), evidence.Facts(x.p, x.s), at(300))
	}
	d := decide()
	rec := evidence.Remember(x.p, x.s, d, at(300))
	if len(rec.Circuits) != 1 || rec.Circuits[0].Reviewer != "openai" || !rec.Circuits[0].At.Equal(at(700)) {
		t.Fatalf("the record holds %+v", rec.Circuits)
	}
	x.s.Record, x.s.Circuits = rec, nil
	x.s.Record = evidence.Inherit(x.p, x.s)
	alone := decide()
	if diff := cmp.Diff(d.Wake, alone.Wake); diff != "" || alone.Verdict != d.Verdict {
		t.Errorf("%s, %s", alone.Verdict, diff)
	}
	again := evidence.Remember(x.p, x.s, alone, at(301))
	if diff := cmp.Diff(rec, again); diff != "" {
		t.Errorf("the record is another one (-before +after):\n%s", diff)
	}
	x.s.Runs[0].Status, x.s.Runs[0].Attempt = "in_progress", 2 // it was run again
	if again = evidence.Remember(x.p, x.s, decide(), at(302)); len(again.Circuits) > 0 {
		t.Errorf("it still holds %+v", again.Circuits)
	}
}

// Whatever circuits are open: no vote, reason or outcome is another one, and nothing is done sooner, nor waited for
// beyond the deadline.
func TestACircuitOnlyDelays(t *testing.T) {
	r, delayed := rand.New(rand.NewPCG(22, 7)), 0
	for range 4000 {
		p, s := drawHead(r)
		x := scene{p, s}
		before := evidence.Judge(x.p, x.s)
		limit := evidence.Facts(x.p, x.s).Start.Add(p.Deadline)
		for _, reviewer := range p.Reviewers {
			x.heldUntil(reviewer.Name, r.IntN(4000))
		}
		for i, after := range evidence.Judge(x.p, x.s) {
			b := before[i]
			if cmp.Equal(b, after) {
				continue
			}
			if len(b.Next) != len(after.Next) || len(b.Next) == 0 {
				t.Fatalf("(-before +after):\n%s", cmp.Diff(b, after))
			}
			was, is := b.Next[0], after.Next[0]
			if is.Due.Before(was.Due) || is.Kind == quorum.Cancel {
				t.Fatalf("due at %s, and was at %s", is.Due, was.Due)
			}
			if b.Vote == quorum.Pending && after.Deadline.After(laterOf(limit, b.Deadline)) {
				t.Fatalf("pending until %s, and the wait ends at %s", after.Deadline, limit)
			}
			after.Next, after.Deadline, after.Circuit = b.Next, b.Deadline, quorum.Hold{}
			if diff := cmp.Diff(b, after); diff != "" {
				t.Fatalf("more than a delay (-before +after):\n%s", diff)
			}
			if is.Due.After(was.Due) {
				delayed++
			}
		}
	}
	if delayed < 20 {
		t.Errorf("only %d were delayed: too few to show anything", delayed)
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// A person's word goes before an open circuit: what it asks for is done at once, and the check does not say that it
// waits.
func TestAPersonsRerunPassesAnOpenCircuit(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100, log("failure", "Error: 503 Service Unavailable\n")).said(9, 200, "carol", "rerun").with(mayWrite)
	x.heldUntil("openai", 1200)
	d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), evidence.Facts(x.p, x.s), at(210))
	if len(d.Effects.Reruns) != 1 || d.Effects.Reruns[0].Command != 9 || !d.Effects.Reruns[0].Round.IsZero() {
		t.Errorf("run again: %+v", d.Effects.Reruns)
	}
	if !d.Ballots[0].Circuit.IsZero() {
		t.Errorf("it is held: %+v", d.Ballots[0].Circuit)
	}
}
