package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Which rules hold for a pull request: its lane and why, lanes that look as if they held and do not, who has no vote
// here, whose approvals count once, who must answer because it objected before, and what came over from an earlier
// commit. Where the policy says none of that, there is nothing to say.

// A ruleTeller tells which rules hold for a decision.
type ruleTeller struct {
	policy   quorum.Policy
	snapshot quorum.Snapshot
	decision quorum.Decision
	record   quorum.Record
}

// rulesHere says which rules hold here, where that is not plain.
func (m ruleTeller) rulesHere() (says []Phrase) {
	if m.decision.Verdict == quorum.Ended || len(m.decision.Ballots) == 0 {
		return nil
	}
	people := append(m.peopleRules(), unheardRules(m.decision)...)
	return slices.Concat(m.laneRules(), m.voterRules(), people, m.diffRules(), fixRules(m.policy, m.decision))
}

// maxLanesSaid is how many lanes of a kind are told of.
const maxLanesSaid = 8

// laneRules say which lane asks less and why, which ones ask more, and which do not hold although they look so.
func (m ruleTeller) laneRules() (says []Phrase) {
	lane := m.decision.Lane
	if lane.Name != "" {
		says = append(says, laneSaid(lane.Name, "asks less", m.conditionSaid(lane.By, true), lane.Why))
	}
	for i, added := range lane.Added {
		if i == maxLanesSaid {
			says = append(says, wordsPhrase("%d more lanes count.", len(lane.Added)-i))
			break
		}
		what := "asks more"
		if added.Less {
			what = "waits less"
		}
		says = append(says, laneSaid(added.Name, what, m.conditionSaid(added.By, added.Less), added.Why))
	}
	for i, not := range lane.Not {
		if i == maxLanesSaid {
			says = append(says, wordsPhrase("%d more lanes ask less and are not for this pull request.", len(lane.Not)-i))
			break
		}
		says = append(says, fillPhrase("The lane %s asks less and is not for this pull request: %s.", namePhrase(not.Name), whyNoLane(not)))
	}
	return says
}

// laneSaid says what a lane does here, because of what, and the reason that the policy gives for it.
func laneSaid(name, does string, because Phrase, why string) Phrase {
	t := slices.Concat(fillPhrase("The lane %s ", namePhrase(name)), wordsPhrase("%s", does), because)
	if why != "" {
		t = slices.Concat(t, fillPhrase(" (%s)", namePhrase(why)))
	}
	return append(t, Span{Text: "."})
}

// whyNoLane says why a lane that asks less does not hold.
func whyNoLane(not quorum.LaneNot) Phrase {
	detail := quotePhrase(not.Detail)
	switch isKnown := oneLine(not.Detail) != ""; {
	case not.Reason == quorum.ReasonLaneBase && isKnown:
		return fillPhrase("it does not name the base %s without a pattern", detail)
	case not.Reason == quorum.ReasonLaneGuard && isKnown:
		return fillPhrase("that changes %s, a file that can steer a review", detail)
	case not.Reason == quorum.ReasonLaneGuard:
		return wordsPhrase("that changes a file that can steer a review, or not all of its files are known")
	case not.Reason == quorum.ReasonLanePolicy && isKnown:
		return fillPhrase("that changes the policy %s", detail)
	default:
		return wordsPhrase("%s", Sentence(not.Reason))
	}
}

// conditionSaid says what of a pull request a condition names that holds, surely or possibly, as the end of a sentence.
func (m ruleTeller) conditionSaid(c quorum.Condition, isSure bool) Phrase {
	pull := m.snapshot.PR
	var parts []Phrase
	switch {
	case len(c.AllPaths) > 0 && isSure:
		parts = append(parts, fillPhrase("every changed path matches %s", oneOfPatterns(c.AllPaths)))
	case len(c.AllPaths) > 0:
		parts = append(parts, fillPhrase("a changed path matches %s", oneOfPatterns(c.AllPaths)))
	}
	if len(c.AnyPath) > 0 {
		parts = append(parts, fillPhrase("a changed path matches %s", oneOfPatterns(c.AnyPath)))
	}
	switch {
	case len(c.Authors) > 0 && isSure:
		parts = append(parts, fillPhrase("nobody but %s opened it, pushed to it and wrote its commits", oneOf(c.Authors)))
	case len(c.Authors) > 0:
		parts = append(parts, fillPhrase("%s had a hand in it, or may have had", oneOf(c.Authors)))
	}
	if len(c.Base) > 0 {
		parts = append(parts, m.baseSaid(c.Base))
	}
	var said Phrase
	if len(parts) > 0 {
		said = slices.Concat(wordsPhrase(", because "), joinPhrases(parts))
	}
	if len(c.Labels) > 0 {
		onIt := slices.DeleteFunc(slices.Clone(c.Labels), func(label string) bool { return !pull.HasLabel(label) })
		if len(onIt) == 0 {
			onIt = c.Labels
		}
		said = slices.Concat(said, fillPhrase(", while the label %s is set", oneOf(onIt)))
	}
	return said
}

