package quorum

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatALayerWaitsFor(t *testing.T) {
	green, red := Layer{Number: 7, Green: true}, Layer{Number: 8}
	for _, test := range []struct {
		name   string
		below  Below
		is     Verdict
		why    Reason
		number int
	}{
		{"nothing is below", Below{}, Passed, ReasonTally, 0},
		{"all below are green", Below{Layers: []Layer{green, green}}, Passed, ReasonTally, 0},
		{"the nearest is not", Below{Layers: []Layer{red}}, Waiting, ReasonLayer, 8},
		{"one further down is not", Below{Layers: []Layer{green, red}}, Waiting, ReasonLayer, 8},
		{"they are not all known", Below{Layers: []Layer{green}, Lost: ReasonLayersLost}, Waiting, ReasonLayersLost, 0},
		{"none is known", Below{Lost: ReasonLayersLost}, Waiting, ReasonLayersLost, 0},
		{"there are too many", Below{Layers: []Layer{green}, Lost: ReasonLayersMany}, Waiting, ReasonLayersMany, 0},
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
		why, number := w.Facts.Below.waitsFor()
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

// A stack turns green from below, and only from there: of each layer the check says what is decided, and the next one reads it.
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
			below.Layers = append([]Layer{{Number: number, Green: d.Verdict == Passed}}, below.Layers...)
		}
	})
}

func drawBelow(t *rapid.T) (b Below) {
	for range rapid.IntRange(0, 3).Draw(t, "layers below") {
		b.Layers = append(b.Layers, Layer{Number: rapid.IntRange(1, 9).Draw(t, "number"), Green: rapid.Bool().Draw(t, "green")})
	}
	b.Lost = rapid.SampledFrom([]Reason{"", "", ReasonLayersLost, ReasonLayersMany}).Draw(t, "lost")
	return b
}
