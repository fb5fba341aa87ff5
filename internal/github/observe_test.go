package github_test

// What an observation is made of, and that it is whole or none.

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// crowded is a world of which an observation reads everything that it ever reads.
func crowded(t *testing.T, s *setup) *world {
	s.pull.Base, s.pull.Files = "dev", []sandbox.ChangedFile{{Path: ".github/review-coordinator.yml"}}
	s.policy = threeReviewers + "  - {name: sonar, status: sonarqube, author: \"sonarbot[bot]\", verdict: conclusion}\n"
	w := newWorld(t, func(x *setup) { now, wire := x.now, x.wire; *x = *s; x.now, x.wire = now, wire })
	w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
	do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "bob", State: "APPROVED"}))
	w.g.SetPermission("bob", "write")
	run := w.start(openaiFile)
	w.look()
	w.must(w.g.HideRun(run, true)) // known from the record, read by its id
	gone := w.start(geminiFile)
	w.comment(actionsBot, geminiNo+"\nFor commit "+sandbox.SHA("a1")+"\n")
	do[bool](t)(w.g.FinishRun(gone, sandbox.Finish{Conclusion: "failure", NoLog: true, Annotation: "The runner has received a shutdown signal."}))
	w.forge.Forget(w.pr)
	return w
}

// Whatever part of it cannot be read, nothing is observed, nothing is written, and a later look comes to the same.
func TestObserveIsWholeOrNothing(t *testing.T) {
	s := setup{token: "ghs_x", sand: sandbox.Options{Lag: sandbox.Lag{Rerun: -1, Runner: -1, Cancel: -1}}, pull: sandbox.PullSpec{Number: 7}}
	var paths []string
	bubble(t, func(t *testing.T) {
		w := crowded(t, &s)
		w.g.ForgetRequests()
		w.observe()
		for _, r := range w.g.Requests() {
			advice := strings.Contains(r.Path, "/logs") || strings.HasPrefix(r.Path, "/_logs/") || strings.HasSuffix(r.Path, "/annotations") ||
				strings.Contains(r.Path, "/git/trees/") // without it a change of the base ends approvals
			if p := r.Method + " " + r.Path; !slices.Contains(paths, p) && !advice {
				paths = append(paths, p)
			}
		}
	})
	for _, part := range []string{
		"/pulls/7", "/contents/", "/check-runs", "/statuses", "/branches/dev", "/rules/branches/dev", "/files", "/actions/runs",
		"/actions/runs/", "/reviews", "/comments", "/pulls", "/graphql", "/permission",
	} {
		if !slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(p, part) }) {
			t.Errorf("no request of %s is tried: %v", part, paths)
		}
	}
	faults := []sandbox.Fault{
		{Kind: sandbox.FaultAnswer, Status: 502},
		{Kind: sandbox.FaultReset},
		{Kind: sandbox.FaultTruncate},
		{Kind: sandbox.FaultGarbage},
		{
			Kind:   sandbox.FaultAnswer,
			Status: 403,
			Body:   `{"message":"Resource not accessible by integration"}`,
			Header: []string{"X-Accepted-GitHub-Permissions: some=read"},
		},
	}
	for _, path := range paths {
		for i, fault := range faults {
			t.Run(fmt.Sprintf("%s/%d", path, i), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := crowded(t, &s)
					before := w.own().Writes
					fault.Match = path
					w.g.AddFault(fault)
					_, _, err := w.forge.Observe(t.Context(), w.pr)
					var missing *client.APIError
					switch {
					case err == nil:
						t.Fatalf("it was observed all the same")
					case fault.Status == 403 && (!errors.As(err, &missing) || !missing.Missing || !strings.Contains(err.Error(), "some=read")):
						t.Errorf("the error does not name the permission: %v", err)
					case fault.Status != 403 && !errors.Is(err, client.ErrTransport):
						t.Errorf("it is not told as a fault: %v", err)
					}
					if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil || w.own().Writes != before {
						t.Errorf("something was written: %v", err)
					}
					w.g.ClearFaults()
					w.look()
				})
			})
		}
	}
}

