package quorum_test

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Which word of a reviewer counts, of what it said below a pull request and below its twin.
func TestWithTwins(t *testing.T) {
	at := func(minute int) time.Time { return time.Unix(int64(60*minute), 0) }
	silent := quorum.Ballot{Vote: quorum.Pending, Outcome: quorum.Silent, Next: []quorum.Action{{Kind: quorum.Ask}}}
	working := quorum.Ballot{Vote: quorum.Pending, Outcome: quorum.Running, Run: 3, Next: []quorum.Action{{Kind: quorum.Cancel}}}
	broken := quorum.Ballot{Vote: quorum.Unavailable, Outcome: quorum.Overloaded, Run: 4}
	yes := quorum.Ballot{Vote: quorum.Approve, Outcome: quorum.Approved, Since: at(5), Begun: at(3), Run: 5}
	no := func(minute int) quorum.Ballot {
		return quorum.Ballot{Vote: quorum.Object, Outcome: quorum.Findings, Since: at(minute)}
	}
	excused := silent
	excused.Excused = quorum.ReasonWhen
	resolved := yes
	resolved.Reason = quorum.ReasonResolved
	self := quorum.Ballot{Vote: quorum.Unavailable, Outcome: quorum.Declined, Reason: quorum.ReasonSelf}
	empty := quorum.Ballot{Vote: quorum.Pending, Outcome: quorum.Empty, Run: 6}
	type ballots = []quorum.Ballot
	for name, c := range map[string]struct {
		own    quorum.Ballot
		twins  ballots // of one twin each
		takes  int     // the number of the twin whose ballot it takes
		acting bool
	}{
		"silent here, yes there":              {silent, ballots{yes}, 1, false},
		"silent here, at work there":          {silent, ballots{working}, 1, false},
		"a yes is better than a run":          {silent, ballots{working, yes, working}, 2, false},
		"silent everywhere":                   {silent, ballots{silent}, 0, true},
		"it left nothing here":                {empty, ballots{yes}, 1, false},
		"it left nothing here, works there":   {empty, ballots{working}, 0, false},
		"at work here":                        {working, ballots{yes}, 0, true},
		"it failed here":                      {broken, ballots{yes}, 0, false},
		"a no, then a yes there":              {no(2), ballots{yes}, 1, false},
		"a no after the yes there had begun":  {no(4), ballots{yes}, 0, false},
		"threads that were resolved there":    {no(2), ballots{resolved}, 0, false},
		"it opened this one":                  {self, ballots{yes}, 0, false},
		"it has no vote here":                 {excused, ballots{yes}, 0, true},
		"what it is excused from says nought": {silent, ballots{excused}, 0, true},
	} {
		var twins []quorum.Twin
		for i, b := range c.twins {
			twins = append(twins, quorum.Twin{Number: i + 1, Ballots: ballots{b}})
		}
		c.own.Required = true
		got := quorum.WithTwins(ballots{c.own}, twins)[0]
		if got.Of != c.takes || len(got.Next) > 0 != c.acting || !got.Required {
			t.Errorf("%s: it takes the ballot of twin %d, and does %v", name, got.Of, got.Next)
		}
	}
}
