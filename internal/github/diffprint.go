package github

// What a pull request changes, as a digest of its lines: from the list of files, which every look reads anyway.

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	maxFiles        = 3000 // GitHub lists no more changed files of a pull request
	linesDigestSize = 15   // bytes: two that are equal keep an objection, which nobody gains by
	treeDigestSize  = 24   // bytes: two that are equal carry an approval
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
	p, added, removed := &f.printed, 0, 0
	for line := range strings.SplitSeq(f.Patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		default:
			continue
		}
		if bare := strings.Join(strings.Fields(line), ""); len(bare) > 1 {
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

// sortedFiles are the files of a list by name.
func sortedFiles(listed []restFile) []*restFile {
	files := make([]*restFile, len(listed)) // one sort of pointers serves all in the program: that of a large struct weighs 15 KB
	for i := range listed {
		files[i] = &listed[i]
	}
	slices.SortFunc(files, func(a, b *restFile) int {
		return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Status, b.Status), cmp.Compare(a.SHA, b.SHA))
	})
	return files
}

// needsBase reports whether only the base's tree tells what a file was there.
func (f restFile) needsBase() bool {
	return f.Status != "added" && f.Status != "removed" && !f.printed.whole
}

// filesPrint is [quorum.DiffPrint].Files of a list of files; "" if it is not whole, or a patch is missing.
func filesPrint(files []restFile, changed int) string {
	h := sha256.New()
	for _, f := range sortedFiles(files) {
		if f.needsBase() {
			return ""
		}
		fmt.Fprintf(h, "%q %x\n", [...]string{f.Filename, f.Previous, f.Status, f.SHA}, f.printed.sum) // a hash takes everything
	}
	if len(files) < changed || len(files) >= maxFiles {
		return ""
	}
	return shortDigest(h.Sum(nil), treeDigestSize)
}

// linesPrint is [quorum.DiffPrint].Lines of a list of files. One that is not whole equals one that lacks as many.
func linesPrint(files []restFile, changed int) string {
	var all lineSum
	for i := range files {
		all.add(files[i].printed.lines)
	}
	h := sha256.New()
	missing := max(changed-len(files), 0)
	fmt.Fprintf(h, "%v %d", all, missing) // a hash takes everything
	return shortDigest(h.Sum(nil), linesDigestSize)
}