func TestObserveReadsAllPages(t *testing.T) {
	const many = 130
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			for i := range many {
				s.pull.Files = append(s.pull.Files, sandbox.ChangedFile{Path: fmt.Sprintf("f%03d.go", i)})
			}
			s.policy += "  - {name: sonar, status: sonarqube, author: \"sonarbot[bot]\", verdict: conclusion}\n"
		})
		for i := range many {
			w.comment("carol", fmt.Sprint("comment ", i))
			do[int64](
				t,
			)(
				w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, Body: "x", Comments: []sandbox.LineComment{{Path: "f000.go", Line: i + 1, Body: "y"}}}),
			)
			w.start(".github/workflows/other.yml")
			do[int64](t)(w.g.SetCheck(sandbox.CheckSpec{Name: fmt.Sprint("check ", i), App: sandbox.App{Slug: "secbot"}, Head: "a1", Conclusion: "success"}))
			do[int64](t)(w.g.SetStatus(sandbox.CommitStatus{Head: "a1", Context: fmt.Sprint("status ", i), State: "success", By: "sonarbot[bot]"}))
			w.must(w.g.RequestReview(7, copilotBot, "alice"))
		}
		_, s := w.observe()
		got := []int{len(s.PR.Files), len(s.Comments), len(s.Reviews), len(s.Threads), len(s.Runs), len(s.Statuses), len(s.Timeline)}
		for i, what := range []string{"files", "comments", "reviews", "threads", "runs", "statuses", "events"} {
			if got[i] != many {
				t.Errorf("%d %s, want %d", got[i], what, many)
			}
		}
		if n := len(s.Checks); n != 2*many { // each run's job is one, too
			t.Errorf("%d checks, want %d", n, 2*many)
		}
		if s.Reviews[many-1].Threads != 1 || len(s.Runs[many-1].Jobs) != 1 || s.PR.FilesMissing {
			t.Errorf(
				"the last review has %d threads, the last run %d jobs, files are missing: %v",
				s.Reviews[many-1].Threads,
				len(s.Runs[many-1].Jobs),
				s.PR.FilesMissing,
			)
		}
	})
}

func TestObserveKnowsThatFilesAreMissing(t *testing.T) {
	for _, test := range []struct {
		listed, changed int
		missing         bool
	}{{3, 0, false}, {3, 3, false}, {3, 4, true}, {3, 3001, true}} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) {
				s.pull.ChangedCount = test.changed
				for i := range test.listed {
					s.pull.Files = append(s.pull.Files, sandbox.ChangedFile{Path: fmt.Sprint(i)})
				}
			})
			if _, s := w.observe(); s.PR.FilesMissing != test.missing {
				t.Errorf("%d of %d files: missing is %v", test.listed, test.changed, s.PR.FilesMissing)
			}
		})
	}
}

// Lists of runs come from an index that lags.
func TestObserveReadsByIDWhatListsDoNotShow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.start(openaiFile)
		w.must(w.g.HideRun(first, true))
		if _, s := w.observe(); len(s.Runs) != 0 {
			t.Fatalf("a run that is hidden is in the list")
		}
		w.forge.Hint(w.pr, first, first)
		if _, s := w.observe(); len(s.Runs) != 1 || s.Runs[0].ID != first || len(s.Runs[0].Jobs) != 1 {
			t.Errorf("an event named the run, but it is not seen: %+v", s.Runs)
		}
		w.look()
		w.forge.Forget(w.pr) // another process knows it from the record
		if _, s := w.observe(); len(s.Runs) != 1 {
			t.Errorf("the record names the run, but it is not seen")
		}
		w.must(w.g.DeleteRun(first))
		if _, s := w.observe(); len(s.Runs) != 0 {
			t.Errorf("a run that answers 404 is seen")
		}
		other := do[int64](t)(w.g.StartRun(sandbox.RunSpec{Workflow: openaiFile, PR: 7, Head: "b1"}))
		w.forge.Hint(w.pr, other)
		if _, s := w.observe(); len(s.Runs) != 0 {
			t.Errorf("a run of another head counts as one of this")
		}
	})
}

