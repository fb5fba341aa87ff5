// Package deadline promises that no test waits for ever: a watchdog ends the test binary in which one does, and prints what
// the test waits for. It also lets small heaps grow. A package has it by one line, for all its tests:
//
//	func TestMain(m *testing.M) { deadline.Watch(m).Run() }
//
// A test has a tenth of go test's -timeout, so 60 s unless somebody asks for more. With a flag of the package's own, as in
// -args -load=1000, it has a half: such flags select long runs. With -timeout 0, as under a debugger, the watchdog
// is off. The time is there for deadlocks and never for speed: a test is measured without its subtests, each of which has its own
// time, without the turns of tests that run in parallel, and, where Linux tells, without the time in which the process wants to
// run and other processes have its cores.
//
// The watchdog starts before all tests, so its time is the machine's: in a bubble of testing/synctest a timer would ring by
// the bubble's clock, which a deadlock stops and which an endless loop of timers drives for ever.
package deadline

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Runner is a [testing.M], or what goes around one.
type Runner interface{ Run() int }

// looks is how often the watchdog looks in the time that a test has. A goroutine that it saw at all looks but one began before
// the first of them: the time is over before the next one. Each look counts for a fifth at least, however busy the machine is.
const looks, leastLook = 12, 0.2

// Watch returns a Runner that runs m under the watchdog. Each state is printed if a test waits for ever: what is the same for all
// tests of the package.
func Watch(m Runner, states ...func() string) Runner { return watched{m, states} }

type watched struct {
	Runner
	states []func() string
}

// Run runs the tests. It ends the process with 2 if one of them waits for ever.
func (w watched) Run() int {
	flag.Parse()
	if os.Getenv("GOGC") == "" { // tests have small heaps, which Go would collect every few milliseconds
		debug.SetGCPercent(800)
	}
	most := testTime()
	if most <= 0 {
		return w.Runner.Run()
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.watchTests(most, over)
	}()
	defer func() {
		close(over)
		<-ended
	}()
	return w.Runner.Run()
}

// testTime returns how long a test may take; 0 for as long as it wants.
func testTime() time.Duration {
	timeout, _ := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration)
	most := timeout / 10
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			most = timeout / 2
		}
	})
	return most
}

// watchTests looks at the tests until over is closed, and ends the process once one of them has been at work for too long.
func (w watched) watchTests(most time.Duration, over <-chan struct{}) {
	ticker := time.NewTicker(most / looks) // as long as the process lives
	seen, waited := map[string]sighting{}, readCoreWait()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		before := waited
		waited = readCoreWait()
		look := min(1, max(leastLook, 1-float64(waited-before)/float64(most/looks)))
		all, now := readGoroutines(), map[string]sighting{}
		for id, g := range all {
			if !g.isAtWork() {
				continue
			}
			s, known := seen[id]
			if !known {
				s = sighting{path: all.pathOf(id), since: time.Now()}
			}
			if s.looks += look; s.looks > looks-1.5 {
				w.printReport(os.Stderr, s, g)
				os.Exit(2)
			}
			now[id] = s
		}
		seen = now
	}
}

// A sighting is how often in a row a goroutine was seen at work on a test, on which, and since when.
type sighting struct {
	looks float64
	path  string
	since time.Time
}

// readCoreWait returns how long the threads of this process have waited for a core so far; 0 where the system does not tell.
func readCoreWait() (all time.Duration) {
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is right
	for _, thread := range threads {
		var ran, waited int64
		if text, err := os.ReadFile(thread); err == nil { // a thread may have ended
			_, _ = fmt.Sscan(string(text), &ran, &waited) // 0 is fine, too
		}
		all += time.Duration(waited)
	}
	return all
}

// printReport prints what is known of a test that waits for ever.
func (w watched) printReport(to io.Writer, s sighting, g goroutine) {
	fmt.Fprintf(to, "\ndeadline: %s waits for ever: for %s it has neither ended nor begun a subtest. It is here:\n\n%s\n\n",
		s.path, time.Since(s.since).Round(time.Second), g.text)
	for _, state := range w.states {
		fmt.Fprintln(to, readState(state))
	}
	described.Range(func(name, state any) bool {
		fmt.Fprintf(to, "%s: %s\n", name, readState(state.(func() string)))
		return true
	})
	fmt.Fprintf(to, "\nAll goroutines, those in the same place together:\n\n%s\n", groupGoroutines())
}

// readState returns a state. What is stuck may hold the lock that the state needs, so its time is limited, too.
func readState(state func() string) string {
	said := make(chan string, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				said <- fmt.Sprintf("it cannot be read: %v", p)
			}
		}()
		said <- strings.TrimSpace(state())
	}()
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	select {
	case text := <-said:
		return text
	case <-timer.C:
		return "it cannot be read within 2s: it is locked"
	}
}

// described has the states that running tests have told, by what they are called.
var described = new(sync.Map)

// Describe lets the watchdog print a state of t's, under a name, if a test waits for ever while t runs. The state is read from
// outside of a bubble: it may take locks, and touches no channel or timer of the bubble's. A later state of that name takes its place.
func Describe(t testing.TB, what string, state func() string) {
	t.Helper()
	name := t.Name() + ": " + what
	described.Store(name, state)
	t.Cleanup(func() { described.Delete(name) })
}
