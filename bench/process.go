package main

// The daemon as a process: how it is built, started, watched, stopped and killed.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// benchOptions are the flags that every measurement has.
type benchOptions struct {
	Bin     string        `placeholder:"PATH" help:"The daemon's program. Default: it is built from this tree."`
	JSON    bool          `                   help:"Print JSON."                                                                                                  name:"json"`
	Strict  bool          `                   help:"End with 1 if a target is missed."`
	Keep    bool          `                   help:"Keep the folder with the database and the daemon's log."`
	GitHub  time.Duration `                   help:"How long GitHub takes for a request. Default ${default}."                                                     name:"github" default:"30ms"`
	Dir     string        `placeholder:"DIR"  help:"Where the database is put. Default: the system's folder for temporary files; a disk, or fsync costs nothing."`
	Verbose bool          `                   help:"Show the daemon's log."                                                                                                                    short:"v"`
}

// A harness is the state that all commands share: flags, the folder, the report and the daemons.
type harness struct {
	*benchOptions
	ctx       context.Context
	dir       string
	stderr    io.Writer
	daemonEnv []string // more of the daemon's environment
	report    report

	mu      sync.Mutex
	daemons []*daemonProcess
}

// newHarness builds the daemon and measures the machine, unless nothing is to be measured.
func newHarness(ctx context.Context, o *benchOptions, stderr io.Writer, measures bool) (*harness, error) {
	if !measures {
		return &harness{benchOptions: o, ctx: ctx, stderr: stderr}, nil
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, errors.New("the daemon is watched through /proc: run this on Linux")
	}
	dir, err := os.MkdirTemp(o.Dir, "coordinator-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	b := &harness{benchOptions: o, ctx: ctx, dir: dir, stderr: stderr}
	b.report.GitHub = o.GitHub.String()
	if b.report.Machine, err = thisMachine(dir); err != nil {
		return nil, err
	}
	if b.Bin == "" {
		b.Bin = filepath.Join(dir, "coordinator")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", b.Bin, //nolint:gosec // the folder is our own
			"github.com/review-coordinator/coordinator/cmd/coordinator",
		).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("build the daemon: %w\n%s", err, out)
		}
	}
	return b, nil
}

// close kills the daemons that still run and removes the folder.
func (b *harness) close() {
	b.mu.Lock()
	running := b.daemons
	b.mu.Unlock()
	for _, d := range running {
		d.kill()
	}
	if b.Keep && b.dir != "" {
		fmt.Fprintln(b.stderr, "kept:", b.dir)
		return
	}
	_ = os.RemoveAll(b.dir) // an error leaves only large files behind
}

// logProgress prints what is under way.
func (b *harness) logProgress(format string, args ...any) {
	fmt.Fprintf(b.stderr, format+"\n", args...)
}

// A daemonProcess is a process of coordinator serve.
type daemonProcess struct {
	process     *os.Process
	pid         int
	webhookAddr string // host:port of its webhook
	adminAddr   string
	startedAt   time.Time
	ended       chan struct{} // closed when the process is gone
	logFile     string        // file
}

// startDaemon starts the daemon on a database and waits until it listens.
func (b *harness) startDaemon(t *fakeGitHub, database string) (*daemonProcess, error) {
	return b.startDaemonWith(t, database, 24*time.Hour, nil)
}

// startDaemonWith starts the daemon on a file or the URL of a database and waits until it listens. It calls begun, if not nil, as
// soon as the process exists.
func (b *harness) startDaemonWith(
	t *fakeGitHub,
	database string,
	resync time.Duration,
	begun func(*daemonProcess),
) (*daemonProcess, error) {
	cmd := exec.CommandContext(b.ctx, b.Bin, "serve", //nolint:gosec // the program that the user names
		"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--database", databaseArgument(database), "--resync", resync.String())
	cmd.Env = append(os.Environ(), "GITHUB_APP_ID="+strconv.FormatInt(t.hub.App().ID, 10), "GITHUB_APP_PRIVATE_KEY_FILE="+t.keyFile,
		"GITHUB_WEBHOOK_SECRET="+t.secret, "GITHUB_API_URL="+t.url, "NO_COLOR=1", "GITHUB_TOKEN=", "GITHUB_ACTIONS=")
	cmd.Env = append(cmd.Env, b.daemonEnv...)
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(b.dir, "daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	d := &daemonProcess{process: cmd.Process, pid: cmd.Process.Pid, startedAt: time.Now(), ended: make(chan struct{}), logFile: log.Name()}
	b.mu.Lock()
	b.daemons = append(b.daemons, d)
	b.mu.Unlock()
	if begun != nil {
		begun(d)
	}
	listens := make(chan [2]string, 1)
	go func() {
		defer close(d.ended)
		defer log.Close()
		b.followLog(out, log, listens)
		_ = cmd.Wait() // its exit status does not matter, only its table
	}()
	timer := time.NewTimer(30 * time.Second)
	defer timer.Stop()
	select {
	case at := <-listens:
		d.webhookAddr, d.adminAddr = at[0], at[1]
		return d, nil
	case <-d.ended:
		return d, errEnded
	case <-timer.C:
		d.kill()
		return d, fmt.Errorf("start the daemon: it does not listen after 30s; %s tells more", d.logFile)
	}
}

// errEnded says that the daemon ended before it listened.
var errEnded = errors.New("the daemon ended before it listened")

var listenPattern = regexp.MustCompile(`webhook=http://([^/\s]+)/\S* dashboard=http://([^/\s]+)/`)

// followLog copies the daemon's log to a file and sends the addresses that it finds in it.
func (b *harness) followLog(from io.Reader, log io.Writer, listens chan<- [2]string) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := listenPattern.FindStringSubmatch(lines.Text()); m != nil {
			select {
			case listens <- [2]string{m[1], m[2]}:
			default:
			}
		}
		fmt.Fprintln(log, lines.Text())
		if b.Verbose {
			fmt.Fprintln(b.stderr, lines.Text())
		}
	}
}

