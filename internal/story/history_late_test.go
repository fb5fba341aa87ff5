package story_test

// What a reviewer says of a head that the pull request has left: after a push, or while the pull request is away. No look
// saw that head with these words.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// lateWorld has words about heads that were left. One reviewer approves quickly, so that every other no decides.
func lateWorld() world {
	return world{
		name: "late", need: 1, kinds: []reviewerKind{byStatus, byApp, byWorkflowText, byCheck}, few: fewWords,
		add: addLateMoves,
		told: [][]string{
			{"alice pushes"},
			{"alice rebases"},
			{"c-workflow starts", "alice pushes"},
			{"b-app requests changes", "alice pushes", "b-app approves"},
		},
		shows: []string{"again"},
	}
}

// lateConclusionWorld has a run whose conclusion is its verdict, and that ends on a head that was left. Its jobs and its log are
// not read there.
func lateConclusionWorld() world {
	w := lateWorld()
	w.few = append(slices.Clip(w.few), " ends as failure")
	w.name, w.kinds, w.told, w.shows = "late conclusions", []reviewerKind{byStatus, byConclusion}, [][]string{
		{"b-conclusion starts", "alice rebases", "b-conclusion fails on the head before", "a-status status succeeds"},
		{"b-conclusion starts", "alice pushes", "b-conclusion fails on the head before", "a-status status succeeds"},
	}, nil
	return w
}

// addLateMoves are the moves of those worlds.
func addLateMoves(add addMove, p *quorum.Policy) {
	for place := range p.Reviewers {
		lateMoves(add, place, &p.Reviewers[place])
	}
	add("alice rebases", func(st *modelState) bool { return st.push(author, st.change) })
	add("alice pushes", func(st *modelState) bool { return st.push(author, st.otherChange(codeFile)) })
	add("alice forces back to the first head", func(st *modelState) bool { return st.forceBack(author) })
}

// lateMoves are the words of one reviewer about the head that was left last.
func lateMoves(add addMove, place int, r *quorum.Reviewer) {
	object := func(name string, say func(st *modelState, left *headTruth) (quorum.TextRef, *quorum.Run)) {
		add(r.Name+" "+name+" the head before", func(st *modelState) bool {
			if st.before < 0 || st.before == st.at {
				return false
			}
			left := &st.heads[st.before]
			ref, run := say(st, left)
			if ref.ID == 0 {
				return false
			}
			st.objectTo(place, left, ref, run)
			return true
		})
	}
	switch {
	case r.Verdict.Kind == quorum.Conclusion && r.Workflow != "":
		object("fails on", func(st *modelState, left *headTruth) (ref quorum.TextRef, run *quorum.Run) {
			if run = st.endLeftRun(r, left, "failure"); run != nil {
				ref = quorum.TextRef{Kind: quorum.TextRun, ID: run.ID}
				left.said = slices.Clone(left.said) // it is what the reviewer said there, where that head comes back
				left.said[place] = reviewerTruth{no: true, counts: true}
			}
			return ref, run
		})
	case r.Workflow != "":
		object("says no and ends on", func(st *modelState, left *headTruth) (ref quorum.TextRef, run *quorum.Run) {
			if here := st.run(r); here != nil && !here.Completed() {
				return ref, nil // either run may have written it
			}
			if run = st.endLeftRun(r, left, "success"); run != nil {
				ref = st.comment(robot, noText, r.Name)
			}
			return ref, run
		})
	case r.Status != "":
		object("status fails on", func(st *modelState, left *headTruth) (quorum.TextRef, *quorum.Run) {
			failed := quorum.Status{
				ID: st.newID(), Context: r.Status, State: "failure", Creator: quorum.Account{Login: r.Author, ID: int64(50 + place), Bot: true}, At: st.now,
			}
			left.statuses = slices.Insert(slices.Clone(left.statuses), 0, failed)
			return quorum.TextRef{Kind: quorum.TextStatus, ID: failed.ID}, nil
		})
	case r.Check != "":
		object("check fails on", func(st *modelState, left *headTruth) (quorum.TextRef, *quorum.Run) {
			failed := quorum.CheckRun{
				ID: st.newID(), Name: r.Check, App: r.App, AppID: 9, Suite: 1, Started: st.now, Completed: st.now,
				Status: "completed", Conclusion: "failure",
			}
			left.checks = append(slices.Clip(left.checks), failed)
			return quorum.TextRef{Kind: quorum.TextCheck, ID: failed.ID}, nil
		})
	case r.Author != "":
		object("requests changes to", func(st *modelState, left *headTruth) (quorum.TextRef, *quorum.Run) {
			ref := quorum.TextRef{Kind: quorum.TextReview, ID: st.newID()}
			app := quorum.Account{Login: r.Author, ID: int64(50 + place), Bot: true}
			st.s.Reviews = append(st.s.Reviews, quorum.Text{TextRef: ref, Author: app, At: st.now, Commit: left.sha, State: "CHANGES_REQUESTED"})
			return ref, nil
		})
	}
}

// endLeftRun ends the run of a workflow on a head that was left; nil if none is under way there.
func (st *modelState) endLeftRun(r *quorum.Reviewer, left *headTruth, conclusion string) *quorum.Run {
	isIt := func(run quorum.Run) bool { return run.Path == r.Workflow && run.Head == left.sha && !run.Completed() }
	i, j := slices.IndexFunc(left.runs, isIt), slices.IndexFunc(st.s.Others, isIt)
	if i < 0 || j < 0 {
		return nil
	}
	left.runs = slices.Clone(left.runs)
	st.endRun(&left.runs[i], conclusion)
	st.s.Others[j] = asListed(left.runs[i])
	return &left.runs[i]
}

// objectTo notes that a reviewer said no of a head that was left. It is its newest word about a head, unless it has
// spoken about a later one.
func (st *modelState) objectTo(place int, left *headTruth, ref quorum.TextRef, run *quorum.Run) {
	o := objectionTruth{reviewer: place, at: st.now, head: left.sha, base: st.s.PR.BaseRef, ref: ref}
	o.lines = left.printAgainst(st.s.PR.BaseRef).Lines
	if run != nil {
		o.run, o.attempt = run.ID, run.Attempt
	}
	st.objections = append(st.objections, o)
	hasObjectedHere := slices.ContainsFunc(st.objections, func(o objectionTruth) bool { return o.reviewer == place && o.head == st.s.PR.Head })
	if j := &st.judged[place]; !hasObjectedHere && !st.hasApproved(place) && !j.arrived.After(left.arrived) {
		*j = judgedTruth{no: true, head: left.sha, lines: o.lines, arrived: left.arrived}
	}
}

// asListed is a run as GitHub lists it for the branch: its jobs are read for the head alone.
func asListed(run quorum.Run) quorum.Run {
	run.Jobs, run.FailedJobs = nil, nil
	return run
}
