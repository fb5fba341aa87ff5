package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// How many commits and people are looked up for one snapshot: strangers' texts must not run up requests. What is left out
// counts for nothing.
const (
	mostCommits = 10
	mostPeople  = 30
)

// Missing says what s lacks for a full judgement and what would cost requests of its own: the logs of runs that ended
// without a word, the commits that texts name, those of the pull request, the other pull requests of its branch, and what people
// may.
func Missing(p quorum.Policy, s quorum.Snapshot) (w quorum.Wants) {
	j := newJudge(p, s)
	if s.PR.Closed || s.File.State != quorum.FileValid || p.Mode == quorum.Off || s.PR.Draft && p.DraftsWait {
		return w
	}
	if s.SameBranch == nil && len(s.Siblings) == 0 && slices.ContainsFunc(p.Reviewers, j.approvedBare) {
		return quorum.Wants{SameBranch: true}
	}
	for _, r := range p.Reviewers {
		if r.Retired {
			continue
		}
		w.Authors = w.Authors || j.abbreviated(r)
		a := j.attempt(r)
		for _, named := range j.named(r, a) {
			if len(w.Commits) < mostCommits && !slices.Contains(w.Commits, named) {
				w.Commits = append(w.Commits, named)
			}
		}
		if job, wanted := j.unexplained(r, a); wanted && !slices.Contains(w.Logs, job) {
			w.Logs = append(w.Logs, job)
		}
	}
	if p.StandIn == 0 {
		return w
	}
	for _, t := range lastWords(s) {
		if len(w.People) == mostPeople {
			break
		}
		w.Authors = w.Authors || t.State == "APPROVED"
		w.People = append(w.People, t.Author.Login)
	}
	return w
}

// abbreviated reports whether a text of r's names the head by a short id and not all commits before it are listed: one of them
// may begin alike.
func (j judge) abbreviated(r quorum.Reviewer) bool {
	return j.s.PR.Commits > listed && slices.ContainsFunc(slices.Concat(j.s.Comments, j.s.Reviews), func(t quorum.Text) bool {
		if !t.Author.Is(r.Author) || r.Heading != "" && !j.headed(r, t) {
			return false
		}
		id := j.naming(r, t)
		return id != "" && len(id) < len(j.s.PR.Head) && strings.HasPrefix(j.s.PR.Head, id)
	})
}

// named are the commits that r's texts name and that may be merges of the head.
func (j judge) named(r quorum.Reviewer, a attempt) (out []string) {
	for _, t := range slices.Backward(slices.Concat(j.s.Comments, j.s.Reviews)) {
		at := latest(t.At, t.Edited)
		if !t.Author.Is(r.Author) || at.Before(j.c.arrival) || a.run != nil && at.Before(a.from) || r.Heading != "" && !j.headed(r, t) {
			continue
		}
		id := j.naming(r, t)
		known := func(sha string) bool { return sha != "" && strings.HasPrefix(sha, id) }
		if id == "" || !review.IsHex(id) || known(j.s.PR.Head) || known(j.s.PR.Merge) || slices.ContainsFunc(j.s.Earlier, known) ||
			slices.ContainsFunc(j.s.Others, func(o quorum.Run) bool { return known(o.Head) }) {
			continue
		}
		if _, done := j.s.Resolved[id]; !done && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// unexplained is the job whose log may say how r's attempt ended, if nothing else does.
func (j judge) unexplained(r quorum.Reviewer, a attempt) (job int64, wanted bool) {
	if a.run == nil || a.ended.IsZero() || len(a.run.Jobs) == 0 {
		return 0, false
	}
	switch got := j.read(r, a); got.outcome {
	case quorum.Empty, quorum.Unknown:
	case quorum.Malformed:
		if a.run.Conclusion == "success" {
			return 0, false
		}
	case quorum.Cancelled: // a job's own time limit cancels it, too
		if j.intended(quorum.Cancel, r.Name, a.run.ID, a.number) {
			return 0, false
		}
	case quorum.Findings:
		if got.ref.Kind != quorum.TextRun { // verdict: conclusion may have failed by an outage
			return 0, false
		}
	default:
		return 0, false
	}
	jobs := slices.Clone(a.run.Jobs)
	slices.SortStableFunc(jobs, func(x, y quorum.Job) int { return telling(y) - telling(x) })
	return jobs[0].ID, !jobs[0].Read
}

// telling orders jobs by how much their log may tell: a failed one most, a skipped one nothing.
func telling(job quorum.Job) int {
	switch job.Conclusion {
	case "failure", "timed_out":
		return 3
	case "cancelled":
		return 2
	case "skipped":
		return 0
	}
	return 1
}
