package github

// What our checks hold of other pull requests with the same change.

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxAlike is how many other pull requests are looked into at once, of those that changed last.
const maxAlike = 5

// An alikeReader reads other pull requests with the diff of pr.
type alikeReader struct {
	*beforeReader
	pr *quorum.PullRequest
}

// beginReadingElsewhere begins to read what other pull requests and the base tell.
func beginReadingElsewhere(ctx context.Context, g group, l *look) {
	if mayBeAlike(l) && l.conversationRead { // else it may be read beside it
		g.Go(func() error { return readAlike(ctx, l) })
	}
	isWorth := !l.f.client.Personal() || l.snap.PR.Stack.Trunk != "" // a status holds no record
	if l.snap.PR.BaseRef != l.snap.PR.DefaultBranch && isWorth && l.willJudge() {
		g.Go(func() error { return readGuards(ctx, l.read, l.policy, &l.snap, l.snap.PR.BaseRef) })
	}
}

// mayBeAlike reports whether another pull request may have the same diff, and that was not read yet.
func mayBeAlike(l *look) bool {
	return l.mayInherit() && l.snap.PR.Diff.Lines != "" && l.snap.Alike == nil
}

// readAlike reads what our checks hold of other pull requests with the same diff: of those that had it and, until the check
// passes, of a few that were not compared.
func readAlike(ctx context.Context, l *look) error {
	s := &l.snap
	r := alikeReader{&l.before, &s.PR}
	isFirst := !evidence.IsCompared(s)
	var pulls []quorum.PullRequest
	if !isFirst {
		var err error
		if pulls, err = r.readKnown(ctx, s.Record.Alike); err != nil {
			return err
		}
	}
	if isFirst || s.Record.Pass == nil { // a repository may have many of one author and size
		pulls = append(pulls, r.notCompared(s, l.head.others, l.f.now().Add(s.Skew))...)
	}
	g, ctx := newGroup(ctx)
	records := readEach(g, pulls, func(p quorum.PullRequest) (quorum.Record, error) {
		own, err := r.readOwnChecks(ctx, p.Head)
		return quorum.RecordOf(p.Number, p.Fork, own.records()), err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	s.Alike = append([]quorum.Record{}, records...) // not nil: they were asked for
	return nil
}

// readKnown reads the pull requests that had the same diff. A 304 mostly answers.
func (r alikeReader) readKnown(ctx context.Context, numbers []int) ([]quorum.PullRequest, error) {
	g, ctx := newGroup(ctx)
	pulls := readEach(g, numbers, func(number int) (quorum.PullRequest, error) {
		var p restPull
		_, err := r.client.Get(ctx, r.repoPath("pulls", strconv.Itoa(number)), &p)
		return p.toPull(r.pr.PR), unlessGone(err)
	})
	err := g.Wait()
	return slices.DeleteFunc(pulls, func(p quorum.PullRequest) bool { return p.Head == "" || p.Head == r.pr.Head }), err
}

// notCompared are those of the others that may have the same diff and were not compared yet, a few at a time: those that change
// as much first. Only at the first look one of another size: its size may have been this one when something was objected.
func (r alikeReader) notCompared(s *quorum.Snapshot, others []sizedPull, now time.Time) []quorum.PullRequest {
	isFirst := !evidence.IsCompared(s)
	var sameSize, otherSize []quorum.PullRequest
	for i := range others {
		o := &others[i]
		p := o.toPull(r.pr.PR)
		p.HeadRef, p.Merged, p.ClosedAt = o.HeadRef, o.State == "MERGED", o.ClosedAt
		if o.HeadRepo != nil {
			p.HeadRepo = o.HeadRepo.FullName
		}
		switch {
		case !evidence.MayBeAlike(r.pr, &p, now) || !isFirst && evidence.IsKnownAlike(s, &p):
		case o.sameSize:
			sameSize = append(sameSize, p)
		case isFirst:
			otherSize = append(otherSize, p)
		}
	}
	all := slices.Concat(sameSize, otherSize)
	return all[:min(len(all), maxAlike)]
}
