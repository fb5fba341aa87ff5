package coordinator_test

// The check as a contributor sees it who sees nothing else: stories, each played to the moment at which somebody
// looks, and its page drawn in a browser as GitHub draws it, in both themes, on a screen and on a telephone. README's
// picture is one of them, so that it can neither promise too much nor grow old. After a change of what the check says:
//
//	go test -run '^TestPages' -update .

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	"image/draw"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/chromedp"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"

	"github.com/review-coordinator/coordinator/internal/browsertest"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/story"
)

// A checkPage is a story in docs/pages, and when somebody looks at its check.
type checkPage struct {
	name string
	at   time.Duration // 0: in the end
}

// checkPages show every verdict, and the cases in which it is hard to say what to do.
var checkPages = []checkPage{
	{name: "passed"},
	{name: "changes-requested"},
	{name: "late-objection"},
	{name: "waiting", at: 3 * time.Minute},
	{name: "nothing-seen-yet", at: time.Second},
	{name: "guarded"},
	{name: "outage-twice"},
	{name: "fork-without-secrets"},
	{name: "broken-policy"},
	{name: "what-people-did"},
	{name: "approvals-in-vain"},
}

// readmePage is the page of README's picture.
const readmePage = "passed"

func (p checkPage) file(ending string) string { return path.Join("docs", "pages", p.name+ending) }

// A seenCheck is the check at that moment.
type seenCheck struct {
	report.Check
	notes   []report.Annotation // all that were written so far
	finding string              // how the first finding of an objection begins; "" if there is none
}

