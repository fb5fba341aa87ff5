package story_test

// Mistakes that are put into what the coordinator reads, writes and does: the quarter must find each of them, or it
// would find none of the product's.

import (
	"cmp"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A quarterMutant is a mistake, what is said once it is found, and the week in which that happens soonest.
type quarterMutant struct {
	finds  string
	week   int // that finds it soonest; beyond the last one, a week of the next seed
	mutate teamMutation
}

var helperOfTeam = quorum.Account{Login: "dave", ID: 4242}

// inSnapshot is a mistake in what is read.
func inSnapshot(change func(p *quorum.Policy, s *quorum.Snapshot)) teamMutation {
	return teamMutation{snapshot: change}
}

// inManyPulls is inSnapshot in a quarter of so many pull requests that one of few meets it.
func inManyPulls(change func(p *quorum.Policy, s *quorum.Snapshot)) teamMutation {
	return teamMutation{pulls: 1000, snapshot: change}
}

// forgetObjections takes what the record knows of objections.
func forgetObjections(s *quorum.Snapshot) {
	s.Record.Objections, s.Before.Objections = nil, nil
	s.Record.Judged, s.Before.Judged = nil, nil
	s.Held = nil
}

var quarterMutants = map[string]quarterMutant{
	"the record forgets objections": {"has answered", 0, inSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) { forgetObjections(s) })},
	"an objection drops while its reviewer looks again": {"has answered", 0, inSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		forgetObjections(s)
		for _, run := range s.Runs {
			s.Comments = slices.DeleteFunc(slices.Clone(s.Comments), func(t quorum.Text) bool {
				return t.Author.Is(quorum.ActionsBot) && run.Attempt > 1 && t.At.Before(run.Started)
			})
		}
	})},
	"a green run is an approval": {"only", 3, inSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) {
		p.Reviewers = slices.Clone(p.Reviewers)
		for i := range p.Reviewers {
			if p.Reviewers[i].Workflow != "" {
				p.Reviewers[i].Verdict = quorum.Format{Kind: quorum.Conclusion}
			}
		}
	})},
	"any account dismisses": {"has answered", 9, inManyPulls(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			if s.Timeline[i].Kind == quorum.ReviewDismissed {
				s.Timeline[i].Actor = helperOfTeam
			}
		}
	})},
	"a new base voids nothing": {"only", 5, inSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Timeline = slices.DeleteFunc(slices.Clone(s.Timeline), func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	})},
	"a review is of whatever head it shows on": {"false pass", 0, inManyPulls(func(_ *quorum.Policy, s *quorum.Snapshot) {
		s.Reviews = slices.Clone(s.Reviews)
		for i := range s.Reviews {
			s.Reviews[i].Commit, s.Reviews[i].At = s.PR.Head, s.Arrived.Add(time.Second)
		}
	})},
	"a passer-by stands in": {"stand in", 9, inSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		all := map[string]quorum.Permission{}
		for _, t := range s.Reviews {
			all[strings.ToLower(t.Author.Login)] = quorum.Admin
		}
		s.Permissions = all
	})},
	"who had a hand in it stands in": {"stand in", 3*quarterWeeks + 2, inSnapshot(func(_ *quorum.Policy, s *quorum.Snapshot) {
		nobody := quorum.Account{Login: "nobody", ID: 1}
		s.PR.Author = nobody
		s.Pushes, s.Commits, s.Runs = slices.Clone(s.Pushes), slices.Clone(s.Commits), slices.Clone(s.Runs)
		for i := range s.Pushes {
			s.Pushes[i].Actor = nobody
		}
		for i := range s.Commits {
			s.Commits[i].People = []quorum.Account{nobody}
		}
		for i := range s.Runs {
			s.Runs[i].Actor = nobody
		}
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			if e := &s.Timeline[i]; e.Kind == quorum.ForcePushed {
				e.Actor = nobody
			}
		}
	})},
	"a rerun spends nothing": {"second time", 2, inSnapshot(func(p *quorum.Policy, s *quorum.Snapshot) {
		p.Retry.Max = 9
		s.Record.Intents = nil
	})},
	"what is under way is cancelled": {"is cancelled", 0, inSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) {
		p.Reviewers = slices.Clone(p.Reviewers)
		for i := range p.Reviewers {
			p.Reviewers[i].Timeout = time.Minute
		}
	})},
	"labels choose": {"only", quarterWeeks + 1, inManyPulls(func(p *quorum.Policy, s *quorum.Snapshot) {
		if slices.Contains(s.PR.Labels, "quick") {
			p.Lanes, p.Need, p.Rules = nil, 1, nil
		}
	})},
	"nothing is guarded": {"only", 4, inSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) { p.Guard = nil })},
	"what is unverified is green": {"only", 0, teamMutation{check: func(c *report.Check) {
		if c.Conclusion == "action_required" {
			c.Conclusion = "success"
		}
	}}},
	"who joined a group last counts alone": {"a group's commit is green", 0, teamMutation{group: func(g *quorum.MergeGroup) {
		g.Pulls = g.Pulls[max(len(g.Pulls)-1, 0):]
	}}},
	"the queue's group is whoever passes": {"a group's commit is green", 0, teamMutation{group: func(g *quorum.MergeGroup) {
		g.Pulls = g.Pulls[:min(len(g.Pulls), 1)]
	}}},
	"there is no breaker": {"is down, and is run again", 4, inSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) {
		p.Breaker = quorum.Breaker{}
	})},
	"of each author's pull requests one counts": {"is down, and is run again", 4, teamMutation{sign: func(s *quorum.Sign) {
		s.Stranger = "alice"
	}}},
	"a stranger's pull requests count singly": {"is opened by", 4, teamMutation{sign: func(s *quorum.Sign) { s.Stranger = "" }}},
	"an attempt that shows nothing holds the others back for as long as one that fails": {
		"that has shown nothing", 4, teamMutation{pulls: 2000, sign: func(s *quorum.Sign) {
			if s.Kind == quorum.SignProbed {
				s.At = s.At.Add(breakerReset / 2)
			}
		}},
	},
	"fixes have no end": {"fix 3 is started", 2, inSnapshot(func(p *quorum.Policy, _ *quorum.Snapshot) {
		p.Fix.MaxRestarts = 99
	})},
	"the wake is forgotten": {"its check is open", 2, teamMutation{wake: func(time.Time) time.Time { return time.Time{} }}},
}

