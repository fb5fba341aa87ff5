package main

// What run --json and sweep --json print.

import (
	"errors"
	"strings"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A runJSON is what run --json prints.
type runJSON struct {
	PullRequests []pullJSON `json:"pull_requests"`
}

// A pullJSON is one pull request that was evaluated, or failed.
type pullJSON struct {
	PullRequest string           `json:"pull_request"`
	Head        string           `json:"head,omitempty"`
	Verdict     string           `json:"verdict,omitempty"`    // waiting, passed, blocked or unverified
	Status      string           `json:"status,omitempty"`     // of the check
	Conclusion  string           `json:"conclusion,omitempty"` // of the check
	Title       string           `json:"title,omitempty"`
	Approvals   int              `json:"approvals"`
	Need        int              `json:"need"`
	Lane        string           `json:"lane,omitempty"`        // name of the policy's lane; "": none holds
	NeedPeople  int              `json:"need_people,omitempty"` // approvals that the policy asks of people
	People      []string         `json:"people,omitempty"`      // people whose approvals are these
	Unavailable []string         `json:"unavailable,omitempty"`
	Reruns      int              `json:"reruns"`
	CheckRunID  int64            `json:"check_run_id,omitempty"`
	CheckURL    string           `json:"check_url,omitempty"`
	NextCheckAt string           `json:"next_check_at,omitempty"`
	Decision    *quorum.Decision `json:"decision,omitempty"`
	Error       string           `json:"error,omitempty"`
	Hint        string           `json:"hint,omitempty"`
}

// pullAsJSON describes a look, or the error in its place.
func pullAsJSON(pr quorum.PR, look loop.Look, err error) pullJSON {
	p := pullJSON{PullRequest: pr.String()}
	if err != nil {
		p.Error = oneLine(err.Error())
		var hinted *exitError
		if errors.As(withAPIHint(err), &hinted) {
			p.Hint = oneLine(hinted.hint)
		}
		return p
	}
	d := look.Decision
	p.Head, p.Status, p.Conclusion, p.Title = look.Snapshot.PR.Head, look.Check.Status, look.Check.Conclusion, look.Check.Title
	if d.Verdict != quorum.Ended && d.Verdict != 0 {
		p.Verdict = d.Verdict.String()
	}
	p.Approvals, p.Need, p.Unavailable = d.Approvals, d.Need, unavailableReviewers(d)
	p.Lane, p.NeedPeople, p.People = strings.Join(d.Lane.Names(), ", "), d.NeedPeople, approvingPeople(d)
	p.Reruns, p.NextCheckAt, p.Decision = countReruns(look.Snapshot.Record), timeText(d.Wake), &d
	return p
}

// runAsJSON describes the results of run.
func runAsJSON(results []runResult) runJSON {
	all := runJSON{PullRequests: []pullJSON{}}
	for _, r := range results {
		p := pullAsJSON(r.pr, r.look, r.err)
		p.CheckRunID, p.CheckURL = r.checkID, r.checkURL
		all.PullRequests = append(all.PullRequests, p)
	}
	return all
}

// A sweepJSON is what sweep --json prints.
type sweepJSON struct {
	Repository   string     `json:"repository"`
	Open         int        `json:"open"`
	Due          int        `json:"due"`
	Evaluated    int        `json:"evaluated"`
	Failed       int        `json:"failed"`
	Skipped      int        `json:"skipped"`
	StoppedAt    string     `json:"stopped_at,omitempty"` // the first that was skipped
	Why          string     `json:"why,omitempty"`
	PullRequests []pullJSON `json:"pull_requests"`
}
