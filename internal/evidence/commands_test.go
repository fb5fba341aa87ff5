package evidence_test

// What people say by comment: who may, what becomes of it, and that it is heard once.

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// A command in a review is refused on the page alone: GitHub's REST has no reaction to a review.
func TestACommandInAReview(t *testing.T) {
	x := objectedTo().said(9, 200, "bob", "accept "+head[:7]+" why")
	last := len(x.s.Comments) - 1
	said := x.s.Comments[last]
	said.Kind, said.State, said.Commit = quorum.TextReview, "COMMENTED", head
	x.s.Comments, x.s.Reviews = x.s.Comments[:last], append(x.s.Reviews, said)
	heard := x.heard(300)
	if len(heard) != 1 || heard[0].Refused != quorum.ReasonInReview || heard[0].ID != -9 {
		t.Errorf("heard %+v, want one that is refused", heard)
	}
	if replies := x.facts().Replies; len(replies) != 0 {
		t.Errorf("it is answered by %+v", replies)
	}
	if b := x.ballot(); b.Vote != quorum.Object {
		t.Errorf("the vote is %s, %s", b.Vote, b.Reason)
	}
}

// reopenedAt has the pull request closed before all words, and opened again.
func reopenedAt(sec int) func(x *scene) {
	return func(x *scene) {
		x.s.Timeline = append(x.s.Timeline,
			quorum.Event{Kind: quorum.Closed, At: at(150)}, quorum.Event{Kind: quorum.Reopened, At: at(sec)})
	}
}

func TestCommands(t *testing.T) {
	accept := "accept " + head[:7] + " it is checked elsewhere"
	for name, test := range map[string]struct {
		x       *scene
		refused quorum.Reason
	}{
		"accept":                      {objectedTo().said(9, 200, "bob", accept), ""},
		"accept by one who may write": {objectedTo().said(9, 200, "carol", accept), quorum.ReasonNoOverride},
		"accept by the author":        {objectedTo().said(9, 200, "alice", accept), quorum.ReasonHadHand},
		"accept of another commit":    {objectedTo().said(9, 200, "bob", "accept 1234567 why"), quorum.ReasonOtherHead},
		"accept of six digits":        {objectedTo().said(9, 200, "bob", "accept "+head[:6]+" why"), quorum.ReasonUnclear},
		"accept without a reason":     {objectedTo().said(9, 200, "bob", "accept "+head[:7]), quorum.ReasonUnclear},
		"accept before it was named":  {objectedTo().said(9, 95, "bob", accept), quorum.ReasonNothingNamed},
		"accept that was edited":      {objectedTo().said(9, 200, "bob", accept).edited(210, "bob"), quorum.ReasonWordEdited},
		"accept where nobody may":     {objectedTo().said(9, 200, "bob", accept).with(func(x *scene) { x.p.Override = 0 }), quorum.ReasonNoOverride},
		"accept, the hands unknown":   {objectedTo().said(9, 200, "bob", accept).with(func(x *scene) { x.s.Commits = nil }), quorum.ReasonHandsUnknown},
		"accept as people quote it":   {objectedTo().said(9, 200, "bob", "Accept `"+strings.ToUpper(head[:7])+"`: why"), ""},
		"accept with a colon":         {objectedTo().said(9, 200, "bob", "accept "+head[:7]+": why"), ""},
		"fix off":                     {objectedTo().said(9, 200, "alice", "Fix OFF").with(fixes), ""},
		"fix on, as it is":            {objectedTo().said(9, 200, "alice", "fix on").with(fixes), quorum.ReasonNoChange},
		"fix off and more":            {objectedTo().said(9, 200, "alice", "fix off now").with(fixes), quorum.ReasonUnclear},
		"rerun":                       {objectedTo().said(9, 200, "carol", "rerun"), ""},
		"rerun by its name":           {objectedTo().said(9, 200, "carol", "RERUN `OpenAI`"), ""},
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

func fixes(x *scene) { x.p.Fix = quorum.FixPolicy{Workflow: ".github/workflows/fix.yml"} }

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
		"said while it was closed":    objectedTo().said(9, 200, "bob", "rerun").with(reopenedAt(250)),
		"no record":                   objectedTo().said(9, 200, "bob", "rerun").with(func(x *scene) { x.s.NoRecord = true }),
	} {
		if heard := x.heard(300); len(heard) != 0 {
			t.Errorf("%s: heard %+v", name, heard)
		}
	}
}

