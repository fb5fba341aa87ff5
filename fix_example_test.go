package coordinator_test

// The example of a fix workflow reads files for its model, whose names reviewers and the change's author choose.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A link in the change leads the example neither to its own environment, where a secret stands, nor out of the checkout.
func TestFixExampleReadsNothingButTheCommit(t *testing.T) {
	for _, tool := range []string{"bash", "git", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not there")
		}
	}
	source, err := os.ReadFile("examples/fix.yml")
	if err != nil {
		t.Fatal(err)
	}
	const end = `done >"$RUNNER_TEMP/files.txt"`
	from, to := strings.Index(string(source), "          jq -r '.findings[].path"), strings.Index(string(source), end)
	if from < 0 || to < from {
		t.Fatal("the example does not read files as it did")
	}
	script := "set -eo pipefail\n" + string(source[from:to+len(end)])

	dir, temp := t.TempDir(), t.TempDir()
	for link, target := range map[string]string{"d": "/proc/self", "out": temp, "link": filepath.Join(temp, "secret")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{filepath.Join(dir, "cart.go"): "package cart\n", filepath.Join(temp, "secret"): "hush"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	findings := []map[string]string{}
	for _, path := range []string{"d/environ", "out/secret", "link", "cart.go", "gone.go", "../x", "-n"} {
		findings = append(findings, map[string]string{"path": path})
	}
	given, _ := json.Marshal(map[string]any{"findings": findings})
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FINDINGS="+string(given), "RUNNER_TEMP="+temp, "MODEL_KEY=hush")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read, err := os.ReadFile(filepath.Join(temp, "files.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(read); strings.Contains(text, "hush") || !strings.Contains(text, "=== cart.go\npackage cart\n") {
		t.Errorf("it reads cart.go: %t, and beyond the commit: %t", strings.Contains(text, "package cart"), strings.Contains(text, "hush"))
	}
}
