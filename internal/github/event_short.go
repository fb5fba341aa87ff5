package github

// Payloads made short before they are decoded. GitHub sends 10 to 30 KB of which a few hundred bytes are read, and a server
// reads thousands of them a second: what nobody reads is stepped over, not checked. The signature has vouched for it.

import (
	"bytes"
	"reflect"
	"strings"
)

// A field says what of a value is read.
type field struct {
	name   []byte            // in quotes, with its colon
	fields map[string]*field // of an object, or of the objects of a list; nil: all of it
}

var payloadFields = fieldsOf(reflect.TypeFor[eventPayload]())

func fieldsOf(t reflect.Type) *field {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return &field{}
	}
	if is, ok := t.FieldByName("is"); ok { // a maybe
		return fieldsOf(is.Type)
	}
	f := &field{fields: map[string]*field{}}
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		child := fieldsOf(t.Field(i).Type)
		child.name = []byte(`"` + name + `":`)
		f.fields[name] = child
	}
	return f
}

// short returns an object with only what is read of payload. It is not ok if payload is no JSON object, as far as was
// looked.
func short(payload []byte) (out []byte, ok bool) {
	s := shortener{in: payload, out: make([]byte, 0, 1024)}
	if s.next() != '{' || !s.object(payloadFields) || s.next() != 0 || s.at < len(s.in) {
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
	for some := false; ; {
		c := s.next()
		if c == '}' && s.in[s.at-1] != ',' {
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
