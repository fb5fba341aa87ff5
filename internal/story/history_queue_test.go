package story

// Histories of a merge queue: pull requests are reviewed, join and leave, and groups are built anew, in any order; whoever
// looks, a group's commit is green only if each of its pull requests would be.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var (
	queueHistories = flag.Int("queue-histories", 12, "histories of a merge queue")
	queueSeed      = flag.Uint64("queue-seed", 2026, "which ones")
	queueDepth     = flag.Int("queue-depth", 1, "length, in moves, of the histories of a merge queue of two; above 1, mistakes are looked for in all of three moves")
)

const (
	queueMoves  = 10 // of one history
	queuePolicy = `version: 1
quorum: 1
grace: 1m
timeout: 5m
reviewers:
  - {name: kim, author: "kim[bot]", verdict: review-state}
  - {name: lee, author: "lee[bot]", verdict: review-state}
`
)

// A queueWorld is a repository with some pull requests, from #7 on, and what reviewers said last of each head, which
// nothing of ours has read.
type queueWorld struct {
	g       *sandbox.GitHub
	now     time.Time
	said    map[string]map[string]string // by head, then reviewer: the state of the newest review
	commits int
	last    int // number of the last pull request
	inQueue map[int]bool
	story   []string
}

func newQueueWorld(last int) *queueWorld {
	w := &queueWorld{now: Begin, last: last, said: map[string]map[string]string{}, inQueue: map[int]bool{}}
	w.g = sandbox.New(sandbox.Options{Now: func() time.Time { return w.now }, App: sandbox.App{Slug: "quorum-app"}, HourlyLimit: 1_000_000})
	w.g.SetFile(policyPath, "", queuePolicy)
	for n := 7; n <= last; n++ {
		w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
	}
	return w
}

func (w *queueWorld) newCommit() string {
	w.commits++
	return fmt.Sprintf("commit %d", w.commits)
}

// A queueMove is one thing that may happen to a pull request of a queueWorld.
type queueMove struct {
	name string // with the number of the pull request
	do   func(w *queueWorld, n int) error
}

// reviewOf lets a reviewer review the head of a pull request.
func reviewOf(by, state string) queueMove {
	return queueMove{by + " says " + state + " of #%d", func(w *queueWorld, n int) error {
		head := w.g.Head(n)
		if w.said[head] == nil {
			w.said[head] = map[string]string{}
		}
		w.said[head][by] = state
		_, err := w.g.Review(n, sandbox.ReviewSpec{By: by, State: state, Body: "So it is."})
		return err
	}}
}

var (
	joinQueue = queueMove{"#%d joins, or is built anew", func(w *queueWorld, n int) error {
		if w.inQueue[n] {
			return sandbox.BuildGroup(w.g, n, w.newCommit())
		}
		w.inQueue[n] = true
		return sandbox.Enqueue(w.g, n, w.newCommit(), "alice")
	}}
	leaveQueue = queueMove{"#%d leaves", func(w *queueWorld, n int) error {
		if !w.inQueue[n] {
			return errCannotMove
		}
		w.inQueue[n] = false
		return sandbox.Dequeue(w.g, n)
	}}
	pushToQueued = queueMove{"#%d is pushed to", func(w *queueWorld, n int) error {
		w.inQueue[n] = false
		return w.g.Push(n, w.newCommit(), sandbox.PushSpec{})
	}}
	letTimePass = queueMove{"two minutes pass", func(w *queueWorld, _ int) error {
		w.now = w.now.Add(2 * time.Minute)
		return nil
	}}
)

var errCannotMove = errors.New("it cannot happen now")

// make lets something happen.
func (w *queueWorld) make(m queueMove, n int) error {
	name := m.name
	if strings.Contains(name, "%d") {
		name = fmt.Sprintf(name, n)
	}
	w.story = append(w.story, name)
	return m.do(w, n)
}

// makeByChance lets something happen that can.
func (w *queueWorld) makeByChance(r *rand.Rand) error {
	n := 7 + r.IntN(3)
	by := []string{"kim[bot]", "lee[bot]"}[r.IntN(2)]
	switch what := r.IntN(10); {
	case what < 6:
		return w.make(reviewOf(by, []string{"APPROVED", "APPROVED", "CHANGES_REQUESTED"}[r.IntN(3)]), n)
	case what < 8:
		return w.make(joinQueue, n)
	case what == 8 && w.inQueue[n]:
		return w.make(leaveQueue, n)
	case what == 8:
		return w.make(pushToQueued, n)
	}
	return w.make(letTimePass, n)
}

