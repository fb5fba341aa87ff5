package github

// How a repository's check is posted, required and earned, as far as GitHub shows it: for coordinator doctor. It reads
// only. What a token may not read is no error: it is said to be unread.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/doctor"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	setupBases    = 10 // branches besides the default one
	setupRulesets = 30
)

// mergeQueueOf asks whether a branch is merged by a queue: its classic protection tells nobody.
const mergeQueueOf = `query($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) { mergeQueue(branch: $branch) { id } }
}`

// ReadSetup reads how the check of owner/repo is set up. Told is called with each step, for a person who waits.
func ReadSetup(ctx context.Context, f *Forge, owner, repo string, told func(string)) (doctor.Setup, error) {
	r := &setupReader{
		client: f.client, forge: f, told: told,
		s: doctor.Setup{Owner: owner, Repo: repo, Now: f.now()},
	}
	for _, read := range []func(context.Context) error{
		r.readRepository, r.readPolicyFile, r.readBases, r.readRulesets, r.readActions, r.readWorkflows,
		r.readWriters, r.readPulls, r.readDrifts,
	} {
		if err := read(ctx); err != nil {
			return doctor.Setup{}, err
		}
	}
	return r.s, nil
}

// A setupReader reads a set-up, part by part.
type setupReader struct {
	client *client.Client
	forge  *Forge
	told   func(string)
	s      doctor.Setup
}

// path is one below the repository.
func (r *setupReader) path(words ...string) string {
	return client.RepoPath(r.s.Owner, r.s.Repo, words...)
}

// allowUnread notes a part that GitHub does not show to this token; any other error it returns.
func (r *setupReader) allowUnread(part doctor.Part, what, needs string, err error) error {
	if err == nil {
		return nil
	}
	var refused *client.APIError
	if !errors.As(err, &refused) || refused.Status != http.StatusForbidden && refused.Status != http.StatusNotFound {
		return fmt.Errorf("read %s: %w", what, err)
	}
	if said := strings.ReplaceAll(refused.Permission, "=", ": "); said != "" && refused.Missing {
		needs = said
	}
	r.s.Unread = append(r.s.Unread, doctor.Unread{Part: part, What: what, Needs: needs})
	return nil
}

// hasNoPlan reports whether GitHub refuses because the plan of a private repository has no rules: nothing is required.
func hasNoPlan(err error) bool {
	var refused *client.APIError
	return errors.As(err, &refused) && refused.Status == http.StatusForbidden && strings.HasPrefix(refused.Message, "Upgrade to ")
}

// readRepository reads the repository, without which there is nothing to say.
func (r *setupReader) readRepository(ctx context.Context) error {
	r.told("the policy and the rules")
	var about struct {
		restRepo
		Private bool `json:"private"`
	}
	if _, err := r.client.Get(ctx, r.path(), &about); err != nil {
		return fmt.Errorf("read the repository: %w", err)
	}
	r.s.Branch, r.s.Public = about.DefaultBranch, !about.Private
	return nil
}

// readPolicyFile reads the policy.
func (r *setupReader) readPolicyFile(ctx context.Context) error {
	p := r.forge.policyOf(r.s.Owner, r.s.Repo)
	if err := p.readPolicy(ctx); err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	r.s.File, r.s.Policy = p.file, p.policy
	return nil
}

