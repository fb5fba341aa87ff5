package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What a page advises must be true for the very case. Cases come from a generator, so that no reason, vote or
// circumstance is forgotten.

// everyReason are the reasons that a ballot may have.
var everyReason = []quorum.Reason{
	quorum.ReasonSilent, quorum.ReasonRunning, quorum.ReasonDoubt, quorum.ReasonApproved, quorum.ReasonResolved, quorum.ReasonAccepted,
	quorum.ReasonFindings, quorum.ReasonOpenThreads, quorum.ReasonStands, quorum.ReasonLookingAgain, quorum.ReasonNoAnswer, quorum.ReasonLate,
	quorum.ReasonNotReceived, quorum.ReasonEmpty, quorum.ReasonAmbiguous, quorum.ReasonMalformed, quorum.ReasonContradicts,
	quorum.ReasonTemplate, quorum.ReasonConditional, quorum.ReasonDrift, quorum.ReasonPartial, quorum.ReasonOverloaded, quorum.ReasonHung,
	quorum.ReasonRateLimit, quorum.ReasonQuota, quorum.ReasonCredentials, quorum.ReasonBilling, quorum.ReasonBudget, quorum.ReasonInvalid,
	quorum.ReasonModelRefusal, quorum.ReasonFailedTwice, quorum.ReasonSkipped, quorum.ReasonDeclined, quorum.ReasonTooLarge,
	quorum.ReasonNoSecrets, quorum.ReasonForbidden, quorum.ReasonRetired, quorum.ReasonGuarded, quorum.ReasonCancelled,
	quorum.ReasonApproval, quorum.ReasonRefused, quorum.ReasonPermission, quorum.ReasonTooOld, quorum.ReasonAttempts,
	quorum.ReasonIgnored, quorum.ReasonDismissed, quorum.ReasonDeleted, quorum.ReasonEdited, quorum.ReasonUnknown, quorum.ReasonUnnamed,
	quorum.ReasonMoved, quorum.ReasonCommand, quorum.ReasonSelf, quorum.ReasonFamily, quorum.ReasonOtherPull, quorum.ReasonOtherLane, quorum.ReasonWhen,
	quorum.ReasonReserve, quorum.ReasonStage, quorum.ReasonNotAsked, quorum.ReasonCarried, quorum.ReasonOverridden, "no such reason",
}

// standingCase is a decision with all that its steps depend on.
type standingCase struct {
	p quorum.Policy
	s quorum.Snapshot
	d quorum.Decision

	ballots []quorum.Ballot // of which it was decided
	facts   quorum.Facts
}

