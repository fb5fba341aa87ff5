package github

// The same texts as REST and as GraphQL show them: bodies come from the one, editors from the other, and what an event
// told from a third. They must agree before anything is judged by them.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// takeTexts are the reviews and comments that the lists show.
func (l *look) takeTexts() {
	l.digests = make(map[quorum.TextRef]untrusted.Digest, len(l.head.reviews)+len(l.head.comments))
	for _, r := range l.head.reviews {
		t := r.toText()
		l.snap.Reviews, l.digests[t.TextRef] = append(l.snap.Reviews, t), r.sum
	}
	for _, c := range l.head.comments {
		t := c.toText()
		l.snap.Comments, l.digests[t.TextRef] = append(l.snap.Comments, t), c.sum
	}
}

// missingTexts are the texts of the record, and those of which an event told, that the lists do not show.
func (l *look) missingTexts() (out []quorum.TextRef) {
	for _, seen := range l.snap.Record.Texts {
		all := *l.listOf(seen.Kind)
		if !slices.ContainsFunc(all, func(t quorum.Text) bool { return t.TextRef == seen }) {
			out = append(out, seen)
		}
	}
	for _, h := range l.unshownTexts() {
		if !slices.Contains(out, h.ref) {
			out = append(out, h.ref)
		}
	}
	return out
}

// listOf is where the texts of a kind stand.
func (l *look) listOf(kind quorum.TextKind) *[]quorum.Text {
	if kind == quorum.TextReview {
		return &l.snap.Reviews
	}
	return &l.snap.Comments
}

// unshownTexts are the reviewers' texts of which an event told and that are not shown as it told. What is no reviewer's
// is forgotten, and what was shown, or was not for too long: anybody can write a text and delete it.
func (l *look) unshownTexts() []toldText {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	now := l.f.now()
	l.mem.texts = slices.DeleteFunc(l.mem.texts, func(h toldText) bool {
		return !l.watched.includes(quorum.Account{Login: h.author}) && !h.isCommand || now.Sub(h.since) >= maxDisagreement ||
			slices.ContainsFunc(*l.listOf(h.ref.Kind), h.isShownBy)
	})
	return slices.Clone(l.mem.texts)
}

// readText reads a text by its id: a lagging list must not look like a deletion.
func (l *look) readText(ctx context.Context, ref quorum.TextRef) error {
	t, err := l.read.readText(ctx, ref)
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	switch {
	case client.IsNotFound(err) || client.IsGone(err) || errors.Is(err, errOtherPull):
		return nil // gone for good: what was remembered of it counts
	case err != nil:
		return err
	}
	l.digests[ref] = untrusted.DigestOf(t.Body)
	list := l.listOf(ref.Kind)
	if i := slices.IndexFunc(*list, func(o quorum.Text) bool { return o.TextRef == ref }); i >= 0 {
		(*list)[i] = t // it was listed as it had been before
	} else {
		*list = append(*list, t)
	}
	return nil
}

