//go:build !action

package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/doctor"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// sentToAll are events that every App is sent; GitHub refuses a manifest that names one.
var sentToAll = []string{"github_app_authorization", "installation", "installation_repositories", "installation_target", "ping"}

// notSent are names of events that start a job, and that no webhook has or that the daemon has no use for: what a
// person starts by hand is a job, not a pull request.
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

// eventNeeds are the permissions without which GitHub refuses a subscription, as its documentation of each event says.
var eventNeeds = map[string]string{
	"check_run": "checks", "check_suite": "checks", "issue_comment": "issues", "merge_group": "merge_queues", "pull_request": "pull_requests",
	"pull_request_review": "pull_requests", "pull_request_review_comment": "pull_requests", "pull_request_review_thread": "pull_requests",
	"push": "contents", "repository": "metadata", "status": "statuses", "workflow_run": "actions",
}

// An appManifest is what GitHub reads of a manifest.
type appManifest struct {
	Events      []string          `json:"default_events"`
	Permissions map[string]string `json:"default_permissions"`
}

// printedManifest is the manifest that coordinator serve setup prints.
func printedManifest(t *testing.T) (m appManifest) {
	t.Helper()
	code, out, said := runAt(t, "", nil, "serve", "setup", "--webhook", "https://quorum.example.com/webhook", "--print-manifest")
	if err := json.Unmarshal([]byte(out), &m); err != nil || code != 0 || len(m.Events) == 0 || len(m.Permissions) == 0 {
		t.Fatalf("exit %d, %v: %+v%s", code, err, m, said)
	}
	return m
}

// TestTheAppIsToldOfAllThatIsRead: an event that the program can read is in the manifest, or comes to every App.
func TestTheAppIsToldOfAllThatIsRead(t *testing.T) {
	m := printedManifest(t)
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
	m := printedManifest(t)
	for name, level := range m.Permissions {
		if level != "read" && level != "write" {
			t.Errorf("%s: %s", name, level)
		}
	}
	for _, event := range m.Events {
		if need := eventNeeds[event]; m.Permissions[need] == "" {
			t.Errorf("%s needs %q", event, need)
		}
	}
	for _, g := range requiredGrants(t) {
		if has := m.Permissions[strings.ReplaceAll(g[1], "-", "_")]; has != g[2] && has != "write" {
			t.Errorf("%s is needed, %q is asked for", g[0], has)
		}
	}
	for _, name := range []string{"administration", "secrets", "workflows"} {
		if m.Permissions[name] != "" {
			t.Errorf("nothing needs %s", name)
		}
	}
	if m.Permissions["contents"] != "read" || m.Permissions["issues"] != "read" || m.Permissions["members"] != "read" {
		t.Error("the daemon writes no code, no issue and no team")
	}
}

// TestTheManifestGivesReasons: the page lists each permission and each event once, with its reason.
func TestTheManifestGivesReasons(t *testing.T) {
	m := printedManifest(t)
	listed := map[string]bool{}
	rows := regexp.MustCompile(`<tr><td><code>([^<]+)</code></td><td>([^<]*)</td></tr>`)
	s := startSetup(t, sandbox.HubOptions{})
	_, page := s.visit(http.MethodGet, s.page, "", "")
	for _, row := range rows.FindAllStringSubmatch(page, -1) {
		if listed[row[1]] || strings.TrimSpace(row[2]) == "" {
			t.Errorf("%s: once, and with a reason: %q", row[1], row[2])
		}
		listed[row[1]] = true
	}
	for name, level := range m.Permissions {
		if !listed[name+": "+level] {
			t.Errorf("the page does not name %s: %s", name, level)
		}
	}
	for _, event := range m.Events {
		if !listed[event] {
			t.Errorf("the page does not name %s", event)
		}
	}
	if want := len(m.Permissions) + len(m.Events); len(listed) != want {
		t.Errorf("%d are listed, want %d", len(listed), want)
	}
	s.stop()
	s.wait()
}

// TestTheDoctorAsksForWhatIsNeeded: what doctor wants of a job's token is what coordinator run asks an App for, and the
// manifest gives it. A status is written beside a job's check alone, and comments are read with either of two permissions.
func TestTheDoctorAsksForWhatIsNeeded(t *testing.T) {
	m := printedManifest(t)
	needed, useful := doctor.JobRights()
	wanted := map[string]bool{}
	for _, right := range append(needed, useful...) {
		wanted[right] = true
		name, level, _ := strings.Cut(right, ": ")
		if has := m.Permissions[strings.ReplaceAll(name, "-", "_")]; has != level && has != "write" && right != "statuses: write" {
			t.Errorf("doctor wants %s, and the manifest asks for %q", right, has)
		}
	}
	for _, g := range requiredGrants(t) {
		if !wanted[g[0]] && g[0] != "statuses: read" { // the right to write one is wanted
			t.Errorf("%s is needed, and doctor does not want it", g[0])
		}
	}
}

// requiredGrants are the grants that coordinator run asks an App for: those that it cannot do without, and the others.
func requiredGrants(t *testing.T) (all [][]string) {
	t.Helper()
	grant := regexp.MustCompile(`([a-z-]+): (read|write)\b`)
	g, _ := shopOf(t, sandbox.Options{App: sandbox.App{Slug: "quorum-app"}}, []string{"Fix the cart"})
	for _, has := range []string{`"metadata":"read"`, `"actions":"read","checks":"write","contents":"read","pull_requests":"read"`} {
		url, key := appServer(t, g, has)
		_, _, said := runAt(t, url, map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": string(key)}, "run", "--pr", "1", "--hold", "0s")
		_, lacks, _ := strings.Cut(said, "the App quorum-app lacks ")
		all = append(all, grant.FindAllStringSubmatch(lacks, -1)...)
	}
	if len(all) != 7 {
		t.Fatalf("the App is asked for %q", all)
	}
	return all
}
