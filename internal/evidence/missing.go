package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// maxCommits and maxPeople are how many commits and strangers are looked up for one snapshot, and maxLogs how many
// logs of one reviewer's runs: their texts and runs must not run up requests. What is left out counts for nothing. Of
// whom GitHub calls a member all are looked up: a crowd hides nobody.
const (
	maxCommits = 10
	maxPeople  = 30
	maxLogs    = 10
)

// Missing lists the facts that a full judgement of s needs and that cost requests of their own. What tells the policy,
// of which lane p is not yet, comes before all else.
func Missing(p quorum.Policy, s quorum.Snapshot) (w quorum.Wants) {
	isInPart := isJudgedInPart(&p, &s) && !mayCarryOverDraft(&p, &s)
	if isInPart && !isJudgedLater(&p, &s) {
		return w
	}
	if w = change.Wants(p, s); w.Lane && !isInPart {
		return w
	}
	views := reviewerViews(&p, &s)
	if w = unreadOfRuns(views); len(w.Uploads)+len(w.Attempts) > 0 {
		return w
	}
	if isInPart { // what an artifact objects to a draft stands later, deleted or not
		for _, v := range views {
			w.Logs = append(w.Logs, v.newestAttempt().unreadLogsBefore()...)
		}
		return w
	}
	if w = branchWants(views); w.SameBranch {
		return w
	}
	for _, v := range views {
		if v.Retired {
			continue
		}
		w.Authors = w.Authors || v.hasShortHeadName() || v.isEndedByPerson()
		w.Pushes = w.Pushes || v.hangsOnPushes()
		newest := v.newestAttempt()
		w.Commits = withoutRepeats(append(w.Commits, newest.unknownCommits()...))
		w.Commits = w.Commits[:min(len(w.Commits), maxCommits)]
		if v.Excused != "" && v.makeBallot().Excused != "" {
			continue // what tells a yes, or how to get one, is worth nothing
		}
		who := v.head.commanders(v.Reviewer)
		w.Authors = w.Authors || len(who) > 0
		w.People = append(w.People, who[:min(len(who), maxPeople)]...)
		if run := newest.attempt.run; run != nil {
			w.Blobs = append(w.Blobs, v.head.workflowsToCompare(run)...)
		}
		for _, job := range newest.unreadLogs() {
			w.Logs = withOnce(w.Logs, job)
		}
	}
	mayTakeOver := len(s.SameHead) > 0 && len(s.Record.Objections) > 0 // an accept from below another pull request
	w.Authors = w.Authors || mayTakeOver && p.Override != 0 && !p.OwnChange
	isOwner := func(login string) bool { return strings.EqualFold(login, s.PR.Owner) } // see [Facts]
	vouches := slices.ContainsFunc(views[0].head.vouchers(), func(v quorum.StandIn) bool { return isOwner(v.Login) })
	for _, c := range saidCommands(views[0].head) {
		w.People, w.Authors = append(w.People, c.By), w.Authors || !c.isAboutFixes()
		vouches = vouches || c.Verb == quorum.CommandVouch && isOwner(c.By)
	}
	w.OnlyWriter = vouches && p.OwnChange && len(p.People) > 0
	w.Tree = wantsTree(&p, &s, views)
	strangers := 0
	for _, t := range views[0].head.lastReviews() {
		isMoot := t.State == "APPROVED" && !mayStandHere(&s, &t)
		if !isMoot && !t.Member {
			strangers++
		}
		if isMoot || !t.Member && strangers > maxPeople {
			continue
		}
		w.Authors = w.Authors || t.State != "CHANGES_REQUESTED"
		w.People = append(w.People, t.Author.Login)
		if t.State == "APPROVED" {
			for _, team := range p.People.Teams() {
				w.Teams = append(w.Teams, quorum.TeamName{Team: team, Login: t.Author.Login})
			}
		}
	}
	w.People = withoutRepeats(w.People)
	return w
}

// unreadOfRuns are the artifacts of the reviewers' runs that nobody has read, and the attempts that failed before a
// look saw it: of this stay on the base and of earlier ones, and artifacts of heads before.
func unreadOfRuns(views []*reviewerView) (w quorum.Wants) {
	for _, v := range views {
		stays := earlierBaseStays(v.head.snapshot)
		earlier := without(v.runs.oldBase, func(run quorum.Run) bool { return !isWithin(stays, run.Created, true) })
		for _, runs := range [][]quorum.Run{runsOfLeftHeads(v), earlier, v.runs.ofTwins, v.runs.counted} {
			w.Uploads = append(w.Uploads, v.head.unreadUploads(v.Reviewer, runs)...)
		}
		for _, run := range slices.Concat(earlier, v.runs.ofTwins, v.runs.counted) {
			isRead := func(n quorum.AttemptName) bool { return v.head.earlierAttempt(n) != nil }
			w.Attempts = append(w.Attempts, without(unseenAttempts(v.head, v.Reviewer, &run), isRead)...)
		}
	}
	return w
}

