package coordinator_test

// The laws of everything that GitHub Actions reads here: the action, our own workflows, and the examples that people
// copy. They say, as far as one can without a network, what zizmor and GitHub's own advice ask for: nothing foreign
// reaches a shell, nothing of a pull request is checked out, no job may do more than it says why.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
	reading "github.com/review-coordinator/coordinator/internal/review"
)

// pins are the actions of others that we use. A tag can be moved, and a commit cannot.
var pins = map[string]string{
	"actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1":                "v7.0.1",
	"actions/setup-go@b7ad1dad31e06c5925ef5d2fc7ad053ef454303e":                "v7.0.0",
	"actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f":         "v7.0.0",
	"actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c":       "v8.0.1",
	"actions/attest-build-provenance@a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32": "v4.1.0",
	"anthropics/claude-code-action@24dcd50c0568f0fc9e9211213a4fd2d9eb15c4e0":   "v1.0.200",
	"openai/codex-action@e0fdf01220eb9a88167c4898839d273e3f2609d1":             "v1.8",
}

// ourselves is what an example uses: who copies one and wants more writes a release's commit there.
const ourselves = "review-coordinator/coordinator@v1"

// verdictStep is what an example of a reviewer ends with.
const verdictStep = "review-coordinator/coordinator/verdict@v1"

// A workflow is as much of a workflow file as there are laws about.
type workflow struct {
	Name        string            `yaml:"name"`
	On          map[string]any    `yaml:"on"` // by event: only the names of the events are used here
	Permissions map[string]string `yaml:"permissions"`
	Concurrency concurrency       `yaml:"concurrency"`
	Env         map[string]string `yaml:"env"`
	Defaults    map[string]any    `yaml:"defaults"`
	Jobs        map[string]job    `yaml:"jobs"`

	file, text string
}

type concurrency struct {
	Group  string `yaml:"group"`
	Cancel string `yaml:"cancel-in-progress"`
	Queue  string `yaml:"queue"`
}

type job struct {
	Name        string            `yaml:"name"`
	RunsOn      string            `yaml:"runs-on"`
	Timeout     int               `yaml:"timeout-minutes"`
	If          string            `yaml:"if"`
	Concurrency concurrency       `yaml:"concurrency"`
	Uses        string            `yaml:"uses"`
	Secrets     any               `yaml:"secrets"`
	Container   any               `yaml:"container"`
	Services    any               `yaml:"services"`
	Environment string            `yaml:"environment"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Strategy    struct {
		Matrix map[string][]string `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []step `yaml:"steps"`
}

type step struct {
	ID    string            `yaml:"id"`
	Name  string            `yaml:"name"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	With  map[string]string `yaml:"with"`
	Run   string            `yaml:"run"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
}

// An action is action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string } `yaml:"inputs"`
	Outputs map[string]struct{ Description, Value string }   `yaml:"outputs"`
	Runs    struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

func readYAML(t *testing.T, file string, into any) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	return string(text)
}

func workflows(t *testing.T) (all []workflow) {
	t.Helper()
	for _, pattern := range []string{".github/workflows/*.y*ml", "examples/*.y*ml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 3 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			w := workflow{file: filepath.ToSlash(file)}
			w.text = readYAML(t, file, &w)
			all = append(all, w)
		}
	}
	return all
}

func (w workflow) example() bool { return strings.HasPrefix(w.file, "examples/") }