// drawCase returns a decision as Decide may make it of random ballots. The first ballot has the given reason and vote.
func drawCase(r *rand.Rand, reason quorum.Reason, vote quorum.Vote) standingCase {
	one := func(chance int) bool { return r.IntN(chance) == 0 }
	p, s := policy(), snapshot()
	p.StandIn = quorum.Permission(r.IntN(4))
	p.Threads = quorum.ThreadsBy(1 + r.IntN(2))
	p.EarlyStart = one(2)
	p.Reviewers[2].Request = quorum.Request{Comment: "@copilot review"}
	p = drawRules(r, p)
	s.PR.Fork, s.PR.HeadRepo = one(2), []string{"bob/shop", ""}[r.IntN(2)]
	s.PR.Author = []quorum.Account{{Login: "bob"}, {Login: "dependabot[bot]", Bot: true}}[r.IntN(2)]
	if one(8) {
		s.Timeline = []quorum.Event{{Kind: quorum.BaseChanged, From: "next"}}
	}
	var ballots []quorum.Ballot
	for i, name := range []string{"openai", "gemini", "copilot"} {
		b := quorum.Ballot{Reviewer: name, Vote: quorum.Vote(1 + r.IntN(4)), Reason: everyReason[r.IntN(len(everyReason))], Since: at(2)}
		if i == 0 {
			b.Vote, b.Reason = vote, reason
		}
		b.Run, b.Failed, b.Open, b.Required = int64(r.IntN(2)), r.IntN(3), one(3), one(4)
		if one(2) {
			b.Detail = "cart.go"
		}
		b.Excused, b.Again = p.Reviewers[i].Excused, b.Required && one(3)
		b.Family, b.Asked, b.Flipped = p.Reviewers[i].Family, r.IntN(4), one(4)
		if b.Vote == quorum.Pending {
			b.Deadline, b.Late = at(30), quorum.ReasonNoAnswer
			if one(6) {
				doubt := objects(name, 6)
				b.Then, b.Reason = &doubt, quorum.ReasonDoubt
			}
		}
		if b.Vote == quorum.Object {
			b.At = at(3)
			b.Evidence = quorum.TextRef{Kind: quorum.TextKind(1 + r.IntN(2)), ID: int64(50 + i)}
			if one(2) {
				s.Reviews = append(s.Reviews, quorum.Text{
					TextRef: b.Evidence, State: []string{"CHANGES_REQUESTED", "COMMENTED"}[r.IntN(2)],
				})
			}
			for range r.IntN(3) {
				f := quorum.Finding{Body: "Wrong.", Below: one(4)}
				if one(2) {
					f.Path, f.Line = "cart.go", r.IntN(3)
				}
				if b.Threads = one(2); b.Threads {
					f.Thread = int64(100 + len(s.Threads))
					if one(2) {
						s.Threads = append(s.Threads, quorum.Thread{ID: f.Thread, Resolved: one(2)})
					}
				}
				b.Findings = append(b.Findings, f)
			}
		}
		ballots = append(ballots, b)
	}
	facts := quorum.Facts{PR: pr, Head: head, Base: "main", File: s.File, Start: start, Draft: one(20)}
	p.DraftsWait = true
	if one(5) {
		facts.Against = []string{"carol"}
	}
	if one(5) {
		facts.StandIns = []quorum.StandIn{{Login: "dave", Review: 1, At: at(4)}, {Login: "erin", Review: 2, At: at(5)}}[:1+r.IntN(2)]
	}
	if p.StandIn == 0 {
		facts.StandIns, facts.Against = nil, nil
	}
	if one(30) {
		facts.Siblings = []int{8}
	}
	return standingCase{p, s, quorum.Decide(p, ballots, facts, at(r.IntN(40))), ballots, facts}
}

// drawRules draws what lanes and people ask.
func drawRules(r *rand.Rand, p quorum.Policy) quorum.Policy {
	one := func(chance int) bool { return r.IntN(chance) == 0 }
	p.Override, p.Carry, p.OwnChange = quorum.Permission(r.IntN(4)), quorum.Carry(1+r.IntN(2)), one(2)
	if one(3) && p.StandIn != 0 { // else it is an error of the policy
		p.People = askedPeople(1 + r.IntN(2))
	}
	if one(3) {
		p.Lane = quorum.LaneChoice{Name: "docs", Why: "docs only", By: quorum.Condition{AllPaths: []string{"docs/**"}}}
		p.Rules = []quorum.NeedRule{{Share: quorum.Share(1 + r.IntN(4)), Count: 2}}
	}
	if one(3) {
		p.Families = quorum.DistinctFamily
		p.Reviewers[1].Family, p.Reviewers[2].Family = "google", "google"
	}
	for i := range p.Reviewers {
		if one(6) {
			p.Reviewers[i].Excused = []quorum.Reason{quorum.ReasonOtherLane, quorum.ReasonWhen}[r.IntN(2)]
		}
	}
	return p
}

// greenWith decides the case anew with something changed.
func (c standingCase) greenWith(change func(ballots []quorum.Ballot, f *quorum.Facts)) bool {
	ballots, facts := slices.Clone(c.ballots), c.facts
	change(ballots, &facts)
	return quorum.Decide(c.p, ballots, facts, at(50)).Verdict == quorum.Passed
}

// approvingPeople are so many who may stand in.
func approvingPeople(n int) (people []quorum.StandIn) {
	for i := range n {
		people = append(people, quorum.StandIn{Login: []string{"kim", "lee", "max", "ned"}[i], Review: int64(10 + i), At: at(41 + i)})
	}
	return people
}

