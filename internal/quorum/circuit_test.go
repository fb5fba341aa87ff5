package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// minute is so many minutes after noon.
func minute(m float64) time.Time { return noon.Add(time.Duration(m * float64(time.Minute))) }

// signsOf tells signs of gemini: "3 down #1 alice" is an outage at 12:03 on a pull request of alice's; "limit:20" ends
// at 12:20.
func signsOf(t testing.TB, lines ...string) (signs []Sign) {
	t.Helper()
	for i, line := range lines {
		var at float64
		var what, who string
		s := Sign{Reviewer: "gemini", Of: fmt.Sprint("run/", i)}
		if _, err := fmt.Sscanf(line, "%g %s #%d %s", &at, &what, &s.Pull, &who); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		what, until, _ := strings.Cut(what, ":")
		s.Kind = map[string]SignKind{
			"up": SignAnswered, "down": SignOutage, "limit": SignLimited, "probe": SignProbed, "told": SignTold, "held": SignHeld,
		}[what]
		s.At = minute(at)
		if who == "mallory" { // who has a fork
			s.Stranger = who
		}
		if until != "" {
			var m float64
			if _, err := fmt.Sscan(until, &m); err != nil {
				t.Fatal(err)
			}
			s.Until = minute(m)
		}
		signs = append(signs, s)
	}
	return signs
}

// breakerPolicy opens a circuit after three outages, for ten minutes.
var breakerPolicy = Policy{
	Breaker: Breaker{Threshold: 3, Reset: 10 * time.Minute}, Reviewers: []Reviewer{{Name: "openai"}, {Name: "gemini"}},
}

// circuitText tells a circuit in few words.
func circuitText(c Circuit) string {
	var says []string
	add := func(format string, args ...any) { says = append(says, fmt.Sprintf(format, args...)) }
	at := func(t time.Time) string { return t.Format("15:04:05") }
	if !c.Opened.IsZero() {
		add("open since %s until %s", at(c.Opened), at(c.Until))
	}
	if c.Probe != 0 {
		add("probe #%d", c.Probe)
	}
	if !c.Limited.IsZero() {
		add("limited at %s until %s", at(c.Limited), at(c.LimitEnd))
	}
	if !c.Closed.IsZero() {
		add("closed %s", at(c.Closed))
	}
	if len(c.Waiting) > 0 {
		add("waiting %v", c.Waiting)
	}
	if c.Told {
		add("told")
	}
	return strings.Join(says, ", ")
}

