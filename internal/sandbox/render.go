package sandbox

// Rendering JSON takes most of a story's time: a pull request contains two whole repositories. So parts that never
// change are rendered once and copied into the answer; encoding/json would check them again each time.

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// object is a JSON object on the wire. It is open: GitHub adds fields at any time.
type object = map[string]any

// renderer is a buffer for rendering. It is used again and again, so that it has to grow only once.
type renderer struct {
	buf  []byte
	keys []string // of the objects around and of this one
}

var renderers = sync.Pool{New: func() any { return &renderer{} }}

// renderJSON writes a value as JSON, the keys of objects in order.
func renderJSON(v any) []byte {
	r := renderers.Get().(*renderer)
	defer renderers.Put(r)
	r.buf, r.keys = r.buf[:0], r.keys[:0]
	r.writeValue(v)
	return bytes.Clone(r.buf)
}

func (r *renderer) writeValue(v any) {
	switch v := v.(type) {
	case nil:
		r.buf = append(r.buf, "null"...)
	case json.RawMessage:
		r.buf = append(r.buf, v...)
	case string:
		r.writeString(v)
	case bool:
		r.buf = strconv.AppendBool(r.buf, v)
	case int:
		r.buf = strconv.AppendInt(r.buf, int64(v), 10)
	case int64:
		r.buf = strconv.AppendInt(r.buf, v, 10)
	case []any:
		writeList(r, v)
	case []object:
		writeList(r, v)
	case []string:
		writeList(r, v)
	case object:
		if v == nil {
			r.buf = append(r.buf, "null"...)
			return
		}
		writeObject(r, v)
	case map[string]string:
		writeObject(r, v)
	default:
		r.writeOther(v)
	}
}

func writeList[T any](r *renderer, all []T) {
	r.buf = append(r.buf, '[')
	for i, x := range all {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.writeValue(x)
	}
	r.buf = append(r.buf, ']')
}

func writeObject[T any](r *renderer, o map[string]T) {
	from := len(r.keys)
	for key := range o {
		r.keys = append(r.keys, key)
	}
	keys := r.keys[from:] // nested objects append behind these; this slice keeps its elements
	slices.Sort(keys)
	r.buf = append(r.buf, '{')
	for i, key := range keys {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.writeString(key)
		r.buf = append(r.buf, ':')
		r.writeValue(o[key])
	}
	r.buf = append(r.buf, '}')
	r.keys = r.keys[:from]
}

// writeString writes a string as encoding/json does, and leaves strings to it that need more than a backslash.
func (r *renderer) writeString(s string) {
	from := len(r.buf)
	r.buf = append(r.buf, '"')
	plain := 0 // s[:plain] is written
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			continue
		}
		switch c {
		case '"', '\\':
			r.buf = append(append(r.buf, s[plain:i]...), '\\', c)
		case '\n':
			r.buf = append(append(r.buf, s[plain:i]...), '\\', 'n')
		default:
			if c, size := utf8.DecodeRuneInString(s[i:]); size > 1 && c != '\u2028' && c != '\u2029' {
				i += size - 1
				continue
			}
			r.buf = r.buf[:from]
			r.writeOther(s)
			return
		}
		plain = i + 1
	}
	r.buf = append(append(r.buf, s[plain:]...), '"')
}

func (r *renderer) writeOther(v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // unreachable unless a value is put into an answer that JSON does not know
	}
	r.buf = append(r.buf, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
