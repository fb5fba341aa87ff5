package sandbox

// Merge queues. A pull request that is put into one waits behind the others; GitHub builds a commit with all of them,
// asks for its checks, and merges it when they are green. When it is built the story says, and what becomes of it.

import (
	"fmt"
	"slices"
	"time"
)

// Enqueue puts a pull request into the merge queue of its base, behind what is in it, and has its group's commit built.
func Enqueue(g *GitHub, number int, commit, by string) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		if slices.ContainsFunc(g.queue, func(e *queueEntry) bool { return e.pull == p }) {
			return fmt.Errorf("#%d is in the merge queue already", p.number)
		}
		if p.closed || p.draft {
			return fmt.Errorf("#%d is closed, or a draft: GitHub takes no such pull request into a merge queue", p.number)
		}
		e := &queueEntry{pull: p, by: or(by, p.author), at: now}
		g.queue = append(g.queue, e)
		g.queued[p.baseBranch] = true
		g.emitPullEvent(p, "enqueued", e.by, nil)
		g.buildGroup(e, commit, now)
		return nil
	})
}

// BuildGroup has the commit of a pull request's group built anew, on what is in front of it now.
func BuildGroup(g *GitHub, number int, commit string) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		i := slices.IndexFunc(g.queue, func(e *queueEntry) bool { return e.pull == p })
		if i < 0 {
			return fmt.Errorf("#%d is in no merge queue", p.number)
		}
		g.destroyGroup(g.queue[i], "invalidated")
		g.buildGroup(g.queue[i], commit, now)
		return nil
	})
}

// Dequeue takes a pull request out of the merge queue. The groups of those behind it are no more.
func Dequeue(g *GitHub, number int) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		i := slices.IndexFunc(g.queue, func(e *queueEntry) bool { return e.pull == p })
		if i < 0 {
			return fmt.Errorf("#%d is in no merge queue", p.number)
		}
		g.leaveQueue(i)
		return nil
	})
}

// MergeQueued merges the group of a pull request: it, and all that are in front of it.
func MergeQueued(g *GitHub, number int) error {
	merged := takeGroup(g, number)
	if len(merged) == 0 {
		return fmt.Errorf("#%d has no group in a merge queue", number)
	}
	for _, n := range merged {
		if err := g.Merge(n, "github-merge-queue[bot]"); err != nil {
			return err
		}
	}
	return nil
}

// takeGroup takes the group of a pull request out of the queue, as the new tip of its base, and returns the numbers of
// its pull requests; none: it has no group.
func takeGroup(g *GitHub, number int) (merged []int) {
	defer g.mu.held()()
	i := slices.IndexFunc(g.queue, func(e *queueEntry) bool { return e.pull.number == number })
	if i < 0 || g.queue[i].head == "" {
		return nil
	}
	base, tip := g.queue[i].pull.baseBranch, g.queue[i].head
	for _, e := range slices.Clone(g.queue[:i+1]) {
		if e.pull.baseBranch == base {
			merged = append(merged, e.pull.number)
			g.destroyGroup(e, "merged")
		}
	}
	g.queue = slices.DeleteFunc(g.queue, func(e *queueEntry) bool { return slices.Contains(merged, e.pull.number) })
	g.ensureBranch(base).tip = tip
	return merged
}

// A Group is a commit of the merge queue.
type Group struct {
	Head   string
	Branch string
	Pull   int // that joined it last
}

// Groups are the groups whose commits are built, in the queue's order.
func Groups(g *GitHub) (all []Group) {
	defer g.mu.held()()
	for _, e := range g.queue {
		if e.head != "" {
			all = append(all, Group{e.head, e.branchName(), e.pull.number})
		}
	}
	return all
}
