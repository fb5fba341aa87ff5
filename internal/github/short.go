package github

// JSON made short before it is decoded. GitHub sends 5 to 30 KB of which a few hundred bytes are read, and a server reads
// thousands of such texts a second: what nobody reads is stepped over, not checked. Who sent it was verified before, and a
// text that was cut off is none.

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// A field says what of a value is read.
type field struct {
	name   []byte            // in quotes, with its colon
	fields map[string]*field // of an object, or of the objects of a list; nil: all of it
}

// shapes are the fields of the types that answers were decoded into: a few dozen.
type shapes struct{ byType sync.Map }

func (all *shapes) of(t reflect.Type) *field {
	if f, known := all.byType.Load(t); known {
		return f.(*field)
	}
	f := fieldsOf(t)
	all.byType.Store(t, f)
	return f
}

var payloadFields = fieldsOf(reflect.TypeFor[eventPayload]())

var ownReader = reflect.TypeFor[json.Unmarshaler]()

// fieldsOf is what encoding/json reads into a t. Of a type that is not plain it is everything. No type here holds itself.
func fieldsOf(t reflect.Type) *field {
	switch {
	case t.Kind() == reflect.Pointer:
		return fieldsOf(t.Elem())
	case t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "is": // a maybe
		return fieldsOf(t.Field(0).Type)
	case reflect.PointerTo(t).Implements(ownReader):
		return &field{}
	case t.Kind() == reflect.Slice:
		return fieldsOf(t.Elem())
	case t.Kind() != reflect.Struct:
		return &field{}
	}
	f := &field{fields: map[string]*field{}}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" { // it would be found under any spelling
			return &field{}
		}
		child := fieldsOf(t.Field(i).Type)
		child.name = []byte(`"` + name + `":`)
		f.fields[name] = child
	}
	return f
}

// decode reads JSON into what into points to, as json.Unmarshal does, but does not see what is wrong with parts that are not
// read, and finds names only as GitHub spells them. f are the fields of into's type. What the short text leaves in into
// before it fails, the whole one writes again.
func decode(text []byte, f *field, into any) error {
	if needed, ok := short(text, f); ok && json.Unmarshal(needed, into) == nil {
		return nil
	}
	return json.Unmarshal(text, into) // what is wrong with a text is said about all of it
}

// short returns what is read of a text. It is not ok if the text is no JSON, as far as was looked, or all of it is read.
func short(text []byte, f *field) (out []byte, ok bool) {
	s := shortener{in: text, out: make([]byte, 0, 1024)}
	if f.fields == nil || !s.value(f) || s.next() != 0 || s.at < len(s.in) {
		return nil, false
	}
	return s.out, true
}

type shortener struct {
	in, out []byte
	at      int
}

// next is the first byte that is no space; 0 at the end.
func (s *shortener) next() byte {
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value copies what is read of a value. Lists in lists are copied whole: nothing here calls itself deeper than f does.
func (s *shortener) value(f *field) bool {
	switch c := s.next(); {
	case c == '{' && f.fields != nil:
		return s.object(f)
	case c == '[' && f.fields != nil:
		return s.list(f)
	}
	return s.copy()
}

func (s *shortener) copy() bool {
	s.next()
	from := s.at
	ok := s.skip()
	s.out = append(s.out, s.in[from:s.at]...)
	return ok
}

func (s *shortener) object(f *field) bool {
	s.at++
	s.out = append(s.out, '{')
	for first, some := true, false; ; first = false {
		c := s.next()
		if c == '}' && first {
			break
		}
		from := s.at
		if c != '"' || !s.text() {
			return false
		}
		name := s.in[from+1 : s.at-1]
		if s.next() != ':' {
			return false
		}
		s.at++
		if child := f.fields[string(name)]; child == nil {
			if s.next(); !s.skip() {
				return false
			}
		} else {
			if some {
				s.out = append(s.out, ',')
			}
			some = true
			if s.out = append(s.out, child.name...); !s.value(child) {
				return false
			}
		}
		if c := s.next(); c == '}' {
			break
		} else if c != ',' {
			return false
		}
		s.at++
	}
	s.at++
	s.out = append(s.out, '}')
	return true
}

func (s *shortener) list(f *field) bool {
	s.at++
	s.out = append(s.out, '[')
	if s.next() == ']' {
		s.at++
		s.out = append(s.out, ']')
		return true
	}
	for {
		ok := false
		if s.next() == '{' {
			ok = s.object(f)
		} else {
			ok = s.copy()
		}
		c := s.next()
		if !ok || c != ',' && c != ']' {
			return false
		}
		s.at++
		if s.out = append(s.out, c); c == ']' {
			return true
		}
	}
}

// skip steps over a value.
func (s *shortener) skip() bool {
	if s.at == len(s.in) {
		return false
	}
	switch s.in[s.at] {
	case '"':
		return s.text()
	case '{', '[':
		return s.nested()
	}
	from := s.at
	for s.at < len(s.in) && strings.IndexByte("+-.0123456789aeflnrstuE", s.in[s.at]) >= 0 {
		s.at++
	}
	return s.at > from
}

func (s *shortener) nested() bool {
	depth := 0
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case '"':
			if !s.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.at++
				return true
			}
		}
		s.at++
	}
	return false
}

// text steps over a string.
func (s *shortener) text() bool {
	for from := s.at + 1; ; {
		i := bytes.IndexByte(s.in[from:], '"')
		if i < 0 {
			return false
		}
		end := from + i
		slashes := 0
		for s.in[end-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		from = end + 1
		if slashes%2 == 0 {
			s.at = from
			return true
		}
	}
}
