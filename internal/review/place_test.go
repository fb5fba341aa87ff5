package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const linkTo = "https://github.com/acme/shop/blob/7c1e2d3f4a5b6c7d8e9f0a1b2c3d4e5f60718293/"

const ( // in two parts: no file of this repository names a folder of one machine's
	runnerRoot = "/home/" + "runner/work/"
	usersRoot  = "/Users/" + "runner/work/"
)

func TestRepositoryPath(t *testing.T) {
	for path, want := range map[string]string{
		"cart.go":                                 "cart.go",
		runnerRoot + "shop/shop/cart/sum.go":      "cart/sum.go",
		usersRoot + "shop/shop/cart/sum.go":       "cart/sum.go",
		"/opt/runner/_work/shop/shop/cart/sum.go": "cart/sum.go",
		"/__w/shop/shop/cart.go":                  "cart.go",
		`D:\a\shop\shop\cart\sum.go`:              "cart/sum.go",
		"/github/workspace/cart.go":               "cart.go",
		"/workspace/cart.go":                      "cart.go",
		"./cart.go":                               "cart.go",
		"a/cart.go":                               "cart.go",
		"b/cart/sum.go":                           "cart/sum.go",
		linkTo + "cart/sum.go":                    "cart/sum.go",
		linkTo + "cart/sum.go#L3":                 "cart/sum.go",
		runnerRoot + "shop/other/cart.go":         runnerRoot + "shop/other/cart.go",
		runnerRoot + "shop/shop":                  runnerRoot + "shop/shop",
		"/etc/passwd":                             "/etc/passwd",
		"ab/cart.go":                              "ab/cart.go",
		"./":                                      "./",
		"":                                        "",
	} {
		if got := repositoryPath(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func TestFindPlace(t *testing.T) {
	for text, want := range map[string]string{
		"see cart.go:3 and io.go:7":                             "cart.go:3",
		"`" + runnerRoot + "shop/shop/cart.go:3` leaks":         "cart.go:3",
		"(b/cart.go:3)":                                         "cart.go:3",
		"leaks " + linkTo + "cart/sum.go#L13-L17":               "cart/sum.go:13",
		"[sum](" + linkTo + "cart/sum.go#L13) leaks":            "cart/sum.go:13",
		"[`io.go#L9`](" + linkTo + "io.go#L9)":                  "io.go:9",
		"[io.go:9](" + linkTo + "cart.go#L3)":                   "io.go:9",
		"https://example.com/blob/x and " + linkTo + "io.go#L9": "io.go:9",
		linkTo + "io.go":                                        ":0",
		linkTo + "io.go#L0":                                     ":0",
		"at 10:30":                                              ":0",
		"/blob/":                                                ":0",
	} {
		path, line := findPlace(text)
		if got := fmt.Sprintf("%s:%d", path, line); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestFindingsAreGoodToRead(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string // place, severity, words
	}{
		{"markup is none", "### Critical\n</details>\n\n### Low\n<details>\n<br>\n\n---\n</details>", nil},
		{
			"a fold's name", "### Low\n<details>\n<summary><b>Rename</b> it</summary>\n<br>\n\n</details>",
			[]string{":0 low Rename it"},
		},
		{"a green mark", "**Verdict:** Needs changes\n\n🟢 **Security**: all looks good", nil},
		{
			"numbered, with a link below",
			"Found 2 issues:\n\n1. The sum is negative\n\n" + linkTo + "cart/sum.go#L13-L17\n\n2. It stays open\n\n" + linkTo + "io.go#L7\n",
			[]string{"cart/sum.go:13  The sum is negative", "io.go:7  It stays open"},
		},
		{
			"numbered, with a link beside", "**Verdict:** Needs changes\n\n1. [sum](" + linkTo + "cart/sum.go#L13) is negative\n2) It stays open: io.go:7\n",
			[]string{"cart/sum.go:13  [sum](" + linkTo + "cart/sum.go#L13) is negative", "io.go:7  It stays open: io.go:7"},
		},
		{
			"a place alone, and its words below",
			"**Verdict:** Needs changes\n\n**cart.go:13**\n* The sum is negative.\n  Always.\n**io.go:7**\nIt stays open.\n**io.go:9**\n- **High**: read twice, as in io.go:3\n",
			[]string{"io.go:9 high **High**: read twice, as in io.go:3", "cart.go:13  The sum is negative.\nAlways.", "io.go:7  It stays open."},
		},
		{"two places alone", "**Verdict:** Needs changes\n\n**cart.go:13**\n**io.go:7**", []string{"cart.go:13  **cart.go:13**", "io.go:7  **io.go:7**"}},
	} {
		var got []string
		for _, f := range tallyFindings(ReadLines(c.body)).allFindings(quorum.SeverityAny) {
			got = append(got, fmt.Sprintf("%s:%d %s %s", f.Path, f.Line, f.Severity, f.Body))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}
