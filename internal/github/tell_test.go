package github_test

// The comment that tells the verdict, and requests for people's reviews.

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const toldOnProblem = oneSage + "comment: on_problem\n"

// tellers are our comments that tell the verdict, as they read now.
func (w *world) tellers() (bodies []string) {
	_, s := w.observe()
	for _, c := range s.Told {
		bodies = append(bodies, c.Body)
	}
	return bodies
}

// tells wants one comment of ours that holds words.
func (w *world) tells(words ...string) {
	w.t.Helper()
	told := w.tellers()
	if len(told) != 1 {
		w.t.Fatalf("%d comments tell the verdict: %q", len(told), told)
	}
	for _, word := range words {
		if !strings.Contains(told[0], word) {
			w.t.Errorf("the comment lacks %q:\n%s", word, told[0])
		}
	}
}

func TestTheCommentIsEditedInPlace(t *testing.T) {
	for name, identity := range map[string]func(*setup){"App": func(*setup) {}, "job": asJob, "person": asCarol} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(toldOnProblem), identity)
				w.look() // nothing is told yet
				said := w.comment("sage[bot]", plainNo)
				w.look()
				w.tells("Blocked")
				for range 3 { // nothing has changed
					pass(time.Minute)
					w.look()
				}
				wrote := w.g.Wrote()
				if n := len(wrote.Comments) + len(wrote.Revisions); n != 1 {
					t.Errorf("it was written %d times", n)
				}
				w.must(w.g.EditComment(said, "sage[bot]", plainYes))
				w.look()
				w.tells("Passed")
				pass(time.Minute)
				w.comment("sage[bot]", plainNo)
				w.replica(setup{token: map[bool]string{true: "ghp_x", false: "ghs_x"}[name == "person"], now: time.Now}) // it is found again
				w.look()
				w.tells("Blocked", "sage objects", "Mend what sage names")
				if wrote := w.g.Wrote(); len(wrote.Comments) != 1 {
					t.Errorf("%d comments were written", len(wrote.Comments))
				}
			})
		})
	}
}

// Whoever writes our first line gets no comment of ours edited, and hides none.
func TestAStrangersMarkerIsNotOurs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(toldOnProblem))
		forged := w.comment("mallory", quorum.VerdictMarker+"\n**Review quorum: Passed.**")
		quoted := w.comment("quorum-app[bot]", "> "+quorum.VerdictMarker)
		w.look()
		w.comment("sage[bot]", plainNo)
		w.look()
		w.tells("Blocked")
		if edited := w.g.Wrote().Edited; edited[forged] || edited[quoted] || len(w.g.Wrote().Deleted) > 0 {
			t.Errorf("another's comment was edited or deleted: %+v", w.g.Wrote())
		}
	})
}

// Two processes that looked at once have each written one: the older is kept.
func TestOfTwoCommentsTheOlderIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(toldOnProblem))
		first := w.comment("quorum-app[bot]", quorum.VerdictMarker+"\n**Review quorum: Waiting.**")
		pass(time.Second)
		second := w.comment("quorum-app[bot]", quorum.VerdictMarker+"\n**Review quorum: Waiting.**")
		w.comment("sage[bot]", plainYes)
		w.look()
		w.tells("Passed")
		if wrote := w.g.Wrote(); !wrote.Edited[first] || len(wrote.Deleted) != 1 || wrote.Deleted[0] != second {
			t.Errorf("edited %v, deleted %v", wrote.Edited, wrote.Deleted)
		}
	})
}

// While GitHub's list does not show our comment yet, it is compared with what was written last.
func TestACommentIsEditedBackWhileTheListLags(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(toldOnProblem))
		for _, verdict := range []string{"Waiting", "Passed", "Waiting"} {
			c, _ := report.CommentOf(
				quorum.Policy{Comment: quorum.CommentOnProblem}, quorum.Decision{Verdict: quorum.Blocked},
				report.Check{Name: "Review quorum", Page: report.Page{Verdict: verdict}},
			)
			_, err := w.forge.Tell(t.Context(), w.pr, c, nil)
			w.must(err)
		}
		w.tells("Waiting")
	})
}

// What GitHub refuses is said in the check and tried once; a fault is tried again, and makes no second comment.
func TestACommentThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		fault sandbox.Fault
		says  string
	}{
		"locked":  {sandbox.Fault{Status: 403, Body: `{"message":"Unable to create comment because issue is locked."}`}, "the conversation is locked"},
		"may not": {sandbox.Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`}, "pull_requests=write"},
		"blocked": {sandbox.Fault{Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed: User is blocked"}`}, "User is blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(toldOnProblem))
				w.comment("sage[bot]", plainNo)
				c.fault.Match, c.fault.Kind = newComments, sandbox.FaultAnswer
				w.g.AddFault(c.fault)
				for range 3 {
					w.replica(setup{token: "ghs_x", now: time.Now})
					w.look()
					pass(time.Minute)
				}
				if n := w.tries(http.MethodPost, "/comments"); n != 1 {
					t.Errorf("it was tried %d times", n)
				}
				if own := w.own(); !strings.Contains(own.Summary, "could not be written, because") || !strings.Contains(own.Summary, c.says) {
					t.Errorf("the check does not say why:\n%s", own.Summary)
				}
			})
		})
	}
	t.Run("a lost answer", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, under(toldOnProblem))
			w.comment("sage[bot]", plainNo)
			w.g.AddFault(sandbox.Fault{Match: newComments, Kind: sandbox.FaultLost, Times: 1})
			if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
				t.Error("the fault is not told")
			}
			w.look()
			w.tells("Blocked")
		})
	})
}

// A policy that has it told no more leaves no verdict behind that is none.
func TestTheCommentOfAnEarlierPolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(toldOnProblem))
		w.comment("sage[bot]", plainNo)
		w.look()
		w.tells("Blocked")
		w.g.SetFile(".github/review-coordinator.yml", "", oneSage)
		pass(time.Minute)
		w.look()
		w.tells("not told here any more")
	})
}

// A team whose name another organisation has is not asked for that one's.
func TestPeopleAreAskedOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneSage+"timeout: 1m\nescalate: {to: ['@dave', '@acme/owners', '@octo/owners', '@alice', '@carol'], after: 1m}\n"),
			func(s *setup) { s.pull.Author = "alice" })
		w.g.SetPermission("dave", "write")
		w.g.SetPermission("carol", "write")
		sandbox.AddTeam(w.g, "owners")
		w.must(w.g.RequestReview(7, "carol", "alice"))
		w.g.AddFault(sandbox.Fault{
			Match: "POST /repos/*/*/pulls/*/requested_reviewers", Kind: sandbox.FaultAnswer, Times: 1,
			Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`,
		})
		for range 6 {
			w.look()
			pass(time.Minute)
		}
		if got := strings.Join(w.g.Wrote().RequestedReviews, " "); got != "acme/owners" {
			t.Errorf("asked: %s", got)
		}
		if n := w.tries(http.MethodPost, "/requested_reviewers"); n != 2 {
			t.Errorf("%d requests", n)
		}
		for _, says := range []string{
			"dave could not be asked", "pull_requests=write", "`octo/owners` could not be asked", "`acme/owners` was asked for a review",
		} {
			if summary := w.own().Summary; !strings.Contains(summary, says) {
				t.Errorf("the check does not say %q:\n%s", says, summary)
			}
		}
	})
}
