package evidence

// The heads and bases that the pull request had before. Coming back to one brings back what was objected to it and not answered, and
// a no that was said against another base counts here, too. The record tells of what a look saw; of what none saw, GitHub's times.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	maxHeadsBefore  = 30 // earlier heads that are asked whether they are the one before
	maxNewestBefore = 10 // of them the newest
	maxBaseStays    = 50 // the last stays on other bases in which anything was said
)

// LeftHeads are the heads before this one whose checks or statuses are to be read, and which of the two: those of a
// kind that is a reviewer's verdict, and the jobs of runs whose failure is one. None are, if there is no such reviewer.
func LeftHeads(p quorum.Policy, s quorum.Snapshot) (heads []string, checks, statuses bool) {
	var failed []string // heads with a failed run
	for _, r := range p.Reviewers {
		checks, statuses = checks || r.MayVote() && r.Check != "", statuses || r.MayVote() && r.Status != ""
		objects := r.MayVote() && isByConclusion(&r) && r.FailureMeans == quorum.MeansFindings
		for _, run := range s.Others {
			if objects && run.Path == r.Workflow && run.Conclusion == "failure" {
				failed = append(failed, run.Head)
			}
		}
	}
	heads = lastHeads(&s)
	if !checks && !statuses {
		heads = without(heads, func(head string) bool { return !slices.Contains(failed, head) })
	}
	return heads, checks || len(failed) > 0, statuses
}

// cancelsOfLeftReruns cancels the attempts that we started on a head that was left and that have not ended, at most maxTries times
// until GitHub shows that they have: not those of a run that reviewers share, or that waits for a person.
func cancelsOfLeftReruns(h *headView) (cancels []quorum.Action) {
	s := h.snapshot
	known := recordView{record: &quorum.Record{Intents: slices.Concat(s.Before.Intents, s.Record.Intents)}} // Before: at the first look
	for i := range s.Others {
		run := &s.Others[i]
		if run.Completed() || run.Status == "waiting" || !run.Starter.Same(s.Ours) {
			continue
		}
		in, isCancelled := known.newestIntent(quorum.Cancel, run.ID, run.Attempt)
		rerun, isOurs := known.newestIntent(quorum.Rerun, run.ID, run.Attempt-1)
		_, isRefused := h.record.refusalOf(quorum.Cancel, "", run.ID, run.Attempt)
		if !isCancelled && (!isOurs || rerun.Command != 0) || isRefused || in.Tries >= maxTries {
			continue
		}
		by := cmp.Or(in.Reviewer, rerun.Reviewer)
		of := without(h.policy.Reviewers, func(r quorum.Reviewer) bool { return r.Workflow != run.Path })
		if len(of) == 1 && of[0].Name == by {
			a := quorum.Action{Kind: quorum.Cancel, Reviewer: by, Run: run.ID, Attempt: run.Attempt, Left: run.Head}
			if isCancelled {
				a.Due = in.At.Add(quorum.ReplicaLag)
			}
			cancels = append(cancels, a)
		}
	}
	return cancels
}

// runsOfLeftHeads are the ended runs of the last head on which the reviewer's ended, unless a look has heard them.
func runsOfLeftHeads(v *reviewerView) []quorum.Run {
	j := lastJudged(v.head.snapshot.Record.Judged, v.Name)
	for _, head := range lastHeads(v.head.snapshot) {
		runs := without(v.runs.others, func(run quorum.Run) bool {
			return run.Head != head || run.Conclusion != "success" && run.Conclusion != "failure"
		})
		isUnheard := func(run quorum.Run) bool { return j.Head != head || run.Updated.After(j.Said) }
		if slices.ContainsFunc(runs, isUnheard) {
			return runs
		}
		if j.Head == head {
			return nil
		}
	}
	return nil
}

