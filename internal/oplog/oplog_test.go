package oplog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const sha = "0123456789abcdef0123456789abcdef01234567"

// One line in each format is what docs/daemon.md shows.
func TestALineInEachFormat(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	for isJSON, want := range map[bool]string{
		false: `time=2000-01-01T00:00:00.000Z level=WARN msg="it failed" installation=77 repository=acme/shop pull_request=7 took=1.5s ` +
			`until=2026-01-02T15:04:05.000Z err="it is gone"` + "\n",
		true: `{"time":"2000-01-01T00:00:00.000Z","level":"WARN","msg":"it failed","installation":77,"repository":"acme/shop",` +
			`"pull_request":7,"took":"1.5s","until":"2026-01-02T15:04:05.000Z","err":"it is gone"}` + "\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			oplog.New(&out, oplog.Style{JSON: isJSON}).With(oplog.Subject("77/acme/shop#7")).Warn(
				"it failed", "took", 1500*time.Millisecond, "until", time.Date(2026, 1, 2, 16, 4, 5, 0, zone), "err", errors.New("it is gone"),
			)
			if got := out.String(); got != want {
				t.Errorf("the line is\n%swant\n%s", got, want)
			}
		})
	}
}

// A stranger's text is one value of one line in every format, and nothing that a terminal obeys.
func TestHostileValuesStayValues(t *testing.T) {
	hostile := "a\n{\"level\":\"ERROR\"}\r\x1b]0;title\x07 \u009b31m \u202e\u2028 \\x1b[31m \" = \xff"
	for name, o := range map[string]oplog.Style{
		"text": {}, "json": {JSON: true},
		"terminal": {Color: true}, "job": {Clock: time.TimeOnly},
	} {
		var out bytes.Buffer
		oplog.New(&out, o).Error("it failed", "text", hostile, "err", errors.New(hostile), "any", []string{hostile},
			"long", strings.Repeat("x", 1<<20))
		text := out.String()
		if n := strings.Count(text, "\n"); n != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d lines: %q", name, n, text[:300])
		}
		for _, ours := range []string{"\x1b[2m", "\x1b[0m", "\x1b[91m", "\x1b[92m", "\x1b[22m", "\x1b[2;91m"} { // the handler's own colours
			text = strings.ReplaceAll(text, ours, "")
		}
		bad := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
		if i := strings.IndexFunc(text, bad); i >= 0 {
			t.Errorf("%s: a character that does not print: %q", name, text[i:min(i+40, len(text))])
		}
		if len(text) > 40<<10 {
			t.Errorf("%s: a line of %d bytes", name, len(text))
		}
		if o.JSON {
			var line map[string]any
			if err := json.Unmarshal([]byte(text), &line); err != nil || line["level"] != "ERROR" {
				t.Errorf("%v: %s", err, text[:300])
			}
		}
	}
}

func TestLevelsLeaveOutWhatIsBelow(t *testing.T) {
	for i, name := range []string{"debug", "info", "WARN", "error"} {
		level, err := oplog.ParseLevel(name)
		var out bytes.Buffer
		l := oplog.New(&out, oplog.Style{Level: level})
		l.Debug("x")
		l.Info("x")
		l.Warn("x")
		l.Error("x")
		if got := strings.Count(out.String(), "\n"); err != nil || got != 4-i {
			t.Errorf("%s: %d lines, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "warning", "warn+1", "0", "\x1b[31m"} {
		if _, err := oplog.ParseLevel(name); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("the level %q: %v", name, err)
		}
		if _, err := oplog.ParseFormat(name); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("the format %q: %v", name, err)
		}
	}
}

func TestFieldsAreGitHubsWords(t *testing.T) {
	for want, field := range map[string]slog.Attr{
		"":                                           oplog.Subject("app"),
		"installation=77":                            oplog.Subject("77"),
		"installation=77 repository=acme/shop":       oplog.Subject("77/acme/shop"),
		"repository=acme/shop pull_request=7":        oplog.Subject("0/acme/shop#7"),
		"repository=acme/web pull_request=8":         oplog.PullRequest(quorum.PR{Owner: "acme", Repo: "web", Number: 8}),
		"installation=77 repository=a/b head=" + sha: oplog.Subject("77/a/b@" + sha),
		`key="no key"`:                               oplog.Subject("no key"),
	} {
		var out bytes.Buffer
		oplog.New(&out, oplog.Style{}).Info("x", field)
		_, got, _ := strings.Cut(strings.TrimSpace(out.String()), "msg=x")
		if strings.TrimSpace(got) != want {
			t.Errorf("the fields are %q, want %q", got, want)
		}
	}
}
