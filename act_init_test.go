package coordinator_test

// coordinator init on ten repositories, and the workflow that it wrote as GitHub plays it: the next pull request gets
// its check.

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/sandbox/firstday"
)

func TestActInit(t *testing.T) {
	needAct(t)
	released := newRelease(t, whole)
	program := filepath.Join(t.TempDir(), "coordinator")
	if said, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/coordinator").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	for _, r := range firstday.Repositories() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			g, err := r.New()
			must(t, err)
			server := httptest.NewServer(g)
			t.Cleanup(server.Close)
			api := server.URL
			if r.Server {
				api += "/api/v3"
			}
			dir := t.TempDir()
			setUp := exec.Command(program, "init", "--repo", "acme/shop", "--dir", dir)
			setUp.Env = []string{"GITHUB_TOKEN=ghs_x", "GITHUB_API_URL=" + api}
			if said, err := setUp.CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, said)
			}
			for _, name := range []string{"review-coordinator.yml", "workflows/review-bell.yml", "workflows/review-coordinator.yml"} {
				text, err := os.ReadFile(filepath.Join(dir, ".github", name))
				must(t, err)
				g.SetFile(".github/"+name, "", string(text))
			}
			s := &stage{GitHub: g, url: api, head: g.Head(1), runs: []int64{1}} // the payload is its own
			g.OpenPull(sandbox.PullSpec{Number: 100, Head: "the next"})
			must(t, r.Review(g, 100))
			payload := fmt.Sprintf(`{"action": "completed", "workflow": {"name": "Review bell"}, "workflow_run": {"id": 77, "name": "Review bell",
				"event": "pull_request", "status": "completed", "conclusion": "skipped", "run_attempt": 1, "head_sha": %q,
				"head_branch": "feature-100", "path": ".github/workflows/review-bell.yml", "pull_requests": [{"number": 100}]},
				"repository": {"full_name": "acme/shop", "name": "shop", "default_branch": "main", "owner": {"login": "acme"}}}`, g.Head(100))
			said, err := actRun{
				workflow: filepath.Join(dir, ".github/workflows/review-coordinator.yml"), event: "workflow_run", payload: payload,
				action: released.action, env: released.env(),
			}.do(t, s)
			own := g.OwnCheckRuns(g.Head(100))
			if err != nil || len(own) != 1 || !strings.Contains(own[0].Title, r.Title) || (own[0].Conclusion == "success") != r.Passes {
				t.Errorf("%v: %d checks, %q\n%s", err, len(own), titleOf(own), said)
			}
		})
	}
}
