package evidence_test

// What a push leaves of what was said before it: each of these was lost once, and walks through histories found it.

import (
	"reflect"
	"slices"
	"testing"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const aDiff, anotherDiff = "d1", "d2"

// ofDiff gives the scene's head a diff.
func (x *scene) ofDiff(lines string) *scene {
	x.s.PR.Diff.Lines = lines
	return x
}

// pushed is the next head, after what the record of x holds. GitHub goes on showing what was said.
func (x *scene) pushed(lines string) *scene {
	y := onHead(x.p.Reviewers...).ofDiff(lines)
	y.p, y.s.PR.Head, y.s.PR.Merge, y.s.Timeline, y.s.Arrived = x.p, older, "", x.s.Timeline, at(200)
	y.s.Commits = []quorum.Commit{{SHA: older, People: []quorum.Account{who("alice")}}}
	y.s.Pushes = []quorum.Push{{After: older, Actor: who("alice"), At: at(200)}}
	y.s.Reviews, y.s.Comments, y.s.Threads = x.s.Reviews, x.s.Comments, x.s.Threads
	y.s.Earlier = []string{x.s.PR.Head}
	y.s.Before, y.s.BeforeHead, y.s.Record = x.s.Record, x.s.PR.Head, quorum.Record{}
	y.s.Record = evidence.Inherit(y.p, y.s)
	return y
}

// wantObjection wants the first reviewer of scenes to object, or not to.
func wantObjection(t *testing.T, want bool, scenes map[string]*scene) {
	t.Helper()
	for name, x := range scenes {
		if b := x.looks(300); (b.Vote == quorum.Object) != want {
			t.Errorf("%s: it is %s, %s %s", name, b.Vote, b.Reason, b.Outcome)
		}
	}
}

// secbot is a reviewer that speaks by a check.
func secbot() quorum.Reviewer {
	r := lint()
	r.Workflow, r.Check, r.App, r.FailureMeans = "", "review", "secbot", quorum.MeansFindings
	return r
}

// checkedAs is a check of one id that came to each of these, one after the other, and was looked at each time.
func checkedAs(conclusions ...string) *scene {
	x := onHead(secbot()).ofDiff(aDiff)
	for i, conclusion := range conclusions {
		x.s.Checks = nil
		x.check(quorum.CheckRun{ID: 1, App: "secbot", Conclusion: conclusion, Completed: at(10 + 20*i)}).looks(11 + 20*i)
	}
	return x
}

// reviewed is a scene in which sage objects by so many reviews, each of which was looked at.
func reviewed(times int) *scene {
	x := onHead(sage()).ofDiff(aDiff)
	for n := range times {
		x.review(int64(n+1), 10+20*n, "sage[bot]", "CHANGES_REQUESTED", "It leaks.").looks(11 + 20*n)
	}
	return x
}

// dismissed is the scene with reviews that were dismissed, by their ids.
func (x *scene) dismissed(ids ...int64) *scene {
	for _, id := range ids {
		x.s.Reviews[id-1].State = "DISMISSED"
		x.event(250, quorum.Event{
			Kind: quorum.ReviewDismissed, Review: id, Actor: who("carol"), From: "CHANGES_REQUESTED",
		})
	}
	return x
}

func TestAnObjectionStandsOverAPush(t *testing.T) {
	threads := func() *scene {
		x := onHead(sage()).ofDiff(aDiff).review(1, 10, "sage[bot]", "COMMENTED", "1 comment.").thread(77)
		x.looks(11)
		return x
	}
	isResolved := func(x *scene) {
		resolved("carol")(&x.s.Threads[0])
	}
	wantObjection(t, true, map[string]*scene{
		"a check that failed":                               checkedAs("failure").pushed(aDiff),
		"a check that failed again after it was answered":   checkedAs("failure", "success", "failure").pushed(aDiff),
		"one of several reviews, and the others are ended":  reviewed(3).dismissed(1, 3).pushed(aDiff),
		"the first of many reviews, the others are ended":   reviewed(6).dismissed(2, 3, 4, 5, 6).pushed(aDiff),
		"the same, and they are ended after the push":       reviewed(3).pushed(aDiff).dismissed(1, 3),
		"a review with threads, of which one is unresolved": threads().pushed(aDiff),
	})
	wantObjection(t, false, map[string]*scene{
		"a check that was answered":                   checkedAs("failure", "success").pushed(aDiff),
		"another diff":                                checkedAs("failure").pushed(anotherDiff),
		"all reviews are ended":                       reviewed(3).pushed(aDiff).dismissed(1, 2, 3),
		"a review whose thread is resolved afterward": threads().pushed(aDiff).with(isResolved),
	})
}

// Of what a reviewer objected in comments the record keeps the first and the newest. What was said on the head before,
// which each look reads anew, takes the place of neither: else each look writes the check.
func TestAnOlderObjectionTakesNoPlaceOfTheNewest(t *testing.T) {
	x := onHead(sage()).ofDiff(aDiff)
	x.s.Record.Diff, x.s.Record.Heads = aDiff, []quorum.HeadDiff{{Head: older, Base: x.s.PR.BaseRef, Diff: aDiff}}
	x.s.Earlier = []string{older}
	x.objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "sage", At: at(10)})
	x.objected(quorum.Objection{TextRef: ref(quorum.TextComment, 2), Reviewer: "sage", At: at(50)})
	x.comment(9, -20, "sage[bot]", sageNo+"\nReviewed commit: "+older)
	x.looks(60)
	seq := x.s.Record.Seq
	x.looks(70)
	if all := x.s.Record.Objections; len(all) != 2 || all[0].ID != 1 || all[1].ID != 2 || x.s.Record.Seq != seq {
		t.Errorf("the record holds %+v", all)
	}
	x.s.Record.Objections = x.s.Record.Objections[:1] // with room for it, it is read
	x.looks(80)
	if all := x.s.Record.Objections; len(all) != 2 || all[1].ID != 9 {
		t.Errorf("the record holds %+v", all)
	}
}

