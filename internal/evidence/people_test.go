package evidence_test

// The moments from which clocks count, and who may stand in.

import (
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func (x *scene) facts() quorum.Facts { return evidence.Facts(x.p, x.s) }

func TestStart(t *testing.T) {
	event := func(kind quorum.EventKind) quorum.Event { return quorum.Event{Kind: kind, From: older, To: head} }
	for name, test := range map[string]struct {
		x    *scene
		want int
	}{
		"the first check suite":      {onHead(), 0},
		"the pull request":           {onHead().with(func(x *scene) { x.s.PR.Created = at(30) }), 30},
		"a force-push onto the head": {onHead().event(40, event(quorum.ForcePushed)), 40},
		"a force-push onto another":  {onHead().event(40, quorum.Event{Kind: quorum.ForcePushed, From: head, To: older}), 0},
		"the last base":              {onHead().event(40, event(quorum.BaseChanged)).event(60, event(quorum.BaseChanged)), 60},
		"ready for review":           {onHead().event(40, event(quorum.ReadyForReview)), 40},
		"reopened":                   {onHead().event(40, event(quorum.Reopened)).event(20, event(quorum.ReadyForReview)), 40},
		"not closed, drafted or asked for": {
			onHead().event(40, event(quorum.Closed)).event(50, event(quorum.ConvertedDraft)).
				event(60, event(quorum.ReviewRequested)).event(70, event(quorum.ReviewDismissed)),
			0,
		},
		"before the head": {onHead().event(-20, event(quorum.Reopened)), 0},
		"our own check's start says nothing": {onHead().with(func(x *scene) {
			x.s.Checks = []quorum.CheckRun{{Name: "Review quorum", Started: at(500)}}
		}), 0},
	} {
		if got := test.x.facts().Start; !got.Equal(at(test.want)) {
			t.Errorf("%s: clocks count from %s, want %s", name, got, at(test.want))
		}
	}
}

// What was said in a draft, or before a reopening, stands; clocks begin anew.
func TestClocksAndWhatStands(t *testing.T) {
	x := onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).event(5000, quorum.Event{Kind: quorum.ReadyForReview})
	if b := x.ballot(); b.Vote != quorum.Approve || !b.At.Equal(at(5000)) {
		t.Errorf("a draft's approval is %s at %s, want one that counts from the start", b.Vote, b.At)
	}
	if b := onHead(openai()).event(5000, quorum.Event{Kind: quorum.Reopened}).ballot(); !b.Deadline.Equal(at(5600)) {
		t.Errorf("it is waited for until %s", b.Deadline)
	}
	if b := onHead(openai()).run(1, 10, -1).event(5000, quorum.Event{Kind: quorum.Reopened}).ballot(); !b.Next[0].Due.Equal(at(610)) {
		t.Errorf("a run that began before is given until %s", b.Next[0].Due)
	}
}

func TestPassOfAnotherBase(t *testing.T) {
	for name, test := range map[string]struct {
		x    *scene
		want bool
	}{
		"it stands":               {onHead(), true},
		"the base changed":        {onHead().retargeted(200), false},
		"the base changed before": {onHead().retargeted(50), true},
		"another head's":          {onHead().with(func(x *scene) { x.s.Record.Head = older }), false},
		"none":                    {onHead().with(func(x *scene) { x.s.Record.Pass = nil }), false},
	} {
		pass := &quorum.Pass{At: at(100), Base: "main"}
		if test.x.s.Record.Pass = pass; name == "none" {
			test.x.s.Record.Pass = nil
		}
		if got := test.x.facts().Pass; (got != nil) != test.want {
			t.Errorf("%s: the pass is %+v", name, got)
		}
	}
}