// breaches are the laws that w breaks.
func (w workflow) breaches() (found []string) {
	says := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if w.Name == "" {
		says("it has no name")
	}
	if len(w.On) == 0 || len(w.Jobs) == 0 {
		says("it has no trigger or no job")
	}
	// What a job may do stands at the job, beside the reason; the rest of them may do nothing.
	if w.Permissions == nil || len(w.Permissions) > 0 {
		says("permissions of the workflow are not {}")
	}
	for _, line := range strings.Split(w.text, "\n") {
		grant, comment, _ := strings.Cut(line, "#")
		if regexp.MustCompile(`^\s+[a-z-]+: (read|write)\s*$`).MatchString(grant) && strings.TrimSpace(comment) == "" {
			says("%q does not say what for", strings.TrimSpace(line))
		}
		if name := strings.TrimSuffix(strings.TrimSpace(grant), ":"); (name == "pull_request_target" || name == "workflow_run") &&
			!regexp.MustCompile(`^ zizmor: ignore\[dangerous-triggers\] .{10}`).MatchString(comment) {
			says("%s does not say why it is safe here", name)
		}
		if uses, found := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(grant), "- "), "uses: "); found {
			uses = strings.TrimSpace(uses)
			switch version, pinned := pins[uses]; {
			case uses == "./" && !w.example(), uses == ourselves && w.example(), uses == verdictStep && w.example():
			case !pinned:
				says("%s is not pinned to a commit that workflows_test.go knows", uses)
			case strings.TrimSpace(comment) != version:
				says("%s is %s, not %s", uses, version, comment)
			}
		}
	}
	for _, word := range []string{
		"write-all", "read-all", "toJSON(secrets)", "toJson(secrets)", "GITHUB_ENV", "GITHUB_PATH", "ACTIONS_ALLOW_UNSECURE_COMMANDS",
		"github.actor", "triggering_actor", "allow-unsafe-pr-checkout", "self-hosted", "continue-on-error", "uses: docker://", "set-output", "add-path",
	} {
		if strings.Contains(w.text, word) {
			says("it says %s", word)
		}
	}
	if w.Env != nil || w.Defaults != nil {
		says("env or defaults for all jobs: give it to the step that needs it")
	}
	found = append(found, w.group()...)
	found = append(found, w.commentBreaches()...)
	found = append(found, w.reviewerBreaches()...)
	for _, event := range []string{"pull_request", "pull_request_review"} {
		_, hears := w.On[event]
		for id, j := range w.Jobs {
			if hears && w.example() && j.If != "false" && !w.isReviewer() {
				says("job %s: %s runs the pull request's own file: only a bell may listen to it", id, event)
			}
		}
	}
	for id, j := range w.Jobs {
		for _, b := range w.jobBreaches(j) {
			says("job %s: %s", id, b)
		}
	}
	return found
}

// heads is where each event names the commit that it is about; these share a group, for a check belongs to a commit.
var heads = map[string]string{
	"pull_request":        "github.event.pull_request.head.sha",
	"pull_request_target": "github.event.pull_request.head.sha",
	"pull_request_review": "github.event.pull_request.head.sha",
	"workflow_run":        "github.event.workflow_run.head_sha",
	"check_run":           "github.event.check_run.head_sha",
	"status":              "github.event.sha",
	"workflow_dispatch":   "inputs.pr",
	"issue_comment":       "github.event.issue.number",
}

// group returns the laws of concurrency that w breaks. GitHub takes a group at the top before it looks at a job's if: a
// run that is skipped would cancel one that works, or push one out that waits.
func (w workflow) group() (found []string) {
	for id, j := range w.Jobs {
		says := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("job %s: ", id)+fmt.Sprintf(format, args...))
		}
		c := j.Concurrency
		isOurs := slices.ContainsFunc(j.Steps, func(s step) bool { return s.Uses == ourselves || s.Uses == "./" })
		switch _, scheduled := w.On["schedule"]; {
		case !isOurs || w.file == ".github/workflows/ci.yml" || w.file == ".github/workflows/release.yml":
			continue
		case w.Concurrency.Group != "":
			says("the group is the workflow's, not the job's")
		case !strings.HasPrefix(c.Group, "review-quorum-"):
			says("it has no concurrency group")
		case c.Cancel != "false":
			says("it may be cancelled, which leaves a cancelled check on the head")
		case c.Group == "review-quorum-sweep": // no event of a pull request here, and the newest sweep is enough
			if len(w.On) > 2 || c.Queue != "" {
				says("a sweep is alone in its group, and the newest is enough")
			}
			continue
		case c.Queue != "max":
			says("of those that wait all but the newest are cancelled")
		case scheduled && !strings.Contains(c.Group, "sweep"):
			says("a schedule has no group of its own")
		}
		for event := range w.On {
			if expr := heads[event]; expr != "" && !strings.Contains(c.Group, expr) {
				says("the group of %s does not name %s", event, expr)
			}
		}
	}
	return found
}

