package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// filed is a reviewer whose verdict is an artifact of its run.
func filed() quorum.Reviewer {
	r := openai()
	r.Heading, r.Verdict = "", quorum.Format{Kind: quorum.Artifact, Artifact: "review-verdict"}
	return r
}

// verdictJSON is a verdict file for run 1 on the head; swaps change words of it.
func verdictJSON(verdict string, n int, swaps ...string) string {
	findings := "[]"
	if verdict == "request_changes" {
		findings = `[{"path": "cart.go", "line": 4, "severity": "high", "body": "The cart is emptied twice."}]`
	}
	text := fmt.Sprintf(`{"schema": 2, "head": %q, "base": "main", "run": 1, "attempt": %d, "verdict": %q, "findings": %s, "files_reviewed": ["cart.go"]}`,
		head, n, verdict, findings)
	return strings.NewReplacer(swaps...).Replace(text)
}

// uploaded adds an artifact of run 1; an empty list says only that it was read.
func (x *scene) uploaded(files ...quorum.Upload) *scene {
	name := quorum.UploadName{Run: 1, Name: "review-verdict"}
	x.s.Uploads = map[quorum.UploadName][]quorum.Upload{name: append(x.s.Uploads[name], files...)}
	return x
}

func upload(id int64, sec int, content string) quorum.Upload {
	return quorum.Upload{ID: id, Created: at(sec), Content: []byte(content)}
}

// afterRun is a head on which run 1 has ended and left these files.
func afterRun(files ...quorum.Upload) *scene { return onHead(filed()).run(1, 5, 40).uploaded(files...) }

// afterRerun is a head on which the second attempt of run 1 has ended, and the files that both left.
func afterRerun(files ...quorum.Upload) *scene {
	return onHead(filed()).run(1, 5, 90, attempt(2, 60)).uploaded(files...)
}

func TestAnArtifactIsTheVerdict(t *testing.T) {
	approve, objects := verdictJSON("approve", 1), verdictJSON("request_changes", 1)
	beside := func(severity string) string {
		return verdictJSON("request_changes", 1, "request_changes", "approve", `"line": 4, "severity": "high"`, severity)
	}
	for name, c := range map[string]struct {
		scene *scene
		want  quorum.Outcome
	}{
		"it approves":                       {afterRun(upload(9, 30, approve)), quorum.Approved},
		"it objects":                        {afterRun(upload(9, 30, objects)), quorum.Findings},
		"it objects while the run goes on":  {onHead(filed()).run(1, 5, -1).uploaded(upload(9, 30, objects)), quorum.Findings},
		"it approves while the run goes on": {onHead(filed()).run(1, 5, -1).uploaded(upload(9, 30, approve)), quorum.Approved},
		"none":                              {afterRun(), quorum.Empty},
		"a text is none":                    {onHead(filed()).run(1, 5, 40).comment(3, 30, bot, yes).uploaded(), quorum.Empty},
		"a text does not object beside it":  {onHead(filed()).run(1, 5, 40).comment(3, 30, bot, no).uploaded(upload(9, 30, approve)), quorum.Approved},
		"no JSON":                           {afterRun(upload(9, 30, "**Ready to merge?** Yes")), quorum.Malformed},
		"another head": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, head, older))), quorum.Malformed,
		},
		"an objection to another head": {
			afterRun(upload(9, 30, verdictJSON("request_changes", 1, head, older))), quorum.Malformed,
		},
		"another base": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `"main"`, `"stable"`))), quorum.Malformed,
		},
		"another run": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `"run": 1`, `"run": 2`))), quorum.Malformed,
		},
		"another attempt": {afterRun(upload(9, 30, verdictJSON("approve", 2))), quorum.Malformed},
		"another file than the one that is changed": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `["cart.go"]`, `["tax.go"]`))), quorum.Partial,
		},
		"half of the change": {
			afterRun(upload(9, 30, approve)).with(func(x *scene) {
				x.s.PR.Files = append(x.s.PR.Files, quorum.File{Path: "shop.go"})
			}), quorum.Partial,
		},
		"half of the change, and the other half is deleted": {
			afterRun(upload(9, 30, approve)).with(func(x *scene) {
				x.s.PR.Files = append(x.s.PR.Files, quorum.File{Path: "shop.go", Deleted: true})
			}), quorum.Approved,
		},
		"the old name of a file": {
			afterRun(upload(9, 30, approve)).with(func(x *scene) {
				x.s.PR.Files[0] = quorum.File{Path: "shop.go", Previous: "cart.go"}
			}), quorum.Approved,
		},
		"a number of files": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `["cart.go"]`, "1"))), quorum.Malformed,
		},
		"the schema before": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `"schema": 2`, `"schema": 1`))), quorum.Malformed,
		},
		"it approves beside a critical finding":           {afterRun(upload(9, 30, beside(`"severity": "critical"`))), quorum.Findings},
		"it approves beside a low finding":                {afterRun(upload(9, 30, beside(`"severity": "low"`))), quorum.Findings},
		"it approves beside a finding without a severity": {afterRun(upload(9, 30, beside(`"line": 4`))), quorum.Findings},
		"a key that says something": {
			afterRun(upload(9, 30, verdictJSON("approve", 1, `"findings"`, `"blocking": true, "findings"`))),
			quorum.Malformed,
		},
		"it cannot be unpacked": {
			afterRun(quorum.Upload{ID: 9, Created: at(30), Problem: "it holds two files"}), quorum.Malformed,
		},
		"two that approve":         {afterRun(upload(9, 30, approve), upload(10, 31, approve)), quorum.Malformed},
		"two of which one objects": {afterRun(upload(9, 30, objects), upload(10, 31, approve)), quorum.Findings},
		"long after its attempt":   {afterRun(upload(9, 140, approve)), quorum.Empty},
		"from before its attempt":  {afterRerun(upload(9, 30, approve)), quorum.Empty},
		"of the attempt before":    {afterRerun(upload(9, 70, approve)), quorum.Malformed},
		"of the newest attempt":    {afterRerun(upload(9, 70, verdictJSON("approve", 2))), quorum.Approved},
		"an objection of the attempt before stands": {
			afterRerun(upload(9, 30, objects)), quorum.Findings,
		},
		"and is answered by the newest": {
			afterRerun(upload(9, 30, objects), upload(10, 70, verdictJSON("approve", 2))), quorum.Approved,
		},
		"it expired and nobody has read it": {
			afterRun(quorum.Upload{ID: 9, Created: at(30), Expired: true}), quorum.Empty,
		},
	} {
		if got := evidence.Judge(c.scene.p, c.scene.s)[0]; outcomeAfter(got) != c.want {
			t.Errorf("%s: %v (%s: %s), want %v", name, outcomeAfter(got), got.Reason, got.Detail, c.want)
		}
	}
}