// kill ends the process as a loss of power would, and waits until it is gone.
func (d *daemonProcess) kill() {
	_ = d.process.Kill() // it may be gone
	<-d.ended
}

// terminate sends SIGTERM and returns how long the process took to end.
func (d *daemonProcess) terminate(most time.Duration) (took time.Duration, err error) {
	began := time.Now()
	if err := d.process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("send SIGTERM: %w", err)
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-d.ended:
		return time.Since(began), nil
	case <-timer.C:
		d.kill()
		return time.Since(began), fmt.Errorf("the daemon did not end within %s of SIGTERM", most)
	}
}

// A usage is a process's CPU time and memory so far.
type usage struct {
	cpu          time.Duration // user and system
	rss, peakRSS float64       // MB
}

// readUsage reads the process's usage from /proc.
func (d *daemonProcess) readUsage() (u usage) {
	u.cpu = readCPU(d.pid)
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.pid)); err == nil {
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			kb, _ := strconv.ParseFloat(f[1], 64)
			switch f[0] {
			case "VmRSS:":
				u.rss = kb / 1024
			case "VmHWM:":
				u.peakRSS = kb / 1024
			}
		}
	}
	return u
}

// readCPU returns the CPU time of a process so far; 0 if there is none.
func readCPU(pid int) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold spaces
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick
}

// forgetPeak resets the peak of resident memory.
func (d *daemonProcess) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.pid), []byte("5"), 0o600) // if it fails the peak counts from the start
}

// readMetrics reads the daemon's metrics: each series, and the sum of all series of a name.
func (d *daemonProcess) readMetrics(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.adminAddr+"/metrics", nil)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer resp.Body.Close()
	all := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			continue
		}
		all[line[:i]] += v
		if name, _, labelled := strings.Cut(line[:i], "{"); labelled {
			all[name] += v
		}
	}
	return all, lines.Err()
}

// looksMetric counts all looks.
const looksMetric = "coordinator_task_duration_seconds_count"

// sparedLooks counts in metrics the looks that sent no request.
func sparedLooks(m map[string]float64) float64 {
	return m[looksMetric+`{result="spared",task="pull_request"}`] + m[looksMetric+`{result="spared",task="commit"}`]
}

// awaitIdle waits until the daemon has had nothing due and made no look for a while.
func (d *daemonProcess) awaitIdle(ctx context.Context, quiet, most time.Duration) error {
	end := time.Now().Add(most)
	last, since := -1.0, time.Now()
	for {
		m, err := d.readMetrics(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		if m["coordinator_tasks_due"]+m["coordinator_tasks_running"] > 0 || m[looksMetric] != last {
			last, since = m[looksMetric], now
		}
		if now.Sub(since) >= quiet {
			return nil
		}
		if now.After(end) {
			return fmt.Errorf(
				"the daemon still works after %s: %v due, %v leased",
				most,
				m["coordinator_tasks_due"],
				m["coordinator_tasks_running"],
			)
		}
		if err := sleepFor(ctx, min(quiet/2, 500*time.Millisecond)); err != nil { // asking costs the daemon some milliseconds
			return err
		}
	}
}

// sleepFor waits for a duration or until ctx ends.
func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// isListening reports whether the webhook's port accepts connections.
func (d *daemonProcess) isListening(ctx context.Context) bool {
	c, err := dialWebhook(ctx, d.webhookAddr)
	if err != nil {
		return false
	}
	c.close()
	return true
}

// databaseArgument is the daemon's flag for a file, or for a URL.
func databaseArgument(database string) string {
	if strings.Contains(database, "://") {
		return database
	}
	return "sqlite://" + database
}
