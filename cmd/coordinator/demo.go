//go:build !action

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

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/story"
)

//go:embed demo.txt
var demoScenario []byte

type demoCmd struct {
	Once  bool   `help:"End with the story. Without this the dashboard stays until Ctrl-C."`
	Speed string `default:"16" help:"Story seconds per second: ${default} tells it in about forty seconds; max waits for nothing." placeholder:"N"`
}

// Help is shown by coordinator demo --help.
func (demoCmd) Help() string {
	return `A pull request on a bad day, told live: an outage, a rerun, a late reviewer, an objection, and the push that mends it.
The coordinator that you see is the daemon of coordinator serve, with its webhooks and its dashboard; only its GitHub is in
memory. It needs no account and no network.

It prints where the dashboard is: open it while the story is told. The time there is the story's; after the story it goes on
as fast as yours, until Ctrl-C.

Examples:

  coordinator demo
  coordinator demo --once --speed max`
}

// Run tells the story, and stays.
func (cmd demoCmd) Run(ctx context.Context, c *command) error {
	speed, err := strconv.ParseFloat(cmd.Speed, 64)
	switch {
	case cmd.Speed == "max":
		speed = 0
	case err != nil || !(speed >= 0 && speed <= 10_000):
		return usage(fmt.Errorf("--speed %s: it is a number of story seconds per second, or max", oneLine(cmd.Speed)), "coordinator demo --speed 16")
	}
	s, err := story.Parse("demo.txt", demoScenario)
	if err != nil {
		return fmt.Errorf("read the demo's story: %w", err) // unreachable: a test plays it
	}
	clock := newStoryClock(story.Begin, speed)
	st := newStage(c, speed > 0)
	st.now = clock.Now
	admin := anyPort
	if !cmd.Once {
		admin = usualPort
	}
	d, err := openDemo(ctx, c, s, clock, admin, st.looked)
	defer d.close()
	if err != nil {
		return err
	}
	st.finding = d.finding
	address := ""
	if !cmd.Once {
		address = d.dashboard()
	}
	st.open(s.Title, address)
	defer st.close()
	err = d.live(ctx, func(ctx context.Context) error {
		if err := st.tell(ctx, d); err != nil {
			return err
		}
		st.end(address)
		if address != "" {
			d.stay(ctx)
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Canceled
	}
	return err
}

// tell tells the story live.
func (st *stage) tell(ctx context.Context, d *demo) error {
	if st.draws {
		defer st.animate(ctx)()
	}
	err := d.play(ctx, story.Audience{Happened: st.happened, Wrote: st.wrote})
	if err == nil && st.draws {
		err = pause(ctx, time.Second) // the last line wants to be seen
	}
	return err
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

	finding func(head, reviewer string) string // what a reviewer objects to; may be nil

	mu    sync.Mutex
	sight dashboard.Sight
	says  map[string]string // what its reviewers object to
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

func (st *stage) open(title, dashboard string) {
	fmt.Fprintf(st.w, "\n%s\n", st.paint(st.style().Bold(true), "Review coordinator"))
	for _, line := range wrapped(title, st.width) {
		fmt.Fprintln(st.w, st.paint(st.style().Foreground(grey), line))
	}
	if dashboard != "" {
		fmt.Fprintf(st.w, "\nThe dashboard is at %s\n", st.paint(st.style().Bold(true), dashboard))
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
func (st *stage) wrote(e story.Entry) {
	switch e.Kind {
	case story.Reran:
		st.say(e.At, "↻ ", fmt.Sprintf("The coordinator runs %s again: once, and only because that can help.", e.Text), st.style().Foreground(cyan))
	case story.Checked:
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
	case story.Asked, story.Cancelled, story.Annotated, story.Stated, story.GaveUp:
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

func (st *stage) looked(s dashboard.Sight) {
	says := map[string]string{}
	for _, l := range s.Lanes {
		if l.Vote == quorum.Object.String() && st.finding != nil {
			says[l.Name] = st.finding(s.Head, l.Name)
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sight, st.says, st.seen = s, says, true
	st.draw()
}

// say adds a line that stays.
func (st *stage) say(at time.Duration, sign, words string, style lipgloss.Style) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.erase()
	clock := story.Begin.Add(at).Format("15:04:05")
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
	s := st.sight
	sign, tint := "●", yellow
	switch s.Conclusion {
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
		st.paint(st.style().Bold(true), s.Check) + st.paint(st.style().Foreground(grey), "   "+s.PR+" at "+s.Head[:min(len(s.Head), 7)]),
		"",
	}
	for i, line := range wrapped(s.Says, inner-2) {
		lead := sign + " "
		if i > 0 {
			lead = "  "
		}
		lines = append(lines, st.paint(st.style().Foreground(tint).Bold(true), clipped(lead+line, inner)))
	}
	lines = append(lines, "")
	for _, l := range s.Lanes {
		lines = append(lines, st.row(l, inner))
	}
	lines = append(lines, "", st.paint(st.style().Foreground(grey), clipped(st.next(), inner)))
	border := st.style().Border(lipgloss.RoundedBorder()).Padding(0, 2).Width(st.width)
	if st.color {
		border = border.BorderForeground(tint)
	}
	return "\n" + border.Render(strings.Join(lines, "\n")) + "\n"
}

// row is a reviewer with its vote.
func (st *stage) row(l dashboard.Lane, width int) string {
	sign, tint, word := "…", grey, "pending"
	switch l.Vote {
	case quorum.Approve.String():
		sign, tint, word = "✓", green, "approves"
	case quorum.Object.String():
		sign, tint, word = "✗", red, "objects"
	case quorum.Unavailable.String():
		sign, tint, word = "–", yellow, "unavailable"
	}
	why := l.Why
	if said := st.says[l.Name]; said != "" {
		why = said
	}
	return fmt.Sprintf("%-10s%s  %s", l.Name, st.paint(st.style().Foreground(tint), fmt.Sprintf("%s %-11s", sign, word)),
		st.paint(st.style().Foreground(grey), clipped(why, width-26)))
}

// next is what comes next, and when.
func (st *stage) next() string {
	s, now := st.sight, st.now()
	clock := now.Format("15:04:05")
	left := func(t time.Time) string { return max(t.Sub(now), 0).Truncate(time.Second).String() }
	switch {
	case !s.GraceEnd.IsZero():
		return fmt.Sprintf("%s  the quorum stands; it passes in %s unless somebody objects", clock, left(s.GraceEnd))
	case s.Verdict == quorum.Passed.String():
		return clock + "  until something new speaks against it"
	case s.Verdict == quorum.Blocked.String():
		return clock + "  until the objection is answered"
	}
	for _, l := range s.Lanes {
		if l.Vote == quorum.Pending.String() && l.RerunAt.After(now) {
			return fmt.Sprintf("%s  %s is run again in %s", clock, l.Name, left(l.RerunAt))
		}
	}
	if !s.Wake.IsZero() {
		return fmt.Sprintf("%s  it always ends: the next deadline is in %s", clock, left(s.Wake))
	}
	return clock
}

func clipped(text string, width int) string {
	if r := []rune(text); len(r) > max(width, 8) {
		return string(r[:max(width, 8)-1]) + "…"
	}
	return text
}

// end says what to do next, and where the dashboard stays. What comes later is seen there.
func (st *stage) end(dashboard string) {
	st.close()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.draws = false
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
	if dashboard != "" {
		fmt.Fprintf(st.w, "The dashboard stays at %s until you press Ctrl-C.\n", st.paint(st.style().Bold(true), dashboard))
	}
}
