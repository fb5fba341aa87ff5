package coordinator_test

import (
	"os"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/config"
)

// TestDocsGates: docs/from-other-gates.md has a policy for each of fifteen public files of other gates. Each is complete as
// it stands, config check warns of nothing in it, and what it cannot say stands below it.
func TestDocsGates(t *testing.T) {
	t.Parallel()
	const file = "docs/from-other-gates.md"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, files, found := strings.Cut(string(src), "\n## Fifteen files, said here\n")
	if !found {
		t.Fatalf("%s shows no policies", file)
	}
	sections := strings.Split(files, "\n### ")[1:]
	if len(sections) != 15 {
		t.Errorf("%s has %d sections with a policy", file, len(sections))
	}
	for _, section := range sections {
		name, body, _ := strings.Cut(section, "\n")
		_, rest, _ := strings.Cut(body, "```yaml\n")
		policy, remark, closed := strings.Cut(rest, "```\n\n")
		if !closed {
			t.Errorf("%s: it shows no policy", name)
			continue
		}
		if _, err := config.Parse(name, []byte(policy)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range config.MergeWarnings(name, []byte(policy), nil) {
			t.Errorf("%s: config check warns: %s", name, w.Message)
		}
		if !strings.HasPrefix(remark, "Cannot: ") && !strings.HasPrefix(remark, "Nothing is missing.") {
			t.Errorf("%s: the policy is not followed by what it cannot say", name)
		}
	}
}
