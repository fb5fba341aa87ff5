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

// maxMoved is how many changes of the base are remembered that changed nothing. One that is forgotten ends approvals.
const maxMoved = 10

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

// newestBaseMove is the newest change of the base, if that led from the record's base to this one.
func newestBaseMove(s *quorum.Snapshot) (move quorum.BaseMove, found bool) {
	for _, e := range slices.Backward(s.Timeline) {
		switch {
		case e.Kind != quorum.BaseChanged || found && !e.At.Equal(move.At):
		case e.From != s.Record.Base || e.To != s.PR.BaseRef: // of several in one second nobody knows the order
			return move, false
		default:
			move, found = quorum.BaseMove{From: e.From, At: e.At.UTC()}, true
		}
	}
	return move, found
}

// withoutMoves is a snapshot without the changes of the base that changed nothing.
func withoutMoves(s *quorum.Snapshot) *quorum.Snapshot {
	if len(s.Record.Moved) == 0 {
		return s
	}
	own := *s
	own.Timeline = without(s.Timeline, func(e quorum.Event) bool {
		isIt := func(m quorum.BaseMove) bool { return m.At.Equal(e.At) }
		return e.Kind == quorum.BaseChanged && slices.ContainsFunc(s.Record.Moved, isIt)
	})
	return &own
}

// moveBase has all that a record says of its base be of another one.
func moveBase(rec *quorum.Record, move quorum.BaseMove, to string) {
	rename := func(base *string) {
		if *base == rec.Base {
			*base = to
		}
	}
	for i := range rec.Stood {
		rename(&rec.Stood[i].Base)
	}
	for i := range rec.Objections {
		o := &rec.Objections[i]
		if o.Of == 0 && o.Carried == "" {
			rename(&o.Base)
		}
		o.AnsweredOn = slices.Clone(o.AnsweredOn)
		for k := range o.AnsweredOn {
			rename(&o.AnsweredOn[k])
		}
	}
	for i := range rec.Intents {
		rename(&rec.Intents[i].Base)
	}
	for i := range rec.Asked {
		rename(&rec.Asked[i].Base)
	}
	for i := range rec.Commands {
		rename(&rec.Commands[i].Base)
	}
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
