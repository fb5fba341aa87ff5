package quorum

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// roundTrip writes every value from 1 to last as a word, and reads it back. Each word is another; what is none is
// refused.
func roundTrip[T interface {
	~uint8
	fmt.Stringer
	MarshalText() ([]byte, error)
}, P interface {
	*T
	UnmarshalText([]byte) error
}](t *testing.T, last T) {
	t.Helper()
	seen := make(map[string]bool)
	for v := range last + 1 {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back T
		if err := json.Unmarshal(raw, P(&back)); err != nil || back != v {
			t.Errorf("%T(%d) is written %s and read %d, %v", v, v, raw, back, err)
		}
		if word := v.String(); seen[word] || string(raw) != `"`+word+`"` || (v == 0) != (word == "") {
			t.Errorf("%T(%d) is written %s, in words %q", v, v, raw, word)
		}
		seen[v.String()] = true
	}
	if got, want := (last + 1).String(), fmt.Sprintf("%%!%d", last+1); got != want {
		t.Errorf("%T(%d) is %q, want %q", last, last+1, got, want)
	}
	for _, wrong := range []string{"nonsense", "Approve", " ", fmt.Sprintf("%%!%d", last+1)} {
		if err := P(new(T)).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%T: %q is read", last, wrong)
		}
	}
}

func TestWords(t *testing.T) {
	t.Run("vote", func(t *testing.T) { roundTrip[Vote](t, Unavailable) })
	t.Run("verdict", func(t *testing.T) { roundTrip[Verdict](t, Ended) })
	t.Run("outcome", func(t *testing.T) { roundTrip[Outcome](t, Unknown) })
	t.Run("severity", func(t *testing.T) { roundTrip[Severity](t, Critical) })
	t.Run("action", func(t *testing.T) { roundTrip[ActionKind](t, Ask) })
	t.Run("text", func(t *testing.T) { roundTrip[TextKind](t, TextArtifact) })
}

// The words stand in checks and in files of users: they are not ours to change.
func TestWordsAreThoseOfTheManual(t *testing.T) {
	got := fmt.Sprint(Pending, Approve, Object, Unavailable, Waiting, Passed, Blocked, Unverified, Ended, Silent, Approved, Findings,
		AwaitingApproval, Withdrawn, Unknown, Low, Critical, Rerun, Ask, TextComment, TextRun)
	want := "pending approve object unavailable waiting passed blocked unverified ended silent approved findings " +
		"awaiting approval withdrawn unknown low critical rerun ask comment run"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestRecordSurvivesJSON(t *testing.T) {
	ref := TextRef{Kind: TextReview, ID: 4}
	was := Record{
		Version: 1, Seq: 3, Head: "a1", Base: "main", Pull: 7, Policy: "p1",
		Runs:       []SeenRun{{ID: 1, Attempt: 2, Started: sec(1), Ended: sec(2), Again: 1}},
		Texts:      []TextRef{ref},
		Accounts:   []SeenAccount{{"sage[bot]", 5}},
		Stood:      []Stood{{ref, "gemini", "main", 1, 2, sec(3), sec(1), true, "verdict", "a0", true}},
		Commanded:  []Commanded{{ref, "mallory"}},
		Objections: []Objection{{TextRef: ref, Reviewer: "gemini", Base: "main", Run: 1, Attempt: 2, At: sec(4), Threads: 2, Excerpt: "no", URL: "u"}},
		Intents:    []Intent{{Kind: Cancel, Reviewer: "gemini", Base: "main", Run: 1, Attempt: 1, At: sec(5), Tries: 2}},
		Refusals:   []Refusal{{Kind: Ask, Reviewer: "gemini", Run: 1, Attempt: 1, Reason: ReasonTooOld, Detail: "d"}},
		Answers:    []Answer{{Reviewer: "gemini", Run: 1, Attempt: 1, Excerpt: "maybe"}},
		Pass: &Pass{
			At:     sec(6),
			Policy: "p1",
			Base:   "main",
			Need:   2,
			Voters: []string{"gemini"},
			Basis:  []Basis{{"gemini", 1, 2}},
			By:     []StandIn{{Login: "bob", Review: 7, At: sec(8), URL: "u"}},
		},
		Annotated: []string{"k"},
	}
	var is Record
	read(t, was, &is)
	if diff := cmp.Diff(was, is); diff != "" {
		t.Error(diff)
	}
}

// What a remembered pass rests on must survive its way through the check's text: else it would not stand.
func TestAPassStandsThroughTheRecord(t *testing.T) {
	w := table(200, approves("openai", 10), approves("gemini", 20), pending("copilot", 600))
	d := w.decide()
	var back Pass
	read(t, *d.Pass, &back)
	w.Facts.Pass = &back
	if diff := diffDecisions(d, w.at(sec(900)).decide()); diff != "" {
		t.Error(diff)
	}
}

func TestDecisionIsReadableByTools(t *testing.T) {
	d := table(30, approves("openai", 10), pending("copilot", 600)).decide()
	var got struct {
		Verdict   string
		Wake      time.Time
		Approvals int
		Ballots   []struct{ Reviewer, Vote, Outcome string }
	}
	read(t, d, &got)
	if got.Verdict != "waiting" || !got.Wake.Equal(sec(600)) || got.Approvals != 1 || len(got.Ballots) != 2 || got.Ballots[1].Vote != "pending" ||
		got.Ballots[1].Outcome != "running" {
		t.Errorf("%+v", got)
	}
	var same Decision
	read(t, d, &same)
	if same.Verdict != d.Verdict || same.Ballots[0].Vote != Approve {
		t.Errorf("%+v", same)
	}
}

func read[From, To any](t *testing.T, from From, to *To) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

// What another pull request of the same commit wrote tells of runs and objections, and of nothing that is its own.
func TestRecordOfAnotherPull(t *testing.T) {
	rec := Record{
		Pull: 7, Runs: []SeenRun{{ID: 1}}, Texts: []TextRef{{}}, Stood: []Stood{{}}, Objections: []Objection{{}}, Pass: &Pass{},
		Intents: []Intent{{Kind: Ask}, {Kind: Rerun}}, Refusals: []Refusal{{Kind: Ask}, {Kind: Rerun}},
	}
	got := rec.forAnother()
	if len(got.Runs) != 1 || len(got.Objections) != 1 || len(got.Intents) != 1 || len(got.Refusals) != 1 {
		t.Errorf("of another: %+v", got)
	}
	if len(got.Texts)+len(got.Stood) > 0 || got.Pass != nil || len(rec.Intents) != 2 {
		t.Errorf("of another: %+v; the record is %+v", got, rec)
	}
}
