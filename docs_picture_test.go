package coordinator_test

// The picture of the check in the README. It is drawn from the Markdown that the program really writes at the end of
// docs/check.txt, as GitHub shows it, so that it can neither promise too much nor grow old:
//
//	go test -run TestThePicture -update .

import (
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	reader "github.com/yuin/goldmark/text"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/story"
)

func TestThePicture(t *testing.T) {
	generated(t, "docs/check.svg", drawn(t, lastCheck(t, "docs/check.txt")))
}

// lastCheck plays a story and returns its check as it reads in the end. The story in the file must be the one that is
// told.
func lastCheck(t *testing.T, file string) (last report.Check) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := story.Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	story, err := s.PlayStepped(t.Context(), story.Audience{Looked: func(l loop.Look) { last = l.Check }})
	if err != nil {
		t.Fatal(err)
	}
	generated(t, file, s.Rewritten(story.String()))
	return last
}

const (
	pictureWidth  = 860
	pictureMargin = 24
	letterSize    = 14.0
)

// style is the sheet of the picture: GitHub's colours, for light and for dark.
const style = `
.page { fill: #ffffff; stroke: #d1d9e0 } .head { fill: #f6f8fa } .line { stroke: #d1d9e0 } .chip { fill: #818b981f }
text { font-family: -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
.bold { font-weight: 600 } .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace } .link { fill: #0969da }
.good { fill: #1a7f37 } .bad { fill: #d1242f } .warn { fill: #9a6700 } .dim { fill: #59636e } .on { stroke: #ffffff }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; stroke: #3d444d } .head { fill: #151b23 } .line { stroke: #3d444d } .chip { fill: #656c7633 }
text { fill: #f0f6fc } .link { fill: #4493f8 } .good { fill: #3fb950 } .bad { fill: #f85149 } .warn { fill: #d29922 } .dim { fill: #9198a1 } .on { stroke: #0d1117 }
}
`

// An easel is what a picture is drawn on, from top to bottom.
type easel struct {
	t   *testing.T
	src []byte
	b   strings.Builder
	y   float64
}

// drawn is the check as a picture.
func drawn(t *testing.T, c report.Check) []byte {
	t.Helper()
	e := &easel{t: t, src: []byte(c.Summary)}
	e.y = 30
	e.line(pictureMargin, e.y, letterSize, []word{{text: mark(c), class: ""}, {text: " " + c.Name, class: "bold"}})
	e.y = 84
	e.line(pictureMargin, e.y, 20, []word{{text: c.Title, class: "bold"}})
	e.y += 18
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(reader.NewReader(e.src))
	folded := false
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		html, isHTML := n.(*ast.HTMLBlock)
		switch {
		case isHTML:
			folded = e.fold(html)
		case !folded:
			e.block(n)
		}
	}
	height := e.y + 8
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" role="img" aria-labelledby="name told">`+"\n",
		pictureWidth, height, pictureWidth, height)
	fmt.Fprintf(
		&out,
		"<title id=\"name\">%s</title>\n<desc id=\"told\">%s</desc>\n<style>%s</style>\n",
		html.EscapeString(c.Name),
		html.EscapeString(c.Conclusion+": "+c.Title),
		style,
	)
	fmt.Fprintf(&out, `<rect class="page" x="0.5" y="0.5" width="%d" height="%.0f" rx="6"/>`+"\n", pictureWidth-1, height-1)
	fmt.Fprintf(
		&out,
		`<path class="head" d="M1 48V7a6 6 0 0 1 6-6h%da6 6 0 0 1 6 6v41z"/><path class="line" d="M0 48.5h%d"/>`+"\n",
		pictureWidth-14,
		pictureWidth,
	)
	out.WriteString(e.b.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// mark is the sign that GitHub puts beside a check.
func mark(c report.Check) string {
	switch c.Conclusion {
	case "success":
		return "✅"
	case "failure":
		return "❌"
	case "":
		return "⏳"
	}
	return "⚠️"
}

// A word is a piece of a line in one style.
type word struct {
	text, class string
}

// fold draws the heading of a part that is folded, and reports whether one begins.
func (e *easel) fold(n *ast.HTMLBlock) (begins bool) {
	var src strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		src.Write(line.Value(e.src))
	}
	_, heading, begins := strings.Cut(src.String(), "<summary>")
	if begins {
		heading, _, _ = strings.Cut(heading, "</summary>")
		e.y += 12
		e.flow(pictureMargin, pictureWidth-2*pictureMargin, split("▸ "+heading, ""))
		e.y += 4
	}
	return begins
}

