package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// scrape returns what Prometheus would read, by series.
func scrape(t *testing.T, m *Metrics) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	series := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		if i := strings.LastIndexByte(line, ' '); i > 0 && !strings.HasPrefix(line, "#") {
			series[line[:i]] = line[i+1:]
		}
	}
	return series
}

// An alert asks for an increase, and a series that begins with one has not increased.
func TestWhatAlertsWatchIsThereFromTheStart(t *testing.T) {
	m := NewMetrics(MetricsOptions{Version: "v1.2.3"})
	want := []string{
		"coordinator_webhook_accept_duration_seconds_count", "coordinator_deadline_lateness_seconds_count", "coordinator_webhook_redeliveries_total",
		"coordinator_resync_pull_requests_total",
		"coordinator_http_panics_total", "coordinator_accept_errors_total", "coordinator_database_begun_anew",
		"coordinator_tasks", "coordinator_pull_requests_undecided", "coordinator_tasks_due",
		"coordinator_tasks_running", "coordinator_tasks_failing", "coordinator_tasks_oldest_due_seconds", "coordinator_installations",
		"coordinator_tasks_backlog_oldest_due_seconds",
		"coordinator_webhook_deliveries_remembered", "coordinator_github_last_answer_timestamp_seconds", "coordinator_installations_short_of_requests",
		"coordinator_github_unreachable_seconds", `coordinator_task_duration_seconds_count{result="panicked",task="pull_request"}`,
		`coordinator_webhook_deliveries_total{event="other",result="accepted"}`, `coordinator_webhook_deliveries_total{event="other",result="refused"}`,
	}
	for _, event := range []string{"pull_request", "workflow_run", "check_run", "status", "push", "installation", "ping", "merge_group", "other"} {
		want = append(want, fmt.Sprintf(`coordinator_webhook_deliveries_total{event=%q,result="failed"}`, event))
	}
	for _, reason := range []string{
		"unreachable", "broken_answer", "forbidden", "suspended", "unauthorized", "database", "moved", "other",
	} {
		want = append(want, fmt.Sprintf("coordinator_task_failures_total{reason=%q}", reason))
	}
	series := scrape(t, m)
	for _, name := range want {
		if series[name] != "0" {
			t.Errorf("%s is %q, want 0", name, series[name])
		}
	}
	if series["coordinator_database_readable"] != "1" || series["go_goroutines"] == "" || series["process_start_time_seconds"] == "" {
		t.Error("the table's, Go's or the process's figures are missing")
	}
	for name := range series {
		if strings.HasPrefix(name, "coordinator_build_info{") && strings.Contains(name, `version="v1.2.3"`) {
			return
		}
	}
	t.Error("coordinator_build_info is missing")
}

// What a daemon shows that has looked its repositories over for an hour, in which nothing happened.
func TestAnIdleDaemonShowsFewSeries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMetrics(MetricsOptions{
			Presets: review.Presets(), Budgets: func() map[int64]client.Budget { return map[int64]client.Budget{1: {Left: 4000, Limit: 5000}} },
		})
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir(), func(c *Config) { c.Metrics = m })
		for _, endpoint := range []string{
			"GET /app", "GET /app/installations", "GET /app/hook/deliveries", "POST /app/installations/{installation_id}/access_tokens",
			"GET /installation/repositories", "GET /repos/{owner}/{repo}/contents/{path...}", "GET /repos/{owner}/{repo}/pulls", "POST /graphql",
		} {
			m.Asked(endpoint, 200, time.Second)
			m.Asked(endpoint, 304, time.Second)
		}
		settle(time.Hour)
		h.stop()
		if n := len(scrape(t, m)); n > 400 {
			t.Errorf("%d series, want 400 at most", n)
		}
	})
}

// fullMetrics are metrics of which each has a series.
func fullMetrics() *Metrics {
	m := NewMetrics(MetricsOptions{
		Budgets: func() map[int64]client.Budget { return map[int64]client.Budget{77: {Left: 1, Limit: 2}} },
		Heard: func(context.Context) (map[string]store.HeardCount, error) {
			return map[string]store.HeardCount{"copilot": {Answers: 1}}, nil
		},
	})
	m.Decided("passed")
	m.Reran("done")
	m.Asked("GET /app", 200, time.Second)
	m.CircuitOpened(true)
	return m
}

// helpLine is the line of a scrape that explains one of our metrics.
var helpLine = regexp.MustCompile(`(?m)^# HELP (coordinator_[a-z_]+) (.*)$`)

