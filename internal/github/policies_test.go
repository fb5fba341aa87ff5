package github

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

// Presets know their accounts by github.com's numbers. Another host has numbers of its own, and there the name must do.
func TestPresetsAreKnownByTheirNumbersOnGitHubAlone(t *testing.T) {
	p, err := config.Parse("policy.yml", []byte("reviewers:\n  - preset: copilot\n"))
	if err != nil || p.Reviewers[0].AuthorID == 0 {
		t.Fatalf("copilot has no number: %v", err)
	}
	for base, want := range map[string]bool{
		"": true, "https://api.github.com": true, "https://ghe.example/api/v3": false, "https://api.acme.ghe.com": false, "http://127.0.0.1:8080": false,
	} {
		api, err := client.New(client.Options{BaseURL: base, Token: "ghs_x"})
		if err != nil {
			t.Fatal(err)
		}
		f := NewForge(api, "", "", nil)
		if got := f.withOwnAccounts(p).Reviewers[0].AuthorID != 0; got != want {
			t.Errorf("%q: it has a number: %v, want %v", base, got, want)
		}
	}
	if p.Reviewers[0].AuthorID == 0 {
		t.Error("the policy that others share has lost it")
	}
}