// LikelyHeads are those of some earlier heads that are worth a request each: of too many the first, and those that
// stayed longest before a force-push, so that a storm of pushes hides none that was judged.
func LikelyHeads(s quorum.Snapshot, heads []string) []string {
	if len(heads) <= maxHeadsBefore {
		return heads
	}
	stayed, since := map[string]time.Duration{}, s.PR.Created
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed {
			stayed[e.From], since = max(stayed[e.From], e.At.Sub(since)), e.At
		}
	}
	likely := slices.Clone(heads)
	slices.SortStableFunc(likely[maxNewestBefore:], func(a, b string) int { return cmp.Compare(stayed[b], stayed[a]) })
	likely = likely[:maxHeadsBefore]
	return without(heads, func(head string) bool { return !slices.Contains(likely, head) })
}

// snapshotOfLeftHead is the snapshot as if the pull request had an earlier head.
func snapshotOfLeftHead(s *quorum.Snapshot, head string) quorum.Snapshot {
	past := *s
	past.PR.Head, past.PR.Merge = head, ""
	runs := slices.Concat(s.Runs, s.Others)
	past.Runs = without(runs, func(run quorum.Run) bool { return run.Head != head })
	past.Others = without(runs, func(run quorum.Run) bool { return run.Head == head })
	isIt := func(left *quorum.LeftHead) bool { return left.SHA == head }
	left := cmp.Or(firstOf(s.Left, isIt), &quorum.LeftHead{})
	past.Checks, past.Statuses = left.Checks, left.Statuses
	past.Pushed, past.Arrived = time.Time{}, time.Time{}
	past.Record = quorum.Record{Accounts: s.Record.Accounts, Heads: s.Record.Heads}
	return past
}

// verdictOnLeftHeads is the verdict of a reviewer, as GitHub shows it, about the last head before this one of which it
// spoke; zero if there is none, if that has the same diff, or if the record knows of a later one. Whatever base that head
// was on, a no was said of it; a yes of before the base changed would stand in the record if it had counted.
func verdictOnLeftHeads(h *headView, r *quorum.Reviewer, texts *textReader) (last quorum.Judged) {
	p, asVoter := *h.policy, *r
	asVoter.Excused = "" // whatever lane the pull request is in now
	p.Reviewers = []quorum.Reviewer{asVoter}
	heads := headsWithWords(h.snapshot, r, texts)
	for _, head := range heads[:min(len(heads), maxLeftHeads)] {
		past := snapshotOfLeftHead(h.snapshot, head)
		past.Timeline = withoutBaseChanges(past.Timeline)
		past.Reviews = without(past.Reviews, func(t quorum.Text) bool { return t.Commit != head })
		left := newHeadView(&p, &past)
		left.now, left.timeline = h.snapshot, h.timeline
		v := viewsOf(left, texts)[0]
		b := v.makeBallot()
		switch {
		case isVerdictHere(&b) && b.Vote == quorum.Object && h.isAlike(head): // it objects to this head, too
			return last
		case isVerdictHere(&b) && v.isOfHead(b.Evidence) && (b.Vote == quorum.Object || !h.cycle.isBeforeBase(b.Since)):
			said := b.Since.UTC().Truncate(time.Second)
			return quorum.Judged{Reviewer: r.Name, Head: head, No: b.Vote == quorum.Object, Said: said}
		case lastJudged(h.record.record.Judged, r.Name).Head == head:
			return last
		}
	}
	return last
}

// headsWithWords are the heads before this one of which something of the reviewer's may speak.
func headsWithWords(s *quorum.Snapshot, r *quorum.Reviewer, texts *textReader) []string {
	said := []string{lastJudged(s.Record.Judged, r.Name).Head} // commits, or what they begin with
	heads, _ := HeadsBefore(*s)
	for _, t := range slices.Backward(s.Reviews) {
		if r.IsAuthor(t.Author) && t.Commit != s.PR.Head {
			said, heads = append(said, t.Commit), append(heads, t.Commit)
		}
	}
	for _, run := range s.Others {
		if run.Path == r.Workflow {
			said = append(said, run.Head)
		}
	}
	for i := range s.Comments {
		if t := &s.Comments[i]; r.Workflow == "" && r.IsAuthor(t.Author) {
			said = append(said, texts.namedCommit(r, t))
		}
	}
	for _, left := range s.Left {
		if r.Check != "" || r.Status != "" {
			said = append(said, left.SHA)
		}
	}
	return withoutRepeats(without(heads, func(head string) bool {
		isOf := func(begin string) bool { return len(begin) >= shortSHA && strings.HasPrefix(head, begin) }
		return !slices.ContainsFunc(said, isOf)
	}))
}

