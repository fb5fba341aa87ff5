//go:build !action

package main

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// decodeJSON reads all of standard output as one object.
func decodeJSON(t *testing.T, out string, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	if err := dec.Decode(into); err != nil || dec.More() {
		t.Fatalf("%v, more %t: %s", err, dec.More(), out)
	}
}

// setUpJSON is what tools read of init --json.
type setUpJSON struct {
	Repository, Did, Folder string
	Branch                  string `json:"default_branch"`
	PullRequest             struct {
		Number int
		URL    string
	} `json:"pull_request"`
	Files     []struct{ Path, Does, Content string }
	Listen    []string `json:"listens_to"`
	Next      []struct{ Text string }
	FillIn    []struct{ What string } `json:"fill_in"`
	Reviewers []struct {
		Name     string
		Votes    bool
		Evidence []string
	}
}

// What init says with --json is what it says without, and what it wrote.
func TestInitJSON(t *testing.T) {
	url, _ := reviewed(t)
	env := map[string]string{"GITHUB_TOKEN": "ghs_x"}

	code, out, said := runAt(t, url, env, "init", "--json", "--dry-run", "--ref", "v1")
	var tried setUpJSON
	decodeJSON(t, out, &tried)
	if code != 0 || tried.Did != "nothing" || len(tried.Files) != 3 ||
		!strings.Contains(tried.Files[0].Content, "version: 1") || len(tried.Reviewers) != 3 || len(tried.FillIn) == 0 ||
		!tried.Reviewers[0].Votes || tried.Reviewers[0].Name == "" || len(tried.Reviewers[0].Evidence) == 0 || strings.Contains(said, "fill in") {
		t.Errorf("init --json --dry-run: exit %d, %+v", code, tried)
	}

	dir := t.TempDir()
	code, out, said = runAt(t, url, env, "init", "--json", "--dir", dir, "--ref", "v1")
	var wrote setUpJSON
	decodeJSON(t, out, &wrote)
	files := filesOf(t, dir)
	if code != 0 || wrote.Did != "wrote" || wrote.Folder != dir || wrote.Branch != "main" || len(wrote.Next) != 3 || len(wrote.Listen) == 0 ||
		len(wrote.Files) != 3 || strings.Contains(said, "Next:") {
		t.Errorf("init --json: exit %d, %+v, says %q", code, wrote, said)
	}
	for i, f := range wrote.Files {
		if files[f.Path] != tried.Files[i].Content || f.Content != "" || f.Does == "" {
			t.Errorf("%+v is not what was written", f)
		}
	}

	g := sandbox.New(sandbox.Options{TokenOwner: "alice"}) // a person's token may propose
	g.OpenPull(sandbox.PullSpec{})
	server := httptest.NewServer(g)
	defer server.Close()
	for _, again := range []string{"proposed", "nothing"} { // the second call finds the first one's pull request
		code, out, said = runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghp_x"}, "init", "--json", "--pull-request", "--ref", "v1")
		var proposed setUpJSON
		decodeJSON(t, out, &proposed)
		if at := proposed.PullRequest; code != 0 || proposed.Did != again || at.Number == 0 || !strings.Contains(at.URL, "/pull/") {
			t.Errorf("init --json --pull-request: exit %d, %+v, says %q", code, proposed, said)
		}
	}
}

// explain --json holds the page as data, of which the terminal's is made.
func TestExplainJSONHoldsThePage(t *testing.T) {
	url, g := reviewed(t)
	g.SetFile(config.Paths()[0], "", "quorum: 1\nreviewers: [{preset: copilot}]\n")
	env := map[string]string{"GITHUB_TOKEN": "ghs_x"}
	code, out, said := runAt(t, url, env, "explain", "3", "--json")
	var e struct {
		Title string
		Page  report.Page
	}
	decodeJSON(t, out, &e)
	_, text, _ := runAt(t, url, env, "explain", "3")
	if code != 0 || e.Page.Title != e.Title || e.Page.Verdict == "" || len(e.Page.Rows) != 1 || !strings.Contains(text, e.Page.Lead.Plain()) {
		t.Errorf("exit %d: %+v, says %q", code, e.Page, said)
	}
}