func TestCircuitOf(t *testing.T) {
	open, opened := []string{"1 down #1 alice", "2 down #2 bob", "3 down #3 carol"}, "open since 12:03:00 until 12:13:00, waiting [1 2 3]"
	for _, test := range []struct {
		name  string
		signs []string
		want  string
	}{
		{"one outage too few", open[:2], "waiting [1 2]"},
		{"outages in a row", open, opened},
		{"of one maintainer's pull requests", []string{"1 down #1 alice", "2 down #2 alice", "3 down #3 alice"}, opened},
		{"of one stranger's", []string{"1 down #1 mallory", "2 down #2 mallory", "3 down #3 mallory"}, "waiting [1 2 3]"},
		{"of a stranger's beside one other", []string{"1 down #1 mallory", "2 down #2 mallory", "3 down #3 alice"}, "waiting [1 2 3]"},
		{"of a stranger's beside two others", []string{"1 down #1 mallory", "2 down #2 alice", "3 down #3 alice"}, opened},
		{"on one pull request", []string{"1 down #1 alice", "2 down #1 alice", "3 down #1 alice"}, "waiting [1]"},
		{"an answer between", []string{"1 down #1 alice", "2 up #9 dave", "3 down #2 bob", "4 down #3 carol"}, "waiting [2 3]"},
		{"told in another order", []string{open[2], open[0], open[1]}, "open since 12:03:00 until 12:13:00, waiting [1 2 3]"},
		{
			"more while it is open show nothing new", append(slices.Clone(open), "9 down #4 dave"),
			"open since 12:03:00 until 12:13:00, waiting [1 2 3 4]",
		},
		{
			"another outage after its time opens it again", append(slices.Clone(open), "14 down #4 dave"),
			"open since 12:03:00 until 12:24:00, waiting [1 2 3 4]",
		},
		{"one is let through", append(slices.Clone(open), "13 probe #1 alice"), "open since 12:03:00 until 12:18:00, probe #1, waiting [1 2 3]"},
		{"none before its time", append(slices.Clone(open), "12 probe #1 alice"), "open since 12:03:00 until 12:13:00, waiting [1 2 3]"},
		{
			"no second one", append(slices.Clone(open), "13 probe #1 alice", "14 probe #2 bob"),
			"open since 12:03:00 until 12:18:00, probe #1, waiting [1 2 3]",
		},
		{
			"but where nothing came of the first", append(slices.Clone(open), "13 probe #1 alice", "18 probe #2 bob"),
			"open since 12:03:00 until 12:23:00, probe #2, waiting [1 2 3]",
		},
		{
			"the probe fails", append(slices.Clone(open), "13 probe #1 alice", "15 down #1 alice"),
			"open since 12:03:00 until 12:25:00, waiting [1 2 3]",
		},
		{
			"what failed before the probe shows nothing of it", append(slices.Clone(open), "13 probe #1 alice", "12.9 down #4 dave"),
			"open since 12:03:00 until 12:18:00, probe #1, waiting [1 2 3 4]",
		},
		{"the probe succeeds", append(slices.Clone(open), "13 probe #1 alice", "15 up #1 alice"), "closed 12:15:00, waiting [1 2 3]"},
		{"any answer closes it", append(slices.Clone(open), "5 up #9 dave"), "closed 12:05:00, waiting [1 2 3]"},
		{
			"and the count begins anew", append(slices.Clone(open), "5 up #9 dave", "6 down #1 alice", "7 down #2 bob"),
			"closed 12:05:00, waiting [1 2 3]",
		},
		{
			"and it may open again", append(slices.Clone(open), "4 told #1 alice", "5 up #9 dave", "6 down #1 alice", "7 down #2 bob", "8 down #4 erin"),
			"open since 12:08:00 until 12:18:00, closed 12:05:00, waiting [1 2 3 4]",
		},
		{"a limit", []string{"1 limit:20 #1 alice"}, "limited at 12:01:00 until 12:20:00, waiting [1]"},
		{
			"the longest",
			[]string{"1 limit:20 #1 alice", "2 limit:15 #2 bob", "3 limit:22 #3 carol"},
			"limited at 12:01:00 until 12:22:00, waiting [1 2 3]",
		},
		{"an answer ends it", []string{"1 limit:20 #1 alice", "2 up #2 bob"}, "closed 12:02:00, waiting [1]"},
		{"the clock ends it", []string{"1 limit:20 #1 alice", "21 up #2 bob"}, "limited at 12:01:00 until 12:20:00, waiting [1]"},
		{
			"told once", append(slices.Clone(open), "4 told #1 alice", "15 down #4 dave"),
			"open since 12:03:00 until 12:25:00, waiting [1 2 3 4], told",
		},
		{"told of nothing", []string{"1 down #1 alice", "2 told #1 alice"}, "waiting [1]"},
		{
			"told of the limit before",
			[]string{"1 limit:20 #1 alice", "2 told #1 alice", "21 limit:40 #1 alice"},
			"limited at 12:21:00 until 12:40:00, waiting [1]",
		},
		{"as a record tells", []string{"1 held:12 #4 alice", "14 down #5 bob"}, "open since 12:01:00 until 12:24:00, waiting [4 5]"},
		{"a record tells nothing new", append(slices.Clone(open), "3 held:40 #4 dave"), "open since 12:03:00 until 12:13:00, waiting [1 2 3 4]"},
		{"a record of one that has closed", []string{"1 held:12 #4 alice", "5 up #5 bob"}, "closed 12:05:00, waiting [4]"},
		{
			"an outage within a limit that was told of", append([]string{"0 limit:20 #1 alice", "0.5 told #1 alice"}, open...),
			"open since 12:03:00 until 12:13:00, limited at 12:00:00 until 12:20:00, waiting [1 2 3], told",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			signs := signsOf(t, test.signs...)
			all := CircuitsOf(breakerPolicy, append(signs, Sign{Reviewer: "openai", Of: "x", Kind: SignOutage, Pull: 8, At: minute(2)}))
			if got := circuitText(CircuitOf("gemini", all)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := circuitText(CircuitOf("openai", all)); got != "waiting [8]" {
				t.Errorf("another reviewer: %s", got)
			}
			off := breakerPolicy
			off.Breaker = Breaker{}
			if got := CircuitsOf(off, signs); got != nil {
				t.Errorf("without a breaker: %v", got)
			}
		})
	}
}

