package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

var updateAPI = flag.Bool("update-api", false, "rewrite testdata/api.golden")

// apiTable has a few pull requests, one of them in a repository that two installations show.
func apiTable(t *testing.T) *shownTable {
	t.Helper()
	sight, err := json.Marshal(dashboard.Sight{
		PR: "acme/shop#7", URL: "https://github.com/acme/shop/pull/7", Title: "<script>alert(1)</script>", Head: "a1",
		Base: "main", At: noon, Check: "AI review",
		Says: "waiting for gemini", Status: "in_progress", Verdict: "waiting", Reason: "tally", Need: 2, Approvals: 1, Start: noon.Add(-time.Minute),
		Deadline: noon.Add(time.Hour), Wake: noon.Add(time.Minute),
		Lanes: []dashboard.ReviewerLine{
			{Name: "gemini", Vote: "pending", Why: "it runs", Attempts: []dashboard.AttemptBar{{Number: 1, Start: noon.Add(-time.Minute), Came: "running"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &shownTable{
		health: store.Health{Keys: 9, Open: 2, Due: 1, Leased: 1, Failing: 1, Oldest: 1500 * time.Millisecond, Tenants: 2, Accepted: 77},
		rows: []store.Row{
			{
				Key:    "77/acme/shop#7",
				Kind:   workkey.KindPull,
				Group:  "77/acme/shop",
				Tenant: 77,
				Open:   true,
				Due:    noon.Add(time.Minute),
				Seen:   noon.In(time.FixedZone("x", 3600)),
				Sight:  sight,
			},
			{
				Key:      "77/acme/shop#8",
				Kind:     workkey.KindPull,
				Group:    "77/acme/shop",
				Tenant:   77,
				Leased:   true,
				Attempts: 3,
				Failed:   "observe acme/shop#8: 502",
				Open:     true,
				Seen:     noon.Add(-time.Minute),
				Sight:    []byte("{broken"),
			},
			{Key: "77/acme/shop", Kind: workkey.KindRepo, Group: "77/acme/shop", Tenant: 77, Seen: noon.Add(-time.Minute)},
			{Key: "78/acme/shop", Kind: workkey.KindRepo, Group: "78/acme/shop", Tenant: 78, Seen: noon.Add(-2 * time.Minute)},
			{Key: "78/acme/shop#7", Kind: workkey.KindPull, Group: "78/acme/shop", Tenant: 78, Seen: noon.Add(-3 * time.Minute), Sight: sight},
			{Key: "77/acme/other#1", Kind: workkey.KindPull, Group: "77/acme/other", Tenant: 77, Due: noon},
		},
	}
}

func TestTheAPIIsAsItWas(t *testing.T) {
	a := newAdmin(apiTable(t))
	var got bytes.Buffer
	for _, path := range []string{
		"/api/v1/", "/api/v1/queue", "/api/v1/pulls", "/api/v1/pulls?repo=Acme/Shop&undecided=true&limit=1", "/api/v1/pulls?undecided=false",
		"/api/v1/pulls?before=2026-01-02T11:59:30Z&limit=1", "/api/v1/pulls?repo=acme/nothing",
		"/api/v1/pulls/acme/shop/7", "/api/v1/pulls/Acme/Shop/8", "/api/v1/pulls/acme/shop/9", "/api/v1/pulls/acme/shop/x", "/api/v1/pulls/acme/shop/-7",
		"/api/v1/pulls?open=true", "/api/v1/pulls?undecided=yes", "/api/v1/pulls?repo=shop", "/api/v1/pulls?limit=1001",
		"/api/v1/pulls?before=noon", "/api/v1/pulls?%zz",
		"/api/v2/pulls", "/api/v1/repositories", "/api/v1/repositories?policy=odd",
	} {
		w := ask(a, http.MethodGet, path, "localhost")
		if w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s is %s", path, w.Header().Get("Content-Type"))
		}
		fmt.Fprintf(&got, "GET %s\n%d ", path, w.Code)
		if err := json.Indent(&got, bytes.TrimSpace(w.Body.Bytes()), "", "  "); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		got.WriteString("\n\n")
	}
	file := filepath.Join("testdata", "api.golden")
	if *updateAPI {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the API's answers changed; -update-api rewrites %s:\n%s", file, &got)
	}
	if strings.Contains(got.String(), "<script>") {
		t.Error("a title could be taken for HTML")
	}
}

func TestATableThatCannotBeReadIsNoEmptyOne(t *testing.T) {
	table := apiTable(t)
	table.read = errors.New("/var/lib/secret is gone")
	for _, path := range []string{
		"/api/v1/queue", "/api/v1/pulls", "/api/v1/pulls?repo=acme/shop", "/api/v1/pulls/acme/shop/7", "/api/v1/repositories",
	} {
		w := ask(newAdmin(table), http.MethodGet, path, "localhost")
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "/var") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestPagesHaveEveryPullRequestOnce(t *testing.T) {
	table := &shownTable{}
	for i := range 25 { // five at a time were looked at in one moment
		table.rows = append(
			table.rows,
			store.Row{Key: fmt.Sprintf("1/acme/shop#%d", i), Kind: workkey.KindPull, Seen: noon.Add(-time.Duration(i/5) * time.Millisecond)},
		)
	}
	seen := map[int]int{}
	next, pages := "", 0
	for {
		w := ask(newAdmin(table), http.MethodGet, "/api/v1/pulls?limit=7"+next, "localhost")
		var got struct {
			Pulls []struct {
				Number int `json:"pull_request"`
			}
			Next string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Pulls) == 0 || len(got.Pulls) > 7 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, p := range got.Pulls {
			seen[p.Number]++
		}
		if pages++; got.Next == "" {
			break
		}
		next = "&before=" + got.Next
	}
	if len(seen) != 25 || pages != 5 {
		t.Errorf("%d pull requests on %d pages, want 25 on 5", len(seen), pages)
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%d came %d times", key, n)
		}
	}
}
