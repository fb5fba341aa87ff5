package main

// What explain and the sweep say of a reviewer whose answers nobody understands any more.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestExplainTellsOfAFormatThatMayHaveChanged(t *testing.T) {
	g, coordinator := shopOf(t, sandbox.Options{}, nil)
	answers := func(n int, body string) {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
		if _, err := g.Review(n, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	const vague = "The basket is now called a cart."
	for n := 1; n <= 2; n++ {
		answers(n, vague)
	}
	code, out, said := coordinator(nil, "sweep")
	if code != 0 || strings.Contains(out, "not understood") {
		t.Fatalf("two answers are too few to say so: exit %d: %s%s", code, out, said)
	}
	answers(3, vague)
	code, out, said = coordinator(nil, "sweep")
	if want := "\nreviewer sage: 3 of its last 3 answers were not understood; its format may have changed\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("sweep: exit %d: %s%s", code, out, said)
	}
	if err := g.Merge(2, "alice"); err != nil { // it is counted all the same
		t.Fatal(err)
	}
	answers(4, vague)
	g.ForgetRequests()
	code, out, said = coordinator(nil, "explain", "acme/shop#4")
	const want = "sage: 4 of its last 4 answers were not understood; its format may have changed"
	if code != 0 || !strings.Contains(out, "\n"+want+"\n") {
		t.Errorf("explain: exit %d: %s%s", code, out, said)
	}
	if strings.Count(out, "\nWhat you can do\n- ") != 1 || !strings.Contains(out, "\nHow it got here\n- ") || strings.Contains(out, `"record"`) {
		t.Errorf("explain shows another page:\n%s", out)
	}
	queries := 0
	for _, r := range g.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/graphql") {
			queries++
		}
	}
	if queries != 2 { // the pull request's own, and our checks on the others
		t.Errorf("%d queries, want 2", queries)
	}

	_, out, _ = coordinator(nil, "explain", "acme/shop#4", "--json")
	var e struct {
		Answers []struct {
			Reviewer string `json:"reviewer"`
			Unread   int    `json:"unread"`
			InRow    int    `json:"in_row"`
			Answers  int    `json:"answers"`
			Says     string `json:"says"`
		} `json:"answers"`
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Answers) != 1 {
		t.Fatalf("%+v", e.Answers)
	}
	if a := e.Answers[0]; a.Reviewer != "sage" || a.Answers != 4 || a.Unread != 4 || a.InRow != 4 || "sage: "+a.Says != want {
		t.Errorf("%+v", a)
	}

	// What cannot be read of the others says nothing, and stops nothing.
	g.AddFault(sandbox.Fault{Match: "POST /graphql", Skip: 1, Status: http.StatusForbidden})
	if code, out, said = coordinator(nil, "explain", "acme/shop#4"); code != 0 || strings.Contains(out, "not understood") {
		t.Errorf("explain: exit %d: %s%s", code, out, said)
	}
}