func TestWhoStandsIn(t *testing.T) {
	made := func(people ...string) func(*scene) {
		return func(x *scene) {
			c := quorum.Commit{SHA: head}
			for _, p := range people {
				c.People = append(c.People, who(p))
			}
			x.s.Commits = []quorum.Commit{{SHA: older, People: []quorum.Account{who("alice")}}, c}
		}
	}
	approved := func(change ...func(*scene)) *scene {
		x := onHead().with(made("alice")).review(1, 50, "Bob", "APPROVED", "")
		x.s.Permissions = map[string]quorum.Permission{"bob": quorum.Write, "carol": quorum.Admin, "alice": quorum.Admin}
		for _, f := range change {
			f(x)
		}
		return x
	}
	last := func(f func(*quorum.Text)) func(*scene) {
		return func(x *scene) { f(&x.s.Reviews[len(x.s.Reviews)-1]) }
	}
	dismissedBy := func(login string) func(*scene) {
		return func(x *scene) {
			review := x.s.Reviews[len(x.s.Reviews)-1].ID
			x.event(70, quorum.Event{Kind: quorum.ReviewDismissed, Actor: who(login), Review: review, From: "CHANGES_REQUESTED"})
		}
	}
	says := func(login, state string) func(*scene) {
		return func(x *scene) { x.review(int64(len(x.s.Reviews)+1), 60, login, state, "") }
	}
	for name, test := range map[string]struct {
		x           *scene
		in, against []string
	}{
		"one who may write":           {approved(), []string{"Bob"}, nil},
		"nobody may":                  {approved(func(x *scene) { x.p.StandIn = 0 }), nil, nil},
		"maintainers only":            {approved(func(x *scene) { x.p.StandIn = quorum.Maintain }), nil, nil},
		"an admin is more":            {approved(says("carol", "APPROVED"), func(x *scene) { x.p.StandIn = quorum.Maintain }), []string{"carol"}, nil},
		"a passer-by":                 {approved(last(func(r *quorum.Text) { r.Author = who("dave") })), nil, nil},
		"a bot":                       {approved(last(func(r *quorum.Text) { r.Author = quorum.Account{Login: "bob", Bot: true} })), nil, nil},
		"another commit":              {approved(last(func(r *quorum.Text) { r.Commit = older })), nil, nil},
		"before the base":             {approved(func(x *scene) { x.retargeted(51) }), nil, nil},
		"in the second of the base":   {approved(func(x *scene) { x.retargeted(50) }), nil, nil},
		"edited by somebody else":     {approved(last(func(r *quorum.Text) { r.Edited, r.Editor = at(55), who("mallory") })), nil, nil},
		"edited by himself":           {approved(last(func(r *quorum.Text) { r.Edited, r.Editor = at(55), who("bob") })), []string{"Bob"}, nil},
		"the author":                  {approved(says("alice", "APPROVED")), []string{"Bob"}, nil},
		"one who wrote a commit":      {approved(made("alice", "bob")), nil, nil},
		"nobody knows who wrote them": {approved(func(x *scene) { x.s.Commits = nil }), nil, nil},
		"who may have pushed the head, or set a label": {approved(func(x *scene) {
			x.run(1, 10, 100, by("push"), func(r *quorum.Run) { r.Actor = who("alice") })
			x.run(2, 11, 100, func(r *quorum.Run) { r.Actor = who("bob") }).s.Pushes = nil
		}), nil, nil},
		"who set a label": {approved(func(x *scene) { x.run(1, 10, 100, func(r *quorum.Run) { r.Actor = who("bob") }) }), []string{"Bob"}, nil},
		"where only a label's run tells of the push": {approved(func(x *scene) {
			x.run(1, 10, 100, func(r *quorum.Run) { r.Actor = who("carol") }).s.Pushes = nil
		}), nil, nil},
		"whose review caused a run": {approved(func(x *scene) {
			x.run(1, 55, 100, by("pull_request_review"), func(r *quorum.Run) { r.Actor = who("bob") })
		}), []string{"Bob"}, nil},
		"who force-pushed": {
			approved(func(x *scene) { x.event(-5, quorum.Event{Kind: quorum.ForcePushed, Actor: who("bob"), To: head}) }),
			nil, nil,
		},
		"he has thought better of it":    {approved(says("bob", "CHANGES_REQUESTED")), nil, []string{"bob"}},
		"and better again":               {approved(says("bob", "CHANGES_REQUESTED"), says("bob", "APPROVED")), []string{"bob"}, nil},
		"a comment takes nothing back":   {approved(says("bob", "COMMENTED")), []string{"Bob"}, nil},
		"his approval was dismissed":     {approved(last(func(r *quorum.Text) { r.State = "DISMISSED" })), nil, nil},
		"somebody else requests changes": {approved(says("carol", "CHANGES_REQUESTED")), []string{"Bob"}, []string{"carol"}},
		"on an older head, too": {
			approved(says("carol", "CHANGES_REQUESTED"), last(func(r *quorum.Text) { r.Commit = older })),
			[]string{"Bob"},
			[]string{"carol"},
		},
		"a passer-by requests changes": {approved(says("dave", "CHANGES_REQUESTED"), func(x *scene) { x.s.Permissions["dave"] = 0 }), []string{"Bob"}, nil},
		"a stranger not looked up":     {approved(says("dave", "CHANGES_REQUESTED")), []string{"Bob"}, nil},
		"a member not looked up": {
			approved(says("dave", "CHANGES_REQUESTED"), last(func(r *quorum.Text) { r.Member = true })), []string{"Bob"}, []string{"dave"},
		},
		"that request was dismissed":     {approved(says("carol", "DISMISSED"), dismissedBy("dora")), []string{"Bob"}, nil},
		"it was dismissed by the author": {approved(says("carol", "DISMISSED"), dismissedBy("alice")), []string{"Bob"}, []string{"carol"}},
		"an id is surer than a login": {
			approved(func(x *scene) { x.s.PR.Author = quorum.Account{Login: "bobby", ID: 7} }, last(func(r *quorum.Text) { r.Author.ID = 7 })),
			nil, nil,
		},
	} {
		f := test.x.facts()
		var in []string
		for _, s := range f.StandIns {
			in = append(in, s.Login)
		}
		if !slices.Equal(in, test.in) || !slices.Equal(f.Against, test.against) {
			t.Errorf("%s: %v stand in and %v are against, want %v and %v", name, in, f.Against, test.in, test.against)
		}
	}
}

