package dashboard

// What is said of a pull request: a sight in the words and marks of the dashboard.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A boardMark is a state in three ways: a word, a sign and a colour. The colour alone never says anything.
type boardMark struct {
	Word string
	Icon string // of the sprite in page.html
	Tone string // a class: ok, bad, warn, busy, calm
}

// A boardCard is a pull request as it is shown.
type boardCard struct {
	ID       string // of the element: unique, and safe in a selector
	PR       string // owner/repo#7
	Repo     string // owner/repo
	Filter   string // the overview of that repository
	Number   string // #7
	Page     string // our page of it; "" if its key is odd
	URL      string // its page on GitHub; "" if that cannot be trusted
	Title    string
	Says     string
	Verdict  boardMark
	Calm     bool // nothing moves: a draft, or decided
	Next     *boardMoment
	Soon     bool // it will pass at Next
	Votes    []boardVote
	Line     *boardLine
	Said     *boardSaid // of a page of its own: what the check says
	Facts    []boardFact
	Heads    []boardHead // of a page of its own: the last ones, the newest first
	Seen     boardMoment
	Failed   string // why the last looks failed
	Attempts int    // how many of them
	rank     int    // the lower, the more it needs somebody
	since    time.Time
}

// A boardMoment is a time, with words around the distance to it, which the browser counts.
type boardMoment struct {
	Before, Words, After string
	At                   int64  // milliseconds since 1970
	ISO                  string //
	Clock                string // UTC
}

// A boardVote is a reviewer as it is shown.
type boardVote struct {
	Name     string
	Mark     boardMark
	Why      string
	Said     []boardWords // why, as the check says it; nil: Why is all there is
	Drift    string       // its answers are not understood any more
	Circuit  string       // it is not asked again yet, for its circuit is open
	URL      string
	Notes    []string // required, report only
	When     []boardFact
	Attempts []boardAttempt
}

// A boardAttempt is one attempt as it is told in words.
type boardAttempt struct {
	Number int
	Mark   boardMark
	Span   string // 09:00:08–09:01:22
	Took   string
	URL    string
}

// A boardFact is a name and what it is.
type boardFact struct {
	Name, Text string
	Moment     *boardMoment
	Code       bool
	First      bool // its name is read before what it is, as with a moment
}

type boardSize uint8

const (
	sizeMini   boardSize = 1 + iota // a sketch: a decided cycle in a list
	sizeNormal                      // a card of the overview
	sizeLarge                       // a page of its own
)

// showBoardCard words a row. A row that was never looked at, or whose sight cannot be read, says so.
func showBoardCard(row store.Row, now time.Time, size boardSize) boardCard {
	c := boardCard{ID: "pr-" + idOf(row.Key), Failed: boardClip(row.Failed, 600), Attempts: row.Attempts}
	c.locate(row.Key)
	if !row.Seen.IsZero() {
		c.Seen = momentAt(row.Seen, now)
	}
	var s Sight
	if len(row.Sight) == 0 || json.Unmarshal(row.Sight, &s) != nil {
		c.Says, c.Verdict, c.rank = "Not looked at yet", boardMark{"queued", "clock", "calm"}, 3
		return c
	}
	c.URL = safeURL(s.URL, "")
	c.Title, c.Says = boardClip(s.Title, 300), boardClip(s.Says, 400)
	c.Verdict, c.rank = verdictMark(s)
	c.Calm = s.Draft || s.Verdict != quorum.Waiting.String()
	c.since = s.Start
	c.Next, c.Soon = nextOf(s, now), !s.GraceEnd.IsZero()
	c.Line = drawLine(s, now, size)
	for i := range s.Lanes {
		if i == maxLanes {
			break
		}
		c.Votes = append(c.Votes, showVote(s, i, now))
	}
	if size == sizeLarge {
		c.Said = showSaid(s)
		c.Facts = factsOf(s, row, now)
		c.Heads = showHeads(s, now)
	}
	return c
}