// takeAgreeingConversation takes the conversation that was read in parallel with the texts, if it knows each of them as
// REST shows it: the editor of a text must not be older than its words, nor a thread than its review. Else it is read
// again, later.
func (l *look) takeAgreeingConversation(ctx context.Context) error {
	if !l.head.has(partConversation) {
		return nil
	}
	if l.head.conversation.isAheadOf(&l.head) { // REST was asked first
		g, ctx := newGroup(ctx)
		g.Go(func() error { return l.head.readReviews(ctx, l.read, l.watched) })
		if !l.head.fromQuery {
			g.Go(func() error { return l.head.readComments(ctx, l.read, l.watched) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	if l.isCovering(l.head.conversation) {
		l.takeConversation(l.head.conversation)
		return nil
	}
	l.head.drop(partConversation)
	if l.pullSpared { // on the word of what was dropped
		was := l.mem.pull.facts()
		if err := l.readPull(ctx); err != nil {
			return err
		}
		if l.mem.pull.facts() != was {
			l.since.within = true
			return moved{l.read.pr.String() + " changed"}
		}
	}
	if l.siblingsKnown { // it told of siblings, too
		l.siblingsKnown = false
		return l.head.readSiblings(ctx, l.read, l.actualPlan())
	}
	return nil
}

// isAheadOf reports whether c knows a text that REST did not show, or a later edit.
func (c conversation) isAheadOf(raw *headReads) bool {
	known := map[int64]bool{}
	for _, r := range raw.reviews {
		known[r.ID] = true
	}
	for id := range c.reviewEdits {
		if !known[id] {
			return true
		}
	}
	clear(known)
	for _, r := range raw.comments {
		known[r.ID] = true
		if e, found := c.commentEdits[r.ID]; found && e.updated.After(laterOf(r.Created, r.Updated)) {
			return true
		}
	}
	for id := range c.commentEdits {
		if !known[id] {
			return true
		}
	}
	return false
}

// showsPull reports whether c shows what became of a pull request.
func (c *conversation) showsPull(pr *quorum.PullRequest) bool {
	return c.base == pr.BaseRef && c.draft == pr.Draft && c.closed == pr.Closed
}

// isCovering reports whether c knows all that REST shows: every text as it reads, and what became of the pull request.
func (l *look) isCovering(c conversation) bool {
	return c.showsPull(&l.snap.PR) &&
		!slices.ContainsFunc(l.head.reviews, func(r restReview) bool { return c.isBehind(r.toText(), r.sum) }) &&
		!slices.ContainsFunc(l.head.comments, func(r restComment) bool { return c.isBehind(r.toText(), r.sum) })
}

// maxDisagreement is how long REST and GraphQL may show a text differently before that is taken for GitHub's way of
// showing it: a replica lags for seconds, and a wait must end.
const maxDisagreement = 30 * time.Second

// requireAgreement refuses a look that shows the pull request or a text otherwise than the conversation does, or that misses one
// of the texts: one was edited between the two reads, fell between two pages, or one of the two comes from a replica that lags.
func (l *look) requireAgreement() error {
	var odd []int64
	if c := &l.mem.conversation; l.conversationRead && !c.showsPull(&l.snap.PR) {
		odd = append(odd, 0) // no text has this id
	}
	known := map[int64]bool{}
	for _, t := range slices.Concat(l.snap.Comments, l.snap.Reviews) {
		known[t.ID] = true
		if !l.watched.includes(t.Author) && !l.mem.conversation.isDismissedByUnknown(t) && !isMembersWord(t) {
			continue // a stranger's words decide nothing, and would hold up looks
		}
		later := t.Kind != quorum.TextReview && l.mem.conversation.commentEdits[t.ID].updated.After(laterOf(t.At, t.Edited))
		if later || l.isBehind(t) {
			odd = append(odd, t.ID)
		}
	}
	for _, edits := range []map[int64]lastEdit{l.mem.conversation.commentEdits, l.mem.conversation.reviewEdits} {
		for id := range edits {
			if !known[id] && l.conversationRead && l.watched.includes(edits[id].author) {
				odd = append(odd, id)
			}
		}
	}
	slices.Sort(odd)
	now := l.f.now()
	if since := l.mem.disagrees.note(l.snap.PR.Head, odd, now); len(odd) > 0 && now.Sub(since) < maxDisagreement {
		l.mem.conversationCurrent = false
		return moved{"a text was edited, or the list of texts changed,"}
	}
	return nil
}

// withEditor returns t with its last editor. A text that REST shows and GraphQL does not, or otherwise, has an unknown
// one.
func withEditor(t quorum.Text, body untrusted.Digest, edits map[int64]lastEdit) quorum.Text {
	e, found := edits[t.ID]
	switch {
	case !found || e.bodyKnown && e.body != body:
		t.Edited, t.Editor = laterOf(laterOf(t.At, t.Edited), e.edited), quorum.Account{}
	case t.Edited.After(e.updated):
	default:
		t.Edited, t.Editor = e.edited, e.editor
	}
	return t
}

// isBehind reports whether the conversation does not know t, or not as REST shows it: then it is asked again.
func (l *look) isBehind(t quorum.Text) bool {
	return l.mem.conversation.isBehind(t, l.digests[t.TextRef])
}

func (c conversation) isBehind(t quorum.Text, body untrusted.Digest) bool {
	if t.Kind == quorum.TextReview {
		e, found := c.reviewEdits[t.ID]
		return !found || e.bodyKnown && e.body != body || (t.State == "DISMISSED") != c.isDismissed(t.ID)
	}
	e, found := c.commentEdits[t.ID]
	return !found || e.bodyKnown && e.body != body || t.Edited.After(e.updated)
}

// isMembersWord reports whether t is a command of a member's, or a review that may count: who edited it last is asked before it does.
func isMembersWord(t quorum.Text) bool {
	isReview := t.State == "APPROVED" || t.State == "CHANGES_REQUESTED"
	return t.Member && (isReview || quorum.CommandLine(t.Body) != "")
}

// isDismissedByUnknown reports whether a review was dismissed, which takes permission to write, and c does not know by whom.
func (c conversation) isDismissedByUnknown(t quorum.Text) bool {
	return t.State == "DISMISSED" && !c.isDismissed(t.ID)
}

func (c conversation) isDismissed(review int64) bool {
	return slices.ContainsFunc(c.timeline, func(e quorum.Event) bool { return e.Kind == quorum.ReviewDismissed && e.Review == review })
}