// readStory reads the story in a file.
func readStory(t *testing.T, file string) *story.Scenario {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := story.Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play plays the page's story. The story in its file must be the one that is told.
func (p checkPage) play(t *testing.T) (seen seenCheck) {
	t.Helper()
	file := p.file(".txt")
	s := readStory(t, file)
	told, err := s.PlayStepped(t.Context(), story.Audience{Looked: func(l loop.Look) {
		if p.at == 0 || !l.At.After(story.Begin.Add(p.at)) {
			seen.Check, seen.finding = l.Check, firstFinding(l.Decision)
			seen.notes = append(seen.notes, l.Check.Annotations...)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	generated(t, file, s.Rewritten(told.String()))
	if seen.Title == "" {
		t.Fatalf("%s: nobody looked by %s", file, p.at)
	}
	return seen
}

// firstFinding is the beginning of the first finding of a voter that objects.
func firstFinding(d quorum.Decision) string {
	for _, b := range d.Ballots {
		if b.Vote == quorum.Object && b.Voter() && len(b.Findings) > 0 {
			body := []rune(b.Findings[0].Body)
			return string(body[:min(len(body), 30)])
		}
	}
	return ""
}

// state is what GitHub calls the state of a check run.
func (c seenCheck) state() string {
	if c.Status != "completed" {
		return c.Status
	}
	return c.Conclusion
}

// forTools is the record in a check: it is no text for people, and held by its own tests.
var forTools = regexp.MustCompile(`(?m)^\{"record":.*$`)

// TestPagesText holds what the check says in each story, as Markdown.
func TestPagesText(t *testing.T) {
	gallery, err := os.ReadFile("docs/pages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checkPages {
		t.Run(p.name, func(t *testing.T) {
			c := p.play(t)
			var b strings.Builder
			fmt.Fprintf(&b, "# %s\n\n`%s` · %s · %d annotations\n\n%s\n", c.Title, c.Name, c.state(), len(c.notes), c.Summary)
			if c.Text != "" {
				fmt.Fprintf(&b, "\n---\n\n%s\n", forTools.ReplaceAllString(c.Text, "{…}"))
			}
			for _, a := range c.notes {
				message := strings.ReplaceAll(a.Message, "\n", "\n    ")
				fmt.Fprintf(&b, "\n---\n\n%s: `%s:%d` **%s**\n\n    %s\n", a.Level, a.Path, a.Line, a.Title, message)
			}
			generated(t, p.file(".md"), []byte(b.String()))
			for _, shown := range []string{".txt", ".md", "-light.png", "-dark.png"} {
				if !bytes.Contains(gallery, []byte("pages/"+p.name+shown)) {
					t.Errorf("docs/pages.md does not lead to %s", p.file(shown))
				}
			}
		})
	}
}

const (
	screenWidth, screenHeight = 980, 800
	phoneWidth, phoneHeight   = 390, 844
	pictureGap                = 20
	pictureHeight             = 1300 // of a longer page its beginning is shown
	pictureColours            = 16
	alikeColours              = 2500
)

// TestPagesInBrowser holds what only a browser can tell of the pages, and their pictures.
func TestPagesInBrowser(t *testing.T) {
	if *update { // nothing is skipped where pictures are to be made
		t.Setenv("COORDINATOR_BROWSER", "required")
	} else {
		t.Parallel()
	}
	browser := browsertest.StartBrowser(t)
	at := servePages(t)
	sameFonts := hasSameFonts(t, browser, at)
	for _, p := range checkPages {
		t.Run(p.name, func(t *testing.T) {
			finding := p.play(t).finding
			for _, theme := range []string{"light", "dark"} {
				browser.Run(t, browsertest.Screen(screenWidth, screenHeight, theme), chromedp.Navigate(at+p.name))
				if wrong := browser.Text(t, wrongHeadings); wrong != "" {
					t.Errorf("the headings are out of order: %s", wrong)
				}
				if finding != "" && browser.Text(t, fmt.Sprintf(seenAtOnce, strconv.Quote(finding))) != "true" {
					t.Errorf("the finding %q is not to be seen without scrolling", finding)
				}
				desk := drawPage(t, browser, screenWidth, screenHeight, theme)
				phone := drawPage(t, browser, phoneWidth, phoneHeight, theme)
				holdPicture(t, sameFonts, p.file("-"+theme+".png"), besideEachOther(desk, phone))
				if p.name == readmePage {
					holdPicture(t, sameFonts, "docs/check-"+theme+".png", desk)
				}
			}
		})
	}
	for _, complaint := range browser.Complaints() {
		t.Errorf("the browser complains: %s", complaint)
	}
	t.Run("what is wrong would have been found", func(t *testing.T) { wrongIsFound(t, browser, at) })
	if !sameFonts {
		t.Skip("the pictures are made with Liberation Sans, which this machine lacks (Debian: apt-get install fonts-liberation)")
	}
}

// servePages serves each page by its name. GitHub's pages load nothing of strangers, and neither do these.
func servePages(t *testing.T) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:")
		name := strings.TrimPrefix(req.URL.Path, "/")
		i := slices.IndexFunc(checkPages, func(p checkPage) bool { return p.name == name })
		if i < 0 {
			http.NotFound(w, req)
			return
		}
		if err := checkPageTemplate.Execute(w, viewOf(t, checkPages[i].play(t))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// drawPage holds what must be so in every size and theme, and returns the page as a picture.
func drawPage(t *testing.T, browser *browsertest.Browser, width, height int64, theme string) *image.RGBA {
	t.Helper()
	browser.Run(t, browsertest.Screen(width, height, theme))
	if wide := browser.Text(t, pageWidth); wide != fmt.Sprint(width) {
		t.Errorf("at %d px the page is %s px wide", width, wide)
	}
	if cut := browser.Text(t, cutOff); cut != "" {
		t.Errorf("at %d px one must scroll to the right to see the column %s", width, cut)
	}
	if pale := browser.Text(t, browsertest.PaleTexts); pale != "" {
		t.Errorf("%s: too pale to read: %s", theme, pale)
	}
	high, err := strconv.ParseInt(browser.Text(t, `String(Math.ceil(document.querySelector("main").getBoundingClientRect().bottom))`), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	browser.Run(t, browsertest.Screen(width, min(high, pictureHeight), theme))
	shot := browsertest.DecodePicture(t, browser.Shot(t))
	browser.Run(t, chromedp.Evaluate[chromedp.Void](unfoldAll))
	if wide := browser.Text(t, pageWidth); wide != fmt.Sprint(width) {
		t.Errorf("at %d px the page is %s px wide once all is unfolded", width, wide)
	}
	browser.Run(t, chromedp.Evaluate[chromedp.Void](foldAll))
	return shot
}

const (
	pageWidth = `String(document.documentElement.scrollWidth)`
	unfoldAll = `document.querySelectorAll("details").forEach(e => { e.open = true }); null`
	foldAll   = `document.querySelectorAll("details").forEach(e => { e.open = false }); null`
	// wrongHeadings names the headings that skip a level.
	wrongHeadings = `(() => {
		let last = 0, wrong = [];
		for (const h of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
			const level = Number(h.tagName[1]);
			if (level > last + 1) wrong.push(h.tagName + " " + h.textContent);
			last = level;
		}
		return last ? wrong.join("; ") : "there is none";
	})()`
	// seenAtOnce tells whether a text stands on the screen before anybody scrolls.
	seenAtOnce = `String([...document.querySelectorAll(".markdown *")].some(e => {
		const r = e.getBoundingClientRect();
		return e.textContent.replace(/\s+/g, " ").includes(%s) && e.checkVisibility() && r.height && r.height < 200 && r.bottom <= innerHeight;
	}))`
	// cutOff names the columns of tables of which one does not see enough to know that they are there. GitHub lets a
	// table scroll that is too wide, a long path in it for instance.
	cutOff = `[...document.querySelectorAll(".markdown th")].filter(e => {
		const r = e.getBoundingClientRect(), edge = e.closest("table").getBoundingClientRect().right;
		return r.right > edge && r.left > edge - 120;
	}).map(e => e.textContent).join(", ")`
	// isLiberation tells whether the machine has the font of the pictures.
	isLiberation = `(() => {
		const paper = document.createElement("canvas").getContext("2d");
		const wide = (font) => { paper.font = "40px " + font; return paper.measureText("Review quorum 17").width };
		return String(wide("'Liberation Sans', monospace") !== wide("monospace") && wide("'Liberation Mono', serif") !== wide("serif"));
	})()`
)

// hasSameFonts reports whether this machine's pictures can be held against those that are kept.
func hasSameFonts(t *testing.T, browser *browsertest.Browser, at string) bool {
	t.Helper()
	browser.Run(t, browsertest.Screen(screenWidth, screenHeight, "light"), chromedp.Navigate(at+checkPages[0].name))
	stand := browser.Text(t, isLiberation) == "true"
	if !stand && browsertest.IsRequired() {
		t.Error("COORDINATOR_BROWSER=required, and there is no Liberation Sans (Debian: apt-get install fonts-liberation)")
	}
	return stand
}

// besideEachOther puts two pictures on one.
func besideEachOther(left, right *image.RGBA) *image.RGBA {
	a, b := left.Rect.Size(), right.Rect.Size()
	both := image.NewRGBA(image.Rect(0, 0, a.X+pictureGap+b.X, max(a.Y, b.Y)))
	draw.Draw(both, both.Rect, image.NewUniform(left.RGBAAt(0, 0)), image.Point{}, draw.Src)
	draw.Draw(both, left.Rect, left, image.Point{}, draw.Src)
	draw.Draw(both, right.Rect.Add(image.Pt(a.X+pictureGap, 0)), right, image.Point{}, draw.Src)
	return both
}

// holdPicture holds the picture in a file against what it must show, or writes it with -update.
func holdPicture(t *testing.T, sameFonts bool, file string, shows *image.RGBA) {
	t.Helper()
	if !sameFonts {
		return
	}
	kept, err := os.ReadFile(file)
	differs := "there is none"
	if err == nil {
		differs = browsertest.PictureDifference(browsertest.DecodePicture(t, kept), shows)
	}
	switch {
	case differs == "":
	case *update:
		if err := os.WriteFile(file, browsertest.EncodePicture(t, shows, pictureColours, alikeColours), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is stale (%s): go test -run '^TestPages' -update .", file, differs)
	}
}

// wrongIsFound breaks a page in each way that the tests look for.
func wrongIsFound(t *testing.T, browser *browsertest.Browser, at string) {
	t.Helper()
	said := len(browser.Complaints())
	browser.Run(t, browsertest.Screen(phoneWidth, phoneHeight, "light"), chromedp.Navigate(at+"changes-requested"))
	before := browsertest.DecodePicture(t, browser.Shot(t))
	browser.Run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("main").insertAdjacentHTML("afterbegin",
		"<h6>deep</h6><p style='color: #ccc'>pale</p><img src=/nowhere.png>" +
		"<div class=markdown><table><tr><th style='white-space: pre'>" + "wide ".repeat(99) + "<th>hidden</table></div>" +
		"<pre style='overflow: visible'>" + "x".repeat(200) + "</pre>"); null`))
	browser.Until(t, `document.images[0].complete`)
	for what, expression := range map[string]string{
		"headings": wrongHeadings, "a wide table": cutOff, "a pale text": browsertest.PaleTexts,
		"a wide page": `document.documentElement.scrollWidth > 390 ? "wide" : ""`,
		"a finding":   fmt.Sprintf(seenAtOnce, `"no such finding"`) + ` === "false" ? "unseen" : ""`,
	} {
		if browser.Text(t, expression) == "" {
			t.Errorf("%s would not have been found", what)
		}
	}
	if len(browser.Complaints()) == said {
		t.Error("an image would not have been found")
	}
	browser.Run(t, browsertest.Screen(phoneWidth, phoneHeight, "light"))
	if browsertest.PictureDifference(before, browsertest.DecodePicture(t, browser.Shot(t))) == "" {
		t.Error("another picture would not have been found")
	}
}

// A checkView is what the template of a page shows.
type checkView struct {
	Name, State, Said, Title string
	Summary, Text            template.HTML
	Notes                    []report.Annotation
}

// stateWords are GitHub's words beside the name of a check run.
var stateWords = map[string]string{
	"success": "succeeded", "failure": "failed", "action_required": "action required", "in_progress": "in progress",
}

func viewOf(t *testing.T, c seenCheck) checkView {
	t.Helper()
	said, known := stateWords[c.state()]
	if !known {
		t.Errorf("no words for %q", c.state())
	}
	return checkView{
		Name: c.Name, State: c.state(), Said: said, Title: c.Title, Notes: c.notes,
		Summary: githubHTML(t, c.Summary), Text: githubHTML(t, c.Text),
	}
}

// githubHTML renders Markdown as GitHub does: its flavour, and of HTML only what harms nobody.
func githubHTML(t *testing.T, text string) template.HTML {
	t.Helper()
	var b bytes.Buffer
	renderer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(htmlrenderer.WithUnsafe()))
	if err := renderer.Convert([]byte(text), &b); err != nil {
		t.Error(err)
	}
	policy := bluemonday.UGCPolicy()
	policy.AllowAttrs("type", "checked", "disabled").OnElements("input")
	policy.AllowAttrs("class").Matching(regexp.MustCompile(`^language-\w+$`)).OnElements("code")
	return template.HTML(drawSigns(t, policy.Sanitize(b.String())))
}

// signs are the emoji that the check uses. They are drawn, because not every machine has a font for them.
var signs = []struct{ sign, class, shape string }{
	{"✅", "good", "M4.5 8.5l2.5 2.5 4.5-5"},
	{"❌", "bad", "M5 5l6 6M11 5l-6 6"},
	{"⏳", "warn", "M8 4v4.5l3 1.5"},
	{"⚠️", "warn", "M8 4v5M8 11v1"},
	{"➖", "dim", "M4 8h8"},
}

// drawSigns draws the emoji of a page. One that it cannot draw would be a box on some machines.
func drawSigns(t *testing.T, page string) string {
	t.Helper()
	for _, s := range signs {
		drawn := fmt.Sprintf(
			`<svg class="sign %s" viewBox="0 0 16 16" role="img" aria-label="%s"><circle cx="8" cy="8" r="8"/><path d="%s"/></svg>`,
			s.class, s.class, s.shape,
		)
		page = strings.ReplaceAll(page, s.sign, drawn)
	}
	for _, r := range page {
		if unicode.Is(unicode.So, r) || r > 0xffff {
			t.Errorf("there is no drawing of %q", r)
		}
	}
	return page
}

// checkPageTemplate is the page of a check run, as GitHub lays it out.
var checkPageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Name}}</title>
<link rel="icon" href="data:,">
<style>` + checkPageStyle + `</style>
<main>
<header><h1>Change 7 <span class="faint">#7</span></h1></header>
<div class="bar"><svg class="state {{.State}}" viewBox="0 0 16 16" role="img" aria-label="{{.Said}}"><circle cx="8" cy="8" r="8"/>
{{- if eq .State "success"}}<path d="M4.5 8.5l2.5 2.5 4.5-5"/>
{{- else if eq .State "failure"}}<path d="M5 5l6 6M11 5l-6 6"/>
{{- else if eq .State "action_required"}}<path d="M8 4v5M8 11v1"/>{{end}}</svg>
<strong>{{.Name}}</strong> <span class="faint">{{.Said}}</span></div>
<article>
<h2>{{.Title}}</h2>
<div class="markdown">{{.Summary}}</div>
{{if .Text}}<p class="label">DETAILS</p>
<div class="markdown">{{.Text}}</div>{{end}}
{{if .Notes}}<p class="label">ANNOTATIONS</p>
{{range .Notes}}<section class="note {{.Level}}"><p><strong>Check {{.Level}}</strong> on line {{.Line}} in {{.Path}}</p>
<p><strong>{{.Title}}</strong></p><pre>{{.Message}}</pre></section>{{end}}{{end}}
</article>
</main>
`))

// checkPageStyle gives the page GitHub's colours, sizes and distances. The font is named, so that pictures of two
// machines can be compared.
const checkPageStyle = `
:root { --paper: #fff; --wall: #f6f8fa; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --chip: #eff1f3;
  --link: #0969da; --good: #1a7f37; --bad: #d1242f; --warn: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --wall: #151b23; --ink: #f0f6fc; --faint: #9198a1; --line: #3d444d;
  --chip: #262c36; --link: #4493f8; --good: #3fb950; --bad: #f85149; --warn: #d29922; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif;
  overflow-wrap: break-word }
main { padding: 16px 24px 24px }
.faint, .label { color: var(--faint) }
h1 { margin: 0 0 12px; font-size: 20px; font-weight: 400 }
.bar { display: flex; gap: 8px; align-items: center; padding: 12px 16px; background: var(--wall);
  border: 1px solid var(--line); border-radius: 6px 6px 0 0 }
article { padding: 16px 24px 24px; border: 1px solid var(--line); border-top: 0; border-radius: 0 0 6px 6px }
h2 { margin: 0 0 12px; font-size: 20px; line-height: 1.25; font-weight: 600 }
.label { margin: 24px 0 8px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 12px; font-weight: 600 }
svg { width: 16px; height: 16px; flex: none; fill: var(--faint) }
svg path { fill: none; stroke: var(--paper); stroke-width: 2 }
.sign { vertical-align: -2px } .dim { fill: var(--faint) }
.good, .success { fill: var(--good) } .bad, .failure { fill: var(--bad) } .warn, .action_required, .in_progress { fill: var(--warn) }
.markdown > :first-child { margin-top: 0 } .markdown > :last-child { margin-bottom: 0 }
.markdown p, .markdown ul, .markdown ol, .markdown pre, .markdown table, .markdown blockquote, .markdown details { margin: 0 0 16px }
.markdown h1, .markdown h2, .markdown h3, .markdown h4 { margin: 24px 0 16px; line-height: 1.25; font-weight: 600; font-size: 14px }
.markdown h3 { font-size: 17.5px } .markdown h2 { font-size: 21px; padding-bottom: 4px; border-bottom: 1px solid var(--line) }
.markdown ul, .markdown ol { padding-left: 28px } .markdown li + li { margin-top: 4px } .markdown li > p { margin-top: 16px }
.markdown a { color: var(--link); text-decoration: underline }
.markdown strong, .bar strong, .note strong { font-weight: 600 }
code, pre { font: 12px/1.45 "Liberation Mono", monospace }
.markdown code { padding: 2px 5px; border-radius: 6px; background: var(--chip); white-space: break-spaces }
.markdown pre { padding: 16px; overflow: auto; border-radius: 6px; background: var(--wall) }
.markdown pre code { padding: 0; background: none; white-space: pre }
.markdown blockquote { padding: 0 14px; color: var(--faint); border-left: 4px solid var(--line) }
.markdown blockquote > :last-child { margin-bottom: 0 }
.markdown table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse }
.markdown th, .markdown td { padding: 6px 13px; border: 1px solid var(--line) } .markdown th { font-weight: 600 }
.markdown summary { cursor: pointer } .markdown hr { height: 4px; margin: 24px 0; border: 0; background: var(--line) }
.note { margin: 0 0 8px; padding: 8px 12px; border: 1px solid var(--line); border-left: 4px solid var(--warn); border-radius: 6px }
.note.failure { border-left-color: var(--bad) } .note.notice { border-left-color: var(--link) }
.note p { margin: 0 0 4px } .note pre { margin: 0; white-space: pre-wrap }
@media (max-width: 600px) { main { padding: 12px 8px } article { padding: 16px 12px } }
`
