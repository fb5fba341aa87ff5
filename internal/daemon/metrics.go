package daemon

// Metrics for Prometheus. A series is there once it is counted, and from the start where an alert watches for its first
// count: an increase from nothing to one is none to Prometheus. No label holds a stranger's text.

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// Results of a delivery. [Daemon.Receive] returns one of the first three.
const (
	deliveryAccepted  = "accepted"
	deliveryDuplicate = "duplicate"
	deliveryIgnored   = "ignored"   // there is nothing to do
	deliveryRefused   = "refused"   // no webhook of ours
	deliveryMalformed = "malformed" // signed, and not what GitHub sends
	deliveryFailed    = "failed"    // it is not durable
)

// Results of a look, as the metric names them.
const (
	resultOK       = "ok"
	resultSpared   = "spared"
	resultLimited  = "limited"
	resultFailed   = "failed"
	resultGone     = "gone"
	resultPanicked = "panicked"
	resultDeferred = "deferred"
)

// metricEvents are the events that have a label of their own; all others are otherLabel.
var metricEvents = []string{
	"check_run", "check_suite", "installation", "installation_repositories", "installation_target", "issue_comment", "issues",
	"merge_group", "ping", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
	"push", "repository", "status", "workflow_job", "workflow_run", otherLabel,
}

// taskTexts are what a key of each kind is in GitHub's words, and what the log says where it fails.
var taskTexts = map[string]struct{ label, failed string }{
	workkey.KindPull:   {"pull_request", "a pull request could not be evaluated, and will be again"},
	workkey.KindHead:   {"commit", "a commit's pull requests could not be found, and will be looked for again"},
	workkey.KindGroup:  {"merge_group", "a merge group could not be evaluated, and will be again"},
	workkey.KindRepo:   {"repository", "a repository's pull requests could not be listed, and will be again"},
	workkey.KindTenant: {"installation", "an installation's repositories could not be listed, and will be again"},
	workkey.KindApp:    {"app", "installations and failed deliveries could not be listed, and will be again"},
}

// metricStatuses are the HTTP statuses that are counted apart from their hundred.
var metricStatuses = []int{304, 401, 403, 404, 422, 429}

const (
	otherLabel        = "other"
	maxBudgets        = 100             // installations that are shown: those that have the least left
	lowBudgetPart     = 8               // of an hour's requests: before a tenth and a little, which is left to others, is reached
	scrapeReadTimeout = 3 * time.Second // a table that does not answer must not hold a scrape
	maxScrapes        = 4               // scrapes at once
	scrapeTimeout     = 10 * time.Second
)

// MetricsOptions say where the figures come from that are read when somebody asks. All of them may be nil.
type MetricsOptions struct {
	Version string                                      // of the build
	Health  func(context.Context) (store.Health, error) // how the table stands
	// Heard counts the answers of reviewers that are kept, by preset
	Heard     func(context.Context) (map[string]store.HeardCount, error)
	BegunAnew bool // the database was damaged at the start
	// Circuits counts the circuits that are open now
	Circuits func() int
	Presets  []string                       // that there are
	Budgets  func() map[int64]client.Budget // the rest of the hour's requests, by installation; zero: GitHub has not said it
	Now      func() time.Time               // nil: time.Now
	Log      *slog.Logger                   // nil: nothing is logged
}

// Metrics are the daemon's counters, on a registry of their own. They may be used by several goroutines.
type Metrics struct {
	MetricsOptions
	registry *prometheus.Registry

	deliveries, decisions, reruns, failures, requests, circuits *prometheus.CounterVec
	redelivered, healed, panics, acceptErrors                   prometheus.Counter
	tasks                                                       *prometheus.HistogramVec
	accepts, lateness, answers                                  prometheus.Observer

	backlogAge       atomic.Int64              // how long the oldest of the backlog has been due
	answered, silent atomic.Pointer[time.Time] // see Answered and Unanswered; nil: zero
}

