package dashboard

import (
	"context"
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

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// numbersOn are the pull requests that a page or an answer shows, in order of their numbers.
func numbersOn(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := askBoard(t, h, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	shape := regexp.MustCompile(`(?:<h3>.*?href="/pulls/[^"]*/|"pull_request":)(\d+)`)
	var numbers []string
	for _, m := range shape.FindAllStringSubmatch(w.Body.String(), -1) {
		numbers = append(numbers, m[1])
	}
	slices.Sort(numbers)
	return strings.Join(numbers, " ")
}

func apiOf(s store.Store) http.Handler {
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }}.Routes(mux)
	return mux
}

// The dashboard and the API show the same of a filter.
func TestFiltersShowTheSame(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	draft := sceneWaiting()
	draft.PR, draft.Draft = "kestrel/api#98", true
	lay(t, s, draft, sceneNow, "")
	for query, want := range map[string]string{
		"state=waiting": "1207 482 97", "state=blocked": "58", "state=passed": "479", "state=unverified": "477",
		"state=draft":     "98",
		"reviewer=claude": "97", "reviewer=CLAUDE": "97", "reviewer=nobody": "", "reviewer=claud": "",
		"repo=acme/shop": "477 479 482", "repo=Acme/SHOP": "477 479 482", "repo=acme/nothing": "", "repo=acme/sho": "",
		"repo=acme/shop&state=waiting&reviewer=copilot": "482", "repo=acme/shop&state=blocked": "",
	} {
		if got := numbersOn(t, boardOf(s), "/?"+query); got != want {
			t.Errorf("?%s shows %q, want %q", query, got, want)
		}
		if got := numbersOn(t, apiOf(s), "/api/v1/pulls?"+query); got != want {
			t.Errorf("the API gives %q for ?%s, want %q", got, query, want)
		}
	}
	for query, want := range map[string]string{
		"state=odd": "", "q=in+grace": "1207", "state=&repo=&reviewer=&q=": "1207 477 479 482 58 97 98",
		"reviewer=openai&view=settled": "479 58 98",
	} {
		if got := numbersOn(t, boardOf(s), "/?"+query); got != want {
			t.Errorf("?%s shows %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"state=odd", "state=", "reviewer=", "repo=shop"} {
		w := askBoard(t, apiOf(s), "/api/v1/pulls?"+query)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"hint"`) {
			t.Errorf("?%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// A meteredStore counts the rows that are read of it.
type meteredStore struct {
	store.Store
	read int
}

func (m *meteredStore) List(ctx context.Context, q store.Query) ([]store.Row, error) {
	rows, err := m.Store.List(ctx, q)
	m.read += len(rows)
	return rows, err
}

// What a filter asks for is found wherever it stands in the table, a bounded part of which is read at a time.
func TestFiltersReachEveryRow(t *testing.T) {
	s := &meteredStore{Store: openTable(t)}
	sights, want := make([]Sight, 2500), map[string]bool{}
	for i := range sights {
		sights[i] = Sight{PR: fmt.Sprintf("acme/shop#%d", i+1), Verdict: "passed"}
		sights[i].Lanes = []ReviewerLine{{Name: "openai"}}
		if i%50 == 7 || i < 60 { // spread thinly, and at the end of the list so many that they fill a page
			sights[i].Verdict, sights[i].Lanes[0].Name = "blocked", "gemini"
			want[fmt.Sprint(i+1)] = true
		}
	}
	layMany(t, s, sights, sceneNow.Add(-time.Hour))
	further := regexp.MustCompile(`<p class="older">(?:The search stopped here. )?<a href="([^"]+)"`)
	for _, filter := range []string{"state=blocked", "reviewer=gemini", "state=blocked&reviewer=gemini&q=acme"} {
		found, asked := map[string]bool{}, 0
		for path := "/?" + filter; path != ""; asked++ {
			s.read = 0
			for _, n := range strings.Fields(numbersOn(t, boardOf(s), path)) {
				if found[n] {
					t.Errorf("?%s shows %s twice", filter, n)
				}
				found[n] = true
			}
			if s.read > 2000 { // of two sections
				t.Errorf("%s reads %d rows", path, s.read)
			}
			m := further.FindStringSubmatch(askBoard(t, boardOf(s), path).Body.String())
			if path = ""; m != nil {
				path = html.UnescapeString(m[1])
			}
		}
		if len(found) != len(want) || asked > 8 {
			t.Errorf("?%s shows %d of %d on %d pages", filter, len(found), len(want), asked)
		}
	}
	s.read = 0
	if askBoard(t, boardOf(s), "/?state=waiting"); s.read > 0 {
		t.Errorf("%d settled rows are read for what waits", s.read)
	}
	found, asked := map[int]bool{}, 0
	for next := ""; ; asked++ {
		var got struct {
			Pulls []struct {
				Number int `json:"pull_request"`
			}
			Next string
		}
		s.read = 0
		w := askBoard(t, apiOf(s), "/api/v1/pulls?state=blocked&limit=9"+next)
		if s.read > 1000 {
			t.Errorf("an answer reads %d rows", s.read)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Pulls) > 9 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, p := range got.Pulls {
			found[p.Number] = true
		}
		if got.Next == "" {
			break
		}
		next = "&before=" + got.Next
	}
	if len(found) != len(want) || asked > 20 {
		t.Errorf("the API gives %d of %d in %d answers", len(found), len(want), asked)
	}
}

// Where nothing matches, the page says what was asked for, and leads back.
func TestBoardSaysThatNothingMatches(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	for query, want := range map[string]string{
		"state=blocked&repo=acme/shop&reviewer=claude&q=x": "Nothing matches No pull request is as asked for: " +
			"repository acme/shop, state blocked, reviewer claude, words x. " +
			"Without repository · Without state · Without reviewer · Without words · All pull requests",
		"repo=77/acme/gone": "Nothing matches No pull request is as asked for: repository acme/gone. All pull requests",
		"state=red":         "Nothing matches No pull request is as asked for: state red. All pull requests",
		"view=open&before=2020-01-01T00:00:00Z": "Nothing matches No pull request is as asked for: section open, " +
			"time before 2020-01-01 00:00:00 UTC. Without section · Without time · All pull requests",
	} {
		page := askBoard(t, boardOf(s), "/?"+query).Body.String()
		if got := texts(t, page, "empty"); len(got) != 1 || got[0] != want {
			t.Errorf("?%s says %q, want %q", query, got, want)
		}
		if !strings.Contains(page, `<a href="/">All pull requests</a>`) {
			t.Errorf("from ?%s no way leads back", query)
		}
	}
	for _, path := range []string{"/", "/?state=blocked"} {
		if page := askBoard(t, boardOf(s), path).Body.String(); strings.Contains(page, "Nothing matches") {
			t.Errorf("%s says that nothing matches", path)
		}
	}
	page := askBoard(t, boardOf(openTable(t)), "/").Body.String()
	if strings.Contains(page, "Nothing matches") || !strings.Contains(page, "Nothing is open.") {
		t.Error("an empty table is said to be a filter's fault")
	}
}

// The filters stand in the address and in the form, so that they hold without a script, and one more narrows the view.
func TestBoardFiltersStandInTheAddress(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	h := boardOf(s)
	page := askBoard(t, h, "/?repo=77/acme/shop&state=waiting&reviewer=openai&q=discount&view=open").Body.String()
	for _, want := range []string{
		`<option selected>waiting</option>`, `name="repo" form="find" value="acme/shop"`, `name="q" value="discount"`,
		`name="reviewer" form="find" value="openai"`, `<input type="hidden" name="view" value="open">`,
		`<button form="find">Filter</button>`,
		`hx-get="/?q=discount&amp;repo=77%2Facme%2Fshop&amp;reviewer=openai&amp;state=waiting&amp;view=open"`,
		`state <strong><bdi>waiting</bdi></strong> ` +
			`<a href="/?q=discount&amp;repo=77%2Facme%2Fshop&amp;reviewer=openai&amp;view=open"`,
		`<a href="/">All pull requests</a>`, `<datalist id="known-reviewers"><option value="copilot"></option>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	for path, want := range map[string]string{
		"/?q=&state=blocked&repo=&reviewer=": "/?state=blocked", "/?state=blocked": "", "/": "", "/?q=": "/",
	} {
		if got := askBoard(t, h, path, "HX-Request", "true").Header().Get("HX-Replace-Url"); got != want {
			t.Errorf("%s becomes %q, want %q", path, got, want)
		}
	}
}

// What was never looked at has no moment that a page could begin at: the list says that there is more of it.
func TestBoardSaysWhatItCannotPage(t *testing.T) {
	s := openTable(t)
	var pokes []store.Poke
	for n := range 60 {
		pokes = append(pokes, store.Poke{
			Key: fmt.Sprintf("77/acme/shop#%d", n+1), Group: "77/acme/shop",
			Tenant: 77, Kind: workkey.KindPull, Due: sceneNow,
		})
	}
	if err := s.Poke(t.Context(), pokes...); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/?view=settled", "/?q=queued"} {
		page := askBoard(t, boardOf(s), path).Body.String()
		if !strings.Contains(page, "More were not looked at yet.") || strings.Contains(page, ">Older<") {
			t.Errorf("%s does not say that there is more, or leads to where it is not", path)
		}
	}
	if got := numbersOn(t, boardOf(s), "/?state=waiting&repo="+url.QueryEscape("77/acme/shop")); got != "" {
		t.Errorf("what was never looked at is said to wait: %s", got)
	}
}

// A filter that matches nothing in a table of many large rows: the most that one request reads.
func BenchmarkBoardFilter(b *testing.B) {
	s := openTable(b)
	sights := make([]Sight, 4000)
	for i := range sights {
		sights[i] = sceneUnverified()
		if i%2 == 0 {
			sights[i] = scenePassed()
		}
		sights[i].PR = fmt.Sprintf("acme/shop#%d", i+1)
	}
	layMany(b, s, sights, sceneNow.Add(-time.Hour))
	h := boardOf(s)
	b.ReportAllocs()
	for b.Loop() {
		if w := askBoard(b, h, "/?reviewer=nobody", "HX-Request", "true"); w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
