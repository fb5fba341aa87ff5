package main

// One event at a time: what it costs, and how long until the check says so.

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// tracked waits until every pull request has a check of ours and the daemon rests.
func (b *bench) tracked(t *town, d *daemon) error {
	pulls := t.pulls()
	b.say("tracking %d pull requests", len(pulls))
	if err := checked(b.ctx, pulls, 20*time.Minute, anyCheck); err != nil {
		return err
	}
	return d.rest(b.ctx, time.Second, time.Minute)
}

type latencyCmd struct {
	N int `default:"240" help:"Events. Default ${default}."`
}

// Help is shown by bench latency --help.
func (latencyCmd) Help() string {
	return `Two of three reviewers have approved, and the third has written its answer. Its run ends: GitHub sends workflow_run, and the
check turns green. The time counts from when the delivery is sent until GitHub has answered the request that writes the check.`
}

// Run measures.
func (cmd latencyCmd) Run(b *bench) error {
	runs := map[string]int64{}
	t, d, err := b.prepared(townOptions{installations: 20, repositories: 1, pulls: (cmd.N + 19) / 20}, func(t *town) error { return almost(t, runs) })
	if err != nil {
		return err
	}
	defer t.close()
	m, err := b.oneByOne(t, d, runs, cmd.N)
	if err != nil {
		return err
	}
	b.report.add("events", float64(len(m.written)), "")
	b.report.add("delivery → acknowledged, p50", m.acked.at(0.5), "ms")
	b.report.add("delivery → first request to GitHub, p50", m.claimed.at(0.5), "ms")
	b.report.most("delivery → check written, p50", m.written.at(0.5), "ms", 100)
	b.report.add("delivery → check written, p95", m.written.at(0.95), "ms")
	b.report.add("delivery → check written, p99", m.written.at(0.99), "ms")
	b.report.most("requests in series, median", m.series.at(0.5), "", 3)
	b.report.noteEndpoints(m.requests, len(m.written))
	return nil
}

// almost brings every pull request to where one event decides it.
func almost(t *town, runs map[string]int64) error {
	for _, p := range t.pulls() {
		for r := range reviewers[:2] {
			if err := p.reviewed(r); err != nil {
				return err
			}
		}
		run, err := p.starts(2)
		if err != nil {
			return err
		}
		if err := p.approves(2); err != nil {
			return err
		}
		runs[p.String()] = run
	}
	return nil
}

type measured struct {
	acked, claimed, written times
	series                  times // as milliseconds: how many
	requests                []request
}

// oneByOne lets the last run of pull requests end, one after another.
func (b *bench) oneByOne(t *town, d *daemon, runs map[string]int64, n int) (m measured, err error) {
	c, err := dial(b.ctx, d.hooks)
	if err != nil {
		return m, err
	}
	defer c.close()
	pulls := t.pulls()
	for i := range pulls[:min(n, len(pulls))] {
		p := pulls[(i*len(pulls)/20+i/20)%len(pulls)] // another installation each time
		if runs[p.String()] == 0 {
			continue
		}
		if err := b.one(t, c, p, runs[p.String()], &m); err != nil {
			return m, fmt.Errorf("%s: %w", p, err)
		}
		delete(runs, p.String())
	}
	return m, nil
}