// baseSaid says which base those patterns name: a lane that asks more may mean a layer's own, beside its stack's trunk.
func (m ruleTeller) baseSaid(patterns []string) Phrase {
	pull := m.snapshot.PR
	if pull.Stack.Trunk == "" {
		return fillPhrase("its base %s matches %s", namePhrase(pull.BaseRef), oneOf(patterns))
	}
	return fillPhrase("its base %s, or its stack's trunk %s, matches %s",
		namePhrase(pull.BaseRef), namePhrase(pull.Stack.Trunk), oneOf(patterns))
}

// oneOfPatterns quotes patterns of which one is enough, and those that take away from them.
func oneOfPatterns(all []string) Phrase {
	isNegated := func(pattern string) bool { return strings.HasPrefix(pattern, "!") }
	adding := slices.DeleteFunc(slices.Clone(all), isNegated)
	if len(adding) == 0 || len(adding) == len(all) {
		return oneOf(all)
	}
	var taken []string
	for _, pattern := range all {
		if isNegated(pattern) {
			taken = append(taken, pattern[1:])
		}
	}
	return fillPhrase("%s but not %s", oneOf(adding), oneOf(taken))
}

// oneOf quotes what a policy lists, of which one is enough; of much it shows the first.
func oneOf(all []string) Phrase {
	quoted := make([]Phrase, 0, len(all))
	for _, one := range all {
		quoted = append(quoted, quotePhrase(clipRunes(one, maxLaneWords)))
	}
	return joinPhrasesBy("or", quoted, 5)
}

// voterRules say who has no vote here, whose approvals count once, and who must answer because it objected before.
func (m ruleTeller) voterRules() (says []Phrase) {
	of := map[quorum.Reason][]Phrase{}
	families := map[string][]Phrase{}
	var order []string
	var again, heard []Phrase
	for _, b := range m.decision.Ballots {
		who := namePhrase(b.Reviewer)
		if b.MayVote() && !b.Voter() {
			of[b.Excused] = append(of[b.Excused], who)
		}
		if !b.Voter() {
			continue
		}
		if b.Excused != "" {
			heard = append(heard, who)
		}
		if b.Family != "" {
			if families[b.Family] == nil {
				order = append(order, b.Family)
			}
			families[b.Family] = append(families[b.Family], who)
		}
		if b.Again {
			again = append(again, who)
		}
	}
	if names := of[quorum.ReasonOtherLane]; len(names) > 0 {
		says = append(says, fillPhrase("The lane names others than %s: no vote here, but an objection to this commit counts.", joinPhrases(names)))
	}
	if names := of[quorum.ReasonWhen]; len(names) > 0 {
		says = append(says, fillPhrase(
			"This is no pull request on which %s: no vote here, but an objection to this commit counts.",
			slices.Concat(joinPhrases(names), wordsPhrase(" %s", pluralWord(len(names), "votes", "vote"))),
		))
	}
	if len(heard) > 0 {
		says = append(says, fillPhrase(
			"An objection counts whatever the lane: %s %s a vote here until that has ended.", joinPhrases(heard), wordsPhrase("%s", pluralWord(len(heard), "has", "have")),
		))
	}
	for _, family := range order {
		if names := families[family]; m.policy.Families == quorum.DistinctFamily && len(names) > 1 {
			count := wordsPhrase("%s", countNoun(len(names), "reviewer"))
			says = append(says, fillPhrase("%s of %s count once: %s.", count, namePhrase(family), joinPhrases(names)))
		}
	}
	if len(again) > 0 {
		const rule = "The quorum cannot do without %s: it objected last, to an earlier commit or against another base."
		says = append(says, fillPhrase(rule, joinPhrases(again)))
	}
	return says
}

// peopleRules say whose approvals are needed beside the reviewers'.
func (m ruleTeller) peopleRules() []Phrase {
	d := m.decision
	if len(m.policy.People) == 0 {
		return nil
	}
	who := whoseApprovals(m.policy.People)
	if len(m.policy.People[0].Of) == 0 { // else a login begins the sentence
		who = upperFirst(who)
	}
	t := wordsPhrase("%s must approve this commit", who)
	if m.policy.StandIn != 0 {
		each := ""
		if d.NeedPeople > 1 {
			each = "each "
		}
		t = append(t, Span{Text: ": " + each + lowerFirst(personWith(m.policy.StandIn))})
	}
	var names []Phrase
	for _, x := range d.People {
		names = append(names, namePhrase(x.Login))
	}
	if len(names) > 0 && !d.People[0].Vouch { // that is told beside the verdict
		t = slices.Concat(t, fillPhrase(". %s"+pluralWord(len(names), " approves", " approve"), joinPhrases(names)))
	}
	return []Phrase{append(t, Span{Text: ". Whoever stands in for a reviewer is none of them, and a request for changes by such a person objects."})}
}

