//go:build !action

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store"
)

// mainDeadline is how long the program may take in a test. A demo that stands still ends long before, and says what it
// waits for.
const mainDeadline = time.Minute

// drawnDemo tells the demo's story in a terminal and returns the checks that it drew, one after another, and the screen
// as it is in the end.
func drawnDemo(t *testing.T, columns uint16) (boxes []string, screen string) {
	t.Helper()
	var wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stderr: &wrong, Getenv: func(string) string { return "" }}
	describeDemo(t, c)
	code, drawn := inTerminal(t, columns, c, "demo", "--once", "--speed", "3000")
	if code != 0 || wrong.Len() > 0 {
		t.Fatalf("exit %d, says %q", code, wrong.String())
	}
	// The terminal: the cursor goes up so many lines, and what is below it is erased.
	var lines []string
	up := regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)
	for line := range strings.Lines(drawn) {
		line = strings.NewReplacer("\x1b[?25l", "", "\x1b[?25h", "", "\n", "").Replace(line)
		if m := up.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil || n > len(lines) {
				t.Fatalf("the cursor goes up %s lines of %d", m[1], len(lines))
			}
			lines, line = lines[:len(lines)-n], line[len(m[0]):]
		}
		if lines = append(lines, line); strings.HasPrefix(line, "╰") {
			screen := strings.Join(lines, "\n")
			boxes = append(boxes, screen[strings.LastIndex(screen, "╭"):])
		}
	}
	return boxes, strings.Join(lines, "\n") + "\n"
}

// The check is drawn in its place: on the screen there is one of it, below all that was told.
func TestDemoDrawsTheCheck(t *testing.T) {
	t.Parallel()
	boxes, screen := drawnDemo(t, 80)
	if n := strings.Count(screen, "╭"); n != 1 || strings.Contains(screen, "\x1b") {
		t.Errorf("there are %d checks on the screen:\n%s", n, screen)
	}
	told, below, _ := strings.Cut(screen, "╭")
	for _, line := range []string{
		"09:00:50    openai has read it: ready to merge.\n", "09:02:29  ↻ The coordinator runs gemini again: once, ",
		"09:09:30    Three reviews of this commit, three approvals.\n",
	} {
		if !strings.Contains(told, "\n"+line) {
			t.Errorf("above the check it does not say %q:\n%s", line, told)
		}
	}
	if !strings.Contains(below, "A green run was not taken for a review. ") {
		t.Errorf("below the check:\n%s", below)
	}
	// It tells how it stands with each reviewer, and what comes next.
	all := strings.Join(boxes, "\n")
	for _, want := range []string{
		`  ● 1 of 2 approvals; waiting for gemini and copilot until 09:10 UTC `,
		`  openai    ✓ approves     it approves `,
		`  gemini    … pending      its review is under way `,
		`  copilot   ✗ objects      A cart of free items divides by zero here\. `, // as the check quotes it
		`  09:0\d:\d\d  it always ends: the next deadline is in [89]m\d+s `,
		`  09:01:2\d  gemini is run again in 1m\d+s `,
		`  09:0\d:\d\d  the quorum stands; it passes in (2m0s|1m\d+s|\d+s) unless somebody objects `,
		`  ✓ 2 of 2 approvals; copilot: review not received `,
		`  09:0\d:\d\d  until something new speaks against it `,
		`  ✗ Changes requested by copilot \(1 finding\) `,
		`  09:0\d:\d\d  until the objection is answered `,
		`  ✓ 3 approvals, 2 needed `,
	} {
		if !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("no check says %q", want)
		}
	}
}

// The title is the message of the check: a narrow terminal breaks it, and loses none of it.
func TestNarrowDemo(t *testing.T) {
	t.Parallel()
	boxes, screen := drawnDemo(t, 60)
	told, _, _ := strings.Cut(screen, "╭")
	for line := range strings.Lines(told + strings.Join(boxes, "\n")) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 {
			t.Errorf("a line is %d wide: %s", n, line)
		}
	}
	words := strings.Join(strings.FieldsFunc(boxes[0], func(r rune) bool { return strings.ContainsRune("│╭╮╰╯─ \n", r) }), " ")
	if title := "0 of 2 approvals; waiting for openai, gemini and copilot until 09:10 UTC"; !strings.Contains(words, title) {
		t.Errorf("the title is cut:\n%s", boxes[0])
	}
}

// In the demo's story nobody is given up for good; the check would say it so.
func TestDemoShowsWhoIsUnavailable(t *testing.T) {
	st := &demoScreen{width: 80, now: func() time.Time { return time.Unix(0, 0).UTC() }}
	st.updateCheck(dashboard.Sight{Lanes: []dashboard.ReviewerLine{{Name: "gemini", Vote: "unavailable", Why: "no review by its deadline"}}})
	if box := st.renderCheck(); !strings.Contains(box, "gemini    – unavailable  no review by its deadline") {
		t.Errorf("it says\n%s", box)
	}
}

