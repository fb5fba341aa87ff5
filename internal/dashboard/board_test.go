package dashboard

// What the dashboard says, and what it never does. How it looks and moves is in board_browser_test.go.
//
//	go test ./internal/dashboard -run TestBoardTimeline -args -board    writes its golden fragments anew

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"

	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

var writeBoard = flag.Bool("board", false, "write the golden fragments of the dashboard")

func boardOf(s store.Store) http.Handler {
	return Board{
		Store:   s,
		Feed:    NewFeed(),
		Now:     func() time.Time { return sceneNow },
		Reached: func() time.Time { return sceneNow.Add(-2 * time.Second) },
		Version: "v1.2.3",
	}.Handler()
}

func askBoard(t testing.TB, h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// texts are the texts of the elements of a class.
func texts(t *testing.T, page, class string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "class" && strings.Contains(" "+a.Val+" ", " "+class+" ") {
				var text strings.Builder
				for d := range n.Descendants() {
					if d.Type == html.TextNode {
						text.WriteString(d.Data)
					}
				}
				found = append(found, strings.Join(strings.Fields(text.String()), " "))
			}
		}
	}
	return found
}

func TestBoardOverview(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	w := askBoard(t, boardOf(s), "/")
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	page := w.Body.String()
	want := []string{
		"unverified acme/shop#477 Read prices from the new catalogue Unverified: 1 of 2 approvals; gemini: overloaded twice; copilot: review not received. A maintainer may approve instead",
		"waiting acme/shop#482 Apply the discount before the tax 1 of 2 approvals; waiting for gemini and copilot until 09:12 UTC decided at the latest in 34m 20s",
		"in grace acme/web#1207 Keep the cart when a session ends 2 of 2 approvals; waiting for copilot until 09:07 UTC passes in 1m 40s",
		"waiting kestrel/api#97 Stream exports instead of holding them in memory 0 of 2 approvals; waiting for openai, gemini and claude until 09:14 UTC decided at the latest in 38m 00s",
		"Round each line of an invoice acme/billing#58 Blocked: openai objects: cents are lost when a line is split",
		"Name the currency in every total acme/shop#479 2 of 2 approvals; copilot: review not received",
	}
	if got := texts(t, page, "about"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the overview says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := texts(t, page, "health"), "keeping up undecided4due0being evaluated0failing0tasks10deliveries remembered0GitHub answered2s ago"; len(got) != 1 ||
		got[0] != want {
		t.Errorf("the queue is said to be %q, want %q", got, want)
	}
}

// That the table is empty because its file was damaged is said where somebody sees that it is empty.
func TestBoardSaysThatTheDatabaseWasBegunAnew(t *testing.T) {
	s := openTable(t)
	for _, anew := range []bool{false, true} {
		page := askBoard(t, Board{Store: s, Feed: NewFeed(), Now: time.Now, BegunAnew: anew}.Handler(), "/").Body.String()
		want := "The database was damaged at the start, and an empty one was begun. Only time is lost; the log names the damaged file."
		if said := texts(t, page, "failed"); anew != slices.Contains(said, want) || !anew && len(said) > 0 {
			t.Errorf("begun anew: %t, and the page says %q", anew, said)
		}
	}
}

func TestBoardAnswersHTMXWithTheBoardAlone(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	w := askBoard(t, boardOf(s), "/?q=invoice", "HX-Request", "true")
	body := w.Body.String()
	if !strings.HasPrefix(body, `<main id="board"`) || strings.Contains(body, "<html") {
		t.Errorf("the answer begins %.60q", body)
	}
	if !strings.Contains(body, `hx-get="/?q=invoice"`) {
		t.Error("it does not refresh itself from where it was asked for")
	}
	if got := w.Header().Get("Vary"); got != "HX-Request" {
		t.Errorf("Vary: %q: a cache would show half a page", got)
	}
}

func TestBoardFilters(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	h := boardOf(s)
	for path, want := range map[string]int{
		"/": 6, "/?repo=77/acme/shop": 3, "/?q=invoice": 1, "/?q=ACME/shop": 3, "/?q=%23482": 1, "/?q=waiting+copilot": 2, "/?q=nowhere": 0,
		"/?view=open": 4, "/?view=settled": 2, "/?repo=77/acme/shop&view=settled": 1, "/?repo=../..": 0, "/?repo=78/acme/shop": 0, "/?view=x&before=y": 6,
	} {
		if got := len(texts(t, askBoard(t, h, path).Body.String(), "about")); got != want {
			t.Errorf("%s shows %d pull requests, want %d", path, got, want)
		}
	}
}

// Every pull request is on exactly one page, and no page shows more than fifty.
func TestBoardPages(t *testing.T) {
	s := openTable(t)
	sights := make([]Sight, 120)
	for i := range sights {
		sights[i] = scenePassed()
		sights[i].PR, sights[i].Title = fmt.Sprintf("acme/shop#%d", i+1), fmt.Sprintf("change %03d", i+1)
	}
	layMany(t, s, sights, sceneNow.Add(-time.Hour))
	h, path, seen, pages := boardOf(s), "/", map[string]bool{}, 0
	older := regexp.MustCompile(`<p class="older"><a href="([^"]+)"`)
	for path != "" {
		page := askBoard(t, h, path).Body.String()
		about := texts(t, page, "about")
		if len(about) > boardPage {
			t.Fatalf("%s shows %d sights", path, len(about))
		}
		for _, text := range about {
			if seen[text] {
				t.Errorf("%s stands on two pages", text)
			}
			seen[text] = true
		}
		path = ""
		if m := older.FindStringSubmatch(page); m != nil {
			path = html.UnescapeString(m[1])
		}
		if pages++; pages > 10 {
			t.Fatal("the pages have no end")
		}
	}
	if len(seen) != 120 {
		t.Errorf("%d of 120 pull requests were shown on %d pages", len(seen), pages)
	}
}

// The overview of a table full of cycles: 30 open ones, 20 settled ones.
func BenchmarkBoardOverview(b *testing.B) {
	s := openTable(b)
	sights := make([]Sight, 2000)
	for i := range sights {
		sights[i] = sceneWaiting()
		if i%2 == 0 {
			sights[i] = scenePassed()
		}
		sights[i].PR = fmt.Sprintf("acme/shop#%d", i+1)
	}
	layMany(b, s, sights, sceneNow.Add(-time.Hour))
	h := boardOf(s)
	b.ReportAllocs()
	for b.Loop() {
		if w := askBoard(b, h, "/", "HX-Request", "true"); w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
	b.ReportMetric(float64(askBoard(b, h, "/", "HX-Request", "true").Body.Len()), "page-bytes")
}

// A search reads a bounded part of the table, says so, and can be gone on with.
func TestBoardSearchIsBounded(t *testing.T) {
	s := openTable(t)
	sights := make([]Sight, mostScanned+300)
	for i := range sights {
		sights[i] = Sight{PR: fmt.Sprintf("acme/shop#%d", i+1), Title: "other", Verdict: "passed"}
	}
	sights[0].Title = "needle"
	layMany(t, s, sights, sceneNow.Add(-time.Hour))
	h := boardOf(s)
	page := askBoard(t, h, "/?q=needle").Body.String()
	m := regexp.MustCompile(`The search stopped here. <a href="([^"]+)"`).FindStringSubmatch(page)
	if m == nil || strings.Contains(page, "<bdi>needle</bdi></a>") {
		t.Fatal("the search read the whole table, or does not say that it stopped")
	}
	if next := askBoard(t, h, html.UnescapeString(m[1])).Body.String(); !strings.Contains(next, "<bdi>needle</bdi></a>") {
		t.Error("going on does not find it")
	}
}

func TestBoardPull(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	h := boardOf(s)
	for _, path := range []string{"/pulls/acme/shop/482", "/pulls/acme/shop/482?in=77"} {
		w := askBoard(t, h, path)
		page := w.Body.String()
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, w.Code)
		}
		for _, want := range []string{
			"<bdi>at work — retrying once</bdi>", "attempt 2</a> <b>running</b>", "09:00:38 – 09:01:52", `data-events="/events?key=77%2Facme%2Fshop%23482"`,
			`href="https://github.com/acme/shop/pull/482"`, "<li>gemini is pending; attempt 1 overloaded from 09:00:38 to 09:01:52; attempt 2 running from 09:03:40; unavailable from 09:13:40 UTC.</li>",
			`role="img" aria-label="Timeline of acme/shop#482, waiting after 5m 40s: 1 of 2 approvals; waiting for gemini and copilot until 09:12 UTC"`,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not say %s", path, want)
			}
		}
	}
	for _, path := range []string{
		"/pulls/acme/shop/9999", "/pulls/acme/shop/0", "/pulls/acme/shop/x", "/pulls/acme/nothing/482",
		"/pulls/acme/shop/482?in=78", "/pulls/acme/shop/482?in=77/x",
		"/pulls/acme", "/nothing", "/static/nothing.js", "/static/page.html",
	} {
		w := askBoard(t, h, path)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Not here") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// The page of a pull request shows what its check says, block by block, and each heading stands below the one before.
func TestBoardSaysWhatTheCheckSays(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	page := askBoard(t, boardOf(s), "/pulls/acme/shop/477").Body.String()
	at := 0
	for _, want := range []string{
		`<p class="says">Too few reviewers approve this commit: <code><bdi>503</bdi></code>.</p>`,
		`<h2 id="steps">What you can do</h2>`, "<b>A maintainer:</b> <a ",
		`href="https://github.com/acme/shop/pull/477/files" rel="noopener noreferrer">Review this commit</a> and approve it.`,
		"The proposed one is broken:", "quorum: many\n        ^^^^",
		`<h2 id="findings">Findings</h2>`, `4b3a21/cart.go#L42" rel="noopener noreferrer"><code>cart.go:42</code></a>`,
		"<bdi>openai</bdi>; holds it back", "A cart of free items divides by zero.", "2 more in the check.",
		`<h2 id="reviewers">Reviewers</h2>`, `#issuecomment-1" rel="noopener noreferrer">it approves</a>`,
		"its service was overloaded: <code><bdi>503 Service Unavailable</bdi></code>",
		`<h2 id="next">What happens next</h2>`, "An approval that comes later counts.",
		`<summary id="unfold-path">How it got here</summary>`, "the clock starts for this commit",
		"Quorum: 2 of 3 reviewers must approve.", `>the policy file</a>`, `docs/verdicts.md#unverified"`,
		`<summary id="unfold-writers">Who can write this check?</summary>`, "Only the App that wrote it.",
	} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("after %.60q it does not say %q:\n%s", page[max(at-60, 0):], want, page)
		}
		at += i
	}
	last := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page, -1) {
		level := int(m[1][0] - '0')
		if level > last+1 || last == 0 && level != 1 || last > 0 && level == 1 {
			t.Errorf("a heading of level %d follows one of %d", level, last)
		}
		last = level
	}
}

