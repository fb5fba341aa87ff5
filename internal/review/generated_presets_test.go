package review

// This file writes the texts of the presets: their shapes, with each hole filled and each choice taken.

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// presetTexts are the shapes of a preset from which texts can be written.
type presetTexts struct {
	*preset
	approving, objecting []shapeSource
}

// A shapeSource is a shape as its file writes it.
type shapeSource struct {
	source string
	counts bool // zero approves, more objects
}

func listPresetTexts() (all []presetTexts) {
	for _, name := range Presets() {
		p := presetTexts{preset: presetOf(name)}
		s := p.Shapes
		for _, source := range append(append([]string(nil), s.Approves...), s.IfSettled...) {
			p.approving = append(p.approving, shapeSource{source: source})
		}
		for _, source := range s.Counts {
			p.approving = append(p.approving, shapeSource{source: source, counts: true})
			p.objecting = append(p.objecting, shapeSource{source: source, counts: true})
		}
		for _, source := range append(append([]string(nil), s.Objects...), s.Vetoes...) {
			p.objecting = append(p.objecting, shapeSource{source: source, counts: true})
		}
		all = append(all, p)
	}
	return all
}

// presetApproval returns an approving sentence of a preset.
func (w *writer) presetApproval() approval {
	p := pickOne(w, w.presets)
	for len(p.approving) == 0 || p.Retired {
		p = pickOne(w, w.presets)
	}
	s := pickOne(w, p.approving)
	return w.presetText(p, w.fillShape(s.source, "0"), "preset")
}

// presetText returns a line of a preset as a text that its vendor may have posted.
func (w *writer) presetText(p presetTexts, line, class string) approval {
	r, _ := Preset(p.Preset)
	a := approval{class: class, lines: []string{line}, reviewer: r, kind: Comment}
	if r.Verdict.Kind == quorum.ReviewState || len(p.Marks) == 0 && w.oneIn(2) {
		a.kind, a.state = Review, "COMMENTED"
	}
	if len(p.Marks) > 0 && !p.hasMarks(line) {
		a.own = "<!-- " + p.Marks[0] + " -->"
	}
	return a
}

// inBrackets matches the innermost brackets of a shape, with choices or as text.
var inBrackets = regexp.MustCompile(`\([^()]*\)`)

// fillShape returns a line of a shape: with a random choice and random contents of its holes. count fills {count}.
func (w *writer) fillShape(source, count string) string {
	line, heading := strings.CutPrefix(source, "# ")
	for inBrackets.MatchString(line) {
		line = inBrackets.ReplaceAllStringFunc(line, func(all string) string {
			inner := all[1 : len(all)-1]
			if !strings.Contains(inner, "|") {
				return "\x01" + inner + "\x02"
			}
			return pickOne(w, strings.Split(inner, "|"))
		})
	}
	line = strings.NewReplacer("\x01", "(", "\x02", ")").Replace(line)
	for _, hole := range [...]string{"n", "some", "count", "login", "sha", "word", "duration", "any"} {
		for strings.Contains(line, "{"+hole+"}") {
			line = strings.Replace(line, "{"+hole+"}", w.fillHole(hole, count), 1)
		}
	}
	line = strings.TrimSpace(line)
	if line != "" && line[0] >= 'a' && line[0] <= 'z' {
		line = strings.ToUpper(line[:1]) + line[1:]
	}
	switch {
	case heading:
		return pickOne(w, []string{"# ", "## ", "### 🟢 "}) + line
	case w.oneIn(4):
		return "**" + line + "**"
	case w.oneIn(3):
		return line + pickOne(w, []string{".", "!", " 🎉", " ✅"})
	}
	return line
}

func (w *writer) fillHole(hole, count string) string {
	switch hole {
	case "n", "some":
		return fmt.Sprint(w.number(40))
	case "count":
		return count
	case "login":
		return pickOne(w, []string{"@octocat", "@mona"})
	case "sha":
		return fmt.Sprintf("%07x", 0x1a2b3c4+w.rnd.IntN(1<<24))
	case "word":
		return pickOne(w, []string{"high", "deep", "default"})
	case "duration":
		return pickOne(w, []string{"1m 44s", "12 seconds", "2 minutes"})
	}
	return pickOne(w, []string{" - ", " for this change "})
}
