//go:build !action

package main

// What people tell the whole daemon, by the button of its check and by comments: webhooks with a signature, in virtual
// time.

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const wordsPolicy = `version: 1
quorum: 1
timeout: 1h
deadline: 12h
reviewers:
  - name: openai
    workflow: .github/workflows/openai.yml
    heading: "## OpenAI Review"
`

// startBlocked starts a daemon with one repository, in which openai objects to #7, and carol may write.
func startBlocked(t *testing.T) (*underLoad, int64) {
	t.Helper()
	l := startUnderLoad(t, 1, 1)
	g := l.repos[0]
	g.SetFile(".github/review-coordinator.yml", "", wordsPolicy)
	g.SetPermission("carol", "write")
	l.after(time.Minute)
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice"})
	review := sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "openai", PR: 7, Jobs: []string{"review"}}
	run, err := g.StartRun(review)
	if err != nil {
		t.Fatal(err)
	}
	l.after(time.Minute)
	said := "## OpenAI Review\n\nIt has no end.\n\n**Ready to merge?** No"
	if _, err := g.Comment(7, "github-actions[bot]", said); err != nil {
		t.Fatal(err)
	}
	if _, err := g.FinishRun(run, sandbox.Finish{}); err != nil {
		t.Fatal(err)
	}
	l.after(time.Minute)
	if got := l.conclusion(&loadPull{g: g, number: 7}); got != "failure" {
		t.Fatalf("with an objection the check is %s", got)
	}
	return l, run
}

// press presses the check's button, and returns the delivery that tells the daemon.
func (l *underLoad) press(login string) (d sandbox.HookDelivery) {
	l.t.Helper()
	if err := sandbox.PressButton(l.repos[0], "a1", login, "Rerun reviewers"); err != nil {
		l.t.Fatal(err)
	}
	if err := l.hub.WaitDelivered(l.ctx); err != nil {
		l.t.Fatal(err)
	}
	for _, d = range l.hub.Deliveries() {
		if d.Action == "requested_action" && strings.Contains(string(d.Payload), `"`+login+`"`) {
			return d
		}
	}
	l.t.Fatal("GitHub told nobody of the press")
	return d
}

// A press of the button runs the reviewers again that do not approve: once, whatever is sent again, and the check says
// who pressed it.
func TestThePressOfTheButtonRunsReviewersAgain(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l, run := startBlocked(t)
		defer l.stop()
		g := l.repos[0]
		l.press("alice") // whose change it is
		l.after(time.Minute)
		if n := g.Wrote().Reruns[run]; n != 0 {
			t.Fatalf("openai was run again %d times for whoever had a hand in the change", n)
		}
		pressed := l.press("carol")
		l.after(time.Minute)
		if n := g.Wrote().Reruns[run]; n != 1 {
			t.Fatalf("openai was run again %d times", n)
		}
		if _, err := g.FinishRun(run, sandbox.Finish{}); err != nil { // without a word: the objection stands
			t.Fatal(err)
		}
		l.after(10 * time.Minute)
		if err := receive(t.Context(), l.server, pressed.Event, pressed.GUID, pressed.Payload); err != nil {
			t.Fatal(err)
		}
		l.after(10 * time.Minute)
		own := g.OwnCheckRuns("a1")
		if n := g.Wrote().Reruns[run]; n != 1 || len(own) != 1 {
			t.Fatalf("after a replay openai was run again %d times, and %d checks stand", n, len(own))
		}
		if text := own[0].Summary + own[0].Text; !strings.Contains(text, "carol") || !strings.Contains(text, "alice") {
			t.Errorf("the check does not say who pressed its button:\n%s", text)
		}
	})
}

// A press is known from its event alone. It is not lost where GitHub answers nothing for a while, whatever else asks
// for a look meanwhile.
func TestAPressOutlivesAnOutage(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l, run := startBlocked(t)
		defer l.stop()
		g := l.repos[0]
		early := l.press("alice") // whose change it is
		l.after(time.Minute)
		g.AddFault(sandbox.Fault{Kind: sandbox.FaultAnswer, Status: 503})
		rerequest := strings.Replace(string(early.Payload), `"action":"requested_action"`, `"action":"rerequested"`, 1)
		// GitHub's own button: a look, whatever happened.
		if err := receive(t.Context(), l.server, early.Event, "re-run", []byte(rerequest)); err != nil {
			t.Fatal(err)
		}
		l.after(10 * time.Second)
		l.press("carol")
		l.after(time.Minute)
		g.ClearFaults()
		l.after(10 * time.Minute)
		if n := g.Wrote().Reruns[run]; n != 1 {
			t.Errorf("openai was run again %d times", n)
		}
	})
}