// Whose approval does not count is told, and why: else everybody waits for what has happened.
func TestWhoseApprovalDoesNotCount(t *testing.T) {
	for why, change := range map[quorum.Reason]func(x *scene){
		"":                        func(*scene) {},
		quorum.ReasonHadHand:      func(x *scene) { x.s.Commits[0].People = append(x.s.Commits[0].People, who("bob")) },
		quorum.ReasonHandsUnknown: func(x *scene) { x.s.Commits = nil },
		quorum.ReasonMayNot:       func(x *scene) { x.s.Permissions["bob"] = 0 },
		quorum.ReasonOldBase:      func(x *scene) { x.retargeted(51) },
		quorum.ReasonEdited:       func(x *scene) { x.s.Reviews[0].Edited, x.s.Reviews[0].Editor = at(55), who("mallory") },
		quorum.ReasonMoved: func(x *scene) {
			x.s.Reviews[0].Commit, x.s.Permissions = older, nil // nothing is asked of GitHub for it
		},
	} {
		x := onHead(sage()).review(1, 50, "bob", "APPROVED", "").review(2, 60, "dave", "APPROVED", "")
		x.s.Permissions = map[string]quorum.Permission{"bob": quorum.Write, "dave": 0}
		x.s.Reviews[0].Member = true
		change(x)
		f := x.facts()
		if isHeard := len(f.StandIns) == 1 && len(f.Unheard) == 0; isHeard != (why == "") {
			t.Errorf("%q: %v stand in, and %v do not", why, f.StandIns, f.Unheard)
		}
		if why != "" && (len(f.Unheard) != 1 || f.Unheard[0].Login != "bob" || f.Unheard[0].Why != why) {
			t.Errorf("%q: %+v do not count", why, f.Unheard)
		}
	}
}

func TestFacts(t *testing.T) {
	x := onHead().with(func(x *scene) {
		x.s.PR.Draft, x.s.PR.Closed = true, true
		x.s.Siblings = []quorum.PullRequest{{PR: quorum.PR{Number: 9}}, {PR: quorum.PR{Number: 8}}}
	})
	f := x.facts()
	if f.Head != head || f.Base != "main" || !f.Draft || !f.Closed || f.Siblings != nil || f.PR.Number != 7 || f.File.SHA != "p1" {
		t.Errorf("the facts are %+v", f)
	}
	if x = onHead(); x.facts().Start.Location() != time.UTC {
		t.Errorf("the start is not in UTC")
	}
}

// Whoever pushed to a long-lived branch before the pull request was opened had no hand in it, but for its own commits.
func TestAPushOfBeforeIsNoHand(t *testing.T) {
	x := onHead(sage()).review(1, 50, "carol", "APPROVED", "")
	x.s.Permissions = map[string]quorum.Permission{"carol": quorum.Write}
	x.s.Pushes = append(x.s.Pushes, quorum.Push{After: older, Actor: who("carol"), At: at(-100_000)})
	if f := x.facts(); len(f.StandIns) != 1 {
		t.Errorf("%v stand in", f.StandIns)
	}
	x.s.Commits = append(x.s.Commits, quorum.Commit{SHA: older, People: []quorum.Account{who("alice")}})
	if f := x.facts(); len(f.StandIns) != 0 {
		t.Errorf("who pushed one of its commits stands in: %v", f.StandIns)
	}
}

// Anybody can open a pull request from a fork: people are asked about one where the policy says so.
func TestPeopleAreAskedAboutForks(t *testing.T) {
	for _, test := range []struct{ isFork, asksForks, isOff bool }{
		{false, false, false}, {false, true, false}, {true, false, true}, {true, true, false},
	} {
		x := objectedTo()
		x.s.PR.Fork, x.p.Escalate.Forks = test.isFork, test.asksForks
		if got := x.facts().Invited.Off; got != test.isOff {
			t.Errorf("fork %t, asks about forks %t: off %t", test.isFork, test.asksForks, got)
		}
	}
}
