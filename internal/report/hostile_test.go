package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	reader "github.com/yuin/goldmark/text"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What strangers wrote is rendered here by a Markdown processor that is told to let everything through, and nothing of
// it may do anything.

// pieces are what hostile texts are made of.
var pieces = []string{
	"<img src=x onerror=alert(1)>", "<script>x</script>", "</details>", "<details open><summary>", "<!--", "-->",
	"<a href=\"https://evil.example\">go</a>", "<b", "&lt;img&gt;", "&#60;",
	"![i](https://evil.example/i.png)", "[l](https://evil.example)", "[l](javascript:alert(1))", "[ref]", "[ref]: https://evil.example", "[^1]", "[^1]: note",
	"https://evil.example/a?b=c", "http://evil.example", "www.evil.example", "<https://evil.example>",
	"me@evil.example", "mailto:me@evil.example", "ftp://evil.example",
	"@everyone", "@acme/everyone", "@bob", "#12", "GH-12", "acme/shop#12",
	"acme/shop@3f2c1d9a5b6c7d8e9f00112233445566778899aa", "3f2c1d9a5b6c7d8e9f00112233445566778899aa", "deadbeef",
	"# heading", "## 2 of 2 approvals", "heading\n=======", "heading\n---", "***", "- [x] done", "1. one", "> quote",
	"~~gone~~", "**bold**", "_it_", "$x$", "$`x`$", "$$x$$", ":tada:",
	"`", "``", "```", "````", "```json", "``` ` ```", "~~~", "~~~~json", strings.Repeat("`", 15), strings.Repeat("`", 81), strings.Repeat("`", 200),
	"|", "||", "\\|", "\\\\|", "\\", "\\`", "| --- | --- |", "|\n|---|\n", "a | b\n--|--\n",
	"\n", "\n\n", "\r", "\r\n", "\t", "    ", " ", "\u2028", "\u2029", "\u0085", "\x00", "\x1b[2J", "\x7f", "\xff\xfe",
	"\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\u00a0",
	"::set-output name=verdict::passed", "##[error]x", "::stop-commands::x", "{\"record\":{\"v\":1},\"decision\":{}}",
	"word", "the total", "é€😀", "if (a && b) { return }",
}

func hostile(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(3) == 0 {
			b.WriteByte(" \n"[r.IntN(2)])
		}
	}
	return b.String()
}

var (
	markdown = goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
	tags = regexp.MustCompile(`<[/!?]?([A-Za-z0-9-]*)`)
	ours = regexp.MustCompile(`^(https?://[a-z0-9.:-]+/acme/shop/[^"<>\s]*|https://github\.com/review-coordinator/coordinator/blob/v1\.2\.3/docs/verdicts\.md#[a-z]+)$`)
	// reference is what GitHub makes a link of in prose, or somebody is told by.
	reference = regexp.MustCompile(`(?i)@[a-z0-9]|#[0-9]|\bgh-[0-9]|https?:|www\.|ftp:|mailto:|\b[0-9a-f]{7,40}\b|\$`)
	// runnerCommand is what a runner obeys at the beginning of a line of a log.
	runnerCommand = regexp.MustCompile(`(?m)^\s*::`)

	allowed = []string{
		"p", "strong", "em", "h3", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "a", "br", "details", "summary",
		"blockquote",
	}
	headings = []string{"What you can do", headingNext, headingRules, headingHeard, "Findings", "Answers without a verdict"}
	folds    = regexp.MustCompile("^(<details>\n<summary>(How it got here|Who can write this check\\?|For tools: the record and the decision)</summary>\n|</details>\n?)$")
)

// active lists everything in src that does something and is not ours.
func active(src string) (found []string) {
	in := []byte(src)
	doc := markdown.Parser().Parse(reader.NewReader(in))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			var b bytes.Buffer
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(in))
			}
			if !folds.Match(b.Bytes()) {
				found = append(found, fmt.Sprintf("HTML %q", b.String()))
			}
		case *ast.RawHTML, *ast.Image, *ast.AutoLink, *ast.ThematicBreak, *ast.CodeBlock:
			found = append(found, n.Kind().String())
		case *ast.Blockquote:
			if !holdsOnlyCode(n, in) {
				found = append(found, n.Kind().String())
			}
		case *ast.Link:
			if !ours.Match(n.Destination) {
				found = append(found, "link to "+string(n.Destination))
			}
			return ast.WalkSkipChildren, nil
		case *ast.Heading:
			var b bytes.Buffer
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, is := c.(*ast.Text); is {
					b.Write(t.Segment.Value(in))
				}
			}
			if n.Level != 3 || !slices.Contains(headings, b.String()) {
				found = append(found, fmt.Sprintf("heading %q", b.String()))
			}
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if m := reference.Find(n.Segment.Value(in)); m != nil {
				found = append(found, fmt.Sprintf("%q in prose: %q", m, n.Segment.Value(in)))
			}
		}
		return ast.WalkContinue, nil
	})
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, in, doc); err != nil {
		return append(found, err.Error())
	}
	for _, m := range tags.FindAllStringSubmatch(out.String(), -1) {
		if !slices.Contains(allowed, m[1]) {
			found = append(found, "element "+m[0])
		}
	}
	return found
}

