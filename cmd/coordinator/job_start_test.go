package main

// What starting costs: a job starts the program for every event, and downloads it first. Measured on the real binary, so
// only where -binary asks for it: building it takes a minute.

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var binary = flag.Bool("binary", false, "build the program as a release does, and measure its size and its start")

// maxBinary is what the stripped program for linux/amd64 may weigh.
const maxBinary = 15_000_000

func TestBinary(t *testing.T) {
	if !*binary {
		t.Skip("go test ./cmd/coordinator -run TestBinary -v -args -binary measures it")
	}
	file := filepath.Join(t.TempDir(), "coordinator")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("size: %.2f MB of %d MB", float64(info.Size())/1e6, maxBinary/1_000_000)
	if info.Size() > maxBinary {
		t.Errorf("the program weighs %d bytes, %d too many", info.Size(), info.Size()-maxBinary)
	}

	first := make(chan time.Time, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		first <- time.Now()
		http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
	}))
	defer server.Close()
	var took []time.Duration
	for range 20 {
		run := exec.Command(file, "run", "--repo", "acme/shop", "--pr", "1")
		run.Env = []string{"GITHUB_TOKEN=ghs_x", "GITHUB_ACTIONS=true", "GITHUB_API_URL=" + server.URL}
		began := time.Now()
		if err := run.Run(); err == nil {
			t.Fatal("a pull request that is not there was evaluated")
		}
		took = append(took, (<-first).Sub(began))
		for len(first) > 0 {
			<-first
		}
	}
	slices.Sort(took)
	t.Logf("first request after its start: median %s, fastest %s, slowest %s", took[len(took)/2], took[0], took[len(took)-1])
}