// The lane, people, who has no vote here and what people said stand on the page and in the API.
func TestBoardShowsTheRules(t *testing.T) {
	s := openTable(t)
	sight := scenePassed()
	sight.Need, sight.Approvals, sight.PolicyLane, sight.LaneWhy, sight.NeedPeople, sight.People = 0, 0, "docs", "docs only", 2, []string{"dave"}
	sight.Lanes[0] = ReviewerLine{Name: "openai", Vote: "unavailable", Excused: "other_lane", Why: "it has no vote in this lane"}
	sight.Lanes[1].Required, sight.Lanes[1].Again = true, true
	sight.Lanes = append(sight.Lanes, ReviewerLine{Name: "sage", Vote: "unavailable", Excused: "reserve", Why: "it failed"},
		ReviewerLine{Name: "codex", Vote: "approve", Reserve: "sage", Why: "it approves"})
	sight.Page = &report.Page{
		Rules: []report.Phrase{{{Text: "The lane "}, {Text: "docs", From: report.FromName}, {Text: " holds."}}},
		Heard: []report.Phrase{{{Text: "bob", From: report.FromName}, {Text: ": not heard."}}},
	}
	lay(t, s, sight, sceneNow, "")
	_, number, _ := strings.Cut(sight.PR, "#")
	page := askBoard(t, boardOf(s), "/pulls/acme/shop/"+number).Body.String()
	for _, want := range []string{
		`<h2 id="which-rules">Which rules hold here</h2>`, "<li>The lane <bdi>docs</bdi> holds.</li>", `<h2 id="heard">What people asked for</h2>`,
		"<li><bdi>bob</bdi>: not heard.</li>", "<dt>Approvals</dt><dd><bdi>none needed</bdi>", "<dt>People</dt><dd><bdi>1 of 2: dave</bdi>",
		"<dt>Lane</dt><dd><bdi>docs · docs only</bdi>", `<span class="note">no vote here</span>`, `<span class="note">required: it objected before</span>`,
		`<span class="note">the other one of its seat votes</span>`, `<span class="note">for sage</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %s", want)
		}
	}
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }}.Routes(mux)
	answer := askBoard(t, mux, "/api/v1/pulls/acme/shop/"+number).Body.String()
	for _, want := range []string{
		`"lane":"docs"`, `"lane_why":"docs only"`, `"need_people":2`, `"people":["dave"]`, `"excused":"other_lane"`, `"objected_before":true`,
		`"reserve_of":"sage"`,
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("the API does not say %s", want)
		}
	}
}

// A list of many pull requests leaves out what the checks say; a pull request's own answer has it.
func TestAPIShowsThePageOfOne(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }}.Routes(mux)
	for path, want := range map[string]bool{"/api/v1/pulls": false, "/api/v1/pulls/acme/shop/477": true} {
		w := askBoard(t, mux, path)
		if got := strings.Contains(w.Body.String(), `"page":{`); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d, has a page: %v, want %v", path, w.Code, got, want)
		}
	}
}

// Of a reviewer whose answers nobody understands it is said wherever it is shown.
func TestBoardShowsDrift(t *testing.T) {
	s := openTable(t)
	sight := sceneWaiting()
	says := "14 of its last 20 answers were not understood; its format may have changed"
	sight.Lanes[1].Answers, sight.Lanes[1].Unread, sight.Lanes[1].Drift = 20, 14, says
	lay(t, s, sight, sceneNow.Add(-time.Minute), "")
	h := boardOf(s)
	for _, path := range []string{"/", "/pulls/acme/shop/482"} {
		want := []string{sight.Lanes[1].Name + ": " + says}
		if got := texts(t, askBoard(t, h, path).Body.String(), "failed"); !slices.Equal(got, want) {
			t.Errorf("%s says %q, want %q", path, got, want)
		}
	}
}

// What failed is shown with why, and what was never looked at is there too.
func TestBoardShowsFailures(t *testing.T) {
	s := openTable(t)
	lay(t, s, sceneWaiting(), sceneNow.Add(-time.Minute), "GitHub answered 502")
	if err := s.Poke(t.Context(), store.Poke{
		Key: "77/acme/shop#5", Tenant: 77, Kind: workkey.KindPull, Group: "77/acme/shop",
		Due: sceneNow.Add(-time.Second),
	}); err != nil {
		t.Fatal(err)
	}
	page := askBoard(t, boardOf(s), "/").Body.String()
	if got := texts(t, page, "failed"); len(got) != 1 || got[0] != "The last evaluation failed: GitHub answered 502" {
		t.Errorf("failures: %q", got)
	}
	if !strings.Contains(page, "some evaluations fail") {
		t.Error("the queue is not said to have failures")
	}
	if !strings.Contains(page, "Not looked at yet") || !strings.Contains(page, "acme/shop#5") {
		t.Error("a pull request that waits for its first look is not shown")
	}
}

// A page of what is not there asks for nothing and listens to nothing: an answer would put another page under its
// address.
func TestBoardMissingStaysAsItIs(t *testing.T) {
	h := boardOf(openTable(t))
	main := regexp.MustCompile(`<main [^>]*>`)
	for _, path := range []string{"/nothing", "/pulls/acme/shop/9999"} {
		for _, headers := range [][]string{nil, {"HX-Request", "true"}} {
			if got := main.FindString(askBoard(t, h, path, headers...).Body.String()); got == "" || strings.Contains(got, "hx-") ||
				strings.Contains(got, "data-events") ||
				!strings.Contains(got, "data-now=") {
				t.Errorf("%s is %s", path, got)
			}
		}
	}
	if got := main.FindString(askBoard(t, h, "/").Body.String()); !strings.Contains(got, `hx-get="/" hx-trigger="refresh"`) ||
		!strings.Contains(got, `data-events="/events"`) {
		t.Errorf("the overview is %s", got)
	}
}

// What was never looked at has no title and no votes: its name stands once, and nothing is said that nobody knows yet.
func TestBoardBeforeTheFirstLook(t *testing.T) {
	s := openTable(t)
	untitled := scenePassed()
	untitled.PR, untitled.Title = "octo/shop#8", ""
	waiting := sceneWaiting()
	waiting.PR, waiting.Title = "octo/shop#9", ""
	layMany(t, s, []Sight{untitled, waiting}, sceneNow)
	if err := s.Poke(t.Context(),
		store.Poke{Key: "77/octo/shop", Tenant: 77, Kind: workkey.KindRepo, Group: "77/octo/shop", Due: sceneNow},
		store.Poke{Key: "77/octo/shop#7", Tenant: 77, Kind: workkey.KindPull, Group: "77/octo/shop", Due: sceneNow},
	); err != nil {
		t.Fatal(err)
	}
	h := Board{Store: s, Feed: NewFeed(), Now: func() time.Time { return sceneNow }, Reached: func() time.Time { return time.Time{} }}.Handler()
	page := askBoard(t, h, "/").Body.String()
	if got := texts(t, page, "about"); len(got) != 3 || got[0] != "waiting octo/shop#9 "+waiting.Says+" decided at the latest in 34m 20s" ||
		got[1] != "octo/shop#8 "+untitled.Says ||
		got[2] != "octo/shop#7 Not looked at yet" {
		t.Errorf("the overview says %q", got)
	}
	if got := texts(t, page, "moment"); len(got) != 1 || got[0] != "GitHub hasnot answered yet" {
		t.Errorf("of GitHub it says %q", got)
	}
	page = askBoard(t, h, "/pulls/octo/shop/7").Body.String()
	if got := texts(t, page, "about"); len(got) != 1 || got[0] != "queued octo/shop #7 Not looked at yet" {
		t.Errorf("its page says %q", got)
	}
	if got := texts(t, page, "split"); len(got) != 0 {
		t.Errorf("its page says what is not known yet: %q", got)
	}
}

func TestBoardFilesAreKept(t *testing.T) {
	h := boardOf(openTable(t))
	page := askBoard(t, h, "/").Body.String()
	paths := regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(paths) < 5 {
		t.Fatalf("the page names %d files", len(paths))
	}
	for _, m := range paths {
		w := askBoard(t, h, m[1])
		if w.Code != http.StatusOK || w.Body.Len() == 0 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %d bytes, %s", m[1], w.Code, w.Body.Len(), w.Header().Get("Cache-Control"))
		}
		if !regexp.MustCompile(`\.[0-9a-f]{12}\.(css|js|svg|txt)$`).MatchString(m[1]) {
			t.Errorf("%s has no hash in its name", m[1])
		}
	}
}

// The version of htmx, and the SHA-256 of dist/htmx.min.js in
// https://registry.npmjs.org/htmx.org/-/htmx.org-2.0.11.tgz. A new version brings its own: of the file that was
// published, not of the one that lies here.
const (
	htmxVersion   = "2.0.11"
	htmxPublished = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
)

// htmx lies in the tree as it was published.
func TestBoardHTMX(t *testing.T) {
	code, err := boardWeb.ReadFile("web/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	licence, err := boardWeb.ReadFile("web/htmx.LICENSE.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(code)); got != htmxPublished {
		t.Errorf("the code's checksum is %s, and that of htmx %s %s", got, htmxVersion, htmxPublished)
	}
	if !bytes.HasPrefix(licence, []byte("htmx "+htmxVersion+" ")) || !bytes.Contains(code, []byte(`version:"`+htmxVersion+`"`)) {
		t.Errorf("the licence or the code is of another version than %s", htmxVersion)
	}
}

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)> {{.Version}} ` + "\u202etxt.exe\x00\x1b[31m" + ` <a href="javascript:alert(3)">` + `' onmouseover='alert(4)`

// hostilePage is a page in which every word and every address is a stranger's.
func hostilePage() *report.Page {
	p := report.Phrase{
		{Text: hostile, From: report.FromWriting, URL: "javascript:alert(7)"},
		{Text: hostile, From: report.FromName, URL: "https://evil.example/"},
		{Text: hostile},
	}
	const bad = "https://evil.example/acme/shop"
	return &report.Page{
		Title: hostile, Verdict: hostile, Lead: p, Next: []report.Phrase{p}, Came: 9,
		Steps:    []report.PageStep{{Who: p, What: p, URL: bad}},
		Notes:    []report.PageNote{{Says: p, Block: hostile + "\n" + hostile}},
		Findings: []report.PageFinding{{Path: hostile, Line: 3, URL: bad, Count: 1, Said: []report.PageWords{{By: []report.Phrase{p}, Body: hostile}}}, {}},
		Rows:     []report.PageRow{{Reviewer: p, Why: p, URL: bad}},
		Path:     []report.PageMoment{{Time: hostile, What: p}},
		Footer:   report.PageFooter{Quorum: p, Policy: p, Meaning: "javascript:alert(8)", Writers: p},
	}
}

// Nothing that a stranger wrote becomes an element, an attribute or a link.
func TestBoardEscapes(t *testing.T) {
	s := openTable(t)
	sight := sceneWaiting()
	sight.URL = "javascript:alert(5)"
	for _, text := range []*string{
		&sight.Title, &sight.Says, &sight.Head, &sight.Base, &sight.Check, &sight.Status, &sight.Reason, &sight.PolicyLane, &sight.LaneWhy,
	} {
		*text = hostile
	}
	sight.NeedPeople, sight.People = 1, []string{hostile}
	for i := range sight.Lanes {
		l := &sight.Lanes[i]
		l.Name, l.Why, l.URL = hostile, hostile, "javascript:alert(6)"
		l.Excused, l.Carried, l.Accepted = hostile, hostile, hostile
		for j := range l.Attempts {
			l.Attempts[j].Came, l.Attempts[j].URL = hostile, "https://evil.example/phish"
		}
	}
	lay(t, s, sight, sceneNow, hostile)
	other := scenePassed()
	other.PR, other.Verdict, other.Page = "acme/shop#9", hostile, hostilePage()
	other.Lanes[0].Vote = hostile
	other.Heads = []PastHead{
		{Head: hostile, Base: hostile, Decided: []PastDecision{{Verdict: hostile, Says: hostile}}},
		{Head: strings.Repeat("a", 40), Base: "main", Decided: []PastDecision{{Verdict: "passed", Says: hostile}, {}}},
	}
	lay(t, s, other, sceneNow.Add(time.Second), "")
	h := boardOf(s)
	clean := askBoard(t, boardOf(openTable(t)), "/").Body.String()
	for _, path := range []string{
		"/", "/pulls/acme/shop/482", "/pulls/acme/shop/9", "/?q=" + url.QueryEscape(hostile),
		"/?repo=" + url.QueryEscape(hostile), "/?state=" + url.QueryEscape(hostile), "/?reviewer=" + url.QueryEscape(hostile),
		"/?reviewer=openai&repo=acme/shop", "/" + url.PathEscape(hostile),
		"/pulls/acme/shop/9?in=" + url.QueryEscape(hostile),
	} {
		page := askBoard(t, h, path).Body.String()
		if got, want := strings.Count(page, "<script"), strings.Count(clean, "<script"); got != want {
			t.Errorf("%s has %d scripts, not %d", path, got, want)
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Data == "img" {
				t.Errorf("%s has a picture", path)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "style":
					t.Errorf("%s has the attribute %s=%q", path, a.Key, a.Val)
				case a.Key == "href" || a.Key == "src" || a.Key == "action":
					if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://github.com/acme/") {
						t.Errorf("%s leads to %q", path, a.Val)
					}
				}
			}
		}
		if strings.ContainsAny(page, "\u202e\x00\x1b") {
			t.Errorf("%s lets a text turn around or control what stands beside it", path)
		}
	}
}

func TestSafeURL(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://github.com/acme/shop/pull/7#issuecomment-1": true, "https://ghe.example:8443/a/b": true,
		"http://github.com/": false, "javascript:alert(1)": false, "JaVaScRiPt:alert(1)": false,
		"data:text/html,x": false, "//evil.example": false, "/pulls": false, "": false,
		"https://": false, "https:evil": false, "https://user@github.com/": false, "https://git hub.com/": false,
		"https://[::1]/": false, "https://-x/": false, "https://a\tb/": false,
	} {
		if got := safeURL(raw, "") != ""; got != want {
			t.Errorf("%q may be linked: %v, want %v", raw, got, want)
		}
	}
	if safeURL("https://evil.example/x", "https://github.com/acme/shop/pull/7") != "" {
		t.Error("a link leads away from the host of the pull request")
	}
}

