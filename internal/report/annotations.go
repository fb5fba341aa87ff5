package report

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// GitHub appends annotations at every update and never takes one back, so each finding is annotated once: its key stands
// in the record that is written with it. One annotation that GitHub does not accept makes it refuse the whole write,
// hence the care for what comes from strangers.

const (
	maxMessage = 64_000 // bytes; GitHub takes 64 KB
	maxPath    = 4096
	maxLine    = 1 << 30
)

// AnnotationKey names a finding by what it says and where. Two reviewers that say the same share one annotation.
func AnnotationKey(f quorum.Finding) string {
	sum := sha256.Sum256([]byte(f.Path + "\x00" + strconv.Itoa(f.Line) + "\x00" + normalizeText(f.Body)))
	return hex.EncodeToString(sum[:4])
}

// Annotations are the annotations that d calls for and that rec does not hold yet, with their keys, one for each.
func Annotations(d quorum.Decision, rec quorum.Record) (fresh []Annotation, keys []string) {
	switch d.Verdict {
	case quorum.Passed, quorum.Blocked, quorum.Unverified:
	default:
		return nil, nil
	}
	all := placedFindings(d)
	for _, p := range all[:min(len(all), maxAnnotated)] {
		if !slices.Contains(rec.Annotated, p.key) {
			fresh, keys = append(fresh, p.toAnnotation()), append(keys, p.key)
		}
	}
	return fresh, keys
}

// recordAnnotations adds what is annotated now to the record's keys and returns the annotations whose keys it really
// holds.
//
// Where there is no room for all keys, those go first that belong to no finding of d, and then the newest ones, whose
// annotations are not written then: a key that was dropped after its annotation was written would have it written
// again.
func recordAnnotations(d quorum.Decision, rec quorum.Record) (quorum.Record, []Annotation) {
	fresh, keys := Annotations(d, rec)
	current := map[string]bool{}
	for _, p := range placedFindings(d) {
		current[p.key] = true
	}
	var gone, kept []string
	for _, k := range rec.Annotated {
		if current[k] {
			kept = append(kept, k)
		} else {
			gone = append(gone, k)
		}
	}
	kept = append(kept, keys...)
	kept = kept[:min(len(kept), maxAnnotated)]
	gone = gone[max(0, len(gone)+len(kept)-maxAnnotated):]
	rec.Annotated = slices.Concat(gone, kept)
	small := fitRecord(rec)
	if len(gone) > 0 && len(small.Annotated) < len(rec.Annotated) {
		rec.Annotated = kept
		small = fitRecord(rec)
	}
	var held []Annotation
	for i, k := range keys {
		if slices.Contains(small.Annotated, k) {
			held = append(held, fresh[i])
		}
	}
	return small, held
}

// placedFinding is a finding with a place in the diff, and everybody who says so.
type placedFinding struct {
	key       string
	finding   quorum.Finding
	reviewers []string
	objects   bool
}

// placedFindings are the findings that may be annotated, in the order of the ballots. One that is a comment on the diff
// already is there to be seen.
func placedFindings(d quorum.Decision) (all []placedFinding) {
	at := map[string]int{}
	for _, b := range d.Ballots {
		for _, f := range b.Findings {
			objects := b.Vote == quorum.Object && b.Voter() && !f.Below
			shown := objects || f.Below || b.Vote == quorum.Object
			if !shown || f.Thread != 0 || f.Path == "" || len(f.Path) > maxPath || oneLine(f.Path) != f.Path || f.Line < 1 ||
				f.Line > maxLine {
				continue
			}
			key := AnnotationKey(f)
			i, seen := at[key]
			if !seen {
				i = len(all)
				at[key] = i
				all = append(all, placedFinding{key: key, finding: f})
			}
			all[i].objects = all[i].objects || objects
			if by := plainLine(b.Reviewer, 60); !slices.Contains(all[i].reviewers, by) {
				all[i].reviewers = append(all[i].reviewers, by)
			}
		}
	}
	return all
}

func (p placedFinding) toAnnotation() Annotation {
	a := Annotation{
		Path:    p.finding.Path,
		Line:    p.finding.Line,
		Level:   "notice",
		Title:   joinNames(p.reviewers),
		Message: cutBytes(makeVisible(cutBytes(p.finding.Body, maxMessage)), maxMessage),
	}
	if p.objects {
		a.Level = "failure"
	}
	if p.finding.Severity != 0 {
		a.Title += " (" + p.finding.Severity.String() + ")"
	}
	a.Title = clipRunes(a.Title, 255)
	if oneLine(a.Message) == "" {
		a.Message = "(no text)"
	}
	return a
}
