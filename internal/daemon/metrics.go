package daemon

// Metrics for Prometheus. Every series whose labels are known beforehand is there from the start, at zero: an
// alert on a series that is not there never fires. No label holds what a stranger wrote: what is not on a list is
// "other".

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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

// The values that labels take. A value that is on no list becomes otherLabel.
var (
	metricEvents = []string{
		"check_run", "check_suite", "installation", "installation_repositories", "installation_target", "issue_comment",
		"issues", "merge_group",
		"ping", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "push", "repository",
		"status", "workflow_job", "workflow_run", otherLabel,
	}
	metricResults  = []string{deliveryAccepted, deliveryDuplicate, deliveryIgnored, deliveryRefused, deliveryMalformed, deliveryFailed}
	metricVerdicts = []string{"waiting", "passed", "blocked", "unverified", "ended"}
	metricReruns   = []string{"done", "void", "refused", "failed"}
	metricLooks    = []string{resultOK, resultSpared, resultLimited, resultFailed, resultGone, resultPanicked, resultDeferred}
	metricTasks    = []string{"pull_request", "commit", "merge_group", "repository", "installation", "app", otherLabel}
	metricStatuses = []string{"2xx", "3xx", "304", "4xx", "401", "403", "404", "422", "429", "5xx", "fault"}

	// metricEndpoints are the templates of all requests to GitHub.
	metricEndpoints = client.Endpoints()
)

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
	Reached  func() time.Time               // when GitHub last answered; zero: never
	Now      func() time.Time               // nil: time.Now
	Log      *slog.Logger                   // nil: nothing is logged
}

// Metrics are the daemon's counters, on a registry of their own. They may be used by several goroutines.
type Metrics struct {
	registry     *prometheus.Registry
	log          *slog.Logger
	deliveries   *prometheus.CounterVec
	accepts      prometheus.Histogram
	decisions    *prometheus.CounterVec
	reruns       *prometheus.CounterVec
	tasks        *prometheus.HistogramVec
	failures     *prometheus.CounterVec
	lateness     prometheus.Histogram
	requests     *prometheus.CounterVec
	answers      *prometheus.HistogramVec
	redelivered  prometheus.Counter
	healed       prometheus.Counter
	panics       prometheus.Counter
	acceptErrors prometheus.Counter
	circuits     *prometheus.CounterVec
	now          func() time.Time
	silent       atomic.Int64 // since when what GitHub was asked has no answer, in nanoseconds; 0: it answered last, or was not asked
}

// NewMetrics makes the counters, all at zero.
func NewMetrics(o MetricsOptions) *Metrics {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Metrics{
		registry: prometheus.NewPedanticRegistry(),
		log:      orDiscard(o.Log),
		now:      o.Now,
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_webhook_deliveries_total",
			Help: "Webhook deliveries that came, by event and by what became of them. failed is ours: look at the database. " +
				"refused is a wrong signature: compare the secrets.",
		}, []string{"event", "result"}),
		accepts: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "coordinator_webhook_accept_duration_seconds",
			Help:    "Time from a delivery's right signature until it is on disk. GitHub gives up after 10 s: if it rises, the disk is slow.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .015, .025, .05, .1, .25, .5, 1, 5, 10},
		}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_verdict_changes_total",
			Help: "Changes of a pull request's verdict, or of its head, by the verdict that it has since.",
		}, []string{"verdict"}),
		reruns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_reviewer_reruns_total",
			Help: "Reruns of reviewers' failed workflow runs that were due, by what became of them. " +
				"If refused rises, the App may lack actions: write.",
		}, []string{"outcome"}),
		tasks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coordinator_task_duration_seconds",
			Help: "Time that a task took, by what it is about (an evaluation of a pull request, or a list of what an installation has) " +
				"and by what it came to.",
			Buckets: []float64{.001, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"task", "result"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_task_failures_total",
			Help: "Tasks that failed and are tried again, by the reason. What to do stands in the log beside each, as remedy.",
		}, []string{"reason"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "coordinator_deadline_lateness_seconds",
			Help:    "How long after a moment that the policy sets (a deadline, the end of a grace, a rerun) its pull request was evaluated.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600},
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_github_requests_total",
			Help: "Requests that were sent to GitHub, by endpoint and status; fault: there was no answer. If 401 rises, renew the App's key.",
		}, []string{"endpoint", "status"}),
		answers: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coordinator_github_request_duration_seconds", Help: "Time that GitHub took to answer a request, by endpoint.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"endpoint"}),
		redelivered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "coordinator_webhook_redeliveries_total",
			Help: "Failed deliveries that GitHub was asked to send again. It rises after an outage; " +
				"if it always does, GitHub does not reach us.",
		}),
		healed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "coordinator_resync_pull_requests_total",
			Help: "Pull requests that a resync had evaluated. It rises at a start; " +
				"if it rises by far more than that, deliveries do not come.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "coordinator_http_panics_total", Help: "HTTP requests that met a mistake of ours. If it rises, report what the log says.",
		}),
		acceptErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "coordinator_accept_errors_total", Help: "Connections that could not be accepted, mostly for want of file descriptors.",
		}),
		circuits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coordinator_circuits_opened_total",
			Help: "Times that a reviewer stopped being asked again in a repository, by the cause: its service was down, or it has a limit. " +
				"The log says whose.",
		}, []string{"cause"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "coordinator_build_info", Help: "1, with the version that runs as a label.",
		ConstLabels: prometheus.Labels{"version": cmp.Or(o.Version, "unknown"), "goversion": runtime.Version()},
	})
	build.Set(1)
	begunAnew := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "coordinator_database_begun_anew", Help: "1 if the database was damaged at the start, and an empty one was begun.",
	})
	if o.BegunAnew {
		begunAnew.Set(1)
	}
	m.registry.MustRegister(
		m.deliveries, m.accepts, m.decisions, m.reruns, m.tasks, m.failures, m.lateness, m.requests, m.answers,
		m.redelivered, m.healed, m.panics, m.acceptErrors, m.circuits,
		build, begunAnew, newScrapeCollector(o, m.Unanswered), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.startSeries()
	return m
}

