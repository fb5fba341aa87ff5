// Package jsonscan reads JSON in one go, and promises the values that encoding/json reads from the same text. GitHub
// sends 5 to 30 KB of which a few hundred bytes are read, and a server reads thousands of such texts a second: parts
// that no struct names are stepped over, not checked, and a name is found only in GitHub's letters, without escapes.
// The sender was verified before, and a text that was cut off is refused.
package jsonscan

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

// A Shape says which parts of a value are read, and how.
type Shape struct {
	kind   kind
	index  int               // in its object's struct
	fields map[string]*Shape // of an object
	marks  uint64            // of its fields' names
	of     *Shape            // what is in a list, behind a pointer, in a Maybe
	to     reflect.Type      // of of
}

// kind is how a value is read.
type kind uint8

const (
	inFull   kind = iota // by encoding/json
	byItself             // by its own UnmarshalJSON, which asks for no check before
	anObject
	aList
	aPointer
	aMaybe
	aText
	aNumber
	aFlag
)

// Raw is JSON that is kept as it is, and checked only when somebody reads it.
type Raw []byte

func (l *Raw) UnmarshalJSON(text []byte) error {
	*l = bytes.Clone(text)
	return nil
}

// A Maybe is an object that some texts spell otherwise: what is none leaves it zero.
type Maybe[T any] struct{ Is T }

func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &m.Is) != nil {
		var none T
		m.Is = none
	}
	return nil
}

// KnownShapes are the fields of the types that answers were decoded into: a few dozen.
type KnownShapes struct{ byType sync.Map }

// Of returns the shape of the type that t points to.
func (all *KnownShapes) Of(t reflect.Type) *Shape {
	if f, known := all.byType.Load(t); known {
		return f.(*Shape)
	}
	f := ShapeOf(t.Elem())
	all.byType.Store(t, f)
	return f
}

var (
	ownReader  = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// ShapeOf says how encoding/json reads a t. What is not plain is left to it. No type here holds itself.
func ShapeOf(t reflect.Type) *Shape {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[Raw]():
		return &Shape{kind: byItself}
	}
	own := reflect.PointerTo(t)
	switch kind := t.Kind(); {
	case kind == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Is":
		return &Shape{kind: aMaybe, of: ShapeOf(t.Field(0).Type)}
	case own.Implements(ownReader), own.Implements(textReader):
		return &Shape{}
	case kind == reflect.Pointer:
		return &Shape{kind: aPointer, of: ShapeOf(t.Elem()), to: t.Elem()}
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return &Shape{kind: aList, of: ShapeOf(t.Elem())}
	case kind == reflect.Struct:
		return shapeOfObject(t)
	case kind == reflect.String:
		return &Shape{kind: aText}
	case kind == reflect.Int, kind == reflect.Int64:
		return &Shape{kind: aNumber}
	case kind == reflect.Bool:
		return &Shape{kind: aFlag}
	}
	return &Shape{}
}

func shapeOfObject(t reflect.Type) *Shape {
	f := &Shape{kind: anObject, fields: map[string]*Shape{}}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() && !t.Field(i).Anonymous {
			continue // as encoding/json does
		}
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || strings.Contains(options, "string") { // without a name it would be found under any spelling
			return &Shape{}
		}
		child := ShapeOf(t.Field(i).Type)
		child.index = i
		f.fields[name] = child
		f.marks |= nameMark([]byte(name))
	}
	return f
}

// nameMark tells most names apart, so that most of those that are not read need not be looked up.
func nameMark(name []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	return 1 << ((uint(name[0]) + uint(len(name))*5) % 64)
}

func (f *Shape) fieldNamed(name []byte) *Shape {
	if f.marks&nameMark(name) == 0 {
		return nil
	}
	return f.fields[string(name)]
}

// Decode reads JSON into what into points to, as json.Unmarshal does, but does not see what is wrong with parts that
// are not read, and finds names only as GitHub spells them. f says how into's type is read.
func Decode(text []byte, f *Shape, into any) error {
	if v := reflect.ValueOf(into).Elem(); v.IsZero() { // json.Unmarshal leaves what is there where the text says nothing
		if f.Scan(text, into) {
			return nil
		}
		v.SetZero()
	}
	return json.Unmarshal(text, into) // what is unusual is read by it, and what is wrong with a text is said about all of it
}

// Scan reads a text into what into points to, which is zero and of f's type. It says no, and leaves anything there,
// where encoding/json might see it otherwise.
func (f *Shape) Scan(text []byte, into any) bool {
	r := scanner{in: text}
	return r.readValue(f, reflect.ValueOf(into).Elem()) && r.nextByte() == 0 && r.at == len(text)
}

