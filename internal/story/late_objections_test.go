package story

// The matrix of late objections: a no to a head that was left, on every channel on which one can be said, which no
// look has seen before the push. Where the head that stands has the same diff, or is that head again, it objects; where the diff is
// another one, its reviewer is required.

import (
	"fmt"
	"strings"
	"testing"
)

// A lateChannel is how a reviewer speaks about the head a1. Its words are sentences of a story, of which the first has no time.
type lateChannel struct {
	name   string
	policy string // of the reviewer "late"
	begins string // what shows that it works at a1; "": nothing does
	no     string
	yes    string
}

const (
	lateRun    = "workflow: .github/workflows/late.yml"
	lateBody   = "late comments\n    | ## Late\n    |\n    | **Ready to merge?** %s\n+0s late succeeds"
	lateUpload = "late uploads verdict\n" +
		`    | {"schema": 2, "head": "{sha a1}", "base": "main", "run": {run}, "attempt": {attempt}, "verdict": "%s",` + "\n" +
		`    |  "findings": [%s], "files_reviewed": ["cart.go"]}` + "\n+0s late succeeds"
	lateFinding = `{"path": "cart.go", "line": 42, "severity": "high", "body": "An empty cart divides by zero."}`
)

var lateChannels = []lateChannel{
	{"review", `author: "late[bot]"`, "", "late requests changes at a1", "late approves at a1"},
	{"text of a run", lateRun + `, heading: "## Late"`, "late starts", fmt.Sprintf(lateBody, "No"), fmt.Sprintf(lateBody, "Yes")},
	{
		"check", "check: scan, app: scanner, verdict: conclusion, failure_means: findings", "scanner sets check scan to in_progress",
		"scanner sets check scan to failure on a1", "scanner sets check scan to success on a1",
	},
	{
		"status", `status: scan, author: "scanner[bot]", verdict: conclusion, failure_means: findings`, "scanner[bot] sets status scan to pending",
		"scanner[bot] sets status scan to failure on a1", "scanner[bot] sets status scan to success on a1",
	},
	{"conclusion of a run", lateRun + ", verdict: conclusion, failure_means: findings", "late starts", `late fails "3 findings"`, "late succeeds"},
	{
		"artifact", lateRun + ", verdict: {artifact: verdict}", "late starts",
		fmt.Sprintf(lateUpload, "request_changes", lateFinding), fmt.Sprintf(lateUpload, "approve", ""),
	},
}

// lateSituations say which head stands in the end: how a1 is left 45 seconds after it came, and how the check must end.
var lateSituations = []struct{ name, leaves, returns, head, want string }{
	{"the same diff", "alice force-pushes b2 with the same diff", "", "b2", "failure Changes requested by late"},
	{"another diff", "alice pushes b2 changing cart.go tax.go", "", "b2", "action_required Unverified: required late (objected before) unavailable"},
	{
		"the head comes back", "alice force-pushes b2 changing cart.go tax.go", "150s alice force-pushes a1\n",
		"a1", "failure Changes requested by late",
	},
}

// lateMoments are when it speaks, beside the push.
var lateMoments = map[string]func(leaves, says string) string{
	"before the push, in its second": func(leaves, says string) string { return "45s " + says + "\n45s " + leaves + "\n" },
	"after the push, in its second":  func(leaves, says string) string { return "45s " + leaves + "\n45s " + says + "\n" },
	"later":                          func(leaves, says string) string { return "45s " + leaves + "\n2m " + says + "\n" },
}

func TestLateObjections(t *testing.T) {
	cells := 0
	for _, c := range lateChannels {
		for _, s := range lateSituations {
			cells++
			for moment, inOrder := range lateMoments {
				t.Run(c.name+", "+s.name+", "+moment, func(t *testing.T) {
					t.Parallel()
					begins := ""
					if c.begins != "" {
						begins = "30s " + c.begins + "\n"
					}
					ends := func(says string) (end, told string) {
						return playLate(t, c.policy, begins+inOrder(s.leaves, says)+s.returns, s.head)
					}
					end, told := ends(c.no)
					holds := strings.HasPrefix(end, s.want) && !strings.Contains(told, "✓ success")
					if !holds {
						t.Errorf("it ends with %q, want %q, and never a success:\n%s", end, s.want, told)
					}
					if end, told = ends(c.yes); !strings.HasPrefix(end, "success ") { // it is the no that matters
						t.Errorf("with a yes in its place it ends with %q:\n%s", end, told)
					}
				})
			}
		}
	}
	if cells != 18 {
		t.Errorf("%d cells, want 18", cells)
	}
}

// playLate plays a story in which two others approve the head that stands in the end.
func playLate(t *testing.T, policy, timeline, head string) (end, told string) {
	t.Helper()
	src := "A late word.\n\n-- policy --\nversion: 1\nquorum: 2\ngrace: 1m\ntimeout: 10m\nretry: {max: 0}\nreviewers:\n" +
		"  - {name: owl, author: \"owl[bot]\"}\n  - {name: elk, author: \"elk[bot]\"}\n  - {name: late, " + policy + "}\n\n" +
		"-- timeline --\n0s alice opens #7 at a1 changing cart.go\n" + timeline + "3m owl approves\n3m elk approves\n40m nothing happens\n"
	s, err := Parse("late.txt", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	story, err := s.PlayStepped(t.Context(), Audience{})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return story.FinalStates()[head+" "], src + "\n" + story.String()
}
