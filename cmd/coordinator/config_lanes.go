package main

// What config check says of lanes, of people and of the conditions under which a reviewer votes.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A laneJSON is a lane as it holds: what it does not name is the top level's.
type laneJSON struct {
	Name     string   `json:"name"`
	Why      string   `json:"why,omitempty"`
	If       ifJSON   `json:"if"`
	Adds     bool     `json:"adds"`  // labels or size choose it: it is laid over another and can only ask for more
	Laxer    bool     `json:"laxer"` // it asks less than the top level: it holds only where a contributor cannot choose it
	Quorum   string   `json:"quorum"`
	People   int      `json:"people"`
	Voters   []string `json:"voters"`
	Grace    string   `json:"grace"`
	Deadline string   `json:"deadline"`
}

// An ifJSON is a condition with what it names.
type ifJSON struct {
	Paths     []string `json:"paths,omitempty"`
	NotPaths  []string `json:"not_paths,omitempty"`
	AnyPath   []string `json:"any_path,omitempty"`
	Authors   []string `json:"authors,omitempty"`
	Labels    []string `json:"labels,omitempty"`
	Base      []string `json:"base,omitempty"`
	OverLines int      `json:"over_lines,omitempty"`
}

// IsZero reports whether nothing is named.
func (c ifJSON) IsZero() bool { return !quorum.Condition(c).Names() }

func lanesAsJSON(p quorum.Policy) (list []laneJSON) {
	for i := range p.Lanes {
		lane := &p.Lanes[i]
		q := policyInLane(p, lane)
		voters := []string{}
		for _, r := range q.Reviewers {
			if r.Voter() {
				voters = append(voters, r.Name)
			}
		}
		list = append(list, laneJSON{
			Name: lane.Name, Why: lane.Why, If: ifJSON(lane.If), Adds: lane.Adds(), Laxer: lane.Laxer && !lane.Adds(),
			Quorum: ruleWord(quorumOf(q)), People: q.People, Voters: voters,
			Grace: config.Duration(q.Grace).String(), Deadline: config.Duration(q.Deadline).String(),
		})
	}
	return list
}

// policyInLane returns what holds in a lane; for one that only adds, what holds where it is laid over the top level.
func policyInLane(p quorum.Policy, lane *quorum.Lane) quorum.Policy {
	if lane.Adds() {
		return p.WithAdded(lane)
	}
	return p.InLane(lane)
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

// ruleWord is a rule as the policy file says it.
func ruleWord(rule quorum.NeedRule) string {
	switch rule.Share {
	case quorum.ByNumber:
		return strconv.Itoa(rule.Count)
	case quorum.Majority:
		return "majority"
	case quorum.All:
		return "all"
	case quorum.NoReview:
		return "none"
	}
	return "" // unreachable unless a share is added
}

func familiesWord(f quorum.Families) string {
	if f == quorum.DistinctFamily {
		return "distinct"
	}
	return "any"
}

func rerollWord(r quorum.Reroll) string {
	if r == quorum.RerollPerson {
		return "person"
	}
	return "shown"
}

func carryWord(c quorum.Carry) string {
	if c == quorum.CarrySameDiff {
		return "same_diff"
	}
	return "none"
}

func permissionWord(p quorum.Permission) string {
	switch p {
	case quorum.Write:
		return "write"
	case quorum.Maintain:
		return "maintain"
	case quorum.Admin:
		return "admin"
	}
	return "none"
}

// describePeople says who must approve beside the reviewers.
func describePeople(people int) string {
	switch people {
	case 0:
		return ""
	case 1:
		return ", and one by a person"
	}
	return fmt.Sprintf(", and %d by people", people)
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
	if p.Reroll == quorum.RerollPerson {
		text += "reroll: person, so an approval after an objection to the same diff takes a person's word.\n"
	}
	if word := permissionWord(p.Override); word != "none" {
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
		text += ", where " + describeCondition(r.When, "a path is")
	}
	return text
}

// describeLanes lists the lanes with what each asks, none if there are none.
func describeLanes(p quorum.Policy) string {
	var first, adding strings.Builder
	for i := range p.Lanes {
		lane := &p.Lanes[i]
		into := &first
		if lane.Adds() {
			into = &adding
		}
		fmt.Fprintf(into, "  %s: %s, where %s\n", lane.Name, describeLaneNeed(p, lane), describeCondition(lane.If, "every path is"))
		if lane.Laxer && !lane.Adds() {
			fmt.Fprintf(
				into, "    asks less than the top level: only against the default branch%s, and with no guarded file changed\n",
				describeNamedBases(lane),
			)
		}
	}
	text := ""
	if first.Len() > 0 {
		text += "\nThe first of these lanes that matches holds:\n\n" + first.String()
	}
	if adding.Len() > 0 {
		text += "\nEach of these lanes that matches adds to that:\n\n" + adding.String()
	}
	return text
}

// describeLaneNeed says what must approve in a lane.
func describeLaneNeed(p quorum.Policy, lane *quorum.Lane) string {
	q := policyInLane(p, lane)
	rule := quorumOf(q)
	need := ruleWord(rule) + " of " + countNoun(q.Voters(), "voter")
	if rule.Share == quorum.NoReview {
		need = "no review"
	}
	switch q.People {
	case 0:
		return need
	case 1:
		return need + " and one person"
	}
	return fmt.Sprintf("%s and %d people", need, q.People)
}

func describeNamedBases(lane *quorum.Lane) (text string) {
	for _, base := range config.NamedBases(lane) {
		text += " and " + base
	}
	return text
}

// describeCondition says which pull requests a condition is for; paths is what it says of its paths.
func describeCondition(c quorum.Condition, paths string) string {
	var all []string
	say := func(what string, list []string) {
		if len(list) > 0 {
			all = append(all, what+" "+strings.Join(list, " or "))
		}
	}
	say(paths, c.Paths)
	if len(c.NotPaths) > 0 {
		all[len(all)-1] += " but not " + strings.Join(c.NotPaths, " or ") // a policy has none without paths
	}
	say("a path is", c.AnyPath)
	say("the author is", c.Authors)
	say("a label is", c.Labels)
	say("the base is", c.Base)
	if c.OverLines > 0 {
		all = append(all, fmt.Sprintf("more than %d lines change", c.OverLines))
	}
	return strings.Join(all, " and ")
}
