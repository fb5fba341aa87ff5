//go:build !action

package main

// The first thing that a maintainer sees. One story, told live: line by line what happens, below it the check as it
// stands. Rules of this screen: nothing blinks, nothing is shown that the check would not show, every line can be read
// aloud, and without a terminal, or with NO_COLOR, the same words come as plain lines.

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

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/story"
)

//go:embed demo.txt
var demoScenario []byte

type demoCmd struct {
	Once  bool          `help:"End with the story. Without this the dashboard stays until Ctrl-C."`
	Speed string        `help:"Story seconds per second: ${default} tells it in about forty seconds; max waits for nothing." default:"16" placeholder:"N"`
	Stay  time.Duration `help:"Let the board live on for so long, at once, before it stays: for tests." hidden:""`

	Patience time.Duration                 `help:"How long to wait for the daemon without a sign of it: for tests." hidden:"" default:"20s"`
	Table    func(store.Store) store.Store `kong:"-"` // puts another table in the place of the daemon's, in tests; may be nil
}

// Run tells the story, and stays.
func (cmd demoCmd) Run(ctx context.Context, c *command) error {
	speed, err := strconv.ParseFloat(cmd.Speed, 64)
	switch {
	case cmd.Speed == "max":
		speed = 0
	case err != nil || !(speed >= 0 && speed <= 10_000):
		return usageError(
			fmt.Errorf("--speed %s: it is a number of story seconds per second, or max", oneLine(cmd.Speed)),
			"coordinator demo --speed 16",
		)
	}
	s, err := story.Parse("demo.txt", demoScenario)
	if err != nil {
		return fmt.Errorf("read the demo's story: %w", err) // unreachable: a test plays it
	}
	begin, board := story.Begin, []boardStory(nil)
	if !cmd.Once { // nobody is told where the dashboard is
		begin = begin.Add(-boardLead)
		if board, err = boardStories(); err != nil {
			return err
		}
	}
	clock := newStoryClock(begin, speed)
	if c.Clock != nil {
		c.Clock(clock)
	}
	st := newDemoScreen(c, speed > 0)
	st.now = clock.Now
	d, err := openDemo(ctx, c, s, clock, board, st.updateCheck)
	defer d.close()
	if err != nil {
		return err
	}
	d.patience = cmd.Patience
	if cmd.Table != nil {
		d.server.daemon.Store = cmd.Table(d.server.store)
	}
	st.findingOf = d.firstFinding
	address := ""
	if !cmd.Once {
		address = d.dashboardURL()
	}
	st.printHeader(s.Title, address)
	defer st.restoreCursor()
	err = d.runDaemon(ctx, func(ctx context.Context) error {
		if err := st.playStory(ctx, d); err != nil {
			return err
		}
		if err := d.advanceStory(ctx, cmd.Stay); err != nil {
			return err
		}
		st.printClosing(address)
		if address == "" {
			return nil
		}
		return d.runInRealTime(ctx)
	})
	if err != nil && ctx.Err() != nil {
		return context.Canceled
	}
	return err
}

// playStory plays the story and shows it as it happens.
func (st *demoScreen) playStory(ctx context.Context, d *demo) error {
	if st.drawsInPlace {
		defer st.animateCheck(ctx)()
	}
	err := d.playStory(ctx, story.Audience{Happened: st.printNarration, Wrote: st.printEntry})
	if err == nil && st.drawsInPlace {
		err = sleepFor(ctx, time.Second) // leave time to read the last line
	}
	return err
}

func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// demoScreen prints lines that stay and, in a terminal, the check below them, which is redrawn whenever it changes.
type demoScreen struct {
	w            io.Writer
	color        bool
	drawsInPlace bool // the check is drawn in place
	width        int
	now          func() time.Time

	findingOf func(head, reviewer string) string // the text of a reviewer's first finding; may be nil

	mu         sync.Mutex
	summary    dashboard.Sight
	objections map[string]string // first finding by reviewer, of those that object
	hasSummary bool
	drawnLines int // how many lines the check takes on the screen
	lastDrawn  string
	lastTitle  string // of the last printed check, without "until TIME"
}

func newDemoScreen(c *command, live bool) *demoScreen {
	st := &demoScreen{w: c.Stdout, color: c.Color, width: 80}
	if f, ok := c.Stdout.(*os.File); ok && term.IsTerminal(f.Fd()) {
		st.drawsInPlace = live && c.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(f.Fd()); err == nil && w > 0 {
			st.width = min(w, 96)
		}
	}
	return st
}