func TestMetricsAreWellNamed(t *testing.T) {
	m := fullMetrics()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	if problems, err := promlint.New(w.Body).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	private := regexp.MustCompile(`tenant|look|poke|sight|lane|leased|\bkeys?\b|wake`)
	all := helpLine.FindAllStringSubmatch(text, -1)
	for _, line := range all {
		name, help := line[1], line[2]
		said := strings.NewReplacer("App's key", "", "look at", "").Replace(name + " " + help)
		if word := private.FindString(said); word != "" {
			t.Errorf("%s: the private word %q in %q", name, word, help)
		}
		if !strings.HasSuffix(help, ".") || len(help) > 200 {
			t.Errorf("%s: no short sentence: %q", name, help)
		}
	}
	if len(all) < 35 {
		t.Errorf("only %d metrics have a help", len(all))
	}
}

// A reviewer without a preset has a name of its policy's: it is no label.
func TestAnswersAreCountedByPreset(t *testing.T) {
	var fails error
	m := NewMetrics(MetricsOptions{
		Presets: []string{"copilot", "codex"},
		Heard: func(context.Context) (map[string]store.HeardCount, error) {
			return map[string]store.HeardCount{
				"copilot": {Answers: 20, Unread: 14}, "": {Answers: 3, Unread: 1}, "of a newer program": {Answers: 2},
			}, fails
		},
	})
	series := scrape(t, m)
	for name, want := range map[string]string{
		`coordinator_reviewer_answers{preset="copilot"}`:        "20",
		`coordinator_reviewer_answers_unread{preset="copilot"}`: "14",
		`coordinator_reviewer_answers{preset="codex"}`:          "",
		`coordinator_reviewer_answers{preset="other"}`:          "5",
		`coordinator_reviewer_answers_unread{preset="other"}`:   "1",
	} {
		if series[name] != want {
			t.Errorf("%s is %q, want %s", name, series[name], want)
		}
	}
	fails = errors.New("the table cannot be read")
	if got, there := scrape(t, m)[`coordinator_reviewer_answers{preset="copilot"}`]; there {
		t.Errorf("unread, it is %s: a zero would say that all is well", got)
	}
}

func TestWhatHappensIsCounted(t *testing.T) {
	m := NewMetrics(MetricsOptions{})
	m.Delivered("push", "accepted")
	m.Decided("passed")
	m.Reran("void")
	m.Looked(workkey.KindPull, "spared", time.Millisecond)
	m.WokeLate(-time.Second) // a clock that was set back
	m.Asked("GET /repos/{owner}/{repo}/pulls", 200, time.Second)
	m.Asked("GET /repos/{owner}/{repo}/pulls", 304, time.Second)
	m.Asked("GET /repos/{owner}/{repo}/pulls", 418, time.Second)
	m.Asked("GET /repos/{owner}/{repo}/pulls", 0, time.Second)
	series := scrape(t, m)
	for name, want := range map[string]string{
		`coordinator_webhook_deliveries_total{event="push",result="accepted"}`:                         "1",
		`coordinator_verdict_changes_total{verdict="passed"}`:                                          "1",
		`coordinator_reviewer_reruns_total{outcome="void"}`:                                            "1",
		`coordinator_task_duration_seconds_count{result="spared",task="pull_request"}`:                 "1",
		`coordinator_deadline_lateness_seconds_sum`:                                                    "0",
		`coordinator_github_requests_total{endpoint="GET /repos/{owner}/{repo}/pulls",status="2xx"}`:   "1",
		`coordinator_github_requests_total{endpoint="GET /repos/{owner}/{repo}/pulls",status="304"}`:   "1",
		`coordinator_github_requests_total{endpoint="GET /repos/{owner}/{repo}/pulls",status="4xx"}`:   "1",
		`coordinator_github_requests_total{endpoint="GET /repos/{owner}/{repo}/pulls",status="fault"}`: "1",
		`coordinator_github_request_duration_seconds_count`:                                            "4",
	} {
		if series[name] != want {
			t.Errorf("%s is %q, want %s", name, series[name], want)
		}
	}
}

func TestNoLabelIsAStrangers(t *testing.T) {
	m := NewMetrics(MetricsOptions{})
	before := len(scrape(t, m))
	for _, evil := range []string{"", "evil", "push\n", "PUSH", strings.Repeat("x", 1<<16), "\xff"} {
		m.Delivered(evil, "refused")
	}
	series := scrape(t, m)
	if len(series) != before {
		t.Errorf("%d series became %d", before, len(series))
	}
	if got := series[`coordinator_webhook_deliveries_total{event="other",result="refused"}`]; got != "6" {
		t.Errorf("%s refused deliveries of other events, want 6", got)
	}
}

