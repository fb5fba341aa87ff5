package quorum_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestCommandLine(t *testing.T) {
	for body, want := range map[string]string{
		"/review-coordinator rerun":                               "/review-coordinator rerun",
		"/review-coordinator rerun openai \r\nbecause":            "/review-coordinator rerun openai",
		"/review-coordinator":                                     "/review-coordinator",
		"/review-coordinator\nrerun":                              "/review-coordinator",
		"/review-coordinators rerun":                              "",
		" /review-coordinator rerun":                              "/review-coordinator rerun",
		"\r\n\t/Review-Coordinator Rerun":                         "/Review-Coordinator Rerun",
		"/review-coordinator: rerun":                              "",
		"> /review-coordinator rerun":                             "",
		"please\n/review-coordinator rerun":                       "",
		"":                                                        "",
		"/review-coordinator accept " + strings.Repeat("é", 2000): "/review-coordinator accept " + strings.Repeat("é", 498),
	} {
		if got := quorum.CommandLine(body); got != want {
			t.Errorf("%.60q is read as %.80q, want %.80q", body, got, want)
		}
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add("/review-coordinator accept 1f7f530 why\nmore")
	f.Add("/review-coordinator \xff")
	f.Fuzz(func(t *testing.T, body string) {
		line := quorum.CommandLine(body)
		if line == "" {
			return
		}
		isOfBody := strings.Contains(body, line) || !utf8.ValidString(body)
		isCommand := strings.HasPrefix(strings.ToLower(line), quorum.CommandWord)
		if !isOfBody || !isCommand || !utf8.ValidString(line) || len(line) > 1<<10 || strings.Contains(line, "\n") {
			t.Errorf("%q is read as %q", body, line)
		}
	})
}
