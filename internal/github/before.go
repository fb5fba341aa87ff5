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
}

// size is about how many bytes it takes.
func (b *headBefore) size() (n int) {
	for _, c := range b.checks.checks {
		n += 512 + len(c.Summary) + len(c.Text)
	}
	for _, past := range b.record.Past {
		n += 512 * len(past.Objections)
	}
	return n + 256*(len(b.record.Texts)+len(b.record.Stood)+len(b.record.Runs)) + 1024*len(b.record.Objections)
}

// mayInherit reports whether what the head before left may be needed. Of a draft, too: the next head has it from there. A
// personal token's status holds no record.
func (l *look) mayInherit() bool {
	return l.willJudge() && !l.snap.NoRecord
}

// readChecksLeft reads our checks on the head that the pull request has just left, as far as this process knows it,
// beside all else.
func (l *look) readChecksLeft(ctx context.Context, g group, head string, judged bool) {
	if head == "" || !judged || l.f.client.Personal() || l.left.head == head {
		return
	}
	g.Go(func() (err error) {
		l.left, err = l.readOwnChecks(ctx, head)
		return err
	})
}

// readBefore reads the record of the head before, unless the head's own has taken it over. A pull request that never
// had another head costs no request.
func (l *look) readBefore(ctx context.Context) error {
	heads, left := evidence.HeadsBefore(l.snap)
	b := &l.mem.before
	switch {
	case evidence.HasInherited(l.snap, left):
		*b = headBefore{checks: b.checks}
		return nil
	case !l.mayInherit():
		return nil
	case b.of == l.snap.PR.Head && b.left.Equal(left):
		l.snap.Before, l.snap.BeforeHead = b.record, b.head
		return nil
	}
	if previous := l.mem.previousHead; left.IsZero() && previous != "" && previous != l.snap.PR.Head {
		heads = slices.DeleteFunc(heads, func(head string) bool { return head == previous })
		heads = slices.Insert(heads, 0, previous)
	}
	heads = evidence.LikelyHeads(l.snap, slices.DeleteFunc(heads, l.hasNoCheckOfOurs))
	found := false
	for _, head := range heads {
		var err error
		if found, err = l.readRecordOf(ctx, head); err != nil {
			return err
		}
		if found {
			break
		}
	}
	if !found && len(heads) > 0 { // none has a record: it is not looked for again
		l.snap.BeforeHead = heads[0]
	}
	*b = headBefore{checks: b.checks, of: l.snap.PR.Head, left: left, head: l.snap.BeforeHead, record: l.snap.Before}
	return nil
}

// inherit makes the head's record of what it held and of what the head before left.
func (l *look) inherit() {
	l.snap.Record = evidence.Inherit(l.policy, l.snap)
}

// hasNoCheckOfOurs reports whether the conversation shows that an earlier commit carries no check of ours: whether
// one stands there under the name for another base it does not show.
func (l *look) hasNoCheckOfOurs(head string) bool {
	shown := l.mem.conversation.commit(head)
	hadOtherBase := slices.ContainsFunc(l.snap.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	return shown.sha != "" && shown.complete && shown.ours == 0 && !hadOtherBase && l.mem.previousHead != head
}

// readOwnChecks reads our checks on an earlier head, the newest first.
func (l *look) readOwnChecks(ctx context.Context, head string) (own headChecks, err error) {
	own.head = head
	all, err := l.read.readChecks(ctx, head)
	if client.IsNotFound(err) || client.IsUnprocessable(err) {
		return own, nil
	}
	for _, r := range all {
		if check := r.toCheck(); l.f.isOwnCheck(l.read.pr, check.CheckRun) {
			own.checks = append(own.checks, check)
		}
	}
	slices.SortFunc(own.checks, newestCheckFirst)
	return own, err
}

// readRecordOf takes over the newest record of our checks on an earlier head.
func (l *look) readRecordOf(ctx context.Context, head string) (found bool, err error) {
	own := l.left
	if own.head != head {
		if own, err = l.readOwnChecks(ctx, head); err != nil {
			return false, err
		}
	}
	if l.mem.before.checks.head == "" {
		l.mem.before.checks = own
	}
	var held []quorum.HeldRecord
	for _, check := range own.checks {
		if rec, ok := report.ParseRecord(check.Text); ok && strings.EqualFold(rec.Head, head) {
			held = append(held, quorum.HeldRecords(check.Name, rec)...)
		}
	}
	if len(held) > 0 {
		l.snap.Before, l.snap.BeforeHead = quorum.RecordOf(l.snap.PR.Number, l.snap.PR.Fork, held), head
	}
	return len(held) > 0, nil
}
