package daemon

// Making a sight of a look. GitHub shows the newest attempt of a run only: earlier ones are taken over from the sight
// before, so that the timeline tells the whole cycle, and so are earlier heads.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// maxBars bounds the attempts that are kept of one reviewer.
const maxBars = 8

// readSight reads a sight as the table keeps it. One that is not there, or that an older program wrote, shows nothing.
func readSight(text []byte) (s dashboard.Sight) {
	if json.Unmarshal(text, &s) != nil {
		return dashboard.Sight{}
	}
	return s
}

// sightText is a sight of any key as the table keeps it.
func sightText(sight any) []byte {
	text, err := json.Marshal(sight)
	if err != nil {
		panic(err) // unreachable: sights hold strings, numbers and times
	}
	return text
}

// newSight returns the sight that a look brings after the one that was; web is where people see the host.
func newSight(web string, l loop.Look, was dashboard.Sight) *dashboard.Sight {
	pr, dec := l.Snapshot.PR, l.Decision
	s := &dashboard.Sight{
		PR: pr.String(), URL: fmt.Sprintf("%s/%s/%s/pull/%d", web, pr.Owner, pr.Repo, pr.Number), Title: pr.Title, Head: pr.Head,
		Base: pr.BaseRef, Trunk: dec.Trunk, Draft: pr.Draft, At: l.Snapshot.Began, Check: l.Check.Name, Says: l.Check.Title,
		Status: l.Check.Status, Conclusion: l.Check.Conclusion, Verdict: dec.Verdict.String(), Reason: string(dec.Reason),
		Need: dec.Need, Approvals: dec.Approvals, NeedPeople: dec.NeedPeople,
		PolicyLane: strings.Join(dec.Lane.Names(), ", "), LaneWhy: dec.Lane.Why,
		Start: dec.Start, GraceEnd: dec.GraceEnd, Wake: dec.Wake, Threads: l.Check.Threads,
	}
	if !dec.GraceEnd.IsZero() {
		s.GraceFrom = dec.GraceEnd.Add(-l.Policy.Grace)
	}
	if !dec.Start.IsZero() && l.Policy.Deadline > 0 {
		s.Deadline = dec.Start.Add(l.Policy.Deadline)
	}
	for _, person := range dec.People {
		if !person.Vouch {
			s.People = append(s.People, person.Login)
		}
	}
	for _, p := range l.Snapshot.Siblings[:min(len(l.Snapshot.Siblings), quorum.MaxSiblings)] {
		s.Siblings = append(s.Siblings, p.Number)
	}
	s.Alike = l.Snapshot.Record.Compared.Alike
	page := l.Check.Page.Brief()
	s.Page = &page
	bars := map[string][]dashboard.AttemptBar{}
	for _, l := range was.Lanes {
		if was.Head == s.Head && was.Base == s.Base {
			bars[l.Name] = l.Attempts
		}
	}
	for i, b := range dec.Ballots {
		why := report.Sentence(b.Reason)
		if i < len(l.Check.Page.Rows) { // in the ballots' order; none where the check shows no table
			why = l.Check.Page.Rows[i].Why.Plain()
		}
		lane := dashboard.ReviewerLine{
			Name: b.Reviewer, Vote: b.Vote.String(), Why: why, Required: b.Required, Shadow: b.Shadow, URL: b.URL,
			Deadline: b.Deadline, VotedAt: b.At, Again: b.Again, Asked: b.Asked, Flipped: b.Flipped, Reserve: b.InsteadOf,
		}
		if !b.Voter() {
			lane.Excused = string(b.Excused)
		}
		switch b.Reason {
		case quorum.ReasonCarried:
			lane.Carried = b.Detail
		case quorum.ReasonOverridden:
			lane.Accepted = b.Detail
		}
		heard := quorum.DriftOf(b.Reviewer, l.Snapshot.Heard, 0)
		lane.Answers, lane.Unread, lane.Drift = heard.Answers, heard.Unread, report.DriftSentence(heard)
		lane.Circuit, lane.CircuitUntil = report.CircuitSentence(b.Circuit), b.Circuit.Until
		for _, a := range b.Next {
			if a.Kind == quorum.Rerun && lane.RerunAt.IsZero() {
				lane.RerunAt = a.Due
			}
		}
		lane.Attempts = putBar(slices.Clone(bars[b.Reviewer]), barOf(b, l, s.Start))
		s.Lanes = append(s.Lanes, lane)
	}
	s.Remember(was)
	return s
}

// barOf returns the attempt that a ballot speaks of; zero if there is none.
func barOf(b quorum.Ballot, l loop.Look, start time.Time) dashboard.AttemptBar {
	for _, r := range l.Snapshot.Runs {
		if b.Run == 0 || r.ID != b.Run {
			continue
		}
		a := dashboard.AttemptBar{Run: r.ID, Number: max(r.Attempt, 1), Start: r.Started, Came: b.Outcome.String(), URL: r.URL}
		for _, job := range r.Jobs {
			if !job.Started.IsZero() && (a.Start.IsZero() || job.Started.Before(a.Start)) {
				a.Start = job.Started
			}
		}
		if r.Completed() {
			a.End = r.Updated
		}
		return a
	}
	if b.At.IsZero() || b.Vote == quorum.Pending { // a reviewer without a run shows itself by its answer
		return dashboard.AttemptBar{}
	}
	return dashboard.AttemptBar{Number: max(b.Attempt, 1), Start: start, End: b.At, Came: b.Outcome.String(), URL: b.URL}
}

// putBar puts a bar in its place: an attempt that was known is replaced.
func putBar(bars []dashboard.AttemptBar, a dashboard.AttemptBar) []dashboard.AttemptBar {
	if a.Start.IsZero() {
		return bars
	}
	if i := slices.IndexFunc(bars, func(o dashboard.AttemptBar) bool { return o.Run == a.Run && o.Number == a.Number }); i >= 0 {
		bars[i] = a
		return bars
	}
	for i := range bars { // an older attempt that we last saw running has ended since
		if bars[i].End.IsZero() {
			bars[i].End = a.Start
		}
	}
	bars = append(bars, a)
	return bars[max(len(bars)-maxBars, 0):]
}

// checkState returns the state of the check run in one word.
func checkState(s dashboard.Sight) string { return cmp.Or(s.Conclusion, s.Status) }
