package evidence_test

// What people say by comment: who may, what becomes of it, and that it is heard once.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// objectedTo is a head to which openai objected, as our check has named, where bob may say what he likes.
func objectedTo() *scene {
	x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no)
	x.s.Record.Objections = []quorum.Objection{{
		TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Base: "main", Run: 1, Attempt: 1, At: at(90), Named: at(100),
	}}
	x.p.Override = quorum.Maintain
	x.s.Began = at(5000)
	x.s.Permissions = map[string]quorum.Permission{"bob": quorum.Maintain, "carol": quorum.Write, "alice": quorum.Admin, "dave": 0}
	return x
}

// said adds the words of a member.
func (x *scene) said(id int64, sec int, author, words string) *scene {
	x.comment(id, sec, author, "/review-coordinator "+words)
	x.s.Comments[len(x.s.Comments)-1].Member = true
	return x
}

// heard are the commands that the record holds after a look.
func (x *scene) heard(sec int) []quorum.Command {
	d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), x.facts(), at(sec))
	return evidence.Remember(x.p, x.s, d, at(sec)).Commands
}

func TestCommands(t *testing.T) {
	accept := "accept " + head[:7] + " it is checked elsewhere"
	for name, test := range map[string]struct {
		x       *scene
		refused quorum.Reason
	}{
		"accept":                      {objectedTo().said(9, 200, "bob", accept), ""},
		"accept by one who may write": {objectedTo().said(9, 200, "carol", accept), quorum.ReasonMayNot},
		"accept by the author":        {objectedTo().said(9, 200, "alice", accept), quorum.ReasonHadHand},
		"accept of another commit":    {objectedTo().said(9, 200, "bob", "accept 1234567 why"), quorum.ReasonOtherHead},
		"accept of six digits":        {objectedTo().said(9, 200, "bob", "accept "+head[:6]+" why"), quorum.ReasonUnclear},
		"accept without a reason":     {objectedTo().said(9, 200, "bob", "accept "+head[:7]), quorum.ReasonUnclear},
		"accept before it was named":  {objectedTo().said(9, 95, "bob", accept), quorum.ReasonNothingNamed},
		"accept that was edited":      {objectedTo().said(9, 200, "bob", accept).edited(210, "bob"), quorum.ReasonWordEdited},
		"accept where nobody may":     {objectedTo().said(9, 200, "bob", accept).with(func(x *scene) { x.p.Override = 0 }), quorum.ReasonNoOverride},
		"accept, the hands unknown":   {objectedTo().said(9, 200, "bob", accept).with(func(x *scene) { x.s.Commits = nil }), quorum.ReasonHandsUnknown},
		"rerun":                       {objectedTo().said(9, 200, "carol", "rerun"), ""},
		"rerun by its name":           {objectedTo().said(9, 200, "carol", "rerun OpenAI"), ""},
		"rerun of nobody":             {objectedTo().said(9, 200, "carol", "rerun gpt"), quorum.ReasonNoReviewer},
		"rerun by one who may not":    {objectedTo().said(9, 200, "dave", "rerun"), quorum.ReasonMayNot},
		"rerun of what is under way":  {onHead(openai()).run(1, 10, -1).said(9, 200, "carol", "rerun").with(mayWrite), quorum.ReasonUnderWay},
		"rerun where all approve": {
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).said(9, 200, "carol", "rerun").with(mayWrite),
			quorum.ReasonNobodyToRerun,
		},
		"a word that is none of ours": {objectedTo().said(9, 200, "carol", "merge"), quorum.ReasonUnclear},
		"no word at all":              {objectedTo().said(9, 200, "carol", ""), quorum.ReasonUnclear},
	} {
		heard := test.x.heard(300)
		if len(heard) != 1 || heard[0].Refused != test.refused {
			t.Errorf("%s: heard %+v, want one that is refused for %q", name, heard, test.refused)
			continue
		}
		if replies := test.x.facts().Replies; len(replies) != 1 || replies[0].Refused != (test.refused != "") || replies[0].Command != 9 {
			t.Errorf("%s: it is answered by %+v", name, replies)
		}
	}
}

func mayWrite(x *scene) { x.s.Permissions = map[string]quorum.Permission{"carol": quorum.Write} }

// Of some nothing is heard, and nothing is refused either.
func TestCommandsNotHeard(t *testing.T) {
	for name, x := range map[string]*scene{
		"no member":                   objectedTo().comment(9, 200, "bob", "/review-coordinator rerun"),
		"a bot":                       objectedTo().said(9, 200, "robot[bot]", "rerun"),
		"its permission is not known": objectedTo().said(9, 200, "erin", "rerun"),
		"from before the head":        objectedTo().said(9, -10, "bob", "rerun"),
		"from before the base":        objectedTo().said(9, 200, "bob", "rerun").retargeted(250),
		"a quote":                     objectedTo().comment(9, 200, "bob", "> /review-coordinator rerun"),
		"no record":                   objectedTo().said(9, 200, "bob", "rerun").with(func(x *scene) { x.s.NoRecord = true }),
	} {
		if heard := x.heard(300); len(heard) != 0 {
			t.Errorf("%s: heard %+v", name, heard)
		}
	}
}

