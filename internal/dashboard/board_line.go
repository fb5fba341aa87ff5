package dashboard

// The timeline of a cycle as SVG. Places along the time are percentages, so that it fits any width while its text keeps
// its size, and no style attribute is needed, which the page's policy would refuse.
//
// A deadline an hour away would squeeze what happened in the first minutes into nothing. So the scale has two parts
// where it must: up to the focus it is even, and beyond a visible fold the rest of the time is pressed into what is
// left. Both parts are even, so that board.js can move what moves with the same arithmetic.

import (
	"fmt"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	maxLanes    = 32
	maxAttempts = 12 // of a lane: the newest ones
	foldAt      = 80 // where the scale folds, if it does, in percent
)

// A boardLine is a timeline.
type boardLine struct {
	Label  string   // what it shows, in a sentence
	Told   []string // what it shows, as a list for those who cannot see it
	Class  string   // mini, normal, large
	Mini   bool
	Moving bool   // there is a line that shows now
	Scale  string // start, focus and end in milliseconds and the place of the focus in percent, for board.js
	Head   int    // rows of marks above the lanes
	Lanes  []boardLane
	Ticks  []boardTick
	Marks  []boardTick // with words above the lanes: grace, deadline
	Grace  *boardBar   // the window in which a reached quorum waits for the rest
	Fold   string      // where the scale folds
	Now    string
	// Heights in pixels.
	Height, Top, Bottom, Tall, Text int
}

// A boardLane is a reviewer's lane.
type boardLane struct {
	Name           string
	Mark           boardMark
	Shadow         bool
	Y, Mid         int // top and middle
	BarY, BarH     int
	Bars           []boardBar
	Track          *boardBar // until when the reviewer is waited for
	Rerun          *boardBar
	Vote           *boardTick
	PinR           int // radius of a pin
	IconAt, IconBy int // of the sign in it
}

// A boardBar is a stretch of time.
type boardBar struct {
	X, W, End string
	From      int64 // of what runs: milliseconds since 1970
	Running   bool
	Pin       bool // it shows at its end what it came to
	Name      string
	Tip       string
	Mark      boardMark
}

// A boardTick is a moment.
type boardTick struct {
	X, Text, Anchor string
	Class           string
	Y               int
	Tip             string
	Mark            boardMark
	when            time.Time
}

// A boardScale places moments.
type boardScale struct {
	start, focus, end time.Time
	fold              float64 // percent
}

func (s boardScale) at(t time.Time) float64 {
	switch {
	case t.Before(s.start):
		return 0
	case !t.After(s.focus):
		return s.fold * float64(t.Sub(s.start)) / float64(s.focus.Sub(s.start))
	case t.Before(s.end):
		return s.fold + (100-s.fold)*float64(t.Sub(s.focus))/float64(s.end.Sub(s.focus))
	default:
		return 100
	}
}

func (s boardScale) x(t time.Time) string { return percent(s.at(t)) }

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }

