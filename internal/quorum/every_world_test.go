package quorum

// Every small world: up to three reviewers of each of the kinds below, each quorum, each moment. The properties drawn
// at random elsewhere hold here of all of them.

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var worldStep = flag.Int("world-step", 499, "of the choices of reviewers, each n-th is walked through; 1: all of them")

// smallBallots are the kinds of ballots that a small world is made of: what differs in them differs for a rule.
func smallBallots() (kinds []Ballot) {
	start := sec(0)
	add := func(vote Vote, change ...func(b *Ballot)) {
		b := Ballot{Vote: vote, Since: start, Run: 1, Attempt: 1, Outcome: Running, Reason: ReasonRunning}
		for _, f := range change {
			f(&b)
		}
		kinds = append(kinds, b)
	}
	required := func(b *Ballot) { b.Required = true }
	until := func(s int) func(b *Ballot) {
		return func(b *Ballot) { b.Deadline, b.Late, b.Open = sec(s), ReasonLate, true }
	}
	leaving := func(v Vote) func(b *Ballot) {
		return func(b *Ballot) { b.Then = then(*b, v) }
	}
	retry := func(due int) func(b *Ballot) {
		return func(b *Ballot) {
			b.Planned, b.Outcome, b.Reason, b.Retrying = true, Overloaded, ReasonOverloaded, true
			b.Next = []Action{{Kind: Rerun, Due: sec(due), Run: 1, Attempt: 1}}
		}
	}
	cast := func(v Vote, at int) func(b *Ballot) { return func(b *Ballot) { *b = verdict(*b, v, sec(at)) } }
	for _, more := range []func(b *Ballot){func(*Ballot) {}, required} {
		add(Approve, cast(Approve, 1), more)
		add(Approve, cast(Approve, 9), more)
		add(Object, cast(Object, 5), more)
		add(Unavailable, more)
		add(Pending, until(12), more)
		add(Pending, until(20), leaving(Approve), more)
		add(Pending, until(20), leaving(Object), more)
		add(Pending, until(40), retry(6), more)
		add(Pending, until(40), retry(30), more)
	}
	add(Unavailable, func(b *Ballot) { b.Open = true })
	add(Object, cast(Object, 5), func(b *Ballot) { b.Shadow = true })
	add(Approve, cast(Approve, 5), func(b *Ballot) { b.Retired = true })
	excused := func(b *Ballot) { b.Excused = ReasonWhen }
	add(Approve, cast(Approve, 5), excused)
	add(Pending, excused, until(20), leaving(Object))
	return kinds
}

// smallMoments are looks: before and at each moment of a small world, and between them.
var smallMoments = []int{1, 5, 6, 9, 11, 12, 19, 20, 30, 39, 40, 50}

// walkWorlds hands every world of those ballots to check.
func walkWorlds(ballots []Ballot, check func(w world)) {
	voters := 0
	for i := range ballots { // a kind is anybody's
		ballots[i].Reviewer, ballots[i].Run = fmt.Sprint("r", i), int64(i+1)
		for j := range ballots[i].Next {
			ballots[i].Next[j].Reviewer, ballots[i].Next[j].Run = ballots[i].Reviewer, int64(i+1)
		}
		if ballots[i].Voter() {
			voters++
		}
	}
	for need := 0; need <= voters; need++ {
		for setting := range 20 {
			if need == 0 && setting&3 != 0 { // grace and early start mean nothing to who needs no review
				continue
			}
			w := world{
				Policy: Policy{
					Check: "Review quorum", Mode: Enforce, Need: need, Grace: time.Duration(setting&1) * 10 * time.Second,
					EarlyStart: setting&2 != 0, StandIn: Write, Families: AnyFamily,
				},
				Ballots: ballots, Facts: Facts{Head: "a1", Base: "main", Start: sec(0), File: PolicyFile{State: FileValid, SHA: "p1"}},
			}
			if need == 0 {
				w.Policy.Rules = []NeedRule{{Share: NoReview}}
			}
			if ballots[0].Family != "" {
				w.Policy.Families = DistinctFamily
			}
			switch setting / 4 {
			case 1:
				w = w.bob(7)
			case 2:
				w = w.bob(7).facts(against)
			case 3:
				w = w.bob(7).policy(askOne)
			case 4:
				w = w.bob(7).person("dan", 8).policy(askOne)
			}
			for _, moment := range smallMoments {
				w.Now = sec(moment)
				check(w)
			}
		}
	}
}