func TestPassageOf(t *testing.T) {
	open := []string{"1 down #1 alice", "2 down #2 bob", "3 down #7 carol"}
	with := func(more ...string) []string { return append(slices.Clone(open), more...) }
	for _, test := range []struct {
		name   string
		signs  []string
		pull   int
		failed float64
		at     time.Time // zero: at once
		until  time.Time // of the hold; zero: none
		probes bool
	}{
		{name: "nothing is known", pull: 1},
		{name: "it is not open", signs: open[:2], pull: 1, failed: 1},
		{name: "the first in turn", signs: open, pull: 1, failed: 1, at: minute(13), until: minute(13), probes: true},
		{name: "the third in turn", signs: open, pull: 7, failed: 3, at: minute(13).Add(2 * probeGap), until: minute(13), probes: true},
		{name: "one that was not among them", signs: open, pull: 9, failed: 4, at: minute(13).Add(3 * probeGap), until: minute(13), probes: true},
		{name: "the probe itself", signs: with("13 probe #1 alice"), pull: 1, failed: 1},
		{name: "beside a probe", signs: with("13 probe #1 alice"), pull: 2, failed: 2, at: minute(18).Add(probeGap), until: minute(18), probes: true},
		{
			name: "after its probe failed", signs: with("13 probe #1 alice", "14 down #1 alice"), pull: 1, failed: 14,
			at: minute(24), until: minute(24), probes: true,
		},
		{name: "once it has closed", signs: with("14 up #1 alice"), pull: 2, failed: 2, at: minute(14).Add(spreadOf(2))},
		{name: "what failed later", signs: with("14 up #1 alice"), pull: 2, failed: 15},
		{
			name: "the first within a limit", signs: []string{"1 limit:20 #1 alice", "2 limit:18 #2 bob"}, pull: 1, failed: 1,
			at: minute(20), until: minute(20),
		},
		{
			name: "another within a limit", signs: []string{"1 limit:20 #1 alice", "2 down #2 bob"}, pull: 2, failed: 2,
			at: minute(20).Add(spreadOf(2)), until: minute(20),
		},
		{name: "after a limit", signs: []string{"1 limit:20 #1 alice"}, pull: 2, failed: 20},
		{
			name: "outages that end before a limit", signs: with("4 limit:20 #1 alice"), pull: 2, failed: 2,
			at: minute(20).Add(spreadOf(2)), until: minute(20), probes: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := CircuitOf("gemini", CircuitsOf(breakerPolicy, signsOf(t, test.signs...)))
			got := c.PassageOf(test.pull, minute(test.failed))
			if !got.At.Equal(test.at) || !got.Hold.Until.Equal(test.until) || !got.Round.IsZero() != test.probes {
				t.Errorf("%+v", got)
			}
			if !got.Hold.IsZero() && (got.Hold.At != got.At || got.Hold.Since.IsZero() || got.Hold.Since.After(got.Hold.Until)) {
				t.Errorf("the hold is %+v", got.Hold)
			}
		})
	}
	if spreadOf(1) == spreadOf(2) || spreadOf(7) >= spreadMost {
		t.Error("those that follow are not spread")
	}
}

