package sandbox

// What a head changes hangs on the base, too: a base that holds a part of it already leaves the rest. The bases of a pull
// request hold the same until somebody says what changes against one of them. A commit's files never change.

import (
	"fmt"
	"maps"
	"slices"
)

// pullDiffs are what the heads of a pull request change.
type pullDiffs struct {
	told     map[headOnBase][]ChangedFile
	order    []headOnBase // in which they were told
	bases    []string     // of which something was told
	contents map[string]*headContents
}

// A headOnBase is a head that is compared with a base.
type headOnBase struct{ head, base string }

// headContents are the contents of a head's files.
type headContents struct {
	base    string // the one against which the head was pushed
	lines   string // the head whose lines these are: a rebase leaves them
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

// tellDiff notes what a head changes against a base.
func (d *pullDiffs) tellDiff(head, base string, files []ChangedFile) {
	if d.told == nil {
		d.told, d.contents = map[headOnBase][]ChangedFile{}, map[string]*headContents{}
	}
	at := headOnBase{head, base}
	d.told[at], d.order = files, append(d.order, at)
	if !slices.Contains(d.bases, base) {
		d.bases = append(d.bases, base)
	}
	if d.contents[head] == nil {
		d.contents[head] = &headContents{base: base, lines: head, changes: map[string]*FileChange{}}
	}
}

// filesAgainst are the files that a head changes against a base, as they were told. Where nothing was told of the two,
// another head's tell how far the bases differ.
func (d *pullDiffs) filesAgainst(head, base string) []ChangedFile {
	if files, isTold := d.told[headOnBase{head, base}]; isTold {
		return files
	}
	var last []ChangedFile
	for _, own := range slices.Backward(d.order) {
		if own.head != head {
			continue
		}
		if last == nil {
			last = d.told[own]
		}
		for _, other := range slices.Backward(d.order) {
			if there, isTold := d.told[headOnBase{other.head, base}]; isTold && other.base == own.base {
				return movedFiles(d.told[own], d.told[other], there)
			}
		}
	}
	return last
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

// wholeOf are all files that a head changes against any of the bases, and the base against which it was pushed; "" if it
// is no head.
func (d *pullDiffs) wholeOf(head string) (files []ChangedFile, base string) {
	if d.contents[head] == nil {
		return nil, ""
	}
	seen := map[string]bool{}
	for _, base := range d.bases {
		for _, f := range d.changesAgainst(head, base) {
			if !seen[f.Path] {
				seen[f.Path] = true
				files = append(files, f)
			}
		}
	}
	return files, d.contents[head].base
}

// tellBase notes what a head changes against the base that the pull request gets.
func (d *pullDiffs) tellBase(head, base string, files []ChangedFile) error {
	known, isTold := d.told[headOnBase{head, base}]
	switch {
	case isTold && files != nil && !slices.Equal(known, files):
		return fmt.Errorf("it changes other files against %s: do not say what it changes", base)
	case isTold:
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
	case p.files != nil:
		d.tellDiff(p.head, p.base, slices.Clone(p.files))
	case isBack:
		d.tellDiff(p.head, p.base, d.filesAgainst(p.head, p.base))
	default:
		d.tellDiff(p.head, p.base, d.filesAgainst(p.before, p.base))
	}
	if p.isSame && !isBack {
		d.keepLines(p.before, p.head, p.base)
		d.contents[p.head].makeDiffer(d.changesAgainst(p.head, p.base), p.but, p.name)
	}
	return nil
}

// keepLines gives a new head the lines of another one.
func (d *pullDiffs) keepLines(from, head, base string) {
	was := d.contents[from]
	d.contents[head] = &headContents{base: base, lines: was.lines, changes: maps.Clone(was.changes)}
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
