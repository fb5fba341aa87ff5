package main

// The first thing that a maintainer sees. One story, told live: line by line what happens, below it the check as it stands.
// Rules of this screen: nothing blinks, nothing is shown that the check would not show, every line can be read aloud,
// and without a terminal, or with NO_COLOR, the same words come as plain lines.

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

//go:embed demo.txt
var demoScenario []byte

type demoCmd struct {
	Once  bool   `help:"End with the story, as it does without this too."`
	Speed string `default:"16" help:"Story seconds per second: ${default} tells it in about forty seconds; max waits for nothing." placeholder:"N"`
}

// Help is shown by coordinator demo --help.
func (demoCmd) Help() string {
	return `A pull request on a bad day, told live: an outage, a rerun, a late reviewer, an objection, and the push that mends it.
The coordinator that you see is the real one; only its GitHub is in memory. It needs no account and no network.

Examples:

  coordinator demo
  coordinator demo --once --speed max`
}

// Run tells the story.
func (cmd demoCmd) Run(ctx context.Context, c *command) error {
	speed, err := strconv.ParseFloat(cmd.Speed, 64)
	switch {
	case cmd.Speed == "max":
		speed = 0
	case err != nil || speed < 0 || speed > 10_000:
		return usage(fmt.Errorf("--speed %s: it is a number of story seconds per second, or max", cmd.Speed), "coordinator demo --speed 16")
	}
	s, err := sandbox.Parse("demo.txt", demoScenario)
	if err != nil {
		return fmt.Errorf("read the demo's story: %w", err) // unreachable: a test plays it
	}
	st := newStage(c, speed > 0)
	st.open(s.Title)
	defer st.close()
	audience := sandbox.Audience{Happened: st.happened, Wrote: st.wrote, Looked: st.looked}
	if speed == 0 {
		_, err = s.Step(ctx, audience)
	} else {
		began := time.Now()
		st.now = func() time.Time {
			return sandbox.Begin.Add(time.Duration(float64(time.Since(began)) * speed))
		}
		stop := st.animate(ctx)
		_, err = s.Live(ctx, sandbox.Clock{Now: st.now, Sleep: func(ctx context.Context, d time.Duration) error {
			return pause(ctx, time.Duration(float64(d)/speed))
		}}, audience)
		if err == nil {
			err = pause(ctx, time.Second) // the last line wants to be seen
		}
		stop()
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Canceled
		}
		return err
	}
	st.end()
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// stage is the screen: lines that stay, and in a terminal the check below them, drawn anew whenever it changes.
type stage struct {
	w     io.Writer
	color bool
	draws bool // the check is drawn in place
	width int
	now   func() time.Time

	mu    sync.Mutex
	look  loop.Look
	seen  bool
	drawn int // lines of the check on the screen
	last  string
	title string // the last that was told, without its time
}

func newStage(c *command, live bool) *stage {
	st := &stage{w: c.Stdout, color: c.Color, width: 80}
	if f, ok := c.Stdout.(*os.File); ok && term.IsTerminal(f.Fd()) {
		st.draws = live && c.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(f.Fd()); err == nil && w > 0 {
			st.width = min(w, 96)
		}
	}
	return st
}

// Colours that are readable on dark and on light.
var (
	green  = lipgloss.Color("2")
	red    = lipgloss.Color("1")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
	grey   = lipgloss.Color("8")
)

func (st *stage) style() lipgloss.Style { return lipgloss.NewStyle() }

// paint gives text a style, if colours are wanted.
func (st *stage) paint(style lipgloss.Style, text string) string {
	if !st.color {
		return text
	}
	return style.Render(text)
}

func (st *stage) open(title string) {
	fmt.Fprintf(st.w, "\n%s\n", st.paint(st.style().Bold(true), "Review coordinator"))
	for _, line := range wrapped(title, st.width) {
		fmt.Fprintln(st.w, st.paint(st.style().Foreground(grey), line))
	}
	fmt.Fprintln(st.w)
	if st.draws {
		fmt.Fprint(st.w, "\x1b[?25l") // no cursor
	}
}

