//go:build !action

package main

// What config check prints, as JSON or in the words of policy_text.txt.

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A policyJSON is a policy file, valid or with its problems.
type policyJSON struct {
	File      string              `json:"file"`
	Valid     bool                `json:"valid"`
	Check     string              `json:"check,omitempty"`
	Mode      string              `json:"mode,omitempty"` // enforce, report or off
	Need      int                 `json:"need,omitempty"`
	Voters    int                 `json:"voters,omitempty"`
	People    quorum.People       `json:"people,omitempty"`   // approvals by people, on top of the need
	Families  string              `json:"families,omitempty"` // any or distinct
	Carry     string              `json:"carry,omitempty"`    // none or same_diff
	Override  string              `json:"override,omitempty"` // none, maintain or admin
	Grace     string              `json:"grace,omitempty"`
	Deadline  string              `json:"deadline,omitempty"`
	Lanes     []laneJSON          `json:"lanes,omitempty"`
	Reviewers []reviewerJSON      `json:"reviewers,omitempty"`
	Origins   []quorum.Origin     `json:"origins,omitempty"` // from where keys come, with --organization
	Problems  []config.Diagnostic `json:"problems"`
	Warnings  []config.Diagnostic `json:"warnings"`
	Against   *againstJSON        `json:"against,omitempty"` // what it would have decided, with --against

	// For the text alone.
	IsValid string `json:"-"` // says so, perhaps with a colour
	Varies  string `json:"-"` // the quorum, where it depends on who votes
	From    string `json:"-"` // from where keys come
}

type reviewerJSON struct {
	Name    string           `json:"name"`
	Role    string           `json:"role"` // votes, required, shadow or retired
	Source  string           `json:"source"`
	Timeout string           `json:"timeout"`
	Family  string           `json:"family,omitempty"`
	When    quorum.Condition `json:"when,omitzero"` // the pull requests on which it votes

	// For the text alone.
	Where, InsteadOf string   `json:"-"`
	After            []string `json:"-"`
}

//go:embed policy_text.txt
var policyTextSource string

// policyText says in words who votes, how many must approve, and how long they have.
var policyText = template.Must(template.New("policy").Funcs(template.FuncMap{
	"count": countNoun, "people": describePeopleRule, "join": strings.Join, "oneLine": oneLine,
}).Parse(policyTextSource + againstSource))

func policyAsJSON(path string, p quorum.Policy, warnings []config.Diagnostic) policyJSON {
	out := policyJSON{
		File: path, Valid: true, Check: p.Check, Mode: policyWord(p.Mode, ""), Need: p.Need, Voters: p.Voters(),
		People: p.People, Families: policyWord(p.Families, "any"), Carry: policyWord(p.Carry, "none"),
		Override: policyWord(p.Override, "none"), Lanes: lanesAsJSON(p), Origins: p.Origins, From: describeOrigins(p.Origins),
		Grace: config.Duration(p.Grace).String(), Deadline: config.Duration(p.Deadline).String(),
		Problems: []config.Diagnostic{}, Warnings: append([]config.Diagnostic{}, warnings...),
	}
	for _, r := range p.Reviewers {
		out.Reviewers = append(out.Reviewers, reviewerJSON{
			Name: r.Name, Role: roleOf(r), Source: sourceOf(r), Timeout: config.Duration(r.Timeout).String(),
			Family: r.Family, When: r.When,
			Where: describeCondition(r.When, false), InsteadOf: r.InsteadOf, After: r.After,
		})
		if rule := quorumOf(p); r.Voter() && r.When.Names() && (rule.Share == quorum.Majority || rule.Share == quorum.All) {
			out.Varies = ruleWord(rule)
		}
	}
	return out
}
