package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// findingsPart is what a text says of findings.
func findingsPart(text string) string {
	_, part, _ := strings.Cut(text, "### Findings\n\n")
	return part
}

func TestTheSamePlaceIsOneFinding(t *testing.T) {
	f := func(line int, body string) quorum.Finding {
		return quorum.Finding{Path: "cart.go", Line: line, Body: body}
	}
	sum := f(12, "The sum is not rounded.")
	sum.Severity = quorum.High
	nit := f(15, "Name the constant.")
	nit.Severity, nit.Below = quorum.Low, true
	other := quorum.Finding{Path: "io.go", Line: 12, Body: "It stays open."}
	d := decided(quorum.Blocked,
		objects("gemini", 5, sum, f(14, "And not tested."), other), objects("openai", 5, nit, f(19, "Too far."), f(12, "Round it.")),
		objects("copilot", 5, f(12, "The sum is not rounded.")))
	c := Render(policy(), snapshot(), d, record(), places())
	at := func(file string, line int) string {
		return fmt.Sprintf("[`%s:%d`](https://github.com/acme/shop/blob/%s/%s#L%d)", file, line, head, file, line)
	}
	want := "7 findings came in, 7 are shown, at 4 places.\n\n" +
		"**gemini, copilot and openai** · " + at("cart.go", 12) + "\n\n" +
		"gemini and copilot · high\n\n> `The sum is not rounded.`\n\n" +
		"openai\n\n> `Round it.`\n\n" +
		"**gemini and openai** · " + at("cart.go", 14) + "\n\n" +
		"gemini\n\n> `And not tested.`\n\n" +
		"openai · line 15 · low · below min_severity\n\n> `Name the constant.`\n\n" +
		"**gemini** · " + at("io.go", 12) + "\n\n> `It stays open.`\n\n" +
		"**openai** · " + at("cart.go", 19) + "\n\n> `Too far.`"
	if diff := cmp.Diff(want, findingsPart(c.Text)); diff != "" {
		t.Error(diff)
	}
}

func TestFindingsWithoutAPlaceStandAlone(t *testing.T) {
	d := decided(quorum.Blocked, objects("gemini", 5, quorum.Finding{Body: "One."}, quorum.Finding{Path: "a.go", Body: "Two."}),
		objects("openai", 5, quorum.Finding{Body: "Three."}, quorum.Finding{Path: "a.go", Body: "Four."}))
	if c := Render(policy(), snapshot(), d, record(), places()); !strings.Contains(c.Text, "4 findings came in, 4 are shown.") {
		t.Error(findingsPart(c.Text))
	}
}

func TestOnePlaceIsAnnotatedOnce(t *testing.T) {
	f := func(line int, body string) quorum.Finding {
		return quorum.Finding{Path: "cart.go", Line: line, Body: body}
	}
	below := f(15, "Name it.")
	below.Severity, below.Below = quorum.Low, true
	passes := approves("openai", 3)
	passes.Findings = []quorum.Finding{below}
	d := decided(quorum.Blocked, passes, objects("gemini", 4, f(13, "Round it."), f(14, "Test it.")))
	c := Render(policy(), snapshot(), d, record(), places())
	want := []Annotation{
		{Path: "cart.go", Line: 15, Level: "failure", Title: "openai and gemini (low)", Message: "openai: Name it.\n\ngemini: Round it."},
		{Path: "cart.go", Line: 14, Level: "failure", Title: "gemini", Message: "Test it."},
	}
	if diff := cmp.Diff(want, c.Annotations); diff != "" {
		t.Error(diff)
	}
	rec, _ := ParseRecord(c.Text)
	if len(rec.Annotated) != 3 {
		t.Errorf("the record holds %v", rec.Annotated)
	}
	d.Ballots = append(d.Ballots, objects("copilot", 5, f(16, "Call it rate.")))
	want = []Annotation{{Path: "cart.go", Line: 16, Level: "failure", Title: "copilot", Message: "Call it rate."}}
	if diff := cmp.Diff(want, Render(policy(), snapshot(), d, rec, places()).Annotations); diff != "" {
		t.Error("later:", diff)
	}
}

func BenchmarkMergeFindings(b *testing.B) {
	var ballots []quorum.Ballot
	for i := range 5 {
		ballots = append(ballots, objects(fmt.Sprintf("r%d", i), 5, many(2000, fmt.Sprint(i))...))
	}
	for b.Loop() {
		mergeFindings(snapshot(), places(), ballots)
	}
}
