package github

// A look in one wave. Where a look is expected to find the head that it finds, everything that is read of it is read
// beside the pull request and the policy, and so is the conversation, which also tells whether the policy is the one that
// was read last. Nothing is believed for having been expected: what was read for another head, base or policy than GitHub
// then shows is read again, in order.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// scene is the true one, once the pull request and the policy are read.
func (l *look) scene() scene {
	pr := l.s.PR
	return scene{
		head: pr.Head, headRef: pr.HeadRef, created: pr.Created, commits: pr.Commits, base: pr.BaseRef, main: pr.DefaultBranch,
		check: l.p.Check, statuses: l.named(l.p), ruled: l.s.File.State != quorum.FileMissing, judged: l.judges(),
	}
}

// named reports whether commit statuses matter.
func (l *look) named(p quorum.Policy) bool {
	return l.f.client.Personal() || slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Status != "" })
}

// expected is the scene that memory and events let expect; its head is "" if they do not.
func (l *look) expected() scene {
	sc := l.m.last
	told := l.expects
	switch {
	case told == "", told == sc.head, sc.head != "" && l.m.passed(told): // an event that comes late names an older head
	case sc.head == "":
		sc = scene{head: told, judged: true, check: quorum.DefaultCheck, statuses: l.f.client.Personal()}
	default:
		sc.head, sc.commits = told, max(sc.commits, 1)+1
	}
	if seen, known := l.f.policies.lookup(l.read.pr); known {
		l.watched = seen.policy.Reviewers
		sc.check, sc.statuses, sc.ruled = seen.policy.Check, l.named(seen.policy), seen.file.State != quorum.FileMissing
		sc.judged = sc.judged && judged(seen.file, seen.policy)
	}
	sc.talk = sc.judged && l.talks(sc)
	return sc
}

// passed reports whether head is one that the pull request had before.
func (m *memory) passed(head string) bool {
	return head == m.formerly || m.threads.of(head).sha != "" ||
		slices.ContainsFunc(m.threads.timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed && e.From == head })
}

// talks reports whether the conversation will be needed, as far as that can be known before anything is read.
func (l *look) talks(sc scene) bool {
	return !l.m.serially && (l.told || l.m.head != sc.head || l.fresh())
}

// settle drops what was read for another scene than the true one.
func (l *look) settle(was scene) {
	now := l.scene()
	if was.head != now.head {
		l.head.drop(^part(0))
		return
	}
	if was.base != now.base || was.main != now.main {
		l.head.drop(partGated)
	}
	if was.headRef != now.headRef || !was.created.Equal(now.created) {
		l.head.drop(partOthers)
	}
	if was.check != now.check || !now.judged {
		l.head.drop(partConversation)
	}
	if l.watched != nil && l.watched.digest() != reviewerSet(l.p.Reviewers).digest() {
		l.head.drop(partReviews | partComments | partConversation) // words of a new one may be missing
	}
	l.related = l.head.has(partConversation) && l.head.talked.related
}