// hangsOnPushes reports whether it hangs on who pushed what to the branch to which head a text of the reviewer belongs,
// of those that no look knows: a comment that no run binds and that names no commit, where a second commit may have
// been pushed since; a text from before the force-push that brought the head, for the pull request may have had this
// head then, and an objection stand; and a review of the head that GitHub may have moved onto it. A moved approval
// counts no more than one from before.
func (v *reviewerView) hangsOnPushes() bool {
	h, c, s := v.head, &v.head.cycle, v.head.snapshot
	return slices.ContainsFunc(h.texts, func(t quorum.Text) bool {
		isComment := t.Kind == quorum.TextComment
		mayBeOfHead := t.Commit == s.PR.Head || isComment && v.Workflow == ""
		isBefore, isKnown := t.At.Before(c.arrival), h.record.knowsText(t.TextRef)
		isUnnamed := isComment && s.PR.Commits > 1 && !c.hadOtherHead && !h.isHead(v.namedCommit(&t))
		isFromBefore := isBefore && c.isForced && len(s.Pushes) == 0 && t.State != "APPROVED" && v.hasHeading(&t)
		mayBeMoved := !isComment && c.pushed.IsZero() && h.mayHaveHadOtherHead() &&
			(c.hadOtherHead || isBefore || h.isMovedReview(&t))
		return mayBeOfHead && v.IsAuthor(t.Author) && (isUnnamed || !isKnown && (isFromBefore || mayBeMoved))
	})
}

// isEndedByPerson reports whether a person did what ends an objection of the reviewer's, if that person may.
func (v *reviewerView) isEndedByPerson() bool {
	isPerson := func(a quorum.Account) bool {
		return a.Login != "" && !a.Bot && !a.Same(v.head.snapshot.PR.Author)
	}
	hasResolved := slices.ContainsFunc(v.head.snapshot.Threads, func(t quorum.Thread) bool {
		return v.IsAuthor(t.Author) && t.Resolved && isPerson(t.ResolvedBy)
	})
	return hasResolved || slices.ContainsFunc(v.head.snapshot.Reviews, func(t quorum.Text) bool {
		by, _ := v.head.dismissalOf(&t)
		return t.State == "DISMISSED" && v.IsAuthor(t.Author) && isPerson(by) // of whichever head
	})
}

// branchWants wants the other pull requests of the head branch where an approval may be about one of them: by what names
// no pull request, as a check, a status, an artifact or a run, or by a text of a run.
func branchWants(views []*reviewerView) (w quorum.Wants) {
	isOfCommit := func(s statement) bool { return !isWithdrawable(s.ref.Kind) }
	succeeded := func(run quorum.Run) bool { return run.Completed() && run.Conclusion == "success" }
	for _, v := range views {
		if v.head.snapshot.SameBranch != nil || v.Excused != "" && v.makeBallot().Excused != "" {
			continue
		}
		all, run := v.signalStatements(), v.newestAttempt().attempt.run
		for _, a := range v.judged { // each may have answered an objection
			all = append(all, a.textStatements()...)
		}
		all = without(all, func(s statement) bool { return s.Outcome != quorum.Approved })
		if slices.ContainsFunc(all, isOfCommit) || isByConclusion(v.Reviewer) && slices.ContainsFunc(v.runs.counted, succeeded) {
			return quorum.Wants{SameBranch: true}
		}
		if len(all) > 0 && run != nil && isRunOfPull(run) {
			w.SameBranch, w.SameBranchRun = true, max(w.SameBranchRun, run.ID)
		}
	}
	return w
}

// hasShortHeadName reports whether a text names the head by a short id, as unlisted commits before it may begin, too.
func (v *reviewerView) hasShortHeadName() bool {
	pr := &v.head.snapshot.PR
	return pr.Commits > ListedCommits && slices.ContainsFunc(v.head.texts, func(t quorum.Text) bool {
		id := v.namedCommit(&t)
		return v.IsAuthor(t.Author) && id != "" && id != pr.Head && strings.HasPrefix(pr.Head, id)
	})
}

