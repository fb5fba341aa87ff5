package story_test

// The product with a mistake in it, and the property that must find it: one that found none could not fail.

import (
	"slices"
	"strings"
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
	"a fix is started whatever was started before": {noSecondFix, fixWorld(), mutateFixes(func(f *quorum.FixFacts) { f.Here = nil })},
	"a fix that gets nowhere goes on":              {loopsEnd, fixWorld(), mutateFixes(func(f *quorum.FixFacts) { f.Before = 0 })},
	"nobody counts fixes":                          {loopsEnd, fixWorld(), mutateFixes(func(f *quorum.FixFacts) { f.Made = 0 })},
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

	"what was objected once is never answered": {freshPasses, plainWorld(1, byConclusion), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				b := &ballots[i]
				if slices.ContainsFunc(s.Record.Objections, func(o quorum.Objection) bool { return o.Reviewer == b.Reviewer }) {
					b.Vote, b.Outcome, b.Reason = quorum.Object, quorum.Findings, quorum.ReasonStands
				}
			}
			return ballots
		}
	}},

	// Of several runs on one head.
	"the run of the highest number alone speaks": {noStands, sideBySideWorld(byWorkflowText), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Runs = s.Runs[max(0, len(s.Runs)-1):]
	})},
	"a run under way holds up nothing": {passIsEarned, sideBySideWorld(byWorkflowText), mutateBallots(func(b *quorum.Ballot) {
		if b.Then != nil {
			*b = *b.Then
		}
	})},
	"a yes answers what was said since its attempt began": {noStands, sideBySideWorld(byConclusion), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Runs = slices.Clone(s.Runs)
		for i := range s.Runs {
			if run := &s.Runs[i]; run.Completed() {
				run.Started = run.Updated
			}
		}
	})},
	"a run that left nothing has failed": {nothingTwice, sideBySideWorld(byWorkflowText), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Runs = slices.Clone(s.Runs)
		for i := range s.Runs {
			if run := &s.Runs[i]; run.Completed() {
				run.Conclusion = "failure"
			}
		}
	})},

	"a check answers what was said since it began": {noStands, twoChecksWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Checks = slices.Clone(s.Checks)
		for i := range s.Checks {
			if c := &s.Checks[i]; c.Status == "completed" {
				c.Started = c.Completed
			}
		}
	})},
	"a check under way holds up nothing": {passIsEarned, twoChecksWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Checks = slices.DeleteFunc(slices.Clone(s.Checks), func(c quorum.CheckRun) bool { return c.Status != "completed" })
	})},

	// Of what a head inherits.
	"a push sheds what was objected": {diffStaysRed, carryWorld(), mutateInherited(func(rec *quorum.Record) {
		rec.Objections = slices.DeleteFunc(rec.Objections, func(o quorum.Objection) bool { return o.Carried != "" })
	})},
	"a way back sheds what was objected": {diffStaysRed, carryWorld(), mutateInherited(func(rec *quorum.Record) {
		for i := range rec.Objections {
			rec.Objections[i].Diff = ""
		}
	})},
	"only the first push inherits": {diffStaysRed, carryWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		if s.Record.Before != "" {
			s.Before, s.BeforeHead = quorum.Record{}, ""
		}
	})},
	"approvals are carried by lines": {passIsEarned, carryWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.PR.Diff.Tree = s.PR.Diff.Lines
	})},
	"approvals are carried unasked": {passIsEarned, commandWorld(), mutateSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) {
		p.Carry = quorum.CarrySameDiff
	})},
	"a carried approval outlives a new attempt": {passIsEarned, carryWorld(), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				b := &ballots[i]
				for _, st := range s.Record.Stood {
					if st.Carried != "" && st.Reviewer == b.Reviewer && st.Base == s.PR.BaseRef && b.Vote == quorum.Pending {
						b.Vote, b.Outcome, b.Reason, b.At = quorum.Approve, quorum.Approved, quorum.ReasonCarried, b.Since
					}
				}
			}
			return ballots
		}
	}},
	"who is carried is asked": {nothingTwice, askWorld(), mutateInherited(func(rec *quorum.Record) {
		rec.Stood = slices.DeleteFunc(rec.Stood, func(st quorum.Stood) bool { return st.Carried != "" })
	})},
	"who objected last is forgotten": {objectorJudges, carryWorld(), mutateInherited(func(rec *quorum.Record) { rec.Judged = nil })},
	"a lane sheds who objected last": {objectorJudges, laneWorld(), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				if b := &ballots[i]; b.Again && policy.Reviewers[i].Excused != "" {
					b.Excused, b.Required, b.Again = policy.Reviewers[i].Excused, false, false
				}
			}
			return ballots
		}
	}},
	"who objected against another base is forgotten": {objectorJudges, basesWorld(), mutateRecord(func(rec *quorum.Record) { rec.Judged = nil })},
	"a yes against another base answers": {noStands, basesWorld(), mutateRecord(func(rec *quorum.Record) {
		for i := range rec.Objections {
			rec.Objections[i].Answered = rec.Objections[i].Answered || len(rec.Objections[i].AnsweredOn) > 0
		}
	})},

	// Of heads that were left.
	"a review of a head that was left is not heard": {objectorJudges, lateWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Reviews = slices.DeleteFunc(slices.Clone(s.Reviews), func(t quorum.Text) bool { return t.Commit != s.PR.Head })
	})},
	"a status of a head that was left is not heard": {objectorJudges, lateWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Left = nil
	})},
	"a run of a head that was left is not heard": {objectorJudges, lateWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Others = nil
	})},
	"a no that was said while the head was away is void": {noStands, lateWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Reviews = slices.DeleteFunc(slices.Clone(s.Reviews), func(t quorum.Text) bool {
			return len(s.Pushes) > 1 && t.Commit == s.PR.Head && t.At.Before(s.Pushes[0].At)
		})
	})},

	"a yes is of whichever base": {passIsEarned, basesWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		for _, e := range s.Timeline {
			same := quorum.HeadDiff{Head: s.PR.Head, Base: e.From, Files: s.PR.Diff.Files}
			s.Record.Heads = slices.Insert(slices.Clone(s.Record.Heads), 0, same)
		}
	})},
	"guarded files of a base do not matter": {passIsEarned, basesWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) { s.Guards = "same" })},
	"a base that was pushed to is the same": {passIsEarned, basesWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.BasePushed = opened
	})},
	"a no belongs to the base": {noStands, plainWorld(1, byConclusion), mutateInherited(func(rec *quorum.Record) {
		rec.Objections = slices.DeleteFunc(rec.Objections, func(o quorum.Objection) bool { return o.Base != rec.Base })
	})},

	// Of lanes and labels.
	"labels choose": {laneHolds, laneWorld(), func(p *product) {
		policyFor := p.policyFor
		p.policyFor = func(policy quorum.Policy, s quorum.Snapshot) quorum.Policy {
			for i := range policy.Lanes {
				if l := &policy.Lanes[i]; slices.Contains(s.PR.Labels, laxLabel) && slices.Contains(l.If.Labels, laxLabel) {
					return policy.InLane(l)
				}
			}
			return policyFor(policy, s)
		}
	}},
	"labels add nothing": {laneHolds, laneWorld(), mutatePolicy(func(_ *quorum.Policy, s *quorum.Snapshot) { s.PR.Labels = nil })},
	"a laxer lane holds on every base": {laneHolds, laneWorld(), mutatePolicy(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.PR.DefaultBranch = s.PR.BaseRef
	})},
	"a laxer lane holds for guarded files": {laneHolds, laneWorld(), mutatePolicy(func(p *quorum.Policy, _ *quorum.Snapshot) { p.Guard = nil })},
	"a lane silences an objection": {noStands, laneWorld(), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				if b := &ballots[i]; policy.Reviewers[i].Excused != "" {
					b.Excused, b.Vote, b.Reason = policy.Reviewers[i].Excused, quorum.Unavailable, policy.Reviewers[i].Excused
				}
			}
			return ballots
		}
	}},
	"a lane without review hears no objection": {noStands, laneWorld(), mutateFacts(func(p *quorum.Policy, ballots []quorum.Ballot, _ *quorum.Facts) {
		for i := range ballots {
			ballots[i].Shadow = ballots[i].Shadow || p.NeedsNoReview()
		}
	})},
	"a lane without review hears no person": {passIsEarned, laneWorld(), mutateFacts(func(_ *quorum.Policy, _ []quorum.Ballot, f *quorum.Facts) {
		f.Against = nil
	})},

	// Of people's words.
	"anybody may accept": {noStands, commandWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Permissions = map[string]quorum.Permission{"bob": quorum.Admin, "dave": quorum.Admin, "mallory": quorum.Admin}
	})},
	"the author may accept": {noStands, commandWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.PR.Author, s.Pushes = passer, []quorum.Push{{After: s.PR.Head, Actor: passer, At: opened}}
		s.Commits = slices.Repeat([]quorum.Commit{{SHA: s.PR.Head, People: []quorum.Account{passer}}}, len(s.Commits))
		s.Timeline = slices.DeleteFunc(slices.Clone(s.Timeline), func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed })
	})},
	"an edited command is heard": {noStands, commandWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Comments = slices.Clone(s.Comments)
		for i := range s.Comments {
			s.Comments[i].Edited = time.Time{}
		}
	})},
	"an accept of another head is heard": {diffStaysRed, commandWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Comments = slices.Clone(s.Comments)
		for i := range s.Comments {
			if t := &s.Comments[i]; strings.HasPrefix(t.Body, "/review-coordinator accept") {
				t.Body = "/review-coordinator accept " + s.PR.Head + " it is fine"
			}
		}
	})},
	"an accept ends what comes after it": {noStands, commandWorld(), mutateRecord(func(rec *quorum.Record) {
		for i := range rec.Commands {
			rec.Commands[i].Until = rec.Commands[i].At.Add(time.Hour)
		}
	})},
	"an accept ends what no check has named": {diffStaysRed, commandWorld(), mutateInherited(func(rec *quorum.Record) {
		for i := range rec.Objections {
			rec.Objections[i].Named = rec.Objections[i].At
		}
	})},
	"a command is carried out again and again": {nothingTwice, commandWorld(), mutateRecord(func(rec *quorum.Record) {
		rec.Intents = slices.DeleteFunc(rec.Intents, func(in quorum.Intent) bool { return in.Command != 0 })
	})},

	// Of people and families.
	"a person counts twice": {passIsEarned, peopleWorld(), mutateFacts(func(_ *quorum.Policy, _ []quorum.Ballot, f *quorum.Facts) {
		for _, by := range f.StandIns {
			by.Review = -by.Review
			f.StandIns = append(f.StandIns, by)
		}
	})},
	"the author is one of the people": {passIsEarned, peopleWorld(), func(p *product) {
		facts := p.facts
		p.facts = func(policy quorum.Policy, s quorum.Snapshot) quorum.Facts {
			s.PR.Author = passer
			s.Pushes, s.Commits = slices.Clone(s.Pushes), slices.Clone(s.Commits)
			for i := range s.Pushes {
				s.Pushes[i].Actor = passer
			}
			for i := range s.Commits {
				s.Commits[i].People = []quorum.Account{passer}
			}
			return facts(policy, s)
		}
	}},
	"a stranger is one of the people": {passIsEarned, peopleWorld(), func(p *product) {
		facts := p.facts
		p.facts = func(policy quorum.Policy, s quorum.Snapshot) quorum.Facts {
			s.Permissions = map[string]quorum.Permission{"bob": quorum.Write, "dave": quorum.Write, "mallory": quorum.Write}
			return facts(policy, s)
		}
	}},
	"an approval by a person is carried": {passIsEarned, peopleWorld(), func(p *product) {
		facts := p.facts
		p.facts = func(policy quorum.Policy, s quorum.Snapshot) quorum.Facts {
			s.Reviews = slices.Clone(s.Reviews)
			for i := range s.Reviews {
				s.Reviews[i].Commit, s.Reviews[i].At = s.PR.Head, s.Began
			}
			return facts(policy, s)
		}
	}},
	"people's approvals are carried by lines": {passIsEarned, carriedPeopleWorld(), mutateSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.PR.Diff.Tree = s.PR.Diff.Lines
	})},
	"who pushed the rebase keeps a say": {passIsEarned, carriedPeopleWorld(), func(p *product) {
		facts := p.facts
		p.facts = func(policy quorum.Policy, s quorum.Snapshot) quorum.Facts {
			s.Pushes, s.Commits, s.Timeline = slices.Clone(s.Pushes), slices.Clone(s.Commits), slices.Clone(s.Timeline)
			for i := range s.Pushes {
				s.Pushes[i].Actor = author
			}
			for i := range s.Commits {
				s.Commits[i].People = []quorum.Account{author}
			}
			for i := range s.Timeline {
				s.Timeline[i].Actor = author
			}
			return facts(policy, s)
		}
	}},
	"an acceptance outlives the override": {noStands, commandWorld(), func(p *product) {
		was := *p
		keep := func(policy quorum.Policy) quorum.Policy {
			policy.Override = quorum.Maintain
			return policy
		}
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot { return was.judge(keep(policy), s) }
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			return was.remember(keep(policy), s, d, now)
		}
	}},
	"the author's family counts": {passIsEarned, familyWorld(), func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			policy.Reviewers = slices.Clone(policy.Reviewers)
			for i := range policy.Reviewers {
				policy.Reviewers[i].Relative = nil
			}
			return judge(policy, s)
		}
	}},
	"a reserve is one more voter": {passIsEarned, seatWorld(byStatus, byCheck, byApp), mutateBallots(func(b *quorum.Ballot) {
		b.InsteadOf = ""
	})},
	"a reserve relieves who must judge again": {objectorJudges, seatWorld(byStatus, byCheck, byApp), mutateBallots(func(b *quorum.Ballot) {
		b.Again = b.Again && b.InsteadOf != ""
	})},
	"each of a family counts": {passIsEarned, familyWorld(), mutateFacts(func(p *quorum.Policy, _ []quorum.Ballot, _ *quorum.Facts) {
		p.Families = quorum.AnyFamily
	})},
}