// of is b, by a reviewer of that family.
func (b Ballot) of(family string) Ballot {
	b.Family = family
	if b.Then != nil {
		left := *b.Then
		left.Family, b.Then = family, &left
	}
	return b
}

func askOne(p *Policy) { p.People = NewPeople(PeopleRule{Count: 1}) }

// wrongOf says what is wrong with what Decide makes of a world; "" if nothing is.
func wrongOf(w world, decide func(Policy, []Ballot, Facts, time.Time) Decision) string {
	d := decide(w.Policy, w.Ballots, w.Facts, w.Now)
	var approving []int
	objections, doubts := 0, 0
	for i, b := range d.Ballots {
		switch {
		case b.Shadow, b.Retired:
		case b.Vote == Object:
			objections++
		case b.isDoubt():
			doubts++
		case b.Vote == Approve && b.Excused == "":
			approving = append(approving, i)
		}
	}
	approvals := w.families(approving)
	if w.peopleObject() {
		objections++
	}
	switch {
	case d.Verdict == Passed && (objections > 0 || doubts > 0):
		return "a pass over an objection"
	case d.Verdict == Passed && approvals < w.need() && len(d.StandIns) == 0:
		return "a pass that is not earned"
	case d.Verdict == Passed && len(w.Facts.StandIns) < w.Policy.People.Least()+len(d.StandIns):
		return "a person fills two places"
	case d.Verdict == Passed && len(d.StandIns) > 0 && len(w.Facts.Against) > 0:
		return "a person stands in against another"
	case d.Verdict == Unverified && w.asksNobody() && len(w.Facts.StandIns) >= w.Policy.People.Least():
		return "a review is missing where none is needed"
	case d.Verdict == Unverified && doubts == 0 && approvals >= w.need() && d.Reason == ReasonTally:
		return "nothing is missing and it is not said what"
	case d.Verdict == Blocked && objections == 0:
		return "blocked by nobody"
	case d.Verdict == Waiting && (d.Wake.IsZero() || !d.Wake.After(w.Now) && d.Effects.Empty()):
		return "a wait without an end"
	case d.Verdict != Waiting && d.Verdict != Unverified && len(d.Effects.Reruns) > 0:
		return "a rerun after the end"
	}
	for _, b := range d.Ballots {
		if b.Vote == Pending && b.Planned && b.Voter() && d.Verdict != Waiting && d.Verdict != Passed && !d.mayChange(w.Policy) {
			return "a retry is announced that will not be made"
		}
	}
	if d.Verdict == Passed {
		w.Facts.Pass, w.Now = d.Pass, w.Now.Add(100*time.Second)
		if decide(w.Policy, w.Ballots, w.Facts, w.Now).Verdict != Passed {
			return "the clock took a pass back"
		}
		return ""
	}
	if quiet := d.Wake.Add(-time.Second); quiet.After(w.Now) {
		w.Now = quiet
		if e := decide(w.Policy, w.Ballots, w.Facts, w.Now); e.Verdict != d.Verdict || !e.Wake.Equal(d.Wake) {
			return "it changed before its wake"
		}
	}
	return ""
}

