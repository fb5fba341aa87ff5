//go:build !action

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// config check says what holds of a repository's policy beside its organisation's, and from where.
func TestConfigCheckBesideAnOrganisation(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	org := write("org.yml", "reviewers:\n  - preset: copilot\nenforce: {reviewers: [copilot]}\n")
	repo := write("repo.yml", "check: Mine\nmode: 'off'\ngrace: 5m\nreviewers:\n  - {name: own, app: copilot-pull-request-reviewer, check: Own, verdict: conclusion}\n")
	code, out, said := runInProcess(t, "", "config", "check", repo, "--organization", org)
	for _, want := range []string{
		"required copilot: ", "The organisation enforces: check, mode, reviewers.copilot.\n", "From the repository's policy: grace.\n",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("it ends with %d and does not say %q:\n%s%s", code, want, out, said)
		}
	}
	if code, _, said = runInProcess(t, "", "run", "acme/shop#7", "--policy-repository", "shop/.."); code != 2 || !strings.Contains(said, "is no repository") {
		t.Errorf("a name that is none ends with %d: %s", code, said)
	}
}