func TestBoardHeaders(t *testing.T) {
	h := boardOf(openTable(t))
	for _, path := range []string{"/", "/nothing", "/static/nothing"} {
		header := askBoard(t, h, path).Header()
		if got := header.Get("Content-Security-Policy"); got != boardPolicy {
			t.Errorf("%s: policy %q", path, got)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Referrer-Policy") != "no-referrer" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, header)
		}
	}
	for _, loose := range []string{"unsafe", "data:", "*", "http:"} {
		if strings.Contains(boardPolicy, loose) {
			t.Errorf("the policy allows %s", loose)
		}
	}
}

// stream keeps what was written, and counts how often it was sent off.
type stream struct {
	header http.Header
	text   strings.Builder
	sent   int
	breaks bool
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) WriteHeader(int)     {}
func (s *stream) FlushError() error   { s.sent++; return nil }
func (s *stream) Write(p []byte) (int, error) {
	if s.breaks {
		return 0, errors.New("broken pipe")
	}
	return s.text.Write(p)
}

func TestBoardEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := NewFeed()
		h := Board{Feed: feed, Now: time.Now}.Handler()
		s := &stream{header: http.Header{}}
		done := make(chan struct{})
		go func() {
			h.ServeHTTP(s, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events?key=77/acme/shop%237", nil))
			close(done)
		}()
		synctest.Wait()
		feed.Publish("77/acme/shop#8")
		feed.Publish("77/acme/shop#7")
		synctest.Wait()
		<-time.After(boardBeat + time.Second)
		synctest.Wait()
		if want := "retry: 2000\n\nevent: changed\ndata:\n\n: still here\n\n"; s.text.String() != want || s.sent != 3 {
			t.Errorf("sent %d times: %q, want %q", s.sent, s.text.String(), want)
		}
		if got := s.header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type: %s", got)
		}
		s.breaks = true
		feed.Publish("")
		<-done // a browser that is gone ends it
	})
}