// enoughIs is how many approvals by people a step says are enough.
func enoughIs(what string) int {
	for n, words := range []string{"one such approval is enough", "2 such approvals", "3 such approvals", "4 such approvals"} {
		if strings.Contains(what, words) {
			return n + 1
		}
	}
	return 0
}

// untruePeople says what is wrong with a step by which people approve: so many must be enough, and one fewer not.
func (c standingCase) untruePeople(what string) string {
	n := enoughIs(what)
	approve := func(n int) bool {
		return c.greenWith(func(ballots []quorum.Ballot, f *quorum.Facts) {
			f.StandIns = slices.Concat(f.StandIns, approvingPeople(n)) // beside those that there are
			for i := range ballots {                                   // nobody is pending any more
				if b := &ballots[i]; b.Vote == quorum.Pending && !c.enoughApprove() {
					b.Vote, b.Reason, b.Since, b.Deadline, b.Then = quorum.Unavailable, quorum.ReasonNoAnswer, at(30), at(30), nil
				}
			}
		})
	}
	switch {
	case n == 0:
		return "it is not said how many are enough: " + what
	case !approve(n):
		return "so many are not enough: " + what
	case n > 1 && approve(n-1):
		return "fewer are enough: " + what
	}
	return ""
}

// enoughApprove reports whether only people are missing.
func (c standingCase) enoughApprove() bool { return c.d.Reason == quorum.ReasonPeople }

// untrueAccept says what is wrong with a step by which somebody accepts over the objections.
func (c standingCase) untrueAccept(who, what string) string {
	switch {
	case c.p.Override == 0 || c.d.Objections == 0:
		return "nobody accepts here: " + what
	case who == "You" || !strings.Contains(who, "no hand"):
		return "the author accepts nothing: " + who
	case !strings.Contains(what, "/review-coordinator accept "+head[:12]):
		return "there is no line to copy: " + what
	}
	ended := c.greenWith(func(ballots []quorum.Ballot, f *quorum.Facts) {
		f.Against = nil
		for i := range ballots {
			switch b := &ballots[i]; {
			case b.Vote == quorum.Object:
				b.Vote, b.Reason, b.Detail = quorum.Unavailable, quorum.ReasonOverridden, "bob"
				b.Ended = quorum.Ending{By: "bob", How: quorum.ReasonOverridden}
			case b.Vote == quorum.Pending:
				b.Vote, b.Reason, b.At, b.Then = quorum.Approve, quorum.ReasonApproved, at(31), nil
			}
		}
		f.StandIns = approvingPeople(4)
	})
	if !ended && c.p.StandIn != 0 {
		return "that ends no objection: " + what
	}
	return ""
}

// untrueVouch says what is wrong with a step by which somebody vouches for a change of their own.
func (c standingCase) untrueVouch(who, what string) string {
	isOfPeople := c.d.Reason == quorum.ReasonPeople
	vouched := c.greenWith(func(ballots []quorum.Ballot, f *quorum.Facts) {
		f.StandIns = append(approvingPeople(4), quorum.StandIn{Login: "alice", Review: 77, At: at(31), Vouch: true})
		if c.p.People.Least() == 0 || isOfPeople {
			f.StandIns = f.StandIns[4:]
		}
		if isOfPeople {
			f.OnlyWriter = "alice"
		}
		for i := range ballots {
			if b := &ballots[i]; b.Vote == quorum.Pending {
				b.Vote, b.Reason, b.Since, b.Deadline, b.Then = quorum.Unavailable, quorum.ReasonNoAnswer, at(30), at(30), nil
			}
		}
	})
	switch {
	case !c.p.OwnChange || c.p.StandIn == 0 || c.d.Objections > 0:
		return "nobody vouches here: " + what
	case strings.Contains(who, "no hand") || !strings.Contains(what, "/review-coordinator vouch "+head[:12]):
		return "there is no line to copy for who may: " + who + ": " + what
	case isOfPeople != strings.Contains(what, "if nobody else may write"):
		return "it counts for other places: " + what
	case !vouched:
		return "that changes nothing: " + what
	}
	return ""
}

// objectsWith reports whether an objection of the case is as test says.
func (c standingCase) objectsWith(test func(quorum.Ballot) bool) bool {
	return slices.ContainsFunc(c.d.Ballots, func(b quorum.Ballot) bool { return b.Voter() && b.Vote == quorum.Object && test(b) })
}