// NewMetrics makes the counters.
func NewMetrics(o MetricsOptions) *Metrics {
	if o.Log = orDiscard(o.Log); o.Now == nil {
		o.Now = time.Now
	}
	m := &Metrics{MetricsOptions: o, registry: prometheus.NewPedanticRegistry()}
	auto := promauto.With(m.registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: "coordinator_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Name: "coordinator_" + name, Help: help, Buckets: buckets}, labels)
	}
	m.deliveries = counter("webhook_deliveries_total",
		"Webhook deliveries that came, by event and by what became of them. failed is ours: look at the database. "+
			"refused is a wrong signature: compare the secrets.", "event", "result")
	m.accepts = histogram("webhook_accept_duration_seconds",
		"Time from a delivery's right signature until it is on disk. GitHub gives up after 10 s: if it rises, the disk is slow.",
		[]float64{.0005, .001, .0025, .005, .01, .015, .025, .05, .1, .25, .5, 1, 5, 10}).WithLabelValues()
	m.decisions = counter("verdict_changes_total",
		"Changes of a pull request's verdict, or of its head, by the verdict that it has since.", "verdict")
	m.reruns = counter("reviewer_reruns_total",
		"Reruns of reviewers' failed workflow runs that were due, by what became of them. "+
			"If refused rises, the App may lack actions: write.", "outcome")
	m.tasks = histogram("task_duration_seconds",
		"Time that a task took, by what it is about (an evaluation of a pull request, or a list of what an installation has) "+
			"and by what it came to.", []float64{.001, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}, "task", "result")
	m.failures = counter("task_failures_total",
		"Tasks that failed and are tried again, by the reason. What to do stands in the log beside each, as remedy.", "reason")
	m.lateness = histogram("deadline_lateness_seconds",
		"How long after a moment that the policy sets (a deadline, the end of a grace, a rerun) its pull request was evaluated.",
		[]float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}).WithLabelValues()
	m.requests = counter("github_requests_total",
		"Requests that were sent to GitHub, by endpoint and status; fault: there was no answer. If 401 rises, renew the App's key.",
		"endpoint", "status")
	m.answers = histogram("github_request_duration_seconds", "Time that GitHub took to answer a request.",
		[]float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}).WithLabelValues()
	m.redelivered = counter("webhook_redeliveries_total",
		"Failed deliveries that GitHub was asked to send again. It rises after an outage; "+
			"if it always does, GitHub does not reach us.").WithLabelValues()
	m.healed = counter("resync_pull_requests_total",
		"Pull requests that a resync had evaluated. It rises at a start; "+
			"if it rises by far more than that, deliveries do not come.").WithLabelValues()
	m.panics = counter("http_panics_total",
		"HTTP requests that met a mistake of ours. If it rises, report what the log says.").WithLabelValues()
	m.acceptErrors = counter("accept_errors_total",
		"Connections that could not be accepted, mostly for want of file descriptors.").WithLabelValues()
	m.circuits = counter("circuits_opened_total",
		"Times that a reviewer stopped being asked again in a repository, by the cause: its service was down, or it has a limit. "+
			"The log says whose.", "cause")
	m.registry.MustRegister(m, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.startWatched()
	return m
}

// startWatched makes the series whose first count an alert watches for.
func (m *Metrics) startWatched() {
	for _, event := range metricEvents {
		m.deliveries.WithLabelValues(event, deliveryFailed)
	}
	m.deliveries.WithLabelValues(otherLabel, deliveryRefused)
	m.deliveries.WithLabelValues(otherLabel, deliveryAccepted) // an alert says that there is none
	m.tasks.WithLabelValues(taskTexts[workkey.KindPull].label, resultPanicked)
	for _, text := range classTexts {
		m.failures.WithLabelValues(text.label)
	}
}

// Delivered counts a delivery: accepted, duplicate, ignored, refused, malformed or failed. The event may be anything.
func (m *Metrics) Delivered(event, result string) {
	m.deliveries.WithLabelValues(knownLabel(metricEvents, event), result).Inc()
}

// Decided counts a decision that changed: waiting, passed, blocked, unverified or ended.
func (m *Metrics) Decided(verdict string) { m.decisions.WithLabelValues(verdict).Inc() }

// Reran counts a rerun that was due: done, void, refused or failed.
func (m *Metrics) Reran(outcome string) { m.reruns.WithLabelValues(outcome).Inc() }

// Looked counts work on a key of a kind: ok, spared, limited, failed, gone, panicked or deferred.
func (m *Metrics) Looked(kind, result string, took time.Duration) {
	m.tasks.WithLabelValues(cmp.Or(taskTexts[kind].label, otherLabel), result).Observe(secondsOf(took))
}

// countFailure counts work that failed and is tried again.
func (m *Metrics) countFailure(class errorClass) {
	m.failures.WithLabelValues(classTexts[class].label).Inc()
}