// drawLine draws a sight's cycle; nil if it has none.
func drawLine(s Sight, now time.Time, size boardSize) *boardLine {
	if s.Start.IsZero() || len(s.Lanes) == 0 {
		return nil
	}
	live := s.Verdict == quorum.Waiting.String() && !s.Draft
	moving := live || size != sizeMini && runsOn(s, now)
	scale := scaleOf(s, now, live, moving)
	l := &boardLine{Mini: size == sizeMini, Moving: moving, Label: labelOf(s, now)}
	l.Scale = fmt.Sprintf("%d %d %d %g", scale.start.UnixMilli(), scale.focus.UnixMilli(), scale.end.UnixMilli(), scale.fold)
	if moving {
		l.Now = scale.x(now)
	}
	lane, bar, pin := 0, 0, 0
	switch size {
	case sizeMini:
		l.Class, lane, bar, pin = "mini", 9, 4, 3
	case sizeLarge:
		l.Class, lane, bar, pin = "large", 42, 20, 10
	default:
		l.Class, lane, bar, pin = "normal", 26, 10, 7
	}
	if !l.Mini {
		l.mark(s, scale, live)
		l.Ticks = ticksOf(scale)
		for i := range l.Ticks {
			if d := scale.at(l.Ticks[i].when) - scale.at(now); moving && d > -5 && d < 5 {
				l.Ticks[i].Class += " under" // now stands there
			}
		}
		if scale.focus.Before(scale.end) {
			l.Fold = percent(scale.fold)
		}
	}
	l.Top = 16 * l.Head
	for i, r := range s.Lanes {
		if i == maxLanes {
			break
		}
		d := drawLane(s, r, scale, now, live, size)
		d.Y = l.Top + i*lane
		d.Mid, d.BarY, d.BarH, d.PinR = d.Y+lane/2, d.Y+(lane-bar)/2, bar, pin
		d.IconAt, d.IconBy = -pin*3/4, pin*3/2
		l.Lanes = append(l.Lanes, d)
	}
	l.Bottom = l.Top + len(l.Lanes)*lane
	l.Height, l.Tall, l.Text = l.Bottom, l.Bottom-l.Top, l.Bottom+14
	if !l.Mini {
		l.Height += 20
	}
	if s.Verdict == quorum.Waiting.String() || size != sizeMini {
		l.Told = toldOf(s, now)
	}
	return l
}

// runsOn reports whether something still happens in a cycle that is not waited for.
func runsOn(s Sight, now time.Time) bool {
	if s.Draft || s.Verdict == quorum.Ended.String() {
		return false
	}
	for _, l := range s.Lanes {
		if l.RerunAt.After(now) {
			return true
		}
		for _, a := range l.Attempts {
			if a.End.IsZero() {
				return true
			}
		}
	}
	return false
}

