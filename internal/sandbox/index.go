package sandbox

// Indexes, so that a request does not have to search the whole repository.

import (
	"maps"
	"slices"
)

// index finds what a GitHub holds.
type index struct {
	pullsByNumber  []*pullRequest            // by number
	pullsByHead    map[string][]*pullRequest // by each head that a pull request ever had, and by the test merge of it
	pullsByBranch  map[string][]*pullRequest // by the branch that a pull request comes from
	comments       map[int64]*issueComment
	reviews        map[int64]*review
	runByID        map[int64]*workflowRun
	runsByHead     map[string][]*workflowRun // by head, oldest first
	runsByBranch   map[string][]*workflowRun // by branch, oldest first
	jobs           map[int64]*job
	suiteByID      map[int64]*checkSuite
	suitesByHead   map[string][]*checkSuite // by head, in the order in which they came
	checkByID      map[int64]*StoredCheckRun
	statusesByHead map[string][]*CommitStatus // by head, oldest first
}

func newIndex() index {
	return index{
		pullsByHead: map[string][]*pullRequest{}, pullsByBranch: map[string][]*pullRequest{}, comments: map[int64]*issueComment{},
		reviews: map[int64]*review{}, runByID: map[int64]*workflowRun{}, runsByHead: map[string][]*workflowRun{},
		runsByBranch: map[string][]*workflowRun{}, jobs: map[int64]*job{}, suiteByID: map[int64]*checkSuite{},
		suitesByHead: map[string][]*checkSuite{}, checkByID: map[int64]*StoredCheckRun{}, statusesByHead: map[string][]*CommitStatus{},
	}
}

func (x *index) addPull(p *pullRequest) {
	i, _ := slices.BinarySearchFunc(x.pullsByNumber, p.number, func(q *pullRequest, n int) int { return q.number - n })
	x.pullsByNumber = slices.Insert(x.pullsByNumber, i, p)
	x.pullsByBranch[p.headBranch] = append(x.pullsByBranch[p.headBranch], p)
}

func (x *index) addHead(p *pullRequest, sha string) {
	for _, key := range []string{sha, MergeSHA(sha)} {
		if !slices.Contains(x.pullsByHead[key], p) {
			x.pullsByHead[key] = append(x.pullsByHead[key], p)
		}
	}
}

// pullsFor returns the pull requests, by number, that have or had one of the refs as head, test merge or branch.
func (x *index) pullsFor(refs ...string) []*pullRequest {
	var all []*pullRequest
	for _, ref := range refs {
		for _, some := range [][]*pullRequest{x.pullsByHead[ref], x.pullsByBranch[ref]} {
			for _, p := range some {
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *pullRequest) int { return a.number - b.number })
	return all
}

func (x *index) addRun(r *workflowRun) {
	x.runByID[r.id] = r
	x.runsByHead[r.head] = append(x.runsByHead[r.head], r)
	x.runsByBranch[r.headBranch] = append(x.runsByBranch[r.headBranch], r)
	x.addSuite(r.suite)
}

func (x *index) addSuite(s *checkSuite) {
	x.suiteByID[s.id] = s
	x.suitesByHead[s.head] = append(x.suitesByHead[s.head], s)
}

func (x *index) addCheck(c *StoredCheckRun) {
	x.checkByID[c.ID] = c
	c.suite.checks = append(c.suite.checks, c)
}

func (x *index) removeRun(r *workflowRun) {
	same := func(o *workflowRun) bool { return o == r }
	delete(x.runByID, r.id)
	delete(x.suiteByID, r.suite.id)
	x.runsByHead[r.head] = slices.DeleteFunc(x.runsByHead[r.head], same)
	x.runsByBranch[r.headBranch] = slices.DeleteFunc(x.runsByBranch[r.headBranch], same)
	x.suitesByHead[r.head] = slices.DeleteFunc(x.suitesByHead[r.head], func(s *checkSuite) bool { return s.run == r })
	maps.DeleteFunc(x.jobs, func(_ int64, j *job) bool { return j.run == r })
	for _, c := range r.suite.checks {
		delete(x.checkByID, c.ID)
	}
}

// removeSuitesAndStatuses removes the suites that are left on a commit, with their checks, and its statuses.
func (x *index) removeSuitesAndStatuses(head string) {
	for _, s := range x.suitesByHead[head] {
		delete(x.suiteByID, s.id)
		for _, c := range s.checks {
			delete(x.checkByID, c.ID)
		}
	}
	delete(x.suitesByHead, head)
	delete(x.statusesByHead, head)
}