func (c standingCase) hasThread(b quorum.Ballot) bool {
	return b.Threads && slices.ContainsFunc(b.Findings, func(f quorum.Finding) bool {
		return slices.ContainsFunc(c.s.Threads, func(t quorum.Thread) bool { return t.ID == f.Thread })
	})
}

func (c standingCase) hasReview(b quorum.Ballot) bool {
	return slices.ContainsFunc(c.s.Reviews, func(t quorum.Text) bool { return t.TextRef == b.Evidence && t.State == "CHANGES_REQUESTED" })
}

// untrue says what is wrong with a page's steps; "" if all of them are true.
func (c standingCase) untrue(steps []PageStep) string {
	branchGone := c.s.PR.Fork && c.s.PR.HeadRepo == ""
	for _, step := range steps {
		who, what := step.Who.Plain(), step.What.Plain()
		standsIn := strings.Contains(what, "approve it")
		switch {
		case who == "" || what == "" || strings.ContainsAny(who+what, "%[]`"):
			return "a step says nothing: " + who + ": " + what
		case strings.Contains(what, "thread") && !c.objectsWith(c.hasThread):
			return "there are no threads: " + what
		case strings.Contains(what, "thread") && strings.HasPrefix(who, "You") && (c.p.Threads != quorum.ByAnyone || c.s.PR.Author.Bot):
			return "the author resolves nothing: " + what
		case strings.Contains(what, "Dismiss") && !c.objectsWith(c.hasReview) && !c.d.AgainstVote:
			return "there is no review to dismiss: " + what
		case standsIn && (c.p.StandIn == 0 || c.d.Verdict != quorum.Unverified || c.d.Objections > 0 || len(c.d.Against) > 0):
			return "nobody stands in here: " + what
		case standsIn && (who == "You" || !strings.Contains(who, "no hand")):
			return "the author does not stand in: " + who
		case step.URL != "" && !slices.ContainsFunc(slices.Concat(step.Who, step.What), func(s Span) bool { return s.URL == step.URL }):
			return "nothing of it is linked: " + what
		case strings.Contains(what, "accept ") && c.untrueAccept(who, what) != "":
			return c.untrueAccept(who, what)
		case strings.Contains(what, "vouch ") && c.untrueVouch(who, what) != "":
			return c.untrueVouch(who, what)
		case standsIn && c.untruePeople(what) != "":
			return c.untruePeople(what)
		case standsIn && (isAnyPending(c.d) && !c.enoughApprove()) != strings.Contains(what, "once nobody is pending"):
			return "it does not count yet, or does: " + what
		case strings.HasPrefix(who, "You") && c.s.PR.Author.Bot:
			return "a bot reads no checks: " + what
		case who == "You" && (strings.HasPrefix(what, "Run ") || strings.HasPrefix(what, "Ask ")):
			return "an author may not start it: " + what
		case branchGone && (strings.Contains(what, "and push") || strings.HasPrefix(what, "Push a new")):
			if who == whoAuthor || who == whoBotsKeeper {
				return "nothing can be pushed: " + what
			}
		case strings.Contains(what, "no reviewer objects") && c.d.Objections > 0:
			return "somebody objects: " + what
		case strings.Contains(what, "Nothing has to be done") && c.d.Verdict != quorum.Waiting:
			return "it does not wait: " + what
		case strings.Contains(what, "Nothing is left") != (c.d.Verdict == quorum.Passed) && strings.Contains(what, "Nothing is left"):
			return "it has not passed: " + what
		}
	}
	return c.missing(steps)
}

