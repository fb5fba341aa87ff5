package github_test

// Pushes that change nothing, and pushes that change one thing.

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var pushCount = flag.Int("pushes", 60, "pushes of each kind of test")

const pushesInARow = 10

const twoApps = `version: 1
quorum: 2
grace: 1m
carry: same_diff
reviewers:
  - {name: kim, author: "kim[bot]"}
  - {name: lee, author: "lee[bot]"}
`

// pushNothing pushes in some way that changes nothing of the diff.
func (w *world) pushNothing(seed *rand.Rand, n int) (how string) {
	head := fmt.Sprintf("head %d", n)
	s := sandbox.PushSpec{Same: true}
	switch seed.IntN(5) {
	case 0:
		how, s.Force = "a rebase", true
	case 1:
		how = "an empty commit"
	case 2:
		how, s.Merges = "a merge of the base", "main"
	case 3:
		how, s.Force, s.Commit = "an amended message", true, sandbox.CommitSpec{Message: "Say it better"}
	case 4:
		how, s.Force, head = "a force-push back", true, fmt.Sprintf("head %d", seed.IntN(n))
		if sandbox.SHA(head) == w.g.Head(7) {
			return "nothing"
		}
	}
	w.must(w.g.Push(7, head, s))
	return how
}

// votes is what each reviewer says in the snapshot's record or now.
func votesOf(d quorum.Decision) string {
	var all []string
	for _, b := range d.Ballots {
		all = append(all, fmt.Sprint(b.Reviewer, " ", b.Vote, " ", b.Outcome))
	}
	return strings.Join(all, ", ")
}

func TestPushesThatChangeNothing(t *testing.T) {
	for row := range (*pushCount + pushesInARow - 1) / pushesInARow {
		bubble(t, func(t *testing.T) {
			seed := rand.New(rand.NewPCG(uint64(row), 1))
			w := newWorld(t, func(s *setup) { s.policy, s.pull.Head = twoApps, "head 0" })
			w.loop.Seen = nil
			lee := "APPROVED"
			if row%2 == 1 {
				lee = "CHANGES_REQUESTED"
			}
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "kim[bot]", State: "APPROVED"}))
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "lee[bot]", State: lee, Body: "The total is not rounded."}))
			w.look()
			first := do[string](t)(w.decided())
			if (w.own().Conclusion == "success") != (lee == "APPROVED") {
				t.Fatalf("the first head reads %s", w.own().Conclusion)
			}
			was := w.own().Conclusion
			for n := 1; n <= pushesInARow; n++ {
				pass(time.Minute)
				how := w.pushNothing(seed, n)
				w.look()
				if now := do[string](t)(w.decided()); w.own().Conclusion != was || now != first {
					t.Fatalf("row %d, push %d, %s: the check reads %s %q (%s), want %s (%s)", row, n, how, w.own().Conclusion, w.own().Title, now, was, first)
				}
				if now := w.g.Wrote(); len(now.Comments)+len(now.RequestedReviews)+len(now.RerunOrder) > 0 {
					t.Errorf("row %d, push %d, %s: somebody was asked", row, n, how)
				}
			}
		})
	}
}

// decided is what the reviewers' votes are.
func (w *world) decided() (string, error) {
	look, err := w.loop.Look(w.t.Context(), w.pr)
	return votesOf(look.Decision), err
}