// startSeries makes every series whose labels are known.
func (m *Metrics) startSeries() {
	for _, event := range metricEvents {
		for _, result := range metricResults {
			m.deliveries.WithLabelValues(event, result)
		}
	}
	for _, cause := range []string{circuitByOutage, circuitByLimit} {
		m.circuits.WithLabelValues(cause)
	}
	for _, verdict := range metricVerdicts {
		m.decisions.WithLabelValues(verdict)
	}
	for _, outcome := range metricReruns {
		m.reruns.WithLabelValues(outcome)
	}
	for _, task := range metricTasks {
		for _, result := range metricLooks {
			m.tasks.WithLabelValues(task, result)
		}
	}
	for _, text := range classTexts {
		m.failures.WithLabelValues(text.label)
	}
	for _, endpoint := range metricEndpoints {
		m.answers.WithLabelValues(endpoint)
		for _, status := range metricStatuses {
			m.requests.WithLabelValues(endpoint, status)
		}
	}
}

// Delivered counts a delivery: accepted, duplicate, ignored, refused, malformed or failed. The event may be anything.
func (m *Metrics) Delivered(event, result string) {
	m.deliveries.WithLabelValues(knownLabel(metricEvents, event), knownLabel(metricResults, result)).Inc()
}

// AcceptTook tells how long a delivery took to become durable.
func (m *Metrics) AcceptTook(d time.Duration) { m.accepts.Observe(secondsOf(d)) }

// Decided counts a decision that changed: waiting, passed, blocked, unverified or ended.
func (m *Metrics) Decided(verdict string) {
	m.decisions.WithLabelValues(knownLabel(metricVerdicts, verdict)).Inc()
}

// Reran counts a rerun that was due: done, void, refused or failed.
func (m *Metrics) Reran(outcome string) {
	m.reruns.WithLabelValues(knownLabel(metricReruns, outcome)).Inc()
}

// Looked counts work on a key of a kind: ok, spared, limited, failed, gone, panicked or deferred.
func (m *Metrics) Looked(kind, result string, took time.Duration) {
	m.tasks.WithLabelValues(taskLabel(kind), knownLabel(metricLooks, result)).Observe(secondsOf(took))
}

// taskLabel returns the work on a key of a kind in GitHub's words.
func taskLabel(kind string) string {
	switch kind {
	case workkey.KindPull:
		return "pull_request"
	case workkey.KindHead:
		return "commit"
	case workkey.KindGroup:
		return "merge_group"
	case workkey.KindRepo:
		return "repository"
	case workkey.KindTenant:
		return "installation"
	case workkey.KindApp:
		return "app"
	}
	return otherLabel
}

// countFailure counts work that failed and is tried again.
func (m *Metrics) countFailure(class errorClass) {
	m.failures.WithLabelValues(classTexts[class].label).Inc()
}

// WokeLate tells how long after it was due a key was looked at.
func (m *Metrics) WokeLate(d time.Duration) { m.lateness.Observe(secondsOf(d)) }

// Asked counts a request to GitHub, by the endpoint as a template. Status 0 says that there was no answer.
func (m *Metrics) Asked(endpoint string, status int, took time.Duration) {
	endpoint = knownLabel(metricEndpoints, endpoint)
	m.requests.WithLabelValues(endpoint, statusLabel(status)).Inc()
	m.answers.WithLabelValues(endpoint).Observe(secondsOf(took))
	if status > 0 && status < 500 { // a failure of its own is no answer
		m.silent.Store(0)
	} else {
		m.silent.CompareAndSwap(0, m.now().UnixNano())
	}
}

