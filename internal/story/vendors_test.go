package story

// A story for every golden text of every vendor: it is posted as its vendor posts it, on a pull request on which one
// approval is needed, through the real adapter; the check must end as the text's name says, and the vendor must be
// asked again exactly where that can help.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/review/reviewtest"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	vendorDeadline = 10 * time.Minute // of an attempt, by default
	vendorLimit    = 45 * time.Minute // of everything
	vendorPosts    = time.Minute      // when the vendor says what it says
	vendorHeading  = "## A review"    // of a workflow whose account others share
)

// vendorPlay is a golden text with the story in which it is posted.
type vendorPlay struct {
	reviewer quorum.Reviewer // as a policy with just that preset has it
	text     reviewtest.GoldenText
	reading  review.Reading
	scenario *Scenario
}

func TestVendorStories(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	t.Run("all", func(t *testing.T) {
		for _, preset := range review.Presets() {
			if r, _ := review.Preset(preset); r.Retired { // it votes in no policy
				continue
			}
			t.Run(preset, func(t *testing.T) {
				t.Parallel()
				for _, g := range reviewtest.GoldenTexts(t, "../review", preset) {
					play, isPosted := newVendorPlay(t, preset, g)
					if !isPosted {
						continue
					}
					play.tell(t)
					mu.Lock()
					told[g.Outcome]++
					mu.Unlock()
				}
			})
		}
	})
	for _, outcome := range []string{"approved", "findings", "limited", "running", "declined", "partial", "malformed"} {
		if told[outcome] < 3 {
			t.Errorf("only %d stories of texts that are %s", told[outcome], outcome)
		}
	}
}

// newVendorPlay writes the story of a text. isPosted is false where no pull request can show it: it names two commits,
// or is a check or status of a vendor of which none is known.
func newVendorPlay(t *testing.T, preset string, g reviewtest.GoldenText) (p vendorPlay, isPosted bool) {
	t.Helper()
	var file strings.Builder
	fmt.Fprintf(&file, "%s: %s\n\n-- policy --\nversion: 1\nquorum: 1\nreviewers:\n  - preset: %s\n", preset, g.Name, preset)
	known, _ := review.Preset(preset)
	body, isWorkflow := g.Material.Body, review.NeedsWorkflow(preset)
	if isWorkflow {
		fmt.Fprintf(&file, "    workflow: .github/workflows/review.yml\n")
	}
	if isWorkflow && known.Author == quorum.ActionsBot && known.Verdict.Kind != quorum.Conclusion {
		heading, _, _ := strings.Cut(body, "\n")
		if !strings.HasPrefix(heading, "#") {
			heading = vendorHeading
			body = heading + "\n\n" + body
		}
		fmt.Fprintf(&file, "    heading: %q\n", heading)
	}
	src := file.String()[strings.Index(file.String(), "version: 1"):]
	policy, err := config.Parse("policy.yml", []byte(src))
	if err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	p = vendorPlay{reviewer: policy.Reviewers[0], text: g}
	body, isNamed := ofHead(body, review.ReadLines(body).NamedCommit(p.reviewer))
	said, isKnown := p.sentence(body)
	if !isNamed || !isKnown {
		return p, false
	}
	m := g.Material
	m.Body = body
	if p.reading = review.Read(p.reviewer, m); p.reading.Outcome.String() != g.Outcome {
		t.Errorf("%s: %q in its policy is %v", preset, g.Name, p.reading.Outcome)
	}
	fmt.Fprintf(&file, "\n-- github --\nquorum-app[bot] owns the token\n\n-- timeline --\n0s     alice opens #7 at a1 changing cart.go\n")
	if isWorkflow {
		fmt.Fprintf(&file, "1s     %s starts\n", p.reviewer.Name)
	}
	file.WriteString(said)
	if isWorkflow && g.Outcome != "running" {
		fmt.Fprintf(&file, "+5s    %s succeeds\n", p.reviewer.Name)
	}
	file.WriteString("3h     nothing happens\n")
	p.scenario, err = Parse(preset+".txt", []byte(file.String()))
	if err != nil {
		t.Fatalf("%s: %q: %v\n%s", preset, g.Name, err, file.String())
	}
	return p, true
}

