package storetest

// What is kept of reviewers' services.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

func (b *harness) mustAddSigns(tenant int64, group string, want int, signs ...store.ServiceSign) {
	b.Helper()
	added, err := b.AddSigns(b.Context(), tenant, group, 3, signs...)
	b.must(err)
	b.wantSame("added signs", added, want)
}

// wantSigns wants these signs to be kept of a group, oldest first.
func (b *harness) wantSigns(group string, want ...string) {
	b.Helper()
	signs, err := b.Signs(b.Context(), group)
	b.must(err)
	var got []string
	for _, s := range signs {
		got = append(got, fmt.Sprintf("%s %d %s", s.Reviewer, s.Kind, s.Of))
	}
	b.wantSame("signs of "+group, got, want)
}

func testSigns(b *harness) {
	b.wantSigns("acme/shop")
	limit := store.ServiceSign{
		Reviewer: "gemini", Kind: 3, Of: "run/5/1", Pull: 7, Stranger: "mallory",
		At: b.now.Add(time.Second + time.Microsecond), Until: b.now.Add(time.Hour),
	}
	b.mustAddSigns(1, "acme/shop", 1, limit)
	signs, err := b.Signs(b.Context(), "acme/shop")
	b.must(err)
	b.wantSame("sign", signs, []store.ServiceSign{limit})

	again := limit
	again.At, again.Until, again.Pull = b.now.Add(time.Minute), time.Time{}, 8
	b.mustAddSigns(1, "acme/shop", 0, again) // of one name the first is kept
	signs, err = b.Signs(b.Context(), "acme/shop")
	b.must(err)
	b.wantSame("the first", signs, []store.ServiceSign{limit})

	outage := store.ServiceSign{Reviewer: "gemini", Kind: 2, Of: "run/5/1", Pull: 7, At: b.now}
	other := store.ServiceSign{Reviewer: "copilot", Kind: 2, Of: "run/5/1", Pull: 7, At: b.now}
	b.mustAddSigns(1, "acme/shop", 2, outage, other, outage)
	b.wantSigns("acme/shop", "copilot 2 run/5/1", "gemini 2 run/5/1", "gemini 3 run/5/1")

	for n := range 3 { // the oldest goes first
		at := b.now.Add(time.Duration(10-n) * time.Second)
		b.mustAddSigns(1, "acme/shop", 1, store.ServiceSign{Reviewer: "gemini", Kind: 1, Of: fmt.Sprint(n), At: at})
	}
	b.wantSigns("acme/shop", "copilot 2 run/5/1", "gemini 1 2", "gemini 1 1", "gemini 1 0")

	b.mustAddSigns(2, "other/web", 1, store.ServiceSign{Reviewer: "robot", Kind: 1, Of: "1", At: b.now})
	b.must(b.Drop(b.Context(), 1))
	b.wantSigns("acme/shop")
	b.wantSigns("other/web", "robot 1 1")
}

// Of many that add one sign at once, one is told that it was the first, and whose it is all are told alike.
func testFirstSign(b *harness) {
	var firsts atomic.Int32
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			sign := store.ServiceSign{Reviewer: "gemini", Kind: 4, Of: "turn", Pull: n, At: b.now}
			added, err := b.AddSigns(b.Context(), 1, "acme/shop", 3, sign)
			if err != nil {
				b.Error(err)
			}
			firsts.Add(int32(added))
		})
	}
	wg.Wait()
	b.wantSame("firsts", int(firsts.Load()), 1)
	b.wantSigns("acme/shop", "gemini 4 turn")
}
