package github

import (
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Which pull requests a group has, by what GitHub shows of its queue.
func TestGroupIsReadFromItsQueue(t *testing.T) {
	sha := func(name byte) string { return string(slices.Repeat([]byte{name}, 40)) }
	entry := func(number int, head string) (e graphEntry) {
		e.Position, e.Pull.Number, e.Head.OID = number, number, head
		return e
	}
	ref := quorum.GroupRef{Owner: "acme", Repo: "shop", Head: sha('c'), Branch: "gh-readonly-queue/main/pr-8-" + sha('b')}
	for _, test := range []struct {
		title   string
		entries []graphEntry
		tip     string // of main
		pulls   []int
		unsure  bool
		gone    bool
	}{
		{"up to the one whose commit it is", []graphEntry{entry(7, sha('b')), entry(8, sha('c')), entry(9, sha('d'))}, sha('a'), []int{7, 8}, false, false},
		{"that one first", []graphEntry{entry(8, sha('c')), entry(9, sha('d'))}, sha('b'), []int{8}, false, false},
		{"its commit is not shown yet", []graphEntry{entry(7, sha('b')), entry(8, ""), entry(9, "")}, sha('a'), []int{7, 8}, false, false},
		{"the queue built another for it", []graphEntry{entry(7, sha('b')), entry(8, sha('e'))}, sha('a'), nil, false, true},
		{"it is not shown yet, and what it stands on is", []graphEntry{entry(6, sha('f')), entry(7, sha('b'))}, sha('a'), []int{6, 7, 8}, false, false},
		{"it is not shown yet, and stands on the base", []graphEntry{entry(9, sha('d'))}, sha('b'), []int{8}, false, false},
		{"neither it nor what it stands on is shown", []graphEntry{entry(9, sha('d'))}, sha('a'), []int{8}, true, false},
		{"an empty queue, and it does not stand on the base", nil, sha('a'), []int{8}, true, false},
		{"an empty queue, and it stands on the base", nil, sha('b'), []int{8}, false, false},
		{"it was merged", nil, sha('c'), nil, false, true},
		{"a host that shows neither queue nor base", nil, "", []int{8}, false, false},
	} {
		g := groupIn(ref, test.entries, test.tip, time.Time{})
		var pulls []int
		for _, pr := range g.Pulls {
			pulls = append(pulls, pr.Number)
		}
		if !slices.Equal(pulls, test.pulls) || g.Whole == test.unsure || g.Gone != test.gone {
			t.Errorf("%s: %v, whole: %t, gone: %t", test.title, pulls, g.Whole, g.Gone)
		}
	}
}
