//go:build !action

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const shopPolicy = "version: 1\nquorum: 1\ngrace: 30m\ntimeout: 40m\nsweep: {batch_delay: 0s}\nreviewers:\n" +
	"  - {name: sage, author: \"sage[bot]\", verdict: auto}\n" +
	"  - {name: gamma, author: \"gamma[bot]\", verdict: review-state}\n"

// What config check --against says of twenty pull requests is what their checks say once the policy is there, and the same
// after they were merged or closed. It writes nothing.
func TestConfigCheckAgainstSaysWhatTheCheckThenSays(t *testing.T) {
	g := sandbox.New(sandbox.Options{})
	coordinator := commandOn(t, g)
	answers := []sandbox.ReviewSpec{
		{By: "sage[bot]", Body: "**Verdict**: approve"},
		{By: "sage[bot]", Body: "**Verdict**: request changes"},
		{By: "gamma[bot]", State: "APPROVED", Body: "Good."},
		{By: "gamma[bot]", State: "CHANGES_REQUESTED", Body: "The total is wrong."},
		{By: "sage[bot]", Body: "Overall this looks like a cart."},
	}
	for n := 1; n <= 20; n++ {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n), Draft: n == 20})
		for k, answer := range answers {
			if n%len(answers) != k && (n/len(answers)+k)%3 != 0 {
				continue
			}
			if _, err := g.Review(n, answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte(shopPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	type check struct{ State, Verdict, Title string }
	type supposed struct {
		Pulls []struct {
			Name string `json:"pull_request"`
			check
		} `json:"pull_requests"`
		Verdicts        map[string]int
		Merged, Stopped int
	}
	ask := func(first string) (supposed, map[string]check) {
		t.Helper()
		g.ForgetRequests()
		code, out, said := coordinator(nil, "config", "check", file, "--against", "acme/shop", "--json")
		var got struct{ Against supposed }
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("exit %d: %v\n%s%s", code, err, out, said)
		}
		for _, r := range g.Requests() {
			if r.Method != http.MethodGet && r.Path != "/graphql" {
				t.Errorf("it writes: %s %s", r.Method, r.Path)
			}
		}
		if n := len(g.Requests()); n > 20*20 {
			t.Errorf("%d requests for 20 pull requests", n)
		}
		checks := map[string]check{}
		for _, p := range got.Against.Pulls {
			p.Title, _, _ = strings.Cut(p.Title, " until ") // a check of ours on the head begins its clocks anew
			checks[p.Name] = p.check
		}
		if len(checks) != 20 || got.Against.Pulls[0].Name != first {
			t.Fatalf("%d pull requests, not %s first: %+v", len(checks), first, got.Against.Pulls)
		}
		return got.Against, checks
	}
	open, opened := ask("acme/shop#20")
	if len(open.Verdicts) < 3 || open.Merged != 0 {
		t.Errorf("too few verdicts to compare: %+v", open)
	}

	g.SetFile(".github/review-coordinator.yml", "", shopPolicy)
	if code, out, said := coordinator(nil, "sweep"); code != 0 {
		t.Fatalf("sweep: exit %d: %s%s", code, out, said)
	}
	verdicts := map[string]string{"success": "passed", "failure": "blocked", "action_required": "unverified", "": "waiting"}
	stopped, over := 0, map[string]check{} // what is expected of those that are over
	for n := 1; n <= 20; n++ {
		name, posted := fmt.Sprintf("acme/shop#%d", n), g.OwnCheckRuns(g.Head(n))[0]
		title, _, _ := strings.Cut(posted.Title, " until ")
		if got := opened[name]; got != (check{"open", verdicts[posted.Conclusion], title}) {
			t.Errorf("%s: supposed %v, and the check says %q %q", name, got, posted.Conclusion, posted.Title)
		}
		end, state := g.Close, "closed"
		if n%4 != 0 {
			end, state = g.Merge, "merged"
			if posted.Conclusion != "success" {
				stopped++
			}
		}
		over[name] = check{state, opened[name].Verdict, opened[name].Title}
		if err := end(n, "alice"); err != nil {
			t.Fatal(err)
		}
	}
	ended, checks := ask("acme/shop#20")
	if diff := cmp.Diff(over, checks); diff != "" {
		t.Errorf("of those that are over (-as open +as over):\n%s", diff)
	}
	if ended.Merged != 15 || ended.Stopped != stopped || stopped == 0 {
		t.Errorf("%d of %d merged ones stopped, want %d", ended.Stopped, ended.Merged, stopped)
	}

	code, out, said := coordinator(nil, "config", "check", file, "--against", "acme/shop")
	for _, want := range []string{
		"\n\nUnder this policy the check on the pull requests of acme/shop that changed last would say:\n\n  acme/shop#20  closed  waiting",
		"20 pull requests: ", " of 15 merged had not passed.\nsage: ",
		"coordinator classify says how a text is read",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("exit %d: no %q in\n%s%s", code, want, out, said)
		}
	}
}

func TestConfigCheckAgainstNamesMistakes(t *testing.T) {
	_, coordinator := shopOf(t, sandbox.Options{}, nil)
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte(shopPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"--against acme":                {2, "write it as OWNER/NAME"},
		"--against acme/shop --last 0":  {2, "--last 0 is out of range"},
		"--against acme/nowhere":        {1, "404"},
		"--against acme/shop --last 20": {0, "there is none"},
	} {
		code, out, said := coordinator(nil, append([]string{"config", "check", file}, strings.Fields(args)...)...)
		if code != want.code || !strings.Contains(out+said, want.says) {
			t.Errorf("%s: exit %d, no %q in\n%s%s", args, code, want.says, out, said)
		}
	}
}

// What was said counts though nothing tells when a merged head came, and on which of two pull requests of a commit it was
// said. What cannot be read is told, and is no success.
func TestConfigCheckAgainstJudgesWhatIsOver(t *testing.T) {
	now := time.Now().Add(-60 * 24 * time.Hour)
	g := sandbox.New(sandbox.Options{TokenOwner: "bob", Now: func() time.Time { return now }})
	for n, head := range map[int]string{1: "a", 2: "a", 3: "b", 4: "c"} {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: head, Branch: "branch-" + head})
	}
	now = now.Add(time.Minute)
	for _, said := range []struct {
		pull int
		body string
	}{{1, "**Verdict**: request changes"}, {2, "**Verdict**: approve"}, {3, "**Verdict**: request changes"}} {
		if _, err := g.Comment(said.pull, "sage[bot]", said.body); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	if err := errors.Join(g.Close(1, "alice"), g.Merge(2, "alice"), g.Merge(3, "alice"), g.Merge(4, "alice")); err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/4", Status: http.StatusForbidden})
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte("version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, said := commandOn(t, g)(map[string]string{"GITHUB_TOKEN": "gho_x"}, "config", "check", file, "--against", "acme/shop")
	for _, want := range []string{
		"acme/shop#4  merged  unread      ", "acme/shop#3  merged  blocked     Changes requested by sage\n", "acme/shop#2  merged  blocked ",
		"4 pull requests: 3 blocked, 1 unread. 2 of 3 merged had not passed.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s%s", want, out, said)
		}
	}
	if code != 1 || !strings.Contains(said, "coordinator: only 3 pull requests could be read\n") {
		t.Errorf("exit %d: %s", code, said)
	}
}
