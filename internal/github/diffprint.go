package github

// What a pull request changes, as digests: by its lines from the list of files, which every look reads anyway, and by
// the blobs and modes of its files from the trees, where an approval hangs on it.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	linesDigestSize = 15 // bytes: two that are equal keep an objection, which nobody gains by
	treeDigestSize  = 24 // bytes: two that are equal carry an approval
)

func shortDigest(sum []byte, size int) string {
	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// A lineSum stands for lines in any order: the sum of their digests.
type lineSum [4]uint64

func (s *lineSum) addLine(line string) {
	sum := sha256.Sum256([]byte(line))
	for i := range s {
		s[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
}

func (s *lineSum) add(o lineSum) {
	for i := range s {
		s[i] += o[i]
	}
}

// patchPrint is what is kept of a file's patch.
type patchPrint struct {
	lines lineSum  // the lines that it adds and removes
	whole bool     // it has all of them, as they are
	sum   [32]byte // of the patch, places included
}

// printPatch takes what is kept of a file's patch, and drops the patch.
func (f *restFile) printPatch() {
	p, added, removed := &f.print, 0, 0
	for line := range strings.SplitSeq(f.Patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		default:
			continue
		}
		if bare := withoutSpaces(line); len(bare) > 1 {
			p.lines.addLine(bare)
		}
	}
	// What is no UTF-8 comes as U+FFFD, whatever it is.
	p.whole = f.Patch != "" && added == f.Additions && removed == f.Deletions && !strings.ContainsRune(f.Patch, unicode.ReplacementChar)
	p.sum = sha256.Sum256([]byte(f.Patch))
	if f.Patch == "" || added != f.Additions || removed != f.Deletions {
		p.lines = lineSum{}
		p.lines.addLine("file " + f.Status + " " + f.SHA)
	}
	f.Patch = ""
}

func withoutSpaces(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
}

// linesPrint is [quorum.DiffPrint].Lines of a list of files. One that is not whole equals one that lacks as many.
func linesPrint(files []restFile, changed int) string {
	var all lineSum
	for i := range files {
		all.add(files[i].print.lines)
	}
	h := sha256.New()
	missing := max(changed-len(files), 0)
	fmt.Fprintf(h, "%v %d", all, missing) // a hash takes everything
	return shortDigest(h.Sum(nil), linesDigestSize)
}

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

// readTree reads the tree of a commit; nil if GitHub does not tell it whole.
func (r pullReader) readTree(ctx context.Context, commit string) (*restTree, error) {
	var t restTree
	_, err := r.client.Get(ctx, r.repoPath("git", "trees", commit)+"?recursive=1", &t)
	switch {
	case isUntold(err):
		return nil, nil
	case err != nil:
		return nil, err
	case t.Truncated:
		return nil, nil
	}
	slices.SortFunc(t.Entries, restTreeEntry.compare)
	return &t, nil
}

// isUntold reports whether GitHub does not tell something of commits, or tells too much: it will not do so later.
func isUntold(err error) bool {
	return client.IsNotFound(err) || client.IsConflict(err) || client.IsUnprocessable(err) || errors.Is(err, client.ErrTooLong)
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

// readTreePrint reads [quorum.DiffPrint].Tree; [evidence.UnknownTree] if GitHub does not tell all of it. What a file was
// on the base follows from what it is and from its whole patch; without one the base's tree must tell.
func (l *look) readTreePrint(ctx context.Context) (string, error) {
	head, err := l.read.readTree(ctx, l.snap.PR.Head)
	if err != nil || head == nil || l.snap.PR.FilesMissing {
		return evidence.UnknownTree, err
	}
	var base *restTree
	if slices.ContainsFunc(l.head.files, restFile.needsBase) {
		fork, err := l.read.readMergeBase(ctx, l.snap.PR.Base, l.snap.PR.Head)
		if err != nil || fork == "" {
			return evidence.UnknownTree, err
		}
		if base, err = l.read.readTree(ctx, fork); err != nil || base == nil {
			return evidence.UnknownTree, err
		}
	}
	files := slices.Clone(l.head.files)
	slices.SortFunc(files, func(a, b restFile) int { return cmp.Compare(a.Filename, b.Filename) })
	h := sha256.New()
	for i := range files {
		if !files[i].writeTreePrint(h, head, base) {
			return evidence.UnknownTree, nil
		}
	}
	return shortDigest(h.Sum(nil), treeDigestSize), nil
}

// needsBase reports whether only the base's tree tells what a file was there.
func (f restFile) needsBase() bool {
	return f.Status != "added" && f.Status != "removed" && !f.print.whole
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
	fmt.Fprintf(h, "%q %x\n", names, f.print.sum) // a hash takes everything
	return true
}

// takeDiff takes over what the pull request changes, and what the record knows of its tree.
func (l *look) takeDiff() {
	diff := quorum.DiffPrint{Lines: linesPrint(l.head.files, l.changedFiles)}
	if rec := &l.snap.Record; rec.Head == l.snap.PR.Head && rec.Base == l.snap.PR.BaseRef && rec.Diff == diff.Lines {
		diff.Tree = rec.Tree
	}
	l.snap.PR.Diff = diff
}
