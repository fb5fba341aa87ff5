package sandbox

// Where things are found, so that no request has to look at all there is.

import (
	"maps"
	"slices"
)

// index finds what a GitHub holds.
type index struct {
	ordered  []*pull            // by number
	heads    map[string][]*pull // by each head that a pull request ever had, and by the test merge of it
	branches map[string][]*pull // by the branch that a pull request comes from
	comments map[int64]*pull
	reviews  map[int64]*pull
	runs     map[int64]*run
	runsAt   map[string][]*run // by head, oldest first
	runsOf   map[string][]*run // by branch, oldest first
	jobs     map[int64]*run
	suites   map[int64]*suite
	suitesAt map[string][]*suite // by head, in the order in which they came
	checks   map[int64]*CheckRun
	statuses map[string][]*Status // by head, oldest first
}

func newIndex() index {
	return index{
		heads: map[string][]*pull{}, branches: map[string][]*pull{}, comments: map[int64]*pull{}, reviews: map[int64]*pull{}, runs: map[int64]*run{}, runsAt: map[string][]*run{},
		runsOf: map[string][]*run{}, jobs: map[int64]*run{}, suites: map[int64]*suite{}, suitesAt: map[string][]*suite{}, checks: map[int64]*CheckRun{}, statuses: map[string][]*Status{},
	}
}

func (x *index) addPull(p *pull) {
	i, _ := slices.BinarySearchFunc(x.ordered, p.number, func(q *pull, n int) int { return q.number - n })
	x.ordered = slices.Insert(x.ordered, i, p)
	x.branches[p.branch] = append(x.branches[p.branch], p)
}

func (x *index) addHead(p *pull, sha string) {
	for _, key := range []string{sha, MergeSHA(sha)} {
		if !slices.Contains(x.heads[key], p) {
			x.heads[key] = append(x.heads[key], p)
		}
	}
}

// pullsFor are the pull requests that have, or had, something to do with a commit or a branch, by number.
func (x *index) pullsFor(refs ...string) []*pull {
	var all []*pull
	for _, ref := range refs {
		for _, some := range [][]*pull{x.heads[ref], x.branches[ref]} {
			for _, p := range some {
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *pull) int { return a.number - b.number })
	return all
}

func (x *index) addRun(r *run) {
	x.runs[r.id] = r
	x.runsAt[r.head] = append(x.runsAt[r.head], r)
	x.runsOf[r.branch] = append(x.runsOf[r.branch], r)
	x.addSuite(r.suite)
}

func (x *index) addJobs(r *run) {
	for _, j := range r.last().jobs {
		x.jobs[j.id] = r
	}
}

func (x *index) addSuite(s *suite) {
	x.suites[s.id] = s
	x.suitesAt[s.head] = append(x.suitesAt[s.head], s)
}

func (x *index) addCheck(c *CheckRun) {
	x.checks[c.ID] = c
	c.suite.checks = append(c.suite.checks, c)
}

func (x *index) removeRun(r *run) {
	same := func(o *run) bool { return o == r }
	delete(x.runs, r.id)
	delete(x.suites, r.suite.id)
	x.runsAt[r.head] = slices.DeleteFunc(x.runsAt[r.head], same)
	x.runsOf[r.branch] = slices.DeleteFunc(x.runsOf[r.branch], same)
	x.suitesAt[r.head] = slices.DeleteFunc(x.suitesAt[r.head], func(s *suite) bool { return s.run == r })
	maps.DeleteFunc(x.jobs, func(_ int64, o *run) bool { return o == r })
	for _, c := range r.suite.checks {
		delete(x.checks, c.ID)
	}
}