// ofHead returns a text with the commit that it names as the head of the story.
func ofHead(body, named string) (ofIt string, isNamed bool) {
	switch {
	case named == "":
		return body, true
	case len(named) > 40 || !review.IsHex(named):
		return "", false
	}
	head := sandbox.SHA("a1")
	return regexp.MustCompile("(?i)"+named[:7]+"[0-9a-f]*").ReplaceAllStringFunc(body, func(id string) string {
		return head[:min(len(id), len(head))]
	}), true
}

// sentence is how the vendor says it.
func (p vendorPlay) sentence(body string) (said string, isKnown bool) {
	var b strings.Builder
	at, m, r := formatDuration(vendorPosts), p.text.Material, p.reviewer
	lines := func(text string) {
		if text == "" {
			return
		}
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&b, "       | %s\n", line)
		}
	}
	comments := func() {
		for i := range m.Threads {
			fmt.Fprintf(&b, "       > cart.go:%d This empties the cart twice.\n", i+3)
		}
	}
	quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }
	switch m.Kind {
	case review.Comment:
		fmt.Fprintf(&b, "%s %s comments\n", at, r.Author)
		lines(body)
		return b.String(), body != ""
	case review.Review:
		verb, known := map[string]string{"APPROVED": "approves", "CHANGES_REQUESTED": "requests changes", "COMMENTED": "reviews"}[m.State]
		fmt.Fprintf(&b, "%s %s %s\n", at, r.Author, verb)
		lines(body)
		comments()
		return b.String(), known
	case review.Check:
		name, app := cmp.Or(r.Check, r.Signal.Check), cmp.Or(r.App, r.Signal.App)
		title, summary, _ := strings.Cut(body, "\n\n")
		if strings.Contains(title, "\n") {
			title, summary = "Review", body
		}
		if m.Threads > 0 { // they stand in a review
			fmt.Fprintf(&b, "%s %s reviews\n", at, r.Author)
			comments()
		}
		fmt.Fprintf(&b, "%s %s sets check %s to %s %s\n", at, app, quoted(name), cmp.Or(m.Conclusion, m.State, "in_progress"), quoted(title))
		lines(summary)
		return b.String(), name != ""
	case review.Status:
		context := cmp.Or(r.Status, r.Signal.Status)
		fmt.Fprintf(&b, "%s %s sets status %s to %s %s\n", at, r.Author, quoted(context), m.State, quoted(body))
		return b.String(), context != ""
	case review.Log:
	}
	return "", false
}

// tell plays the story, and holds its end and its requests against what the text's name says.
func (p vendorPlay) tell(t *testing.T) {
	t.Helper()
	got, err := p.scenario.PlayStepped(t.Context(), Audience{})
	if err != nil {
		t.Errorf("%s: %q: %v", p.reviewer.Name, p.text.Name, err)
		return
	}
	var asked []time.Duration
	end, settled := "", time.Duration(0)
	for _, e := range got.Entries {
		switch e.Kind {
		case EntryAsked, EntryReran:
			asked = append(asked, e.At)
		case EntryChecked:
			if e.checkState() != end {
				end, settled = e.checkState(), e.At
			}
		default:
		}
	}
	if why := p.contradiction(end, settled, asked); why != "" {
		t.Errorf("%s: %q: %s\n%s", p.reviewer.Name, p.text.Name, why, got)
	}
}

