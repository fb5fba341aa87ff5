package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const aPolicy = `-- policy --
quorum: 1
reviewers:
  - name: openai
    workflow: .github/workflows/openai.yml
    heading: "## OpenAI Review"

`

func TestParseFails(t *testing.T) {
	for _, test := range []struct{ name, timeline, at, says, hint string }{
		{"an unknown verb", "0s alice opens #7\n1s alice aproves", "10:10", `nothing is known that "aproves" does here`, `did you mean "approves"?`},
		{"a limit", "0s alice opens #7\n1s openai is rate limited", "10:11", `nothing is known that "is" does here`, `RUN fails "429 Too Many Requests"`},
		{"an unknown reviewer", "0s alice opens #7\n1s opneai starts", "10:4", `the policy has no reviewer "opneai" with a workflow`, `did you mean "openai"?`},
		{"a post", "0s alice opens #7\n1s openai posts a comment", "10:11", `nothing is known that "posts" does here`, "AUTHOR comments"},
		{"a crash", "0s alice opens #7\n1s openai crashes", "10:11", `nothing is known that "crashes" does here`, "RUN fails"},
		{"half a verb", "0s alice opens #7\n1s alice requests a change", "10:10", `nothing is known that "requests" does here`, "AUTHOR requests changes"},
		{"no verb", "0s alice", "9:10", "it does not say what happens", "known: "},
		{"no time", "alice opens #7", "9:1", `"alice" is not a time`, "+10s"},
		{"a time that goes back", "5s alice opens #7\n3s alice closes", "10:1", "3s comes after 5s", "order"},
		{"an unknown run", "0s alice opens #7\n1s opneai succeeds", "10:4", `no run or reviewer is called "opneai"`, `did you mean "openai"?`},
		{"an unknown commit", "0s alice opens #7 at a1\n1s bob approves at a2", "10:20", `there is no commit "a2" yet`, `did you mean "a1"?`},
		{"a word too many", "0s alice opens #7 loudly", "9:19", `"loudly" does not belong here`, "LOGIN opens #N"},
		{"no number", "0s alice opens pull", "9:16", `"pull" is not the number of a pull request`, "#7"},
		{"an unknown permission", "0s bob may wirte", "9:12", `GitHub has no permission "wirte"`, `did you mean "write"?`},
		{"an unknown conclusion", "0s alice opens #7\n0s openai starts\n1s openai ends well", "11:16", `GitHub has no conclusion "well"`, "known: "},
		{"an unknown state", "0s alice opens #7\n1s a sets status ci to succss", "10:24", `"succss" is not a state of it`, `did you mean "success"?`},
		{"a comment without text", "0s alice opens #7\n1s bob comments", "10:8", "its text is missing", "after a |"},
		{"a remark without a place", "0s alice opens #7\n1s bob reviews\n   > nice", "11:1", "a comment on the diff needs its place", "cart.go:12"},
		{"somebody else's fault", "0s alice loses GET /repos", "9:4", "only github does that", ""},
		{"an unknown method", "0s github loses OBTAIN /repos", "9:17", `"OBTAIN" is not a method`, "known: "},
		{"a path without a slash", "0s github loses GET repos", "9:21", "a path begins with a slash", "**"},
		{"an unknown section", "0s alice opens #7\n-- end --", "10:4", `"end" is not a section`, "-- story --"},
		{
			"a reaction to nobody", "0s alice opens #7\n-- on rerun of gemini --\n1s nothing happens",
			"10:16", `no run or reviewer is called "gemini"`, "known: openai",
		},
		{
			"a force-push that merges", "0s alice opens #7\n1s alice force-pushes b2 merging main",
			"10:26", `"merging" does not belong here`, "moving the review by AUTHOR",
		},
		{
			"a push that moves nothing", "0s alice opens #7\n1s alice pushes b2 moving",
			"10:20", `"moving" does not belong here`, "moving the review by AUTHOR",
		},
		{"an opening that is pushed", "0s alice opens #7 pushed", "9:19", `"pushed" does not belong here`, "[pushed by LOGIN]"},
		{
			"a wait for something", "0s alice opens #7\n1s openai waits for a maintainer",
			"10:11", `nothing is known that "waits" does here`, "RUN waits for an environment",
		},
		{
			"an unknown run that waits", "0s alice opens #7\n1s opneai waits for an environment",
			"10:4", `no run or reviewer is called "opneai"`, `did you mean "openai"?`,
		},
		{"a forbidding person", "0s root forbids push", "9:4", "only a policy forbids an event", "pull_request_target"},
		{
			"a taking person", "0s alice opens #7\n1s root takes the runs and checks", "10:4", "only retention takes them",
			"RUN is deleted",
		},
		{"a second timeline", "0s alice opens #7\n-- timeline --", "10:1", `a second section "timeline"`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("day.txt", []byte(aPolicy+"-- timeline --\n"+test.timeline+"\n"))
			var p ParseError
			if !errors.As(err, &p) {
				t.Fatalf("it is taken as it is: %v", err)
			}
			said := err.Error()
			if want := "day.txt:" + test.at + ": " + test.says; !strings.HasPrefix(said, want) {
				t.Errorf("it says\n%s\nwant\n%s", said, want)
			}
			if !strings.Contains(said, test.hint) || test.hint != "" && !strings.Contains(said, "hint: ") {
				t.Errorf("no hint with %q in\n%s", test.hint, said)
			}
			if !strings.Contains(said, "^") {
				t.Errorf("no caret in\n%s", said)
			}
		})
	}
	if _, err := Parse("day.txt", []byte("About nothing.\n")); err == nil {
		t.Error("a scenario without a timeline is taken as it is")
	}
}