func TestObserveTellsAnEditFromItsAuthor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.comment(actionsBot, openaiYes)
		r := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, Body: "x"}))
		pass(5 * time.Second)
		w.must(w.g.EditComment(c, "mallory", openaiYes+"!"))
		w.must(w.g.EditReview(r, "mallory", "y"))
		_, s := w.observe()
		if s.Comments[0].Editor.Login != "mallory" || s.Comments[0].Edited.IsZero() || s.Reviews[0].Editor.Login != "mallory" || s.Reviews[0].Edited.IsZero() {
			t.Errorf("edited by %+v and %+v", s.Comments[0], s.Reviews[0])
		}
		pass(5 * time.Second)
		w.must(w.g.EditReview(r, copilotBot, "z"))
		if _, s = w.observe(); s.Reviews[0].Editor.Login != copilotBot || !s.Reviews[0].Editor.Bot {
			t.Errorf("edited by %+v", s.Reviews[0].Editor)
		}
	})
}

// A text that is edited between two reads is never taken for its author's words: who edited it is asked last.
func TestObserveAsksLastWhoEdited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		r := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, Body: "Two problems."}))
		edited := false
		w.g.BeforeRequest(func(req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/pulls/7/reviews") && !edited {
				edited = true
				w.must(w.g.EditReview(r, "mallory", "No problems."))
			}
		})
		if _, s := w.observe(); s.Reviews[0].Body == "No problems." && s.Reviews[0].Editor.Login != "mallory" {
			t.Errorf("mallory's words are %+v", s.Reviews[0])
		}
	})
}

func TestObserveFailsIfTheHeadMoves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		pushed := false
		w.g.BeforeRequest(func(req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/graphql") && !pushed {
				pushed = true
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
			}
		})
		_, _, err := w.forge.Observe(t.Context(), w.pr)
		var soon interface{ Temporary() bool }
		if !errors.As(err, &soon) || !soon.Temporary() {
			t.Errorf("got %v, want an error that looking again may mend", err)
		}
		if _, s := w.observe(); s.PR.Head != sandbox.SHA("a2") {
			t.Errorf("then the head is %s", s.PR.Head)
		}
	})
}

func TestObserveReadsTheTimeline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.pull.Base = "dev" })
		r := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "bob", State: "CHANGES_REQUESTED", Body: "no"}))
		w.must(w.g.DismissReview(r, "alice"))
		w.must(w.g.RetargetAfterMerge(7, "main", "carol"))
		w.must(w.g.Push(7, "a2", sandbox.PushSpec{Force: true, By: "dave"}))
		_, s := w.observe()
		want := []quorum.Event{
			{Kind: quorum.ReviewDismissed, Actor: quorum.Account{Login: "alice"}, From: "CHANGES_REQUESTED", Review: r},
			{Kind: quorum.BaseChanged, Actor: quorum.Account{Login: "carol"}, From: "dev", To: "main"}, // GitHub has another type for this one
			{Kind: quorum.ForcePushed, Actor: quorum.Account{Login: "dave"}, From: sandbox.SHA("a1"), To: sandbox.SHA("a2")},
		}
		if len(s.Timeline) != len(want) {
			t.Fatalf("the timeline is %+v", s.Timeline)
		}
		for i, e := range s.Timeline {
			if e.At.IsZero() {
				t.Errorf("event %d has no time", i)
			}
			e.At, e.Actor.ID = time.Time{}, 0
			if e != want[i] {
				t.Errorf("event %d is %+v, want %+v", i, e, want[i])
			}
		}
		if !slices.Contains(s.Earlier, sandbox.SHA("a1")) {
			t.Errorf("the commit that was force-pushed away is not among %v", s.Earlier)
		}
	})
}

// Until a check suite exists there is nothing that says when the head came. Our own check brings one, and then clocks
// must not start anew with every look: the wait would never end.
func TestClocksStartOnce(t *testing.T) {
	for _, token := range []string{"ghs_x", "ghp_x"} {
		t.Run(token, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) {
					if s.token = token; token == "ghp_x" {
						s.sand.TokenOwner = "robin"
					}
				})
				w.look()
				start, wake := w.last.Decision.Start, w.last.Decision.Wake
				for range 3 {
					pass(15 * time.Second)
					w.look()
				}
				if d := w.last.Decision; d.Start.Sub(start) > time.Second || d.Wake.Sub(wake) > time.Second {
					t.Errorf("clocks count from %s and then from %s", start, d.Start)
				}
				pass(time.Hour)
				w.look()
				if d := w.last.Decision; d.Verdict != quorum.Unverified {
					t.Errorf("nobody ever came, and after an hour it is %s", d.Verdict)
				}
			})
		})
	}
}

