package github

// A look in one wave. Where a look is expected to find the head that it finds, everything that is read of it is read
// beside the pull request and the policy, and so is the conversation, which also tells whether the policy is the one
// that was read last. Nothing is believed for having been expected: what was read for another head, base or policy than
// GitHub then shows is read again, in order.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// actualPlan is the plan of what there is, once the pull request and the policy are read.
func (l *look) actualPlan() readPlan {
	pr, trunk := l.snap.PR, trunkOf(l.mem.pull.PullRequest)
	return readPlan{
		head: pr.Head, headRef: pr.HeadRef, runsSince: l.mem.runsSince(pr), commits: pr.Commits,
		base: pr.BaseRef, defaultBranch: pr.DefaultBranch, named: change.NamingOf(l.policy, pr.BaseRef),
		trunk: trunk, trunkNamed: change.NamingOf(l.policy, trunk),
		check: l.policy.Check, statuses: needsStatuses(l.f, l.policy),
		hasPolicy: l.snap.File.State != quorum.FileMissing, judged: l.willJudge(),
	}
}

// longestBranchBefore is how long before the pull request was created runs of its branch are listed at most: who opens
// one for an old commit must not make us list all that another branch of that name has run since. What is missing of
// the head's runs is asked for by the head.
const longestBranchBefore = 24 * time.Hour

// runsSince is since when runs of the branch may be those of a head of the pull request: one may be older than that.
func (m *memory) runsSince(pr quorum.PullRequest) time.Time {
	since := pr.Created
	if was := m.lastPlan.runsSince; !was.IsZero() && was.Before(since) {
		since = was
	}
	if c := &m.conversation; c.head == pr.Head && !c.arrived.IsZero() && c.arrived.Before(since) {
		since = c.arrived
	}
	return laterOf(since, pr.Created.Add(-longestBranchBefore))
}

// needsStatuses reports whether commit statuses matter: we write one, or a reviewer does, be it beside its texts.
func needsStatuses(f *Forge, p quorum.Policy) bool {
	return f.client.Personal() || f.writesAsJob() || hasStatusReviewer(p) || hasStatusSignal(p)
}

func hasStatusReviewer(p quorum.Policy) bool {
	return slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Status != "" })
}

// hasStatusSignal reports whether a reviewer says in a status, beside its texts, that it works or why it does not.
func hasStatusSignal(p quorum.Policy) bool {
	return slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Signal.Status != "" })
}

// expectedPlan is the plan that memory and events let expect; its head is "" if they do not.
func (l *look) expectedPlan() readPlan {
	sc := l.mem.lastPlan
	told := l.since.head
	switch {
	case told == "", told == sc.head, sc.head != "" && l.mem.wasHead(told): // an event that comes late names an older head
	case sc.head == "":
		sc = readPlan{head: told, judged: true, check: quorum.DefaultCheck, statuses: l.f.client.Personal() || l.f.writesAsJob()}
	default:
		sc.head, sc.commits = told, max(sc.commits, 1)+1
	}
	if seen, known := l.f.policies.lookup(l.read.pr); known {
		l.watched = seen.policy.Reviewers
		sc.named, sc.trunkNamed = change.NamingOf(seen.policy, sc.base), change.NamingOf(seen.policy, sc.trunk)
		sc.check, sc.statuses, sc.hasPolicy = seen.policy.Check, needsStatuses(l.f, seen.policy), seen.file.State != quorum.FileMissing
		sc.judged = sc.judged && policyJudges(seen.file, seen.policy)
	}
	if sc.left = ""; told != "" && told != l.mem.head {
		sc.left = l.mem.head
	}
	sc.conversation = sc.judged && l.needsConversation(sc)
	return sc
}

// wasHead reports whether head is one that the pull request had before.
func (m *memory) wasHead(head string) bool {
	return head == m.previousHead || m.conversation.commit(head).sha != "" ||
		slices.ContainsFunc(m.conversation.timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed && e.From == head })
}

// needsConversation reports whether the conversation will be needed, as far as that can be known before anything is
// read.
func (l *look) needsConversation(sc readPlan) bool {
	return !l.mem.readSerially && (l.since.came || l.mem.head != sc.head || l.conversationDue())
}

// dropStaleReads drops what was read for another plan than the actual one.
func (l *look) dropStaleReads(was readPlan) {
	now := l.actualPlan()
	if was.head != now.head {
		l.head.drop(^part(0))
		return
	}
	if was.gatePlan() != now.gatePlan() {
		l.head.drop(partGated)
	}
	if was.headRef != now.headRef || !was.runsSince.Equal(now.runsSince) {
		l.head.drop(partBranchRuns)
	}
	if was.check != now.check || !now.judged {
		l.head.drop(partConversation)
	}
	if l.watched != nil && l.watched.authorsDigest() != reviewerSet(l.policy.Reviewers).authorsDigest() {
		l.head.drop(partReviews | partComments | partConversation) // words of a new one may be missing
	}
	l.siblingsKnown = l.head.has(partConversation) && l.head.conversation.siblingsKnown
}
