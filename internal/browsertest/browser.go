// Package browsertest drives a headless Chromium for the tests of other packages.
//
// It promises one browser with every complaint of its pages kept, screens of a size and a theme, and small pictures of
// them. It drives pages only where COORDINATOR_BROWSER=required, as in CI: go test does the same on every machine, whatever
// is installed there.
package browsertest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Browser is a headless Chromium, of which every complaint is kept.
type Browser struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

// StartBrowser starts one that ends with the test.
func StartBrowser(t *testing.T) *Browser {
	t.Helper()
	options := append(
		slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(findChromium(t)),
		chromedp.NoSandbox,
		// Grey edges of letters, at whole pixels: the same picture on every machine with the same fonts.
		chromedp.Flag("disable-lcd-text", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(alloc)
	t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil { // without a time-out: it would be the whole browser's
		t.Fatalf("start Chromium: %v", err)
	}
	ctx, end := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(end)
	b := &Browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.noteComplaint); err != nil {
		t.Fatal(err)
	}
	return b
}

// findChromium returns the path of a Chromium, or skips the test where no browser is required.
func findChromium(t *testing.T) string {
	t.Helper()
	if !IsRequired() {
		t.Skip("no page is driven without COORDINATOR_BROWSER=required and a Chromium (Debian: apt-get install chromium-headless-shell)")
	}
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("COORDINATOR_BROWSER=required, and there is no Chromium in PATH")
	return ""
}

// IsRequired reports whether tests that need a browser are played, as in CI.
func IsRequired() bool { return os.Getenv("COORDINATOR_BROWSER") == "required" }

func (b *Browser) noteComplaint(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError || ev.Type == runtime.ConsoleAPICalledTypeWarning {
			b.addComplaint(fmt.Sprintf("console.%s: %v", ev.Type, ev.Args))
		}
	case *runtime.EventExceptionThrown:
		b.addComplaint(fmt.Sprintf("exception: %+v", ev.ExceptionDetails))
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			b.addComplaint(fmt.Sprintf("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL))
		}
	}
}

func (b *Browser) addComplaint(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// Complaints are what the browser has complained of so far.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints)
}

// Run does what is to be done, or fails.
func (b *Browser) Run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatalf("drive the browser: %v\ncomplaints: %q", err, b.Complaints())
	}
}

// Until waits for an expression to be true in the page.
func (b *Browser) Until(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(
		b.ctx,
		chromedp.Poll[chromedp.Void](
			expression,
			chromedp.WithPollingInterval(50*time.Millisecond),
			chromedp.WithPollingTimeout(20*time.Second),
		),
	)
	if err != nil {
		t.Fatalf("%s did not come true: %v\ncomplaints: %q", expression, err, b.Complaints())
	}
}

// Text is the value of an expression in the page, which must be a text.
func (b *Browser) Text(t *testing.T, expression string) string {
	t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// Shot is a PNG of the screen, once all of it is painted.
func (b *Browser) Shot(t *testing.T) []byte {
	t.Helper()
	const painted = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done("painted"))))`
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](painted, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

// Screen makes the screen so wide and high, in the theme light or dark. A narrow one is a telephone's.
func Screen(width, height int64, theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		metrics := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600}
		if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, metrics); err != nil {
			return err
		}
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
		return err
	})
}

// PaleTexts is an expression that names the page's texts with less than 4.5:1 between them and what they stand on.
//
//go:embed pale_texts.js
var PaleTexts string