func TestPushesThatChangeOneThing(t *testing.T) {
	for n := range *pushCount {
		but := sandbox.OtherMode + sandbox.Difference(n)%sandbox.OtherSurroundings
		bubble(t, func(t *testing.T) {
			seed := rand.New(rand.NewPCG(uint64(n), 2))
			w := newWorld(t, func(s *setup) {
				s.policy, s.pull.Head = twoApps, "head 0"
				was := sandbox.FileVersion{Content: "a\x00", Binary: true}
				binary := sandbox.FileChange{Was: was, Is: sandbox.FileVersion{Content: "b\x00", Binary: true}}
				if but == sandbox.OtherBinary {
					s.pull.Files = []sandbox.ChangedFile{{Path: "logo.png", Change: &binary}, {Path: "main.go"}}
				}
			})
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "kim[bot]", State: "APPROVED"}))
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "lee[bot]", State: "APPROVED"}))
			w.look()
			w.reads("success", "")
			for k := range seed.IntN(3) {
				pass(time.Minute)
				w.pushNothing(seed, k+1)
				w.look()
				w.reads("success", "")
			}
			pass(time.Minute)
			w.must(w.g.Push(7, fmt.Sprintf("other %d", n), sandbox.PushSpec{Same: true, But: but, Force: seed.IntN(2) == 0}))
			w.look()
			if c := w.own(); c.Conclusion == "success" {
				t.Errorf("another %s: the check reads %q", but, c.Title)
			}
			look := do[string](t)(w.decided())
			if strings.Contains(look, fmt.Sprint(quorum.Approve)) {
				t.Errorf("another %s: an approval is carried: %s", but, look)
			}
		})
	}
}

// What is read for the sake of the head before: at most one request a push, none where there was none.
func TestWhatAPushCosts(t *testing.T) {
	count := func(policy string, voted bool) (first, push int) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.policy = policy })
			if voted {
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "kim[bot]", State: "APPROVED"}))
			}
			w.look()
			first = w.asked().all
			pass(time.Minute)
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{Force: true, Same: true}))
			w.g.ForgetRequests()
			w.look()
			push = w.asked().all
			if testing.Verbose() {
				t.Logf("voted: %v\n%s", voted, w.requests())
			}
		})
		return first, push
	}
	plain := strings.Replace(twoApps, "carry: same_diff\n", "", 1)
	_, none := count(plain, false)
	_, unasked := count(plain, true)
	_, carried := count(twoApps, true)
	if unasked > none+1 || carried > none+1 {
		t.Errorf("a push costs %d requests where nobody voted, %d where somebody did, %d with carry", none, unasked, carried)
	}
}

// On another base the diff of a head may be the same one, or another.
func TestADiffAgainstAnotherBase(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.policy, s.pull.Head, s.pull.Files = twoApps, "head 0", []sandbox.ChangedFile{{Path: "cart.go"}}
		})
		w.loop.Seen = nil
		diff := func() quorum.DiffPrint {
			w.look()
			_, s := w.observe()
			return s.PR.Diff
		}
		to := func(base string, files ...sandbox.ChangedFile) quorum.DiffPrint {
			pass(time.Minute)
			w.must(w.g.Retarget(7, base, "alice", files...))
			return diff()
		}
		rebase := func(head string) quorum.DiffPrint {
			pass(time.Minute)
			for range 2 { // the first may have been begun against the base of before
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "kim[bot]", State: "APPROVED"}))
				pass(time.Minute)
			}
			w.look()
			pass(time.Minute)
			w.must(w.g.Push(7, head, sandbox.PushSpec{Same: true, Force: true}))
			return diff()
		}
		main := diff()
		stable, old := to("stable"), to("old", sandbox.ChangedFile{Path: "cart.go"}, sandbox.ChangedFile{Path: "tax.go"})
		if main.Lines == "" || stable.Lines != main.Lines || old.Lines == main.Lines {
			t.Errorf("against main it is %v, stable %v, old %v", main, stable, old)
		}
		there := rebase("head 1")
		to("stable")
		here := rebase("head 2")
		if there.Lines != old.Lines || here.Lines != main.Lines || there.Tree == "" || here.Tree == "" || here.Tree == there.Tree {
			t.Errorf("after a rebase it is %v against stable, %v against old", here, there)
		}
		if back := to("main"); back.Lines != main.Lines {
			t.Errorf("back against main it is %v, and was %v", back, main)
		}
	})
}