// A vouch may take the place of people: who may write is asked for where one was said, and anybody who is seen to may
// is somebody else.
func TestWhoAloneMayWrite(t *testing.T) {
	vouched := func() *scene {
		x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).said(9, 200, "alice", "vouch "+head[:7]+" why")
		x.p.OwnChange, x.p.People, x.s.OnlyWriter, x.s.PR.Owner = true, quorum.NewPeople(quorum.PeopleRule{Count: 1}), "Alice", "ALICE"
		x.s.Permissions = map[string]quorum.Permission{"alice": quorum.Admin, "dave": 0}
		return x
	}
	recorded := func(x *scene) {
		x.s.Record.Commands = x.heard(300)
	}
	for name, test := range map[string]struct {
		change           func(x *scene)
		isWanted, passes bool
	}{
		"as it is heard":             {func(*scene) {}, true, true},
		"once it was heard":          {recorded, true, true},
		"somebody else reads":        {func(x *scene) { x.s.OnlyWriter = "dave" }, true, false},
		"it is not known":            {func(x *scene) { x.s.OnlyWriter = "" }, true, false},
		"a writer who is not listed": {func(x *scene) { x.s.Permissions["bob"] = quorum.Write }, true, false},
		"an organisation owns it":    {func(x *scene) { x.s.PR.Owner = "acme" }, false, false},
		"she had no hand after all": {func(x *scene) {
			recorded(x)
			x.s.PR.Author, x.s.Commits[0].People, x.s.Pushes[0].Actor = who("dave"), []quorum.Account{who("dave")}, who("dave")
		}, false, false},
		"she is a reviewer":         {func(x *scene) { x.p.Reviewers = append(x.p.Reviewers, quorum.Reviewer{Name: "human", Author: "alice"}) }, true, false},
		"nobody is asked":           {func(x *scene) { x.p.People = nil }, false, true},
		"nobody may vouch":          {func(x *scene) { x.p.OwnChange = false }, false, false},
		"nobody may vouch any more": {func(x *scene) { recorded(x); x.p.OwnChange = false }, false, false},
		"nobody vouches":            {func(x *scene) { x.s.Comments = x.s.Comments[:1] }, false, false},
		"of another base":           {func(x *scene) { recorded(x); x.retargeted(400) }, false, false},
	} {
		x := vouched()
		test.change(x)
		before := x.s
		before.Permissions, before.OnlyWriter = nil, ""
		if got := evidence.Missing(x.p, before).OnlyWriter; got != test.isWanted {
			t.Errorf("%s: who alone may write is asked for: %t", name, got)
		}
		if d := quorum.Decide(x.p, evidence.Judge(x.p, x.s), x.facts(), at(5000)); (d.Verdict == quorum.Passed) != test.passes {
			t.Errorf("%s: %s because %s", name, d.Verdict, d.Reason)
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
	x.run(2, 400, -1)
	if b := x.ballot(); b.Vote != quorum.Pending || b.Ended != (quorum.Ending{By: "bob", How: quorum.ReasonOverridden}) {
		t.Errorf("while it looks again: %s, %s, ended by %+v", b.Vote, b.Reason, b.Ended)
	}
	x.s.Runs = x.s.Runs[:1]
	x.run(2, 400, 500).comment(2, 490, bot, no)
	if b := x.ballot(); b.Vote != quorum.Object || b.Ended.By != "" {
		t.Errorf("a later objection: %s, %s", b.Vote, b.Reason)
	}
	x.run(3, 600, 700).comment(3, 690, bot, yes)
	if b := x.ballot(); b.Vote != quorum.Approve || b.Ended.By != "" {
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

// A rerun that was commanded on an earlier stay on the base is void, as an accept of then is.
func TestRerunOfAnEarlierStay(t *testing.T) {
	x := objectedTo().said(9, 200, "carol", "rerun")
	x.s.Record.Commands = x.heard(210)
	x.leavesAndReturns(300, 400).run(2, 410, 450).comment(2, 440, bot, no)
	isIts := func(a quorum.Action) bool { return a.Command == 9 }
	if b := x.ballot(); b.Vote != quorum.Object || slices.ContainsFunc(b.Next, isIts) {
		t.Errorf("%s, and then %+v", b.Vote, b.Next)
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

// Nobody fills the record with words, nor keeps others from being heard. Strangers are answered few words in all.
func TestCommandsAreBounded(t *testing.T) {
	x := objectedTo().with(fixes)
	for i := range int64(200) {
		x.said(1000+i, 200, "dave", "rerun").said(2000+i, 200, "carol", strings.Repeat("x", int(i)))
		x.said(3000+2*i, 201+int(i), "alice", "fix off").said(3001+2*i, 201+int(i), "alice", "fix on")
		x.said(4000+i, 200, "bob", "rerun openai")
	}
	x.said(8, 500, "carol", "rerun").said(9, 501, "bob", "accept "+head+" why")
	x.said(10, 502, "carol", "fix on").said(11, 503, "bob", "fix off")
	heard := x.heard(600)
	of := func(by string) (n, refused int, last quorum.Command) {
		for _, c := range heard {
			if c.By == by {
				n, last = n+1, c
			}
			if c.By == by && c.Refused != "" {
				refused++
			}
		}
		return n, refused, last
	}
	for by, want := range map[string]struct {
		n, refused int
		last       int64
		why        quorum.Reason
	}{
		"dave":  {8, 8, 1007, quorum.ReasonMayNot},
		"carol": {8 + 2, 8, 10, ""},
		"alice": {9 + 8 + 8, 8, 3000 + 2*8 + 8, quorum.ReasonUsedUp},
		"bob":   {8 + 8 + 2, 8, 11, ""},
	} {
		n, refused, last := of(by)
		if n != want.n || refused != want.refused || last.ID != want.last || last.Refused != want.why {
			t.Errorf("of %s %d are kept and %d of them refused, the last is %+v; want %+v", by, n, refused, last, want)
		}
	}
}

// Each word of a person has an effect or an answer, in whichever look it is heard; only who was told that no more such
// words are heard gets none. Whatever changes nothing is refused, and takes no place of what does.
func TestEachWordHasAnEffectOrAnAnswer(t *testing.T) {
	words := []string{"fix off", "fix on", "rerun openai", "rerun", "accept " + head[:7] + " why", "merge", "accept 1234567 why"}
	people := []string{"alice", "bob", "carol"}
	dice := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		x, sec := objectedTo().with(fixes), 200
		told := map[string]bool{}
		for range 20 {
			for range 1 + dice.IntN(5) {
				sec++
				x.said(int64(sec), sec, people[dice.IntN(len(people))], words[dice.IntN(len(words))])
			}
			known := len(x.s.Record.Commands)
			x.s.Record.Commands = x.heard(sec + 1)
			replies := x.facts().Replies
			answered := func(id int64) bool {
				return slices.ContainsFunc(replies, func(r quorum.Reply) bool { return r.Command == id })
			}
			for _, c := range x.s.Record.Commands[known:] {
				told[c.By] = told[c.By] || c.Refused == quorum.ReasonUsedUp
			}
			for _, said := range x.s.Comments[1:] {
				if !answered(said.ID) && !told[said.Author.Login] {
					t.Fatalf("%q of %s has no answer", said.Body, said.Author.Login)
				}
			}
		}
		isOff, accepts := false, 0
		for _, c := range x.s.Record.Commands {
			switch {
			case c.Refused != "":
			case c.Verb == quorum.CommandAccept:
				accepts++
			case c.Verb == quorum.CommandFixOff, c.Verb == quorum.CommandFixOn:
				if isOff == (c.Verb == quorum.CommandFixOff) {
					t.Fatalf("%+v is heard and changes nothing", c)
				}
				isOff = !isOff
			}
		}
		if accepts > 1 {
			t.Fatalf("one objection is accepted %d times", accepts)
		}
	}
}

// As long as an objection stands that the check has named, whoever may accept is heard, whatever was said before.
func TestAnAcceptIsAlwaysHeard(t *testing.T) {
	x := objectedTo()
	for i := range 30 {
		sec := 200 + 10*i
		x.s.Record.Objections = append(x.s.Record.Objections, quorum.Objection{
			TextRef: ref(quorum.TextComment, int64(50+i)), Reviewer: "openai", Base: "main", At: at(sec), Named: at(sec + 1),
		})
		x.said(int64(100+2*i), sec+2, "bob", "accept "+head+" why").said(int64(101+2*i), sec+3, "bob", "accept "+head+" why")
		x.s.Record.Commands = x.heard(sec + 4)
		isHeard := func(c quorum.Command) bool { return c.ID == int64(100+2*i) && c.Refused == "" }
		if !slices.ContainsFunc(x.s.Record.Commands, isHeard) {
			t.Fatalf("accept %d is not heard: %+v", i, x.s.Record.Commands)
		}
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