// contradiction says what is wrong with how the story ended, when the check last changed its state, and when the
// reviewer was asked or run again; "" if nothing is.
func (p vendorPlay) contradiction(end string, settled time.Duration, asked []time.Duration) string {
	wantEnd, most := "action_required", 0
	first := time.Duration(0) // the earliest moment at which it may be asked
	isAtOnce := false
	switch outcome := p.heardOutcome(); outcome {
	case quorum.Approved:
		wantEnd, isAtOnce = "success", true
		if p.text.Material.Threads > 0 && (p.reviewer.OnlyNew || p.reading.NoOpen) {
			wantEnd = "failure"
		}
	case quorum.Findings:
		wantEnd, isAtOnce = "failure", true
	case quorum.Declined, quorum.Failed:
		isAtOnce = true
	case quorum.Limited:
		ends := p.limitEnds()
		if ends > 0 && ends < vendorLimit {
			most, first = 1, ends
		} else {
			isAtOnce = true
		}
	case quorum.Running, quorum.Silent:
		most, first = 1, vendorDeadline
		if p.reviewer.Workflow == "" {
			most = 0
		}
	default:
		most = 1
	}
	if p.reviewer.Workflow == "" && !p.reviewer.Request.Set() {
		most = 0
	}
	switch {
	case end != wantEnd:
		return fmt.Sprintf("the check ends as %s, want %s", end, wantEnd)
	case len(asked) != most:
		return fmt.Sprintf("it was asked again %d times, want %d", len(asked), most)
	case slices.ContainsFunc(asked, func(at time.Duration) bool { return at < first }):
		return fmt.Sprintf("it was asked again at %v, want at %v or later", asked, first)
	case isAtOnce && settled > vendorPosts+10*time.Second:
		return fmt.Sprintf("the check says so only at %v", settled)
	}
	return ""
}

// heardOutcome is what the check makes of the text: a signal beside texts that says nothing of its own is not heard,
// and what is no review is as if nothing had been said.
func (p vendorPlay) heardOutcome() quorum.Outcome {
	outcome, m, r := p.reading.Outcome, p.text.Material, p.reviewer
	isSignal := m.Kind == review.Check && r.Check == "" || m.Kind == review.Status && r.Status == ""
	isOwn := strings.HasPrefix(p.reading.Rule, r.Preset+".json ")
	switch {
	case outcome == quorum.Unrelated && r.Workflow != "":
		return quorum.Empty // its run is all that is seen
	case outcome == quorum.Unrelated:
		return quorum.Silent
	case !isSignal:
		return outcome
	}
	switch outcome {
	case quorum.Running, quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded:
		return outcome
	case quorum.Approved, quorum.Findings:
		if isOwn {
			return outcome
		}
	}
	return quorum.Silent
}

// limitEnds is when the limit ends of which the text tells, since the story began; 0 if it does not tell.
func (p vendorPlay) limitEnds() time.Duration {
	switch {
	case p.reading.Reset > 0:
		return vendorPosts + p.reading.Reset
	case !p.reading.Until.IsZero():
		return max(p.reading.Until.Sub(Begin), 1)
	}
	return 0
}

// Bots obey in code and in the comments of bots, too: what a stranger says of how one is asked must not ask it.
func TestNoQuoteHoldsACommand(t *testing.T) {
	for _, preset := range review.Presets() {
		r, _ := review.Preset(preset)
		name, _, _ := strings.Cut(cmp.Or(r.Request.Comment, "@"+strings.TrimSuffix(r.Author, "[bot]")), " ")
		all := append([]string{r.Request.Comment, name + " review"}, r.Obeys...)
		for _, command := range all {
			if command == "" {
				continue
			}
			if command[0] != '/' && !strings.HasPrefix(command, name) {
				command = name + " " + command
			}
			frames := []string{"%s", "Use `%s` to go on", `Say "%s".`, "Try (%s)", "a\n%s\nb", "%[1]s %[1]s", "%s@x", "%s."}
			if command[0] != '/' { // which is a command only where a word begins
				frames = append(frames, "**%s**, soon", "<b>%s</b>")
			}
			for _, frame := range frames {
				text := fmt.Sprintf(frame, command)
				for _, shown := range []string{report.Quote(text), report.Fence(text), report.Quote(strings.ToUpper(text))} {
					if strings.Contains(strings.ToLower(shown), strings.ToLower(command)) {
						t.Errorf("%s: %q holds %q", preset, shown, command)
					}
				}
			}
		}
	}
}