// locate reads where a pull request is off its key: only what has the shape of a name becomes a part of an address of
// ours.
func (c *boardCard) locate(key string) {
	at, ok := workkey.Parse(key)
	if !ok || at.Number == 0 {
		c.PR = boardClip(key, 120)
		return
	}
	c.PR, c.Repo, c.Number = at.PR().String(), at.Owner+"/"+at.Repo, "#"+strconv.Itoa(at.Number)
	c.Page = "/pulls/" + c.Repo + "/" + strconv.Itoa(at.Number) + "?in=" + strconv.FormatInt(at.Tenant, 10)
	c.Filter = boardFilter{Group: workkey.Repo(at.Tenant, at.Owner, at.Repo)}.at("", time.Time{})
}

// verdictMark is a sight's verdict, and how much it needs somebody.
func verdictMark(s Sight) (boardMark, int) {
	switch {
	case s.Verdict == quorum.Waiting.String() && s.Draft:
		return boardMark{"draft", "dash", "calm"}, 5
	case s.Verdict == quorum.Waiting.String() && !s.GraceEnd.IsZero():
		return boardMark{"in grace", "clock", "busy"}, 1
	case s.Verdict == quorum.Waiting.String():
		return boardMark{"waiting", "clock", "busy"}, 1
	case s.Verdict == quorum.Passed.String():
		return boardMark{"passed", "check", "ok"}, 4
	case s.Verdict == quorum.Blocked.String():
		return boardMark{"blocked", "cross", "bad"}, 2
	case s.Verdict == quorum.Unverified.String():
		return boardMark{"unverified", "bang", "warn"}, 0
	case s.Verdict == quorum.Ended.String():
		return boardMark{"ended", "dash", "calm"}, 5
	default: // unreachable unless the sight is of another version; it must not read like a pass
		return boardMark{boardClip(s.Verdict, 20), "question", "warn"}, 0
	}
}

func voteMark(vote string) boardMark {
	switch vote {
	case quorum.Approve.String():
		return boardMark{"approves", "check", "ok"}
	case quorum.Object.String():
		return boardMark{"objects", "cross", "bad"}
	case quorum.Pending.String():
		return boardMark{"pending", "clock", "busy"}
	case quorum.Unavailable.String():
		return boardMark{"unavailable", "dash", "calm"}
	default: // unreachable unless the sight is of another version
		return boardMark{boardClip(vote, 20), "question", "warn"}
	}
}

// cameMark is what an attempt came to.
func cameMark(came string) boardMark {
	switch came {
	case quorum.Running.String():
		return boardMark{came, "dot", "busy"}
	case quorum.Approved.String():
		return boardMark{came, "check", "ok"}
	case quorum.Findings.String():
		return boardMark{came, "cross", "bad"}
	case quorum.Silent.String(), quorum.Declined.String(), quorum.Cancelled.String(), quorum.Withdrawn.String(), quorum.Unrelated.String():
		return boardMark{came, "dash", "calm"}
	default:
		return boardMark{boardClip(came, 30), "bang", "warn"}
	}
}

// nextOf is the moment that the reader waits for.
func nextOf(s Sight, now time.Time) *boardMoment {
	m := boardMoment{}
	switch {
	case s.Verdict != quorum.Waiting.String() || s.Draft:
		return nil
	case !s.GraceEnd.IsZero():
		m = momentAt(s.GraceEnd, now)
		m.Before = "passes"
	case !s.Deadline.IsZero():
		m = momentAt(s.Deadline, now)
		m.Before = "decided at the latest"
	default:
		return nil
	}
	return &m
}