// holdsOnlyCode reports whether a block quote is paragraphs of code spans, and nothing between them but line breaks.
func holdsOnlyCode(quote *ast.Blockquote, in []byte) bool {
	for block := quote.FirstChild(); block != nil; block = block.NextSibling() {
		if block.Kind() != ast.KindParagraph {
			return false
		}
		for n := block.FirstChild(); n != nil; n = n.NextSibling() {
			text, isText := n.(*ast.Text)
			if n.Kind() != ast.KindCodeSpan && !(isText && text.Segment.IsEmpty()) {
				return false
			}
		}
	}
	return true
}

// blocks are the kinds of src's blocks.
func blocks(src string) (kinds []string) {
	for n := markdown.Parser().Parse(reader.NewReader([]byte(src))).FirstChild(); n != nil; n = n.NextSibling() {
		kinds = append(kinds, n.Kind().String())
	}
	return kinds
}

// assault is a pull request on which everything that a stranger can choose is chosen by r.
func assault(r *rand.Rand) (quorum.Policy, quorum.Snapshot, quorum.Decision, quorum.Record, int) {
	n := 0
	h := func() string { n++; return hostile(r) }
	reasons := append(slices.Clone(everyReason), "no such reason @bob")
	urls := []string{
		"", "https://github.com/acme/shop/runs/1?a=b&c=d#e", "https://evil.example/x", "javascript:alert(1)",
		"https://github.com/acme/shop/)[x](https://evil.example",
		"https://github.com/acme/shop/../../evil", "https://bob@evil.example/acme/shop/x",
		"https://github.com/acme/shop/|x|<b>", "HTTPS://github.com/acme/shop/x", hostile(r),
	}
	var ballots []quorum.Ballot
	for v := range 4 {
		b := quorum.Ballot{
			Reviewer: h(), Vote: quorum.Vote(v + 1), Outcome: quorum.Malformed, Reason: reasons[r.IntN(len(reasons))],
			Detail: h(), Attempt: r.IntN(3), Since: at(v), At: at(v),
			Failed: r.IntN(
				3,
			), Retried: r.IntN(2) == 0, Retrying: r.IntN(2) == 0, Answers: []string{h(), h(), h()},
			URL: urls[r.IntN(len(urls))], Run: int64(v), Shadow: r.IntN(5) == 0,
			Evidence: quorum.TextRef{Kind: quorum.TextKind(r.IntN(7))}, Open: r.IntN(3) == 0, Deadline: at(30),
		}
		b.Family, b.Again, b.Asked, b.Flipped = h(), r.IntN(3) == 0, r.IntN(20), r.IntN(3) == 0
		if v != 2 && r.IntN(4) == 0 {
			b.Excused = []quorum.Reason{quorum.ReasonOtherLane, quorum.ReasonWhen}[r.IntN(2)]
		}
		for range r.IntN(3) {
			b.Findings = append(b.Findings, quorum.Finding{Path: h(), Line: r.IntN(3), Body: h(), URL: urls[r.IntN(len(urls))], Below: r.IntN(3) == 0})
		}
		ballots = append(ballots, b)
	}
	verdict := quorum.Verdict(1 + r.IntN(5))
	d := decided(verdict, ballots...)
	d.Base = h()
	d.StandIns = []quorum.StandIn{{Login: h(), At: at(3), URL: urls[r.IntN(len(urls))]}}
	decisions := []quorum.Reason{
		quorum.ReasonTally, quorum.ReasonBroken, quorum.ReasonRequired, quorum.ReasonStandIn, quorum.ReasonPeople, quorum.ReasonTooFew, quorum.ReasonNoReview,
		quorum.ReasonLayer,
	}
	d.Reason = decisions[r.IntN(len(decisions))]
	d.Need, d.NeedPeople, d.AgainstVote = r.IntN(3), r.IntN(3), r.IntN(2) == 0
	d.MissingPeople = askedPeople(r.IntN(3))
	d.People = []quorum.StandIn{{Login: h(), At: at(3), URL: urls[r.IntN(len(urls))]}}
	d.Lane = quorum.LaneChoice{Name: h(), Why: h(), Added: []quorum.LaneSaid{{Name: h(), Why: h(), Less: r.IntN(2) == 0}, {Name: h()}}, Not: []quorum.LaneNot{
		{Name: h(), Reason: []quorum.Reason{quorum.ReasonLaneBase, quorum.ReasonLaneGuard, quorum.ReasonLanePolicy}[r.IntN(3)], Detail: h()},
	}}
	for _, by := range []*quorum.Condition{&d.Lane.By, &d.Lane.Added[0].By} {
		*by = quorum.Condition{AllPaths: []string{h(), h()}, AnyPath: []string{h()}, Authors: []string{h()}, Labels: []string{h(), h()}, Base: []string{h()}}
	}
	s := snapshot()
	s.PR.Title, s.PR.BaseRef, s.Gated = h(), h(), r.IntN(2) == 0
	s.File = quorum.PolicyFile{State: quorum.FileState(1 + r.IntN(2)), Path: h(), Problem: h() + h(), Changed: r.IntN(2) == 0, Proposed: h() + h()}
	s.Foreign = []quorum.CheckRun{{Name: h(), App: h(), Conclusion: h(), URL: urls[r.IntN(len(urls))]}}
	s.Timeline = []quorum.Event{{Kind: quorum.BaseChanged, From: h()}}
	s.Ours, s.PassedOverFor = quorum.Account{Login: h(), Bot: true}, h()
	d.Against = []string{h(), h()}[:r.IntN(3)]
	d.Siblings = []int{8}
	rec := record()
	rec.Intents = []quorum.Intent{{Kind: quorum.Ask, Reviewer: h(), Base: d.Base, At: at(2)}}
	rec.Answers = []quorum.Answer{{Reviewer: "gemini", Excerpt: h()}}
	rec.Objections = []quorum.Objection{{Reviewer: ballots[2].Reviewer, Base: d.Base, Carried: h(), Excerpt: h(), TextRef: ballots[2].Evidence}}
	for _, verb := range []quorum.CommandVerb{quorum.CommandAccept, quorum.CommandRerun, quorum.CommandVerb(h())} {
		rec.Commands = append(rec.Commands, quorum.Command{Verb: verb, By: h(), At: at(3), Base: d.Base, Reviewers: []string{h()}, Reason: h()})
	}
	rec.Undone = []quorum.UndonePass{{Passed: at(1), Until: at(2)}}
	p := policy()
	p.Override, p.Families = quorum.Permission(r.IntN(4)), quorum.Families(1+r.IntN(2))
	p.Rules = []quorum.NeedRule{{Share: quorum.Share(1 + r.IntN(4)), Count: d.Need}}
	for i := range p.Reviewers { // the policy's own names are of whoever may write it
		p.Reviewers[i].Name, p.Reviewers[i].Required = ballots[i].Reviewer, r.IntN(3) == 0
	}
	if r.IntN(2) == 0 {
		s.Threads = []quorum.Thread{{ID: 4}}
		for i := range d.Ballots {
			if b := &d.Ballots[i]; len(b.Findings) > 0 {
				b.Threads, b.Findings[0].Thread = true, 4
			}
		}
	}
	return p, s, d, rec, n
}

