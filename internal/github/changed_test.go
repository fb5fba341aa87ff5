package github_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const many = 230
		w := newWorld(t)
		for n := 8; n < 8+many; n++ {
			pass(time.Second)
			w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprint("h", n)})
		}
		all, err := w.forge.Changed(t.Context(), "acme", "shop", time.Time{})
		w.must(err)
		if len(all.Pulls) != many+1 || all.File.State != quorum.FileValid || len(all.Policy.Reviewers) != 3 || !all.Latest.Equal(all.Pulls[0].Updated) {
			t.Fatalf("%d pull requests, policy %+v, latest %s", len(all.Pulls), all.File, all.Latest)
		}
		if p := all.Pulls[0]; p.PR != (quorum.PR{Owner: "acme", Repo: "shop", Number: 7 + many}) || p.Head != sandbox.SHA(fmt.Sprint("h", 7+many)) {
			t.Errorf("the newest is %+v", p)
		}
		if !slices.IsSortedFunc(all.Pulls, func(a, b github.RecentPull) int { return b.Updated.Compare(a.Updated) }) {
			t.Error("they are not in order")
		}
		w.g.ForgetRequests()
		none, err := w.forge.Changed(t.Context(), "acme", "shop", all.Latest.Add(time.Second))
		w.must(err)
		if n := w.asked(); len(none.Pulls) != 0 || !none.Latest.Equal(all.Latest) || n.all != 2 || n.fresh != 0 {
			t.Errorf("nothing was changed, and %d pull requests cost %+v", len(none.Pulls), n)
		}
		pass(time.Second)
		do[int64](t)(w.g.Comment(9, "carol", "hello"))
		some, err := w.forge.Changed(t.Context(), "acme", "shop", all.Latest)
		w.must(err)
		if len(some.Pulls) != 2 || some.Pulls[0].PR.Number != 9 || some.Pulls[1].PR.Number != 7+many || !some.Latest.After(all.Latest) {
			t.Errorf("changed since %s: %+v", all.Latest, some.Pulls)
		}
	})
}

func TestChangedWithoutAPolicy(t *testing.T) {
	for policy, state := range map[string]quorum.FileState{"": quorum.FileMissing, "version: 1\nreviewers: 7\n": quorum.FileBroken} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.policy = policy })
			r, err := w.forge.Changed(t.Context(), "acme", "shop", time.Time{})
			w.must(err)
			if r.File.State != state || len(r.Policy.Reviewers) != 0 || (len(r.Pulls) == 1) != (state == quorum.FileBroken) {
				t.Errorf("%q: %+v", policy, r)
			}
		})
	}
}

// Who compares the changes' times with times of its own must know how far the clocks are apart.
func TestChangedTellsTheSkew(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Minute} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.replica(setup{token: "ghs_x", now: func() time.Time { return time.Now().Add(ahead) }})
			r, err := w.forge.Changed(t.Context(), "acme", "shop", time.Time{})
			w.must(err)
			if off := (r.Skew + ahead).Abs(); off > time.Second {
				t.Errorf("our clock is %s ahead, and GitHub's %s", ahead, r.Skew)
			}
		})
	}
}

func TestChangedFails(t *testing.T) {
	for _, match := range []string{"GET /repos/acme/shop/pulls", "GET /repos/acme/shop/contents/**"} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.g.AddFault(sandbox.Fault{Match: match, Kind: sandbox.FaultAnswer, Status: 403, Body: `{"message":"no"}`})
			if _, err := w.forge.Changed(t.Context(), "acme", "shop", time.Time{}); err == nil {
				t.Errorf("%s failed, and no error", match)
			}
		})
	}
}