func (b *bench) one(t *town, c *line, p pull, run int64, m *measured) error {
	w, err := t.ends(p, run)
	if err != nil {
		return err
	}
	written := make(chan request, 16)
	t.onAnswer(func(q request) {
		if q.write() && strings.Contains(q.path, "/check-runs") && strings.HasPrefix(q.path, "/repos/"+p.name+"/") {
			select {
			case written <- q:
			default:
			}
		}
	})
	defer t.onAnswer(nil)
	t.asked()
	began := time.Now()
	if err := accept(c, w, newID()); err != nil {
		return err
	}
	acked := time.Since(began)
	timer := time.NewTimer(30 * time.Second)
	defer timer.Stop()
	for {
		select {
		case q := <-written:
			own := p.Own(p.Head(p.number))
			if len(own) == 0 || !passed(own[len(own)-1]) {
				continue
			}
			all := t.asked()
			m.acked, m.written = append(m.acked, acked), append(m.written, q.ended.Sub(began))
			if len(all) > 0 {
				first := all[0].began
				for _, q := range all {
					if q.began.Before(first) {
						first = q.began
					}
				}
				m.claimed = append(m.claimed, first.Sub(began))
			}
			m.series = append(m.series, time.Duration(waves(all))*time.Millisecond)
			m.requests = append(m.requests, all...)
			return pause(b.ctx, 40*time.Millisecond) // the look's own end
		case <-timer.C:
			return fmt.Errorf("its check was not written within 30s")
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
}

type irrelevantCmd struct {
	N int `default:"1000" help:"Events. Default ${default}."`
}

// Help is shown by bench irrelevant --help.
func (irrelevantCmd) Help() string {
	return `Runs, check runs and check suites of a workflow that is no reviewer's, check runs of another App, and statuses of a build, on
tracked pull requests. None of them may cost a request.`
}

// Run measures.
func (cmd irrelevantCmd) Run(b *bench) error {
	t, d, err := b.prepared(townOptions{installations: 10, repositories: 1, pulls: 10}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	kinds := map[string][]wire{}
	for i := range cmd.N / 7 {
		told, err := t.told(func() error { return foreign(t.pulls()[i%100], i) })
		if err != nil {
			return err
		}
		for _, d := range only(told, "workflow_run", "check_run", "check_suite", "status") {
			kind := strings.TrimSuffix(d.Event+"."+d.Action, ".")
			kinds[kind] = append(kinds[kind], t.wired(d))
		}
	}
	m1, err := d.metrics(b.ctx)
	if err != nil {
		return err
	}
	before, events, requests := d.use(), 0, 0
	for _, kind := range sortedKeys(kinds) {
		t.asked()
		if _, err := (load{daemon: d, wires: kinds[kind], connections: 8}).all(b.ctx); err != nil {
			return err
		}
		if err := d.rest(b.ctx, time.Second, 5*time.Minute); err != nil {
			return err
		}
		n := len(t.asked())
		b.report.most(fmt.Sprintf("requests for %d of %s", len(kinds[kind]), kind), float64(n), "", 0)
		events, requests = events+len(kinds[kind]), requests+n
	}
	m2, err := d.metrics(b.ctx)
	if err != nil {
		return err
	}
	b.report.most(fmt.Sprintf("requests for all %d", events), float64(requests), "", 0)
	b.report.add("looks that were spared", m2[spared]-m1[spared], "")
	b.report.add("daemon's CPU an event", ms(d.use().cpu-before.cpu)/float64(max(events, 1)), "ms")
	return nil
}

// foreign is a build on a pull request: a run with its check, another App's check, a status.
func foreign(p pull, i int) error {
	run, err := p.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/build.yml", Name: "build", PR: p.number, Jobs: []string{"compile"}})
	if err != nil {
		return err
	}
	if _, err := p.FinishRun(run, sandbox.Finish{}); err != nil {
		return err
	}
	if _, err := p.SetCheck(sandbox.CheckSpec{Name: fmt.Sprintf("coverage %d", i), App: sandbox.App{Slug: "coverage-app"}, Head: p.Head(p.number), Conclusion: "success"}); err != nil {
		return err
	}
	_, err = p.SetStatus(sandbox.Status{Head: p.Head(p.number), Context: "deploy/preview", State: "success", By: "deployer[bot]"})
	return err
}

type pushCmd struct{}

// Help is shown by bench push --help.
func (pushCmd) Help() string {
	return `A push to a tracked pull request whose three reviewers had all approved; then each of them runs again and approves, until the
check is green. What is answered 304 costs nothing and is counted apart.`
}

// Run measures.
func (cmd pushCmd) Run(b *bench) error {
	t, d, err := b.prepared(townOptions{installations: 1, repositories: 1, pulls: 3}, func(t *town) error {
		for _, p := range t.pulls() {
			for r := range reviewers {
				if err := p.reviewed(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer t.close()
	if err := checked(b.ctx, t.pulls(), time.Minute, passed); err != nil {
		return err
	}
	p := t.pulls()[1]
	c, err := dial(b.ctx, d.hooks)
	if err != nil {
		return err
	}
	defer c.close()
	play := func(what func() error) ([]request, error) {
		t.asked()
		told, err := t.told(what)
		if err != nil {
			return nil, err
		}
		for _, d := range told {
			if err := accept(c, t.wired(d), newID()); err != nil {
				return nil, err
			}
		}
		err = d.rest(b.ctx, time.Second, time.Minute)
		return t.asked(), err
	}
	pushed, err := play(func() error { return p.Push(p.number, head(p.number, 2), sandbox.PushSpec{}) })
	if err != nil {
		return err
	}
	b.report.most("a push: requests that are not 304", float64(paid(pushed)), "", 10)
	b.report.add("  of them writes", float64(count(pushed, request.write)), "")
	b.report.add("  answered 304", float64(len(pushed)-paid(pushed)), "")
	b.report.add("  requests in series", float64(waves(pushed)), "")
	b.report.noteEndpoints(pushed, 1)
	cycle := paid(pushed)
	for r, who := range reviewers {
		var run int64
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"starts", func() (err error) { run, err = p.starts(r); return err }},
			{"comments", func() error { return p.approves(r) }},
			{"ends", func() error { _, err := p.FinishRun(run, sandbox.Finish{}); return err }},
		} {
			all, err := play(step.do)
			if err != nil {
				return err
			}
			cycle += paid(all)
			b.report.add(fmt.Sprintf("  %s %s: not 304 / 304", who.name, step.name), float64(paid(all)), fmt.Sprintf("/ %d", len(all)-paid(all)))
		}
	}
	if err := checked(b.ctx, []pull{p}, 10*time.Second, passed); err != nil {
		return err
	}
	b.report.add("the whole cycle until the verdict: requests that are not 304", float64(cycle), "")
	return nil
}

// paid are the requests that are not answered 304.
func paid(all []request) int {
	return count(all, func(q request) bool { return q.status != http.StatusNotModified })
}

func count(all []request, is func(request) bool) (n int) {
	for _, q := range all {
		if is(q) {
			n++
		}
	}
	return n
}

type idleCmd struct {
	For   time.Duration `default:"30s" help:"How long. Default ${default}."`
	Pulls int           `default:"1000" help:"Tracked pull requests. Default ${default}."`
}

// Run measures.
func (cmd idleCmd) Run(b *bench) error {
	t, d, err := b.prepared(townOptions{installations: 50, repositories: 1, pulls: max(cmd.Pulls/50, 1)}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	t.asked()
	before := d.use()
	if err := pause(b.ctx, cmd.For); err != nil {
		return err
	}
	after := d.use()
	b.report.add("tracked pull requests", float64(len(t.pulls())), "")
	b.report.add("CPU", 100*(after.cpu-before.cpu).Seconds()/cmd.For.Seconds(), "% of a core")
	b.report.add("RSS", after.rss, "MB")
	b.report.add("requests to GitHub", float64(len(t.asked())), "")
	return nil
}