func TestNothingOfStrangersIsActive(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	texts, quoted := 0, 0
	for texts < 10_000 {
		p, s, d, rec, n := assault(r)
		texts += n
		c := Render(p, s, d, rec, places())
		for part, src := range map[string]string{"summary": c.Summary, "text": c.Text} {
			if found := active(src); len(found) > 0 {
				t.Fatalf("%s: %s\n%s", part, strings.Join(found, "\n"), src)
			}
			if len(src) > maxText || !utf8.ValidString(src) {
				t.Fatalf("%s: %d bytes, valid %t", part, len(src), utf8.ValidString(src))
			}
			quoted += strings.Count(src, "evil.example")
		}
		for _, line := range []string{c.Title, c.Described, c.Name} {
			if strings.ContainsAny(line, "\n\r\x00\x1b\u202e") || !utf8.ValidString(line) || strings.HasPrefix(line, "::") {
				t.Fatalf("%q", line)
			}
		}
		for _, a := range c.Annotations {
			if a.Line < 1 || a.Path == "" || a.Message == "" || len(a.Message) > 64<<10 || utf8.RuneCountInString(a.Title) > 255 ||
				strings.ContainsAny(a.Message+a.Title, "\x00\x1b\r\u202e") {
				t.Fatalf("%+v", a)
			}
		}
		if got, ok := ParseRecord(c.Text); !ok || got.Seq != rec.Seq {
			t.Fatalf("no record in\n%s", c.Text)
		}
		out := c.Page.Terminal(Styles{}, d.Start)
		if strings.ContainsAny(out, "\x00\x1b\r\u202e") || strings.Contains(out, "##[") || runnerCommand.MatchString(out) {
			t.Fatalf("%q", out)
		}
	}
	if quoted < 1000 {
		t.Fatalf("only %d addresses were quoted: the test shows nothing", quoted)
	}
}