// unknownCommits are the commits named by the texts of the attempt's reviewer that may be merges of the head.
func (v *attemptView) unknownCommits() (out []string) {
	a, s := &v.attempt, v.head.snapshot
	known, _ := HeadsBefore(*s)
	known = append(known, s.PR.Head, s.PR.Merge)
	for _, t := range slices.Backward(v.head.texts) {
		at := latest(t.At, t.Edited)
		isOld := at.Before(v.head.cycle.arrival) || a.run != nil && at.Before(a.began)
		if isOld || !v.IsAuthor(t.Author) || !v.hasHeading(&t) {
			continue
		}
		id := v.namedCommit(&t)
		isKnown := slices.ContainsFunc(known, func(sha string) bool { return strings.HasPrefix(sha, id) })
		if _, isResolved := s.Resolved[id]; !isKnown && !isResolved && review.IsHex(id) {
			out = append(out, id)
		}
	}
	return out
}

// unreadLogs are the jobs whose logs may explain how the newest attempt ended, and where that is the verdict those before.
func (v *attemptView) unreadLogs() []int64 {
	got := v.judgeAttempt()
	own := cmp.Or(got.newest, &got) // beside an objection that stands, too, it decides whether it is run again
	return append(v.jobThatExplains(own), v.unreadLogsBefore()...)
}

// unreadLogsBefore are such jobs of other attempts, here and on other heads or bases, where the conclusion is the verdict.
func (v *attemptView) unreadLogsBefore() (jobs []int64) {
	if !isByConclusion(v.Reviewer) {
		return nil
	}
	s := v.newObjectionSearch(v.ownResult(), nil)
	for _, o := range slices.Backward(s.others) {
		if !s.hasAnswer(o.own.at, o.attempt.run.ID, o.attempt.number) {
			jobs = append(jobs, o.jobThatExplains(&o.own)...)
		}
	}
	for _, run := range v.runs.others {
		isNo := v.FailureMeans == quorum.MeansFindings && run.Conclusion == "failure"
		if isNo && len(run.Jobs) > 0 && !isFailureRead(&run) {
			jobs = append(jobs, tellingJob(&run).ID)
		}
	}
	return jobs[:min(len(jobs), maxLogs)]
}

// jobThatExplains is the job whose unread log may explain the result of an attempt that has ended, if there is one.
func (v *attemptView) jobThatExplains(got *statement) []int64 {
	a, wanted := &v.attempt, false
	if a.run == nil || a.ended.IsZero() || len(a.run.Jobs) == 0 {
		return nil
	}
	switch got.Outcome {
	case quorum.Empty, quorum.Unknown:
		wanted = true
	case quorum.Malformed, quorum.Partial:
		wanted = a.run.Conclusion != "success"
	case quorum.Cancelled: // a job's own time limit cancels it, too
		wanted = !v.isCancelledByUs()
	case quorum.Findings: // verdict: conclusion may have failed by an outage
		wanted = got.ref.Kind == quorum.TextRun
	}
	if best := tellingJob(a.run); wanted && !best.Read {
		return []int64{best.ID}
	}
	return nil
}

// tellingJob is the first job of a run whose log may tell most: a failed one most, a skipped one nothing.
func tellingJob(run *quorum.Run) quorum.Job {
	rank := map[string]int{"failure": 3, "timed_out": 3, "cancelled": 2, "skipped": -1}
	return slices.MaxFunc(run.Jobs, func(x, y quorum.Job) int { return rank[x.Conclusion] - rank[y.Conclusion] })
}

// wantsTree reports whether an approval stands on this head, or could be carried to it.
func wantsTree(p *quorum.Policy, s *quorum.Snapshot, views []*reviewerView) bool {
	if p.Carry != quorum.CarrySameDiff || s.NoRecord || s.PR.FilesMissing || s.PR.Diff.Tree != "" {
		return false
	}
	isTreeKnown := s.Before.Tree != "" && s.Before.Tree != UnknownTree
	isByMember := func(t quorum.Text) bool { return t.Member && mayStandHere(s, &t) }
	return isTreeKnown && hasCountedBefore(s) || anyVotes(views, quorum.Approve) ||
		slices.ContainsFunc(views[0].head.lastReviews(), isByMember)
}

// anyVotes reports whether a voting reviewer has that vote, or will have it when its attempt ends.
func anyVotes(views []*reviewerView, vote quorum.Vote) bool {
	return slices.ContainsFunc(views, func(v *reviewerView) bool {
		b := v.makeBallot()
		return v.MayVote() && isOrBecomes(&b, vote)
	})
}