func (e *easel) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph:
		e.y += 12
		e.flow(pictureMargin, pictureWidth-2*pictureMargin, e.words(n, ""))
		e.y += 4
	case *ast.Heading:
		e.y += 34
		e.line(pictureMargin, e.y, 17, e.words(n, "bold"))
		e.y += 4
	case *ast.List:
		e.y += 6
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			fmt.Fprintf(&e.b, `<circle class="dim" cx="%d" cy="%.0f" r="2.5"/>`+"\n", pictureMargin+10, e.y+12)
			e.flow(pictureMargin+24, pictureWidth-2*pictureMargin-24, e.words(item, ""))
		}
		e.y += 4
	case *table.Table:
		e.table(n)
	default:
		e.t.Fatalf("the picture has no way to draw a %s", n.Kind())
	}
}

// words are the pieces of n, each a word with the space before it.
func (e *easel) words(n ast.Node, class string) (all []word) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			all = append(all, split(string(c.Segment.Value(e.src)), class)...)
			if c.SoftLineBreak() {
				all = append(all, word{" ", class})
			}
		case *ast.String:
			all = append(all, split(string(c.Value), class)...)
		case *ast.CodeSpan:
			var code strings.Builder
			for _, w := range e.words(c, "code") {
				code.WriteString(w.text)
			}
			all = append(all, word{code.String(), "code"})
		case *ast.Emphasis:
			all = append(all, e.words(c, "bold")...)
		case *ast.Link:
			all = append(all, e.words(c, "link")...)
		case *ast.TextBlock, *ast.Paragraph:
			all = append(all, e.words(c, class)...)
		default:
			e.t.Fatalf("the picture has no way to draw a %s", c.Kind())
		}
	}
	return all
}

func split(text, class string) (all []word) {
	for _, piece := range strings.SplitAfter(text, " ") {
		if piece != "" {
			all = append(all, word{piece, class})
		}
	}
	return all
}

// flow sets words in lines of that width.
func (e *easel) flow(x, width float64, words []word) {
	var row []word
	used := 0.0
	for _, w := range words {
		if long := span(w, letterSize); used+long > width && len(row) > 0 {
			e.y += 22
			e.line(x, e.y-5, letterSize, row)
			row, used = nil, 0
		}
		row = append(row, w)
		used += span(w, letterSize)
	}
	e.y += 22
	e.line(x, e.y-5, letterSize, row)
}

