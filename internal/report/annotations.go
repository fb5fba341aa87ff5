package report

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// GitHub appends annotations at every update and never takes one back, so each finding is annotated once: its key
// stands in the record that is written with it. One annotation that GitHub does not accept makes it refuse the whole
// write, hence the care for what comes from strangers.

const (
	maxMessage = 64_000 // bytes; GitHub takes 64 KB
	maxPath    = 4096
)

// AnnotationKey names a finding by what it says and where.
func AnnotationKey(f quorum.Finding) string {
	sum := sha256.Sum256([]byte(f.Path + "\x00" + strconv.Itoa(f.Line) + "\x00" + normalizeText(f.Body)))
	return hex.EncodeToString(sum[:4])
}

// findingsToAnnotate are the findings of d with a place in the diff that rec does not hold yet.
func findingsToAnnotate(d quorum.Decision, rec quorum.Record) (fresh []placedFinding) {
	switch d.Verdict {
	case quorum.Passed, quorum.Blocked, quorum.Unverified:
	default:
		return nil
	}
	all := placedFindings(d)
	for _, p := range all[:min(len(all), maxAnnotated)] {
		if !slices.Contains(rec.Annotated, p.key) {
			fresh = append(fresh, p)
		}
	}
	return fresh
}

// recordAnnotations adds what is annotated now to the record's keys and returns the annotations whose keys it really
// holds.
//
// Where there is no room for all keys, those go first that belong to no finding of d, and then the newest ones, whose
// annotations are not written then: a key that was dropped after its annotation was written would have it written
// again.
func recordAnnotations(d quorum.Decision, rec quorum.Record) (quorum.Record, []Annotation) {
	fresh := findingsToAnnotate(d, rec)
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
	for _, p := range fresh {
		kept = append(kept, p.key)
	}
	kept = kept[:min(len(kept), maxAnnotated)]
	gone = gone[max(0, len(gone)+len(kept)-maxAnnotated):]
	rec.Annotated = slices.Concat(gone, kept)
	small := fitShared(rec)
	if len(gone) > 0 && len(small.Annotated) < len(rec.Annotated) {
		rec.Annotated = kept
		small = fitShared(rec)
	}
	held := slices.DeleteFunc(fresh, func(p placedFinding) bool { return !slices.Contains(small.Annotated, p.key) })
	return small, annotationsOf(held)
}

// annotationsOf returns one annotation for each place of findings: what several reviewers say of it stands in it
// together.
func annotationsOf(findings []placedFinding) (all []Annotation) {
	var places [][]placedFinding
	groups := placeIndex{}
	for _, p := range findings {
		g, near := 0, false
		if len(p.reviewers) == 1 {
			g, near = groups.groupNear(p.finding, p.reviewers[0])
		}
		if !near {
			g = len(places)
			places = append(places, nil)
		}
		places[g] = append(places[g], p)
		for _, by := range p.reviewers {
			groups.add(p.finding, by, g)
		}
	}
	for _, said := range places {
		all = append(all, annotationOf(said))
	}
	return all
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

// annotationOf returns the annotation of what is said of one place.
func annotationOf(said []placedFinding) Annotation {
	a := Annotation{Path: said[0].finding.Path, Line: said[0].finding.Line, Level: "notice"}
	var names []string
	var most quorum.Severity
	for _, p := range said {
		for _, by := range p.reviewers {
			if !slices.Contains(names, by) {
				names = append(names, by)
			}
		}
		if most = max(most, p.finding.Severity); p.objects {
			a.Level = "failure"
		}
	}
	for i, p := range said {
		body := makeVisible(cutBytes(p.finding.Body, maxMessage/len(said)))
		if oneLine(body) == "" {
			body = "(no text)"
		}
		if len(said) > 1 {
			body = joinNames(p.reviewers) + ": " + body
		}
		if i > 0 {
			a.Message += "\n\n"
		}
		a.Message += body
	}
	a.Message = cutBytes(a.Message, maxMessage)
	a.Title = joinNames(names)
	if most != 0 {
		a.Title += " (" + most.String() + ")"
	}
	a.Title = clipRunes(a.Title, 255)
	return a
}
