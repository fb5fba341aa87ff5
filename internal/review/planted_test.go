package review

// This test plants sentences in approvals. What says that something was not read, objects, refuses or takes back must take the
// approval away wherever it stands; what describes must not. The sentences stand in testdata/planted.txt. They were written
// by somebody who did not know the reader's lists, before those lists were.

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A plantedSentence is a sentence with its kind: unread, objected, refused, retracted or harmless.
type plantedSentence struct{ kind, text string }

func plantedSentences(t *testing.T) (all []plantedSentence) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "planted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		kind, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && !strings.HasPrefix(kind, "#") {
			all = append(all, plantedSentence{kind, strings.ReplaceAll(text, `\n`, "\n")})
		}
	}
	return all
}

func TestPlantedSentences(t *testing.T) {
	hosts := [][]string{
		{"**Ready to merge?** Yes"},
		{"## Review", "The handler closes its body now.", "### Verdict: APPROVE", "**Reasoning:** small and tested."},
		{"**Verdict:** APPROVE", "Both callers were moved along.", "The test fails without the change."},
		{"### Summary", "- a timer for each lease\n- its test", "## ✅ APPROVED"},
	}
	n := 0
	for _, p := range plantedSentences(t) {
		for _, host := range hosts {
			for at := range len(host) + 1 {
				if p.kind == "harmless" && strings.HasPrefix(p.text, "#") && at < len(host) && !strings.HasPrefix(host[at], "#") {
					continue // it would be the name of what follows
				}
				body := strings.Join(append(append(append([]string(nil), host[:at]...), p.text), host[at:]...), "\n\n")
				got := Read(autoReviewer(), Material{Kind: Comment, Body: body})
				if n++; (got.Outcome == quorum.Approved) != (p.kind == "harmless") {
					t.Errorf("%s %q at %d: %v by %q (%q)\n%s", p.kind, p.text, at, got.Outcome, got.Rule, got.Detail, body)
					break
				}
			}
		}
	}
	t.Logf("%d texts", n)
}

// Each shape of what was not read is needed: its example is not recognised without it.
func TestEachUnreadShapeIsNeeded(t *testing.T) {
	all := unreadShapes
	defer func() { unreadShapes = all }()
	for i, s := range all {
		unreadShapes = all
		if !saysUnread(s.example) {
			t.Errorf("%q is not recognised: %s", s.example, unreadClasses(s.example))
		}
		if unreadShapes = slices.Delete(slices.Clone(all), i, i+1); saysUnread(s.example) {
			t.Errorf("%q is recognised without %s: %s", s.example, s.expr(), unreadClasses(s.example))
		}
	}
}

// Each stated loss is needed: its example is not recognised without it.
func TestEachStatedLossIsNeeded(t *testing.T) {
	all := statedLosses
	defer func() { statedLosses = all }()
	for i, s := range all {
		statedLosses = all
		if words := plainWords(s.example); !saysUnread(words) {
			t.Errorf("%q is not recognised", words)
		}
		if statedLosses = slices.Delete(slices.Clone(all), i, i+1); saysUnread(plainWords(s.example)) {
			t.Errorf("%q is recognised without its row", s.example)
		}
	}
}

// Each veto is needed: without it, the approval beside its example stands.
func TestEachVetoIsNeeded(t *testing.T) {
	all := vetoes
	defer func() { vetoes = all }()
	isApproved := func(v veto) bool {
		return Read(autoReviewer(), Material{Kind: Comment, Body: v.example + "\n\n" + yes}).Outcome == quorum.Approved
	}
	for i, v := range all {
		vetoes = all
		if isApproved(v) {
			t.Errorf("%s: %q takes nothing away", v.name, v.example)
		}
		if vetoes = slices.Delete(slices.Clone(all), i, i+1); !isApproved(v) {
			t.Errorf("%s: %q takes the yes away without it", v.name, v.example)
		}
	}
}

// A title that names this pull request takes nothing away; one that names another does.
func TestATitleOfAnotherPullRequest(t *testing.T) {
	for title, want := range map[string]quorum.Outcome{
		"Review of #41": quorum.Approved, "# Review: PR #41": quorum.Approved, "**Pull request:** #41": quorum.Approved, "PR #41 review": quorum.Approved,
		"Review of #12": quorum.Malformed, "# Review: PR #12": quorum.Malformed, "**Pull request:** #12": quorum.Malformed, "PR #12 review": quorum.Malformed,
	} {
		if got := Read(autoReviewer(), Material{Kind: Comment, Body: title + "\n\n" + yes, Pull: 41}); got.Outcome != want {
			t.Errorf("%q is %v by %q, want %v", title, got.Outcome, got.Rule, want)
		}
	}
}

// A text may be as long as it likes and object; it approves by free text only where it can be read.
func TestALongTextApprovesNothingByFreeText(t *testing.T) {
	long := strings.Repeat("The handler closes its body now, and the test waits for it.\n", maxFreeText/60+1)
	for body, want := range map[string]quorum.Outcome{yes + "\n\n" + long: quorum.Malformed, long + "\n\n" + no: quorum.Findings} {
		if got := Read(autoReviewer(), Material{Kind: Comment, Body: body}); got.Outcome != want {
			t.Errorf("%v by %q, want %v", got.Outcome, got.Rule, want)
		}
	}
}