// WokeLate tells how long after it was due a key was looked at.
func (m *Metrics) WokeLate(d time.Duration) { m.lateness.Observe(secondsOf(d)) }

// CircuitOpened counts a circuit that has opened, by a limit or by outages.
func (m *Metrics) CircuitOpened(isLimit bool) {
	cause := "outage"
	if isLimit {
		cause = "limit"
	}
	m.circuits.WithLabelValues(cause).Inc()
}

// Asked counts a request to GitHub, by the endpoint as a template. Status 0 says that there was no answer.
func (m *Metrics) Asked(endpoint string, status int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, statusLabel(status)).Inc()
	m.answers.Observe(secondsOf(took))
	now := m.Now()
	if status > 0 && status < 500 { // a failure of its own is no answer
		m.answered.Store(&now)
		m.silent.Store(nil)
	} else {
		m.silent.CompareAndSwap(nil, &now)
	}
}

// Answered is when GitHub last answered; zero: never yet.
func (m *Metrics) Answered() time.Time { return *cmp.Or(m.answered.Load(), new(time.Time)) }

// Unanswered is since when GitHub has answered nothing that it was asked; zero: it answered what it was asked last, or
// was not asked.
func (m *Metrics) Unanswered() time.Time { return *cmp.Or(m.silent.Load(), new(time.Time)) }

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.Log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError, // half of the figures are better than none
		MaxRequestsInFlight: maxScrapes,
		Timeout:             scrapeTimeout,
	})
}

// knownLabel returns value if it is on the list, else otherLabel.
func knownLabel(list []string, value string) string {
	if slices.Contains(list, value) {
		return value
	}
	return otherLabel
}

// statusLabel returns an HTTP status, or its hundred, as a label.
func statusLabel(status int) string {
	switch {
	case status == 0:
		return "fault"
	case slices.Contains(metricStatuses, status):
		return strconv.Itoa(status)
	}
	return fmt.Sprintf("%dxx", status/100)
}

// secondsOf returns no less than zero: a clock that was set back must not make a sum fall.
func secondsOf(d time.Duration) float64 { return max(d, 0).Seconds() }

// timestampOf returns a moment in seconds since 1970; 0 if it is none.
func timestampOf(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

// orDiscard returns l, or a logger that discards everything if there is none.
func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Describe implements [prometheus.Collector], for what is read at a scrape: of the table, and of the budgets at GitHub. It names no
// figure beforehand, for those that cannot be read are missing: a zero would say that all is well.
func (*Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(name, help string, value float64, labels ...string) { // each label's name, then its value
		labelled := prometheus.Labels{}
		for pair := range slices.Chunk(labels, 2) {
			labelled[pair[0]] = pair[1]
		}
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("coordinator_"+name, help, nil, labelled), prometheus.GaugeValue, value)
	}
	m.collectQueue(gauge)
	m.collectHeard(gauge)
	m.collectBudgets(gauge)
	gauge("build_info", "1, with the version that runs as a label.", 1,
		"version", cmp.Or(m.Version, "unknown"), "goversion", runtime.Version())
	gauge("tasks_backlog_oldest_due_seconds",
		"How long the oldest of those tasks has been due, such as a resync's: limits and what has just happened go before it.",
		secondsOf(time.Duration(m.backlogAge.Load())))
	var begunAnew float64
	if m.BegunAnew {
		begunAnew = 1
	}
	gauge("database_begun_anew", "1 if the database was damaged at the start, and an empty one was begun.", begunAnew)
	gauge("circuits_open",
		"Reviewers that are not asked again now, for their service is down or has a limit; each counted once in a repository.",
		float64(valueOf(m.Circuits)))
	gauge("github_last_answer_timestamp_seconds",
		"When GitHub last answered; 0: not yet. It is old, too, when there was nothing to ask.", timestampOf(m.Answered()))
	var unreachable float64
	if since := m.Unanswered(); !since.IsZero() {
		unreachable = secondsOf(m.Now().Sub(since))
	}
	gauge("github_unreachable_seconds",
		"How long GitHub has answered nothing that it was asked; 0: it answers, or was not asked. A refusal is an answer.", unreachable)
}

// gaugeFunc shows a figure.
type gaugeFunc func(name, help string, value float64, labels ...string)

