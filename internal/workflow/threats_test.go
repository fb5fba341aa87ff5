package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A hostile file costs little: neither what stands within one another, nor what is repeated by reference, takes long.
func TestHostileDefinitionsCostLittle(t *testing.T) {
	const rest = "on: push\njobs:\n  a: {}\n"
	inputs := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&inputs, "k%d: v, ", i)
	}
	step := "s: &s {uses: a/b@c, run: " + strings.Repeat("x", 50_000) + ", with: {" + inputs.String() + "z: z}}\n"
	for name, test := range map[string]struct {
		src, says string
	}{
		"brackets":              {rest + "x: " + strings.Repeat("[", 400_000), "it is nested too deeply"},
		"braces":                {rest + "x: " + strings.Repeat("{a: ", 50_000), "it is nested too deeply"},
		"lists":                 {rest + "x:\n  " + strings.Repeat("- ", 100_000) + "a\n", "it is nested too deeply"},
		"references":            {step + rest + "  b: {steps: [" + strings.Repeat("*s,", 30_000) + "]}\n", "it repeats too much by reference"},
		"a script full of them": {rest + "  b: {steps: [{run: \"" + strings.Repeat("[ -n *.go ] && ", 2000) + "\"}]}\n", ""},
	} {
		began := time.Now()
		_, err := ParseDefinition(test.src)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
		if says := fmt.Sprint(err); test.says != "" && says != test.says || test.says == "" && err != nil {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}
