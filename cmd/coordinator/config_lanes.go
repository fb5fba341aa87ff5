//go:build !action

package main

// What config check says of lanes, people and the conditions under which a reviewer votes. policy_text.txt words it.

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A laneJSON is a lane as it holds: what it does not name is the top level's.
type laneJSON struct {
	Name     string           `json:"name"`
	Why      string           `json:"why,omitempty"`
	If       quorum.Condition `json:"if"`
	Adds     []string         `json:"adds,omitempty"` // keys that are added wherever it may hold: they ask no less
	Less     []string         `json:"less,omitempty"` // keys in which it asks less: they count only where it surely holds
	Quorum   string           `json:"quorum"`
	People   quorum.People    `json:"people,omitempty"`
	Voters   []string         `json:"voters"`
	Grace    string           `json:"grace"`
	Deadline string           `json:"deadline"`

	// For the text alone.
	Where       string   `json:"-"` // the condition in words
	Bases       []string `json:"-"` // besides the default branch, where it asks less
	EndsReading bool     `json:"-"` // no lane below it is read where it surely holds
}

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
			Name: lane.Name, Why: lane.Why, If: lane.If, Adds: adds, Less: less,
			Quorum: ruleWord(quorumOf(q)), People: q.People, Voters: voters,
			Grace: config.Duration(q.Grace).String(), Deadline: config.Duration(q.Deadline).String(),
			Where: describeCondition(lane.If, len(less) > 0), Bases: change.NamedBases(lane),
			EndsReading: quorum.EndsReading(less) && i < len(p.Lanes)-1,
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