func TestObserveReadsThePolicyOfTheDefaultBranch(t *testing.T) {
	const path = ".github/review-coordinator.yml"
	broken := "version: 1\nreviewers: 7\n"
	for name, test := range map[string]struct {
		files             map[string]string // "ref:path" → content
		pull              sandbox.PullSpec
		state             quorum.FileState
		path              string
		changed, proposed bool
	}{
		"none": {state: quorum.FileMissing, path: path},
		"yml":  {files: map[string]string{":" + path: threeReviewers}, state: quorum.FileValid, path: path},
		"yaml": {
			files: map[string]string{":.github/review-coordinator.yaml": threeReviewers}, state: quorum.FileValid,
			path: ".github/review-coordinator.yaml",
		},
		"broken":             {files: map[string]string{":" + path: broken}, state: quorum.FileBroken, path: path},
		"only on the branch": {files: map[string]string{"feature-7:" + path: threeReviewers}, state: quorum.FileMissing, path: path},
		"only on the base": {
			files: map[string]string{"dev:" + path: threeReviewers}, pull: sandbox.PullSpec{Base: "dev"}, state: quorum.FileMissing,
			path: path,
		},
		"too large": {
			files: map[string]string{":" + path: threeReviewers + strings.Repeat("#\n", 64<<10)}, state: quorum.FileBroken,
			path: path,
		},
		"changed for the better": {
			files: map[string]string{":" + path: threeReviewers, "feature-7:" + path: threeReviewers + "# so\n"},
			pull:  sandbox.PullSpec{Files: []sandbox.ChangedFile{{Path: path}}}, state: quorum.FileValid, path: path, changed: true,
		},
		"changed for the worse": {
			files: map[string]string{":" + path: threeReviewers, "feature-7:" + path: broken},
			pull:  sandbox.PullSpec{Files: []sandbox.ChangedFile{{Path: path}}}, state: quorum.FileValid, path: path, changed: true,
			proposed: true,
		},
		"renamed by the pull request": {
			files: map[string]string{":" + path: threeReviewers},
			pull:  sandbox.PullSpec{Files: []sandbox.ChangedFile{{Path: "x.yml", Previous: path}}}, state: quorum.FileValid,
			path: path, changed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				test.pull.Number = 7
				w := newWorld(t, func(s *setup) { s.policy, s.pull = "", test.pull })
				for at, content := range test.files {
					ref, file, _ := strings.Cut(at, ":")
					w.g.SetFile(file, ref, content)
				}
				_, s := w.observe()
				if f := s.File; f.State != test.state || f.Path != test.path || f.Changed != test.changed || (f.Proposed != "") != test.proposed ||
					(f.Problem != "") != (f.State == quorum.FileBroken) ||
					f.State == quorum.FileValid && f.SHA == "" {
					t.Errorf("the policy file is %+v", f)
				}
			})
		})
	}
}

func TestObserveAsAPerson(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.token, s.sand.TokenOwner = "ghp_x", "robin" })
		if _, s := w.observe(); !s.NoRecord || s.Ours.Login != "robin" || s.Ours.Bot {
			t.Errorf("a person observes as %+v, without a record: %v", s.Ours, s.NoRecord)
		}
	})
}

