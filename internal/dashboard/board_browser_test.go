package dashboard

// The dashboard in a browser: what no reading of its HTML can tell. That nothing in it offends its own policy, that the
// line of now moves, that a change appears by itself, that it fits a telephone and a wide screen.
//
//	go test ./internal/dashboard -run TestBrowserScreenshots -args -screenshots    writes docs/dashboard-*.png

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of the dashboard to docs")

// browser is a headless Chromium, of which every complaint is kept.
type browser struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

// newBrowser starts one. Where there is none the test is skipped, unless COORDINATOR_BROWSER=required says that it must
// not.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	switch {
	case program != "":
	case os.Getenv("COORDINATOR_BROWSER") == "required":
		t.Fatal("COORDINATOR_BROWSER=required, and there is no Chromium in PATH")
	default:
		t.Skip("there is no Chromium in PATH (Debian: apt-get install chromium-headless-shell): the dashboard is not driven")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox)
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(alloc)
	t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil { // without a time-out: it would be the whole browser's
		t.Fatalf("start %s: %v", program, err)
	}
	ctx, end := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(end)
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) hear(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError || ev.Type == runtime.ConsoleAPICalledTypeWarning {
			b.complain(fmt.Sprintf("console.%s: %v", ev.Type, ev.Args))
		}
	case *runtime.EventExceptionThrown:
		b.complain(fmt.Sprintf("exception: %+v", ev.ExceptionDetails))
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			b.complain(fmt.Sprintf("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL))
		}
	}
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// run does what is to be done, or fails.
func (b *browser) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatalf("drive the browser: %v\ncomplaints: %q", err, b.said())
	}
}

func (b *browser) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints)
}

// until waits for an expression to be true in the page.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(
		b.ctx,
		chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second)),
	)
	if err != nil {
		t.Fatalf("%s did not come true: %v\ncomplaints: %q", expression, err, b.said())
	}
}

func (b *browser) text(t *testing.T, expression string) string {
	t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return text
}

