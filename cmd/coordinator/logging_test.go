package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

// serve logs from info on, the others nothing, unless somebody asks: by a flag, by -v, or by a variable, in this order.
func TestWhoLogsWhat(t *testing.T) {
	for _, c := range []struct {
		level, variable string
		verbose         bool
		serve, job      int // of four lines: debug, info, warn, error
	}{
		{serve: 3},
		{verbose: true, serve: 4, job: 4},
		{variable: "error", serve: 1, job: 1},
		{variable: "error", verbose: true, serve: 4, job: 4},
		{level: "warn", verbose: true, serve: 2, job: 2},
		{level: "info", variable: "error", serve: 3, job: 3},
	} {
		for _, format := range []string{"", "json"} {
			var said bytes.Buffer
			getenv := func(name string) string {
				return map[string]string{logLevelVariable: c.variable, logFormatVariable: format}[name]
			}
			program := &command{Stderr: &said, Getenv: getenv, Verbose: c.verbose}
			if err := program.chooseLog(c.level, ""); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]int{"serve": c.serve, "job": c.job} {
				said.Reset()
				log := program.newLogger()
				if name == "serve" {
					log = program.serverLog()
				}
				for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
					log.Log(context.Background(), level, "it happened")
				}
				lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
				if got := strings.Count(said.String(), "it happened"); got != want {
					t.Errorf("%+v: %s logs %d lines, want %d", c, name, got, want)
				}
				if isJSON := strings.HasPrefix(lines[0], "{"); want > 0 && isJSON != (format == "json") {
					t.Errorf("%+v: %s logs %s", c, name, lines[0])
				}
			}
		}
	}
}