// A paragraph hides nothing by its length.
func TestALongParagraphHidesNoVeto(t *testing.T) {
	long := strings.Repeat("The handler closes its body now, and the test waits for it. ", 4*maxMatchedLine/60+1)
	table := "| Severity | Problem |\n|---|---|\n| Critical | " + long + " |"
	for _, veto := range []string{long + "Please do not merge this yet.", long + "I was given no diff.", table} {
		got := Read(autoReviewer(), Material{Kind: Comment, Body: yes + "\n\n" + veto})
		if got.Outcome == quorum.Approved {
			t.Errorf("approved beside %q", veto[max(0, len(veto)-80):])
		}
	}
	if got := Read(autoReviewer(), Material{Kind: Comment, Body: yes + "\n\n" + long}); got.Outcome != quorum.Approved {
		t.Errorf("%v by %q", got.Outcome, got.Rule)
	}
}

// The answers of testdata/fresh were labelled before the reader was written that reads them. None is read as an approval that is
// none, and of a hundred at least 95 are read as a careful maintainer would.
func TestFreshAnswers(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "fresh", "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, right, ideal := 0, 0, 0
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 4 || strings.HasPrefix(line, "#") {
			continue
		}
		body, err := os.ReadFile(filepath.Join("testdata", "fresh", f[0]))
		if err != nil {
			t.Fatal(err)
		}
		kind, err := ParseKind(f[1])
		if err != nil {
			t.Fatal(err)
		}
		m := Material{Kind: kind, Body: string(body)}
		flags := strings.Fields(f[2])
		for i := 0; i+1 < len(flags); i += 2 {
			switch flags[i] {
			case "--state":
				m.State = flags[i+1]
			case "--conclusion":
				m.Conclusion = flags[i+1]
			case "--comments":
				m.Threads, _ = strconv.Atoi(flags[i+1])
			}
		}
		got, accepted := Read(autoReviewer(), m), strings.Split(f[3], ",")
		if rows++; got.Outcome.String() == accepted[0] {
			ideal++
		}
		switch {
		case slices.Contains(accepted, got.Outcome.String()):
			right++
		case got.Outcome == quorum.Approved:
			t.Errorf("%s is approved by %q, want %s", f[0], got.Rule, f[3])
		default:
			t.Logf("%s is %v by %q, want %s", f[0], got.Outcome, got.Rule, f[3])
		}
	}
	if t.Logf("%d answers, %d right, %d ideal", rows, right, ideal); right*100 < rows*95 {
		t.Errorf("only %d of %d are right", right, rows)
	}
}

// What an attack and a reading found: none of these approves beside a yes.
func TestWhatAnAttackFound(t *testing.T) {
	for _, beside := range []string{
		"# Fixed login\n\n- **Critical:** SQL injection in db.go:3", "### Fixed-width parser\n\n- **Critical:** SQL injection in db.go:3",
		"### Resolved and open issues\n\n- **Critical:** SQL injection", "### What is done here\n\n- **Critical:** SQL injection",
		"**Critical:** nothing stops an attacker from reading the token", "**Critical:** zero validation of the token",
		"### Critical\n\n- Fixed salt in the password hash", "### Critical\n\n- Zero length buffer panics",
		"### Critical\n\nNone of the endpoints checks the token.", "> [!CAUTION]\n> **Critical:** the token is logged (auth.go:12)",
		"| # | Severity | File | Problem |\n|---|---|---|---|\n| 1 | High | hub.go:12 | the lock is never released |",
		"#### [Critical] The lock is never released", "### 1. High: the lock is never released", "- `hub.go:12` [HIGH] the lock is never released",
		"Critical: none, High: 2", "| Severity | Count |\n|---|---|\n| Critical | 2 new |",
		"internal/auth.pb.go was skipped.", "`api/auth.go` and `go.sum`: not reviewed", "api/auth.go and the lockfile were skipped.",
		"Skipped: `a.go`, `go.sum`", "Reviewed 3 of 12 files; 40 deleted lines.", "3 files out of 12", "Files reviewed: 2 (of 9)",
		"Files changed: 9, files reviewed: 2", "The diff was\ntruncated.", "Please do not\nmerge this.", "Truncated: yes", "I don't have the diff.",
		"NACK from me.", ":x: The tests are missing.",
		"- :no_entry: the token is logged", "- REQUEST_CHANGES", "Verdict - REJECT", "Approved: no", "Security: FAIL", "- [ ] fix the lock", "☐ fix the lock",
	} {
		for _, body := range []string{beside + "\n\n" + yes, yes + "\n\n" + beside} {
			if got := Read(autoReviewer(), Material{Kind: Comment, Body: body}); got.Outcome == quorum.Approved {
				t.Errorf("%q is approved by %q", body, got.Rule)
			}
		}
	}
	for _, body := range []string{"# Fix login — approved", "# Do you want this — approved", "# Vote to reject — approved"} {
		if got := Read(autoReviewer(), Material{Kind: Comment, Body: body}); got.Outcome == quorum.Approved {
			t.Errorf("%q is approved by %q", body, got.Rule)
		}
	}
}