// look looks at the pull requests, unless they are skipped, and then at each group, as new jobs.
func (w *queueWorld) look(t *testing.T, isSkipped bool, through func(loop.GroupForge) loop.GroupForge) {
	t.Helper()
	api, err := client.New(client.Options{Token: "ghs_x", Transport: w.g, Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	forge := github.NewForge(api, "quorum-app", "", nil)
	forge.SetClock(func() time.Time { return w.now })
	r := loop.Reconciler{Forge: forge, Now: func() time.Time { return w.now }}
	for n := 7; n <= w.last && !isSkipped; n++ {
		if _, err := r.Reconcile(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: n}); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range sandbox.Groups(w.g) {
		ref := quorum.GroupRef{Owner: "acme", Repo: "shop", Head: g.Head, Branch: g.Branch}
		if _, err := r.ReconcileGroup(t.Context(), through(github.QueuesOf(forge)), ref); err != nil {
			t.Fatal(err)
		}
	}
}

// wrong says what is wrong with the check of a group's commit, by what was said of its pull requests; "" if nothing is.
func (w *queueWorld) wrong(groups []sandbox.Group, at int) string {
	own, built := w.g.OwnCheckRuns(groups[at].Head), 0
	if len(own) != 1 {
		return fmt.Sprintf("%d checks", len(own))
	}
	for _, isIn := range w.inQueue {
		if isIn {
			built++
		}
	}
	isWhole := built == len(groups) // no group is missing in front of it, and both reviewers approve each
	for _, g := range groups[:at+1] {
		said := w.said[w.g.Head(g.Pull)]
		states := []string{said["kim[bot]"], said["lee[bot]"]}
		if own[0].Conclusion == "success" && (slices.Contains(states, "CHANGES_REQUESTED") || !slices.Contains(states, "APPROVED")) {
			return fmt.Sprintf("it is green, and of #%d was said %q", g.Pull, states)
		}
		isWhole = isWhole && states[0] == "APPROVED" && states[1] == "APPROVED"
	}
	if isWhole && own[0].Conclusion != "success" {
		return fmt.Sprintf("it is %s %s %q, and all approve", own[0].Status, own[0].Conclusion, own[0].Title)
	}
	return ""
}

// playQueue plays a history that is drawn by chance and returns what is wrong first.
func playQueue(t *testing.T, seed uint64, through func(loop.GroupForge) loop.GroupForge) string {
	t.Helper()
	w, r := newQueueWorld(9), rand.New(rand.NewPCG(seed, 3))
	for range queueMoves {
		if err := w.makeByChance(r); err != nil {
			t.Fatalf("%v after %q", err, w.story)
		}
		w.look(t, r.IntN(3) == 0, through)
		if wrong := w.firstWrong(); wrong != "" {
			return wrong
		}
	}
	return ""
}

// firstWrong says what is wrong first; "" if nothing is.
func (w *queueWorld) firstWrong() string {
	groups := sandbox.Groups(w.g)
	for i, g := range groups {
		if wrong := w.wrong(groups, i); wrong != "" {
			return fmt.Sprintf("the group of #%d: %s, after %s", g.Pull, wrong, strings.Join(w.story, ", "))
		}
	}
	return ""
}

// asItIs leaves a merge queue as it is.
func asItIs(q loop.GroupForge) loop.GroupForge { return q }

func TestQueueHistories(t *testing.T) {
	for i := range *queueHistories {
		seed := *queueSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if wrong := playQueue(t, seed, asItIs); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// A placedMove is a move of one of the pull requests.
type placedMove struct {
	queueMove
	pull int
}

// playPlaced plays a history from a queue with a group of two that passes, or from none, and returns what is wrong at
// its end: whatever is wrong earlier a shorter one finds. Of the last move the pull requests' own looks may not know yet.
// It reports false where the last move cannot be made then.
func playPlaced(
	t *testing.T, begins bool, history []placedMove, isSkipped bool, through func(loop.GroupForge) loop.GroupForge,
) (wrong string, isPossible bool) {
	t.Helper()
	w := newQueueWorld(8)
	if begins {
		for n := 7; n <= 8; n++ {
			for _, m := range []queueMove{reviewOf("kim[bot]", "APPROVED"), reviewOf("lee[bot]", "APPROVED"), joinQueue} {
				if err := w.make(m, n); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.look(t, false, through)
	}
	for i, m := range history {
		switch err := w.make(m.queueMove, m.pull); {
		case errors.Is(err, errCannotMove):
			return "", false
		case err != nil:
			t.Fatalf("%v after %q", err, w.story)
		}
		w.look(t, isSkipped && i == len(history)-1, through)
	}
	return w.firstWrong(), true
}

// walkQueue plays every history that begins so and has at most so many moves, until something is wrong.
func walkQueue(t *testing.T, begins bool, history []placedMove, depth int, through func(loop.GroupForge) loop.GroupForge) string {
	t.Helper()
	for _, isSkipped := range []bool{false, true} {
		if wrong, isPossible := playPlaced(t, begins, history, isSkipped, through); wrong != "" || !isPossible {
			return wrong
		}
	}
	if len(history) >= depth {
		return ""
	}
	for _, m := range placedMoves() {
		if wrong := walkQueue(t, begins, append(slices.Clip(history), m), depth, through); wrong != "" {
			return wrong
		}
	}
	return ""
}

// placedMoves are the moves of two pull requests.
func placedMoves() (all []placedMove) {
	for n := 7; n <= 8; n++ {
		for _, m := range []queueMove{
			reviewOf("kim[bot]", "APPROVED"), reviewOf("kim[bot]", "CHANGES_REQUESTED"), joinQueue, leaveQueue, pushToQueued,
		} {
			all = append(all, placedMove{m, n})
		}
	}
	return append(all, placedMove{letTimePass, 7})
}

// Every history of so many moves that begins with a group of two, and of one move less that begins with none.
func TestEveryQueueHistory(t *testing.T) {
	for begins, depth := range map[bool]int{true: *queueDepth, false: *queueDepth - 1} {
		for i, first := range placedMoves() {
			t.Run(fmt.Sprintf("of two %v, %d", begins, i), func(t *testing.T) {
				t.Parallel()
				if wrong := walkQueue(t, begins, []placedMove{first}, depth, asItIs); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
}

// A wrongQueue is a merge queue that is read or written wrongly.
type wrongQueue struct {
	loop.GroupForge
	read  func(*quorum.MergeGroup)
	write func(*report.Check)
}

func (q wrongQueue) ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	g, err := q.GroupForge.ReadGroup(ctx, ref)
	if q.read != nil {
		q.read(&g)
	}
	return g, err
}

func (q wrongQueue) PublishGroup(ctx context.Context, ref quorum.GroupRef, c report.Check) error {
	if q.write != nil {
		q.write(&c)
	}
	return q.GroupForge.PublishGroup(ctx, ref, c)
}

// Each mistake is found by some history.
func TestQueueHistoriesFindMistakes(t *testing.T) {
	for name, wrong := range map[string]wrongQueue{
		"only the one that joined last counts": {read: func(g *quorum.MergeGroup) { g.Pulls = g.Pulls[max(len(g.Pulls)-1, 0):] }},
		"only the first counts":                {read: func(g *quorum.MergeGroup) { g.Pulls = g.Pulls[:min(len(g.Pulls), 1)] }},
		"what waits passes": {write: func(c *report.Check) {
			if c.Status == "in_progress" {
				c.Status, c.Conclusion = "completed", "success"
			}
		}},
		"what is blocked passes": {write: func(c *report.Check) {
			if c.Conclusion == "failure" {
				c.Conclusion = "success"
			}
		}},
		"a pass is never written": {write: func(c *report.Check) {
			if c.Conclusion == "success" {
				c.Conclusion = "failure"
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			through := func(q loop.GroupForge) loop.GroupForge { return wrongQueue{q, wrong.read, wrong.write} }
			if *queueDepth > 1 && walkQueue(t, true, nil, 3, through) == "" {
				t.Error("none of every history finds it")
			}
			for seed := *queueSeed; seed < *queueSeed+60; seed++ {
				if playQueue(t, seed, through) != "" {
					return
				}
			}
			t.Error("no history that is drawn finds it")
		})
	}
}
