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

// readAlike reads what our checks hold of other pull requests with the same diff: at the first look at a head and base of
// those that may have it, later of those that had it and, until the check passes, of those that were not compared and change as much.
// others are those that the conversation lists. Before it was read, of more than maxAlike nothing is compared: the next call does.
func readAlike(ctx context.Context, l *look, others []sizedPull, isRead bool) error {
	s := &l.snap
	r := alikeReader{&l.before, &s.PR}
	now := l.f.now().Add(s.Skew)
	var pulls []quorum.PullRequest
	var err error
	if evidence.IsCompared(s) {
		pulls, err = r.readKnown(ctx, s.Record.Alike)
		if s.Record.Pass == nil { // before a pass: a repository may have many of one author and size
			pulls = append(pulls, r.notCompared(s, others, now)...)
		}
	} else {
		if l.likely == nil {
			l.likely, err = r.readLikely(ctx, now)
		}
		if pulls = sameSizeFirst(l.likely, others); len(pulls) > maxAlike && !isRead {
			return err
		}
		pulls = pulls[:min(len(pulls), maxAlike)]
	}
	if err != nil {
		return err
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

// notCompared are those of the others that change as much and may have the same diff, and were not compared yet, a few at a time.
func (r alikeReader) notCompared(s *quorum.Snapshot, others []sizedPull, now time.Time) (pulls []quorum.PullRequest) {
	for i := range others {
		o := &others[i]
		p := o.toPull(r.pr.PR)
		p.HeadRef, p.Merged, p.ClosedAt = o.HeadRef, o.State == "MERGED", o.ClosedAt
		if o.HeadRepo != nil {
			p.HeadRepo = o.HeadRepo.FullName
		}
		if o.sameSize && len(pulls) < maxAlike && evidence.MayBeAlike(r.pr, &p, now) && !evidence.IsKnownAlike(s, &p) {
			pulls = append(pulls, p)
		}
	}
	return pulls
}

// readLikely reads the pull requests that may have the same diff, of those that changed last. REST lists them: they are searched
// once, and GraphQL may be late.
func (r alikeReader) readLikely(ctx context.Context, now time.Time) ([]quorum.PullRequest, error) {
	all, err := r.readLast(ctx)
	return slices.DeleteFunc(all, func(p quorum.PullRequest) bool { return !evidence.MayBeAlike(r.pr, &p, now) }), err
}

// sameSizeFirst are pull requests, those last of which others tells that they change more or less than the one that is looked at: each
// may have changed as much when something was objected.
func sameSizeFirst(all []quorum.PullRequest, others []sizedPull) []quorum.PullRequest {
	isOther := func(p quorum.PullRequest) bool {
		return slices.ContainsFunc(others, func(o sizedPull) bool { return o.Number == p.Number && !o.sameSize })
	}
	isSame := func(p quorum.PullRequest) bool { return !isOther(p) }
	return slices.Concat(slices.DeleteFunc(slices.Clone(all), isOther), slices.DeleteFunc(slices.Clone(all), isSame))
}

// readLast reads the pull requests that changed last, open or not, in shorter pages where those are too long.
func (r alikeReader) readLast(ctx context.Context) (all []quorum.PullRequest, err error) {
	first := fmt.Sprintf("%s?state=all&sort=updated&direction=desc&per_page=%d", r.repoPath("pulls"), listedPulls)
	size := listedPulls
	for path := first; path != "" && len(all) < listedPulls; {
		page, answer, err := readPage[restPull](ctx, r.client, path, "", true)
		if errors.Is(err, client.ErrTooLong) && size > shortPage {
			size = shortPage
			if path, err = listPath(first, size, 0); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range page {
			all = append(all, page[i].toPull(r.pr.PR))
		}
		path = answer.Next
	}
	return all, nil
}
