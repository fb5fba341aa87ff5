package doctor

// The commands that --fix prints. They are printed and never run: a person reads them first. Whatever comes from
// somebody else stands in quotes that a shell takes no character out of.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// quoteShell quotes a text for a POSIX shell. A text that needs no quotes stays as it is.
func quoteShell(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == "" && text[0] != '-' {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ghAPI is a call of GitHub's API by gh, with what is sent as JSON; nil sends nothing.
func (e *examination) ghAPI(method, path string, body any) string {
	host := ""
	if e.Host != "" && e.Host != "github.com" {
		host = " --hostname " + quoteShell(e.Host)
	}
	call := fmt.Sprintf("gh api --method %s%s %s", method, host, quoteShell(path))
	if body == nil {
		return call
	}
	return "printf '%s' " + quoteShell(string(compactJSON(body))) + " | " + call + " --input -"
}

// compactJSON is what is sent, on one line and without a character that a terminal obeys.
func compactJSON(body any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return []byte("{}") // unreachable: what is sent here has no such value
	}
	var plain strings.Builder
	for _, r := range strings.TrimSpace(b.String()) {
		if r < 0x7f {
			plain.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&plain, `\u%04x`, unit)
		}
	}
	return []byte(plain.String())
}

// initCommand writes the policy and the workflows.
func (e *examination) initCommand() string {
	return "coordinator init --repo " + quoteShell(e.Owner+"/"+e.Repo) + " --pull-request"
}

// repoPath is a path of GitHub's API below the repository.
func (e *examination) repoPath(words ...string) string {
	path := "repos/" + url.PathEscape(e.Owner) + "/" + url.PathEscape(e.Repo)
	for _, word := range words {
		path += "/" + url.PathEscape(word)
	}
	return path
}

// checkRule is a rule that requires one check of one App.
func checkRule(check string, app int64) map[string]any {
	required := map[string]any{"context": check}
	if app != 0 {
		required["integration_id"] = app
	}
	return map[string]any{"type": "required_status_checks", "parameters": map[string]any{
		"strict_required_status_checks_policy": false, "required_status_checks": []any{required},
	}}
}

// requireCommand makes a ruleset that requires the check on a base.
func (e *examination) requireCommand(base string) []string {
	ref := "refs/heads/" + base
	if base == e.Branch {
		ref = "~DEFAULT_BRANCH"
	}
	return []string{e.ghAPI("POST", e.repoPath("rulesets"), map[string]any{
		"name": e.Policy.Check, "target": "branch", "enforcement": "active",
		"conditions": map[string]any{"ref_name": map[string]any{"include": []string{ref}, "exclude": []string{}}},
		"rules":      []any{checkRule(e.Policy.Check, e.expectedApp())},
	})}
}

// sourceCommands make the requirements of the check name the App; none where a ruleset is not the repository's own.
func (e *examination) sourceCommands(base Base, r Requirement) []string {
	app := e.expectedApp()
	if app == 0 {
		return nil
	}
	if r.Ruleset == 0 {
		checks := []any{}
		for _, other := range base.Required {
			if other.Ruleset != 0 {
				continue
			}
			id := other.App
			if other.Check == r.Check {
				id = app
			}
			check := map[string]any{"context": other.Check}
			if id != 0 {
				check["app_id"] = id
			}
			checks = append(checks, check)
		}
		path := e.repoPath("branches", base.Name, "protection", "required_status_checks")
		return []string{e.ghAPI("PATCH", path, map[string]any{"checks": checks})}
	}
	return e.rulesetCommand(r.Ruleset, func(required map[string]any) {
		if required["context"] == e.Policy.Check {
			required["integration_id"] = app
		}
	})
}

// rulesetCommand writes a ruleset's rules anew, with a change to each check that it requires: GitHub takes a ruleset's
// rules whole.
func (e *examination) rulesetCommand(id int64, change func(required map[string]any)) []string {
	i := slices.IndexFunc(e.Rulesets, func(r Ruleset) bool { return r.ID == id })
	if i < 0 || e.Rulesets[i].Organization || len(e.Rulesets[i].Rules) == 0 {
		return nil
	}
	rules := []any{}
	for _, raw := range e.Rulesets[i].Rules {
		var rule map[string]any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&rule) != nil {
			return nil
		}
		if rule["type"] == "required_status_checks" {
			parameters, _ := rule["parameters"].(map[string]any)
			checks, _ := parameters["required_status_checks"].([]any)
			for _, c := range checks {
				if required, is := c.(map[string]any); is {
					change(required)
				}
			}
		}
		rules = append(rules, rule)
	}
	return []string{e.ghAPI("PUT", e.repoPath("rulesets", fmt.Sprint(id)), map[string]any{"rules": rules})}
}

// enableCommand switches a workflow on.
func (e *examination) enableCommand(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return e.ghAPI("PUT", e.repoPath("actions", "workflows", name, "enable"), nil)
}

// tokenCommand makes the tokens of jobs read unless a workflow says otherwise, and approve nothing.
func (e *examination) tokenCommand() string {
	return e.ghAPI("PUT", e.repoPath("actions", "permissions", "workflow"),
		map[string]any{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": false})
}
