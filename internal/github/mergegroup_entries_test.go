package github

import (
	"slices"
	"testing"

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

		branches []string // names, each with its commit's letter at its end
	}{
		{"up to the one whose commit it is", []graphEntry{entry(7, sha('b')), entry(8, sha('c')), entry(9, sha('d'))}, sha('a'), []int{7, 8}, false, false, nil},
		{"that one first", []graphEntry{entry(8, sha('c')), entry(9, sha('d'))}, sha('b'), []int{8}, false, false, nil},
		{"its commit is not shown yet", []graphEntry{entry(7, sha('b')), entry(8, ""), entry(9, "")}, sha('a'), []int{7, 8}, false, false, nil},
		{"the queue built another for it", []graphEntry{entry(7, sha('b')), entry(8, sha('e'))}, sha('a'), nil, false, true, nil},
		{"it is not shown yet, and what it stands on is", []graphEntry{entry(6, sha('f')), entry(7, sha('b'))}, sha('a'), []int{6, 7, 8}, false, false, nil},
		{"it is not shown yet, and stands on the base", []graphEntry{entry(9, sha('d'))}, sha('b'), []int{8}, false, false, nil},
		{"neither it nor what it stands on is shown", []graphEntry{entry(9, sha('d'))}, sha('a'), []int{8}, true, false, nil},
		{"an empty queue, and it does not stand on the base", nil, sha('a'), []int{8}, true, false, nil},
		{"an empty queue, and it stands on the base", nil, sha('b'), []int{8}, false, false, nil},
		{"it was merged", nil, sha('c'), nil, false, true, nil},
		{"a host that shows neither queue nor base", nil, "", []int{8}, false, false, nil},
		{"branches lead to the base", nil, sha('a'), []int{6, 7, 8}, false, false, []string{
			"pr-6-" + sha('a') + "f", "gh-readonly-queue/main/pr-7-" + sha('f') + "b", "pr-8-" + sha('b') + "c",
		}},
		{"branches lead to an entry", []graphEntry{entry(5, sha('f'))}, sha('a'), []int{5, 7, 8}, false, false, []string{"pr-7-" + sha('f') + "b"}},
		{"branches lead nowhere", nil, sha('a'), []int{7, 8}, true, false, []string{"pr-7-" + sha('f') + "b"}},
		{"branches lead in a circle", nil, sha('a'), []int{6, 7, 8}, true, false, []string{"pr-7-" + sha('f') + "b", "pr-6-" + sha('b') + "f"}},
		{"a branch that is none of a queue's", nil, sha('a'), []int{8}, true, false, []string{"pr-x-" + sha('f') + "b"}},
	} {
		v := queueView{entries: test.entries, tip: test.tip}
		for _, b := range test.branches {
			v.groups = append(v.groups, graphBranch{Name: b[:len(b)-1], Target: graphOID{OID: sha(b[len(b)-1])}})
		}
		g := v.groupOf(ref)
		var pulls []int
		for _, pr := range g.Pulls {
			pulls = append(pulls, pr.Number)
		}
		if !slices.Equal(pulls, test.pulls) || g.Whole == test.unsure || g.Gone != test.gone {
			t.Errorf("%s: %v, whole: %t, gone: %t", test.title, pulls, g.Whole, g.Gone)
		}
	}
}