// commentsThatStart is whose comments start a job of the coordinator: bots', but not our own, which would start a job at each
// edit, and members' commands.
const commentsThatStart = `github.event_name != 'issue_comment' || ` +
	`github.event.issue.pull_request && (github.event.comment.user.type == 'Bot' && ` +
	`!startsWith(github.event.comment.body, '` + ourComments + `') || ` +
	`startsWith(github.event.comment.body, '/review-coordinator') && ` +
	`contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.comment.author_association))`

// ourComments is how each comment of the coordinator begins.
const ourComments = "<!-- review-coordinator"

// commentBreaches returns the laws that w breaks of whose comments start a job.
func (w workflow) commentBreaches() (found []string) {
	for id, j := range w.Jobs {
		if _, hears := w.On["issue_comment"]; hears && !strings.HasPrefix(strings.Join(strings.Fields(j.If), " "), "("+commentsThatStart+")") {
			found = append(found, fmt.Sprintf("job %s: comments start it that should not, or the other way round", id))
		}
	}
	return found
}

// TestOurCommentsAreKnown: what the coordinator says in a comment is what starts no job.
func TestOurCommentsAreKnown(t *testing.T) {
	if !strings.HasPrefix(quorum.VerdictMarker, ourComments+" ") {
		t.Errorf("a comment that begins with %q starts a job", quorum.VerdictMarker)
	}
}

// isFix reports whether it is the example that mends a change: nothing but a dispatch starts it, and it runs nothing of
// the head that it checks out.
func (w workflow) isFix() bool {
	_, dispatched := w.On["workflow_dispatch"]
	return w.example() && dispatched && len(w.On) == 1 && strings.Contains(w.text, "\nrun-name: \"fix #")
}

// isReviewer reports whether w is a reviewer's workflow, and none of the coordinator's.
func (w workflow) isReviewer() bool {
	uses := func(name string) bool {
		for _, j := range w.Jobs {
			if slices.ContainsFunc(j.Steps, func(s step) bool { return s.Uses == name }) {
				return true
			}
		}
		return false
	}
	return uses(verdictStep) && !uses(ourselves)
}

// headOfPull is the commit that a reviewer checks out.
const headOfPull = "${{ github.event.pull_request.head.sha }}"

// reviewerBreaches returns the laws of a reviewer's workflow that w breaks. It runs the pull request's own file and
// reads its code: so it may write nothing, runs nothing of it, and only its verdict leaves the job, by the last step.
func (w workflow) reviewerBreaches() (found []string) {
	if !w.isReviewer() {
		return nil
	}
	says := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if _, hears := w.On["pull_request"]; !hears || len(w.On) > 1 {
		says("a reviewer listens to pull_request alone")
	}
	if !strings.HasSuffix(w.Concurrency.Group, "-review-${{ github.event.pull_request.number }}") || w.Concurrency.Cancel != "true" {
		says("a review of an older commit is not cancelled")
	}
	if len(w.Jobs) != 1 {
		says("it has several jobs: what runs again asks the model again")
	}
	for id, j := range w.Jobs {
		if privileged(j) {
			says("job %s: a reviewer writes nothing", id)
		}
		for i, s := range j.Steps {
			if name, _, _ := strings.Cut(s.Uses, "@"); name == "actions/checkout" && s.With["ref"] != headOfPull {
				says("job %s: it reviews another commit than the head", id)
			}
			if isLast := i == len(j.Steps)-1; isLast != (s.Uses == verdictStep) {
				says("job %s: the verdict is not its last step", id)
			}
			if regexp.MustCompile(`(^|[\s;&|(])(\./|(ba|z)?sh |make|npm|go |python)`).MatchString(s.Run) {
				says("job %s: it runs what the pull request brings: %s", id, s.Run)
			}
			for line := range strings.Lines(s.Run) { // the change may call its own files binary, and then none of it is shown
				if strings.Contains(line, "git diff ") && !strings.Contains(line, "--name-status") && !strings.Contains(line, "--text") {
					says("job %s: what has -diff in .gitattributes is not shown: git diff --text", id)
				}
			}
		}
	}
	return found
}

