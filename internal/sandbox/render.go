package sandbox

// JSON is most of what a story's time goes into: a pull request holds two whole repositories. So what never changes is
// rendered once, and goes into an answer as it is, which encoding/json would check again each time.

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// renderer is where a value is written: room that grew once serves for all that comes later.
type renderer struct {
	b    []byte
	keys []string // of the objects around and of this one
}

var renderers = sync.Pool{New: func() any { return &renderer{} }}

// render writes a value as JSON, the keys of objects in order.
func render(v any) []byte {
	r := renderers.Get().(*renderer)
	defer renderers.Put(r)
	r.b, r.keys = r.b[:0], r.keys[:0]
	r.value(v)
	return bytes.Clone(r.b)
}

func (r *renderer) value(v any) {
	switch v := v.(type) {
	case nil:
		r.b = append(r.b, "null"...)
	case json.RawMessage:
		r.b = append(r.b, v...)
	case string:
		r.text(v)
	case bool:
		r.b = strconv.AppendBool(r.b, v)
	case int:
		r.b = strconv.AppendInt(r.b, int64(v), 10)
	case int64:
		r.b = strconv.AppendInt(r.b, v, 10)
	case []any:
		renderList(r, v)
	case []object:
		renderList(r, v)
	case []string:
		renderList(r, v)
	case object:
		if v == nil {
			r.b = append(r.b, "null"...)
			return
		}
		renderObject(r, v)
	case map[string]string:
		renderObject(r, v)
	default:
		r.other(v)
	}
}

func renderList[T any](r *renderer, all []T) {
	r.b = append(r.b, '[')
	for i, x := range all {
		if i > 0 {
			r.b = append(r.b, ',')
		}
		r.value(x)
	}
	r.b = append(r.b, ']')
}

func renderObject[T any](r *renderer, o map[string]T) {
	from := len(r.keys)
	for key := range o {
		r.keys = append(r.keys, key)
	}
	keys := r.keys[from:] // what is under a key appends behind them, and moves them nowhere that is read
	slices.Sort(keys)
	r.b = append(r.b, '{')
	for i, key := range keys {
		if i > 0 {
			r.b = append(r.b, ',')
		}
		r.text(key)
		r.b = append(r.b, ':')
		r.value(o[key])
	}
	r.b = append(r.b, '}')
	r.keys = r.keys[:from]
}

// text writes a string as encoding/json does: what needs more than a backslash is left to that.
func (r *renderer) text(s string) {
	from := len(r.b)
	r.b = append(r.b, '"')
	plain := 0 // what comes before is written
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			continue
		}
		switch c {
		case '"', '\\':
			r.b = append(append(r.b, s[plain:i]...), '\\', c)
		case '\n':
			r.b = append(append(r.b, s[plain:i]...), '\\', 'n')
		default:
			if c, size := utf8.DecodeRuneInString(s[i:]); size > 1 && c != '\u2028' && c != '\u2029' {
				i += size - 1
				continue
			}
			r.b = r.b[:from]
			r.other(s)
			return
		}
		plain = i + 1
	}
	r.b = append(append(r.b, s[plain:]...), '"')
}

func (r *renderer) other(v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // unreachable unless a value is put into an answer that JSON does not know
	}
	r.b = append(r.b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
