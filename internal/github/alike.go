package github

// What our checks hold of other pull requests with the same change.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	listedPulls = 50 // pull requests that are searched, those that changed last
	maxAlike    = 5  // of them those of which our checks are read at once
)

// An alikeReader reads other pull requests with the diff of pr.
type alikeReader struct {
	*beforeReader
	pr *quorum.PullRequest
}

// beginReadingElsewhere begins to read what other pull requests and the base tell.
func beginReadingElsewhere(ctx context.Context, g group, l *look) {
	if mayBeAlike(l) && (!evidence.IsCompared(&l.snap) || l.conversationRead) { // else the conversation may be read beside it
		others, isRead := l.head.others, l.conversationRead
		g.Go(func() error { return readAlike(ctx, l, others, isRead) })
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

// readAlike reads what our checks hold of other pull requests with the same diff: at the first look at a head and base
// of those that may have it, later of those that had it and, until the check passes, of those that were not compared
// and change as much. others are those that the conversation lists. Before it was read, of more than maxAlike nothing
// is compared, nor from a list that is too long: the next call does.
func readAlike(ctx context.Context, l *look, others []sizedPull, isRead bool) error {
	s := &l.snap
	r := alikeReader{&l.before, &s.PR}
	now := l.f.now().Add(s.Skew)
	var pulls []quorum.PullRequest
	var err error
	if evidence.IsCompared(s) {
		pulls, err = r.readKnown(ctx, s.Record.Compared.Alike)
		if s.Record.Pass == nil { // before a pass: a repository may have many of one author and size
			pulls = append(pulls, r.notCompared(s, others, now)...)
		}
	} else {
		if !isRead {
			others = nil // those of another head
		}
		if l.likely == nil {
			isUnlike := func(p quorum.PullRequest) bool { return !evidence.MayBeAlike(r.pr, &p, now) }
			l.likely, err = r.readLikely(ctx, others)
			l.likely = slices.DeleteFunc(l.likely, isUnlike)
		}
		pulls = sameSizeFirst(l.likely, others)
		if !isRead && (len(pulls) > maxAlike || errors.Is(err, client.ErrTooLong)) {
			return nil
		}
		pulls = pulls[:min(len(pulls), maxAlike)]
	}
	if err != nil {
		return err
	}
	g, ctx := newGroup(ctx)
	records := readEach(g, pulls, func(p quorum.PullRequest) (quorum.Record, error) {
		own, err := r.readOwnChecks(ctx, p.Head)
		return quorum.RecordOf(&p, own.records()), err
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

// notCompared are a few of the others that change as much and may have the same diff, and were not compared yet.
func (r alikeReader) notCompared(s *quorum.Snapshot, others []sizedPull, now time.Time) (pulls []quorum.PullRequest) {
	for i := range others {
		p := others[i].toPull(r.pr.PR)
		isNew := others[i].sameSize && evidence.MayBeAlike(r.pr, &p, now) && !evidence.IsKnownAlike(s, &p)
		if isNew && len(pulls) < maxAlike {
			pulls = append(pulls, p)
		}
	}
	return pulls
}

// readLikely reads the pull requests that changed last. The query knows this head, and so all that changed before it.
// REST lists them where the query was not read yet, or does not tell how much they change.
func (r alikeReader) readLikely(ctx context.Context, queried []sizedPull) (all []quorum.PullRequest, err error) {
	if slices.ContainsFunc(queried, func(o sizedPull) bool { return o.Additions+o.Deletions > 0 }) {
		for i := range queried {
			all = append(all, queried[i].toPull(r.pr.PR))
		}
		return all, nil
	}
	path := r.repoPath("pulls") + fmt.Sprintf("?state=all&sort=updated&direction=desc&per_page=%d", listedPulls)
	page, _, err := readPage[restPull](ctx, r.client, path, "", true)
	for i := range page {
		all = append(all, page[i].toPull(r.pr.PR))
	}
	return all, err
}

// sameSizeFirst are pull requests, those last of which others tells that they change more or less than the one that is
// looked at: each may have changed as much when something was objected.
func sameSizeFirst(all []quorum.PullRequest, others []sizedPull) []quorum.PullRequest {
	isOther := func(p quorum.PullRequest) bool {
		return slices.ContainsFunc(others, func(o sizedPull) bool { return o.Number == p.Number && !o.sameSize })
	}
	isSame := func(p quorum.PullRequest) bool { return !isOther(p) }
	return slices.Concat(slices.DeleteFunc(slices.Clone(all), isOther), slices.DeleteFunc(slices.Clone(all), isSame))
}