// describeDemo lets the watchdog print the clock of the demo that c tells, and what is on the screen.
func describeDemo(t *testing.T, c *command) {
	t.Helper()
	c.Clock = func(clock fmt.Stringer) { deadline.Describe(t, "the story's clock", clock.String) }
	if s, isScreen := c.Stdout.(*screen); isScreen {
		deadline.Describe(t, "the screen", func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.text.String()
		})
	}
}

// screen is what a program prints, and tells when it has printed something.
type screen struct {
	want *regexp.Regexp
	seen chan []string // closed after the first match

	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if found := s.want.FindStringSubmatch(s.text.String()); found != nil && s.want.String() != "" {
		s.seen <- found
		s.want = regexp.MustCompile(`^\z`) // there is text: it does not match again
	}
	return len(p), nil
}

// After the story the dashboard stays, with what the story left, until a signal comes; then nothing of it is left.
func TestDemoStays(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, interrupt := context.WithTimeout(t.Context(), mainDeadline)
	defer interrupt()
	out := &screen{want: regexp.MustCompile(`The dashboard stays at (http://127\.0\.0\.1:\d+/) until you press Ctrl-C`), seen: make(chan []string, 1)}
	var wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: out, Stderr: &wrong, Getenv: func(string) string { return "" }}
	describeDemo(t, c)
	code := make(chan int, 1)
	go func() { code <- c.Main(ctx, []string{"demo", "--speed", "max", "--stay", "29m"}) }()
	var address string
	select {
	case found := <-out.seen:
		address = found[1]
	case code := <-code:
		t.Fatalf("it ended with %d: %s", code, wrong.String())
	}
	if !strings.Contains(out.text.String(), "The dashboard is at "+address+"\n") {
		t.Errorf("at first it said something else:\n%s", out.text.String())
	}

	wire := &http.Transport{}
	defer wire.CloseIdleConnections()
	fetch := func(path string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := wire.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("/%s: %d, %v", path, resp.StatusCode, err)
		}
		return string(text)
	}
	page := fetch("")
	for _, title := range []string{
		"Apply the discount before the tax", "Keep the cart when a session ends", "Name the currency in every total",
		"Read prices from the new catalogue", "Round each line of an invoice", "Stream exports instead of holding them in memory",
	} {
		if !strings.Contains(page, "<bdi>"+title+"</bdi>") {
			t.Errorf("the dashboard does not show %q:\n%s", title, page)
		}
	}
	// Each is what the daemon made of its story, and half an hour later too: those that wait are pushed to again.
	var answer struct {
		Pulls []struct {
			Sight dashboard.Sight `json:"evaluation"`
		} `json:"pulls"`
	}
	if err := json.Unmarshal([]byte(fetch("api/v1/pulls")), &answer); err != nil {
		t.Error(err)
	}
	var verdicts []string
	for _, p := range answer.Pulls {
		verdicts = append(verdicts, p.Sight.PR+" "+p.Sight.Verdict)
	}
	slices.Sort(verdicts)
	if want := []string{
		"acme/billing#58 blocked", "acme/shop#477 unverified", "acme/shop#479 passed", "acme/shop#482 passed",
		"acme/web#1207 waiting", "kestrel/api#97 waiting",
	}; !slices.Equal(verdicts, want) {
		t.Errorf("the board is %q", verdicts)
	}
	if metrics := fetch("metrics"); !strings.Contains(metrics, "coordinator") {
		t.Errorf("no figures:\n%s", metrics)
	}

	for _, next := range []string{"  export GITHUB_TOKEN=", "\n  coordinator init "} {
		if !strings.Contains(out.text.String(), next) {
			t.Errorf("it does not say what to do next: %q", next)
		}
	}

	interrupt()
	if code := <-code; code != 0 || wrong.Len() > 0 {
		t.Errorf("exit %d, says %q", code, wrong.String())
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A signal during the story is one.
func TestDemoInterrupted(t *testing.T) {
	ctx, interrupt := context.WithTimeout(t.Context(), mainDeadline)
	defer interrupt()
	out := &screen{want: regexp.MustCompile(`alice opens`), seen: make(chan []string, 1)}
	var wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: out, Stderr: &wrong, Getenv: func(string) string { return "" }}
	describeDemo(t, c)
	code := make(chan int, 1)
	go func() { code <- c.Main(ctx, []string{"demo", "--speed", "0.01"}) }()
	select {
	case <-out.seen:
	case code := <-code:
		t.Fatalf("it ended with %d: %s", code, wrong.String())
	}
	interrupt()
	if code := <-code; code != 130 || wrong.Len() > 0 {
		t.Errorf("exit %d, says %q", code, wrong.String())
	}
}

// playDemo plays the demo at once on another table, with little patience, and returns its exit code and what it says.
func playDemo(t *testing.T, patience time.Duration, table func(store.Store) store.Store) (code int, told, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mainDeadline)
	defer cancel()
	var out, wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &wrong, Getenv: func(string) string { return "" }}
	err := demoCmd{Once: true, Speed: "max", Patience: patience, Table: table}.Run(ctx, c)
	return c.reportError(ctx, err), out.String(), wrong.String()
}