func (w workflow) jobBreaches(j job) (found []string) {
	says := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	most := 60
	if strings.HasSuffix(w.file, "/deep.yml") { // a search by night takes what GitHub gives a job
		most = 359
	}
	if j.Name == "" || j.Timeout == 0 || j.Timeout > most {
		says("it has no name, or no timeout within %d minutes", most)
	}
	if j.Permissions == nil {
		says("it does not say what it may do")
	}
	if j.Uses != "" || j.Secrets != nil || j.Container != nil || j.Services != nil || j.Env != nil {
		says("no reusable workflow, container, service, or env for all steps here")
	}
	for _, system := range append(j.Strategy.Matrix["os"], j.RunsOn) {
		if !slices.Contains([]string{"ubuntu-latest", "macos-latest", "windows-latest", "${{ matrix.os }}"}, system) {
			says("it runs on %s", system)
		}
	}
	if strings.Contains(j.If, "${{") {
		says("if: with ${{ in it is always true once there is text beside it")
	}
	_, hostile := w.On["pull_request_target"]
	for i, s := range j.Steps {
		found = append(found, stepBreaches(i, s)...)
		switch name, _, _ := strings.Cut(s.Uses, "@"); name {
		case "actions/checkout":
			if hostile || w.example() && !w.isReviewer() && !w.isFix() {
				says("a checkout has no place beside pull_request_target, nor in an example")
			}
			if s.With["persist-credentials"] != "false" {
				says("the checkout leaves the token behind")
			}
			for key := range s.With {
				if key != "persist-credentials" && key != "fetch-depth" && !(key == "ref" && (w.isReviewer() || w.isFix())) {
					says("the checkout is of something else: %s", key)
				}
			}
		case "actions/setup-go":
			// What is checked is what a release is built with; a matrix adds other versions.
			if s.With["go-version-file"] != "scripts/go-version" && s.With["go-version"] != "${{ matrix.go }}" {
				says("its Go is not that of scripts/go-version")
			}
			// A cache can be written by any workflow of the branch.
			if privileged(j) || strings.Contains(w.text, "    tags: [") {
				if s.With["cache"] != "false" {
					says("what it builds can come from a cache")
				}
			}
		}
	}
	return found
}

func privileged(j job) bool {
	for _, access := range j.Permissions {
		if access == "write" {
			return true
		}
	}
	return false
}

// stepBreaches holds for steps of jobs and of the action.
func stepBreaches(i int, s step) (found []string) {
	says := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("step %d: ", i+1)+fmt.Sprintf(format, args...))
	}
	if (s.Run == "") == (s.Uses == "") {
		says("it neither runs nor uses something, or both")
	}
	if s.Run != "" && s.Name == "" {
		says("it has no name")
	}
	for what, text := range map[string]string{"run": s.Run, "shell": s.Shell, "uses": s.Uses, "if": s.If, "name": s.Name, "id": s.ID} {
		if strings.Contains(text, "${{") {
			says("%s is put together from ${{ }}: pass it through env", what)
		}
	}
	if regexp.MustCompile(`\beval\b|curl[^|]*\|\s*(ba)?sh|\bsudo\b|set-output|::`).MatchString(s.Run) {
		says("its script evaluates, or writes a workflow command: %s", s.Run)
	}
	return found
}

func TestWorkflowsKeepTheLaws(t *testing.T) {
	for _, w := range workflows(t) {
		for _, breach := range w.breaches() {
			t.Errorf("%s: %s", w.file, breach)
		}
	}
}

