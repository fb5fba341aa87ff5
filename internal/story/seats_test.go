package story

import (
	"strings"
	"testing"
)

// Two pull requests of one head have a seat each: its reserve is asked once below each, and what it says below one counts for both.
// It is no golden story, for two jobs that wait and wake in one second can both ask: which of them looks first is chance.
func TestSiblingsHaveASeatEach(t *testing.T) {
	const src = `Gemini is silent below both.

-- policy --
version: 1
quorum: all
timeout: 5m
reviewers:
  - {name: claude, author: "claude[bot]"}
  - {name: gemini, author: "gemini[bot]"}
  - {name: sage, author: "sage[bot]", instead_of: gemini, request: {comment: "@sage review"}}

-- github --
quorum-app[bot] owns the token

-- timeline --
0s     alice opens #7 at a1 branch feature changing cart.go
10s    bob opens #8 at a1 branch copy changing cart.go
1m     claude approves on #7

-- on ask of sage --
1m     sage approves
`
	s, err := Parse("seats.txt", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	told, err := s.PlayStepped(t.Context(), Audience{})
	if err != nil {
		t.Fatal(err)
	}
	end := told.FinalStates()["a1 "]
	for _, want := range []string{"success ", "#7 → main: 2 of 2 approvals; sage for gemini", "#8 → main: 2 of 2 approvals; sage for gemini"} {
		if !strings.Contains(end, want) {
			t.Errorf("it ends with %q, want %q", end, want)
		}
	}
	if asked := strings.Count(told.String(), "→ ask"); asked != 2 {
		t.Errorf("sage is asked %d times, want once below each:\n%s", asked, told)
	}
}