func screen(width, height int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		metrics := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600}
		if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, metrics); err != nil {
			return err
		}
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
		return err
	})
}

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
	began := time.Now()
	s := &sceneServer{addr: "127.0.0.1:0", Board: Board{
		Store: table, Version: "v0.3.0", Now: func() time.Time { return sceneNow.Add(time.Since(began)) },
		Reached: func() time.Time { return sceneNow.Add(-2 * time.Second) },
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
	page := newBrowser(t)
	board := serveScene(t)
	page.run(t, screen(1280, 800, "light"), chromedp.Navigate(board.url("/")), chromedp.WaitVisible("#board .now"))
	page.until(t, `document.getElementById("link").dataset.state === "live"`)

	t.Run("the line of now moves without a reload", func(t *testing.T) {
		page.run(t, chromedp.Evaluate[chromedp.Void](`window.same = true; window.was = `+nowAt+`; true`))
		page.until(t, nowAt+` !== window.was && window.same`)
	})
	t.Run("a running bar grows up to it", func(t *testing.T) {
		page.until(t, `(() => { const r = document.querySelector(".running rect"), n = r.closest("svg.plot").querySelector(".now");
			return Math.abs(parseFloat(r.getAttribute("x")) + parseFloat(r.getAttribute("width")) - parseFloat(n.getAttribute("x"))) < 0.1 })()`)
	})
	t.Run("a change appears by itself, and the reader stays where they were", func(t *testing.T) {
		page.run(t, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".card h3 a")].find(a => a.textContent.includes("discount")).focus()`))
		changed := sceneWaiting()
		changed.Says = "2 of 2 approvals; waiting for copilot until 09:10 UTC"
		lay(t, board.Store, changed, sceneNow, "")
		board.Feed.Publish("77/acme/shop#482")
		page.until(t, `document.body.innerText.includes("waiting for copilot until 09:10 UTC") && window.same`)
		page.until(t, `document.activeElement.textContent.includes("discount")`)
	})
	t.Run("a search narrows the list", func(t *testing.T) {
		page.run(t, chromedp.SendKeys(`input[type=search]`, "invoice"))
		page.until(t, `document.querySelectorAll("#board article").length === 1 && location.search.includes("invoice") && window.same`)
		page.run(
			t,
			chromedp.Evaluate[chromedp.Void](
				`(() => { const i = document.querySelector("input[type=search]"); i.value = ""; i.dispatchEvent(new Event("input", {bubbles: true})) })()`,
			),
		)
		page.until(t, `document.querySelectorAll("#board article").length === 6 && window.same`)
	})
	t.Run("it fits", func(t *testing.T) {
		for _, at := range []string{"/", "/pulls/acme/shop/482?in=77", "/pulls/acme/shop/477", "/pulls/acme/web/1207", "/pulls/kestrel/api/97?in=77", "/nowhere"} {
			page.run(t, chromedp.Navigate(board.url(at)), chromedp.WaitVisible("#board"))
			for _, width := range []int64{360, 390, 820, 1280, 1600} {
				page.run(t, screen(width, 800, "light"))
				if wide := page.text(t, `String(document.documentElement.scrollWidth)`); wide != fmt.Sprint(width) {
					t.Errorf("%s at %d px is %s px wide", at, width, wide)
				}
			}
		}
	})
	t.Run("light and dark differ, and both can be read", func(t *testing.T) {
		const ground = `getComputedStyle(document.body).backgroundColor`
		page.run(t, screen(1280, 800, "light"))
		light := page.text(t, ground)
		page.run(t, screen(1280, 800, "dark"))
		if dark := page.text(t, ground); light == dark {
			t.Errorf("the ground is %s in both", dark)
		}
		for _, at := range []string{"/", "/pulls/acme/shop/477", "/pulls/acme/shop/482", "/nowhere"} {
			page.run(t, chromedp.Navigate(board.url(at)), chromedp.WaitVisible("#board"))
			for _, scheme := range []string{"light", "dark"} {
				page.run(t, screen(1280, 800, scheme))
				if pale := page.text(t, contrast); pale != "" {
					t.Errorf("%s, %s: too pale to read: %s", at, scheme, pale)
				}
			}
		}
	})
	t.Run("what is folded opens at a key, and stays open when the board is made anew", func(t *testing.T) {
		page.run(t, screen(1280, 800, "light"), chromedp.Navigate(board.url("/pulls/acme/shop/477")), chromedp.WaitVisible("#path"))
		page.until(t, `document.getElementById("link").dataset.state === "live"`)
		page.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("#path summary").focus(); null`), chromedp.KeyEvent("\r"))
		page.until(t, `document.activeElement.closest("details") && document.getElementById("path").open`)
		if pale := page.text(t, contrast); pale != "" {
			t.Errorf("too pale to read: %s", pale)
		}
		changed := sceneUnverified()
		changed.Page.Next[0][0].Text = "Nothing happens by itself."
		lay(t, board.Store, changed, sceneNow, "")
		board.Feed.Publish("77/acme/shop#477")
		page.until(t, `document.body.innerText.includes("Nothing happens by itself.") && document.getElementById("path").open`)
	})
	complaints := page.said()
	for _, complaint := range complaints {
		if !strings.Contains(complaint, "/nowhere") { // the browser reports the 404 that was asked for
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	t.Run("what offends the policy would have been heard", func(t *testing.T) {
		page.run(
			t,
			chromedp.Evaluate[chromedp.Void](
				`document.body.setAttribute("style", "color: red"); document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>"); null`,
			),
		)
		page.until(t, `document.images[0].complete`)
		if heard := page.said()[len(complaints):]; len(heard) < 2 {
			t.Errorf("only %q", heard)
		}
	})
}

// contrast names texts with less than 4.5:1 between them and what they stand on.
const contrast = `(() => {
	const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const light = (s) => { const [r, g, b] = rgb(s); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b) };
	const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return "rgb(" + c.slice(0, 3) + ")" } return "rgb(255,255,255)" };
	const pale = [];
	for (const e of document.querySelectorAll("body *:not(script):not(style)")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length || e.closest("svg title, .unseen, .skip, .now, symbol")) continue;
		const style = getComputedStyle(e), a = light(e.ownerSVGElement ? style.fill : style.color), b = light(ground(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) pale.push(e.tagName + "." + (e.getAttribute("class") || "") + " " + ratio.toFixed(2) + " " + e.textContent.trim().slice(0, 30));
	}
	return [...new Set(pale)].join("; ");
})()`

// The daemon goes away and comes back: the page says so, and picks up by itself what happened meanwhile.
func TestBrowserPicksUp(t *testing.T) {
	page := newBrowser(t)
	board := serveScene(t)
	page.run(t, screen(1280, 800, "light"), chromedp.Navigate(board.url("/")))
	page.until(t, `document.getElementById("link").dataset.state === "live"`)
	page.run(t, chromedp.Evaluate[chromedp.Void](`window.same = true; null`))
	board.http.Close()
	page.until(t, `document.getElementById("link").innerText.includes("Disconnected")`)
	changed := sceneWaiting()
	changed.Says = "2 of 2 approvals; waiting for copilot until 09:10 UTC"
	lay(t, board.Store, changed, sceneNow, "")
	board.start(t)
	page.until(
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
	page := newBrowser(t)
	url := startDemo(t)
	where := os.Getenv("SCREENSHOTS") // to look at more than the README shows
	if where == "" {
		where = filepath.Join("..", "..", "docs")
	}
	for _, scheme := range []string{"light", "dark"} {
		page.shoot(t, url, 1280, 1010, scheme, filepath.Join(where, "dashboard-"+scheme+".png"))
	}
	if os.Getenv("SCREENSHOTS") == "" {
		return
	}
	for _, width := range []int64{390, 820, 1600} {
		page.shoot(t, url, width, 1400, "light", filepath.Join(where, fmt.Sprintf("overview-%d.png", width)))
	}
	for _, at := range []string{"acme/shop/477", "acme/billing/58", "acme/shop/482", "acme/web/1207", "kestrel/api/97", "acme/shop/479"} {
		for _, width := range []int64{390, 1280} {
			name := fmt.Sprintf("%s-%d.png", strings.ReplaceAll(at, "/", "-"), width)
			page.shoot(t, url+"pulls/"+at, width, 1500, map[int64]string{390: "dark", 1280: "light"}[width], filepath.Join(where, name))
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

func (b *browser) shoot(t *testing.T, url string, width, height int64, scheme, name string) {
	t.Helper()
	b.run(t, screen(width, height, scheme), chromedp.Navigate(url), chromedp.WaitVisible("#board"))
	b.until(t, `document.getElementById("link").dataset.state === "live"`)
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, small(t, shot), 0o644); err != nil {
		t.Fatal(err)
	}
}

// small writes a picture with 256 colours: those of areas, and of the rest no two that are alike, so that a rare one
// has its place too.
func small(t *testing.T, shot []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Rect, img, flat.Rect.Min, draw.Src)
	count := map[color.RGBA]int{}
	for y := range flat.Rect.Dy() {
		for x := range flat.Rect.Dx() {
			count[flat.RGBAAt(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	var palette color.Palette
	for _, c := range all {
		if len(palette) < 256 && (count[c] > 400 || far(c, palette[palette.Index(c)])) {
			palette = append(palette, c)
		}
	}
	few := image.NewPaletted(flat.Rect, palette)
	draw.Draw(few, flat.Rect, flat, flat.Rect.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func far(c color.RGBA, d color.Color) bool {
	r, g, b, _ := d.RGBA()
	part := func(x uint8, y uint32) int { return (int(x) - int(y>>8)) * (int(x) - int(y>>8)) }
	return part(c.R, r)+part(c.G, g)+part(c.B, b) > 150
}