// TestTheLawsBite: each of these changes to a lawful workflow is noticed.
func TestTheLawsBite(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, says string }{
		{
			"a tag instead of a commit", ".github/workflows/ci.yml",
			"actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@v7", "not pinned",
		},
		{"another Go", ".github/workflows/ci.yml", "go-version-file: scripts/go-version", "go-version: stable", "not that of scripts/go-version"},
		{"another commit", ".github/workflows/ci.yml", "checkout@3d3c", "checkout@3d3d", "not pinned"},
		{"a wrong comment", ".github/workflows/ci.yml", "# v7.0.1", "# v7.0.2", "is v7.0.1"},
		{"interpolation", "examples/waiting-job.yml", `echo "$VERDICT`, `echo "${{ steps.quorum.outputs.verdict }}`, "pass it through env"},
		{"no permissions", "examples/manual.yml", "permissions: {}\n", "", "not {}"},
		{"permissions for all jobs", "examples/manual.yml", "permissions: {}", "permissions:\n  contents: read # all", "not {}"},
		{"everything", "examples/manual.yml", "permissions: {}", "permissions: write-all", "write-all"},
		{"a job that does not say", ".github/workflows/ci.yml", "    permissions: {}\n", "", "what it may do"},
		{"no reason", "examples/manual.yml", "checks: write # post the check", "checks: write", "what for"},
		{"a token left behind", ".github/workflows/ci.yml", "persist-credentials: false", "persist-credentials: true", "leaves the token"},
		{"a checkout of the head", ".github/workflows/review-quorum.yml", "persist-credentials: false", "ref: ${{ github.event.workflow_run.head_sha }}\n          persist-credentials: false", "something else: ref"},
		{
			"a checkout beside the target", ".github/workflows/review-quorum.yml", "  issue_comment:",
			"  pull_request_target:\n  issue_comment:", "no place beside",
		},
		{"no reason for a trigger", "examples/waiting-job.yml", "# zizmor: ignore[dangerous-triggers]", "#", "why it is safe"},
		{"no group", "examples/manual.yml", "concurrency:", "x-concurrency:", "no concurrency group"},
		{"a group for the workflow", "examples/manual.yml", "jobs:\n", "concurrency: {group: x}\njobs:\n", "not the job's"},
		{"a job that is cancelled", "examples/manual.yml", "cancel-in-progress: false", "cancel-in-progress: true", "may be cancelled"},
		{"only one waits", "examples/manual.yml", "      queue: max", "      # queue: max", "all but the newest"},
		{"all sweeps wait", "examples/schedule-sweep.yml", "cancel-in-progress: false", "cancel-in-progress: false\n      queue: max", "the newest is enough"},
		{
			"a group by branch", "examples/waiting-job.yml", "github.event.pull_request.head.sha ||",
			"github.head_ref ||", "does not name github.event.pull_request.head.sha",
		},
		{"a sweep among the others", ".github/workflows/review-quorum.yml", "github.event_name == 'schedule' && 'sweep' || ", "", "group of its own"},
		{"a cache in a release", ".github/workflows/release.yml", "cache: false", "cache: true", "from a cache"},
		{"no timeout", "examples/manual.yml", "    timeout-minutes: 60\n", "", "timeout"},
		{"an environment for later steps", "examples/waiting-job.yml", `echo "$VERDICT`, `echo "V=$VERDICT" >> "$GITHUB_ENV"; echo "$VERDICT`, "GITHUB_ENV"},
		{"a workflow command", "examples/waiting-job.yml", `echo "$VERDICT`, `echo "::notice::$VERDICT`, "workflow command"},
		{"a bot by its name", "examples/event-driven.yml", "github.event_name != 'issue_comment' ||", "github.actor == 'x[bot]' ||", "github.actor"},
		{"an if that is always true", "examples/event-driven.yml", "(github.event_name != 'issue_comment' ||", "${{ github.event_name }} && (github.event_name != 'issue_comment' ||", "always true"},
		{"our own comment", "examples/with-app-token.yml", "      !startsWith(github.event.comment.body, '<!-- review-coordinator') ||\n", "", "comments start it"},
		{"a stranger's comment", "examples/event-driven.yml", `"COLLABORATOR"]`, `"COLLABORATOR", "NONE"]`, "comments start it"},
		{"a reviewer that comments", "examples/reviewer-claude.yml", "pull-requests: read #", "pull-requests: write #", "writes nothing"},
		{"a reviewer of the target", "examples/reviewer-codex.yml", "pull_request:", "pull_request_target: # zizmor: ignore[dangerous-triggers] it is safe", "no place beside"},
		{"a reviewer of the merge", "examples/reviewer-codex.yml", "          ref: ${{ github.event.pull_request.head.sha }}\n", "", "another commit"},
		{"a reviewer that runs the change", "examples/reviewer-script.yml", "set -o pipefail", "make answer", "what the pull request brings"},
		{"a reviewer that is not cancelled", "examples/reviewer-script.yml", "cancel-in-progress: true", "cancel-in-progress: false", "older commit"},
		{
			"a reviewer that goes on", "examples/reviewer-script.yml",
			"          file: ${{ runner.temp }}/answer.json", "          file: x\n      - name: x\n        run: echo x", "last step",
		},
		{"a verdict in the coordinator's job", "examples/manual.yml", "      - uses: review-coordinator/coordinator@v1", "      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n      - uses: review-coordinator/coordinator/verdict@v1\n      - uses: review-coordinator/coordinator@v1", "no place beside"},
		{"a diff that the change can hide from", "examples/reviewer-codex.yml", "git diff --text", "git diff", "-diff in .gitattributes"},
		{"our own machine", "examples/manual.yml", "ubuntu-latest", "self-hosted", "self-hosted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w workflow
			text, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			w.text = strings.ReplaceAll(string(text), c.old, c.new)
			if w.text == string(text) {
				t.Fatalf("%s does not say %q", c.file, c.old)
			}
			if err := yaml.Unmarshal([]byte(w.text), &w); err != nil && c.name != "everything" {
				t.Fatal(err)
			}
			w.file = c.file
			if breaches := strings.Join(w.breaches(), "\n"); !strings.Contains(breaches, c.says) {
				t.Errorf("found only: %s", breaches)
			}
		})
	}
}