func TestObserveReadsPeople(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.pull.Commit = sandbox.CommitSpec{Author: "alice", Committer: "carol", CoAuthors: []string{"dave"}}
		})
		for login, may := range map[string]string{"bob": "write", "erin": "maintain", "frank": "admin", "grace": "triage"} {
			w.g.SetPermission(login, may)
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: login, State: "APPROVED"}))
		}
		_, s := w.observe()
		for login, want := range map[string]quorum.Permission{"bob": quorum.Write, "erin": quorum.Maintain, "frank": quorum.Admin, "grace": 0} {
			if got := s.Permissions[login]; got != want {
				t.Errorf("%s may %d, want %d", login, got, want)
			}
		}
		var people []string
		for _, c := range s.Commits {
			for _, a := range c.People {
				people = append(people, a.Login)
			}
		}
		for _, login := range []string{"alice", "carol", "dave"} {
			if !slices.Contains(people, login) {
				t.Errorf("%s is not among those who made the commits: %v", login, people)
			}
		}
	})
}

func TestObserveGated(t *testing.T) {
	for base, want := range map[string]bool{"main": true, "kept": true, "ruled": true, "dev": false, "feature/x y": false} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.pull.Base = base })
			w.g.Protect("kept")
			w.g.AddRuleset("ruled")
			if _, s := w.observe(); s.Gated != want {
				t.Errorf("%s: gated is %v", base, s.Gated)
			}
			w.look()
			if c := w.own(); (c.Name == "Review quorum") != want {
				t.Errorf("against %s the check is called %q", base, c.Name)
			}
		})
	}
}

// A lane's base is one that matters: by its name, by a pattern only if not everybody may create it, and not if the lane
// asks less than the top level.
func TestObserveGatedByALane(t *testing.T) {
	const lanes = `
version: 1
quorum: 2
lanes:
  - {name: lax, if: {base: [docs, docs-kept, docs-ruled]}, quorum: 1, why: words}
  - {name: strict, if: {base: [stable, "rel/*", "!rel/9"]}, quorum: all, why: released}
reviewers:
  - {name: sage, author: 'sage[bot]'}
  - {name: owl, author: 'owl[bot]'}
`
	for base, want := range map[string]bool{
		"stable": true, "rel/1": false, "rel/2": true, "rel/3": true, "rel/9": false, "rel/x/y": false, "Stable": false,
		"docs": false, "docs-kept": false, "docs-ruled": true, "dev": false,
	} {
		t.Run(base, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(lanes), func(s *setup) { s.pull.Base = base })
				for _, kept := range []string{"rel/2", "rel/9", "rel/x/y", "docs-kept", "dev"} {
					sandbox.ProtectBranch(w.g, kept) // which requires no check
				}
				w.g.Protect("rel/3")
				w.g.AddRuleset("docs-ruled")
				if _, s := w.observe(); s.Gated != want {
					t.Errorf("gated is %v", s.Gated)
				}
				w.look()
				if c := w.own(); (c.Name == "Review quorum") != want {
					t.Errorf("the check is called %q", c.Name)
				}
			})
		})
	}
}

// Which bases lanes name is read of the policy and the base as they are: what changes there changes the check's name,
// and the green under the plain one is ended.
func TestObserveGatedByALaneNoMore(t *testing.T) {
	const plain = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n"
	const lanes = plain + "lanes:\n  - {name: released, if: {base: [stable]}, quorum: 1, why: released}\n"
	for name, change := range map[string]func(w *world) error{
		"the lane is gone": func(w *world) error { w.g.SetFile(".github/review-coordinator.yml", "", plain); return nil },
		"the lane asks less now": func(w *world) error {
			w.g.SetFile(".github/review-coordinator.yml", "", strings.Replace(lanes, "quorum: 1, why", "quorum: none, why", 1))
			return nil
		},
		"another base": func(w *world) error { return w.g.Retarget(7, "dev", "alice") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(lanes), func(s *setup) { s.pull.Base = "stable" })
				w.sageSays(7, "APPROVED")
				w.look()
				w.reads("success", "1 of 1")
				pass(time.Minute)
				w.must(change(w))
				w.look()
				for _, c := range w.g.OwnCheckRuns(w.g.Head(7)) {
					if c.Name == "Review quorum" && c.Conclusion != "cancelled" {
						t.Errorf("the plain check is %s%s", c.Conclusion, c.Status)
					}
				}
			})
		})
	}
}

