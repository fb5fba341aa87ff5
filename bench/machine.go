package main

// The machine that a figure was measured on: without it the figure cannot be compared.

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

type machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Fsync  float64 `json:"fsync_ms"`     // median of writing 4 KB and syncing, where the database is
	Rounds float64 `json:"rounds_per_s"` // just before the measurement began: see measureRounds
}

func (m machine) String() string {
	return fmt.Sprintf("%d × %s, %s, %s, fsync %s ms", m.Cores, m.CPU, m.Kernel, m.Go, formatNumber(m.Fsync))
}

func thisMachine(dir string) (machine, error) {
	m := machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Kernel: runtime.GOOS, Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(text))
	}
	var err error
	m.Fsync, err = measureFsync(dir)
	m.Rounds = measureRounds()
	return m, err
}

// measureRounds measures how fast one core is now: how often a second it decodes, encodes and hashes a fixed document.
// A shared machine can be a third slower in one hour than in the next; figures of different hours can be compared as
// far as their rounds are alike. It must never change, or it cannot be compared with older figures.
func measureRounds() float64 {
	const times = 1000 // 150 ms on a fast machine
	var lines []any
	for i := range 30 {
		lines = append(lines, map[string]any{
			"number": i, "title": "A line of a document that is always the same", "open": i%2 == 0,
			"labels": []any{"one", "two"}, "user": map[string]any{"login": "somebody", "id": 7 * i, "url": nil},
		})
	}
	document, _ := json.Marshal(lines) // cannot fail: JSON knows all these types
	began := time.Now()
	for range times {
		var read any
		_ = json.Unmarshal(document, &read)
		document, _ = json.Marshal(read)
		sha256.Sum256(document)
	}
	return times / time.Since(began).Seconds()
}

func measureFsync(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, fmt.Errorf("measure fsync: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	var took durations
	for range 100 {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, fmt.Errorf("measure fsync: %w", err)
		}
		if err := f.Sync(); err != nil {
			return 0, fmt.Errorf("measure fsync: %w", err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took.quantileMillis(0.5), nil
}
