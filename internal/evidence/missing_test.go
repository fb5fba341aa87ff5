package evidence_test

// What is worth a request of its own.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestMissingLogs(t *testing.T) {
	two := func(r *quorum.Run) {
		r.Jobs = append(r.Jobs, quorum.Job{ID: 99, Conclusion: "failure"})
	}
	conclusion := openai()
	conclusion.Verdict, conclusion.FailureMeans = format(quorum.Conclusion), quorum.MeansFindings
	for name, test := range map[string]struct {
		x    *scene
		want []int64
	}{
		"none":                      {onHead(openai()), nil},
		"under way":                 {onHead(openai()).run(1, 10, -1), nil},
		"it answered":               {onHead(openai()).run(1, 10, 100, ended("failure")).comment(1, 90, bot, yes), nil},
		"it left nothing":           {onHead(openai()).run(1, 10, 100), []int64{2001}},
		"it failed":                 {onHead(openai()).run(1, 10, 100, ended("failure")), []int64{2001}},
		"the job that failed":       {onHead(openai()).run(1, 10, 100, two), []int64{99}},
		"it never ran":              {onHead(openai()).run(1, 10, 100, jobless("startup_failure")), nil},
		"skipped":                   {onHead(openai()).run(1, 10, 100, ended("skipped")), nil},
		"cancelled by somebody":     {onHead(openai()).run(1, 10, 100, ended("cancelled")), []int64{2001}},
		"cancelled by us":           {onHead(openai()).run(1, 10, 100, ended("cancelled")).intent(cancelled(1, 1, 90)), nil},
		"vague and green":           {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, vague), nil},
		"vague and red":             {onHead(openai()).run(1, 10, 100, ended("failure")).comment(1, 90, bot, vague), []int64{2001}},
		"read already":              {onHead(openai()).run(1, 10, 100, log("failure", "")), nil},
		"a conclusion that objects": {onHead(conclusion).run(1, 10, 100, ended("failure")), []int64{2001}},
		"a draft":                   {onHead(openai()).run(1, 10, 100).with(func(x *scene) { x.s.PR.Draft = true }), nil},
		"closed":                    {onHead(openai()).run(1, 10, 100).with(func(x *scene) { x.s.PR.Closed = true }), nil},
		"off":                       {onHead(openai()).run(1, 10, 100).with(func(x *scene) { x.p.Mode = quorum.Off }), nil},
		"broken":                    {onHead(openai()).run(1, 10, 100).with(func(x *scene) { x.s.File.State = quorum.FileBroken }), nil},
		"one run of two reviewers":  {onHead(openai(), openai()).run(1, 10, 100), []int64{2001}},
	} {
		if got := evidence.Missing(test.x.p, test.x.s).Logs; !slices.Equal(got, test.want) {
			t.Errorf("%s: logs of %v, want %v", name, got, test.want)
		}
	}
}

func TestMissingCommits(t *testing.T) {
	says := func(sha string) *scene {
		return onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes+"\nReviewed commit: "+sha+"\n")
	}
	for name, test := range map[string]struct {
		x    *scene
		want []string
	}{
		"the head":           {says(head), nil},
		"the test merge":     {says(merged[:9]), nil},
		"an earlier head":    {says(older).with(func(x *scene) { x.s.Earlier = []string{older} }), nil},
		"one with a run":     {says(older).other(2, -50, -20), nil},
		"an unknown one":     {says("d4d4d4d4"), []string{"d4d4d4d4"}},
		"looked up already":  {says("d4d4d4d4").with(func(x *scene) { x.s.Resolved = map[string]quorum.Commit{"d4d4d4d4": {}} }), nil},
		"a stranger's":       {onHead(openai()).run(1, 10, 100).comment(1, 90, "mallory", yes+"\nReviewed commit: d4d4d4d4\n"), nil},
		"before the attempt": {onHead(openai()).run(1, 10, 100).comment(1, 9, bot, yes+"\nReviewed commit: d4d4d4d4\n"), nil},
		"another's heading":  {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, "## Other\n\nReviewed commit: d4d4d4d4\n"), nil},
	} {
		if got := evidence.Missing(test.x.p, test.x.s).Commits; !slices.Equal(got, test.want) {
			t.Errorf("%s: commits %v, want %v", name, got, test.want)
		}
	}
	many := onHead(openai()).run(1, 10, 100)
	for i := range 50 {
		many.comment(int64(i), 90, bot, fmt.Sprintf("%s\nReviewed commit: %07x\n", yes, 0xd000000+i))
	}
	if n := len(evidence.Missing(many.p, many.s).Commits); n != 10 {
		t.Errorf("%d commits are looked up", n)
	}
}

func TestMissingPeople(t *testing.T) {
	x := onHead(
		openai(),
	).review(
		1,
		5,
		"bob",
		"COMMENTED",
		"x",
	).review(
		2,
		6,
		"carol",
		"APPROVED",
		"",
	).review(
		3,
		7,
		"dave",
		"CHANGES_REQUESTED",
		"",
	).review(
		4,
		8,
		"sage[bot]",
		"APPROVED",
		"",
	)
	if w := evidence.Missing(x.p, x.s); len(w.People) != 2 || !w.Authors {
		t.Errorf("people are %v, authors: %v", w.People, w.Authors)
	}
	x.s.Reviews = x.s.Reviews[2:3]
	if w := evidence.Missing(x.p, x.s); len(w.People) != 1 || w.Authors {
		t.Errorf("people are %v, authors: %v", w.People, w.Authors)
	}
	if x.p.StandIn = 0; len(evidence.Missing(x.p, x.s).People) != 0 {
		t.Errorf("nobody may stand in, and people are asked for")
	}
	crowd := onHead(openai())
	for i := range 100 {
		crowd.review(int64(i), 5, fmt.Sprint("person", i), "APPROVED", "")
	}
	if n := len(evidence.Missing(crowd.p, crowd.s).People); n != 30 {
		t.Errorf("%d people are asked for", n)
	}
}