// TestImpossible: what could not happen on GitHub is an error with its line, not a story.
func TestImpossible(t *testing.T) {
	for name, timeline := range map[string]string{
		"a run that has not started":       "0s alice opens #7\n1s openai succeeds",
		"a comment that was not written":   "0s alice opens #7\n1s bob deletes the comment by openai",
		"a run that has ended waits":       "0s alice opens #7\n0s openai starts\n1s openai is cancelled\n2s openai waits for an environment",
		"threads that nobody opened":       "0s alice opens #7\n1s bob resolves the threads of openai",
		"a rerun of a run that goes on":    "0s alice opens #7\n0s openai starts\n1s bob reruns openai",
		"a pull request that is not there": "0s alice opens #7\n1s alice closes #8",
		"a layer on another branch":        "0s alice opens #7\n1s alice opens #8 at b1\n1s alice stacks #8 on #7",
		"two layers on one": "0s alice opens #7\n1s alice opens #8 at b1 onto feature-7\n1s alice opens #9 at c1 onto feature-7\n" +
			"1s alice stacks #8 on #7\n1s alice stacks #9 on #7",
		"a commit that changes something else when it comes back": "0s alice opens #7 at a1 changing a.go\n1s alice pushes b2\n" +
			"2s alice force-pushes a1 changing b.go",
	} {
		s, err := Parse("day.txt", []byte(aPolicy+"-- timeline --\n"+timeline+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := s.PlayStepped(t.Context(), Audience{}); err == nil || !strings.HasPrefix(err.Error(), "day.txt:") {
			t.Errorf("%s: it is played: %v", name, err)
		}
	}
}

// TestWhatSentencesDo: what a sentence says is what GitHub shows.
func TestWhatSentencesDo(t *testing.T) {
	const (
		opened   = "0s dependabot[bot] opens #7 at a1 pushed by bob\n"
		started  = opened + "1s openai starts\n"
		reviewed = opened + "1s sage[bot] approves\n1s carol approves\n"
		activity = "activity?ref=refs/heads/feature-7"
		required = "protection.required_status_checks.checks"
		waits    = "openai waits for an environment\n"
		stacked  = opened + "0s bob opens #8 at b1 onto feature-7\n0s bob opens #9 at c1 onto feature-8\n" +
			"0s bob stacks #8 on #7\n0s bob stacks #9 on #8\n"
		back = "2s bob pushes b2 changing a.go b.go\n3s bob force-pushes a1"
	)
	a1, b2 := sandbox.SHA("a1"), sandbox.SHA("b2")
	for _, test := range []struct{ name, timeline, path, field, want string }{
		{"somebody else pushes what is opened", opened, activity, "actor.login", "bob"},
		{"and did not write it", opened, "pulls/7/commits", "author.login", "dependabot[bot]"},
		{"somebody pushes", opened + "2s bob pushes b2 written by alice", activity, "actor.login", "bob bob"},
		{"a robot's own commit is signed", opened + "2s renovate[bot] pushes b2", "commits/" + b2, "commit.verification.verified", "true"},
		{"unless it is not", opened + "2s renovate[bot] pushes b2 unsigned", "commits/" + b2, "commit.verification.verified", "false"},
		{"a person's commit is signed", opened + "2s bob pushes b2 signed", "commits/" + b2, "commit.verification.verified", "true"},
		{"a head that comes back", opened + back, "pulls/7/files", "filename", "main.go"},
		{"it is as small as it was", opened + back, "pulls/7", "changed_files", "1"},
		{"what follows it changes the same", opened + back + "\n4s bob pushes c3", "pulls/7/files", "filename", "main.go"},
		{"many lines", opened + "2s bob pushes b2 changing a.go adding 500 lines", "pulls/7", "additions", "500"},
		{"what another wrote", opened + "2s bob pushes b2 written by alice", "pulls/7/commits", "author.login", "dependabot[bot] alice"},
		{"by force", opened + "2s bob force-pushes b2 written by alice", activity, "activity_type", "force_push branch_creation"},
		{"what another wrote, by force", opened + "2s bob force-pushes b2 written by alice", "pulls/7/commits", "author.login", "alice"},
		{"an author without an account", opened + "2s bob force-pushes b2 written by x@y.org", "pulls/7/commits", "author", "<nil>"},
		{"no review moves by itself", reviewed + "2s bob force-pushes b2", "pulls/7/reviews", "commit_id", a1 + " " + a1},
		{"one moves", reviewed + "2s bob force-pushes b2 moving the review by carol", "pulls/7/reviews", "commit_id", a1 + " " + b2},
		{
			"both move", reviewed + "2s bob pushes b2 merging main changing x.go moving the review by carol moving the review by sage[bot]",
			"pulls/7/reviews", "commit_id", b2 + " " + b2,
		},
		{
			"a merge of the base", opened + "2s bob pushes b2 merging main",
			"pulls/7/commits", "commit.message", "Change Merge branch 'main' into feature-7",
		},
		{"a file on a branch", opened + "1s alice opens #8 onto evil\n1s bob writes x.yml onto evil\n| evil", "contents/x.yml?ref=evil", "size", "4"},
		{"layers of a stack", stacked, "pulls", "stack.position", "3 2 1"},
		{"its trunk", stacked, "pulls/9", "stack.base.ref", "main"},
		{"a base is no stack", opened + "0s bob opens #8 at b1 onto feature-7", "pulls/8", "stack", "<nil>"},
		{"a layer merges with those below", stacked + "1s bob merges #8", "pulls?state=closed", "number", "8 7"},
		{"and the next one is onto the trunk", stacked + "1s bob merges #8", "pulls/9", "base.ref", "main"},
		{"a run is held", opened + "1s openai starts action_required", "actions/runs", "conclusion", "action_required"},
		{
			"and approved", opened + "1s openai starts action_required\n9s openai begins again\n+9s openai gets a runner",
			"actions/runs", "status", "in_progress",
		},
		{"a run starts with a wait", opened + "1s openai starts waiting", "actions/runs", "status", "waiting"},
		{"and gets its runner", opened + "1s openai starts waiting\n9s openai gets a runner", "actions/runs", "status", "in_progress"},
		{"a run waits", started + "2s " + waits, "actions/runs", "status", "waiting"},
		{
			"its next attempt waits", started + "2s openai fails\n3s bob reruns openai\n3s " + waits + "1h nothing happens",
			"actions/runs", "status", "waiting",
		},
		{
			"an App is renamed", reviewed + "2s sage[bot] is renamed to wise\n3s sage[bot] reviews\n4s wise[bot] reviews",
			"pulls/7/reviews", "user.login", "wise[bot] carol wise[bot] wise[bot]",
		},
		{
			"an event is forbidden", "0s policy forbids push issue_comment\n" + opened + "1s openai starts event issue_comment",
			"actions/runs", "conclusion", "failure",
		},
		{"a run is deleted", started + "2s openai is deleted", "actions/runs", "status", ""},
		{"runs expire", started + "2s retention takes the runs and checks of #7", "actions/runs", "status", ""},
		{
			"and so do statuses", started + "2s lint sets status ci to success\n3s retention takes the runs and checks",
			"commits/" + a1 + "/statuses", "state", "",
		},
		{"a bot dismisses", reviewed + "2s tidy[bot] dismisses the review by sage[bot]", "pulls/7/reviews", "state", "DISMISSED APPROVED"},
		{"in its own name", reviewed + "2s tidy[bot] dismisses the review by sage[bot]", "issues/7/timeline", "actor.login", "tidy[bot]"},
		{
			"an App edits its one comment", opened + "1s sage[bot] comments\n| No\n2s sage[bot] edits the comment by sage[bot]\n| Looking again",
			"issues/7/comments", "body", "Looking again",
		},
		{
			"a branch requires the policy's check", "0s root protects lax",
			"branches/lax", required, "[map[app_id:<nil> context:Review quorum]]",
		},
		{
			"or another one of an App", "0s root protects lax requiring \"end to end\" of github-actions",
			"branches/lax", required, "[map[app_id:15368 context:end to end]]",
		},
		{"or none", "0s root protects lax requiring no check", "branches/lax", required, "[]"},
		{"and is protected all the same", "0s root protects lax requiring no check", "branches/lax", "protection.enabled", "true"},
		{
			"a ruleset requires the policy's check", "0s root protects lax by ruleset",
			"rules/branches/lax", "parameters.required_status_checks", "[map[context:Review quorum]]",
		},
		{
			"a ruleset requires none", "0s root protects lax requiring no check by ruleset",
			"rules/branches/lax", "type", "deletion required_linear_history",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Parse("day.txt", []byte(aPolicy+"-- timeline --\n"+test.timeline+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			now := Begin
			w := s.newWorld(func() time.Time { return now }, Audience{})
			for due := now; !due.IsZero(); due = w.nextDue() {
				now = due
				if err := w.runDueSteps(); err != nil {
					t.Fatal(err)
				}
			}
			if got := shownByGitHub(t, w.g, test.path, test.field); got != test.want {
				t.Errorf("GitHub shows %q, want %q", got, test.want)
			}
		})
	}
}

// shownByGitHub lists a field of each entry that GitHub answers with.
func shownByGitHub(t *testing.T, g *sandbox.GitHub, path, field string) string {
	t.Helper()
	owner, name := g.Repository()
	req := httptest.NewRequest(http.MethodGet, "https://api.github.com/repos/"+owner+"/"+name+"/"+path, nil)
	req.Header.Set("Authorization", "Bearer t1")
	res, err := g.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	entries, isList := answer.([]any)
	if !isList {
		entries = []any{answer}
	}
	if object, isObject := answer.(map[string]any); isObject && object["workflow_runs"] != nil {
		entries = object["workflow_runs"].([]any)
	}
	var all []string
	for _, entry := range entries {
		for part := range strings.SplitSeq(field, ".") {
			parent, _ := entry.(map[string]any)
			entry = parent[part]
		}
		all = append(all, fmt.Sprint(entry))
	}
	return strings.Join(all, " ")
}

func TestRewritten(t *testing.T) {
	src := aPolicy + "-- timeline --\n0s alice opens #7\n"
	s, err := Parse("day.txt", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	once := string(s.Rewritten("first\n"))
	if want := src + "\n-- story --\nfirst\n"; once != want {
		t.Errorf("it reads\n%s\nwant\n%s", once, want)
	}
	again, err := Parse("day.txt", []byte(once))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(again.Rewritten("second\n")), src+"\n-- story --\nsecond\n"; got != want || again.RecordedStory != "first\n" {
		t.Errorf("it reads\n%s\nwant\n%s", got, want)
	}
}

// TestWithPolicy: another policy makes another story of the same day.
func TestWithPolicy(t *testing.T) {
	s, err := Parse("day.txt", []byte(aPolicy+"-- timeline --\n0s alice opens #7\n0s openai starts\n1s openai succeeds\n"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.WithPolicy("mode: off\n" + strings.TrimPrefix(s.Policy, "quorum: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	story, err := other.PlayStepped(t.Context(), Audience{})
	if err != nil || len(story.Entries) > 0 {
		t.Errorf("with mode: off something is written: %v\n%s", err, story)
	}
}

// TestWithPolicyKeepsLines: what is wrong in the story is shown where it stands, whichever policy it is played with.
func TestWithPolicyKeepsLines(t *testing.T) {
	s, err := Parse("day.txt", []byte(aPolicy+"-- timeline --\n0s alice opens #7\n0s openai starts\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.WithPolicy("quorum: 1\nreviewers: [{preset: copilot}]\n")
	if err == nil || !strings.HasPrefix(err.Error(), `day.txt:10:4: the policy has no reviewer "openai" with a workflow`) {
		t.Errorf("it says %v", err)
	}
}

// TestForms: the documentation shows every sentence.
func TestForms(t *testing.T) {
	const file = "../../docs/scenarios.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head, tail = "| about | sentence |\n|---|---|\n", "\n\n`PATH` of a fault"
	before, rest, found := strings.Cut(string(doc), head)
	_, after, also := strings.Cut(rest, tail)
	if !found || !also {
		t.Fatalf("%s has no table of sentences", file)
	}
	want := before + head + strings.TrimSuffix(formTable(), "\n") + tail + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(doc) != want {
		t.Errorf("%s shows other sentences; -update rewrites its table", file)
	}
}

// formTable is the table of the documentation.
func formTable() string {
	abouts := map[string]string{"opens": "the pull request", "starts": "runs", "comments": "texts", "sets": "the rest", "answers": "faults"}
	var b strings.Builder
	for _, form := range SentenceForms() {
		about := abouts[strings.Fields(form)[1]]
		b.WriteString("| " + about + " | `" + strings.ReplaceAll(form, "|", "\\|") + "` |\n")
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add(aPolicy + "-- timeline --\n0s alice opens #7 at a1 changing cart.go\n1s openai starts\n+1s openai fails \"503\"\n   | log\n")
	f.Add("-- timeline --\n0s bob reviews\n   > a:1 b\n-- on ask 2 of x --\n\"")
	f.Fuzz(func(t *testing.T, src string) {
		s, err := Parse("fuzz.txt", []byte(src))
		if err == nil && s.HasStory && string(s.Rewritten(s.RecordedStory)) == "" {
			t.Error("a story without a text")
		}
	})
}
