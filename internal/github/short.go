package github

// JSON read in one go. GitHub sends 5 to 30 KB of which a few hundred bytes are read, and a server reads thousands of such
// texts a second: what nobody reads is stepped over, not checked, and a name is found only in GitHub's letters, without
// escapes. Who sent it was verified before, and a text that was cut off is none.

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A field says what of a value is read, and how.
type field struct {
	how    how
	index  int               // in its object's struct
	fields map[string]*field // of an object
	marks  uint64            // of its fields' names
	of     *field            // what is in a list, behind a pointer, in a maybe
	to     reflect.Type      // of of
}

// how a value is read.
type how uint8

const (
	inFull   how = iota // by encoding/json
	byItself            // by its own UnmarshalJSON, which asks for no check before
	anObject
	aList
	aPointer
	aMaybe
	aText
	aNumber
	aFlag
)

// A loose value is JSON that is checked when it is read.
type loose []byte

func (l *loose) UnmarshalJSON(text []byte) error {
	*l = bytes.Clone(text)
	return nil
}

// shapes are the fields of the types that answers were decoded into: a few dozen.
type shapes struct{ byType sync.Map }

func (all *shapes) of(t reflect.Type) *field {
	if f, known := all.byType.Load(t); known {
		return f.(*field)
	}
	f := fieldsOf(t.Elem())
	all.byType.Store(t, f)
	return f
}

var payloadFields = fieldsOf(reflect.TypeFor[eventPayload]())

var (
	ownReader  = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fieldsOf says how encoding/json reads a t. What is not plain is left to it. No type here holds itself.
func fieldsOf(t reflect.Type) *field {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[loose]():
		return &field{how: byItself}
	}
	own := reflect.PointerTo(t)
	switch kind := t.Kind(); {
	case kind == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Is":
		return &field{how: aMaybe, of: fieldsOf(t.Field(0).Type)}
	case own.Implements(ownReader), own.Implements(textReader):
		return &field{}
	case kind == reflect.Pointer:
		return &field{how: aPointer, of: fieldsOf(t.Elem()), to: t.Elem()}
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return &field{how: aList, of: fieldsOf(t.Elem())}
	case kind == reflect.Struct:
		return objectOf(t)
	case kind == reflect.String:
		return &field{how: aText}
	case kind == reflect.Int, kind == reflect.Int64:
		return &field{how: aNumber}
	case kind == reflect.Bool:
		return &field{how: aFlag}
	}
	return &field{}
}

func objectOf(t reflect.Type) *field {
	f := &field{how: anObject, fields: map[string]*field{}}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || strings.Contains(options, "string") || !t.Field(i).IsExported() { // without a name it would be found under any spelling
			return &field{}
		}
		child := fieldsOf(t.Field(i).Type)
		child.index = i
		f.fields[name] = child
		f.marks |= mark([]byte(name))
	}
	return f
}

// mark tells most names apart, so that most of those that are not read need not be looked up.
func mark(name []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	return 1 << ((uint(name[0]) + uint(len(name))*5) % 64)
}

func (f *field) named(name []byte) *field {
	if f.marks&mark(name) == 0 {
		return nil
	}
	return f.fields[string(name)]
}

// decode reads JSON into what into points to, as json.Unmarshal does, but does not see what is wrong with parts that are not
// read, and finds names only as GitHub spells them. f says how into's type is read.
func decode(text []byte, f *field, into any) error {
	if v := reflect.ValueOf(into).Elem(); v.IsZero() { // json.Unmarshal leaves what is there where the text says nothing
		if plainly(text, f, v) {
			return nil
		}
		v.SetZero()
	}
	return json.Unmarshal(text, into) // what is unusual is read by it, and what is wrong with a text is said about all of it
}

// plainly reads a text into v, which is of f's type. It says no, and leaves anything in v, where encoding/json might see it
// otherwise.
func plainly(text []byte, f *field, v reflect.Value) bool {
	r := reader{in: text}
	return r.value(f, v) && r.next() == 0 && r.at == len(text)
}

// A reader reads what is plain, and says no to all else. Nothing here calls itself deeper than a field does.
type reader struct {
	in []byte
	at int
}

// next is the first byte that is no space; 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value reads the next value into v, a variable that holds nothing yet.
func (r *reader) value(f *field, v reflect.Value) bool {
	c := r.next()
	switch {
	case f.how == inFull, f.how == byItself:
		return r.whole(f, v)
	case f.how == aMaybe && c == '{':
		return r.object(f.of, v.Field(0))
	case f.how == aMaybe:
		return r.skip()
	case c == 'n':
		return v.IsZero() && r.word("null") // of a name that comes twice, the null might count or not
	case f.how == aPointer:
		if v.IsNil() {
			v.Set(reflect.New(f.to))
		}
		return r.value(f.of, v.Elem())
	case f.how == anObject && c == '{':
		return r.object(f, v)
	case f.how == aList && c == '[' && v.IsNil():
		return r.list(f, v)
	case f.how == aText && c == '"':
		return r.string(v)
	case f.how == aNumber:
		return r.number(v)
	case f.how == aFlag:
		v.SetBool(c == 't')
		return r.word("true") || r.word("false")
	}
	return false
}

