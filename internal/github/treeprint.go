package github

// What a pull request changes by the blobs and modes of its files, from the trees: an approval hangs on it.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// restTree is a commit's tree with all that is in its folders.
type restTree struct {
	Truncated bool            `json:"truncated"`
	Entries   []restTreeEntry `json:"tree"`
}

type restTreeEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	SHA  string `json:"sha"`
}

func (e restTreeEntry) compare(o restTreeEntry) int { return cmp.Compare(e.Path, o.Path) }

// entry finds an entry of a tree whose entries are sorted.
func (t *restTree) entry(path string) (restTreeEntry, bool) {
	i, found := slices.BinarySearchFunc(t.Entries, restTreeEntry{Path: path}, restTreeEntry.compare)
	if !found {
		return restTreeEntry{}, false
	}
	return t.Entries[i], true
}

// readGuards reads [quorum.Snapshot].Guards, BasePushed of a base, and LayerPushed; Guards stays "" where GitHub does
// not tell the tree whole.
func readGuards(ctx context.Context, r pullReader, p quorum.Policy, s *quorum.Snapshot, base string) error {
	g, beside := newGroup(ctx)
	var ofBase, ofLayer time.Time
	g.Go(func() (err error) {
		ofBase, err = readLastPush(beside, r, base)
		if ofLayer = ofBase; err == nil && base != s.PR.BaseRef && s.PR.Stack.Trunk != "" {
			ofLayer, err = readLastPush(beside, r, s.PR.BaseRef)
		}
		return err
	})
	tree, err := r.readTree(ctx, s.PR.BaseRef)
	if err = errors.Join(err, g.Wait()); err != nil || tree == nil {
		return err
	}
	s.BasePushed, s.LayerPushed = ofBase, ofLayer
	s.Guards = tree.guardPrint(p)
	if trunk := s.PR.Stack.Trunk; trunk != "" && trunk != s.PR.BaseRef {
		if tree, err = r.readTree(ctx, trunk); err != nil || tree == nil {
			return err
		}
		s.TrunkGuards = tree.guardPrint(p)
	}
	return nil
}

// readLastPush reads when somebody pushed last to a branch; zero where GitHub does not tell.
func readLastPush(ctx context.Context, r pullReader, branch string) (last time.Time, err error) {
	path := r.repoPath("activity") + "?" + url.Values{"ref": {"refs/heads/" + branch}, "per_page": {"10"}}.Encode()
	pushed, _, err := readPage[restActivity](ctx, r.client, path, "", false)
	if isUntold(err) {
		return last, nil
	}
	for _, a := range slices.Backward(pushed) {
		if push := a.toPush(); strings.Trim(push.After, "0") != "" { // no deletion: a branch that was merged may go
			last = push.At
		}
	}
	return last, err
}

// guardPrint is [evidence.GuardPrint] of a tree.
func (t *restTree) guardPrint(p quorum.Policy) string {
	var files []evidence.TreeFile
	for _, e := range t.Entries {
		if e.Mode != folderMode {
			files = append(files, evidence.TreeFile{Path: e.Path, Mode: e.Mode, SHA: e.SHA})
		}
	}
	return evidence.GuardPrint(p, files)
}

// folderMode is the mode of a folder in a tree.
const folderMode = "040000"

// readTree reads the tree of a commit, or of a branch's tip; nil if GitHub does not tell it whole.
func (r pullReader) readTree(ctx context.Context, at string) (*restTree, error) {
	var t restTree
	_, err := r.client.Get(ctx, r.repoPath("git", "trees", at)+"?recursive=1", &t)
	switch {
	case isUntold(err):
		return nil, nil
	case err != nil:
		return nil, err
	case t.Truncated:
		return nil, nil
	}
	slices.SortStableFunc(t.Entries, restTreeEntry.compare)
	return &t, nil
}

// isUntold reports whether GitHub does not tell something of commits, or tells too much: it will not do so later.
func isUntold(err error) bool {
	return client.IsNotFound(err) || client.IsConflict(err) || client.IsUnprocessable(err) || errors.Is(err, client.ErrTooLong) ||
		client.LacksPermission(err)
}

// readMergeBase reads the commit from which the head has left its base; "" if GitHub does not tell. Its second page
// has no files, of which the first has all.
func (r pullReader) readMergeBase(ctx context.Context, base, head string) (string, error) {
	var c struct {
		MergeBase struct {
			SHA string `json:"sha"`
		} `json:"merge_base_commit"`
	}
	_, err := r.client.Get(ctx, r.repoPath("compare", base+"..."+head)+"?per_page=1&page=2", &c)
	if isUntold(err) {
		return "", nil
	}
	return c.MergeBase.SHA, err
}

// readTreePrint reads [quorum.DiffPrint].Tree; [evidence.UnknownTree] if GitHub does not tell all of it. What a file
// was on the base follows from what it is and from its whole patch; without one the base's tree must tell.
func (r pullReader) readTreePrint(ctx context.Context, pr quorum.PullRequest, listed []restFile) (string, error) {
	head, err := r.readTree(ctx, pr.Head)
	if err != nil || head == nil || pr.FilesMissing {
		return evidence.UnknownTree, err
	}
	var base *restTree
	if slices.ContainsFunc(listed, restFile.needsBase) {
		fork, err := r.readMergeBase(ctx, pr.Base, pr.Head)
		if err != nil || fork == "" {
			return evidence.UnknownTree, err
		}
		if base, err = r.readTree(ctx, fork); err != nil || base == nil {
			return evidence.UnknownTree, err
		}
	}
	h := sha256.New()
	for _, file := range sortedFiles(listed) {
		if !file.writeTreePrint(h, head, base) {
			return evidence.UnknownTree, nil
		}
	}
	return shortDigest(h.Sum(nil), treeDigestSize), nil
}

// writeTreePrint writes what a file is and was, as far as the trees tell; false if they do not.
func (f *restFile) writeTreePrint(h io.Writer, head, base *restTree) bool {
	now, found := head.entry(f.Filename)
	switch {
	case f.Status == "removed":
		if found {
			return false
		}
		now.SHA = f.SHA // what it was
	case !found || now.SHA != f.SHA || now.Mode == "" || now.SHA == "":
		return false
	}
	was := "patch"
	if f.needsBase() {
		old, found := base.entry(cmp.Or(f.Previous, f.Filename))
		if !found {
			return false
		}
		was = "base " + old.Mode + " " + old.SHA
	}
	names := [...]string{f.Filename, f.Previous, f.Status, now.Mode, now.SHA, was}
	fmt.Fprintf(h, "%q %x\n", names, f.printed.sum) // a hash takes everything
	return true
}
