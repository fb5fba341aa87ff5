package github

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// fill gives everything in v a value of its own.
func fill(v reflect.Value, n *int) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // unexported fields, too
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone("text " + strconv.Itoa(*n)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 200))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]quorum.Record]() { // a record in a record would have no end
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 4))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			isOwnKind := v.Field(i).Kind() == reflect.Slice && v.Field(i).Type().Elem() == v.Type() // a record's siblings have none
			if v.Field(i).Kind() != reflect.Pointer && !isOwnKind {
				fill(v.Field(i), n)
			}
		}
	default:
		panic(v.Type().String())
	}
}

// places are where the parts of v lie.
func places(v reflect.Value, path string, at map[uintptr]string) {
	switch v.Kind() {
	case reflect.String:
		at[uintptr(unsafe.Pointer(unsafe.StringData(v.String())))] = path
	case reflect.Slice:
		at[v.Pointer()] = path
		for i := range v.Len() {
			places(v.Index(i), path+"[]", at)
		}
	case reflect.Map:
		at[v.Pointer()] = path
		for i := v.MapRange(); i.Next(); {
			places(i.Key(), path+".key", at)
			places(i.Value(), path+".value", at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			places(v.Field(i), path+"."+v.Type().Field(i).Name, at)
		}
	}
}

// What was moved says the same, and holds on to nothing of what it was.
func TestMemoryMoves(t *testing.T) {
	m, n := &memory{key: memoryKey{1, quorum.PR{Owner: strings.Clone("acme"), Repo: strings.Clone("shop"), Number: 7}}, size: 5}, 0
	fill(reflect.ValueOf(&m.eventHints).Elem(), &n)
	fill(reflect.ValueOf(&m.observed).Elem(), &n)
	m.conversation.threads[0].Body = strings.Repeat("long ", longString)
	got := m.compacted(sharedStrings{})
	if got.key != m.key || got.size != m.size || !reflect.DeepEqual(got.eventHints, m.eventHints) || !reflect.DeepEqual(got.observed, m.observed) {
		t.Fatalf("moved\n%+v, want\n%+v", got.observed, m.observed)
	}
	was, is := map[uintptr]string{}, map[uintptr]string{}
	places(reflect.ValueOf(m).Elem(), "", was)
	places(reflect.ValueOf(got).Elem(), "", is)
	var stays []string
	for at, path := range is {
		if _, found := was[at]; found {
			stays = append(stays, path)
		}
	}
	slices.Sort(stays)
	stays = slices.DeleteFunc(slices.Compact(stays), func(path string) bool {
		return slices.ContainsFunc(
			[]string{
				".observed.logs", ".observed.commits", ".observed.hands.authors", ".observed.hands.pushes", ".observed.sameBranch",
				".observed.retired", ".observed.statuses", ".observed.uploads", ".observed.before",
			},
			func(few string) bool {
				return path == few || strings.HasPrefix(path, few+"[") || strings.HasPrefix(path, few+".")
			},
		)
	})
	if want := []string{".observed.conversation.threads[].Body", ".observed.conversation.timeline[].Kind"}; !slices.Equal(
		stays,
		want,
	) { // a long one, and a constant
		t.Errorf("%q stayed where they were, want %q", stays, want)
	}
	if empty := (&memory{}).compacted(sharedStrings{}); !reflect.DeepEqual(empty, &memory{}) {
		t.Errorf("nothing was moved to %+v", empty)
	}
}

// Repositories with the same policy share what was read of it; another path's or a broken one is not shared.
func TestPoliciesAreReadOnce(t *testing.T) {
	var all parsedPolicies
	src := []byte("version: 1\nquorum: 1\nreviewers:\n  - preset: copilot\n")
	read := func(path string, src []byte) quorum.Policy {
		p, err := all.parse(path, src, untrusted.Digest{byte(len(src))}, quorum.OrganisationFile{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b, c := read("a.yml", src), read("a.yml", slices.Clone(src)), read("b.yml", src)
	if &a.Reviewers[0] != &b.Reviewers[0] || &a.Reviewers[0] == &c.Reviewers[0] {
		t.Error("a policy was read twice, or another one was taken for it")
	}
	if d := read("a.yml", append(src, "check: Mine\n"...)); d.Check != "Mine" {
		t.Errorf("another policy's check is %q", d.Check)
	}
	for range 2 {
		p, err := all.parse("c.yml", []byte("check: Mine\nquorum: none\n"), untrusted.Digest{1}, quorum.OrganisationFile{}, nil)
		if err == nil || p.Check != "Mine" {
			t.Errorf("a broken policy came to %q, %v", p.Check, err)
		}
	}
	for n := range 3 * maxRepos {
		read(strconv.Itoa(n), src)
	}
	if len(all.byKey) > maxRepos {
		t.Errorf("%d policies are kept", len(all.byKey))
	}
}

// What is kept of a check's words tells the same texts apart as the words themselves.
func TestWordsStandForTexts(t *testing.T) {
	const block = "```json\n{"
	seen := regexp.MustCompile(`"seen":\{"at":"[^"]*"(?:,"threads":"[01]*")?\},`)
	at := func(when string) string { return `"seen":{"at":"` + when + `"},` }
	all := []string{
		"", " ", "A", "A ", "A\r\nB", "A\nB", "B\nA", block, block + at("1"), block + at("2"), at("1") + block,
		at("1") + at("2") + block, at("2") + at("1") + block,
		at("1") + at("1") + block, at("1") + block + at("1"), block + at("1") + at("1"),
		block + `"seen":{"at":"1","threads":"01"},`, block + `"seen":{"at":"1","threads":"x"},`,
		"0 " + at("1"), "8 " + at("1") + block,
		// without it, their edges are others
		at("1") + "foo", at("1") + "  foo", at("1") + "\n\nfoo", "foo" + at("1"), "foo  " + at("1"),
		"a\r" + at("1") + "\nb", "a\n" + at("1") + "b",
	}
	plain := func(s string) string { // as it was defined before there were sums
		s = untrusted.Normalize(s)
		if at := seen.FindStringIndex(s); at != nil {
			return s[:at[0]] + s[at[1]:]
		}
		return s
	}
	for _, a := range all {
		o := ownCheck{CheckRun: quorum.CheckRun{Status: "completed", Conclusion: "success", Title: "T", Summary: "S", Text: a}}.asWritten()
		for _, b := range all {
			c := report.Check{Status: "completed", Conclusion: "success", Title: "T", Summary: "S\r\n", Text: b}
			if got, want := o.readsAs(c, true), untrusted.Normalize(a) == untrusted.Normalize(b); got != want {
				t.Errorf("%q reads as %q, stamp and all, is %v", a, b, got)
			}
			if got, want := o.readsAs(c, false), plain(a) == plain(b); got != want {
				t.Errorf("%q reads as %q is %v", a, b, got)
			}
			for _, other := range []report.Check{
				{Title: "T "},
				{Title: "T", Summary: "s"},
				{Title: "T", Summary: "S", Conclusion: "failure"},
				{Title: "T", Summary: "S", Conclusion: "success", Status: "queued"},
			} {
				if other.Text = b; o.readsAs(other, false) {
					t.Errorf("%q reads as %+v", a, other)
				}
			}
		}
	}
}
