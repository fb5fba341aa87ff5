package deadline_test

import (
	"bufio"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/deadline"
)

func TestMain(m *testing.M) {
	if os.Getenv(plantedName) == "a silent process" {
		fmt.Fprintln(os.Stdout, "I am ready")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the other side is gone
		return
	}
	deadline.Watch(m, func() string { return "so stands the package" }).Run()
}

// plantedName is the environment's variable that names what TestNoTestWaitsForEver does in a process of its own.
const plantedName = "DEADLINE_PLANTED"

// planted are what a test may wait for, and what is printed then.
var planted = map[string]struct {
	test func(t *testing.T)
	want []string
}{
	"a server": {func(t *testing.T) {
		never := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
		deadline.Describe(t, "requests", func() string { return "one is not answered" })
		_, _ = http.Get(s.URL) //nolint:bodyclose,noctx // there is no answer
	}, []string{`TestNoTestWaitsForEver/a_server: requests: one is not answered`, `net/http\.Get`, `httptest`}},

	// Time goes on and on, and what is awaited does not come. (Not by hours: after 292 years Go's runtime itself would hang.)
	"a virtual clock": {func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			alarms := 0
			deadline.Describe(t, "alarms", func() string {
				mu.Lock()
				defer mu.Unlock()
				return fmt.Sprintf("more than ten rang: %t", alarms > 10)
			})
			go func() {
				for range time.Tick(time.Second) {
					mu.Lock()
					alarms++
					mu.Unlock()
				}
			}()
			<-make(chan struct{})
		})
	}, []string{`TestNoTestWaitsForEver/a_virtual_clock: alarms: more than ten rang: true`, `chan receive \(durable\), synctest bubble`}},

	"a process": {func(t *testing.T) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), plantedName+"=a silent process")
		if _, err := child.StdinPipe(); err != nil {
			t.Error(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Error(err)
		}
		if err := child.Start(); err != nil {
			t.Error(err)
		}
		said := bufio.NewScanner(out)
		said.Scan()
		last := said.Text()
		deadline.Describe(t, "the process printed last", func() string { return last })
		_ = child.Wait()
	}, []string{`TestNoTestWaitsForEver/a_process: the process printed last: I am ready`, `os/exec\.\(\*Cmd\)\.Wait`}},

	// What is stuck holds what the state needs.
	"a lock": {func(t *testing.T) {
		var mu sync.Mutex
		deadline.Describe(t, "locked", func() string {
			mu.Lock()
			defer mu.Unlock()
			return "free"
		})
		deadline.Describe(t, "broken", func() string { panic("no rows") })
		mu.Lock()
		mu.Lock() //nolint:staticcheck // planted
	}, []string{`locked: it cannot be read within 2s: it is locked`, `broken: it cannot be read: no rows`, `sync\.\(\*Mutex\)\.Lock`}},

	"a cleanup": {func(t *testing.T) {
		t.Cleanup(func() { <-make(chan struct{}) })
	}, []string{`TestNoTestWaitsForEver \(a cleanup\) waits`, `runCleanup`}},

	"a parallel subtest": {func(t *testing.T) {
		t.Run("quick", func(t *testing.T) { t.Parallel() })
		t.Run("slow", func(t *testing.T) {
			t.Parallel()
			<-make(chan struct{})
		})
	}, []string{`TestNoTestWaitsForEver .*func\d+\.2 waits`}},
}

// Whatever a test waits for, it ends in its time, and what it waits for is printed.
func TestNoTestWaitsForEver(t *testing.T) {
	if kind := os.Getenv(plantedName); kind != "" {
		t.Run(kind, planted[kind].test)
		return
	}
	var all sync.WaitGroup // they wait more than they compute: all at once
	for kind, p := range planted {
		all.Go(func() {
			code, said := runPlanted(t, "TestNoTestWaitsForEver", kind)
			if code != 2 {
				t.Errorf("%s: exit %d", kind, code)
			}
			t.Log(said) // with -v it shows what somebody would read
			for _, want := range append(p.want,
				`deadline: TestNoTestWaitsForEver .* waits for ever: for \d+s`, `(?m)^so stands the package$`, `goroutine profile: total \d+`,
			) {
				if !regexp.MustCompile(want).MatchString(said) {
					t.Errorf("%s: it does not print %q", kind, want)
				}
			}
		})
	}
	all.Wait()
}

// each is how long a test or subtest takes that takes long, and together more than a second.
const each = 200 * time.Millisecond

// Many subtests take longer together than a test may, and so does a test that waits for its turn.
func TestMuchIsNotForEver(t *testing.T) {
	if os.Getenv(plantedName) == "" {
		t.Parallel()
		if code, said := runPlanted(t, "TestMuchIsNotForEver", "much"); code != 0 {
			t.Errorf("exit %d:\n%s", code, said)
		}
		return
	}
	for range 4 {
		t.Run("one by one", func(*testing.T) { <-time.After(each) })
		t.Run("in turn", func(t *testing.T) {
			t.Parallel()
			<-time.After(each)
		})
	}
}

var long = flag.Bool("long", false, "TestAFlagAsksForMore takes longer than a test may")

// A flag of the package extends the time of a test.
func TestAFlagAsksForMore(t *testing.T) {
	if *long {
		<-time.After(8 * each)
		return
	}
	t.Parallel()
	if code, said := runPlanted(t, "TestAFlagAsksForMore", "long", "-long"); code != 0 {
		t.Errorf("exit %d:\n%s", code, said)
	}
}

// runPlanted runs a test in a process of its own, in which a test has one second.
func runPlanted(t *testing.T, test, kind string, flags ...string) (code int, said string) {
	t.Helper()
	args := append([]string{"-test.run=^" + test + "$", "-test.timeout=10s", "-test.parallel=1"}, flags...)
	child := exec.CommandContext(t.Context(), os.Args[0], args...)
	child.Env = append(os.Environ(), plantedName+"="+kind)
	out, _ := child.CombinedOutput() // its exit code tells
	return child.ProcessState.ExitCode(), string(out)
}
