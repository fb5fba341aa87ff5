package dashboard

// What is wrong with a policy, as the page of a pull request shows it. Its text quotes the file, which is hostile.

import "strings"

// A boardProblem is a broken policy as it is shown.
type boardProblem struct {
	File   string
	URL    string // its page on GitHub; "" if that cannot be trusted
	Text   string // lines
	Remedy string
}

const (
	maxProblemLines = 60
	maxProblemWidth = 200
)

// showProblem words what is wrong with the policy of a sight; nil if nothing is.
func showProblem(s Sight) *boardProblem {
	p := s.Problem
	if p == nil {
		return nil
	}
	shown := &boardProblem{File: boardClip(p.File, 200), URL: safeURL(p.URL, s.URL), Remedy: boardClip(p.Remedy, 300)}
	lines := strings.Split(p.Text, "\n")
	if len(lines) > maxProblemLines {
		lines = append(lines[:maxProblemLines], "…")
	}
	for i, line := range lines {
		lines[i] = boardClip(line, maxProblemWidth)
	}
	shown.Text = strings.Join(lines, "\n")
	return shown
}