// unheardRules say whose approval was seen and does not count, and why.
func unheardRules(d quorum.Decision) (says []Phrase) {
	for _, x := range d.Unheard {
		did, why := "approves", whyUnheard(x.Why)
		if x.Vouch {
			did, why = "vouches for the change", "GitHub does not show that nobody else may write"
		}
		by := linkPhrase(d.PR, wordsPhrase("%s", did), x.URL)
		says = append(says, fillPhrase("%s %s, and that does not count: %s.", namePhrase(x.Login), by, wordsPhrase("%s", why)))
	}
	if len(d.UnreadTeams) > 0 {
		says = append(says, wordsPhrase(
			"GitHub does not say who is in %s: the App needs members: read, and the team must be of this repository's owner. A job's GITHUB_TOKEN "+
				"reads no teams.", joinNames(d.UnreadTeams),
		))
	}
	return says
}

// whyUnheard says why a person's approval does not count.
func whyUnheard(why quorum.Reason) string {
	switch why {
	case quorum.ReasonMoved:
		return "it is of an earlier commit"
	case quorum.ReasonOldBase:
		return "it was given before the base changed"
	case quorum.ReasonEdited:
		return "somebody else edited it"
	case quorum.ReasonHadHand:
		return "they opened this pull request, or wrote or pushed a commit of it"
	case quorum.ReasonMayNot:
		return "the permission that the policy asks of people is missing"
	default:
		return Sentence(why)
	}
}

// whoseApprovals says who must approve: "a person", "alice or octo/owners", "2 of alice, bob or carol".
func whoseApprovals(people quorum.People) string {
	names := make([]string, len(people))
	for i, r := range people {
		switch {
		case len(r.Of) == 0 && r.Count == 1:
			names[i] = "a person"
		case len(r.Of) == 0:
			names[i] = fmt.Sprintf("%d people", r.Count)
		case r.Count == 1:
			names[i] = alternatives(r.Of)
		default:
			names[i] = fmt.Sprintf("%d of %s", r.Count, alternatives(r.Of))
		}
	}
	return joinNames(names)
}

// insteadOf says which people a vouch stands in the place of, and why it may.
func insteadOf(people quorum.People) string {
	return "in place of " + whoseApprovals(people) + ", as nobody else may write"
}

// diffRules say what came over from an earlier commit with the same diff, and who changed its mind about this one.
func (m ruleTeller) diffRules() (says []Phrase) {
	d := m.decision
	type fromHead struct {
		head      string
		reviewers []Phrase
	}
	var carried []fromHead
	for _, b := range d.Ballots {
		who := namePhrase(b.Reviewer)
		switch head := m.carriedFrom(b); {
		case b.Vote == quorum.Object && b.Voter() && b.Pull != 0:
			says = append(says, fillPhrase(
				"%s objected on %s, which has the same added and removed lines: that holds for this pull request, too. "+
					"Its approval, or a person's `accept`, on either one ends it.", who, wordsPhrase("#%d", b.Pull),
			))
		case head != "":
			const rule = "%s objected to %s, which has the same added and removed lines: that holds for this commit, too."
			says = append(says, fillPhrase(rule, who, quotePhrase(head)))
		case b.Vote == quorum.Approve && b.Reason == quorum.ReasonCarried && b.MayVote():
			head = shortSHA(oneLine(b.Detail))
			i := slices.IndexFunc(carried, func(c fromHead) bool { return c.head == head })
			if i < 0 {
				i, carried = len(carried), append(carried, fromHead{head: head})
			}
			carried[i].reviewers = append(carried[i].reviewers, who)
		}
		if b.Vote == quorum.Approve && b.Flipped && b.MayVote() {
			says = append(says, fillPhrase("%s approved on its %s answer to this diff.", who, wordsPhrase("%s", ordinalWord(b.Asked))))
		}
		if b.Vote == quorum.Object && b.Voter() && b.Asked > 1 {
			says = append(says, fillPhrase("%s has answered %s times about this diff.", who, wordsPhrase("%d", b.Asked)))
		}
	}
	for _, c := range carried {
		says = append(says, fillPhrase(
			"%s approved %s, which has the same diff: that counts as long as nothing new is said of this commit, and no review of it begins.",
			joinPhrases(c.reviewers), quotePhrase(c.head),
		))
	}
	return says
}

// carriedFrom returns the earlier commit to which b's reviewer objected, if that is why it objects; "" else.
func (m ruleTeller) carriedFrom(b quorum.Ballot) string {
	if b.Vote != quorum.Object || !b.Voter() {
		return ""
	}
	for _, o := range m.record.Objections {
		isIts := o.Reviewer == b.Reviewer && o.Carried != "" && !o.Answered && m.record.Concerns(&o, m.decision.Base, m.record.Diff)
		if isIts && (o.TextRef == b.Evidence || b.Reason.Standing()) {
			return shortSHA(o.Carried)
		}
	}
	return ""
}

// ordinalWord returns "third".
func ordinalWord(n int) string {
	words := []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	switch {
	case n <= 1: // unreachable unless an answer was not counted: whoever flips has answered before
		return "newest"
	case n < len(words):
		return words[n]
	default:
		return fmt.Sprintf("%dth", n)
	}
}
