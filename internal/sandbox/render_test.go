package sandbox

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestRender: what is written by hand is, to the byte, what encoding/json writes.
func TestRender(t *testing.T) {
	v := object{
		"nothing": nil, "text": "a \"quoted\" <b> é\n\u2028\x00", "plain enough": "\"a\\b\"\n→ \"ü\" \U0001f600 \ufffd\n",
		"tab": "a\tb\r\x7f", "line": "é\u2029\n", "invalid": "é\xff\n", "cut": "\xe2\x82",
		"raw": json.RawMessage(`{"a":[1]}`), "yes": true, "n": -7, "big": int64(1) << 53, "list": []any{1, "two", nil, 3.5}, "\"": "",
		"objects": []object{
			{"x": 1, "a": object{"z": object{"y": 2, "b": ""}, "c": 1}, "y": 2},
			nil,
		},
		"strings": []string{"a"}, "map": map[string]string{"k\"": "v", "a": "é"},
		"empty": object{}, "none": []any{}, "null object": object(nil), "errors": []graphError{{Message: "m"}},
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	first := renderJSON(v)
	if second := renderJSON(object{"another": "one", "after": "it"}); string(second) != `{"after":"it","another":"one"}` {
		t.Errorf("got %s", second)
	}
	if got := string(first) + "\n"; got != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
}