// line draws words side by side. Each piece is given its length, so that they fit together in every font.
func (e *easel) line(x, y, size float64, words []word) {
	for i := 0; i < len(words); {
		piece := words[i]
		for i++; i < len(words) && words[i].class == piece.class && piece.class != "code"; i++ {
			piece.text += words[i].text
		}
		if sign, rest, found := cutSign(piece.text); found {
			e.sign(sign, x, y, size)
			x += size * 1.25
			piece.text = rest
		}
		// Spaces at the ends are walked over: not every program draws them.
		bare := strings.TrimLeft(piece.text, " ")
		x += span(word{piece.text[:len(piece.text)-len(bare)], piece.class}, size)
		end := x + span(word{bare, piece.class}, size)
		piece.text = strings.TrimRight(bare, " ")
		if piece.text == "" {
			x = end
			continue
		}
		at, long, letters := x, span(piece, size), size
		if piece.class == "code" {
			fmt.Fprintf(&e.b, `<rect class="chip" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5"/>`+"\n", x, y-size-1, long, size*1.5)
			at, letters, long = x+5, size*0.85, long-10
		}
		fmt.Fprintf(&e.b, `<text class="%s" x="%.1f" y="%.1f" font-size="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
			piece.class, at, y, letters, long, html.EscapeString(piece.text))
		x = end
	}
}

// cutSign cuts off the emoji that a text begins with: it is drawn, because not every machine has a font for it.
func cutSign(text string) (sign, rest string, found bool) {
	for _, sign := range []string{"✅", "❌", "⏳", "⚠️", "➖"} {
		if rest, found := strings.CutPrefix(text, sign); found {
			return sign, rest, true
		}
	}
	return "", text, false
}

func (e *easel) sign(sign string, x, y, size float64) {
	class, shape := "dim", "M4 8h8"
	switch sign {
	case "✅":
		class, shape = "good", "M4.5 8.5l2.5 2.5 4.5-5"
	case "❌":
		class, shape = "bad", "M5 5l6 6M11 5l-6 6"
	case "⏳":
		class, shape = "warn", "M8 4v4.5l3 1.5"
	case "⚠️":
		class, shape = "warn", "M8 4v5M8 11v1"
	}
	fmt.Fprintf(
		&e.b,
		`<g transform="translate(%.1f %.1f) scale(%.3f)"><circle class="%s" cx="8" cy="8" r="8"/><path class="on" fill="none" stroke-width="2" d="%s"/></g>`+"\n",
		x,
		y-size*0.9,
		size*1.1/16,
		class,
		shape,
	)
}

// table draws a table whose columns are as wide as their longest cell.
func (e *easel) table(t *table.Table) {
	const cell, row = 13.0, 37.0
	var rows [][][]word
	var widths []float64
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var cells [][]word
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			class := ""
			if r.Kind() == table.KindTableHeader {
				class = "bold"
			}
			words := e.words(c, class)
			if len(cells) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], length(words)+2*cell)
			cells = append(cells, words)
		}
		rows = append(rows, cells)
	}
	e.y += 12
	top, left := e.y, float64(pictureMargin)
	full := 0.0
	for _, w := range widths {
		full += w
	}
	if full > pictureWidth-2*pictureMargin {
		e.t.Fatalf("the table is %.0f wide", full)
	}
	for i, cells := range rows {
		x := left
		for j, words := range cells {
			e.line(x+cell, e.y+24, letterSize, words)
			x += widths[j]
		}
		e.y += row
		if i < len(rows)-1 {
			fmt.Fprintf(&e.b, `<path class="line" d="M%.0f %.1fh%.1f"/>`+"\n", left, e.y+0.5, full)
		}
	}
	x := left
	for _, w := range widths[:len(widths)-1] {
		x += w
		fmt.Fprintf(&e.b, `<path class="line" d="M%.1f %.0fV%.0f"/>`+"\n", x, top, e.y)
	}
	fmt.Fprintf(&e.b, `<rect class="line" fill="none" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", left, top+0.5, full, e.y-top)
	e.y += 4
}

func length(words []word) (sum float64) {
	for _, w := range words {
		sum += span(w, letterSize)
	}
	return sum
}

// advance is how wide the letters from space to tilde are in a common sans-serif font, in thousandths of its size.
var advance = [95]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
	556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667,
	944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// span is how wide w is.
func span(w word, size float64) (wide float64) {
	if w.class == "code" && w.text != "" {
		return float64(utf8.RuneCountInString(w.text))*size*0.85*0.6 + 10
	}
	text := w.text
	if _, rest, found := cutSign(text); found {
		wide, text = size*1.25, rest
	}
	for _, r := range text {
		letter := 600.0
		if ' ' <= r && r <= '~' {
			letter = advance[r-' ']
		}
		wide += letter * size / 1000
	}
	if w.class == "bold" {
		wide *= 1.06
	}
	return wide
}
