package client_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

func TestWebAddress(t *testing.T) {
	for api, want := range map[string]string{
		"": "https://github.com", "https://api.github.com": "https://github.com", "https://api.acme.ghe.com": "https://acme.ghe.com",
		"https://ghe.example/api/v3": "https://ghe.example", "https://api.ghe.example:8443/api/v3": "https://api.ghe.example:8443",
		"::": "https://github.com",
	} {
		if got := client.WebAddress(api); got != want {
			t.Errorf("%q has its pages at %q, not %q", api, got, want)
		}
	}
}