// eachTriple hands every choice of up to three kinds to a worker, each step-th of them.
func eachTriple(step int, work func(ballots []Ballot)) {
	kinds := smallBallots()
	jobs := make(chan []Ballot, 64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for ballots := range jobs {
				work(ballots)
			}
		})
	}
	n := 0
	give := func(families bool, of ...int) {
		if n++; n%step != 0 {
			return
		}
		ballots := make([]Ballot, 0, len(of))
		for place, i := range of {
			b := kinds[i]
			b.Next = append([]Action(nil), b.Next...)
			if families {
				b = b.of([]string{"google", "google", "openai"}[place])
			}
			ballots = append(ballots, b)
		}
		jobs <- ballots
	}
	// The first two are of one family, or none are counted. To order these two in one way each is enough.
	send := func(of ...int) {
		if len(of) > 1 && of[0] <= of[1] {
			give(true, of...)
		}
		if len(of) == 1 || of[0] >= of[1] {
			give(false, of...)
		}
	}
	for i := range kinds {
		send(i)
		for j := range kinds {
			send(i, j)
			for k := range kinds {
				send(i, j, k)
			}
		}
	}
	close(jobs)
	workers.Wait()
}

func TestEverySmallWorld(t *testing.T) {
	var worlds atomic.Int64
	var once sync.Once
	kinds := smallBallots()
	eachTriple(*worldStep, func(ballots []Ballot) {
		n := 0
		check := func(w world) {
			n++
			if wrong := wrongOf(w, Decide); wrong != "" {
				once.Do(func() { t.Errorf("%s: %+v", wrong, w) })
			}
		}
		walkWorlds(ballots, func(w world) {
			check(w)
			d := w.decide()
			if d.Verdict != Passed || w.Now.After(d.Pass.At.Add(10*time.Second)) && w.Now.Before(sec(smallMoments[len(smallMoments)-1])) {
				return
			}
			for i, was := range w.Ballots { // what may come after a pass
				for _, b := range kinds {
					b.Reviewer, b.Run = was.Reviewer, was.Run
					check(w.with(i, b.of(was.Family)).remembering(d))
				}
			}
		})
		worlds.Add(int64(n))
	})
	t.Logf("%d worlds", worlds.Load())
}

// Mistakes in Decide, each with what must be said of some world.
func TestEverySmallWorldFindsMistakes(t *testing.T) {
	for want, mistake := range map[string]func(p Policy, ballots []Ballot, f Facts, d *Decision){
		"a pass over an objection": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Blocked && d.Approvals > 0 {
				d.Verdict, d.Pass = Passed, &Pass{}
			}
		},
		"a pass that is not earned": func(p Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Unverified && d.Approvals == p.Need-1 {
				d.Verdict, d.Pass = Passed, &Pass{}
			}
		},
		"a person stands in against another": func(_ Policy, _ []Ballot, f Facts, d *Decision) {
			if d.Verdict == Unverified && len(f.StandIns) > 0 {
				d.Verdict, d.Pass, d.StandIns = Passed, &Pass{}, f.StandIns
			}
		},
		"a person fills two places": func(p Policy, _ []Ballot, f Facts, d *Decision) {
			if d.Reason == ReasonPeople && len(f.StandIns) == p.People.Least() {
				d.Verdict, d.Pass = Passed, &Pass{}
			}
		},
		"a review is missing where none is needed": func(p Policy, _ []Ballot, _ Facts, d *Decision) {
			if p.NeedsNoReview() && d.Verdict == Passed && d.Approvals == 0 {
				d.Verdict = Unverified
			}
		},
		"nothing is missing and it is not said what": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Unverified {
				d.Reason = ReasonTally
			}
		},
		"the clock took a pass back": func(_ Policy, _ []Ballot, f Facts, d *Decision) {
			if f.Pass != nil {
				d.Verdict = Waiting
			}
		},
		"blocked by nobody": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Unverified {
				d.Verdict = Blocked
			}
		},
		"a wait without an end": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Waiting {
				d.Wake, d.Effects = time.Time{}, Effects{}
			}
		},
		"a rerun after the end": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Passed {
				d.Effects.Reruns = []Action{{Kind: Rerun}}
			}
		},
		"it changed before its wake": func(_ Policy, _ []Ballot, _ Facts, d *Decision) {
			if !d.Wake.IsZero() {
				d.Wake = d.Wake.Add(7 * time.Second)
			}
		},
		"a retry is announced that will not be made": func(_ Policy, ballots []Ballot, _ Facts, d *Decision) {
			if d.Verdict == Blocked {
				d.Ballots = ballots
			}
		},
	} {
		var found atomic.Bool
		eachTriple(37, func(ballots []Ballot) {
			if found.Load() {
				return
			}
			walkWorlds(ballots, func(w world) {
				if wrongOf(w, func(p Policy, b []Ballot, f Facts, now time.Time) Decision {
					d := Decide(p, b, f, now)
					mistake(p, b, f, &d)
					return d
				}) == want {
					found.Store(true)
				}
			})
		})
		if !found.Load() {
			t.Errorf("no world shows %q", want)
		}
	}
}