// readBases reads what the default branch requires, and those that lanes name.
func (r *setupReader) readBases(ctx context.Context) error {
	names := []string{r.s.Branch}
	for i := range r.s.Policy.Lanes {
		for _, name := range change.NamedBases(&r.s.Policy.Lanes[i]) {
			if !slices.Contains(names, name) && len(names) <= setupBases {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		base, err := r.readBase(ctx, name)
		if err != nil {
			return err
		}
		r.s.Bases = append(r.s.Bases, base)
	}
	return nil
}

// readBase reads what one branch requires: by rulesets, by its classic protection, and whether a queue merges it.
func (r *setupReader) readBase(ctx context.Context, name string) (doctor.Base, error) {
	base := doctor.Base{Name: name}
	var rules []branchRule
	_, err := r.client.Get(ctx, r.path("rules", "branches")+"/"+client.EscapeSlashed(name)+"?per_page=100", &rules)
	if err != nil && !hasNoPlan(err) {
		what := fmt.Sprintf("which checks the rules of %q require", name)
		if err := r.allowUnread(doctor.RulesPart, what, "metadata: read", err); err != nil {
			return base, err
		}
	}
	for _, rule := range rules {
		base.Queue = base.Queue || rule.Type == "merge_queue"
		for _, c := range rule.Parameters.Checks {
			base.Required = append(base.Required, doctor.Requirement{Check: c.Context, App: max(c.Integration, 0), Ruleset: rule.Ruleset})
		}
	}
	if err := r.readProtection(ctx, &base); err != nil || base.Queue {
		return base, err
	}
	var answer struct {
		Repository *struct {
			Queue *struct {
				ID string `json:"id"`
			} `json:"mergeQueue"`
		} `json:"repository"`
	}
	err = r.client.GraphQL(ctx, mergeQueueOf, map[string]any{"owner": r.s.Owner, "name": r.s.Repo, "branch": name}, &answer)
	if client.IsUnreachable(err) || ctx.Err() != nil {
		return base, fmt.Errorf("ask for the merge queue: %w", err)
	}
	if err != nil || answer.Repository == nil {
		r.s.Unread = append(r.s.Unread, doctor.Unread{
			Part: doctor.QueuePart, What: fmt.Sprintf("whether a queue merges %q", name), Needs: "merge-queues: read",
		})
		return base, nil //nolint:nilerr // it is said to be unread
	}
	base.Queue = answer.Repository.Queue != nil
	return base, nil
}

// readProtection reads a branch's classic protection.
func (r *setupReader) readProtection(ctx context.Context, base *doctor.Base) error {
	var branch protectedBranch
	_, err := r.client.Get(ctx, r.path("branches")+"/"+client.EscapeSlashed(base.Name), &branch)
	if err != nil && !hasNoPlan(err) {
		what := fmt.Sprintf("which checks the protection of %q requires", base.Name)
		return r.allowUnread(doctor.ProtectionPart, what, "contents: read", err)
	}
	if branch.Protection == nil || branch.Protection.Required.Level == "off" {
		return nil
	}
	required := branch.Protection.Required
	for _, c := range required.Checks {
		base.Required = append(base.Required, doctor.Requirement{Check: c.Context, App: max(c.App, 0)})
	}
	if len(required.Checks) == 0 {
		for _, name := range required.Contexts {
			base.Required = append(base.Required, doctor.Requirement{Check: name})
		}
	}
	return nil
}

// readRulesets reads the rulesets of branches, active or not.
func (r *setupReader) readRulesets(ctx context.Context) error {
	type listed struct {
		ID     int64  `json:"id"`
		Target string `json:"target"`
	}
	all, err := readPages[listed](ctx, r.client, nil, r.path("rulesets")+"?includes_parents=true&per_page=100", "")
	if hasNoPlan(err) {
		return nil
	}
	if err != nil {
		return r.allowUnread(doctor.RulesetsPart, "the rulesets", "metadata: read", err)
	}
	all = slices.DeleteFunc(all, func(l listed) bool { return l.Target != "" && l.Target != "branch" })
	for _, l := range all[:min(len(all), setupRulesets)] {
		set, err := r.readRuleset(ctx, l.ID)
		if client.IsNotFound(err) {
			continue // it was deleted just now, or only its organisation's administrators see it
		}
		if err != nil {
			return r.allowUnread(doctor.RulesetsPart, "a ruleset", "metadata: read", err)
		}
		r.s.Rulesets = append(r.s.Rulesets, set)
	}
	return nil
}

// readRuleset reads one ruleset.
func (r *setupReader) readRuleset(ctx context.Context, id int64) (doctor.Ruleset, error) {
	var whole struct {
		ID          int64             `json:"id"`
		Name        string            `json:"name"` // hostile only as far as administrators are
		Source      string            `json:"source_type"`
		Enforcement string            `json:"enforcement"`
		Rules       []json.RawMessage `json:"rules"`
		Conditions  struct {
			Refs struct {
				Include []string `json:"include"`
				Exclude []string `json:"exclude"`
			} `json:"ref_name"`
		} `json:"conditions"`
	}
	if _, err := r.client.Get(ctx, r.path("rulesets", fmt.Sprint(id))+"?includes_parents=true", &whole); err != nil {
		return doctor.Ruleset{}, err
	}
	set := doctor.Ruleset{
		ID: id, Name: whole.Name, Organization: whole.Source != "Repository", Active: whole.Enforcement == "active",
		Include: whole.Conditions.Refs.Include, Exclude: whole.Conditions.Refs.Exclude, Rules: whole.Rules,
	}
	for _, raw := range whole.Rules {
		var rule struct {
			Type       string `json:"type"`
			Parameters struct {
				Checks []requiredCheck `json:"required_status_checks"`
			} `json:"parameters"`
		}
		if err := json.Unmarshal(raw, &rule); err != nil {
			continue // a rule of a shape that nobody knows requires no check
		}
		set.Creation = set.Creation || rule.Type == "creation"
		for _, c := range rule.Parameters.Checks {
			set.Checks = append(set.Checks, doctor.Requirement{Check: c.Context, App: max(c.Integration, 0), Ruleset: id})
		}
	}
	return set, nil
}

// readActions reads what the repository lets Actions do.
func (r *setupReader) readActions(ctx context.Context) error {
	const needs = "administration: read"
	var may struct {
		Enabled *bool  `json:"enabled"`
		Allowed string `json:"allowed_actions"`
	}
	_, err := r.client.Get(ctx, r.path("actions", "permissions"), &may)
	if err := r.allowUnread(doctor.ActionsPart, "which actions may run", needs, err); err != nil {
		return err
	}
	r.s.Actions.Disabled, r.s.Actions.Allowed = may.Enabled != nil && !*may.Enabled, may.Allowed
	if may.Allowed == "selected" {
		var selected struct {
			Patterns []string `json:"patterns_allowed"`
		}
		_, err := r.client.Get(ctx, r.path("actions", "permissions", "selected-actions"), &selected)
		if err != nil {
			r.s.Actions.Allowed = "" // it is not known
		}
		if err := r.allowUnread(doctor.ActionsPart, "which actions are selected", needs, err); err != nil {
			return err
		}
		r.s.Actions.Patterns = selected.Patterns
	}
	var token struct {
		Level    string `json:"default_workflow_permissions"`
		Approves bool   `json:"can_approve_pull_request_reviews"`
	}
	_, err = r.client.Get(ctx, r.path("actions", "permissions", "workflow"), &token)
	r.s.Actions.DefaultAll, r.s.Actions.Approves = token.Level == "write", token.Approves
	return r.allowUnread(doctor.DefaultTokenPart, "what the token of a workflow may do by default", needs, err)
}

// readWorkflows reads the workflow files of the default branch, those of the policy first.
func (r *setupReader) readWorkflows(ctx context.Context) error {
	r.told("workflows")
	all, err := listWorkflows(ctx, r.client, r.s.Owner, r.s.Repo)
	if err != nil {
		return r.allowUnread(doctor.WorkflowsPart, "the workflows", "actions: read", err)
	}
	rank := func(w listedWorkflow) int { // 1: no reviewer has it
		return max(0, -slices.IndexFunc(r.s.Policy.Reviewers, func(q quorum.Reviewer) bool { return q.Workflow == w.Path }))
	}
	slices.SortStableFunc(all, func(a, b listedWorkflow) int { return rank(a) - rank(b) })
	if len(all) > surveyedFiles {
		all = all[:surveyedFiles]
		what := fmt.Sprintf("the workflows beyond the first %d", surveyedFiles)
		r.s.Unread = append(r.s.Unread, doctor.Unread{Part: doctor.WorkflowsPart, What: what})
	}
	r.s.Workflows, err = readWorkflowFiles(ctx, r.client, r.s.Owner, r.s.Repo, all)
	return r.allowUnread(doctor.WorkflowsPart, "the files of the workflows", "contents: read", err)
}

// readWriters reads whether only one person may write, where that matters.
func (r *setupReader) readWriters(ctx context.Context) (err error) {
	if r.s.NeedsOthers() {
		r.s.OnlyWriter, err = readOnlyWriter(ctx, r.client, r.path("collaborators"))
	}
	return r.allowUnread(doctor.WritersPart, "who may write", "the token of somebody who may write, or of an App", err)
}

// readPulls reads what was left on the pull requests that changed last.
func (r *setupReader) readPulls(ctx context.Context) error {
	const what, needs = "what reviewers left on the last pull requests", "actions, checks, issues, pull-requests, statuses: read"
	pulls, err := listLastPulls(ctx, r.client, r.s.Owner, r.s.Repo, surveyed)
	if err != nil {
		return r.allowUnread(doctor.PullsPart, what, needs, err)
	}
	r.told(fmt.Sprintf("what was said and run on the last pull requests (%d)", len(pulls)))
	seen := make([]doctor.SeenPull, len(pulls))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(surveysAtOnce)
	for i, p := range pulls {
		group.Go(func() (err error) {
			seen[i], err = r.readSeenPull(reading, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return r.allowUnread(doctor.PullsPart, what, needs, err)
	}
	r.s.Pulls = seen
	return nil
}

// readSeenPull reads what was left on one pull request; statuses only where one may matter.
func (r *setupReader) readSeenPull(ctx context.Context, p restPull) (doctor.SeenPull, error) {
	seen := doctor.SeenPull{Number: p.Number, Updated: p.Updated, Open: p.State == "open"}
	left, err := readTraces(ctx, r.client, r.s.Owner, r.s.Repo, p)
	if err != nil {
		return seen, err
	}
	seen.Runs, seen.Texts, seen.Checks = left.runs, left.texts, left.checks
	matter := slices.ContainsFunc(r.s.Policy.Reviewers, func(q quorum.Reviewer) bool { return q.Status != "" }) ||
		slices.ContainsFunc(left.checks, func(c quorum.CheckRun) bool {
			return c.Name == r.s.Policy.Check && c.App == quorum.ActionsApp && !c.Job
		})
	if !matter {
		return seen, nil
	}
	var statuses []restStatus
	_, err = r.client.Get(ctx, r.path("commits", p.Head.SHA, "statuses")+"?per_page=100", &statuses)
	if err != nil && !client.IsNotFound(err) && !client.IsUnprocessable(err) {
		return seen, fmt.Errorf("list the statuses of #%d: %w", p.Number, err)
	}
	for i := range statuses {
		seen.Statuses = append(seen.Statuses, statuses[i].toStatus())
	}
	return seen, nil
}

// readDrifts reads how well the reviewers' newest answers were understood.
func (r *setupReader) readDrifts(ctx context.Context) error {
	if r.s.File.State != quorum.FileValid {
		return nil
	}
	const what = "how reviewers' newest answers were understood"
	if r.client.Personal() { // GitHub shows it no check runs
		const needs = "checks: read, which Apps and jobs have"
		r.s.Unread = append(r.s.Unread, doctor.Unread{Part: doctor.AnswersPart, What: what, Needs: needs})
		return nil
	}
	heard, err := r.forge.RecentAnswers(ctx, r.s.Owner, r.s.Repo)
	if client.IsUnreachable(err) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		r.s.Unread = append(r.s.Unread, doctor.Unread{Part: doctor.AnswersPart, What: what, Needs: "checks: read"})
		return nil //nolint:nilerr // it is said to be unread
	}
	r.s.Drifts = quorum.DriftsOf(r.s.Policy, heard)
	return nil
}