// whole reads a value as its type reads it.
func (r *reader) whole(f *field, v reflect.Value) bool {
	from := r.at
	if !r.skip() {
		return false
	}
	into := v.Addr().Interface()
	if f.how == byItself {
		return into.(json.Unmarshaler).UnmarshalJSON(r.in[from:r.at]) == nil
	}
	return json.Unmarshal(r.in[from:r.at], into) == nil
}

func (r *reader) object(f *field, v reflect.Value) bool {
	r.at++
	if r.next() == '}' {
		r.at++
		return true
	}
	for {
		if r.next() != '"' {
			return false
		}
		from := r.at + 1
		if !r.text() {
			return false
		}
		child := f.named(r.in[from : r.at-1])
		if r.next() != ':' {
			return false
		}
		r.at++
		ok := false
		if child == nil {
			r.next()
			ok = r.skip()
		} else {
			ok = r.value(child, v.Field(child.index))
		}
		c := r.next()
		if !ok || c != ',' && c != '}' {
			return false
		}
		if r.at++; c == '}' {
			return true
		}
	}
}

func (r *reader) list(f *field, v reflect.Value) bool {
	r.at++
	if r.next() == ']' {
		r.at++
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		ok := r.value(f.of, v.Index(n))
		c := r.next()
		if !ok || c != ',' && c != ']' {
			return false
		}
		if r.at++; c == ']' {
			return true
		}
	}
}

func (r *reader) string(v reflect.Value) bool {
	from := r.at
	if !r.text() {
		return false
	}
	said, plain := unquoted(r.in[from+1 : r.at-1])
	if !plain {
		return json.Unmarshal(r.in[from:r.at], v.Addr().Interface()) == nil
	}
	v.SetString(said)
	return true
}

// escapes are those that stand for one byte.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquoted is what stands between quotes; it is not plain if it takes more than to replace bytes by bytes.
func unquoted(in []byte) (said string, plain bool) {
	escaped, wide := false, false
	for _, c := range in {
		if c < ' ' {
			return "", false
		}
		escaped = escaped || c == '\\'
		wide = wide || c >= utf8.RuneSelf
	}
	switch {
	case wide && !utf8.Valid(in):
		return "", false
	case !escaped:
		return string(in), true
	}
	var out strings.Builder
	out.Grow(len(in))
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			break
		}
		c := escapes[in[i+1]] // a slash is never the last: the quote would not be the end
		if c == 0 {
			return "", false
		}
		out.Write(in[:i])
		out.WriteByte(c)
		in = in[i+2:]
	}
	out.Write(in)
	return out.String(), true
}

// number reads one of up to 18 digits. What comes after them is for others to see.
func (r *reader) number(v reflect.Value) bool {
	minus := r.word("-")
	from, n := r.at, int64(0)
	for ; r.at < len(r.in) && '0' <= r.in[r.at] && r.in[r.at] <= '9' && r.at-from < 19; r.at++ {
		n = 10*n + int64(r.in[r.at]-'0')
	}
	if digits := r.at - from; digits == 0 || digits > 18 || digits > 1 && r.in[from] == '0' {
		return false
	}
	if minus {
		n = -n
	}
	v.SetInt(n)
	return !v.OverflowInt(n)
}

// word steps over w if it comes next.
func (r *reader) word(w string) bool {
	if !bytes.HasPrefix(r.in[r.at:], []byte(w)) {
		return false
	}
	r.at += len(w)
	return true
}

// skip steps over a value.
func (r *reader) skip() bool {
	if r.at == len(r.in) {
		return false
	}
	switch r.in[r.at] {
	case '"':
		return r.text()
	case '{', '[':
		return r.nested()
	}
	from := r.at
	for ; r.at < len(r.in); r.at++ { // a number or a word
		if c := r.in[r.at]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '.' && c != '+' && c != 'E' {
			break
		}
	}
	return r.at > from
}

func (r *reader) nested() bool {
	depth := 0
	for r.at < len(r.in) {
		switch r.in[r.at] {
		case '"':
			if !r.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				r.at++
				return true
			}
		}
		r.at++
	}
	return false
}

// text steps over a string.
func (r *reader) text() bool {
	for from := r.at + 1; ; {
		i := bytes.IndexByte(r.in[from:], '"')
		if i < 0 {
			return false
		}
		end := from + i
		slashes := 0
		for r.in[end-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		from = end + 1
		if slashes%2 == 0 {
			r.at = from
			return true
		}
	}
}