// What Decide would say if it read its inputs as somebody might who forgot a sentence of the rules.
func TestEverySmallWorldFindsWhatIsNotRead(t *testing.T) {
	each := func(change func(b *Ballot)) func(w *world) {
		return func(w *world) {
			w.Ballots = slices.Clone(w.Ballots)
			for i := range w.Ballots {
				change(&w.Ballots[i])
			}
		}
	}
	for _, mistake := range []struct {
		name, want string
		forget     func(w *world)
	}{
		{"families are not counted", "a pass that is not earned", func(w *world) { w.Policy.Families = AnyFamily }},
		{"an excused vote counts", "a pass that is not earned", each(func(b *Ballot) { b.Excused = "" })},
		{"a doubt of an excused one is none", "a pass over an objection", func(w *world) {
			w.Ballots = slices.DeleteFunc(slices.Clone(w.Ballots), func(b Ballot) bool { return b.Excused != "" && b.Then != nil })
		}},
		{"people are not asked", "a person fills two places", func(w *world) { w.Policy.People = nil }},
		{"every lane is one without a review", "a pass that is not earned", func(w *world) { w.Policy.Rules = []NeedRule{{Share: NoReview}} }},
		{"a lane without a review is not known", "a review is missing where none is needed", func(w *world) {
			if w.asksNobody() {
				w.Policy.Rules, w.Policy.Need = nil, 1
			}
		}},
		{"people are not heard", "a pass over an objection", func(w *world) { w.Facts.Against = nil }},
		{"the rest of a family is merged into what it objects", "a pass over an objection", func(w *world) {
			w.Ballots = slices.Clone(w.Ballots)
			for i, b := range w.Ballots {
				approves := func(o Ballot) bool { return o.Family == b.Family && o.Vote == Approve }
				if b.Vote == Object && b.Family != "" && slices.ContainsFunc(w.Ballots, approves) {
					w.Ballots[i] = verdict(b, Approve, b.At)
				}
			}
		}},
	} {
		var found atomic.Bool
		eachTriple(37, func(ballots []Ballot) {
			if found.Load() {
				return
			}
			walkWorlds(ballots, func(w world) {
				wrong := wrongOf(w, func(p Policy, b []Ballot, f Facts, now time.Time) Decision {
					read := world{p, b, f, now}
					mistake.forget(&read)
					d := read.decide()
					if len(d.Ballots) == len(b) { // it shows what there is
						for i := range d.Ballots {
							if d.Ballots[i].Vote == b[i].Vote || b[i].Vote != Pending {
								d.Ballots[i] = b[i]
							}
						}
					} else {
						d.Ballots = b
					}
					return d
				})
				if wrong == mistake.want {
					found.Store(true)
				}
			})
		})
		if !found.Load() {
			t.Errorf("%s: no world shows %q", mistake.name, mistake.want)
		}
	}
}