// Who objected to the head before must judge a changed diff, whatever lane it is in now, unless its own condition says
// that it is not to be asked; and of a draft, too.
func TestWhoObjectedMustJudgeAChangedDiff(t *testing.T) {
	others := quorum.Lane{Name: "others", If: quorum.Condition{Base: []string{"main"}}, Voters: []string{"oak"}}
	elsewhere := func(x *scene) {
		x.p.Reviewers[0].When = quorum.Condition{AllPaths: []string{"web/**"}}
	}
	in := func(lanes ...quorum.Lane) func(*scene) { return func(x *scene) { x.p.Lanes = lanes } }
	laned := func(x *scene) *scene {
		x.p = change.PolicyFor(x.p, x.s)
		return x
	}
	both := func() *scene {
		x := onHead(sage(), oak()).ofDiff(aDiff).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "It leaks.")
		x.s.Links = []string{}
		return x
	}
	after := func(x *scene, changes ...func(*scene)) *scene {
		x.looks(11)
		y := x.pushed(anotherDiff)
		y.s.Links = []string{}
		for _, f := range changes {
			f(y)
		}
		return laned(y)
	}
	noReview := laxer("docs", quorum.Condition{AllPaths: []string{"**"}})
	for name, test := range map[string]struct {
		x       *scene
		again   bool
		excused quorum.Reason
	}{
		"the same lane":               {after(both()), true, ""},
		"a lane that leaves it out":   {after(both(), in(others)), true, ""},
		"one that also its when does": {after(both(), in(others), elsewhere), false, quorum.ReasonWhen},
		"its when alone":              {after(both(), elsewhere), false, quorum.ReasonWhen},
		"a lane that needs no review": {after(both(), in(noReview)), false, quorum.ReasonNoReview},
		"it objected while it was a draft": {
			after(both().with(func(x *scene) { x.s.PR.Draft = true })), true, "",
		},
	} {
		b := test.x.looks(300)
		if b.Again != test.again || b.Required != test.again || b.Voter() != test.again || !test.again && b.Excused != test.excused {
			t.Errorf("%s: again %v, required %v, votes %v, excused %q", name, b.Again, b.Required, b.Voter(), b.Excused)
		}
	}
}

// What a reviewer objected to a head that no look saw counts at the look that hears a person's rerun, too.
func TestANoOnALeftHeadCountsWhileARerunIsHeard(t *testing.T) {
	others := quorum.Lane{Name: "others", If: quorum.Condition{Base: []string{"main"}}, Voters: []string{"oak"}}
	for _, words := range []string{"", "rerun"} {
		x := onHead(sage(), oak()).ofDiff(aDiff).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "It leaks.").pushed(anotherDiff)
		x.s.Links, x.p.Lanes, x.s.Began = []string{}, []quorum.Lane{others}, at(5000)
		x.p = change.PolicyFor(x.p, x.s)
		if words != "" {
			x.said(9, 250, "carol", words).with(mayWrite)
		}
		if b := evidence.Judge(x.p, x.s)[0]; !b.Again || !b.Required {
			t.Errorf("after %q: again %v, required %v", words, b.Again, b.Required)
		}
	}
}

