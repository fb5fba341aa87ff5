package jsonscan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/github/jsonscan"
)

// Answers of GitHub's as a client reads them.
type (
	user struct {
		Login string `json:"login"`
		ID    int64  `json:"id"`
		Type  string `json:"type"`
	}
	repository struct {
		FullName string `json:"full_name"`
		Fork     bool   `json:"fork"`
	}
	pull struct {
		Number  int       `json:"number"`
		Title   string    `json:"title"`
		Draft   bool      `json:"draft"`
		User    *user     `json:"user"`
		Created time.Time `json:"created_at"`
		Head    struct {
			SHA  string      `json:"sha"`
			Repo *repository `json:"repo"`
		} `json:"head"`
		Base struct {
			Ref  string     `json:"ref"`
			Repo repository `json:"repo"`
		} `json:"base"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	}
	run struct {
		ID       int64       `json:"id"`
		Path     string      `json:"path"`
		Head     string      `json:"head_sha"`
		Attempt  int         `json:"run_attempt"`
		Created  time.Time   `json:"created_at"`
		Actor    *user       `json:"actor"`
		HeadRepo *repository `json:"head_repository"`
	}
	check struct {
		ID        int64     `json:"id"`
		Name      string    `json:"name"`
		Status    string    `json:"status"`
		Completed time.Time `json:"completed_at"`
		Output    struct {
			Title       string `json:"title"`
			Annotations int    `json:"annotations_count"`
		} `json:"output"`
		App struct {
			Slug string `json:"slug"`
		} `json:"app"`
	}
	payload struct {
		Action     string               `json:"action"`
		Repository *repository          `json:"repository"`
		Comment    jsonscan.Maybe[user] `json:"comment"`
		Issue      *struct {
			Number      int       `json:"number"`
			PullRequest *struct{} `json:"pull_request"`
		} `json:"issue"`
		WorkflowRun *run  `json:"workflow_run"`
		CheckSuite  suite `json:"check_suite"`
	}
	suite struct {
		Pulls []pull `json:"pull_requests"`
	}
)

// textID is a number that is written as a string, and reads itself.
type textID int64

func (id *textID) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" || s == "" {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	*id = textID(n)
	return err
}

// Where a text is plain it is read in one go; where it is not, or is wrong, the scan says so.
func TestScan(t *testing.T) {
	shape := jsonscan.ShapeOf(reflect.TypeFor[payload]())
	compare := func(text []byte) {
		t.Helper()
		var whole, part payload
		ok := shape.Scan(text, &part)
		err := json.Unmarshal(text, &whole)
		if (err == nil) != ok {
			t.Errorf("%.300s: %v, plain %t", text, err, ok)
		}
		if d := cmp.Diff(whole, part); err == nil && d != "" {
			t.Errorf("%.300s: %s", text, d)
		}
	}
	for _, payload := range collected(t) {
		compare(payload)
	}
	for _, text := range []string{
		`{}`, ` { } `, `{"x":"\\","action":"a\"b\\"}`, `{"x":"\\\"}","action":"b"}`, `{"action":null,"issue":{"pull_request":{"url":"x"}}}`,
		`{"comment":[{"user":1}]}`, `{"comment":"x"}`, `{"action":"a","action":"b"}`, `{"x":-1.5e+3,"y":true,"z":null}`,
		`{"check_suite":{"pull_requests":[ {"number":1,"x":[{}]} , {"number":2} ]}}`,
		``, `{`, `{}}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a":"`, `{"a":"\"`, `{"a":[}`, `[]`, `"x"`,
		`{"action":"a"`, `{"check_suite":{"pull_requests":[1,]}}`, `{"check_suite":{"pull_requests":[{}`,
	} {
		compare([]byte(text))
	}
	deep := []byte(`{"check_suite":{"pull_requests":` + strings.Repeat("[", 1<<20))
	if shape.Scan(deep, &payload{}) {
		t.Error("a list without an end")
	}
}

// Answers of which only what is needed is read say the same as whole ones.
func TestPlainAnswers(t *testing.T) {
	type within struct {
		Runs *[]run `json:"workflow_runs"`
	}
	type mixed struct {
		Any   map[string]json.RawMessage `json:"any"`
		At    time.Time                  `json:"at,omitempty"`
		Until *time.Time                 `json:"until"`
		Names []string                   `json:"names"`
		Deep  [][]user                   `json:"deep"`
		Loose any                        `json:"loose"`
	}
	type spelled struct{ Title string } // found as title, too
	const one = `{"id":1,"path":"a.yml","head_sha":"x","actor":{"login":"u","type":"Bot","urls":{"a":[1,{"b":"}"}]}},"head_repository":null,"created_at":"2026-01-05T09:00:00Z","jobs":["\"",{}]}`
	for _, into := range []func() any{
		func() any { return new([]run) }, func() any { return new(within) }, func() any { return new(pull) }, func() any { return new([]pull) },
		func() any { return new([]check) }, func() any { return new(mixed) }, func() any { return new(spelled) },
		func() any { return new(map[string]int) }, func() any { return new(json.RawMessage) },
	} {
		for _, text := range []string{
			`[]`, `[ ]`, `[` + one + `,` + one + `]`, `{"workflow_runs":[` + one + `],"total_count":1}`, `{"workflow_runs":null}`,
			`null`, `{}`, `[null,{}]`, `[[]]`,
			`{"number":7,"title":"a \"title\" \u0041","head":{"sha":"x","repo":null},"base":{"repo":{"full_name":"a/b"}},"labels":[{"name":"l","x":{}}],"user":{"id":1}}`,
			`{"any":{"a":[{}],"b":{"c":1}},"at":"2026-01-05T09:00:00Z","until":"2026-01-05T09:00:00Z","names":["a","b"],"deep":[[{"login":"u","x":1}],[]],"loose":{"a":[1]}}`,
			`{"number":"7"}`, `{"number":7.5}`, `[{"id":"1"}]`, `{"at":1}`, `{"title":"y"}`, `<html>`, ``, `[` + one,
			`{"number":7}}`, `{"a":1}`, `{"a":1} x`, `{"a":]}`,
		} {
			whole, part := into(), into()
			wrong, err := json.Unmarshal([]byte(text), whole), jsonscan.Decode([]byte(text), jsonscan.ShapeOf(reflect.TypeOf(part).Elem()), part)
			if (wrong == nil) != (err == nil) || wrong != nil && wrong.Error() != err.Error() {
				t.Errorf("%T of %s: %v, want %v", part, text, err, wrong)
			}
			if d := cmp.Diff(whole, part); wrong == nil && d != "" {
				t.Errorf("%T of %s: %s", part, text, d)
			}
		}
	}
}

// Whatever stands where something is read, once or twice: it is read as encoding/json reads it, or it is the same
// error.
func TestPlainOrNot(t *testing.T) {
	type all struct {
		Text  string         `json:"text"`
		Int   int            `json:"int"`
		Int64 int64          `json:"int64"`
		Flag  bool           `json:"flag"`
		At    time.Time      `json:"at"`
		Until *time.Time     `json:"until"`
		ID    textID         `json:"id"`
		User  user           `json:"user"`
		Other *user          `json:"other"`
		Names []string       `json:"names"`
		Users []user         `json:"users"`
		Nums  *[]int         `json:"nums"`
		Bytes []byte         `json:"bytes"`
		Map   map[string]int `json:"map"`
		Loose any            `json:"loose"`
		Float float64        `json:"float"`
		Small int8           `json:"small"`

		hidden string // which no text can set
	}
	values := []string{
		`null`, `nul`, `nulll`, `true`, `false`, `truefalse`, `tru`, `0`, `-0`, `7`, `-7`, `-`, `+7`, `07`, `-07`, `7.0`, `7.`,
		`7e1`, `7e`, `7_0`, `0x7`, `--7`, `7 7`, `99`, `300`,
		`999999999999999999`, `-999999999999999999`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `99999999999999999999`,
		`""`, `"a"`, `"7"`, `"null"`, `"\n\"\u00e9"`, `"\b\f\r\t\/\\"`, `"\ud800"`, `"\q"`, `"\u12"`, `"é"`, "\"\xff\"", "\"\x01\"",
		"\"\n\"", "\"\x7f\"", `"a`, `"\"`, `'a'`,
		`"2026-01-05T09:00:00Z"`, `"2026-01-05T09:00:00.5+01:00"`, `"2026-01-05"`, `"2026-01-05T09:00:00Z\u0020"`, `[]`, `[ ]`,
		`[,]`, `[7]`, `[7,]`, `[7,8,9]`, `["a", "b"]`, `["a" "b"]`, `[null]`, `[[]]`, `[`, `]`,
		`{}`, `{ }`, `{,}`, `{"login":"a"}`, `{"login":"b","id":7,"type":null}`, `{"id":"7"}`, `{"login":"a",}`, `{"login"}`,
		`{"login":}`, `{login:"a"}`, `{"id":7]`, `{`, `}`,
		`[{"login":"a","id":1},{"id":2}]`, `[{"login":"a"},null]`, `[{}`, `[{]`, ``, ` `, `,`, `:`, `x`,
	}
	compare := func(doc string, f *jsonscan.Shape) {
		var want, got all
		wrong, err := json.Unmarshal([]byte(doc), &want), jsonscan.Decode([]byte(doc), f, &got)
		if (wrong == nil) != (err == nil) || wrong != nil && wrong.Error() != err.Error() {
			t.Errorf("%s: %v, want %v", doc, err, wrong)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: %+v, want %+v", doc, got, want)
		}
	}
	f := jsonscan.ShapeOf(reflect.TypeFor[all]())
	for i := range reflect.TypeFor[all]().NumField() {
		name := reflect.TypeFor[all]().Field(i).Tag.Get("json")
		if name == "" {
			continue // it is read by nobody, and what is wrong there is not seen
		}
		for _, v := range values {
			compare(`{"`+name+`":`+v+`}`, f)
			for _, w := range []string{
				`null`, `7`, `true`, `"a"`, `"2026-01-05T09:00:00Z"`, `[]`, `[7,8]`, `{}`, `{"login":"c","type":"d"}`,
				`[{"type":"d"}]`,
			} {
				compare(`{"`+name+`":`+v+`, "`+name+`":`+w+`}`, f)
				compare(`{"`+name+`":`+w+`,"`+name+`" : `+v+`}`, f)
			}
		}
	}
	if got := (all{hidden: "ours"}); jsonscan.Decode([]byte(`{"hidden":"theirs","int":7}`), f, &got) != nil || got.hidden != "ours" || got.Int != 7 {
		t.Errorf("%+v", got)
	}
	if !f.Scan([]byte(`{"hidden":"theirs","int":7}`), new(all)) {
		t.Error("a field that is not exported keeps a text from being plain")
	}
	if got := (all{Text: "before"}); jsonscan.Decode([]byte(`{"int":7}`), f, &got) != nil || got.Text != "before" || got.Int != 7 {
		t.Errorf("%+v", got)
	}
}

// otherName is a name, or what looks like one, of other characters than those of GitHub's names.
var otherName = regexp.MustCompile(`"(?:[^"\\]|\\.)*[^"a-z0-9_](?:[^"\\]|\\.)*"\s*:`)

// FuzzPlain reads what is JSON as encoding/json does. Names in other letters than GitHub's, or with escapes, are the
// known difference.
func FuzzPlain(f *testing.F) {
	for _, payload := range collected(f) {
		f.Add([]byte(payload))
	}
	f.Add([]byte(`{"action":"a\/\t\u0041","action":null,"issue":{"pull_request":{}},"repository":{"full_name":"a/b","owner":null},"installation":{"id":7}}`))
	f.Add([]byte(`{"workflow_runs":[{"id":1,"actor":{"login":"u"},"created_at":"2026-01-05T09:00:00Z","run_attempt":null},{"id":-12}],"total_count":1}`))
	f.Add([]byte(`{"check_runs":[{"id":1,"output":{"title":"\"","annotations_count":3},"app":{"slug":"x"}}]}`))
	shapes := []reflect.Type{
		reflect.TypeFor[payload](), reflect.TypeFor[pull](), reflect.TypeFor[check](), reflect.TypeFor[run](),
		reflect.TypeFor[struct {
			Runs   []run   `json:"workflow_runs"`
			Checks []check `json:"check_runs"`
		}](),
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) || otherName.Match(text) {
			return
		}
		for _, shape := range shapes {
			part, whole := reflect.New(shape), reflect.New(shape)
			err, wrong := jsonscan.Decode(text, jsonscan.ShapeOf(shape), part.Interface()), json.Unmarshal(text, whole.Interface())
			if (err == nil) != (wrong == nil) {
				t.Fatalf("%s: %v, want %v", shape, err, wrong)
			}
			if d := cmp.Diff(whole.Interface(), part.Interface(), cmp.Exporter(func(reflect.Type) bool { return true })); err == nil && d != "" {
				t.Fatalf("%s: %s", shape, d)
			}
		}
	})
}

// collected are payloads of webhooks as GitHub sends them.
func collected(t testing.TB) (all []json.RawMessage) {
	t.Helper()
	files, err := filepath.Glob("../webhook/testdata/webhooks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var payloads []json.RawMessage
		if err := json.Unmarshal(text, &payloads); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, payloads...)
	}
	return all
}