// outputs are what the action promises (and the program writes).
var outputs = []string{
	"verdict", "conclusion", "approvals", "need", "unavailable", "reruns", "check-run-id", "check-url", "next-check-at", "lane", "need-people", "people",
	"decision",
}

func TestTheAction(t *testing.T) {
	var a action
	text := readYAML(t, "action.yml", &a)
	if a.Runs.Using != "composite" {
		t.Errorf("it is %s", a.Runs.Using)
	}
	program := programText(t)
	for _, name := range outputs {
		if got, want := a.Outputs[name].Value, "${{ steps.run.outputs."+name+" }}"; got != want || a.Outputs[name].Description == "" {
			t.Errorf("output %s is %q: %s", name, got, a.Outputs[name].Description)
		}
		if !strings.Contains(program, `"`+name+`"`) {
			t.Errorf("the program writes no output %s", name)
		}
	}
	if len(a.Outputs) != len(outputs) {
		t.Errorf("%d outputs, %d are promised", len(a.Outputs), len(outputs))
	}
	inputs := []string{"token", "app-id", "app-private-key", "config", "policy-repository", "pr", "wait", "hold", "poll", "dry-run", "fail-on"}
	for _, name := range inputs {
		if a.Inputs[name].Description == "" || strings.Count(text, "${{ inputs."+name+" }}") != 1 {
			t.Errorf("input %s is not described, or not passed on once", name)
		}
	}
	if len(a.Inputs) != len(inputs) {
		t.Errorf("%d inputs, %d are promised", len(a.Inputs), len(inputs))
	}
	script, err := os.ReadFile("scripts/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range a.Runs.Steps {
		for _, breach := range stepBreaches(i, s) {
			t.Errorf("action.yml: %s", breach)
		}
		if s.Uses != "" || s.Shell != "bash" {
			t.Errorf("step %d: the action uses no other one, and bash alone", i+1)
		}
		if secret := strings.Join(slices.Collect(valuesOf(s.Env)), " "); s.ID != "run" && secret != "" {
			t.Errorf("step %s is given %s", s.ID, secret)
		}
		for name := range s.Env {
			if strings.HasPrefix(name, "INPUT_") && !strings.Contains(string(script), "${"+name+":-}") {
				t.Errorf("scripts/run.sh does not read %s", name)
			}
		}
	}
}

