package store

// The touches of a key, as lines of one text: a poke adds a line, a claim hands out the lines of several looks.

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// addTouch adds a touch to a text of touches. A touch that cannot be kept as one line of a bounded text becomes
// [Any]: a look too many is cheaper than one too few. It leaves of the others those that must be kept.
func addTouch(text, touch string) string {
	if touch == "" || strings.ContainsAny(touch, "\n\x00") || !utf8.ValidString(touch) {
		touch = Any
	}
	all := splitTouches(text)
	if slices.Contains(all, touch) {
		return text
	}
	if all = append(all, touch); !slices.Contains(all, Any) && len(strings.Join(all, "\n")) <= MaxTouches {
		return strings.Join(all, "\n")
	}
	text = Any
	for _, t := range all {
		if strings.HasPrefix(t, Kept) && len(text)+1+len(t) <= MaxTouches {
			text += "\n" + t
		}
	}
	return text
}

// mergeTouches joins two texts of touches, the older one first.
func mergeTouches(older, newer string) string {
	for _, t := range splitTouches(newer) {
		older = addTouch(older, t)
	}
	return older
}

func splitTouches(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