// outcomeAfter is a ballot's outcome, of a pending one that which it has said already.
func outcomeAfter(b quorum.Ballot) quorum.Outcome {
	if b.Then != nil && b.Then.Vote != 0 && b.Then.Vote != quorum.Unavailable {
		return b.Then.Outcome
	}
	return b.Outcome
}

// GitHub lists 3,000 files. A verdict on as many as are listed is none on those that are not.
func TestAnArtifactOfTheListedFilesIsPartial(t *testing.T) {
	x := onHead(filed()).run(1, 5, 40).uploaded(upload(9, 30, verdictJSON("approve", 1)))
	x.p.Guard, x.p.Reviewers[0].Guard, x.s.PR.FilesMissing = nil, nil, true // an incomplete list trips every guard
	if got := evidence.Judge(x.p, x.s)[0]; got.Outcome != quorum.Partial {
		t.Errorf("%v (%s: %s), want partial", got.Outcome, got.Reason, got.Detail)
	}
}

// What was read once stands: neither retention nor a deletion withdraws a verdict, and within its attempt no upload
// answers one.
func TestAVerdictThatWasReadStands(t *testing.T) {
	approve, objects := verdictJSON("approve", 1), verdictJSON("request_changes", 1)
	expired := []quorum.Upload{{ID: 9, Created: at(30), Expired: true}}
	for name, c := range map[string]struct {
		first, then []quorum.Upload
		want        quorum.Vote
	}{
		"an approval expires":                   {[]quorum.Upload{upload(9, 30, approve)}, expired, quorum.Approve},
		"an approval is deleted":                {[]quorum.Upload{upload(9, 30, approve)}, nil, quorum.Approve},
		"an objection expires":                  {[]quorum.Upload{upload(9, 30, objects)}, expired, quorum.Object},
		"an objection is deleted":               {[]quorum.Upload{upload(9, 30, objects)}, nil, quorum.Object},
		"an objection is replaced by a yes":     {[]quorum.Upload{upload(9, 30, objects)}, []quorum.Upload{upload(10, 35, approve)}, quorum.Object},
		"an approval is replaced by a no":       {[]quorum.Upload{upload(9, 30, approve)}, []quorum.Upload{upload(10, 35, objects)}, quorum.Object},
		"an approval is replaced by no verdict": {[]quorum.Upload{upload(9, 30, approve)}, []quorum.Upload{upload(10, 35, "{}")}, quorum.Pending},
	} {
		x := afterRun(c.first...)
		x.looks(41)
		x.s.Uploads = nil
		x.uploaded(c.then...)
		if got := x.looks(60); got.Vote != c.want {
			t.Errorf("%s: %v (%v, %s), want %v", name, got.Vote, got.Outcome, got.Reason, c.want)
		}
	}
}

