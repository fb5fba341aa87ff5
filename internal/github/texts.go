package github

// Reviews and comments. The query shows them with their last editors, and alone tells the words of an event's look.
// GraphQL's replicas lag, so that a text counts as REST shows it, by an editor that is not known, once something has
// shown that the query does not: an event, the record, or REST's lists, which are read before a pass is written.

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxDisagreement is how long REST and GraphQL may show a text differently before that is taken for GitHub's way of
// showing it: a replica lags for seconds, and a wait must end.
const maxDisagreement = 30 * time.Second

// wordsToKeep are the words of reviewers, and ours.
func wordsToKeep(f *Forge, watched reviewerSet) keptWords { return keptWords{watched, knownAccount(f)} }

// readTexts takes the texts as the query shows them. Those that something shows otherwise it reads by their ids: a
// list that lags must not look like a deletion. Where REST shows one otherwise than the query, or an event did, the look
// is refused for as long as that may be a lag. What strangers write decides nothing, and holds nothing up.
func (l *look) readTexts(ctx context.Context) error {
	queried := l.mem.conversation.texts
	l.texts = maps.Clone(queried)
	refs, apart := l.doubtfulTexts()
	kept := wordsToKeep(l.f, l.watched)
	g, beside := newGroup(ctx)
	found := readEach(g, refs, func(ref quorum.TextRef) (t shownText, err error) {
		t, err = l.read.readText(beside, ref, kept)
		if client.IsNotFound(err) || client.IsGone(err) || errors.Is(err, errOtherPull) {
			return shownText{}, nil // gone for good: what was remembered of it counts
		}
		return t, err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	var late []quorum.TextRef
	if !l.mem.conversation.showsPull(&l.snap.PR) {
		late = append(late, quorum.TextRef{})
	}
	for i, ref := range refs {
		was, isQueried := queried[ref]
		isThere := found[i].ID != 0
		switch {
		case !isThere && !isQueried, isThere && isQueried && found[i].isAs(was):
			continue
		case isThere:
			l.texts.noteText(found[i].byUnknown())
		default:
			delete(l.texts, ref)
		}
		if apart = append(apart, ref); l.mayCount(found[i]) || l.mayCount(was) {
			late = append(late, ref)
		}
	}
	now := l.f.now()
	since := l.mem.apart.note(l.snap.PR.Head, apart, late, now)
	isLate := slices.ContainsFunc(late, func(ref quorum.TextRef) bool { return now.Sub(since[ref]) < maxDisagreement })
	if isLate || slices.ContainsFunc(l.unshownTexts(), l.isAwaited) {
		return moved{"a text was written, edited or deleted, and not all of GitHub shows it yet: it"}
	}
	return nil
}

// doubtfulTexts are the texts that are to be read by their ids, and those that REST lists otherwise than the query shows:
// these are apart, and the lists are read at the next look, too. Of strangers' it takes them as listed.
func (l *look) doubtfulTexts() (refs, apart []quorum.TextRef) {
	refs = l.missingTexts()
	if l.head.has(partTexts) {
		for _, ref := range l.head.texts.differingFrom(l.mem.conversation.texts) {
			t, isListed := l.head.texts[ref]
			apart = append(apart, ref)
			switch {
			case l.mayCount(t) || l.mayCount(l.mem.conversation.texts[ref]):
				refs = append(refs, ref)
			case isListed:
				l.texts.noteText(t.byUnknown())
			}
		}
	}
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs), apart
}

func compareRefs(a, b quorum.TextRef) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// mayCount reports whether a text may decide something: a reviewer's, a member's command, or a review that may count or
// was dismissed, which takes permission to write.
func (l *look) mayCount(t shownText) bool {
	isReview := t.State == "APPROVED" || t.State == "CHANGES_REQUESTED"
	return t.ID != 0 && (l.watched.includes(t.Author) || t.State == "DISMISSED" ||
		t.Member && (isReview || quorum.CommandLine(t.Body) != ""))
}

// missingTexts are the texts of the record that are not shown, and those that are not shown as an event told.
func (l *look) missingTexts() (refs []quorum.TextRef) {
	for _, seen := range l.snap.Record.Texts {
		if _, isShown := l.texts[seen]; !isShown {
			refs = append(refs, seen)
		}
	}
	for _, h := range l.unshownTexts() {
		refs = append(refs, h.ref)
	}
	return refs
}

// isAwaited reports whether a look must not end without a text of which an event told.
func (l *look) isAwaited(h toldText) bool {
	return l.watched.includes(quorum.Account{Login: h.author}) || h.isCommand
}

// unshownTexts are the texts of which an event told and that are not shown as it told: reviewers', commands and votes.
// Others are forgotten, and what was shown, or was not for too long: anybody can write a text and delete it.
func (l *look) unshownTexts() []toldText {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	now := l.f.now()
	l.mem.hinted = slices.DeleteFunc(l.mem.hinted, func(h toldText) bool {
		return !l.isAwaited(h) && !h.isVote || now.Sub(h.since) >= maxDisagreement || h.isShownIn(l.texts)
	})
	return slices.Clone(l.mem.hinted)
}

// confirmTexts makes sure, before a pass is written, that REST lists the texts as the look has shown them, if the query
// alone told of them: a pass must not rest on one answer that lags. The next look reads REST's lists, too.
func (p *publication) confirmTexts(ctx context.Context, passes bool) error {
	r := pullReader{client: p.f.client, pr: p.pr, texts: &p.m.pages}
	switch {
	case !passes:
		return nil
	case p.m.unconfirmed == nil:
		return p.confirmThreads(ctx, r)
	}
	listed, err := r.readListedTexts(ctx, wordsToKeep(p.f, reviewerSet{}))
	if err != nil {
		return err
	}
	if differing := listed.differingFrom(p.m.unconfirmed); len(differing) > 0 {
		known := slices.Collect(maps.Keys(p.m.apart.of(p.m.head)))
		p.m.apart.note(p.m.head, differing, known, p.f.now())
		p.m.isCurrent = false
		return moved{"a text of " + p.pr.String() + " was written, edited or deleted"}
	}
	p.m.unconfirmed = nil
	return p.confirmThreads(ctx, r)
}

// confirmThreads makes sure that REST lists reviewers' inline comments as the query has shown them, for as long as that
// may be a lag. Without any it asks nothing: a new one comes with a review.
func (p *publication) confirmThreads(ctx context.Context, r pullReader) error {
	shown, differs := p.m.conversation.remarks, false
	if len(shown) == 0 {
		return nil
	}
	_, err := readSizedPages(ctx, r.client, &r.texts.remarks, r.pullPath("pulls", "comments")+"?per_page=100", "", func(t *restText) {
		was, isShown := shown[t.ID]
		differs, t.Body = differs || isShown && was != untrusted.DigestOf(t.Body), ""
	})
	if err != nil {
		return err
	}
	if !differs {
		p.m.threadsApart = time.Time{}
		return nil
	}
	if p.m.threadsApart.IsZero() {
		p.m.threadsApart = p.f.now()
	}
	if p.f.now().Sub(p.m.threadsApart) >= maxDisagreement {
		return nil
	}
	p.m.isCurrent = false
	return moved{"an inline comment of " + p.pr.String() + " was edited"}
}
