package store

// The touches of a key, as lines of one text: a poke adds a line, a claim hands out the lines of several looks.

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// addTouch adds a touch to a text of touches. A touch that cannot be kept as one line of a bounded text becomes [Any]:
// a look too many is cheaper than one too few.
func addTouch(text, touch string) string {
	if touch == "" || touch == Any || text == Any || strings.ContainsAny(touch, "\n\x00") || !utf8.ValidString(touch) {
		return Any
	}
	if slices.Contains(splitTouches(text), touch) {
		return text
	}
	if text != "" {
		touch = text + "\n" + touch
	}
	if len(touch) > MaxTouches {
		return Any
	}
	return touch
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
