package dashboard

// A scene for the dashboard: one cycle of each kind, on a real table.

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// sceneNow is when the scene is looked at.
var sceneNow = time.Date(2026, 3, 2, 9, 6, 10, 0, time.UTC)

// clockAt is a moment of the scene's hour.
func clockAt(minute, second int) time.Time {
	return time.Date(2026, 3, 2, 9, minute, second, 0, time.UTC)
}

func openTable(t testing.TB) *store.Database {
	t.Helper()
	s, err := store.OpenSQLite(filepath.Join(t.TempDir(), "coordinator.db"), store.Options{Fleeting: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// lay puts a sight into the table as a worker does.
func lay(t *testing.T, s store.Store, sight Sight, at time.Time, failed string) {
	t.Helper()
	text, err := json.Marshal(sight)
	if err != nil {
		t.Fatal(err)
	}
	name, number, _ := strings.Cut(sight.PR, "#")
	key := "77/" + name + "#" + number
	if err := s.Poke(t.Context(),
		store.Poke{Key: "77/" + name, Tenant: 77, Kind: workkey.KindRepo, Group: "77/" + name, Due: at.Add(time.Hour)},
		store.Poke{Key: key, Tenant: 77, Kind: workkey.KindPull, Group: "77/" + name, Due: at},
	); err != nil {
		t.Fatal(err)
	}
	work, err := s.Claim(t.Context(), store.Claim{Now: at, Lease: time.Minute, Limit: 1})
	if err != nil || len(work) != 1 || work[0].Key != key {
		t.Fatalf("claimed %v, %v; want %s", work, err, key)
	}
	ours, err := s.Complete(t.Context(), work[0].Lease, store.Completion{Now: at, Wake: at.Add(time.Hour), Sight: text, Open: sight.Open(), Failed: failed})
	if err != nil || !ours {
		t.Fatalf("complete %s: %v, %v", key, ours, err)
	}
}

// layMany puts many sights into the table, each seen a second before the next one.
func layMany(t testing.TB, s store.Store, sights []Sight, first time.Time) {
	t.Helper()
	pokes, numbers := make([]store.Poke, len(sights)), make(map[string]int, len(sights))
	for i, sight := range sights {
		name, _, _ := strings.Cut(sight.PR, "#")
		pokes[i] = store.Poke{Key: "77/" + sight.PR, Tenant: 77, Kind: workkey.KindPull, Group: "77/" + name, Due: first}
		numbers["77/"+sight.PR] = i
	}
	if err := s.Poke(t.Context(), pokes...); err != nil {
		t.Fatal(err)
	}
	work, err := s.Claim(t.Context(), store.Claim{Now: first, Lease: time.Hour, Limit: len(sights)})
	if err != nil || len(work) != len(sights) {
		t.Fatalf("claimed %d of %d: %v", len(work), len(sights), err)
	}
	var done sync.WaitGroup
	for _, w := range work { // at once: the table writes them together
		done.Go(func() {
			i := numbers[w.Key]
			text, err := json.Marshal(sights[i])
			if err == nil {
				_, err = s.Complete(t.Context(), w.Lease, store.Completion{Now: first.Add(time.Duration(i) * time.Second), Sight: text, Open: sights[i].Open()})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

func sightOf(pr, title, verdict, says string, start time.Time, lanes ...ReviewerLine) Sight {
	name, number, _ := strings.Cut(pr, "#")
	s := Sight{
		PR: pr, URL: "https://github.com/" + name + "/pull/" + number, Title: title, Head: "4f0c2ad1be93c5a7d1e22c7f0a9b8d6e5c4b3a21", Base: "main",
		At: sceneNow, Check: "Review quorum", Says: says, Status: "in_progress", Verdict: verdict, Need: 2, Start: start, Lanes: lanes,
	}
	for _, l := range lanes {
		if l.Vote == "approve" {
			s.Approvals++
		}
	}
	if verdict == "waiting" {
		s.Deadline, s.Wake = start.Add(40*time.Minute), start.Add(40*time.Minute)
		return s
	}
	s.Status = "completed"
	s.Conclusion = map[string]string{"passed": "success", "blocked": "failure", "unverified": "action_required", "ended": "cancelled"}[verdict]
	return s
}

func attempt(n int, start, end time.Time, came string) AttemptBar {
	return AttemptBar{Number: n, Start: start, End: end, Came: came, URL: "https://github.com/acme/shop/actions/runs/1"}
}

// The cycles of the scene, each under the name by which tests speak of it.
func sceneWaiting() Sight {
	return sightOf(
		"acme/shop#482",
		"Apply the discount before the tax",
		"waiting",
		"1 of 2 approvals; waiting for gemini and copilot until 09:12 UTC",
		clockAt(0, 30),
		ReviewerLine{
			Name:     "openai",
			Vote:     "approve",
			Why:      "approved",
			Required: true,
			VotedAt:  clockAt(2, 50),
			URL:      "https://github.com/acme/shop/pull/482#issuecomment-1",
			Attempts: []AttemptBar{attempt(1, clockAt(0, 38), clockAt(2, 54), "approved")},
		},
		ReviewerLine{
			Name:     "gemini",
			Vote:     "pending",
			Why:      "at work — retrying once",
			Deadline: clockAt(13, 40),
			Attempts: []AttemptBar{attempt(1, clockAt(0, 38), clockAt(1, 52), "overloaded"), attempt(2, clockAt(3, 40), time.Time{}, "running")},
		},
		ReviewerLine{Name: "copilot", Vote: "pending", Why: "not received", Deadline: clockAt(10, 30)},
	)
}

func sceneGrace() Sight {
	s := sightOf(
		"acme/web#1207",
		"Keep the cart when a session ends",
		"waiting",
		"2 of 2 approvals; waiting for copilot until 09:07 UTC",
		clockAt(1, 0),
		ReviewerLine{
			Name:     "openai",
			Vote:     "approve",
			Why:      "approved",
			VotedAt:  clockAt(3, 30),
			Attempts: []AttemptBar{attempt(1, clockAt(1, 10), clockAt(3, 34), "approved")},
		},
		ReviewerLine{
			Name:     "gemini",
			Vote:     "approve",
			Why:      "approved",
			VotedAt:  clockAt(4, 50),
			Attempts: []AttemptBar{attempt(1, clockAt(1, 12), clockAt(4, 54), "approved")},
		},
		ReviewerLine{Name: "copilot", Vote: "pending", Why: "not received", Deadline: clockAt(11, 0)},
	)
	s.GraceFrom, s.GraceEnd, s.Wake = clockAt(4, 50), clockAt(7, 50), clockAt(7, 50)
	return s
}

func sceneRunning() Sight {
	return sightOf(
		"kestrel/api#97",
		"Stream exports instead of holding them in memory",
		"waiting",
		"0 of 2 approvals; waiting for openai, gemini and claude until 09:14 UTC",
		clockAt(4, 10),
		ReviewerLine{
			Name:     "openai",
			Vote:     "pending",
			Why:      "at work",
			Deadline: clockAt(14, 10),
			Attempts: []AttemptBar{attempt(1, clockAt(4, 18), time.Time{}, "running")},
		},
		ReviewerLine{
			Name:     "gemini",
			Vote:     "pending",
			Why:      "empty — retrying once",
			Deadline: clockAt(14, 10),
			RerunAt:  clockAt(6, 40),
			Attempts: []AttemptBar{attempt(1, clockAt(4, 20), clockAt(5, 5), "empty")},
		},
		ReviewerLine{
			Name:     "claude",
			Vote:     "pending",
			Why:      "at work",
			Shadow:   true,
			Deadline: clockAt(14, 10),
			Attempts: []AttemptBar{attempt(1, clockAt(4, 40), time.Time{}, "running")},
		},
	)
}

func sceneUnverified() Sight {
	s := sightOf(
		"acme/shop#477",
		"Read prices from the new catalogue",
		"unverified",
		"Unverified: 1 of 2 approvals; gemini: overloaded twice; copilot: review not received. A maintainer may approve instead",
		time.Date(2026, 3, 2, 8, 12, 0, 0, time.UTC),
		ReviewerLine{
			Name:     "openai",
			Vote:     "approve",
			Why:      "approved",
			VotedAt:  time.Date(2026, 3, 2, 8, 15, 0, 0, time.UTC),
			Attempts: []AttemptBar{attempt(1, time.Date(2026, 3, 2, 8, 12, 10, 0, time.UTC), time.Date(2026, 3, 2, 8, 15, 5, 0, time.UTC), "approved")},
		},
		ReviewerLine{Name: "gemini", Vote: "unavailable", Why: "overloaded, retried once", Attempts: []AttemptBar{
			attempt(1, time.Date(2026, 3, 2, 8, 12, 10, 0, time.UTC), time.Date(2026, 3, 2, 8, 13, 40, 0, time.UTC), "overloaded"),
			attempt(2, time.Date(2026, 3, 2, 8, 17, 40, 0, time.UTC), time.Date(2026, 3, 2, 8, 19, 30, 0, time.UTC), "overloaded"),
		}},
		ReviewerLine{Name: "copilot", Vote: "unavailable", Why: "not received in time"},
	)
	s.Page = scenePage()
	return s
}

// scenePage is a page with one of each block.
func scenePage() *report.Page {
	us := func(text string) report.Phrase { return report.Phrase{{Text: text}} }
	quoted := func(text, url string) report.Span { return report.Span{Text: text, From: report.FromWriting, URL: url} }
	const line = "https://github.com/acme/shop/blob/4f0c2ad1be93c5a7d1e22c7f0a9b8d6e5c4b3a21/cart.go#L42"
	return &report.Page{
		Title: "Unverified: 1 of 2 approvals; gemini and copilot unavailable", Verdict: "Unverified",
		Lead: report.Phrase{{Text: "Too few reviewers approve this commit: "}, quoted("503", ""), {Text: "."}},
		Steps: []report.PageStep{{Who: us("A maintainer"), What: report.Phrase{
			{Text: "Review this commit", URL: "https://github.com/acme/shop/pull/477/files"}, {Text: " and approve it."},
		}}},
		Notes: []report.PageNote{{Says: us("This pull request changes the policy file. The proposed one is broken:"), Block: "quorum: many\n        ^^^^"}},
		Findings: []report.PageFinding{{Path: "cart.go", Line: 42, URL: line, Count: 1, Said: []report.PageWords{{
			By: []report.Phrase{{{Text: "openai", From: report.FromName}}}, Line: 42, Objects: true, Body: "A cart of free items divides by zero.",
		}}}},
		Came: 3,
		Rows: []report.PageRow{
			{Reviewer: us("openai"), Vote: "approve", Why: us("it approves"), URL: "https://github.com/acme/shop/pull/477#issuecomment-1"},
			{Reviewer: us("gemini"), Vote: "unavailable", Why: report.Phrase{{Text: "its service was overloaded: "}, quoted("503 Service Unavailable", "")}},
			{Reviewer: us("copilot"), Vote: "unavailable", Why: us("no review by its deadline")},
		},
		Next: []report.Phrase{us("An approval that comes later counts.")},
		Path: []report.PageMoment{{At: sceneNow, Time: "08:12 UTC", What: us("the clock starts for this commit")}},
		Footer: report.PageFooter{
			Quorum:  us("Quorum: 2 of 3 reviewers must approve"),
			Policy:  report.Phrase{{Text: "the policy file", URL: "https://github.com/acme/shop/blob/HEAD/.github/review-coordinator.yml"}},
			Meaning: "https://github.com/acme/coordinator/blob/v1.2.3/docs/verdicts.md#unverified", Writers: us("Only the App that wrote it."),
		},
	}
}

func sceneBlocked() Sight {
	s := sightOf(
		"acme/billing#58",
		"Round each line of an invoice",
		"blocked",
		"Blocked: openai objects: cents are lost when a line is split",
		time.Date(2026, 3, 2, 8, 40, 0, 0, time.UTC),
		ReviewerLine{
			Name:     "openai",
			Vote:     "object",
			Why:      "3 threads are open: “cents are lost when a line is split”",
			VotedAt:  time.Date(2026, 3, 2, 8, 43, 0, 0, time.UTC),
			Attempts: []AttemptBar{attempt(1, time.Date(2026, 3, 2, 8, 40, 9, 0, time.UTC), time.Date(2026, 3, 2, 8, 43, 5, 0, time.UTC), "findings")},
		},
		ReviewerLine{
			Name:     "gemini",
			Vote:     "approve",
			Why:      "approved",
			VotedAt:  time.Date(2026, 3, 2, 8, 42, 0, 0, time.UTC),
			Attempts: []AttemptBar{attempt(1, time.Date(2026, 3, 2, 8, 40, 9, 0, time.UTC), time.Date(2026, 3, 2, 8, 42, 4, 0, time.UTC), "approved")},
		},
	)
	return s
}

func scenePassed() Sight {
	return sightOf(
		"acme/shop#479",
		"Name the currency in every total",
		"passed",
		"2 of 2 approvals; copilot: review not received",
		time.Date(2026, 3, 2, 8, 50, 0, 0, time.UTC),
		ReviewerLine{
			Name:     "openai",
			Vote:     "approve",
			Why:      "approved",
			VotedAt:  time.Date(2026, 3, 2, 8, 52, 50, 0, time.UTC),
			Attempts: []AttemptBar{attempt(1, time.Date(2026, 3, 2, 8, 50, 9, 0, time.UTC), time.Date(2026, 3, 2, 8, 52, 54, 0, time.UTC), "approved")},
		},
		ReviewerLine{
			Name: "gemini", Vote: "approve", Why: "approved (retry succeeded)",
			VotedAt: time.Date(2026, 3, 2, 8, 54, 1, 0, time.UTC), Attempts: []AttemptBar{
				attempt(1, time.Date(2026, 3, 2, 8, 50, 9, 0, time.UTC), time.Date(2026, 3, 2, 8, 51, 20, 0, time.UTC), "overloaded"),
				attempt(2, time.Date(2026, 3, 2, 8, 52, 17, 0, time.UTC), time.Date(2026, 3, 2, 8, 54, 1, 0, time.UTC), "approved"),
			},
		},
		ReviewerLine{Name: "copilot", Vote: "unavailable", Why: "not received"},
	)
}

// setScene fills a table.
func setScene(t *testing.T, s store.Store) {
	t.Helper()
	for i, sight := range []Sight{scenePassed(), sceneBlocked(), sceneUnverified(), sceneGrace(), sceneWaiting(), sceneRunning()} {
		lay(t, s, sight, sceneNow.Add(time.Duration(i-8)*5*time.Second), "")
	}
}
