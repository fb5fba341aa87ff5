package evidence_test

// What our own check remembers between two looks.

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// remember looks at x at second sec, and keeps the record as our check does.
func (x *scene) remember(t *testing.T, sec int) quorum.Decision {
	t.Helper()
	d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), evidence.Facts(x.p, x.s), at(sec))
	b, err := json.Marshal(evidence.Remember(x.p, x.s, d, at(sec)))
	if err != nil {
		t.Fatal(err)
	}
	x.s.Record = quorum.Record{}
	if err := json.Unmarshal(b, &x.s.Record); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRememberIsQuiet(t *testing.T) {
	for name, x := range map[string]*scene{
		"nothing":   onHead(openai(), sage()),
		"approvals": onHead(openai(), sage()).run(1, 10, 100).comment(1, 90, bot, yes).review(2, 20, "sage[bot]", "APPROVED", ""),
		"findings":  onHead(openai(), sage()).run(1, 10, 100).comment(1, 90, bot, no).review(2, 20, "sage[bot]", "COMMENTED", "x").thread(5),
		"vague":     onHead(openai()).run(1, 10, 100).comment(1, 90, bot, vague),
	} {
		x.remember(t, 101)
		seq := x.s.Record.Seq
		for sec := range 5 {
			x.remember(t, 102+sec)
		}
		if seq == 0 || x.s.Record.Seq != seq {
			t.Errorf("%s: nothing happened, and the record went from %d to %d", name, seq, x.s.Record.Seq)
		}
	}
}

func TestRememberForgetsWithTheHead(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no)
	x.remember(t, 101)
	if r := x.s.Record; len(r.Runs) != 1 || len(r.Objections) != 1 || len(r.Texts) != 1 || r.Head != head || r.Policy != "p1" {
		t.Fatalf("the record is %+v", r)
	}
	x.s.PR.Head, x.s.Runs, x.s.Comments = older, nil, nil
	x.remember(t, 200)
	if r := x.s.Record; len(r.Runs)+len(r.Objections) != 0 || r.Head != older || r.Seq == 0 {
		t.Errorf("after a push the record is %+v", r)
	}
}

func TestRememberRuns(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100)
	run := &x.s.Runs[0]
	x.remember(t, 101)
	for _, step := range []struct {
		what                   string
		status, conclusion     string
		attempt, started, ends int
		again, ended           int
	}{
		{"updated_at moves", "completed", "failure", 1, 10, 500, 0, 100},
		{"a rerun", "queued", "", 2, 600, 600, 0, -1},
		{"its end", "completed", "failure", 2, 600, 700, 0, 700},
		{"again, though the attempt did not grow", "queued", "", 2, 600, 800, 1, -1},
		{"the end of that", "completed", "success", 2, 810, 900, 1, 900},
		{"again, and it has ended already", "completed", "success", 2, 1000, 1100, 2, 1100},
	} {
		run.Status, run.Conclusion, run.Attempt, run.Started, run.Updated = step.status, step.conclusion, step.attempt, at(step.started), at(step.ends)
		x.remember(t, step.ends+1)
		got := x.s.Record.Runs[0]
		want := time.Time{}
		if step.ended >= 0 {
			want = at(step.ended)
		}
		if len(x.s.Record.Runs) != 1 || got.Attempt != step.attempt || got.Again != step.again || !got.Ended.Equal(want) {
			t.Errorf("%s: %+v, want again %d and its end at %s", step.what, got, step.again, want)
		}
	}
}

// A maintainer's approval of a run is no rerun.
func TestRememberARunThatWaitedForApproval(t *testing.T) {
	x := onHead(openai()).run(1, 10, 10, jobless("action_required"))
	x.remember(t, 11)
	x.s.Runs = nil
	x.run(1, 10, -1)
	x.remember(t, 500)
	if r := x.s.Record.Runs[0]; r.Again != 0 {
		t.Errorf("it counts as run again: %+v", r)
	}
	if b := x.ballot(); next(b) != "cancel" {
		t.Errorf("its rerun is spent")
	}
}

func TestRememberApprovals(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes)
	x.remember(t, 101)
	if st := x.s.Record.Stood; len(st) != 1 || !st[0].At.Equal(at(100)) || st[0].TextRef != ref(quorum.TextComment, 1) {
		t.Fatalf("what stood is %+v", st)
	}
	x.edited(150, bot)
	x.remember(t, 151)
	if st := x.s.Record.Stood; len(st) != 1 || !st[0].At.Equal(at(100)) {
		t.Errorf("after an edit what stood is %+v", st)
	}
	if d := x.remember(t, 152); d.Pass == nil || x.s.Record.Pass == nil || !reflect.DeepEqual(d.Pass.Basis, x.s.Record.Pass.Basis) {
		t.Errorf("the pass is %+v", x.s.Record.Pass)
	}
	x.s.Comments = nil
	if d := x.remember(t, 160); d.Verdict != quorum.Waiting || x.s.Record.Pass != nil || x.ballot().Outcome != quorum.Withdrawn {
		t.Errorf("deleted, it is %s, and %s", d.Verdict, x.ballot().Outcome)
	}
	x.s.PR.Closed = true
	x.s.Record.Pass = &quorum.Pass{At: at(100)}
	if x.remember(t, 170); x.s.Record.Pass == nil {
		t.Errorf("closing forgets the pass")
	}
}

