package storetest

// What is kept of reviewers' answers and services.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

func (b *harness) mustAddNotes(tenant int64, group string, want int, notes ...store.Note) {
	b.Helper()
	added, err := b.AddNotes(b.Context(), tenant, group, 3, notes...)
	b.must(err)
	b.wantSame("added notes", added, want)
}

func (b *harness) mustReadNotes(group string, answers bool) []store.Note {
	b.Helper()
	notes, err := b.Notes(b.Context(), group, answers)
	b.must(err)
	return notes
}

// wantNotes wants these notes to be kept of a group, oldest first.
func (b *harness) wantNotes(group string, answers bool, want ...string) {
	b.Helper()
	var got []string
	for _, n := range b.mustReadNotes(group, answers) {
		got = append(got, fmt.Sprintf("%s %d %s", n.Reviewer, n.Kind, n.Of))
	}
	b.wantSame("notes of "+group, got, want)
}

func testAnswers(b *harness) {
	b.wantNotes("acme/shop", true)
	a := store.Note{
		Reviewer: "copilot", Of: "review/5", Label: "copilot", Pull: 7, Stranger: "mallory", Unread: true,
		At: b.now.Add(time.Second + time.Microsecond),
	}
	b.mustAddNotes(1, "acme/shop", 1, a)
	b.wantSame("answer", b.mustReadNotes("acme/shop", true), []store.Note{a})
	a.Unread, a.Stranger, a.Pull, a.Label = false, "", 8, ""
	b.mustAddNotes(1, "acme/shop", 1, a)
	b.wantSame("the same text, read anew", b.mustReadNotes("acme/shop", true), []store.Note{a})

	b.mustAddNotes(1, "acme/shop", 4, // as many answers of each as there may be, and as many others
		store.Note{Reviewer: "sage", Kind: 1, Of: "1", At: b.now.Add(time.Hour)},
		store.Note{Reviewer: "sage", Kind: 1, Of: "2", At: b.now.Add(time.Hour)},
		store.Note{Reviewer: "sage", Kind: 1, Of: "3", At: b.now.Add(time.Hour)},
		store.Note{Reviewer: "sage", Kind: 2, Of: "3", At: b.now.Add(time.Hour)},
	)
	for n := range 5 { // the oldest is heard of last
		b.mustAddNotes(1, "acme/shop", 1, store.Note{Reviewer: "sage", Of: fmt.Sprint(n), At: b.now.Add(time.Duration(10-n) * time.Second)})
	}
	b.wantNotes("acme/shop", true, "copilot 0 review/5", "sage 0 2", "sage 0 1", "sage 0 0")
	b.mustAddNotes(1, "acme/shop", 3,
		store.Note{Reviewer: "sage", Of: "4", At: b.now.Add(11 * time.Second)},
		store.Note{Reviewer: "sage", Of: "5", At: b.now.Add(12 * time.Second)},
		store.Note{Reviewer: "sage", Of: "6", At: b.now.Add(12 * time.Second), Unread: true},
	)
	b.wantNotes("acme/shop", true, "copilot 0 review/5", "sage 0 4", "sage 0 6", "sage 0 5")
	b.wantNotes("acme/shop", false, "sage 1 2", "sage 1 3", "sage 2 3")
	b.wantNotes("acme/web", true)
}

func testCountHeard(b *harness) {
	at := func(sec int) time.Time { return b.now.Add(time.Duration(sec) * time.Second) }
	b.mustAddNotes(1, "acme/shop", 4,
		store.Note{Reviewer: "copilot", Of: "1", Label: "copilot", At: at(1), Unread: true},
		store.Note{Reviewer: "copilot", Of: "2", Label: "copilot", At: at(2)},
		store.Note{Reviewer: "own", Of: "3", At: at(2)},
		store.Note{Reviewer: "own", Kind: 1, Of: "3", At: at(2)},
	)
	b.mustAddNotes(2, "other/web", 1, store.Note{Reviewer: "robot", Of: "1", Label: "copilot", At: at(3), Unread: true})
	counts, err := b.CountHeard(b.Context(), at(0))
	b.must(err)
	b.wantSame("counts", counts, map[string]store.HeardCount{"copilot": {Answers: 3, Unread: 2}, "": {Answers: 1}})
	counts, err = b.CountHeard(b.Context(), at(2))
	b.must(err)
	b.wantSame("newer ones", counts, map[string]store.HeardCount{"copilot": {Answers: 2, Unread: 1}, "": {Answers: 1}})

	b.must(b.Drop(b.Context(), 1))
	b.wantNotes("acme/shop", true)
	b.wantNotes("acme/shop", false)
	b.wantNotes("other/web", true, "robot 0 1")
}

func testSigns(b *harness) {
	limit := store.Note{
		Reviewer: "gemini", Kind: 3, Of: "run/5/1", Pull: 7, Stranger: "mallory",
		At: b.now.Add(time.Second + time.Microsecond), Until: b.now.Add(time.Hour),
	}
	b.mustAddNotes(1, "acme/shop", 1, limit)
	again := limit
	again.At, again.Until, again.Pull = b.now.Add(time.Minute), time.Time{}, 8
	b.mustAddNotes(1, "acme/shop", 0, again)
	b.wantSame("of one name the first", b.mustReadNotes("acme/shop", false), []store.Note{limit})

	outage := store.Note{Reviewer: "gemini", Kind: 2, Of: "run/5/1", Pull: 7, At: b.now}
	other := store.Note{Reviewer: "copilot", Kind: 2, Of: "run/5/1", Pull: 8, At: b.now}
	b.mustAddNotes(1, "acme/shop", 2, outage, other, outage)
	b.wantNotes("acme/shop", false, "gemini 2 run/5/1", "copilot 2 run/5/1", "gemini 3 run/5/1")
	for n := range 3 { // the oldest goes first
		at := b.now.Add(time.Duration(10-n) * time.Second)
		b.mustAddNotes(1, "acme/shop", 1, store.Note{Reviewer: "gemini", Kind: 1, Of: fmt.Sprint(n), At: at})
	}
	b.wantNotes("acme/shop", false, "copilot 2 run/5/1", "gemini 1 2", "gemini 1 1", "gemini 1 0")
}

// Of many that add one sign at once, one is told that it was the first, and whose it is all are told alike.
func testFirstSign(b *harness) {
	var firsts atomic.Int32
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			sign := store.Note{Reviewer: "gemini", Kind: 4, Of: "turn", Pull: n, At: b.now}
			added, err := b.AddNotes(b.Context(), 1, "acme/shop", 3, sign)
			if err != nil {
				b.Error(err)
			}
			firsts.Add(int32(added))
		})
	}
	wg.Wait()
	b.wantSame("firsts", int(firsts.Load()), 1)
	b.wantNotes("acme/shop", false, "gemini 4 turn")
}
