package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestAnOpenCircuitIsSaid(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 5, 14, minute, 0, 0, time.UTC) }
	outage := quorum.Hold{Since: at(30), Until: at(40), At: at(40)}
	limit := quorum.Hold{Since: at(30), Until: at(40), At: at(40), Limit: true}
	for _, test := range []struct {
		name string
		b    quorum.Ballot
		due  time.Time
		kind quorum.ActionKind
		cell string
		next string
	}{
		{
			"an outage",
			quorum.Ballot{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded, Circuit: outage},
			at(40), quorum.Rerun,
			"its service was overloaded or could not be reached — circuit open until 14:40 UTC: its service is down on several pull requests",
			"gemini: it is asked again at 14:40 UTC at the earliest: one pull request goes first, and the others follow once that succeeds; " +
				"whatever happens, its time ends at 14:59 UTC.",
		},
		{
			"another's limit",
			quorum.Ballot{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded, Circuit: limit},
			at(40), quorum.Rerun,
			"its service was overloaded or could not be reached — circuit open until 14:40 UTC, when its limit ends",
			"gemini: it is asked again at 14:40 UTC, when its limit ends; whatever happens, its time ends at 14:59 UTC.",
		},
		{
			"later than another's limit",
			quorum.Ballot{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded, Circuit: limit},
			at(41), quorum.Ask,
			"its service was overloaded or could not be reached — circuit open until 14:40 UTC, when its limit ends",
			"gemini: it is asked again at 14:41 UTC, after the end of its limit; whatever happens, its time ends at 14:59 UTC.",
		},
		{
			"its own limit",
			quorum.Ballot{Outcome: quorum.Limited, Reason: quorum.ReasonRateLimit, Reset: at(40)},
			at(40), quorum.Rerun,
			"it met a rate limit — retrying once",
			"gemini: it is asked again at 14:40 UTC, when its limit ends; whatever happens, its time ends at 14:59 UTC.",
		},
		{
			"an outage without a circuit",
			quorum.Ballot{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded},
			at(40), quorum.Rerun,
			"its service was overloaded or could not be reached — retrying once",
			"gemini: it is run again at 14:40 UTC; whatever happens, its time ends at 14:59 UTC.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.b
			b.Reviewer, b.Vote, b.Retrying, b.Planned, b.Deadline = "gemini", quorum.Pending, true, true, at(59)
			b.Next = []quorum.Action{{Kind: test.kind, Reviewer: "gemini", Due: test.due}}
			d := quorum.Decision{Verdict: quorum.Waiting, Reason: quorum.ReasonTally, Need: 1, Pending: 1, Start: at(20), Ballots: []quorum.Ballot{b}}
			p := PageOf(quorum.Policy{Need: 1}, quorum.Snapshot{}, d, quorum.Record{}, Places{})
			if got := p.Rows[0].Why.Plain(); got != test.cell {
				t.Errorf("the table says\n%s, want\n%s", got, test.cell)
			}
			if got := p.Next[0].Plain(); got != test.next {
				t.Errorf("next is\n%s, want\n%s", got, test.next)
			}
		})
	}
}

func TestOpenCircuitsAreListed(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	all := []quorum.Circuit{
		{Reviewer: "gem\x1b[31mini", Opened: noon, Until: noon.Add(10 * time.Minute)},
		{Reviewer: "openai", Limited: noon, LimitEnd: noon.Add(20 * time.Minute)},
		{Reviewer: "sage", Limited: noon, LimitEnd: noon.Add(time.Minute)},
		{Reviewer: "copilot", Closed: noon},
	}
	got := PlainCircuits(all, noon.Add(5*time.Minute))
	if len(got) != 2 || !strings.HasSuffix(got[0], ": circuit open until 12:10 UTC: its service is down on several pull requests") ||
		got[1] != "openai: circuit open until 12:20 UTC, when its limit ends" || strings.Contains(got[0], "\x1b") {
		t.Errorf("%q", got)
	}
}

// Of a record that is too long, open circuits go first: without one a reviewer is asked sooner, and no more.
func TestOpenCircuitsGoFirst(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	rec := quorum.Record{Annotated: []string{"a finding"}}
	for n := range 50 {
		rec.Circuits = append(rec.Circuits, quorum.Hold{Reviewer: fmt.Sprintf("reviewer %d", n), Since: noon, Until: noon, At: noon})
	}
	got := fitRecord(rec, 1000, 2000)
	if len(encodeLine(got)) > 1000 || len(got.Circuits) == 0 || !slices.Equal(got.Circuits, rec.Circuits[:len(got.Circuits)]) || len(got.Annotated) != 1 {
		t.Errorf("%d circuits and %d annotations are left", len(got.Circuits), len(got.Annotated))
	}
}