// What the ballots show. A stranger's run can say in its log what it likes: on the pull request of a fork a limit
// counts as an outage, of which one stranger's open nothing.
func TestSignsIn(t *testing.T) {
	pr := PullRequest{PR: PR{Number: 7}, Author: Account{Login: "alice"}}
	b := func(o Outcome, change ...func(*Ballot)) Ballot {
		b := Ballot{Reviewer: "gemini", Outcome: o, Since: noon, Run: 5, Attempt: 2}
		for _, c := range change {
			c(&b)
		}
		return b
	}
	limit := func(b *Ballot) { b.Reset = minute(20) }
	sign := func(kind SignKind) []Sign {
		return []Sign{{Reviewer: "gemini", Of: "run/5/2", Kind: kind, Pull: 7, At: noon}}
	}
	limited := sign(SignLimited)
	limited[0].Until = minute(20)
	fork := pr
	fork.Fork = true
	gone := fork
	gone.Author = Account{}
	ofFork, ofGone := sign(SignOutage), sign(SignOutage)
	ofFork[0].Stranger, ofGone[0].Stranger = "alice", "somebody whose account is gone"
	text := sign(SignAnswered)
	text[0].Of = "review/3"
	for _, test := range []struct {
		name string
		pr   PullRequest
		b    Ballot
		want []Sign
	}{
		{"a yes", pr, b(Approved), sign(SignAnswered)},
		{"a no", pr, b(Findings), sign(SignAnswered)},
		{"half an answer", pr, b(Partial), sign(SignAnswered)},
		{"an answer that nobody understands", pr, b(Malformed), sign(SignAnswered)},
		{"in a text alone", pr, b(Approved, func(b *Ballot) { b.Run, b.Evidence = 0, TextRef{Kind: TextReview, ID: 3} }), text},
		{"an outage", pr, b(Overloaded), sign(SignOutage)},
		{"of a fork", fork, b(Overloaded), ofFork},
		{"of somebody who is gone", gone, b(Overloaded), ofGone},
		{"a limit", pr, b(Limited, limit), limited},
		{"a limit without an end", pr, b(Limited), nil},
		{"a limit of a fork's", fork, b(Limited, limit), ofFork},
		{"nothing", pr, b(Empty), nil},
		{"a runner that never came", pr, b(Hung), nil},
		{"no key", pr, b(Failed), nil},
		{"at work", pr, b(Running), nil},
		{"a no from before, while it looks again", pr, b(Findings, func(b *Ballot) { b.Reason = ReasonStands }), nil},
		{"a yes of another commit", pr, b(Approved, func(b *Ballot) { b.Carried = "1f7f530" }), nil},
		{"it is not known since when", pr, b(Overloaded, func(b *Ballot) { b.Since = time.Time{} }), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, SignsIn(test.pr, []Ballot{test.b})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A circuit comes to the same in whatever order its signs were told, and however often; and holds nobody for longer
// than the breaker or a limit says.
func TestACircuitIsAFunctionOfItsSigns(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		var signs []Sign
		for i := range rapid.IntRange(0, 25).Draw(t, "signs") {
			s := Sign{
				Reviewer: "gemini", Of: fmt.Sprint("run/", i), Kind: SignKind(rapid.IntRange(1, 6).Draw(t, "kind")),
				Pull: rapid.IntRange(1, 6).Draw(t, "pull"), At: minute(float64(rapid.IntRange(0, 60).Draw(t, "at"))),
			}
			if s.Pull < 3 {
				s.Stranger = "mallory"
			}
			if s.Kind == SignLimited {
				s.Until = s.At.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "limit")) * time.Minute)
			}
			if s.Kind == SignHeld {
				s.Until = s.At.Add(time.Duration(rapid.IntRange(1, 10).Draw(t, "held")) * time.Minute)
			}
			signs = append(signs, s)
		}
		c := CircuitOf("gemini", CircuitsOf(breakerPolicy, signs))
		again := CircuitOf("gemini", CircuitsOf(breakerPolicy, append(rapid.Permutation(signs).Draw(t, "order"), signs...)))
		if diff := cmp.Diff(circuitText(c), circuitText(again)); diff != "" {
			t.Fatalf("(-once +told in another order):\n%s", diff)
		}
		last := noon
		for _, s := range signs {
			last = laterOf(last, s.At)
		}
		for pull := 1; pull <= 6; pull++ {
			p := c.PassageOf(pull, last)
			latest := laterOf(last.Add(breakerPolicy.Breaker.Reset).Add(6*probeGap), c.LimitEnd.Add(spreadMost))
			if p.At.After(latest) {
				t.Fatalf("#%d is held until %s, after %s", pull, p.At, latest)
			}
			if !p.Hold.IsZero() {
				held++
			}
			if !p.Round.IsZero() && p.At.Before(p.Round) {
				t.Fatalf("#%d is let through at %s, before %s", pull, p.At, p.Round)
			}
		}
	})
	if held == 0 {
		t.Error("nobody was ever held")
	}
}

func TestNewestSigns(t *testing.T) {
	signs := signsOf(t, "1 down #1 alice", "2 down #2 bob", "3 down #3 carol")
	twice := signs[1]
	twice.Pull = 9
	got := NewestSigns([]Sign{signs[2], signs[1], twice, signs[0]}, 2)
	if diff := cmp.Diff(signs[1:], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a record tells of a limit is no news of others, and what it tells of outages is believed for as long as the
// breaker would hold anybody back.
func TestSignsOfRecord(t *testing.T) {
	rec := Record{Circuits: []Hold{
		{Reviewer: "openai", Since: minute(1), Until: minute(20), At: minute(20), Limit: true},
		{Reviewer: "gemini", Since: minute(3), Until: minute(13), At: minute(13.5)},
		{Reviewer: "sage", Since: minute(3), Until: minute(9000), At: minute(9000)},
	}}
	pr := PullRequest{PR: PR{Number: 7}, Author: Account{Login: "alice"}}
	got := SignsOfRecord(breakerPolicy, pr, rec, minute(5))
	want := []Sign{
		{Reviewer: "gemini", Of: nameOfTime(minute(3)), Kind: SignHeld, Pull: 7, At: minute(3), Until: minute(13)},
		{Reviewer: "sage", Of: nameOfTime(minute(3)), Kind: SignHeld, Pull: 7, At: minute(3), Until: minute(15)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
