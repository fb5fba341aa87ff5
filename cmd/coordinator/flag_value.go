package main

// How values of flags and arguments are read, in both builds.

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A valueError is a flag's value that cannot be read.
type valueError struct{ text, hint string }

func (e *valueError) Error() string { return e.text }

// setValue reads the value of a flag or an argument. An int is the machine's, of 64 bits on all that we build for.
func setValue(name, text string, into reflect.Value) error {
	switch into.Interface().(type) {
	case string:
		into.SetString(text)
	case bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			into.SetBool(true)
		case "false", "0", "no":
			into.SetBool(false)
		default:
			says := fmt.Sprintf("%s %q is neither true nor false", name, text)
			return &valueError{says, name + " alone says yes; leave it out for no"}
		}
	case time.Duration:
		d, err := time.ParseDuration(text)
		if _, unitless := strconv.ParseUint(text, 10, 32); err != nil && unitless == nil {
			return &valueError{name + " " + text + " has no unit", fmt.Sprintf("write it with a unit: %ss or %sm", text, text)}
		}
		if err != nil {
			return &valueError{fmt.Sprintf("%s %q is no duration", name, clipArgument(text)), "write it as 90s, 15m or 2h"}
		}
		into.SetInt(int64(d))
	case int, int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return &valueError{fmt.Sprintf("%s %s is too large", name, clipArgument(text)), ""}
		}
		if err != nil {
			return &valueError{fmt.Sprintf("%s %q is no number", name, clipArgument(text)), ""}
		}
		into.SetInt(n)
	default: // the field is a pointer: nil tells that the flag was not given
		into.Set(reflect.New(into.Type().Elem()))
		return setValue(name, text, into.Elem())
	}
	return nil
}
