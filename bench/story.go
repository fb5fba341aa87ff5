package main

// The events of a pull request in a measurement.

import (
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// startRun begins a reviewer's run.
func (p trackedPull) startRun(reviewer int) (int64, error) {
	return p.StartRun(
		sandbox.RunSpec{Workflow: reviewers[reviewer].workflow, Name: reviewers[reviewer].name, PR: p.number, Jobs: []string{"review"}},
	)
}

// postApproval writes a reviewer's answer.
func (p trackedPull) postApproval(reviewer int) error {
	_, err := p.Comment(p.number, "github-actions[bot]", reviewers[reviewer].heading+approvalComment)
	return err
}

// approveAsReviewer plays a whole run of a reviewer that approves.
func (p trackedPull) approveAsReviewer(reviewer int) error {
	run, err := p.startRun(reviewer)
	if err != nil {
		return err
	}
	if err := p.postApproval(reviewer); err != nil {
		return err
	}
	_, err = p.FinishRun(run, sandbox.Finish{})
	return err
}

// collectDeliveries calls what, and returns the deliveries that it caused.
func (t *fakeGitHub) collectDeliveries(what func() error) ([]sandbox.HookDelivery, error) {
	if err := what(); err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	return t.hub.TakeDeliveries(), nil
}

// filterDeliveries keeps the deliveries of an event, or of an event's action as "event.action".
func filterDeliveries(all []sandbox.HookDelivery, events ...string) (kept []sandbox.HookDelivery) {
	for _, d := range all {
		for _, e := range events {
			if d.Event == e || d.Event+"."+d.Action == e {
				kept = append(kept, d)
			}
		}
	}
	return kept
}

// irrelevantDelivery makes a delivery about a pull request's run of a workflow that is no reviewer's.
func (t *fakeGitHub) irrelevantDelivery(p trackedPull) (sandbox.HookDelivery, error) {
	all, err := t.collectDeliveries(func() error {
		run, err := p.StartRun(
			sandbox.RunSpec{Workflow: ".github/workflows/build.yml", Name: "build", PR: p.number, Jobs: []string{"build"}},
		)
		if err != nil {
			return err
		}
		_, err = p.FinishRun(run, sandbox.Finish{})
		return err
	})
	if all = filterDeliveries(all, "workflow_run.completed"); err == nil && len(all) != 1 {
		err = fmt.Errorf("play: a run ended with %d deliveries", len(all))
	}
	if err != nil {
		return sandbox.HookDelivery{}, err
	}
	return all[0], nil
}

// prepareTracked makes a GitHub and starts a daemon, which has nothing left to do: it tracks all pull requests.
func (b *harness) prepareTracked(o fakeOptions, before func(*fakeGitHub) error) (*fakeGitHub, *daemonProcess, error) {
	o.latency = b.GitHub
	t, err := newFakeGitHub(b.dir, o)
	if err != nil {
		return nil, nil, err
	}
	if before != nil {
		if err := before(t); err != nil {
			return nil, nil, err
		}
		t.hub.TakeDeliveries()
	}
	d, err := b.startDaemon(t, b.dir+"/coordinator.db")
	if err != nil {
		return nil, nil, err
	}
	if err := b.awaitTracked(t, d); err != nil {
		return nil, nil, err
	}
	b.report.Machine.Rounds = measureRounds()
	return t, d, nil
}

// awaitTracked waits until every pull request has a check of ours and the daemon rests.
func (b *harness) awaitTracked(t *fakeGitHub, d *daemonProcess) error {
	pulls := t.allPulls()
	b.logProgress("tracking %d pull requests", len(pulls))
	if err := awaitChecks(b.ctx, pulls, 20*time.Minute, isAnyCheck); err != nil {
		return err
	}
	return d.awaitIdle(b.ctx, time.Second, time.Minute)
}
