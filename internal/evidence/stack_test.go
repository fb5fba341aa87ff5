package evidence_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// onStack makes the pull request of a scene a layer: its own base is the branch of the one below.
func onStack(trunk, base string) func(*scene) {
	return func(x *scene) {
		x.s.PR.BaseRef, x.s.PR.Stack = base, quorum.Stack{Number: 1, Trunk: trunk, Position: 2, Size: 2}
	}
}

// TestLaneOfLayer: a layer of a stack is in the lane of a pull request onto the trunk, and its own base can only add.
func TestLaneOfLayer(t *testing.T) {
	base := func(patterns ...string) quorum.Condition { return quorum.Condition{Base: patterns} }
	for _, test := range []struct {
		name string
		x    *scene
		want string
	}{
		{"a lane of the trunk", inLanes(lane("a", base("main"))).with(onStack("main", "feature")), "none, +a"},
		{
			"one of its own base asks more besides",
			inLanes(lane("a", base("feature")), lane("b", base("main"))).with(onStack("main", "feature")), "none, +a, +b",
		},
		{"and alone", inLanes(lane("a", base("feat*"))).with(onStack("main", "feature")), "none, +a"},
		{"one of another base", inLanes(lane("a", base("dev"))).with(onStack("main", "feature")), "none"},
		{"one of both", inLanes(lane("a", base("*"))).with(onStack("main", "feature")), "none, +a"},
		{"a laxer one of the default branch", inLanes(laxer("a", base("main"))).with(onStack("main", "feature")), "a"},
		{"a laxer one of a trunk that it names", inLanes(laxer("a", base("stable"))).with(onStack("stable", "feature")), "a"},
		{
			"a laxer one of a trunk that a pattern means", inLanes(laxer("a", base("sta*"))).with(onStack("stable", "feature")),
			"none, not a: lane_base stable",
		},
		{"a laxer one of its own base", inLanes(laxer("a", base("feature"))).with(onStack("main", "feature")), "none"},
		{"a laxer one without a base", inLanes(laxer("a", quorum.Condition{})).with(onStack("stable", "main")), "none, not a: lane_base stable"},
	} {
		if got := laneText(change.PolicyFor(test.x.p, test.x.s).Lane); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestALayerVotesAsOnTheTrunk: who votes by `when` does so by the trunk's name.
func TestALayerVotesAsOnTheTrunk(t *testing.T) {
	for base, want := range map[string]quorum.Reason{"main": "", "feature": quorum.ReasonWhen} {
		x := inLanes().with(onStack("main", "feature"))
		x.p.Reviewers[0].When = quorum.Condition{Base: []string{base}}
		if got := change.PolicyFor(x.p, x.s).Reviewers[0].Excused; got != want {
			t.Errorf("when the base is %s it is excused by %q, want %q", base, got, want)
		}
	}
}

// TestALayersBaseLoosensNothing: whatever its author calls the base of a layer, the policy is at least as strict as
// onto the trunk.
func TestALayersBaseLoosensNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lanes []quorum.Lane
		for i := range rapid.IntRange(0, 3).Draw(t, "lanes") {
			bases := rapid.SliceOfN(rapid.SampledFrom([]string{"main", "feature", "*", "f*"}), 0, 2).Draw(t, "base")
			l := lane(string(rune('a'+i)), quorum.Condition{Base: bases})
			people := rapid.IntRange(0, 3).Draw(t, "people")
			l.People = new(quorum.NewPeople(quorum.PeopleRule{Count: people}))
			if rapid.Bool().Draw(t, "less") {
				l.Need = &quorum.NeedRule{Share: quorum.NoReview}
			}
			lanes = append(lanes, l)
		}
		onto := inLanes(lanes...)
		layer := inLanes(lanes...).with(onStack("main", rapid.SampledFrom([]string{"feature", "fix"}).Draw(t, "own base")))
		strict, got := change.PolicyFor(onto.p, onto.s), change.PolicyFor(layer.p, layer.s)
		if less := got.LessThan(&strict); len(less) > 0 {
			t.Fatalf("it asks less in %v than onto the trunk: %+v, %+v", less, got.Lane, strict.Lane)
		}
	})
}