func (st *stage) close() {
	if st.draws {
		fmt.Fprint(st.w, "\x1b[?25h")
	}
}

// happened tells what the narrator says; what else happens speaks for itself.
func (st *stage) happened(at time.Duration, what string) {
	if _, words, found := strings.Cut(what, "narrator says "); found {
		words = strings.TrimSuffix(strings.TrimPrefix(words, `"`), `"`)
		st.say(at, "  ", strings.ReplaceAll(words, `\"`, `"`), st.style())
	}
}

// wrote tells what the coordinator does.
func (st *stage) wrote(e sandbox.Entry) {
	switch e.Kind {
	case sandbox.Reran:
		st.say(e.At, "↻ ", fmt.Sprintf("The coordinator runs %s again: once, and only because that can help.", e.Text), st.style().Foreground(cyan))
	case sandbox.Checked:
		state := e.Conclusion
		switch {
		case state == "success":
			st.say(e.At, "✓ ", "The check passes: "+e.Text+".", st.style().Foreground(green).Bold(true))
		case state == "failure":
			st.say(e.At, "✗ ", "The check fails: "+e.Text+".", st.style().Foreground(red).Bold(true))
		case state == "action_required":
			st.say(e.At, "! ", "The check asks for a person: "+e.Text+".", st.style().Foreground(yellow).Bold(true))
		case state == "cancelled":
			st.say(e.At, "– ", "The old commit's check ends: "+e.Text+".", st.style().Foreground(grey))
		case st.draws: // it is seen to change
		case st.fresh(e.Text):
			st.say(e.At, "● ", e.Text, st.style().Foreground(grey))
		}
	case sandbox.Asked, sandbox.Cancelled, sandbox.Annotated, sandbox.Stated, sandbox.GaveUp:
	}
}

// fresh reports whether a title says more than another time until which it waits.
func (st *stage) fresh(title string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	title, _, _ = strings.Cut(title, " until ")
	old := st.title
	st.title = title
	return title != old
}

func (st *stage) looked(l loop.Look) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.look, st.seen = l, true
	st.draw()
}

// say adds a line that stays.
func (st *stage) say(at time.Duration, sign, words string, style lipgloss.Style) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.erase()
	clock := sandbox.Begin.Add(at).Format("15:04:05")
	lines := wrapped(words, st.width-14)
	for i, line := range lines {
		lead := st.paint(st.style().Foreground(grey), clock) + "  " + st.paint(style, sign)
		if i > 0 {
			lead = strings.Repeat(" ", 12)
		}
		fmt.Fprintf(st.w, "%s%s\n", lead, st.paint(style, line))
	}
	st.draw()
}

// wrapped breaks words into lines of at most width characters.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > max(width, 20) {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// erase takes the check off the screen.
func (st *stage) erase() {
	if st.drawn > 0 {
		fmt.Fprintf(st.w, "\x1b[%dA\x1b[J", st.drawn)
	}
	st.drawn, st.last = 0, ""
}

// draw puts the check below the lines, if it reads differently.
func (st *stage) draw() {
	if !st.draws || !st.seen {
		return
	}
	box := st.box()
	if box == st.last {
		return
	}
	st.erase()
	fmt.Fprint(st.w, box)
	st.drawn, st.last = strings.Count(box, "\n"), box
}

