//go:build !action

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github/webhook"
)

// sentToAll are events that every App is sent; GitHub refuses a manifest that names one.
var sentToAll = []string{"github_app_authorization", "installation", "installation_repositories", "installation_target", "ping"}

// notSent are names of events that start a job, and that no webhook has or that the daemon has no use for: what a person
// starts by hand is a job, not a pull request.
var notSent = []string{"pull_request_target", "schedule", "workflow_dispatch"}

// events are what GitHub can send an App.
var events = []string{
	"branch_protection_configuration", "branch_protection_rule", "check_run", "check_suite", "code_scanning_alert", "commit_comment", "create",
	"custom_property", "custom_property_values", "delete", "dependabot_alert", "deploy_key", "deployment", "deployment_protection_rule",
	"deployment_review", "deployment_status", "discussion", "discussion_comment", "fork", "gollum", "issue_comment", "issues", "label",
	"marketplace_purchase", "member", "membership", "merge_group", "meta", "milestone", "org_block", "organization", "package", "page_build",
	"personal_access_token_request", "project", "projects_v2", "projects_v2_item", "public", "pull_request", "pull_request_review",
	"pull_request_review_comment", "pull_request_review_thread", "pull_request_target", "push", "registry_package", "release", "repository",
	"repository_advisory", "repository_dispatch", "repository_import", "repository_ruleset", "repository_vulnerability_alert", "schedule",
	"secret_scanning_alert", "security_advisory", "security_and_analysis", "sponsorship", "star", "status", "sub_issues", "team", "team_add",
	"watch", "workflow_dispatch", "workflow_job", "workflow_run",
}

// TestTheAppIsToldOfAllThatIsRead: an event that the program can read is in the manifest, or comes to every App.
func TestTheAppIsToldOfAllThatIsRead(t *testing.T) {
	m, err := manifestCmd{Webhook: "https://quorum.example.com/webhook", Name: "n", URL: "https://octo.example"}.buildManifest()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range events {
		e, err := webhook.Parse(name, []byte("{}"))
		if err == nil && strings.Contains(e.Idle, "names no pull request that we know of") {
			if slices.Contains(m.Events, name) {
				t.Errorf("%s is asked for and not read", name)
			}
			continue
		}
		if read++; !slices.Contains(m.Events, name) && !slices.Contains(notSent, name) {
			t.Errorf("%s is read and not asked for", name)
		}
	}
	if read < 10 {
		t.Errorf("only %d events are read", read)
	}
	for _, name := range m.Events {
		if slices.Contains(sentToAll, name) || !slices.Contains(events, name) {
			t.Errorf("GitHub refuses a manifest that subscribes to %s", name)
		}
	}
	if !slices.IsSorted(m.Events) {
		t.Errorf("in no order: %q", m.Events)
	}
}

// TestTheAppMayDoWhatItDoes: no event without its permission, and every permission that a command asks an App for.
func TestTheAppMayDoWhatItDoes(t *testing.T) {
	level := map[string]string{}
	for _, p := range appPermissions {
		if p.reason == "" || level[p.Name] != "" || p.Level != "read" && p.Level != "write" {
			t.Errorf("%s: once, and with a reason", p)
		}
		level[p.Name] = p.Level
	}
	for _, s := range appEvents {
		if s.reason == "" || level[s.permission] == "" {
			t.Errorf("%s needs %s, and a reason", s.event, s.permission)
		}
	}
	must, should := writeAccess.neededGrants()
	for _, g := range slices.Concat(must, should) {
		if has := level[g.Name]; has != g.Level && has != "write" {
			t.Errorf("%s is needed, %q is asked for", g, has)
		}
	}
	for _, name := range []string{"administration", "members", "secrets", "workflows"} {
		if level[name] != "" {
			t.Errorf("nothing needs %s", name)
		}
	}
	if level["contents"] != "read" || level["issues"] != "read" {
		t.Error("the daemon writes no code, and no issue")
	}
}
