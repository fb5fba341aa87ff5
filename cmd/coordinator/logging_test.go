package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A command logs nothing unless somebody asks: by a flag, by -v, or by a variable, in this order.
func TestWhoLogsWhat(t *testing.T) {
	nothing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized) // at which nobody looks again, as at what is not found
	}))
	defer nothing.Close()
	for _, c := range []struct {
		args, level, format string
		logs, json          bool
	}{
		{},
		{args: "-v", logs: true},
		{args: "--log-level debug", logs: true},
		{args: "--log-level warn"},
		{args: "--log-level warn -v"},
		{level: "debug", logs: true},
		{level: "error", args: "-v", logs: true},
		{level: "debug", args: "--log-level error"},
		{args: "-v --log-format json", logs: true, json: true},
		{args: "-v", format: "json", logs: true, json: true},
		{args: "-v --log-format text", format: "json", logs: true},
	} {
		var out, said bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{
				"COORDINATOR_LOG_LEVEL": c.level, "COORDINATOR_LOG_FORMAT": c.format, "GITHUB_TOKEN": "ghp_canary", "GITHUB_API_URL": nothing.URL,
			}[name]
		}
		program := &command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Getenv: getenv}
		if code := program.Main(t.Context(), append(strings.Fields(c.args), "explain", "octo/shop#7")); code != 1 {
			t.Errorf("%+v: exit %d: %s", c, code, said.String())
		}
		if got := strings.Contains(said.String(), "GitHub answered"); got != c.logs {
			t.Errorf("%+v: it logs %t: %s", c, got, said.String())
		}
		if got := strings.HasPrefix(said.String(), "{"); got != c.json || strings.Contains(said.String(), "canary") {
			t.Errorf("%+v: it says %s", c, said.String())
		}
	}
}