// A scanner reads what is plain, and says no to all else. Nothing here calls itself deeper than a field does.
type scanner struct {
	in []byte
	at int
}

// nextByte is the first byte that is no space; 0 at the end.
func (r *scanner) nextByte() byte {
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// readValue reads the next value into v, a variable that holds nothing yet.
func (r *scanner) readValue(f *Shape, v reflect.Value) bool {
	c := r.nextByte()
	switch {
	case f.kind == inFull, f.kind == byItself:
		return r.readByType(f, v)
	case f.kind == aMaybe && c == '{':
		return r.readObject(f.of, v.Field(0))
	case f.kind == aMaybe:
		return r.skipValue()
	case c == 'n':
		return v.IsZero() && r.skipWord("null") // of a name that comes twice, the null might count or not
	case f.kind == aPointer:
		if v.IsNil() {
			v.Set(reflect.New(f.to))
		}
		return r.readValue(f.of, v.Elem())
	case f.kind == anObject && c == '{':
		return r.readObject(f, v)
	case f.kind == aList && c == '[' && v.IsNil():
		return r.readList(f, v)
	case f.kind == aText && c == '"':
		return r.readString(v)
	case f.kind == aNumber:
		return r.readNumber(v)
	case f.kind == aFlag:
		v.SetBool(c == 't')
		return r.skipWord("true") || r.skipWord("false")
	}
	return false
}

// readByType reads a value as its type reads it.
func (r *scanner) readByType(f *Shape, v reflect.Value) bool {
	from := r.at
	if !r.skipValue() {
		return false
	}
	into := v.Addr().Interface()
	if f.kind == byItself {
		return into.(json.Unmarshaler).UnmarshalJSON(r.in[from:r.at]) == nil
	}
	return json.Unmarshal(r.in[from:r.at], into) == nil
}

func (r *scanner) readObject(f *Shape, v reflect.Value) bool {
	r.at++
	if r.nextByte() == '}' {
		r.at++
		return true
	}
	for {
		if r.nextByte() != '"' {
			return false
		}
		from := r.at + 1
		if !r.skipString() {
			return false
		}
		child := f.fieldNamed(r.in[from : r.at-1])
		if r.nextByte() != ':' {
			return false
		}
		r.at++
		ok := false
		if child == nil {
			r.nextByte()
			ok = r.skipValue()
		} else {
			ok = r.readValue(child, v.Field(child.index))
		}
		c := r.nextByte()
		if !ok || c != ',' && c != '}' {
			return false
		}
		if r.at++; c == '}' {
			return true
		}
	}
}

func (r *scanner) readList(f *Shape, v reflect.Value) bool {
	r.at++
	if r.nextByte() == ']' {
		r.at++
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		ok := r.readValue(f.of, v.Index(n))
		c := r.nextByte()
		if !ok || c != ',' && c != ']' {
			return false
		}
		if r.at++; c == ']' {
			return true
		}
	}
}

func (r *scanner) readString(v reflect.Value) bool {
	from := r.at
	if !r.skipString() {
		return false
	}
	said, plain := unquote(r.in[from+1 : r.at-1])
	if !plain {
		return json.Unmarshal(r.in[from:r.at], v.Addr().Interface()) == nil
	}
	v.SetString(said)
	return true
}

// escapes are those that stand for one byte.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote is what stands between quotes; it is not plain if it takes more than to replace bytes by bytes.
func unquote(in []byte) (said string, plain bool) {
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

// readNumber reads one of up to 18 digits. What comes after them is for others to see.
func (r *scanner) readNumber(v reflect.Value) bool {
	minus := r.skipWord("-")
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

// skipWord steps over w if it comes next.
func (r *scanner) skipWord(w string) bool {
	if !bytes.HasPrefix(r.in[r.at:], []byte(w)) {
		return false
	}
	r.at += len(w)
	return true
}

// skipValue steps over a value.
func (r *scanner) skipValue() bool {
	if r.at == len(r.in) {
		return false
	}
	switch r.in[r.at] {
	case '"':
		return r.skipString()
	case '{', '[':
		return r.skipNested()
	}
	from := r.at
	for ; r.at < len(r.in); r.at++ { // a number or a word
		if c := r.in[r.at]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '.' && c != '+' && c != 'E' {
			break
		}
	}
	return r.at > from
}

func (r *scanner) skipNested() bool {
	depth := 0
	for r.at < len(r.in) {
		switch r.in[r.at] {
		case '"':
			if !r.skipString() {
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

// skipString steps over a string.
func (r *scanner) skipString() bool {
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
