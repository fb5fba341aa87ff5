package config

// The shapes that a policy brings for a reviewer: sentences in the form of a vendor's file, for a vendor that the
// program does not know, or for a form that its preset does not know yet.

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// quorumShapes returns s as the core's shapes, whose lists have the same names.
func (s ShapesKeys) quorumShapes() (all quorum.Shapes) {
	for field, list := range reflect.ValueOf(s).Fields() {
		texts, isTexts := list.Interface().([]ShapeText)
		if !isTexts {
			continue
		}
		reflect.ValueOf(&all).Elem().FieldByName(field.Name).Set(reflect.ValueOf(textsOf(texts)))
	}
	for _, n := range s.Notices {
		got := quorum.NoticeShape{Line: string(n.Line), Marker: n.Marker, Reason: quorum.Reason(n.Reason)}
		_ = got.Outcome.UnmarshalText([]byte(n.Outcome)) // a word that is no outcome was reported where it was read
		all.Notices = append(all.Notices, got)
	}
	return all
}

// checkShapes refuses shapes that package review cannot use, each at its place, and shapes that nobody would read.
func (r policyResolver) checkShapes(key string, e ReviewerKeys, q quorum.Reviewer) {
	key += ".shapes"
	if !r.hasKey(key) || r.brokenKeys[key] {
		return
	}
	if !review.ReadsShapes(q.Verdict.Kind) {
		r.failKey(key, "shapes are sentences, and this reviewer's verdict is not read from any",
			"remove shapes, or write verdict: auto, findings or review-state")
		return
	}
	for field, list := range reflect.ValueOf(e.Shapes).Fields() {
		hint := "write the whole line, in small letters and without Markdown; coordinator classify prints the row for a text"
		if field.Name == "Notices" {
			hint = "write {line: …, outcome: …, reason: …}, as in docs/policy.md"
		}
		for i := range list.Len() {
			var one ShapesKeys
			reflect.ValueOf(&one).Elem().FieldByIndex(field.Index).Set(list.Slice(i, i+1))
			at := fmt.Sprintf("%s.%s[%d]", key, field.Tag.Get("yaml"), i)
			err := review.CheckShapes(one.quorumShapes())
			if err != nil && !r.anyBroken(at, "", ".line", ".marker", ".outcome", ".reason") {
				_, what, _ := strings.Cut(err.Error(), ": ") // the list stands in the key
				r.failKey(at, cleanText(what, 200), hint)
			}
		}
	}
}
