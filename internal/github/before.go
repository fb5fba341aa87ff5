package github

// What our check on the head before this one holds: read once, when a head is first judged.

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// headBefore is what was read of the head before, until the head's own record has taken it over.
type headBefore struct {
	checks headChecks // our checks there, until the next look: where they are ended, they need not be read again

	of     string // the head that comes after it
	left   time.Time
	head   string // "": none has a record
	record quorum.Record
}

// headChecks are our checks on an earlier head.
type headChecks struct {
	head   string
	checks []ownCheck
	shared *bool // whether another open pull request has that head; nil: that is not known
}

// size is about how many bytes it takes.
func (b *headBefore) size() (n int) {
	for _, c := range b.checks.checks {
		n += 512 + len(c.Summary) + len(c.Text)
	}
	return n + 256*(len(b.record.Texts)+len(b.record.Stood)+len(b.record.Runs)) + 1024*len(b.record.Objections)
}

// A beforeReader reads what our checks on earlier heads hold.
type beforeReader struct {
	pullReader
	app   appIdentity
	known *headBefore
	left  headChecks // our checks on the head before, as they were read beside all else
}

// readLeft begins to read our checks on the head that the pull request has just left, as far as this process knows it,
// beside all else.
func (r *beforeReader) readLeft(ctx context.Context, g group, head string) {
	if head == "" || r.client.Personal() || r.left.head == head {
		return
	}
	g.Go(func() (err error) {
		r.left, err = r.readOwnChecks(ctx, head)
		return err
	})
}