// The styles of the demo's screen alone.
const (
	greyStyle, cyanStyle, redStyle, greenStyle, yellowStyle textStyle = "90", "36", "31", "32", "33"
)

// paintText returns text in a style, if colours are wanted.
func (st *demoScreen) paintText(style textStyle, text string) string {
	return paintIf(st.color, style, text)
}

// printHeader prints what the story is about and where the dashboard is.
func (st *demoScreen) printHeader(title, dashboard string) {
	fmt.Fprintf(st.w, "\n%s\n", st.paintText(headingStyle, "Review coordinator"))
	for _, line := range wrapWords(title, st.width) {
		fmt.Fprintln(st.w, st.paintText(greyStyle, line))
	}
	if dashboard != "" {
		fmt.Fprintf(st.w, "\nThe dashboard is at %s\n", st.paintText(headingStyle, dashboard))
	}
	fmt.Fprintln(st.w)
	if st.drawsInPlace {
		fmt.Fprint(st.w, "\x1b[?25l") // no cursor
	}
}

func (st *demoScreen) restoreCursor() {
	if st.drawsInPlace {
		fmt.Fprint(st.w, "\x1b[?25h")
	}
}

// printNarration prints what the narrator says. Other events of the story need no words: their effect is shown.
func (st *demoScreen) printNarration(at time.Duration, what string) {
	if _, words, found := strings.Cut(what, "narrator says "); found {
		words = strings.TrimSuffix(strings.TrimPrefix(words, `"`), `"`)
		st.printLine(at, "  ", strings.ReplaceAll(words, `\"`, `"`), plainStyle)
	}
}

// printEntry prints a rerun or a change of the check that the coordinator wrote to GitHub.
func (st *demoScreen) printEntry(e story.Entry) {
	if e.Kind == story.EntryReran {
		st.printLine(e.At, "↻ ", "The coordinator runs "+e.Text+" again: once, and only because that can help.", cyanStyle)
	}
	if e.Kind != story.EntryChecked {
		return
	}
	switch e.Conclusion {
	case "success":
		st.printLine(e.At, "✓ ", "The check passes: "+e.Text+".", goodStyle)
	case "failure":
		st.printLine(e.At, "✗ ", "The check fails: "+e.Text+".", caretStyle)
	case "action_required":
		st.printLine(e.At, "! ", "The check asks for a person: "+e.Text+".", warningStyle)
	case "cancelled":
		st.printLine(e.At, "– ", "The old commit's check ends: "+e.Text+".", greyStyle)
	default:
		if !st.drawsInPlace && st.titleChanged(e.Text) { // in place, the check below shows it
			st.printLine(e.At, "● ", e.Text, greyStyle)
		}
	}
}

// titleChanged reports whether a title differs from the last one in more than the time after "until".
func (st *demoScreen) titleChanged(title string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	title, _, _ = strings.Cut(title, " until ")
	old := st.lastTitle
	st.lastTitle = title
	return title != old
}

