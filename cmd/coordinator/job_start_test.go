package main

// What starting costs: a job starts the program for every event, and downloads it first. So the action has a build of
// its own (-tags action). Measured on the real binary, only where -binary asks for it: building it takes a minute.

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var binary = flag.Bool("binary", false, "build the program as a release does, and measure its size and its start")

// maxBinary is what the action's stripped program for linux/amd64 may weigh: go-github as the client is in it.
const maxBinary = 13_350_000

// maxStart is how much of an idle machine's processor the action's program is to take until its first request.
const maxStart = 4 * time.Millisecond

func TestBinary(t *testing.T) {
	if !*binary {
		t.Skip("go test ./cmd/coordinator -run TestBinary -v -args -binary measures it")
	}
	t.Run("action", measureAction)
	t.Run("full", func(t *testing.T) {
		file, size := stripped(t, "")
		t.Logf("size of the full program: %.2f MB", float64(size)/1e6)
		if out, err := exec.Command(file, "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "\n  serve ") {
			t.Errorf("the full program has no serve: %v: %s", err, out)
		}
	})
}

// measureAction measures the action's program: what it weighs, and what it takes to start.
func measureAction(t *testing.T) {
	file, size := stripped(t, "action")
	t.Logf("size of the action's program: %.2f MB of %.1f MB", float64(size)/1e6, float64(maxBinary)/1e6)
	if size > maxBinary {
		t.Errorf("the action's program weighs %d bytes, %d too many", size, size-maxBinary)
	}
	out, err := exec.Command(file, "serve").CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 2 || !strings.Contains(string(out), `has no command "serve"`) {
		t.Errorf("the action's program serves: %v: %s", err, out)
	}

	// The first request waits until the test has seen what the start took.
	asked, measured := make(chan time.Time, 100), make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- time.Now()
		<-measured
		http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
	}))
	defer server.Close()
	var took, used []time.Duration
	for range 31 {
		run := exec.Command(file, "run", "--repo", "acme/shop", "--pr", "1")
		run.Env = []string{"GITHUB_TOKEN=ghs_x", "GITHUB_ACTIONS=true", "GITHUB_API_URL=" + server.URL}
		began := time.Now()
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		took = append(took, (<-asked).Sub(began))
		used = append(used, processorTime(t, run.Process.Pid))
		for range cap(measured) {
			measured <- struct{}{}
		}
		if err := run.Wait(); err == nil {
			t.Fatal("a pull request that is not there was evaluated")
		}
		for len(asked)+len(measured) > 0 {
			select {
			case <-asked:
			case <-measured:
			}
		}
	}
	slices.Sort(took)
	slices.Sort(used)
	t.Logf("first request after its start: median %s, fastest %s, slowest %s", took[len(took)/2], took[0], took[len(took)-1])
	t.Logf("processor time until then: median %s, least %s, of %s", used[len(used)/2], used[0], maxStart)
}

// processorTime returns how long the threads of a process have run, which Linux says in nanoseconds.
func processorTime(t *testing.T, pid int) (all time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the threads of a process are not shown: %v", err)
	}
	for _, thread := range threads {
		var ran time.Duration
		if text, err := os.ReadFile(thread); err != nil {
			t.Fatal(err)
		} else if _, err := fmt.Sscan(string(text), &ran); err != nil {
			t.Fatal(err)
		}
		all += ran
	}
	return all
}

// stripped builds the program as a release does.
func stripped(t *testing.T, tags string) (file string, size int64) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "coordinator")
	build := exec.Command("go", "build", "-tags", tags, "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, info.Size()
}

// fullProgramOnly is what the action's program must not contain: the daemon and the fake GitHub, and what only they
// import.
var fullProgramOnly = []string{
	"github.com/review-coordinator/coordinator/internal/sandbox", "github.com/review-coordinator/coordinator/internal/story",
	"github.com/charmbracelet/x/ansi", "github.com/review-coordinator/coordinator/internal/dashboard",
	"github.com/review-coordinator/coordinator/internal/daemon", "github.com/review-coordinator/coordinator/internal/store",
	"modernc.org", "github.com/pressly/goose", "github.com/prometheus", "github.com/chromedp",
}

// TestTheActionsProgramIsLight: a job downloads and starts what its event needs, and nothing else.
func TestTheActionsProgramIsLight(t *testing.T) {
	for _, heavy := range contains(t, "action") {
		t.Errorf("the action's program contains %s", heavy)
	}
	// The full one does, or this test would see nothing.
	if all := contains(t, ""); len(all) == 0 {
		t.Error("neither does the full program")
	}
}

// contains are the packages of a build that the action must not have.
func contains(t *testing.T, tags string) (found []string) {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-tags", tags, ".")
	var said strings.Builder
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list packages: %v: %s", err, said.String())
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if slices.ContainsFunc(fullProgramOnly, func(heavy string) bool { return pkg == heavy || strings.HasPrefix(pkg, heavy+"/") }) {
			found = append(found, pkg)
		}
	}
	return found
}