func showVote(s Sight, lane int, now time.Time) boardVote {
	l := s.Lanes[lane]
	v := boardVote{Name: boardClip(l.Name, 80), Mark: voteMark(l.Vote), Why: boardClip(l.Why, 400), URL: safeURL(l.URL, s.URL)}
	if said, at := whyOf(s, lane); said != nil {
		v.Said, v.URL = said, at
	}
	if l.Drift != "" {
		v.Drift = v.Name + ": " + boardClip(l.Drift, 200)
	}
	if l.Circuit != "" {
		v.Circuit = v.Name + ": " + boardClip(l.Circuit, 200)
	}
	switch {
	case l.Required && l.Again:
		v.Notes = append(v.Notes, "required: it objected before")
	case l.Required:
		v.Notes = append(v.Notes, "required")
	}
	if l.Shadow {
		v.Notes = append(v.Notes, "does not count")
	}
	switch {
	case l.Excused == string(quorum.ReasonReserve):
		v.Notes = append(v.Notes, "the other one of its seat votes")
	case l.Excused != "":
		v.Notes = append(v.Notes, "no vote here")
	case l.Reserve != "":
		v.Notes = append(v.Notes, "for "+boardClip(l.Reserve, 80))
	}
	if l.Excused != "" && l.VotedAt.IsZero() && l.Vote == quorum.Unavailable.String() { // nothing is expected of it
		v.Mark = boardMark{"none", "dash", "calm"}
	}
	v.When = appendMoment(appendMoment(nil, "voted", l.VotedAt, now), "runs again", l.RerunAt, now)
	if l.Vote == quorum.Pending.String() {
		v.When = appendMoment(v.When, "unavailable", l.Deadline, now)
	}
	for _, a := range newest(l.Attempts) {
		v.Attempts = append(v.Attempts, showAttempt(s, a, now))
	}
	return v
}

func showAttempt(s Sight, a AttemptBar, now time.Time) boardAttempt {
	shown := boardAttempt{Number: a.Number, Mark: cameMark(a.Came), URL: safeURL(a.URL, s.URL)}
	shown.Span = a.Start.UTC().Format("15:04:05") + " – "
	if a.End.IsZero() {
		shown.Span += "now"
		shown.Took = boardSpan(now.Sub(a.Start))
		return shown
	}
	shown.Span += a.End.UTC().Format("15:04:05")
	shown.Took = boardSpan(a.End.Sub(a.Start))
	return shown
}

func factsOf(s Sight, row store.Row, now time.Time) []boardFact {
	facts := []boardFact{
		{Name: "Approvals", Text: approvalsOf(s)},
		{Name: "Commit", Text: boardClip(s.Head, 12), Code: true},
		{Name: "Into", Text: boardClip(s.Base, 100), Code: true},
	}
	if s.NeedPeople > 0 {
		facts = append(facts, boardFact{Name: "People", Text: peopleOf(s)})
	}
	if s.PolicyLane != "" {
		text := boardClip(s.PolicyLane, 80)
		if s.LaneWhy != "" {
			text += " · " + boardClip(s.LaneWhy, 120)
		}
		facts = append(facts, boardFact{Name: "Lane", Text: text})
	}
	if s.Check != "" {
		state := strings.ReplaceAll(boardClip(cmp.Or(s.Conclusion, s.Status), 30), "_", " ")
		facts = append(facts, boardFact{Name: "Check", Text: strings.TrimSpace(boardClip(s.Check, 100) + " · " + state)})
	}
	when := func(name string, at time.Time) { facts = appendMoment(facts, name, at, now) }
	when("Cycle began", s.Start)
	if s.Verdict == quorum.Waiting.String() {
		when("Grace ends", s.GraceEnd)
		when("Deadline", s.Deadline)
	}
	if row.Backlog {
		facts = append(facts, boardFact{Name: "Next look", Text: "after what happens now"})
	} else {
		when("Next look", row.Due)
	}
	when("Looked at", row.Seen)
	return facts
}

// appendMoment adds a moment, if there is one.
func appendMoment(facts []boardFact, name string, at, now time.Time) []boardFact {
	if at.IsZero() {
		return facts
	}
	return append(facts, boardFact{Name: name, Moment: new(momentAt(at, now))})
}

// approvalsOf says how many reviewers approve.
func approvalsOf(s Sight) string {
	if s.Need == 0 && s.Verdict != quorum.Ended.String() {
		return "none needed"
	}
	return fmt.Sprintf("%d of %d", s.Approvals, s.Need)
}

