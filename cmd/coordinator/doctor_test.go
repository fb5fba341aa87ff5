//go:build !action

package main

// coordinator doctor on a whole repository: what it reads, what it says, and what it leaves alone.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/examples"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// examinedShop is a repository that is set up as the README says, with four reviewed pull requests.
func examinedShop(t *testing.T, as sandbox.Options, settings sandbox.Settings) *sandbox.GitHub {
	t.Helper()
	g := sandbox.New(as)
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: all\nsweep: {batch_delay: 0s}\nreviewers:\n"+
		"  - {name: openai, workflow: .github/workflows/openai.yml, heading: \"## OpenAI review\"}\n  - {name: sage, author: \"sage[bot]\"}\n")
	g.SetFile(".github/workflows/openai.yml", "", "name: OpenAI review\non: pull_request\njobs: {review: {steps: [{run: ./review}]}}\n")
	g.SetFile(".github/workflows/review-bell.yml", "", string(examples.Bell()))
	g.SetFile(".github/workflows/review-coordinator.yml", "", strings.Replace(
		string(examples.EventDriven()), "[Review bell, OpenAI review, Gemini review]", "[Review bell, OpenAI review]", 1,
	))
	sandbox.Configure(g, settings)
	for n := 1; n <= 4; n++ {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
		id, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "OpenAI review", PR: n})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Comment(n, "github-actions[bot]", "## OpenAI review\n\n**Ready to merge?** Yes"); err != nil {
			t.Fatal(err)
		}
		if _, err := g.FinishRun(id, sandbox.Finish{}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Review(n, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Good."}); err != nil {
			t.Fatal(err)
		}
	}
	if as.App.ID != 0 {
		return g // its key is another test's
	}
	if code, out, said := commandOn(t, g)(nil, "sweep"); code != 0 {
		t.Fatalf("sweep: exit %d: %s%s", code, out, said)
	}
	g.ForgetRequests()
	return g
}

// goodSettings require the check from GitHub Actions, and let a token read them.
func goodSettings() sandbox.Settings {
	return sandbox.Settings{MayRead: true, Rulesets: []sandbox.RulesetSpec{{
		ID: 5, Name: "main", Include: []string{"~DEFAULT_BRANCH"}, Checks: []sandbox.RequiredCheck{{Name: "Review quorum", AppID: 15368}},
	}}}
}

// onlyReads fails the test if anything was written, or asked that GitHub does not know.
func onlyReads(t *testing.T, g *sandbox.GitHub) {
	t.Helper()
	for _, r := range g.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/graphql") {
			t.Errorf("it wrote: %s %s", r.Method, r.Path)
		}
	}
	if unknown := append(g.UnknownRequests(), g.InvalidRequests()...); len(unknown) > 0 {
		t.Errorf("GitHub does not know %q", unknown)
	}
}

func TestDoctorOfAGoodSetup(t *testing.T) {
	g := examinedShop(t, sandbox.Options{}, goodSettings())
	code, out, said := commandOn(t, g)(nil, "doctor", "acme/shop")
	const want = `acme/shop

warning  "Review quorum" is posted with GITHUB_TOKEN: whoever may push a workflow can write it, and whoever may delete runs can delete it
         post it as a GitHub App of your own, and choose that as its source: docs/trust.md
fine     something posts the check, and hears of what happens
fine     nobody else is invited to write as github-actions[bot]
fine     each reviewer can answer, and the quorum can be reached

1 warning
`
	if code != 0 || out != want {
		t.Errorf("exit %d:\n%s%s", code, out, said)
	}
	wants(t, said, "reading workflows of acme/shop\n")
	onlyReads(t, g)
}

