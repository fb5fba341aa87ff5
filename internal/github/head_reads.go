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
	partTexts
	partSiblings
	partBranchRuns
	partConversation
)

// headReads are GitHub's answers about one head, as far as they were read.
type headReads struct {
	checks     []restCheck
	files      []restFile
	runs       []restRun
	texts      shownTexts // as REST lists them
	siblings   []restPull
	branchRuns []restRun // of earlier heads of the branch
	statuses   []restStatus
	unshown    error // GitHub's refusal to show statuses to this token; nil: it shows them
	gate       gateRead
	query      conversationAnswer // that was asked beside all else

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
	read(partStatuses, sc.statuses, func() (err error) {
		h.statuses, err = r.readStatuses(ctx, sc.head)
		if h.unshown = nil; client.LacksPermission(err) { // whether that matters the policy says
			h.unshown, err = err, nil
		}
		return err
	})
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
	read(partBranchRuns, sc.readsBranchRuns(), func() (err error) {
		h.branchRuns, err = r.readBranchRuns(ctx, sc.headRef, sc.runsSince)
		return err
	})
	read(partConversation, sc.conversation, func() (err error) { h.query, err = l.askConversation(ctx, sc); return err })
	isQueried := sc.conversation || h.has(partConversation)
	read(partTexts, sc.judged && (!isQueried || len(l.mem.apart.of(sc.head)) > 0), func() (err error) {
		h.texts, err = r.readListedTexts(ctx, wordsToKeep(l.f, l.watched))
		return err
	})
	read(partSiblings, sc.judged && !isQueried, func() (err error) { h.siblings, err = r.readSiblings(ctx, sc.head); return err })
}

// listedRuns are the head's runs, or those of them that its branch shows.
func (h *headReads) listedRuns(head string) []restRun {
	if h.has(partRuns) {
		return h.runs
	}
	return slices.DeleteFunc(slices.Clone(h.branchRuns), func(r restRun) bool { return r.Head != head })
}

// readUnlistedRuns reads the head's runs where those of its branch are not all: each check suite of GitHub Actions that
// the head shows is that of one, and the conversation shows suites that have no job yet, too. Of another branch with the
// same commit, or of one that had another name, they would be missing.
func (h *headReads) readUnlistedRuns(ctx context.Context, r pullReader, c *conversation, listed []restRun) ([]restRun, error) {
	suites, ids := map[int64]bool{}, map[int64]bool{}
	for i := range listed {
		suites[listed[i].Suite], ids[listed[i].ID] = true, true
	}
	isUnlisted := func(check restCheck) bool { return check.App.Slug == quorum.ActionsApp && !suites[check.Suite.ID] }
	if h.has(partRuns) || !c.moreSuites && !slices.ContainsFunc(h.checks, isUnlisted) &&
		!slices.ContainsFunc(c.headRuns, func(id int64) bool { return !ids[id] }) {
		return nil, nil
	}
	all, err := r.readRuns(ctx, c.head)
	return slices.DeleteFunc(all, func(r restRun) bool { return ids[r.ID] }), err
}

// unknownHead reports whether GitHub does not know a head, or has another.
func unknownHead(err error) bool {
	var m moved
	return errors.As(err, &m) || client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err)
}