// The test above can fail: every piece that does something alone is found when it is not quoted.
func TestActiveIsFound(t *testing.T) {
	for _, src := range []string{
		"<img src=x>", "a <b>c</b>", "![i](x)", "[l](https://evil.example)", "https://evil.example", "@bob", "see #12",
		"GH-12", "deadbeef", "# heading", "<details>\n<summary>x</summary>\n\nx\n\n</details>", "<details open>\n",
		"a\n===", "> q", "> `a` b", "> # `a`", "> - `a`", "---", "$x$", "| a |\n|---|\n| @bob |",
	} {
		if len(active(src)) == 0 {
			t.Errorf("nothing was found in %q", src)
		}
	}
}

// Texts that are too long for any place are cut between two runes, and nothing is left open.
func TestLongTexts(t *testing.T) {
	for _, unit := range []string{"€", "`", "\x00", "|", "😀\n", "```\n", "\\", "\u202e", "<a>", "\xff"} {
		long := strings.Repeat(unit, 70_000/len(unit))
		var ballots []quorum.Ballot
		for i := range 8 {
			b := fails(fmt.Sprintf("r%d", i), quorum.ReasonMalformed, 2)
			b.Detail, b.Answers, b.Reviewer = long, []string{long, long}, b.Reviewer+long
			b.Findings = []quorum.Finding{{Path: long, Line: 1, Body: fmt.Sprint(i) + long}}
			b.URL = "https://github.com/acme/shop/" + long
			ballots = append(ballots, b)
		}
		s := snapshot()
		s.File = quorum.PolicyFile{State: quorum.FileBroken, Path: long, Problem: long, Changed: true, Proposed: long}
		rec := record()
		rec.Answers = []quorum.Answer{{Excerpt: long}, {Excerpt: long}}
		c := Render(policy(), s, decided(quorum.Unverified, ballots...), rec, places())
		for part, src := range map[string]string{"summary": c.Summary, "text": c.Text} {
			if len(src) > maxText || !utf8.ValidString(src) {
				t.Errorf("%q: %s has %d bytes, valid %t", unit, part, len(src), utf8.ValidString(src))
			}
			if found := active(src); len(found) > 0 {
				t.Errorf("%q: %s: %v", unit, part, found)
			}
		}
		if _, ok := ParseRecord(c.Text); !ok {
			t.Errorf("%q: no record", unit)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "(empty)",
		" \n\t":                  "(empty)",
		"a  b\r\nc":              "`a b c`",
		"a`b":                    "``a`b``",
		"`":                      "`` ` ``",
		"a|b":                    `` + "`a\\|b`",
		`a\|b`:                   "`a\\ \\|b`",
		"a\x00b\u202ec\u200b":    "`a␀b[U+202E]c`",
		"\xff":                   "`\uFFFD`",
		strings.Repeat("`", 100): strings.Repeat("`", 17) + " " + strings.Repeat("`", 16) + "… " + "",
	} {
		got := Quote(in)
		if len(in) == 100 {
			want = strings.Repeat("`", 17) + " " + strings.Repeat("`", 16) + "… " + strings.Repeat("`", 17)
		}
		if got != want {
			t.Errorf("Quote(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for in, inert := range map[string]bool{
		"gemini": true, "my_reviewer-2": true, "Security review": true, "release/1.2": false, "dependabot[bot]": false,
		"_x_": false, "a  b": false, "www.evil": false,
		"deadbeef": false, "x deadbeef": false, "GH-12": false, "@bob": false, "#12": false, "": false, "é": false, "-": false, "a-": false, "1.": false,
	} {
		if isHarmlessName(in) != inert {
			t.Errorf("harmless(%q) = %t", in, !inert)
		}
	}
}

func TestLink(t *testing.T) {
	for url, want := range map[string]bool{
		"https://github.com/acme/shop/pull/7#issuecomment-5": true, "https://github.com/ACME/shop/runs/1?x=y": true,
		"http://127.0.0.1:8080/acme/shop/runs/1": true,
		"https://evil.example/":                  false, "https://github.com/acme/shopping/x": false,
		"javascript:alert(1)//acme/shop/": false, "https://bob@github.com/acme/shop/x": false,
		"https://github.com/acme/shop/a)b": false, "https://github.com/acme/shop/a b": false,
		"https://github.com/acme/shop/../x/y": false, "//github.com/acme/shop/x": false, "": false,
	} {
		if got := isRepositoryPage(pr, url); got != want {
			t.Errorf("link to %q: %t", url, got)
		}
	}
}

// Whoever sets a commit status chooses its address, and any host can have a page called /acme/shop/…: it is shown, and
// nothing on the page leads there, be it a vote, what can be done, or an objection that the record kept.
func TestAddressOfAStatusIsNoLink(t *testing.T) {
	const evil = "https://evil.example/acme/shop/actions/runs/1"
	for _, reason := range everyReason {
		for vote := quorum.Pending; vote <= quorum.Unavailable; vote++ {
			b := fails("gemini", reason, 2)
			b.Vote, b.URL, b.Evidence = vote, evil, quorum.TextRef{Kind: quorum.TextStatus, ID: 1}
			b.Findings = []quorum.Finding{{Body: "no", URL: evil}}
			for v := quorum.Waiting; v <= quorum.Ended; v++ {
				d := decided(v, b)
				d.Objections = 1
				c := Render(policy(), snapshot(), d, record(), places())
				if strings.Contains(c.Summary+c.Text, "]("+evil) || !strings.Contains(c.Summary, "`"+evil+"`") {
					t.Fatalf("%s, %s, %s:\n%s", v, vote, reason, c.Summary)
				}
			}
		}
	}
}

// A thousand comments as long as GitHub takes them are looked at only as far as they are shown, and a job's log gets no
// more of them than a person can read.
func TestThousandLongFindings(t *testing.T) {
	b := objects("gemini", 2)
	for i := range 1000 {
		long := strings.Repeat("é ", 1<<16)
		b.Findings = append(b.Findings, quorum.Finding{Path: "a.go", Line: 10 * (i + 1), Body: long, Thread: int64(i + 1)})
	}
	d := decided(quorum.Blocked, b)
	p := PageOf(policy(), snapshot(), d, record(), places())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := p.renderFindings(maxText)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 || !strings.Contains(text, " not shown, for want of room.") {
		t.Errorf("%d MB were worked through for a text of %d bytes", n>>20, len(text))
	}
	if out := p.Terminal(Styles{}, d.Start); len(out) > 512<<10 || !strings.Contains(out, " are not shown, for want of room.\n") {
		t.Errorf("a terminal shows %d bytes", len(out))
	}
}

func FuzzQuote(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		q, fenced, n := Quote(s), Fence(s), quoteName(s)
		if strings.ContainsAny(q, "\r\n") {
			t.Fatalf("%q is more than one line", q)
		}
		src := "Prose " + q + " and " + n + ".\n\n| a | b |\n| --- | --- |\n| x " + q + " | y " + n + " |\n\n- item " + q + "\n\n" + fenced + "\n\nThe end."
		if found := active(src); len(found) > 0 {
			t.Fatalf("%q does something: %v\n%s", s, found, src)
		}
		want := []string{"Paragraph", "Table", "List", "FencedCodeBlock", "Paragraph"}
		if got := blocks(src); !slices.Equal(got, want) {
			t.Fatalf("%q breaks out: %v\n%s", s, got, src)
		}
		if !utf8.ValidString(src) {
			t.Fatalf("%q is not valid UTF-8", src)
		}
	})
}

func TestFence(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "```\n\n```",
		"a\r\nb\rc\n":               "```\na\nb\nc\n```",
		"```\nx\n````":              "`````\n```\nx\n````\n`````",
		"a\x00\x1b[1m\u2066\u200bb": "```\na␀␛[1m[U+2066]b\n```",
		"~~~":                       "```\n~~~\n```",
	} {
		if got := Fence(in); got != want {
			t.Errorf("Fence(%q) = %q, want %q", in, got, want)
		}
	}
}