func TestDoctorOfABrokenSetup(t *testing.T) {
	settings := goodSettings()
	settings.Rulesets[0].Checks = []sandbox.RequiredCheck{{Name: "look"}}
	settings.Rulesets[0].MergeQueue, settings.WriteDefault, settings.WorkflowsVote = true, true, true
	settings.Allowed, settings.Patterns = "selected", []string{"actions/*"}
	settings.States = map[string]string{".github/workflows/openai.yml": "disabled_manually"}
	g := examinedShop(t, sandbox.Options{}, settings)
	coordinator := commandOn(t, g)
	code, out, said := coordinator(nil, "doctor", "--repo", "acme/shop")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	wants(t, out, `broken   "main" requires "look": the job that posts the check`, "merged by a queue", "do not allow", "disabled_manually",
		"warning  every workflow's token may write", "workflows may approve", "4 broken, 2 warnings\n")
	wants(t, said, "coordinator: the check of acme/shop cannot be trusted yet: 4 broken, 2 warnings\nhint: coordinator doctor acme/shop --fix prints")

	code, out, _ = coordinator(nil, "doctor", "acme/shop", "--json")
	var found struct {
		Repository, Check string
		Trusted           bool
		Found             []struct {
			Code, Grade, Says, Remedy string
			Fix                       []string
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 1 || found.Trusted || found.Check != "Review quorum" || len(found.Found) != 6 ||
		found.Found[0].Code != "job-required" || found.Found[0].Grade != "broken" || found.Found[0].Remedy == "" {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}

	code, out, _ = coordinator(nil, "doctor", "acme/shop", "--fix")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	wants(t, out, "#!/bin/sh\n", "\n# broken: ", "\n# No command does this.\n", "actions/workflows/openai.yml/enable\n",
		`printf '%s' '{"can_approve_pull_request_reviews":false,"default_workflow_permissions":"read"}' | gh api --method PUT --hostname `)
	onlyReads(t, g)
}

// A classic merge queue stands in no rule: it is asked for.
func TestDoctorSeesAClassicMergeQueue(t *testing.T) {
	settings := goodSettings()
	settings.MergeQueue = true
	g := examinedShop(t, sandbox.Options{}, settings)
	if code, out, _ := commandOn(t, g)(nil, "doctor", "acme/shop"); code != 1 || !strings.Contains(out, `"main" is merged by a queue`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestDoctorSeesClassicProtectionAndARulesetThatSleeps(t *testing.T) {
	settings := goodSettings()
	settings.Rulesets[0].Enforcement = "evaluate"
	g := examinedShop(t, sandbox.Options{}, settings)
	coordinator := commandOn(t, g)
	if code, out, _ := coordinator(nil, "doctor", "acme/shop"); code != 1 || !strings.Contains(out, `the ruleset "main" requires "Review quorum", and is not active`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
	sandbox.ProtectBranch(g, "main", sandbox.RequiredCheck{Name: "Review quorum", AppID: 15368})
	if code, out, _ := coordinator(nil, "doctor", "acme/shop"); code != 0 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// What GitHub refuses is neither fine nor broken.
func TestDoctorSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	g := examinedShop(t, sandbox.Options{}, goodSettings())
	for _, test := range []struct{ match, body, want string }{
		{"GET /repos/*/*/actions/permissions", "", `which actions may run could not be read`},
		{"GET /repos/*/*/actions/permissions/workflow", "", `what the token of a workflow may do by default could not be read`},
		{"GET /repos/*/*/rules/branches/**", "", `which checks the rules of "main" require could not be read`},
		{"GET /repos/*/*/branches/**", "", `which checks the protection of "main" requires could not be read`},
		{"GET /repos/*/*/rulesets", "", `the rulesets could not be read`},
		{"GET /repos/*/*/actions/workflows", "", `the workflows could not be read`},
		{"GET /repos/*/*/collaborators", "", `who may write could not be read`},
		{"GET /repos/*/*/issues/*/comments", "", `what reviewers left on the last pull requests could not be read`},
	} {
		for _, status := range []int{403, 404} {
			g.ClearFaults()
			message := `{"message":"Resource not accessible by integration"}`
			if status == 404 {
				message = `{"message":"Not Found"}`
			}
			g.AddFault(sandbox.Fault{Match: test.match, Status: status, Body: message, Header: []string{"X-Accepted-GitHub-Permissions: secrets=read"}})
			code, out, said := commandOn(t, g)(nil, "doctor", "acme/shop")
			if code != 0 || !strings.Contains(out, "\nunknown  "+test.want+"\n") || strings.Contains(out, "broken") {
				t.Errorf("%d of %s: exit %d:\n%s%s", status, test.match, code, out, said)
			}
			if status == 403 && !strings.Contains(out, "         give the token the permission secrets: read") {
				t.Errorf("%s: the permission that GitHub names is missing:\n%s", test.match, out)
			}
		}
	}
	g.ClearFaults()
	g.AddFault(sandbox.Fault{Match: "GET /repos/*/*/rulesets", Status: http.StatusBadGateway})
	if code, out, said := commandOn(t, g)(nil, "doctor", "acme/shop"); code != 1 || out != "" || !strings.Contains(said, "coordinator: read the rulesets") {
		t.Errorf("a GitHub that is down is no missing permission: exit %d: %s%s", code, out, said)
	}
}

// Whoever alone may write is told how not to be locked out. What GitHub shows of a list that it may not be whole counts for nothing.
func TestDoctorSeesWhoAloneMayWrite(t *testing.T) {
	t.Parallel()
	const warning = `warning  "alice" alone may write here`
	g := examinedShop(t, sandbox.Options{}, goodSettings())
	g.SetPermission("alice", "admin")
	g.SetPermission("bob", "triage")
	says := func(want bool, when string) {
		t.Helper()
		if code, out, said := commandOn(t, g)(nil, "doctor", "acme/shop"); code != 0 || strings.Contains(out, warning) != want {
			t.Errorf("%s: exit %d:\n%s%s", when, code, out, said)
		}
	}
	says(true, "one administrator")
	onlyReads(t, g)
	for _, role := range []string{"write", "maintain", "admin", "releaser"} { // the last one is an organisation's own
		g.SetPermission("bob", role)
		says(false, "another one with "+role)
	}
	g.SetPermission("bob", "none")
	g.SetPermission("alice", "write")
	says(false, "no administrator: the list is not whole")
	g.SetPermission("alice", "admin")
	for i := range 100 {
		g.SetPermission(fmt.Sprintf("reader-%d", i), "read")
	}
	says(false, "a list of two pages")
}

// A private repository of a plan without rules requires nothing, and GitHub says so with a refusal.
func TestDoctorOfAPlanWithoutRules(t *testing.T) {
	g := examinedShop(t, sandbox.Options{}, sandbox.Settings{MayRead: true, Private: true})
	for _, match := range []string{"GET /repos/*/*/rules/**", "GET /repos/*/*/rulesets"} {
		g.AddFault(sandbox.Fault{Match: match, Status: 403, Body: `{"message":"Upgrade to GitHub Pro or make this repository public to enable this feature."}`})
	}
	if code, out, _ := commandOn(t, g)(nil, "doctor", "acme/shop"); code != 0 || !strings.Contains(out, `nothing requires "Review quorum" on "main"`) ||
		strings.Contains(out, "unknown") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// As an App it knows from whom the check must come, and what the App lacks.
func TestDoctorAsAnApp(t *testing.T) {
	g := examinedShop(t, sandbox.Options{App: sandbox.App{Slug: "quorum-app", ID: 42}}, goodSettings())
	g.RemoveFile(".github/workflows/review-coordinator.yml", "")
	url, key := appServer(t, g, `"actions":"write","checks":"read","contents":"read","pull_requests":"read","metadata":"read","statuses":"read"`)
	env := map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": string(key)}
	code, out, said := runAt(t, url, env, "doctor", "acme/shop")
	if code != 1 {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, out, `"quorum-app" lacks checks: write`, `"quorum-app" lacks pull-requests: write`, "from App 15368, and App 42 posts it", "2 broken, 1 warning")
}

// What strangers wrote is data: the script that is printed does with it what its comments say, and nothing else.
func TestDoctorsCommandsAreQuoted(t *testing.T) {
	settings := goodSettings()
	settings.Rulesets = nil
	g := examinedShop(t, sandbox.Options{}, settings)
	const evil = "a'; touch pwned; echo $(touch pwned) `touch pwned` \\ # é x"
	policy, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\ncheck: "+string(policy)+"\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n")
	_, out, _ := commandOn(t, g)(nil, "doctor", "acme/shop", "--fix")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\ncat > sent\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh")
	run.Dir, run.Stdin, run.Env = dir, strings.NewReader(out), []string{"PATH=" + dir + ":/usr/bin:/bin"}
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, text, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Errorf("it did what a name says:\n%s", out)
	}
	var sent struct{ Name string }
	text, err := os.ReadFile(filepath.Join(dir, "sent"))
	if err != nil || json.Unmarshal(text, &sent) != nil || sent.Name != evil {
		t.Errorf("%v: sent %s", err, text)
	}
}

func TestDoctorsMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"doctor acme/shop --repo acme/shop":    "coordinator: the repository is named twice\nhint: leave out --repo\n",
		"doctor acme/shop --fix --json":        "coordinator: --fix and --json print different things\n",
		"doctor https://example.com/acme/shop": "coordinator: ",
	} {
		code, _, said := runAt(t, "", nil, strings.Fields(args)...)
		if code != 2 || !strings.HasPrefix(said, want) {
			t.Errorf("%s: exit %d: %s", args, code, said)
		}
	}
}
