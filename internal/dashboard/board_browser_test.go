package dashboard

// The dashboard in a browser: what no reading of its HTML can tell. That nothing in it offends its own policy, that the
// line of now moves, that a change appears by itself, that it fits a telephone and a wide screen.
//
//	go test ./internal/dashboard -run TestBrowserScreenshots -args -screenshots    writes docs/dashboard-*.png

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/review-coordinator/coordinator/internal/browsertest"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of the dashboard to docs")

// A sceneServer serves the dashboard of the scene; its clock goes on from sceneNow.
type sceneServer struct {
	Board
	addr string
	http *http.Server
}

func serveScene(t *testing.T) *sceneServer {
	t.Helper()
	table := openTable(t)
	setScene(t, table)
	setRepos(t, table)
	began := time.Now()
	s := &sceneServer{addr: "127.0.0.1:0", Board: Board{
		Store: table, Version: "v0.3.0", Now: func() time.Time { return sceneNow.Add(time.Since(began)) },
		Reached: func() time.Time { return sceneNow.Add(-2 * time.Second) }, Waits: waitsOf,
	}}
	s.start(t)
	t.Cleanup(func() { s.http.Close() })
	return s
}

// start serves at the address that it had, if it had one.
func (s *sceneServer) start(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.addr, s.Feed = l.Addr().String(), NewFeed()
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go s.http.Serve(l)
}

func (s *sceneServer) url(path string) string { return "http://" + s.addr + path }

const nowAt = `document.querySelector(".now").getAttribute("x")`

