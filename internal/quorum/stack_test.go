package quorum

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatALayerWaitsFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		below  Below
		is     Verdict
		why    Reason
		number int
	}{
		{"nothing is below, or all is green", Below{}, Passed, ReasonTally, 0},
		{"one is not green", Below{Why: ReasonLayer, Number: 8}, Waiting, ReasonLayer, 8},
		{"they are not all known", Below{Why: ReasonLayersLost}, Waiting, ReasonLayersLost, 0},
		{"there are too many", Below{Why: ReasonLayersMany}, Waiting, ReasonLayersMany, 0},
	} {
		d := table(30, approves("openai", 10), approves("gemini", 20)).facts(func(f *Facts) { f.Trunk, f.Below = "main", test.below }).decide()
		if d.Verdict != test.is || d.Reason != test.why || d.Layer != test.number || d.Trunk != "main" {
			t.Errorf("%s: %s, %s, #%d, onto %s", test.name, d.Verdict, d.Reason, d.Layer, d.Trunk)
		}
		if hasPass := d.Pass != nil; hasPass != (d.Verdict == Passed) {
			t.Errorf("%s: %s with pass %v", test.name, d.Verdict, d.Pass)
		}
	}
}

// A layer is never green while one below it is not, and what is below changes nothing else.
func TestALayerIsNeverGreenAboveOneThatIsNot(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		alone := w.decide()
		w.Facts.Below = drawBelow(t)
		why, number := w.Facts.Below.Why, w.Facts.Below.Number
		d := w.decide()
		if why != "" && d.Verdict == Passed {
			t.Fatalf("passed above %v", w.Facts.Below)
		}
		want := alone
		if why != "" && alone.Verdict == Passed {
			want.Verdict, want.Reason, want.Layer, want.Pass = Waiting, why, number, nil
		}
		if diff := cmp.Diff(want, d, cmp.AllowUnexported(OpenFinding{})); diff != "" {
			t.Fatalf("what is below changes more than a pass (-alone +above):\n%s", diff)
		}
	})
}

// A stack turns green from below, and only from there: of each layer the check says what is decided, and the next one
// reads it.
func TestAStackIsGreenFromBelow(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		below := Below{}
		isGreen := true // all so far
		for number := range rapid.IntRange(1, 5).Draw(t, "layers") {
			layer := w
			if number > 0 {
				layer = draw(t)
			}
			alone := layer.decide()
			layer.Facts.Below = below
			d := layer.decide()
			isGreen = isGreen && alone.Verdict == Passed
			if (d.Verdict == Passed) != isGreen {
				t.Fatalf("layer %d is %s, alone %s, above %v", number, d.Verdict, alone.Verdict, below)
			}
			if below = (Below{}); d.Verdict != Passed {
				below = Below{Why: ReasonLayer, Number: number}
			}
		}
	})
}

func drawBelow(t *rapid.T) (b Below) {
	b.Why = rapid.SampledFrom([]Reason{"", "", ReasonLayer, ReasonLayer, ReasonLayersLost, ReasonLayersMany}).Draw(t, "below")
	if b.Why == ReasonLayer {
		b.Number = rapid.IntRange(1, 9).Draw(t, "number")
	}
	return b
}