// scaleOf finds a scale on which everything that happened is wide enough to see.
func scaleOf(s Sight, now time.Time, live, moving bool) boardScale {
	scale := boardScale{start: s.Start, fold: 100}
	last, far := s.Start, time.Time{}
	reach := func(t time.Time) { last = laterTime(last, t) }
	for _, l := range s.Lanes {
		reach(l.VotedAt)
		for _, a := range newest(l.Attempts) {
			if a.Start.Before(scale.start) && !a.Start.IsZero() {
				scale.start = a.Start
			}
			reach(a.Start)
			reach(a.End)
		}
		if moving && l.RerunAt.After(now) {
			reach(l.RerunAt.Add(rerunLength(l)))
		}
		if l.Vote == quorum.Pending.String() && live {
			far = laterTime(far, l.Deadline)
		}
	}
	switch {
	case live:
		reach(s.GraceEnd)
		reach(now)
		far = laterTime(far, s.Deadline)
	case moving:
		reach(now)
	}
	span := max(last.Sub(scale.start), 20*time.Second)
	scale.focus = scale.start.Add(span + span/10)
	scale.end = scale.focus
	switch beyond := far.Sub(scale.focus); {
	case beyond <= 0: // nothing lies beyond
	case beyond <= span*2/3:
		scale.focus, scale.end = far, far
	default:
		scale.end, scale.fold = far, foldAt
	}
	return scale
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// rerunLength is about how long a planned attempt will take: as long as the last one.
func rerunLength(l ReviewerLine) time.Duration {
	length := time.Minute
	for _, a := range l.Attempts {
		if a.End.After(a.Start) {
			length = a.End.Sub(a.Start)
		}
	}
	return min(length, 30*time.Minute)
}

// mark places what concerns all lanes: the grace window and the deadline, with their words above.
func (l *boardLine) mark(s Sight, scale boardScale, live bool) {
	ends := s.GraceEnd
	if !ends.IsZero() {
		from := s.GraceFrom
		if from.IsZero() || from.After(ends) {
			from = ends
		}
		a, b := scale.at(from), scale.at(ends)
		l.Grace = &boardBar{X: percent(a), W: percent(b - a), End: percent(b), Tip: "grace until " + ends.UTC().Format("15:04:05") + " UTC"}
		l.Marks = append(l.Marks, wordAt(b, "grace ends "+ends.UTC().Format("15:04:05"), "grace"))
		l.Head = 1
	}
	if live && !s.Deadline.IsZero() {
		at := scale.at(s.Deadline)
		l.Marks = append(l.Marks, wordAt(at, "deadline "+s.Deadline.UTC().Format("15:04"), "deadline"))
		l.Head = 1
		if !ends.IsZero() && at-scale.at(ends) < 50 {
			l.Head = 2 // their words would touch
		}
	}
	for i := range l.Marks {
		l.Marks[i].Y = 11
		if i == 0 && len(l.Marks) == l.Head {
			l.Marks[i].Y += 16 * (l.Head - 1)
		}
	}
}

func wordAt(at float64, text, class string) boardTick {
	t := boardTick{X: percent(at), Text: text, Class: class, Anchor: "end"}
	if at < 50 {
		t.Anchor = "start"
	}
	return t
}

func drawLane(s Sight, r ReviewerLine, scale boardScale, now time.Time, live bool, size boardSize) boardLane {
	d := boardLane{Name: boardClip(r.Name, 80), Mark: voteMark(r.Vote), Shadow: r.Shadow}
	free := s.Start // until when the lane is drawn
	shown := newest(r.Attempts)
	for i, a := range shown {
		b := drawAttempt(s, a, scale, now, live || size != sizeMini)
		end := a.End
		if a.End.IsZero() {
			end = now
		}
		free = laterTime(free, end)
		width := scale.at(end) - scale.at(a.Start)
		b.Pin = size != sizeMini && !(i == len(shown)-1 && voted(r) && near(scale, end, r.VotedAt))
		if size == sizeLarge && width > 13 {
			b.Name = b.Mark.Word
		}
		d.Bars = append(d.Bars, b)
	}
	if voted(r) {
		at := laterTime(r.VotedAt, scale.start)
		d.Vote = &boardTick{X: scale.x(at), Tip: d.Name + " " + d.Mark.Word + ", " + at.UTC().Format("15:04:05") + " UTC", Mark: d.Mark}
		free = laterTime(free, at)
	}
	if r.RerunAt.After(now) && !d.done(r) {
		from, to := scale.at(r.RerunAt), scale.at(r.RerunAt.Add(rerunLength(r)))
		d.Rerun = &boardBar{
			X:    percent(from),
			W:    percent(max(to-from, 1)),
			End:  percent(from),
			Tip:  "runs again at " + r.RerunAt.UTC().Format("15:04:05") + " UTC",
			Mark: boardMark{"runs again", "again", "busy"},
		}
	}
	if live && r.Vote == quorum.Pending.String() && r.Deadline.After(free) {
		from, to := scale.at(free), scale.at(r.Deadline)
		d.Track = &boardBar{X: percent(from), End: percent(to), Tip: "unavailable from " + r.Deadline.UTC().Format("15:04:05") + " UTC"}
	}
	return d
}

// voted reports whether a reviewer's vote has a moment to be shown at.
func voted(r ReviewerLine) bool {
	return !r.VotedAt.IsZero() && (r.Vote == quorum.Approve.String() || r.Vote == quorum.Object.String())
}

// done reports whether a rerun would be of no use any more.
func (d boardLane) done(r ReviewerLine) bool {
	return r.Vote == quorum.Approve.String() || r.Vote == quorum.Object.String()
}

// near reports whether two moments are too close for two pins.
func near(scale boardScale, a, b time.Time) bool {
	d := scale.at(a) - scale.at(b)
	return d < 4 && d > -4
}

func drawAttempt(s Sight, a AttemptBar, scale boardScale, now time.Time, moves bool) boardBar {
	from, end := laterTime(a.Start, scale.start), a.End
	b := boardBar{Mark: cameMark(a.Came)}
	if end.IsZero() {
		end = laterTime(now, from)
		b.Running = moves && !s.Draft
		b.From = from.UnixMilli()
	}
	x := scale.at(from)
	b.X, b.W, b.End = percent(x), percent(max(scale.at(end)-x, 0.6)), scale.x(end)
	b.Tip = fmt.Sprintf("attempt %d: %s, %s", a.Number, b.Mark.Word, from.UTC().Format("15:04:05"))
	if !a.End.IsZero() {
		b.Tip += "–" + a.End.UTC().Format("15:04:05")
	}
	return b
}

// newest are the attempts that are shown.
func newest(all []AttemptBar) []AttemptBar { return all[max(len(all)-maxAttempts, 0):] }

// ticksOf places the clock's round times in the even part of the scale.
func ticksOf(s boardScale) []boardTick {
	span := s.focus.Sub(s.start)
	step := 7 * 24 * time.Hour
	for _, d := range []time.Duration{
		5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 15 * time.Minute,
		30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
	} {
		if span <= 6*d {
			step = d
			break
		}
	}
	format := "15:04"
	switch {
	case step < time.Minute:
		format = "15:04:05"
	case step >= 12*time.Hour:
		format = "Jan 2 15h"
	}
	var ticks []boardTick
	for t := s.start.UTC().Truncate(step).Add(step); len(ticks) < 40 && !t.After(s.focus); t = t.Add(step) {
		at := s.at(t)
		if at < 4 || at > 96 || s.fold < 100 && at > s.fold-3 {
			continue
		}
		tick := boardTick{X: percent(at), Text: t.Format(format), when: t}
		if len(ticks)%2 == 1 {
			tick.Class = "odd" // left out where there is little room
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

func labelOf(s Sight, now time.Time) string {
	mark, _ := verdictMark(s)
	took := boardSpan(now.Sub(s.Start))
	return "Timeline of " + boardClip(s.PR, 120) + ", " + mark.Word + " after " + took + ": " + boardClip(s.Says, 300)
}

// toldOf tells a timeline to those who cannot see it.
func toldOf(s Sight, now time.Time) []string {
	told := []string{"The cycle began at " + said(s.Start, now) + "."}
	for i, l := range s.Lanes {
		if i == maxLanes {
			break
		}
		told = append(told, toldLane(l, now))
	}
	if !s.GraceEnd.IsZero() {
		told = append(told, "Grace ends at "+said(s.GraceEnd, now)+".")
	}
	if s.Verdict == quorum.Waiting.String() && !s.Deadline.IsZero() {
		told = append(told, "The deadline is at "+said(s.Deadline, now)+".")
	}
	return told
}

func toldLane(l ReviewerLine, now time.Time) string {
	parts := []string{boardClip(l.Name, 80) + " " + voteWords(l.Vote)}
	for _, a := range newest(l.Attempts) {
		text := fmt.Sprintf("attempt %d %s from %s", a.Number, cameMark(a.Came).Word, a.Start.UTC().Format("15:04:05"))
		if !a.End.IsZero() {
			text += " to " + a.End.UTC().Format("15:04:05")
		}
		parts = append(parts, text)
	}
	if l.RerunAt.After(now) {
		parts = append(parts, "runs again at "+said(l.RerunAt, now))
	}
	if l.Vote == quorum.Pending.String() && !l.Deadline.IsZero() {
		parts = append(parts, "unavailable from "+said(l.Deadline, now))
	}
	return strings.Join(parts, "; ") + "."
}

func voteWords(vote string) string {
	switch vote {
	case quorum.Approve.String(), quorum.Object.String():
		return voteMark(vote).Word
	default:
		return "is " + voteMark(vote).Word
	}
}

func said(t, now time.Time) string {
	if d := t.Sub(now); d > 24*time.Hour || d < -24*time.Hour {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}