func (st *demoScreen) updateCheck(s dashboard.Sight) {
	says := map[string]string{}
	for _, l := range s.Lanes {
		if l.Vote == quorum.Object.String() && st.findingOf != nil {
			says[l.Name] = st.findingOf(s.Head, l.Name)
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.summary, st.objections, st.hasSummary = s, says, true
	st.drawCheck()
}

// printLine prints a line above the check.
func (st *demoScreen) printLine(at time.Duration, sign, words string, style textStyle) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.eraseCheck()
	clock := story.Begin.Add(at).Format("15:04:05")
	lines := wrapWords(words, st.width-14)
	for i, line := range lines {
		lead := st.paintText(greyStyle, clock) + "  " + st.paintText(style, sign)
		if i > 0 {
			lead = strings.Repeat(" ", 12)
		}
		fmt.Fprintf(st.w, "%s%s\n", lead, st.paintText(style, line))
	}
	st.drawCheck()
}

// wrapWords breaks words into lines of at most width columns.
func wrapWords(text string, width int) []string {
	return strings.Split(ansi.Wordwrap(text, max(width, 20), ""), "\n")
}

// eraseCheck removes the check from the screen.
func (st *demoScreen) eraseCheck() {
	if st.drawnLines > 0 {
		fmt.Fprintf(st.w, "\x1b[%dA\x1b[J", st.drawnLines)
	}
	st.drawnLines, st.lastDrawn = 0, ""
}

// drawCheck draws the check below the lines, if it has changed.
func (st *demoScreen) drawCheck() {
	if !st.drawsInPlace || !st.hasSummary {
		return
	}
	box := st.renderCheck()
	if box == st.lastDrawn {
		return
	}
	st.eraseCheck()
	fmt.Fprint(st.w, box)
	st.drawnLines, st.lastDrawn = strings.Count(box, "\n"), box
}

// animateCheck redraws the check four times a second, so that its clock runs.
func (st *demoScreen) animateCheck(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleepFor(ctx, 250*time.Millisecond) == nil {
			st.mu.Lock()
			st.drawCheck()
			st.mu.Unlock()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// renderCheck renders the check in a box: its title, a line for each reviewer, and what comes next.
func (st *demoScreen) renderCheck() string {
	s := st.summary
	sign, tint := "●", yellowStyle
	switch s.Conclusion {
	case "success":
		sign, tint = "✓", greenStyle
	case "failure":
		sign, tint = "✗", redStyle
	case "action_required":
		sign = "!"
	case "":
		tint = cyanStyle
	}
	inner := st.width - 6
	lines := []string{
		st.paintText(headingStyle, s.Check) + st.paintText(
			greyStyle,
			"   "+s.PR+" at "+s.Head[:min(len(s.Head), 7)],
		),
		"",
	}
	for i, line := range wrapWords(s.Says, inner-2) {
		lead := sign + " "
		if i > 0 {
			lead = "  "
		}
		lines = append(lines, st.paintText("1;"+tint, clipText(lead+line, inner)))
	}
	lines = append(lines, "")
	for _, l := range s.Lanes {
		lines = append(lines, st.renderReviewer(l, inner))
	}
	lines = append(lines, "", st.paintText(greyStyle, clipText(st.describeNext(), inner)))
	var box strings.Builder
	edge, rule := st.paintText(tint, "│"), strings.Repeat("─", st.width-2)
	fmt.Fprintln(&box, "\n"+st.paintText(tint, "╭"+rule+"╮"))
	for _, line := range lines {
		fmt.Fprintf(&box, "%s  %s%s  %s\n", edge, line, strings.Repeat(" ", max(inner-ansi.StringWidth(line), 0)), edge)
	}
	fmt.Fprintln(&box, st.paintText(tint, "╰"+rule+"╯"))
	return box.String()
}

// renderReviewer renders a reviewer's line: its vote and why.
func (st *demoScreen) renderReviewer(l dashboard.ReviewerLine, width int) string {
	sign, tint, word := "…", greyStyle, "pending"
	switch l.Vote {
	case quorum.Approve.String():
		sign, tint, word = "✓", greenStyle, "approves"
	case quorum.Object.String():
		sign, tint, word = "✗", redStyle, "objects"
	case quorum.Unavailable.String():
		sign, tint, word = "–", yellowStyle, "unavailable"
	}
	why := l.Why
	if said := st.objections[l.Name]; said != "" {
		why = said
	}
	return fmt.Sprintf("%-10s%s  %s", l.Name, st.paintText(tint, fmt.Sprintf("%s %-11s", sign, word)),
		st.paintText(greyStyle, clipText(why, width-26)))
}

// describeNext says what happens next and when: a grace that ends, a rerun, a deadline.
func (st *demoScreen) describeNext() string {
	s, now := st.summary, st.now()
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

func clipText(text string, width int) string { return ansi.Truncate(text, max(width, 8), "…") }

// printClosing ends the drawing and prints what to do next and where the dashboard is. Later changes are seen only
// there.
func (st *demoScreen) printClosing(dashboard string) {
	st.restoreCursor()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.drawsInPlace = false
	fmt.Fprintln(st.w)
	for _, line := range wrapWords("A green run was not taken for a review. An outage cost one rerun and no merge. A late objection was heard, "+
		"and a new commit had to earn its own pass.", st.width) {
		fmt.Fprintln(st.w, line)
	}
	fmt.Fprintf(st.w, "\nNext, in a clone of your own repository:\n\n  %s  a token that may read it\n  %s  %s\n\n",
		st.paintText(headingStyle, "export GITHUB_TOKEN=$(gh auth token)"),
		st.paintText(headingStyle, fmt.Sprintf("%-36s", "coordinator init")), "writes the files; says what comes next")
	if dashboard != "" {
		fmt.Fprintf(st.w, "The dashboard stays at %s until you press Ctrl-C.\n", st.paintText(headingStyle, dashboard))
	}
}