func TestBoardEventsEnd(t *testing.T) {
	feed := NewFeed()
	h := Board{Feed: feed, Now: time.Now}.Handler()
	feed.Close()
	if w := askBoard(t, h, "/events"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a feed that is closed: %d", w.Code)
	}
}

// The scale is even up to the focus and beyond it, goes on without a jump, and has room for everything.
func TestBoardScale(t *testing.T) {
	for _, sight := range []Sight{sceneWaiting(), sceneGrace(), sceneRunning(), sceneUnverified(), sceneBlocked(), scenePassed()} {
		live := sight.Verdict == "waiting"
		scale := scaleOf(sight, sceneNow, live, live)
		last := -1.0
		for at := scale.start; !at.After(scale.end); at = at.Add(time.Second) {
			x := scale.at(at)
			if x < last || x > 100 || last >= 0 && x-last > 3 {
				t.Fatalf("%s: %s is at %f after %f", sight.PR, at.Format(time.TimeOnly), x, last)
			}
			last = x
		}
		for _, l := range sight.Lanes {
			for _, a := range l.Attempts {
				if a.End.IsZero() {
					continue
				}
				if width := scale.at(a.End) - scale.at(a.Start); width < 5 {
					t.Errorf("%s: an attempt of %s is %.1f %% wide", sight.PR, l.Name, width)
				}
			}
		}
		if live && (scale.end.Before(sight.Deadline) || scale.focus.Before(sceneNow)) {
			t.Errorf("%s: now or the deadline lies beyond the timeline", sight.PR)
		}
	}
}

