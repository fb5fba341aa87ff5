//go:build !action

package main

// What config check says of lanes, of people and of the conditions under which a reviewer votes.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A laneJSON is a lane as it holds: what it does not name is the top level's.
type laneJSON struct {
	Name     string        `json:"name"`
	Why      string        `json:"why,omitempty"`
	If       ifJSON        `json:"if"`
	Adds     []string      `json:"adds,omitempty"` // keys that are added wherever it may hold: they ask no less than the top level
	Less     []string      `json:"less,omitempty"` // keys in which it asks less: they count only where it surely holds
	Quorum   string        `json:"quorum"`
	People   quorum.People `json:"people,omitempty"`
	Voters   []string      `json:"voters"`
	Grace    string        `json:"grace"`
	Deadline string        `json:"deadline"`
}

// An ifJSON is a condition with what it names.
type ifJSON struct {
	AllPaths []string `json:"all_paths,omitempty"`
	AnyPath  []string `json:"any_path,omitempty"`
	Authors  []string `json:"authors,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	Base     []string `json:"base,omitempty"`
}

// IsZero reports whether nothing is named.
func (c ifJSON) IsZero() bool { return !quorum.Condition(c).Names() }

func lanesAsJSON(p quorum.Policy) (list []laneJSON) {
	for i := range p.Lanes {
		lane := &p.Lanes[i]
		q := p.InLane(lane)
		adds, less := p.Compare(lane)
		voters := []string{}
		for _, r := range q.Reviewers {
			if r.Voter() {
				voters = append(voters, r.Name)
			}
		}
		list = append(list, laneJSON{
			Name: lane.Name, Why: lane.Why, If: ifJSON(lane.If), Adds: adds, Less: less,
			Quorum: ruleWord(quorumOf(q)), People: q.People, Voters: voters,
			Grace: config.Duration(q.Grace).String(), Deadline: config.Duration(q.Deadline).String(),
		})
	}
	return list
}

// quorumOf returns the rule that asks most of all voters.
func quorumOf(p quorum.Policy) (most quorum.NeedRule) {
	for i, rule := range p.Rules {
		if i == 0 || rule.Of(p.Voters()) > most.Of(p.Voters()) {
			most = rule
		}
	}
	return most
}

// policyWords are words of the policy file, by what they mean.
var policyWords = map[any]string{
	quorum.Enforce: "enforce", quorum.ReportOnly: "report", quorum.Off: "off",
	quorum.Majority: "majority", quorum.All: "all", quorum.NoReview: "none",
	quorum.Write: "write", quorum.Maintain: "maintain", quorum.Admin: "admin",
	quorum.DistinctFamily: "distinct", quorum.CarrySameDiff: "same_diff",
}

// policyWord returns a value as the policy file says it; otherwise is the word of its default.
func policyWord(value any, otherwise string) string { return cmp.Or(policyWords[value], otherwise) }

func ruleWord(rule quorum.NeedRule) string { return policyWord(rule.Share, strconv.Itoa(rule.Count)) }

// describePeople says who must approve beside the reviewers.
func describePeople(people quorum.People) (text string) {
	for _, rule := range people {
		text += ", and " + describePeopleRule(rule, "one by a person", "by people")
	}
	return text
}

// describePeopleRule says how many approvals of people a rule asks for: of one, of several, of those that it names.
func describePeopleRule(rule quorum.PeopleRule, one, several string) string {
	switch {
	case len(rule.Of) > 0:
		return fmt.Sprintf("%d by people out of %s", rule.Count, strings.Join(rule.Of, ", "))
	case rule.Count == 1:
		return one
	}
	return fmt.Sprintf("%d %s", rule.Count, several)
}

// describeRules says what holds beside the number of approvals, a line for each key that is not as it is by default.
func describeRules(p quorum.Policy) (text string) {
	isConditional := slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Voter() && r.When.Names() })
	if share := quorumOf(p).Share; isConditional && (share == quorum.Majority || share == quorum.All) {
		text += "quorum: " + ruleWord(quorumOf(p)) +
			", of those that vote on the pull request, so fewer approvals are needed where a when does not hold.\n"
	}
	if p.Families == quorum.DistinctFamily {
		text += "families: distinct, so reviewers of one family count as one.\n"
	}
	if p.Carry == quorum.CarrySameDiff {
		text += "carry: same_diff, so a push that leaves the diff as it was keeps its approvals.\n"
	}
	if word := policyWord(p.Override, "none"); word != "none" {
		text += "override: " + word + ", so a person with that permission may accept a pull request over an objection.\n"
	}
	return text
}

// describeVote says what else is known of a reviewer's vote: its family, and where it votes.
func describeVote(r quorum.Reviewer) (text string) {
	if r.Family != "" {
		text = ", of the family " + r.Family
	}
	if r.When.Names() {
		text += ", where " + describeCondition(r.When, false)
	}
	if r.InsteadOf != "" {
		text += ", in the seat of " + r.InsteadOf
	}
	if len(r.After) > 0 {
		text += ", after " + strings.Join(r.After, " and ")
	}
	return text
}

// describeLanes lists the lanes with what each asks, none if there are none.
func describeLanes(p quorum.Policy) string {
	if len(p.Lanes) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\nThe lanes are read from the top:\n\n")
	for i := range p.Lanes {
		lane := &p.Lanes[i]
		adds, less := p.Compare(lane)
		isSure := len(less) > 0
		fmt.Fprintf(&text, "  %s: %s, where %s\n", lane.Name, describeLaneNeed(p, lane), describeCondition(lane.If, isSure))
		if len(adds) > 0 {
			fmt.Fprintf(&text, "    adds %s wherever it may hold\n", strings.Join(adds, ", "))
		}
		if isSure {
			fmt.Fprintf(
				&text, "    asks less in %s: only against the default branch%s, and with no guarded file changed\n",
				strings.Join(less, ", "), describeNamedBases(lane),
			)
		}
		if quorum.EndsReading(less) && i < len(p.Lanes)-1 {
			text.WriteString("    where it surely holds, no lane below it is read\n")
		}
	}
	return text.String()
}

// describeLaneNeed says what must approve in a lane.
func describeLaneNeed(p quorum.Policy, lane *quorum.Lane) string {
	q := p.InLane(lane)
	rule := quorumOf(q)
	need := ruleWord(rule) + " of " + countNoun(q.Voters(), "voter")
	if rule.Share == quorum.NoReview {
		need = "no review"
	}
	for _, rule := range q.People {
		need += " and " + describePeopleRule(rule, "one person", "people")
	}
	return need
}

func describeNamedBases(lane *quorum.Lane) (text string) {
	for _, base := range change.NamedBases(lane) {
		text += " and " + base
	}
	return text
}

// describeCondition says which pull requests a condition is for, where it must hold surely or only possibly.
func describeCondition(c quorum.Condition, isSure bool) string {
	var all []string
	say := func(what string, list []string) {
		if len(list) > 0 {
			all = append(all, strings.ReplaceAll(what+" "+strings.Join(list, " or "), " or !", " but not "))
		}
	}
	paths, authors := "a path is", "an author is"
	if isSure {
		paths, authors = "every path is", "the only author is"
	}
	say(paths, c.AllPaths)
	say("a path is", c.AnyPath)
	say(authors, c.Authors)
	say("a label is", c.Labels)
	say("the base is", c.Base)
	return strings.Join(all, " and ")
}
