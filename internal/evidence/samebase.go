package evidence

// A base that was merged, and a stack that moves up, change nothing for a pull request: where it changes the very same
// files, and the new base holds the same guarded files and workflows, all that was said counts as before.

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// changedGuards stands in a record for guarded files that have changed on the base since the head came.
const changedGuards = "-"

// A TreeFile is a file of a commit.
type TreeFile struct{ Path, Mode, SHA string }

// GuardPrint is [quorum.Snapshot].Guards, of all files of the base by their paths.
func GuardPrint(p quorum.Policy, files []TreeFile) string {
	patterns := slices.Clone(p.Guard)
	for i := range p.Reviewers {
		if patterns = append(patterns, p.Reviewers[i].Guard...); p.Reviewers[i].Workflow != "" {
			patterns = append(patterns, p.Reviewers[i].Workflow)
		}
	}
	list, err := pathfilter.CompileWithFolders(patterns)
	if err != nil { // unreachable: config has compiled them all
		return ""
	}
	h := sha256.New()
	for _, f := range files {
		if list.Match(f.Path) {
			fmt.Fprintf(h, "%q\n", [...]string{f.Path, f.Mode, f.SHA}) // a hash takes everything
		}
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:24])
}

// isPushedSince reports whether a base may have been pushed to since the head came: nobody knows what a reviewer found there.
func isPushedSince(s *quorum.Snapshot, pushed time.Time) bool {
	return pushed.IsZero() || pushed.After(firstArrival(s))
}

// isUnsafeLayer reports whether a layer of a stack lies on a branch that holds other guarded files or workflows than
// the trunk, or may have held them since the head came: its author chooses what stands there.
func isUnsafeLayer(s *quorum.Snapshot) bool {
	isLayer := s.PR.Stack.Trunk != "" && s.PR.Stack.Trunk != s.PR.BaseRef
	return isLayer && (s.Guards == "" || s.Guards != s.TrunkGuards || s.Record.Guards == changedGuards || isPushedSince(s, s.LayerPushed))
}

// MayBeSameBase reports whether [quorum.Snapshot].Guards tells that the newest change of the base has changed nothing.
func MayBeSameBase(s quorum.Snapshot) bool {
	rec := &s.Record
	_, isOne := newestBaseMove(&s)
	return rec.Head == s.PR.Head && rec.Base != s.PR.BaseRef && isOne && rec.Guards != "" && rec.Guards != changedGuards &&
		rec.Files != "" && rec.Files == s.PR.Diff.Files
}

// newestBaseMove is the newest change of the base, if that led from the record's base.
func newestBaseMove(s *quorum.Snapshot) (move quorum.BaseMove, found bool) {
	stays := baseStays(s)
	if len(stays) == 0 {
		return move, false
	}
	last := stays[len(stays)-1] // of several moves in one second nobody knows the order
	return quorum.BaseMove{From: last.of, At: last.to.UTC()}, last.of == s.Record.Base && last.from.Before(last.to)
}

// renameBases renames a base in a list. Where an item names one, baseOf says.
func renameBases[T any](all []T, from, to string, baseOf func(*T) *string) {
	for i := range all {
		if base := baseOf(&all[i]); *base == from {
			*base = to
		}
	}
}

// moveBase renames a record's base in all that is said of it.
func moveBase(rec *quorum.Record, move quorum.BaseMove, to string) {
	for i := range rec.Objections {
		o := &rec.Objections[i]
		if o.Of == 0 && o.Carried == "" && o.Base == rec.Base {
			o.Base = to
		}
		o.AnsweredOn = slices.Clone(o.AnsweredOn)
		renameBases(o.AnsweredOn, rec.Base, to, func(base *string) *string { return base })
	}
	renameBases(rec.Stood, rec.Base, to, func(st *quorum.Stood) *string { return &st.Base })
	renameBases(rec.Intents, rec.Base, to, func(in *quorum.Intent) *string { return &in.Base })
	for _, times := range [][]quorum.FirstTime{rec.Asked, rec.Turns} {
		renameBases(times, rec.Base, to, func(first *quorum.FirstTime) *string { return &first.Base })
	}
	renameBases(rec.Commands, rec.Base, to, func(c *quorum.Command) *string { return &c.Base })
	rec.Moved = append(slices.Clip(rec.Moved), move)
	rec.Moved = rec.Moved[max(0, len(rec.Moved)-maxMoved):]
}

// rememberGuards is the print of the guarded files of the base, which is not compared any more once they may have changed.
func rememberGuards(old *quorum.Record, s *quorum.Snapshot) string {
	isSame := old.Head == s.PR.Head && old.Base == s.PR.BaseRef && old.Guards != ""
	isOther := s.Guards != "" && s.Guards != old.Guards || old.Files != s.PR.Diff.Files
	switch {
	case s.Guards != "" && isPushedSince(s, s.BasePushed), isSame && isOther:
		return changedGuards
	case isSame:
		return old.Guards
	}
	return s.Guards
}