// Nobody waits in a lane that needs no review, whoever has been asked.
func TestNobodyWaitsWhereNoReviewIsNeeded(t *testing.T) {
	x := inLanes(laxer("docs", quorum.Condition{AllPaths: []string{"**"}})).run(1, 10, -1)
	x.p = change.PolicyFor(x.p, x.s)
	if d := x.decide(20); d.Verdict != quorum.Passed || !d.Wake.IsZero() {
		t.Errorf("it is %s, and changes at %s", d.Verdict, d.Wake)
	}
	for _, b := range evidence.Judge(x.p, x.s) {
		if b.Vote == quorum.Pending && b.Excused != quorum.ReasonNoReview {
			t.Errorf("%s is waited for: %s", b.Reviewer, b.Excused)
		}
	}
}

// Who a reviewer is and how its verdict is told are its terms, on which a carried approval was given: each field is
// one, or is none.
func TestACarriedApprovalHasItsReviewersTerms(t *testing.T) {
	terms := map[string]func(r *quorum.Reviewer){
		"Preset":       func(r *quorum.Reviewer) { r.Preset = "socket" },
		"Workflow":     func(r *quorum.Reviewer) { r.Workflow, r.Check, r.App = "strict.yml", "", "" },
		"Check":        func(r *quorum.Reviewer) { r.Check = "strict review" },
		"App":          func(r *quorum.Reviewer) { r.App = "otherbot" },
		"Status":       func(r *quorum.Reviewer) { r.Status, r.Check, r.App = "review", "", "" },
		"Author":       func(r *quorum.Reviewer) { r.Author = "sage[bot]" },
		"Heading":      func(r *quorum.Reviewer) { r.Heading = "## Strict" },
		"Verdict":      func(r *quorum.Reviewer) { r.Verdict.Kind = quorum.FindingList },
		"MinSeverity":  func(r *quorum.Reviewer) { r.MinSeverity = quorum.High },
		"FailureMeans": func(r *quorum.Reviewer) { r.FailureMeans = quorum.MeansUnavailable },
		"Shapes":       func(r *quorum.Reviewer) { r.Shapes.Objects = []string{"it leaks"} },
	}
	others := map[string]func(r *quorum.Reviewer){
		"Timeout": func(r *quorum.Reviewer) { r.Timeout++ }, "OwnTimeout": func(r *quorum.Reviewer) { r.OwnTimeout = true },
		"Required": func(r *quorum.Reviewer) { r.Required = true }, "Guard": func(r *quorum.Reviewer) { r.Guard = []string{"x"} },
		"Family": func(r *quorum.Reviewer) { r.Family = "maker" }, "Agents": func(r *quorum.Reviewer) { r.Agents = []string{"x"} },
		"Request": func(r *quorum.Reviewer) { r.Request.Comment = "review" }, "Obeys": func(r *quorum.Reviewer) { r.Obeys = []string{"x"} },
		"OnlyNew": func(r *quorum.Reviewer) { r.OnlyNew = true }, "Signal": func(r *quorum.Reviewer) { r.Signal.Check = "x" },
		"Events": func(r *quorum.Reviewer) { r.Events = []string{"push"} }, "AuthorID": func(r *quorum.Reviewer) { r.AuthorID = 7 },
	}
	// One of another name is another one, and who has no vote, or none that counts, is told apart before.
	apart := []string{"Name", "When", "Excused", "Relative", "Shadow", "Retired", "InsteadOf", "After"}
	for field := range reflect.TypeFor[quorum.Reviewer]().Fields() {
		change, isTerm := terms[field.Name]
		if !isTerm {
			change = others[field.Name]
		}
		if change == nil {
			if !slices.Contains(apart, field.Name) {
				t.Errorf("is %s one of a reviewer's terms?", field.Name)
			}
			continue
		}
		x := onHead(secbot()).ofDiff(aDiff)
		x.p.Carry, x.s.PR.Diff.Tree = quorum.CarrySameDiff, "t1"
		x.check(quorum.CheckRun{ID: 1, App: "secbot", Conclusion: "success", Completed: at(10)}).looks(11)
		y := x.pushed(aDiff)
		y.s.PR.Diff.Tree = "t1"
		y.s.Record = evidence.Inherit(y.p, y.s)
		change(&y.p.Reviewers[0])
		if b := y.looks(210); (b.Reason == quorum.ReasonCarried) == isTerm {
			t.Errorf("with another %s it is %s, %s", field.Name, b.Vote, b.Reason)
		}
	}
}