// A job's log is advice: without it there are the annotations, and without these nothing.
func TestObserveReadsLogs(t *testing.T) {
	for name, test := range map[string]struct {
		finish      sandbox.Finish
		fault       string
		log, reason string
	}{
		"a log": {finish: sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable\n"}, log: "503", reason: "overloaded"},
		"no log": {
			finish: sandbox.Finish{
				Conclusion: "failure", NoLog: true,
				Annotation: "The runner has received a shutdown signal. This can happen when the runner service is stopped",
			},
			reason: "overloaded",
		},
		"nothing readable": {
			finish: sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable\n"},
			fault:  "GET /repos/acme/shop/actions/jobs/**", reason: "unknown",
		},
		"a time limit": {
			finish: sandbox.Finish{
				Conclusion: "cancelled", Log: "The operation was canceled.",
				Annotation: "The job running on runner R 3 has exceeded the maximum execution time of 6 minutes.",
			},
			reason: "hung",
		},
		"somebody": {finish: sandbox.Finish{Conclusion: "cancelled", Log: "The operation was canceled."}, reason: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				run := w.start(openaiFile)
				pass(time.Minute)
				w.finish(run, test.finish)
				if test.fault != "" {
					w.g.AddFault(sandbox.Fault{Match: test.fault, Kind: sandbox.FaultAnswer, Status: 500})
				}
				_, s := w.observe()
				if got := s.Runs[0].Jobs[0]; !got.Read || !strings.Contains(got.Log, test.log) {
					t.Errorf("the job is %+v", got)
				}
				w.look()
				if b := w.last.Decision.Ballots[0]; string(b.Reason) != test.reason {
					t.Errorf("openai is %s (%s), want %s", b.Reason, b.Detail, test.reason)
				}
			})
		})
	}
}

// GitHub files a check that any job writes into the suite of the oldest run, and lists it among that run's jobs: it is
// none of them, even if it sends its readers to a job.
func TestObserveTakesNoCheckForAJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		run := w.start(openaiFile)
		pass(time.Minute)
		for name, details := range map[string]string{
			"coverage": "https://github.com/acme/shop/actions/runs/1/job/2",
			"report":   "https://github.com/acme/shop/actions/runs/1",
			"lint":     "",
		} {
			_, err := w.g.SetCheck(sandbox.CheckSpec{
				Name: name, App: sandbox.App{Slug: "github-actions"}, Head: "a1", Conclusion: "failure", DetailsURL: details,
			})
			w.must(err)
		}
		w.finish(run, sandbox.Finish{Conclusion: "success"})
		_, s := w.observe()
		if jobs := s.Runs[0].Jobs; len(jobs) != 1 || jobs[0].Conclusion != "success" {
			t.Errorf("the run's jobs are %+v", jobs)
		}
		for _, c := range s.Checks {
			if c.Job != (c.Name == "review") || c.Suite != s.Runs[0].Suite {
				t.Errorf("%s is taken for a job: %v", c.Name, c.Job)
			}
		}
	})
}

// The record of a check that was retired for another base is not lost with it.
func TestObserveFindsTheRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		run := w.start(openaiFile)
		w.look()
		seq := w.last.Snapshot.Record.Seq
		w.must(w.g.Retarget(7, "dev", "alice"))
		w.g.AddFault(sandbox.Fault{Match: "POST /repos/acme/shop/check-runs", Kind: sandbox.FaultAnswer, Status: 403, Times: 1})
		if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
			t.Fatal("the new check could be written")
		}
		w.reads("cancelled", "now against dev")
		w.forge.Forget(w.pr)
		_, s := w.observe()
		if s.Record.Seq < seq || len(s.Record.Runs) != 1 || s.Record.Runs[0].ID != run {
			t.Errorf("the record is %+v", s.Record)
		}
		w.look()
		all := w.g.OwnCheckRuns("a1")
		if len(all) != 2 || all[1].Name != "Review quorum (→ dev)" {
			t.Fatalf("%d checks", len(all))
		}
		if rec, found := report.ParseRecord(all[1].Text); !found || rec.Seq <= seq || rec.Base != "dev" {
			t.Errorf("the new check's record is %+v", rec)
		}
	})
}