// animate redraws the check, so that its clock is seen to run.
func (st *stage) animate(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, 250*time.Millisecond) == nil {
			st.mu.Lock()
			st.draw()
			st.mu.Unlock()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// box is the check as it stands: its title, a line for each reviewer, and what comes next.
func (st *stage) box() string {
	d, c := st.look.Decision, st.look.Check
	sign, tint := "●", yellow
	switch c.Conclusion {
	case "success":
		sign, tint = "✓", green
	case "failure":
		sign, tint = "✗", red
	case "action_required":
		sign = "!"
	case "":
		tint = cyan
	}
	inner := st.width - 6
	lines := []string{
		st.paint(st.style().Bold(true), c.Name) + st.paint(st.style().Foreground(grey), "   #"+strconv.Itoa(d.PR.Number)+" at "+d.Head[:min(len(d.Head), 7)]),
		"",
	}
	for i, line := range wrapped(c.Title, inner-2) {
		lead := sign + " "
		if i > 0 {
			lead = "  "
		}
		lines = append(lines, st.paint(st.style().Foreground(tint).Bold(true), clipped(lead+line, inner)))
	}
	lines = append(lines, "")
	for _, b := range d.Ballots {
		lines = append(lines, st.row(b, inner))
	}
	lines = append(lines, "", st.paint(st.style().Foreground(grey), clipped(st.next(), inner)))
	border := st.style().Border(lipgloss.RoundedBorder()).Padding(0, 2).Width(st.width)
	if st.color {
		border = border.BorderForeground(tint)
	}
	return "\n" + border.Render(strings.Join(lines, "\n")) + "\n"
}

// row is a reviewer with its vote.
func (st *stage) row(b quorum.Ballot, width int) string {
	sign, tint, word := "…", grey, "pending"
	switch b.Vote {
	case quorum.Approve:
		sign, tint, word = "✓", green, "approves"
	case quorum.Object:
		sign, tint, word = "✗", red, "objects"
	case quorum.Unavailable:
		sign, tint, word = "–", yellow, "unavailable"
	case quorum.Pending:
	}
	why := report.Sentence(b.Reason)
	switch {
	case b.Vote == quorum.Object && len(b.Findings) > 0:
		why = b.Findings[0].Body
	case b.Retrying:
		why += " — retrying once"
	case b.Vote == quorum.Approve && b.Retried:
		why = "it approves (retry succeeded)"
	}
	return fmt.Sprintf("%-10s%s  %s", b.Reviewer, st.paint(st.style().Foreground(tint), fmt.Sprintf("%s %-11s", sign, word)),
		st.paint(st.style().Foreground(grey), clipped(why, width-26)))
}

// next is what comes next, and when.
func (st *stage) next() string {
	d, now := st.look.Decision, st.now()
	clock := now.Format("15:04:05")
	left := func(t time.Time) string { return max(t.Sub(now), 0).Truncate(time.Second).String() }
	switch {
	case !d.GraceEnd.IsZero():
		return fmt.Sprintf("%s  the quorum stands; it passes in %s unless somebody objects", clock, left(d.GraceEnd))
	case d.Verdict == quorum.Passed:
		return clock + "  until something new speaks against it"
	case d.Verdict == quorum.Blocked:
		return clock + "  until the objection is answered"
	}
	for _, b := range d.Ballots {
		for _, a := range b.Next {
			if b.Vote == quorum.Pending && a.Kind == quorum.Rerun && a.Due.After(now) {
				return fmt.Sprintf("%s  %s is run again in %s", clock, b.Reviewer, left(a.Due))
			}
		}
	}
	if !d.Wake.IsZero() {
		return fmt.Sprintf("%s  it always ends: the next deadline is in %s", clock, left(d.Wake))
	}
	return clock
}

func clipped(text string, width int) string {
	if r := []rune(text); len(r) > max(width, 8) {
		return string(r[:max(width, 8)-1]) + "…"
	}
	return text
}

// end says what to do next.
func (st *stage) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	fmt.Fprintln(st.w)
	for _, line := range wrapped("A green run was not taken for a review. An outage cost one rerun and no merge. A late objection was heard, "+
		"and a new commit had to earn its own pass.", st.width) {
		fmt.Fprintln(st.w, line)
	}
	fmt.Fprint(st.w, "\nNext, for your own repository:\n\n")
	for _, step := range [][2]string{
		{"docs/policy.md", "write .github/review-coordinator.yml"},
		{"coordinator config check", "see whether it says what you mean"},
		{"coordinator simulate FILE", "play your own bad day (docs/scenarios.md)"},
		{"README.md", "let a job post the check: coordinator run --wait"},
	} {
		fmt.Fprintf(st.w, "  %s  %s\n", st.paint(st.style().Bold(true), fmt.Sprintf("%-25s", step[0])), step[1])
	}
	fmt.Fprintln(st.w)
}
