//go:build !action

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/story"
)

// The title is the message of the check: a narrow terminal breaks it, and loses none of it.
func TestNarrowDemo(t *testing.T) {
	title := "Unverified: 1 of 2 approvals; gemini unavailable; copilot: review not received; openai approves"
	st := &demoScreen{width: 60, now: func() time.Time { return time.Unix(0, 0).UTC() }}
	st.summary = dashboard.Sight{Says: title}
	var words []string
	for line := range strings.Lines(st.renderCheck()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 {
			t.Errorf("a line is %d wide: %s", n, line)
		}
		words = append(words, strings.Fields(strings.Trim(line, "│╭╮╰╯─ \n"))...)
	}
	if !strings.Contains(strings.Join(words, " "), title) {
		t.Errorf("the title is cut:\n%s", st.renderCheck())
	}
}

// The box tells how it stands with each reviewer, and what comes next.
func TestDemoBox(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 2, 0, 0, time.UTC)
	for _, test := range []struct {
		sight dashboard.Sight
		says  string
	}{
		{dashboard.Sight{Verdict: "waiting", GraceEnd: now.Add(90 * time.Second)}, "it passes in 1m30s unless somebody objects"},
		{dashboard.Sight{Verdict: "waiting", Lanes: []dashboard.Lane{{Name: "gemini", Vote: "pending", RerunAt: now.Add(7 * time.Second)}}}, "gemini is run again in 7s"},
		{dashboard.Sight{Verdict: "waiting", Wake: now.Add(time.Minute)}, "the next deadline is in 1m0s"},
		{dashboard.Sight{Verdict: "passed", Conclusion: "success", Says: "2 approvals"}, "✓ 2 approvals"},
		{dashboard.Sight{Verdict: "blocked", Lanes: []dashboard.Lane{{Name: "copilot", Vote: "object", Why: "it objects"}}}, "copilot   ✗ objects      divides by zero"},
		{dashboard.Sight{Verdict: "unverified", Lanes: []dashboard.Lane{{Name: "gemini", Vote: "unavailable", Why: "no review by its deadline"}}}, "– unavailable  no review by its deadline"},
	} {
		st := &demoScreen{width: 80, now: func() time.Time { return now }, findingOf: func(_, reviewer string) string {
			if reviewer != "copilot" {
				t.Errorf("what %s objects to is asked for", reviewer)
			}
			return "divides by zero"
		}}
		st.updateCheck(test.sight)
		if box := st.renderCheck(); !strings.Contains(box, test.says) {
			t.Errorf("the box does not say %q:\n%s", test.says, box)
		}
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
	// The usual port is taken, by us or by another program.
	if other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:9090"); err == nil {
		defer other.Close()
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &screen{want: regexp.MustCompile(`The dashboard stays at (http://127\.0\.0\.1:\d+/) until you press Ctrl-C`), seen: make(chan []string, 1)}
	var wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: out, Stderr: &wrong, Getenv: func(string) string { return "" }}
	code := make(chan int, 1)
	go func() { code <- c.Main(ctx, []string{"demo", "--speed", "max"}) }()
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
	if page := fetch(""); !strings.Contains(page, "acme/shop") {
		t.Errorf("the dashboard does not show the pull request:\n%s", page)
	}
	var pulls struct {
		Pulls []dashboard.Sight `json:"pulls"`
	}
	text := fetch("api/v1/pulls")
	if err := json.Unmarshal([]byte(text), &pulls); err != nil || len(pulls.Pulls) != 1 {
		t.Errorf("the API does not show the pull request: %v\n%s", err, text)
	}
	if metrics := fetch("metrics"); !strings.Contains(metrics, "coordinator") {
		t.Errorf("no figures:\n%s", metrics)
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

// What a reviewer objects to is told in its own words, as the check quotes them.
func TestDemoFinding(t *testing.T) {
	s, err := story.Parse("demo.txt", demoScenario)
	if err != nil {
		t.Fatal(err)
	}
	clock := newStoryClock(story.Begin, 0)
	c := &command{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	st := newDemoScreen(c, false)
	st.now = clock.Now
	heard := map[string]bool{}
	d, err := openDemo(t.Context(), c, s, clock, anyLocalAddress, func(s dashboard.Sight) {
		st.updateCheck(s)
		heard[st.objections["copilot"]] = true
	})
	defer d.close()
	if err != nil {
		t.Fatal(err)
	}
	st.findingOf = d.firstFinding
	if err := d.runDaemon(t.Context(), func(ctx context.Context) error { return st.playStory(ctx, d) }); err != nil {
		t.Error(err)
	}
	if says := "A cart of free items divides by zero here."; !heard[says] {
		t.Errorf("copilot says %v, want %q", heard, says)
	}
}

// A signal during the story is one.
func TestDemoInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &screen{want: regexp.MustCompile(`alice opens`), seen: make(chan []string, 1)}
	var wrong bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: out, Stderr: &wrong, Getenv: func(string) string { return "" }}
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

// The clock stands, jumps or runs, and an alarm rings in its moment.
func TestStoryClock(t *testing.T) {
	begin := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, speed := range []float64{0, 16} {
		synctest.Test(t, func(t *testing.T) {
			c := newStoryClock(begin, speed)
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
