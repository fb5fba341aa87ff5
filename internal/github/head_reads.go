package github

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// part is one of the things that are read of a head.
type part uint16

const (
	partChecks part = 1 << iota
	partStatuses
	partGated
	partFiles
	partRuns
	partReviews
	partComments
	partSiblings
	partBranchRuns
	partConversation
)

// headReads are GitHub's answers about one head, as far as they were read.
type headReads struct {
	checks       []restCheck
	files        []restFile
	runs         []restRun
	reviews      []restReview
	comments     []restComment
	siblings     []restPull
	branchRuns   []restRun // of earlier heads of the branch
	statuses     []restStatus
	unshown      error // GitHub's refusal to show statuses to this token; nil: it shows them
	gate         gateRead
	conversation conversation // that was read in parallel with the texts
	pull         pullFacts    // as that conversation shows the pull request
	leftShared   *bool        // as it shows the head that was left
	others       []sizedPull  // as it shows other pull requests
	fromQuery    bool         // comments are that conversation's
	blob         string       // which the policy is, by that conversation; "": none is, or it was not read

	mu   sync.Mutex
	have part
}

func (h *headReads) has(x part) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.have&x != 0
}

func (h *headReads) add(x part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.have |= x
}

func (h *headReads) drop(x part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.have &^= x
}

// readParts starts to read what sc calls for and was not read yet. Early, GitHub may not know the head: then it is
// asked again.
func (l *look) readParts(ctx context.Context, g group, sc readPlan, early bool) {
	h, r := &l.head, l.read
	watched := l.watched
	read := func(x part, needed bool, f func() error) {
		if !needed || h.has(x) {
			return
		}
		g.Go(func() error {
			err := f()
			switch {
			case err == nil:
				h.add(x)
			case early && unknownHead(err):
				return nil
			}
			return err
		})
	}
	read(partChecks, true, func() (err error) { h.checks, err = r.readChecks(ctx, sc.head); return err })
	read(partStatuses, sc.statuses, func() error { return h.readStatuses(ctx, r, sc.head) })
	read(
		partGated,
		sc.hasPolicy && (!early || sc.base != ""),
		func() (err error) {
			h.gate, err = readGate(ctx, r, sc, cmp.Or(sc.check, quorum.DefaultCheck), l.f.app.id())
			return err
		},
	)
	read(partFiles, sc.judged, func() (err error) { h.files, err = r.readFiles(ctx); return err })
	read(partRuns, sc.judged && !sc.readsBranchRuns(), func() (err error) { h.runs, err = r.readRuns(ctx, sc.head); return err })
	read(partReviews, sc.judged, func() error { return h.readReviews(ctx, r, watched) })
	inConversation := sc.conversation && r.texts.words == allWords && !l.since.gone && !(l.mem.commentsApart && l.mem.head == sc.head)
	read(partComments, sc.judged && !inConversation, func() error { return h.readComments(ctx, r, watched) })
	read(partBranchRuns, sc.readsBranchRuns(), func() error { return h.readBranchRuns(ctx, r, sc) })
	read(partConversation, sc.conversation, func() error {
		c, err := r.readConversation(ctx, sc.head, sc.left, sc.check, l.policyRead.pathInConversation(), watched)
		h.conversation, h.pull, h.leftShared, h.blob, h.others = c.conversation, c.pull, c.leftShared, c.blob, c.others
		if err == nil && inConversation && c.commentsKnown {
			h.comments, h.fromQuery = c.comments, true
			h.add(partComments)
		}
		return err
	})
	read(partSiblings, sc.judged && !sc.conversation && !l.siblingsKnown, func() error { return h.readSiblings(ctx, r, sc) })
}

// takeRunsOfBranch takes the head's runs from those of the branch, if these are all of them: each check suite of GitHub
// Actions that the head shows is that of one. Of another branch with the same commit, or of one that had another name,
// they would be missing. The conversation, if it was read beside them, shows suites that have no job yet, too.
func (h *headReads) takeRunsOfBranch(head string) {
	if h.has(partRuns) || !h.has(partBranchRuns) {
		return
	}
	var runs []restRun
	suites, ids := map[int64]bool{}, map[int64]bool{}
	for _, r := range h.branchRuns {
		if r.Head == head {
			runs = append(runs, r)
			suites[r.Suite], ids[r.ID] = true, true
		}
	}
	for _, c := range h.checks {
		if c.App.Slug == quorum.ActionsApp && !suites[c.Suite.ID] {
			return
		}
	}
	if h.has(partConversation) && !h.conversation.knowsRuns(ids) {
		return
	}
	h.runs = runs
	h.add(partRuns)
}

// knowsRuns reports whether the conversation shows no other runs of the head than those, and all of its suites.
func (c *conversation) knowsRuns(ids map[int64]bool) bool {
	return !c.moreSuites && !slices.ContainsFunc(c.headRuns, func(id int64) bool { return !ids[id] })
}

// readMissingRuns reads the head's runs, unless they were read, or those of its branch are all there are.
func (h *headReads) readMissingRuns(ctx context.Context, r pullReader, head string) (err error) {
	if h.takeRunsOfBranch(head); h.has(partRuns) {
		return nil
	}
	if h.runs, err = r.readRuns(ctx, head); err == nil {
		h.add(partRuns)
	}
	return err
}

// readOtherRuns reads the head's runs beside those, if a conversation that was read later shows that those of the
// branch are not all.
func (h *headReads) readOtherRuns(ctx context.Context, r pullReader, c *conversation, those []restRun) (others []restRun, err error) {
	known := map[int64]bool{}
	for i := range those {
		known[those[i].ID] = true
	}
	if !h.has(partBranchRuns) || c.knowsRuns(known) {
		return nil, nil
	}
	all, err := r.readRuns(ctx, c.head)
	return slices.DeleteFunc(all, func(r restRun) bool { return known[r.ID] }), err
}

// readStatuses reads the commit statuses. A refusal for want of a permission is kept: whether it matters the policy
// says.
func (h *headReads) readStatuses(ctx context.Context, r pullReader, head string) (err error) {
	h.statuses, err = r.readStatuses(ctx, head)
	if h.unshown = nil; client.LacksPermission(err) {
		h.unshown, err = err, nil
	}
	return err
}

func (h *headReads) readReviews(ctx context.Context, r pullReader, watched reviewerSet) (err error) {
	h.reviews, err = r.readReviews(ctx, watched)
	return err
}

func (h *headReads) readComments(ctx context.Context, r pullReader, watched reviewerSet) (err error) {
	h.fromQuery = false
	h.comments, err = r.readComments(ctx, watched)
	return err
}

// readBranchRuns reads the runs of the branch, those of earlier heads as well.
func (h *headReads) readBranchRuns(ctx context.Context, r pullReader, sc readPlan) (err error) {
	h.branchRuns, err = r.readBranchRuns(ctx, sc.headRef, sc.runsSince)
	return err
}

func (h *headReads) readSiblings(ctx context.Context, r pullReader, sc readPlan) (err error) {
	h.siblings, err = r.readSiblings(ctx, sc.head)
	return err
}

// unknownHead reports whether GitHub does not know a head, or has another.
func unknownHead(err error) bool {
	var m moved
	return errors.As(err, &m) || client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err)
}