// Times that make no sense draw something, and no panic.
func TestBoardOddTimes(t *testing.T) {
	far := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	odd := []time.Time{{}, time.Unix(0, 0), clockAt(0, 0), sceneNow, sceneNow.Add(time.Hour), far}
	for _, start := range odd {
		for _, at := range odd {
			for _, end := range odd {
				for _, verdict := range []string{"waiting", "passed", "unverified", ""} {
					s := sceneGrace()
					s.Verdict, s.Start, s.GraceFrom, s.GraceEnd, s.Deadline = verdict, start, end, at, end
					s.Lanes[0].Attempts = []AttemptBar{attempt(1, at, end, "running"), attempt(2, end, at, "")}
					s.Lanes[1].VotedAt, s.Lanes[1].RerunAt, s.Lanes[2].Deadline, s.Lanes[2].RerunAt = at, end, at, end
					for _, size := range []boardSize{sizeMini, sizeNormal, sizeLarge} {
						line := drawLine(s, sceneNow, size)
						if line == nil {
							continue
						}
						if text := fmt.Sprintf("%+v", *line); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") ||
							regexp.MustCompile(`X:-\d`).MatchString(text) {
							t.Fatalf("start %s, at %s, end %s: %s", start, at, end, text)
						}
					}
				}
			}
		}
	}
}

func TestBoardWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", 400 * time.Millisecond: "now", 42 * time.Second: "in 42s", -42 * time.Second: "42s ago", 72 * time.Second: "in 1m 12s",
		time.Hour + 5*time.Minute: "in 1h 05m", -50 * time.Hour: "2d 2h ago", -59600 * time.Millisecond: "1m 00s ago",
	} {
		if got := boardDistance(d); got != want {
			t.Errorf("%s is said as %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 100000: "100\u202f000", 1234567: "1\u202f234\u202f567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

// Golden fragments: the timelines of the scene.
func TestBoardTimeline(t *testing.T) {
	s := openTable(t)
	setScene(t, s)
	h := boardOf(s)
	for _, path := range []string{"acme/shop/482", "acme/web/1207", "kestrel/api/97", "acme/shop/477"} {
		page := askBoard(t, h, "/pulls/"+path, "HX-Request", "true").Body.String()
		from, to := strings.Index(page, "<svg class=\"plot\""), strings.Index(page, `<ul class="unseen">`)
		if from < 0 || to < from {
			t.Fatalf("%s has no timeline", path)
		}
		got := regexp.MustCompile(`(?m)^\s*\n`).ReplaceAllString(page[from:to], "")
		golden := filepath.Join("testdata", "board", strings.ReplaceAll(path, "/", "-")+".svg")
		if *writeBoard {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is drawn anew:\n%s", golden, got)
		}
	}
}