// Unanswered is since when GitHub has answered nothing that it was asked; zero: it answered what it was asked last, or
// was not asked.
func (m *Metrics) Unanswered() time.Time {
	if at := m.silent.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Redelivered counts deliveries that GitHub was asked to send again.
func (m *Metrics) Redelivered(n int) { m.redelivered.Add(float64(max(n, 0))) }

// Healed counts pull requests that the resync found.
func (m *Metrics) Healed(n int) { m.healed.Add(float64(max(n, 0))) }

// Panicked counts an HTTP request whose handler panicked.
func (m *Metrics) Panicked() { m.panics.Inc() }

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
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

func statusLabel(status int) string {
	if text := strconv.Itoa(status); slices.Contains(metricStatuses, text) {
		return text
	}
	switch status / 100 {
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	default:
		return "fault"
	}
}

// secondsOf returns no less than zero: a clock that was set back must not make a sum fall.
func secondsOf(d time.Duration) float64 { return max(d, 0).Seconds() }

// orDiscard returns l, or a logger that discards everything if there is none.
func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// scrapeCollector reads figures at a scrape: of the table, and of the budgets at GitHub.
type scrapeCollector struct {
	o                                         MetricsOptions
	silent                                    func() time.Time // since when GitHub has answered nothing that it was asked; zero: it answers
	readable, oldest, remembered              *prometheus.Desc
	keys, open, due, leased, failing, tenants *prometheus.Desc
	heard, unread, circuits                   *prometheus.Desc
	left, limit, low, reached, unreachable    *prometheus.Desc
	backlog, limited, limitEnds               *prometheus.Desc
}

func newScrapeCollector(o MetricsOptions, silent func() time.Time) *scrapeCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("coordinator_"+name, help, labels, nil)
	}
	return &scrapeCollector{
		o:      o,
		silent: silent,
		readable: desc("database_readable",
			"Whether our database could be read for this scrape. If it is 0, the figures that stand there are missing: look at its disk."),
		keys:    desc("tasks", "Tasks that are known: each pull request to evaluate, and each list to read."),
		open:    desc("pull_requests_undecided", "Pull requests without a verdict, or whose verdict a resolved thread may still change."),
		due:     desc("tasks_due", "Tasks that are due and wait for a worker."),
		leased:  desc("tasks_running", "Tasks that are being done."),
		failing: desc("tasks_failing", "Tasks that failed the last time. The dashboard says which, and the log why."),
		oldest: desc("tasks_oldest_due_seconds",
			"How long the task that has waited longest has been due; what a rate limit holds back is left out. The first figure to look at."),
		backlog: desc("tasks_backlog",
			"Tasks that wait for nobody, such as the first look at each open pull request: what has just happened goes before them."),
		limited: desc("installations_limited",
			"Installations that wait for a limit of GitHub's, or for their next hour; their tasks are not late."),
		limitEnds:  desc("limit_ends_timestamp_seconds", "When the last of these limits ends; 0: there is none."),
		tenants:    desc("installations", "Installations that have tasks."),
		remembered: desc("webhook_deliveries_remembered", "Webhook deliveries that would be recognised if they came again."),
		heard: desc("reviewer_answers",
			"Newest answers of reviewers that are kept, of the last 30 days, at most 20 of each in a repository; by preset.",
			"preset"),
		unread: desc("reviewer_answers_unread",
			"Those of these answers in which nobody could read a verdict: if most are, the format may have changed.",
			"preset"),
		circuits: desc("circuits_open",
			"Reviewers that are not asked again now, for their service is down or has a limit; each counted once in a repository."),
		left: desc("github_rate_limit_remaining_requests",
			"Requests that are left of the hour; of the 100 installations that have the fewest.", "installation"),
		limit: desc("github_rate_limit_requests",
			"Requests that an hour has; of the same installations. 0: GitHub has not said it yet.", "installation"),
		low: desc("installations_short_of_requests",
			"Installations that have an eighth or less left of an hour that has not ended: at about a tenth they wait for its end."),
		reached: desc("github_last_answer_timestamp_seconds",
			"When GitHub last answered; 0: not yet. It is old, too, when there was nothing to ask."),
		unreachable: desc("github_unreachable_seconds",
			"How long GitHub has answered nothing that it was asked; 0: it answers, or was not asked. A refusal is an answer."),
	}
}