// An artifact says nothing of a pull request that it may not be about.
func TestAnArtifactOfAnotherPullRequestApprovesNothing(t *testing.T) {
	x := afterRun(upload(9, 30, verdictJSON("approve", 1)))
	x.s.SameBranch = append(x.s.SameBranch, quorum.PullRequest{
		PR: quorum.PR{Owner: "acme", Repo: "shop", Number: 8}, Head: head, HeadRef: "feature", HeadRepo: "acme/shop", BaseRef: "stable", Created: at(1),
	})
	if got := evidence.Judge(x.p, x.s)[0]; got.Vote == quorum.Approve || got.Reason != quorum.ReasonOtherPull {
		t.Errorf("%v, %v", got.Vote, got.Reason)
	}
	x.s.SameBranch = nil
	if w := evidence.Missing(x.p, x.s); !w.SameBranch {
		t.Error("the other pull requests are not asked for")
	}
}

// Artifacts are asked for before all else, of the runs that may have some.
func TestWantedUploads(t *testing.T) {
	x := onHead(filed(), sage()).run(1, 5, 40)
	w := evidence.Missing(x.p, x.s)
	if len(w.Uploads) != 1 || w.Uploads[0] != (quorum.UploadName{Run: 1, Name: "review-verdict"}) || len(w.Logs) > 0 {
		t.Errorf("%+v", w)
	}
	x.uploaded()
	if w := evidence.Missing(x.p, x.s); len(w.Uploads) > 0 || len(w.Logs) != 1 {
		t.Errorf("%+v", w)
	}
	queued := onHead(filed()).run(1, 5, -1, func(r *quorum.Run) { r.Status, r.Jobs = "queued", nil })
	if w := evidence.Missing(queued.p, queued.s); len(w.Uploads) > 0 {
		t.Errorf("%+v", w)
	}
}

// explain shows each artifact and what became of it, and that no text counts.
func TestConsiderArtifacts(t *testing.T) {
	x := onHead(filed()).run(1, 5, 40).comment(3, 30, bot, yes).
		uploaded(upload(9, 30, verdictJSON("approve", 1)), quorum.Upload{ID: 8, Created: at(20), Expired: true}, upload(10, 300, "{}"))
	got := map[quorum.TextRef]string{}
	for _, c := range evidence.Consider(x.p, x.s) {
		got[c.Text] = c.Outcome.String() + c.Rejected
	}
	for ref, want := range map[quorum.TextRef]string{
		{Kind: quorum.TextArtifact, ID: 9}:  "approved",
		{Kind: quorum.TextArtifact, ID: 8}:  "GitHub keeps the artifact no more",
		{Kind: quorum.TextArtifact, ID: 10}: "it was not written during the newest attempt of this head's run",
		{Kind: quorum.TextComment, ID: 3}:   "its reviewer's verdict is an artifact, not a text",
	} {
		if got[ref] != want {
			t.Errorf("%v: %q, want %q", ref, got[ref], want)
		}
	}
}

// An approval that the record kept is of the artifact that the policy named then.
func TestAnotherArtifactIsAnotherVerdict(t *testing.T) {
	x := onHead(filed()).run(1, 5, 40).uploaded(upload(9, 30, verdictJSON("approve", 1)))
	x.looks(41)
	x.p.Reviewers[0].Verdict.Artifact = "full-review"
	x.s.Uploads = map[quorum.UploadName][]quorum.Upload{{Run: 1, Name: "full-review"}: nil}
	if got := x.looks(60); got.Vote == quorum.Approve {
		t.Errorf("%v (%v), without such an artifact", got.Vote, got.Reason)
	}
}
