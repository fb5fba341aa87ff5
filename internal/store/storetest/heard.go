package storetest

// What is kept of reviewers' answers.

import (
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

func (b *harness) mustHear(tenant int64, group string, answers ...store.Heard) {
	b.Helper()
	b.must(b.Hear(b.Context(), tenant, group, 3, answers...))
}

// wantHeard wants these texts to be kept of a group, newest first.
func (b *harness) wantHeard(group string, want ...string) {
	b.Helper()
	heard, err := b.Heard(b.Context(), group)
	b.must(err)
	var got []string
	for _, a := range heard {
		got = append(got, a.Reviewer+" "+a.Text)
	}
	b.wantSame("answers of "+group, got, want)
}

func testHeard(b *harness) {
	b.wantHeard("acme/shop")
	a := store.Heard{
		Reviewer: "copilot", Text: "review/5", Label: "copilot", Pull: 7, Stranger: "mallory", Unread: true,
		At: b.now.Add(time.Second + time.Microsecond),
	}
	b.mustHear(1, "acme/shop", a)
	heard, err := b.Heard(b.Context(), "acme/shop")
	b.must(err)
	b.wantSame("answer", heard, []store.Heard{a})
	a.Unread, a.Stranger, a.Pull, a.Label = false, "", 8, ""
	b.mustHear(1, "acme/shop", a)
	heard, err = b.Heard(b.Context(), "acme/shop")
	b.must(err)
	b.wantSame("the same text, read anew", heard, []store.Heard{a})

	for n := range 5 { // the oldest is heard of last
		b.mustHear(1, "acme/shop", store.Heard{Reviewer: "sage", Text: fmt.Sprint(n), At: b.now.Add(time.Duration(10-n) * time.Second)})
	}
	b.wantHeard("acme/shop", "sage 0", "sage 1", "sage 2", "copilot review/5")
	b.mustHear(1, "acme/shop",
		store.Heard{Reviewer: "sage", Text: "4", At: b.now.Add(11 * time.Second)},
		store.Heard{Reviewer: "sage", Text: "5", At: b.now.Add(12 * time.Second)},
		store.Heard{Reviewer: "sage", Text: "6", At: b.now.Add(12 * time.Second), Unread: true},
	)
	b.wantHeard("acme/shop", "sage 5", "sage 6", "sage 4", "copilot review/5")
	b.wantHeard("acme/web")
}

func testCountHeard(b *harness) {
	at := func(sec int) time.Time { return b.now.Add(time.Duration(sec) * time.Second) }
	b.mustHear(1, "acme/shop",
		store.Heard{Reviewer: "copilot", Text: "1", Label: "copilot", At: at(1), Unread: true},
		store.Heard{Reviewer: "copilot", Text: "2", Label: "copilot", At: at(2)},
		store.Heard{Reviewer: "own", Text: "3", At: at(2)},
	)
	b.mustHear(2, "other/web", store.Heard{Reviewer: "robot", Text: "1", Label: "copilot", At: at(3), Unread: true})
	counts, err := b.CountHeard(b.Context(), at(0))
	b.must(err)
	b.wantSame("counts", counts, map[string]store.HeardCount{"copilot": {Answers: 3, Unread: 2}, "": {Answers: 1}})
	counts, err = b.CountHeard(b.Context(), at(2))
	b.must(err)
	b.wantSame("newer ones", counts, map[string]store.HeardCount{"copilot": {Answers: 2, Unread: 1}, "": {Answers: 1}})

	b.must(b.Drop(b.Context(), 1))
	b.wantHeard("acme/shop")
	b.wantHeard("other/web", "robot 1")
}
