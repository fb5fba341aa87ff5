package sandbox

// What a head changes hangs on the base, too: a base that holds a part of it already leaves the rest. The bases of a
// pull request hold the same until somebody says what changes against one of them. A commit's files never change.

import (
	"fmt"
	"maps"
	"slices"
)

// commitDiffs are what the commits of a repository change, whichever pull requests have them as heads.
type commitDiffs struct {
	told     map[headOnBase][]ChangedFile
	contents map[string]*headContents // of each head
}

func newCommitDiffs() *commitDiffs {
	return &commitDiffs{told: map[headOnBase][]ChangedFile{}, contents: map[string]*headContents{}}
}

// pullDiffs are what the heads of a pull request change.
type pullDiffs struct {
	*commitDiffs
	order []headOnBase // in which they were told of this one
	bases []string     // of which something was told
	heads map[string]bool
}

func newPullDiffs(all *commitDiffs) pullDiffs {
	return pullDiffs{commitDiffs: all, heads: map[string]bool{}}
}

// A headOnBase is a head that is compared with a base.
type headOnBase struct{ head, base string }

// headContents are the contents of a head's files.
type headContents struct {
	base    string   // the one against which the head was pushed
	bases   []string // of which something was told
	lines   string   // the head whose lines these are: a rebase leaves them
	changes map[string]*FileChange
}

// changeOf is what of a file changes.
func (c *headContents) changeOf(f ChangedFile) *FileChange {
	if c.changes[f.Path] == nil {
		c.changes[f.Path] = f.Change
	}
	if c.changes[f.Path] == nil {
		c.changes[f.Path] = plainChange(c.lines)
	}
	return c.changes[f.Path]
}

// tellDiff notes what a head of the pull request changes against a base; files are of use where that is not known.
func (d *pullDiffs) tellDiff(head, base string, files []ChangedFile) {
	at := headOnBase{head, base}
	if _, isTold := d.told[at]; !isTold {
		d.told[at] = files
	}
	if d.contents[head] == nil {
		d.contents[head] = &headContents{base: base, lines: head, changes: map[string]*FileChange{}}
	}
	if c := d.contents[head]; !slices.Contains(c.bases, base) {
		c.bases = append(c.bases, base)
	}
	if !slices.Contains(d.bases, base) {
		d.bases = append(d.bases, base)
	}
	d.order, d.heads[head] = append(d.order, at), true
}

// filesAgainst are the files that a head changes against a base, as they were told. Where nothing was told of the two,
// another head's tell how far the bases differ.
func (d *pullDiffs) filesAgainst(head, base string) []ChangedFile {
	if files, isTold := d.told[headOnBase{head, base}]; isTold {
		return files
	}
	c := d.contents[head]
	if c == nil {
		return nil
	}
	for _, from := range slices.Backward(c.bases) {
		for _, other := range slices.Backward(d.order) {
			if there, isTold := d.told[headOnBase{other.head, base}]; isTold && other.base == from {
				return movedFiles(d.told[headOnBase{head, from}], d.told[other], there)
			}
		}
	}
	return d.told[headOnBase{head, c.bases[len(c.bases)-1]}]
}

// movedFiles are files of a base as they are on another one, on both of which the files of another head are known.
func movedFiles(files, here, there []ChangedFile) []ChangedFile {
	isIn := func(all []ChangedFile, f ChangedFile) bool {
		return slices.ContainsFunc(all, func(o ChangedFile) bool { return o.Path == f.Path })
	}
	var moved []ChangedFile
	for _, f := range files {
		if !isIn(here, f) || isIn(there, f) {
			moved = append(moved, f)
		}
	}
	for _, f := range there {
		if !isIn(here, f) && !isIn(moved, f) {
			moved = append(moved, f)
		}
	}
	return moved
}

// changesAgainst are the files that a head changes against a base, with what of them changes.
func (d *pullDiffs) changesAgainst(head, base string) []ChangedFile {
	files := slices.Clone(d.filesAgainst(head, base))
	for i := range files {
		files[i].Change = d.contents[head].changeOf(files[i])
	}
	return files
}

// wholeOf are all files that a head changes against any of the bases.
func (d *pullDiffs) wholeOf(head string) (files []ChangedFile) {
	seen := map[string]bool{}
	for _, base := range slices.Concat(d.contents[head].bases, d.bases) {
		for _, f := range d.changesAgainst(head, base) {
			if !seen[f.Path] {
				seen[f.Path] = true
				files = append(files, f)
			}
		}
	}
	return files
}

// tellOpened notes what the first head of a pull request changes.
func (d *pullDiffs) tellOpened(head, base string, files []ChangedFile) {
	if files == nil {
		files = d.filesAgainst(head, base)
	}
	if files == nil {
		files = []ChangedFile{{Path: "main.go"}}
	}
	d.tellDiff(head, base, slices.Clone(files))
}

// tellBase notes what a head changes against the base that the pull request gets.
func (d *pullDiffs) tellBase(head, base string, files []ChangedFile) error {
	known, isTold := d.told[headOnBase{head, base}]
	switch {
	case isTold && files != nil && !slices.Equal(known, files):
		return fmt.Errorf("it changes other files against %s: do not say what it changes", base)
	case isTold:
		d.tellDiff(head, base, known)
	case files != nil:
		d.tellDiff(head, base, slices.Clone(files))
	default:
		d.tellDiff(head, base, d.filesAgainst(head, base))
	}
	return nil
}

// A pushedHead is a head that is pushed.
type pushedHead struct {
	name, head, base string
	before           string        // the head that it follows
	files            []ChangedFile // what it changes; nil: what that one changes
	isSame           bool          // it has that one's lines, but for one thing
	but              Difference
}

// tellPush notes what a head changes that is pushed.
func (d *pullDiffs) tellPush(p pushedHead) error {
	known, isTold := d.told[headOnBase{p.head, p.base}]
	isBack := d.contents[p.head] != nil
	switch {
	case isTold && p.files != nil && !slices.Equal(known, p.files):
		return fmt.Errorf("commit %s is there and changes other files: push another one, or do not say what it changes", p.name)
	case isTold:
		d.tellDiff(p.head, p.base, known)
	case p.files != nil:
		d.tellDiff(p.head, p.base, slices.Clone(p.files))
	case isBack:
		d.tellDiff(p.head, p.base, d.filesAgainst(p.head, p.base))
	default:
		d.tellDiff(p.head, p.base, d.filesAgainst(p.before, p.base))
	}
	if p.isSame && !isBack {
		d.keepLines(p.before, p.head)
		d.contents[p.head].makeDiffer(d.changesAgainst(p.head, p.base), p.but, p.name)
	}
	return nil
}

// keepLines gives a new head the lines of another one.
func (d *pullDiffs) keepLines(from, head string) {
	was := d.contents[from]
	d.contents[head].lines, d.contents[head].changes = was.lines, maps.Clone(was.changes)
}

// makeDiffer makes one thing of a head's files another; which one of several, the head's name tells.
func (c *headContents) makeDiffer(files []ChangedFile, by Difference, head string) {
	if by != 0 && len(files) > 0 {
		c.changes[files[0].Path] = withDifference(files, by, head)[0].Change
	}
}

// isAsFirst reports whether a head changes against a base what it changes against the one against which it was pushed.
func (d *pullDiffs) isAsFirst(head, base string) bool {
	return slices.Equal(d.filesAgainst(head, d.contents[head].base), d.filesAgainst(head, base))
}