// peopleOf says how many people approve of those that the policy asks for, and who.
func peopleOf(s Sight) string {
	text := fmt.Sprintf("%d of %d", len(s.People), s.NeedPeople)
	names := make([]string, 0, len(s.People))
	for _, login := range s.People[:min(len(s.People), 8)] {
		names = append(names, boardClip(login, 60))
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

// A boardHealth is how the queue stands, in words.
type boardHealth struct {
	Mark    boardMark
	Figures []boardFact
}

// boardLate is how long a key may be due before the dashboard calls the queue late.
const boardLate = 30 * time.Second

func showBoardHealth(h store.Health, reached func() time.Time, now time.Time) boardHealth {
	v := boardHealth{Mark: boardMark{"keeping up", "check", "ok"}}
	switch {
	case h.Failing > 0:
		v.Mark = boardMark{"some evaluations fail", "bang", "warn"}
	case h.Oldest > boardLate:
		v.Mark = boardMark{"late", "clock", "warn"}
	case len(h.Held) > 0:
		v.Mark = boardMark{"waits for GitHub's limit", "clock", "warn"}
	}
	v.Figures = []boardFact{
		{Name: "undecided", Text: grouped(int64(h.Open))},
		{Name: "due", Text: grouped(int64(h.Due))},
		{Name: "being evaluated", Text: grouped(int64(h.Leased))},
		{Name: "failing", Text: grouped(int64(h.Failing))},
		{Name: "tasks", Text: grouped(int64(h.Keys))},
		{Name: "deliveries remembered", Text: grouped(h.Accepted)},
	}
	if h.Due > 0 {
		v.Figures = slices.Insert(v.Figures, 2, boardFact{Name: "for the oldest", Text: boardSpan(h.Oldest)})
	}
	if len(h.Held) > 0 {
		v.Figures = append(v.Figures, boardFact{Name: "installations that wait", Text: grouped(int64(len(h.Held)))},
			boardFact{Name: "limit ends", Moment: new(momentAt(h.HeldUntil(), now))})
	}
	if n := h.BacklogSize(); n > 0 {
		v.Figures = append(v.Figures, boardFact{Name: "in the backlog", Text: grouped(int64(n))})
	}
	if at := h.BacklogEnd(); !at.IsZero() {
		v.Figures = append(v.Figures, boardFact{Name: "done at the earliest", Moment: new(momentAt(at, now))})
	}
	if reached == nil {
		return v
	}
	fact := boardFact{Name: "GitHub has", Text: "not answered yet", First: true}
	if at := reached(); !at.IsZero() {
		fact = boardFact{Name: "GitHub answered", Moment: new(momentAt(at, now))}
	}
	v.Figures = append(v.Figures, fact)
	return v
}

// momentAt words the distance to a moment.
func momentAt(at, now time.Time) boardMoment {
	m := boardMoment{At: at.UnixMilli(), ISO: at.UTC().Format(time.RFC3339), Clock: at.UTC().Format("15:04:05")}
	if d := at.Sub(now); d > -24*time.Hour && d < 24*time.Hour {
		m.Words = boardDistance(d)
		return m
	}
	m.Clock = at.UTC().Format("2006-01-02 15:04")
	m.Words = boardDistance(at.Sub(now))
	return m
}

// boardDistance is said as board.js says it.
func boardDistance(d time.Duration) string {
	switch s := d.Round(time.Second); {
	case s > 0:
		return "in " + boardSpan(s)
	case s > -time.Second:
		return "now"
	default:
		return boardSpan(-s) + " ago"
	}
}

// boardSpan is a duration with its two greatest parts.
func boardSpan(d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd %dh", s/86400, s/3600%24)
	}
}

// grouped writes a figure with thin spaces between its thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// boardHost is what the host of an address may look like.
var boardHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:[0-9]{1,5})?$`)

// safeURL returns an address that may be linked: https, a plain host, nobody's password. If like is given, its host
// must be the same: the address of a status is whatever its author wrote, and our page must not send people there.
func safeURL(raw, like string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || !boardHost.MatchString(strings.ToLower(u.Host)) {
		return ""
	}
	if like != "" {
		if l, err := url.Parse(like); err != nil || !strings.EqualFold(l.Host, u.Host) {
			return ""
		}
	}
	return u.String()
}

// boardClip cuts a text to n characters, and takes out what would turn or hide what stands beside it.
func boardClip(s string, n int) string {
	if len(s) > 8*n {
		s = s[:8*n]
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1 // they turn the direction of what follows
		}
		return r
	}, s)
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// idOf names the element of a key.
func idOf(key string) string { return strconv.FormatUint(boardHash(key), 36) }

// boardHash is FNV-1a: a name for an element, no protection.
func boardHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
