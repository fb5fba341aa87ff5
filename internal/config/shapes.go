package config

// The shapes that a policy brings for a reviewer: sentences in the form of a vendor's file, for a vendor that the
// program does not know, or for a form that its preset does not know yet.

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// quorumShapes returns s as the core's shapes.
func (s ShapesKeys) quorumShapes() quorum.Shapes {
	all := quorum.Shapes{
		Approves: shapeTexts(s.Approves), IfSettled: shapeTexts(s.IfSettled), Counts: shapeTexts(s.Counts), Objects: shapeTexts(s.Objects),
		Vetoes: shapeTexts(s.Vetoes), Partial: shapeTexts(s.Partial), Working: shapeTexts(s.Working), Other: shapeTexts(s.Other),
	}
	for _, n := range s.Notices {
		all.Notices = append(all.Notices, n.quorumNotice())
	}
	return all
}

func (n NoticeKeys) quorumNotice() quorum.NoticeShape {
	got := quorum.NoticeShape{Line: string(n.Line), Marker: n.Marker, Reason: quorum.Reason(n.Reason)}
	_ = got.Outcome.UnmarshalText([]byte(n.Outcome)) // a word that is no outcome was reported where it was read
	return got
}

func shapeTexts(shapes []ShapeText) (texts []string) {
	for _, s := range shapes {
		texts = append(texts, string(s))
	}
	return texts
}

// checkShapes refuses shapes that package review cannot use, each at its place, and shapes that nobody would read.
func (r policyResolver) checkShapes(key string, e ReviewerKeys, q quorum.Reviewer) {
	key += ".shapes"
	if !r.hasKey(key) || r.brokenKeys[key] {
		return
	}
	switch q.Verdict.Kind {
	case quorum.Auto, quorum.FindingList, quorum.ReviewState:
	default:
		r.failKey(
			key,
			"shapes are sentences, and this reviewer's verdict is not read from any",
			"remove shapes, or write verdict: auto, findings or review-state",
		)
		return
	}
	all := e.Shapes.quorumShapes()
	for _, list := range []struct {
		name   string
		shapes []string
		only   func(one []string) quorum.Shapes
	}{
		{"approves", all.Approves, func(one []string) quorum.Shapes { return quorum.Shapes{Approves: one} }},
		{"if_settled", all.IfSettled, func(one []string) quorum.Shapes { return quorum.Shapes{IfSettled: one} }},
		{"counts", all.Counts, func(one []string) quorum.Shapes { return quorum.Shapes{Counts: one} }},
		{"objects", all.Objects, func(one []string) quorum.Shapes { return quorum.Shapes{Objects: one} }},
		{"vetoes", all.Vetoes, func(one []string) quorum.Shapes { return quorum.Shapes{Vetoes: one} }},
		{"partial", all.Partial, func(one []string) quorum.Shapes { return quorum.Shapes{Partial: one} }},
		{"working", all.Working, func(one []string) quorum.Shapes { return quorum.Shapes{Working: one} }},
		{"other", all.Other, func(one []string) quorum.Shapes { return quorum.Shapes{Other: one} }},
	} {
		for i := range list.shapes {
			r.checkShape(
				fmt.Sprintf("%s.%s[%d]", key, list.name, i),
				list.only(list.shapes[i:i+1]),
				"write the whole line, in small letters and without Markdown; coordinator classify prints the row for a text",
			)
		}
	}
	for i, n := range all.Notices {
		at := fmt.Sprintf("%s.notices[%d]", key, i)
		if !r.brokenKeys[at+".line"] && !r.brokenKeys[at+".marker"] && !r.brokenKeys[at+".outcome"] && !r.brokenKeys[at+".reason"] {
			r.checkShape(at, quorum.Shapes{Notices: []quorum.NoticeShape{n}}, "write {line: …, outcome: …, reason: …}, as in docs/policy.md")
		}
	}
}

// checkShape refuses the one shape that stands at key, if it could be read at all.
func (r policyResolver) checkShape(key string, one quorum.Shapes, hint string) {
	if r.brokenKeys[key] {
		return
	}
	if err := review.CheckShapes(one); err != nil {
		_, what, _ := strings.Cut(err.Error(), ": ") // the list stands in the key
		r.failKey(key, cleanText(what, 200), hint)
	}
}
