package github_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const artifactPolicy = `version: 1
quorum: 1
reviewers:
  - {name: openai, workflow: .github/workflows/openai.yml, verdict: {artifact: review-verdict}}
`

// verdictOf is the verdict file of a run's first attempt on a1.
func verdictOf(run int64, verdict string) string {
	findings := "[]"
	if verdict == "request_changes" {
		findings = `[{"path": "cart.go", "line": 4, "body": "The cart is emptied twice."}]`
	}
	return fmt.Sprintf(`{"schema": 2, "head": %q, "base": "main", "run": %d, "attempt": 1, "verdict": %q, "findings": %s, "files_reviewed": ["cart.go"]}`,
		sandbox.SHA("a1"), run, verdict, findings)
}

// An artifact costs two requests when it is new, its list is asked for once more after the run has ended, and then no
// more. Whether a file is deleted or binary comes with the list of files.
func TestAnArtifactIsReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.policy = artifactPolicy
			logo := sandbox.FileChange{
				Was: sandbox.FileVersion{Content: "a", Binary: true}, Is: sandbox.FileVersion{Content: "b", Binary: true},
			}
			s.pull.Files = []sandbox.ChangedFile{
				{Path: "cart.go"}, {Path: "gone.go", Status: "removed"}, {Path: "logo.png", Change: &logo}, // these may go unread
			}
		})
		run := w.start(openaiFile)
		w.look()
		asked := func() (lists, archives int) {
			for _, r := range w.g.Requests() {
				switch {
				case strings.HasSuffix(r.Path, "/artifacts") && !r.NotModified:
					lists++
				case strings.Contains(r.Path, "/artifacts/"):
					archives++
				}
			}
			return lists, archives
		}
		for _, step := range []struct {
			what            string
			do              func()
			lists, archives int
		}{
			{"nothing new", func() {}, 0, 0},
			{"it is uploaded", func() {
				_, err := sandbox.UploadArtifact(w.g, run, sandbox.ArtifactUpload{
					Name: "review-verdict", File: "verdict.json", Content: verdictOf(run, "approve"),
				})
				w.must(err)
				_, err = sandbox.UploadArtifact(w.g, run, sandbox.ArtifactUpload{Name: "coverage", File: "cover.out", Content: "mode: set"})
				w.must(err)
			}, 1, 2}, // the archive, and where GitHub sends us for it
			{"the run ends", func() { pass(time.Second); w.finish(run, sandbox.Finish{}) }, 0, 0},
			{"it ended a minute ago", func() { pass(time.Minute) }, 0, 0},
			{"it is deleted later", func() { pass(time.Minute); w.must(sandbox.DeleteArtifacts(w.g, run)) }, 0, 0},
		} {
			step.do()
			w.g.ForgetRequests()
			w.look()
			if lists, archives := asked(); lists != step.lists || archives != step.archives {
				t.Errorf("%s: %d lists and %d requests for archives:\n%s", step.what, lists, archives, w.requests())
			}
		}
		w.reads("success", "1 of 1 approval")
	})
}

// What is wrong with an artifact is the reviewer's fault, and is said; what is wrong with GitHub decides nothing.
func TestAnArtifactThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		upload sandbox.ArtifactUpload
		fault  sandbox.Fault
		title  string // of the check; "": the look fails
	}{
		"two files": {upload: sandbox.ArtifactUpload{Archive: []byte("PK")}, title: "waiting for openai"},
		"too long":  {upload: sandbox.ArtifactUpload{Archive: make([]byte, 2<<20)}, title: "waiting for openai"},
		"GitHub has it no more": {
			upload: sandbox.ArtifactUpload{File: "verdict.json", Content: "{}"},
			fault: sandbox.Fault{
				Match: "GET /repos/*/*/actions/artifacts/**", Kind: sandbox.FaultAnswer, Times: 1,
				Status: 410, Body: `{"message":"Artifact has expired"}`,
			},
			title: "waiting for openai",
		},
		"the storage is down": {
			upload: sandbox.ArtifactUpload{File: "verdict.json", Content: "{}"},
			fault:  sandbox.Fault{Match: "GET /repos/*/*/actions/artifacts/**", Kind: sandbox.FaultAnswer, Status: 503, Times: 9},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.policy = artifactPolicy; s.pull.Files = []sandbox.ChangedFile{{Path: "cart.go"}} })
			run := w.start(openaiFile)
			w.look()
			c.upload.Name = "review-verdict"
			_, err := sandbox.UploadArtifact(w.g, run, c.upload)
			w.must(err)
			pass(time.Minute)
			w.finish(run, sandbox.Finish{})
			if c.fault.Status != 0 {
				w.g.AddFault(c.fault)
			}
			_, err = w.loop.Reconcile(t.Context(), w.pr)
			if (err != nil) != (c.title == "") {
				t.Fatalf("%s: %v", name, err)
			}
			w.reads("in_progress", "waiting for openai")
		})
	}
}
