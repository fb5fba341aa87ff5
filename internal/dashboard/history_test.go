package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// sha40 is a commit's name that ends in n.
func sha40(n int) string { return fmt.Sprintf("%040x", n) }

// looked is a sight of a head against main, at a minute after nine, and what it decided.
func looked(minute, head int, verdict string) Sight {
	return Sight{
		Head: sha40(head), Base: "main", At: clockAt(minute, 0),
		Verdict: verdict, Says: verdict + " at " + fmt.Sprint(minute),
	}
}

// remembered tells a history in a line a head: its number, its base where that is not main, and its decisions.
func remembered(s Sight) string {
	var lines []string
	for _, h := range s.Heads {
		line := strings.TrimLeft(h.Head, "0")
		if h.Base != "main" {
			line += " into " + h.Base
		}
		for _, d := range h.Decided {
			line += fmt.Sprintf(" %d:%s(%s)", d.At.Minute(), d.Verdict, strings.TrimPrefix(d.Says, d.Verdict+" at "))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

// Looks are told as heads and verdicts, one a minute; a head may have its base.
func TestHeadsAreRemembered(t *testing.T) {
	for name, c := range map[string]struct{ looks, want string }{
		"one look":                {"1 waiting", "1 1:waiting(1)"},
		"it goes on waiting":      {"1 waiting, 1 waiting", "1 1:waiting(2)"},
		"it is decided":           {"1 waiting, 1 passed", "1 1:waiting(1) 2:passed(2)"},
		"a push":                  {"1 blocked, 2 waiting", "1 1:blocked(1), 2 2:waiting(2)"},
		"back to an earlier head": {"1 blocked, 2 waiting, 1 waiting", "1 1:blocked(1), 2 2:waiting(2), 1 3:waiting(3)"},
		"another base":            {"1 passed, 1 waiting release", "1 1:passed(1), 1 into release 2:waiting(2)"},
		"many verdicts of a head": {
			"1 blocked, 1 waiting, 1 passed, 1 waiting, 1 passed", "1 2:waiting(2) 3:passed(3) 4:waiting(4) 5:passed(5)",
		},
	} {
		var was Sight
		for i, look := range strings.Split(c.looks, ", ") {
			var head int
			var verdict string
			base := "main"
			if n, _ := fmt.Sscan(look, &head, &verdict, &base); n < 2 {
				t.Fatalf("%s: %q is no look", name, look)
			}
			s := looked(i+1, head, verdict)
			s.Base = base
			s.Remember(was)
			was = s
		}
		if got := remembered(was); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A sight that was kept is not changed by the one after it.
func TestRememberingChangesNoEarlierSight(t *testing.T) {
	first := looked(1, 1, "waiting")
	first.Remember(Sight{})
	second, third := looked(2, 1, "waiting"), looked(2, 1, "passed")
	second.Remember(first)
	third.Remember(first)
	if got := remembered(first); got != "1 1:waiting(1)" {
		t.Errorf("the first sight became %s", got)
	}
}

// However often somebody pushes, the history is short, and a head on which something was decided stays longest.
func TestACrowdOfPushesHidesNoVerdict(t *testing.T) {
	was := looked(0, 1, "blocked")
	was.Remember(Sight{})
	for n := range 1000 {
		s := looked(1, 100+n, "waiting")
		s.Remember(was)
		was = s
	}
	if n := len(was.Heads); n != 8 || was.Heads[0].Head != sha40(1) || was.Heads[7].Head != sha40(1099) {
		t.Errorf("%d heads: %s", n, remembered(was))
	}
	for n := range 10 {
		s := looked(2, 2000+n, "unverified")
		s.Remember(was)
		was = s
	}
	if n := len(was.Heads); n != 8 || was.Heads[0].Head != sha40(2002) {
		t.Errorf("of heads that were all decided %d are left: %s", n, remembered(was))
	}
}

// Its JSON is small whatever stands in titles and names.
func TestTheHistoryIsBoundedInBytes(t *testing.T) {
	for name, text := range map[string]string{
		"words": strings.Repeat("word ", 1000), "brackets": strings.Repeat("<&>", 1000),
		"bytes":   strings.Repeat("\xff", 3000),
		"letters": strings.Repeat("é", 1000) + "x", "emoji": "x" + strings.Repeat("🙂", 1000),
	} {
		var was Sight
		for n := range 100 {
			s := looked(n%60, n/4, [...]string{"waiting", "blocked", "unverified", "passed"}[n%4])
			s.Base, s.Says = text, text
			s.Remember(was)
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			was = Sight{}
			if err := json.Unmarshal(text, &was); err != nil { // as a restart reads it
				t.Fatal(err)
			}
		}
		heads, err := json.Marshal(was.Heads)
		if err != nil || len(heads) > 8<<10 || len(was.Heads) < 2 || len(was.Heads) > 8 {
			t.Errorf("%s: %d heads in %d bytes, %v", name, len(was.Heads), len(heads), err)
		}
		for _, h := range was.Heads {
			if !utf8.ValidString(h.Base) || strings.HasSuffix(h.Base, "\ufffd") && name != "bytes" {
				t.Errorf("%s: a name is cut within a character: %q", name, h.Base)
			}
		}
	}
}

// The page of a pull request shows its last heads, the newest first, and lists leave them out.
func TestBoardShowsTheLastHeads(t *testing.T) {
	s := openTable(t)
	old, now := sceneBlocked(), sceneWaiting()
	old.PR, old.Head, old.At, old.Base = now.PR, sha40(7), clockAt(1, 0), "release"
	old.Remember(Sight{})
	lay(t, s, old, sceneNow.Add(-time.Minute), "")
	page := askBoard(t, boardOf(s), "/pulls/acme/shop/482").Body.String()
	if strings.Contains(page, "Last heads") {
		t.Error("a history of one decision is shown, which the page tells anyway")
	}
	now.Remember(old)
	lay(t, s, now, sceneNow, "")
	page = askBoard(t, boardOf(s), "/pulls/acme/shop/482").Body.String()
	at := 0
	for _, want := range []string{
		`<h2 id="heads">Last heads`,
		`href="https://github.com/acme/shop/commit/` + now.Head + `" rel="noopener noreferrer">`,
		`<code>4f0c2ad1be9…</code>`, "<b>waiting</b> <bdi>1 of 2 approvals; waiting for gemini",
		`<code>00000000000…</code></a> <span class="small">into <code>release</code></span>`,
		"<b>blocked</b> <bdi>Blocked: openai objects: cents are lost", "09:01:00</span>",
	} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("after %.60q it does not say %q", page[max(at-60, 0):], want)
		}
		at += i
	}
	mux := http.NewServeMux()
	API{Store: s, Now: func() time.Time { return sceneNow }}.Routes(mux)
	for path, want := range map[string]bool{"/api/v1/pulls": false, "/api/v1/pulls/acme/shop/482": true} {
		if got := strings.Contains(askBoard(t, mux, path).Body.String(), `"heads":[{"head":"000`); got != want {
			t.Errorf("%s has heads: %v, want %v", path, got, want)
		}
	}
}