// collectQueue shows how the table stands.
func (m *Metrics) collectQueue(gauge gaugeFunc) {
	h, err := readWithin(m.Health)
	readable := 1.0
	if err != nil {
		readable = 0
	}
	gauge("database_readable",
		"Whether our database could be read for this scrape. If it is 0, the figures that stand there are missing: look at its disk.",
		readable)
	if err != nil {
		return
	}
	gauge("tasks", "Tasks that are known: each pull request to evaluate, and each list to read.", float64(h.Keys))
	gauge("pull_requests_undecided",
		"Pull requests without a verdict, or whose verdict a resolved thread may still change.", float64(h.Open))
	gauge("tasks_due", "Tasks that are due and wait for a worker.", float64(h.Due))
	gauge("tasks_running", "Tasks that are being done.", float64(h.Leased))
	gauge("tasks_failing", "Tasks that failed the last time. The dashboard says which, and the log why.", float64(h.Failing))
	gauge("tasks_oldest_due_seconds",
		"How long the task that has waited longest has been due; what a rate limit holds back is left out. The first figure to look at.",
		secondsOf(h.Oldest))
	gauge("tasks_backlog",
		"Tasks that wait for nobody, such as the first look at each open pull request: what has just happened goes before them.",
		float64(h.BacklogSize()))
	gauge("installations", "Installations that have tasks.", float64(h.Tenants))
	gauge("installations_limited",
		"Installations that wait for a limit of GitHub's, or for their next hour; their tasks are not late.", float64(len(h.Held)))
	gauge("limit_ends_timestamp_seconds", "When the last of these limits ends; 0: there is none.", timestampOf(h.HeldUntil()))
	gauge("webhook_deliveries_remembered", "Webhook deliveries that would be recognised if they came again.", float64(h.Accepted))
}

// collectHeard shows how well reviewers are understood. What could not be read is missing.
func (m *Metrics) collectHeard(gauge gaugeFunc) {
	heard, err := readWithin(m.Heard)
	if err != nil {
		return
	}
	counts := map[string]store.HeardCount{}
	for preset, n := range heard {
		label := knownLabel(m.Presets, preset)
		counts[label] = store.HeardCount{Answers: counts[label].Answers + n.Answers, Unread: counts[label].Unread + n.Unread}
	}
	for label, n := range counts {
		gauge("reviewer_answers",
			"Newest answers of reviewers that are kept, of the last 30 days, at most 20 of each in a repository; by preset.",
			float64(n.Answers), "preset", label)
		gauge("reviewer_answers_unread",
			"Those of these answers in which nobody could read a verdict: if most are, the format may have changed.",
			float64(n.Unread), "preset", label)
	}
}

// collectBudgets shows the rest of the hours of installations: how many are low, and those that have the fewest requests left. A
// personal token's is there before GitHub has said it: its label is known.
func (m *Metrics) collectBudgets(gauge gaugeFunc) {
	budgets, now := valueOf(m.Budgets), m.Now()
	var tenants []int64
	low := 0
	for tenant, b := range budgets {
		if b.Left*lowBudgetPart <= b.Limit && b.Reset.After(now) { // an hour that has ended limits nobody
			low++
		}
		if b != (client.Budget{}) || tenant == 0 {
			tenants = append(tenants, tenant)
		}
	}
	gauge("installations_short_of_requests",
		"Installations that have an eighth or less left of an hour that has not ended: at about a tenth they wait for its end.", float64(low))
	slices.SortFunc(tenants, func(a, b int64) int {
		return cmp.Or(cmp.Compare(budgets[a].Left, budgets[b].Left), cmp.Compare(a, b))
	})
	for _, tenant := range tenants[:min(len(tenants), maxBudgets)] {
		label := strconv.FormatInt(tenant, 10)
		gauge("github_rate_limit_remaining_requests",
			"Requests that are left of the hour; of the 100 installations that have the fewest.", float64(budgets[tenant].Left),
			"installation", label)
		gauge("github_rate_limit_requests", "Requests that an hour has; of the same installations. 0: GitHub has not said it yet.",
			float64(budgets[tenant].Limit), "installation", label)
	}
}

// valueOf returns what a function that may be nil returns.
func valueOf[T any](f func() T) (value T) {
	if f != nil {
		value = f()
	}
	return value
}

// readWithin returns what a function that may be nil reads of the table in the time that a scrape has for it.
func readWithin[T any](read func(context.Context) (T, error)) (value T, err error) {
	if read == nil {
		return value, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeReadTimeout)
	defer cancel()
	return read(ctx)
}