// missing says what a page's steps lack.
func (c standingCase) missing(steps []PageStep) string {
	says := func(words string) bool {
		return slices.ContainsFunc(steps, func(s PageStep) bool { return strings.Contains(s.What.Plain(), words) })
	}
	branchGone := c.s.PR.Fork && c.s.PR.HeadRepo == ""
	switch d := c.d; {
	case d.Verdict != quorum.Ended && len(steps) == 0:
		return "nobody is told anything"
	case d.Verdict == quorum.Blocked && d.Objections > 0 && !branchGone && !says("push"):
		return "it is not said that a push ends it"
	case d.Verdict == quorum.Blocked && c.objectsWith(c.hasReview) && !says("Dismiss"):
		return "it is not said that the review may be dismissed"
	case d.Verdict == quorum.Blocked && d.AgainstVote && !says("Settle what carol asks for"):
		return "it is not said what a person asks for"
	case d.Verdict == quorum.Blocked && d.Objections > 0 && c.p.Override != 0 && !says("/review-coordinator accept "):
		return "it is not said that a person may accept"
	case d.Reason == quorum.ReasonTooFew && !says("Let more reviewers vote"):
		return "it is not said that too few vote"
	case d.Verdict == quorum.Unverified && d.Reason != quorum.ReasonSiblings && c.p.StandIn != 0 && len(d.Against) == 0 && !says("approve it"):
		return "it is not said that a person may stand in"
	case d.Verdict == quorum.Unverified && d.Reason != quorum.ReasonSiblings && len(d.Against) == 0 && c.p.StandIn != 0 && !isAnyPending(d) &&
		!strings.Contains(steps[0].What.Plain(), "approve it") && len(c.s.Timeline) == 0:
		return "a person's approval comes first, not: " + steps[0].What.Plain()
	}
	return ""
}

// kindsOfSteps are words of steps that all must come up.
var kindsOfSteps = []string{
	"Resolve the", "resolve them again", "Dismiss", "approve it", "Settle", "Push a new", "branch is gone",
	"/review-coordinator accept", "/review-coordinator vouch", "its own approval",
	"2 such approvals", "3 such approvals, by different people", "Let more reviewers vote", "word should count",
}

func TestStepsAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	verdicts := map[quorum.Verdict]int{}
	said := map[string]int{}
	for _, reason := range everyReason {
		for vote := quorum.Pending; vote <= quorum.Unavailable; vote++ {
			for range 60 {
				c := drawCase(r, reason, vote)
				page := PageOf(c.p, c.s, c.d, record(), places())
				verdicts[c.d.Verdict]++
				if wrong := c.untrue(page.Steps); wrong != "" {
					t.Fatalf("%s by %s: %s\n%s", vote, reason, wrong, page.Terminal(Styles{}, start))
				}
				for _, step := range page.Steps {
					for _, words := range kindsOfSteps {
						if strings.Contains(step.What.Plain(), words) {
							said[words]++
						}
					}
				}
			}
		}
	}
	for v := quorum.Waiting; v < quorum.Ended; v++ {
		if verdicts[v] < 100 {
			t.Errorf("only %d cases are %s: the generator shows nothing of it", verdicts[v], v)
		}
	}
	if len(said) != len(kindsOfSteps) {
		t.Errorf("not all kinds of steps came up: %v", said)
	}
}

// Each law can fail: a step that is not true is found.
func TestUntrueStepsAreFound(t *testing.T) {
	c := standingCase{
		p: policy(), s: snapshot(), d: decided(quorum.Blocked, objects("gemini", 5, quorum.Finding{Path: "a.go", Line: 1, Body: "x"})),
	}
	step := func(who, what string) []PageStep {
		return []PageStep{{Who: wordsPhrase("%s", who), What: wordsPhrase("%s", what)}}
	}
	for _, steps := range [][]PageStep{
		nil, step("You", ""), step("You", "[Push] it."),
		{{Who: wordsPhrase("You"), What: wordsPhrase("Push."), URL: "https://x"}},
		step("You", "Resolve its threads and push."), step("A maintainer", "Dismiss its review, or push."),
		step("A maintainer who had no hand in the change", "Review this commit and approve it, or push."),
		step("A maintainer who had no hand in the change", "Comment /review-coordinator accept 3f2c1d9a5b6c, or push."),
		step("You", "Run gemini again and push."), step("You", "Wait."), step("You", "Nothing is left to do; push."),
	} {
		if c.untrue(steps) == "" {
			t.Errorf("%v: is true", steps)
		}
	}
	if wrong := c.untrue(PageOf(c.p, c.s, c.d, record(), places()).Steps); wrong != "" {
		t.Error(wrong)
	}
}
