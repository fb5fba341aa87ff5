package review

// These tests play the example of each row of the tables, so that no row is without a text that needs it.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// exampleFault says what is wrong with the example of row i, "" if nothing is: it must be this row that recognises it. So
// read must return the row's outcome and reason, and something else while the row is taken out of its table.
func exampleFault(table messageTable, i int, read func(row messageRow) Reading) string {
	row := table[i]
	if row.example == "" {
		return "no example"
	}
	got := read(row)
	table[i].pattern = pattern{}
	defer func() { table[i].pattern = row.pattern }()
	other := read(row)
	switch {
	case got.Outcome != row.outcome || got.Reason != row.reason:
		return fmt.Sprintf("%q is %v (%v), want %v (%v)", row.example, got.Outcome, got.Reason, row.outcome, row.reason)
	case got.Detail == "":
		return fmt.Sprintf("%q is not quoted", row.example)
	case other.Outcome == got.Outcome && other.Reason == got.Reason:
		return fmt.Sprintf("%q is %v (%v) without this row, too: another one recognises it", row.example, other.Outcome, other.Reason)
	}
	return ""
}

func testExamples(t *testing.T, table messageTable, read func(row messageRow) Reading) {
	t.Helper()
	for i, row := range table {
		if fault := exampleFault(table, i, read); fault != "" {
			t.Errorf("%s: %s", row.pattern.expr(), fault)
		}
	}
}

// Each message is read where a runner shows it: with the time before it and other lines around it.
func TestEveryLogMessageHasAnExample(t *testing.T) {
	read := func(row messageRow) Reading {
		const stamp = "2026-05-04T03:02:01.1234567Z "
		body := stamp + strings.Join([]string{"Run the reviewer", row.example, "##[error]Process completed with exit code 1."}, "\n"+stamp)
		bare := Read(autoReviewer(), Material{Kind: Log, Body: row.example, Conclusion: "failure"})
		stamped := Read(autoReviewer(), Material{Kind: Log, Body: body + "\n", Conclusion: "failure"})
		if bare.Outcome != stamped.Outcome || bare.Reason != stamped.Reason || bare.Detail != stamped.Detail {
			t.Errorf("%q: alone %v (%v, %q), and within a log %v (%v, %q)",
				row.example, bare.Outcome, bare.Reason, bare.Detail, stamped.Outcome, stamped.Reason, stamped.Detail)
		}
		return stamped
	}
	testExamples(t, errorTypes, read)
	testExamples(t, logMessages, read)
}

// Programs wrap what failed into words of their own. %s is the message, as it is or within a string of JSON.
var wrappers = []string{
	"##[error]Action failed with error: %s",
	"::error file=ask.py,line=3::%s",
	"✕ [API Error: %s]",
	"Dt [SessionModelError]: %s",
	"    [cause]: [Error: %s]",
	"Error: Error: %s",
	"panic: %s",
	"Unhandled exception: %s",
	"Caused by: %s",
	`⏺ Agent "Review the diff" failed: Agent terminated early due to an API error: %s`,
	`{"level":"error","message":"%s"}`,
	`  "message": "%s",`,
	"2026-05-04 03:02:01,123 - reviewer.main - ERROR - %s",
}

func TestEveryMessageIsReadBehindWrappers(t *testing.T) {
	for _, row := range slices.Concat(errorTypes, logMessages, generalNotices) {
		for _, wrapper := range wrappers {
			message := strings.TrimLeft(row.example, "- ") // a list's dash begins a line of prose, or of a diff
			if strings.Contains(wrapper, `"%s"`) {
				message = strings.ReplaceAll(message, `"`, `\"`)
			}
			body := fmt.Sprintf(wrapper, message)
			got := Read(autoReviewer(), Material{Kind: Log, Body: body, Conclusion: "failure"})
			if bare := Read(autoReviewer(), Material{Kind: Log, Body: row.example}); got.Outcome != bare.Outcome || got.Reason != bare.Reason {
				t.Errorf("%q is %v (%v), and without the wrapper %v (%v)", body, got.Outcome, got.Reason, bare.Outcome, bare.Reason)
			}
		}
	}
}

// A form is needed if its example is read otherwise without it.
func TestEveryFormOfALimitHasAnExample(t *testing.T) {
	for i, form := range limitForms {
		read := func() Reading { return Read(autoReviewer(), Material{Kind: Log, Body: form.example}) }
		got := read()
		limitForms[i].pattern = pattern{}
		other := read()
		limitForms[i].pattern = form.pattern
		if got.Outcome != quorum.Limited || !got.statesEnd() || other.Reset == got.Reset && other.Until.Equal(got.Until) {
			t.Errorf("%q is %v, %v %v; and without its form %v %v", form.example, got.Outcome, got.Reset, got.Until, other.Reset, other.Until)
		}
	}
}

func TestEveryNoticeHasAnExample(t *testing.T) {
	testExamples(t, generalNotices, func(row messageRow) Reading {
		return Read(autoReviewer(), Material{Kind: Comment, Body: row.example})
	})
}

// The test of the examples must itself find a row without one, one that is read otherwise, and one that nothing needs.
func TestWrongExamplesAreFound(t *testing.T) {
	tide := meaning(quorum.Overloaded, quorum.ReasonOverloaded, `^the tide is out\b`, "the tide is out")[0]
	storm := meaning(quorum.Failed, quorum.ReasonInvalid, `^the \w+ is out\b`, "the tide is out today")[0]
	again, blank := tide, tide
	again.example, blank.example = "the tide is out again", ""
	for _, c := range []struct {
		name  string
		table messageTable
		row   int
		right bool
	}{
		{"one row", messageTable{tide}, 0, true},
		{"the more particular first", messageTable{tide, storm}, 0, true},
		{"behind a row that always wins", messageTable{tide, storm}, 1, false},
		{"behind its like", messageTable{tide, again}, 1, false},
		{"before its like", messageTable{tide, again}, 0, false},
		{"no example", messageTable{blank}, 0, false},
	} {
		fault := exampleFault(c.table, c.row, func(row messageRow) Reading {
			got := c.table.readMessage(row.example)
			got.Detail = row.example
			return got
		})
		if (fault == "") != c.right {
			t.Errorf("%s: %q", c.name, fault)
		}
	}
}