// Describe implements [prometheus.Collector].
func (s *scrapeCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		s.heard, s.unread, s.circuits, s.readable, s.oldest, s.remembered, s.keys, s.open, s.due, s.leased, s.failing, s.tenants,
		s.left, s.limit, s.low, s.reached, s.unreachable, s.backlog, s.limited, s.limitEnds,
	} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (s *scrapeCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s.collectQueue(gauge)
	s.collectHeard(gauge)
	open := 0
	if s.o.Circuits != nil {
		open = s.o.Circuits()
	}
	gauge(s.circuits, float64(open))
	var reached float64
	if s.o.Reached != nil {
		if at := s.o.Reached(); !at.IsZero() {
			reached = float64(at.UnixMilli()) / 1000
		}
	}
	gauge(s.reached, reached)
	var unreachable float64
	if since := s.silent(); !since.IsZero() {
		unreachable = secondsOf(s.o.Now().Sub(since))
	}
	gauge(s.unreachable, unreachable)
	var budgets map[int64]client.Budget
	if s.o.Budgets != nil {
		budgets = s.o.Budgets()
	}
	gauge(s.low, float64(lowBudgets(budgets, s.o.Now())))
	for _, tenant := range lowestBudgets(budgets) {
		label := strconv.FormatInt(tenant, 10)
		gauge(s.left, float64(budgets[tenant].Left), label)
		gauge(s.limit, float64(budgets[tenant].Limit), label)
	}
}

// collectQueue shows how the table stands. Figures that could not be read are missing: a zero would say that all is
// well.
func (s *scrapeCollector) collectQueue(gauge func(*prometheus.Desc, float64, ...string)) {
	var h store.Health
	if s.o.Health != nil {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeReadTimeout)
		defer cancel()
		var err error
		if h, err = s.o.Health(ctx); err != nil {
			gauge(s.readable, 0)
			return
		}
	}
	gauge(s.readable, 1)
	gauge(s.keys, float64(h.Keys))
	gauge(s.open, float64(h.Open))
	gauge(s.due, float64(h.Due))
	gauge(s.leased, float64(h.Leased))
	gauge(s.failing, float64(h.Failing))
	gauge(s.oldest, secondsOf(h.Oldest))
	gauge(s.tenants, float64(h.Tenants))
	gauge(s.backlog, float64(h.BacklogSize()))
	gauge(s.limited, float64(len(h.Held)))
	var ends float64
	if at := h.HeldUntil(); !at.IsZero() {
		ends = float64(at.Unix())
	}
	gauge(s.limitEnds, ends)
	gauge(s.remembered, float64(h.Accepted))
}

// collectHeard shows how well reviewers are understood. What could not be read is missing.
func (s *scrapeCollector) collectHeard(gauge func(*prometheus.Desc, float64, ...string)) {
	counts := map[string]store.HeardCount{}
	for _, known := range append(slices.Clone(s.o.Presets), otherLabel) {
		counts[known] = store.HeardCount{}
	}
	if s.o.Heard != nil {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeReadTimeout)
		defer cancel()
		heard, err := s.o.Heard(ctx)
		if err != nil {
			return
		}
		for preset, n := range heard {
			label := knownLabel(s.o.Presets, preset)
			sum := counts[label]
			counts[label] = store.HeardCount{Answers: sum.Answers + n.Answers, Unread: sum.Unread + n.Unread}
		}
	}
	for label, n := range counts {
		gauge(s.heard, float64(n.Answers), label)
		gauge(s.unread, float64(n.Unread), label)
	}
}

// lowestBudgets returns the installations that have the fewest requests left. A personal token's is there before GitHub
// has said it: its label is known.
func lowestBudgets(budgets map[int64]client.Budget) []int64 {
	tenants := make([]int64, 0, len(budgets))
	for tenant, b := range budgets {
		if b != (client.Budget{}) || tenant == 0 {
			tenants = append(tenants, tenant)
		}
	}
	slices.SortFunc(tenants, func(a, b int64) int {
		return cmp.Or(cmp.Compare(budgets[a].Left, budgets[b].Left), cmp.Compare(a, b))
	})
	return tenants[:min(len(tenants), maxBudgets)]
}

// lowBudgets counts installations that have little left. An hour that has ended limits nobody, though GitHub's last
// word was of it.
func lowBudgets(budgets map[int64]client.Budget, now time.Time) (n int) {
	for _, b := range budgets {
		if b.Left*lowBudgetPart <= b.Limit && b.Reset.After(now) {
			n++
		}
	}
	return n
}

// The causes by which a circuit opens, as the metric names them.
const (
	circuitByOutage = "outage"
	circuitByLimit  = "limit"
)

// CircuitOpened counts a circuit that has opened, by a limit or by outages.
func (m *Metrics) CircuitOpened(isLimit bool) {
	cause := circuitByOutage
	if isLimit {
		cause = circuitByLimit
	}
	m.circuits.WithLabelValues(cause).Inc()
}
