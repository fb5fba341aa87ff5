// Package oplog is the log that operators read: its formats, its levels, and GitHub's words as the names of its fields.
// It promises that a value stays a value: on one line, bounded, without a character that a terminal obeys.
package oplog

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/lmittmann/tint"
)

// ParseFormat reads a format's name: text or json.
func ParseFormat(name string) (isJSON bool, err error) {
	switch strings.ToLower(name) {
	case "text":
		return false, nil
	case "json":
		return true, nil
	}
	return false, fmt.Errorf("%q is neither text nor json", boundValue(name, 40))
}

// ParseLevel reads a level's name.
func ParseLevel(name string) (slog.Level, error) {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q is none of debug, info, warn and error", boundValue(name, 40))
}

// A Style is how a log is written.
type Style struct {
	JSON  bool       // an object on each line; else key=value
	Level slog.Level // what is below it is left out
	Color bool       // of the text: for a person at a terminal
	Clock string     // of the text for people: the layout of its times; "": the date and the time
}

// moment is how times are written: RFC 3339 in UTC.
const moment = "2006-01-02T15:04:05.000Z"

// New returns a log that is written to w.
func New(w io.Writer, o Style) *slog.Logger {
	switch {
	case o.JSON:
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: plainAttr}))
	case !o.Color && o.Clock == "":
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: plainAttr}))
	case o.Clock == "":
		o.Clock = time.DateTime
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: o.Level, TimeFormat: o.Clock, NoColor: !o.Color, ReplaceAttr: terminalAttr,
	}))
}

// plainAttr makes an attribute what a program reads: a time in UTC, a duration in words, and a text that is harmless.
func plainAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Equal(slog.Attr{}) { // it is left out
		return a
	}
	switch v := a.Value; v.Kind() {
	case slog.KindTime:
		a.Value = slog.StringValue(v.Time().UTC().Format(moment))
	case slog.KindDuration:
		a.Value = slog.StringValue(v.Duration().String())
	case slog.KindString:
		a.Value = slog.StringValue(boundValue(v.String(), maxValue))
	case slog.KindAny:
		if _, isLevel := v.Any().(slog.Level); !isLevel {
			a.Value = slog.StringValue(boundValue(fmt.Sprint(v.Any()), maxValue))
		}
	default: // numbers and truth values are harmless; groups are asked about one attribute at a time
	}
	return a
}

// terminalAttr makes an attribute what a person reads at a terminal. Its handler turns the four characters \x1b of any
// value into the one that a terminal obeys.
func terminalAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		return a
	}
	a = plainAttr(nil, a)
	if a.Value.Kind() == slog.KindString {
		a.Value = slog.StringValue(strings.ReplaceAll(a.Value.String(), `\x1b`, `\x1B`))
	}
	return a
}

// maxValue bounds a value, in bytes: the stack of a panic fits.
const maxValue = 16 << 10

// boundValue returns at most most bytes of a text, with a mark in place of what does not print. Line breaks stay: each
// format writes them as \n.
func boundValue(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}
