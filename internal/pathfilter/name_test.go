package pathfilter

import "testing"

func TestIsName(t *testing.T) {
	for pattern, want := range map[string]bool{
		"main": true, "release/1.0": true, "release/*": false, "v?": false, "[ab]": false, "!main": false, `a\*`: false, "a+": false, "": false,
	} {
		if got := IsName(pattern); got != want {
			t.Errorf("%q is a name: %t", pattern, got)
		}
	}
}