func TestRememberObjections(t *testing.T) {
	x := onHead(openai(), sage()).run(1, 10, 100).comment(1, 90, bot, no).review(2, 20, "sage[bot]", "COMMENTED", "See below.").thread(5).thread(6)
	x.remember(t, 101)
	all := x.s.Record.Objections
	if len(all) != 2 || all[0].Run != 1 || all[0].Attempt != 1 || all[0].Base != "main" || all[1].Threads != 2 || all[1].Excerpt != "This leaks." {
		t.Fatalf("the objections are %+v", all)
	}
	if all[0].More != -1 || all[1].More != 1 {
		t.Errorf("beside the first finding they have %d and %d", all[0].More, all[1].More)
	}
	x.s.Comments, x.s.Reviews, x.s.Threads = nil, nil, nil
	if d := x.remember(t, 200); d.Verdict != quorum.Blocked || d.Objections != 2 {
		t.Errorf("deleting them makes it %s", d.Verdict)
	}
	if n := len(x.s.Record.Objections); n != 2 {
		t.Errorf("%d objections are remembered", n)
	}
}

func TestRememberIntents(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100)
	first := x.remember(t, 300) // the rerun is due
	if len(first.Effects.Reruns) != 1 || len(x.s.Record.Intents) != 1 {
		t.Fatalf("effects %+v, intents %+v", first.Effects, x.s.Record.Intents)
	}
	if in := x.s.Record.Intents[0]; in.Kind != quorum.Rerun || in.Run != 1 || in.Attempt != 1 || in.Tries != 1 || !in.At.Equal(at(300)) || in.Base != "main" {
		t.Errorf("the intent is %+v", in)
	}
	if d := x.remember(t, 310); !d.Effects.Empty() {
		t.Errorf("it is carried out again at once")
	}
	for sec := 320; sec < 1000; sec += 10 {
		x.remember(t, sec)
	}
	if in := x.s.Record.Intents; len(in) != 1 || in[0].Tries != 3 {
		t.Errorf("of a rerun that never shows: %+v", in)
	}
}

func TestRefuse(t *testing.T) {
	rec := quorum.Record{Seq: 4}
	done := quorum.Result{Action: quorum.Action{Kind: quorum.Rerun, Reviewer: "openai", Run: 1, Attempt: 1}, State: quorum.ResultDone}
	failed, void, no := done, done, done
	failed.State, void.State = quorum.ResultFailed, quorum.ResultVoid
	no.State, no.Reason, no.Detail = quorum.ResultRefused, quorum.ReasonTooOld, "over a month"
	if got := evidence.Refuse(rec, quorum.Receipt{Done: []quorum.Result{done, failed, void}}); got.Seq != 4 || len(got.Refusals) != 0 {
		t.Errorf("without a refusal the record is %+v", got)
	}
	got := evidence.Refuse(rec, quorum.Receipt{Done: []quorum.Result{done, no}})
	want := quorum.Refusal{
		Kind: quorum.Rerun, Reviewer: "openai", Run: 1, Attempt: 1, Reason: quorum.ReasonTooOld, Detail: "over a month",
	}
	if got.Seq != 5 || len(got.Refusals) != 1 || got.Refusals[0] != want {
		t.Errorf("the record is %+v", got)
	}
}

// What became of a fix is kept beside whatever else was news: a fix of which nothing is known is started once more.
func TestRefuseNotesAFixBesideOtherNews(t *testing.T) {
	order := quorum.FixOrder{Head: head, Base: "main"}
	rec := quorum.Record{
		Seq: 4, FixesMade: 1, Fixes: []quorum.FixRun{{Head: head, Base: "main", Tries: 1}},
		Commands: []quorum.Command{{ID: 9}},
	}
	no := quorum.Result{Action: quorum.Action{Kind: quorum.Rerun, Reviewer: "openai", Run: 1, Attempt: 1}, State: quorum.ResultRefused}
	for _, beside := range []quorum.Receipt{{}, {Replied: []int64{9}}, {Done: []quorum.Result{no}}} {
		beside.Fix = &quorum.FixResult{Order: order, State: quorum.ResultDone, Run: 77}
		if got := evidence.Refuse(rec, beside); got.Seq != 5 || got.Fixes[0].Run != 77 {
			t.Errorf("beside %+v the fix is known as %+v", beside, got.Fixes)
		}
		beside.Fix = &quorum.FixResult{Order: order, State: quorum.ResultRefused, Reason: quorum.ReasonFixInputs}
		if got := evidence.Refuse(rec, beside); got.Fixes[0].Refused != quorum.ReasonFixInputs || got.FixesMade != 0 {
			t.Errorf("beside %+v the refusal is known as %+v, %d made", beside, got.Fixes, got.FixesMade)
		}
	}
}

func TestRememberChangesNothingOfTheSnapshot(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no)
	x.remember(t, 101)
	x.s.Record.Intents = make([]quorum.Intent, 0, 8)
	before := x.s.Record
	runs := append([]quorum.SeenRun(nil), before.Runs...)
	x.s.Runs[0].Attempt = 2
	d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), evidence.Facts(x.p, x.s), at(102))
	evidence.Remember(x.p, x.s, d, at(102))
	if !reflect.DeepEqual(x.s.Record, before) || !reflect.DeepEqual(before.Runs, runs) {
		t.Errorf("the snapshot's own record changed")
	}
}
