package sandbox

// A changed file as it is on the base and on a head, and the patch between the two.

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const (
	modeFile = "100644"
	modeLink = "120000"
)

// ChangedFile is a file that a pull request changes.
type ChangedFile struct {
	Path     string
	Previous string // the old name of a file that was renamed
	Status   string // default modified, or renamed if it has a previous name
	Mode     string // default 100644
	Added    int    // lines; where neither is given, one is added and one removed
	Removed  int

	Change *FileChange // what of it changes; nil: a line, which tells the head
}

// changedLines are the lines that are added to a file and removed from it.
func (f ChangedFile) changedLines() (added, removed int) {
	if f.Added == 0 && f.Removed == 0 {
		return 1, 1
	}
	return f.Added, f.Removed
}

// FileChange is a file on the base and on a head.
type FileChange struct{ Was, Is FileVersion }

// FileVersion is a file at a commit.
type FileVersion struct {
	Content string
	Mode    string // default 100644
	Binary  bool   // GitHub shows no patch of it
}

// plainChange changes one line of twelve; which head has changed it, that line tells.
func plainChange(head string) *FileChange {
	was := make([]string, 12)
	for i := range was {
		was[i] = fmt.Sprintf("line %d\n", i+1)
	}
	is := slices.Clone(was)
	is[5] = "as of " + head + "\n"
	return &FileChange{Was: FileVersion{Content: strings.Join(was, "")}, Is: FileVersion{Content: strings.Join(is, "")}}
}

func (f ChangedFile) mode() string { return cmp.Or(f.Change.Is.Mode, cmp.Or(f.Mode, modeFile)) }

// blob is the name of the file's content on the head; of a removed file, of the content that it had.
func (f ChangedFile) blob() string {
	if f.Status == "removed" {
		return blobID(f.Change.Was.Content)
	}
	return blobID(f.Change.Is.Content)
}

// blobID is the name that Git gives to a file's content.
func blobID(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}

// patch is the difference between the file on the base and on the head, as GitHub shows it: one hunk with three lines
// around it; "" for what is not text, or has the same content.
func (f ChangedFile) patch() (text string, added, removed int) {
	was, is := f.Change.Was, f.Change.Is
	switch f.Status {
	case "added":
		was.Content = ""
	case "removed":
		is.Content = ""
	}
	if was.Binary || is.Binary || was.Content == is.Content {
		return "", 0, 0
	}
	a, b := linesOf(was.Content), linesOf(is.Content)
	top, most := 0, min(len(a), len(b))
	for top < most && a[top] == b[top] {
		top++
	}
	end := 0
	for end < most-top && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	from, below := max(top-3, 0), min(end, 3)
	var out strings.Builder
	fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@", from+1, len(a)-end+below-from, from+1, len(b)-end+below-from)
	show := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString("\n" + mark + line)
		}
	}
	show(" ", a[from:top])
	show("-", a[top:len(a)-end])
	show("+", b[top:len(b)-end])
	show(" ", a[len(a)-end:len(a)-end+below])
	return out.String(), len(b) - end - top, len(a) - end - top
}

func linesOf(content string) []string {
	if content == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(content, "\n"), "\n")
}

// Difference is the one thing in which a head's files differ from those of the head before.
type Difference uint8

const (
	OtherMode         Difference = 1 + iota // another mode of the first file
	OtherLink                               // the first file is a symbolic link
	OtherPlace                              // the same lines stand elsewhere in it
	OtherBinary                             // a binary file has another content
	OtherSurroundings                       // other lines of it have changed on the base, and here
)

func (d Difference) String() string {
	words := [...]string{"", "mode", "link", "place", "binary", "file around"}
	if int(d) < len(words) {
		return words[d]
	}
	return fmt.Sprintf("%%!%d", uint8(d))
}

// withDifference are files of which one thing is another; which one of several, the head's name tells.
func withDifference(files []ChangedFile, d Difference, head string) []ChangedFile {
	if d == 0 || len(files) == 0 {
		return files
	}
	files = slices.Clone(files)
	change := *files[0].Change
	is := &change.Is
	switch d {
	case OtherMode:
		if is.Mode == "100755" {
			is.Mode = modeFile
		} else {
			is.Mode = "100755"
		}
	case OtherLink:
		is.Mode = modeLink
	case OtherPlace:
		was, now := linesOf(change.Was.Content), linesOf(is.Content)
		for i := range was {
			if i < len(now) && was[i] != now[i] { // it stands a line further down
				was[i], was[(i+1)%len(was)] = was[(i+1)%len(was)], was[i]
				now[i], now[(i+1)%len(was)] = now[(i+1)%len(was)], now[i]
				break
			}
		}
		change.Was.Content, is.Content = strings.Join(was, "\n")+"\n", strings.Join(now, "\n")+"\n"
	case OtherBinary:
		change.Was.Binary, is.Binary = true, true
		is.Content += "\x00" + head
	case OtherSurroundings:
		added := "above, as of " + head + "\n"
		change.Was.Content, is.Content = added+change.Was.Content, added+is.Content
	}
	files[0].Change = &change
	return files
}
