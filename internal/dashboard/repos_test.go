package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const mistakes = `.github/review-coordinator.yml:4:9: quorum: "many" is no number
    4 | quorum: many
      |         ^^^^
  hint: write a number, or majority, or all`

// layRepos puts repositories into the table as a resync does; nil: it was not looked over yet.
func layRepos(t testing.TB, s store.Store, tenant int64, repos map[string]*RepoSight, failed string) {
	t.Helper()
	for name, sight := range repos {
		key, due := fmt.Sprintf("%d/%s", tenant, name), sceneNow
		if sight == nil {
			due = sceneNow.Add(time.Hour)
		}
		poke := store.Poke{Key: key, Tenant: tenant, Kind: workkey.KindRepo, Group: key, Due: due}
		if err := s.Poke(t.Context(), poke); err != nil {
			t.Fatal(err)
		}
		if sight == nil {
			continue
		}
		work, err := s.Claim(t.Context(), store.Claim{Now: sceneNow, Lease: time.Minute, Limit: 1})
		if err != nil || len(work) != 1 || work[0].Key != key {
			t.Fatalf("claimed %v, %v; want %s", work, err, key)
		}
		text, err := json.Marshal(sight)
		if err != nil {
			t.Fatal(err)
		}
		at := sceneNow.Add(-time.Minute)
		if _, err := s.Complete(t.Context(), work[0].Lease, store.Completion{
			Now: at, Wake: sceneNow.Add(time.Hour), Sight: text, Failed: failed,
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// setRepos fills a table with a repository of each kind; the scene's own are known and were not looked over.
func setRepos(t testing.TB, s store.Store) {
	t.Helper()
	layRepos(t, s, 77, map[string]*RepoSight{
		"acme/pay":  {State: quorum.FileBroken, Path: ".github/review-coordinator.yml", Mistakes: mistakes},
		"acme/docs": {State: quorum.FileMissing, Path: ".github/review-coordinator.yml"},
		"acme/Tax":  {State: quorum.FileValid, Path: ".github/review-coordinator.yml"},
	}, "")
	layRepos(t, s, 78, map[string]*RepoSight{"octo/shop": {State: quorum.FileValid}}, "GitHub answered 502")
	layRepos(t, s, 78, map[string]*RepoSight{"octo/new": nil}, "")
}

// waitsOf says that installation 77 waits for a quarter of an hour.
func waitsOf(tenant int64) time.Time {
	if tenant == 77 {
		return sceneNow.Add(15 * time.Minute)
	}
	return time.Time{}
}

func reposBoard(s store.Store) http.Handler {
	return Board{Store: s, Feed: NewFeed(), Now: func() time.Time { return sceneNow }, Waits: waitsOf}.Handler()
}

// The list says of each repository whether it has a policy, what is wrong with it, and what it waits for.
func TestBoardRepositories(t *testing.T) {
	s := openTable(t)
	setRepos(t, s)
	sight := sceneWaiting()
	sight.PR = "acme/pay#1"
	layMany(t, s, []Sight{sight}, sceneNow)
	h := reposBoard(s)
	page := askBoard(t, h, "/repositories").Body.String()
	const waits = "Waits for GitHub's limit, which ends in 15m 00s"
	want := []string{
		"broken acme/pay " + waits + " " + strings.Join(strings.Fields(mistakes), " ") + " 1 undecided 1m 00s ago",
		"has a policy acme/Tax " + waits + " 0 undecided 1m 00s ago",
		"has a policy octo/shop It could not be read: GitHub answered 502 0 undecided 1m 00s ago",
		"not read yet octo/new 0 undecided",
		"no policy acme/docs " + waits + " 0 undecided 1m 00s ago",
	}
	if got := texts(t, page, "repo"); !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := strings.Join(texts(t, page, "states"), "\n"); got != "broken 1has a policy 2not read yet 1no policy 1" {
		t.Errorf("it counts %q", got)
	}
	for _, part := range []string{
		`href="/?repo=77%2Facme%2Fpay"`, `href="/repositories?policy=broken"`,
		"    4 | quorum: many\n      |         ^^^^",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("it lacks %s", part)
		}
	}
	for path, want := range map[string]int{
		"?policy=broken": 1, "?policy=valid": 2, "?policy=missing": 1, "?policy=unread": 1,
		"?q=OCTO": 2, "?q=acme+tax": 1, "?q=nowhere": 0, "?q=acme&policy=valid": 1,
		"?policy=odd": 0, "?after=odd": 5, "?after=valid:77/acme/tax": 3, "?after=broken:77/acme/gone": 5,
	} {
		page := askBoard(t, h, "/repositories"+path).Body.String()
		if got := len(texts(t, page, "repo")); got != want {
			t.Errorf("%s shows %d repositories, want %d", path, got, want)
		}
		if nothing := strings.Contains(page, "Nothing matches."); nothing != (want == 0) {
			t.Errorf("%s says that nothing matches: %v", path, nothing)
		}
		back := strings.Contains(page, `<a href="/repositories">All repositories</a>`)
		if !back && !strings.Contains(path, "odd") {
			t.Errorf("from %s no way leads back to all", path)
		}
	}
	page = askBoard(t, reposBoard(openTable(t)), "/repositories").Body.String()
	if !strings.Contains(page, "No repository is known yet.") {
		t.Error("it does not say that there is none yet")
	}
}

// Every repository is on one page, however many there are, and the API has them all, too.
func TestRepositoriesPages(t *testing.T) {
	s := openTable(t)
	repos := map[string]*RepoSight{}
	for n := range 120 {
		repos[fmt.Sprintf("acme/shop-%d", n)] = &RepoSight{State: quorum.FileState(1 + n%3)}
	}
	layRepos(t, s, 77, repos, "")
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }}.Routes(mux)
	seen := map[string]bool{}
	further := regexp.MustCompile(`<p class="older"><a href="([^"]+)">Further`)
	for path := "/repositories"; path != ""; {
		page := askBoard(t, reposBoard(s), path).Body.String()
		for _, text := range texts(t, page, "about") {
			seen[strings.Fields(text)[0]] = true
		}
		path = ""
		if m := further.FindStringSubmatch(page); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	listed := map[string]bool{}
	for next := ""; ; {
		var got struct {
			Repositories []struct{ Repository, Policy string }
			Counts       map[string]int
			Next         string
		}
		w := askBoard(t, mux, "/api/v1/repositories?limit=7"+next)
		err := json.Unmarshal(w.Body.Bytes(), &got)
		if err != nil || len(got.Repositories) > 7 || got.Counts["broken"] != 40 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, r := range got.Repositories {
			listed[r.Repository] = true
		}
		if got.Next == "" {
			break
		}
		next = "&after=" + url.QueryEscape(got.Next)
	}
	if len(seen) != 120 || len(listed) != 120 {
		t.Errorf("%d are on pages and %d in the API, of 120", len(seen), len(listed))
	}
}

func TestAPIRepositories(t *testing.T) {
	s := openTable(t)
	setRepos(t, s)
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }, Waits: waitsOf}.Routes(mux)
	got := askBoard(t, mux, "/api/v1/repositories?policy=broken").Body.String()
	for _, want := range []string{
		`"installation":77,"repository":"acme/pay","policy":"broken","policy_path":".github/review-coordinator.yml"`,
		`"mistakes":".github/review-coordinator.yml:4:9: quorum: \"many\" is no number\n`,
		`"undecided":0,"waits_until":"2026-03-02T09:21:10Z"`,
		`"next_look":"2026-03-02T10:06:10Z","last_look":"2026-03-02T09:05:10`, `"failures":0`,
		`"counts":{"broken":1,"missing":1,"unread":1,"valid":2}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %s: %s", want, got)
		}
	}
	for _, query := range []string{
		"policy=odd", "after=odd", "after=odd:77/acme/shop", "limit=0", "limit=x", "polcy=broken", "%zz",
	} {
		w := askBoard(t, mux, "/api/v1/repositories?"+query)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "hint") {
			t.Errorf("?%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// What strangers put into a policy file, or a name, becomes no element and turns nothing around.
func TestRepositoriesEscape(t *testing.T) {
	s := openTable(t)
	bad := CutMistakes(strings.Repeat(hostile+"\n", 1000))
	if len(bad) > 2<<10 || !strings.HasSuffix(bad, "'alert(4)") && !strings.HasSuffix(bad, hostile) {
		t.Errorf("the mistakes are cut to %d bytes, and not at a line: %.40q", len(bad), bad[max(len(bad)-40, 0):])
	}
	long := CutMistakes(strings.Repeat("é", 5000))
	if len(long) > 2<<10 || strings.Trim(long, "é") != "" || long == "" {
		t.Errorf("one long line is cut to %d bytes", len(long))
	}
	layRepos(t, s, 77, map[string]*RepoSight{
		"acme/shop": {State: quorum.FileBroken, Path: hostile, Mistakes: bad},
		"<b>/odd":   {State: quorum.FileBroken, Path: hostile, Mistakes: strings.Repeat("x", 1<<20)},
	}, hostile)
	for _, path := range []string{"", "?q=" + url.QueryEscape(hostile), "?after=" + url.QueryEscape(hostile)} {
		page := askBoard(t, reposBoard(s), "/repositories"+path).Body.String()
		if len(page) > 64<<10 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
		scripts := strings.Count(page, "<script")
		if scripts != 2 || strings.Contains(page, "<img") || strings.Contains(page, "<b>") {
			t.Errorf("%s has an element of a stranger's", path)
		}
		if strings.ContainsAny(page, "\u202e\x00\x1b") {
			t.Errorf("%s lets a text turn around or control what stands beside it", path)
		}
	}
}

// The list of ten thousand repositories, of which a few are broken.
func BenchmarkRepositories(b *testing.B) {
	s := openTable(b)
	repos := make(map[string]*RepoSight, 10_000)
	for n := range 10_000 {
		repos[fmt.Sprintf("acme/shop-%d", n)] = &RepoSight{
			State: quorum.FileState(1 + n%3), Path: ".github/review-coordinator.yml",
		}
	}
	layRepos(b, s, 77, repos, "")
	h := reposBoard(s)
	b.ReportAllocs()
	for b.Loop() {
		if w := askBoard(b, h, "/repositories", "HX-Request", "true"); w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