func TestAcceptEndsAnObjection(t *testing.T) {
	x := objectedTo().said(9, 200, "bob", "accept "+head+" why")
	if b := x.ballot(); b.Vote != quorum.Unavailable || b.Reason != quorum.ReasonOverridden || b.Detail != "bob" {
		t.Errorf("the vote is %s, %s, %q", b.Vote, b.Reason, b.Detail)
	}
	x.s.Record.Commands = x.heard(300)
	x.s.Comments, x.s.Permissions = x.s.Comments[:1], nil // deleted, and its author has left
	if b := x.ballot(); b.Reason != quorum.ReasonOverridden {
		t.Errorf("after the comment was deleted: %s, %s", b.Vote, b.Reason)
	}
	x.run(2, 400, 500).comment(2, 490, bot, no)
	if b := x.ballot(); b.Vote != quorum.Object {
		t.Errorf("a later objection: %s, %s", b.Vote, b.Reason)
	}
	x.run(3, 600, 700).comment(3, 690, bot, yes)
	if b := x.ballot(); b.Vote != quorum.Approve {
		t.Errorf("a later approval: %s, %s", b.Vote, b.Reason)
	}
}

// A rerun is carried out once, and tried again only while GitHub shows no trace of it.
func TestRerunOnce(t *testing.T) {
	x := objectedTo().said(9, 200, "carol", "rerun")
	d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), x.facts(), at(210))
	if len(d.Effects.Reruns) != 1 || d.Effects.Reruns[0].Command != 9 || d.Effects.Reruns[0].Run != 1 {
		t.Fatalf("it is run again by %+v", d.Effects.Reruns)
	}
	x.s.Record = evidence.Remember(x.p, x.s, d, at(210))
	reruns := func(sec int) int {
		return len(quorum.Decide(x.p, evidence.Judge(x.p, x.s), x.facts(), at(sec)).Effects.Reruns)
	}
	if reruns(220) != 0 || reruns(210+int(quorum.ReplicaLag/time.Second)) != 1 {
		t.Error("it is not tried again after the time in which GitHub must show it, or before")
	}
	attempt(2, 230)(&x.s.Runs[0])
	x.s.Runs[0].Updated = at(300)
	if reruns(900) != 0 {
		t.Error("the new attempt is run again by the same word")
	}
}

// Reviewers that share a run are run again by one intent: a later run of the same head is none of that word's.
func TestRerunOfASharedRunOnce(t *testing.T) {
	second := openai()
	second.Name, second.Heading = "second", "## Second Review"
	x := objectedTo().said(9, 200, "carol", "rerun")
	x.p.Reviewers = append(x.p.Reviewers, second)
	look := func(sec int) int {
		d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), x.facts(), at(sec))
		x.s.Record = evidence.Remember(x.p, x.s, d, at(sec))
		return len(d.Effects.Reruns)
	}
	if n := look(210); n != 1 {
		t.Fatalf("%d runs are run again", n)
	}
	attempt(2, 230)(&x.s.Runs[0])
	x.s.Runs[0].Updated = at(300)
	look(310)
	x.run(2, 400, 500).comment(2, 490, bot, yes).comment(3, 491, bot, strings.Replace(yes, "OpenAI", "Second", 1))
	if n := look(510); n != 0 {
		t.Error("the run of a reopening is run again by a word that was carried out before it")
	}
}

// Nobody fills the record with words, nor keeps others from being heard.
func TestCommandsAreBounded(t *testing.T) {
	x := objectedTo()
	for i := range int64(200) {
		x.said(100+i, 200, "dave", "rerun").said(500+i, 200, "carol", strings.Repeat("x", int(i)))
	}
	x.said(9, 300, "bob", "accept "+head+" why")
	heard := x.heard(400)
	if n := len(heard); n > 26 || heard[n-1].ID != 9 || heard[n-1].Refused != "" {
		t.Errorf("%d are heard, the last one is %+v", n, heard[n-1])
	}
}

func FuzzCommand(f *testing.F) {
	for _, words := range []string{"accept 1f7f530 why", "rerun openai", "accept", "rerun a b", "\x00"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		for _, c := range objectedTo().said(9, 200, "bob", words).heard(300) {
			if c.Refused == "" && c.Verb == "" || len(fmt.Sprint(c)) > 2000 || strings.ContainsAny(c.Reason, "\n\x00") {
				t.Errorf("%q is heard as %+v", words, c)
			}
		}
	})
}