func TestBrowser(t *testing.T) {
	t.Parallel()
	page := browsertest.StartBrowser(t)
	board := serveScene(t)
	page.Run(t, browsertest.Screen(1280, 800, "light"), chromedp.Navigate(board.url("/")), chromedp.WaitVisible("#board .now"))
	page.Until(t, `document.getElementById("link").dataset.state === "live"`)

	t.Run("the line of now moves without a reload", func(t *testing.T) {
		page.Run(t, chromedp.Evaluate[chromedp.Void](`window.same = true; window.was = `+nowAt+`; true`))
		page.Until(t, nowAt+` !== window.was && window.same`)
	})
	t.Run("a running bar grows up to it", func(t *testing.T) {
		page.Until(t, `(() => { const r = document.querySelector(".running rect"), n = r.closest("svg.plot").querySelector(".now");
			return Math.abs(parseFloat(r.getAttribute("x")) + parseFloat(r.getAttribute("width")) - parseFloat(n.getAttribute("x"))) < 0.1 })()`)
	})
	t.Run("a change appears by itself, and the reader stays where they were", func(t *testing.T) {
		page.Run(t, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".card h3 a")].find(a => a.textContent.includes("discount")).focus()`))
		changed := sceneWaiting()
		changed.Says = "2 of 2 approvals; waiting for copilot until 09:10 UTC"
		lay(t, board.Store, changed, sceneNow, "")
		board.Feed.Publish("77/acme/shop#482")
		page.Until(t, `document.body.innerText.includes("waiting for copilot until 09:10 UTC") && window.same`)
		page.Until(t, `document.activeElement.textContent.includes("discount")`)
	})
	t.Run("a search narrows the list", func(t *testing.T) {
		page.Run(t, chromedp.SendKeys(`input[type=search]`, "invoice"))
		page.Until(t, `document.querySelectorAll("#board article").length === 1 && location.search.includes("invoice") && window.same`)
		page.Run(
			t,
			chromedp.Evaluate[chromedp.Void](
				`(() => { const i = document.querySelector("input[type=search]"); i.value = ""; i.dispatchEvent(new Event("input", {bubbles: true})) })()`,
			),
		)
		page.Until(t, `document.querySelectorAll("#board article").length === 6 && window.same`)
	})
	t.Run("a filter holds as soon as it is chosen, and the address keeps it", func(t *testing.T) {
		const choose = `(() => { const f = document.querySelector(".filters [name=%s]"); f.value = %q;
			f.dispatchEvent(new Event("change", {bubbles: true})) })()`
		const shows = `window.same && document.querySelectorAll("#board article").length === %d && location.search === %q`
		for _, c := range []struct {
			filter, value string
			shown         int
			search        string
		}{
			{"state", "waiting", 3, "?state=waiting"},
			{"reviewer", "claude", 1, "?reviewer=claude&state=waiting"},
			{"repo", "acme/shop", 0, "?repo=acme%2Fshop&reviewer=claude&state=waiting"},
		} {
			page.Run(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(choose, c.filter, c.value)))
			page.Until(t, fmt.Sprintf(shows, c.shown, c.search))
		}
		page.Until(t, `document.querySelector("#nothing")`)
		page.Run(t, chromedp.Navigate(board.url("/?repo=acme/shop")), chromedp.WaitVisible("#board"))
		page.Until(t, `document.querySelector(".filters [name=repo]").value === "acme/shop"`)
		page.Run(t, chromedp.Evaluate[chromedp.Void](`window.same = true; null`))
		page.Run(t, chromedp.SendKeys(`input[type=search]`, "discount"))
		page.Until(t, fmt.Sprintf(shows, 1, "?q=discount&repo=acme%2Fshop"))
	})
	t.Run("it fits", func(t *testing.T) {
		for _, at := range []string{
			"/", "/?state=blocked&reviewer=nobody&repo=acme/shop", "/pulls/acme/shop/482?in=77", "/pulls/acme/shop/477",
			"/pulls/acme/web/1207", "/pulls/kestrel/api/97?in=77", "/repositories", "/nowhere",
		} {
			page.Run(t, chromedp.Navigate(board.url(at)), chromedp.WaitVisible("#board"))
			for _, width := range []int64{360, 390, 820, 1280, 1600} {
				page.Run(t, browsertest.Screen(width, 800, "light"))
				if wide := page.Text(t, `String(document.documentElement.scrollWidth)`); wide != fmt.Sprint(width) {
					t.Errorf("%s at %d px is %s px wide", at, width, wide)
				}
			}
		}
	})
	t.Run("a telephone gives its width to the timeline, not to the names", func(t *testing.T) {
		page.Run(t, browsertest.Screen(390, 800, "light"), chromedp.Navigate(board.url("/")), chromedp.WaitVisible("#board"))
		const columns = `getComputedStyle(document.querySelector(".line")).gridTemplateColumns`
		if got := page.Text(t, columns); !strings.HasPrefix(got, "80px ") {
			t.Errorf("the columns are %s", got)
		}
	})
	t.Run("light and dark differ, and both can be read", func(t *testing.T) {
		const ground = `getComputedStyle(document.body).backgroundColor`
		page.Run(t, browsertest.Screen(1280, 800, "light"))
		light := page.Text(t, ground)
		page.Run(t, browsertest.Screen(1280, 800, "dark"))
		if dark := page.Text(t, ground); light == dark {
			t.Errorf("the ground is %s in both", dark)
		}
		for _, at := range []string{
			"/", "/pulls/acme/shop/477", "/pulls/acme/shop/482", "/repositories", "/nowhere", "/?q=x",
		} {
			page.Run(t, chromedp.Navigate(board.url(at)), chromedp.WaitVisible("#board"))
			for _, scheme := range []string{"light", "dark"} {
				page.Run(t, browsertest.Screen(1280, 800, scheme))
				if pale := page.Text(t, browsertest.PaleTexts); pale != "" {
					t.Errorf("%s, %s: too pale to read: %s", at, scheme, pale)
				}
			}
		}
	})
	t.Run("what is folded opens at a key, and stays open when the board is made anew", func(t *testing.T) {
		page.Run(t, browsertest.Screen(1280, 800, "light"), chromedp.Navigate(board.url("/pulls/acme/shop/477")), chromedp.WaitVisible("#path"))
		page.Until(t, `document.getElementById("link").dataset.state === "live"`)
		page.Run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("#path summary").focus(); null`), chromedp.KeyEvent("\r"))
		page.Until(t, `document.activeElement.closest("details") && document.getElementById("path").open`)
		if pale := page.Text(t, browsertest.PaleTexts); pale != "" {
			t.Errorf("too pale to read: %s", pale)
		}
		changed := sceneUnverified()
		changed.Page.Next[0][0].Text = "Nothing happens by itself."
		lay(t, board.Store, changed, sceneNow, "")
		board.Feed.Publish("77/acme/shop#477")
		page.Until(t, `document.body.innerText.includes("Nothing happens by itself.") && document.getElementById("path").open`)
	})
	complaints := page.Complaints()
	for _, complaint := range complaints {
		if !strings.Contains(complaint, "/nowhere") { // the browser reports the 404 that was asked for
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	t.Run("what offends the policy would have been heard", func(t *testing.T) {
		page.Run(
			t,
			chromedp.Evaluate[chromedp.Void](
				`document.body.setAttribute("style", "color: red"); document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>"); null`,
			),
		)
		page.Until(t, `document.images[0].complete`)
		if heard := page.Complaints()[len(complaints):]; len(heard) < 2 {
			t.Errorf("only %q", heard)
		}
	})
}

// The daemon goes away and comes back: the page says so, and picks up by itself what happened meanwhile.
func TestBrowserPicksUp(t *testing.T) {
	t.Parallel()
	page := browsertest.StartBrowser(t)
	board := serveScene(t)
	page.Run(t, browsertest.Screen(1280, 800, "light"), chromedp.Navigate(board.url("/")))
	page.Until(t, `document.getElementById("link").dataset.state === "live"`)
	page.Run(t, chromedp.Evaluate[chromedp.Void](`window.same = true; null`))
	board.http.Close()
	page.Until(t, `document.getElementById("link").innerText.includes("Disconnected")`)
	changed := sceneWaiting()
	changed.Says = "2 of 2 approvals; waiting for copilot until 09:10 UTC"
	lay(t, board.Store, changed, sceneNow, "")
	board.start(t)
	page.Until(
		t,
		`document.getElementById("link").innerText === "Live" && document.body.innerText.includes("waiting for copilot until 09:10 UTC") && window.same`,
	)
}

// The pictures in the README: the board of coordinator demo, three minutes after its story began, while all six pull
// requests are on it.
func TestBrowserScreenshots(t *testing.T) {
	if !*screenshots {
		t.Skip("-screenshots is not given")
	}
	page := browsertest.StartBrowser(t)
	url := startDemo(t)
	where := os.Getenv("SCREENSHOTS") // to look at more than the README shows
	if where == "" {
		where = filepath.Join("..", "..", "docs")
	}
	for _, scheme := range []string{"light", "dark"} {
		writeShot(t, page, url, 1280, 1010, scheme, filepath.Join(where, "dashboard-"+scheme+".png"))
	}
	if os.Getenv("SCREENSHOTS") == "" {
		return
	}
	for _, width := range []int64{390, 820, 1600} {
		writeShot(t, page, url, width, 1400, "light", filepath.Join(where, fmt.Sprintf("overview-%d.png", width)))
	}
	for _, at := range []string{"acme/shop/477", "acme/billing/58", "acme/shop/482", "acme/web/1207", "kestrel/api/97", "acme/shop/479"} {
		for _, width := range []int64{390, 1280} {
			name := fmt.Sprintf("%s-%d.png", strings.ReplaceAll(at, "/", "-"), width)
			writeShot(t, page, url+"pulls/"+at, width, 1500, map[int64]string{390: "dark", 1280: "light"}[width], filepath.Join(where, name))
		}
	}
}

// startDemo runs coordinator demo until the test ends, and returns the address of its dashboard once its story's first
// reviewer approves and its second one is run again.
func startDemo(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "coordinator")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/coordinator").CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, out)
	}
	demo := exec.CommandContext(t.Context(), program, "demo", "--speed", "4")
	demo.Cancel = func() error { return demo.Process.Signal(os.Interrupt) }
	out, err := demo.StdoutPipe()
	if err == nil {
		err = demo.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = demo.Wait() })
	told, url := bufio.NewScanner(out), ""
	for told.Scan() {
		if at, found := strings.CutPrefix(told.Text(), "The dashboard is at "); found {
			url = at
		}
		if strings.Contains(told.Text(), "↻") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return url
		}
	}
	t.Fatalf("the demo ended before its first rerun: %v", told.Err())
	return ""
}

func writeShot(t *testing.T, page *browsertest.Browser, url string, width, height int64, scheme, name string) {
	t.Helper()
	page.Run(t, browsertest.Screen(width, height, scheme), chromedp.Navigate(url), chromedp.WaitVisible("#board"))
	page.Until(t, `document.getElementById("link").dataset.state === "live"`)
	picture := browsertest.EncodePicture(t, browsertest.DecodePicture(t, page.Shot(t)), 256, 150)
	if err := os.WriteFile(name, picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