// readRecord puts the record of the head before into the snapshot, unless the head's own has taken it over. previous is
// the head before as this process knows it; c tells of the earlier commits. A pull request that never had another head
// costs no request.
func (r *beforeReader) readRecord(ctx context.Context, s *quorum.Snapshot, previous string, c conversation) error {
	heads, left := evidence.HeadsBefore(*s)
	b := r.known
	if b.of == s.PR.Head && b.left.Equal(left) {
		s.Before, s.BeforeHead = b.record, b.head
		return nil
	}
	if left.IsZero() && previous != "" && previous != s.PR.Head {
		heads = slices.DeleteFunc(heads, func(head string) bool { return head == previous })
		heads = slices.Insert(heads, 0, previous)
	}
	hadOtherBase := slices.ContainsFunc(s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	heads = evidence.LikelyHeads(*s, slices.DeleteFunc(heads, func(head string) bool {
		return !hadOtherBase && head != previous && c.hasNoCheckOfOurs(head)
	}))
	found, err := r.readFirstRecord(ctx, s, heads)
	if err != nil {
		return err
	}
	if !found && s.PR.Commits > evidence.ListedCommits { // many may have come at once
		if heads, found, err = r.readRecordFarBack(ctx, s, heads, hadOtherBase, c); err != nil {
			return err
		}
	}
	if !found && len(heads) > 0 { // none has a record: it is not looked for again
		s.BeforeHead = heads[0]
	}
	*b = headBefore{checks: b.checks, of: s.PR.Head, left: left, head: s.BeforeHead, record: s.Before}
	return nil
}

// readRecordFarBack takes over the newest record of the commits that the conversation did not list, and of which asked
// is none. It returns those that were asked, or, where none carries a check, one that says that it was looked for.
func (r *beforeReader) readRecordFarBack(
	ctx context.Context, s *quorum.Snapshot, asked []string, hadOtherBase bool, c conversation,
) (heads []string, found bool, err error) {
	all, err := c.readCommitsBack(ctx, r.pullReader)
	if err != nil {
		return nil, false, err
	}
	for _, k := range slices.Backward(all) {
		if !slices.Contains(asked, k.sha) && k.hasSuites && (hadOtherBase || !k.complete || k.ours > 0) {
			heads = append(heads, k.sha)
		}
	}
	heads = evidence.LikelyHeads(*s, heads)
	if found, err = r.readFirstRecord(ctx, s, heads); err != nil {
		return nil, false, err
	}
	if len(heads) == 0 && len(all) > 0 {
		heads = []string{all[0].sha}
	}
	return heads, found, nil
}

// readFirstRecord takes over the record of the first of some heads that has one.
func (r *beforeReader) readFirstRecord(ctx context.Context, s *quorum.Snapshot, heads []string) (found bool, err error) {
	for _, head := range heads {
		if found, err = r.readRecordOf(ctx, s, head); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// hasNoCheckOfOurs reports whether the conversation shows that an earlier commit carries no check of ours: whether
// one stands there under the name for another base it does not show.
func (c conversation) hasNoCheckOfOurs(head string) bool {
	shown := c.commit(head)
	return shown.sha != "" && shown.complete && shown.ours == 0
}

// readOwnChecks reads our checks on an earlier head, the newest first.
func (r *beforeReader) readOwnChecks(ctx context.Context, head string) (own headChecks, err error) {
	own.head = head
	all, err := r.readChecks(ctx, head)
	if client.IsNotFound(err) || client.IsUnprocessable(err) {
		return own, nil
	}
	for _, c := range all {
		if check := c.toCheck(); isOwnCheck(r.app, r.pr, check.CheckRun) {
			own.checks = append(own.checks, check)
		}
	}
	slices.SortStableFunc(own.checks, newestCheckFirst)
	return own, err
}

// records are the records that the checks hold.
func (c headChecks) records() (held []quorum.HeldRecord) {
	for _, check := range c.checks {
		if rec, ok := report.ParseRecord(check.Text); ok && strings.EqualFold(rec.Head, c.head) {
			held = append(held, quorum.HeldRecords(check.Name, rec)...)
		}
	}
	return held
}

// readRecordOf takes over the newest record of our checks on an earlier head.
func (r *beforeReader) readRecordOf(ctx context.Context, s *quorum.Snapshot, head string) (found bool, err error) {
	own := r.left
	if own.head != head {
		if own, err = r.readOwnChecks(ctx, head); err != nil {
			return false, err
		}
	}
	if r.known.checks.head == "" {
		r.known.checks = own
	}
	held := own.records()
	if len(held) > 0 {
		s.Before, s.BeforeHead = quorum.RecordOf(&s.PR, held), head
	}
	return len(held) > 0, nil
}

// readLeftHeads reads the checks and statuses of heads that were left, which may end after the push. A commit that is
// gone has none. A 304 mostly answers, for little changes there.
func (r *beforeReader) readLeftHeads(ctx context.Context, heads []string, checks, statuses bool) ([]quorum.LeftHead, error) {
	g, ctx := newGroup(ctx)
	left := readEach(g, heads, func(head string) (l quorum.LeftHead, err error) {
		l.SHA = head
		if checks {
			l.Checks, err = r.readOthersChecks(ctx, head)
		}
		if statuses && err == nil {
			l.Statuses, err = r.readSortedStatuses(ctx, head)
		}
		return l, unlessGone(err)
	})
	return left, g.Wait()
}

func (r *beforeReader) readOthersChecks(ctx context.Context, head string) (others []quorum.CheckRun, err error) {
	all, err := r.readChecks(ctx, head)
	for _, c := range all {
		if check := c.toCheck(); !isOwnCheck(r.app, r.pr, check.CheckRun) {
			others = append(others, check.CheckRun)
		}
	}
	return others, err
}

func (r *beforeReader) readSortedStatuses(ctx context.Context, head string) (sorted []quorum.Status, err error) {
	all, err := r.readStatuses(ctx, head)
	for i := range all {
		sorted = append(sorted, all[i].toStatus())
	}
	sortStatuses(sorted)
	return sorted, err
}

// unlessGone is err, but for a commit that does not exist any more, and for statuses that GitHub does not show to a job.
func unlessGone(err error) error {
	if client.IsNotFound(err) || client.IsUnprocessable(err) || client.LacksPermission(err) {
		return nil
	}
	return err
}