// Just after the event a replica may not know the pull request yet.
func TestObserveWaitsForTheReplica(t *testing.T) {
	for times, found := range map[int]bool{1: true, 2: true, 3: false} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/7", Kind: sandbox.FaultAnswer, Status: 404, Times: times})
			if _, _, err := w.forge.Observe(t.Context(), w.pr); (err == nil) != found || err != nil && !client.IsNotFound(err) {
				t.Errorf("not found %d times: %v", times, err)
			}
		})
	}
}

func TestObserveTellsOurCheckFromOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, c := range []sandbox.CheckSpec{
			{Name: "Review quorum", App: sandbox.App{Slug: "mallory"}, Conclusion: "success"},
			{Name: "Review quorum", App: sandbox.App{Slug: "github-actions"}, Conclusion: "success"},
			{Name: "Review quorum", App: sandbox.App{Slug: "mallory"}, Conclusion: "success", AlwaysNew: true, ExternalID: "review-coordinator acme/shop#7"},
			{Name: "Security review", App: sandbox.App{Slug: "secbot"}, Conclusion: "success"},
		} {
			c.Head = "a1"
			do[int64](t)(w.g.SetCheck(c))
		}
		if _, s := w.observe(); len(s.Foreign) != 3 || s.Record.Seq != 0 || len(s.Checks) != 4 {
			t.Errorf("%d are foreign of %d, record %d", len(s.Foreign), len(s.Checks), s.Record.Seq)
		}
		w.look()
		if _, s := w.observe(); len(s.Foreign) != 3 || s.Record.Seq == 0 || len(s.Checks) != 4 {
			t.Errorf("beside ours %d are foreign of %d, record %d", len(s.Foreign), len(s.Checks), s.Record.Seq)
		}
	})
}

// What strangers write may be long, and much: a look keeps none of it, unless it may ask for a review. Who becomes a
// reviewer is read whole at once.
func TestObserveKeepsNoLongTextsOfStrangers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		request := "@sage review" + strings.Repeat(", please", 200)
		policy := "version: 1\nquorum: 1\ngrace: 0s\nstand_in: write\nreviewers:\n" +
			"  - {name: sage, author: \"sage[bot]\", request: {comment: \"" + request + "\"}}\n"
		long := strings.Repeat("Well, well. ", 500)
		w := newWorld(t, func(s *setup) { s.policy = policy })
		w.g.SetPermission("bob", "write")
		for n := range 150 {
			w.comment("mallory", fmt.Sprint(n, " ", long))
		}
		w.comment("Sage[bot]", long)
		w.comment("mallory", request)
		do[int64](
			t,
		)(
			w.g.Review(7, sandbox.ReviewSpec{By: "mallory", State: "COMMENTED", Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: long}}}),
		)
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "bob", State: "APPROVED", Body: long}))
		w.look()
		pass(2 * time.Hour)
		w.look()
		w.reads("success", "") // bob stands in: what is not kept of his words was not edited
		kept := func(s quorum.Snapshot) (of map[string]int) {
			of = map[string]int{}
			for _, c := range slices.Concat(s.Comments, s.Reviews) {
				of[strings.ToLower(c.Author.Login)] += len(c.Body)
				if !c.Edited.IsZero() {
					t.Errorf("%s edited one of %s", c.Editor.Login, c.Author.Login)
				}
			}
			for _, th := range s.Threads {
				of[th.Author.Login] += len(th.Body)
			}
			return of
		}
		for range 2 { // the conversation beside all else, and not
			w.forge.Expect(w.pr, "")
			_, s, err := w.forge.Observe(t.Context(), w.pr)
			w.must(err)
			if diff := cmp.Diff(map[string]int{"mallory": len(request), "sage[bot]": len(long), "bob": 0}, kept(s)); diff != "" {
				t.Errorf("bytes of words that are kept (- want, + got):\n%s", diff)
			}
		}
		w.g.SetFile(".github/review-coordinator.yml", "", policy+"  - {name: mallory, author: mallory}\n")
		w.forge.Expect(w.pr, "")
		_, s, err := w.forge.Observe(t.Context(), w.pr)
		w.must(err)
		if got := kept(s)["mallory"]; got < 151*len(long) {
			t.Errorf("of a new reviewer's words %d bytes are kept", got)
		}
	})
}