// mutateInherited changes what a head has inherited.
func mutateInherited(change func(rec *quorum.Record)) func(p *product) {
	return func(p *product) {
		inherit := p.inherit
		p.inherit = func(policy quorum.Policy, s quorum.Snapshot) quorum.Record {
			rec := inherit(policy, s)
			change(&rec)
			return rec
		}
	}
}

// mutateSnapshot changes the policy and the snapshot for all but the choice of the lane.
func mutateSnapshot(change func(policy *quorum.Policy, s *quorum.Snapshot)) func(p *product) {
	return func(p *product) {
		was := *p
		p.inherit = func(policy quorum.Policy, s quorum.Snapshot) quorum.Record {
			change(&policy, &s)
			return was.inherit(policy, s)
		}
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			change(&policy, &s)
			return was.judge(policy, s)
		}
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			change(&policy, &s)
			return was.remember(policy, s, d, now)
		}
	}
}

// mutatePolicy changes by what the lane is chosen.
func mutatePolicy(change func(policy *quorum.Policy, s *quorum.Snapshot)) func(p *product) {
	return func(p *product) {
		policyFor := p.policyFor
		p.policyFor = func(policy quorum.Policy, s quorum.Snapshot) quorum.Policy {
			change(&policy, &s)
			return policyFor(policy, s)
		}
	}
}

// mutateFacts changes what is decided by.
func mutateFacts(change func(policy *quorum.Policy, ballots []quorum.Ballot, f *quorum.Facts)) func(p *product) {
	return func(p *product) {
		decide := p.decide
		p.decide = func(policy quorum.Policy, ballots []quorum.Ballot, f quorum.Facts, now time.Time) quorum.Decision {
			change(&policy, ballots, &f)
			return decide(policy, ballots, f, now)
		}
	}
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
	all := someMutants(mutants, 3)
	for _, name := range all {
		m := mutants[name]
		t.Run(name, func(t *testing.T) {
			p := theProduct
			m.mutate(&p)
			w := newWalker(p, m.world)
			w.stopAt = m.finds
			w.walkAll(m.world.depth(2), 200, *historySeed)
			if w.broken[m.finds] == "" {
				t.Errorf("nothing says that %q does not hold; what does not: %v", m.finds, w.broken)
				return
			}
			found[m.finds] = true
			t.Logf("%s:\n\t\t%s", m.finds, w.broken[m.finds])
		})
	}
	for _, p := range properties {
		if !found[p] && len(all) == len(mutants) {
			t.Errorf("no mutant shows that %q can fail", p)
		}
	}
}
