package sandbox

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestRender: what is written by hand reads as what encoding/json writes.
func TestRender(t *testing.T) {
	v := object{
		"nothing": nil, "text": "a \"quoted\" <b> é\n\u2028\x00", "invalid": "\xff", "raw": json.RawMessage(`{"a":[1]}`), "yes": true, "n": -7, "big": int64(1) << 53, "list": []any{1, "two", nil, 3.5},
		"objects": []object{{"x": 1}, nil}, "strings": []string{"a"}, "map": map[string]string{"k\"": "v"}, "empty": object{}, "none": []any{}, "null object": object(nil), "errors": []graphError{{Message: "m"}},
	}
	var got, want any
	if err := json.Unmarshal(render(nil, v), &got); err != nil {
		t.Fatalf("%v: %s", err, render(nil, v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
