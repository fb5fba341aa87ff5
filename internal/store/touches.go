package store

// The touches of a key, as lines of one text: a poke adds a line, a claim hands out the lines of several looks.

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// addTouches adds touches to a text of them. One that cannot be kept as one line of a bounded text becomes [Any]: a
// look too many is cheaper than one too few. It leaves of the others those that must be kept.
func addTouches(text string, touches ...string) string {
	for _, touch := range touches {
		if touch == "" || strings.ContainsAny(touch, "\n\x00") || !utf8.ValidString(touch) {
			touch = Any
		}
		all := splitTouches(text)
		if slices.Contains(all, touch) {
			continue
		}
		all = append(all, touch)
		if text = strings.Join(all, "\n"); !slices.Contains(all, Any) && len(text) <= MaxTouches {
			continue
		}
		text = Any
		for _, t := range all {
			if strings.HasPrefix(t, Kept) && len(text)+1+len(t) <= MaxTouches {
				text += "\n" + t
			}
		}
	}
	return text
}

func splitTouches(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