// A pause of the daemon's holds up no story, whichever clock measures it: the machine's, as after a fault of the table, or
// the story's, as while a limit of GitHub's holds.
func TestDemoOutlivesPauses(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]func(store.Store) store.Store{
		"a fault":               func(s store.Store) store.Store { return &faultyTable{Store: s} },
		"a minute of the story": func(s store.Store) store.Store { return &heldTable{Store: s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, told, said := playDemo(t, 4*time.Second, table)
			if code != 0 || !strings.Contains(told, "✓ The check passes: 3 approvals, 2 needed.") {
				t.Errorf("exit %d, tells %q, says %q", code, told, said)
			}
		})
	}
}

// faultyTable is a table of which two claims fail.
type faultyTable struct {
	store.Store
	claims int
}

func (s *faultyTable) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	if s.claims++; s.claims == 1 || s.claims == 4 {
		return nil, errors.New("disk I/O error")
	}
	return s.Store.Claim(ctx, c)
}

// heldTable hands out nothing in the first minute, though there is something.
type heldTable struct {
	store.Store
	until time.Time
}

func (s *heldTable) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	if s.until.IsZero() {
		s.until = c.Now.Add(time.Minute)
	}
	if c.Now.Before(s.until) {
		return nil, nil
	}
	return s.Store.Claim(ctx, c)
}

func (s *heldTable) Next(ctx context.Context, backlog bool, except []int64) (time.Time, error) {
	next, err := s.Store.Next(ctx, backlog, except)
	if !backlog && !next.IsZero() && next.Before(s.until) {
		next = s.until
	}
	return next, err
}

// A demo whose daemon does nothing ends, and says what it waits for.
func TestDemoThatStandsStillEnds(t *testing.T) {
	t.Parallel()
	code, _, said := playDemo(t, 400*time.Millisecond, func(s store.Store) store.Store { return idleTable{s} })
	want := regexp.MustCompile(`^coordinator: the demo stands still: its daemon has done nothing for 400ms; in the story it is 09:\d\d:\d\d; ` +
		`alarms: (none|09:\d\d:\d\d.*); 0 evaluations under way; due: app since 09:00:00\nhint: .*\n$`)
	if code != 1 || !want.MatchString(said) {
		t.Errorf("exit %d, says %q", code, said)
	}
}

// idleTable is a table that hands out nothing.
type idleTable struct{ store.Store }

func (idleTable) Claim(context.Context, store.Claim) ([]store.Work, error) { return nil, nil }

// The clock stands, jumps or runs, and an alarm rings in its moment.
func TestStoryClock(t *testing.T) {
	begin := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, speed := range []float64{0, 16} {
		synctest.Test(t, func(t *testing.T) {
			c := newStoryClock(begin, speed)
			deadline.Describe(t, "the story's clock", c.String)
			ring, stop := c.Alarm(begin.Add(time.Minute))
			defer stop()
			stopped, stop := c.Alarm(begin.Add(time.Second))
			stop()
			var rang time.Time
			go func() { rang = <-ring }()
			<-time.After(time.Hour) // it stands
			if now := c.Now(); !now.Equal(begin) {
				t.Errorf("speed %v: it stood at %s", speed, now)
			}
			began := time.Now()
			if err := c.advanceTo(t.Context(), begin.Add(96*time.Second)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			took, want := time.Since(began), time.Duration(0)
			if speed > 0 {
				want = 6 * time.Second
			}
			if took.Round(time.Microsecond) != want || !c.Now().Equal(begin.Add(96*time.Second)) {
				t.Errorf("speed %v: after %s it is %s", speed, took, c.Now())
			}
			if early := rang.Before(begin.Add(time.Minute)); early || speed > 0 && rang.After(begin.Add(time.Minute+time.Millisecond)) {
				t.Errorf("speed %v: it rang at %s", speed, rang)
			}
			if late, _ := c.Alarm(begin); len(late) != 1 || len(stopped) != 0 {
				t.Errorf("speed %v: what is past did not ring, or what was stopped did", speed)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := c.runUntil(ctx, begin.Add(time.Hour), 1); err == nil {
				t.Errorf("speed %v: it ran for an hour in a second", speed)
			}
			if now := c.Now(); !now.Equal(begin.Add(97 * time.Second)) {
				t.Errorf("speed %v: it ran until %s", speed, now)
			}
		})
	}
}

// The daemon's log warns of a rerun once, however often it looks while that goes on.
func TestTheDemosLogWarnsOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stderr: &said, Getenv: func(string) string { return "" }}
	describeDemo(t, c)
	code, _ := inTerminal(t, 80, c, "demo", "--once", "--speed", "3000", "-v")
	if n := strings.Count(said.String(), "a reviewer is run again, or skipped"); code != 0 || n != 1 {
		t.Errorf("exit %d, warned %d times:\n%s", code, n, said.String())
	}
}