// TestTheVerdictStep: what a model said reaches the script through the environment, and the step uses no program of
// others but the one that uploads.
func TestTheVerdictStep(t *testing.T) {
	const file = "verdict/action.yml"
	var a action
	text := readYAML(t, file, &a)
	script, err := os.ReadFile("scripts/verdict.sh")
	if err != nil || a.Runs.Using != "composite" {
		t.Fatalf("it is %s, and its script: %v", a.Runs.Using, err)
	}
	inputs := []string{"structured-output", "final-message", "file", "name", "min-severity", "head", "base", "changed"}
	for _, name := range inputs {
		if a.Inputs[name].Description == "" || strings.Count(text, "${{ inputs."+name+" }}") != 1 {
			t.Errorf("input %s is not described, or not passed on once", name)
		}
	}
	if len(a.Inputs) != len(inputs) {
		t.Errorf("%d inputs, %d are promised", len(a.Inputs), len(inputs))
	}
	program := programText(t)
	for name, out := range a.Outputs {
		step, key, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(out.Value, "${{ steps."), " }}"), ".outputs.")
		if out.Description == "" || key != name || step != "upload" && (step != "make" || !strings.Contains(program, `"`+name+`"`)) {
			t.Errorf("output %s is %q: %s", name, out.Value, out.Description)
		}
	}
	for i, s := range a.Runs.Steps {
		for _, breach := range stepBreaches(i, s) {
			t.Errorf("%s: %s", file, breach)
		}
		if version, pinned := pins[s.Uses]; s.Uses != "" && (!pinned || !strings.Contains(text, s.Uses+" # "+version+"\n")) {
			t.Errorf("%s: %s is not pinned", file, s.Uses)
		}
		if s.ID == "upload" && (s.With["overwrite"] != "true" || s.With["if-no-files-found"] != "error" || s.With["path"] != "${{ steps.make.outputs.file }}") {
			t.Errorf("%s: it uploads %v", file, s.With)
		}
		for name := range s.Env {
			if strings.HasPrefix(name, "INPUT_") && !strings.Contains(string(script), "${"+name+":") {
				t.Errorf("scripts/verdict.sh does not read %s", name)
			}
		}
	}
}

// TestExamplesGiveTheSchema: there is one schema, the program's, and each reviewer gives it to its model.
func TestExamplesGiveTheSchema(t *testing.T) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(reading.AnswerSchema())); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, w := range workflows(t) {
		if !w.isReviewer() {
			continue
		}
		given := ""
		for _, s := range w.Jobs["review"].Steps {
			_, arguments, _ := strings.Cut(s.With["claude_args"], "--json-schema '")
			given += strings.TrimSuffix(strings.TrimSpace(arguments), "'") + s.With["output-schema"] + s.Env["SCHEMA"]
		}
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(given)); err != nil || got.String() != compact.String() {
			t.Errorf("%s: its schema is not that of coordinator verdict schema: %v\n%s", w.file, err, given)
		}
		told++
	}
	if told != 3 {
		t.Errorf("%d examples of reviewers", told)
	}
}

func valuesOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// programText is the source of the command.
func programText(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("cmd/coordinator/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// TestOurOwnPolicy: what we ask of others holds for us.
func TestOurOwnPolicy(t *testing.T) {
	const file = ".github/review-coordinator.yml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.Parse(file, text); err != nil {
		t.Error(err)
	}
}
