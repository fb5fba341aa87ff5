package main

// The machine that a figure was measured on: without it a figure says nothing.

import (
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
	Fsync  float64 `json:"fsync_ms"` // median of writing 4 KB and syncing, where the database is
}

func (m machine) String() string {
	return fmt.Sprintf("%d × %s, %s, %s, fsync %s ms", m.Cores, m.CPU, m.Kernel, m.Go, number(m.Fsync))
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
	m.Fsync, err = fsyncTakes(dir)
	return m, err
}

func fsyncTakes(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, fmt.Errorf("measure fsync: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	var took times
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
	return took.at(0.5), nil
}