// A personal token's label is known before GitHub has answered, and an installation's is not. Who asks for both finds
// how many are low.
func TestABudgetIsThereFromTheStart(t *testing.T) {
	said := map[int64]client.Budget{0: {}}
	m := NewMetrics(MetricsOptions{Budgets: func() map[int64]client.Budget { return said }})
	for name, want := range map[string]string{
		`coordinator_github_rate_limit_remaining_requests{installation="0"}`: "0",
		`coordinator_github_rate_limit_requests{installation="0"}`:           "0", "coordinator_installations_short_of_requests": "0",
	} {
		if got := scrape(t, m)[name]; got != want {
			t.Errorf("of a token %s is %q, want %s", name, got, want)
		}
	}
	said = nil
	if got := scrape(t, m)["coordinator_installations_short_of_requests"]; got != "0" {
		t.Errorf("of an App without installations %q are low", got)
	}
}

func TestLowBudgetsAreCounted(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	said := map[int64]client.Budget{
		1: {Left: 625, Limit: 5000, Reset: now.Add(time.Second)},
		2: {Left: 626, Limit: 5000, Reset: now.Add(time.Hour)},
		3: {Left: 0, Limit: 5000, Reset: now}, // its hour has ended
		4: {},
	}
	m := NewMetrics(MetricsOptions{Now: func() time.Time { return now }, Budgets: func() map[int64]client.Budget { return said }})
	if got := scrape(t, m)["coordinator_installations_short_of_requests"]; got != "1" {
		t.Errorf("%s are low, want 1", got)
	}
	for tenant := range int64(200) { // and more than are shown one by one
		said[1000+tenant] = client.Budget{Limit: 60, Reset: now.Add(time.Minute)}
	}
	if got := scrape(t, m)["coordinator_installations_short_of_requests"]; got != "201" {
		t.Errorf("%s are low, want 201", got)
	}
}

func TestTheQueueAndTheBudgetsAreReadAtAScrape(t *testing.T) {
	fault := error(nil)
	budgets := map[int64]client.Budget{5: {}} // GitHub has not said it
	for tenant := range int64(150) {
		budgets[1000+tenant] = client.Budget{Left: int(tenant), Limit: 5000}
	}
	m := NewMetrics(MetricsOptions{
		Health: func(context.Context) (store.Health, error) {
			return store.Health{Keys: 9, Open: 8, Due: 7, Leased: 6, Failing: 5, Oldest: 1500 * time.Millisecond, Tenants: 4, Accepted: 3}, fault
		},
		Budgets: func() map[int64]client.Budget { return budgets },
		Now:     func() time.Time { return time.UnixMilli(1_700_000_000_250) },
	})
	m.Asked("GET /app", 200, time.Second)
	series := scrape(t, m)
	for name, want := range map[string]string{
		"coordinator_tasks": "9", "coordinator_pull_requests_undecided": "8", "coordinator_tasks_due": "7",
		"coordinator_tasks_running": "6", "coordinator_tasks_failing": "5",
		"coordinator_tasks_oldest_due_seconds": "1.5", "coordinator_installations": "4", "coordinator_webhook_deliveries_remembered": "3",
		"coordinator_github_last_answer_timestamp_seconds":                      "1.70000000025e+09",
		`coordinator_github_rate_limit_remaining_requests{installation="1099"}`: "99", `coordinator_github_rate_limit_requests{installation="1000"}`: "5000",
		`coordinator_github_rate_limit_remaining_requests{installation="1100"}`: "", `coordinator_github_rate_limit_remaining_requests{installation="5"}`: "",
	} {
		if series[name] != want {
			t.Errorf("%s is %q, want %q", name, series[name], want)
		}
	}
	fault = errors.New("the disk is gone")
	series = scrape(t, m)
	if series["coordinator_database_readable"] != "0" || series["coordinator_tasks_due"] != "" {
		t.Errorf("a table that cannot be read looks as if nothing were due: %q", series["coordinator_tasks_due"])
	}
}

func TestSilenceBeginsWithWhatIsNotAnswered(t *testing.T) {
	now := noon
	m := NewMetrics(MetricsOptions{Now: func() time.Time { return now }})
	for _, c := range []struct {
		status int
		since  time.Time
	}{{404, time.Time{}}, {0, noon.Add(2 * time.Minute)}, {502, noon.Add(2 * time.Minute)}, {401, time.Time{}}, {500, noon.Add(5 * time.Minute)}} {
		now = now.Add(time.Minute)
		m.Asked("GET /app", c.status, time.Second)
		if got := m.Unanswered(); !got.Equal(c.since) {
			t.Errorf("after status %d at %s: since %s, want %s", c.status, now, got, c.since)
		}
	}
}
