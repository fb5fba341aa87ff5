package sandbox

// JSON is most of what a story's time goes into: a pull request holds two whole repositories. So what never changes is
// rendered once, and goes into an answer as it is, which encoding/json would check again each time.

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// render writes a value as JSON, the keys of objects in order.
func render(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case json.RawMessage:
		return append(b, v...)
	case string:
		return renderString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case []any:
		return renderList(b, v)
	case []object:
		return renderList(b, v)
	case []string:
		return renderList(b, v)
	case object:
		if v == nil {
			return append(b, "null"...)
		}
		return renderObject(b, v)
	case map[string]string:
		return renderObject(b, v)
	}
	return renderOther(b, v)
}

func renderList[T any](b []byte, all []T) []byte {
	b = append(b, '[')
	for i, x := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = render(b, x)
	}
	return append(b, ']')
}

func renderObject[T any](b []byte, o map[string]T) []byte {
	var room [96]string
	keys := room[:0]
	for key := range o {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(renderString(b, key), ':')
		b = render(b, o[key])
	}
	return append(b, '}')
}

func renderString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return renderOther(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func renderOther(b []byte, v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // unreachable unless a value is put into an answer that JSON does not know
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