// mutantSeed is that of the quarter in whose weeks the mistakes are looked for, from the week on in which one is found soon.
const mutantSeed = 22

var (
	mutantStep  = flag.Int("mutant-step", 0, "tests of mutants look for every n-th mistake; 1: all of them; 0: a third, of the quarter none")
	mutantFirst = flag.Int("mutant-first", 0, "the first mistake of -mutant-step, counted from 0, modulo the step")
)

// someMutants are the names of every n-th mistake, by -mutant-step, else of one in so many.
func someMutants[M any](all map[string]M, defaultStep int) (names []string) {
	step := cmp.Or(*mutantStep, defaultStep)
	for place, name := range slices.Sorted(maps.Keys(all)) {
		if place%step == *mutantFirst%step {
			names = append(names, name)
		}
	}
	return names
}

func TestQuarterFindsItsMutants(t *testing.T) {
	if *mutantStep == 0 {
		t.Skip("-args -mutant-step=3 looks for a third of them, as CI does")
	}
	for _, name := range someMutants(quarterMutants, 1) {
		m := quarterMutants[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []string
			for i := range 2 * quarterWeeks {
				seed, n := mutantSeed+uint64((m.week+i)/quarterWeeks), (m.week+i)%quarterWeeks
				var broken []string
				synctest.Test(t, func(*testing.T) { broken = playWeekUntil(seed, n, cmp.Or(m.mutate.pulls, 156), m.mutate, m.finds) })
				for _, what := range broken {
					if strings.Contains(what, m.finds) {
						t.Logf("week %d: %s", n, what[:min(len(what), 300)])
						return
					}
					all = append(all, what)
				}
			}
			t.Errorf("nothing is found of it, and %d other things: %.400q", len(all), all)
		})
	}
}