// isOfHead reports whether a verdict is about this head beyond doubt: by its commit, by naming it, or by its run. A
// failure whose log was not read may be an outage.
func (v *reviewerView) isOfHead(ref quorum.TextRef) bool {
	if ref.Kind == quorum.TextRun {
		isRead := func(run quorum.Run) bool { return run.ID == ref.ID && isFailureRead(&run) }
		return slices.ContainsFunc(v.head.snapshot.Runs, isRead)
	}
	t := v.head.shownText(ref)
	return ref.Kind != quorum.TextComment || v.Workflow != "" || t != nil && v.head.isHead(v.namedCommit(t))
}

func isFailureRead(run *quorum.Run) bool {
	return run.Conclusion == "success" || slices.ContainsFunc(run.Jobs, func(job quorum.Job) bool { return job.Read })
}

// objectionsOfAlikeHeads are those that GitHub shows to earlier heads with this diff, and that are surely about them.
func objectionsOfAlikeHeads(h *headView, texts *textReader) (all []quorum.Objection) {
	for _, alike := range alikeHeads(h.snapshot) {
		past := snapshotOfLeftHead(h.snapshot, alike.Head)
		left := newHeadView(h.policy, &past)
		left.now = h.snapshot // what a run there and another one could both have objected counts there
		for _, v := range viewsOf(left, texts) {
			b := v.makeBallot()
			if b.Vote == quorum.Object && b.Reason != quorum.ReasonOpenThreads && v.isOfHead(b.Evidence) {
				for _, o := range v.objectionsOf(b) {
					o.Carried, o.Base, o.Diff = alike.Head, alike.Base, alike.Diff
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// objectionsOf are the objections on which a ballot of the reviewer rests.
func (v *reviewerView) objectionsOf(b quorum.Ballot) []quorum.Objection {
	var rec quorum.Record
	rememberBallot(&rec, *v.head.snapshot, b)
	rememberUnlooked(&rec, v.head, []quorum.Ballot{b})
	return rec.Objections
}

// saidWithin shows what was said during stays, and the runs that began in them. What an edited text said before nothing tells.
func saidWithin(s *quorum.Snapshot, stays []stay, isClosed bool) quorum.Snapshot {
	isOutside := func(at time.Time) bool { return !isWithin(stays, at, isClosed) }
	isTextOutside := func(t quorum.Text) bool { return isOutside(latest(t.At, t.Edited)) }
	then := *s
	then.Comments, then.Reviews = without(s.Comments, isTextOutside), without(s.Reviews, isTextOutside)
	then.Threads = without(s.Threads, func(t quorum.Thread) bool { return isOutside(t.At) })
	then.Checks = without(s.Checks, func(c quorum.CheckRun) bool { return isOutside(latest(c.Started, c.Completed)) })
	then.Statuses = without(s.Statuses, func(st quorum.Status) bool { return isOutside(st.At) })
	then.Runs = without(s.Runs, func(run quorum.Run) bool { return isOutside(run.Created) })
	return then
}

// objectionsOfEarlierStays are what was objected while the pull request had another base, or this head or base before, or
// by runs that began before it came back to this base. Of what visibly began against another base the reviewer is required, as one
// that objected elsewhere. The stays on this base come first: an approval in one must not take back what is objected elsewhere.
func objectionsOfEarlierStays(h *headView, texts *textReader) (here []quorum.Objection, elsewhere map[string]bool) {
	s, own, changed := h.snapshot, earlierBaseStays(h.snapshot), h.cycle.baseChanged
	otherBases := without(baseStays(s), func(was stay) bool { return was.of == s.PR.BaseRef })
	elsewhere = map[string]bool{}
	judge := func(past *headView, others []stay) {
		past.now = h.now
		for _, v := range viewsOf(past, texts) {
			b := v.makeBallot()
			if b.Vote == quorum.Approve {
				delete(elsewhere, v.Name)
			}
			for _, o := range v.objectionsOf(b) {
				if isWithin(others, beganAt(v.head, &o), false) {
					elsewhere[v.Name] = elsewhere[v.Name] || v.isOfHead(o.TextRef)
					continue
				}
				o.Base = s.PR.BaseRef
				here = append(here, o)
			}
		}
	}
	for _, isClosed := range []bool{false, true} { // who leaves chooses the second: what was said in it may object, and answers nothing
		if len(h.stays) > 0 {
			then, came := saidWithin(s, h.stays, isClosed), h.stays[0].from
			then.Checks, then.Statuses = nil, nil // they belong to their commit, and never went
			past := newHeadView(h.policy, &then)
			past.cycle.arrival, past.cycle.pushed, past.cycle.start = came, came, latest(past.cycle.ready, came, past.cycle.baseChanged)
			past.stays = nil // it never left
			judge(past, nil)
		}
		if len(own) > 0 {
			then := saidWithin(s, own, isClosed)
			then.Timeline = withoutBaseChanges(s.Timeline)
			judge(newHeadView(h.policy, &then), nil)
		}
	}
	telling := without(otherBases, func(was stay) bool {
		then := saidWithin(s, []stay{was}, true)
		texts, signals := len(then.Comments)+len(then.Reviews)+len(then.Threads), len(then.Checks)+len(then.Statuses)
		return texts+signals+len(then.Runs) == 0
	})
	for _, was := range telling[max(0, len(telling)-maxBaseStays):] {
		then := snapshotWithin(s, was)
		judge(newHeadView(h.policy, &then), otherBases)
	}
	now := snapshotWithin(s, stay{s.PR.BaseRef, changed, changed.AddDate(100, 0, 0)})
	now.Runs = without(now.Runs, func(run quorum.Run) bool { return run.Created.After(changed) })
	now.Checks, now.Statuses = nil, nil
	byRun := *h.policy
	byRun.Reviewers = without(byRun.Reviewers, func(r quorum.Reviewer) bool { return r.Workflow == "" })
	if len(now.Runs) > 0 {
		judge(newHeadView(&byRun, &now), otherBases)
	}
	return here, elsewhere
}

// snapshotWithin shows what was said during a stay on a base, by runs that had begun by its end.
func snapshotWithin(s *quorum.Snapshot, was stay) quorum.Snapshot {
	then := saidWithin(s, []stay{was}, true)
	then.PR.BaseRef = was.of
	then.Timeline = withoutBaseChanges(s.Timeline)
	then.Runs = without(s.Runs, func(run quorum.Run) bool {
		return run.Created.After(was.to) || run.Completed() && run.Updated.Add(replyWindow).Before(was.from)
	})
	return then
}

// beganAt is when what objects was visibly begun, as a run, a check run or a pending status; zero where nothing shows it.
func beganAt(h *headView, o *quorum.Objection) time.Time {
	s := h.snapshot
	isCheck := func(c *quorum.CheckRun) bool { return o.Kind == quorum.TextCheck && c.ID == o.ID }
	isStatus := func(st *quorum.Status) bool { return o.Kind == quorum.TextStatus && st.ID == o.ID }
	if check := firstOf(s.Checks, isCheck); check != nil {
		return check.Started
	}
	if status := firstOf(s.Statuses, isStatus); status != nil {
		return h.scanBegan(status)
	}
	isRun := func(run *quorum.Run) bool { return run.ID == o.Run }
	return cmp.Or(firstOf(s.Runs, isRun), &quorum.Run{}).Created
}
